//! A text under several changes, one after the other, which knows what of it is left of the first.

use std::ops::Range;

use crate::layout::{Text, next_line};

/// A replaced part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// The part.
    pub range: Range<usize>,
    /// What stands there instead.
    pub new: String,
}

impl Splice {
    pub(crate) fn insert(at: usize, new: impl Into<String>) -> Self {
        Self { range: at..at, new: new.into() }
    }

    pub(crate) fn delete(range: Range<usize>) -> Self {
        Self { range, new: String::new() }
    }
}

/// Puts a line below that of a place.
pub(crate) fn below(text: Text<'_>, at: usize, line: &str) -> Splice {
    let next = next_line(text.text, at);
    match text.text[..next].ends_with('\n') {
        true => Splice::insert(next, format!("{line}{}", text.eol)),
        false => Splice::insert(next, format!("{}{line}", text.eol)),
    }
}

enum Piece {
    Kept(Range<usize>),
    New(String),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Self::Kept(range) => range.len(),
            Self::New(text) => text.len(),
        }
    }

    fn part(&self, part: Range<usize>) -> Self {
        match self {
            Self::Kept(range) => Self::Kept(range.start + part.start..range.start + part.end),
            Self::New(text) => Self::New(text[part].to_owned()),
        }
    }
}

/// A text in pieces.
pub(crate) struct Pieces<'a> {
    first: &'a str,
    pieces: Vec<Piece>,
}

impl<'a> Pieces<'a> {
    pub(crate) fn new(first: &'a str) -> Self {
        Self { first, pieces: vec![Piece::Kept(0..first.len())] }
    }

    pub(crate) fn text(&self) -> String {
        let part = |piece: &Piece| match piece {
            Piece::Kept(range) => self.first[range.clone()].to_owned(),
            Piece::New(text) => text.clone(),
        };
        self.pieces.iter().map(part).collect()
    }

    /// Replaces parts of the text as it is now, none of which overlap.
    pub(crate) fn splice(&mut self, mut splices: Vec<Splice>) {
        splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
        // From the end, so that the others stay where they are.
        for splice in splices.into_iter().rev() {
            self.replace(&splice.range, splice.new);
        }
    }

    fn replace(&mut self, range: &Range<usize>, new: String) {
        let (mut pieces, mut new) = (Vec::new(), Some(new));
        let mut at = 0;
        for piece in &self.pieces {
            let end = at + piece.len();
            let before = range.start.clamp(at, end) - at;
            let after = range.end.clamp(at, end) - at;
            if before > 0 {
                pieces.push(piece.part(0..before));
            }
            if range.start <= end
                && let Some(new) = new.take()
            {
                pieces.push(Piece::New(new));
            }
            if after < piece.len() && after >= before {
                pieces.push(piece.part(after..piece.len()));
            }
            at = end;
        }
        pieces.extend(new.map(Piece::New));
        self.pieces = pieces;
    }

    /// Returns what has changed since the first text.
    pub(crate) fn changes(self) -> Vec<Splice> {
        let mut changes: Vec<Splice> = Vec::new();
        let (mut at, mut new) = (0, String::new());
        let end = Piece::Kept(self.first.len()..self.first.len());
        for piece in self.pieces.into_iter().chain([end]) {
            match piece {
                Piece::New(text) => new.push_str(&text),
                Piece::Kept(range) => {
                    let is_last = range.is_empty() && range.end == self.first.len();
                    if (range.is_empty() && !is_last) || (at == range.start && new.is_empty()) {
                        at = at.max(range.end);
                        continue;
                    }
                    changes.push(Splice { range: at..range.start, new: std::mem::take(&mut new) });
                    at = range.end;
                }
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_replaced_twice_is_one_change_of_the_first_text() {
        let mut pieces = Pieces::new("one two three");
        pieces.splice(vec![Splice { range: 4..7, new: "2".into() }, Splice::insert(13, "!")]);
        assert_eq!(pieces.text(), "one 2 three!");
        pieces.splice(vec![Splice { range: 3..6, new: "--".into() }, Splice::insert(0, ">")]);
        assert_eq!(pieces.text(), ">one--three!");
        let changes = pieces.changes();
        let expected = [(0..0, ">"), (3..8, "--"), (13..13, "!")];
        assert_eq!(changes, expected.map(|(range, new)| Splice { range, new: new.into() }));
        assert_eq!(Pieces::new("x").changes(), []);
        let mut pieces = Pieces::new("");
        pieces.splice(vec![Splice::insert(0, "x")]);
        assert_eq!(pieces.changes(), [Splice::insert(0, "x")]);
    }
}
