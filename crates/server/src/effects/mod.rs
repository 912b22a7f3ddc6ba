//! Side effects of edits: diagnostics, hooks and editors, each of them optional. None can delay or undo an edit.
//!
//! A commit notifies its observers while its files are still locked. There, a side effect is only begun: a thread of its
//! own gets everything that it needs. The answer then names in `side_effects_fired` what was begun.

mod diagnostics;
mod hook_queue;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use emend_threads::Mutex;
use emend_workspace::policy::programs::Programs;
use emend_workspace::{CommittedEdit, Mailbox, Report, Topic, Workspace};

use self::hook_queue::HookQueue;
use crate::answer::Answer;
use crate::editors::Editors;

pub use self::diagnostics::{Availability, KnownServer, language_servers};
pub(crate) use self::diagnostics::{Diagnostics, PendingDiagnostics, Recipients};

/// The time that editors get to be notified when nothing else is left to do.
const END_PATIENCE: Duration = Duration::from_secs(1);

/// The side effects of each edit of a workspace.
#[derive(Default)]
pub struct Effects {
    /// The workspace, once `follow` was called.
    workspace: OnceLock<Weak<Workspace>>,
    diagnostics: Option<Diagnostics>,
    hooks: HookQueue,
    editors: Editors,
    /// The side effects that were begun, by the ids of edits that have not been answered yet.
    begun: Mutex<BTreeMap<String, Begun>>,
}

/// The side effects that the user has configured.
#[derive(Clone, Debug, Default)]
pub struct EffectSettings {
    /// The hooks, editors and language servers that are run.
    pub programs: Programs,
    /// Whether language servers are asked at all; a process that ends at once has no use for them.
    pub asks_language_servers: bool,
    /// The time that an answer waits for diagnostics, where it is not the default.
    pub diagnostics_wait: Option<Duration>,
}

/// The side effects that were begun for an edit.
#[derive(Debug, Default)]
struct Begun {
    /// The names of the side effects in the answer.
    fired: Vec<String>,
    pending_diagnostics: Option<PendingDiagnostics>,
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effects").finish_non_exhaustive()
    }
}

impl Effects {
    /// Returns effects that never do anything.
    #[must_use]
    pub fn none() -> Arc<Self> {
        Arc::default()
    }

    /// Creates the side effects that `settings` ask for. No program is started before an edit needs it.
    #[must_use]
    pub fn new(workspace: &Workspace, settings: &EffectSettings) -> Arc<Self> {
        let ask = || Diagnostics::new(workspace, &settings.programs, settings.diagnostics_wait);
        let editors = Editors::for_workspace(workspace, &settings.programs.editors);
        Arc::new(Self { diagnostics: settings.asks_language_servers.then(ask), editors, ..Self::default() })
    }

    /// Returns the language servers, if they are asked at all.
    pub(crate) fn diagnostics(&self) -> Option<&Diagnostics> {
        self.diagnostics.as_ref()
    }

    /// Begins to follow the edits of this workspace.
    pub fn follow(self: &Arc<Self>, workspace: &Arc<Workspace>) {
        let effects = Arc::downgrade(self);
        let _ = self.workspace.set(Arc::downgrade(workspace));
        workspace.on_commit(move |committed| {
            if let Some(effects) = effects.upgrade() {
                effects.begin(committed);
            }
        });
    }

    /// Notifies the language servers that other programs have changed these files.
    pub(crate) fn changed_outside(&self, paths: &[PathBuf]) {
        if let Some(diagnostics) = &self.diagnostics {
            diagnostics.changed_outside(paths);
        }
    }

    /// Returns the names of the side effects that were begun for this edit.
    pub(crate) fn fired(&self, report: &Report) -> Vec<String> {
        let edit = report.edit.as_deref().unwrap_or_default();
        self.begun.lock().get(edit).map(|begun| begun.fired.clone()).unwrap_or_default()
    }

    /// Takes out the diagnostics that were asked for about the edit in this answer; the edit is forgotten here.
    pub(crate) fn pending_diagnostics(&self, answer: &Answer) -> Option<PendingDiagnostics> {
        self.begun.lock().remove(answer.edit()?)?.pending_diagnostics
    }

    /// Waits for the side effects that still run, for hooks no longer than `patience`, and then ends them.
    pub fn finish(&self, patience: Duration) {
        // Language servers are ended first: the process may be killed before the hooks have finished.
        if let Some(diagnostics) = &self.diagnostics {
            diagnostics.stop();
        }
        self.hooks.finish(patience);
        self.editors.wait(END_PATIENCE);
    }

    /// Ends the hooks that run, so that [`finish`](Self::finish) waits no longer.
    pub fn give_up(&self) {
        self.hooks.give_up();
    }

    /// Begins the side effects of an edit, whose files are still locked.
    fn begin(&self, committed: &CommittedEdit<'_>) {
        let mut begun = Begun::default();
        if committed.report.is_recorded {
            begun.fired.push("history".to_owned());
        }
        begun.pending_diagnostics =
            self.diagnostics.as_ref().and_then(|diagnostics| diagnostics.begin(committed));
        if begun.pending_diagnostics.is_some() {
            begun.fired.push("diagnostics".to_owned());
        }
        begun.fired.extend(self.begin_hooks(committed));
        let notified = self.editors.notify_of_commit(committed);
        begun.fired.extend(notified.into_iter().map(|editor| format!("editor:{editor}")));
        if let Some(edit) = &committed.report.edit {
            self.begun.lock().insert(edit.clone(), begun);
        }
    }

    /// Queues the hooks that run after this edit, and returns their names.
    fn begin_hooks(&self, committed: &CommittedEdit<'_>) -> Vec<String> {
        let Some(workspace) = self.workspace.get().and_then(Weak::upgrade) else { return Vec::new() };
        let names = workspace.hooks().would_run_after(committed.report);
        if names.is_empty() {
            return names;
        }
        let (report, origin) = (committed.report.clone(), committed.origin.clone());
        let (root, mailbox) = (committed.root.path.clone(), origin.mailbox.clone());
        let run = move |is_over: &dyn Fn() -> bool| {
            let done = workspace.hooks().run_after(&report, &origin, &root, is_over);
            post_failures(&origin.mailbox, done.failed);
        };
        if self.hooks.push(run) {
            return names;
        }
        let left_out = format!("{} did not run: too many hooks wait already.", names.join(", "));
        post_failures(&mailbox, vec![left_out]);
        Vec::new()
    }
}

/// Posts what failed to the session of the edit, whose next answer reports it.
fn post_failures(mailbox: &Mailbox, failed: Vec<String>) {
    for text in failed {
        tracing::warn!("{text}");
        mailbox.post(Topic::Hooks, text);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use emend_workspace::{RootSpec, disk};

    use super::*;
    use crate::approval::Decision;
    use crate::local;
    use crate::wire::WriteFile;

    #[test]
    fn who_fails_while_an_edit_is_told_of_fails_neither_the_edit_nor_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let roots = [RootSpec { name: None, path: folder.path().into() }];
        let workspace = Workspace::open(disk::for_this_machine(), &roots, None).unwrap();
        let (told, hears) = mpsc::channel();
        workspace.on_commit(|_| panic!("it is caught"));
        workspace.on_commit(move |committed| told.send(committed.report.edit.clone()).unwrap());
        let asked = WriteFile { path: "a".into(), content: "one\n".into(), version: None };
        let made = local::write_file(&workspace, asked, "test", &|_| Decision::Deny).unwrap();
        assert_eq!(hears.try_recv().unwrap().as_deref(), made.edit());
    }
}
