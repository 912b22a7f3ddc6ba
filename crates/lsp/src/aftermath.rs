//! The results: for each server that an edit concerns, which errors and warnings the edit brought, how many it
//! removed, and how many there are now. A server that could not answer is never reported as one that found nothing.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The text of a file before or after an edit, made on the thread of a server when that server needs it.
pub type LazyContent = Box<dyn FnOnce() -> String + Send>;

/// One file that an edit changed.
pub struct FileChange {
    /// The absolute path of the file.
    pub path: PathBuf,
    /// The text before the edit; `None` where the edit made the file.
    pub before: Option<LazyContent>,
    /// The text after the edit; `None` where the edit deleted the file or moved it away.
    pub after: Option<LazyContent>,
}

impl fmt::Debug for FileChange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = |content: &Option<LazyContent>| content.is_some();
        formatter
            .debug_struct("FileChange")
            .field("path", &self.path)
            .field("before", &has(&self.before))
            .field("after", &has(&self.after))
            .finish()
    }
}

/// The answers of all servers to an edit: one report for each server that the edit concerns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aftermath {
    /// The reports, in the order in which the servers answered.
    pub servers: Vec<ServerReport>,
}

/// The answer of one server to one edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerReport {
    /// The name of the server.
    pub server: String,
    /// `Ready` where it has answered, else why it has not.
    pub state: ServerState,
    /// Why the server had crashed since it last answered, if it was started again for this edit.
    pub crashed: Option<String>,
    /// What changed; `Some` exactly where the state is `Ready`.
    pub changes: Option<DiagnosticChanges>,
}

/// The errors and warnings that an edit brought and removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiagnosticChanges {
    /// The errors and warnings that the edit brought, in other files too as far as the server publishes them at once.
    pub new: Vec<Diagnostic>,
    /// How many errors and warnings the edit removed.
    pub gone: usize,
    /// How many errors the edited files have now.
    pub errors: usize,
    /// How many warnings the edited files have now.
    pub warnings: usize,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// The absolute path of the file.
    pub path: PathBuf,
    /// The line, counted from one.
    pub line: u32,
    /// The column in characters, counted from one.
    pub column: u32,
    /// Error or warning.
    pub severity: Severity,
    /// The message of the server.
    pub message: String,
    /// The tool that found it, if the server names one.
    pub source: Option<String>,
    /// The server's code for this kind of error.
    pub code: Option<String>,
    /// The absolute paths of the files that the server names as related.
    pub related: Vec<PathBuf>,
}

/// The severity of a diagnostic. Information and hints are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// An error.
    Error,
    /// A warning.
    Warning,
}

/// The state of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// The server answers.
    Ready,
    /// The server was started and does not answer yet.
    Starting,
    /// The program is there and starts with the first edit of a file that it handles.
    Idle,
    /// The server ended by itself, or was ended because it misbehaved.
    Crashed {
        /// How the server ended, with the last of its standard error.
        why: String,
        /// The time after which an edit starts the server again.
        restarts_in: Duration,
    },
    /// The program was not found in the search path, or may not be used.
    NotInstalled {
        /// What is missing or forbidden.
        why: String,
    },
    /// The settings forbid to start this server.
    Disabled,
    /// The server is there but has nothing to say about this request.
    Silent {
        /// Why the server says nothing.
        why: String,
    },
}

/// The current diagnostics of one server for the files that it was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The name of the server.
    pub server: String,
    /// `Ready` where it has answered, else why it has not.
    pub state: ServerState,
    /// The errors and warnings; empty unless the server has answered.
    pub diagnostics: Vec<Diagnostic>,
    /// The files that the server was not asked about, and why.
    pub unasked: Option<String>,
}

impl Diagnosis {
    /// Makes the answer for a server that has none, because of its state.
    pub(crate) fn without_diagnostics(server: &str, state: ServerState) -> Self {
        Self { server: server.to_owned(), state, diagnostics: Vec::new(), unasked: None }
    }
}

/// A server with its state, as [`Servers::list`](crate::Servers::list) returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    /// The name of the server.
    pub server: String,
    /// The extensions of the files that the server handles.
    pub extensions: Vec<String>,
    /// The state; a server that runs in several roots is listed once for each.
    pub state: ServerState,
    /// The root in which the server runs, if it runs.
    pub root: Option<PathBuf>,
    /// The path of the program, if it was found.
    pub program: Option<PathBuf>,
    /// The process id, while the server runs.
    pub process: Option<u32>,
}
