//! The command and its tests on Windows' disk, under Wine: built here for Windows, with a C compiler of MinGW.
//!
//! Wine is no Windows. What it lacks is skipped by the lists in `tests/wine.txt`, each with its reason; what only a real
//! Windows shows is in docs/GUARANTEES.md.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;

use crate::random::Random;
use crate::{bounded, built};

/// The target for which everything is built.
const TARGET: &str = "x86_64-pc-windows-gnu";
/// The time after which no more batch of tests begins, where all are to run.
const TIME: Duration = Duration::from_secs(1200);
/// That time on every change.
const QUICK_TIME: Duration = Duration::from_secs(120);
/// The longest time for a batch.
const BATCH_TIME: Duration = Duration::from_secs(180);
/// The number of tests of the whole command that are a batch.
const OF_COMMAND: usize = 8;
/// The packages whose unit tests run.
const PACKAGES: [&str; 5] =
    ["emend-windows", "emend-filelock", "emend-lease", "emend-process", "emend-workspace"];
/// The list of tests that do not run.
const SKIPPED: &str = "tests/wine.txt";

/// What Wine 8 lacks of the library from which Rust's standard library has its random numbers.
const RANDOM: &str = "#include <windows.h>\n\
     BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);\n\
     BOOL WINAPI ProcessPrng(PBYTE bytes, SIZE_T count) { return SystemFunction036(bytes, (ULONG)count); }\n";

/// Which tests run.
#[derive(Clone, Copy)]
pub(crate) enum Selection<'a> {
    /// All of them.
    All,
    /// What is only of Windows, kills and other writers, and the tests of its disk, its locks and its processes, and then others
    /// in a random order: as many as every change can wait for.
    Quick,
    /// Those whose names contain this.
    Named(&'a str),
}

impl Selection<'_> {
    fn takes(self, name: &str) -> bool {
        match self {
            Self::All | Self::Quick => true,
            Self::Named(part) => name.contains(part),
        }
    }

    /// Whether a process is killed at a few of the calls of an edit, since to start one takes ten times as long as on Linux. What
    /// is named is tried at each.
    fn kills_at_few(self) -> bool {
        !matches!(self, Self::Named(_))
    }

    fn batch_time(self) -> Duration {
        if self.kills_at_few() { BATCH_TIME } else { TIME }
    }

    fn time(self) -> Duration {
        match self {
            Self::All | Self::Named(_) => TIME,
            Self::Quick => QUICK_TIME,
        }
    }
}

/// Builds everything and runs what is selected.
pub(crate) fn run(selection: Selection<'_>, seed: u64) -> Result<()> {
    let Some(wine) = Wine::found()? else { return Ok(()) };
    let begun = Instant::now();
    let programs = build()?;
    wine.add_library(&programs)?;
    println!("built for Windows in {:.0?}", begun.elapsed());
    let (skips, until) = (skips()?, Instant::now() + selection.time());
    tried("the demo", || {
        bounded::run(wine.command(&programs.emend).args(["demo", "--color", "never"]), BATCH_TIME)
    })?;
    println!("the demo is whole");
    let (mut known, mut batches) = (BTreeSet::new(), Vec::new());
    for test in &programs.tests {
        let mut names = wine.names(test)?;
        known.extend(names.iter().cloned());
        names.retain(|name| selection.takes(name));
        names.retain(|name| !skips.iter().any(|skip| skip.covers(name)));
        Random::new(seed).shuffle(&mut names);
        names.sort_by_key(|name| !comes_first(name));
        let size = match &*test.target {
            "tests" => OF_COMMAND,
            // They start many processes.
            "faults" => 1,
            _ => names.len().max(1),
        };
        batches.extend(names.chunks(size).map(|names| (test, names.to_vec())));
    }
    Random::new(seed).shuffle(&mut batches);
    batches.sort_by_key(|(test, names)| match &*test.target {
        "tests" | "faults" => names.iter().all(|name| !comes_first(name)),
        _ => false,
    });
    for skip in &skips {
        ensure!(
            known.iter().any(|name| skip.covers(name)),
            "{SKIPPED} names {}, which is no test",
            skip.name
        );
    }
    let wanted: usize = batches.iter().map(|(_, names)| names.len()).sum();
    let (queue, ran) = (Mutex::new(batches.into_iter()), AtomicUsize::new(0));
    let next = || queue.lock().ok().filter(|_| Instant::now() < until)?.next();
    let work = || {
        let mut failures = Vec::new();
        while let Some((test, names)) = next() {
            let batch = || {
                let mut command = wine.command(&test.program);
                // One after the other: a program of Windows inherits handles of those that another thread starts meanwhile.
                command.current_dir(&test.folder).args(["--exact", "--test-threads=1"]).args(&names);
                if selection.kills_at_few() {
                    command.env("EMEND_CRASHES", "few");
                }
                bounded::run(&mut command, selection.batch_time())
            };
            match tried(&test.name, batch) {
                Ok(_) => drop(ran.fetch_add(names.len(), Ordering::Relaxed)),
                Err(error) => failures.push(format!("{}: {error:#}", test.name)),
            }
        }
        failures
    };
    let failures = thread::scope(|scope| {
        let both = [scope.spawn(work), scope.spawn(work)];
        both.map(|worker| worker.join().map_err(|_| anyhow!("a thread has panicked")))
    });
    let failures: Vec<String> = failures.into_iter().collect::<Result<Vec<_>>>()?.concat();
    ensure!(
        failures.is_empty(),
        "with the seed {seed}, {} batches failed:\n{}",
        failures.len(),
        failures.join("\n")
    );
    let skipped = known.iter().filter(|name| skips.iter().any(|skip| skip.covers(name))).count();
    println!(
        "{} of {wanted} tests hold under Wine (seed {seed}); {skipped} are skipped, with reasons in {SKIPPED}",
        ran.into_inner()
    );
    Ok(())
}

/// Does once more what has failed: now and then, Wine cannot start a process.
fn tried<T>(what: &str, run: impl Fn() -> Result<T>) -> Result<T> {
    run().or_else(|error| {
        println!("once more: {what}: {error:#}");
        run()
    })
}

/// Returns whether a test of the whole command, or of the commit, is about what is only of Windows, or about kills and other
/// writers: these run on every change.
fn comes_first(name: &str) -> bool {
    let starts = ["windows::", "faults::hostile::", "crashes::", "recovery::an_exchange_is"];
    let parts = ["_in_between_", "where_one_is_created"];
    starts.iter().any(|start| name.starts_with(start)) || parts.iter().any(|part| name.contains(part))
}

/// A test, or a folder of tests, that does not run under Wine.
struct Skip {
    name: String,
}

impl Skip {
    fn covers(&self, test: &str) -> bool {
        test == self.name || self.name.ends_with("::") && test.starts_with(&self.name)
    }
}

/// Reads the list of tests that do not run. A line has a name, or the beginning of names up to `::`, and the reason.
fn skips() -> Result<Vec<Skip>> {
    let list = fs::read_to_string(SKIPPED)?;
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, reason) = line.split_once(' ').with_context(|| format!("{line} has no reason"))?;
            ensure!(!reason.trim().is_empty(), "{line} has no reason");
            Ok(Skip { name: name.to_owned() })
        })
        .collect()
}

/// What was built for Windows.
struct Programs {
    emend: PathBuf,
    tests: Vec<Tests>,
}

/// A program of tests.
struct Tests {
    name: String,
    program: PathBuf,
    /// Its name in the package: `tests` are the end-to-end tests.
    target: String,
    /// The folder of its package, where Cargo would start it.
    folder: PathBuf,
}

fn build() -> Result<Programs> {
    let mut cargo = built::cargo();
    // What debuggers need would be most of what is linked.
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").args(["test", "--no-run", "--locked", "--target", TARGET]);
    cargo.args([
        "--message-format",
        "json-render-diagnostics",
        "--lib",
        "--bins",
        "--test",
        "tests",
        "--test",
        "faults",
    ]);
    cargo.args(["-p", "emend-mcp"]).args(PACKAGES.iter().flat_map(|package| ["-p", package]));
    let built = cargo.stderr(Stdio::inherit()).output()?;
    ensure!(built.status.success(), "the build for Windows failed");
    let (mut emend, mut tests) = (None, Vec::new());
    for line in String::from_utf8_lossy(&built.stdout).lines() {
        let artifact: Value = serde_json::from_str(line)?;
        let Some(program) = artifact["executable"].as_str().map(PathBuf::from) else { continue };
        if artifact["profile"]["test"] == true {
            let folder = Path::new(artifact["manifest_path"].as_str().unwrap_or_default()).parent();
            let folder = folder.context("a package has a folder")?.to_owned();
            let target = artifact["target"]["name"].as_str().unwrap_or_default().to_owned();
            let name = format!("{}, {target}", package_of(&folder));
            tests.push(Tests { name, program, target, folder });
        } else if artifact["target"]["name"] == "emend" {
            emend = Some(program);
        }
    }
    tests.sort_by_key(|test| (test.target == "tests", test.name.clone()));
    Ok(Programs { emend: emend.context("the command was not built")?, tests })
}

fn package_of(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Wine, with a folder of its own for what it installs.
struct Wine {
    program: PathBuf,
    /// What all programs of Wine share.
    server: PathBuf,
    folder: PathBuf,
}

impl Drop for Wine {
    fn drop(&mut self) {
        let _ = bounded::start(self.server().arg("--kill"), BATCH_TIME);
    }
}

impl Wine {
    /// Finds all that is needed; `None`, and a message, if something is missing.
    fn found() -> Result<Option<Self>> {
        let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
        let missing = |what: &str| {
            println!("{what}: what runs under Wine is skipped");
            Ok(None)
        };
        let places = [("wine64", "wineserver"), ("/usr/lib/wine/wine64", "/usr/lib/wine/wineserver64")];
        let Some((program, server)) = places.into_iter().find(|(program, _)| has(program)) else {
            return missing("there is no wine64 here");
        };
        if !has("x86_64-w64-mingw32-gcc") {
            return missing("there is no x86_64-w64-mingw32-gcc here");
        }
        let root = Command::new("rustc").args(["--print", "sysroot"]).output()?;
        let root = PathBuf::from(String::from_utf8_lossy(&root.stdout).trim());
        if !root.join("lib/rustlib").join(TARGET).exists() {
            return missing(&format!("rustup has no target {TARGET}"));
        }
        let folder = built::target()?.join("wine");
        fs::create_dir_all(folder.join("prefix"))?;
        let wine = Self { program: program.into(), server: server.into(), folder };
        // Else the first program would start them, and the output of that would not end before they do. It takes a while.
        // One of a run that was killed may still be there.
        let _ = bounded::start(wine.server().arg("--kill"), BATCH_TIME);
        bounded::start(wine.server().arg("--persistent"), BATCH_TIME)?;
        bounded::start(wine.command(Path::new("wineboot")).arg("--init"), BATCH_TIME)?;
        Ok(Some(wine))
    }

    /// Returns the names of the tests in a program.
    fn names(&self, test: &Tests) -> Result<Vec<String>> {
        let list =
            || bounded::run(self.command(&test.program).args(["--list", "--format", "terse"]), BATCH_TIME);
        let listed = tried(&test.name, list)?;
        let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
        let names = listed.lines().filter_map(|line| line.trim_end().strip_suffix(": test"));
        Ok(names.map(str::to_owned).collect())
    }

    /// Makes the library that Wine lacks, beside each program.
    fn add_library(&self, programs: &Programs) -> Result<()> {
        let (source, library) = (self.folder.join("random.c"), self.folder.join("bcryptprimitives.dll"));
        fs::write(&source, RANDOM)?;
        let mut compile = Command::new("x86_64-w64-mingw32-gcc");
        compile.arg("-shared").arg("-o").arg(&library).arg(&source).arg("-ladvapi32");
        bounded::run(&mut compile, Duration::from_secs(60))?;
        let all = programs.tests.iter().map(|test| &test.program).chain([&programs.emend]);
        let folders: BTreeSet<&Path> = all.filter_map(|program| program.parent()).collect();
        for folder in folders {
            fs::copy(&library, folder.join("bcryptprimitives.dll"))?;
        }
        Ok(())
    }

    fn server(&self) -> Command {
        self.of_prefix(&self.server)
    }

    fn of_prefix(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env("WINEPREFIX", self.folder.join("prefix"));
        command.env("WINEARCH", "win64").env("WINEDEBUG", "-all");
        command
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = self.of_prefix(&self.program);
        command.arg(program);
        command.env("INSTA_UPDATE", "no");
        command
    }
}
