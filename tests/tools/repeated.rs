//! A call that is sent again is made once: whatever became of the first answer, no edit is made twice, and none is
//! swallowed that was meant.

use emend_testkit::{Answer, Client, Folder, Http, HttpServer};
use serde_json::{Value, json};

use crate::{launch, serve};

/// An edit that would change the file each time that it is made.
fn grow() -> Value {
    json!({"path": "a.txt", "old_string": "x = ", "new_string": "x = 1"})
}

fn folder() -> Folder {
    Folder::with([("a.txt", "x = 1\ny = 2\nz = 3\n")])
}

/// Sends a call with this in its `_meta`.
fn call_with(client: &mut Client, tool: &str, arguments: &Value, meta: &Value) -> Answer {
    let parameters = json!({"name": tool, "arguments": arguments, "_meta": meta});
    Answer::from_result(&client.request("tools/call", parameters).unwrap())
}

#[test]
fn a_call_that_is_sent_again_is_made_once() {
    let folder = folder();
    let mut client = serve(&folder);
    let first = client.call("str_replace", grow()).ok();
    let again = client.call("str_replace", grow()).ok();
    assert_eq!(folder.text("a.txt"), "x = 11\ny = 2\nz = 3\n");
    assert_eq!(again.structured["is_repeated"], true);
    for field in ["edit", "changed_files", "diff"] {
        assert_eq!(again.structured[field], first.structured[field]);
    }
    let edit = first.structured["edit"].as_str().unwrap();
    assert!(again.text.starts_with("Nothing was changed by this call: it was made "), "{}", again.text);
    assert!(again.text.contains(&format!(" as edit {edit}")), "{}", again.text);
    assert!(first.structured.get("is_repeated").is_none());
}

#[test]
fn who_means_it_a_second_time_names_the_version() {
    let folder = folder();
    let mut client = serve(&folder);
    let first = client.call("str_replace", grow()).ok();
    let version = first.structured["files"][0]["version_after"].as_str().unwrap();
    let again = client.call("str_replace", grow()).ok();
    assert!(again.text.contains(&format!("\"version\": \"{version}\"")), "{}", again.text);
    let mut meant = grow();
    meant["version"] = version.into();
    client.call("str_replace", meant.clone()).ok();
    assert_eq!(folder.text("a.txt"), "x = 111\ny = 2\nz = 3\n");
    // And that is a call that can be sent again, too.
    assert!(client.call("str_replace", meant).ok().is_repeated());
    assert_eq!(folder.text("a.txt"), "x = 111\ny = 2\nz = 3\n");
}

#[test]
fn every_tool_knows_its_calls_again() {
    let folder = Folder::with([("a.txt", "a\nb\nc\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    let mut client = serve(&folder);
    client.read("c.txt");
    let version = client.read("a.txt").meta["emend/version"].as_str().map(str::to_owned);
    let patch =
        "*** Begin Patch\n*** Update File: a.txt\n a\n+a\n b\n*** Add File: new.txt\n+new\n*** End Patch";
    for (tool, arguments) in [
        (
            "replace_lines",
            json!({"path": "a.txt", "version": version, "start_line": 4, "end_line": 3, "new_text": "d"}),
        ),
        ("apply_patch", json!({"patch": patch})),
        ("write_file", json!({"path": "written.txt", "content": "w\n"})),
        ("move_file", json!({"from": "b.txt", "to": "moved.txt"})),
        ("delete_file", json!({"path": "c.txt"})),
        ("str_replace", json!({"path": "a.txt", "old_string": "a", "new_string": "aa", "replace_all": true})),
    ] {
        client.call(tool, arguments.clone()).ok();
        let tree = folder.tree();
        let again = client.call(tool, arguments).ok();
        assert!(again.is_repeated(), "{tool}: {}", again.text);
        assert_eq!(folder.tree(), tree, "{tool}");
    }
    assert_eq!(folder.text("a.txt"), "aa\naa\nb\nc\nd\n");
}

#[test]
fn an_edit_that_was_taken_back_can_be_made_again() {
    let folder = folder();
    let mut client = serve(&folder);
    let first = client.call("str_replace", grow()).ok();
    client.call("undo_edit", json!({"edit": first.structured["edit"]})).ok();
    assert!(!client.call("str_replace", grow()).ok().is_repeated());
    // Or by another edit, or by another program.
    client.replace("a.txt", "x = 11", "x = 1").ok();
    assert!(!client.call("str_replace", grow()).ok().is_repeated());
    folder.write("a.txt", "x = 1\ny = 2\nz = 3\n");
    client.read("a.txt");
    assert!(!client.call("str_replace", grow()).ok().is_repeated());
    // Also where something else has changed meanwhile.
    client.replace("a.txt", "x = 11", "x = 1").ok();
    client.replace("a.txt", "z = 3", "z = 4").ok();
    assert!(!client.call("str_replace", grow()).ok().is_repeated());
    assert_eq!(folder.text("a.txt"), "x = 11\ny = 2\nz = 4\n");
}

#[test]
fn an_edit_that_stands_is_known_again_after_others() {
    let folder = folder();
    let mut client = serve(&folder);
    client.call("str_replace", grow()).ok();
    client.replace("a.txt", "z = 3", "z = 4").ok();
    assert!(client.call("str_replace", grow()).ok().is_repeated());
    client.replace("a.txt", "x = 11", "x = 11 # eleven").ok();
    client.replace("a.txt", "y", "new\ny").ok();
    assert!(client.call("str_replace", grow()).ok().is_repeated());
    assert_eq!(folder.text("a.txt"), "x = 11 # eleven\nnew\ny = 2\nz = 4\n");
}

#[test]
fn where_nobody_knows_whether_it_stands_the_call_is_refused() {
    let folder = folder();
    let mut client = serve(&folder);
    client.call("str_replace", grow()).ok();
    client.replace("a.txt", "x = 11", "x = 12").ok();
    let refused = client.call("str_replace", grow()).refused("maybe-repeated");
    assert!(
        refused.text.ends_with("send it with the version that you read.\n[maybe-repeated]"),
        "{}",
        refused.text
    );
    assert_eq!(folder.text("a.txt"), "x = 12\ny = 2\nz = 3\n");
    let version = client.read("a.txt").meta["emend/version"].clone();
    let mut meant = grow();
    meant["version"] = version;
    client.call("str_replace", meant).ok();
    assert_eq!(folder.text("a.txt"), "x = 112\ny = 2\nz = 3\n");
}

#[test]
fn what_another_program_has_written_is_not_taken_for_the_edit() {
    let folder = folder();
    let mut client = serve(&folder);
    client.call("str_replace", grow()).ok();
    let bytes = folder.read("a.txt");
    let modified = || std::fs::metadata(folder.at("a.txt")).unwrap().modified().unwrap();
    let left = modified();
    // The clock of a file system may tick slowly.
    while modified() == left {
        folder.write("a.txt", &bytes);
    }
    client.call("str_replace", grow()).refused("maybe-repeated");
    assert_eq!(folder.text("a.txt"), "x = 11\ny = 2\nz = 3\n");
    // Where it has written what was there before the edit, the call is made.
    folder.write("a.txt", "x = 1\ny = 2\nz = 3\n");
    client.read("a.txt");
    assert!(!client.call("str_replace", grow()).ok().is_repeated());
    folder.write("a.txt", "x = 1\nanother = 2\n");
    client.read("a.txt");
    assert!(!client.call("str_replace", grow()).ok().is_repeated());
    assert_eq!(folder.text("a.txt"), "x = 11\nanother = 2\n");
    folder.write("a.txt", "x = 11\nanother = 3\n");
    client.read("a.txt");
    client.call("str_replace", grow()).refused("maybe-repeated");
}

#[test]
fn a_key_makes_a_call_once_at_any_time_and_for_one_call() {
    let folder = folder();
    let mut client = serve(&folder);
    let key = |key: &str| json!({"emend/idempotencyKey": key});
    call_with(&mut client, "str_replace", &grow(), &key("one")).ok();
    assert!(call_with(&mut client, "str_replace", &grow(), &key("one")).ok().is_repeated());
    // Another key is another call, whatever its arguments.
    assert!(!call_with(&mut client, "str_replace", &grow(), &key("two")).ok().is_repeated());
    assert_eq!(folder.text("a.txt"), "x = 111\ny = 2\nz = 3\n");
    let other = json!({"path": "a.txt", "old_string": "z", "new_string": "Z"});
    call_with(&mut client, "str_replace", &other, &key("one")).refused("invalid-argument");
    client.replace("a.txt", "x = 111", "x = 1").ok();
    // Who sends the same key never means it again, even where nothing of it is left.
    call_with(&mut client, "str_replace", &grow(), &key("one")).refused("maybe-repeated");
    assert_eq!(folder.text("a.txt"), "x = 1\ny = 2\nz = 3\n");
}

#[test]
fn an_undo_is_made_once_where_it_says_of_what() {
    let folder = folder();
    let mut client = serve(&folder);
    let edits: Vec<Value> = [("x", "X"), ("y", "Y"), ("z", "Z")]
        .map(|(old, new)| client.replace("a.txt", old, new).ok().structured["edit"].clone())
        .into();
    let by_id = json!({"edit": edits[2]});
    client.call("undo_edit", by_id.clone()).ok();
    assert!(client.call("undo_edit", by_id).ok().is_repeated());
    // Without an id, each call takes the next one back, unless it has a key.
    let key = json!({"emend/idempotencyKey": "k"});
    call_with(&mut client, "undo_edit", &json!({}), &key).ok();
    assert!(call_with(&mut client, "undo_edit", &json!({}), &key).ok().is_repeated());
    assert_eq!(folder.text("a.txt"), "X = 1\ny = 2\nz = 3\n");
    client.call("undo_edit", json!({})).ok();
    assert_eq!(folder.text("a.txt"), "x = 1\ny = 2\nz = 3\n");
}

#[test]
fn a_preview_that_was_applied_is_known_after_the_server_was_started_again() {
    let folder = folder();
    let mut client = serve(&folder);
    let preview = client.preview("str_replace", grow()).ok().structured["preview"].clone();
    client.call("apply_preview", json!({"preview": preview})).ok();
    drop(client);
    assert!(serve(&folder).call("apply_preview", json!({"preview": preview})).ok().is_repeated());
    assert_eq!(folder.text("a.txt"), "x = 11\ny = 2\nz = 3\n");
}

#[test]
fn a_patch_in_a_file_is_another_call_once_the_file_is_another() {
    let folder = folder();
    let mut client = serve(&folder);
    let patch = |old: &str, new: &str| {
        emend_testkit::client::patch(&format!("*** Update File: a.txt\n-{old}\n+{new}\n"))
    };
    let call = json!({"patch_path": "p.patch"});
    folder.write("p.patch", patch("x = 1", "x = 11"));
    client.call("apply_patch", call.clone()).ok();
    assert!(client.call("apply_patch", call.clone()).ok().is_repeated());
    folder.write("p.patch", patch("y = 2", "y = 22"));
    assert!(!client.call("apply_patch", call).ok().is_repeated());
    assert_eq!(folder.text("a.txt"), "x = 11\ny = 22\nz = 3\n");
}

#[test]
fn it_is_known_by_another_process_and_without_a_history() {
    for history in ["true", "false"] {
        let folder = folder();
        let launch = launch(&folder).argument(format!("--track-history={history}"));
        let mut killed = launch.legacy();
        killed.call("str_replace", grow()).ok();
        killed.kill();
        let mut client = launch.legacy();
        assert!(client.call("str_replace", grow()).ok().is_repeated());
        assert_eq!(folder.text("a.txt"), "x = 11\ny = 2\nz = 3\n");
        if history == "false" {
            assert!(client.call("edit_history", json!({})).text.contains("no history"));
        }
    }
}

#[test]
fn what_may_not_be_read_any_more_is_not_shown_again() {
    let folder = folder();
    serve(&folder).call("str_replace", grow()).ok();
    let mut client = launch(&folder).argument("--forbid").argument("a.txt").legacy();
    let refused = client.call("str_replace", grow()).refused("path-forbidden");
    assert!(!refused.text.contains("x = 11"), "{}", refused.text);
}

#[test]
fn another_token_is_somebody_else() {
    let folder = folder();
    let tokens = [("ann", "ann-has-this-long-token"), ("ben", "ben-has-that-long-token")];
    let server = HttpServer::with_tokens(&launch(&folder), &folder.beside("tokens"), &tokens);
    let [ann, ben] = tokens.map(|(_, token)| Http::new(server.address(), token));
    ann.call("str_replace", grow()).ok();
    assert!(ann.call("str_replace", grow()).ok().is_repeated());
    // Also in a session of 2025: the token is who calls.
    assert!(ann.legacy().call("str_replace", grow()).ok().is_repeated());
    assert!(!ben.call("str_replace", grow()).ok().is_repeated());
    assert_eq!(folder.text("a.txt"), "x = 111\ny = 2\nz = 3\n");
}

#[test]
fn a_repeat_that_comes_while_the_first_still_runs_waits_for_it() {
    let folder = folder();
    let mut client = launch(&folder).argument("--mode").argument("ask").asking().legacy();
    let first = client.send_call("str_replace", grow());
    let question = client.wait_for_request();
    let second = client.send_call("str_replace", grow());
    client.respond(&question, json!({"action": "accept", "content": {"approve": true}}));
    assert!(!client.answer(first).ok().is_repeated());
    // The person was not asked a second time.
    assert!(client.answer(second).ok().is_repeated());
    assert_eq!(folder.text("a.txt"), "x = 11\ny = 2\nz = 3\n");
}

/// The answers of HTTP are cut at every seventh byte; the client sends its call again, as 2026-07-28 tells it to.
#[test]
fn a_connection_that_breaks_within_the_answer_edits_once() {
    let folder = Folder::with([("a.txt", "0\n")]);
    let server = HttpServer::start(&launch(&folder));
    let mut last = 0;
    for client in [server.client(), server.client().legacy()] {
        for bytes in (0..).step_by(7) {
            let (old, new) = (format!("{last}\n"), format!("{last}\n{}\n", last + 1));
            let call = json!({"path": "a.txt", "old_string": old, "new_string": new});
            let is_whole = client.call_cut("str_replace", call.clone(), bytes);
            client.call("str_replace", call).ok();
            last += 1;
            let lines: String = (0..=last).map(|line| format!("{line}\n")).collect();
            assert_eq!(folder.text("a.txt"), lines, "cut at {bytes}");
            if is_whole {
                break;
            }
        }
    }
    assert!(last > 100, "{last}");
}
