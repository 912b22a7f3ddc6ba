//! The limit of edits on threads. An edit that waits for a lock blocks a thread, and reading calls need threads too.
//! Each owner has its own share, so edits that wait for locked files delay only other edits of the same owner.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use emend_threads::Mutex;
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{Effort, folder_lock};

use crate::session::Owner;

/// The number of edits on threads at once: half of tokio's threads for blocking work.
const EDITS: usize = 256;
/// The time that an edit waits for a slot, which leaves a second of its whole patience for the lock.
const PATIENCE: Duration = folder_lock::PATIENCE.saturating_sub(Duration::from_secs(1));

/// The permits for edits, by owner.
#[derive(Debug, Default)]
pub(crate) struct EditSlots(Mutex<HashMap<Owner, Arc<Semaphore>>>);

/// The slot of one edit, until this is dropped.
#[derive(Debug)]
pub(crate) struct EditSlot {
    _permit: OwnedSemaphorePermit,
    /// The effort of the edit, which includes the time that it has waited.
    pub(crate) effort: Effort,
}

impl EditSlots {
    /// Waits for a slot for one more edit of this owner.
    pub(crate) async fn wait(
        &self,
        owner: &Owner,
        cancelled: &CancellationToken,
    ) -> Result<EditSlot, Problem> {
        let share = (EDITS / owner.sharers()).max(1);
        let permits = self.permits(owner, share);
        // Usually there is one, and the clock is not read.
        if let Ok(permit) = Arc::clone(&permits).try_acquire_owned() {
            return Ok(EditSlot { _permit: permit, effort: Effort::Patient });
        }
        let begun = Instant::now();
        tokio::select! {
            permit = tokio::time::timeout(PATIENCE, permits.acquire_owned()) => match permit {
                Ok(Ok(permit)) => Ok(EditSlot { _permit: permit, effort: Effort::Waited(begun.elapsed()) }),
                _ => Err(Problem::new(Kind::Crowded { edits: share, seconds: PATIENCE.as_secs() })),
            },
            () = cancelled.cancelled() => Err(Problem::new(Kind::Cancelled)),
        }
    }

    fn permits(&self, owner: &Owner, share: usize) -> Arc<Semaphore> {
        let mut all = self.0.lock();
        match all.get(owner) {
            Some(permits) => Arc::clone(permits),
            None => Arc::clone(all.entry(owner.clone()).or_insert_with(|| Arc::new(Semaphore::new(share)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::principal::Principal;

    #[tokio::test]
    async fn who_has_taken_all_its_share_waits_and_others_do_not() {
        let [ann, ben] = ["ann", "ben"].map(|name| Owner::Principal(Principal::of_token(name).shared_by(2)));
        let (slots, cancelled) = (EditSlots::default(), CancellationToken::new());
        let mut hers = Vec::new();
        for _ in 0..EDITS / 2 {
            hers.push(slots.wait(&ann, &cancelled).await.unwrap());
        }
        let mut next = Box::pin(slots.wait(&ann, &cancelled));
        assert!(now(&mut next).await.is_none());
        let his = slots.wait(&ben, &cancelled).await.unwrap();
        assert_eq!(his.effort, Effort::Patient);
        drop(hers.pop());
        let Effort::Waited(waited) = next.await.unwrap().effort else { panic!("it has waited") };
        assert!(waited <= PATIENCE);
        let mut next = Box::pin(slots.wait(&ann, &cancelled));
        assert!(now(&mut next).await.is_some(), "that slot is free again");
        cancelled.cancel();
    }

    #[tokio::test]
    async fn however_many_there_are_each_has_a_slot() {
        let (slots, cancelled) = (EditSlots::default(), CancellationToken::new());
        let many = Owner::Principal(Principal::of_token("ann").shared_by(1_000));
        slots.wait(&many, &cancelled).await.unwrap();
    }

    /// Returns the output of a future that is ready at once.
    async fn now<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
        tokio::select! {
            biased;
            yielded = future => Some(yielded),
            () = std::future::ready(()) => None,
        }
    }
}
