//! A plan that is kept: [`Preview`], which somebody looks at before it is applied.

use std::collections::BTreeMap;
use std::path::PathBuf;

use emend_edit::Version;
use emend_edit::plan::{Action, Plan, Rest};

use crate::edits::checked_plan::{CheckedPlan, PlanContext};
use crate::files::report::Report;
use crate::problem::{Kind, Problem};

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
        let report = Report::from_plan(&plan, self.context.mtime_check_passed);
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
