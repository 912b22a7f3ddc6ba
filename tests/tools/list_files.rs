//! `list_files`: it shows every file that may be read and is not ignored, nothing outside, and a count where there are
//! too many.

use emend_testkit::{Answer, Folder};
use serde_json::{Value, json};

use crate::{launch, serve};

/// The names in a listing, without its header.
fn names(answer: &Answer) -> Vec<&str> {
    let lines = answer.text.lines().skip(1);
    lines.map(|line| line.split(" · ").next().unwrap_or(line)).collect()
}

#[track_caller]
fn check(folder: &Folder, arguments: Value, expected: &[&str]) {
    let before = folder.everything();
    let answer = serve(folder).call("list_files", arguments).ok();
    assert_eq!(names(&answer), expected, "{}", answer.text);
    assert_eq!(answer.structured, Value::Null, "some clients would show the model only that");
    assert_eq!(folder.everything(), before, "a listing leaves nothing behind");
}

fn project() -> Folder {
    Folder::with([
        (".github/workflows/ci.yml", "on: push\n"),
        (".gitignore", "/target\n*.log\n!keep.log\n"),
        ("src/main.rs", "fn main() {}\n"),
        ("src/tools/list.rs", "\n"),
        ("src/.gitignore", "generated/\n"),
        ("src/generated/a.rs", "\n"),
        ("target/debug/out", "\n"),
        ("a.log", "\n"),
        ("keep.log", "\n"),
        (".git/config", "classified\n"),
        (".git/info/exclude", "private/\n"),
        (".emend/history/x", "classified\n"),
        ("private/notes.txt", "\n"),
        (".ignore", "!a.log\n"),
    ])
}

#[test]
fn files_are_listed_by_paths_that_the_other_tools_take() {
    let folder = project();
    let all = [
        ".github/workflows/ci.yml",
        ".gitignore",
        ".ignore",
        "a.log",
        "keep.log",
        "src/.gitignore",
        "src/main.rs",
        "src/tools/list.rs",
    ];
    check(&folder, json!({}), &all);
    let mut client = serve(&folder);
    for name in all {
        client.read(name);
    }
}

#[test]
fn a_listing_as_a_model_sees_it() {
    let folder = project();
    folder.write("big.bin", vec![0; 3_500_000]);
    let mut client = serve(&folder);
    let mut text = String::new();
    for arguments in [json!({}), json!({"depth": 1}), json!({"path": "src", "glob": "*.rs"})] {
        text.push_str(&client.call("list_files", arguments).ok().text);
        text.push('\n');
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_folder_is_listed_by_itself_and_so_is_one_that_is_ignored() {
    let folder = project();
    for path in ["src", "src/", "./src", "src/tools/..", folder.at("src").to_str().unwrap()] {
        check(&folder, json!({"path": path}), &["src/.gitignore", "src/main.rs", "src/tools/list.rs"]);
    }
    check(&folder, json!({"path": "target"}), &["target/debug/out"]);
    check(&folder, json!({"path": "src/main.rs"}), &["src/main.rs"]);
    check(&folder, json!({"path": "src", "depth": 1}), &["src/.gitignore", "src/main.rs", "src/tools/"]);
}

#[test]
fn a_folder_that_is_named_is_seen_though_all_that_is_in_it_is_ignored() {
    let folder = Folder::with([
        (".gitignore", "build/*\nout/**\n*.o\n"),
        ("build/a.txt", ""),
        ("build/x/b.txt", ""),
        ("out/x/c.txt", ""),
        ("d.txt", ""),
    ]);
    check(&folder, json!({}), &[".gitignore", "build/", "d.txt", "out/"]);
    check(&folder, json!({"path": "build"}), &["build/a.txt", "build/x/b.txt"]);
    check(&folder, json!({"path": "build/x"}), &["build/x/b.txt"]);
    check(&folder, json!({"path": "out/x"}), &["out/x/c.txt"]);
    // Where everything is ignored but some files, these are what is seen anywhere.
    folder.write(".gitignore", "*\n!*/\n!*.txt\n");
    folder.write("build/a.log", "");
    check(&folder, json!({"path": "build"}), &["build/a.txt", "build/x/b.txt"]);
}

#[test]
fn the_ignore_files_above_a_folder_count_in_it() {
    let folder = Folder::with([
        (".gitignore", "*.o\n"),
        ("lib/a.o", ""),
        ("lib/a.c", ""),
        // A repository of its own has its own rules.
        ("vendor/.git/HEAD", ""),
        ("vendor/b.o", ""),
    ]);
    check(&folder, json!({"path": "lib"}), &["lib/a.c"]);
    check(&folder, json!({"path": "vendor"}), &["vendor/b.o"]);
}

#[test]
fn a_glob_takes_names_or_paths() {
    let folder = project();
    check(&folder, json!({"glob": "*.rs"}), &["src/main.rs", "src/tools/list.rs"]);
    check(&folder, json!({"glob": "src/*.rs"}), &["src/main.rs"]);
    check(&folder, json!({"path": "src", "glob": "src/*.rs"}), &["src/main.rs"]);
    check(&folder, json!({"path": "src", "glob": "**/*.rs"}), &["src/main.rs", "src/tools/list.rs"]);
    check(&folder, json!({"path": "src", "glob": "!*.rs"}), &["src/.gitignore"]);
    check(&folder, json!({"glob": "*.py"}), &[]);
}

#[test]
fn what_is_too_much_is_counted() {
    let folder = Folder::with([("some/a.txt", ""), ("some/x/b.txt", "")]);
    for i in 0..700 {
        folder.write(&format!("many/{i:03}.txt"), "");
    }
    check(&folder, json!({}), &["many/", "some/a.txt", "some/x/b.txt"]);
    let mut client = serve(&folder);
    let answer = client.call("list_files", json!({})).ok();
    assert!(answer.text.contains("702 files\nmany/ · 700 files\n"), "{}", answer.text);
    let answer = client.call("list_files", json!({"path": "many"})).ok();
    assert_eq!(names(&answer).len(), 501);
    assert!(answer.text.contains("200 more files"), "{}", answer.text);
    let answer = client.call("list_files", json!({"glob": "*.txt"})).ok();
    assert!(answer.text.contains("202 more files"), "{}", answer.text);
}

#[test]
fn what_cannot_be_listed_is_refused() {
    let folder = project();
    let mut client = serve(&folder);
    let mut check = |arguments: Value, code: &str| {
        client.call("list_files", arguments).refused(code);
    };
    check(json!({"path": ".git"}), "path-forbidden");
    check(json!({"path": "src/../.git"}), "path-forbidden");
    check(json!({"path": ".emend/history"}), "path-forbidden");
    check(json!({"path": ".."}), "path-outside-workspace");
    check(json!({"path": "/etc"}), "path-outside-workspace");
    check(json!({"path": "missing"}), "missing-original");
    check(json!({"path": "src/main.rs/x"}), "not-a-file");
    check(json!({"glob": "a[b"}), "invalid-argument");
    check(json!({"pattern": "*.rs"}), "unknown-argument");
}

#[test]
fn several_roots_are_named() {
    let (one, two) = (Folder::with([("a.txt", ""), ("x/b.txt", "")]), Folder::with([("a.txt", "")]));
    let mut client = launch(&one).workspace(format!("two={}", two.path().display())).legacy();
    let answer = client.call("list_files", json!({})).ok();
    assert!(answer.text.ends_with("two: · 1 file\nws: · 2 files\n"), "{}", answer.text);
    assert!(answer.text.contains(two.path().to_str().unwrap()));
    let answer = client.call("list_files", json!({"path": "ws:"})).ok();
    assert_eq!(names(&answer), ["ws:a.txt", "ws:x/b.txt"]);
    let answer = client.call("list_files", json!({"path": "x"})).ok();
    assert_eq!(names(&answer), ["ws:x/b.txt"]);
    let answer = client.call("list_files", json!({"glob": "*.txt"})).ok();
    assert_eq!(names(&answer), ["two:a.txt", "ws:a.txt", "ws:x/b.txt"]);
    client.read("ws:x/b.txt");
    client.call("list_files", json!({"path": "."})).refused("ambiguous-path");
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn links_are_shown_and_not_followed() {
        let folder = crate::policy::paths::with_secret();
        symlink("../ws-evil", folder.at("out")).unwrap();
        symlink("sub", folder.at("in")).unwrap();
        symlink("missing", folder.at("sub/nowhere")).unwrap();
        symlink("..", folder.at("sub/up")).unwrap();
        check(
            &folder,
            json!({}),
            &["a.txt", "in -> sub", "out", "sub/b.txt", "sub/nowhere -> missing", "sub/up -> .."],
        );
        check(&folder, json!({"path": "in"}), &["sub/b.txt", "sub/nowhere -> missing", "sub/up -> .."]);
        let mut client = serve(&folder);
        client.call("list_files", json!({"path": "out"})).refused("path-outside-workspace");
        let answer = client.call("search_text", json!({"pattern": "."})).ok();
        assert!(!answer.text.contains("classified"), "{}", answer.text);
        client.call("search_text", json!({"pattern": ".", "path": "out"})).refused("path-outside-workspace");
    }

    struct StopInTheEnd<'a>(&'a AtomicBool);

    impl Drop for StopInTheEnd<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn nothing_outside_is_seen_while_links_are_swapped() {
        for disk in ["", "portable"] {
            let folder = crate::policy::paths::with_secret();
            for i in 0..20 {
                folder.write(&format!("{i:02}/x/inside.txt"), "classified, but inside\n");
                // What lies outside under the name of each folder.
                let outside = folder.beside(&format!("ws-evil/{i:02}/x"));
                fs::create_dir_all(&outside).unwrap();
                fs::write(outside.join("outside.txt"), "classified\n").unwrap();
                symlink(folder.beside(&format!("ws-evil/{i:02}")), folder.at(&format!("link-{i:02}")))
                    .unwrap();
            }
            let stop = AtomicBool::new(false);
            std::thread::scope(|scope| {
                // Also when an assertion fails: the scope waits for its threads.
                let _stop = StopInTheEnd(&stop);
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        for i in 0..20 {
                            let (name, link) = (format!("{i:02}"), format!("link-{i:02}"));
                            let swap =
                                |from: &str, to: &str| fs::rename(folder.at(from), folder.at(to)).unwrap();
                            for _ in 0..2 {
                                swap(&name, "aside");
                                swap(&link, &name);
                                swap("aside", &link);
                            }
                        }
                    }
                });
                let mut client = launch(&folder).variable("EMEND_DISK", disk).legacy();
                for _ in 0..50 {
                    let listed = client.call("list_files", json!({"glob": "*.txt"})).ok();
                    let found = client.call("search_text", json!({"pattern": "classified"})).ok();
                    for text in [listed.text, found.text] {
                        assert!(!text.contains("outside.txt"), "{text}");
                    }
                    for i in 0..20 {
                        let found = client.call(
                            "search_text",
                            json!({"pattern": "classified", "path": format!("{i:02}/x")}),
                        );
                        assert!(!found.text.contains("outside.txt · version"), "{}", found.text);
                    }
                }
            });
        }
    }

    #[test]
    fn what_is_no_file_is_shown_as_what_it_is_and_not_searched() {
        let folder = Folder::with([("a.txt", "a\n")]);
        crate::policy::special_files::make_fifo(&folder, "pipe");
        check(&folder, json!({}), &["a.txt", "pipe"]);
        let found = serve(&folder).call("search_text", json!({"pattern": "a"})).ok();
        assert!(found.text.starts_with("1 matching line in 1 of 1 file\n"), "{}", found.text);
    }
}
