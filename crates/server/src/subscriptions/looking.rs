//! Watching files for the listeners, and looking at those that the system hints at. A listener is notified of a change
//! only if a look has shown it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use emend_threads::Background;
use emend_workspace::Workspace;
use emend_workspace::history::HistoryQuery;

use super::Subscriptions;
use crate::events;
use crate::watch::{Hints, Watch};

/// The background queue that decides anew which folders are watched.
#[derive(Debug)]
pub(super) struct ArrangeQueue(Background<Option<(Arc<Subscriptions>, Arc<Workspace>)>>);

impl Default for ArrangeQueue {
    fn default() -> Self {
        Self(Background::new(
            "arrange",
            None,
            |(subscriptions, workspace): (Arc<Subscriptions>, Arc<Workspace>)| {
                subscriptions.watch_anew(&workspace);
                subscriptions.look_at_files_to_check(&workspace);
            },
        ))
    }
}

impl Subscriptions {
    /// Has exactly the folders watched that the listeners need. Blocks.
    pub(super) fn arrange(self: &Arc<Self>, workspace: &Arc<Workspace>) {
        self.watch_anew(workspace);
        let has_files_to_check = !self.state.lock().to_check.is_empty();
        if has_files_to_check {
            self.arrange_later(workspace);
        }
    }

    fn watch_anew(self: &Arc<Self>, workspace: &Arc<Workspace>) {
        let mut watch = self.watch.lock();
        if self.state.lock().has_unwatched_events() && events::are_enabled(workspace) {
            self.follow_events(workspace);
        }
        let (folders, is_over_limit) = {
            let mut state = self.state.lock();
            (state.arrange(workspace), state.is_over_limit)
        };
        if folders.is_empty() {
            // The watch ends with its last listener.
            *watch = None;
            self.is_partial.store(false, Ordering::Release);
            return;
        }
        let begin = || {
            let (subscriptions, workspace) = (Arc::downgrade(self), Arc::clone(workspace));
            Watch::start(move |hints| match subscriptions.upgrade() {
                Some(subscriptions) => {
                    subscriptions.look(&workspace, &hints);
                    true
                }
                None => false,
            })
        };
        let watch = watch.get_or_insert_with(begin);
        watch.set_folders(&folders);
        self.is_partial.store(is_over_limit || watch.is_partial(), Ordering::Release);
        // The folders are listed after the watch has begun, so that no change between the two is missed.
        let unknown = self.state.lock().unknown_folders();
        for folder in unknown {
            let names = names_in(workspace, &folder);
            if let Some(known) = self.state.lock().folders.get_mut(&folder) {
                *known = Some(names);
            }
        }
    }

    /// Begins to watch the log of events. Its folder is created, since a missing folder would have to be polled for.
    fn follow_events(&self, workspace: &Workspace) {
        let Some(log) = workspace.event_log() else { return };
        if let Err(error) = log.make() {
            tracing::warn!(%error, "events of other processes are not told");
            return;
        }
        let newest = newest_event(workspace).unwrap_or(0);
        self.state.lock().follow_events(log.file(), newest);
    }

    /// Looks at the files that may have changed before they were watched, and at those too large for an answer to read.
    fn look_at_files_to_check(&self, workspace: &Workspace) {
        let to_check = std::mem::take(&mut self.state.lock().to_check);
        for (path, name) in to_check {
            let stat = workspace.files().stat(&name);
            if stat.is_some_and(|stat| self.state.lock().is_as_read(&path, &stat)) {
                continue;
            }
            workspace.running_commits().settle();
            let edits = self.state.lock().edits(&path);
            let now = workspace.files().fingerprint(&name);
            let mut state = self.state.lock();
            if state.edits(&path) == edits {
                state.record_doubted_sight(&path, stat, &now);
            }
        }
    }

    /// Has the watched folders arranged in the background, once for all requests that come at the same time. A listener
    /// ends on a thread that answers everybody's requests, and with hundreds of others left arranging takes a while.
    pub(super) fn arrange_later(self: &Arc<Self>, workspace: &Arc<Workspace>) {
        // A listener that ends while folders are being arranged may come too late, and has it done once more.
        let due = (Arc::clone(self), Arc::clone(workspace));
        self.arrange_queue.0.push(|waiting| waiting.replace(due));
    }

    /// Looks at everything that the system has hinted at, and notifies the listeners of what has changed. Blocks.
    pub(super) fn look(self: &Arc<Self>, workspace: &Arc<Workspace>, hints: &Hints) {
        let swapped = self.state.lock().swapped_folders(hints);
        let has_missing_folders = match self.watch.lock().as_mut() {
            Some(watch) => {
                swapped.iter().for_each(|folder| watch.forget(folder));
                watch.has_missing_folders()
            }
            None => false,
        };
        if !swapped.is_empty() || has_missing_folders {
            self.watch_anew(workspace);
            self.look_at_files_to_check(workspace);
        }
        let (files, folders, history, events) = self.state.lock().select_hinted(hints, &swapped);
        // Our own edits are hinted at before they are finished, when it is not known yet whose they are.
        workspace.running_commits().settle();
        if hints.all {
            self.state.lock().doubt_everything();
        }
        let mut changed = Vec::new();
        for (path, name) in files {
            // Our own edits cause hints, too: a large file is not read after each of them.
            let stat = workspace.files().stat(&name);
            if stat.is_some_and(|stat| self.state.lock().is_large_and_known(&path, &stat)) {
                continue;
            }
            let edits = self.state.lock().edits(&path);
            let now = workspace.files().fingerprint(&name);
            let mut state = self.state.lock();
            // An edit during the look has notified the listeners itself, and the look may be older than it.
            if state.edits(&path) == edits && state.record_sight(&path, stat, now) {
                changed.push(path);
            }
        }
        if let (Some(observer), false) = (self.outside.0.get(), changed.is_empty()) {
            observer(&changed);
        }
        for folder in folders {
            let names = names_in(workspace, &folder);
            let mut state = self.state.lock();
            let is_new = match state.folders.get_mut(&folder) {
                Some(known) => known.replace(names.clone()).is_none_or(|known| known != names),
                None => false,
            };
            if is_new {
                state.notify_list();
            }
        }
        if hints.lost {
            self.state.lock().notify_list();
        }
        if history {
            let asked = HistoryQuery { path: None, limit: 1 };
            let newest =
                workspace.past_edits().newest(&asked, "").ok().and_then(|edits| edits.into_iter().next());
            if let Some(newest) = newest {
                self.state.lock().set_newest_edit(&newest.id);
            }
        }
        if events && let Some(newest) = newest_event(workspace) {
            self.state.lock().set_newest_event(newest);
        }
    }
}

/// Returns the number of the newest event, if the log can be read.
fn newest_event(workspace: &Workspace) -> Option<u64> {
    workspace.event_log()?.newest().ok()
}

/// Returns the names of the visible entries of a folder.
fn names_in(workspace: &Workspace, folder: &Path) -> BTreeSet<String> {
    let children = workspace.files().children(&folder.to_string_lossy()).unwrap_or_default();
    children.into_iter().map(|child| child.name).collect()
}
