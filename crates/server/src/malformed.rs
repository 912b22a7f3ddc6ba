//! The response to text that is no message, on every transport.

use rmcp::model::{ErrorCode, ErrorData, RequestId};
use serde::Deserialize;
use serde_json::Value;

/// Returns the id of an object of which other parts cannot be read, such as half of a character or too deep a nesting,
/// so that the response reaches its request.
fn id_in(text: &[u8]) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Glance {
        id: Option<RequestId>,
    }
    serde_json::from_slice::<Glance>(text).ok()?.id
}

/// Returns the error for text that is no message, and the id of its request; `None` if it gets no response.
pub(crate) fn answer(text: &[u8]) -> Option<(Option<RequestId>, ErrorData)> {
    let value: Value = match serde_json::from_slice(text) {
        Ok(value) => value,
        Err(error) => {
            let message = format!("This is not JSON that can be read: {error}.");
            return Some((id_in(text), ErrorData::new(ErrorCode::PARSE_ERROR, message, None)));
        }
    };
    let id: Option<RequestId> = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let text_of = |name: &str| value.get(name).and_then(Value::as_str);
    let is_reply = value.get("result").is_some() || value.get("error").is_some();
    let is_notification = value.get("method").is_some() && value.get("id").is_none();
    if is_reply || is_notification {
        return None;
    }
    if let (Some(id), Some("2.0"), Some(method)) = (&id, text_of("jsonrpc"), text_of("method")) {
        let message = format!("The params of {method} must be an object.");
        return Some((Some(id.clone()), ErrorData::invalid_params(message, None)));
    }
    let message = match &value {
        Value::Array(_) => "Batches are not part of MCP: send one message at a time.",
        Value::Object(_) => {
            "This is no JSON-RPC request: it needs \"jsonrpc\": \"2.0\", an \"id\" and a \"method\"."
        }
        _ => "This is no JSON-RPC message: it must be an object.",
    };
    Some((id, ErrorData::invalid_request(message, None)))
}
