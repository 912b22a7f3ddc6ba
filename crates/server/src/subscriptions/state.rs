//! The state of all listeners: what each has subscribed to, which notifications are still to be sent, and the last
//! known state of each file.
//!
//! Nothing here waits for anybody or looks at a file: changes are recorded, and notifications are taken out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};

use tokio::sync::Notify;

use emend_threads::Mutex;
use emend_workspace::edit::Version;
use emend_workspace::{ChangeKind, Fingerprint, Readings, Report, Stat, Workspace};

use super::changes::{Remarks, Seen};
use crate::session::Session;
use crate::uri::{HISTORY, READINGS, SESSION};
use crate::watch::Hints;

/// A file above this size is not read while a client waits.
pub(super) const LARGE_FILE: u64 = 2 * 1024 * 1024;
/// The number of resources that a session may subscribe to.
pub(super) const SUBSCRIPTIONS_PER_SESSION: usize = 1_000;
/// The number of folders that are watched for files which were only read.
const READ_FOLDERS: usize = 2_000;

/// All listeners, and the last known state of what they listen to.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) listeners: BTreeMap<u64, Listener>,
    pub(super) last_id: u64,
    pub(super) files: HashMap<PathBuf, WatchedFile>,
    /// The names in each watched folder, once it was listed, while a listener wants to hear of new files.
    pub(super) folders: BTreeMap<PathBuf, Option<BTreeSet<String>>>,
    /// All folders that are to be watched.
    pub(super) watched: BTreeSet<PathBuf>,
    /// The files in which the histories of edits are kept.
    pub(super) logs: Vec<PathBuf>,
    /// The id of the newest edit of which the listeners were notified.
    pub(super) newest: Option<String>,
    /// The log of events, while a listener wants to hear of events.
    pub(super) events: Option<PathBuf>,
    /// The number of the newest event of which the listeners were notified.
    pub(super) newest_event: u64,
    /// Files that may have changed before they were watched, by path, with their names.
    pub(super) to_check: BTreeMap<PathBuf, String>,
    /// Whether more files were read than can be watched.
    pub(super) is_over_limit: bool,
    /// The path of each root, and the prefix of the names of its files.
    pub(super) roots: Vec<(PathBuf, String)>,
}

/// A session or a listen request that is notified of changes.
#[derive(Debug)]
pub(super) struct Listener {
    /// The readings of its session, which also identify the session. The session itself is not held: it ends on its
    /// own, and its listeners with it.
    pub(super) readings: Arc<Mutex<Readings>>,
    pub(super) subjects: BTreeMap<String, Subject>,
    pub(super) list: ListWish,
    pub(super) unsent: Unsent,
    pub(super) wake: Arc<Notify>,
    /// The notes for the answers of a session, if the listener stands for these: it hears of every file that was read.
    pub(super) remarks: Option<Remarks>,
}

impl Listener {
    pub(super) fn wants(&self, subject: &Subject) -> bool {
        self.subjects.values().any(|own| own == subject)
    }

    pub(super) fn readings(&self) -> MutexGuard<'_, Readings> {
        self.readings.lock()
    }

    /// Returns the files that an answer looks at itself, and whether they are the last of the round.
    pub(super) fn select_next_files(&mut self) -> (Vec<(String, Version, Stat)>, bool) {
        let Some(remarks) = &mut self.remarks else { return Default::default() };
        remarks.select_next_files(&self.readings.lock())
    }

    /// Returns the changes that an answer will name, each of which is looked at again first.
    pub(super) fn unreported(&self) -> Vec<(String, Seen)> {
        self.remarks.as_ref().map(|remarks| remarks.unreported(&self.readings())).unwrap_or_default()
    }

    /// Takes out the notes for an answer.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        let Some(remarks) = &mut self.remarks else { return Vec::new() };
        remarks.take_notes(&self.readings.lock())
    }

    /// Records the state of a file for the answers of a session; returns whether the listener stands for these.
    fn record_for_answers(&mut self, name: &str, now: &Fingerprint, stat: Option<Stat>) -> bool {
        let Some(remarks) = &mut self.remarks else { return false };
        let readings = self.readings.lock();
        remarks.record_sight(name, now, stat, readings.of(name));
        true
    }
}

/// Whether a listener wants to hear of files that are created and deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ListWish {
    #[default]
    None,
    /// The client has asked for the list of resources: it is notified of changes that become known anyway.
    Passive,
    /// The client has asked for notifications: folders are watched for it.
    Active,
}

/// What a subscribed URI stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// A file: its path without links, and its name.
    File(PathBuf, String),
    History,
    Diagnostics,
    Readings,
    Session,
    Events,
    /// The diff of an edit and the skill never change.
    Fixed,
}

/// The notifications that a listener has not been sent yet.
#[derive(Debug, Default)]
pub(super) struct Unsent {
    pub(super) updated: BTreeSet<String>,
    pub(super) list: bool,
}

/// A file with at least one listener.
#[derive(Debug)]
pub(super) struct WatchedFile {
    pub(super) name: String,
    /// The state of the file at the last notification; `None` before the first.
    pub(super) seen: Option<Fingerprint>,
    /// The number of edits of this process that have changed the file.
    pub(super) edits: u64,
    /// The ids of its listeners, each with the URI that it has subscribed to.
    pub(super) listeners: Vec<(u64, String)>,
}

impl State {
    /// Returns how many more subscriptions a session may have.
    pub(super) fn room(&self, session: &Session) -> usize {
        let its = self.listeners.values().filter(|it| Arc::ptr_eq(&it.readings, session.readings()));
        SUBSCRIPTIONS_PER_SESSION.saturating_sub(its.map(|listener| listener.subjects.len()).sum())
    }

    /// Rebuilds the list of files with listeners, and returns the folders that have to be watched for them.
    pub(super) fn arrange(&mut self, workspace: &Workspace) -> BTreeSet<PathBuf> {
        let mut before = std::mem::take(&mut self.files);
        let mut files: HashMap<PathBuf, WatchedFile> = HashMap::new();
        // Returns the last known state of the file, if it was watched before.
        let mut want = |path: PathBuf, name: &str, seen: Option<Fingerprint>, listener: (u64, String)| {
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
                            want(path, &name, Some(Fingerprint::Text(version)), (*id, uri.clone()));
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
                    let read = Fingerprint::Text(version);
                    let known = want(path.clone(), &name, Some(read.clone()), (*id, READINGS.to_owned()));
                    // A change from before the file was watched, or before this client had read it, caused no hint.
                    if !known
                        .is_some_and(|known| known == read || remarks.has_reported(&name, version, &known))
                    {
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

    /// Returns whether a listener wants to hear of events and their log is not watched.
    pub(super) fn has_unwatched_events(&self) -> bool {
        self.events.is_none() && self.wants(&Subject::Events)
    }

    /// Begins to follow the events in `log` that come after `newest`.
    pub(super) fn follow_events(&mut self, log: PathBuf, newest: u64) {
        self.events = Some(log);
        self.newest_event = self.newest_event.max(newest);
    }

    /// Returns every folder around a file, since any of them may be replaced by another folder.
    fn folders_around(&self, path: &Path) -> Vec<PathBuf> {
        let top = self.roots.iter().find(|(root, _)| path.starts_with(root)).map(|(root, _)| root);
        let inside = |folder: &&Path| top.is_some_and(|top| folder.starts_with(top));
        path.ancestors().skip(1).take_while(inside).map(Path::to_path_buf).collect()
    }

    /// Returns whether a file has a subscriber, and not only answers that report its changes.
    fn is_subscribed(&self, watched: &WatchedFile) -> bool {
        let subscribes = |listener: &Listener| listener.remarks.is_none();
        watched.listeners.iter().any(|(id, _)| self.listeners.get(id).is_some_and(subscribes))
    }

    /// Returns whether there may be a history by now that is not watched.
    pub(super) fn has_unwatched_logs(&self) -> bool {
        self.logs.is_empty() && self.wants(&Subject::History)
    }

    pub(super) fn unknown_folders(&self) -> Vec<PathBuf> {
        self.folders.iter().filter(|(_, names)| names.is_none()).map(|(folder, _)| folder.clone()).collect()
    }

    /// Returns the watched folders that were created, deleted or moved.
    pub(super) fn swapped_folders(&self, hints: &Hints) -> Vec<PathBuf> {
        let came_or_went = hints.paths.iter().filter(|(_, new)| **new).map(|(path, _)| path);
        came_or_went.filter(|path| self.watched.contains(*path)).cloned().collect()
    }

    /// Returns the files and folders to look at, and whether to look at the history and at the log of events.
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
        // Files that were only read are looked at when there is an answer that can report their changes.
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

    /// Records an edit of this process.
    pub(super) fn record_edit(&mut self, report: &Report) {
        if self.listeners.is_empty() {
            return;
        }
        let mut list_changed = false;
        for file in &report.files {
            let path = self.path_of(&file.name);
            self.record_own_change(&path, file.after.map_or(Fingerprint::Unreadable, Fingerprint::Text));
            if let Some(from) = file.moved_from.as_ref().map(|from| self.path_of(from)) {
                self.record_own_change(&from, Fingerprint::Unreadable);
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

    /// Records what an edit of this process has made of a file.
    fn record_own_change(&mut self, path: &Path, now: Fingerprint) {
        if let Some(watched) = self.files.get_mut(path) {
            watched.edits += 1;
        }
        self.record_sight(path, None, now);
    }

    /// Records that an edit of this process has moved the file at `from`.
    fn record_move(&mut self, from: &Path, to: &str) {
        let Some(watched) = self.files.get(from) else { return };
        for (id, _) in &watched.listeners {
            if let Some(remarks) = self.listeners.get_mut(id).and_then(|it| it.remarks.as_mut()) {
                remarks.record_move(&watched.name, to);
            }
        }
    }

    /// Marks these files, which were read, as to be looked at.
    pub(super) fn doubt(&mut self, names: Vec<String>) {
        let to_check = names.into_iter().map(|name| (self.path_of(&name), name));
        let to_check: Vec<_> = to_check.collect();
        self.to_check.extend(to_check);
    }

    /// Records that hints were lost, or that none come, so that every file may have changed.
    pub(super) fn doubt_everything(&mut self) {
        for remarks in self.listeners.values_mut().filter_map(|listener| listener.remarks.as_mut()) {
            remarks.doubt_everything();
        }
    }

    /// Returns whether a file is large and its metadata shows that its last known state is still true.
    pub(super) fn is_large_and_known(&self, path: &Path, stat: &Stat) -> bool {
        let Some(watched) = self.files.get(path).filter(|_| stat.size > LARGE_FILE) else { return false };
        let mut listeners = watched.listeners.iter().filter_map(|(id, _)| self.listeners.get(id));
        listeners.any(|listener| {
            let readings = listener.readings();
            readings.of(&watched.name).is_some_and(|reading| {
                reading.stat == *stat && watched.seen == Some(Fingerprint::Text(reading.version))
            })
        })
    }

    /// Returns whether the metadata of a file shows that each session which has read it has read its present state.
    pub(super) fn is_as_read(&self, path: &Path, stat: &Stat) -> bool {
        let Some(watched) = self.files.get(path) else { return true };
        let listeners = watched.listeners.iter().filter_map(|(id, _)| self.listeners.get(id));
        let mut listeners = listeners.filter(|listener| listener.remarks.is_some());
        listeners.all(|it| it.readings().of(&watched.name).is_some_and(|reading| reading.stat == *stat))
    }

    /// Records the state of a doubted file for the answers only, whatever the subscribers were notified of.
    pub(super) fn record_doubted_sight(&mut self, path: &Path, stat: Option<Stat>, now: &Fingerprint) {
        let Some(watched) = self.files.get(path) else { return };
        for (id, _) in &watched.listeners {
            if let Some(listener) = self.listeners.get_mut(id) {
                listener.record_for_answers(&watched.name, now, stat);
            }
        }
    }

    /// Returns the number of edits of this process that have changed a file.
    pub(super) fn edits(&self, path: &Path) -> u64 {
        self.files.get(path).map_or(0, |watched| watched.edits)
    }

    /// Records the present state of a file, with its metadata if that was asked for, and notifies its listeners.
    /// Returns whether the state is new.
    pub(super) fn record_sight(&mut self, path: &Path, stat: Option<Stat>, now: Fingerprint) -> bool {
        let Some(watched) = self.files.get_mut(path) else { return false };
        if watched.seen.as_ref() == Some(&now) {
            return false;
        }
        for (id, uri) in &watched.listeners {
            let Some(listener) = self.listeners.get_mut(id) else { continue };
            if listener.record_for_answers(&watched.name, &now, stat) {
                continue;
            }
            // A client is not notified of its own edit: it knows the new version.
            let known =
                || listener.readings().of(&watched.name).map(|reading| Fingerprint::Text(reading.version));
            let is_as_read = uri == READINGS && known().as_ref() == Some(&now);
            if !is_as_read {
                listener.unsent.updated.insert(uri.clone());
                listener.wake.notify_one();
            }
        }
        watched.seen = Some(now);
        true
    }

    /// Adds or removes the name of a file that an edit has created or deleted, without listing its folder.
    fn update_names(&mut self, path: &Path, comes: bool) {
        let mut inner = path;
        for folder in path.ancestors().skip(1) {
            let name = inner.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if let Some(Some(names)) = self.folders.get_mut(folder) {
                let _ = if comes { names.insert(name) } else { names.remove(&name) };
            }
            if !comes {
                // The folders of a deleted file stay.
                return;
            }
            inner = folder;
        }
    }

    /// Notifies the listeners that files were created or deleted.
    pub(super) fn notify_list(&mut self) {
        for listener in self.listeners.values_mut().filter(|listener| listener.list != ListWish::None) {
            listener.unsent.list = true;
            listener.wake.notify_one();
        }
    }

    /// Sets the newest edit, and notifies the listeners if it is another one than before.
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

    /// Sets the number of the newest event, and notifies the listeners if it is another one than before.
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

    /// Notifies the listeners that a session counts one more outcome.
    pub(super) fn notify_tally(&mut self, session: &Session) {
        for listener in self.listeners.values_mut() {
            if Arc::ptr_eq(&listener.readings, session.readings()) && listener.wants(&Subject::Session) {
                listener.unsent.updated.insert(SESSION.to_owned());
                listener.wake.notify_one();
            }
        }
    }

    /// Notifies the listeners that the resource `uri` has changed.
    pub(super) fn notify(&mut self, subject: &Subject, uri: &str) {
        for listener in self.listeners.values_mut().filter(|listener| listener.wants(subject)) {
            listener.unsent.updated.insert(uri.to_owned());
            listener.wake.notify_one();
        }
    }

    /// Returns the path of the file called `name`.
    fn path_of(&self, name: &str) -> PathBuf {
        let inside =
            |(root, prefix): &(PathBuf, String)| Some(root.join(name.strip_prefix(prefix.as_str())?));
        self.roots.iter().find_map(inside).unwrap_or_default()
    }
}
