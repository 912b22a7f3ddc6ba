//! Whether an edit lands on the lines that it meant: a file changed since its client read it, and the client was shown the
//! change. The text of an edit may be found all the same, but in another line, or as a part of one.
//!
//! The request is planned a second time, for the file as it was read. Each hunk that finds a place there must find the
//! same lines in the file as it is. A hunk that finds none was written for the change that was shown.

use std::ops::Range;
use std::sync::Arc;

use emend_edit::Text;
use emend_edit::edit::{Edit, Span};
use emend_edit::find::FindLimits;
use emend_edit::patch::{Change, Hunk, Operation, Patch};
use emend_edit::plan::{self, Action, FilePlan, PlacedHunk, Plan, Sources};

use crate::edits::gather::Gathered;
use crate::edits::readings::Readings;
use crate::problem::{Again, Kind, Problem};

impl Gathered {
    /// Refuses the edits of files that changed since their client read them, if they would not land on the lines that it
    /// read.
    pub(crate) fn check_landing(
        &self,
        patch: &Patch,
        limits: &FindLimits,
        plan: &Plan,
        readings: &Readings,
    ) -> Vec<Problem> {
        let check = |(name, (_, snapshot)): (&String, &(_, Option<_>))| {
            let snapshot = snapshot.as_ref()?;
            let lands = self.lands_as_meant(patch, limits, plan, name, readings);
            (!lands).then(|| readings.other_lines(name, snapshot))
        };
        self.files.iter().filter_map(check).collect()
    }

    /// Offers the same call again in these refusals of stale files only where it would land on the lines that were read.
    pub(crate) fn offer_again(
        &self,
        patch: &Patch,
        limits: &FindLimits,
        readings: &Readings,
        mut problems: Vec<Problem>,
    ) -> Vec<Problem> {
        // The next call cannot go by the line numbers of the reading.
        let mut sources = self.sources.clone();
        problems
            .iter()
            .filter_map(|problem| problem.path.as_ref())
            .for_each(|name| sources.file(name).is_renumbered = true);
        let plan = plan::build(patch, &sources, limits).ok();
        for problem in &mut problems {
            let Some(name) = problem.path.as_ref().filter(|name| self.files.contains_key(*name)) else {
                continue;
            };
            if let Kind::StaleFile { current: Some(_), again, .. } = &mut *problem.kind
                && matches!(again, Again::SameCall | Again::NewVersion)
                && readings.last_read(name).is_some()
                && !plan.as_ref().is_some_and(|plan| self.lands_as_meant(patch, limits, plan, name, readings))
            {
                *again = Again::OtherLines;
            }
        }
        problems
    }

    /// Returns whether the edit of a file lands on the lines that its client read, as far as it has read them.
    fn lands_as_meant(
        &self,
        patch: &Patch,
        limits: &FindLimits,
        plan: &Plan,
        name: &str,
        readings: &Readings,
    ) -> bool {
        let (Some(last_read), Some((_, Some(now)))) = (readings.last_read(name), self.files.get(name)) else {
            return true;
        };
        let hunks: Vec<&Hunk> = self.hunks_of(patch, name).filter(|hunk| is_found(&hunk.change)).collect();
        if hunks.is_empty() {
            return true;
        }
        let Some(older) = last_read.text() else { return is_shown(plan, &hunks, name, &now.text, readings) };
        let mut then = self.sources.clone();
        then.set_text(name, Arc::clone(&older));
        let places = Places::new(name, &older, &now.text);
        let as_a_whole = plan::build(patch, &then, limits);
        if let Ok(meant) = &as_a_whole {
            return hunks.iter().all(|hunk| places.are_same(hunk, meant, plan));
        }
        // Some hunk was written for the change.
        let mut hunks = hunks.into_iter();
        patch.is_short()
            && hunks.all(|hunk| places.are_same_alone(hunk, patch, (&then, &self.sources), limits))
    }

    /// Returns the hunks of a file.
    fn hunks_of<'a>(&'a self, patch: &'a Patch, name: &'a str) -> impl Iterator<Item = &'a Hunk> {
        let sections = patch.sections().iter();
        let own =
            sections.filter(move |section| self.names.get(&section.path).is_some_and(|own| own == name));
        own.flat_map(|section| match &section.operation {
            Operation::Update { hunks, .. } => &hunks[..],
            _ => &[],
        })
    }
}

/// Returns whether a plan finds these hunks of a file in lines that the client was shown since the file changed, and changes no
/// others.
fn is_shown(plan: &Plan, hunks: &[&Hunk], name: &str, now: &Text, readings: &Readings) -> bool {
    let (version, lines) = (now.version(), now.lines());
    let has_shown = |lines: Range<usize>| readings.has_shown(name, version, &lines);
    let Some(file) = file_of(plan, name) else { return false };
    let is_found = |hunk: &&Hunk| {
        placed(file, hunk).is_some_and(|placed| {
            let first = placed.line.saturating_sub(1);
            has_shown(first..first + placed.lines)
        })
    };
    let is_changed = |span: &Span| {
        let (first, end) = (lines.index_of(span.range.start), span.range.end);
        match span.range.is_empty() {
            true => has_shown(first..first + 1) || first > 0 && has_shown(first - 1..first),
            false => has_shown(first..lines.index_of(end - 1) + 1),
        }
    };
    hunks.iter().all(is_found) && edit_of(file).is_some_and(|edit| edit.spans().iter().all(is_changed))
}

/// Returns whether the place of a change is found by its text. The others name lines of a version, a place that the server
/// has just found, or an end of the file.
fn is_found(change: &Change) -> bool {
    match change {
        Change::Text(_) | Change::Lines(_) | Change::Block(_) | Change::Sketch(_) => true,
        Change::Insertion(insertion) => insertion.beside.is_some(),
        Change::Range(_) | Change::Numbered(_) | Change::Place(_) => false,
    }
}

/// The places of a file as it was read and as it is now.
pub(crate) struct Places<'a> {
    name: &'a str,
    older: &'a Text,
    now: &'a Text,
    rewrite: Edit,
}

impl<'a> Places<'a> {
    pub(crate) fn new(name: &'a str, older: &'a Text, now: &'a Text) -> Self {
        Self { name, older, now, rewrite: plan::rewrite_between(older, now) }
    }

    /// Returns whether the plan for the file as it is now does the same as the one for the file as it was read: the same
    /// changes at the same places, moved only by earlier changes. A place that is unique or has its line number only now
    /// is a different one.
    pub(crate) fn have_same_spans(&self, meant: &Plan, plan: &Plan) -> bool {
        let spans = |plan| Some(edit_of(self.file(plan)?)?.spans());
        spans(meant)
            .zip(spans(plan))
            .is_some_and(|(meant, done)| self.are_same_spans(meant.iter(), done.iter()))
    }

    /// Returns whether a hunk lands on the same lines by both plans.
    fn are_same<'p>(&self, hunk: &Hunk, meant: &'p Plan, plan: &'p Plan) -> bool {
        let (Some(meant_file), Some(file)) = (self.file(meant), self.file(plan)) else { return false };
        let (Some(then), Some(now)) = (edit_of(meant_file), edit_of(file)) else { return false };
        if !then.is_separable() || !now.is_separable() {
            return self.have_same_spans(meant, plan);
        }
        let spans_of = |edit: &'p Edit| edit.spans().iter().filter(move |span| span.hunk == hunk.number);
        if is_for_many(&hunk.change) {
            // Those that were changed meanwhile may be missing.
            return spans_of(now).all(|span| spans_of(then).any(|meant| self.is_kept(meant, span)));
        }
        let lines = placed(meant_file, hunk).zip(placed(file, hunk));
        lines.is_some_and(|(then, placed)| self.are_same_lines(then, placed, spans_of(now)))
            // Of whole lines, those that only locate the others may have changed.
            || matches!(hunk.change, Change::Lines(_) | Change::Block(_) | Change::Sketch(_))
                && self.are_same_spans(spans_of(then), spans_of(now))
    }

    /// Returns whether a hunk lands on the same lines if it is planned alone; also if it cannot be: then it goes by what was
    /// shown, or by another hunk.
    fn are_same_alone(
        &self,
        hunk: &Hunk,
        patch: &Patch,
        (then, now): (&Sources, &Sources),
        limits: &FindLimits,
    ) -> bool {
        let alone = patch.only(hunk.number);
        let build = |sources| plan::build(&alone, sources, limits).ok();
        let (Some(meant), Some(plan)) = (build(then), build(now)) else { return true };
        self.are_same(hunk, &meant, &plan)
    }

    fn file<'p>(&self, plan: &'p Plan) -> Option<&'p FilePlan> {
        file_of(plan, self.name)
    }

    fn are_same_spans<'s>(
        &self,
        meant: impl Iterator<Item = &'s Span> + Clone,
        done: impl Iterator<Item = &'s Span> + Clone,
    ) -> bool {
        meant.clone().count() == done.clone().count()
            && meant.zip(done).all(|(meant, done)| {
                let range = self.moved(meant.range.start).zip(self.moved(meant.range.end));
                range == Some((done.range.start, done.range.end)) && meant.new == done.new
            })
    }

    /// Returns whether one of the changes of a hunk is at the same place, in lines that nobody has changed.
    fn is_kept(&self, meant: &Span, done: &Span) -> bool {
        let lines = self.older.lines();
        let (start, end) = (meant.range.start, meant.range.end);
        // Where lines come before another, the one above counts too.
        let first = lines.index_of(if meant.range.is_empty() { start.saturating_sub(1) } else { start });
        let last = lines.index_of(if meant.range.is_empty() { end } else { end - 1 });
        let whole = lines.start(first)..lines.start(last + 1);
        !self.is_changed(&whole) && self.are_same_spans([meant].into_iter(), [done].into_iter())
    }

    /// Returns whether somebody has changed something in this range of the older text.
    fn is_changed(&self, range: &Range<usize>) -> bool {
        self.rewrite.spans().iter().any(|span| match span.range.is_empty() {
            true => range.start < span.range.start && span.range.start < range.end,
            false => span.range.start < range.end && range.start < span.range.end,
        })
    }

    /// Returns whether a hunk matched the same lines, which nobody has changed, and does nothing outside of them.
    fn are_same_lines<'s>(
        &self,
        then: &PlacedHunk,
        now: &PlacedHunk,
        mut spans: impl Iterator<Item = &'s Span>,
    ) -> bool {
        let (meant, found) = (bytes_of(self.older, then), bytes_of(self.now, now));
        !self.is_changed(&meant)
            && self.moved(meant.start) == Some(found.start)
            && meant.len() == found.len()
            && spans.all(|span| found.start <= span.range.start && span.range.end <= found.end)
    }

    /// Maps an offset in the older text to the new one, if the text there is unchanged.
    fn moved(&self, at: usize) -> Option<usize> {
        let before = self.rewrite.spans().iter().take_while(|span| span.range.end <= at);
        let (came, went) =
            before.fold((0, 0), |(came, went), span| (came + span.new.len(), went + span.range.len()));
        let is_inside = self.rewrite.spans().iter().any(|span| span.range.start < at && at < span.range.end);
        (!is_inside).then(|| at + came - went)
    }
}

/// Returns whether a change is made wherever its text occurs.
fn is_for_many(change: &Change) -> bool {
    matches!(change, Change::Text(text) if text.all || text.expected.is_some_and(|count| count != 1))
}

fn file_of<'p>(plan: &'p Plan, name: &str) -> Option<&'p FilePlan> {
    plan.files().iter().find(|file| match &file.action {
        Action::Move { from, .. } => from == name,
        _ => file.name == name,
    })
}

fn placed<'a>(file: &'a FilePlan, hunk: &Hunk) -> Option<&'a PlacedHunk> {
    file.hunks.iter().find(|placed| placed.number == hunk.number)
}

fn edit_of(file: &FilePlan) -> Option<&Edit> {
    match &file.action {
        Action::Modify { edit, .. } | Action::Move { edit, .. } => Some(edit),
        Action::Create { .. } | Action::Delete { .. } => None,
    }
}

/// Returns the range of the lines that a hunk matched.
fn bytes_of(text: &Text, placed: &PlacedHunk) -> Range<usize> {
    let (lines, first) = (text.lines(), placed.line.saturating_sub(1));
    lines.start(first)..lines.start(first + placed.lines)
}
