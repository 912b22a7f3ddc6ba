//! The limits of the HTTP server, in this process, where they can be small.

use std::time::Duration;

use emend_server::Emend;
use emend_server::http::{Guard, Limits, Tokens, serve_http};
use emend_testkit::{Answer, Folder, Http};
use emend_workspace::{Mode, Policy, RootSpec, Settings, Workspace, disk};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

const TOKEN: &str = "a-token-of-some-length";

/// A server with these limits, for as long as this lives.
struct Server {
    client: Http,
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
            let tokens = Tokens::parse(&format!("ann {TOKEN}")).unwrap();
            let handler = move |token: &_| emend.for_session_of(token);
            let stop = async { drop(stop.await) };
            serve_http(listener, tokens, Guard::default(), limits, handler, stop).await;
        });
    });
    Server { client: Http::new(announced.recv().unwrap(), TOKEN), _stop: told }
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
    Answer::of(&stream.last().outcome().unwrap()).ok();
    assert_eq!(folder.text("a.txt"), "two\n");
}
