//! Many files: in the workspace, in one patch, and in the history.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use emend_testkit::Folder;
use emend_testkit::client::patch;
use serde_json::{Value, json};

use super::measurement::Measurement;
use super::page::{Goal, Page, millis, times, whole};
use super::stdio::{self, StdioServer};
use super::times::{Editor, in_turn};
use super::{floor, sample};

/// The goal for a patch over many files, as a multiple of the floor.
const PATCH_GOAL: f64 = 2.0;
/// The goal for an edit beside many files, or after many edits, as a multiple of one with neither.
const BESIDE_GOAL: f64 = 1.1;
/// The number of files in each folder of a large workspace.
const IN_A_FOLDER: usize = 500;
/// The size of the edited file.
const BYTES: usize = 4 << 10;
/// A text that one file of a large workspace has.
const RARE: &str = "what only one file says";

/// Measures a large workspace, a long history, and patches over many files.
pub(super) fn run(measurement: &Measurement, page: &mut Page) -> Result<()> {
    page.heading(2, "Many files");
    let files = measurement.count(50_000, 5_000);
    let large = large(files);
    whole_workspace(measurement, page, &large, files)?;
    one_edit(measurement, page, &large, files)?;
    patches(measurement, page)
}

/// A workspace of this many files, among them one with the marked line.
fn large(files: usize) -> Folder {
    let folder = Folder::new();
    let content = |at| {
        let rare = if at == files / 2 { RARE } else { "nothing of note" };
        format!("file {at}\n{rare}\n{}", "what all files have in common\n".repeat(20))
    };
    for at in 0..files {
        folder.write(&format!("folder-{:03}/file-{at:05}.txt", at / IN_A_FOLDER), content(at));
    }
    folder.write("a.txt", sample::text(BYTES));
    folder
}

/// Lists and searches a large workspace.
fn whole_workspace(measurement: &Measurement, page: &mut Page, folder: &Folder, files: usize) -> Result<()> {
    page.paragraph(&format!(
        "A workspace of {} files in folders of {IN_A_FOLDER} is listed with `list_files`, and searched with \
         `search_text` for a text that one file has. The floor reads every folder and every file's attributes, or \
         every file's content, in one thread.",
        whole(files as f64)
    ));
    let caller = |tool: &'static str, arguments: Value| {
        let mut server = StdioServer::start(&mut stdio::emend(&measurement.emend, folder, stdio::NO_FLAGS))?;
        let call: Editor<'_> = Box::new(move || server.call(tool, &arguments)?.made());
        Ok::<_, anyhow::Error>(call)
    };
    let walker = |reads: bool| -> Editor<'_> {
        Box::new(move || {
            let begun = Instant::now();
            let seen = walk(folder.path(), reads)?;
            ensure!(seen == files + 1, "{seen} files were seen");
            Ok(begun.elapsed())
        })
    };
    let mut callers = [
        ("Listing", caller("list_files", json!({}))?),
        ("its floor", walker(false)),
        ("Searching", caller("search_text", json!({"pattern": RARE}))?),
        ("its floor", walker(true)),
    ];
    let measured = in_turn(measurement.count(15, 3), &mut callers)?;
    let rows: Vec<[String; 5]> = [0, 2]
        .into_iter()
        .map(|at| {
            let (emend, floor) = (&measured[at], &measured[at + 1]);
            let cells = [emend.median(), emend.percentile(95), floor.median()].map(millis);
            let [median, p95, floor_median] = cells;
            [callers[at].0.into(), median, p95, floor_median, times(emend.median() / floor.median())]
        })
        .collect();
    page.table(["Call", "Emend, median", "95 % within", "Floor, median", "Emend over the floor"], &rows);
    Ok(())
}

/// Looks at all files below a folder, or reads them, and returns their number.
fn walk(folder: &Path, reads: bool) -> Result<usize> {
    let mut seen = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            seen += walk(&entry.path(), reads)?;
            continue;
        }
        if reads {
            let content = fs::read(entry.path())?;
            std::hint::black_box(memchr::memmem::find(&content, RARE.as_bytes()));
        } else {
            entry.metadata()?;
        }
        seen += 1;
    }
    Ok(seen)
}

/// Edits one file beside many, and after many edits.
fn one_edit(measurement: &Measurement, page: &mut Page, large: &Folder, files: usize) -> Result<()> {
    let past = measurement.count(4_000, 400);
    let (files_shown, past_shown) = (whole(files as f64), whole(past as f64));
    page.paragraph(&format!(
        "A file of 4 KB is edited in three workspaces in turn: alone, beside {files_shown} files, and after \
         {past_shown} edits that the history has."
    ));
    let (alone, old) = (Folder::new(), Folder::new());
    [&alone, &old].iter().for_each(|folder| folder.write("a.txt", sample::text(BYTES)));
    let editor = |folder| {
        let server = StdioServer::start(&mut stdio::emend(&measurement.emend, folder, stdio::NO_FLAGS))?;
        Ok::<_, anyhow::Error>(stdio::editor(server, "a.txt".into()))
    };
    let mut with_past = editor(&old)?;
    (0..past).try_for_each(|_| with_past().map(drop))?;
    let mut editors = [
        ("Alone".to_owned(), editor(&alone)?),
        (format!("Beside {files_shown} files"), editor(large)?),
        (format!("After {past_shown} edits"), with_past),
    ];
    let names: Vec<String> = editors.iter().map(|(name, _)| name.clone()).collect();
    let mut turns: Vec<(&str, Editor<'_>)> =
        editors.iter_mut().map(|(name, edit)| (&name[..], Box::new(edit) as Editor<'_>)).collect();
    let measured = in_turn(measurement.rounds(BYTES), &mut turns)?;
    let first = measured[0].median();
    let row = |(name, took): (&String, &super::times::Times)| {
        [name.clone(), millis(took.median()), millis(took.percentile(95)), times(took.median() / first)]
    };
    let rows: Vec<[String; 4]> = names.iter().zip(&measured).map(row).collect();
    page.table(["Workspace", "Median", "95 % within", "Over alone"], &rows);
    let goal = |at: usize| {
        Goal::at_most(BESIDE_GOAL, format!("{} over alone", names[at]), measured[at].median() / first)
    };
    page.goals(&[goal(1), goal(2)]);
    Ok(())
}

/// Edits many files in one call.
fn patches(measurement: &Measurement, page: &mut Page) -> Result<()> {
    page.paragraph(
        "One `apply_patch` changes a line in each of several files of 1 KB, all of them or none. The floor stages and \
         syncs the files one after another, exchanges all of them, and syncs their folder once. It could not undo half \
         of them after a crash.",
    );
    let counts: &[usize] = if measurement.is_quick { &[10, 100] } else { &[10, 100, 1_000] };
    let (mut rows, mut goals) = (Vec::new(), Vec::new());
    for &count in counts {
        let (ours, floors) = (Folder::new(), Folder::new());
        for folder in [&ours, &floors] {
            (0..count).for_each(|at| folder.write(&name_of(at), sample::text(1 << 10)));
        }
        let server = StdioServer::start(&mut stdio::emend(&measurement.emend, &ours, stdio::NO_FLAGS))?;
        let mut editors =
            [("Emend", patch_editor(server, &ours, count)), ("the floor", floor_editor(&floors, count)?)];
        let measured = in_turn(measurement.count((2_000 / count).clamp(5, 50), 3), &mut editors)?;
        let [emend, floor] = &measured[..] else { unreachable!("two were measured") };
        let ratio = emend.median() / floor.median();
        let [median, p95, floor_median] = [emend.median(), emend.percentile(95), floor.median()].map(millis);
        let files = whole(count as f64);
        goals.push(Goal::at_most(PATCH_GOAL, format!("A patch over {files} files over the floor"), ratio));
        rows.push([files, median, p95, floor_median, times(ratio)]);
    }
    page.table(["Files", "Emend, median", "95 % within", "Floor, median", "Emend over the floor"], &rows);
    page.goals(&goals);
    Ok(())
}

fn name_of(at: usize) -> String {
    format!("file{at:05}.txt")
}

/// Returns an editor of all files of a folder, which checks that each is as it should be after every patch.
fn patch_editor(mut server: StdioServer, folder: &Folder, count: usize) -> Editor<'_> {
    let mut number = 0;
    Box::new(move || {
        let rest = " marker marker marker!";
        let (old, new) = (sample::marked(number), sample::marked(number + 1));
        let section = |at| format!("*** Update File: {}\n@@\n-{old}{rest}\n+{new}{rest}\n", name_of(at));
        let text = patch(&(0..count).map(section).collect::<String>());
        let time = server.call("apply_patch", &json!({"patch": text}))?.made()?;
        number += 1;
        let content = sample::text(1 << 10).replace(&sample::marked(0), &new);
        let right = (0..count).filter(|&at| folder.text(&name_of(at)) == content).count();
        ensure!(right == count, "{right} of {count} files are as they should be");
        Ok(time)
    })
}

fn floor_editor(folder: &Folder, count: usize) -> Result<Editor<'static>> {
    let kept = folder.beside("kept");
    fs::create_dir_all(&kept)?;
    let files: Vec<_> = (0..count).map(|at| folder.at(&name_of(at))).collect();
    let mut number = 0;
    Ok(Box::new(move || {
        let begun = Instant::now();
        let paths: Vec<&Path> = files.iter().map(std::path::PathBuf::as_path).collect();
        floor::replace(&paths, &kept, number, &sample::marked(number), &sample::marked(number + 1))?;
        number += 1;
        Ok(begun.elapsed())
    }))
}
