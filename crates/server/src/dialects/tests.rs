//! What holds for every dialect.

use std::collections::BTreeMap;

use serde_json::json;

use super::*;

/// Checks that a call of a tool becomes a call of ours with exactly these arguments.
#[track_caller]
pub(super) fn check(dialect: DialectName, call: (&str, Value), ours: &str, expected: Value) {
    let (name, Value::Object(arguments)) = call else { panic!("arguments are an object") };
    let understood = understand(find(dialect, ""), name, arguments).unwrap();
    assert!(understood.problem.is_none(), "{name}");
    assert_eq!((understood.tool.about.name, Value::Object(understood.arguments)), (ours, expected));
}

/// The most bytes of a list of tools, with what stays beside a dialect's own.
const LIST: usize = 8 * 1024;

#[test]
fn every_word_of_the_setting_has_its_dialect() {
    let setting = emend_workspace::Settings::ALL.iter().find(|setting| setting.key == "dialect").unwrap();
    let names: Vec<&str> = all().iter().map(|dialect| dialect.name.as_str()).collect();
    let rest = setting.words.iter().copied().filter(|word| !["emend", "auto"].contains(word));
    assert_eq!(names, rest.collect::<Vec<_>>());
}

#[test]
fn a_list_is_short() {
    for dialect in all() {
        let listed = dialect.listed(Mode::Auto, ListedTools::All);
        let bytes = serde_json::to_string(&listed).unwrap().len();
        assert!(bytes <= LIST, "{}: {bytes} bytes", dialect.name);
        let core = dialect.listed(Mode::Auto, ListedTools::Core);
        assert!(core.len() < listed.len(), "{}", dialect.name);
        let names: Vec<&str> = listed.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, dialect.listed_names().collect::<Vec<_>>());
        assert!(
            dialect.listed(Mode::ReadOnly, ListedTools::All).iter().any(|tool| tool.name == "search_text")
        );
    }
}

#[test]
fn what_a_dialect_names_of_ours_exists() {
    for dialect in all() {
        for name in dialect.keeps.iter().chain(dialect.tools.iter().map(|tool| &tool.stands_for)) {
            assert!(tools::find(name).is_some(), "{}: {name}", dialect.name);
        }
        for kept in ["edit_preview", "apply_preview", "undo_edit", "diagnostics"] {
            assert!(dialect.keeps.contains(&kept), "{}: {kept}", dialect.name);
        }
    }
}

/// The names that several systems have, each with whose they are, in the order in which they are asked.
const CLASHES: &[(&str, &[&str])] = &[
    ("apply_diff", &["roo", "roo", "roo"]),
    ("apply_patch", &["emend", "codex", "aider", "opencode"]),
    ("edit", &["roo", "opencode"]),
    ("list_files", &["emend", "cline", "roo"]),
    ("read_file", &["emend", "codex", "gemini", "gemini", "cline", "roo", "roo"]),
    ("read_many_files", &["gemini", "gemini"]),
    ("replace", &["gemini", "gemini"]),
    ("search_and_replace", &["roo", "roo"]),
    ("write_file", &["emend", "gemini"]),
    ("write_to_file", &["cline", "roo"]),
];

#[test]
fn every_clash_of_names_is_known() {
    let mut owners: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for tool in tools::all() {
        owners.entry(tool.about.name).or_default().push("emend");
    }
    for dialect in all() {
        for tool in &dialect.tools {
            owners.entry(tool.about.name).or_default().push(dialect.name.as_str());
        }
    }
    owners.retain(|_, owners| owners.len() > 1);
    let known: BTreeMap<&str, Vec<&str>> =
        CLASHES.iter().map(|(name, owners)| (*name, owners.to_vec())).collect();
    assert_eq!(owners, known);
}

#[test]
fn a_client_of_one_family_gets_its_dialect() {
    for (client, expected) in [
        ("claude-code", DialectName::Claude),
        ("codex-mcp-client", DialectName::Codex),
        ("gemini-cli-mcp-client", DialectName::Gemini),
        ("gemini-cli-mcp-client-emend", DialectName::Gemini),
        ("codexplorer", DialectName::Emend),
        ("claude-code-router", DialectName::Emend),
        ("opencode", DialectName::Emend),
        ("my claude-code", DialectName::Emend),
    ] {
        assert_eq!(of_client(client), expected, "{client}");
    }
}

/// Returns the problem of a call, as a model reads it.
fn refused(dialect: DialectName, (name, arguments): (&str, Value)) -> String {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let understood = understand(find(dialect, ""), name, arguments).unwrap();
    crate::messages::message(&understood.problem.unwrap(), crate::messages::Audience::Model)
}

#[test]
fn what_models_of_the_originals_add_is_passed_over_where_it_changes_nothing() {
    let one = || json!({"path": "a"});
    let lines = json!({"files": [{"path": "a", "offset": 2, "limit": 3}, {"path": "b"}]});
    let files =
        json!({"files": [{"path": "a", "line_ranges": [[2, 4]]}, {"path": "b", "line_ranges": null}]});
    for (dialect, name, arguments, ours, expected) in [
        (
            DialectName::Cline,
            "read_file",
            json!({"path": "a", "task_progress": "- [ ] x"}),
            "read_file",
            one(),
        ),
        (DialectName::Gemini, "read_file", json!({"absolute_path": "a"}), "read_file", one()),
        (DialectName::Gemini, "read_file", json!({"file_path": "a", "unknown": null}), "read_file", one()),
        (
            DialectName::Gemini,
            "read_many_files",
            json!({"include": ["a"], "exclude": [], "recursive": true, "useDefaultExcludes": false}),
            "read_file",
            json!({"files": [{"path": "a"}]}),
        ),
        (
            DialectName::Gemini,
            "list_directory",
            json!({"path": "a", "ignore": [], "file_filtering_options": {"respect_git_ignore": true}}),
            "list_files",
            json!({"path": "a", "depth": 1}),
        ),
        (
            DialectName::OpenHands,
            "str_replace_editor",
            json!({"command": "view", "path": "a", "security_risk": "LOW"}),
            "read_file",
            one(),
        ),
        (
            DialectName::Codex,
            "list_dir",
            json!({"dir_path": "a", "offset": 1, "limit": 25}),
            "list_files",
            json!({"path": "a", "depth": 2}),
        ),
        (DialectName::Claude, "Read", json!({"file_path": "a", "pages": ""}), "read_file", one()),
        (DialectName::Roo, "read_file", files, "read_file", lines),
    ] {
        check(dialect, (name, arguments), ours, expected);
    }
}

#[test]
fn what_would_change_something_and_is_not_done_is_refused_with_a_word() {
    for (dialect, name, arguments, words) in [
        (DialectName::Gemini, "read_many_files", json!({"include": ["a"], "exclude": ["b"]}), "'exclude'"),
        (DialectName::Gemini, "list_directory", json!({"dir_path": "a", "ignore": ["b"]}), "'ignore'"),
        (DialectName::Gemini, "read_file", json!({"file_path": "a", "absolute_path": "b"}), "given twice"),
        (
            DialectName::Gemini,
            "list_directory",
            json!({"dir_path": "a", "file_filtering_options": {"respect_git_ignore": false}}),
            "git ignores",
        ),
        (DialectName::Codex, "list_dir", json!({"dir_path": "a", "offset": 26}), "no pages"),
        (DialectName::Claude, "Read", json!({"file_path": "a", "pages": "1-2"}), "only PDFs"),
        (
            DialectName::Roo,
            "read_file",
            json!({"files": [{"path": "a", "line_ranges": ["4-2"]}]}),
            "[first, last]",
        ),
        (
            DialectName::Roo,
            "search_and_replace",
            json!({"path": "a", "search": "x", "replace": "y", "start_line": 1, "end_line": 2}),
            "every place in the file",
        ),
        (DialectName::Gemini, "edit_preview", json!({"tool": "no_such"}), "one of replace, write_file,"),
    ] {
        let said = refused(dialect, (name, arguments));
        assert!(said.contains(words), "{name}: {said}");
    }
}

#[test]
fn the_paths_of_several_edits_of_opencode_may_be_written_differently() {
    let edits = |inner: &str| {
        let edits = json!([{"filePath": inner, "oldString": "x", "newString": "y"}]);
        ("multiedit", json!({"filePath": "./a/b", "edits": edits}))
    };
    let ours =
        json!({"edits": [{"tool": "str_replace", "path": "./a/b", "old_string": "x", "new_string": "y"}]});
    check(DialectName::OpenCode, edits("a/./b"), "edit_files", ours);
    assert!(refused(DialectName::OpenCode, edits("a/c")).contains("filePath"));
}

/// docs/DIALECTS.md, with its sections by their titles.
fn page() -> BTreeMap<&'static str, &'static str> {
    let page = include_str!("../../../../docs/DIALECTS.md");
    page.split("\n## ").filter_map(|section| section.split_once('\n')).collect()
}

/// Returns what stands between backticks in the cell of this number of each row of a table.
fn names_in(section: &str, cell: usize) -> Vec<&str> {
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.filter_map(|row| row.split('|').nth(cell))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect()
}

#[test]
fn the_page_has_every_tool_of_every_dialect() {
    let page = page();
    for dialect in all() {
        let section = page.get(dialect.name.as_str()).unwrap_or_else(|| panic!("{}", dialect.name));
        let named = names_in(section, 1);
        for tool in &dialect.tools {
            assert!(named.contains(&tool.about.name), "{}: {}", dialect.name, tool.about.name);
        }
        let of_a_tool = |name: &str| {
            let is_in = |tool: &DialectTool| {
                let schema = serde_json::to_string(&tool.input["properties"]).unwrap();
                tool.about.name == name || schema.contains(&format!("\"{name}\""))
            };
            dialect.tools.iter().any(is_in)
        };
        for name in named {
            assert!(of_a_tool(name), "{}: it has no {name}", dialect.name);
        }
        for ours in names_in(section, 2) {
            let is_format =
                emend_edit::patch::recognise::Format::ALL.iter().any(|format| format.as_str() == ours);
            assert!(tools::find(ours).is_some() || is_format, "{}: we have no {ours}", dialect.name);
        }
    }
}

#[test]
fn what_the_page_says_of_other_systems_is_here() {
    let page = page();
    let table = page["What of other systems is here"];
    for system in
        ["Codex", "Claude Code", "OpenClaw", "Hermes", "Aider", "editkit", "OpenHands", "Roo Code", "Cursor"]
    {
        assert!(table.contains(&format!("\n| {system} |")), "{system}");
    }
    let rows = table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| System"));
    for dialect in rows.flat_map(|row| row.split("dialect `").skip(1)) {
        let name = dialect.split('`').next().unwrap();
        assert!(all().iter().any(|dialect| dialect.name.as_str() == name), "{name}");
    }
}
