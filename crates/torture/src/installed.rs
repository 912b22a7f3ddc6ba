//! Packages from PyPI and npm that the suites need, in the versions that the repository pins. They are installed below
//! the target folder, once for each change of the pins.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::{bounded, built};

/// The timeout for an installation.
const TIME: Duration = Duration::from_secs(600);
/// The oldest Node that all clients accept. Where the machine's is older, this one is installed from npm.
const NODE: (u32, u32) = (22, 19);
const NODE_OF_NPM: &str = "node@22.23.3";

/// The Python of an environment with these requirements; `None` if the machine has no Python.
pub fn python(name: &str, requirements: &Path) -> Result<Option<PathBuf>> {
    let Some(version) = version_of("python3")? else { return Ok(None) };
    let folder = built::target()?.join("installed").join(name);
    let python = folder.join("bin").join("python");
    let wanted = version + &fs::read_to_string(requirements)?;
    once(&folder, &wanted, || {
        bounded::run(Command::new("python3").args(["-m", "venv"]).arg(&folder), TIME)?;
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
        bounded::run(Command::new(&python).args(install).arg(requirements), TIME)
    })?;
    Ok(Some(python))
}

/// A folder with the packages of a `package.json` and its lock file; `None` if the machine has no npm.
pub fn packages(name: &str, from: &Path) -> Result<Option<PathBuf>> {
    let Some(version) = version_of("npm")? else { return Ok(None) };
    let folder = built::target()?.join("installed").join(name);
    let pins = ["package.json", "package-lock.json"];
    let wanted = pins
        .iter()
        .try_fold(version, |all, pin| Ok::<_, std::io::Error>(all + &fs::read_to_string(from.join(pin))?))?;
    once(&folder, &wanted, || {
        for pin in pins {
            fs::copy(from.join(pin), folder.join(pin))?;
        }
        bounded::run(npm().arg("ci").arg("--prefix").arg(&folder), TIME)
    })?;
    Ok(Some(folder))
}

/// Copies the scripts beside the packages, where Node looks for imports.
pub fn stage(from: &Path, packages: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let is_script = path.extension().is_some_and(|end| end == "mjs" || end == "ts");
        if let Some(name) = path.file_name().filter(|_| is_script) {
            fs::copy(&path, packages.join(name))?;
        }
    }
    Ok(())
}

/// Copies a folder beside the packages, with its folders: scripts find their imports there, and the repository has no packages
/// in it.
pub fn stage_tree(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == "node_modules" || name == "package.json" || name == "package-lock.json" {
            continue;
        }
        let target = to.join(&name);
        if entry.file_type()?.is_dir() {
            if target.exists() {
                fs::remove_dir_all(&target)?;
            }
            fs::create_dir_all(&target)?;
            stage_tree(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// A new enough Node: the machine's, or one from npm.
pub fn node() -> Result<PathBuf> {
    let numbers = version_of("node")?.unwrap_or_default();
    let mut numbers =
        numbers.trim().trim_start_matches('v').split('.').map_while(|number| number.parse().ok());
    if (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)) >= NODE {
        return Ok("node".into());
    }
    let folder = built::target()?.join("installed").join("node");
    once(&folder, NODE_OF_NPM, || {
        bounded::run(npm().args(["install", "--no-save", NODE_OF_NPM, "--prefix"]).arg(&folder), TIME)
    })?;
    Ok(folder.join("node_modules").join("node").join("bin").join("node"))
}

fn npm() -> Command {
    let mut npm = Command::new("npm");
    npm.args(["--no-audit", "--no-fund", "--no-update-notifier"]);
    npm
}

/// Whether this machine has a program.
#[must_use]
pub fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The program's version line. A missing program is an error in CI, which promises that everything was tried. A user's
/// run skips what needs it.
fn version_of(program: &str) -> Result<Option<String>> {
    match Command::new(program).arg("--version").output() {
        Ok(output) if output.status.success() => Ok(Some(String::from_utf8(output.stdout)?)),
        _ if std::env::var_os("CI").is_some() => bail!("there is no {program} here, and CI is set"),
        _ => {
            println!("there is no {program} here: what needs it is skipped");
            Ok(None)
        }
    }
}

/// Fills the folder, unless it was filled for the same pins before.
pub fn once<T>(folder: &Path, wanted: &str, fill: impl FnOnce() -> Result<T>) -> Result<()> {
    let mark = folder.join("installed");
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("installing what is wanted in {}", folder.display());
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    fill().with_context(|| format!("{} is not installed", folder.display()))?;
    ensure!(!mark.exists(), "{} is ours", mark.display());
    fs::write(mark, wanted)?;
    Ok(())
}
