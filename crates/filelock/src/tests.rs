//! Tests of the locks, each with two handles as two processes would have them.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use super::*;

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(30);

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn lock_file(folder: &tempfile::TempDir) -> File {
    File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.path().join("locks"))
        .unwrap()
}

/// Opens what stands for a folder: itself, where the system locks folders.
fn open(folder: &tempfile::TempDir) -> File {
    if LOCKS_FOLDERS { File::open(folder.path()).unwrap() } else { lock_file(folder) }
}

#[test]
fn many_share_a_folder_or_one_has_it_alone() {
    let folder = folder();
    let open = || open(&folder);
    let (one, two, three) = (open(), open(), open());
    assert!(lock(&one, Hold::Shared, Instant::now()).unwrap());
    assert!(lock(&two, Hold::Shared, Instant::now()).unwrap());
    assert!(!lock(&three, Hold::Alone, Instant::now()).unwrap());
    unlock(&one).unwrap();
    drop(two);
    assert!(lock(&three, Hold::Alone, Instant::now()).unwrap());
    assert!(!lock(&one, Hold::Shared, Instant::now()).unwrap());
}

#[test]
fn a_wait_ends_when_its_time_is_over() {
    let folder = folder();
    let (mine, other) = (open(&folder), open(&folder));
    assert!(lock(&mine, Hold::Alone, Instant::now()).unwrap());
    for _ in 0..3 {
        let until = Instant::now() + SHORT;
        assert!(!lock(&other, Hold::Alone, until).unwrap());
        assert!(Instant::now() >= until);
    }
}

#[test]
fn a_wait_ends_with_the_lock_as_soon_as_that_is_free() {
    let folder = folder();
    let mine = open(&folder);
    assert!(lock(&mine, Hold::Alone, Instant::now()).unwrap());
    let (tell, told) = mpsc::channel();
    let waiting = thread::spawn({
        let other = open(&folder);
        move || {
            tell.send(()).unwrap();
            lock(&other, Hold::Alone, Instant::now() + LONG).unwrap()
        }
    });
    told.recv().unwrap();
    unlock(&mine).unwrap();
    assert!(waiting.join().unwrap());
}

#[test]
#[cfg(any(target_os = "linux", windows))]
fn bytes_of_a_file_are_locked_one_by_one() {
    let folder = folder();
    let (mine, other) = (lock_file(&folder), lock_file(&folder));
    assert!(lock_byte(&mine, 7, Instant::now()).unwrap());
    assert!(lock_byte(&mine, u32::MAX, Instant::now()).unwrap());
    assert!(lock_byte(&other, 8, Instant::now()).unwrap());
    assert!(!lock_byte(&other, 7, Instant::now() + SHORT).unwrap());
    unlock_byte(&mine, 7).unwrap();
    assert!(lock_byte(&other, 7, Instant::now()).unwrap());
    assert!(!lock_byte(&other, u32::MAX, Instant::now()).unwrap());
    drop(mine);
    assert!(lock_byte(&other, u32::MAX, Instant::now()).unwrap());
}

#[test]
#[cfg(any(target_os = "linux", windows))]
fn marks_of_a_folder_are_seen_by_others_and_exclude_nobody() {
    let folder = folder();
    let open = || open(&folder);
    let (mine, other, third) = (open(), open(), open());
    mark_byte(&mine, 7).unwrap();
    mark_byte(&mine, 9).unwrap();
    mark_byte(&other, 7).unwrap();
    assert!(cfg!(windows) || !is_marked(&mine, Some(9)).unwrap(), "that is its own");
    assert!(is_marked(&mine, Some(7)).unwrap() && is_marked(&third, Some(9)).unwrap());
    assert!(!is_marked(&third, Some(8)).unwrap() && is_marked(&third, None).unwrap());
    unmark_byte(&mine, 9).unwrap();
    assert!(!is_marked(&other, Some(9)).unwrap());
    drop(mine);
    unmark_byte(&other, 7).unwrap();
    assert!(!is_marked(&third, None).unwrap());
}

#[test]
#[cfg(target_os = "linux")]
fn a_waiting_thread_leaves_no_thread_and_no_timer_behind() {
    let folder = folder();
    let (mine, other) = (lock_file(&folder), lock_file(&folder));
    assert!(lock_byte(&mine, 1, Instant::now()).unwrap());
    let timers = || std::fs::read_to_string("/proc/self/timers").map(|timers| timers.matches("ID:").count());
    for _ in 0..20 {
        assert!(!lock_byte(&other, 1, Instant::now() + Duration::from_millis(3)).unwrap());
    }
    // Other tests of this process may wait at this moment.
    assert!(timers().is_ok_and(|running| running < 5) || timers().is_err());
    drop(mine);
    assert!(lock_byte(&other, 1, Instant::now()).unwrap());
}
