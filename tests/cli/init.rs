//! `emend init` and `emend completions`: what they add to clients' configuration files, and what stays in these.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use emend_testkit::Folder;
use serde_json::{Value, json};

use crate::EMEND;
use crate::cli::{Command, emend, on_terminal};

/// The command that is written where `emend` on PATH is another, or none.
fn own_path() -> String {
    fs::canonicalize(EMEND).unwrap().into_os_string().into_string().unwrap()
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_configuration_that_is_not_there_is_made_for_each_client() {
    let folder = Folder::with([("src/main.rs", "")]);
    let here = folder.path().to_str().unwrap().to_owned();
    let home = "../home";
    for (client, file, key, workspace) in [
        ("claude-code", ".mcp.json", "mcpServers", "."),
        ("cursor", ".cursor/mcp.json", "mcpServers", "${workspaceFolder}"),
        ("vscode", ".vscode/mcp.json", "servers", "${workspaceFolder}"),
        ("gemini-cli", ".gemini/settings.json", "mcpServers", "."),
        ("claude-desktop", &format!("{home}/.config/Claude/claude_desktop_config.json"), "mcpServers", &here),
        ("zed", &format!("{home}/.config/zed/settings.json"), "context_servers", &here),
        ("windsurf", &format!("{home}/.codeium/windsurf/mcp_config.json"), "mcpServers", &here),
    ] {
        emend(&folder, &["init", client, "--yes"]).ends(0);
        let entry = document(&folder.text(file))[key]["emend"].clone();
        assert_eq!(entry["command"], own_path(), "{client}");
        let mut args = vec!["serve"];
        if client == "claude-code" {
            args.extend(["--answers-as", "text"]);
        }
        args.extend(["--workspace", workspace]);
        assert_eq!(entry["args"], json!(args), "{client}");
        assert_eq!(entry.get("type").is_some(), client == "vscode");
        // The second time there is nothing to do.
        let before = folder.everything();
        let again = emend(&folder, &["init", client, "--json"]).ends(0).document();
        assert_eq!((&again["state"], &again["client"]), (&json!("present"), &json!(client)));
        assert_eq!(folder.everything(), before);
    }
    // These start their servers in the folder where they work, in whichever project.
    emend(&folder, &["init", "codex", "--yes"]).ends(0);
    let expected = format!(
        "[mcp_servers.emend]\ncommand = \"{}\"\nargs = [\"serve\", \"--answers-as\", \"text\"]\n",
        own_path()
    );
    assert_eq!(folder.text("../home/.codex/config.toml"), expected);
    assert_eq!(emend(&folder, &["init", "codex", "--json"]).ends(0).document()["state"], "present");
    emend(&folder, &["init", "gemini-cli", "--global", "--yes"]).ends(0);
    let entry = document(&folder.text("../home/.gemini/settings.json"))["mcpServers"]["emend"].clone();
    assert_eq!(entry["args"], json!(["serve"]));
}

const SETTINGS: &str = "// mine\n{\n  \"theme\": \"One\", // dark\n  \"context_servers\": {},\n}\n";

#[test]
fn the_change_is_shown_first_and_the_old_file_is_kept() {
    let folder = Folder::with([("../home/.config/zed/settings.json", SETTINGS)]);
    let settings = "../home/.config/zed/settings.json";
    fs::set_permissions(folder.at(settings), fs::Permissions::from_mode(0o600)).unwrap();
    let before = folder.everything();
    let shown = emend(&folder, &["init", "zed", "--dry-run"]).ends(0).out;
    assert!(shown.contains("\n+    \"emend\": {\n"), "{shown}");
    // Nobody can be asked here.
    emend(&folder, &["init", "zed"]).ends(2);
    on_terminal(&folder, &["init", "zed"], "n\n").ends(1);
    assert_eq!(folder.everything(), before);

    on_terminal(&folder, &["init", "zed"], "y\n").ends(0);
    let text = folder.text(settings);
    assert!(
        text.starts_with("// mine\n{\n  \"theme\": \"One\", // dark\n  \"context_servers\": {\n"),
        "{text}"
    );
    // Nothing is left beside it: the old text is in the state folder, for this user alone.
    assert_eq!(fs::read_dir(folder.at("../home/.config/zed")).unwrap().count(), 1);
    let mut records = fs::read_dir(folder.state().join("init")).unwrap();
    let record = records.next().unwrap().unwrap().path();
    assert!(fs::read_to_string(&record).unwrap().contains("// mine"));
    for file in [&record, &folder.at(settings)] {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // It is an edit like any other; and as it changes what is started, taking it back needs a person.
    let undo = ["undo", "--yes", "--workspace", "../home/.config/zed"];
    emend(&folder, &undo).ends(1);
    let ran = on_terminal(&folder, &undo, "y\n").ends(0);
    assert_eq!(folder.text(settings), SETTINGS, "{ran:?}");
    // A second change does not take the place of the first one's old text.
    folder.write(settings, "{}");
    let done = emend(&folder, &["init", "zed", "--yes", "--json"]).ends(0).document();
    assert_eq!(done["files"][0].get("backup"), None);
    assert!(fs::read_to_string(&record).unwrap().contains("// mine"));
    assert_eq!(fs::read_dir(folder.at("../home/.config/zed")).unwrap().count(), 1);
}

#[test]
fn an_entry_that_says_something_else_is_changed_and_keeps_the_rest() {
    let file = "{\n  \"mcpServers\": {\n    \"emend\": {\n      \"command\": \"old\",\n      \"env\": {\"A\": \
                \"1\"}\n    }\n  }\n}\n";
    let folder = Folder::with([(".mcp.json", file)]);
    let done = emend(&folder, &["init", "claude-code", "--yes", "--json"]).ends(0).document();
    assert_eq!(done["state"], "written");
    assert!(done["files"][0]["diff"].as_str().unwrap().contains("\n-      \"command\": \"old\",\n"));
    let entry = document(&folder.text(".mcp.json"))["mcpServers"]["emend"].clone();
    assert_eq!((&entry["command"], &entry["env"]), (&json!(own_path()), &json!({"A": "1"})));
}

#[test]
fn what_a_person_wrote_into_the_entry_stays() {
    let entry = json!({
        "command": "old",
        "args": ["serve", "--answers-as=both", "--workspace", ".", "--mode", "ask", "--forbid", "secrets/"],
        "env": {"A": "1"},
        "disabled": false,
    });
    let folder = Folder::with([(".mcp.json", &json!({"mcpServers": {"emend": entry}}).to_string()[..])]);
    emend(&folder, &["init", "claude-code", "--yes"]).ends(0);
    let mut mended = entry;
    mended["command"] = json!(own_path());
    assert_eq!(document(&folder.text(".mcp.json"))["mcpServers"]["emend"], mended);
    let again = emend(&folder, &["init", "claude-code", "--json"]).ends(0).document();
    assert_eq!(again["state"], "present");
    // What is no command line of ours is left to the person, who is told what to do.
    mended["args"] = json!(["run", "emend", "serve"]);
    folder.write(".mcp.json", json!({"mcpServers": {"emend": mended}}).to_string());
    let before = folder.everything();
    let refused = emend(&folder, &["init", "claude-code", "--yes"]).ends(2);
    assert!(refused.log.contains("by hand"), "{refused:?}");
    assert_eq!(folder.everything(), before);
}

#[test]
fn a_second_project_is_added_to_the_entry_of_all() {
    let folder = Folder::with([("one/a.txt", ""), ("two/b.txt", "")]);
    let path = |name: &str| folder.at(name).into_os_string().into_string().unwrap();
    let files = ["../home/.config/zed/settings.json", "../home/.codex/config.toml"];
    for (client, file) in ["zed", "codex"].into_iter().zip(files) {
        for project in ["one", "two", "one"] {
            emend(&folder, &["init", client, "--workspace", project, "--yes"]).ends(0);
        }
        let args = format!(
            "[\"serve\", {}\"--workspace\", \"{}\", \"--workspace\", \"{}\"]",
            if client == "codex" { "\"--answers-as\", \"text\", " } else { "" },
            path("one"),
            path("two")
        );
        assert!(folder.text(file).contains(&args), "{}", folder.text(file));
    }
}

/// What the file of a person names is served where an entry names nothing: not the project, as one would think.
#[test]
fn an_entry_without_a_folder_tells_of_those_that_a_persons_file_names() {
    let folder = Folder::with([("one/a.txt", "")]);
    let config = "../home/.config/emend/config.toml";
    folder.write(config, "workspace = ['~/notes']\n");
    for arguments in [&["init", "codex", "--yes"][..], &["init", "gemini-cli", "--global", "--yes"]] {
        for _ in 0..2 {
            let told = emend(&folder, arguments).ends(0).out;
            assert!(told.contains("home/notes") && told.contains("take 'workspace' out"), "{told}");
        }
    }
    let named = emend(&folder, &["init", "gemini-cli", "--yes"]).ends(0).out;
    assert!(!named.contains("home/notes"), "{named}");
    folder.write(config, "mode = 'ask'\n");
    let told = emend(&folder, &["init", "gemini-cli", "--global", "--json"]).ends(0).document();
    assert!(told.get("remarks").is_none(), "{told}");
}

#[test]
fn an_entry_that_follows_the_client_is_not_bound_to_one_folder_in_passing() {
    let folder = Folder::with([("one/a.txt", "")]);
    for (arguments, file) in [
        (&["init", "codex", "--yes"][..], "../home/.codex/config.toml"),
        (&["init", "gemini-cli", "--global", "--yes"], "../home/.gemini/settings.json"),
    ] {
        emend(&folder, arguments).ends(0);
        let before = folder.text(file);
        let refused = emend(&folder, &[arguments, &["--workspace", "one"]].concat()).ends(2);
        assert!(refused.log.contains("all projects") && refused.log.contains("ws/one"), "{refused:?}");
        assert_eq!(folder.text(file), before);
    }
}

#[test]
fn codex_is_told_what_lets_it_edit_where_nobody_can_be_asked() {
    let folder = Folder::new();
    let line = "default_tools_approval_mode = \"approve\"";
    for state in ["written", "present"] {
        let told = emend(&folder, &["init", "codex", "--yes", "--json"]).ends(0).document();
        assert_eq!(told["state"], state);
        assert!(told["remarks"][0].as_str().unwrap().contains(line), "{told}");
    }
    let file = "../home/.codex/config.toml";
    folder.write(file, format!("{}{line}\n", folder.text(file)));
    let told = emend(&folder, &["init", "codex"]).ends(0).out;
    assert!(!told.contains(line), "{told}");
}

#[test]
fn a_folder_that_is_not_there_any_more_is_told_and_left_to_the_person() {
    let folder = Folder::with([("one/a.txt", ""), ("two/b.txt", "")]);
    let init = |project| emend(&folder, &["init", "zed", "--workspace", project, "--yes", "--json"]).ends(0);
    assert!(init("one").document().get("gone").is_none());
    let gone = folder.at("one");
    fs::remove_dir_all(&gone).unwrap();
    assert_eq!(init("two").document()["gone"], json!([gone]));
    assert_eq!(init("two").document()["gone"], json!([gone]));
}

#[test]
fn a_file_that_cannot_be_understood_is_left_alone() {
    let folder = Folder::with([(".mcp.json", "{\n  \"a\": 1\n  \"b\": 2\n}\n")]);
    let before = folder.everything();
    let refused = emend(&folder, &["init", "claude-code", "--yes", "--json"]).ends(2).document();
    assert!(refused["error"]["message"].as_str().unwrap().contains("line 2"), "{refused}");
    folder.write(".mcp.json", "{\"mcpServers\": []}");
    emend(&folder, &["init", "claude-code", "--yes"]).ends(2);
    folder.write(".mcp.json", b"\xff\xfe");
    emend(&folder, &["init", "claude-code", "--yes"]).ends(2);
    assert_eq!(folder.everything().len(), before.len());
}

#[test]
fn a_link_stays_one_and_leads_to_the_changed_file() {
    let folder = Folder::with([("../dotfiles/zed.json", SETTINGS), ("../home/.config/zed/x", "")]);
    symlink(folder.at("../dotfiles/zed.json"), folder.at("../home/.config/zed/settings.json")).unwrap();
    emend(&folder, &["init", "zed", "--yes"]).ends(0);
    assert!(folder.at("../home/.config/zed/settings.json").is_symlink());
    assert!(folder.text("../dotfiles/zed.json").contains("\"emend\""));
    assert_eq!(fs::read_dir(folder.at("../dotfiles")).unwrap().count(), 1);
}

#[test]
fn a_link_of_a_project_does_not_lead_out_of_it() {
    let folder =
        Folder::with([("../out/t.json", "{}\n"), ("../out/mcp.json", "{}\n"), ("conf/own.json", "{}\n")]);
    symlink("../out/t.json", folder.at(".mcp.json")).unwrap();
    symlink("../out", folder.at(".cursor")).unwrap();
    symlink("../out", folder.at(".gemini")).unwrap();
    for client in ["claude-code", "cursor", "gemini-cli"] {
        emend(&folder, &["init", client, "--yes"]).ends(2);
    }
    assert_eq!(
        (folder.text("../out/t.json"), folder.text("../out/mcp.json")),
        ("{}\n".into(), "{}\n".into())
    );
    assert!(!folder.has("../out/settings.json"));
    fs::remove_file(folder.at(".mcp.json")).unwrap();
    symlink("conf/own.json", folder.at(".mcp.json")).unwrap();
    emend(&folder, &["init", "claude-code", "--yes"]).ends(0);
    assert!(folder.text("conf/own.json").contains("\"emend\""));
}

#[test]
fn the_name_is_written_where_it_starts_this_executable() {
    let folder = Folder::new();
    fs::create_dir(folder.beside("bin")).unwrap();
    symlink(EMEND, folder.beside("bin/emend")).unwrap();
    let init = Command::new(&folder, &["init", "claude-code", "--yes"]);
    init.variable("PATH", folder.beside("bin")).run().ends(0);
    assert_eq!(document(&folder.text(".mcp.json"))["mcpServers"]["emend"]["command"], "emend");
}

#[test]
fn a_desktop_program_gets_the_whole_path() {
    let folder = Folder::new();
    fs::create_dir(folder.beside("bin")).unwrap();
    symlink(EMEND, folder.beside("bin/emend")).unwrap();
    let run = |arguments: &[&str]| {
        Command::new(&folder, arguments).variable("PATH", folder.beside("bin")).run().ends(0)
    };
    let zed = "../home/.config/zed/settings.json";
    let short = json!({"context_servers": {"emend": {"command": "emend", "args": ["serve"]}}});
    folder.write(zed, short.to_string());
    let found = run(&["doctor", "--json"]).document();
    let is_of_zed = |finding: &&Value| finding["what"].as_str().unwrap().starts_with("zed: ");
    let of_zed = found["findings"].as_array().unwrap().iter().find(is_of_zed).unwrap().clone();
    assert_eq!(of_zed["level"], "warning");
    for (arguments, file, key) in [
        (&["init", "zed", "--yes"][..], zed, "context_servers"),
        (&["init", "cursor", "--global", "--yes"], "../home/.cursor/mcp.json", "mcpServers"),
    ] {
        run(arguments);
        let command = document(&folder.text(file))[key]["emend"]["command"].clone();
        assert_eq!(command, json!(folder.beside("bin/emend")), "{file}");
    }
}

#[test]
fn a_client_on_windows_starts_this_program_through_wsl() {
    let folder = Folder::with([("../windows/.keep", ""), ("a.txt", "")]);
    let home = folder.beside("windows").into_os_string().into_string().unwrap();
    let init = |client: &str, more: &[&str]| {
        let arguments = [&["init", client, "--system", "windows", "--home", &home, "--yes"], more].concat();
        Command::new(&folder, &arguments).variable("WSL_DISTRO_NAME", "Debian").run()
    };
    let desktop = "../windows/AppData/Roaming/Claude/claude_desktop_config.json";
    init("claude-desktop", &[]).ends(0);
    let here = folder.path().to_str().unwrap();
    let line = ["--distribution", "Debian", "--exec", &own_path(), "serve", "--workspace", here];
    let entry = document(&folder.text(desktop))["mcpServers"]["emend"].clone();
    assert_eq!(entry, json!({"command": "wsl.exe", "args": line}));
    // A second time there is nothing to do, and what a person added stays.
    let before = folder.text(desktop);
    init("claude-desktop", &[]).ends(0);
    assert_eq!(folder.text(desktop), before);
    init("claude-desktop", &["--remove"]).ends(0);
    assert!(!folder.has(desktop));
    // The variables of a project are paths of Windows, which Linux does not know.
    init("cursor", &[]).ends(0);
    let entry = document(&folder.text("../windows/.cursor/mcp.json"))["mcpServers"]["emend"].clone();
    assert_eq!(entry["args"], json!(line));
    init("codex", &[]).ends(0);
    assert!(folder.text("../windows/.codex/config.toml").contains("wsl.exe"));
    init("cursor", &["--project"]).ends(2);
    assert!(!folder.has(".cursor"));
}

#[test]
fn what_a_client_does_not_have_is_wrong_usage() {
    let folder = Folder::new();
    fs::create_dir(folder.beside("home")).unwrap();
    emend(&folder, &["init", "claude-code", "--global", "--yes"]).ends(2);
    emend(&folder, &["init", "zed", "--project", "--yes"]).ends(2);
    emend(&folder, &["init", "emacs", "--yes"]).ends(2);
    emend(&folder, &["init", "zed", "--workspace", "nowhere", "--yes"]).ends(2);
    // The home folder is no project.
    Command::new(&folder, &["init", "zed", "--yes"]).inside(folder.beside("home")).run().ends(2);
    assert!(folder.tree().is_empty());
    // A configuration for all projects that names each by itself needs no project.
    let init = Command::new(&folder, &["init", "cursor", "--global", "--yes"]).inside(folder.beside("home"));
    init.run().ends(0);
    let entry = document(&folder.text("../home/.cursor/mcp.json"))["mcpServers"]["emend"].clone();
    assert_eq!(entry["args"], json!(["serve", "--workspace", "${workspaceFolder}"]));
}

#[test]
fn each_shell_gets_its_completions() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = emend(&folder, &["completions", shell]).ends(0).out;
        assert!(script.contains("EMEND_COMPLETE"), "{shell}");
    }
    emend(&folder, &["completions", "csh"]).ends(2);
}
