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
mod change;
mod envelope;
mod git;
mod lines;
pub(crate) mod names;
mod raw;
mod taken;
mod target;
mod wrapper;

pub mod print;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

pub use self::address::{LineAddress, LinesOfVersion, Part, SymbolPart};
pub use self::change::{
    BlockChange, Change, Insertion, Line, LineChange, NumberedChange, Piece, PlaceChange, RangeChange, Side,
    TextChange,
};
use self::sketch::Sketch;
pub use self::taken::{NewLines, TakenLines};
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
    /// Whether the sections of its text refer to the files as they were before all of them, as in a git diff: it may take
    /// a name that a later one frees.
    pub is_unordered: bool,
}

/// An operation on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Create it with this content; it must not exist.
    Add(String),
    /// Create it with this content. If it exists, the content comes before its lines.
    Fill(String),
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

impl Section {
    /// Makes a section for the file at `path`, which keeps its mode.
    #[must_use]
    pub fn new(path: &str, operation: Operation) -> Self {
        Self { edit: None, path: path.into(), executable: None, operation, is_unordered: false }
    }

    /// Makes a section that changes the file at `path`.
    pub(crate) fn update(path: &str, hunks: Vec<Hunk>) -> Self {
        Self::new(path, Operation::Update { hunks, move_to: None })
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
        core::iter::once(self.path.as_str()).chain(self.move_to())
    }

    fn move_to(&self) -> Option<&str> {
        match &self.operation {
            Operation::Update { move_to, .. } => move_to.as_deref(),
            _ => None,
        }
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
        self.hunks().len() + usize::from(matches!(self.operation, Operation::Take { .. }))
    }
}

impl Operation {
    /// Returns how many bytes of text the operation carries.
    fn bytes(&self) -> usize {
        match self {
            Self::Add(content) | Self::Fill(content) | Self::Write(content) | Self::Replace(content) => {
                content.len()
            }
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
    /// Returns the request with only this hunk.
    #[must_use]
    pub fn only(&self, number: usize) -> Self {
        let only = |section: &Section| {
            let hunk = section.hunks().iter().find(|hunk| hunk.number == number)?;
            Some(Section::update(&section.path, vec![hunk.clone()]))
        };
        Self { sections: self.sections.iter().filter_map(only).collect() }
    }

    /// Returns the request with the hunks of `new`, in order, in the place of those with these numbers. `None` unless `new` has
    /// as many hunks, each for the same file, and nothing else.
    #[must_use]
    pub fn with_hunks(&self, numbers: &BTreeSet<usize>, new: &Self) -> Option<Self> {
        let mut fixed = self.clone();
        let mut left = new
            .sections
            .iter()
            .flat_map(|section| section.hunks().iter().map(move |hunk| (section, &hunk.change)));
        for section in &mut fixed.sections {
            let (path, target) = (section.path.clone(), section.move_to().map(String::from));
            let Operation::Update { hunks, .. } = &mut section.operation else { continue };
            for hunk in hunks.iter_mut().filter(|hunk| numbers.contains(&hunk.number)) {
                let (of, change) = left.next()?;
                let is_moved = of.move_to().is_some_and(|to| Some(to) != target.as_deref());
                if of.path != path || is_moved || of.executable.is_some() {
                    return None;
                }
                hunk.change = change.clone();
            }
        }
        let has_all = new.hunks() == numbers.len() && left.next().is_none();
        let has_more = new.sections.iter().any(|section| section.hunks().is_empty());
        (has_all && !has_more).then_some(fixed)
    }

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

    /// Returns the paths of files in which a line number chooses among equal places.
    pub fn hinted_paths(&self) -> impl Iterator<Item = &str> {
        let hinted = |section: &&Section| section.hunks().iter().any(|hunk| hunk.change.hint().is_some());
        self.sections.iter().filter(hinted).map(|section| section.path.as_str())
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
                Change::Text(TextChange { old, .. })
                | Change::Insertion(Insertion { beside: Some(old), .. })
                    if old.is_empty() =>
                {
                    return refused(Kind::NoOldText);
                }
                Change::Text(TextChange { old, new, .. }) if old == new => {
                    return refused(Kind::NoOp { why: NoChange::SameText });
                }
                _ => {}
            }
            hunks.push(Hunk { number, change });
        }
        Ok(Self { sections: vec![Section::update(path, hunks)] })
    }

    /// Makes a patch that replaces lines of a version of one file.
    #[must_use]
    pub fn replace_range(path: &str, change: NumberedChange) -> Self {
        let hunks = vec![Hunk { number: 1, change: Change::Numbered(change) }];
        Self { sections: vec![Section::update(path, hunks)] }
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
            Section::update(&path, hunks)
        };
        Self { sections: files.into_iter().map(&mut section).collect() }
    }

    /// Also moves these files, given with their new paths.
    #[must_use]
    pub fn moving(mut self, mut moves: BTreeMap<String, String>) -> Self {
        for section in &mut self.sections {
            if let Operation::Update { move_to, .. } = &mut section.operation {
                *move_to = moves.remove(&section.path).or(move_to.take());
            }
        }
        let moved = |(from, to): (String, String)| {
            Section::new(&from, Operation::Update { hunks: Vec::new(), move_to: Some(to) })
        };
        self.sections.extend(moves.into_iter().map(moved));
        self
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

    /// Makes a patch that brings one file into the shape of a sketch.
    #[must_use]
    pub fn sketch(path: &str, sketch: Sketch) -> Self {
        let hunks = vec![Hunk { number: 1, change: Change::Sketch(sketch) }];
        Self { sections: vec![Section::update(path, hunks)] }
    }

    /// Returns whether it has a sketch.
    #[must_use]
    pub fn has_sketch(&self) -> bool {
        let mut hunks = self.sections.iter().flat_map(Section::hunks);
        hunks.any(|hunk| matches!(hunk.change, Change::Sketch(_)))
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

    /// Returns whether this is an everyday request: a short one that is placed without the definitions of the file, which
    /// anchors may need.
    #[must_use]
    pub fn is_small(&self) -> bool {
        self.is_short() && !self.has_anchors()
    }

    /// Returns whether the request has few files, few hunks and little text.
    #[must_use]
    pub fn is_short(&self) -> bool {
        let hunks: usize = self.sections.iter().map(|section| section.hunks().len()).sum();
        let bytes: usize = self.sections.iter().map(|section| section.operation.bytes()).sum();
        self.sections.len() <= 8 && hunks <= 32 && bytes <= 256 * 1024
    }

    fn has_anchors(&self) -> bool {
        let mut hunks = self.sections.iter().flat_map(Section::hunks);
        hunks.any(|hunk| matches!(&hunk.change, Change::Lines(change) if !change.anchors.is_empty()))
    }

    /// Returns whether the request deletes or renames the file at this path.
    #[must_use]
    pub fn takes_away(&self, path: &str) -> bool {
        let mut its = self.sections.iter().filter(|section| section.path == path);
        its.any(|section| {
            matches!(section.operation, Operation::Delete { .. }) || section.move_to().is_some()
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
            if let Some(target) = section.move_to() {
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
        // Of a file that has lines, `Fill` names the beginning.
        let is_by_number = move |section: &&Section| {
            matches!(section.operation, Operation::Fill(_)) || section.hunks().iter().any(by_number)
        };
        self.sections.iter().filter(is_by_number).map(|section| section.path.as_str())
    }

    /// Returns every path that the request names, in order; some more than once.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().flat_map(Section::paths)
    }
}

#[cfg(test)]
mod tests;
