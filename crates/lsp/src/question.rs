//! Questions that a person or a program puts to the servers, and their answers.
//!
//! A question brings the texts with it for which the answer shall hold: each is open in the server while it answers, so
//! that an answer about these files is about exactly these texts.

use std::path::{Path, PathBuf};

use crate::aftermath::ServerState;
use crate::workspace_edit::WorkspaceEdit;

/// A question.
#[derive(Clone, Debug)]
pub struct Question {
    /// The file that it is about, by which the servers are chosen. Its text is among `texts`.
    pub path: PathBuf,
    /// The absolute paths of files, each with the text that it has. No more than [`Question::TEXTS`] are told.
    pub texts: Vec<(PathBuf, String)>,
    /// What is asked.
    pub asked: Asked,
}

/// What is asked.
#[derive(Clone, Debug)]
pub enum Asked {
    /// The edit that gives the symbol at this byte of the file another name.
    Rename {
        /// The byte, of the text of the file.
        offset: usize,
        /// The new name.
        new_name: String,
    },
    /// The edit that keeps all other files as they should be when the file moves to this path.
    Move {
        /// The new path.
        to: PathBuf,
    },
}

/// The answer of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The name of the server.
    pub server: String,
    /// `Ready` where the server has answered, else why it has not.
    pub state: ServerState,
    /// The edit; `None` where the server has not answered, or does not offer to answer such a question.
    pub edit: Option<WorkspaceEdit>,
    /// Whether the server has said that it knows all of the project. Others do not say.
    pub is_complete: bool,
    /// What it does not see, because the settings keep it from running programs of the project.
    pub unseen: Option<&'static str>,
}

impl Question {
    /// How many texts one question brings.
    pub const TEXTS: usize = 500;

    pub(crate) fn text(&self) -> Option<&str> {
        self.texts.iter().find(|(path, _)| *path == self.path).map(|(_, text)| text.as_str())
    }
}

impl Answered {
    /// Makes the answer of a server that has none, because of its state.
    pub(crate) fn without_edit(server: &str, state: ServerState) -> Self {
        Self { server: server.to_owned(), state, edit: None, is_complete: false, unseen: None }
    }
}

/// Returns whether a filter of file operations takes a file: a glob such as `**/*.ts` or `**/*.{ts,js}`, matched by its
/// ending alone.
pub(crate) fn takes(pattern: &str, path: &Path) -> bool {
    let ending = path.extension().and_then(std::ffi::OsStr::to_str);
    match (pattern.rsplit_once('.'), ending) {
        (Some((_, endings)), Some(ending)) => {
            endings.trim_matches(['{', '}']).split(',').any(|one| one.trim_start_matches("*.") == ending)
        }
        // Such as `**/*` or `**`.
        (None, _) => true,
        (Some(_), None) => false,
    }
}
