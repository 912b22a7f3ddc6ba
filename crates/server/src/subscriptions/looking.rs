//! What is watched for the listeners, and looking at what is hinted at: only what looking shows is told.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use emend_threads::Background;
use emend_workspace::Workspace;
use emend_workspace::history::Asked;

use super::Subscriptions;
use crate::events;
use crate::watch::{Hints, Watch};

/// Arranging what is watched, in a thread of its own.
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
    /// Watches what the listeners want, and nothing else. Blocks.
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
            // It ends with the last who wanted it.
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
        // Only now, so that what changes meanwhile is hinted at.
        let unknown = self.state.lock().unknown_folders();
        for folder in unknown {
            let names = names_in(workspace, &folder);
            if let Some(known) = self.state.lock().folders.get_mut(&folder) {
                *known = Some(names);
            }
        }
    }

    /// From now on the log of events is watched. Its folder is made, since what is not there is looked for all the time.
    fn follow_events(&self, workspace: &Workspace) {
        let Some(log) = workspace.event_log() else { return };
        if let Err(error) = log.make() {
            tracing::warn!(%error, "events of other processes are not told");
            return;
        }
        let newest = newest_event(workspace).unwrap_or(0);
        self.state.lock().follow_events(log.file(), newest);
    }

    /// Looks at what was read and may have changed before it was watched, or is large.
    fn look_at_files_to_check(&self, workspace: &Workspace) {
        let to_check = std::mem::take(&mut self.state.lock().to_check);
        for (path, name) in to_check {
            let stat = workspace.files().glance(&name);
            if stat.is_some_and(|stat| self.state.lock().is_as_read(&path, &stat)) {
                continue;
            }
            workspace.running_commits().settle();
            let edits = self.state.lock().edits(&path);
            let now = workspace.files().look(&name);
            let mut state = self.state.lock();
            if state.edits(&path) == edits {
                state.record_doubted_sight(&path, stat, &now);
            }
        }
    }

    /// Has what is watched arranged in the background, once for all who go at that time: a listener ends where everybody's
    /// requests are answered, and with hundreds of others left arranging takes a while.
    pub(super) fn arrange_later(self: &Arc<Self>, workspace: &Arc<Workspace>) {
        // Whoever goes while that is being done may be too late for it, and has it done once more.
        let due = (Arc::clone(self), Arc::clone(workspace));
        self.arrange_queue.0.push(|waiting| waiting.replace(due));
    }

    /// Looks at what may be new, and has told what is. Blocks.
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
        // A hint of an edit of our own comes while that is being finished; then the edit itself tells, and it is known who
        // made it.
        workspace.running_commits().settle();
        if hints.all {
            self.state.lock().doubt_everything();
        }
        let mut changed = Vec::new();
        for (path, name) in files {
            // Our own edits are hinted at, too, and a large file is not read for each.
            let stat = workspace.files().glance(&name);
            if stat.is_some_and(|stat| self.state.lock().is_large_and_known(&path, &stat)) {
                continue;
            }
            let edits = self.state.lock().edits(&path);
            let now = workspace.files().look(&name);
            let mut state = self.state.lock();
            // What was seen is not known to be older or newer than an edit that was made meanwhile; that has told.
            if state.edits(&path) == edits && state.record_sight(&path, stat, now) {
                changed.push(path);
            }
        }
        if let (Some(tell), false) = (self.outside.0.get(), changed.is_empty()) {
            tell(&changed);
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
            let asked = Asked { path: None, limit: 1 };
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

/// The number of the newest event, where it can be told.
fn newest_event(workspace: &Workspace) -> Option<u64> {
    workspace.event_log()?.newest().ok()
}

/// What is to be seen right in a folder.
fn names_in(workspace: &Workspace, folder: &Path) -> BTreeSet<String> {
    let children = workspace.files().children(&folder.to_string_lossy()).unwrap_or_default();
    children.into_iter().map(|child| child.name).collect()
}
