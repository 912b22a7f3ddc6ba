//! A process with a timeout.

use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process_group};

/// The time for the end of the output of what was killed.
const REST: Duration = Duration::from_secs(5);

/// Runs a command to its end and shows its output only if it fails. After the timeout, kills it and all that it
/// started.
pub fn run(command: &mut Command, time: Duration) -> Result<Output> {
    let shown = format!("{command:?}");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = to_the_end(command, time)?;
    ensure!(output.status.success(), "{shown} failed ({}):\n{}", output.status, said(&output));
    Ok(output)
}

/// Runs a command that starts something which goes on without it, and would keep its output open.
pub fn start(command: &mut Command, time: Duration) -> Result<()> {
    let shown = format!("{command:?}");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let status = to_the_end(command, time)?.status;
    ensure!(status.success(), "{shown} failed ({status})");
    Ok(())
}

fn to_the_end(command: &mut Command, time: Duration) -> Result<Output> {
    let shown = format!("{command:?}");
    let child = command.stdin(Stdio::null()).process_group(0).spawn();
    let child = child.with_context(|| format!("{shown} cannot be started"))?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a process has an id")?;
    let (send, receive) = mpsc::channel();
    thread::spawn(move || send.send(child.wait_with_output()));
    let Ok(output) = receive.recv_timeout(time) else {
        kill_process_group(group, Signal::KILL)?;
        // What has left the group may still hold the output open.
        let output = receive.recv_timeout(REST).ok().and_then(Result::ok);
        let said = output.map(|output| said(&output)).unwrap_or_default();
        bail!("{shown} is not done after {time:.0?}; it said:\n{said}");
    };
    Ok(output?)
}

fn said(output: &Output) -> String {
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    text.concat()
}
