//! The rules that the project keeps: documents and code agree, dependencies point one way, and files are short, have a
//! head and are not forgotten.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use emend_testkit::Folder;
use emend_workspace::Settings;
use emend_workspace::problem::Code;
use serde_json::Value;

use crate::serve;

/// No file of code may be longer.
const LONGEST_FILE: usize = 700;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Every file below these folders and files, with its path from the root.
fn files(starts: &[&str]) -> Vec<(PathBuf, String)> {
    let mut todo: Vec<PathBuf> = starts.iter().map(|start| root().join(start)).collect();
    let mut found = Vec::new();
    while let Some(path) = todo.pop() {
        if path.is_dir() {
            // A build of the fuzz targets, where somebody has made one.
            if path.file_name().is_some_and(|name| name != "target") {
                todo.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            }
        } else if let Ok(text) = fs::read_to_string(&path) {
            found.push((path.strip_prefix(root()).unwrap().to_path_buf(), text));
        }
    }
    found.sort();
    assert!(found.len() >= starts.len());
    found
}

fn code_files() -> Vec<(PathBuf, String)> {
    let mut found = files(&["crates", "tests", "examples"]);
    found.retain(|(path, _)| path.extension().is_some_and(|extension| extension == "rs"));
    found
}

/// The documents for people, at the top and below `docs`.
fn documents() -> Vec<(PathBuf, String)> {
    let mut found = files(&["docs"]);
    for entry in fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            found.push((PathBuf::from(&name), read(&name)));
        }
    }
    found.retain(|(path, _)| path.extension().is_some_and(|extension| extension == "md"));
    found
}

#[test]
fn every_code_has_a_row_in_the_documents_and_every_row_a_code() {
    let known: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let text = read("docs/ERRORS.md");
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|row| row.0));
    let rows: Vec<&str> = rows.collect();
    let documented: BTreeSet<&str> = rows.iter().copied().collect();
    assert_eq!(documented, known);
    assert_eq!(rows.len(), documented.len(), "one row for each");
}

#[test]
fn no_test_is_forgotten() {
    let manifest = read("Cargo.toml");
    let mut todo = vec![("tests".to_owned(), "tests/tests.rs".to_owned())];
    let mut folders = 0;
    while let Some((folder, declaring)) = todo.pop() {
        folders += 1;
        let declared = read(&declaring);
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap();
            let inner = format!("{folder}/{stem}");
            let has_modules = path.join("mod.rs").exists();
            let is_module = has_modules || path.extension().is_some_and(|extension| extension == "rs");
            // A target of its own, or that which declares.
            let is_other = stem == "mod" || manifest.contains(&format!("path = \"{inner}.rs\""));
            if is_module && !is_other {
                let line = format!("mod {stem};");
                let is_declared = |declared: &str| declared.trim_start_matches("pub(crate) ") == line;
                assert!(declared.lines().any(is_declared), "{declaring} does not declare {stem}");
            }
            if has_modules {
                todo.push((inner.clone(), format!("{inner}/mod.rs")));
            }
        }
    }
    assert!(folders > 1);
}

/// The names of what a crate depends on to run.
fn dependencies(crate_name: &str) -> Vec<String> {
    let manifest = read(format!("crates/{crate_name}/Cargo.toml"));
    let mut section = "";
    let mut found = Vec::new();
    for line in manifest.lines() {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']');
            if let Some((_, name)) = section.split_once("dependencies.") {
                found.push(name.to_owned());
            }
        } else if section.ends_with("dependencies")
            && section != "dev-dependencies"
            && let Some(name) = line.split(['.', '=', ' ']).next().filter(|name| !name.is_empty())
        {
            found.push(name.trim_matches('"').to_owned());
        }
    }
    assert!(!found.is_empty());
    found
}

#[test]
fn the_core_is_pure() {
    let core = read("crates/edit/src/lib.rs");
    assert!(core.lines().any(|line| line == "#![no_std]"), "the compiler proves that it does no I/O");
    for unwanted in
        ["tokio", "rmcp", "serde", "serde_json", "schemars", "notify", "tempfile", "emend-workspace"]
    {
        assert!(!dependencies("edit").iter().any(|name| name == unwanted), "edit depends on {unwanted}");
    }
}

/// What is told of a problem is for somebody, who has tools and settings; the core has neither. So none of their names is
/// anywhere in its sources, not even in a comment.
#[test]
fn the_core_names_no_tool_no_argument_and_no_setting() {
    let tools = serve(&Folder::new()).tools();
    let arguments =
        tools.iter().flat_map(|tool| tool["inputSchema"]["properties"].as_object().unwrap().keys());
    let settings = Settings::parse("no_such_setting_at_all = 1").unwrap_err();
    let settings = settings.split_once("The settings are: ").unwrap().1.trim_end_matches('.').split(", ");
    let names: BTreeSet<&str> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .chain(arguments.map(String::as_str))
        .chain(settings)
        // Others are words that may mean something else.
        .filter(|name| name.contains('_'))
        // In these words patches come (Codex's command line, the hints of blocks), or any text or file is spoken of.
        .filter(|name| !["apply_patch", "start_line", "end_line", "new_text", "new_name"].contains(name))
        .collect();
    assert!(names.contains("read_file") && names.contains("old_string") && names.contains("syntax_guard"));
    for (path, text) in files(&["crates/edit/src"]) {
        for (at, line) in text.lines().enumerate() {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            let name = words.find(|word| names.contains(word));
            assert!(name.is_none(), "{}:{}: {}", path.display(), at + 1, name.unwrap_or_default());
        }
    }
}

/// A text that is to be another for another reader is made for that reader, in `server::messages`.
#[test]
fn no_text_of_a_problem_is_mended_by_replacing_pieces_of_it() {
    let mut telling = files(&["crates/cli"]);
    telling.retain(|(_, text)| text.contains("emend_server::messages"));
    assert!(!telling.is_empty());
    for (path, text) in telling {
        assert!(!text.contains(".replace("), "{} tells problems", path.display());
    }
    for (path, text) in files(&["crates/server/src/messages"]) {
        // A character may be quoted, and tests make the files that they need.
        let (code, _) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
        assert!(!code.contains(".replace(\""), "{}", path.display());
    }
}

#[test]
fn the_workspace_knows_nothing_of_the_wire() {
    for unwanted in ["rmcp", "tokio", "schemars", "emend-server"] {
        assert!(
            !dependencies("workspace").iter().any(|name| name == unwanted),
            "workspace depends on {unwanted}"
        );
    }
    // JSON is for what it writes down for itself, and for what is said to programs.
    let own = [
        "approval/waiting.rs",
        "commit/journal.rs",
        "trail.rs",
        "event_log/mod.rs",
        "files/call.rs",
        "history/record.rs",
        "hooks/after.rs",
        "hooks/document.rs",
        "policy/programs.rs",
        "edits/kept_sessions.rs",
        "edits/reviewable.rs",
        "readings/kept.rs",
        "seal.rs",
        "sealed_folder.rs",
        "vault.rs",
    ];
    for (path, text) in files(&["crates/workspace/src"]) {
        if !own.iter().any(|own| path.ends_with(own)) {
            assert!(!text.contains("serde"), "{} serializes", path.display());
        }
    }
}

#[test]
fn the_leaves_know_none_of_our_crates() {
    let leaves = [
        ("apply-model", &[][..]),
        ("lease", &[]),
        ("lsp", &["emend-process", "emend-threads"]),
        ("process", &["emend-threads", "emend-windows"]),
        ("replicas", &["emend-threads"]),
        ("syntax", &[]),
        ("threads", &[]),
        ("windows", &[]),
        ("writeback", &[]),
    ];
    for (leaf, known) in leaves {
        let ours: Vec<String> =
            dependencies(leaf).into_iter().filter(|name| name.starts_with("emend-")).collect();
        assert_eq!(ours, known, "{leaf}");
    }
}

#[test]
fn nobody_depends_on_the_testkit_to_run() {
    for name in ["edit", "workspace", "server"] {
        assert!(!dependencies(name).iter().any(|name| name == "emend-testkit"), "{name}");
    }
}

#[test]
fn nothing_names_a_folder_of_the_machine_it_was_written_on() {
    let folders = ["work", "root"].map(|name| format!("/{name}/"));
    let starts = [
        "crates",
        "docs",
        "examples",
        "README.md",
        "SECURITY.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "mcp.json",
        "Cargo.toml",
        "deny.toml",
    ];
    for (path, text) in files(&starts) {
        for folder in &folders {
            assert!(!text.contains(folder.as_str()), "{} names {folder}", path.display());
        }
    }
}

#[test]
fn the_readme_has_its_two_commands() {
    let readme = read("README.md");
    for command in ["cargo run -- demo", "cargo test --workspace"] {
        let given = |line: &str| {
            line.trim_start()
                .strip_prefix(command)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        assert!(readme.lines().any(given), "{command}");
    }
}

/// A page that is read to its end.
#[test]
fn the_readme_is_one_page() {
    let readme = read("README.md");
    let (lines, bytes) = (readme.lines().count(), readme.len());
    assert!(
        lines <= 150 && bytes <= 12_000,
        "{lines} lines, {bytes} bytes: move something to a page below docs"
    );
}

#[test]
fn every_page_begins_with_who_needs_it() {
    let others = ["ARCHITECTURE.md", "PROTECTED.md", "STYLE.md"];
    for (document, text) in documents().into_iter().filter(|(document, _)| document.starts_with("docs")) {
        if !others.iter().any(|name| document.ends_with(name)) {
            let paragraph = text.split("\n\n").nth(1).unwrap_or_default();
            assert!(paragraph.starts_with("This page is for "), "{}", document.display());
        }
    }
}

/// What a link to a heading is called, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|&c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

#[test]
fn every_document_that_is_linked_is_there() {
    for (document, text) in documents() {
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if target.contains("://") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = root().join(&document);
            let path = if file.is_empty() { path } else { path.with_file_name(file) };
            assert!(path.exists(), "{} links to {target}", document.display());
            if !heading.is_empty() {
                let there = fs::read_to_string(&path).unwrap();
                let mut headings = there.lines().filter(|line| line.starts_with('#'));
                let is_there = |line: &str| anchor(line.trim_start_matches('#').trim()) == heading;
                assert!(headings.any(is_there), "{} links to {target}", document.display());
            }
        }
    }
}

#[test]
fn every_file_that_the_architecture_names_is_there() {
    let files = files(&["crates", "tests", "examples"]);
    let text = read("docs/ARCHITECTURE.md");
    let named: Vec<&str> = quoted(&text).filter(|name| name.ends_with(".rs")).collect();
    assert!(named.len() > 50, "{named:?}");
    for name in named {
        assert!(files.iter().any(|(path, _)| path.ends_with(name)), "there is no {name}");
    }
}

#[test]
fn what_is_protected_by_default_is_documented() {
    let document = read("docs/PROTECTED.md");
    let named: BTreeSet<&str> = quoted(&document).map(|name| name.trim_end_matches('/')).collect();
    for pattern in emend_workspace::policy::APPROVE {
        let plain = pattern.trim_start_matches('!').trim_start_matches("**/").trim_end_matches('/');
        let plain = if pattern.starts_with('!') { plain.rsplit('/').next().unwrap() } else { plain };
        assert!(named.contains(plain), "{pattern} is not in docs/PROTECTED.md");
    }
}

#[test]
fn the_configuration_names_the_command() {
    let configuration: Value = serde_json::from_str(&read("mcp.json")).unwrap();
    let server = &configuration["mcpServers"]["emend"];
    assert_eq!(server["command"], "emend");
    assert_eq!(server["args"][0], "serve");
}

#[test]
fn every_file_of_code_is_short_and_says_what_it_holds() {
    for (path, text) in code_files() {
        let lines = text.lines().count();
        assert!(lines <= LONGEST_FILE, "{} has {lines} lines", path.display());
        assert!(text.starts_with("//! "), "{} does not say what it holds", path.display());
    }
}

/// The folders below `tests/cases` with the fixtures of one format each.
fn fixture_folders() -> BTreeSet<String> {
    let formats = fs::read_dir(root().join("tests/cases")).unwrap();
    formats.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// What stands in backticks in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_fixture_that_a_document_names_is_there() {
    let formats = fixture_folders();
    let mut named = 0;
    for document in ["docs/FORMATS.md", "docs/DESIGN.md", "docs/ARCHITECTURE.md"] {
        // Code blocks have backticks of their own.
        let text: Vec<String> = read(document).split("\n```").step_by(2).map(Into::into).collect();
        for name in text.iter().flat_map(|part| quoted(part)) {
            let is_fixture = name.split_once('/').is_some_and(|(format, _)| formats.contains(format));
            if is_fixture {
                named += 1;
                let case = root().join("tests/cases").join(name).join("case.json");
                assert!(case.exists(), "{document} names {name}");
            }
        }
    }
    assert!(named > 0);
}

#[test]
fn every_leniency_of_the_documents_names_what_shows_it() {
    let text = read("docs/FORMATS.md");
    let tests: String = files(&["crates"]).into_iter().map(|(_, text)| text).collect();
    let is_shown = |name: &str| {
        root().join("tests/cases").join(name).join("case.json").exists()
            || (name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
                && tests.contains(&format!("fn {name}()")))
    };
    let mut tables = 0;
    let mut rows = 0;
    for section in text
        .split("\n#")
        .filter(|section| section.lines().next().is_some_and(|heading| heading.contains("is forgiven")))
    {
        tables += 1;
        // Without its heading and the line below that.
        for row in section.lines().filter(|line| line.starts_with('|')).skip(2) {
            rows += 1;
            let last = row.trim_end().trim_end_matches('|').rsplit(" | ").next().unwrap();
            let names: Vec<&str> = quoted(last).collect();
            assert!(!names.is_empty(), "nothing shows: {row}");
            for name in names {
                assert!(is_shown(name), "{name} is neither a fixture nor a test: {row}");
            }
        }
    }
    assert!(tables == fixture_folders().len() - 1 && rows > tables, "{tables} tables, {rows} rows");
}
