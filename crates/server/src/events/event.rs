//! The fields of an event, as `docs/EVENTS.md` describes them, and its summary in one line for a person.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::SystemTime;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Cause;
use crate::wire::Outcome;

/// The version of the meaning of the fields. New fields and new types do not change it.
pub(super) const VERSION: u64 = 1;
/// The number of files that a shortened event names.
const FILES: usize = 1_000;

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// An edit was committed.
    Edit,
    /// An edit was refused.
    Refused,
    /// An edit was only previewed or validated.
    Preview,
    /// Language servers reported the diagnostics of an edit.
    Diagnostics,
    /// A session ended.
    Session,
}

impl Kind {
    pub(super) fn from_outcome(outcome: &Outcome) -> Self {
        match (&outcome.edit, outcome.is_failure()) {
            (_, true) => Self::Refused,
            (Some(_), _) => Self::Edit,
            (None, _) => Self::Preview,
        }
    }
}

/// A root that an event concerns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EventRoot {
    /// The prefix of the names of its files, where the workspace has several roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) path: String,
}

/// The counts of a session's edits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Summary {
    /// The number of edits that were committed.
    pub(crate) edits: u64,
    /// The number of edits that were refused.
    pub(crate) refused: u64,
    /// The files that were changed.
    pub(crate) changed_files: BTreeSet<String>,
    /// Whether there were more changed files than are named.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub(crate) more_files: bool,
    /// Whether any edit was committed.
    pub(crate) had_edits: bool,
}

/// An event without its [`Head`].
#[derive(Clone, Debug, Serialize)]
pub(super) struct Event {
    time: String,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    roots: Vec<EventRoot>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outcome: Option<Outcome>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diagnostics: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<Summary>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

/// The fields that an event gets when it is written.
#[derive(Debug, Serialize)]
pub(super) struct Head {
    version: u64,
    pub(super) event: u64,
    /// The number of events before this one that could not be written.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) lost: u64,
    /// The first event of a session that has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_event: Option<u64>,
    /// The last event of a session that has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_event: Option<u64>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Event {
    pub(super) fn new(kind: Kind, cause: Option<Cause<'_>>, roots: Vec<EventRoot>) -> Self {
        let tool = cause.map(|cause| cause.tool).filter(|tool| !tool.is_empty());
        Self {
            time: DateTime::<Utc>::from(SystemTime::now()).to_rfc3339_opts(SecondsFormat::Millis, true),
            kind,
            client: cause.map(|cause| cause.client.to_owned()),
            session: cause.map(|cause| cause.session.to_owned()),
            tool: tool.map(str::to_owned),
            roots,
            outcome: None,
            diagnostics: None,
            summary: None,
            cut: false,
        }
    }

    /// Returns the event as a JSON object.
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Drops or truncates the fields that make an event long.
    pub(super) fn shorten(&mut self) {
        self.cut = true;
        self.diagnostics = None;
        if let Some(outcome) = &mut self.outcome {
            outcome.diff.clear();
            outcome.files = None;
            outcome.notes = None;
            outcome.changed_files.truncate(FILES);
            outcome.problems.iter_mut().for_each(|problems| problems.truncate(1));
        }
    }
}

impl Head {
    pub(super) fn new(event: u64, lost: u64) -> Self {
        Self { version: VERSION, event, lost, first_event: None, last_event: None }
    }

    /// Returns the whole line: these fields, then those of the event.
    pub(super) fn before(&self, event: &str) -> String {
        let head = serde_json::to_string(self).unwrap_or_default();
        format!("{},{}", head.trim_end_matches('}'), event.trim_start_matches('{'))
    }
}

/// Summarizes an event in a line for a person: `12 2026-11-21T14:03:22.120Z claude-code edit str_replace src/a.rs +2
/// -1`. Returns `None` if the text is no event.
#[must_use]
pub fn summary_line(event: &str) -> Option<String> {
    let event: Value = serde_json::from_str(event).ok()?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut line = format!("{} {} {}", event["event"], text(&event["time"]), text(&event["type"]));
    for about in [&event["client"], &event["tool"]] {
        if let Some(about) = about.as_str() {
            let _ = write!(line, " {about}");
        }
    }
    let outcome = &event["outcome"];
    if let Some(code) = outcome["error"]["code"].as_str() {
        let paths = outcome["problems"].as_array().into_iter().flatten().filter_map(|it| it["path"].as_str());
        let _ = write!(line, " {code} {}", few(paths));
    } else if let Some(files) = outcome["files"].as_array() {
        let file = |file: &Value| format!("{} +{} -{}", text(&file["path"]), file["added"], file["removed"]);
        let _ = write!(line, " {}", few(files.iter().map(file)));
    } else if let Some(files) = outcome["changed_files"].as_array() {
        let _ = write!(line, " {}", few(files.iter().map(text)));
    }
    if let Some(edit) = outcome["edit"].as_str() {
        let _ = write!(line, " (edit {edit})");
    }
    if let Some(summary) = event.get("summary") {
        let files = summary["changed_files"].as_array().map_or(0, Vec::len);
        let _ = write!(line, ": {} edits of {files} files, {} refused", summary["edits"], summary["refused"]);
    }
    if let Some(diagnostics) = event.get("diagnostics") {
        let servers = diagnostics["servers"].as_array().into_iter().flatten();
        let new: usize = servers.map(|server| server["new"].as_array().map_or(0, Vec::len)).sum();
        let files = diagnostics["changed_files"].as_array().into_iter().flatten().map(text);
        let _ = write!(line, " {}: {new} new (edit {})", few(files), text(&diagnostics["edit"]));
    }
    if let Some(lost) = event["lost"].as_u64() {
        let _ = write!(line, " ({lost} events before this one were lost)");
    }
    Some(line.trim_end().to_owned())
}

/// Joins the first three names and counts the rest.
fn few(names: impl Iterator<Item = impl Into<String>>) -> String {
    let mut names: Vec<String> = names.map(Into::into).collect();
    names.dedup();
    let more = names.len().saturating_sub(3);
    names.truncate(3);
    let first = names.join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}
