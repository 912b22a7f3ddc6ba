//! Gathering: reads everything that a request names. Whether its client has seen that, [`stale_check`](super::stale_check) checks.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use cap_std::fs::Dir;

use emend_edit::patch::{Operation, Patch};
use emend_edit::plan::{Source, Sources};

use crate::edits::context::EditContext;
use crate::edits::request::Request;
use crate::files::effort::{NotDone, Phase, Progress};
use crate::files::roots::{Root, Roots, WorkspacePath};
use crate::files::snapshot::{self, Snapshot};
use crate::problem::{EditKind, Kind, Problem};

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
    // The paths that the request takes away may lead to a folder or a file in the place of what is there.
    let taken = LazyCell::new(|| {
        let taken = patch.paths().filter(|written| patch.takes_away(written));
        taken.filter_map(|written| roots.admit(written).ok()).collect::<Vec<_>>()
    });
    let may_go = |names: &[OsString]| taken.iter().any(|path| path.place.names.starts_with(names));
    for (done, written) in patch.paths().enumerate() {
        context.check_wanted()?;
        (context.progress)(Progress { what: Phase::Read, done, total });
        if gathered.names.contains_key(written) {
            continue;
        }
        let path = match roots.admit_past(written, &may_go) {
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
            gathered.refuse(written, Problem::new(Kind::IsLink).at(written));
            continue;
        }
        touched.insert(path.root.name.clone(), Arc::clone(&path.root));
        let name = path.name.clone();
        if gathered.files.contains_key(&name) {
            gathered.sources.alias(written, &name);
            gathered.names.insert(written.into(), name);
            continue;
        }
        let known = context.readings.lock().text(&name);
        match snapshot::read_within(&**roots.disk(), &path, context.effort, known) {
            Ok(snapshot) => {
                let source = match &snapshot {
                    Some(snapshot) => Source::Present(Arc::clone(&snapshot.text)),
                    None => Source::Absent,
                };
                gathered.sources.insert(written, &name, source);
                gathered.sources.file(&name).is_executable =
                    snapshot.as_ref().is_some_and(|snapshot| snapshot.stat.mode & 0o111 != 0);
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

    /// Returns the files that the request would replace or delete as a whole, as far as is known without a plan.
    pub(crate) fn replaced(&self, patch: &Patch) -> Vec<String> {
        self.named(patch, needs_all).collect()
    }

    /// Returns the files whose whole content the client gave.
    pub(crate) fn given(&self, patch: &Patch) -> Vec<String> {
        let gives = |operation: &Operation| {
            matches!(
                operation,
                Operation::Write(_) | Operation::Replace(_) | Operation::Add(_) | Operation::Fill(_)
            )
        };
        let fills = |name: &String| {
            let lines = |(_, file): &(_, Option<Snapshot>)| {
                file.as_ref().is_some_and(|file| !file.text.raw().is_empty())
            };
            self.named(patch, |operation| matches!(operation, Operation::Fill(_))).any(|other| other == *name)
                && self.files.get(name).is_some_and(lines)
        };
        // What fills a file that has lines comes before them.
        self.named(patch, gives).filter(|name| !fills(name)).collect()
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
