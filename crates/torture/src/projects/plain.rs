//! A plain client of a language server: it opens the files of a project, waits until nothing more comes, asks, and applies
//! what it is told as any editor would. It shares no code with what it is compared with.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::Tree;
use super::sources::{Language, Project, Symbol};

/// How long a server must be quiet to be at rest.
const REST: Duration = Duration::from_millis(1_500);
/// How long a plain client waits for anything.
const TIME: Duration = Duration::from_secs(60);

pub(super) struct PlainClient {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    language: Language,
    root: PathBuf,
    requests: u64,
}

impl Drop for PlainClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl PlainClient {
    pub(super) fn start(language: Language, root: &Path, search: &std::ffi::OsStr) -> Result<Self> {
        let command: &[&str] = match language {
            Language::Python => &["pyright-langserver", "--stdio"],
            Language::TypeScript => &["typescript-language-server", "--stdio"],
            Language::Go => &["gopls"],
            Language::C => &["clangd", "--background-index=false", "--log=error"],
        };
        let program =
            std::env::split_paths(search).map(|folder| folder.join(command[0])).find(|path| path.exists());
        let mut start = Command::new(program.with_context(|| format!("there is no {}", command[0]))?);
        start.args(&command[1..]).env("PATH", search).current_dir(root);
        let mut child = start.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let input = child.stdin.take().context("an input")?;
        let mut output = BufReader::new(child.stdout.take().context("an output")?);
        let (send, messages) = channel();
        thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        let mut client = Self { child, input, messages, language, root: root.to_owned(), requests: 0 };
        let capabilities = json!({
            "textDocument": {"rename": {"prepareSupport": false}, "publishDiagnostics": {}},
            "workspace": {"workspaceEdit": {"documentChanges": true}, "fileOperations": {"willRename": true}, "configuration": true,
                "workspaceFolders": true},
            "window": {"workDoneProgress": true},
        });
        let folders = json!([{"uri": client.uri(Path::new("")), "name": "project"}]);
        let params = json!({"processId": std::process::id(), "rootUri": client.uri(Path::new("")), "rootPath": root,
            "workspaceFolders": folders, "capabilities": capabilities});
        client.request("initialize", &params)?;
        client.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}))?;
        Ok(client)
    }

    /// Opens all files, and waits until the server is at rest.
    pub(super) fn open_all(&mut self, project: &Project) -> Result<()> {
        let mut sources: Vec<(&PathBuf, &Vec<u8>)> =
            project.files.iter().filter(|(path, _)| self.is_source(path)).collect();
        sources.sort();
        for (path, content) in sources {
            let text = String::from_utf8_lossy(content);
            let document =
                json!({"uri": self.uri(path), "languageId": self.language.id(), "version": 1, "text": text});
            self.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}))?;
        }
        let until = Instant::now() + TIME;
        while Instant::now() < until {
            match self.messages.recv_timeout(REST) {
                Ok(message) => self.react(&message)?,
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => bail!("the server has ended"),
            }
        }
        bail!("the server is never at rest")
    }

    /// Asks for the edit of a rename; `None` if the server refuses, or would change nothing.
    pub(super) fn rename(&mut self, symbol: &Symbol) -> Result<Option<Value>> {
        let position = json!({"line": symbol.line - 1, "character": symbol.column});
        let params = json!({"textDocument": {"uri": self.uri(&symbol.file)}, "position": position, "newName": symbol.new_name});
        Ok(self.request("textDocument/rename", &params).ok().filter(|edit| !changes(edit).is_empty()))
    }

    /// Asks which changes the move of a file brings.
    pub(super) fn will_rename(&mut self, from: &Path, to: &Path) -> Result<Option<Value>> {
        let params = json!({"files": [{"oldUri": self.uri(from), "newUri": self.uri(to)}]});
        let edit = self.request("workspace/willRenameFiles", &params)?;
        Ok((!edit.is_null()).then_some(edit))
    }

    fn is_source(&self, path: &Path) -> bool {
        path.extension().is_some_and(|ending| ending != "mod" && ending != "json")
    }

    fn uri(&self, path: &Path) -> String {
        format!("file://{}", self.root.join(path).display()).trim_end_matches('/').to_owned()
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let until = Instant::now() + TIME;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message =
                self.messages.recv_timeout(left).with_context(|| format!("{method} is not answered"))?;
            if message["id"] == id && message.get("method").is_none() {
                ensure!(message["error"].is_null(), "{method}: {}", message["error"]);
                return Ok(message["result"].clone());
            }
            self.react(&message)?;
        }
    }

    /// Answers what a server asks: it gets no configuration.
    fn react(&mut self, message: &Value) -> Result<()> {
        let Some(method) = message["method"].as_str().filter(|_| !message["id"].is_null()) else {
            return Ok(());
        };
        let result = match method {
            "workspace/configuration" => {
                json!(vec![Value::Null; message["params"]["items"].as_array().map_or(0, Vec::len)])
            }
            "workspace/workspaceFolders" => json!([{"uri": self.uri(Path::new("")), "name": "project"}]),
            _ => Value::Null,
        };
        self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len())?;
        Ok(self.input.flush()?)
    }
}

fn read(from: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if from.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            header => {
                if let Some(value) = header.strip_prefix("Content-Length:") {
                    length = value.trim().parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    from.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// Returns the edits of each file of an edit, in either of its forms.
fn changes(edit: &Value) -> Vec<(String, Vec<Value>)> {
    let list = |edits: &Value| edits.as_array().cloned().unwrap_or_default();
    let steps = edit["documentChanges"].as_array().into_iter().flatten();
    let named = steps.map(|step| {
        (step["textDocument"]["uri"].as_str().unwrap_or_default().to_owned(), list(&step["edits"]))
    });
    let mapped = edit["changes"].as_object().into_iter().flatten();
    let mapped = mapped.map(|(uri, edits)| (uri.clone(), list(edits)));
    named.chain(mapped).filter(|(_, edits)| !edits.is_empty()).collect()
}

/// Applies an edit to the files of a project.
pub(super) fn applied(root: &Path, files: &Tree, edit: &Value) -> Result<Tree> {
    let mut files = files.clone();
    for (uri, mut edits) in changes(edit) {
        let path = PathBuf::from(uri.trim_start_matches("file://"));
        let name = path.strip_prefix(root).with_context(|| format!("{uri} is outside"))?;
        let content = files.get_mut(name).with_context(|| format!("{uri} is no part"))?;
        let mut text = String::from_utf8(content.clone())?;
        let place = |edit: &Value, end: &str| {
            let number =
                |name: &str| usize::try_from(edit["range"][end][name].as_u64().unwrap_or(0)).unwrap_or(0);
            (number("line"), number("character"))
        };
        edits.sort_by_key(|edit| place(edit, "start"));
        for edit in edits.iter().rev() {
            let (start, end) = (offset(&text, place(edit, "start")), offset(&text, place(edit, "end")));
            text.replace_range(start..end, edit["newText"].as_str().unwrap_or_default());
        }
        *content = text.into_bytes();
    }
    Ok(files)
}

/// The byte at a line and a column in UTF-16, both from zero.
fn offset(text: &str, (line, column): (usize, usize)) -> usize {
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let mut units = 0;
    let found = text[start..].char_indices().find(|(_, sign)| {
        let is_there = units >= column;
        units += sign.len_utf16();
        is_there
    });
    found.map_or(text.len(), |(at, _)| start + at)
}
