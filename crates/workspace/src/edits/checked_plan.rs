//! A request that is planned and checked: [`CheckedPlan`] with its files held open, about to be committed, and [`Preview`],
//! which is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use emend_edit::Version;
use emend_edit::plan::{Action, FilePlan, Plan, Rest};
use emend_edit::problem::{Kind, Problem};

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

/// A plan that is kept: it holds no file open, and says of each file what it must be when its turn comes.
#[must_use = "a preview is either applied or given up"]
#[derive(Debug)]
pub struct Preview {
    pub(crate) plan: Plan,
    /// By name: the path without links, and the version.
    pub(crate) files: BTreeMap<String, (PathBuf, Option<Version>)>,
    pub(crate) context: PlanContext,
    pub(crate) report: Report,
}

impl Preview {
    pub(crate) fn of(checked: CheckedPlan) -> Self {
        let CheckedPlan { plan, files, context, report, .. } = checked;
        let files = files.into_iter().map(|(name, (path, snapshot))| {
            (name, (path.absolute(), snapshot.map(|snapshot| snapshot.text.version())))
        });
        Self { plan, files: files.collect(), context, report }
    }

    /// What would happen.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// How many bytes of files it holds in memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let files = self.plan.files().iter();
        files
            .map(|file| match &file.action {
                Action::Create { content } => content.raw().len(),
                Action::Modify { base, .. } | Action::Delete { base } | Action::Move { base, .. } => {
                    base.raw().len()
                }
            })
            .sum()
    }

    /// Whether these hunks of it can be applied without the others.
    pub fn has_hunks(&self, hunks: &[usize]) -> Result<(), Problem> {
        let known: Vec<usize> =
            self.plan.files().iter().flat_map(|file| &file.hunks).map(|hunk| hunk.number).collect();
        if !hunks.is_empty() && hunks.iter().all(|hunk| known.contains(hunk)) {
            return Ok(self.plan.can_take(hunks)?);
        }
        let known: Vec<String> = known.iter().map(ToString::to_string).collect();
        let message = format!("name hunks of the preview: {}", known.join(", "));
        Err(Problem::new(Kind::InvalidArgument { name: "hunks".into(), message }))
    }

    /// These hunks of it, and what gives the whole back for them.
    pub(crate) fn only(mut self, hunks: &[usize]) -> Result<(Self, Whole), Problem> {
        self.has_hunks(hunks)?;
        let (plan, rest) = self.plan.only(hunks)?;
        let report = Report::of(&plan, self.context.mtime_check_passed);
        let whole = Whole { rest, report: std::mem::replace(&mut self.report, report) };
        Ok((Self { plan, ..self }, whole))
    }
}

/// What a preview was of which only some hunks were to be applied.
pub(crate) struct Whole {
    rest: Rest,
    report: Report,
}

impl Whole {
    /// The whole preview again.
    pub(crate) fn join(self, part: Preview) -> Preview {
        Preview { plan: self.rest.join(part.plan), report: self.report, ..part }
    }
}
