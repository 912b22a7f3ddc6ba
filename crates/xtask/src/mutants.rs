//! Mutation tests: whether the tests of a crate fail when its code is changed. `cargo-mutants` changes one expression
//! or function at a time. A mutant whose tests still pass is missed.
//!
//! All mutants would take days, so a sample is drawn, in equal parts from each of the [`GOALS`], with a printed seed.
//! `.cargo/mutants.toml` lists the mutants that no test can catch, with reasons.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use emend_torture::built;
use emend_torture::random::Random;
use rustix::process::{Pid, Signal, kill_process};

/// The version that is installed if it is missing.
const CARGO_MUTANTS: &str = "27.1.0";
/// The timeout for building and testing a crate without a mutant. A slower machine has no time for mutants either.
const BASELINE: Duration = Duration::from_secs(300);

/// A crate's code from which mutants are drawn, and how many of them its own tests may miss.
struct Goal {
    package: &'static str,
    files: &'static [&'static str],
    /// In percent.
    may_miss: u32,
}

const GOALS: [Goal; 2] = [
    Goal {
        package: "emend-edit",
        files: &["crates/edit/src/find/**", "crates/edit/src/plan/**", "crates/edit/src/patch/**"],
        may_miss: 5,
    },
    Goal {
        package: "emend-workspace",
        files: &[
            "crates/workspace/src/files/commit/**",
            "crates/workspace/src/files/resolve.rs",
            "crates/workspace/src/edits/gather.rs",
            "crates/workspace/src/edits/stale_check.rs",
            "crates/workspace/src/edits/readings.rs",
            "crates/workspace/src/edits/readings/**",
            "crates/workspace/src/edits/numbered_versions.rs",
        ],
        may_miss: 10,
    },
];

/// The results for the mutants that were run.
#[derive(Default)]
struct Tally {
    caught: u32,
    missed: Vec<String>,
    /// The number of mutants that do not compile.
    unviable: u32,
}

/// Draws that many mutants and runs as many as fit into the time, of which each goal has an equal part. The error names
/// the goals that are not met, see [`is_by_bad_luck`].
pub(crate) fn run(count: usize, seed: u64, time: Duration) -> Result<()> {
    install()?;
    let copy = copy()?;
    println!("mutants: {count} are drawn with the seed {seed}");
    let mut random = Random::new(seed);
    let mut failed = Vec::new();
    for goal in &GOALS {
        let mut mutants = list(goal, &copy)?;
        let all = mutants.len();
        random.shuffle(&mut mutants);
        let others = mutants.split_off(count.div_ceil(GOALS.len()).min(all));
        let tally = try_out(goal, &copy, &others, time / GOALS.len() as u32)?;
        let missed = tally.missed.len() as u32;
        let tried = tally.caught + missed;
        println!(
            "{}: of {all} mutants {} were drawn and {tried} tried: {} caught, {missed} missed; {} were no code",
            goal.package,
            mutants.len(),
            tally.caught,
            tally.unviable,
        );
        tally.missed.iter().for_each(|mutant| println!("  missed: {mutant}"));
        if missed * 100 > goal.may_miss * tried && !is_by_bad_luck(missed, tried, goal.may_miss) {
            failed.push(format!(
                "{} misses {missed} of {tried}, the goal is {} %",
                goal.package, goal.may_miss
            ));
        }
    }
    ensure!(failed.is_empty(), "{}", failed.join("; "));
    Ok(())
}

/// Whether a crate that meets the goal would miss this many in more than one of a hundred draws. A small draw may miss
/// one or two by chance, and CI must not fail for code that nobody has touched.
fn is_by_bad_luck(missed: u32, tried: u32, may_miss: u32) -> bool {
    let rate = f64::from(may_miss) / 100.0;
    // Computes the probability of each number of missed mutants from the one before.
    let mut exactly = (1.0 - rate).powi(tried as i32);
    let mut fewer = 0.0;
    for number in 0..missed {
        fewer += exactly;
        exactly *= f64::from(tried - number) / f64::from(number + 1) * rate / (1.0 - rate);
    }
    1.0 - fewer > 0.01
}

/// Installs cargo-mutants if this version is missing. Unoptimised, it builds in a third of the time.
fn install() -> Result<()> {
    let version = cargo().args(["mutants", "--version"]).stderr(Stdio::null()).output()?;
    if String::from_utf8_lossy(&version.stdout).split_whitespace().any(|word| word == CARGO_MUTANTS) {
        return Ok(());
    }
    let install = ["install", "cargo-mutants", "--version", CARGO_MUTANTS, "--locked", "--quiet", "--debug"];
    let installed = cargo().args(install).env("CARGO_PROFILE_DEV_DEBUG", "0").status()?;
    ensure!(installed.success(), "cargo-mutants {CARGO_MUTANTS} was not installed");
    Ok(())
}

/// The names of all mutants of a goal, except those that no test can catch.
fn list(goal: &Goal, copy: &Path) -> Result<Vec<String>> {
    let listed = mutants(goal, copy)?.arg("--list").output()?;
    ensure!(listed.status.success(), "cargo mutants --list: {}", String::from_utf8_lossy(&listed.stderr));
    let names: Vec<String> = String::from_utf8(listed.stdout)?.lines().map(str::to_owned).collect();
    ensure!(!names.is_empty(), "{} has no mutants in {:?}", goal.package, goal.files);
    Ok(names)
}

/// Runs the tests of the crate against all mutants but these. The time begins when the tests have passed without a mutant.
/// If that takes too long, no mutant is tried.
fn try_out(goal: &Goal, copy: &Path, others: &[String], time: Duration) -> Result<Tally> {
    pass_over(others, copy)?;
    let mut command = mutants(goal, copy)?;
    command.args(["--iterate", "--in-place", "--shuffle", "--caught", "--unviable", "--no-times"]);
    // cargo-mutants is interrupted when the time is up, which needs no backtrace.
    command.env("RUST_BACKTRACE", "0");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
    let lines = BufReader::new(child.stdout.take().context("it has an output")?).lines();
    let (send, receive) = mpsc::channel();
    thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| send.send(line)));

    let (mut tally, mut has_begun, mut is_over) = (Tally::default(), false, false);
    let mut until = Instant::now() + BASELINE;
    loop {
        match receive.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) => match line.split_once(' ').map(|(word, rest)| (word, rest.trim())) {
                Some(("ok", rest)) if rest.starts_with("Unmutated") => {
                    (has_begun, until) = (true, Instant::now() + time);
                }
                Some(("caught" | "TIMEOUT", _)) => tally.caught += 1,
                Some(("MISSED", name)) => tally.missed.push(name.to_owned()),
                Some(("unviable", _)) => tally.unviable += 1,
                _ => {}
            },
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                // cargo-mutants then ends its own processes and cleans up.
                kill_process(process.context("a process has an id")?, Signal::INT)?;
                is_over = true;
                break;
            }
        }
    }
    child.wait()?;
    if is_over && !has_begun {
        println!("{}: its tests were not built and run within {} s", goal.package, BASELINE.as_secs());
    }
    ensure!(has_begun || is_over, "the tests of {} do not pass without a mutant", goal.package);
    Ok(tally)
}

/// Makes `--iterate` pass over these mutants, as if they had been caught before. `--re` would not do: cargo-mutants does not
/// apply it to mutants that leave out a field of a struct.
fn pass_over(names: &[String], copy: &Path) -> Result<()> {
    let results = copy.join("mutants.out");
    if results.exists() {
        fs::remove_dir_all(&results)?;
    }
    fs::create_dir(&results)?;
    fs::write(results.join("previously_caught.txt"), names.join("\n"))?;
    Ok(())
}

/// Copies the files that git tracks or would track, so that the copy can be changed.
fn copy() -> Result<PathBuf> {
    let copy = folder()?.join("copy");
    if copy.exists() {
        fs::remove_dir_all(&copy)?;
    }
    let listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = Command::new("git").args(listed).output()?;
    ensure!(listed.status.success(), "git ls-files: {}", String::from_utf8_lossy(&listed.stderr));
    let names = String::from_utf8(listed.stdout)?;
    for name in names.split_terminator('\0').filter(|name| Path::new(name).is_file()) {
        let to = copy.join(name);
        fs::create_dir_all(to.parent().context("a file is in a folder")?)?;
        fs::copy(name, to).with_context(|| name.to_owned())?;
    }
    Ok(copy)
}

/// The folder of the copy and its build. Cargo confuses the crates of the copy with ours in one target folder.
fn folder() -> Result<PathBuf> {
    Ok(built::target()?.join("mutants"))
}

fn mutants(goal: &Goal, copy: &Path) -> Result<Command> {
    let mut command = cargo();
    command
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", folder()?.join("built"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0");
    command.args(["mutants", "--colors", "never", "--package", goal.package]);
    for files in goal.files {
        command.args(["--file", files]);
    }
    Ok(command)
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_draw_fails_only_where_luck_explains_nothing() {
        for (missed, tried, may_miss, is_luck) in [
            (0, 0, 5, true),
            (1, 10, 5, true),
            (2, 10, 5, true),
            (4, 10, 5, false),
            (3, 10, 10, true),
            (5, 10, 10, false),
            (8, 150, 5, true),
            (15, 150, 5, false),
        ] {
            assert_eq!(
                is_by_bad_luck(missed, tried, may_miss),
                is_luck,
                "{missed} of {tried} at {may_miss} %"
            );
        }
    }
}
