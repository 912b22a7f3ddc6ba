//! The file that Claude Code keeps for itself in the home folder: the servers of this user, and which folders the user
//! trusts. Claude Code writes it all the time, so it is only read here.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::entry::NAME;
use super::system::{Base, System};

pub(crate) struct OwnFile(Value);

impl OwnFile {
    /// Reads the file. One that is missing or not understood has nothing.
    pub(crate) fn read(system: &System) -> Self {
        let folder = system.folder(Base::Named("CLAUDE_CONFIG_DIR", ""));
        let file = folder.map(|folder| folder.join(".claude.json"));
        // Reading from a pipe would block.
        let file = file.filter(|file| fs::metadata(file).is_ok_and(|there| there.is_file()));
        let text = file.and_then(|file| fs::read(file).ok()).unwrap_or_default();
        Self(serde_json::from_slice(&text).unwrap_or_default())
    }

    /// Whether the user has Emend in all projects.
    pub(crate) fn has_emend(&self) -> bool {
        self.0["mcpServers"][NAME].is_object()
    }

    /// Whether the user has Emend in this project, beside what the project's own file says.
    pub(crate) fn has_emend_in(&self, project: &Path) -> bool {
        self.of(project)["mcpServers"][NAME].is_object()
    }

    /// Whether the user trusts this folder, or one above it. Without that, Claude Code ignores what the folder allows.
    pub(crate) fn trusts(&self, project: &Path) -> bool {
        project.ancestors().any(|folder| self.of(folder)["hasTrustDialogAccepted"] == true)
    }

    fn of(&self, folder: &Path) -> &Value {
        &self.0["projects"][folder.to_string_lossy().as_ref()]
    }
}
