//! The event log: outcomes and sessions, written by several processes at once, and what clients are told of it.

#![cfg(unix)]

use std::fs;
use std::time::{Duration, Instant};

use emend_testkit::{Client, Folder, HttpServer, Launch};
use serde_json::{Value, json};

use crate::{EMEND, launch};

const UPDATED: &str = "notifications/resources/updated";
const EVENTS: &str = "emend://events";

/// A server of this workspace that tells events.
pub(crate) fn telling(folder: &Folder) -> Launch {
    launch(folder).argument("--emit-event")
}

/// Both eras.
const ERAS: [fn(&Launch) -> Client; 2] = [Launch::legacy, Launch::modern];

/// Each event that is kept, the oldest first, as it is in the files.
pub(crate) fn kept(folder: &Folder) -> Vec<Value> {
    let file = |name: &str| fs::read_to_string(folder.state().join("events").join(name)).unwrap_or_default();
    let lines = file("log.1.jsonl") + &file("log.jsonl");
    // What has no line ending yet is being written.
    let whole = lines.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The same, once there are so many.
pub(crate) fn kept_once(folder: &Folder, number: usize) -> Vec<Value> {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let events = kept(folder);
        if events.len() >= number {
            return events;
        }
        assert!(Instant::now() < until, "there are only {events:#?}");
        std::thread::yield_now();
    }
}

pub(crate) fn of_each<'a>(events: &'a [Value], field: &str) -> Vec<&'a Value> {
    events.iter().map(|event| &event[field]).collect()
}

pub(crate) fn numbers(events: &[Value]) -> Vec<u64> {
    events.iter().map(|event| event["event"].as_u64().unwrap()).collect()
}

/// Subscribes in the way of the client's era.
fn subscribe(client: &mut Client, uri: &str) {
    if client.request("resources/subscribe", json!({"uri": uri})).is_err() {
        let (_, accepted) = client.listen(&json!({"resourceSubscriptions": [uri]}));
        assert_eq!(accepted["resourceSubscriptions"], json!([uri]));
    }
}

/// The events of a resource, and what it says about them.
fn read(client: &mut Client, uri: &str) -> (Vec<Value>, Value) {
    let mut result = client.request("resources/read", json!({"uri": uri})).unwrap();
    let content = result["contents"][0].take();
    let lines = content["text"].as_str().unwrap().lines();
    (lines.map(|line| serde_json::from_str(line).unwrap()).collect(), content["_meta"].clone())
}

#[test]
fn each_outcome_of_an_edit_tool_is_an_event_as_it_was_answered() {
    for era in ERAS {
        let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "bee\n")]);
        let mut client = era(&telling(&folder).argument("--answers=full"));
        client.read("a.txt");
        let edit = client.replace("a.txt", "one", "two").ok().structured;
        assert!(edit["side_effects_fired"].as_array().unwrap().contains(&json!("event")));
        let refused = client.replace("a.txt", "gone", "x").refused("search-not-found").structured;
        let preview = client.preview("write_file", json!({"path": "c.txt", "content": "c\n"})).ok();
        let applied = client.call("apply_preview", json!({"preview": preview.handle()})).ok().structured;
        // The same answer again is not the same edit again.
        let again = client.call("apply_preview", json!({"preview": preview.handle()})).ok().structured;
        assert_eq!(again["edit"], applied["edit"]);
        client.call("edit_history", json!({"edit": "gone"})).refused("unknown-edit");
        let undone = client.call("undo_edit", json!({})).ok().structured;
        client.close();
        let events = kept(&folder);
        assert_eq!(of_each(&events, "type"), ["edit", "refused", "preview", "edit", "edit", "session"]);
        assert_eq!(numbers(&events), [1, 2, 3, 4, 5, 6]);
        let outcomes = [&edit, &refused, &preview.structured, &applied, &undone];
        assert_eq!(of_each(&events[..5], "outcome"), outcomes);
        let tools = ["str_replace", "str_replace", "edit_preview", "apply_preview", "undo_edit"];
        assert_eq!(of_each(&events[..5], "tool"), tools);
        let first = &events[0];
        assert_eq!((&first["version"], &first["client"]), (&json!(1), &json!("testkit")));
        assert_eq!(first["roots"], json!([{"path": folder.path()}]));
        assert!(events.iter().all(|event| event["session"] == first["session"]));
    }
}

#[test]
fn where_events_are_off_nothing_is_written_and_the_resource_says_so() {
    for era in ERAS {
        let folder = Folder::with([("a.txt", "one\n"), (".emend.toml", "emit_event = false\n")]);
        for launch in [launch(&folder), telling(&folder)] {
            let mut client = era(&launch);
            let edit = client.call("write_file", json!({"path": "b.txt", "content": "b\n"})).ok();
            assert!(!edit.structured["side_effects_fired"].as_array().unwrap().contains(&json!("event")));
            client.call("delete_file", json!({"path": "b.txt"})).ok();
            let result = client.request("resources/read", json!({"uri": EVENTS})).unwrap();
            assert_eq!(result["contents"][0]["mimeType"], "text/plain");
            assert!(result["contents"][0]["text"].as_str().unwrap().contains("emit_event = true"));
            let listed = client.request("resources/list", json!({})).unwrap().to_string();
            assert!(!listed.contains(EVENTS) && listed.contains("emend://session"), "{listed}");
            client.close();
        }
        assert!(!folder.state().join("events").exists());
    }
}

#[test]
fn two_servers_number_their_events_together() {
    let folder = Folder::with([("a.txt", "0\n"), ("b.txt", "0\n")]);
    let edits = |file: &'static str| {
        let mut client = telling(&folder).legacy();
        move || {
            for number in 0..100 {
                client.replace(file, &format!("{number}\n"), &format!("{}\n", number + 1)).ok();
            }
            client.close();
        }
    };
    let both = [edits("a.txt"), edits("b.txt")].map(std::thread::spawn);
    both.into_iter().for_each(|one| one.join().unwrap());
    let events = kept(&folder);
    assert_eq!(numbers(&events), (1..=202).collect::<Vec<_>>());
    let of_file = |file: &str| {
        let is_it = |event: &&Value| event["outcome"]["changed_files"] == json!([file]);
        events.iter().filter(is_it).map(|event| event["outcome"]["diff"].clone()).collect::<Vec<_>>()
    };
    for file in ["a.txt", "b.txt"] {
        let diffs = of_file(file);
        assert_eq!(diffs.len(), 100);
        assert!(diffs[99].as_str().unwrap().ends_with("-99\n+100\n"), "in their order");
    }
    let sessions = events.iter().filter(|event| event["type"] == "session");
    for session in sessions {
        let own = events.iter().filter(|event| event["session"] == session["session"]);
        let own: Vec<u64> = own.map(|event| event["event"].as_u64().unwrap()).collect();
        assert_eq!(session["first_event"], own[0]);
        assert_eq!(session["last_event"], own[99]);
        assert_eq!(own.len(), 101);
    }
}

#[test]
fn the_end_of_a_session_says_whether_it_had_edits() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut idle = telling(&folder).legacy();
    idle.read("a.txt");
    idle.close();
    let mut client = telling(&folder).legacy();
    client.replace("a.txt", "one", "two").ok();
    client.replace("a.txt", "two", "three").ok();
    client.replace("a.txt", "gone", "x").refused("search-not-found");
    let session = client.request("resources/read", json!({"uri": "emend://session"})).unwrap();
    let session: Value = serde_json::from_str(session["contents"][0]["text"].as_str().unwrap()).unwrap();
    client.close();
    let events = kept(&folder);
    assert_eq!(of_each(&events, "type"), ["session", "edit", "edit", "refused", "session"]);
    let nothing = json!({"edits": 0, "refused": 0, "changed_files": [], "had_edits": false});
    assert_eq!(events[0]["summary"], nothing);
    assert_eq!(events[0].get("first_event"), None);
    let summary = json!({"edits": 2, "refused": 1, "changed_files": ["a.txt"], "had_edits": true});
    assert_eq!(events[4]["summary"], summary);
    assert_eq!((&events[4]["first_event"], &events[4]["last_event"]), (&json!(2), &json!(4)));
    let mut expected = summary;
    (expected["client"], expected["session"]) = ("testkit".into(), events[4]["session"].clone());
    assert_eq!(session, expected);
}

#[test]
fn a_client_is_told_that_its_session_goes_on() {
    for era in ERAS {
        let folder = Folder::with([("a.txt", "one\n")]);
        let mut client = era(&launch(&folder));
        subscribe(&mut client, "emend://session");
        client.replace("a.txt", "gone", "x").refused("search-not-found");
        assert_eq!(client.notified(UPDATED)["uri"], "emend://session");
    }
}

#[test]
fn over_http_a_session_has_an_end_and_a_request_that_stands_alone_has_none() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = HttpServer::start(&telling(&folder));
    server.client().replace("a.txt", "one", "two").ok();
    assert!(server.client().request("resources/read", json!({"uri": "emend://session"})).is_err());
    let session = server.client().legacy();
    session.replace("a.txt", "two", "three").ok();
    session.close();
    let events = kept_once(&folder, 3);
    assert_eq!(of_each(&events, "type"), ["edit", "edit", "session"]);
    assert_eq!(of_each(&events, "client"), ["testkit (http)"; 3]);
    assert_eq!(events[2]["summary"]["had_edits"], true);
    assert_eq!(events[2]["first_event"], 2);
    // One that is still open when the server ends.
    let _open = {
        let session = server.client().legacy();
        session.replace("a.txt", "three", "four").ok();
        session
    };
    server.terminate();
    assert!(server.wait().success());
    assert_eq!(of_each(&kept(&folder)[3..], "type"), ["edit", "session"]);
}

#[test]
fn a_subscriber_is_told_of_events_of_every_process_and_reads_on_where_it_was() {
    for era in ERAS {
        let folder = Folder::with([("a.txt", "0\n")]);
        let mut client = era(&telling(&folder));
        let uri = "emend://events?after=0";
        subscribe(&mut client, uri);
        client.replace("a.txt", "0", "1").ok();
        assert_eq!(client.notified(UPDATED)["uri"], uri);
        let (events, about) = read(&mut client, uri);
        assert_eq!(numbers(&events), [1]);
        assert_eq!(about, json!({"emend/last": 1, "emend/more": false}));
        let mut other = telling(&folder).legacy();
        other.replace("a.txt", "1", "2").ok();
        assert_eq!(client.notified(UPDATED)["uri"], uri);
        other.close();
        kept_once(&folder, 3);
        assert_eq!(numbers(&read(&mut client, "emend://events?after=1").0), [2, 3]);
        client.replace("a.txt", "gone", "x").refused("search-not-found");
        kept_once(&folder, 4);
        assert_eq!(of_each(&read(&mut client, "emend://events?after=3").0, "type"), ["refused"]);
        assert_eq!(numbers(&read(&mut client, EVENTS).0), [1, 2, 3, 4]);
        assert!(client.request("resources/read", json!({"uri": "emend://events?after=x"})).is_err());
    }
}

#[test]
fn a_long_log_is_read_in_pieces() {
    let folder = Folder::with([("a.txt", "0\n")]);
    let mut client = telling(&folder).legacy();
    for number in 0..250 {
        client.replace("a.txt", &format!("{number}\n"), &format!("{}\n", number + 1)).ok();
    }
    kept_once(&folder, 250);
    assert_eq!(numbers(&read(&mut client, EVENTS).0), (151..=250).collect::<Vec<_>>());
    let (mut all, mut last) = (Vec::new(), 0);
    loop {
        let (events, about) = read(&mut client, &format!("{EVENTS}?after={last}"));
        all.extend(numbers(&events));
        last = about["emend/last"].as_u64().unwrap();
        if about["emend/more"] == false {
            break;
        }
        assert_eq!(events.len(), 100);
    }
    assert_eq!(all, (1..=250).collect::<Vec<_>>());
}

#[test]
fn what_a_client_may_not_read_it_is_not_told_of() {
    let folder = Folder::with([("a.txt", "one\n"), ("secret.txt", "one\n")]);
    let elsewhere = Folder::with([("c.txt", "one\n")]);
    let mut free = telling(&folder).legacy();
    free.replace("secret.txt", "one", "two").ok();
    free.replace("secret.txt", "gone", "x").refused("search-not-found");
    free.call("move_file", json!({"from": "secret.txt", "to": "open.txt"})).ok();
    free.replace("a.txt", "one", "two").ok();
    free.close();
    // The same state folder, another workspace, and one that has both.
    let other = Launch::new(EMEND).argument("--emit-event").state(folder.state());
    let mut client = other.clone().workspace(elsewhere.path()).legacy();
    client.replace("c.txt", "one", "two").ok();
    client.close();
    let both = other
        .workspace(format!("x={}", folder.path().display()))
        .workspace(format!("y={}", elsewhere.path().display()));
    let mut client = both.legacy();
    client.replace("y:c.txt", "two", "three").ok();
    client.call("write_file", json!({"path": "x:b.txt", "content": "b\n"})).ok();
    client.replace("nowhere.txt", "one", "two");
    client.close();
    let events = kept(&folder);
    let roots: Vec<usize> = events.iter().map(|event| event["roots"].as_array().unwrap().len()).collect();
    // A refusal that names no file of a root may be about any, and so may a session.
    assert_eq!(roots, [1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2]);

    // Who looks may have left the end of its own session behind.
    let seen = |launch: Launch| {
        let mut seen = numbers(&read(&mut launch.legacy(), EVENTS).0);
        seen.retain(|number| *number <= 11);
        seen
    };
    assert_eq!(seen(telling(&folder)), [1, 2, 3, 4, 5, 9]);
    assert_eq!(seen(telling(&folder).argument("--forbid").argument("secret.txt")), [4, 9]);
    let here = Launch::new(EMEND).argument("--emit-event").state(folder.state()).workspace(elsewhere.path());
    assert_eq!(seen(here), [6, 7, 8]);
}

/// The remarks of an answer are for whoever gets it, and are about other files than the edit.
#[test]
fn what_an_answer_remarks_beside_the_edit_is_told_to_no_other_client() {
    let folder = Folder::with([("a.txt", "0\n"), ("secret.txt", "one\n")]);
    let mut free = telling(&folder).legacy();
    for file in ["a.txt", "secret.txt"] {
        free.call("read_file", json!({"path": file})).ok();
    }
    folder.write("secret.txt", "two\n");
    let until = Instant::now() + Duration::from_secs(60);
    for number in 0.. {
        let answer = free.replace("a.txt", &number.to_string(), &(number + 1).to_string()).ok();
        if answer.structured["notes"].to_string().contains("secret.txt") {
            break;
        }
        assert!(Instant::now() < until, "it is not remarked");
    }
    free.close();
    let mut client = telling(&folder).argument("--forbid").argument("secret.txt").legacy();
    let told = read(&mut client, EVENTS).0;
    assert!(told.iter().any(|event| event["type"] == "edit"));
    assert!(told.iter().all(|event| !event.to_string().contains("secret.txt")), "{told:?}");
}

#[test]
fn a_subscriber_that_never_reads_holds_up_nobody() {
    let folder = Folder::with([("a.txt", "0\n")]);
    let server = HttpServer::start(&telling(&folder));
    let filter = json!({"notifications": {"resourceSubscriptions": [EVENTS]}});
    let mut listening = server.client().begin("subscriptions/listen", filter);
    listening.next_message().unwrap();
    let client = server.client();
    for number in 0..200 {
        client.replace("a.txt", &format!("{number}\n"), &format!("{}\n", number + 1)).ok();
    }
    assert_eq!(kept_once(&folder, 200).len(), 200);
    assert_eq!(listening.next_message().unwrap()["params"]["uri"], EVENTS);
}

#[test]
fn an_edit_does_not_wait_for_a_log_that_cannot_be_written() {
    let folder = Folder::with([("a.txt", "0\n")]);
    let mut client = telling(&folder).legacy();
    client.replace("a.txt", "0", "1").ok();
    kept_once(&folder, 1);
    // Gone: it is made again, and numbers go on.
    fs::remove_dir_all(folder.state().join("events")).unwrap();
    client.replace("a.txt", "1", "2").ok();
    assert_eq!(numbers(&kept_once(&folder, 1)), [2]);
    // Not to be had: the next one that can be written says how many were lost.
    fs::remove_dir_all(folder.state().join("events")).unwrap();
    fs::write(folder.state().join("events"), "no folder").unwrap();
    let mut lost = 0;
    for number in 2..5 {
        client.replace("a.txt", &format!("{number}"), &format!("{}", number + 1)).ok();
        lost += 1;
    }
    fs::remove_file(folder.state().join("events")).unwrap();
    client.replace("a.txt", "5", "6").ok();
    client.replace("a.txt", "6", "7").ok();
    let (status, log) = client.close();
    assert!(status.success());
    let events = kept(&folder);
    let told: u64 = events.iter().filter_map(|event| event["lost"].as_u64()).sum();
    let edits = events.iter().filter(|event| event["type"] == "edit").count() as u64;
    assert_eq!(told + edits, lost + 2, "{events:#?}");
    assert_eq!(log.matches("could not be written").count(), 1, "{log}");
    assert_eq!(folder.text("a.txt"), "7\n");
}

/// Another process has the log locked and does nothing.
#[test]
fn an_edit_does_not_wait_for_a_log_that_hangs() {
    let folder = Folder::with([("a.txt", "0\n")]);
    let mut client = telling(&folder).legacy();
    client.replace("a.txt", "0", "1").ok();
    kept_once(&folder, 1);
    let log = fs::OpenOptions::new().append(true).open(folder.state().join("events/log.jsonl")).unwrap();
    log.lock().unwrap();
    for number in 1..20 {
        client.replace("a.txt", &format!("{number}"), &format!("{}", number + 1)).ok();
    }
    assert_eq!(kept(&folder).len(), 1);
    log.unlock().unwrap();
    assert_eq!(numbers(&kept_once(&folder, 20)), (1..=20).collect::<Vec<_>>());
    // Nor does the end of the server, for ever.
    log.lock().unwrap();
    client.replace("a.txt", "20", "21").ok();
    let (status, said) = client.close();
    assert!(status.success() && said.contains("not written in time"), "{said}");
    assert_eq!(kept(&folder).len(), 20);
}

#[test]
fn without_a_state_folder_there_are_no_events_and_edits_go_on() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let launch = Launch::new(EMEND).workspace(folder.path()).argument("--emit-event");
    let mut client = launch.variable("HOME", "nowhere").variable("XDG_STATE_HOME", "").legacy();
    let edit = client.replace("a.txt", "one", "two").ok();
    let fired = edit.structured["side_effects_fired"].as_array().unwrap();
    assert!(!fired.contains(&json!("event")));
    let (_, log) = client.close();
    assert!(log.contains("no state folder"), "{log}");
}

/// What the document shows is what is written, but for what differs each time.
#[test]
fn the_document_of_events_has_them_as_they_are() {
    let folder = Folder::with([("src/a.txt", "one\n")]);
    let mut client = telling(&folder).legacy();
    client.replace("src/a.txt", "one", "two").ok();
    client.call("delete_file", json!({"path": "src/b.txt"})).refused("missing-original");
    client.close();
    let document = include_str!("../../docs/EVENTS.md");
    let blocks = document.split("```json\n").skip(1).map(|block| block.split("```").next().unwrap());
    let shown: Vec<Value> = blocks.map(|block| serde_json::from_str(block).unwrap()).collect();
    let plain = |events: Vec<Value>| -> Vec<Value> { events.into_iter().map(as_everywhere).collect() };
    assert_eq!(plain(kept(&folder)), plain(shown));
}

/// An event without what differs from machine to machine and from time to time.
fn as_everywhere(mut event: Value) -> Value {
    for varying in ["time", "client", "session", "path", "edit", "message", "version_before", "version_after"]
    {
        replace_texts(&mut event, varying);
    }
    event
}

/// Exchanges every text of this name for its name; of paths only absolute ones.
fn replace_texts(value: &mut Value, name: &str) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|value| replace_texts(value, name)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str() {
                    Some(text) if key == name && (name != "path" || text.starts_with('/')) => {
                        *value = name.into();
                    }
                    _ => replace_texts(value, name),
                }
            }
        }
        _ => {}
    }
}
