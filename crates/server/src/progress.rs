//! Progress of an edit: from the thread that does the work to notifications for a client that asked for them.
//!
//! Progress is sent in whole percents, each at most once. So there are at most a hundred notifications, and they always
//! grow. The response waits for the last of them. A call that is answered within half a second has none: a person would
//! not see them, and a client may take them for those of a call that it has forgotten.

use std::cell::Cell;
use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use emend_workspace::{Phase, Progress};

/// The time after which a call tells of its progress. Tests, whose calls are short, set another one in milliseconds.
const QUIET: Duration = Duration::from_millis(500);
const QUIET_OF_TESTS: &str = "EMEND_PROGRESS_AFTER";

fn quiet() -> Duration {
    let set = std::env::var(QUIET_OF_TESTS).ok().and_then(|time| time.parse().ok());
    set.map_or(QUIET, Duration::from_millis)
}

/// The sender, on the thread that does the work.
pub(crate) struct ProgressSender {
    channel: UnboundedSender<(usize, Progress)>,
    last: Cell<usize>,
}

/// The receiver, where notifications are sent.
pub(crate) struct ProgressReceiver(UnboundedReceiver<(usize, Progress)>);

/// Creates both ends of a progress channel.
pub(crate) fn channel() -> (ProgressSender, ProgressReceiver) {
    let (channel, receiver) = unbounded_channel();
    (ProgressSender { channel, last: Cell::new(0) }, ProgressReceiver(receiver))
}

impl ProgressSender {
    pub(crate) fn send(&self, progress: Progress) {
        let percent = percent(progress);
        if percent > self.last.replace(percent.max(self.last.get())) {
            // The receiver only goes when nobody waits for the response any more.
            let _ = self.channel.send((percent, progress));
        }
    }
}

impl ProgressReceiver {
    /// Waits for the time in which a client is told nothing. Returns the newest progress, unless the work is done.
    async fn newest_after(&mut self, quiet: Duration) -> Option<(usize, Progress)> {
        let mut newest = None;
        let in_quiet = async {
            while let Some(next) = self.0.recv().await {
                newest = Some(next);
            }
        };
        match tokio::time::timeout(quiet, in_quiet).await {
            Ok(()) => None,
            Err(_) => match newest {
                Some(newest) => Some(newest),
                None => self.0.recv().await,
            },
        }
    }

    /// Notifies the client until the sender is dropped.
    pub(crate) async fn notify_client(mut self, client: &Peer<RoleServer>, token: &ProgressToken) {
        let quiet = quiet();
        let mut next = if quiet.is_zero() { self.0.recv().await } else { self.newest_after(quiet).await };
        while let Some((percent, progress)) = next {
            let notification = ProgressNotificationParam::new(token.clone(), percent as f64)
                .with_total(100.0)
                .with_message(message(progress));
            if client.notify_progress(notification).await.is_err() {
                // The client is gone; the work goes on.
                break;
            }
            next = self.0.recv().await;
        }
    }
}

/// Returns the percentage, in which each phase has an equal share.
fn percent(Progress { what, done, total }: Progress) -> usize {
    let before = Phase::ALL.iter().filter(|phase| **phase < what).count();
    let total = total.max(1);
    (before * total + done.min(total)) * 100 / (Phase::ALL.len() * total)
}

fn message(Progress { what, done, total }: Progress) -> String {
    let what = match what {
        Phase::Read => "Read",
        Phase::Stage => "Prepared",
        Phase::Place => "Placed",
    };
    let files = if total == 1 { "file" } else { "files" };
    format!("{what} {done} of {total} {files}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_percents_are_told_once_and_only_upwards() {
        let (sender, mut receiver) = channel();
        for what in Phase::ALL {
            for done in 0..5_000 {
                sender.send(Progress { what, done, total: 5_000 });
            }
        }
        // Somebody begins anew.
        sender.send(Progress { what: Phase::Read, done: 2_500, total: 5_000 });
        drop(sender);
        let percents: Vec<usize> =
            std::iter::from_fn(|| receiver.0.try_recv().ok()).map(|sent| sent.0).collect();
        assert_eq!(percents, (1..100).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn short_work_tells_nothing_and_long_work_only_the_newest() {
        let progress = |done| Progress { what: Phase::Read, done, total: 300 };
        let (sender, mut receiver) = channel();
        (1..100).for_each(|done| sender.send(progress(done)));
        drop(sender);
        assert!(receiver.newest_after(QUIET).await.is_none());
        let (sender, mut receiver) = channel();
        (1..100).for_each(|done| sender.send(progress(done)));
        let newest = receiver.newest_after(Duration::from_millis(1)).await;
        assert_eq!(newest.map(|newest| newest.0), Some(11));
    }

    #[test]
    fn a_few_files_are_told_too() {
        let (sender, mut receiver) = channel();
        sender.send(Progress { what: Phase::Read, done: 0, total: 0 });
        sender.send(Progress { what: Phase::Place, done: 0, total: 1 });
        assert_eq!(receiver.0.try_recv().map(|sent| sent.0).ok(), Some(66));
        assert!(receiver.0.try_recv().is_err());
    }
}
