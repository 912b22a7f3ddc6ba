//! Diagnostics of an edit, for which language servers are asked once it is made. They are in its answer if they come in
//! time, else in the next answer.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use emend_edit::Text;
use emend_edit::plan::Action;
use emend_lsp::{
    Aftermath, Answered, FileChange, LazyContent, LspSettings, Question, ServerSetting, ServerState, Servers,
};
use emend_threads::Mutex;
use emend_workspace::policy::programs::{Programs, Server};
use emend_workspace::{CommittedEdit, Topic, Workspace};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::answer::Answer;
use crate::events::Events;
use crate::server_diagnostics::{self, DiagnosticsReport, Finding};
use crate::session::Session;
use crate::subscriptions::Subscriptions;

/// A language server that is known, and whether it can be started.
#[derive(Clone, Debug)]
pub struct KnownServer {
    /// Its name.
    pub name: String,
    /// The endings of its files.
    pub extensions: Vec<String>,
    /// Whether the server can be started.
    pub availability: Availability,
}

/// Whether a language server can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// The server's program, which was found.
    Installed(PathBuf),
    /// The configuration disables the server.
    Disabled,
    /// The server's program is missing, for this reason.
    Missing(String),
}

/// Lists the language servers that are known or that the user has configured. None is started.
#[must_use]
pub fn language_servers(roots: &[PathBuf], programs: &Programs) -> Vec<KnownServer> {
    let servers = programs.servers.iter().map(setting).collect();
    let servers = Servers::new(LspSettings { roots: roots.to_vec(), servers, ..LspSettings::default() });
    let known = |server: emend_lsp::ServerInfo| {
        let availability = match (server.state, server.program) {
            (ServerState::Disabled, _) => Availability::Disabled,
            (ServerState::NotInstalled { why }, _) => Availability::Missing(why),
            (_, Some(program)) => Availability::Installed(program),
            (_, None) => Availability::Missing("it is not there".to_owned()),
        };
        KnownServer { name: server.server, extensions: server.extensions, availability }
    };
    servers.list().into_iter().map(known).collect()
}

/// The time that an answer waits for diagnostics, unless it is configured otherwise.
pub(super) const PATIENCE: Duration = Duration::from_millis(1_500);

/// The words with which clangd begins its message about an error in an included file.
const INCLUDED_FILE_PREFIX: &str = "In included file";
/// The message that replaces one about an included file that may not be read.
const WITHHELD_MESSAGE: &str = "something is wrong in a file that may not be read here";

/// The number of files edited last that are remembered.
const RECENT_FILES: usize = 50;

/// The language servers of a workspace.
#[derive(Debug)]
pub(crate) struct Diagnostics {
    servers: Servers,
    /// The extensions of the files that a known server is for.
    endings: BTreeSet<String>,
    /// The files that the servers were notified of, the latest last.
    recent: Mutex<VecDeque<PathBuf>>,
    patience: Duration,
}

/// The diagnostics of an edit that language servers were asked for.
#[derive(Debug)]
pub(crate) struct PendingDiagnostics {
    edit: String,
    pending: emend_lsp::PendingAftermath,
    patience: Duration,
}

/// The recipients of the diagnostics of an edit.
pub(crate) struct Recipients<'a> {
    pub(crate) workspace: &'a Arc<Workspace>,
    pub(crate) subscriptions: &'a Arc<Subscriptions>,
    pub(crate) events: &'a Events,
    /// The session of the edit, if it lasts.
    pub(crate) session: Option<&'a Arc<Session>>,
}

impl Diagnostics {
    /// Creates the language servers of a workspace. None is started yet.
    pub(super) fn new(workspace: &Workspace, programs: &Programs, patience: Option<Duration>) -> Self {
        let all = workspace.roots().all();
        let roots = all.iter().filter(|root| root.policy.terms().notify_lsp).map(|root| root.path.clone());
        let untrusted = all.iter().map(|root| root.path.clone()).collect();
        let servers = programs.servers.iter().map(setting).collect();
        let settings = LspSettings { roots: roots.collect(), untrusted, servers, ..LspSettings::default() };
        let servers = Servers::new(settings);
        let endings = servers.extensions().map(str::to_owned).collect();
        let recent = Mutex::default();
        Self { servers, endings, recent, patience: patience.unwrap_or(PATIENCE) }
    }

    /// Asks for the diagnostics of an edit that was just made, if there is a server for one of its files.
    pub(super) fn begin(&self, committed: &CommittedEdit<'_>) -> Option<PendingDiagnostics> {
        let edit = committed.report.edit.clone()?;
        let concerns = |path: &PathBuf| self.servers.concerns(path);
        let mut concerned = Vec::new();
        for file in committed.files() {
            // Most edits concern no server; nothing is copied for those.
            let action = &file.plan().action;
            let before = || action.base().map(|base| content(Arc::clone(base)));
            let (from, path) = (file.moved_from(), Some(file.path()).filter(concerns));
            let is_moved = from.is_some();
            if let Some(from) = from.filter(concerns) {
                concerned.push(FileChange { path: from, before: before(), after: None });
            }
            if let Some(path) = path {
                let before = if is_moved { None } else { before() };
                concerned.push(FileChange { path, before, after: after(action) });
            }
        }
        if concerned.is_empty() {
            return None;
        }
        let paths: Vec<PathBuf> = concerned.iter().map(|file| file.path.clone()).collect();
        self.remember_recent(paths);
        let pending = self.servers.notify_edit(concerned)?;
        Some(PendingDiagnostics { edit, pending, patience: self.patience })
    }

    /// Asks the servers for the present diagnostics of these files, and waits no longer than `patience`. Blocks.
    pub(crate) fn ask(
        &self,
        workspace: &Workspace,
        files: &[(PathBuf, String)],
        patience: Duration,
    ) -> Vec<DiagnosticsReport> {
        let answers = self.servers.diagnose(files, Instant::now() + patience);
        answers
            .into_iter()
            .map(|answer| {
                let mut report = DiagnosticsReport::new(&answer.server, &answer.state);
                report.why = report.why.or(answer.unasked.as_deref().map(server_diagnostics::single_line));
                let (now, hidden) = readable_findings(workspace, &answer.diagnostics);
                report.with_findings(None, (answer.state == ServerState::Ready).then_some(now), hidden)
            })
            .collect()
    }

    /// Returns the files that the servers were notified of lately.
    pub(crate) fn recent(&self) -> Vec<PathBuf> {
        self.recent.lock().iter().cloned().collect()
    }

    /// Notifies the servers that other programs have changed these files. Waits for nobody.
    pub(super) fn changed_outside(&self, paths: &[PathBuf]) {
        self.servers.notify_outside_changes(paths);
    }

    fn remember_recent(&self, paths: Vec<PathBuf>) {
        let mut recent = self.recent.lock();
        recent.retain(|path| !paths.contains(path));
        recent.extend(paths);
        let surplus = recent.len().saturating_sub(RECENT_FILES);
        recent.drain(..surplus);
    }

    /// Puts a question to the servers, and waits no longer than this. Blocks.
    pub(crate) fn question(&self, question: Question, deadline: Instant) -> Vec<Answered> {
        self.servers.ask(question, deadline)
    }

    /// Returns whether a server, installed or not, is for both of these files.
    pub(crate) fn are_alike(&self, one: &Path, other: &Path) -> bool {
        self.servers.are_alike(one, other)
    }

    /// Returns whether a server for such files is known, installed or not.
    pub(crate) fn is_known(&self, path: &Path) -> bool {
        let ending = path.extension().and_then(OsStr::to_str);
        ending.is_some_and(|ending| self.endings.contains(ending))
    }

    /// Ends all servers.
    pub(super) fn stop(&self) {
        self.servers.stop();
    }
}

impl PendingDiagnostics {
    /// Adds the diagnostics to this answer if they come in time, else to the next answer of the session, if there is
    /// one. Listeners to diagnostics are notified in any case.
    pub(crate) async fn report_in(
        self,
        answer: &mut Answer,
        recipients: Recipients<'_>,
        cancelled: &CancellationToken,
    ) {
        let Recipients { workspace, subscriptions, events, session } = recipients;
        let (send, receive) = oneshot::channel();
        let later = session.map(Arc::downgrade);
        let (next, of_edit) = (later.clone(), self.edit.clone());
        let (edit, held, listeners) = (self.edit, Arc::downgrade(workspace), Arc::downgrade(subscriptions));
        let events = events.downgrade();
        let files = answer.outcome().map(|outcome| outcome.changed_files.clone()).unwrap_or_default();
        self.pending.on_done(move |aftermath| {
            if let Some(listeners) = listeners.upgrade().filter(|_| has_changed(&aftermath)) {
                listeners.notify_diagnostics();
            }
            if let Err(late) = send.send(aftermath) {
                let Some(workspace) = held.upgrade() else { return };
                let reports = reports(&workspace, &late);
                events().publish_diagnostics(&edit, &files, &reports);
                post_to_mailbox(&edit, &reports, later.as_ref());
            }
        });
        let aftermath = in_time(receive, self.patience, cancelled).await;
        let reports = aftermath.map(|aftermath| reports(workspace, &aftermath));
        if let Some(reports) = reports.as_ref().filter(|_| cancelled.is_cancelled()) {
            // The call was cancelled, so its answer is not sent.
            post_to_mailbox(&of_edit, reports, next.as_ref());
        }
        let Some(outcome) = answer.outcome() else { return };
        outcome.diagnostics =
            Some(reports.unwrap_or_else(|| vec![DiagnosticsReport::pending(next.is_some())]));
    }
}

/// Waits for a value until `patience` is over or the call is cancelled. After that, sending the value fails.
async fn in_time<T>(
    mut receive: oneshot::Receiver<T>,
    patience: Duration,
    cancelled: &CancellationToken,
) -> Option<T> {
    let came = tokio::select! {
        came = tokio::time::timeout(patience, &mut receive) => came.ok(),
        () = cancelled.cancelled() => None,
    };
    match came {
        Some(came) => came.ok(),
        None => {
            // The value may have been sent in this very moment, and its sender counts on it being received.
            receive.close();
            receive.try_recv().ok()
        }
    }
}

/// Returns whether the servers find other diagnostics than before.
fn has_changed(aftermath: &Aftermath) -> bool {
    let changes = aftermath.servers.iter().filter_map(|server| server.changes.as_ref());
    changes.into_iter().any(|changes| changes.gone > 0 || !changes.new.is_empty())
}

/// Posts diagnostics that came too late for the edit's answer to its session, whose next answer has them.
fn post_to_mailbox(edit: &str, reports: &[DiagnosticsReport], session: Option<&Weak<Session>>) {
    if let Some(session) = session.and_then(Weak::upgrade) {
        let text = format!("Of edit {edit}: {}", server_diagnostics::prose(reports).trim_end());
        session.mailbox().post(Topic::Calls, text);
    }
}

/// Returns the reports of the servers about an edit, without findings in files that the client may not read.
fn reports(workspace: &Workspace, aftermath: &Aftermath) -> Vec<DiagnosticsReport> {
    let server = |server: &emend_lsp::ServerReport| {
        let mut report = DiagnosticsReport::new(&server.server, &server.state);
        report.why = report.why.or_else(|| server.crashed.clone());
        let Some(changes) = &server.changes else { return report };
        report.gone = Some(changes.gone);
        report.errors = Some(changes.errors);
        report.warnings = Some(changes.warnings);
        let (new, hidden) = readable_findings(workspace, &changes.new);
        report.with_findings(Some(new), None, hidden)
    };
    aftermath.servers.iter().map(server).collect()
}

/// Returns the findings in files that the client may read, and the number of the others. A server reads more than a
/// client may: it includes any file as if it were C, and quotes in its messages what is none.
fn readable_findings(workspace: &Workspace, diagnostics: &[emend_lsp::Diagnostic]) -> (Vec<Finding>, usize) {
    let name = |path: &Path| workspace.roots().admit(path.to_str()?).ok().map(|path| path.name);
    let finding = |found: &emend_lsp::Diagnostic| {
        let mut finding = Finding::new(name(&found.path)?, found);
        let is_readable = |file: &PathBuf| file.is_absolute() && name(file).is_some();
        let is_elsewhere = found.message.starts_with(INCLUDED_FILE_PREFIX);
        if is_elsewhere && (found.related.is_empty() || !found.related.iter().all(is_readable)) {
            WITHHELD_MESSAGE.clone_into(&mut finding.message);
        }
        Some(finding)
    };
    let readable: Vec<Finding> = diagnostics.iter().filter_map(finding).collect();
    let hidden = diagnostics.len() - readable.len();
    (readable, hidden)
}

/// Returns the text of a file, which is converted only when a server is notified of it.
fn content(text: Arc<Text>) -> LazyContent {
    Box::new(move || String::from_utf8_lossy(text.bytes()).into_owned())
}

/// Returns the text of a file after an edit; `None` where the edit deletes it.
fn after(action: &Action) -> Option<LazyContent> {
    let action = action.clone();
    match action {
        Action::Delete { .. } => None,
        Action::Create { content: text } => Some(content(text)),
        Action::Modify { .. } | Action::Move { .. } => Some(Box::new(move || {
            let view = action.view().unwrap_or_default().concat();
            String::from_utf8(view).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
        })),
    }
}

fn setting(server: &Server) -> ServerSetting {
    ServerSetting {
        name: server.name.clone(),
        enabled: server.enabled,
        command: (!server.command.is_empty()).then(|| server.command.clone()),
        extensions: server.extensions.clone(),
        language: server.language.clone(),
        options: server.options.clone(),
        runs_project_code: server.runs_project_code,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use emend_lsp::{Diagnostic, Severity};
    use emend_workspace::{RootSpec, disk};

    use super::*;

    #[tokio::test]
    async fn what_was_sent_is_never_lost() {
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        // `select!` takes a random one of several branches that are ready, so one run proves nothing.
        for number in 0..100 {
            let (send, receive) = oneshot::channel();
            send.send(number).unwrap();
            assert_eq!(in_time(receive, PATIENCE, &cancelled).await, Some(number));
        }
    }

    #[test]
    fn what_is_quoted_of_an_included_file_is_told_only_where_that_may_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        let [outside, secret, header, source] =
            [folder.path().join("outside"), root.join(".env"), root.join("a.h"), root.join("a.c")];
        for file in [&outside, &secret, &header, &source] {
            fs::write(file, "").unwrap();
        }
        let spec = RootSpec { name: None, path: root };
        let workspace = Workspace::open(disk::for_this_machine(), &[spec], None).unwrap();
        let message = |said: &str, related: &[&PathBuf]| {
            let found = Diagnostic {
                path: source.clone(),
                line: 1,
                column: 1,
                severity: Severity::Error,
                message: said.to_owned(),
                source: None,
                code: None,
                related: related.iter().map(|file| (*file).clone()).collect(),
            };
            let (mut told, hidden) = readable_findings(&workspace, &[found]);
            assert_eq!((told.len(), hidden), (1, 0));
            told.remove(0).message
        };
        let said = "In included file: use of undeclared identifier 'sk_live'";
        let relative = PathBuf::from("a.h");
        for related in [&[][..], &[&secret], &[&outside], &[&header, &secret], &[&relative]] {
            assert_eq!(message(said, related), WITHHELD_MESSAGE, "{related:?}");
        }
        assert_eq!(message(said, &[&header]), said);
        assert_eq!(message("unknown type", &[]), "unknown type");
    }
}
