//! `emend demo`: it succeeds, shows each of its parts, and leaves nothing behind.

use std::process::{Output, Stdio};

use emend_testkit::{Folder, picture};

use crate::EMEND;

/// Runs the demo with a home and a temporary folder of its own.
fn demo(folder: &Folder, arguments: &[&str]) -> Output {
    let mut command = emend_testkit::command(EMEND);
    command.arg("demo").args(arguments).env("HOME", folder.path()).env("TMPDIR", folder.path());
    command.output().unwrap()
}

/// The numbers of the parts, as they come.
fn parts(output: &str) -> Vec<usize> {
    output.lines().filter_map(|line| line.split_once(". ")?.0.parse().ok()).collect()
}

#[test]
fn the_demo_shows_each_of_its_parts() {
    let folder = Folder::new();
    let output = demo(&folder, &["--color", "never"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(parts(&text), [1, 2, 3, 4, 5, 6, 7], "{text}");
    for code in ["[ambiguous-match]", "[stale-file]", "[hunk-context-mismatch]"] {
        assert!(text.contains(code), "a refusal is shown: {code}");
    }
    assert!(!text.contains('\x1b'), "no colours were asked for");
    assert!(folder.tree().is_empty(), "it leaves nothing behind: {:?}", folder.tree().keys());
}

#[test]
fn the_demo_is_colourful_if_asked() {
    let output = demo(&Folder::new(), &["--color", "always"]);
    assert!(output.status.success());
    assert!(String::from_utf8(output.stdout).unwrap().contains("\x1b[32m"));
}

#[test]
fn the_demo_goes_on_to_its_end_when_nobody_reads_it_any_more() {
    let folder = Folder::new();
    let mut command = emend_testkit::command(EMEND);
    command.arg("demo").env("HOME", folder.path()).env("TMPDIR", folder.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.tree().is_empty());
}

#[test]
fn the_picture_in_the_readme_shows_what_the_demo_says() {
    let shown = include_str!("../../docs/demo.svg");
    let made = picture::of_demo(std::path::Path::new(EMEND));
    assert!(made == shown, "docs/demo.svg is out of date; `cargo xtask picture` makes it anew");
}
