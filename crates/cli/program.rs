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

/// What to write into a configuration: the name, where that starts this very executable, or else its path.
pub(crate) fn command() -> anyhow::Result<String> {
    let own = own()?;
    let named = on_path("emend").and_then(|file| file.canonicalize().ok());
    if named.as_ref() == Some(&own) {
        return Ok("emend".into());
    }
    let path = own
        .to_str()
        .ok_or_else(|| anyhow!("the path of this executable is not Unicode: {}", own.display()))?;
    Ok(path.to_owned())
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
