//! Reading the log: what stands behind a number, and what has come since the last time.

use std::fs;
use std::io::{self, BufRead, BufReader, Seek, SeekFrom};

use cap_std::fs::{Dir, OpenOptions};

use super::{CURRENT, EventLog, PREVIOUS, identity, number_of, opened};

/// How many bytes of a line have its number, where it begins with that.
const HEAD: usize = 48;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number.
    pub number: u64,
    /// All of it, without its end.
    pub text: String,
}

/// How far somebody has read.
#[derive(Debug, Default)]
pub struct Position {
    after: u64,
    /// Where the next line begins in this file, as long as it is the one that is written to. It is held open, so that no
    /// other gets its identity.
    next: Option<(fs::File, u64)>,
}

impl Position {
    /// Behind the line of this number; 0 is before all.
    #[must_use]
    pub fn after(number: u64) -> Self {
        Self { after: number, next: None }
    }

    /// The number of the last line that was read.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.after
    }
}

impl EventLog {
    /// Gives each line behind the position to `take`, in their order, until that says that it is enough, and moves the
    /// position on. Whoever has read further than the log goes begins anew: it was removed meanwhile, and so does it.
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
                // What becomes the previous file in this moment is read as both; a line counts once.
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

    /// The number of the newest line, or 0.
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

/// A file of the log, if there is one.
fn readable(dir: &Dir, name: &str) -> io::Result<Option<fs::File>> {
    match opened(dir, name, OpenOptions::new().read(true)) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads whole lines from here on. Yields where the next one begins, and whether more is wanted.
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
        // The last line may be in the middle of being written.
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

/// The number near the beginning of a line, without a look at the rest: what was read before is only passed over.
fn head_number(line: &[u8]) -> Option<u64> {
    let head = std::str::from_utf8(&line[..line.len().min(HEAD)]).ok()?;
    let (_, rest) = head.split_once("\"event\":")?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    // It may go on.
    rest[..digits].parse().ok().filter(|_| digits < rest.len())
}
