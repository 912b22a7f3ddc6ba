//! Putting files back, after an error or during recovery from a crash.
//!
//! It looks only at the disk, so it can be stopped anywhere and run again. A file is **ours** if it is the one that was
//! staged, with the content that it was given; nothing else is moved away from a name. What comes out of an exchange is
//! checked again: if it is not the expected file, another program replaced that at this moment, and its file goes back.
//! No file of unknown content is deleted.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;

use emend_edit::Version;
use emend_edit::version::Hashing;

use super::At;
use super::journal::{Change, Emptied, Entry};
use super::watch::{Patience, Watch, open_to_overwrite};
use crate::disk::fault::{is_absent, leads_elsewhere};
use crate::disk::{Disk, FileKind, Stat};
use crate::problem::FileState;

/// The number of times an exchange is repeated because another program replaced a file meanwhile.
const RACES: usize = 64;

/// An entry of a journal with its open folders.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) entry: Entry,
    /// The name of the file in messages.
    pub(crate) shown: String,
    /// The folder of the file; `None` if it does not exist.
    pub(crate) dir: Option<Arc<Dir>>,
    /// The former folder of the file.
    pub(crate) from: Option<Arc<Dir>>,
    /// The place of the staged file, until it is placed.
    pub(crate) staged: (Arc<Dir>, OsString),
    /// The place of the displaced file, afterwards.
    pub(crate) displaced: (Arc<Dir>, OsString),
}

impl Site {
    pub(super) fn staged(&self) -> At<'_> {
        (&self.staged.0, &self.staged.1)
    }

    pub(super) fn displaced(&self) -> At<'_> {
        (&self.displaced.0, &self.displaced.1)
    }

    /// Returns whether a new file is staged for it.
    pub(super) fn has_staged(&self) -> bool {
        !matches!(self.entry.change, Change::Delete | Change::Rename)
    }

    fn target(&self) -> Option<At<'_>> {
        let (_, name) = self.entry.path.split();
        self.dir.as_ref().map(|dir| (&**dir, name.as_os_str()))
    }

    /// Gives its old path another folder, where the one that it had was removed.
    fn move_old_to(&mut self, dir: Option<&Arc<Dir>>) {
        self.from = dir.cloned();
        if self.entry.change == Change::Delete {
            self.dir = dir.cloned();
        }
    }

    fn old(&self) -> Option<At<'_>> {
        let (_, name) = self.entry.from.as_ref()?.split();
        self.from.as_ref().map(|dir| (&**dir, name.as_os_str()))
    }
}

/// A folder that a transaction created.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) parent: Arc<Dir>,
    pub(crate) name: OsString,
}

/// Puts every file back, last one first. What an edit puts somewhere goes before what it took away comes back: a folder
/// may be where a file was, and a file where a folder was.
pub(crate) fn put_back(
    disk: &dyn Disk,
    root: &Dir,
    sites: &mut [Site],
    folders: &[Folder],
    emptied: &[Emptied],
) -> Vec<(String, FileState)> {
    let mut taken: Vec<_> = sites.iter().rev().map(|site| undo_place(disk, site)).collect();
    taken.reverse();
    for folder in folders.iter().rev() {
        // Fails unless the folder is empty: another program may use it.
        let _ = disk.remove_dir(&folder.parent, &folder.name);
    }
    let made: Vec<_> = emptied.iter().map(|folder| make_again(disk, root, folder)).collect();
    let mut states = Vec::with_capacity(sites.len());
    for (site, taken) in sites.iter_mut().zip(taken).rev() {
        let (parents, _) = site.entry.from.as_ref().unwrap_or(&site.entry.path).split();
        let again = emptied.iter().position(|folder| folder.path.names().iter().eq(&parents));
        let brought = match again.map(|at| &made[at]) {
            Some(Err(error)) => Err(error.kind().into()),
            Some(Ok(dir)) => {
                site.move_old_to(dir.as_ref());
                let brought = undo_displace(disk, site);
                let is_kept = dir.is_none() && matches!(brought, Ok(FileState::Theirs));
                if is_kept { Ok(FileState::Kept) } else { brought }
            }
            None => undo_displace(disk, site),
        };
        states.push((site.shown.clone(), joined(taken, brought)));
    }
    states.reverse();
    states
}

/// Makes a folder again that was removed, unless it is there. Returns `None` if something else is there.
fn make_again(disk: &dyn Disk, root: &Dir, folder: &Emptied) -> io::Result<Option<Arc<Dir>>> {
    let (parents, name) = folder.path.split();
    let Some(parent) = open_dir(disk, root, &parents)? else { return Ok(None) };
    match disk.make_dir(&parent, name, true) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => made?,
    }
    let Some(dir) = open_dir(disk, &parent, Path::new(name))? else { return Ok(None) };
    let mode = disk.stat(&dir, OsStr::new("."))?.mode;
    // A crash may have left it with the mode that it is made with; any other one is its own.
    if mode & 0o777 == 0o700 && mode != folder.mode {
        disk.set_mode(&dir, folder.mode)?;
    }
    disk.sync_dir(&parent)?;
    Ok(Some(Arc::new(dir)))
}

/// Opens a folder, if it exists.
pub(crate) fn open_dir(disk: &dyn Disk, root: &Dir, folders: &Path) -> io::Result<Option<Dir>> {
    match disk.open_dir(root, folders) {
        Ok(dir) => Ok(Some(dir)),
        // If a component is now a link or a file, the folder is gone too.
        Err(error) if is_absent(&error) || leads_elsewhere(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Takes away what an edit put in place.
fn undo_place(disk: &dyn Disk, site: &Site) -> io::Result<FileState> {
    match site.entry.change {
        Change::Modify => undo_modify(disk, site),
        Change::Create | Change::Move => take_out(disk, site),
        Change::Delete => Ok(FileState::Untouched),
        Change::Rename => undo_rename(disk, site),
        Change::Overwrite => undo_overwrite(disk, site),
    }
}

/// Brings back what an edit took away.
fn undo_displace(disk: &dyn Disk, site: &Site) -> io::Result<FileState> {
    match site.entry.change {
        Change::Delete => bring_back(disk, site.displaced(), site.target()),
        Change::Move => bring_back(disk, site.displaced(), site.old()),
        Change::Modify | Change::Create | Change::Rename | Change::Overwrite => Ok(FileState::Untouched),
    }
}

/// Returns the state of a file after both.
fn joined(taken: io::Result<FileState>, brought: io::Result<FileState>) -> FileState {
    match (taken, brought) {
        (Ok(taken), Ok(FileState::Untouched)) => taken,
        (Ok(taken), Ok(brought)) => worse(brought, taken),
        (Err(_), _) | (_, Err(_)) => FileState::Unknown,
    }
}

fn worse(one: FileState, other: FileState) -> FileState {
    let is_fine = |state| matches!(state, FileState::Untouched | FileState::Restored);
    if is_fine(one) && !is_fine(other) { other } else { one }
}

/// Exchanges the displaced file back, if ours is still in its place.
fn undo_modify(disk: &dyn Disk, site: &Site) -> io::Result<FileState> {
    let slot = site.displaced();
    let Some(target) = site.target() else {
        // Its folder is gone, and our file with it if it was there.
        let is_displaced = stat(disk, slot)?.is_some() && !is_staged(disk, &site.entry, slot)?;
        return Ok(if is_displaced { FileState::Theirs } else { FileState::Untouched });
    };
    if disk.settle_exchange(slot, target)? {
        return Ok(FileState::Theirs);
    }
    // The watch notices programs writing to our file, or waits until they are done.
    let watch = Watch::begin(disk, target, &mut Patience::default());
    if !is_ours(disk, &site.entry, target)? {
        // Not exchanged yet, or back already: in both cases the staged file is in the vault.
        let is_back = is_staged(disk, &site.entry, slot)? || stat(disk, slot)?.is_none();
        return if is_back { Ok(FileState::Untouched) } else { theirs(disk, &site.entry, target) };
    }
    let Some(put_in) = hold(disk, slot)? else { return Ok(FileState::Unknown) };
    disk.exchange(slot, target)?;
    watch.settle(disk, slot);
    if is_ours(disk, &site.entry, slot)? {
        return Ok(FileState::Restored);
    }
    // Another program replaced our file at this moment, or wrote to it. Its file goes back; and if the file that then
    // comes out is not the one we put in, it is a newer one, which goes back in turn. (Whether ours was written to is
    // checked now: once ours is gone, a later file may get its inode.)
    let state = self::theirs(disk, &site.entry, slot)?;
    return_displaced(disk, slot, target, put_in, state)
}

/// Returns another program's file that came out of an exchange instead of the expected one. It replaced that at this
/// very moment. Restoring determines the rest.
pub(super) fn return_theirs(disk: &dyn Disk, site: &Site) -> io::Result<()> {
    let (slot, Some(target)) = (site.displaced(), site.target()) else { return Ok(()) };
    match hold(disk, target)? {
        Some(ours) if Some(ours.stat.inode) == site.entry.inode => {
            return_displaced(disk, slot, target, ours, FileState::Theirs).map(|_| ())
        }
        // The other program has replaced ours too, with something newer.
        _ => Ok(()),
    }
}

/// Exchanges the displaced file back, until the file that comes out is the one put in last.
fn return_displaced(
    disk: &dyn Disk,
    slot: At<'_>,
    target: At<'_>,
    mut put_in: HeldFile,
    state: FileState,
) -> io::Result<FileState> {
    for _ in 0..RACES {
        let Some(theirs) = hold(disk, slot)? else { return Ok(FileState::Unknown) };
        match disk.exchange(slot, target) {
            // The other program has removed it, which is newer than anything.
            Err(error) if is_absent(&error) => return Ok(FileState::Theirs),
            exchanged => exchanged?,
        }
        let out = stat(disk, slot)?;
        if out.is_some_and(|out| out.is_same_file(&put_in.stat)) {
            return Ok(state);
        }
        put_in = theirs;
    }
    Ok(FileState::Unknown)
}

/// A file kept open so that no other file gets its inode, for later comparisons.
struct HeldFile {
    stat: Stat,
    _file: Option<File>,
}

fn hold(disk: &dyn Disk, at: At<'_>) -> io::Result<Option<HeldFile>> {
    // A file that cannot be opened is not ours; then its inode alone must do.
    let _file = disk.open_file(at.0, at.1).ok();
    Ok(stat(disk, at)?.map(|stat| HeldFile { stat, _file }))
}

/// Returns the state of a file that is not only ours: mixed if it is our staged file, otherwise theirs.
fn theirs(disk: &dyn Disk, entry: &Entry, target: At<'_>) -> io::Result<FileState> {
    Ok(if is_staged(disk, entry, target)? { FileState::Mixed } else { FileState::Theirs })
}

/// Removes a new file from its place, if it is still ours.
fn take_out(disk: &dyn Disk, site: &Site) -> io::Result<FileState> {
    // If the folder is gone, its content is too.
    let Some(target) = site.target() else { return Ok(FileState::Untouched) };
    let slot = site.staged();
    if !is_ours(disk, &site.entry, target)? {
        // A folder is what the file was to replace: the staged file is removed once everything is back.
        let is_free = stat(disk, target)?.is_none_or(|stat| stat.kind == FileKind::Dir);
        if is_free || stat(disk, slot)?.is_some() {
            return Ok(FileState::Untouched);
        }
        return theirs(disk, &site.entry, target);
    }
    disk.rename_new(target, slot)?;
    if is_ours(disk, &site.entry, slot)? {
        return Ok(FileState::Restored);
    }
    disk.rename_new(slot, target)?;
    theirs(disk, &site.entry, target)
}

/// Renames a displaced file back.
fn bring_back(disk: &dyn Disk, displaced: At<'_>, old: Option<At<'_>>) -> io::Result<FileState> {
    if stat(disk, displaced)?.is_none() {
        return Ok(FileState::Untouched);
    }
    let Some(old) = old else { return Ok(FileState::Theirs) };
    match disk.rename_new(displaced, old) {
        Ok(()) => Ok(FileState::Restored),
        // The folder was removed.
        Err(error) if is_absent(&error) => Ok(FileState::Theirs),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let is_folder = stat(disk, old)?.is_some_and(|stat| stat.kind == FileKind::Dir);
            Ok(if is_folder { FileState::Kept } else { FileState::Theirs })
        }
        Err(error) => Err(error),
    }
}

fn undo_rename(disk: &dyn Disk, site: &Site) -> io::Result<FileState> {
    let (Some(target), old) = (site.target(), site.old()) else {
        // The folder of the new path is gone, perhaps with the file.
        let is_old = site.old().map(|old| stat(disk, old)).transpose()?.flatten().is_some();
        return Ok(if is_old { FileState::Untouched } else { FileState::Theirs });
    };
    let Some(at_old) = old else { return Ok(FileState::Theirs) };
    let is_there = stat(disk, target)?.is_some_and(|stat| Some(stat.inode) == site.entry.inode);
    match (is_there, stat(disk, at_old)?) {
        (true, None) => bring_back(disk, target, old),
        // Where a rename takes two steps, a crash between them leaves both names.
        (true, Some(both)) if Some(both.inode) == site.entry.inode => bring_back(disk, target, old),
        (false, Some(_)) => Ok(FileState::Untouched),
        _ => Ok(FileState::Theirs),
    }
}

/// Restores overwritten content. A partial write of ours counts as ours; anything else is another program's.
fn undo_overwrite(disk: &dyn Disk, site: &Site) -> io::Result<FileState> {
    let Some(target) = site.target() else { return Ok(FileState::Theirs) };
    let Some(now) = read(disk, target)? else { return Ok(FileState::Theirs) };
    let is_old = site.entry.is_base(&Version::hash(&now));
    let Some(copy) = stat(disk, site.displaced())? else {
        // The copy exists before anything is overwritten, and until everything is back.
        return Ok(if is_old { FileState::Untouched } else { FileState::Theirs });
    };
    let has_mode = stat(disk, target)?.is_some_and(|stat| (stat.mode ^ copy.mode) & 0o111 == 0);
    if is_old && has_mode {
        return Ok(FileState::Untouched);
    }
    let (Some(base), Some(after)) = (read(disk, site.displaced())?, read(disk, site.staged())?) else {
        return Ok(FileState::Unknown);
    };
    let known = site.entry.is_base(&Version::hash(&base)) && site.entry.is_after(&Version::hash(&after));
    if !known || !is_old && !is_between(&now, &base, &after) {
        // It may contain some of our content.
        return Ok(FileState::Mixed);
    }
    let file = open_to_overwrite(disk, target)?;
    if !is_old {
        disk.overwrite(&file, &[&base])?;
    }
    if !has_mode {
        disk.set_executable(&file, copy.mode & 0o111 != 0)?;
    }
    disk.sync_file(&file)?;
    Ok(FileState::Restored)
}

/// Returns whether an interrupted overwriting of `base` by `after` could have left this content.
fn is_between(now: &[u8], base: &[u8], after: &[u8]) -> bool {
    // Either all of the new content with the old end behind it, or a prefix of the new followed by the rest of the old:
    // up to some offset it is the one, and from there the other.
    let from_after = now.iter().zip(after).take_while(|(now, after)| now == after).count();
    if now.len() > base.len() {
        return from_after == now.len();
    }
    let as_base = now.iter().zip(base).rev().take_while(|(now, base)| now == base).count();
    now == after || now.len() == base.len() && from_after + as_base >= now.len()
}

/// Returns the metadata of a name; `None` if nothing has it.
pub(crate) fn stat(disk: &dyn Disk, at: At<'_>) -> io::Result<Option<Stat>> {
    match disk.stat(at.0, at.1) {
        Ok(stat) => Ok(Some(stat)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns whether it is the staged file, whatever its content. A journal in a name has no inode; then the content
/// decides.
fn is_staged(disk: &dyn Disk, entry: &Entry, at: At<'_>) -> io::Result<bool> {
    match entry.inode {
        Some(inode) => Ok(stat(disk, at)?.is_some_and(|stat| stat.inode == inode)),
        None => Ok(version(disk, at.0, at.1)?.is_some_and(|version| entry.is_after(&version))),
    }
}

/// Returns whether it is the staged file with its original content.
fn is_ours(disk: &dyn Disk, entry: &Entry, at: At<'_>) -> io::Result<bool> {
    Ok(is_staged(disk, entry, at)?
        && version(disk, at.0, at.1)?.is_some_and(|version| entry.is_after(&version)))
}

/// Opens a file; `None` if there is none, or something that is not a file.
pub(crate) fn open(disk: &dyn Disk, dir: &Dir, name: &OsStr) -> io::Result<Option<File>> {
    let file = match disk.open_file(dir, name) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => match disk.stat(dir, name) {
            Ok(stat) if stat.kind != FileKind::File => return Ok(None),
            _ => return Err(error),
        },
    };
    Ok((disk.stat_file(&file)?.kind == FileKind::File).then_some(file))
}

fn read(disk: &dyn Disk, at: At<'_>) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open(disk, at.0, at.1)? else { return Ok(None) };
    disk.read(&file, u64::MAX - 1, &mut |_| {}).map(Some)
}

/// Returns the version of a file.
pub(crate) fn version(disk: &dyn Disk, dir: &Dir, name: &OsStr) -> io::Result<Option<Version>> {
    let Some(file) = open(disk, dir, name)? else { return Ok(None) };
    let mut hashing = Hashing::default();
    disk.read(&file, u64::MAX - 1, &mut |bytes| hashing.update(bytes))?;
    Ok(Some(hashing.finish()))
}

#[cfg(test)]
mod tests;
