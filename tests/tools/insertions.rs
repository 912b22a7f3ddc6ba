//! `str_replace` with lines to insert: beside a text, or at an end of the file.

use emend_testkit::{Answer, Folder};
use serde_json::{Value, json};

use crate::serve;

const FILE: &str = "import cups\n\ndef boil():\n    wait(3)\n";

/// One call with these edits of a file: the answer, and what the file has afterwards.
fn edit(before: &str, edits: &Value) -> (Answer, String) {
    let folder = Folder::with([("a.py", before)]);
    let answer = serve(&folder).call("str_replace", json!({"path": "a.py", "edits": edits}));
    (answer, folder.text("a.py"))
}

#[test]
fn lines_are_inserted_beside_a_text_and_at_the_ends() {
    let edits = json!([
        {"old_string": "import cups", "insert_after": "import leaves"},
        {"old_string": "def boil(", "insert_before": "@timed\n"},
        {"old_string": "wait(3)", "new_string": "wait(4)"},
        {"insert_before": "# Tea."},
        {"insert_after": "    pour()"},
    ]);
    let (answer, after) = edit(FILE, &edits);
    answer.ok();
    assert_eq!(after, "# Tea.\nimport cups\nimport leaves\n\n@timed\ndef boil():\n    wait(4)\n    pour()\n");
}

#[test]
fn one_insertion_needs_no_list_of_edits() {
    for (arguments, after) in [
        (
            json!({"old_string": "import cups", "insert_after": "import leaves"}),
            FILE.replace("cups\n", "cups\nimport leaves\n"),
        ),
        (
            json!({"old_string": "def boil(", "insert_before": "@timed\n", "new_string": ""}),
            FILE.replace("def", "@timed\ndef"),
        ),
        (json!({"insert_before": "# Tea."}), format!("# Tea.\n{FILE}")),
        (json!({"insert_after": "    pour()", "old_string": "", "edits": []}), format!("{FILE}    pour()\n")),
    ] {
        let folder = Folder::with([("a.py", FILE)]);
        let mut arguments = arguments;
        arguments["path"] = "a.py".into();
        serve(&folder).call("str_replace", arguments).ok();
        assert_eq!(folder.text("a.py"), after);
    }
    for (arguments, argument) in [
        (json!({"old_string": "import cups", "insert_after": "x", "new_string": "y"}), "new_string"),
        (json!({"old_string": "import cups", "insert_after": "x", "replace_all": true}), "replace_all"),
        (json!({"old_string": "import cups", "insert_after": "x", "expected_count": 2}), "replace_all"),
        (json!({"insert_after": "x", "edits": [{"insert_after": "y"}]}), "edits"),
        (json!({"old_string": "import cups"}), "new_string"),
        (json!({}), "old_string"),
    ] {
        let folder = Folder::with([("a.py", FILE)]);
        let mut arguments = arguments;
        arguments["path"] = "a.py".into();
        let answer = serve(&folder).call("str_replace", arguments).refused("invalid-argument");
        assert!(answer.text.contains(&format!("'{argument}'")), "{}", answer.text);
        assert_eq!(folder.text("a.py"), FILE);
    }
}

#[test]
fn empty_arguments_count_as_absent_beside_lines_to_insert() {
    let all = json!([{"old_string": "import cups", "new_string": "", "insert_before": "",
        "insert_after": "import leaves", "replace_all": false}]);
    let (answer, after) = edit(FILE, &all);
    answer.ok();
    assert_eq!(after, FILE.replace("cups\n", "cups\nimport leaves\n"));
}

#[test]
fn what_does_not_go_with_lines_to_insert_is_refused() {
    for (one, argument) in [
        (json!({"old_string": "import cups", "insert_after": "x", "new_string": "y"}), "new_string"),
        (json!({"old_string": "import cups", "insert_after": "x", "insert_before": "y"}), "insert_after"),
        (json!({"old_string": "import cups", "insert_after": "x", "replace_all": true}), "replace_all"),
        (json!({"old_string": "import cups"}), "new_string"),
        (json!({"new_string": "x"}), "old_string"),
    ] {
        let (answer, after) = edit(FILE, &json!([{"insert_after": "pour()"}, one]));
        let text = answer.refused("invalid-argument").text.clone();
        assert!(text.contains(&format!("'{argument}'")), "{text}");
        assert_eq!(after, FILE);
    }
}

#[test]
fn a_part_of_a_line_is_refused_with_the_line() {
    let (answer, after) = edit(FILE, &json!([{"old_string": "def boil(", "insert_after": "cups"}]));
    let answer = answer.refused("invalid-argument");
    assert!(
        answer.text.contains("a part of line 3") && answer.text.contains("def boil():"),
        "{}",
        answer.text
    );
    assert_eq!(after, FILE);
}

#[test]
fn an_insertion_that_is_sent_again_is_made_once() {
    for edits in [
        json!([{"old_string": "import cups", "insert_after": "import leaves"}]),
        json!([{"insert_after": "pour()"}]),
        json!([{"insert_after": "}"}]),
    ] {
        let folder = Folder::with([("a.py", FILE)]);
        let arguments = json!({"path": "a.py", "edits": edits});
        let mut client = serve(&folder);
        client.call("str_replace", arguments.clone()).ok();
        let after = folder.text("a.py");
        assert!(client.call("str_replace", arguments.clone()).ok().is_repeated());
        assert_eq!(folder.text("a.py"), after);
    }
    // Another session, whose call is no repetition, is told that the lines are there.
    let folder = Folder::with([("a.py", FILE)]);
    let mut edits = json!([{"old_string": "import cups", "insert_after": "import leaves"}]);
    serve(&folder).call("str_replace", json!({"path": "a.py", "edits": edits})).ok();
    edits[0]["old_string"] = "import cups\n".into();
    serve(&folder).call("str_replace", json!({"path": "a.py", "edits": edits})).refused("no-op");
}

#[test]
fn lines_are_inserted_as_a_part_of_several_edits_and_in_a_preview() {
    let folder = Folder::with([("a.py", FILE)]);
    let mut client = serve(&folder);
    let below = json!([{"old_string": "import cups", "insert_after": "import leaves"}]);
    let end = json!([{"insert_after": "pour()"}]);
    let arguments = json!({"edits": [
        {"tool": "str_replace", "path": "a.py", "edits": below},
        {"tool": "str_replace", "path": "a.py", "edits": end},
    ]});
    client.call("edit_files", arguments).ok();
    let after = format!("{}pour()\n", FILE.replace("cups\n", "cups\nimport leaves\n"));
    assert_eq!(folder.text("a.py"), after);
    let preview = json!({"tool": "str_replace", "path": "a.py", "edits": [{"insert_before": "# Tea."}]});
    let shown = client.call("edit_preview", preview).ok();
    let handle = shown.structured["preview"].as_str().unwrap();
    client.call("apply_preview", json!({"preview": handle})).ok();
    assert_eq!(folder.text("a.py"), format!("# Tea.\n{after}"));
}
