//! A kept plan: [`Preview`], which can be reviewed before it is applied.

use std::collections::BTreeMap;
use std::path::PathBuf;

use emend_edit::Version;
use emend_edit::plan::{self, Action, NotRevised, Plan, Revision};

use crate::edits::checked_plan::{CheckedPlan, PlanContext};
use crate::files::history::Origin;
use crate::files::report::Report;
use crate::problem::{Kind, Problem};

/// A kept plan. It holds no file open, and records what each file must still be when the plan is applied.
#[must_use = "a preview is either applied or given up"]
#[derive(Debug)]
pub struct Preview {
    pub(crate) plan: Plan,
    /// The path without links and the version of each file, by name.
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

    /// Returns the report of what would happen.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Returns the plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns whether a person has written the new text of this hunk.
    #[must_use]
    pub fn is_by_hand(&self, hunk: usize) -> bool {
        self.context.by_hand.contains(&hunk)
    }

    /// Returns the files that it was made for and their versions then; `None` for one that was not there.
    pub fn found(&self) -> impl Iterator<Item = (&str, Option<Version>)> {
        self.files.iter().map(|(name, (_, version))| (name.as_str(), *version))
    }

    /// Returns a digest of what applying it would make: two previews that would make the same have the same.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = blake3::Hasher::new();
        for file in &self.report.files {
            let version = file.after.map(|after| after.hex()).unwrap_or_default();
            let base = file.before.map(|before| before.hex()).unwrap_or_default();
            let moved_from = file.moved_from.as_deref().unwrap_or_default();
            for part in [file.name.as_str(), moved_from, base.as_str(), version.as_str(), file.diff.modes()] {
                hash.update(&(part.len() as u64).to_le_bytes());
                hash.update(part.as_bytes());
            }
        }
        hash.finalize().to_hex()[..32].to_owned()
    }

    /// Returns the number of bytes of files that it holds in memory.
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

    /// Returns this preview with a person's own text in place of a hunk's, not formatted and judged yet.
    pub(crate) fn revised(&self, by: &Revision<'_>, origin: &Origin) -> Result<Self, Problem> {
        let plan = self.plan.revised(by).map_err(|why| not_revised(by, why))?;
        let report = Report::from_plan(&plan, self.context.mtime_check_passed);
        // The text is a person's, and formatters have not seen it.
        let by_hand = self.context.by_hand.iter().copied().chain([by.hunk]).collect();
        let context =
            PlanContext { origin: origin.clone(), by_hand, is_final: false, ..self.context.clone() };
        Ok(Self { plan, files: self.files.clone(), context, report })
    }

    /// Checks that these hunks can be applied without the others.
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

    /// Returns the report of these hunks alone, and the whole preview.
    pub fn part(self, hunks: &[usize]) -> Result<(Report, Self), Problem> {
        let (part, rest) = self.only(hunks)?;
        Ok((part.report.clone(), rest.join(part)))
    }

    /// Splits off these hunks. The second value turns them back into the whole preview.
    pub(crate) fn only(mut self, hunks: &[usize]) -> Result<(Self, Rest), Problem> {
        self.has_hunks(hunks)?;
        let (plan, rest) = self.plan.only(hunks)?;
        let report = Report::from_plan(&plan, self.context.mtime_check_passed);
        let rest = Rest { plan: rest, report: std::mem::replace(&mut self.report, report) };
        Ok((Self { plan, ..self }, rest))
    }
}

fn not_revised(by: &Revision<'_>, why: NotRevised) -> Problem {
    let hunk = by.hunk;
    let message = match why {
        NotRevised::NoSuchHunk => {
            format!("hunk {hunk} changes none of these lines, or only together with others")
        }
        NotRevised::Unchanged => format!("that is the text without hunk {hunk}: reject it instead"),
        NotRevised::Touches(other) => format!("it changes lines that hunk {other} changes too"),
        NotRevised::Lacks(character) => {
            format!("the encoding of {} has no {:?} (U+{:04X})", by.file, character, u32::from(character))
        }
    };
    Problem::new(Kind::InvalidArgument { name: "text".into(), message })
}

/// The rest of a preview of which only some hunks are applied.
pub(crate) struct Rest {
    plan: plan::Rest,
    report: Report,
}

impl Rest {
    /// Restores the whole preview.
    pub(crate) fn join(self, part: Preview) -> Preview {
        Preview { plan: self.plan.join(part.plan), report: self.report, ..part }
    }
}
