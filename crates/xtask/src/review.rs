//! The review page: `crates/server/review/review.html`, made from the sources beside it with what npm has for it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use emend_torture::{bounded, installed};

/// The folder of the sources, and of the page.
const FROM: &str = "crates/server/review";
const PAGE: &str = "review.html";

/// The timeout for each step, of which none takes ten seconds.
const TIME: Duration = Duration::from_secs(120);

/// Makes the page anew, or checks that it is what the sources make, and that these are clean and pass their tests.
pub(crate) fn run(only_check: bool) -> Result<()> {
    let Some(folder) = installed::packages("review", Path::new(FROM))? else { return Ok(()) };
    installed::stage_tree(Path::new(FROM), &folder)?;
    let step = |arguments: &[&str]| {
        println!("{}", arguments.join(" "));
        bounded::run(Command::new("npm").args(arguments).current_dir(&folder), TIME)
    };
    if only_check {
        for script in ["lint", "test", "check"] {
            step(&["run", script])?;
        }
    } else {
        step(&["run", "build"])?;
        fs::copy(folder.join(PAGE), Path::new(FROM).join(PAGE))?;
    }
    Ok(())
}
