//! The registrations of a session: a listener lives as long as the session holds its registration.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;

use rmcp::model::SubscriptionFilter;
use serde::{Deserialize, Serialize};
use tokio::sync::SetOnce;

/// The right of a listener to be notified, which ends when this is dropped.
pub(crate) struct Registration {
    id: u64,
    forget: Option<Box<dyn FnOnce() + Send>>,
}

impl Registration {
    /// Creates the registration of the listener `id`, which `forget` removes.
    pub(crate) fn new(id: u64, forget: impl FnOnce() + Send + 'static) -> Self {
        Self { id, forget: Some(Box::new(forget)) }
    }

    /// Returns the id of the listener.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(forget) = self.forget.take() {
            forget();
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registration({})", self.id)
    }
}

/// The registrations of a session.
#[derive(Debug, Default)]
pub(crate) struct Registrations {
    /// The registration of the session itself, for clients of 2025.
    pub(crate) own: Option<Registration>,
    /// Whether nothing is sent to it yet, since it goes on from another server and its client does not listen here yet.
    pub(crate) is_silent: bool,
    /// The registration of the session's answers, once a file was read in it.
    pub(crate) answers: Option<Registration>,
    /// The registrations of listen requests that were accepted and do not run yet; changes are gathered from then on.
    pub(crate) accepted: VecDeque<(SubscriptionFilter, Registration)>,
}

/// What a session of 2025 has subscribed to, as it is kept for the next server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptSubscriptions {
    pub(crate) uris: BTreeSet<String>,
    /// Whether it is told when the list of resources changes.
    pub(crate) list: bool,
}

/// Whether the client of a session that goes on from another server has opened its stream here. It comes with the request that has
/// the session go on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listening(Arc<SetOnce<()>>);

impl Listening {
    /// Says that it has.
    pub(crate) fn begin(&self) {
        let _ = self.0.set(());
    }

    /// Waits until it has.
    pub(crate) async fn begun(&self) {
        self.0.wait().await;
    }
}
