//! The Windows disk: every name is opened relative to a handle and no link is followed, files are renamed by their handles
//! to names that are free, and never over another file.
//!
//! Windows cannot exchange two files in one step. Its calls that replace a file lose what another program has put there in
//! the last moment, or fail half way and say so by an error. So an exchange is three renames, and after a crash the names
//! show how far it came. Meanwhile, for the time of one call, nothing has the target's name. `docs/DESIGN.md` weighs this.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use cap_std::fs::Dir;
use emend_lease::LeaseResult;
use emend_windows::{self as windows, About, Access};

use super::{ASIDE, BESIDE, Disk, FileKind, Portable, ReadObserver, Stat, helper};

/// The disk of a Windows machine.
#[derive(Clone, Copy, Debug)]
pub struct Windows;

/// How long a file is waited for that another program holds and does not share. Most are virus scanners and indexers, which
/// look at every new file for some milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest pause between two tries.
const PAUSE: Duration = Duration::from_millis(32);

/// Repeats a call on a file as long as another program holds that, within [`PATIENCE`]. After that, the error names the
/// program where that can be known.
fn patiently<T>(dir: &Dir, name: &OsStr, mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let until = Instant::now() + PATIENCE;
    let mut pause = Duration::from_millis(1);
    loop {
        match call() {
            Err(error) if windows::is_held(&error) => {
                if Instant::now() >= until {
                    return Err(held(dir, name, &error));
                }
                thread::sleep(pause);
                pause = PAUSE.min(pause * 2);
            }
            done => return done,
        }
    }
}

/// Returns the error that says who holds a file.
fn held(dir: &Dir, name: &OsStr, error: &io::Error) -> io::Error {
    let holders = windows::holders(dir, name);
    let who = match &holders[..] {
        [] => "another program".to_owned(),
        some => some.join(", "),
    };
    let message =
        format!("{who} holds the file and does not share it ({error}): close it there, or try again");
    io::Error::new(io::ErrorKind::ResourceBusy, message)
}

fn open(dir: &Dir, name: &OsStr, access: Access) -> io::Result<File> {
    patiently(dir, name, || windows::open(dir, name, access))
}

/// Renames an open file to a name that must be free.
fn rename(file: &File, to: (&Dir, &OsStr)) -> io::Result<()> {
    patiently(to.0, to.1, || windows::rename_new(file, to.0, to.1))
}

fn from_about(about: &About) -> Stat {
    /// The bit of a reparse point that stands for another name.
    const IS_NAME: u32 = 0x2000_0000;
    let kind = match about.reparse_tag {
        Some(tag) if tag & IS_NAME != 0 => FileKind::Link,
        Some(tag) if windows::is_link(tag) => FileKind::Other("a reparse point of another program"),
        _ if about.is_folder => FileKind::Dir,
        _ => FileKind::File,
    };
    Stat {
        kind,
        size: about.size,
        modified: Some(about.modified),
        device: about.volume,
        inode: about.number,
        links: about.names.into(),
        mode: 0,
        read_only: about.is_read_only,
    }
}

/// Returns the name of the displaced file during an exchange with a staged one.
fn aside(staged: &OsStr) -> OsString {
    // What is staged beside its target keeps the beginning by which such files are known.
    match staged.to_str().and_then(|name| name.strip_prefix(BESIDE)) {
        Some(rest) => format!("{BESIDE}{ASIDE}{rest}").into(),
        None => {
            let mut name = OsString::from(ASIDE);
            name.push(staged);
            name
        }
    }
}

/// Sets the displaced file, which is aside, beside the staged one, because a file of another program has taken the target's
/// name. What is staged stays where it is: the exchange has not happened, and nothing may look as if it had.
fn give_way(displaced: &File, from: (&Dir, &OsStr)) -> io::Result<()> {
    rename(displaced, (from.0, &helper("displaced", from.1)))
}

impl Disk for Windows {
    fn open_dir(&self, root: &Dir, path: &Path) -> io::Result<Dir> {
        let mut dir = windows::reopen(root)?;
        for component in path.components() {
            match component {
                // One component at a time, so that no link on the way is followed.
                Component::Normal(name) => dir = windows::open_folder(&dir, name)?,
                Component::CurDir => {}
                _ => return Err(io::Error::other("a path that is not plain names")),
            }
        }
        Ok(Dir::from_std_file(dir))
    }

    fn stat(&self, dir: &Dir, name: &OsStr) -> io::Result<Stat> {
        let about = match name.to_str() {
            Some(".") => windows::about(dir)?,
            _ => windows::about(&windows::open(dir, name, Access::Look)?)?,
        };
        Ok(from_about(&about))
    }

    fn read_link(&self, dir: &Dir, name: &OsStr) -> io::Result<PathBuf> {
        // By path, which cannot harm: where it leads is a guess that opening the folders proves.
        Portable.read_link(dir, name)
    }

    fn spelled(&self, dir: &Dir, name: &OsStr) -> Option<PathBuf> {
        let folder = windows::path_of(dir)?;
        match name.to_str() {
            Some(".") => Some(folder),
            _ => windows::spelling(dir, name).ok().flatten().map(|name| folder.join(name)),
        }
    }

    fn open_file(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        open(dir, name, Access::Read)
    }

    fn open_at_once(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        windows::open(dir, name, Access::Read)
    }

    fn stat_file(&self, file: &File) -> io::Result<Stat> {
        Ok(from_about(&windows::about(file)?))
    }

    fn read(&self, file: &File, limit: u64, seen: &mut ReadObserver<'_>) -> io::Result<Vec<u8>> {
        super::portable::read(file, limit, seen)
    }

    fn holds(&self, file: &File, content: &[u8]) -> io::Result<bool> {
        super::portable::holds(file, content)
    }

    fn create_file(&self, dir: &Dir, name: &OsStr, like: Option<&File>) -> io::Result<File> {
        let file = windows::create_file(dir, name)?;
        if let Some(like) = like {
            windows::keep(like, &file)?;
        }
        Ok(file)
    }

    fn lease(&self, dir: &Dir, name: &OsStr) -> LeaseResult {
        // Nobody can open a file for writing while a handle does not share that; others are refused, and do not wait.
        match windows::open(dir, name, Access::ReadAlone) {
            Ok(file) => emend_lease::take(file),
            Err(error) if windows::is_held(&error) => LeaseResult::Open,
            Err(_) => LeaseResult::Unavailable,
        }
    }

    fn write(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()> {
        super::portable::write(file, pieces)
    }

    fn set_executable(&self, _file: &File, _executable: bool) -> io::Result<()> {
        // Windows has no such mark: a program is told by the end of its name.
        Ok(())
    }

    fn may_write(&self, dir: &Dir, name: &OsStr) -> bool {
        match windows::open(dir, name, Access::AskToWrite) {
            Ok(_) => true,
            // Whoever holds it may let it go; the commit finds out.
            Err(error) => error.kind() != io::ErrorKind::PermissionDenied,
        }
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn syncs_what_it_reads(&self) -> bool {
        // A file is flushed through a handle that may write to it.
        false
    }

    fn sync_dir(&self, dir: &Dir) -> io::Result<()> {
        windows::flush_folder(dir)
    }

    fn sync_all(&self, _dir: &Dir) -> io::Result<bool> {
        // Only an administrator may flush a volume.
        Ok(false)
    }

    fn same_mount(&self, one: &Dir, other: &Dir) -> io::Result<bool> {
        Ok(windows::about(one)?.volume == windows::about(other)?.volume)
    }

    fn open_to_append(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        open(dir, name, Access::Append)
    }

    fn open_to_overwrite(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        open(dir, name, Access::Overwrite)
    }

    fn overwrite(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()> {
        super::portable::overwrite(file, pieces)
    }

    fn make_dir(&self, dir: &Dir, name: &OsStr, _private: bool) -> io::Result<()> {
        // It inherits who may do what: nobody else may read the folder of an application in the user's profile.
        windows::make_folder(dir, name)
    }

    fn exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        // The old file is set aside, the new one takes its name, and the old one takes the staged name. A name is taken
        // only if it is free, so no file of another program is ever replaced.
        let aside = aside(from.1);
        // Whoever may change a file need not be allowed to add one to its folder, which its new name and the way back both
        // take: nothing has a name that is not sure of another one.
        let _room = patiently(to.0, to.1, || windows::reopen_to_add(to.0))?;
        let staged = open(from.0, from.1, Access::Name)?;
        let target = windows::spelling(to.0, to.1)?.unwrap_or_else(|| to.1.to_owned());
        let to = (to.0, &*target);
        // The last thing that is opened, so that it is most likely what has the name.
        let displaced = open(to.0, to.1, Access::Name)?;
        rename(&displaced, (from.0, &aside))?;
        if let Err(error) = rename(&staged, to) {
            match rename(&displaced, to) {
                Err(taken) if taken.kind() == io::ErrorKind::AlreadyExists => give_way(&displaced, from)?,
                // Else it stays aside, where `settle_exchange` finds it.
                _ => {}
            }
            return Err(error);
        }
        rename(&displaced, from).inspect_err(|_| {
            if rename(&staged, from).is_ok() {
                let _ = rename(&displaced, to);
            }
        })
    }

    fn leaves_gaps(&self) -> bool {
        true
    }

    fn settle_exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<bool> {
        let is_there = |at: (&Dir, &OsStr)| match self.stat(at.0, at.1) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        };
        let beside = helper("displaced", from.1);
        let displaced = match open(from.0, &aside(from.1), Access::Name) {
            Ok(displaced) => displaced,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return is_there((from.0, &beside)),
            Err(error) => return Err(error),
        };
        match (is_there(from)?, is_there(to)?) {
            // The last step is missing.
            (false, _) => rename(&displaced, from)?,
            // Only the first step was done.
            (true, false) => rename(&displaced, to)?,
            // Then another program's file took the name.
            (true, true) => {
                give_way(&displaced, from)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn rename_new(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        // The way back may be needed, as in `exchange`, and so may the flush of the folder that the name has left.
        let _room = patiently(from.0, from.1, || windows::reopen_to_add(from.0))?;
        rename(&open(from.0, from.1, Access::Name)?, to)
    }

    fn remove_file(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        let file = open(dir, name, Access::Name)?;
        if from_about(&windows::about(&file)?).kind == FileKind::Dir {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        patiently(dir, name, || windows::remove(&file))
    }

    fn remove_dir(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        let folder = open(dir, name, Access::Name)?;
        if from_about(&windows::about(&folder)?).kind != FileKind::Dir {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        patiently(dir, name, || windows::remove(&folder))
    }

    fn names(&self, dir: &Dir) -> io::Result<Vec<OsString>> {
        Ok(windows::list(dir, usize::MAX)?.into_iter().map(|listed| listed.name).collect())
    }

    fn entries(&self, dir: &Dir, limit: usize) -> io::Result<Vec<(OsString, FileKind)>> {
        let kind = |listed: &windows::Listed| match listed.reparse_tag {
            Some(tag) if windows::is_link(tag) => FileKind::Link,
            _ if listed.is_folder => FileKind::Dir,
            _ => FileKind::File,
        };
        let listed = windows::list(dir, limit)?;
        Ok(listed
            .into_iter()
            .map(|listed| (kind(&listed), listed.name))
            .map(|(kind, name)| (name, kind))
            .collect())
    }
}
