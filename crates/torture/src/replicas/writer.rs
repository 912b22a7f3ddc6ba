//! A client that writes until it is told to stop, and what it was told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use emend_testkit::http::{Http, Reply};
use emend_testkit::{Answer, Folder};
use serde_json::{Value, json};

use super::PATIENCE;
use super::cluster::{CLIENTS, Cluster};

/// The file that each session reads at its beginning and writes at its end.
const READ: &str = "read.txt";

/// Writes the lines of one client, and counts in two files that it changes with one patch.
pub(super) struct Writer {
    tenant: &'static str,
    number: usize,
    client: Http,
    has_session: bool,
}

/// What a client was told.
pub(super) struct Written {
    tenant: &'static str,
    number: usize,
    pub(super) lines: usize,
    pub(super) pairs: usize,
    /// How many calls were sent once more.
    pub(super) again: usize,
    pub(super) slowest: Duration,
}

impl Writer {
    /// Creates a client and its files.
    pub(super) fn new(cluster: &Cluster, tenant: &'static str, number: usize) -> Self {
        if number == 0 {
            let lines: String = (0..CLIENTS).map(end_of).collect();
            cluster.folder.write(&format!("{tenant}/{READ}"), "read\n");
            cluster.folder.write(&format!("{tenant}/notes.txt"), lines);
        }
        for half in ["a", "b"] {
            cluster.folder.write(&format!("{tenant}/{number}-{half}.txt"), "count 0\n");
        }
        let client = cluster.client(tenant, number);
        Self { tenant, number, client, has_session: number == 0 }
    }

    /// Writes until it is told to stop.
    pub(super) fn write(mut self, stop: &AtomicBool) -> Result<Written> {
        let Self { tenant, number, .. } = self;
        let mut written = Written { tenant, number, lines: 0, pairs: 0, again: 0, slowest: Duration::ZERO };
        if self.has_session {
            self.until_made("read_file", &json!({"path": READ}), &mut written)?;
        }
        while !stop.load(Ordering::Relaxed) {
            let (old, line) = (end_of(number), line_of(number, written.lines));
            let edit = json!({"path": "notes.txt", "old_string": old, "new_string": line + &old});
            self.until_made("str_replace", &edit, &mut written)?;
            written.lines += 1;
            if written.lines.is_multiple_of(4) {
                let patch = json!({"patch": count_both(number, written.pairs)});
                self.until_made("apply_patch", &patch, &mut written)?;
                written.pairs += 1;
            }
        }
        if self.has_session {
            // Only who has read a file may write all of it anew.
            self.until_made("write_file", &json!({"path": READ, "content": "written\n"}), &mut written)?;
        }
        Ok(written)
    }

    /// Sends a call until it is answered.
    fn until_made(&mut self, tool: &str, arguments: &Value, written: &mut Written) -> Result<()> {
        let begun = Instant::now();
        loop {
            match self.call(tool, arguments) {
                // A session goes on with the next server.
                Err(why) if why.starts_with("404") => bail!("{} of {}: {why}", self.number, self.tenant),
                Ok(answer) => match answer.code() {
                    // The call whose answer was lost was made, and then the others went on.
                    None | Some("maybe-repeated") => break,
                    // What the others wrote was shown, or somebody holds the file for the moment.
                    Some("stale-file" | "busy") => {}
                    Some(_) => bail!("{} of {}: {}", self.number, self.tenant, answer.text),
                },
                Err(why) if begun.elapsed() > PATIENCE => {
                    bail!("{} of {} waited in vain: {why}", self.number, self.tenant)
                }
                Err(_) => {}
            }
            written.again += 1;
            thread::sleep(Duration::from_millis(50));
        }
        written.slowest = written.slowest.max(begun.elapsed());
        Ok(())
    }

    /// Calls a tool; the error says what was answered instead.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Answer, String> {
        if self.has_session && self.client.session().is_none() {
            self.client = self.client.clone().try_legacy()?;
        }
        let reply = self.client.try_call(tool, arguments.clone()).map_err(|error| error.to_string())?;
        result_of(&reply).map(|result| Answer::from_result(&result))
    }
}

/// Returns the result in a reply; the error says what is there instead.
pub(super) fn result_of(reply: &Reply) -> Result<Value, String> {
    let mut message: Value = serde_json::from_slice(&body_of(reply))
        .map_err(|error| format!("{} {error}: {}", reply.status, reply.text()))?;
    match message.get_mut("result") {
        Some(result) if reply.status == 200 => Ok(result.take()),
        _ => Err(format!("{} {}", reply.status, reply.text())),
    }
}

/// Returns the message in a body, which may be that of a stream.
fn body_of(reply: &Reply) -> Vec<u8> {
    let text = reply.text();
    let last = text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
    last.map_or_else(|| reply.body.clone(), |line| line.as_bytes().to_vec())
}

impl Written {
    /// Checks that all of it is there, once.
    pub(super) fn check(&self, folder: &Folder) -> Result<()> {
        let Self { tenant, number, lines, pairs, .. } = self;
        let text = folder.text(&format!("{tenant}/notes.txt"));
        let own = format!("{number} ");
        let found: String =
            text.lines().filter(|line| line.starts_with(&own)).map(|line| format!("{line}\n")).collect();
        let expected: String =
            (0..*lines).map(|line| line_of(*number, line)).chain([end_of(*number)]).collect();
        ensure!(
            found == expected,
            "client {number} of {tenant} was told of {lines} lines; its file has\n{found}"
        );
        // What was read with one server was written with another.
        let read = folder.text(&format!("{tenant}/{READ}"));
        ensure!(*number != 0 || read == "written\n", "{READ} of {tenant} has {read}");
        for half in ["a", "b"] {
            let count = folder.text(&format!("{tenant}/{number}-{half}.txt"));
            ensure!(
                count == format!("count {pairs}\n"),
                "client {number} of {tenant} was told of {pairs} patches; {half} has {count}"
            );
        }
        Ok(())
    }
}

fn line_of(number: usize, line: usize) -> String {
    format!("{number} has written line {line}.\n")
}

fn end_of(number: usize) -> String {
    format!("{number} ends here.\n")
}

/// A patch that counts up in both files of a client.
fn count_both(number: usize, count: usize) -> String {
    let update = |half: &str| {
        format!("*** Update File: {number}-{half}.txt\n@@\n-count {count}\n+count {}\n", count + 1)
    };
    format!("*** Begin Patch\n{}{}*** End Patch\n", update("a"), update("b"))
}
