//! The bundles for desktop clients, packed, and tried where this machine can start the program; and their entry for the
//! registry. See packaging/README.md.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use emend_testkit::{Folder, Launch};
use serde_json::{Value, json};

use emend_torture::{bounded, built, installed};

use crate::target::{FROM, LICENCES, REPOSITORY, Target, VERSION, sha256};

/// The timeout for one step.
const TIME: Duration = Duration::from_secs(120);

/// Packs a bundle with each of these programs, and tries the one of this machine.
pub(crate) fn run(programs: &[(&'static Target, &Path)]) -> Result<()> {
    let Some(packages) = installed::packages("packaging", Path::new(FROM))? else { return Ok(()) };
    let node = installed::node()?;
    let into = emptied(folder()?)?;
    fs::create_dir_all(&into)?;
    for (target, emend) in programs {
        let mcpb = Mcpb { node: &node, packages: &packages };
        let (bundle, manifest) = mcpb.pack(target, emend, &into)?;
        let tried = if *target == Target::own()? {
            mcpb.try_out(&bundle, &manifest, &into)?;
            "unpacked again and tried"
        } else {
            "packed"
        };
        let bytes = fs::metadata(&bundle)?.len();
        println!("{}: {:.1} MB, {tried}", bundle.display(), bytes as f64 / 1e6);
    }
    write_entry(&into)
}

/// The bundles that were packed, and their entry for the registry.
pub(crate) fn files() -> Result<Vec<PathBuf>> {
    let into = folder()?;
    let mut files: Vec<PathBuf> = names(&into)?.iter().map(|name| into.join(name)).collect();
    files.push(into.join("server.json"));
    files.retain(|file| file.is_file());
    Ok(files)
}

fn folder() -> Result<PathBuf> {
    Ok(built::target()?.join("bundle"))
}

/// The bundle format's own tool.
struct Mcpb<'a> {
    node: &'a Path,
    packages: &'a Path,
}

impl Mcpb<'_> {
    fn run(&self, task: &str, paths: &[&Path]) -> Result<()> {
        let tool =
            self.packages.join("node_modules").join("@anthropic-ai").join("mcpb").join("dist/cli/cli.js");
        bounded::run(Command::new(self.node).arg(tool).arg(task).args(paths), TIME)?;
        Ok(())
    }

    /// Stages, validates and packs a bundle.
    fn pack(&self, target: &Target, emend: &Path, into: &Path) -> Result<(PathBuf, Value)> {
        let staged = emptied(into.join("staged"))?;
        let manifest = stage(target, emend, &staged)?;
        let bundle = into.join(format!("emend-{VERSION}-{}-{}.mcpb", target.os, target.arch));
        self.run("validate", &[&staged.join("manifest.json")])?;
        self.run("pack", &[&staged, &bundle])?;
        Ok((bundle, manifest))
    }

    /// Unpacks a bundle and runs the command that a client would run.
    fn try_out(&self, bundle: &Path, manifest: &Value, into: &Path) -> Result<()> {
        let unpacked = emptied(into.join("unpacked"))?;
        self.run("unpack", &[bundle, &unpacked])?;
        // Node looks for imports beside the script.
        let script = self.packages.join("command.mjs");
        fs::copy(Path::new(FROM).join("command.mjs"), &script)?;
        let folders = [Folder::with([("notes.md", "- tea\n")]), Folder::with([("menu.txt", "soup\r\n")])];
        let mut ask = Command::new(self.node);
        ask.arg(script).arg(&unpacked).args(folders.iter().map(Folder::path));
        let asked = bounded::run(&mut ask, TIME)?;
        let command: Value = serde_json::from_slice(&asked.stdout).context("the command of the manifest")?;
        check(&command, manifest, &folders)
    }
}

/// This folder, with nothing in it.
fn emptied(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    Ok(folder)
}

/// Stages the files of a bundle. The manifest names all platforms, but a bundle has the program of one.
fn stage(target: &Target, emend: &Path, staged: &Path) -> Result<Value> {
    let mut manifest: Value = serde_json::from_slice(&fs::read(Path::new(FROM).join("manifest.json"))?)?;
    let platforms = &mut manifest["compatibility"]["platforms"];
    ensure!(
        platforms.as_array().is_some_and(|all| all.iter().any(|one| one == target.platform())),
        "manifest.json does not name the platform {}",
        target.platform()
    );
    *platforms = json!([target.platform()]);
    let entry = manifest["server"]["entry_point"].as_str().context("the entry point")?.to_owned();
    let folder = Path::new(&entry).parent().context("a folder for the program")?;
    target.put(emend, &staged.join(folder))?;
    if target.is_windows() {
        let command = manifest["server"]["mcp_config"]["command"].as_str().context("the command")?.to_owned();
        manifest["server"]["mcp_config"]["command"] = json!(format!("{command}.exe"));
        manifest["server"]["entry_point"] = json!(format!("{entry}.exe"));
    }
    for name in LICENCES {
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
    for name in names(into)? {
        let hash = sha256(&into.join(&name))?;
        packages.push((name, hash));
    }
    let package = |(name, hash)| {
        let identifier = format!("{REPOSITORY}/releases/download/v{VERSION}/{name}");
        json!({"registryType": "mcpb", "identifier": identifier, "fileSha256": hash, "transport": {"type": "stdio"}})
    };
    entry["packages"] = packages.into_iter().map(package).collect();
    let path = into.join("server.json");
    fs::write(&path, serde_json::to_string_pretty(&entry)? + "\n")?;
    println!("{}: the registry's entry for it", path.display());
    Ok(())
}

/// The names of the bundles of this version.
fn names(into: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for file in fs::read_dir(into)? {
        names.push(file?.file_name().to_string_lossy().into_owned());
    }
    names.retain(|name| name.starts_with(&format!("emend-{VERSION}-")) && name.ends_with(".mcpb"));
    names.sort();
    Ok(names)
}
