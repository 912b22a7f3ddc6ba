//! An initialized server, and its diagnostics of exactly the texts that it was sent. `asking` has the questions to it.

mod asking;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lsp_server::ErrorCode;
use lsp_types::notification::{DidChangeWatchedFiles, DidSaveTextDocument, Initialized};
use lsp_types::{
    DidChangeWatchedFilesParams, DidSaveTextDocumentParams, FileChangeType, FileEvent, InitializedParams,
    TextDocumentIdentifier,
};
use serde_json::{Value, json};

use crate::aftermath::{Diagnostic, DiagnosticChanges, Severity};
use crate::code_action;
use crate::compare::{LineMap, compare};
use crate::known::Dialect;
use crate::open_documents::{OpenDocuments, uri};
use crate::position::ColumnUnits;
use crate::raw_diagnostic::{self, RawDiagnostic, RawDiagnostics};
use crate::requests;
use crate::server_process::{RequestError, ServerProcess};
use crate::settings::ServerLimits;
use crate::wire;

/// About how many other open files a server with pull diagnostics is asked after an edit.
const MAX_OTHER_FILES: usize = 10;
/// How long to wait for a server that may publish nothing.
const PUBLISH_PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait before retrying a request that the server was too busy to answer.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// A server that has been initialized.
pub(crate) struct LspSession {
    process: Arc<ServerProcess>,
    kind: Dialect,
    limits: ServerLimits,
    units: ColumnUnits,
    /// The capabilities that the server has announced.
    offered: Value,
    /// Whether `didSave` includes the text; `None` if the server does not want it at all.
    save_includes_text: Option<bool>,
    /// Whether the server publishes diagnostics without a version.
    publishes_unversioned: bool,
    /// Whether the server was waited for in vain, when it had published no diagnostics of any file.
    publishes_nothing: bool,
    documents: OpenDocuments,
    /// Whether the server has answered for an edit. Until then, its diagnostics of other files may be older than the
    /// edit.
    has_answered_edit: bool,
}

/// A file before and after an edit.
pub(crate) struct EditedFile<'a> {
    pub(crate) path: &'a Path,
    pub(crate) language: &'a str,
    pub(crate) before: Option<&'a str>,
    pub(crate) after: Option<&'a str>,
}

impl LspSession {
    pub(crate) fn initialize(
        process: Arc<ServerProcess>,
        kind: Dialect,
        root: &Path,
        options: &Value,
        limits: ServerLimits,
    ) -> Result<Self, RequestError> {
        let deadline = Instant::now() + limits.initialize;
        let mut answer = process.request("initialize", initialize_params(root, options), deadline)?;
        let offered = answer["capabilities"].take();
        let chosen = serde_json::from_value(offered["positionEncoding"].clone()).ok();
        let save = &offered["textDocumentSync"]["save"];
        let session = Self {
            kind,
            units: ColumnUnits::from_encoding(chosen.as_ref()),
            save_includes_text: match save {
                // A server that describes its synchronization by a mere number cannot ask for `didSave`, so it gets it.
                Value::Null => offered["textDocumentSync"].is_number().then_some(false),
                Value::Bool(wanted) => wanted.then_some(false),
                save => Some(save["includeText"].as_bool().unwrap_or(false)),
            },
            publishes_unversioned: false,
            publishes_nothing: false,
            documents: OpenDocuments::new(Arc::clone(&process), limits.open_documents.max(1)),
            has_answered_edit: false,
            limits,
            process,
            offered,
        };
        let has_pull_diagnostics = session.offered["diagnosticProvider"].is_object();
        session.process.with_inbox(|inbox| inbox.has_pull_diagnostics = has_pull_diagnostics);
        session.process.notify::<Initialized>(InitializedParams {})?;
        Ok(session)
    }

    pub(crate) fn process(&self) -> &ServerProcess {
        &self.process
    }

    /// Notifies the server of an edit, and returns how its diagnostics changed.
    pub(crate) fn diagnose_edit(
        &mut self,
        files: &[EditedFile<'_>],
        deadline: Instant,
    ) -> Result<DiagnosticChanges, RequestError> {
        self.await_quiescence(deadline)?;
        for file in files {
            if let (Some(before), Some(_)) = (file.before, file.after) {
                self.documents.sync(file.path, file.language, before)?;
            }
        }
        let mut old: BTreeMap<PathBuf, RawDiagnostics> = BTreeMap::new();
        for file in files.iter().filter(|file| file.before.is_some()) {
            let diagnostics = match file.after {
                Some(_) => self.baseline(file.path, deadline)?,
                // A deleted file is not opened for this.
                None => self.known_diagnostics(file.path).unwrap_or_default(),
            };
            old.insert(file.path.to_owned(), diagnostics);
        }
        let others = self.other_diagnostics(files);
        self.notify_edit(files)?;
        let mut found = Vec::new();
        for file in files {
            found.push(match file.after {
                Some(_) => self.current_diagnostics(file.path, deadline)?,
                None => RawDiagnostics::default(),
            });
        }
        if self.publishes() {
            self.await_more(deadline)?;
        }
        let mut changes = DiagnosticChanges::default();
        for (file, mut new) in files.iter().zip(found) {
            // The first pass over a new file may be empty, and there are no older diagnostics to compare it with.
            if file.before.is_none() {
                new = self.latest_diagnostics(file.path).unwrap_or(new);
            }
            let count = |severity| new.iter().filter(|new| new.severity == severity).count();
            changes.errors += count(Severity::Error);
            changes.warnings += count(Severity::Warning);
            let line_map = LineMap::new(file.before.unwrap_or_default(), file.after.unwrap_or_default());
            let old = old.remove(file.path).unwrap_or_default();
            self.compare(file.path, &old, &new, &line_map, &mut changes);
        }
        self.documents.forget_pulled_but_of(|path| files.iter().any(|file| file.path == path));
        for (path, new) in self.other_diagnostics_now(files, &others, deadline)? {
            let old = match others.get(&path) {
                Some(old) => Arc::clone(old),
                // A server that has just started also publishes old errors.
                None if !self.has_answered_edit => continue,
                None => RawDiagnostics::default(),
            };
            self.compare(&path, &old, &new, &LineMap::default(), &mut changes);
        }
        self.has_answered_edit = true;
        changes.new.sort();
        Ok(changes)
    }

    /// Returns the diagnostics of these texts.
    pub(crate) fn diagnose(
        &mut self,
        texts: &[(PathBuf, String, String)],
        deadline: Instant,
    ) -> Result<Vec<Diagnostic>, RequestError> {
        self.await_quiescence(deadline)?;
        // A question concerns the present, and other programs may have changed files unnoticed.
        self.close_changed(|path| texts.iter().any(|(own, ..)| own == path))?;
        self.documents.forget_pulled_but_of(|_| false);
        if self.kind == Dialect::Pyright {
            self.prompt_rescan(texts)?;
        }
        let mut found = Vec::new();
        // Opening one may close another, so that each is asked about while it is open.
        for (path, language, text) in texts {
            self.documents.sync(path, language, text)?;
            let first = self.current_diagnostics(path, deadline)?;
            let diagnostics = self.latest_diagnostics(path).unwrap_or(first);
            found.extend(
                diagnostics.iter().map(|diagnostic| diagnostic.to_diagnostic(path, Some(text), self.units)),
            );
        }
        found.sort();
        Ok(found)
    }

    /// Makes Pyright look for missing imports again: it does not watch folders, but rescans when a file is reported
    /// as new.
    fn prompt_rescan(&self, texts: &[(PathBuf, String, String)]) -> Result<(), RequestError> {
        let Some((path, ..)) = texts.first() else { return Ok(()) };
        let changes = vec![FileEvent::new(uri(path)?, FileChangeType::CREATED)];
        self.process.notify::<DidChangeWatchedFiles>(DidChangeWatchedFilesParams { changes })
    }

    /// Closes the documents, but for these, whose files others have changed, whether or not that was noticed.
    fn close_changed(&mut self, is_kept: impl Fn(&Path) -> bool) -> Result<(), RequestError> {
        let others: Vec<PathBuf> =
            self.documents.iter().map(|(path, _)| path.clone()).filter(|path| !is_kept(path)).collect();
        self.notify_outside_changes(&others)
    }

    /// Notifies the server of files that others changed. Those that were open are closed, so that the server reads
    /// them from disk.
    pub(crate) fn notify_outside_changes(&mut self, paths: &[PathBuf]) -> Result<(), RequestError> {
        let mut events = Vec::new();
        for path in paths {
            // The watcher reports our own edits as well.
            if self.documents.get(path).is_some_and(|document| document.is_on_disk(path)) {
                continue;
            }
            let was_open = self.documents.close(path)?;
            let kind = match (path.symlink_metadata().is_ok(), was_open) {
                (false, _) => FileChangeType::DELETED,
                (true, true) => FileChangeType::CHANGED,
                // Whether the file existed before is unknown, and only `CREATED` makes a server search for it.
                (true, false) => FileChangeType::CREATED,
            };
            events.extend(wire::uri(path).map(|uri| FileEvent::new(uri, kind)));
        }
        if events.is_empty() {
            return Ok(());
        }
        self.documents.forget_pulled_but_of(|_| false);
        self.process.notify::<DidChangeWatchedFiles>(DidChangeWatchedFilesParams { changes: events })
    }

    /// Returns the known diagnostics of files that the edit does not name.
    fn other_diagnostics(&self, files: &[EditedFile<'_>]) -> BTreeMap<PathBuf, RawDiagnostics> {
        if self.publishes() {
            return self.published_errors(files);
        }
        let is_other = |path: &Path| files.iter().all(|file| file.path != path);
        let mut open: Vec<_> = self.documents.iter().filter(|(path, _)| is_other(path)).collect();
        open.sort_unstable_by_key(|(_, document)| std::cmp::Reverse(document.version));
        let known = open.into_iter().filter_map(|(path, open)| Some((path.clone(), open.pulled.clone()?)));
        known.take(MAX_OTHER_FILES).collect()
    }

    /// Returns the diagnostics of these other files after the edit, as far as they are known by now.
    fn other_diagnostics_now(
        &mut self,
        files: &[EditedFile<'_>],
        old: &BTreeMap<PathBuf, RawDiagnostics>,
        deadline: Instant,
    ) -> Result<BTreeMap<PathBuf, RawDiagnostics>, RequestError> {
        if self.publishes() {
            return Ok(self.published_errors(files));
        }
        let mut now = BTreeMap::new();
        for path in old.keys() {
            match self.current_diagnostics(path, deadline) {
                Ok(diagnostics) => drop(now.insert(path.clone(), diagnostics)),
                Err(RequestError::Ended(why)) => return Err(RequestError::Ended(why)),
                // The answer for the edited files does not depend on the other files.
                Err(RequestError::TimedOut | RequestError::Refused { .. }) => {}
            }
        }
        Ok(now)
    }

    /// Waits a moment for further published diagnostics, since no message says that there will be none.
    fn await_more(&self, deadline: Instant) -> Result<(), RequestError> {
        let until = deadline.min(Instant::now() + self.limits.other_files);
        match self.process.wait(until, |_| None::<()>) {
            Err(RequestError::Ended(why)) => Err(RequestError::Ended(why)),
            _ => Ok(()),
        }
    }

    /// Returns the published errors of other files. Warnings are left out because they come and go with a server's
    /// passes.
    fn published_errors(&self, files: &[EditedFile<'_>]) -> BTreeMap<PathBuf, RawDiagnostics> {
        let is_other = |path: &Path| files.iter().all(|file| file.path != path);
        let published: Vec<(PathBuf, RawDiagnostics)> = self.process.with_inbox(|inbox| {
            let others = inbox.published.iter().filter(|(path, _)| is_other(path));
            others.map(|(path, published)| (path.clone(), Arc::clone(&published.latest))).collect()
        });
        let is_error = |found: &&RawDiagnostic| found.severity == Severity::Error;
        let errors = |found: &RawDiagnostics| Arc::new(found.iter().filter(is_error).cloned().collect());
        published.into_iter().map(|(path, found)| (path, errors(&found))).collect()
    }

    fn compare(
        &self,
        path: &Path,
        old: &[RawDiagnostic],
        new: &RawDiagnostics,
        line_map: &LineMap,
        changes: &mut DiagnosticChanges,
    ) {
        let difference = compare(old, new.to_vec(), line_map);
        let text = self.documents.get(path).map(|document| document.text.as_str());
        changes.gone += difference.gone;
        changes.new.extend(difference.new.iter().map(|new| new.to_diagnostic(path, text, self.units)));
    }

    fn publishes(&self) -> bool {
        self.kind != Dialect::TypeScript && !self.has_pull_diagnostics()
    }

    fn has_pull_diagnostics(&self) -> bool {
        self.process.with_inbox(|inbox| inbox.has_pull_diagnostics)
    }

    fn await_quiescence(&self, deadline: Instant) -> Result<(), RequestError> {
        if self.kind != Dialect::RustAnalyzer {
            return Ok(());
        }
        self.process.wait(deadline, |inbox| (inbox.is_quiescent == Some(true)).then_some(()))
    }

    /// Sends the notifications of an edit whose files are open with the old text.
    fn notify_edit(&mut self, files: &[EditedFile<'_>]) -> Result<(), RequestError> {
        let mut events = Vec::new();
        for file in files {
            let kind = match (file.before, file.after) {
                (Some(_), Some(after)) => {
                    self.documents.sync(file.path, file.language, after)?;
                    FileChangeType::CHANGED
                }
                (None, Some(_)) => FileChangeType::CREATED,
                (_, None) => {
                    self.documents.close(file.path)?;
                    FileChangeType::DELETED
                }
            };
            events.push(FileEvent::new(uri(file.path)?, kind));
        }
        self.process.notify::<DidChangeWatchedFiles>(DidChangeWatchedFilesParams { changes: events })?;
        for file in files {
            let Some(after) = file.after else { continue };
            self.documents.sync(file.path, file.language, after)?;
            let Some(with_text) = self.save_includes_text else { continue };
            self.process.notify::<DidSaveTextDocument>(DidSaveTextDocumentParams {
                text_document: TextDocumentIdentifier { uri: uri(file.path)? },
                text: with_text.then(|| after.to_owned()),
            })?;
        }
        Ok(())
    }

    /// Returns the diagnostics of an open document before an edit. For a server that publishes only changes, these
    /// may be those of an earlier version.
    fn baseline(&mut self, path: &Path, deadline: Instant) -> Result<RawDiagnostics, RequestError> {
        match self.current_diagnostics(path, deadline) {
            Err(RequestError::Refused { .. }) if self.kind == Dialect::Gopls => {
                Ok(self.process.with_inbox(|inbox| {
                    inbox
                        .published
                        .get(path)
                        .map(|published| Arc::clone(&published.latest))
                        .unwrap_or_default()
                }))
            }
            diagnostics => diagnostics,
        }
    }

    /// Returns the diagnostics of an open document with its present text, and waits for them if need be.
    fn current_diagnostics(
        &mut self,
        path: &Path,
        deadline: Instant,
    ) -> Result<RawDiagnostics, RequestError> {
        if let Some(known) = self.known_diagnostics(path) {
            return Ok(known);
        }
        let Some(document) = self.documents.get(path) else {
            return Err(RequestError::refused("more files were changed at once than are kept open"));
        };
        let version = document.version;
        let answered = if self.kind == Dialect::TypeScript {
            self.request_from_tsserver(path, deadline)?
        } else {
            if !self.has_pull_diagnostics() {
                // The server may register for pull diagnostics only now, and then publishes nothing.
                match self.await_published(path, version, deadline) {
                    Err(_) if self.has_pull_diagnostics() => {}
                    published => return published,
                }
            }
            self.pull_diagnostics(path, deadline)?
        };
        if let Some(document) = self.documents.get_mut(path) {
            document.pulled = Some(Arc::clone(&answered));
        }
        Ok(answered)
    }

    /// Returns the diagnostics of exactly this text, if they have arrived already.
    fn known_diagnostics(&self, path: &Path) -> Option<RawDiagnostics> {
        let document = self.documents.get(path)?;
        if self.publishes() {
            return self.process.with_inbox(|inbox| inbox.first_published(path, document.version));
        }
        document.pulled.clone()
    }

    /// Returns the diagnostics published last for exactly this text; `None` for a server with pull diagnostics.
    fn latest_diagnostics(&self, path: &Path) -> Option<RawDiagnostics> {
        let version = self.documents.get(path).filter(|_| self.publishes())?.version;
        self.process.with_inbox(|inbox| inbox.latest_published(path, version))
    }

    fn await_published(
        &mut self,
        path: &Path,
        version: i32,
        deadline: Instant,
    ) -> Result<RawDiagnostics, RequestError> {
        if self.kind == Dialect::Gopls {
            let soon = deadline.min(Instant::now() + PUBLISH_PATIENCE);
            return match self.await_publication(path, version, soon) {
                Err(RequestError::TimedOut) => Err(RequestError::refused(
                    "it has published nothing of this text, as it may where nothing has changed",
                )),
                found => found,
            };
        }
        if !self.publishes_unversioned {
            let found = self.await_publication(path, version, deadline);
            let is_late = found == Err(RequestError::TimedOut);
            if !is_late || !self.process.with_inbox(|inbox| inbox.is_published_without_version(path)) {
                return found;
            }
            self.publishes_unversioned = true;
        }
        Err(RequestError::refused("it does not say of which version of a file its diagnostics are"))
    }

    /// Waits until diagnostics of this version are published, or the server registers for pull diagnostics.
    fn await_publication(
        &self,
        path: &Path,
        version: i32,
        deadline: Instant,
    ) -> Result<RawDiagnostics, RequestError> {
        let said = self.process.wait(deadline, |inbox| {
            inbox
                .first_published(path, version)
                .map(Some)
                .or_else(|| inbox.has_pull_diagnostics.then_some(None))
        });
        said?.ok_or_else(|| RequestError::refused("it is to be asked"))
    }

    fn pull_diagnostics(&self, path: &Path, deadline: Instant) -> Result<RawDiagnostics, RequestError> {
        let params = json!({"textDocument": {"uri": uri(path)?}});
        let mut answer = self.request("textDocument/diagnostic", &params, deadline)?;
        let items = serde_json::from_value(answer["items"].take());
        let items =
            items.map_err(|error| RequestError::refused(format!("its diagnostics are none: {error}")))?;
        Ok(Arc::new(raw_diagnostic::diagnostics_from_lsp(items)))
    }

    /// Sends a request, and again while the server answers that something has just changed.
    fn request(&self, method: &str, params: &Value, deadline: Instant) -> Result<Value, RequestError> {
        loop {
            match self.process.request(method, params.clone(), deadline) {
                Err(RequestError::Refused { code, .. })
                    if is_transient(code) && Instant::now() < deadline =>
                {
                    let _ = self.process.wait(Instant::now() + RETRY_DELAY, |_| None::<()>);
                }
                answer => return answer,
            }
        }
    }

    /// Asks TypeScript's own server, which answers for the text that it has at the moment.
    fn request_from_tsserver(&self, path: &Path, deadline: Instant) -> Result<RawDiagnostics, RequestError> {
        let mut found = Vec::new();
        for command in ["syntacticDiagnosticsSync", "semanticDiagnosticsSync"] {
            let arguments = json!([command, {"file": uri(path)?}]);
            let params = json!({"command": "typescript.tsserverRequest", "arguments": arguments});
            let answer = self.process.request("workspace/executeCommand", params, deadline)?;
            if !answer["body"].is_array() {
                return Err(RequestError::refused(
                    answer["message"].as_str().unwrap_or("tsserver has not answered"),
                ));
            }
            found.extend(raw_diagnostic::diagnostics_from_tsserver(&answer["body"]));
        }
        Ok(Arc::new(found))
    }
}

/// Returns whether an error only means that something has just changed, so that the request may be retried.
fn is_transient(code: i32) -> bool {
    [ErrorCode::ContentModified, ErrorCode::ServerCancelled, ErrorCode::RequestCanceled]
        .iter()
        .any(|moment| *moment as i32 == code)
}

/// Returns the parameters of `initialize`: who the client is, and what it supports.
fn initialize_params(root: &Path, options: &Value) -> Value {
    json!({
        "processId": std::process::id(),
        "clientInfo": {"name": "emend", "version": env!("CARGO_PKG_VERSION")},
        "rootPath": root,
        "rootUri": wire::uri(root),
        "workspaceFolders": requests::folders(root),
        "initializationOptions": options,
        "capabilities": {
            "general": {"positionEncodings": ["utf-8", "utf-16"]},
            "textDocument": {
                "synchronization": {"didSave": true},
                "publishDiagnostics": {"versionSupport": true, "relatedInformation": true, "dataSupport": true},
                "diagnostic": {"dynamicRegistration": true, "relatedDocumentSupport": false},
                "rename": {"prepareSupport": true},
                "definition": {},
                "references": {},
                "implementation": {},
                "codeAction": {
                    "codeActionLiteralSupport": {"codeActionKind": {"valueSet": code_action::KINDS}},
                    "resolveSupport": {"properties": ["edit"]},
                    "dataSupport": true,
                    "disabledSupport": true,
                },
            },
            "workspace": {
                "workspaceEdit": {"documentChanges": true, "resourceOperations": ["rename"]},
                "fileOperations": {"willRename": true},
                "symbol": {},
                "configuration": true,
                "didChangeWatchedFiles": {"dynamicRegistration": true},
                "workspaceFolders": true,
            },
            "window": {"workDoneProgress": true},
            "experimental": {"serverStatusNotification": true},
        },
    })
}
