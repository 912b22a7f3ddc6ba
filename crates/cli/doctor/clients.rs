//! Checks that every client that is configured to start Emend starts a program that exists.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::{Findings, Level};
use crate::init::clients::{Client, Scope};
use crate::init::system::System;
use crate::init::{entry, start};
use crate::program;

const ABOUT: &str = "clients";

pub(super) fn look(projects: &[PathBuf], findings: &mut Findings) {
    let mut starts = false;
    let system = System::here();
    for client in Client::value_variants() {
        let of_projects = projects
            .iter()
            .map(|project| (Some(project.as_path()), client.file(Scope::Project, project, &system)));
        let of_all = (None, client.file(Scope::Global, Path::new(""), &system));
        for (project, file) in of_projects.chain([of_all]) {
            starts |= file.is_some_and(|file| configured(*client, project, &file, findings));
        }
    }
    if starts {
        findings.add(
            ABOUT,
            Level::Note,
            "a client's own rules for files (what it asks about, or denies) do not see what an MCP server writes",
            "What holds for edits through Emend is Emend's policy: see docs/PROTECTED.md.",
        );
    } else {
        findings.add(
            ABOUT,
            Level::Note,
            "no client is configured to start Emend",
            "'emend init CLIENT' does that.",
        );
    }
}

/// Whether this file, of one project or of all, names Emend. Adds what is wrong with its entry to the findings.
fn configured(client: Client, project: Option<&Path>, file: &Path, findings: &mut Findings) -> bool {
    let scope = if project.is_some() { Scope::Project } else { Scope::Global };
    // A project may contain anything. Reading from a pipe would block.
    if !fs::metadata(file).is_ok_and(|there| there.is_file()) {
        return false;
    }
    let Ok(text) = fs::read_to_string(file) else { return false };
    let (name, path) = (client.name(), file.display());
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return false;
    }
    let entry = match entry::read(text, client.format(), client.key()) {
        Ok(entry) => entry,
        Err(unfit) => {
            let line = unfit.line.map(|line| format!(", line {line}")).unwrap_or_default();
            let what = format!("{name}: {path}{line}: {}", unfit.what);
            findings.add(ABOUT, Level::Warning, what, "Mend the file; the client cannot read it either.");
            return false;
        }
    };
    let Some(entry) = entry else { return false };
    let next = format!("'emend init {name}' writes one that starts this executable.");
    let Some(command) = start::program(&entry) else {
        findings.add(ABOUT, Level::Problem, format!("{name}: {path} names no command for Emend"), next);
        return true;
    };
    match program::meant_by(command) {
        _ if client.needs_path(scope) && Path::new(command).components().count() == 1 => {
            let what = format!("{name}: {path} starts '{command}', which a desktop program may not find");
            let flag = if client.file(Scope::Project, Path::new(""), &System::here()).is_some() {
                " --global"
            } else {
                ""
            };
            let next = format!("'emend init {name}{flag}' writes its path in full.");
            findings.add(ABOUT, Level::Warning, what, next);
        }
        Some(program) => findings.ok(ABOUT, format!("{name}: {path} starts {}", program.display())),
        None => {
            let what = format!("{name}: {path} starts '{command}', which is not there");
            findings.add(ABOUT, Level::Problem, what, next);
        }
    }
    let (folders, gone) = start::folders(&entry, project);
    for folder in &gone {
        // The server starts without these folders, unless they are all that it has.
        let level = if gone.len() < folders.len() { Level::Warning } else { Level::Problem };
        let what = format!("{name}: {path} names the folder {folder}, which is not there");
        findings.add(ABOUT, level, what, "Take it out of the entry's arguments, or put it back.");
    }
    true
}
