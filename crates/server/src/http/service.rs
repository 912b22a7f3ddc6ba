//! The HTTP service: what happens to a request before and after rmcp handles it.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use emend_threads::Mutex;
use http::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Frame, Incoming, SizeHint};
use rmcp::ServerHandler;
use rmcp::model::{ErrorCode, ErrorData, JsonObject, JsonRpcError, RequestId};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;

use super::authentication::{self, Authenticate, Bearer, Protection, Unrecognised};
use super::connections::Slot;
use super::endpoint::{ENDPOINT, Endpoint};
use super::intake::{self, Counted, Intake, Refusal, TakenBody};
use super::principals::{NewHandler, NoService, PrincipalService, Principals};
use super::quota::{Allowance, Exceeded, Quota};
use super::stream_end::{Body, end_at};
use super::{HostGuard, Limits};
use crate::principal::{Scope, Scopes};
use crate::{dialects, malformed};

/// The header that names a session.
const HEADER_SESSION_ID: &str = "mcp-session-id";

type Answer = Response<Body>;

/// The service that answers every request.
pub(super) struct HttpService<H> {
    authenticator: Arc<dyn Authenticate>,
    guard: HostGuard,
    limits: Limits,
    /// The intake of all principals together.
    intake: Intake,
    pub(super) principals: Principals<H>,
    /// What the tenants that have quotas have left.
    allowances: Mutex<HashMap<String, Allowance>>,
    /// How many requests were answered with each status.
    pub(super) answered: Mutex<BTreeMap<u16, u64>>,
    /// Whether the workspaces are ready, if somebody says so.
    pub(super) is_ready: OnceLock<Box<dyn Fn() -> bool + Send + Sync>>,
    /// Cancelled once no new request is taken.
    closing: CancellationToken,
}

/// A request that is let in: its service, and what its token lets it do.
struct Admitted<H> {
    service: Arc<PrincipalService<H>>,
    bearer: Bearer,
}

/// The fields of a message that the limits depend on.
#[derive(Deserialize)]
struct MessageHead {
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    id: Option<IgnoredAny>,
}

/// A call of a tool, as far as its name.
#[derive(Deserialize)]
struct CallHead {
    params: CallName,
}

#[derive(Deserialize)]
struct CallName {
    name: String,
}

/// A call of a tool.
#[derive(Deserialize)]
struct Call {
    params: CallParams,
}

#[derive(Deserialize)]
struct CallParams {
    name: String,
    #[serde(default)]
    arguments: JsonObject,
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
        let admitted = self.admit(&head, slot).await;
        if let Ok(admitted) = &admitted {
            // The handler looks here for what this very request may do.
            head.extensions.insert(admitted.bearer.scopes);
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

    /// Lets a request in, or returns the response if the head is enough for one.
    async fn admit(&self, head: &Parts, slot: &Slot) -> Result<Admitted<H>, Box<Answer>> {
        let path = head.uri.path();
        if path == "/healthz" || path == "/readyz" {
            return Err(self.health(&head.method, path == "/readyz").into());
        }
        let protection = self.authenticator.protection();
        let described = protection.as_ref().filter(|protection| protection.is_described_at(path));
        let endpoint = Endpoint::at(path);
        let nothing = || Box::new(nothing_at(path));
        if endpoint.is_none() && described.is_none() {
            return Err(nothing());
        }
        self.guard.check(&head.uri, &head.headers).map_err(|why| refused(StatusCode::FORBIDDEN, why))?;
        if let Some(protection) = described {
            return Err(describe(protection, &head.method).into());
        }
        let bearer = match presented(&head.headers) {
            None => return Err(unauthorized(protection.as_ref(), None).into()),
            Some(token) => match self.authenticator.authenticate(token).await {
                Ok(bearer) => bearer,
                Err(Unrecognised::Invalid(why)) => {
                    return Err(unauthorized(protection.as_ref(), Some(why)).into());
                }
                Err(Unrecognised::Unavailable) => {
                    return Err(retry_later("The authority that issued this token does not answer.").into());
                }
            },
        };
        // A tenant that is another's, and one that is not there, are told in the same words.
        if !endpoint.is_some_and(|endpoint| endpoint.is_for(bearer.tenant_name.as_deref())) {
            return Err(nothing());
        }
        if !bearer.scopes.has(Scope::Read) {
            return Err(insufficient(protection.as_ref(), bearer.scopes, Scope::Read).into());
        }
        let service = match self.principals.service(&bearer, self.authenticator.sharers()).await {
            Ok(service) => service,
            Err(NoService::Crowded) => {
                return Err(retry_later("The server has too many users at once.").into());
            }
            Err(NoService::BeingOpened) => {
                return Err(retry_later("The workspace is still being opened.").into());
            }
            Err(NoService::Nothing) => {
                let message =
                    "No workspace is set up for the bearer of this token; whoever runs the server can do so.";
                return Err(refused(StatusCode::FORBIDDEN, message.into()).into());
            }
        };
        if !slot.assign_principal(service.number) {
            return Err(retry_later("This token has too many connections open.").into());
        }
        // A POST may bring the response that a running request waits for.
        if head.method != Method::POST && self.closing.is_cancelled() {
            return Err(retry_later("The server is stopping.").into());
        }
        Ok(Admitted { service, bearer })
    }

    /// Lets a call of a tool in, by its name: the client may have to get a token with another scope, and the tenant may have
    /// done enough in this minute. Neither is asked of a server for one.
    fn admit_call(&self, bearer: &Bearer, body: &[u8]) -> Result<(), Box<Answer>> {
        let can_step_up = bearer.can_step_up && bearer.scopes != Scopes::ALL;
        if !can_step_up && bearer.quota == Quota::default() {
            return Ok(());
        }
        // What is no call is for rmcp to say.
        let Ok(call) = serde_json::from_slice::<CallHead>(body) else { return Ok(()) };
        let Some(needs) = dialects::needed_scope(&call.params.name) else { return Ok(()) };
        if can_step_up && !bearer.scopes.has(needs) {
            return Err(insufficient(self.authenticator.protection().as_ref(), bearer.scopes, needs).into());
        }
        match &bearer.tenant {
            Some(tenant) if bearer.quota != Quota::default() && counts_as_edit(needs, body) => self
                .take_allowance(tenant, bearer.quota, body.len())
                .map_err(|exceeded| over_quota(&exceeded).into()),
            _ => Ok(()),
        }
    }

    fn take_allowance(&self, tenant: &str, quota: Quota, bytes: usize) -> Result<(), Exceeded> {
        let now = Instant::now();
        let mut allowances = self.allowances.lock();
        let allowance = allowances.entry(tenant.to_owned()).or_insert_with(|| Allowance::new(quota, now));
        if allowance.quota() != quota {
            *allowance = Allowance::new(quota, now);
        }
        allowance.take(bytes, now)
    }

    /// Returns whether the server is ready to serve.
    pub(super) fn is_ready(&self) -> bool {
        !self.closing.is_cancelled() && self.is_ready.get().is_none_or(|is_ready| is_ready())
    }

    /// Answers a health check, which needs no token: whether the server takes requests, or also whether it is ready for them.
    fn health(&self, method: &Method, wants_ready: bool) -> Answer {
        if !matches!(*method, Method::GET | Method::HEAD) {
            return method_not_allowed();
        }
        if self.closing.is_cancelled() {
            return retry_later("The server is stopping.");
        }
        if wants_ready && !self.is_ready() {
            return retry_later("The server is not ready yet.");
        }
        Response::new(Full::new(Bytes::from_static(b"ok\n")).boxed())
    }

    /// Forwards a request that opens a stream or ends a session, without a body.
    async fn forward(&self, service: &PrincipalService<H>, head: Parts) -> Answer {
        let is_end = head.method == Method::DELETE;
        let mut answer = service.handle(Request::from_parts(head, Empty::<Bytes>::new())).await;
        // rmcp answers 202, about which some clients warn.
        if is_end && answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        answer
    }

    async fn post(&self, admitted: &Admitted<H>, head: Parts, body: Incoming) -> Answer {
        let service = &*admitted.service;
        let most = self.limits.body_bytes;
        let taking = intake::take(body, most, [&service.intake, &self.intake]);
        let TakenBody { bytes: body, counted: sent } = match tokio::time::timeout(self.limits.arrival, taking)
            .await
        {
            Ok(Ok(taken)) => taken,
            Ok(Err(Refusal::TooLarge)) => {
                return refused(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    format!("A request has at most {most} bytes."),
                );
            }
            Ok(Err(Refusal::TooMuch)) => return retry_later("Too much is being sent at once."),
            Ok(Err(Refusal::Broken(error))) => {
                return refused(StatusCode::BAD_REQUEST, format!("The request broke off: {error}."));
            }
            Err(_) => {
                return refused(StatusCode::REQUEST_TIMEOUT, "The request took too long to arrive.".into());
            }
        };
        let Ok(message_head) = serde_json::from_slice::<MessageHead>(&body) else {
            return not_a_message(&body);
        };
        if message_head.method.as_deref() == Some("initialize")
            && service.sessions.sessions.read().await.len() >= self.limits.sessions
        {
            return retry_later("This token has too many sessions open; end some with DELETE.");
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
        answer.map(|body| end_at(CountedBody { body, _permit: permit, _counted: sent }.boxed(), end))
    }

    /// Takes no new request, waits for those that have begun, and then ends every stream.
    pub(super) async fn close(&self, patience: std::time::Duration) {
        self.closing.cancel();
        if tokio::time::timeout(patience, self.principals.answered()).await.is_err() {
            tracing::warn!("some requests are still being answered");
        }
        self.principals.end();
    }
}

/// Returns whether a call of a tool that needs this scope edits. What some tools do depends on their arguments.
fn counts_as_edit(needs: Scope, body: &[u8]) -> bool {
    let may_edit = || {
        let call = serde_json::from_slice::<Call>(body);
        call.is_ok_and(|Call { params }| dialects::may_edit(&params.name, &params.arguments))
    };
    needs == Scope::Write || needs == Scope::Read && may_edit()
}

impl<H: ServerHandler + Send + Sync + 'static> PrincipalService<H> {
    /// Has rmcp answer a request. rmcp reports an internal error if the session ends at the same moment.
    async fn handle<B>(&self, request: Request<B>) -> Answer
    where
        B: hyper::body::Body + Send + 'static,
        B::Error: std::fmt::Display,
    {
        let is_of_session = request.headers().contains_key(HEADER_SESSION_ID);
        let answer = self.protocol.handle(request).await;
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
struct CountedBody {
    body: Body,
    _permit: Option<OwnedSemaphorePermit>,
    _counted: Counted,
}

impl hyper::body::Body for CountedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Returns the token that a request shows, if it shows one.
fn presented(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim()).filter(|token| !token.is_empty())
}

fn nothing_at(path: &str) -> Answer {
    refused(StatusCode::NOT_FOUND, format!("There is nothing at {path}; MCP is at {ENDPOINT}."))
}

/// Describes the protected resource to whoever asks.
fn describe(protection: &Protection, method: &Method) -> Answer {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return method_not_allowed();
    }
    let mut answer = Response::new(Full::new(Bytes::from(protection.metadata().to_string())).boxed());
    let json = http::HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, json);
    answer
}

fn method_not_allowed() -> Answer {
    let mut answer = refused(StatusCode::METHOD_NOT_ALLOWED, "Ask with GET.".into());
    answer.headers_mut().insert(ALLOW, http::HeaderValue::from_static("GET, HEAD"));
    answer
}

/// Creates the refusal of a request without a good token, which says how to get one.
fn unauthorized(protection: Option<&Protection>, why: Option<&str>) -> Answer {
    let message = "Send a token of this server as 'Authorization: Bearer TOKEN'.";
    let mut answer = refused(StatusCode::UNAUTHORIZED, message.into());
    answer.headers_mut().insert(WWW_AUTHENTICATE, authentication::challenge(protection, why));
    answer
}

/// Creates the refusal of a request whose token lacks a scope.
fn insufficient(protection: Option<&Protection>, has: Scopes, needs: Scope) -> Answer {
    let message = format!("This needs the scope {}, which the token does not have.", needs.as_str());
    let mut answer = refused(StatusCode::FORBIDDEN, message);
    answer.headers_mut().insert(WWW_AUTHENTICATE, authentication::step_up(protection, has, needs));
    answer
}

/// Creates a refusal as a JSON-RPC error, so that a client shows its message.
fn refused(status: StatusCode, message: String) -> Answer {
    error_answer(status, None, ErrorData::new(ErrorCode::INVALID_REQUEST, message, None))
}

/// Creates a refusal that asks the client to retry.
fn retry_later(message: &str) -> Answer {
    let mut answer = refused(StatusCode::SERVICE_UNAVAILABLE, message.into());
    answer.headers_mut().insert(RETRY_AFTER, http::HeaderValue::from_static("1"));
    answer
}

/// Creates the refusal of an edit for which a tenant has done too much in this minute.
fn over_quota(exceeded: &Exceeded) -> Answer {
    let Exceeded { what, most, wait } = exceeded;
    let seconds = wait.as_secs() + 1;
    let message = format!(
        "quota-exceeded: {most} {what} a minute are allowed here, and they are used up. Nothing was changed. Send the call \
         again in {seconds} seconds."
    );
    let mut answer = error_answer(
        StatusCode::TOO_MANY_REQUESTS,
        None,
        ErrorData::new(
            ErrorCode::INVALID_REQUEST,
            message,
            Some(serde_json::json!({"code": "quota-exceeded"})),
        ),
    );
    answer.headers_mut().insert(RETRY_AFTER, http::HeaderValue::from(seconds));
    answer
}

/// Creates the response to a body that is no message.
fn not_a_message(body: &[u8]) -> Answer {
    let (id, error) = malformed::answer(body)
        .unwrap_or_else(|| (None, ErrorData::invalid_request("This is no JSON-RPC message.", None)));
    error_answer(StatusCode::BAD_REQUEST, id, error)
}

fn error_answer(status: StatusCode, id: Option<RequestId>, error: ErrorData) -> Answer {
    let body = serde_json::to_vec(&JsonRpcError::new(id, error)).unwrap_or_default();
    let mut answer = Response::new(Full::new(Bytes::from(body)).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    answer
}
