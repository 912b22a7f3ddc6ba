//! The workspace as a whole: how it is opened, the ways to edit, and the doors to all else.

pub(crate) mod files;
mod making;
pub(crate) mod past_edits;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::problem::Problem;

use self::files::Files;
use self::past_edits::PastEdits;
use crate::disk::Disk;
use crate::edits::approval::{self, AwaitingApproval, NotCommitted};
use crate::edits::committed_edit::{CommittedEdit, Observers};
use crate::edits::context::EditContext;
use crate::edits::event_log::EventLog;
use crate::edits::guard::Guard;
use crate::edits::hooks::Hooks;
use crate::edits::preview::Preview;
use crate::edits::request::Request;
use crate::edits::running_commits::RunningCommits;
use crate::edits::stages::kept_preview::KeptPreview;
use crate::edits::stages::plan_request::{RequestSource, plan_request, root_of};
use crate::edits::stages::plan_undo::UndoSource;
use crate::edits::vault_access::VaultAccess;
use crate::files::effort::Effort;
use crate::files::history::undo::Undo;
use crate::files::lock::PATIENCE;
use crate::files::meant;
use crate::files::report::Report;
use crate::files::roots::{RootSpec, Roots};
use crate::policy::programs::Programs;
use crate::policy::{Mode, Policy};

/// The folders that may be edited, and everything that happens in them.
#[derive(Debug)]
pub struct Workspace {
    roots: Roots,
    vaults: VaultAccess,
    patience: Duration,
    /// The command by which a person allows what waits, without the id.
    approve: String,
    observers: Observers,
    running_commits: RunningCommits,
    hooks: Hooks,
    guard: Guard,
}

impl Workspace {
    /// Opens these folders under the default policy. Displaced files are kept under `state` where that can be.
    pub fn open(disk: Arc<dyn Disk>, specs: &[RootSpec], state: Option<PathBuf>) -> Result<Self, Problem> {
        Self::open_with_policy(disk, specs, state, &Policy::default())
    }

    /// The same under this policy. Where a folder brings a file of settings along, that may tighten it for this folder.
    pub fn open_with_policy(
        disk: Arc<dyn Disk>,
        specs: &[RootSpec],
        state: Option<PathBuf>,
        policy: &Policy,
    ) -> Result<Self, Problem> {
        let roots = Roots::open(disk, specs, policy)?;
        let vaults = VaultAccess::new(Arc::clone(roots.disk()), state);
        vaults.recover_all(&roots);
        Ok(Self {
            roots,
            vaults,
            patience: PATIENCE,
            approve: "emend approve".into(),
            observers: Observers::default(),
            running_commits: RunningCommits::default(),
            hooks: Hooks::default(),
            guard: Guard::default(),
        })
    }

    /// The same workspace, around whose edits these programs run. The error says which pattern is wrong.
    pub fn with_hooks(mut self, programs: &Programs) -> Result<Self, String> {
        self.hooks = Hooks::new(programs, &self.roots)?;
        Ok(self)
    }

    /// The same workspace, for whose edits a person runs this command with an id behind it.
    #[must_use]
    pub fn with_approve_command(mut self, approve: String) -> Self {
        self.approve = approve;
        self
    }

    /// The roots.
    #[must_use]
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// What becomes of edits, in the root that is most lenient.
    #[must_use]
    pub fn mode(&self) -> Mode {
        let modes = self.roots.all().iter().map(|root| root.policy.terms().mode);
        modes.min().unwrap_or(Mode::ReadOnly)
    }

    /// What a person should know of folders that are not there, of the settings that the others brought along, and of their
    /// hooks.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let absent = self.roots.absent().iter().map(|absent| absent.problem.to_string());
        let of_roots = self.roots.all().iter().flat_map(|root| &root.warnings).cloned();
        absent.chain(of_roots).chain(self.hooks.warnings())
    }

    /// Its files, as they are at this moment.
    #[must_use]
    pub fn files(&self) -> Files<'_> {
        Files::new(&self.roots)
    }

    /// The edits that were made in it.
    #[must_use]
    pub fn past_edits(&self) -> PastEdits<'_> {
        PastEdits::new(&self.roots, &self.vaults)
    }

    /// The person's programs around its edits.
    #[must_use]
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// The commits that this process is writing.
    #[must_use]
    pub fn running_commits(&self) -> &RunningCommits {
        &self.running_commits
    }

    /// Has this called after each edit that is made through this workspace, by the thread that made it.
    pub fn on_commit(&self, observer: impl Fn(&CommittedEdit<'_>) + Send + Sync + 'static) {
        self.observers.add(observer);
    }

    /// The log of events of this user; `None` where there is no state folder to keep it in.
    #[must_use]
    pub fn event_log(&self) -> Option<EventLog> {
        self.vaults.state().map(EventLog::in_state)
    }

    /// Plans, checks and commits a request.
    pub fn edit(&self, request: &Request<'_>, context: &EditContext<'_>) -> Result<Report, NotCommitted> {
        let (roots, vaults) = (&self.roots, &self.vaults);
        let make = || {
            let root = &root_of(roots, request.patch)?;
            self.make(&mut RequestSource { roots, vaults, root, request, context }, context)
        };
        // The lock is free by then.
        make().map_err(|why| self.name_meant(why, context))
    }

    /// Plans and checks a request without committing it.
    pub fn preview(&self, request: &Request<'_>, context: &EditContext<'_>) -> Result<Preview, NotCommitted> {
        let plan = plan_request(&self.roots, &self.vaults, request, context)
            .map_err(|why| self.name_meant(why.into(), context))?;
        if context.effort == Effort::Quick && self.hooks.would_format(&plan) {
            return Err(NotCommitted::NotQuick);
        }
        Ok(plan.format(&self.hooks, context)?.keep())
    }

    /// Commits a kept plan, or some hunks of it, if every file is still what it was made for. A plan that
    /// did not get its turn, or that a person must allow first, comes back whole with the reason.
    pub fn apply(
        &self,
        preview: Preview,
        hunks: Option<&[usize]>,
        context: &EditContext<'_>,
    ) -> Result<Report, (NotCommitted, Option<Box<Preview>>)> {
        let kept = KeptPreview::new(preview, hunks, &self.roots, context);
        let mut kept = kept.map_err(|problem| (problem.into(), None))?;
        self.make(&mut kept, context).map_err(|why| (why, kept.into_preview().map(Box::new)))
    }

    /// Takes an edit back, all of its files in one commit.
    pub fn undo(&self, undo: &Undo<'_>, context: &EditContext<'_>) -> Result<Report, NotCommitted> {
        let (roots, vaults, origin) = (&self.roots, &self.vaults, context.origin);
        let (root, id) = &self.past_edits().choose(undo, &origin.session)?;
        self.make(&mut UndoSource { roots, vaults, root, id, origin }, context)
    }

    /// Lets a plan wait until a person allows it at a terminal: for clients that can ask nobody. Yields what their
    /// model is told.
    #[must_use]
    pub fn wait_for_a_person(&self, held: &AwaitingApproval) -> Vec<Problem> {
        approval::leave_waiting(held, self.vaults.approvals(), &self.approve)
    }

    /// What recovery has found at the start, for the log.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        self.vaults.findings()
    }

    /// The same reason; problems of paths that lead nowhere name what may be meant.
    fn name_meant(&self, why: NotCommitted, context: &EditContext<'_>) -> NotCommitted {
        match why {
            NotCommitted::Problems(problems)
                if context.effort == Effort::Quick && meant::has_lost_paths(&self.roots, &problems) =>
            {
                NotCommitted::NotQuick
            }
            NotCommitted::Problems(problems) => {
                meant::name_meant(&self.roots, problems, meant::Meaning::File, context.cancelled).into()
            }
            other => other,
        }
    }
}
