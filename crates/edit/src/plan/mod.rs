//! A plan: every change of a request, found and checked, not yet made.
//!
//! [`build`] takes a [`Patch`] and the [`Sources`] that it names and yields either a [`Plan`] or every
//! problem of the request. Sections are planned in order over an overlay, so that two may touch one file;
//! what remains is one [`FilePlan`] for each file that ends up different.
//!
//! A plan is `#[must_use]`, not `Clone`, and made nowhere else: it cannot be committed twice or come from
//! outside. A preview is a plan that somebody keeps.

mod carry;
mod place;
mod splice;
mod suspect;
mod whole;

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::edit::Edit;
use crate::encoding::Encoding;
use crate::find::{Budget, Haystack, Limits};
use crate::patch::{Operation, Patch, Section};
use crate::problem::{Kind, Problem};
use crate::text::Text;

/// What each path of a request is on disk.
#[derive(Debug, Default)]
pub struct Sources {
    names: BTreeMap<String, String>,
    states: BTreeMap<String, Source>,
    refused: BTreeMap<String, Problem>,
}

/// What a path is on disk.
#[derive(Clone, Debug)]
pub enum Source {
    /// Nothing; a file can be created there.
    Absent {
        /// Names in its folder that resemble it, for the message.
        similar: Vec<String>,
    },
    /// A text file.
    Present(Arc<Text>),
}

impl Sources {
    /// Says that the request's `written` path is the file called `name`, and what is there.
    pub fn insert(&mut self, written: &str, name: &str, source: Source) {
        self.names.insert(written.into(), name.into());
        self.states.insert(name.into(), source);
    }

    /// Says that the request's `written` path is a file that is known already.
    pub fn alias(&mut self, written: &str, name: &str) {
        self.names.insert(written.into(), name.into());
    }

    /// Says that the request's `written` path cannot be used.
    pub fn refuse(&mut self, written: &str, problem: Problem) {
        self.refused.insert(written.into(), problem);
    }

    fn resolve<'a>(&'a self, written: &'a str) -> Result<&'a str, Problem> {
        match self.refused.get(written) {
            Some(problem) => Err(problem.clone()),
            None => Ok(self.names.get(written).map_or(written, String::as_str)),
        }
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
#[derive(Debug)]
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
}

/// What happens to a file.
#[derive(Debug)]
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
    pub layer: Option<&'static str>,
    /// In how many places it landed; more than one for `replace_all`.
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
                let message =
                    alloc::format!("{} comes from {}; name the hunks of both", file.name, donor.name);
                return Err(Kind::InvalidArgument { name: "hunks".into(), message });
            }
            let taken = file.hunks.iter().filter(|hunk| hunks.contains(&hunk.number)).count();
            let separable = match &file.action {
                Action::Modify { edit, .. } | Action::Move { edit, .. } => edit.is_separable(),
                Action::Create { .. } | Action::Delete { .. } => false,
            };
            if taken > 0 && taken < file.hunks.len() && !separable {
                let message =
                    alloc::format!("the hunks of {} depend on each other; name all of them", file.name);
                return Err(Kind::InvalidArgument { name: "hunks".into(), message });
            }
        }
        Ok(())
    }

    /// The plan of these hunks alone; a creation, deletion or move counts as its file's first hunk.
    pub fn only(mut self, hunks: &[usize]) -> Result<Self, Kind> {
        self.can_take(hunks)?;
        for file in &mut self.files {
            file.hunks.retain(|hunk| hunks.contains(&hunk.number));
            if let Action::Modify { edit, .. } | Action::Move { edit, .. } = &mut file.action {
                edit.retain(hunks);
            }
        }
        self.files.retain(|file| {
            let changes = match &file.action {
                Action::Modify { base, edit } => !edit.changes_nothing(base),
                _ => true,
            };
            changes && !file.hunks.is_empty()
        });
        if self.files.is_empty() {
            return Err(Kind::NoOp { reason: "these hunks change nothing" });
        }
        Ok(self)
    }
}

/// Finds every hunk of a request and checks the whole of it.
pub fn build(patch: &Patch, sources: &Sources, limits: &Limits) -> Result<Plan, Vec<Problem>> {
    let mut overlay = Overlay {
        sources,
        budget: Budget::new(limits),
        limits,
        files: Vec::new(),
        notes: Vec::new(),
        discarded: Vec::new(),
    };
    let mut problems = Vec::new();
    for section in patch.sections() {
        if let Err(found) = overlay.plan(section) {
            problems.extend(found);
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let Overlay { mut notes, discarded, files, .. } = overlay;
    let mut files = settle_moves(files.into_iter().filter_map(Overlaid::into_plan).collect());
    if files.is_empty() {
        let names = patch.sections().first().map(|section| section.path.clone()).unwrap_or_default();
        let reason = "the file already holds what the request asks for";
        return Err(alloc::vec![Problem::new(Kind::NoOp { reason }).at(&names)]);
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

/// A file that was moved is planned under its new name; its old name's deletion goes. If something else
/// took the old name meanwhile, the new name is a creation.
fn settle_moves(mut files: Vec<FilePlan>) -> Vec<FilePlan> {
    let mut at = 0;
    while at < files.len() {
        if let Action::Move { from, base, edit } = &files[at].action {
            let vacated =
                |file: &FilePlan| file.name == *from && matches!(file.action, Action::Delete { .. });
            match files.iter().position(vacated) {
                Some(old) => {
                    files.remove(old);
                    at -= usize::from(old < at);
                }
                None => files[at].action = Action::Create { content: Arc::new(edit.result(base)) },
            }
        }
        at += 1;
    }
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
    let again = Text::new(edit.raw_pieces(base).concat()).map_err(|_| {
        let reason = "with this edit its bytes would be no text any more";
        Problem::new(Kind::NotText { reason }).at(name)
    })?;
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
        file.hunks.push(PlacedHunk { number, line: 1, lines: 0, layer: None, places: 1 });
        if let Action::Modify { edit, .. } | Action::Move { edit, .. } = &mut file.action {
            edit.renumber(number);
        }
    }
}

/// The files of a request as its sections find and leave them, one after another.
struct Overlay<'a> {
    sources: &'a Sources,
    budget: Budget,
    limits: &'a Limits,
    files: Vec<Overlaid>,
    notes: Vec<String>,
    discarded: Vec<String>,
}

/// One file: what is on disk, and what it is by now.
struct Overlaid {
    name: String,
    before: Option<Arc<Text>>,
    now: Now,
    hunks: Vec<PlacedHunk>,
}

/// What a file is by now.
enum Now {
    /// As it is on disk.
    Untouched,
    /// Not there.
    Gone,
    /// There, and made from the file on disk called `from` (often itself) by `edit`. What it holds is only
    /// made when another section asks for it.
    Edited { from: String, base: Arc<Text>, edit: Edit },
    /// There, and made from nothing.
    New(Arc<Text>),
}

impl Overlay<'_> {
    fn plan(&mut self, section: &Section) -> Result<(), Vec<Problem>> {
        let one = |problem: Problem| alloc::vec![problem];
        let name = self.sources.resolve(&section.path).map(String::from).map_err(one)?;
        let at = self.file(&name);
        match &section.operation {
            Operation::Add(content) => {
                if self.text(at).is_some() {
                    let instead = "nothing was changed. To change it, use *** Update File (or str_replace)";
                    return Err(one(Problem::new(Kind::AlreadyExists { instead }).at(&name)));
                }
                self.put(at, content.as_bytes().to_vec()).map_err(|kind| one(Problem::new(kind).at(&name)))
            }
            Operation::Write(content) => {
                let new = match self.text(at) {
                    None => {
                        return self
                            .put(at, content.as_bytes().to_vec())
                            .map_err(|kind| one(Problem::new(kind).at(&name)));
                    }
                    Some(text) => {
                        suspect::elisions(&Haystack::new(&text), content.lines())
                            .map_err(|kind| one(Problem::new(kind).at(&name)))?;
                        whole::replacement(&text, content)
                    }
                };
                self.discard(at);
                self.edit(at, new, Vec::new())
            }
            Operation::Delete { content } => {
                let Some(text) = self.text(at) else { return Err(one(self.missing(&name))) };
                match content {
                    // Whoever says what it holds has seen it.
                    Some(content) => {
                        place::holds(&text, content).map_err(|kind| one(Problem::new(kind).at(&name)))?
                    }
                    None => self.discard(at),
                }
                self.files[at].now = Now::Gone;
                Ok(())
            }
            Operation::Update { hunks, move_to } => {
                let Some(text) = self.text(at) else { return Err(one(self.missing(&name))) };
                let found = place::hunks(&text, hunks, self.limits, &self.budget).map_err(|problems| {
                    problems.into_iter().map(|problem| problem.at(&name)).collect::<Vec<_>>()
                })?;
                self.notes.extend(found.notes);
                self.edit(at, found.edit, found.hunks)?;
                match move_to {
                    Some(target) => self.rename(at, target).map_err(one),
                    None => Ok(()),
                }
            }
        }
    }

    /// Where the file called `name` stands in the overlay.
    fn file(&mut self, name: &str) -> usize {
        if let Some(at) = self.files.iter().position(|file| file.name == name) {
            return at;
        }
        let before = match self.sources.states.get(name) {
            Some(Source::Present(text)) => Some(Arc::clone(text)),
            Some(Source::Absent { .. }) | None => None,
        };
        self.files.push(Overlaid { name: name.into(), before, now: Now::Untouched, hunks: Vec::new() });
        self.files.len() - 1
    }

    /// What the file holds by now.
    fn text(&self, at: usize) -> Option<Arc<Text>> {
        let file = &self.files[at];
        match &file.now {
            Now::Untouched => file.before.clone(),
            Now::Gone => None,
            Now::New(text) => Some(Arc::clone(text)),
            Now::Edited { base, edit, .. } => Some(Arc::new(edit.result(base))),
        }
    }

    /// Notes that all of what a file on disk holds is thrown away.
    fn discard(&mut self, at: usize) {
        let file = &self.files[at];
        let origin = match &file.now {
            Now::Untouched => &file.name,
            Now::Edited { from, .. } => from,
            Now::Gone | Now::New(_) => return,
        };
        self.discarded.push(origin.clone());
    }

    fn missing(&self, name: &str) -> Problem {
        let similar = match self.sources.states.get(name) {
            Some(Source::Absent { similar }) => similar.clone(),
            _ => Vec::new(),
        };
        Problem::new(Kind::MissingOriginal { similar }).at(name)
    }

    /// Puts new content where there is none.
    fn put(&mut self, at: usize, content: Vec<u8>) -> Result<(), Kind> {
        self.limits.check_file(content.len())?;
        let text = Arc::new(Text::new(content)?);
        self.files[at].now = Now::New(text);
        Ok(())
    }

    /// Changes what is there.
    fn edit(&mut self, at: usize, next: Edit, placed: Vec<PlacedHunk>) -> Result<(), Vec<Problem>> {
        self.check_new(at, &next, placed.is_empty()).map_err(|problems| {
            let name = &self.files[at].name;
            problems.into_iter().map(|problem| problem.at(name)).collect::<Vec<_>>()
        })?;
        let file = &mut self.files[at];
        file.hunks.extend(placed);
        file.now = match core::mem::replace(&mut file.now, Now::Untouched) {
            Now::Untouched => match &file.before {
                Some(base) => {
                    let (from, base) = (file.name.clone(), Arc::clone(base));
                    Now::Edited { from, edit: next, base }
                }
                None => Now::Untouched,
            },
            Now::Edited { from, base, edit } => Now::Edited { from, base, edit: edit.then(&next) },
            Now::New(text) => Now::New(Arc::new(next.result(&text))),
            Now::Gone => Now::Gone,
        };
        Ok(())
    }

    /// What an edit writes must be text, in the encoding of the file, and fit. `whole` when no hunk of the
    /// request says so but a replacement of all.
    fn check_new(&self, at: usize, next: &Edit, whole: bool) -> Result<(), Vec<Problem>> {
        if next.spans().iter().any(|span| span.new.contains(&0)) {
            let reason = "the new text has a NUL byte";
            return Err(alloc::vec![Problem::new(Kind::NotText { reason })]);
        }
        let encoding = next.encoding().name();
        let lacking = next.not_encodable().into_iter().map(|(hunk, character)| {
            let problem = Problem::new(Kind::NotEncodable { character, encoding });
            if whole { problem } else { problem.in_hunk(hunk) }
        });
        let problems: Vec<Problem> = lacking.collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        let base = if next.encoding().is_view() { None } else { self.text(at) };
        let len = match base {
            Some(base) => next.raw_pieces(&base).iter().map(|piece| piece.len()).sum(),
            None => next.new_len(),
        };
        self.limits.check_file(len).map_err(|kind| alloc::vec![Problem::new(kind)])
    }

    /// Gives a file another name. Onto itself nothing moves.
    fn rename(&mut self, at: usize, target: &str) -> Result<(), Problem> {
        let name = String::from(self.sources.resolve(target)?);
        let to = self.file(&name);
        if to == at {
            return Ok(());
        }
        if self.text(to).is_some() {
            let instead = "nothing was changed. Delete it first, or choose another name";
            return Err(Problem::new(Kind::AlreadyExists { instead }).at(&name));
        }
        let hunks = core::mem::take(&mut self.files[at].hunks);
        let moved = match core::mem::replace(&mut self.files[at].now, Now::Gone) {
            Now::Untouched => match &self.files[at].before {
                Some(base) => Now::Edited {
                    from: self.files[at].name.clone(),
                    base: Arc::clone(base),
                    edit: Edit::nothing(base),
                },
                None => Now::Gone,
            },
            now => now,
        };
        self.files[to].now = moved;
        self.files[to].hunks.extend(hunks);
        Ok(())
    }
}

impl Overlaid {
    /// What must happen on disk, if anything. A file that was moved away is part of its new name's plan.
    fn into_plan(self) -> Option<FilePlan> {
        let Self { name, before, now, hunks } = self;
        let metadata_from = match &now {
            Now::Edited { from, .. } if *from != name => Some(from.clone()),
            _ => None,
        };
        let action = match (before, now) {
            (_, Now::Untouched) | (None, Now::Gone) => return None,
            (Some(base), Now::Gone) => Action::Delete { base },
            (None, Now::New(text)) => Action::Create { content: text },
            (None, Now::Edited { from, base, edit }) => Action::Move { from, base, edit },
            (Some(before), Now::Edited { from, edit, .. }) if from == name => {
                if edit.changes_nothing(&before) {
                    return None;
                }
                Action::Modify { base: before, edit }
            }
            (Some(before), now) => {
                // Another file takes its place, with that one's encoding.
                let content = match &now {
                    Now::Edited { base, edit, .. } => Arc::new(edit.result(base)),
                    Now::New(text) => Arc::clone(text),
                    Now::Gone | Now::Untouched => return None,
                };
                let edit = whole::rewrite(&before, content.bytes()).into_joined();
                let edit = edit.into_encoding(content.encoding());
                if edit.changes_nothing(&before) {
                    return None;
                }
                Action::Modify { base: before, edit }
            }
        };
        Some(FilePlan { name, action, hunks, metadata_from })
    }
}

/// The edit between two texts whose relation is not known.
#[must_use]
pub fn rewrite_between(old: &Text, new: &Text) -> Edit {
    whole::rewrite(old, new.bytes())
}
