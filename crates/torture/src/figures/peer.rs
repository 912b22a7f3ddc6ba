//! Other servers that edit files. Which of them are there, and where, is told on the command line; how each is called
//! stands here.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use emend_testkit::Folder;
use serde_json::{Value, json};

use super::stdio::StdioServer;

/// How a server is called.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    /// The arguments before the workspace.
    arguments: &'static [&'static str],
    pub(super) tool: &'static str,
    /// The arguments of the tool for a path, an old text and a new one.
    pub(super) call: fn(&str, &str, &str) -> Value,
}

const KINDS: [Kind; 5] = [
    Kind {
        name: "server-filesystem",
        arguments: &[],
        tool: "edit_file",
        call: |path, old, new| json!({"path": path, "edits": [{"oldText": old, "newText": new}]}),
    },
    Kind {
        name: "rust-mcp-filesystem",
        arguments: &["--allow-write"],
        tool: "edit_file",
        call: |path, old, new| json!({"path": path, "edits": [{"oldText": old, "newText": new}]}),
    },
    Kind {
        name: "fast-filesystem-mcp",
        arguments: &["--allow"],
        tool: "fast_edit_block",
        call: |path, old, new| json!({"path": path, "old_text": old, "new_text": new, "expected_replacements": 1}),
    },
    Kind {
        name: "patch-file-mcp",
        arguments: &["--allowed-dir"],
        tool: "patch_file",
        call: |path, old, new| {
            let patch = format!("<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE");
            json!({"file_path": path, "patch_content": patch})
        },
    },
    Kind {
        name: "patchloom",
        arguments: &["mcp-server", "--cwd"],
        tool: "replace_text",
        call: |path, old, new| {
            let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
            json!({"path": name, "old": old, "new": new, "unique": true})
        },
    },
];

/// A server of this machine.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) kind: &'static Kind,
    command: Vec<String>,
}

impl Peer {
    /// Parses `NAME=COMMAND`. The arguments of the command are separated by spaces.
    pub(super) fn parse(written: &str) -> Result<Self> {
        let names = KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
        let (name, command) = written.split_once('=').context("a peer is written NAME=COMMAND")?;
        let kind = KINDS.iter().find(|kind| kind.name == name);
        let kind = kind.with_context(|| format!("there is no peer {name:?}, but {names}"))?;
        let command: Vec<String> = command.split_whitespace().map(Into::into).collect();
        ensure!(!command.is_empty(), "{name} has no command");
        Ok(Self { kind, command })
    }

    /// Starts the server for this workspace.
    pub(super) fn start(&self, folder: &Folder) -> Result<StdioServer> {
        let home = folder.beside("home");
        fs::create_dir_all(&home)?;
        let mut command = Command::new(&self.command[0]);
        command
            .args(&self.command[1..])
            .args(self.kind.arguments)
            .arg(folder.path())
            .current_dir(folder.path());
        command.env("HOME", home).env("NO_COLOR", "1");
        command.env("FASTMCP_CHECK_FOR_UPDATES", "off").env("FASTMCP_SHOW_CLI_BANNER", "false");
        StdioServer::start(&mut command).with_context(|| self.kind.name)
    }
}
