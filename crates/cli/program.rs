//! The running executable, and how others can start it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use emend_process::search::Search;

/// The path of the running executable.
pub(crate) fn own() -> anyhow::Result<PathBuf> {
    let own = env::current_exe().context("the path of this executable is not known")?;
    Ok(emend_workspace::canonical(&own).unwrap_or(own))
}

/// The program that this name or absolute path stands for on PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    // A client's command may be inside its project. Whether that is right is the user's decision.
    Search::new::<PathBuf>(None, &[]).find(name).ok()
}

/// How a configuration names this executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// By its name, if that starts this very executable.
    Short,
    /// By its whole path, for clients that have another PATH.
    InFull,
}

/// The command for a configuration.
pub(crate) fn command(naming: Naming) -> anyhow::Result<String> {
    let own = own()?;
    let named = on_path("emend").filter(|file| is_own(file));
    let path = match (named, naming) {
        (Some(_), Naming::Short) => return Ok("emend".into()),
        // The path on PATH stays when a new version is installed.
        (Some(named), Naming::InFull) => named,
        (None, _) => own,
    };
    let path = path
        .to_str()
        .ok_or_else(|| anyhow!("the path of this executable is not Unicode: {}", path.display()))?;
    Ok(path.to_owned())
}

/// The executable that a command in a configuration starts.
pub(crate) fn meant_by(command: &str) -> Option<PathBuf> {
    let path = Path::new(command);
    match path.components().count() {
        0 | 1 => on_path(command),
        // It is relative to a folder that only the client knows, so we cannot check that it exists.
        _ if path.is_relative() => Some(path.to_owned()),
        _ => on_path(command),
    }
}

/// Whether this file is the running executable.
pub(crate) fn is_own(file: &Path) -> bool {
    own()
        .is_ok_and(|own| file.is_absolute() && emend_workspace::canonical(file).is_ok_and(|file| file == own))
}
