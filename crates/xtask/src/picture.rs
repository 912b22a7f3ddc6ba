//! Makes `docs/demo.svg`, the picture of the demo that the README shows, from a run of the demo.
//!
//! `tests/cli/demo.rs` makes the same picture and fails when the file shows something else.

use std::path::Path;

use anyhow::{Context, Result};
use emend_testkit::picture;

/// Where the picture is, from the top of the repository.
const PICTURE: &str = "docs/demo.svg";

/// Writes the picture of what this command's demo shows.
pub(crate) fn run(emend: &Path) -> Result<()> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::write(top.join(PICTURE), picture::of_demo(emend)).context(PICTURE)?;
    println!("{PICTURE} shows what the demo says now");
    Ok(())
}
