//! The handler's part in sessions that outlive their server: it begins one as the last server left it, and keeps what changes in
//! it.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::Extensions;
use rmcp::model::InitializeRequestParams;
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::transport::common::http_header::HEADER_SESSION_ID;
use rmcp::transport::streamable_http_server::SessionRestoreMarker;

use crate::handler::Emend;
use crate::kept_session::SessionKeeper;
use crate::principal::Principal;
use crate::registrations::Listening;
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
        if self.session.is_kept() { id_in(&context.extensions) } else { None }
    }

    /// Takes note that a client has begun its session, or goes on with it, and sends it what it is to hear once it listens.
    pub(crate) fn has_begun(&self, context: &NotificationContext<RoleServer>) {
        if let Some(id) = id_in(&context.extensions) {
            self.session.has_id(&id);
        }
        if context.extensions.get::<SessionRestoreMarker>().is_some() {
            let head = context.extensions.get::<http::request::Parts>();
            let listening = head.and_then(|head| head.extensions.get::<Listening>()).cloned();
            // Where nobody says when it listens, it is told at once.
            let listening = listening.unwrap_or_else(|| {
                let listening = Listening::default();
                listening.begin();
                listening
            });
            subscriptions::send_once_heard(
                &self.shared.subscriptions,
                &self.session,
                &context.peer,
                listening,
            );
        }
    }

    /// Keeps the session of this id, if it outlives its server, with an outcome that is about to be counted. Blocks.
    pub(crate) fn keep_session(&self, id: Option<&str>, outcome: Option<&Outcome>) {
        if let Some(id) = id {
            self.session.keep(id, outcome, || subscriptions::kept(&self.shared.subscriptions, &self.session));
        }
    }
}

/// Returns the id of the session in which a message came over HTTP.
fn id_in(extensions: &Extensions) -> Option<String> {
    let head = extensions.get::<http::request::Parts>()?;
    Some(head.headers.get(HEADER_SESSION_ID)?.to_str().ok()?.to_owned())
}
