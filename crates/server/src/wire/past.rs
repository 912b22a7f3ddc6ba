//! The edits of the past, in documents of the command line.

use chrono::{DateTime, SecondsFormat, Utc};
use emend_workspace::history::Edited;
use serde::Serialize;

use super::outcome::WireFile;

/// An edit of the past, in a document of the command line.
#[derive(Clone, Debug, Serialize)]
pub struct PastEdit {
    /// Its id.
    pub edit: String,
    /// When it was made, in UTC (RFC 3339).
    pub time: String,
    /// What its client called itself.
    pub client: String,
    /// The session that it was made in.
    pub session: String,
    /// The tool.
    pub tool: String,
    /// The apply model that wrote the new text, if one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The edit that it took back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    /// The edit that took it back, if that still holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<String>,
    /// Each file.
    pub files: Vec<WireFile>,
    /// The call's arguments, word for word; left out in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Unified diff; left out in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl PastEdit {
    /// Converts an edit of the history.
    #[must_use]
    pub fn from_edit(edit: &Edited) -> Self {
        Self {
            edit: edit.id.clone(),
            time: DateTime::<Utc>::from(edit.time).to_rfc3339_opts(SecondsFormat::Millis, true),
            client: edit.client.clone(),
            session: edit.session.clone(),
            tool: edit.tool.clone(),
            model: edit.model.clone(),
            undoes: edit.undoes.clone(),
            undone_by: edit.undone_by.clone(),
            files: edit.files.iter().map(WireFile::from_past).collect(),
            request: edit.request.clone(),
            diff: edit.diff.clone(),
        }
    }
}
