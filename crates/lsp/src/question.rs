//! Questions that a person or a program puts to the servers, and their answers.
//!
//! A question brings the texts with it for which the answer shall hold: each is open in the server while it answers, so
//! that an answer about these files is about exactly these texts.

use std::path::{Path, PathBuf};

use crate::aftermath::{Diagnostic, ServerState};
use crate::place::Place;
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
    /// The places of the symbol at this byte of the file.
    Places {
        /// The byte, of the text of the file.
        offset: usize,
        /// Which of its places.
        which: Which,
    },
    /// The definitions of this name in all of the project.
    Named(String),
    /// What the server would change about what it finds wrong in the file.
    Fixes,
}

/// Which places of a symbol are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Where it is defined.
    Definitions,
    /// Where it is meant, its definitions included.
    References,
    /// Where it is implemented.
    Implementations,
}

/// What a server has answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// An edit.
    Edit(WorkspaceEdit),
    /// Places, in the order of files and lines.
    Places(Vec<Place>),
    /// Changes that it offers.
    Fixes(Vec<Fix>),
}

/// A change that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What the server calls it.
    pub title: String,
    /// What is wrong without it; `None` where it is for the file as a whole.
    pub of: Option<Diagnostic>,
    /// The edit, or why there is none that could be made.
    pub edit: Result<WorkspaceEdit, String>,
}

/// The answer of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The name of the server.
    pub server: String,
    /// `Ready` where the server has answered, else why it has not.
    pub state: ServerState,
    /// The answer; `None` where the server has not answered, or does not offer to answer such a question.
    pub said: Option<Said>,
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
    pub(crate) fn without_answer(server: &str, state: ServerState) -> Self {
        Self { server: server.to_owned(), state, said: None, is_complete: false, unseen: None }
    }

    /// Returns the edit, if the answer is one.
    #[must_use]
    pub fn edit(&self) -> Option<&WorkspaceEdit> {
        match self.said.as_ref()? {
            Said::Edit(edit) => Some(edit),
            Said::Places(_) | Said::Fixes(_) => None,
        }
    }

    /// Returns the places, if the answer is these.
    #[must_use]
    pub fn places(&self) -> Option<&[Place]> {
        match self.said.as_ref()? {
            Said::Places(places) => Some(places),
            Said::Edit(_) | Said::Fixes(_) => None,
        }
    }

    /// Returns the changes that the server offers, if the answer is these.
    #[must_use]
    pub fn fixes(&self) -> Option<&[Fix]> {
        match self.said.as_ref()? {
            Said::Fixes(fixes) => Some(fixes),
            Said::Edit(_) | Said::Places(_) => None,
        }
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
