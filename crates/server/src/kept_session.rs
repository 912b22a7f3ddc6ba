//! Sessions of 2025 that outlive their server: another one that the client comes to takes them over, or the same one after a new
//! start. It greets the client as before, and knows what it has read and what it wants to hear of.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use emend_threads::Mutex;
use emend_workspace::{KeptReadings, KeptSessions, Readings};
use rmcp::model::InitializeRequestParams;
use rmcp::transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError};
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

use crate::events::Summary;
use crate::registrations::KeptSubscriptions;

/// The time after which a session that goes on is kept anew, though nothing has changed.
const REFRESHED: Duration = Duration::from_secs(60 * 60);

/// The bytes of a session that is kept after each call in which it changes: it has read some 300 files.
const SMALL: usize = 64 * 1024;
/// The bytes of a larger one that are written in a millisecond, on average.
const BYTES_IN_A_MS: usize = 256;

/// A session as it is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct KeptSession {
    /// What the client said of itself.
    initialize: InitializeRequestParams,
    /// The session's name in the history.
    #[serde(default)]
    name: String,
    #[serde(default)]
    readings: KeptReadings,
    #[serde(default)]
    subscriptions: KeptSubscriptions,
    #[serde(default)]
    counts: Summary,
}

/// What the next server goes on from, beside the readings.
#[derive(Debug, Default)]
pub(crate) struct Resumed {
    /// The session's name in the history; may be empty.
    pub(crate) name: String,
    pub(crate) subscriptions: KeptSubscriptions,
    /// The counts of its edits.
    pub(crate) counts: Summary,
}

/// The kept sessions of one principal.
#[derive(Clone, Debug)]
pub struct SessionKeeper {
    sessions: Arc<KeptSessions>,
    principal: String,
}

impl SessionKeeper {
    /// Creates the keeper of a principal's sessions.
    #[must_use]
    pub fn new(sessions: Arc<KeptSessions>, principal: &str) -> Self {
        Self { sessions, principal: principal.to_owned() }
    }

    fn find(&self, id: &str) -> Option<KeptSession> {
        self.sessions.find(&self.principal, id)
    }

    async fn blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Result<T, SessionStoreError> {
        let keeper = self.clone();
        tokio::task::spawn_blocking(move || job(&keeper)).await.map_err(|_| "it panicked".into())
    }
}

#[async_trait::async_trait]
impl SessionStore for SessionKeeper {
    async fn load(&self, id: &str) -> Result<Option<SessionState>, SessionStoreError> {
        let id = id.to_owned();
        let found = self.blocking(move |keeper| keeper.find(&id)).await?;
        Ok(found.map(|session| SessionState::new(session.initialize)))
    }

    async fn store(&self, id: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        let (id, initialize) = (id.to_owned(), state.initialize_params.clone());
        let keep = move |keeper: &Self| {
            let (name, readings, subscriptions, counts) = Default::default();
            let session = KeptSession { initialize, name, readings, subscriptions, counts };
            keeper.sessions.begin(&keeper.principal, &id, &session)
        };
        Ok(self.blocking(keep).await??)
    }

    async fn delete(&self, id: &str) -> Result<(), SessionStoreError> {
        let id = id.to_owned();
        self.blocking(move |keeper| keeper.sessions.forget(&keeper.principal, &id)).await
    }
}

/// One session, and the keeper that it has.
#[derive(Debug)]
pub(crate) struct Keeping {
    keeper: SessionKeeper,
    initialize: OnceLock<InitializeRequestParams>,
    /// The session's id, once it is known.
    id: OnceLock<String>,
    last: Mutex<Option<LastKept>>,
}

/// What was kept last.
#[derive(Clone, Debug)]
struct LastKept {
    hash: blake3::Hash,
    bytes: usize,
    time: Instant,
    subscriptions: KeptSubscriptions,
}

impl LastKept {
    /// Returns whether it is enough for now. A session that has read hundreds of files is not written anew after each call: what the
    /// next server does not know of it, the client reads again. It would not subscribe again.
    fn is_enough(&self, subscriptions: &KeptSubscriptions) -> bool {
        let pause = Duration::from_millis((self.bytes / BYTES_IN_A_MS) as u64);
        self.bytes > SMALL && self.time.elapsed() < pause && self.subscriptions == *subscriptions
    }
}

impl Keeping {
    pub(crate) fn new(keeper: SessionKeeper) -> Self {
        Self { keeper, initialize: OnceLock::new(), id: OnceLock::new(), last: Mutex::new(None) }
    }

    /// Begins the session with what the client says of itself.
    pub(crate) fn begin(&self, initialize: InitializeRequestParams) {
        self.initialize.set(initialize).ok();
    }

    /// Takes note of the session's id.
    pub(crate) fn has_id(&self, id: &str) {
        self.id.set(id.to_owned()).ok();
    }

    /// Returns what was kept of the session of this id, whose readings are taken over. Blocks.
    pub(crate) fn restore(&self, id: &str, readings: &Mutex<Readings>) -> Option<Resumed> {
        self.has_id(id);
        let KeptSession { name, readings: kept, subscriptions, counts, .. } = self.keeper.find(id)?;
        readings.lock().restore(kept);
        Some(Resumed { name, subscriptions, counts })
    }

    /// Returns whether the session may go on, here or with another server: its client has not ended it.
    pub(crate) fn may_go_on(&self) -> bool {
        self.id.get().is_some_and(|id| self.keeper.sessions.has(&self.keeper.principal, id))
    }

    /// Keeps what has changed in the session of this id. Blocks.
    pub(crate) fn keep(
        &self,
        id: &str,
        name: &str,
        readings: &Mutex<Readings>,
        counts: Summary,
        subscriptions: impl FnOnce() -> KeptSubscriptions,
    ) {
        let Some(initialize) = self.initialize.get() else { return };
        self.has_id(id);
        // One after the other, so that what is kept in the end is the newest.
        let mut last = self.last.lock();
        let subscriptions = subscriptions();
        if last.as_ref().is_some_and(|last| last.is_enough(&subscriptions)) {
            return;
        }
        let (name, readings) = (name.to_owned(), readings.lock().kept());
        let initialize = initialize.clone();
        let session = KeptSession { initialize, name, readings, subscriptions, counts };
        let kept = to_raw_value(&session).map_err(io::Error::from).and_then(|written| {
            let (hash, bytes) = (blake3::hash(written.get().as_bytes()), written.get().len());
            if last.as_ref().is_none_or(|last| last.hash != hash || last.time.elapsed() > REFRESHED) {
                self.keeper.sessions.keep(&self.keeper.principal, id, &written)?;
                let (time, subscriptions) = (Instant::now(), session.subscriptions);
                *last = Some(LastKept { hash, bytes, time, subscriptions });
            }
            Ok(())
        });
        if let Err(error) = kept {
            tracing::warn!(%error, "a session is not kept");
        }
    }
}
