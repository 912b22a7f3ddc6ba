//! The review page: who sees it, and what the tool for it says of previews and edits.

use emend_testkit::{Client, Folder, client};
use serde_json::{Value, json};

use crate::{launch, serve};

const PAGE: &str = "ui://emend/review";
const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// Starts a client of each era, which declares these settings of the extension.
fn clients(folder: &Folder, settings: &Value) -> [Client; 2] {
    let (mut legacy, mut modern) = (launch(folder).start(), launch(folder).modern());
    legacy.declare(EXTENSION, settings.clone());
    legacy.initialize_legacy("2025-11-25");
    modern.declare(EXTENSION, settings.clone());
    [legacy, modern]
}

fn apps() -> Value {
    json!({"mimeTypes": ["text/html;profile=mcp-app"]})
}

fn uris(listed: &Value) -> Vec<&str> {
    listed["resources"].as_array().unwrap().iter().filter_map(|found| found["uri"].as_str()).collect()
}

/// Calls the tool of the page.
#[track_caller]
fn review(client: &mut Client, arguments: Value) -> Value {
    let answer = client.call("review", arguments);
    assert!(!answer.is_error, "{}", answer.text);
    answer.structured
}

#[test]
fn a_client_that_shows_apps_sees_the_page_and_every_other_list_has_no_byte_more() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let plain = serve(&folder).request("tools/list", json!({})).unwrap();
    assert!(!plain.to_string().contains("ui/"), "{plain}");
    for mut client in clients(&folder, &json!({"mimeTypes": ["text/plain"]})) {
        let listed = client.request("tools/list", json!({})).unwrap();
        assert_eq!(listed["tools"], plain["tools"], "it shows other apps");
        assert!(!uris(&client.request("resources/list", json!({})).unwrap()).contains(&PAGE));
    }
    for mut client in clients(&folder, &apps()) {
        let mut listed = client.request("tools/list", json!({})).unwrap();
        let tools = listed["tools"].as_array_mut().unwrap();
        for name in ["decide", "revise", "review"] {
            let last = tools.pop().unwrap();
            assert_eq!((&last["name"], &last["_meta"]["ui"]["visibility"]), (&json!(name), &json!(["app"])));
        }
        for (tool, plain) in tools.iter().zip(plain["tools"].as_array().unwrap()) {
            let shows = plain["annotations"]["readOnlyHint"] != true || plain["name"] == "edit_preview";
            let mut expected = plain.clone();
            if shows {
                let meta = &mut expected["_meta"];
                (meta["ui"], meta["ui/resourceUri"]) = (json!({"resourceUri": PAGE}), PAGE.into());
            }
            assert_eq!(*tool, expected, "the rest is the same");
        }
        assert!(uris(&client.request("resources/list", json!({})).unwrap()).contains(&PAGE));
    }
}

#[test]
fn the_page_is_one_file_to_which_nothing_is_allowed() {
    let folder = Folder::new();
    for mut client in clients(&folder, &apps()) {
        let read = client.request("resources/read", json!({"uri": PAGE})).unwrap();
        let page = &read["contents"][0];
        assert_eq!(page["mimeType"], "text/html;profile=mcp-app");
        let csp = page["_meta"]["ui"]["csp"].as_object().unwrap();
        assert!(csp.values().all(|allowed| *allowed == json!([])), "{csp:?}");
        assert!(page["_meta"]["ui"].get("permissions").is_none());
        assert!(page["text"].as_str().unwrap().starts_with("<!doctype html>"));
    }
}

#[test]
fn hunks_are_told_with_the_numbers_that_apply_preview_takes() {
    let folder = Folder::with([("a.txt", "one\ntwo\nthree\nfour\n"), ("b.txt", "b\r\n"), ("c.txt", "c\n")]);
    let mut client = serve(&folder);
    client.read("c.txt");
    let patch = client::patch(
        "*** Update File: a.txt\n@@\n-two\n+2\n@@\n-four\n+4\n*** Update File: b.txt\n@@\n-b\n+B\n*** Delete File: \
         c.txt\n*** Add File: d.txt\n+d",
    );
    let handle = client.preview("apply_patch", json!({"patch": patch})).ok().handle();
    let page = review(&mut client, json!({"preview": handle}));
    assert_eq!((&page["state"], &page["stale"], &page["total"]), (&json!("waiting"), &json!([]), &json!(5)));
    let hunk =
        |at: usize| (&page["hunks"][at]["file"], &page["hunks"][at]["numbers"], &page["hunks"][at]["lines"]);
    assert_eq!(hunk(0), (&json!(0), &json!([1]), &json!([" one", "-two", "+2", " three", " four"])));
    assert_eq!(hunk(1), (&json!(0), &json!([2]), &json!([" one", " two", " three", "-four", "+4"])));
    assert_eq!(hunk(2).2, &json!(["-b\r", "+B\r"]), "a line that ends in CRLF keeps its CR");
    let changes: Vec<&Value> = page["files"].as_array().unwrap().iter().map(|file| &file["change"]).collect();
    assert_eq!(changes, ["modify", "modify", "delete", "create"]);
    let answer = client.call("apply_preview", json!({"preview": handle, "hunks": hunk(1).1})).ok();
    assert_eq!(folder.text("a.txt"), "one\ntwo\nthree\n4\n");
    assert_eq!(folder.text("b.txt"), "b\r\n");

    let page = review(&mut client, json!({"preview": handle}));
    assert_eq!((&page["state"], &page["applied"]), (&json!("applied"), &json!([2])));
    assert_eq!(page["edit"], answer.structured["edit"]);
    let page = review(&mut client, json!({"edit": page["edit"]}));
    assert_eq!((&page["state"], &page["stale"]), (&json!("made"), &json!([])));
    assert_eq!(page["hunks"][0]["lines"], json!([" one", " two", " three", "-four", "+4"]));
    client.call("undo_edit", json!({"edit": page["id"]})).ok();
    assert_eq!(review(&mut client, json!({"edit": page["id"]}))["state"], "undone");
}

#[test]
fn a_hunk_that_a_person_writes_by_hand_is_applied_as_they_wrote_it() {
    let folder =
        Folder::with([("a.py", "one = 1\r\ntwo = 2\r\nthree = 3\r\nfour = 4\r\n"), ("b.txt", "b\n")]);
    let mut client = serve(&folder);
    let patch = client::patch(
        "*** Update File: a.py\n@@\n-one = 1\n+one = 11\n@@\n-four = 4\n+four = 44\n*** Update File: b.txt\n@@\n-b\n+B",
    );
    let handle = client.preview("apply_patch", json!({"patch": patch})).ok().handle();
    let hunk = review(&mut client, json!({"preview": handle}))["hunks"][0].clone();
    assert_eq!((&hunk["old"], hunk["lines"].as_array().unwrap().len()), (&json!(0), 5));
    let revise = |text: &str, hunk: usize| json!({"preview": handle, "path": "a.py", "hunk": hunk, "old": 0, "count": 4, "text": text});
    let by_hand = "one = (\r\ntwo = 2\r\nthree = 3\r\nfour = 4\r\n";
    assert!(!client.call("revise", revise(by_hand, 1)).is_error);
    let page = review(&mut client, json!({"preview": handle}));
    assert_eq!(page["hunks"][0]["lines"][1], "+one = (\r");
    assert_eq!(page["total"], 3);
    assert!(page["notes"].to_string().contains("a.py"), "the syntax guard has seen it: {}", page["notes"]);
    for (text, hunk) in [
        ("one = 1\r\ntwo = 2\r\nthree = 3\r\nfour = 4\r\n", 1),
        ("one = 1\r\ntwo = 2\r\nthree = 3\r\nfour = 5\r\n", 1),
        ("x", 3),
        ("x", 9),
    ] {
        assert!(client.call("revise", revise(text, hunk)).is_error, "{text:?} {hunk}");
    }
    let fine = "one = 1.5\r\nhalf = 0.5\r\ntwo = 2\r\nthree = 3\r\nfour = 4\r\n";
    client.call("revise", revise(fine, 1)).ok();
    client.call("apply_preview", json!({"preview": handle, "hunks": [1, 3]})).ok();
    assert_eq!(folder.text("a.py"), fine);
    assert_eq!(folder.text("b.txt"), "B\n");
    assert!(client.call("revise", revise("x", 1)).is_error, "it is applied");

    let handle = client
        .preview("str_replace", json!({"path": "b.txt", "old_string": "B", "new_string": "c"}))
        .ok()
        .handle();
    folder.write("b.txt", "B\nB2\n");
    let late = json!({"preview": handle, "path": "b.txt", "hunk": 1, "old": 0, "count": 1, "text": "d\n"});
    assert!(client.call("revise", late).text.ends_with("[stale-preview]"));
}

#[test]
fn a_preview_whose_files_have_changed_names_them() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "1"});
    let handle = client.preview("str_replace", edit).ok().handle();
    let asked = json!({"preview": handle, "state_only": true});
    assert_eq!(review(&mut client, asked.clone())["stale"], json!([]));
    folder.write("a.txt", "one\nmore\n");
    let page = review(&mut client, asked);
    assert_eq!((&page["stale"], &page["state"]), (&json!(["a.txt"]), &json!("waiting")));
    assert!(page.get("files").is_none());
    assert_eq!(client.call("apply_preview", json!({"preview": handle})).code(), Some("stale-preview"));
}

#[test]
fn many_hunks_come_page_by_page_and_lines_around_them_on_demand() {
    let lines = |count: usize| (1..=count).map(|at| format!("line {at}\n")).collect::<String>();
    let folder = Folder::with([("a.txt", lines(4_000).as_str())]);
    let mut client = serve(&folder);
    client.read("a.txt");
    let hunks: String = (1..=450).map(|at| format!("@@\n-line {0}\n+LINE {0}\n", at * 8)).collect();
    let patch = client::patch(&format!("*** Update File: a.txt\n{}", hunks.trim_end()));
    let handle = client.preview("apply_patch", json!({"patch": patch})).ok().handle();
    let (mut from, mut numbers, mut pages) = (json!(0), Vec::new(), 0);
    while from.is_u64() {
        let page = review(&mut client, json!({"preview": handle, "from": from}));
        assert_eq!(page.get("files").is_some(), pages == 0, "files are on the first page alone");
        numbers.extend(page["hunks"].as_array().unwrap().iter().map(|hunk| hunk["numbers"][0].clone()));
        (from, pages) = (page["next"].clone(), pages + 1);
    }
    assert_eq!(pages, 3);
    assert_eq!(numbers, (1..=450).map(Value::from).collect::<Vec<_>>());
    let around = json!({"preview": handle, "path": "a.txt", "start_line": 3, "end_line": 4});
    assert_eq!(review(&mut client, around)["lines"], json!(["line 3", "line 4"]));
}

#[test]
fn what_is_not_there_is_refused() {
    let mut client = serve(&Folder::new());
    for (arguments, code) in [
        (json!({"preview": "preview-00"}), "[unknown-preview]"),
        (json!({"edit": "nothing"}), "[unknown-edit]"),
        (json!({"approval": "a1b2c3d4e5f6"}), "[invalid-argument]"),
        (json!({"preview": "a", "edit": "b"}), "[invalid-argument]"),
    ] {
        let answer = client.call("review", arguments);
        assert!(answer.is_error && answer.text.ends_with(code), "{}", answer.text);
    }
}
