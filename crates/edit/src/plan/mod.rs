//! A plan: every change of a request, found and checked, not yet made.
//!
//! [`build`] takes a [`Patch`] and the [`Sources`] that it names and yields either a [`Plan`] or every
//! problem of the request. Sections are planned in order over an overlay, so that two may touch one file;
//! what remains is one [`FilePlan`] for each file that ends up different.
//!
//! A plan is `#[must_use]`, not `Clone`, and made nowhere else, but for [`undo`](fn@undo), which takes an edit back: it
//! cannot be committed twice or come from outside. A preview is a plan that somebody keeps.

mod carry;
mod fitting;
mod format;
mod overlay;
mod place;
mod replace;
mod splice;
mod suspect;
mod undo;
mod whole;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use self::overlay::{Overlay, OverlayFile};
pub use self::undo::{UndoneFile, undo};
use crate::edit::Edit;
use crate::encoding::Encoding;
use crate::find::{FindLimits, Layer};
use crate::patch::Patch;
use crate::problem::{HunksThatFit, Kind, NoChange, NotText, Problem};
use crate::text::{Text, line_number, split_lines};
use crate::version::Version;

/// What each path of a request is on disk.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    names: BTreeMap<String, String>,
    states: BTreeMap<String, Source>,
    executables: BTreeSet<String>,
    renumbered: BTreeSet<String>,
    refused: BTreeSet<String>,
}

/// What a path is on disk.
#[derive(Clone, Debug)]
pub enum Source {
    /// Nothing; a file can be created there.
    Absent,
    /// A text file.
    Present(Arc<Text>),
}

impl Sources {
    /// Says that the request's `written` path is the file called `name`, and what is there.
    pub fn insert(&mut self, written: &str, name: &str, source: Source) {
        self.names.insert(written.into(), name.into());
        self.states.insert(name.into(), source);
    }

    /// Says that the file called `name` is executable.
    pub fn set_executable(&mut self, name: &str) {
        self.executables.insert(name.into());
    }

    /// Says that whoever makes the request does not know the line numbers of the file called `name`: it changed since
    /// they saw them. Then numbers choose no place.
    pub fn set_renumbered(&mut self, name: &str) {
        self.renumbered.insert(name.into());
    }

    /// Says that the file called `name` holds this instead.
    pub fn set_text(&mut self, name: &str, text: Arc<Text>) {
        self.states.insert(name.into(), Source::Present(text));
    }

    /// Says that the request's `written` path is a file that is known already.
    pub fn alias(&mut self, written: &str, name: &str) {
        self.names.insert(written.into(), name.into());
    }

    /// Says that the request's `written` path cannot be used; why is for the caller to say ([`Kind::NoSource`]).
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
    notes: Vec<String>,
    discarded: Vec<String>,
}

/// What happens to one file.
#[derive(Clone, Debug)]
pub struct FilePlan {
    /// The file, as the workspace names it.
    pub name: String,
    /// What happens to it.
    pub action: Action,
    /// The hunks of the request that went into it.
    pub hunks: Vec<PlacedHunk>,
    /// The file whose mode and owner it gets, where that is not the one whose place it takes: another file
    /// was moved here.
    pub metadata_from: Option<String>,
    /// Whether it is to become executable, or to be so no longer.
    pub executable: Option<bool>,
}

/// What happens to a file.
#[derive(Clone, Debug)]
pub enum Action {
    /// It is created.
    Create {
        /// What is in it.
        content: Arc<Text>,
    },
    /// It is changed.
    Modify {
        /// What it holds now.
        base: Arc<Text>,
        /// What changes in that.
        edit: Edit,
    },
    /// It is deleted.
    Delete {
        /// What it holds now.
        base: Arc<Text>,
    },
    /// It comes from elsewhere, perhaps changed.
    Move {
        /// Where it is now.
        from: String,
        /// What it holds now.
        base: Arc<Text>,
        /// What changes in that; possibly nothing.
        edit: Edit,
    },
}

impl Action {
    /// What the file holds before.
    #[must_use]
    pub fn base(&self) -> Option<&Arc<Text>> {
        match self {
            Self::Create { .. } => None,
            Self::Modify { base, .. } | Self::Delete { base } | Self::Move { base, .. } => Some(base),
        }
    }

    /// The new content in pieces, as it is to be on disk; `None` for a deletion.
    #[must_use]
    pub fn pieces(&self) -> Option<Vec<Cow<'_, [u8]>>> {
        match self {
            Self::Create { content } => Some(alloc::vec![Cow::Borrowed(content.raw())]),
            Self::Modify { base, edit } | Self::Move { base, edit, .. } => Some(edit.raw_pieces(base)),
            Self::Delete { .. } => None,
        }
    }

    /// The version of the new content; `None` for a deletion.
    #[must_use]
    pub fn version(&self) -> Option<Version> {
        match self {
            Self::Create { content } => Some(content.version()),
            Self::Modify { base, edit } | Self::Move { base, edit, .. } => Some(edit.version(base)),
            Self::Delete { .. } => None,
        }
    }

    /// The view of the new content in pieces; `None` for a deletion.
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
    /// The first line of the old content that changes, and how many do up to the last.
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
        let bytes = base.bytes();
        (line_number(bytes, range.start), split_lines(&bytes[range]).count())
    }
}

/// Where a hunk of the request landed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedHunk {
    /// Its number in the request.
    pub number: usize,
    /// The one-based line at which its first match starts in the text that it was found in.
    pub line: usize,
    /// How many lines it covers there.
    pub lines: usize,
    /// The layer that found it; `None` where nothing was looked for (a new file, a replacement of all).
    pub layer: Option<Layer>,
    /// In how many places it landed; more than one where all are replaced.
    pub places: usize,
}

impl Plan {
    /// What happens, file by file, in the order of the request.
    #[must_use]
    pub fn files(&self) -> &[FilePlan] {
        &self.files
    }

    /// Files of which the request throws everything away, wherever it was moved before: whoever asks must
    /// have seen all of them.
    #[must_use]
    pub fn discarded(&self) -> &[String] {
        &self.discarded
    }

    /// What the reader should know, though nothing is wrong.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether these hunks can be taken without the others.
    pub fn can_take(&self, hunks: &[usize]) -> Result<(), Kind> {
        let takes = |file: &FilePlan| file.hunks.iter().any(|hunk| hunks.contains(&hunk.number));
        for file in &self.files {
            // What is moved here must go away there, and the other way round.
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
        Ok(())
    }

    /// The plan of these hunks alone, and what gives the whole back for it; a creation, deletion or move counts as its
    /// file's first hunk.
    pub fn only(mut self, hunks: &[usize]) -> Result<(Self, Rest), Kind> {
        self.can_take(hunks)?;
        let whole = Rest { files: self.files.clone() };
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
        Ok((self, whole))
    }
}

/// What a plan was of which only some hunks were taken. It is no plan itself.
#[derive(Debug)]
pub struct Rest {
    files: Vec<FilePlan>,
}

impl Rest {
    /// The whole plan again, in exchange for the part.
    pub fn join(self, part: Plan) -> Plan {
        Plan { files: self.files, ..part }
    }
}

/// Finds every hunk of a request and checks the whole of it.
pub fn build(patch: &Patch, sources: &Sources, limits: &FindLimits) -> Result<Plan, Vec<Problem>> {
    let mut overlay = Overlay::new(sources, limits);
    let mut problems = Vec::new();
    for section in patch.sections() {
        let Err(found) = overlay.plan(section) else { continue };
        let spent = found.last().is_some_and(is_spent);
        problems.extend(found);
        if spent {
            break;
        }
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
        return Err(alloc::vec![Problem::new(Kind::NoOp { why }).at(&names)]);
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

/// Whether the work of the request was used up: what comes after this was not tried.
fn is_spent(problem: &Problem) -> bool {
    matches!(*problem.kind, Kind::WorkLimit { .. })
}

/// Tells the last of the problems how many hunks there were, and how many of them fit.
fn tell_how_many_fit(patch: &Patch, problems: &mut [Problem]) {
    let total = patch.hunks();
    let missed: BTreeSet<usize> = problems.iter().filter_map(|problem| problem.hunk).collect();
    // A problem of a whole file says nothing about its hunks, and one of too much work nothing about the others.
    let of_hunks = problems.iter().all(|problem| problem.hunk.is_some() && !is_spent(problem));
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

/// A file that was moved is planned under its new name; its old name's deletion goes. If something else
/// took the old name meanwhile, the new name is a creation.
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

/// What is worth knowing about the encoding of a file that is changed: that it is another one now, or that
/// the next reading will take it for another one. What would not be read as text at all is refused.
fn encoding_note(file: &FilePlan) -> Result<Option<String>, Problem> {
    let (Action::Modify { base, edit } | Action::Move { base, edit, .. }) = &file.action else {
        return Ok(None);
    };
    let (name, old, new) = (&file.name, base.encoding().name(), edit.encoding().name());
    if old != new {
        return Ok(Some(alloc::format!("{name} was in {old}; what takes its place is in {new}")));
    }
    if edit.encoding() == Encoding::UTF_8 || edit.spans().is_empty() {
        return Ok(None);
    }
    let again = Text::new(edit.raw_pieces(base).concat())
        .map_err(|_| Problem::new(Kind::NotText { why: NotText::AfterEdit }).at(name))?;
    let same = again.bytes() == edit.apply(base.bytes());
    Ok((!same).then(|| {
        let now = again.encoding().name();
        alloc::format!(
            "{name} was edited in {old}, but from now on its bytes look like {now}; read it again before you write \
             characters outside of ASCII into it"
        )
    }))
}

/// Creations, deletions and the like come from no hunk of the request; they get the next free numbers, so
/// that a preview can name them.
fn number_whole_files(files: &mut [FilePlan]) {
    let taken = files.iter().flat_map(|file| &file.hunks).map(|hunk| hunk.number).max().unwrap_or(0);
    let unnumbered = files.iter_mut().filter(|file| file.hunks.is_empty());
    for (i, file) in unnumbered.enumerate() {
        let number = taken + i + 1;
        let (line, lines) = file.action.changed_lines();
        file.hunks.push(PlacedHunk { number, line, lines, layer: None, places: 1 });
        if let Action::Modify { edit, .. } | Action::Move { edit, .. } = &mut file.action {
            edit.renumber(number);
        }
    }
}

/// The edit between two texts whose relation is not known.
#[must_use]
pub fn rewrite_between(old: &Text, new: &Text) -> Edit {
    whole::rewrite(old, new.bytes())
}
