//! Who holds the connections that a server has room for.
//!
//! Before it has shown a token, a connection may be anybody's. It has little time, and when all places are taken, the
//! oldest such connection makes room for the next one: whoever opens many and is silent locks nobody out. Those with a
//! token are left alone, but each token has only a share of the places, and one share is nobody's.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use emend_threads::Mutex;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The smallest share, where there is room for it.
const LEAST: usize = 16;

/// See the module.
pub(super) struct Connections {
    most: usize,
    share: usize,
    places: Mutex<Places>,
    freed: Notify,
}

#[derive(Default)]
struct Places {
    last: u64,
    /// The oldest first.
    taken: BTreeMap<u64, Holder>,
}

/// Who has a place.
enum Holder {
    /// Whoever has shown no token yet. Cancelled, the connection ends.
    Nobody(CancellationToken),
    /// Who has shown this one last, by its number.
    Token(usize),
}

/// The place of a connection, free again when this is dropped.
pub(super) struct Place {
    connections: Arc<Connections>,
    number: u64,
    evicted: CancellationToken,
}

impl Connections {
    /// So many places, for so many tokens.
    pub(super) fn new(most: usize, tokens: usize) -> Arc<Self> {
        let share = (most / (tokens + 1)).max(LEAST.min(most / 2)).max(1);
        Arc::new(Self { most, share, places: Mutex::default(), freed: Notify::new() })
    }

    /// A place for a new connection. Waits only where connections with tokens have all of them.
    pub(super) async fn admit(self: &Arc<Self>) -> Place {
        loop {
            let freed = self.freed.notified();
            if let Some(place) = self.place() {
                return place;
            }
            freed.await;
        }
    }

    fn place(self: &Arc<Self>) -> Option<Place> {
        let mut places = self.places.lock();
        if places.taken.len() >= self.most {
            let is_nobodys = |holder: &Holder| matches!(holder, Holder::Nobody(_));
            let oldest =
                places.taken.iter().find(|(_, holder)| is_nobodys(holder)).map(|(number, _)| *number)?;
            if let Some(Holder::Nobody(evicted)) = places.taken.remove(&oldest) {
                evicted.cancel();
            }
        }
        places.last += 1;
        let (number, evicted) = (places.last, CancellationToken::new());
        places.taken.insert(number, Holder::Nobody(evicted.clone()));
        Some(Place { connections: Arc::clone(self), number, evicted })
    }
}

impl Place {
    /// A request of this token came here. Yields whether it has a share left for that.
    pub(super) fn belongs_to(&self, token: usize) -> bool {
        let mut places = self.connections.places.lock();
        let is_its = |holder: &Holder| matches!(holder, Holder::Token(other) if *other == token);
        // It is no longer there where it has just made room.
        match places.taken.get(&self.number) {
            None => return false,
            Some(holder) if is_its(holder) => return true,
            Some(_) => {}
        }
        let taken = places.taken.values().filter(|holder| is_its(holder)).count();
        if taken >= self.connections.share {
            return false;
        }
        places.taken.insert(self.number, Holder::Token(token));
        true
    }

    /// Waits until the connection is to end: it has shown no token in this time, or makes room for another.
    pub(super) async fn ends(&self, patience: Duration) {
        tokio::select! {
            () = self.evicted.cancelled() => return,
            () = tokio::time::sleep(patience) => {}
        }
        if matches!(self.connections.places.lock().taken.get(&self.number), Some(Holder::Token(_))) {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.places.lock().taken.remove(&self.number);
        self.connections.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_that_is_nobodys_makes_room() {
        let all = Connections::new(3, 1);
        let places: Vec<Place> = (0..3).map(|_| all.place().unwrap()).collect();
        assert!(places[0].belongs_to(0));
        let fourth = all.place().unwrap();
        let evicted: Vec<bool> = places.iter().map(|place| place.evicted.is_cancelled()).collect();
        assert_eq!(evicted, [false, true, false]);
        assert!(!places[1].belongs_to(0), "it has made room");
        drop(places);
        assert_eq!(all.places.lock().taken.len(), 1);
        drop(fourth);
        assert_eq!(all.places.lock().taken.len(), 0);
    }

    #[test]
    fn no_token_has_more_than_its_share() {
        let all = Connections::new(6, 2);
        assert_eq!(all.share, 3);
        let places: Vec<Place> = (0..6).map(|_| all.place().unwrap()).collect();
        let its: Vec<bool> = places.iter().take(4).map(|place| place.belongs_to(0)).collect();
        assert_eq!(its, [true, true, true, false]);
        assert!(places[0].belongs_to(0), "it is its already");
        assert!(places[0].belongs_to(1), "a proxy has many on one connection");
        assert!(places[3].belongs_to(0));
        assert_eq!(Connections::new(1_024, 1).share, 512);
        assert_eq!(Connections::new(1_024, 1_000).share, LEAST);
        assert_eq!(Connections::new(1, 1).share, 1);
    }

    #[tokio::test]
    async fn who_comes_while_tokens_have_all_places_waits_for_one() {
        let all = Connections::new(1, 1);
        let first = all.admit().await;
        assert!(first.belongs_to(0));
        let (second, ()) = tokio::join!(all.admit(), async { drop(first) });
        assert!(second.belongs_to(0));
    }
}
