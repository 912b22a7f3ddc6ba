//! A chat endpoint on loopback that plays a script: [`ChatEndpoint`], for tests of what asks an apply model.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

/// An answer of the endpoint.
#[derive(Clone, Debug)]
pub enum Say {
    /// A chat completion with this text.
    Text(String),
    /// This status and body, with these headers, each `Name: value`.
    Raw(u16, Vec<&'static str>, Vec<u8>),
    /// No answer until the test lets go, then a completion with this text.
    Held(String),
    /// The connection is closed after these bytes.
    Broken(Vec<u8>),
    /// Bytes until the client hangs up.
    Endless,
}

impl Say {
    /// A chat completion with this text.
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// A request that the endpoint has received.
#[derive(Clone, Debug)]
pub struct Heard {
    /// The request line and the headers.
    pub head: String,
    /// The body.
    pub body: Value,
}

impl Heard {
    /// Returns the content of the message at this position.
    #[must_use]
    pub fn message(&self, at: usize) -> String {
        self.body["messages"][at]["content"].as_str().unwrap_or_default().to_owned()
    }
}

/// A chat endpoint on loopback. It gives one answer of its script to each request, and 500 when none is left.
#[derive(Debug)]
pub struct ChatEndpoint {
    port: u16,
    heard: Arc<Mutex<Vec<Heard>>>,
    arrivals: Receiver<()>,
    release: Sender<()>,
}

impl ChatEndpoint {
    /// Starts an endpoint with this script.
    #[must_use]
    pub fn start(script: impl IntoIterator<Item = Say>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Arc::new(Mutex::new(script.into_iter().collect::<Vec<_>>().into_iter()));
        let heard: Arc<Mutex<Vec<Heard>>> = Arc::default();
        let (arrived, arrivals) = channel();
        let (release, held) = channel();
        let (held, log) = (Arc::new(Mutex::new(held)), Arc::clone(&heard));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let (script, log, held, arrived) =
                    (Arc::clone(&script), Arc::clone(&log), Arc::clone(&held), arrived.clone());
                thread::spawn(move || {
                    let mut stream = stream;
                    let Some(request) = hear(&mut stream) else { return };
                    log.lock().unwrap().push(request);
                    let say = script.lock().unwrap().next();
                    // The test may be over.
                    let _ = arrived.send(());
                    answer(
                        &mut stream,
                        say.unwrap_or(Say::Raw(500, Vec::new(), b"the script is over".to_vec())),
                        &held,
                    );
                });
            }
        });
        Self { port, heard, arrivals, release }
    }

    /// Returns the address of the endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1/chat/completions", self.port)
    }

    /// Waits until the next request has arrived.
    pub fn await_request(&self) {
        self.arrivals.recv().unwrap();
    }

    /// Lets an answer go that is [held](Say::Held).
    pub fn release(&self) {
        self.release.send(()).unwrap();
    }

    /// Returns the requests so far.
    #[must_use]
    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap().clone()
    }
}

fn hear(stream: &mut TcpStream) -> Option<Heard> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        (stream.read(&mut byte).ok()? == 1).then(|| head.push(byte[0]))?;
    }
    let head = String::from_utf8(head).ok()?;
    let length = |line: &str| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    };
    let mut body = vec![0; head.lines().find_map(length).unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some(Heard { head, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
}

fn answer(stream: &mut TcpStream, say: Say, held: &Mutex<Receiver<()>>) {
    let completion = |text: &str| {
        let message = json!({ "role": "assistant", "content": text });
        json!({ "object": "chat.completion", "choices": [{ "index": 0, "finish_reason": "stop", "message": message }] })
            .to_string()
    };
    // Every write may fail: the client may have hung up, which is what some tests are about.
    match say {
        Say::Text(text) => drop(write(stream, 200, &[], completion(&text).as_bytes())),
        Say::Raw(status, headers, body) => drop(write(stream, status, &headers, &body)),
        Say::Held(text) => {
            let _ = held.lock().unwrap().recv();
            drop(write(stream, 200, &[], completion(&text).as_bytes()));
        }
        Say::Broken(bytes) => drop(stream.write_all(&bytes)),
        Say::Endless => {
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"choices\":\"");
            while stream.write_all(&[b'a'; 4096]).is_ok() {}
        }
    }
}

fn write(stream: &mut TcpStream, status: u16, headers: &[&str], body: &[u8]) -> std::io::Result<()> {
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let head = format!(
        "HTTP/1.1 {status} Scripted\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}
