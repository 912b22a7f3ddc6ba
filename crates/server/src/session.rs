//! Sessions: which client makes a call, and what is remembered for it.
//!
//! Each handler has one session: on standard input and output the process has one, over HTTP a session of 2025 has one or
//! else each single request, which remembers nothing. So no client can find what another has read, and a session ends
//! with its handler: there is nothing to sweep.

use std::sync::{Arc, MutexGuard, OnceLock};

use emend_threads::Mutex;
use emend_workspace::{CallIdentity, Contents, Mailbox, Origin, Readings};
use rmcp::model::InitializeRequestParams;

use crate::door::Door;
use crate::events::{Events, Tally};
use crate::kept_session::{Keeping, Resumed, SessionKeeper};
use crate::principal::Principal;
use crate::registrations::{KeptSubscriptions, Registrations};
use crate::wire::Outcome;

/// The owner of what outlives a session: previews, and questions that wait for their answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// The one client at the other end of standard input and output.
    Process,
    /// All clients of this principal.
    Principal(Principal),
}

impl Owner {
    /// Returns how many owners share what the server has room for.
    pub(crate) fn sharers(&self) -> usize {
        match self {
            Self::Process => 1,
            Self::Principal(principal) => principal.sharers(),
        }
    }

    /// Returns the tenant to whom the owner belongs, if there are tenants.
    pub(crate) fn tenant(&self) -> Option<&str> {
        match self {
            Self::Process => None,
            Self::Principal(principal) => principal.tenant(),
        }
    }

    /// Returns a key that no other owner in this process has.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::Process => "process".to_owned(),
            Self::Principal(principal) => format!("{} {}", principal.session(), principal.key()),
        }
    }
}

/// What is remembered for one client, as long as its handler lives.
#[derive(Debug)]
pub struct Session {
    owner: Owner,
    /// The session's name in the history, made once it is needed.
    name: OnceLock<String>,
    /// The files that were read in it, shared with its listeners.
    readings: Arc<Mutex<Readings>>,
    /// The notes for its next answer.
    mailbox: Mailbox,
    /// The registrations of its listeners, which end with the session.
    registrations: Mutex<Registrations>,
    /// The counts of its edits, which are published as an event when it ends.
    tally: Tally,
    /// What keeps it for the next server, if it outlives this one.
    keeping: Option<Keeping>,
}

impl Session {
    /// Creates a session in which nothing has been read.
    #[must_use]
    pub fn new(owner: Owner) -> Self {
        Self::with_events(owner, Events::default(), &Arc::default())
    }

    /// Creates a session that publishes its end as an event, and shares the remembered contents of files with others.
    #[must_use]
    pub fn with_events(owner: Owner, events: Events, contents: &Arc<Contents>) -> Self {
        let (mailbox, registrations) = Default::default();
        let readings = Arc::new(Mutex::new(Readings::sharing(contents)));
        let (name, tally, keeping) = (OnceLock::new(), Tally::new(events), None);
        Self { owner, name, readings, mailbox, registrations, tally, keeping }
    }

    /// Returns this session, which outlives its server.
    #[must_use]
    pub fn kept_by(mut self, keeper: SessionKeeper) -> Self {
        self.keeping = Some(Keeping::new(keeper));
        self
    }

    /// Begins the session of a client that says this of itself. `restored` is its id, if it began with another server. Returns
    /// what it had subscribed to there. Blocks.
    pub(crate) fn begin(
        &self,
        initialize: InitializeRequestParams,
        restored: Option<&str>,
    ) -> KeptSubscriptions {
        let Some(keeping) = &self.keeping else { return KeptSubscriptions::default() };
        keeping.begin(initialize);
        let restored = restored.and_then(|id| keeping.restore(id, &self.readings));
        let Some(Resumed { name, subscriptions, counts }) = restored else {
            return KeptSubscriptions::default();
        };
        if !name.is_empty() {
            self.name.set(name).ok();
        }
        self.tally.resume(counts);
        subscriptions
    }

    /// Keeps the session, whose id is this, for the next server, with an outcome that is about to be counted and with what it has
    /// subscribed to. Blocks.
    pub(crate) fn keep(
        &self,
        id: &str,
        outcome: Option<&Outcome>,
        subscriptions: impl FnOnce() -> KeptSubscriptions,
    ) {
        if let Some(keeping) = &self.keeping {
            let (name, counts) = (self.name.get_or_init(new_name), self.tally.summary_with(outcome));
            keeping.keep(id, name, &self.readings, counts, subscriptions);
        }
    }

    /// Takes note of its id, by which it is known to its client.
    pub(crate) fn has_id(&self, id: &str) {
        if let Some(keeping) = &self.keeping {
            keeping.has_id(id);
        }
    }

    /// Returns whether the session outlives its server.
    pub(crate) fn is_kept(&self) -> bool {
        self.keeping.is_some()
    }

    /// Returns the owner of the session.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Returns the counts of its edits.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Returns the registrations of its listeners.
    pub(crate) fn registrations(&self) -> MutexGuard<'_, Registrations> {
        self.registrations.lock()
    }

    /// Returns the files that were read in it.
    pub(crate) fn readings(&self) -> &Arc<Mutex<Readings>> {
        &self.readings
    }

    /// Returns the notes for its next answer.
    pub(crate) fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let Some(keeping) = self.keeping.take() else {
            return self.tally.end(|| self.name.get_or_init(new_name));
        };
        // Whether its client has ended it, the disk knows, which is not asked here: this may be a thread that serves all.
        let (tally, name) = (std::mem::take(&mut self.tally), std::mem::take(&mut self.name));
        std::thread::spawn(move || {
            if !keeping.may_go_on() {
                tally.end(|| name.get_or_init(new_name));
            }
        });
    }
}

/// The client that makes a call, and its session.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    session: &'a Session,
    client: &'a str,
    is_lasting: bool,
}

impl<'a> Caller<'a> {
    /// Creates the caller of this name. A session that is not lasting ends with the call.
    #[must_use]
    pub fn new(session: &'a Session, client: &'a str, is_lasting: bool) -> Self {
        Self { session, client, is_lasting }
    }

    /// Returns the owner of what is kept for the caller.
    #[must_use]
    pub fn owner(&self) -> &'a Owner {
        &self.session.owner
    }

    /// Returns the files that the caller has read.
    #[must_use]
    pub fn readings(&self) -> &'a Mutex<Readings> {
        &self.session.readings
    }

    /// Returns the notes for the caller's next answer. Requests without a session share one mailbox for each principal.
    #[must_use]
    pub fn mailbox(&self) -> &'a Mailbox {
        match &self.session.owner {
            Owner::Principal(principal) if !self.is_lasting => principal.mailbox(),
            _ => &self.session.mailbox,
        }
    }

    /// Returns whether the session was there before this call and will be there after it.
    #[must_use]
    pub fn is_lasting(&self) -> bool {
        self.is_lasting
    }

    /// Returns the name of the session in the history. Requests without a session share a name for each principal.
    #[must_use]
    pub fn session(&self) -> &'a str {
        match &self.session.owner {
            Owner::Principal(principal) if !self.is_lasting => principal.session(),
            _ => self.session.name.get_or_init(new_name),
        }
    }

    /// Returns the session whose edits the caller may see; empty where the session is not lasting.
    #[must_use]
    pub fn visible_session(&self) -> &'a str {
        if self.is_lasting { self.session() } else { "" }
    }

    /// Returns the name of the client, with that of its principal: clients of different principals may call themselves the same.
    #[must_use]
    pub fn client(&self) -> String {
        match &self.session.owner {
            Owner::Process => self.client.to_owned(),
            Owner::Principal(principal) => format!("{} ({})", self.client, principal.name()),
        }
    }

    /// Returns the counts of the session's edits; `None` where it ends with this call.
    pub(crate) fn tally(&self) -> Option<&'a Tally> {
        self.is_lasting.then_some(&self.session.tally)
    }

    /// Returns the origin of an edit that the caller asks for with `tool`, perhaps under an idempotency key.
    #[must_use]
    pub fn origin(&self, tool: &str, request: String, key: Option<&str>) -> Origin {
        let (session, mailbox) = (self.session().into(), self.mailbox().clone());
        let call = CallIdentity::new(&self.identity(), tool, &request, key);
        let (client, principal) =
            (self.client(), self.principal().map(|principal| principal.key().to_owned()));
        Origin { client, principal, session, tool: tool.into(), model: None, request, call, mailbox }
    }

    /// Returns the principal, where there are several.
    pub(crate) fn principal(&self) -> Option<&'a Principal> {
        match &self.session.owner {
            Owner::Process => None,
            Owner::Principal(principal) => Some(principal),
        }
    }

    /// Returns the name of whose calls are known again when they are sent again. It is the same after the server was
    /// started again.
    fn identity(&self) -> String {
        match &self.session.owner {
            Owner::Process => format!("process {}", self.client),
            Owner::Principal(principal) => match principal.door() {
                Door::Client => principal.key().to_owned(),
                Door::Person => format!("{} on a page", principal.key()),
            },
        }
    }
}

/// Makes the name of a session; empty without randomness, without which every edit is refused anyway.
fn new_name() -> String {
    Origin::new_session().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_history_knows_sessions_apart_and_joins_the_requests_of_a_principal_that_have_none() {
        let (ann, ben) =
            (Owner::Principal(Principal::of_token("ann")), Owner::Principal(Principal::of_token("ben")));
        let sessions = [&ann, &ann, &ben, &Owner::Process].map(|owner| Session::new(owner.clone()));
        let name = |at: usize, is_lasting| Caller::new(&sessions[at], "x", is_lasting).session().to_owned();
        assert_eq!(name(0, false), name(1, false));
        assert_ne!(name(0, false), name(2, false));
        let lasting: std::collections::BTreeSet<String> = (0..4).map(|at| name(at, true)).collect();
        assert_eq!(lasting.len(), 4);
        assert!(!lasting.contains(&name(0, false)));
    }

    #[test]
    fn the_client_of_an_edit_has_the_name_of_its_principal() {
        let session = Session::new(Owner::Principal(Principal::of_token("ann")));
        let origin = Caller::new(&session, "zed", true).origin("write_file", "{}".into(), None);
        assert_eq!(origin.client, "zed (ann)");
        let session = Session::new(Owner::Process);
        assert_eq!(Caller::new(&session, "zed", true).origin("write_file", "{}".into(), None).client, "zed");
    }
}
