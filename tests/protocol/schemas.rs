//! The list of tools, for models and strict clients: its prose is reviewed as a snapshot, its schemas stay within what
//! every model API accepts, and answers match their schemas.

use std::fmt::Write;

use emend_testkit::{Folder, client};
use serde_json::{Value, json};

use crate::{launch, serve};

/// The list of tools is read at the start of each conversation, so it must not be long.
const LONGEST_LIST: usize = 13_000;
/// One client cuts what a tool says of itself here.
const LONGEST_DESCRIPTION: usize = 2 * 1024;

#[test]
fn what_a_model_reads_of_the_tools() {
    let mut text = String::new();
    for tool in serve(&Folder::new()).tools() {
        let field = |name: &str| tool[name].as_str().unwrap();
        writeln!(
            text,
            "# {} ({})\n\n{}\n",
            field("name"),
            tool["annotations"]["title"].as_str().unwrap(),
            field("description")
        )
        .unwrap();
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let required =
                tool["inputSchema"]["required"].as_array().is_some_and(|r| r.contains(&argument[..].into()));
            let mark = if required { "" } else { "?" };
            let description = schema["description"].as_str().unwrap_or("-").replace('\n', " ");
            writeln!(text, "- {argument}{mark}: {}. {description}", schema["type"].as_str().unwrap())
                .unwrap();
        }
        let annotations = tool["annotations"].as_object().unwrap();
        let meta = tool["_meta"].as_object().into_iter().flatten();
        for (name, value) in annotations.iter().filter(|(name, _)| *name != "title").chain(meta) {
            writeln!(text, "- [{name}: {value}]").unwrap();
        }
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_list_is_short() {
    let listed = serve(&Folder::new()).request("tools/list", json!({})).unwrap();
    let length = listed.to_string().len();
    assert!(length < LONGEST_LIST, "tools/list has {length} bytes");
    for tool in listed["tools"].as_array().unwrap() {
        assert!(tool["description"].as_str().unwrap().len() < LONGEST_DESCRIPTION, "{}", tool["name"]);
    }
}

/// The tools that clients load at once, also those that load others only when a model searches for them. `--tools core` lists
/// them alone, for models that have other tools beside these.
const CORE: [&str; 6] =
    ["read_file", "str_replace", "apply_patch", "write_file", "edit_preview", "undo_edit"];
const LONGEST_CORE: usize = 6 * 1024;

#[test]
fn a_client_can_have_the_tools_listed_that_most_work_needs() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let mut client = launch(&folder).argument("--tools=core").legacy();
    let listed = client.request("tools/list", json!({})).unwrap();
    assert!(listed.to_string().len() < LONGEST_CORE, "it has {} bytes", listed.to_string().len());
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, CORE);
    let all = serve(&folder).tools();
    let at_once = all.iter().filter(|tool| tool["_meta"]["anthropic/alwaysLoad"] == true);
    assert_eq!(at_once.map(|tool| tool["name"].as_str().unwrap()).collect::<Vec<_>>(), CORE);
    // A person, or a message of Emend, may name another one.
    let moved = client.call("move_file", json!({"from": "a.txt", "to": "b.txt"}));
    moved.ok();
    assert_eq!(folder.read("b.txt"), b"a\n");
}

/// What model APIs refuse and strict clients warn about, at any depth of a schema.
fn check_plain(at: &str, schema: &Value) {
    let Value::Object(keywords) = schema else { panic!("{at} is no schema: {schema}") };
    for refused in ["oneOf", "anyOf", "allOf", "not", "format", "$ref", "$defs"] {
        assert!(!keywords.contains_key(refused), "{at} has {refused}: {schema}");
    }
    let kind = keywords.get("type").unwrap_or_else(|| panic!("{at} has no type: {schema}"));
    assert!(kind.is_string() && kind != "null", "{at} is of more than one type: {kind}");
    for (name, property) in keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
        check_plain(&format!("{at}.{name}"), property);
    }
    match keywords.get("additionalProperties") {
        // That an object is closed is not said: a call with other arguments is refused by name.
        None => {}
        // The edits of several tools are of several kinds, and so is a previewed one. One of several readings takes what one
        // alone takes. A client that closes the objects which say nothing must not close these.
        Some(Value::Bool(true)) => {
            assert!(
                at.ends_with(".edits[]") || ["edit_preview", "read_file.files[]"].contains(&at),
                "{at} is open"
            );
        }
        // A map says what its values are.
        Some(values) => check_plain(&format!("{at}.*"), values),
    }
    if let Some(items) = keywords.get("items") {
        check_plain(&format!("{at}[]"), items);
    }
}

#[test]
fn every_input_is_one_flat_object() {
    for tool in serve(&Folder::new()).tools() {
        assert_eq!(tool["inputSchema"]["type"], "object");
        let is_open = tool["inputSchema"]["additionalProperties"] == true;
        assert_eq!(is_open, tool["name"] == "edit_preview");
        check_plain(tool["name"].as_str().unwrap(), &tool["inputSchema"]);
    }
}

#[test]
fn an_argument_that_is_not_listed_is_refused_at_any_depth() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let mut client = serve(&folder);
    for (tool, arguments) in [
        (
            "str_replace",
            json!({"path": "a.txt", "edits": [{"old_string": "a", "new_string": "b", "near": 1}]}),
        ),
        ("replace_lines", json!({"path": "a.txt", "from": {"path": "a.txt", "version": "1", "near": 1}})),
        ("read_file", json!({"files": [{"path": "a.txt", "near": 1}]})),
        ("undo_edit", json!({"near": 1})),
    ] {
        client.call(tool, arguments).refused("unknown-argument");
    }
    assert_eq!(folder.text("a.txt"), "a\n");
}

#[test]
fn a_preview_checks_the_arguments_of_the_tool_that_it_previews() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let mut client = serve(&folder);
    let mut refused =
        |tool: &str, arguments: Value| client.preview(tool, arguments).code().map(str::to_owned);
    let unknown = json!({"path": "a.txt", "old_sting": "a", "new_string": "b"});
    assert_eq!(refused("str_replace", unknown).as_deref(), Some("unknown-argument"));
    let of_another = json!({"path": "a.txt", "old_string": "a", "new_string": "b", "patch": "x"});
    assert_eq!(refused("str_replace", of_another).as_deref(), Some("unknown-argument"));
    for tool in ["edit_preview", "read_file", "none"] {
        assert_eq!(refused(tool, json!({"path": "a.txt"})).as_deref(), Some("invalid-argument"), "{tool}");
    }
}

#[test]
fn what_changes_nothing_says_so() {
    for tool in serve(&Folder::new()).tools() {
        let name = tool["name"].as_str().unwrap();
        let is_text = matches!(
            name,
            "read_file" | "list_files" | "search_text" | "find_symbol" | "edit_history" | "diagnostics"
        );
        let reads = is_text || name == "edit_preview";
        // The default of a client is that a tool changes files, and may destroy something.
        let said = reads.then_some(&json!(true));
        assert_eq!(tool["annotations"].get("readOnlyHint"), said, "{name}");
        assert_eq!(tool["annotations"].get("destructiveHint"), None, "{name}");
    }
}

#[test]
fn success_and_failure_are_objects() {
    let folder = Folder::with([("a.txt", "x\ny\nx\n"), ("b.txt", "z\n")]);
    let mut client = serve(&folder);
    let preview =
        client.preview("str_replace", json!({"path": "b.txt", "old_string": "z", "new_string": "Z"}));
    let handle = preview.handle();
    let patch = client::patch(
        "*** Add File: c/d.txt\n+new\n*** Update File: a.txt\n*** Move to: e.txt\n@@\n x\n-y\n+Y\n@@ nowhere\n Y",
    );
    let answers = [
        preview,
        client.call("apply_preview", json!({"preview": handle})),
        client.replace("a.txt", "x", "X"),
        client.replace("a.txt", "nothing like it", "X"),
        client.call(
            "str_replace",
            json!({"path": "a.txt", "old_string": "x", "new_string": "X", "replace_all": true}),
        ),
        client.call("apply_patch", json!({"patch": patch})),
        client.patch("*** Update File: a.txt\n*** Move to: e.txt\n@@\n-y\n+Y"),
        client.patch("*** Update File: missing.txt\n@@\n-y\n+Y\n*** Delete File: e.txt"),
        client.call("write_file", json!({"path": "e.txt", "content": "", "version": "0123456789ab"})),
        client.call("write_file", json!({"path": "b.txt"})),
    ];
    assert!(answers.iter().any(|answer| !answer.is_error) && answers.iter().any(|answer| answer.is_error));
    for answer in &answers {
        assert!(answer.structured.is_object(), "{}", answer.structured);
    }
}
