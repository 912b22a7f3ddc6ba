//! The process of a server and the threads at its pipes: they receive messages as they come, send messages without
//! blocking the sender, and notice every exit.
//!
//! The memory that a server can take is bounded. Published diagnostics replace earlier ones, an answer that nobody
//! awaits is dropped, and a server that does not read, writes without end or writes no LSP messages is killed.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use emend_process::group::Group;
use emend_threads::{Condvar, Mutex};
use lsp_server::{Message, Notification, Request, RequestId, Response, ResponseError};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{RegisterCapability, Request as _};
use serde_json::Value;

use crate::raw_diagnostic::{self, RawDiagnostics};

use crate::requests::{self, RequestHandler};
use crate::settings::ServerLimits;
use crate::wire;

/// How many unsent messages may wait before a server counts as one that does not read.
const MAX_UNREAD_MESSAGES: usize = 1000;
/// The number of files up to which diagnostics of closed files are kept.
const MAX_CLOSED_FILES: usize = 200;
/// How many pieces of work of a server are known at once.
const MAX_IN_PROGRESS: usize = 100;
/// How many bytes at the end of a server's standard error are kept.
const STDERR_TAIL: usize = 2000;
/// How long a process may live on with its standard output closed.
const CLOSED_STDOUT_GRACE: Duration = Duration::from_secs(5);
/// How long to wait for the exit of a killed process, and for the last of its standard error.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// A running server. Dropping it kills the process.
pub(crate) struct ServerProcess {
    shared: Arc<Shared>,
}

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// The process has ended.
    Ended(String),
    /// The answer did not come in time.
    TimedOut,
    /// The server answered with an error, or with something of no use.
    Refused { code: i32, message: String },
}

impl RequestError {
    /// Makes the error for a useless answer.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::Refused { code: 0, message: message.into() }
    }
}

struct Shared {
    group: Group,
    outgoing: SyncSender<Message>,
    limits: ServerLimits,
    inbox: Mutex<Inbox>,
    inbox_changed: Condvar,
    stderr_tail: Mutex<StderrTail>,
    stderr_closed: Condvar,
}

/// The state that the messages of a server leave behind.
#[derive(Default)]
pub(crate) struct Inbox {
    /// How the process ended, and when.
    exit: Option<(String, Instant)>,
    /// Why we killed the process, if we did.
    kill_reason: Option<String>,
    requests: i32,
    awaited: HashSet<RequestId>,
    answers: HashMap<RequestId, Result<Value, ResponseError>>,
    /// The open files, whose diagnostics are always kept.
    pub(crate) open: HashSet<PathBuf>,
    pub(crate) published: BTreeMap<PathBuf, Published>,
    /// Whether the server offers pull diagnostics, be it in `initialize` or by a later registration; else it
    /// publishes them. An unregistration is ignored: a server that no longer answers refuses, and the refusal is
    /// reported.
    pub(crate) has_pull_diagnostics: bool,
    /// Whether the server has announced that it has nothing left to read or compute.
    pub(crate) is_quiescent: Option<bool>,
    /// Whether it says that it could not read the project.
    pub(crate) has_failed: bool,
    /// What the server says that it is busy with, by the token of each piece of work.
    pub(crate) in_progress: BTreeMap<String, String>,
    /// How many bytes the server has written since it was last sent something.
    unprompted_bytes: usize,
    last_message: Option<Instant>,
}

/// The diagnostics that were published for a version of a file.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    version: Option<i32>,
    /// The first diagnostics of this version. Servers analyse a text in several passes and publish after each, so
    /// that only the first of one version can be compared with the first of another.
    first: RawDiagnostics,
    pub(crate) latest: RawDiagnostics,
}

#[derive(Default)]
struct StderrTail {
    bytes: VecDeque<u8>,
    is_complete: bool,
}

impl ServerProcess {
    pub(crate) fn start(
        command: &mut Command,
        client: RequestHandler,
        limits: ServerLimits,
    ) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let group = Group::start(command)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = group.pipes() else {
            return Err(io::Error::other("its pipes are missing"));
        };
        let (outgoing, to_send) = sync_channel(MAX_UNREAD_MESSAGES);
        let shared = Arc::new(Shared {
            group,
            outgoing,
            limits,
            inbox: Mutex::default(),
            inbox_changed: Condvar::new(),
            stderr_tail: Mutex::default(),
            stderr_closed: Condvar::new(),
        });
        // From here on the process ends with this value, also where a thread cannot be started.
        let process = Self { shared };
        let of = || Arc::clone(&process.shared);
        let (reading, listening, ending) = (of(), of(), of());
        spawn("lsp write", move || write_all(stdin, &to_send))?;
        spawn("lsp read", move || reading.read_all(stdout, &client))?;
        spawn("lsp stderr", move || listening.keep_stderr_tail(stderr))?;
        spawn("lsp end", move || ending.await_exit())?;
        Ok(process)
    }

    pub(crate) fn id(&self) -> u32 {
        self.shared.group.id()
    }

    /// Returns how the process ended and when, or `None` while it runs.
    pub(crate) fn exit(&self) -> Option<(String, Instant)> {
        self.shared.inbox.lock().exit.clone()
    }

    /// Returns whether the server has sent anything since then.
    pub(crate) fn has_spoken_since(&self, since: Instant) -> bool {
        self.shared.inbox.lock().last_message.is_some_and(|last| last > since)
    }

    pub(crate) fn notify<N: notification::Notification>(
        &self,
        params: N::Params,
    ) -> Result<(), RequestError> {
        self.send(Notification::new(N::METHOD.to_owned(), params).into())
    }

    /// Sends a request and waits for the answer.
    pub(crate) fn request(
        &self,
        method: &str,
        params: Value,
        deadline: Instant,
    ) -> Result<Value, RequestError> {
        let id = {
            let mut inbox = self.shared.inbox.lock();
            inbox.requests += 1;
            let id = RequestId::from(inbox.requests);
            inbox.awaited.insert(id.clone());
            id
        };
        self.send(Request { id: id.clone(), method: method.to_owned(), params }.into())?;
        let answer = self.wait(deadline, |inbox| inbox.answers.remove(&id));
        if matches!(answer, Err(RequestError::TimedOut)) {
            self.shared.inbox.lock().awaited.remove(&id);
            let params = serde_json::json!({"id": id});
            self.send(Notification::new(notification::Cancel::METHOD.to_owned(), params).into())?;
        }
        answer?.map_err(|error| RequestError::Refused { code: error.code, message: error.message })
    }

    /// Waits until `look` finds something in the inbox.
    pub(crate) fn wait<T>(
        &self,
        deadline: Instant,
        mut look: impl FnMut(&mut Inbox) -> Option<T>,
    ) -> Result<T, RequestError> {
        let mut inbox = self.shared.inbox.lock();
        loop {
            if let Some(found) = look(&mut inbox) {
                return Ok(found);
            }
            if let Some((why, _)) = &inbox.exit {
                return Err(RequestError::Ended(why.clone()));
            }
            let left = deadline.checked_duration_since(Instant::now()).ok_or(RequestError::TimedOut)?;
            inbox = self.shared.inbox_changed.wait_timeout(inbox, left).0;
        }
    }

    /// Calls `look` with the locked inbox.
    pub(crate) fn with_inbox<T>(&self, look: impl FnOnce(&mut Inbox) -> T) -> T {
        look(&mut self.shared.inbox.lock())
    }

    /// Kills the process for this reason, and waits a moment for its exit.
    pub(crate) fn kill(&self, why: &str) {
        self.shared.kill(why);
        let _ = self.wait(Instant::now() + EXIT_GRACE, |_| None::<()>);
    }

    /// Asks the server to shut down, and kills it if it does not in time.
    pub(crate) fn shut_down(&self, deadline: Instant) {
        let polite = self.request("shutdown", Value::Null, deadline).is_ok()
            && self.send(Notification::new("exit".to_owned(), Value::Null).into()).is_ok();
        if polite {
            let _ = self.wait(deadline, |_| None::<()>);
        }
        self.kill("it was stopped");
    }

    fn send(&self, message: Message) -> Result<(), RequestError> {
        self.shared.inbox.lock().unprompted_bytes = 0;
        self.shared.send(message);
        match self.exit() {
            Some((why, _)) => Err(RequestError::Ended(why)),
            None => Ok(()),
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.shared.kill("it was stopped");
    }
}

impl Shared {
    fn send(&self, message: Message) {
        if self.outgoing.try_send(message).is_err() {
            self.kill("it does not read what it is told");
        }
    }

    fn kill(&self, why: &str) {
        self.inbox.lock().kill_reason.get_or_insert_with(|| why.to_owned());
        self.group.kill();
    }

    fn read_all(&self, stdout: impl Read, client: &RequestHandler) {
        let mut stdout = BufReader::new(stdout);
        loop {
            match wire::read(&mut stdout, self.limits.message_bytes) {
                Ok(Some((message, length))) => self.receive(message, length, client),
                // Its standard output is closed: the server is about to exit, or will never send anything again.
                Ok(None) => {
                    let (inbox, time) = (self.inbox.lock(), CLOSED_STDOUT_GRACE);
                    let over = |inbox: &mut Inbox| inbox.exit.is_none();
                    let (inbox, is_late) = self.inbox_changed.wait_timeout_while(inbox, time, over);
                    drop(inbox);
                    if is_late {
                        self.kill("it closed its standard output");
                    }
                    return;
                }
                Err(error) => return self.kill(&format!("it wrote what is no message: {error}")),
            }
        }
    }

    fn receive(&self, message: Message, length: usize, client: &RequestHandler) {
        let mut inbox = self.inbox.lock();
        inbox.last_message = Some(Instant::now());
        inbox.unprompted_bytes = inbox.unprompted_bytes.saturating_add(length);
        if inbox.unprompted_bytes > self.limits.unprompted_bytes {
            drop(inbox);
            return self.kill("it writes without end");
        }
        match message {
            Message::Request(request) => {
                let registers = request.method == RegisterCapability::METHOD;
                if registers && requests::registers_diagnostics(&request.params) {
                    inbox.has_pull_diagnostics = true;
                    self.inbox_changed.notify_all();
                }
                drop(inbox);
                let response_result = client.answer(&request.method, &request.params);
                return self.send(Response { id: request.id, response_result }.into());
            }
            Message::Response(response) => {
                if inbox.awaited.remove(&response.id) {
                    inbox.answers.insert(response.id, response.response_result);
                }
            }
            Message::Notification(notice) => match notice.method.as_str() {
                notification::PublishDiagnostics::METHOD => inbox.record_published(notice.params),
                "experimental/serverStatus" => {
                    inbox.is_quiescent = notice.params["quiescent"].as_bool();
                    inbox.has_failed = notice.params["health"] == "error";
                }
                notification::Progress::METHOD => inbox.record_progress(&notice.params),
                _ => {}
            },
        }
        self.inbox_changed.notify_all();
    }

    fn keep_stderr_tail(&self, mut stderr: impl Read) {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stderr.read(&mut buffer) {
            let mut last = self.stderr_tail.lock();
            last.bytes.extend(&buffer[..read]);
            let surplus = last.bytes.len().saturating_sub(STDERR_TAIL);
            last.bytes.drain(..surplus);
        }
        self.stderr_tail.lock().is_complete = true;
        self.stderr_closed.notify_all();
    }

    fn await_exit(&self) {
        let how = match self.group.wait() {
            Ok(status) => format!("it ended with {status}"),
            Err(error) => format!("it ended, nobody knows how: {error}"),
        };
        // A reason that was noted only after the exit is not the cause of it.
        let how = self.inbox.lock().kill_reason.clone().unwrap_or(how);
        let last = self.stderr_tail.lock();
        let (last, _) = self.stderr_closed.wait_timeout_while(last, EXIT_GRACE, |last| !last.is_complete);
        let bytes: Vec<u8> = last.bytes.iter().copied().collect();
        drop(last);
        let words = String::from_utf8_lossy(&bytes);
        let mut inbox = self.inbox.lock();
        let why =
            if words.trim().is_empty() { how } else { format!("{how}; its last words: {}", words.trim()) };
        tracing::debug!(%why, "a language server has ended");
        inbox.exit = Some((why, Instant::now()));
        self.inbox_changed.notify_all();
    }
}

impl Inbox {
    fn record_progress(&mut self, params: &Value) {
        let (token, value) = (params["token"].to_string(), &params["value"]);
        match value["kind"].as_str() {
            Some("begin") if self.in_progress.len() < MAX_IN_PROGRESS => {
                let title: String = value["title"].as_str().unwrap_or_default().chars().take(100).collect();
                self.in_progress.insert(token, title);
            }
            Some("end") => drop(self.in_progress.remove(&token)),
            _ => {}
        }
    }

    fn record_published(&mut self, params: Value) {
        let Ok(published) = serde_json::from_value::<lsp_types::PublishDiagnosticsParams>(params) else {
            return;
        };
        let Some(path) = wire::path(published.uri.as_str()) else { return };
        let is_kept = self.published.len() < MAX_CLOSED_FILES
            || self.open.contains(&path)
            || self.published.contains_key(&path);
        if !is_kept {
            return;
        }
        let latest = Arc::new(raw_diagnostic::diagnostics_from_lsp(published.diagnostics));
        let again = self.published.get(&path).filter(|known| known.version == published.version);
        let first = again.map_or_else(|| Arc::clone(&latest), |known| Arc::clone(&known.first));
        self.published.insert(path, Published { version: published.version, first, latest });
    }

    /// Returns the first diagnostics published for exactly this version of a file.
    pub(crate) fn first_published(&self, path: &Path, version: i32) -> Option<RawDiagnostics> {
        let published = self.published.get(path).filter(|published| published.version == Some(version));
        published.map(|published| Arc::clone(&published.first))
    }

    /// Returns the last diagnostics published for exactly this version of a file.
    pub(crate) fn latest_published(&self, path: &Path, version: i32) -> Option<RawDiagnostics> {
        let published = self.published.get(path).filter(|published| published.version == Some(version));
        published.map(|published| Arc::clone(&published.latest))
    }

    /// Returns whether no diagnostics of any file have been published.
    pub(crate) fn has_published_nothing(&self) -> bool {
        self.published.is_empty()
    }

    /// Returns whether diagnostics were published for this file without a version.
    pub(crate) fn is_published_without_version(&self, path: &Path) -> bool {
        self.published.get(path).is_some_and(|published| published.version.is_none())
    }
}

fn write_all(mut stdin: impl Write, to_send: &Receiver<Message>) {
    while let Ok(message) = to_send.recv() {
        // A server that stops reading is noticed by its exit, or by the number of unsent messages.
        if message.write(&mut stdin).is_err() {
            return;
        }
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}
