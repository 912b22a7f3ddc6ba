//! What is told of an edit: for each server that it concerns, which errors and warnings it brought, how many went, and
//! how many there are now. What a server cannot say is never told as if there were nothing to say.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The text of a file before or after an edit. It is made when a server is told of it, on the thread of that server.
pub type Content = Box<dyn FnOnce() -> String + Send>;

/// One file of an edit.
pub struct FileChange {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// Its text before; none where the edit made the file.
    pub before: Option<Content>,
    /// Its text after; none where the edit deleted the file, or moved it away.
    pub after: Option<Content>,
}

impl fmt::Debug for FileChange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = |content: &Option<Content>| content.is_some();
        formatter
            .debug_struct("FileChange")
            .field("path", &self.path)
            .field("before", &has(&self.before))
            .field("after", &has(&self.after))
            .finish()
    }
}

/// What the servers say of an edit: a report of each that it concerns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aftermath {
    /// In the order in which they answered.
    pub servers: Vec<Report>,
}

/// What one server says of an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Its name.
    pub server: String,
    /// `Ready` where it has answered, else why it has not.
    pub state: State,
    /// Why it had crashed since it last answered, where it was started again for this edit.
    pub crashed: Option<String>,
    /// What it says; there exactly where the state is `Ready`.
    pub changes: Option<Changes>,
}

/// What an edit changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The errors and warnings that it brought, those of other files too, as far as the server tells them at once.
    pub new: Vec<Diagnostic>,
    /// How many errors and warnings went with it.
    pub gone: usize,
    /// How many errors its files have now,
    pub errors: usize,
    /// and how many warnings.
    pub warnings: usize,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// The file, absolute.
    pub path: PathBuf,
    /// Its line, counted from one.
    pub line: u32,
    /// Its column, counted from one, in characters.
    pub column: u32,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// What found it, where the server says that.
    pub source: Option<String>,
    /// What the server calls this kind of error.
    pub code: Option<String>,
    /// The files, absolute, that the server says it has to do with.
    pub related: Vec<PathBuf>,
}

/// How bad it is. What is no more than information or a hint is not told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// An error.
    Error,
    /// A warning.
    Warning,
}

/// How a server is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It answers.
    Ready,
    /// It was started and does not answer yet.
    Starting,
    /// It is there and starts with the first edit of a file of its own.
    Idle,
    /// It ended by itself, or was ended because it misbehaved.
    Crashed {
        /// How it ended, with what it last wrote to its standard error.
        why: String,
        /// It is started again by an edit after this time.
        restarts_in: Duration,
    },
    /// There is no such program where programs are looked for, or it may not be used; `why` says which.
    NotInstalled {
        /// What is missing.
        why: String,
    },
    /// The settings say that it is not to be started.
    Disabled,
    /// It is there and says nothing of this.
    Silent {
        /// Why.
        why: String,
    },
}

/// What a server says now of the files that it was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Its name.
    pub server: String,
    /// `Ready` where it has answered, else why it has not.
    pub state: State,
    /// What it says; empty unless it has answered.
    pub diagnostics: Vec<Diagnostic>,
    /// Which of the files it was not asked about, and why.
    pub unasked: Option<String>,
}

impl Answer {
    /// Of one that says nothing, because it is so.
    pub(crate) fn none(server: &str, state: State) -> Self {
        Self { server: server.to_owned(), state, diagnostics: Vec::new(), unasked: None }
    }
}

/// A server and how it is, for whoever wants to know what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerState {
    /// Its name.
    pub server: String,
    /// The endings of the files that it is for.
    pub extensions: Vec<String>,
    /// How it is; where it runs in several roots, how it is in each, with the root.
    pub state: State,
    /// The root that it runs in; none where it runs in no root.
    pub root: Option<PathBuf>,
    /// Its program, where it was found.
    pub program: Option<PathBuf>,
    /// Its process, while it runs.
    pub process: Option<u32>,
}
