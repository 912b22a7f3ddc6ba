//! `emend undo --session`, `--dry-run`, and `emend redo`.

use emend_testkit::Folder;
use serde_json::json;

use crate::cli::{Command, emend, on_terminal};
use crate::serve;

/// A workspace where a session changed one file twice and another once, and its session.
fn edited() -> (Folder, String) {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "bee\n"), ("c.txt", "see\n")]);
    serve(&folder).replace("c.txt", "see", "SEE").ok();
    let mut client = serve(&folder);
    client.replace("a.txt", "one", "two").ok();
    client.replace("b.txt", "bee", "BEE").ok();
    client.replace("a.txt", "two", "three").ok();
    client.close();
    let newest = emend(&folder, &["show", "@", "--json"]).ends(0).document();
    (folder, newest["session"].as_str().unwrap().to_owned())
}

fn texts(folder: &Folder) -> [String; 3] {
    ["a.txt", "b.txt", "c.txt"].map(|name| folder.text(name))
}

#[test]
fn all_edits_of_a_session_are_taken_back_and_no_others() {
    let (folder, session) = edited();
    emend(&folder, &["undo", "--session"]).ends(2);
    let shown = emend(&folder, &["undo", "--session", "--dry-run"]).ends(0).out;
    assert!(shown.contains("-one\n+three\n") && shown.ends_with("Nothing was changed.\n"), "{shown}");
    assert_eq!(texts(&folder), ["three\n", "BEE\n", "SEE\n"]);
    let undone = emend(&folder, &["undo", "--session", &session, "--json"]).ends(0).document();
    assert_eq!((&undone["session"], undone["undone"].as_array().unwrap().len()), (&json!(session), 3));
    assert_eq!(texts(&folder), ["one\n", "bee\n", "SEE\n"]);
    emend(&folder, &["undo", "--session", &session]).ends(1);
    // The newest that stands is by now that of the other session.
    emend(&folder, &["undo", "--session", "--yes"]).ends(0);
    assert_eq!(texts(&folder), ["one\n", "bee\n", "see\n"]);
}

#[test]
fn a_person_sees_what_a_session_did_before_it_is_taken_back() {
    let (folder, _) = edited();
    let asked = on_terminal(&folder, &["undo", "--session"], "n\n").ends(1).out;
    assert!(asked.contains("Take back these 3 edits?"), "{asked}");
    assert_eq!(texts(&folder), ["three\n", "BEE\n", "SEE\n"]);
    on_terminal(&folder, &["undo", "--session"], "y\n").ends(0);
    assert_eq!(texts(&folder), ["one\n", "bee\n", "SEE\n"]);
}

#[test]
fn a_session_is_taken_back_whole_or_not_at_all() {
    let (folder, session) = edited();
    // Somebody else goes on in one of its files, below the newest edit of the session.
    folder.write("b.txt", "BEE\nof another\n");
    let before = folder.tree();
    let told = emend(&folder, &["undo", "--session", &session]).ends(1).log;
    assert!(told.contains("With '--on-change merge'"), "{told}");
    let refused = emend(&folder, &["undo", "--session", &session, "--json"]).ends(1).document();
    assert_eq!(refused["error"]["code"], "undo-conflict");
    assert_eq!(folder.tree(), before);
    // Also where one of them was taken back by hand, and nobody can see that.
    folder.write("b.txt", "bee\n");
    let before = folder.tree();
    let told = emend(&folder, &["undo", "--session", "--yes"]).ends(1).log;
    assert!(told.contains("by hand"), "{told}");
    assert_eq!(folder.tree(), before);
    on_terminal(&folder, &["undo", "--session"], "y\n").ends(0);
    assert_eq!(texts(&folder), ["one\n", "bee\n", "SEE\n"]);
}

/// What is put back is what stood there a moment before: nobody is asked about that.
#[test]
fn a_session_stands_whole_if_a_person_denies_to_take_back_a_part() {
    let (folder, _) = edited();
    folder.write(".emend.toml", "approve = ['*.txt']\n");
    let before = folder.tree();
    let denied = on_terminal(&folder, &["undo", "--session"], "y\ny\nn\n").ends(1);
    assert_eq!(denied.out.matches("May exactly this be written?").count(), 2, "{denied:?}");
    assert_eq!(folder.tree(), before);
}

#[test]
fn an_undo_that_is_only_shown_changes_nothing() {
    let (folder, _) = edited();
    let before = folder.everything();
    let shown = emend(&folder, &["undo", "--dry-run"]).ends(0).out;
    assert!(shown.contains("-three\n+two\n") && shown.ends_with("Nothing was changed.\n"), "{shown}");
    let document = emend(&folder, &["undo", "@", "--dry-run", "--json"]).ends(0).document();
    assert_eq!((&document["changed_files"], document.get("edit")), (&json!(["a.txt"]), None));
    assert_eq!(folder.everything(), before);
    emend(&folder, &["undo", "--dry-run", "--yes"]).ends(2);
}

#[test]
fn what_was_undone_is_made_again_once() {
    let (folder, _) = edited();
    emend(&folder, &["redo", "--yes"]).ends(1);
    let edit = emend(&folder, &["show", "--json"]).ends(0).document()["edit"].as_str().unwrap().to_owned();
    emend(&folder, &["redo", &edit]).ends(1);
    for named in [&["redo", "--yes"][..], &["redo", &edit], &["redo", "@"]] {
        emend(&folder, &["undo", &edit]).ends(0);
        assert_eq!(folder.text("a.txt"), "two\n");
        emend(&folder, &["redo"]).ends(2);
        emend(&folder, named).ends(0);
        assert_eq!(folder.text("a.txt"), "three\n");
        // It stands again: there is nothing more to make again.
        emend(&folder, &["redo", "--yes"]).ends(1);
    }
    let log = emend(&folder, &["log", "--json", "-n", "1"]).ends(0).document();
    assert_eq!(log["edits"][0]["client"], "emend redo");
}

#[test]
fn an_undo_that_was_overtaken_is_not_made_again() {
    let (folder, _) = edited();
    emend(&folder, &["undo", "@"]).ends(0);
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-two\n+four\n";
    Command::new(&folder, &["apply"]).input(patch).run().ends(0);
    let refused = emend(&folder, &["redo", "--yes", "--json"]).ends(1).document();
    assert_eq!(refused["error"]["code"], "undo-conflict");
    assert_eq!(folder.text("a.txt"), "four\n");
}
