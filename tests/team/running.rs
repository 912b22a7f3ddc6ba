//! How a team's server is started, watched, told of changes and ended.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use emend_testkit::{Folder, Http, HttpServer, tls};
use serde_json::json;

use super::{EDITOR, Issuer, client, launch, serve_folder, serve_tenants, write};

const ONE: &str = include_str!("one.pem");
const TWO: &str = include_str!("two.pem");
const ANN: &str = "ann-has-this-long-token";
const BEN: &str = "ben-has-that-long-token";

/// A port that is free.
fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer[9..12].parse().unwrap(), answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

/// Waits until this holds, which a signal has begun.
fn wait_until(holds: impl Fn() -> bool) {
    while !holds() {
        std::thread::yield_now();
    }
}

#[test]
fn those_who_watch_have_an_address_of_their_own_and_no_figure_names_anybody() {
    let (folder, issuer, metrics) = (Folder::with([("a.txt", "one\n")]), Issuer::start(), free());
    let server = serve_folder(&folder, &format!("metrics = \"{metrics}\"\n{}", issuer.settings()));
    for address in [server.address(), metrics] {
        assert_eq!((get(address, "/healthz").0, get(address, "/readyz").0), (200, 200));
    }
    client(&server, &issuer.token("ann", EDITOR)).read("a.txt");
    assert_eq!(client(&server, "x").begin("tools/list", json!({})).finish().status, 401);
    let (status, figures) = get(metrics, "/metrics");
    assert_eq!(status, 200);
    for line in [
        "emend_ready 1",
        "emend_principals 1",
        "emend_http_requests_total{status=\"401\"} 1",
        "emend_sessions 0",
    ] {
        assert!(figures.lines().any(|found| found == line), "{line}: {figures}");
    }
    assert!(!figures.contains("ann") && !figures.contains("a.txt"), "{figures}");
    assert_eq!(get(server.address(), "/metrics").0, 404);
    assert_eq!(get(metrics, "/mcp").0, 404);
}

#[test]
fn a_signal_has_the_settings_read_again_and_wrong_ones_change_nothing() {
    let (folder, metrics) = (Folder::with([("red/a.txt", "one\n"), ("blue/b.txt", "one\n")]), free());
    let tokens = folder.beside("tokens");
    let settings = |red: &str| {
        format!(
            "tokens = {tokens:?}\nmetrics = \"{metrics}\"\n[[tenant]]\nname = \"red\"\nworkspace = {:?}\n{red}\n\
             [[tenant]]\nname = \"blue\"\nworkspace = {:?}\n",
            folder.at("red"),
            folder.at("blue")
        )
    };
    std::fs::write(&tokens, format!("ann {ANN} tenant=red\nben {BEN} tenant=blue\n")).unwrap();
    let server = serve_tenants(&folder, &settings(""));
    let (ann, ben) = (client(&server, ANN).legacy(), client(&server, BEN).legacy());
    ann.replace("a.txt", "one", "two").ok();
    ben.read("b.txt");
    let status = |client: &emend_testkit::Http| client.begin("tools/list", json!({})).finish().status;

    // A mistake in either file: all stays as it was, the good half of the change too.
    write(&folder, &settings("read_only = true\n"));
    std::fs::write(&tokens, "ann short tenant=red\n").unwrap();
    server.hang_up();
    // Whenever the server reads them, one of the two is wrong.
    write(&folder, &settings("read_only = maybe\n"));
    std::fs::write(&tokens, format!("ann {ANN} tenant=red\ncy {BEN}x tenant=blue\n")).unwrap();
    server.hang_up();
    ann.replace("a.txt", "two", "three").ok();
    ben.read("b.txt");

    // Both are right: what is changed is changed, and what is not goes on.
    let begun = Instant::now();
    let [mut hers, his] = [&ann, &ben].map(emend_testkit::Http::listen);
    write(&folder, &settings("read_only = true\n"));
    std::fs::write(&tokens, format!("ann {ANN} tenant=red\nben {BEN} tenant=blue\ncy {BEN}x tenant=blue\n"))
        .unwrap();
    server.hang_up();
    let cy = client(&server, &format!("{BEN}x"));
    wait_until(|| status(&cy) == 200);
    assert_eq!(status(&ann), 200, "the session goes on in the workspace as it is now");
    while hers.next_message().is_some() {}
    assert!(begun.elapsed() < Duration::from_secs(30), "and its stream did, too");
    assert_eq!(his.status, 200);
    client(&server, ANN).replace("a.txt", "three", "four").refused("read-only");
    ben.replace("b.txt", "one", "two").ok();
    assert_eq!(folder.text("red/a.txt"), "three\n");

    // Who is not in the file any more is not let in, and hears nothing more.
    let mut his = ben.listen();
    let begun = Instant::now();
    std::fs::write(&tokens, format!("ann {ANN} tenant=red\n")).unwrap();
    server.hang_up();
    wait_until(|| status(&ben) == 401);
    while his.next_message().is_some() {}
    assert!(begun.elapsed() < Duration::from_secs(30), "his stream did not end");
    server.terminate();
    assert!(server.wait().success());
}

#[test]
fn a_session_goes_on_with_the_next_server_which_knows_what_was_read() {
    let folder = Folder::with([
        ("red/a.txt", "one\n"),
        ("red/b.txt", "one\n"),
        ("red/c.txt", "one\n"),
        ("blue/a.txt", ""),
    ]);
    let tokens = folder.beside("tokens");
    let settings = format!(
        "tokens = {tokens:?}\n[[tenant]]\nname = \"red\"\nworkspace = {:?}\n[[tenant]]\nname = \"blue\"\nworkspace = {:?}\n",
        folder.at("red"),
        folder.at("blue")
    );
    std::fs::write(&tokens, format!("ann {ANN} tenant=red\nben {BEN} tenant=blue\n")).unwrap();
    let server = serve_tenants(&folder, &settings);
    let (ann, ben) = (client(&server, ANN).legacy(), client(&server, BEN).legacy());
    ann.read("a.txt");
    ann.read("b.txt");
    ann.replace("b.txt", "one", "two").ok();
    // As a kill would end it.
    drop(server);
    let server = serve_tenants(&folder, &settings);
    let [ann, ben] = [ann, ben].map(|client| client.towards(server.address()));

    let whole = |name: &str| ann.call("write_file", json!({"path": name, "content": "new\n"}));
    whole("a.txt").ok();
    whole("c.txt").refused("not-read");
    folder.write("red/b.txt", "theirs\n");
    whole("b.txt").refused("stale-file");
    // The edits before are its own, too.
    folder.write("red/b.txt", "two\n");
    ann.call("undo_edit", json!({})).ok();
    ann.call("undo_edit", json!({})).ok();
    assert_eq!(["red/a.txt", "red/b.txt"].map(|name| folder.text(name)), ["one\n", "one\n"]);
    // Nobody else has it, whatever they call it.
    let hers = ann.session().unwrap().to_owned();
    assert_eq!(ben.begin("tools/list", json!({})).finish().status, 200);
    let theft = ben.clone().in_session(&hers);
    assert_eq!(theft.begin("tools/list", json!({})).finish().status, 404);
    // What its client has ended does not come back.
    ann.close();
    assert_eq!(ann.begin("tools/list", json!({})).finish().status, 404);
}

#[test]
fn a_session_hears_further_of_what_it_subscribed_to_and_once_of_all_that_may_have_changed_meanwhile() {
    let names = ["a.txt", "b.txt", "c.txt", "d.txt"];
    let folder =
        Folder::with(["red/a.txt", "red/b.txt", "red/c.txt", "red/d.txt"].map(|name| (name, "one\n")));
    let tokens = folder.beside("tokens");
    let settings =
        format!("tokens = {tokens:?}\n[[tenant]]\nname = \"red\"\nworkspace = {:?}\n", folder.at("red"));
    std::fs::write(&tokens, format!("ann {ANN} tenant=red\n")).unwrap();
    let server = serve_tenants(&folder, &settings);
    let ann = client(&server, ANN).legacy();
    let [a, b, c, d] = names.map(|name| folder.uri(&format!("red/{name}")));
    for uri in [&a, &b, &c] {
        ann.request("resources/subscribe", json!({"uri": uri})).unwrap();
    }
    ann.request("resources/unsubscribe", json!({"uri": b})).unwrap();
    // As a kill would end it.
    drop(server);
    folder.write("red/a.txt", "theirs\n");
    std::fs::remove_file(folder.at("red/c.txt")).unwrap();
    let server = serve_tenants(&folder, &settings);
    let ann = ann.towards(server.address());

    // The last event that the client has is one of the server that is gone.
    let mut heard = ann.listen_after("7");
    let mut updated = || heard.next_message().unwrap()["params"]["uri"].as_str().unwrap().to_owned();
    assert_eq!([updated(), updated()], [a.clone(), c.clone()]);
    ann.replace("b.txt", "one", "two").ok();
    ann.replace("a.txt", "theirs", "two").ok();
    assert_eq!(updated(), a);
    folder.write("red/c.txt", "back\n");
    assert_eq!(updated(), c);
    ann.request("resources/unsubscribe", json!({"uri": c})).unwrap();
    ann.request("resources/subscribe", json!({"uri": d})).unwrap();
    drop(server);

    let server = serve_tenants(&folder, &settings);
    let ann = ann.towards(server.address());
    // Calls may come before the stream does.
    ann.replace("d.txt", "one", "two").ok();
    ann.read("d.txt");
    let mut heard = ann.listen_after("7");
    let mut updated = || heard.next_message().unwrap()["params"]["uri"].as_str().unwrap().to_owned();
    assert_eq!([updated(), updated()], [a, d]);

    // However many there are, and however many requests come at once.
    let many: BTreeSet<String> = (0..40).map(|number| format!("many/{number}.txt")).collect();
    for name in &many {
        folder.write(&format!("red/{name}"), "one\n");
        ann.request("resources/subscribe", json!({"uri": folder.uri(&format!("red/{name}"))})).unwrap();
    }
    drop(server);
    let server = serve_tenants(&folder, &settings);
    let ann = ann.towards(server.address());
    std::thread::scope(|scope| {
        let calls: Vec<_> =
            (0..8).map(|_| scope.spawn(|| ann.begin("tools/list", json!({})).finish().status)).collect();
        for call in calls {
            assert_eq!(call.join().unwrap(), 200);
        }
    });
    let mut heard = ann.listen_after("7");
    let mut updated = || heard.next_message().unwrap()["params"]["uri"].as_str().unwrap().to_owned();
    let told: BTreeSet<String> = (0..42).map(|_| updated()).collect();
    assert_eq!(told.len(), 42);
    assert!(many.iter().all(|name| told.contains(&folder.uri(&format!("red/{name}")))));
    ann.close();
}

#[test]
fn the_end_of_a_session_is_told_once_with_what_was_done_with_all_its_servers() {
    let folder = Folder::with([("red/a.txt", "0\n")]);
    let tokens = folder.beside("tokens");
    let workspace = folder.at("red");
    write(&folder, &format!("tokens = {tokens:?}\n[[tenant]]\nname = \"red\"\nworkspace = {workspace:?}\n"));
    std::fs::write(&tokens, format!("ann {ANN} tenant=red\n")).unwrap();
    let serve = || HttpServer::start(&launch(&folder).argument("--emit-event"));
    let (mut session, mut end) = (None, None);
    for number in 0..3 {
        let server = serve();
        let ann = match session.take() {
            None => client(&server, ANN).legacy(),
            Some(ann) => Http::towards(ann, server.address()),
        };
        ann.replace("a.txt", &number.to_string(), &(number + 1).to_string()).ok();
        if number == 2 {
            ann.close();
            let reader = client(&server, ANN);
            let read = || reader.request("resources/read", json!({"uri": "emend://events?after=0"})).unwrap();
            // It is told in the background.
            while !read().to_string().contains("\\\"session\\\",") {}
            end = Some(read().to_string().replace('\\', ""));
        }
        server.terminate();
        assert!(server.wait().success());
        session = Some(ann);
    }
    let end = end.unwrap();
    assert_eq!(end.matches("\"type\":\"session\"").count(), 1, "{end}");
    assert!(end.contains("\"edits\":3"), "{end}");
}

#[test]
fn a_certificate_is_replaced_without_a_new_start() {
    let (folder, issuer) = (Folder::with([("a.txt", "one\n")]), Issuer::start());
    let file = folder.beside("tls.pem");
    let put = |pem: &str| {
        std::fs::write(&file, pem).unwrap();
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    };
    put(ONE);
    let settings = format!("[tls]\ncertificate = {file:?}\nkey = {file:?}\n{}", issuer.settings());
    let server = serve_folder(&folder, &settings);
    let request = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let shown = |trusted| tls::ask(server.address(), &[trusted], request);
    assert!(shown(ONE).unwrap().0.ends_with("ok\n") && shown(TWO).is_none());
    // Who speaks no TLS gets nothing, and holds up nobody.
    let mut plain = TcpStream::connect(server.address()).unwrap();
    plain.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"));
    put("no certificate");
    server.hang_up();
    assert!(shown(ONE).is_some());
    put(TWO);
    server.hang_up();
    wait_until(|| shown(TWO).is_some());
    assert!(shown(ONE).is_none());
}

#[test]
fn a_proxy_on_this_machine_reaches_a_socket_that_nobody_else_does() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::{UnixListener, UnixStream};

    let folder = Folder::with([("a.txt", "one\n")]);
    let (socket, tokens) = (folder.beside("s"), folder.beside("tokens"));
    std::fs::write(&tokens, format!("ann {ANN}\n")).unwrap();
    // What a killed server has left is in nobody's way.
    drop(UnixListener::bind(&socket).unwrap());
    let mut command = crate::launch(&folder)
        .argument("--tokens")
        .argument(&tokens)
        .argument("--http")
        .argument(format!("unix:{}", socket.display()))
        .command();
    let mut child =
        command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut said = [0; 12];
    child.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
    let mode = std::fs::metadata(&socket).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o660);
    let mut stream = UnixStream::connect(&socket).unwrap();
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok\n"), "{answer}");
    let process = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(!socket.exists());
}

#[test]
fn settings_that_cannot_be_used_keep_the_server_from_starting() {
    let (folder, issuer) = (Folder::with([("a.txt", "one\n"), ("red/x", "")]), Issuer::start());
    let refused = |settings: &str, workspace: bool| {
        write(&folder, settings);
        let mut launch = launch(&folder).argument("--http").argument("0");
        if workspace {
            launch = launch.workspace(folder.path());
        }
        let output = launch.command().output().unwrap();
        assert!(!output.status.success(), "{settings}");
        String::from_utf8(output.stderr).unwrap()
    };
    let tenant = format!("[[tenant]]\nname = \"red\"\nworkspace = {:?}\n", folder.at("red"));
    assert!(refused("", true).contains("nobody could call"));
    assert!(refused("colour = 1\n", true).contains("line 2"));
    assert!(refused(&format!("{}{tenant}", issuer.settings()), true).contains("--workspace cannot be taken"));
    assert!(refused("tokens = \"/nowhere/tokens\"\n", true).contains("/nowhere/tokens"));
    let file = folder.beside("tokens");
    std::fs::write(&file, format!("ann {ANN} tenant=green\n")).unwrap();
    assert!(refused(&format!("tokens = {file:?}\n{tenant}"), false).contains("green"));
    std::fs::write(&file, format!("ann {ANN}\n")).unwrap();
    assert!(refused(&format!("tokens = {file:?}\n{tenant}"), false).contains("needs a tenant"));
}
