//! Entries between brackets, with commas: what JSON has, and TOML and YAML inside of a line.

use std::ops::Range;

use crate::comments::{Comments, owned_start, with_blank};
use crate::layout::{Text, is_alone_before, line_end, line_indent};
use crate::node::Node;
use crate::pieces::Splice;

/// A bracketed list or map in a text.
pub(crate) struct Flow<'a> {
    text: &'a str,
    /// With its brackets.
    range: Range<usize>,
    entries: Vec<Range<usize>>,
    comments: Comments,
    eol: &'a str,
}

impl<'a> Flow<'a> {
    pub(crate) fn new(text: Text<'a>, parent: &Node, comments: Comments) -> Self {
        let (range, entries) = (parent.range.clone(), parent.ranges());
        Self { text: text.text, range, entries, comments, eol: text.eol }
    }

    fn comma_after(&self, at: usize) -> Option<usize> {
        let at = self.comments.skip(self.text, at);
        self.text[at..self.range.end].starts_with(',').then_some(at)
    }

    /// Where the first entry begins, and whether it begins a line.
    pub(crate) fn first(&self) -> Option<(usize, bool)> {
        self.entries.first().map(|first| (first.start, self.begins_line(first)))
    }

    fn begins_line(&self, entry: &Range<usize>) -> bool {
        is_alone_before(self.text, entry.start)
    }

    /// Puts an entry before another, or at the end. `empty` is what stands between the brackets if it is the only one.
    pub(crate) fn insert(&self, before: usize, entry: &str, empty: &str) -> Vec<Splice> {
        let text = self.text;
        if let Some(next) = self.entries.get(before) {
            if !self.begins_line(next) {
                return vec![Splice::insert(next.start, format!("{entry}, "))];
            }
            // The comment above the next one stays with it.
            let start = owned_start(self.comments.format(), text, next.start);
            let indent = line_indent(text, next.start);
            return vec![Splice::insert(start, format!("{indent}{entry},{}", self.eol))];
        }
        let Some(last) = self.entries.last() else {
            let inside = self.range.start + 1..self.range.end - 1;
            if text[inside.clone()].trim().is_empty() {
                return vec![Splice { range: inside, new: empty.to_owned() }];
            }
            // Comments stay above it.
            let at = inside.start + text[inside.clone()].trim_end().len();
            let end = format!("{}{}", self.eol, line_indent(text, self.range.start));
            let new =
                if empty.contains('\n') { empty.to_owned() } else { format!("{}{entry}{end}", self.eol) };
            return vec![Splice { range: at..inside.end, new }];
        };
        let own_line = self.begins_line(last);
        let sep = |at: usize| match own_line || text[last.end..at].contains(['/', '#']) {
            true => format!("{}{}", self.eol, line_indent(text, last.start)),
            false => " ".to_owned(),
        };
        match self.comma_after(last.end) {
            Some(comma) => {
                let at = self.comments.in_line(text, comma + 1);
                vec![Splice::insert(at, format!("{}{entry},", sep(at)))]
            }
            None => {
                let at = self.comments.in_line(text, last.end);
                if at == last.end {
                    return vec![Splice::insert(at, format!(",{}{entry}", sep(at)))];
                }
                vec![Splice::insert(last.end, ","), Splice::insert(at, format!("{}{entry}", sep(at)))]
            }
        }
    }

    /// Removes an entry, with its comma and the comment behind it in its line.
    pub(crate) fn delete(&self, at: usize) -> Vec<Splice> {
        let (text, entry) = (self.text, &self.entries[at]);
        let comma = self.comma_after(entry.end);
        // The comma of the one before separates nothing any more.
        let before = (at > 0 && at + 1 == self.entries.len() && comma.is_none())
            .then(|| self.comma_after(self.entries[at - 1].end))
            .flatten();
        let mut splices: Vec<Splice> = before.map(|at| Splice::delete(at..at + 1)).into_iter().collect();
        let end = comma.map_or(entry.end, |comma| comma + 1);
        let behind = self.comments.in_line(text, end);
        let is_alone = self.begins_line(entry) && text[behind..line_end(text, behind)].trim().is_empty();
        if is_alone && line_end(text, behind) < self.range.end {
            let next = line_end(text, behind);
            let next = next + text[next..].find('\n').map_or(0, |at| at + 1);
            let start = owned_start(self.comments.format(), text, entry.start);
            splices.push(Splice::delete(with_blank(text, start..next)));
        } else if comma.is_some() {
            let blank = text[end..].len() - text[end..].trim_start_matches([' ', '\t']).len();
            splices.push(Splice::delete(entry.start..end + blank));
        } else {
            let from = match before {
                Some(comma) => comma + 1 + text[comma + 1..entry.start].trim_end().len(),
                None => entry.start,
            };
            splices.push(Splice::delete(from..entry.end));
        }
        splices
    }
}
