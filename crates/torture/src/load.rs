//! Many clients over HTTP at once, half of them in sessions, eight to a file. Each counts up in its own line. In the
//! end, every line has the number of edits that its client was told were made: none is lost and none made twice. Then
//! the suite checks the server's memory and open handles.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use emend_testkit::http::{Http, HttpServer};
use emend_testkit::{Folder, Launch};
use serde_json::json;

/// The number of clients.
const CLIENTS: usize = 64;
/// The number of clients that share a file.
const TO_A_FILE: usize = 8;
/// The handles that the first edit opens for good: those of the state folder.
const KEPT_HANDLES: usize = 8;
/// The limit for memory that the second half adds. The server still warms up then; after a minute it stops growing. A
/// leak in each of some thousand calls would add more than this.
const GROWTH_KB: u64 = 32 * 1024;

/// Runs the clients for this long and checks the files and the server.
pub(crate) fn run(emend: &std::path::Path, time: Duration) -> Result<()> {
    let folder = Folder::new();
    for file in 0..CLIENTS / TO_A_FILE {
        let lines: String = (0..TO_A_FILE).map(|line| line_of(file * TO_A_FILE + line, 0)).collect();
        folder.write(&name_of(file * TO_A_FILE), lines);
    }
    let server = HttpServer::start(&Launch::new(emend).workspace(folder.path()).state(folder.state()));
    server.client().read(&name_of(0));
    let handles = || Ok::<_, std::io::Error>(fs::read_dir(format!("/proc/{}/fd", server.process()))?.count());
    let before = handles()?;
    let mut made = vec![0; CLIENTS];
    half(&server, time / 2, &mut made)?;
    let warm = memory(&server)?;
    let begun = Instant::now();
    let first: usize = made.iter().sum();
    half(&server, time / 2, &mut made)?;
    let rate = (made.iter().sum::<usize>() - first) as f64 / begun.elapsed().as_secs_f64();
    let grown = memory(&server)?.saturating_sub(warm);
    for (client, made) in made.iter().enumerate() {
        let text = folder.text(&name_of(client));
        let line = line_of(client, *made);
        ensure!(text.contains(&line), "client {client} was told of {made} edits; its file says:\n{text}");
    }
    // The server closes a connection a moment after its client.
    let until = Instant::now() + Duration::from_secs(10);
    while handles()? > before + KEPT_HANDLES && Instant::now() < until {
        thread::yield_now();
    }
    let after = handles()?;
    let total: usize = made.iter().sum();
    println!(
        "{CLIENTS} clients: {total} edits, {rate:.0} a second, none lost; memory {warm} KB after the first half, \
         {grown} KB more after the second; handles {before} before, {after} after"
    );
    ensure!(after <= before + KEPT_HANDLES, "handles are left");
    ensure!(grown <= GROWTH_KB, "memory grows");
    Ok(())
}

/// Runs all clients for this long and adds the acknowledged edits of each to its number.
fn half(server: &HttpServer, time: Duration, made: &mut [usize]) -> Result<()> {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let running: Vec<_> = made
            .iter_mut()
            .enumerate()
            .map(|(number, made)| {
                let (stop, client) = (&stop, server.client());
                scope.spawn(move || {
                    let client = if number % 2 == 0 { client.legacy() } else { client };
                    let result = count(&client, number, made, stop);
                    client.close();
                    result
                })
            })
            .collect();
        thread::sleep(time);
        stop.store(true, Ordering::Relaxed);
        running.into_iter().try_for_each(|client| client.join().expect("a client does not panic"))
    })
}

fn count(client: &Http, number: usize, made: &mut usize, stop: &AtomicBool) -> Result<()> {
    while !stop.load(Ordering::Relaxed) {
        let (old, new) = (line_of(number, *made), line_of(number, *made + 1));
        let edit = json!({"path": name_of(number), "old_string": old, "new_string": new});
        let answer = client.call("str_replace", edit);
        match answer.code() {
            None => *made += 1,
            // The answer has shown what the others wrote, so the same call can now succeed.
            Some("stale-file") => {}
            Some(_) => bail!("client {number}: {}", answer.text),
        }
        if made.is_multiple_of(16) {
            client.read(&name_of(number));
        }
    }
    Ok(())
}

fn name_of(client: usize) -> String {
    format!("counts-{}.txt", client / TO_A_FILE)
}

fn line_of(client: usize, count: usize) -> String {
    format!("client {client} has counted to {count}.\n")
}

/// The server's resident memory in KB.
fn memory(server: &HttpServer) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", server.process()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    Ok(line.and_then(|line| line.trim().split(' ').next()?.parse().ok()).unwrap_or(0))
}
