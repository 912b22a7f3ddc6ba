//! Changes to the files that a session has read, kept until one of its answers has reported them.

use std::collections::{BTreeMap, HashMap};

use emend_workspace::edit::Version;
use emend_workspace::readings::Reading;
use emend_workspace::{Fingerprint, Readings, Stat};

/// The number of files that one answer looks at.
const FILES_PER_LOOK: usize = 200;
/// The number of changes that an answer names; the rest it only counts.
const NAMED_CHANGES: usize = 20;

/// The changes that the answers of a session still have to report.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    /// The changes that no answer has reported yet, by the name of the file.
    changes: BTreeMap<String, Change>,
    /// The last report about each file, so that no change is reported twice.
    reported: HashMap<String, Reported>,
    /// The number of files that the session had read when the watched folders were last arranged.
    pub(super) arrivals: u64,
    /// The number of times that any file may have changed unseen.
    doubts: u64,
    /// The value of `doubts` when the current round of looking began.
    round: u64,
    /// The value of `doubts` up to which a whole round has looked at every file.
    settled: u64,
    /// The last file that the current round has looked at; `None` between two rounds.
    pub(super) looked_up_to: Option<String>,
}

#[derive(Debug)]
struct Change {
    seen: Seen,
    /// Whether the file was found in this state again right before the next answer.
    is_certain: bool,
    /// The new name of a file that was moved, if it is known.
    to: Option<String>,
}

/// The state of a file, as a look at it has shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) now: Fingerprint,
    /// The metadata from before the content was read, if it was asked for.
    pub(super) stat: Option<Stat>,
}

#[derive(Debug)]
struct Reported {
    /// The version that the client had read at the time of the report.
    read: Version,
    now: Fingerprint,
    /// The file's metadata at the time of the report, if it was asked for.
    stat: Option<Stat>,
}

impl Remarks {
    /// Records the present state of a file, of which the client has read `read`.
    pub(super) fn record_sight(
        &mut self,
        name: &str,
        now: &Fingerprint,
        stat: Option<Stat>,
        read: Option<&Reading>,
    ) {
        // Without a reading, the client has never read the file, or has removed it.
        let before = self.changes.remove(name);
        let Some(read) = read.map(|read| read.version) else { return };
        let now = now.clone();
        if now != Fingerprint::Text(read) {
            let to = before.filter(|before| before.seen.now == now).and_then(|before| before.to);
            let seen = Seen { now, stat };
            self.changes.insert(name.to_owned(), Change { seen, is_certain: false, to });
        } else if stat.is_some() {
            // The file is as it was read: no answer has to read it again.
            self.reported.insert(name.to_owned(), Reported { read, now, stat });
        } else {
            self.reported.remove(name);
        }
    }

    /// Records that any file may have changed unseen, so that the answers look for themselves.
    pub(super) fn doubt_everything(&mut self) {
        self.doubts += 1;
    }

    /// Returns whether an answer has to look at files itself.
    pub(super) fn has_to_look(&self) -> bool {
        self.doubts != self.settled
    }

    /// Records that the file called `name` was moved to `to`.
    pub(super) fn record_move(&mut self, name: &str, to: &str) {
        if let Some(change) = self.changes.get_mut(name) {
            change.to = Some(to.to_owned());
        }
    }

    /// Returns whether there is nothing to report and no file to look at.
    pub(super) fn is_silent(&self) -> bool {
        self.changes.is_empty() && !self.has_to_look()
    }

    /// Returns the changes that the next answer will name, as far as they are known.
    pub(super) fn unreported(&self, readings: &Readings) -> Vec<(String, Seen)> {
        let unreported = self
            .changes
            .iter()
            .filter(|(name, change)| self.unreported_reading(name, &change.seen.now, readings).is_some());
        unreported.take(NAMED_CHANGES).map(|(name, change)| (name.clone(), change.seen.clone())).collect()
    }

    /// Returns the version that was read of a file, if an answer still has to report that it is another one `now`.
    fn unreported_reading(&self, name: &str, now: &Fingerprint, readings: &Readings) -> Option<Version> {
        let read = readings.of(name).filter(|reading| reading.is_read())?.version;
        (*now != Fingerprint::Text(read) && !self.has_reported(name, read, now)).then_some(read)
    }

    /// Records a second look at a file that was seen as `before`; `None` where the look gave nothing certain. A change
    /// that was recorded in the meantime stays as it is.
    pub(super) fn record_second_sight(&mut self, name: &str, before: &Seen, now: Option<Seen>) {
        let Some(change) = self.changes.get_mut(name).filter(|change| change.seen == *before) else { return };
        change.is_certain = now.is_some();
        if let Some(now) = now {
            change.to.take_if(|_| now.now != before.now);
            change.seen = now;
        }
    }

    /// Takes the changes out and returns a note about each for the next answer.
    pub(super) fn take_notes(&mut self, readings: &Readings) -> Vec<String> {
        let mut notes = Vec::new();
        for (name, Change { seen, is_certain, to }) in std::mem::take(&mut self.changes) {
            if let Some(read) = self.unreported_reading(&name, &seen.now, readings) {
                notes.push(note(&name, Some(&seen.now).filter(|_| is_certain), to.as_deref()));
                self.reported.insert(name, Reported { read, now: seen.now, stat: seen.stat });
            }
        }
        shorten(notes)
    }

    pub(super) fn has_reported(&self, name: &str, read: Version, now: &Fingerprint) -> bool {
        self.reported.get(name).is_some_and(|reported| reported.read == read && reported.now == *now)
    }

    /// Returns the files that this answer looks at, with what was read of each, and whether the round ends with them.
    pub(super) fn select_next_files(&mut self, readings: &Readings) -> (Vec<(String, Version, Stat)>, bool) {
        if self.looked_up_to.is_none() {
            self.round = self.doubts;
        }
        let mut rest = readings.read_after(self.looked_up_to.as_deref());
        let some = rest.by_ref().take(FILES_PER_LOOK);
        let some = some.map(|(name, reading)| (name.to_owned(), reading.version, reading.stat)).collect();
        (some, rest.next().is_none())
    }

    /// Ends a look that has reached the file `last`, or every file if it `is_whole`.
    pub(super) fn end_look(&mut self, last: Option<String>, is_whole: bool) {
        self.looked_up_to = last.filter(|_| !is_whole);
        if is_whole {
            self.settled = self.round;
        }
    }

    /// Returns whether an answer has already reported the state that goes with this metadata.
    pub(super) fn knows(&self, name: &str, read: Version, stat: Option<Stat>) -> bool {
        self.reported
            .get(name)
            .is_some_and(|reported| reported.read == read && reported.stat == stat && stat.is_some())
            || stat.is_none() && self.has_reported(name, read, &Fingerprint::Unreadable)
    }

    /// Records what an answer has seen when it looked at a file itself.
    pub(super) fn record_sight_in_answer(
        &mut self,
        name: &str,
        read: Version,
        stat: Option<Stat>,
        now: Fingerprint,
    ) {
        let is_unreported = now != Fingerprint::Text(read) && !self.has_reported(name, read, &now);
        if is_unreported {
            let seen = Seen { now, stat };
            self.changes.insert(name.to_owned(), Change { seen, is_certain: false, to: None });
        } else {
            // The next answer does not have to read the file again.
            self.reported.insert(name.to_owned(), Reported { read, now, stat });
        }
    }
}

fn note(name: &str, now: Option<&Fingerprint>, to: Option<&str>) -> String {
    let Some(now) = now else {
        return format!(
            "{name} was changed by somebody else since you read it. Read it again before you rely on it."
        );
    };
    match (now, to) {
        (Fingerprint::Text(version), _) => format!(
            "{name} was changed by somebody else since you read it: it is at version {} now. Read it again before you \
             rely on it.",
            version.short()
        ),
        (Fingerprint::Other(_), _) => {
            format!(
                "{name} was changed by somebody else since you read it, and cannot be read as text any more."
            )
        }
        (Fingerprint::Unreadable, Some(to)) => {
            format!("{name}, which you have read, was moved to {to} by somebody else. Read it there.")
        }
        (Fingerprint::Unreadable, None) => {
            format!("{name}, which you have read, is gone: somebody else has deleted or moved it.")
        }
    }
}

fn shorten(mut notes: Vec<String>) -> Vec<String> {
    let more = notes.len().saturating_sub(NAMED_CHANGES);
    if more > 0 {
        notes.truncate(NAMED_CHANGES);
        let files = if more == 1 { "file that you have read was" } else { "files that you have read were" };
        notes.push(format!(
            "{more} more {files} changed by somebody else. Read a file again before you rely on it."
        ));
    }
    notes
}
