//! Asking a person, through their client, whether an edit that the policy holds may be made.
//!
//! A client of 2025 gets a request of ours while its call waits. One of 2026 gets the question as the answer to its call
//! and calls again with what the person said, and with a state that proves which plan they were asked about: sealed with
//! a key of this process, bound to the caller and the call, good for a while and for one time. Either way the call
//! is then planned anew, and only the same plan is allowed.
//!
//! A person must see all of what they allow. What is too long for a question is not asked here: it waits for
//! `emend approve`, as do edits of clients that can ask nobody.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{
    CallToolRequestParams, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequests, InputRequiredResult, InputResponses, JsonObject,
    RequestStateCodec, RequestStateError, SealOptions, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext};
use rmcp::{ErrorData, RoleServer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use emend_workspace::approval::{PlanDigest, pointed_out, visible, visible_line};
use emend_workspace::{Approval, AwaitingApproval};

use crate::session::Owner;

/// How long a person may think.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// The longest diff that is put into a question.
const LINES: usize = 400;
const BYTES: usize = 32_000;
/// The name of the question, and of the one field in its form.
const APPROVE: &str = "approve";

/// The questions of a process.
pub(crate) struct Asking {
    /// `None` where the system gave no random key.
    codec: Option<RequestStateCodec>,
    /// Questions that were answered, until their time is over.
    answered: Mutex<HashMap<[u8; 16], Instant>>,
}

impl std::fmt::Debug for Asking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Asking(..)")
    }
}

/// What a person has said of an edit.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    /// They were not asked.
    Nothing,
    /// This may be made.
    Yes(Approval),
    /// It may not.
    No,
    /// They were asked and did not answer.
    Silence,
}

/// What came of asking.
pub(crate) enum Reply {
    /// The person has said this.
    Said(Said),
    /// The client asks them and calls again.
    Later(InputRequiredResult),
    /// The client can ask nobody, or not this.
    NotHere,
}

/// What a question of 2026 carries: nothing in it is secret.
#[derive(Serialize, Deserialize)]
struct State {
    plan: String,
    once: [u8; 16],
}

impl Asking {
    pub(crate) fn new() -> Self {
        let mut key = [0; 32];
        let has_key = getrandom::fill(&mut key).is_ok();
        let codec = if has_key { RequestStateCodec::try_new(key).ok() } else { None };
        Self { codec, answered: Mutex::default() }
    }

    /// What a person has said in the answer that this call brings along, if it brings one.
    pub(crate) fn said(&self, owner: &Owner, request: &CallToolRequestParams) -> Result<Said, ErrorData> {
        let Some(sealed) = &request.request_state else { return Ok(Said::Nothing) };
        let refused = |why: &str| {
            let message = format!(
                "The requestState of this call {why}. Nothing was changed. Send the call again without it, and the \
                 person is asked again."
            );
            ErrorData::invalid_params(message, None)
        };
        let no_arguments = JsonObject::new();
        let call = binding(owner, &request.name, request.arguments.as_ref().unwrap_or(&no_arguments));
        let foreign = "is none that this server gave for it";
        let codec = self.codec.as_ref().ok_or_else(|| refused(foreign))?;
        let state: State = codec.open_json_with(sealed, &call).map_err(|error| match error {
            RequestStateError::Expired => refused("is too old"),
            _ => refused(foreign),
        })?;
        let plan = PlanDigest::from_hex(&state.plan).ok_or_else(|| refused(foreign))?;
        if !self.is_first(state.once) {
            return Err(refused("was used before"));
        }
        Ok(answer(request.input_responses.as_ref(), plan))
    }

    /// Whether this question was not answered before.
    fn is_first(&self, once: [u8; 16]) -> bool {
        let mut answered = self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        answered.retain(|_, at| at.elapsed() <= PATIENCE);
        answered.insert(once, Instant::now()).is_none()
    }

    /// Asks whether this may be made, in the way of the client's era.
    pub(crate) async fn ask(
        &self,
        held: &AwaitingApproval,
        (owner, tool, arguments): (&Owner, &str, &JsonObject),
        is_modern: bool,
        context: &RequestContext<RoleServer>,
    ) -> Reply {
        let takes_forms = context
            .client_capabilities()
            .and_then(|client| client.elicitation)
            .is_some_and(|asks| asks.form.is_some() || asks.url.is_none());
        let Some(message) = question(held).filter(|_| takes_forms) else { return Reply::NotHere };
        let form = ElicitationSchema::builder()
            .required_bool_property(APPROVE, |yes| {
                yes.title("Approve").description("Yes: exactly this is written, once. No: nothing is.")
            })
            .build()
            .map(|requested_schema| ElicitRequestParams::FormElicitationParams {
                meta: None,
                message,
                requested_schema,
            });
        let Ok(form) = form else { return Reply::NotHere };
        if is_modern {
            let call = binding(owner, tool, arguments);
            return self.ask_in_answer(held, form, &call).map_or(Reply::NotHere, Reply::Later);
        }
        ask_meanwhile(held.digest(), form, context).await.map_or(Reply::NotHere, Reply::Said)
    }

    /// The question as an answer.
    fn ask_in_answer(
        &self,
        held: &AwaitingApproval,
        form: ElicitRequestParams,
        call: &[u8],
    ) -> Option<InputRequiredResult> {
        let mut once = [0; 16];
        getrandom::fill(&mut once).ok()?;
        let state = State { plan: held.digest().hex(), once };
        let options = SealOptions::new().associated_data(call).ttl(PATIENCE);
        let sealed = self.codec.as_ref()?.seal_json_with(&state, &options).ok()?;
        let request = InputRequest::Elicitation(ElicitRequest::new(form));
        let requests = InputRequests::from([(APPROVE.to_owned(), request)]);
        Some(InputRequiredResult::new(Some(requests), Some(sealed)))
    }
}

/// The question as a request of ours, while the call waits. `None` where it does not reach the client.
async fn ask_meanwhile(
    plan: PlanDigest,
    form: ElicitRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Said> {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let options = PeerRequestOptions::no_options();
    let mut asked = context.peer.send_cancellable_request(request, options).await.ok()?;
    let response = tokio::select! {
        response = &mut asked.rx => response,
        () = tokio::time::sleep(PATIENCE) => {
            let _ = asked.cancel(Some("nobody answered".into())).await;
            return Some(Said::Silence);
        }
        () = context.ct.cancelled() => {
            let _ = asked.cancel(Some("the call was cancelled".into())).await;
            return Some(Said::Silence);
        }
    };
    match response {
        Ok(Ok(ClientResult::ElicitResult(result))) => Some(meaning(&result, plan)),
        _ => None,
    }
}

/// What a person has said in these responses.
fn answer(responses: Option<&InputResponses>, plan: PlanDigest) -> Said {
    let response = responses.and_then(|responses| responses.get(APPROVE));
    let result = response.and_then(|response| ElicitResult::deserialize(response).ok());
    result.map_or(Said::Silence, |result| meaning(&result, plan))
}

/// Only a plain yes is one.
fn meaning(result: &ElicitResult, plan: PlanDigest) -> Said {
    let approved = result.content.as_ref().map(|content| &content[APPROVE]);
    match (&result.action, approved) {
        (ElicitationAction::Accept, Some(Value::Bool(true))) => Said::Yes(Approval::of_person(plan)),
        (ElicitationAction::Accept, Some(Value::Bool(false))) | (ElicitationAction::Decline, _) => Said::No,
        _ => Said::Silence,
    }
}

/// What a person reads: who asks, why they are asked, and all of what would change. `None` where that is too much for
/// a question.
fn question(held: &AwaitingApproval) -> Option<String> {
    let whole = held.report().diff();
    let diff = visible(&whole);
    if diff.len() > BYTES || diff.lines().count() > LINES || held.files().len() > LINES {
        return None;
    }
    let origin = held.origin();
    let (client, tool) = (visible_line(&origin.client), visible_line(&origin.tool));
    let mut text = format!(
        "{client} wants to change files in {} with {tool}. Your approval is needed, since {}.\n\n",
        code(&held.root().display().to_string()),
        visible_line(&held.rules().join(", and "))
    );
    let files = held.files();
    // They have the names of files, which may be written in Markdown.
    for line in files.iter().chain(&held.report().notes) {
        let _ = writeln!(text, "- {}", code(line));
    }
    for remark in pointed_out(files.iter().map(String::as_str), &whole) {
        let _ = writeln!(text, "- {remark}.");
    }
    // A client that shows Markdown must not swallow a part of it.
    let fence = "`".repeat(longest_ticks(&diff).max(2) + 1);
    let _ = write!(text, "\n{fence}diff\n{}\n{fence}\n", diff.trim_end_matches('\n'));
    Some(text)
}

/// A text as code of Markdown, on one line.
fn code(text: &str) -> String {
    // Where code is shown as it stands, it makes no link either.
    let text = visible_line(text).replace("](", "]\\u{28}");
    match longest_ticks(&text) {
        0 => format!("`{text}`"),
        ticks => {
            let fence = "`".repeat(ticks + 1);
            format!("{fence} {text} {fence}")
        }
    }
}

/// How many backticks stand in a row at most.
fn longest_ticks(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// Who calls what: a state that was given for one call is good for no other.
fn binding(owner: &Owner, tool: &str, arguments: &JsonObject) -> Vec<u8> {
    let mut text = format!("{}\n{tool}\n", owner.key());
    write_object(arguments, &mut text);
    text.into_bytes()
}

/// The object as JSON whose fields are in order: a client may send them in another one the second time.
fn write_object(object: &JsonObject, text: &mut String) {
    let mut fields: Vec<(&String, &Value)> = object.iter().collect();
    fields.sort_by_key(|(name, _)| *name);
    text.push('{');
    for (name, value) in fields {
        let _ = write!(text, "{}:", Value::from(name.as_str()));
        write_value(value, text);
        text.push(',');
    }
    text.push('}');
}

fn write_value(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => write_object(object, text),
        Value::Array(values) => {
            text.push('[');
            for value in values {
                write_value(value, text);
                text.push(',');
            }
            text.push(']');
        }
        plain => {
            let _ = write!(text, "{plain}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> JsonObject {
        serde_json::from_value(value).unwrap()
    }

    fn plan() -> PlanDigest {
        PlanDigest::from_hex(&"1".repeat(64)).unwrap()
    }

    #[test]
    fn a_call_is_told_from_every_other() {
        let call = |tool: &str, arguments: Value| binding(&Owner::Process, tool, &object(arguments));
        let this = call("t", json!({"a": 1, "b": {"c": [1, "x"], "d": null}}));
        assert_eq!(this, call("t", json!({"b": {"d": null, "c": [1, "x"]}, "a": 1})));
        for (tool, arguments) in [
            ("u", json!({"a": 1, "b": {"c": [1, "x"], "d": null}})),
            ("t", json!({"a": 1, "b": {"c": ["x", 1], "d": null}})),
            ("t", json!({"a": "1", "b": {"c": [1, "x"], "d": null}})),
            ("t", json!({"a": 1, "b": {"c": [[1], "x"], "d": null}})),
            ("t", json!({"a": 1})),
        ] {
            assert_ne!(this, call(tool, arguments));
        }
        let ann = Owner::Token(crate::session::Token::new("ann"));
        assert_ne!(binding(&ann, "t", &object(json!({}))), call("t", json!({})));
    }

    #[test]
    fn only_a_plain_yes_is_one() {
        let said =
            |response: Value| answer(Some(&InputResponses::from([(APPROVE.to_owned(), response)])), plan());
        assert!(matches!(said(json!({"action": "accept", "content": {"approve": true}})), Said::Yes(_)));
        for no in [
            json!({"action": "accept", "content": {"approve": false}}),
            json!({"action": "decline"}),
            json!({"action": "decline", "content": {"approve": true}}),
        ] {
            assert!(matches!(said(no), Said::No));
        }
        for silence in [
            json!({"action": "cancel"}),
            json!({"action": "cancel", "content": {"approve": true}}),
            json!({"action": "accept"}),
            json!({"action": "accept", "content": {"approve": "true"}}),
            json!({"action": "accept", "content": {"approved": true}}),
            json!({"action": "yes", "content": {"approve": true}}),
            json!(true),
        ] {
            assert!(matches!(said(silence), Said::Silence));
        }
        assert!(matches!(answer(None, plan()), Said::Silence));
    }
}
