//! A plan that is checked: [`CheckedPlan`], with the files that it was made for, held open.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::sync::Arc;

use emend_edit::Version;
use emend_edit::plan::{Action, FilePlan, Plan};

use crate::files::commit::{Job, Like};
use crate::files::history::Origin;
use crate::files::report::Report;
use crate::files::roots::{Root, WorkspacePath};
use crate::files::snapshot::Snapshot;

/// A plan with the files that it was made for, held open.
pub(crate) struct CheckedPlan {
    pub(crate) plan: Plan,
    pub(crate) files: BTreeMap<String, (WorkspacePath, Option<Snapshot>)>,
    /// Kept files whose metadata some of them get, by name: those of an edit that is taken back.
    pub(crate) metadata_sources: BTreeMap<String, File>,
    /// Files that turned out to be mounts of their own, and may be written in place.
    pub(crate) mounted: BTreeSet<String>,
    pub(crate) context: PlanContext,
    /// What would happen; hashing and comparing large files is done once.
    pub(crate) report: Report,
}

/// What else is known of a plan.
#[derive(Debug)]
pub(crate) struct PlanContext {
    pub(crate) root: Arc<Root>,
    /// Files whose whole content the client gave.
    pub(crate) whole: Vec<String>,
    /// Files that changed since they were read, away from the edit, and are edited all the same.
    pub(crate) merged: Vec<String>,
    pub(crate) mtime_check_passed: Option<bool>,
    pub(crate) origin: Origin,
    /// The edit that this one takes back.
    pub(crate) undoes: Option<String>,
    /// Whether its text stays as it is: it is formatted, or is what was there before.
    pub(crate) is_final: bool,
}

impl CheckedPlan {
    /// Each file of the plan with where it is, what it was made for, and what it will be.
    pub(crate) fn jobs(&self) -> Vec<Job<'_>> {
        let files = self.plan.files().iter().zip(&self.report.files);
        files.filter_map(|(plan, reported)| self.job(plan, reported.after)).collect()
    }

    fn job<'a>(&'a self, plan: &'a FilePlan, after: Option<Version>) -> Option<Job<'a>> {
        let (path, _) = self.files.get(&plan.name)?;
        let origin = match &plan.action {
            Action::Move { from, .. } => from,
            _ => &plan.name,
        };
        let base = self.files.get(origin).and_then(|(path, base)| Some((path, base.as_ref()?)));
        let donor = plan.metadata_from.as_ref().and_then(|from| self.files.get(from));
        let like = donor.map(|(path, _)| path).or(base.map(|(path, _)| path)).map(Like::Path);
        let like = self.metadata_sources.get(&plan.name).map(Like::File).or(like);
        let is_changed = matches!(plan.action, Action::Modify { .. });
        let has_names = base.is_some_and(|(_, base)| base.stat.links > 1);
        let in_place = is_changed
            && path.root.policy.terms().write_in_place
            && (has_names || self.mounted.contains(&plan.name));
        Some(Job { plan, path, base, like, after, in_place })
    }
}
