//! The official conformance suite, for both versions of the protocol that it knows. It runs against
//! tests/conformance/server.rs, which has its fixtures behind our HTTP stack, and against the real command. The command
//! lacks the fixtures, so most scenarios fail there and are listed in a baseline. An unlisted scenario that fails is an
//! error, and so is a listed one that passes.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use emend_testkit::http::HttpServer;
use emend_testkit::{Folder, Launch};
use serde_json::Value;

use crate::{bounded, built, installed};

const FOLDER: &str = "tests/conformance";
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
/// The timeout for all scenarios of one version.
const TIME: Duration = Duration::from_secs(300);

/// Runs the suite against both servers.
pub(crate) fn run(emend: &Path) -> Result<()> {
    let Some(packages) = installed::packages("conformance", Path::new(FOLDER))? else { return Ok(()) };
    let suite = packages.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let example = Example::start()?;
    for revision in REVISIONS {
        check(&suite, "example", &example.url, &example.token, revision)?;
    }
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = HttpServer::start(&Launch::new(emend).workspace(folder.path()).state(folder.state()));
    for revision in REVISIONS {
        let url = format!("http://{}/mcp", server.address());
        check(&suite, "emend", &url, server.token(), revision)?;
    }
    Ok(())
}

/// Runs all scenarios of one version against one server.
fn check(suite: &Path, server: &str, url: &str, token: &str, revision: &str) -> Result<()> {
    let results = built::target()?.join("conformance").join(format!("{server}-{revision}"));
    let baseline = Path::new(FOLDER).join(format!("{server}-{revision}.yml"));
    let mut command = Command::new(installed::node()?);
    command.arg("--require").arg(Path::new(FOLDER).join("bearer.cjs").canonicalize()?).arg(suite);
    command
        .args(["server", "--suite", "all", "--url", url, "--spec-version", revision])
        .arg("-o")
        .arg(&results);
    command.arg("--expected-failures").arg(&baseline).env("EMEND_TOKEN", token);
    let output = bounded::run(&mut command, TIME)
        .with_context(|| format!("{server}, {revision}: see {}", results.display()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    let total = said.lines().rfind(|line| line.starts_with("Total:")).unwrap_or("no total");
    let known = std::fs::read_to_string(&baseline)?.lines().filter(|line| line.starts_with("  - ")).count();
    println!("{server}, {revision}: {total}, in {known} scenarios of the baseline");
    Ok(())
}

/// The running server with the fixtures.
struct Example {
    child: Child,
    url: String,
    token: String,
}

impl Example {
    fn start() -> Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built =
            Command::new(cargo).args(["build", "--quiet", "--example", "conformance_server"]).status()?;
        ensure!(built.success(), "the example was not built");
        let program: PathBuf = built::target()?.join("debug/examples/conformance_server");
        let mut child = Command::new(program).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("it has an output")?).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line)?;
        let text = |name: &str| said[name].as_str().map(str::to_owned).context("it says where it listens");
        Ok(Self { url: text("url")?, token: text("token")?, child })
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
