//! How a server is told to end: by a supervisor (SIGTERM), with Ctrl-C, or by a terminal that is closed.
//!
//! A thread of its own hears it, so that it is heard whatever the others are doing. It also has the last word: a process
//! that was told to end ends, even if something in it hangs.

use std::io;
use std::process;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::exit::Exit;

/// How long the process has to end once it was told a second time: also on a slow disk enough for the last events.
const AT_ONCE: Duration = Duration::from_secs(5);

/// It does little, also where there is little memory.
const STACK: usize = 256 * 1024;

/// How often this process was told to end.
#[derive(Clone)]
pub(crate) struct Told(watch::Receiver<usize>);

impl Told {
    /// From now on being told to end is not the end by itself: that has as long as this. Told again, or after that time, the
    /// process ends whatever it is doing.
    pub(crate) fn listen(longest: Duration) -> io::Result<Self> {
        let ((tell, told), (begin, begun)) = (watch::channel(0), mpsc::sync_channel(1));
        let hear = move || match listening() {
            Ok((runtime, signals)) => {
                let _ = begin.send(Ok(()));
                runtime.block_on(end(signals, &tell, longest));
            }
            Err(error) => {
                let _ = begin.send(Err(error));
            }
        };
        thread::Builder::new().name("signals".into()).stack_size(STACK).spawn(hear)?;
        begun.recv().map_err(io::Error::other)??;
        Ok(Self(told))
    }

    /// Waits until it is told so, if it has not been yet.
    pub(crate) async fn once(&self) {
        self.times(1).await;
    }

    /// Waits until it is told so from now on.
    pub(crate) async fn again(&self) {
        let before = *self.0.borrow();
        self.times(before + 1).await;
    }

    async fn times(&self, times: usize) {
        if self.0.clone().wait_for(|told| *told >= times).await.is_err() {
            // Nobody listens any more.
            std::future::pending::<()>().await;
        }
    }
}

/// What hears signals from now on.
fn listening() -> io::Result<(Runtime, Signals)> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let signals = {
        let _inside = runtime.enter();
        Signals::new()?
    };
    Ok((runtime, signals))
}

/// Tells of each signal, and sees to it that the process ends.
async fn end(mut signals: Signals, tell: &watch::Sender<usize>, longest: Duration) {
    signals.next().await;
    tracing::info!("stopping");
    tell.send_replace(1);
    // Told again, or too late: it makes no difference.
    let _ = timeout(longest, signals.next()).await;
    tell.send_replace(2);
    sleep(AT_ONCE).await;
    tracing::warn!("something hangs; the process ends without it");
    process::exit(Exit::Fault as i32);
}

/// What tells a process to end.
struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    #[cfg(unix)]
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: if ends_with_terminal() { Some(signal(SignalKind::hangup())?) } else { None },
        })
    }

    #[cfg(not(unix))]
    fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => hangup.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = hangup => {}
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}

/// Whether this process ends with its terminal: not one that `nohup` has started, and hearing the signal would undo that.
/// Where this cannot be known, the system's own answer to the signal stays.
#[cfg(unix)]
fn ends_with_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is the first of them.
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & 1 == 0)
}
