//! Listing: the content of a folder, as deep as fits into an answer, or the files that match a glob.
//!
//! What does not fit is counted, never silently left out: a folder whose entries do not fit stands for all files below
//! it. All of them are visited anyway, so that the counts are right.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use crate::problem::Problem;

use crate::disk::FileKind;
use crate::files::roots::{Root, Roots, Start};
use crate::files::snapshot::ForbiddenFiles;
use crate::files::walk::{self, Folder, Unseen, Walk, WalkScope, Within};

/// The limits of a listing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListLimits {
    /// The number of lines.
    pub(crate) lines: usize,
    /// The total size of their paths in bytes.
    pub(crate) bytes: usize,
    /// The limits of the walk.
    pub(crate) walk: walk::WalkLimits,
}

impl Default for ListLimits {
    fn default() -> Self {
        Self { lines: 500, bytes: 32_000, walk: walk::WalkLimits::default() }
    }
}

/// The listing of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// The entries shown, in the order of their paths.
    pub entries: Vec<Entry>,
    /// The number of files; with a glob, of matching ones.
    pub files: usize,
    /// The number of these that are neither shown nor counted at a folder that is.
    pub left_out: usize,
    /// The part that was not visited.
    pub unseen: Unseen,
}

/// A line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name by which other tools address it.
    pub name: String,
    /// The kind of entry.
    pub what: What,
}

/// The kind of an entry in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A file with its size, if known.
    File(Option<u64>),
    /// A folder whose content is not shown, with the number of files in and below it.
    Folder(usize),
    /// A link, which is not followed, with its target if that is short and not forbidden.
    Link(Option<String>),
    /// Something else.
    Other(&'static str),
    /// Something with a name that is not UTF-8, which no call can express.
    Unnameable,
}

/// The length of the longest link target that is shown, in bytes.
const TARGET: usize = 256;

/// An entry before it gets its name.
struct Line {
    root: Arc<Root>,
    path: PathBuf,
    what: What,
    /// Whether its children are shown instead.
    is_open: bool,
}

/// Lists what is in the scope down to this depth; without one, as deep as fits.
pub(crate) fn list(
    roots: &Roots,
    scope: &WalkScope<'_>,
    depth: Option<usize>,
    limits: &ListLimits,
) -> Result<Listing, Problem> {
    let disk = &**roots.disk();
    let within = Within::new(scope, roots)?;
    let mut walk = Walk::new(disk, scope.cancelled, limits.walk);
    let mut look = Look { roots, forbidden: ForbiddenFiles::default() };
    let mut starts = Vec::new();
    for start in &within.starts {
        match start {
            Start::Folder(root, names) => {
                let path: PathBuf = names.iter().collect();
                walk.start(root, &path, starts.len());
                starts.push(Line { root: Arc::clone(root), path, what: What::Folder(0), is_open: false });
            }
            Start::File(path) => {
                let place = &path.place;
                let kind = disk.stat(&place.dir, place.file_name()).map_or(FileKind::File, |stat| stat.kind);
                let what = look.what(&path.root, &place.dir, &place.names.iter().collect::<PathBuf>(), kind);
                let entries = vec![Entry { name: path.name.clone(), what }];
                return Ok(Listing { entries, files: 1, ..Listing::default() });
            }
        }
    }
    let room = Room { lines: limits.lines, bytes: limits.bytes };
    let (mut lines, mut listing) = if within.has_glob() {
        matching(&mut walk, &mut look, &within, depth, room)?
    } else {
        // Several roots are only named; their content takes a second call.
        let depth = depth.unwrap_or(if starts.len() > 1 { 0 } else { usize::MAX });
        outline(&mut walk, &mut look, starts, depth, room)?
    };
    lines.sort_by(|one, other| (&one.root.name, &one.path).cmp(&(&other.root.name, &other.path)));
    listing.entries = lines.into_iter().map(|line| line.entry(roots)).collect();
    listing.unseen = walk.unseen;
    Ok(listing)
}

/// The room left in an answer.
struct Room {
    lines: usize,
    bytes: usize,
}

impl Room {
    /// Takes room for this many lines with paths of this many bytes, if there is enough.
    fn take(&mut self, lines: usize, bytes: usize) -> bool {
        let has = self.lines >= lines && self.bytes >= bytes;
        if has {
            self.lines -= lines;
            self.bytes -= bytes;
        }
        has
    }

    /// Takes room for what is shown besides the path.
    fn take_off(&mut self, what: &What) {
        if let What::Link(Some(target)) = what {
            self.bytes = self.bytes.saturating_sub(target.len());
        }
    }

    /// Takes room for all the entries of a folder, if there is enough.
    fn take_all(&mut self, folder: &Folder) -> bool {
        let own = folder.path.as_os_str().len() + 1;
        let bytes = folder.entries.iter().map(|(name, _)| own + name.len()).sum();
        self.take(folder.entries.len(), bytes)
    }
}

/// Returns the files that match the glob.
fn matching(
    walk: &mut Walk<'_>,
    look: &mut Look<'_>,
    within: &Within,
    depth: Option<usize>,
    mut room: Room,
) -> Result<(Vec<Line>, Listing), Problem> {
    let (mut lines, mut files) = (Vec::new(), 0);
    while let Some(folder) = walk.next()? {
        for (name, kind) in &folder.entries {
            if *kind == FileKind::Dir {
                if depth.is_none_or(|depth| folder.depth + 1 < depth) {
                    walk.enter(&folder, name, 0);
                }
                continue;
            }
            let path = folder.path.join(name);
            if within.takes(&path) {
                files += 1;
                if room.take(1, path.as_os_str().len()) {
                    let what = look.what(&folder.root, &folder.dir, &path, *kind);
                    room.take_off(&what);
                    lines.push(Line { root: Arc::clone(&folder.root), path, what, is_open: false });
                }
            }
        }
    }
    let left_out = files - lines.len();
    Ok((lines, Listing { files, left_out, ..Listing::default() }))
}

/// Returns everything: a folder is opened if all its entries fit. Only the start may be cut off.
fn outline(
    walk: &mut Walk<'_>,
    look: &mut Look<'_>,
    starts: Vec<Line>,
    depth: usize,
    mut room: Room,
) -> Result<(Vec<Line>, Listing), Problem> {
    let mut lines = starts;
    let mut files = 0;
    while let Some(folder) = walk.next()? {
        let owner = folder.tag;
        // The content of a closed folder is counted at that folder.
        let is_own = lines[owner].path == folder.path;
        let opens = is_own && folder.depth < depth && (folder.depth == 0 || room.take_all(&folder));
        lines[owner].is_open |= opens && (folder.depth == 0 || !folder.entries.is_empty());
        for (name, kind) in &folder.entries {
            let is_dir = *kind == FileKind::Dir;
            let path = folder.path.join(name);
            let mut tag = owner;
            files += usize::from(!is_dir);
            if opens && (folder.depth > 0 || room.take(1, path.as_os_str().len())) {
                tag = lines.len();
                let what = look.what(&folder.root, &folder.dir, &path, *kind);
                room.take_off(&what);
                lines.push(Line { root: Arc::clone(&folder.root), path, what, is_open: false });
            } else if let What::Folder(files) = &mut lines[owner].what {
                *files += usize::from(!is_dir);
            }
            if is_dir {
                walk.enter(&folder, name, tag);
            }
        }
    }
    let hidden = |line: &Line| match line.what {
        What::Folder(files) if line.is_open => files,
        _ => 0,
    };
    let left_out = lines.iter().map(hidden).sum();
    lines.retain(|line| !line.is_open);
    Ok((lines, Listing { files, left_out, ..Listing::default() }))
}

impl Line {
    fn entry(self, roots: &Roots) -> Entry {
        let is_folder = matches!(self.what, What::Folder(_)) && !self.path.as_os_str().is_empty();
        let name = roots.called_at(&self.root, &self.path) + if is_folder { "/" } else { "" };
        Entry { name, what: self.what }
    }
}

/// The lookup of what is shown about entries.
struct Look<'a> {
    roots: &'a Roots,
    forbidden: ForbiddenFiles,
}

impl Look<'_> {
    fn what(&mut self, root: &Root, dir: &Dir, path: &Path, kind: FileKind) -> What {
        let name = path.file_name().unwrap_or_default();
        match kind {
            FileKind::Dir => What::Folder(0),
            _ if path.to_str().is_none() => What::Unnameable,
            FileKind::File => What::File(self.size(root, dir, path, name)),
            FileKind::Link => What::Link(self.target(root, dir, path, name)),
            FileKind::Other(what) => What::Other(what),
        }
    }

    /// Returns the size of a file, unless it is known to be forbidden by another of its names.
    fn size(&mut self, root: &Root, dir: &Dir, path: &Path, name: &OsStr) -> Option<u64> {
        let disk = &**self.roots.disk();
        let stat = disk.stat(dir, name).ok()?;
        if stat.links > 1 {
            let names: Vec<OsString> = path.iter().map(OsString::from).collect();
            let forbidden = self.forbidden.by_other_name(disk, root, &names, &stat);
            return forbidden.is_ok_and(|by| by.is_none()).then_some(stat.size);
        }
        Some(stat.size)
    }

    fn target(&self, root: &Root, dir: &Dir, path: &Path, name: &OsStr) -> Option<String> {
        let target = self.roots.disk().read_link(dir, name).ok()?;
        let is_short = target.as_os_str().len() <= TARGET;
        (is_short && self.roots.leads_to_readable(root, path)).then(|| target.to_string_lossy().into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::roots::RootSpec;

    /// Returns the lines of a listing of these files with this many lines of room, and the number left out.
    fn listed(
        files: &[&str],
        lines: usize,
        depth: Option<usize>,
        glob: Option<&str>,
    ) -> (Vec<String>, usize) {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let spec = RootSpec { name: None, path: folder.path().into() };
        let roots = Roots::open(crate::disk::for_this_machine(), &[spec], &crate::Policy::default()).unwrap();
        let scope = WalkScope { path: None, glob, cancelled: &|| false };
        let listing = list(&roots, &scope, depth, &ListLimits { lines, ..ListLimits::default() }).unwrap();
        assert_eq!(listing.files, if glob.is_none() { files.len() } else { listing.files });
        let shown = listing.entries.into_iter().map(|entry| match entry.what {
            What::Folder(files) => format!("{} {files}", entry.name),
            _ => entry.name,
        });
        (shown.collect(), listing.left_out)
    }

    const TREE: [&str; 6] = ["a/x/1", "a/x/2", "a/3", "b/4", "b/y/z/5", "c"];

    #[test]
    fn everything_is_shown_if_it_fits() {
        let (shown, left_out) = listed(&TREE, 20, None, None);
        assert_eq!(shown, ["a/3", "a/x/1", "a/x/2", "b/4", "b/y/z/5", "c"]);
        assert_eq!(left_out, 0);
    }

    #[test]
    fn a_folder_that_does_not_fit_is_counted() {
        let at = |lines| listed(&TREE, lines, None, None);
        assert_eq!(at(10), (["a/3", "a/x/1", "a/x/2", "b/4", "b/y/z/ 1", "c"].map(String::from).into(), 0));
        assert_eq!(at(8), (["a/3", "a/x/ 2", "b/4", "b/y/z/ 1", "c"].map(String::from).into(), 0));
        assert_eq!(at(6), (["a/3", "a/x/ 2", "b/ 2", "c"].map(String::from).into(), 0));
        assert_eq!(at(3), (["a/ 3", "b/ 2", "c"].map(String::from).into(), 0));
    }

    #[test]
    fn of_the_start_the_rest_is_counted() {
        assert_eq!(listed(&TREE, 2, None, None), (vec!["a/ 3".into(), "b/ 2".into()], 1));
        assert_eq!(listed(&TREE, 1, None, None), (vec!["a/ 3".into()], 3));
    }

    #[test]
    fn a_depth_is_kept_to() {
        assert_eq!(listed(&TREE, 20, Some(1), None).0, ["a/ 3", "b/ 2", "c"]);
        assert_eq!(listed(&TREE, 20, Some(2), None).0, ["a/3", "a/x/ 2", "b/4", "b/y/ 1", "c"]);
    }

    #[test]
    fn a_glob_takes_names_or_paths() {
        assert_eq!(listed(&TREE, 20, None, Some("[1-4]")).0, ["a/3", "a/x/1", "a/x/2", "b/4"]);
        assert_eq!(listed(&TREE, 20, None, Some("a/*")).0, ["a/3"]);
        assert_eq!(listed(&TREE, 20, None, Some("a/")).0, ["a/3", "a/x/1", "a/x/2"]);
        assert_eq!(listed(&TREE, 20, None, Some("**/x/*")).0, ["a/x/1", "a/x/2"]);
        assert_eq!(listed(&TREE, 20, None, Some("!{a,b}/**")).0, ["c"]);
        assert_eq!(listed(&TREE, 20, Some(2), Some("[1-5]")).0, ["a/3", "b/4"]);
        assert_eq!(listed(&TREE, 1, None, Some("[1-4]")), (vec!["a/3".into()], 3));
    }
}
