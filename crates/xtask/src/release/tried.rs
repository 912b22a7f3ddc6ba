//! What a release offers, tried as far as this machine can: installed from the files at hand, and started.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use emend_testkit::{Folder, Launch};
use serde_json::Value;

use emend_torture::{bounded, installed};

use super::npm;
use crate::target::{Target, VERSION, sha256};

/// The timeout for one step.
const TIME: Duration = Duration::from_secs(120);

/// The manifests that name files of the release and their hashes.
const MANIFESTS: [&str; 6] =
    ["install.sh", "install.ps1", "emend.rb", "emend.json", "EmendMcp.Emend.installer.yaml", "server.json"];

/// What the manifests for Windows must say, at their left edge.
const KEYS: [(&str, &[&str]); 3] = [
    ("EmendMcp.Emend.yaml", &["DefaultLocale"]),
    (
        "EmendMcp.Emend.installer.yaml",
        &["InstallerType", "NestedInstallerType", "NestedInstallerFiles", "Installers"],
    ),
    (
        "EmendMcp.Emend.locale.en-US.yaml",
        &["PackageLocale", "Publisher", "PackageName", "License", "ShortDescription"],
    ),
];

/// Checks that every hash in a manifest is that of a file of the release, and every address that of one.
pub(crate) fn manifests(offer: &Path, address: &str) -> Result<()> {
    let mut hashes = BTreeSet::new();
    for entry in fs::read_dir(offer)? {
        hashes.insert(sha256(&entry?.path())?);
    }
    let mut checked = 0;
    for manifest in MANIFESTS.iter().filter(|manifest| offer.join(manifest).exists()) {
        let text = fs::read_to_string(offer.join(manifest))?;
        let is_word = |c: char| c.is_ascii_alphanumeric();
        for hash in text.split(|c| !is_word(c)).filter(|word| word.len() == 64) {
            ensure!(hashes.contains(&hash.to_lowercase()), "{manifest}: no file has the SHA-256 {hash}");
            checked += 1;
        }
        for rest in text.split(&format!("{address}/")).skip(1) {
            let end = rest.find(|c: char| c.is_whitespace() || "\"'".contains(c)).unwrap_or(rest.len());
            let file = &rest[..end];
            ensure!(file.starts_with('$') || offer.join(file).is_file(), "{manifest}: there is no {file}");
        }
    }
    ensure!(checked > 0, "no manifest names a file of the release");
    if offer.join("emend.json").exists() {
        form_for_windows(offer)?;
    }
    bounded::run(Command::new("sh").args(["-n", "install.sh"]).current_dir(offer), TIME)?;
    for (program, arguments) in
        [("ruby", &["-c", "emend.rb"][..]), ("pwsh", &["-NoProfile", "-Command", PARSE])]
    {
        if installed::is_there(program) {
            bounded::run(Command::new(program).args(arguments).current_dir(offer), TIME)?;
        } else {
            println!("there is no {program} here: what it reads is not checked by it");
        }
    }
    println!("the manifests name {checked} files by their SHA-256, and all of them are there");
    Ok(())
}

/// Checks that the manifests for Windows have what Scoop and winget ask for.
fn form_for_windows(offer: &Path) -> Result<()> {
    let scoop: Value = serde_json::from_slice(&fs::read(offer.join("emend.json"))?).context("emend.json")?;
    for pointer in
        ["/version", "/homepage", "/license", "/bin", "/architecture/64bit/url", "/architecture/64bit/hash"]
    {
        ensure!(scoop.pointer(pointer).is_some_and(Value::is_string), "emend.json has no {pointer}");
    }
    for (manifest, keys) in KEYS {
        let text = fs::read_to_string(offer.join(manifest))?;
        let has = |key: &str| text.lines().any(|line| line.split(':').next() == Some(key));
        let always = ["PackageIdentifier", "PackageVersion", "ManifestType", "ManifestVersion"];
        for key in always.iter().chain(keys) {
            ensure!(has(key), "{manifest} has no {key}");
        }
    }
    Ok(())
}

/// Fails if the script has an error of syntax.
const PARSE: &str =
    "if (Test-Path install.ps1) { $null = [ScriptBlock]::Create((Get-Content -Raw install.ps1)) }";

/// Runs the installer from the files at hand, and with an archive that was changed.
pub(crate) fn installer(offer: &Path, target: &Target) -> Result<()> {
    let folder = Folder::new();
    let to = folder.path().join("bin");
    let install = |from: &Path, to: &Path| {
        let mut sh = Command::new("sh");
        sh.arg(offer.join("install.sh")).arg("--from").arg(from).arg("--to").arg(to);
        bounded::run(&mut sh, TIME)
    };
    // The second time, there is one already.
    for _ in 0..2 {
        install(offer, &to)?;
        says_its_version(Command::new(to.join("emend")))?;
    }
    let archive = format!("emend-{VERSION}-{}.tar.gz", target.triple);
    let mut changed = fs::read(offer.join(&archive))?;
    let middle = changed.len() / 2;
    changed[middle] ^= 1;
    folder.write(&format!("changed/{archive}"), changed);
    let nowhere = folder.path().join("nowhere");
    let refused = install(&folder.path().join("changed"), &nowhere);
    let told = refused.err().context("a changed archive was installed")?.to_string();
    ensure!(told.contains("Nothing was installed") && !nowhere.exists(), "{told}");
    println!("install.sh: installed twice, and a changed archive refused");
    Ok(())
}

/// Installs the packages for npm from the files at hand, and edits a file through them.
pub(crate) fn npm_packages(offer: &Path, target: &Target) -> Result<()> {
    let folder = Folder::with([("notes.md", "- tea\n")]);
    let install = |place: &Path, files: &[String]| {
        fs::create_dir_all(place)?;
        let files = files.iter().map(|file| offer.join(file));
        let mut npm = Command::new("npm");
        npm.args([
            "install",
            "--offline",
            "--no-audit",
            "--no-fund",
            "--no-update-notifier",
            "--ignore-scripts",
        ]);
        bounded::run(npm.arg("--prefix").arg(place).args(files).current_dir(place), TIME)
    };
    let place = folder.beside("npm");
    install(&place, &[npm::main_file(), npm::file(target)])?;
    let started = place.join("node_modules/.bin/emend-mcp");
    says_its_version(Command::new(&started))?;
    let code = Command::new(&started).args(["init", "nobody"]).output()?.status.code();
    ensure!(code == Some(2), "the exit code of the program is not that of npm's command: {code:?}");
    let mut client = Launch::new(&started).workspace(folder.path()).state(folder.state()).modern();
    client.replace("notes.md", "tea", "cake").ok();
    ensure!(folder.text("notes.md") == "- cake\n", "nothing was edited through npm's command");
    drop(client);

    let without = folder.beside("without");
    install(&without, &[npm::main_file()])?;
    let refused = Command::new(without.join("node_modules/.bin/emend-mcp")).output()?;
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    ensure!(refused.status.code() == Some(1) && told.contains("is not installed"), "{told}");
    println!(
        "emend-mcp: installed from the packed files, tried by an edit, and its refusal without a program"
    );
    Ok(())
}

fn says_its_version(mut program: Command) -> Result<()> {
    let output = bounded::run(program.arg("--version"), TIME)?;
    let said = String::from_utf8(output.stdout)?;
    ensure!(said.trim_end() == format!("emend {VERSION}"), "{program:?} says {said:?}");
    Ok(())
}
