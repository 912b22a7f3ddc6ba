//! What became of the files that a session has read, as far as its answers have not said so.

use std::collections::{BTreeMap, HashMap};

use emend_workspace::edit::Version;
use emend_workspace::readings::Reading;
use emend_workspace::{Readings, Sight, Stat};

/// How many files one answer looks at.
const FILES_PER_LOOK: usize = 200;
/// How many changes an answer names; of more it says the number.
const NAMED_CHANGES: usize = 20;

/// What the answers of a session have still to say.
#[derive(Debug, Default)]
pub(super) struct Remarks {
    /// What became of files.
    changes: BTreeMap<String, Change>,
    /// What was last said of a file, so that it is said once.
    said: HashMap<String, Said>,
    /// How many files had come into the readings when it was last arranged what is watched.
    pub(super) arrivals: u64,
    /// How often anything may have changed.
    doubts: u64,
    /// How many of these doubts were there when this round of looking began.
    round: u64,
    /// How many of these doubts a whole round of looking has settled.
    settled: u64,
    /// The file up to which has been looked at in this round.
    pub(super) looked_up_to: Option<String>,
}

#[derive(Debug)]
struct Change {
    seen: Seen,
    /// Whether it is still that, for all that the next answer knows.
    is_certain: bool,
    /// Where it was moved to, if that is known.
    to: Option<String>,
}

/// What looking at a file has shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) now: Sight,
    /// What the file system said of it before that, if it was asked.
    pub(super) stat: Option<Stat>,
}

#[derive(Debug)]
struct Said {
    /// The version that the client had read.
    read: Version,
    now: Sight,
    /// What the file system said of it then, if it was asked.
    stat: Option<Stat>,
}

impl Remarks {
    /// A file is this by now, and this is what was read of it.
    pub(super) fn record_sight(
        &mut self,
        name: &str,
        now: &Sight,
        stat: Option<Stat>,
        read: Option<&Reading>,
    ) {
        // Without a reading, its client has never read it, or has removed it.
        let before = self.changes.remove(name);
        let Some(read) = read.map(|read| read.version) else { return };
        let now = now.clone();
        if now != Sight::Text(read) {
            let to = before.filter(|before| before.seen.now == now).and_then(|before| before.to);
            let seen = Seen { now, stat };
            self.changes.insert(name.to_owned(), Change { seen, is_certain: false, to });
        } else if stat.is_some() {
            // No answer need read it again.
            self.said.insert(name.to_owned(), Said { read, now, stat });
        } else {
            self.said.remove(name);
        }
    }

    /// Anything may have changed.
    pub(super) fn doubt_everything(&mut self) {
        self.doubts += 1;
    }

    /// Whether an answer has to look for itself.
    pub(super) fn has_to_look(&self) -> bool {
        self.doubts != self.settled
    }

    /// A file that went was moved there.
    pub(super) fn record_move(&mut self, name: &str, to: &str) {
        if let Some(change) = self.changes.get_mut(name) {
            change.to = Some(to.to_owned());
        }
    }

    /// Whether there is nothing to say, and nothing to look at for that.
    pub(super) fn is_silent(&self) -> bool {
        self.changes.is_empty() && !self.has_to_look()
    }

    /// What the next answer names, as far as that is known.
    pub(super) fn unsaid(&self, readings: &Readings) -> Vec<(String, Seen)> {
        let unsaid = self
            .changes
            .iter()
            .filter(|(name, change)| self.unsaid_reading(name, &change.seen.now, readings).is_some());
        unsaid.take(NAMED_CHANGES).map(|(name, change)| (name.clone(), change.seen.clone())).collect()
    }

    /// What was read of a file, if an answer has still to say what became of it.
    fn unsaid_reading(&self, name: &str, now: &Sight, readings: &Readings) -> Option<Version> {
        let read = readings.of(name).filter(|reading| reading.is_read())?.version;
        (*now != Sight::Text(read) && !self.has_said(name, read, now)).then_some(read)
    }

    /// A file that was seen so is this now, or nobody knows. What has come to be known meanwhile is not touched.
    pub(super) fn record_second_sight(&mut self, name: &str, before: &Seen, now: Option<Seen>) {
        let Some(change) = self.changes.get_mut(name).filter(|change| change.seen == *before) else { return };
        change.is_certain = now.is_some();
        if let Some(now) = now {
            change.to.take_if(|_| now.now != before.now);
            change.seen = now;
        }
    }

    /// What the next answer says of what is known.
    pub(super) fn take_notes(&mut self, readings: &Readings) -> Vec<String> {
        let mut news = Vec::new();
        for (name, Change { seen, is_certain, to }) in std::mem::take(&mut self.changes) {
            if let Some(read) = self.unsaid_reading(&name, &seen.now, readings) {
                news.push(note(&name, Some(&seen.now).filter(|_| is_certain), to.as_deref()));
                self.said.insert(name, Said { read, now: seen.now, stat: seen.stat });
            }
        }
        shorten(news)
    }

    pub(super) fn has_said(&self, name: &str, read: Version, now: &Sight) -> bool {
        self.said.get(name).is_some_and(|said| said.read == read && said.now == *now)
    }

    /// Which files this answer looks at, with what was read of each. Yields also whether the round ends with them.
    pub(super) fn select_next_files(&mut self, readings: &Readings) -> (Vec<(String, Version, Stat)>, bool) {
        if self.looked_up_to.is_none() {
            self.round = self.doubts;
        }
        let mut rest = readings.read_after(self.looked_up_to.as_deref());
        let some = rest.by_ref().take(FILES_PER_LOOK);
        let some = some.map(|(name, reading)| (name.to_owned(), reading.version, reading.stat)).collect();
        (some, rest.next().is_none())
    }

    /// Everything up to this file was looked at in this round, or all.
    pub(super) fn end_look(&mut self, last: Option<String>, is_whole: bool) {
        self.looked_up_to = last.filter(|_| !is_whole);
        if is_whole {
            self.settled = self.round;
        }
    }

    /// Whether it was said of the file that looks so.
    pub(super) fn knows(&self, name: &str, read: Version, stat: Option<Stat>) -> bool {
        self.said.get(name).is_some_and(|said| said.read == read && said.stat == stat && stat.is_some())
            || stat.is_none() && self.has_said(name, read, &Sight::Nothing)
    }

    /// Looking at a file has shown this.
    pub(super) fn record_sight_in_answer(
        &mut self,
        name: &str,
        read: Version,
        stat: Option<Stat>,
        now: Sight,
    ) {
        let is_news = now != Sight::Text(read) && !self.has_said(name, read, &now);
        if is_news {
            let seen = Seen { now, stat };
            self.changes.insert(name.to_owned(), Change { seen, is_certain: false, to: None });
        } else {
            // The next answer need not read it again.
            self.said.insert(name.to_owned(), Said { read, now, stat });
        }
    }
}

fn note(name: &str, now: Option<&Sight>, to: Option<&str>) -> String {
    let Some(now) = now else {
        return format!(
            "{name} was changed by somebody else since you read it. Read it again before you rely on it."
        );
    };
    match (now, to) {
        (Sight::Text(version), _) => format!(
            "{name} was changed by somebody else since you read it: it is at version {} now. Read it again before you \
             rely on it.",
            version.short()
        ),
        (Sight::Other(_), _) => {
            format!(
                "{name} was changed by somebody else since you read it, and cannot be read as text any more."
            )
        }
        (Sight::Nothing, Some(to)) => {
            format!("{name}, which you have read, was moved to {to} by somebody else. Read it there.")
        }
        (Sight::Nothing, None) => {
            format!("{name}, which you have read, is gone: somebody else has deleted or moved it.")
        }
    }
}

fn shorten(mut news: Vec<String>) -> Vec<String> {
    let more = news.len().saturating_sub(NAMED_CHANGES);
    if more > 0 {
        news.truncate(NAMED_CHANGES);
        let files = if more == 1 { "file that you have read was" } else { "files that you have read were" };
        news.push(format!(
            "{more} more {files} changed by somebody else. Read a file again before you rely on it."
        ));
    }
    news
}
