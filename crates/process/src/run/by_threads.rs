//! A thread for each pipe of a program, where pipes cannot be polled together. If a child of the program holds a pipe open,
//! its thread is left behind until that ends.

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::{Ended, Program, Ran};
use crate::group::Group;

/// How many bytes of a program's standard error are kept.
const MOST_ERRORS: usize = 2 * 1024;
/// How often to check for the exit of a program and for a cancelled run.
const GLANCE: Duration = Duration::from_millis(5);
/// How long what a program left in its pipes is waited for after its exit, if others hold them open.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// What a thread has read.
enum Heard {
    Output(Vec<u8>),
    Errors(Vec<u8>),
    /// One of the two pipes is closed.
    End,
}

pub(super) fn run(program: &Program<'_>, input: &[u8], cancelled: &dyn Fn() -> bool) -> io::Result<Ran> {
    let mut command = Command::new(program.path);
    program.prepare(&mut command);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let group = Group::start(&mut command)?;
    let (stdin, stdout, stderr) = group.pipes();
    let (send, receive) = mpsc::channel();
    let mut attended = Attended { receive, open: 0, output: Vec::new(), errors: Vec::new() };
    if let Some(mut stdin) = stdin {
        let input = input.to_vec();
        // An error means that the program has closed its standard input.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    attended.hear(stdout, &send, Heard::Output);
    attended.hear(stderr, &send, Heard::Errors);
    let stopped = attended.until_it_ends(&group, program, cancelled);
    if !(program.leaves && matches!(stopped, Ok(None))) {
        group.kill();
    }
    let status = group.wait_alone()?;
    let ended = stopped?.unwrap_or(Ended::Exited(status));
    let Attended { output, errors, .. } = attended;
    Ok(Ran { ended, output, errors: String::from_utf8_lossy(&errors).into_owned() })
}

/// What the threads of a program's pipes have read.
struct Attended {
    receive: Receiver<Heard>,
    /// The number of open pipes.
    open: usize,
    output: Vec<u8>,
    errors: Vec<u8>,
}

impl Attended {
    /// Starts a thread that reads a pipe.
    fn hear(
        &mut self,
        pipe: Option<impl Read + Send + 'static>,
        send: &Sender<Heard>,
        heard: fn(Vec<u8>) -> Heard,
    ) {
        let Some(mut pipe) = pipe else { return };
        self.open += 1;
        let send = send.clone();
        thread::spawn(move || {
            let mut room = vec![0; 64 * 1024];
            while let Ok(count @ 1..) = pipe.read(&mut room) {
                if send.send(heard(room[..count].to_vec())).is_err() {
                    return;
                }
            }
            let _ = send.send(Heard::End);
        });
    }

    /// Reads output until the program has exited. Returns the reason if it must be killed instead.
    fn until_it_ends(
        &mut self,
        group: &Group,
        program: &Program<'_>,
        cancelled: &dyn Fn() -> bool,
    ) -> io::Result<Option<Ended>> {
        let deadline = Instant::now() + program.timeout;
        let mut exited = None;
        loop {
            if exited.is_none() && group.has_ended()? {
                exited = Some(Instant::now());
            }
            match exited {
                Some(_) if self.open == 0 => return Ok(None),
                Some(exited) if exited.elapsed() > LAST_WORDS => return Ok(None),
                Some(_) => {}
                None if cancelled() => return Ok(Some(Ended::GivenUp)),
                None if Instant::now() >= deadline => return Ok(Some(Ended::TimedOut)),
                None => {}
            }
            match self.receive.recv_timeout(GLANCE) {
                Ok(Heard::Output(bytes)) => {
                    let most = if program.is_cut { program.most } else { usize::MAX };
                    keep(&mut self.output, &bytes, most);
                    if self.output.len() > program.most {
                        return Ok(Some(Ended::Flooded));
                    }
                }
                Ok(Heard::Errors(bytes)) => keep(&mut self.errors, &bytes, MOST_ERRORS),
                Ok(Heard::End) => self.open -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::sleep(GLANCE),
            }
        }
    }
}

/// Appends these bytes, up to `most` in all.
fn keep(kept: &mut Vec<u8>, bytes: &[u8], most: usize) {
    let fits = bytes.len().min(most.saturating_sub(kept.len()));
    kept.extend_from_slice(&bytes[..fits]);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::search::Search;

    fn shell(script: &str, input: &[u8], limits: impl FnOnce(&mut Program<'_>)) -> Ran {
        let search = Search::new(std::env::var_os("PATH"), &[] as &[&Path]);
        let path = search.find("cmd").unwrap();
        let arguments = ["/C".to_owned(), script.to_owned()];
        let mut program = Program {
            path: &path,
            arguments: &arguments,
            folder: Path::new("C:\\"),
            search: &search,
            environment: None,
            timeout: Duration::from_secs(60),
            most: 1 << 20,
            is_cut: false,
            leaves: false,
        };
        limits(&mut program);
        program.run(input, &|| false)
    }

    #[test]
    fn what_comes_out_is_whole_and_how_it_ends_is_told() {
        assert_eq!(shell("echo done", b"not read", |_| {}).done().unwrap(), b"done\r\n");
        assert_eq!(shell("exit 3", b"", |_| {}).why(), "it ended with exit code 3");
        let why = shell("echo wrong 1>&2& exit 4", b"", |_| {}).why();
        assert!(why.starts_with("it ended with exit code 4: wrong"), "{why}");
    }

    #[test]
    fn what_takes_too_long_or_says_too_much_is_ended() {
        let begun = Instant::now();
        let ran = shell("for /L %i in (0,0,1) do @rem", b"", |program| {
            program.timeout = Duration::from_millis(300);
        });
        assert!(matches!(ran.ended, Ended::TimedOut), "{ran:?}");
        let ran = shell("for /L %i in (0,0,1) do @echo much", b"", |program| program.most = 100);
        assert!(matches!(ran.ended, Ended::Flooded), "{ran:?}");
        assert!(begun.elapsed() < Duration::from_secs(50));
    }
}
