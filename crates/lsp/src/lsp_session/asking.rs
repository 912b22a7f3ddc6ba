//! Questions to an initialized server, asked only when it has read what the question is about.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use super::LspSession;
use crate::known::Dialect;
use crate::open_documents::uri;
use crate::question::{self, Asked, Question};
use crate::server_process::RequestError;
use crate::workspace_edit::WorkspaceEdit;

impl LspSession {
    /// Asks for an edit. `None` if the server does not offer such edits.
    pub(crate) fn ask(
        &mut self,
        question: &Question,
        language: impl Fn(&Path) -> String,
        deadline: Instant,
    ) -> Result<Option<WorkspaceEdit>, RequestError> {
        if !self.offers(question) {
            return Ok(None);
        }
        self.await_project(deadline)?;
        for (path, text) in &question.texts {
            self.documents.hold(path, &language(path), text)?;
        }
        self.await_texts(question, deadline)?;
        self.await_project(deadline)?;
        match &question.asked {
            Asked::Rename { offset, new_name } => {
                let text = question.text().unwrap_or_default();
                let place = self.units.position(text, *offset);
                let position = json!({"line": place.line, "character": place.units});
                let mut params = json!({"textDocument": {"uri": uri(&question.path)?}, "position": position});
                if self.offered["renameProvider"]["prepareProvider"] == true
                    && self.request("textDocument/prepareRename", &params, deadline)?.is_null()
                {
                    return Err(RequestError::refused("what stands there has no name that could be changed"));
                }
                params["newName"] = json!(new_name);
                let sent = self.request("textDocument/rename", &params, deadline)?;
                let mut edit = self.read_edit(&sent)?;
                // Where a symbol has a file of its own, the changes of other files come with the move of that.
                let moves: Vec<_> = edit.moves().iter().filter(|(from, _)| self.follows_move(from)).collect();
                if !moves.is_empty() {
                    edit.join(self.edit_of_moves(&moves, deadline)?);
                }
                Ok(Some(edit))
            }
            Asked::Move { to } => {
                Ok(Some(self.edit_of_moves(&[&(question.path.clone(), to.clone())], deadline)?))
            }
        }
    }

    /// Asks which changes the moves of these files bring.
    fn edit_of_moves(
        &self,
        moves: &[&(PathBuf, PathBuf)],
        deadline: Instant,
    ) -> Result<WorkspaceEdit, RequestError> {
        let mut files = Vec::new();
        for (from, to) in moves {
            files.push(json!({"oldUri": uri(from)?, "newUri": uri(to)?}));
        }
        self.read_edit(&self.request("workspace/willRenameFiles", &json!({"files": files}), deadline)?)
    }

    fn read_edit(&self, sent: &Value) -> Result<WorkspaceEdit, RequestError> {
        WorkspaceEdit::read(sent, self.units).map_err(RequestError::refused)
    }

    /// Returns whether the server has said that it has read all of the project.
    pub(crate) fn says_when_complete(&self) -> bool {
        self.kind == Dialect::RustAnalyzer
    }

    fn offers(&self, question: &Question) -> bool {
        match &question.asked {
            Asked::Rename { .. } => {
                let provider = &self.offered["renameProvider"];
                provider.is_object() || provider == true
            }
            Asked::Move { .. } => self.follows_move(&question.path),
        }
    }

    /// Returns whether the server wants to be asked which changes the move of a file brings.
    fn follows_move(&self, path: &Path) -> bool {
        let filters = &self.offered["workspace"]["fileOperations"]["willRename"]["filters"];
        let filters = filters.as_array().into_iter().flatten();
        let mut of_files = filters.filter(|filter| filter["pattern"]["matches"] != "folder");
        of_files
            .any(|filter| filter["pattern"]["glob"].as_str().is_some_and(|glob| question::takes(glob, path)))
    }

    /// Waits until the server no longer says that it reads the project.
    fn await_project(&self, deadline: Instant) -> Result<(), RequestError> {
        let until = deadline.min(Instant::now() + self.limits.reading);
        let late = |why: String| RequestError::refused(format!("it still reads the project ({why})"));
        match self.await_quiescence(until) {
            Err(RequestError::TimedOut) => return Err(late("it has not said that it is done".to_owned())),
            quiet => quiet?,
        }
        match self.process.wait(until, |inbox| inbox.in_progress.is_empty().then_some(())) {
            Err(RequestError::TimedOut) => {
                let said = self.process.with_inbox(|inbox| inbox.in_progress.values().next().cloned());
                Err(late(said.unwrap_or_default()))
            }
            done => done,
        }
    }

    /// Waits until the server has looked at each of the texts, if it is one that says so by its diagnostics: what it finds in
    /// the text of a file is known to all questions from then on.
    fn await_texts(&self, question: &Question, deadline: Instant) -> Result<(), RequestError> {
        if self.kind != Dialect::Plain || self.has_pull_diagnostics() {
            return Ok(());
        }
        let until = deadline.min(Instant::now() + self.limits.reading);
        for (path, _) in &question.texts {
            let Some(version) = self.documents.get(path).map(|document| document.version) else { continue };
            let looked_at = self.process.wait(until, |inbox| {
                let is_known = inbox.first_published(path, version).is_some()
                    || inbox.is_published_without_version(path);
                is_known.then_some(())
            });
            match looked_at {
                Err(RequestError::TimedOut) => {
                    let name = path.file_name().unwrap_or_default().display();
                    return Err(RequestError::refused(format!("it has not looked at {name} yet")));
                }
                known => known?,
            }
        }
        Ok(())
    }
}
