//! The HTTP service: what happens to a request before and after rmcp handles it.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Frame, Incoming, SizeHint};
use rmcp::ServerHandler;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::connections::Slot;
use super::intake::{self, Counted, Intake, Refusal, TakenBody};
use super::{ENDPOINT, HostGuard, Limits, Tokens};
use crate::malformed;
use crate::session::Token;

/// The header that names a session.
const HEADER_SESSION_ID: &str = "mcp-session-id";

/// The body of a response.
pub(super) type Body = BoxBody<Bytes, Infallible>;
type Answer = Response<Body>;

/// The service that answers every request.
pub(super) struct HttpService<H> {
    tokens: Tokens,
    guard: HostGuard,
    limits: Limits,
    /// The intake of all tokens together.
    intake: Intake,
    /// The service of each token, in the order of `tokens`.
    services: Vec<TokenService<H>>,
    /// Cancelled once no new request is taken.
    closing: CancellationToken,
    /// Cancelled once every stream ends.
    closed: CancellationToken,
}

/// The service of the clients that share one token.
struct TokenService<H> {
    sessions: Arc<LocalSessionManager>,
    /// A permit for each request that may be answered at once.
    requests: Arc<Semaphore>,
    /// A permit for each request that may listen at once.
    listeners: Arc<Semaphore>,
    /// The intake of this token.
    intake: Intake,
    protocol: StreamableHttpService<H, LocalSessionManager>,
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
        tokens: Tokens,
        guard: HostGuard,
        limits: Limits,
        handler: impl Fn(&Token) -> H + Send + Sync + 'static,
    ) -> Self {
        let (handler, closed) = (Arc::new(handler), CancellationToken::new());
        let service = |token: &Token| {
            let (token, handler) = (token.clone(), Arc::clone(&handler));
            let mut sessions = LocalSessionManager::default();
            sessions.session_config.keep_alive = Some(limits.session_idle);
            let sessions = Arc::new(sessions);
            let config = StreamableHttpServerConfig::default()
                // The guard checks both, before the token.
                .disable_allowed_hosts()
                .disable_allowed_origins()
                .with_json_response(true)
                .with_max_request_body_bytes(limits.body_bytes)
                .with_cancellation_token(closed.child_token());
            let protocol =
                StreamableHttpService::new(move || Ok(handler(&token)), Arc::clone(&sessions), config);
            let permits = |number| Arc::new(Semaphore::new(number));
            TokenService {
                sessions,
                requests: permits(limits.requests),
                listeners: permits(limits.listeners),
                intake: Intake::new(limits.bytes_of_token),
                protocol,
            }
        };
        Self {
            services: tokens.all().map(service).collect(),
            tokens,
            guard,
            limits,
            intake: Intake::new(limits.bytes_of_all),
            closing: CancellationToken::new(),
            closed,
        }
    }

    pub(super) async fn answer(&self, request: Request<Incoming>, slot: &Slot) -> Answer {
        let (head, mut body) = request.into_parts();
        let admitted = self.admit(&head, slot);
        if let Ok(service) = admitted
            && head.method == Method::POST
        {
            return self.post(service, head, body).await;
        }
        // An unread body would have the connection reset when it is closed, and the response would be lost.
        let _ = tokio::time::timeout(self.limits.rest, intake::discard(&mut body)).await;
        match admitted {
            Ok(service) => self.forward(service, head).await,
            Err(refusal) => *refusal,
        }
    }

    /// Returns the service of the request's token, or the response if the head is enough for one.
    fn admit(&self, head: &Parts, slot: &Slot) -> Result<&TokenService<H>, Box<Answer>> {
        let path = head.uri.path();
        if path == "/healthz" {
            return Err(self.health(&head.method).into());
        }
        if path != ENDPOINT {
            let message = format!("There is nothing at {path}; MCP is at {ENDPOINT}.");
            return Err(refused(StatusCode::NOT_FOUND, message).into());
        }
        self.guard.check(&head.uri, &head.headers).map_err(|why| refused(StatusCode::FORBIDDEN, why))?;
        let Some((token, service)) = self.service_for(&head.headers) else {
            let message = "Send a token of this server as 'Authorization: Bearer TOKEN'.";
            let mut answer = refused(StatusCode::UNAUTHORIZED, message.into());
            let scheme = http::HeaderValue::from_static("Bearer realm=\"emend\"");
            answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return Err(answer.into());
        };
        if !slot.assign_token(token) {
            return Err(retry_later("This token has too many connections open.").into());
        }
        // A POST may bring the response that a running request waits for.
        if head.method != Method::POST && self.closing.is_cancelled() {
            return Err(retry_later("The server is stopping.").into());
        }
        Ok(service)
    }

    /// Answers a health check, which needs no token: whether the server takes requests.
    fn health(&self, method: &Method) -> Answer {
        if !matches!(*method, Method::GET | Method::HEAD) {
            let mut answer = refused(StatusCode::METHOD_NOT_ALLOWED, "Ask with GET.".into());
            answer.headers_mut().insert(ALLOW, http::HeaderValue::from_static("GET, HEAD"));
            return answer;
        }
        if self.closing.is_cancelled() {
            return retry_later("The server is stopping.");
        }
        Response::new(Full::new(Bytes::from_static(b"ok\n")).boxed())
    }

    /// Returns the number and the service of a request's token.
    fn service_for(&self, headers: &HeaderMap) -> Option<(usize, &TokenService<H>)> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return None };
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("bearer");
        let position = self.tokens.position(token.trim().as_bytes()).filter(|_| is_bearer)?;
        Some((position, self.services.get(position)?))
    }

    /// Forwards a request that opens a stream or ends a session, without a body.
    async fn forward(&self, service: &TokenService<H>, head: Parts) -> Answer {
        let is_end = head.method == Method::DELETE;
        let mut answer = service.handle(Request::from_parts(head, Empty::<Bytes>::new())).await;
        // rmcp answers 202, about which some clients warn.
        if is_end && answer.status() == StatusCode::ACCEPTED {
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        answer
    }

    async fn post(&self, service: &TokenService<H>, head: Parts, body: Incoming) -> Answer {
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
        // A response to a request of ours, or a notification, adds no work: a running request may wait for it.
        let is_request = message_head.id.is_some() && message_head.method.is_some();
        if is_request && self.closing.is_cancelled() {
            return retry_later("The server is stopping.");
        }
        // A listen request stays open, so it takes no permit from the others.
        let (counted, too_many) = match message_head.method.as_deref() {
            Some("subscriptions/listen") => {
                (&service.listeners, "This token listens too many times at once.")
            }
            _ => (&service.requests, "Too many requests of this token are being answered."),
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
        answer.map(|body| CountedBody { body, _permit: permit, _counted: sent }.boxed())
    }

    /// Takes no new request, waits for those that have begun, and then ends every stream.
    pub(super) async fn close(&self, patience: std::time::Duration) {
        self.closing.cancel();
        let all = u32::try_from(self.limits.requests).unwrap_or(u32::MAX);
        let answered = async {
            for service in &self.services {
                // The semaphore is never closed, so this cannot fail.
                let _ = service.requests.acquire_many(all).await;
            }
        };
        if tokio::time::timeout(patience, answered).await.is_err() {
            tracing::warn!("some requests are still being answered");
        }
        self.closed.cancel();
    }
}

impl<H: ServerHandler + Send + Sync + 'static> TokenService<H> {
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
