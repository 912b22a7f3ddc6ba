//! Checks that every client that is configured to start Emend starts a program that exists, that a client whose own edit
//! tools are gone has Emend's, and which of these its model sees.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::{Findings, Level};
use crate::init::claude_code::OwnFile;
use crate::init::clients::{Client, Scope, Setting};
use crate::init::system::System;
use crate::init::{entry, start};
use crate::program;

const ABOUT: &str = "clients";

pub(super) fn look(projects: &[PathBuf], findings: &mut Findings) {
    let system = System::here();
    let own = OwnFile::read(&system);
    let mut starts = false;
    for client in Client::value_variants() {
        let mut starts_it = *client == Client::ClaudeCode && own.has_emend();
        let of_projects = projects
            .iter()
            .map(|project| (Some(project.as_path()), client.file(Scope::Project, project, &system)));
        let of_all = (None, client.file(Scope::Global, Path::new(""), &system));
        for (project, file) in of_projects.chain([of_all]) {
            starts_it |= file.is_some_and(|file| configured(*client, project, &file, findings));
        }
        if starts_it && *client == Client::ClaudeCode {
            loaded_tools(findings);
        }
        starts |= starts_it;
        for project in projects.iter().map(|project| Some(project.as_path())).chain([None]) {
            tools(*client, project, (&own, &system), findings);
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

/// Adds what is wrong with the edit tools of a client, in one project or in all.
fn tools(
    client: Client,
    project: Option<&Path>,
    (own, system): (&OwnFile, &System),
    findings: &mut Findings,
) {
    let (name, preference) = (client.name(), client.preference());
    let project = project.map(|project| project.canonicalize().unwrap_or_else(|_| project.to_owned()));
    let (scope, flag) = if project.is_some() { (Scope::Project, "") } else { (Scope::Global, " --global") };
    let here = project.as_deref().unwrap_or(Path::new(""));
    let is_in_entry = |scope| {
        let text = client.file(scope, here, system).and_then(|file| read(&file));
        text.is_some_and(|text| matches!(entry::read(&text, client.format(), client.key()), Ok(Some(_))))
    };
    let is_in_own_file = client == Client::ClaudeCode
        && (own.has_emend() || project.as_ref().is_some_and(|project| own.has_emend_in(project)));
    let has_emend = is_in_own_file || is_in_entry(scope) || is_in_entry(Scope::Global);
    let file = preference.file.of(scope, here, system);
    let Some((file, text)) = file.and_then(|file| Some((file.display().to_string(), read(&file)?))) else {
        return;
    };
    let has = |settings: &[Setting]| settings.iter().any(|setting| entry::has_setting(&text, setting));
    if has(preference.denies) && !has_emend {
        let what = format!("{name}: {file} takes its own edit tools away, and it does not start Emend");
        let next = format!("'emend init {name}{flag}' adds Emend; or take the setting out of {file}.");
        findings.add(ABOUT, Level::Warning, what, next);
    }
    if client == Client::GeminiCli && has(preference.denies) && has_emend {
        let what = format!("{name}: with -p and --approval-mode default it lacks Emend's write_file");
        let next = "Use --approval-mode auto_edit there, or let the model create files with apply_patch.";
        findings.add(ABOUT, Level::Note, what, next);
    }
    if client != Client::ClaudeCode {
        return;
    }
    if let Some(project) = project.filter(|project| has(preference.allows) && !own.trusts(project)) {
        let project = project.display();
        let what =
            format!("{name}: it does not trust {project} yet, so it ignores the tools that {file} allows");
        let next = format!("Start 'claude' in {project} once and say that you trust the folder.");
        findings.add(ABOUT, Level::Warning, what, next);
    }
    let hook = entry::hook(&text);
    if let Some(program) = hook.as_deref().and_then(entry::program_of_hook)
        && program::meant_by(program).is_none()
    {
        let what = format!("{name}: the hook in {file} starts '{program}', which is not there");
        findings.add(ABOUT, Level::Warning, what, format!("'emend init {name}{flag}' corrects it."));
    }
}

/// Says which of Emend's tools Claude Code shows its model at once.
fn loaded_tools(findings: &mut Findings) {
    let name = Client::ClaudeCode.name();
    if std::env::var_os("ENABLE_TOOL_SEARCH").is_some_and(|value| value == "false") {
        let what =
            format!("{name}: it shows its model all tools of Emend, since ENABLE_TOOL_SEARCH is false");
        return findings.ok(ABOUT, what);
    }
    let what = format!(
        "{name}: it shows its model read_file, str_replace, apply_patch, edit_preview, write_file and undo_edit at once, \
         and Emend's other tools after a search"
    );
    let next =
        "Nothing has to be done. ENABLE_TOOL_SEARCH=false shows all tools at once, which costs more tokens.";
    findings.add(ABOUT, Level::Note, what, next);
}

/// The text of a file of a client, without the mark at its beginning; `None` if there is none.
fn read(file: &Path) -> Option<String> {
    // A project may contain anything. Reading from a pipe would block.
    fs::metadata(file).ok().filter(fs::Metadata::is_file)?;
    let text = fs::read_to_string(file).ok()?;
    let text = text.trim_start_matches('\u{feff}');
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// Whether this file, of one project or of all, names Emend. Adds what is wrong with its entry to the findings.
fn configured(client: Client, project: Option<&Path>, file: &Path, findings: &mut Findings) -> bool {
    let scope = if project.is_some() { Scope::Project } else { Scope::Global };
    let Some(text) = read(file) else { return false };
    let (name, path) = (client.name(), file.display());
    let entry = match entry::read(&text, client.format(), client.key()) {
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
