//! A plan: every change of a request, placed and checked, not yet made.
//!
//! [`build`] takes a [`Patch`] and the [`Sources`] that it names, and returns either a [`Plan`] or every problem of the
//! request. Sections are planned in order over an overlay, so that two may change one file; the result is one
//! [`FilePlan`] for each file that ends up different.
//!
//! A plan is `#[must_use]`, not `Clone`, and made only here and by [`undo`](fn@undo), which reverts an edit. So it
//! cannot be committed twice or come from outside. A preview is a stored plan.

mod apart;
mod carry;
mod fitting;
mod forgiven;
mod format;
mod hunk;
mod insertion;
mod note;
mod numbering;
mod overlay;
mod place;
mod replace;
mod revise;
mod sketch;
mod splice;
mod suspect;
mod taken;
mod undo;
mod units;
mod whole;
mod words;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

pub use self::forgiven::Forgiven;
pub use self::format::UnfitFormat;
pub use self::note::PlanNote;
pub use self::numbering::{DefinitionPlace, FoundSymbol, Since, SymbolLines};
use self::overlay::{Overlay, OverlayFile};
pub use self::revise::{NotRevised, Revision};
pub use self::taken::{Taken, TakenFrom};
pub use self::undo::{UndoneFile, undo, without};
#[cfg(test)]
pub(crate) use self::whole::changed_lines;
use crate::edit::Edit;
use crate::encoding::Encoding;
use crate::find::{FindLimits, Layer};
use crate::patch::{Part, Patch, SymbolPart};
use crate::problem::{HunksThatFit, Kind, NoChange, NotText, Problem};
use crate::text::{Text, split_lines};
use crate::version::Version;

/// The files on disk that the paths of a request name.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    names: BTreeMap<String, String>,
    refused: BTreeSet<String>,
    files: BTreeMap<String, SourceFile>,
    /// Tells whether a text ends in a definition, since nothing here knows languages.
    pub ends_in_definition: Option<EndsInDefinition>,
    /// Finds the definitions of a text, which is a file of this name or a sketch for it. Sketches are placed without them where
    /// this is not known.
    pub places: Option<PlacesOf>,
}

/// A file that a request names, and what is known of its versions.
#[derive(Clone, Debug, Default)]
pub struct SourceFile {
    text: Option<Arc<Text>>,
    /// Whether the file is executable.
    pub is_executable: bool,
    /// Whether the file has changed since the caller saw its line numbers, so that numbers choose no place.
    pub is_renumbered: bool,
    /// The version to which line numbers refer that name none, if it is not on disk.
    pub read: Option<String>,
    /// How the file came from older versions to what is on disk. Line numbers of these versions are followed.
    pub since: BTreeMap<String, Since>,
    /// Where definitions are, by version and name.
    pub symbols: BTreeMap<(String, SymbolPart), SymbolLines>,
}

/// Finds the definitions in a text of the file of this name.
pub type PlacesOf = fn(&str, &[u8]) -> Vec<DefinitionPlace>;

/// Tells whether a text of the file of this name ends in a definition.
pub type EndsInDefinition = fn(&str, &[u8]) -> bool;

/// The state of a path on disk.
#[derive(Clone, Debug)]
pub enum Source {
    /// Nothing; a file can be created there.
    Absent,
    /// A text file.
    Present(Arc<Text>),
}

impl Sources {
    /// Records that the request's `written` path is the file called `name`, and its state.
    pub fn insert(&mut self, written: &str, name: &str, source: Source) {
        self.alias(written, name);
        self.file(name).text = match source {
            Source::Present(text) => Some(text),
            Source::Absent => None,
        };
    }

    /// Returns what is known of the file called `name`, to add to it.
    pub fn file(&mut self, name: &str) -> &mut SourceFile {
        self.files.entry(name.into()).or_default()
    }

    /// Returns what is known of the file called `name`.
    fn of(&self, name: &str) -> &SourceFile {
        static UNKNOWN: SourceFile = SourceFile {
            text: None,
            is_executable: false,
            is_renumbered: false,
            read: None,
            since: BTreeMap::new(),
            symbols: BTreeMap::new(),
        };
        self.files.get(name).unwrap_or(&UNKNOWN)
    }

    /// Replaces the text of the file called `name`.
    pub fn set_text(&mut self, name: &str, text: Arc<Text>) {
        let file = self.file(name);
        file.text = Some(text);
        // How it came to the text before says nothing of this one.
        file.since.clear();
    }

    /// Records that the request's `written` path is the known file called `name`.
    pub fn alias(&mut self, written: &str, name: &str) {
        self.names.insert(written.into(), name.into());
    }

    /// Records that the request's `written` path cannot be used; the caller knows why ([`Kind::NoSource`]).
    pub fn refuse(&mut self, written: &str) {
        self.refused.insert(written.into());
    }

    fn resolve<'a>(&'a self, written: &'a str) -> Result<&'a str, Problem> {
        if self.refused.contains(written) {
            return Err(Problem::new(Kind::NoSource).at(written));
        }
        Ok(self.names.get(written).map_or(written, String::as_str))
    }
}

/// All changes of a request, checked.
#[must_use = "a plan is either committed or kept as a preview"]
#[derive(Debug)]
pub struct Plan {
    files: Vec<FilePlan>,
    notes: Vec<PlanNote>,
    discarded: Vec<String>,
}

/// The planned change of one file.
#[derive(Clone, Debug)]
pub struct FilePlan {
    /// The file, as the workspace names it.
    pub name: String,
    /// What happens to the file.
    pub action: Action,
    /// The hunks of the request that contribute to it.
    pub hunks: Vec<PlacedHunk>,
    /// The file that was moved here, if one was: its mode and owner count, not those of the file that it replaces.
    pub metadata_from: Option<String>,
    /// Whether the file becomes executable or stops being so; `None` leaves it.
    pub executable: Option<bool>,
}

/// What happens to a file.
#[derive(Clone, Debug)]
pub enum Action {
    /// The file is created.
    Create {
        /// The content of the new file.
        content: Arc<Text>,
    },
    /// The file is changed.
    Modify {
        /// The current content of the file.
        base: Arc<Text>,
        /// The changes to the content.
        edit: Edit,
    },
    /// The file is deleted.
    Delete {
        /// The current content of the file.
        base: Arc<Text>,
    },
    /// The file is moved here, perhaps changed.
    Move {
        /// The current name of the file.
        from: String,
        /// The current content of the file.
        base: Arc<Text>,
        /// The changes to the content; possibly none.
        edit: Edit,
    },
}

impl Action {
    /// Returns the old content.
    #[must_use]
    pub fn base(&self) -> Option<&Arc<Text>> {
        match self {
            Self::Create { .. } => None,
            Self::Modify { base, .. } | Self::Delete { base } | Self::Move { base, .. } => Some(base),
        }
    }

    /// Returns the raw bytes of the new content in pieces; `None` for a deletion.
    #[must_use]
    pub fn pieces(&self) -> Option<Vec<Cow<'_, [u8]>>> {
        match self {
            Self::Create { content } => Some(alloc::vec![Cow::Borrowed(content.raw())]),
            Self::Modify { base, edit } | Self::Move { base, edit, .. } => Some(edit.raw_pieces(base)),
            Self::Delete { .. } => None,
        }
    }

    /// Returns the version of the new content; `None` for a deletion.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        match self {
            Self::Create { content } => Some(content.version()),
            Self::Modify { base, edit } | Self::Move { base, edit, .. } => Some(edit.version(base)),
            Self::Delete { .. } => None,
        }
    }

    /// Returns the new content as a reading would find it; `None` for a deletion, and for what is no text.
    #[must_use]
    pub fn after(&self) -> Option<Arc<Text>> {
        match self {
            Self::Create { content } if content.is_ascii() => Some(Arc::clone(content)),
            // It may have been made in an encoding that its bytes do not show.
            Self::Create { content } => Text::new(content.raw().to_vec()).ok().map(Arc::new),
            Self::Modify { base, edit } | Self::Move { base, edit, .. } => edit.text(base).map(Arc::new),
            Self::Delete { .. } => None,
        }
    }

    /// Returns the view of the new content in pieces; `None` for a deletion.
    #[must_use]
    pub fn view(&self) -> Option<Vec<&[u8]>> {
        match self {
            Self::Create { content } => Some(alloc::vec![content.bytes()]),
            Self::Modify { base, edit } | Self::Move { base, edit, .. } => {
                Some(edit.pieces(base.bytes()).collect())
            }
            Self::Delete { .. } => None,
        }
    }
}

impl Action {
    /// Returns the first changed line of the old content, and the number of lines up to the last changed one.
    fn changed_lines(&self) -> (usize, usize) {
        let (base, range) = match self {
            Self::Create { .. } => return (1, 0),
            Self::Delete { base } => (base, base.body()),
            Self::Modify { base, edit } | Self::Move { base, edit, .. } => match edit.spans() {
                [] => return (1, 0),
                [first, .., last] => (base, first.range.start..last.range.end),
                [only] => (base, only.range.clone()),
            },
        };
        (base.line_number(range.start), split_lines(&base.bytes()[range]).count())
    }
}

/// A hunk of the request and the place where it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedHunk {
    /// The number of the hunk in the request.
    pub number: usize,
    /// The one-based line at which its first match starts, in the text that was searched.
    pub line: usize,
    /// How many lines that match covers.
    pub lines: usize,
    /// The layer that found it; `None` if nothing was searched for (a new file, a whole-file replacement).
    pub layer: Option<Layer>,
    /// The number of matches; more than one where all are replaced.
    pub places: usize,
    /// What the layer took for what in the request; of several places at the first.
    pub forgiven: Vec<Forgiven>,
    /// How the request names the lines, where that is not by the numbers that they have here.
    pub named: Option<NamedAs>,
    /// The other side, if it copies or moves lines. Both sides have the same number.
    pub taken: Option<Taken>,
}

impl PlacedHunk {
    /// Makes a hunk at these lines, for which nothing was searched.
    pub(super) fn new(number: usize, line: usize, lines: usize) -> Self {
        Self { number, line, lines, layer: None, places: 1, forgiven: Vec::new(), named: None, taken: None }
    }
}

/// How a request names lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedAs {
    /// By other numbers.
    Numbers(Renumbered),
    /// As a definition.
    Symbol(TakenSymbol),
}

/// A definition that was taken for the one that a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenSymbol {
    /// Its kind and its path.
    pub title: String,
    /// What of it is meant.
    pub part: Part,
}

/// Lines as a request names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renumbered {
    /// The version that has their numbers.
    pub version: String,
    /// The first of them, counted from 1; without any, the one before which others come.
    pub first: usize,
    /// How many there are.
    pub count: usize,
}

impl Plan {
    /// Returns the planned changes, file by file, in the order of the request.
    #[must_use]
    pub fn files(&self) -> &[FilePlan] {
        &self.files
    }

    /// Returns the files whose whole content the request discards, under their names on disk: the caller must have seen
    /// all of them.
    #[must_use]
    pub fn discarded(&self) -> &[String] {
        &self.discarded
    }

    /// Returns notes for the reader, though nothing is wrong.
    #[must_use]
    pub fn notes(&self) -> &[PlanNote] {
        &self.notes
    }

    /// Checks that these hunks can be applied without the others.
    pub fn can_take(&self, hunks: &[usize]) -> Result<(), Kind> {
        let takes = |file: &FilePlan| file.hunks.iter().any(|hunk| hunks.contains(&hunk.number));
        for file in &self.files {
            // Both halves of a move must be taken together.
            let donor = self.files.iter().find(|other| Some(&other.name) == file.metadata_from.as_ref());
            if let Some(donor) = donor.filter(|donor| takes(donor) != takes(file)) {
                return Err(Kind::HalfMove { from: donor.name.clone(), to: file.name.clone() });
            }
            let taken = file.hunks.iter().filter(|hunk| hunks.contains(&hunk.number)).count();
            let separable = match &file.action {
                Action::Modify { edit, .. } | Action::Move { edit, .. } => edit.is_separable(),
                Action::Create { .. } | Action::Delete { .. } => false,
            };
            if taken > 0 && taken < file.hunks.len() && !separable {
                return Err(Kind::InseparableHunks { name: file.name.clone() });
            }
        }
        let all = self.files.iter().flat_map(|file| &file.hunks).all(|hunk| hunks.contains(&hunk.number));
        match self.moved_on().filter(|_| !all) {
            Some(name) => Err(Kind::InseparableHunks { name: name.into() }),
            None => Ok(()),
        }
    }

    /// Returns a file from which lines are moved, if they are not simply where they were moved to: a later change of the same
    /// request has moved them on, so that a part of the plan could lose them.
    fn moved_on(&self) -> Option<&str> {
        let is_there = |number: usize, target: &str| {
            let mut hunks = self.files.iter().filter(|file| file.name == target).flat_map(|file| &file.hunks);
            hunks.any(|hunk| hunk.number == number && matches!(hunk.taken, Some(Taken::From(_))))
        };
        self.files.iter().find_map(|file| {
            let is_lost = |hunk: &PlacedHunk| match &hunk.taken {
                Some(Taken::To(target)) => !is_there(hunk.number, target),
                _ => false,
            };
            file.hunks.iter().any(is_lost).then_some(file.name.as_str())
        })
    }

    /// Returns the plan of these hunks alone, and the [`Rest`] from which the whole plan can be restored. A creation,
    /// deletion or move counts as its file's first hunk.
    pub fn only(mut self, hunks: &[usize]) -> Result<(Self, Rest), Kind> {
        self.can_take(hunks)?;
        let rest = Rest { files: self.files.clone() };
        for file in &mut self.files {
            file.hunks.retain(|hunk| hunks.contains(&hunk.number));
            if let Action::Modify { edit, .. } | Action::Move { edit, .. } = &mut file.action {
                edit.retain(hunks);
            }
        }
        self.files.retain(|file| {
            let changes = match &file.action {
                Action::Modify { base, edit } => !edit.is_no_op(base) || file.executable.is_some(),
                _ => true,
            };
            changes && !file.hunks.is_empty()
        });
        if self.files.is_empty() {
            return Err(Kind::NoOp { why: NoChange::NothingTaken });
        }
        Ok((self, rest))
    }
}

/// The files of a plan of which only some hunks were taken. It is no plan itself.
#[derive(Debug)]
pub struct Rest {
    files: Vec<FilePlan>,
}

impl Rest {
    /// Restores the whole plan from a part of it.
    pub fn join(self, part: Plan) -> Plan {
        Plan { files: self.files, ..part }
    }
}

/// Builds the plan of a request: places every hunk and checks the whole.
pub fn build(patch: &Patch, sources: &Sources, limits: &FindLimits) -> Result<Plan, Vec<Problem>> {
    let mut overlay = Overlay::new(patch.sections(), sources, limits);
    let mut problems = Vec::new();
    // Of files that an edit was to change which failed, nothing is known to the edits after it.
    let mut unknown: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, section) in patch.sections().iter().enumerate() {
        let failed_before = |path| unknown.get(path).is_some_and(|edit| Some(*edit) != section.edit);
        if section.paths().any(failed_before) {
            continue;
        }
        let Err(mut found) = overlay.plan(i, section) else { continue };
        let spent = found.last().is_some_and(is_spent);
        if let Some(edit) = section.edit {
            found.iter_mut().for_each(|problem| problem.edit = Some(edit));
            unknown.extend(section.paths().map(|path| (path, edit)));
        }
        problems.extend(found);
        if spent {
            break;
        }
    }
    if problems.is_empty() {
        problems.extend(overlay.unplaced());
    }
    if !problems.is_empty() {
        tell_how_many_fit(patch, &mut problems);
        return Err(problems);
    }
    let Overlay { mut notes, discarded, files, .. } = overlay;
    let mut files = settle_moves(files.into_iter().filter_map(OverlayFile::into_plan).collect());
    if files.is_empty() {
        let names = patch.sections().first().map(|section| section.path.clone()).unwrap_or_default();
        let why = NoChange::AlreadyHeld;
        return Err(Problem::new(Kind::NoOp { why }).at(&names).into());
    }
    number_whole_files(&mut files);
    for file in &files {
        match encoding_note(file) {
            Ok(note) => notes.extend(note),
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Plan { files, notes, discarded })
}

/// Returns whether the work limit of the request was reached, so that later hunks were not tried.
fn is_spent(problem: &Problem) -> bool {
    matches!(*problem.kind, Kind::WorkLimit { .. })
}

/// Adds to the last problem how many hunks there are, and how many of them fit.
fn tell_how_many_fit(patch: &Patch, problems: &mut [Problem]) {
    let total = patch.hunks();
    let missed: BTreeSet<usize> = problems.iter().filter_map(|problem| problem.hunk).collect();
    // A problem of a whole file says nothing about its hunks, and a work limit nothing about other hunks.
    // After an edit that failed, those that rely on it were not tried.
    let of_hunks =
        problems.iter().all(|problem| problem.hunk.is_some() && problem.edit.is_none() && !is_spent(problem));
    let done: BTreeSet<usize> = problems
        .iter()
        .filter(|problem| problem.is_done_already())
        .filter_map(|problem| problem.hunk)
        .collect();
    if let Some(last) = problems.last_mut().filter(|_| of_hunks && total > 1) {
        let fit = total.saturating_sub(missed.len());
        last.fit = Some(Box::new(HunksThatFit { fit, done: done.len(), total }));
    }
}

/// Plans each moved file under its new name, and drops the deletion of its old name. If the old name was taken again,
/// the new name becomes a creation.
fn settle_moves(mut files: Vec<FilePlan>) -> Vec<FilePlan> {
    let is_gone = |file: &FilePlan| matches!(file.action, Action::Delete { .. });
    let vacated: BTreeSet<String> =
        files.iter().filter(|file| is_gone(file)).map(|file| file.name.clone()).collect();
    let mut settled = BTreeSet::new();
    for file in &mut files {
        let Action::Move { from, base, edit } = &file.action else { continue };
        if !vacated.contains(from) || !settled.insert(from.clone()) {
            file.action = Action::Create { content: Arc::new(edit.result(base)) };
        }
    }
    files.retain(|file| !(is_gone(file) && settled.contains(&file.name)));
    files
}

/// Returns a note if a changed file gets another encoding, or will be taken for another one when it is read again.
/// Refuses a content that would not be read as text at all.
fn encoding_note(file: &FilePlan) -> Result<Option<PlanNote>, Problem> {
    let (Action::Modify { base, edit } | Action::Move { base, edit, .. }) = &file.action else {
        return Ok(None);
    };
    let (name, before, after) = (&file.name, base.encoding().name(), edit.encoding().name());
    if before != after {
        return Ok(Some(PlanNote::OtherEncoding { file: name.clone(), before, after }));
    }
    if edit.encoding() == Encoding::UTF_8 || edit.spans().is_empty() {
        return Ok(None);
    }
    let again = Text::new(edit.raw_pieces(base).concat())
        .map_err(|_| Problem::new(Kind::NotText { why: NotText::AfterEdit }).at(name))?;
    let same = again.bytes() == edit.apply(base.bytes());
    Ok((!same).then(|| {
        let looks = again.encoding().name();
        PlanNote::LooksOtherwise { file: name.clone(), edited: before, looks }
    }))
}

/// Numbers the changes that come from no hunk of the request, such as creations and deletions, from the next free
/// number on, so that a preview can name them.
fn number_whole_files(files: &mut [FilePlan]) {
    let taken = files.iter().flat_map(|file| &file.hunks).map(|hunk| hunk.number).max().unwrap_or(0);
    let unnumbered = files.iter_mut().filter(|file| file.hunks.is_empty());
    for (i, file) in unnumbered.enumerate() {
        let number = taken + i + 1;
        let (line, lines) = file.action.changed_lines();
        file.hunks.push(PlacedHunk::new(number, line, lines));
        if let Action::Modify { edit, .. } | Action::Move { edit, .. } = &mut file.action {
            edit.renumber(number);
        }
    }
}

/// Returns the edit between two texts whose relation is not known.
#[must_use]
pub fn rewrite_between(old: &Text, new: &Text) -> Edit {
    whole::rewrite(old, new.bytes())
}

#[cfg(test)]
mod tests;
