//! Finding the one place that a request means.
//!
//! [`LAYERS`] is a list of ways to match, strictest first; [`locate`] is the one loop over it. Each layer
//! collects **all** its places. One place is the match; several are refused with every line number, and a
//! looser layer is never asked; none sends the question to the next layer.
//!
//! Never here: percentages of similarity, anchors of first and last lines, white space collapsed inside
//! lines, another file than the one named.

mod anchor;
mod layers;
mod near;

use alloc::vec::Vec;
use core::cell::{Cell, OnceCell};
use core::ops::Range;

use crate::problem::Kind;
use crate::text::{LineEndings, Lines, Text, line_number, split_ending, split_lines};

pub use anchor::{Scope, scope};
pub use layers::Layer;
pub use near::{near, nothing};

/// The layers, in the order in which they are tried.
pub const LAYERS: &[Layer] = &[layers::EXACT, layers::LINE_ENDINGS];

/// How much may be tried before a request is refused as too much work. Counted in comparisons and bytes,
/// not in milliseconds, so that what passes once always passes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Line comparisons and matched bytes, over one request.
    pub work: u64,
    /// How many places of a unique match are listed.
    pub listed: usize,
    /// How many places `replace_all` may change.
    pub replaced: usize,
    /// The largest file that an edit may make.
    pub file_bytes: usize,
}

impl Limits {
    /// Whether a file may have so many bytes.
    pub fn check_file(&self, bytes: usize) -> Result<(), Kind> {
        if bytes <= self.file_bytes {
            return Ok(());
        }
        Err(Kind::TooLarge { bytes: bytes as u64, limit: self.file_bytes as u64 })
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { work: 500_000_000, listed: 20, replaced: 1_000_000, file_bytes: 64 * 1024 * 1024 }
    }
}

/// What is left of a request's work.
#[derive(Debug)]
pub struct Budget(Cell<u64>);

impl Budget {
    /// A full budget.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self(Cell::new(limits.work))
    }

    /// Spends some of it.
    pub fn spend(&self, work: usize) -> Result<(), Kind> {
        match self.0.get().checked_sub(work as u64 + 1) {
            Some(left) => {
                self.0.set(left);
                Ok(())
            }
            None => Err(Kind::WorkLimit { what: "the text to find nearly matches in too many places" }),
        }
    }
}

/// A file's text as the layers see it; the line index is made when the first of them asks for it.
#[derive(Debug)]
pub struct Haystack<'a> {
    text: &'a Text,
    lines: OnceCell<Lines<'a>>,
    endings: OnceCell<LineEndings>,
}

impl<'a> Haystack<'a> {
    /// Looks at this text.
    #[must_use]
    pub fn new(text: &'a Text) -> Self {
        Self { text, lines: OnceCell::new(), endings: OnceCell::new() }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &'a Text {
        self.text
    }

    /// The lines of its body.
    pub fn lines(&self) -> &Lines<'a> {
        self.lines.get_or_init(|| self.text.lines())
    }

    /// The line endings that it uses.
    pub fn endings(&self) -> LineEndings {
        *self.endings.get_or_init(|| self.text.line_endings())
    }

    /// The one-based number of the line at `offset`.
    #[must_use]
    pub fn line_number(&self, offset: usize) -> usize {
        line_number(self.text.bytes(), offset)
    }
}

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'a> {
    /// Any bytes, wherever they begin and end; must not be empty.
    Bytes(&'a [u8]),
    /// Whole lines without their endings, one after another, starting on one of these lines.
    Lines {
        /// The lines' contents; must not be empty.
        lines: &'a [&'a [u8]],
        /// The zero-based lines on which the block may start.
        starts: &'a [Range<usize>],
    },
}

/// One place, by the layer that found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The bytes that matched, endings of whole lines included.
    pub range: Range<usize>,
    /// The layer's name on the wire.
    pub layer: &'static str,
}

/// Finds the one place of `wanted`. `Ok(None)` when no layer knows any.
pub fn locate(
    haystack: &Haystack<'_>,
    wanted: &Wanted<'_>,
    limits: &Limits,
    budget: &Budget,
) -> Result<Option<Match>, Kind> {
    for layer in LAYERS {
        // One more than is listed, so that the answer can say "at least".
        let mut places = (layer.places)(haystack, wanted, limits.listed + 1, budget)?;
        match places.len() {
            0 => {}
            1 => return Ok(Some(Match { range: places.remove(0), layer: layer.name })),
            found => {
                let lines = places.iter().take(limits.listed).map(|p| haystack.line_number(p.start));
                return Err(Kind::AmbiguousMatch {
                    lines: lines.collect(),
                    total: found.min(limits.listed),
                    more: found > limits.listed,
                    in_patch: matches!(wanted, Wanted::Lines { .. }),
                });
            }
        }
    }
    Ok(None)
}

/// Finds every place of `old`, for `replace_all`: disjoint places of the strictest layer that has any.
pub fn locate_all(
    haystack: &Haystack<'_>,
    old: &[u8],
    limits: &Limits,
    budget: &Budget,
) -> Result<Vec<Match>, Kind> {
    for layer in LAYERS {
        let places = (layer.places)(haystack, &Wanted::Bytes(old), limits.replaced + 1, budget)?;
        if places.len() > limits.replaced {
            return Err(Kind::WorkLimit { what: "replace_all would change more than a million places" });
        }
        if let Some(pair) = places.windows(2).find(|pair| pair[0].end > pair[1].start) {
            return Err(Kind::AmbiguousMatch {
                lines: pair.iter().map(|place| haystack.line_number(place.start)).collect(),
                total: 2,
                more: true,
                in_patch: false,
            });
        }
        if !places.is_empty() {
            return Ok(places.into_iter().map(|range| Match { range, layer: layer.name }).collect());
        }
    }
    Ok(Vec::new())
}

/// The contents of the lines of `bytes`, as [`Wanted::Lines`] and the near miss take them.
#[must_use]
pub fn contents(bytes: &[u8]) -> Vec<&[u8]> {
    split_lines(bytes).map(|line| split_ending(line).0).collect()
}
