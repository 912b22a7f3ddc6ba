//! The inputs of `apply_patch` beside V4A: where the patch comes from, which file it is for, its format, and what only
//! some formats can express. The cases test the formats themselves.

mod differential;
mod encodings;

use emend_testkit::Folder;
use serde_json::json;

use crate::serve;

const UNIFIED: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";

#[test]
fn a_patch_can_be_a_file_of_the_workspace() {
    let folder = Folder::with([("a.txt", "one\ntwo\n"), ("tmp/change.diff", UNIFIED)]);
    serve(&folder).call("apply_patch", json!({"patch_path": "tmp/change.diff"})).ok();
    assert_eq!(folder.read("a.txt"), b"one\n2\n");
    assert_eq!(folder.read("tmp/change.diff"), UNIFIED.as_bytes());
}

#[test]
fn exactly_one_patch_is_asked_for() {
    let folder = Folder::with([("a.txt", "one\ntwo\n"), ("change.diff", UNIFIED)]);
    let mut client = serve(&folder);
    client.call("apply_patch", json!({})).refused("invalid-argument");
    let both = json!({"patch": UNIFIED, "patch_path": "change.diff"});
    client.call("apply_patch", both).refused("invalid-argument");
    client.call("apply_patch", json!({"patch_path": "none.diff"})).refused("missing-original");
    client.call("apply_patch", json!({"patch_path": "../x.diff"})).refused("path-outside-workspace");
    client.call("apply_patch", json!({"patch_path": ".git/x"})).refused("path-forbidden");
    assert_eq!(folder.read("a.txt"), b"one\ntwo\n");
}

#[test]
fn path_names_the_file_where_the_patch_does_not() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let hunk = "@@ ... @@\n one\n-two\n+2\n";
    let mut client = serve(&folder);
    client.call("apply_patch", json!({"patch": hunk})).refused("invalid-format");
    client.call("apply_patch", json!({"patch": hunk, "path": "a.txt"})).ok();
    assert_eq!(folder.read("a.txt"), b"one\n2\n");
}

#[test]
fn format_forces_one() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let mut client = serve(&folder);
    let forced = |format: &str| json!({"patch": UNIFIED, "format": format});
    client.call("apply_patch", forced("v4a")).refused("invalid-format");
    client.call("apply_patch", forced("search-replace")).refused("invalid-format");
    client.call("apply_patch", forced("ed-script")).refused("invalid-argument");
    client.call("apply_patch", forced("unified")).ok();
    assert_eq!(folder.read("a.txt"), b"one\n2\n");
}

#[test]
fn a_text_that_is_no_patch_is_told_what_would_do() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let answer = serve(&folder).call("apply_patch", json!({"patch": "please change one to two"}));
    let answer = answer.refused("invalid-format");
    assert!(answer.text.contains("please change one to two"), "names the first line: {}", answer.text);
    assert!(answer.text.contains("*** Update File:"), "and shows an example: {}", answer.text);
}

#[test]
fn lines_by_number_need_the_version() {
    let folder = Folder::with([("a.txt", "one\ntwo\nthree\n")]);
    let mut client = serve(&folder);
    let script = json!({"patch": "2c\nTWO\n.\n", "path": "a.txt"});
    let answer = client.call("apply_patch", script).refused("not-read");
    let version = answer.problems()[0]["current_version"].as_str().unwrap().to_owned();
    assert_eq!(folder.read("a.txt"), b"one\ntwo\nthree\n");
    let script = json!({"patch": "2c\nTWO\n.\n", "path": "a.txt", "versions": {"a.txt": version}});
    client.call("apply_patch", script).ok();
    assert_eq!(folder.read("a.txt"), b"one\nTWO\nthree\n");
}

#[cfg(unix)]
#[test]
fn a_git_diff_makes_a_file_executable_and_takes_that_back() {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::with([("run.sh", "echo\n")]);
    let mode = || fs::metadata(folder.at("run.sh")).unwrap().permissions().mode() & 0o777;
    let set = |mode: u32| fs::set_permissions(folder.at("run.sh"), fs::Permissions::from_mode(mode)).unwrap();
    set(0o640);
    let mut client = serve(&folder);
    let bit = |old: &str, new: &str, rest: &str| json!({"patch": format!("diff --git a/run.sh b/run.sh\nold mode {old}\nnew mode {new}\n{rest}")});
    let answer = client.call("apply_patch", bit("100644", "100755", "")).ok();
    assert_eq!(mode(), 0o750, "whoever may read it may run it");
    assert!(answer.structured["diff"].as_str().unwrap().contains("new mode 100755"), "{}", answer.text);
    client.call("apply_patch", bit("100644", "100755", "")).refused("no-op");
    let change = "--- a/run.sh\n+++ b/run.sh\n@@ -1 +1 @@\n-echo\n+echo hi\n";
    client.call("apply_patch", bit("100755", "100644", change)).ok();
    assert_eq!((mode(), folder.read("run.sh")), (0o640, b"echo hi\n".to_vec()));
    let new = "diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 @@\n+echo\n";
    client.call("apply_patch", json!({"patch": new})).ok();
    assert_eq!(fs::metadata(folder.at("new.sh")).unwrap().permissions().mode() & 0o111, 0o111 & !umask());
}

/// What this process takes from the mode of new files, as a new file shows it.
#[cfg(unix)]
fn umask() -> u32 {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::with([("probe", "")]);
    let read = std::fs::metadata(folder.at("probe")).unwrap().permissions().mode() & 0o444;
    0o777 & !(read | read >> 1 | read >> 2)
}

#[test]
fn a_deleted_file_must_hold_what_the_diff_says() {
    let folder = Folder::with([("a.txt", "one\ntwo\n"), ("b.txt", "one\nother\n")]);
    let mut client = serve(&folder);
    let delete =
        |path: &str| json!({"patch": format!("--- a/{path}\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n")});
    client.call("apply_patch", delete("b.txt")).refused("hunk-context-mismatch");
    client.call("apply_patch", delete("a.txt")).ok();
    assert!(!folder.at("a.txt").exists() && folder.at("b.txt").exists());
}

#[test]
fn a_refusal_says_which_hunks_fit() {
    let folder = Folder::with([("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven\n")]);
    let patch =
        "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n@@\n six\n-eight\n+8\n*** End Patch";
    let answer = serve(&folder).call("apply_patch", json!({"patch": patch})).refused("hunk-context-mismatch");
    assert!(answer.text.contains("Hunk 1 fits, at line 1. It changes:\n     2\ttwo"), "{}", answer.text);
    assert!(answer.text.contains("1 of 2 hunks fit."), "{}", answer.text);
}

#[test]
fn what_is_there_already_is_not_to_be_sent_again() {
    let text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";
    let folder = Folder::with([("a.txt", text)]);
    let mut client = serve(&folder);
    let mut refused = |hunks: &str| {
        let patch = format!("*** Begin Patch\n*** Update File: a.txt\n{hunks}*** End Patch");
        client.call("apply_patch", json!({"patch": patch})).refused("hunk-context-mismatch").text
    };
    let (fits, there, wrong) = ("@@\n one\n-two\n+2\n", "@@\n five\n-5\n+six\n", "@@\n three\n-IIII\n+4\n");
    let told = refused(&format!("{fits}{there}"));
    let without = "but leave out what is already there, if that was its aim.";
    let again = format!("1 of 2 hunks fit. Nothing was changed: send them again, {without}");
    assert!(told.contains(&again), "{told}");
    let told = refused(&format!("{fits}{wrong}{there}"));
    let again =
        format!("1 of 3 hunks fit. Nothing was changed: send them again, with these mended, {without}");
    assert!(told.contains(&again), "{told}");
    let told = refused(&format!("{there}{there}"));
    assert!(told.contains("\n0 of 2 hunks fit. Nothing was changed.\n"), "{told}");
    assert_eq!(folder.read("a.txt"), text.as_bytes());
}

#[test]
fn what_one_hunk_shows_of_tabs_and_spaces_holds_for_the_others() {
    let folder = Folder::with([("a.py", "def f():\n    return 1\n\nx = 1\ny = 2\nshow()\n")]);
    let patch = "--- a/a.py\n+++ b/a.py\n@@ ... @@\n def f():\n-\treturn 1\n+\treturn 2\n@@ ... @@\n x = 1\n-y = 2\n\
                 +if x:\n+\ty = 2\n show()\n";
    serve(&folder).call("apply_patch", json!({"patch": patch})).ok();
    assert_eq!(folder.read("a.py"), b"def f():\n    return 2\n\nx = 1\nif x:\n    y = 2\nshow()\n");
}
