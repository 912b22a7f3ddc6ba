//! Refusals, cut to the size of an answer where there are many problems or a message is too long.
//!
//! The limit applies to the structured content as JSON, which contains all of the text and more. The first problems are
//! given in full, the others with their code and place only, and those that still do not fit are counted. A message
//! that is too long loses the middle of its long lines and then its own, but keeps its beginning and its end.

use serde::Serialize;

use emend_workspace::problem::{Code, FileState, Kind, Problem};

use crate::messages::{Audience, MODIFIED, message};
use crate::wire::{ErrorInfo, Outcome, WireProblem};

/// The most characters of a refusal, as text and as JSON.
pub(crate) const ROOM: usize = 8_000;
/// The characters that are kept for what stands beside the problems.
const BESIDE: usize = 700;
/// The most characters of the first message where it is repeated as the error.
const ERROR: usize = 500;
/// The most characters of one problem of several.
const ONE_OF_SEVERAL: usize = 3_000;
/// The room below which a problem of several is not cut: it is given in full if it fits, else in brief.
const ENOUGH: usize = 1_500;
/// The number of further problems for which room is kept to give them in brief.
const BRIEF_PROBLEMS: usize = 12;
/// The characters that are kept for each of these.
const BRIEF_ROOM: usize = 200;
/// The lengths to which the long lines of a message are cut, one after the other, until it fits.
const COLUMNS: [usize; 4] = [1_000, 400, 200, 100];

impl Outcome {
    /// Creates the outcome of a refused request, cut to the size of an answer.
    #[must_use]
    pub fn failure(problems: &[Problem]) -> Self {
        Self::failure_for(problems, Audience::Model)
    }

    /// Creates the outcome of a refused request for this reader, cut to the size of an answer.
    pub(crate) fn failure_for(problems: &[Problem], audience: Audience) -> Self {
        let mut outcome = Self::failure_in_full(problems, audience);
        let Some(all) = outcome.problems.take() else { return outcome };
        if let Some(error) = &mut outcome.error {
            error.message = fitted(&error.message, ERROR);
        }
        let total = all.len();
        let mut room = ROOM - BESIDE - outcome.error.as_ref().map_or(0, size);
        let mut listed: Vec<WireProblem> = Vec::new();
        let mut brief = 0;
        for (at, problem) in all.into_iter().enumerate() {
            let others = (total - at - 1).min(BRIEF_PROBLEMS) * BRIEF_ROOM;
            let most = if total == 1 { room } else { ONE_OF_SEVERAL.min(room.saturating_sub(others)) };
            let in_full = match brief {
                0 if most >= ENOUGH => problem.clone().within(most),
                0 => Some(&problem).filter(|problem| size(problem) <= most).cloned(),
                _ => None,
            };
            brief += usize::from(in_full.is_none());
            let fits = |problem: &WireProblem| size(problem) <= room;
            let Some(problem) = in_full.or_else(|| Some(problem.in_brief()).filter(fits)) else { break };
            room -= size(&problem);
            listed.push(problem);
        }
        if brief > 0 {
            let left_out = total - listed.len();
            let first = listed.len() - (brief - usize::from(left_out > 0));
            let rest = if left_out > 0 { format!(", {left_out} are not listed") } else { String::new() };
            outcome.problem_count = (left_out > 0).then_some(total);
            outcome.notes = Some(vec![format!(
                "Of {total} problems the first {first} are told in full{rest}. Mend what you can and send the call again, or \
                 send the other parts by themselves to see what is wrong with each."
            )]);
        }
        outcome.problems = Some(listed);
        outcome
    }

    /// Creates the outcome of a refused request with all messages in full, for this reader.
    #[must_use]
    pub fn failure_in_full(problems: &[Problem], audience: Audience) -> Self {
        let stale = problems.iter().any(|problem| problem.code() == Code::StaleFile);
        let preview = problems.iter().find_map(|problem| match &*problem.kind {
            Kind::UnexpectedPlaces(found) => found.preview.as_deref(),
            _ => None,
        });
        let mut problems: Vec<WireProblem> =
            problems.iter().map(|problem| WireProblem::from_problem(problem, audience)).collect();
        // Clients look for this word, and find it once.
        let modified = problems.iter_mut().filter(|problem| problem.message.starts_with(MODIFIED));
        modified.skip(1).for_each(|problem| drop(problem.message.drain(..MODIFIED.len())));
        Self {
            error: problems
                .first()
                .map(|first| ErrorInfo { code: first.code.clone(), message: first.message.clone() }),
            mtime_check_passed: stale.then_some(false),
            preview: preview.map(str::to_owned),
            problems: Some(problems),
            ..Self::default()
        }
    }
}

impl WireProblem {
    fn from_problem(problem: &Problem, audience: Audience) -> Self {
        let file_states = match &*problem.kind {
            Kind::IoError { states, .. } if !states.is_empty() => {
                Some(states.iter().map(|(path, state)| (path.clone(), state.to_string())).collect())
            }
            _ => None,
        };
        let current_version = match &*problem.kind {
            // A person may name the current version without having read the file.
            Kind::NotRead { current, .. } if audience == Audience::Person => Some(*current),
            _ => problem.current_version(),
        };
        Self {
            code: problem.code().to_string(),
            message: message(problem, audience),
            path: problem.path.clone(),
            edit: problem.edit,
            hunk: problem.hunk,
            lines: (!problem.lines().is_empty()).then(|| problem.lines().to_vec()),
            current_version: current_version.map(|version| version.short()),
            file_states,
        }
    }

    /// Cuts the problem's message so that the problem fits; `None` if even then it does not.
    fn within(mut self, room: usize) -> Option<Self> {
        if size(&self) <= room {
            return Some(self);
        }
        // Files that are as they were need no mention.
        let harmless = [FileState::Untouched, FileState::Restored].map(|state| state.to_string());
        if let Some(states) = &mut self.file_states {
            states.retain(|_, state| !harmless.contains(state));
            // The message says where the states of all files are recorded.
            while size(states) > room / 2 && states.pop_last().is_some() {}
        }
        self.shorten_place();
        let message = std::mem::take(&mut self.message);
        let left = room.checked_sub(size(&self)).filter(|left| *left > LEAST)?;
        self.message = fitted(&message, left);
        Some(self)
    }

    /// Cuts the path and the lines to what identifies the place.
    fn shorten_place(&mut self) {
        self.path = self.path.as_deref().map(|path| fitted(path, PATH));
        if let Some(lines) = &mut self.lines {
            lines.truncate(LINES);
        }
    }

    /// Reduces the problem to its code and place.
    fn in_brief(mut self) -> Self {
        self.lines = self.lines.and_then(|lines| lines.first().map(|first| vec![*first]));
        self.shorten_place();
        let path = self.path.clone();
        let hunk = self.hunk.map(|hunk| format!("hunk {hunk}"));
        let line = self.lines.iter().flatten().next().map(|line| format!("line {line}"));
        let place: Vec<String> = [path, hunk, line].into_iter().flatten().collect();
        self.message = place.join(", ");
        (self.current_version, self.file_states) = (None, None);
        self
    }
}

/// The most characters of a path in a problem that is cut.
const PATH: usize = 600;
/// The most lines in a problem that is cut.
const LINES: usize = 20;
/// The least room for a message; with less, it would say nothing.
const LEAST: usize = 200;

/// Returns the number of characters of a value as JSON.
fn size(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(usize::MAX / 2, |json| json.chars().count())
}

/// Cuts a message to `room` characters as JSON: first the middle of long lines, then the middle of the message.
pub(crate) fn fitted(message: &str, room: usize) -> String {
    let fits = |text: &str| size(&text) <= room;
    if fits(message) {
        return message.to_owned();
    }
    let mut text = String::new();
    for columns in COLUMNS {
        let lines: Vec<String> = message.lines().map(|line| without_middle(line, columns)).collect();
        text = lines.join("\n");
        if fits(&text) {
            return text;
        }
    }
    let mut length = text.chars().count();
    loop {
        length = length * 9 / 10;
        let shorter = without_middle(&text, length);
        if fits(&shorter) || length == 0 {
            return shorter;
        }
    }
}

/// Cuts the middle out of a text that is clearly longer than `length` characters.
fn without_middle(text: &str, length: usize) -> String {
    let total = text.chars().count();
    if total <= length + LEAST / 4 {
        return text.to_owned();
    }
    let (head, tail) = (length - length / 3, length / 3);
    let end = |count| text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    let (before, after) = (&text[..end(head)], &text[end(total - tail)..]);
    format!("{before} ... ({} characters left out) ... {after}", total - head - tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(messages: &[String]) -> (Outcome, usize, usize) {
        let problem = |(at, message): (usize, &String)| {
            Problem::new(Kind::NoWorkspace { reason: message.clone() }).at("a.txt").in_hunk(at + 1)
        };
        let problems: Vec<Problem> = messages.iter().enumerate().map(problem).collect();
        let outcome = Outcome::failure(&problems);
        let text = crate::render::outcome(&outcome, crate::render::Tense::Done).chars().count();
        let json = size(&outcome);
        (outcome, text, json)
    }

    #[test]
    fn a_refusal_has_room_whatever_is_wrong() {
        for (message, count) in [
            ("x".repeat(100_000), 1),
            ("\u{1}\"\n".repeat(10_000), 1),
            ("\u{e4}".repeat(9_000), 2),
            ("some words\n".repeat(100), 5),
            ("x".repeat(2_990), 1_000),
            ("short".to_owned(), 1_000),
            ("y\n".repeat(5_000), 1_000),
        ] {
            let (outcome, text, json) = failure(&vec![message.clone(); count]);
            assert!(text <= ROOM && json <= ROOM, "{count} times {} bytes: {text}, {json}", message.len());
            let told = outcome.problems.unwrap();
            assert!(told.len() >= count.min(10), "{}", told.len());
            assert_eq!(outcome.problem_count.unwrap_or(told.len()), count);
        }
    }

    #[test]
    fn many_files_in_another_state_and_long_paths_leave_room_for_what_is_wrong() {
        let states =
            (0..1_000).map(|at| (format!("some/folder/file-{at}.txt"), FileState::Written)).collect();
        let message = "Not every file could be put back.".to_owned();
        let half = Problem::new(Kind::IoError { message, states });
        let nowhere = || Problem::new(Kind::MountPoint).at(&"\u{1}".repeat(3_000));
        for problems in [vec![half], vec![nowhere()], vec![nowhere(), nowhere()]] {
            let outcome = Outcome::failure(&problems);
            let text = crate::render::outcome(&outcome, crate::render::Tense::Done);
            assert!(size(&outcome) <= ROOM && text.chars().count() <= ROOM, "{}", size(&outcome));
            let told = outcome.problems.unwrap();
            assert_eq!(told.len(), problems.len());
            assert!(told.iter().all(|problem| problem.message.len() >= LEAST / 8), "{told:?}");
            assert_eq!(told[0].code, problems[0].code().as_str());
        }
    }

    #[test]
    fn what_fits_is_told_as_it_is() {
        let messages: Vec<String> = ["one", "two", "three"].map(String::from).into();
        let (outcome, ..) = failure(&messages);
        let told: Vec<String> =
            outcome.problems.unwrap().into_iter().map(|problem| problem.message).collect();
        assert_eq!(told, messages);
        assert_eq!((outcome.notes, outcome.problem_count), (None, None));
    }

    #[test]
    fn a_message_that_is_too_long_keeps_its_beginning_and_its_end() {
        let message = format!("What is wrong.\n{}\nThe next step.", "file\n".repeat(9_000));
        let shown = fitted(&message, 1_000);
        assert!(shown.starts_with("What is wrong.\n") && shown.ends_with("\nThe next step."), "{shown}");
        let message = format!("What is wrong.\n{}\nThe next step.", "x".repeat(90_000));
        let shown = fitted(&message, 3_000);
        assert_eq!(shown.lines().count(), 3);
    }
}
