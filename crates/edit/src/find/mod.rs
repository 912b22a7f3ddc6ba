//! Search for the one place that a request means.
//!
//! [`LAYERS`] lists the ways to match, strictest first; [`locate`] is the one loop over it. Each layer collects **all**
//! its places. One place is the match. Several are refused with their line numbers, and no looser layer is tried. If
//! there is none, the next layer is tried.
//!
//! | layer | matches when |
//! |---|---|
//! | `exact` | the bytes are equal; a CRLF is never split |
//! | `line-endings` | equal but for line endings |
//! | `trailing-space` | whole lines are equal but for trailing white space |
//! | `edge-blanks` | as before, once blank context lines at the block's edges are left out |
//! | `bare-context` | context lines of a diff that lost their leading space are read as they stand |
//! | `indentation` | all lines are indented by one amount more or less, or by levels of another width |
//! | `line-numbers` | prefixes copied from a reading are on every line |
//! | `lookalikes` | quotes, dashes, spaces, NFC and NFD differ, and nothing else |
//! | `inner-blanks` | only the number of blank context lines differs |
//! | `context-drift` | the removed lines stand at one place; a few context lines differ |
//!
//! Layers 1 to 9 never change which characters count as content; only the last tolerates other words, and only in
//! context lines.
//!
//! Deliberately absent: percentages of similarity, matching by first and last lines alone, collapsed white space inside
//! lines, and other files than the one named.

mod anchor;
mod blanks;
mod block;
mod drift;
mod indentation;
mod literal;
mod lookalikes;
mod near;
mod numbers;

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, OnceCell};
use core::fmt;
use core::ops::Range;

use crate::excerpt::around;
use crate::patch::Line;
use crate::problem::{Kind, Work};
use crate::text::{LineEndings, Lines, Text, split_ending, split_lines};

pub use anchor::{SearchScope, search_scope};
pub use block::{Block, BlockForm, stands_in};
pub use drift::{Nearness, nearly_in};
pub use indentation::IndentUnit;
pub use near::{near, version_only};

/// One way to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The exact text.
    Exact,
    /// The text with other line endings.
    LineEndings,
    /// Lines that differ in trailing white space.
    TrailingSpace,
    /// A block without the blank lines around it.
    EdgeBlanks,
    /// Context lines that lost their leading space.
    BareContext,
    /// Lines whose indentation differs by one amount, or in the width of its levels.
    Indentation,
    /// Lines that were copied with their numbers.
    LineNumbers,
    /// Lines with characters that look alike.
    Lookalikes,
    /// A block with more or fewer blank lines inside.
    InnerBlanks,
    /// A block with some wrong context lines.
    ContextDrift,
}

/// The layers, in the order in which they are tried.
pub const LAYERS: &[Layer] = &[
    Layer::Exact,
    Layer::LineEndings,
    Layer::TrailingSpace,
    Layer::EdgeBlanks,
    Layer::BareContext,
    Layer::Indentation,
    Layer::LineNumbers,
    Layer::Lookalikes,
    Layer::InnerBlanks,
    Layer::ContextDrift,
];

/// The only layers that find text inside lines, and that may replace several places.
pub const LITERAL: &[Layer] = LAYERS.split_at(Layer::TrailingSpace as usize).0;

/// The layers that never match other words.
pub const FAITHFUL: &[Layer] = LAYERS.split_at(Layer::ContextDrift as usize).0;

impl Layer {
    /// Returns the name of the layer in answers and documents.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.name_and_search().0
    }

    fn name_and_search(self) -> (&'static str, BlockSearch) {
        match self {
            Self::Exact => ("exact", block::exact),
            Self::LineEndings => ("line-endings", block::line_endings),
            Self::TrailingSpace => ("trailing-space", block::trailing_space),
            Self::EdgeBlanks => ("edge-blanks", block::edge_blanks),
            Self::BareContext => ("bare-context", block::bare_context),
            Self::Indentation => ("indentation", indentation::indentation),
            Self::LineNumbers => ("line-numbers", numbers::line_numbers),
            Self::Lookalikes => ("lookalikes", lookalikes::lookalikes),
            Self::InnerBlanks => ("inner-blanks", blanks::inner_blanks),
            Self::ContextDrift => ("context-drift", drift::context_drift),
        }
    }

    /// Returns the places where the layer matches, in order, up to `most` of them. Overlapping ones count.
    fn candidates(
        self,
        h: &Haystack<'_>,
        needle: &Needle<'_>,
        most: usize,
        budget: &Budget,
    ) -> Result<Candidates, Kind> {
        let reads_bare_context = matches!(self, Self::BareContext | Self::LineNumbers);
        match (*needle, self) {
            (Needle::Bytes(old), Self::Exact) => literal::exact(h, old, most, budget),
            (Needle::Bytes(old), Self::LineEndings) => literal::line_endings(h, old, most, budget),
            (Needle::Block(block), _) if reads_bare_context || !block.has_bare_context() => {
                self.name_and_search().1(h, block, most, budget)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Returns whether the layer finds the text itself, whatever its line endings.
    fn is_literal(self) -> bool {
        LITERAL.contains(&self)
    }

    /// Returns whether the line number in a request may choose among this layer's places.
    fn is_narrowed_by_hint(self) -> bool {
        matches!(self, Self::Exact | Self::LineEndings | Self::TrailingSpace)
    }

    /// Returns whether text stripped of its line numbers may match by this layer.
    fn matches_without_numbers(self, new_too: bool) -> bool {
        match self {
            Self::Exact | Self::LineEndings | Self::TrailingSpace | Self::EdgeBlanks => true,
            Self::Indentation => new_too,
            _ => false,
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

type Candidates = Vec<Candidate>;

/// The search of a layer for the places of a block.
type BlockSearch = fn(&Haystack<'_>, &Block<'_>, usize, &Budget) -> Result<Candidates, Kind>;

/// A place that a layer found.
#[derive(Clone, Debug)]
struct Candidate {
    /// The matched bytes, including the endings of whole lines.
    range: Range<usize>,
    /// The interpretation of the request at this place.
    interpretation: Interpretation,
}

impl Candidate {
    fn as_written(range: Range<usize>) -> Self {
        Self { range, interpretation: Interpretation::AsWritten }
    }
}

/// The interpretation of a request at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Interpretation {
    /// The request as written: its old lines correspond to those of the file, one to one.
    AsWritten,
    /// The request rewritten to these lines, whose old lines correspond to those of the file, one to one.
    Rewritten(Vec<Line>),
    /// The old lines match, but the new lines could only be guessed.
    Unfit,
}

/// The limits of a search. Work is counted in comparisons and bytes, not in milliseconds, so that a request that passes
/// once always passes.
#[derive(Clone, Copy, Debug)]
pub struct FindLimits {
    /// Line comparisons and matched bytes, over one request.
    pub work: u64,
    /// How many places are listed if a match is not unique.
    pub listed: usize,
    /// How many places one replacement of all matches may change.
    pub replaced: usize,
    /// The largest file that an edit may make.
    pub file_bytes: usize,
}

impl FindLimits {
    /// Checks that a file may have this number of bytes.
    pub fn check_file(&self, bytes: usize) -> Result<(), Kind> {
        if bytes <= self.file_bytes {
            return Ok(());
        }
        Err(Kind::TooLarge { bytes: bytes as u64, limit: self.file_bytes as u64 })
    }
}

impl Default for FindLimits {
    fn default() -> Self {
        Self { work: 250_000_000, listed: 20, replaced: 1_000_000, file_bytes: 64 * 1024 * 1024 }
    }
}

/// The remaining work of a request.
#[derive(Debug)]
pub struct Budget(Cell<u64>);

impl Budget {
    /// Makes a full budget.
    #[must_use]
    pub fn new(limits: &FindLimits) -> Self {
        Self(Cell::new(limits.work))
    }

    /// Spends some of the budget.
    pub fn spend(&self, work: usize) -> Result<(), Kind> {
        match self.0.get().checked_sub(work as u64 + 1) {
            Some(left) => {
                self.0.set(left);
                Ok(())
            }
            None => {
                // After one refusal, cheaper work is refused too.
                self.0.set(0);
                Err(Kind::WorkLimit { work: Work::Comparing })
            }
        }
    }
}

/// A file's text as the layers use it, with a line index that is computed when first used.
#[derive(Debug)]
pub struct Haystack<'a> {
    text: &'a Text,
    lines: OnceCell<Lines<'a>>,
    endings: OnceCell<LineEndings>,
}

impl<'a> Haystack<'a> {
    /// Makes a haystack of this text.
    #[must_use]
    pub fn new(text: &'a Text) -> Self {
        Self { text, lines: OnceCell::new(), endings: OnceCell::new() }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(&self) -> &'a Text {
        self.text
    }

    /// Returns the lines of the body.
    pub fn lines(&self) -> &Lines<'a> {
        self.lines.get_or_init(|| self.text.lines())
    }

    /// Returns the kind of line endings that the text uses.
    pub fn endings(&self) -> LineEndings {
        *self.endings.get_or_init(|| self.text.line_endings())
    }

    /// Returns the one-based number of the line at `offset`.
    #[must_use]
    pub fn line_number(&self, offset: usize) -> usize {
        self.text.line_number(offset)
    }
}

/// The text or lines to find.
#[derive(Clone, Copy, Debug)]
pub enum Needle<'a> {
    /// Any bytes, which may begin and end inside lines; must not be empty.
    Bytes(&'a [u8]),
    /// Whole lines, one after another.
    Block(&'a Block<'a>),
}

/// The only match, with the layer that found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The matched bytes, including the endings of whole lines.
    pub range: Range<usize>,
    /// The layer that found it.
    pub layer: Layer,
    /// The lines of the block as interpreted there, if they are not as written.
    pub interpretation: Option<Vec<Line>>,
}

/// Finds the one place of `needle` by these layers. Returns `Ok(None)` if no layer finds one, and [`Kind::Unclear`] if
/// the old lines match but the new ones could only be guessed.
pub fn locate(
    haystack: &Haystack<'_>,
    needle: &Needle<'_>,
    layers: &[Layer],
    limits: &FindLimits,
    budget: &Budget,
) -> Result<Option<Match>, Kind> {
    let hints = match needle {
        // Models that do not know the line write 1.
        Needle::Block(block) if block.hints != [1] => block.hints,
        _ => &[],
    };
    for &layer in layers {
        // One more than is listed, so that the answer can say "at least"; all if a hint may choose.
        let may_choose = !hints.is_empty() && layer.is_narrowed_by_hint();
        let most = if may_choose { usize::MAX } else { limits.listed + 1 };
        let mut places = layer.candidates(haystack, needle, most, budget)?;
        if may_choose && places.len() > 1 {
            let line = |place: &Candidate| haystack.lines().index_of(place.range.start) + 1;
            let mut hinted = (0..places.len()).filter(|&at| hints.contains(&line(&places[at])));
            if let (Some(at), None) = (hinted.next(), hinted.next()) {
                places = alloc::vec![places.swap_remove(at)];
            }
        }
        match places.len() {
            0 => {}
            1 => {
                let Candidate { range, interpretation } = places.remove(0);
                return Ok(match interpretation {
                    Interpretation::AsWritten => Some(Match { range, layer, interpretation: None }),
                    Interpretation::Rewritten(lines) => {
                        Some(Match { range, layer, interpretation: Some(lines) })
                    }
                    // A looser layer, or another place, would be more of a guess.
                    Interpretation::Unfit => return Err(Kind::Unclear),
                });
            }
            found => {
                let lines = places.iter().take(limits.listed).map(|p| haystack.line_number(p.range.start));
                let mut lines: Vec<usize> = lines.collect();
                // A block may match in two ways from one line on, which is one place; text twice in one line is two.
                let is_block = matches!(needle, Needle::Block(_));
                lines.dedup_by(|one, other| is_block && one == other);
                return Err(Kind::AmbiguousMatch {
                    lines,
                    total: found.min(limits.listed),
                    more: found > limits.listed,
                    in_patch: matches!(needle, Needle::Block(block) if block.form != BlockForm::Text),
                    loose: (!layer.is_literal()).then(|| layer.name()),
                    places: places
                        .iter()
                        .take(SHOWN_PLACES)
                        .map(|place| shown(haystack, &place.range))
                        .collect(),
                });
            }
        }
    }
    Ok(None)
}

/// How many of several places are shown; `SHOWN_LINES` are the lines before, within and after each.
const SHOWN_PLACES: usize = 3;
const SHOWN_LINES: (usize, usize, usize) = (2, 20, 2);
/// How many bytes of a line are shown.
const SHOWN_COLUMNS: usize = 160;

/// Returns the lines of a place with their neighbouring lines, as a refusal shows them.
pub(crate) fn shown(haystack: &Haystack<'_>, place: &Range<usize>) -> Vec<(usize, String)> {
    let lines = haystack.lines();
    let (before, own, after) = SHOWN_LINES;
    let first = lines.index_of(place.start);
    let last = lines.index_of(place.end.saturating_sub(1).max(place.start));
    let show = |line: usize| {
        let at = place.start.saturating_sub(lines.start(line));
        (line + 1, around(lines.content(line), at.min(lines.content(line).len()), SHOWN_COLUMNS))
    };
    let head = first.saturating_sub(before)..(first + own).min(last + 1);
    let tail = last + 1..(last + 1 + after).min(lines.len());
    head.chain(tail).map(show).collect()
}

/// Finds every place of `old`, to replace all: the disjoint places of the strictest layer that has any.
pub fn locate_all(
    haystack: &Haystack<'_>,
    old: &[u8],
    limits: &FindLimits,
    budget: &Budget,
) -> Result<Vec<Match>, Kind> {
    for &layer in LITERAL {
        let places = layer.candidates(haystack, &Needle::Bytes(old), limits.replaced + 1, budget)?;
        if places.len() > limits.replaced {
            return Err(Kind::WorkLimit { work: Work::Replacing });
        }
        if let Some(pair) = places.windows(2).find(|pair| pair[0].range.end > pair[1].range.start) {
            let mut lines: Vec<usize> =
                pair.iter().map(|place| haystack.line_number(place.range.start)).collect();
            lines.dedup();
            return Err(Kind::OverlappingPlaces { lines });
        }
        if !places.is_empty() {
            let found = |place: Candidate| Match { range: place.range, layer, interpretation: None };
            return Ok(places.into_iter().map(found).collect());
        }
    }
    Ok(Vec::new())
}

/// Returns the contents of the lines of `bytes`, without their endings.
#[must_use]
pub fn contents(bytes: &[u8]) -> Vec<&[u8]> {
    split_lines(bytes).map(|line| split_ending(line).0).collect()
}

#[cfg(test)]
mod tests;
