//! Real formatters as filters of the release build. A file is edited many times, by text and by line number, each time
//! with text that the formatter changes. No edit may be stale, and in the end the formatter itself must find nothing to
//! change.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use emend_testkit::{Answer, Folder, Launch};
use serde_json::json;

use crate::{bounded, installed};

/// The pinned versions of the formatters.
const REQUIREMENTS: &str = "tests/formatter_versions.txt";
/// The number of edits to a file.
const EDITS: usize = 10;
/// The timeout for checking one file.
const TIME: Duration = Duration::from_secs(60);

/// A formatter, with its arguments as a filter and for checking a file.
type Formatter = (&'static str, &'static [&'static str], &'static [&'static str]);

const FORMATTERS: &[Formatter] = &[
    ("ruff", &["format", "--stdin-filename", "{path}", "-"], &["format", "--check"]),
    ("black", &["--quiet", "--stdin-filename", "{path}", "-"], &["--check", "--quiet"]),
];

/// Tries each formatter.
pub(crate) fn run(emend: &Path) -> Result<()> {
    let Some(python) = installed::python("formatters", Path::new(REQUIREMENTS))? else { return Ok(()) };
    for formatter in FORMATTERS {
        let name = formatter.0;
        edit(emend, &python.with_file_name(name), *formatter).with_context(|| format!("with {name}"))?;
        println!("{name}: {EDITS} edits by text and {EDITS} by line number, none of them stale");
    }
    Ok(())
}

fn edit(emend: &Path, program: &Path, (name, filter, judge): Formatter) -> Result<()> {
    let folder = Folder::with([("a.py", "def f(a):\n    return a\n\n\nx = 0\n")]);
    let command = json!([&[program.to_str().context("a path in UTF-8")?][..], filter].concat());
    let configuration = folder.beside("config.toml");
    fs::write(&configuration, format!("[[hooks.format]]\nfiles = ['*.py']\ncommand = {command}\n"))?;
    let launch = Launch::new(emend).workspace(folder.path()).state(folder.state());
    let mut client = launch.argument("--config").argument(&configuration).configured().legacy();
    let mut version = client.read("a.py").version();
    for i in 0..EDITS {
        let new = format!("x   = {}\ny{i} = [ {i},\n  'y' ]", i + 1);
        version = made(name, client.replace("a.py", &format!("x = {i}"), &new))?.version();
        let line = format!("def f(a ,b={i}) :\n");
        let numbered =
            json!({"path": "a.py", "version": version, "start_line": 1, "end_line": 1, "new_text": line});
        version = made(name, client.call("replace_lines", numbered))?.version();
    }
    ensure!(client.read("a.py").version() == version, "the last version is not the file's");
    bounded::run(Command::new(program).args(judge).arg(folder.at("a.py")), TIME)?;
    Ok(())
}

/// Checks that an edit was made and that the formatter ran.
fn made(name: &str, answer: Answer) -> Result<Answer> {
    let fired = answer.structured["side_effects_fired"].as_array().cloned().unwrap_or_default();
    ensure!(!answer.is_error && answer.structured["notes"].is_array(), "{}", answer.text);
    ensure!(fired.contains(&json!(format!("format:{name}"))), "it did not run: {}", answer.text);
    Ok(answer)
}
