//! A server over HTTP, and a client that writes its requests byte by byte, so that it can send invalid ones. Each
//! request has its own connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::answer::Answer;
use crate::client::Launch;

/// After this long without a byte from the server, a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running HTTP server.
#[derive(Debug)]
pub struct HttpServer {
    child: Child,
    address: SocketAddr,
    token: Option<String>,
}

impl HttpServer {
    /// Starts the server on a free port with a generated token.
    #[must_use]
    pub fn start(launch: &Launch) -> Self {
        Self::start_at(launch, "127.0.0.1:0")
    }

    /// Starts the server at this address.
    #[must_use]
    pub fn start_at(launch: &Launch, address: &str) -> Self {
        let mut command = launch.clone().argument("--http").argument(address).argument("--json").command();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said: Value =
            serde_json::from_str(&line).unwrap_or_else(|error| panic!("the server says {line:?}: {error}"));
        let url = said["url"].as_str().unwrap();
        let plain = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
        let address = plain.unwrap().strip_suffix("/mcp").unwrap().parse().unwrap();
        Self { child, address, token: said["token"].as_str().map(str::to_owned) }
    }

    /// Starts the server with these tokens, each given with its name.
    #[must_use]
    pub fn with_tokens(launch: &Launch, file: &Path, tokens: &[(&str, &str)]) -> Self {
        let lines: String = tokens.iter().map(|(name, token)| format!("{name} {token}\n")).collect();
        std::fs::write(file, lines).unwrap();
        Self::start(&launch.clone().argument("--tokens").argument(file))
    }

    /// The address that the server listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The id of the server's process.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// The generated token.
    #[must_use]
    pub fn token(&self) -> &str {
        self.token.as_deref().expect("the server made no token")
    }

    /// A client with the generated token.
    #[must_use]
    pub fn client(&self) -> Http {
        Http::new(self.address, self.token())
    }

    /// Tells the server to stop, as a supervisor does.
    #[cfg(unix)]
    pub fn terminate(&self) {
        let process = rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    }

    /// Tells the server to read its settings again.
    #[cfg(unix)]
    pub fn hang_up(&self) {
        let process = rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(process, rustix::process::Signal::HUP).unwrap();
    }

    /// Waits until the server ends.
    pub fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An HTTP client. Its requests are of 2025 once it has opened a session, and of 2026 before.
#[derive(Clone, Debug)]
pub struct Http {
    address: SocketAddr,
    token: String,
    session: Option<String>,
    /// The id of the newest request.
    last_id: Arc<AtomicU64>,
    can_ask: bool,
    /// The name that it gives itself.
    name: String,
    /// The path of the endpoint.
    endpoint: String,
}

/// A complete response.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Vec<u8>,
}

/// A response whose body is still arriving.
pub struct Stream {
    /// The status code.
    pub status: u16,
    /// The headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    body: Box<dyn BufRead + Send>,
}

impl Http {
    /// A client for the server at this address.
    #[must_use]
    pub fn new(address: SocketAddr, token: &str) -> Self {
        let [name, endpoint] = ["testkit", "/mcp"].map(str::to_owned);
        let (session, last_id) = (None, Arc::default());
        Self { address, token: token.into(), session, last_id, can_ask: false, name, endpoint }
    }

    /// A client in the same session with another token.
    #[must_use]
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: token.into(), ..self.clone() }
    }

    /// A client that claims to be in this session.
    #[must_use]
    pub fn in_session(mut self, id: &str) -> Self {
        self.session = Some(id.to_owned());
        self
    }

    /// Makes the client call another server, in the same session.
    #[must_use]
    pub fn towards(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    /// Makes the client use the endpoint at this path.
    #[must_use]
    pub fn at(mut self, endpoint: &str) -> Self {
        self.endpoint = endpoint.into();
        self
    }

    /// Makes the client declare that it can ask its user.
    #[must_use]
    pub fn asking(mut self) -> Self {
        self.can_ask = true;
        self
    }

    /// Makes the client give itself this name.
    #[must_use]
    pub fn called(mut self, name: &str) -> Self {
        self.name = name.into();
        self
    }

    fn capabilities(&self) -> Value {
        if self.can_ask { json!({"elicitation": {}}) } else { json!({}) }
    }

    /// Opens a session as clients of 2025 do.
    #[must_use]
    pub fn legacy(self) -> Self {
        self.try_legacy().unwrap()
    }

    /// Opens a session, or says why there is none.
    pub fn try_legacy(mut self) -> Result<Self, String> {
        let client = json!({"name": self.name, "version": "0"});
        let opening = json!({"protocolVersion": "2025-11-25", "capabilities": self.capabilities(), "clientInfo": client});
        let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening});
        let reply = self.try_post(&message).map_err(|error| error.to_string())?;
        let session = reply.header("mcp-session-id").filter(|_| reply.status == 200).map(str::to_owned);
        self.session = Some(session.ok_or_else(|| format!("{} {}", reply.status, reply.text()))?);
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let reply = self.try_post(&initialized).map_err(|error| error.to_string())?;
        match reply.status {
            202 => Ok(self),
            other => Err(format!("{other} {}", reply.text())),
        }
    }

    /// Opens the stream of the session.
    pub fn listen(&self) -> Stream {
        self.open_stream(&[])
    }

    /// Opens the stream of the session again, of which the client has the event of this id.
    pub fn listen_after(&self, event: &str) -> Stream {
        self.open_stream(&[("Last-Event-ID", event)])
    }

    fn open_stream(&self, more: &[(&str, &str)]) -> Stream {
        let bearer = format!("Bearer {}", self.token);
        let session = self.session.as_deref().unwrap_or_default();
        let mut headers =
            vec![("Authorization", &*bearer), ("Accept", "text/event-stream"), ("Mcp-Session-Id", session)];
        headers.extend(more);
        self.send(&format!("GET {}", self.endpoint), &headers, b"")
    }

    /// Ends the session, if there is one.
    pub fn close(&self) {
        if let Some(session) = &self.session {
            let bearer = format!("Bearer {}", self.token);
            let headers = [("Authorization", &bearer[..]), ("Mcp-Session-Id", session)];
            assert!(self.send(&format!("DELETE {}", self.endpoint), &headers, b"").finish().status < 300);
        }
    }

    /// The id of the session.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Sends a request with exactly this first line, these headers and this body.
    pub fn send(&self, request: &str, headers: &[(&str, &str)], body: &[u8]) -> Stream {
        Stream::of(self.open(request, headers, body).unwrap()).unwrap()
    }

    fn open(&self, request: &str, headers: &[(&str, &str)], body: &[u8]) -> io::Result<TcpStream> {
        let mut head =
            format!("{request} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        // The server may refuse the request and close before it has read everything.
        let _ = stream.write_all(format!("{head}\r\n").as_bytes()).and_then(|()| stream.write_all(body));
        Ok(stream)
    }

    /// The headers for a message.
    fn headers(&self, message: &Value) -> Vec<(String, String)> {
        let mut headers = vec![
            ("Authorization".to_owned(), format!("Bearer {}", self.token)),
            ("Content-Type".to_owned(), "application/json".to_owned()),
            ("Accept".to_owned(), "application/json, text/event-stream".to_owned()),
        ];
        let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        match &self.session {
            Some(session) => {
                add("Mcp-Session-Id", session);
                add("MCP-Protocol-Version", "2025-11-25");
            }
            None if message["method"] == "initialize" => {}
            None => {
                add("MCP-Protocol-Version", "2026-07-28");
                add("Mcp-Method", message["method"].as_str().unwrap_or_default());
                let params = &message["params"];
                if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
                    add("Mcp-Name", name);
                }
            }
        }
        headers
    }

    /// Posts a message.
    pub fn post(&self, message: &Value) -> Stream {
        Stream::of(self.open_post(message).unwrap()).unwrap()
    }

    /// Posts a message and waits for the whole response; the error says how the connection broke.
    pub fn try_post(&self, message: &Value) -> io::Result<Reply> {
        Ok(Stream::of(self.open_post(message)?)?.finish())
    }

    /// Sends a request and returns the response, whatever it is.
    pub fn try_request(&self, method: &str, parameters: Value) -> io::Result<Reply> {
        self.try_post(&self.message(method, parameters))
    }

    /// Calls a tool and returns the response, whatever it is.
    pub fn try_call(&self, tool: &str, arguments: Value) -> io::Result<Reply> {
        let mut parameters = json!({"name": tool});
        parameters["arguments"] = arguments;
        self.try_request("tools/call", parameters)
    }

    fn open_post(&self, message: &Value) -> io::Result<TcpStream> {
        let headers = self.headers(message);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        self.open(&format!("POST {}", self.endpoint), &headers, message.to_string().as_bytes())
    }

    /// Sends a request without waiting for its answer.
    pub fn begin(&self, method: &str, parameters: Value) -> Stream {
        self.post(&self.message(method, parameters))
    }

    /// Calls a tool and closes the connection after so many bytes of the answer. Yields whether that was all of it.
    pub fn call_cut(&self, tool: &str, arguments: Value, bytes: u64) -> bool {
        let mut parameters = json!({"name": tool});
        parameters["arguments"] = arguments;
        let mut read = Vec::new();
        let mut answer = self.open_post(&self.message("tools/call", parameters)).unwrap().take(bytes);
        answer.read_to_end(&mut read).unwrap();
        (read.len() as u64) < bytes
    }

    /// The next request.
    fn message(&self, method: &str, mut parameters: Value) -> Value {
        if self.session.is_none() {
            let meta = &mut parameters["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities();
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": self.name, "version": "0"});
        }
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})
    }

    /// Cancels the newest request of the session.
    pub fn cancel(&self) {
        let parameters = json!({"requestId": self.last_id.load(Ordering::Relaxed)});
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": parameters});
        assert_eq!(self.post(&cancel).finish().status, 202);
    }

    /// Sends a request and waits for its result or error.
    pub fn request(&self, method: &str, parameters: Value) -> Result<Value, Value> {
        self.begin(method, parameters).last().outcome()
    }

    /// Calls a tool.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: Value) -> Answer {
        let mut parameters = json!({"name": tool});
        parameters["arguments"] = arguments;
        match self.request("tools/call", parameters) {
            Ok(result) => Answer::from_result(&result),
            Err(error) => panic!("the call is not answered by the tool but by an error: {error}"),
        }
    }

    /// Reads a whole file and asserts success.
    #[track_caller]
    pub fn read(&self, path: &str) -> Answer {
        self.call("read_file", json!({"path": path})).ok()
    }

    /// Replaces a text that occurs once in the file.
    #[track_caller]
    pub fn replace(&self, path: &str, old: &str, new: &str) -> Answer {
        self.call("str_replace", json!({"path": path, "old_string": old, "new_string": new}))
    }
}

impl Stream {
    fn of(stream: TcpStream) -> io::Result<Self> {
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other(format!("no status in {line:?}")))?;
        let mut headers = Vec::new();
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let is_chunked =
            headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body: Box<dyn BufRead + Send> = match is_chunked {
            true => Box::new(BufReader::new(Chunked { reader, left: 0, ended: false })),
            false => Box::new(reader),
        };
        Ok(Self { status, headers, body })
    }

    /// The next message in the body; `None` at its end.
    pub fn next_message(&mut self) -> Option<Value> {
        let mut line = String::new();
        loop {
            line.clear();
            if self.body.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let text = line.trim_end();
            let data = text.strip_prefix("data: ").unwrap_or(text);
            if data.starts_with('{') {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }

    /// Reads up to the answer, past any notifications and requests.
    pub fn last(mut self) -> Message {
        loop {
            let message = self.next_message().expect("the stream ended before its answer");
            if message.get("method").is_none() {
                return Message(message);
            }
        }
    }

    /// Reads the whole body.
    #[must_use]
    pub fn finish(mut self) -> Reply {
        let mut body = Vec::new();
        // If the server closes early, the body ends there.
        let _ = self.body.read_to_end(&mut body);
        Reply { status: self.status, headers: self.headers, body }
    }
}

/// A JSON-RPC response.
#[derive(Clone, Debug)]
pub struct Message(pub Value);

impl Message {
    /// The result or the error.
    pub fn outcome(mut self) -> Result<Value, Value> {
        match self.0.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(self.0["result"].take()),
        }
    }
}

impl Reply {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The JSON-RPC error code in the body.
    #[must_use]
    pub fn code(&self) -> Option<i64> {
        serde_json::from_slice::<Value>(&self.body).ok()?["error"]["code"].as_i64()
    }
}

/// A reader that decodes a chunked body.
struct Chunked {
    reader: BufReader<TcpStream>,
    left: usize,
    ended: bool,
}

impl Read for Chunked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 && !self.ended {
            let mut line = String::new();
            // Skips the line end after the previous chunk.
            while line.trim().is_empty() {
                line.clear();
                if self.reader.read_line(&mut line)? == 0 {
                    return Ok(0);
                }
            }
            self.left = usize::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
            self.ended = self.left == 0;
        }
        let wanted = buffer.len().min(self.left);
        let read = self.reader.read(&mut buffer[..wanted])?;
        self.left -= read;
        Ok(read)
    }
}
