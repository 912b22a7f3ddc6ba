//! A person chooses at a terminal: hunks of a patch, and what waits for approval.

use std::fs;

use emend_testkit::Folder;
use serde_json::json;

use crate::cli::{Command, emend, on_terminal};

const PATCH: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n-1\n+one\n 2\n 3\n@@ -8,3 +8,3 @@\n 8\n 9\n-10\n+ten\n\
    --- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-bee\n+BEE\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+new\n";

const A: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

fn folder() -> Folder {
    let folder = Folder::with([("a.txt", A), ("b.txt", "bee\n")]);
    fs::write(folder.beside("p.diff"), PATCH).unwrap();
    folder
}

#[test]
fn each_hunk_is_shown_and_applied_or_left() {
    let (first, second) = (A.replacen('1', "one", 1), A.replace("10", "ten"));
    let both = first.replace("10", "ten");
    for (typed, a, b, new) in [
        ("y\nn\nn\nn\n", &*first, "bee\n", false),
        ("n\ny\nn\ny\n", &second, "bee\n", true),
        ("a\ny\nn\n", &both, "BEE\n", false),
        ("d\ny\nq\n", A, "BEE\n", false),
        ("y\nq\n", &first, "bee\n", false),
        ("y\n\u{4}", &first, "bee\n", false),
        ("what\ny\ny\ny\ny\n", &both, "BEE\n", true),
    ] {
        let folder = folder();
        let ran = on_terminal(&folder, &["apply", "-i", "../p.diff"], typed).ends(0);
        assert_eq!((&*folder.text("a.txt"), &*folder.text("b.txt")), (a, b), "{typed}: {ran:?}");
        assert_eq!(folder.has("new.txt"), new, "{typed}");
        assert!(ran.out.contains("(1/4) Apply this hunk") && ran.out.contains("emend undo "), "{ran:?}");
        // What was chosen is one edit.
        emend(&folder, &["undo", "@"]).ends(0);
        assert_eq!((&*folder.text("a.txt"), &*folder.text("b.txt")), (A, "bee\n"));
    }
    let folder = folder();
    let before = folder.tree();
    for typed in ["q\n", "n\nn\nn\nn\n", "\u{4}"] {
        on_terminal(&folder, &["apply", "-i", "../p.diff"], typed).ends(1);
        assert_eq!(folder.tree(), before);
    }
    emend(&folder, &["apply", "-i", "../p.diff"]).ends(2);
    on_terminal(&folder, &["apply", "-i"], "").ends(2);
}

#[test]
fn what_is_chosen_needs_approval_as_any_edit() {
    let folder = folder();
    let apply = ["apply", "-i", "../p.diff", "--mode", "ask"];
    on_terminal(&folder, &apply, "y\nq\nn\n").ends(1);
    assert_eq!(folder.text("a.txt"), A);
    on_terminal(&folder, &apply, "y\nq\ny\n").ends(0);
    assert_eq!(folder.text("a.txt"), A.replacen('1', "one", 1));
}

#[test]
fn a_patch_is_checked_or_counted_without_being_applied() {
    let folder = folder();
    let before = folder.everything();
    let counted = emend(&folder, &["apply", "--stat", "../p.diff"]).ends(0).out;
    assert_eq!(
        counted,
        " a.txt   | 4 ++--\n b.txt   | 2 +-\n new.txt | 1 +\n3 files changed, +4 -3\nThe patch fits. Nothing was written.\n"
    );
    assert_eq!(emend(&folder, &["preview", "--stat", "../p.diff"]).ends(0).out, counted);
    let checked = emend(&folder, &["apply", "--check", "../p.diff"]).ends(0).out;
    assert_eq!(checked, "3 files changed, +4 -3\nThe patch fits. Nothing was written.\n");
    let document = emend(&folder, &["apply", "--check", "--json", "../p.diff"]).ends(0).document();
    assert_eq!(document["changed_files"].as_array().unwrap().len(), 3);
    let wrong = PATCH.replace("-bee", "-wasp");
    let refused = Command::new(&folder, &["apply", "--check"]).input(wrong).run().ends(1);
    assert!(refused.log.contains("b.txt"), "{refused:?}");
    assert_eq!(folder.everything(), before);
}

#[test]
fn a_person_goes_through_what_waits() {
    let folder = folder();
    let wait = |patch: &str| {
        Command::new(&folder, &["apply", "--mode", "ask"]).input(patch).run().ends(1);
    };
    let words = || -> Vec<_> {
        let all = emend(&folder, &["approve", "--json"]).ends(0).document();
        let word = |waiting: &serde_json::Value| (waiting["approved"] == true, waiting["denied"] == true);
        all.as_array().unwrap().iter().map(word).collect()
    };
    for new in ["B1", "B2", "B3"] {
        wait(&format!("--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-bee\n+{new}\n"));
    }
    let shown = on_terminal(&folder, &["approve"], "s\nq\n").ends(0).out;
    assert!(shown.contains("+B1") && shown.contains("(2/3)") && !shown.contains("(3/3)"), "{shown}");
    assert_eq!(words(), [(false, false); 3]);
    on_terminal(&folder, &["approve"], "?\nn\n\ny\n").ends(0);
    let decided = words();
    assert_eq!(decided.iter().filter(|&&word| word == (true, false)).count(), 1);
    assert_eq!(decided.iter().filter(|&&word| word == (false, true)).count(), 1);
    // All are shown before the one question about them.
    emend(&folder, &["approve", "--all"]).ends(2);
    let shown = on_terminal(&folder, &["approve", "--all"], "n\n").ends(0).out;
    assert!(shown.find("+B").unwrap() < shown.find("these 1 edits").unwrap(), "{shown}");
    assert_eq!(words(), decided);
    on_terminal(&folder, &["approve", "--all"], "y\n").ends(0);
    assert_eq!(words().iter().filter(|&&word| word == (true, false)).count(), 2);
    assert_eq!(folder.text("b.txt"), "bee\n");
    assert!(on_terminal(&folder, &["approve", "--list"], "").ends(0).out.contains(", approved"));
}

#[test]
fn what_waits_is_named_by_the_beginning_of_its_id() {
    let folder = folder();
    Command::new(&folder, &["apply", "../p.diff", "--mode", "ask"]).run().ends(1);
    let id = emend(&folder, &["approve", "--json"]).ends(0).document()[0]["id"].as_str().unwrap().to_owned();
    emend(&folder, &["approve", &id[..4], "--deny"]).ends(0);
    let denied = emend(&folder, &["approve", "--json"]).ends(0).document();
    assert_eq!(denied[0]["denied"], json!(true));
    emend(&folder, &["approve", "", "--deny"]).ends(1);
}
