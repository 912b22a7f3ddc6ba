//! Whether a project still checks: how many errors its own tools find in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::Result;
use serde_json::Value;

use super::sources::Language;
use crate::installed;

/// A PATH with the servers of npm, and then that of the machine.
pub(super) fn search() -> Result<OsString> {
    let mut folders = Vec::new();
    if let Some(packages) = installed::packages("servers", Path::new("tests/servers"))? {
        folders.push(packages.join("node_modules").join(".bin"));
    }
    folders.extend(installed::node()?.parent().filter(|folder| folder.is_absolute()).map(PathBuf::from));
    folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    Ok(std::env::join_paths(folders)?)
}

/// Returns the errors of a project.
pub(super) fn errors(language: Language, root: &Path) -> Result<Vec<String>> {
    let run = |program: &str, arguments: &[&str]| -> Result<Output> {
        let mut command = Command::new(program);
        Ok(command.args(arguments).env("PATH", search()?).current_dir(root).output()?)
    };
    let lines = |output: &Output, sign: &str| {
        let said = [&output.stdout[..], &output.stderr[..]].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        said.lines().filter(|line| line.contains(sign)).map(str::to_owned).collect::<Vec<String>>()
    };
    Ok(match language {
        Language::Python => {
            let said = run("pyright", &["--outputjson"])?;
            let said: Value = serde_json::from_slice(&said.stdout)?;
            let all = said["generalDiagnostics"].as_array().into_iter().flatten();
            all.filter(|found| found["severity"] == "error").map(ToString::to_string).collect()
        }
        Language::TypeScript => lines(&run("tsc", &["--noEmit", "-p", "."])?, "error TS"),
        // A method that other packages know by its name compiles under any other.
        Language::Go => lines(&run("go", &["vet", "-stdmethods=false", "./..."])?, ".go:"),
        Language::C => {
            let mut all = Vec::new();
            for entry in std::fs::read_dir(root)? {
                let path = entry?.path();
                if path.extension().is_some_and(|ending| ending == "c") {
                    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    all.extend(lines(&run("cc", &["-fsyntax-only", "-w", &name])?, "error:"));
                }
            }
            all
        }
    })
}
