//! Running a program of the user's, such as a hook: with a list of arguments, its standard input, and limits on its
//! time and its output. Whatever the program does, [`Program::run`] returns.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crate::search::Search;

/// A program to run, and its limits.
#[derive(Clone, Copy, Debug)]
pub struct Program<'a> {
    /// The path of the program, as [`Search::find`] returns it.
    pub path: &'a Path,
    /// The arguments of the program.
    pub arguments: &'a [String],
    /// The working directory.
    pub folder: &'a Path,
    /// The search from which the program gets its `PATH`.
    pub search: &'a Search,
    /// All other variables of its environment; those of this process if it is none.
    pub environment: Option<&'a [(&'a str, &'a str)]>,
    /// How long the program may run.
    pub timeout: Duration,
    /// How many bytes of standard output are kept.
    pub most: usize,
    /// Whether output beyond `most` is discarded; if not, the program is killed for it.
    pub is_cut: bool,
    /// Whether processes that the program started may outlive it.
    pub leaves: bool,
}

/// The result of running a program.
#[derive(Debug)]
pub struct Ran {
    /// How the program ended.
    pub ended: Ended,
    /// The standard output, up to the limit.
    pub output: Vec<u8>,
    /// The beginning of the standard error.
    pub errors: String,
}

/// How a program ended.
#[derive(Debug)]
pub enum Ended {
    /// The program exited by itself.
    Exited(ExitStatus),
    /// The program took too long and was killed.
    TimedOut,
    /// The program wrote too much and was killed.
    Flooded,
    /// The caller cancelled the run, and the program was killed.
    GivenUp,
    /// The program could not be run at all.
    Failed(io::Error),
}

impl Program<'_> {
    /// Gives a command its arguments, its folder and its environment.
    fn prepare(&self, command: &mut Command) {
        command.args(self.arguments).current_dir(self.folder);
        if let Some(environment) = self.environment {
            command.env_clear().envs(environment.iter().copied());
        }
        self.search.lead(command);
    }

    /// Runs the program with `input` on its standard input, and blocks until it has ended. A program that takes too
    /// long, writes too much or is cancelled is killed. What it started is killed with it, unless it may stay
    /// (`leaves`).
    #[must_use]
    pub fn run(&self, input: &[u8], cancelled: &dyn Fn() -> bool) -> Ran {
        attended::run(self, input, cancelled).unwrap_or_else(|error| Ran {
            ended: Ended::Failed(error),
            output: Vec::new(),
            errors: String::new(),
        })
    }
}

impl Ran {
    /// Returns the standard output of a program that succeeded; the error is [`why`](Self::why) it did not.
    pub fn done(self) -> Result<Vec<u8>, String> {
        match &self.ended {
            Ended::Exited(status) if status.success() => Ok(self.output),
            _ => Err(self.why()),
        }
    }

    /// Says in words how the program ended, with the beginning of its standard error.
    #[must_use]
    pub fn why(&self) -> String {
        let how = match &self.ended {
            Ended::Exited(status) => match status.code() {
                Some(code) => format!("it ended with exit code {code}"),
                None => "it was killed".to_owned(),
            },
            Ended::TimedOut => "it took too long and was ended".to_owned(),
            Ended::GivenUp => "it was ended since nobody wanted it any more".to_owned(),
            Ended::Flooded => "it said too much and was ended".to_owned(),
            Ended::Failed(error) => format!("it could not be run: {error}"),
        };
        let said: Vec<&str> = self.errors.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if said.is_empty() { how } else { format!("{how}: {}", said.join(" / ")) }
    }
}

#[cfg(unix)]
mod attended {
    //! One loop that polls all pipes of a program together. It leaves nothing behind: even where a child of the program
    //! holds a pipe open, our end of that pipe is closed.

    use std::io::{self, Read, Write};
    use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
    use std::time::{Duration, Instant};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::ioctl_fionbio;

    use super::{Ended, Program, Ran};
    use crate::group::{Group, Pipes};

    /// How many bytes of a program's standard error are kept.
    const MOST_ERRORS: usize = 2 * 1024;
    /// How often to check for the exit of a program whose pipes are open.
    const GLANCE: Duration = Duration::from_millis(20);
    /// How often to check for the exit of a program that has closed its pipes, and so is about to end.
    const SHORT_GLANCE: Duration = Duration::from_millis(1);
    /// How many reads of its pipes follow the exit, if others go on writing there: a pipe holds no more than that.
    const LAST_LOOKS: usize = 20;

    pub(super) fn run(program: &Program<'_>, input: &[u8], cancelled: &dyn Fn() -> bool) -> io::Result<Ran> {
        let mut command = Command::new(program.path);
        program.prepare(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let group = Group::start(&mut command)?;
        let attended = Attended::to(group.pipes(), program).and_then(|mut attended| {
            let ended_by = attended.until_it_ends(&group, input, cancelled)?;
            Ok((ended_by, attended.output, attended.errors))
        });
        let may_leave = matches!(attended, Ok((None, ..)) if program.leaves);
        let status = if may_leave {
            group.wait_alone()?
        } else {
            group.kill();
            group.wait()?
        };
        let (stopped, output, errors) = attended?;
        let ended = stopped.unwrap_or(Ended::Exited(status));
        Ok(Ran { ended, output, errors: String::from_utf8_lossy(&errors).into_owned() })
    }

    /// The open pipes of a program, and the output that was read from them.
    struct Attended {
        stdin: Option<ChildStdin>,
        stdout: Option<ChildStdout>,
        stderr: Option<ChildStderr>,
        output: Vec<u8>,
        errors: Vec<u8>,
        deadline: Instant,
        most: usize,
        is_cut: bool,
    }

    impl Attended {
        fn to((stdin, stdout, stderr): Pipes, program: &Program<'_>) -> io::Result<Self> {
            stdin.iter().try_for_each(|pipe| ioctl_fionbio(pipe, true))?;
            stdout.iter().try_for_each(|pipe| ioctl_fionbio(pipe, true))?;
            stderr.iter().try_for_each(|pipe| ioctl_fionbio(pipe, true))?;
            let deadline = Instant::now() + program.timeout;
            let (output, errors) = Default::default();
            let (most, is_cut) = (program.most, program.is_cut);
            Ok(Self { stdin, stdout, stderr, output, errors, deadline, most, is_cut })
        }

        /// Writes input and reads output until the program has exited. Returns the reason if it must be killed instead.
        fn until_it_ends(
            &mut self,
            group: &Group,
            mut input: &[u8],
            cancelled: &dyn Fn() -> bool,
        ) -> io::Result<Option<Ended>> {
            let mut room = vec![0; 64 * 1024];
            let mut last_looks = 0;
            loop {
                if input.is_empty() {
                    self.stdin = None;
                }
                // Checked before the pipes are read: otherwise, output written between the two would be lost.
                let has_ended = group.has_ended()?;
                let is_quiet = self.stdout.is_none() && self.stderr.is_none();
                let patience = match self.deadline.checked_duration_since(Instant::now()) {
                    _ if has_ended => Duration::ZERO,
                    _ if cancelled() => return Ok(Some(Ended::GivenUp)),
                    None => return Ok(Some(Ended::TimedOut)),
                    Some(left) => left.min(if is_quiet { SHORT_GLANCE } else { GLANCE }),
                };
                let is_idle = self.wait(patience)?;
                self.feed(&mut input);
                let most = if self.is_cut { self.most } else { usize::MAX };
                hear(&mut self.stdout, &mut room, |bytes| keep(&mut self.output, bytes, most));
                hear(&mut self.stderr, &mut room, |bytes| keep(&mut self.errors, bytes, MOST_ERRORS));
                if self.output.len() > self.most {
                    return Ok(Some(Ended::Flooded));
                }
                // What the program left in its pipes is read; what others write there later is not its output.
                last_looks += usize::from(has_ended);
                if has_ended && (is_idle || last_looks == LAST_LOOKS) {
                    return Ok(None);
                }
            }
        }

        /// Waits until a pipe is ready. Returns whether none is.
        fn wait(&self, patience: Duration) -> io::Result<bool> {
            let mut pipes = Vec::with_capacity(3);
            pipes.extend(self.stdin.iter().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
            pipes.extend(self.stdout.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            pipes.extend(self.stderr.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
            match poll(&mut pipes, Some(&patience)) {
                Ok(ready) => Ok(ready == 0),
                Err(rustix::io::Errno::INTR) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }

        fn feed(&mut self, input: &mut &[u8]) {
            let Some(pipe) = &mut self.stdin else { return };
            match pipe.write(input) {
                Ok(taken) => *input = &input[taken..],
                Err(error) if is_for_later(&error) => {}
                // The program has closed its standard input.
                Err(_) => *input = &[],
            }
        }
    }

    /// Reads a pipe once into the buffer `room`, passes the bytes to `take`, and closes the pipe at its end.
    fn hear(pipe: &mut Option<impl Read>, room: &mut [u8], take: impl FnOnce(&[u8])) {
        let Some(open) = pipe else { return };
        match open.read(room) {
            Ok(0) => *pipe = None,
            Ok(count) => take(&room[..count]),
            Err(error) if is_for_later(&error) => {}
            Err(_) => *pipe = None,
        }
    }

    /// Appends these bytes, up to `most` in all.
    fn keep(kept: &mut Vec<u8>, bytes: &[u8], most: usize) {
        let fits = bytes.len().min(most.saturating_sub(kept.len()));
        kept.extend_from_slice(&bytes[..fits]);
    }

    fn is_for_later(error: &io::Error) -> bool {
        matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
    }
}

#[cfg(not(unix))]
#[path = "run/by_threads.rs"]
mod attended;

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str, input: &[u8], limits: impl FnOnce(&mut Program<'_>)) -> Ran {
        let (arguments, search) = (["-c".to_owned(), script.to_owned()], usual());
        let mut program = Program {
            path: Path::new("/bin/sh"),
            arguments: &arguments,
            folder: Path::new("/"),
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
    fn what_goes_in_and_comes_out_is_whole() {
        let input: Vec<u8> = (0..300_000u32).map(|n| n as u8).collect();
        assert_eq!(shell("cat", &input, |_| {}).done().unwrap(), input);
        assert_eq!(shell("echo -n done; exec cat >/dev/null", &input, |_| {}).done().unwrap(), b"done");
        // The program need not read its input.
        assert_eq!(shell("echo -n done", &input, |_| {}).done().unwrap(), b"done");
    }

    #[test]
    fn of_the_environment_a_program_gets_what_it_may() {
        let all = |environment| {
            let ran = shell("env", b"", |program| program.environment = environment);
            String::from_utf8(ran.done().unwrap()).unwrap()
        };
        assert!(all(None).contains("CARGO_MANIFEST_DIR="));
        let given = all(Some(&[("GIVEN", "yes")]));
        assert!(given.contains("GIVEN=yes\n") && given.contains("PATH=/usr/bin:/bin\n"), "{given}");
        assert!(!given.contains("CARGO_MANIFEST_DIR="), "{given}");
    }

    #[test]
    fn how_it_ends_is_told() {
        let why = |script: &str| shell(script, b"", |_| {}).done().unwrap_err();
        assert_eq!(why("echo no >&2; exit 3"), "it ended with exit code 3: no");
        assert_eq!(why("kill -9 $$"), "it was killed");
        let search = usual();
        let absent = Program { path: Path::new("/none"), ..program(&[], &search) };
        assert!(matches!(absent.run(b"", &|| false).ended, Ended::Failed(_)));
    }

    #[test]
    fn what_hangs_or_floods_is_ended_with_all_that_it_started() {
        let soon = |program: &mut Program<'_>| program.timeout = Duration::from_millis(50);
        assert!(matches!(shell("sleep 1000", b"", soon).ended, Ended::TimedOut));
        assert!(matches!(shell("sleep 1000 & sleep 1000", b"", soon).ended, Ended::TimedOut));
        assert!(matches!(shell("exec <&- >&- 2>&-; sleep 1000", b"", soon).ended, Ended::TimedOut));
        let flooded = shell("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", b"", |program| {
            program.most = 1000;
        });
        assert!(matches!(flooded.ended, Ended::Flooded));
        let complains =
            shell("i=0; while [ $i -lt 20000 ]; do echo xxxxxxxxxx >&2; i=$((i+1)); done", b"", |_| {});
        assert!(complains.errors.len() <= 2048 && complains.done().is_ok());
    }

    #[test]
    fn who_leaves_the_group_is_ended_too() {
        let arguments = ["-e", "setpgrp(0, getpgrp(getppid())); sleep 30"].map(str::to_owned);
        let search = usual();
        let mut program = program(&arguments, &search);
        program.path = Path::new("/usr/bin/perl");
        program.timeout = Duration::from_millis(500);
        if program.path.exists() {
            let begun = std::time::Instant::now();
            assert!(matches!(program.run(b"", &|| false).ended, Ended::TimedOut));
            assert!(begun.elapsed() < Duration::from_secs(25));
        }
    }

    #[test]
    fn what_is_given_up_is_ended() {
        let ran = program(&["-c".into(), "sleep 1000".into()], &usual()).run(b"", &|| true);
        assert!(matches!(ran.ended, Ended::GivenUp));
    }

    #[test]
    fn what_a_program_leaves_behind_is_not_waited_for() {
        let ran = shell("sleep 1000 & echo -n done", b"", |_| {});
        assert_eq!(ran.done().unwrap(), b"done");
        // Nor is a child that goes on writing.
        let ran = shell("while echo x >&2; do sleep 0.005; done & echo -n done", b"", |program| {
            (program.timeout, program.leaves) = (Duration::from_secs(5), true);
        });
        assert_eq!(ran.done().unwrap(), b"done");
        // A child goes on where `leaves` is set.
        let ran = shell("sleep 1000 & echo -n $!", b"", |program| program.leaves = true);
        let left = String::from_utf8(ran.done().unwrap()).unwrap();
        let left = rustix::process::Pid::from_raw(left.parse().unwrap()).unwrap();
        rustix::process::kill_process(left, rustix::process::Signal::KILL).unwrap();
    }

    fn usual() -> Search {
        Search::new::<&Path>(Some("/usr/bin:/bin".into()), &[])
    }

    fn program<'a>(arguments: &'a [String], search: &'a Search) -> Program<'a> {
        let timeout = Duration::from_secs(60);
        Program {
            path: Path::new("/bin/sh"),
            arguments,
            folder: Path::new("/"),
            search,
            environment: None,
            timeout,
            most: 1,
            is_cut: false,
            leaves: false,
        }
    }
}
