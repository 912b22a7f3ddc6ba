//! What the engine has: the leases of tenants, and the streams of their events.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use emend_testkit::Folder;
use serde_json::Value;

/// The time for an answer.
const ANSWER: Duration = Duration::from_secs(20);
/// The time in which a stream has all that is in the log: servers look at all logs every ten seconds.
const ARRIVAL: Duration = Duration::from_secs(60);

/// An answer of the engine.
enum Reply {
    Nothing,
    Text(String),
    List(Vec<Reply>),
}

impl Reply {
    fn read(from: &mut impl BufRead) -> Result<Self> {
        let mut line = String::new();
        from.read_line(&mut line)?;
        let line = line.trim_end();
        let (kind, rest) = line.split_at_checked(1).context("the engine said nothing")?;
        match kind {
            "$" | "*" if rest == "-1" => Ok(Self::Nothing),
            "$" => {
                // With the end of the line.
                let mut bytes = vec![0; rest.parse::<usize>()? + 2];
                from.read_exact(&mut bytes)?;
                bytes.truncate(bytes.len() - 2);
                Ok(Self::Text(String::from_utf8(bytes)?))
            }
            "*" => Ok(Self::List((0..rest.parse()?).map(|_| Self::read(from)).collect::<Result<_>>()?)),
            _ => bail!("the engine said {line}"),
        }
    }

    fn text(self) -> Result<Option<String>> {
        match self {
            Self::Nothing => Ok(None),
            Self::Text(text) => Ok(Some(text)),
            Self::List(_) => bail!("the engine said several things"),
        }
    }

    fn list(self) -> Result<Vec<Self>> {
        match self {
            Self::List(list) => Ok(list),
            _ => bail!("the engine said one thing"),
        }
    }
}

fn ask(port: u16, command: &str) -> Result<Reply> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.write_all(format!("{command}\r\n").as_bytes())?;
    Reply::read(&mut BufReader::new(stream))
}

/// Returns the address of the server that serves a tenant.
pub(super) fn lease(port: u16, tenant: &str) -> Result<Option<SocketAddr>> {
    let held = ask(port, &format!("GET emend:lease:{tenant}"))?.text()?;
    Ok(held.and_then(|held| held.split(' ').next()?.parse().ok()))
}

/// Checks that the stream of a tenant has each line of its log once, in their order, and no edit twice. Returns how many edits
/// it has.
pub(super) fn check_events(port: u16, folder: &Folder, tenant: &str) -> Result<usize> {
    let logged = logged(folder, tenant)?;
    let until = Instant::now() + ARRIVAL;
    let mut sent = sent(port, tenant)?;
    while sent.last() != logged.last() {
        ensure!(Instant::now() < until, "the stream of {tenant} does not have the last event of its log");
        thread::sleep(Duration::from_millis(100));
        sent = self::sent(port, tenant)?;
    }
    // A log keeps so much; what came before was in the stream, or the engine has lost it.
    let kept = sent.len().min(logged.len());
    ensure!(
        sent[sent.len() - kept..] == logged[logged.len() - kept..] && kept > 0,
        "the stream of {tenant} has {} events and its log {}, and they are not the same",
        sent.len(),
        logged.len()
    );
    let (mut numbers, mut edits) = (HashSet::new(), HashSet::new());
    for line in &sent {
        let event: Value = serde_json::from_str(line)?;
        ensure!(numbers.insert(event["event"].as_u64()), "{tenant} has an event twice: {line}");
        if event["type"] == "edit" {
            edits.insert(event["outcome"]["edit"].as_str().context("an edit has an id")?.to_owned());
        }
    }
    Ok(edits.len())
}

/// Returns the lines of the log of a tenant.
fn logged(folder: &Folder, tenant: &str) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for state in fs::read_dir(folder.state().join("tenants"))? {
        let state = state?;
        if !state.file_name().to_string_lossy().starts_with(&format!("{tenant}-")) {
            continue;
        }
        for name in ["log.1.jsonl", "log.jsonl"] {
            let text = fs::read_to_string(state.path().join("events").join(name)).unwrap_or_default();
            // A server that is killed may leave half a line.
            let whole = text.lines().filter(|line| serde_json::from_str::<Value>(line).is_ok());
            lines.extend(whole.map(str::to_owned));
        }
    }
    Ok(lines)
}

/// Returns the lines in the stream of a tenant.
fn sent(port: u16, tenant: &str) -> Result<Vec<String>> {
    let entries = ask(port, &format!("XRANGE emend:events:{tenant} - +"))?.list()?;
    let line = |entry: Reply| -> Result<String> {
        let fields = entry.list()?.pop().context("an entry has fields")?.list()?;
        let [Reply::Text(name), Reply::Text(line)] = &fields[..] else { bail!("an entry has one field") };
        ensure!(name == "event", "an entry has {name}");
        Ok(line.clone())
    };
    entries.into_iter().map(line).collect()
}
