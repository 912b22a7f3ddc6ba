//! Real agents against the release build, set up by `emend init`: Claude Code, Codex, Gemini CLI and opencode. A model on
//! loopback plays a script for them. The script in tests/agents asserts what the agent shows its model, what Claude Code
//! shows a person on a terminal, and the bytes on disk. Each agent has its own home and workspace, and must leave no process running.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use emend_testkit::Folder;
use rustix::process::{Pid, Signal, kill_process};

use crate::{bounded, installed};

/// The folder of the scripts, the model and the pinned versions.
const FROM: &str = "tests/agents";

/// The timeout for one agent. Most of the time goes into its start, a second or two.
const TIME: Duration = Duration::from_secs(75);
/// How long processes of an agent may run after its end.
const AFTER: Duration = Duration::from_secs(10);

const AGENTS: &[(&str, &str)] = &[
    ("claude-code", "with_claude_code.mjs"),
    ("codex", "with_codex.mjs"),
    ("gemini-cli", "with_gemini_cli.mjs"),
    ("opencode", "with_opencode.mjs"),
];

/// Plays the script with these agents, by default with all.
pub(crate) fn run(emend: &Path, names: &[&str]) -> Result<()> {
    for name in names {
        let known: Vec<&str> = AGENTS.iter().map(|agent| agent.0).collect();
        ensure!(known.contains(name), "there is no '{name}'; there are: {}", known.join(", "));
    }
    let Some(packages) = installed::packages("agents", Path::new(FROM))? else { return Ok(()) };
    installed::stage(Path::new(FROM), &packages)?;
    let node = installed::node()?;
    let mut failures = Vec::new();
    for (name, script) in AGENTS.iter().filter(|agent| names.is_empty() || names.contains(&agent.0)) {
        let begun = Instant::now();
        let mut command = Command::new(&node);
        command.arg(packages.join(script));
        match play(emend, command) {
            Ok(()) => println!("{name:<20}{:>10.1} s", begun.elapsed().as_secs_f64()),
            Err(error) => failures.push(format!("{name}: {error:#}")),
        }
    }
    for failure in &failures {
        eprintln!("{failure}");
    }
    ensure!(failures.is_empty(), "{} of the rounds failed", failures.len());
    Ok(())
}

/// Plays the script with one agent, then kills what still runs.
fn play(emend: &Path, mut command: Command) -> Result<()> {
    let folder = Folder::new();
    let home = folder.beside("home");
    fs::create_dir(&home)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", &home);
    command.env("EMEND", emend).env("EMEND_WORKSPACE", folder.path());
    let played = bounded::run(&mut command, TIME);
    let left = left_behind(&home);
    played?;
    let left = left?;
    ensure!(left.is_empty(), "these were left running, and are ended now: {}", left.join(", "));
    Ok(())
}

/// Kills the processes of this home that do not end by themselves, and returns their programs.
fn left_behind(home: &Path) -> Result<Vec<String>> {
    let deadline = Instant::now() + AFTER;
    loop {
        let processes = at_home(home)?;
        if processes.is_empty() {
            return Ok(Vec::new());
        }
        if Instant::now() < deadline {
            thread::sleep(Duration::from_millis(20));
            continue;
        }
        let mut programs = Vec::new();
        for process in processes {
            let name = fs::read_to_string(process.join("comm")).unwrap_or_default();
            let id = process.file_name().and_then(|id| id.to_str()?.parse().ok()).and_then(Pid::from_raw);
            // This fails if the process has just ended.
            let _ = kill_process(id.context("a process has an id")?, Signal::KILL);
            programs.push(name.trim_end().to_owned());
        }
        return Ok(programs);
    }
}

/// The processes whose environment has this home, as folders of /proc.
fn at_home(home: &Path) -> Result<Vec<PathBuf>> {
    let wanted = [b"HOME=", home.as_os_str().as_encoded_bytes()].concat();
    let mut found = Vec::new();
    for process in fs::read_dir("/proc")? {
        let process = process?.path();
        // A process that has ended, or is another user's, cannot be read.
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        if environment.split(|byte| *byte == 0).any(|variable| variable == wanted) {
            found.push(process);
        }
    }
    Ok(found)
}
