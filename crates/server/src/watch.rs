//! Watching folders: the system's events about their entries, gathered into hints at what may have changed.
//!
//! A hint names only a path; the observer looks at the file itself. Hints are gathered for a moment, so that many
//! writes become one hint. None is lost: a later one is in the next batch. Where the system has lost events, or allows
//! no more watches, the hint is that anything may have changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use emend_threads::{Condvar, Mutex};
use notify::event::{AccessKind, AccessMode, EventKind, Flag, ModifyKind};
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher};

/// The quiet time after which a batch of hints is complete.
const QUIET: Duration = Duration::from_millis(20);
/// The longest time that a batch of hints is gathered.
const LONGEST_GATHERING: Duration = Duration::from_millis(200);
/// The number of paths in a batch; more of them count as everything.
const GATHERED_PATHS: usize = 10_000;
/// The interval of polling where folders cannot be watched.
const POLL: Duration = Duration::from_secs(2);

/// A batch of hints at what may have changed.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// The paths, each with whether an entry was created, removed or renamed there and not only modified.
    pub(crate) paths: BTreeMap<PathBuf, bool>,
    /// Whether anything may have changed.
    pub(crate) all: bool,
    /// Whether the system has lost events.
    pub(crate) lost: bool,
}

impl Hints {
    fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.all
    }

    fn add_event(&mut self, event: notify::Result<Event>) {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                tracing::warn!(%error, "watching folders failed; every watched file is looked at");
                self.lost = true;
                self.all = true;
                return;
            }
        };
        if event.flag() == Some(Flag::Rescan) {
            tracing::warn!(
                "too much changed at once for the system to tell; every watched file is looked at"
            );
            self.lost = true;
            self.all = true;
        }
        let comes_or_goes = match event.kind {
            // Reading a file must not cause a hint, since a hint causes a read.
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
            EventKind::Access(_) => return,
            EventKind::Create(_) | EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)) => true,
            _ => false,
        };
        for path in event.paths {
            if self.paths.len() >= GATHERED_PATHS {
                self.paths.clear();
                self.all = true;
            }
            if !self.all {
                *self.paths.entry(path).or_default() |= comes_or_goes;
            }
        }
    }
}

/// A set of watched folders. Dropping it ends the watch and its thread.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The system's watcher; `None` where there is none, and everything is polled.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    /// Whether a folder is missing and its parent, which would show when it is created, is not watched.
    has_missing_folders: bool,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    gathering: Mutex<Gathering>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Gathering {
    hints: Hints,
    /// The time of the latest event.
    latest: Option<Instant>,
    /// Whether some folders cannot be watched.
    is_polling: bool,
    is_over: bool,
}

impl Watch {
    /// Starts with no folder. A new thread calls `observer` with each batch of hints until it returns false.
    pub(crate) fn start(observer: impl FnMut(Hints) -> bool + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let receiver = Arc::clone(&shared);
        let watcher = notify::recommended_watcher(move |event| {
            let mut gathering = receiver.gathering.lock();
            let is_first = gathering.hints.is_empty();
            gathering.hints.add_event(event);
            gathering.latest = Some(Instant::now());
            // Only the first of an edit's events wakes the gathering thread, which then waits for quiet by itself.
            if is_first && !gathering.hints.is_empty() {
                receiver.changed.notify_one();
            }
        });
        let watcher = watcher.inspect_err(|error| {
            tracing::warn!(%error, "folders cannot be watched; subscribed files are looked at every two seconds");
        });
        let notifying = Arc::clone(&shared);
        let thread =
            thread::Builder::new().name("watch".into()).spawn(move || notifying.notify_until_over(observer));
        if let Err(error) = thread {
            tracing::warn!(%error, "changes by other programs are not told");
        }
        Self { watcher: watcher.ok(), watched: BTreeSet::new(), has_missing_folders: false, shared }
    }

    /// Watches exactly these folders, as far as they exist. The set is ordered, so an outer folder is watched before
    /// its children, and a child that is created meanwhile causes a hint. Where a folder can be neither watched nor
    /// noticed when it is created, everything is polled.
    pub(crate) fn set_folders(&mut self, folders: &BTreeSet<PathBuf>) {
        let mut is_polling = self.watcher.is_none();
        // The failure is logged once, and not again with each subscription.
        let is_known = self.shared.gathering.lock().is_polling;
        self.has_missing_folders = false;
        if let Some(watcher) = &mut self.watcher {
            for gone in self.watched.difference(folders) {
                // A removed folder is not watched any more, so an error means nothing.
                let _ = watcher.unwatch(gone);
            }
            self.watched.retain(|folder| folders.contains(folder));
            for folder in folders {
                if self.watched.contains(folder) {
                    continue;
                }
                match watcher.watch(folder, RecursiveMode::NonRecursive) {
                    Ok(()) => drop(self.watched.insert(folder.clone())),
                    Err(error) if is_absent(&error) => {
                        self.has_missing_folders |=
                            folder.parent().is_none_or(|outer| !folders.contains(outer));
                    }
                    Err(error) => {
                        if !is_polling && !is_known {
                            tracing::warn!(
                                %error,
                                "not every folder can be watched; subscribed files are looked at every two seconds"
                            );
                        }
                        is_polling = true;
                    }
                }
            }
        }
        self.shared.gathering.lock().is_polling = is_polling || self.has_missing_folders;
        self.shared.changed.notify_one();
    }

    /// Returns whether some folders are polled, and give no hint but that anything may have changed.
    pub(crate) fn is_partial(&self) -> bool {
        self.shared.gathering.lock().is_polling
    }

    /// Returns whether the folders have to be set again to notice that a missing one was created.
    pub(crate) fn has_missing_folders(&self) -> bool {
        self.has_missing_folders
    }

    /// Stops watching this folder and those inside it, since it may have been replaced by another folder.
    pub(crate) fn forget(&mut self, folder: &Path) {
        let Some(watcher) = &mut self.watcher else { return };
        self.watched.retain(|watched| {
            let is_inside = watched.starts_with(folder);
            if is_inside {
                let _ = watcher.unwatch(watched);
            }
            !is_inside
        });
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.gathering.lock().is_over = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    fn notify_until_over(&self, mut observer: impl FnMut(Hints) -> bool) {
        while let Some(hints) = self.gather() {
            let begun = Instant::now();
            if !observer(hints) {
                return;
            }
            // Resting as long as the observer took keeps a file under constant change from being read all the time.
            let gathering = self.gathering.lock();
            let rest = begun.elapsed();
            drop(self.changed.wait_timeout_while(gathering, rest, |gathering| !gathering.is_over));
        }
    }

    /// Returns the next batch of hints once it is complete; `None` when the watch has ended.
    fn gather(&self) -> Option<Hints> {
        let mut gathering = self.gathering.lock();
        while gathering.hints.is_empty() && !gathering.is_over {
            let patience = if gathering.is_polling { POLL } else { Duration::MAX };
            let (woken, is_late) = self.changed.wait_timeout(gathering, patience);
            gathering = woken;
            if is_late && gathering.is_polling {
                gathering.hints.all = true;
            }
        }
        let first = Instant::now();
        while !gathering.is_over && first.elapsed() < LONGEST_GATHERING {
            let quiet = gathering.latest.map_or(QUIET, |latest| latest.elapsed());
            let Some(rest) = QUIET.checked_sub(quiet).filter(|rest| !rest.is_zero()) else { break };
            let (woken, _) = self.changed.wait_timeout(gathering, rest);
            gathering = woken;
        }
        (!gathering.is_over).then(|| std::mem::take(&mut gathering.hints))
    }
}

fn is_absent(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::PathNotFound | ErrorKind::WatchNotFound => true,
        ErrorKind::Io(error) => {
            matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{CreateKind, DataChange};

    fn event(kind: EventKind, path: &str) -> notify::Result<Event> {
        Ok(Event::new(kind).add_path(path.into()))
    }

    #[test]
    fn many_events_of_a_path_are_one_hint_and_reading_is_none() {
        let mut hints = Hints::default();
        for _ in 0..3 {
            hints.add_event(event(EventKind::Modify(ModifyKind::Data(DataChange::Any)), "/ws/a"));
        }
        hints.add_event(event(EventKind::Create(CreateKind::File), "/ws/b"));
        hints.add_event(event(EventKind::Modify(ModifyKind::Data(DataChange::Any)), "/ws/b"));
        for mode in [AccessMode::Any, AccessMode::Read] {
            hints.add_event(event(EventKind::Access(AccessKind::Open(mode)), "/ws/c"));
        }
        let paths: Vec<(&Path, bool)> =
            hints.paths.iter().map(|(path, new)| (path.as_path(), *new)).collect();
        assert_eq!(paths, [(Path::new("/ws/a"), false), (Path::new("/ws/b"), true)]);
        assert!(!hints.all && !hints.lost);
    }

    #[test]
    fn what_the_system_lost_and_what_is_too_much_may_be_anything() {
        let mut hints = Hints::default();
        hints.add_event(Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan)));
        assert!(hints.all && hints.lost);
        let mut hints = Hints::default();
        for number in 0..=GATHERED_PATHS {
            hints.add_event(event(EventKind::Create(CreateKind::File), &format!("/ws/{number}")));
        }
        assert!(hints.all && !hints.lost && hints.paths.is_empty());
        let mut hints = Hints::default();
        hints.add_event(Err(notify::Error::generic("broken")));
        assert!(hints.all && hints.lost);
    }

    #[test]
    fn a_folder_that_is_removed_and_made_again_is_watched_again() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().canonicalize().unwrap();
        let (inner, file) = (path.join("inner"), path.join("inner/file"));
        std::fs::create_dir(&inner).unwrap();
        let (send, receive) = std::sync::mpsc::channel();
        let mut watch = Watch::start(move |hints| send.send(hints).is_ok());
        let both = BTreeSet::from([path.clone(), inner.clone()]);
        watch.set_folders(&both);
        let hear = |wanted: &Path| loop {
            let hints = receive.recv_timeout(Duration::from_secs(30)).unwrap();
            if hints.paths.contains_key(wanted) {
                return;
            }
        };
        std::fs::write(&file, "1").unwrap();
        hear(&file);
        std::fs::remove_dir_all(&inner).unwrap();
        hear(&inner);
        watch.forget(&inner);
        watch.set_folders(&both);
        assert_eq!(watch.watched.len(), 1);
        std::fs::create_dir(&inner).unwrap();
        hear(&inner);
        watch.set_folders(&both);
        std::fs::write(&file, "2").unwrap();
        hear(&file);
    }
}
