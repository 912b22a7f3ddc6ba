//! Well-behaved and misbehaving servers. Each test starts the language server of testkit, which reports an error in
//! each line with `BAD`, and checks the reports of edits.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use emend_lsp::{
    Aftermath, Diagnostic, DiagnosticChanges, FileChange, LspSettings, ServerLimits, ServerReport,
    ServerSetting, ServerState, Servers, Severity,
};
use emend_testkit::language_server;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};

/// The timeout for what must happen.
const GENEROUS: Duration = Duration::from_secs(60);
/// The timeout for a server that will not answer anyway.
const SHORT: Duration = Duration::from_millis(300);
/// The timeout that runs out while something else must be finished, on a busy machine too.
const MODEST: Duration = Duration::from_secs(5);

/// Runs the language server of testkit in this test binary, as `emend_testkit::language_server` describes.
#[test]
fn serves_as_the_fake_language_server() {
    language_server::serve_if_started_as_server();
}

struct Scene {
    servers: Servers,
    folder: tempfile::TempDir,
    state: tempfile::TempDir,
}

impl Scene {
    fn new(habits: &[&str]) -> Self {
        Self::with_limits(habits, ServerLimits { back_off: Duration::ZERO, ..ServerLimits::default() })
    }

    fn with_limits(habits: &[&str], limits: ServerLimits) -> Self {
        let state = tempfile::tempdir().expect("a folder");
        let command = language_server::command(&state.path().join("log"), habits);
        Self::with_command(command, state, limits)
    }

    fn with_command(command: Vec<String>, state: tempfile::TempDir, limits: ServerLimits) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let fake = ServerSetting {
            name: "fake".into(),
            command: Some(command),
            extensions: vec!["fake".into()],
            options: Some(serde_json::json!({"fake": {"part": 5}})),
            ..ServerSetting::default()
        };
        let settings = LspSettings {
            roots: vec![folder.path().to_owned()],
            untrusted: Vec::new(),
            servers: vec![fake],
            search: Some("/nowhere".into()),
            limits,
        };
        Self { servers: Servers::new(settings), folder, state }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn change(&self, name: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
        let content = |text: Option<&str>| {
            let text = text?.to_owned();
            Some(Box::new(move || text) as Box<dyn FnOnce() -> String + Send>)
        };
        FileChange { path: self.path(name), before: content(before), after: content(after) }
    }

    /// Makes an edit and returns its final report.
    fn edit(&self, changes: Vec<FileChange>) -> ServerReport {
        let pending = self.servers.notify_edit(changes).expect("the files concern the server");
        only(pending.wait(Instant::now() + GENEROUS).expect("it is known in the end"))
    }

    fn edit_one(&self, before: &str, after: &str) -> ServerReport {
        self.edit(vec![self.change("a.fake", Some(before), Some(after))])
    }

    fn changes(&self, before: &str, after: &str) -> DiagnosticChanges {
        changes(self.edit_one(before, after))
    }

    /// Edits to this text and returns why the server crashed.
    fn crash(&self, after: &str) -> String {
        match self.edit_one("one\n", after).state {
            ServerState::Crashed { why, .. } => why,
            other => panic!("{other:?}"),
        }
    }

    fn state(&self) -> ServerState {
        let states = self.servers.list();
        states.into_iter().find(|state| state.server == "fake").expect("it is known").state
    }

    /// Returns the log of what the servers have received.
    fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.state.path().join("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Waits for a log entry with these words, and returns what follows them.
    fn await_log(&self, words: &str) -> String {
        let deadline = Instant::now() + GENEROUS;
        loop {
            let log = self.log();
            if let Some(found) = log.iter().find_map(|line| line.strip_prefix(words)) {
                return found.trim().to_owned();
            }
            assert!(Instant::now() < deadline, "nobody was told '{words}', but {log:#?}");
            std::thread::yield_now();
        }
    }
}

fn only(aftermath: Aftermath) -> ServerReport {
    let [report] = aftermath.servers.try_into().expect("one server");
    report
}

fn changes(report: ServerReport) -> DiagnosticChanges {
    assert_eq!(report.state, ServerState::Ready);
    report.changes.expect("it is ready")
}

fn places(changes: &DiagnosticChanges) -> Vec<(u32, u32)> {
    changes.new.iter().map(|new| (new.line, new.column)).collect()
}

fn pid(written: &str) -> Pid {
    Pid::from_raw(written.parse().expect("a number")).expect("a process")
}

fn await_end(process: Pid) {
    let deadline = Instant::now() + GENEROUS;
    while test_kill_process(process).is_ok() {
        assert!(Instant::now() < deadline, "{process:?} lives");
        std::thread::yield_now();
    }
}

#[test]
fn an_edit_is_told_with_what_it_brought_and_what_went() {
    for habits in [&[][..], &["pull"], &["registers"], &["stale"]] {
        let scene = Scene::new(habits);
        let broken = scene.changes("one\n\ntwo\n", "one\n\n  😀 BAD two\nDUBIOUS\nHINT\n");
        let expected = Diagnostic {
            path: scene.path("a.fake"),
            line: 3,
            column: 5,
            severity: Severity::Error,
            message: "  😀 BAD two".into(),
            source: Some("fake".into()),
            code: Some("BAD".into()),
            related: Vec::new(),
        };
        assert_eq!(broken.new[0], expected);
        assert_eq!((places(&broken), broken.gone), (vec![(3, 5), (4, 1)], 0), "{habits:?}");
        assert_eq!((broken.errors, broken.warnings), (1, 1));
        let mended = scene.changes("one\n\n  😀 BAD two\nDUBIOUS\nHINT\n", "one\nnew\n\nDUBIOUS\nHINT\n");
        assert_eq!(
            (places(&mended), mended.gone, mended.errors, mended.warnings),
            (vec![], 1, 0, 1),
            "{habits:?}"
        );
        // Another program has changed the file meanwhile: earlier errors are not blamed on the edit.
        let other = scene.changes("BAD other\n", "BAD other\nBAD more\n");
        assert_eq!((places(&other), other.gone, other.errors), (vec![(2, 1)], 0, 2), "{habits:?}");
    }
}

#[test]
fn columns_are_counted_as_the_server_says_that_it_does() {
    // The server counts in UTF-16 all the same, so that the difference shows.
    let scene = Scene::new(&["utf-8"]);
    assert_eq!(places(&scene.changes("\n", "üü BAD\n")), [(1, 2)]);
}

#[test]
fn files_come_and_go() {
    let scene = Scene::new(&[]);
    let made = changes(scene.edit(vec![scene.change("new.fake", None, Some("BAD\n"))]));
    assert_eq!((places(&made), made.gone, made.errors), (vec![(1, 1)], 0, 1));
    scene.await_log("textDocument/didSave new.fake");
    let log = scene.log();
    let at = |words: &str| log.iter().position(|line| line == words).expect(words);
    assert!(at("event new.fake 1") < at("textDocument/didOpen new.fake"), "{log:?}");
    assert!(at("textDocument/didOpen new.fake") < at("textDocument/didSave new.fake"), "{log:?}");
    let moved =
        vec![scene.change("new.fake", Some("BAD\n"), None), scene.change("b.fake", None, Some("fine\n"))];
    let moved = changes(scene.edit(moved));
    assert_eq!((places(&moved), moved.gone, moved.errors), (vec![], 1, 0));
    scene.await_log("textDocument/didClose new.fake");
    scene.await_log("event new.fake 3");
}

#[test]
fn what_breaks_elsewhere_is_told_too() {
    let scene = Scene::new(&[]);
    scene.edit(vec![scene.change("b.fake", Some("one\n"), Some("two\n"))]);
    let broken = scene.changes("one\n", "BREAKS OTHERS\n");
    let paths: Vec<PathBuf> = broken.new.iter().map(|new| new.path.clone()).collect();
    assert_eq!((paths, broken.errors), (vec![scene.path("b.fake")], 0));
}

#[test]
fn what_breaks_in_a_file_that_is_not_open_is_told_unless_it_may_be_old() {
    let scene = Scene::new(&[]);
    assert_eq!(scene.changes("one\n", "BREAKS ELSEWHERE\n").new, []);
    let scene = Scene::new(&[]);
    scene.changes("one\n", "two\n");
    let broken = scene.changes("two\n", "BREAKS ELSEWHERE\n");
    let told: Vec<_> = broken.new.iter().map(|new| (new.path.clone(), new.severity)).collect();
    assert_eq!(told, [(scene.path("elsewhere"), Severity::Error)]);
}

#[test]
fn what_a_later_pass_finds_is_neither_new_nor_gone_and_yet_known() {
    let scene = Scene::new(&["passes"]);
    let broken = scene.changes("one\n", "DUBIOUS\nBAD\n");
    assert_eq!((places(&broken), broken.gone), (vec![(2, 1)], 0));
    let mended = scene.changes("DUBIOUS\nBAD\n", "DUBIOUS\nfine\n");
    assert_eq!((places(&mended), mended.gone), (vec![], 1));
    let answers = scene
        .servers
        .diagnose(&[(scene.path("a.fake"), "DUBIOUS\nfine\n".into())], Instant::now() + GENEROUS);
    assert_eq!(answers[0].diagnostics.len(), 1);
}

#[test]
fn a_new_file_is_not_clean_because_the_first_pass_found_nothing() {
    let scene = Scene::with_limits(
        &["passes"],
        ServerLimits { other_files: GENEROUS / 30, ..ServerLimits::default() },
    );
    let made = changes(scene.edit(vec![scene.change("new.fake", None, Some("DUBIOUS\n"))]));
    assert_eq!((places(&made), made.warnings), (vec![(1, 1)], 1));
}

#[test]
fn a_question_is_put_again_that_came_at_a_bad_moment() {
    let scene = Scene::new(&["pull"]);
    assert_eq!(places(&scene.changes("one\n", "MOMENT\nBAD\n")), [(2, 1)]);
}

#[test]
fn a_server_that_names_no_version_is_not_believed() {
    let scene = Scene::with_limits(&["unversioned"], ServerLimits { job: MODEST, ..ServerLimits::default() });
    for _ in 0..2 {
        let report = scene.edit_one("one\n", "BAD\n");
        assert!(
            matches!(&report.state, ServerState::Silent { why } if why.contains("version")),
            "{:?}",
            report.state
        );
        assert_eq!(report.changes, None);
    }
}

#[test]
fn a_server_that_hangs_holds_nobody_up() {
    let scene =
        Scene::with_limits(&["hang-at-start"], ServerLimits { initialize: SHORT, ..ServerLimits::default() });
    let pending = scene
        .servers
        .notify_edit(vec![scene.change("a.fake", Some("one\n"), Some("BAD\n"))])
        .expect("concerned");
    assert_eq!(pending.wait(Instant::now()), None);
    let (send, receive) = mpsc::channel();
    pending.on_done(move |aftermath| send.send(aftermath).expect("heard"));
    let report = only(receive.recv_timeout(GENEROUS).expect("told"));
    assert!(
        matches!(&report.state, ServerState::Crashed { why, .. } if why.contains("not ready")),
        "{:?}",
        report.state
    );

    let limits = ServerLimits { job: MODEST, back_off: Duration::ZERO, ..ServerLimits::default() };
    let scene = Scene::with_limits(&[], limits);
    assert!(scene.crash("HANG\n").contains("has not answered"));
    let after = scene.edit_one("one\n", "BAD\n");
    assert_eq!((after.crashed, places(&after.changes.expect("started again"))), (None, vec![(1, 1)]));
}

/// Whoever may change files in the workspace decides where such a link leads.
#[test]
fn no_server_is_started_by_a_link_in_the_workspace() {
    let scene = Scene::new(&[]);
    let fake = language_server::program();
    let outside = scene.state.path();
    let (link, folder) = (scene.path("link"), scene.path("folder"));
    symlink(&fake, &link).expect("linked");
    symlink(fake.parent().expect("a folder"), &folder).expect("linked");
    symlink(&link, outside.join("by_link")).expect("linked");
    symlink(&folder, outside.join("by_folder")).expect("linked");
    let in_folder = outside.join("by_folder").join(fake.file_name().expect("a name"));
    for program in [outside.join("by_link"), in_folder] {
        let mut command = language_server::command(&outside.join("log"), &[]);
        command[0] = program.to_str().expect("Unicode").to_owned();
        let fake = ServerSetting {
            name: "fake".into(),
            command: Some(command),
            extensions: vec!["fake".into()],
            ..ServerSetting::default()
        };
        let servers = Servers::new(LspSettings {
            roots: vec![scene.folder.path().to_owned()],
            untrusted: Vec::new(),
            servers: vec![fake],
            search: Some("/nowhere".into()),
            limits: ServerLimits::default(),
        });
        let state =
            servers.list().into_iter().find(|state| state.server == "fake").expect("it is known").state;
        assert!(matches!(state, ServerState::NotInstalled { .. }), "{}: {state:?}", program.display());
        let pending = servers.notify_edit(vec![scene.change("a.fake", Some("one\n"), Some("two\n"))]);
        assert!(pending.is_none(), "{}", program.display());
    }
}

#[test]
fn a_server_that_starts_says_so() {
    let scene = Scene::new(&["hang-at-start"]);
    assert_eq!(scene.state(), ServerState::Idle);
    let _dropped = scene.servers.notify_edit(vec![scene.change("a.fake", Some("one\n"), Some("two\n"))]);
    scene.await_log("initialize");
    assert_eq!(scene.state(), ServerState::Starting);
    let answers = scene.servers.diagnose(&[(scene.path("a.fake"), "BAD\n".into())], Instant::now());
    assert_eq!(answers[0].state, ServerState::Starting);
}

#[test]
fn whatever_a_server_writes_costs_that_server_alone() {
    let limits =
        ServerLimits { unprompted_bytes: 1 << 20, back_off: Duration::ZERO, ..ServerLimits::default() };
    let scene = Scene::with_limits(&[], limits);
    for (word, why) in [
        ("RUBBISH", "no message"),
        ("HUGE", "the limit"),
        ("FLOOD", "without end"),
        ("DIE", "exit status: 7; its last words: this text cannot be borne"),
    ] {
        // The server first reads the old text of an edit, so both texts are tried.
        let crash = scene.crash(word);
        assert!(crash.contains(why), "{word}: {crash}");
        let ServerState::Crashed { why: crash, .. } = scene.edit_one(word, "BAD\n").state else {
            panic!("{word}")
        };
        assert!(crash.contains(why), "{word}: {crash}");
    }
    assert_eq!(places(&scene.changes("one\n", "COMPLAIN\nBAD\n")), [(2, 1)]);
}

#[test]
fn a_server_that_can_say_nothing_any_more_is_ended() {
    let command = ["/bin/sh", "-c", "exec >&-; exec /bin/sleep 1000"].map(str::to_owned);
    let scene =
        Scene::with_command(command.into(), tempfile::tempdir().expect("a folder"), ServerLimits::default());
    assert!(scene.crash("BAD\n").contains("closed its standard output"));
}

#[test]
fn all_that_waits_is_answered_by_a_crash_and_none_is_started_meanwhile() {
    let hour = Duration::from_secs(3600);
    let limits = ServerLimits { back_off: hour, longest_back_off: 2 * hour, ..ServerLimits::default() };
    let scene = Scene::with_limits(&["die-at-start"], limits);
    let edit = |after| scene.servers.notify_edit(vec![scene.change("a.fake", Some("one\n"), Some(after))]);
    let pending: Vec<_> = ["two\n", "three\n", "four\n"].into_iter().filter_map(edit).collect();
    for pending in pending {
        let report = only(pending.wait(Instant::now() + GENEROUS).expect("answered"));
        let ServerState::Crashed { why, restarts_in } = report.state else { panic!("{:?}", report.state) };
        assert!(why.contains("exit status: 3; its last words: there is nothing to serve here"), "{why}");
        assert!(restarts_in > Duration::ZERO && restarts_in <= hour);
    }
    assert!(matches!(scene.state(), ServerState::Crashed { .. }));
    assert!(matches!(scene.edit_one("one\n", "two\n").state, ServerState::Crashed { .. }));
}

#[test]
fn a_crash_between_two_edits_is_told_once_and_survived() {
    let scene = Scene::new(&[]);
    assert_eq!(places(&scene.changes("one\n", "BAD\n")), [(1, 1)]);
    let process = pid(&scene.await_log("start"));
    kill_process(process, Signal::KILL).expect("killed");
    let deadline = Instant::now() + GENEROUS;
    while !matches!(scene.state(), ServerState::Crashed { .. }) {
        assert!(Instant::now() < deadline, "its end is noticed");
        std::thread::yield_now();
    }
    let report = scene.edit_one("BAD\n", "fine\n");
    assert!(report.crashed.as_ref().is_some_and(|why| why.contains("signal: 9")), "{:?}", report.crashed);
    let mended = changes(report);
    assert_eq!((places(&mended), mended.gone), (vec![], 1));
    assert_eq!(scene.edit_one("fine\n", "still fine\n").crashed, None);
}

#[test]
fn a_text_that_cannot_be_made_costs_one_answer() {
    let scene = Scene::new(&[]);
    let change =
        FileChange { after: Some(Box::new(|| panic!("no text"))), ..scene.change("a.fake", None, None) };
    let report = scene.edit(vec![change]);
    assert!(matches!(report.state, ServerState::Silent { .. }), "{:?}", report.state);
    assert_eq!(places(&scene.changes("one\n", "BAD\n")), [(1, 1)]);
}

#[test]
fn a_question_is_about_now_and_pyright_looks_for_what_others_made() {
    let mut scene = Scene::new(&["pull"]);
    let pyright = ServerSetting {
        name: "pyright".into(),
        command: Some(language_server::command(&scene.state.path().join("log"), &["pull"])),
        ..ServerSetting::default()
    };
    let roots = vec![scene.folder.path().to_owned()];
    scene.servers = Servers::new(LspSettings { roots, servers: vec![pyright], ..LspSettings::default() });
    for _ in 0..2 {
        let answers =
            scene.servers.diagnose(&[(scene.path("a.py"), "BAD\n".into())], Instant::now() + GENEROUS);
        assert_eq!(answers[0].diagnostics.len(), 1);
    }
    let log = scene.log();
    let told = |words: &str| log.iter().filter(|line| *line == words).count();
    assert_eq!((told("event a.py 1"), told("textDocument/diagnostic")), (2, 2), "{log:?}");
}

#[test]
fn a_file_that_is_too_large_is_told_and_does_not_silence_the_others() {
    let scene = Scene::with_limits(&[], ServerLimits { file_bytes: 10, ..ServerLimits::default() });
    let files = [(scene.path("large.fake"), "BAD\n".repeat(10)), (scene.path("a.fake"), "BAD\n".into())];
    let [answer] = scene.servers.diagnose(&files, Instant::now() + GENEROUS).try_into().expect("one server");
    assert_eq!(answer.state, ServerState::Ready);
    let told: Vec<PathBuf> = answer.diagnostics.into_iter().map(|found| found.path).collect();
    assert_eq!(told, [scene.path("a.fake")]);
    let why = answer.unasked.expect("one is left out");
    assert!(why.contains("large.fake has more than 10 bytes"), "{why}");
    let [answer] =
        scene.servers.diagnose(&files[..1], Instant::now() + GENEROUS).try_into().expect("one server");
    assert!(
        matches!(&answer.state, ServerState::Silent { why } if why.contains("large.fake")),
        "{:?}",
        answer.state
    );
}

#[test]
fn large_texts_are_not_told() {
    let scene = Scene::with_limits(&[], ServerLimits { file_bytes: 10, ..ServerLimits::default() });
    let report = scene.edit_one("one\n", &"BAD\n".repeat(10));
    assert!(
        matches!(&report.state, ServerState::Silent { why } if why.contains("10 bytes")),
        "{:?}",
        report.state
    );
    assert_eq!(places(&scene.changes("one\n", "BAD\n")), [(1, 1)]);
}

#[test]
fn only_so_many_files_are_open() {
    let scene = Scene::with_limits(&[], ServerLimits { open_documents: 2, ..ServerLimits::default() });
    for name in ["a.fake", "b.fake", "c.fake"] {
        scene.edit(vec![scene.change(name, Some("one\n"), Some("two\n"))]);
    }
    scene.await_log("textDocument/didClose a.fake");
    assert!(!scene.log().contains(&"textDocument/didClose b.fake".to_owned()));
}

#[test]
fn what_others_change_is_told_and_read_again() {
    let scene = Scene::new(&[]);
    scene.servers.notify_outside_changes(&[scene.path("a.fake")]);
    assert_eq!(scene.state(), ServerState::Idle, "nobody is started for it");
    fs::write(scene.path("b.fake"), "two\n").expect("written");
    let files = ["a.fake", "b.fake"].map(|name| scene.change(name, Some("one\n"), Some("two\n")));
    scene.edit(files.into());
    fs::write(scene.path("a.fake"), "BAD\n").expect("written");
    fs::write(scene.path("c.fake"), "BAD\n").expect("written");
    let paths = ["a.fake", "b.fake", "c.fake", "d.fake"].map(|name| scene.path(name));
    scene.servers.notify_outside_changes(&paths);
    let after = scene.changes("BAD\n", "BAD\nBAD\n");
    assert_eq!((places(&after), after.gone), (vec![(2, 1)], 0));
    let log = scene.log();
    let count = |words: &str| log.iter().filter(|line| *line == words).count();
    assert_eq!(
        (count("textDocument/didClose a.fake"), count("textDocument/didClose b.fake")),
        (1, 0),
        "{log:?}"
    );
    assert_eq!(
        (count("event c.fake 1"), count("event d.fake 3"), count("event b.fake 2")),
        (1, 1, 1),
        "{log:?}"
    );
}

#[test]
fn what_makes_a_project_is_told_to_the_servers_that_run() {
    let scene = Scene::new(&[]);
    let project = scene.path("pyproject.toml");
    let edit = || scene.servers.notify_edit(vec![scene.change("pyproject.toml", Some("a"), Some("b"))]);
    assert!(!scene.servers.concerns(&project) && edit().is_none());
    scene.changes("one\n", "two\n");
    assert!(scene.servers.concerns(&project));
    assert!(edit().is_none(), "nothing is said of it");
    scene.await_log("event pyproject.toml");
}

#[test]
fn a_question_is_answered_for_its_texts_by_all_that_are_for_them() {
    let scene = Scene::new(&[]);
    let files = [("a.fake", "BAD\n"), ("b.fake", "\nDUBIOUS\n"), ("c.go", ""), ("none", "")];
    let files = files.map(|(name, text)| (scene.path(name), text.to_owned()));
    let answers = scene.servers.diagnose(&files, Instant::now() + GENEROUS);
    let of = |name: &str| answers.iter().find(|answer| answer.server == name).expect("it is asked");
    assert_eq!(answers.len(), 2);
    let ServerState::NotInstalled { why } = &of("gopls").state else { panic!("{answers:?}") };
    assert!(why.contains("gopls"), "{why}");
    let found: Vec<_> =
        of("fake").diagnostics.iter().map(|one| (one.path.clone(), one.line, one.severity)).collect();
    let expected = [(scene.path("a.fake"), 1, Severity::Error), (scene.path("b.fake"), 2, Severity::Warning)];
    assert_eq!((&of("fake").state, found), (&ServerState::Ready, expected.to_vec()));
}

#[test]
fn a_program_of_a_root_without_servers_is_not_used_either() {
    let program = language_server::program();
    let untrusted = vec![program.parent().expect("in a folder").to_owned()];
    let command = Some(vec![program.display().to_string()]);
    let extensions = vec!["fake".to_owned()];
    let fake = ServerSetting { name: "fake".into(), command, extensions, ..ServerSetting::default() };
    let folder = tempfile::tempdir().expect("a folder");
    let roots = vec![folder.path().to_owned()];
    let servers =
        Servers::new(LspSettings { roots, untrusted, servers: vec![fake], ..LspSettings::default() });
    assert!(!servers.concerns(&folder.path().join("a.fake")));
}

#[test]
fn what_is_nobodys_concern_starts_nobody() {
    let scene = Scene::new(&[]);
    let outside = scene.state.path().join("a.fake");
    for (path, concerns) in [
        (scene.path("a.fake"), true),
        (scene.path("a.go"), false),
        (scene.path("a"), false),
        (outside, false),
    ] {
        assert_eq!(scene.servers.concerns(&path), concerns, "{}", path.display());
    }
    assert!(scene.servers.notify_edit(vec![scene.change("a.go", None, Some(""))]).is_none());
    let disabled = ServerSetting { name: "gopls".into(), enabled: Some(false), ..ServerSetting::default() };
    let servers = Servers::new(LspSettings { servers: vec![disabled], ..LspSettings::default() });
    let states = servers.list();
    assert_eq!(
        states.iter().find(|state| state.server == "gopls").expect("known").state,
        ServerState::Disabled
    );
}

#[test]
fn a_server_is_answered_and_edits_nothing() {
    let scene = Scene::new(&["asks"]);
    scene.changes("one\n", "two\n");
    let answers =
        ["\"0\" ", "\"1\" ", "\"2\" ", "\"3\" ", "\"4\" "].map(|id| scene.await_log(&format!("answer {id}")));
    assert_eq!((answers[0].as_str(), answers[2].as_str(), answers[3].as_str()), ("[5,null]", "null", "null"));
    assert!(answers[1].contains("\"applied\":false"), "{answers:?}");
    assert_eq!(answers[4], "error -32601");
}

#[test]
fn a_server_is_stopped_politely_and_otherwise_ended_with_its_children() {
    for (habits, is_polite) in
        [(&["has-child"][..], true), (&["has-child", "does-not-stop", "outlives"], false)]
    {
        let scene = Scene::with_limits(
            habits,
            ServerLimits { stop: if is_polite { GENEROUS } else { SHORT }, ..ServerLimits::default() },
        );
        scene.changes("one\n", "two\n");
        let processes = ["start", "child"].map(|words| pid(&scene.await_log(words)));
        scene.servers.stop();
        processes.into_iter().for_each(await_end);
        assert_eq!(scene.log().contains(&"exit".to_owned()), is_polite);
        let report = scene.edit_one("one\n", "BAD\n");
        assert!(matches!(report.state, ServerState::Silent { .. }), "nothing is started again: {report:?}");
    }
}

#[test]
fn a_server_that_is_not_ready_is_not_asked_to_end() {
    let scene =
        Scene::with_limits(&["hang-at-start"], ServerLimits { stop: GENEROUS, ..ServerLimits::default() });
    let change = scene.change("a.fake", Some("one\n"), Some("two\n"));
    let _pending = scene.servers.notify_edit(vec![change]).expect("concerned");
    scene.await_log("initialize");
    let begun = Instant::now();
    scene.servers.stop();
    assert!(begun.elapsed() < GENEROUS / 2);
}

#[test]
fn what_waits_is_answered_when_all_is_stopped() {
    let scene =
        Scene::with_limits(&["hang-at-start"], ServerLimits { stop: SHORT, ..ServerLimits::default() });
    let edit = || {
        scene
            .servers
            .notify_edit(vec![scene.change("a.fake", Some("one\n"), Some("two\n"))])
            .expect("concerned")
    };
    let pending = [edit(), edit()];
    scene.await_log("initialize");
    scene.servers.stop();
    for pending in pending {
        let report = only(pending.wait(Instant::now() + GENEROUS).expect("answered"));
        assert_eq!(report.changes, None);
    }
}

#[test]
fn edits_that_pile_up_are_all_answered() {
    let scene = Scene::new(&[]);
    let texts: Vec<String> = (0..50).map(|at| format!("text {at}\n")).chain(["BAD\n".into()]).collect();
    let edit = |pair: &[String]| {
        scene.servers.notify_edit(vec![scene.change("a.fake", Some(&pair[0]), Some(&pair[1]))])
    };
    let pending: Vec<_> = texts.windows(2).filter_map(edit).collect();
    let told =
        pending.into_iter().map(|pending| only(pending.wait(Instant::now() + GENEROUS).expect("answered")));
    let told: Vec<ServerReport> = told.collect();
    assert_eq!(told.len(), 50);
    let last = told.last().and_then(|report| report.changes.as_ref()).expect("the last is told");
    assert_eq!(places(last), [(1, 1)]);
}
