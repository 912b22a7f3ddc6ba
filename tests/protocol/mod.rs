//! The protocol: both eras, the server's description of itself, bad calls, and clients that disconnect. The tests are
//! few and small; others test the tools.

mod asking;
mod cancellation;
mod editors;
pub(crate) mod events;
mod messages;
mod prompts;
mod resources;
mod review;
mod roots;
mod schemas;
mod skills;
mod subscriptions;
mod unread;
mod watching;

use std::fs;

use emend_testkit::{Answer, Client, Folder, Launch};
use serde_json::{Value, json};

use crate::{EMEND, launch, serve};

const TOOLS: [&str; 20] = [
    "read_file",
    "list_files",
    "search_text",
    "find_symbol",
    "str_replace",
    "replace_in_files",
    "replace_lines",
    "set_value",
    "rename_symbol",
    "apply_patch",
    "apply_sketch",
    "write_file",
    "move_file",
    "delete_file",
    "edit_files",
    "edit_preview",
    "apply_preview",
    "undo_edit",
    "edit_history",
    "diagnostics",
];

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

fn reads_and_edits(mut client: Client, folder: &Folder) -> (Vec<Value>, Answer, Answer) {
    let tools = client.tools();
    let read = client.read("a.txt");
    let edited = client.replace("a.txt", "two", "2").ok();
    assert_eq!(folder.text("a.txt"), "one\n2\n");
    (tools, read, edited)
}

#[test]
fn both_eras_list_the_same_tools_and_edit() {
    let run = |start: fn(&Launch) -> Client| {
        let folder = Folder::with([("a.txt", "one\ntwo\n")]);
        let (tools, read, mut edited) = reads_and_edits(start(&launch(&folder)), &folder);
        let edit = edited.structured["edit"].take();
        edited.text = edited.text.replace(edit.as_str().unwrap(), "");
        (tools, read, edited)
    };
    let (legacy, modern) = (run(Launch::legacy), run(Launch::modern));
    assert_eq!(names(&legacy.0), TOOLS);
    assert_eq!(legacy, modern);
}

#[test]
fn every_revision_with_a_handshake_is_spoken() {
    let folder = Folder::with([("a.txt", "one\n")]);
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = launch(&folder).start();
        let said = client.initialize_legacy(revision);
        assert_eq!(said["protocolVersion"], revision);
        assert_eq!(said["serverInfo"]["name"], "emend");
        assert!(said["capabilities"]["tools"].is_object());
        client.read("a.txt");
    }
}

#[test]
fn a_modern_client_discovers_the_server_without_a_session() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = launch(&folder).modern();
    let said = client.request("server/discover", json!({})).unwrap();
    let revisions = said["supportedVersions"].as_array().unwrap();
    assert!(revisions.contains(&"2026-07-28".into()) && revisions.contains(&"2025-11-25".into()));
    assert_eq!(said["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "emend");
    assert!(said["instructions"].is_string());
    client.read("a.txt");
}

#[test]
fn a_client_may_ask_what_there_is_and_then_open_a_session_all_the_same() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = launch(&folder).modern();
    client.request("server/discover", json!({})).unwrap();
    drop(client);
    let mut client = launch(&folder).start();
    client.request("server/discover", json!({})).unwrap_err();
    client.initialize_legacy("2025-11-25");
    client.read("a.txt");
}

#[test]
fn instructions_are_short_enough_for_every_client() {
    let folder = Folder::new();
    for mode in ["auto", "ask", "preview", "read-only"] {
        let said = launch(&folder).argument("--mode").argument(mode).start().initialize_legacy("2025-11-25");
        let length = said["instructions"].as_str().unwrap().len();
        assert!((1..2048).contains(&length), "{mode}: {length} bytes");
    }
}

#[test]
fn an_unknown_tool_is_an_error_of_the_protocol() {
    let folder = Folder::new();
    let mut client = serve(&folder);
    let error = client.request("tools/call", json!({"name": "rm_rf", "arguments": {}})).unwrap_err();
    assert_eq!(error["code"], -32602);
}

/// A call that is refused before any file is looked at.
#[track_caller]
fn check_refused(tool: &str, arguments: Value, code: &str) {
    let folder = Folder::with([("a.txt", "one\n")]);
    let before = folder.everything();
    serve(&folder).call(tool, arguments).refused(code);
    assert_eq!(folder.everything(), before, "a refused call leaves nothing behind");
}

#[test]
fn an_argument_that_no_tool_knows_is_refused() {
    check_refused("read_file", json!({"path": "a.txt", "encoding": "utf-8"}), "unknown-argument");
    check_refused(
        "str_replace",
        json!({"path": "a.txt", "old_string": "one", "new_sting": "two"}),
        "unknown-argument",
    );
    check_refused(
        "str_replace",
        json!({"path": "a.txt", "edits": [{"old_string": "one", "new_string": "two", "count": 1}]}),
        "unknown-argument",
    );
    check_refused("apply_patch", json!({"patch": "x", "dry_run": true}), "unknown-argument");
    check_refused("write_file", json!({"path": "b", "content": "", "mode": 755}), "unknown-argument");
    check_refused(
        "edit_preview",
        json!({"tool": "write_file", "path": "b", "content": "", "old_string": "x"}),
        "unknown-argument",
    );
    check_refused("apply_preview", json!({"preview": "x", "hunk": [1]}), "unknown-argument");
}

#[test]
fn an_argument_of_the_wrong_type_is_refused() {
    check_refused("read_file", json!({"path": 7}), "invalid-argument");
    check_refused("read_file", json!({"path": "a.txt", "offset": "2"}), "invalid-argument");
    check_refused("read_file", json!({"path": "a.txt", "limit": -1}), "invalid-argument");
    check_refused(
        "str_replace",
        json!({"path": "a.txt", "old_string": "one", "new_string": "two", "replace_all": "yes"}),
        "invalid-argument",
    );
    check_refused("str_replace", json!({"path": "a.txt", "edits": "one"}), "invalid-argument");
    check_refused("str_replace", json!({"path": "a.txt", "edits": ["one"]}), "invalid-argument");
    check_refused("apply_patch", json!({"patch": ["*** Begin Patch"]}), "invalid-argument");
    check_refused("apply_patch", json!({"patch": "x", "versions": {"a.txt": 1}}), "invalid-argument");
    check_refused("apply_preview", json!({"preview": "x", "hunks": ["1"]}), "invalid-argument");
    check_refused("edit_preview", json!({"tool": "read_file", "path": "a.txt"}), "invalid-argument");
}

#[test]
fn a_missing_argument_is_refused() {
    check_refused("read_file", json!({}), "invalid-argument");
    check_refused("read_file", json!({"path": null}), "invalid-argument");
    check_refused("read_file", json!({"path": ""}), "invalid-argument");
    check_refused("read_file", json!({"path": "a.txt\0"}), "invalid-argument");
    check_refused("str_replace", json!({"path": "a.txt", "new_string": "two"}), "invalid-argument");
    check_refused("str_replace", json!({"path": "a.txt", "old_string": "one"}), "invalid-argument");
    check_refused("str_replace", json!({"path": "a.txt"}), "invalid-argument");
    check_refused("apply_patch", json!({}), "invalid-argument");
    check_refused("write_file", json!({"path": "b"}), "invalid-argument");
    check_refused("edit_preview", json!({"path": "a.txt"}), "invalid-argument");
    check_refused("apply_preview", json!({}), "invalid-argument");
}

#[test]
fn a_call_without_arguments_is_answered_by_the_tool() {
    let folder = Folder::new();
    let result = serve(&folder).request("tools/call", json!({"name": "read_file"})).unwrap();
    Answer::from_result(&result).refused("invalid-argument");
}

#[test]
fn a_call_that_asks_for_progress_is_answered_too() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let arguments = json!({"path": "a.txt", "old_string": "one", "new_string": "two"});
    let call = json!({"name": "str_replace", "arguments": arguments, "_meta": {"progressToken": 1}});
    let mut client = serve(&folder);
    let result = client.request("tools/call", call).unwrap();
    Answer::from_result(&result).ok();
    assert_eq!(folder.text("a.txt"), "two\n");
    assert_eq!(client.take_notifications(), Vec::<Value>::new(), "the call was short");
}

#[test]
fn bad_messages_do_not_stop_the_server() {
    let folder = Folder::with([("a.txt", "one\n")]);
    for mut client in [launch(&folder).legacy(), launch(&folder).modern()] {
        client.write_line(r#"{"jsonrpc": "2.0", "id": 99, "method": "tools/ca"#);
        client.write_line("");
        client.write_line("Content-Length: 20");
        client.write_line("[1, 2");
        assert_eq!(client.request("tools/frobnicate", json!({})).unwrap_err()["code"], -32601);
        client.read("a.txt");
    }
}

#[test]
fn calls_sent_at_once_are_each_answered_under_their_own_id() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "two\n")]);
    let mut client = serve(&folder);
    let sent: Vec<(u64, &str)> = ["a.txt", "missing", "b.txt", "a.txt"]
        .into_iter()
        .map(|path| (client.send_call("read_file", json!({"path": path})), path))
        .collect();
    for (id, path) in sent.into_iter().rev() {
        let answer = client.answer(id);
        match path {
            "missing" => drop(answer.refused("missing-original")),
            _ => assert_eq!(answer.ok().meta["emend/path"], path),
        }
    }
}

#[test]
fn a_client_that_goes_ends_the_server() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    client.replace("a.txt", "one", "two").ok();
    let (status, _) = client.close();
    assert!(status.success());
}

/// Every tool answers `no-workspace`, whatever it is asked.
#[cfg(unix)]
fn check_no_workspace(mut client: Client) {
    assert_eq!(names(&client.tools()), TOOLS);
    for tool in TOOLS {
        client.call(tool, json!({})).refused("no-workspace");
        client.call(tool, json!({"path": "a.txt"})).refused("no-workspace");
    }
}

#[test]
#[cfg(unix)]
fn without_a_workspace_nothing_is_opened_in_the_root_folder() {
    let folder = Folder::new();
    check_no_workspace(Launch::new(EMEND).state(folder.state()).inside("/").legacy());
    assert!(!folder.state().exists());
}

#[test]
#[cfg(unix)]
fn without_a_workspace_nothing_is_opened_in_the_home_folder() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let home = Launch::new(EMEND).state(folder.state()).inside(folder.path());
    check_no_workspace(home.clone().variable("HOME", folder.path()).legacy());
    check_no_workspace(home.variable("HOME", folder.path()).modern());
    assert_eq!(folder.text("a.txt"), "one\n");
}

#[test]
fn without_a_workspace_the_working_folder_is_the_root() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let here = Launch::new(EMEND).state(folder.state()).inside(folder.path());
    here.legacy().replace("a.txt", "one", "two").ok();
    here.clone().workspace(".").legacy().replace("a.txt", "two", "three").ok();
    here.workspace("name=.").legacy().replace("a.txt", "three", "four").ok();
    assert_eq!(folder.text("a.txt"), "four\n");
}

#[test]
fn a_workspace_that_is_not_there_is_a_mistake_at_the_start() {
    let folder = Folder::with([("a.txt", "one\n")]);
    for wrong in [folder.beside("nowhere"), folder.at("a.txt")] {
        let output = emend_testkit::command(EMEND)
            .arg("serve")
            .arg("--workspace")
            .arg(&wrong)
            .arg("--state-dir")
            .arg(folder.state())
            .output()
            .unwrap();
        assert!(!output.status.success());
        assert!(output.stdout.is_empty(), "standard output belongs to the protocol");
        assert!(!output.stderr.is_empty());
    }
    assert!(fs::symlink_metadata(folder.state()).is_err());
}

#[test]
fn a_line_that_is_no_request_gets_an_error_and_the_next_one_its_answer() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    for (line, code) in [
        (r#"{"jsonrpc":"2.0","id":90,"method":"tools/ca"#.to_owned(), -32700),
        ("x".repeat(20 * 1024 * 1024), -32700),
        (r#"[{"jsonrpc":"2.0","id":91,"method":"ping"}]"#.to_owned(), -32600),
    ] {
        client.write_line(&line);
        client.read("a.txt");
        let errors = client.take_notifications();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_eq!(errors[0]["error"]["code"], code);
    }
}

#[test]
fn a_request_that_cannot_be_understood_says_whether_its_method_or_its_parameters_are_wrong() {
    let mut client = serve(&Folder::new());
    for (method, parameters, code) in [
        ("tools/cal", json!({"name": "read_file"}), -32601),
        ("tools/call", json!({"nam": "read_file"}), -32602),
        ("tools/call", json!({"name": "read_file", "arguments": [1]}), -32602),
        ("tools/call", json!([]), -32602),
        ("resources/read", json!({}), -32602),
        ("skills/get", json!({}), -32602),
        ("resources/subscribe", json!({}), -32602),
        ("subscriptions/listen", json!({"notifications": 1}), -32601),
    ] {
        let error = client.request(method, parameters.clone()).unwrap_err();
        assert_eq!(error["code"], code, "{method} {parameters}: {error}");
        assert!(error["message"].as_str().unwrap().contains(method), "{error}");
    }
}

#[test]
fn a_request_in_which_something_cannot_be_read_is_answered_under_its_id() {
    let mut client = serve(&Folder::new());
    let deep = "[".repeat(1_000) + &"]".repeat(1_000);
    for (id, inside) in [(70, r#""\ud800""#), (71, &deep[..])] {
        client.write_line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"read_file","arguments":{{"path":{inside}}}}}}}"#
        ));
        assert_eq!(client.wait(id).unwrap_err()["code"], -32700);
    }
}

#[test]
fn many_megabytes_in_one_message_are_no_mistake() {
    let folder = Folder::new();
    let content = "0123456789abcde\n".repeat(20 * 1024 * 1024 / 16);
    serve(&folder).call("write_file", json!({"path": "large.txt", "content": content})).ok();
    assert_eq!(folder.text("large.txt"), content);
}
