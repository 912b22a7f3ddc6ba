//! Background jobs: callers put jobs into a collection, and a thread does them one after the other.
//!
//! Callers never wait. Each user chooses the collection, and thereby its bound: a queue ([`VecDeque`]), only the newest
//! job ([`Option`]), or a collection that merges later jobs into earlier ones.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::{Condvar, Mutex};

/// A collection of waiting jobs.
pub trait Waiting: Send + 'static {
    /// One job.
    type Job;

    /// Removes and returns the next job, if there is one.
    fn take_next(&mut self) -> Option<Self::Job>;
}

impl<T: Send + 'static> Waiting for VecDeque<T> {
    type Job = T;

    fn take_next(&mut self) -> Option<T> {
        self.pop_front()
    }
}

impl<T: Send + 'static> Waiting for Option<T> {
    type Job = T;

    fn take_next(&mut self) -> Option<T> {
        self.take()
    }
}

/// Waiting jobs and the thread that does them. The thread starts with the first job. It ends after this value is closed
/// or dropped, once it has done the jobs that waited then. A job that panics does not affect the others.
pub struct Background<W: Waiting> {
    name: String,
    shared: Arc<Shared<W>>,
}

struct Shared<W: Waiting> {
    state: Mutex<State<W>>,
    changed: Condvar,
    /// The function that does a job, until the thread takes it.
    work: Mutex<Option<Work<W>>>,
}

type Work<W> = Box<dyn FnMut(<W as Waiting>::Job) + Send>;

struct State<W> {
    waiting: W,
    has_thread: bool,
    /// Whether the thread has nothing to do, or there is none.
    is_idle: bool,
    is_closed: bool,
}

impl<W: Waiting> Background<W> {
    /// Makes the worker without starting its thread, which will have this name. `work` does each job that comes out of
    /// `waiting` and may keep state between jobs; it is dropped when the thread ends.
    pub fn new(name: impl Into<String>, waiting: W, work: impl FnMut(W::Job) + Send + 'static) -> Self {
        let state = State { waiting, has_thread: false, is_idle: true, is_closed: false };
        let (state, changed) = (Mutex::new(state), Condvar::new());
        let shared = Arc::new(Shared { state, changed, work: Mutex::new(Some(Box::new(work))) });
        Self { name: name.into(), shared }
    }

    /// Changes the waiting jobs, usually to add one, and wakes the thread. Returns `None`, and changes nothing, if this
    /// is closed or the system refuses a thread.
    pub fn push<R>(&self, change: impl FnOnce(&mut W) -> R) -> Option<R> {
        let mut state = self.shared.state.lock();
        if state.is_closed {
            return None;
        }
        if !state.has_thread {
            let shared = Arc::clone(&self.shared);
            let thread = thread::Builder::new().name(self.name.clone()).spawn(move || shared.work_through());
            if let Err(error) = thread {
                tracing::warn!(name = self.name, %error, "what is to be done in the background has no thread");
                return None;
            }
            state.has_thread = true;
        }
        state.is_idle = false;
        let changed = change(&mut state.waiting);
        self.shared.changed.notify_all();
        Some(changed)
    }

    /// Calls `look` with the waiting jobs, to read or remove some.
    pub fn with_waiting<R>(&self, look: impl FnOnce(&mut W) -> R) -> R {
        look(&mut self.shared.state.lock().waiting)
    }

    /// Waits until all jobs are done, but no longer than `patience`. Returns whether they are done.
    pub fn wait(&self, patience: Duration) -> bool {
        let state = self.shared.state.lock();
        !self.shared.changed.wait_timeout_while(state, patience, |state| !state.is_idle).1
    }

    /// Refuses further jobs. Those that wait are still done.
    pub fn close(&self) {
        self.shared.state.lock().is_closed = true;
        self.shared.changed.notify_all();
    }
}

impl<W: Waiting> Drop for Background<W> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<W: Waiting> fmt::Debug for Background<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Background({})", self.name)
    }
}

impl<W: Waiting> Shared<W> {
    fn work_through(&self) {
        let Some(mut work) = self.work.lock().take() else { return };
        while let Some(job) = self.next() {
            if catch_unwind(AssertUnwindSafe(|| work(job))).is_err() {
                let thread = thread::current();
                tracing::error!(name = thread.name(), "what was done in the background failed");
            }
        }
    }

    /// Waits for the next job; `None` once this is closed and no job is left.
    fn next(&self) -> Option<W::Job> {
        let mut state = self.state.lock();
        loop {
            if let Some(job) = state.waiting.take_next() {
                return Some(job);
            }
            state.is_idle = true;
            self.changed.notify_all();
            if state.is_closed {
                return None;
            }
            state = self.changed.wait(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// A queue that reports each job as it begins, and whose first job hangs until it is released.
    struct Hanging {
        background: Background<VecDeque<u32>>,
        release: mpsc::Sender<()>,
        told: mpsc::Receiver<u32>,
    }

    const HANGS: u32 = 0;
    const PANICS: u32 = 1;

    fn hanging() -> Hanging {
        let (tell, told) = mpsc::channel();
        let (release, wait) = mpsc::channel();
        let background = Background::new("test", VecDeque::new(), move |job| {
            tell.send(job).unwrap();
            match job {
                HANGS => wait.recv().unwrap(),
                PANICS => panic!("it is caught"),
                _ => {}
            }
        });
        let hanging = Hanging { background, release, told };
        hanging.push(HANGS);
        assert_eq!(hanging.told.recv_timeout(LONG), Ok(HANGS));
        hanging
    }

    impl Hanging {
        fn push(&self, job: u32) {
            assert_eq!(self.background.push(|waiting| waiting.push_back(job)), Some(()));
        }
    }

    #[test]
    fn jobs_are_done_in_order_and_waited_for() {
        let Hanging { background, release, told } = hanging();
        for job in 2..100 {
            background.push(|waiting| waiting.push_back(job)).unwrap();
        }
        assert!(!background.wait(Duration::ZERO));
        release.send(()).unwrap();
        assert!(background.wait(LONG));
        assert!(told.try_iter().eq(2..100));
        assert!(background.wait(Duration::ZERO));
    }

    #[test]
    fn a_job_that_panics_costs_itself_alone() {
        let hanging = hanging();
        [PANICS, 2].into_iter().for_each(|job| hanging.push(job));
        hanging.release.send(()).unwrap();
        assert!(hanging.background.wait(LONG));
        assert!(hanging.told.try_iter().eq([PANICS, 2]));
    }

    #[test]
    fn what_is_closed_takes_nothing_and_does_what_waits() {
        let hanging = hanging();
        hanging.push(2);
        hanging.background.close();
        assert_eq!(hanging.background.push(|waiting| waiting.push_back(3)), None);
        let Hanging { background, release, told } = hanging;
        drop(background);
        release.send(()).unwrap();
        // The thread ends and drops the sender.
        assert!(told.iter().eq([2]));
    }

    #[test]
    fn what_waits_can_be_taken_out() {
        let hanging = hanging();
        hanging.push(2);
        hanging.background.with_waiting(VecDeque::clear);
        hanging.release.send(()).unwrap();
        assert!(hanging.background.wait(LONG));
        assert!(hanging.told.try_iter().next().is_none());
    }

    #[test]
    fn of_an_option_the_newest_alone_is_done() {
        let (tell, told) = mpsc::channel();
        let background = Background::new("test", None, move |job: u32| tell.send(job).unwrap());
        let newest = background.push(|waiting| {
            *waiting = Some(1);
            waiting.replace(2)
        });
        assert_eq!(newest, Some(Some(1)));
        assert!(background.wait(LONG));
        assert!(told.try_iter().eq([2]));
    }

    #[test]
    fn what_has_had_no_job_has_no_thread_and_nothing_to_wait_for() {
        let background = Background::new("test", VecDeque::<()>::new(), |()| {});
        assert!(background.wait(Duration::ZERO));
        background.close();
        assert!(background.wait(Duration::ZERO));
    }
}
