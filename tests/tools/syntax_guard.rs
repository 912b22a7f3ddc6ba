//! The syntax guard: an edit that breaks the syntax of a file gets a warning, or is refused if the user wants that.

use std::thread;
use std::time::{Duration, Instant};

use emend_testkit::{Answer, Client, Folder};
use serde_json::{Value, json};

use crate::serve_with;

const WHOLE: &str = "def f(a):\n    return (a + 1)\n\n\ndef g():\n    pass\n";

/// A server with this guard.
fn guarded(folder: &Folder, guard: &str) -> Client {
    serve_with(folder, &["--syntax-guard", guard])
}

fn breaking() -> Value {
    json!({"path": "a.py", "old_string": "(a + 1)", "new_string": "(a + 2"})
}

/// Whether the answer says that a file was broken, and names it.
fn warns(answer: &Answer) -> bool {
    let fired = answer.structured["side_effects_fired"].as_array().unwrap();
    let is_noted = answer.text.contains("the parse of a.py at line");
    assert_eq!(fired.contains(&json!("syntax")), is_noted, "{answer:#?}");
    is_noted
}

/// In how many answers a broken file is told of, from this one to the next where `last` is: warnings may come with a later
/// answer, but come in their order.
fn warnings(client: &mut Client, answer: &Answer, last: &str) -> usize {
    let mut text = answer.text.clone();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !text.contains(&format!("the parse of {last}")) {
        assert!(Instant::now() < deadline, "nothing is told of {last}: {text}");
        thread::yield_now();
        text += &client.call("read_file", json!({"path": last, "limit": 1})).ok().text;
    }
    text.matches("the parse of a.py").count()
}

#[test]
fn an_edit_that_breaks_a_file_is_made_and_told() {
    let folder = Folder::with([("a.py", WHOLE), ("a.txt", WHOLE), ("end.py", WHOLE)]);
    let mut client = guarded(&folder, "warn");
    let broken = client.call("str_replace", breaking()).ok();
    assert_eq!(warnings(&mut client, &broken, "a.py"), 1);
    // What was broken before is not told again, nor what mends it, what an undo does, and what nobody can parse.
    let mut text = client.replace("a.py", "(a + 2", "((a + 2").ok().text;
    text += &client.replace("a.py", "((a + 2", "(a + 2)").ok().text;
    text += &client.call("undo_edit", json!({})).ok().text;
    text += &client.replace("a.txt", "(a + 1)", "(a + 2").ok().text;
    assert!(!text.contains("the parse of"));
    let last = client.replace("end.py", "(a + 1)", "(a + 2").ok();
    assert_eq!(warnings(&mut client, &last, "end.py"), 0);
    assert_eq!(folder.text("a.py"), WHOLE.replace("(a + 1)", "((a + 2"));
}

#[test]
fn a_preview_tells_and_applying_it_tells_once() {
    let folder = Folder::with([("a.py", WHOLE)]);
    let mut client = guarded(&folder, "warn");
    let shown = client.preview("str_replace", breaking()).ok();
    assert!(warns(&shown));
    let done = client.call("apply_preview", json!({"preview": shown.handle()})).ok();
    assert!(warns(&done));
    assert_eq!(done.structured["notes"].as_array().unwrap().len(), 1);
}

#[test]
fn where_the_person_wants_it_no_edit_breaks_a_file() {
    let folder = Folder::with([("a.py", WHOLE), ("b.txt", "b\n")]);
    let mut client = guarded(&folder, "refuse");
    let refused = client.call("str_replace", breaking()).refused("syntax-broken");
    assert_eq!(refused.problems()[0]["path"], json!("a.py"));
    assert_eq!(refused.problems()[0]["lines"], json!([2]));
    let both =
        "*** Update File: b.txt\n@@\n-b\n+B\n*** Update File: a.py\n@@\n-    return (a + 1)\n+    return (a";
    client.patch(both).refused("syntax-broken");
    client.call("write_file", json!({"path": "new.rs", "content": "fn f( {}\n"})).refused("syntax-broken");
    let shown = client.preview("str_replace", breaking()).ok();
    assert!(warns(&shown));
    client.call("apply_preview", json!({"preview": shown.handle()})).refused("syntax-broken");
    assert_eq!(folder.tree(), Folder::with([("a.py", WHOLE), ("b.txt", "b\n")]).tree());
    client.replace("a.py", "(a + 1)", "(a + 2)").ok();
}

#[test]
fn where_it_is_off_nothing_is_told() {
    let folder = Folder::with([("a.py", WHOLE)]);
    let mut client = guarded(&folder, "off");
    assert!(!warns(&client.preview("str_replace", breaking()).ok()));
    let edited = client.call("str_replace", breaking()).ok();
    assert!(!warns(&edited) && !client.read("a.py").text.contains("the parse of"));
}
