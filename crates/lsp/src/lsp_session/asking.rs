//! Questions to an initialized server, asked only when it has read what the question is about.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use super::LspSession;
use crate::code_action::{Action, QUICK_FIX, WHOLE_FILE, What};
use crate::known::Dialect;
use crate::open_documents::uri;
use crate::place;
use crate::question::{self, Asked, Fix, Question, Said, Which};
use crate::server_process::{Inbox, RequestError};
use crate::workspace_edit::WorkspaceEdit;

/// The title of an action, and its edit or why there is none.
type Offered = (String, Result<WorkspaceEdit, String>);

/// For how many errors and warnings of a file a server is asked what it offers.
const PROBLEMS: usize = 30;
/// How many changes that a server offers are kept.
const FIXES: usize = 40;

impl LspSession {
    /// Puts a question. `None` if the server does not offer to answer such ones.
    pub(crate) fn ask(
        &mut self,
        question: &Question,
        language: impl Fn(&Path) -> String,
        deadline: Instant,
    ) -> Result<Option<Said>, RequestError> {
        if !self.offers(question) {
            return Ok(None);
        }
        self.await_project(deadline)?;
        self.close_changed(|path| question.texts.iter().any(|(own, _)| own == path))?;
        for (path, text) in &question.texts {
            self.documents.hold(path, &language(path), text)?;
        }
        self.await_texts(question, deadline)?;
        self.await_project(deadline)?;
        match &question.asked {
            Asked::Rename { offset, new_name } => {
                let mut params = self.params_at(question, *offset)?;
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
                Ok(Some(Said::Edit(edit)))
            }
            Asked::Move { to } => {
                let edit = self.edit_of_moves(&[&(question.path.clone(), to.clone())], deadline)?;
                Ok(Some(Said::Edit(edit)))
            }
            Asked::Places { offset, which } => {
                let mut params = self.params_at(question, *offset)?;
                if *which == Which::References {
                    params["context"] = json!({"includeDeclaration": true});
                }
                let sent = self.request(method(*which), &params, deadline)?;
                Ok(Some(Said::Places(place::places(&sent, self.units))))
            }
            Asked::Named(name) => {
                // Servers compare the name alone, and some with any part of it.
                let last = name.rsplit(['.', ':', '/', '#', ' ']).next().unwrap_or(name);
                let sent = self.request("workspace/symbol", &json!({"query": last}), deadline)?;
                Ok(Some(Said::Places(place::places_of_name(&sent, name, self.units))))
            }
            Asked::Fixes => Ok(Some(Said::Fixes(self.fixes(question, deadline)?))),
        }
    }

    fn params_at(&self, question: &Question, offset: usize) -> Result<Value, RequestError> {
        let place = self.units.position(question.text().unwrap_or_default(), offset);
        let position = json!({"line": place.line, "character": place.units});
        Ok(json!({"textDocument": {"uri": uri(&question.path)?}, "position": position}))
    }

    /// Asks what the server would change about each error and warning of a file, and in the file as a whole.
    fn fixes(&mut self, question: &Question, deadline: Instant) -> Result<Vec<Fix>, RequestError> {
        let (path, text) = (&question.path, question.text().unwrap_or_default());
        // Older ones do no harm: whatever is offered for them is an edit of the present text.
        let first = self.baseline(path, deadline)?;
        let diagnostics = self.latest_diagnostics(path).unwrap_or(first);
        let mut fixes: Vec<Fix> = Vec::new();
        for wrong in diagnostics.iter().take(PROBLEMS) {
            let Some(sent) = wrong.sent() else { continue };
            let of = wrong.to_diagnostic(path, Some(text), self.units);
            for (title, edit) in self.actions(path, &sent["range"], &[sent], &[QUICK_FIX], deadline)? {
                fixes.push(Fix { title, of: Some(of.clone()), edit });
            }
        }
        let end = self.units.position(text, text.len());
        let end = json!({"line": end.line, "character": end.units});
        let whole = json!({"start": {"line": 0, "character": 0}, "end": end});
        for (title, edit) in self.actions(path, &whole, &[], &WHOLE_FILE, deadline)? {
            fixes.push(Fix { title, of: None, edit });
        }
        let mut kept: Vec<Fix> = Vec::new();
        for fix in fixes {
            // What one change mends in several places is offered for each of them.
            let is_known = |known: &Fix| (&known.title, &known.edit) == (&fix.title, &fix.edit);
            let does_nothing = fix.edit.as_ref().is_ok_and(WorkspaceEdit::is_empty);
            if kept.len() < FIXES && !does_nothing && !kept.iter().any(is_known) {
                kept.push(fix);
            }
        }
        Ok(kept)
    }

    /// Asks for the actions of these kinds, each with its title and its edit, or why there is none.
    fn actions(
        &self,
        path: &Path,
        range: &Value,
        diagnostics: &[&Value],
        kinds: &[&str],
        deadline: Instant,
    ) -> Result<Vec<Offered>, RequestError> {
        let context = json!({"diagnostics": diagnostics, "only": kinds, "triggerKind": 1});
        let params = json!({"textDocument": {"uri": uri(path)?}, "range": range, "context": context});
        let sent = self.request("textDocument/codeAction", &params, deadline)?;
        let mut actions = Vec::new();
        for sent in sent.as_array().into_iter().flatten().take(FIXES) {
            let Some(mut action) = Action::read(sent, kinds, self.kind) else { continue };
            if action.what == What::Unresolved
                && self.offered["codeActionProvider"]["resolveProvider"] == true
            {
                let resolved = match self.request("codeAction/resolve", sent, deadline) {
                    // One that cannot be had says nothing about the others.
                    Err(RequestError::Refused { .. }) => continue,
                    resolved => resolved?,
                };
                let Some(now) = Action::read(&resolved, kinds, self.kind) else { continue };
                action = now;
            }
            let edit = match action.what {
                What::Edit(edit) => self.read_current(&edit),
                What::Command(command) => Err(format!("it would run the command {command}")),
                What::Unresolved => continue,
            };
            actions.push((action.title, edit));
        }
        Ok(actions)
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
        self.read_current(sent).map_err(RequestError::refused)
    }

    /// Reads an edit, if it is for the texts that the server has been sent.
    fn read_current(&self, sent: &Value) -> Result<WorkspaceEdit, String> {
        let is_old = |(path, version): (PathBuf, i64)| {
            self.documents.get(&path).is_some_and(|document| i64::from(document.version) != version)
        };
        match WorkspaceEdit::versions(sent).any(is_old) {
            true => Err("its answer is for another text of a file than it has".to_owned()),
            false => WorkspaceEdit::read(sent, self.units),
        }
    }

    /// Returns whether the server has said that it has read all of the project.
    pub(crate) fn says_when_complete(&self) -> bool {
        self.kind == Dialect::RustAnalyzer && !self.process.with_inbox(|inbox| inbox.has_failed)
    }

    fn offers(&self, question: &Question) -> bool {
        let provider = match &question.asked {
            Asked::Rename { .. } => "renameProvider",
            Asked::Move { .. } => return self.follows_move(&question.path),
            Asked::Places { which: Which::Definitions, .. } => "definitionProvider",
            Asked::Places { which: Which::References, .. } => "referencesProvider",
            Asked::Places { which: Which::Implementations, .. } => "implementationProvider",
            Asked::Named(_) => "workspaceSymbolProvider",
            Asked::Fixes => "codeActionProvider",
        };
        let offered = &self.offered[provider];
        offered.is_object() || *offered == true
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
    /// the text of a file is known to all questions from then on. One that has never published any is waited for once.
    fn await_texts(&mut self, question: &Question, deadline: Instant) -> Result<(), RequestError> {
        let says_nothing = |inbox: &mut Inbox| inbox.has_published_nothing();
        if self.kind != Dialect::Plain
            || self.has_pull_diagnostics()
            || self.publishes_nothing && self.process.with_inbox(says_nothing)
        {
            return Ok(());
        }
        // Some of the time is left for the question: this server may be one that says nothing.
        let now = Instant::now();
        let until = now + self.limits.reading.min(deadline.saturating_duration_since(now) * 3 / 4);
        for (path, _) in &question.texts {
            let Some(version) = self.documents.get(path).map(|document| document.version) else { continue };
            let looked_at = self.process.wait(until, |inbox| {
                let is_known = inbox.first_published(path, version).is_some()
                    || inbox.is_published_without_version(path);
                is_known.then_some(())
            });
            match looked_at {
                Err(RequestError::TimedOut) if self.process.with_inbox(says_nothing) => {
                    self.publishes_nothing = true;
                    return Ok(());
                }
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

/// Returns the request for such places.
fn method(which: Which) -> &'static str {
    match which {
        Which::Definitions => "textDocument/definition",
        Which::References => "textDocument/references",
        Which::Implementations => "textDocument/implementation",
    }
}
