//! The worker of one server in one root: a thread that starts the server when there is a job, does one job after the
//! other, and after a crash lets a back-off pass before it starts the server again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, MutexGuard, Weak};
use std::time::{Duration, Instant};

use emend_process::search::Search;
use emend_threads::{Background, Mutex};

use crate::aftermath::{Diagnosis, DiagnosticChanges, ServerReport, ServerState};
use crate::known::extension;
use crate::lsp_session::{EditedFile, LspSession};
use crate::question::{Answered, Question, Said};
use crate::queue::{Job, Queue, SharedChange, SharedText};
use crate::requests::RequestHandler;
use crate::server_config::ServerConfig;
use crate::server_process::{RequestError, ServerProcess};
use crate::settings::ServerLimits;

/// The jobs, the thread and the state of one server in one root.
pub(crate) struct Worker {
    server: Arc<ServerConfig>,
    root: PathBuf,
    search: Arc<Search>,
    limits: ServerLimits,
    queue: Background<Queue>,
    status: Mutex<Status>,
}

#[derive(Default)]
struct Status {
    process: Option<Arc<ServerProcess>>,
    is_ready: bool,
    is_stopped: bool,
    crash: Option<Crash>,
}

/// The last crash of a server.
#[derive(Clone)]
struct Crash {
    why: String,
    back_off: Duration,
    /// The earliest time of the next start.
    restart_at: Instant,
    /// Whether a report has mentioned it.
    is_reported: bool,
}

impl Worker {
    pub(crate) fn new(
        server: Arc<ServerConfig>,
        root: PathBuf,
        search: Arc<Search>,
        limits: ServerLimits,
    ) -> Arc<Self> {
        Arc::new_cyclic(|worker: &Weak<Self>| {
            let (worker, mut session) = (Weak::clone(worker), None);
            let work = move |job| {
                if let Some(worker) = worker.upgrade() {
                    worker.do_job_guarded(job, &mut session);
                }
            };
            let queue = Background::new(format!("lsp {}", server.name), Queue::default(), work);
            Self { server, root, search, limits, queue, status: Mutex::default() }
        })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Queues a job. If no thread can be started, or the worker is stopped, the job is answered with its default.
    pub(crate) fn push(&self, job: Job) {
        // A job that will not be done is dropped, and so answered, after the queue is unlocked.
        drop(self.queue.push(|queue| queue.push(job)));
    }

    /// Whether the server has been started and has not ended.
    pub(crate) fn is_running(&self) -> bool {
        self.process().is_some()
    }

    pub(crate) fn process(&self) -> Option<Arc<ServerProcess>> {
        self.status().process.clone().filter(|process| process.exit().is_none())
    }

    pub(crate) fn state(&self) -> ServerState {
        let status = self.status();
        match (&status.process, &status.crash) {
            (Some(process), _) => match process.exit() {
                Some((why, at)) => {
                    let over = at + self.back_off(&status, at);
                    ServerState::Crashed { why, restarts_in: over.saturating_duration_since(Instant::now()) }
                }
                None if status.is_ready => ServerState::Ready,
                None => ServerState::Starting,
            },
            (None, Some(crash)) => crash.state(),
            (None, None) => ServerState::Idle,
        }
    }

    /// Returns the state of a server that has not answered in time.
    pub(crate) fn state_of_silence(&self) -> ServerState {
        match self.state() {
            ServerState::Ready | ServerState::Idle => silent("it has not answered yet"),
            state => state,
        }
    }

    /// Stops taking jobs, and ends the server.
    pub(crate) fn stop(&self, deadline: Instant) {
        self.queue.close();
        drop(self.queue.with_waiting(Queue::take_all));
        let (process, is_ready) = {
            let mut status = self.status();
            status.is_stopped = true;
            (status.process.take(), status.is_ready)
        };
        match process {
            Some(process) if is_ready => process.shut_down(deadline),
            // A server that has not answered `initialize` answers nothing else either.
            Some(process) => process.kill("it was stopped"),
            None => {}
        }
    }

    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock()
    }

    /// Does a job. A panic in it, or in a lazy text of it, costs this server and the answer, and nothing else.
    fn do_job_guarded(&self, job: Job, session: &mut Option<LspSession>) {
        if catch_unwind(AssertUnwindSafe(|| self.do_job(job, session))).is_err() {
            *session = None;
            let mut status = self.status();
            status.process = None;
            status.is_ready = false;
        }
    }

    fn do_job(&self, job: Job, session: &mut Option<LspSession>) {
        if session.is_some() && self.server.objection(&self.root).is_some() {
            // The job may be about the very change that raised the objection.
            *session = None;
            let process = std::mem::take(&mut self.status().process);
            process.inspect(|process| process.kill("it was stopped"));
        }
        match job {
            Job::OutsideChanges(paths) => {
                if let Some(session) = session {
                    // If the server has ended, the next edit reports it.
                    let _ = session.notify_outside_changes(&paths);
                }
            }
            Job::Edit { changes, reply } => {
                let answer = self.with_session(session, |session, deadline| {
                    self.diagnose_edit(session, &changes, deadline)
                });
                let (state, changes) = split_answer(answer);
                let crashed =
                    self.take_unreported_crash().filter(|_| !matches!(state, ServerState::Crashed { .. }));
                self.answer_waiting_jobs(&state);
                reply.give(ServerReport { server: self.server.name.clone(), state, crashed, changes });
            }
            Job::Diagnose { texts, reply } => {
                let answer = self.with_session(session, |session, deadline| {
                    let language =
                        |path: &Path| extension(path).and_then(|ending| self.server.language(ending));
                    let with_language = |(path, text): (PathBuf, String)| {
                        let language = language(&path).unwrap_or_default().to_owned();
                        (path, language, text)
                    };
                    let is_large = |(_, text): &(PathBuf, String)| text.len() > self.limits.file_bytes;
                    let (large, texts): (Vec<_>, Vec<_>) = texts.into_iter().partition(is_large);
                    let large: Vec<String> = large.iter().map(|(path, _)| self.too_large(path)).collect();
                    let unasked = (!large.is_empty()).then(|| large.join(", and "));
                    if let Some(why) = unasked.as_ref().filter(|_| texts.is_empty()) {
                        return Err(RequestError::refused(why));
                    }
                    let texts: Vec<_> = texts.into_iter().map(with_language).collect();
                    Ok((session.diagnose(&texts, deadline)?, unasked))
                });
                let (state, said) = split_answer(answer);
                let (diagnostics, unasked) = said.unwrap_or_default();
                self.answer_waiting_jobs(&state);
                reply.give(Diagnosis { server: self.server.name.clone(), state, diagnostics, unasked });
            }
            Job::Ask { question, reply } => {
                let answer =
                    self.with_session(session, |session, deadline| self.ask(session, &question, deadline));
                let is_complete = session.as_ref().is_some_and(LspSession::says_when_complete);
                let (state, said) = split_answer(answer);
                self.answer_waiting_jobs(&state);
                let (server, unseen) = (self.server.name.clone(), self.server.unseen());
                reply.give(Answered { server, state, said: said.flatten(), is_complete, unseen });
            }
        }
    }

    /// Answers all waiting jobs at once if the server has crashed or is not installed.
    fn answer_waiting_jobs(&self, state: &ServerState) {
        if !matches!(state, ServerState::Crashed { .. } | ServerState::NotInstalled { .. }) {
            return;
        }
        let waiting = self.queue.with_waiting(Queue::take_awaited);
        for mut job in waiting {
            match &mut job {
                Job::Edit { reply, .. } => reply.change_default(|report| report.state = state.clone()),
                Job::Diagnose { reply, .. } => reply.change_default(|answer| answer.state = state.clone()),
                Job::Ask { reply, .. } => reply.change_default(|answer| answer.state = state.clone()),
                Job::OutsideChanges(_) => {}
            }
        }
    }

    fn diagnose_edit(
        &self,
        session: &mut LspSession,
        changes: &[SharedChange],
        deadline: Instant,
    ) -> Result<DiagnosticChanges, RequestError> {
        let mut files = Vec::new();
        for change in changes {
            let language = extension(&change.path).and_then(|ending| self.server.language(ending));
            files.push(EditedFile {
                path: &change.path,
                language: language.unwrap_or_default(),
                before: evaluate(&change.before),
                after: evaluate(&change.after),
            });
        }
        let is_large = |text: Option<&str>| text.is_some_and(|text| text.len() > self.limits.file_bytes);
        if let Some(file) = files.iter().find(|file| is_large(file.before) || is_large(file.after)) {
            return Err(RequestError::refused(self.too_large(file.path)));
        }
        session.diagnose_edit(&files, deadline)
    }

    fn ask(
        &self,
        session: &mut LspSession,
        question: &Question,
        deadline: Instant,
    ) -> Result<Option<Said>, RequestError> {
        if let Some((path, _)) = question.texts.iter().find(|(_, text)| text.len() > self.limits.file_bytes) {
            return Err(RequestError::refused(self.too_large(path)));
        }
        let language = |path: &Path| {
            let known = extension(path).and_then(|ending| self.server.language(ending));
            known.unwrap_or_default().to_owned()
        };
        session.ask(question, language, deadline)
    }

    fn too_large(&self, path: &Path) -> String {
        format!("{} has more than {} bytes", path.display(), self.limits.file_bytes)
    }

    /// Runs `act` with the server, which is started if need be. The error is the state of a server that is not ready.
    fn with_session<T>(
        &self,
        session: &mut Option<LspSession>,
        act: impl FnOnce(&mut LspSession, Instant) -> Result<T, RequestError>,
    ) -> Result<T, ServerState> {
        if let Some((why, at)) = session.as_ref().and_then(|session| session.process().exit()) {
            *session = None;
            self.record_crash(why, at);
        }
        if session.is_none() {
            *session = Some(self.start()?);
        }
        let Some(ready) = session else { return Err(silent("it was stopped")) };
        let begun = Instant::now();
        let why = match act(ready, begun + self.limits.job) {
            Ok(answer) => return Ok(answer),
            Err(RequestError::Refused { message, .. }) => return Err(silent(&message)),
            Err(RequestError::TimedOut) => {
                let why = format!("it has not answered within {:?}", self.limits.job);
                // A server that still sends messages is busy; a silent one may hang for ever.
                if ready.process().has_spoken_since(begun + self.limits.job / 2) {
                    return Err(silent(&why));
                }
                ready.process().kill(&why);
                why
            }
            Err(RequestError::Ended(why)) => why,
        };
        let (why, at) = ready.process().exit().unwrap_or((why, Instant::now()));
        *session = None;
        Err(self.record_crash(why, at))
    }

    fn start(&self) -> Result<LspSession, ServerState> {
        if let Some(why) = self.server.objection(&self.root) {
            return Err(ServerState::Silent { why });
        }
        if let Some(crash) = self.status().crash.as_ref().filter(|crash| crash.restart_at > Instant::now()) {
            return Err(crash.state());
        }
        // Programs come and go, and links change, so the program is searched for again.
        let found = self.server.find_command(&self.search).and_then(|(program, arguments)| {
            let start = self.server.launch(&program, &self.search)?;
            Ok((program, arguments, start))
        });
        let (program, arguments, start) = found.map_err(|why| ServerState::NotInstalled { why })?;
        let mut command = Command::new(&program);
        command.args(&arguments).current_dir(&self.root);
        self.search.lead(&mut command);
        command.envs(start.environment);
        let (name, root) = (self.server.name.clone(), self.root.clone());
        let client = RequestHandler { name, root, options: start.options.clone() };
        tracing::debug!(server = self.server.name, root = %self.root.display(), "a language server is started");
        let begun = Instant::now();
        let process = ServerProcess::start(&mut command, client, self.limits).map_err(|error| {
            self.record_crash(format!("{} cannot be started: {error}", program.display()), begun)
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
        let kind = self.server.dialect;
        match LspSession::initialize(Arc::clone(&process), kind, &self.root, &start.options, self.limits) {
            Ok(session) => {
                self.status().is_ready = true;
                Ok(session)
            }
            Err(error) => {
                let why = match error {
                    RequestError::Ended(why) => why,
                    RequestError::TimedOut => format!("it was not ready within {:?}", self.limits.initialize),
                    RequestError::Refused { message, .. } => format!("it refused to start: {message}"),
                };
                process.kill(&why);
                let (why, at) = process.exit().unwrap_or((why, Instant::now()));
                Err(self.record_crash(why, at))
            }
        }
    }

    /// Records a crash and returns the state that follows from it.
    fn record_crash(&self, why: String, at: Instant) -> ServerState {
        let mut status = self.status();
        let back_off = self.back_off(&status, at);
        status.process = None;
        status.is_ready = false;
        if !status.is_stopped {
            tracing::warn!(server = self.server.name, %why, "a language server crashed");
        }
        let crash = Crash { why, back_off, restart_at: at + back_off, is_reported: false };
        let state = crash.state();
        status.crash = Some(crash);
        drop(status);
        state
    }

    /// Returns how long to wait after a crash at this time before the next start.
    fn back_off(&self, status: &Status, at: Instant) -> Duration {
        match &status.crash {
            Some(crash)
                if at.saturating_duration_since(crash.restart_at) < self.limits.crashes_forgotten_after =>
            {
                (crash.back_off * 2).min(self.limits.longest_back_off)
            }
            _ => self.limits.back_off,
        }
    }

    /// Returns the reason of the last crash the first time it is called after that crash.
    fn take_unreported_crash(&self) -> Option<String> {
        let mut status = self.status();
        let crash = status.crash.as_mut().filter(|crash| !crash.is_reported)?;
        crash.is_reported = true;
        Some(crash.why.clone())
    }
}

impl Crash {
    fn state(&self) -> ServerState {
        let restarts_in = self.restart_at.saturating_duration_since(Instant::now());
        ServerState::Crashed { why: self.why.clone(), restarts_in }
    }
}

fn evaluate(text: &Option<SharedText>) -> Option<&str> {
    text.as_ref().map(|text| text.as_str())
}

fn silent(why: &str) -> ServerState {
    ServerState::Silent { why: why.to_owned() }
}

fn split_answer<T>(answer: Result<T, ServerState>) -> (ServerState, Option<T>) {
    match answer {
        Ok(answer) => (ServerState::Ready, Some(answer)),
        Err(state) => (state, None),
    }
}

/// Returns the report of an edit that a server never handled.
pub(crate) fn unanswered_report(server: &str) -> ServerReport {
    ServerReport { server: server.to_owned(), state: silent("it was stopped"), crashed: None, changes: None }
}

/// Returns the answer to a question that a server never handled.
pub(crate) fn unanswered_diagnosis(server: &str) -> Diagnosis {
    Diagnosis::without_diagnostics(server, silent("it was not asked"))
}

/// Returns the answer to a question for an edit that a server never handled.
pub(crate) fn unanswered_question(server: &str) -> Answered {
    Answered::without_answer(server, silent("it was not asked"))
}
