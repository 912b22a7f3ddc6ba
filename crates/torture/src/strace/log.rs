//! The log of an undisturbed run under strace, and the faults that can be injected into its calls.

use std::collections::{HashMap, HashSet};

use super::fault::{ERRORS, Effect, Fault};

/// The calls that touch files or their descriptors. strace leaves out the ones that a machine lacks (`?`).
const SYSCALLS: &str = "\
    ?open,?openat,?openat2,?creat,?read,?pread64,?readv,?preadv,?write,?pwrite64,?writev,?pwritev,?pwritev2,\
    ?copy_file_range,?fsync,?fdatasync,?syncfs,?sync_file_range,?rename,?renameat,?renameat2,?link,?linkat,\
    ?symlinkat,?unlink,?unlinkat,?rmdir,?mkdir,?mkdirat,?chmod,?fchmod,?fchmodat,?chown,?fchown,?fchownat,\
    ?flistxattr,?fgetxattr,?fsetxattr,?fremovexattr,?utimensat,?stat,?lstat,?statx,?newfstatat,?fstat,\
    ?faccessat,?faccessat2,?readlink,?readlinkat,?truncate,?ftruncate,?fallocate,?lseek,?flock,?fcntl,\
    ?getdents64,?close";

/// The calls to log in an undisturbed run.
pub(super) fn syscalls() -> String {
    SYSCALLS.into()
}

/// A call by one thread.
struct Call<'a> {
    syscall: &'a str,
    /// Its number among the calls of this name in the thread.
    number: usize,
    line: &'a str,
    /// The index of its line in the log.
    at: usize,
}

impl Call<'_> {
    /// Whether the call talks to the client or wakes a thread. If it fails, the server cannot answer.
    fn is_talk(&self) -> bool {
        ["<pipe:[", "<anon_inode:", "<socket:[", "<UNIX"].iter().any(|kind| self.line.contains(kind))
    }
}

fn calls(log: &str) -> Vec<Call<'_>> {
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    let call = |(at, line)| {
        let (thread, rest) = str::trim_start(line).split_once(' ')?;
        let (syscall, _) = rest.trim_start().split_once('(')?;
        // Skips signals, exits and the second halves of interrupted calls.
        if !syscall.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return None;
        }
        let count = counts.entry((thread, syscall)).or_default();
        *count += 1;
        Some(Call { syscall, number: *count, line, at })
    };
    log.lines().enumerate().filter_map(call).collect()
}

/// The point in a run from which faults are injected.
#[derive(Clone, Copy)]
pub(super) enum From<'a> {
    /// After the last answer but one.
    LastCall,
    /// At the first use of this path.
    FirstUse(&'a str),
}

/// The faults between that point and the last answer: a kill at any call, and each error at each call about files.
///
/// strace counts the calls of each thread separately, so a fault may strike several threads. A kill is used if the
/// first thread that it strikes is the meant one, an error only if it strikes no other thread.
pub(super) fn faults(log: &str, from: From<'_>) -> Vec<Fault> {
    let calls = calls(log);
    // A blocking call has two lines in the log; its result is on the second.
    let is_answer = |call: &&Call<'_>| {
        call.syscall.starts_with("write")
            && call.line.contains("<pipe:[")
            && call.line.contains(r#""{\"jsonrpc\""#)
    };
    let mut answers = calls.iter().filter(is_answer).map(|call| call.at).rev();
    let Some(end) = answers.next() else { return Vec::new() };
    let begin = match from {
        From::LastCall => answers.next(),
        From::FirstUse(path) => calls.iter().find(|call| call.line.contains(path)).map(|call| call.at - 1),
    };
    let Some(begin) = begin else { return Vec::new() };

    let mut threads: HashMap<(&str, usize), usize> = HashMap::new();
    let mut last_talk: HashMap<&str, usize> = HashMap::new();
    for call in &calls {
        *threads.entry((call.syscall, call.number)).or_default() += 1;
        if call.is_talk() {
            let last = last_talk.entry(call.syscall).or_default();
            *last = call.number.max(*last);
        }
    }
    let mut seen = HashSet::new();
    let mut faults = Vec::new();
    for call in &calls {
        let is_first = seen.insert((call.syscall, call.number));
        if !is_first || call.at <= begin || call.at > end {
            continue;
        }
        let mut fault =
            |effect| faults.push(Fault { syscall: call.syscall.into(), number: call.number, effect });
        fault(Effect::Kill);
        if threads[&(call.syscall, call.number)] > 1 || call.is_talk() {
            continue;
        }
        ERRORS.iter().for_each(|error| fault(Effect::Fail(error)));
        if last_talk.get(call.syscall).is_none_or(|last| *last < call.number) {
            ["EIO", "EROFS"].iter().for_each(|error| fault(Effect::FailOn(error)));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"10 openat(AT_FDCWD</>, "libc.so", O_RDONLY) = 3</libc.so>
10 fsync(3</libc.so>) = 0
11 writev(1<pipe:[2]>, [{iov_base="{\"jsonrpc\":\"2.0\",\"id\":1", iov_len=99}], 1) = 99
11 read(0<pipe:[1]>,  <unfinished ...>
11 <... read resumed>"{\"id\":2,\"jsonrpc\":\"2.0\",\"method\":\"tools/call\"", 8192) = 99
11 read(0<pipe:[1]>,  <unfinished ...>
10 openat(9</ws>, "a.txt", O_RDONLY) = 4</ws/a.txt>
12 openat(9</ws>, "b.txt", O_RDONLY) = 5</ws/b.txt>
10 fsync(4</ws/a.txt>) = 0
11 writev(1<pipe:[2]>, [{iov_base="{\"jsonrpc\":\"2.0\",\"id\":2", iov_len=99}], 1) = 99
11 <... read resumed>"", 8192) = 0
10 close(4</ws/a.txt>) = 0
"#;

    fn written(effect: Effect) -> Vec<String> {
        let faults = faults(LOG, From::LastCall);
        faults.iter().filter(|fault| fault.effect == effect).map(ToString::to_string).collect()
    }

    #[test]
    fn a_kill_strikes_between_the_call_and_its_answer_and_in_the_thread_that_is_meant() {
        let expected = ["read:1:kill", "read:2:kill", "openat:2:kill", "fsync:2:kill", "writev:2:kill"];
        assert_eq!(written(Effect::Kill), expected);
    }

    #[test]
    fn an_error_strikes_only_what_is_about_files() {
        assert_eq!(written(Effect::Fail("EIO")), ["openat:2:EIO", "fsync:2:EIO"]);
        assert_eq!(written(Effect::FailOn("EROFS")), ["openat:2:EROFS+", "fsync:2:EROFS+"]);
    }

    #[test]
    fn a_fault_is_read_as_it_is_written() {
        for fault in faults(LOG, From::FirstUse("/ws")) {
            assert_eq!(fault.to_string().parse::<Fault>().unwrap().to_string(), fault.to_string());
        }
        assert!("fsync:EIO".parse::<Fault>().is_err());
        assert!("fsync:1:EWHAT".parse::<Fault>().is_err());
    }
}
