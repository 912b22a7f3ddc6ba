//! The HTTP service: what happens to a request before and after rmcp handles it.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bytes::Bytes;
use emend_threads::Mutex;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Frame, Incoming, SizeHint};
use rmcp::ServerHandler;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::authentication::{Authenticate, Bearer};
use super::connections::Slot;
use super::endpoint::Endpoint;
use super::intake::{self, Counted, Intake, Refusal, TakenBody};
#[cfg(feature = "team")]
use super::placement::{Elsewhere, Others};
use super::principals::{NewHandler, PrincipalService, Principals};
use super::quota::Allowance;
use super::refusals::{
    Answer, method_not_allowed, not_a_message, refused, retry_later, too_many_sessions, whole,
};
use super::resuming::{SESSION_ID, session_of};
#[cfg(feature = "team")]
use super::review::{Review, ReviewPath};
use super::stream_end::{Body, end_at};
use super::{HostGuard, Limits};
use crate::door::Door;
use crate::principal::Scope;

/// The service that answers every request.
pub(super) struct HttpService<H> {
    pub(super) authenticator: Arc<dyn Authenticate>,
    pub(super) guard: HostGuard,
    pub(super) limits: Limits,
    /// The intake of all principals together.
    intake: Intake,
    pub(super) principals: Principals<H>,
    /// What the tenants that have quotas have left.
    pub(super) allowances: Mutex<HashMap<String, Allowance>>,
    /// How many requests were answered with each status.
    pub(super) answered: Mutex<BTreeMap<u16, u64>>,
    /// Whether the workspaces are ready, if somebody says so.
    pub(super) is_ready: OnceLock<Box<dyn Fn() -> bool + Send + Sync>>,
    /// The other servers, if there are several.
    #[cfg(feature = "team")]
    pub(super) others: Others,
    /// The review page, if there is one.
    #[cfg(feature = "team")]
    pub(super) review: OnceLock<Review>,
    /// Cancelled once no new request is taken.
    pub(super) closing: CancellationToken,
}

/// A request that is let in.
pub(super) enum Admission<H> {
    Here(Admitted<H>),
    #[cfg(feature = "team")]
    Elsewhere(Elsewhere),
}

/// A request that is answered here: its service, and what its token lets it do.
pub(super) struct Admitted<H> {
    pub(super) service: Arc<PrincipalService<H>>,
    pub(super) bearer: Bearer,
}

/// What a request asks to be let in with.
pub(super) struct Asked<'a> {
    /// Whose endpoint it is at, if it is at one.
    pub(super) endpoint: Option<Endpoint>,
    /// The token that it shows.
    pub(super) token: Option<&'a str>,
    /// The scopes that all that is there needs.
    pub(super) needs: &'a [Scope],
    /// Where it comes from.
    pub(super) door: Door,
}

/// The fields of a message that the limits depend on.
#[derive(Deserialize)]
struct MessageHead {
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    id: Option<IgnoredAny>,
}

impl<H: ServerHandler + Send + Sync + 'static> HttpService<H> {
    pub(super) fn new(
        authenticator: Arc<dyn Authenticate>,
        guard: HostGuard,
        limits: Limits,
        new_handler: NewHandler<H>,
    ) -> Self {
        Self {
            authenticator,
            guard,
            limits,
            intake: Intake::new(limits.bytes_of_all),
            principals: Principals::new(new_handler, limits),
            allowances: Mutex::default(),
            answered: Mutex::default(),
            is_ready: OnceLock::new(),
            #[cfg(feature = "team")]
            others: Others::default(),
            #[cfg(feature = "team")]
            review: OnceLock::new(),
            closing: CancellationToken::new(),
        }
    }

    pub(super) async fn answer(&self, request: Request<Incoming>, slot: &Slot) -> Answer {
        let answer = self.answer_to(request, slot).await;
        *self.answered.lock().entry(answer.status().as_u16()).or_default() += 1;
        answer
    }

    async fn answer_to(&self, request: Request<Incoming>, slot: &Slot) -> Answer {
        let (mut head, mut body) = request.into_parts();
        #[cfg(feature = "team")]
        if let Some(step) = ReviewPath::at(head.uri.path())
            && let Some((review, origin)) = self.review()
        {
            return self.answer_review(review, &origin, step, head, body, slot).await;
        }
        let admitted = match self.admit(&head, slot).await {
            Ok(Admission::Here(admitted)) => Ok(admitted),
            #[cfg(feature = "team")]
            Ok(Admission::Elsewhere(server)) => return self.hand_on(server, head, body).await,
            Err(refusal) => Err(refusal),
        };
        let admitted = match admitted {
            Ok(admitted) if !self.has_room_for_session(&admitted.service, &head).await => {
                Err(Box::new(too_many_sessions()))
            }
            admitted => admitted,
        };
        if let Ok(admitted) = &admitted {
            let (service, scopes) = (&admitted.service, admitted.bearer.scopes);
            service.resume_session(&mut head, scopes, self.limits.sessions).await;
            // The handler looks here for what this very request may do.
            head.extensions.insert(scopes);
            if head.method == Method::POST {
                return self.post(admitted, head, body).await;
            }
        }
        // An unread body would have the connection reset when it is closed, and the response would be lost.
        let _ = tokio::time::timeout(self.limits.rest, intake::discard(&mut body)).await;
        match admitted {
            Ok(admitted) => {
                let end = admitted.bearer.until;
                self.forward(&admitted.service, head).await.map(|stream| end_at(stream, end))
            }
            Err(refusal) => *refusal,
        }
    }

    /// Returns whether the server is ready to serve.
    pub(super) fn is_ready(&self) -> bool {
        !self.closing.is_cancelled() && self.is_ready.get().is_none_or(|is_ready| is_ready())
    }

    /// Answers a health check, which needs no token: whether the server takes requests, or also whether it is ready for them.
    pub(super) fn health(&self, method: &Method, wants_ready: bool) -> Answer {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return method_not_allowed();
        }
        if self.closing.is_cancelled() {
            return retry_later("The server is stopping.");
        }
        if wants_ready && !self.is_ready() {
            return retry_later("The server is not ready yet.");
        }
        Response::new(whole("ok\n"))
    }

    /// Returns whether the session that a request names is open here, or may be: it may have been kept.
    async fn has_room_for_session(&self, service: &PrincipalService<H>, head: &Parts) -> bool {
        let Some(id) = session_of(head).filter(|_| head.method != Method::DELETE) else { return true };
        let open = service.sessions.sessions.read().await;
        open.len() < self.limits.sessions || open.contains_key(id)
    }

    /// Forwards a request that opens a stream or ends a session, without a body.
    async fn forward(&self, service: &PrincipalService<H>, head: Parts) -> Answer {
        let is_end = head.method == Method::DELETE;
        let session = session_of(&head).map(str::to_owned);
        if is_end {
            service.forget_session(&head).await;
        }
        let mut answer = service.handle(Request::from_parts(head, Empty::<Bytes>::new())).await;
        // rmcp answers 202, about which some clients warn.
        if is_end && answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        if answer.status() == StatusCode::OK {
            service.stream_opened(session.as_deref());
        }
        answer
    }

    async fn post(&self, admitted: &Admitted<H>, head: Parts, body: Incoming) -> Answer {
        match self.take(&admitted.service, body).await {
            #[cfg(feature = "team")]
            Ok(_) if self.has_moved(&admitted.bearer) => {
                retry_later("This workspace is not served here any more.")
            }
            Ok(body) => self.answer_message(admitted, head, body).await,
            Err(refusal) => *refusal,
        }
    }

    /// Takes the body of a request, which counts until it is answered.
    pub(super) async fn take(
        &self,
        service: &PrincipalService<H>,
        body: Incoming,
    ) -> Result<TakenBody, Box<Answer>> {
        let most = self.limits.body_bytes;
        let taking = intake::take(body, most, [&service.intake, &self.intake]);
        let refusal = match tokio::time::timeout(self.limits.arrival, taking).await {
            Ok(Ok(taken)) => return Ok(taken),
            Ok(Err(Refusal::TooLarge)) => {
                refused(StatusCode::PAYLOAD_TOO_LARGE, format!("A request has at most {most} bytes."))
            }
            Ok(Err(Refusal::TooMuch)) => retry_later("Too much is being sent at once."),
            Ok(Err(Refusal::Broken(error))) => {
                refused(StatusCode::BAD_REQUEST, format!("The request broke off: {error}."))
            }
            Err(_) => refused(StatusCode::REQUEST_TIMEOUT, "The request took too long to arrive.".into()),
        };
        Err(refusal.into())
    }

    /// Answers a message that has arrived.
    pub(super) async fn answer_message(
        &self,
        admitted: &Admitted<H>,
        head: Parts,
        body: TakenBody,
    ) -> Answer {
        let (service, TakenBody { bytes: body, counted: sent }) = (&*admitted.service, body);
        let Ok(message_head) = serde_json::from_slice::<MessageHead>(&body) else {
            return not_a_message(&body);
        };
        if message_head.method.as_deref() == Some("initialize")
            && service.sessions.sessions.read().await.len() >= self.limits.sessions
        {
            return too_many_sessions();
        }
        if message_head.method.as_deref() == Some("tools/call")
            && let Err(refusal) = self.admit_call(&admitted.bearer, &body)
        {
            return *refusal;
        }
        // A response to a request of ours, or a notification, adds no work: a running request may wait for it.
        let is_request = message_head.id.is_some() && message_head.method.is_some();
        if is_request && self.closing.is_cancelled() {
            return retry_later("The server is stopping.");
        }
        // A listen request stays open, so it takes no permit from the others, and ends with its token.
        let (counted, end, too_many) = match message_head.method.as_deref() {
            Some("subscriptions/listen") => {
                (&service.listeners, admitted.bearer.until, "This token listens too many times at once.")
            }
            _ => (&service.requests, None, "Too many requests of this token are being answered."),
        };
        let Ok(permit) = is_request.then(|| Arc::clone(counted).try_acquire_owned()).transpose() else {
            return retry_later(too_many);
        };
        let is_json = head
            .headers
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        let answer = service.handle(Request::from_parts(head, Full::new(body.clone()))).await;
        if is_json && answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            // rmcp answers this where the body is JSON but no message.
            return not_a_message(&body);
        }
        answer.map(|body| end_at(CountedBody { body, _permit: permit, _counted: Some(sent) }.boxed(), end))
    }

    /// Returns whether other servers hand requests on to this one.
    pub(super) fn is_one_of_several(&self) -> bool {
        #[cfg(feature = "team")]
        return self.others.placement.get().is_some();
        #[cfg(not(feature = "team"))]
        false
    }

    /// Takes no new request, waits for those that have begun, and then ends every stream.
    pub(super) async fn close(&self, patience: std::time::Duration) {
        self.closing.cancel();
        let answered = async {
            #[cfg(feature = "team")]
            self.leave_to_others().await;
            self.principals.answered().await;
        };
        if tokio::time::timeout(patience, answered).await.is_err() {
            tracing::warn!("some requests are still being answered");
        }
        self.principals.end();
    }
}

impl<H: ServerHandler + Send + Sync + 'static> PrincipalService<H> {
    /// Has rmcp answer a request. rmcp reports an internal error if the session ends at the same moment.
    async fn handle<B>(&self, request: Request<B>) -> Answer
    where
        B: hyper::body::Body + Send + 'static,
        B::Error: std::fmt::Display,
    {
        let is_of_session = request.headers().contains_key(SESSION_ID);
        let answer =
            self.protocol.handle(request).await.map(|body| body.map_err(|never| match never {}).boxed());
        if is_of_session && answer.status() == StatusCode::INTERNAL_SERVER_ERROR {
            return refused(
                StatusCode::NOT_FOUND,
                "The session was ended. If this was an edit, edit_history says whether it was made.".into(),
            );
        }
        answer
    }
}

/// The body of a response, whose request counts as being answered until it is sent.
pub(super) struct CountedBody {
    pub(super) body: Body,
    pub(super) _permit: Option<OwnedSemaphorePermit>,
    pub(super) _counted: Option<Counted>,
}

impl hyper::body::Body for CountedBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
