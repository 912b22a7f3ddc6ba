//! A patch: a parsed request, well-formed, but not yet compared with any file.
//!
//! Every edit format and every edit tool produces this type: a parser for each format reads a text, and
//! [`Patch::replace`], [`Patch::replace_range`] and [`Patch::write`] take a tool's arguments. Planning knows nothing of
//! formats.

pub mod recognise;

pub mod answer;
pub mod context;
pub mod ed;
pub mod rcs;
pub mod search_replace;
pub mod sketch;
pub mod unified;
pub mod v4a;
pub mod whole;

mod address;
mod body;
mod colours;
mod envelope;
mod git;
mod lines;
mod names;
mod taken;
mod target;

pub mod print;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use similar::DiffOp;

pub use self::address::{LineAddress, LinesOfVersion, Part, SymbolPart};
use self::sketch::Sketch;
pub use self::taken::{NewLines, TakenLines};
use crate::compare::compare;
use crate::problem::{Kind, NoChange, Problem};

/// A parsed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    sections: Vec<Section>,
}

/// The part of a request for one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The number of the edit that it belongs to, counted from 1, if the request joins several.
    pub edit: Option<usize>,
    /// The path as it was written.
    pub path: String,
    /// Whether the file shall be executable; `None` leaves that as it is.
    pub executable: Option<bool>,
    /// The operation on the file.
    pub operation: Operation,
}

/// An operation on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Create it with this content; it must not exist.
    Add(String),
    /// Give it this content, whether or not it exists.
    Write(String),
    /// Give it this content; it must exist, since the request's name for it may be no file name at all.
    Replace(String),
    /// Create it with lines of a file; it must not exist.
    Take {
        /// The number of the hunk that this counts as.
        number: usize,
        /// The lines.
        lines: TakenLines,
    },
    /// Delete it.
    Delete {
        /// The content that the file must have, if the request gives it.
        content: Option<String>,
    },
    /// Change parts of it, and perhaps rename it.
    Update {
        /// The changes, all found in the same text. Empty for a mere move or change of mode.
        hunks: Vec<Hunk>,
        /// The new path, for a rename.
        move_to: Option<String>,
    },
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The number of the hunk in messages and previews, counted from 1 over the whole request.
    pub number: usize,
    /// The change itself.
    pub change: Change,
}

/// The change of a hunk, in one of its forms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A text, which may begin and end inside lines, and its replacement.
    Text(TextChange),
    /// Whole lines: context, removed and added ones.
    Lines(LineChange),
    /// Whole lines to find, and the lines that replace them.
    Block(BlockChange),
    /// Lines to insert beside a text.
    Insertion(Insertion),
    /// Lines by number, and the lines that replace them.
    Range(RangeChange),
    /// Lines by the numbers that they have in a version of the file, or a definition of that version.
    Numbered(NumberedChange),
    /// A text where a search has found it, and its replacement.
    Place(PlaceChange),
    /// New text with markers for what stays.
    Sketch(Sketch),
}

impl Change {
    /// Returns the line, counted from 1, that only chooses among equal places.
    #[must_use]
    pub fn hint(&self) -> Option<usize> {
        match self {
            // Lines that are all new have no other place.
            Self::Lines(change) if change.lines.iter().any(|line| line.before().is_some()) => change.hint,
            Self::Block(change) => change.hint,
            _ => None,
        }
    }

    /// Returns the change without that line, for a text whose lines have moved.
    #[must_use]
    pub fn without_hint(&self) -> Self {
        let mut change = self.clone();
        if self.hint().is_some() {
            match &mut change {
                Self::Lines(change) => change.hint = None,
                Self::Block(change) => change.hint = None,
                _ => {}
            }
        }
        change
    }
}

/// A text and its replacement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextChange {
    /// The text to find.
    pub old: String,
    /// The text that replaces it, literally.
    pub new: String,
    /// Whether to replace every occurrence.
    pub all: bool,
    /// How many occurrences the caller expects.
    pub expected: Option<usize>,
}

impl From<TextChange> for Change {
    fn from(change: TextChange) -> Self {
        Self::Text(change)
    }
}

/// Lines to insert beside a text, which stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Insertion {
    /// The text, of whose lines those beside the new ones must be whole; `None` is all of the file.
    pub beside: Option<String>,
    /// The side on which they go.
    pub side: Side,
    /// The lines, without their endings.
    pub lines: Vec<String>,
}

/// A side of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Above its first line.
    Before,
    /// Below its last line.
    After,
}

/// A hunk of whole lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineChange {
    /// The `@@` lines, outermost first: each narrows the search to the block that it opens.
    pub anchors: Vec<String>,
    /// The lines in order.
    pub lines: Vec<Line>,
    /// Whether the lines must be the last of the file.
    pub at_end: bool,
    /// The line, counted from 1, at which the request places the lines. It only chooses among equal places.
    pub hint: Option<usize>,
    /// Whether the file shall end with a newline, for a hunk of its last lines; `None` leaves that as it is.
    pub final_newline: Option<bool>,
}

/// A block of whole lines and its replacement; lines that both share locate the block and stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockChange {
    /// The pieces, usually one. Elisions (`...`) separate several: each must be unique, and they follow in this order.
    pub pieces: Vec<Piece>,
    /// The line, counted from 1, at which the request places the block. It only chooses among equal places.
    pub hint: Option<usize>,
}

/// A piece of a [`BlockChange`]: lines that end in LF, which the last one may lack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Piece {
    /// The lines to find.
    pub old: String,
    /// The lines that replace them, or the same lines in a piece that only locates the next one. Both are empty where
    /// an elision begins or ends the block. If only `old` is empty, the elision gives no place for `new`.
    pub new: String,
    /// The elision line (`...`) between this piece and the one before, as it was sent, without its ending. It may be a
    /// real line of the file: with it, the pieces join to the block that was sent.
    pub elision: Option<String>,
}

/// A replacement of lines by number, which is only safe for the version that has those numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeChange {
    /// The first removed line, counted from 1; if `count` is 0, the line before which the new ones are inserted.
    pub first: usize,
    /// How many lines are removed.
    pub count: usize,
    /// The new lines, without their endings.
    pub lines: Vec<String>,
}

/// A replacement of lines of a version of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumberedChange {
    /// The lines that go, or the place at which others come.
    pub at: LinesOfVersion,
    /// The lines that come.
    pub new: NewLines,
}

/// A text where a search has found it, and its replacement. It is only safe for the version that was searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlaceChange {
    /// The offset of the text in the file's view.
    pub offset: usize,
    /// The text that stands there.
    pub old: String,
    /// The text that replaces it, literally.
    pub new: String,
}

/// One line of a [`LineChange`], without its ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line that must be there and stays.
    Context(String),
    /// A line that must be there and is removed.
    Removed(String),
    /// A new line.
    Added(String),
    /// A line without a marker: context that lost its leading space. It must be equal to the file's line.
    Bare(String),
}

/// The number of line pairs above which shared lines in the middle of two blocks are not searched for.
const COMPARED: usize = 4_000_000;

impl Line {
    /// Merges an old and a new block: lines that both share become context.
    #[must_use]
    pub fn between(old: &[&str], new: &[&str]) -> Vec<Self> {
        let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
        let (old_rest, new_rest) = (&old[head..], &new[head..]);
        let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
        let (old_mid, new_mid) = (&old_rest[..old_rest.len() - tail], &new_rest[..new_rest.len() - tail]);
        let owned = |kind: fn(String) -> Self| move |line: &&str| kind(String::from(*line));
        let mut lines: Vec<Self> = old[..head].iter().map(owned(Self::Context)).collect();
        let ops = if old_mid.len().saturating_mul(new_mid.len()) > COMPARED {
            let (old_len, new_len) = (old_mid.len(), new_mid.len());
            vec![DiffOp::Replace { old_index: 0, old_len, new_index: 0, new_len }]
        } else {
            compare(old_mid, new_mid)
        };
        for op in ops {
            if matches!(op, DiffOp::Equal { .. }) {
                lines.extend(old_mid[op.old_range()].iter().map(owned(Self::Context)));
            } else {
                lines.extend(old_mid[op.old_range()].iter().map(owned(Self::Removed)));
                lines.extend(new_mid[op.new_range()].iter().map(owned(Self::Added)));
            }
        }
        lines.extend(old_rest[old_mid.len()..].iter().map(owned(Self::Context)));
        lines
    }

    /// Returns whether the line stays as it is.
    #[must_use]
    pub fn is_context(&self) -> bool {
        matches!(self, Self::Context(_) | Self::Bare(_))
    }

    /// Returns the line if it must be in the file before the edit.
    #[must_use]
    pub fn before(&self) -> Option<&str> {
        match self {
            Self::Context(line) | Self::Removed(line) | Self::Bare(line) => Some(line),
            Self::Added(_) => None,
        }
    }

    /// Returns the line if it will be in the file after the edit.
    #[must_use]
    pub fn after(&self) -> Option<&str> {
        match self {
            Self::Context(line) | Self::Added(line) | Self::Bare(line) => Some(line),
            Self::Removed(_) => None,
        }
    }
}

impl Section {
    /// Makes a section for the file at `path`, which keeps its mode.
    #[must_use]
    pub fn new(path: &str, operation: Operation) -> Self {
        Self { edit: None, path: path.into(), executable: None, operation }
    }

    /// Returns whether it names all that it changes by the line numbers of a version.
    #[must_use]
    pub fn is_numbered(&self) -> bool {
        let hunks = self.hunks();
        let all_are =
            !hunks.is_empty() && hunks.iter().all(|hunk| matches!(hunk.change, Change::Numbered(_)));
        all_are || matches!(self.operation, Operation::Take { .. })
    }

    /// Returns the paths that it names.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.own_paths().chain(self.taken().map(|lines| lines.path.as_str()))
    }

    /// Returns the paths of the file, of which an update may name two.
    fn own_paths(&self) -> impl Iterator<Item = &str> {
        let target = match &self.operation {
            Operation::Update { move_to, .. } => move_to.as_deref(),
            _ => None,
        };
        core::iter::once(self.path.as_str()).chain(target)
    }

    /// Returns the lines that it takes from files.
    fn taken(&self) -> impl Iterator<Item = &TakenLines> {
        let whole = match &self.operation {
            Operation::Take { lines, .. } => Some(lines),
            _ => None,
        };
        let of_hunks = self.hunks().iter().filter_map(|hunk| match &hunk.change {
            Change::Numbered(NumberedChange { new: NewLines::Taken(lines), .. }) => Some(lines),
            _ => None,
        });
        whole.into_iter().chain(of_hunks)
    }

    fn hunks(&self) -> &[Hunk] {
        match &self.operation {
            Operation::Update { hunks, .. } => hunks,
            _ => &[],
        }
    }

    /// Returns how many numbers of hunks it takes.
    fn numbers(&self) -> usize {
        match &self.operation {
            Operation::Update { hunks, .. } => hunks.len(),
            Operation::Take { .. } => 1,
            _ => 0,
        }
    }
}

impl Operation {
    /// Returns how many bytes of text the operation carries.
    fn bytes(&self) -> usize {
        match self {
            Self::Add(content) | Self::Write(content) | Self::Replace(content) => content.len(),
            Self::Delete { content } => content.as_ref().map_or(0, String::len),
            Self::Take { .. } => 0,
            Self::Update { hunks, .. } => {
                let text = |hunk: &Hunk| match &hunk.change {
                    Change::Text(change) => change.old.len() + change.new.len(),
                    Change::Insertion(insertion) => {
                        let beside = insertion.beside.as_ref().map_or(0, String::len);
                        beside + insertion.lines.iter().map(String::len).sum::<usize>()
                    }
                    Change::Lines(change) => change
                        .lines
                        .iter()
                        .filter_map(|line| line.before().or(line.after()))
                        .map(str::len)
                        .sum(),
                    Change::Block(change) => {
                        change.pieces.iter().map(|piece| piece.old.len() + piece.new.len()).sum()
                    }
                    Change::Range(change) => change.lines.iter().map(String::len).sum(),
                    Change::Numbered(change) => change.new.bytes(),
                    Change::Place(change) => change.old.len() + change.new.len(),
                    Change::Sketch(sketch) => sketch.text().len(),
                };
                hunks.iter().map(text).sum()
            }
        }
    }
}

impl Patch {
    /// Takes away the line numbers that only choose among equal places, but for those that are known of a file.
    pub fn keep_hints(&mut self, is_known: impl Fn(&str, usize) -> bool) {
        for Section { path, operation, .. } in &mut self.sections {
            let Operation::Update { hunks, .. } = operation else { continue };
            for hunk in hunks {
                if hunk.change.hint().is_some_and(|line| !is_known(path, line)) {
                    hunk.change = hunk.change.without_hint();
                }
            }
        }
    }

    /// Makes a patch that replaces texts in one file, or inserts lines beside them, all found in the same content.
    pub fn replace<C: Into<Change>>(path: &str, changes: Vec<C>) -> Result<Self, Problem> {
        let mut changes: Vec<Change> = changes.into_iter().map(Into::into).collect();
        if let [Change::Text(TextChange { old, new, all: false, expected: None })] = &mut changes[..]
            && old.is_empty()
        {
            // In many tools, an empty old text creates a file.
            let content = core::mem::take(new);
            return Ok(Self { sections: vec![Section::new(path, Operation::Add(content))] });
        }
        let mut hunks = Vec::with_capacity(changes.len());
        for (i, change) in changes.into_iter().enumerate() {
            let number = i + 1;
            let refused = |kind: Kind| Err(Problem::new(kind).at(path).in_hunk(number));
            match &change {
                Change::Text(TextChange { old, .. }) if old.is_empty() => return refused(Kind::NoOldText),
                Change::Text(TextChange { old, new, .. }) if old == new => {
                    return refused(Kind::NoOp { why: NoChange::SameText });
                }
                _ => {}
            }
            hunks.push(Hunk { number, change });
        }
        let operation = Operation::Update { hunks, move_to: None };
        Ok(Self { sections: vec![Section::new(path, operation)] })
    }

    /// Makes a patch that replaces lines of a version of one file.
    #[must_use]
    pub fn replace_range(path: &str, change: NumberedChange) -> Self {
        let hunks = vec![Hunk { number: 1, change: Change::Numbered(change) }];
        Self { sections: vec![Section::new(path, Operation::Update { hunks, move_to: None })] }
    }

    /// Makes a patch that creates one file with lines of another.
    #[must_use]
    pub fn take(path: &str, lines: TakenLines) -> Self {
        Self { sections: vec![Section::new(path, Operation::Take { number: 1, lines })] }
    }

    /// Makes a patch that replaces texts in files, each where a search has found it. The places are its hunks, in order.
    #[must_use]
    pub fn replace_places(files: impl IntoIterator<Item = (String, Vec<PlaceChange>)>) -> Self {
        let mut number = 0;
        let mut hunk = |change| {
            number += 1;
            Hunk { number, change: Change::Place(change) }
        };
        let mut section = |(path, places): (String, Vec<PlaceChange>)| {
            let hunks = places.into_iter().map(&mut hunk).collect();
            Section::new(&path, Operation::Update { hunks, move_to: None })
        };
        Self { sections: files.into_iter().map(&mut section).collect() }
    }

    /// Makes a patch that renames one file.
    pub fn rename(from: &str, to: &str) -> Result<Self, Problem> {
        if from == to {
            return Err(Problem::new(Kind::NoOp { why: NoChange::SamePath }).at(from));
        }
        let operation = Operation::Update { hunks: Vec::new(), move_to: Some(to.into()) };
        Ok(Self { sections: vec![Section::new(from, operation)] })
    }

    /// Makes a patch that deletes one file.
    #[must_use]
    pub fn delete(path: &str) -> Self {
        Self { sections: vec![Section::new(path, Operation::Delete { content: None })] }
    }

    /// Makes a patch that gives one file a whole new content.
    #[must_use]
    pub fn write(path: &str, content: String) -> Self {
        Self { sections: vec![Section::new(path, Operation::Write(content))] }
    }

    /// Returns the sections, in the order of the request.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Returns the number of hunks.
    #[must_use]
    pub fn hunks(&self) -> usize {
        self.sections.iter().map(Section::numbers).sum()
    }

    /// Returns whether this is an everyday request: few files, few hunks, little text.
    #[must_use]
    pub fn is_small(&self) -> bool {
        let hunks: usize = self
            .sections
            .iter()
            .map(|section| match &section.operation {
                Operation::Update { hunks, .. } => hunks.len(),
                _ => 1,
            })
            .sum();
        let bytes: usize = self.sections.iter().map(|section| section.operation.bytes()).sum();
        self.sections.len() <= 8 && hunks <= 32 && bytes <= 256 * 1024
    }

    /// Returns whether the request deletes or renames the file at this path.
    #[must_use]
    pub fn takes_away(&self, path: &str) -> bool {
        self.sections.iter().filter(|section| section.path == path).any(|section| match &section.operation {
            Operation::Delete { .. } => true,
            Operation::Update { move_to, .. } => move_to.is_some(),
            Operation::Add(_) | Operation::Write(_) | Operation::Replace(_) | Operation::Take { .. } => false,
        })
    }

    /// Joins requests into one that makes all of them, each over what those before it leave.
    #[must_use]
    pub fn join(edits: impl IntoIterator<Item = Self>) -> Self {
        let mut sections: Vec<Section> = Vec::new();
        let mut taken = 0;
        for (i, edit) in edits.into_iter().enumerate() {
            let hunks = edit.hunks();
            for mut section in edit.sections {
                match &mut section.operation {
                    Operation::Update { hunks, .. } => hunks.iter_mut().for_each(|hunk| hunk.number += taken),
                    Operation::Take { number, .. } => *number += taken,
                    _ => {}
                }
                sections.push(Section { edit: Some(i + 1), ..section });
            }
            taken += hunks;
        }
        Self { sections }
    }

    /// Returns the versions whose line numbers or definitions the request names, each with the path that its file has
    /// before all of the request.
    pub fn numbered_versions(&self) -> impl Iterator<Item = (&str, &str)> {
        self.numbered().map(|(path, lines)| (path, lines.version.as_str()))
    }

    /// Returns the definitions that the request names, each with the path that its file has before all of the
    /// request, and the version.
    pub fn symbols(&self) -> impl Iterator<Item = (&str, &str, &SymbolPart)> {
        self.numbered().filter_map(|(path, lines)| match &lines.at {
            LineAddress::Symbol(symbol) => Some((path, lines.version.as_str(), symbol)),
            LineAddress::Numbers { .. } => None,
        })
    }

    /// Returns the lines of versions that are replaced or taken, each with the path that its file has before all of the
    /// request.
    fn numbered(&self) -> impl Iterator<Item = (&str, &LinesOfVersion)> {
        let mut origins: BTreeMap<&str, &str> = BTreeMap::new();
        self.sections.iter().flat_map(move |section| {
            let origin = |path| origins.get(path).copied().unwrap_or(path);
            let own = origin(section.path.as_str());
            let taken: Vec<_> =
                section.taken().map(|lines| (origin(lines.path.as_str()), &lines.at)).collect();
            if let Operation::Update { move_to: Some(target), .. } = &section.operation {
                origins.insert(target, own);
            }
            let replaced = section.hunks().iter().filter_map(move |hunk| match &hunk.change {
                Change::Numbered(change) => Some((own, &change.at)),
                _ => None,
            });
            replaced.chain(taken)
        })
    }

    /// Returns the paths of the files from which the request copies lines, and that it does not change.
    #[must_use]
    pub fn only_read(&self) -> BTreeSet<&str> {
        let copied = self.sections.iter().flat_map(Section::taken).filter(|lines| !lines.is_moved);
        let mut only_read: BTreeSet<&str> = copied.map(|lines| lines.path.as_str()).collect();
        if !only_read.is_empty() {
            let moved = self.sections.iter().flat_map(Section::taken).filter(|lines| lines.is_moved);
            let changed = self.sections.iter().flat_map(Section::own_paths);
            for path in changed.chain(moved.map(|lines| lines.path.as_str())) {
                only_read.remove(path);
            }
        }
        only_read
    }

    /// Returns the paths of the files that the request addresses by line number. The caller must give their versions,
    /// since line numbers hold for one version only.
    pub fn paths_by_line_number(&self) -> impl Iterator<Item = &str> {
        let by_number = |hunk: &Hunk| matches!(hunk.change, Change::Range(_));
        self.sections.iter().filter_map(move |section| match &section.operation {
            Operation::Update { hunks, .. } if hunks.iter().any(by_number) => Some(section.path.as_str()),
            _ => None,
        })
    }

    /// Returns every path that the request names, in order; some more than once.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().flat_map(Section::paths)
    }
}
