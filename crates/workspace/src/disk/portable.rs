//! The disk of any system: cap-std to stay beneath a root and follow no links, a hard link and a rename instead of an
//! exchange.
//!
//! Its one weakness: a program that replaces the file by its own rename, between the linking of the old file and the
//! rename of the new one over it, loses its update.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt};
use cap_std::fs::{Dir, FileType, Metadata, OpenOptions};
use emend_lease::LeaseResult;

use super::{Disk, FileKind, ReadObserver, Stat, spelling};

/// The disk of any machine, using cap-std.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

/// The name prefix of an exchange's helper files.
pub(crate) const HELPER: &str = ".exchange-";

impl Disk for Portable {
    fn open_dir(&self, root: &Dir, path: &Path) -> io::Result<Dir> {
        let mut dir = root.open_dir(".")?;
        for component in path.components() {
            match component {
                // One component at a time, so that no link on the way is followed.
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

    fn read(&self, file: &File, limit: u64, seen: &mut ReadObserver<'_>) -> io::Result<Vec<u8>> {
        read(file, limit, seen)
    }

    fn holds(&self, file: &File, content: &[u8]) -> io::Result<bool> {
        holds(file, content)
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

    fn lease(&self, _dir: &Dir, _name: &OsStr) -> LeaseResult {
        LeaseResult::Unavailable
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
            // This system has no executable bit.
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
        super::sync_folder(dir)
    }

    fn sync_all(&self, _dir: &Dir) -> io::Result<bool> {
        Ok(false)
    }

    fn same_mount(&self, one: &Dir, other: &Dir) -> io::Result<bool> {
        // This misses another mount of the same file system; there the rename fails.
        let device = |dir: &Dir| dir.dir_metadata().map(|metadata| MetadataExt::dev(&metadata));
        Ok(device(one)? == device(other)?)
    }

    fn open_to_append(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.append(true).create(true).follow(FollowSymlinks::No);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            options.mode(0o600).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
        }
        Ok(dir.open_with(name, &options)?.into_std())
    }

    fn open_to_overwrite(&self, dir: &Dir, name: &OsStr) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).follow(FollowSymlinks::No);
        #[cfg(unix)]
        {
            use cap_std::fs::OpenOptionsExt;
            use rustix::fs::OFlags;
            options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
        }
        Ok(dir.open_with(name, &options)?.into_std())
    }

    fn overwrite(&self, file: &File, pieces: &[&[u8]]) -> io::Result<()> {
        #[cfg(unix)]
        return super::metadata::keeping_mode(file, || overwrite(file, pieces));
        #[cfg(not(unix))]
        return overwrite(file, pieces);
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
        // The old file gets a second name, and so does the new one. One rename moves the second name of the new file
        // over the old one; another moves that of the old file over the new one's first name. So both names have a file
        // at any moment, and after a crash the names show how far it came.
        let (aside, coming) = helpers(from.1);
        for left in [&aside, &coming] {
            let _ = from.0.remove_file(left);
        }
        to.0.hard_link(to.1, from.0, &aside)?;
        let placed = from.0.hard_link(from.1, from.0, &coming);
        if let Err(error) = placed.and_then(|()| from.0.rename(&coming, to.0, to.1)) {
            let _ = from.0.remove_file(&coming);
            let _ = from.0.remove_file(&aside);
            return Err(error);
        }
        from.0.rename(&aside, from.0, from.1).inspect_err(|_| {
            let _ = from.0.rename(&aside, to.0, to.1);
        })
    }

    fn settle_exchange(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<bool> {
        let mut is_taken = false;
        let (aside, coming) = helpers(from.1);
        let inode =
            |dir: &Dir, name: &OsStr| dir.symlink_metadata(name).ok().map(|file| MetadataExt::ino(&file));
        if let Some(displaced) = inode(from.0, &aside) {
            match inode(to.0, to.1) {
                // The new file is in place: the last step is missing.
                target if target.is_some() && target == inode(from.0, from.1) => {
                    from.0.rename(&aside, from.0, from.1)?;
                }
                target if target == Some(displaced) => from.0.remove_file(&aside)?,
                // Another program's file stands there, so nothing is removed.
                _ => is_taken = true,
            }
        }
        match from.0.remove_file(&coming) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(is_taken),
        }
    }

    fn rename_new(&self, from: (&Dir, &OsStr), to: (&Dir, &OsStr)) -> io::Result<()> {
        // A hard link fails if the name is taken, unlike a rename.
        match from.0.hard_link(from.1, to.0, to.1) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let identity = |at: (&Dir, &OsStr)| {
                    let file = at.0.symlink_metadata(at.1)?;
                    Ok::<_, io::Error>((MetadataExt::dev(&file), MetadataExt::ino(&file)))
                };
                if identity(from)? != identity(to)? {
                    return Err(error);
                }
                // Another spelling of the name; the file would go with it.
                if spelling::is_one_entry(self, from, to)? {
                    return from.0.rename(from.1, to.0, to.1);
                }
                // A crash between the two steps leaves both names.
                return from.0.remove_file(from.1);
            }
            linked => linked?,
        }
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

    fn entries(&self, dir: &Dir, limit: usize) -> io::Result<Vec<(OsString, FileKind)>> {
        entries(dir, limit)
    }
}

/// Returns the helper names that an exchange uses beside a staged file: for the displaced file and for the new one.
/// They contain a hash of the staged file's name.
fn helpers(staged: &OsStr) -> (OsString, OsString) {
    (helper("displaced", staged), helper("coming", staged))
}

/// Returns the name of a helper file of an exchange with this staged one.
pub(crate) fn helper(role: &str, staged: &OsStr) -> OsString {
    let hash = &blake3::hash(staged.as_encoded_bytes()).to_hex()[..16];
    format!("{HELPER}{role}-{hash}").into()
}

fn kind_of(file_type: FileType) -> FileKind {
    if file_type.is_file() {
        FileKind::File
    } else if file_type.is_dir() {
        FileKind::Dir
    } else if file_type.is_symlink() {
        FileKind::Link
    } else {
        FileKind::Other("a FIFO, socket or device")
    }
}

fn from_metadata(metadata: &Metadata) -> Stat {
    let kind = kind_of(metadata.file_type());
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

/// The size from which a second thread processes a file while it is being read. For smaller files, that thread may wait
/// longer for a core than hashing takes.
const TOGETHER: usize = 8 * 1024 * 1024;
/// The number of bytes that the second thread gets at a time.
const STEP: usize = 256 * 1024;

pub(super) fn read(file: &File, limit: u64, seen: &mut ReadObserver<'_>) -> io::Result<Vec<u8>> {
    // An estimate: the file may grow or shrink meanwhile.
    let size = file.metadata()?.len().min(limit) as usize;
    let mut bytes = if size < TOGETHER { Vec::with_capacity(size + 1) } else { vec![0; size] };
    let mut looked_at = 0;
    if !bytes.is_empty() {
        looked_at = read_together(file, &mut bytes, seen)?;
        bytes.truncate(looked_at);
    }
    // One byte more than the limit, to recognise a file that grew beyond it.
    file.take(limit + 1 - looked_at as u64).read_to_end(&mut bytes)?;
    seen(&bytes[looked_at..]);
    Ok(bytes)
}

/// Fills `bytes`, and passes each part to `seen` while the next one is being read. Returns the number of bytes read.
fn read_together(file: &File, bytes: &mut [u8], seen: &mut ReadObserver<'_>) -> io::Result<usize> {
    thread::scope(|scope| {
        let (send, receive) = mpsc::channel::<&[u8]>();
        let look = move || receive.into_iter().for_each(seen);
        thread::Builder::new().spawn_scoped(scope, look)?;
        let mut total = 0;
        for part in bytes.chunks_mut(STEP) {
            let len = fill(file, part)?;
            total += len;
            // The receiver goes away only when it panics, and then the scope panics too.
            let _ = send.send(&part[..len]);
            if len < part.len() {
                break;
            }
        }
        Ok(total)
    })
}

/// Reads until `part` is full or the file ends.
fn fill(mut file: &File, part: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while len < part.len() {
        match file.read(&mut part[len..]) {
            Ok(0) => break,
            Ok(more) => len += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

/// The number of bytes compared at a time: few enough to stay in the CPU cache.
const WINDOW: usize = 64 * 1024;

/// Compares the file through a small window, because holding all of it would cost more than comparing it.
pub(super) fn holds(file: &File, content: &[u8]) -> io::Result<bool> {
    let mut window = vec![0; WINDOW.min(content.len() + 1)];
    let mut rest = content;
    loop {
        let len = fill(file, &mut window)?;
        match rest.split_at_checked(len) {
            Some((same, later)) if *same == window[..len] => rest = later,
            _ => return Ok(false),
        }
        if len < window.len() {
            return Ok(rest.is_empty());
        }
    }
}

pub(super) fn write(mut file: &File, pieces: &[&[u8]]) -> io::Result<()> {
    // Small content is written in one call, large content without copying it.
    const JOINED: usize = 256 * 1024;
    if pieces.iter().map(|piece| piece.len()).sum::<usize>() <= JOINED {
        return file.write_all(&pieces.concat());
    }
    pieces.iter().try_for_each(|piece| file.write_all(piece))
}

pub(super) fn overwrite(mut file: &File, pieces: &[&[u8]]) -> io::Result<()> {
    use std::io::Seek;
    file.rewind()?;
    pieces.iter().try_for_each(|piece| file.write_all(piece))?;
    file.set_len(pieces.iter().map(|piece| piece.len() as u64).sum())
}

pub(super) fn names(dir: &Dir) -> io::Result<Vec<OsString>> {
    dir.entries()?.map(|entry| Ok(entry?.file_name())).collect()
}

pub(super) fn entries(dir: &Dir, limit: usize) -> io::Result<Vec<(OsString, FileKind)>> {
    let kinds = dir.entries()?.take(limit).map(|entry| {
        let entry = entry?;
        // An entry without a kind has been removed meanwhile.
        Ok(entry.file_type().ok().map(|file_type| (entry.file_name(), kind_of(file_type))))
    });
    kinds.filter_map(io::Result::transpose).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a file with this content, positioned at its beginning.
    fn file(content: &[u8]) -> File {
        use std::io::Seek;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file.rewind().unwrap();
        file
    }

    fn content(len: usize) -> Vec<u8> {
        (0..len).map(|i| (i % 251) as u8).collect()
    }

    const LENGTHS: [usize; 7] = [0, 1, WINDOW - 1, WINDOW, TOGETHER - 1, TOGETHER, TOGETHER + STEP + 7];

    #[test]
    fn an_exchange_that_another_program_made_impossible_is_told_and_what_it_displaced_is_beside() {
        let folder = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        let at = |name| (&dir, OsStr::new(name));
        let (aside, coming) = helpers(OsStr::new("staged"));
        // How far it came, whether another program has put a file there since, and what is then where.
        for (came, theirs, is_taken, staged, target) in [
            (1, false, false, "new", "old"),
            (2, false, false, "old", "new"),
            (1, true, true, "new", "theirs"),
            (2, true, true, "new", "theirs"),
        ] {
            dir.write("staged", "new").unwrap();
            dir.write("target", "old").unwrap();
            dir.hard_link("target", &dir, &aside).unwrap();
            dir.hard_link("staged", &dir, &coming).unwrap();
            if came == 2 {
                dir.rename(&coming, &dir, "target").unwrap();
            }
            if theirs {
                dir.write("theirs", "theirs").unwrap();
                dir.rename("theirs", &dir, "target").unwrap();
            }
            for _ in 0..2 {
                let settled = Portable.settle_exchange(at("staged"), at("target")).unwrap();
                assert_eq!(settled, is_taken, "{came} {theirs}");
                let found = ["staged", "target"].map(|name| dir.read_to_string(name).unwrap());
                assert_eq!(found, [staged, target], "{came} {theirs}");
            }
            assert_eq!(
                dir.read_to_string(&aside).ok().as_deref(),
                theirs.then_some("old"),
                "{came} {theirs}"
            );
            for name in dir.entries().unwrap() {
                dir.remove_file(name.unwrap().file_name()).unwrap();
            }
        }
    }

    #[test]
    fn what_is_seen_is_what_is_read() {
        for len in LENGTHS {
            let content = content(len);
            let mut seen = Vec::new();
            let read = read(&file(&content), 1 << 30, &mut |part| seen.extend_from_slice(part)).unwrap();
            assert!(read == content && seen == content, "{len}");
        }
    }

    #[test]
    fn a_file_above_the_limit_yields_one_byte_more() {
        for limit in [10, TOGETHER, TOGETHER + 3] {
            let mut seen = 0;
            let read =
                read(&file(&content(limit + 9)), limit as u64, &mut |part| seen += part.len()).unwrap();
            assert_eq!((read.len(), seen), (limit + 1, limit + 1));
        }
    }

    #[test]
    fn a_file_holds_its_content_and_nothing_else() {
        for len in LENGTHS {
            let mut content = content(len);
            let file = file(&content);
            let holds = |content: &[u8]| {
                use std::io::Seek;
                (&file).rewind().unwrap();
                holds(&file, content).unwrap()
            };
            assert!(holds(&content), "{len}");
            content.push(0);
            assert!(!holds(&content), "{len}: longer");
            content.pop();
            if let Some(last) = content.pop() {
                assert!(!holds(&content), "{len}: shorter");
                content.push(last ^ 1);
                assert!(!holds(&content), "{len}: different");
            }
        }
    }
}
