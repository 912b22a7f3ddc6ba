//! What a client last read of a file that changed since, though it was shown the change, or a part of it.

use std::ops::Range;
use std::sync::Arc;

use emend_edit::edit::{EditBuilder, Span};
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

impl Readings {
    /// Returns what the client last read of the file, if it has changed since and was not read again where it did.
    pub(crate) fn last_read(&self, name: &str) -> Option<&LastRead> {
        self.of(name)?.last_read.as_ref()
    }

    fn older_text(&self, text: &Arc<Text>) -> Option<LastRead> {
        Remembered::of(text, &self.shared).map(LastRead::Older)
    }

    /// Returns the text that the client last read of the file, if this version is not that, and it is remembered.
    fn older_than(&self, name: &str, version: &Version) -> Option<Arc<Text>> {
        let reading = self.of(name)?;
        match &reading.last_read {
            Some(LastRead::Older(older)) => older.text(),
            Some(LastRead::Forgotten) => None,
            None => reading.text().filter(|_| reading.version != *version),
        }
    }

    /// Returns the refusal of an edit that would not land on the lines that were read.
    pub(crate) fn other_lines(&self, name: &str, current: &Snapshot) -> Problem {
        let older = match self.last_read(name) {
            Some(LastRead::Older(older)) => older.text(),
            Some(LastRead::Forgotten) | None => None,
        };
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
        self.older_text(&unread(&older, text, is_shown, &[])?)
    }

    /// Returns what the client last read of a file that it now changes.
    pub(super) fn last_read_after_edit(&self, name: &str, action: &Action) -> Option<LastRead> {
        if let Some(LastRead::Forgotten) = self.last_read(name) {
            return Some(LastRead::Forgotten);
        }
        let (Action::Modify { base, edit } | Action::Move { base, edit, .. }) = action else { return None };
        let is_edited = |range: &Range<usize>| edit.spans().iter().any(|span| is_beside(&span.range, range));
        let older = self.older_than(name, &base.version())?;
        self.older_text(&unread(&older, base, is_edited, edit.spans())?)
    }

    /// Returns what the client last read of a file that another program has changed.
    pub(super) fn last_read_after_change(&self, name: &str, now: &Snapshot) -> LastRead {
        let older = self.older_than(name, &now.text.version());
        older.and_then(|older| self.older_text(&older)).unwrap_or(LastRead::Forgotten)
    }
}

/// Returns the text after these changes of `now` as a client knows it that has read `older`, and some of the changes since;
/// `None` if it knows all of them.
fn unread(
    older: &Text,
    now: &Text,
    is_known: impl Fn(&Range<usize>) -> bool,
    changes: &[Span],
) -> Option<Arc<Text>> {
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
    let edit = builder.finish().ok().filter(|_| !is_all_known)?;
    edit.text(now).map(Arc::new)
}

/// Returns whether two ranges overlap, or one is empty and at an edge of the other.
fn is_beside(a: &Range<usize>, b: &Range<usize>) -> bool {
    match a.is_empty() || b.is_empty() {
        true => a.start <= b.end && b.start <= a.end,
        false => a.start < b.end && b.start < a.end,
    }
}
