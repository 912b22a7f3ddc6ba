//! The floor: the fewest steps that are known on Linux for an edit that is durable, is seen whole or not at all, and
//! keeps the old file. What Emend takes longer is the price of its other promises.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use memchr::memmem;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::sample::marked;
use super::times::Editor;

/// The new content of a file, durable under a name of its own.
struct Staged {
    file: PathBuf,
    staged: PathBuf,
}

/// An editor that makes the floor's steps with this file, which has the marked line.
pub(super) fn editor(file: PathBuf, kept: PathBuf) -> Editor<'static> {
    let mut number = 0;
    Box::new(move || {
        let (old, new) = (marked(number), marked(number + 1));
        let begun = Instant::now();
        replace(&[&file], &kept, number, &old, &new)?;
        number += 1;
        Ok(begun.elapsed())
    })
}

/// Replaces a text in files of one folder. Their old content goes to the folder `kept`, under names with this number.
pub(super) fn replace(files: &[&Path], kept: &Path, number: usize, old: &str, new: &str) -> Result<()> {
    let staged: Vec<Staged> =
        files.iter().map(|file| stage(file, kept, number, old, new)).collect::<Result<_>>()?;
    for Staged { file, staged } in &staged {
        renameat_with(CWD, staged, CWD, file, RenameFlags::EXCHANGE)?;
    }
    if let Some(folder) = files.first().and_then(|file| file.parent()) {
        File::open(folder)?.sync_all()?;
    }
    for Staged { staged, .. } in &staged {
        fs::rename(staged, staged.with_extension("old"))?;
    }
    Ok(())
}

fn stage(file: &Path, kept: &Path, number: usize, old: &str, new: &str) -> Result<Staged> {
    let mut source = File::open(file)?;
    let metadata = source.metadata()?;
    let mut content = Vec::with_capacity(usize::try_from(metadata.len())? + 1);
    source.read_to_end(&mut content)?;
    drop(source);
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let at = memmem::find(&content, old).with_context(|| format!("{} has no such text", file.display()))?;
    let rest = &content[at + old.len()..];
    ensure!(memmem::find(rest, old).is_none(), "{} has it twice", file.display());

    let name = file.file_name().context("a file has a name")?.to_string_lossy();
    let staged = kept.join(format!("{name}.{number}.new"));
    let mut target = OpenOptions::new().write(true).create_new(true).open(&staged)?;
    target.write_all(&content[..at])?;
    target.write_all(new)?;
    target.write_all(rest)?;
    target.set_permissions(metadata.permissions())?;
    target.sync_all()?;
    Ok(Staged { file: file.to_owned(), staged })
}
