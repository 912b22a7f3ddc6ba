//! Gathering: reads everything that a request names, and checks it against what its client has read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use cap_std::fs::Dir;

use emend_edit::Text;
use emend_edit::find::FindLimits;
use emend_edit::patch::{Operation, Patch};
use emend_edit::plan::{self, Plan, Source, Sources};

use crate::edits::context::EditContext;
use crate::edits::merge;
use crate::edits::readings::{Reading, Readings};
use crate::edits::request::Request;
use crate::files::effort::{NotDone, Phase, Progress};
use crate::files::note::Note;
use crate::files::report::short_diff;
use crate::files::roots::{Root, Roots, WorkspacePath};
use crate::files::snapshot::{self, Snapshot};
use crate::policy::{OnChange, RequireRead};
use crate::problem::{Again, EditKind, Kind, Problem};

/// Everything that a request names, read.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) sources: Sources,
    pub(crate) files: BTreeMap<String, (WorkspacePath, Option<Snapshot>)>,
    pub(crate) root: Option<Arc<Root>>,
    /// The problem of each path that cannot be used, as written.
    refused: BTreeMap<String, Problem>,
    /// The file name of each path, as written.
    pub(super) names: BTreeMap<String, String>,
}

/// The result of the stale check.
pub(crate) struct StaleCheck {
    /// Whether there was anything to check.
    pub(crate) checked: bool,
    /// The files that changed since they were read; the plan decides about them.
    pub(crate) changed: Vec<String>,
    /// The files that changed since a version whose line numbers are all that the request says of them.
    pub(crate) numbered: Vec<String>,
}

/// The versions that a call names, by file name.
pub(crate) type ClaimedVersions = BTreeMap<String, String>;

/// Reads everything that the request names. An unchanged file reuses the text of the client's reading.
pub(crate) fn gather(
    roots: &Roots,
    request: &Request<'_>,
    context: &EditContext<'_>,
) -> Result<Gathered, NotDone<Vec<Problem>>> {
    let patch = request.patch;
    let mut gathered = Gathered::default();
    let mut touched: BTreeMap<String, Arc<Root>> = BTreeMap::new();
    let mut dirs = Dirs::default();
    let (total, only_read) = (patch.paths().count(), patch.only_read());
    for (done, written) in patch.paths().enumerate() {
        context.check_wanted()?;
        (context.progress)(Progress { what: Phase::Read, done, total });
        if gathered.names.contains_key(written) {
            continue;
        }
        let path = match roots.admit(written) {
            Ok(path) => dirs.share(path),
            Err(problem) => {
                gathered.refuse(written, problem);
                continue;
            }
        };
        // Whether it may be read was asked when it was admitted.
        let may_edit = || path.root.policy.may_edit(&path.place.names);
        if !only_read.contains(written)
            && let Err(kind) = may_edit()
        {
            gathered.refuse(written, Problem::new(kind).at(&path.name));
            continue;
        }
        if path.place.through_link && patch.takes_away(written) {
            let what = "a link; name the file that it points to";
            gathered.refuse(written, Problem::new(Kind::NotAFile { what }).at(written));
            continue;
        }
        touched.insert(path.root.name.clone(), Arc::clone(&path.root));
        let name = path.name.clone();
        if gathered.files.contains_key(&name) {
            gathered.sources.alias(written, &name);
            gathered.names.insert(written.into(), name);
            continue;
        }
        match snapshot::read_within(&**roots.disk(), &path, context.effort) {
            Ok(mut snapshot) => {
                if let Some(snapshot) = &mut snapshot {
                    snapshot.text = context.readings.lock().same(&name, Arc::clone(&snapshot.text));
                }
                let source = match &snapshot {
                    Some(snapshot) => Source::Present(Arc::clone(&snapshot.text)),
                    None => Source::Absent,
                };
                if snapshot.as_ref().is_some_and(|snapshot| snapshot.stat.mode & 0o111 != 0) {
                    gathered.sources.set_executable(&name);
                }
                gathered.sources.insert(written, &name, source);
                gathered.names.insert(written.into(), name.clone());
                gathered.files.insert(name, (path, snapshot));
            }
            Err(NotDone::NotQuick) => return Err(NotDone::NotQuick),
            Err(NotDone::Refused(problem)) => gathered.refuse(written, problem),
        }
    }
    if touched.len() > 1 {
        return Err(Problem::new(Kind::SeveralRoots { roots: touched.into_keys().collect() }).into());
    }
    gathered.root = touched.into_values().next();
    Ok(gathered)
}

impl Gathered {
    /// Stores the problem of a path until planning comes to it.
    fn refuse(&mut self, written: &str, problem: Problem) {
        self.sources.refuse(written);
        self.refused.insert(written.into(), problem);
    }

    /// Converts the problems of planning, and replaces those of refused paths by the actual reason.
    pub(crate) fn explained(&self, problems: Vec<emend_edit::Problem>) -> Vec<Problem> {
        let why = |problem: &emend_edit::Problem| self.refused.get(problem.path.as_ref()?).cloned();
        let explained = |problem: emend_edit::Problem| match *problem.kind {
            EditKind::NoSource => why(&problem).unwrap_or_else(|| problem.into()),
            _ => problem.into(),
        };
        problems.into_iter().map(explained).collect()
    }

    /// Returns the versions that the call names, by file name.
    pub(crate) fn claimed(&self, roots: &Roots, request: &Request<'_>) -> Result<ClaimedVersions, Problem> {
        let mut claimed = ClaimedVersions::new();
        for (written, version) in request.versions {
            let name =
                self.names.get(written).or_else(|| self.files.get_key_value(written).map(|(name, _)| name));
            // It may be another spelling of a file that the request touches.
            let other = || roots.admit(written).ok().map(|path| path.name);
            let name = name.cloned().or_else(|| other().filter(|name| self.files.contains_key(name)));
            match name {
                Some(name) => {
                    let before = claimed.insert(name.clone(), version.clone());
                    if before.is_some_and(|before| before != *version) {
                        let message = format!("it names two versions of {name}");
                        return Err(Problem::new(Kind::InvalidArgument { name: "versions".into(), message }));
                    }
                }
                // Planning will report why this path was refused.
                None if request.patch.paths().any(|path| path == written) => {}
                None => {
                    let message = format!("it names {written}, which the request does not touch");
                    return Err(Problem::new(Kind::InvalidArgument { name: "versions".into(), message }));
                }
            }
        }
        Ok(claimed)
    }

    /// Makes planning ignore the request's line numbers in files that changed since they were read, unless the request
    /// names the version that they refer to.
    pub(crate) fn distrust_numbers(&mut self, claimed: &ClaimedVersions, readings: &Readings) {
        for name in self.files.keys().filter(|name| !claimed.contains_key(*name)) {
            if readings.of(name).is_some_and(Reading::is_change_only) {
                self.sources.set_renumbered(name);
            }
        }
    }

    /// Runs the stale check: whether the client knows the current files, or names their versions.
    pub(crate) fn check_seen(
        &self,
        patch: &Patch,
        claimed: &ClaimedVersions,
        older: &BTreeSet<String>,
        readings: &mut Readings,
    ) -> Result<StaleCheck, Vec<Problem>> {
        let mut stale_check = StaleCheck { checked: false, changed: Vec::new(), numbered: Vec::new() };
        let mut problems = Vec::new();
        let whole = self.replaced(patch);
        let by_number: BTreeSet<&String> =
            patch.paths_by_line_number().filter_map(|path| self.names.get(path)).collect();
        for (name, (path, snapshot)) in &self.files {
            let claimed = claimed.get(name).map(String::as_str);
            let terms = path.root.policy.terms();
            if claimed.is_none() && older.contains(name) && self.is_numbered(patch, name) {
                // Planning decides whether the lines can be followed.
                stale_check.numbered.push(name.clone());
                continue;
            }
            if claimed.is_none() && !terms.require_mtime_check {
                continue;
            }
            let older = snapshot.as_ref().and_then(|snapshot| readings.older(name, snapshot));
            let may_merge = terms.on_change == OnChange::Merge && claimed.is_none() && !whole.contains(name);
            if may_merge && older.is_some() {
                stale_check.changed.push(name.clone());
                continue;
            }
            let again = if whole.contains(name) { Again::Read } else { Again::SameCall };
            match readings.check(name, snapshot.as_ref(), claimed, again) {
                Ok(had_something) => stale_check.checked |= had_something,
                Err(mut problem) => {
                    if let Kind::StaleFile { again: again @ Again::NewVersion, .. } = &mut *problem.kind
                        && by_number.contains(name)
                    {
                        *again = Again::NewNumbers;
                    }
                    problems.push(problem);
                }
            }
        }
        if problems.is_empty() { Ok(stale_check) } else { Err(problems) }
    }

    /// Decides about files that changed since they were read: refuses those with a change in the way of the plan, and
    /// returns notes with the changes of the others.
    pub(crate) fn check_changed(
        &self,
        patch: &Patch,
        limits: &FindLimits,
        plan: &Plan,
        stale_check: &StaleCheck,
        readings: &mut Readings,
    ) -> Result<Vec<Note>, Vec<Problem>> {
        let changed =
            || stale_check.changed.iter().filter_map(|name| Some((name, self.files[name].1.as_ref()?)));
        let mut problems = Vec::new();
        // The files as the client has read them, to find out what the request was meant to do.
        let mut sources = self.sources.clone();
        // Looked up once, because it may be forgotten meanwhile.
        let older: BTreeMap<&String, Arc<Text>> =
            changed().filter_map(|(name, now)| Some((name, readings.older(name, now)?))).collect();
        for (name, older) in &older {
            sources.set_text(name, Arc::clone(older));
        }
        let meant =
            if stale_check.changed.is_empty() { None } else { plan::build(patch, &sources, limits).ok() };
        for (name, now) in changed() {
            let is_elsewhere = older.get(name).zip(meant.as_ref()).is_some_and(|(older, meant)| {
                merge::is_elsewhere(plan, name, older, &now.text)
                    && merge::is_as_meant(meant, plan, name, older, &now.text)
            });
            if !is_elsewhere && let Err(problem) = readings.check(name, Some(now), None, Again::SameCall) {
                problems.push(problem);
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let note = |(name, now): (&String, &Snapshot)| {
            let diff = short_diff(name, older.get(name)?, &now.text);
            Some(Note::ChangedElsewhere { file: name.clone(), diff })
        };
        Ok(changed().filter_map(note).collect())
    }

    /// Checks that the client has read the files, if the policy requires a reading for every edit.
    pub(crate) fn check_read(
        &self,
        claimed: &ClaimedVersions,
        stale_check: &StaleCheck,
        readings: &Readings,
    ) -> Vec<Problem> {
        let check = |(name, (path, snapshot)): (&String, &(WorkspacePath, Option<Snapshot>))| {
            let wanted = path.root.policy.terms().require_read == RequireRead::Always;
            let is_changed = stale_check.changed.contains(name) || stale_check.numbered.contains(name);
            if !wanted || is_changed && readings.of(name).is_some_and(Reading::is_read) {
                return None;
            }
            readings.check_read(name, snapshot.as_ref()?, claimed.get(name).map(String::as_str)).err()
        };
        self.files.iter().filter_map(check).collect()
    }

    /// Checks that the client may replace or delete whole files; a match is not enough for that.
    pub(crate) fn check_whole(
        &self,
        discarded: impl IntoIterator<Item = String>,
        claimed: &ClaimedVersions,
        readings: &Readings,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        for name in discarded {
            if let Some((_, Some(snapshot))) = self.files.get(&name)
                && let Err(problem) =
                    readings.check_whole(&name, snapshot, claimed.get(&name).map(String::as_str))
            {
                problems.push(problem);
            }
        }
        problems
    }

    /// Checks that line numbers refer to a version that the call names.
    pub(crate) fn check_numbers(&self, patch: &Patch, claimed: &ClaimedVersions) -> Vec<Problem> {
        let names = patch.paths_by_line_number().filter_map(|path| self.names.get(path));
        names
            .filter(|name| !claimed.contains_key(*name))
            .filter_map(|name| {
                let (_, snapshot) = self.files.get(name)?;
                let current = snapshot.as_ref()?.text.version();
                Some(Problem::new(Kind::NumbersNeedVersion { current }).at(name))
            })
            .collect()
    }

    /// Returns the files that the request would replace or delete as a whole, as far as is known without a plan.
    pub(crate) fn replaced(&self, patch: &Patch) -> Vec<String> {
        self.named(patch, needs_all).collect()
    }

    /// Returns the files whose whole content the client gave.
    pub(crate) fn given(&self, patch: &Patch) -> Vec<String> {
        let gives = |operation: &Operation| {
            matches!(operation, Operation::Write(_) | Operation::Replace(_) | Operation::Add(_))
        };
        self.named(patch, gives).collect()
    }

    /// Returns the files of the sections whose operation passes this test.
    fn named<'a>(
        &'a self,
        patch: &'a Patch,
        wanted: fn(&Operation) -> bool,
    ) -> impl Iterator<Item = String> + 'a {
        let sections = patch.sections().iter().filter(move |section| wanted(&section.operation));
        sections.filter_map(|section| self.names.get(&section.path).cloned())
    }
}

/// Returns whether an operation requires knowledge of the whole file. The operation decides, not its effect: deleting
/// and adding is replacing.
fn needs_all(operation: &Operation) -> bool {
    matches!(operation, Operation::Write(_) | Operation::Replace(_) | Operation::Delete { content: None })
}

/// The open folders of a request, shared by all files in them, since a patch may have thousands.
#[derive(Default)]
pub(crate) struct Dirs(BTreeMap<PathBuf, Arc<Dir>>);

impl Dirs {
    /// Replaces the folder of the path by the one that is already open.
    pub(crate) fn share(&mut self, mut path: WorkspacePath) -> WorkspacePath {
        let existing = path.place.names.len() - path.place.missing.max(1);
        let folder = path.root.path.join(path.place.names[..existing].iter().collect::<PathBuf>());
        let own = Arc::clone(&path.place.dir);
        path.place.dir = Arc::clone(self.0.entry(folder).or_insert(own));
        path
    }
}
