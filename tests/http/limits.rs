//! The limits of the HTTP server, tested in this process, where they can be small.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use emend_server::Emend;
use emend_server::http::{HostGuard, Limits, Tokens, serve_http};
use emend_testkit::{Answer, Folder, Http};
use emend_workspace::{Mode, Policy, RootSpec, Settings, Workspace, disk};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

const TOKEN: &str = "a-token-of-some-length";
const OTHER: &str = "another-token-of-some-length";
/// After this long a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with these limits, for as long as this lives.
struct Server {
    client: Http,
    address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

fn serve(folder: &Folder, limits: Limits) -> Server {
    serve_with(folder, limits, &Settings::default())
}

fn serve_with(folder: &Folder, limits: Limits, settings: &Settings) -> Server {
    let roots = [RootSpec { name: None, path: folder.path().into() }];
    let (state, policy) = (Some(folder.state()), Policy::new(settings).unwrap());
    let workspace = Workspace::open_with_policy(disk::for_this_machine(), &roots, state, &policy).unwrap();
    let (told, stop) = oneshot::channel();
    let (announce, announced) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            announce.send(listener.local_addr().unwrap()).unwrap();
            let emend = Emend::new(Ok(workspace));
            let tokens = Tokens::parse(&format!("ann {TOKEN}\nben {OTHER}")).unwrap();
            let handler = move |principal: &_| Ok(emend.for_session_of(principal));
            let stop = async { drop(stop.await) };
            serve_http(listener, std::sync::Arc::new(tokens), HostGuard::default(), limits, handler, stop)
                .await;
        });
    });
    let address = announced.recv().unwrap();
    Server { client: Http::new(address, TOKEN), address, _stop: told }
}

impl Server {
    /// A connection on which nothing is said.
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// A client with the other token.
    fn other(&self) -> Http {
        Http::new(self.address, OTHER)
    }
}

/// Waits until the server closes a connection.
fn closed(stream: &mut TcpStream) -> Vec<u8> {
    let mut read = Vec::new();
    match stream.read_to_end(&mut read) {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            panic!("the connection stays open")
        }
        _ => read,
    }
}

fn list() -> serde_json::Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
}

#[test]
fn a_request_that_is_too_large_is_refused_and_the_next_one_answered() {
    let folder = Folder::new();
    let server = serve(&folder, Limits { body_bytes: 10_000, ..Limits::default() });
    let write = |length| {
        let arguments = json!({"path": "a.txt", "content": "x".repeat(length)});
        server.client.begin("tools/call", json!({"name": "write_file", "arguments": arguments})).finish()
    };
    let refused = write(20_000);
    assert_eq!((refused.status, refused.code()), (413, Some(-32600)));
    assert!(!folder.has("a.txt"));
    assert_eq!(write(5_000).status, 200);
    assert_eq!(folder.text("a.txt").len(), 5_000);
}

/// Sends a request and reads its answer. Yields the status.
fn ask(stream: &mut TcpStream, head: &str, body: &[u8]) -> u16 {
    // The body comes later than the head, which may suffice for a refusal.
    stream.write_all(format!("{head}\r\nHost: localhost\r\n").as_bytes()).unwrap();
    stream.write_all(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut answer = String::new();
    let mut reader = BufReader::new(stream);
    while !answer.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut answer).unwrap(), 0, "the connection is closed: {answer:?}");
    }
    let length =
        answer.to_ascii_lowercase().split_once("content-length: ").unwrap().1.lines().next().unwrap().parse();
    reader.read_exact(&mut vec![0; length.unwrap()]).unwrap();
    answer[9..12].parse().unwrap()
}

#[test]
fn a_refusal_is_not_lost_while_the_body_still_comes() {
    let folder = Folder::new();
    let server = serve(&folder, Limits { body_bytes: 100_000, rest: PATIENCE, ..Limits::default() });
    let mut stream = server.connect();
    let bearer = format!("Authorization: Bearer {TOKEN}");
    for (head, status) in [
        ("POST /mcp HTTP/1.1".to_owned(), 401),
        ("POST /else HTTP/1.1".to_owned(), 404),
        ("POST /healthz HTTP/1.1".to_owned(), 405),
        ("POST /mcp HTTP/1.1\r\nOrigin: http://example.com".to_owned(), 403),
        (format!("DELETE /mcp HTTP/1.1\r\n{bearer}"), 400),
        (format!("POST /mcp HTTP/1.1\r\n{bearer}"), 413),
        (format!("POST /mcp HTTP/1.1\r\n{bearer}"), 413),
    ] {
        // A connection that is still there has lost nothing.
        assert_eq!(ask(&mut stream, &head, &[b'x'; 190_000]), status, "{head}");
    }
}

#[test]
fn a_refusal_does_not_wait_for_ever_for_the_body() {
    let folder = Folder::new();
    let server = serve(&folder, Limits { rest: Duration::from_millis(1), ..Limits::default() });
    let mut stream = server.connect();
    stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n").unwrap();
    assert!(closed(&mut stream).starts_with(b"HTTP/1.1 401 "));
    // One that never ends is not taken in, however fast it comes.
    let server = serve(&folder, Limits { rest: PATIENCE * 2, ..Limits::default() });
    let mut stream = server.connect();
    stream
        .write_all(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000000\r\n\r\n")
        .unwrap();
    let error = loop {
        if let Err(error) = stream.write_all(&[b'x'; 10_000]) {
            break error.kind();
        }
    };
    assert!(!matches!(error, ErrorKind::WouldBlock | ErrorKind::TimedOut), "the connection stays open");
}

#[test]
fn a_token_opens_only_so_many_sessions_until_one_ends() {
    let folder = Folder::new();
    let server = serve(&folder, Limits { sessions: 2, ..Limits::default() });
    let first = server.client.clone().legacy();
    let _second = server.client.clone().legacy();
    let opening = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "0"}});
    let open = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening});
    assert_eq!(server.client.post(&open).finish().status, 503);
    assert_eq!(
        server.client.begin("tools/list", json!({})).finish().status,
        200,
        "a single request needs no session"
    );
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Authorization", &bearer[..]), ("Mcp-Session-Id", first.session().unwrap())];
    assert_eq!(first.send("DELETE /mcp", &headers, b"").finish().status, 204);
    assert_eq!(first.post(&list()).finish().status, 404);
    let _third = server.client.clone().legacy();
}

#[test]
fn a_token_listens_only_so_many_times_at_once() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = serve(&folder, Limits { listeners: 2, ..Limits::default() });
    let listen = || {
        let wanted = json!({"notifications": {"resourcesListChanged": true}});
        server.client.begin("subscriptions/listen", wanted)
    };
    let (first, second) = (listen(), listen());
    assert_eq!((first.status, second.status), (200, 200));
    assert_eq!(listen().finish().status, 503);
    server.client.read("a.txt");
    drop(first);
    // The server finds out a moment later.
    while listen().status != 200 {
        std::thread::yield_now();
    }
}

#[test]
fn a_session_that_nobody_uses_ends_with_all_that_it_remembers() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = serve(&folder, Limits { session_idle: Duration::from_millis(1), ..Limits::default() });
    let opening = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "0"}});
    let open = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening});
    // Nothing more is sent to open it: it may be over by then.
    let opened = server.client.post(&open).finish();
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("Authorization", &bearer[..]),
        ("Mcp-Session-Id", opened.header("mcp-session-id").unwrap()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2025-11-25"),
    ];
    let body = list().to_string();
    while server.client.send("POST /mcp", &headers, body.as_bytes()).finish().status != 404 {
        std::thread::yield_now();
    }
}

#[test]
fn more_requests_than_can_be_answered_at_once_are_told_to_come_again() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = serve(&folder, Limits { requests: 1, ..Limits::default() });
    let lock = std::fs::File::open(folder.path()).unwrap();
    lock.lock().unwrap();
    let client = server.client.clone();
    let waiting = std::thread::spawn(move || {
        let arguments = json!({"path": "a.txt", "old_string": "one", "new_string": "two"});
        // One that is told to come again does.
        loop {
            let call = json!({"name": "str_replace", "arguments": arguments});
            let stream = client.begin("tools/call", call);
            if stream.status == 200 {
                return stream.last().outcome().unwrap();
            }
        }
    });
    // It does not get its turn; so sooner or later this one is in its way.
    let refused = loop {
        let reply = server.client.begin("tools/list", json!({})).finish();
        if reply.status != 200 {
            break reply;
        }
    };
    assert_eq!(refused.status, 503);
    assert!(refused.header("retry-after").is_some());
    drop(lock);
    assert_eq!(waiting.join().unwrap()["isError"], false);
    server.client.read("a.txt");
}

#[test]
fn the_answer_to_a_question_comes_in_however_many_wait_for_theirs() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let settings = Settings { mode: Some(Mode::Ask), ..Settings::default() };
    let server = serve_with(&folder, Limits { requests: 1, ..Limits::default() }, &settings);
    let client = server.client.clone().asking().legacy();
    let change = json!({"path": "a.txt", "old_string": "one", "new_string": "two"});
    let mut stream = client.begin("tools/call", json!({"name": "str_replace", "arguments": change}));
    let asked = stream.next_message().unwrap();
    assert_eq!(client.post(&list()).finish().status, 503);
    let yes = json!({"action": "accept", "content": {"approve": true}});
    let said = json!({"jsonrpc": "2.0", "id": asked["id"], "result": yes});
    assert_eq!(client.post(&said).finish().status, 202);
    Answer::from_result(&stream.last().outcome().unwrap()).ok();
    assert_eq!(folder.text("a.txt"), "two\n");
}

#[test]
fn a_connection_that_shows_no_token_is_closed() {
    let folder = Folder::new();
    let server = serve(&folder, Limits { token: Duration::from_millis(1), ..Limits::default() });
    for said in ["", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: "] {
        let mut stream = server.connect();
        // It may be closed by now.
        let _ = stream.write_all(said.as_bytes());
        closed(&mut stream);
    }
}

#[test]
fn whoever_opens_all_connections_and_is_silent_locks_nobody_out() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = serve(&folder, Limits { connections: 4, token: PATIENCE * 2, ..Limits::default() });
    let mut silent: Vec<TcpStream> = (0..8).map(|_| server.connect()).collect();
    server.client.read("a.txt");
    // The oldest have made room.
    closed(&mut silent[0]);
}

#[test]
fn no_token_takes_the_connections_of_another() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = serve(&folder, Limits { connections: 6, ..Limits::default() });
    let listen = || {
        let wanted = json!({"notifications": {"resourcesListChanged": true}});
        server.client.begin("subscriptions/listen", wanted)
    };
    let mut held = Vec::new();
    let refused = loop {
        let stream = listen();
        if stream.status != 200 {
            break stream.finish();
        }
        held.push(stream);
    };
    assert_eq!((refused.status, held.len()), (503, 3));
    assert!(refused.header("retry-after").is_some());
    server.other().read("a.txt");
    drop(held);
    // The server finds out a moment later.
    while listen().status != 200 {
        std::thread::yield_now();
    }
}

#[test]
fn a_client_that_reads_no_answers_is_not_kept() {
    let folder = Folder::with([("a.txt", &*"x".repeat(100_000))]);
    let server = serve(&folder, Limits { unread: Duration::from_millis(1), ..Limits::default() });
    let mut stream = server.connect();
    let head = format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n");
    let error = loop {
        if let Err(error) = stream.write_all(head.as_bytes()) {
            break error.kind();
        }
    };
    assert!(!matches!(error, ErrorKind::WouldBlock | ErrorKind::TimedOut), "the connection stays open");
}

#[test]
fn what_is_sent_counts_while_it_comes_and_small_calls_are_always_taken() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let limits = Limits { bytes_of_token: 100_000, bytes_of_all: 150_000, ..Limits::default() };
    let server = serve(&folder, limits);
    let send = |token: &str, length: usize, promised: usize| {
        let mut stream = server.connect();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Length: {promised}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&vec![b'x'; length]).unwrap();
        stream
    };
    let status = |mut stream: TcpStream| {
        let mut head = [0; 12];
        stream.read_exact(&mut head).unwrap();
        String::from_utf8_lossy(&head[9..]).into_owned()
    };
    // More than one token may have sent.
    assert_eq!(status(send(TOKEN, 200_000, 200_000)), "503");
    let write = |client: &Http, name: &str, length: usize| {
        let arguments = json!({"path": name, "content": "x".repeat(length)});
        client.begin("tools/call", json!({"name": "write_file", "arguments": arguments})).finish().status
    };
    let give_up = |mut stream: TcpStream| {
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        closed(&mut stream);
    };
    let first = loop {
        let first = send(TOKEN, 150_000, 1_000_000);
        if write(&server.client, "b.txt", 150_000) == 503 {
            break first;
        }
        // It was faster, and perhaps took the room.
        std::fs::remove_file(folder.at("b.txt")).unwrap();
        give_up(first);
    };
    // Others have what is left of all.
    assert_eq!(write(&server.other(), "c.txt", 150_000), 503);
    assert_eq!(write(&server.other(), "d.txt", 80_000), 200);
    assert_eq!(write(&server.client, "e.txt", 50_000), 200);
    // It gives up, and what it has sent counts no longer.
    give_up(first);
    while write(&server.client, "b.txt", 150_000) == 503 {
        std::thread::yield_now();
    }
    assert_eq!(folder.text("b.txt").len(), 150_000);
}

#[test]
fn a_head_that_is_too_large_is_not_taken_in() {
    let folder = Folder::new();
    let server = serve(&folder, Limits::default());
    let long = "x".repeat(100_000);
    assert_eq!(server.client.send("GET /healthz", &[("X-Long", &long)], b"").status, 431);
    let long = "x".repeat(30_000);
    assert_eq!(server.client.send("GET /healthz", &[("X-Long", &long)], b"").status, 200);
}
