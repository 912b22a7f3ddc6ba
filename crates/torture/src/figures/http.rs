//! A client over HTTP that costs little: one connection for all calls, and answers that are not parsed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use emend_testkit::http::HttpServer;
use serde_json::{Value, json};

use super::answer::Answer;
use super::stdio::{REVISION, str_replace};
use super::times::Editor;

/// A server that says nothing for this long is given up.
const PATIENCE: Duration = Duration::from_secs(60);
/// The revision of the protocol that has no sessions.
const STATELESS: &str = "2026-07-28";

/// The kind of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// It opens a session.
    Session,
    /// Each of its requests stands alone.
    Stateless,
}

impl Era {
    pub(super) const ALL: [Self; 2] = [Self::Stateless, Self::Session];

    pub(super) fn revision(self) -> &'static str {
        match self {
            Self::Session => REVISION,
            Self::Stateless => STATELESS,
        }
    }
}

/// A client with its connection.
#[derive(Debug)]
pub(super) struct Connection {
    reader: BufReader<TcpStream>,
    era: Era,
    /// The headers that all requests have.
    head: String,
    session: Option<String>,
    body: Vec<u8>,
}

impl Connection {
    /// Connects with the one token of a server, and opens a session if it is to have one.
    pub(super) fn open(server: &HttpServer, era: Era) -> Result<Self> {
        Self::to(server.address(), server.token(), era)
    }

    /// Connects to this address with this token.
    pub(super) fn to(address: SocketAddr, token: &str, era: Era) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {}\r\n",
            era.revision()
        );
        let reader = BufReader::new(stream);
        let mut connection = Self { reader, era, head, session: None, body: Vec::new() };
        if era == Era::Session {
            let client = json!({"name": "figures", "version": "1"});
            let params = json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client});
            let opening = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
            connection.post(&opening.to_string())?;
            let session = connection.session.take().context("the server opens no session")?;
            connection.head += &format!("Mcp-Session-Id: {session}\r\n");
            connection.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string())?;
        }
        Ok(connection)
    }

    /// Calls a tool.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer<'_>> {
        let mut params = json!({"name": tool, "arguments": arguments});
        if self.era == Era::Stateless {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let message =
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string();
        let time = self.post_for(&message, Some(tool))?;
        Ok(Answer { text: std::str::from_utf8(&self.body)?, time })
    }

    fn post(&mut self, message: &str) -> Result<Duration> {
        self.post_for(message, None)
    }

    /// Sends a message and reads the response into the body.
    fn post_for(&mut self, message: &str, tool: Option<&str>) -> Result<Duration> {
        let mut request = self.head.clone();
        if let (Era::Stateless, Some(tool)) = (self.era, tool) {
            request += &format!("Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n");
        }
        request += &format!("Content-Length: {}\r\n\r\n{message}", message.len());
        let begun = Instant::now();
        self.reader.get_mut().write_all(request.as_bytes())?;
        self.receive()?;
        Ok(begun.elapsed())
    }

    fn receive(&mut self) -> Result<()> {
        let mut line = String::new();
        let mut length = None;
        let mut status = String::new();
        loop {
            line.clear();
            ensure!(self.reader.read_line(&mut line)? > 0, "the server has closed the connection");
            let written = line.trim_end();
            if written.is_empty() {
                break;
            }
            if status.is_empty() {
                written.clone_into(&mut status);
            } else if let Some((name, value)) = written.split_once(':') {
                if name.eq_ignore_ascii_case("content-length") {
                    length = Some(value.trim().parse::<usize>()?);
                } else if name.eq_ignore_ascii_case("mcp-session-id") {
                    self.session = Some(value.trim().to_owned());
                }
            }
        }
        self.body.clear();
        match length {
            Some(length) => self.receive_bytes(length)?,
            None => loop {
                line.clear();
                self.reader.read_line(&mut line)?;
                let length = usize::from_str_radix(line.trim(), 16).context("a chunk has a length")?;
                self.receive_bytes(length)?;
                line.clear();
                self.reader.read_line(&mut line)?;
                if length == 0 {
                    break;
                }
            },
        }
        ensure!(status.contains(" 20"), "{status}: {}", String::from_utf8_lossy(&self.body));
        Ok(())
    }

    /// Adds the next bytes of the connection to the body.
    fn receive_bytes(&mut self, length: usize) -> Result<()> {
        let before = self.body.len();
        self.body.resize(before + length, 0);
        Ok(self.reader.read_exact(&mut self.body[before..])?)
    }
}

/// An editor that edits a file of its own, which has the marked line, with `str_replace`.
pub(super) fn editor(mut connection: Connection, file: String) -> Editor<'static> {
    let mut number = 0;
    Box::new(move || {
        let time = connection.call("str_replace", &str_replace(&file, number))?.made()?;
        number += 1;
        Ok(time)
    })
}
