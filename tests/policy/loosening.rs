//! Loosening is up to the user. An agent can neither loosen its own server nor change how other programs are started:
//! such files need approval, whichever tool changes them, and only the user's own file takes that back.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use emend_testkit::{Client, Folder, Http, HttpServer, Launch};
use serde_json::json;

use crate::policy::check_held_back;
use crate::{EMEND, launch, serve};

/// How a project starts Emend, with one folder that may only be read.
const STARTS: &str = r#"{"mcpServers": {"emend": {"command": "emend", "args": ["serve", "--read-only", "prod/"]}}}
"#;

/// Every way to put something there is held back until a person allows it.
#[track_caller]
fn check_asks_to_make(folder: &Folder, client: &mut Client, path: &str) {
    for (tool, arguments) in [
        ("write_file", json!({"path": path, "content": "{}\n"})),
        ("str_replace", json!({"path": path, "old_string": "", "new_string": "{}\n"})),
        ("apply_patch", json!({"patch": emend_testkit::client::patch(&format!("*** Add File: {path}\n+x"))})),
        (
            "apply_patch",
            json!({"patch": emend_testkit::client::patch(&format!("*** Move File: a.txt -> {path}"))}),
        ),
        ("move_file", json!({"from": "a.txt", "to": path})),
    ] {
        check_held_back(folder, || client.call(tool, arguments), "approval-needed");
    }
}

/// Every way to change what is there, or to take it away, is held back.
#[track_caller]
fn check_asks_to_change(folder: &Folder, client: &mut Client, path: &str, old: &str, new: &str) {
    let read = client.read(path);
    let (version, text) = (read.version(), folder.text(path));
    check_held_back(folder, || client.replace(path, old, new), "approval-needed");
    let lines = text.lines().count();
    for (tool, arguments) in [
        ("write_file", json!({"path": path, "content": text.replace(old, new)})),
        (
            "replace_lines",
            json!({"path": path, "version": version, "start_line": 1, "end_line": lines, "new_text": text.replace(old, new)}),
        ),
    ] {
        check_held_back(folder, || client.call(tool, arguments), "approval-needed");
    }
    check_held_back(folder, || client.patch(&format!("*** Delete File: {path}")), "approval-needed");
    check_held_back(
        folder,
        || client.patch(&format!("*** Move File: {path} -> away.txt")),
        "approval-needed",
    );
    let call = json!({"path": path, "old_string": old, "new_string": new});
    let handle = client.preview("str_replace", call).handle();
    check_held_back(folder, || client.call("apply_preview", json!({"preview": handle})), "approval-needed");
}

/// CVE-2025-54135 (CurXecute): a new `.cursor/mcp.json` starts a program of its author's.
#[test]
fn cve_2025_54135_a_new_server_in_a_clients_file_needs_a_person() {
    let folder = Folder::with([("a.txt", "{}\n")]);
    check_asks_to_make(&folder, &mut serve(&folder), ".cursor/mcp.json");
}

/// CVE-2025-54136 (MCPoison): an entry that a person has trusted gets another command.
#[test]
fn cve_2025_54136_another_command_of_a_trusted_server_needs_a_person() {
    let folder = Folder::with([(".cursor/mcp.json", STARTS)]);
    check_asks_to_change(&folder, &mut serve(&folder), ".cursor/mcp.json", "\"emend\",", "\"evil\",");
}

/// CVE-2025-53773: `chat.tools.autoApprove` in the settings of a project turns off what asks.
#[test]
fn cve_2025_53773_what_turns_off_questions_needs_a_person() {
    let folder = Folder::with([("a.txt", "{}\n"), (".vscode/settings.json", "{\"editor.tabSize\": 4}\n")]);
    let mut client = serve(&folder);
    check_asks_to_change(
        &folder,
        &mut client,
        ".vscode/settings.json",
        "{\"editor.tabSize\": 4",
        "{\"chat.tools.autoApprove\": true",
    );
    check_asks_to_make(&folder, &mut client, "packages/x/.vscode/settings.json");
}

#[test]
fn the_entry_that_starts_this_server_needs_a_person() {
    let folder = Folder::with([(".mcp.json", STARTS)]);
    let (old, new) = ("\"--read-only\", \"prod/\"", "\"--forbid\", \"!.env\"");
    check_asks_to_change(&folder, &mut serve(&folder), ".mcp.json", old, new);
    symlink(".mcp.json", folder.at("notes.txt")).unwrap();
    let mut client = serve(&folder);
    check_held_back(&folder, || client.replace("notes.txt", old, new), "approval-needed");
}

#[test]
fn an_undo_of_such_a_change_needs_a_person() {
    let folder = Folder::with([(".mcp.json", STARTS)]);
    let trusting = configured(&folder, "approve = ['!.mcp.json']");
    let made = trusting.legacy().replace(".mcp.json", "prod/", "*").ok();
    let id = made.structured["edit"].as_str().unwrap().to_owned();
    let mut client = serve(&folder);
    check_held_back(&folder, || client.call("undo_edit", json!({"edit": id})), "approval-needed");
}

#[test]
fn what_configures_agents_editors_shells_and_hooks_needs_a_person_wherever_it_lies() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let mut client = serve(&folder);
    for path in [
        ".mcp.json",
        ".cursor/hooks.json",
        ".vscode/tasks.json",
        ".vscode/launch.json",
        "x.code-workspace",
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/agents/x.md",
        ".claude.json",
        ".codex/config.toml",
        ".agents/x.json",
        ".gemini/settings.json",
        ".zed/tasks.json",
        ".windsurf/mcp.json",
        "opencode.json",
        ".opencode/x.json",
        ".roo/mcp.json",
        ".kiro/settings/mcp.json",
        ".continue/config.yaml",
        ".amazonq/mcp.json",
        ".idea/workspace.xml",
        ".devcontainer/devcontainer.json",
        ".husky/pre-commit",
        ".githooks/pre-commit",
        ".pre-commit-config.yaml",
        ".github/hooks/x.json",
        ".github/agents/x.md",
        ".gitmodules",
        ".gitconfig",
        ".config/emend/tokens",
        ".config/git/config",
        ".bashrc",
        ".bash_profile",
        ".zshrc",
        ".zprofile",
        ".zshenv",
        ".profile",
        ".config/fish/config.fish",
        ".config/autostart/x.desktop",
        ".local/bin/x",
        ".docker/config.json",
        ".kube/config",
        ".npmrc",
        ".config/gh/hosts.yml",
        ".vimrc",
        ".ripgreprc",
        ".config/zed/settings.json",
        ".config/Code/User/mcp.json",
        ".config/Cursor/User/settings.json",
        ".helix/languages.toml",
        ".hg/hgrc",
        ".codeium/windsurf/mcp_config.json",
    ] {
        for path in [path.to_owned(), format!("deep/er/{path}"), path.to_uppercase()] {
            let call = json!({"path": path, "content": "x\n"});
            let code = client.call("write_file", call).code().map(str::to_owned);
            assert_eq!(code.as_deref(), Some("approval-needed"), "{path}");
            assert!(!folder.has(&path));
        }
    }
}

#[test]
fn what_agents_edit_all_day_needs_nobody() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let mut client = serve(&folder);
    for path in [
        "package.json",
        "Makefile",
        "Cargo.toml",
        "build.rs",
        ".cargo/config.toml",
        "pyproject.toml",
        "Dockerfile",
        "docker-compose.yml",
        ".github/workflows/ci.yml",
        ".github/copilot-instructions.md",
        ".gitignore",
        ".gitattributes",
        ".editorconfig",
        "tsconfig.json",
        "CLAUDE.md",
        "AGENTS.md",
        "GEMINI.md",
        ".cursorrules",
        ".cursor/rules/style.mdc",
        ".kiro/specs/x.md",
        ".claude/worktrees/x/src/main.rs",
        "src/main.rs",
        "src/hooks/use.ts",
        "src/profile.rs",
        "src/mcp.rs",
        "src/i18n/locales/hi/mcp.json",
        "tests/HEAD",
        "hooks/x.py",
        "docs/servers.md",
        ".env.example",
    ] {
        client.call("write_file", json!({"path": path, "content": "x\n"})).ok();
        assert_eq!(folder.text(path), "x\n");
    }
}

/// A server whose person has this configuration file.
fn configured(folder: &Folder, text: &str) -> Launch {
    let file = folder.beside("config.toml");
    fs::write(&file, text).unwrap();
    launch(folder).argument("--config").argument(file).configured().argument("--notify-lsp=false")
}

#[test]
fn a_persons_own_file_takes_it_back() {
    let folder = Folder::with([("conf/app.json", STARTS), (".claude/settings.json", "{}\n")]);
    let said = "approve = ['!.vscode/', '!.claude/', '!conf/app.json', '.vscode/mcp.json']";
    let mut client = configured(&folder, said).legacy();
    client.call("write_file", json!({"path": ".vscode/settings.json", "content": "{}\n"})).ok();
    client.call("write_file", json!({"path": "x/.vscode/settings.json", "content": "{}\n"})).ok();
    client.replace(".claude/settings.json", "{}", "{ }").ok();
    client.replace("conf/app.json", "\"emend\",", "\"evil\",").ok();
    for path in [".mcp.json", ".vscode/mcp.json"] {
        client.call("write_file", json!({"path": path, "content": "{}\n"})).refused("approval-needed");
    }
}

#[test]
fn the_file_of_a_workspace_takes_nothing_back() {
    let folder = Folder::with([("a.txt", "a\n"), (".emend.toml", "approve = ['!.mcp.json', '!*']")]);
    let call = json!({"path": ".mcp.json", "content": "{}\n"});
    serve(&folder).call("write_file", call).refused("approval-needed");
}

/// What an edit of this text to that one is told.
fn edited(path: &str, before: &str, after: &str) -> Option<String> {
    let folder = Folder::with([(path, before)]);
    let mut client = serve(&folder);
    let version = client.read(path).version();
    let call = json!({"path": path, "content": after, "version": version});
    client.call("write_file", call).code().map(str::to_owned)
}

#[test]
fn a_move_through_another_ending_hides_no_server() {
    let json = "{\"servers\": {\"x\": {\"command\": \"x\"}}}\n";
    let toml = "[mcp_servers.x]\ncommand = \"x\"\n";
    for (from, to, content) in [
        ("a.yaml", "a.json", json),
        ("a.json", "a.yaml", json),
        ("a.yaml", "a.toml", toml),
        ("a.toml", "a.yml", toml),
        ("a.yaml", "b.yaml", json),
    ] {
        let folder = Folder::with([(from, content)]);
        let moved = json!({"from": from, "to": to});
        serve(&folder).call("move_file", moved).refused("approval-needed");
        assert_eq!(folder.text(from), content);
    }
    let folder = Folder::new();
    let added = json!({"path": "a.yaml", "content": json});
    serve(&folder).call("write_file", added).refused("approval-needed");
    assert!(!folder.has("a.yaml"));
}

#[test]
fn how_servers_are_started_needs_a_person_whatever_the_file_is_called() {
    let asks = Some("approval-needed".to_owned());
    let off = &*STARTS.replace("\"command\"", "\"disabled\": true, \"command\"");
    for (path, before, after) in [
        ("x.json", "{}\n", STARTS),
        ("x.json", STARTS, "{}\n"),
        ("x.json", STARTS, STARTS.replace("\"serve\", ", "").leak() as &str),
        ("x.txt", STARTS, STARTS.replace("\"args\"", "\"env\": {\"A\": \"1\"}, \"args\"").leak() as &str),
        ("x", "// mine\n{}\n", "// mine\n{'servers': {x: {\"url\": \"http://x\",}}}\n"),
        ("x", "{}\n", "{\"a\": [{\"context_servers\": {\"x\": {\"command\": {\"path\": \"x\"}}}}]}\n"),
        ("x", "{}\n", "{\"mcp\\u0053ervers\": {\"x\": {\"comm\\u0061nd\": \"x\"}}}\n"),
        ("x", "{}\n", "{\"amp.mcpServers\": {\"x\": {\"command\": \"x\"}} \"broken\" here\n"),
        ("x", "{}\n", "{\"mcpServers\": [{\"name\": \"x\", \"command\": \"x\"}]}\n"),
        ("x.toml", "a = 1\n", "a = 1\n[mcp_servers.x]\ncommand = \"x\"\n"),
        ("x", "[mcp_servers.x]\nargs = [1]\n", "[mcp_servers.x]\nargs = [2]\n"),
        ("x", "a = 1\n", "mcp_servers = {x = {url = \"http://x\"}}\n"),
        ("x", "a = 1\n", "\"mcp_serv\\u0065rs\".x.url = \"http://x\"\n"),
        ("x", "a = 1\n", "[mcp_servers.'a+b'] # mine, all mine!\ncommand = 'x'\n"),
        ("x", "{}\n", [&" ".repeat(70_000), STARTS].concat().leak() as &str),
        (".claude/worktrees/x/y.json", "{}\n", STARTS),
        ("x.yaml", "a: 1\n", "a: 1\nmcpServers:\n  - name: x\n    command: x\n"),
        (
            "x.yml",
            "mcp:\n  servers:\n    x:\n      args: [a]\n",
            "mcp:\n  servers:\n    x:\n      args: [b]\n",
        ),
        ("x.json", off, off.replace("true", "\"true\"").leak() as &str),
        ("x.json", off, STARTS.replace("\"command\"", "\"disabled\": false, \"command\"").leak() as &str),
    ] {
        assert_eq!(edited(path, before, after), asks, "{path}: {before} {after}");
    }
    // UTF-16, as an editor on Windows may write it.
    let folder = Folder::with([("a.txt", "a\n")]);
    let utf_16 = |text: &str| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    folder.write("x.json", utf_16(STARTS));
    serve(&folder).replace("x.json", "\"emend\",", "\"evil\",").refused("approval-needed");
}

#[test]
fn what_starts_no_server_needs_nobody() {
    let typescript = "const x = {mcpServers: {x: {command: \"npx\"}}};\n";
    for (path, before, after) in [
        ("x.json", STARTS, format!("{{ {}", &STARTS[1..]).leak() as &str),
        ("x.json", STARTS, STARTS.replace("}}}", "}}, \"theme\": \"dark\"}").leak() as &str),
        ("README.md", "# x\n", format!("# x\n\n```json\n{STARTS}```\n").leak() as &str),
        ("src/x.ts", "\n", typescript),
        ("openapi.json", "{}\n", "{\"openapi\": \"3.1.0\", \"servers\": [{\"url\": \"https://x\"}]}\n"),
        ("x.json", "{}\n", "{\"servers\": {\"x\": {\"port\": 80}}, \"command\": \"x\"}\n"),
        ("x.yaml", "a: 1\nmcpServers:\n  x:\n    command: x\n", "a: 2\nmcpServers:\n  x:\n    command: x\n"),
        ("openapi.yaml", "a: 1\n", "servers:\n  - url: https://x\n"),
        (
            "openapi.yaml",
            "a: 1\n",
            "servers: [{url: https://x}]\ninfo:\n  description: |\n    A gateway for mcp, configured by `mcpServers` or [mcp_servers].\n",
        ),
        ("notes.yml", "a: [1]\n", "a: [2]\nsee: \"mcpServers, \\u00e4 and context_servers\"\n# mcpServers\n"),
        ("x.toml", "a = 1\n", "[servers.x]\nport = 80\n[tool]\ncommand = \"x\"\n"),
    ] {
        assert_eq!(edited(path, before, after), None, "{path}: {after}");
    }
}

/// How a server ends that cannot start with these arguments.
#[track_caller]
fn check_no_start(folder: &Folder, arguments: &[&str], variables: &[(&str, &str)], telling: &str) {
    let mut command = emend_testkit::command(EMEND);
    command.arg("serve").arg("--workspace").arg(folder.path()).arg("--state-dir").arg(folder.state());
    command.args(arguments).env("HOME", folder.beside("nobody")).env_remove("XDG_CONFIG_HOME");
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true), "{said}");
    assert!(said.contains(telling), "{said}");
}

#[test]
fn a_command_line_takes_nothing_back() {
    let folder = Folder::with([("a.txt", "a\n")]);
    for (flag, pattern, line) in [
        ("--forbid", "!.env", "forbidden_paths = [\"!.env\"]"),
        ("--approve", "!*", "approve = [\"!*\"]"),
        ("--read-only", "!x", "read_only = [\"!x\"]"),
    ] {
        check_no_start(&folder, &[flag, pattern], &[], line);
    }
}

/// The home folder of a person whose own file says this.
fn home_with(folder: &Folder, text: &str) -> String {
    let home = folder.beside("ann");
    fs::create_dir_all(home.join(".config/emend")).unwrap();
    fs::write(home.join(".config/emend/config.toml"), text).unwrap();
    home.to_str().unwrap().to_owned()
}

#[test]
fn a_command_line_loosens_nothing_of_what_a_persons_own_file_says() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let said = "mode = 'ask'\nrequire_mtime_check = true\nrequire_read = 'always'\non_change = 'refuse'\n\
                max_file_bytes = 1000\nwrite_in_place = false\nwrite_read_only = false\ntrack_history = true\n\
                notify_lsp = false\nnotify_editor = false\nemit_event = true\nsyntax_guard = 'warn'\n\
                allowed_extensions = ['txt', 'md']\n";
    let home = home_with(&folder, said);
    for (flag, line) in [
        ("--mode=auto", "mode = \"auto\""),
        ("--require-mtime-check=false", "require_mtime_check = false"),
        ("--require-read=whole", "require_read = \"whole\""),
        ("--on-change=merge", "on_change = \"merge\""),
        ("--max-file-bytes=1001", "max_file_bytes = 1001"),
        ("--write-in-place", "write_in_place = true"),
        ("--write-read-only", "write_read_only = true"),
        ("--track-history=false", "track_history = false"),
        ("--notify-lsp", "notify_lsp = true"),
        ("--notify-editor", "notify_editor = true"),
        ("--emit-event=false", "emit_event = false"),
        ("--syntax-guard=off", "syntax_guard = \"off\""),
        ("--allow-extension=.SQL", "allowed_extensions = [\".SQL\"]"),
    ] {
        check_no_start(&folder, &[flag], &[("HOME", &home)], line);
        check_no_start(&folder, &[flag], &[("HOME", &home)], "ann/.config/emend/config.toml");
    }
    // What is stricter is taken, and of endings only those that both allow.
    let mut launch = launch(&folder).variable("HOME", &home).configured();
    for flag in ["--mode=preview", "--max-file-bytes=10", "--syntax-guard=refuse", "--allow-extension=MD"] {
        launch = launch.argument(flag);
    }
    let mut client = launch.legacy();
    client.replace("a.txt", "a", "b").refused("extension-not-allowed");
    for (content, code) in [("0123456789x", "too-large"), ("x", "read-only")] {
        client.call("write_file", json!({"path": "b.md", "content": content})).refused(code);
    }
}

#[test]
fn what_a_persons_own_file_does_not_say_is_free_to_a_command_line() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let home = home_with(&folder, "require_read = 'always'\nmode = 'auto'\n");
    let launch = launch(&folder).variable("HOME", &home).configured().argument("--mode=auto");
    let mut client = launch.argument("--on-change=merge").argument("--write-in-place").legacy();
    client.read("a.txt");
    client.replace("a.txt", "a", "b").ok();
}

#[test]
fn another_file_adds_to_a_persons_own_and_replaces_it_nowhere() {
    let folder = Folder::with([("a.txt", "a\n"), ("x/a.txt", "a\n"), ("y/a.txt", "a\n")]);
    let home =
        home_with(&folder, "on_change = 'refuse'\nread_only = ['x/']\n[[editors]]\neditor = 'vscode'\n");
    let other = folder.beside("other.toml");
    let named = other.to_str().unwrap();
    for (text, telling) in [
        ("on_change = 'merge'\n", "on_change = \"merge\""),
        ("read_only = ['!x/']\n", "read_only = [\"!x/\"]"),
        ("approve = ['!*']\n", "approve = [\"!*\"]"),
        ("[[hooks.after]]\ncommand = ['x']\n", "hooks"),
    ] {
        fs::write(&other, text).unwrap();
        check_no_start(&folder, &["--config", named], &[("HOME", &home)], telling);
        check_no_start(&folder, &[], &[("HOME", &home), ("EMEND_CONFIG", named)], "other.toml");
    }
    check_no_start(&folder, &["--no-config"], &[("HOME", &home)], "ann/.config/emend/config.toml");
    fs::write(&other, "read_only = ['y/']\n").unwrap();
    let mut client =
        launch(&folder).variable("HOME", &home).argument("--config").argument(&other).configured().legacy();
    for path in ["x/a.txt", "y/a.txt"] {
        client.replace(path, "a", "b").refused("read-only");
    }
    client.replace("a.txt", "a", "b").ok();
    // One's own, by another name, is no other.
    let own = format!("{home}/.config/emend/config.toml");
    fs::write(&own, "approve = ['!*']\n").unwrap();
    let mut client =
        launch(&folder).variable("HOME", &home).variable("EMEND_CONFIG", own).configured().legacy();
    client.call("write_file", json!({"path": ".mcp.json", "content": "{}\n"})).ok();
}

#[test]
fn a_configuration_inside_a_served_folder_is_refused() {
    let folder = Folder::with([("conf.toml", "forbidden_paths = ['!.env']\n")]);
    let inside = folder.at("conf.toml").to_str().unwrap().to_owned();
    check_no_start(&folder, &["--config", &inside], &[], "conf.toml");
    check_no_start(&folder, &[], &[("EMEND_CONFIG", &inside)], "conf.toml");
    // By way of links, in either direction.
    symlink(folder.at("conf.toml"), folder.beside("door.toml")).unwrap();
    check_no_start(&folder, &["--config", folder.beside("door.toml").to_str().unwrap()], &[], "door.toml");
    fs::write(folder.beside("out.toml"), "").unwrap();
    symlink(folder.beside("out.toml"), folder.at("in.toml")).unwrap();
    check_no_start(&folder, &["--config", folder.at("in.toml").to_str().unwrap()], &[], "in.toml");
    // The folder of configurations itself.
    folder.write("cfg/emend/config.toml", "approve = ['!*']\n");
    let configurations = folder.at("cfg").to_str().unwrap().to_owned();
    check_no_start(&folder, &[], &[("XDG_CONFIG_HOME", &configurations)], "config.toml");
}

#[test]
fn the_tokens_of_a_server_are_its_own() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let token = "ann-0123456789abcdefghijklmnop";
    let server = HttpServer::with_tokens(&launch(&folder), &folder.at("tok.txt"), &[("ann", token)]);
    let client = Http::new(server.address(), token);
    client.call("read_file", json!({"path": "tok.txt"})).refused("path-forbidden");
    client.call("write_file", json!({"path": "tok.txt", "content": "eve x\n"})).refused("path-forbidden");
    assert!(!client.call("list_files", json!({})).ok().text.contains("tok.txt"));
}

/// What makes git take a folder for one of its own.
fn write_git_folder(folder: &Folder, name: &str) {
    for (file, content) in
        [("HEAD", "ref: refs/heads/main\n"), ("config", "[core]\n"), ("objects/x", ""), ("refs/x", "")]
    {
        folder.write(&format!("{name}/{file}"), content);
    }
}

#[test]
fn a_folder_of_gits_is_known_by_the_git_file_that_names_it() {
    let folder = Folder::with([("repo/a.txt", "a\n"), ("apps/one/a.txt", "a\n")]);
    write_git_folder(&folder, "gitdata");
    folder.write("repo/.git", "gitdir: ../gitdata\n");
    // The layout of a bare repository with worktrees, with paths in full.
    write_git_folder(&folder, ".bare");
    folder.write(".bare/worktrees/one/HEAD", "ref: refs/heads/one\n");
    folder.write(".bare/worktrees/one/commondir", "../..\n");
    folder.write("apps/one/.git", format!("gitdir: {}\n", folder.at(".bare/worktrees/one").display()));
    let mut client = serve(&folder);
    for path in
        ["gitdata/config", "gitdata/hooks/post-commit", ".bare/config", ".bare/hooks/x", "GitData/config"]
    {
        client.call("read_file", json!({"path": path})).refused("path-forbidden");
        let call = json!({"path": path, "content": "x\n"});
        check_held_back(&folder, || client.call("write_file", call), "path-forbidden");
    }
    let listed = client.call("list_files", json!({})).ok().text;
    assert!(!listed.contains("gitdata") && listed.contains("repo"), "{listed}");
    client.replace("repo/a.txt", "a", "b").ok();
}

#[test]
fn a_folder_of_gits_that_is_known_by_its_content_is_read_and_not_changed() {
    let folder = Folder::with([("a.txt", "a\n"), ("plain/HEAD", "x\n")]);
    for name in ["bare.git", "tests/data/repo"] {
        write_git_folder(&folder, name);
        folder.write(&format!("{name}/hooks/x.sample"), "x\n");
    }
    folder.write("tree/HEAD", "ref: refs/heads/one\n");
    folder.write("tree/commondir", "../bare.git\n");
    let mut client = serve(&folder);
    for path in ["bare.git/config", "tests/data/repo/config"] {
        client.read(path);
        check_held_back(&folder, || client.replace(path, "core", "x"), "read-only");
        check_held_back(&folder, || client.patch(&format!("*** Delete File: {path}")), "read-only");
        check_held_back(&folder, || client.patch(&format!("*** Move File: {path} -> c.txt")), "read-only");
    }
    for path in ["bare.git/hooks/post-update", "bare.git/new/deep/x", "tree/config.worktree"] {
        let call = json!({"path": path, "content": "x\n"});
        check_held_back(&folder, || client.call("write_file", call), "read-only");
    }
    // The last piece of one is as good as a change in it.
    client.replace("plain/HEAD", "x", "y").ok();
    client.call("write_file", json!({"path": "plain/objects/x", "content": "x\n"})).ok();
    let call = json!({"path": "plain/refs/x", "content": "x\n"});
    check_held_back(&folder, || client.call("write_file", call), "read-only");
    let whole = "*** Add File: new/HEAD\n+x\n*** Add File: new/refs/x\n+x\n*** Add File: new/objects/x\n+x";
    check_held_back(&folder, || client.patch(whole), "read-only");
    // On a disk that minds no case, or no final dot, these are one folder.
    let spelled = "*** Add File: a/HEAD\n+x\n*** Add File: A/Refs/x\n+x\n*** Add File: a/objects./x\n+x";
    check_held_back(&folder, || client.patch(spelled), "read-only");
    let mut client = configured(&folder, "read_only = ['!/tests/data/repo/']").legacy();
    client.replace("tests/data/repo/config", "core", "x").ok();
    client.replace("bare.git/config", "core", "x").refused("read-only");
}
