//! The snapshot of a file: bytes, text, version and metadata that belong together.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use emend_edit::Text;
use emend_edit::text::TextBuilder;

use crate::disk::fault::{io_problem, is_absent};
use crate::disk::{Disk, FileKind, GAP, LOOKS_AT_A_GAP, Stat};
use crate::files::effort::{Effort, NotDone};
use crate::files::roots::{Root, WorkspacePath};
use crate::problem::{EditKind, Kind, Problem, SeveralNames};

/// A file as read. Only this module creates one.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The content, with its version.
    pub text: Arc<Text>,
    /// The metadata of the very file that the content came from.
    pub stat: Stat,
}

/// Reads a file of any size that the policy allows. Returns `Ok(None)` if there is none.
pub(crate) fn read(disk: &dyn Disk, path: &WorkspacePath) -> Result<Option<Snapshot>, Problem> {
    open(disk, path)?.map(|opened| opened.read(disk, None)).transpose()
}

/// Reads a file, if that takes no more than this effort. Returns `Ok(None)` if there is none. If its bytes are those of the
/// text that is `known` of it, that is its text.
pub(crate) fn read_within(
    disk: &dyn Disk,
    path: &WorkspacePath,
    effort: Effort,
    known: Option<Arc<Text>>,
) -> Result<Option<Snapshot>, NotDone> {
    let Some(opened) = open(disk, path)? else { return Ok(None) };
    if opened.stat.size > effort.file_bytes() {
        return Err(NotDone::NotQuick);
    }
    Ok(Some(opened.read(disk, known)?))
}

/// The bytes of a file as they are read. As long as they are those of a known text, they are only compared, which takes a
/// fraction of hashing them and counting their lines.
#[derive(Default)]
struct SeenBytes<'a> {
    /// The bytes of the known text, while those that were read are the same.
    same: Option<&'a [u8]>,
    at: usize,
    builder: TextBuilder,
}

impl SeenBytes<'_> {
    fn push(&mut self, bytes: &[u8]) {
        if let Some(same) = self.same {
            if same.get(self.at..).is_some_and(|rest| rest.starts_with(bytes)) {
                self.at += bytes.len();
                return;
            }
            self.builder.push(&same[..self.at]);
            self.same = None;
        }
        self.builder.push(bytes);
    }

    /// Returns what is known of the bytes; `None` if they are those of the known text.
    fn finish(mut self) -> Option<TextBuilder> {
        match self.same {
            Some(same) if same.len() == self.at => return None,
            Some(same) => self.builder.push(&same[..self.at]),
            None => {}
        }
        Some(self.builder)
    }
}

/// An open file that may be read, and is not too large according to its metadata.
struct Opened<'a> {
    path: &'a WorkspacePath,
    file: File,
    stat: Stat,
}

impl Opened<'_> {
    fn read(self, disk: &dyn Disk, known: Option<Arc<Text>>) -> Result<Snapshot, Problem> {
        let Self { path, file, stat } = self;
        let limit = path.root.policy.terms().max_file_bytes;
        let mut seen = SeenBytes { same: known.as_ref().map(|known| known.raw()), ..SeenBytes::default() };
        let read = disk.read(&file, limit, &mut |bytes| seen.push(bytes));
        let others = seen.finish();
        let bytes = read.map_err(|error| io_problem("Reading", &error).at(&path.name))?;
        let length = bytes.len() as u64;
        if length > limit {
            return Err(Problem::new(EditKind::TooLarge { bytes: length, limit }).at(&path.name));
        }
        let text = match (known, others) {
            (Some(known), None) => known,
            (_, builder) => {
                let text = Text::from_builder(bytes, builder.unwrap_or_default());
                Arc::new(text.map_err(|kind| Problem::new(kind).at(&path.name))?)
            }
        };
        Ok(Snapshot { text, stat })
    }
}

/// Opens a file. Returns `Ok(None)` if there is none.
fn open<'a>(disk: &dyn Disk, path: &'a WorkspacePath) -> Result<Option<Opened<'a>>, Problem> {
    if path.place.missing > 0 {
        return Ok(None);
    }
    let failed = |error: &io::Error| io_problem("Reading", error).at(&path.name);
    let file = match open_named(disk, path) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        // A link has taken its place since the resolution, or it cannot be opened as a file at all (a socket).
        Err(error) => {
            let what = match disk.stat(&path.place.dir, path.place.file_name()) {
                Ok(stat) => kind_name(stat.kind),
                Err(_) => None,
            };
            return Err(match what {
                Some(what) => Problem::new(Kind::NotAFile { what }).at(&path.name),
                None => failed(&error),
            });
        }
    };
    let stat = disk.stat_file(&file).map_err(|error| failed(&error))?;
    if let Some(what) = kind_name(stat.kind) {
        return Err(Problem::new(Kind::NotAFile { what }).at(&path.name));
    }
    if stat.links > 1 {
        let names = &path.place.names;
        let other = ForbiddenFiles::default().by_other_name(disk, &path.root, names, &stat);
        let other = other
            .map_err(|error| io_problem("Looking for the other names of the file", &error).at(&path.name));
        if let Some(kind) = other? {
            return Err(Problem::new(kind).at(&path.name));
        }
    }
    let limit = path.root.policy.terms().max_file_bytes;
    if stat.size > limit {
        return Err(Problem::new(EditKind::TooLarge { bytes: stat.size, limit }).at(&path.name));
    }
    Ok(Some(Opened { path, file, stat }))
}

/// Opens the file of a path that was there when it was resolved.
fn open_named(disk: &dyn Disk, path: &WorkspacePath) -> io::Result<File> {
    let open = || disk.open_file(&path.place.dir, path.place.file_name());
    let mut opened = open();
    for _ in 0..LOOKS_AT_A_GAP {
        if !disk.leaves_gaps() || !opened.as_ref().is_err_and(is_absent) {
            break;
        }
        thread::sleep(GAP);
        opened = open();
    }
    opened
}

/// The device and the inode of a file.
type Identity = (u64, u64);

/// The forbidden files of visited folders, to recognise them by their other names. It lasts for one reading, listing or
/// search, and does not notice later changes.
#[derive(Debug, Default)]
pub(crate) struct ForbiddenFiles {
    folders: HashMap<(PathBuf, PathBuf), HashMap<Identity, Kind>>,
}

impl ForbiddenFiles {
    /// Returns why a file is forbidden by another of its names, in its folder or in one above. Names elsewhere could
    /// only be found by visiting every file.
    pub(crate) fn by_other_name(
        &mut self,
        disk: &dyn Disk,
        root: &Root,
        names: &[OsString],
        stat: &Stat,
    ) -> io::Result<Option<Kind>> {
        for end in (0..names.len()).rev() {
            let folder: PathBuf = names[..end].iter().collect();
            let known = match self.folders.entry((root.path.clone(), folder)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    let found = forbidden_in(disk, root, &names[..end])?;
                    unknown.insert(found)
                }
            };
            if let Some(kind) = known.get(&(stat.device, stat.inode)) {
                return Ok(Some(kind.clone()));
            }
        }
        Ok(None)
    }
}

/// The number of names in a root that are visited to find the other names of a file.
const NAMES: usize = 200_000;

/// Returns why a file with several names must not be overwritten, which changes it under all of them: one of its names
/// in the root must not be changed, or only with approval. Names outside the root do not matter.
pub(crate) fn why_not_by_all_names(disk: &dyn Disk, path: &WorkspacePath, stat: &Stat) -> Option<Kind> {
    let (root, mut missing, mut left) = (&path.root, stat.links.saturating_sub(1), NAMES);
    let mut waiting = vec![Vec::new()];
    while let Some(folder) = waiting.pop().filter(|_| missing > 0) {
        let Ok(dir) = disk.open_dir(&root.dir, &folder.iter().collect::<PathBuf>()) else { continue };
        for (name, kind) in disk.entries(&dir, left).unwrap_or_default() {
            left = left.saturating_sub(1);
            let is_it =
                kind == FileKind::File && disk.stat(&dir, &name).is_ok_and(|found| found.is_same_file(stat));
            let names: Vec<OsString> = folder.iter().cloned().chain([name]).collect();
            if is_it && names != path.place.names {
                missing = missing.saturating_sub(1);
                match root.policy.may_commit_without_approval(&names) {
                    Ok(()) | Err(Kind::NoEdits { .. }) => {}
                    // It is required by the mode, not because of this name.
                    Err(Kind::ApprovalNeeded { .. })
                        if root.policy.may_commit_without_approval(&path.place.names).is_err() => {}
                    Err(Kind::ApprovalNeeded { .. }) => {
                        let rule = "it is another name of a file whose changes need a person's approval";
                        return Some(Kind::ReadOnlyPath { rule: rule.into() });
                    }
                    Err(kind) => return Some(kind),
                }
            }
            if kind == FileKind::Dir {
                waiting.push(names);
            }
        }
        if left == 0 {
            return Some(Kind::HardLinked { names: stat.links, why: SeveralNames::NotAllFound });
        }
    }
    None
}

/// Returns the forbidden files with several names directly in this folder.
fn forbidden_in(disk: &dyn Disk, root: &Root, folder: &[OsString]) -> io::Result<HashMap<Identity, Kind>> {
    let dir = disk.open_dir(&root.dir, &folder.iter().collect::<PathBuf>())?;
    let mut found = HashMap::new();
    let mut names = folder.to_vec();
    for name in disk.names(&dir)? {
        names.push(name);
        let allowed = root.policy.may_read(&names);
        let Some(name) = names.pop() else { continue };
        if let Err(kind) = allowed
            && let Ok(stat) = disk.stat(&dir, &name)
            && stat.links > 1
        {
            found.insert((stat.device, stat.inode), kind);
        }
    }
    Ok(found)
}

fn kind_name(kind: FileKind) -> Option<&'static str> {
    match kind {
        FileKind::File => None,
        FileKind::Dir => Some("a folder"),
        FileKind::Link => Some("a link"),
        FileKind::Other(what) => Some(what),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Policy;
    use crate::files::roots::{RootSpec, Roots};

    #[test]
    fn what_is_read_is_the_known_text_or_whatever_else_it_is() {
        let known = "one\ntwo\n";
        for read in
            [known, "", "one\n", "one\ntwo\nthree\n", "ONE\ntwo\n", "one\ntwO\n", "one\ntwo", "\u{e4}\n"]
        {
            for piece in [1, 3, 5, 100] {
                let mut seen = SeenBytes { same: Some(known.as_bytes()), ..SeenBytes::default() };
                read.as_bytes().chunks(piece).for_each(|bytes| seen.push(bytes));
                let builder = seen.finish();
                assert_eq!(builder.is_none(), read == known, "{read:?}");
                let Some(builder) = builder else { continue };
                let text = Text::from_builder(read.into(), builder).unwrap();
                let whole = Text::new(read.into()).unwrap();
                assert_eq!(
                    (text.version(), text.line_count()),
                    (whole.version(), whole.line_count()),
                    "{read:?}"
                );
            }
        }
        let mut unknown = SeenBytes::default();
        unknown.push(b"one\n");
        assert!(unknown.finish().is_some(), "nothing is known of it");
    }

    #[test]
    fn each_folder_is_looked_through_once_for_the_other_names_of_forbidden_files() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("sub")).unwrap();
        for (secret, same) in [(".env", "sub/a"), (".env.local", "b"), ("harmless", "sub/c")] {
            std::fs::write(at(secret), "x").unwrap();
            std::fs::hard_link(at(secret), at(same)).unwrap();
        }
        let disk = crate::disk::for_this_machine();
        let spec = RootSpec { name: None, path: folder.path().into() };
        let roots = Roots::open(disk.clone(), &[spec], &Policy::default()).unwrap();
        let mut forbidden = ForbiddenFiles::default();
        let mut is_forbidden = |path: &str| {
            let names: Vec<OsString> = path.split('/').map(OsString::from).collect();
            let dir = disk.open_dir(&roots.all()[0].dir, Path::new("")).unwrap();
            let stat = disk.stat(&dir, path.as_ref()).unwrap();
            forbidden.by_other_name(&*disk, &roots.all()[0], &names, &stat).unwrap().is_some()
        };
        for _ in 0..2 {
            assert!(is_forbidden("sub/a") && is_forbidden("b") && !is_forbidden("sub/c"));
        }
        assert_eq!(forbidden.folders.len(), 2);
        // Only forbidden files are stored and compared.
        assert_eq!(forbidden.folders.values().map(HashMap::len).sum::<usize>(), 2);
    }
}
