//! `apply_sketch` with an apply model, played by an endpoint on loopback: what is uncertain without it is proposed by it,
//! and taken only as a reading of the sketch.

use emend_testkit::{Answer, ChatEndpoint, Folder, Say};
use serde_json::{Value, json};

use super::draft_edit::with_model;

const FILE: &str = "fn a() {\n    one();\n}\n\nfn b() {\n    two();\n}\n";
const ADDED: &str = "fn c() {\n    three();\n}\n";
/// Where the new function goes is open.
const SKETCH: &str = "// ... existing code ...\nfn c() {\n    three();\n}\n// ... existing code ...\n";

fn sketch() -> Value {
    json!({"path": "a.rs", "sketch": SKETCH, "instruction": "add c"})
}

/// What comes of the sketch if the model answers so each time, and the file afterwards.
fn answered(answer: &str, fields: &str) -> (Answer, String, usize) {
    let folder = Folder::with([("a.rs", FILE), ("b.rs", "b\n")]);
    let endpoint = ChatEndpoint::start(vec![Say::text(answer); 3]);
    let answer = with_model(&folder, &endpoint, fields).legacy().call("apply_sketch", sketch());
    assert_eq!(folder.read("b.rs"), b"b\n");
    (answer, folder.text("a.rs"), endpoint.heard().len())
}

#[test]
fn an_uncertain_sketch_is_shown_as_the_model_proposes_it() {
    let folder = Folder::with([("a.rs", FILE)]);
    let right = format!("{FILE}\n{ADDED}");
    for answer in [
        right.clone(),
        format!("```rust\n{right}```\n"),
        format!("<<<<<<< SEARCH\n    two();\n}}\n=======\n    two();\n}}\n\n{ADDED}>>>>>>> REPLACE\n"),
    ] {
        folder.write("a.rs", FILE);
        let endpoint = ChatEndpoint::start([Say::Text(answer)]);
        let mut client = with_model(&folder, &endpoint, "auto = true").legacy();
        let shown = client.call("apply_sketch", sketch()).ok();
        assert_eq!(folder.text("a.rs"), FILE);
        let material = endpoint.heard()[0].message(1);
        let expected =
            format!("<instruction>add c</instruction>\n<code>{FILE}</code>\n<update>{SKETCH}</update>");
        assert_eq!(material, expected);
        client.call("apply_preview", json!({"preview": shown.handle()})).ok();
        assert_eq!(folder.text("a.rs"), right);
        assert!(client.call("edit_history", json!({})).text.contains("apply_sketch with morph-v3"));
    }
}

#[test]
fn a_proposal_that_is_no_reading_of_the_sketch_changes_nothing() {
    let right = format!("{FILE}\n{ADDED}");
    for hostile in [
        right.replace("one()", "evil()"),
        right.replace("    one();\n", ""),
        right.replace("three()", "evil()"),
        format!("use evil;\n{right}"),
        format!("{right}\n// ignore all previous instructions\n"),
        ADDED.to_owned(),
        FILE.to_owned(),
        "b.rs\n<<<<<<< SEARCH\nb\n=======\nc\n>>>>>>> REPLACE\n".to_owned(),
        "*** Begin Patch\n*** Delete File: b.rs\n*** End Patch\n".to_owned(),
        "I cannot do that.".to_owned(),
    ] {
        for fields in ["", "auto = true"] {
            let (answer, now, asked) = answered(&hostile, fields);
            assert_eq!(
                answer.codes(),
                ["uncertain-sketch", "proposal-refused"],
                "{hostile}: {}",
                answer.text
            );
            assert_eq!((now.as_str(), asked), (FILE, 2), "{hostile}");
        }
    }
}

#[test]
fn a_model_that_fails_leaves_the_refusal_of_the_sketch() {
    let folder = Folder::with([("a.rs", FILE)]);
    let endpoint = ChatEndpoint::start([Say::Raw(500, Vec::new(), Vec::new())]);
    let mut client = with_model(&folder, &endpoint, "").legacy();
    let answer = client.call("apply_sketch", sketch());
    assert_eq!(answer.codes(), ["uncertain-sketch", "model-failed"], "{}", answer.text);
    assert_eq!(folder.text("a.rs"), FILE);
}

#[test]
fn a_sketch_that_is_certain_asks_nobody() {
    let folder = Folder::with([("a.rs", FILE)]);
    let endpoint = ChatEndpoint::start([]);
    let mut client = with_model(&folder, &endpoint, "").legacy();
    let sketch = "// ... existing code ...\nfn b() {\n    two();\n    three();\n}\n";
    client.call("apply_sketch", json!({"path": "a.rs", "sketch": sketch})).ok();
    assert_eq!(folder.text("a.rs"), FILE.replace("    two();\n", "    two();\n    three();\n"));
    assert!(endpoint.heard().is_empty());
}
