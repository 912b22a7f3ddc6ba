//! Applying a preview, or some of its hunks: exactly what was shown, and nothing else.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use emend_edit::Version;

use crate::problem::{Kind, Problem};

use super::look_again::look_again;
use super::source::PlanSource;
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::context::EditContext;
use crate::edits::preview::{Preview, Rest};
use crate::edits::vault_access::{LockedRoot, Reach};
use crate::files::effort::NotDone;
use crate::files::file_locks::FileKey;
use crate::files::report::Report;
use crate::files::roots::{Root, Roots};

/// A preview to apply. It requires unchanged files, and is never planned again.
pub(crate) struct KeptPreview<'a> {
    roots: &'a Roots,
    context: &'a EditContext<'a>,
    root: Arc<Root>,
    /// The plan to apply; `None` while the stages have it.
    preview: Option<Preview>,
    /// The report before the stages add notes to it.
    report: Report,
    /// The rest of the preview, if only some hunks are applied.
    rest: Option<Rest>,
}

impl<'a> KeptPreview<'a> {
    /// Creates a source from a preview, or from these hunks of it.
    pub(crate) fn new(
        preview: Preview,
        hunks: Option<&[usize]>,
        roots: &'a Roots,
        context: &'a EditContext<'a>,
    ) -> Result<Self, Problem> {
        let (preview, rest) = match hunks {
            Some(hunks) => preview.only(hunks).map(|(part, rest)| (part, Some(rest)))?,
            None => (preview, None),
        };
        let (root, report) = (Arc::clone(&preview.context.root), preview.report.clone());
        Ok(Self { roots, context, root, preview: Some(preview), report, rest })
    }

    /// Returns the whole preview, if it was not committed.
    pub(crate) fn into_preview(self) -> Option<Preview> {
        let Self { preview, rest, .. } = self;
        preview.map(|part| match rest {
            Some(rest) => rest.join(part),
            None => part,
        })
    }
}

impl PlanSource for KeptPreview<'_> {
    fn root(&self) -> &Arc<Root> {
        &self.root
    }

    fn reach(&self) -> Reach {
        let key = |(path, _): &(PathBuf, Option<Version>)| {
            let names: Vec<OsString> =
                path.strip_prefix(&self.root.path).ok()?.iter().map(OsString::from).collect();
            Some(FileKey::new(&names))
        };
        let keys = self.preview.iter().flat_map(|preview| preview.files.values()).map(key);
        keys.collect::<Option<_>>().map_or(Reach::Whole, Reach::Files)
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
