//! `emend init`: adds Emend to a client's configuration. It shows the change first and keeps the old file beside the
//! new one. It writes the file as any other edit, which is then in the history.

pub(crate) mod clients;
pub(crate) mod entry;
pub(crate) mod start;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;
use emend_server::approval::Decision;
use emend_server::local::{self, Made};
use emend_server::wire::WriteFile;
use emend_workspace::edit::Version;
use emend_workspace::{RootSpec, Workspace, disk};
use serde_json::{Value, json};

use self::clients::{Client, Scope};
use self::entry::Unfit;
use self::start::Start;
use crate::exit::{Ended, Exit, Stop};
use crate::output::{Output, OutputFlags};
use crate::program::{self, Naming};
use crate::settings::without_links;
use crate::workspace::{is_too_much, state_folder};
use crate::{configured_folders, served};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The client.
    client: Client,

    /// The project folder; without it, the working folder.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Write the configuration of all your projects. What has no configuration for one project gets this anyway.
    #[arg(long, conflicts_with = "project")]
    global: bool,

    /// Write the configuration of this project.
    #[arg(long)]
    project: bool,

    /// Show the change and write nothing.
    #[arg(long)]
    dry_run: bool,

    /// Do not ask; needed where nobody can be asked.
    #[arg(long, short)]
    yes: bool,

    #[command(flatten)]
    pub(crate) output: OutputFlags,

    /// Where the displaced file is kept.
    #[arg(long = "state-dir", value_name = "DIR", env = "EMEND_STATE_DIR", hide = true)]
    state: Option<PathBuf>,
}

const NAME: &str = "emend init";

pub(crate) fn run(arguments: &Arguments, output: Output) -> Ended {
    let target = Target::of(arguments)?;
    let Some(content) = target.new_content()? else {
        let said = format!("{} has Emend already, with this folder. Nothing was changed.\n", target.shown());
        return finish(&target, None, "present", json!({}), &said, output);
    };
    let preview = target.preview(&content)?;
    if !output.json {
        let shown = target.shown();
        let shown = output.plain(&shown);
        let is_new = !target.file.exists();
        let what = match (arguments.yes && !arguments.dry_run, is_new) {
            (true, true) => "is created",
            (true, false) => "is changed",
            (false, true) => "would be created",
            (false, false) => "would be changed",
        };
        output.show(&format!("{shown} {what}:\n\n{}", output.diff(&preview.diff())))?;
    }
    let document = json!({"diff": preview.diff()});
    if arguments.dry_run {
        let said = "\nNothing was written (--dry-run).\n";
        return finish(&target, Some(&content), "planned", document, said, output);
    }
    if !arguments.yes {
        if !output.can_ask() {
            return Err(Stop::usage("say --yes to write this, or --dry-run to see it; nothing was changed"));
        }
        if !output.ask("\nWrite this?")? {
            output.show("Nothing was changed.\n")?;
            return Ok(Exit::Refused);
        }
    }
    let (made, backup) = target.write(content.clone())?;
    let mut document = document;
    document["edit"] = json!(made.edit());
    let mut said = String::from("\nWritten. ");
    if let Some(backup) = backup {
        document["backup"] = json!(backup);
        said.push_str(&format!("The old file is kept as {}. ", backup.display()));
    }
    said.push_str("Restart the client, so that it starts Emend.\n");
    finish(&target, Some(&content), "written", document, &said, output)
}

/// Reports the result, and what the user should know about the entry: the one in `content`, or else the one in the
/// file.
fn finish(
    target: &Target,
    content: Option<&str>,
    state: &str,
    mut document: Value,
    said: &str,
    output: Output,
) -> Ended {
    let gone = target.gone();
    let remarks = target.remarks(content);
    if output.json {
        if !remarks.is_empty() {
            document["remarks"] = json!(remarks);
        }
        if !gone.is_empty() {
            document["gone"] = json!(gone);
        }
        document["client"] = json!(target.client.name());
        document["file"] = json!(target.file);
        document["state"] = json!(state);
        output.document(&document)?;
    } else {
        output.show(&output.plain(said))?;
        for folder in gone {
            let said = format!(
                "Its arguments name {folder}, which is not there: take it out of {}.\n",
                target.shown()
            );
            output.show(&output.plain(&said))?;
        }
        for remark in remarks {
            output.show(&output.plain(&format!("\n{remark}\n")))?;
        }
    }
    Ok(Exit::Done)
}

/// A configuration file and the entry that it should have.
struct Target {
    client: Client,
    /// The path without links, as far as it exists. So the target of a link is changed, not the link.
    file: PathBuf,
    /// The content of the file; `None` if there is no file.
    text: Option<String>,
    start: Start,
    /// Whether an entry without a folder serves the folder in which the client works.
    follows: bool,
    state: Option<PathBuf>,
}

impl Target {
    fn of(arguments: &Arguments) -> Result<Self, Stop> {
        let client = arguments.client;
        let here = std::env::current_dir().context("the working folder cannot be read")?;
        let project = match &arguments.workspace {
            Some(folder) => folder
                .canonicalize()
                .map_err(|error| Stop::usage(format!("the folder {}: {error}", folder.display())))?,
            None => here,
        };
        let scopes: &[Scope] = match (arguments.global, arguments.project) {
            (true, _) => &[Scope::Global],
            (_, true) => &[Scope::Project],
            _ => &[Scope::Project, Scope::Global],
        };
        let found = scopes.iter().find_map(|scope| Some((*scope, client.file(*scope, &project)?)));
        let (scope, file) = found.ok_or_else(|| Stop::usage(no_file(client)))?;
        let by_name = client.project_folder();
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
            None => project.to_str().map(str::to_owned).ok_or_else(|| {
                Stop::usage(format!(
                    "the folder {} is not Unicode, which the file must be",
                    project.display()
                ))
            })?,
        };
        let file = without_links(&file);
        // The project may come from a stranger, whose links must not decide what else we change.
        if scope == Scope::Project && !file.starts_with(without_links(&project)) {
            return Err(unfit(&file, None, "a link of the project leads to it, out of the project"));
        }
        // Reading from a pipe would block.
        if fs::metadata(&file).is_ok_and(|there| !there.is_file()) {
            return Err(unfit(&file, None, "it is no file"));
        }
        let text = match fs::read(&file) {
            Ok(bytes) => Some(String::from_utf8(bytes).map_err(|_| unfit(&file, None, "it is not UTF-8"))?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(Stop::Usage(anyhow::Error::new(error).context(format!("{}", file.display()))));
            }
        };
        let follows = scope == Scope::Global && client.starts_in_place();
        let naming = if client.needs_path(scope) { Naming::InFull } else { Naming::Short };
        let start = Start {
            command: program::command(naming)?,
            naming,
            kind: client.kind(),
            folder,
            project: (scope == Scope::Project).then_some(project),
            follows: follows && arguments.workspace.is_none(),
        };
        let state = arguments.state.clone().or_else(state_folder);
        Ok(Self { client, file, text, start, follows, state })
    }

    fn shown(&self) -> String {
        self.file.display().to_string()
    }

    /// The new content of the file; `None` if nothing has to change.
    fn new_content(&self) -> Result<Option<String>, Stop> {
        const BOM: &str = "\u{feff}";
        let text = self.text.as_deref().unwrap_or_default();
        let (bom, text) = text.strip_prefix(BOM).map_or(("", text), |text| (BOM, text));
        let (format, key) = (self.client.format(), self.client.key());
        let unfit = |Unfit { line, what }| unfit(&self.file, line, &what);
        let there =
            if text.trim().is_empty() { None } else { entry::read(text, format, key).map_err(unfit)? };
        if let Some(there) = &there
            && !self.start.follows
            && self.names_no_folder(there)
        {
            return Err(self.would_bind());
        }
        let entry = match &there {
            None => self.start.entry(),
            Some(there) => self.start.mended(there).map_err(|why| self.by_hand(&why))?,
        };
        if there.is_some_and(|there| entry::says(&there, &entry)) {
            return Ok(None);
        }
        Ok(Some(format!("{bom}{}", entry::put(text, format, key, &entry).map_err(unfit)?)))
    }

    /// Whether this entry starts a server for the folder in which the client works.
    fn names_no_folder(&self, entry: &Value) -> bool {
        self.follows
            && start::arguments(entry).is_some_and(|args| served(&args).is_ok_and(|it| it.is_empty()))
    }

    fn would_bind(&self) -> Stop {
        let (name, file) = (self.client.name(), self.shown());
        Stop::usage(format!(
            "{file}: its entry for Emend names no folder, so {name} has the project in which it works served. With a folder \
             this would end, for all projects. Nothing was changed. Leave --workspace away; or, if you mean it, write it by \
             hand: args = {}",
            json!(self.start.args())
        ))
    }

    /// What the user should know about the entry.
    fn remarks(&self, content: Option<&str>) -> Vec<String> {
        let text = content.or(self.text.as_deref()).unwrap_or_default().trim_start_matches('\u{feff}');
        let Ok(Some(entry)) = entry::read(text, self.client.format(), self.client.key()) else {
            return Vec::new();
        };
        let (name, file) = (self.client.name(), self.shown());
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
                 [mcp_servers.emend] in {file}:\n  {mode} = \"{value}\"\nCodex then asks about none of Emend's tools. Emend \
                 itself still makes no edit that needs your approval without it."
            ));
        }
        remarks
    }

    /// The folders that the entry names and that do not exist. We only report them.
    fn gone(&self) -> Vec<String> {
        let text = self.text.as_deref().unwrap_or_default().trim_start_matches('\u{feff}');
        let there = entry::read(text, self.client.format(), self.client.key()).ok().flatten();
        there.map(|there| start::folders(&there, self.start.project.as_deref()).1).unwrap_or_default()
    }

    /// Refuses to change an entry that we do not understand, since the user wrote it.
    fn by_hand(&self, why: &str) -> Stop {
        Stop::usage(format!(
            "{}: its entry for Emend is not understood: {why}. Nothing was changed. Change it by hand, so that its \
             command is {} and its arguments are {} and then what you want besides; or take it out and try again.",
            self.shown(),
            json!(self.start.command),
            json!(self.start.args())
        ))
    }

    /// Previews the change. Creates no folder for it.
    fn preview(&self, content: &str) -> Result<Made, Stop> {
        let root = self.file.ancestors().skip(1).find(|folder| folder.is_dir()).unwrap_or(Path::new("/"));
        let inside = self.file.strip_prefix(root).unwrap_or(&self.file);
        let edit = self.edit(inside.as_os_str(), content.to_owned())?;
        Ok(local::preview_write(&self.open(root)?, edit, NAME)?)
    }

    /// Writes the file and returns the path of the backup.
    fn write(&self, content: String) -> Result<(Made, Option<PathBuf>), Stop> {
        let (Some(folder), Some(name)) = (self.file.parent(), self.file.file_name()) else {
            return Err(Stop::usage(format!("{} is no file", self.shown())));
        };
        // The file's own folder is the root, since folders above it may hold the state folder or another user's files.
        fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        let workspace = self.open(folder)?;
        let edit = self.edit(name, content)?;
        let backup = self.text.as_ref().map(|_| back_up(&self.file)).transpose();
        let backup = backup.with_context(|| format!("{} cannot be copied", self.shown()))?;
        // Such files need approval. The user has just given it, at the prompt or with --yes.
        let made = local::write_file(&workspace, edit, NAME, &|_| Decision::Approve).inspect_err(|_| {
            if let Some(backup) = &backup {
                let _ = fs::remove_file(backup);
            }
        });
        Ok((made?, backup))
    }

    fn open(&self, folder: &Path) -> Result<Workspace, Stop> {
        let spec = RootSpec { name: None, path: folder.to_owned() };
        Ok(Workspace::open(disk::for_this_machine(), &[spec], self.state.clone())?)
    }

    /// The edit, which is valid for the version that was read.
    fn edit(&self, path: &OsStr, content: String) -> Result<WriteFile, Stop> {
        let path = path.to_str().ok_or_else(|| Stop::usage(format!("{} is not Unicode", self.shown())))?;
        let version = self.text.as_ref().map(|text| Version::hash(text.as_bytes()).short());
        Ok(WriteFile { path: path.to_owned(), content, version })
    }
}

fn no_file(client: Client) -> String {
    let name = client.name();
    match client {
        Client::ClaudeCode => format!(
            "{name} keeps what holds for all projects itself: claude mcp add --scope user emend -- emend serve \
             --workspace ."
        ),
        _ if client.file(Scope::Global, Path::new("")).is_none() => "there is no home folder".to_owned(),
        _ => format!("{name} has no configuration of one project that is known; leave --project out"),
    }
}

fn unfit(file: &Path, line: Option<usize>, what: &str) -> Stop {
    let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
    let file = file.display();
    Stop::usage(format!("{file}{line}: {what}. Nothing was changed. Mend the file, then try again."))
}

/// Copies a file to a free name beside it. Nobody who cannot read the file can read the copy, since it may hold
/// secrets.
fn back_up(file: &Path) -> io::Result<PathBuf> {
    let name = file.file_name().unwrap_or_default();
    for number in 1.. {
        let mut backup = name.to_owned();
        backup.push(if number == 1 { ".before-emend".to_owned() } else { format!(".before-emend-{number}") });
        let backup = file.with_file_name(backup);
        match for_this_user_alone().open(&backup) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
            Ok(copy) => {
                return match fill(file, copy) {
                    Ok(()) => Ok(backup),
                    Err(error) => {
                        let _ = fs::remove_file(&backup);
                        Err(error)
                    }
                };
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Options to create a file that only this user can ever read.
fn for_this_user_alone() -> fs::OpenOptions {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Copies the content. Copies the mode only if everybody may read the file, because the group of the copy may differ.
fn fill(file: &Path, mut copy: fs::File) -> io::Result<()> {
    let mut file = fs::File::open(file)?;
    io::copy(&mut file, &mut copy)?;
    let permissions = file.metadata()?.permissions();
    #[cfg(unix)]
    let is_for_all = std::os::unix::fs::PermissionsExt::mode(&permissions) & 0o004 != 0;
    #[cfg(not(unix))]
    let is_for_all = true;
    if is_for_all {
        copy.set_permissions(permissions)?;
    }
    copy.sync_all()
}
