//! The command, compiled and linked for both kinds of Mac on a machine that is none, and its lints and tests compiled. It
//! cannot be run here: that is what the workflow's Macs are for.
//!
//! Zig brings a C compiler and a linker with what they need of macOS, but for two of Apple's frameworks. The linker only
//! wants to know what these have; so a list says that, and a symbol that is missing from it fails the link.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};

use emend_torture::{bounded, built, installed};

use crate::target::TARGETS;

/// The pinned version of Zig, from PyPI.
const REQUIREMENTS: &str = "packaging/macos/requirements.txt";
/// The pinned cargo-zigbuild, which has Cargo use it.
const ZIGBUILD: &str = "0.20.1";
/// The timeouts for an installation, and for a build.
const INSTALLATION: Duration = Duration::from_secs(600);
const BUILD: Duration = Duration::from_secs(1800);

/// What the watching of files uses of Apple's frameworks.
const FRAMEWORKS: [(&str, &[&str]); 2] = [
    (
        "CoreFoundation",
        &[
            "CFArrayAppendValue",
            "CFArrayCreateMutable",
            "CFArrayGetCount",
            "CFArrayGetValueAtIndex",
            "CFArrayInsertValueAtIndex",
            "CFArrayRemoveValueAtIndex",
            "CFRelease",
            "CFRetain",
            "CFRunLoopGetCurrent",
            "CFRunLoopIsWaiting",
            "CFRunLoopRun",
            "CFRunLoopStop",
            "CFStringCompare",
            "CFURLCopyAbsoluteURL",
            "CFURLCopyFileSystemPath",
            "CFURLCopyLastPathComponent",
            "CFURLCreateCopyAppendingPathComponent",
            "CFURLCreateCopyDeletingLastPathComponent",
            "CFURLCreateFilePathURL",
            "CFURLCreateFileReferenceURL",
            "CFURLCreateFromFileSystemRepresentation",
            "CFURLCreateFromFileSystemRepresentationRelativeToBase",
            "CFURLResourceIsReachable",
            "kCFAllocatorDefault",
            "kCFRunLoopDefaultMode",
            "kCFTypeArrayCallBacks",
        ],
    ),
    (
        "CoreServices",
        &[
            "FSEventStreamCreate",
            "FSEventStreamGetDeviceBeingWatched",
            "FSEventStreamInvalidate",
            "FSEventStreamRelease",
            "FSEventStreamScheduleWithRunLoop",
            "FSEventStreamStart",
            "FSEventStreamStop",
            "FSEventsGetCurrentEventId",
            "FSEventsPurgeEventsForDeviceUpToEventId",
        ],
    ),
];

/// Builds the command for each Mac, or says what is missing here.
pub(crate) fn run() -> Result<()> {
    let triples: Vec<&str> =
        TARGETS.iter().filter(|target| target.os == "macos").map(|target| target.triple).collect();
    let mut add = Command::new("rustup");
    if !installed::is_there("rustup")
        || bounded::run(add.args(["target", "add"]).args(&triples), INSTALLATION).is_err()
    {
        ensure!(std::env::var_os("CI").is_none(), "Rust's libraries for macOS cannot be had, and CI is set");
        println!("rustup cannot install Rust's libraries for macOS here: nothing is compiled for it");
        return Ok(());
    }
    let Some(python) = installed::python("zig", Path::new(REQUIREMENTS))? else { return Ok(()) };
    let zigbuild = zigbuild()?;
    let work = built::target()?.join("macos");
    let frameworks = frameworks(&work)?;
    let root = std::env::current_dir()?.join("Cargo.toml");
    for (at, triple) in triples.iter().enumerate() {
        let cargo = |task: &str, arguments: &[&str]| {
            let mut cargo = Command::new(&zigbuild);
            for (name, _) in std::env::vars_os() {
                // Cargo's word about this program would have build scripts run again.
                if name
                    .to_str()
                    .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
                {
                    cargo.env_remove(name);
                }
            }
            let flags = format!("CARGO_TARGET_{}_RUSTFLAGS", triple.to_uppercase().replace('-', "_"));
            cargo.args([task, "--locked", "--target", triple, "--manifest-path"]).arg(&root).args(arguments);
            cargo.env(flags, format!("-Clink-arg=-F{}", frameworks.display()));
            cargo.env("CARGO_ZIGBUILD_PYTHON_PATH", &python).env("CARGO_PROFILE_DEV_DEBUG", "0");
            // The linker leaves a file where it is started.
            bounded::run(cargo.env("CARGO_TARGET_DIR", built::target()?).current_dir(&work), BUILD)
        };
        cargo("zigbuild", &["--bin", "emend", "--features", "apply-model"])?;
        let linked = built::target()?.join(triple).join("debug").join("emend");
        let magic = fs::read(&linked)?;
        ensure!(magic.starts_with(&[0xcf, 0xfa, 0xed, 0xfe]), "{} is no program for macOS", linked.display());
        println!("{triple}: linked, {:.1} MB", magic.len() as f64 / 1e6);
        // The code is the same for both.
        if at == 0 {
            cargo("clippy", &["--workspace", "--all-targets", "--", "-D", "warnings"])?;
            println!("{triple}: its lints find nothing, and its tests compile");
        }
    }
    Ok(())
}

/// Installs cargo-zigbuild below the target folder, without optimisation: it only starts others.
fn zigbuild() -> Result<PathBuf> {
    let folder = built::target()?.join("installed").join("zigbuild");
    installed::once(&folder, ZIGBUILD, || {
        let mut install = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        install.args(["install", "cargo-zigbuild", "--version", ZIGBUILD, "--locked", "--debug", "--root"]);
        bounded::run(install.arg(&folder).env("CARGO_PROFILE_DEV_DEBUG", "0"), INSTALLATION)
    })?;
    Ok(folder.join("bin").join("cargo-zigbuild"))
}

/// Writes what the linker reads of a framework: its name on a Mac, and its symbols.
fn frameworks(work: &Path) -> Result<PathBuf> {
    let folder = work.join("frameworks");
    for (name, symbols) in FRAMEWORKS {
        let framework = folder.join(format!("{name}.framework"));
        fs::create_dir_all(&framework)?;
        let mut text =
            String::from("--- !tapi-tbd\ntbd-version: 4\ntargets: [ x86_64-macos, arm64-macos ]\n");
        writeln!(text, "install-name: '/System/Library/Frameworks/{name}.framework/Versions/A/{name}'")?;
        writeln!(text, "exports:\n  - targets: [ x86_64-macos, arm64-macos ]")?;
        let symbols: Vec<String> = symbols.iter().map(|symbol| format!("_{symbol}")).collect();
        writeln!(text, "    symbols: [ {} ]\n...", symbols.join(", "))?;
        fs::write(framework.join(format!("{name}.tbd")), text)?;
    }
    Ok(folder)
}
