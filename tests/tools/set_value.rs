//! `set_value`: values of data files by their keys.

use emend_testkit::{Answer, Client, Folder};
use serde_json::{Value, json};

use crate::{launch, serve};

fn with(mut arguments: Value, more: &Value) -> Value {
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    arguments
}

fn set(client: &mut Client, path: &str, key: &[&str], more: &Value) -> Answer {
    client.call("set_value", with(json!({"path": path, "key": key}), more))
}

#[test]
fn a_value_changes_and_no_other_byte() {
    let package = "{\r\n\t// of it\r\n\t\"name\": \"x\",\r\n\t\"exports\": { \"./x\": \"./a.js\" }, // both\r\n\t\"scripts\": {\r\n\t\t\"test\": \"a\"\r\n\t}\r\n}\r\n";
    let workflow = "on: [push] # when\njobs:\n  t:\n    steps:\n      - name: Build\n        run: make\n      - name: Test\n        run: |\n          make test\n";
    let manifest = "[package]\nname = 'x' # name\n\n[dependencies]\nserde = { version = \"1\" }\n";
    let folder = Folder::new();
    folder.write("package.json", format!("\u{feff}{package}"));
    folder.write("ci.yml", workflow);
    folder.write("Cargo.toml", manifest);
    folder.write("test.env", "A=1\n");
    folder.write("setup.cfg", "[a]\nb = c\n");
    let before = folder.tree();
    let mut client = serve(&folder);
    set(&mut client, "package.json", &["scripts.test"], &json!({"value": "b \"c\""})).ok();
    set(&mut client, "package.json", &["exports", "./x"], &json!({"json": "{\"z\": 1, \"a\": [2]}"})).ok();
    let added = with(json!({"insert": true}), &json!({"json": "\"1.0\"", "before": "exports"}));
    set(&mut client, "package.json", &["version"], &added).ok();
    let expected = package
        .replace("\"a\"", "\"b \\\"c\\\"\"")
        .replace("\"./a.js\"", "{ \"z\": 1, \"a\": [2] }")
        .replace("\"exports\"", "\"version\": \"1.0\",\r\n\t\"exports\"");
    assert_eq!(folder.text("package.json"), format!("\u{feff}{expected}"));
    set(&mut client, "ci.yml", &["jobs", "t", "steps", "name=Test", "run"], &json!({"value": "one\ntwo\n"}))
        .ok();
    assert_eq!(folder.text("ci.yml"), workflow.replace("make test", "one\n          two"));
    set(&mut client, "Cargo.toml", &["dependencies.serde.version"], &json!({"value": "2", "expected": "1"}))
        .ok();
    assert_eq!(folder.text("Cargo.toml"), manifest.replace("\"1\"", "\"2\""));
    set(&mut client, "test.env", &["A"], &json!({"value": "x y"})).ok();
    set(&mut client, "setup.cfg", &["a", "b"], &json!({"delete": true})).ok();
    assert_eq!((folder.text("test.env"), folder.text("setup.cfg")), ("A='x y'\n".into(), "[a]\n".into()));
    for _ in 0..7 {
        client.call("undo_edit", json!({})).ok();
    }
    assert_eq!(folder.tree(), before);
}

#[test]
fn several_values_are_one_edit_or_none() {
    let text = "{\n  \"a\": 1,\n  \"b\": {}\n}\n";
    let folder = Folder::with([("a.json", text)]);
    let mut client = serve(&folder);
    let edits = |last: Value| {
        let edits = [
            json!({"key": ["b", "c"], "json": "[1]", "insert": true}),
            json!({"key": ["b", "c", "0"], "json": "2"}),
            last,
        ];
        json!({"path": "a.json", "edits": edits})
    };
    let refused = client.call("set_value", edits(json!({"key": ["aa"], "json": "2", "expected": "1"})));
    let refused = refused.refused("invalid-argument");
    assert!(
        refused.text.contains("there is no aa; there are a, b; insert = true, without expected, adds it"),
        "{}",
        refused.text
    );
    assert!(refused.text.contains("Edit 3"), "{}", refused.text);
    assert_eq!(folder.text("a.json"), text);
    let answer = client.call("set_value", edits(json!({"key": ["a"], "delete": true}))).ok();
    assert_eq!(folder.text("a.json"), "{\n  \"b\": {\n    \"c\": [\n      2\n    ]\n  }\n}\n");
    assert!(answer.structured["edit"].is_string());
}

#[test]
fn a_call_that_is_sent_again_is_made_once() {
    let folder = Folder::with([("a.json", "{\"a\": 1, \"b\": 2}\n")]);
    let mut client = serve(&folder);
    for (key, more) in [("a", json!({"json": "3"})), ("b", json!({"delete": true}))] {
        let first = set(&mut client, "a.json", &[key], &more).ok();
        let again = set(&mut client, "a.json", &[key], &more).ok();
        assert!(again.is_repeated(), "{}", again.text);
        assert_eq!(again.structured["edit"], first.structured["edit"]);
    }
    assert_eq!(folder.text("a.json"), "{\"a\": 3}\n");
}

#[test]
fn what_is_not_certain_is_refused_with_the_way_out() {
    let folder = Folder::with([
        ("a.json", "{\"a\": {\"b\": 1}, \"a.b\": 2, \"c\": 1, \"c\": 2, \"n\": 5}\n"),
        ("a.yaml", "base: &b\n  x: 1\nuse:\n  <<: *b\n  z: 1\n---\nother: 1\n"),
        ("a.rs", "fn a() {}\n"),
        ("broken.toml", "a = \n"),
    ]);
    let before = folder.tree();
    let mut client = serve(&folder);
    for (path, key, more, said) in [
        ("a.json", &["a.b"][..], json!({"json": "3"}), "several ways"),
        ("a.json", &["c"], json!({"json": "3"}), "2 times"),
        ("a.json", &["n"], json!({"value": "6"}), "give it as json = \"6\""),
        ("a.json", &["aa", "p"], json!({"value": "6"}), "adds it, with what it is in"),
        ("a.json", &["n", "name=x"], json!({"value": "6"}), "neither a list"),
        ("a.json", &["a", "name=x"], json!({"value": "6", "insert": true}), "a is no list"),
        ("a.json", &["a"], json!({"json": 1}), "give it as expected"),
        ("a.json", &["n"], json!({"json": "6", "expected": "4"}), "what stands there is 5"),
        ("a.json", &["n"], json!({"json": "5"}), "that already"),
        ("a.json", &["n"], json!({"json": "x"}), "it is no JSON"),
        ("a.json", &["n"], json!({}), "give value, json or delete"),
        ("a.json", &["a"], json!({"json": "1", "insert": true}), "there already"),
        ("a.yaml", &["other"], json!({"json": "2"}), "2 documents"),
        ("a.yaml", &["use", "x"], json!({"json": "2", "document": 0}), "merged in by <<"),
        ("a.yaml", &["base", "x"], json!({"json": "2", "document": 0}), "anchor"),
        ("a.rs", &["a"], json!({"json": "2"}), "tells no format"),
        ("broken.toml", &["a"], json!({"json": "2"}), "line 1 cannot be read as TOML"),
    ] {
        let refused = set(&mut client, path, key, &more).refused("invalid-argument");
        assert!(refused.text.contains(said), "{key:?}: {}", refused.text);
    }
    assert_eq!(folder.tree(), before);
    set(&mut client, "a.yaml", &["other"], &json!({"json": "2", "document": 1})).ok();
    assert!(folder.text("a.yaml").ends_with("other: 2\n"));
}

#[test]
fn a_new_key_needs_no_insert_unless_it_is_like_another() {
    let text = "{\n  \"version\": \"1\"\n}\n";
    let folder = Folder::with([("a.json", text)]);
    let mut client = serve(&folder);
    let refused = set(&mut client, "a.json", &["verison"], &json!({"value": "2"}));
    let refused = refused.refused("invalid-argument");
    let said = "there is no verison; did you mean version? insert = true adds it all the same";
    assert!(refused.text.contains(said), "{}", refused.text);
    assert_eq!(folder.text("a.json"), text);
    let answer = set(&mut client, "a.json", &["name"], &json!({"value": "x"})).ok();
    assert!(answer.text.contains("name was not there: it was added."), "{}", answer.text);
    set(&mut client, "a.json", &["verison"], &json!({"json": "2", "insert": true})).ok();
    let expected = text.replace("\"1\"", "\"1\",\n  \"name\": \"x\",\n  \"verison\": 2");
    assert_eq!(folder.text("a.json"), expected);
}

#[test]
fn a_part_of_a_data_file_is_read_by_its_key() {
    let folder = Folder::with([
        ("a.yml", "x: 1\njobs:\n  build:\n    a: 1\n    b: 2\nz: 1\n"),
        ("a.env", "A=1\nB=2\n"),
        ("a.json", "{\n  \"l\": [\n    1,\n    {\n      \"k\": 2\n    }\n  ]\n}\n"),
    ]);
    let mut client = serve(&folder);
    for (path, key, lines) in [
        ("a.yml", "jobs.build", "3\t  build:\n     4\t    a: 1\n     5\t    b: 2\n"),
        ("a.env", "B", "2\tB=2\n"),
        ("a.json", "l[1].k", "5\t      \"k\": 2\n"),
    ] {
        let shown = client.call("read_file", json!({"path": path, "symbol": key})).ok().text;
        assert!(shown.contains(lines), "{shown}");
    }
    let refused = client.call("read_file", json!({"path": "a.yml", "symbol": "jobs.buidl"}));
    assert!(refused.text.contains("there is no buidl; there are build"), "{}", refused.text);
}

#[test]
fn what_another_program_wrote_meanwhile_is_seen() {
    let folder = Folder::with([("a.json", "{\"a\": 1}\n")]);
    let mut client = serve(&folder);
    let version = client.read("a.json").ok().version();
    folder.write("a.json", "{\"a\": 1, \"b\": 2}\n");
    let stale = set(&mut client, "a.json", &["a"], &json!({"json": "3", "version": version}));
    stale.refused("stale-file");
    set(&mut client, "a.json", &["a"], &json!({"json": "3"})).ok();
    assert_eq!(folder.text("a.json"), "{\"a\": 3, \"b\": 2}\n");
    // It is previewed as any other edit, and made by no read-only server.
    let edit = json!({"tool": "set_value", "path": "a.json", "key": ["b"], "json": "5"});
    let shown = client.call("edit_preview", edit).ok();
    assert!(shown.text.contains("+{\"a\": 3, \"b\": 5}"), "{}", shown.text);
    // One text is a list of one.
    client.call("set_value", json!({"path": "a.json", "key": "b", "json": "[5]"})).ok();
    assert!(folder.text("a.json").contains("[5]"));
    drop(client);
    let mut reader = launch(&folder).argument("--mode=read-only").legacy();
    assert!(reader.tools().iter().all(|tool| tool["name"] != "set_value"));
}

#[test]
fn an_argument_that_would_be_dropped_is_refused() {
    let folder = Folder::with([("a.json", "{\"n\": \"a\", \"m\": 1}\n")]);
    let before = folder.tree();
    let mut client = serve(&folder);
    let edits = json!([{"key": ["n"], "value": "b"}]);
    for (name, value) in [
        ("expected", json!("zzz")),
        ("value", json!("q")),
        ("json", json!("1")),
        ("insert", json!(true)),
        ("before", json!("m")),
        ("delete", json!(true)),
        ("document", json!(1)),
    ] {
        let answer = client.call("set_value", json!({"path": "a.json", "edits": edits, name: value}));
        let text = answer.refused("invalid-argument").text;
        assert!(text.contains(&format!("'{name}': with edits, it belongs into each")), "{text}");
    }
    for more in
        [json!({"insert": true, "expected": "b", "value": "c"}), json!({"delete": true, "value": "q"})]
    {
        set(&mut client, "a.json", &["n"], &more).refused("invalid-argument");
    }
    assert_eq!(folder.tree(), before);
}

#[test]
fn what_is_given_as_json_itself_is_taken_and_what_was_made_is_told() {
    let folder = Folder::with([("a.json", "{}\n"), ("a.ini", "[s]\nlevel = 1\n")]);
    let mut client = serve(&folder);
    let answer = set(&mut client, "a.json", &["k", "-1"], &json!({"json": [false], "insert": true})).ok();
    assert!(answer.text.contains("k was not there: it was added, as a list."), "{}", answer.text);
    set(&mut client, "a.json", &["e.size"], &json!({"json": 5, "insert": true})).ok();
    client
        .call("set_value", json!({"path": "a.json", "key": ["k", 0], "json": true, "expected": [false]}))
        .ok();
    assert_eq!(folder.text("a.json"), "{\n  \"k\": [\n    true\n  ],\n  \"e.size\": 5\n}\n");
    let dotted = json!({"path": "a.json", "key": "x.y", "json": 5, "insert": true});
    let refused = client.call("set_value", dotted).refused("invalid-argument");
    assert!(refused.text.contains("step by step: [\"x\", \"y\"]"), "{}", refused.text);
    let refused = set(&mut client, "a.ini", &["level"], &json!({"value": "2"})).refused("invalid-argument");
    assert!(refused.text.contains("s has a level: key = [\"s\", \"level\"]"), "{}", refused.text);
    let refused =
        set(&mut client, "a.ini", &["s", "x"], &json!({"delete": true})).refused("invalid-argument");
    assert!(!refused.text.contains("insert"), "{}", refused.text);
}
