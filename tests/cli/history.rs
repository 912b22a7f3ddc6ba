//! `emend log`, `show`, `diff` and `undo`: a user looks at the edits of clients and takes them back.

#![cfg(unix)]

use emend_testkit::Folder;
use serde_json::{Value, json};

use crate::cli::{Command, emend, on_terminal};
use crate::{launch, serve};

/// A workspace where one client made two edits and another a third: their ids, oldest first.
fn edited() -> (Folder, [String; 3]) {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "bee\n")]);
    let id = |answer: emend_testkit::Answer| answer.ok().structured["edit"].as_str().unwrap().to_owned();
    let mut client = serve(&folder);
    let first = id(client.replace("a.txt", "one", "two"));
    let second = id(client.replace("a.txt", "two", "three"));
    client.close();
    let third = id(serve(&folder).replace("b.txt", "bee", "BEE"));
    (folder, [first, second, third])
}

fn log(folder: &Folder, arguments: &[&str]) -> Vec<Value> {
    let arguments = [&["log", "--json"], arguments].concat();
    emend(folder, &arguments).ends(0).document()["edits"].as_array().unwrap().clone()
}

#[test]
fn the_log_has_the_edits_of_all_clients_the_newest_first() {
    let (folder, ids) = edited();
    let edits = log(&folder, &[]);
    let of_all: Vec<&str> = edits.iter().map(|edit| edit["edit"].as_str().unwrap()).collect();
    assert_eq!(of_all, [&*ids[2], &*ids[1], &*ids[0]]);
    let newest = &edits[0];
    assert_eq!((&newest["client"], &newest["tool"]), (&json!("testkit"), &json!("str_replace")));
    assert_eq!(newest["files"][0]["path"], "b.txt");
    assert_eq!(newest["files"][0]["change"], "modify");
    assert_eq!((&newest["files"][0]["added"], &newest["files"][0]["removed"]), (&json!(1), &json!(1)));
    assert!(newest["time"].as_str().unwrap().ends_with('Z'));
    assert_eq!(edits[1]["session"], edits[2]["session"]);
    assert_ne!(edits[0]["session"], edits[1]["session"]);
    assert_eq!(log(&folder, &["a.txt"]).len(), 2);
    assert_eq!(log(&folder, &["--limit", "1"])[0]["edit"], *ids[2]);
    let text = emend(&folder, &["log"]).ends(0).out;
    assert!(text.starts_with(&ids[2]) && text.contains("  M b.txt +1 -1, "), "{text}");
    let coloured = emend(&folder, &["log", "--color", "always"]).ends(0).out;
    assert!(coloured.starts_with(&format!("\x1b[33m{}\x1b[0m ", ids[2])), "{coloured}");
}

#[test]
fn beneath_a_folder_that_was_edited_the_log_is_that_of_the_folder() {
    let (folder, ids) = edited();
    folder.write("src/c.txt", "see\n");
    let log = |arguments: &[&str]| {
        Command::new(&folder, &[&["log"], arguments].concat()).inside(folder.at("src")).run().ends(0).out
    };
    assert!(log(&[]).starts_with(&ids[2]), "{}", log(&[]));
    let here = folder.at("src").display().to_string();
    assert_eq!(log(&["--workspace", "."]), format!("No edits in the history of {here}.\n"));
    // A project of its own is nearer.
    folder.write("src/.git/HEAD", "ref: refs/heads/main\n");
    let there = format!(" There are some of {}: ", folder.path().display());
    assert!(log(&[]).contains(&there), "{}", log(&[]));
}

#[test]
fn an_edit_is_shown_with_its_diff_and_its_request() {
    let (folder, ids) = edited();
    let shown = emend(&folder, &["show", &ids[0], "--json"]).ends(0).document();
    assert_eq!(shown["diff"], "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n");
    let request: Value = serde_json::from_str(shown["request"].as_str().unwrap()).unwrap();
    assert_eq!(request, json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    let newest = emend(&folder, &["show"]).ends(0).out;
    assert!(newest.ends_with("\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-bee\n+BEE\n"), "{newest}");
    assert!(emend(&folder, &["show", "--request"]).ends(0).out.contains("\"old_string\":\"bee\""));
    let refused = emend(&folder, &["show", "nonsense", "--json"]).ends(1).document();
    assert_eq!(refused["error"]["code"], "unknown-edit");
}

#[test]
fn the_edits_of_a_session_are_one_diff() {
    let (folder, ids) = edited();
    let newest = emend(&folder, &["diff"]).ends(0).out;
    assert_eq!(newest, "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-bee\n+BEE\n");
    let session = log(&folder, &[])[2]["session"].as_str().unwrap().to_owned();
    let older = emend(&folder, &["diff", "--session", &session]).ends(0).out;
    assert_eq!(older, "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+three\n");
    // What another one did, is not in it.
    Command::new(&folder, &["apply"])
        .input("--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-BEE\n+b\n")
        .run()
        .ends(0);
    assert_eq!(emend(&folder, &["diff", "--client", "testkit"]).ends(0).out, newest);
    let document = emend(&folder, &["diff", "--json"]).ends(0).document();
    assert_eq!(document["diff"], "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-BEE\n+b\n");
    assert_eq!(emend(&folder, &["diff", "a.txt", "--json"]).ends(0).document()["diff"], "");
    let unknown = emend(&folder, &["diff", "--client", "nobody", "--json"]).ends(1).document();
    assert_eq!((&unknown["error"]["code"], ids.len()), (&json!("unknown-edit"), 3));
}

#[test]
fn a_named_edit_is_taken_back_and_the_newest_only_when_that_is_said() {
    let (folder, ids) = edited();
    let before = folder.tree();
    emend(&folder, &["undo"]).ends(2);
    assert_eq!(emend(&folder, &["undo", "--json"]).ends(2).document()["error"]["code"], "wrong-usage");
    let refused = emend(&folder, &["undo", &ids[0], "--json"]).ends(1).document();
    assert_eq!(refused["error"]["code"], "undo-conflict");
    assert_eq!(folder.tree(), before);
    // The newest by anybody, then what was before it: an undo is none of these.
    let undone = emend(&folder, &["undo", "--yes", "--json"]).ends(0).document();
    assert_eq!((folder.text("b.txt"), undone["changed_files"].clone()), ("bee\n".into(), json!(["b.txt"])));
    emend(&folder, &["undo", "--yes"]).ends(0);
    assert_eq!(folder.text("a.txt"), "two\n");
    emend(&folder, &["undo", &ids[0]]).ends(0);
    assert_eq!(folder.text("a.txt"), "one\n");
    assert_eq!(
        emend(&folder, &["undo", "--yes", "--json"]).ends(1).document()["error"]["code"],
        "unknown-edit"
    );
    // An undo is an edit.
    emend(&folder, &["undo", undone["edit"].as_str().unwrap()]).ends(0);
    assert_eq!(folder.text("b.txt"), "BEE\n");
    let edits = log(&folder, &["b.txt"]);
    assert_eq!((&edits[0]["client"], &edits[0]["undoes"]), (&json!("emend undo"), &edits[1]["edit"]));
}

#[test]
fn on_a_terminal_a_person_sees_what_would_change_and_is_asked() {
    let (folder, ids) = edited();
    let before = folder.tree();
    for no in ["n\n", "\n", "\u{4}"] {
        let ran = on_terminal(&folder, &["undo"], no).ends(1);
        assert!(ran.out.contains(&ids[2]) && ran.out.contains("\x1b[32m+bee\x1b[0m"), "{ran:?}");
        assert_eq!(folder.tree(), before);
    }
    on_terminal(&folder, &["undo"], "y\n").ends(0);
    assert_eq!(folder.text("b.txt"), "bee\n");
    let refused = on_terminal(&folder, &["undo", &ids[0]], "y\n").ends(1);
    assert!(refused.out.contains("[undo-conflict]") && !refused.out.contains("Take it back?"), "{refused:?}");
    on_terminal(&folder, &["undo", "--yes", "--color", "never"], "").ends(0);
    assert_eq!(folder.text("a.txt"), "two\n");
}

/// Whoever says --yes thinks of what they saw last, which may be the edit that they have changed back.
#[test]
fn an_edit_that_was_taken_back_by_hand_is_passed_over_only_before_the_eyes_of_a_person() {
    let (folder, ids) = edited();
    folder.write("b.txt", "bee\n");
    let before = folder.tree();
    for command in [&["undo", "--yes"][..], &["undo", "--yes", "--json"]] {
        let refused = emend(&folder, command).ends(1);
        let told = format!("{}{}", refused.out, refused.log);
        assert!(told.contains(&ids[2]) && told.contains(&format!("emend undo {}", ids[1])), "{told}");
    }
    let shown = on_terminal(&folder, &["undo"], "n\n").ends(1).out;
    let (passed, meant) = (shown.find(&ids[2]).unwrap(), shown.find(&ids[1]).unwrap());
    assert!(passed < meant && shown.contains("passed over"), "{shown}");
    assert_eq!(folder.tree(), before);
    on_terminal(&folder, &["undo"], "y\n").ends(0);
    assert_eq!(folder.text("a.txt"), "two\n");
    emend(&folder, &["undo", &ids[0]]).ends(0);
}

#[test]
fn what_a_file_holds_cannot_steer_the_terminal() {
    let folder = Folder::with([("a.txt", "one\n")]);
    launch(&folder).legacy().replace("a.txt", "one", "\u{1b}]0;title\u{7}").ok();
    let screen = on_terminal(&folder, &["show"], "").ends(0).out;
    assert!(screen.contains("+\\u{1b}]0;title\\u{7}"), "{screen}");
    // For a program it is what it is.
    assert!(emend(&folder, &["show"]).ends(0).out.contains("+\u{1b}]0;title\u{7}"));
}

#[test]
fn what_a_file_is_called_makes_no_lines_of_its_own() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let name = "x\n1affff  now, write_file by a-person\n@@ -0,0 +1 @@\n+harmless";
    let made = serve(&folder).call("write_file", json!({"path": name, "content": "evil\n"})).ok();
    let id = made.structured["edit"].as_str().unwrap().to_owned();
    assert!(!made.text.contains("\n1affff") && !made.text.contains("\n+harmless"), "{}", made.text);
    for command in [&["log"][..], &["show"], &["diff"], &["undo", "--dry-run", &id], &["show", "none"]] {
        let ran = on_terminal(&folder, &[command, &["--color", "never"]].concat(), "");
        assert!(ran.out.contains("a-person"), "{ran:?}");
        let is_forged = |line: &str| line.starts_with("1affff") || line.starts_with("+harmless");
        assert!(!ran.out.lines().any(is_forged), "{ran:?}");
    }
}

#[test]
fn nothing_was_edited_yet() {
    let folder = Folder::with([("a.txt", "one\n")]);
    assert!(log(&folder, &[]).is_empty());
    emend(&folder, &["log"]).ends(0);
    for command in [&["show", "--json"][..], &["diff", "--json"], &["undo", "--yes", "--json"]] {
        assert_eq!(emend(&folder, command).ends(1).document()["error"]["code"], "unknown-edit");
    }
}

#[test]
fn what_is_not_there_is_not_said_to_be_empty() {
    let (folder, ids) = edited();
    for (command, named) in [
        (&["diff", "--session", "nosuch"][..], "nosuch"),
        (&["diff", "--client", "nosuch"], "nosuch"),
        (&["show", "nosuch"], &ids[2]),
        (&["undo", "nosuch"], &ids[2]),
    ] {
        let refused = emend(&folder, &[command, &["--json"]].concat()).ends(1).document();
        assert_eq!(refused["error"]["code"], "unknown-edit");
        let told = emend(&folder, command).ends(1).log;
        assert!(
            told.contains(named) && !told.contains("This session") && !told.contains("\"edit\""),
            "{told}"
        );
    }
    emend(&folder, &["log", "--limit", "0"]).ends(2);
}

#[test]
fn the_past_of_a_closed_folder_is_not_said_to_be_empty() {
    let (folder, ids) = edited();
    folder.write(".emend.toml", "nonsense = 1\n");
    for command in
        [&["log"][..], &["show"], &["show", &ids[0]], &["diff"], &["undo", "--yes"], &["undo", &ids[0]]]
    {
        let refused = emend(&folder, &[command, &["--json"]].concat()).ends(1).document();
        assert_eq!(refused["error"]["code"], "invalid-policy", "{command:?}");
    }
}

#[test]
fn what_is_off_limits_by_now_is_not_told_of() {
    let (folder, ids) = edited();
    folder.write(".emend.toml", "forbidden_paths = ['b.txt']\n");
    assert_eq!(log(&folder, &[]).len(), 2);
    let shown = emend(&folder, &["show", &ids[2]]).ends(0).out;
    assert!(!shown.contains("bee") && !shown.contains("b.txt"), "{shown}");
    let refused = emend(&folder, &["undo", &ids[2], "--json"]).ends(1).document();
    assert_eq!(refused["error"]["code"], "path-forbidden");
}

#[test]
fn a_path_that_is_no_file_and_was_none_is_refused() {
    let (folder, _) = edited();
    folder.write("never.txt", "x\n");
    for command in ["log", "diff"] {
        emend(&folder, &[command, "nosuch"]).ends(1);
        let refused = emend(&folder, &[command, "nosuch", "--json"]).ends(1).document();
        assert_eq!(refused["error"]["code"], "unknown-edit", "{command}");
        emend(&folder, &[command, "never.txt"]).ends(0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_edit_that_cannot_be_shown_is_said_to_be_made() {
    let folder =
        Folder::with([("a.txt", "one\n"), ("p.diff", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n")]);
    let ran = Command::new(&folder, &["apply", "p.diff"]).run_into_full_device().ends(3);
    assert_eq!(folder.text("a.txt"), "two\n");
    let edit = log(&folder, &[])[0]["edit"].as_str().unwrap().to_owned();
    assert!(ran.log.contains(&edit), "{ran:?}");
}

#[test]
fn the_log_has_diffs_and_times_where_they_are_wanted() {
    let (folder, ids) = edited();
    let shown = emend(&folder, &["log", "-p", "--since", "1h"]).ends(0).out;
    let at = |text: &str| shown.find(text).unwrap_or_else(|| panic!("{text}: {shown}"));
    assert!(at(&ids[2]) < at("+BEE") && at("+BEE") < at(&ids[1]) && at("+three") < at(&ids[0]));
    assert_eq!(log(&folder, &["--since", "2999-01-01"]), [] as [Value; 0]);
    let none = emend(&folder, &["log", "--since", "2999-01-01"]).ends(0).out;
    assert!(none.contains("there are older ones"), "{none}");
    emend(&folder, &["log", "--since", "yesterday"]).ends(2);
    assert_eq!(emend(&folder, &["diff", "--session"]).ends(0).out, emend(&folder, &["diff"]).ends(0).out);
}

#[test]
fn a_diff_names_the_function_around_a_hunk_and_is_a_patch() {
    let body: String = (1..=9).map(|line| format!("    {line}();\n")).collect();
    let folder = Folder::with([("a.rs", &format!("fn first() {{}}\n\nfn second() {{\n{body}}}\n"))]);
    let mut client = serve(&folder);
    let answer = client.replace("a.rs", "8()", "eight()").ok();
    assert!(!answer.text.contains("@@ fn second()"), "a model knows where it edits: {}", answer.text);
    for command in ["diff", "show"] {
        let shown = emend(&folder, &[command]).ends(0).out;
        assert!(shown.contains("@@ -8,6 +8,6 @@ fn second() {\n"), "{shown}");
    }
    let diff = emend(&folder, &["diff", "--json"]).ends(0).document()["diff"].as_str().unwrap().to_owned();
    Command::new(&folder, &["apply", "-R"]).input(diff).run().ends(0);
    assert!(folder.text("a.rs").contains("    8();"));
}

#[test]
fn a_shell_completes_the_ids_of_edits_and_sessions() {
    let (folder, ids) = edited();
    let offered = |words: &[&str]| {
        let words = [&["--", "emend"], words].concat();
        Command::new(&folder, &words).variable("EMEND_COMPLETE", "fish").run().ends(0).out
    };
    let shown = offered(&["undo", ""]);
    let lines: Vec<&str> = shown.lines().take(3).map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(lines, [&*ids[2], &*ids[1], &*ids[0]]);
    assert!(offered(&["undo", &ids[1]]).starts_with(&ids[1]));
    // Where a file or a folder is meant, those that are there.
    let patch = folder.at("fix.patch").display().to_string();
    folder.write("fix.patch", "");
    assert!(offered(&["apply", &patch[..patch.len() - 3]]).contains("fix.patch"));
    let around = folder.at("").display().to_string();
    let within = around.trim_end_matches('/');
    assert!(offered(&["log", "--workspace", &within[..within.len() - 1]]).contains(within));
    let session = log(&folder, &[])[0]["session"].as_str().unwrap().to_owned();
    assert!(offered(&["diff", "--session", ""]).contains(&session));
}
