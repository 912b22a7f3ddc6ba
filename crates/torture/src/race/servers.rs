//! Two servers that edit one file, 200 times each. Every acknowledged edit must be in it.

use std::path::Path;
use std::thread;

use anyhow::{Result, ensure};
use emend_testkit::{Folder, Launch};
use serde_json::json;

/// The number of edits by each server, each in its own line.
const EDITS: usize = 200;
/// How often an edit is sent before it counts as failed. Each edit by the other server may refuse it once.
const TRIES: usize = 50;

/// Runs both servers, then looks for every line.
pub(super) fn run(emend: &Path) -> Result<()> {
    let folder = Folder::new();
    let lines = ["A", "B"].iter().flat_map(|who| (0..EDITS).map(move |i| format!("{who}{i:03} = old\n")));
    folder.write("file.txt", lines.collect::<String>());
    let launch = Launch::new(emend).workspace(folder.path()).state(folder.state());
    let refused = thread::scope(|scope| {
        let servers = ["A", "B"].map(|who| scope.spawn(|| edit_all(&launch, who)));
        servers.map(thread::ScopedJoinHandle::join)
    });
    let [Ok(Ok(a)), Ok(Ok(b))] = refused else { anyhow::bail!("servers: an edit was refused: {refused:?}") };
    let end = folder.text("file.txt");
    let there = end.lines().filter(|line| line.ends_with(" = new")).count();
    println!("servers: {there} of {} acknowledged edits are there, after {} refusals", 2 * EDITS, a + b);
    ensure!(there == 2 * EDITS && end.lines().count() == 2 * EDITS, "acknowledged edits were lost:\n{end}");
    Ok(())
}

/// Makes all edits and returns how often one was refused before; the error is the code of one that never succeeded.
fn edit_all(launch: &Launch, who: &str) -> Result<usize, String> {
    let mut client = launch.legacy();
    let mut refused = 0;
    for i in 0..EDITS {
        let (old, new) = (format!("{who}{i:03} = old"), format!("{who}{i:03} = new"));
        let arguments = json!({"path": "file.txt", "old_string": old, "new_string": new});
        for tried in 1.. {
            let answer = client.call("str_replace", arguments.clone());
            match answer.code() {
                None => break,
                Some("stale-file" | "busy") if tried < TRIES => refused += 1,
                Some(_) => return Err(answer.text),
            }
        }
    }
    Ok(refused)
}
