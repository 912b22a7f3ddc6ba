//! A deadline for a call that blocks in the kernel: a timer of the waiting thread sends it a signal, which interrupts the
//! call.
//!
//! The signal is a real-time one that nothing else uses. Its handler does nothing and is set without `SA_RESTART`, so that
//! the call returns `EINTR`. A program that this process starts does not inherit the handler. The signal comes again
//! and again until the call has returned, since the first one may come just before the call begins.

use std::io;
use std::mem;
use std::ptr;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use libc::c_int;

/// The time between two signals once the deadline is over.
const AGAIN: Duration = Duration::from_millis(2);

/// Repeats a blocking call until it succeeds. Returns false if it does not until then.
pub(crate) fn wait_until(until: Instant, call: impl Fn() -> io::Result<()>) -> io::Result<bool> {
    let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) else {
        return Ok(false);
    };
    let _timer = Timer::start(left)?;
    loop {
        match call() {
            Ok(()) => return Ok(true),
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            Err(_) if Instant::now() >= until => return Ok(false),
            // A signal for something else.
            Err(_) => {}
        }
    }
}

/// A running timer, stopped on drop.
struct Timer(libc::timer_t);

impl Timer {
    /// Starts a timer that signals this thread after that time, and then again and again.
    #[allow(unsafe_code, reason = "no crate wraps the timers of a thread")]
    fn start(after: Duration) -> io::Result<Self> {
        let signal = signal()?;
        // SAFETY: the structure is plain numbers and a pointer that is not used; zero is a valid value for each.
        let mut event: libc::sigevent = unsafe { mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        // SAFETY: the call has no arguments and always succeeds.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        let mut timer: libc::timer_t = ptr::null_mut();
        // SAFETY: both pointers are to values that live as long as the call.
        check(unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) })?;
        let timer = Self(timer);
        let times = libc::itimerspec { it_interval: timespec(AGAIN), it_value: timespec(after) };
        // SAFETY: the timer exists, and the pointer is to a value that lives as long as the call.
        check(unsafe { libc::timer_settime(timer.0, 0, &raw const times, ptr::null_mut()) })?;
        Ok(timer)
    }
}

impl Drop for Timer {
    #[allow(unsafe_code, reason = "no crate wraps the timers of a thread")]
    fn drop(&mut self) {
        // SAFETY: the timer exists, and nothing uses it afterwards.
        unsafe { libc::timer_delete(self.0) };
    }
}

/// Returns the signal of the timers, once its handler is set.
fn signal() -> io::Result<c_int> {
    static SIGNAL: OnceLock<Result<c_int, i32>> = OnceLock::new();
    let set = || set_handler().map_err(|error| error.raw_os_error().unwrap_or_default());
    SIGNAL.get_or_init(set).map_err(io::Error::from_raw_os_error)
}

#[allow(unsafe_code, reason = "the crates for signals let the interrupted call go on")]
fn set_handler() -> io::Result<c_int> {
    extern "C" fn ignore(_signal: c_int) {}
    // The last ones are the least likely to be used by a library.
    let signal = libc::SIGRTMAX() - 1;
    // SAFETY: the structure is plain numbers, a set of signals and pointers that may be null; zero is valid for each.
    let mut action: libc::sigaction = unsafe { mem::zeroed() };
    action.sa_sigaction = ignore as extern "C" fn(c_int) as usize;
    // SAFETY: the pointer is to a value that lives as long as the call, and the handler does nothing.
    check(unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) })?;
    Ok(signal)
}

fn timespec(duration: Duration) -> libc::timespec {
    libc::timespec { tv_sec: duration.as_secs() as libc::time_t, tv_nsec: duration.subsec_nanos() as _ }
}

fn check(result: c_int) -> io::Result<()> {
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
