//! The events that a client may see: those of its own workspace, written by any process, whose files it may all read.
//! The log belongs to the user and holds what other policies allow. Notes are removed, since they may name any file
//! that the session of the edit has read.

use std::collections::VecDeque;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use emend_workspace::Workspace;
use emend_workspace::event_log::{Line, Position};

use super::event::EventRoot;

/// The number of events in one response.
const LISTED_EVENTS: usize = 100;
/// The bytes of events in one response, unless a single event has more.
const LISTED_BYTES: usize = 256 * 1024;
/// The number of newest events that are searched for those of the workspace, where the request names no start.
const NEWEST_LOOKED_AT: u64 = 1_000;

/// A page of events.
#[derive(Debug, Default)]
pub(crate) struct ListedEvents {
    /// The events, one on each line, the newest last.
    pub(crate) lines: String,
    /// The number of the last event that was looked at; the next page begins after it.
    pub(crate) last: u64,
    /// Whether there are more events after these.
    pub(crate) has_more: bool,
}

/// The part of an event that decides who may see it.
#[derive(Deserialize)]
struct EventHead {
    roots: Vec<EventRoot>,
}

/// Lists the first events after this number, or else the newest.
pub(crate) fn list(workspace: &Workspace, after: Option<u64>) -> std::io::Result<ListedEvents> {
    let Some(log) = workspace.event_log() else { return Ok(ListedEvents::default()) };
    let begin = match after {
        Some(after) => after,
        None => log.newest()?.saturating_sub(NEWEST_LOOKED_AT),
    };
    let (mut position, mut lines, mut bytes, mut has_more) =
        (Position::after(begin), VecDeque::new(), 0, false);
    let mut last = begin;
    log.read(&mut position, |line: Line| {
        let Some(text) = readable_event(workspace, line.text) else {
            last = line.number;
            return true;
        };
        bytes += text.len();
        let is_full = |lines: &VecDeque<String>| {
            lines.len() >= LISTED_EVENTS || (bytes > LISTED_BYTES && !lines.is_empty())
        };
        if after.is_some() && is_full(&lines) {
            has_more = true;
            return false;
        }
        last = line.number;
        lines.push_back(text);
        true
    })?;
    if after.is_none() {
        let mut room = LISTED_BYTES;
        let fits = lines.iter().rev().take(LISTED_EVENTS).take_while(|line| {
            let fits = line.len() <= room;
            room = room.saturating_sub(line.len());
            fits
        });
        let keep = fits.count().max(1);
        lines.drain(..lines.len().saturating_sub(keep));
    }
    let lines = lines.into_iter().map(|line| line + "\n").collect();
    Ok(ListedEvents { lines, last, has_more })
}

/// Returns an event as a client may see it; `None` unless all the files that it names may be read here.
fn readable_event(workspace: &Workspace, text: String) -> Option<String> {
    let EventHead { roots } = serde_json::from_str(&text).ok()?;
    let is_here = |root: &EventRoot| {
        workspace
            .roots()
            .all()
            .iter()
            .any(|here| here.path == Path::new(&root.path) && here.policy.terms().emit_event)
    };
    if roots.is_empty() || !roots.iter().all(is_here) {
        return None;
    }
    let mut event = serde_json::from_str::<Value>(&text).ok()?;
    let mut names = Vec::new();
    for field in ["outcome", "summary", "diagnostics"] {
        gather_names(&event[field], &mut names);
    }
    if !names.iter().all(|name| may_be_read(workspace, &roots, name)) {
        return None;
    }
    let notes = event.get_mut("outcome").and_then(Value::as_object_mut).and_then(|it| it.remove("notes"));
    Some(if notes.is_some() { event.to_string() } else { text })
}

/// Collects the names of files at any depth of a JSON value.
fn gather_names<'a>(value: &'a Value, names: &mut Vec<&'a str>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| gather_names(value, names)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("path" | "moved_from", Value::String(name)) => names.push(name),
                    ("changed_files", Value::Array(files)) => {
                        names.extend(files.iter().filter_map(Value::as_str));
                    }
                    ("file_states", Value::Object(states)) => names.extend(states.keys().map(String::as_str)),
                    _ => gather_names(value, names),
                }
            }
        }
        _ => {}
    }
}

/// Returns whether a file of these roots may be read in the workspace.
fn may_be_read(workspace: &Workspace, roots: &[EventRoot], name: &str) -> bool {
    let inside = |root: &EventRoot| {
        let rest = match &root.name {
            Some(prefix) => name.strip_prefix(prefix.as_str())?.strip_prefix(':')?,
            None => name,
        };
        Some(Path::new(&root.path).join(rest))
    };
    roots.iter().find_map(inside).is_some_and(|path| workspace.roots().admit(&path.to_string_lossy()).is_ok())
}
