//! The last check before a commit: whether the policy or a person permits the plan.

use std::io;

use crate::problem::{Code, Kind, Problem, Release};

use super::{
    Approval, Approvals, AwaitingApproval, NotCommitted, PersonsDecision, PlanDigest, changes_servers,
    is_yaml,
};
use crate::disk::Disk;
use crate::disk::fault::io_problem;
use crate::edits::checked_plan::CheckedPlan;
use crate::policy::Mode;

/// Checks that the policy or a person's approval permits this plan, and returns what they say to it, which may be empty. The
/// plan's files must be locked; an approval that waited for this plan is used up.
pub(crate) fn permit(
    disk: &dyn Disk,
    checked: &CheckedPlan,
    approval: Option<&Approval>,
    approvals: impl FnOnce() -> Result<Approvals, String>,
) -> Result<String, NotCommitted> {
    let problems = refuse_unless_allowable(checked)?;
    if problems.is_empty() {
        return Ok(String::new());
    }
    let held = held(disk, checked, problems)?;
    // Without storage for approvals, no person can have decided at a terminal.
    let approvals = approvals().ok();
    let failed = |error: io::Error| io_problem("Looking for an approval", &error);
    let word = match &approvals {
        Some(approvals) => approvals.take(&held.digest).map_err(failed)?,
        None => None,
    };
    let is_allowed = approval.is_some_and(|approval| approval.covers(&held.digest));
    match word {
        // A denial at a terminal overrides an approval elsewhere.
        Some((PersonsDecision::No, comment)) => {
            Err(Problem::new(Kind::ApprovalDenied { release: None, comment }).into())
        }
        Some((PersonsDecision::Yes, comment)) => Ok(comment),
        None if is_allowed => {
            if let Some(approvals) = approvals {
                approvals.forget(&held.digest);
            }
            Ok(String::new())
        }
        None => Err(NotCommitted::AwaitingApproval(Box::new(held))),
    }
}

/// Refuses a plan that no person could approve. Returns the problems for which approval is required.
pub(crate) fn refuse_unless_allowable(checked: &CheckedPlan) -> Result<Vec<Problem>, Vec<Problem>> {
    let problems = held_back(checked);
    let is_allowable = problems.iter().all(|problem| problem.code() == Code::ApprovalNeeded);
    if is_allowable { Ok(problems) } else { Err(problems) }
}

/// Returns the reasons why the policy holds a plan back: approval is required, or edits are not allowed.
fn held_back(checked: &CheckedPlan) -> Vec<Problem> {
    let mut problems = Vec::new();
    for job in checked.jobs() {
        let base = job.base.map(|(path, _)| path);
        for path in std::iter::once(job.path).chain(base) {
            let Err(kind) = path.root.policy.may_commit_without_approval(&path.place.names) else { continue };
            let by_mode = path.root.policy.terms().mode != Mode::Auto
                && matches!(kind, Kind::NoEdits { .. } | Kind::ApprovalNeeded { .. });
            // A mode concerns no particular file.
            let problem = if by_mode { Problem::new(kind) } else { Problem::new(kind).at(&path.name) };
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
        let policy = &job.path.root.policy;
        let mut names = std::iter::once(&job.path.name).chain(base.map(|path| &path.name));
        if problems.is_empty()
            && policy.guards_servers(&job.path.place.names)
            && changes_servers(&job.plan.action, names.any(|name| is_yaml(name)))
        {
            let rule = "it changes how MCP servers are started".into();
            let kind = Kind::ApprovalNeeded { rule, release: Release::Question };
            problems.push(Problem::new(kind).at(&job.path.name));
        }
    }
    problems
}

/// Returns a plan held for these reasons as a person must see it to decide on it.
fn held(disk: &dyn Disk, checked: &CheckedPlan, problems: Vec<Problem>) -> Result<AwaitingApproval, Problem> {
    let root = &checked.context.root;
    let identity =
        root.folder().identity(disk).map_err(|error| io_problem("Looking at the workspace", &error))?;
    let digest = PlanDigest::of(&identity, &checked.jobs(), checked.context.undoes.as_deref());
    let (report, origin) = (checked.report.clone(), checked.context.origin.clone());
    Ok(AwaitingApproval { digest, problems, report, origin, root: root.path.clone() })
}

/// A plan that waits for a person's decision.
#[derive(Debug)]
pub struct LeftWaiting {
    /// The problems to report.
    pub problems: Vec<Problem>,
    /// The id under which it waits, if it can.
    pub id: Option<String>,
}

/// Where a person decides on what waits.
#[derive(Clone, Debug)]
pub enum DecidedAt {
    /// With this command, to which the id is appended.
    Command(String),
    /// On the page at this address.
    Page(String),
}

impl DecidedAt {
    fn release(&self, id: String) -> Release {
        match self {
            Self::Command(command) => Release::Command { command: format!("{command} {id}") },
            Self::Page(address) => Release::Page { address: address.clone(), id },
        }
    }
}

/// Stores a held plan until a person decides on it there.
pub(crate) fn leave_waiting(
    held: &AwaitingApproval,
    notes: Vec<String>,
    approvals: Result<Approvals, String>,
    decided_at: &DecidedAt,
) -> LeftWaiting {
    let kept = approvals.and_then(|approvals| approvals.keep(held, notes));
    let id = kept.as_ref().ok().cloned();
    let release = match kept {
        Ok(id) => decided_at.release(id),
        Err(why) => Release::Nowhere { why },
    };
    let with_release = |mut problem: Problem| {
        if let Kind::ApprovalNeeded { release: how, .. } = &mut *problem.kind {
            *how = release.clone();
        }
        problem
    };
    LeftWaiting { problems: held.problems.iter().cloned().map(with_release).collect(), id }
}
