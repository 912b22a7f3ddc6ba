//! The log: on standard error, as text or as JSON, with a span for each step of an edit and no content of files.

use std::collections::BTreeSet;

use emend_testkit::Folder;
use serde_json::Value;

use crate::cli::Command;
use crate::launch;

const PATCH: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-secret one\n+secret two\n";

/// The lines of a log in JSON.
#[track_caller]
fn lines(log: &str) -> Vec<Value> {
    let line = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    log.lines().map(line).collect()
}

/// The spans that end in a log.
fn spans(lines: &[Value]) -> Vec<&Value> {
    let ends = lines.iter().filter(|line| line["fields"]["message"] == "close");
    ends.map(|line| &line["span"]).collect()
}

#[test]
fn the_spans_of_an_edit_are_logged_as_json_and_nothing_else_is_on_standard_output() {
    let folder = Folder::with([("a.txt", "secret one\n")]);
    let ran = Command::new(&folder, &["apply", "--json", "--log", "debug", "--log-json"])
        .input(PATCH)
        .run()
        .ends(0);
    let document = ran.document();
    let log = lines(&ran.log);
    let spans = spans(&log);
    let names: Vec<&str> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["parse", "plan", "commit"]);
    assert_eq!((&spans[0]["tool"], &spans[1]["paths"]), (&"apply_patch".into(), &1.into()));
    assert_eq!(spans[2]["edit"], document["edit"]);
    assert!(!ran.log.contains("secret"), "{}", ran.log);
}

#[test]
fn a_refusal_is_logged_with_its_code() {
    let folder = Folder::with([("a.txt", "other\n")]);
    let ran =
        Command::new(&folder, &["apply", "--json", "--log=debug", "--log-json"]).input(PATCH).run().ends(1);
    let log = lines(&ran.log);
    let plan = spans(&log).into_iter().find(|span| span["name"] == "plan").unwrap();
    assert_eq!(plan["code"], "hunk-context-mismatch");
}

#[test]
fn a_server_logs_the_same_of_a_call_and_how_it_ended() {
    let folder = Folder::with([("a.txt", "secret one\n")]);
    let mut client = launch(&folder).argument("--log-json").variable("EMEND_LOG", "debug").legacy();
    client.replace("a.txt", "secret one", "secret two").ok();
    client.replace("a.txt", "secret three", "secret two").refused("search-not-found");
    let (_, log) = client.close();
    let log_lines = lines(&log);
    let spans = spans(&log_lines);
    let names: BTreeSet<&str> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["commit", "edit", "parse", "plan"].into());
    let calls = spans.iter().filter(|span| span["name"] == "edit" && span["code"].is_string());
    let codes: Vec<&str> = calls.map(|span| span["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["ok", "search-not-found"]);
    assert!(log_lines.iter().any(|line| line["fields"]["code"] == "search-not-found"), "{log}");
    assert!(!log.contains("secret"), "{log}");
}

#[test]
fn nothing_is_logged_unasked() {
    let folder = Folder::with([("a.txt", "secret one\n")]);
    assert_eq!(Command::new(&folder, &["apply"]).input(PATCH).run().ends(0).log, "");
    // A warning is, unless it is not wanted: this file cannot loosen anything.
    folder.write(".emend.toml", "forbidden_paths = ['!.env']\n");
    let warned = |arguments: &[&str]| !Command::new(&folder, arguments).input(PATCH).run().log.is_empty();
    assert!(warned(&["preview", "--path", "a.txt"]));
    let ran = Command::new(&folder, &["preview", "--log", "off"])
        .input("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-secret two\n+x\n");
    assert_eq!(ran.run().ends(0).log, "");
}
