//! `rename_symbol` and `move_file` with a language server. The server is a fake, whose symbols are words.

#![cfg(unix)]

use emend_testkit::{Answer, Client, Folder, language_server};
use serde_json::{Value, json};

use crate::launch;

fn with(folder: &Folder, habits: &[&str]) -> Client {
    let habits: Vec<&str> = habits.iter().copied().chain(["renames"]).collect();
    let command = language_server::command(&folder.beside("log"), &habits);
    let text = format!(
        "diagnostics_wait = 60\n[language_servers.fake]\nextensions = ['fake']\ncommand = {}\n",
        json!(command)
    );
    let file = folder.beside("config.toml");
    std::fs::write(&file, text).unwrap();
    launch(folder).argument("--config").argument(file).configured().legacy()
}

fn rename(client: &mut Client, place: &Value, new_name: &str) -> Answer {
    let mut arguments = json!({"path": "a.fake", "new_name": new_name});
    arguments.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
    client.call("rename_symbol", arguments)
}

fn files() -> Folder {
    Folder::with([("a.fake", "one old\n"), ("b.fake", "old two old\r\n"), ("README.md", "of old\n")])
}

#[test]
fn a_symbol_has_its_new_name_in_all_files_as_one_edit_with_one_undo() {
    let folder = files();
    let before = folder.tree();
    let mut client = with(&folder, &[]);
    let answer = rename(&mut client, &json!({"symbol": "old"}), "new").ok();
    assert_eq!(folder.text("a.fake"), "one new\n");
    assert_eq!(folder.text("b.fake"), "new two new\r\n");
    assert_eq!(folder.text("README.md"), "of old\n");
    assert!(answer.text.contains("Renamed by fake in 3 places of 2 files\n"), "{}", answer.text);
    assert!(
        answer.text.contains("Mentions of old that stay: 1 in other files (README.md:1)\n"),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("does not say whether it has read all"), "{}", answer.text);
    assert_eq!(answer.structured["diagnostics"][0]["state"], "ready");
    let edit = answer.structured["edit"].as_str().unwrap().to_owned();
    client.call("undo_edit", json!({"edit": edit})).ok();
    assert_eq!(folder.tree(), before);
}

#[test]
fn a_renaming_is_previewed_with_numbered_hunks_and_made_in_part() {
    let folder = files();
    let before = folder.tree();
    let mut client = with(&folder, &[]);
    let asked = json!({"tool": "rename_symbol", "path": "a.fake", "symbol": "old", "new_name": "new"});
    let preview = client.call("edit_preview", asked).ok();
    assert_eq!(folder.tree(), before);
    let handle = preview.structured["preview"].as_str().unwrap().to_owned();
    client.call("apply_preview", json!({"preview": handle, "hunks": [1, 3]})).ok();
    assert_eq!(
        (folder.text("a.fake"), folder.text("b.fake")),
        ("one new\n".into(), "old two new\r\n".into())
    );
}

#[test]
fn a_file_that_the_server_has_not_seen_is_shown_to_it_before_its_places_count() {
    let folder = files();
    let mut client = with(&folder, &[]);
    client.read("b.fake");
    rename(&mut client, &json!({"symbol": "two"}), "three").refused("invalid-argument");
    // The server knows b.fake from the disk only, and another program has changed it meanwhile.
    folder.write("b.fake", "longer old two old\r\n");
    rename(&mut client, &json!({"symbol": "old"}), "new").ok();
    assert_eq!(folder.text("b.fake"), "longer new two new\r\n");
}

#[test]
fn a_file_moves_with_its_symbol() {
    let folder = Folder::with([("a.fake", "use old\n"), ("old.fake", "x\n")]);
    let mut client = with(&folder, &["moves"]);
    let answer = rename(&mut client, &json!({"symbol": "old"}), "new").ok();
    assert_eq!(folder.text("a.fake"), "use new\n");
    assert_eq!(folder.text("new.fake"), "x\n");
    assert!(!folder.at("old.fake").exists());
    assert!(answer.text.contains("in 1 place of 1 file, and by moving 1 file"), "{}", answer.text);
}

#[test]
fn an_edit_that_cannot_be_trusted_changes_nothing() {
    for (habit, said) in [
        ("unsteady", "answers differently each time"),
        ("misplaces", "do not hold the name"),
        ("writes-more", "do not hold the name"),
        ("lags", "for another text"),
        ("repeats", "not the one that the call names"),
        ("leaves-the-root", "a file outside of the workspace"),
        ("creates", "also wants to create a file"),
        ("die-at-start", "fake is crashed"),
    ] {
        let folder = files();
        let before = folder.tree();
        let mut client = with(&folder, &[habit]);
        let answer = rename(&mut client, &json!({"symbol": "old"}), "new").refused("language-server");
        assert!(answer.text.contains(said), "{habit}: {}", answer.text);
        assert_eq!(folder.tree(), before, "{habit}");
    }
}

#[test]
fn a_server_that_counts_columns_in_other_units_changes_nothing() {
    // The fake counts bytes, and says that it counts as UTF-16 does.
    for text in ["é old x\n", "\"😀\" + old(x)\n", "😀 old  old\n"] {
        let folder = Folder::with([("a.fake", text)]);
        let mut client = with(&folder, &[]);
        let answer = rename(&mut client, &json!({"symbol": "old", "line": 1}), "new");
        let code = if text.ends_with("old  old\n") { "invalid-argument" } else { "language-server" };
        answer.refused(code);
        assert_eq!(folder.text("a.fake"), text);
    }
}

#[test]
fn a_new_name_that_breaks_the_file_or_that_something_else_has_is_refused() {
    let text = "def old():\n    pass\n\n\ndef taken():\n    old()\n\n\nclass A:\n    def free(self):\n        pass\n";
    let folder = Folder::with([("a.py", text)]);
    let command = language_server::command(&folder.beside("log"), &["renames"]);
    let settings = format!("[language_servers.fake]\nextensions = ['py']\ncommand = {}\n", json!(command));
    let file = folder.beside("config.toml");
    std::fs::write(&file, settings).unwrap();
    let mut client = launch(&folder).argument("--config").argument(file).configured().legacy();
    let mut asked =
        |name: &str| client.call("rename_symbol", json!({"path": "a.py", "symbol": "old", "new_name": name}));
    let refused = asked("taken").refused("invalid-argument");
    assert!(refused.text.contains("function taken stands in line 5 already"), "{}", refused.text);
    let refused = asked("class").refused("invalid-argument");
    assert!(refused.text.contains("would not be valid any more"), "{}", refused.text);
    assert_eq!(folder.text("a.py"), text);
    asked("free").ok();
    assert_eq!(folder.text("a.py"), text.replace("old", "free"));
}

#[test]
fn servers_that_do_not_agree_change_nothing() {
    for (second, is_refused) in
        [(&["renames", "sees-one-file"][..], true), (&["renames"], false), (&[], false)]
    {
        let folder = files();
        let settings: String = [("one", &["renames"][..]), ("two", second)]
            .map(|(name, habits)| {
                let command = json!(language_server::command(&folder.beside(name), habits));
                format!("[language_servers.{name}]\nextensions = ['fake']\ncommand = {command}\n")
            })
            .concat();
        let file = folder.beside("config.toml");
        std::fs::write(&file, settings).unwrap();
        let mut client = launch(&folder).argument("--config").argument(file).configured().legacy();
        let answer = rename(&mut client, &json!({"symbol": "old"}), "new");
        if is_refused {
            let answer = answer.refused("language-server");
            assert!(answer.text.contains("one and two propose different edits"), "{}", answer.text);
        } else {
            answer.ok();
            assert_eq!(folder.text("b.fake"), "new two new\r\n");
        }
    }
}

#[test]
fn a_server_that_leaves_more_code_than_it_changes_does_not_see_the_project() {
    let folder = files();
    let before = folder.tree();
    let mut client = with(&folder, &["sees-one-file"]);
    let answer = rename(&mut client, &json!({"symbol": "old"}), "new").refused("language-server");
    assert!(
        answer.text.contains("old stands in 2 more places of code (b.fake:1, b.fake:1)"),
        "{}",
        answer.text
    );
    assert!(answer.text.contains("despite_mentions"), "{}", answer.text);
    assert_eq!(folder.tree(), before);
    rename(&mut client, &json!({"symbol": "old", "despite_mentions": true}), "new").ok();
    assert_eq!(
        (folder.text("a.fake"), folder.text("b.fake")),
        ("one new\n".into(), "old two old\r\n".into())
    );
}

#[test]
fn a_name_is_found_by_line_and_column_and_refused_where_it_is_not_one() {
    let folder = Folder::with([("a.fake", "old = old\nother\n")]);
    let before = folder.tree();
    let mut client = with(&folder, &[]);
    for (place, said) in [
        (json!({"symbol": "old"}), "stands in line 1 more than once; give line = 1 and the column: 1 or 7"),
        (json!({"symbol": "old", "line": 2}), "old does not stand in line 2: other"),
        (json!({"symbol": "old", "line": 9}), "the file has no line 9"),
        (json!({"line": 1}), "it is required with line"),
        (json!({"line": 1, "column": 5}), "no name stands at column 5"),
        (json!({"symbol": "x", "line": 1, "column": 8}), "at column 8 of line 1 stands old"),
        (json!({}), "it is required, or line and column"),
    ] {
        let answer = rename(&mut client, &place, "new").refused("invalid-argument");
        assert!(answer.text.contains(said), "{place}: {}", answer.text);
    }
    for name in ["a b", "", "1a", "a.b", "old", "a-b"] {
        rename(&mut client, &json!({"line": 1, "column": 1}), name).refused("invalid-argument");
    }
    rename(&mut client, &json!({"line": 1, "column": 1, "version": "000000000000"}), "new")
        .refused("stale-file");
    assert_eq!(folder.tree(), before);
    rename(&mut client, &json!({"line": 1, "column": 8}), "new").ok();
    assert_eq!(folder.text("a.fake"), "new = new\nother\n");
}

#[test]
fn without_a_server_it_is_said_what_could_be_done_instead() {
    let folder = Folder::with([("a.txt", "old\n"), ("a.fake", "old\n")]);
    let mut client = with(&folder, &[]);
    let asked = json!({"path": "a.txt", "symbol": "old", "new_name": "new"});
    let answer = client.call("rename_symbol", asked).refused("language-server");
    assert!(answer.text.contains("replace_in_files with whole_words"), "{}", answer.text);
    let mut client = crate::serve(&folder);
    let answer = rename(&mut client, &json!({"symbol": "old"}), "new").refused("language-server");
    assert!(answer.text.contains("replace_in_files"), "{}", answer.text);
}

#[test]
fn a_renaming_that_is_sent_again_is_made_once() {
    let folder = files();
    let mut client = with(&folder, &[]);
    let edit = rename(&mut client, &json!({"symbol": "old"}), "new").ok().structured["edit"].clone();
    let again = rename(&mut client, &json!({"symbol": "old"}), "new").ok();
    assert_eq!(again.structured["edit"], edit);
}

#[test]
fn what_imports_a_moved_file_changes_in_the_same_edit() {
    let folder = Folder::with([
        ("a.fake", "x\n"),
        ("b.fake", "use a\r\nuse c\r\n"),
        ("README.md", "see a.fake, and a fake\n"),
    ]);
    let before = folder.tree();
    let mut client = with(&folder, &[]);
    let answer = client.call("move_file", json!({"from": "a.fake", "to": "d.fake"})).ok();
    assert_eq!(folder.text("d.fake"), "x\n");
    assert_eq!(folder.text("b.fake"), "use d\r\nuse c\r\n");
    assert!(!folder.at("a.fake").exists());
    assert!(answer.text.contains("\nfake changes 1 place with the move\n"), "{}", answer.text);
    assert!(answer.text.contains("\n1 line may still name the old path: README.md:1\n"), "{}", answer.text);
    client.call("undo_edit", json!({})).ok();
    assert_eq!(folder.tree(), before);
    let moves = json!([{"tool": "str_replace", "path": "b.fake", "old_string": "use c", "new_string": "use e"},
        {"tool": "move_file", "from": "a.fake", "to": "d.fake"}]);
    let answer = client.call("edit_files", json!({"edits": moves})).ok();
    assert!(answer.text.contains("What imports a.fake was not changed"), "{}", answer.text);
    assert_eq!(folder.text("b.fake"), "use a\r\nuse e\r\n", "a part of an edit moves alone");
}

#[test]
fn a_server_that_fails_keeps_no_file_from_moving() {
    for (habit, said) in
        [("leaves-the-root", ""), ("die-at-start", "The file moves alone: No language server has given")]
    {
        let folder = Folder::with([("a.fake", "x\n"), ("b.fake", "use a\n")]);
        let mut client = with(&folder, &[habit]);
        let answer = client.call("move_file", json!({"from": "a.fake", "to": "d.fake"})).ok();
        assert!(folder.at("d.fake").exists() && !folder.at("a.fake").exists());
        assert!(answer.text.contains(said), "{}", answer.text);
    }
}

#[test]
fn a_server_that_is_a_little_off_changes_nothing_with_a_move() {
    let folder = Folder::with([("a.fake", "x\n"), ("b.fake", "use a\r\nuse c\r\n")]);
    let mut client = with(&folder, &["misplaces"]);
    let answer = client.call("move_file", json!({"from": "a.fake", "to": "d.fake"})).ok();
    assert!(answer.text.contains("The file moves alone: The language server would change more than paths"));
    assert_eq!((folder.text("b.fake"), folder.text("d.fake")), ("use a\r\nuse c\r\n".into(), "x\n".into()));
}

#[test]
fn what_a_move_leaves_is_told_by_the_new_path() {
    let module = "from .models import Order\nimport lo😀go\n# pricing.py\n";
    let folder = Folder::with([("shop/pricing.py", module), ("shop/cli.py", "from .pricing import total\n")]);
    let mut client = crate::serve(&folder);
    let asked = json!({"from": "shop/pricing.py", "to": "shop/core/pricing.py"});
    let answer = client.call("move_file", asked).ok();
    let said = "No import was changed with the move. 2 lines may still name the old path: shop/cli.py:1, \
                shop/core/pricing.py:3\n";
    assert!(answer.text.contains(said), "{}", answer.text);
    let said = "1 line of the moved file imports by a path from its old folder: shop/core/pricing.py:1";
    assert!(answer.text.contains(said), "{}", answer.text);
    let folder = Folder::with([("lo😀go<1>.txt", "x\n"), ("README.md", "lo😀go<1>.txt\n")]);
    let mut client = crate::serve(&folder);
    let answer = client.call("move_file", json!({"from": "lo😀go<1>.txt", "to": "b.txt"})).ok();
    assert!(answer.text.contains("1 line may still name the old path: README.md:1"), "{}", answer.text);
}
