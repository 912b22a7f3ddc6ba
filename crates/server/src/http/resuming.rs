//! Sessions of 2025 that began with another server: each goes on here with its first request, and its client hears what it has
//! missed once it listens here.
//!
//! rmcp restores a session from what was kept of it, as part of the request that names it. It loses one whose request is broken
//! off meanwhile, or that gets another request before it is ready; so it is given a message of ours for that, to which nobody
//! can do either.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use rmcp::ServerHandler;

use super::principals::PrincipalService;
use crate::principal::Scopes;
use crate::registrations::Listening;

/// The header that names a session.
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The header with the version of the protocol.
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The header with the last event that a client has of a stream.
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
/// A message about which a server does nothing.
const NOTHING: &str = r#"{"jsonrpc":"2.0","method":"notifications/emend/resumed"}"#;

impl<H: ServerHandler + Send + Sync + 'static> PrincipalService<H> {
    /// Has the session of a request go on here, if it was kept by another server. The first stream that its client opens here
    /// begins anew: its last event is one of that server, whose numbers mean nothing here.
    pub(super) async fn resume_session(self: &Arc<Self>, head: &mut Parts, scopes: Scopes, most: usize) {
        let Some(id) = session_of(head).map(str::to_owned).filter(|_| self.kept.is_some()) else { return };
        let turn = {
            let open = self.sessions.sessions.read().await;
            let mut turns = self.resumed.turns.lock();
            let is_ready = open.contains_key(&*id) && !turns.contains_key(&id);
            (!is_ready).then(|| Arc::clone(turns.entry(id.clone()).or_default()))
        };
        if let Some(turn) = turn {
            let (service, id, message) = (Arc::clone(self), id.clone(), message(head, scopes));
            let resuming = tokio::spawn(async move {
                let _turn = turn.lock().await;
                if let Some(message) = message
                    && !service.sessions.sessions.read().await.contains_key(&*id)
                {
                    service.resume(&id, message, most).await;
                }
                service.resumed.turns.lock().remove(&id);
            });
            // It goes on to its end also where the client hangs up.
            let _ = resuming.await;
        }
        if head.method == Method::GET {
            let is_unheard = self.resumed.unheard.lock().contains_key(&id);
            let mut stale = self.resumed.stale.lock();
            // A client may name it again, if nothing came before its stream broke off.
            let named = head.headers.get(LAST_EVENT).cloned();
            if is_unheard && let Some(named) = named {
                head.headers.remove(LAST_EVENT);
                stale.insert(id, named);
            } else if named.is_some() && named.as_ref() == stale.get(&id) {
                head.headers.remove(LAST_EVENT);
            }
        }
    }

    async fn resume(&self, id: &str, mut message: Request<Full<Bytes>>, most: usize) {
        let listening = Listening::default();
        message.extensions_mut().insert(listening.clone());
        if self.protocol.handle(message).await.status() != StatusCode::ACCEPTED {
            return;
        }
        let open = self.sessions.sessions.read().await;
        let mut unheard = self.resumed.unheard.lock();
        if unheard.len() >= most {
            unheard.retain(|id, _| open.contains_key(&**id));
        }
        self.resumed.stale.lock().retain(|id, _| open.contains_key(&**id));
        unheard.insert(id.to_owned(), listening);
    }

    /// Keeps the session of a request that ends it no more. Whatever is left of it then knows that it is over.
    pub(super) async fn forget_session(&self, head: &Parts) {
        if let (Some(kept), Some(id)) = (&self.kept, session_of(head))
            && let Err(error) = kept.delete(id).await
        {
            tracing::warn!(%error, "a session that was ended is still kept");
        }
    }

    /// Takes note that the client of a session has opened a stream here.
    pub(super) fn stream_opened(&self, id: Option<&str>) {
        let listening = id.and_then(|id| self.resumed.unheard.lock().remove(id));
        if let Some(listening) = listening {
            listening.begin();
        }
    }
}

/// Returns the message with which the session of a request goes on.
fn message(head: &Parts, scopes: Scopes) -> Option<Request<Full<Bytes>>> {
    let mut message = Request::new(Full::new(Bytes::from_static(NOTHING.as_bytes())));
    *message.method_mut() = Method::POST;
    *message.uri_mut() = head.uri.clone();
    message.headers_mut().insert(SESSION_ID, head.headers.get(SESSION_ID)?.clone());
    for name in [HOST, VERSION] {
        if let Some(value) = head.headers.get(&name) {
            message.headers_mut().insert(name, value.clone());
        }
    }
    message.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let accept = HeaderValue::from_static("application/json, text/event-stream");
    message.headers_mut().insert(ACCEPT, accept);
    // The handler looks here for what this very request may do.
    message.extensions_mut().insert(scopes);
    Some(message)
}

/// Returns the session in which a request comes.
pub(super) fn session_of(head: &Parts) -> Option<&str> {
    head.headers.get(SESSION_ID)?.to_str().ok()
}
