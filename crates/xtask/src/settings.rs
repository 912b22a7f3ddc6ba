//! Makes the table of settings in `docs/CONFIGURATION.md` from their declaration, and those of a team's server in
//! `docs/TEAM.md`.
//!
//! `tests/house/documents.rs` compares them.

use std::path::Path;

use anyhow::{Context, Result};
use emend_workspace::policy::reference_table;

/// The path of the document in the repository.
const DOCUMENT: &str = "docs/CONFIGURATION.md";
/// The page whose last section are the settings of a team's server.
const TEAM: &str = "docs/TEAM.md";

/// Replaces the table.
pub(crate) fn run() -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(DOCUMENT);
    let text = std::fs::read_to_string(&path).context(DOCUMENT)?;
    let reference = reference_table();
    let heading = reference.lines().next().unwrap_or_default();
    let (before, table) = text.split_once(heading).context("the table has another heading")?;
    let rows = table.split_inclusive('\n').skip(1).skip_while(|line| line.starts_with('|'));
    std::fs::write(&path, before.to_owned() + &reference + &rows.collect::<String>()).context(DOCUMENT)?;
    println!("{DOCUMENT} has the settings as they are declared");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(TEAM);
    let text = std::fs::read_to_string(&path).context(TEAM)?;
    let heading = "## Settings\n\n";
    let (before, _) = text.split_once(heading).context("the page has no such section")?;
    std::fs::write(&path, format!("{before}{heading}{}\n", emend_team::reference())).context(TEAM)?;
    println!("{TEAM} has the settings as they are declared");
    Ok(())
}
