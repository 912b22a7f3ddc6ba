//! What a client's files should say: with an entry for Emend, with what makes the client prefer it, or without both.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use serde_json::{Value, json};

use super::claude_code::OwnFile;
use super::clients::{Client, Scope, Setting};
use super::entry::{self, Entry, NAME};
use super::file::ClientFile;
use super::record::Record;
use super::removal::{self, Kind};
use super::start::{self, Start};
use super::system::{self, System};
use super::{Arguments, Change, Plan, rules};
use crate::exit::Stop;
use crate::program::{self, Naming};
use crate::workspace::{is_too_much, state_folder};
use crate::{configured_folders, served};

/// A client, and what Emend is for it here.
pub(super) struct SetUp {
    pub(super) client: Client,
    pub(super) state: Option<PathBuf>,
    scope: Scope,
    project: PathBuf,
    /// The system that the client runs on.
    system: System,
    start: Start,
    /// Whether an entry without a folder serves the folder in which the client works.
    follows: bool,
}

/// A file with the content that it should have.
struct Draft {
    file: ClientFile,
    body: String,
}

impl SetUp {
    pub(super) fn new(arguments: &Arguments) -> Result<Self, Stop> {
        let client = arguments.client;
        let system = System::new(arguments.system, arguments.home.as_deref());
        // Windows has other paths, and the file of a project is for everybody; so its clients get what holds for all projects.
        let is_through_wsl = system.is_beside_windows();
        let here = std::env::current_dir().context("the working folder cannot be read")?;
        let project = match &arguments.workspace {
            Some(folder) => folder
                .canonicalize()
                .map_err(|error| Stop::usage(format!("the folder {}: {error}", folder.display())))?,
            None => here,
        };
        let scopes: &[Scope] = match (arguments.global || is_through_wsl, arguments.project) {
            (true, true) => {
                return Err(Stop::usage(
                    "for a client on Windows, only what holds for all projects can be written from here",
                ));
            }
            (true, _) => &[Scope::Global],
            (_, true) => &[Scope::Project],
            _ => &[Scope::Project, Scope::Global],
        };
        let has_more = arguments.prefer || arguments.remove || client.has_hook();
        let has_file = |scope: &Scope| {
            client.file(*scope, &project, &system).is_some()
                || has_more && client.preference().file.of(*scope, &project, &system).is_some()
        };
        let scope = *scopes
            .iter()
            .find(|scope| has_file(scope))
            .ok_or_else(|| Stop::usage(no_file(client, &system)))?;
        let by_name = client.project_folder().filter(|_| !is_through_wsl);
        if arguments.workspace.is_none()
            && (scope == Scope::Project || by_name.is_none())
            && is_too_much(&project)
        {
            let message =
                format!("{} is too much to open; name the project with --workspace", project.display());
            return Err(Stop::usage(message));
        }
        let is_by_name = scope == Scope::Project || arguments.workspace.is_none();
        let folder = match by_name.filter(|_| is_by_name) {
            Some(name) => name.to_owned(),
            None => project.to_str().map(system::as_written).ok_or_else(|| {
                Stop::usage(format!(
                    "the folder {} is not Unicode, which the file must be",
                    project.display()
                ))
            })?,
        };
        let follows = scope == Scope::Global && client.starts_in_place() && !is_through_wsl;
        let in_full = client.needs_path(scope) || is_through_wsl;
        let naming = if in_full { Naming::InFull } else { Naming::Short };
        let mut command = system::as_written(&program::command(naming)?);
        let mut before = Vec::new();
        if is_through_wsl {
            let distribution = std::env::var("WSL_DISTRO_NAME").ok();
            before = system::through_wsl(&command, distribution.as_deref());
            command = "wsl.exe".into();
        }
        let start = Start {
            command,
            before,
            naming,
            shape: client.shape(),
            kind: client.kind(),
            flags: client.flags(),
            folder,
            project: (scope == Scope::Project).then(|| project.clone()),
            follows: follows && arguments.workspace.is_none(),
        };
        let state = arguments.state.clone().or_else(state_folder);
        Ok(Self { client, state, scope, project, system, start, follows })
    }

    /// Plans the entry, and with `prefers` also what makes the client use Emend's tools.
    pub(super) fn addition(&self, prefers: bool) -> Result<Plan, Stop> {
        let preference = self.client.preference();
        let mut drafts = Vec::new();
        let mut remarks = Vec::new();
        let mut gone = Vec::new();
        // The entry is written first: a client that is not to use its own tools needs Emend's.
        match self.client.file(self.scope, &self.project, &self.system) {
            None if self.client == Client::ClaudeCode && OwnFile::read(&self.system).has_emend() => {}
            None => return Err(Stop::usage(no_file(self.client, &self.system))),
            Some(path) => {
                let draft = self.draft(&mut drafts, &path)?;
                gone = self.gone(&draft.file);
                let extra = preference.entry.iter().filter(|_| prefers);
                draft.body = self.with_entry(draft, extra.map(|(name, it)| (*name, it.value())).collect())?;
                remarks.extend(self.remarks(draft));
            }
        }
        let settings = preference.file.of(self.scope, &self.project, &self.system);
        if let Some(path) = settings.as_ref().filter(|_| self.client.has_hook()) {
            let draft = self.draft(&mut drafts, path)?;
            draft.body = self.with_hook(draft)?;
        }
        if let Some(path) = settings.filter(|_| prefers && preference.settings().next().is_some()) {
            let draft = self.draft(&mut drafts, &path)?;
            for (at, wanted) in preference.settings() {
                let put = entry::put_setting(&draft.body, at, *wanted);
                draft.body = put.map_err(|why| draft.file.unfit(why))?;
            }
        }
        let rules = preference.rules.of(self.scope, &self.project, &self.system);
        if let Some(path) = rules.filter(|_| prefers) {
            let draft = self.draft(&mut drafts, &path)?;
            draft.body = rules::put(&draft.body, preference.rules_head);
        }
        if prefers && !preference.remark.is_empty() {
            remarks.push(preference.remark.to_owned());
        }
        let shown = drafts.first().map(|draft| draft.file.shown()).unwrap_or_default();
        let idle = match prefers {
            true => format!("{} prefers Emend already.", self.client.name()),
            false => format!("{shown} has Emend already, with this folder."),
        };
        let mut changes = Vec::new();
        for Draft { file, body } in drafts {
            // What is empty, and stays so, is not written.
            if file.body() != body {
                let content = Some(file.with_body(&body));
                changes.push(Change { content, record: self.record(&file)?, file });
            }
        }
        Ok(Plan { changes, idle, gone, remarks })
    }

    /// Plans to take back what was put there.
    pub(super) fn removal(&self) -> Result<Plan, Stop> {
        let preference = self.client.preference();
        // The entry goes last of the settings: a client without it needs its own tools.
        let places = [
            (
                preference.file.of(self.scope, &self.project, &self.system),
                Kind::Settings(self.client.format()),
            ),
            (self.client.file(self.scope, &self.project, &self.system), Kind::Settings(self.client.format())),
            (
                preference.rules.of(self.scope, &self.project, &self.system),
                Kind::Rules { head: preference.rules_head },
            ),
        ];
        let mut changes: Vec<Change> = Vec::new();
        let mut seen = Vec::new();
        let mut remarks = Vec::new();
        for (path, kind) in places.into_iter().filter_map(|(path, kind)| Some((path?, kind))) {
            let file = self.read(&path)?;
            if seen.contains(&file.path) {
                continue;
            }
            seen.push(file.path.clone());
            if let Some(other) =
                self.other_reader(&file).filter(|_| kind != Kind::Settings(self.client.format()))
            {
                if rules::is_in(file.body()) {
                    remarks.push(format!(
                        "{}: the paragraph about Emend stays, since {} reads this file too and has Emend.",
                        file.shown(),
                        other.name()
                    ));
                }
                continue;
            }
            let record = self.record(&file)?;
            let taken = removal::take_back(file.text.as_deref(), &record.steps, kind);
            let taken = taken.map_err(|why| file.unfit(why))?;
            for kept in taken.kept {
                remarks.push(format!("{}: {kept} has been changed since, so it stays.", file.shown()));
            }
            let has_hook = taken.text.as_deref().and_then(entry::hook).is_some();
            let is_unknown = record.steps.is_empty() && kind == Kind::Settings(self.client.format());
            let is_named = names_emend(self.client, &file) || self.prefers_emend(&file, &path) || has_hook;
            if has_hook && !is_unknown {
                remarks.push(format!("{}: the hook has been changed since, so it stays.", file.shown()));
            }
            if is_unknown && is_named {
                remarks.push(format!(
                    "{} names Emend, but this command did not write that, as far as its records go. So it stays. If you do \
                     not want it, take it out by hand.",
                    file.shown()
                ));
            }
            if taken.text != file.text {
                changes.push(Change { content: taken.text, file, record });
            }
        }
        let idle = format!("Nothing of what 'emend init {}' put there is left.", self.client.name());
        Ok(Plan { changes, idle, gone: Vec::new(), remarks })
    }

    /// Returns another client that reads this file of rules and has Emend.
    fn other_reader(&self, file: &ClientFile) -> Option<Client> {
        let is_other = |other: &&Client| **other != self.client;
        let has_emend = |other: &&Client| {
            let entry =
                other.file(self.scope, &self.project, &self.system).and_then(|path| self.read(&path).ok());
            entry.is_some_and(|file| names_emend(**other, &file))
        };
        let reads = |other: &&Client| {
            let rules = other.preference().rules.of(self.scope, &self.project, &self.system);
            rules.and_then(|path| self.read(&path).ok()).is_some_and(|other| other.path == file.path)
        };
        Client::value_variants()
            .iter()
            .filter(is_other)
            .find(|other| reads(other) && has_emend(other))
            .copied()
    }

    fn read(&self, path: &Path) -> Result<ClientFile, Stop> {
        ClientFile::read(path, (self.scope == Scope::Project).then_some(self.project.as_path()))
    }

    fn record(&self, file: &ClientFile) -> Result<Record, Stop> {
        Record::read(self.state.as_deref(), &self.client.name(), &file.path)
    }

    /// The draft of this file, which begins as what the file is.
    fn draft<'a>(&self, drafts: &'a mut Vec<Draft>, path: &Path) -> Result<&'a mut Draft, Stop> {
        let file = self.read(path)?;
        let known = drafts.iter().position(|draft| draft.file.path == file.path);
        let index = known.unwrap_or_else(|| {
            let body = file.body().to_owned();
            drafts.push(Draft { file, body });
            drafts.len() - 1
        });
        Ok(&mut drafts[index])
    }

    /// The text with the entry in it, and with these fields of the entry.
    fn with_entry(&self, draft: &Draft, extra: Entry) -> Result<String, Stop> {
        let (format, key) = (self.client.format(), self.client.key());
        let (file, text) = (&draft.file, &draft.body);
        let there = match text.trim().is_empty() {
            true => None,
            false => entry::read(text, format, key).map_err(|why| file.unfit(why))?,
        };
        if let Some(there) = &there
            && !self.start.follows
            && self.names_no_folder(there)
        {
            return Err(self.would_bind(file));
        }
        let mut entry = match &there {
            None => self.start.entry(),
            Some(there) => self.start.mended(there).map_err(|why| self.by_hand(file, &why))?,
        };
        entry.extend(extra);
        if there.is_some_and(|there| entry::says(&there, &entry)) {
            return Ok(text.clone());
        }
        entry::put(text, format, key, &entry).map_err(|why| file.unfit(why))
    }

    /// The text of the client's settings with our hook in it. One that starts this program stays as it is.
    fn with_hook(&self, draft: &Draft) -> Result<String, Stop> {
        let there = entry::hook(&draft.body);
        let program = there.as_deref().and_then(entry::program_of_hook).and_then(program::meant_by);
        if program.is_some_and(|program| program::is_own(&program)) {
            return Ok(draft.body.clone());
        }
        entry::put_hook(&draft.body, &self.start.hook()).map_err(|why| draft.file.unfit(why))
    }

    /// Whether this is the file with the settings that make the client prefer Emend, and has them all.
    fn prefers_emend(&self, file: &ClientFile, path: &Path) -> bool {
        let preference = self.client.preference();
        let is_there = |(at, wanted): &Setting| {
            entry::put_setting(file.body(), at, *wanted).is_ok_and(|text| text == file.body())
        };
        preference.settings().next().is_some()
            && preference.file.of(self.scope, &self.project, &self.system).as_deref() == Some(path)
            && preference.settings().all(is_there)
    }

    /// Whether this entry starts a server for the folder in which the client works.
    fn names_no_folder(&self, entry: &Value) -> bool {
        self.follows
            && start::arguments(entry).is_some_and(|args| served(&args).is_ok_and(|it| it.is_empty()))
    }

    fn would_bind(&self, file: &ClientFile) -> Stop {
        let (name, file) = (self.client.name(), file.shown());
        Stop::usage(format!(
            "{file}: its entry for Emend names no folder, so {name} has the project in which it works served. With a folder \
             this would end, for all projects. Nothing was changed. Leave --workspace away; or, if you mean it, write it by \
             hand: args = {}",
            json!(self.start.line())
        ))
    }

    /// What the user should know about the entry.
    fn remarks(&self, draft: &Draft) -> Vec<String> {
        let Ok(Some(entry)) = entry::read(&draft.body, self.client.format(), self.client.key()) else {
            return Vec::new();
        };
        let (name, file) = (self.client.name(), draft.file.shown());
        let mut remarks = Vec::new();
        let configured = start::arguments(&entry).filter(|_| self.names_no_folder(&entry));
        if let Some((config, folders)) = configured.and_then(|args| configured_folders(&args)) {
            remarks.push(format!(
                "Its entry names no folder, and {config} does: so Emend serves {} there, and not the project in which {name} \
                 works. To have that served, take 'workspace' out of {config}.",
                folders.join(", ")
            ));
        }
        let (mode, value) = ("default_tools_approval_mode", "approve");
        if self.client == Client::Codex && entry.get(mode).is_none() {
            remarks.push(format!(
                "`codex exec`, which can ask nobody, refuses the tools that edit, unless this line stands below \
                 [mcp_servers.{NAME}] in {file}:\n  {mode} = \"{value}\"\nCodex then asks about none of Emend's tools. Emend \
                 itself still makes no edit that needs your approval without it."
            ));
        }
        remarks
    }

    /// The folders that the entry of this file names and that do not exist, with the file.
    fn gone(&self, file: &ClientFile) -> Vec<(String, String)> {
        let there = entry::read(file.body(), self.client.format(), self.client.key()).ok().flatten();
        let gone = there.map(|there| start::folders(&there, self.start.project.as_deref()).1);
        gone.unwrap_or_default().into_iter().map(|folder| (folder, file.shown())).collect()
    }

    /// Refuses to change an entry that we do not understand, since the user wrote it.
    fn by_hand(&self, file: &ClientFile, why: &str) -> Stop {
        Stop::usage(format!(
            "{}: its entry for Emend is not understood: {why}. Nothing was changed. Change it by hand, so that its \
             command is {} and its arguments are {} and then what you want besides; or take it out and try again.",
            file.shown(),
            json!(self.start.command),
            json!(self.start.line())
        ))
    }
}

/// Whether this file of a client has an entry for Emend.
fn names_emend(client: Client, file: &ClientFile) -> bool {
    entry::read(file.body(), client.format(), client.key()).is_ok_and(|there| there.is_some())
}

fn no_file(client: Client, system: &System) -> String {
    let name = client.name();
    match client {
        Client::ClaudeCode => format!(
            "{name} keeps its servers for all projects in a file that only its own command changes, and Emend is not there \
             yet. Run this, then try again: claude mcp add --scope user emend -- emend serve --workspace ."
        ),
        _ if client.file(Scope::Global, Path::new(""), system).is_none() => {
            "there is no home folder".to_owned()
        }
        _ => format!("{name} has no configuration of one project that is known; leave --project out"),
    }
}
