//! The stages after a commit: the edit is recorded in the history and in the readings, then the observers are notified.

use std::sync::Arc;

use emend_edit::plan::{Action, FilePlan, PlacedHunk, Taken};

use super::write::WrittenEdit;
use crate::edits::committed_edit::{CommittedEdit, Observers};
use crate::edits::context::EditContext;
use crate::edits::vault_access::VaultAccess;
use crate::files::note::Note;
use crate::files::report::Report;
use crate::files::roots::Root;
use crate::files::vault;

/// An edit that is on the disk and, if there is one, in the history.
#[must_use = "it is to be remembered and told"]
pub(crate) struct RecordedEdit<'a>(WrittenEdit<'a>);

impl<'a> WrittenEdit<'a> {
    /// Records the edit in the history. If there is no history, records its call alone, and drops what an undo would need.
    pub(crate) fn record(mut self, vaults: &VaultAccess, context: &EditContext<'_>) -> RecordedEdit<'a> {
        let Self { id, plan, vault, committed, report, lock, .. } = &mut self;
        let is_tracked = plan.context.root.policy.terms().track_history;
        let is_written = vaults.record(vault, id, plan, committed, context.origin.call).is_ok();
        committed.keep(vaults.disk(), vault);
        if !is_tracked {
            vault::remove(vaults.disk(), &vault.kept, &committed.name);
        } else if !is_written {
            report.notes.push(Note::NotRecorded);
        }
        report.is_recorded = is_tracked && is_written;
        if lock.is_whole() {
            vaults.tidy(vault);
        }
        report.notes.extend(vaults.news().into_iter().map(Note::Recovery));
        RecordedEdit(self)
    }
}

impl RecordedEdit<'_> {
    /// Returns the root, once, if its vault is to be tidied when it can be locked as a whole.
    pub(crate) fn crowded_root(&self) -> Option<Arc<Root>> {
        let WrittenEdit { vault, plan, .. } = &self.0;
        vault.take_crowded().then(|| Arc::clone(&plan.context.root))
    }

    /// Updates the client's readings of the edited files.
    pub(crate) fn remember(self, context: &EditContext<'_>) -> Self {
        let WrittenEdit { plan, committed, .. } = &self.0;
        let mut readings = context.readings.lock();
        for name in &plan.context.merged {
            if let Some((_, Some(snapshot))) = plan.files.get(name) {
                // The answer shows what changed besides the edit.
                readings.knows_change(name, snapshot);
            }
        }
        for (job, stat) in plan.jobs().iter().zip(&committed.stats) {
            if let Action::Move { from, .. } = &job.plan.action {
                readings.moved(from, &job.plan.name);
            }
            let replaced_by_move =
                job.plan.metadata_from.is_some() && !matches!(job.plan.action, Action::Move { .. });
            match stat.zip(job.after) {
                // The current content came from another file, of which perhaps less was shown.
                Some(_) if replaced_by_move => readings.removed(&job.plan.name),
                Some((stat, after)) => {
                    let whole = plan.context.whole.contains(&job.plan.name);
                    readings.wrote(&job.plan.name, stat, &job.plan.action, after, whole);
                    if has_lines_of_others(job.plan) {
                        readings.got_unseen_lines(&job.plan.name);
                    }
                }
                None => readings.removed(&job.plan.name),
            }
        }
        drop(readings);
        self
    }

    /// Notifies the observers, and releases the lock.
    pub(crate) fn tell(self, observers: &Observers) -> Report {
        let WrittenEdit { plan, report, .. } = &self.0;
        let jobs = plan.jobs();
        let origin = &plan.context.origin;
        observers.tell(&CommittedEdit { report, origin, root: &plan.context.root, jobs: &jobs });
        self.0.into_report()
    }
}

/// Returns whether lines of another file were put into this one, of which perhaps less was shown.
fn has_lines_of_others(file: &FilePlan) -> bool {
    let is_of_another = |hunk: &PlacedHunk| match &hunk.taken {
        Some(Taken::From(origin)) => origin.name != file.name,
        Some(Taken::To(_)) | None => false,
    };
    file.hunks.iter().any(is_of_another)
}
