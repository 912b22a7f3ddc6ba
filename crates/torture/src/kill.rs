//! Servers that are killed while they write a large file, which is always wholly old or wholly new; the call that is sent
//! again to the next server is made once.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use emend_testkit::{Folder, Launch};
use serde_json::json;

/// The number of lines in the file, about 5 MB.
const LINES: usize = 80_000;

/// Kills one server after another, each at another moment of its edit.
pub(crate) fn run(emend: &Path, time: Duration) -> Result<()> {
    let folder = Folder::new();
    let line =
        |i: usize, word: &str| format!("{word} {i:08} abcdefghijklmnopqrstuvwxyz 0123456789 abcdefghijklm\n");
    let content: String = (0..LINES).map(|i| line(i, "line")).collect();
    let (old, new) = (content.clone(), content.replace("line 00040000", "line 00040000 and more"));
    let launch = || Launch::new(emend).workspace(folder.path()).state(folder.state());
    let until = Instant::now() + time;
    let (mut kills, mut before, mut after) = (0u32, 0u32, 0u32);
    while Instant::now() < until {
        folder.write("big.txt", &old);
        let mut client = launch().legacy();
        let arguments =
            json!({"path": "big.txt", "old_string": "line 00040000", "new_string": "line 00040000 and more"});
        client.send_call("str_replace", arguments.clone());
        // An edit takes some tens of milliseconds. In time, every moment of it is hit.
        std::thread::sleep(Duration::from_micros(u64::from(kills * 977 % 60_000)));
        drop(client);
        kills += 1;
        let now = folder.read("big.txt");
        ensure!(
            now == old.as_bytes() || now == new.as_bytes(),
            "kill {kills} left a torn file of {} bytes",
            now.len()
        );
        if now == old.as_bytes() {
            before += 1;
        } else {
            after += 1;
        }
        let names: Vec<String> = folder.tree().into_keys().collect();
        ensure!(names == ["big.txt"], "kill {kills} left something behind: {names:?}");
        let again = launch().legacy().call("str_replace", arguments);
        let is_made = now == new.as_bytes();
        ensure!(!again.is_error && again.is_repeated() == is_made, "kill {kills}: {}", again.text);
        ensure!(folder.read("big.txt") == new.as_bytes(), "kill {kills}: the call was not made once");
    }
    println!("{kills} kills: {before} times all old, {after} times all new, never torn, nothing left behind");
    ensure!(kills >= 10, "too few kills to say anything");
    Ok(())
}
