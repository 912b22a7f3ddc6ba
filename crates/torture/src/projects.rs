//! Renames and moves in real projects, with real language servers: what Emend makes is compared with what the same server
//! proposes at rest to a plain client, is taken back by one undo, and leaves a project that checks as before. A server that
//! was only just started is asked too: its rename is refused or complete.
//!
//! The projects are packages of PyPI, npm and crates.io in pinned versions, and of Go's own library.

mod checks;
mod plain;
mod sources;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use emend_testkit::{Answer, Client, Folder, Launch};
use serde_json::{Value, json};

use self::plain::PlainClient;
use self::sources::{Language, Project};

/// How many symbols are renamed in each project, and how many files are moved.
const RENAMES: usize = 10;
const MOVES: usize = 5;

/// The files of a project, by their paths.
type Tree = BTreeMap<PathBuf, Vec<u8>>;

/// What came of the acts in a project.
#[derive(Debug, Default)]
struct Tally {
    equal: usize,
    refused: usize,
    /// What the plain client got no edit for, and Emend did not make either.
    impossible: usize,
    moved: usize,
    partial: Vec<String>,
    cold_complete: usize,
    cold_refused: usize,
}

/// Renames and moves in all projects of these languages within about this time, and starts each server anew so often.
pub(crate) fn run(emend: &Path, time: Duration, cold: usize, names: &[&str]) -> Result<()> {
    let begun = Instant::now();
    let mut failures = Vec::new();
    let projects = sources::projects(names)?;
    for project in &projects {
        if begun.elapsed() > time {
            println!("{:<14}{:<14} not reached in time", project.language.server(), project.name);
            continue;
        }
        let mut tally = Tally::default();
        let at = Instant::now();
        match play(emend, project, cold, &mut tally) {
            Ok(checked) => println!(
                "{:<28}{:<14}{} renames equal, {} refused, {} without an edit, {} moves equal; errors {} -> {}; cold: {} complete, {} refused; {:.0} s",
                project.language.server(),
                project.name,
                tally.equal,
                tally.refused,
                tally.impossible,
                tally.moved,
                checked.0,
                checked.1,
                tally.cold_complete,
                tally.cold_refused,
                at.elapsed().as_secs_f64()
            ),
            Err(error) => failures.push(format!(
                "{} in {}: {error:#} ({tally:?})",
                project.language.server(),
                project.name
            )),
        }
        failures.extend(tally.partial);
    }
    failures.iter().for_each(|failure| eprintln!("{failure}"));
    ensure!(failures.is_empty(), "{} findings", failures.len());
    Ok(())
}

/// Plays one project. Returns how many errors it has before and after all of its renames.
fn play(emend: &Path, project: &Project, cold: usize, tally: &mut Tally) -> Result<(usize, usize)> {
    let folder = Folder::new();
    let root = folder.path().canonicalize()?;
    write(&root, &project.files)?;
    let before = checks::errors(project.language, &root)?;
    let start = || -> Result<Client> {
        let launch = Launch::new(emend).workspace(&root).state(folder.state()).configured();
        let launch = launch
            .argument("--no-config")
            .argument("--diagnostics-wait=0")
            .variable("XDG_CONFIG_HOME", "/nowhere");
        Ok(launch.variable("PATH", checks::search()?).legacy())
    };
    let mut client = start()?;
    let mut plain = PlainClient::start(project.language, &root, &checks::search()?)?;
    plain.open_all(project)?;
    let symbols = project.symbols(RENAMES);
    ensure!(symbols.len() == RENAMES, "it has only {} symbols", symbols.len());
    for symbol in &symbols {
        let expected =
            plain.rename(symbol)?.map(|edit| plain::applied(&root, &project.files, &edit)).transpose()?;
        let answer = client.call("rename_symbol", symbol.arguments());
        let now = tree(&root, project)?;
        let what = format!("{} {} in {}: {}", project.name, symbol.name, symbol.file.display(), answer.text);
        if std::env::var_os("PROJECTS_SHOW").is_some() {
            eprintln!("{} {what}", if expected.as_ref() == Some(&now) { "equal" } else { "not equal" });
        }
        match (answer.is_error, expected) {
            (true, expected) => {
                ensure!(now == project.files, "refused, and something changed: {what}");
                match expected {
                    None => tally.impossible += 1,
                    Some(_) => tally.refused += 1,
                }
            }
            (false, None) => tally.partial.push(format!("made, where the server gives no edit: {what}")),
            (false, Some(expected)) => {
                if now == expected {
                    tally.equal += 1;
                } else {
                    tally.partial.push(format!("another edit: {what}\n{}", difference(&expected, &now)));
                }
                undo(&mut client, &answer)?;
                ensure!(tree(&root, project)? == project.files, "one undo takes it back: {what}");
            }
        }
    }
    if project.language == Language::TypeScript {
        moves(project, &root, (&mut client, &mut plain), tally)?;
    }
    let after = together(project, &root, &mut client, &symbols)?;
    drop(client);
    drop(plain);
    let first = symbols.first().context("a symbol")?;
    started_anew(project, &root, (&start, cold), first, tally)?;
    let (count, now) = (before.len(), after.len());
    ensure!(now <= count, "{count} errors before all renames, {now} after them: {}", after.join("\n"));
    Ok((count, now))
}

/// Moves files one by one, and takes each back.
fn moves(
    project: &Project,
    root: &Path,
    (client, plain): (&mut Client, &mut PlainClient),
    tally: &mut Tally,
) -> Result<()> {
    for (from, to) in project.moves(MOVES) {
        let edit = plain.will_rename(&from, &to)?;
        let mut expected = plain::applied(root, &project.files, &edit.unwrap_or_default())?;
        let content = expected.remove(&from).context("a file of the project")?;
        expected.insert(to.clone(), content);
        let answer = client.call("move_file", json!({"from": from, "to": to})).ok();
        let now = tree(root, project)?;
        if now == expected {
            tally.moved += 1;
        } else {
            tally.partial.push(format!(
                "another move of {}: {}\n{}",
                from.display(),
                answer.text,
                difference(&expected, &now)
            ));
        }
        undo(client, &answer)?;
        ensure!(tree(root, project)? == project.files, "one undo takes the move of {} back", from.display());
    }
    Ok(())
}

/// Makes all renames one after the other, counts the errors of the project, and takes all back.
fn together(
    project: &Project,
    root: &Path,
    client: &mut Client,
    symbols: &[sources::Symbol],
) -> Result<Vec<String>> {
    let mut made = Vec::new();
    for symbol in symbols {
        // Lines stay as they are, since a name has none; columns are not named.
        let answer = client.call("rename_symbol", symbol.arguments_again());
        if !answer.is_error {
            made.push(answer);
        }
    }
    let errors = checks::errors(project.language, root)?;
    for answer in made.iter().rev() {
        undo(client, answer)?;
    }
    ensure!(tree(root, project)? == project.files, "undos take all renames back");
    Ok(errors)
}

/// Renames with a server that was only just started, again and again.
fn started_anew(
    project: &Project,
    root: &Path,
    (start, count): (&dyn Fn() -> Result<Client>, usize),
    symbol: &sources::Symbol,
    tally: &mut Tally,
) -> Result<()> {
    let mut complete: Option<Tree> = None;
    for _ in 0..count {
        let mut client = start()?;
        let answer = client.call("rename_symbol", symbol.arguments());
        let now = tree(root, project)?;
        if answer.is_error {
            ensure!(now == project.files, "refused, and something changed: {}", answer.text);
            tally.cold_refused += 1;
            continue;
        }
        if complete.is_none() {
            let mut plain = PlainClient::start(project.language, root, &checks::search()?)?;
            undo(&mut client, &answer)?;
            plain.open_all(project)?;
            let edit = plain.rename(symbol)?.context("an edit at rest")?;
            complete = Some(plain::applied(root, &project.files, &edit)?);
        } else {
            undo(&mut client, &answer)?;
        }
        match complete.as_ref() == Some(&now) {
            true => tally.cold_complete += 1,
            false => {
                tally.partial.push(format!("a part of {} is renamed by a server that starts", symbol.name));
            }
        }
    }
    Ok(())
}

fn undo(client: &mut Client, answer: &Answer) -> Result<()> {
    let edit: &Value = &answer.structured["edit"];
    ensure!(edit.is_string(), "an edit has an id: {}", answer.text);
    client.call("undo_edit", json!({"edit": edit})).ok();
    Ok(())
}

fn write(root: &Path, files: &Tree) -> Result<()> {
    for (path, content) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().context("a folder")?)?;
        fs::write(path, content)?;
    }
    Ok(())
}

/// Reads the files of a project that are there now.
fn tree(root: &Path, project: &Project) -> Result<Tree> {
    let mut files = sources::read(root, &|path| project.is_part(path))?;
    files.retain(|path, _| !path.starts_with(".emend"));
    Ok(files)
}

fn difference(expected: &Tree, now: &Tree) -> String {
    let names = expected.keys().chain(now.keys()).filter(|path| expected.get(*path) != now.get(*path));
    let mut names: Vec<String> = names.map(|path| path.display().to_string()).collect();
    names.sort();
    names.dedup();
    format!("these differ: {}", names.join(", "))
}
