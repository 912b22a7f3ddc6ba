//! Builds of the command for the suites, and the folder where Cargo puts them.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Builds the command as it ships and returns its path.
pub fn release() -> Result<PathBuf> {
    build("release", "release", &["--features", "apply-model,team"])
}

/// Builds the command as its tests use it and returns its path.
pub fn debug() -> Result<PathBuf> {
    build("dev", "debug", &[])
}

/// Builds the command in a profile, whose output is in `folder` below the target folder.
fn build(profile: &str, folder: &str, features: &[&str]) -> Result<PathBuf> {
    let built = cargo().args(["build", "--profile", profile, "--bin", "emend"]).args(features).status()?;
    ensure!(built.success(), "the {profile} build failed");
    Ok(target()?.join(folder).join("emend"))
}

/// Returns Cargo as a user starts it.
pub fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Cargo tells this program about its own package. A build script that looks at that, such as ring's, would run again, and
    // with it most of a release would be built a second time.
    let is_of_this_package =
        |name: &str| ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.starts_with(start));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_of_this_package)) {
        cargo.env_remove(name);
    }
    cargo
}

/// Returns the target folder, where the suites also put their own files.
pub fn target() -> Result<PathBuf> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    target.canonicalize().with_context(|| format!("there is no {}", target.display()))
}
