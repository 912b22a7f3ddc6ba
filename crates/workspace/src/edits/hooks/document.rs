//! The document of an edit that a hook gets: one JSON object on its standard input. docs/HOOKS.md documents its fields;
//! new ones may be added, and existing ones keep their meaning within a version.

use std::path::Path;

use serde::Serialize;

use super::Hooks;
use crate::files::history::Origin;
use crate::files::report::{ChangeKind, FileReport, Report};

/// The version of the document.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    tool: &'a str,
    client: &'a str,
    session: &'a str,
    root: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    edit: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undoes: Option<&'a str>,
    files: Vec<File<'a>>,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_after: Option<String>,
    added: usize,
    removed: usize,
    diff: String,
}

impl Hooks {
    /// Serialises an edit that is about to be made or was made; `undoes` is the edit that it undoes.
    pub(super) fn document(
        &self,
        report: &Report,
        origin: &Origin,
        root: &Path,
        undoes: Option<&str>,
    ) -> Vec<u8> {
        let document = Document {
            version: VERSION,
            tool: &origin.tool,
            client: &origin.client,
            session: &origin.session,
            root: root.to_string_lossy().into_owned(),
            edit: report.edit.as_deref(),
            undoes,
            files: report.files.iter().map(|file| self.file(file)).collect(),
        };
        let mut text = serde_json::to_vec(&document).unwrap_or_default();
        text.push(b'\n');
        text
    }

    fn file<'a>(&self, file: &'a FileReport) -> File<'a> {
        File {
            path: self.inside(&file.name),
            change: match file.change {
                ChangeKind::Create => "create",
                ChangeKind::Modify => "modify",
                ChangeKind::Delete => "delete",
                ChangeKind::Move => "move",
            },
            moved_from: file.moved_from.as_deref().map(|from| self.inside(from)),
            version_before: file.before.map(|version| version.short()),
            version_after: file.after.map(|version| version.short()),
            added: file.diff.added,
            removed: file.diff.removed,
            diff: file.diff.text(),
        }
    }
}
