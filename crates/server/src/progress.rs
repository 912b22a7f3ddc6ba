//! Progress of an edit: from the thread that does the work to notifications for a client that asked for them.
//!
//! Progress is sent in whole percents, each at most once. So there are at most a hundred notifications, they always
//! grow, and no clock is needed. The response waits for the last of them.

use std::cell::Cell;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::{Peer, RoleServer};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use emend_workspace::{Phase, Progress};

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
    /// Notifies the client until the sender is dropped.
    pub(crate) async fn notify_client(mut self, client: &Peer<RoleServer>, token: &ProgressToken) {
        while let Some((percent, progress)) = self.0.recv().await {
            let notification = ProgressNotificationParam::new(token.clone(), percent as f64)
                .with_total(100.0)
                .with_message(message(progress));
            if client.notify_progress(notification).await.is_err() {
                // The client is gone; the work goes on.
                break;
            }
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

    #[test]
    fn a_few_files_are_told_too() {
        let (sender, mut receiver) = channel();
        sender.send(Progress { what: Phase::Read, done: 0, total: 0 });
        sender.send(Progress { what: Phase::Place, done: 0, total: 1 });
        assert_eq!(receiver.0.try_recv().map(|sent| sent.0).ok(), Some(66));
        assert!(receiver.0.try_recv().is_err());
    }
}
