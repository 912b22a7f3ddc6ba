//! Which tools are listed in which dialect, and to whom.

use emend_testkit::{Folder, Http, HttpServer};
use serde_json::{Value, json};

use super::speaking;
use crate::launch;

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn a_dialect_lists_its_own_tools_and_what_stays_beside_them() {
    let folder = Folder::with([("a.txt", "x\n")]);
    let mut client = speaking(&folder, "claude");
    let tools = client.tools();
    let beside = ["list_files", "search_text", "apply_patch", "edit_preview", "apply_preview", "undo_edit"];
    let expected = [&["Read", "Edit", "Write"][..], &beside, &["diagnostics"]].concat();
    assert_eq!(names(&tools), expected);
    let preview = tools.iter().find(|tool| tool["name"] == "edit_preview").unwrap();
    assert_eq!(preview["inputSchema"]["properties"]["tool"]["enum"], json!(["Edit", "Write"]));
    let edit = json!({"tool": "Edit", "file_path": "a.txt", "old_string": "x", "new_string": "y"});
    let shown = client.call("edit_preview", edit).ok();
    assert_eq!(folder.text("a.txt"), "x\n");
    client.call("apply_preview", json!({"preview": shown.handle()})).ok();
    assert_eq!(folder.text("a.txt"), "y\n");
}

#[test]
fn the_instructions_say_how_the_tools_are_called() {
    let folder = Folder::new();
    let opening = |dialect: &str| {
        let mut client = launch(&folder).argument("--dialect").argument(dialect).start();
        client.initialize_legacy("2025-11-25")["instructions"].as_str().unwrap().to_owned()
    };
    let names = opening("claude");
    assert!(names.contains("read_file is Read, str_replace is Edit"), "{names}");
    assert!(names.contains("no replace_in_files"), "{names}");
    assert_eq!(opening("auto"), opening("emend"));
}

#[test]
fn a_call_by_the_names_of_any_dialect_is_understood_in_every_dialect() {
    let others = ["codex", "gemini", "openhands", "cline", "roo", "aider", "opencode"];
    for dialect in ["emend", "claude", "text-editor"].into_iter().chain(others) {
        let folder = Folder::with([("a.txt", "1\n")]);
        let mut client = speaking(&folder, dialect);
        for (tool, arguments) in [
            ("str_replace", json!({"path": "a.txt", "old_string": "1", "new_string": "2"})),
            ("Edit", json!({"file_path": "a.txt", "old_string": "2", "new_string": "3"})),
            (
                "str_replace_based_edit_tool",
                json!({"command": "str_replace", "path": "a.txt", "old_str": "3", "new_str": "4"}),
            ),
            (
                "edit_files",
                json!({"edits": [
                    {"tool": "Edit", "file_path": "a.txt", "old_string": "4", "new_string": "5"},
                    {"tool": "str_replace", "path": "a.txt", "old_string": "5", "new_string": "6"},
                ]}),
            ),
        ] {
            client.call(tool, arguments).ok();
        }
        assert_eq!(folder.text("a.txt"), "6\n", "{dialect}");
        let unknown = client.request("tools/call", json!({"name": "Edt", "arguments": {}})).unwrap_err();
        assert!(unknown["message"].as_str().unwrap().starts_with("Unknown tool 'Edt'."));
    }
}

#[test]
fn auto_goes_by_the_client_where_its_models_are_of_one_family() {
    let folder = Folder::with([("a.txt", "x\n")]);
    let server = HttpServer::start(&launch(&folder).argument("--dialect").argument("auto"));
    let first = |client: Http| {
        let listed = client.request("tools/list", json!({})).unwrap();
        assert_ne!(listed["cacheScope"], "public", "another client may have another list");
        listed["tools"][0]["name"].as_str().unwrap().to_owned()
    };
    for (client, expected) in [
        ("claude-code", "Read"),
        ("codex-mcp-client", "apply_patch"),
        ("gemini-cli-mcp-client", "read_file"),
        ("codexplorer", "read_file"),
        ("cursor", "read_file"),
    ] {
        assert_eq!(first(server.client().called(client)), expected, "{client} in 2026");
        assert_eq!(first(server.client().called(client).legacy()), expected, "{client} in 2025");
    }
    let server = HttpServer::start(&launch(&folder).argument("--dialect-for").argument("cursor=claude"));
    assert_eq!(first(server.client().called("cursor")), "Read");
    assert_eq!(first(server.client().called("zed")), "read_file");
}
