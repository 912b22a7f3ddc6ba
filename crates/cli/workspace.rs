//! Which folders are opened, under which policy, and where their state is kept: the same for `serve` and for every
//! command that a person types.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail, ensure};

use emend_server::Effects;
use emend_server::effects::EffectSettings;
use emend_server::messages::{Audience, message, shell_quoted};
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{Policy, RootSpec, Workspace, disk, history};

use crate::exit::Stop;
use crate::settings;

/// What a command of a person works on.
#[derive(clap::Args)]
pub(crate) struct WorkspaceFlags {
    /// A folder whose files may be edited, as PATH or name=PATH. May be given several times; without it,
    /// those of the configuration file are meant, or else the working folder.
    #[arg(long = "workspace", value_name = "DIR")]
    workspaces: Vec<String>,

    #[command(flatten)]
    pub(crate) opening: OpeningFlags,
}

/// How folders are opened, whichever they are.
#[derive(clap::Args)]
pub(crate) struct OpeningFlags {
    /// Where staged and displaced files are kept, if that is on the workspace's file system; otherwise
    /// they are kept in .emend in the workspace.
    #[arg(hide_short_help = true, long = "state-dir", value_name = "DIR", env = "EMEND_STATE_DIR")]
    state: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) policy: settings::Flags,
}

/// Whom the answer is for where no folder was named and the working folder is too much to open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum For {
    /// The client of a server, by its configuration.
    Client,
    /// Whoever types the command.
    Person,
}

/// What is to be opened.
pub(crate) struct Place {
    /// The folders, or why there are none.
    pub(crate) roots: Result<Vec<RootSpec>, Problem>,
    pub(crate) state: Option<PathBuf>,
    pub(crate) policy: Policy,
    /// What follows an edit.
    pub(crate) effect_settings: EffectSettings,
}

/// A workspace, and what follows its edits.
pub(crate) struct Opened {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) effects: Arc<Effects>,
}

impl WorkspaceFlags {
    /// The workspace of a person, who is told at once if there is none.
    pub(crate) fn open(&self) -> Result<Arc<Workspace>, Stop> {
        Ok(self.open_to_edit()?.workspace)
    }

    /// The same for whoever edits in it.
    pub(crate) fn open_to_edit(&self) -> Result<Opened, Stop> {
        let opened = self.opening.open(&self.workspaces, For::Person, None)??;
        opened.effects.follow(&opened.workspace);
        Ok(opened)
    }

    /// The same for whoever asks what was edited: where a folder is closed, its history would seem to be empty.
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
        let here = std::env::current_dir().ok()?.canonicalize().ok()?;
        let state = self.opening.state.clone().or_else(state_folder);
        let disk = disk::for_this_machine();
        history::nearest_above(&*disk, &here, state.as_deref()).map(Path::to_owned)
    }

    /// What is to be opened, as far as it can be told without opening it.
    pub(crate) fn place(&self) -> anyhow::Result<Place> {
        self.opening.place(&self.workspaces, For::Person, None)
    }
}

impl OpeningFlags {
    /// The workspace, in which `own` is off limits besides; or why no folder was opened, which is an answer of its own.
    pub(crate) fn open(
        &self,
        asked: &[String],
        whom: For,
        own: Option<&Path>,
    ) -> Result<Result<Opened, Problem>, Stop> {
        let place = self.place(asked, whom, own).map_err(Stop::Usage)?;
        let roots = match place.roots {
            Ok(roots) => roots,
            Err(problem) => return Ok(Err(problem)),
        };
        // A folder that was asked for and is not there is a mistake to fix now, not at each call.
        let approve = approve_command(place.state.as_deref());
        let workspace =
            Workspace::open_with_policy(disk::for_this_machine(), &roots, place.state, &place.policy)
                .map_err(|problem| Stop::Usage(anyhow!(message(&problem, Audience::Person))))?
                .with_approve_command(approve)
                .with_hooks(&place.effect_settings.programs)
                .map_err(|wrong| Stop::Usage(anyhow!("the hooks: {wrong}")))?;
        for warning in workspace.warnings().chain(workspace.findings()) {
            tracing::warn!("{warning}");
        }
        let effects = Effects::new(&workspace, &place.effect_settings);
        Ok(Ok(Opened { workspace: Arc::new(workspace), effects }))
    }

    fn place(&self, asked: &[String], whom: For, own: Option<&Path>) -> anyhow::Result<Place> {
        let said = self.policy.said(home().as_deref())?;
        let state = self.state.clone().or_else(state_folder);
        // The usual state folder holds the means to undo of other servers, whichever is used here.
        let usual = state_folder();
        let files = said.files.iter().chain(&state).chain(&usual).map(PathBuf::as_path).chain(own);
        let own: Vec<PathBuf> = files.map(settings::without_links).collect();
        let policy =
            Policy::new(&said.settings).map_err(|wrong| anyhow!("the policy: {wrong}"))?.with_own(own);
        let asked = if asked.is_empty() { &*said.settings.workspace } else { asked };
        let roots = roots(asked, whom)?;
        if let Ok(roots) = &roots {
            check_apart(roots, state.as_deref())?;
            if let Some(file) = &said.named {
                check_outside(roots, file)?;
            }
        }
        let effect_settings = EffectSettings {
            // A server that starts for one command would still be starting when that has ended.
            asks_language_servers: whom == For::Client,
            diagnostics_wait: Some(policy.terms().diagnostics_wait.0),
            programs: said.settings.programs,
        };
        Ok(Place { roots, state, policy, effect_settings })
    }
}

/// The command that finds what waits in this state folder. A client's configuration may name one, by a flag or a variable,
/// that the shell of a person knows nothing of.
fn approve_command(state: Option<&Path>) -> String {
    let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match state.map(full) {
        Some(state) if Some(&state) != state_folder().as_ref() => {
            format!("emend approve --state-dir {}", shell_quoted(&state.to_string_lossy()))
        }
        _ => "emend approve".to_owned(),
    }
}

/// What Emend keeps for itself is off limits, and so would be all of a workspace that is the same folder.
fn check_apart(roots: &[RootSpec], state: Option<&Path>) -> anyhow::Result<()> {
    let state = state.map(settings::without_links);
    let same = roots.iter().find(|root| state.as_ref() == Some(&settings::without_links(&root.path)));
    ensure!(
        same.is_none(),
        "the state folder is the workspace folder itself; give another with --state-dir (or EMEND_STATE_DIR)"
    );
    Ok(())
}

/// What says what a model may do is not where the model may write: not even behind a link, in either direction.
fn check_outside(roots: &[RootSpec], file: &Path) -> anyhow::Result<()> {
    let real = settings::without_links(file);
    let written = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let holds = |root: &&RootSpec| {
        let folder = settings::without_links(&root.path);
        let given = std::path::absolute(&root.path).unwrap_or_else(|_| root.path.clone());
        // The folder of what is written may itself be reached by a link.
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

/// The roots that were asked for; else the working folder, unless that is everything or the home folder,
/// as it is for servers that some clients start: then every tool answers with the line to add.
fn roots(asked: &[String], whom: For) -> anyhow::Result<Result<Vec<RootSpec>, Problem>> {
    if !asked.is_empty() {
        return Ok(Ok(asked.iter().map(|written| RootSpec::parse(written)).collect()));
    }
    let here = std::env::current_dir().context("the working folder cannot be read")?;
    if is_too_much(&here) {
        let (who, advice) = match whom {
            For::Client => (
                "the server",
                "Add the folder to the server's arguments in the client's configuration: \"args\": [\"serve\", \
                 \"--workspace\", \"/path/to/project\"].",
            ),
            For::Person => ("emend", "Name the folder with --workspace DIR, or go into it."),
        };
        let reason = format!(
            "No workspace was opened: {who} was started in {}, which is too much to open. {advice}",
            here.display()
        );
        return Ok(Err(Problem::new(Kind::NoWorkspace { reason })));
    }
    Ok(Ok(vec![RootSpec { name: None, path: here }]))
}

/// Whether a folder that nobody named is everything, or the home folder.
pub(crate) fn is_too_much(folder: &Path) -> bool {
    let is_home = home().is_some_and(|home| home.canonicalize().is_ok_and(|home| home == folder));
    folder.parent().is_none() || is_home
}

pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// `$XDG_STATE_HOME/emend`, by default `~/.local/state/emend`.
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
