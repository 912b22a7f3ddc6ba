//! Reading everything that a request names, and checking it against what its client has seen.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use cap_std::fs::Dir;

use emend_edit::patch::{Operation, Patch};
use emend_edit::plan::{Source, Sources};
use emend_edit::problem::{Again, Kind, Problem};

use crate::disk::Disk;
use crate::prepared::{Effort, Request};
use crate::readings::{Readings, locked};
use crate::roots::{Root, Roots, WorkspacePath};
use crate::snapshot::{self, Snapshot};

/// How many names of a folder are looked at for one that was meant.
const LOOKED_AT: usize = 2_000;
/// How many of them are suggested.
const SUGGESTED: usize = 5;

/// Everything that a request names, read.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) sources: Sources,
    pub(crate) files: BTreeMap<String, (WorkspacePath, Option<Snapshot>)>,
    pub(crate) root: Option<Arc<Root>>,
    /// From the path as written to the file's name.
    names: BTreeMap<String, String>,
}

/// The versions that a call names, by file name.
pub(crate) type Claimed = BTreeMap<String, String>;

/// Reads everything that a patch names. A file that is as its client read it takes the text of that reading.
pub(crate) fn gather(
    roots: &Roots,
    patch: &Patch,
    effort: Effort,
    readings: &Mutex<Readings>,
) -> Result<Gathered, Vec<Problem>> {
    let mut gathered = Gathered::default();
    let mut touched: BTreeMap<String, Arc<Root>> = BTreeMap::new();
    let mut dirs = Dirs::default();
    for written in patch.paths() {
        if gathered.names.contains_key(written) {
            continue;
        }
        let path = match roots.admit(written) {
            Ok(path) => dirs.share(path),
            Err(problem) => {
                gathered.sources.refuse(written, problem);
                continue;
            }
        };
        if path.place.through_link && patch.takes_away(written) {
            let what = "a link; name the file that it points to";
            gathered.sources.refuse(written, Problem::new(Kind::NotAFile { what }).at(written));
            continue;
        }
        touched.insert(path.root.name.clone(), Arc::clone(&path.root));
        let name = path.name.clone();
        if gathered.files.contains_key(&name) {
            gathered.sources.alias(written, &name);
            gathered.names.insert(written.into(), name);
            continue;
        }
        match snapshot::read(&**roots.disk(), &path, effort) {
            Ok(mut snapshot) => {
                if let Some(snapshot) = &mut snapshot {
                    snapshot.text = locked(readings).same(&name, Arc::clone(&snapshot.text));
                }
                let source = match &snapshot {
                    Some(snapshot) => Source::Present(Arc::clone(&snapshot.text)),
                    None => {
                        let mut similar = similar(&**roots.disk(), &path);
                        similar.extend(without_prefix(roots, written));
                        Source::Absent { similar }
                    }
                };
                if snapshot.as_ref().is_some_and(|snapshot| snapshot.stat.mode & 0o111 != 0) {
                    gathered.sources.set_executable(&name);
                }
                gathered.sources.insert(written, &name, source);
                gathered.names.insert(written.into(), name.clone());
                gathered.files.insert(name, (path, snapshot));
            }
            Err(problem) if *problem.kind == Kind::NeedsPatience => return Err(vec![problem]),
            Err(problem) => gathered.sources.refuse(written, problem),
        }
    }
    if touched.len() > 1 {
        return Err(vec![Problem::new(Kind::SeveralRoots { roots: touched.into_keys().collect() })]);
    }
    gathered.root = touched.into_values().next();
    Ok(gathered)
}

/// The path without the `a/` or `b/` of a diff, if that is a file.
fn without_prefix(roots: &Roots, written: &str) -> Option<String> {
    let plain = written.strip_prefix("a/").or(written.strip_prefix("b/"))?;
    let path = roots.admit(plain).ok()?;
    (path.place.missing == 0).then_some(path.name)
}

/// Names in the folder of a missing file that resemble its own.
pub(crate) fn similar(disk: &dyn Disk, path: &WorkspacePath) -> Vec<String> {
    if path.place.missing != 1 {
        return Vec::new();
    }
    let wanted = path.place.file_name().to_string_lossy().to_lowercase();
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let resembles = |name: &String| {
        let name = name.to_lowercase();
        let (stem, wanted_stem) = (stem(&name), stem(&wanted));
        !name.starts_with('.') && (name.starts_with(&wanted_stem) || wanted.starts_with(&stem))
    };
    let names = disk.names(&path.place.dir).unwrap_or_default();
    let shown = names.iter().take(LOOKED_AT).map(|name| name.to_string_lossy().into_owned());
    let mut similar: Vec<String> = shown.filter(resembles).collect();
    similar.sort();
    similar.truncate(SUGGESTED);
    similar
}

impl Gathered {
    /// The versions that the call names, by the files' own names.
    pub(crate) fn claimed(&self, roots: &Roots, request: &Request<'_>) -> Result<Claimed, Problem> {
        let mut claimed = Claimed::new();
        for (written, version) in request.versions {
            let name =
                self.names.get(written).or_else(|| self.files.get_key_value(written).map(|(name, _)| name));
            // Or another spelling of a file that it touches.
            let other = || roots.admit(written).ok().map(|path| path.name);
            let name = name.cloned().or_else(|| other().filter(|name| self.files.contains_key(name)));
            match name {
                Some(name) => {
                    claimed.insert(name, version.clone());
                }
                // Planning will say why this path was refused.
                None if request.patch.paths().any(|path| path == written) => {}
                None => {
                    let message = format!("it names {written}, which the request does not touch");
                    return Err(Problem::new(Kind::InvalidArgument { name: "versions".into(), message }));
                }
            }
        }
        Ok(claimed)
    }

    /// The stale check: what this client has seen of the files, or says that it has. Yields whether there
    /// was anything to check.
    pub(crate) fn check_seen(
        &self,
        patch: &Patch,
        claimed: &Claimed,
        readings: &mut Readings,
    ) -> Result<bool, Vec<Problem>> {
        let mut checked = false;
        let mut problems = Vec::new();
        let whole = self.replaced(patch);
        for (name, (_, snapshot)) in &self.files {
            let again = if whole.contains(name) { Again::Read } else { Again::SameCall };
            let claimed = claimed.get(name).map(String::as_str);
            match readings.check(name, snapshot.as_ref(), claimed, again) {
                Ok(had_something) => checked |= had_something,
                Err(problem) => problems.push(problem),
            }
        }
        if problems.is_empty() { Ok(checked) } else { Err(problems) }
    }

    /// Replacing or deleting a whole file needs more than a match.
    pub(crate) fn check_whole(
        &self,
        discarded: impl IntoIterator<Item = String>,
        claimed: &Claimed,
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

    /// Lines are addressed by number only in a version that the call names.
    pub(crate) fn check_numbers(&self, patch: &Patch, claimed: &Claimed) -> Vec<Problem> {
        let names = patch.addressed().filter_map(|path| self.names.get(path));
        names
            .filter(|name| !claimed.contains_key(*name))
            .filter_map(|name| {
                let (_, snapshot) = self.files.get(name)?;
                let current = snapshot.as_ref()?.text.version();
                Some(Problem::new(Kind::NumbersNeedVersion { current }).at(name))
            })
            .collect()
    }

    /// Files that the request would replace or delete as a whole, as far as can be said without a plan.
    pub(crate) fn replaced(&self, patch: &Patch) -> Vec<String> {
        self.named(patch, needs_all).collect()
    }

    /// Files whose whole content the client gave.
    pub(crate) fn given(&self, patch: &Patch) -> Vec<String> {
        self.named(patch, |operation| matches!(operation, Operation::Write(_) | Operation::Add(_))).collect()
    }

    /// The files of the sections that want this.
    fn named<'a>(
        &'a self,
        patch: &'a Patch,
        wanted: fn(&Operation) -> bool,
    ) -> impl Iterator<Item = String> + 'a {
        let sections = patch.sections().iter().filter(move |section| wanted(&section.operation));
        sections.filter_map(|section| self.names.get(&section.path).cloned())
    }
}

/// Whether an operation needs all of the file to be known. By what was asked for, not by what comes of it:
/// deleting and adding is replacing.
fn needs_all(operation: &Operation) -> bool {
    matches!(operation, Operation::Write(_) | Operation::Delete { content: None })
}

/// The open folders of a request: one for all files in it, since a patch may have thousands.
#[derive(Default)]
pub(crate) struct Dirs(BTreeMap<PathBuf, Arc<Dir>>);

impl Dirs {
    /// The same path, whose folder is the one that is open already.
    pub(crate) fn share(&mut self, mut path: WorkspacePath) -> WorkspacePath {
        let existing = path.place.names.len() - path.place.missing.max(1);
        let folder = path.root.path.join(path.place.names[..existing].iter().collect::<PathBuf>());
        let own = Arc::clone(&path.place.dir);
        path.place.dir = Arc::clone(self.0.entry(folder).or_insert(own));
        path
    }
}
