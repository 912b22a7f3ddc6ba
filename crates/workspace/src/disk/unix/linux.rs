//! What is Linux's own: `openat2` to stay beneath a root and follow no links, `syncfs` for many files at once, and a disk
//! that begins with a large file before its sync.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cap_std::fs::Dir;
use rustix::fs::{self, AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxFlags};
use rustix::io::Errno;

/// The number of times `openat2` is retried after a concurrent rename made it fail.
const RACED: usize = 32;

/// Whether this kernel has `openat2` (5.6) and lets us call it.
pub(super) fn is_supported() -> bool {
    fs::openat2(CWD, ".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::BENEATH).is_ok()
}

pub(super) fn open_beneath(root: &Dir, path: &Path) -> io::Result<Dir> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let mut failure = Errno::AGAIN;
    for _ in 0..RACED {
        match fs::openat2(root, path, flags, Mode::empty(), resolve) {
            Ok(fd) => return Ok(Dir::from_std_file(File::from(fd))),
            // A folder that is moved out of the root while it is opened is beyond it, for the kernel, as `..` would be. The
            // next look does not find it, or finds what has come in its place.
            Err(error @ (Errno::AGAIN | Errno::XDEV)) => failure = error,
            Err(error) => return Err(error.into()),
        }
    }
    Err(failure.into())
}

/// Hardly any folder of a Linux machine takes two spellings for one name, and to look would cost a list of each.
pub(super) fn spelled(_dir: &Dir, _name: &OsStr) -> Option<PathBuf> {
    None
}

pub(super) fn sync(file: &File) -> io::Result<()> {
    Ok(fs::fsync(file)?)
}

pub(super) fn sync_all(dir: &Dir) -> io::Result<bool> {
    fs::syncfs(crate::disk::folder_as_file(dir)?)?;
    Ok(true)
}

/// Returns the number of the mount that a folder is on.
pub(super) fn mount(dir: &Dir) -> io::Result<u64> {
    Ok(fs::statx(dir, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?.stx_mnt_id)
}

/// The number of bytes after which the disk begins with them, in files of at least twice as many.
const BATCH: usize = 8 * 1024 * 1024;
/// Pages of this size are written as a whole: one that is not full yet would be written twice.
const PAGE: u64 = 4096;

/// Writes the content of a new file. That of a large one goes to the disk meanwhile, which takes half the time of its sync.
pub(super) fn write(mut file: &File, pieces: &[&[u8]]) -> io::Result<()> {
    if pieces.iter().map(|piece| piece.len()).sum::<usize>() < 2 * BATCH {
        return crate::disk::portable::write(file, pieces);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// As an edit of another process ends, its folder leaves the folder of open edits, and that is just when it is looked at.
    #[test]
    fn a_folder_that_is_moved_out_meanwhile_is_absent() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let folder = tempfile::tempdir().unwrap();
        let [inside, outside] = ["root/one", "one"].map(|path| folder.path().join(path));
        std::fs::create_dir_all(&inside).unwrap();
        let root = Dir::open_ambient_dir(folder.path().join("root"), cap_std::ambient_authority()).unwrap();
        let is_over = AtomicBool::new(false);
        let unexpected = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::fs::rename(&inside, &outside).unwrap();
                    std::fs::rename(&outside, &inside).unwrap();
                }
            });
            let opened = (0..50_000).map(|_| open_beneath(&root, Path::new("one")));
            let unexpected =
                opened.filter_map(Result::err).find(|error| error.kind() != io::ErrorKind::NotFound);
            is_over.store(true, Ordering::Relaxed);
            unexpected
        });
        assert!(unexpected.is_none(), "{unexpected:?}");
    }

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
