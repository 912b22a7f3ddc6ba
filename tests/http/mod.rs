//! Streamable HTTP with the built command: both eras, access, and what two clients share, which is only files.

mod limits;
mod scopes;

#[cfg(target_os = "linux")]
use std::io::Write;

use emend_testkit::client::patch;
use emend_testkit::{Folder, Http, HttpServer};
use serde_json::{Value, json};

use crate::launch;

const ANN: &str = "ann-has-this-long-token";
const BEN: &str = "ben-has-that-long-token";

fn serve(folder: &Folder) -> HttpServer {
    HttpServer::start(&launch(folder))
}

/// A server that tells of progress from the first moment.
fn serve_at_once(folder: &Folder) -> HttpServer {
    HttpServer::start(&launch(folder).variable("EMEND_PROGRESS_AFTER", "0"))
}

/// A server with two tokens, and a client with each.
fn serve_two(folder: &Folder) -> (HttpServer, Http, Http) {
    let tokens = [("ann", ANN), ("ben", BEN)];
    let server = HttpServer::with_tokens(&launch(folder), &folder.beside("tokens"), &tokens);
    let (ann, ben) = (Http::new(server.address(), ANN), Http::new(server.address(), BEN));
    (server, ann, ben)
}

#[test]
fn both_eras_list_the_same_tools_and_edit() {
    let run = |open: fn(Http) -> Http| {
        let folder = Folder::with([("a.txt", "one\ntwo\n")]);
        let server = serve(&folder);
        let client = open(server.client());
        let mut tools = client.request("tools/list", json!({})).unwrap();
        let read = client.read("a.txt");
        let edit = client.replace("a.txt", "two", "2").ok();
        assert_eq!(folder.text("a.txt"), "one\n2\n");
        client.call("undo_edit", json!({"edit": edit.structured["edit"]})).ok();
        assert_eq!(folder.text("a.txt"), "one\ntwo\n");
        (tools["tools"].take(), read)
    };
    let (legacy, modern) = (run(Http::legacy), run(|client| client));
    assert_eq!(legacy, modern);
    let over_stdio: Value = launch(&Folder::new()).modern().tools().into();
    assert_eq!(legacy.0, over_stdio);
}

#[test]
fn whoever_asks_is_told_that_the_server_is_well_and_nothing_else() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = serve(&folder);
    let client = server.client();
    let health = client.send("GET /healthz", &[], b"").finish();
    assert_eq!((health.status, health.text().as_str()), (200, "ok\n"));
    assert_eq!(client.send("POST /healthz", &[], b"").finish().status, 405);
    for path in ["/", "/mcp/", "/mcp/x", "/sse", "/..%2fmcp"] {
        assert_eq!(client.send(&format!("GET {path}"), &[], b"").finish().status, 404, "{path}");
    }
}

const LIST: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

#[test]
fn nobody_is_served_without_a_token() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = serve(&folder);
    let token = server.token();
    let values = [
        None,
        Some(String::new()),
        Some("Bearer".into()),
        Some("Bearer ".into()),
        Some(token.to_owned()),
        Some(format!("Basic {token}")),
        Some(format!("Bearer {token}x")),
        Some(format!("Bearer {}", &token[1..])),
        Some(format!("Bearer {}", token.to_uppercase())),
    ];
    let client = server.client();
    for method in ["POST", "GET", "DELETE"] {
        for value in &values {
            let headers: Vec<(&str, &str)> =
                value.iter().map(|value| ("Authorization", &value[..])).collect();
            let reply = client.send(&format!("{method} /mcp"), &headers, LIST).finish();
            assert_eq!(reply.status, 401, "{method} {value:?}");
            assert!(reply.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")));
            assert!(!reply.text().contains(token));
        }
    }
    let right = format!("bearer {token}");
    let twice = [("Authorization", &right[..]), ("Authorization", "Bearer x")];
    assert_eq!(client.send("POST /mcp", &twice, LIST).finish().status, 401);
    let in_address = format!("POST /mcp?access_token={token}");
    assert_eq!(client.send(&in_address, &[], LIST).finish().status, 401);
}

#[test]
fn a_foreign_host_or_origin_is_refused_even_with_a_token() {
    let folder = Folder::new();
    let server = serve(&folder);
    let bearer = format!("Bearer {}", server.token());
    let status = |headers: &[(&str, &str)]| {
        let mut all = vec![("Authorization", &bearer[..]), ("Content-Type", "application/json")];
        all.extend([
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2026-07-28"),
        ]);
        all.extend(headers);
        let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "0"},
        }}});
        all.push(("Mcp-Method", "server/discover"));
        server.client().send("POST /mcp", &all, discover.to_string().as_bytes()).finish().status
    };
    assert_eq!(status(&[]), 200);
    for allowed in ["localhost", "127.0.0.1:1", "[::1]:9"] {
        assert_eq!(status(&[("Host", allowed)]), 200, "{allowed}");
    }
    for foreign in
        ["evil.example", "localhost.evil.example", "127.0.0.2", "", "[::1].evil.example", "localhost:evil"]
    {
        assert_eq!(status(&[("Host", foreign)]), 403, "{foreign}");
    }
    assert_eq!(status(&[("Origin", "http://localhost:6274")]), 200);
    for foreign in ["https://evil.example", "null", "file://", "http://localhost.evil.example"] {
        assert_eq!(status(&[("Origin", foreign)]), 403, "{foreign}");
    }
    let other = HttpServer::start(
        &launch(&folder)
            .argument("--allow-host")
            .argument("e.example")
            .argument("--allow-origin")
            .argument("https://a.example"),
    );
    let headers = [("Host", "e.example:80"), ("Origin", "https://a.example"), ("Authorization", "Bearer x")];
    assert_eq!(
        other.client().send("POST /mcp", &headers, LIST).finish().status,
        401,
        "only the token is wrong"
    );
}

#[test]
fn tokens_come_from_a_file_that_others_cannot_write() {
    let folder = Folder::new();
    let refused = |content: &str, mode: u32| {
        let file = folder.beside("tokens");
        std::fs::write(&file, content).unwrap();
        #[cfg(unix)]
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        let _ = mode;
        let mut command = emend_testkit::command(crate::EMEND);
        command.args(["serve", "--no-config", "--http", "0", "--workspace"]).arg(folder.path());
        command.env("XDG_CONFIG_HOME", "/nowhere");
        let output =
            command.arg("--state-dir").arg(folder.state()).arg("--tokens").arg(&file).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && !said.contains("secret"), "{said}");
    };
    refused("ann secret\n", 0o600);
    refused("ann secret-secret-secret-secret\nann secret-secret-secret-other\n", 0o600);
    refused("\n", 0o600);
    #[cfg(unix)]
    refused("ann secret-secret-secret-secret\n", 0o622);
}

#[test]
fn tokens_that_a_variable_names_are_taken_and_are_in_nobodys_way() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let file = folder.beside("tokens");
    std::fs::write(&file, format!("ann {ANN}\n")).unwrap();
    let launch = launch(&folder).variable("EMEND_TOKENS", &file);
    let server = HttpServer::start(&launch);
    Http::new(server.address(), ANN).read("a.txt");
    // Over standard input and output there are none.
    launch.legacy().read("a.txt");
}

#[test]
fn what_one_client_has_read_counts_for_no_other() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let (_server, ann, ben) = serve_two(&folder);
    let write = |client: &Http| client.call("write_file", json!({"path": "a.txt", "content": "two\n"}));
    let reader = ann.clone().legacy();
    reader.read("a.txt");
    write(&ann.clone().legacy()).refused("not-read");
    write(&ann).refused("not-read");
    write(&ben.clone().legacy()).refused("not-read");
    assert_eq!(folder.text("a.txt"), "one\n");
    write(&reader).ok();
    assert_eq!(folder.text("a.txt"), "two\n");
}

#[test]
fn a_request_of_2026_remembers_nothing_and_relies_on_versions() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let (_server, ann, _) = serve_two(&folder);
    let version = ann.read("a.txt").version();
    let write = |version: Value| {
        ann.call("write_file", json!({"path": "a.txt", "content": "two\n", "version": version}))
    };
    write(Value::Null).refused("not-read");
    folder.write("a.txt", "other\n");
    write(version.clone().into()).refused("stale-file");
    assert_eq!(folder.text("a.txt"), "other\n");
    write(ann.read("a.txt").version().into()).ok();
    ann.call("undo_edit", json!({})).refused("invalid-argument");
    ann.call("undo_edit", json!({"path": "a.txt"})).refused("invalid-argument");
    ann.call("edit_history", json!({"net": true})).refused("invalid-argument");
    let told = ann.call("edit_history", json!({})).ok().text;
    assert!(told.contains("testkit (ann)") && !told.contains("(you)"), "{told}");
    assert_eq!(folder.text("a.txt"), "two\n");
}

#[test]
fn a_session_belongs_to_its_token() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let (_server, ann, _) = serve_two(&folder);
    let ann = ann.legacy();
    ann.read("a.txt");
    let thief = ann.with_token(BEN);
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(thief.post(&list).finish().status, 404);
    let bearer = format!("Bearer {BEN}");
    let headers = [("Authorization", &bearer[..]), ("Mcp-Session-Id", ann.session().unwrap())];
    let stream = [("Accept", "text/event-stream"), headers[0], headers[1]];
    assert_eq!(thief.send("GET /mcp", &stream, b"").finish().status, 404);
    assert!(thief.send("DELETE /mcp", &headers, b"").finish().status >= 202);
    ann.read("a.txt");
}

#[test]
fn a_preview_of_one_server_belongs_to_its_token_with_another() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let (_first, ann, _) = serve_two(&folder);
    let (_second, ann_later, ben) = serve_two(&folder);
    let asked = json!({"tool": "str_replace", "path": "a.txt", "old_string": "one", "new_string": "1"});
    let handle = ann.call("edit_preview", asked).ok().handle();
    let apply = |client: &Http| client.call("apply_preview", json!({"preview": handle}));
    apply(&ben).refused("unknown-preview");
    assert_eq!(folder.text("a.txt"), "one\n");
    let first = apply(&ann_later).ok();
    assert_eq!(folder.text("a.txt"), "1\n");
    let again = apply(&ann).ok();
    assert!(again.is_repeated() && again.structured["edit"] == first.structured["edit"]);
    apply(&ben).refused("unknown-preview");
}

#[test]
fn a_preview_belongs_to_its_token_and_a_lost_reply_edits_once() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let (_server, ann, ben) = serve_two(&folder);
    let asked = json!({"tool": "str_replace", "path": "a.txt", "old_string": "one", "new_string": "1"});
    let handle = ann.call("edit_preview", asked).ok().handle();
    let apply = |client: &Http, handle: &str| client.call("apply_preview", json!({"preview": handle}));
    for foreign in [&ben, &ben.clone().legacy()] {
        apply(foreign, &handle).refused("unknown-preview");
    }
    let mut altered = handle.clone();
    let last = if altered.pop() == Some('0') { '1' } else { '0' };
    altered.push(last);
    apply(&ann, &altered).refused("unknown-preview");
    let first = apply(&ann, &handle).ok();
    assert_eq!(folder.text("a.txt"), "1\n");
    folder.write("a.txt", "changed since\n");
    apply(&ann, &handle).assert_repeats(&first);
    apply(&ann.legacy(), &handle).assert_repeats(&first);
    assert_eq!(folder.text("a.txt"), "changed since\n");
}

#[test]
fn the_history_says_whose_token_it_was_and_undo_means_ones_own_session() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n")]);
    let (_server, ann, ben) = serve_two(&folder);
    let (ann, ben) = (ann.legacy(), ben.legacy());
    ann.replace("a.txt", "one", "ann").ok();
    ben.call("undo_edit", json!({})).refused("unknown-edit");
    ben.replace("b.txt", "one", "ben").ok();
    let told = ann.call("edit_history", json!({})).ok().text;
    assert!(told.contains("testkit (ann) (you)") && told.contains("testkit (ben)\n"), "{told}");
    ann.call("undo_edit", json!({})).ok();
    assert_eq!((folder.text("a.txt").as_str(), folder.text("b.txt").as_str()), ("one\n", "ben\n"));
}

#[test]
fn a_body_that_is_no_request_gets_an_error_and_the_next_one_its_answer() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = serve(&folder);
    let bearer = format!("Bearer {}", server.token());
    let headers = [
        ("Authorization", &bearer[..]),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    let client = server.client();
    let long = vec![b'x'; 20 * 1024 * 1024];
    for (body, code) in [
        (&b"{\"jsonrpc\":\"2.0\",\"id\":1"[..], -32700),
        (b"", -32700),
        (b"\xff\xfe", -32700),
        (&long, -32700),
        (br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (br#""tools/list""#, -32600),
        (br#"{"id":1}"#, -32600),
    ] {
        let reply = client.send("POST /mcp", &headers, body).finish();
        assert_eq!((reply.status, reply.code()), (400, Some(code)), "{}", reply.text());
    }
    for client in [client.clone(), client.legacy()] {
        for (method, parameters, code) in [
            ("tools/cal", json!({}), -32601),
            ("tools/call", json!({"nam": "x"}), -32602),
            ("tools/call", json!({"name": "read_file", "arguments": "a.txt"}), -32602),
            ("tools/call", json!({"name": "rm_rf"}), -32602),
        ] {
            let error = client.request(method, parameters.clone()).unwrap_err();
            assert_eq!(error["code"], code, "{method} {parameters}: {error}");
        }
        client.call("read_file", json!({"path": 7})).refused("invalid-argument");
        client.read("a.txt");
    }
}

/// A patch of many files, and how it is called with a token for progress.
fn long_call(files: usize) -> Value {
    let patch = patch(&(0..files).map(|n| format!("*** Add File: f{n}.txt\n+{n}\n")).collect::<String>());
    json!({"name": "apply_patch", "arguments": {"patch": patch}, "_meta": {"progressToken": "p"}})
}

#[test]
fn progress_comes_before_the_answer_in_both_eras() {
    let folder = Folder::new();
    let server = serve_at_once(&folder);
    for (client, files) in [(server.client(), 300), (server.client().legacy(), 301)] {
        // The second run finds its files there.
        let mut stream = client.begin("tools/call", long_call(files));
        let mut told = Vec::new();
        let answer = loop {
            let message = stream.next_message().unwrap();
            if message["method"] == "notifications/progress" {
                assert_eq!(message["params"]["progressToken"], "p");
                told.push(message["params"]["progress"].as_f64().unwrap());
            } else {
                break message;
            }
        };
        assert!(answer["result"].is_object(), "{answer}");
        assert!(told.is_sorted_by(|one, next| one < next), "{told:?}");
        if files == 300 {
            assert!(told.len() > 50, "{told:?}");
            for n in 0..files {
                std::fs::remove_file(folder.at(&format!("f{n}.txt"))).unwrap();
            }
        }
    }
    assert!(folder.has("f300.txt"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_client_that_goes_before_the_commit_has_changed_nothing() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = serve(&folder);
    let client = server.client();
    // Somebody else has the turn.
    let lock = std::fs::File::open(folder.path()).unwrap();
    lock.lock().unwrap();
    let arguments = json!({"name": "str_replace", "arguments": {"path": "a.txt", "old_string": "one", "new_string": "1"}});
    let mut waiting = std::net::TcpStream::connect(server.address()).unwrap();
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": arguments["name"], "arguments": arguments["arguments"], "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "0"},
    }}})
    .to_string();
    write!(
        waiting,
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
         Mcp-Name: str_replace\r\nContent-Length: {}\r\n\r\n{body}",
        server.token(),
        body.len()
    )
    .unwrap();
    // It waits for its turn once it has opened the folder a second time.
    let opened = || {
        let links = std::fs::read_dir(format!("/proc/{}/fd", server.process())).unwrap();
        let root = folder.path().canonicalize().unwrap();
        links
            .filter_map(Result::ok)
            .filter(|link| std::fs::read_link(link.path()).is_ok_and(|to| to == root))
            .count()
    };
    let before = opened();
    while opened() <= before.min(1) {
        std::thread::yield_now();
    }
    drop(waiting);
    // The connection is closed on the other side too before the turn is free.
    while std::fs::read_to_string("/proc/net/tcp")
        .unwrap()
        .lines()
        .any(|line| is_open(line, server.address().port()))
    {
        std::thread::yield_now();
    }
    drop(lock);
    client.replace("a.txt", "one", "two").ok();
    assert_eq!(folder.text("a.txt"), "two\n");
}

/// Whether a line of the kernel's table is a connection of this port that one side has not closed.
#[cfg(target_os = "linux")]
fn is_open(line: &str, port: u16) -> bool {
    let mut fields = line.split_whitespace().skip(1);
    let local = fields.next().unwrap_or_default();
    let state = fields.nth(1).unwrap_or_default();
    local.ends_with(&format!(":{port:04X}")) && matches!(state, "01" | "08")
}

#[test]
#[cfg(unix)]
fn a_server_that_is_told_to_stop_finishes_what_has_begun() {
    let folder = Folder::new();
    let server = serve_at_once(&folder);
    let client = server.client().legacy();
    let mut stream = client.begin("tools/call", long_call(1_000));
    assert_eq!(stream.next_message().unwrap()["method"], "notifications/progress");
    server.terminate();
    let result = stream.last().outcome().unwrap();
    assert_eq!(result["isError"], false, "{result}");
    assert!((0..1_000).all(|n| folder.has(&format!("f{n}.txt"))));
    let address = server.address();
    assert!(server.wait().success());
    assert!(std::net::TcpStream::connect(address).is_err());
}

/// A call in a session which waits for its turn, and what ends the waiting.
#[test]
fn a_call_that_is_cancelled_while_it_waits_has_changed_nothing() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = serve(&folder);
    let client = server.client().legacy();
    let lock = std::fs::File::open(folder.path()).unwrap();
    lock.lock().unwrap();
    let arguments = json!({"path": "a.txt", "old_string": "one", "new_string": "1"});
    let waiting = client.begin("tools/call", json!({"name": "str_replace", "arguments": arguments}));
    assert_eq!(waiting.status, 200);
    client.cancel();
    // A session takes its messages one after another: once this is answered, the other is cancelled.
    client.read("a.txt");
    drop(lock);
    client.replace("a.txt", "one", "two").ok();
    assert_eq!(folder.text("a.txt"), "two\n");
    drop(waiting);
}

#[test]
fn a_call_that_is_cancelled_while_it_writes_is_completed_and_the_next_answer_says_so() {
    let folder = Folder::new();
    let server = serve_at_once(&folder);
    let client = server.client().legacy();
    let mut stream = client.begin("tools/call", long_call(2_000));
    loop {
        let message = stream.next_message().unwrap();
        let told = message["params"]["message"].as_str().expect("it is not over yet");
        if told.starts_with("Prepared") || told.starts_with("Placed") {
            break;
        }
    }
    client.cancel();
    // The turn is free again when it is written, which takes a slow machine longer than an edit waits.
    let mut said = String::new();
    loop {
        let next = client.call("write_file", json!({"path": "next.txt", "content": "next\n"}));
        said.push_str(&next.text);
        if !next.is_error {
            break;
        }
        next.refused("busy");
    }
    assert!((0..2_000).all(|n| folder.has(&format!("f{n}.txt"))));
    for _ in 0..1_000 {
        if said.contains("apply_patch call that was cancelled") {
            return;
        }
        said = client.read("next.txt").text;
    }
    panic!("nothing is said of it");
}

#[test]
#[cfg(unix)]
fn readings_do_not_wait_behind_edits_that_wait_for_the_lock() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// As many of each of two tokens fill every thread that a runtime has for what blocks.
    const EDITS: usize = 260;
    let folder = Folder::with([("a.txt", "one\n")]);
    let tokens = [("ann", ANN), ("ben", BEN), ("cy", "cy-has-another-long-token")];
    let server = HttpServer::with_tokens(&launch(&folder), &folder.beside("tokens"), &tokens);
    let clients = tokens.map(|(_, token)| Http::new(server.address(), token));
    let [ann, ben, cy] = &clients;
    let held = std::fs::File::open(folder.path()).unwrap();
    held.lock().unwrap();
    let (begun, answered) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let edit = |client: &Http| {
        let arguments = json!({"path": "a.txt", "old_string": "not there", "new_string": "x"});
        begun.fetch_add(1, Ordering::SeqCst);
        let answer = client.begin("tools/call", json!({"name": "str_replace", "arguments": arguments}));
        // A token has only so many requests at once.
        answered.fetch_add(usize::from(answer.finish().status == 200), Ordering::SeqCst);
    };
    let edit = &edit;
    std::thread::scope(|scope| {
        for client in [ann, ben].repeat(EDITS) {
            scope.spawn(move || edit(client));
        }
        while begun.load(Ordering::SeqCst) < 2 * EDITS {
            std::thread::yield_now();
        }
        for _ in 0..50 {
            cy.read("a.txt");
        }
        // Whoever waited behind them would have waited until enough of them had given up.
        let answered = answered.load(Ordering::SeqCst);
        held.unlock().unwrap();
        assert!(answered < 20, "{answered} edits were answered before the readings");
    });
}

#[test]
#[cfg(unix)]
fn edits_of_one_token_that_wait_for_a_lock_take_no_room_of_another() {
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// As many requests as one token may have at once.
    const EDITS: usize = 256;
    let (anns, bens) = (Folder::with([("a.txt", "one\n")]), Folder::with([("b.txt", "one\n")]));
    let launch = launch(&anns).workspace(bens.path());
    let tokens = [("ann", ANN), ("ben", BEN)];
    let server = HttpServer::with_tokens(&launch, &anns.beside("tokens"), &tokens);
    let [ann, ben] = tokens.map(|(_, token)| Http::new(server.address(), token));
    let held = std::fs::File::open(anns.path()).unwrap();
    held.lock().unwrap();
    let answered = AtomicUsize::new(0);
    let edit = || {
        let arguments = json!({"path": anns.at("a.txt"), "old_string": "not there", "new_string": "x"});
        let call = json!({"name": "str_replace", "arguments": arguments});
        // The question below may have taken its place.
        while ann.begin("tools/call", call.clone()).finish().status == 503 {}
        answered.fetch_add(1, Ordering::SeqCst);
    };
    std::thread::scope(|scope| {
        for _ in 0..EDITS {
            scope.spawn(edit);
        }
        // No request of hers is taken any more: all of them are waiting.
        while ann.begin("tools/list", json!({})).finish().status == 200 {}
        for _ in 0..25 {
            for (old, new) in [("one", "two"), ("two", "one")] {
                ben.replace(bens.at("b.txt").to_str().unwrap(), old, new).ok();
            }
        }
        // He would have waited until enough of hers had given up.
        let answered = answered.load(Ordering::SeqCst);
        held.unlock().unwrap();
        assert!(answered < 20, "{answered} of her edits were answered before his");
    });
}

#[test]
#[cfg(target_os = "linux")]
fn those_who_connect_at_once_wait_for_their_turn() {
    use rustix::process::{Pid, Signal, kill_process};

    let folder = Folder::with([("a.txt", "one\n")]);
    let server = serve(&folder);
    let process = Pid::from_raw(i32::try_from(server.process()).unwrap()).unwrap();
    // It accepts nobody, and the system keeps for it who comes.
    kill_process(process, Signal::STOP).unwrap();
    let patience = std::time::Duration::from_secs(20);
    let connect = |_| std::net::TcpStream::connect_timeout(&server.address(), patience);
    let waiting: Result<Vec<_>, _> = (0..500).map(connect).collect();
    kill_process(process, Signal::CONT).unwrap();
    waiting.unwrap();
    server.client().read("a.txt");
}

#[test]
fn a_call_whose_session_is_ended_meanwhile_is_told_so() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let server = serve(&folder);
    for _ in 0..50 {
        let client = server.client().legacy();
        let read = json!({"name": "read_file", "arguments": {"path": "a.txt"}});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": read});
        let statuses = std::thread::scope(|scope| {
            let calls = [(); 2].map(|()| scope.spawn(|| client.post(&call).status));
            client.close();
            calls.map(|call| call.join().unwrap())
        });
        assert!(statuses.iter().all(|status| [200, 404].contains(status)), "{statuses:?}");
    }
}
