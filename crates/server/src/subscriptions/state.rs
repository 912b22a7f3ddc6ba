//! What is known of all listeners: what each wants to hear, what it has still to hear, and what of that was last told.
//!
//! Nothing here waits for anybody or looks at a file: what has changed is put in, what is to be told is taken out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};

use tokio::sync::Notify;

use emend_threads::Mutex;
use emend_workspace::edit::Version;
use emend_workspace::{ChangeKind, Readings, Report, Sight, Stat, Workspace};

use super::changes::{Remarks, Seen};
use crate::session::Session;
use crate::uri::{HISTORY, READINGS, SESSION};
use crate::watch::Hints;

/// A file above this size is not read while a client waits.
pub(super) const LARGE_FILE: u64 = 2 * 1024 * 1024;
/// How many resources a session may subscribe to.
pub(super) const SUBSCRIPTIONS_PER_SESSION: usize = 1_000;
/// How many folders are watched for files that were only read.
const READ_FOLDERS: usize = 2_000;

/// All listeners, and what is known of what they listen to.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) listeners: BTreeMap<u64, Listener>,
    pub(super) last_id: u64,
    pub(super) files: HashMap<PathBuf, WatchedFile>,
    /// The names in the watched folders, once they were looked at, while somebody wants to know of new ones.
    pub(super) folders: BTreeMap<PathBuf, Option<BTreeSet<String>>>,
    /// Every folder that is to be watched.
    pub(super) watched: BTreeSet<PathBuf>,
    /// Where edits are written down.
    pub(super) logs: Vec<PathBuf>,
    /// The newest edit that was told of.
    pub(super) newest: Option<String>,
    /// Where events are written, once somebody wants to know of them.
    pub(super) events: Option<PathBuf>,
    /// The newest event that was told of.
    pub(super) newest_event: u64,
    /// What was read and may have changed before it was watched, with the names.
    pub(super) to_check: BTreeMap<PathBuf, String>,
    /// Whether more was read than can be watched.
    pub(super) is_over_limit: bool,
    /// Each root, and what stands before the names of its files.
    pub(super) roots: Vec<(PathBuf, String)>,
}

/// Somebody who is told.
#[derive(Debug)]
pub(super) struct Listener {
    /// What its client has read, which also tells one session from another. It does not hold the session: that ends
    /// by itself, and its listeners with it.
    pub(super) readings: Arc<Mutex<Readings>>,
    pub(super) subjects: BTreeMap<String, Subject>,
    pub(super) list: ListWish,
    pub(super) unsent: Unsent,
    pub(super) wake: Arc<Notify>,
    /// For the one that is a session's answers: it wants to hear of all that was read.
    pub(super) remarks: Option<Remarks>,
}

impl Listener {
    pub(super) fn wants(&self, subject: &Subject) -> bool {
        self.subjects.values().any(|own| own == subject)
    }

    pub(super) fn readings(&self) -> MutexGuard<'_, Readings> {
        self.readings.lock()
    }

    /// Which of the files that were read an answer looks at itself.
    pub(super) fn select_next_files(&mut self) -> (Vec<(String, Version, Stat)>, bool) {
        let Some(remarks) = &mut self.remarks else { return Default::default() };
        remarks.select_next_files(&self.readings.lock())
    }

    /// What an answer names, and is to be looked at again before it does.
    pub(super) fn unsaid(&self) -> Vec<(String, Seen)> {
        self.remarks.as_ref().map(|remarks| remarks.unsaid(&self.readings())).unwrap_or_default()
    }

    /// What an answer says.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        let Some(remarks) = &mut self.remarks else { return Vec::new() };
        remarks.take_notes(&self.readings.lock())
    }

    /// Has the answers of a session say what became of a file, if that is what listens.
    fn record_for_answers(&mut self, name: &str, now: &Sight, stat: Option<Stat>) -> bool {
        let Some(remarks) = &mut self.remarks else { return false };
        let readings = self.readings.lock();
        remarks.record_sight(name, now, stat, readings.of(name));
        true
    }
}

/// Whether a listener wants to know of files that come and go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ListWish {
    #[default]
    None,
    /// It has asked for the list: it hears what becomes known anyway.
    Passive,
    /// It has asked to be told: folders are watched for it.
    Active,
}

/// What a URI that was subscribed to stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// A file: its path without links, and its name.
    File(PathBuf, String),
    History,
    Diagnostics,
    Readings,
    Session,
    Events,
    /// The diff of an edit never changes.
    Fixed,
}

/// What a listener has to be told.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    pub(super) updated: BTreeSet<String>,
    pub(super) list: bool,
}

/// A file that somebody wants to know of.
#[derive(Debug)]
pub(super) struct WatchedFile {
    pub(super) name: String,
    /// What it was when it was last told of; unknown before.
    pub(super) seen: Option<Sight>,
    /// How many edits of this process have told of it.
    pub(super) edits: u64,
    /// Who, and under which URI.
    pub(super) listeners: Vec<(u64, String)>,
}

impl State {
    /// How many more subscriptions a session may have.
    pub(super) fn room(&self, session: &Session) -> usize {
        let its = self.listeners.values().filter(|it| Arc::ptr_eq(&it.readings, session.readings()));
        SUBSCRIPTIONS_PER_SESSION.saturating_sub(its.map(|listener| listener.subjects.len()).sum())
    }

    /// Gathers anew which files are listened to, and by whom. Yields which folders are to be watched for that.
    pub(super) fn arrange(&mut self, workspace: &Workspace) -> BTreeSet<PathBuf> {
        let mut before = std::mem::take(&mut self.files);
        let mut files: HashMap<PathBuf, WatchedFile> = HashMap::new();
        // Yields what was known of it, if it was watched before.
        let mut want = |path: PathBuf, name: &str, seen: Option<Sight>, listener: (u64, String)| {
            let mut is_new = false;
            let watched = files.entry(path).or_insert_with_key(|path| {
                let known = before.remove(path);
                is_new = known.is_none();
                let (seen, edits) = known.map_or((seen, 0), |watched| (watched.seen, watched.edits));
                WatchedFile { name: name.to_owned(), seen, edits, listeners: Vec::new() }
            });
            watched.listeners.push(listener);
            watched.seen.clone().filter(|_| !is_new)
        };
        for (id, listener) in &self.listeners {
            for (uri, subject) in &listener.subjects {
                match subject {
                    Subject::File(path, name) => {
                        want(path.clone(), name, None, (*id, uri.clone()));
                    }
                    Subject::Readings => {
                        for (name, version) in listener.readings().versions() {
                            let path = self.path_of(&name);
                            want(path, &name, Some(Sight::Text(version)), (*id, uri.clone()));
                        }
                    }
                    Subject::History
                    | Subject::Diagnostics
                    | Subject::Session
                    | Subject::Events
                    | Subject::Fixed => {}
                }
            }
            if let Some(remarks) = &listener.remarks {
                for (name, version) in listener.readings().versions() {
                    let path = self.path_of(&name);
                    let read = Sight::Text(version);
                    let known = want(path.clone(), &name, Some(read.clone()), (*id, READINGS.to_owned()));
                    // What became of it before it was watched was not hinted at, or before this client had read it.
                    if !known.is_some_and(|known| known == read || remarks.has_said(&name, version, &known)) {
                        self.to_check.insert(path, name);
                    }
                }
            }
        }
        self.files = files;
        let mut folders = BTreeSet::new();
        let (subscribed, read): (Vec<_>, Vec<_>) =
            self.files.iter().partition(|(_, watched)| self.is_subscribed(watched));
        for (path, _) in subscribed {
            folders.extend(self.folders_around(path));
        }
        let most = folders.len() + READ_FOLDERS;
        for (path, _) in &read {
            if folders.len() < most {
                folders.extend(self.folders_around(path));
            }
        }
        self.is_over_limit = folders.len() >= most;
        if self.listeners.values().any(|listener| listener.list == ListWish::Active) {
            folders.extend(self.roots.iter().map(|(root, _)| root.clone()));
        }
        let mut known = std::mem::take(&mut self.folders);
        if self.listeners.values().any(|listener| listener.list != ListWish::None) {
            self.folders =
                folders.iter().map(|folder| (folder.clone(), known.remove(folder).flatten())).collect();
        }
        self.logs.clear();
        if self.wants(&Subject::History) {
            self.logs = workspace.past_edits().logs();
            folders.extend(self.logs.iter().filter_map(|log| log.parent()).map(Path::to_path_buf));
        }
        if !self.wants(&Subject::Events) {
            self.events = None;
        }
        folders.extend(self.events.iter().filter_map(|log| log.parent()).map(Path::to_path_buf));
        self.watched = folders.clone();
        folders
    }

    fn wants(&self, subject: &Subject) -> bool {
        self.listeners.values().any(|listener| listener.wants(subject))
    }

    /// Whether somebody wants to know of events, and their log is not watched.
    pub(super) fn has_unwatched_events(&self) -> bool {
        self.events.is_none() && self.wants(&Subject::Events)
    }

    /// From now on events that are written there are told of, if they come behind this one.
    pub(super) fn follow_events(&mut self, log: PathBuf, newest: u64) {
        self.events = Some(log);
        self.newest_event = self.newest_event.max(newest);
    }

    /// Every folder around a file: one of these may be moved away and another be put in its place.
    fn folders_around(&self, path: &Path) -> Vec<PathBuf> {
        let top = self.roots.iter().find(|(root, _)| path.starts_with(root)).map(|(root, _)| root);
        let inside = |folder: &&Path| top.is_some_and(|top| folder.starts_with(top));
        path.ancestors().skip(1).take_while(inside).map(Path::to_path_buf).collect()
    }

    /// Whether somebody is told of a file who has subscribed to it, and not only an answer.
    fn is_subscribed(&self, watched: &WatchedFile) -> bool {
        let subscribes = |listener: &Listener| listener.remarks.is_none();
        watched.listeners.iter().any(|(id, _)| self.listeners.get(id).is_some_and(subscribes))
    }

    /// Whether there may be a log by now that is not watched.
    pub(super) fn has_unwatched_logs(&self) -> bool {
        self.logs.is_empty() && self.wants(&Subject::History)
    }

    pub(super) fn unknown_folders(&self) -> Vec<PathBuf> {
        self.folders.iter().filter(|(_, names)| names.is_none()).map(|(folder, _)| folder.clone()).collect()
    }

    /// Which folders around what is listened to came, went or were moved.
    pub(super) fn swapped_folders(&self, hints: &Hints) -> Vec<PathBuf> {
        let came_or_went = hints.paths.iter().filter(|(_, new)| **new).map(|(path, _)| path);
        came_or_went.filter(|path| self.watched.contains(*path)).cloned().collect()
    }

    /// Which files and folders have to be looked at, and whether the history and the log of events have.
    pub(super) fn select_hinted(
        &self,
        hints: &Hints,
        swapped: &[PathBuf],
    ) -> (Vec<(PathBuf, String)>, Vec<PathBuf>, bool, bool) {
        let is_named = |path: &Path| {
            hints.paths.contains_key(path) || swapped.iter().any(|folder| path.starts_with(folder))
        };
        let is_hinted = |path: &Path| hints.all || is_named(path);
        let files = self.files.iter();
        // What was only read is looked at when there is an answer to say it in.
        let files =
            files.filter(|(path, watched)| is_named(path) || hints.all && self.is_subscribed(watched));
        let files = files.map(|(path, watched)| (path.clone(), watched.name.clone())).collect();
        let came_or_went = hints.paths.iter().filter(|(_, new)| **new);
        let touched: BTreeSet<&Path> = came_or_went.filter_map(|(path, _)| path.parent()).collect();
        let folders = self.folders.keys().filter(|folder| hints.all || touched.contains(folder.as_path()));
        let history = !self.logs.is_empty() && self.logs.iter().any(|log| is_hinted(log));
        let events = self.events.as_ref().is_some_and(|log| is_hinted(log));
        (files, folders.cloned().collect(), history, events)
    }

    /// An edit of this process was made.
    pub(super) fn record_edit(&mut self, report: &Report) {
        if self.listeners.is_empty() {
            return;
        }
        let mut list_changed = false;
        for file in &report.files {
            let path = self.path_of(&file.name);
            self.record_own_change(&path, file.after.map_or(Sight::Nothing, Sight::Text));
            if let Some(from) = file.moved_from.as_ref().map(|from| self.path_of(from)) {
                self.record_own_change(&from, Sight::Nothing);
                self.record_move(&from, &file.name);
                self.update_names(&from, false);
            }
            if file.change != ChangeKind::Modify {
                self.update_names(&path, file.change != ChangeKind::Delete);
                list_changed = true;
            }
        }
        if list_changed {
            self.notify_list();
        }
        if let Some(edit) = &report.edit {
            self.set_newest_edit(edit);
        }
    }

    /// An edit of this process has made this of a file.
    fn record_own_change(&mut self, path: &Path, now: Sight) {
        if let Some(watched) = self.files.get_mut(path) {
            watched.edits += 1;
        }
        self.record_sight(path, None, now);
    }

    /// A file that an edit of this process took away has this name now.
    fn record_move(&mut self, from: &Path, to: &str) {
        let Some(watched) = self.files.get(from) else { return };
        for (id, _) in &watched.listeners {
            if let Some(remarks) = self.listeners.get_mut(id).and_then(|it| it.remarks.as_mut()) {
                remarks.record_move(&watched.name, to);
            }
        }
    }

    /// These files that were read are to be looked at.
    pub(super) fn doubt(&mut self, names: Vec<String>) {
        let to_check = names.into_iter().map(|name| (self.path_of(&name), name));
        let to_check: Vec<_> = to_check.collect();
        self.to_check.extend(to_check);
    }

    /// Hints were lost, or there are none.
    pub(super) fn doubt_everything(&mut self) {
        for remarks in self.listeners.values_mut().filter_map(|listener| listener.remarks.as_mut()) {
            remarks.doubt_everything();
        }
    }

    /// Whether a file is large, and was told of as what it is by what the file system says.
    pub(super) fn is_large_and_known(&self, path: &Path, stat: &Stat) -> bool {
        let Some(watched) = self.files.get(path).filter(|_| stat.size > LARGE_FILE) else { return false };
        let mut listeners = watched.listeners.iter().filter_map(|(id, _)| self.listeners.get(id));
        listeners.any(|listener| {
            let readings = listener.readings();
            readings.of(&watched.name).is_some_and(|reading| {
                reading.stat == *stat && watched.seen == Some(Sight::Text(reading.version))
            })
        })
    }

    /// Whether every answer that is to tell of a file knows it as it is, by what the file system says.
    pub(super) fn is_as_read(&self, path: &Path, stat: &Stat) -> bool {
        let Some(watched) = self.files.get(path) else { return true };
        let listeners = watched.listeners.iter().filter_map(|(id, _)| self.listeners.get(id));
        let mut listeners = listeners.filter(|listener| listener.remarks.is_some());
        listeners.all(|it| it.readings().of(&watched.name).is_some_and(|reading| reading.stat == *stat))
    }

    /// A file is this by now, which answers may have to tell, whatever was told of it before.
    pub(super) fn record_doubted_sight(&mut self, path: &Path, stat: Option<Stat>, now: &Sight) {
        let Some(watched) = self.files.get(path) else { return };
        for (id, _) in &watched.listeners {
            if let Some(listener) = self.listeners.get_mut(id) {
                listener.record_for_answers(&watched.name, now, stat);
            }
        }
    }

    /// How many edits have told of a file.
    pub(super) fn edits(&self, path: &Path) -> u64 {
        self.files.get(path).map_or(0, |watched| watched.edits)
    }

    /// A file is this by now, of which the file system said that, if it was asked. Yields whether that is new.
    pub(super) fn record_sight(&mut self, path: &Path, stat: Option<Stat>, now: Sight) -> bool {
        let Some(watched) = self.files.get_mut(path) else { return false };
        if watched.seen.as_ref() == Some(&now) {
            return false;
        }
        for (id, uri) in &watched.listeners {
            let Some(listener) = self.listeners.get_mut(id) else { continue };
            if listener.record_for_answers(&watched.name, &now, stat) {
                continue;
            }
            // Of its own edit a client has nothing to hear: it knows the new version.
            let known = || listener.readings().of(&watched.name).map(|reading| Sight::Text(reading.version));
            let is_as_read = uri == READINGS && known().as_ref() == Some(&now);
            if !is_as_read {
                listener.unsent.updated.insert(uri.clone());
                listener.wake.notify_one();
            }
        }
        watched.seen = Some(now);
        true
    }

    /// A file came or went by an edit of this process, which is told of without looking at its folders.
    fn update_names(&mut self, path: &Path, comes: bool) {
        let mut inner = path;
        for folder in path.ancestors().skip(1) {
            let name = inner.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if let Some(Some(names)) = self.folders.get_mut(folder) {
                let _ = if comes { names.insert(name) } else { names.remove(&name) };
            }
            if !comes {
                // Its folders stay.
                return;
            }
            inner = folder;
        }
    }

    /// Files came or went.
    pub(super) fn notify_list(&mut self) {
        for listener in self.listeners.values_mut().filter(|listener| listener.list != ListWish::None) {
            listener.unsent.list = true;
            listener.wake.notify_one();
        }
    }

    /// The newest edit is this.
    pub(super) fn set_newest_edit(&mut self, id: &str) {
        if self.newest.as_deref() == Some(id) {
            return;
        }
        self.newest = Some(id.to_owned());
        for listener in self.listeners.values_mut() {
            if listener.wants(&Subject::History) {
                listener.unsent.updated.insert(HISTORY.to_owned());
                listener.wake.notify_one();
            }
        }
    }

    /// The newest event has this number.
    pub(super) fn set_newest_event(&mut self, number: u64) {
        if self.newest_event == number {
            return;
        }
        self.newest_event = number;
        for listener in self.listeners.values_mut() {
            let about = listener.subjects.iter().filter(|(_, subject)| **subject == Subject::Events);
            for (uri, _) in about {
                listener.unsent.updated.insert(uri.clone());
                listener.wake.notify_one();
            }
        }
    }

    /// Has listeners told that a session counts one more outcome.
    pub(super) fn notify_tally(&mut self, session: &Session) {
        for listener in self.listeners.values_mut() {
            if Arc::ptr_eq(&listener.readings, session.readings()) && listener.wants(&Subject::Session) {
                listener.unsent.updated.insert(SESSION.to_owned());
                listener.wake.notify_one();
            }
        }
    }

    /// What stands for this is something else than before.
    pub(super) fn notify(&mut self, subject: &Subject, uri: &str) {
        for listener in self.listeners.values_mut().filter(|listener| listener.wants(subject)) {
            listener.unsent.updated.insert(uri.to_owned());
            listener.wake.notify_one();
        }
    }

    /// The path of a file by its name.
    fn path_of(&self, name: &str) -> PathBuf {
        let inside =
            |(root, prefix): &(PathBuf, String)| Some(root.join(name.strip_prefix(prefix.as_str())?));
        self.roots.iter().find_map(inside).unwrap_or_default()
    }
}
