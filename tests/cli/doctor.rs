//! `emend doctor`: it finds what is wrong, says what to do, and changes nothing.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use emend_testkit::Folder;
use serde_json::{Value, json};

use crate::cli::{Command, Ran, emend};
use crate::serve;

/// The findings of this level, each with what it is about.
fn of_level(ran: &Ran, level: &str) -> Vec<(String, String)> {
    let document = ran.document();
    let findings = document["findings"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let found = findings.iter().filter(|finding| finding["level"] == level);
    found.map(|finding| (text(&finding["about"]), text(&finding["what"]))).collect()
}

/// Checks that a command finds exactly one problem: about this, telling that.
#[track_caller]
fn check_problem(ran: Ran, about: &str, telling: &str) {
    let ran = ran.ends(1);
    assert_eq!(ran.document()["worst"], "problem");
    let problems = of_level(&ran, "problem");
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(problems[0].0 == about && problems[0].1.contains(telling), "{problems:?}");
}

#[test]
fn a_sound_setup_has_no_problem_and_stays_as_it_is() {
    let folder = Folder::with([("a.txt", "one\n")]);
    serve(&folder).replace("a.txt", "one", "two").ok();
    let before = folder.everything();
    let ran = emend(&folder, &["doctor", "--json"]).ends(0);
    assert_eq!(folder.everything(), before);
    let good = of_level(&ran, "ok");
    for about in ["program", "system", "configuration", "workspace", "state", "history", "file system"] {
        assert!(good.iter().any(|(good, _)| good == about), "{about}: {good:?}");
    }
    assert!(
        good.iter().any(|(_, what)| what.starts_with("1 edit, 4 bytes of displaced files, in ")),
        "{good:?}"
    );
    assert!(good.iter().any(|(_, what)| what.starts_with("atomic exchange")));
    let text = emend(&folder, &["doctor", "--color", "always"]).ends(0).out;
    assert!(text.contains("\x1b[1mworkspace\x1b[0m\n  \x1b[32mok     \x1b[0m  "), "{text}");
}

#[test]
fn a_workspace_that_was_never_edited_gets_no_state() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let before = folder.everything();
    emend(&folder, &["doctor"]).ends(0);
    assert_eq!(folder.everything(), before);
}

#[test]
fn a_configuration_that_cannot_be_followed_is_a_problem_with_its_line() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let config = folder.beside("config.toml");
    fs::write(&config, "mode = 'ask'\nforbiden_paths = []\n").unwrap();
    let doctor = || Command::new(&folder, &["doctor", "--json"]).variable("EMEND_CONFIG", &config).run();
    check_problem(doctor(), "configuration", "line 2: unknown setting 'forbiden_paths'");
    fs::write(&config, "forbidden_paths = ['[']\n").unwrap();
    check_problem(doctor(), "configuration", "forbidden_paths");
    fs::write(&config, "mode = 'ask'\n").unwrap();
    let notes = of_level(&doctor().ends(0), "note");
    assert!(notes.iter().any(|(_, what)| what.contains("approval")), "{notes:?}");
    fs::remove_file(&config).unwrap();
    check_problem(doctor(), "configuration", "config.toml");
}

#[test]
fn the_file_of_a_workspace_is_looked_at() {
    let folder = Folder::with([(".emend.toml", "forbidden_paths = ['!.env']\n")]);
    let warnings = of_level(&emend(&folder, &["doctor", "--json"]).ends(0), "warning");
    assert!(
        warnings.iter().any(|(about, what)| about == "workspace" && what.contains("'!.env'")),
        "{warnings:?}"
    );
    folder.write(".emend.toml", "mode = 1\n");
    check_problem(emend(&folder, &["doctor", "--json"]), "workspace", "line 1");
}

#[test]
fn folders_that_are_missing_or_nested_are_told() {
    let folder = Folder::with([("inner/a.txt", "one\n")]);
    let doctor = |roots: &[&str]| {
        let arguments = [&["doctor", "--json"], roots].concat();
        emend(&folder, &arguments)
    };
    check_problem(doctor(&["--workspace", ".", "--workspace", "gone"]), "workspace", "gone");
    let warnings = of_level(&doctor(&["--workspace", ".", "--workspace", "inner"]).ends(0), "warning");
    assert!(warnings.iter().any(|(_, what)| what.contains("is inside")), "{warnings:?}");
    let home = folder.beside("home");
    fs::create_dir(&home).unwrap();
    check_problem(
        Command::new(&folder, &["doctor", "--json"]).inside(home).run(),
        "workspace",
        "--workspace",
    );
}

#[test]
fn an_interrupted_edit_is_told_of_and_not_taken_up() {
    let folder = Folder::with([("a.txt", "one\n")]);
    serve(&folder).replace("a.txt", "one", "two").ok();
    let vault = fs::read_dir(folder.state().join("roots")).unwrap().next().unwrap().unwrap().path();
    fs::write(vault.join("tx/0123.staged"), "half").unwrap();
    let before = folder.everything();
    let warnings = of_level(&emend(&folder, &["doctor", "--json"]).ends(0), "warning");
    assert!(
        warnings.iter().any(|(about, what)| about == "history" && what.starts_with("1 interrupted")),
        "{warnings:?}"
    );
    assert_eq!(folder.everything(), before);
}

#[test]
fn a_key_that_others_can_read_is_told_of() {
    let folder = Folder::with([("a.txt", "one\n")]);
    serve(&folder).replace("a.txt", "one", "two").ok();
    fs::set_permissions(folder.state().join("key"), fs::Permissions::from_mode(0o644)).unwrap();
    let warnings = of_level(&emend(&folder, &["doctor", "--json"]).ends(0), "warning");
    assert!(warnings.iter().any(|(about, what)| about == "state" && what.contains("key")), "{warnings:?}");
}

#[test]
fn a_state_folder_inside_the_workspace_is_told_of() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let doctor = Command::new(&folder, &["doctor", "--json"]).variable("EMEND_STATE_DIR", folder.at("state"));
    let notes = of_level(&doctor.run().ends(0), "note");
    assert!(notes.iter().any(|(about, what)| about == "history" && what.contains(".emend")), "{notes:?}");
}

#[test]
fn a_client_that_starts_what_is_not_there_is_a_problem() {
    let folder = Folder::new();
    emend(&folder, &["init", "cursor", "--yes"]).ends(0);
    let good = of_level(&emend(&folder, &["doctor", "--json"]).ends(0), "ok");
    assert!(good.iter().any(|(about, what)| about == "clients" && what.starts_with("cursor: ")), "{good:?}");
    folder.write(".cursor/mcp.json", "{\"mcpServers\": {\"emend\": {\"command\": \"/gone/emend\"}}}");
    check_problem(emend(&folder, &["doctor", "--json"]), "clients", "/gone/emend");
    folder.write(".cursor/mcp.json", "{\n  \"mcpServers\": {\n");
    let warnings = of_level(&emend(&folder, &["doctor", "--json"]).ends(0), "warning");
    assert!(
        warnings.iter().any(|(about, what)| about == "clients" && what.contains("cursor")),
        "{warnings:?}"
    );
}

#[test]
fn a_client_whose_server_gets_a_folder_that_is_not_there_is_told_of() {
    let folder = Folder::with([("one/a.txt", ""), ("two/b.txt", "")]);
    for project in ["one", "two"] {
        emend(&folder, &["init", "zed", "--workspace", project, "--yes"]).ends(0);
    }
    let told = |level, ran: Ran| {
        let found = of_level(&ran, level);
        found.iter().any(|(about, what)| about == "clients" && what.contains("/one"))
    };
    let doctor = || emend(&folder, &["doctor", "--json"]);
    assert!(!told("warning", doctor().ends(0)));
    fs::remove_dir_all(folder.at("one")).unwrap();
    assert!(told("warning", doctor().ends(0)));
    // Without another, the server would not start.
    fs::remove_dir_all(folder.at("two")).unwrap();
    assert!(told("problem", doctor().ends(1)));
}

/// What the doctor finds about clients at this level, with what to do.
fn about_clients(folder: &Folder, level: &str) -> Vec<String> {
    let document = emend(folder, &["doctor", "--json"]).ends(0).document();
    let findings = document["findings"].as_array().unwrap().iter();
    let found = findings.filter(|finding| finding["about"] == "clients" && finding["level"] == level);
    found.map(|it| format!("{} {}", it["what"].as_str().unwrap(), it["next"].as_str().unwrap())).collect()
}

#[test]
fn a_client_without_any_edit_tool_is_found() {
    for (client, entry, settings) in [
        ("claude-code", ".mcp.json", ".claude/settings.json"),
        ("gemini-cli", ".gemini/settings.json", ".gemini/settings.json"),
        ("opencode", "opencode.json", "opencode.json"),
    ] {
        let folder = Folder::new();
        let lacks = || {
            let warnings = about_clients(&folder, "warning").into_iter();
            warnings.filter(|what| what.contains("takes its own edit tools away")).collect::<Vec<_>>()
        };
        emend(&folder, &["init", client, "--prefer", "--yes"]).ends(0);
        assert!(lacks().is_empty(), "{client}: {:?}", lacks());
        let text = folder.text(entry);
        if entry == settings {
            folder.write(entry, text.replace("\"emend\"", "\"other\""));
        } else {
            fs::remove_file(folder.at(entry)).unwrap();
        }
        assert_eq!(lacks().len(), 1, "{client}");
        assert!(lacks()[0].contains(&format!("'emend init {client}' adds Emend")), "{client}: {:?}", lacks());
        if client == "claude-code" {
            let path = folder.path().canonicalize().unwrap();
            let entry = json!({"mcpServers": {"emend": {"command": "emend"}}});
            for own in [entry.clone(), json!({"projects": {path.to_str().unwrap(): entry}})] {
                folder.write("../home/.claude.json", own.to_string());
                assert!(lacks().is_empty(), "{own}");
            }
        }
    }
    let folder =
        Folder::with([("../home/.claude/settings.json", "{\"permissions\": {\"deny\": [\"Write\"]}}")]);
    let warnings = about_clients(&folder, "warning");
    assert!(warnings.iter().any(|what| what.contains("'emend init claude-code --global'")), "{warnings:?}");
}

#[test]
fn a_folder_that_claude_code_does_not_trust_is_found() {
    let folder = Folder::new();
    let told = || about_clients(&folder, "warning").iter().any(|what| what.contains("it does not trust "));
    emend(&folder, &["init", "claude-code", "--yes"]).ends(0);
    assert!(!told(), "nothing is allowed there");
    emend(&folder, &["init", "claude-code", "--prefer", "--yes"]).ends(0);
    assert!(told());
    let path = folder.path().canonicalize().unwrap();
    for (path, is_trusted) in [(&*path, false), (&path, true), (path.parent().unwrap(), true)] {
        let own = json!({"projects": {path.to_str().unwrap(): {"hasTrustDialogAccepted": is_trusted}}});
        folder.write("../home/.claude.json", own.to_string());
        assert_eq!(told(), !is_trusted, "{own}");
    }
    folder.write("../home/.claude.json", "{");
    assert!(told());
}

#[test]
fn the_tools_that_a_model_does_not_see_are_named() {
    let folder = Folder::new();
    emend(&folder, &["init", "claude-code", "--yes"]).ends(0);
    let notes = about_clients(&folder, "note");
    assert!(notes.iter().any(|what| what.contains("at once, and Emend's other tools after")), "{notes:?}");
    let told = Command::new(&folder, &["doctor"]).variable("ENABLE_TOOL_SEARCH", "false").run().ends(0).out;
    assert!(told.contains("all tools of Emend, since"), "{told}");

    emend(&folder, &["init", "gemini-cli", "--yes"]).ends(0);
    let lacks = |what: &String| what.contains("lacks Emend's write_file Use --approval-mode auto_edit");
    assert!(!about_clients(&folder, "note").iter().any(lacks));
    emend(&folder, &["init", "gemini-cli", "--prefer", "--yes"]).ends(0);
    assert!(about_clients(&folder, "note").iter().any(lacks));
}

#[test]
fn a_hook_of_claude_code_that_starts_what_is_not_there_is_found() {
    let folder = Folder::new();
    emend(&folder, &["init", "claude-code", "--yes"]).ends(0);
    let told = || about_clients(&folder, "warning").iter().any(|what| what.contains("the hook in "));
    assert!(!told());
    let settings = ".claude/settings.json";
    folder.write(settings, folder.text(settings).replace(crate::EMEND, "/gone/emend"));
    assert!(told());
}

/// A project may have anything under the name of a configuration.
#[test]
fn a_configuration_that_is_a_pipe_is_not_waited_for() {
    let folder = Folder::new();
    crate::policy::special_files::make_fifo(&folder, ".mcp.json");
    emend(&folder, &["doctor", "--json"]).ends(0);
    let ran = emend(&folder, &["init", "claude-code", "--json", "--yes"]).ends(2);
    assert_eq!(ran.document()["error"]["code"], "wrong-usage");
}

#[test]
fn another_executable_of_this_name_on_the_path_is_told_of() {
    let folder = Folder::new();
    let other = folder.beside("bin/emend");
    fs::create_dir(folder.beside("bin")).unwrap();
    fs::write(&other, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    let doctor = Command::new(&folder, &["doctor", "--json"]).variable("PATH", folder.beside("bin"));
    let warnings = of_level(&doctor.run().ends(0), "warning");
    assert!(
        warnings.iter().any(|(about, what)| about == "program" && what.contains("another")),
        "{warnings:?}"
    );
}

#[test]
fn a_hook_that_cannot_run_is_found() {
    let folder = Folder::with([("a.txt", "one\n"), ("inside", "#!/bin/sh\n")]);
    fs::set_permissions(folder.at("inside"), fs::Permissions::from_mode(0o755)).unwrap();
    let file = folder.beside("config.toml");
    let inside = folder.at("inside").display().to_string();
    let hooks = format!(
        "[[hooks.format]]\ncommand = ['/bin/sh']\n[[hooks.after]]\ncommand = ['{inside}']\n[[hooks.before]]\ncommand = \
         ['no-such-program']\nrequired = true\n"
    );
    fs::write(&file, hooks).unwrap();
    let ran = emend(&folder, &["doctor", "--json", "--config", file.to_str().unwrap()]);
    let warned = of_level(&ran, "warning");
    assert!(warned.iter().any(|(about, what)| about == "hooks" && what.contains("inside")), "{warned:?}");
    check_problem(ran, "hooks", "no-such-program");
}

#[test]
fn an_editor_that_cannot_be_told_is_found() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let file = folder.beside("config.toml");
    let editors =
        "[[editors]]\neditor = 'neovim'\nserver = '/x'\n[[editors]]\nname = 'mine'\ncommand = ['/bin/sh']\n";
    fs::write(&file, editors).unwrap();
    let nowhere = folder.beside("bin");
    let doctor = Command::new(&folder, &["doctor", "--json", "--config", file.to_str().unwrap()]);
    let ran = doctor.variable("PATH", nowhere.to_str().unwrap()).run().ends(0);
    let warned = of_level(&ran, "warning");
    assert!(warned.iter().any(|(about, what)| about == "editors" && what.contains("'nvim'")), "{warned:?}");
    assert!(of_level(&ran, "ok").contains(&("editors".to_owned(), "mine: /bin/sh".to_owned())));
}

#[test]
fn a_language_server_that_does_not_exist_is_found_whatever_is_said_of_it() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let file = folder.beside("config.toml");
    fs::write(&file, "[language_servers.pyrigth]\nenabled = false\n").unwrap();
    let nowhere = folder.beside("bin");
    let doctor = Command::new(&folder, &["doctor", "--json", "--config", file.to_str().unwrap()]);
    let ran = doctor.variable("PATH", nowhere.to_str().unwrap()).run().ends(0);
    let warned = of_level(&ran, "warning");
    assert!(
        warned.iter().any(|(_, what)| what.starts_with("pyrigth: it is none of the known")),
        "{warned:?}"
    );
    let notes = of_level(&ran, "note");
    let both = "there is no program 'pyright-langserver', and there is no program 'basedpyright-langserver'";
    assert!(notes.iter().any(|(_, what)| what.contains(both)), "{notes:?}");
}
