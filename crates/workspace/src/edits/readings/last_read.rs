//! What a client last read of a file that changed since, though it was shown the change, or a part of it.

use std::ops::Range;
use std::sync::Arc;

use emend_edit::edit::{Edit, EditBuilder, Overlap, Span};
use emend_edit::plan::{self, Action};
use emend_edit::{Text, Version};

use super::Readings;
use crate::edits::contents::Remembered;
use crate::files::report::short_diff;
use crate::files::snapshot::Snapshot;
use crate::problem::{Again, Kind, Problem};

/// What a client last read of a file that changed since. It was shown the change, or part of it, but where the file changed it
/// did not read it again. Until then, its edits must land on the lines that it read.
#[derive(Clone, Debug)]
pub(crate) enum LastRead {
    /// The file as it is now, but for the changes in places that the client did not read or edit again.
    Older(Remembered),
    /// It is not remembered.
    Forgotten,
}

impl LastRead {
    fn of(content: Option<Remembered>) -> Self {
        content.map_or(Self::Forgotten, Self::Older)
    }

    /// Returns the text, if it is still remembered.
    pub(crate) fn text(&self) -> Option<Arc<Text>> {
        match self {
            Self::Older(older) => older.text(),
            Self::Forgotten => None,
        }
    }
}

impl Readings {
    /// Returns what the client last read of the file, if it has changed since and was not read again where it did.
    pub(crate) fn last_read(&self, name: &str) -> Option<&LastRead> {
        self.of(name)?.last_read.as_ref()
    }

    /// Returns what the client last read of the file, if this version is not that.
    fn older_than(&self, name: &str, version: &Version) -> Option<LastRead> {
        let reading = self.of(name)?;
        let is_other = reading.version != *version;
        reading.last_read.clone().or_else(|| is_other.then(|| LastRead::of(reading.content.clone())))
    }

    /// Returns what is left of `older` after these changes of `now`, some of whose changes since the client knows; `None` if
    /// it knows all of them. It cannot know all changes to a text that is not remembered.
    fn still_unread(
        &self,
        older: &LastRead,
        now: &Text,
        is_known: impl Fn(&Range<usize>) -> bool,
        changes: &[Span],
    ) -> Option<LastRead> {
        let Some(older) = older.text() else { return Some(LastRead::Forgotten) };
        let edit = unread(&older, now, is_known, changes)?;
        let text = edit.ok().and_then(|edit| edit.text(now)).map(Arc::new);
        Some(LastRead::of(text.and_then(|text| Remembered::of(&text, &self.shared))))
    }

    /// Returns the refusal of an edit that would not land on the lines that were read.
    pub(crate) fn other_lines(&self, name: &str, current: &Snapshot) -> Problem {
        let older = self.last_read(name).and_then(LastRead::text);
        let diff = older.as_ref().map(|older| short_diff(name, older, &current.text));
        let claimed = older.map(|older| older.version()).or_else(|| Some(self.of(name)?.version));
        let (claimed, current) =
            (claimed.map(|claimed| claimed.short()).unwrap_or_default(), Some(current.text.version()));
        let kind = Kind::StaleFile { claimed, current, diff, by: None, again: Again::OtherLines };
        Problem::new(kind).at(name)
    }

    /// Returns what the client last read of a file of which it now reads these lines.
    pub(super) fn last_read_after_reading(
        &self,
        name: &str,
        now: &Snapshot,
        seen: &[Range<usize>],
    ) -> Option<LastRead> {
        let text = &now.text;
        let is_shown = |range: &Range<usize>| {
            // Where lines are gone, one beside them shows it.
            let first = text.line_index(range.start);
            let end = if range.is_empty() { first } else { text.line_index(range.end - 1) + 1 };
            seen.iter().any(|seen| seen.start <= first && end <= seen.end)
        };
        let older = self.older_than(name, &text.version())?;
        self.still_unread(&older, text, is_shown, &[])
    }

    /// Returns what the client last read of a file that it now changes.
    pub(super) fn last_read_after_edit(&self, name: &str, action: &Action) -> Option<LastRead> {
        let (Action::Modify { base, edit } | Action::Move { base, edit, .. }) = action else { return None };
        // An insertion right above or below a change says nothing of the changed lines.
        let overlaps =
            |span: &Range<usize>, range: &Range<usize>| span.start < range.end && range.start < span.end;
        let is_edited = |range: &Range<usize>| edit.spans().iter().any(|span| overlaps(&span.range, range));
        let older = self.older_than(name, &base.version())?;
        self.still_unread(&older, base, is_edited, edit.spans())
    }

    /// Returns what the client last read of a file that another program has changed.
    pub(super) fn last_read_after_change(&self, name: &str, now: &Snapshot) -> LastRead {
        self.older_than(name, &now.text.version()).unwrap_or(LastRead::Forgotten)
    }
}

/// Returns the edit that makes of `now` the text after these changes as a client knows it that has read `older`, and some of
/// the changes since; `None` if it knows all of them.
fn unread(
    older: &Text,
    now: &Text,
    is_known: impl Fn(&Range<usize>) -> bool,
    changes: &[Span],
) -> Option<Result<Edit, Overlap>> {
    let (mut came, mut went, mut is_all_known) = (0, 0, true);
    let mut builder = EditBuilder::new(now);
    for span in plan::rewrite_between(older, now).spans() {
        let start = span.range.start + came - went;
        let range = start..start + span.new.len();
        if !is_known(&range) {
            is_all_known = false;
            builder.replace(1, range, older.bytes()[span.range.clone()].to_vec());
        }
        came += span.new.len();
        went += span.range.len();
    }
    changes.iter().for_each(|change| builder.replace(1, change.range.clone(), change.new.clone()));
    (!is_all_known).then(|| builder.finish())
}
