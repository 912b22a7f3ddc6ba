//! A server for a team with a real, certified identity provider from npm: a client for itself and a person sign in, each edits
//! in the folder of its tenant, and tokens that are no good open nothing.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use emend_testkit::{Folder, HttpServer, Launch};
use serde_json::Value;

use crate::{bounded, installed};

/// The folder with the pinned provider and the round.
const PINNED: &str = "tests/authority";
/// The timeout for the round.
const TIME: Duration = Duration::from_secs(120);
/// The resource for which the provider issues tokens that say nothing.
const OPAQUE: &str = "https://opaque.example/mcp";

/// Plays the round against the command.
pub(crate) fn run(emend: &Path) -> Result<()> {
    let Some(packages) = installed::packages("authority", Path::new(PINNED))? else { return Ok(()) };
    installed::stage(Path::new(PINNED), &packages)?;
    // The provider has to know the address of the server, and the server that of the provider.
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let resource = format!("http://127.0.0.1:{port}/mcp");
    let provider = Provider::start(&packages, &resource)?;
    let folder = Folder::with([("red/a.txt", "red\n"), ("blue/a.txt", "blue\n")]);
    std::fs::write(folder.beside("secret"), "se:cret")?;
    let tenant = |name: &str| format!("[[tenant]]\nname = \"{name}\"\nworkspace = {:?}\n", folder.at(name));
    let settings = format!(
        "resource = \"{resource}\"\n[review]\nclient = \"emend\"\nsecret_file = {:?}\n[[authority]]\nissuer = \"{}\"\naudience = [\"{resource}\", \"{OPAQUE}\"]\n\
         client = \"emend\"\nsecret_file = {:?}\n{}{}",
        folder.beside("secret"),
        provider.issuer,
        folder.beside("secret"),
        tenant("red"),
        tenant("blue")
    );
    std::fs::write(folder.beside("team.toml"), settings)?;
    let launch =
        Launch::new(emend).state(folder.state()).argument("--team").argument(folder.beside("team.toml"));
    let _server = HttpServer::start_at(&launch, &format!("127.0.0.1:{port}"));
    // It ends well if it finds nothing that keeps clients from signing in.
    bounded::run(Command::new(emend).args(["doctor", "--http", &resource]), TIME)?;
    let mut round = Command::new(installed::node()?);
    round.current_dir(&packages).args(["round.mjs", &resource, OPAQUE]);
    let output = bounded::run(&mut round, TIME)?;
    ensure!(folder.text("red/a.txt") == "person\n", "the person's edit is not there");
    ensure!(folder.text("blue/a.txt") == "robot\n", "the client's edit is not there");
    print!("oidc-provider: {}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

/// The running provider.
struct Provider {
    child: Child,
    issuer: String,
}

impl Provider {
    fn start(packages: &Path, resource: &str) -> Result<Self> {
        let mut command = Command::new(installed::node()?);
        command.current_dir(packages).args(["provider.mjs", resource]).stdout(Stdio::piped());
        let mut child = command.spawn().context("the provider cannot be started")?;
        let mut lines = BufReader::new(child.stdout.take().context("it has an output")?).lines();
        // Warnings may come first.
        let said = lines.by_ref().map_while(Result::ok).find(|line| line.starts_with('{'));
        let said: Value = serde_json::from_str(&said.context("the provider says nothing")?)?;
        let issuer = said["issuer"].as_str().context("it says its address")?.to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, issuer })
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
