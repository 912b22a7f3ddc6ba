//! The thread of one server in one root: it starts it when there is something to do, does one job after the other, and
//! leaves it alone for a while after a crash.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, MutexGuard, Weak};
use std::time::{Duration, Instant};

use emend_process::search::Search;
use emend_threads::{Background, Mutex};

use crate::aftermath::{Answer, Changes, Report, State};
use crate::known::ending;
use crate::process::{Failure, Process};
use crate::queue::{Change, Job, Queue, Text};
use crate::requests::Client;
use crate::server::Server;
use crate::session::{Edited, Session};
use crate::settings::Limits;

/// One server in one root.
pub(crate) struct Worker {
    server: Arc<Server>,
    root: PathBuf,
    search: Arc<Search>,
    limits: Limits,
    queue: Background<Queue>,
    status: Mutex<Status>,
}

#[derive(Default)]
struct Status {
    process: Option<Arc<Process>>,
    is_ready: bool,
    is_stopped: bool,
    crash: Option<Crash>,
}

/// How it ended the last time.
#[derive(Clone)]
struct Crash {
    why: String,
    back_off: Duration,
    /// When it may be started again.
    over: Instant,
    /// Whether an edit was told of it.
    is_told: bool,
}

impl Worker {
    pub(crate) fn new(server: Arc<Server>, root: PathBuf, search: Arc<Search>, limits: Limits) -> Arc<Self> {
        Arc::new_cyclic(|worker: &Weak<Self>| {
            let (worker, mut session) = (Weak::clone(worker), None);
            let work = move |job| {
                if let Some(worker) = worker.upgrade() {
                    worker.work_guarded(job, &mut session);
                }
            };
            let queue = Background::new(format!("lsp {}", server.name), Queue::default(), work);
            Self { server, root, search, limits, queue, status: Mutex::default() }
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Has it done when its turn comes. Where there is no thread for it, or it is stopped, nothing comes of it.
    pub(crate) fn push(&self, job: Job) {
        // What is over is dropped, and so answered, after the queue is let go.
        drop(self.queue.push(|queue| queue.push(job)));
    }

    /// Whether it has been started and has not ended.
    pub(crate) fn is_running(&self) -> bool {
        self.process().is_some()
    }

    pub(crate) fn process(&self) -> Option<Arc<Process>> {
        self.status().process.clone().filter(|process| process.ended().is_none())
    }

    pub(crate) fn state(&self) -> State {
        let status = self.status();
        match (&status.process, &status.crash) {
            (Some(process), _) => match process.ended() {
                Some((why, at)) => {
                    let over = at + self.back_off(&status, at);
                    State::Crashed { why, restarts_in: over.saturating_duration_since(Instant::now()) }
                }
                None if status.is_ready => State::Ready,
                None => State::Starting,
            },
            (None, Some(crash)) => crash.state(),
            (None, None) => State::Idle,
        }
    }

    /// Lets nothing more be done, and ends the server.
    pub(crate) fn stop(&self, deadline: Instant) {
        self.queue.close();
        drop(self.queue.with_waiting(Queue::take_all));
        let (process, is_ready) = {
            let mut status = self.status();
            status.is_stopped = true;
            (status.process.take(), status.is_ready)
        };
        match process {
            Some(process) if is_ready => process.stop(deadline),
            // It answers nothing before it has answered that.
            Some(process) => process.end("it was stopped"),
            None => {}
        }
    }

    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock()
    }

    /// Does this. A bug here, or in a text that is made here, costs this server and the answer, and nothing else.
    fn work_guarded(&self, job: Job, session: &mut Option<Session>) {
        if catch_unwind(AssertUnwindSafe(|| self.work(job, session))).is_err() {
            *session = None;
            let mut status = self.status();
            status.process = None;
            status.is_ready = false;
        }
    }

    fn work(&self, job: Job, session: &mut Option<Session>) {
        if session.is_some() && self.server.objection(&self.root).is_some() {
            // What makes it so may be what it is about to be told of.
            *session = None;
            let process = std::mem::take(&mut self.status().process);
            process.inspect(|process| process.end("it was stopped"));
        }
        match job {
            Job::Outside(paths) => {
                if let Some(session) = session {
                    // If it has ended, the next edit will say so.
                    let _ = session.changed_outside(&paths);
                }
            }
            Job::Edit { changes, reply } => {
                let answer =
                    self.with_session(session, |session, deadline| self.edit(session, &changes, deadline));
                let (state, changes) = apart(answer);
                let crashed = self.untold_crash().filter(|_| !matches!(state, State::Crashed { .. }));
                self.answer_waiting(&state);
                reply.give(Report { server: self.server.name.clone(), state, crashed, changes });
            }
            Job::Ask { texts, reply } => {
                let answer = self.with_session(session, |session, deadline| {
                    let language = |path: &Path| ending(path).and_then(|ending| self.server.language(ending));
                    let with_language = |(path, text): (PathBuf, String)| {
                        let language = language(&path).unwrap_or_default().to_owned();
                        (path, language, text)
                    };
                    let is_large = |(_, text): &(PathBuf, String)| text.len() > self.limits.text;
                    let (large, texts): (Vec<_>, Vec<_>) = texts.into_iter().partition(is_large);
                    let large: Vec<String> = large.iter().map(|(path, _)| self.too_large(path)).collect();
                    let unasked = (!large.is_empty()).then(|| large.join(", and "));
                    if let Some(why) = unasked.as_ref().filter(|_| texts.is_empty()) {
                        return Err(refused(why));
                    }
                    let texts: Vec<_> = texts.into_iter().map(with_language).collect();
                    Ok((session.ask(&texts, deadline)?, unasked))
                });
                let (state, said) = apart(answer);
                let (diagnostics, unasked) = said.unwrap_or_default();
                self.answer_waiting(&state);
                reply.give(Answer { server: self.server.name.clone(), state, diagnostics, unasked });
            }
        }
    }

    /// Where the server is not there, nobody waits for it.
    fn answer_waiting(&self, state: &State) {
        if !matches!(state, State::Crashed { .. } | State::NotInstalled { .. }) {
            return;
        }
        let waiting = self.queue.with_waiting(Queue::take_awaited);
        for mut job in waiting {
            match &mut job {
                Job::Edit { reply, .. } => reply.otherwise(|report| report.state = state.clone()),
                Job::Ask { reply, .. } => reply.otherwise(|answer| answer.state = state.clone()),
                Job::Outside(_) => {}
            }
        }
    }

    fn edit(&self, session: &mut Session, changes: &[Change], deadline: Instant) -> Result<Changes, Failure> {
        let mut files = Vec::new();
        for change in changes {
            let language = ending(&change.path).and_then(|ending| self.server.language(ending));
            files.push(Edited {
                path: &change.path,
                language: language.unwrap_or_default(),
                before: made(&change.before),
                after: made(&change.after),
            });
        }
        let is_large = |text: Option<&str>| text.is_some_and(|text| text.len() > self.limits.text);
        if let Some(file) = files.iter().find(|file| is_large(file.before) || is_large(file.after)) {
            return Err(refused(&self.too_large(file.path)));
        }
        session.edit(&files, deadline)
    }

    fn too_large(&self, path: &Path) -> String {
        format!("{} has more than {} bytes", path.display(), self.limits.text)
    }

    /// Does something with the server, which is started if need be. An error says how it is instead.
    fn with_session<T>(
        &self,
        session: &mut Option<Session>,
        act: impl FnOnce(&mut Session, Instant) -> Result<T, Failure>,
    ) -> Result<T, State> {
        if let Some((why, at)) = session.as_ref().and_then(|session| session.process().ended()) {
            *session = None;
            self.crashed(why, at);
        }
        if session.is_none() {
            *session = Some(self.start()?);
        }
        let Some(ready) = session else { return Err(silent("it was stopped")) };
        let begun = Instant::now();
        let why = match act(ready, begun + self.limits.job) {
            Ok(answer) => return Ok(answer),
            Err(Failure::Refused { message, .. }) => return Err(silent(&message)),
            Err(Failure::Late) => {
                let why = format!("it has not answered within {:?}", self.limits.job);
                // One that says something is busy. One that says nothing may never do so again.
                if ready.process().spoke_since(begun + self.limits.job / 2) {
                    return Err(silent(&why));
                }
                ready.process().end(&why);
                why
            }
            Err(Failure::Ended(why)) => why,
        };
        let (why, at) = ready.process().ended().unwrap_or((why, Instant::now()));
        *session = None;
        Err(self.crashed(why, at))
    }

    fn start(&self) -> Result<Session, State> {
        if let Some(why) = self.server.objection(&self.root) {
            return Err(State::Silent { why });
        }
        if let Some(crash) = self.status().crash.as_ref().filter(|crash| crash.over > Instant::now()) {
            return Err(crash.state());
        }
        // Programs come and go, and links are set anew: what was found once is looked at again.
        let found = self.server.find(&self.search).and_then(|(program, arguments)| {
            let start = self.server.start(&program, &self.search)?;
            Ok((program, arguments, start))
        });
        let (program, arguments, start) = found.map_err(|why| State::NotInstalled { why })?;
        let mut command = Command::new(&program);
        command.args(&arguments).current_dir(&self.root).env("PATH", self.search.for_children());
        command.envs(start.environment);
        let (name, root) = (self.server.name.clone(), self.root.clone());
        let client = Client { name, root, options: start.options.clone() };
        tracing::debug!(server = self.server.name, root = %self.root.display(), "a language server is started");
        let begun = Instant::now();
        let process = Process::start(&mut command, client, self.limits).map_err(|error| {
            self.crashed(format!("{} cannot be started: {error}", program.display()), begun)
        })?;
        let process = Arc::new(process);
        {
            let mut status = self.status();
            if status.is_stopped {
                return Err(silent("it was stopped"));
            }
            status.is_ready = false;
            status.process = Some(Arc::clone(&process));
        }
        let kind = self.server.kind;
        match Session::initialize(Arc::clone(&process), kind, &self.root, &start.options, self.limits) {
            Ok(session) => {
                self.status().is_ready = true;
                Ok(session)
            }
            Err(failure) => {
                let why = match failure {
                    Failure::Ended(why) => why,
                    Failure::Late => format!("it was not ready within {:?}", self.limits.initialize),
                    Failure::Refused { message, .. } => format!("it refused to start: {message}"),
                };
                process.end(&why);
                let (why, at) = process.ended().unwrap_or((why, Instant::now()));
                Err(self.crashed(why, at))
            }
        }
    }

    /// Notes a crash.
    fn crashed(&self, why: String, at: Instant) -> State {
        let mut status = self.status();
        let back_off = self.back_off(&status, at);
        status.process = None;
        status.is_ready = false;
        if !status.is_stopped {
            tracing::warn!(server = self.server.name, %why, "a language server crashed");
        }
        let crash = Crash { why, back_off, over: at + back_off, is_told: false };
        let state = crash.state();
        status.crash = Some(crash);
        drop(status);
        state
    }

    /// How long it is left alone after a crash at this time.
    fn back_off(&self, status: &Status, at: Instant) -> Duration {
        match &status.crash {
            Some(crash) if at.saturating_duration_since(crash.over) < self.limits.well => {
                (crash.back_off * 2).min(self.limits.longest_back_off)
            }
            _ => self.limits.back_off,
        }
    }

    /// Why it had crashed, if nobody was told yet.
    fn untold_crash(&self) -> Option<String> {
        let mut status = self.status();
        let crash = status.crash.as_mut().filter(|crash| !crash.is_told)?;
        crash.is_told = true;
        Some(crash.why.clone())
    }
}

impl Crash {
    fn state(&self) -> State {
        let restarts_in = self.over.saturating_duration_since(Instant::now());
        State::Crashed { why: self.why.clone(), restarts_in }
    }
}

fn made(text: &Option<Text>) -> Option<&str> {
    text.as_ref().map(|text| text.as_str())
}

fn refused(why: &str) -> Failure {
    Failure::Refused { code: 0, message: why.to_owned() }
}

fn silent(why: &str) -> State {
    State::Silent { why: why.to_owned() }
}

fn apart<T>(answer: Result<T, State>) -> (State, Option<T>) {
    match answer {
        Ok(answer) => (State::Ready, Some(answer)),
        Err(state) => (state, None),
    }
}

/// What is answered for an edit if nothing else is,
pub(crate) fn unanswered(server: &str) -> Report {
    Report { server: server.to_owned(), state: silent("it was stopped"), crashed: None, changes: None }
}

/// and what to a question.
pub(crate) fn unsaid(server: &str) -> Answer {
    Answer::none(server, silent("it was not asked"))
}
