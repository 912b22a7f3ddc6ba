//! Runs every fuzz target for a while. A finding is a failure, and becomes a test in the crate.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};

const FOLDER: &str = "tests/fuzz";
/// The limits for one input: five seconds and a gigabyte.
const LIMITS: &[&str] = &["-max_len=4096", "-timeout=5", "-rss_limit_mb=1024"];
/// The version that CI installs; others also work.
const CARGO_FUZZ: &str = "0.13.2";

pub(crate) fn run(time: Duration) -> Result<()> {
    ensure!(Path::new(FOLDER).is_dir(), "there is no {FOLDER} here; run this at the top of the repository");
    let there = |arguments: &[&str]| {
        let asked =
            Command::new("rustup").args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    };
    if !there(&["run", "nightly", "rustc", "--version"]) {
        bail!("fuzzing needs a nightly compiler: rustup toolchain install nightly --profile minimal");
    }
    if !there(&["run", "nightly", "cargo", "fuzz", "--version"]) {
        bail!("fuzzing needs cargo-fuzz: cargo install cargo-fuzz --version {CARGO_FUZZ} --locked");
    }
    // A separate step, so that building takes no fuzzing time.
    ensure!(cargo_fuzz(&["build"]).status()?.success(), "the targets do not build");
    let listed = cargo_fuzz(&["list"]).output().context("cargo fuzz list")?;
    let targets = String::from_utf8(listed.stdout)?;
    // Two at a time, since each fuzzes on one thread.
    let queue = Mutex::new(targets.split_whitespace());
    let next = || queue.lock().ok()?.next();
    let work = || {
        let mut failed = Vec::new();
        while let Some(target) = next() {
            if !fuzz(target, time)? {
                failed.push(target);
            }
        }
        Ok(failed)
    };
    let both: Result<Vec<Vec<&str>>> = thread::scope(|scope| {
        let both = [scope.spawn(work), scope.spawn(work)];
        both.into_iter().map(|worker| worker.join().map_err(|_| anyhow!("a thread has panicked"))?).collect()
    });
    let failed = both?.concat();
    ensure!(
        failed.is_empty(),
        "found something: {}; the inputs are in {FOLDER}/artifacts",
        failed.join(", ")
    );
    Ok(())
}

/// Fuzzes one target. Returns false, after its log, if something was found.
fn fuzz(target: &str, time: Duration) -> Result<bool> {
    let output = cargo_fuzz(&["run", target])
        .args(corpora(target)?)
        .arg("--")
        .args(LIMITS)
        .arg(format!("-max_total_time={}", time.as_secs()))
        .args(dictionary(target))
        .arg("-print_final_stats=1")
        .output()?;
    let log = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        println!("{target:<16}{:>10} inputs, nothing found", executions(&log));
    } else {
        println!("{target:<16}FAILED after {} inputs", executions(&log));
        eprintln!("{log}");
    }
    Ok(output.status.success())
}

fn cargo_fuzz(arguments: &[&str]) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo", "fuzz"]);
    command.args(&arguments[..1]).args(["--fuzz-dir", FOLDER]);
    if arguments[0] != "list" {
        // The crate forbids unsafe code. Without a sanitizer it builds in three quarters of the time, and more inputs are tried.
        command.args(["--sanitizer", "none"]);
    }
    command.args(&arguments[1..]);
    // Cargo sets these for this process. They would select the wrong toolchain.
    for variable in ["CARGO", "RUSTC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(variable);
    }
    command
}

/// The folder for new inputs, and the folder of those in the repository.
fn corpora(target: &str) -> Result<[String; 2]> {
    let corpus = format!("{FOLDER}/corpus/{target}");
    std::fs::create_dir_all(&corpus)?;
    Ok([corpus, format!("{FOLDER}/seeds/{target}")])
}

fn dictionary(target: &str) -> Option<String> {
    let path = format!("{FOLDER}/dictionaries/{target}");
    // The targets run in the folder of this repository.
    let path = std::fs::canonicalize(path).ok()?;
    Some(format!("-dict={}", path.display()))
}

fn executions(log: &str) -> &str {
    let stat = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    stat.map_or("?", str::trim)
}
