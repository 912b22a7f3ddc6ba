//! What a transaction writes down about itself, so that whoever finds it after a crash knows what it was.
//!
//! A single file says everything in its name, which the same fsync makes durable as its content:
//! `EDIT.0.BASE.AFTER.path%2Fto%2Ffile`, with both versions in hex (`new` and `gone` where there is none). Where
//! that name would be too long, or there are several files, the same lines stand in `manifest`.

use std::io;

use cap_std::fs::Dir;

use emend_edit::Version;

use super::Job;
use crate::disk::Disk;

/// The name of the manifest in a transaction's folder.
pub(super) const MANIFEST: &str = "manifest";

/// The longest name that every file system takes.
const LONGEST_NAME: usize = 255;

/// Whether the name of one staged file cannot say everything.
pub(super) fn needs_manifest(id: &str, jobs: &[Job<'_>]) -> bool {
    match jobs {
        [job] => describe(id, 0, job).len() > LONGEST_NAME,
        _ => true,
    }
}

/// Writes what the names cannot say, durably.
pub(super) fn write_manifest(disk: &dyn Disk, home: &Dir, id: &str, jobs: &[Job<'_>]) -> io::Result<()> {
    let lines: String =
        jobs.iter().enumerate().map(|(number, job)| describe(id, number, job) + "\n").collect();
    let file = disk.create_file(home, MANIFEST.as_ref(), None)?;
    disk.write(&file, &[lines.as_bytes()])?;
    disk.sync_file(&file)
}

/// Everything about a staged file: the edit, its number in it, the version before and after, the target.
pub(super) fn describe(id: &str, number: usize, job: &Job<'_>) -> String {
    let hex = |version: Option<Version>, none: &str| {
        version.map_or_else(|| none.into(), |version| version.hex()[..32].to_owned())
    };
    let base = hex(job.base.map(|(_, base)| base.text.version()), "new");
    let after = hex(job.after, "gone");
    format!("{id}.{number}.{base}.{after}.{}", escape(&job.path.place.shown()))
}

/// Percent-encodes what a file name cannot hold.
fn escape(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        match c {
            '/' | '\\' | '%' | ':' | '\0'..='\x1f' => {
                let mut utf8 = [0; 4];
                for byte in c.encode_utf8(&mut utf8).bytes() {
                    out.push_str(&format!("%{byte:02X}"));
                }
            }
            c => out.push(c),
        }
    }
    out
}
