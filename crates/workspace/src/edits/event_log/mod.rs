//! The event log in the user's state folder: numbered lines of JSON, written by every process of this user that serves
//! or edits. This module numbers, stores and finds lines; their content is up to the writer.
//!
//! It promises that numbers increase by one from line to line, across processes, and that a line is there completely or
//! not at all: the next writer terminates the partial line of a killed process, and no reader gets it. Lines are not
//! synced: after a power loss the last ones may be lost and their numbers reused.
//!
//! A full file is rotated: it replaces the previous file. Writers take turns by locking the file itself, and then check
//! that it still has its name.

mod read;

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use cap_fs_ext::{FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use serde::Deserialize;

use crate::files::seal::make_private;
use crate::files::vault::is_ours;

pub use self::read::{Line, Position};

/// The name of the folder in the state folder.
const FOLDER: &str = "events";
/// The name of the file that is written to.
const CURRENT: &str = "log.jsonl";
/// The name of the previous file.
const PREVIOUS: &str = "log.1.jsonl";
/// The size at which a file is rotated.
const FULL: u64 = 16 * 1024 * 1024;
/// The number of bytes at the end of a file that are searched first for its last number.
const END: u64 = 64 * 1024;
/// The number of attempts to lock a file that is rotated meanwhile.
const ATTEMPTS: usize = 100;

/// This user's event log.
#[derive(Debug)]
pub struct EventLog {
    folder: PathBuf,
    full: u64,
    /// The last number assigned here: numbers continue even if the folder is removed.
    last: u64,
    /// The file and its length after our last line: if the length is the same, nobody else has written. Kept open so
    /// that no other file gets its inode.
    end: Option<(fs::File, u64)>,
}

/// The identity of a file: device and inode.
type Identity = (u64, u64);

/// The fields of a line that this module reads.
#[derive(Deserialize)]
struct Head {
    event: u64,
}

impl EventLog {
    /// Returns the log in this state folder, whether it exists yet or not.
    #[must_use]
    pub fn in_state(state: &Path) -> Self {
        Self { folder: state.join(FOLDER), full: FULL, last: 0, end: None }
    }

    /// Sets the size at which files are rotated.
    #[must_use]
    pub fn full_at(mut self, bytes: u64) -> Self {
        self.full = bytes;
        self
    }

    /// Returns the path of the file that is written to; watching it shows that there may be new lines.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.folder.join(CURRENT)
    }

    /// Creates the folder, so that it can be watched.
    pub fn make(&self) -> io::Result<()> {
        self.made().map(drop)
    }

    /// Appends the line that `line` makes for the next number, without a line feed. Waits for the lock. Returns the
    /// number; after an error, the number is not used up.
    pub fn append(&mut self, line: impl Fn(u64) -> String) -> io::Result<u64> {
        for _ in 0..ATTEMPTS {
            let dir = self.made()?;
            let mut file = opened(&dir, CURRENT, OpenOptions::new().read(true).append(true).create(true))?;
            emend_filelock::lock_patiently(&file)?;
            let own = identity(&file)?;
            if identity_in(&dir, CURRENT).ok() != Some(own) {
                // It was rotated or removed while we waited.
                continue;
            }
            let mut length = file.metadata()?.len();
            let end = self.end.take();
            let is_there =
                |(file, end): (fs::File, u64)| end == length && identity(&file).is_ok_and(|it| it == own);
            if !end.is_some_and(is_there) {
                length = close_off(&mut file, length)?;
                let newest = match last_number(&mut file)? {
                    Some(last) => last,
                    None => previous_number(&dir)?,
                };
                self.last = self.last.max(newest);
            }
            let number = self.last.saturating_add(1);
            let mut line = line(number);
            line.push('\n');
            if length > 0 && length + line.len() as u64 > self.full {
                match dir.rename(CURRENT, &dir, PREVIOUS) {
                    Ok(()) => continue,
                    // A reader may have the previous file open, which keeps its name. This one grows meanwhile.
                    Err(_) if cfg!(windows) => {}
                    Err(error) => return Err(error),
                }
            }
            if let Err(error) = file.write_all(line.as_bytes()) {
                // A part of the line may have been written.
                let _ = file.set_len(length);
                return Err(error);
            }
            self.last = number;
            // Kept open, but unlocked.
            emend_filelock::unlock(&file)?;
            self.end = Some((file, length + line.len() as u64));
            return Ok(number);
        }
        Err(io::Error::other("another file took the place of the log each time"))
    }

    fn made(&self) -> io::Result<Dir> {
        make_private(&self.folder)?;
        self.existing()?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    /// Opens the folder, if there is one.
    fn existing(&self) -> io::Result<Option<Dir>> {
        let dir = match Dir::open_ambient_dir(&self.folder, ambient_authority()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        if is_ours(&dir) {
            return Ok(Some(dir));
        }
        Err(io::Error::other(format!("{} is not for this user alone", self.folder.display())))
    }
}

/// Opens a file of the log for this user alone, following no link. It does not block on other kinds of file.
fn opened(dir: &Dir, name: &str, options: &mut OpenOptions) -> io::Result<fs::File> {
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(options, 0o600);
    let file = dir.open_with(name, options.follow(FollowSymlinks::No).nonblock(true))?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other(format!("{name} is no file")));
    }
    Ok(file.into_std())
}

fn identity(file: &fs::File) -> io::Result<Identity> {
    let metadata = cap_std::fs::Metadata::from_file(file)?;
    Ok((metadata.dev(), metadata.ino()))
}

fn identity_in(dir: &Dir, name: &str) -> io::Result<Identity> {
    let metadata = dir.symlink_metadata(name)?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Terminates the last line if a process was killed in the middle of it. Returns the new length of the file.
fn close_off(file: &mut fs::File, length: u64) -> io::Result<u64> {
    let mut last = [b'\n'];
    if length > 0 {
        file.seek(SeekFrom::Start(length - 1))?;
        file.read_exact(&mut last)?;
    }
    if last == [b'\n'] {
        return Ok(length);
    }
    file.write_all(b"\n")?;
    Ok(length + 1)
}

/// Returns the number of the last complete line; `None` if there is none.
fn last_number(file: &mut fs::File) -> io::Result<Option<u64>> {
    let length = file.metadata()?.len();
    let mut size = END;
    loop {
        let from = length.saturating_sub(size);
        let mut end = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        file.take(length - from).read_to_end(&mut end)?;
        let mut lines = end.rsplit(|byte| *byte == b'\n');
        // The first line may be cut off at its beginning.
        if let Some(number) = lines.find_map(number_of) {
            return Ok(Some(number));
        }
        if from == 0 {
            return Ok(None);
        }
        size *= 8;
    }
}

/// Returns the last number of the previous file; for a new, empty file.
fn previous_number(dir: &Dir) -> io::Result<u64> {
    match opened(dir, PREVIOUS, OpenOptions::new().read(true)) {
        Ok(mut file) => Ok(last_number(&mut file)?.unwrap_or(0)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(error),
    }
}

/// Returns the number of a line; `None` if it is incomplete.
fn number_of(line: &[u8]) -> Option<u64> {
    serde_json::from_slice(line).ok().map(|Head { event }| event)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(number: u64) -> String {
        format!("{{\"version\":1,\"event\":{number},\"text\":\"{}\"}}", "x".repeat(20))
    }

    fn numbers(log: &EventLog, position: &mut Position) -> Vec<u64> {
        let mut numbers = Vec::new();
        let take = |read: Line| {
            assert_eq!(read.text, line(read.number));
            numbers.push(read.number);
            true
        };
        log.read(position, take).unwrap();
        numbers
    }

    fn written(log: &mut EventLog, times: u64) -> Vec<u64> {
        (0..times).map(|_| log.append(line).unwrap()).collect()
    }

    #[test]
    fn numbers_grow_by_one_whoever_writes() {
        let state = tempfile::tempdir().unwrap();
        let writers = (0..4).map(|_| {
            let mut log = EventLog::in_state(state.path()).full_at(4_000);
            std::thread::spawn(move || written(&mut log, 50))
        });
        let mut all: Vec<u64> =
            writers.collect::<Vec<_>>().into_iter().flat_map(|it| it.join().unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, (1..=200).collect::<Vec<_>>());
        let log = EventLog::in_state(state.path());
        let kept = numbers(&log, &mut Position::default());
        assert_eq!(kept, (kept[0]..=200).collect::<Vec<_>>());
        assert_eq!(log.newest().unwrap(), 200);
    }

    #[test]
    fn a_reader_goes_on_where_it_was_also_after_files_were_rolled() {
        let state = tempfile::tempdir().unwrap();
        let mut log = EventLog::in_state(state.path());
        assert_eq!(numbers(&log, &mut Position::default()), [0; 0], "there is none yet");
        let mut position = Position::default();
        written(&mut log, 3);
        assert_eq!(numbers(&log, &mut Position::after(1)), [2, 3]);
        assert_eq!(numbers(&log, &mut position), [1, 2, 3]);
        assert_eq!(numbers(&log, &mut position), [0; 0]);
        let mut log = log.full_at(line(1).len() as u64 * 4);
        written(&mut log, 2);
        assert_eq!(numbers(&log, &mut position), [4, 5]);
        written(&mut log, 8);
        let kept = numbers(&log, &mut Position::default());
        assert!(kept.len() >= 3 && kept.ends_with(&[12, 13]), "{kept:?}");
        assert!(numbers(&log, &mut position).ends_with(&kept));
        assert_eq!(fs::read_dir(state.path().join(FOLDER)).unwrap().count(), 2);
        // Exactly the lines that there are.
        let mut position = Position::after(11);
        log.read(&mut position, |_| false).unwrap();
        assert_eq!(position.number(), 12);
        assert_eq!(numbers(&log, &mut position), [13]);
    }

    #[test]
    fn half_a_line_is_closed_off_and_nobody_gets_it() {
        for torn in ["{", "{\"version\":1,\"event\":3,\"text\":{}", "\0\0\0", "{\"version\":1,\"event\":3,"] {
            let state = tempfile::tempdir().unwrap();
            let mut log = EventLog::in_state(state.path());
            let mut follower = Position::default();
            written(&mut log, 2);
            let mut file = fs::OpenOptions::new().append(true).open(log.file()).unwrap();
            file.write_all(torn.as_bytes()).unwrap();
            assert_eq!(numbers(&log, &mut follower), [1, 2]);
            assert_eq!(EventLog::in_state(state.path()).append(line).unwrap(), 3);
            assert_eq!(log.append(line).unwrap(), 4);
            assert_eq!(numbers(&log, &mut follower), [3, 4]);
            assert_eq!(numbers(&log, &mut Position::default()), [1, 2, 3, 4]);
        }
        // A line that lacks only its line feed is complete.
        let state = tempfile::tempdir().unwrap();
        let mut log = EventLog::in_state(state.path());
        written(&mut log, 1);
        fs::write(log.file(), line(1) + "\n" + &line(2)).unwrap();
        assert_eq!(log.append(line).unwrap(), 3);
        assert_eq!(numbers(&log, &mut Position::default()), [1, 2, 3]);
    }

    #[test]
    fn a_log_that_is_removed_begins_anew_and_its_readers_with_it() {
        let state = tempfile::tempdir().unwrap();
        let (mut log, mut position) = (EventLog::in_state(state.path()), Position::default());
        written(&mut log, 3);
        assert_eq!(numbers(&log, &mut position), [1, 2, 3]);
        fs::remove_dir_all(state.path().join(FOLDER)).unwrap();
        assert_eq!(log.append(line).unwrap(), 4, "whoever has written before goes on");
        assert_eq!(numbers(&log, &mut position), [4]);
        fs::remove_dir_all(state.path().join(FOLDER)).unwrap();
        assert_eq!(EventLog::in_state(state.path()).append(line).unwrap(), 1);
        assert_eq!(numbers(&log, &mut position), [1]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_is_no_file_is_neither_written_nor_waited_for() {
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        let state = tempfile::tempdir().unwrap();
        let mut log = EventLog::in_state(state.path());
        written(&mut log, 1);
        for name in [CURRENT, PREVIOUS] {
            let path = state.path().join(FOLDER).join(name);
            let _ = fs::remove_file(&path);
            mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
            assert!(log.append(line).is_err());
            assert!(log.newest().is_err());
            assert!(log.read(&mut Position::default(), |_| true).is_err());
            fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    #[cfg(unix)]
    fn the_log_is_for_its_user_alone() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let state = tempfile::tempdir().unwrap();
        let mut log = EventLog::in_state(state.path());
        written(&mut log, 1);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&log.file()), mode(&state.path().join(FOLDER))), (0o600, 0o700));
        let outside = state.path().join("outside");
        fs::rename(log.file(), &outside).unwrap();
        symlink(&outside, log.file()).unwrap();
        assert!(log.append(line).is_err());
        assert_eq!(fs::read_to_string(&outside).unwrap(), line(1) + "\n");
        fs::set_permissions(state.path().join(FOLDER), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(log.append(line).is_err());
        assert!(log.newest().is_err());
    }
}
