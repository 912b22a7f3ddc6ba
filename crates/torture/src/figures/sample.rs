//! The files that are edited. One line of each has a number, and every edit counts it up: so the text to replace is
//! there exactly once, and a file shows how many edits were made in it.

use std::path::Path;

use anyhow::{Context, Result, ensure};

/// The names and sizes of the files.
pub(super) const SIZES: [(&str, usize); 3] = [("4 KB", 4 << 10), ("1 MB", 1 << 20), ("50 MB", 50 << 20)];

/// The text that an edit replaces, or writes, by its number.
pub(super) fn marked(number: usize) -> String {
    format!("the-unique-line value=AAAA{number:06} marker")
}

/// A text of this many bytes, about, with the marked line in its middle.
pub(super) fn text(bytes: usize) -> String {
    let line = |number| format!("line {number:09} lorem ipsum dolor sit amet consectetur adipisci.\n");
    with_marked(bytes / 64, line, &format!("{} marker marker marker!\n", marked(0)))
}

/// A Python module of this many bytes, about, with the marked line in its middle.
pub(super) fn python(bytes: usize) -> String {
    let function = |number| {
        format!("def function_{number:06}(argument):\n    return call(argument, {number}) + 1\n\n\n")
    };
    with_marked(bytes / 75, function, &format!("MARK = \"{}\"\n\n\n", marked(0)))
}

fn with_marked(count: usize, part: impl Fn(usize) -> String, marked: &str) -> String {
    let count = count.max(8);
    let parts = (0..count).map(|at| if at == count / 2 { marked.to_owned() } else { part(at) });
    parts.collect()
}

/// Fails unless a file shows that this many edits were made in it.
pub(super) fn ensure_edited(path: &Path, edits: usize) -> Result<()> {
    let content = std::fs::read(path).with_context(|| path.display().to_string())?;
    let is_there = memchr::memmem::find(&content, marked(edits).as_bytes()).is_some();
    ensure!(is_there, "{} does not have the last of {edits} edits", path.display());
    Ok(())
}
