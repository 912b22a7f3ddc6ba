//! Diagnostics: the answer to an edit, or the next one, has what language servers report. Whatever a server does, the
//! edit is the same. The server is a fake, which finds an error in each line with `BAD`.

#![cfg(unix)]

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use emend_testkit::{Answer, Client, Folder, Launch, language_server};
use serde_json::{Value, json};

use crate::launch;

/// A server of this workspace, with the language server of the tests and these settings.
fn with(folder: &Folder, settings: &str, habits: &[&str]) -> Launch {
    let command = language_server::command(&folder.beside("log"), habits);
    let mut text = format!("{settings}\n[language_servers.fake]\nextensions = ['fake']\n");
    writeln!(text, "command = {}", json!(command)).unwrap();
    let file = folder.beside("config.toml");
    std::fs::write(&file, text).unwrap();
    launch(folder).argument("--config").argument(file).configured()
}

/// The same, whose answers wait as long as it takes.
fn patient(folder: &Folder, habits: &[&str]) -> Client {
    with(folder, "diagnostics_wait = 60", habits).legacy()
}

/// What the one server says in this answer.
fn said(answer: &Answer) -> Value {
    answer.structured["diagnostics"][0].clone()
}

/// Makes a harmless call until its answer says this.
fn hear(client: &mut Client, wanted: &str) -> String {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let text = client.call("list_files", json!({})).text;
        if text.contains(wanted) {
            return text;
        }
        assert!(Instant::now() < until, "it is not told: {text}");
    }
}

/// How often the server of the tests was started.
fn starts(folder: &Folder) -> usize {
    let log = std::fs::read_to_string(folder.beside("log")).unwrap_or_default();
    log.lines().filter(|line| line.starts_with("start ")).count()
}

#[test]
fn files_for_which_there_is_no_server_keep_none_from_being_asked_about() {
    let others: Vec<String> = (0..60).map(|number| format!("a{number}.txt")).collect();
    let folder = Folder::with([("z.fake", "BAD\n")]);
    let mut client = patient(&folder, &[]);
    client.read("z.fake");
    for file in &others {
        folder.write(file, "one\n");
        client.read(file);
    }
    let text = client.call("diagnostics", json!({})).text;
    assert!(text.contains("z.fake:1:1: error: BAD"), "{text}");
}

#[test]
fn the_answer_to_an_edit_names_the_errors_that_it_brought_and_counts_those_that_went() {
    let folder = Folder::with([("a.fake", "one\nBAD old\nthree\n")]);
    let mut client = patient(&folder, &[]);
    let answer = client.replace("a.fake", "one", "one\nBAD new").ok();
    let says = said(&answer);
    assert_eq!((&says["server"], &says["state"]), (&json!("fake"), &json!("ready")));
    let new = &says["new"];
    assert_eq!(new.as_array().map(Vec::len), Some(1), "the old one is not told again");
    assert_eq!((&new[0]["path"], &new[0]["line"]), (&json!("a.fake"), &json!(2)));
    assert_eq!((&new[0]["severity"], &new[0]["message"]), (&json!("error"), &json!("BAD new")));
    assert_eq!((&says["gone"], &says["errors"], &says["warnings"]), (&json!(0), &json!(2), &json!(0)));
    assert!(answer.text.contains("a.fake:2:1: error: BAD new"), "{}", answer.text);
    assert_eq!(answer.structured["side_effects_fired"], json!(["history", "diagnostics"]));
    let mended = client.replace("a.fake", "BAD new\n", "").ok();
    let says = said(&mended);
    assert_eq!((&says["new"], &says["gone"], &says["errors"]), (&json!([]), &json!(1), &json!(1)));
    // The same for whole files, moves and undo.
    let written = client.call("write_file", json!({"path": "b.fake", "content": "BAD\nDUBIOUS\n"})).ok();
    let severities: Vec<_> =
        said(&written)["new"].as_array().unwrap().iter().map(|one| one["severity"].clone()).collect();
    assert_eq!(severities, [json!("error"), json!("warning")]);
    let undone = client.call("undo_edit", json!({})).ok();
    assert_eq!(said(&undone)["gone"], 2);
    assert_eq!(starts(&folder), 1, "one server for all of it");
}

#[test]
fn what_is_not_said_in_time_is_told_by_the_next_answer() {
    let folder = Folder::with([("a.fake", "one\n")]);
    let mut client = with(&folder, "diagnostics_wait = 0", &[]).legacy();
    let answer = client.replace("a.fake", "one", "BAD").ok();
    assert_eq!(said(&answer)["state"], "pending");
    let edit = answer.structured["edit"].as_str().unwrap().to_owned();
    let told = hear(&mut client, &edit);
    assert!(told.contains("a.fake:1:1: error: BAD"), "{told}");
    let again = client.call("list_files", json!({})).text;
    assert!(!again.contains(&edit), "it is told once: {again}");
}

#[test]
fn what_is_not_said_in_time_is_an_event() {
    let folder = Folder::with([("a.fake", "one\n")]);
    let mut client = with(&folder, "diagnostics_wait = 0\nemit_event = true", &[]).legacy();
    let edit = client.replace("a.fake", "one", "BAD").ok().structured["edit"].clone();
    let events = crate::protocol::events::kept_once(&folder, 2);
    assert_eq!((&events[0]["type"], &events[1]["type"]), (&json!("edit"), &json!("diagnostics")));
    let said = &events[1]["diagnostics"];
    assert_eq!((&said["edit"], &said["changed_files"]), (&edit, &json!(["a.fake"])));
    assert_eq!(said["servers"][0]["new"][0]["message"], "BAD");
    let listed = client.request("resources/read", json!({"uri": "emend://events?after=1"})).unwrap();
    assert!(listed["contents"][0]["text"].as_str().unwrap().contains("\"type\":\"diagnostics\""));
}

#[test]
fn a_server_that_dies_is_told_and_survived() {
    let folder = Folder::with([("a.fake", "one\n")]);
    let mut client = patient(&folder, &[]);
    let died = client.replace("a.fake", "one", "DIE").ok();
    assert_eq!(said(&died)["state"], "crashed");
    assert!(said(&died)["why"].as_str().unwrap().contains("cannot be borne"));
    assert_eq!(folder.text("a.fake"), "DIE\n");
    // It is left alone for a moment.
    let until = Instant::now() + Duration::from_secs(60);
    let mut text = "DIE".to_owned();
    loop {
        let next = if text == "BAD" { "BAD too" } else { "BAD" };
        let answer = client.replace("a.fake", &text, next).ok();
        text = next.to_owned();
        assert_eq!(folder.text("a.fake"), format!("{text}\n"));
        if said(&answer)["state"] == "ready" {
            assert!(answer.text.contains("error: BAD"));
            break;
        }
        assert!(Instant::now() < until, "it stays away: {}", answer.text);
    }
}

#[test]
fn a_server_that_misbehaves_changes_nothing_about_the_edit() {
    for word in ["HANG", "RUBBISH", "HUGE", "FLOOD", "COMPLAIN"] {
        let folder = Folder::with([("a.fake", "one\n")]);
        let mut client = with(&folder, "diagnostics_wait = 0.05", &[]).legacy();
        client.replace("a.fake", "one", word).ok();
        assert_eq!(folder.text("a.fake"), format!("{word}\n"));
        for (old, new) in [(word, "two"), ("two", "three")] {
            client.replace("a.fake", old, new).ok();
        }
        assert_eq!(folder.text("a.fake"), "three\n", "{word}");
        client.close();
    }
}

#[test]
fn the_tool_says_what_is_wrong_now_or_why_a_server_says_nothing() {
    let folder = Folder::with([("a.fake", "BAD\n"), ("b.fake", "fine\n"), ("c.txt", "BAD\n")]);
    let mut client = patient(&folder, &[]);
    let mut ask = |paths: &Value| client.call("diagnostics", paths.clone()).text;
    let all = ask(&json!({"paths": ["a.fake", "b.fake"]}));
    assert!(all.contains("a.fake:1:1: error: BAD") && !all.contains("b.fake:"), "{all}");
    assert!(ask(&json!({"paths": ["c.txt"]})).contains("c.txt"));
    assert!(ask(&json!({})).contains("paths"), "nothing was read yet");
    client.read("a.fake");
    let known = client.call("diagnostics", json!({})).text;
    assert!(known.contains("a.fake:1:1"), "{known}");
    // One that is not there keeps none of the others from being asked about.
    let others = client.call("diagnostics", json!({"paths": ["none.fake", "a.fake"]})).text;
    assert!(others.contains("none.fake") && others.contains("a.fake:1:1"), "{others}");
    // What was edited is known as well.
    client.replace("b.fake", "fine", "BAD").ok();
    let known = client.call("diagnostics", json!({})).text;
    assert!(known.contains("a.fake:1:1") && known.contains("b.fake:1:1"), "{known}");
}

#[test]
fn servers_that_are_not_there_or_not_wanted_are_told_of_plainly() {
    let folder = Folder::with([("a.fake", "one\n"), ("a.py", "x = 1\n"), ("a.go", "package a\n")]);
    let file = folder.beside("config.toml");
    let text = "[language_servers.fake]\ncommand = ['no-such-server']\nextensions = ['fake']\n\
                [language_servers.pyright]\nenabled = false\n";
    std::fs::write(&file, text).unwrap();
    let launch = launch(&folder).argument("--config").argument(file).configured();
    let mut client = launch.variable("PATH", "/nowhere").legacy();
    let mut ask = |path: &str| client.call("diagnostics", json!({"paths": [path]})).text;
    assert!(ask("a.fake").contains("fake is not installed"));
    assert!(ask("a.py").contains("pyright is disabled"));
    assert!(ask("a.go").contains("gopls is not installed"));
    let answer = client.replace("a.py", "x", "y").ok();
    assert_eq!(answer.structured["side_effects_fired"], json!(["history"]));
    assert!(answer.structured.get("diagnostics").is_none());
}

#[test]
fn no_server_is_started_where_nobody_wants_it_or_from_inside_the_workspace() {
    let folder = Folder::with([("a.fake", "one\n")]);
    for (flag, text) in [("--notify-lsp=false", ""), ("--notify-lsp", "notify_lsp = false\n")] {
        folder.write(".emend.toml", text);
        let mut client = with(&folder, "", &[]).argument(flag).legacy();
        let answer = client.replace("a.fake", "one", "one ").ok();
        assert!(answer.structured.get("diagnostics").is_none());
        assert!(client.call("diagnostics", json!({"paths": ["a.fake"]})).text.contains("notify_lsp"));
        client.replace("a.fake", "one ", "one").ok();
    }
    folder.write(".emend.toml", "");
    let inside = folder.at("server");
    std::fs::copy(language_server::program(), &inside).unwrap();
    let mut command = language_server::command(&folder.beside("log"), &[]);
    command[0] = inside.display().to_string();
    let text = format!("[language_servers.fake]\nextensions = ['fake']\ncommand = {}\n", json!(command));
    let file = folder.beside("config.toml");
    std::fs::write(&file, text).unwrap();
    let mut client = launch(&folder).argument("--config").argument(file).configured().legacy();
    client.replace("a.fake", "one", "two").ok();
    let text = client.call("diagnostics", json!({"paths": ["a.fake"]})).text;
    assert!(text.contains("inside"), "{text}");
    // A workspace's own file names no programs.
    folder.write(".emend.toml", std::fs::read_to_string(folder.beside("config.toml")).unwrap());
    let mut client = launch(&folder).legacy();
    client.replace("a.fake", "two", "three").ok();
    assert_eq!(starts(&folder), 0);
}

#[test]
fn with_the_session_its_servers_end() {
    let folder = Folder::with([("a.fake", "one\n")]);
    let mut client = patient(&folder, &["has-child"]);
    client.replace("a.fake", "one", "two").ok();
    let log = std::fs::read_to_string(folder.beside("log")).unwrap();
    client.close();
    for line in log.lines().filter(|line| line.starts_with("start ") || line.starts_with("child ")) {
        let process = line.split(' ').nth(1).unwrap();
        let until = Instant::now() + Duration::from_secs(60);
        while Path::new("/proc").join(process).exists() {
            assert!(Instant::now() < until, "{line} runs on");
            std::thread::yield_now();
        }
    }
}

#[test]
fn diagnostics_are_a_resource_that_can_be_subscribed_to() {
    let folder = Folder::with([("a.fake", "one\n")]);
    let launch = with(&folder, "diagnostics_wait = 60", &[]);
    let uri = "emend://diagnostics";
    for is_modern in [false, true] {
        folder.write("a.fake", "one\n");
        let mut client = if is_modern { launch.modern() } else { launch.legacy() };
        if is_modern {
            client.listen(&json!({"resourceSubscriptions": [uri]}));
        } else {
            client.request("resources/subscribe", json!({"uri": uri})).unwrap();
        }
        client.replace("a.fake", "one", "BAD").ok();
        assert_eq!(client.notified("notifications/resources/updated")["uri"], uri);
        let read = client.request("resources/read", json!({"uri": uri})).unwrap();
        let says: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
        let found = &says["servers"][0]["now"][0];
        assert_eq!((&found["path"], &found["line"]), (&json!("a.fake"), &json!(1)), "{says}");
        client.close();
    }
}

#[test]
fn servers_are_told_of_what_others_change() {
    let folder = Folder::with([("a.fake", "one\n"), ("b.fake", "one\n")]);
    let mut client = patient(&folder, &[]);
    client.read("b.fake");
    client
        .request("resources/subscribe", json!({"uri": format!("file://{}", folder.at("b.fake").display())}))
        .unwrap();
    client.replace("a.fake", "one", "two").ok();
    folder.write("b.fake", "BAD\n");
    let until = Instant::now() + Duration::from_secs(60);
    while !std::fs::read_to_string(folder.beside("log")).unwrap().contains("event b.fake") {
        assert!(Instant::now() < until, "nobody tells the server");
        std::thread::yield_now();
    }
}
