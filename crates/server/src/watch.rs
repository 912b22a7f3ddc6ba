//! Watching folders: from what the system tells of their entries to gathered hints that something there may be new.
//!
//! A hint names a path and no more; whoever gets it looks at the file itself. Hints are gathered for a moment, so that
//! many writes are one hint, and none is lost: what comes later is in the next. Where the system lost some, or lets no
//! more folders be watched, the hint is that anything may be new.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use emend_threads::{Condvar, Mutex};
use notify::event::{AccessKind, AccessMode, EventKind, Flag, ModifyKind};
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher};

/// Hints are gathered until none has come for so long,
const QUIET: Duration = Duration::from_millis(20);
/// but no longer than this.
const LONGEST_GATHERING: Duration = Duration::from_millis(200);
/// How many paths are gathered; more of them are as good as all.
const GATHERED_PATHS: usize = 10_000;
/// How often everything is looked at where folders cannot be watched.
const POLL: Duration = Duration::from_secs(2);

/// What may be new.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    /// These paths. With it whether something came there or went, or only changed.
    pub(crate) paths: BTreeMap<PathBuf, bool>,
    /// Anything.
    pub(crate) all: bool,
    /// Whether the system lost hints.
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
            // Looking at a file must not be a hint to look at it.
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

/// Folders that are watched. Ends with it.
#[derive(Debug)]
pub(crate) struct Watch {
    /// `None` where the system gives none; then all is looked at now and then.
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    /// Whether a folder is not there and no folder around it tells when it is.
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
    /// When the latest of them came.
    latest: Option<Instant>,
    /// Whether some folders cannot be watched.
    is_polling: bool,
    is_over: bool,
}

impl Watch {
    /// Begins, with no folder. What may be new is told in a thread of its own, until `tell` says that it is over.
    pub(crate) fn start(observer: impl FnMut(Hints) -> bool + Send + 'static) -> Self {
        let shared = Arc::new(Shared::default());
        let receiver = Arc::clone(&shared);
        let watcher = notify::recommended_watcher(move |event| {
            let mut gathering = receiver.gathering.lock();
            let is_first = gathering.hints.is_empty();
            gathering.hints.add_event(event);
            gathering.latest = Some(Instant::now());
            // Whoever gathers wakes with the first and looks by itself whether it is quiet: an edit makes several.
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

    /// From now on watches these folders, as far as they exist, and no others. Outer folders come before those in them:
    /// one that is made meanwhile is heard of by the one around it. Where there is none, all is looked at now and then.
    pub(crate) fn set_folders(&mut self, folders: &BTreeSet<PathBuf>) {
        let mut is_polling = self.watcher.is_none();
        // It is said once, and not again with each subscription.
        let is_known = self.shared.gathering.lock().is_polling;
        self.has_missing_folders = false;
        if let Some(watcher) = &mut self.watcher {
            for gone in self.watched.difference(folders) {
                // It may have been removed, and then it is not watched any more.
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

    /// Whether there are folders of which nothing is hinted at but that all may be new.
    pub(crate) fn is_partial(&self) -> bool {
        self.shared.gathering.lock().is_polling
    }

    /// Whether folders have to be set again to find out that they are there.
    pub(crate) fn has_missing_folders(&self) -> bool {
        self.has_missing_folders
    }

    /// Something happened to this folder itself: what was watched in it may be another folder by now.
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
            // A large file that is written to all the time is not read all the time.
            let gathering = self.gathering.lock();
            let rest = begun.elapsed();
            drop(self.changed.wait_timeout_while(gathering, rest, |gathering| !gathering.is_over));
        }
    }

    /// The next hints, once it is quiet; `None` when it is over.
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
