//! The Linux disk: `openat2` to stay beneath a root and follow no links, `renameat2` to exchange files and to rename
//! without replacing. Where a file system lacks these (NFS), the portable steps are taken.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use emend_lease::LeaseResult;
use rustix::fs::{self, AtFlags, CWD, Mode, OFlags, RenameFlags, ResolveFlags, StatxFlags};
use rustix::io::Errno;

use super::{Disk, FileKind, Portable, ReadObserver, Stat, metadata};

/// The disk of a Linux machine, using `openat2` and `renameat2`.
#[derive(Clone, Copy, Debug)]
pub struct Linux;

/// The number of times `openat2` is retried after a concurrent rename made it fail.
const RACED: usize = 32;

impl Linux {
    /// Whether this kernel has `openat2` (5.6) and lets us call it.
    #[must_use]
    pub fn is_supported() -> bool {
        fs::openat2(CWD, ".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::BENEATH).is_ok()
    }
}

/// Returns whether the error means that the file system lacks this kind of rename, as NFS does; the portable steps
/// replace it.
pub(super) fn is_unknown(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// The number of bytes after which the disk begins with them, in files of at least twice as many.
const BATCH: usize = 8 * 1024 * 1024;
/// Pages of this size are written as a whole: one that is not full yet would be written twice.
const PAGE: u64 = 4096;

/// Writes the content of a new file. That of a large one goes to the disk meanwhile, which takes half the time of its sync.
fn write(mut file: &File, pieces: &[&[u8]]) -> io::Result<()> {
    if pieces.iter().map(|piece| piece.len()).sum::<usize>() < 2 * BATCH {
        return super::portable::write(file, pieces);
    }
    let (mut written, mut begun) = (0, 0);
    for part in pieces.iter().flat_map(|piece| piece.chunks(BATCH)) {
        file.write_all(part)?;
        written += part.len() as u64;
        let full = written - written % PAGE;
        if full - begun >= BATCH as u64 {
            emend_writeback::begin(file, begun, full - begun)?;
            begun = full;
        }
    }
    Ok(())
}

impl Disk for Linux {
    fn open_dir(&self, root: &Dir, path: &Path) -> io::Result<Dir> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        for _ in 0..RACED {
            match fs::openat2(root, path, flags, Mode::empty(), resolve) {
                Ok(fd) => return Ok(Dir::from_std_file(File::from(fd))),
                Err(Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Errno::AGAIN.into())
    }

    fn stat(&self, dir: &Dir, name: &OsStr) -> io::Result<Stat> {
        Ok(metadata::from_stat(&fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    fn read_link(&self, dir: &Dir, name: &OsStr) -> io::Result<PathBuf> {
        let target = fs::readlinkat(dir, name, Vec::new())?;
        Ok(OsString::from_vec(target.into_bytes()).into())
    }

    fn open_file(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(dir, name, flags, Mode::empty())?))
    }

    fn stat_file(&self, file: &File) -> io::Result<Stat> {
        Ok(metadata::from_stat(&fs::fstat(file)?))
    }

    fn read(&self, file: &File, limit: u64, seen: &mut ReadObserver<'_>) -> io::Result<Vec<u8>> {
        super::portable::read(file, limit, seen)
    }

    fn holds(&self, file: &File, content: &[u8]) -> io::Result<bool> {
        super::portable::holds(file, content)
    }

    fn create_file(&self, dir: &Dir, name: &OsStr, like: Option<&File>) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Closed to other users until it gets the mode of `like`; without one, the umask decides.
        let mode = if like.is_some() { Mode::RUSR | Mode::WUSR } else { Mode::from_raw_mode(0o666) };
        let file = File::from(fs::openat(dir, name, flags, mode)?);
        if let Some(like) = like {
            metadata::copy(like, &file)?;
        }
        Ok(file)
    }

    fn lease(&self, dir: &Dir, name: &OsStr) -> LeaseResult {
        self.open_file(dir, name).map_or(LeaseResult::Unavailable, emend_lease::take)
    }

    fn write(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()> {
        metadata::keeping_mode(file, || write(file, pieces))
    }

    fn set_executable(&self, file: &File, executable: bool) -> io::Result<()> {
        metadata::set_executable(file, executable)
    }

    fn may_write(&self, dir: &Dir, name: &OsStr) -> bool {
        metadata::may_write(dir, name)
    }

    fn sync_file(&self, file: &File) -> io::Result<()> {
        Ok(fs::fsync(file)?)
    }

    fn sync_dir(&self, dir: &Dir) -> io::Result<()> {
        super::folder_as_file(dir)?.sync_all()
    }

    fn sync_all(&self, dir: &Dir) -> io::Result<bool> {
        fs::syncfs(super::folder_as_file(dir)?)?;
        Ok(true)
    }

    fn same_mount(&self, one: &Dir, other: &Dir) -> io::Result<bool> {
        let mount = |dir: &Dir| {
            fs::statx(dir, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).map(|stat| stat.stx_mnt_id)
        };
        Ok(mount(one)? == mount(other)?)
    }

    fn open_to_append(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(dir, name, flags | OFlags::NONBLOCK, Mode::RUSR | Mode::WUSR)?))
    }

    fn open_to_overwrite(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(fs::openat(dir, name, flags, Mode::empty())?))
    }

    fn overwrite(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()> {
        metadata::keeping_mode(file, || super::portable::overwrite(file, pieces))
    }

    fn make_dir(&self, dir: &Dir, name: &OsStr, private: bool) -> io::Result<()> {
        Ok(fs::mkdirat(dir, name, Mode::from_raw_mode(if private { 0o700 } else { 0o777 }))?)
    }

    fn exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        match fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::EXCHANGE) {
            Err(error) if is_unknown(error) => Portable.exchange(from, to),
            exchanged => Ok(exchanged?),
        }
    }

    fn settle_exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        Portable.settle_exchange(from, to)
    }

    fn rename_new(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        match fs::renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
            Err(error) if is_unknown(error) => Portable.rename_new(from, to),
            renamed => Ok(renamed?),
        }
    }

    fn remove_file(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(dir, name, AtFlags::empty())?)
    }

    fn remove_dir(&self, dir: &Dir, name: &OsStr) -> io::Result<()> {
        Ok(fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
    }

    fn names(&self, dir: &Dir) -> io::Result<Vec<OsString>> {
        // cap-std opens the folder twice.
        let entries = fs::Dir::read_from(dir)?;
        let name = |entry: rustix::io::Result<fs::DirEntry>| {
            let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
            Ok((name != "." && name != "..").then_some(name))
        };
        entries.map(name).filter_map(io::Result::transpose).collect()
    }

    fn entries(&self, dir: &Dir, limit: usize) -> io::Result<Vec<(OsString, FileKind)>> {
        super::portable::entries(dir, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_file_is_its_pieces_one_after_another() {
        let folder = tempfile::tempdir().unwrap();
        let piece = |len: usize| (0..len).map(|i| (i % 251) as u8).collect::<Vec<u8>>();
        for lens in [[BATCH + 1, 10, BATCH + 3], [2 * BATCH - 1, 0, 1], [5, 2 * BATCH, 4095], [1, 2, 3]] {
            let path = folder.path().join(format!("{lens:?}"));
            let pieces = lens.map(piece);
            let (file, pieces) = (File::create(&path).unwrap(), pieces.each_ref().map(Vec::as_slice));
            write(&file, &pieces).unwrap();
            assert!(std::fs::read(&path).unwrap() == pieces.concat(), "{lens:?}");
        }
    }
}
