//! A user at a terminal: runs a command on a pseudo-terminal and types the answers.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::thread;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// The ends of questions.
const PROMPTS: [&str; 2] = ["[y/N] ", "?]? "];

/// Opens a new terminal: the user's side, and a function that opens the program's side.
pub fn new() -> (File, impl Fn() -> File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = PathBuf::from(OsStr::from_bytes(name.as_bytes()));
    (File::from(master), move || OpenOptions::new().read(true).write(true).open(&terminal).unwrap())
}

/// Runs a command at a terminal and types one line of `typed` for each question. Returns the exit status and what the
/// terminal showed.
#[must_use]
pub fn at_terminal(command: &mut Command, typed: &str) -> (ExitStatus, String) {
    at_terminal_ahead(command, "", typed)
}

/// Runs a command at a terminal where the lines of `ahead` were typed before it began.
#[must_use]
pub fn at_terminal_ahead(command: &mut Command, ahead: &str, typed: &str) -> (ExitStatus, String) {
    let (mut master, open) = new();
    command.stdin(open()).stdout(open()).stderr(open());
    master.write_all(ahead.as_bytes()).unwrap();
    // After the echo, the input is ready to be read.
    let mut echo = vec![0; ahead.replace('\n', "\r\n").len()];
    master.read_exact(&mut echo).unwrap();
    let mut child = command.spawn().unwrap();
    // Closes our own handles of the program's side: otherwise the terminal never hangs up.
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    command.stderr(std::process::Stdio::null());
    let mut answers = typed.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>().into_iter();
    let person = thread::spawn(move || {
        let (mut shown, mut buffer) = (Vec::new(), [0; 4096]);
        // On Linux, reading from a terminal that nobody has open any more is an error.
        while let Ok(read @ 1..) = master.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..read]);
            if PROMPTS.iter().any(|prompt| shown.ends_with(prompt.as_bytes()))
                && let Some(answer) = answers.next()
            {
                master.write_all(answer.as_bytes()).unwrap();
            }
        }
        String::from_utf8_lossy(&shown).replace("\r\n", "\n")
    });
    let status = child.wait().unwrap();
    (status, person.join().unwrap())
}
