//! The room for edits on threads. Those that wait for a lock wait there, and what reads needs threads too. Each owner has a
//! share that nobody else takes: whose lock is held by another process waits behind its own edits alone.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use emend_threads::Mutex;
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{Effort, lock};

use crate::session::Owner;

/// How many edits are on threads at once: half of the threads that tokio has for what blocks.
const EDITS: usize = 256;
/// How long an edit waits for room. Of the time that it may wait altogether, a second is left for its lock.
const PATIENCE: Duration = lock::PATIENCE.saturating_sub(Duration::from_secs(1));

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Editing(Mutex<HashMap<Owner, Arc<Semaphore>>>);

/// Room for one edit, until this is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    _permit: OwnedSemaphorePermit,
    /// How long the edit may still wait.
    pub(crate) effort: Effort,
}

impl Editing {
    /// Waits for room for one more edit of this owner.
    pub(crate) async fn room(&self, owner: &Owner, cancelled: &CancellationToken) -> Result<Room, Problem> {
        let share = (EDITS / owner.sharers()).max(1);
        let permits = self.permits(owner, share);
        // Most often there is room, and no clock is asked.
        if let Ok(permit) = Arc::clone(&permits).try_acquire_owned() {
            return Ok(Room { _permit: permit, effort: Effort::Patient });
        }
        let begun = Instant::now();
        tokio::select! {
            permit = tokio::time::timeout(PATIENCE, permits.acquire_owned()) => match permit {
                Ok(Ok(permit)) => Ok(Room { _permit: permit, effort: Effort::Waited(begun.elapsed()) }),
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
    use crate::session::Token;

    #[tokio::test]
    async fn who_has_taken_all_its_share_waits_and_others_do_not() {
        let [ann, ben] = ["ann", "ben"].map(|name| Owner::Token(Token::new(name).shared_by(2)));
        let (editing, cancelled) = (Editing::default(), CancellationToken::new());
        let mut hers = Vec::new();
        for _ in 0..EDITS / 2 {
            hers.push(editing.room(&ann, &cancelled).await.unwrap());
        }
        let mut next = Box::pin(editing.room(&ann, &cancelled));
        assert!(now(&mut next).await.is_none());
        let his = editing.room(&ben, &cancelled).await.unwrap();
        assert_eq!(his.effort, Effort::Patient);
        drop(hers.pop());
        let Effort::Waited(waited) = next.await.unwrap().effort else { panic!("it has waited") };
        assert!(waited <= PATIENCE);
        let mut next = Box::pin(editing.room(&ann, &cancelled));
        assert!(now(&mut next).await.is_some(), "that room is free again");
        cancelled.cancel();
    }

    #[tokio::test]
    async fn however_many_there_are_each_has_some_room() {
        let (editing, cancelled) = (Editing::default(), CancellationToken::new());
        let many = Owner::Token(Token::new("ann").shared_by(1_000));
        editing.room(&many, &cancelled).await.unwrap();
    }

    /// What a future yields without waiting.
    async fn now<T>(future: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
        tokio::select! {
            biased;
            yielded = future => Some(yielded),
            () = std::future::ready(()) => None,
        }
    }
}
