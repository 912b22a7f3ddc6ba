//! The review page in a real browser, behind the official bridge in a sandboxed frame, with a real server at the other end:
//! every action with the bytes on disk afterwards, hostile contents, and what axe finds. The rounds are in
//! `crates/server/review/browser`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, ensure};
use emend_testkit::Folder;

use crate::{bounded, installed};

/// The folder of the page and its rounds.
const FROM: &str = "crates/server/review";
/// The names of the browser.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// The timeout for all rounds together, which take less than a minute.
const TIME: Duration = Duration::from_secs(240);

/// Where the pictures of the page are.
const PICTURES: &str = "docs/review";

/// What is done in the browser.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// All rounds are played.
    Rounds,
    /// The pictures in the documents are made anew.
    Pictures,
}

/// Plays the rounds, or makes the pictures.
pub(crate) fn run(emend: &Path, task: Task) -> Result<()> {
    let is_there =
        |name: &&&str| Command::new(name).arg("--version").output().is_ok_and(|said| said.status.success());
    let Some(browser) = BROWSERS.iter().find(is_there) else {
        println!("there is no chromium here: the rounds in a browser are skipped");
        return Ok(());
    };
    let Some(folder) = installed::packages("review", Path::new(FROM))? else { return Ok(()) };
    installed::stage_tree(Path::new(FROM), &folder)?;
    let files = Folder::new();
    let home = files.beside("home");
    std::fs::create_dir(&home)?;
    let mut command = Command::new(installed::node()?);
    let (script, end) = match task {
        Task::Rounds => ("browser/rounds.mjs", "rounds passed"),
        Task::Pictures => ("browser/pictures.mjs", "the pictures are made"),
    };
    command.arg(script).current_dir(&folder).env("EMEND_PICTURES", std::path::absolute(PICTURES)?);
    command.env("EMEND", emend).env("EMEND_FILES", files.path()).env("BROWSER", browser).env("HOME", &home);
    let played = bounded::run(&mut command, TIME)?;
    let said = String::from_utf8_lossy(&played.stdout);
    print!("{said}");
    ensure!(said.contains(end), "the rounds did not come to their end");
    Ok(())
}
