//! What happens to the servers and the engine while clients edit, none of which may notice more than a pause.

use std::fmt;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

use super::TENANTS;
use super::cluster::{Cluster, LEASE};
use super::held::Held;
use crate::random::{Random, any_seed};

/// How long is waited for a commit to be in the middle of which a server is stopped.
const COMMIT: Duration = Duration::from_secs(5);
/// The exchanges that one thread makes at most before the server is stopped.
const EXCHANGES: usize = 8;

/// Where a server was paused.
#[derive(Clone, Copy, Debug)]
pub(super) enum Paused {
    /// After an exchange, before it was verified.
    InCommit,
    /// Anywhere, since strace cannot be had.
    Anywhere,
}

impl fmt::Display for Paused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InCommit => "one was paused in the middle of a commit",
            Self::Anywhere => "one was paused, not surely in a commit, for which strace is wanted",
        })
    }
}

/// Has everything happen, in equal parts of the time.
pub(super) fn meddle(cluster: &Cluster, time: Duration) -> Result<Paused> {
    let part = time / 6;
    thread::sleep(part);

    let held = Held::new(cluster, "red")?;
    let (number, process) = cluster.holder("red")?;
    kill_process(process, Signal::KILL)?;
    cluster.servers.lock()[number] = None;
    held.finish().context("after a server was killed")?;
    let server = cluster.server(number);
    cluster.servers.lock()[number] = Some(server);
    thread::sleep(part / 2);

    let held = Held::new(cluster, "green")?;
    let (number, process) = cluster.holder("green")?;
    let paused = pause(process)?;
    thread::sleep(Duration::from_secs(LEASE * 2));
    let (taken_over, _) = cluster.holder("green")?;
    ensure!(taken_over != number, "nobody has taken over from a server that is paused");
    kill_process(process, Signal::CONT)?;
    held.finish().context("after a server was paused")?;
    thread::sleep(part);

    let before: Vec<usize> =
        TENANTS.iter().map(|tenant| Ok(cluster.holder(tenant)?.0)).collect::<Result<_>>()?;
    drop(cluster.engine.lock().take());
    thread::sleep(Duration::from_millis(LEASE * 1000 / 4));
    cluster.start_engine()?;
    thread::sleep(part.max(Duration::from_secs(LEASE)));
    for (tenant, before) in TENANTS.iter().zip(before) {
        ensure!(
            cluster.holder(tenant)?.0 == before,
            "{tenant} has another server since the engine was started again"
        );
    }

    let held = Held::new(cluster, "blue")?;
    let (number, process) = cluster.holder("blue")?;
    kill_process(process, Signal::TERM)?;
    let ending = cluster.servers.lock()[number].take().context("it was there")?;
    ensure!(ending.wait().success(), "a server did not end well");
    held.finish().context("after a server was told to end")?;
    let server = cluster.server(number);
    cluster.servers.lock()[number] = Some(server);
    thread::sleep(part);
    Ok(paused)
}

/// Stops a server right after one of its next exchanges, if strace can be had, else at once.
fn pause(process: Pid) -> Result<Paused> {
    let exchange = Random::new(any_seed()).below(EXCHANGES) + 1;
    let mut trace = Command::new("strace");
    trace.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2", "-e"]);
    trace.arg(format!("inject=renameat2:signal=SIGSTOP:when={exchange}"));
    trace.args(["-p", &process.as_raw_nonzero().to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(tracer) = trace.spawn() {
        let mut tracer = Tracer(tracer);
        let until = Instant::now() + COMMIT;
        while Instant::now() < until && tracer.0.try_wait()?.is_none() {
            if is_stopped(process)? {
                // It stays stopped without its tracer.
                drop(tracer);
                ensure!(is_stopped(process)?, "a server goes on without its tracer");
                return Ok(Paused::InCommit);
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
    kill_process(process, Signal::STOP)?;
    Ok(Paused::Anywhere)
}

/// The running strace. It lets go of the server at its end.
struct Tracer(Child);

impl Drop for Tracer {
    fn drop(&mut self) {
        if let Some(tracer) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(tracer, Signal::TERM);
        }
        let _ = self.0.wait();
    }
}

/// Returns whether all threads of a process are stopped.
fn is_stopped(process: Pid) -> Result<bool> {
    for task in fs::read_dir(format!("/proc/{}/task", process.as_raw_nonzero()))? {
        let stat = fs::read_to_string(task?.path().join("stat"))?;
        // The name of a thread, in brackets, may have anything in it.
        let state = stat.rsplit_once(") ").and_then(|(_, after)| after.chars().next());
        if !matches!(state, Some('T' | 't')) {
            return Ok(false);
        }
    }
    Ok(true)
}
