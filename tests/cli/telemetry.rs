//! Traces and metrics: what a collector receives about an edit, what it never receives, and that a failing collector
//! does not disturb edits.
//!
//! The collector is a socket that keeps what it receives; in Protocol Buffers, names are readable.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use emend_testkit::{Folder, Launch};

use crate::launch;

/// Far more than anything here needs.
const DEADLINE: Duration = Duration::from_secs(60);

/// A message that came to a collector: where it was sent, and what it says.
struct Sent {
    path: String,
    body: Vec<u8>,
}

/// A collector that keeps what it gets. Its address, and what comes.
fn collector() -> (String, Receiver<Sent>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, sent) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let sender = sender.clone();
            thread::spawn(move || receive(stream.unwrap(), &sender));
        }
    });
    (address, sent)
}

/// Takes messages until the other side hangs up.
fn receive(stream: TcpStream, sender: &Sender<Sent>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    loop {
        let mut request = String::new();
        reader.read_line(&mut request).ok().filter(|length| *length > 0)?;
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let header = header.trim_end().to_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let path = request.split(' ').nth(1)?.to_owned();
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").ok()?;
        sender.send(Sent { path, body }).ok()?;
    }
}

fn has(body: &[u8], name: &str) -> bool {
    body.windows(name.len()).any(|window| window == name.as_bytes())
}

/// A server makes one edit, refuses another and ends, and what it sends meanwhile changes none of that.
fn edit_with(launch: &Launch, folder: &Folder) {
    folder.write("hidden.txt", "secret one\n");
    let mut client = launch.legacy();
    client.replace("hidden.txt", "secret one", "secret two").ok();
    client.replace("hidden.txt", "secret three", "secret four").refused("search-not-found");
    let (ended, _) = client.close();
    assert!(ended.success());
    assert_eq!(folder.read("hidden.txt"), b"secret two\n");
}

#[test]
fn a_collector_gets_the_steps_of_edits_and_their_number_but_no_content() {
    let folder = Folder::new();
    let (address, sent) = collector();
    let launch = launch(&folder)
        .variable("OTEL_EXPORTER_OTLP_ENDPOINT", &address)
        .variable("OTEL_RESOURCE_ATTRIBUTES", "team=editors");
    edit_with(&launch, &folder);
    let mut all: [Vec<u8>; 2] = Default::default();
    while all.iter().any(Vec::is_empty) {
        let Sent { path, body } = sent.recv_timeout(DEADLINE).unwrap();
        assert!(["/v1/traces", "/v1/metrics"].contains(&path.as_str()), "{path}");
        all[usize::from(path == "/v1/metrics")].extend(body);
    }
    let [traces, metrics] = all;
    for name in ["service.name", "emend", "editors", "edit", "parse", "plan", "commit", "str_replace"] {
        assert!(has(&traces, name), "{name} is in no trace");
    }
    for name in ["emend.edits", "emend.edit.duration", "editors", "str_replace", "ok", "search-not-found"] {
        assert!(has(&metrics, name), "{name} is in no metric");
    }
    for never in ["secret", "hidden.txt"] {
        assert!(!has(&traces, never) && !has(&metrics, never), "{never} was sent");
    }
}

#[test]
fn a_collector_that_is_not_there_or_never_answers_changes_nothing() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let absent = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for address in [silent.local_addr().unwrap(), absent] {
        let folder = Folder::new();
        let launch = launch(&folder).variable("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{address}"));
        edit_with(&launch, &folder);
    }
}

#[test]
fn nothing_is_sent_where_telemetry_is_disabled_or_not_known() {
    let (address, sent) = collector();
    let off = [("OTEL_SDK_DISABLED", "true"), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")];
    for (name, value) in off {
        let folder = Folder::new();
        let launch = launch(&folder).variable("OTEL_EXPORTER_OTLP_ENDPOINT", &address).variable(name, value);
        edit_with(&launch, &folder);
    }
    // What a server sends, it has sent when it has ended.
    assert!(sent.try_recv().is_err());
}
