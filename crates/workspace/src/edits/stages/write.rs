//! The stage that puts the files of a plan in place, all of them or none.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::Span;

use super::permit::PermittedPlan;
use crate::disk::fault::io_problem;
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::context::EditContext;
use crate::edits::running_commits::{Running, RunningCommits};
use crate::edits::syntax_guard::{Guard, Look};
use crate::edits::vault_access::{LockedRoot, VaultAccess};
use crate::files::commit::{self, Committed, TxId};
use crate::files::note::Note;
use crate::files::report::Report;
use crate::files::vault::Vault;
use crate::problem::{Code, Kind, Problem};

/// The number of times an edit is begun again because another program was about to write to one of its files.
const TRIES: usize = 20;

/// An edit that is on the disk, but not yet recorded or reported.
#[must_use = "it is to be recorded, remembered and told"]
pub(crate) struct WrittenEdit<'a> {
    pub(crate) id: String,
    pub(crate) plan: CheckedPlan,
    pub(crate) vault: Arc<Vault>,
    pub(crate) committed: Committed,
    pub(crate) report: Report,
    /// The syntax check that began before the commit.
    look: Option<Look>,
    /// Keeps the edit counted as running until its observers are notified.
    _running: Running<'a>,
    /// Keeps others from editing its files.
    pub(crate) lock: LockedRoot<'a>,
}

impl<'a> PermittedPlan<'a> {
    /// Returns the number of files that it changes.
    pub(crate) fn files(&self) -> usize {
        self.plan.plan.files().len()
    }

    /// Writes the files, unless the process is shutting down. Records the edit's id in the span.
    pub(crate) fn write(
        self,
        vaults: &VaultAccess,
        guard: &Guard,
        running_commits: &'a RunningCommits,
        context: &EditContext<'_>,
        span: &Span,
    ) -> Result<WrittenEdit<'a>, Problem> {
        let Self { mut plan, lock } = self;
        let running = running_commits.begin().ok_or_else(|| Problem::new(Kind::Cancelled))?;
        // The guard works while the disk does.
        let look = guard.begin(&plan);
        let (id, vault, committed) = put_in_place(&mut plan, vaults, context, span)?;
        let mut report = plan.report.clone();
        report.edit = Some(id.clone());
        report.notes.extend(open_note(&committed.open));
        Ok(WrittenEdit { id, plan, vault, committed, report, look, _running: running, lock })
    }
}

impl WrittenEdit<'_> {
    /// Adds the warnings found so far. Later ones go into the client's next answer.
    pub(crate) fn warn(mut self, context: &EditContext<'_>) -> Self {
        if let Some(look) = self.look.take() {
            look.end(&self.id, &mut self.report, &context.origin.mailbox);
        }
        self
    }

    /// Releases the lock and returns the report.
    pub(crate) fn into_report(self) -> Report {
        self.report
    }
}

fn put_in_place(
    plan: &mut CheckedPlan,
    vaults: &VaultAccess,
    context: &EditContext<'_>,
    span: &Span,
) -> Result<(String, Arc<Vault>, Committed), Problem> {
    let root = Arc::clone(&plan.context.root);
    let vault = vaults.vault(&root)?;
    let mut overtaken = 0;
    loop {
        let id = edit_id()?;
        span.record("edit", id.as_str());
        let tx = TxId { edit: &id, call: context.origin.call.carried() };
        match commit::commit(vaults.disk(), &vault, tx, &plan.jobs(), context.progress) {
            Ok(committed) => return Ok((id, vault, committed)),
            // Another program was about to write to one of the files; the next try sees its content.
            Err(problem) if matches!(*problem.kind, Kind::Overtaken { .. }) => {
                overtaken += 1;
                if overtaken == TRIES {
                    return Err(Problem { kind: Kind::Overtaken { times: TRIES }.into(), ..problem });
                }
            }
            Err(problem) => {
                // The vault may have been removed; the next edit looks for it again.
                if problem.code() == Code::IoError {
                    root.vault.forget();
                }
                let mounted = problem.path.clone().filter(|_| problem.code() == Code::MountPoint);
                match mounted.filter(|_| root.policy.terms().write_in_place) {
                    Some(name) if plan.mounted.insert(name.clone()) => {}
                    _ => return Err(problem),
                }
            }
        }
    }
}

/// Creates an id that sorts by time and is unique among all processes.
fn edit_id() -> Result<String, Problem> {
    let mut random = [0u8; 4];
    getrandom::fill(&mut random)
        .map_err(|error| io_problem("Getting random bytes", &std::io::Error::other(error.to_string())))?;
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    Ok(format!("{millis:011x}{:08x}", u32::from_ne_bytes(random)))
}

/// Returns a note about files that another program had open for writing while they were replaced.
fn open_note(names: &[String]) -> Option<Note> {
    let [first, rest @ ..] = names else { return None };
    Some(Note::OpenElsewhere { file: first.clone(), others: rest.len() })
}
