//! A person at a terminal: a command whose input and output are a real one, a pseudo-terminal of the kernel's.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Command, ExitStatus};
use std::thread;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Runs a command at a terminal where somebody types this. Yields how it ended, and what the terminal showed.
#[must_use]
pub fn at_terminal(command: &mut Command, typed: &str) -> (ExitStatus, String) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let terminal = std::path::Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
    let open = || OpenOptions::new().read(true).write(true).open(terminal).unwrap();
    let mut child = command.stdin(open()).stdout(open()).stderr(open()).spawn().unwrap();
    // Our own ends of it: otherwise the terminal never hangs up.
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    command.stderr(std::process::Stdio::null());
    let mut master = File::from(master);
    let mut shown_by = master.try_clone().unwrap();
    let reader = thread::spawn(move || {
        let (mut shown, mut buffer) = (Vec::new(), [0; 4096]);
        // On Linux, a terminal that nobody has open any more is an error to read.
        while let Ok(read @ 1..) = shown_by.read(&mut buffer) {
            shown.extend_from_slice(&buffer[..read]);
        }
        String::from_utf8_lossy(&shown).replace("\r\n", "\n")
    });
    master.write_all(typed.as_bytes()).unwrap();
    let status = child.wait().unwrap();
    (status, reader.join().unwrap())
}
