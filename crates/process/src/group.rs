//! A program and all that it starts: they end together.

use std::io;
use std::process::{Child, Command};
use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(not(unix))]
use std::time::Duration;

/// A process that leads a group of its own.
pub struct Group {
    id: u32,
    /// None once it was reaped: its number may be another's from then on, and nothing is sent to it.
    child: Mutex<Option<Child>>,
}

/// How often is looked whether it has ended where the system tells that only by reaping.
#[cfg(not(unix))]
const LOOK: Duration = Duration::from_millis(50);

impl Group {
    /// Starts it as the first of its group.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let child = command.spawn()?;
        Ok(Self { id: child.id(), child: Mutex::new(Some(child)) })
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Its pipes, while they are there.
    pub fn with<T>(&self, take: impl FnOnce(&mut Child) -> T) -> Option<T> {
        self.locked().as_mut().map(take)
    }

    /// Ends it and all that it has started.
    pub fn kill(&self) {
        if let Some(child) = self.locked().as_mut() {
            Self::kill_group(child);
        }
    }

    /// Waits for its end, ends what it has started, and says how it ended.
    pub fn wait(&self) -> String {
        self.wait_without_reaping();
        let Some(mut child) = self.locked().take() else { return "it had ended".into() };
        Self::kill_group(&mut child);
        match child.wait() {
            Ok(status) => format!("it ended with {status}"),
            Err(error) => format!("it ended, nobody knows how: {error}"),
        }
    }

    /// Its children outlive it, and can be reached by its number only as long as that is nobody else's.
    #[cfg(unix)]
    fn wait_without_reaping(&self) {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let Some(id) = pid(self.id) else { return };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(id), options) {}
    }

    #[cfg(unix)]
    fn kill_group(child: &mut Child) {
        if let Some(id) = pid(child.id()) {
            // That nobody is left in it is what is wanted.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
    }

    #[cfg(not(unix))]
    fn wait_without_reaping(&self) {
        while let Some(Ok(None)) = self.with(Child::try_wait) {
            std::thread::sleep(LOOK);
        }
    }

    #[cfg(not(unix))]
    fn kill_group(child: &mut Child) {
        let _ = child.kill();
    }

    fn locked(&self) -> MutexGuard<'_, Option<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(unix)]
fn pid(id: u32) -> Option<rustix::process::Pid> {
    i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw)
}
