//! From a request to a checked plan: everything that it names is read, matched and checked.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use emend_edit::find::FindLimits;
use emend_edit::patch::Patch;
use emend_edit::plan;

use super::source::PlanSource;
use crate::edits::checked_plan::{CheckedPlan, PlanContext};
use crate::edits::context::EditContext;
use crate::edits::gather::gather;
use crate::edits::request::Request;
use crate::edits::vault_access::{LockedRoot, Reach, VaultAccess};
use crate::files::commit;
use crate::files::effort::{Effort, NotDone};
use crate::files::file_locks::FileKey;
use crate::files::report::Report;
use crate::files::roots::{Root, Roots};
use crate::problem::{Code, Kind, Problem};
use crate::spans;

/// The most files of a request that are locked one by one.
const LOCKED_ONE_BY_ONE: usize = 8;

/// A request as the source of an edit. It is planned for the current files, and again if they change.
#[derive(Clone, Copy)]
pub(crate) struct RequestSource<'a> {
    pub(crate) roots: &'a Roots,
    pub(crate) vaults: &'a VaultAccess,
    /// The one root that the request touches.
    pub(crate) root: &'a Arc<Root>,
    pub(crate) request: &'a Request<'a>,
    pub(crate) context: &'a EditContext<'a>,
}

impl PlanSource for RequestSource<'_> {
    fn root(&self) -> &Arc<Root> {
        self.root
    }

    fn reach(&self) -> Reach {
        let written: BTreeSet<&str> = self.request.patch.paths().take(LOCKED_ONE_BY_ONE + 1).collect();
        if written.len() > LOCKED_ONE_BY_ONE {
            return Reach::Whole;
        }
        let key = |path: &str| {
            let admitted = self.roots.admit(path).ok().filter(|path| Arc::ptr_eq(&path.root, self.root))?;
            Some(FileKey::new(&admitted.place.names))
        };
        // Planning tells what is wrong with the others; if they can be used by then, the root is locked as a whole.
        Reach::Files(written.into_iter().filter_map(key).collect())
    }

    fn plan(&mut self, _under: &LockedRoot<'_>) -> Result<CheckedPlan, NotDone<Vec<Problem>>> {
        plan_request(self.roots, self.vaults, self.request, self.context)
    }
}

/// Returns the root that a patch touches, according to its first path.
pub(crate) fn root_of(roots: &Roots, patch: &Patch) -> Result<Arc<Root>, Problem> {
    if let [only] = roots.all() {
        return Ok(Arc::clone(only));
    }
    let first = patch.paths().next().unwrap_or_default();
    Ok(roots.admit(first)?.root)
}

/// Plans a request for the current files. Problems of stale files say who edited them.
pub(crate) fn plan_request(
    roots: &Roots,
    vaults: &VaultAccess,
    request: &Request<'_>,
    context: &EditContext<'_>,
) -> Result<CheckedPlan, NotDone<Vec<Problem>>> {
    let span = spans::plan(|| request.patch.paths().count());
    spans::within(&span, |_| read_and_plan(roots, vaults, request, context)).map_err(|mut why| {
        if let NotDone::Refused(problems) = &mut why {
            number_edits(roots, request.patch, problems);
            add_last_editors(roots, vaults, request.patch, problems);
        }
        why
    })
}

fn read_and_plan(
    roots: &Roots,
    vaults: &VaultAccess,
    request: &Request<'_>,
    context: &EditContext<'_>,
) -> Result<CheckedPlan, NotDone<Vec<Problem>>> {
    let Request { patch, .. } = *request;
    if context.effort == Effort::Quick && !patch.is_small() {
        return Err(NotDone::NotQuick);
    }
    let readings = || context.readings.lock();
    let mut gathered = gather(roots, request, context)?;
    let mut claimed = gathered.claimed(roots, request)?;
    let older = gathered.trace_numbers((roots, vaults), patch, &mut claimed, context)?;
    let limits = gathered.root.as_ref().map_or_else(FindLimits::default, |root| root.planning_limits());
    let stale_check = gathered.check_seen(patch, &claimed, &older, &mut readings());
    let stale_check =
        stale_check.map_err(|problems| gathered.offer_again(patch, &limits, &readings(), problems))?;
    refuse_any(gathered.check_read(&claimed, &stale_check, &readings()))?;
    refuse_any(gathered.check_numbers(patch, &claimed))?;
    let unseen = |discarded| gathered.check_whole(discarded, &claimed, &readings());
    let plan = plan::build(patch, &gathered.sources, &limits).map_err(|problems| {
        let mut all = unseen(gathered.replaced(patch));
        all.extend(gathered.explained(problems));
        all
    })?;
    refuse_any(unseen(plan.discarded().to_vec()))?;
    refuse_any(gathered.check_landing(patch, &limits, &plan, &readings()))?;
    let mut notes = gathered.check_changed(patch, &limits, &plan, &stale_check, &mut readings())?;
    let mut merged = stale_check.changed;
    for name in stale_check.numbered {
        if let Some((note, shows_change)) = gathered.change_note(&name, &readings()) {
            notes.push(note);
            merged.extend(shows_change.then_some(name));
        }
    }
    let whole = gathered.given(patch);
    let nothing = || Problem::new(Kind::EmptyRequest);
    let root = gathered.root.ok_or_else(nothing)?;
    let mut report = Report::from_plan(&plan, stale_check.checked.then_some(true));
    report.notes.extend(notes);
    let checked = CheckedPlan {
        plan,
        files: gathered.files,
        metadata_sources: BTreeMap::new(),
        mounted: BTreeSet::new(),
        context: PlanContext {
            by_hand: std::collections::BTreeSet::new(),
            root,
            whole,
            merged,
            mtime_check_passed: stale_check.checked.then_some(true),
            origin: context.origin.clone(),
            undoes: None,
            is_final: false,
        },
        report,
    };
    refuse_any(commit::special_files(&**roots.disk(), &checked.jobs()))?;
    Ok(checked)
}

/// Adds to each problem of a file the edit that it concerns, if the request joins several: the first that names the file.
fn number_edits(roots: &Roots, patch: &Patch, problems: &mut [Problem]) {
    if patch.sections().iter().all(|section| section.edit.is_none()) {
        return;
    }
    for problem in problems.iter_mut().filter(|problem| problem.edit.is_none()) {
        let Some(path) = problem.path.clone() else { continue };
        let is_it = |written: &str| {
            written == path || roots.admit(written).is_ok_and(|admitted| admitted.name == path)
        };
        let mut sections = patch.sections().iter();
        problem.edit = sections.find(|section| section.paths().any(is_it)).and_then(|section| section.edit);
    }
}

/// Adds the edit that changed each stale file, if it is among the newest of the root.
fn add_last_editors(roots: &Roots, vaults: &VaultAccess, patch: &Patch, problems: &mut [Problem]) {
    let is_stale = |problem: &Problem| problem.code() == Code::StaleFile;
    if !problems.iter().any(is_stale) {
        return;
    }
    let root = root_of(roots, patch).ok();
    let Some(history) = root.and_then(|root| vaults.end_of_history(roots, &root)) else { return };
    for problem in problems {
        if let (Kind::StaleFile { current, by, .. }, Some(name)) = (&mut *problem.kind, &problem.path) {
            *by = history.made_by(name, current.as_ref());
        }
    }
}

fn refuse_any(problems: Vec<Problem>) -> Result<(), Vec<Problem>> {
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}
