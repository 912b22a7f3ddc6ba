//! The tool `search_text`.

use std::fmt::Write;
use std::time::{Duration, Instant};

use emend_syntax::{Definition, Outline};
use emend_workspace::problem::Problem;
use emend_workspace::search::{FileMatches, MatchedLine, Query, SearchResults};
use emend_workspace::{Effort, WalkScope, symbols};

use super::Call;
use super::list::{closed, counted, plain, plural, unseen};
use super::spec::{About, Effect, Given, Tool, ToolArguments};
use crate::answer::{Answer, Unanswered};
use crate::messages::symbols::title;
use crate::wire::SearchText;

/// The most bytes of the files whose definitions are named, and the time after which no further file is parsed.
const PARSED: usize = 1 << 20;
const PARSING: Duration = Duration::from_millis(500);

impl ToolArguments for SearchText {
    const ABOUT: About = About {
        name: "search_text",
        title: "Search text in files",
        description: "Find lines by a regular expression, with each file's version and the definition around them. Ignored \
files are skipped.",
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
    let query = Query {
        pattern: &asked.pattern,
        context: asked.context.unwrap_or(0),
        multiline: asked.multiline.unwrap_or(false),
        files_only: asked.files_only.unwrap_or(false),
    };
    let found = call.workspace.files().search(&scope, &query)?;
    let mut readings = call.caller.readings().lock();
    for file in &found.files {
        file.text.iter().for_each(|text| readings.saw_numbers(&file.name, text));
    }
    drop(readings);
    let mut text = header(&found, asked);
    let mut outlines = Outlines { bytes: PARSED, end: Instant::now() + PARSING };
    for (number, file) in found.files.iter().enumerate() {
        if query.files_only {
            let _ = writeln!(text, "{}: {}", plain(&file.name), counted(file.shown));
            continue;
        }
        if number > 0 {
            text.push('\n');
        }
        lines(&mut text, file, &outlines.of(file), query.multiline);
    }
    let told: usize = found.files.iter().map(|file| file.shown + file.more).sum();
    if told < found.matches {
        let left = found.matches - told;
        let (left, es) = (counted(left), if left == 1 { "" } else { "es" });
        let narrower = "give a narrower pattern, a glob or a path";
        let _ = writeln!(text, "\n... and {left} more match{es} in other files; {narrower}.");
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
    let (matching, s) = match asked.multiline {
        Some(true) if found.matches == 1 => ("match", ""),
        Some(true) => ("matches", ""),
        _ => ("matching line", s),
    };
    format!("{matches} {matching}{s} in {} of {searched}\n", counted(found.matching_files))
}

/// The outlines of the files that are shown, as long as they cost little.
struct Outlines {
    bytes: usize,
    end: Instant,
}

impl Outlines {
    /// Returns the outline of a file; an empty one if it is not known.
    fn of(&mut self, file: &FileMatches) -> Outline {
        let is_cheap = |length: usize| length <= self.bytes && Instant::now() < self.end;
        let text = file.text.as_ref().filter(|text| is_cheap(text.bytes().len()));
        self.bytes -= text.map_or(0, |text| text.bytes().len());
        text.and_then(|text| symbols::outline(&file.name, text).ok()).unwrap_or_default()
    }
}

fn lines(text: &mut String, file: &FileMatches, outline: &Outline, is_multiline: bool) {
    text.push_str(&plain(&file.name));
    if let Some(version) = file.version {
        let _ = write!(text, " · version {}", version.short());
    }
    text.push('\n');
    let mut last = None;
    let mut named: Option<&Definition> = None;
    // Without context, the line numbers alone show that lines between two matches are left out.
    let has_context = file.lines.iter().any(|line| !line.matches);
    for (at, line) in file.lines.iter().enumerate() {
        let is_apart = last.is_none_or(|last| last + 1 < line.number);
        if has_context && is_apart && at > 0 {
            text.push_str("--\n");
        }
        if (is_apart || !(has_context || is_multiline))
            && let Some(first) = file.lines[at..].iter().find(|line| line.matches)
        {
            let around = outline.around(first.number);
            if around != named {
                head(text, outline, around, first);
                named = around;
            }
        }
        last = Some(line.number);
        let mark = if line.matches { ':' } else { '-' };
        let _ = writeln!(text, "{}{mark} {}", line.number, line.text);
    }
    if file.more > 0 {
        let _ = writeln!(text, "... and {} more in this file", counted(file.more));
    }
}

/// Names the definition around the lines that follow.
fn head(text: &mut String, outline: &Outline, around: Option<&Definition>, first: &MatchedLine) {
    match around {
        // The line itself says what it defines, or that it is in nothing.
        Some(one) if one.depth == 0 && one.name_line == first.number => {}
        None if !first.text.starts_with([' ', '\t']) => {}
        Some(one) => {
            let _ = writeln!(text, "in {}", title(&outline.title(one)));
        }
        None => text.push_str("outside\n"),
    }
}
