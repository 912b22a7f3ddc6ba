//! Approval: edits for which the policy requires it are held until a person approves them.
//!
//! An approval is for one plan only: its [`PlanDigest`] covers which bytes become which, so a plan that turns out
//! differently, because a file changed meanwhile, is not approved. While the person decides, nothing is locked and no
//! plan is kept: the same request is planned again, and the digest shows whether the plan is the same.
//!
//! The client asks a person ([`Approval::of_person`]), or the person decides at a terminal on the plans in
//! [`Approvals`].

mod digest;
mod escapes;
mod mcp_entries;
mod permit;
mod visible;
mod waiting;
mod yaml;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::problem::{Kind, Problem};

pub use self::digest::PlanDigest;
pub(crate) use self::mcp_entries::changes_servers;
pub use self::permit::{DecidedAt, LeftWaiting};
pub(crate) use self::permit::{leave_waiting, permit, refuse_unless_allowable};
pub use self::visible::{pointed_out, visible, visible_line};
pub use self::waiting::{Approvals, PersonsDecision, Waiting, WaitingFile};
pub(crate) use self::yaml::is_yaml;
use crate::files::effort::NotDone;
use crate::files::history::Origin;
use crate::files::history::standing::Repeat;
use crate::files::report::{ChangeKind, FileReport, Report};

/// A person's approval of one plan.
#[derive(Clone, Debug)]
pub struct Approval(PlanDigest);

impl Approval {
    /// Creates the approval of a person who was shown this plan. The caller vouches for having asked one.
    #[must_use]
    pub fn of_person(plan: PlanDigest) -> Self {
        Self(plan)
    }

    pub(crate) fn covers(&self, plan: &PlanDigest) -> bool {
        self.0 == *plan
    }
}

/// The reason why an edit was not made.
#[derive(Debug)]
pub enum NotCommitted {
    /// It would have had to wait, or to do much; with more effort it may succeed.
    NotQuick,
    /// It failed or was refused.
    Problems(Vec<Problem>),
    /// The same call made it already.
    Repeated(Box<Repeat>),
    /// It could be made, but the policy requires a person's approval.
    AwaitingApproval(Box<AwaitingApproval>),
}

impl NotCommitted {
    /// Returns the problems, for a caller that neither asks a person nor retries: `NotQuick` becomes `busy`.
    #[must_use]
    pub fn into_problems(self) -> Vec<Problem> {
        match self {
            Self::NotQuick => NotDone::NotQuick.into_problems(),
            Self::Problems(problems) => problems,
            Self::Repeated(repeat) => {
                let (edit, has_key) = (repeat.edited.id, false);
                vec![Problem::new(Kind::MaybeRepeated { edit, has_key })]
            }
            Self::AwaitingApproval(held) => held.problems,
        }
    }
}

impl<E: Into<Self>> From<NotDone<E>> for NotCommitted {
    fn from(why: NotDone<E>) -> Self {
        match why {
            NotDone::NotQuick => Self::NotQuick,
            NotDone::Refused(why) => why.into(),
        }
    }
}

impl From<Vec<Problem>> for NotCommitted {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Problems(problems)
    }
}

impl From<Problem> for NotCommitted {
    fn from(problem: Problem) -> Self {
        Self::Problems(vec![problem])
    }
}

/// A plan that awaits approval, with everything that a person needs to decide.
#[derive(Debug)]
pub struct AwaitingApproval {
    pub(crate) digest: PlanDigest,
    /// One `approval-needed` for each rule and file.
    pub(crate) problems: Vec<Problem>,
    pub(crate) report: Report,
    pub(crate) origin: Origin,
    /// The folder of its files.
    pub(crate) root: PathBuf,
}

impl AwaitingApproval {
    /// Returns the digest of the plan.
    #[must_use]
    pub fn digest(&self) -> PlanDigest {
        self.digest
    }

    /// Returns what the plan would do.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Returns who requested the edit.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Returns the folder of its files.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the rules that require approval, such as `the mode is ask`.
    #[must_use]
    pub fn rules(&self) -> Vec<String> {
        let rule = |problem: &Problem| match &*problem.kind {
            Kind::ApprovalNeeded { rule, .. } => Some(rule.clone()),
            _ => None,
        };
        let rules: BTreeSet<String> = self.problems.iter().filter_map(rule).collect();
        rules.into_iter().collect()
    }

    /// Returns one line for each file with what would happen to it: `modify src/a.rs, +2 -1`.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        lines(&self.report)
    }
}

/// Returns one line for each file of a plan with what would happen to it.
pub(crate) fn lines(report: &Report) -> Vec<String> {
    report.files.iter().map(line).collect()
}

fn line(file: &FileReport) -> String {
    let change = match file.change {
        ChangeKind::Create => "create",
        ChangeKind::Modify => "modify",
        ChangeKind::Delete => "delete",
        ChangeKind::Move => "move",
    };
    let from = file.moved_from.as_ref().map(|from| format!("{from} to ")).unwrap_or_default();
    format!("{change} {from}{}, +{} -{}", file.name, file.diff.added, file.diff.removed)
}
