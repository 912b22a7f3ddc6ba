//! The command, compiled and linked for both kinds of Mac on a machine that is none; unless it is to be quick, its tests are
//! compiled too, with the lints. It cannot be run here: that is what the workflow's Macs are for.
//!
//! Zig brings a C compiler and a linker with what they need of macOS, but for two of Apple's frameworks. The linker only
//! wants to know what these have; so a list says that, and a symbol that is missing from it fails the link.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use emend_torture::{bounded, built, installed};

use crate::target::TARGETS;

/// The pinned versions of Zig and of cargo-zigbuild, which has Cargo use it; both come built from PyPI.
const REQUIREMENTS: &str = "packaging/macos/requirements.txt";
/// The timeouts for an installation, and for a build.
const INSTALLATION: Duration = Duration::from_secs(600);
const BUILD: Duration = Duration::from_secs(1800);

/// How much is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The command for both processors.
    Command,
    /// The tests too, with all lints.
    Everything,
}

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
pub(crate) fn run(extent: Extent) -> Result<()> {
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
    let work = built::target()?.join("macos");
    let zig = Zig { frameworks: frameworks(&work)?, python, work };
    let begun = Instant::now();
    // In one call, so that what is for both, and what is linked at the end, waits for nothing.
    zig.cargo("zigbuild", &triples, &["--bin", "emend", "--features", "apply-model"])?;
    for triple in &triples {
        let linked = built::target()?.join(triple).join("debug").join("emend");
        let program = fs::read(&linked)?;
        ensure!(
            program.starts_with(&[0xcf, 0xfa, 0xed, 0xfe]),
            "{} is no program for macOS",
            linked.display()
        );
        println!("{triple}: linked, {:.1} MB", program.len() as f64 / 1e6);
    }
    println!("in {:.0?}", begun.elapsed());
    if extent == Extent::Everything {
        // The code is the same for both.
        zig.cargo("clippy", &triples[..1], &["--workspace", "--all-targets", "--", "-D", "warnings"])?;
        println!("{}: its lints find nothing, and its tests compile", triples[0]);
    }
    Ok(())
}

/// What Cargo needs to build for a Mac.
struct Zig {
    /// The Python of the environment that has it.
    python: PathBuf,
    frameworks: PathBuf,
    /// The linker leaves a file where it is started.
    work: PathBuf,
}

impl Zig {
    fn cargo(&self, task: &str, triples: &[&str], arguments: &[&str]) -> Result<()> {
        let mut cargo = Command::new(self.python.with_file_name("cargo-zigbuild"));
        for (name, _) in std::env::vars_os() {
            // Cargo's word about this program would have build scripts run again.
            if name
                .to_str()
                .is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_"))
            {
                cargo.env_remove(name);
            }
        }
        cargo.args([task, "--locked", "--manifest-path"]).arg(std::env::current_dir()?.join("Cargo.toml"));
        for triple in triples {
            let flags = format!("CARGO_TARGET_{}_RUSTFLAGS", triple.to_uppercase().replace('-', "_"));
            cargo.args(["--target", triple]);
            cargo.env(flags, format!("-Clink-arg=-F{}", self.frameworks.display()));
        }
        cargo.args(arguments);
        cargo.env("CARGO_ZIGBUILD_PYTHON_PATH", &self.python).env("CARGO_PROFILE_DEV_DEBUG", "0");
        cargo.env("CARGO_TARGET_DIR", built::target()?).current_dir(&self.work);
        bounded::run(&mut cargo, BUILD).map(drop)
    }
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
