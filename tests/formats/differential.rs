//! Diffs by other tools, applied by these tools and by Emend: the results must be the same bytes.
//!
//! git and GNU diff compare random folders, `a` before and `b` after. `git apply` or `patch` applies the diff to a copy
//! of `a`, and Emend applies it to the same files in memory. Both must give `b`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use emend_edit::find::FindLimits;
use emend_edit::patch::{Patch, context, ed, rcs, unified};
use emend_edit::plan::{self, Source, Sources};
use emend_edit::{Problem, Text, diff};
use emend_testkit::Folder;

/// Files by name.
type Files = BTreeMap<String, Vec<u8>>;

/// How many files each folder has.
const PAIRS: u64 = 150;

/// Whether the old and the new content end with a newline.
const FINALS: &[(bool, bool)] = &[(true, true), (true, true), (false, false), (true, false), (false, true)];

/// A small generator of numbers: the same on every run and every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// What a generated file may be like.
#[derive(Clone, Copy)]
struct Style {
    /// Blank lines recur, so they need context around them.
    blanks: bool,
    crlf: bool,
    /// An ed script cannot say that a newline is missing.
    unended: bool,
}

/// Two contents. No line recurs but blank ones, so that a hunk has but one place.
fn pair(random: &mut Random, style: Style) -> (Vec<u8>, Vec<u8>) {
    let mut made = 0;
    let mut line = |random: &mut Random| {
        made += 1;
        let odd = ["-- ", "++ ", "", "", "  ", ".", "@@ ", "\t", "é "];
        match random.below(12) {
            0 if style.blanks => String::new(),
            other => format!("{}line {made}", odd.get(other as usize).unwrap_or(&"")),
        }
    };
    let length = random.below(40);
    let old: Vec<String> = (0..length).map(|_| line(random)).collect();
    let mut new = Vec::new();
    let rate = 3 + random.below(12);
    for text in &old {
        match random.below(rate * 3) {
            0 => {}
            1 => new.push(line(random)),
            2 => new.extend([line(random), text.clone()]),
            _ => new.push(text.clone()),
        }
    }
    if new == old {
        new.push(line(random));
    }
    // To come without a newline into an empty file is to lose one.
    let finals = match FINALS[random.below(FINALS.len() as u64) as usize] {
        finals if style.unended && !old.is_empty() => finals,
        _ => (true, true),
    };
    // Lines that come into a file without any ending get LF.
    let has_ending = old.join("\n").trim_end().contains('\n');
    let ending = if style.crlf && has_ending { "\r\n" } else { "\n" };
    let bytes = |lines: &[String], ended: bool| {
        let text: String = lines.iter().map(|line| format!("{line}{ending}")).collect();
        let text = if ended { &text } else { text.trim_end() };
        text.as_bytes().to_vec()
    };
    (bytes(&old, finals.0), bytes(&new, finals.1))
}

/// Two folders. Some files are only in one of them, if `whole` files may come and go.
fn folders(seed: u64, style: Style, whole: bool) -> (Files, Files) {
    let mut random = Random(seed);
    let (mut before, mut after) = (Files::new(), Files::new());
    for i in 0..PAIRS {
        let style = Style { crlf: style.crlf && random.below(5) == 0, ..style };
        let (old, new) = pair(&mut random, style);
        let name = format!("d{}/file {i}.txt", i % 7);
        let name = if style.blanks { name } else { name.replace(' ', "") };
        let fate = if whole { random.below(12) } else { 2 };
        if fate != 0 && !(whole && old.is_empty()) {
            before.insert(name.clone(), old);
        }
        if fate != 1 && !(whole && new.is_empty()) {
            after.insert(name, new);
        }
    }
    (before, after)
}

fn write(folder: &Folder, top: &str, files: &Files) {
    std::fs::create_dir_all(folder.at(top)).unwrap();
    for (name, bytes) in files {
        folder.write(&format!("{top}/{name}"), bytes);
    }
}

/// What a program says; `None` where it is not installed.
fn run(folder: &Path, input: &str, command: &[&str]) -> Option<String> {
    let spawned = Command::new(command[0])
        .args(&command[1..])
        .current_dir(folder)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CEILING_DIRECTORIES", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            println!("skipped: {} cannot be run: {error}", command[0]);
            return None;
        }
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut stdin, input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join();
    // 1 is how the diffs say that there are differences.
    let fine = output.status.success() || (command.contains(&"diff") && output.status.code() == Some(1));
    assert!(fine, "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The files after a patch, as this program sees it.
fn applied(patch: &Patch, before: &Files) -> Result<Files, Vec<Problem>> {
    let mut sources = Sources::default();
    for path in patch.paths() {
        let source = match before.get(path) {
            Some(bytes) => Source::Present(Arc::new(Text::new(bytes.clone()).unwrap())),
            None => Source::Absent,
        };
        sources.insert(path, path, source);
    }
    let plan = plan::build(patch, &sources, &FindLimits::default())?;
    let mut files = before.clone();
    for file in plan.files() {
        if let plan::Action::Move { from, .. } = &file.action {
            files.remove(from);
        }
        match file.action.pieces() {
            Some(pieces) => files.insert(file.name.clone(), pieces.concat()),
            None => files.remove(&file.name),
        };
    }
    Ok(files)
}

/// Checks that a diff, applied here, gives these files.
fn check(what: &str, text: &str, parsed: Result<Patch, Vec<Problem>>, before: &Files, after: &Files) {
    let found = parsed.and_then(|patch| applied(&patch, before)).unwrap_or_else(|problems| {
        let problems: String = problems.iter().take(3).fold(String::new(), |mut all, problem| {
            writeln!(all, "{:?} hunk {:?}: {problem}", problem.path, problem.hunk).unwrap();
            all
        });
        panic!("{what} is refused:\n{problems}\n{}", if text.len() < 4000 { text } else { "" });
    });
    same(what, &found, after);
}

fn same(what: &str, found: &Files, wanted: &Files) {
    let names: Vec<_> = found.keys().chain(wanted.keys()).collect();
    for name in names {
        let show = |files: &Files| files.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert_eq!(show(found), show(wanted), "{what}: {name}");
    }
}

/// The files below a folder.
fn read(folder: &Folder, top: &str) -> Files {
    emend_testkit::folder::tree(&folder.at(top))
}

const STYLE: Style = Style { blanks: true, crlf: true, unended: true };

#[test]
fn git_diffs_are_applied_as_git_applies_them() {
    for (seed, context) in [(1, "-U3"), (2, "-U0"), (3, "-U1")] {
        let style = Style { blanks: context == "-U3", ..STYLE };
        let (before, after) = folders(seed, style, true);
        let folder = Folder::new();
        write(&folder, "c", &before);
        let tree = |files: &Files| -> Option<String> {
            for name in read(&folder, "g").keys().filter(|name| name.starts_with('d')) {
                std::fs::remove_file(folder.at("g").join(name)).unwrap();
            }
            write(&folder, "g", files);
            run(&folder.at("g"), "", &["git", "add", "-A"])?;
            Some(run(&folder.at("g"), "", &["git", "write-tree"])?.trim().to_owned())
        };
        std::fs::create_dir(folder.at("g")).unwrap();
        if run(&folder.at("g"), "", &["git", "init", "-q"]).is_none() {
            return;
        }
        let (Some(old), Some(new)) = (tree(&before), tree(&after)) else { return };
        // Renames are found too: a file that goes may resemble one that comes.
        let diff = ["git", "diff", "-M5", context, &old, &new];
        let Some(text) = run(&folder.at("g"), "", &diff) else { return };
        let apply = ["git", "apply", "-p1", "--unidiff-zero", "--whitespace=nowarn", "-"];
        run(&folder.at("c"), &text, &apply);
        same("git apply", &read(&folder, "c"), &after);
        check(&format!("git diff {context}"), &text, unified::parse(&text, None), &before, &after);
    }
}

#[test]
fn unified_and_context_diffs_are_applied_as_gnu_patch_applies_them() {
    for (seed, format) in [(11, "-u"), (12, "-c"), (13, "-U0"), (14, "-C1")] {
        let style = Style { blanks: format.len() == 2, ..STYLE };
        let (before, after) = folders(seed, style, true);
        let folder = Folder::new();
        write(&folder, "a", &before);
        write(&folder, "b", &after);
        write(&folder, "c", &before);
        let Some(text) = run(folder.path(), "", &["diff", "-rN", format, "a", "b"]) else { return };
        let patched = run(&folder.at("c"), &text, &["patch", "-p1", "-s", "--binary", "-E"]);
        if patched.is_some() {
            same("patch", &read(&folder, "c"), &after);
        }
        let parsed = match format {
            "-c" | "-C1" => context::parse(&text, None),
            _ => unified::parse(&text, None),
        };
        check(&format!("diff {format}"), &text, parsed, &before, &after);
    }
}

#[test]
fn scripts_by_line_number_are_applied_as_they_were_meant() {
    let style = Style { crlf: false, unended: false, ..STYLE };
    let (before, after) = folders(21, style, false);
    let folder = Folder::new();
    write(&folder, "a", &before);
    write(&folder, "b", &after);
    write(&folder, "c", &before);
    for (i, (name, old)) in before.iter().enumerate() {
        let new = &after[name];
        let sides = [format!("a/{name}"), format!("b/{name}")];
        let of = |format: &str| run(folder.path(), "", &["diff", format, &sides[0], &sides[1]]);
        let (Some(ed_script), Some(rcs_script)) = (of("-e"), of("-n")) else { return };
        // Every tenth is enough to know that ed means the same.
        if i % 10 == 0 && run(folder.path(), "", &["ed", "--version"]).is_some() {
            run(&folder.at("c"), &ed_script, &["patch", "-e", "-s", name]);
            assert_eq!(&std::fs::read(folder.at("c").join(name)).unwrap(), new);
        }
        let before = Files::from([(name.clone(), old.clone())]);
        let after = Files::from([(name.clone(), new.clone())]);
        check("diff -e", &ed_script, ed::parse(&ed_script, Some(name)), &before, &after);
        check("diff -n", &rcs_script, rcs::parse(&rcs_script, Some(name)), &before, &after);
    }
}

#[test]
fn our_own_diffs_can_be_applied_again() {
    let (before, after) = folders(31, STYLE, false);
    let text: String = before
        .iter()
        .map(|(name, old)| {
            let text = |bytes: &[u8]| Text::new(bytes.to_vec()).unwrap();
            diff::between(name, &text(old), &text(&after[name])).text()
        })
        .collect();
    check("our diff", &text, unified::parse(&text, None), &before, &after);
}
