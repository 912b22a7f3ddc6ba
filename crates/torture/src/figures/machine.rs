//! The machine that the figures come from, and the build that was measured.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Describes the machine, and the file system of this folder.
pub(super) fn describe(folder: &Path) -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once(':'))
            .map_or_else(|| "?".into(), |(_, value)| value.trim().to_owned())
    };
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let memory = field(&read("/proc/meminfo"), "MemTotal");
    let memory = memory.trim_end_matches(" kB").parse::<f64>().unwrap_or_default() / (1 << 20) as f64;
    format!(
        "{cores} cores ({}), {memory:.0} GB of memory, Linux {}, {}.",
        field(&read("/proc/cpuinfo"), "model name"),
        read("/proc/sys/kernel/osrelease").trim(),
        file_system(&read("/proc/mounts"), folder),
    )
}

/// The day and the measured build.
pub(super) fn describe_build(emend: &Path) -> String {
    let said = |command: &mut Command| {
        let output = command.output().map(|output| output.stdout).unwrap_or_default();
        String::from_utf8_lossy(&output).trim().to_owned()
    };
    let version = said(Command::new(emend).arg("--version"));
    let commit = said(Command::new("git").args(["log", "-1", "--format=%h of %cs"]));
    let day = said(Command::new("date").args(["-u", "+%Y-%m-%d"]));
    format!("Measured on {day} with {version}; the source is at commit {commit}.")
}

/// The kind of the file system that a folder is in.
fn file_system(mounts: &str, folder: &Path) -> String {
    let mount = |line: &str| {
        let mut fields = line.split(' ').skip(1);
        let (path, kind) = (fields.next()?.to_owned(), fields.next()?.to_owned());
        folder.starts_with(&path).then_some((path, kind))
    };
    // Of two mounts at the same path, the later one covers the earlier.
    let deepest = mounts.lines().filter_map(mount).max_by_key(|(path, _)| path.len());
    deepest.map_or_else(|| "unknown file system".into(), |(_, kind)| kind)
}

/// A field of a process's status that is a size, in MB.
pub(super) fn memory_of(process: u32, field: &str) -> std::io::Result<f64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    Ok(kilobytes.unwrap_or(f64::NAN) / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_in_the_deepest_mount_around_it() {
        let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\ntmpfs /t ramfs rw 0 0\n";
        let kinds = ["/tmp/x", "/tmpx", "/t"].map(|folder| file_system(mounts, Path::new(folder)));
        assert_eq!(kinds, ["tmpfs", "ext4", "ramfs"]);
    }
}
