//! All servers of a workspace: which of them handle a file, and a worker for each server in each root.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};
use std::thread;
use std::time::Instant;

use emend_process::search::Search;
use emend_threads::Mutex;

use crate::aftermath::{Diagnosis, FileChange, ServerInfo, ServerState};
use crate::known::{PROJECT_FILES, extension};
use crate::pending::{Awaited, PendingAftermath};
use crate::question::{Answered, Question};
use crate::queue::{Job, SharedChange};
use crate::server_config::{self, ServerConfig};
use crate::settings::{LspSettings, ServerLimits};
use crate::worker::{self, Worker};

/// The language servers of a workspace. A server starts with the first file that needs it; dropping this stops all.
pub struct Servers {
    roots: Vec<PathBuf>,
    servers: Vec<Arc<ServerConfig>>,
    /// The indices of the servers for each extension.
    by_ending: HashMap<String, Vec<usize>>,
    search: Arc<Search>,
    limits: ServerLimits,
    workers: Mutex<BTreeMap<(usize, PathBuf), Arc<Worker>>>,
    is_stopped: AtomicBool,
}

impl Servers {
    /// Makes the servers of these settings. No program is searched for or started yet.
    pub fn new(settings: LspSettings) -> Self {
        let servers: Vec<_> =
            server_config::configured_servers(&settings.servers).into_iter().map(Arc::new).collect();
        let mut by_ending: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, server) in servers.iter().enumerate().filter(|(_, server)| server.is_enabled) {
            for (ending, _) in &server.extensions {
                by_ending.entry(ending.clone()).or_default().push(at);
            }
        }
        Self {
            servers,
            by_ending,
            search: Arc::new(Search::new(
                settings.search,
                &[&settings.roots[..], &settings.untrusted].concat(),
            )),
            roots: settings.roots,
            limits: settings.limits,
            workers: Mutex::default(),
            is_stopped: AtomicBool::new(false),
        }
    }

    /// Returns whether an installed server handles this file, or a running one must be notified of its changes.
    /// Programs are searched for only with the first file of an extension.
    pub fn concerns(&self, path: &Path) -> bool {
        let is_of_project =
            || is_project_file(path) && self.workers().values().any(|worker| worker.is_running());
        self.root_of(path).is_some() && (self.available_for(path).next().is_some() || is_of_project())
    }

    /// Returns the extensions of all files that a configured server handles, installed or not.
    pub fn extensions(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().flat_map(|server| server.extensions.iter().map(|(ending, _)| ending.as_str()))
    }

    /// Returns whether a server, installed or not, is for both of these files.
    pub fn are_alike(&self, one: &Path, other: &Path) -> bool {
        let has = |server: &ServerConfig, path| {
            extension(path).is_some_and(|ending| server.language(ending).is_some())
        };
        self.servers.iter().any(|server| has(server, one) && has(server, other))
    }

    /// Notifies the servers of an edit that has been made, without waiting for them. Returns `None` if no server
    /// handles any of the files.
    pub fn notify_edit(&self, changes: Vec<FileChange>) -> Option<PendingAftermath> {
        let of_project = changes.iter().map(|change| &change.path).filter(|path| is_project_file(path));
        let of_project: Vec<PathBuf> = of_project.cloned().collect();
        if !of_project.is_empty() {
            self.notify_outside_changes(&of_project);
        }
        let mut jobs: BTreeMap<(usize, PathBuf), Vec<SharedChange>> = BTreeMap::new();
        for change in changes {
            let change = SharedChange::from(change);
            let Some(root) = self.root_of(&change.path) else { continue };
            for server in self.available_for(&change.path) {
                jobs.entry((server, root.clone())).or_default().push(change.clone());
            }
        }
        if jobs.is_empty() {
            return None;
        }
        let defaults =
            jobs.keys().map(|(server, _)| worker::unanswered_report(&self.servers[*server].name)).collect();
        let (awaited, replies) = Awaited::new(defaults);
        for (((server, root), changes), reply) in jobs.into_iter().zip(replies) {
            self.worker(server, root).push(Job::Edit { changes, reply });
        }
        Some(PendingAftermath::new(awaited))
    }

    /// Notifies the running servers of files that other programs have changed, created or removed.
    pub fn notify_outside_changes(&self, paths: &[PathBuf]) {
        let running: Vec<_> = self.workers().values().filter(|worker| worker.is_running()).cloned().collect();
        for worker in running {
            let inside = |path: &&PathBuf| self.root_of(path).as_deref() == Some(worker.root());
            let paths: Vec<PathBuf> = paths.iter().filter(inside).cloned().collect();
            if !paths.is_empty() {
                worker.push(Job::OutsideChanges(paths));
            }
        }
    }

    /// Asks the servers to diagnose files with these texts. Each server that handles one of them gets an answer in
    /// the result, also if it is not installed.
    pub fn diagnose(&self, files: &[(PathBuf, String)], deadline: Instant) -> Vec<Diagnosis> {
        let mut answers = Vec::new();
        let mut asked = Vec::new();
        for (at, server) in self.servers.iter().enumerate() {
            let is_for =
                |path: &Path| extension(path).is_some_and(|ending| server.language(ending).is_some());
            let mut texts: BTreeMap<PathBuf, Vec<(PathBuf, String)>> = BTreeMap::new();
            for (path, text) in files.iter().filter(|(path, _)| is_for(path)) {
                if let Some(root) = self.root_of(path) {
                    texts.entry(root).or_default().push((path.clone(), text.clone()));
                }
            }
            if texts.is_empty() {
                continue;
            }
            if let Some(state) = self.reason_for_absence(server) {
                answers.push(Diagnosis::without_diagnostics(&server.name, state));
                continue;
            }
            for (root, texts) in texts {
                let worker = self.worker(at, root);
                let (awaited, replies) = Awaited::new(vec![worker::unanswered_diagnosis(&server.name)]);
                for reply in replies {
                    worker.push(Job::Diagnose { texts: texts.clone(), reply });
                }
                asked.push((server, worker, awaited));
            }
        }
        for (server, worker, awaited) in asked {
            answers.extend(awaited.wait(deadline).unwrap_or_else(|| {
                vec![Diagnosis::without_diagnostics(&server.name, worker.state_of_silence())]
            }));
        }
        answers
    }

    /// Puts a question to all servers for its file. Each has an answer in the result, also if it is not installed.
    pub fn ask(&self, question: Question, deadline: Instant) -> Vec<Answered> {
        let Some(root) = self.root_of(&question.path) else { return Vec::new() };
        let question = Arc::new(question);
        let (mut answers, mut asked) = (Vec::new(), Vec::new());
        for (at, server) in self.servers.iter().enumerate() {
            if extension(&question.path).and_then(|ending| server.language(ending)).is_none() {
                continue;
            }
            if let Some(state) = self.reason_for_absence(server) {
                answers.push(Answered::without_answer(&server.name, state));
                continue;
            }
            let worker = self.worker(at, root.clone());
            let (awaited, replies) = Awaited::new(vec![worker::unanswered_question(&server.name)]);
            for reply in replies {
                worker.push(Job::Ask { question: Arc::clone(&question), reply });
            }
            asked.push((server, worker, awaited));
        }
        for (server, worker, awaited) in asked {
            answers.extend(
                awaited.wait(deadline).unwrap_or_else(|| {
                    vec![Answered::without_answer(&server.name, worker.state_of_silence())]
                }),
            );
        }
        answers
    }

    /// Returns every configured server with its state.
    pub fn list(&self) -> Vec<ServerInfo> {
        let workers: Vec<_> =
            self.workers().iter().map(|(key, worker)| (key.0, Arc::clone(worker))).collect();
        let mut states = Vec::new();
        for (at, server) in self.servers.iter().enumerate() {
            let state = |state, worker: Option<&Worker>| ServerInfo {
                server: server.name.clone(),
                extensions: server.extensions.iter().map(|(ending, _)| ending.clone()).collect(),
                state,
                root: worker.map(|worker| worker.root().to_owned()),
                program: server.last_command(&self.search).ok().map(|(program, _)| program),
                process: worker.and_then(Worker::process).map(|process| process.id()),
            };
            let absent = self.reason_for_absence(server);
            let mut own = workers.iter().filter(|(of, _)| *of == at).peekable();
            if own.peek().is_none() {
                states.push(state(absent.unwrap_or(ServerState::Idle), None));
            }
            states.extend(own.map(|(_, worker)| state(worker.state(), Some(worker))));
        }
        states
    }

    /// Stops all servers, each by `shutdown` if it answers in time. Later jobs get only default answers.
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Release);
        let deadline = Instant::now() + self.limits.stop;
        let workers: Vec<_> = std::mem::take(&mut *self.workers()).into_values().collect();
        thread::scope(|scope| {
            for worker in &workers {
                let stop = || worker.stop(deadline);
                if thread::Builder::new().spawn_scoped(scope, stop).is_err() {
                    worker.stop(Instant::now());
                }
            }
        });
    }

    /// Returns why a server cannot be used, if so. Its program is searched for again.
    fn reason_for_absence(&self, server: &ServerConfig) -> Option<ServerState> {
        // A setting for an unknown name may be a spelling error, so it is reported even if it disables the server.
        if let Some(why) = server.misconfiguration() {
            return Some(ServerState::NotInstalled { why });
        }
        if !server.is_enabled {
            return Some(ServerState::Disabled);
        }
        server.find_command(&self.search).err().map(|why| ServerState::NotInstalled { why })
    }

    /// Returns the innermost root that holds a file.
    fn root_of(&self, path: &Path) -> Option<PathBuf> {
        let around = self.roots.iter().filter(|root| path.starts_with(root));
        around.max_by_key(|root| root.components().count()).cloned()
    }

    /// Returns the indices of the enabled and installed servers for a file.
    fn available_for(&self, path: &Path) -> impl Iterator<Item = usize> {
        let servers = extension(path).and_then(|ending| self.by_ending.get(ending));
        let servers = servers.map(Vec::as_slice).unwrap_or_default();
        servers.iter().copied().filter(|at| self.servers[*at].last_command(&self.search).is_ok())
    }

    fn worker(&self, server: usize, root: PathBuf) -> Arc<Worker> {
        let make = |root: &Path| {
            let (of, search) = (Arc::clone(&self.servers[server]), Arc::clone(&self.search));
            Worker::new(of, root.to_owned(), search, self.limits)
        };
        if self.is_stopped.load(Ordering::Acquire) {
            let stopped = make(&root);
            stopped.stop(Instant::now());
            return stopped;
        }
        let mut workers = self.workers();
        Arc::clone(workers.entry((server, root)).or_insert_with_key(|(_, root)| make(root)))
    }

    fn workers(&self) -> MutexGuard<'_, BTreeMap<(usize, PathBuf), Arc<Worker>>> {
        self.workers.lock()
    }
}

fn is_project_file(path: &Path) -> bool {
    path.file_name().is_some_and(|name| PROJECT_FILES.iter().any(|known| name == *known))
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop();
    }
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Servers").field("roots", &self.roots).finish_non_exhaustive()
    }
}
