//! The bundle for desktop clients, built and tried, and its entry for the registry; see packaging/README.md.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use emend_testkit::{Folder, Launch};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use emend_torture::{bounded, built, installed};

const FROM: &str = "packaging";
const VERSION: &str = env!("CARGO_PKG_VERSION");
const RELEASES: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/releases/download");

/// The timeout for one step.
const TIME: Duration = Duration::from_secs(120);

/// Stages, validates, packs, unpacks and tries the bundle.
pub(crate) fn run(emend: &Path) -> Result<()> {
    let Some(packages) = installed::packages("packaging", Path::new(FROM))? else { return Ok(()) };
    let node = installed::node()?;
    let into = built::target()?.join("bundle");
    let (staged, unpacked) = (into.join("staged"), into.join("unpacked"));
    let bundle =
        into.join(format!("emend-{VERSION}-{}-{}.mcpb", std::env::consts::OS, std::env::consts::ARCH));
    for folder in [&staged, &unpacked] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
    }
    let manifest = stage(emend, &staged)?;

    let mcpb = packages.join("node_modules").join("@anthropic-ai").join("mcpb").join("dist/cli/cli.js");
    let mcpb = |task: &str, paths: &[&Path]| {
        bounded::run(Command::new(&node).arg(&mcpb).arg(task).args(paths), TIME)
    };
    mcpb("validate", &[&staged.join("manifest.json")])?;
    mcpb("pack", &[&staged, &bundle])?;
    mcpb("unpack", &[&bundle, &unpacked])?;
    // Node looks for imports beside the script.
    let script = packages.join("command.mjs");
    fs::copy(Path::new(FROM).join("command.mjs"), &script)?;
    let folders = [Folder::with([("notes.md", "- tea\n")]), Folder::with([("menu.txt", "soup\r\n")])];
    let mut ask = Command::new(&node);
    ask.arg(script).arg(&unpacked).args(folders.iter().map(Folder::path));
    let asked = bounded::run(&mut ask, TIME)?;
    let command: Value = serde_json::from_slice(&asked.stdout).context("the command of the manifest")?;
    check(&command, &manifest, &folders)?;

    let bytes = fs::metadata(&bundle)?.len();
    println!("{}: {:.1} MB, unpacked again and tried", bundle.display(), bytes as f64 / 1e6);
    write_entry(&into)
}

/// Stages the files of the bundle. The manifest names all platforms, but a bundle has the binary of one.
fn stage(emend: &Path, staged: &Path) -> Result<Value> {
    let mut manifest: Value = serde_json::from_slice(&fs::read(Path::new(FROM).join("manifest.json"))?)?;
    let platform = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    let platforms = &mut manifest["compatibility"]["platforms"];
    ensure!(
        platforms.as_array().is_some_and(|all| all.iter().any(|one| one == platform)),
        "manifest.json does not name the platform {platform}"
    );
    *platforms = json!([platform]);
    let program = staged.join(manifest["server"]["entry_point"].as_str().context("the entry point")?);
    fs::create_dir_all(program.parent().context("a folder for the program")?)?;
    fs::copy(emend, program)?;
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(name, staged.join(name))?;
    }
    fs::write(staged.join("manifest.json"), serde_json::to_vec_pretty(&manifest)?)?;
    Ok(manifest)
}

/// Runs the command as a client would, with two folders, and edits in both.
fn check(command: &Value, manifest: &Value, folders: &[Folder; 2]) -> Result<()> {
    let program = command["command"].as_str().context("the command has a program")?;
    let mut arguments = command["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
    ensure!(arguments.next() == Some("serve"), "the bundle does not serve: {command}");
    let launch = Launch::new(program).variable("EMEND_STATE_DIR", folders[0].state());
    let mut client = arguments.fold(launch, Launch::argument).modern();

    let names = |tools: &[Value]| tools.iter().map(|tool| tool["name"].clone()).collect::<Vec<_>>();
    let in_manifest = manifest["tools"].as_array().context("the manifest lists tools")?;
    ensure!(names(&client.tools()) == names(in_manifest), "the manifest lists other tools than the server");
    let edits = [("notes.md", "tea", "cake", "- cake\n"), ("menu.txt", "soup", "stew", "stew\r\n")];
    for (folder, (name, old, new, result)) in folders.iter().zip(edits) {
        let answer = client.replace(name, old, new);
        ensure!(!answer.is_error, "{name} was not edited: {}", answer.text);
        ensure!(folder.text(name) == result, "{name} is {:?}", folder.text(name));
    }
    Ok(())
}

/// Writes the registry's entry, with a package for each bundle of this version in the folder.
fn write_entry(into: &Path) -> Result<()> {
    let mut entry: Value = serde_json::from_slice(&fs::read(Path::new(FROM).join("server.json"))?)?;
    let mut packages = Vec::new();
    for file in fs::read_dir(into)? {
        let name = file?.file_name().to_string_lossy().into_owned();
        if name.starts_with(&format!("emend-{VERSION}-")) && name.ends_with(".mcpb") {
            let hash = Sha256::digest(fs::read(into.join(&name))?);
            let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            packages.push((name, hash));
        }
    }
    packages.sort();
    let package = |(name, hash)| {
        let identifier = format!("{RELEASES}/v{VERSION}/{name}");
        json!({"registryType": "mcpb", "identifier": identifier, "fileSha256": hash, "transport": {"type": "stdio"}})
    };
    entry["packages"] = packages.into_iter().map(package).collect();
    let path = into.join("server.json");
    fs::write(&path, serde_json::to_string_pretty(&entry)? + "\n")?;
    println!("{}: the registry's entry for it", path.display());
    Ok(())
}
