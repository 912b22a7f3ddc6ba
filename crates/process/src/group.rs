//! Process groups: a program and all that it starts end together.

use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
#[cfg(not(unix))]
use std::time::Duration;

use emend_threads::Mutex;

/// A process that leads a group of its own.
pub struct Group {
    id: u32,
    /// None once it was reaped: from then on its id may belong to another process, so it gets no signals.
    child: Mutex<Option<Child>>,
    /// The job that the process and its children are in, if it could be made.
    #[cfg(windows)]
    job: Mutex<Option<emend_windows::Job>>,
}

/// The standard input, output and error of a process, as far as its command made pipes of them.
pub type Pipes = (Option<ChildStdin>, Option<ChildStdout>, Option<ChildStderr>);

/// How often to check for the exit of a process on systems that report it only by reaping.
#[cfg(not(unix))]
const LOOK: Duration = Duration::from_millis(5);

impl Group {
    /// Starts a process as the leader of a new group.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        #[cfg(windows)]
        apart(command);
        let child = command.spawn()?;
        Ok(Self {
            id: child.id(),
            #[cfg(windows)]
            job: Mutex::new(emend_windows::Job::around(&child).ok()),
            child: Mutex::new(Some(child)),
        })
    }

    /// Returns the process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Takes the pipes of the process; a second call returns none.
    pub fn pipes(&self) -> Pipes {
        let mut child = self.child.lock();
        let pipes =
            child.as_mut().map(|child| (child.stdin.take(), child.stdout.take(), child.stderr.take()));
        pipes.unwrap_or_default()
    }

    /// Kills the process and all that it has started.
    pub fn kill(&self) {
        #[cfg(windows)]
        drop(self.job.lock().take());
        if let Some(child) = self.child.lock().as_mut() {
            kill_group(child);
            // The process may have left its group.
            let _ = child.kill();
        }
    }

    /// Waits for the process to exit, kills what it has started, and returns its exit status.
    pub fn wait(&self) -> io::Result<ExitStatus> {
        self.wait_without_reaping();
        #[cfg(windows)]
        drop(self.job.lock().take());
        self.reap(kill_group)
    }

    /// Waits for the process to exit, lets what it has started go on, and returns its exit status.
    pub fn wait_alone(&self) -> io::Result<ExitStatus> {
        self.wait_without_reaping();
        #[cfg(windows)]
        if let Some(job) = self.job.lock().take() {
            job.release();
        }
        self.reap(|_| {})
    }

    fn reap(&self, first: impl FnOnce(&mut Child)) -> io::Result<ExitStatus> {
        let mut child =
            self.child.lock().take().ok_or_else(|| io::Error::other("it was waited for already"))?;
        first(&mut child);
        child.wait()
    }

    /// Returns whether the process has exited, without reaping it.
    #[cfg(unix)]
    pub fn has_ended(&self) -> io::Result<bool> {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let child = self.child.lock();
        let Some(id) = child.as_ref().and_then(pid) else { return Ok(true) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(id), options)?.is_some())
    }

    /// Returns whether the process has exited.
    #[cfg(not(unix))]
    pub fn has_ended(&self) -> io::Result<bool> {
        let mut child = self.child.lock();
        let Some(child) = child.as_mut() else { return Ok(true) };
        Ok(child.try_wait()?.is_some())
    }

    /// Waits for the exit without reaping: children may outlive the process, and its id must keep naming their group.
    #[cfg(unix)]
    fn wait_without_reaping(&self) {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let Some(id) = self.child.lock().as_ref().and_then(pid) else { return };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(id), options) {}
    }

    #[cfg(not(unix))]
    fn wait_without_reaping(&self) {
        let is_running = || matches!(self.child.lock().as_mut().map(Child::try_wait), Some(Ok(None)));
        while is_running() {
            std::thread::sleep(LOOK);
        }
    }
}

/// Gives a process a console of its own that nobody sees, so that it does not end at a Ctrl-C that is meant for this process, and
/// no window opens where this process has none. It also holds none of the pipes of this process.
#[cfg(windows)]
fn apart(command: &mut Command) {
    const CREATE_NO_WINDOW: u32 = 0x0800_0000;
    std::os::windows::process::CommandExt::creation_flags(command, CREATE_NO_WINDOW);
    emend_windows::keep_standard_handles();
}

#[cfg(unix)]
fn kill_group(child: &mut Child) {
    if let Some(id) = pid(child) {
        // An error means that the group is already empty.
        let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(child: &mut Child) {
    let _ = child.kill();
}

#[cfg(unix)]
fn pid(child: &Child) -> Option<rustix::process::Pid> {
    i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
}
