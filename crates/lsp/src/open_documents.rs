//! The documents that are open in a server, each with exactly the text that it was sent.
//!
//! Versions only grow, also across closing and reopening, so that late diagnostics of an older text are never taken for
//! those of a newer one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::notification::{DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument};
use lsp_types::{
    DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    TextDocumentContentChangeEvent, TextDocumentIdentifier, TextDocumentItem,
    VersionedTextDocumentIdentifier,
};

use crate::raw_diagnostic::RawDiagnostics;
use crate::server_process::{RequestError, ServerProcess};
use crate::wire;

/// The documents that are open in a server.
pub(crate) struct OpenDocuments {
    process: Arc<ServerProcess>,
    /// How many documents may be open before the least recently changed one is closed.
    most: usize,
    documents: HashMap<PathBuf, Document>,
    version: i32,
}

/// An open document.
pub(crate) struct Document {
    /// The version of this text. It also gives the order in which documents changed.
    pub(crate) version: i32,
    pub(crate) text: String,
    /// The pulled diagnostics of this text, while nothing has changed since.
    pub(crate) pulled: Option<RawDiagnostics>,
}

impl Document {
    /// Returns whether the file on disk holds this text.
    pub(crate) fn is_on_disk(&self, path: &Path) -> bool {
        let has_length = |found: std::fs::Metadata| found.is_file() && found.len() == self.text.len() as u64;
        path.symlink_metadata().is_ok_and(has_length)
            && std::fs::read(path).is_ok_and(|bytes| bytes == self.text.as_bytes())
    }
}

impl OpenDocuments {
    pub(crate) fn new(process: Arc<ServerProcess>, most: usize) -> Self {
        Self { process, most, documents: HashMap::new(), version: 0 }
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&Document> {
        self.documents.get(path)
    }

    pub(crate) fn get_mut(&mut self, path: &Path) -> Option<&mut Document> {
        self.documents.get_mut(path)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&PathBuf, &Document)> {
        self.documents.iter()
    }

    /// Opens a document with this text, or changes the open one to it. Another one may be closed for it.
    pub(crate) fn sync(&mut self, path: &Path, language: &str, text: &str) -> Result<(), RequestError> {
        self.hold(path, language, text)?;
        self.close_surplus()
    }

    /// Opens a document with this text, or changes the open one to it. All others stay open.
    pub(crate) fn hold(&mut self, path: &Path, language: &str, text: &str) -> Result<(), RequestError> {
        if self.documents.get(path).is_some_and(|document| document.text == text) {
            return Ok(());
        }
        self.version += 1;
        let version = self.version;
        let uri = uri(path)?;
        let document = Document { version, text: text.to_owned(), pulled: None };
        if self.documents.insert(path.to_owned(), document).is_some() {
            // Every server that accepts changes accepts the whole text as one.
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
        self.process.with_inbox(|inbox| inbox.open.insert(path.to_owned()));
        let text_document =
            TextDocumentItem { uri, language_id: language.to_owned(), version, text: text.to_owned() };
        self.process.notify::<DidOpenTextDocument>(DidOpenTextDocumentParams { text_document })
    }

    fn close_surplus(&mut self) -> Result<(), RequestError> {
        while self.documents.len() > self.most {
            let oldest = self.documents.iter().min_by_key(|(_, document)| document.version);
            let Some(oldest) = oldest.map(|(path, _)| path.clone()) else { return Ok(()) };
            self.close(&oldest)?;
        }
        Ok(())
    }

    /// Closes a document, and returns whether it was open.
    pub(crate) fn close(&mut self, path: &Path) -> Result<bool, RequestError> {
        if self.documents.remove(path).is_none() {
            return Ok(false);
        }
        self.process.with_inbox(|inbox| {
            inbox.open.remove(path);
            inbox.published.remove(path);
        });
        let text_document = TextDocumentIdentifier { uri: uri(path)? };
        self.process.notify::<DidCloseTextDocument>(DidCloseTextDocumentParams { text_document })?;
        Ok(true)
    }

    /// Forgets the pulled diagnostics of all files but these, whose change may have changed those of the others.
    pub(crate) fn forget_pulled_but_of(&mut self, is_kept: impl Fn(&Path) -> bool) {
        for (path, document) in &mut self.documents {
            if !is_kept(path) {
                document.pulled = None;
            }
        }
    }
}

/// Returns the URI that names a path to a server.
pub(crate) fn uri(path: &Path) -> Result<lsp_types::Uri, RequestError> {
    wire::uri(path).ok_or_else(|| RequestError::refused("its name cannot be told"))
}
