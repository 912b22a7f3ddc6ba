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

#[test]
fn many_share_a_folder_or_one_has_it_alone() {
    let folder = folder();
    let open = || File::open(folder.path()).unwrap();
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
    let (mine, other) = (File::open(folder.path()).unwrap(), File::open(folder.path()).unwrap());
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
    let mine = File::open(folder.path()).unwrap();
    assert!(lock(&mine, Hold::Alone, Instant::now()).unwrap());
    let (tell, told) = mpsc::channel();
    let waiting = thread::spawn({
        let other = File::open(folder.path()).unwrap();
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
#[cfg(target_os = "linux")]
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
#[cfg(target_os = "linux")]
fn marks_of_a_folder_are_seen_by_others_and_exclude_nobody() {
    let folder = folder();
    let open = || File::open(folder.path()).unwrap();
    let (mine, other, third) = (open(), open(), open());
    mark_byte(&mine, 7).unwrap();
    mark_byte(&mine, 9).unwrap();
    mark_byte(&other, 7).unwrap();
    assert!(!is_marked(&mine, Some(9)).unwrap(), "that is its own");
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
