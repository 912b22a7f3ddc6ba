//! Faults in every system call of an edit, one after another: the call fails, or the process is killed at it. After a
//! kill, and then a new start or the next edit by another server, all files must be old or all new, with nothing else
//! in the workspace. After a failure, the answer must be true. Recovery is killed in the same way.
//!
//! strace injects the faults from outside into the release build. An undisturbed run shows the calls; then each of them
//! gets a run. The calls of a start are left out, unless it recovers. The client speaks the protocol of 2026, in which
//! each line is a call with an answer, so that every run reads the same pieces.

mod fault;
mod log;
mod scenario;
mod verdict;

use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use emend_testkit::{Answer, Client, Folder, Launch};
use serde_json::json;

use crate::random::Random;
use fault::{Effect, Fault};
use log::From;
use scenario::{Finder, SCENARIOS, Scenario};
use verdict::Verdict;

/// One run: a scenario with its faults.
#[derive(Clone)]
struct Point {
    scenario: &'static Scenario,
    fault: Fault,
    /// The fault for the next server, during its recovery.
    then: Option<Fault>,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.scenario.name, self.fault)?;
        self.then.as_ref().map_or(Ok(()), |then| write!(f, "/{then}"))
    }
}

/// The end of a run without a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    AllOld,
    AllNew,
    /// Old or new in the end, but the answer called the state of a file unknown. That is true and useless.
    Unknown,
    /// The fault did not strike, since this run made fewer calls than the undisturbed one.
    Missed,
}

/// Runs all points, or as many of each kind as fit into the time, in an order from the seed.
pub(crate) fn run(emend: &Path, time: Option<Duration>, seed: u64) -> Result<()> {
    if let Some(missing) = missing() {
        println!("strace: skipped, {missing}");
        return Ok(());
    }
    let until = time.map(|time| Instant::now() + time);
    let mut random = Random::new(seed);
    println!("seed {seed}");
    let (mut kills, mut errors) = (Vec::new(), Vec::new());
    for scenario in SCENARIOS {
        let log = undisturbed(emend, scenario)?;
        let faults = log::faults(&log, From::LastCall);
        ensure!(faults.len() > 100, "{}: only {} faults were found", scenario.name, faults.len());
        for fault in faults {
            let is_kill = fault.effect == Effect::Kill;
            let point = Point { scenario, fault, then: None };
            match (is_kill, scenario.finder) {
                (true, _) => kills.push(point),
                (false, Finder::NextStart) => errors.push(point),
                // An error leaves nothing for another server to find.
                (false, Finder::OtherServer) => {}
            }
        }
    }
    let recoveries = recoveries(emend, &kills)?;
    let parts =
        [("killed in the edit", kills), ("killed again in recovery", recoveries), ("failing calls", errors)];
    let mut found = 0;
    for (at, (what, mut points)) in parts.into_iter().enumerate() {
        random.shuffle(&mut points);
        // Time that one part does not use goes to the parts after it.
        let share = |until: Instant| until.saturating_duration_since(Instant::now()) / (3 - at) as u32;
        found += part(emend, what, &points, until.map(|until| Instant::now() + share(until)));
    }
    ensure!(found == 0, "{found} faults were not survived; each can be had again: cargo xtask strace POINT");
    Ok(())
}

/// Runs one point, spelled as it is printed.
pub(crate) fn one(emend: &Path, written: &str) -> Result<()> {
    let mut parts = written.split('/');
    let name = parts.next().unwrap_or_default();
    let scenario = SCENARIOS.iter().find(|scenario| scenario.name == name);
    let point = Point {
        scenario: scenario.with_context(|| format!("there is no scenario {name:?}"))?,
        fault: parts.next().context("a point is written SCENARIO/FAULT or SCENARIO/FAULT/FAULT")?.parse()?,
        then: parts.next().map(str::parse).transpose()?,
    };
    match attempt(emend, &point) {
        Ok(end) => println!("{point}: {end:?}"),
        Err(finding) => anyhow::bail!("{point}: {finding}"),
    }
    Ok(())
}

/// The first requirement that this machine lacks.
fn missing() -> Option<&'static str> {
    let asked = Command::new("strace")
        .args(["-f", fault::FILTER, "-qq", "-o", "/dev/null", "-e", "trace=openat", "true"])
        .stderr(Stdio::null())
        .status();
    match asked {
        Err(_) => Some("there is no strace (Debian: apt-get install strace)"),
        Ok(status) if !status.success() => Some("strace may not trace here, or is older than 5.3"),
        Ok(_) => None,
    }
}

/// Runs these points until the time is over. Returns the number of findings.
fn part(emend: &Path, what: &str, points: &[Point], until: Option<Instant>) -> usize {
    let mut ends: BTreeMap<End, usize> = BTreeMap::new();
    let (mut tried, mut found) = (0, 0);
    for point in points {
        if until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
        tried += 1;
        match attempt(emend, point) {
            Ok(end) => *ends.entry(end).or_default() += 1,
            Err(finding) => {
                println!("  {point}: {finding}");
                found += 1;
            }
        }
    }
    let count = |end| ends.get(&end).copied().unwrap_or_default();
    println!(
        "{what}: {tried} of {} points; {} times all old, {} times all new, {} times so but said to be unknown, \
         {} did not strike, {found} found something",
        points.len(),
        count(End::AllOld),
        count(End::AllNew),
        count(End::Unknown),
        count(End::Missed)
    );
    found
}

/// Makes the edit without faults and returns the log of strace.
fn undisturbed(emend: &Path, scenario: &Scenario) -> Result<String> {
    let states = scenario.states();
    let folder = scenario.folder();
    let log = folder.beside("strace.log");
    let (answer, _) = edit(emend, scenario, &folder, fault::arguments(&log::syscalls(), &log));
    let answer = answer.context("the undisturbed edit is not answered")?;
    ensure!(!answer.is_error, "{}: the undisturbed edit is refused:\n{}", scenario.name, answer.text);
    let verdict = states.judge(&Scenario::look(&folder));
    ensure!(verdict == Verdict::AllNew, "{}: the undisturbed edit leaves {verdict:?}", scenario.name);
    Ok(std::fs::read_to_string(log)?)
}

/// For every kill that leaves something to recover, the points with a second kill, at each call of the recovery.
fn recoveries(emend: &Path, kills: &[Point]) -> Result<Vec<Point>> {
    let between = ["renameat", "renameat2", "mkdirat", "fsync", "syncfs", "linkat"];
    let mut points = Vec::new();
    let leaves_something = |point: &&Point| {
        point.scenario.finder == Finder::NextStart && between.contains(&point.fault.syscall.as_str())
    };
    for point in kills.iter().filter(leaves_something) {
        let folder = point.scenario.folder();
        let log = folder.beside("strace.log");
        edit(emend, point.scenario, &folder, point.fault.arguments(&log));
        let traced = fault::arguments(&log::syscalls(), &log);
        recover(emend, point.scenario, &folder, traced);
        let written = std::fs::read_to_string(log)?;
        let path = folder.path().display().to_string();
        let faults = log::faults(&written, From::FirstUse(&path));
        let kills = faults.into_iter().filter(|fault| fault.effect == Effect::Kill);
        points.extend(kills.map(|then| Point { then: Some(then), ..point.clone() }));
    }
    Ok(points)
}

/// Runs one point. The error is its finding.
fn attempt(emend: &Path, point: &Point) -> Result<End, String> {
    catch_unwind(AssertUnwindSafe(|| disturbed(emend, point))).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().cloned();
        Err(message.unwrap_or_else(|| "the test itself failed".into()))
    })
}

fn disturbed(emend: &Path, point: &Point) -> Result<End, String> {
    let scenario = point.scenario;
    let states = scenario.states();
    let folder = scenario.folder();
    let log = folder.beside("strace.log");
    let other = (scenario.finder == Finder::OtherServer).then(|| at_work(&scenario.launch(emend, &folder)));
    let (answer, log_text) = edit(emend, scenario, &folder, point.fault.arguments(&log));
    let lies = answer.as_ref().map(|answer| states.lies(scenario, answer, &Scenario::look(&folder)));
    let mut findings: Vec<String> = lies.into_iter().filter(|lies| !lies.is_empty()).collect();
    let is_kill = point.fault.effect == Effect::Kill;
    if answer.is_none() && !is_kill {
        findings.push("no answer".into());
    }
    if log_text.contains("panicked") {
        findings.push(format!("a panic: {}", log_text.trim()));
    }
    if let Some(then) = &point.then {
        recover(emend, scenario, &folder, then.arguments(&log));
    }

    let (verdict, asked) = match other {
        Some(mut other) => {
            let next = other.replace("steady.txt", "count = 0", "count = 1");
            let mut now = Scenario::look(&folder);
            now.extend(states.old.get_key_value("steady.txt").map(|(path, old)| (path.clone(), old.clone())));
            (states.judge(&now), vec![("the next edit of another server", next)])
        }
        None => {
            let (mut client, reading) =
                start(&scenario.launch(emend, &folder)).ok_or("the next server does not start")?;
            let verdict = states.judge(&Scenario::look(&folder));
            let next = client.replace("steady.txt", "count = 0", "count = 1");
            (verdict, vec![("after a restart a reading", reading), ("after a restart the next edit", next)])
        }
    };
    for (what, answer) in asked {
        if answer.is_error {
            findings.push(format!("{what} is refused: {}", answer.text.trim()));
        }
    }
    let was_done = answer.as_ref().map(|answer| !answer.is_error);
    match (&verdict, was_done) {
        (Verdict::Third(what), _) => findings.push(format!("in the end: {what}")),
        (Verdict::AllOld, Some(true)) => {
            findings.push("answered success, but in the end it is gone".into());
        }
        (Verdict::AllNew, Some(false)) if findings.is_empty() && said_nothing_changed(answer.as_ref()) => {
            findings.push("answered that nothing was changed, but in the end all is new".into());
        }
        _ => {}
    }
    if !findings.is_empty() {
        return Err(findings.join("; "));
    }
    Ok(match verdict {
        _ if is_kill && answer.is_some() => End::Missed,
        _ if answer.is_some_and(|answer| answer.structured.to_string().contains(r#":"unknown""#)) => {
            End::Unknown
        }
        Verdict::AllNew => End::AllNew,
        _ => End::AllOld,
    })
}

fn said_nothing_changed(answer: Option<&Answer>) -> bool {
    answer.is_some_and(|answer| answer.problems().iter().all(|problem| problem["file_states"].is_null()))
}

/// Sends the edit to a server under strace. Returns the answer, if the server lives to give one, and its log.
fn edit(emend: &Path, scenario: &Scenario, folder: &Folder, strace: Vec<String>) -> (Option<Answer>, String) {
    let mut client = scenario.launch(emend, folder).under("strace", strace).modern();
    let id = client.send_call("read_file", json!({"path": scenario.reads}));
    client.try_answer(id);
    let id = client.send_call(scenario.tool, (scenario.arguments)());
    let answer = client.try_answer(id);
    let (_, log) = client.close();
    (answer, log)
}

/// Starts a server under strace, which recovers what it finds, and closes it.
fn recover(emend: &Path, scenario: &Scenario, folder: &Folder, strace: Vec<String>) {
    if let Some((client, _)) = start(&scenario.launch(emend, folder).under("strace", strace)) {
        client.close();
    }
}

/// A server that has already edited, and so has opened all its files. The workspace is as before.
fn at_work(launch: &Launch) -> Client {
    let mut client = launch.modern();
    for (old, new) in [("count = 0", "count = 2"), ("count = 2", "count = 0")] {
        client.replace("steady.txt", old, new).ok();
    }
    client
}

/// Starts a server and reads a file. `None` if the server dies first.
fn start(launch: &Launch) -> Option<(Client, Answer)> {
    let mut client = launch.modern();
    let id = client.send_call("read_file", json!({"path": "steady.txt"}));
    let reading = client.try_answer(id)?;
    Some((client, reading))
}
