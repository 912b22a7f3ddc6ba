//! Outcomes as prose: what happened, where, and the diff. Some clients show a model only this, others only the
//! structured content, so both say everything.
//!
//! The first lines are Codex's, which models were trained on.

use emend_edit::excerpt::in_line;
use std::fmt::Write;

use crate::server_diagnostics;
use crate::wire::{Outcome, WireFile, WireProblem};

/// The kind of an outcome, which decides on its wording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tense {
    /// An edit was made.
    Done,
    /// An edit is shown and can be applied under a handle.
    Previewed,
    /// An edit was only checked.
    Validated,
}

/// Renders an outcome as text.
#[must_use]
pub fn outcome(outcome: &Outcome, tense: Tense) -> String {
    match outcome.problems.as_deref() {
        Some(problems) => refusal(outcome, problems),
        None => success(outcome, tense),
    }
}

fn refusal(outcome: &Outcome, problems: &[WireProblem]) -> String {
    let mut text = match problems {
        [only] => format!("{}\n[{}]", only.message.trim_end(), only.code),
        _ => {
            let count = outcome.problem_count.unwrap_or(problems.len());
            let mut text = format!("{count} problems; nothing was changed.\n");
            for (i, problem) in problems.iter().enumerate() {
                let _ = writeln!(text, "\n{}. {}", i + 1, problem.message.trim_end());
                // The code of problems in a row stands below the last.
                if problems.get(i + 1).is_none_or(|next| next.code != problem.code) {
                    let _ = writeln!(text, "[{}]", problem.code);
                }
            }
            text
        }
    };
    for note in outcome.notes.iter().flatten() {
        let _ = write!(text, "\n{note}\n");
    }
    text
}

fn success(outcome: &Outcome, tense: Tense) -> String {
    let files = outcome.files.as_deref().unwrap_or_default();
    let mut notes = outcome.notes.iter().flatten();
    let mut text = match tense {
        // The first note says which call it was.
        Tense::Done if outcome.is_repeated => {
            let which = notes.next().map(|note| format!("{note}.\n")).unwrap_or_default();
            format!("{which}That edit updated the following files:\n")
        }
        Tense::Done => "Success. Updated the following files:\n".to_owned(),
        Tense::Previewed => "Preview. Nothing is written yet. These files would change:\n".to_owned(),
        Tense::Validated => "Valid. Nothing was written. These files would change:\n".to_owned(),
    };
    for file in files {
        let _ = writeln!(text, "{} {}", file.letter(), in_line(&file.path));
    }
    for file in files {
        let _ = writeln!(text, "{}", file_line(file, tense));
    }
    for note in notes {
        let _ = writeln!(text, "{note}");
    }
    text.push_str(&server_diagnostics::prose(outcome.diagnostics.as_deref().unwrap_or_default()));
    if let Some(handle) = &outcome.preview {
        let _ = writeln!(
            text,
            "To write exactly this: apply_preview {{\"preview\": \"{handle}\"}}, with \"hunks\" for a part of it. \
             The handle is good for 30 minutes."
        );
    }
    if let Some(edit) = outcome.edit.as_ref().filter(|_| tense == Tense::Done) {
        let undo = format!("undo_edit {{\"edit\": \"{edit}\"}} takes it back");
        let _ = match outcome.can_be_undone {
            true => writeln!(text, "This is edit {edit}; {undo}."),
            false => writeln!(text, "This is edit {edit}."),
        };
    }
    if !outcome.diff.is_empty() {
        let _ = write!(text, "\n{}", outcome.diff);
    }
    text
}

/// Renders the change of a preview in about so many bytes: its handle, its files with their hunks, and the diff.
pub(crate) fn change(outcome: &Outcome, room: usize) -> String {
    let mut text = String::new();
    if let Some(handle) = &outcome.preview {
        let _ = writeln!(text, "apply_preview {{\"preview\": \"{handle}\"}} makes it:");
    }
    for file in outcome.files.as_deref().unwrap_or_default() {
        let _ = writeln!(text, "{}", file_line(file, Tense::Previewed));
    }
    for line in outcome.diff.split_inclusive('\n') {
        if text.len() + line.len() > room {
            text.push_str("... and more\n");
            break;
        }
        text.push_str(line);
    }
    text
}

/// Renders a file: `src/a.rs: now version 4567 (was 0123), +2 -1, hunk 1 at line 12 (exact)`.
fn file_line(file: &WireFile, tense: Tense) -> String {
    let mut line = format!("{}: ", in_line(&file.path));
    if let Some(from) = &file.moved_from {
        let _ = write!(line, "moved from {}, ", in_line(from));
    }
    let _ = match (&file.version_before, &file.version_after) {
        (Some(before), Some(after)) if before == after => write!(line, "version {after}"),
        (Some(before), Some(after)) if tense == Tense::Done => {
            write!(line, "now version {after} (was {before})")
        }
        (Some(before), Some(_)) => write!(line, "at version {before}"),
        (None, Some(after)) if tense == Tense::Done => write!(line, "new, version {after}"),
        (None, _) => write!(line, "new"),
        (Some(before), None) => write!(line, "deleted, was version {before}"),
    };
    let _ = write!(line, ", +{} -{}", file.added.unwrap_or(0), file.removed.unwrap_or(0));
    for hunk in &file.hunks {
        let _ = match (&hunk.layer, hunk.places) {
            (Some(layer), Some(places)) => {
                write!(line, ", hunk {} in {places} places from line {} ({layer})", hunk.hunk, hunk.line)
            }
            (Some(layer), None) => write!(line, ", hunk {} at line {} ({layer})", hunk.hunk, hunk.line),
            (None, _) => write!(line, ", hunk {}", hunk.hunk),
        };
        if let Some(named) = hunk.moved.as_ref().or(hunk.symbol.as_ref()) {
            let _ = write!(line, " ({named})");
        }
        if let Some(taken) = &hunk.taken {
            let _ = write!(line, " ({taken})");
        }
    }
    line
}
