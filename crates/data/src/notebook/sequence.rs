//! Entries between brackets of which some stay where they stand, and others go or come: cells, the lines of a source, and the
//! keys of a cell.

use std::ops::Range;

use super::style::{Lines, Style};
use crate::node::Node;
use crate::pieces::Splice;

/// An entry as it is to be.
pub(super) enum Item {
    /// One that stays. Those that stay are in their order.
    Kept(usize),
    /// One that is written anew, or comes from another place.
    New(String),
}

/// The entries of a list or map in a text.
pub(super) struct Sequence<'a> {
    text: &'a str,
    /// Between the brackets.
    inside: Range<usize>,
    entries: Vec<Range<usize>>,
    style: &'a Style,
    /// How entries are written that are the first.
    lines: Option<&'a Lines>,
}

impl<'a> Sequence<'a> {
    pub(super) fn new(text: &'a str, node: &Node, style: &'a Style, lines: Option<&'a Lines>) -> Self {
        let inside = node.range.start + 1..node.range.end - 1;
        Self { text, inside, entries: node.ranges(), style, lines }
    }

    /// Returns what changes if these are the entries.
    pub(super) fn splices(&self, items: &[Item]) -> Vec<Splice> {
        let (Some(first), Some(last)) = (self.entries.first(), self.entries.last()) else {
            if items.is_empty() {
                return Vec::new();
            }
            let new: Vec<String> = items.iter().map(|item| self.written(item).to_owned()).collect();
            let new = self.style.bracketed(["", ""], &new, self.lines);
            return changed(self.text, self.inside.clone(), new).into_iter().collect();
        };
        if items.is_empty() {
            return vec![Splice::delete(self.inside.clone())];
        }
        let separator = self.separator(first);
        let mut splices = Vec::new();
        // What has come since the last entry that stays, and where the next one began then.
        let (mut new, mut from, mut kept) = (Vec::new(), first.start, None);
        for item in items {
            let Item::Kept(at) = item else {
                new.push(self.written(item));
                continue;
            };
            let before: String = new.drain(..).map(|new: &str| format!("{new}{separator}")).collect();
            splices.extend(changed(self.text, from..self.entries[*at].start, before));
            from = self.entries.get(at + 1).map_or(last.end, |next| next.start);
            kept = Some(*at);
        }
        match kept {
            Some(kept) => {
                let behind: String = new.iter().map(|new| format!("{separator}{new}")).collect();
                splices.extend(changed(self.text, self.entries[kept].end..last.end, behind));
            }
            None => splices.extend(changed(self.text, first.start..last.end, new.join(&separator))),
        }
        splices
    }

    fn written<'i>(&'i self, item: &'i Item) -> &'i str {
        match item {
            Item::Kept(at) => &self.text[self.entries[*at].clone()],
            Item::New(new) => new,
        }
    }

    /// Returns what stands between entries here.
    fn separator(&self, first: &Range<usize>) -> String {
        match self.entries.get(1) {
            Some(second) => self.text[first.end..second.start].to_owned(),
            None => match &self.text[self.inside.start..first.start] {
                before if before.contains('\n') => format!(",{before}"),
                _ => self.style.comma.to_owned(),
            },
        }
    }
}

/// Replaces a part of a text, unless this stands there.
pub(super) fn changed(text: &str, range: Range<usize>, new: String) -> Option<Splice> {
    (text[range.clone()] != new).then_some(Splice { range, new })
}

/// Puts splices into their order, and makes one of those that touch.
pub(super) fn in_order(mut splices: Vec<Splice>) -> Vec<Splice> {
    splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let mut ordered: Vec<Splice> = Vec::new();
    for splice in splices {
        match ordered.last_mut().filter(|last| last.range.end == splice.range.start) {
            Some(last) => {
                last.range.end = splice.range.end;
                last.new.push_str(&splice.new);
            }
            None => ordered.push(splice),
        }
    }
    ordered
}

/// Returns a part of a text with splices in it, which are in their order.
pub(super) fn applied(text: &str, part: Range<usize>, splices: &[Splice]) -> String {
    let (mut new, mut at) = (String::new(), part.start);
    for splice in splices {
        new.push_str(&text[at..splice.range.start]);
        new.push_str(&splice.new);
        at = splice.range.end;
    }
    new.push_str(&text[at..part.end]);
    new
}
