//! A server that is ready: the documents that are open in it, and what it says of exactly the texts that it was told.
//!
//! Versions only grow, also across closing and opening again, so that what is published late of an older text is never
//! taken for what is said of a newer one.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lsp_server::ErrorCode;
use lsp_types::notification::{
    DidChangeTextDocument, DidChangeWatchedFiles, DidCloseTextDocument, DidOpenTextDocument,
    DidSaveTextDocument, Initialized,
};
use lsp_types::{
    DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, FileChangeType, FileEvent, InitializedParams,
    TextDocumentContentChangeEvent, TextDocumentIdentifier, TextDocumentItem,
    VersionedTextDocumentIdentifier,
};
use serde_json::{Value, json};

use crate::aftermath::{Changes, Diagnostic, Severity};
use crate::compare::{Carry, compare};
use crate::finding::{self, Finding, Units};
use crate::known::Kind;
use crate::process::{Failure, Process};
use crate::requests;
use crate::settings::Limits;
use crate::wire;

/// How many other open files are asked about after an edit, where a server tells only what it is asked.
const OTHERS: usize = 10;
/// How long a server is waited for that may have nothing to say.
const SILENCE: Duration = Duration::from_secs(5);
/// How long is waited before a question is put again that came at a bad moment.
const AGAIN: Duration = Duration::from_millis(50);

type Findings = Arc<Vec<Finding>>;

/// A server that has been initialized.
pub(crate) struct Session {
    process: Arc<Process>,
    kind: Kind,
    limits: Limits,
    units: Units,
    /// Whether it wants to be told of saving, and with the text.
    saving: Option<bool>,
    /// It publishes without saying of which version.
    is_unversioned: bool,
    documents: HashMap<PathBuf, Document>,
    version: i32,
    /// Whether it has answered for an edit. Before that, what it says of files that it was not told of is old.
    is_settled: bool,
}

struct Document {
    /// Of this text, and the order in which documents were used.
    version: i32,
    text: String,
    /// What it answered for this text, where nothing has changed since.
    answered: Option<Findings>,
}

impl Document {
    fn is_on_disk(&self, path: &Path) -> bool {
        let has_length = |found: std::fs::Metadata| found.is_file() && found.len() == self.text.len() as u64;
        path.symlink_metadata().is_ok_and(has_length)
            && std::fs::read(path).is_ok_and(|bytes| bytes == self.text.as_bytes())
    }
}

/// A file as an edit left it.
pub(crate) struct Edited<'a> {
    pub(crate) path: &'a Path,
    pub(crate) language: &'a str,
    pub(crate) before: Option<&'a str>,
    pub(crate) after: Option<&'a str>,
}

impl Session {
    pub(crate) fn initialize(
        process: Arc<Process>,
        kind: Kind,
        root: &Path,
        options: &Value,
        limits: Limits,
    ) -> Result<Self, Failure> {
        let deadline = Instant::now() + limits.initialize;
        let answer = process.ask("initialize", introduction(root, options), deadline)?;
        let offered = &answer["capabilities"];
        let chosen = serde_json::from_value(offered["positionEncoding"].clone()).ok();
        let save = &offered["textDocumentSync"]["save"];
        let session = Self {
            kind,
            limits,
            units: Units::chosen(chosen.as_ref()),
            saving: match save {
                // Only a server that says more than a number of what it wants can say that it wants this.
                Value::Null => offered["textDocumentSync"].is_number().then_some(false),
                Value::Bool(wanted) => wanted.then_some(false),
                save => Some(save["includeText"].as_bool().unwrap_or(false)),
            },
            is_unversioned: false,
            documents: HashMap::new(),
            version: 0,
            is_settled: false,
            process,
        };
        session.process.heard(|heard| heard.is_asked = offered["diagnosticProvider"].is_object());
        session.process.notify::<Initialized>(InitializedParams {})?;
        Ok(session)
    }

    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// Tells it of an edit. Yields what that changed.
    pub(crate) fn edit(&mut self, files: &[Edited<'_>], deadline: Instant) -> Result<Changes, Failure> {
        self.await_quiescence(deadline)?;
        for file in files {
            if let (Some(before), Some(_)) = (file.before, file.after) {
                self.show(file.path, file.language, before)?;
            }
        }
        let mut old: BTreeMap<PathBuf, Findings> = BTreeMap::new();
        for file in files.iter().filter(|file| file.before.is_some()) {
            let findings = match file.after {
                Some(_) => self.baseline(file.path, deadline)?,
                // One that is deleted is not opened for it.
                None => self.known(file.path).unwrap_or_default(),
            };
            old.insert(file.path.to_owned(), findings);
        }
        let others = self.others(files);
        self.tell(files)?;
        let mut found = Vec::new();
        for file in files {
            found.push(match file.after {
                Some(_) => self.findings(file.path, deadline)?,
                None => Findings::default(),
            });
        }
        if self.publishes() {
            self.await_more(deadline)?;
        }
        let mut changes = Changes::default();
        for (file, mut new) in files.iter().zip(found) {
            // The first pass of a file that is new to it may be an empty one, and there is none of before to answer to.
            if file.before.is_none() {
                new = self.latest(file.path).unwrap_or(new);
            }
            let count = |severity| new.iter().filter(|new| new.severity == severity).count();
            changes.errors += count(Severity::Error);
            changes.warnings += count(Severity::Warning);
            let carry = Carry::new(file.before.unwrap_or_default(), file.after.unwrap_or_default());
            let old = old.remove(file.path).unwrap_or_default();
            self.compare(file.path, &old, &new, &carry, &mut changes);
        }
        self.forget_answers(files);
        for (path, new) in self.others_now(files, &others, deadline)? {
            let old = match others.get(&path) {
                Some(old) => Arc::clone(old),
                // A server that has just been started tells what has been wrong for long.
                None if !self.is_settled => continue,
                None => Findings::default(),
            };
            self.compare(&path, &old, &new, &Carry::default(), &mut changes);
        }
        self.is_settled = true;
        changes.new.sort();
        Ok(changes)
    }

    /// What it says of these texts.
    pub(crate) fn ask(
        &mut self,
        texts: &[(PathBuf, String, String)],
        deadline: Instant,
    ) -> Result<Vec<Diagnostic>, Failure> {
        self.await_quiescence(deadline)?;
        // Whoever asks wants to know what is so now, whatever others have done that nobody was told of.
        self.forget_answers(&[]);
        if self.kind == Kind::Pyright {
            self.have_looked_again(texts)?;
        }
        let mut found = Vec::new();
        // Opening one may close another, so that each is asked about while it is open.
        for (path, language, text) in texts {
            self.show(path, language, text)?;
            let first = self.findings(path, deadline)?;
            let findings = self.latest(path).unwrap_or(first);
            found.extend(findings.iter().map(|finding| finding.told(path, Some(text), self.units)));
        }
        found.sort();
        Ok(found)
    }

    /// It does not watch its folders itself, but looks for files that it misses whenever one is said to be new.
    fn have_looked_again(&self, texts: &[(PathBuf, String, String)]) -> Result<(), Failure> {
        let Some((path, ..)) = texts.first() else { return Ok(()) };
        let changes = vec![FileEvent::new(uri(path)?, FileChangeType::CREATED)];
        self.process.notify::<DidChangeWatchedFiles>(DidChangeWatchedFilesParams { changes })
    }

    /// Files were changed by others. What was open is read again by the server itself, until it is told more.
    pub(crate) fn changed_outside(&mut self, paths: &[PathBuf]) -> Result<(), Failure> {
        let mut events = Vec::new();
        for path in paths {
            // Our own edits are heard of as well.
            if self.documents.get(path).is_some_and(|document| document.is_on_disk(path)) {
                continue;
            }
            let was_open = self.close(path)?;
            let kind = match (path.symlink_metadata().is_ok(), was_open) {
                (false, _) => FileChangeType::DELETED,
                (true, true) => FileChangeType::CHANGED,
                // Whether it was there before is not known, and only this has a server look for files that it misses.
                (true, false) => FileChangeType::CREATED,
            };
            events.extend(wire::uri(path).map(|uri| FileEvent::new(uri, kind)));
        }
        if events.is_empty() {
            return Ok(());
        }
        self.forget_answers(&[]);
        self.process.notify::<DidChangeWatchedFiles>(DidChangeWatchedFilesParams { changes: events })
    }

    /// What is known of the files that the edit does not name.
    fn others(&self, files: &[Edited<'_>]) -> BTreeMap<PathBuf, Findings> {
        if self.publishes() {
            return self.published_errors(files);
        }
        let is_other = |path: &Path| files.iter().all(|file| file.path != path);
        let mut open: Vec<_> = self.documents.iter().filter(|(path, _)| is_other(path)).collect();
        open.sort_unstable_by_key(|(_, document)| std::cmp::Reverse(document.version));
        let known = open.into_iter().filter_map(|(path, open)| Some((path.clone(), open.answered.clone()?)));
        known.take(OTHERS).collect()
    }

    /// What it says of them after the edit, as far as that is known by now.
    fn others_now(
        &mut self,
        files: &[Edited<'_>],
        old: &BTreeMap<PathBuf, Findings>,
        deadline: Instant,
    ) -> Result<BTreeMap<PathBuf, Findings>, Failure> {
        if self.publishes() {
            return Ok(self.published_errors(files));
        }
        let mut now = BTreeMap::new();
        for path in old.keys() {
            match self.findings(path, deadline) {
                Ok(findings) => drop(now.insert(path.clone(), findings)),
                Err(Failure::Ended(why)) => return Err(Failure::Ended(why)),
                // The answer for the edited files does not depend on these.
                Err(Failure::Late | Failure::Refused { .. }) => {}
            }
        }
        Ok(now)
    }

    /// Waits a moment for what else it publishes: there is no sign that nothing more will come.
    fn await_more(&self, deadline: Instant) -> Result<(), Failure> {
        let until = deadline.min(Instant::now() + self.limits.others);
        match self.process.wait(until, |_| None::<()>) {
            Err(Failure::Ended(why)) => Err(Failure::Ended(why)),
            _ => Ok(()),
        }
    }

    /// The errors that it has published of other files. Warnings come and go with its passes, whatever the edit.
    fn published_errors(&self, files: &[Edited<'_>]) -> BTreeMap<PathBuf, Findings> {
        let is_other = |path: &Path| files.iter().all(|file| file.path != path);
        let published: Vec<(PathBuf, Findings)> = self.process.heard(|heard| {
            let others = heard.published.iter().filter(|(path, _)| is_other(path));
            others.map(|(path, published)| (path.clone(), Arc::clone(&published.latest))).collect()
        });
        let is_error = |found: &&Finding| found.severity == Severity::Error;
        let errors = |found: &Findings| Arc::new(found.iter().filter(is_error).cloned().collect());
        published.into_iter().map(|(path, found)| (path, errors(&found))).collect()
    }

    fn compare(&self, path: &Path, old: &[Finding], new: &Findings, carry: &Carry, changes: &mut Changes) {
        let difference = compare(old, new.to_vec(), carry);
        let text = self.documents.get(path).map(|document| document.text.as_str());
        changes.gone += difference.gone;
        changes.new.extend(difference.new.iter().map(|new| new.told(path, text, self.units)));
    }

    fn publishes(&self) -> bool {
        self.kind != Kind::TypeScript && !self.is_asked()
    }

    fn is_asked(&self) -> bool {
        self.process.heard(|heard| heard.is_asked)
    }

    fn await_quiescence(&self, deadline: Instant) -> Result<(), Failure> {
        if self.kind != Kind::RustAnalyzer {
            return Ok(());
        }
        self.process.wait(deadline, |heard| (heard.is_quiescent == Some(true)).then_some(()))
    }

    /// Has a document open with this text.
    fn show(&mut self, path: &Path, language: &str, text: &str) -> Result<(), Failure> {
        if self.documents.get(path).is_some_and(|document| document.text == text) {
            return Ok(());
        }
        self.version += 1;
        let version = self.version;
        let uri = uri(path)?;
        let document = Document { version, text: text.to_owned(), answered: None };
        if self.documents.insert(path.to_owned(), document).is_some() {
            // The whole text is one of the changes that every server takes which takes any.
            let changes = vec![TextDocumentContentChangeEvent {
                range: None,
                range_length: None,
                text: text.to_owned(),
            }];
            return self.process.notify::<DidChangeTextDocument>(DidChangeTextDocumentParams {
                text_document: VersionedTextDocumentIdentifier { uri, version },
                content_changes: changes,
            });
        }
        self.process.heard(|heard| heard.open.insert(path.to_owned()));
        let text_document =
            TextDocumentItem { uri, language_id: language.to_owned(), version, text: text.to_owned() };
        self.process.notify::<DidOpenTextDocument>(DidOpenTextDocumentParams { text_document })?;
        self.close_surplus()
    }

    fn close_surplus(&mut self) -> Result<(), Failure> {
        while self.documents.len() > self.limits.documents.max(1) {
            let oldest = self.documents.iter().min_by_key(|(_, document)| document.version);
            let Some(oldest) = oldest.map(|(path, _)| path.clone()) else { return Ok(()) };
            self.close(&oldest)?;
        }
        Ok(())
    }

    /// Closes a document. Yields whether it was open.
    fn close(&mut self, path: &Path) -> Result<bool, Failure> {
        if self.documents.remove(path).is_none() {
            return Ok(false);
        }
        self.process.heard(|heard| {
            heard.open.remove(path);
            heard.published.remove(path);
        });
        let text_document = TextDocumentIdentifier { uri: uri(path)? };
        self.process.notify::<DidCloseTextDocument>(DidCloseTextDocumentParams { text_document })?;
        Ok(true)
    }

    /// Tells of an edit whose files are open with the old text.
    fn tell(&mut self, files: &[Edited<'_>]) -> Result<(), Failure> {
        let mut events = Vec::new();
        for file in files {
            let kind = match (file.before, file.after) {
                (Some(_), Some(after)) => {
                    self.show(file.path, file.language, after)?;
                    FileChangeType::CHANGED
                }
                (None, Some(_)) => FileChangeType::CREATED,
                (_, None) => {
                    self.close(file.path)?;
                    FileChangeType::DELETED
                }
            };
            events.push(FileEvent::new(uri(file.path)?, kind));
        }
        self.process.notify::<DidChangeWatchedFiles>(DidChangeWatchedFilesParams { changes: events })?;
        for file in files {
            let Some(after) = file.after else { continue };
            self.show(file.path, file.language, after)?;
            let Some(with_text) = self.saving else { continue };
            self.process.notify::<DidSaveTextDocument>(DidSaveTextDocumentParams {
                text_document: TextDocumentIdentifier { uri: uri(file.path)? },
                text: with_text.then(|| after.to_owned()),
            })?;
        }
        Ok(())
    }

    /// What it answered of other files may have changed with these.
    fn forget_answers(&mut self, files: &[Edited<'_>]) {
        for (path, document) in &mut self.documents {
            if files.iter().all(|file| file.path != path) {
                document.answered = None;
            }
        }
    }

    /// What it says of an open document before an edit. Of one that publishes only what is new to it, that may be what it
    /// said before.
    fn baseline(&mut self, path: &Path, deadline: Instant) -> Result<Findings, Failure> {
        match self.findings(path, deadline) {
            Err(Failure::Refused { .. }) if self.kind == Kind::Gopls => Ok(self.process.heard(|heard| {
                heard.published.get(path).map(|published| Arc::clone(&published.latest)).unwrap_or_default()
            })),
            findings => findings,
        }
    }

    /// What it says of an open document with the text that it has.
    fn findings(&mut self, path: &Path, deadline: Instant) -> Result<Findings, Failure> {
        if let Some(known) = self.known(path) {
            return Ok(known);
        }
        let Some(document) = self.documents.get(path) else {
            let message = "more files were changed at once than are kept open".to_owned();
            return Err(Failure::Refused { code: 0, message });
        };
        let version = document.version;
        let answered = if self.kind == Kind::TypeScript {
            self.ask_typescript(path, deadline)?
        } else {
            if !self.is_asked() {
                // It may say only now that it is to be asked, and then it publishes nothing.
                match self.await_published(path, version, deadline) {
                    Err(_) if self.is_asked() => {}
                    published => return published,
                }
            }
            self.ask_diagnostics(path, deadline)?
        };
        if let Some(document) = self.documents.get_mut(path) {
            document.answered = Some(Arc::clone(&answered));
        }
        Ok(answered)
    }

    /// What it has said of exactly this text already.
    fn known(&self, path: &Path) -> Option<Findings> {
        let document = self.documents.get(path)?;
        if self.publishes() {
            return self.process.heard(|heard| heard.published_of(path, document.version));
        }
        document.answered.clone()
    }

    /// What it has published last of exactly this text; none of one that is asked.
    fn latest(&self, path: &Path) -> Option<Findings> {
        let version = self.documents.get(path).filter(|_| self.publishes())?.version;
        self.process.heard(|heard| heard.latest_of(path, version))
    }

    fn await_published(&mut self, path: &Path, version: i32, deadline: Instant) -> Result<Findings, Failure> {
        if self.kind == Kind::Gopls {
            let soon = deadline.min(Instant::now() + SILENCE);
            return match self.await_said(path, version, soon) {
                Err(Failure::Late) => {
                    let message =
                        "it has published nothing of this text, as it may where nothing has changed";
                    Err(Failure::Refused { code: 0, message: message.to_owned() })
                }
                found => found,
            };
        }
        if !self.is_unversioned {
            let found = self.await_said(path, version, deadline);
            let is_late = found == Err(Failure::Late);
            if !is_late || !self.process.heard(|heard| heard.is_published_without_version(path)) {
                return found;
            }
            self.is_unversioned = true;
        }
        let message = "it does not say of which version of a file its diagnostics are".to_owned();
        Err(Failure::Refused { code: 0, message })
    }

    /// Waits until it has published something of this version, or says that it is to be asked.
    fn await_said(&self, path: &Path, version: i32, deadline: Instant) -> Result<Findings, Failure> {
        let said = self.process.wait(deadline, |heard| {
            heard.published_of(path, version).map(Some).or_else(|| heard.is_asked.then_some(None))
        });
        said?.ok_or_else(|| unexpected("it is to be asked"))
    }

    fn ask_diagnostics(&self, path: &Path, deadline: Instant) -> Result<Findings, Failure> {
        let params = json!({"textDocument": {"uri": uri(path)?}});
        loop {
            let answer = match self.process.ask("textDocument/diagnostic", params.clone(), deadline) {
                Err(Failure::Refused { code, .. }) if is_moment(code) && Instant::now() < deadline => {
                    let _ = self.process.wait(Instant::now() + AGAIN, |_| None::<()>);
                    continue;
                }
                answer => answer?,
            };
            let items = serde_json::from_value(answer["items"].clone());
            let items = items.map_err(|error| unexpected(&format!("its diagnostics are none: {error}")))?;
            return Ok(Arc::new(finding::findings(items)));
        }
    }

    /// Asks TypeScript's own server, which answers for the text that it has at that moment.
    fn ask_typescript(&self, path: &Path, deadline: Instant) -> Result<Findings, Failure> {
        let mut found = Vec::new();
        for command in ["syntacticDiagnosticsSync", "semanticDiagnosticsSync"] {
            let arguments = json!([command, {"file": uri(path)?}]);
            let params = json!({"command": "typescript.tsserverRequest", "arguments": arguments});
            let answer = self.process.ask("workspace/executeCommand", params, deadline)?;
            if !answer["body"].is_array() {
                return Err(unexpected(answer["message"].as_str().unwrap_or("tsserver has not answered")));
            }
            found.extend(finding::of_typescript(&answer["body"]));
        }
        Ok(Arc::new(found))
    }
}

fn unexpected(message: &str) -> Failure {
    Failure::Refused { code: 0, message: message.to_owned() }
}

/// Whether a refusal only says that something has just changed.
fn is_moment(code: i32) -> bool {
    [ErrorCode::ContentModified, ErrorCode::ServerCancelled, ErrorCode::RequestCanceled]
        .iter()
        .any(|moment| *moment as i32 == code)
}

fn uri(path: &Path) -> Result<lsp_types::Uri, Failure> {
    wire::uri(path).ok_or_else(|| unexpected("its name cannot be told"))
}

/// Who speaks, and what it understands.
fn introduction(root: &Path, options: &Value) -> Value {
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
                "publishDiagnostics": {"versionSupport": true, "relatedInformation": true},
                "diagnostic": {"dynamicRegistration": true, "relatedDocumentSupport": false},
            },
            "workspace": {
                "configuration": true,
                "didChangeWatchedFiles": {"dynamicRegistration": true},
                "workspaceFolders": true,
            },
            "window": {"workDoneProgress": true},
            "experimental": {"serverStatusNotification": true},
        },
    })
}
