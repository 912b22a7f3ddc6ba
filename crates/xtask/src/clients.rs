//! Real MCP clients against the release build, over standard input and output and over HTTP: each library lists the
//! tools, reads, previews, applies, patches, moves, deletes and undoes in a workspace of its own, and its script asserts
//! the bytes on disk after every step. The rounds are in tests/clients, as scripts that are thin adapters of one round
//! for each language.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use emend_testkit::http::HttpServer;
use emend_testkit::{Folder, Launch};

use crate::{bounded, installed};

const PYTHON: &str = "tests/clients/python";
const NODE: &str = "tests/clients/node";

/// How long a round may take. Most take a second or two.
const TIME: Duration = Duration::from_secs(120);

/// Where a script finds its library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Library {
    Python,
    /// Its adapters need another version of the Python library than everybody else.
    LangChain,
    Node,
}

/// A client, its library, its script, and what the script is told.
type Client = (&'static str, Library, &'static str, &'static [&'static str]);

const CLIENTS: &[Client] = &[
    ("mcp", Library::Python, "with_mcp.py", &[]),
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

/// Plays the rounds of these clients, by default of all.
pub(crate) fn run(emend: &Path, names: &[&str]) -> Result<()> {
    let known: Vec<&str> = CLIENTS.iter().map(|(name, ..)| *name).collect();
    for name in names {
        ensure!(known.contains(name), "there is no client '{name}'; they are: {}", known.join(", "));
    }
    let mut table = format!("{:<20}{:>10}{:>10}\n", "", "stdio", "HTTP");
    let mut failures = Vec::new();
    for client in CLIENTS.iter().filter(|(name, ..)| names.is_empty() || names.contains(name)) {
        let name = client.0;
        table += &format!("{name:<20}");
        for transport in [Transport::Stdio, Transport::Http] {
            let result = match play(emend, client, transport) {
                Ok(Some(time)) => format!("{:.1} s", time.as_secs_f64()),
                Ok(None) => "skipped".into(),
                Err(error) => {
                    failures.push(format!("{name} over {transport:?}: {error:#}"));
                    "FAILED".into()
                }
            };
            table += &format!("{result:>10}");
        }
        table += "\n";
    }
    for failure in &failures {
        eprintln!("{failure}\n");
    }
    print!("{table}");
    ensure!(failures.is_empty(), "{} of the rounds failed", failures.len());
    Ok(())
}

/// How a client reaches the server: it starts one, or there is one.
#[derive(Clone, Copy, Debug)]
enum Transport {
    Stdio,
    Http,
}

/// Plays one round. Yields how long it took; nothing where the machine has no means to.
fn play(emend: &Path, client: &Client, transport: Transport) -> Result<Option<Duration>> {
    let (_, library, script, told) = client;
    let Some(mut command) = library.command(script)? else { return Ok(None) };
    let folder = Folder::new();
    command.args(*told).env("EMEND", emend);
    command.env("EMEND_WORKSPACE", folder.path()).env("EMEND_STATE", folder.state());
    let _server = match transport {
        Transport::Stdio => None,
        Transport::Http => {
            let server =
                HttpServer::start(&Launch::new(emend).workspace(folder.path()).state(folder.state()));
            command
                .env("EMEND_URL", format!("http://{}/mcp", server.address()))
                .env("EMEND_TOKEN", server.token());
            Some(server)
        }
    };
    let begun = Instant::now();
    bounded::run(&mut command, TIME)?;
    Ok(Some(begun.elapsed()))
}

impl Library {
    /// The command that runs a script with this library; none where the machine has no means to.
    fn command(self, script: &str) -> Result<Option<Command>> {
        let (program, folder) = match self {
            Self::Python => {
                (installed::python("python", &Path::new(PYTHON).join("requirements.txt"))?, PYTHON.into())
            }
            Self::LangChain => {
                let pins = Path::new(PYTHON).join("requirements-langchain.txt");
                (installed::python("langchain", &pins)?, PYTHON.into())
            }
            Self::Node => match installed::packages("node-clients", Path::new(NODE))? {
                Some(folder) => {
                    stage(&folder)?;
                    (Some(installed::node()?), folder)
                }
                None => (None, PathBuf::new()),
            },
        };
        Ok(program.map(|program| {
            let mut command = Command::new(program);
            // A run leaves the tree as it was.
            command.arg(folder.join(script)).env("PYTHONDONTWRITEBYTECODE", "1");
            command
        }))
    }
}

/// Puts the scripts beside the packages: that is where Node looks for what they import.
fn stage(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(NODE)? {
        let path = entry?.path();
        if let Some(name) = path.file_name().filter(|_| path.extension().is_some_and(|end| end == "mjs")) {
            fs::copy(&path, folder.join(name))?;
        }
    }
    Ok(())
}
