//! The workspace as a whole: opening it, editing, and access to everything else.

pub(crate) mod files;
mod making;
pub(crate) mod past_edits;

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use emend_edit::plan::Revision;
use emend_threads::{Background, Mutex};

use crate::problem::Problem;

use self::files::Files;
use self::past_edits::PastEdits;
use crate::disk::Disk;
use crate::edits::approval::{self, Approvals, AwaitingApproval, DecidedAt, LeftWaiting, NotCommitted};
use crate::edits::committed_edit::{CommittedEdit, Observers};
use crate::edits::context::EditContext;
use crate::edits::event_log::EventLog;
use crate::edits::hooks::Hooks;
use crate::edits::kept_sessions::KeptSessions;
use crate::edits::preview::Preview;
use crate::edits::questions::Questions;
use crate::edits::repeats::check_not_repeated;
use crate::edits::request::Request;
use crate::edits::reviewable::Reviewables;
use crate::edits::running_commits::RunningCommits;
use crate::edits::stages::kept_preview::KeptPreview;
use crate::edits::stages::look_again::look_again;
use crate::edits::stages::plan_request::{RequestSource, plan_request, root_of};
use crate::edits::stages::plan_undo::UndoSource;
use crate::edits::syntax_guard::Guard;
use crate::edits::vault_access::{Reach, VaultAccess};
use crate::files::effort::Effort;
use crate::files::file_locks::FileKey;
use crate::files::folder_lock::PATIENCE;
use crate::files::history::undo::Undo;
use crate::files::meant;
use crate::files::report::Report;
use crate::files::roots::{Root, RootSpec, Roots};
use crate::policy::programs::Programs;
use crate::policy::{Answers, AnswersAs, DialectName, ListedTools, Mode, Policy};

/// The folders that may be edited, with their policy, history and hooks.
#[derive(Debug)]
pub struct Workspace {
    roots: Roots,
    vaults: Arc<VaultAccess>,
    /// Tidies vaults after the answers to the edits that made them crowded, and recovers what could not be at the start.
    tidying: Background<VecDeque<Arc<Root>>>,
    /// The names of the roots that could not be recovered yet.
    unrecovered: Arc<Mutex<BTreeSet<String>>>,
    patience: Duration,
    /// Where a person approves a waiting plan.
    decided_at: DecidedAt,
    observers: Observers,
    running_commits: RunningCommits,
    hooks: Hooks,
    guard: Guard,
}

/// The time for which a workspace that is closed waits until its vaults are tidied.
const TIDYING: Duration = Duration::from_secs(1);

impl Drop for Workspace {
    fn drop(&mut self) {
        self.tidying.wait(TIDYING);
    }
}

impl Workspace {
    /// Opens these folders under the default policy. Displaced files are kept under `state`, if possible.
    pub fn open(disk: Arc<dyn Disk>, specs: &[RootSpec], state: Option<PathBuf>) -> Result<Self, Problem> {
        Self::open_with_policy(disk, specs, state, &Policy::default())
    }

    /// Opens these folders under this policy. A settings file in a folder may tighten it for that folder.
    pub fn open_with_policy(
        disk: Arc<dyn Disk>,
        specs: &[RootSpec],
        state: Option<PathBuf>,
        policy: &Policy,
    ) -> Result<Self, Problem> {
        let roots = Roots::open(disk, specs, policy)?;
        let vaults = Arc::new(VaultAccess::new(Arc::clone(roots.disk()), state));
        let busy = vaults.recover_all(&roots);
        let names = busy.iter().map(|root| root.name.clone()).collect();
        let unrecovered: Arc<Mutex<BTreeSet<String>>> = Arc::new(Mutex::new(names));
        let tidying = {
            let (vaults, unrecovered) = (Arc::clone(&vaults), Arc::clone(&unrecovered));
            Background::new("tidying", VecDeque::new(), move |root: Arc<Root>| {
                if vaults.tidy_and_recover(&root) {
                    unrecovered.lock().remove(&root.name);
                }
            })
        };
        if !busy.is_empty() {
            tidying.push(|waiting| waiting.extend(busy));
        }
        Ok(Self {
            roots,
            vaults,
            tidying,
            unrecovered,
            patience: PATIENCE,
            decided_at: DecidedAt::Command("emend approve".into()),
            observers: Observers::default(),
            running_commits: RunningCommits::default(),
            hooks: Hooks::default(),
            guard: Guard::default(),
        })
    }

    /// Returns whether what interrupted edits left in some root is still to be recovered, since another process was editing
    /// there. An edit recovers it too, before anything else.
    #[must_use]
    pub fn is_recovering(&self) -> bool {
        !self.unrecovered.lock().is_empty()
    }

    /// Sets the programs that run around edits. The error names the invalid pattern.
    pub fn with_hooks(mut self, programs: &Programs) -> Result<Self, String> {
        self.hooks = Hooks::new(programs, &self.roots)?;
        Ok(self)
    }

    /// Sets where a person approves a waiting plan.
    #[must_use]
    pub fn decided_at(mut self, decided_at: DecidedAt) -> Self {
        self.decided_at = decided_at;
        self
    }

    /// The roots.
    #[must_use]
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Returns the mode of the most lenient root.
    #[must_use]
    pub fn mode(&self) -> Mode {
        let modes = self.roots.all().iter().map(|root| root.policy.terms().mode);
        modes.min().unwrap_or(Mode::ReadOnly)
    }

    /// Returns which tools are listed to the models of the client of this name.
    #[must_use]
    pub fn tools_for(&self, client: &str) -> ListedTools {
        let policies = self.roots.all().iter().map(|root| &root.policy);
        let tools = policies.map(|policy| policy.tools_for().get(client).unwrap_or(policy.terms().tools));
        tools.max().unwrap_or(ListedTools::All)
    }

    /// Returns the dialect that is set for the client of this name. Only the user sets it, so that it is the same in every
    /// root.
    #[must_use]
    pub fn dialect_for(&self, client: &str) -> DialectName {
        let policy = self.roots.all().first().map(|root| &root.policy);
        let dialect = policy.map(|policy| policy.dialect_for().get(client).unwrap_or(policy.terms().dialect));
        dialect.unwrap_or(DialectName::Emend)
    }

    /// Returns whether a person may approve edits in the review page of the client of this name. Only the user sets it.
    #[must_use]
    pub fn approves_in_app(&self, client: &str) -> bool {
        let mut policies = self.roots.all().iter().map(|root| &root.policy);
        policies.any(|policy| policy.approve_in_app().has(client))
    }

    /// Returns whether the tools that are listed depend on the client.
    #[must_use]
    pub fn has_tools_for_clients(&self) -> bool {
        let depends = |policy: &Policy| {
            let is_auto = policy.terms().dialect == DialectName::Auto;
            is_auto || !policy.tools_for().is_empty() || !policy.dialect_for().is_empty()
        };
        self.roots.all().iter().any(|root| depends(&root.policy))
    }

    /// Returns how much the answers to edits say.
    #[must_use]
    pub fn answers(&self) -> Answers {
        let answers = self.roots.all().iter().map(|root| root.policy.terms().answers);
        answers.max().unwrap_or(Answers::Short)
    }

    /// Returns the form of the answers to edits.
    #[must_use]
    pub fn answers_as(&self) -> AnswersAs {
        let forms = self.roots.all().iter().map(|root| root.policy.terms().answers_as);
        forms.max().unwrap_or(AnswersAs::Both)
    }

    /// Returns warnings for the user about missing folders, the settings files of the others, and hooks.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        let absent = self.roots.absent().iter().map(|absent| absent.problem.to_string());
        let of_roots = self.roots.all().iter().flat_map(|root| &root.warnings).cloned();
        absent.chain(of_roots).chain(self.hooks.warnings())
    }

    /// Returns the files, in their current state.
    #[must_use]
    pub fn files(&self) -> Files<'_> {
        Files::new(&self.roots)
    }

    /// Returns the edits that were made in this workspace.
    #[must_use]
    pub fn past_edits(&self) -> PastEdits<'_> {
        PastEdits::new(&self.roots, &self.vaults)
    }

    /// Returns the user's hooks.
    #[must_use]
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Returns the commits that this process is writing.
    #[must_use]
    pub fn running_commits(&self) -> &RunningCommits {
        &self.running_commits
    }

    /// Registers an observer that is called after each edit through this workspace, on the thread that made it.
    pub fn on_commit(&self, observer: impl Fn(&CommittedEdit<'_>) + Send + Sync + 'static) {
        self.observers.add(observer);
    }

    /// Returns this user's event log; `None` without a state folder.
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
        // By now the lock is released.
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

    /// Commits a kept plan, or some hunks of it, if every file is still as it was when the plan was made. A plan that
    /// did not get its turn or awaits approval is returned whole with the reason.
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

    /// Returns a kept plan with a person's own text in place of a hunk's, if every file is still as it was.
    pub fn revise(
        &self,
        preview: &Preview,
        by: &Revision<'_>,
        context: &EditContext<'_>,
    ) -> Result<Preview, NotCommitted> {
        let revised = preview.revised(by, context.origin)?;
        let checked = look_again(revised, &self.roots, context).map_err(Problem::from)?;
        Ok(checked.format(&self.hooks, context)?.keep())
    }

    /// Undoes an edit, with all of its files in one commit.
    pub fn undo(&self, undo: &Undo<'_>, context: &EditContext<'_>) -> Result<Report, NotCommitted> {
        let (roots, vaults, origin) = (&self.roots, &self.vaults, context.origin);
        if undo.edit.is_none() {
            // Which one is meant is another by now, if this call was made before.
            self.check_not_made(context)?;
        }
        let (root, id) = &self.past_edits().choose(undo, &origin.session)?;
        self.make(&mut UndoSource { roots, vaults, root, id, origin }, context)
    }

    /// Fails if the same call has made an edit already, in any root, for a call that does not name one.
    pub fn check_not_made(&self, context: &EditContext<'_>) -> Result<(), NotCommitted> {
        if context.origin.call.carried().is_none() {
            return Ok(());
        }
        for root in self.roots.all() {
            let patience = context.effort.patience(self.patience);
            let reach =
                Reach::Files(context.origin.call.carried().map(FileKey::of_call).into_iter().collect());
            let _locked = self.vaults.lock(root, &reach, patience)?;
            check_not_repeated(&self.roots, &self.vaults, root, context)?;
        }
        Ok(())
    }

    /// Stores a plan, with the notes on it, until a person approves it at a terminal, for clients that cannot ask anyone.
    #[must_use]
    pub fn wait_for_a_person(&self, held: &AwaitingApproval, notes: Vec<String>) -> LeftWaiting {
        approval::leave_waiting(held, notes, self.vaults.approvals(), &self.decided_at)
    }

    /// Returns the store of previews that a person may look at from another process; `None` without a state folder.
    #[must_use]
    pub fn reviewables(&self) -> Option<Reviewables> {
        self.vaults.reviewables()
    }

    /// Returns the store of sessions that outlive their server; `None` without a state folder.
    #[must_use]
    pub fn kept_sessions(&self) -> Option<KeptSessions> {
        self.vaults.kept_sessions()
    }

    /// Returns the store of questions that other processes may have asked, each of which may be answered for so long; `None`
    /// without a state folder.
    #[must_use]
    pub fn questions(&self, patience: Duration) -> Option<Questions> {
        self.vaults.questions(patience)
    }

    /// Returns what waits for a person's decision, of all processes; `None` without a state folder.
    #[must_use]
    pub fn approvals(&self) -> Option<Approvals> {
        self.vaults.approvals().ok()
    }

    /// Returns what recovery found at the start, for the log.
    #[must_use]
    pub fn findings(&self) -> Vec<String> {
        self.vaults.findings()
    }

    /// Adds suggestions to problems of paths that lead nowhere.
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
