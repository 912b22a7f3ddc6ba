//! The systems that a release is for, and what all of its packages have in common.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// The folder with what packages are made of.
pub(crate) const FROM: &str = "packaging";
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
pub(crate) const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");
/// The licences, which each package has.
pub(crate) const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// A system, with the words that each kind of package has for it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// Rust's.
    pub(crate) triple: &'static str,
    /// Those of this program, which the names of bundles have.
    pub(crate) os: &'static str,
    pub(crate) arch: &'static str,
    /// Node's.
    pub(crate) node: (&'static str, &'static str),
}

/// Every system that has a template's block, a package of npm and a job of the workflow.
pub(crate) const TARGETS: [Target; 5] = [
    Target { triple: "x86_64-unknown-linux-gnu", os: "linux", arch: "x86_64", node: ("linux", "x64") },
    Target { triple: "aarch64-unknown-linux-gnu", os: "linux", arch: "aarch64", node: ("linux", "arm64") },
    Target { triple: "x86_64-apple-darwin", os: "macos", arch: "x86_64", node: ("darwin", "x64") },
    Target { triple: "aarch64-apple-darwin", os: "macos", arch: "aarch64", node: ("darwin", "arm64") },
    Target { triple: WINDOWS, os: "windows", arch: "x86_64", node: ("win32", "x64") },
];

/// The one system that Scoop and winget are for.
pub(crate) const WINDOWS: &str = "x86_64-pc-windows-msvc";

impl Target {
    /// That of this machine.
    pub(crate) fn own() -> Result<&'static Self> {
        let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
        let own = TARGETS.iter().find(|target| (target.os, target.arch) == (os, arch));
        own.with_context(|| format!("a release has nothing for {os} on {arch}"))
    }

    pub(crate) fn is_windows(&self) -> bool {
        self.os == "windows"
    }

    /// The name of the program's file.
    pub(crate) fn program(&self) -> &'static str {
        if self.is_windows() { "emend.exe" } else { "emend" }
    }

    /// What bundles and npm call the system.
    pub(crate) fn platform(&self) -> &'static str {
        self.node.0
    }

    /// Copies a built program into the folder of a package. What came from another machine may have lost the bit that makes it
    /// executable.
    pub(crate) fn put(&self, program: &Path, into: &Path) -> Result<()> {
        use std::os::unix::fs::PermissionsExt;
        fs::create_dir_all(into)?;
        let copy = into.join(self.program());
        fs::copy(program, &copy).with_context(|| format!("{} cannot be copied", program.display()))?;
        Ok(fs::set_permissions(copy, fs::Permissions::from_mode(0o755))?)
    }
}

/// The SHA-256 of a file, in lower case.
pub(crate) fn sha256(path: &Path) -> Result<String> {
    let hash = Sha256::digest(fs::read(path)?);
    Ok(hash.iter().map(|byte| format!("{byte:02x}")).collect())
}
