//! `emend init --prefer` and `--remove`: what they put into clients' files, and that they take exactly that back.

#![cfg(target_os = "linux")]

use emend_testkit::folder::tree;
use emend_testkit::{Folder, Tree};
use serde_json::{Value, json};

use crate::cli::{emend, on_terminal};

const CLAUDE: &str = ".claude/settings.json";

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Every client, where it is set up here, its file with the entry, and its other files.
const CLIENTS: [(&str, &[&str], &str, &[&str]); 14] = [
    ("claude-code", &[], ".mcp.json", &[CLAUDE, "CLAUDE.md"]),
    ("gemini-cli", &[], ".gemini/settings.json", &["GEMINI.md"]),
    ("gemini-cli", &["--global"], "../home/.gemini/settings.json", &["../home/.gemini/GEMINI.md"]),
    ("opencode", &[], "opencode.json", &["AGENTS.md"]),
    (
        "opencode",
        &["--global"],
        "../home/.config/opencode/opencode.json",
        &["../home/.config/opencode/AGENTS.md"],
    ),
    ("codex", &[], "../home/.codex/config.toml", &["../home/.codex/AGENTS.md"]),
    ("codex", &["--global"], "../home/.codex/config.toml", &["../home/.codex/AGENTS.md"]),
    ("cursor", &[], ".cursor/mcp.json", &[".cursor/rules/emend.mdc"]),
    ("cursor", &["--global"], "../home/.cursor/mcp.json", &[]),
    ("vscode", &[], ".vscode/mcp.json", &[".github/copilot-instructions.md"]),
    ("vscode", &["--global"], "../home/.config/Code/User/mcp.json", &[]),
    ("zed", &[], "../home/.config/zed/settings.json", &[]),
    (
        "windsurf",
        &[],
        "../home/.codeium/windsurf/mcp_config.json",
        &["../home/.codeium/windsurf/memories/global_rules.md"],
    ),
    ("claude-desktop", &[], "../home/.config/Claude/claude_desktop_config.json", &[]),
];

/// Runs `emend init` without a question.
fn init(folder: &Folder, client: &str, flags: &[&str]) -> Value {
    let arguments = [&["init", client, "--yes", "--json"], flags].concat();
    emend(folder, &arguments).ends(0).document()
}

#[test]
fn what_was_not_there_is_made_and_is_gone_again() {
    for (client, flags, file, others) in CLIENTS {
        let folder = Folder::with([("src/main.rs", ""), ("../home/.profile", "")]);
        let before = files(&folder);
        let done = init(&folder, client, &[flags, &["--prefer"]].concat());
        assert_eq!(done["state"], "written", "{client}");
        for file in others.iter().chain([&file]) {
            assert!(folder.has(file), "{client}: {file}");
        }
        assert_eq!(done["files"].as_array().unwrap().len(), others.len() + 1, "{client}");
        let prefers = files(&folder);
        let again = init(&folder, client, &[flags, &["--prefer"]].concat());
        assert_eq!((&again["state"], files(&folder)), (&json!("present"), prefers), "{client}");
        let removed = init(&folder, client, &[flags, &["--remove"]].concat());
        assert_eq!((&removed["state"], files(&folder)), (&json!("removed"), before.clone()), "{client}");
        assert!(removed.get("remarks").is_none(), "{removed}");
        let again = init(&folder, client, &[flags, &["--remove"]].concat());
        assert_eq!((&again["state"], files(&folder)), (&json!("absent"), before), "{client}");
    }
}

/// What the project and the home folder have.
fn files(folder: &Folder) -> (Tree, Tree) {
    (folder.tree(), tree(&folder.beside("home")))
}

#[test]
fn a_paragraph_that_another_client_reads_too_stays() {
    let folder = Folder::with([("AGENTS.md", "# Mine\n")]);
    std::os::unix::fs::symlink("AGENTS.md", folder.path().join("CLAUDE.md")).unwrap();
    for client in ["claude-code", "opencode"] {
        init(&folder, client, &["--prefer"]);
    }
    let both = folder.text("AGENTS.md");
    let removed = init(&folder, "claude-code", &["--remove"]);
    assert_eq!((&removed["state"], folder.text("AGENTS.md")), (&json!("removed"), both));
    let remark =
        "/AGENTS.md: the paragraph about Emend stays, since opencode reads this file too and has Emend.";
    assert!(removed["remarks"][0].as_str().unwrap().ends_with(remark), "{removed}");
    init(&folder, "opencode", &["--remove"]);
    assert_eq!(folder.text("AGENTS.md"), "# Mine\n");
}

#[test]
fn one_word_for_all_permissions_becomes_the_rule_for_the_others() {
    let before = "{\n  \"permission\": \"ask\"\n}\n";
    let folder = Folder::with([("opencode.json", before)]);
    init(&folder, "opencode", &["--prefer"]);
    let now = document(&folder.text("opencode.json"));
    assert_eq!(now["permission"], json!({"*": "ask", "edit": "deny", "emend_*": "allow"}));
    init(&folder, "opencode", &["--remove"]);
    assert_eq!(folder.text("opencode.json"), before);
}

/// What people have in such files: comments, other endings, lists of their own.
#[test]
fn what_was_there_keeps_its_bytes() {
    let json = "// mine\r\n{\r\n    \"theme\": \"One\", // dark\r\n    \"permissions\": {\"deny\": [\"Bash(rm *)\"]},\r\n}\r\n";
    let toml = "# mine\r\nmodel = \"x\" # best\r\n\r\n[tui]\r\n";
    for (client, flags, file, others) in CLIENTS {
        for remove in ["at once", "in two steps"] {
            let folder = Folder::new();
            let all: Vec<&str> = others.iter().copied().chain([file]).collect();
            for file in &all {
                let text = match file.rsplit_once('.').unwrap().1 {
                    "json" => json,
                    "toml" => toml,
                    _ => "# Mine\r\n\r\n- tabs",
                };
                folder.write(file, text);
            }
            let read = || all.iter().map(|file| folder.text(file)).collect::<Vec<_>>();
            let before = read();
            if remove == "in two steps" {
                init(&folder, client, flags);
            }
            let done = init(&folder, client, &[flags, &["--prefer"]].concat());
            for file in done["files"].as_array().unwrap() {
                assert_eq!(file.get("backup"), None, "the old text is in the state folder");
            }
            for (file, before) in all.iter().zip(&before) {
                let now = folder.text(file);
                assert_ne!(&now, before, "{client}: {file}");
                assert!(!now.replace("\r\n", "").contains('\n'), "{client}: {now}");
                for line in before.lines().filter(|line| line.contains("mine") || line.contains("dark")) {
                    assert!(now.contains(line), "{client}: {now}");
                }
            }
            let removed = init(&folder, client, &[flags, &["--remove"]].concat());
            assert_eq!((read(), &removed["state"]), (before, &json!("removed")), "{client}");
            let copies = all.iter().filter(|file| folder.has(&format!("{file}.before-emend")));
            assert_eq!(copies.count(), 0, "{client}");
        }
    }
}

#[test]
fn each_client_gets_what_it_has() {
    let folder = Folder::new();
    let text = |client: &str, file: &str| {
        init(&folder, client, &["--prefer"]);
        folder.text(file)
    };
    let claude = document(&text("claude-code", CLAUDE));
    assert_eq!(claude["permissions"], json!({"deny": ["Edit", "Write"], "allow": ["mcp__emend__*"]}));
    let gemini = document(&text("gemini-cli", ".gemini/settings.json"));
    assert_eq!(gemini["tools"], json!({"exclude": ["EditTool", "WriteFileTool"]}));
    assert_eq!(gemini["mcpServers"]["emend"]["trust"], true);
    let opencode = document(&text("opencode", "opencode.json"));
    assert_eq!(opencode["permission"], json!({"edit": "deny", "emend_*": "allow"}));
    let entry = &opencode["mcp"]["emend"];
    assert_eq!(entry["type"], "local");
    assert_eq!(entry["command"].as_array().unwrap()[1..], [json!("serve"), json!("--workspace"), json!(".")]);
    let codex = text("codex", "../home/.codex/config.toml");
    assert!(codex.contains("default_tools_approval_mode = \"approve\"\n"), "{codex}");
    let zed = document(&text("zed", "../home/.config/zed/settings.json"));
    let deny = json!({"default": "deny"});
    assert_eq!(zed["agent"]["tool_permissions"]["tools"], json!({"edit_file": deny, "write_file": deny}));
    let rule = text("cursor", ".cursor/rules/emend.mdc");
    assert!(rule.starts_with("---\n") && rule.contains("\nalwaysApply: true\n---\n"), "{rule}");
    for file in ["CLAUDE.md", "GEMINI.md", "AGENTS.md", ".cursor/rules/emend.mdc", "../home/.codex/AGENTS.md"]
    {
        let rules = folder.text(file);
        assert!(rules.contains("`emend` alone") && rules.ends_with("<!-- emend: end -->\n"), "{rules}");
    }
}

#[test]
fn one_question_is_asked_about_all_files_that_are_shown() {
    let folder = Folder::with([("CLAUDE.md", "# Mine\n")]);
    let before = files(&folder);
    let shown = emend(&folder, &["init", "claude-code", "--prefer", "--dry-run"]).ends(0).out;
    for part in [".mcp.json would be created", "settings.json would be created", "CLAUDE.md would be changed"]
    {
        assert!(shown.contains(part), "{shown}");
    }
    assert!(shown.contains("\"deny\": [\"Edit\", \"Write\"]") && shown.contains("/rewind"), "{shown}");
    emend(&folder, &["init", "claude-code", "--prefer"]).ends(2);
    on_terminal(&folder, &["init", "claude-code", "--prefer"], "n\n").ends(1);
    assert_eq!(files(&folder), before);
    on_terminal(&folder, &["init", "claude-code", "--prefer"], "y\n").ends(0);
    let prefers = files(&folder);
    let shown = emend(&folder, &["init", "claude-code", "--remove", "--dry-run"]).ends(0).out;
    assert!(shown.contains("settings.json would be deleted") && shown.contains("\n-Edit, create"), "{shown}");
    on_terminal(&folder, &["init", "claude-code", "--remove"], "n\n").ends(1);
    assert_eq!(files(&folder), prefers);
    on_terminal(&folder, &["init", "claude-code", "--remove"], "y\n").ends(0);
    assert_eq!(files(&folder), before);
    emend(&folder, &["init", "claude-code", "--remove", "--prefer"]).ends(2);
}

#[test]
fn a_deny_that_was_there_before_stays() {
    let mine =
        "{\n  \"permissions\": {\n    \"deny\": [\n      \"Edit\",\n      \"WebFetch\"\n    ]\n  }\n}\n";
    let folder = Folder::with([(CLAUDE, mine)]);
    init(&folder, "claude-code", &["--prefer"]);
    let prefers = document(&folder.text(CLAUDE))["permissions"].clone();
    assert_eq!(prefers["deny"], json!(["Edit", "WebFetch", "Write"]));
    // With a change of the person's own beside, too.
    let (changed, also) = (
        folder.text(CLAUDE).replace("\"WebFetch\"", "\"WebFetch\", \"Bash\""),
        json!(["Edit", "WebFetch", "Bash"]),
    );
    init(&folder, "claude-code", &["--remove"]);
    assert_eq!(folder.text(CLAUDE), mine);
    init(&folder, "claude-code", &["--prefer"]);
    folder.write(CLAUDE, changed);
    init(&folder, "claude-code", &["--remove"]);
    assert_eq!(document(&folder.text(CLAUDE)), json!({"permissions": {"deny": also}}));
}

#[test]
fn what_a_person_changed_since_stays_and_is_told() {
    let folder = Folder::with([("AGENTS.md", "# Mine\n")]);
    init(&folder, "opencode", &["--prefer"]);
    let mut settings = document(&folder.text("opencode.json"));
    settings["permission"]["edit"] = json!("ask");
    settings["mcp"]["emend"]["environment"] = json!({"A": "1"});
    settings["theme"] = json!("mine");
    folder.write("opencode.json", settings.to_string());
    folder.write("AGENTS.md", format!("{}\nMore.\n", folder.text("AGENTS.md")));
    let removed = init(&folder, "opencode", &["--remove"]);
    let told = removed["remarks"].to_string();
    assert!(told.contains("mcp.emend has been changed") && told.contains("permission.edit has"), "{told}");
    settings["permission"].as_object_mut().unwrap().remove("emend_*");
    assert_eq!(document(&folder.text("opencode.json")), settings);
    assert_eq!(folder.text("AGENTS.md"), "# Mine\n\nMore.\n");
}

#[test]
fn an_entry_that_init_found_stays() {
    let mine =
        "{\"mcpServers\": {\"emend\": {\"command\": \"old\", \"args\": [\"serve\", \"--mode\", \"ask\"]}}}\n";
    let folder = Folder::with([(".mcp.json", mine)]);
    let told = init(&folder, "claude-code", &["--remove"]);
    assert_eq!(told["state"], "absent");
    assert!(told["remarks"][0].as_str().unwrap().contains("did not write"), "{told}");
    init(&folder, "claude-code", &[]);
    assert_ne!(folder.text(".mcp.json"), mine);
    init(&folder, "claude-code", &["--remove"]);
    assert_eq!(folder.text(".mcp.json"), mine);
}

#[test]
fn a_paragraph_is_known_by_its_marks_in_a_clone_too() {
    let folder = Folder::new();
    init(&folder, "claude-code", &["--prefer"]);
    let clone = Folder::with([("CLAUDE.md", &format!("# Ours\n\n{}", folder.text("CLAUDE.md"))[..])]);
    clone.write(CLAUDE, folder.text(CLAUDE));
    assert_eq!(init(&clone, "claude-code", &["--prefer"])["files"].as_array().unwrap().len(), 1);
    let removed = init(&clone, "claude-code", &["--remove"]);
    assert_eq!(clone.text("CLAUDE.md"), "# Ours\n");
    assert_eq!(clone.text(CLAUDE), folder.text(CLAUDE));
    assert!(removed["remarks"][0].as_str().unwrap().contains("settings.json names Emend"), "{removed}");
}

#[test]
fn what_cannot_be_changed_is_refused_before_anything_is_written() {
    for (text, says) in [
        ("{\n  \"a\": 1\n  \"b\": 2\n}\n", "line 2"),
        ("{\"permissions\": {\"deny\": \"Edit\"}}", "'permissions.deny' is no list"),
        ("{\"permissions\": []}", "'permissions' is no object"),
    ] {
        let folder = Folder::with([(CLAUDE, text)]);
        let before = files(&folder);
        let refused = emend(&folder, &["init", "claude-code", "--prefer", "--yes"]).ends(2);
        assert!(refused.log.contains("settings.json") && refused.log.contains(says), "{refused:?}");
        assert_eq!(files(&folder), before);
    }
}

#[test]
fn a_subfolder_is_a_project_of_its_own() {
    let folder = Folder::with([("sub/a.txt", ""), ("CLAUDE.md", "# Mine\n")]);
    let before = files(&folder);
    init(&folder, "claude-code", &["--prefer", "--workspace", "sub"]);
    assert!(
        folder.has("sub/.mcp.json") && folder.has("sub/.claude/settings.json") && folder.has("sub/CLAUDE.md")
    );
    assert_eq!(folder.text("CLAUDE.md"), "# Mine\n");
    assert_eq!(init(&folder, "claude-code", &["--remove"])["state"], "absent");
    init(&folder, "claude-code", &["--remove", "--workspace", "sub"]);
    assert_eq!(files(&folder), before);
}

/// Whenever the command is interrupted, the client has an edit tool: its own or Emend's.
#[test]
fn a_client_loses_its_own_tools_last_and_gets_them_back_first() {
    for (client, flags, file, _) in CLIENTS {
        let folder = Folder::new();
        let written = |more: &str| {
            let done = init(&folder, client, &[flags, &[more]].concat());
            let files = done["files"].as_array().unwrap().iter();
            let paths = files.map(|file| file["file"].as_str().unwrap().to_owned());
            paths.filter(|path| !path.ends_with(".md") && !path.ends_with(".mdc")).collect::<Vec<_>>()
        };
        let added = written("--prefer");
        assert!(added[0].ends_with(file.trim_start_matches("../home/")), "{client}: {added:?}");
        let removed: Vec<String> = written("--remove").into_iter().rev().collect();
        assert_eq!(removed, added, "{client}");
    }
}

#[test]
fn claude_code_is_set_for_all_projects_once_it_has_emend_there() {
    let folder = Folder::with([("../home/.claude/CLAUDE.md", "# Mine\n")]);
    let before = files(&folder);
    for flags in [&["--global", "--prefer"][..], &["--global"]] {
        let refused = emend(&folder, &[&["init", "claude-code", "--yes"], flags].concat()).ends(2).log;
        assert!(refused.contains("claude mcp add --scope user emend"), "{refused}");
        assert_eq!(files(&folder), before);
    }
    let own = json!({"mcpServers": {"emend": {"command": "emend", "args": ["serve", "--workspace", "."]}}});
    folder.write("../home/.claude.json", own.to_string());
    let settings = || document(&folder.text("../home/.claude/settings.json"));
    init(&folder, "claude-code", &["--global"]);
    assert!(settings()["hooks"]["PostToolUse"].is_array() && settings().get("permissions").is_none());
    init(&folder, "claude-code", &["--global", "--prefer"]);
    assert_eq!(settings()["permissions"]["deny"], json!(["Edit", "Write"]));
    assert_eq!(document(&folder.text("../home/.claude.json")), own);
    init(&folder, "claude-code", &["--global", "--remove"]);
    assert!(!folder.has("../home/.claude/settings.json"));
    assert_eq!(folder.text("../home/.claude/CLAUDE.md"), "# Mine\n");
}

#[test]
fn opencode_keeps_its_settings_where_they_are() {
    let folder = Folder::with([("opencode.jsonc", "{\n  // mine\n}\n")]);
    init(&folder, "opencode", &["--prefer"]);
    assert!(folder.text("opencode.jsonc").contains("// mine") && !folder.has("opencode.json"));
    let mine = json!({"mcp": {"emend": {"type": "local", "command": ["old", "serve", "--mode", "ask"]}}});
    folder.write("opencode.jsonc", mine.to_string());
    init(&folder, "opencode", &[]);
    let command = document(&folder.text("opencode.jsonc"))["mcp"]["emend"]["command"].clone();
    assert_eq!(
        command.as_array().unwrap()[1..],
        ["serve", "--mode", "ask", "--workspace", "."].map(Value::from)
    );
    let found = emend(&folder, &["doctor", "--json"]).document();
    assert!(found.to_string().contains("opencode.jsonc starts "), "{found}");
}
