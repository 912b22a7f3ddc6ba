//! Subscriptions in both eras: which client is notified of what.
//!
//! Notifications that must not come are tested by the next one: of two changes, the first is told first.

use std::fs;
use std::time::{Duration, Instant};

use emend_testkit::{Client, Folder, HttpServer};
use serde_json::{Value, json};

use crate::launch;

const UPDATED: &str = "notifications/resources/updated";
const LIST_CHANGED: &str = "notifications/resources/list_changed";

fn uri(folder: &Folder, name: &str) -> String {
    folder.uri(name)
}

fn legacy(folder: &Folder, uris: &[&str]) -> Client {
    let mut client = launch(folder).legacy();
    for uri in uris {
        client.request("resources/subscribe", json!({"uri": uri})).unwrap();
    }
    client
}

fn modern(folder: &Folder, uris: &[&str]) -> Client {
    let mut client = launch(folder).modern();
    let (_, accepted) = client.listen(&json!({"resourceSubscriptions": uris}));
    assert_eq!(accepted, json!({"resourceSubscriptions": uris}));
    client
}

/// Both ways to subscribe.
const ERAS: [fn(&Folder, &[&str]) -> Client; 2] = [legacy, modern];

/// Puts a file in place as other programs do that let nobody see half of it: then there is one change and not two.
fn put(folder: &Folder, name: &str, content: &str) {
    let (staged, path) = (folder.beside("staged"), folder.at(name));
    fs::write(&staged, content).unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // On Windows, the server may be reading the file at this moment: then an editor tries again, too.
    let begun = Instant::now();
    while let Err(error) = fs::rename(&staged, &path) {
        let is_read = cfg!(windows) && error.kind() == std::io::ErrorKind::PermissionDenied;
        assert!(is_read && begun.elapsed() < Duration::from_secs(30), "{error}");
    }
}

/// The next resource that the client is told of.
#[track_caller]
fn updated(client: &mut Client) -> String {
    client.notified(UPDATED)["uri"].as_str().unwrap().to_owned()
}

/// The next thing that the client hears is the change of this file, which it is subscribed to.
#[track_caller]
fn hears_first_of(client: &mut Client, folder: &Folder, mark: &str) {
    let before = folder.text(mark);
    put(folder, mark, &format!("{before}!"));
    assert_eq!(updated(client), uri(folder, mark));
    assert_eq!(client.take_notifications(), Vec::<Value>::new());
}

#[test]
fn an_edit_of_the_same_server_is_told_once() {
    for subscribed in ERAS {
        let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n"), ("mark", "")]);
        let [a, b, mark] = ["a.txt", "b.txt", "mark"].map(|name| uri(&folder, name));
        let mut client = subscribed(&folder, &[&a, &b, &mark]);
        client.replace("a.txt", "one", "two").ok();
        assert_eq!(updated(&mut client), a);
        hears_first_of(&mut client, &folder, "mark");
        client.call("move_file", json!({"from": "b.txt", "to": "c.txt"})).ok();
        assert_eq!(updated(&mut client), b);
        client.call("move_file", json!({"from": "c.txt", "to": "b.txt"})).ok();
        assert_eq!(updated(&mut client), b);
        hears_first_of(&mut client, &folder, "mark");
    }
}

#[test]
fn what_other_programs_and_other_servers_do_is_told() {
    for subscribed in ERAS {
        let folder = Folder::with([("deep/er/a.txt", "one\n")]);
        let file = uri(&folder, "deep/er/a.txt");
        let mut client = subscribed(&folder, &[&file]);
        put(&folder, "deep/er/a.txt", "two\n");
        assert_eq!(updated(&mut client), file);
        launch(&folder).legacy().replace("deep/er/a.txt", "two", "three").ok();
        assert_eq!(updated(&mut client), file);
        fs::remove_file(folder.at("deep/er/a.txt")).unwrap();
        assert_eq!(updated(&mut client), file);
        put(&folder, "deep/er/a.txt", "four\n");
        assert_eq!(updated(&mut client), file);
        fs::write(folder.at("new"), "five\n").unwrap();
        fs::rename(folder.at("new"), folder.at("deep/er/a.txt")).unwrap();
        assert_eq!(updated(&mut client), file);
    }
}

#[test]
fn a_file_is_told_of_after_its_folders_have_gone_and_come_again() {
    for subscribed in ERAS {
        let folder = Folder::with([("deep/er/a.txt", "one\n")]);
        let file = uri(&folder, "deep/er/a.txt");
        let mut client = subscribed(&folder, &[&file]);
        fs::rename(folder.at("deep"), folder.at("moved")).unwrap();
        assert_eq!(updated(&mut client), file);
        put(&folder, "deep/er/a.txt", "two\n");
        assert_eq!(updated(&mut client), file);
        fs::remove_dir_all(folder.at("deep")).unwrap();
        assert_eq!(updated(&mut client), file);
        put(&folder, "deep/er/a.txt", "three\n");
        assert_eq!(updated(&mut client), file);
        put(&folder, "deep/er/a.txt", "four\n");
        assert_eq!(updated(&mut client), file);
    }
}

/// Nothing around the workspace is watched that could tell when it is back.
#[test]
fn a_file_is_told_of_after_the_workspace_itself_was_moved_away_and_back() {
    for subscribed in ERAS {
        let folder = Folder::with([("d/a.txt", "one\n")]);
        let a = uri(&folder, "d/a.txt");
        let mut client = subscribed(&folder, &[&a]);
        put(&folder, "d/a.txt", "two\n");
        assert_eq!(updated(&mut client), a);
        fs::rename(folder.path(), folder.beside("moved")).unwrap();
        // It is the same folder wherever it is.
        fs::write(folder.beside("staged"), "three\n").unwrap();
        fs::rename(folder.beside("staged"), folder.beside("moved/d/a.txt")).unwrap();
        assert_eq!(updated(&mut client), a);
        fs::rename(folder.beside("moved"), folder.path()).unwrap();
        for text in ["four\n", "five\n"] {
            put(&folder, "d/a.txt", text);
            assert_eq!(updated(&mut client), a);
        }
    }
}

#[test]
fn a_file_that_is_written_again_with_the_same_content_is_not_told_of_again() {
    for subscribed in ERAS {
        let folder = Folder::with([("a.txt", "one\n"), ("mark", "")]);
        let [file, mark] = ["a.txt", "mark"].map(|name| uri(&folder, name));
        let mut client = subscribed(&folder, &[&file, &mark]);
        client.replace("a.txt", "one", "two").ok();
        assert_eq!(updated(&mut client), file);
        put(&folder, "a.txt", "two\n");
        hears_first_of(&mut client, &folder, "mark");
    }
}

#[test]
fn a_notification_says_which_request_it_belongs_to() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = launch(&folder).modern();
    let file = uri(&folder, "a.txt");
    let (id, _) = client.listen(&json!({"resourceSubscriptions": [file]}));
    put(&folder, "a.txt", "two\n");
    let told = client.notified(UPDATED);
    assert_eq!(told["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
}

#[test]
fn edits_update_the_history_whoever_made_them() {
    for subscribed in ERAS {
        let folder = Folder::with([("a.txt", "one\n")]);
        let mut client = subscribed(&folder, &["emend://history"]);
        client.replace("a.txt", "one", "two").ok();
        assert_eq!(updated(&mut client), "emend://history");
        launch(&folder).legacy().replace("a.txt", "two", "three").ok();
        assert_eq!(updated(&mut client), "emend://history");
        client.replace("a.txt", "three", "four").ok();
        assert_eq!(updated(&mut client), "emend://history");
        assert_eq!(client.take_notifications(), Vec::<Value>::new());
    }
}

#[test]
fn a_client_can_hear_when_what_it_has_read_changes() {
    for subscribed in ERAS {
        let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n"), ("mark", "")]);
        let mark = uri(&folder, "mark");
        let mut client = subscribed(&folder, &["emend://readings", &mark]);
        client.read("a.txt");
        put(&folder, "b.txt", "two\n");
        client.replace("a.txt", "one", "two").ok();
        // Neither a file that was not read nor an edit of its own.
        hears_first_of(&mut client, &folder, "mark");
        put(&folder, "a.txt", "three\n");
        assert_eq!(updated(&mut client), "emend://readings");
        client.replace("a.txt", "three", "four").refused("stale-file");
        client.replace("a.txt", "three", "four").ok();
        hears_first_of(&mut client, &folder, "mark");
    }
}

#[test]
fn files_that_come_and_go_change_the_list() {
    let folder = Folder::with([("a.txt", "one\n"), (".gitignore", "skipped\n"), ("sub/b.txt", "x")]);
    let mut client = launch(&folder).modern();
    let file = uri(&folder, "a.txt");
    let (_, accepted) = client.listen(&json!({
        "resourcesListChanged": true, "toolsListChanged": true, "resourceSubscriptions": [file],
    }));
    assert_eq!(accepted, json!({"resourcesListChanged": true, "resourceSubscriptions": [file]}));
    client.call("write_file", json!({"path": "deep/new.txt", "content": "x"})).ok();
    client.notified(LIST_CHANGED);
    fs::write(folder.at("other.txt"), "x").unwrap();
    client.notified(LIST_CHANGED);
    fs::remove_file(folder.at("other.txt")).unwrap();
    client.notified(LIST_CHANGED);
    // What is not listed does not change the list.
    fs::write(folder.at(".env"), "SECRET=1").unwrap();
    fs::write(folder.at("skipped"), "x").unwrap();
    client.replace("a.txt", "one", "two").ok();
    assert_eq!(updated(&mut client), file);
    hears_first_of(&mut client, &folder, "a.txt");
}

#[test]
fn a_legacy_client_hears_of_the_list_once_it_has_asked_for_it() {
    let folder = Folder::with([("mark", "")]);
    let mark = uri(&folder, "mark");
    let mut client = legacy(&folder, &[&mark]);
    client.call("write_file", json!({"path": "new.txt", "content": "x"})).ok();
    hears_first_of(&mut client, &folder, "mark");
    client.request("resources/list", json!({})).unwrap();
    client.call("delete_file", json!({"path": "new.txt"})).ok();
    client.notified(LIST_CHANGED);
    hears_first_of(&mut client, &folder, "mark");
    // So it does of what others do.
    put(&folder, "theirs.txt", "x");
    client.notified(LIST_CHANGED);
}

#[test]
fn who_does_not_listen_any_more_is_told_nothing() {
    let folder = Folder::with([("a.txt", "one\n"), ("mark", "")]);
    let [file, mark] = ["a.txt", "mark"].map(|name| uri(&folder, name));
    let mut client = legacy(&folder, &[&file, &mark]);
    client.request("resources/unsubscribe", json!({"uri": file})).unwrap();
    client.request("resources/unsubscribe", json!({"uri": file})).unwrap();
    client.replace("a.txt", "one", "two").ok();
    hears_first_of(&mut client, &folder, "mark");

    let mut client = launch(&folder).modern();
    let (id, _) = client.listen(&json!({"resourceSubscriptions": [file]}));
    client.cancel(id);
    client.listen(&json!({"resourceSubscriptions": [mark]}));
    client.replace("a.txt", "two", "three").ok();
    hears_first_of(&mut client, &folder, "mark");
}

#[test]
fn what_cannot_be_read_cannot_be_subscribed_to() {
    let folder = Folder::with([("a.txt", "one\n"), (".env", "SECRET=1")]);
    let file = uri(&folder, "a.txt");
    let wrong = [uri(&folder, ".env"), uri(&folder, "nothing"), "emend://edit/00.diff".into(), "x".into()];
    let mut client = launch(&folder).legacy();
    for uri in &wrong {
        let error = client.request("resources/subscribe", json!({"uri": uri})).unwrap_err();
        assert_eq!(error["code"], if uri == "x" { -32602 } else { -32002 }, "{uri}");
    }
    let mut client = launch(&folder).modern();
    let all: Vec<&String> = wrong.iter().chain([&file]).collect();
    let (_, accepted) = client.listen(&json!({"resourceSubscriptions": all}));
    assert_eq!(accepted, json!({"resourceSubscriptions": [file]}));
    let (_, accepted) = client.listen(&json!({"resourceSubscriptions": wrong}));
    assert_eq!(accepted, json!({}));
}

#[test]
fn of_many_edits_few_are_looked_up_for_a_listening_request() {
    let folder = Folder::with([("a.txt", "0\n")]);
    let mut client = launch(&folder).modern();
    let mut wanted: Vec<String> = Vec::new();
    for number in 0..20 {
        let edit = client.replace("a.txt", &format!("{number}"), &format!("{}", number + 1)).ok();
        wanted.push(format!("emend://edit/{}.diff", edit.structured["edit"].as_str().unwrap()));
    }
    wanted.push(uri(&folder, "a.txt"));
    let (_, accepted) = client.listen(&json!({"resourceSubscriptions": wanted}));
    let expected: Vec<&String> = wanted[..16].iter().chain(&wanted[20..]).collect();
    assert_eq!(accepted, json!({"resourceSubscriptions": expected}));
}

#[test]
fn a_session_has_a_limit() {
    let folder = Folder::new();
    let names: Vec<String> = (0..1_001).map(|number| format!("{number}")).collect();
    names.iter().for_each(|name| folder.write(name, "x"));
    let uris: Vec<String> = names.iter().map(|name| uri(&folder, name)).collect();
    let mut client = legacy(&folder, &uris[..1_000].iter().map(String::as_str).collect::<Vec<_>>());
    let subscribe = |client: &mut Client, uri: &String| {
        client.request("resources/subscribe", json!({"uri": uri})).map_err(|error| error["code"].clone())
    };
    assert_eq!(subscribe(&mut client, &uris[1_000]), Err(json!(-32602)));
    subscribe(&mut client, &uris[0]).unwrap();
    client.request("resources/unsubscribe", json!({"uri": uris[0]})).unwrap();
    subscribe(&mut client, &uris[1_000]).unwrap();

    let mut client = launch(&folder).modern();
    let (id, accepted) = client.listen(&json!({"resourceSubscriptions": uris}));
    assert_eq!(accepted["resourceSubscriptions"].as_array().map(Vec::len), Some(1_000));
    assert_eq!(client.listen(&json!({"resourceSubscriptions": [uris[0]]})).1, json!({}));
    client.cancel(id);
    client.read("0");
    assert_eq!(
        client.listen(&json!({"resourceSubscriptions": [uris[0]]})).1["resourceSubscriptions"],
        json!([uris[0]])
    );
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_is_watched_unless_somebody_has_subscribed_or_read_something() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let watches = |client: &Client| {
        let open = fs::read_dir(format!("/proc/{}/fd", client.process())).unwrap();
        let targets = open.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
        targets.filter(|target| target.to_string_lossy().contains("inotify")).count()
    };
    let mut client = launch(&folder).legacy();
    client.request("resources/list", json!({})).unwrap();
    client.replace("a.txt", "one", "two").ok();
    assert_eq!(watches(&client), 0);
    client.request("resources/subscribe", json!({"uri": uri(&folder, "a.txt")})).unwrap();
    assert_eq!(watches(&client), 1);
    let mut client = launch(&folder).legacy();
    client.read("a.txt").ok();
    let until = Instant::now() + Duration::from_secs(60);
    while watches(&client) == 0 {
        assert!(Instant::now() < until, "what was read is not watched");
        std::thread::yield_now();
    }
}

#[test]
fn over_http_each_is_told_of_what_it_has_subscribed_to() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n")]);
    let [a, b] = ["a.txt", "b.txt"].map(|name| uri(&folder, name));
    let server = HttpServer::start(&launch(&folder));

    let mut listening = server.client().begin(
        "subscriptions/listen",
        json!({"notifications": {
            "resourceSubscriptions": [a, "emend://readings"],
        }}),
    );
    let acknowledged = listening.next_message().unwrap();
    // A request that stands alone has read nothing.
    assert_eq!(acknowledged["params"]["notifications"], json!({"resourceSubscriptions": [a]}));

    let session = server.client().legacy();
    session.request("resources/subscribe", json!({"uri": b})).unwrap();
    session.request("resources/subscribe", json!({"uri": "emend://readings"})).unwrap();
    session.read("a.txt");
    let bearer = format!("Bearer {}", server.token());
    let headers = [
        ("Authorization", &bearer[..]),
        ("Accept", "text/event-stream"),
        ("Mcp-Session-Id", session.session().unwrap()),
    ];
    let mut stream = session.send("GET /mcp", &headers, b"");
    assert_eq!(stream.status, 200);

    // Another client of the same server, and another program.
    server.client().replace("a.txt", "one", "two").ok();
    let told = listening.next_message().unwrap();
    assert_eq!((&told["method"], &told["params"]["uri"]), (&json!(UPDATED), &json!(a)));
    assert_eq!(stream.next_message().unwrap()["params"]["uri"], "emend://readings");
    put(&folder, "b.txt", "two\n");
    assert_eq!(stream.next_message().unwrap()["params"]["uri"], b);
    put(&folder, "a.txt", "three\n");
    assert_eq!(listening.next_message().unwrap()["params"]["uri"], a);
}

#[test]
#[cfg(target_os = "linux")]
fn over_http_who_goes_is_forgotten() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = HttpServer::start(&launch(&folder));
    let watches = || {
        let open = fs::read_dir(format!("/proc/{}/fd", server.process())).unwrap();
        let targets = open.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
        targets.filter(|target| target.to_string_lossy().contains("inotify")).count()
    };
    let filter = json!({"notifications": {"resourceSubscriptions": [uri(&folder, "a.txt")]}});
    let mut listening = server.client().begin("subscriptions/listen", filter);
    listening.next_message().unwrap();
    let session = server.client().legacy();
    session.request("resources/subscribe", json!({"uri": uri(&folder, "a.txt")})).unwrap();
    assert_eq!(watches(), 1);
    drop(listening);
    let bearer = format!("Bearer {}", server.token());
    let headers = [("Authorization", &bearer[..]), ("Mcp-Session-Id", session.session().unwrap())];
    assert!(session.send("DELETE /mcp", &headers, b"").finish().status < 300);
    // Whatever else it is asked meanwhile, it notices that they are gone.
    let until = Instant::now() + Duration::from_secs(60);
    while watches() > 0 {
        server.client().read("a.txt");
        assert!(Instant::now() < until, "somebody who is gone is still listened for");
    }
}
