//! The roots of the workspace: named folders, each held open, and the mapping from a written path to a root.
//!
//! A root is an open handle. Comparing path strings only decides which root is meant and what a message says; the
//! kernel decides, beneath the handle, whether a file is inside.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf, is_separator};
use std::sync::Arc;
use std::thread;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use emend_edit::find::FindLimits;

use crate::disk::fault::{io_problem, is_absent};
use crate::disk::{self, Disk};
use crate::files::file_locks::FileKey;
use crate::files::resolve::{MayGo, Place, Refusal, past_obstacle, resolve};
use crate::files::root_locks::RootLocks;
use crate::files::trail::Trail;
use crate::files::vault::{RootFolder, VaultCell};
use crate::files::written;
use crate::policy::{Policy, Terms, git_folder, state_folder};
use crate::problem::{EditKind, Kind, Problem};

/// The number of bytes that a written path may have, as on most systems.
const LONGEST: usize = 4096;
/// The number of its components.
const DEEPEST: usize = 256;

/// A folder to open as a root, as given: `PATH` or `name=PATH`.
#[derive(Clone, Debug)]
pub struct RootSpec {
    /// The name, if one was given.
    pub name: Option<String>,
    /// The folder.
    pub path: PathBuf,
}

impl RootSpec {
    /// Parses `PATH` or `name=PATH`. An existing folder with an equals sign in its path takes precedence.
    #[must_use]
    pub fn parse(written: &str) -> Self {
        if let Some((name, path)) = written.split_once('=')
            && !name.is_empty()
            && !name.contains(['/', '\\'])
            && !Path::new(written).exists()
        {
            return Self { name: Some(name.into()), path: path.into() };
        }
        Self { name: None, path: written.into() }
    }
}

/// One folder of the workspace.
#[derive(Debug)]
pub struct Root {
    /// The name that distinguishes it from other roots.
    pub name: String,
    /// Its path without links.
    pub path: PathBuf,
    /// Its path as given, made absolute.
    pub given: PathBuf,
    /// The folder itself.
    pub dir: Dir,
    /// The device and inode of the folder.
    inode: Inode,
    /// The policy for its files.
    pub policy: Policy,
    /// The warnings about its policy, for the user.
    pub(crate) warnings: Vec<String>,
    /// The vault for its transactions and displaced files.
    pub(crate) vault: VaultCell,
    /// The locks against edits of others.
    pub(crate) locks: RootLocks,
}

/// The device and inode of a folder.
type Inode = (u64, u64);

impl Root {
    /// Checks that its path still leads to this folder: answers and observers name files by that path.
    pub(crate) fn check_path(&self, disk: &dyn Disk) -> Result<(), Problem> {
        self.check_leads_here(disk, &self.path)?;
        if self.given == self.path { Ok(()) } else { self.check_leads_here(disk, &self.given) }
    }

    fn check_leads_here(&self, disk: &dyn Disk, path: &Path) -> Result<(), Problem> {
        let path_is = |what: &str| {
            let path = path.display();
            let reason = format!(
                "The workspace folder {path} {what} since the server started. Nothing was read or changed. Tell the \
                 person: to work in the folder that is at {path} now, the server must be started anew (in most clients: \
                 reconnect it)."
            );
            Err(Problem::new(Kind::NoWorkspace { reason }))
        };
        match inode_at(disk, path) {
            Ok(there) if there == self.inode || inode_of(disk, &self.dir).is_ok_and(|own| own == there) => {
                Ok(())
            }
            Ok(_) => path_is("was replaced by another folder"),
            Err(error) if is_absent(&error) => path_is("was moved or removed"),
            // It is not known to be another folder.
            Err(_) => Ok(()),
        }
    }

    /// Returns the limits of planning an edit in it.
    pub(crate) fn planning_limits(&self) -> FindLimits {
        FindLimits { file_bytes: self.policy.terms().max_file_bytes as usize, ..FindLimits::default() }
    }

    /// Returns the folder as its vault needs it.
    pub(crate) fn folder(&self) -> RootFolder<'_> {
        RootFolder { dir: &self.dir, path: &self.path, given: &self.given }
    }
}

/// A folder that could not be opened as a root, while others could.
#[derive(Clone, Debug)]
pub struct Absent {
    /// The name that it would have.
    pub name: String,
    /// Its path as given, made absolute.
    pub path: PathBuf,
    /// The reason, and what the user can do.
    pub problem: Problem,
}

impl Absent {
    fn new(spec: &RootSpec, problem: &Problem) -> Self {
        let path = std::path::absolute(&spec.path).unwrap_or_else(|_| spec.path.clone());
        let reason = format!(
            "{problem} The server does without it. Tell the person: it must be put back, or taken out of the server's \
             arguments or the configuration file, and the server started anew."
        );
        let problem = Problem::new(Kind::NoWorkspace { reason });
        Self { name: spec.name.clone().unwrap_or_else(|| name_of(&path)), path, problem }
    }
}

/// The roots, and the disk that they are on.
#[derive(Debug)]
pub struct Roots {
    disk: Arc<dyn Disk>,
    roots: Vec<Arc<Root>>,
    absent: Vec<Absent>,
}

/// A path that may be read: in a root, allowed by the policy, with its folder open.
#[derive(Debug)]
pub struct WorkspacePath {
    /// The root of the path.
    pub root: Arc<Root>,
    /// The place in the root.
    pub place: Place,
    /// The name on the wire: relative to its root, with the root's name if there are several.
    pub name: String,
}

impl WorkspacePath {
    /// Returns the absolute path without links: for display and other programs, never for opening it.
    #[must_use]
    pub fn absolute(&self) -> PathBuf {
        self.root.path.join(self.place.names.iter().collect::<PathBuf>())
    }
}

/// The start of a listing or search.
#[derive(Debug)]
pub(crate) enum Start {
    /// A folder, by its components from the root, none of them a link.
    Folder(Arc<Root>, Vec<OsString>),
    /// A single file.
    File(WorkspacePath),
}

impl Roots {
    /// Opens these folders under this policy, which the settings file of each may tighten. A nested folder becomes part
    /// of the outer root. A folder that cannot be opened is left out if there is another, so that one dead folder in a
    /// shared configuration does not block the others.
    pub fn open(disk: Arc<dyn Disk>, specs: &[RootSpec], policy: &Policy) -> Result<Self, Problem> {
        check_names(specs)?;
        let (mut roots, mut absent): (Vec<Root>, Vec<(&RootSpec, Problem)>) = Default::default();
        for spec in specs {
            let mut root = match open_root(&*disk, spec, policy) {
                Ok(root) => root,
                Err(problem) => {
                    absent.push((spec, problem));
                    continue;
                }
            };
            if let Some(outer) = roots.iter_mut().find(|other| root.path.starts_with(&other.path)) {
                outer.warnings.extend(inner_warning(outer, &root));
                continue;
            }
            for inner in roots.extract_if(.., |other| other.path.starts_with(&root.path)) {
                let warning = inner_warning(&root, &inner);
                root.warnings.extend(warning);
            }
            roots.push(root);
        }
        if roots.is_empty() && !absent.is_empty() {
            return Err(absent.remove(0).1);
        }
        name_apart(&mut roots);
        let absent = absent.into_iter().map(|(spec, problem)| Absent::new(spec, &problem)).collect();
        Ok(Self { disk, roots: roots.into_iter().map(Arc::new).collect(), absent })
    }

    /// Returns the disk of the roots.
    #[must_use]
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// Returns all roots.
    #[must_use]
    pub fn all(&self) -> &[Arc<Root>] {
        &self.roots
    }

    /// Returns whether the policy of any root satisfies this.
    pub fn any(&self, holds: impl Fn(&Terms) -> bool) -> bool {
        self.roots.iter().any(|root| holds(root.policy.terms()))
    }

    /// Returns the folders that could not be opened as roots.
    #[must_use]
    pub fn absent(&self) -> &[Absent] {
        &self.absent
    }

    /// Checks that a root may be read right now.
    pub fn check_open(&self, root: &Root) -> Result<(), Problem> {
        root.check_path(&*self.disk)?;
        root.policy.may_read(&[]).map_err(Problem::new)
    }

    fn shown(&self) -> Vec<String> {
        self.roots
            .iter()
            .map(|root| match self.roots.len() {
                1 => root.path.display().to_string(),
                _ => format!("{} ({})", root.name, root.path.display()),
            })
            .collect()
    }

    fn outside(&self, written: &str, why: &'static str) -> Problem {
        Problem::new(Kind::PathOutsideWorkspace { roots: self.shown(), why }).at(written)
    }

    /// Resolves a written path to a file: absolute inside a root, `root:path`, or relative to the only root that has
    /// it.
    pub fn admit(&self, written: &str) -> Result<WorkspacePath, Problem> {
        self.admit_past(written, &|_| false)
    }

    /// Resolves a written path to a file as [`Self::admit`] does, past what may go.
    pub(crate) fn admit_past(&self, written: &str, may_go: MayGo<'_>) -> Result<WorkspacePath, Problem> {
        let understood = self.understood(written)?;
        let trimmed = &*understood;
        if trimmed.is_empty() || trimmed.contains('\0') {
            let message = "it must name a file, such as src/main.rs".into();
            return Err(Problem::new(Kind::InvalidArgument { name: "path".into(), message }));
        }
        check_length(trimmed)?;
        let is_after_slash = |end: &str| end.ends_with(is_separator);
        if is_after_slash(trimmed) || trimmed.strip_suffix('.').is_some_and(is_after_slash) {
            return Err(Problem::new(Kind::NotAFile {
                what: "written as a folder, with a slash at its end",
            })
            .at(written));
        }
        self.choose(
            trimmed,
            written,
            |root, inside| {
                let path = self.admit_in(root, inside, written, may_go)?;
                check_utf_8(&path, written)?;
                Ok(path)
            },
            |found| found.place.missing == 0,
        )
    }

    /// Resolves a written path to a folder or file, which must exist.
    pub(crate) fn admit_start(&self, written: &str) -> Result<Start, Problem> {
        let understood = self.understood(written)?;
        let trimmed = &*understood;
        if trimmed.contains('\0') {
            let message = "it must name a folder or a file, such as src".into();
            return Err(Problem::new(Kind::InvalidArgument { name: "path".into(), message }));
        }
        check_length(trimmed)?;
        self.choose(trimmed, written, |root, inside| self.start_in(root, inside, written), |_| true)
    }

    /// Returns the path that a written one means on this system.
    fn understood<'a>(&self, written: &'a str) -> Result<Cow<'a, str>, Problem> {
        let is_root = |name: &str| {
            self.roots.iter().any(|root| root.name == name)
                || self.absent.iter().any(|root| root.name == name)
        };
        written::understood(written, is_root).map_err(|why| {
            let message = format!("'{written}' is no path: {why}");
            Problem::new(Kind::InvalidArgument { name: "path".into(), message })
        })
    }

    /// Returns what `look` finds in the one root that a written path means.
    fn choose<T>(
        &self,
        trimmed: &str,
        written: &str,
        look: impl Fn(&Arc<Root>, &Path) -> Result<T, Problem>,
        exists: fn(&T) -> bool,
    ) -> Result<T, Problem> {
        let path = Path::new(trimmed);
        if path.is_absolute() {
            let (root, inside) = self
                .roots
                .iter()
                .find_map(|root| {
                    let inside = written::beneath(path, &root.path);
                    inside.or_else(|| written::beneath(path, &root.given)).map(|inside| (root, inside))
                })
                .ok_or_else(|| match self.absent.iter().find(|absent| path.starts_with(&absent.path)) {
                    Some(absent) => absent.problem.clone(),
                    None => self.outside(written, "it is in none of the roots"),
                })?;
            return look(root, inside);
        }
        // With only one root left, this would be a path in it.
        if let Some(absent) = self.absent_by_name(trimmed) {
            return Err(absent.problem.clone());
        }
        if self.roots.len() == 1 {
            return look(&self.roots[0], path);
        }
        if let Some((name, inside)) = trimmed.split_once(':')
            && let Some(root) = self.roots.iter().find(|root| root.name == name)
        {
            return look(root, Path::new(inside));
        }
        // A relative path among several roots means the only root that has it.
        let mut hits = Vec::new();
        let mut closed = Vec::new();
        let mut refused = None;
        for root in &self.roots {
            match look(root, path) {
                Ok(found) if exists(&found) => hits.push((root, found)),
                Ok(_) => {}
                Err(problem) => {
                    // The content of a closed root, or one replaced by another folder, is unknown: it may be the one
                    // that is meant.
                    closed.extend(self.check_open(root).is_err().then_some(root));
                    refused = refused.or(Some(problem));
                }
            }
        }
        match (hits.len(), refused) {
            (1, _) if closed.is_empty() => Ok(hits.remove(0).1),
            (0, Some(problem)) => Err(problem),
            _ => {
                let fits = |root: &Arc<Root>| {
                    let mut fitting = hits.iter().map(|(hit, _)| hit).chain(&closed);
                    hits.is_empty() || fitting.any(|fitting| Arc::ptr_eq(fitting, root))
                };
                let roots = self.roots.iter().filter(|root| fits(root));
                let candidates = roots.map(|root| format!("{}:{written}", root.name)).collect();
                Err(Problem::new(Kind::AmbiguousPath { candidates }).at(written))
            }
        }
    }

    /// Returns the folder that a path names before its colon, if it could not be opened and no root has this name.
    fn absent_by_name(&self, written: &str) -> Option<&Absent> {
        let (name, _) = written.split_once(':')?;
        let is_root = self.roots.iter().any(|root| root.name == name);
        self.absent.iter().find(|absent| absent.name == name && !is_root)
    }

    /// Resolves a path from a journal: plain components from the root, none of them a link. A file below another one, or where
    /// a folder is, is missing.
    pub(crate) fn admit_beneath(&self, root: &Arc<Root>, trail: &Trail) -> Result<WorkspacePath, Problem> {
        let inside: PathBuf = trail.names().iter().collect();
        let path = self.admit_in(root, &inside, &trail.shown(), &|_| true)?;
        if path.place.names != trail.names() {
            let what = "behind a link that was not there before";
            return Err(Problem::new(Kind::NotAFile { what }).at(&path.name));
        }
        Ok(path)
    }

    /// Returns the prefix of the names of a root's files, if there are several roots.
    pub(crate) fn prefix(&self, root: &Root) -> String {
        if self.roots.len() == 1 { String::new() } else { format!("{}:", root.name) }
    }

    fn admit_in(
        &self,
        root: &Arc<Root>,
        inside: &Path,
        written: &str,
        may_go: MayGo<'_>,
    ) -> Result<WorkspacePath, Problem> {
        root.check_path(&*self.disk)?;
        let place = self
            .resolve(root, inside)
            .or_else(|refusal| past_obstacle(&*self.disk, &root.dir, inside, refusal, may_go))
            .map_err(|refusal| self.refused(root, inside, refusal, written))?;
        // By its written name: the target of a link to something forbidden stays hidden.
        self.check_readable(root, &place.names).map_err(|kind| Problem::new(kind).at(written))?;
        let name = self.called(root, &place.shown());
        Ok(WorkspacePath { root: Arc::clone(root), place, name })
    }

    /// Checks that a path without links may be read, and leads into no state folder.
    fn check_readable(&self, root: &Root, names: &[OsString]) -> Result<(), Kind> {
        root.policy.may_read(names)?;
        state_folder::check_outside(&*self.disk, &root.dir, names)
    }

    /// Finds the place of a path in a root. A file that is missing while an edit has its name locked is looked for again, where
    /// an exchange leaves the name free for a moment.
    fn resolve(&self, root: &Root, inside: &Path) -> Result<Place, Refusal> {
        let once =
            || resolve(&*self.disk, &root.dir, &root.path, inside, &|names| root.policy.may_read(names));
        let mut place = once()?;
        for _ in 0..disk::LOOKS_AT_A_GAP {
            let may_be_there = self.disk.leaves_gaps() && place.missing == 1;
            if !may_be_there || !root.locks.is_locked(FileKey::new(&place.names)) {
                break;
            }
            thread::sleep(disk::GAP);
            place = once()?;
        }
        Ok(place)
    }

    /// Returns whether this path from the root leads to a place that may be revealed, existing or not.
    pub(crate) fn leads_to_readable(&self, root: &Root, path: &Path) -> bool {
        match self.resolve(root, path) {
            Ok(place) => self.check_readable(root, &place.names).is_ok(),
            Err(Refusal::IsFolder(names)) => self.check_readable(root, &names).is_ok(),
            Err(_) => false,
        }
    }

    fn start_in(&self, root: &Arc<Root>, inside: &Path, written: &str) -> Result<Start, Problem> {
        root.check_path(&*self.disk)?;
        match self.resolve(root, inside) {
            Err(Refusal::IsFolder(names)) => {
                self.check_readable(root, &names).map_err(|kind| Problem::new(kind).at(written))?;
                Ok(Start::Folder(Arc::clone(root), names))
            }
            Err(refusal) => Err(self.refused(root, inside, refusal, written)),
            Ok(_) => {
                let path = self.admit_in(root, inside, written, &|_| false)?;
                check_utf_8(&path, written)?;
                if path.place.missing > 0 {
                    return Err(Problem::new(EditKind::MissingOriginal).at(&path.name));
                }
                Ok(Start::File(path))
            }
        }
    }

    fn refused(&self, root: &Root, inside: &Path, refusal: Refusal, written: &str) -> Problem {
        // The reason why a forbidden path cannot be followed would reveal what is there.
        if let Err(kind) = root.policy.may_read(&as_written(inside)) {
            return Problem::new(kind).at(written);
        }
        match refusal {
            Refusal::Outside(why) => self.outside(written, why),
            Refusal::Forbidden(kind) => Problem::new(kind).at(written),
            Refusal::ParentIsFile(..) => {
                Problem::new(Kind::NotAFile { what: "below a file, not below a folder" }).at(written)
            }
            // It may have been written in another way than the rules know it by.
            Refusal::IsFolder(names) => match self.check_readable(root, &names) {
                Err(kind) => Problem::new(kind).at(written),
                Ok(()) => Problem::new(Kind::NotAFile { what: "a folder" }).at(written),
            },
            Refusal::Io(error) => io_problem("Opening the path", &error).at(written),
        }
    }

    /// Returns the name on the wire of a path from its root.
    pub(crate) fn called_at(&self, root: &Root, path: &Path) -> String {
        let names: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
        self.called(root, &names.join("/"))
    }

    fn called(&self, root: &Root, shown: &str) -> String {
        format!("{}{shown}", self.prefix(root))
    }
}

/// Refuses file names that are not UTF-8: two of them may look the same in an answer. A path gets to them only by a
/// link.
fn check_utf_8(path: &WorkspacePath, written: &str) -> Result<(), Problem> {
    if path.place.names.iter().all(|name| name.to_str().is_some()) {
        return Ok(());
    }
    let message = "it leads to a name that is not UTF-8, which cannot be written in a call. Do without this file, or ask \
                   the person to rename it";
    Err(Problem::new(Kind::InvalidArgument { name: "path".into(), message: message.into() }).at(written))
}

/// Refuses paths that are too long for any system, because they only cost time.
fn check_length(path: &str) -> Result<(), Problem> {
    let is_short = path.len() <= LONGEST && path.split(is_separator).count() <= DEEPEST;
    let message = || format!("it has more than {LONGEST} bytes or {DEEPEST} names; write it without '..'");
    if is_short {
        return Ok(());
    }
    Err(Problem::new(Kind::InvalidArgument { name: "path".into(), message: message() }))
}

/// Returns the components of a path as written, with `..` applied literally.
fn as_written(path: &Path) -> Vec<OsString> {
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_os_string()),
            Component::ParentDir => drop(names.pop()),
            _ => {}
        }
    }
    names
}

/// Returns the identity of an open folder.
fn inode_of(disk: &dyn Disk, dir: &Dir) -> io::Result<Inode> {
    disk.stat(dir, OsStr::new(".")).map(|stat| (stat.device, stat.inode))
}

/// Returns the identity of the folder at this path, to compare it with an open one, never to open it.
#[cfg(unix)]
fn inode_at(_: &dyn Disk, path: &Path) -> io::Result<Inode> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).map(|there| (there.dev(), there.ino()))
}

/// Returns the identity of the folder at this path, on systems where only an open folder has one.
#[cfg(not(unix))]
fn inode_at(disk: &dyn Disk, path: &Path) -> io::Result<Inode> {
    inode_of(disk, &Dir::open_ambient_dir(path, ambient_authority())?)
}

/// Returns why a root at this path must not be served, if there is a reason.
fn why_not_served(path: &Path, policy: &Policy) -> Option<String> {
    let by_content = || git_folder::around(path).or_else(|| state_folder::around(path));
    policy.refuses_root(path).or_else(by_content)
}

fn open_root(disk: &dyn Disk, spec: &RootSpec, policy: &Policy) -> Result<Root, Problem> {
    let shown = spec.path.display().to_string();
    let refused = |error: &std::io::Error| {
        Problem::new(Kind::NoWorkspace {
            reason: format!("The workspace folder {shown} cannot be opened: {error}."),
        })
    };
    let given = std::path::absolute(&spec.path).map_err(|error| refused(&error))?;
    let path = written::canonical(&given).map_err(|error| refused(&error))?;
    if let Some(why) = why_not_served(&path, policy) {
        let reason = format!("The workspace folder {shown} cannot be opened: {why}.");
        return Err(Problem::new(Kind::NoWorkspace { reason }));
    }
    let dir = Dir::open_ambient_dir(&path, ambient_authority()).map_err(|error| refused(&error))?;
    let inode = inode_of(disk, &dir).map_err(|error| refused(&error))?;
    let name = match &spec.name {
        Some(name) => name.clone(),
        None => name_of(&path),
    };
    let (policy, warnings) = policy.of_root(disk, &dir, &path);
    let (vault, locks) = (VaultCell::default(), RootLocks::default());
    Ok(Root { name, path, given, dir, inode, policy, warnings, vault, locks })
}

/// Returns the default name of a folder.
fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(|| "root".into(), |name| name.to_string_lossy().into_owned())
}

/// Refuses two folders with the same given name: by that name, the user could mean either.
fn check_names(specs: &[RootSpec]) -> Result<(), Problem> {
    for (at, spec) in specs.iter().enumerate() {
        if spec.name.is_some()
            && let Some(other) = specs[..at].iter().find(|other| other.name == spec.name)
        {
            let name = spec.name.as_deref().unwrap_or_default();
            let (one, other) = (other.path.display(), spec.path.display());
            let reason =
                format!("Two workspace folders have the name {name}: {one} and {other}. Name them apart.");
            return Err(Problem::new(Kind::NoWorkspace { reason }));
        }
    }
    Ok(())
}

/// Returns a warning about a root inside another, which becomes part of that; `None` if both are the same folder.
fn inner_warning(outer: &Root, inner: &Root) -> Option<String> {
    let (inner, outer) = (&inner.path, &outer.path);
    (inner != outer).then(|| {
        format!(
            "{} is inside {}, which is opened too, so it is no root of its own: its name and its .emend.toml are not used",
            inner.display(),
            outer.display()
        )
    })
}

/// Numbers folders with the same default name.
fn name_apart(roots: &mut [Root]) {
    for i in 1..roots.len() {
        let mut number = 2;
        while roots[..i].iter().any(|other| other.name == roots[i].name) {
            let plain = roots[i].name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('-');
            roots[i].name = format!("{plain}-{number}");
            number += 1;
        }
    }
}
