//! A client over standard input and output that costs little: a call is composed before its clock begins, and the
//! answer is not parsed. So the time is the server's.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use emend_testkit::Folder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use super::answer::Answer;
use super::sample::marked;
use super::times::Editor;

/// A server that says nothing for this long is given up.
const PATIENCE: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };
/// A server that does not end by itself for this long is killed.
const FAREWELL: Duration = Duration::from_secs(10);
/// A revision of the protocol that all servers speak.
pub(super) const REVISION: &str = "2025-06-18";

/// The flags of a server as it comes.
pub(super) const NO_FLAGS: [&str; 0] = [];

/// A server in a session with its one client.
#[derive(Debug)]
pub(super) struct StdioServer {
    child: Child,
    /// Nothing once the server was told to end.
    input: Option<ChildStdin>,
    output: BufReader<Patient>,
    line: String,
    last_id: u64,
}

impl StdioServer {
    /// Starts a server and opens the session.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let shown = format!("{:?}", command.get_program());
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = child.context(shown)?;
        let input = child.stdin.take();
        let output = BufReader::new(Patient(child.stdout.take().context("it has an output")?));
        let mut server = Self { child, input, output, line: String::new(), last_id: 0 };
        let client = json!({"name": "figures", "version": "1"});
        let opening = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client});
        server.request("initialize", &opening)?;
        server.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        Ok(server)
    }

    /// Calls a tool.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer<'_>> {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Answer<'_>> {
        self.last_id += 1;
        let id = format!("\"id\":{}", self.last_id);
        let message = format!("{{\"jsonrpc\":\"2.0\",{id},\"method\":\"{method}\",\"params\":{params}}}\n");
        let begun = Instant::now();
        self.write(&message)?;
        loop {
            self.line.clear();
            ensure!(self.output.read_line(&mut self.line)? > 0, "the server has ended");
            // A quote inside a text has a backslash before it, so only notifications and requests have this key.
            if self.line.contains(&id) && !self.line.contains("\"method\":\"") {
                return Ok(Answer { text: &self.line, time: begun.elapsed() });
            }
        }
    }

    fn write(&mut self, message: &str) -> Result<()> {
        Ok(self.input.as_mut().context("the server was told to end")?.write_all(message.as_bytes())?)
    }
}

impl Drop for StdioServer {
    fn drop(&mut self) {
        drop(self.input.take());
        let until = Instant::now() + FAREWELL;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The output of a server that is not waited for without end.
#[derive(Debug)]
struct Patient(ChildStdout);

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&PATIENCE))? == 0 {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the server says nothing"));
        }
        self.0.read(buffer)
    }
}

/// The command for a server of this workspace that sees no settings and no language server of the machine.
pub(super) fn emend<A: AsRef<OsStr>>(
    program: &Path,
    folder: &Folder,
    flags: impl IntoIterator<Item = A>,
) -> Command {
    let mut command = emend_testkit::command(program);
    command.args(["serve", "--workspace"]).arg(folder.path()).arg("--state-dir").arg(folder.state());
    command.args(flags).env("XDG_CONFIG_HOME", "/nowhere").env("PATH", "/nowhere");
    command
}

/// The arguments of `str_replace` for the next edit of a file.
pub(super) fn str_replace(file: &str, number: usize) -> Value {
    json!({"path": file, "old_string": marked(number), "new_string": marked(number + 1)})
}

/// An editor that edits a file of its own, which has the marked line, with `str_replace`.
pub(super) fn editor(mut server: StdioServer, file: String) -> Editor<'static> {
    let mut number = 0;
    Box::new(move || {
        let time = server.call("str_replace", &str_replace(&file, number))?.made()?;
        number += 1;
        Ok(time)
    })
}
