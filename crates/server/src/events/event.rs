//! What an event has, which is what `docs/EVENTS.md` says, and how it looks in a line for a person.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::SystemTime;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Cause;
use crate::wire::Outcome;

/// Of what the fields mean. New fields and new types come without a new version.
pub(super) const VERSION: u64 = 1;
/// How many of its files a long event names.
const FILES: usize = 1_000;

/// What kind of event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// An edit was made.
    Edit,
    /// One was not.
    Refused,
    /// One was only shown or checked.
    Preview,
    /// Language servers say something.
    Diagnostics,
    /// A session has ended.
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

/// A folder that an event is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EventRoot {
    /// What stands before the names of its files, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) path: String,
}

/// What a session has done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    /// How many edits were made.
    pub(crate) edits: u64,
    /// How many were refused.
    pub(crate) refused: u64,
    /// The files of those that were made.
    pub(crate) changed_files: BTreeSet<String>,
    /// Whether there were more of them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) more_files: bool,
    /// Whether any edit was made.
    pub(crate) had_edits: bool,
}

/// An event, without what it gets when it is written.
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

/// What an event gets when it is written.
#[derive(Debug, Serialize)]
pub(super) struct Head {
    version: u64,
    pub(super) event: u64,
    /// How many events before this one could not be written.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) lost: u64,
    /// Those of a session that has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) first_event: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) last_event: Option<u64>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Event {
    pub(super) fn new(kind: Kind, cause: Option<Cause<'_>>, roots: Vec<EventRoot>) -> Self {
        let said =
            |of: fn(Cause<'_>) -> &str| cause.map(of).filter(|said| !said.is_empty()).map(str::to_owned);
        Self {
            time: DateTime::<Utc>::from(SystemTime::now()).to_rfc3339_opts(SecondsFormat::Millis, true),
            kind,
            client: cause.map(|cause| cause.client.to_owned()),
            session: cause.map(|cause| cause.session.to_owned()),
            tool: said(|cause| cause.tool),
            roots,
            outcome: None,
            diagnostics: None,
            summary: None,
            cut: false,
        }
    }

    /// As an object of JSON.
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Leaves out what makes it long.
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

    /// The whole line: the event's own fields behind these.
    pub(super) fn before(&self, event: &str) -> String {
        let head = serde_json::to_string(self).unwrap_or_default();
        format!("{},{}", head.trim_end_matches('}'), event.trim_start_matches('{'))
    }
}

/// An event in a line for a person: `12 2026-11-21T14:03:22.120Z claude-code edit str_replace src/a.rs +2 -1`. `None` where
/// the text is no event.
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
    if let Some(said) = event.get("diagnostics") {
        let servers = said["servers"].as_array().into_iter().flatten();
        let new: usize = servers.map(|server| server["new"].as_array().map_or(0, Vec::len)).sum();
        let files = said["changed_files"].as_array().into_iter().flatten().map(text);
        let _ = write!(line, " {}: {new} new (edit {})", few(files), text(&said["edit"]));
    }
    if let Some(lost) = event["lost"].as_u64() {
        let _ = write!(line, " ({lost} events before this one were lost)");
    }
    Some(line.trim_end().to_owned())
}

/// The first few of these.
fn few(names: impl Iterator<Item = impl Into<String>>) -> String {
    let mut names: Vec<String> = names.map(Into::into).collect();
    names.dedup();
    let more = names.len().saturating_sub(3);
    names.truncate(3);
    let said = names.join(", ");
    if more > 0 { format!("{said} and {more} more") } else { said }
}
