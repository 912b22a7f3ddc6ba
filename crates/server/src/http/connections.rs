//! The slots for connections, and who holds them.
//!
//! A connection that has not shown a token yet may come from anybody. It has little time for that, and when all slots
//! are taken, the oldest such connection is closed for a new one, so silent connections lock nobody out. A connection
//! with a token is never closed for another, but each principal has only a share of the slots, and one share is kept free.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use emend_threads::Mutex;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The smallest share of a principal, where there is room for it.
const SMALLEST_SHARE: usize = 16;

/// The slots of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    share: usize,
    slots: Mutex<Slots>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Slots {
    last: u64,
    /// The holders by slot number, the oldest first.
    taken: BTreeMap<u64, Holder>,
}

/// The holder of a slot.
#[derive(Debug)]
enum Holder {
    /// A connection that has shown no token yet. Cancelling this closes it.
    Nobody(CancellationToken),
    /// A connection whose last request has shown a token of the principal with this number.
    Principal(u64),
}

/// The slot of a connection, which is freed when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    connections: Arc<Connections>,
    number: u64,
    evicted: CancellationToken,
}

impl Connections {
    /// Creates `most` slots, which so many principals share.
    pub(crate) fn new(most: usize, sharers: usize) -> Arc<Self> {
        let share = (most / (sharers + 1)).max(SMALLEST_SHARE.min(most / 2)).max(1);
        Arc::new(Self { most, share, slots: Mutex::default(), freed: Notify::new() })
    }

    /// Returns how many slots are taken.
    #[cfg(feature = "team")]
    pub(crate) fn count(&self) -> usize {
        self.slots.lock().taken.len()
    }

    /// Takes a slot for a new connection. Waits only while connections with tokens hold all slots.
    pub(crate) async fn admit(self: &Arc<Self>) -> Slot {
        loop {
            let freed = self.freed.notified();
            if let Some(slot) = self.slot() {
                return slot;
            }
            freed.await;
        }
    }

    fn slot(self: &Arc<Self>) -> Option<Slot> {
        let mut slots = self.slots.lock();
        if slots.taken.len() >= self.most {
            let is_nobodys = |holder: &Holder| matches!(holder, Holder::Nobody(_));
            let oldest =
                slots.taken.iter().find(|(_, holder)| is_nobodys(holder)).map(|(number, _)| *number)?;
            if let Some(Holder::Nobody(evicted)) = slots.taken.remove(&oldest) {
                evicted.cancel();
            }
        }
        slots.last += 1;
        let (number, evicted) = (slots.last, CancellationToken::new());
        slots.taken.insert(number, Holder::Nobody(evicted.clone()));
        Some(Slot { connections: Arc::clone(self), number, evicted })
    }
}

impl Slot {
    /// Assigns the slot to the principal of a request. Returns whether they had a slot of their share left.
    pub(crate) fn assign_principal(&self, principal: u64) -> bool {
        let mut slots = self.connections.slots.lock();
        let is_its = |holder: &Holder| matches!(holder, Holder::Principal(other) if *other == principal);
        // The slot is missing if it was just taken for another connection.
        match slots.taken.get(&self.number) {
            None => return false,
            Some(holder) if is_its(holder) => return true,
            Some(_) => {}
        }
        let taken = slots.taken.values().filter(|holder| is_its(holder)).count();
        if taken >= self.connections.share {
            return false;
        }
        slots.taken.insert(self.number, Holder::Principal(principal));
        true
    }

    /// Waits until the connection has to be closed: it has shown no token in time, or its slot was taken for another.
    pub(crate) async fn wait_until_expired(&self, patience: Duration) {
        tokio::select! {
            () = self.evicted.cancelled() => return,
            () = tokio::time::sleep(patience) => {}
        }
        if matches!(self.connections.slots.lock().taken.get(&self.number), Some(Holder::Principal(_))) {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.slots.lock().taken.remove(&self.number);
        self.connections.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_that_is_nobodys_makes_room() {
        let all = Connections::new(3, 1);
        let slots: Vec<Slot> = (0..3).map(|_| all.slot().unwrap()).collect();
        assert!(slots[0].assign_principal(0));
        let fourth = all.slot().unwrap();
        let evicted: Vec<bool> = slots.iter().map(|slot| slot.evicted.is_cancelled()).collect();
        assert_eq!(evicted, [false, true, false]);
        assert!(!slots[1].assign_principal(0), "it has made room");
        drop(slots);
        assert_eq!(all.slots.lock().taken.len(), 1);
        drop(fourth);
        assert_eq!(all.slots.lock().taken.len(), 0);
    }

    #[test]
    fn no_token_has_more_than_its_share() {
        let all = Connections::new(6, 2);
        assert_eq!(all.share, 3);
        let slots: Vec<Slot> = (0..6).map(|_| all.slot().unwrap()).collect();
        let its: Vec<bool> = slots.iter().take(4).map(|slot| slot.assign_principal(0)).collect();
        assert_eq!(its, [true, true, true, false]);
        assert!(slots[0].assign_principal(0), "it is its already");
        assert!(slots[0].assign_principal(1), "a proxy has many on one connection");
        assert!(slots[3].assign_principal(0));
        assert_eq!(Connections::new(1_024, 1).share, 512);
        assert_eq!(Connections::new(1_024, 1_000).share, SMALLEST_SHARE);
        assert_eq!(Connections::new(1, 1).share, 1);
    }

    #[tokio::test]
    async fn who_comes_while_tokens_have_all_places_waits_for_one() {
        let all = Connections::new(1, 1);
        let first = all.admit().await;
        assert!(first.assign_principal(0));
        let (second, ()) = tokio::join!(all.admit(), async { drop(first) });
        assert!(second.assign_principal(0));
    }
}
