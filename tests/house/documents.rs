//! The facts in the documents about tools, settings, commands, exit codes, resources, clients and promises, compared
//! with the code.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use emend_testkit::{Answer, Folder};
use emend_workspace::Settings;
use emend_workspace::policy::reference_table;
use serde_json::json;

use crate::{EMEND, launch, serve};

fn text(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The rows of the first table behind a line that begins like this, each as its cells, without the heading.
fn table(document: &str, heading: &str) -> Vec<Vec<String>> {
    let rows = text(document);
    let rows =
        rows.lines().skip_while(|line| !line.starts_with(heading)).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect();
    let rows: Vec<Vec<String>> = rows.skip(2).map(cells).collect();
    assert!(!rows.is_empty(), "{document} has no table {heading}");
    rows
}

/// What stands in backticks in a text.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The first thing in backticks of each first cell.
fn named(rows: &[Vec<String>]) -> Vec<String> {
    rows.iter().map(|row| quoted(&row[0]).next().unwrap().to_owned()).collect()
}

fn help(arguments: &[&str]) -> String {
    let output = emend_testkit::command(EMEND).args(arguments).arg("--help").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_tables_of_tools_have_every_tool_and_its_arguments() {
    let tools = serve(&Folder::new()).tools();
    let names: Vec<String> = tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
    let rows = table("docs/TOOLS.md", "| Tool | Arguments |");
    assert_eq!(named(&rows), names, "docs/TOOLS.md");
    assert_eq!(named(&table("README.md", "| Tool |")), names, "README.md");
    for (tool, row) in tools.iter().zip(&rows) {
        if tool["name"] == "edit_preview" {
            // It has those of the tool that it is asked about.
            continue;
        }
        let schema = &tool["inputSchema"];
        let is_required =
            |name: &str| schema["required"].as_array().is_some_and(|all| all.contains(&name.into()));
        let arguments = schema["properties"].as_object().unwrap().keys();
        let arguments: BTreeSet<String> =
            arguments.map(|name| format!("{name}{}", if is_required(name) { "" } else { "?" })).collect();
        let written: BTreeSet<String> = row[1].split(", ").map(Into::into).collect();
        assert_eq!(written, arguments, "docs/TOOLS.md, {}", row[0]);
    }
}

#[test]
fn the_table_of_settings_is_made_of_their_declaration() {
    let has_table = text("docs/CONFIGURATION.md").contains(&reference_table());
    assert!(has_table, "the table of docs/CONFIGURATION.md has to be made anew: cargo xtask settings");
}

#[test]
fn the_settings_of_a_team_are_made_of_their_declaration() {
    let page = text("docs/TEAM.md");
    let (_, settings) = page.split_once("## Settings\n\n").unwrap();
    assert_eq!(
        settings.trim_end(),
        emend_team::reference(),
        "docs/TEAM.md has to be made anew: cargo xtask settings"
    );
}

#[test]
fn the_settings_of_a_team_in_the_documents_are_understood() {
    let page = text("docs/TEAM.md");
    let kubernetes = text("packaging/team/kubernetes.yaml");
    let (_, within) = kubernetes.split_once("team.toml: |\n").unwrap();
    let within = within.lines().take_while(|line| line.starts_with("    ") || line.is_empty());
    let within: String = within.map(|line| format!("{}\n", line.trim_start())).collect();
    let mut all = fenced(&page, "toml").iter().map(|shown| (*shown).to_owned()).collect::<Vec<_>>();
    assert_eq!(all.len(), 3);
    all.extend([text("packaging/team/team.toml"), text("packaging/team/replicas.toml"), within]);
    for settings in all {
        let understood = emend_team::TeamSettings::parse(&settings);
        let is_of_use =
            |settings: emend_team::TeamSettings| settings.has_tenants() || settings.replicas.is_some();
        assert!(understood.is_ok_and(is_of_use), "{settings}");
    }
}

/// What each way to run a team's server promises of itself.
#[test]
fn the_ways_to_run_a_teams_server_take_away_what_it_does_not_need() {
    let has = |name: &str, promises: &[&str]| {
        let text = text(&format!("packaging/team/{name}"));
        for promise in promises {
            assert!(text.lines().any(|line| line.trim().contains(promise)), "{name}: {promise}");
        }
        text
    };
    let recipe = has(
        "Containerfile",
        &["FROM docker.io/library/rust", "--features team", "USER 10001:10001", "STOPSIGNAL SIGTERM"],
    );
    assert_eq!(recipe.matches("\nFROM ").count(), 2, "one stage builds and another runs");
    let last = recipe.rsplit("\nFROM ").next().unwrap();
    assert!(!last.contains("cargo") && !last.contains("apt-get"), "{last}");
    has(
        "compose.yaml",
        &[
            "read_only: true",
            "cap_drop: [ALL]",
            "no-new-privileges:true",
            "stop_grace_period: 90s",
            "EMEND_REPLICA_ADDRESS",
        ],
    );
    has(
        "kubernetes.yaml",
        &[
            "runAsNonRoot: true",
            "readOnlyRootFilesystem: true",
            "drop: [ALL]",
            "path: /readyz",
            "replicas: 3",
            "name: EMEND_REPLICA_ADDRESS",
            "accessModes: [ReadWriteMany]",
            "terminationGracePeriodSeconds: 90",
        ],
    );
    has(
        "emend-team.service",
        &[
            "ProtectSystem=strict",
            "NoNewPrivileges=yes",
            "CapabilityBoundingSet=",
            "ExecReload=/bin/kill -HUP $MAINPID",
            "TimeoutStopSec=90",
        ],
    );
    // Each starts the command with flags that it has.
    let known = help(&["serve"]);
    for name in ["Containerfile", "compose.yaml", "kubernetes.yaml", "emend-team.service"] {
        let text = text(&format!("packaging/team/{name}"));
        let started = text.lines().filter(|line| line.contains("\"serve\"") || line.contains("emend serve"));
        for word in started.flat_map(|line| line.split([' ', '"', ','])).filter(|word| word.starts_with("--"))
        {
            assert!(known.contains(word), "{name}: {word}");
        }
    }
}

#[test]
fn the_flags_of_the_policy_are_those_of_the_settings() {
    let help = help(&["serve"]);
    let policy = help.split_once("Policy:").unwrap().1.split("HTTP:").next().unwrap();
    let heads = policy.lines().filter_map(|line| line.trim_start().strip_prefix("--"));
    let mut known: BTreeSet<String> =
        heads.map(|head| format!("--{}", head.split(['=', '[', ' ']).next().unwrap())).collect();
    // They say which file is read.
    known.retain(|flag| flag != "--config" && flag != "--no-config");
    let flags = Settings::ALL.iter().filter_map(|setting| setting.flag);
    let flags = flags.filter(|flag| !flag.is_of_commands).map(|flag| flag.name.to_owned());
    assert_eq!(known, flags.collect());
}

#[test]
fn the_configurations_in_the_documents_are_understood() {
    let mut read = 0;
    for document in ["docs/APPLY_MODEL.md", "docs/CONFIGURATION.md", "docs/HOOKS.md", "docs/PROTECTED.md"] {
        for configuration in fenced(&text(document), "toml") {
            read += 1;
            let understood = Settings::parse(configuration);
            assert!(understood.is_ok(), "{document}: {understood:?}\n{configuration}");
        }
    }
    assert!(read > 3);
}

#[test]
fn what_is_forbidden_by_default_is_named() {
    let document = text("docs/CONFIGURATION.md");
    let (_, section) = document.split_once("### Forbidden by default").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let named: Vec<&str> = quoted(section).collect();
    for pattern in emend_workspace::policy::FORBIDDEN {
        let plain = pattern.trim_start_matches('!').trim_start_matches("**/");
        let plain = if plain.starts_with("*.") { plain.trim_start_matches('*') } else { plain };
        // One name stands for those of all kinds of keys.
        let is_named = named.contains(&plain) || plain.starts_with("id_") && named.contains(&"id_rsa");
        assert!(is_named, "docs/CONFIGURATION.md does not name {pattern}");
    }
}

#[test]
fn the_languages_of_the_guard_and_the_known_language_servers_are_named() {
    let quoted_behind = |file: &str, marks: &[&str]| -> Vec<String> {
        let code = text(file);
        let lines = code.lines().take_while(|line| !line.starts_with("#[cfg(test)]"));
        let behind = lines.filter_map(|line| marks.iter().find_map(|mark| line.split_once(mark)));
        behind
            .filter_map(|(_, rest)| rest.strip_prefix('"')?.split_once('"'))
            .map(|(name, _)| name.to_owned())
            .collect()
    };
    let languages = quoted_behind("crates/syntax/src/language.rs", &[" => "]);
    let configuration = text("docs/CONFIGURATION.md");
    let (_, guard) = configuration.split_once("## The syntax guard").unwrap();
    assert!(languages.len() > 10 && languages.iter().all(|name| guard.contains(name)), "{languages:?}");
    let servers = quoted_behind("crates/lsp/src/known.rs", &["name: "]);
    let hooks = text("docs/HOOKS.md");
    assert!(
        servers.len() > 4 && servers.iter().all(|name| hooks.contains(&format!("`{name}`"))),
        "{servers:?}"
    );
}

#[test]
fn the_table_of_commands_has_every_command_and_the_exit_codes_are_those_of_the_help() {
    let help = help(&[]);
    let commands = help.split_once("Commands:\n").unwrap().1.split("\n\n").next().unwrap();
    let commands = commands.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
    let commands: BTreeSet<&str> = commands.filter(|&command| command != "help").collect();
    let written = named(&table("docs/COMMANDS.md", "| Command |"));
    assert_eq!(written.len(), commands.len(), "one row for each");
    let written: BTreeSet<&str> = written
        .iter()
        .map(|command| command.strip_prefix("emend ").unwrap().split(' ').next().unwrap())
        .collect();
    assert_eq!(written, commands);

    let told = help.split_once("Exit codes:\n").unwrap().1;
    let told: Vec<&str> = told.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let written: Vec<String> =
        table("docs/COMMANDS.md", "| Exit code |").into_iter().map(|row| row[0].clone()).collect();
    assert_eq!(written, told);
    let code = text("crates/cli/exit.rs");
    let known = code
        .lines()
        .filter_map(|line| line.trim().strip_suffix(',')?.split_once(" = ")?.1.parse::<u8>().ok());
    assert_eq!(known.map(|code| code.to_string()).collect::<Vec<_>>(), written);
}

#[test]
fn the_table_of_resources_has_every_resource_and_template() {
    let folder = Folder::with([("src/main.rs", "\n")]);
    let mut client = launch(&folder).configured().argument("--no-config").argument("--emit-event").start();
    // The review page is listed to clients that show it.
    client.declare("io.modelcontextprotocol/ui", json!({"mimeTypes": ["text/html;profile=mcp-app"]}));
    client.initialize_legacy("2025-11-25");
    let mut listed = BTreeSet::new();
    for (method, list, field) in [
        ("resources/list", "resources", "uri"),
        ("resources/templates/list", "resourceTemplates", "uriTemplate"),
    ] {
        for resource in client.request(method, json!({})).unwrap()[list].as_array().unwrap() {
            let uri = resource[field].as_str().unwrap();
            let kind =
                if uri.starts_with("file://") { "file" } else { uri.split(['{', '?']).next().unwrap() };
            listed.insert(kind.to_owned());
        }
    }
    let written = named(&table("docs/RESOURCES.md", "| Resource |")).into_iter().map(|uri| {
        if uri.starts_with("file://") {
            "file".to_owned()
        } else {
            uri.split("ID").next().unwrap().to_owned()
        }
    });
    assert_eq!(written.collect::<BTreeSet<_>>(), listed);
}

#[test]
fn the_clients_that_init_knows_are_named() {
    let help = help(&["init"]);
    let (_, known) = help.split_once("[possible values: ").unwrap();
    let known = known.split_once(']').unwrap().0.split(',').map(str::trim);
    for document in ["README.md", "docs/CLIENTS.md"] {
        let document = text(document);
        assert!(known.clone().all(|client| document.contains(client)), "{document}");
    }
}

#[test]
fn the_table_of_clients_has_the_files_that_init_writes_on_each_system() {
    let rows = table("docs/CLIENTS.md", "| Client | Linux | macOS | Windows |");
    let help = help(&["init"]);
    let known = help.split_once("<CLIENT>").unwrap().1.split_once("[possible values: ").unwrap().1;
    let mut known: Vec<&str> = known.split_once(']').unwrap().0.split(',').map(str::trim).collect();
    let mut named = named(&rows);
    named.sort_unstable();
    known.sort_unstable();
    assert_eq!(named, known);
    for row in &rows {
        let client = quoted(&row[0]).next().unwrap();
        for (system, written) in ["linux", "macos", "windows"].into_iter().zip(&row[1..]) {
            let folder = Folder::with([("../home/.keep", ""), ("a.txt", "")]);
            let home = folder.beside("home");
            let mut init = emend_testkit::command(EMEND);
            init.args(["init", client, "--global", "--dry-run", "--json", "--system", system]);
            init.args(["--home".as_ref(), home.as_os_str()]).current_dir(folder.path());
            let output = init.env("EMEND_STATE_DIR", folder.state()).output().unwrap();
            let Some(written) = quoted(written).next() else {
                assert_eq!(output.status.code(), Some(2), "{client} on {system}");
                continue;
            };
            let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let path = Path::new(document["files"][0]["file"].as_str().unwrap());
            let home = home.canonicalize().unwrap();
            let path = path.strip_prefix(&home).unwrap().to_str().unwrap();
            let plain = written.replace('\\', "/");
            let plain = plain.replace("%APPDATA%", "AppData/Roaming").replace("%USERPROFILE%/", "");
            assert_eq!(path, plain.trim_start_matches("~/"), "{client} on {system}");
        }
    }
}

/// The texts between fences of a kind.
fn fenced<'a>(document: &'a str, kind: &str) -> Vec<&'a str> {
    let parts = document.split("```").collect::<Vec<_>>();
    let inside = parts.iter().skip(1).step_by(2);
    inside.filter_map(|text| text.strip_prefix(kind)?.strip_prefix('\n')).collect()
}

#[test]
fn the_readme_shows_what_is_answered() {
    const FILE: &str = "import sys\n\n\ndef total(items):\n\treturn sum(items)\n";
    let readme = text("README.md");
    let [success, refusal] = fenced(&readme, "text")[..] else {
        panic!("the README has one success and one refusal")
    };
    let folder = Folder::with([("src/app.py", FILE)]);
    let mut client = serve(&folder);
    let said = |answer: &Answer| answer.text.trim_end().to_owned();
    let wrong = client.replace(
        "src/app.py",
        "def total(items):\n    return sum(numbers)",
        "def total(items):\n    return round(sum(numbers), 2)",
    );
    assert_eq!(said(&wrong), refusal.trim_end());
    let right =
        client.replace("src/app.py", "    return sum(items)\n", "    return round(sum(items), 2)\n").ok();
    let id = right.structured["edit"].as_str().unwrap();
    assert_eq!(said(&right).replace(id, "1a2b3c4d5e6f7a8b9c0"), success.trim_end());
}

#[test]
fn every_promise_names_what_shows_it() {
    let guarantees = text("docs/GUARANTEES.md");
    let promises = guarantees.split_once("\n## Matching").unwrap().1;
    let promises = promises.split_once("\n## What holds on which file system").unwrap().0;
    let mut code = String::new();
    for folder in ["tests", "crates"] {
        gather(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut code);
    }
    let tasks = text("crates/torture/src/lib.rs");
    for promise in promises.split("\n- ").skip(1) {
        let promise = promise.split("\n## ").next().unwrap();
        let (_, shown) =
            promise.split_once("Shown by ").unwrap_or_else(|| panic!("nothing shows: {promise}"));
        for name in quoted(shown) {
            let is_there = match name.strip_prefix("cargo xtask ") {
                Some(task) => tasks.contains(&format!("(\"{task}\", ")),
                None if name.contains('/') => Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("tests/cases")
                    .join(name)
                    .join("case.json")
                    .exists(),
                None => code.contains(&format!("fn {name}(")),
            };
            assert!(is_there, "{name} is neither a test nor a fixture nor a task: {promise}");
        }
    }
}

/// All code below a folder.
fn gather(folder: &Path, code: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            gather(&path, code);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            write!(code, "{}", fs::read_to_string(&path).unwrap()).unwrap();
        }
    }
}
