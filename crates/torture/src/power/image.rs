//! An ext4 file system in a file, mounted only in the mount namespace of one server: when that process ends,
//! however it ends, the mount and its loop device are gone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use emend_testkit::{Client, Launch};
use rustix::process::{Pid, Signal, kill_process};

/// Large enough for a journal, small enough to be copied at once.
const BYTES: u64 = 32 * 1024 * 1024;
/// Mounts its first argument on its second, and becomes the rest.
const MOUNTED: &str = r#"mount -o loop "$1" "$2" && shift 2 && exec "$@""#;
/// How often a copy is begun anew because something was written meanwhile.
const COPIES: usize = 100;

/// A file system in a file, and where its servers see it.
pub(super) struct Image {
    pub(super) file: PathBuf,
    pub(super) at: PathBuf,
}

impl Image {
    /// Makes one that holds what is in this folder.
    pub(super) fn make(file: &Path, at: &Path, content: &Path) -> Result<Self> {
        fs::create_dir_all(at)?;
        fs::File::create(file)?.set_len(BYTES)?;
        let made = Command::new("mkfs.ext4")
            .args(["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", "-d"])
            .args([content, file])
            .output()
            .context("there is no mkfs.ext4 (Debian: apt-get install e2fsprogs)")?;
        ensure!(made.status.success(), "mkfs.ext4: {}", String::from_utf8_lossy(&made.stderr).trim());
        Ok(Self { file: file.into(), at: at.into() })
    }

    /// The same file system as this copy of it has it.
    pub(super) fn of_copy(&self, copy: &Path) -> Self {
        Self { file: copy.into(), at: self.at.clone() }
    }

    /// Whether this machine lets us mount it.
    pub(super) fn try_mounting(&self) -> Result<()> {
        let tried = Command::new("unshare")
            .args(self.arguments())
            .arg("true")
            .stdin(Stdio::null())
            .output()
            .context("there is no unshare (Debian: util-linux)")?;
        let told = String::from_utf8_lossy(&tried.stderr);
        ensure!(tried.status.success(), "a loop device cannot be mounted here: {}", told.trim());
        Ok(())
    }

    /// A server that sees it mounted, its workspace and state on it.
    pub(super) fn server(&self, emend: &Path) -> Mounted {
        let launch = Launch::new(emend).workspace(self.at.join("ws")).state(self.at.join("state"));
        let client = launch.under("unshare", self.arguments()).legacy();
        let inside = format!("/proc/{}/root{}", client.process(), self.at.display()).into();
        Mounted { client, inside, image: self.file.clone() }
    }

    fn arguments(&self) -> Vec<String> {
        let [file, at] = [&self.file, &self.at].map(|path| path.display().to_string());
        let fixed = ["--mount", "--propagation", "private", "sh", "-c", MOUNTED, "sh"].map(str::to_owned);
        fixed.into_iter().chain([file, at]).collect()
    }
}

/// A server, and the file system that only it has mounted.
pub(super) struct Mounted {
    pub(super) client: Client,
    /// Where this process sees what the server has mounted.
    pub(super) inside: PathBuf,
    image: PathBuf,
}

impl Mounted {
    /// What stops the server and copies its image, from any thread.
    pub(super) fn switch(&self) -> Result<Switch> {
        let process = self.client.process();
        let mounts = fs::read_to_string(format!("/proc/{process}/mountinfo"))?;
        let device = mounts.lines().rev().find_map(|line| {
            let (_, source) = line.split_once(" - ext4 ")?;
            source.split(' ').next()?.strip_prefix("/dev/")
        });
        let device = device.context("the mount is not there")?;
        let statistics = format!("/sys/block/{device}/stat").into();
        Ok(Switch { process, statistics, image: self.image.clone() })
    }
}

/// The switch that the power goes off with.
pub(super) struct Switch {
    process: u32,
    statistics: PathBuf,
    image: PathBuf,
}

impl Switch {
    /// Stops the server, each of its threads at the end of the system call that it is in.
    pub(super) fn stop(&self) -> Result<Stopped<'_>> {
        self.signal(Signal::STOP)?;
        let stopped = Stopped(self);
        self.wait_until_stopped()?;
        Ok(stopped)
    }

    fn signal(&self, signal: Signal) -> Result<()> {
        let process = Pid::from_raw(self.process.try_into()?).context("no process")?;
        Ok(kill_process(process, signal)?)
    }

    fn wait_until_stopped(&self) -> Result<()> {
        loop {
            let mut is_stopped = true;
            for thread in fs::read_dir(format!("/proc/{}/task", self.process))? {
                // One that has just ended has no state any more.
                let state = fs::read_to_string(thread?.path().join("stat")).unwrap_or_default();
                is_stopped &=
                    state.rsplit(") ").next().is_none_or(|rest| rest.is_empty() || rest.starts_with('T'));
            }
            if is_stopped {
                return Ok(());
            }
            std::thread::yield_now();
        }
    }

    /// How many writes have ended, and how many calls are on their way.
    fn writes(&self) -> Result<(u64, u64)> {
        let statistics = fs::read_to_string(&self.statistics)?;
        let number = |at: usize| statistics.split_whitespace().nth(at).and_then(|number| number.parse().ok());
        number(4).zip(number(8)).context("statistics of the loop device")
    }
}

/// A server that does not run. It goes on when this is dropped.
pub(super) struct Stopped<'a>(&'a Switch);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        // It fails only if there is no such process any more.
        let _ = self.0.signal(Signal::CONT);
    }
}

impl Stopped<'_> {
    /// Copies what has reached the disk.
    ///
    /// The kernel may write back on its own meanwhile: then the copy would be of no moment that ever was.
    pub(super) fn copy(&self, to: &Path) -> Result<()> {
        for _ in 0..COPIES {
            let before = self.0.writes()?;
            fs::copy(&self.0.image, to)?;
            if before == self.0.writes()? && before.1 == 0 {
                return Ok(());
            }
        }
        anyhow::bail!("the disk is never still")
    }
}
