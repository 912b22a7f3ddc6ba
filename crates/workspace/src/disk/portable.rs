//! Any system: cap-std for beneath-and-no-links, a hard link and a rename in place of the exchange.
//!
//! What is weaker here: between linking the old file and renaming the new one over it, a program that
//! replaces the file by a rename of its own loses its update. Nothing else is.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt};
use cap_std::fs::{Dir, Metadata, OpenOptions};

use super::{Disk, FileKind, Stat};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

impl Disk for Portable {
    fn open_dir(&self, root: &Dir, path: &Path) -> io::Result<Dir> {
        let mut dir = root.open_dir(".")?;
        for component in path.components() {
            match component {
                // One name at a time, so that no link on the way is followed.
                Component::Normal(name) => dir = dir.open_dir_nofollow(name)?,
                Component::CurDir => {}
                _ => return Err(io::Error::other("a path that is not plain names")),
            }
        }
        Ok(dir)
    }

    fn stat(&self, dir: &Dir, name: &OsStr) -> io::Result<Stat> {
        Ok(from_metadata(&dir.symlink_metadata(name)?))
    }

    fn read_link(&self, dir: &Dir, name: &OsStr) -> io::Result<PathBuf> {
        dir.read_link_contents(name)
    }

    fn open_file(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            use rustix::fs::OFlags;
            options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
        }
        Ok(dir.open_with(name, &options)?.into_std())
    }

    fn stat_file(&self, file: &File) -> io::Result<Stat> {
        Ok(from_metadata(&Metadata::from_file(file)?))
    }

    fn read(&self, file: &File, limit: u64) -> io::Result<Vec<u8>> {
        read(file, limit)
    }

    fn create_file(&self, dir: &Dir, name: &OsStr, like: Option<&File>) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).follow(FollowSymlinks::No);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            options.mode(if like.is_some() { 0o600 } else { 0o666 });
        }
        let file = dir.open_with(name, &options)?.into_std();
        #[cfg(unix)]
        if let Some(like) = like {
            super::metadata::copy(like, &file)?;
        }
        #[cfg(not(unix))]
        if let Some(like) = like {
            file.set_permissions(like.metadata()?.permissions())?;
        }
        Ok(file)
    }

    fn write(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()> {
        #[cfg(unix)]
        return super::metadata::keeping_mode(file, || write(file, pieces));
        #[cfg(not(unix))]
        return write(file, pieces);
    }

    fn set_executable(&self, file: &File, executable: bool) -> io::Result<()> {
        #[cfg(unix)]
        return super::metadata::set_executable(file, executable);
        #[cfg(not(unix))]
        {
            // Such a system has no bit for it.
            let _ = (file, executable);
            Ok(())
        }
    }

    fn may_write(&self, dir: &Dir, name: &OsStr) -> bool {
        #[cfg(unix)]
        return super::metadata::may_write(dir, name);
        #[cfg(not(unix))]
        return dir.symlink_metadata(name).is_ok_and(|metadata| !metadata.permissions().readonly());
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn sync_dir(&self, dir: &Dir) -> io::Result<()> {
        // Windows has no such call; there a rename is durable when it returns.
        if cfg!(unix) { super::folder_as_file(dir)?.sync_all() } else { Ok(()) }
    }

    fn make_dir(&self, dir: &Dir, name: &OsStr, private: bool) -> io::Result<()> {
        #[allow(unused_mut, reason = "only Unix has a mode to set")]
        let mut builder = cap_std::fs::DirBuilder::new();
        #[cfg(unix)]
        {
            use cap_std::fs::DirBuilderExt;
            builder.mode(if private { 0o700 } else { 0o777 });
        }
        let _ = private;
        dir.create_dir_with(name, &builder)
    }

    fn exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        // The old file gets a second name, then the new one takes its place in one rename, then the
        // second name becomes the one that the new file had. What fails is taken back before it is told.
        // The root's lock is held, so that one such name for each process is enough.
        let aside = OsString::from(format!(".displaced-{}", std::process::id()));
        let _ = from.0.remove_file(&aside);
        to.0.hard_link(to.1, from.0, &aside)?;
        if let Err(error) = from.0.rename(from.1, to.0, to.1) {
            let _ = from.0.remove_file(&aside);
            return Err(error);
        }
        from.0.rename(&aside, from.0, from.1).inspect_err(|_| {
            if to.0.hard_link(to.1, from.0, from.1).is_ok() {
                let _ = from.0.rename(&aside, to.0, to.1);
            }
        })
    }

    fn rename_new(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        // A hard link fails where the name is taken, which a rename would not.
        from.0.hard_link(from.1, to.0, to.1)?;
        from.0.remove_file(from.1).inspect_err(|_| {
            let _ = to.0.remove_file(to.1);
        })
    }

    fn remove_file(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        dir.remove_file(name)
    }

    fn remove_dir(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        dir.remove_dir(name)
    }

    fn names(&self, dir: &Dir) -> io::Result<Vec<OsString>> {
        names(dir)
    }
}

fn from_metadata(metadata: &Metadata) -> Stat {
    let file_type = metadata.file_type();
    let kind = if file_type.is_file() {
        FileKind::File
    } else if file_type.is_dir() {
        FileKind::Dir
    } else if file_type.is_symlink() {
        FileKind::Link
    } else {
        FileKind::Other("a FIFO, socket or device")
    };
    #[cfg(unix)]
    let mode = cap_std::fs::MetadataExt::mode(metadata) & 0o7777;
    #[cfg(not(unix))]
    let mode = 0;
    Stat {
        kind,
        size: metadata.len(),
        modified: metadata.modified().ok().map(cap_std::time::SystemTime::into_std),
        device: MetadataExt::dev(metadata),
        inode: MetadataExt::ino(metadata),
        links: MetadataExt::nlink(metadata),
        mode,
        read_only: metadata.permissions().readonly(),
    }
}

pub(super) fn read(file: &File, limit: u64) -> io::Result<Vec<u8>> {
    // Roughly what is to come; a file may grow or shrink meanwhile.
    let mut bytes = Vec::with_capacity(file.metadata()?.len().min(limit) as usize + 1);
    // One byte more than the limit tells a file that grew from one that fits.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(super) fn write(mut file: &File, pieces: &[&[u8]]) -> io::Result<()> {
    // Small content goes out in one call, large content without being copied.
    const JOINED: usize = 256 * 1024;
    if pieces.iter().map(|piece| piece.len()).sum::<usize>() <= JOINED {
        return file.write_all(&pieces.concat());
    }
    pieces.iter().try_for_each(|piece| file.write_all(piece))
}

pub(super) fn names(dir: &Dir) -> io::Result<Vec<OsString>> {
    dir.entries()?.map(|entry| Ok(entry?.file_name())).collect()
}
