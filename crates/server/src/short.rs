//! Short answers, for models: the outcome of an edit without what its caller knows, and each thing said once.
//!
//! The text has a line for each file with its version, and below it what changed; the structured content says the same.
//! Both have a bound. Remarks, what language servers say and what a layer forgave come on top of it: these are never cut.

use emend_edit::excerpt::in_line;
use std::fmt::Write;

use emend_edit::diff::ShortDiff;
use emend_edit::find::Layer;

use crate::server_diagnostics;
use crate::uri;
use crate::wire::{Outcome, WireFile, WireHunk};

/// How many characters of diff the answer to an edit of one file has.
const DIFF: usize = 4_000;
/// How many characters the answer to an edit of several files has, as text and as JSON.
const SEVERAL: usize = 1_600;
/// How many of them are for saying that the diff is shortened.
const NOTICE: usize = 130;
/// How many characters the files have of which nothing is shown.
const OTHERS: usize = 300;
/// How many of them one file may take before others had their turn.
const ONE_OF_SEVERAL: usize = 600;

/// Returns the short answer to an edit that was made: its text and its structured content.
pub(crate) fn success(mut outcome: Outcome) -> (String, Outcome) {
    let diffs = std::mem::take(&mut outcome.short_diffs);
    let files = outcome.files.take().unwrap_or_default();
    let mut notes = outcome.notes.take().unwrap_or_default();
    notes.append(&mut outcome.forgiven);
    let diagnostics = outcome.diagnostics.take();
    outcome.diff.clear();

    let head = head(&outcome, &notes, &files);
    let mut lines: Vec<String> = files.iter().map(file_line).collect();
    let others = outcome.distinct.map(|distinct| {
        let is_shown = |at: usize| diffs.get(at).is_some_and(|diff| !diff.text.is_empty());
        let others: Vec<&WireFile> =
            files.iter().enumerate().filter(|(at, _)| !is_shown(*at)).map(|(_, file)| file).collect();
        (0..lines.len()).filter(|at| !is_shown(*at)).for_each(|at| lines[at].clear());
        alike(distinct, &others)
    });
    outcome.files = Some(files.into_iter().map(short_file).collect());
    let diffs = shown(diffs, room(&outcome, &head, &lines));

    let mut text = head;
    let is_alone = lines.len() == 1;
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let diff = diffs.get(at).map_or("", |diff| &diff.text);
        let _ = write!(text, "{line}\n{diff}");
        if !diff.is_empty() && !is_alone {
            let _ = writeln!(outcome.diff, "*** File {}", at + 1);
        }
        outcome.diff.push_str(diff);
    }
    text.push_str(&others.unwrap_or_default());
    if diffs.iter().any(|diff| diff.is_shortened) {
        let notice = notice(&outcome, diffs.iter().map(|diff| diff.left_out).sum());
        text.push_str(&notice);
        outcome.diff.push_str(&notice);
        outcome.diff_goes_on = outcome.can_be_undone;
    } else {
        outcome.diff_goes_on = false;
    }
    for note in notes.iter().skip(usize::from(outcome.is_repeated)) {
        let _ = writeln!(text, "{note}");
    }
    text.push_str(&server_diagnostics::prose(diagnostics.as_deref().unwrap_or_default()));
    outcome.notes = (!notes.is_empty()).then_some(notes);
    outcome.diagnostics = diagnostics;
    (text, outcome)
}

/// Returns what the text of a short answer says beside the change: which edit it is, what was noted, what language servers
/// say.
pub(crate) fn beside(outcome: &Outcome) -> String {
    let kept = if outcome.can_be_undone { "" } else { ", not in the history" };
    let mut text = format!("Edit {}{kept}.\n", outcome.edit.as_deref().unwrap_or_default());
    for note in outcome.notes.iter().flatten() {
        let _ = writeln!(text, "{note}");
    }
    text.push_str(&server_diagnostics::prose(outcome.diagnostics.as_deref().unwrap_or_default()));
    text
}

/// Returns the outcome of a refusal with each message once: the first stands in the error alone.
pub(crate) fn refusal(mut outcome: Outcome) -> Outcome {
    let first = outcome.problems.iter_mut().flatten().next();
    if let (Some(error), Some(first)) = (&mut outcome.error, first) {
        error.message = std::mem::take(&mut first.message);
    }
    outcome
}

/// Returns the first line, with the edit's id. Of a call that was made before, the first note says so.
fn head(outcome: &Outcome, notes: &[String], files: &[WireFile]) -> String {
    if let Some(note) = notes.first().filter(|_| outcome.is_repeated) {
        return format!("{note}.\n");
    }
    let edit = outcome.edit.as_deref().unwrap_or_default();
    let kept = if outcome.can_be_undone { "" } else { ", not in the history" };
    format!("Success. Edit {edit}{kept}{}:\n", total(files))
}

/// Says how many places of several files were changed, if there are more than files.
fn total(files: &[WireFile]) -> String {
    if files.len() == 1 || files.iter().all(|file| file.places.is_none()) {
        return String::new();
    }
    let places: usize = files.iter().map(|file| file.places.unwrap_or(1)).sum();
    format!(", {places} places in {} files", files.len())
}

/// Returns the line of a file: `M src/b.rs from src/a.rs 0123456789ab, 12 places`. Of lines that have other numbers by now
/// it says where they are.
fn file_line(file: &WireFile) -> String {
    let mut line = format!("{} {}", file.letter(), in_line(&file.path));
    if let Some(from) = &file.moved_from {
        let _ = write!(line, " from {}", in_line(from));
    }
    if let Some(version) = &file.version_after {
        let _ = write!(line, " {version}");
    }
    if let Some(places) = file.places {
        let _ = write!(line, ", {places} places");
    }
    for hunk in &file.hunks {
        if let Some(named) = hunk.moved.as_ref().or(hunk.symbol.as_ref()) {
            let _ = write!(line, ", {named}");
        }
        if let Some(taken) = &hunk.taken {
            let _ = write!(line, ", {taken}");
        }
    }
    line
}

/// Says that one place of each distinct change is shown, and which files have others.
fn alike(distinct: usize, others: &[&WireFile]) -> String {
    let places: usize = others.iter().map(|file| file.places.unwrap_or(1)).sum();
    let mut text = match distinct {
        1 => "One place is shown".to_owned(),
        _ => format!("One place is shown of each of the first of {distinct} distinct changes"),
    };
    if let Some((first, rest)) = others.split_first() {
        let s = if others.len() == 1 { "" } else { "s" };
        let named = |file: &WireFile| format!("{} {}", in_line(&file.path), file.places.unwrap_or(1));
        let _ = write!(text, "; {places} more in {} file{s}: {}", others.len(), named(first));
        let mut left = rest.len();
        for file in rest {
            if text.len() >= OTHERS {
                break;
            }
            let _ = write!(text, ", {}", named(file));
            left -= 1;
        }
        if left > 0 {
            let _ = write!(text, ", ... and {left} more");
        }
    }
    text + ".\n"
}

/// Leaves out of a file what is said elsewhere in a short answer, or what its reader knows.
fn short_file(file: WireFile) -> WireFile {
    let says_more = |hunk: &WireHunk| {
        let is_elsewhere = hunk.moved.is_some() || hunk.symbol.is_some() || hunk.taken.is_some();
        is_elsewhere || hunk.layer.as_deref().is_some_and(|layer| layer != Layer::Exact.name())
    };
    WireFile {
        path: String::new(),
        change: if file.change == "modify" { String::new() } else { file.change },
        version_before: None,
        added: None,
        removed: None,
        hunks: file.hunks.into_iter().filter(says_more).collect(),
        ..file
    }
}

/// Returns how many characters of diff there is room for beside the rest of the answer.
fn room(outcome: &Outcome, head: &str, lines: &[String]) -> usize {
    if lines.len() <= 1 {
        return DIFF;
    }
    let text = head.chars().count() + lines.iter().map(|line| line.chars().count() + 1).sum::<usize>();
    // One place of each change is shown however many files there are.
    let json = match outcome.distinct {
        Some(_) => 0,
        None => serde_json::to_string(outcome).map_or(SEVERAL, |json| json.chars().count()),
    };
    SEVERAL.saturating_sub(text.max(json) + NOTICE)
}

/// Returns the diffs that have room, file by file, each as far as it has.
fn shown(diffs: Vec<ShortDiff>, room: usize) -> Vec<ShortDiff> {
    let all: usize = diffs.iter().map(|diff| json_length(&diff.text)).sum();
    // To say that something is not shown would take as much.
    if all <= room + NOTICE && !diffs.iter().any(|diff| diff.is_shortened) {
        return diffs;
    }
    let (header, most) = match diffs.len() {
        0 | 1 => (0, room),
        // `*** File 12` and its line ending, as JSON.
        count => (15, ONE_OF_SEVERAL.max(room / count)),
    };
    let mut left = room;
    let fitted = |diff: ShortDiff| {
        let has_any = !diff.text.is_empty();
        let diff = diff.within(left.saturating_sub(header).min(most), json_length);
        if has_any && !diff.text.is_empty() {
            left -= header + json_length(&diff.text);
        }
        diff
    };
    diffs.into_iter().map(fitted).collect()
}

/// Returns how many characters a text has inside a string of JSON.
fn json_length(text: &str) -> usize {
    serde_json::to_string(text).map_or(text.len(), |json| json.chars().count() - 2)
}

/// Returns the last line of a diff that is shortened. It stands where a diff says that a last line has no ending.
fn notice(outcome: &Outcome, left_out: usize) -> String {
    let what = match left_out {
        0 => "Long lines are cut".to_owned(),
        1 => "1 changed line is not shown".to_owned(),
        count => format!("{count} changed lines are not shown"),
    };
    match outcome.edit.as_ref().filter(|_| outcome.can_be_undone) {
        Some(edit) => format!("\\ {what}; all of it: edit_history or {}\n", uri::for_edit(edit)),
        None => format!("\\ {what}\n"),
    }
}
