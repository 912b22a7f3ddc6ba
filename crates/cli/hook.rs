//! `emend hook claude-code`: a hook that Claude Code runs after each call of Emend's tools. Claude Code folds such a call
//! to one line, so the hook shows the person the diff of an edit below it.
//!
//! It must neither fail a call nor delay it. So it opens no workspace, writes no file, and answers anything unexpected
//! with nothing.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use emend_workspace::approval::visible;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::exit::Exit;
use crate::output::Colours;

/// The most lines of a diff that are shown.
const LINES: usize = 60;
/// The most bytes that are read. A larger call is shown without its diff.
const BYTES: u64 = 16 << 20;
/// How Claude Code begins the names of Emend's tools: from a configuration file, and from a plug-in.
const TOOLS: [&str; 2] = ["mcp__emend__", "mcp__plugin_emend_emend__"];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The client that runs the hook.
    #[arg(value_parser = ["claude-code"])]
    client: String,
}

/// An edit in the answer of a tool.
struct Change {
    /// Its id, if the answer has it.
    edit: Option<String>,
    diff: String,
}

/// Whether this process was started as a hook. This is checked before anything else is set up.
pub(crate) fn is_called() -> bool {
    std::env::args_os().skip(1).eq(["hook", "claude-code"])
}

pub(crate) fn run() -> Exit {
    let mut input = Vec::new();
    let shown = io::stdin().lock().take(BYTES).read_to_end(&mut input).ok().and_then(|_| message(&input));
    if let Some(message) = shown {
        // Nobody may be there to read it.
        let _ = writeln!(io::stdout(), "{}", json!({"systemMessage": message}));
    }
    Exit::Done
}

/// The message for the person; `None` if this was no edit.
fn message(input: &[u8]) -> Option<String> {
    // The arguments of the call can be large and are not needed, so they are not parsed.
    let fields: HashMap<String, &RawValue> = serde_json::from_slice(input).ok()?;
    let tool: String = serde_json::from_str(fields.get("tool_name")?.get()).ok()?;
    if !TOOLS.iter().any(|start| tool.starts_with(start)) {
        return None;
    }
    let response: Value = serde_json::from_str(fields.get("tool_response")?.get()).ok()?;
    let Change { edit, diff } = change(&response)?;
    let diff = visible(&diff);
    let lines: Vec<&str> = diff.lines().collect();
    let (shown, rest) = lines.split_at(lines.len().min(LINES));
    let mut message = Colours::of_claude_code().diff(&shown.join("\n"));
    if !rest.is_empty() {
        let command = edit.map_or("emend show".into(), |edit| format!("emend show {edit}"));
        message.push_str(&format!("\n… and {} more lines; see `{command}`", rest.len()));
    }
    Some(message)
}

/// Finds the edit in the answer of a tool: structured content, perhaps as a string of JSON, or blocks of text.
fn change(response: &Value) -> Option<Change> {
    match response {
        Value::String(text) if text.starts_with(['{', '[']) => change(&serde_json::from_str(text).ok()?),
        Value::String(text) => from_text(text),
        Value::Array(blocks) => blocks.iter().find_map(change),
        Value::Object(fields) => from_structured(fields).or_else(|| {
            ["structuredContent", "content", "text"].iter().find_map(|name| change(fields.get(*name)?))
        }),
        _ => None,
    }
}

/// Reads structured content. Only an edit that was made has an id; a preview has none.
fn from_structured(fields: &Map<String, Value>) -> Option<Change> {
    let (edit, diff) = (fields.get("edit")?.as_str()?, fields.get("diff")?.as_str()?);
    let files = fields.get("changed_files").and_then(Value::as_array);
    let names: Vec<&str> = files.into_iter().flatten().filter_map(Value::as_str).collect();
    let diff = with_names(diff, &names);
    (!diff.is_empty()).then(|| Change { edit: Some(edit.to_owned()), diff })
}

/// Reads the text of an answer, which begins with this word only if an edit was made.
fn from_text(text: &str) -> Option<Change> {
    let diff = with_names(text, &[]);
    let is_edit = text.starts_with("Success.") && !diff.is_empty();
    let id = text.split_once("dit ").map(|(_, rest)| rest.split(|c: char| !c.is_ascii_hexdigit()).next());
    is_edit.then(|| Change { edit: id.flatten().filter(|id| !id.is_empty()).map(str::to_owned), diff })
}

/// Returns the diff in a text, with the name of each file above its hunks.
fn with_names(text: &str, names: &[&str]) -> String {
    let mut diff = String::new();
    let mut name = names.first().copied();
    let mut is_inside = false;
    for line in text.lines() {
        let has_own_name = !is_inside && line.starts_with("--- ");
        is_inside = has_own_name
            || ["@@ -", "new mode "].iter().any(|start| line.starts_with(start))
            || is_inside && line.starts_with([' ', '+', '-', '\\']);
        if is_inside {
            for line in name.take().filter(|_| !has_own_name).into_iter().chain([line]) {
                diff.push_str(line);
                diff.push('\n');
            }
        } else if let Some(number) = line.strip_prefix("*** File ") {
            name = number.parse::<usize>().ok().and_then(|number| names.get(number.checked_sub(1)?)).copied();
        } else if ["A ", "M ", "D ", "R "].iter().any(|letter| line.starts_with(letter)) {
            name = Some(line);
        }
    }
    diff
}
