//! What language servers offer to do about errors, as previews. The server is a fake.

#![cfg(unix)]

use emend_testkit::{Client, Folder, Launch, language_server};
use serde_json::json;

use crate::launch;

fn configured(folder: &Folder, habits: &[&str]) -> Launch {
    let habits: Vec<&str> = habits.iter().copied().chain(["fixes"]).collect();
    let command = language_server::command(&folder.beside("log"), &habits);
    let text = format!(
        "diagnostics_wait = 60\n[language_servers.fake]\nextensions = ['fake']\ncommand = {}\n",
        json!(command)
    );
    let file = folder.beside("config.toml");
    std::fs::write(&file, text).unwrap();
    launch(folder).argument("--config").argument(file).configured()
}

fn listed(client: &mut Client) -> String {
    client.call("diagnostics", json!({"paths": ["a.fake"], "fixes": true})).ok().text
}

/// The handle of the change with this title.
fn handle(listed: &str, title: &str) -> String {
    let after = listed.split(title).nth(1).unwrap_or_else(|| panic!("no {title}: {listed}"));
    let line = after.lines().find(|line| line.starts_with("apply_preview")).unwrap();
    line.split('"').nth(3).unwrap().to_owned()
}

#[test]
fn a_fix_is_listed_with_its_diff_and_made_as_one_edit_with_one_undo() {
    for is_modern in [false, true] {
        for title in ["Call it GOOD", "Call it FINE", "Sort the lines"] {
            let folder = Folder::with([("a.fake", "x\r\nis BAD\r\n")]);
            let before = folder.tree();
            let launch = configured(&folder, &[]);
            let mut client = if is_modern { launch.modern() } else { launch.legacy() };
            let text = listed(&mut client);
            assert!(text.contains("\nFix of a.fake:2:4: Call it GOOD (fake)\napply_preview"), "{text}");
            assert!(text.contains("\n-is BAD\r\n+is GOOD\r\n"), "{text}");
            assert_eq!(folder.tree(), before);
            let answer = client.call("apply_preview", json!({"preview": handle(&text, title)})).ok();
            let expected = match title {
                "Call it GOOD" => "x\r\nis GOOD\r\n",
                "Call it FINE" => "x\r\nis FINE\r\n",
                _ => "is BAD\r\nx\r\n",
            };
            assert_eq!(folder.text("a.fake"), expected);
            let says = &answer.structured["diagnostics"][0];
            let gone = usize::from(title != "Sort the lines");
            assert_eq!((&says["state"], &says["gone"]), (&json!("ready"), &json!(gone)));
            client.call("undo_edit", json!({"edit": answer.structured["edit"]})).ok();
            assert_eq!(folder.tree(), before);
        }
    }
}

#[test]
fn a_fix_is_the_one_that_was_shown_or_none() {
    let folder = Folder::with([("a.fake", "is BAD\n")]);
    let mut client = configured(&folder, &[]).legacy();
    let text = listed(&mut client);
    let (good, fine) = (handle(&text, "Call it GOOD"), handle(&text, "Call it FINE"));
    let edit = client.call("apply_preview", json!({"preview": good})).ok().structured["edit"].clone();
    // The same call again is the same edit, and another fix was of another version.
    let again = client.call("apply_preview", json!({"preview": good})).ok();
    assert_eq!(again.structured["edit"], edit);
    client.call("apply_preview", json!({"preview": fine})).refused("stale-preview");
    assert_eq!(folder.text("a.fake"), "is GOOD\n");
    folder.write("a.fake", "this is BAD\n");
    let text = listed(&mut client);
    folder.write("a.fake", "that is BAD\n");
    client.call("apply_preview", json!({"preview": handle(&text, "Call it GOOD")})).refused("stale-preview");
    assert_eq!(folder.text("a.fake"), "that is BAD\n");
}

#[test]
fn what_is_more_than_an_edit_of_the_workspace_is_not_to_be_had() {
    let folder = Folder::with([("a.fake", "is BAD\n")]);
    let mut client = configured(&folder, &[]).legacy();
    let text = listed(&mut client);
    assert!(
        text.contains("Install a package (fake)\nNot to be had here: it would run the command install.\n"),
        "{text}"
    );
    assert!(text.contains("Change another project (fake)\nNot to be had here: "), "{text}");
    assert!(!text.contains("somewhere"), "{text}");
    assert!(!text.contains("Extract a function"), "only what mends something: {text}");
    let log = std::fs::read_to_string(folder.beside("log")).unwrap();
    assert!(!log.contains("executeCommand"), "{log}");
}

#[test]
fn fixes_are_listed_of_named_files_and_obey_the_policy() {
    let folder = Folder::with([("a.fake", "is BAD\n")]);
    let mut client = configured(&folder, &[]).legacy();
    client.call("diagnostics", json!({"fixes": true})).refused("invalid-argument");
    let text = client.call("diagnostics", json!({"paths": ["a.fake"]})).ok().text;
    assert!(!text.contains("Fix of"), "{text}");
    drop(client);
    let mut client = configured(&folder, &[]).argument("--mode=read-only").legacy();
    let text = listed(&mut client);
    assert!(!text.contains("apply_preview"), "{text}");
    drop(client);
    let mut client = crate::serve(&folder);
    let text = listed(&mut client);
    assert!(text.contains("Language servers are not asked here"), "{text}");
}
