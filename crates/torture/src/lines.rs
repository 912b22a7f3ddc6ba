//! Lines are changed, moved and doubled between reading and call: each edit lands on the lines that were read, or is
//! refused. The test is that of `emend_edit::follow`, with more cases.

use std::process::Command;

use anyhow::{Result, ensure};

pub(crate) fn run(cases: u64) -> Result<()> {
    let test = "follow::tests::stale_lines_are_followed_to_themselves_or_refused";
    let status = Command::new(env!("CARGO"))
        .args(["test", "--release", "-p", "emend-edit", "--lib", "--", "--nocapture", "--exact", test])
        .env("EMEND_LINES", cases.to_string())
        .status()?;
    ensure!(status.success(), "lines were followed to others");
    Ok(())
}
