//! The list of tools, for models and strict clients: its prose is reviewed as a snapshot, its schemas stay within what
//! every model API accepts, and answers match their schemas.

use std::fmt::Write;

use emend_testkit::{Folder, client};
use serde_json::{Value, json};

use crate::{launch, serve};

/// The list of tools is read at the start of each conversation, so it must not be long.
const LONGEST_LIST: usize = 16_400;
/// One client cuts what a tool says of itself here.
const LONGEST_DESCRIPTION: usize = 2 * 1024;

#[test]
fn what_a_model_reads_of_the_tools() {
    let mut text = String::new();
    for tool in serve(&Folder::new()).tools() {
        let field = |name: &str| tool[name].as_str().unwrap();
        writeln!(text, "# {} ({})\n\n{}\n", field("name"), field("title"), field("description")).unwrap();
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let required =
                tool["inputSchema"]["required"].as_array().is_some_and(|r| r.contains(&argument[..].into()));
            let mark = if required { "" } else { "?" };
            let description = schema["description"].as_str().unwrap_or("-").replace('\n', " ");
            writeln!(text, "- {argument}{mark}: {}. {description}", schema["type"].as_str().unwrap())
                .unwrap();
        }
        for (name, value) in tool["annotations"].as_object().unwrap() {
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

/// The list with `--tools core`, for models that have other tools beside these.
const LONGEST_CORE: usize = 6 * 1024;

#[test]
fn a_client_can_have_the_tools_listed_that_most_work_needs() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let mut client = launch(&folder).argument("--tools=core").legacy();
    let listed = client.request("tools/list", json!({})).unwrap();
    assert!(listed.to_string().len() < LONGEST_CORE, "it has {} bytes", listed.to_string().len());
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["read_file", "search_text", "str_replace", "apply_patch", "undo_edit"]);
    // A person, or a message of Emend, may name another one.
    client.call("write_file", json!({"path": "b.txt", "content": "b\n"})).ok();
    assert_eq!(folder.read("b.txt"), b"b\n");
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
        // An object is either a record, which is closed, or a map.
        Some(values @ Value::Object(_)) => check_plain(&format!("{at}.*"), values),
        // The edits of several tools are of several kinds, and so is a previewed one. One of several readings takes what one
        // alone takes.
        Some(Value::Bool(true))
            if at.ends_with(".edits[]") || matches!(at, "edit_preview" | "read_file.files[]") => {}
        _ if kind != "object" => {}
        other => assert!(other == Some(&json!(false)) && keywords.contains_key("properties"), "{at} is open"),
    }
    if let Some(items) = keywords.get("items") {
        check_plain(&format!("{at}[]"), items);
    }
}

#[test]
fn every_input_is_one_flat_object_and_closed_unless_it_takes_those_of_other_tools() {
    for tool in serve(&Folder::new()).tools() {
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], tool["name"] == "edit_preview");
        check_plain(tool["name"].as_str().unwrap(), schema);
    }
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
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{name}");
        let destroys = tool["annotations"].get("destructiveHint");
        assert_eq!(destroys, (!reads).then_some(&json!(true)), "{name}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{name}");
        assert_eq!(tool.get("outputSchema").is_some(), !is_text, "{name}");
    }
}

#[test]
fn success_and_failure_have_the_one_schema_that_is_listed() {
    let folder = Folder::with([("a.txt", "x\ny\nx\n"), ("b.txt", "z\n")]);
    let mut client = serve(&folder);
    let schemas: Vec<Value> =
        client.tools().iter().filter_map(|tool| tool.get("outputSchema").cloned()).collect();
    assert!(schemas.iter().all(|schema| *schema == json!({"type": "object"})), "{schemas:?}");
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
