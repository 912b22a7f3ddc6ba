//! The workspace as a whole: read, plan under the lock, check, commit, report.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use emend_edit::find::Limits;
use emend_edit::patch::{Operation, Patch};
use emend_edit::plan::{self, Action, Plan, Source, Sources};
use emend_edit::problem::{Kind, Problem};

use crate::commit::{self, Job};
use crate::disk::Disk;
use crate::fault::io_problem;
use crate::lock::{self, PATIENCE};
use crate::readings::Readings;
use crate::report::Report;
use crate::roots::{Root, RootSpec, Roots, WorkspacePath};
use crate::snapshot::{self, Snapshot};

/// The folders that may be edited, and everything that happens in them.
#[derive(Debug)]
pub struct Workspace {
    roots: Roots,
    state: Option<PathBuf>,
    limits: Limits,
    patience: Duration,
}

/// What a client asks for.
pub struct Request<'a> {
    /// What to change.
    pub patch: &'a Patch,
    /// The versions that the call names, by path as it was written.
    pub versions: &'a BTreeMap<String, String>,
    /// Whether the client has given up meanwhile. Asked until the commit begins, never during it.
    pub cancelled: &'a dyn Fn() -> bool,
}

/// A plan with the files that it was made for: what a preview keeps, and what a commit takes.
#[must_use = "a prepared edit is either committed or kept as a preview"]
#[derive(Debug)]
pub struct Prepared {
    plan: Plan,
    files: BTreeMap<String, (WorkspacePath, Option<Snapshot>)>,
    root: Arc<Root>,
    /// Files whose whole content the client gave.
    whole: Vec<String>,
    mtime_check_passed: Option<bool>,
}

impl Prepared {
    /// What would happen.
    #[must_use]
    pub fn report(&self) -> Report {
        Report::of(&self.plan, self.mtime_check_passed)
    }

    /// Whether it has all of these hunks.
    pub fn has_hunks(&self, hunks: &[usize]) -> Result<(), Problem> {
        let known: Vec<usize> =
            self.plan.files().iter().flat_map(|file| &file.hunks).map(|hunk| hunk.number).collect();
        if !hunks.is_empty() && hunks.iter().all(|hunk| known.contains(hunk)) {
            return Ok(());
        }
        let known: Vec<String> = known.iter().map(ToString::to_string).collect();
        let message = format!("name hunks of the preview: {}", known.join(", "));
        Err(Problem::new(Kind::InvalidArgument { name: "hunks".into(), message }))
    }

    fn only(mut self, hunks: &[usize]) -> Result<Self, Problem> {
        self.has_hunks(hunks)?;
        self.plan = self
            .plan
            .only(hunks)
            .ok_or_else(|| Problem::new(Kind::NoOp { reason: "these hunks change nothing" }))?;
        Ok(self)
    }
}

impl Workspace {
    /// Opens these folders. Displaced files are kept under `state` where that can be.
    pub fn open(disk: Arc<dyn Disk>, specs: &[RootSpec], state: Option<PathBuf>) -> Result<Self, Problem> {
        let roots = Roots::open(disk, specs)?;
        Ok(Self { roots, state, limits: Limits::default(), patience: PATIENCE })
    }

    /// The same workspace, whose edits wait this long for their turn.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The roots.
    #[must_use]
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Reads a file: what it is called, and what it holds.
    pub fn read(&self, written: &str) -> Result<(String, Snapshot), Problem> {
        let path = self.roots.admit(written)?;
        match snapshot::read(self.disk(), &path)? {
            Some(snapshot) => Ok((path.name, snapshot)),
            None => Err(Problem::new(Kind::MissingOriginal { similar: self.similar(&path) }).at(&path.name)),
        }
    }

    /// Plans, checks and commits a request, under the root's lock from the reading on.
    pub fn edit(&self, request: &Request<'_>, readings: &Mutex<Readings>) -> Result<Report, Vec<Problem>> {
        let root = self.root_of(request.patch).map_err(one)?;
        let _locked = lock::lock(&root, self.patience).map_err(one)?;
        let prepared = self.prepare(request, readings)?;
        if (request.cancelled)() {
            return Err(one(Problem::new(Kind::Cancelled)));
        }
        self.commit(prepared, readings).map_err(one)
    }

    /// Plans and checks a request without committing it.
    pub fn preview(
        &self,
        request: &Request<'_>,
        readings: &Mutex<Readings>,
    ) -> Result<Prepared, Vec<Problem>> {
        self.prepare(request, readings)
    }

    /// Commits a kept plan, or some hunks of it, if every file is still what it was made for. A plan that
    /// did not get its turn comes back with the problem.
    pub fn apply(
        &self,
        prepared: Prepared,
        hunks: Option<&[usize]>,
        readings: &Mutex<Readings>,
    ) -> Result<Report, (Problem, Option<Box<Prepared>>)> {
        let root = Arc::clone(&prepared.root);
        let _locked = match lock::lock(&root, self.patience) {
            Ok(locked) => locked,
            Err(problem) => return Err((problem, Some(Box::new(prepared)))),
        };
        let committed = || {
            let prepared = match hunks {
                Some(hunks) => prepared.only(hunks)?,
                None => prepared,
            };
            self.commit(self.look_again(prepared)?, readings)
        };
        committed().map_err(|problem| (problem, None))
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

    fn prepare(&self, request: &Request<'_>, readings: &Mutex<Readings>) -> Result<Prepared, Vec<Problem>> {
        let gathered = self.gather(request.patch)?;
        let mut claimed: BTreeMap<&str, &str> = BTreeMap::new();
        for (written, version) in request.versions {
            match gathered
                .names
                .get(written)
                .or_else(|| gathered.files.get_key_value(written).map(|(n, _)| n))
            {
                Some(name) => claimed.insert(name, version),
                None => {
                    let message = format!("it names {written}, which the request does not touch");
                    return Err(one(Problem::new(Kind::InvalidArgument {
                        name: "versions".into(),
                        message,
                    })));
                }
            };
        }
        let checked = self.check_seen(&gathered, &claimed, readings)?;
        let plan = plan::build(request.patch, &gathered.sources, &self.limits)?;
        let whole = self.check_whole(request.patch, &plan, &gathered, &claimed, readings)?;
        let root = gathered.root.ok_or_else(|| one(nothing_touched()))?;
        Ok(Prepared { plan, files: gathered.files, root, whole, mtime_check_passed: checked.then_some(true) })
    }

    /// Reads everything that a patch names.
    fn gather(&self, patch: &Patch) -> Result<Gathered, Vec<Problem>> {
        let mut gathered = Gathered::default();
        let mut roots: BTreeMap<String, Arc<Root>> = BTreeMap::new();
        for written in patch.paths() {
            if gathered.names.contains_key(written) {
                continue;
            }
            let path = match self.roots.admit(written) {
                Ok(path) => path,
                Err(problem) => {
                    gathered.sources.refuse(written, problem);
                    continue;
                }
            };
            roots.insert(path.root.name.clone(), Arc::clone(&path.root));
            let name = path.name.clone();
            if gathered.files.contains_key(&name) {
                gathered.sources.alias(written, &name);
                gathered.names.insert(written.into(), name);
                continue;
            }
            match snapshot::read(self.disk(), &path) {
                Ok(snapshot) => {
                    let source = match &snapshot {
                        Some(snapshot) => Source::Present(Arc::clone(&snapshot.text)),
                        None => Source::Absent { similar: self.similar(&path) },
                    };
                    gathered.sources.insert(written, &name, source);
                    gathered.names.insert(written.into(), name.clone());
                    gathered.files.insert(name, (path, snapshot));
                }
                Err(problem) => gathered.sources.refuse(written, problem),
            }
        }
        if roots.len() > 1 {
            return Err(one(Problem::new(Kind::SeveralRoots { roots: roots.into_keys().collect() })));
        }
        gathered.root = roots.into_values().next();
        Ok(gathered)
    }

    /// Names in the folder of a missing file that resemble its own.
    fn similar(&self, path: &WorkspacePath) -> Vec<String> {
        if path.place.missing != 1 {
            return Vec::new();
        }
        let wanted = path.place.file_name().to_string_lossy().to_lowercase();
        let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
        let names = self.disk().names(&path.place.dir).unwrap_or_default();
        let mut similar: Vec<String> = names
            .iter()
            .take(2_000)
            .map(|name| name.to_string_lossy().into_owned())
            .filter(|name| {
                let name = name.to_lowercase();
                !name.starts_with('.')
                    && (name == wanted
                        || stem(&name) == stem(&wanted)
                        || name.starts_with(&stem(&wanted))
                        || wanted.starts_with(&stem(&name)))
            })
            .collect();
        similar.sort();
        similar.truncate(5);
        similar
    }

    /// The stale check: what this client has seen of the files, or says that it has.
    fn check_seen(
        &self,
        gathered: &Gathered,
        claimed: &BTreeMap<&str, &str>,
        readings: &Mutex<Readings>,
    ) -> Result<bool, Vec<Problem>> {
        let mut readings = locked(readings);
        let mut checked = false;
        let mut problems = Vec::new();
        for (name, (_, snapshot)) in &gathered.files {
            match readings.check(name, snapshot.as_ref(), claimed.get(name.as_str()).copied()) {
                Ok(had_something) => checked |= had_something,
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(checked) } else { Err(problems) }
    }

    /// Replacing or deleting a whole file needs more than a match. Yields the files written as a whole.
    fn check_whole(
        &self,
        patch: &Patch,
        plan: &Plan,
        gathered: &Gathered,
        claimed: &BTreeMap<&str, &str>,
        readings: &Mutex<Readings>,
    ) -> Result<Vec<String>, Vec<Problem>> {
        let readings = locked(readings);
        let written =
            patch.sections().iter().filter(|section| matches!(section.operation, Operation::Write(_)));
        let mut whole: Vec<String> =
            written.filter_map(|section| gathered.names.get(&section.path).cloned()).collect();
        let deleted = plan.files().iter().filter(|file| matches!(file.action, Action::Delete { .. }));
        let mut problems = Vec::new();
        for name in deleted.map(|file| &file.name).chain(&whole) {
            if let Some((_, Some(snapshot))) = gathered.files.get(name)
                && let Err(problem) =
                    readings.check_whole(name, snapshot, claimed.get(name.as_str()).copied())
            {
                problems.push(problem);
            }
        }
        let created = plan.files().iter().filter(|file| matches!(file.action, Action::Create { .. }));
        whole.extend(created.map(|file| file.name.clone()));
        if problems.is_empty() { Ok(whole) } else { Err(problems) }
    }

    /// Under the lock: is every file of a kept plan still there as it was?
    fn look_again(&self, mut prepared: Prepared) -> Result<Prepared, Problem> {
        let mut files = BTreeMap::new();
        for (name, (path, before)) in std::mem::take(&mut prepared.files) {
            let written = path.root.path.join(path.place.names.iter().collect::<PathBuf>());
            let path = self.roots.admit(&written.to_string_lossy())?;
            let now = snapshot::read(self.disk(), &path)?;
            let version = |snapshot: &Option<Snapshot>| snapshot.as_ref().map(|s| s.text.version());
            if path.name != name || version(&before) != version(&now) {
                let reason = match (version(&before), version(&now)) {
                    (Some(_), Some(now)) => format!("{name} changed, it is at version {} now", now.short()),
                    (Some(_), None) => format!("{name} is gone"),
                    _ => format!("{name} exists now"),
                };
                return Err(Problem::new(Kind::StalePreview { reason }).at(&name));
            }
            files.insert(name, (path, now));
        }
        prepared.files = files;
        Ok(prepared)
    }

    /// Makes the plan true. The lock is held.
    fn commit(&self, prepared: Prepared, readings: &Mutex<Readings>) -> Result<Report, Problem> {
        let mut report = prepared.report();
        let id = edit_id()?;
        let jobs = jobs(&prepared);
        let root = &prepared.root;
        let vault = || root.vault.get(self.disk(), root, self.state.as_deref());
        let mut vault_now = vault()?;
        if self.disk().names(&vault_now.open).is_err() {
            // Somebody removed it.
            root.vault.forget();
            vault_now = vault()?;
        }
        let stats = commit::commit(self.disk(), &vault_now, &id, &jobs)?;
        let mut readings = locked(readings);
        for (job, stat) in jobs.iter().zip(stats) {
            if let Action::Move { from, .. } = &job.plan.action {
                readings.moved(from, &job.plan.name);
            }
            match stat {
                Some(stat) => {
                    let whole = prepared.whole.contains(&job.plan.name);
                    readings.wrote(&job.plan.name, stat, &job.plan.action, whole);
                }
                None => readings.removed(&job.plan.name),
            }
        }
        report.edit = Some(id);
        Ok(report)
    }
}

/// Everything that a patch names, read.
#[derive(Default)]
struct Gathered {
    sources: Sources,
    /// From the path as written to the file's name.
    names: BTreeMap<String, String>,
    files: BTreeMap<String, (WorkspacePath, Option<Snapshot>)>,
    root: Option<Arc<Root>>,
}

/// Each file of the plan with where it is and what it was made for.
fn jobs(prepared: &Prepared) -> Vec<Job<'_>> {
    prepared
        .plan
        .files()
        .iter()
        .filter_map(|plan| {
            let (path, own) = prepared.files.get(&plan.name)?;
            let base = match &plan.action {
                Action::Move { from, .. } => prepared.files.get(from).map(|(path, base)| (path, base)),
                _ => Some((path, own)),
            };
            let base = base.and_then(|(path, base)| base.as_ref().map(|base| (path, base)));
            Some(Job { plan, path, base })
        })
        .collect()
}

/// Sorts by time, and is unique among all processes.
fn edit_id() -> Result<String, Problem> {
    let mut random = [0u8; 4];
    getrandom::fill(&mut random)
        .map_err(|error| io_problem("Getting random bytes", &std::io::Error::other(error.to_string())))?;
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    Ok(format!("{millis:011x}{:08x}", u32::from_ne_bytes(random)))
}

fn locked(readings: &Mutex<Readings>) -> MutexGuard<'_, Readings> {
    readings.lock().unwrap_or_else(PoisonError::into_inner)
}

fn one(problem: Problem) -> Vec<Problem> {
    vec![problem]
}

fn nothing_touched() -> Problem {
    Problem::new(Kind::NoOp { reason: "the request names no file" })
}
