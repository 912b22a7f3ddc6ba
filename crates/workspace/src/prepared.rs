//! What is asked for, and a request that is planned and checked: [`Prepared`] with its files held open, about
//! to be committed, and [`Preview`], which is kept.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use emend_edit::Version;
use emend_edit::patch::Patch;
use emend_edit::plan::{Action, FilePlan, Plan};
use emend_edit::problem::{Kind, Problem};

use crate::commit::Job;
use crate::policy::MAX_FILE_BYTES;
use crate::report::Report;
use crate::roots::{Root, WorkspacePath};
use crate::snapshot::Snapshot;

/// What a client asks for.
pub struct Request<'a> {
    /// What to change.
    pub patch: &'a Patch,
    /// The versions that the call names, by path as it was written.
    pub versions: &'a BTreeMap<String, String>,
    /// How long it may take.
    pub effort: Effort,
    /// Whether the client has given up meanwhile. Asked until the commit begins, never during it.
    pub cancelled: &'a dyn Fn() -> bool,
}

/// How long a call may take. Whoever has other things to do asks for a quick answer first, and again
/// patiently, from a thread of its own, if that is `NeedsPatience`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// No waiting for a lock, no file above a megabyte.
    Quick,
    /// As long as it takes.
    Patient,
}

impl Effort {
    /// The largest file that is read.
    pub(crate) fn file_bytes(self) -> u64 {
        match self {
            Self::Quick => 1024 * 1024,
            Self::Patient => MAX_FILE_BYTES,
        }
    }
}

/// A plan with the files that it was made for, held open.
pub(crate) struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) files: BTreeMap<String, (WorkspacePath, Option<Snapshot>)>,
    pub(crate) facts: Facts,
}

/// What else is known of a plan.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) root: Arc<Root>,
    /// Files whose whole content the client gave.
    pub(crate) whole: Vec<String>,
    pub(crate) mtime_check_passed: Option<bool>,
}

impl Prepared {
    /// Each file of the plan with where it is and what it was made for.
    pub(crate) fn jobs(&self) -> Vec<Job<'_>> {
        let job = |plan| {
            let FilePlan { name, action, .. }: &FilePlan = plan;
            let (path, own) = self.files.get(name)?;
            let base = match action {
                Action::Move { from, .. } => self.files.get(from).map(|(path, base)| (path, base)),
                _ => Some((path, own)),
            };
            let base = base.and_then(|(path, base)| base.as_ref().map(|base| (path, base)));
            Some(Job { plan, path, base })
        };
        self.plan.files().iter().filter_map(job).collect()
    }
}

/// A plan that is kept: it holds no file open, and says of each file what it must be when its turn comes.
#[must_use = "a preview is either applied or given up"]
#[derive(Debug)]
pub struct Preview {
    pub(crate) plan: Plan,
    /// By name: the path without links, and the version.
    pub(crate) files: BTreeMap<String, (PathBuf, Option<Version>)>,
    pub(crate) facts: Facts,
}

impl Preview {
    pub(crate) fn of(prepared: Prepared) -> Self {
        let Prepared { plan, files, facts } = prepared;
        let files = files.into_iter().map(|(name, (path, snapshot))| {
            let place = path.root.path.join(path.place.names.iter().collect::<PathBuf>());
            (name, (place, snapshot.map(|snapshot| snapshot.text.version())))
        });
        Self { plan, files: files.collect(), facts }
    }

    /// What would happen.
    #[must_use]
    pub fn report(&self) -> Report {
        Report::of(&self.plan, self.facts.mtime_check_passed)
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

    pub(crate) fn only(mut self, hunks: &[usize]) -> Result<Self, Problem> {
        self.has_hunks(hunks)?;
        self.plan = self.plan.only(hunks)?;
        Ok(self)
    }
}
