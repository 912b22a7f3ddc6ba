//! Which folder a command of a person works on, and how edits are named and shown there.

use std::fs;
use std::os::unix::fs::symlink;

use emend_testkit::Folder;
use serde_json::json;

use crate::cli::{Command, Ran, emend};

const PATCH: &str = "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1 +1 @@\n-one\n+two\n";

fn in_folder(folder: &Folder, below: &str, arguments: &[&str]) -> Ran {
    Command::new(folder, arguments).inside(folder.at(below)).input(PATCH).run()
}

#[test]
fn a_command_in_a_subfolder_works_on_the_project_around_it() {
    for marker in [".git/HEAD", ".emend.toml"] {
        let folder = Folder::with([("src/a.txt", "one\n"), ("src/deep/b.txt", "bee\n"), (marker, "")]);
        in_folder(&folder, "src/deep", &["apply"]).ends(0);
        assert_eq!(folder.text("src/a.txt"), "two\n", "{marker}");
        // Paths are those of the person, who is in the subfolder.
        let edits = in_folder(&folder, "src", &["log", "a.txt", "--json"]).ends(0).document();
        assert_eq!(edits["edits"].as_array().unwrap().len(), 1);
        in_folder(&folder, "src/deep", &["diff", "../a.txt"]).ends(0);
        in_folder(&folder, "src", &["log", "src/a.txt"]).ends(1);
        in_folder(&folder, "src/deep", &["undo", "--yes"]).ends(0);
        assert_eq!(folder.text("src/a.txt"), "one\n");
        // What is named is meant.
        in_folder(&folder, "src", &["apply", "--workspace", "."]).ends(1);
    }
}

#[test]
fn of_several_roots_the_one_is_meant_in_which_the_person_is() {
    let folder = Folder::with([("one/a.txt", "1\n"), ("two/a.txt", "2\n"), ("two/deep/b.txt", "")]);
    let config = folder.beside("config.toml");
    let roots = ["one", "two"].map(|name| format!("{name}={}", folder.at(name).display()));
    fs::write(&config, format!("workspace = {roots:?}")).unwrap();
    let config = config.to_str().unwrap();
    for (below, path) in [("two", "a.txt"), ("two", "./a.txt"), ("two/deep", "../a.txt")] {
        in_folder(&folder, below, &["log", path, "--config", config]).ends(0);
    }
    let refused = in_folder(&folder, ".", &["log", "a.txt", "--config", config, "--json"]).ends(1);
    assert_eq!(refused.document()["error"]["code"], "ambiguous-path");
}

#[test]
fn without_a_project_the_working_folder_is_meant() {
    let folder = Folder::with([("src/a.txt", "one\n")]);
    in_folder(&folder, "src", &["apply"]).ends(1);
    let bare = PATCH.replace("src/", "");
    Command::new(&folder, &["apply"]).inside(folder.at("src")).input(bare).run().ends(0);
    assert_eq!(folder.text("src/a.txt"), "two\n");
}

#[test]
fn the_rules_of_the_project_hold_in_its_subfolders() {
    let folder = Folder::with([("src/a.txt", "one\n"), (".emend.toml", "read_only = ['src/']\n")]);
    let refused = in_folder(&folder, "src", &["apply", "--json"]).ends(1).document();
    assert_eq!(refused["error"]["code"], "read-only");
    assert_eq!(folder.text("src/a.txt"), "one\n");
}

#[test]
fn the_home_folder_is_no_project_whatever_it_has() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let home = folder.beside("home");
    fs::create_dir_all(home.join(".git")).unwrap();
    fs::create_dir_all(home.join("notes/src")).unwrap();
    fs::write(home.join("notes/src/a.txt"), "one\n").unwrap();
    symlink("notes", home.join("link")).unwrap();
    for there in ["notes", "link"] {
        let ran = Command::new(&folder, &["log"]).inside(home.join(there)).run().ends(0);
        assert!(ran.out.contains(&format!("history of {}.", home.join("notes").display())), "{ran:?}");
    }
}

#[test]
fn an_edit_is_named_by_any_beginning_that_only_it_has() {
    let folder = Folder::with([("src/a.txt", "one\n")]);
    let apply = |patch: String| {
        let made = Command::new(&folder, &["apply", "--json"]).input(patch).run().ends(0).document();
        made["edit"].as_str().unwrap().to_owned()
    };
    let first = apply(PATCH.to_owned());
    let second = apply(PATCH.replace("+two", "+three").replace("-one", "-two"));
    let shown =
        |written: &str| emend(&folder, &["show", written, "--json"]).ends(0).document()["edit"].clone();
    let shared = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
    assert_eq!(shown(&first[..=shared]), json!(first));
    assert_eq!(shown(&second[..=shared].to_uppercase()), json!(second));
    assert_eq!((shown("@"), shown("@~1")), (json!(second), json!(first)));
    let before = folder.tree();
    for command in ["show", "undo"] {
        let refused = emend(&folder, &[command, &first[..shared]]).ends(1).log;
        assert!(refused.contains(&first) && refused.contains(&second), "{refused}");
        emend(&folder, &[command, "@~2"]).ends(1);
        emend(&folder, &[command, ""]).ends(1);
    }
    assert_eq!(folder.tree(), before);
    emend(&folder, &["undo", "@"]).ends(0);
    assert_eq!(folder.text("src/a.txt"), "two\n");
}

#[test]
fn what_is_longer_than_the_terminal_is_shown_in_the_pager_and_the_outcome_after_it() {
    let folder = Folder::with([("src/a.txt", "one\n")]);
    fs::write(folder.beside("p.diff"), PATCH).unwrap();
    let on_terminal = |arguments: &[&str], rows: &str, pager: &str| {
        let mut command =
            Command::new(&folder, arguments).variable("LINES", rows).variable("EMEND_PAGER", pager);
        let (status, screen) = emend_testkit::at_terminal(&mut command.command, "");
        assert_eq!(status.code(), Some(0), "{screen}");
        screen
    };
    let preview = ["preview", "../p.diff", "--color", "never"];
    let marked = on_terminal(&preview, "4", "sed 's/^/>/'");
    assert!(marked.contains(">+two\n") && marked.ends_with("\n1 file changed, +1 -1\n"), "{marked}");
    for (arguments, rows, pager) in [
        (&preview[..], "40", "sed 's/^/>/'"),
        (&[&preview[..], &["--no-pager"]].concat(), "4", "sed 's/^/>/'"),
        (&preview, "4", ""),
        (&preview, "4", "cat"),
        (&preview, "4", "no-such-pager 2>/dev/null"),
    ] {
        let plain = on_terminal(arguments, rows, pager);
        assert!(plain.contains("\n+two\n") && !plain.contains('>'), "{pager}: {plain}");
    }
    // Nobody reads it to the end.
    on_terminal(&preview, "4", "true");
}
