//! A checked plan: [`CheckedPlan`], with the files that it was made for, held open.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::sync::Arc;

use emend_edit::Version;
use emend_edit::plan::{Action, FilePlan, Plan};

use crate::disk::Stat;
use crate::files::commit::{Job, Like};
use crate::files::history::Origin;
use crate::files::report::Report;
use crate::files::roots::{Root, WorkspacePath};
use crate::files::snapshot::Snapshot;

/// A plan with the files that it was made for, held open.
pub(crate) struct CheckedPlan {
    pub(crate) plan: Plan,
    pub(crate) files: BTreeMap<String, (WorkspacePath, Option<Snapshot>)>,
    /// The kept files of an undone edit whose metadata is restored, by name.
    pub(crate) metadata_sources: BTreeMap<String, File>,
    /// The files that are mount points of their own and may be written in place.
    pub(crate) mounted: BTreeSet<String>,
    pub(crate) context: PlanContext,
    /// The report of what would happen, made once because hashing and comparing large files is slow.
    pub(crate) report: Report,
}

/// The facts about a plan beyond its changes.
#[derive(Clone, Debug)]
pub(crate) struct PlanContext {
    pub(crate) root: Arc<Root>,
    /// The files whose whole content the client gave.
    pub(crate) whole: Vec<String>,
    /// The files that changed elsewhere since they were read and are edited all the same.
    pub(crate) merged: Vec<String>,
    pub(crate) mtime_check_passed: Option<bool>,
    pub(crate) origin: Origin,
    /// The edit that this one undoes.
    pub(crate) undoes: Option<String>,
    /// The hunks whose new text a person has written.
    pub(crate) by_hand: BTreeSet<usize>,
    /// Whether formatters must leave its text alone: it is formatted already, or restores an earlier text.
    pub(crate) is_final: bool,
}

impl CheckedPlan {
    /// Returns one job for each file of the plan, with its path, its old and its new content.
    pub(crate) fn jobs(&self) -> Vec<Job<'_>> {
        let files = self.plan.files().iter().zip(&self.report.files);
        files.filter_map(|(plan, reported)| self.job(plan, reported.after)).collect()
    }

    /// Returns whether a file was executable before the edit that left it like this, if the edit changed that.
    pub(crate) fn was_executable(&self, plan: &FilePlan, now: Option<&Stat>) -> Option<bool> {
        let is_executable = |stat: &Stat| stat.mode & 0o111 != 0;
        let before = self.files.get(&plan.name).and_then(|(_, before)| before.as_ref());
        match before.zip(now).filter(|_| plan.metadata_from.is_some()) {
            // The file that took its place brought its own mode.
            Some((before, now)) => {
                let was = is_executable(&before.stat);
                (was != is_executable(now)).then_some(was)
            }
            None => plan.executable.map(|executable| !executable),
        }
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
