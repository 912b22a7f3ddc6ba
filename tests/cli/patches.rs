//! What `emend apply` does with patches as people have them: taken back with `-R`, or several as one edit.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use emend_testkit::Folder;

use crate::cli::{Command, emend};

/// A patch that changes, makes, deletes and renames files, and sets a mode.
const PATCH: &str = "\
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,4 @@
 one
-two
+2
+two and a half
 three
diff --git a/gone.txt b/gone.txt
deleted file mode 100755
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/new.txt b/new.txt
new file mode 100644
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+new
diff --git a/old.txt b/name.txt
old mode 100644
new mode 100755
rename from old.txt
rename to name.txt
";

fn folder() -> Folder {
    let files = [("a.txt", "one\ntwo\nthree\n"), ("gone.txt", "gone\n"), ("old.txt", "same\n")];
    let folder = Folder::with(files);
    fs::set_permissions(folder.at("gone.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn modes(folder: &Folder) -> Vec<(String, bool)> {
    let mode = |name: &String| fs::metadata(folder.at(name)).unwrap().permissions().mode() & 0o100 != 0;
    folder.tree().keys().map(|name| (name.clone(), mode(name))).collect()
}

#[test]
fn a_patch_is_taken_back_by_the_patch_itself() {
    let folder = folder();
    let before = (folder.tree(), modes(&folder));
    Command::new(&folder, &["apply"]).input(PATCH).run().ends(0);
    assert_eq!(folder.text("a.txt"), "one\n2\ntwo and a half\nthree\n");
    assert_ne!((folder.tree(), modes(&folder)), before);
    let shown = Command::new(&folder, &["preview", "-R"]).input(PATCH).run().ends(0).out;
    assert!(shown.contains("-two and a half") && shown.contains("rename to old.txt"), "{shown}");
    Command::new(&folder, &["apply", "--reverse"]).input(PATCH).run().ends(0);
    assert_eq!((folder.tree(), modes(&folder)), before);
    // It must have been applied.
    Command::new(&folder, &["apply", "-R"]).input(PATCH).run().ends(1);
    assert_eq!((folder.tree(), modes(&folder)), before);
    let other = "a.txt\n<<<<<<< SEARCH\none\n=======\n1\n>>>>>>> REPLACE\n";
    let told = Command::new(&folder, &["apply", "-R"]).input(other).run().ends(2).log;
    assert!(told.contains("unified diffs"), "{told}");
}

#[test]
fn sections_of_one_file_are_taken_back_from_the_last_to_the_first() {
    let folder = Folder::with([("f", "1\n2\n3\n4\n")]);
    let section = |hunk: &str| format!("--- a/f\n+++ b/f\n{hunk}");
    let patch = section("@@ -1,3 +1,4 @@\n 1\n+new\n 2\n 3\n")
        + &section("@@ -1,4 +1,4 @@\n 1\n-new\n+newer\n 2\n 3\n");
    Command::new(&folder, &["apply"]).input(patch.clone()).run().ends(0);
    assert_eq!(folder.text("f"), "1\nnewer\n2\n3\n4\n");
    Command::new(&folder, &["apply", "-R"]).input(patch).run().ends(0);
    assert_eq!(folder.text("f"), "1\n2\n3\n4\n");
}

#[test]
fn a_diff_of_the_top_of_a_file_with_a_mark_is_taken_and_taken_back() {
    let folder = Folder::with([("f", "\u{feff}a\nb\nc\n")]);
    let mut client = crate::serve(&folder);
    client.replace("f", "b", "B").ok();
    let diff = emend(&folder, &["diff"]).ends(0).out;
    Command::new(&folder, &["apply", "-R"]).input(diff.clone()).run().ends(0);
    assert_eq!(folder.text("f"), "\u{feff}a\nb\nc\n");
    Command::new(&folder, &["apply"]).input(diff).run().ends(0);
    assert_eq!(folder.text("f"), "\u{feff}a\nB\nc\n");
}

#[test]
fn a_name_that_ends_in_a_blank_is_not_that_of_another_file() {
    let folder = Folder::with([("trail", "a\n")]);
    let diff = "diff --git a/trail  b/trail \n--- a/trail \t\n+++ b/trail \t\n@@ -1 +1 @@\n-a\n+b\n";
    Command::new(&folder, &["apply"]).input(diff).run().ends(1);
    assert_eq!(folder.text("trail"), "a\n");
}

#[test]
fn several_patches_are_one_edit_or_none() {
    let folder = Folder::with([("a.txt", "a\n"), ("b.txt", "b\n")]);
    let patch = |name: &str, old: &str, new: &str| {
        let path = folder.beside(&format!("{name}-{new}.patch"));
        let diff = format!("--- a/{name}.txt\n+++ b/{name}.txt\n@@ -1 +1 @@\n-{old}\n+{new}\n");
        fs::write(&path, diff.trim_end()).unwrap();
        path.display().to_string()
    };
    let (first, second, wrong) = (patch("a", "a", "A"), patch("b", "b", "B"), patch("b", "c", "C"));
    let before = folder.tree();
    emend(&folder, &["apply", &first, &wrong]).ends(1);
    assert_eq!(folder.tree(), before);
    emend(&folder, &["apply", &first, &second]).ends(0);
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("A\n".into(), "B\n".into()));
    emend(&folder, &["undo", "--yes"]).ends(0);
    assert_eq!(folder.tree(), before);
}
