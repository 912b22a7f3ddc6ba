//! A client that speaks either era of MCP with the built command over standard input and output.
//!
//! It writes JSON-RPC line by line without any MCP library. So it can send invalid messages, and many calls before it
//! reads the first answer.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::answer::Answer;

/// After this long without a line from the server, a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// The command line and the environment of a server that is to be started.
#[derive(Clone, Debug)]
pub struct Launch {
    program: PathBuf,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    is_configured: bool,
    can_ask: bool,
    link: Link,
}

/// The kind of a server's standard input and output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Link {
    /// Two pipes.
    #[default]
    Pipes,
    /// Two pairs of sockets, as Node uses for the programs that it starts.
    #[cfg(unix)]
    Sockets,
    /// One terminal. It echoes its input, so requests come back too.
    #[cfg(unix)]
    Terminal,
}

/// The client's end of the server's input.
trait Input: Write + Send + fmt::Debug {}

impl<T: Write + Send + fmt::Debug> Input for T {}

/// The client's ends of the connection: the server's input and its output.
type Ends = (Box<dyn Input>, Box<dyn Read + Send>);

impl Launch {
    /// `PROGRAM serve`.
    #[must_use]
    pub fn new(program: impl AsRef<Path>) -> Self {
        Self {
            program: program.as_ref().into(),
            arguments: vec!["serve".into()],
            variables: Vec::new(),
            folder: None,
            is_configured: false,
            can_ask: false,
            link: Link::default(),
        }
    }

    /// Adds a root: `PATH` or `name=PATH`.
    #[must_use]
    pub fn workspace(self, root: impl AsRef<OsStr>) -> Self {
        self.argument("--workspace").argument(root)
    }

    /// Sets the state folder.
    #[must_use]
    pub fn state(self, path: impl AsRef<OsStr>) -> Self {
        self.argument("--state-dir").argument(path)
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().into());
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.into(), value.as_ref().into()));
        self
    }

    /// Lets the server use the configuration file from its arguments or its environment; otherwise it uses none.
    #[must_use]
    pub fn configured(mut self) -> Self {
        self.is_configured = true;
        self
    }

    /// Starts the server through this command, which runs what follows its own arguments.
    #[must_use]
    pub fn under<A: AsRef<OsStr>>(mut self, command: &str, arguments: impl IntoIterator<Item = A>) -> Self {
        let program = std::mem::replace(&mut self.program, command.into());
        let before = arguments.into_iter().map(|argument| argument.as_ref().to_owned());
        self.arguments.splice(0..0, before.chain([program.into_os_string()]));
        self
    }

    /// Sets the working folder.
    #[must_use]
    pub fn inside(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = Some(folder.as_ref().into());
        self
    }

    /// Starts the server and sends nothing yet.
    #[must_use]
    pub fn start(&self) -> Client {
        Client::start(self.command(), self.link, self.can_ask)
    }

    /// The command that starts the server.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = crate::command(&self.program);
        command.args(&self.arguments);
        if !self.is_configured {
            // This also turns off the language servers of the machine.
            command.args(["--no-config", "--notify-lsp=false"]).env("XDG_CONFIG_HOME", "/nowhere");
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    /// Makes the client declare that it can ask its user.
    #[must_use]
    pub fn asking(mut self) -> Self {
        self.can_ask = true;
        self
    }

    /// Selects the kind of standard input and output.
    #[must_use]
    pub fn over(mut self, link: Link) -> Self {
        self.link = link;
        self
    }

    /// Starts the server and opens a session, as clients of 2025 do.
    #[must_use]
    pub fn legacy(&self) -> Client {
        let mut client = self.start();
        client.initialize_legacy("2025-11-25");
        client
    }

    /// Starts the server; every request will be one of 2026.
    #[must_use]
    pub fn modern(&self) -> Client {
        let mut client = self.start();
        client.speak_modern();
        client
    }
}

/// A client with the server that it started.
#[derive(Debug)]
pub struct Client {
    child: Child,
    input: Option<Box<dyn Input>>,
    output: Receiver<Value>,
    log: Option<JoinHandle<String>>,
    /// Replies that arrived while the client waited for another one.
    early: BTreeMap<u64, Value>,
    notifications: Vec<Value>,
    /// Requests from the server that no test has taken yet.
    asked: VecDeque<Value>,
    last_id: u64,
    is_modern: bool,
    can_ask: bool,
    /// The extensions that it declares.
    extensions: Value,
}

impl Client {
    fn start(mut command: Command, link: Link, can_ask: bool) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ends: Option<Ends> = match link {
            Link::Pipes => None,
            #[cfg(unix)]
            Link::Sockets => Some(sockets(&mut command)),
            #[cfg(unix)]
            Link::Terminal => Some(terminal(&mut command)),
        };
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        // The command keeps the server's ends open.
        drop(command);
        let (input, output) = ends.unwrap_or_else(|| {
            (Box::new(child.stdin.take().unwrap()), Box::new(child.stdout.take().unwrap()))
        });
        let mut errors = child.stderr.take().unwrap();
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line)
                    .unwrap_or_else(|error| panic!("the server wrote what is not JSON: {error}: {line}"));
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        let log = thread::spawn(move || {
            let mut log = String::new();
            let _ = errors.read_to_string(&mut log);
            log
        });
        Self {
            input: Some(input),
            child,
            output: receive,
            log: Some(log),
            early: BTreeMap::new(),
            notifications: Vec::new(),
            asked: VecDeque::new(),
            last_id: 0,
            is_modern: false,
            can_ask,
            extensions: json!({}),
        }
    }

    /// Opens a session in this version of the protocol and returns the server's description of itself.
    pub fn initialize_legacy(&mut self, version: &str) -> Value {
        let client = json!({"name": "testkit", "version": "0"});
        let parameters =
            json!({"protocolVersion": version, "capabilities": self.capabilities(), "clientInfo": client});
        let result = self.request("initialize", parameters).expect("initialize is answered");
        self.write_line(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        result
    }

    /// The id of the process that was started.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    fn capabilities(&self) -> Value {
        let mut capabilities = if self.can_ask { json!({"elicitation": {}}) } else { json!({}) };
        if self.extensions != json!({}) {
            capabilities["extensions"] = self.extensions.clone();
        }
        capabilities
    }

    /// Declares an extension, from the next request or the opening of the session on.
    pub fn declare(&mut self, extension: &str, settings: Value) {
        self.extensions[extension] = settings;
    }

    /// Makes every further request carry its version and capabilities, without a session.
    pub fn speak_modern(&mut self) {
        self.is_modern = true;
    }

    /// Writes any line.
    pub fn write_line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the input is open");
        match input.write_all(format!("{line}\n").as_bytes()) {
            // The server has ended. Waiting for its reply will show that.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
            written => written.expect("the server reads"),
        }
    }

    /// Sends a request without waiting for its reply. Returns the id.
    pub fn send(&mut self, method: &str, mut parameters: Value) -> u64 {
        self.last_id += 1;
        if self.is_modern {
            let capabilities = self.capabilities();
            let meta = &mut parameters["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
            meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "testkit", "version": "0"});
        }
        let mut request = json!({"jsonrpc": "2.0", "id": self.last_id, "method": method});
        request["params"] = parameters;
        self.write_line(&request.to_string());
        self.last_id
    }

    /// Sends a tool call without waiting for its answer. Returns the id.
    pub fn send_call(&mut self, tool: &str, arguments: Value) -> u64 {
        let mut parameters = json!({"name": tool});
        parameters["arguments"] = arguments;
        self.send("tools/call", parameters)
    }

    /// Sends a tool call with this token for progress notifications. Returns the id.
    pub fn send_call_with_token(&mut self, tool: &str, arguments: Value, token: &Value) -> u64 {
        let mut parameters = json!({"name": tool, "_meta": {"progressToken": token}});
        parameters["arguments"] = arguments;
        self.send("tools/call", parameters)
    }

    /// Takes the notifications that arrived since the last call.
    pub fn take_notifications(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.notifications)
    }

    /// Waits for the next notification of this method, takes it and returns its parameters.
    #[track_caller]
    pub fn notified(&mut self, method: &str) -> Value {
        loop {
            let is_it = |notification: &Value| notification["method"] == method;
            if let Some(at) = self.notifications.iter().position(is_it) {
                return self.notifications.remove(at)["params"].take();
            }
            match self.output.recv_timeout(PATIENCE) {
                Ok(message) => self.put_aside(message),
                Err(_) => panic!("no {method}; the server says:\n{}", self.end_and_read_log()),
            }
        }
    }

    /// Cancels a request.
    pub fn cancel(&mut self, id: u64) {
        let parameters = json!({"requestId": id, "reason": "a test"});
        let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": parameters});
        self.write_line(&cancelled.to_string());
    }

    /// Subscribes by a request of 2026 and waits until the server acknowledges it. Returns the id of the request and
    /// the part of the filter that the server accepted.
    #[track_caller]
    pub fn listen(&mut self, filter: &Value) -> (u64, Value) {
        let id = self.send("subscriptions/listen", json!({"notifications": filter}));
        let mut acknowledged = self.notified("notifications/subscriptions/acknowledged");
        (id, acknowledged["notifications"].take())
    }

    /// Waits for the result or the error of a request.
    pub fn wait(&mut self, id: u64) -> Result<Value, Value> {
        match self.reply(id) {
            Some(reply) => reply,
            None => panic!("the server ended before its reply; it says:\n{}", self.end_and_read_log()),
        }
    }

    /// Waits for the reply to a request; `None` if the server ends first.
    fn reply(&mut self, id: u64) -> Option<Result<Value, Value>> {
        let mut reply = match self.early.remove(&id) {
            Some(reply) => reply,
            None => self.read_until(Some(id))?,
        };
        Some(match reply.get_mut("error") {
            Some(error) => Err(error.take()),
            None => Ok(reply["result"].take()),
        })
    }

    /// Reads up to the reply to this request, or up to the server's next request if none is given.
    fn read_until(&mut self, wanted: Option<u64>) -> Option<Value> {
        loop {
            let message = match self.output.recv_timeout(PATIENCE) {
                Ok(message) => message,
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    panic!(
                        "nothing comes for request {wanted:?}; the server says:\n{}",
                        self.end_and_read_log()
                    )
                }
            };
            if message["method"].is_null() && message["id"].as_u64().is_some_and(|id| Some(id) == wanted) {
                return Some(message);
            }
            self.put_aside(message);
            if wanted.is_none() && !self.asked.is_empty() {
                return self.asked.pop_front();
            }
        }
    }

    /// Keeps a message that nobody waits for.
    fn put_aside(&mut self, message: Value) {
        match message["id"].as_u64() {
            Some(_) if message["method"].is_string() => self.asked.push_back(message),
            Some(id) => drop(self.early.insert(id, message)),
            // An error without the id of a request also ends up here.
            None => self.notifications.push(message),
        }
    }

    /// Whether the reply to this request has arrived. Does not wait.
    #[must_use]
    pub fn has_reply(&mut self, id: u64) -> bool {
        while let Ok(message) = self.output.try_recv() {
            self.put_aside(message);
        }
        self.early.contains_key(&id)
    }

    /// Waits for a request from the server.
    pub fn wait_for_request(&mut self) -> Value {
        let waiting = self.asked.pop_front();
        waiting.or_else(|| self.read_until(None)).expect("the server asks before it ends")
    }

    /// Answers a request from the server.
    pub fn respond(&mut self, request: &Value, result: Value) {
        let mut response = json!({"jsonrpc": "2.0", "id": request["id"]});
        response["result"] = result;
        self.write_line(&response.to_string());
    }

    /// Waits for the answer to a tool call.
    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Answer {
        match self.wait(id) {
            Ok(result) => Answer::from_result(&result),
            Err(error) => panic!("the call is not answered by the tool but by an error: {error}"),
        }
    }

    /// Waits for the answer to a tool call; `None` if the server ends first.
    #[track_caller]
    pub fn try_answer(&mut self, id: u64) -> Option<Answer> {
        match self.reply(id)? {
            Ok(result) => Some(Answer::from_result(&result)),
            Err(error) => panic!("the call is not answered by the tool but by an error: {error}"),
        }
    }

    /// Sends a request and waits for its result or error.
    pub fn request(&mut self, method: &str, parameters: Value) -> Result<Value, Value> {
        let id = self.send(method, parameters);
        self.wait(id)
    }

    /// Calls a tool.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let id = self.send_call(tool, arguments);
        self.answer(id)
    }

    /// Reads a whole file and asserts success.
    #[track_caller]
    pub fn read(&mut self, path: &str) -> Answer {
        self.call("read_file", json!({"path": path})).ok()
    }

    /// Replaces a text that occurs once in the file.
    #[track_caller]
    pub fn replace(&mut self, path: &str, old: &str, new: &str) -> Answer {
        self.call("str_replace", json!({"path": path, "old_string": old, "new_string": new}))
    }

    /// Applies a V4A patch, given without its first and last line.
    #[track_caller]
    pub fn patch(&mut self, inner: &str) -> Answer {
        self.call("apply_patch", json!({"patch": patch(inner)}))
    }

    /// Previews an edit, given as a tool and its arguments.
    #[track_caller]
    pub fn preview(&mut self, tool: &str, arguments: Value) -> Answer {
        let Value::Object(mut arguments) = arguments else { panic!("arguments are an object") };
        arguments.insert("tool".into(), tool.into());
        self.call("edit_preview", arguments.into())
    }

    /// All tools in the server's list.
    pub fn tools(&mut self) -> Vec<Value> {
        let result = self.request("tools/list", Value::Object(Map::new())).expect("tools are listed");
        result["tools"].as_array().cloned().expect("a list of tools")
    }

    /// Closes the connection. Returns the server's exit status and its log.
    pub fn close(mut self) -> (ExitStatus, String) {
        drop(self.input.take());
        while let Ok(_unread) = self.output.recv_timeout(PATIENCE) {}
        let log = self.end_and_read_log();
        (self.child.wait().unwrap(), log)
    }

    /// Kills the server, with its input open.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal to the server.
    #[cfg(unix)]
    pub fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        rustix::process::kill_process(process, signal).unwrap();
    }

    /// Waits until the server ends, with its input open. Returns the exit status and the log.
    pub fn end(mut self) -> (ExitStatus, String) {
        loop {
            match self.output.recv_timeout(PATIENCE) {
                Ok(_unread) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("it does not end; it says:\n{}", self.end_and_read_log())
                }
            }
        }
        let status = self.child.wait().unwrap();
        (status, self.end_and_read_log())
    }

    fn end_and_read_log(&mut self) -> String {
        drop(self.input.take());
        if !matches!(self.output.try_recv(), Err(mpsc::TryRecvError::Disconnected)) {
            let _ = self.child.kill();
        }
        self.log.take().and_then(|log| log.join().ok()).unwrap_or_default()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Connects a command by two pairs of sockets.
#[cfg(unix)]
fn sockets(command: &mut Command) -> Ends {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    let ((input, theirs), (output, others)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
    command.stdin(OwnedFd::from(theirs)).stdout(OwnedFd::from(others));
    (Box::new(input), Box::new(output))
}

/// Connects a command by a terminal.
#[cfg(unix)]
fn terminal(command: &mut Command) -> Ends {
    let (master, open) = crate::terminal::new();
    command.stdin(open()).stdout(open());
    (Box::new(master.try_clone().unwrap()), Box::new(master))
}

/// Adds the first and the last line to a V4A patch.
#[must_use]
pub fn patch(inner: &str) -> String {
    format!("*** Begin Patch\n{}\n*** End Patch\n", inner.trim_end_matches('\n'))
}
