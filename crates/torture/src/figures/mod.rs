//! What an edit costs: docs/FIGURES.md, measured by one command on one machine in one run. The built command is
//! measured from outside, beside the floor, which this program does itself, and beside other servers. What is compared
//! takes turns, so that a slow moment of the machine affects both.
//!
//! ```text
//! cargo xtask figures [--quick] [--out FILE] [--bin FILE] [--peer NAME=COMMAND]... [GROUP...]
//! ```
//!
//! A group is `sizes`, `servers`, `clients`, `files`, `peers` or `calls`; by default all are measured, and the page is
//! written. With groups, or with `--quick`, which takes a minute, the page is written only where `--out` says.

mod answer;
mod calls;
mod clients;
pub(crate) mod crowd;
mod files;
mod floor;
mod http;
mod machine;
mod measurement;
mod page;
mod peer;
mod peers;
mod sample;
mod servers;
mod sizes;
mod stdio;
mod times;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use emend_testkit::Folder;

use crate::built;
use measurement::Measurement;
use page::Page;
use peer::Peer;

/// The page, from the top of the project.
const DOCUMENT: &str = "docs/FIGURES.md";

/// Measures one thing and adds it to the page.
type Group = fn(&Measurement, &mut Page) -> Result<()>;

/// The groups in the order of the page.
const GROUPS: [(&str, Group); 6] = [
    ("sizes", sizes::run),
    ("servers", servers::run),
    ("clients", clients::run),
    ("files", files::run),
    ("peers", peers::run),
    ("calls", calls::run),
];

/// Measures the groups that are named, or all, and writes the page.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    if let ["floor", file, edits] = arguments {
        return calls::make_at_floor(Path::new(file), edits.parse()?);
    }
    let (mut emend, mut out, mut is_quick) = (None, None, false);
    let (mut named, mut peers) = (Vec::new(), Vec::new());
    let mut rest = arguments.iter();
    while let Some(&argument) = rest.next() {
        let mut value = || rest.next().copied().with_context(|| format!("{argument} needs a value"));
        match argument {
            "--quick" => is_quick = true,
            "--out" => out = Some(PathBuf::from(value()?)),
            "--bin" => emend = Some(PathBuf::from(value()?)),
            "--peer" => peers.push(Peer::parse(value()?)?),
            group => {
                let names = GROUPS.map(|(name, _)| name);
                ensure!(names.contains(&group), "{group:?} is no group; they are {}", names.join(", "));
                named.push(group);
            }
        }
    }
    let emend = emend.or_else(|| std::env::var_os("EMEND_BIN").map(PathBuf::from));
    let emend = emend.map_or_else(built::release, Ok)?;
    let emend = emend.canonicalize().with_context(|| format!("there is no {}", emend.display()))?;
    let is_whole = named.is_empty() && !is_quick;
    let measurement = Measurement { emend, is_quick, peers };

    let (mut page, mut failed) = (Page::default(), Vec::new());
    begin(&measurement, &mut page);
    for (name, group) in GROUPS {
        if named.is_empty() || named.contains(&name) {
            // The other groups took minutes, which are not thrown away.
            if let Err(error) = group(&measurement, &mut page) {
                page.paragraph(&format!("The rest of this was not measured: {error:#}."));
                failed.push(name);
            }
        }
    }
    if let Some(out) = out.or_else(|| is_whole.then(|| DOCUMENT.into())) {
        std::fs::write(&out, page.text).with_context(|| out.display().to_string())?;
        println!("\n{} is written", out.display());
    }
    ensure!(failed.is_empty(), "not everything was measured: {}", failed.join(", "));
    Ok(())
}

/// Begins the page: who needs it, and where the figures come from.
fn begin(measurement: &Measurement, page: &mut Page) {
    page.heading(1, "Figures");
    page.paragraph(
        "This page is for people who want to know what an edit costs. `cargo xtask figures` measured all of it in one \
         run on one machine and wrote the page. What is compared took turns, so that a slow moment of the machine \
         affected both. Compare the ratios: the times are those of this machine and its disk.",
    );
    page.paragraph(
        "The floor is the fewest steps that are known on Linux for an edit that is durable, is seen whole or not at \
         all, and keeps the old file: read it, write the new content into another folder of the file system, sync it, \
         exchange the two, sync the folder, and rename the old file away. What Emend takes longer goes into its other \
         promises.",
    );
    page.paragraph(&format!(
        "{} {}",
        machine::describe(Folder::new().path()),
        machine::describe_build(&measurement.emend)
    ));
    if measurement.is_quick {
        page.paragraph("**A quick run:** these figures only show that the measuring works.");
    }
}
