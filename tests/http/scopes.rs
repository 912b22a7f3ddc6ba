//! What a token lets its bearer do: the scopes of static tokens, with the built command.

use emend_testkit::{Folder, Http, HttpServer};
use serde_json::{Value, json};

use crate::launch;

const READER: &str = "reader-has-this-long-token";
const WRITER: &str = "writer-has-that-long-token";
const OWNER: &str = "owner-has-another-long-token";

/// A server whose tokens have scopes, and a client with each: one that reads, one that writes, one that may do everything.
fn serve(folder: &Folder, flags: &[&str]) -> (HttpServer, [Http; 3]) {
    let file = folder.beside("tokens");
    let lines =
        format!("reader {READER} files:read\nwriter {WRITER} files:read files:write\nowner {OWNER}\n");
    std::fs::write(&file, lines).unwrap();
    let mut launch = launch(folder);
    for flag in flags {
        launch = launch.argument(flag);
    }
    let server = HttpServer::start(&launch.argument("--tokens").argument(&file));
    let clients = [READER, WRITER, OWNER].map(|token| Http::new(server.address(), token));
    (server, clients)
}

fn names(list: &Value) -> Vec<String> {
    let tools = list["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// Arguments with which each tool of ours that does not only read would do something.
fn calls(folder: &Folder) -> Vec<(String, Value)> {
    let (_server, [_, _, owner]) = serve(folder, &[]);
    let read = names(&serve(folder, &["--mode", "read-only"]).1[2].request("tools/list", json!({})).unwrap());
    let all = names(&owner.request("tools/list", json!({})).unwrap());
    let edits = all.into_iter().filter(|name| !read.contains(name));
    let arguments = json!({"path": "a.txt", "old_string": "one", "new_string": "two", "content": "two\n"});
    edits.map(|name| (name, arguments.clone())).collect()
}

#[test]
fn who_only_reads_sees_the_list_of_a_read_only_workspace_and_changes_nothing() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let edits = calls(&folder);
    assert!(edits.len() > 10, "{edits:?}");
    for dialect in ["emend", "claude", "codex", "gemini"] {
        let (_server, [reader, _, owner]) = serve(&folder, &["--dialect", dialect]);
        let (_closed, [_, _, elsewhere]) = serve(&folder, &["--dialect", dialect, "--mode", "read-only"]);
        let open =
            |client: &Http, is_legacy| if is_legacy { client.clone().legacy() } else { client.clone() };
        for is_legacy in [false, true] {
            let [reader, elsewhere, owner] =
                [&reader, &elsewhere, &owner].map(|client| open(client, is_legacy));
            let mut seen = reader.request("tools/list", json!({})).unwrap();
            let expected = elsewhere.request("tools/list", json!({})).unwrap();
            assert_eq!(names(&seen), names(&expected), "{dialect}");
            assert_ne!(names(&seen), names(&owner.request("tools/list", json!({})).unwrap()), "{dialect}");
            if !is_legacy {
                assert_eq!((seen["cacheScope"].take(), seen["ttlMs"].take()), ("private".into(), 0.into()));
            }
            reader.read("a.txt");
        }
        for name in ["Write", "Edit", "apply_patch", "replace", "str_replace_editor", "write_to_file"] {
            let arguments = json!({"file_path": folder.at("a.txt"), "path": "a.txt", "content": "x", "command": "create",
                "file_text": "x", "old_string": "one", "new_string": "two"});
            let answer = reader.call(name, arguments);
            assert!(answer.is_error, "{name}: {}", answer.text);
        }
        assert_eq!(folder.text("a.txt"), "one\n");
    }
    let (_server, [reader, _, _]) = serve(&folder, &[]);
    for (name, arguments) in edits {
        reader.call(&name, arguments.clone()).refused("insufficient-scope");
        reader.clone().legacy().call(&name, arguments).refused("insufficient-scope");
    }
    assert_eq!(folder.text("a.txt"), "one\n");
    let said = reader.call("str_replace", json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    assert!(said.text.contains("files:write"), "{}", said.text);
}

#[test]
fn who_may_not_even_read_is_not_served() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let file = folder.beside("tokens");
    std::fs::write(&file, format!("odd {WRITER} files:write\n")).unwrap();
    let server = HttpServer::start(&launch(&folder).argument("--tokens").argument(&file));
    let client = Http::new(server.address(), WRITER);
    let reply = client.begin("tools/list", json!({})).finish();
    assert_eq!(reply.status, 403);
    let challenge = reply.header("www-authenticate").unwrap();
    assert!(challenge.contains("insufficient_scope") && challenge.contains("files:read"), "{challenge}");
}

#[test]
fn who_may_not_approve_is_not_asked_and_the_edit_waits() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let (_server, [_, writer, owner]) = serve(&folder, &["--mode", "ask"]);
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "two"});
    let call = json!({"name": "str_replace", "arguments": edit});
    writer.clone().asking().call("str_replace", edit.clone()).refused("approval-needed");
    let asked = owner.asking().request("tools/call", call).unwrap();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let decide = json!({"approval": "000000000000", "is_allowed": true, "secret": "x"});
    let told = writer.call("decide", decide);
    assert!(told.is_error && told.text.contains("files:approve"), "{}", told.text);
    assert_eq!(folder.text("a.txt"), "one\n");
}

#[test]
fn no_client_is_recorded_as_a_person_on_a_page() {
    let folder = Folder::with([("a.txt", "0\n")]);
    let (_server, [_, writer, _]) = serve(&folder, &[]);
    let names = ["emend review", " Emend\u{a0}Review", "emend-review (owner)"];
    for (number, name) in names.into_iter().enumerate() {
        let client = writer.clone().called(name);
        let client = if number == 0 { client.legacy() } else { client };
        client.replace("a.txt", &number.to_string(), &(number + 1).to_string()).ok();
    }
    let history = writer.call("edit_history", json!({})).ok().text;
    assert_eq!(history.matches("a client that says it is ").count(), names.len(), "{history}");
}

#[test]
fn what_others_did_is_undone_only_with_the_scope_for_it() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n")]);
    let (server, [_, writer, owner]) = serve(&folder, &[]);
    let edit = owner.replace("a.txt", "one", "two").ok().structured["edit"].clone();
    let own = writer.replace("b.txt", "one", "two").ok().structured["edit"].clone();
    // A client may call itself what it likes.
    let pretender = writer.clone().called("testkit (owner)");
    for client in [&writer, &pretender, &pretender.clone().legacy()] {
        client.call("undo_edit", json!({"edit": edit})).refused("insufficient-scope");
    }
    assert_eq!(folder.text("a.txt"), "two\n");
    drop(server);
    // Whose it was is known after the server was started again.
    let (_server, [_, writer, owner]) = serve(&folder, &[]);
    writer.call("undo_edit", json!({"edit": edit})).refused("insufficient-scope");
    writer.call("undo_edit", json!({"edit": own})).ok();
    owner.call("undo_edit", json!({"edit": edit})).ok();
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("one\n".into(), "one\n".into()));
}
