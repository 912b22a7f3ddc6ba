//! The files of a request as its sections find and leave them, one after another.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Action, FilePlan, PlacedHunk, Source, Sources, place, suspect, whole};
use crate::edit::Edit;
use crate::find::{Budget, FindLimits, Haystack};
use crate::patch::{Operation, Section};
use crate::problem::{Kind, NotText, Problem};
use crate::text::Text;

/// The files of a request as its sections find and leave them, one after another.
pub(super) struct Overlay<'a> {
    sources: &'a Sources,
    budget: Budget,
    limits: &'a FindLimits,
    pub(super) files: Vec<OverlayFile>,
    /// Where each file stands among them.
    places: BTreeMap<String, usize>,
    /// What the reader should know.
    pub(super) notes: Vec<String>,
    /// Files on disk of which everything is thrown away.
    pub(super) discarded: Vec<String>,
}

/// One file: what is on disk, and what it is by now.
pub(super) struct OverlayFile {
    name: String,
    before: Option<Arc<Text>>,
    now: CurrentState,
    hunks: Vec<PlacedHunk>,
    /// Whether it is executable on disk, and whether it is to be.
    was_executable: bool,
    executable: Option<bool>,
}

/// What a file is by now.
enum CurrentState {
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

impl<'a> Overlay<'a> {
    pub(super) fn new(sources: &'a Sources, limits: &'a FindLimits) -> Self {
        Self {
            sources,
            budget: Budget::new(limits),
            limits,
            files: Vec::new(),
            places: BTreeMap::new(),
            notes: Vec::new(),
            discarded: Vec::new(),
        }
    }

    /// Plans what a section wants of the file that the ones before have left.
    pub(super) fn plan(&mut self, section: &Section) -> Result<(), Vec<Problem>> {
        let one = |problem: Problem| alloc::vec![problem];
        let name = self.sources.resolve(&section.path).map(String::from).map_err(one)?;
        let at = self.file(&name);
        self.operate(at, &name, &section.operation)?;
        if section.executable.is_some() {
            // Where it is by now: it may have been moved.
            let target = match &section.operation {
                Operation::Update { move_to: Some(target), .. } => {
                    self.sources.resolve(target).map(String::from).map_err(one)?
                }
                _ => name,
            };
            let at = self.file(&target);
            self.files[at].executable = section.executable;
        }
        Ok(())
    }

    fn operate(&mut self, at: usize, name: &str, operation: &Operation) -> Result<(), Vec<Problem>> {
        let one = |problem: Problem| alloc::vec![problem];
        match operation {
            Operation::Add(content) => {
                if self.text(at).is_some() {
                    return Err(one(Problem::new(Kind::AlreadyExists).at(name)));
                }
                if let Some(before) = &self.files[at].before {
                    check_elisions(before, content).map_err(|kind| one(Problem::new(kind).at(name)))?;
                }
                self.put(at, content.as_bytes().to_vec()).map_err(|kind| one(Problem::new(kind).at(name)))
            }
            Operation::Write(content) | Operation::Replace(content) => {
                let new = match self.text(at) {
                    None if matches!(operation, Operation::Replace(_)) => {
                        return Err(one(self.missing(name)));
                    }
                    None => {
                        return self
                            .put(at, content.as_bytes().to_vec())
                            .map_err(|kind| one(Problem::new(kind).at(name)));
                    }
                    Some(text) => {
                        check_elisions(&text, content).map_err(|kind| one(Problem::new(kind).at(name)))?;
                        whole::replacement(&text, content)
                    }
                };
                self.discard(at);
                self.edit(at, new, Vec::new())
            }
            Operation::Delete { content } => {
                let Some(text) = self.text(at) else { return Err(one(self.missing(name))) };
                match content {
                    // Whoever says what it holds has seen it.
                    Some(content) => {
                        place::holds(&text, content).map_err(|kind| one(Problem::new(kind).at(name)))?;
                    }
                    None => self.discard(at),
                }
                self.files[at].now = CurrentState::Gone;
                Ok(())
            }
            Operation::Update { hunks, move_to } => {
                self.charge(at).map_err(|kind| one(Problem::new(kind).at(name)))?;
                let Some(text) = self.text(at) else { return Err(one(self.missing(name))) };
                // Numbers are those of the file as it was seen, which a section before may have moved, or somebody else.
                let renumbered = self.sources.renumbered.contains(name);
                let moved = renumbered || !matches!(self.files[at].now, CurrentState::Untouched);
                let found =
                    place::hunks(&text, hunks, moved, self.limits, &self.budget).map_err(|problems| {
                        problems.into_iter().map(|problem| problem.at(name)).collect::<Vec<_>>()
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
        if let Some(&at) = self.places.get(name) {
            return at;
        }
        let before = match self.sources.states.get(name) {
            Some(Source::Present(text)) => Some(Arc::clone(text)),
            Some(Source::Absent) | None => None,
        };
        let was_executable = self.sources.executables.contains(name);
        self.files.push(OverlayFile {
            name: name.into(),
            before,
            now: CurrentState::Untouched,
            hunks: Vec::new(),
            was_executable,
            executable: None,
        });
        let at = self.files.len() - 1;
        self.places.insert(name.into(), at);
        at
    }

    /// What the file holds by now.
    fn text(&self, at: usize) -> Option<Arc<Text>> {
        let file = &self.files[at];
        match &file.now {
            CurrentState::Untouched => file.before.clone(),
            CurrentState::Gone => None,
            CurrentState::New(text) => Some(Arc::clone(text)),
            CurrentState::Edited { base, edit, .. } => Some(Arc::new(edit.result(base))),
        }
    }

    /// Spends the work of making what the file holds by now, where an earlier section has changed it: many
    /// sections of one large file would otherwise cost their product.
    fn charge(&self, at: usize) -> Result<(), Kind> {
        match &self.files[at].now {
            CurrentState::Edited { edit, .. } => self.budget.spend(edit.new_len()),
            CurrentState::New(text) => self.budget.spend(text.bytes().len()),
            CurrentState::Untouched | CurrentState::Gone => Ok(()),
        }
    }

    /// Notes that all of what a file on disk holds is thrown away.
    fn discard(&mut self, at: usize) {
        let file = &self.files[at];
        let origin = match &file.now {
            CurrentState::Untouched => &file.name,
            CurrentState::Edited { from, .. } => from,
            CurrentState::Gone | CurrentState::New(_) => return,
        };
        self.discarded.push(origin.clone());
    }

    fn missing(&self, name: &str) -> Problem {
        Problem::new(Kind::MissingOriginal).at(name)
    }

    /// Puts new content where there is none.
    fn put(&mut self, at: usize, content: Vec<u8>) -> Result<(), Kind> {
        self.limits.check_file(content.len())?;
        let text = Arc::new(Text::new(content)?);
        self.files[at].now = CurrentState::New(text);
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
        file.now = match core::mem::replace(&mut file.now, CurrentState::Untouched) {
            CurrentState::Untouched => match &file.before {
                Some(base) => {
                    let (from, base) = (file.name.clone(), Arc::clone(base));
                    CurrentState::Edited { from, edit: next, base }
                }
                None => CurrentState::Untouched,
            },
            CurrentState::Edited { from, base, edit } => {
                CurrentState::Edited { from, base, edit: edit.then(&next) }
            }
            CurrentState::New(text) => CurrentState::New(Arc::new(next.result(&text))),
            CurrentState::Gone => CurrentState::Gone,
        };
        Ok(())
    }

    /// What an edit writes must be text, in the encoding of the file, and fit. `whole` when no hunk of the
    /// request says so but a replacement of all.
    fn check_new(&self, at: usize, next: &Edit, whole: bool) -> Result<(), Vec<Problem>> {
        if next.spans().iter().any(|span| span.new.contains(&0)) {
            return Err(alloc::vec![Problem::new(Kind::NotText { why: NotText::NulInNewText })]);
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
            return Err(Problem::new(Kind::TargetExists).at(&name));
        }
        let hunks = core::mem::take(&mut self.files[at].hunks);
        let moved = match core::mem::replace(&mut self.files[at].now, CurrentState::Gone) {
            CurrentState::Untouched => match &self.files[at].before {
                Some(base) => CurrentState::Edited {
                    from: self.files[at].name.clone(),
                    base: Arc::clone(base),
                    edit: Edit::empty(base),
                },
                None => CurrentState::Gone,
            },
            now => now,
        };
        self.files[to].now = moved;
        self.files[to].was_executable = self.files[at].was_executable;
        self.files[to].executable = self.files[at].executable.take();
        self.files[to].hunks.extend(hunks);
        Ok(())
    }
}

/// Refuses new content of a file that stands for some of the old one.
fn check_elisions(before: &Text, content: &str) -> Result<(), Kind> {
    let haystack = Haystack::new(before);
    let loses = || {
        let lines = haystack.lines();
        let old = (0..lines.len()).map(|line| String::from_utf8_lossy(lines.content(line)));
        let (old, new): (Vec<_>, Vec<&str>) = (old.collect(), content.lines().collect());
        suspect::loses(&old.iter().map(AsRef::as_ref).collect::<Vec<_>>(), &new)
    };
    suspect::elisions(&haystack, content.lines(), loses)
}

impl OverlayFile {
    /// What must happen on disk, if anything. A file that was moved away is part of its new name's plan.
    pub(super) fn into_plan(self) -> Option<FilePlan> {
        let Self { name, before, now, hunks, was_executable, executable } = self;
        // A file that is made anew where one was keeps that one's mode.
        let was_executable = was_executable && (before.is_some() || !matches!(now, CurrentState::New(_)));
        let executable = executable.filter(|&wanted| wanted != was_executable);
        let metadata_from = match &now {
            CurrentState::Edited { from, .. } if *from != name => Some(from.clone()),
            _ => None,
        };
        let action = match (before, now) {
            (_, CurrentState::Untouched) | (None, CurrentState::Gone) => return None,
            (Some(base), CurrentState::Gone) => Action::Delete { base },
            (None, CurrentState::New(text)) => Action::Create { content: text },
            (None, CurrentState::Edited { from, base, edit }) => Action::Move { from, base, edit },
            (Some(before), CurrentState::Edited { from, edit, .. }) if from == name => {
                if edit.is_no_op(&before) && executable.is_none() {
                    return None;
                }
                Action::Modify { base: before, edit }
            }
            (Some(before), now) => {
                // Another file takes its place, with that one's encoding.
                let content = match &now {
                    CurrentState::Edited { base, edit, .. } => Arc::new(edit.result(base)),
                    CurrentState::New(text) => Arc::clone(text),
                    CurrentState::Gone | CurrentState::Untouched => return None,
                };
                let edit = whole::rewrite(&before, content.bytes()).into_joined();
                let edit = edit.into_encoding(content.encoding());
                if edit.is_no_op(&before) && executable.is_none() {
                    return None;
                }
                Action::Modify { base: before, edit }
            }
        };
        Some(FilePlan { name, action, hunks, metadata_from, executable })
    }
}
