//! The packages for npm: one with the program for each system, and `emend-mcp`, which starts the one that npm has
//! installed.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use emend_torture::bounded;

use crate::target::{FROM, LICENCES, Target, VERSION};

/// The timeout for packing a package.
const TIME: Duration = Duration::from_secs(120);

/// The name of a system's package.
fn name(target: &Target) -> String {
    format!("emend-mcp-{}-{}", target.node.0, target.node.1)
}

/// The file that npm packs a system's package into.
pub(crate) fn file(target: &Target) -> String {
    format!("{}-{VERSION}.tgz", name(target))
}

/// The file of the package that people name.
pub(crate) fn main_file() -> String {
    format!("emend-mcp-{VERSION}.tgz")
}

/// Packs a package for each of these programs, and the one that starts them.
pub(crate) fn pack(programs: &[(&'static Target, &Path)], work: &Path, into: &Path) -> Result<()> {
    let from = Path::new(FROM).join("npm");
    let template = fs::read_to_string(from.join("package.json"))?.replace("@VERSION@", VERSION);
    let mut main: Value = serde_json::from_str(&template).context("packaging/npm/package.json")?;
    for (target, program) in programs {
        let mut package = json!({
            "name": name(target),
            "version": VERSION,
            "description": format!("The program of emend-mcp for {} on {}.", target.node.0, target.node.1),
            "license": main["license"],
            "repository": main["repository"],
            "os": [target.node.0],
            "cpu": [target.node.1],
            "files": [target.program(), LICENCES[0], LICENCES[1]],
            // Programs cannot be started from inside of an archive.
            "preferUnplugged": true,
        });
        if target.os == "linux" {
            package["libc"] = json!(["glibc"]);
        }
        main["optionalDependencies"][name(target)] = json!(VERSION);
        let folder = work.join(name(target));
        target.put(program, &folder)?;
        pack_folder(&folder, &package, into)?;
    }
    let folder = work.join("emend-mcp");
    fs::create_dir_all(&folder)?;
    fs::copy(from.join("emend.mjs"), folder.join("emend.mjs"))?;
    fs::copy("README.md", folder.join("README.md"))?;
    pack_folder(&folder, &main, into)
}

fn pack_folder(folder: &Path, package: &Value, into: &Path) -> Result<()> {
    fs::write(folder.join("package.json"), serde_json::to_string_pretty(package)? + "\n")?;
    for licence in LICENCES {
        fs::copy(licence, folder.join(licence))?;
    }
    let mut pack = Command::new("npm");
    pack.args(["pack", "--silent", "--ignore-scripts", "--no-update-notifier", "--pack-destination"]);
    bounded::run(pack.arg(into).current_dir(folder), TIME)?;
    Ok(())
}
