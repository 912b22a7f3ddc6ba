//! A running server and the threads around it: what it says is taken in as it comes, what it is told goes out without
//! anybody waiting for it, and its end is noticed however it comes.
//!
//! Nothing that it does takes more memory than the limits say. What it publishes replaces what it published before, an
//! answer that nobody awaits is dropped, and one that does not read what it is told, writes without end or writes no
//! messages is ended.

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

use crate::finding::{self, Finding};

use crate::requests::{self, Client};
use crate::settings::Limits;
use crate::wire;

/// Messages that a server has not read yet, above which it counts as one that does not read.
const UNREAD: usize = 1000;
/// Files that are not open and of which is kept what it says.
const FILES: usize = 200;
/// What is kept of the end of its standard error.
const LAST_WORDS: usize = 2000;
/// How long a process may live that says nothing any more.
const DUMB: Duration = Duration::from_secs(5);
/// How long the last of what a process wrote is awaited after its end.
const LAST: Duration = Duration::from_millis(500);

/// A running server. Ends with it.
pub(crate) struct Process {
    shared: Arc<Shared>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It has ended.
    Ended(String),
    /// It did not come in time.
    Late,
    /// The server does not want to answer.
    Refused { code: i32, message: String },
}

struct Shared {
    group: Group,
    outgoing: SyncSender<Message>,
    limits: Limits,
    heard: Mutex<Heard>,
    changed: Condvar,
    last_words: Mutex<LastWords>,
    silence: Condvar,
}

/// What a server has said, as far as it matters still.
#[derive(Default)]
pub(crate) struct Heard {
    /// How it ended, and when.
    ended: Option<(String, Instant)>,
    /// Why it was ended by us.
    fault: Option<String>,
    requests: i32,
    awaited: HashSet<RequestId>,
    answers: HashMap<RequestId, Result<Value, ResponseError>>,
    /// The files whose diagnostics are kept whatever else is.
    pub(crate) open: HashSet<PathBuf>,
    pub(crate) published: BTreeMap<PathBuf, Published>,
    /// Whether it answers questions about diagnostics, as it says at its start or later; else it publishes them. That is not
    /// taken back: one that answers no more refuses, which is told.
    pub(crate) is_asked: bool,
    /// What it says of itself: whether it has nothing left to read or compute.
    pub(crate) is_quiescent: Option<bool>,
    /// The bytes that it wrote since it was told something.
    untold: usize,
    last_message: Option<Instant>,
}

/// What was published of a file, and for which version of it.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    version: Option<i32>,
    /// What was said of this version first. Servers look at a text in several passes, and publish again after each; only
    /// the first of one version answers to the first of another.
    first: Arc<Vec<Finding>>,
    pub(crate) latest: Arc<Vec<Finding>>,
}

#[derive(Default)]
struct LastWords {
    bytes: VecDeque<u8>,
    are_said: bool,
}

impl Process {
    pub(crate) fn start(command: &mut Command, client: Client, limits: Limits) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let group = Group::start(command)?;
        let (Some(stdin), Some(stdout), Some(stderr)) = group.pipes() else {
            return Err(io::Error::other("its pipes are missing"));
        };
        let (outgoing, to_send) = sync_channel(UNREAD);
        let shared = Arc::new(Shared {
            group,
            outgoing,
            limits,
            heard: Mutex::default(),
            changed: Condvar::new(),
            last_words: Mutex::default(),
            silence: Condvar::new(),
        });
        // From here on the process ends with this value, also where a thread cannot be started.
        let process = Self { shared };
        let of = || Arc::clone(&process.shared);
        let (reading, listening, ending) = (of(), of(), of());
        spawn("lsp write", move || write_all(stdin, &to_send))?;
        spawn("lsp read", move || reading.read_all(stdout, &client))?;
        spawn("lsp stderr", move || listening.keep_last_words(stderr))?;
        spawn("lsp end", move || ending.await_end())?;
        Ok(process)
    }

    pub(crate) fn id(&self) -> u32 {
        self.shared.group.id()
    }

    /// What it has ended with, and when.
    pub(crate) fn ended(&self) -> Option<(String, Instant)> {
        self.shared.heard.lock().ended.clone()
    }

    /// Whether it has said anything since then.
    pub(crate) fn spoke_since(&self, since: Instant) -> bool {
        self.shared.heard.lock().last_message.is_some_and(|last| last > since)
    }

    pub(crate) fn notify<N: notification::Notification>(&self, params: N::Params) -> Result<(), Failure> {
        self.send(Notification::new(N::METHOD.to_owned(), params).into())
    }

    /// Asks it and waits for the answer.
    pub(crate) fn ask(&self, method: &str, params: Value, deadline: Instant) -> Result<Value, Failure> {
        let id = {
            let mut heard = self.shared.heard.lock();
            heard.requests += 1;
            let id = RequestId::from(heard.requests);
            heard.awaited.insert(id.clone());
            id
        };
        self.send(Request { id: id.clone(), method: method.to_owned(), params }.into())?;
        let answer = self.wait(deadline, |heard| heard.answers.remove(&id));
        if matches!(answer, Err(Failure::Late)) {
            self.shared.heard.lock().awaited.remove(&id);
            let params = serde_json::json!({"id": id});
            self.send(Notification::new(notification::Cancel::METHOD.to_owned(), params).into())?;
        }
        answer?.map_err(|error| Failure::Refused { code: error.code, message: error.message })
    }

    /// Waits until there is what is looked for in what it has said.
    pub(crate) fn wait<T>(
        &self,
        deadline: Instant,
        mut look: impl FnMut(&mut Heard) -> Option<T>,
    ) -> Result<T, Failure> {
        let mut heard = self.shared.heard.lock();
        loop {
            if let Some(found) = look(&mut heard) {
                return Ok(found);
            }
            if let Some((why, _)) = &heard.ended {
                return Err(Failure::Ended(why.clone()));
            }
            let left = deadline.checked_duration_since(Instant::now()).ok_or(Failure::Late)?;
            heard = self.shared.changed.wait_timeout(heard, left).0;
        }
    }

    /// Looks at what it has said, and at which files are open.
    pub(crate) fn heard<T>(&self, look: impl FnOnce(&mut Heard) -> T) -> T {
        look(&mut self.shared.heard.lock())
    }

    /// Ends it for this reason, and waits for the end.
    pub(crate) fn end(&self, why: &str) {
        self.shared.end(why);
        let _ = self.wait(Instant::now() + LAST, |_| None::<()>);
    }

    /// Asks it to end, and ends it where it does not in time.
    pub(crate) fn stop(&self, deadline: Instant) {
        let polite = self.ask("shutdown", Value::Null, deadline).is_ok()
            && self.send(Notification::new("exit".to_owned(), Value::Null).into()).is_ok();
        if polite {
            let _ = self.wait(deadline, |_| None::<()>);
        }
        self.end("it was stopped");
    }

    fn send(&self, message: Message) -> Result<(), Failure> {
        self.shared.heard.lock().untold = 0;
        self.shared.send(message);
        match self.ended() {
            Some((why, _)) => Err(Failure::Ended(why)),
            None => Ok(()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.shared.end("it was stopped");
    }
}

impl Shared {
    fn send(&self, message: Message) {
        if self.outgoing.try_send(message).is_err() {
            self.end("it does not read what it is told");
        }
    }

    fn end(&self, why: &str) {
        self.heard.lock().fault.get_or_insert_with(|| why.to_owned());
        self.group.kill();
    }

    fn read_all(&self, stdout: impl Read, client: &Client) {
        let mut stdout = BufReader::new(stdout);
        loop {
            match wire::read(&mut stdout, self.limits.message) {
                Ok(Some((message, length))) => self.hear(message, length, client),
                // It is about to end, or it will never say anything again.
                Ok(None) => {
                    let (heard, time) = (self.heard.lock(), DUMB);
                    let over = |heard: &mut Heard| heard.ended.is_none();
                    let (heard, is_late) = self.changed.wait_timeout_while(heard, time, over);
                    drop(heard);
                    if is_late {
                        self.end("it closed its standard output");
                    }
                    return;
                }
                Err(error) => return self.end(&format!("it wrote what is no message: {error}")),
            }
        }
    }

    fn hear(&self, message: Message, length: usize, client: &Client) {
        let mut heard = self.heard.lock();
        heard.last_message = Some(Instant::now());
        heard.untold = heard.untold.saturating_add(length);
        if heard.untold > self.limits.flood {
            drop(heard);
            return self.end("it writes without end");
        }
        match message {
            Message::Request(request) => {
                let registers = request.method == RegisterCapability::METHOD;
                if registers && requests::registers_diagnostics(&request.params) {
                    heard.is_asked = true;
                    self.changed.notify_all();
                }
                drop(heard);
                let response_result = client.answer(&request.method, &request.params);
                return self.send(Response { id: request.id, response_result }.into());
            }
            Message::Response(response) => {
                if heard.awaited.remove(&response.id) {
                    heard.answers.insert(response.id, response.response_result);
                }
            }
            Message::Notification(told) => match told.method.as_str() {
                notification::PublishDiagnostics::METHOD => heard.take_published(told.params),
                "experimental/serverStatus" => heard.is_quiescent = told.params["quiescent"].as_bool(),
                _ => {}
            },
        }
        self.changed.notify_all();
    }

    fn keep_last_words(&self, mut stderr: impl Read) {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = stderr.read(&mut buffer) {
            let mut last = self.last_words.lock();
            last.bytes.extend(&buffer[..read]);
            let surplus = last.bytes.len().saturating_sub(LAST_WORDS);
            last.bytes.drain(..surplus);
        }
        self.last_words.lock().are_said = true;
        self.silence.notify_all();
    }

    fn await_end(&self) {
        let how = match self.group.wait() {
            Ok(status) => format!("it ended with {status}"),
            Err(error) => format!("it ended, nobody knows how: {error}"),
        };
        // What is held against it only because it has ended is not why.
        let how = self.heard.lock().fault.clone().unwrap_or(how);
        let last = self.last_words.lock();
        let (last, _) = self.silence.wait_timeout_while(last, LAST, |last| !last.are_said);
        let bytes: Vec<u8> = last.bytes.iter().copied().collect();
        drop(last);
        let words = String::from_utf8_lossy(&bytes);
        let mut heard = self.heard.lock();
        let why =
            if words.trim().is_empty() { how } else { format!("{how}; its last words: {}", words.trim()) };
        tracing::debug!(%why, "a language server has ended");
        heard.ended = Some((why, Instant::now()));
        self.changed.notify_all();
    }
}

impl Heard {
    fn take_published(&mut self, params: Value) {
        let Ok(told) = serde_json::from_value::<lsp_types::PublishDiagnosticsParams>(params) else { return };
        let Some(path) = wire::path(told.uri.as_str()) else { return };
        let is_kept =
            self.published.len() < FILES || self.open.contains(&path) || self.published.contains_key(&path);
        if !is_kept {
            return;
        }
        let latest = Arc::new(finding::findings(told.diagnostics));
        let again = self.published.get(&path).filter(|known| known.version == told.version);
        let first = again.map_or_else(|| Arc::clone(&latest), |known| Arc::clone(&known.first));
        self.published.insert(path, Published { version: told.version, first, latest });
    }

    /// What was published first of exactly this version of a file.
    pub(crate) fn published_of(&self, path: &Path, version: i32) -> Option<Arc<Vec<Finding>>> {
        let published = self.published.get(path).filter(|published| published.version == Some(version));
        published.map(|published| Arc::clone(&published.first))
    }

    /// What was published of it last.
    pub(crate) fn latest_of(&self, path: &Path, version: i32) -> Option<Arc<Vec<Finding>>> {
        let published = self.published.get(path).filter(|published| published.version == Some(version));
        published.map(|published| Arc::clone(&published.latest))
    }

    /// Whether something was published of this file without saying of which version.
    pub(crate) fn is_published_without_version(&self, path: &Path) -> bool {
        self.published.get(path).is_some_and(|published| published.version.is_none())
    }
}

fn write_all(mut stdin: impl Write, to_send: &Receiver<Message>) {
    while let Ok(message) = to_send.recv() {
        // That it does not read any more is noticed by its end, or by how much is left to send.
        if message.write(&mut stdin).is_err() {
            return;
        }
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}
