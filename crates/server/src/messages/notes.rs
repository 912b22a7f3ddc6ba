//! What is told of an edit beside what it changed.

use emend_edit::plan::{PlanNote, UnfitFormat};
use emend_workspace::approval::visible_line;
use emend_workspace::{NotFormatted, Note, Report};

/// Returns what is told of an edit beside what it changed, note by note.
#[must_use]
pub fn notes(report: &Report) -> Vec<String> {
    report.notes.iter().map(note).collect()
}

fn note(note: &Note) -> String {
    match note {
        Note::Plan(note) => plan_note(note),
        Note::ChangedElsewhere { file, diff } => {
            format!("{file} changed since you read it, away from this edit:\n{}", diff.trim_end())
        }
        Note::ChangedUnseen { file } => {
            format!(
                "{file} changed since you read it, away from this edit: read it again before you rely on the rest"
            )
        }
        Note::TakesBack { edit, by } => {
            let by = by.as_ref().map(|by| format!(" ({by})")).unwrap_or_default();
            format!("This takes back edit {edit}{by}; to have it again, undo this one")
        }
        Note::StaysChanged { file, diff } => {
            format!("{file} changed since that edit, away from its lines, and stays so:\n{}", diff.trim_end())
        }
        Note::Approved { comment } => format!("Whoever approved this edit says: {comment}"),
        Note::Formatted { file, by } => {
            format!("{file} was formatted by {by}: what counts is the text in the diff, not as you sent it")
        }
        Note::FormattedBack { file, by } => {
            format!("What this edit does to {file} is undone by {by}, which formats it, so it stays as it is")
        }
        Note::NotFormatted { file, formatter, why } => {
            let why = match why {
                NotFormatted::Failed(said) => said.clone(),
                NotFormatted::Unfit(unfit) => visible_line(&unfit_format(*unfit)),
            };
            format!("The formatter '{formatter}' could not format {file} and was left out: {why}")
        }
        Note::HookNotAsked { hook, why } => {
            format!("The hook '{hook}' could not look at this edit, which goes on without it: {why}")
        }
        Note::BreaksSyntax { file, line, what } => format!(
            "This edit breaks the parse of {file} at line {line}: {what}. Fix it, unless your next edits do"
        ),
        Note::WillBeRefused => {
            "It will be refused for that: the person has set syntax_guard to refuse".into()
        }
        Note::OpenElsewhere { file, others } => {
            let others = if *others == 0 { String::new() } else { format!(" and {others} more") };
            format!(
                "another program has {file}{others} open for writing: what it writes without opening the file anew goes into \
                 the old one, which is kept. Read the file again before you rely on it"
            )
        }
        Note::NotRecorded => "the history has no record of this edit: it could not be written".into(),
        Note::Recovery(said) => said.clone(),
    }
}

fn plan_note(note: &PlanNote) -> String {
    match note {
        PlanNote::WithoutAnchor { hunk, anchor } => format!(
            "Hunk {hunk}: '{anchor}' is no line of the file; the hunk's lines stand in one place only, so it was applied \
             there."
        ),
        PlanNote::BelowAnchor { hunk, anchor, line } => format!(
            "Hunk {hunk}: its lines are not in the block of '{anchor}'. They were found and changed at line {line}."
        ),
        PlanNote::OnlyContext { hunk, line } => {
            format!("Hunk {hunk} has only context lines, at line {line}; it was left out.")
        }
        PlanNote::InsideWords { hunk, places } => {
            format!("Edit {hunk}: {places} of the places are parts of longer words.")
        }
        PlanNote::DroppedLines { title, lines } => {
            let shown = lines.iter().map(|(number, line)| format!("\n{number:>6}\t{line}"));
            format!(
                "Dropped from {}, which the sketch shows as a whole without these lines:{}",
                super::symbols::title(title),
                shown.collect::<String>()
            )
        }
        PlanNote::OtherEncoding { file, before, after } => {
            format!("{file} was in {before}; what takes its place is in {after}")
        }
        PlanNote::LooksOtherwise { file, edited, looks } => format!(
            "{file} was edited in {edited}, but from now on its bytes look like {looks}; read it again before you write \
             characters outside of ASCII into it"
        ),
    }
}

fn unfit_format(unfit: UnfitFormat) -> String {
    match unfit {
        UnfitFormat::FileNotUtf8 => "the file has bytes that are not UTF-8".into(),
        UnfitFormat::NotUtf8 => "its answer is not text in UTF-8".into(),
        UnfitFormat::Empty => "its answer is empty".into(),
        UnfitFormat::Lacks { character, encoding } => {
            format!("its answer has '{character}', which {encoding} lacks")
        }
        UnfitFormat::TooLarge => "its answer is too large".into(),
        UnfitFormat::NoText => "its answer would be no text there".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_note_has_its_words() {
        let file = || "a.rs".to_owned();
        let anchor = || "fn b() {".to_owned();
        let not_formatted = |why| Note::NotFormatted { file: "a.rs".into(), formatter: "ruff".into(), why };
        let lacks = UnfitFormat::Lacks { character: '\u{200b}', encoding: "windows-1252" };
        for (note, text) in [
            (
                Note::Plan(PlanNote::InsideWords { hunk: 1, places: 2 }),
                "Edit 1: 2 of the places are parts of longer words.",
            ),
            (
                Note::Plan(PlanNote::WithoutAnchor { hunk: 2, anchor: anchor() }),
                "Hunk 2: 'fn b() {' is no line of the file; the hunk's lines stand in one place only, so it was applied there.",
            ),
            (
                Note::Plan(PlanNote::BelowAnchor { hunk: 2, anchor: anchor(), line: 7 }),
                "Hunk 2: its lines are not in the block of 'fn b() {'. They were found and changed at line 7.",
            ),
            (
                Note::Plan(PlanNote::OnlyContext { hunk: 2, line: 7 }),
                "Hunk 2 has only context lines, at line 7; it was left out.",
            ),
            (
                Note::Plan(PlanNote::OtherEncoding { file: file(), before: "UTF-16LE", after: "UTF-8" }),
                "a.rs was in UTF-16LE; what takes its place is in UTF-8",
            ),
            (
                Note::Plan(PlanNote::LooksOtherwise { file: file(), edited: "windows-1252", looks: "UTF-8" }),
                "a.rs was edited in windows-1252, but from now on its bytes look like UTF-8; read it again before you write \
                 characters outside of ASCII into it",
            ),
            (
                Note::ChangedElsewhere { file: file(), diff: "-a\n+b\n".into() },
                "a.rs changed since you read it, away from this edit:\n-a\n+b",
            ),
            (
                Note::TakesBack { edit: "e1".into(), by: None },
                "This takes back edit e1; to have it again, undo this one",
            ),
            (
                Note::TakesBack { edit: "e1".into(), by: Some("write_file of mcp, 1 minute ago".into()) },
                "This takes back edit e1 (write_file of mcp, 1 minute ago); to have it again, undo this one",
            ),
            (
                Note::StaysChanged { file: file(), diff: "-a\n+b\n".into() },
                "a.rs changed since that edit, away from its lines, and stays so:\n-a\n+b",
            ),
            (
                Note::Approved { comment: "Now the tests.".into() },
                "Whoever approved this edit says: Now the tests.",
            ),
            (
                Note::Formatted { file: file(), by: "ruff and black".into() },
                "a.rs was formatted by ruff and black: what counts is the text in the diff, not as you sent it",
            ),
            (
                Note::FormattedBack { file: file(), by: "ruff".into() },
                "What this edit does to a.rs is undone by ruff, which formats it, so it stays as it is",
            ),
            (
                not_formatted(NotFormatted::Failed("it exited with 2".into())),
                "The formatter 'ruff' could not format a.rs and was left out: it exited with 2",
            ),
            (
                not_formatted(NotFormatted::Unfit(lacks)),
                "The formatter 'ruff' could not format a.rs and was left out: its answer has '\\u{200b}', which windows-1252 \
                 lacks",
            ),
            (
                Note::HookNotAsked { hook: "scan".into(), why: "it took too long".into() },
                "The hook 'scan' could not look at this edit, which goes on without it: it took too long",
            ),
            (
                Note::BreaksSyntax { file: file(), line: 3, what: "a bracket is open".into() },
                "This edit breaks the parse of a.rs at line 3: a bracket is open. Fix it, unless your next edits do",
            ),
            (Note::WillBeRefused, "It will be refused for that: the person has set syntax_guard to refuse"),
            (
                Note::OpenElsewhere { file: file(), others: 0 },
                "another program has a.rs open for writing: what it writes without opening the file anew goes into the old \
                 one, which is kept. Read the file again before you rely on it",
            ),
            (
                Note::OpenElsewhere { file: file(), others: 2 },
                "another program has a.rs and 2 more open for writing: what it writes without opening the file anew goes \
                 into the old one, which is kept. Read the file again before you rely on it",
            ),
            (Note::NotRecorded, "the history has no record of this edit: it could not be written"),
        ] {
            assert_eq!(super::note(&note), text);
        }
    }
}
