//! The workspace as a whole: read, plan under the lock, check, commit, report.

mod committing;
pub(crate) mod files;
mod hooked;
pub(crate) mod past_edits;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use emend_edit::find::Limits;
use emend_edit::patch::Patch;
use emend_edit::plan;
use emend_edit::problem::{Kind, Problem};

use self::files::Files;
use self::hooked::Hooked;
use self::past_edits::PastEdits;
use crate::disk::Disk;
use crate::edits::approval::{self, Approval, AwaitingApproval, NotCommitted};
use crate::edits::checked_plan::{CheckedPlan, PlanContext, Preview, Whole};
use crate::edits::committed_edit::CommittedEdit;
use crate::edits::event_log::EventLog;
use crate::edits::gather::{Dirs, gather};
use crate::edits::guard::{self, Guard};
use crate::edits::hooks::Hooks;
use crate::edits::readings::{Readings, locked};
use crate::edits::request::{Manner, Request};
use crate::edits::running_commits::RunningCommits;
use crate::edits::vault_access::VaultAccess;
use crate::files::commit;
use crate::files::effort::{Effort, NotDone, Phase, Progress};
use crate::files::history::Origin;
use crate::files::history::undo::Undo;
use crate::files::lock::PATIENCE;
use crate::files::meant;
use crate::files::report::Report;
use crate::files::roots::{Root, RootSpec, Roots};
use crate::files::snapshot;
use crate::policy::{Mode, Policy};
use crate::spans;

/// The folders that may be edited, and everything that happens in them.
#[derive(Debug)]
pub struct Workspace {
    roots: Roots,
    vaults: VaultAccess,
    limits: Limits,
    patience: Duration,
    /// The command by which a person allows what waits, without the id.
    approve: String,
    observers: Observers,
    running_commits: RunningCommits,
    hooks: Hooks,
    guard: Guard,
}

/// Tells of an edit.
type Tell = Box<dyn Fn(&CommittedEdit<'_>) + Send + Sync>;

/// Who is told of each edit.
#[derive(Default)]
struct Observers(RwLock<Vec<Tell>>);

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Observers({})", self.everybody().len())
    }
}

impl Observers {
    fn everybody(&self) -> RwLockReadGuard<'_, Vec<Tell>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
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
        let vaults = VaultAccess::new(state);
        vaults.recover_all(&roots);
        Ok(Self {
            roots,
            vaults,
            limits: Limits::default(),
            patience: PATIENCE,
            approve: "emend approve".into(),
            observers: Observers::default(),
            running_commits: RunningCommits::default(),
            hooks: Hooks::default(),
            guard: Guard::default(),
        })
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
    pub fn on_commit(&self, tell: impl Fn(&CommittedEdit<'_>) + Send + Sync + 'static) {
        self.observers.0.write().unwrap_or_else(PoisonError::into_inner).push(Box::new(tell));
    }

    /// The log of events of this user; `None` where there is no state folder to keep it in.
    #[must_use]
    pub fn event_log(&self) -> Option<EventLog> {
        self.vaults.state().map(EventLog::in_state)
    }

    /// Plans, checks and commits a request, under the root's lock from the reading on; where hooks are to run, under the
    /// lock from the last look at its files on.
    pub fn edit(&self, request: &Request<'_>, readings: &Mutex<Readings>) -> Result<Report, NotCommitted> {
        // The lock is free by then.
        self.plan_and_commit(request, readings).map_err(|not_committed| match not_committed {
            NotCommitted::Problems(problems) => self.name_all_meant(problems, request).into(),
            other => other,
        })
    }

    fn plan_and_commit(
        &self,
        request: &Request<'_>,
        readings: &Mutex<Readings>,
    ) -> Result<Report, NotCommitted> {
        let root = self.root_of(request.patch)?;
        let locked = root.lock(request.effort.patience(self.patience))?;
        self.vaults.recover(self.disk(), &root)?;
        let checked = self.prepare(request, readings)?;
        if self.has_hooks_before(&checked) {
            drop(locked);
            if request.effort == Effort::Quick {
                return Err(NotCommitted::NotQuick);
            }
            let Request { effort, approval, cancelled, progress, .. } = *request;
            let plan = || Ok(self.prepare(request, readings)?);
            let manner = Manner { effort, approval, cancelled, progress };
            return self.edit_with_hooks(checked, &Hooked { plan: &plan, manner, readings });
        }
        guard::refuse(&checked)?;
        self.permit_unless(request.cancelled, &checked, request.approval)?;
        Ok(self.commit(checked, readings, request.progress)?)
    }

    /// Plans and checks a request without committing it.
    pub fn preview(
        &self,
        request: &Request<'_>,
        readings: &Mutex<Readings>,
    ) -> Result<Preview, NotDone<Vec<Problem>>> {
        let checked = self.prepare(request, readings);
        let checked = checked.map_err(|why| match why {
            NotDone::NotQuick => NotDone::NotQuick,
            NotDone::Refused(problems) => self.name_all_meant(problems, request),
        })?;
        if request.effort == Effort::Quick && self.has_formatters(&checked) {
            return Err(NotDone::NotQuick);
        }
        let mut checked = self.format(checked, request.cancelled)?;
        guard::warn(&mut checked);
        Ok(Preview::of(checked))
    }

    /// Commits a kept plan, or some hunks of it, if every file is still what it was made for. A plan that
    /// did not get its turn, or that a person must allow first, comes back whole with the reason. Whether the client
    /// has given up meanwhile is asked until the commit begins.
    pub fn apply(
        &self,
        preview: Preview,
        hunks: Option<&[usize]>,
        manner: Manner<'_>,
        readings: &Mutex<Readings>,
    ) -> Result<Report, (NotCommitted, Option<Box<Preview>>)> {
        let Manner { effort, approval, cancelled, progress } = manner;
        let root = Arc::clone(&preview.context.root);
        let split = match hunks {
            Some(hunks) => preview.only(hunks).map(|(part, whole)| (part, Some(whole))),
            None => Ok((preview, None)),
        };
        let (part, whole) = split.map_err(|problem| (problem.into(), None))?;
        let back = |part: Preview, whole: Option<Whole>, not_committed: NotCommitted| {
            (
                not_committed,
                Some(Box::new(match whole {
                    Some(whole) => whole.join(part),
                    None => part,
                })),
            )
        };
        let report = match self.ask_about(&part, cancelled) {
            Ok(report) => report,
            Err(problem) => return Err(back(part, whole, problem.into())),
        };
        let _locked = match root.lock(effort.patience(self.patience)) {
            Ok(locked) => locked,
            Err(problem) => return Err(back(part, whole, problem.into())),
        };
        let recovered = self.vaults.recover(self.disk(), &root);
        let looked = recovered.and_then(|()| self.look_again(part, progress));
        let mut checked = looked.map_err(|problem| (problem.into(), None))?;
        let is_whole = guard::refuse(&checked).map_err(NotCommitted::from);
        if let Err(not_committed) = is_whole.and_then(|()| self.permit_unless(cancelled, &checked, approval))
        {
            return Err(back(Preview::of(checked), whole, not_committed));
        }
        checked.report = report;
        self.commit(checked, readings, progress).map_err(|problem| (problem.into(), None))
    }

    /// Takes an edit back, all of its files in one commit. Whether the client has given up meanwhile is asked until that
    /// begins.
    pub fn undo(
        &self,
        undo: &Undo<'_>,
        origin: &Origin,
        manner: Manner<'_>,
        readings: &Mutex<Readings>,
    ) -> Result<Report, NotCommitted> {
        let (root, id) = self.past_edits().choose(undo, &origin.session)?;
        let locked = root.lock(manner.effort.patience(self.patience))?;
        self.vaults.recover(self.disk(), &root)?;
        let plan = || Ok(self.past_edits().plan_undo(&root, &id, origin)?);
        let checked = plan()?;
        if self.has_hooks_before(&checked) {
            drop(locked);
            return self.edit_with_hooks(checked, &Hooked { plan: &plan, manner, readings });
        }
        self.permit_unless(manner.cancelled, &checked, manner.approval)?;
        Ok(self.commit(checked, readings, manner.progress)?)
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

    /// The same problems of a request; those of paths that lead nowhere name what may be meant.
    fn name_all_meant(&self, problems: Vec<Problem>, request: &Request<'_>) -> NotDone<Vec<Problem>> {
        if request.effort == Effort::Quick && meant::has_lost_paths(&self.roots, &problems) {
            return NotDone::NotQuick;
        }
        NotDone::Refused(meant::name_meant(&self.roots, problems, meant::Wanted::File, request.cancelled))
    }

    fn disk(&self) -> &dyn Disk {
        &**self.roots.disk()
    }

    /// The one root that a request touches.
    fn root_of(&self, patch: &Patch) -> Result<Arc<Root>, Problem> {
        if let [only] = self.roots.all() {
            return Ok(Arc::clone(only));
        }
        let first = patch.paths().next().unwrap_or_default();
        Ok(self.roots.admit(first)?.root)
    }

    /// The limits of planning in this root.
    fn limits_of(&self, root: &Root) -> Limits {
        Limits { file_bytes: root.policy.terms().max_file_bytes as usize, ..self.limits }
    }

    /// From the request to a plan that may be committed: everything is read, found and checked.
    fn prepare(
        &self,
        request: &Request<'_>,
        readings: &Mutex<Readings>,
    ) -> Result<CheckedPlan, NotDone<Vec<Problem>>> {
        let span = spans::plan(|| request.patch.paths().count());
        spans::within(&span, |_| self.plan(request, readings)).map_err(|mut why| {
            if let (NotDone::Refused(problems), Ok(root)) = (&mut why, self.root_of(request.patch)) {
                self.past_edits().say_who(&root, problems);
            }
            why
        })
    }

    fn plan(
        &self,
        request: &Request<'_>,
        readings: &Mutex<Readings>,
    ) -> Result<CheckedPlan, NotDone<Vec<Problem>>> {
        if request.effort == Effort::Quick && !request.patch.is_small() {
            return Err(NotDone::NotQuick);
        }
        let mut gathered = gather(&self.roots, request, readings)?;
        let claimed = gathered.claimed(&self.roots, request).map_err(one)?;
        gathered.distrust_numbers(&claimed, &locked(readings));
        let stale_check = gathered.check_seen(request.patch, &claimed, &mut locked(readings))?;
        none(gathered.check_read(&claimed, &stale_check, &locked(readings)))?;
        none(gathered.check_numbers(request.patch, &claimed))?;
        let unseen = |discarded| gathered.check_whole(discarded, &claimed, &locked(readings));
        let limits = gathered.root.as_ref().map_or(self.limits, |root| self.limits_of(root));
        let plan = plan::build(request.patch, &gathered.sources, &limits).map_err(|problems| {
            let mut all = unseen(gathered.replaced(request.patch));
            all.extend(problems);
            all
        })?;
        none(unseen(plan.discarded().to_vec()))?;
        let notes =
            gathered.check_changed(request.patch, &limits, &plan, &stale_check, &mut locked(readings))?;
        let whole = gathered.given(request.patch);
        let nothing = || one(Problem::new(Kind::NoOp { reason: "the request names no file" }));
        let root = gathered.root.ok_or_else(nothing)?;
        let mtime_check_passed = stale_check.checked.then_some(true);
        let (merged, origin) = (stale_check.changed, request.origin.clone());
        let context = PlanContext { root, whole, merged, mtime_check_passed, origin, undoes: None };
        let mut report = Report::of(&plan, context.mtime_check_passed);
        report.notes.extend(notes);
        let checked = CheckedPlan {
            plan,
            files: gathered.files,
            metadata_sources: BTreeMap::new(),
            mounted: BTreeSet::new(),
            context,
            report,
        };
        none(commit::special_files(self.disk(), &checked.jobs()))?;
        Ok(checked)
    }

    /// Whether this plan may be made true now, and the client still wants it. The lock is held.
    fn permit_unless(
        &self,
        cancelled: &dyn Fn() -> bool,
        checked: &CheckedPlan,
        approval: Option<&Approval>,
    ) -> Result<(), NotCommitted> {
        if cancelled() {
            return Err(Problem::new(Kind::Cancelled).into());
        }
        approval::permit(self.disk(), checked, approval, || self.vaults.approvals())
    }

    /// Under the lock: is every file of a kept plan still there as it was?
    fn look_again(&self, preview: Preview, progress: &dyn Fn(Progress)) -> Result<CheckedPlan, Problem> {
        let mut files = BTreeMap::new();
        let mut dirs = Dirs::default();
        let total = preview.files.len();
        for (done, (name, (place, before))) in preview.files.into_iter().enumerate() {
            progress(Progress { what: Phase::Read, done, total });
            let path = dirs.share(self.roots.admit(&place.to_string_lossy())?);
            let snapshot = snapshot::read(self.disk(), &path)?;
            let now = snapshot.as_ref().map(|snapshot| snapshot.text.version());
            if path.name != name || before != now {
                let reason = match (before, now) {
                    (Some(_), Some(now)) => format!("{name} changed, it is at version {} now", now.short()),
                    (Some(_), None) => format!("{name} is gone"),
                    _ => format!("{name} exists now"),
                };
                return Err(Problem::new(Kind::StalePreview { reason }).at(&name));
            }
            files.insert(name, (path, snapshot));
        }
        let Preview { plan, context, report, .. } = preview;
        let checked = CheckedPlan {
            plan,
            files,
            metadata_sources: BTreeMap::new(),
            mounted: BTreeSet::new(),
            context,
            report,
        };
        match commit::special_files(self.disk(), &checked.jobs()).into_iter().next() {
            Some(problem) => Err(problem),
            None => Ok(checked),
        }
    }
}

fn none(problems: Vec<Problem>) -> Result<(), Vec<Problem>> {
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn one(problem: Problem) -> Vec<Problem> {
    vec![problem]
}
