//! The flags and defaults that decide which folders are opened, under which policy and with which state folder. `serve`
//! and the other commands share them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail, ensure};

use emend_apply_model::{Address, Settings as ModelSettings};
use emend_server::effects::EffectSettings;
use emend_server::messages::{Audience, message, shell_quoted};
use emend_server::{ApplyModel, Effects};
#[cfg(feature = "team")]
use emend_workspace::Mode;
use emend_workspace::policy::{WORKSPACE_FILE, apply_model};
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{Policy, RootSpec, Workspace, approval::DecidedAt, canonical, disk, history};

use crate::exit::Stop;
use crate::settings;

/// What a command of a person works on.
#[derive(clap::Args)]
pub(crate) struct WorkspaceFlags {
    /// A folder whose files may be edited, as PATH or name=PATH. May be given several times; without it,
    /// those of the configuration file are meant, or else the nearest folder from the working folder upwards that
    /// has a history of edits, an .emend.toml or a .git, or else the working folder.
    #[arg(long = "workspace", value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    workspaces: Vec<String>,

    #[command(flatten)]
    pub(crate) opening: OpeningFlags,
}

/// How folders are opened, whichever they are.
#[derive(Clone, clap::Args)]
pub(crate) struct OpeningFlags {
    /// Where staged and displaced files are kept, if that is on the workspace's file system; otherwise
    /// they are kept in .emend in the workspace.
    #[arg(hide_short_help = true, long = "state-dir", value_name = "DIR", env = "EMEND_STATE_DIR")]
    state: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) policy: settings::Flags,
}

/// Who has started the command: messages differ, and only a server uses language servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartedBy {
    /// An MCP client, which gets the messages in answers.
    Client,
    /// A user at a terminal.
    Person,
}

/// The folders, the state folder and the settings to open a workspace with.
pub(crate) struct OpenOptions {
    /// The folders, or the reason why there are none.
    pub(crate) roots: Result<Vec<RootSpec>, Problem>,
    pub(crate) state: Option<PathBuf>,
    pub(crate) policy: Policy,
    /// The settings for what follows an edit.
    pub(crate) effect_settings: EffectSettings,
    pub(crate) apply_model: ApplyModel,
}

/// A workspace, and what follows its edits.
pub(crate) struct Opened {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) effects: Arc<Effects>,
    pub(crate) apply_model: ApplyModel,
}

impl WorkspaceFlags {
    /// Opens the workspace. The error is for the user at the terminal.
    pub(crate) fn open(&self) -> Result<Arc<Workspace>, Stop> {
        Ok(self.open_to_edit()?.workspace)
    }

    /// Opens the workspace for a command that edits.
    pub(crate) fn open_to_edit(&self) -> Result<Opened, Stop> {
        let opened = self.opening.open(&self.workspaces, StartedBy::Person, &[])??;
        opened.effects.follow(&opened.workspace);
        Ok(opened)
    }

    /// The state folder that was named.
    pub(crate) fn state(&self) -> Option<PathBuf> {
        self.opening.state.clone()
    }

    /// Opens the workspace for a command that reads the history, which would seem empty in a folder that is closed.
    pub(crate) fn open_past(&self) -> Result<Opened, Stop> {
        let opened = self.open_to_edit()?;
        for root in opened.workspace.roots().all() {
            if let Err(kind @ Kind::InvalidPolicy { .. }) = root.policy.may_read(&["name".into()]) {
                return Err(Problem::new(kind).into());
            }
        }
        Ok(opened)
    }

    /// Returns the nearest folder above the working folder that has edits in its history, if no workspace was named.
    pub(crate) fn edited_above(&self) -> Option<PathBuf> {
        if !self.workspaces.is_empty() {
            return None;
        }
        let here = canonical(&std::env::current_dir().ok()?).ok()?;
        let state = self.opening.state.clone().or_else(state_folder);
        let disk = disk::for_this_machine();
        history::nearest_above(&*disk, &here, state.as_deref()).map(Path::to_owned)
    }

    /// A path as the person at the terminal means it: relative to the folder that was named, or else to the working
    /// folder, if that is in the workspace.
    pub(crate) fn path_from_here(&self, workspace: &Workspace, path: &str) -> String {
        let named = !self.workspaces.is_empty();
        let here = std::env::current_dir().ok().and_then(|here| canonical(&here).ok());
        let Some(here) = here.filter(|_| !named && !Path::new(path).is_absolute()) else {
            return path.to_owned();
        };
        match workspace.roots().all().iter().any(|root| here.starts_with(&root.path)) {
            true => here.join(path).to_str().unwrap_or(path).to_owned(),
            false => path.to_owned(),
        }
    }

    /// The folders and settings, without opening anything.
    pub(crate) fn options(&self) -> anyhow::Result<OpenOptions> {
        self.opening.options(&self.workspaces, StartedBy::Person, &[])
    }
}

impl OpeningFlags {
    /// Opens the workspace, in which the files `own` are forbidden too. The inner error says why there is no workspace; a
    /// server starts all the same and answers with it.
    pub(crate) fn open(
        &self,
        asked: &[String],
        started_by: StartedBy,
        own: &[PathBuf],
    ) -> Result<Result<Opened, Problem>, Stop> {
        let options = self.options(asked, started_by, own).map_err(Stop::Usage)?;
        let roots = match options.roots {
            Ok(roots) => roots,
            Err(problem) => return Ok(Err(problem)),
        };
        // A missing folder is reported now, once, and not at each call.
        let approve = approve_command(options.state.as_deref());
        let workspace =
            Workspace::open_with_policy(disk::for_this_machine(), &roots, options.state, &options.policy)
                .map_err(|problem| Stop::Usage(anyhow!(message(&problem, Audience::Person))))?
                .decided_at(DecidedAt::Command(approve))
                .with_hooks(&options.effect_settings.programs)
                .map_err(|wrong| Stop::Usage(anyhow!("the hooks: {wrong}")))?;
        let no_model =
            options.apply_model.unavailable().map(|why| format!("apply_model cannot be used: {why}"));
        for warning in workspace.warnings().chain(workspace.findings()).chain(no_model) {
            tracing::warn!("{warning}");
        }
        let effects = Effects::new(&workspace, &options.effect_settings);
        Ok(Ok(Opened { workspace: Arc::new(workspace), effects, apply_model: options.apply_model }))
    }

    /// Opens the folders of a tenant of a team's server, with a state folder of their own. No language server is asked there:
    /// such a program runs what is in a workspace, as this user. The files `own` are forbidden, and must be elsewhere. What waits
    /// for approval is decided on the page at `review`, if there is one.
    #[cfg(feature = "team")]
    pub(crate) fn open_tenant(
        &self,
        folders: &[String],
        is_read_only: bool,
        state: PathBuf,
        own: &[PathBuf],
        review: Option<String>,
    ) -> anyhow::Result<Opened> {
        let mut said = self.policy.merged(home().as_deref())?.settings;
        if is_read_only {
            said.mode = Some(Mode::ReadOnly);
        }
        let roots: Vec<RootSpec> = folders.iter().map(|folder| RootSpec::parse(folder)).collect();
        let elsewhere = [self.state.clone().or_else(state_folder), Some(state.clone())];
        for state in elsewhere.iter().flatten() {
            check_apart(&roots, Some(state))?;
        }
        own.iter().try_for_each(|file| check_outside(&roots, file))?;
        let own = own.iter().chain(elsewhere.iter().flatten()).map(|file| settings::without_links(file));
        let policy = Policy::new(&said).map_err(|wrong| anyhow!("the policy: {wrong}"))?.with_own(own);
        // Where the state of a tenant lies is told to nobody who calls.
        let command = || DecidedAt::Command("emend approve".to_owned());
        let decided_at = review.map_or_else(command, DecidedAt::Page);
        let workspace = Workspace::open_with_policy(disk::for_this_machine(), &roots, Some(state), &policy)
            .map_err(|problem| anyhow!(message(&problem, Audience::Person)))?
            .decided_at(decided_at)
            .with_hooks(&said.programs)
            .map_err(|wrong| anyhow!("the hooks: {wrong}"))?;
        if let Some(absent) = workspace.roots().absent().first() {
            bail!("{}", absent.problem);
        }
        for warning in workspace.warnings().chain(workspace.findings()) {
            tracing::warn!("{warning}");
        }
        let settings =
            EffectSettings { asks_language_servers: false, diagnostics_wait: None, programs: said.programs };
        let effects = Effects::new(&workspace, &settings);
        Ok(Opened { workspace: Arc::new(workspace), effects, apply_model: ApplyModel::default() })
    }

    /// The state folder of this server.
    #[cfg(feature = "team")]
    pub(crate) fn own_state(&self) -> Option<PathBuf> {
        self.state.clone().or_else(state_folder)
    }

    /// The files that may hold settings.
    #[cfg(feature = "team")]
    pub(crate) fn files(&self) -> anyhow::Result<Vec<PathBuf>> {
        Ok(self.policy.merged(home().as_deref())?.files)
    }

    fn options(
        &self,
        asked: &[String],
        started_by: StartedBy,
        own: &[PathBuf],
    ) -> anyhow::Result<OpenOptions> {
        let said = self.policy.merged(home().as_deref())?;
        let state = self.state.clone().or_else(state_folder);
        // The usual state folder is always protected, since other servers may keep their history there.
        let usual = state_folder();
        let files = said.files.iter().chain(&state).chain(&usual).chain(own);
        let own: Vec<PathBuf> = files.map(|file| settings::without_links(file)).collect();
        let policy =
            Policy::new(&said.settings).map_err(|wrong| anyhow!("the policy: {wrong}"))?.with_own(own);
        let asked = if asked.is_empty() { &*said.settings.workspace } else { asked };
        let roots = roots(asked, started_by, state.as_deref())?;
        if let Ok(roots) = &roots {
            check_apart(roots, state.as_deref())?;
            if let Some(file) = &said.named {
                check_outside(roots, file)?;
            }
        }
        let apply_model = said.settings.apply_model.as_ref().map(connect).transpose()?.unwrap_or_default();
        let effect_settings = EffectSettings {
            // A command would end before a language server has started.
            asks_language_servers: started_by == StartedBy::Client,
            diagnostics_wait: Some(policy.terms().diagnostics_wait.0),
            programs: said.settings.programs,
        };
        Ok(OpenOptions { roots, state, policy, effect_settings, apply_model })
    }
}

/// Connects to the user's apply model. Only the address can be wrong; a missing key is said when the model is asked.
fn connect(settings: &apply_model::ApplyModel) -> anyhow::Result<ApplyModel> {
    let apply_model::ApplyModel { url, model, key_variable, auto, timeout, max_bytes } = settings;
    let address =
        Address::parse(url).map_err(|wrong| anyhow!("the configuration: apply_model.url: {wrong}"))?;
    let key = key_variable.as_ref().and_then(|name| std::env::var(name).ok());
    let settings = ModelSettings {
        address,
        model: model.clone(),
        key_variable: key_variable.clone(),
        timeout: *timeout,
        max_bytes: *max_bytes,
    };
    Ok(ApplyModel::new(emend_apply_model::connect(&settings, key.as_deref()), *auto))
}

/// The command that finds the waiting edits in this state folder. It names the folder if the user's shell would choose
/// another, as when a client's configuration sets it.
fn approve_command(state: Option<&Path>) -> String {
    let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match state.map(full) {
        Some(state) if Some(&state) != state_folder().as_ref() => {
            format!("emend approve --state-dir {}", shell_quoted(&state.to_string_lossy()))
        }
        _ => "emend approve".to_owned(),
    }
}

/// Refuses a state folder that is also a workspace: as the state folder it would be forbidden as a whole.
fn check_apart(roots: &[RootSpec], state: Option<&Path>) -> anyhow::Result<()> {
    let state = state.map(settings::without_links);
    let same = roots.iter().find(|root| state.as_ref() == Some(&settings::without_links(&root.path)));
    ensure!(
        same.is_none(),
        "the state folder is the workspace folder itself; give another with --state-dir (or EMEND_STATE_DIR)"
    );
    Ok(())
}

/// Refuses a configuration file that a model could edit: one inside a root, or linked into or out of one.
fn check_outside(roots: &[RootSpec], file: &Path) -> anyhow::Result<()> {
    let real = settings::without_links(file);
    let written = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let holds = |root: &&RootSpec| {
        let folder = settings::without_links(&root.path);
        let given = std::path::absolute(&root.path).unwrap_or_else(|_| root.path.clone());
        // The parent folder may itself be a link.
        let beside = written.parent().map(settings::without_links).unwrap_or_default();
        real.starts_with(&folder) || written.starts_with(given) || beside.starts_with(&folder)
    };
    if let Some(root) = roots.iter().find(holds) {
        bail!(
            "the configuration file {} is inside {}, which is served: what is edited there must not decide what may be \
             edited. Move it out, or leave --config (or EMEND_CONFIG, or XDG_CONFIG_HOME) away",
            file.display(),
            root.path.display()
        );
    }
    Ok(())
}

/// The roots that were asked for, or else the working folder, or for a person the project around it. The home folder and `/`, where some clients start
/// servers, are refused: then every tool answers with the line to add to the configuration.
fn roots(
    asked: &[String],
    started_by: StartedBy,
    state: Option<&Path>,
) -> anyhow::Result<Result<Vec<RootSpec>, Problem>> {
    if !asked.is_empty() {
        return Ok(Ok(asked.iter().map(|written| RootSpec::parse(written)).collect()));
    }
    let here = std::env::current_dir().context("the working folder cannot be read")?;
    if is_too_much(&here) {
        let (who, advice) = match started_by {
            StartedBy::Client => (
                "the server",
                "Add the folder to the server's arguments in the client's configuration: \"args\": [\"serve\", \
                 \"--workspace\", \"/path/to/project\"].",
            ),
            StartedBy::Person => ("emend", "Name the folder with --workspace DIR, or go into it."),
        };
        let reason = format!(
            "No workspace was opened: {who} was started in {}, which is too much to open. {advice}",
            here.display()
        );
        return Ok(Err(Problem::new(Kind::NoWorkspace { reason })));
    }
    let path = match started_by {
        StartedBy::Client => here,
        StartedBy::Person => project_around(&here, state).unwrap_or(here),
    };
    Ok(Ok(vec![RootSpec { name: None, path }]))
}

/// The nearest folder, from this one upwards, that has a history of edits, an `.emend.toml` or a `.git`. Only folders of
/// this user count, without a gap: whoever may write into a folder above, such as `/tmp`, must not decide what is opened.
/// The home folder and `/` are never found.
fn project_around(here: &Path, state: Option<&Path>) -> Option<PathBuf> {
    let here = canonical(here).ok()?;
    let disk = disk::for_this_machine();
    // The search begins above the folder that it is given.
    let below = here.join("here");
    let edited = history::nearest_above(&*disk, &below, state);
    let is_project = |folder: &&Path| {
        let has = |name: &str| folder.join(name).symlink_metadata().is_ok();
        edited == Some(folder) || has(WORKSPACE_FILE) || has(".git")
    };
    here.ancestors()
        .take_while(|folder| !is_too_much(folder) && is_of_this_user(folder))
        .find(is_project)
        .map(Path::to_owned)
}

#[cfg(unix)]
fn is_of_this_user(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    folder.symlink_metadata().is_ok_and(|it| it.uid() == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn is_of_this_user(_folder: &Path) -> bool {
    true
}

/// Whether this folder is `/` or the home folder, which nobody opens without naming it.
pub(crate) fn is_too_much(folder: &Path) -> bool {
    let is_home = home().is_some_and(|home| canonical(&home).is_ok_and(|home| home == folder));
    folder.parent().is_none() || is_home
}

pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// The default state folder: `$XDG_STATE_HOME/emend`, or else `~/.local/state/emend`.
pub(crate) fn state_folder() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_STATE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| home().map(|home| home.join(".local/state")))?;
    Some(base.join(Path::new("emend")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_folder_of_ones_own_is_named_as_a_shell_takes_it() {
        for (state, command) in [
            (Some("/srv/state"), "emend approve --state-dir /srv/state"),
            (Some("/srv/my state"), "emend approve --state-dir '/srv/my state'"),
            (Some("/srv/it's $x"), r"emend approve --state-dir '/srv/it'\''s $x'"),
            (None, "emend approve"),
        ] {
            assert_eq!(approve_command(state.map(Path::new)), command);
        }
        assert_eq!(approve_command(state_folder().as_deref()), "emend approve");
    }
}
