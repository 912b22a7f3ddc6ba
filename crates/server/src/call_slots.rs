//! The limits of calls on threads, of which there is a fixed number. An edit that waits for a lock blocks a thread, and other
//! calls need threads too, so each kind has its part. Each owner has its own share of both: whoever calls without waiting for
//! answers delays only their own calls. A slot is taken until the work is done, also where the client has gone.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use emend_threads::Mutex;
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{Effort, folder_lock};

use crate::session::Owner;

/// The number of edits on threads at once: half of tokio's threads for blocking work.
const EDITS: usize = 256;
/// The number of other calls. The rest of the threads is for opening workspaces and for tokens.
const OTHERS: usize = 192;
/// The number of those that each owner has however many there are: some ask a language server, which takes its time, and what is
/// read meanwhile should not wait for them.
const LEAST_OTHERS: usize = 8;
/// Of how many tenants that call without end each could take all that there is. The calls of one leave the others their part.
const TENANTS: usize = 4;
/// The number of owners above which those that call no more are forgotten.
const KEPT: usize = 4_096;
/// The time that a call waits for a slot. It leaves a second of the whole patience of an edit for its lock.
const PATIENCE: Duration = folder_lock::PATIENCE.saturating_sub(Duration::from_secs(1));

/// What a slot is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum SlotKind {
    Edit,
    Other,
}

/// The permits for calls.
#[derive(Debug, Default)]
pub(crate) struct CallSlots(Mutex<Permits>);

/// The permits of each owner, and of all owners of a server.
type Permits = HashMap<(Option<Owner>, SlotKind), Arc<Semaphore>>;

/// The slot of one call, until this is dropped.
#[derive(Debug)]
pub(crate) struct CallSlot {
    _permits: [OwnedSemaphorePermit; 2],
    /// The effort of an edit, which includes the time that it has waited.
    pub(crate) effort: Effort,
}

impl CallSlots {
    /// Waits for a slot for one more call of this owner.
    pub(crate) async fn wait(
        &self,
        owner: &Owner,
        kind: SlotKind,
        cancelled: &CancellationToken,
    ) -> Result<CallSlot, Problem> {
        let (all, least) = match kind {
            SlotKind::Edit => (EDITS, 1),
            SlotKind::Other => (OTHERS, LEAST_OTHERS),
        };
        let share = (all / owner.sharers()).max(least);
        // Each tenant has a server of its own, on the same threads.
        let room = if owner.tenant().is_some() { all / TENANTS } else { all };
        let [own, common] =
            [(Some(owner), share), (None, room)].map(|(of, most)| self.permits(of, kind, most));
        // Usually there is one, and the clock is not read.
        if let Ok(permit) = Arc::clone(&own).try_acquire_owned()
            && let Ok(of_all) = Arc::clone(&common).try_acquire_owned()
        {
            return Ok(CallSlot { _permits: [permit, of_all], effort: Effort::Patient });
        }
        let begun = Instant::now();
        let is_own = own.available_permits() == 0;
        // Who has a permit and waits for one of all holds up nobody but their own calls.
        let both =
            async { Ok::<_, AcquireError>([own.acquire_owned().await?, common.acquire_owned().await?]) };
        tokio::select! {
            permits = tokio::time::timeout(PATIENCE, both) => match permits {
                Ok(Ok(permits)) => Ok(CallSlot { _permits: permits, effort: Effort::Waited(begun.elapsed()) }),
                _ => {
                    let calls = if is_own { share } else { room };
                    Err(Problem::new(Kind::Crowded { calls, seconds: PATIENCE.as_secs() }))
                }
            },
            () = cancelled.cancelled() => Err(Problem::new(Kind::Cancelled)),
        }
    }

    fn permits(&self, of: Option<&Owner>, kind: SlotKind, most: usize) -> Arc<Semaphore> {
        let mut all = self.0.lock();
        if all.len() >= KEPT {
            // Of those who call no more, nothing is held.
            all.retain(|_, permits| Arc::strong_count(permits) > 1);
        }
        Arc::clone(all.entry((of.cloned(), kind)).or_insert_with(|| Arc::new(Semaphore::new(most))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::principal::Principal;

    #[tokio::test]
    async fn who_has_taken_all_its_share_waits_and_others_do_not() {
        let [ann, ben] = ["ann", "ben"].map(|name| Owner::Principal(Principal::of_token(name).shared_by(2)));
        let (slots, cancelled) = (CallSlots::default(), CancellationToken::new());
        let mut hers = Vec::new();
        for _ in 0..EDITS / 2 {
            hers.push(slots.wait(&ann, SlotKind::Edit, &cancelled).await.unwrap());
        }
        let mut next = Box::pin(slots.wait(&ann, SlotKind::Edit, &cancelled));
        assert!(now(&mut next).await.is_none());
        let his = slots.wait(&ben, SlotKind::Edit, &cancelled).await.unwrap();
        assert_eq!(his.effort, Effort::Patient);
        drop(hers.pop());
        let Effort::Waited(waited) = next.await.unwrap().effort else { panic!("it has waited") };
        assert!(waited <= PATIENCE);
        let mut next = Box::pin(slots.wait(&ann, SlotKind::Edit, &cancelled));
        assert!(now(&mut next).await.is_some(), "that slot is free again");
        cancelled.cancel();
    }

    #[tokio::test]
    async fn however_many_there_are_each_has_a_slot() {
        let (slots, cancelled) = (CallSlots::default(), CancellationToken::new());
        let many = Owner::Principal(Principal::of_token("ann").shared_by(1_000));
        slots.wait(&many, SlotKind::Edit, &cancelled).await.unwrap();
        let mut readings = Vec::new();
        for _ in 0..LEAST_OTHERS {
            readings.push(slots.wait(&many, SlotKind::Other, &cancelled).await.unwrap());
        }
        assert!(now(&mut Box::pin(slots.wait(&many, SlotKind::Other, &cancelled))).await.is_none());
    }

    #[tokio::test]
    async fn a_tenant_leaves_the_others_their_part_however_many_its_people_are() {
        let (slots, cancelled) = (CallSlots::default(), CancellationToken::new());
        let person = |at: usize| {
            let principal = Principal::of_token(&format!("person {at}")).of_tenant(Some("red".into()));
            Owner::Principal(principal.shared_by(64))
        };
        let people: Vec<Owner> = (0..EDITS).map(person).collect();
        let mut theirs = Vec::new();
        for person in &people[..EDITS / TENANTS] {
            theirs.push(slots.wait(person, SlotKind::Edit, &cancelled).await.unwrap());
        }
        let mut next = Box::pin(slots.wait(&people[EDITS / TENANTS], SlotKind::Edit, &cancelled));
        assert!(now(&mut next).await.is_none());
        slots.wait(&people[EDITS / TENANTS], SlotKind::Other, &cancelled).await.unwrap();
        drop(theirs.pop());
        next.await.unwrap();
    }

    #[tokio::test]
    async fn readings_wait_for_readings_and_never_for_edits() {
        let ann = Owner::Principal(Principal::of_token("ann").shared_by(2));
        let (slots, cancelled) = (CallSlots::default(), CancellationToken::new());
        let mut hers = Vec::new();
        for _ in 0..EDITS / 2 {
            hers.push(slots.wait(&ann, SlotKind::Edit, &cancelled).await.unwrap());
        }
        for _ in 0..OTHERS / 2 {
            hers.push(slots.wait(&ann, SlotKind::Other, &cancelled).await.unwrap());
        }
        let mut next = Box::pin(slots.wait(&ann, SlotKind::Other, &cancelled));
        assert!(now(&mut next).await.is_none());
        drop(hers.pop());
        next.await.unwrap();
        // One that is called off holds nothing.
        let others: Vec<_> = (0..3).map(|_| slots.wait(&ann, SlotKind::Edit, &cancelled)).collect();
        cancelled.cancel();
        for other in others {
            assert!(matches!(*other.await.unwrap_err().kind, Kind::Cancelled));
        }
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
