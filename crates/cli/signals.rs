//! The signals that stop a server: SIGTERM from a supervisor, Ctrl-C, and SIGHUP from a terminal that closes; on Windows, what
//! a console tells its programs. A team's server has no terminal: SIGHUP tells it to read its settings again.
//!
//! A thread of its own handles them, whatever the other threads do. It also ends the process if something hangs.

use std::io;
use std::process;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::exit::Exit;

/// The time to end after a second signal. It is enough to write the last events, even to a slow disk.
const AT_ONCE: Duration = Duration::from_secs(5);

/// The time after which a process that the system itself is about to end no longer waits for what is under way: Windows leaves it
/// five seconds after its console is closed.
const SOON: Duration = Duration::from_secs(2);

/// The thread's stack. It is small, so that the thread also starts when memory is short.
const STACK: usize = 256 * 1024;

/// The number of signals that this process has received.
#[derive(Clone)]
pub(crate) struct StopRequests(watch::Receiver<usize>);

impl StopRequests {
    /// Starts to handle signals. After the first one, the process has this long to end. A second signal, or the end of
    /// that time, leaves it [`AT_ONCE`]; then it is forced to end.
    ///
    /// With `reloads`, SIGHUP is counted there and ends nothing.
    pub(crate) fn listen(longest: Duration, reloads: Option<watch::Sender<usize>>) -> io::Result<Self> {
        let ((count, requests), (begin, begun)) = (watch::channel(0), mpsc::sync_channel(1));
        let hear = move || match listening(reloads) {
            Ok((runtime, signals)) => {
                let _ = begin.send(Ok(()));
                runtime.block_on(end(signals, &count, longest));
            }
            Err(error) => {
                let _ = begin.send(Err(error));
            }
        };
        thread::Builder::new().name("signals".into()).stack_size(STACK).spawn(hear)?;
        begun.recv().map_err(io::Error::other)??;
        Ok(Self(requests))
    }

    /// Waits for the first signal, which may have come before.
    pub(crate) async fn first(&self) {
        self.times(1).await;
    }

    /// Waits for the next signal from now on.
    pub(crate) async fn next(&self) {
        let before = *self.0.borrow();
        self.times(before + 1).await;
    }

    async fn times(&self, times: usize) {
        if self.0.clone().wait_for(|requests| *requests >= times).await.is_err() {
            // The thread that handles signals is gone.
            std::future::pending::<()>().await;
        }
    }
}

/// A runtime and handlers for the signals.
fn listening(reloads: Option<watch::Sender<usize>>) -> io::Result<(Runtime, Signals)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _inside = runtime.enter();
        Signals::new(reloads)?
    };
    Ok((runtime, signals))
}

/// Counts the signals and makes sure that the process ends.
async fn end(mut signals: Signals, count: &watch::Sender<usize>, longest: Duration) {
    let longest = match signals.next().await {
        Urgency::Asked => longest,
        Urgency::Ending => longest.min(SOON),
    };
    tracing::info!("stopping");
    count.send_replace(1);
    // A second signal and the timeout have the same effect.
    let _ = timeout(longest, signals.next()).await;
    count.send_replace(2);
    sleep(AT_ONCE).await;
    tracing::warn!("something hangs; the process ends without it");
    process::exit(Exit::Fault as i32);
}

/// What a signal says of the time that is left.
#[derive(Clone, Copy)]
enum Urgency {
    /// Somebody wants the process to end.
    Asked,
    /// The system ends it in some seconds, whatever it does.
    #[cfg_attr(unix, expect(dead_code, reason = "only Windows says so"))]
    Ending,
}

/// The handlers of the signals that end a process.
#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: Option<tokio::signal::unix::Signal>,
    reloads: Option<watch::Sender<usize>>,
}

#[cfg(unix)]
impl Signals {
    fn new(reloads: Option<watch::Sender<usize>>) -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: match reloads.is_some() || ends_with_terminal() {
                true => Some(signal(SignalKind::hangup())?),
                false => None,
            },
            reloads,
        })
    }

    async fn next(&mut self) -> Urgency {
        let hangup = async {
            loop {
                match &mut self.hangup {
                    Some(hangup) => hangup.recv().await,
                    None => std::future::pending().await,
                };
                match &self.reloads {
                    Some(reloads) => reloads.send_modify(|times| *times += 1),
                    None => return,
                }
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            () = hangup => {}
        }
        Urgency::Asked
    }
}

/// The handlers of what a console tells its programs: Ctrl-C, Ctrl-Break, that it closes, and that the machine shuts down.
/// After the last two, Windows gives a process some seconds.
#[cfg(windows)]
struct Signals {
    interrupt: tokio::signal::windows::CtrlC,
    stop: tokio::signal::windows::CtrlBreak,
    close: tokio::signal::windows::CtrlClose,
    shutdown: tokio::signal::windows::CtrlShutdown,
}

#[cfg(windows)]
impl Signals {
    fn new(_reloads: Option<watch::Sender<usize>>) -> io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
        Ok(Self {
            interrupt: ctrl_c()?,
            stop: ctrl_break()?,
            close: ctrl_close()?,
            shutdown: ctrl_shutdown()?,
        })
    }

    async fn next(&mut self) -> Urgency {
        tokio::select! {
            _ = self.interrupt.recv() => Urgency::Asked,
            _ = self.stop.recv() => Urgency::Asked,
            _ = self.close.recv() => Urgency::Ending,
            _ = self.shutdown.recv() => Urgency::Ending,
        }
    }
}

/// Whether SIGHUP ends this process. It does not after `nohup`, and a handler would undo that. Where we cannot know,
/// the system's default stays.
#[cfg(unix)]
fn ends_with_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is the lowest bit of the mask.
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 == 0)
}
