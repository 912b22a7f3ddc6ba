//! Whether the disk that several servers share answers this one. Who waits for it serves nobody, and keeps others from it.

use std::io;
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use emend_threads::Mutex;

/// A disk that is asked now and then, as long as this is there.
#[derive(Debug)]
pub(super) struct DiskWatch {
    answered: Mutex<Instant>,
}

impl DiskWatch {
    /// Has `ask` called again and again, with a pause in between, on a thread of its own: it may hang.
    pub(super) fn start(
        pause: Duration,
        ask: impl Fn() -> io::Result<()> + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        let watch = Arc::new(Self { answered: Mutex::new(Instant::now()) });
        let asked = Arc::downgrade(&watch);
        thread::Builder::new().name("disk watch".into()).spawn(move || watch_disk(&asked, pause, &ask))?;
        Ok(watch)
    }

    /// Returns whether the disk has answered in this time.
    pub(super) fn answers_within(&self, time: Duration) -> bool {
        self.answered.lock().elapsed() <= time
    }
}

fn watch_disk(asked: &Weak<DiskWatch>, pause: Duration, ask: &dyn Fn() -> io::Result<()>) {
    loop {
        // An error is an answer, too: calls will be refused with it, here as with any other server.
        if let Err(error) = ask() {
            tracing::debug!(%error, "the disk is asked for nothing but an answer");
        }
        match asked.upgrade() {
            Some(watch) => *watch.answered.lock() = Instant::now(),
            None => return,
        }
        thread::sleep(pause);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_disk_that_hangs_is_noticed_and_one_that_comes_back_too() {
        let (answer, answers) = mpsc::channel();
        let (begin, begun) = mpsc::channel();
        let watch = DiskWatch::start(Duration::ZERO, move || {
            begin.send(()).ok();
            answers.recv().map_err(io::Error::other)?
        })
        .unwrap();
        begun.recv().unwrap();
        answer.send(Ok(())).unwrap();
        answer.send(Err(io::Error::other("no space"))).unwrap();
        // Both were answers once it asks again.
        begun.recv().unwrap();
        begun.recv().unwrap();
        let hung = Instant::now();
        while watch.answers_within(Duration::from_millis(50)) {
            thread::yield_now();
        }
        assert!(hung.elapsed() < Duration::from_secs(60));
        assert!(watch.answers_within(Duration::from_secs(3600)));
        answer.send(Ok(())).unwrap();
        begun.recv().unwrap();
        assert!(watch.answers_within(Duration::from_secs(60)));
        // Nobody asks any more once it is dropped.
        drop(watch);
        answer.send(Ok(())).unwrap();
        assert!(begun.recv().is_err());
    }
}
