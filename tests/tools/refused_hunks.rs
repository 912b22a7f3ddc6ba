//! Requests of which some hunks were refused, and that are completed by those alone.

use emend_testkit::{Answer, Client, Folder, client};
use serde_json::{Value, json};

use crate::{launch, serve};

/// A file with `count` sections, each with lines of its own and one that all have.
fn content(name: &str, count: usize) -> String {
    (0..count)
        .map(|n| format!("[{name} {n}]\nfirst line of {name} {n}\nshared\nlast line of {name} {n}\n"))
        .collect()
}

/// A hunk that replaces the first line of a section, as `old` says it.
fn hunk(name: &str, n: usize, old: &str) -> String {
    format!(
        "@@\n [{name} {n}]\n-{old}\n+a new first line of {name} {n}, which is as long as a line of a real program may be\n shared\n"
    )
}

fn right(name: &str, n: usize) -> String {
    hunk(name, n, &format!("first line of {name} {n}"))
}

fn patch(sections: &[(&str, &[String])]) -> Value {
    let text: String =
        sections.iter().map(|(path, hunks)| format!("*** Update File: {path}\n{}", hunks.concat())).collect();
    json!({"patch": client::patch(&text)})
}

fn with_kept(mut arguments: Value, handle: &str) -> Value {
    arguments["kept"] = handle.into();
    arguments
}

#[track_caller]
fn handle(answer: &Answer) -> String {
    let (_, after) = answer.text.split_once("\"kept\": \"").unwrap_or_else(|| panic!("{}", answer.text));
    after.split('"').next().unwrap().to_owned()
}

fn folder() -> Folder {
    Folder::with([("a.txt", &*content("a", 6)), ("b.txt", &content("b", 6))])
}

/// A patch of which the second hunk of each file is wrong.
fn refused(client: &mut Client) -> Answer {
    let hunks = |name: &str| [right(name, 1), hunk(name, 2, "no such line"), right(name, 4), right(name, 5)];
    let arguments = patch(&[("a.txt", &hunks("a")), ("b.txt", &hunks("b"))]);
    let answer = client.call("apply_patch", arguments);
    assert!(answer.is_error && answer.text.contains("The other 6 hunks are kept"), "{}", answer.text);
    answer
}

#[test]
fn only_the_hunks_that_failed_are_sent_again_and_all_are_one_edit() {
    for start in [emend_testkit::Launch::legacy, emend_testkit::Launch::modern] {
        let folder = folder();
        let before = folder.everything();
        let mut client = start(&launch(&folder));
        let handle = handle(&refused(&mut client));
        assert_eq!(folder.everything(), before);
        let fixed = patch(&[("a.txt", &[right("a", 2)]), ("b.txt", &[right("b", 2)])]);
        client.call("apply_patch", with_kept(fixed, &handle)).ok();
        for name in ["a", "b"] {
            let text = folder.text(&format!("{name}.txt"));
            for n in 0..6 {
                let is_new = text.contains(&format!("[{name} {n}]\na new first line of {name} {n}, which"));
                assert_eq!(is_new, ![0, 3].contains(&n), "{n}: {text}");
            }
        }
        client.call("undo_edit", json!({})).ok();
        assert_eq!(folder.text("a.txt"), content("a", 6));
    }
}

#[test]
fn a_fixed_hunk_keeps_its_place_among_the_others() {
    // Only their order tells the twins apart.
    let twin = "start\nshared twin line\nend\n";
    let folder = Folder::with([("a.txt", &*format!("{}{twin}{}{twin}", content("a", 3), content("b", 3)))]);
    let mut client = serve(&folder);
    let on_twin = |old: &str| format!("@@\n start\n-{old}\n+shared TWIN line\n end\n");
    let hunks = [right("a", 0), right("a", 2), on_twin("wrong"), right("b", 0), right("b", 1), right("b", 2)];
    let whole = |third: &str| {
        let mut hunks = hunks.clone();
        hunks[2] = on_twin(third);
        patch(&[("a.txt", &hunks)])
    };
    let handle = handle(&client.call("apply_patch", whole("wrong")));
    let completed =
        client.call("apply_patch", with_kept(patch(&[("a.txt", &[on_twin("shared twin line")])]), &handle));
    let other = Folder::with([("a.txt", &*format!("{}{twin}{}{twin}", content("a", 3), content("b", 3)))]);
    let at_once = serve(&other).call("apply_patch", whole("shared twin line"));
    assert_eq!(completed.code(), at_once.code());
    assert_eq!(folder.text("a.txt"), other.text("a.txt"));
}

#[test]
fn what_does_not_complete_a_request_changes_nothing() {
    let folder = folder();
    let before = folder.everything();
    let mut client = serve(&folder);
    let handle = handle(&refused(&mut client));
    let both = [right("a", 2), right("a", 3)];
    for (arguments, handle) in [
        (patch(&[("a.txt", &[right("a", 2)])]), &*handle),
        (patch(&[("b.txt", &[right("b", 2)]), ("a.txt", &[right("a", 2)])]), &handle),
        (patch(&[("a.txt", &both), ("b.txt", &[right("b", 2)])]), &handle),
        (patch(&[("a.txt", &[right("a", 2)]), ("b.txt", &[right("b", 2)])]), "kept-0123456789ab"),
    ] {
        client.call("apply_patch", with_kept(arguments, handle)).refused("invalid-argument");
    }
    // Somebody else does not have it.
    let fixed = patch(&[("a.txt", &[right("a", 2)]), ("b.txt", &[hunk("b", 2, "still wrong")])]);
    let answer = serve(&folder).call("apply_patch", with_kept(fixed.clone(), &handle));
    assert_eq!(answer.code(), Some("invalid-argument"));
    // What fails again is kept again.
    let answer = client.call("apply_patch", with_kept(fixed, &handle));
    assert!(answer.text.contains("The other 7 hunks are kept"), "{}", answer.text);
    assert_eq!(folder.everything(), before);
    let handle = self::handle(&answer);
    client.call("apply_patch", with_kept(patch(&[("b.txt", &[right("b", 2)])]), &handle)).ok();
    assert!(folder.text("b.txt").contains("a new first line of b 2"));
}

#[test]
fn edits_of_one_file_are_kept_too_and_short_requests_are_not() {
    let folder = folder();
    let mut client = serve(&folder);
    let edit = |n: usize, old: &str| json!({"old_string": format!("{old} line of a {n}\n"), "new_string": "x".repeat(300) + "\n"});
    let wrong = json!({"path": "a.txt", "edits": [edit(0, "first"), edit(1, "middle"), edit(2, "last")]});
    let handle = handle(&client.call("str_replace", wrong));
    let mut fixed = edit(1, "last");
    (fixed["path"], fixed["kept"]) = ("a.txt".into(), handle.into());
    client.call("str_replace", fixed).ok();
    assert_eq!(folder.text("a.txt").matches(&"x".repeat(300)).count(), 3);
    let short = json!({"path": "b.txt", "edits": [
        {"old_string": "[b 1]", "new_string": "1"}, {"old_string": "[b 9]", "new_string": "2"}]});
    let answer = client.call("str_replace", short);
    assert!(answer.is_error && !answer.text.contains("kept"), "{}", answer.text);
}

#[test]
fn the_line_numbers_of_kept_hunks_choose_nothing_in_a_file_that_was_read_again() {
    let twins = |above: &str| format!("{above}top\n{0}middle\n{0}end\n", "equal\nlines\nhere\n");
    let folder = Folder::with([("a.txt", &*twins("")), ("b.txt", &content("b", 4))]);
    let mut client = serve(&folder);
    client.read("a.txt");
    let changes =
        |name: &str| (0..4).map(|n| format!("-{name} {n}\n+{}\n", "new ".repeat(30))).collect::<String>();
    let on = |path: &str, rest: &str| format!("--- a/{path}\n+++ b/{path}\n{rest}");
    let twin = "@@ -6,3 +6,3 @@\n equal\n-lines\n+LINES\n here\n";
    let text = on("a.txt", twin) + &on("b.txt", &format!("@@ -1,4 +1,4 @@\n{}", changes("no line")));
    let handle = handle(&client.call("apply_patch", json!({"patch": text})));
    // The first of the twins is now where the second one was.
    folder.write("a.txt", twins("1\n2\n3\n4\n"));
    client.read("a.txt");
    let fixed = on("b.txt", "@@ -2 +2 @@\n-first line of b 0\n+x\n");
    let answer = client.call("apply_patch", with_kept(json!({"patch": fixed}), &handle));
    assert!(answer.is_error, "{}", answer.text);
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), (twins("1\n2\n3\n4\n"), content("b", 4)));
}

#[test]
fn a_completed_request_is_not_made_again_with_another_hunk() {
    let folder = folder();
    let mut client = serve(&folder);
    let handle = handle(&refused(&mut client));
    let fixed = patch(&[("a.txt", &[right("a", 2)]), ("b.txt", &[right("b", 2)])]);
    client.call("apply_patch", with_kept(fixed.clone(), &handle)).ok();
    let after = folder.everything();
    let other = patch(&[("a.txt", &[right("a", 3)]), ("b.txt", &[right("b", 3)])]);
    client.call("apply_patch", with_kept(other, &handle)).refused("invalid-argument");
    let again = client.call("apply_patch", with_kept(fixed, &handle)).ok();
    assert_eq!(again.structured["is_repeated"], true, "{}", again.text);
    assert_eq!(folder.everything(), after);
}

#[test]
fn hunks_that_name_lines_by_number_alone_are_not_kept() {
    let folder = folder();
    let mut client = serve(&folder);
    let version = client.read("a.txt").version();
    let script = format!("99c\n{0}\n.\n2c\n{0}\n.\n", "new ".repeat(200));
    let arguments = json!({"format": "ed", "path": "a.txt", "patch": script, "versions": {"a.txt": version}});
    let answer = client.call("apply_patch", arguments);
    assert!(answer.is_error && !answer.text.contains("kept-"), "{}", answer.text);
}
