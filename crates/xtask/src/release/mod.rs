//! What a release offers, made from the built programs and the templates in `packaging`, and tried on this machine:
//! archives, bundles, packages for npm, installers and manifests. See packaging/README.md.

mod npm;
mod template;
mod tried;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use emend_torture::{bounded, built, installed};

use self::template::{Archive, Release};
use crate::bundle;
use crate::target::{FROM, LICENCES, REPOSITORY, TARGETS, Target, VERSION, WINDOWS, sha256};

/// The templates for every system, and those for Windows alone.
const FOR_ALL: [&str; 2] = ["install.sh", "homebrew/emend.rb"];
const FOR_WINDOWS: [&str; 5] = [
    "install.ps1",
    "scoop/emend.json",
    "winget/EmendMcp.Emend.yaml",
    "winget/EmendMcp.Emend.installer.yaml",
    "winget/EmendMcp.Emend.locale.en-US.yaml",
];

/// The timeout for packing an archive.
const TIME: Duration = Duration::from_secs(120);

/// Makes everything from the programs in `builds` (`TRIPLE/emend`), or from this machine's own release build.
pub(crate) fn run(builds: Option<&Path>) -> Result<()> {
    if !(installed::is_there("npm") && installed::is_there("python3")) {
        ensure!(std::env::var_os("CI").is_none(), "a release needs npm and Python 3, and CI is set");
        println!("there is no npm or no Python 3 here: no release is made");
        return Ok(());
    }
    let own = Target::own()?;
    let programs: Vec<(&'static Target, PathBuf)> = match builds {
        None => vec![(own, built::release()?)],
        Some(builds) => {
            let program =
                |target: &'static Target| (target, builds.join(target.triple).join(target.program()));
            TARGETS.iter().map(program).filter(|(_, program)| program.is_file()).collect()
        }
    };
    ensure!(!programs.is_empty(), "no program is there, such as {}/emend", own.triple);
    let programs: Vec<(&'static Target, &Path)> =
        programs.iter().map(|(target, program)| (*target, program.as_path())).collect();

    let target = built::target()?;
    let (offer, work) = (target.join("offer"), target.join("offer-work"));
    for folder in [&offer, &work] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
    }
    let archives: Vec<Archive> = programs
        .iter()
        .map(|(target, program)| archive(target, program, &work, &offer))
        .collect::<Result<_>>()?;
    bundle::run(&programs)?;
    for bundle in bundle::files()? {
        let name = bundle.file_name().context("a bundle has a name")?;
        fs::copy(&bundle, offer.join(name))?;
    }
    npm::pack(&programs, &work, &offer)?;
    let release = Release { version: VERSION, repository: REPOSITORY, archives: &archives };
    write_manifests(&release, &offer)?;
    write_sums(&offer)?;

    tried::manifests(&offer, &release.address())?;
    if let Some((target, _)) = programs.iter().find(|(target, _)| *target == own) {
        tried::installer(&offer, target)?;
        tried::npm_packages(&offer, target)?;
    }
    let triples: Vec<&str> = programs.iter().map(|(target, _)| target.triple).collect();
    println!("{}: what a release offers for {}", offer.display(), triples.join(", "));
    Ok(())
}

/// Packs a program with its licences and the README.
fn archive(target: &'static Target, program: &Path, work: &Path, offer: &Path) -> Result<Archive> {
    let name = format!("emend-{VERSION}-{}", target.triple);
    let folder = work.join(&name);
    target.put(program, &folder)?;
    for other in LICENCES.iter().chain(&["README.md"]) {
        fs::copy(other, folder.join(other))?;
    }
    let file = format!("{name}.{}", if target.is_windows() { "zip" } else { "tar.gz" });
    let packed = offer.join(&file);
    let script = Path::new(FROM).join("archive.py");
    bounded::run(Command::new("python3").arg(script).arg(&folder).arg(&packed), TIME)?;
    Ok(Archive { triple: target.triple, name, sha256: sha256(&packed)?, file })
}

fn write_manifests(release: &Release<'_>, offer: &Path) -> Result<()> {
    let windows = release.archives.iter().find(|archive| archive.triple == WINDOWS);
    let for_windows = FOR_WINDOWS.iter().filter(|_| windows.is_some());
    for template in FOR_ALL.iter().chain(for_windows) {
        let text = fs::read_to_string(Path::new(FROM).join(template))?;
        let filled = release.fill(&text, windows).with_context(|| format!("packaging/{template}"))?;
        let name = Path::new(template).file_name().context("a template has a name")?;
        fs::write(offer.join(name), filled)?;
    }
    Ok(())
}

/// Writes the hash of every file, as `sha256sum --check` reads it.
fn write_sums(offer: &Path) -> Result<()> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(offer)? {
        let entry = entry?;
        lines.push((entry.file_name().to_string_lossy().into_owned(), sha256(&entry.path())?));
    }
    lines.sort();
    let lines: String = lines.iter().map(|(name, hash)| format!("{hash}  {name}\n")).collect();
    Ok(fs::write(offer.join("SHA256SUMS"), lines)?)
}
