//! System calls of one edit, counted by strace: more edits are traced once more, and what they add is theirs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use emend_testkit::Folder;

use super::measurement::Measurement;
use super::page::Page;
use super::stdio::{self, StdioServer};
use super::{floor, sample};

/// The numbers of edits in the two runs.
const EDITS: [usize; 2] = [50, 150];
/// The size of the edited file.
const BYTES: usize = 4 << 10;

/// System calls by name.
type Counts = BTreeMap<String, f64>;

/// Counts the calls of Emend and of the floor.
pub(super) fn run(measurement: &Measurement, page: &mut Page) -> Result<()> {
    page.heading(2, "System calls of one edit");
    let has_strace =
        Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !has_strace {
        page.paragraph("They were not counted, because there is no strace on this machine.");
        return Ok(());
    }
    page.paragraph(
        "An edit of a 4 KB file in steady state, over standard input and output, in all threads of the server: also \
         reading the call, answering it, and what is done after the answer. The floor has no client.",
    );
    let emend = each(|folder, edits, log| {
        let mut command = traced(log, &measurement.emend);
        command.args(["serve", "--workspace"]).arg(folder.path()).arg("--state-dir").arg(folder.state());
        command.env("XDG_CONFIG_HOME", "/nowhere");
        let mut edit = stdio::editor(StdioServer::start(&mut command)?, "a.txt".into());
        (0..edits).try_for_each(|_| edit().map(drop))
    })?;
    let floor = each(|folder, edits, log| {
        let mut command = traced(log, std::env::current_exe()?);
        command.args(["figures", "floor"]).arg(folder.at("a.txt")).arg(edits.to_string());
        ensure!(command.status()?.success(), "the floor failed");
        Ok(())
    })?;
    let mut names: Vec<&String> = emend.keys().chain(floor.keys()).collect();
    names.sort_by(|one, other| {
        let count = |name: &String| emend.get(name).copied().unwrap_or_default();
        count(other).total_cmp(&count(one)).then_with(|| one.cmp(other))
    });
    names.dedup();
    let shown =
        |counts: &Counts, name: &String| format!("{:.1}", counts.get(name).copied().unwrap_or_default());
    let mut rows = vec![["All".into(), shown_total(&emend), shown_total(&floor)]];
    rows.extend(
        names.into_iter().map(|name| [format!("`{name}`"), shown(&emend, name), shown(&floor, name)]),
    );
    page.table(["System call", "Emend", "Floor"], &rows);
    Ok(())
}

fn shown_total(counts: &Counts) -> String {
    format!("{:.1}", counts.values().sum::<f64>())
}

/// Makes edits at the floor, for a run under strace.
pub(super) fn make_at_floor(file: &Path, edits: usize) -> Result<()> {
    let kept = file.parent().and_then(Path::parent).context("a file has a folder")?.join("kept");
    fs::create_dir_all(&kept)?;
    let mut edit = floor::editor(file.into(), kept);
    (0..edits).try_for_each(|_| edit().map(drop))
}

/// The command for this program under strace.
fn traced(log: &Path, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-c", "-o"]).arg(log).arg(program);
    command
}

/// Runs few edits and many, and returns what each edit adds.
fn each(run: impl Fn(&Folder, usize, &Path) -> Result<()>) -> Result<Counts> {
    let [few, many] = EDITS.map(|edits| {
        let folder = Folder::new();
        folder.write("a.txt", sample::text(BYTES));
        let log = folder.beside("strace.log");
        run(&folder, edits, &log)?;
        Ok::<_, anyhow::Error>(counts(&fs::read_to_string(log)?))
    });
    let (few, many) = (few?, many?);
    let more = (EDITS[1] - EDITS[0]) as f64;
    let added = many.into_iter().map(|(name, count)| {
        let before = few.get(&name).copied().unwrap_or_default();
        (name, (count - before) / more)
    });
    Ok(added.filter(|(_, count)| *count >= 0.05).collect())
}

/// The table that strace writes in the end: the calls in the fourth column, their name in the last.
fn counts(summary: &str) -> Counts {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let (count, name) = (cells.get(3)?.parse().ok()?, *cells.last()?);
        (name != "total").then(|| (name.to_owned(), count))
    };
    summary.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_strace_is_read() {
        let summary = "% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 60.00    0.000100          10        12           fsync
 40.00    0.000050           5         7         2 openat
------ ----------- ----------- --------- --------- ----------------
100.00    0.000150           7        19         2 total
";
        let expected = [("fsync", 12.0), ("openat", 7.0)].map(|(name, count)| (name.to_owned(), count));
        assert_eq!(counts(summary), Counts::from(expected));
    }
}
