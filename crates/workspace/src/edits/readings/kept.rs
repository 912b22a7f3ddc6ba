//! What is kept of readings for a server that takes a session over: the versions and the lines, without the contents. Whoever
//! has it may edit what the client has read, and is told that a file has changed, but not how.

use std::ops::Range;

use emend_edit::Version;
use serde::{Deserialize, Serialize};

use super::{LastRead, Reading, Readings};
use crate::disk::{FileKind, Stat};

/// Readings, as they are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptReadings(Vec<KeptReading>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptReading {
    file: String,
    version: String,
    read_version: String,
    seen: Vec<Range<usize>>,
    numbered: Vec<Range<usize>>,
    is_read: bool,
    is_change_only: bool,
    /// Whether its client must read it again before an edit, since what it last read is not kept.
    is_outdated: bool,
    lines: usize,
}

impl Readings {
    /// Returns what is kept of them.
    #[must_use]
    pub fn kept(&self) -> KeptReadings {
        let kept = |(file, reading): (&String, &Reading)| KeptReading {
            file: file.clone(),
            version: reading.version.hex(),
            read_version: reading.read_version.hex(),
            seen: reading.seen.clone(),
            numbered: reading.numbered.clone(),
            is_read: reading.is_read,
            is_change_only: reading.is_change_only,
            is_outdated: reading.last_read.is_some(),
            lines: reading.lines,
        };
        KeptReadings(self.files.iter().map(kept).collect())
    }

    /// Takes over what was kept of the readings of the same client. What it has read since stays.
    pub fn restore(&mut self, kept: KeptReadings) {
        // No file is like this, so each is looked at again: its content decides.
        let stat = Stat {
            kind: FileKind::File,
            size: u64::MAX,
            modified: None,
            device: u64::MAX,
            inode: u64::MAX,
            links: 0,
            mode: 0,
            read_only: false,
        };
        for kept in kept.0 {
            let KeptReading { file, version, read_version, seen, numbered, .. } = kept;
            let KeptReading { is_read, is_change_only, is_outdated, lines, .. } = kept;
            let versions = Version::from_hex(&version).zip(Version::from_hex(&read_version));
            let Some((version, read_version)) = versions else { continue };
            if self.of(&file).is_none() {
                let (content, last_read) = (None, is_outdated.then_some(LastRead::Forgotten));
                let reading = Reading {
                    version,
                    read_version,
                    stat,
                    seen,
                    numbered,
                    is_read,
                    is_change_only,
                    lines,
                    content,
                    last_read,
                };
                self.put(&file, reading);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{reader, snapshot};
    use super::*;
    use crate::problem::Again;

    #[test]
    fn who_takes_a_session_over_knows_what_was_read_and_what_was_not() {
        for (shown, is_full) in [(&[0..5][..], true), (&[1..3], false)] {
            let (before, read) = reader(shown);
            let kept = serde_json::to_string(&before.kept()).unwrap();
            let mut after = Readings::default();
            after.restore(serde_json::from_str(&kept).unwrap());
            assert_eq!(after.kept(), before.kept());
            assert_eq!(after.arrivals(), 1);
            assert!(after.check_read("a.txt", &read, None).is_ok());
            assert_eq!(after.check_whole("a.txt", &read, None).is_ok(), is_full, "{shown:?}");
            let changed = snapshot("1\n2\n3\n4\n6\n");
            assert!(after.check("a.txt", Some(&changed), None, Again::SameCall).is_err());
        }
    }

    #[test]
    fn what_was_read_since_stays_and_what_no_version_is_is_left_out() {
        let (before, _) = reader(&[0..5]);
        let mut kept = before.kept();
        let mut now = Readings::default();
        now.saw("a.txt", &snapshot("new\n"), 0..1, 1);
        let own = now.kept();
        now.restore(kept.clone());
        assert_eq!(now.kept(), own);
        kept.0[0].version = "beef".into();
        let mut after = Readings::default();
        after.restore(kept);
        assert!(after.of("a.txt").is_none());
    }
}
