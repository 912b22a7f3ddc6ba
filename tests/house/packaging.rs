//! The facts about Emend in packages, configurations and documents, compared with Emend: its version, its tools, its
//! arguments, the code that uses it.

use std::fs;
use std::path::Path;

use emend_testkit::{Folder, Launch};
use serde_json::{Value, json};

use crate::{EMEND, serve};

fn text(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

fn written(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap()
}

#[test]
fn all_packages_have_the_version_and_the_description_of_the_bundle() {
    let (manifest, entry) = (written("packaging/manifest.json"), written("packaging/server.json"));
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(entry["version"], manifest["version"]);
    assert_eq!(entry["description"], manifest["description"]);
    // The registry takes no longer one.
    assert!(entry["description"].as_str().unwrap().len() <= 100);
    for url in [&manifest["repository"]["url"], &entry["repository"]["url"]] {
        assert_eq!(url, env!("CARGO_PKG_REPOSITORY"));
    }
    assert_eq!(manifest["license"], env!("CARGO_PKG_LICENSE"));
}

#[test]
fn the_manifest_lists_the_tools_under_their_titles() {
    let listed: Vec<Value> = serve(&Folder::new())
        .tools()
        .into_iter()
        .map(|tool| json!({"name": tool["name"], "description": tool["annotations"]["title"]}))
        .collect();
    assert_eq!(written("packaging/manifest.json")["tools"], Value::from(listed));
}

/// The arguments of a server in a configuration, as a client starts it; the command itself is the built one.
fn started(server: &Value) -> Launch {
    let mut arguments = server["args"].as_array().unwrap().iter().map(|argument| argument.as_str().unwrap());
    assert_eq!((server["command"].as_str(), arguments.next()), (Some("emend"), Some("serve")));
    arguments.fold(Launch::new(EMEND), Launch::argument)
}

#[test]
fn the_configuration_of_this_repository_opens_the_working_folder() {
    let folder = Folder::with([("a.txt", "tea\n")]);
    let launch = started(&written("mcp.json")["mcpServers"]["emend"]).state(folder.state());
    launch.inside(folder.path()).modern().replace("a.txt", "tea", "cake").ok();
    assert_eq!(folder.text("a.txt"), "cake\n");
}

#[test]
fn the_entries_for_clients_in_the_documents_start_a_server_that_edits() {
    let mut tried = 0;
    for document in ["README.md", "docs/CLIENTS.md"] {
        let text = text(document);
        let blocks = text.split("```json\n").skip(1).filter_map(|rest| rest.split("\n```").next());
        for entry in blocks.filter_map(|block| serde_json::from_str::<Value>(block).ok()) {
            let servers = ["mcpServers", "servers", "context_servers"].iter().find_map(|key| entry.get(key));
            let Some(server) = servers else { continue };
            let folder = Folder::with([("a.txt", "tea\n")]);
            let path = folder.path().to_str().unwrap();
            let arguments = server["emend"]["args"].as_array().unwrap().iter().map(|argument| {
                argument
                    .as_str()
                    .unwrap()
                    .replace("${workspaceFolder}", path)
                    .replace("/path/to/project", path)
            });
            let server =
                json!({"command": server["emend"]["command"], "args": arguments.collect::<Vec<_>>()});
            started(&server).state(folder.state()).inside(path).modern().replace("a.txt", "tea", "cake").ok();
            assert_eq!(folder.text("a.txt"), "cake\n", "{document}: {entry}");
            tried += 1;
        }
    }
    assert!(tried > 4);
}

#[test]
fn the_code_in_the_documents_is_code_of_the_examples() {
    let lines = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join("\n");
    let clients = text("docs/CLIENTS.md");
    for (language, example) in
        [("python", "examples/python/openai_agent.py"), ("typescript", "examples/typescript/client.ts")]
    {
        let (_, code) = clients.split_once(&format!("```{language}\n")).unwrap();
        let (code, _) = code.split_once("\n```").unwrap();
        assert!(lines(&text(example)).contains(&lines(code)), "{example} has not this code:\n{code}");
    }
}

#[test]
fn every_action_of_the_workflows_is_pinned_and_each_system_has_its_job() {
    let workflows = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/workflows");
    for workflow in fs::read_dir(workflows).unwrap() {
        let path = workflow.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for action in
            text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix("uses: "))
        {
            let (_, pin) = action.split_once('@').unwrap();
            let (commit, version) =
                pin.split_once(" # v").unwrap_or_else(|| panic!("{action} has no version"));
            assert!(commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{action}");
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{action}");
        }
    }
    // What the command makes, the workflow builds, and no more.
    let release = text(".github/workflows/release.yml");
    let built: Vec<&str> = release
        .lines()
        .filter_map(|line| line.split_once("target: ")?.1.split_once(','))
        .map(|(triple, _)| triple)
        .collect();
    let known = text("crates/xtask/src/target.rs");
    let triples = known.split('"').filter(|word| word.matches('-').count() >= 2 && !word.contains(' '));
    let mut triples: Vec<&str> = triples.collect();
    let mut sorted = built.clone();
    triples.sort_unstable();
    sorted.sort_unstable();
    assert_eq!(sorted, triples);
}

#[test]
fn the_templates_of_packages_have_no_version_of_their_own() {
    for template in [
        "npm/package.json",
        "install.sh",
        "install.ps1",
        "homebrew/emend.rb",
        "scoop/emend.json",
        "winget/EmendMcp.Emend.yaml",
    ] {
        let text = text(&format!("packaging/{template}"));
        assert!(text.contains("@VERSION@") && !text.contains(env!("CARGO_PKG_VERSION")), "{template}");
    }
}
