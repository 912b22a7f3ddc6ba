//! Whether a client may edit a file, given what it has read of it and the version that its call names.

use super::{Reading, Readings, what_changed};
use crate::files::snapshot::Snapshot;
use crate::problem::{Again, Kind, Problem, Seen};

impl Readings {
    /// Checks that this client may edit the file by match, given the version that the call names, if any. Returns
    /// `Ok(false)` if there was nothing to check against.
    ///
    /// `again` is what the caller may do after a refusal if the call names no version.
    ///
    /// A file that changed since it was read is refused once, with the change; after that the client knows the change,
    /// but has not read the file.
    pub(crate) fn check(
        &mut self,
        name: &str,
        current: Option<&Snapshot>,
        claimed: Option<&str>,
        again: Again,
    ) -> Result<bool, Problem> {
        let version = current.map(|snapshot| snapshot.text.version());
        if let Some(claimed) = claimed {
            if version.is_some_and(|version| version.is_named_by(claimed)) {
                return Ok(true);
            }
            let diff = self.files.get(name).filter(|reading| reading.version.is_named_by(claimed));
            let diff = diff.and_then(|reading| what_changed(name, reading, current));
            self.record_change(name, current, diff.is_some());
            let (claimed, again) = (claimed.into(), Again::NewVersion);
            let kind = Kind::StaleFile { claimed, current: version, diff, by: None, again };
            return Err(Problem::new(kind).at(name));
        }
        let Some(reading) = self.files.get(name) else { return Ok(false) };
        if version == Some(reading.version) {
            return Ok(true);
        }
        let claimed = reading.version.short();
        let diff = what_changed(name, reading, current);
        self.record_change(name, current, diff.is_some());
        let kind = Kind::StaleFile { claimed, current: version, diff, by: None, again };
        Err(Problem::new(kind).at(name))
    }

    /// Checks that this client may replace or delete the whole file: it named the current version, or has read all of
    /// it.
    pub(crate) fn check_whole(
        &self,
        name: &str,
        current: &Snapshot,
        claimed: Option<&str>,
    ) -> Result<(), Problem> {
        let version = current.text.version();
        // Nothing is lost with an empty file.
        if claimed.is_some_and(|claimed| version.is_named_by(claimed)) || current.text.raw().is_empty() {
            return Ok(());
        }
        match self.files.get(name) {
            Some(reading) if reading.version == version && reading.is_full() => Ok(()),
            reading => {
                let seen = if reading.is_some() { Seen::Part } else { Seen::Nothing };
                Err(Problem::new(Kind::NotRead { current: version, seen }).at(name))
            }
        }
    }

    /// Checks that this client has read some of the file and knows its current version, or the changes to it.
    pub(crate) fn check_read(
        &self,
        name: &str,
        current: &Snapshot,
        claimed: Option<&str>,
    ) -> Result<(), Problem> {
        let version = current.text.version();
        let is_read = |reading: &Reading| reading.is_read && reading.version == version;
        if claimed.is_some_and(|claimed| version.is_named_by(claimed)) || self.of(name).is_some_and(is_read) {
            return Ok(());
        }
        Err(Problem::new(Kind::MustRead { current: version }).at(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::readings::tests::{reader, snapshot};

    #[test]
    fn a_file_that_changed_since_it_was_read_is_refused_once_and_then_known_in_its_change_alone() {
        let (mut readings, read) = reader(&[0..5]);
        let now = snapshot("1\n2\n3\n4\nfive\n");
        assert!(matches!(readings.check("a.txt", Some(&read), None, Again::SameCall), Ok(true)));
        assert!(matches!(readings.check("b.txt", Some(&now), None, Again::SameCall), Ok(false)));
        let stale = readings.check("a.txt", Some(&now), None, Again::SameCall).unwrap_err();
        let Kind::StaleFile { claimed, current, diff: Some(diff), again: Again::SameCall, .. } = &*stale.kind
        else {
            panic!("{stale:?}")
        };
        assert_eq!((claimed, *current), (&read.text.version().short(), Some(now.text.version())));
        assert!(diff.contains("+five"), "{diff}");
        assert!(matches!(readings.check("a.txt", Some(&now), None, Again::SameCall), Ok(true)));
        let reading = readings.of("a.txt").unwrap();
        assert!(reading.is_read() && reading.is_change_only() && !reading.is_full());
        assert!(readings.check_whole("a.txt", &now, None).is_err());
        assert!(readings.check_read("a.txt", &now, None).is_ok());
        // After reading it again, the client knows it.
        readings.saw("a.txt", &now, 0..5, 5);
        assert!(!readings.of("a.txt").unwrap().is_change_only());
        // A deleted file is refused once too, and then forgotten.
        assert!(readings.check("a.txt", None, None, Again::SameCall).is_err());
        assert!(matches!(readings.check("a.txt", None, None, Again::SameCall), Ok(false)));
        assert!(readings.of("a.txt").is_none());
    }

    #[test]
    fn a_named_version_counts_more_than_what_was_read() {
        let (mut readings, read) = reader(&[0..1]);
        let now = snapshot("1\n2\n3\n4\nfive\n");
        let named = |snapshot: &Snapshot| snapshot.text.version().short();
        assert!(matches!(readings.check("a.txt", Some(&now), Some(&named(&now)), Again::SameCall), Ok(true)));
        assert!(readings.check_whole("a.txt", &now, Some(&named(&now))).is_ok());
        assert!(readings.check_read("a.txt", &now, Some(&named(&now))).is_ok());
        assert!(readings.check_whole("a.txt", &now, Some(&named(&read))).is_err());
        assert!(readings.check_read("a.txt", &now, Some(&named(&read))).is_err());
        let stale = readings.check("a.txt", Some(&now), Some(&named(&read)), Again::SameCall).unwrap_err();
        assert!(
            matches!(*stale.kind, Kind::StaleFile { again: Again::NewVersion, diff: Some(_), .. }),
            "{stale:?}"
        );
        // A version that was never read cannot be shown.
        let other = named(&snapshot("other"));
        let stale = readings.check("a.txt", Some(&read), Some(&other), Again::SameCall).unwrap_err();
        assert!(matches!(*stale.kind, Kind::StaleFile { diff: None, .. }), "{stale:?}");
    }

    #[test]
    fn an_old_version_that_is_named_does_not_undo_what_was_read() {
        let (mut readings, now) = reader(&[0..5]);
        let old = snapshot("old\n").text.version().short();
        assert!(readings.check("a.txt", Some(&now), Some(&old), Again::SameCall).is_err());
        assert!(readings.check_whole("a.txt", &now, None).is_ok());
    }
}
