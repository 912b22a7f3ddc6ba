//! Path resolution: from a path as written to a place that no link can redirect.
//!
//! Names are guesses, the handle is the proof: the path is followed by name, link by link, to a path without links;
//! then the folder at that path is opened beneath the root **without following any link**. If something was swapped
//! meanwhile, that fails, and the resolution starts again.
//!
//! Every step is checked against the policy before the disk is read: what lies below a forbidden path, or whether
//! anything does, stays hidden, even from a `..` or a link that leads back out of it.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use crate::problem::Kind;

use crate::disk::fault::{is_absent, leads_elsewhere};
use crate::disk::{Disk, FileKind};
use crate::files::trail::Trail;
use crate::files::written::{beneath, plain};
use crate::policy::folded::folded;

/// The number of links that a path may have; the kernel's own limit.
const LINKS: usize = 40;
/// The number of components that a path may have, including those of its links.
const STEPS: usize = 1024;
/// The number of attempts when something is swapped during a resolution.
const TRIES: usize = 16;

/// A place beneath a root: an open folder and a name in it that is no link, or the names of what is missing.
#[derive(Debug)]
pub struct Place {
    /// Every component from the root to the file, none of them a link.
    pub names: Vec<OsString>,
    /// The folder of the last existing component.
    pub dir: Arc<Dir>,
    /// Whether the path as written named a link to this file.
    pub through_link: bool,
    /// The number of trailing components that do not exist: 0 for an existing file, 1 for a new one in `dir`, more if
    /// folders are missing too.
    pub missing: usize,
    /// Whether the first missing component names something that is to be out of the way by then: a file, or for the last
    /// component a folder.
    pub is_obstructed: bool,
}

impl Place {
    fn new(names: Vec<OsString>, dir: Dir, missing: usize) -> Self {
        Self { names, dir: Arc::new(dir), through_link: false, missing, is_obstructed: false }
    }

    /// Returns the name of the file in its folder.
    #[must_use]
    pub fn file_name(&self) -> &OsStr {
        self.names.last().map_or(OsStr::new("."), OsString::as_os_str)
    }

    /// Returns the missing folders of the path, outer ones first.
    pub(crate) fn missing_folders(&self) -> Vec<Trail> {
        let first = self.names.len() - self.missing.max(1);
        (first + 1..self.names.len()).map(|end| Trail::new(&self.names[..end])).collect()
    }

    /// Returns the path from the root for display, with slashes.
    #[must_use]
    pub fn shown(&self) -> String {
        let names: Vec<_> = self.names.iter().map(|name| name.to_string_lossy()).collect();
        names.join("/")
    }
}

/// The reason why a path has no place.
#[derive(Debug)]
pub enum Refusal {
    /// The path leaves the root.
    Outside(&'static str),
    /// The path leads through a forbidden place.
    Forbidden(Kind),
    /// A component of the path is a file: all components, and how many lead to the file.
    ParentIsFile(Vec<OsString>, usize),
    /// The path names the root itself or another folder: its components from the root, none of them a link.
    IsFolder(Vec<OsString>),
    /// An error of the operating system.
    Io(io::Error),
}

/// A check whether a place may be revealed, by its components from the root.
pub(crate) type Allowed<'a> = &'a dyn Fn(&[OsString]) -> Result<(), Kind>;

/// A check whether an edit may take away the file or the folder with these components, which is in the way of another file.
pub(crate) type MayGo<'a> = &'a dyn Fn(&[OsString]) -> bool;

/// Finds the place of `path`, which is relative to the root.
pub(crate) fn resolve(
    disk: &dyn Disk,
    root: &Dir,
    canonical: &Path,
    path: &Path,
    allowed: Allowed<'_>,
) -> Result<Place, Refusal> {
    let mut last = None;
    for _ in 0..TRIES {
        match walk(disk, root, canonical, path, allowed) {
            Ok(place) => return Ok(respelled(disk, root, place)),
            // A new link, or a missing folder: something was swapped meanwhile.
            Err(Refusal::Io(error)) if was_swapped(&error) => last = Some(error),
            Err(Refusal::IsFolder(names)) => {
                return Err(Refusal::IsFolder(folder_respelled(disk, root, names)));
            }
            Err(refusal) => return Err(refusal),
        }
    }
    Err(Refusal::Io(last.unwrap_or_else(|| io::Error::other("the path kept changing"))))
}

/// Returns the place of a refused path for when what is in its way has gone. A path through a link has none.
pub(crate) fn past_obstacle(
    disk: &dyn Disk,
    root: &Dir,
    path: &Path,
    refusal: Refusal,
    may_go: MayGo<'_>,
) -> Result<Place, Refusal> {
    let (names, upto) = match &refusal {
        Refusal::IsFolder(names) => (names, names.len()),
        Refusal::ParentIsFile(names, upto) => (names, *upto),
        _ => return Err(refusal),
    };
    if upto == 0
        || !may_go(&names[..upto])
        || !path.components().eq(names.iter().collect::<PathBuf>().components())
    {
        return Err(refusal);
    }
    let names = names.clone();
    let dir = disk.open_dir(root, &names[..upto - 1].iter().collect::<PathBuf>()).map_err(Refusal::Io)?;
    let missing = names.len() - (upto - 1);
    Ok(Place { is_obstructed: true, ..Place::new(names, dir, missing) })
}

/// Gives a place the names that the disk has, where it takes other spellings for the same: so that one file has one name
/// here, and an edit does not give it another.
fn respelled(disk: &dyn Disk, root: &Dir, mut place: Place) -> Place {
    let there = place.names.len() - place.missing;
    let parents = place.names.len() - place.missing.max(1);
    take_spellings(disk, root, &place.dir, &mut place.names[..parents]);
    if there > parents
        && let Some(path) = disk.spelled(&place.dir, place.file_name())
        && let Some(real) = path.file_name()
        // Where the disk does not look into the folder, it may know a file by another name of its own.
        && (cfg!(windows) || is_same_name(place.file_name(), real))
    {
        place.names[parents] = real.to_owned();
    }
    place
}

/// Gives a folder the names that the disk has: a rule for its long name holds for its short one too.
fn folder_respelled(disk: &dyn Disk, root: &Dir, mut names: Vec<OsString>) -> Vec<OsString> {
    // Most systems take no other spellings.
    if disk.spelled(root, OsStr::new(".")).is_some()
        && let Ok(dir) = disk.open_dir(root, &names.iter().collect::<PathBuf>())
    {
        take_spellings(disk, root, &dir, &mut names);
    }
    names
}

/// Gives the names of an open folder those that the disk has, each where it is another spelling or the long form of the same
/// name: the folder may have been moved meanwhile.
fn take_spellings(disk: &dyn Disk, root: &Dir, dir: &Dir, names: &mut [OsString]) {
    let Some(path) = disk.spelled(dir, OsStr::new(".")) else { return };
    let real: Vec<&OsStr> = path.iter().collect();
    let Some(above) = real.len().checked_sub(names.len()) else { return };
    for (at, real) in real[above..].iter().copied().enumerate() {
        if is_same_name(&names[at], real) || is_short_of(disk, root, &names[..=at], real) {
            names[at] = real.to_owned();
        }
    }
}

/// Returns whether two names are spellings of one.
fn is_same_name(one: &OsStr, other: &OsStr) -> bool {
    let plain = |name: &OsStr| folded(&name.to_string_lossy());
    one == other || plain(one) == plain(other)
}

/// Returns whether the last of these names is another one of a folder whose own name is `real`. Its folder knows that, whatever
/// the system makes of long names (`PROGRA~1`), or a person has given it.
fn is_short_of(disk: &dyn Disk, root: &Dir, names: &[OsString], real: &OsStr) -> bool {
    let Some((name, parents)) = names.split_last() else { return false };
    let Ok(dir) = disk.open_dir(root, &parents.iter().collect::<PathBuf>()) else { return false };
    disk.spelled(&dir, name).is_some_and(|path| path.file_name() == Some(real))
}

fn was_swapped(error: &io::Error) -> bool {
    leads_elsewhere(error) || is_absent(error)
}

fn walk(
    disk: &dyn Disk,
    root: &Dir,
    canonical: &Path,
    path: &Path,
    allowed: Allowed<'_>,
) -> Result<Place, Refusal> {
    let plain: Option<Vec<OsString>> = path
        .components()
        .filter(|component| !matches!(component, Component::CurDir))
        .map(|component| match component {
            Component::Normal(name) => Some(name.to_os_string()),
            _ => None,
        })
        .collect();
    // Most paths have neither links nor `..`: one call opens the folder, and one checks the file.
    if let Some(names) = plain
        && let Some((name, parents)) = names.split_last()
        && allowed(&names).is_ok()
        && let Ok(dir) = disk.open_dir(root, &parents.iter().collect::<PathBuf>())
    {
        match disk.stat(&dir, name) {
            Ok(stat) if stat.kind == FileKind::Dir => return Err(Refusal::IsFolder(names)),
            Ok(stat) if stat.kind != FileKind::Link => {
                return Ok(Place::new(names, dir, 0));
            }
            Err(error) if is_absent(&error) => {
                return Ok(Place::new(names, dir, 1));
            }
            _ => {}
        }
    }
    follow(disk, root, canonical, path, allowed)
}

/// Follows the path component by component, to a path without links.
fn follow(
    disk: &dyn Disk,
    root: &Dir,
    canonical: &Path,
    path: &Path,
    allowed: Allowed<'_>,
) -> Result<Place, Refusal> {
    let mut todo: VecDeque<OsString> = steps(path)?.into();
    let mut names: Vec<OsString> = Vec::new();
    let mut dir = disk.open_dir(root, Path::new("")).map_err(Refusal::Io)?;
    let (mut links, mut taken) = (0, 0);
    let mut through_link = false;
    // The number of remaining steps that belong to the path itself, not to a link.
    let mut own = todo.len();
    while let Some(step) = todo.pop_front() {
        let is_own = todo.len() < own;
        own = own.min(todo.len());
        taken += 1;
        if taken > STEPS {
            return Err(Refusal::Outside("it goes through too many folders"));
        }
        if step == ".." {
            if names.pop().is_none() {
                return Err(Refusal::Outside(match is_own {
                    true => "it climbs above the root with '..'",
                    false => "a link on the way leaves it",
                }));
            }
            dir = disk.open_dir(root, &names.iter().collect::<PathBuf>()).map_err(Refusal::Io)?;
            continue;
        }
        names.push(step.clone());
        allowed(&names).map_err(Refusal::Forbidden)?;
        names.pop();
        let stat = match disk.stat(&dir, &step) {
            Ok(stat) => stat,
            Err(error) if is_absent(&error) => {
                let missing = 1 + todo.len();
                if todo.contains(&OsString::from("..")) {
                    return Err(Refusal::Outside("it has '..' after a folder that does not exist"));
                }
                names.push(step);
                names.extend(todo);
                allowed(&names).map_err(Refusal::Forbidden)?;
                return Ok(Place { through_link, ..Place::new(names, dir, missing) });
            }
            Err(error) => return Err(Refusal::Io(error)),
        };
        match stat.kind {
            FileKind::Link => {
                links += 1;
                through_link |= todo.is_empty();
                if links > LINKS {
                    return Err(Refusal::Outside("it goes through too many links"));
                }
                let target = plain(disk.read_link(&dir, &step).map_err(Refusal::Io)?);
                let inside = if target.is_absolute() {
                    // An absolute link into the root continues from the root.
                    let inside =
                        beneath(&target, canonical).ok_or(Refusal::Outside("a link on the way leaves it"))?;
                    names.clear();
                    dir = disk.open_dir(root, Path::new("")).map_err(Refusal::Io)?;
                    inside
                } else {
                    &target
                };
                for step in steps(inside)?.into_iter().rev() {
                    todo.push_front(step);
                }
            }
            FileKind::Dir => {
                names.push(step);
                if todo.is_empty() {
                    break;
                }
                dir = disk.open_dir(root, &names.iter().collect::<PathBuf>()).map_err(Refusal::Io)?;
            }
            FileKind::File | FileKind::Other(_) if todo.is_empty() => {
                names.push(step);
                return Ok(Place { through_link, ..Place::new(names, dir, 0) });
            }
            FileKind::File | FileKind::Other(_) => {
                names.push(step);
                let upto = names.len();
                names.extend(todo);
                return Err(Refusal::ParentIsFile(names, upto));
            }
        }
    }
    Err(Refusal::IsFolder(names))
}

fn steps(path: &Path) -> Result<Vec<OsString>, Refusal> {
    path.components()
        .filter(|component| !matches!(component, Component::CurDir))
        .map(|component| match component {
            Component::Normal(name) => Ok(name.to_os_string()),
            Component::ParentDir => Ok(OsString::from("..")),
            _ => Err(Refusal::Outside("it is absolute")),
        })
        .collect()
}

#[cfg(test)]
mod tests;
