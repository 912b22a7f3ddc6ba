//! The room for what is handed on to other servers, of which no tenant takes so much that nothing is left for others.

use std::collections::HashMap;
use std::sync::Arc;

use emend_threads::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How much is handed on at once: the other servers have connections for their own clients, too.
const MOST: u32 = 256;
/// How much of that is left for tenants that have little.
const LEFT: usize = 64;
/// How much is little.
const LITTLE: usize = 8;

/// The room for what is handed on, of one kind.
#[derive(Debug)]
pub(super) struct Room {
    permits: Arc<Semaphore>,
    /// How much each tenant has.
    taken: Mutex<HashMap<String, usize>>,
}

impl Default for Room {
    fn default() -> Self {
        Self { permits: Arc::new(Semaphore::new(MOST as usize)), taken: Mutex::default() }
    }
}

impl Room {
    /// Takes a place for a tenant, or for everybody where there are no tenants, if there is one.
    pub(super) fn take(self: &Arc<Self>, tenant: Option<&str>) -> Option<Place> {
        let mut taken = self.taken.lock();
        if let Some(tenant) = tenant
            && self.permits.available_permits() <= LEFT
            && taken.get(tenant).is_some_and(|own| *own >= LITTLE)
        {
            return None;
        }
        let permit = Arc::clone(&self.permits).try_acquire_owned().ok()?;
        let tenant = tenant.unwrap_or_default().to_owned();
        *taken.entry(tenant.clone()).or_default() += 1;
        Some(Place { _permit: permit, room: Arc::clone(self), tenant })
    }

    /// Waits until nobody has a place.
    pub(super) async fn emptied(&self) {
        // It is never closed.
        let _ = self.permits.acquire_many(MOST).await;
    }
}

/// A place in a room, which is given back when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    _permit: OwnedSemaphorePermit,
    room: Arc<Room>,
    tenant: String,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.room.taken.lock();
        if let Some(own) = taken.get_mut(&self.tenant) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.tenant);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes places until there is none.
    fn fill(room: &Arc<Room>, tenant: Option<&str>) -> Vec<Place> {
        std::iter::from_fn(|| room.take(tenant)).collect()
    }

    #[test]
    fn who_takes_all_that_there_is_leaves_a_part_for_others() {
        let room = Arc::new(Room::default());
        let (red, green) = (fill(&room, Some("red")), fill(&room, Some("green")));
        assert_eq!((red.len(), green.len()), (MOST as usize - LEFT, LITTLE));
        drop(red);
        assert!(room.take(Some("red")).is_some());
        assert_eq!(room.taken.lock().len(), 1, "who has nothing is forgotten");
        drop(green);
        assert_eq!(fill(&room, None).len(), MOST as usize, "where there are no tenants, all is everybody's");
        assert_eq!(room.permits.available_permits(), MOST as usize);
    }
}
