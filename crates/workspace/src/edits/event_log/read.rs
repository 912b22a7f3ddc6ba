//! Reading the event log: the lines after a number, and new lines since the last time.

use std::fs;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};

use cap_std::fs::{Dir, OpenOptions};

use super::{CURRENT, EventLog, PREVIOUS, identity, number_of, opened};

/// The number of bytes of a line that contain its number, if it begins with that.
const HEAD: usize = 48;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number.
    pub number: u64,
    /// The whole line, without its line feed.
    pub text: String,
}

/// The position of a reader.
#[derive(Debug, Default)]
pub struct Position {
    after: u64,
    /// The file that is written to, and where its next line begins. Kept open so that no other file gets its inode.
    next: Option<(fs::File, u64)>,
}

impl Position {
    /// Creates the position after the line with this number; 0 is before all lines.
    #[must_use]
    pub fn after(number: u64) -> Self {
        Self { after: number, next: None }
    }

    /// Returns the number of the last line read.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.after
    }
}

impl EventLog {
    /// Passes each line after the position to `take`, in order, until that returns false, and advances the position. A
    /// position beyond the end of the log is reset, because the log was removed and began anew.
    pub fn read(&self, position: &mut Position, mut take: impl FnMut(Line) -> bool) -> io::Result<()> {
        let Some(dir) = self.existing()? else { return Ok(()) };
        let current = readable(&dir, CURRENT)?;
        let is_current = current.as_ref().map(identity).transpose()?;
        let from = match &position.next {
            Some((file, next)) if Some(identity(file)?) == is_current => *next,
            _ => {
                if self.newest_in(&dir)? < position.after {
                    position.after = 0;
                }
                // A file that is rotated right now is read twice; each line counts once.
                if let Some(previous) = readable(&dir, PREVIOUS)?
                    && !read_on(&previous, 0, position, &mut take)?.1
                {
                    return Ok(());
                }
                0
            }
        };
        if let Some(current) = current {
            let (next, _) = read_on(&current, from, position, &mut take)?;
            position.next = Some((current, next));
        }
        Ok(())
    }

    /// Returns the number of the newest line, or 0.
    pub fn newest(&self) -> io::Result<u64> {
        self.existing()?.map_or(Ok(0), |dir| self.newest_in(&dir))
    }

    fn newest_in(&self, dir: &Dir) -> io::Result<u64> {
        for name in [CURRENT, PREVIOUS] {
            if let Some(mut file) = readable(dir, name)?
                && let Some(number) = super::last_number(&mut file)?
            {
                return Ok(number);
            }
        }
        Ok(0)
    }
}

/// Opens a file of the log, if it exists.
fn readable(dir: &Dir, name: &str) -> io::Result<Option<fs::File>> {
    match opened(dir, name, OpenOptions::new().read(true)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads complete lines from here on. Returns the offset of the next line, and whether the reader wants more.
fn read_on(
    mut file: &fs::File,
    from: u64,
    position: &mut Position,
    take: &mut impl FnMut(Line) -> bool,
) -> io::Result<(u64, bool)> {
    file.seek(SeekFrom::Start(from))?;
    let (mut file, mut at, mut bytes) = (BufReader::new(file), from, Vec::new());
    loop {
        bytes.clear();
        let read = file.read_until(b'\n', &mut bytes)?;
        // The last line may still be being written.
        if bytes.pop() != Some(b'\n') {
            return Ok((at, true));
        }
        at += read as u64;
        if head_number(&bytes).is_some_and(|number| number <= position.after) {
            continue;
        }
        let line = number_of(&bytes).filter(|number| *number > position.after);
        if let Some((number, text)) = line.zip(String::from_utf8(std::mem::take(&mut bytes)).ok()) {
            position.after = number;
            if !take(Line { number, text }) {
                return Ok((at, false));
            }
        }
    }
}

/// Returns the number near the beginning of a line, without parsing the rest: old lines are only skipped.
fn head_number(line: &[u8]) -> Option<u64> {
    let head = std::str::from_utf8(&line[..line.len().min(HEAD)]).ok()?;
    let (_, rest) = head.split_once("\"event\":")?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    // The digits may continue beyond the prefix.
    rest[..digits].parse().ok().filter(|_| digits < rest.len())
}
