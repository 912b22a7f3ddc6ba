//! The tool `search_text`.

use std::fmt::Write;

use emend_workspace::problem::Problem;
use emend_workspace::search::{FileMatches, Query, SearchResults};
use emend_workspace::{Effort, WalkScope};

use super::Call;
use super::list::{closed, counted, plain, plural, unseen};
use super::spec::{About, Effect, Given, Tool, ToolArguments};
use crate::answer::{Answer, Unanswered};
use crate::wire::SearchText;

impl ToolArguments for SearchText {
    const ABOUT: About = About {
        name: "search_text",
        title: "Search text in files",
        description: "Find lines in files by a regular expression. Answers number: text below each file's path and \
version, for replace_lines. Ignored and binary files are left out. Not a reading.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: false,
    };
    const SEARCH_WORDS: Option<&'static str> = Some("grep");
}

impl Tool for SearchText {
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered> {
        if call.effort == Effort::Quick {
            // A folder may have any number of files.
            return Err(Unanswered::NotQuick);
        }
        Ok(Answer::reading(given.read().and_then(|asked| search(call, &asked))))
    }
}

fn search(call: &Call<'_>, asked: &SearchText) -> Result<String, Problem> {
    let scope =
        WalkScope { path: asked.path.as_deref(), glob: asked.glob.as_deref(), cancelled: call.cancelled };
    let query = Query { pattern: &asked.pattern, context: asked.context.unwrap_or(0) };
    let found = call.workspace.files().search(&scope, &query)?;
    let mut readings = call.caller.readings().lock();
    for file in &found.files {
        file.text.iter().for_each(|text| readings.saw_numbers(&file.name, text));
    }
    drop(readings);
    let mut text = header(&found, asked);
    for (number, file) in found.files.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        lines(&mut text, file);
    }
    let shown: usize = found.files.iter().map(FileMatches::matches).sum();
    if shown < found.matches {
        let left = found.matches - shown;
        let (left, es) = (counted(left), if left == 1 { "" } else { "es" });
        let _ = writeln!(text, "\n... and {left} more match{es}; give a narrower pattern, a glob or a path.");
    }
    if let Some(context) = found.context {
        let _ = writeln!(text, "At most {context} lines of context are shown.");
    }
    if found.too_large > 0 {
        let (number, s) = (counted(found.too_large), plural(found.too_large));
        let _ = writeln!(text, "{number} file{s} not searched: larger than the policy lets be read.");
    }
    if asked.path.as_deref().is_none_or(str::is_empty) {
        text.push_str(&closed(call.workspace.roots()));
    }
    text.push_str(&unseen(found.unseen));
    Ok(text)
}

fn header(found: &SearchResults, asked: &SearchText) -> String {
    if let Some(glob) = asked.glob.as_ref().filter(|_| found.taken == 0 && !found.unseen.rest) {
        return format!("No file is taken by the glob {glob}; list_files shows what there is.\n");
    }
    let searched = format!("{} file{}", counted(found.searched), plural(found.searched));
    if found.matches == 0 {
        return format!("No match in {searched} searched.\n");
    }
    let (matches, s) = (counted(found.matches), plural(found.matches));
    format!("{matches} matching line{s} in {} of {searched}\n", counted(found.matching_files))
}

fn lines(text: &mut String, file: &FileMatches) {
    text.push_str(&plain(&file.name));
    if let Some(version) = file.version {
        let _ = write!(text, " · version {}", version.short());
    }
    text.push('\n');
    let mut last = None;
    // Without context, the line numbers alone show that lines between two matches are left out.
    let has_context = file.lines.iter().any(|line| !line.matches);
    for line in &file.lines {
        if has_context && last.is_some_and(|last| last + 1 < line.number) {
            text.push_str("--\n");
        }
        last = Some(line.number);
        let mark = if line.matches { ':' } else { '-' };
        let _ = writeln!(text, "{}{mark} {}", line.number, line.text);
    }
    if file.more > 0 {
        let _ = writeln!(text, "... and {} more in this file", counted(file.more));
    }
}
