//! A process with a timeout.

use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process_group};

/// Runs a command to its end and shows its output only if it fails. After the timeout, kills it and all that it
/// started.
pub fn run(command: &mut Command, time: Duration) -> Result<Output> {
    let shown = format!("{command:?}");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let child = command.spawn().with_context(|| format!("{shown} cannot be started"))?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw).context("a process has an id")?;
    let (send, receive) = mpsc::channel();
    thread::spawn(move || send.send(child.wait_with_output()));
    let Ok(output) = receive.recv_timeout(time) else {
        kill_process_group(group, Signal::KILL)?;
        let said = receive.recv()?.map(|output| said(&output)).unwrap_or_default();
        bail!("{shown} is not done after {time:.0?}; it said:\n{said}");
    };
    let output = output?;
    ensure!(output.status.success(), "{shown} failed ({}):\n{}", output.status, said(&output));
    Ok(output)
}

fn said(output: &Output) -> String {
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    text.concat()
}
