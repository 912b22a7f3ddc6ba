//! The overlay of a request: the state of each file between its sections, which are planned one after another.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::numbering::Numbering;
use super::taken::{self, Taken, TakenFrom, TakenText};
use super::{Action, FilePlan, PlacedHunk, PlanNote, Sources, place, splice, suspect, whole};
use crate::edit::{Edit, EditBuilder};
use crate::find::{Budget, FindLimits, Haystack};
use crate::patch::{Change, Hunk, Line, NewLines, Operation, Section, TakenLines};
use crate::problem::{Kind, NotText, Problem, Work};
use crate::text::Text;

/// The states of a request's files between its sections.
pub(super) struct Overlay<'a> {
    sources: &'a Sources,
    budget: Budget,
    limits: &'a FindLimits,
    pub(super) files: Vec<OverlayFile>,
    /// The index of each file in `files`.
    places: BTreeMap<String, usize>,
    /// Notes for the reader.
    pub(super) notes: Vec<PlanNote>,
    /// The files on disk whose whole content is discarded.
    pub(super) discarded: Vec<String>,
    /// The names that sections of a git diff free, each with the index of the last such section.
    freed: BTreeMap<String, usize>,
    /// The states of files that wait until a later section frees their names, by the index of the file.
    waiting: BTreeMap<usize, OverlayFile>,
}

/// One file: its state on disk, and its current state.
pub(super) struct OverlayFile {
    name: String,
    before: Option<Arc<Text>>,
    now: CurrentState,
    hunks: Vec<PlacedHunk>,
    /// Whether the file is executable on disk; `executable` says whether it shall be.
    was_executable: bool,
    executable: Option<bool>,
}

/// The state of a file after the sections planned so far.
enum CurrentState {
    /// The file is as on disk.
    Untouched,
    /// The file does not exist.
    Gone,
    /// The file results from `edit` of the file on disk called `from` (often itself). Its content is computed only when
    /// another section needs it.
    Edited { from: String, base: Arc<Text>, edit: Edit },
    /// The file is new.
    New(Arc<Text>),
}

impl<'a> Overlay<'a> {
    pub(super) fn new(sections: &[Section], sources: &'a Sources, limits: &'a FindLimits) -> Self {
        let resolve = |path: &str| sources.resolve(path).ok().map(String::from);
        let frees = |section: &Section| match &section.operation {
            Operation::Delete { .. } => section.is_unordered,
            Operation::Update { move_to: Some(target), .. } => {
                section.is_unordered && resolve(target) != resolve(&section.path)
            }
            _ => false,
        };
        let freed = sections.iter().enumerate().filter(|(_, section)| frees(section));
        Self {
            freed: freed.filter_map(|(i, section)| Some((resolve(&section.path)?, i))).collect(),
            sources,
            budget: Budget::new(limits),
            limits,
            files: Vec::new(),
            places: BTreeMap::new(),
            notes: Vec::new(),
            discarded: Vec::new(),
            waiting: BTreeMap::new(),
        }
    }

    /// Plans the section with this index over the state that the earlier sections have left.
    pub(super) fn plan(&mut self, index: usize, section: &Section) -> Result<(), Vec<Problem>> {
        let name = String::from(self.sources.resolve(&section.path)?);
        let at = self.file(&name);
        if section.executable.is_some() {
            self.files[at].executable = section.executable;
        }
        let index = if section.is_unordered { index } else { usize::MAX };
        self.operate(at, &name, &section.operation, index).map_err(|problems| in_file(problems, &name))?;
        // Its name may be free now.
        if matches!(self.files[at].now, CurrentState::Gone)
            && let Some(waiting) = self.waiting.remove(&at)
        {
            self.files[at] = waiting;
        }
        Ok(())
    }

    /// Returns whether a file may wait for a name that the section with this index wants.
    fn may_wait(&self, at: usize, section: usize) -> bool {
        let is_freed = self.freed.get(&self.files[at].name).is_some_and(|&last| last > section);
        is_freed && !self.waiting.contains_key(&at)
    }

    /// Applies an operation to a file. Problems without a file are of this one.
    fn operate(
        &mut self,
        at: usize,
        name: &str,
        operation: &Operation,
        index: usize,
    ) -> Result<(), Vec<Problem>> {
        match operation {
            Operation::Add(content) | Operation::Fill(content) => {
                let is_fill = matches!(operation, Operation::Fill(_));
                if self.text(at).is_some_and(|text| !is_fill || !text.raw().is_empty()) {
                    if !self.may_wait(at, index) {
                        return match operation {
                            // The call names the version, so the lines go to its beginning.
                            Operation::Fill(content) => self.insert_at_start(at, content),
                            _ => Err(Kind::AlreadyExists.into()),
                        };
                    }
                    let now = CurrentState::New(self.new_text(content)?);
                    let file = &mut self.files[at];
                    let executable = file.executable.take();
                    let (name, before) = (name.into(), file.before.clone());
                    let was_executable = file.was_executable;
                    let waiting =
                        OverlayFile { name, before, now, hunks: Vec::new(), was_executable, executable };
                    self.waiting.insert(at, waiting);
                    return Ok(());
                }
                if let Some(before) = &self.files[at].before {
                    check_elisions(before, content)?;
                }
                self.put(at, content)
            }
            Operation::Write(content) | Operation::Replace(content) => {
                let new = match self.text(at) {
                    None if matches!(operation, Operation::Replace(_)) => {
                        return Err(Kind::MissingOriginal.into());
                    }
                    None => return self.put(at, content),
                    Some(text) => {
                        check_elisions(&text, content)?;
                        whole::replacement(&text, content)
                    }
                };
                self.discard(at);
                self.edit(at, new, Vec::new())
            }
            Operation::Take { number, lines } => self.create_of(at, name, *number, lines),
            Operation::Delete { content } => {
                let text = self.text(at).ok_or(Kind::MissingOriginal)?;
                match content {
                    // A caller that gives the content has seen it.
                    Some(content) => place::holds(&text, content)?,
                    None => self.discard(at),
                }
                self.files[at].now = CurrentState::Gone;
                Ok(())
            }
            Operation::Update { hunks, move_to } => {
                self.charge(at)?;
                let Some(text) = self.text(at) else {
                    let only_adds = !hunks.is_empty() && hunks.iter().all(|hunk| hunk.change.only_adds());
                    let kind = if only_adds { Kind::NothingToAddTo } else { Kind::MissingOriginal };
                    return Err(kind.into());
                };
                // Line numbers are those that the caller saw; a section or another program may have moved them.
                let moved = self.sources.of(name).is_renumbered
                    || !matches!(self.files[at].now, CurrentState::Untouched);
                let taken = self.take_all(at, &text, hunks)?;
                let numbering = self.numbering(at, &text);
                let found = place::hunks(&text, hunks, &taken, moved, &numbering, self.limits, &self.budget)?;
                self.notes.extend(found.notes);
                let edit = if are_one(hunks) { found.edit.into_joined() } else { found.edit };
                self.edit(at, edit, found.hunks)?;
                for (number, lines) in taken_lines(hunks) {
                    if let Some(text) = taken.get(&number) {
                        self.remove(number, lines, text, name)?;
                    }
                }
                match move_to {
                    Some(target) => Ok(self.rename(at, target, index)?),
                    None => Ok(()),
                }
            }
        }
    }

    /// Inserts lines at the beginning of a file.
    fn insert_at_start(&mut self, at: usize, content: &str) -> Result<(), Vec<Problem>> {
        let text = self.text(at).ok_or(Kind::MissingOriginal)?;
        let added: Vec<Line> = content.lines().map(|line| Line::Added(line.into())).collect();
        let (range, new) = splice::insertion(&Haystack::new(&text), 0, &added, None)?;
        let mut builder = EditBuilder::new(&text);
        builder.replace(0, range, new);
        let edit = builder.finish().map_err(|_| Kind::AlreadyExists)?;
        self.edit(at, edit, Vec::new())
    }

    /// Returns what the line numbers of a file mean, of which this is the current content.
    fn numbering<'t>(&'t self, at: usize, now: &'t Text) -> Numbering<'t> {
        let file = &self.files[at];
        let (origin, base, edit) = match &file.now {
            CurrentState::Untouched => (&file.name, file.before.as_deref(), None),
            CurrentState::Edited { from, base, edit } => (from, Some(&**base), Some(edit)),
            CurrentState::New(_) | CurrentState::Gone => (&file.name, None, None),
        };
        Numbering {
            sources: self.sources,
            name: &file.name,
            origin: self.sources.of(origin),
            base,
            edit,
            now,
        }
    }

    /// Takes the lines of which these hunks make others in the file with this content.
    fn take_all(
        &mut self,
        at: usize,
        target: &Text,
        hunks: &[Hunk],
    ) -> Result<BTreeMap<usize, TakenText>, Vec<Problem>> {
        let (mut taken, mut problems) = (BTreeMap::new(), Vec::new());
        for (number, lines) in taken_lines(hunks) {
            match self.take(lines, Some((at, target))) {
                Ok((_, text)) => drop(taken.insert(number, text)),
                Err(problem) => problems.push(problem.in_hunk(number)),
            }
        }
        if problems.is_empty() { Ok(taken) } else { Err(problems) }
    }

    /// Takes lines of a file, for a target that is there or for a new file. Also returns the content of the file.
    fn take(
        &mut self,
        lines: &TakenLines,
        target: Option<(usize, &Text)>,
    ) -> Result<(Arc<Text>, TakenText), Problem> {
        let name = String::from(self.sources.resolve(&lines.path)?);
        let of_file = |kind: Kind| Problem::new(kind).at(&name).of_origin();
        let from = self.file(&name);
        self.charge(from).map_err(of_file)?;
        let text = self.text(from).ok_or_else(|| Problem::new(Kind::MissingOriginal).at(&name))?;
        let numbering = self.numbering(from, &text);
        let named = numbering.named(&lines.at).map_err(of_file)?;
        let at = numbering.lines(named).map_err(of_file)?;
        let grown = text.bytes().len().saturating_add(TakenText::growth(at, lines.shift));
        self.limits.check_file(grown).map_err(of_file)?;
        let all = text.lines();
        let size = all.start(at.first() + at.count()) - all.start(at.first());
        let too_much = |_| of_file(Kind::WorkLimit { work: Work::Copying });
        self.budget.spend(size.saturating_add(TakenText::growth(at, lines.shift))).map_err(too_much)?;
        let origin = TakenFrom {
            name: name.clone(),
            first: at.first() + 1,
            count: at.count(),
            is_moved: lines.is_moved,
            named: named.named(at),
        };
        let into = target.map_or(&*text, |(_, into)| into);
        let mut taken = TakenText::new(&text, at, origin, lines.shift, into).map_err(of_file)?;
        if let Some((target, into)) = target {
            taken.check_characters(&text, into).map_err(of_file)?;
            taken.here = (target == from).then_some(at);
        }
        Ok((text, taken))
    }

    /// Creates a file with lines of another.
    fn create_of(
        &mut self,
        at: usize,
        name: &str,
        number: usize,
        lines: &TakenLines,
    ) -> Result<(), Vec<Problem>> {
        if self.text(at).is_some() {
            return Err(Kind::NoPlace.into());
        }
        let (from, taken) = self.take(lines, None).map_err(|problem| problem.in_hunk(number))?;
        let view = taken.content(&from)?;
        self.limits.check_file(view.len())?;
        let lacks = |character| Kind::NotEncodable { character, encoding: from.encoding().name() };
        let text = Text::with_encoding(view, from.encoding()).map_err(lacks)?;
        // The next reading may take so few lines for another encoding. Their bytes are the same.
        let again = Text::new(text.raw().to_vec()).map_err(|_| Kind::NotText { why: NotText::AfterEdit })?;
        let is_same = again.bytes() == text.bytes();
        if !is_same {
            let (edited, looks) = (text.encoding().name(), again.encoding().name());
            self.notes.push(PlanNote::LooksOtherwise { file: name.into(), edited, looks });
        }
        let taken_from = Some(Taken::From(taken.origin.clone()));
        let hunk = PlacedHunk { taken: taken_from, ..PlacedHunk::new(number, 1, 0) };
        let file = &mut self.files[at];
        file.now = CurrentState::New(Arc::new(if is_same { again } else { text }));
        file.hunks.push(hunk);
        self.remove(number, lines, &taken, name)
    }

    /// Removes lines that have come to stand in the file called `to`, unless they were only copied.
    fn remove(
        &mut self,
        number: usize,
        lines: &TakenLines,
        taken: &TakenText,
        to: &str,
    ) -> Result<(), Vec<Problem>> {
        let TakenFrom { name, first, count, is_moved, .. } = &taken.origin;
        if !is_moved {
            return Ok(());
        }
        let of_file = |kind: Kind| Problem::new(kind).at(name).in_hunk(number).of_origin();
        let at = self.file(name);
        self.charge(at).map_err(of_file)?;
        let text = self.text(at).ok_or_else(|| Problem::new(Kind::MissingOriginal).at(name))?;
        let numbering = self.numbering(at, &text);
        let named = numbering.named(&lines.at).map_err(of_file)?;
        let found = numbering.lines(named).map_err(of_file)?;
        let edit = taken::removal(&text, numbering.going(named, found), number).map_err(of_file)?;
        let taken = Some(Taken::To(to.into()));
        let hunk = PlacedHunk { taken, ..PlacedHunk::new(number, *first, *count) };
        self.edit(at, edit, alloc::vec![hunk])
    }

    /// Returns the index of the file called `name`, which is added if need be.
    fn file(&mut self, name: &str) -> usize {
        if let Some(&at) = self.places.get(name) {
            return at;
        }
        let source = self.sources.of(name);
        self.files.push(OverlayFile {
            name: name.into(),
            before: source.text.clone(),
            now: CurrentState::Untouched,
            hunks: Vec::new(),
            was_executable: source.is_executable,
            executable: None,
        });
        let at = self.files.len() - 1;
        self.places.insert(name.into(), at);
        at
    }

    /// Returns the current content of the file.
    fn text(&self, at: usize) -> Option<Arc<Text>> {
        let file = &self.files[at];
        match &file.now {
            CurrentState::Untouched => file.before.clone(),
            CurrentState::Gone => None,
            CurrentState::New(text) => Some(Arc::clone(text)),
            CurrentState::Edited { base, edit, .. } => Some(Arc::new(edit.result(base))),
        }
    }

    /// Charges the budget for computing the current content of a file that an earlier section has changed: otherwise,
    /// many sections of one large file would cost their product.
    fn charge(&self, at: usize) -> Result<(), Kind> {
        match &self.files[at].now {
            CurrentState::Edited { edit, .. } => self.budget.spend(edit.new_len()),
            CurrentState::New(text) => self.budget.spend(text.bytes().len()),
            CurrentState::Untouched | CurrentState::Gone => Ok(()),
        }
    }

    /// Records that the whole content of a file on disk is discarded.
    fn discard(&mut self, at: usize) {
        let file = &self.files[at];
        let origin = match &file.now {
            CurrentState::Untouched => &file.name,
            CurrentState::Edited { from, .. } => from,
            CurrentState::Gone | CurrentState::New(_) => return,
        };
        self.discarded.push(origin.clone());
    }

    /// Gives new content to a file that does not exist.
    fn put(&mut self, at: usize, content: &str) -> Result<(), Vec<Problem>> {
        self.files[at].now = CurrentState::New(self.new_text(content)?);
        Ok(())
    }

    fn new_text(&self, content: &str) -> Result<Arc<Text>, Kind> {
        self.limits.check_file(content.len())?;
        Ok(Arc::new(Text::new(content.as_bytes().to_vec())?))
    }

    /// Applies an edit to the current content.
    fn edit(&mut self, at: usize, next: Edit, placed: Vec<PlacedHunk>) -> Result<(), Vec<Problem>> {
        self.check_new(at, &next, placed.is_empty())
            .map_err(|problems| in_file(problems, &self.files[at].name))?;
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

    /// Checks that an edit writes text, that the file's encoding has its characters, and that the result is not too
    /// large. `whole` marks a whole-file replacement, which has no hunks.
    fn check_new(&self, at: usize, next: &Edit, whole: bool) -> Result<(), Vec<Problem>> {
        if next.spans().iter().any(|span| span.new.contains(&0)) {
            return Err(Kind::NotText { why: NotText::NulInNewText }.into());
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
        Ok(self.limits.check_file(len)?)
    }

    /// Moves a file to another name, or lets it wait for that. A move onto itself changes nothing.
    fn rename(&mut self, at: usize, target: &str, index: usize) -> Result<(), Problem> {
        let name = String::from(self.sources.resolve(target)?);
        let to = self.file(&name);
        if to == at {
            return Ok(());
        }
        let waits = self.text(to).is_some();
        if waits && !self.may_wait(to, index) {
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
        let was_executable = self.files[at].was_executable;
        let executable = self.files[at].executable.take();
        if waits {
            let before = self.files[to].before.clone();
            let file = OverlayFile { name, before, now: moved, hunks, was_executable, executable };
            self.waiting.insert(to, file);
            return Ok(());
        }
        let file = &mut self.files[to];
        file.now = moved;
        file.was_executable = was_executable;
        file.executable = executable;
        file.hunks.extend(hunks);
        Ok(())
    }
}

/// Attributes problems to a file, unless they are attributed to one.
fn in_file(problems: Vec<Problem>, name: &str) -> Vec<Problem> {
    problems.into_iter().map(|problem| problem.or_at(name)).collect()
}

/// Returns the lines that hunks take from files, each with the hunk's number.
fn taken_lines(hunks: &[Hunk]) -> impl Iterator<Item = (usize, &TakenLines)> {
    hunks.iter().filter_map(|hunk| match &hunk.change {
        Change::Numbered(change) => match &change.new {
            NewLines::Taken(lines) => Some((hunk.number, lines)),
            NewLines::Given(_) => None,
        },
        _ => None,
    })
}

/// Returns whether these hunks make one change, of which no part can be applied without the rest.
fn are_one(hunks: &[Hunk]) -> bool {
    hunks.len() > 1
        && hunks.iter().any(|hunk| matches!(&hunk.change, Change::Place(place) if place.is_proven))
}

/// Refuses new content with a placeholder for some of the old content.
fn check_elisions(before: &Text, content: &str) -> Result<(), Kind> {
    let haystack = Haystack::new(before);
    let loss = || {
        let lines = haystack.lines();
        let old = (0..lines.len()).map(|line| String::from_utf8_lossy(lines.content(line)));
        let (old, new): (Vec<_>, Vec<&str>) = (old.collect(), content.lines().collect());
        suspect::loss_between(&old.iter().map(AsRef::as_ref).collect::<Vec<_>>(), &new)
    };
    suspect::elisions(&haystack, content.lines(), loss)
}

impl Overlay<'_> {
    /// Returns a problem for each file whose name did not become free.
    pub(super) fn unplaced(&self) -> impl Iterator<Item = Problem> {
        self.waiting.values().map(|file| Problem::new(Kind::TargetExists).at(&file.name))
    }
}

impl OverlayFile {
    /// Returns the plan of this file, if it changes on disk. A move is part of the plan of the new name.
    pub(super) fn into_plan(self) -> Option<FilePlan> {
        let Self { name, before, now, hunks, was_executable, executable } = self;
        // A new file in the place of an old one keeps the old one's mode.
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
                // Another file, with its own encoding, takes the place of this one.
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
