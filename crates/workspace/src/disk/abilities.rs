//! The abilities of a file system, found by trying them: what a file system reports about itself is not always true.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

/// An ability of a file system that edits need or profit from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// Two files change places in one step.
    AtomicExchange,
    /// A file gets a name only if that is free.
    RenameToFree,
    /// Files are opened beneath a folder without following links, by the kernel.
    OpenBeneath,
    /// Contents and names are made durable.
    Sync,
    /// A folder is locked against other processes.
    Locks,
    /// A file can have two names.
    HardLinks,
    /// A file can have extended attributes.
    ExtendedAttributes,
    /// Names that differ in case alone are different names.
    TellsCase,
}

/// The result of trying one ability: whether the file system has it.
pub type AbilityResult = io::Result<bool>;

/// Tries an ability in an empty folder.
type Attempt = fn(&Path) -> AbilityResult;

/// Tries every [`Ability`] in a temporary folder inside `folder`, which is removed afterwards.
pub fn abilities(folder: &Path) -> io::Result<Vec<(Ability, AbilityResult)>> {
    let place = ProbeFolder::new(folder)?;
    let tries: [(Ability, Attempt); 8] = [
        (Ability::AtomicExchange, exchange),
        (Ability::RenameToFree, rename_to_free),
        (Ability::OpenBeneath, open_beneath),
        (Ability::Sync, sync),
        (Ability::Locks, locks),
        (Ability::HardLinks, hard_links),
        (Ability::ExtendedAttributes, attributes),
        (Ability::TellsCase, tells_case),
    ];
    let found = tries.into_iter().enumerate().map(|(number, (ability, attempt))| {
        // Each attempt has a folder of its own, so that no leftover disturbs the next.
        let own = place.0.join(number.to_string());
        (ability, fs::create_dir(&own).and_then(|()| attempt(&own)))
    });
    Ok(found.collect())
}

/// A temporary folder that is removed when it is dropped.
struct ProbeFolder(PathBuf);

impl ProbeFolder {
    fn new(folder: &Path) -> io::Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        let place = folder.join(format!("{}try-{:016x}", super::BESIDE, u64::from_ne_bytes(random)));
        #[allow(unused_mut, reason = "only Unix has a mode to set")]
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&place)?;
        Ok(Self(place))
    }
}

impl Drop for ProbeFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn two_files(folder: &Path) -> io::Result<(PathBuf, PathBuf)> {
    let (one, other) = (folder.join("one"), folder.join("other"));
    fs::write(&one, "1")?;
    fs::write(&other, "2")?;
    Ok((one, other))
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn exchange(folder: &Path) -> AbilityResult {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let (one, other) = two_files(folder)?;
    known(renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE))
        .and_then(|known| Ok(known && fs::read(one)? == b"2" && fs::read(other)? == b"1"))
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn rename_to_free(folder: &Path) -> AbilityResult {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let (one, other) = two_files(folder)?;
    match renameat_with(CWD, &one, CWD, &other, RenameFlags::NOREPLACE) {
        Err(rustix::io::Errno::EXIST) => {
            known(renameat_with(CWD, &one, CWD, folder.join("free"), RenameFlags::NOREPLACE))
        }
        Ok(()) => Ok(false),
        refused => known(refused),
    }
}

/// Returns whether the file system implements a call, whatever the call itself returned.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn known(done: rustix::io::Result<()>) -> AbilityResult {
    match done {
        Ok(()) => Ok(true),
        Err(error) if super::unix::is_unknown(error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn exchange(_folder: &Path) -> AbilityResult {
    Ok(false)
}

#[cfg(windows)]
fn rename_to_free(folder: &Path) -> AbilityResult {
    use super::{Disk, Windows};
    two_files(folder)?;
    let dir = Dir::open_ambient_dir(folder, ambient_authority())?;
    let rename = |to: &str| Windows.rename_new((&dir, "one".as_ref()), (&dir, to.as_ref()));
    match rename("other") {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => rename("free").map(|()| true),
        Ok(()) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
fn rename_to_free(_folder: &Path) -> AbilityResult {
    Ok(false)
}

#[allow(clippy::unnecessary_wraps, reason = "as its neighbours")]
fn open_beneath(_folder: &Path) -> AbilityResult {
    #[cfg(target_os = "linux")]
    let can = super::Unix::is_supported();
    #[cfg(not(target_os = "linux"))]
    let can = cfg!(windows);
    Ok(can)
}

fn sync(folder: &Path) -> AbilityResult {
    let (one, _) = two_files(folder)?;
    File::options().write(true).open(one)?.sync_all()?;
    super::sync_folder(&Dir::open_ambient_dir(folder, ambient_authority())?)?;
    Ok(true)
}

fn locks(folder: &Path) -> AbilityResult {
    let lock = if cfg!(windows) { two_files(folder)?.0 } else { folder.to_owned() };
    let (one, other) = (File::open(&lock)?, File::open(lock)?);
    let locked = |file: &File| match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    };
    Ok(locked(&one)? && !locked(&other)?)
}

fn hard_links(folder: &Path) -> AbilityResult {
    let (one, _) = two_files(folder)?;
    match fs::hard_link(one, folder.join("link")) {
        Ok(()) => Ok(true),
        // The systems share no error kind for this.
        Err(_) => Ok(false),
    }
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
fn attributes(folder: &Path) -> AbilityResult {
    use rustix::fs::{XattrFlags, setxattr};
    use rustix::io::Errno;
    let (one, _) = two_files(folder)?;
    match setxattr(one, "user.emend", b"1", XattrFlags::empty()) {
        Ok(()) => Ok(true),
        Err(Errno::NOTSUP | Errno::NOSYS | Errno::PERM) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn attributes(_folder: &Path) -> AbilityResult {
    Ok(false)
}

fn tells_case(folder: &Path) -> AbilityResult {
    two_files(folder)?;
    Ok(!folder.join("ONE").try_exists()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tried_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let found = abilities(folder.path()).unwrap();
        assert_eq!(found.len(), 8);
        for needed in [Ability::Sync, Ability::Locks] {
            assert!(found.iter().any(|(ability, found)| *ability == needed && *found.as_ref().unwrap()));
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(abilities(&folder.path().join("gone")).is_err());
    }
}
