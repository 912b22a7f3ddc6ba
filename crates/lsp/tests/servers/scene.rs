//! A folder with a language server of testkit, and what a test asks of both.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use emend_lsp::{
    Aftermath, DiagnosticChanges, FileChange, LspSettings, ServerLimits, ServerReport, ServerSetting,
    ServerState, Servers,
};
use emend_testkit::language_server;
use rustix::process::{Pid, test_kill_process};

/// The timeout for what must happen.
pub(crate) const GENEROUS: Duration = Duration::from_secs(60);
/// The timeout for a server that will not answer anyway.
pub(crate) const SHORT: Duration = Duration::from_millis(300);
/// The timeout that runs out while something else must be finished, on a busy machine too.
pub(crate) const MODEST: Duration = Duration::from_secs(5);

/// A language server of testkit and the folder that it serves.
pub(crate) struct Scene {
    pub(crate) servers: Servers,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) state: tempfile::TempDir,
}

impl Scene {
    pub(crate) fn new(habits: &[&str]) -> Self {
        Self::with_limits(habits, ServerLimits { back_off: Duration::ZERO, ..ServerLimits::default() })
    }

    pub(crate) fn with_limits(habits: &[&str], limits: ServerLimits) -> Self {
        let state = tempfile::tempdir().expect("a folder");
        let command = language_server::command(&state.path().join("log"), habits);
        Self::with_command(command, state, limits)
    }

    pub(crate) fn with_command(command: Vec<String>, state: tempfile::TempDir, limits: ServerLimits) -> Self {
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

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn change(&self, name: &str, before: Option<&str>, after: Option<&str>) -> FileChange {
        let content = |text: Option<&str>| {
            let text = text?.to_owned();
            Some(Box::new(move || text) as Box<dyn FnOnce() -> String + Send>)
        };
        FileChange { path: self.path(name), before: content(before), after: content(after) }
    }

    /// Makes an edit and returns its final report.
    pub(crate) fn edit(&self, changes: Vec<FileChange>) -> ServerReport {
        let pending = self.servers.notify_edit(changes).expect("the files concern the server");
        only(pending.wait(Instant::now() + GENEROUS).expect("it is known in the end"))
    }

    pub(crate) fn edit_one(&self, before: &str, after: &str) -> ServerReport {
        self.edit(vec![self.change("a.fake", Some(before), Some(after))])
    }

    pub(crate) fn changes(&self, before: &str, after: &str) -> DiagnosticChanges {
        changes(self.edit_one(before, after))
    }

    /// Edits to this text and returns why the server crashed.
    pub(crate) fn crash(&self, after: &str) -> String {
        match self.edit_one("one\n", after).state {
            ServerState::Crashed { why, .. } => why,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn state(&self) -> ServerState {
        let states = self.servers.list();
        states.into_iter().find(|state| state.server == "fake").expect("it is known").state
    }

    /// Returns the log of what the servers have received.
    pub(crate) fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.state.path().join("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Waits for a log entry with these words, and returns what follows them.
    pub(crate) fn await_log(&self, words: &str) -> String {
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

pub(crate) fn only(aftermath: Aftermath) -> ServerReport {
    let [report] = aftermath.servers.try_into().expect("one server");
    report
}

pub(crate) fn changes(report: ServerReport) -> DiagnosticChanges {
    assert_eq!(report.state, ServerState::Ready);
    report.changes.expect("it is ready")
}

pub(crate) fn places(changes: &DiagnosticChanges) -> Vec<(u32, u32)> {
    changes.new.iter().map(|new| (new.line, new.column)).collect()
}

pub(crate) fn pid(written: &str) -> Pid {
    Pid::from_raw(written.parse().expect("a number")).expect("a process")
}

pub(crate) fn await_end(process: Pid) {
    let deadline = Instant::now() + GENEROUS;
    while test_kill_process(process).is_ok() {
        assert!(Instant::now() < deadline, "{process:?} lives");
        std::thread::yield_now();
    }
}
