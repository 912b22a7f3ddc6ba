//! Makes `docs/demo.svg`, the picture in the README, from a run of the demo.
//!
//! `tests/cli/demo.rs` makes the same picture and fails if the file differs.

use std::path::Path;

use anyhow::{Context, Result};
use emend_testkit::picture;

/// The path of the picture in the repository.
const PICTURE: &str = "docs/demo.svg";

/// Writes the picture of this command's demo.
pub(crate) fn run(emend: &Path) -> Result<()> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::write(top.join(PICTURE), picture::of_demo(emend)).context(PICTURE)?;
    println!("{PICTURE} shows what the demo says now");
    Ok(())
}
