//! The cost of a call beside its edit. The same small edit is made by the library in this process, over standard input
//! and output, and over HTTP in both eras; and with and without the features that follow an edit, where no language
//! server is installed. The variants take turns, so that a slow moment of the disk affects all.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use emend_testkit::http::HttpServer;
use emend_testkit::{Folder, Launch};
use emend_workspace::edit::patch::{Patch, TextChange};
use emend_workspace::{EditContext, Effort, Mutex, Origin, Readings, Request, RootSpec, Workspace, disk};
use serde_json::{Value, json};

/// The number of edits in each variant.
const ROUNDS: usize = 400;
/// The edited file, where its type does not matter.
const TEXT: &str = "a.txt";
/// The number of lines in the file: 4 KB, of which one word changes.
const LINES: usize = 100;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// A variant of making the edit.
type Way<'a> = Box<dyn FnMut(&str, &str) -> Result<()> + 'a>;

/// Measures all variants and prints their medians.
pub(crate) fn run(emend: &Path) -> Result<()> {
    if cfg!(debug_assertions) {
        // The library is part of this program, which must be as fast as the command then.
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let again = ["run", "--quiet", "--release", "--package", "xtask", "--", "overhead"];
        ensure!(Command::new(cargo).args(again).status()?.success(), "it failed");
        return Ok(());
    }
    transports(emend)?;
    for file in ["a.txt", "a.py"] {
        effects(emend, file)?;
    }
    Ok(())
}

/// Compares the transports.
fn transports(emend: &Path) -> Result<()> {
    let (library, stdio, modern, legacy) = (folder(TEXT), folder(TEXT), folder(TEXT), folder(TEXT));
    let launch = |folder: &Folder| Launch::new(emend).workspace(folder.path()).state(folder.state());
    let servers = [&modern, &legacy].map(|folder| HttpServer::start(&launch(folder)));
    let mut ways: Vec<(&str, Way<'_>)> = vec![
        ("library", by_library(&library)?),
        ("stdio", over_stdio(emend, &stdio, TEXT, &[])?),
        ("HTTP, 2026-07-28", over_http(&servers[0], false)?),
        ("HTTP, 2025-11-25", over_http(&servers[1], true)?),
    ];
    let medians = medians(&mut ways)?;
    for ((name, _), median) in ways.iter().zip(&medians) {
        let over = median.saturating_sub(medians[0]);
        println!("{name:<18} {:.3} ms, {:.3} ms over the edit itself", millis(*median), millis(over));
    }
    Ok(())
}

/// Measures the cost of what may follow an edit of this file.
fn effects(emend: &Path, file: &str) -> Result<()> {
    const OFF: [&str; 4] =
        ["--notify-lsp=false", "--notify-editor=false", "--emit-event=false", "--syntax-guard=off"];
    const ON: [&str; 4] = ["--notify-lsp", "--notify-editor", "--emit-event", "--syntax-guard=warn"];
    let folders = [folder(file), folder(file), folder(file)];
    let without_history: Vec<&str> = OFF.into_iter().chain(["--track-history=false"]).collect();
    let mut ways: Vec<(&str, Way<'_>)> = vec![
        ("everything off", over_stdio(emend, &folders[0], file, &OFF)?),
        ("everything on", over_stdio(emend, &folders[1], file, &ON)?),
        ("no history either", over_stdio(emend, &folders[2], file, &without_history)?),
    ];
    let medians = medians(&mut ways)?;
    for ((name, _), median) in ways.iter().zip(&medians) {
        let ratio = median.as_secs_f64() / medians[0].as_secs_f64();
        println!("{file}, {name:<18} {:.3} ms, {:.1} %", millis(*median), (ratio - 1.0) * 100.0);
    }
    Ok(())
}

/// Runs the variants in turn and returns their medians.
fn medians(ways: &mut [(&str, Way<'_>)]) -> Result<Vec<Duration>> {
    let mut times = vec![Vec::with_capacity(ROUNDS); ways.len()];
    for round in 0..ROUNDS {
        let (old, new) = if round % 2 == 0 { ("before", "after") } else { ("after", "before") };
        for ((name, way), times) in ways.iter_mut().zip(&mut times) {
            let begun = Instant::now();
            way(old, new).with_context(|| format!("{name}, round {round}"))?;
            times.push(begun.elapsed());
        }
    }
    Ok(times.iter_mut().map(|times| median(times)).collect())
}

fn folder(file: &str) -> Folder {
    let folder = Folder::new();
    let line = if file == TEXT {
        "Forty characters of a line of some text.\n"
    } else {
        "value = function(argument, 1234567890.1)\n"
    };
    folder.write(file, line.repeat(LINES) + "before\n");
    folder
}

fn by_library(folder: &Folder) -> Result<Way<'_>> {
    let roots = [RootSpec { name: None, path: folder.path().into() }];
    let workspace = Workspace::open(disk::for_this_machine(), &roots, Some(folder.state()));
    let workspace = workspace.map_err(|problem| anyhow::anyhow!("{problem}"))?;
    let (readings, origin) = (Mutex::new(Readings::default()), Origin::default());
    Ok(Box::new(move |old, new| {
        let change = TextChange { old: old.into(), new: new.into(), all: false, expected: None };
        let patch = Patch::replace(TEXT, vec![change]).map_err(|problem| anyhow::anyhow!("{problem}"))?;
        let request = Request { patch: &patch, versions: &Default::default() };
        let context = EditContext { effort: Effort::Quick, ..EditContext::patient(&readings, &origin) };
        match workspace.edit(&request, &context) {
            Ok(_) => Ok(()),
            Err(problems) => bail!("{problems:?}"),
        }
    }))
}

/// A client over standard input and output on this thread. It only writes and reads lines, so that no library counts.
fn over_stdio<'a>(emend: &Path, folder: &'a Folder, file: &'a str, flags: &[&str]) -> Result<Way<'a>> {
    let mut command = Command::new(emend);
    command
        .args(["serve", "--no-config", "--workspace"])
        .arg(folder.path())
        .arg("--state-dir")
        .arg(folder.state())
        .args(flags)
        .env("XDG_CONFIG_HOME", "/nowhere")
        // Hides the language servers of the machine.
        .env("PATH", "/nowhere");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().context("it has an input")?;
    let mut output = BufReader::new(child.stdout.take().context("it has an output")?);
    let mut line = String::new();
    Ok(Box::new(move |old, new| {
        input.write_all(format!("{}\n", call(file, old, new, Some(MODERN))).as_bytes())?;
        line.clear();
        output.read_line(&mut line)?;
        let answer: Value = serde_json::from_str(&line)?;
        ensure!(answer["result"]["isError"] == false, "{answer}");
        // Keeps the child with the closure; the server ends when its input closes.
        let _ = &child;
        Ok(())
    }))
}

/// The JSON-RPC message for the edit. In 2026, each message names its version of the protocol.
fn call(file: &str, old: &str, new: &str, revision: Option<&str>) -> Value {
    let arguments = json!({"path": file, "old_string": old, "new_string": new});
    let mut message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call"});
    message["params"] = json!({"name": "str_replace", "arguments": arguments});
    if let Some(revision) = revision {
        let meta = &mut message["params"]["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = revision.into();
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    }
    message
}

/// A client over HTTP with one connection for all calls, as real clients have.
fn over_http(server: &HttpServer, in_session: bool) -> Result<Way<'_>> {
    let client = if in_session { server.client().legacy() } else { server.client() };
    let stream = TcpStream::connect(server.address())?;
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream;
    let version = if in_session { LEGACY } else { MODERN };
    let mut head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {version}\r\n",
        server.token()
    );
    match client.session() {
        Some(session) => head += &format!("Mcp-Session-Id: {session}\r\n"),
        None => head += "Mcp-Method: tools/call\r\nMcp-Name: str_replace\r\n",
    }
    Ok(Box::new(move |old, new| {
        let body = call(TEXT, old, new, (!in_session).then_some(version)).to_string();
        writer.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())?;
        let answer = answer(&mut reader)?;
        ensure!(answer["result"]["isError"] == false, "{answer}");
        Ok(())
    }))
}

/// Reads the next answer of a connection, either as JSON or as events.
fn answer(reader: &mut impl BufRead) -> Result<Value> {
    let mut line = String::new();
    let mut length = None;
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let (name, value) = line.trim_end().split_once(':').unwrap_or((line.trim_end(), ""));
        match name.to_ascii_lowercase().as_str() {
            "" => break,
            "content-length" => length = Some(value.trim().parse::<usize>()?),
            _ => {}
        }
    }
    if let Some(length) = length {
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        return Ok(serde_json::from_slice(&body)?);
    }
    let mut body = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim(), 16)?;
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk)?;
        if length == 0 {
            break;
        }
        body.extend_from_slice(&chunk[..length]);
    }
    let text = String::from_utf8(body)?;
    let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).find(|data| data.starts_with('{'));
    Ok(serde_json::from_str(data.context("an answer")?)?)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
