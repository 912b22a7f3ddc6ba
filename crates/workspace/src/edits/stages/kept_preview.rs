//! A preview that is applied, or some hunks of it: exactly what was shown, and nothing else.

use std::sync::Arc;

use crate::problem::{Kind, Problem};

use super::look_again::look_again;
use super::source::PlanSource;
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::context::EditContext;
use crate::edits::preview::{Preview, Whole};
use crate::edits::vault_access::LockedRoot;
use crate::files::effort::NotDone;
use crate::files::report::Report;
use crate::files::roots::{Root, Roots};

/// A preview that is applied. It is good for files that are what they were, and is not planned anew for others.
pub(crate) struct KeptPreview<'a> {
    roots: &'a Roots,
    context: &'a EditContext<'a>,
    root: Arc<Root>,
    /// What is applied, unless it is on its way.
    preview: Option<Preview>,
    /// What it would do, without what is noted on the way.
    report: Report,
    /// What it is a part of.
    whole: Option<Whole>,
}

impl<'a> KeptPreview<'a> {
    /// A preview of which these hunks are to be applied, or all.
    pub(crate) fn new(
        preview: Preview,
        hunks: Option<&[usize]>,
        roots: &'a Roots,
        context: &'a EditContext<'a>,
    ) -> Result<Self, Problem> {
        let (preview, whole) = match hunks {
            Some(hunks) => preview.only(hunks).map(|(part, whole)| (part, Some(whole)))?,
            None => (preview, None),
        };
        let (root, report) = (Arc::clone(&preview.context.root), preview.report.clone());
        Ok(Self { roots, context, root, preview: Some(preview), report, whole })
    }

    /// The whole preview again, if nothing has become of it.
    pub(crate) fn into_preview(self) -> Option<Preview> {
        let Self { preview, whole, .. } = self;
        preview.map(|part| match whole {
            Some(whole) => whole.join(part),
            None => part,
        })
    }
}

impl PlanSource for KeptPreview<'_> {
    fn root(&self) -> &Arc<Root> {
        &self.root
    }

    fn plan(&mut self, _under: &LockedRoot<'_>) -> Result<CheckedPlan, NotDone<Vec<Problem>>> {
        let preview = self.preview.take().ok_or_else(|| Problem::new(Kind::UnknownPreview))?;
        Ok(look_again(preview, self.roots, self.context).map_err(Problem::from)?)
    }

    fn check_replanning(&self, moved: Problem) -> Result<(), Problem> {
        Err(moved)
    }

    fn take_back(&mut self, plan: CheckedPlan) {
        self.preview = Some(Preview { report: self.report.clone(), ..Preview::of(plan) });
    }
}
