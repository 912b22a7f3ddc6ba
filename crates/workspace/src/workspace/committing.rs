//! The last stages of an edit: what is planned is written, recorded, remembered and told, in this order. The lock is held.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use emend_edit::plan::Action;
use emend_edit::problem::{Code, Kind, Problem};
use tracing::Span;

use super::Workspace;
use crate::disk::Stat;
use crate::disk::fault::io_problem;
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::committed_edit::CommittedEdit;
use crate::edits::readings::{Readings, locked};
use crate::edits::vault_access::VaultAccess;
use crate::files::commit::{self, Committed};
use crate::files::effort::Progress;
use crate::files::report::Report;
use crate::files::vault::{self, Vault};
use crate::spans;

/// How often an edit is begun anew because another program was about to write into one of its files.
const TRIES: usize = 20;

/// An edit that is on the disk.
struct Written {
    id: String,
    vault: Arc<Vault>,
    committed: Committed,
}

impl Workspace {
    /// Makes the plan true.
    pub(super) fn commit(
        &self,
        mut checked: CheckedPlan,
        readings: &Mutex<Readings>,
        progress: &dyn Fn(Progress),
    ) -> Result<Report, Problem> {
        // The edit is under way until the observers of edits have been told.
        let Some(_running) = self.running_commits.begin() else {
            return Err(Problem::new(Kind::Cancelled));
        };
        let span = spans::commit(checked.plan.files().len());
        spans::within(&span, |span| {
            // It goes on while the disk works.
            let look = self.guard.begin(&checked);
            let written = self.write(&mut checked, progress, span)?;
            let mut report = checked.report.clone();
            report.notes.extend(open_note(&written.committed.open));
            let late = look.and_then(|look| look.end(&written.id, &mut report));
            locked(readings).will_hear(late);
            self.record(&checked, &written, &mut report);
            remember(&checked, &written.committed.stats, readings);
            report.edit = Some(written.id);
            report.notes.extend(self.vaults.news());
            self.tell(&checked, &report);
            Ok(report)
        })
    }

    /// Puts the files in place, all of them or none.
    fn write(
        &self,
        checked: &mut CheckedPlan,
        progress: &dyn Fn(Progress),
        span: &Span,
    ) -> Result<Written, Problem> {
        let root = Arc::clone(&checked.context.root);
        let vault = self.vaults.vault(self.disk(), &root)?;
        let mut overtaken = 0;
        loop {
            let id = edit_id()?;
            span.record("edit", id.as_str());
            match commit::commit(self.disk(), &vault, &id, &checked.jobs(), progress) {
                Ok(committed) => return Ok(Written { id, vault, committed }),
                // Somebody was about to write into one of the files: if they have by now, the next try finds what.
                Err(problem) if matches!(*problem.kind, Kind::Overtaken { .. }) => {
                    overtaken += 1;
                    if overtaken == TRIES {
                        return Err(Problem { kind: Kind::Overtaken { times: TRIES }.into(), ..problem });
                    }
                }
                Err(problem) => {
                    // Somebody may have removed the vault: the next edit looks for it again.
                    if problem.code() == Code::IoError {
                        root.vault.forget();
                    }
                    let mounted = problem.path.clone().filter(|_| problem.code() == Code::MountPoint);
                    match mounted.filter(|_| root.policy.terms().write_in_place) {
                        Some(name) if checked.mounted.insert(name.clone()) => {}
                        _ => return Err(problem),
                    }
                }
            }
        }
    }

    /// Writes the edit down in the history, or drops the means to undo it where there is to be none.
    fn record(&self, checked: &CheckedPlan, written: &Written, report: &mut Report) {
        let Written { id, vault, committed } = written;
        if checked.context.root.policy.terms().track_history {
            report.is_recorded = self.vaults.record(self.disk(), vault, id, checked, committed).is_ok();
            if !report.is_recorded {
                report.notes.push("the history has no record of this edit: it could not be written".into());
            }
        } else {
            vault::remove(self.disk(), &vault.kept, &committed.name);
        }
        VaultAccess::tidy(self.disk(), vault);
    }

    /// Tells the observers of edits.
    fn tell(&self, checked: &CheckedPlan, report: &Report) {
        let (context, jobs) = (&checked.context, checked.jobs());
        let committed_edit =
            CommittedEdit { report, origin: &context.origin, root: &context.root, jobs: &jobs };
        for tell in self.observers.everybody().iter() {
            // The edit has happened, whatever becomes of what follows it.
            if catch_unwind(AssertUnwindSafe(|| tell(&committed_edit))).is_err() {
                tracing::error!("what follows an edit failed");
            }
        }
    }
}

/// Has the client's readings know what the edit made of its files.
fn remember(checked: &CheckedPlan, stats: &[Option<Stat>], readings: &Mutex<Readings>) {
    let context = &checked.context;
    let mut readings = locked(readings);
    for name in &context.merged {
        if let Some((_, Some(snapshot))) = checked.files.get(name) {
            // The answer shows what changed beside the edit.
            readings.knows_change(name, snapshot);
        }
    }
    for (job, stat) in checked.jobs().iter().zip(stats) {
        if let Action::Move { from, .. } = &job.plan.action {
            readings.moved(from, &job.plan.name);
        }
        let replaced_by_move =
            job.plan.metadata_from.is_some() && !matches!(job.plan.action, Action::Move { .. });
        match stat.zip(job.after) {
            // What is there now came from another file, of which perhaps less was seen.
            Some(_) if replaced_by_move => readings.removed(&job.plan.name),
            Some((stat, after)) => {
                let whole = context.whole.contains(&job.plan.name);
                readings.wrote(&job.plan.name, stat, &job.plan.action, after, whole);
            }
            None => readings.removed(&job.plan.name),
        }
    }
}

/// Sorts by time, and is unique among all processes.
fn edit_id() -> Result<String, Problem> {
    let mut random = [0u8; 4];
    getrandom::fill(&mut random)
        .map_err(|error| io_problem("Getting random bytes", &std::io::Error::other(error.to_string())))?;
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    Ok(format!("{millis:011x}{:08x}", u32::from_ne_bytes(random)))
}

/// What is said of files that another program had open for writing while they were displaced.
fn open_note(names: &[String]) -> Option<String> {
    let [first, rest @ ..] = names else { return None };
    let rest = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    Some(format!(
        "another program has {first}{rest} open for writing: what it writes without opening the file anew goes into the old \
         one, which is kept. Read the file again before you rely on it"
    ))
}
