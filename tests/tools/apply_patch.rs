//! `apply_patch` on files: creating, changing, moving and deleting, all of it or nothing. `tests/cases/v4a` tests how a
//! patch may be written.

use emend_testkit::{Answer, Folder, client};
use serde_json::json;

use crate::{serve, serve_in_full};

/// A patch of this folder that is refused: nothing changes, and these are all the problems.
#[track_caller]
fn check_refused(folder: &Folder, patch: &str, codes: &[&str]) -> Answer {
    let before = folder.everything();
    let answer = serve(folder).patch(patch).refused(codes[0]);
    assert_eq!(answer.codes(), codes);
    assert_eq!(folder.everything(), before, "a refused patch changes nothing and leaves nothing behind");
    answer
}

#[test]
fn one_patch_creates_changes_moves_and_deletes() {
    let folder =
        Folder::with([("a.txt", "1\n2\n3\n"), ("b.txt", "x\ny\n"), ("c.txt", "gone\n"), ("d.txt", "d\n")]);
    let mut client = serve_in_full(&folder);
    client.read("c.txt");
    let answer = client
        .patch(
            "*** Add File: new/deep/e.txt\n+e\n+\n*** Update File: a.txt\n@@\n 1\n-2\n+two\n 3\n*** Update File: \
             b.txt\n*** Move to: moved/b.txt\n@@\n-x\n+X\n y\n*** Delete File: c.txt\n*** Move File: d.txt -> \
             moved/d.txt",
        )
        .ok();
    let expected = Folder::with([
        ("a.txt", "1\ntwo\n3\n"),
        ("moved/b.txt", "X\ny\n"),
        ("moved/d.txt", "d\n"),
        ("new/deep/e.txt", "e\n\n"),
    ]);
    assert_eq!(folder.tree(), expected.tree());
    let changes: Vec<(&str, &str)> = answer.structured["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap(), file["change"].as_str().unwrap()))
        .collect();
    assert_eq!(
        changes,
        [
            ("new/deep/e.txt", "create"),
            ("a.txt", "modify"),
            ("moved/b.txt", "move"),
            ("c.txt", "delete"),
            ("moved/d.txt", "move"),
        ]
    );
    assert_eq!(
        answer.structured["changed_files"],
        json!(["new/deep/e.txt", "a.txt", "moved/b.txt", "c.txt", "moved/d.txt"])
    );
}

#[test]
fn the_outcome_has_the_versions_of_each_file() {
    let folder = Folder::with([("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    let mut client = serve_in_full(&folder);
    let old = client.read("c.txt").version();
    let answer = client
        .patch(
            "*** Add File: new.txt\n+n\n*** Update File: a.txt\n*** Move to: z.txt\n@@\n-a\n+A\n*** Delete File: \
             c.txt",
        )
        .ok();
    let files = &answer.structured["files"];
    assert!(files[0].get("version_before").is_none());
    assert_eq!(files[0]["version_after"], client.read("new.txt").version());
    assert_eq!(files[1]["moved_from"], "a.txt");
    assert_eq!(files[1]["version_after"], client.read("z.txt").version());
    assert_eq!(files[2]["version_before"], old);
    assert!(files[2].get("version_after").is_none());
}

#[test]
fn one_hunk_that_does_not_fit_leaves_every_file() {
    let folder = Folder::with([("a.txt", "1\n"), ("b.txt", "2\n"), ("c.txt", "3\n")]);
    check_refused(
        &folder,
        "*** Add File: new/n.txt\n+n\n*** Update File: a.txt\n@@\n-1\n+one\n*** Update File: b.txt\n*** Move to: \
         moved/b.txt\n@@\n-2\n+two\n*** Update File: c.txt\n@@\n-4\n+four",
        &["hunk-context-mismatch"],
    );
}

#[test]
fn every_problem_is_told_at_once() {
    let folder = Folder::with([("a.txt", "x\n1\nx\n"), ("b.txt", "2\n")]);
    let answer = check_refused(
        &folder,
        "*** Update File: a.txt\n@@\n-nowhere\n+y\n@@\n-x\n+y\n@@\n-1\n+one\n*** Update File: missing.txt\n@@\n-z\n+Z\n\
         *** Add File: b.txt\n+again\n*** Update File: ../out.txt\n@@\n-z\n+Z\n*** Delete File: .git/config",
        &[
            "hunk-context-mismatch",
            "ambiguous-match",
            "missing-original",
            "already-exists",
            "path-outside-workspace",
            "path-forbidden",
        ],
    );
    let problems = answer.problems();
    assert_eq!((&problems[0]["hunk"], &problems[1]["hunk"]), (&json!(1), &json!(2)));
    assert_eq!(problems[1]["lines"], json!([1, 3]));
    assert_eq!(problems[2]["path"], "missing.txt");
}

#[test]
fn a_missing_reading_is_told_with_the_other_problems() {
    let folder = Folder::with([("a.txt", "1\n"), ("b.txt", "2\n")]);
    check_refused(
        &folder,
        "*** Delete File: a.txt\n*** Update File: b.txt\n@@\n-nowhere\n+y",
        &["not-read", "hunk-context-mismatch"],
    );
}

#[test]
fn every_problem_of_the_grammar_is_told_at_once() {
    let folder = Folder::with([("a.txt", "1\n")]);
    check_refused(
        &folder,
        "*** Rename File: a.txt\n*** Update File: a.txt\n*** Add File: b.txt\n+b\n*** Update File: a.txt\n@@\n***1\n+2",
        &["invalid-format", "invalid-format", "invalid-format"],
    );
}

#[test]
fn what_exists_is_not_added_over_or_moved_over() {
    let folder = Folder::with([("a.txt", "a\n"), ("b.txt", "b\n")]);
    check_refused(&folder, "*** Add File: a.txt\n+new", &["already-exists"]);
    check_refused(&folder, "*** Add File: a.txt", &["already-exists"]);
    check_refused(&folder, "*** Move File: a.txt -> b.txt", &["already-exists"]);
    check_refused(&folder, "*** Update File: a.txt\n*** Move to: b.txt\n@@\n-a\n+A", &["already-exists"]);
    check_refused(&folder, "*** Add File: c.txt\n+1\n*** Add File: c.txt\n+2", &["already-exists"]);
}

#[test]
fn what_a_section_has_freed_is_free_for_the_next() {
    let folder = Folder::with([("a.txt", "a\n"), ("b.txt", "b\n")]);
    let mut client = serve(&folder);
    client.read("b.txt");
    client.patch("*** Delete File: b.txt\n*** Move File: a.txt -> b.txt").ok();
    assert_eq!(folder.tree(), Folder::with([("b.txt", "a\n")]).tree());
    client.patch("*** Move File: b.txt -> c.txt\n*** Add File: b.txt\n+new").ok();
    assert_eq!(folder.tree(), Folder::with([("b.txt", "new\n"), ("c.txt", "a\n")]).tree());
}

#[test]
fn two_files_can_swap_their_names() {
    let folder = Folder::with([("a.txt", "a\n"), ("b.txt", "b\n")]);
    let swap = "*** Move File: a.txt -> t.txt\n*** Move File: b.txt -> a.txt\n*** Move File: t.txt -> b.txt";
    serve(&folder).patch(swap).ok();
    assert_eq!(folder.tree(), Folder::with([("a.txt", "b\n"), ("b.txt", "a\n")]).tree());
}

#[test]
fn a_move_onto_itself_never_loses_the_file() {
    let folder = Folder::with([("a.txt", "a\n")]);
    check_refused(&folder, "*** Move File: a.txt -> a.txt", &["no-op"]);
    check_refused(&folder, "*** Move File: a.txt -> ./a.txt", &["no-op"]);
    serve(&folder).patch("*** Update File: a.txt\n*** Move to: a.txt\n@@\n-a\n+A").ok();
    assert_eq!(folder.tree(), Folder::with([("a.txt", "A\n")]).tree());
}

#[test]
fn a_deletion_needs_a_full_reading_or_the_version() {
    let content: String = (1..=10).map(|i| format!("{i}\n")).collect();
    let folder = Folder::with([("a.txt", &content)]);
    let delete = "*** Delete File: a.txt";
    check_refused(&folder, delete, &["not-read"]);
    let mut client = serve(&folder);
    client.call("read_file", json!({"path": "a.txt", "limit": 9})).ok();
    let refused = client.patch(delete).refused("not-read");
    let current = client.call("read_file", json!({"path": "a.txt", "offset": 10})).ok().version();
    // Else it could be sent without having seen what the file holds.
    assert!(!refused.text.contains(&current) && !refused.structured.to_string().contains(&current));
    client.patch(delete).ok();
    assert!(folder.tree().is_empty());

    folder.write("a.txt", &content);
    let with = |version: &str| json!({"patch": client::patch(delete), "versions": {"a.txt": version}});
    let mut client = serve(&folder);
    client.call("apply_patch", with("000000000000")).refused("stale-file");
    client.call("apply_patch", with(&current)).ok();
    assert!(folder.tree().is_empty());
}

#[test]
fn no_detour_deletes_what_nobody_has_read() {
    let folder = Folder::with([("a.txt", "1\n")]);
    check_refused(&folder, "*** Delete File: a.txt\n*** Add File: a.txt\n+new", &["not-read"]);
    check_refused(&folder, "*** Move File: a.txt -> b.txt\n*** Delete File: b.txt", &["not-read"]);
    check_refused(
        &folder,
        "*** Update File: a.txt\n*** Move to: b.txt\n@@\n-1\n+one\n*** Delete File: b.txt\n*** Add File: a.txt\n+new",
        &["not-read"],
    );
}

#[test]
fn what_is_not_there_is_neither_changed_nor_moved_nor_deleted() {
    let folder = Folder::new();
    check_refused(&folder, "*** Update File: a.txt\n@@\n-a\n+b", &["missing-original"]);
    check_refused(&folder, "*** Move File: a.txt -> b.txt", &["missing-original"]);
    check_refused(&folder, "*** Delete File: a.txt", &["missing-original"]);
}

#[test]
fn sections_on_one_file_each_see_what_the_one_before_has_left() {
    let folder = Folder::with([("a.txt", "1\n2\n3\n")]);
    let mut client = serve(&folder);
    let answer =
        client.patch("*** Update File: a.txt\n@@\n-1\n+one\n*** Update File: a.txt\n@@\n one\n-2\n+two").ok();
    assert_eq!(folder.text("a.txt"), "one\ntwo\n3\n");
    assert_eq!(answer.structured["changed_files"], json!(["a.txt"]), "one file, changed once");
    client
        .patch("*** Add File: b.txt\n+1\n*** Update File: b.txt\n@@\n-1\n+2\n*** Move File: b.txt -> c.txt")
        .ok();
    assert_eq!(folder.tree(), Folder::with([("a.txt", "one\ntwo\n3\n"), ("c.txt", "2\n")]).tree());
    client.patch("*** Move File: c.txt -> d.txt\n*** Update File: d.txt\n@@\n-2\n+3").ok();
    assert_eq!(folder.text("d.txt"), "3\n");
    client.read("d.txt");
    client.patch("*** Delete File: d.txt\n*** Add File: d.txt\n+4").ok();
    assert_eq!(folder.text("d.txt"), "4\n");
}

#[test]
fn a_file_that_is_gone_after_one_section_cannot_be_changed_by_the_next() {
    let folder = Folder::with([("a.txt", "1\n")]);
    check_refused(
        &folder,
        "*** Move File: a.txt -> b.txt\n*** Update File: a.txt\n@@\n-1\n+2",
        &["missing-original"],
    );
}

#[test]
fn one_file_under_two_spellings_is_one_file() {
    let folder = Folder::with([("src/a.txt", "1\n2\n")]);
    let absolute = folder.at("src/a.txt");
    let patch = format!(
        "*** Update File: src/a.txt\n@@\n-1\n+one\n*** Update File: ./src/../src/a.txt\n@@\n-2\n+two\n*** Update File: \
         {}\n@@\n-one\n+ONE",
        absolute.display()
    );
    let answer = serve(&folder).patch(&patch).ok();
    assert_eq!(folder.text("src/a.txt"), "ONE\ntwo\n");
    assert_eq!(answer.structured["changed_files"], json!(["src/a.txt"]));
}

#[test]
fn a_patch_that_changes_nothing_is_refused() {
    let folder = Folder::with([("a.txt", "1\n2\n")]);
    check_refused(&folder, "*** Update File: a.txt\n@@\n-1\n+1", &["no-op"]);
    check_refused(&folder, "*** Update File: a.txt\n@@\n 1\n 2", &["no-op"]);
    check_refused(
        &folder,
        "*** Update File: a.txt\n@@\n-1\n+one\n*** Update File: a.txt\n@@\n-one\n+1",
        &["no-op"],
    );
    check_refused(&folder, "*** Add File: b.txt\n+b\n*** Delete File: b.txt", &["no-op"]);
    check_refused(&folder, "", &["invalid-format"]);
}

#[test]
fn validating_writes_nothing() {
    let folder = Folder::with([("a.txt", "1\n")]);
    let before = folder.everything();
    let mut client = serve(&folder);
    let mut validate = |inner: &str| {
        client.call("apply_patch", json!({"patch": client::patch(inner), "validate_only": true}))
    };
    let valid = validate("*** Update File: a.txt\n@@\n-1\n+one\n*** Add File: new/b.txt\n+b").ok();
    assert_eq!(valid.structured["changed_files"], json!(["a.txt", "new/b.txt"]));
    assert!(valid.structured["diff"].as_str().unwrap().contains("+one\n"));
    assert!(valid.structured.get("edit").is_none() && valid.structured.get("preview").is_none());
    validate("*** Update File: a.txt\n@@\n-2\n+two").refused("hunk-context-mismatch");
    validate("*** Delete File: a.txt").refused("not-read");
    assert_eq!(folder.everything(), before);
}

#[test]
fn a_patch_may_be_called_input() {
    let folder = Folder::with([("a.txt", "1\n")]);
    let input = client::patch("*** Update File: a.txt\n@@\n-1\n+one");
    serve(&folder).call("apply_patch", json!({"input": input})).ok();
    assert_eq!(folder.text("a.txt"), "one\n");
}

#[test]
fn versions_are_checked_for_every_file_that_they_name() {
    let folder = Folder::with([("a.txt", "1\n"), ("b.txt", "2\n")]);
    let mut client = serve(&folder);
    let (a, b) = (client.read("a.txt").version(), client.read("b.txt").version());
    let patch = client::patch("*** Update File: ./a.txt\n@@\n-1\n+one\n*** Update File: b.txt\n@@\n-2\n+two");
    let mut apply = |versions| client.call("apply_patch", json!({"patch": patch, "versions": versions}));
    let answer = apply(json!({"a.txt": a, "b.txt": a})).refused("stale-file");
    assert_eq!(answer.problems()[0]["path"], "b.txt");
    apply(json!({"a.txt": a, "c.txt": a})).refused("invalid-argument");
    apply(json!({"./a.txt": b})).refused("stale-file");
    assert_eq!(folder.text("a.txt"), "1\n");
    apply(json!({"a.txt": a, "b.txt": b})).ok();
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("one\n".into(), "two\n".into()));
}

#[test]
fn folders_are_made_for_new_files_and_only_for_them() {
    let folder = Folder::with([("file", "f\n")]);
    check_refused(&folder, "*** Add File: file/below.txt\n+x", &["not-a-file"]);
    check_refused(
        &folder,
        "*** Add File: new/\n+x\n*** Add File: file\n+x",
        &["not-a-file", "already-exists"],
    );
    serve(&folder).patch("*** Add File: a/b/one.txt\n+1\n*** Add File: a/c/two.txt\n+2").ok();
    let expected = Folder::with([("file", "f\n"), ("a/b/one.txt", "1\n"), ("a/c/two.txt", "2\n")]);
    assert_eq!(folder.tree(), expected.tree());
}

#[test]
fn a_patch_of_many_files_is_one_edit() {
    let folder = Folder::new();
    for i in 0..150 {
        folder.write(&format!("f{i}.txt"), format!("{i}\nold\n"));
    }
    let section = |i: i32| format!("*** Update File: f{i}.txt\n@@\n {i}\n-old\n+new\n");
    let whole: String = (0..150).map(section).collect();
    check_refused(
        &folder,
        &format!("{whole}*** Update File: f7.txt\n@@\n-old\n+new"),
        &["hunk-context-mismatch"],
    );
    let answer = serve(&folder).patch(&whole).ok();
    assert_eq!(answer.structured["changed_files"].as_array().unwrap().len(), 150);
    for i in 0..150 {
        assert_eq!(folder.text(&format!("f{i}.txt")), format!("{i}\nnew\n"));
    }
}

#[test]
fn small_and_large_files_are_changed_together() {
    let line = "0123456789abcdef\n".repeat(100_000);
    let folder = Folder::with([("small.txt", "1\n"), ("large.txt", &format!("{line}middle\n{line}"))]);
    let patch = "*** Update File: small.txt\n@@\n-1\n+one\n*** Update File: large.txt\n@@\n-middle\n+MIDDLE";
    let mut client = serve(&folder);
    client.preview("apply_patch", json!({"patch": client::patch(patch)})).ok();
    client.patch(patch).ok();
    assert_eq!(folder.text("small.txt"), "one\n");
    assert!(folder.text("large.txt") == format!("{line}MIDDLE\n{line}"));
}

#[test]
fn of_many_problems_the_first_are_told_in_full_and_all_are_counted() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let hunks: String = (0..1_000).map(|i| format!("@@\n-missing {i}\n+x\n")).collect();
    let answer = serve(&folder).patch(&format!("*** Update File: a.txt\n{}", hunks.trim_end()));
    let answer = answer.refused("hunk-context-mismatch");
    let (text, json) = crate::tools::str_replace::sizes(&answer);
    assert!(text <= 8_000 && json <= 8_000, "{text} {json}");
    assert!(answer.structured["notes"][0].as_str().unwrap().contains("1000 problems"));
    assert!(answer.text.starts_with("1000 problems"), "{}", answer.text);
    assert!(answer.problems().len() >= 10);
    for (i, problem) in answer.problems().iter().enumerate() {
        assert_eq!((&problem["code"], &problem["hunk"]), (&json!("hunk-context-mismatch"), &json!(i + 1)));
    }
}

/// Applies a text that is a patch as it is.
fn diff(client: &mut client::Client, patch: &str) -> Answer {
    client.call("apply_patch", json!({"patch": patch}))
}

/// The headers of a rename in a git diff.
fn renamed(from: &str, to: &str) -> String {
    format!("diff --git a/{from} b/{to}\nsimilarity index 100%\nrename from {from}\nrename to {to}\n")
}

#[cfg(unix)]
#[test]
fn files_that_exchange_their_names_take_their_modes_along() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with([("a", "A\n"), ("b", "B\n"), ("c", "C\n")]);
    let set_mode = |name: &str, mode| {
        std::fs::set_permissions(folder.at(name), PermissionsExt::from_mode(mode)).unwrap();
    };
    let is_executable = |name: &str| folder.at(name).metadata().unwrap().permissions().mode() & 0o111 != 0;
    let state = || ["a", "b", "c"].map(|name| (folder.text(name), is_executable(name)));
    set_mode("a", 0o755);
    let before = state();
    let mut client = serve(&folder);
    diff(&mut client, &(renamed("a", "b") + &renamed("b", "a"))).ok();
    assert_eq!(state(), [("B\n".into(), false), ("A\n".into(), true), ("C\n".into(), false)]);
    client.call("undo_edit", json!({})).ok();
    assert_eq!(state(), before);
    let mode = "old mode 100644\nnew mode 100755\n";
    let circle =
        renamed("a", "b") + &renamed("b", "c").replacen('\n', &format!("\n{mode}"), 1) + &renamed("c", "a");
    diff(&mut client, &circle).ok();
    assert_eq!(state(), [("C\n".into(), false), ("A\n".into(), true), ("B\n".into(), true)]);
    client.call("undo_edit", json!({})).ok();
    assert_eq!(state(), before);
}

#[test]
fn a_name_that_another_section_gives_up_can_be_taken_before_it() {
    let folder = Folder::with([("a", "A\n"), ("b", "B\n")]);
    let mut client = serve(&folder);
    let new = "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+new\n";
    diff(&mut client, &(new.to_owned() + &renamed("a", "b") + &renamed("b", "deep/c"))).ok();
    let expected = Folder::with([("a", "new\n"), ("b", "A\n"), ("deep/c", "B\n")]);
    assert_eq!(folder.tree(), expected.tree());
    client.call("undo_edit", json!({})).ok();
    assert_eq!((folder.text("a"), folder.text("b")), ("A\n".into(), "B\n".into()));
    assert!(!folder.at("deep/c").exists());
    // Two files cannot have one name.
    diff(&mut client, &(renamed("a", "c") + &renamed("b", "c"))).refused("already-exists");
    diff(&mut client, &(renamed("a", "b") + &renamed("b", "b"))).refused("invalid-format");
    assert_eq!((folder.text("a"), folder.text("b")), ("A\n".into(), "B\n".into()));
}

#[test]
fn escaped_line_breaks_are_named() {
    let folder = Folder::with([("t.py", "x = 1\ny = 2\n")]);
    let mut client = serve(&folder);
    for patch in [
        "*** Begin Patch\\n*** Update File: t.py\\n@@\\n-y = 2\\n+y = 3\\n*** End Patch",
        "--- a/t.py\\n+++ b/t.py\\n@@ -1,2 +1,2 @@\\n x = 1\\n-y = 2\\n+y = 3\\n",
        "t.py\\r\\n<<<<<<< SEARCH\\r\\ny = 2\\r\\n=======\\r\\ny = 3\\r\\n>>>>>>> REPLACE\\r\\n",
        "t.py\\n```\\ny = 3\\n```\\n",
    ] {
        for format in [json!({}), json!({"format": "unified"}), json!({"format": "v4a"})] {
            let mut arguments = json!({"patch": patch, "path": "t.py"});
            arguments.as_object_mut().unwrap().extend(format.as_object().unwrap().clone());
            let answer = client.call("apply_patch", arguments).refused("invalid-format");
            assert!(
                answer.text.starts_with("The line breaks are escaped: send real line breaks."),
                "{}",
                answer.text
            );
        }
    }
    assert_eq!(folder.text("t.py"), "x = 1\ny = 2\n");
}

#[test]
fn a_refusal_says_how_to_create_the_file_if_the_hunks_only_add_lines() {
    let folder = Folder::with([("t.py", "x = 1\n")]);
    let mut client = serve(&folder);
    for (patch, hint) in [
        ("*** Begin Patch\n*** Update File: new.py\n@@\n+x = 1\n*** End Patch", true),
        ("*** Begin Patch\n*** Update File: new.py\n@@\n-x = 1\n+x = 2\n*** End Patch", false),
        ("--- a/new.py\n+++ b/new.py\n@@ -3,0 +4 @@\n+x = 1\n", true),
        ("--- a/new.py\n+++ b/new.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n", false),
    ] {
        let answer = diff(&mut client, patch).refused("missing-original");
        assert_eq!(answer.text.contains("'--- /dev/null' above '+++ b/new.py'"), hint, "{}", answer.text);
    }
}

#[test]
fn what_a_viewer_shows_beside_lines_is_not_written() {
    let folder = Folder::with([("t.py", "def b():\n    x = 1\n    y = 2\n")]);
    let before = folder.text("t.py");
    let mut client = serve(&folder);
    client.read("t.py");
    let mut replace = |old: &str, new: &str| {
        client.call("str_replace", json!({"path": "t.py", "old_string": old, "new_string": new}))
    };
    replace("    x = 1\n    y = 2", "    x = 5^M\n    y = 6^M").refused("escaped-text");
    let answer = replace("    x = 1\n    y = 2", "2#ab|    x = 5\n3#ab|    y = 6").refused("escaped-text");
    assert!(answer.text.contains("Leave the numbers out"), "{}", answer.text);
    let answer = replace("    x = 1^M\n    y = 2^M", "    x = 5^M\n    y = 6^M").refused("search-not-found");
    assert!(answer.text.contains("`^M` at the end of the line"), "{}", answer.text);
    assert!(answer.text.contains("leave such out of the old and of the new lines"), "{}", answer.text);
    let answer = replace("2#ab|    x = 1\n3#ab|    y = 2", "2#ab|    x = 5").refused("search-not-found");
    assert!(answer.text.contains("`2#ab|` before the line"), "{}", answer.text);
    assert_eq!(folder.text("t.py"), before);
}
