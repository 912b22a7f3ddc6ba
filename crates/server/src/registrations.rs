//! What a session listens to: as long as the session has a registration, its listener lives.

use std::collections::VecDeque;
use std::fmt;

use rmcp::model::SubscriptionFilter;

/// A listener, which is forgotten with this.
pub(crate) struct Registration {
    id: u64,
    forget: Option<Box<dyn FnOnce() + Send>>,
}

impl Registration {
    /// The registration of the listener of this id; `forget` ends that.
    pub(crate) fn new(id: u64, forget: impl FnOnce() + Send + 'static) -> Self {
        Self { id, forget: Some(Box::new(forget)) }
    }

    /// The id of its listener.
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
    /// That of the session itself, as clients of 2025 have it.
    pub(crate) own: Option<Registration>,
    /// That of the answers of the session, once something was read in it.
    pub(crate) answers: Option<Registration>,
    /// Those of listen requests that were accepted and do not run yet: changes count from then on.
    pub(crate) accepted: VecDeque<(SubscriptionFilter, Registration)>,
}
