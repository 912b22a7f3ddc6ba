//! A client on standard input and output that sends many calls before it reads an answer.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use emend_testkit::Folder;
use serde_json::{Value, json};

use crate::{opening, spawn};

/// Longer than what one call takes in a pipe or a buffer, so that few are there.
const PADDING: usize = 20_000;
const CALLS: usize = 1_500;
/// How many may be on their way: those that are answered, what is read ahead and what pipes hold.
const UNDER_WAY: usize = 350;

#[test]
fn the_calls_of_who_reads_no_answers_wait_and_none_is_lost() {
    let folder = Folder::with([("a.txt", &*"some text in a line\n".repeat(2_000))]);
    let mut server = spawn(&folder);
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap()).lines();
    writeln!(input, "{}", opening()).unwrap();
    output.next().unwrap().unwrap();
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
    let written = AtomicUsize::new(0);
    let written = &written;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let padding = " ".repeat(PADDING);
            for id in 1..=CALLS {
                let read = json!({"name": "read_file", "arguments": {"path": "a.txt"}});
                let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": read});
                writeln!(input, "{call}{padding}").unwrap();
                written.fetch_add(1, Ordering::SeqCst);
            }
        });
        while written.load(Ordering::SeqCst) < 256 {
            std::thread::yield_now();
        }
        let mut answered = BTreeSet::new();
        while answered.len() < CALLS {
            let ahead = written.load(Ordering::SeqCst) - answered.len();
            assert!(ahead <= UNDER_WAY, "{ahead} calls are taken whose answers nobody has read");
            let answer: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
            assert_eq!(answer["result"]["isError"], false);
            assert!(answered.insert(answer["id"].as_u64().unwrap()));
        }
    });
    assert!(server.wait().unwrap().success());
}
