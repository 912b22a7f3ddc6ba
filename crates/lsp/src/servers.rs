//! All servers together: which of them a file concerns, and a worker for each in each root.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};
use std::thread;
use std::time::Instant;

use emend_process::search::Search;
use emend_threads::Mutex;

use crate::aftermath::{Answer, FileChange, ServerState, State};
use crate::known::{PROJECT_FILES, ending};
use crate::pending::{Awaited, Pending};
use crate::queue::{Change, Job};
use crate::server::{self, Server};
use crate::settings::{Limits, Settings};
use crate::worker::{self, Worker};

/// The language servers of a workspace. Nothing is started before a file needs it, and all ends with this.
pub struct Servers {
    roots: Vec<PathBuf>,
    servers: Vec<Arc<Server>>,
    /// The servers for each ending, by their places.
    by_ending: HashMap<String, Vec<usize>>,
    search: Arc<Search>,
    limits: Limits,
    workers: Mutex<BTreeMap<(usize, PathBuf), Arc<Worker>>>,
    is_stopped: AtomicBool,
}

impl Servers {
    /// Starts nothing, and looks for nothing.
    pub fn new(settings: Settings) -> Self {
        let servers: Vec<_> = server::all(&settings.servers).into_iter().map(Arc::new).collect();
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

    /// Whether there is a server for this file, or one that runs wants to know of it. The disk is looked at only for the
    /// first file with its ending.
    pub fn concerns(&self, path: &Path) -> bool {
        let is_of_project =
            || is_of_project(path) && self.workers().values().any(|worker| worker.is_running());
        self.root_of(path).is_some() && (self.of(path).next().is_some() || is_of_project())
    }

    /// The endings of all files that a server is known for, whether it is there or not.
    pub fn extensions(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().flat_map(|server| server.extensions.iter().map(|(ending, _)| ending.as_str()))
    }

    /// Tells the servers of an edit that has been made. None where no server will say anything of it. Nothing is
    /// waited for, and nothing can go wrong.
    pub fn edited(&self, changes: Vec<FileChange>) -> Option<Pending> {
        let of_project = changes.iter().map(|change| &change.path).filter(|path| is_of_project(path));
        let of_project: Vec<PathBuf> = of_project.cloned().collect();
        if !of_project.is_empty() {
            self.changed_outside(&of_project);
        }
        let mut jobs: BTreeMap<(usize, PathBuf), Vec<Change>> = BTreeMap::new();
        for change in changes {
            let change = Change::from(change);
            let Some(root) = self.root_of(&change.path) else { continue };
            for server in self.of(&change.path) {
                jobs.entry((server, root.clone())).or_default().push(change.clone());
            }
        }
        if jobs.is_empty() {
            return None;
        }
        let defaults =
            jobs.keys().map(|(server, _)| worker::unanswered(&self.servers[*server].name)).collect();
        let (awaited, replies) = Awaited::new(defaults);
        for (((server, root), changes), reply) in jobs.into_iter().zip(replies) {
            self.worker(server, root).push(Job::Edit { changes, reply });
        }
        Some(Pending::new(awaited))
    }

    /// Tells the servers that run of files that others have changed, made or removed.
    pub fn changed_outside(&self, paths: &[PathBuf]) {
        let running: Vec<_> = self.workers().values().filter(|worker| worker.is_running()).cloned().collect();
        for worker in running {
            let inside = |path: &&PathBuf| self.root_of(path).as_deref() == Some(worker.root());
            let paths: Vec<PathBuf> = paths.iter().filter(inside).cloned().collect();
            if !paths.is_empty() {
                worker.push(Job::Outside(paths));
            }
        }
    }

    /// What the servers say of files with these texts. Each for which one of them is gets an answer of each server that
    /// is for such files, also of those that are not there.
    pub fn ask(&self, files: &[(PathBuf, String)], deadline: Instant) -> Vec<Answer> {
        let mut answers = Vec::new();
        let mut asked = Vec::new();
        for (at, server) in self.servers.iter().enumerate() {
            let is_for = |path: &Path| ending(path).is_some_and(|ending| server.language(ending).is_some());
            let mut texts: BTreeMap<PathBuf, Vec<(PathBuf, String)>> = BTreeMap::new();
            for (path, text) in files.iter().filter(|(path, _)| is_for(path)) {
                if let Some(root) = self.root_of(path) {
                    texts.entry(root).or_default().push((path.clone(), text.clone()));
                }
            }
            if texts.is_empty() {
                continue;
            }
            if let Some(state) = self.absent(server) {
                answers.push(Answer::none(&server.name, state));
                continue;
            }
            for (root, texts) in texts {
                let worker = self.worker(at, root);
                let (awaited, replies) = Awaited::new(vec![worker::unsaid(&server.name)]);
                for reply in replies {
                    worker.push(Job::Ask { texts: texts.clone(), reply });
                }
                asked.push((server, worker, awaited));
            }
        }
        for (server, worker, awaited) in asked {
            answers.extend(awaited.wait(deadline).unwrap_or_else(|| {
                let state = match worker.state() {
                    State::Ready | State::Idle => State::Silent { why: "it has not answered yet".into() },
                    state => state,
                };
                vec![Answer::none(&server.name, state)]
            }));
        }
        answers
    }

    /// Every server that there is or could be, and how it is.
    pub fn states(&self) -> Vec<ServerState> {
        let workers: Vec<_> =
            self.workers().iter().map(|(key, worker)| (key.0, Arc::clone(worker))).collect();
        let mut states = Vec::new();
        for (at, server) in self.servers.iter().enumerate() {
            let state = |state, worker: Option<&Worker>| ServerState {
                server: server.name.clone(),
                extensions: server.extensions.iter().map(|(ending, _)| ending.clone()).collect(),
                state,
                root: worker.map(|worker| worker.root().to_owned()),
                program: server.found(&self.search).ok().map(|(program, _)| program),
                process: worker.and_then(Worker::process).map(|process| process.id()),
            };
            let absent = self.absent(server);
            let mut own = workers.iter().filter(|(of, _)| *of == at).peekable();
            if own.peek().is_none() {
                states.push(state(absent.unwrap_or(State::Idle), None));
            }
            states.extend(own.map(|(_, worker)| state(worker.state(), Some(worker))));
        }
        states
    }

    /// Ends all servers, each politely if it lets that happen in time. From now on nothing is answered.
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

    /// Why a server cannot be used, if so. Its program is looked for anew.
    fn absent(&self, server: &Server) -> Option<State> {
        // What is said of one that is not there may be meant for another, also that it is not to be started.
        if let Some(why) = server.lacks() {
            return Some(State::NotInstalled { why });
        }
        if !server.is_enabled {
            return Some(State::Disabled);
        }
        server.find(&self.search).err().map(|why| State::NotInstalled { why })
    }

    /// The innermost root that a file is in.
    fn root_of(&self, path: &Path) -> Option<PathBuf> {
        let around = self.roots.iter().filter(|root| path.starts_with(root));
        around.max_by_key(|root| root.components().count()).cloned()
    }

    /// The servers that are enabled and there for such a file.
    fn of(&self, path: &Path) -> impl Iterator<Item = usize> {
        let servers = ending(path).and_then(|ending| self.by_ending.get(ending));
        let servers = servers.map(Vec::as_slice).unwrap_or_default();
        servers.iter().copied().filter(|at| self.servers[*at].found(&self.search).is_ok())
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

fn is_of_project(path: &Path) -> bool {
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
