//! What a client has read: for each file the version, the lines that were shown, and the metadata that shows cheaply
//! that the file is unchanged.
//!
//! The content always decides: a touched but identical file is not stale. Time, size and inode only select the files
//! that may have changed. What a client may edit because of its readings is decided in `check`.

mod check;
mod kept;
mod last_read;
mod ranges;

pub use kept::KeptReadings;
pub(crate) use last_read::LastRead;
use ranges::{insert_range, kept_numbers};

use std::collections::{BTreeMap, VecDeque};
use std::ops::{Bound, Range};
use std::sync::Arc;

use emend_edit::plan::Action;
use emend_edit::{Text, Version};

use crate::disk::Stat;
use crate::edits::contents::{self, Contents, Remembered};
use crate::edits::numbered_versions::NumberedVersions;
use crate::files::report::short_diff;
use crate::files::snapshot::Snapshot;

/// The number of bytes of content remembered for one client; the oldest is forgotten first.
const REMEMBERED: usize = 32 * 1024 * 1024;

/// The readings of one client.
#[derive(Debug, Default)]
pub struct Readings {
    /// The store of contents, perhaps shared with other clients.
    shared: Arc<Contents>,
    files: BTreeMap<String, Reading>,
    /// The files whose content is remembered, oldest first.
    contents: VecDeque<String>,
    remembered: usize,
    /// The versions of which the client knows the line numbers.
    numbered: NumberedVersions,
    /// The number of files read for the first time.
    arrivals: u64,
}

/// The reading of one file.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The version that was seen.
    pub version: Version,
    /// The version that was last read: the client's own edits have made `version` of it.
    pub(crate) read_version: Version,
    /// The metadata of the file at that time.
    pub stat: Stat,
    /// The lines that were shown, zero-based; sorted and disjoint.
    seen: Vec<Range<usize>>,
    /// The lines whose numbers in this version were shown, zero-based; sorted and disjoint.
    numbered: Vec<Range<usize>>,
    /// Whether it was read, at least in part: this version, or one from which the client knows all changes.
    is_read: bool,
    /// Whether the file changed since the client's last reading, and not all of it was shown again: then it does not know the
    /// line numbers.
    is_change_only: bool,
    /// The number of lines of the file.
    lines: usize,
    content: Option<Remembered>,
    last_read: Option<LastRead>,
}

impl Reading {
    /// Returns how many bytes of content are remembered for it.
    fn bytes(&self) -> usize {
        let of_last_read = match &self.last_read {
            Some(LastRead::Older(older)) => older.bytes,
            Some(LastRead::Forgotten) | None => 0,
        };
        of_last_read + self.content.as_ref().map_or(0, |content| content.bytes)
    }

    /// Returns the text that was read, if it is still remembered.
    fn text(&self) -> Option<Arc<Text>> {
        self.content.as_ref()?.text()
    }

    /// Returns whether the file changed since the client's last reading, and not all of it was shown again.
    pub(crate) fn is_change_only(&self) -> bool {
        self.is_change_only
    }

    /// Returns whether the file was read, at least in part.
    #[must_use]
    pub fn is_read(&self) -> bool {
        self.is_read
    }

    /// Returns whether every line was shown.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.lines == 0 || self.seen.first().is_some_and(|seen| seen.start == 0 && seen.end >= self.lines)
    }
}

impl Readings {
    /// Creates the readings of a client that shares these contents with others.
    #[must_use]
    pub fn sharing(contents: &Arc<Contents>) -> Self {
        Self { shared: Arc::clone(contents), ..Self::default() }
    }

    /// Creates a reading of the current content.
    fn reading(&self, snapshot: &Snapshot, seen: Vec<Range<usize>>, is_read: bool, lines: usize) -> Reading {
        Reading {
            version: snapshot.text.version(),
            read_version: snapshot.text.version(),
            stat: snapshot.stat,
            numbered: seen.clone(),
            seen,
            is_read,
            is_change_only: false,
            lines,
            content: Remembered::of(&snapshot.text, &self.shared),
            last_read: None,
        }
    }

    /// Returns the reading of this file.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<&Reading> {
        self.files.get(name)
    }

    /// Returns the version in which the client knows the number of one of these lines, counted from one: the version that it has
    /// read last, or its own edit of that.
    #[must_use]
    pub fn version_of_numbers(&self, name: &str, lines: Range<usize>) -> Option<Version> {
        let knows = |known: &Range<usize>| known.start + 1 < lines.end && lines.start <= known.end;
        self.of(name).filter(|reading| reading.numbered.iter().any(knows)).map(|reading| reading.version)
    }

    /// Returns whether the client was shown all of these lines of this version, counted from zero.
    pub(crate) fn has_shown(&self, name: &str, version: Version, lines: &Range<usize>) -> bool {
        let shows = |known: &Range<usize>| known.start <= lines.start && lines.end <= known.end;
        let reading = self.of(name).filter(|reading| reading.version == version);
        reading.is_some_and(|reading| reading.numbered.iter().any(shows))
    }

    /// Returns every file that was read, with its version.
    #[must_use]
    pub fn versions(&self) -> Vec<(String, Version)> {
        let read = self.files.iter().filter(|(_, reading)| reading.is_read);
        read.map(|(name, reading)| (name.clone(), reading.version)).collect()
    }

    /// Returns every file that was read and comes after this one, by name.
    pub fn read_after(&self, name: Option<&str>) -> impl Iterator<Item = (&str, &Reading)> {
        let after = name.map_or(Bound::Unbounded, Bound::Excluded);
        let files = self.files.range::<str, _>((after, Bound::Unbounded));
        files.filter(|(_, reading)| reading.is_read).map(|(name, reading)| (name.as_str(), reading))
    }

    /// Returns how many files were read for the first time: while the number is the same, no file has been added.
    #[must_use]
    pub fn arrivals(&self) -> u64 {
        self.arrivals
    }

    /// Returns the text of this file as the client last knew it, if that is remembered: what was computed of it need not be
    /// computed again if the file still has it.
    pub(crate) fn text(&self, name: &str) -> Option<Arc<Text>> {
        self.files.get(name).and_then(Reading::text)
    }

    /// Records that these lines were shown. Lines of the same version shown earlier still count.
    pub fn saw(&mut self, name: &str, snapshot: &Snapshot, shown: Range<usize>, lines: usize) {
        let version = snapshot.text.version();
        let (mut seen, mut numbered, is_change_only) = match self.files.get(name) {
            Some(reading) if reading.version == version => {
                (reading.seen.clone(), reading.numbered.clone(), reading.is_change_only)
            }
            reading => (Vec::new(), Vec::new(), reading.is_some()),
        };
        insert_range(&mut seen, shown.clone());
        insert_range(&mut numbered, shown);
        let reading = self.reading(snapshot, seen, true, lines);
        let is_change_only = is_change_only && !reading.is_full();
        let last_read =
            self.last_read_after_reading(name, snapshot, &reading.seen).filter(|_| is_change_only);
        let reading = Reading { numbered, is_change_only, last_read, ..reading };
        self.numbered.remember(name, reading.version, reading.content.as_ref());
        self.put(name, reading);
    }

    /// Records that line numbers of this text were shown. It counts as no reading of the file.
    pub fn saw_numbers(&mut self, name: &str, text: &Arc<Text>) {
        let content = Remembered::of(text, &self.shared);
        self.numbered.remember(name, text.version(), content.as_ref());
    }

    /// Returns the content of a version of a file that the client names, if the client has had its line numbers.
    pub fn named_content(&self, name: &str, claimed: &str) -> Option<Arc<Text>> {
        self.numbered.content(name, claimed)
    }

    /// Records that the client's edit was committed. `whole` means that the client gave the whole content, which is as
    /// good as having read it. `after` is the new version.
    pub(crate) fn wrote(&mut self, name: &str, stat: Stat, action: &Action, after: Version, whole: bool) {
        let (was_full, was_read) = match self.files.get(name) {
            // The reading must be of the version that was edited.
            Some(reading) if Some(reading.version) == action.base().map(|base| base.version()) => {
                (reading.is_full(), reading.is_read)
            }
            Some(_) => (false, false),
            None if whole => (false, false),
            // An edit by match alone is no reading.
            None => return,
        };
        let (Some(view), Some(pieces)) = (action.view(), action.pieces()) else { return };
        let newlines = view.iter().map(|piece| memchr::memchr_iter(b'\n', piece).count()).sum::<usize>();
        let ended = view.last().is_none_or(|piece| piece.ends_with(b"\n"));
        let lines = newlines + usize::from(!ended);
        let size: usize = pieces.iter().map(|piece| piece.len()).sum();
        let seen = if whole || was_full { vec![0..lines] } else { Vec::new() };
        let text = if size <= contents::REMEMBERED_FILE { action.after() } else { None };
        let content = text.and_then(|text| Remembered::of(&text, &self.shared));
        let is_read = whole || was_read;
        // What another program changed since the reading is in the edited version, and not in what the client knows.
        let base = action.base().map(|base| base.version());
        let is_unknown = |reading: &Reading| reading.is_change_only || Some(reading.version) != base;
        let is_change_only = !whole && self.of(name).is_some_and(is_unknown);
        let numbered = match self.of(name).filter(|reading| !whole && Some(reading.version) == base) {
            Some(reading) => kept_numbers(action, &reading.numbered, lines),
            None if whole => vec![0..lines],
            None => Vec::new(),
        };
        let read_version = self.of(name).filter(|_| !whole).map_or(after, |reading| reading.read_version);
        let last_read = if whole { None } else { self.last_read_after_edit(name, action) };
        let reading = Reading {
            version: after,
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
        self.numbered.remember(name, reading.version, reading.content.as_ref());
        self.put(name, reading);
    }

    /// Records that a file got lines which this client may never have seen: it does not know the whole of it any more.
    pub(crate) fn got_unseen_lines(&mut self, name: &str) {
        if let Some(reading) = self.files.get_mut(name) {
            reading.seen.clear();
            reading.numbered.clear();
        }
    }

    /// Moves the reading of a renamed file to its new name.
    pub(crate) fn moved(&mut self, from: &str, to: &str) {
        if let Some(reading) = self.files.get(from).cloned() {
            self.removed(from);
            self.put(to, reading);
        }
        self.numbered.moved(from, to);
    }

    /// Removes the reading of a file that this client deleted.
    pub(crate) fn removed(&mut self, name: &str) {
        self.forget_content(name);
        self.files.remove(name);
    }

    fn put(&mut self, name: &str, reading: Reading) {
        self.forget_content(name);
        if reading.bytes() > 0 {
            self.remembered += reading.bytes();
            self.contents.push_back(name.into());
        }
        let is_read = reading.is_read;
        let before = self.files.insert(name.into(), reading);
        self.arrivals += u64::from(is_read && before.is_none_or(|before| !before.is_read));
        while self.remembered > REMEMBERED
            && let Some(oldest) = self.contents.front().cloned()
        {
            self.forget_content(&oldest);
        }
    }

    fn forget_content(&mut self, name: &str) {
        let Some(reading) = self.files.get_mut(name).filter(|reading| reading.bytes() > 0) else { return };
        self.remembered -= reading.bytes();
        reading.content = None;
        reading.last_read = reading.last_read.take().map(|_| LastRead::Forgotten);
        self.contents.retain(|other| other != name);
    }

    /// Returns the remembered content that this client has read, if the file has changed since.
    pub(crate) fn older(&self, name: &str, current: &Snapshot) -> Option<Arc<Text>> {
        self.of(name).filter(|reading| reading.version != current.text.version())?.text()
    }

    /// Records that this client was shown the change of a file since it read it.
    pub(crate) fn knows_change(&mut self, name: &str, current: &Snapshot) {
        self.record_change(name, Some(current), true);
    }

    /// Records a change of a file; `shown` says whether the client was shown it.
    fn record_change(&mut self, name: &str, current: Option<&Snapshot>, shown: bool) {
        match current {
            // The call named an old version, but this client has read the current one: nothing is new.
            Some(snapshot)
                if self.of(name).is_some_and(|reading| reading.version == snapshot.text.version()) => {}
            Some(snapshot) => {
                if let Some(reading) = self.files.get(name) {
                    let is_read = reading.is_read && shown;
                    let lines = snapshot.text.lines().len().max(1);
                    let last_read = Some(self.last_read_after_change(name, snapshot));
                    let reading = self.reading(snapshot, Vec::new(), is_read, lines);
                    self.put(name, Reading { is_change_only: true, last_read, ..reading });
                }
            }
            None => self.removed(name),
        }
    }
}

fn what_changed(name: &str, reading: &Reading, current: Option<&Snapshot>) -> Option<String> {
    Some(short_diff(name, &*reading.text()?, &current?.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::FileKind;
    use crate::edits::contents::REMEMBERED_FILE;
    use crate::problem::Again;

    pub(super) fn snapshot(content: &str) -> Snapshot {
        let stat = Stat {
            kind: FileKind::File,
            size: content.len() as u64,
            modified: None,
            device: 0,
            inode: 0,
            links: 1,
            mode: 0o644,
            read_only: false,
        };
        Snapshot { text: Arc::new(Text::new(content.into()).unwrap()), stat }
    }

    #[test]
    fn what_two_clients_read_is_remembered_once_until_there_is_no_room() {
        let shared = Arc::new(Contents::bounded(10));
        let mut clients = [Readings::sharing(&shared), Readings::sharing(&shared)];
        let [read, now] = [snapshot("one\n"), snapshot("two\n")];
        clients.iter_mut().for_each(|readings| readings.saw("a.txt", &read, 0..1, 1));
        let older = clients.each_ref().map(|readings| readings.older("a.txt", &now).unwrap());
        assert!(Arc::ptr_eq(&older[0], &older[1]));
        clients[0].saw("b.txt", &snapshot("0123456\n"), 0..1, 1);
        assert!(clients[1].older("a.txt", &now).is_none());
        // The fact that it was read is still known.
        assert!(clients[1].check("a.txt", Some(&now), None, Again::SameCall).is_err());
        assert!(clients[1].check_whole("a.txt", &now, None).is_err());
    }

    /// Returns a client that has read these lines of a file of five lines.
    pub(super) fn reader(shown: &[Range<usize>]) -> (Readings, Snapshot) {
        let (mut readings, read) = (Readings::default(), snapshot("1\n2\n3\n4\n5\n"));
        shown.iter().for_each(|shown| readings.saw("a.txt", &read, shown.clone(), 5));
        (readings, read)
    }

    #[test]
    fn a_file_is_read_in_full_when_every_line_was_shown_in_whatever_order() {
        for (shown, is_full) in [
            (&[0..5][..], true),
            (&[0..9], true),
            (&[3..5, 0..3], true),
            (&[0..1, 4..5, 1..2, 2..4], true),
            (&[0..4, 1..2], false),
            (&[0..2, 3..5], false),
            (&[1..5], false),
            (&[0..4], false),
        ] {
            let (readings, read) = reader(shown);
            assert_eq!(readings.of("a.txt").unwrap().is_full(), is_full, "{shown:?}");
            assert_eq!(readings.check_whole("a.txt", &read, None).is_ok(), is_full, "{shown:?}");
            assert!(readings.check_read("a.txt", &read, None).is_ok());
        }
        let mut readings = Readings::default();
        readings.saw("empty.txt", &snapshot(""), 0..0, 0);
        assert!(readings.of("empty.txt").unwrap().is_full());
        // Nothing was read of the other version.
        let (mut readings, _) = reader(&[0..5]);
        let now = snapshot("1\n2\n3\n4\n6\n");
        readings.saw("a.txt", &now, 4..5, 5);
        assert!(readings.check_whole("a.txt", &now, None).is_err());
    }

    #[test]
    fn what_was_seen_moves_with_the_file_and_goes_with_it() {
        let (mut readings, read) = reader(&[0..5]);
        readings.moved("a.txt", "b.txt");
        assert!(readings.of("a.txt").is_none() && readings.check_whole("b.txt", &read, None).is_ok());
        readings.moved("none.txt", "c.txt");
        assert!(readings.of("c.txt").is_none());
        let now = snapshot("now\n");
        assert_eq!(readings.older("b.txt", &now).unwrap().version(), read.text.version());
        assert!(readings.older("b.txt", &read).is_none(), "it is as it was");
        readings.removed("b.txt");
        assert!(readings.of("b.txt").is_none() && readings.older("b.txt", &now).is_none());
        assert_eq!((readings.remembered, readings.contents.len()), (0, 0));
    }

    /// An edit of this client, which has given all of the content or not, makes `new` of what was `old`.
    fn write(readings: &mut Readings, old: &Snapshot, new: &str, whole: bool) -> Snapshot {
        let now = snapshot(new);
        let edit = emend_edit::plan::rewrite_between(&old.text, &now.text);
        let action = Action::Modify { base: Arc::clone(&old.text), edit };
        readings.wrote("a.txt", now.stat, &action, now.text.version(), whole);
        now
    }

    #[test]
    fn who_had_read_all_of_a_file_or_gives_all_of_it_knows_what_they_wrote() {
        let all = 0..5;
        let new = "1\n2\n3\n4\nfive\n";
        for (shown, whole, is_full) in [
            (&[all.clone()][..], false, true),
            (&[0..4], false, false),
            (&[0..4], true, true),
            (&[all], true, true),
        ] {
            let (mut readings, read) = reader(shown);
            let now = write(&mut readings, &read, new, whole);
            let reading = readings.of("a.txt").unwrap();
            assert_eq!((reading.version, reading.is_full()), (now.text.version(), is_full), "{shown:?}");
            assert!(reading.is_read() && readings.check_read("a.txt", &now, None).is_ok());
            let other = snapshot("other\n");
            assert_eq!(readings.older("a.txt", &other).unwrap().bytes(), new.as_bytes());
        }
    }

    #[test]
    fn who_gives_all_of_a_file_knows_all_of_it_whatever_it_was_before() {
        let (mut readings, _) = reader(&[0..5]);
        write(&mut readings, &snapshot("other\n"), "one\n", false);
        assert!(readings.of("a.txt").unwrap().is_change_only, "the rest is not known");
        write(&mut readings, &snapshot("another\n"), "two\n", true);
        assert!(!readings.of("a.txt").unwrap().is_change_only);
    }

    #[test]
    fn a_number_is_known_of_the_lines_that_were_shown_and_where_own_edits_leave_them() {
        let known = |readings: &Readings| -> Vec<usize> {
            (1..=8).filter(|line| readings.version_of_numbers("a.txt", *line..line + 1).is_some()).collect()
        };
        let (mut readings, read) = reader(&[0..2, 3..5]);
        assert_eq!(known(&readings), [1, 2, 4, 5]);
        assert_eq!(readings.version_of_numbers("a.txt", 2..4), Some(read.text.version()));
        assert!(readings.version_of_numbers("b.txt", 1..2).is_none());
        // As many lines as before: those above and below the change, but for the one that it touches, have their numbers.
        let now = write(&mut readings, &read, "1\n2\nthree\n4\n5\n", false);
        assert_eq!(known(&readings), [1, 2, 5]);
        assert_eq!(readings.version_of_numbers("a.txt", 1..2), Some(now.text.version()));
        // Another number of lines: those below have moved.
        let now = write(&mut readings, &now, "1\n2\nthree\nnew\n4\n5\n", false);
        assert_eq!(known(&readings), [1, 2]);
        let (mut others, read) = reader(&[0..5]);
        let moved = write(&mut others, &read, "0\n1\n2\n3\n4\n5\n", false);
        assert_eq!(known(&others), [0; 0], "all of them have moved, though all of them are known");
        others.saw("a.txt", &moved, 0..1, 6);
        assert_eq!(known(&others), [1]);
        let now = write(&mut readings, &now, "1\n2\n", true);
        assert_eq!(known(&readings), [1, 2], "who gives the whole file knows its numbers");
        let now = write(&mut readings, &now, "new\n1\n2\n", true);
        assert_eq!(known(&readings), [1, 2, 3], "also of lines that were not there");
        // What the edit was made of is not what was read.
        write(&mut readings, &snapshot("other\n"), "one\n", false);
        assert_eq!(known(&readings), [0; 0]);
        readings.saw("a.txt", &now, 0..2, 2);
        readings.got_unseen_lines("a.txt");
        assert_eq!(known(&readings), [0; 0]);
    }

    #[test]
    fn an_edit_by_match_is_no_reading() {
        let read = snapshot("1\n2\n3\n4\n5\n");
        let mut readings = Readings::default();
        let now = write(&mut readings, &read, "one\n", false);
        assert!(readings.of("a.txt").is_none() && readings.check_read("a.txt", &now, None).is_err());
        write(&mut readings, &read, "one\n", true);
        assert!(readings.check_whole("a.txt", &now, None).is_ok(), "but to write it is to know it");
        // What was read was not what the edit was made of.
        let (mut readings, _) = reader(&[0..5]);
        let other = snapshot("other\n");
        let now = write(&mut readings, &other, "one\n", false);
        assert!(!readings.of("a.txt").unwrap().is_read());
        assert!(
            readings.of("a.txt").unwrap().is_change_only(),
            "its line numbers are not those that were read"
        );
        assert!(readings.check_read("a.txt", &now, None).is_err());
        assert!(readings.versions().is_empty() && readings.read_after(None).next().is_none());
    }

    #[test]
    fn a_part_is_all_of_a_file_only_where_nothing_is_left_of_it() {
        for (new, is_full) in [("", true), ("1", false), ("1\n", false)] {
            let (mut readings, read) = reader(&[0..1]);
            let now = write(&mut readings, &read, new, false);
            assert_eq!(readings.check_whole("a.txt", &now, None).is_ok(), is_full, "{new:?}");
        }
    }

    #[test]
    fn whose_change_alone_was_shown_is_known_so_until_it_is_read_or_written_as_a_whole() {
        let (mut readings, _) = reader(&[0..5]);
        let now = snapshot("1\n2\n3\n4\nfive\n");
        readings.knows_change("a.txt", &now);
        let reading = readings.of("a.txt").unwrap();
        assert!(reading.is_change_only() && reading.is_read() && !reading.is_full());
        assert_eq!(reading.version, now.text.version());
        readings.saw("a.txt", &now, 0..1, 5);
        assert!(readings.of("a.txt").unwrap().is_change_only(), "the rest was not shown");
        let now = write(&mut readings, &now, "1\n2\n3\n4\n5\n6\n", false);
        assert!(readings.of("a.txt").unwrap().is_change_only());
        write(&mut readings, &now, "one\n", true);
        assert!(!readings.of("a.txt").unwrap().is_change_only());
    }

    #[test]
    fn line_numbers_that_were_shown_are_known_without_a_reading() {
        let (shown, mut readings) = (snapshot("1\n2\n"), Readings::default());
        let version = shown.text.version().short();
        assert!(readings.named_content("a.txt", &version).is_none());
        readings.saw_numbers("a.txt", &shown.text);
        assert_eq!(readings.named_content("a.txt", &version).unwrap().bytes(), b"1\n2\n");
        assert!(readings.named_content("b.txt", &version).is_none(), "the numbers are those of one file");
        assert!(readings.of("a.txt").is_none() && readings.check_read("a.txt", &shown, None).is_err());
    }

    #[test]
    fn arrivals_count_files_that_had_not_been_read_before() {
        let (mut readings, read) = reader(&[0..1, 1..2]);
        assert_eq!(readings.arrivals(), 1);
        readings.saw("b.txt", &read, 0..1, 5);
        assert_eq!(readings.arrivals(), 2);
        readings.knows_change("c.txt", &read);
        assert_eq!(readings.arrivals(), 2, "it was not read");
        let names = |after: Option<&str>| {
            readings.read_after(after).map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(None), ["a.txt", "b.txt"]);
        assert_eq!(names(Some("a.txt")), ["b.txt"]);
        assert!(names(Some("b.txt")).is_empty());
        let version = read.text.version();
        assert_eq!(readings.versions(), [("a.txt".into(), version), ("b.txt".into(), version)]);
    }

    #[test]
    fn content_is_remembered_up_to_a_size_and_the_oldest_is_forgotten_first() {
        let mut readings = Readings::default();
        let large = snapshot(&"x".repeat(REMEMBERED_FILE + 1));
        readings.saw("large.txt", &large, 0..1, 1);
        assert_eq!(readings.remembered, 0);
        let size = |number: usize| snapshot(&format!("{number:07}\n").repeat(REMEMBERED_FILE / 16));
        let count = REMEMBERED / size(0).text.footprint() + 1;
        assert!((20..200).contains(&count), "files of half a megabyte: {count}");
        for number in 0..count {
            readings.saw(&format!("{number}.txt"), &size(number), 0..1, 1);
        }
        let now = snapshot("now\n");
        assert!(readings.older("0.txt", &now).is_none(), "the oldest has no room");
        assert!(readings.older("1.txt", &now).is_some() && readings.of("0.txt").is_some());
        assert!(readings.remembered <= REMEMBERED && readings.contents.len() == count - 1);
    }
}
