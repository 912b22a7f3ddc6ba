//! The command that is tried, built now, and where Cargo puts it.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Builds the command as it ships, and returns where it is.
pub fn release() -> Result<PathBuf> {
    build("release", "release")
}

/// Builds the command as its tests have it, and returns where it is.
pub fn debug() -> Result<PathBuf> {
    build("dev", "debug")
}

/// Builds the command in a profile. Cargo puts what it builds into a folder of the target folder.
fn build(profile: &str, folder: &str) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["build", "--profile", profile, "--bin", "emend"]).status()?;
    ensure!(built.success(), "the {profile} build failed");
    Ok(target()?.join(folder).join("emend"))
}

/// Returns where Cargo builds, and where the suites put what they make.
pub fn target() -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    target.canonicalize().with_context(|| format!("there is no {}", target.display()))
}
