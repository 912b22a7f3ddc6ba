//! Many edits at once, by one client and by several servers: what was acknowledged is on disk, and nothing else. No
//! test here depends on which edit is first.

use emend_testkit::{Answer, Client, Folder, Launch};
use serde_json::json;

use crate::launch;

/// A file of numbered lines that are all still `old`.
fn lines(count: usize) -> String {
    (0..count).map(|i| format!("line {i} is old\n")).collect()
}

fn send_edit(client: &mut Client, i: usize) -> u64 {
    let (old, new) = (format!("line {i} is old"), format!("line {i} is new"));
    client.send_call("str_replace", json!({"path": "a.txt", "old_string": old, "new_string": new}))
}

/// Whether an edit was acknowledged. The only refusal there may be is that it did not get its turn.
fn is_acknowledged(answer: Answer) -> bool {
    if answer.is_error {
        answer.refused("busy");
        return false;
    }
    true
}

/// The file has exactly the edits that were acknowledged.
#[track_caller]
fn check(folder: &Folder, acknowledged: &[bool]) {
    let expected: String = acknowledged
        .iter()
        .enumerate()
        .map(|(i, done)| format!("line {i} is {}\n", if *done { "new" } else { "old" }))
        .collect();
    assert_eq!(folder.text("a.txt"), expected);
}

/// Fifty edits of one file are sent before any is answered.
pub(crate) fn fifty_at_once(start: fn(&Folder) -> Launch) {
    let folder = Folder::with([("a.txt", &lines(50))]);
    let mut client = start(&folder).legacy();
    client.read("a.txt");
    let sent: Vec<u64> = (0..50).map(|i| send_edit(&mut client, i)).collect();
    for id in sent {
        client.answer(id).ok();
    }
    check(&folder, &[true; 50]);
}

#[test]
fn fifty_edits_at_once_from_one_client_all_land() {
    fifty_at_once(launch);
}

#[test]
fn fifty_new_files_at_once_from_one_client_all_land() {
    let folder = Folder::new();
    let mut client = launch(&folder).modern();
    let path = |i: usize| format!("new/{}/{i}.txt", i % 7);
    let sent: Vec<u64> = (0..50)
        .map(|i| client.send_call("write_file", json!({"path": path(i), "content": format!("{i}\n")})))
        .collect();
    for (i, id) in sent.into_iter().enumerate() {
        client.answer(id).ok();
        assert_eq!(folder.text(&path(i)), format!("{i}\n"), "it is there when it is acknowledged");
    }
    assert_eq!(folder.tree().len(), 50);
}

/// Two servers, a hundred edits each, all sent before any is answered.
pub(crate) fn two_servers(start: fn(&Folder) -> Launch) {
    let folder = Folder::with([("a.txt", &lines(200))]);
    let mut clients = [start(&folder).legacy(), start(&folder).modern()];
    let sent: Vec<u64> = (0..200).map(|i| send_edit(&mut clients[i % 2], i)).collect();
    let acknowledged: Vec<bool> =
        sent.iter().enumerate().map(|(i, id)| is_acknowledged(clients[i % 2].answer(*id))).collect();
    assert!(acknowledged.contains(&true));
    check(&folder, &acknowledged);
}

#[test]
fn two_servers_lose_none_of_each_others_edits() {
    two_servers(launch);
}

#[test]
#[cfg(unix)]
fn an_edit_waits_for_whoever_edits_the_same_root() {
    let folder = Folder::with([("a.txt", &lines(2))]);
    let mut client = launch(&folder).legacy();
    let turn = std::fs::File::open(folder.path()).unwrap();
    turn.lock().unwrap();
    let edit = send_edit(&mut client, 0);
    // Readings need no turn. That they are answered says that the server has seen the edit.
    for _ in 0..10 {
        client.read("a.txt");
    }
    check(&folder, &[false, false]);
    turn.unlock().unwrap();
    client.answer(edit).ok();
    check(&folder, &[true, false]);
}

#[test]
#[cfg(unix)]
fn an_edit_that_is_given_up_while_it_waits_is_not_made() {
    let folder = Folder::with([("a.txt", &lines(2))]);
    let mut client = launch(&folder).legacy();
    let turn = std::fs::File::open(folder.path()).unwrap();
    turn.lock().unwrap();
    let given_up = send_edit(&mut client, 0);
    client.read("a.txt");
    let cancelled = json!({"requestId": given_up});
    client.write_line(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}).to_string(),
    );
    // Once this is answered, the server knows that nobody waits for the edit.
    client.read("a.txt");
    turn.unlock().unwrap();
    let other = send_edit(&mut client, 1);
    client.answer(other).ok();
    let (status, _) = client.close();
    assert!(status.success());
    check(&folder, &[false, true]);
}

#[test]
fn two_servers_create_a_file_once() {
    let folder = Folder::new();
    let mut clients = [launch(&folder).legacy(), launch(&folder).legacy()];
    let add = |client: &mut Client, i: usize, by: usize| {
        let patch = emend_testkit::client::patch(&format!("*** Add File: f{i}.txt\n+{by}"));
        client.send_call("apply_patch", json!({"patch": patch}))
    };
    let sent: Vec<[u64; 2]> =
        (0..40).map(|i| [add(&mut clients[0], i, 0), add(&mut clients[1], i, 1)]).collect();
    for (i, ids) in sent.into_iter().enumerate() {
        let answers = [clients[0].answer(ids[0]), clients[1].answer(ids[1])];
        let winner = answers.iter().position(|answer| !answer.is_error).expect("one of them came first");
        let [first, second] = answers;
        if winner == 0 { second } else { first }.refused("already-exists");
        assert_eq!(folder.text(&format!("f{i}.txt")), format!("{winner}\n"));
    }
}

#[test]
fn previews_and_edits_of_one_file_do_not_mix() {
    let folder = Folder::with([("a.txt", &lines(60))]);
    let mut client = launch(&folder).legacy();
    let preview = |client: &mut Client, i: usize| {
        let (old, new) = (format!("line {i} is old"), format!("line {i} is new"));
        let arguments = json!({"tool": "str_replace", "path": "a.txt", "old_string": old, "new_string": new});
        client.send_call("edit_preview", arguments)
    };
    let previews: Vec<u64> = (0..30).map(|i| preview(&mut client, i)).collect();
    let handles: Vec<String> = previews.into_iter().map(|id| client.answer(id).ok().handle()).collect();
    // All of them are sent now; what is applied first makes stale what comes after it.
    let sent: Vec<(u64, u64)> = handles
        .iter()
        .enumerate()
        .map(|(i, handle)| {
            let applied = client.send_call("apply_preview", json!({"preview": handle}));
            (applied, send_edit(&mut client, 30 + i))
        })
        .collect();
    let mut acknowledged = [false; 60];
    for (i, (applied, edited)) in sent.into_iter().enumerate() {
        let applied = client.answer(applied);
        acknowledged[i] = !applied.is_error;
        if applied.is_error {
            applied.refused("stale-preview");
        }
        acknowledged[30 + i] = is_acknowledged(client.answer(edited));
    }
    check(&folder, &acknowledged);
}

#[test]
fn previews_of_one_file_and_edits_of_another_all_land() {
    let folder = Folder::with([("a.txt", &lines(30))]);
    for i in 0..30 {
        folder.write(&format!("p{i}.txt"), "old\n");
    }
    let mut client = launch(&folder).legacy();
    let handles: Vec<String> = (0..30)
        .map(|i| {
            let path = format!("p{i}.txt");
            let edit = json!({"path": path, "old_string": "old", "new_string": "new"});
            client.preview("str_replace", edit).ok().handle()
        })
        .collect();
    let mut sent = Vec::new();
    for (i, handle) in handles.iter().enumerate() {
        sent.push(client.send_call("apply_preview", json!({"preview": handle})));
        sent.push(send_edit(&mut client, i));
    }
    for id in sent {
        client.answer(id).ok();
    }
    check(&folder, &[true; 30]);
    assert!((0..30).all(|i| folder.text(&format!("p{i}.txt")) == "new\n"));
}

#[test]
fn readings_see_whole_files_only() {
    let contents = [format!("{}\n", "a".repeat(40_000)), format!("{}\n", "b".repeat(20_000))];
    let folder = Folder::with([("a.txt", &contents[0])]);
    let versions = contents.each_ref().map(|content| emend_edit::Version::hash(content.as_bytes()).short());
    let mut writer = launch(&folder).legacy();
    let mut reader = launch(&folder).legacy();
    let mut sent = Vec::new();
    let mut readings = Vec::new();
    for i in 0..40 {
        // Each names the version that the one before it makes; the answers come in their order.
        let arguments =
            json!({"path": "a.txt", "content": contents[(i + 1) % 2], "version": versions[i % 2]});
        sent.push(writer.send_call("write_file", arguments));
        readings.push(reader.send_call("read_file", json!({"path": "a.txt"})));
    }
    for id in readings {
        let seen = reader.answer(id).ok().version();
        assert!(versions.contains(&seen), "half a file was seen");
    }
    for id in sent {
        let answer = writer.answer(id);
        if answer.is_error {
            answer.refused("stale-file");
        }
    }
    assert!(contents.contains(&folder.text("a.txt")));
}
