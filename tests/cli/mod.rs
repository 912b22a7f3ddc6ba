//! The command line: `emend apply`, `emend preview`, and what all commands have in common. The other modules for the
//! command line use [`Command`] from here, which runs to its end.

#[cfg(unix)]
mod choosing;
mod demo;
mod doctor;
#[cfg(unix)]
mod ending;
mod events;
mod history;
mod hook;
mod init;
mod log;
#[cfg(unix)]
mod patches;
mod prefer;
#[cfg(unix)]
mod projects;
mod review;
#[cfg(feature = "otel")]
mod telemetry;
#[cfg(unix)]
mod undoing;

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{self, Stdio};

use emend_testkit::{Folder, client};
use serde_json::{Value, json};

use crate::EMEND;

/// A command in the workspace of a folder, with a home folder and a state folder beside it.
pub(crate) struct Command {
    command: process::Command,
    input: Vec<u8>,
}

/// A command that has ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) log: String,
}

impl Command {
    pub(crate) fn new(folder: &Folder, arguments: &[&str]) -> Self {
        let mut command = emend_testkit::command(EMEND);
        command
            .env("TERM", "xterm")
            .env("HOME", folder.beside("home"))
            .env("EMEND_STATE_DIR", folder.state());
        command.args(arguments).current_dir(folder.path());
        Self { command, input: Vec::new() }
    }

    pub(crate) fn variable(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn inside(mut self, path: PathBuf) -> Self {
        self.command.current_dir(path);
        self
    }

    pub(crate) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    pub(crate) fn run(mut self) -> Ran {
        self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = self.command.spawn().unwrap();
        // Whoever does not read it has ended.
        let _ = child.stdin.take().unwrap().write_all(&self.input);
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code().unwrap(), out: text(output.stdout), log: text(output.stderr) }
    }
}

#[cfg(target_os = "linux")]
impl Command {
    /// Runs it with nowhere to show anything but errors.
    pub(crate) fn run_into_full_device(mut self) -> Ran {
        self.command
            .stdin(Stdio::null())
            .stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
        let output = self.command.stderr(Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        Ran { code: output.status.code().unwrap(), out: String::new(), log }
    }
}

/// Runs a command on a terminal where somebody types this. All that it says is on the screen.
#[cfg(unix)]
pub(crate) fn on_terminal(folder: &Folder, arguments: &[&str], typed: &str) -> Ran {
    let (status, out) = emend_testkit::at_terminal(&mut Command::new(folder, arguments).command, typed);
    Ran { code: status.code().unwrap(), out, log: String::new() }
}

impl Ran {
    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn ends(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// What was shown, which must be one JSON document.
    #[track_caller]
    pub(crate) fn document(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Runs a command in the workspace of a folder.
pub(crate) fn emend(folder: &Folder, arguments: &[&str]) -> Ran {
    Command::new(folder, arguments).run()
}

const UNIFIED: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n";

#[test]
fn a_patch_from_a_file_or_from_standard_input_is_applied() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    fs::write(folder.beside("p.diff"), UNIFIED).unwrap();
    let before = folder.tree();
    let shown = emend(&folder, &["preview", "../p.diff"]).ends(0);
    assert_eq!(folder.tree(), before);
    assert!(
        shown.out.starts_with("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n\n")
            && shown.out.ends_with("\n1 file changed, +1 -1\n"),
        "{shown:?}"
    );
    let applied = emend(&folder, &["apply", "../p.diff"]).ends(0);
    assert_eq!(folder.text("a.txt"), "one\nTWO\n");
    assert!(applied.out.contains("M a.txt"), "{applied:?}");
    let mut last = applied.out.lines().rev();
    assert!(last.next().unwrap().contains("emend undo "), "{applied:?}");
    assert_eq!(last.next(), Some("1 file changed, +1 -1"));
    assert_eq!(applied.log, "");

    let v4a = client::patch("*** Update File: a.txt\n@@\n-one\n+ONE\n*** Add File: b/c.txt\n+new");
    Command::new(&folder, &["apply"]).input(v4a).run().ends(0);
    assert_eq!((folder.text("a.txt"), folder.text("b/c.txt")), ("ONE\nTWO\n".into(), "new\n".into()));
    // The name of the file, and the format, where the patch has none.
    let bare = "@@ -1 +1 @@\n-new\n+newer\n";
    Command::new(&folder, &["apply", "-", "--path", "b/c.txt", "--format", "unified"])
        .input(bare)
        .run()
        .ends(0);
    assert_eq!(folder.text("b/c.txt"), "newer\n");
}

#[test]
fn a_document_is_the_outcome_of_the_wire() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let run = |command: &str| Command::new(&folder, &[command, "--json"]).input(UNIFIED).run();
    let shown = run("preview").ends(0).document();
    assert_eq!(shown["changed_files"], json!(["a.txt"]));
    assert_eq!(shown.get("edit"), None);
    let applied = run("apply").ends(0).document();
    assert_eq!(applied["changed_files"], json!(["a.txt"]));
    assert_eq!(applied["files"][0]["change"], "modify");
    assert_eq!(applied["diff"], shown["diff"]);
    assert_eq!(applied["edit"].as_str().unwrap().len(), 19);
    let refused = run("apply").ends(1).document();
    assert_eq!(refused["error"]["code"], "hunk-context-mismatch");
    assert_eq!(refused["problems"][0]["path"], "a.txt");
}

#[test]
fn what_is_refused_changes_nothing_and_says_so_by_its_exit_code() {
    let folder =
        Folder::with([("a.txt", "other\n"), (".env", "two\n"), (".emend.toml", "read_only = ['ro/']\n")]);
    folder.write("ro/a.txt", "one\ntwo\n");
    let before = folder.everything();
    for (patch, code) in [
        (UNIFIED.to_owned(), "hunk-context-mismatch"),
        (UNIFIED.replace("a.txt", "gone.txt"), "missing-original"),
        (UNIFIED.replace("a.txt", ".env"), "path-forbidden"),
        (UNIFIED.replace("a.txt", "ro/a.txt"), "read-only"),
        (client::patch("*** Delete File: a.txt"), "not-read"),
        ("no patch".to_owned(), "invalid-format"),
        (String::new(), "invalid-format"),
    ] {
        let ran = Command::new(&folder, &["apply", "--json"]).input(patch.as_bytes()).run().ends(1);
        assert_eq!(ran.document()["error"]["code"], code, "{patch}");
        let ran = Command::new(&folder, &["apply"]).input(patch).run().ends(1);
        assert!(ran.out.is_empty() && ran.log.ends_with(&format!("[{code}]\n")), "{ran:?}");
    }
    assert_eq!(folder.everything(), before);
}

#[test]
fn a_whole_file_goes_only_by_its_version() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let delete = || client::patch("*** Delete File: a.txt");
    let refused = Command::new(&folder, &["apply", "--json"]).input(delete()).run().ends(1).document();
    let version = refused["problems"][0]["current_version"].as_str().unwrap().to_owned();
    let wrong = ["apply", "--json", "--versions", "a.txt=0123456789ab"];
    let refused = Command::new(&folder, &wrong).input(delete()).run().ends(1).document();
    assert_eq!(refused["error"]["code"], "stale-file");
    let versions = format!("a.txt={version}");
    Command::new(&folder, &["apply", "--versions", &versions]).input(delete()).run().ends(0);
    assert!(!folder.has("a.txt"));
}

#[test]
fn a_refusal_names_flags_as_a_person_gives_them() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let apply = |patch: &str, flags: &[&str]| {
        Command::new(&folder, &[&["apply"], flags].concat()).input(patch).run().ends(1).log
    };
    let fence = "Some words.\n\n```\nred\n```\n\nMore words.\n";
    let told = apply(fence, &["--path", "a.txt"]);
    assert!(told.contains("--format whole") && !told.contains("format: "), "{told}");
    let delete = client::patch("*** Delete File: a.txt");
    for flags in [&[][..], &["--versions", "a.txt=0123456789ab"], &["--require-read"]] {
        let told = apply(&delete, flags);
        let (_, version) = told.split_once("--versions a.txt=").unwrap_or_else(|| panic!("{told}"));
        assert!(version.len() >= 12 && !told.contains("read_file"), "{told}");
    }
    let told = apply("2d\n", &["--path", "a.txt", "--format", "ed"]);
    assert!(told.contains("--versions a.txt=") && !told.contains("send"), "{told}");
}

#[test]
fn a_mode_holds_for_people_as_for_clients() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let before = folder.tree();
    let code = |arguments: &[&str]| {
        let ran = Command::new(&folder, arguments).input(UNIFIED).run().ends(1);
        ran.document()["error"]["code"].as_str().unwrap().to_owned()
    };
    assert_eq!(code(&["apply", "--json", "--mode", "preview"]), "read-only");
    assert_eq!(code(&["apply", "--json", "--mode", "read-only"]), "read-only");
    assert_eq!(code(&["preview", "--json", "--mode", "read-only"]), "read-only");
    Command::new(&folder, &["preview", "--mode", "preview"]).input(UNIFIED).run().ends(0);
    assert_eq!(folder.tree(), before);
}

#[cfg(unix)]
#[test]
fn an_edit_that_needs_approval_waits_for_a_person() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let apply = || Command::new(&folder, &["apply", "--json", "--mode", "ask"]).input(UNIFIED).run();
    assert_eq!(apply().ends(1).document()["error"]["code"], "approval-needed");
    let waiting = emend(&folder, &["approve", "--json"]).ends(0).document();
    let id = waiting[0]["id"].as_str().unwrap();
    assert_eq!(waiting[0]["client"], "emend apply");
    emend(&folder, &["approve", id]).ends(2);
    on_terminal(&folder, &["approve", id], "y\n").ends(0);
    let approved = emend(&folder, &["approve", "--json"]).ends(0).document();
    assert_eq!((&approved[0]["approved"], &approved[0]["denied"]), (&json!(true), &json!(false)));
    assert!(emend(&folder, &["approve"]).ends(0).out.contains(", approved"));
    apply().ends(0);
    assert_eq!(folder.text("a.txt"), "one\nTWO\n");
}

#[cfg(unix)]
#[test]
fn whoever_applies_a_patch_at_a_terminal_is_asked_right_there() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    fs::write(folder.beside("p.diff"), UNIFIED).unwrap();
    let apply = ["apply", "../p.diff", "--mode", "ask"];
    let told = emend(&folder, &apply).ends(1).log;
    assert!(told.contains("needs your approval") && told.contains("emend approve "), "{told}");
    for no in ["n\n", "\n", "\u{4}"] {
        let ran = on_terminal(&folder, &apply, no).ends(1);
        assert!(ran.out.contains("+TWO"), "{ran:?}");
        assert_eq!(folder.text("a.txt"), "one\ntwo\n");
    }
    on_terminal(&folder, &apply, "y\n").ends(0);
    assert_eq!(folder.text("a.txt"), "one\nTWO\n");
    on_terminal(&folder, &["undo", "--yes", "--mode", "ask"], "n\n").ends(1);
    on_terminal(&folder, &["undo", "--yes", "--mode", "ask"], "y\n").ends(0);
    assert_eq!(folder.text("a.txt"), "one\ntwo\n");
}

#[test]
fn wrong_usage_has_a_code_of_its_own() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    fs::write(folder.beside("config.toml"), "modus = 'ask'").unwrap();
    for arguments in [
        &["apply", "--json", "../gone.diff"][..],
        &["apply", "--json", "--config", "../config.toml"],
        &["apply", "--json", "--config", "../gone.toml"],
        &["apply", "--json", "--workspace", "../nowhere"],
        &["apply", "--json", "--log", "a=b=c"],
        &["apply", "--json", "--log", "nonsense"],
    ] {
        let ran = Command::new(&folder, arguments).input(UNIFIED).run().ends(2);
        assert_eq!(ran.document()["error"]["code"], "wrong-usage", "{arguments:?}");
    }
    for arguments in [
        &["apply", "--json", "--format", "latin"][..],
        &["log", "--json", "--limit", "x"],
        &["init", "--json"],
        &["--json", "log"],
    ] {
        let ran = emend(&folder, arguments).ends(2);
        assert_eq!(ran.document()["error"]["code"], "wrong-usage", "{arguments:?}");
    }
    for arguments in [&["aply"][..], &["apply", "--format", "latin"], &["apply", "--versions", "x"]] {
        let ran = emend(&folder, arguments).ends(2);
        assert!(ran.out.is_empty() && !ran.log.is_empty());
    }
    let state = folder.at("a.txt").display().to_string();
    let ran = emend(&folder, &["approve", "--json", "--state-dir", &state]);
    assert!(ran.code != 0 && ran.document()["error"]["code"].is_string(), "{ran:?}");
    assert_eq!(folder.text("a.txt"), "one\ntwo\n");
    // The home folder is too much to open unasked.
    fs::create_dir(folder.beside("home")).unwrap();
    let ran = Command::new(&folder, &["apply", "--json"]).inside(folder.beside("home")).input(UNIFIED).run();
    assert_eq!(ran.ends(1).document()["error"]["code"], "no-workspace");
}

#[cfg(unix)]
#[test]
fn a_patch_that_is_no_text_is_refused() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let ran = Command::new(&folder, &["apply", "--json"]).input(b"\x00\x01\xff".as_slice()).run().ends(1);
    assert_eq!(ran.document()["error"]["code"], "not-text");
    // As some shells write it.
    let utf_16: Vec<u8> =
        std::iter::once(0xfeff).chain(UNIFIED.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    Command::new(&folder, &["apply"]).input(utf_16).run().ends(0);
    assert_eq!(folder.text("a.txt"), "one\nTWO\n");
}

/// A diff over files of two encodings, as git makes it, is in neither of them.
#[test]
fn a_patch_whose_encoding_would_be_guessed_is_refused() {
    let (latin, utf_8) = (b"caf\xe9\ntwo\nna\xefve \xe0 la\n", "one\ntwo\n");
    let folder = Folder::with([("a.txt", utf_8)]);
    folder.write("b.txt", latin);
    let of_both = b"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+\xc3\xa9t\xc3\xa9\n\
        --- a/b.txt\n+++ b/b.txt\n@@ -1,3 +1,3 @@\n caf\xe9\n-two\n+deux\n na\xefve \xe0 la\n";
    let of_one = b"--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+\xe9t\xe9\n";
    for patch in [&of_both[..], of_one] {
        let ran = Command::new(&folder, &["apply", "--json"]).input(patch).run().ends(1);
        assert_eq!(ran.document()["error"]["code"], "not-text");
        folder.write("tmp.diff", patch);
        let mut client = crate::serve(&folder);
        client.call("apply_patch", json!({"patch_path": "tmp.diff"})).refused("not-text");
    }
    assert_eq!((folder.read("a.txt"), folder.read("b.txt")), (utf_8.into(), latin.to_vec()));
}

#[test]
fn colours_are_shown_where_they_are_wanted() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let run = |arguments: &[&str]| Command::new(&folder, arguments).input(UNIFIED).run().ends(0).out;
    assert!(!run(&["preview"]).contains('\x1b'));
    assert!(!run(&["preview", "--color", "never"]).contains('\x1b'));
    assert!(run(&["preview", "--color", "always"]).contains("\x1b[32m+TWO\x1b[0m\n"));
    assert!(!run(&["preview", "--color", "always", "--json"]).contains('\x1b'));
    // What is asked for goes before what holds in general.
    let asked = Command::new(&folder, &["preview", "--color", "always"]).variable("NO_COLOR", "1");
    assert!(asked.input(UNIFIED).run().ends(0).out.contains('\x1b'));
    let piped = Command::new(&folder, &["preview"]).variable("CLICOLOR_FORCE", "1");
    assert!(piped.input(UNIFIED).run().ends(0).out.contains('\x1b'));
}

#[test]
#[cfg(unix)]
fn a_terminal_that_knows_no_colours_gets_none() {
    let folder = Folder::new();
    let shown = |terminal: &str| {
        let mut command = Command::new(&folder, &["doctor"]).variable("TERM", terminal).command;
        emend_testkit::at_terminal(&mut command, "").1
    };
    assert!(shown("xterm").contains("\x1b["));
    assert!(!shown("dumb").contains("\x1b["));
}

#[test]
fn a_reader_that_stops_reading_changes_nothing_about_the_end() {
    let folder = Folder::new();
    let lines: String = (0..50_000).map(|number| format!("+line {number}\n")).collect();
    let mut command = Command::new(&folder, &["apply"]).command;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let patch = client::patch(&format!("*** Add File: a.txt\n{lines}"));
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(patch.as_bytes()).unwrap();
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!((child.wait().unwrap().code(), log.as_str()), (Some(0), ""));
    assert!(folder.has("a.txt"));
}

#[cfg(unix)]
#[test]
fn a_reader_of_what_waits_may_stop_reading() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    Command::new(&folder, &["apply", "--mode", "ask"]).input(UNIFIED).run().ends(1);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(&folder, &["approve"]).command;
    let output = command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}

#[cfg(unix)]
#[test]
fn no_command_fails_where_nobody_reads_what_it_shows() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    Command::new(&folder, &["apply"]).input(UNIFIED).run().ends(0);
    for arguments in [
        &["log"][..],
        &["log", "--json"],
        &["show"],
        &["show", "--request"],
        &["diff"],
        &["events", "--after", "0"],
        &["init", "cursor", "--dry-run"],
        &["init", "cursor", "--yes"],
        &["completions", "bash"],
        &["approve"],
        &["doctor", "--json"],
        &["demo"],
        &["undo", "--yes"],
        &["--help"],
        &["--version"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(&folder, arguments).command;
        let output = command.stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        // What a doctor finds depends on the machine.
        let ended_well =
            output.status.code() == Some(0) || arguments[0] == "doctor" && output.status.code() == Some(1);
        assert!(ended_well && log.is_empty(), "{arguments:?}: {}, {log}", output.status);
    }
    assert_eq!(folder.text("a.txt"), "one\ntwo\n");
}

#[test]
fn the_help_has_the_commands_and_the_exit_codes() {
    let folder = Folder::new();
    let help = emend(&folder, &["--help"]).ends(0).out;
    for part in [
        "apply",
        "preview",
        "log",
        "show",
        "diff",
        "undo",
        "redo",
        "init",
        "completions",
        "doctor",
        "serve",
        "demo",
        "Exit codes:",
    ] {
        assert!(help.contains(part), "{help}");
    }
}
