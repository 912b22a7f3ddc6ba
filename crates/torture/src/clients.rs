//! Real MCP clients against the release build, over standard input and output, over HTTP, and over HTTP through a proxy that
//! hands the requests to three servers in turn. Each library lists the
//! tools, reads, previews, applies, patches, moves, deletes and undoes in its own workspace. Its script asserts the
//! bytes on disk after every step. The scripts are in tests/clients, as thin adapters of one round for each language.
//! The examples in Python and TypeScript run with the same libraries. Jupyter's nbformat reads what edits of cells make.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use emend_testkit::http::HttpServer;
use emend_testkit::{Folder, Launch};

use crate::replicas::{Cluster, SERVERS, has_programs};
use crate::{bounded, installed};

/// The folders of the adapters, with the pinned versions of their libraries.
const PYTHON: &str = "tests/clients/python";
const NODE: &str = "tests/clients/node";

/// The timeout for a round. Most take a second or two.
const TIME: Duration = Duration::from_secs(120);

/// The installation with the library of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Library {
    Python,
    /// LangChain's adapters need another version of the Python library than the other scripts.
    LangChain,
    Node,
}

/// A client: its name, its library, its script and the script's arguments.
type Client = (&'static str, Library, &'static str, &'static [&'static str]);

const CLIENTS: &[Client] = &[
    ("mcp", Library::Python, "with_mcp.py", &[]),
    ("nbformat", Library::Python, "with_nbformat.py", &[]),
    ("mcp-legacy", Library::Python, "with_mcp.py", &["legacy"]),
    ("fastmcp", Library::Python, "with_fastmcp.py", &[]),
    ("openai-agents", Library::Python, "with_openai_agents.py", &[]),
    ("pydantic-ai", Library::Python, "with_pydantic_ai.py", &[]),
    ("langchain", Library::LangChain, "with_langchain.py", &[]),
    ("typescript", Library::Node, "with_client.mjs", &[]),
    ("typescript-legacy", Library::Node, "with_client.mjs", &["legacy"]),
    ("typescript-sdk", Library::Node, "with_sdk.mjs", &[]),
    ("inspector", Library::Node, "with_inspector.mjs", &[]),
];

/// The examples. Each creates its own workspace, starts the server and asserts the bytes on disk.
const EXAMPLES: &[(&str, Library, &str)] = &[
    ("client.py", Library::Python, "examples/python"),
    ("openai_agent.py", Library::Python, "examples/python"),
    ("langchain_agent.py", Library::LangChain, "examples/python"),
    ("client.ts", Library::Node, "examples/typescript"),
];

/// Plays the rounds of these clients and runs these examples, by default all.
pub(crate) fn run(emend: &Path, names: &[&str]) -> Result<()> {
    let known: Vec<&str> =
        CLIENTS.iter().map(|client| client.0).chain(EXAMPLES.iter().map(|example| example.0)).collect();
    for name in names {
        ensure!(known.contains(name), "there is no '{name}'; there are: {}", known.join(", "));
    }
    let is_wanted = |name: &str| names.is_empty() || names.contains(&name);
    let played: Vec<&str> = CLIENTS.iter().map(|client| client.0).filter(|name| is_wanted(name)).collect();
    let has_servers = !played.is_empty() && has_programs();
    let servers = has_servers.then(|| Cluster::start(emend, &played, SERVERS)).transpose()?;
    let mut table = format!("{:<20}{:>10}{:>10}{:>10}\n", "", "stdio", "HTTP", "3 servers");
    let mut failures = Vec::new();
    let mut entry = |what: &str, result: Result<Option<Duration>>| match result {
        Ok(Some(time)) => format!("{:>10}", format!("{:.1} s", time.as_secs_f64())),
        Ok(None) => format!("{:>10}", "skipped"),
        Err(error) => {
            failures.push(format!("{what}: {error:#}"));
            format!("{:>10}", "FAILED")
        }
    };
    for client in CLIENTS.iter().filter(|client| is_wanted(client.0)) {
        let ways = [Way::Stdio, Way::Http, servers.as_ref().map_or(Way::None, Way::Servers)];
        let times = ways.map(|way| entry(&format!("{}, {}", client.0, way.name()), play(emend, client, way)));
        table += &format!("{:<20}{}\n", client.0, times.concat());
    }
    for (name, library, folder) in EXAMPLES.iter().filter(|example| is_wanted(example.0)) {
        table += &format!("{name:<20}{}\n", entry(name, run_example(emend, name, *library, folder)));
    }
    for failure in &failures {
        eprintln!("{failure}\n");
    }
    print!("{table}");
    ensure!(failures.is_empty(), "{} of the rounds failed", failures.len());
    Ok(())
}

/// Runs an example as its reader would, but with a temporary home folder.
fn run_example(emend: &Path, name: &str, library: Library, folder: &str) -> Result<Option<Duration>> {
    let Some(mut command) = library.command(folder, name)? else { return Ok(None) };
    let home = Folder::new();
    // With a key or a model of the user, the example would ask that model and cost money.
    command.env("EMEND", emend).env("HOME", home.path()).env_remove("OPENAI_API_KEY").env_remove("MODEL");
    let begun = Instant::now();
    bounded::run(&mut command, TIME)?;
    Ok(Some(begun.elapsed()))
}

/// How a client reaches the server.
#[derive(Clone, Copy)]
enum Way<'a> {
    /// It starts one.
    Stdio,
    /// It connects to one that runs.
    Http,
    /// It connects to a proxy with several servers behind it.
    Servers(&'a Cluster),
    /// This machine lacks what it needs.
    None,
}

impl Way<'_> {
    fn name(self) -> &'static str {
        match self {
            Self::Stdio => "standard input and output",
            Self::Http => "HTTP",
            Self::Servers(_) | Self::None => "several servers",
        }
    }
}

/// Plays one round and returns its duration; `None` if the machine cannot run the client.
fn play(emend: &Path, client: &Client, way: Way<'_>) -> Result<Option<Duration>> {
    let (name, library, script, arguments) = client;
    let from = if *library == Library::Node { NODE } else { PYTHON };
    let Some(mut command) = library.command(from, script)? else { return Ok(None) };
    let folder = Folder::new();
    command.args(*arguments).env("EMEND", emend);
    command.env("EMEND_WORKSPACE", folder.path()).env("EMEND_STATE", folder.state());
    let mut calls = |address: SocketAddr, token: &str| {
        command.env("EMEND_URL", format!("http://{address}/mcp")).env("EMEND_TOKEN", token);
    };
    let mut server = None;
    match way {
        Way::Stdio => {}
        Way::Http => {
            let launch = Launch::new(emend).workspace(folder.path()).state(folder.state());
            let started = server.insert(HttpServer::start(&launch));
            calls(started.address(), started.token());
        }
        Way::Servers(cluster) => {
            calls(cluster.proxy, &cluster.token(name, 0));
            command.env("EMEND_WORKSPACE", cluster.folder.at(name));
        }
        Way::None => return Ok(None),
    }
    let begun = Instant::now();
    bounded::run(&mut command, TIME)?;
    Ok(Some(begun.elapsed()))
}

impl Library {
    /// The command that runs a script in `folder` with this library; `None` if the machine cannot.
    fn command(self, folder: &str, script: &str) -> Result<Option<Command>> {
        let pins = Path::new(PYTHON);
        let mut command = match self {
            Self::Python => installed::python("python", &pins.join("requirements.txt"))?.map(Command::new),
            Self::LangChain => {
                installed::python("langchain", &pins.join("requirements-langchain.txt"))?.map(Command::new)
            }
            Self::Node => {
                let Some(packages) = installed::packages("node-clients", Path::new(NODE))? else {
                    return Ok(None);
                };
                installed::stage(Path::new(folder), &packages)?;
                if script.ends_with(".ts") {
                    check_types(&packages, script)?;
                }
                let mut node = Command::new(installed::node()?);
                node.arg(packages.join(script));
                return Ok(Some(node));
            }
        };
        if let Some(command) = &mut command {
            // The run must not leave compiled files in the repository.
            command.arg(Path::new(folder).join(script)).env("PYTHONDONTWRITEBYTECODE", "1");
        }
        Ok(command)
    }
}

/// Checks the types of a TypeScript example, which Node ignores.
fn check_types(packages: &Path, script: &str) -> Result<()> {
    let compiler = packages.join("node_modules").join("typescript").join("bin").join("tsc");
    let options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--types", "node"];
    let mut check = Command::new(installed::node()?);
    check.arg(compiler).args(options).arg(script).current_dir(packages);
    bounded::run(&mut check, TIME)?;
    Ok(())
}
