//! The executable that runs, and how somebody else can start it.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

/// The executable that runs.
pub(crate) fn own() -> anyhow::Result<PathBuf> {
    let own = env::current_exe().context("the path of this executable is not known")?;
    Ok(own.canonicalize().unwrap_or(own))
}

/// What this name stands for on PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", env::consts::EXE_SUFFIX);
    let paths = env::var_os("PATH")?;
    env::split_paths(&paths).map(|folder| folder.join(&name)).find(|file| is_executable(file))
}

/// How a configuration names this executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// By its name, where that starts this very executable.
    Short,
    /// By its whole path, for programs that look along another PATH.
    InFull,
}

/// What to write into a configuration.
pub(crate) fn command(naming: Naming) -> anyhow::Result<String> {
    let own = own()?;
    let named = on_path("emend").and_then(|file| std::path::absolute(file).ok()).filter(|file| is_own(file));
    let path = match (named, naming) {
        (Some(_), Naming::Short) => return Ok("emend".into()),
        // What is on PATH stays where it is when a new version is installed.
        (Some(named), Naming::InFull) => named,
        (None, _) => own,
    };
    let path = path
        .to_str()
        .ok_or_else(|| anyhow!("the path of this executable is not Unicode: {}", path.display()))?;
    Ok(path.to_owned())
}

/// The executable that a command of a configuration means.
pub(crate) fn meant_by(command: &str) -> Option<PathBuf> {
    let path = Path::new(command);
    match path.components().count() {
        0 | 1 => on_path(command),
        // Relative to where the client starts it, which nobody knows: that it is there cannot be told.
        _ if path.is_relative() => Some(path.to_owned()),
        _ => Some(path.to_owned()).filter(|path| is_executable(path)),
    }
}

/// Whether this file is the executable that runs.
pub(crate) fn is_own(file: &Path) -> bool {
    own().is_ok_and(|own| file.is_absolute() && file.canonicalize().is_ok_and(|file| file == own))
}

/// Whether this file can be started.
pub(crate) fn is_executable(file: &Path) -> bool {
    let Ok(metadata) = file.metadata() else { return false };
    #[cfg(unix)]
    let may = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let may = true;
    metadata.is_file() && may
}
