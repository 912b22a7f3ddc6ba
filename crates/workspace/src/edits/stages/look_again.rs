//! The stage that checks, under the lock, that every file is still what the plan was made for.

use std::collections::{BTreeMap, BTreeSet};

use crate::problem::{Kind, Problem, SincePlanned};

use super::run_hooks::HookedPlan;
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::context::EditContext;
use crate::edits::gather::Dirs;
use crate::edits::preview::Preview;
use crate::edits::vault_access::LockedRoot;
use crate::files::commit;
use crate::files::effort::{Phase, Progress};
use crate::files::roots::Roots;
use crate::files::snapshot;

/// A plan whose files are unchanged, with the lock that keeps them so.
pub(crate) struct CurrentPlan<'a> {
    pub(crate) plan: CheckedPlan,
    pub(crate) lock: LockedRoot<'a>,
}

/// The reason why a plan cannot be committed now.
#[derive(Debug)]
pub(crate) enum NotCurrent {
    /// A file has changed since the plan was made.
    Moved(Problem),
    /// A file could not be checked, or cannot be edited.
    Refused(Problem),
}

impl From<Problem> for NotCurrent {
    fn from(problem: Problem) -> Self {
        Self::Refused(problem)
    }
}

impl From<NotCurrent> for Problem {
    fn from(why: NotCurrent) -> Self {
        match why {
            NotCurrent::Moved(problem) | NotCurrent::Refused(problem) => problem,
        }
    }
}

impl HookedPlan {
    /// Continues under the lock under which the plan was made.
    pub(crate) fn still_under(self, lock: LockedRoot<'_>) -> CurrentPlan<'_> {
        CurrentPlan { plan: self.plan, lock }
    }

    /// Continues under a new lock, if every file is still the same.
    pub(crate) fn look_again<'a>(
        self,
        lock: LockedRoot<'a>,
        roots: &Roots,
        context: &EditContext<'_>,
    ) -> Result<CurrentPlan<'a>, NotCurrent> {
        let mut plan = self.plan;
        let metadata_sources = std::mem::take(&mut plan.metadata_sources);
        let again = look_again(Preview::of(plan), roots, context)?;
        Ok(CurrentPlan { plan: CheckedPlan { metadata_sources, ..again }, lock })
    }
}

/// Opens the files of a kept plan again, if each is still what the plan was made for.
pub(crate) fn look_again(
    kept: Preview,
    roots: &Roots,
    context: &EditContext<'_>,
) -> Result<CheckedPlan, NotCurrent> {
    let mut files = BTreeMap::new();
    let mut dirs = Dirs::default();
    let total = kept.files.len();
    for (done, (name, (place, before))) in kept.files.into_iter().enumerate() {
        (context.progress)(Progress { what: Phase::Read, done, total });
        // Whether the edit takes away what is in its way, the commit checks.
        let path = dirs.share(roots.admit_past(&place.to_string_lossy(), &|_| true)?);
        let snapshot = snapshot::read(&**roots.disk(), &path)?;
        let now = snapshot.as_ref().map(|snapshot| snapshot.text.version());
        if path.name != name || before != now {
            let since = match (before, now) {
                (Some(_), Some(now)) => SincePlanned::Changed(now),
                (Some(_), None) => SincePlanned::Gone,
                _ => SincePlanned::Made,
            };
            return Err(NotCurrent::Moved(Problem::new(Kind::StalePreview { since }).at(&name)));
        }
        files.insert(name, (path, snapshot));
    }
    let Preview { plan, context, report, .. } = kept;
    let (metadata_sources, mounted) = (BTreeMap::new(), BTreeSet::new());
    let plan = CheckedPlan { plan, files, metadata_sources, mounted, context, report };
    match commit::special_files(&**roots.disk(), &plan.jobs()).into_iter().next() {
        Some(problem) => Err(problem.into()),
        None => Ok(plan),
    }
}
