//! Approval: what the policy wants a person to allow is held until one has.
//!
//! An approval is for one plan and for nothing else: [`PlanDigest`] says which bytes become which, and a plan that comes
//! out otherwise, because a file has moved on meanwhile, is not the one that was approved. Nothing is locked and no plan
//! is kept while a person thinks; the same request is planned anew, and its digest says whether it is the same.
//!
//! Who approves is asked by the client ([`Approval::of_person`]), or lets go at a terminal what [`Approvals`] keeps.

mod digest;
mod escapes;
mod permit;
mod servers;
mod visible;
mod waiting;
mod yaml;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::problem::{Kind, Problem};

pub use self::digest::PlanDigest;
pub(crate) use self::permit::{leave_waiting, permit, refuse_unless_allowable};
pub(crate) use self::servers::changes_servers;
pub use self::visible::{pointed_out, visible, visible_line};
pub use self::waiting::{Approvals, Waiting, Word};
pub(crate) use self::yaml::is_yaml;
use crate::files::effort::NotDone;
use crate::files::history::Origin;
use crate::files::report::{ChangeKind, FileReport, Report};

/// A person's yes to one plan.
#[derive(Clone, Debug)]
pub struct Approval(PlanDigest);

impl Approval {
    /// The yes of a person who was shown this plan. Whoever calls this vouches for having asked one.
    #[must_use]
    pub fn of_person(plan: PlanDigest) -> Self {
        Self(plan)
    }

    pub(crate) fn covers(&self, plan: &PlanDigest) -> bool {
        self.0 == *plan
    }
}

/// Why an edit was not made.
#[derive(Debug)]
pub enum NotCommitted {
    /// It would have had to wait, or to do much. With more effort it may be made.
    NotQuick,
    /// It cannot be.
    Problems(Vec<Problem>),
    /// It could be, but the policy wants a person to allow it.
    AwaitingApproval(Box<AwaitingApproval>),
}

impl NotCommitted {
    /// The problems alone, for somebody who asks nobody, and not again: what is not quick is `busy` to them.
    #[must_use]
    pub fn into_problems(self) -> Vec<Problem> {
        match self {
            Self::NotQuick => NotDone::NotQuick.into_problems(),
            Self::Problems(problems) => problems,
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

/// A plan that would be committed if a person allowed it: everything that one must know to decide.
#[derive(Debug)]
pub struct AwaitingApproval {
    pub(crate) digest: PlanDigest,
    /// `approval-needed`, for each rule and file.
    pub(crate) problems: Vec<Problem>,
    pub(crate) report: Report,
    pub(crate) origin: Origin,
    /// The folder that its files are in.
    pub(crate) root: PathBuf,
}

impl AwaitingApproval {
    /// Which plan it is.
    #[must_use]
    pub fn digest(&self) -> PlanDigest {
        self.digest
    }

    /// What would happen.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Who asks for it.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The folder that its files are in.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The rules that want a person's word, such as `the mode is ask`.
    #[must_use]
    pub fn rules(&self) -> Vec<String> {
        let rule = |problem: &Problem| match &*problem.kind {
            Kind::ApprovalNeeded { rule, .. } => Some(rule.clone()),
            _ => None,
        };
        let rules: BTreeSet<String> = self.problems.iter().filter_map(rule).collect();
        rules.into_iter().collect()
    }

    /// What would happen to each file, a line each: `modify src/a.rs, +2 -1`.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        self.report.files.iter().map(line).collect()
    }
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
