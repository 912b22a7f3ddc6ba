//! Power cuts at any moment. The suite copies what has reached the disk, mounts the copy and starts a server on it.
//! Every acknowledged edit must be there, whole; the edit that was under way wholly or not at all.
//!
//! The disk is an image behind a loop device. What the file system has only in memory is lost, as in a power cut. What
//! it has given to the device counts as written even without a flush, since a loop device does not track flushes.
//! During the edits another program syncs its own file all the time: so the journal is committed at any moment, and not
//! only when an edit asks for it. Every second cut follows the change of a certain file, since the time between the
//! first and the last file of a patch is too short to be hit by chance.

mod image;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use emend_testkit::client::patch;
use emend_testkit::{Answer, Client, Folder, Tree, folder};

use crate::random::{Random, any_seed};
use image::Image;

/// The number of files that a patch changes, beside those that it adds, deletes and moves.
const CHANGED: usize = 5;
/// The numbers of lines in these files.
const LINES: [usize; CHANGED] = [5_000, 200, 50, 1, 0];

/// The number of edits before the disk is replaced, since displaced files fill it.
const EDITS: usize = 200;

/// Cuts the power again and again until the time is over.
pub(crate) fn run(emend: &Path, time: Duration) -> Result<()> {
    let until = Instant::now() + time;
    let mut cuts = Cuts::default();
    while Instant::now() < until {
        let folder = Folder::new();
        let image = match lay_out(&folder) {
            Ok(image) => image,
            Err(error) => {
                println!("power: skipped, {error:#}");
                return Ok(());
            }
        };
        round(emend, &image, &folder, until, &mut cuts)?;
    }
    let Cuts { before, after, edits, found } = cuts;
    println!(
        "power: cut {} times during {edits} edits; {before} times the last acknowledged edit was the last, {after} \
         times the one under way was there too, {} found something",
        before + after + found.len(),
        found.len()
    );
    ensure!(found.is_empty(), "what the power left:\n  {}", found.join("\n  "));
    ensure!(before + after > 10, "too few cuts to say anything");
    Ok(())
}

/// Cuts the power until the time is over or the disk has seen enough edits.
fn round(emend: &Path, image: &Image, folder: &Folder, until: Instant, cuts: &mut Cuts) -> Result<()> {
    let mut server = image.server(emend);
    let switch = server.switch()?;
    let other_program = Mutex::new(File::create(server.inside.join("other"))?);
    let workspace = server.inside.join("ws");
    let (acknowledged, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        let editor = scope.spawn(|| {
            let edited = edit_until(&is_over, &mut server.client, &acknowledged);
            is_over.store(true, Ordering::SeqCst);
            edited
        });
        scope.spawn(|| sync_until(&is_over, &other_program));
        let is_over_now = || is_over.load(Ordering::SeqCst) || Instant::now() >= until;
        let cut = |after: Option<&Path>, copy: &Path| {
            let mut other_program = other_program.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(path) = after {
                wait_for_change(path, is_over_now);
            }
            let before = acknowledged.load(Ordering::SeqCst);
            let stopped = switch.stop()?;
            if after.is_some() {
                other_program.write_all(b".").and_then(|()| other_program.sync_all())?;
            }
            stopped.copy(copy).map(|()| before)
        };
        let cut = cut_until(is_over_now, emend, image, folder, &workspace, cut, cuts);
        is_over.store(true, Ordering::SeqCst);
        editor.join().ok().context("power: the editing thread failed")??;
        cut
    })?;
    cuts.edits += acknowledged.load(Ordering::SeqCst);
    Ok(())
}

/// The results of the cuts.
#[derive(Default)]
struct Cuts {
    before: usize,
    after: usize,
    edits: usize,
    found: Vec<String>,
}

/// Waits until a file changes, appears or disappears.
fn wait_for_change(path: &Path, is_over: impl Fn() -> bool) {
    let inode = || path.symlink_metadata().map(|about| about.ino()).ok();
    let before = inode();
    while inode() == before && !is_over() {}
}

/// Cuts the power, mounts the copy and starts a server on it. `cut` makes the copy, right after a change of the given
/// file if there is one. It returns the number of edits acknowledged before.
fn cut_until(
    is_over: impl Fn() -> bool,
    emend: &Path,
    image: &Image,
    folder: &Folder,
    workspace: &Path,
    cut: impl Fn(Option<&Path>, &Path) -> Result<usize>,
    cuts: &mut Cuts,
) -> Result<()> {
    let mut random = Random::new(any_seed());
    let copy = folder.beside("copy");
    while !is_over() {
        // Chooses a random moment.
        thread::sleep(Duration::from_micros(random.below(20_000) as u64));
        let part = workspace.join(format!("part{}.txt", random.below(CHANGED)));
        let after = (random.below(2) == 0).then_some(part.as_path());
        let acknowledged = cut(after, &copy)?;
        let mut server = image.of_copy(&copy).server(emend);
        let reading = server.client.call("read_file", serde_json::json!({"path": "steady.txt"}));
        let mut now = folder::tree(&server.inside.join("ws"));
        now.retain(|path, _| !path.starts_with(".emend/"));
        if reading.is_error {
            cuts.found
                .push(format!("after edit {acknowledged} a reading is refused: {}", reading.text.trim()));
        } else if now == state_after(acknowledged) {
            cuts.before += 1;
        } else if now == state_after(acknowledged + 1) {
            cuts.after += 1;
        } else {
            let differences = difference(&now, &state_after(acknowledged));
            cuts.found.push(format!("after edit {acknowledged}, against its state: {differences}"));
        }
    }
    Ok(())
}

/// Makes one edit after another, as many as fit on the disk.
fn edit_until(is_over: &AtomicBool, client: &mut Client, acknowledged: &AtomicUsize) -> Result<()> {
    for edit in 1..=EDITS {
        if is_over.load(Ordering::SeqCst) {
            break;
        }
        let answer = make(client, edit);
        ensure!(!answer.is_error, "edit {edit} is refused: {}", answer.text);
        acknowledged.store(edit, Ordering::SeqCst);
    }
    Ok(())
}

/// Makes an edit: odd ones change one file, even ones are patches of all others.
fn make(client: &mut Client, edit: usize) -> Answer {
    let generation = edit / 2;
    if edit % 2 == 1 {
        return client.replace(
            "single.txt",
            &format!("count = {generation}\n"),
            &format!("count = {}\n", generation + 1),
        );
    }
    let old = generation - 1;
    let changed =
        |i| format!("*** Update File: part{i}.txt\n@@\n-generation = {old}\n+generation = {generation}\n");
    let mut inner: String = (0..CHANGED).map(changed).collect();
    inner += &format!("*** Add File: made/{generation}.txt\n+made {generation}\n");
    if old > 0 {
        inner += &format!("*** Delete File: made/{old}.txt\n");
    }
    inner += &format!("*** Move File: moved{old}.txt -> moved{generation}.txt\n");
    client.call("apply_patch", serde_json::json!({"patch": patch(&inner)}))
}

/// The expected workspace after this many edits.
fn state_after(edits: usize) -> Tree {
    let (singles, generation) = (edits.div_ceil(2), edits / 2);
    let mut state = Tree::new();
    let mut put = |name: String, content: String| state.insert(name, content.into_bytes());
    put("steady.txt".into(), "steady\n".into());
    put("single.txt".into(), format!("count = {singles}\n") + &lines(100));
    for (i, count) in LINES.into_iter().enumerate() {
        put(format!("part{i}.txt"), format!("generation = {generation}\n") + &lines(count));
    }
    if generation > 0 {
        put(format!("made/{generation}.txt"), format!("made {generation}\n"));
    }
    put(format!("moved{generation}.txt"), "moved\n".into());
    state
}

fn lines(count: usize) -> String {
    (0..count).map(|i| format!("line {i:05} abcdefghijklmnopqrstuvwxyz\n")).collect()
}

fn lay_out(folder: &Folder) -> Result<Image> {
    let content = folder.beside("content");
    fs::create_dir_all(content.join("ws"))?;
    for (name, bytes) in state_after(0) {
        fs::write(content.join("ws").join(name), bytes)?;
    }
    let image = Image::make(&folder.beside("disk"), &folder.beside("mounted"), &content)?;
    image.try_mounting()?;
    Ok(image)
}

/// Syncs a file outside the workspace all the time, and with it the journal of the file system.
fn sync_until(is_over: &AtomicBool, file: &Mutex<File>) {
    while !is_over.load(Ordering::SeqCst) {
        if let Ok(mut file) = file.lock() {
            let _ = file.write_all(b".").and_then(|()| file.sync_all());
        }
        thread::yield_now();
    }
}

fn difference(now: &Tree, state: &Tree) -> String {
    let mut differences: Vec<String> = Vec::new();
    for (path, bytes) in now {
        match state.get(path) {
            Some(expected) if expected == bytes => {}
            Some(expected) => {
                let first = String::from_utf8_lossy(bytes).lines().next().unwrap_or_default().to_owned();
                differences.push(format!(
                    "{path} has {} bytes for {}, {first:?}",
                    bytes.len(),
                    expected.len()
                ));
            }
            None => differences.push(format!("{path} is there")),
        }
    }
    differences.extend(
        state.keys().filter(|path| !now.contains_key(*path)).map(|path| format!("{path} is missing")),
    );
    differences.join(", ")
}
