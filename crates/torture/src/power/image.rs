//! An ext4 file system in a file, mounted only in the mount namespace of one server. When that process ends, in
//! whatever way, the mount and its loop device are gone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use emend_testkit::{Client, Launch};
use rustix::process::{Pid, Signal, kill_process};

/// Large enough for a journal, small enough for fast copies.
const BYTES: u64 = 32 * 1024 * 1024;
/// A script that mounts its first argument on its second and executes the rest.
const MOUNTED: &str = r#"mount -o loop "$1" "$2" && shift 2 && exec "$@""#;
/// How often a copy is repeated because the kernel wrote during it.
const COPIES: usize = 100;

/// A file system in a file, and its mount point.
pub(super) struct Image {
    pub(super) file: PathBuf,
    pub(super) at: PathBuf,
}

impl Image {
    /// Makes a file system with the content of this folder.
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

    /// A copy of the image, with the same mount point.
    pub(super) fn of_copy(&self, copy: &Path) -> Self {
        Self { file: copy.into(), at: self.at.clone() }
    }

    /// Checks that this machine lets us mount the image.
    pub(super) fn try_mounting(&self) -> Result<()> {
        let tried = Command::new("unshare")
            .args(self.arguments())
            .arg("true")
            .stdin(Stdio::null())
            .output()
            .context("there is no unshare (Debian: util-linux)")?;
        let problem = String::from_utf8_lossy(&tried.stderr);
        ensure!(tried.status.success(), "a loop device cannot be mounted here: {}", problem.trim());
        Ok(())
    }

    /// Starts a server with the image mounted, which holds its workspace and its state.
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

/// A server with its private mount.
pub(super) struct Mounted {
    pub(super) client: Client,
    /// The mount point as this process can reach it.
    pub(super) inside: PathBuf,
    image: PathBuf,
}

impl Mounted {
    /// A switch for any thread that stops the server and copies its image.
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

/// Turns the power off.
pub(super) struct Switch {
    process: u32,
    statistics: PathBuf,
    image: PathBuf,
}

impl Switch {
    /// Stops the server; each of its threads first finishes its system call.
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
                // A thread that has just ended has no state.
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

    /// The numbers of finished writes and of writes in flight.
    fn writes(&self) -> Result<(u64, u64)> {
        let statistics = fs::read_to_string(&self.statistics)?;
        let number = |at: usize| statistics.split_whitespace().nth(at).and_then(|number| number.parse().ok());
        number(4).zip(number(8)).context("statistics of the loop device")
    }
}

/// A stopped server. It continues when this is dropped.
pub(super) struct Stopped<'a>(&'a Switch);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        // This only fails if the process is gone.
        let _ = self.0.signal(Signal::CONT);
    }
}

impl Stopped<'_> {
    /// Copies what has reached the disk.
    ///
    /// The kernel may write during the copy. Such a copy is no state that ever existed, so it is repeated.
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
