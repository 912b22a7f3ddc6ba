//! One patch over many files, compared with the same writes done plainly: each file written, synced and renamed, then
//! the folder synced.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use emend_testkit::client::patch;
use emend_testkit::{Folder, Launch};

/// The number of measurements of each. The fastest counts, since other load only adds time.
const TIMES: usize = 5;
/// The goal for a patch, as a multiple of the plain writes.
const TARGET: f64 = 2.0;

/// Prints both times and their ratio. A slow machine fails nothing.
pub(crate) fn run(emend: &Path, files: usize) -> Result<()> {
    let folder = Folder::new();
    let name = |i: usize| format!("file{i:05}.txt");
    let content = |turn: usize| format!("turn = {turn}\n{}", "what stays as it is\n".repeat(50));
    (0..files).for_each(|i| folder.write(&name(i), content(0)));
    let mut client = Launch::new(emend).workspace(folder.path()).state(folder.state()).legacy();
    let (mut bare, mut patched) = (Duration::MAX, Duration::MAX);
    for turn in 0..TIMES {
        let section = |i| {
            let (old, new) = (2 * turn, 2 * turn + 1);
            format!("*** Update File: {}\n@@\n-turn = {old}\n+turn = {new}\n", name(i))
        };
        let text = patch(&(0..files).map(section).collect::<String>());
        let begun = Instant::now();
        let answer = client.call("apply_patch", serde_json::json!({"patch": text}));
        patched = patched.min(begun.elapsed());
        ensure!(!answer.is_error, "the patch is refused: {}", answer.text);
        let right = (0..files).filter(|&i| folder.text(&name(i)) == content(2 * turn + 1)).count();
        ensure!(right == files, "{right} of {files} files are as they should be");

        let begun = Instant::now();
        for i in 0..files {
            replace(&folder.at(&name(i)), &content(2 * turn + 2))?;
        }
        File::open(folder.path())?.sync_all()?;
        bare = bare.min(begun.elapsed());
    }
    let ratio = patched.as_secs_f64() / bare.as_secs_f64();
    println!(
        "many: a patch over {files} files takes {patched:.0?}, the bare writes {bare:.0?}: {ratio:.2} times as long \
         (at most {TARGET} is wanted), the best of {TIMES}"
    );
    Ok(())
}

fn replace(path: &Path, content: &str) -> Result<()> {
    let temporary = path.with_extension("new");
    let mut file = File::create(&temporary)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()?;
    fs::rename(temporary, path)?;
    Ok(())
}
