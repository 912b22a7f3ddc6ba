//! `find_symbol`, with a language server and without. The server is a fake, whose symbols are words.

#![cfg(unix)]

use emend_testkit::{Client, Folder, language_server};
use serde_json::{Value, json};

use crate::launch;

fn with(folder: &Folder, habits: &[&str]) -> Client {
    let habits: Vec<&str> = habits.iter().copied().chain(["finds"]).collect();
    let command = language_server::command(&folder.beside("log"), &habits);
    let text = format!("[language_servers.fake]\nextensions = ['fake']\ncommand = {}\n", json!(command));
    let file = folder.beside("config.toml");
    std::fs::write(&file, text).unwrap();
    launch(folder).argument("--config").argument(file).configured().legacy()
}

fn files() -> Folder {
    Folder::with([
        ("a.fake", "def old x\nuse old\n"),
        ("b.fake", "use old old\r\nimpl old\r\n"),
        ("c.py", "# old\ndef old():\n    pass\n"),
        ("data.json", "{\"old\": 1}\n"),
    ])
}

fn found(client: &mut Client, asked: Value) -> String {
    client.call("find_symbol", asked).ok().text
}

#[test]
fn a_server_says_where_a_symbol_is_defined_meant_and_implemented() {
    let folder = files();
    let before = folder.tree();
    let mut client = with(&folder, &[]);
    let at = json!({"path": "b.fake:2:6"});
    let version = |client: &mut Client, name: &str| client.read(name).version();
    let (a, b) = (version(&mut client, "a.fake"), version(&mut client, "b.fake"));
    let text = found(&mut client, at.clone());
    assert_eq!(text, format!("1 definition in 1 file, from fake\na.fake · version {a}\n1: def old x\n"));
    let mut asked = at.clone();
    asked["want"] = json!("references");
    let text = found(&mut client, asked);
    let listed = format!(
        "5 references in 2 files, from fake\na.fake · version {a}\n1: def old x\n2: use old\n\nb.fake · version {b}\n1: use old old\n\
         2: impl old\n"
    );
    assert!(text.starts_with(&listed), "{text}");
    assert!(text.contains("\nold stands in 3 other places too, in comments"), "{text}");
    assert!(text.contains("\nfake does not say whether it has read all"), "{text}");
    let mut asked = at;
    asked["want"] = json!("implementations");
    assert!(found(&mut client, asked).starts_with("1 implementation in 1 file, from fake\nb.fake"));
    assert_eq!(folder.tree(), before);
}

#[test]
fn what_was_found_may_be_edited_by_its_lines_and_versions() {
    let folder = files();
    let mut client = with(&folder, &[]);
    let text = found(&mut client, json!({"path": "a.fake:1", "symbol": "old", "want": "references"}));
    let version = text.lines().find_map(|line| line.strip_prefix("b.fake · version ")).unwrap();
    let edit = json!({"path": "b.fake", "version": version, "start_line": 2, "end_line": 2, "new_text": "impl old too\n"});
    client.call("replace_lines", edit).ok();
    assert_eq!(folder.text("b.fake"), "use old old\r\nimpl old too\r\n");
}

#[test]
fn by_name_alone_servers_are_asked_for_their_languages_and_outlines_for_the_others() {
    let folder = files();
    let mut client = with(&folder, &[]);
    let text = found(&mut client, json!({"symbol": "old"}));
    assert!(text.starts_with("2 definitions in 2 files, from fake, and by name from outlines"), "{text}");
    assert!(text.contains("\n1: def old x\n") && text.contains("\n2: def old():\n"), "{text}");
    assert!(!text.contains("data.json"), "a key is no definition of code: {text}");
    let answer = client
        .call("find_symbol", json!({"symbol": "old", "want": "references"}))
        .refused("invalid-argument");
    assert!(
        answer.text.contains("several are called so; give path = path:line of one: a.fake:1, c.py:2"),
        "{}",
        answer.text
    );
    folder.write("c.py", "# old\n");
    let text = found(&mut client, json!({"symbol": "old", "want": "references"}));
    assert!(text.starts_with("5 references in 2 files, from fake\n"), "{text}");
    // A server that compares parts of names finds more than was asked for.
    folder.write("a.fake", "def older x\n");
    assert!(found(&mut client, json!({"symbol": "old"})).starts_with("No language server finds it. By name"));
}

#[test]
fn without_a_server_definitions_are_those_of_outlines_and_uses_are_not_guessed() {
    let folder = files();
    let mut client = crate::serve(&folder);
    let text = found(&mut client, json!({"symbol": "old"}));
    assert!(
        text.starts_with("No language server is here. By name from outlines: 1 definition in 1 file\nc.py"),
        "{text}"
    );
    let text = found(&mut client, json!({"path": "a.fake:2", "symbol": "old"}));
    assert!(text.starts_with("Language servers are not asked here"), "{text}");
    for want in ["references", "implementations"] {
        let asked = json!({"path": "a.fake:2", "symbol": "old", "want": want});
        let answer = client.call("find_symbol", asked).refused("language-server");
        assert!(answer.text.contains("search_text finds the lines that mention old"), "{}", answer.text);
    }
}

#[test]
fn what_may_not_be_read_is_counted_and_never_named() {
    let folder = files();
    folder.write(".env.fake", "def old secret\n");
    for habits in [&["leaves-the-root"][..], &[]] {
        let mut client = with(&folder, habits);
        let text = found(&mut client, json!({"path": "a.fake:1", "symbol": "old"}));
        let outside = 1 + habits.len();
        let (s, are) = if outside == 1 { ("", "is") } else { ("s", "are") };
        assert!(
            text.contains(&format!("\n{outside} place{s} {are} outside of what may be read here.\n")),
            "{text}"
        );
        assert!(!text.contains("secret") && !text.contains(".env") && !text.contains("else"), "{text}");
        // Which of two is meant is not known, even if only one may be named.
        client
            .call("find_symbol", json!({"symbol": "old", "want": "references"}))
            .refused("invalid-argument");
    }
}

#[test]
fn an_answer_that_is_not_about_these_texts_is_none() {
    for (habit, said) in [
        ("unsteady", "answers differently each time"),
        ("misplaces", "do not hold the name"),
        ("die-at-start", "fake is crashed"),
    ] {
        let folder = files();
        let mut client = with(&folder, &[habit]);
        let asked = json!({"path": "a.fake:1", "symbol": "old", "want": "references"});
        let answer = client.call("find_symbol", asked).refused("language-server");
        assert!(answer.text.contains(said), "{habit}: {}", answer.text);
    }
    // What another program has changed is shown to the server before its places count.
    let folder = files();
    let mut client = with(&folder, &[]);
    found(&mut client, json!({"path": "a.fake:1", "symbol": "old", "want": "references"}));
    folder.write("b.fake", "longer old\n");
    let text = found(&mut client, json!({"path": "a.fake:1", "symbol": "old", "want": "references"}));
    assert!(text.contains("\n1: longer old\n"), "{text}");
}

#[test]
fn what_names_no_symbol_is_refused_with_what_is_missing() {
    let folder = files();
    let mut client = with(&folder, &[]);
    for (asked, said) in [
        (json!({}), "it is required, or path:line"),
        (json!({"path": "a.fake:1"}), "it is required with line"),
        (json!({"symbol": "a."}), "it ends in no name"),
        (json!({"path": "a.fake:9", "symbol": "old"}), "the file has no line 9"),
        (json!({"path": "a.fake", "symbol": "gone"}), "gone does not stand in this file"),
        (json!({"symbol": "old", "want": "everything"}), "definition"),
    ] {
        let answer = client.call("find_symbol", asked.clone()).refused("invalid-argument");
        assert!(answer.text.contains(said), "{asked}: {}", answer.text);
    }
}
