//! The handler's part in sessions that outlive their server: it begins one as the last server left it, and keeps what changes in
//! it.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::InitializeRequestParams;
use rmcp::service::RequestContext;
use rmcp::transport::common::http_header::HEADER_SESSION_ID;

use crate::handler::Emend;
use crate::kept_session::SessionKeeper;
use crate::principal::Principal;
use crate::session::{Owner, Session};
use crate::subscriptions;
use crate::wire::Outcome;

impl Emend {
    /// Returns this server with a new session for a client of this principal, which outlives the server.
    #[must_use]
    pub fn for_kept_session_of(&self, principal: &Principal) -> Self {
        let Some(keeper) = self.session_keeper(principal) else { return self.for_session_of(principal) };
        let (events, contents) = (self.shared.events.clone(), &self.shared.contents);
        let session = Session::with_events(Owner::Principal(principal.clone()), events, contents);
        let session = Arc::new(session.kept_by(keeper));
        Self { shared: Arc::clone(&self.shared), session, door: principal.door() }
    }

    /// Returns what keeps the sessions of a principal; `None` without a state folder.
    #[must_use]
    pub fn session_keeper(&self, principal: &Principal) -> Option<SessionKeeper> {
        let sessions = self.shared.workspace.as_ref().ok()?.kept_sessions()?;
        Some(SessionKeeper::new(Arc::new(sessions), principal.key()))
    }

    /// Begins the session of a client that says this of itself. `restored` is its id, if it began with another server. Blocks.
    pub(crate) fn begin_session(&self, initialize: InitializeRequestParams, restored: Option<&str>) {
        let subscribed = self.session.begin(initialize, restored);
        if let Ok(workspace) = &self.shared.workspace {
            subscriptions::resume(&self.shared.subscriptions, workspace, &self.session, &subscribed);
        }
    }

    /// Returns the id of the session in which a request came over HTTP, if it outlives its server.
    pub(crate) fn kept_session_id(&self, context: &RequestContext<RoleServer>) -> Option<String> {
        let head = context.extensions.get::<http::request::Parts>().filter(|_| self.session.is_kept())?;
        Some(head.headers.get(HEADER_SESSION_ID)?.to_str().ok()?.to_owned())
    }

    /// Keeps the session of this id, if it outlives its server, with an outcome that is about to be counted. Blocks.
    pub(crate) fn keep_session(&self, id: Option<&str>, outcome: Option<&Outcome>) {
        if let Some(id) = id {
            self.session.keep(id, outcome, || subscriptions::kept(&self.shared.subscriptions, &self.session));
        }
    }
}
