//! The answers without rmcp: refusals, each a JSON-RPC error with its status, so that a client shows its message, and what the
//! server says of itself.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Method, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};

use super::authentication::{self, Protection};
use super::endpoint::ENDPOINT;
use super::quota::Exceeded;
use super::stream_end::Body;
use crate::malformed;
use crate::principal::{Scope, Scopes};

pub(super) type Answer = Response<Body>;

/// What a refusal says, for who shows it in another form.
#[derive(Clone, Debug)]
pub(super) struct Words(#[cfg_attr(not(feature = "team"), expect(dead_code))] pub(super) String);

pub(super) fn too_many_sessions() -> Answer {
    retry_later("This token has too many sessions open; end some with DELETE.")
}

/// Returns a body that is all there.
pub(super) fn whole(content: impl Into<Bytes>) -> Body {
    Full::new(content.into()).map_err(|never| match never {}).boxed()
}

pub(super) fn nothing_at(path: &str) -> Answer {
    refused(StatusCode::NOT_FOUND, format!("There is nothing at {path}; MCP is at {ENDPOINT}."))
}

/// Describes the protected resource to whoever asks.
pub(super) fn describe(protection: &Protection, method: &Method) -> Answer {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return method_not_allowed();
    }
    let mut answer = Response::new(whole(protection.metadata().to_string()));
    let json = http::HeaderValue::from_static("application/json");
    answer.headers_mut().insert(CONTENT_TYPE, json);
    answer
}

pub(super) fn method_not_allowed() -> Answer {
    let mut answer = refused(StatusCode::METHOD_NOT_ALLOWED, "Ask with GET.".into());
    answer.headers_mut().insert(ALLOW, http::HeaderValue::from_static("GET, HEAD"));
    answer
}

/// Creates the refusal of a request without a good token, which says how to get one.
pub(super) fn unauthorized(protection: Option<&Protection>, why: Option<&str>) -> Answer {
    let message = "Send a token of this server as 'Authorization: Bearer TOKEN'.";
    let mut answer = refused(StatusCode::UNAUTHORIZED, message.into());
    answer.headers_mut().insert(WWW_AUTHENTICATE, authentication::challenge(protection, why));
    answer
}

/// Creates the refusal of a request whose token lacks a scope.
pub(super) fn insufficient(protection: Option<&Protection>, has: Scopes, needs: Scope) -> Answer {
    let message = format!("This needs the scope {}, which the token does not have.", needs.as_str());
    let mut answer = refused(StatusCode::FORBIDDEN, message);
    answer.headers_mut().insert(WWW_AUTHENTICATE, authentication::step_up(protection, has, needs));
    answer
}

/// Creates a refusal as a JSON-RPC error, so that a client shows its message.
pub(super) fn refused(status: StatusCode, message: String) -> Answer {
    error_answer(status, None, ErrorData::new(ErrorCode::INVALID_REQUEST, message, None))
}

/// Creates a refusal that asks the client to retry.
pub(super) fn retry_later(message: &str) -> Answer {
    let mut answer = refused(StatusCode::SERVICE_UNAVAILABLE, message.into());
    answer.headers_mut().insert(RETRY_AFTER, http::HeaderValue::from_static("1"));
    answer
}

/// Creates the refusal of an edit for which a tenant has done too much in this minute.
pub(super) fn over_quota(exceeded: &Exceeded) -> Answer {
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
pub(super) fn not_a_message(body: &[u8]) -> Answer {
    let (id, error) = malformed::answer(body)
        .unwrap_or_else(|| (None, ErrorData::invalid_request("This is no JSON-RPC message.", None)));
    error_answer(StatusCode::BAD_REQUEST, id, error)
}

fn error_answer(status: StatusCode, id: Option<RequestId>, error: ErrorData) -> Answer {
    let words = Words(error.message.to_string());
    let body = serde_json::to_vec(&JsonRpcError::new(id, error)).unwrap_or_default();
    let mut answer = Response::new(whole(body));
    *answer.status_mut() = status;
    answer.extensions_mut().insert(words);
    answer.headers_mut().insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
    answer
}
