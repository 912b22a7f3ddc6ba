//! Asking a person, through their client, whether an edit that the policy holds may be made.
//!
//! A client of 2025 gets a request of ours while its call waits. One of 2026 gets the question as the result of its
//! call, and calls again with the person's decision and with a state that proves which plan the question was about. The
//! state is sealed, bound to the caller and the call, and valid once and for a limited time. Over HTTP, another process with the
//! same state folder may get the answer: the one that asked may be gone, or another serves the client now.
//! Either way the call is then planned anew, and only the same plan is allowed.
//!
//! A person must see all that they approve, and a client cuts a long question off without a word. So a question has a few
//! lines, and the change comes first. An edit that needs more waits for `emend approve`, as do the edits of clients that
//! can ask nobody.

use std::collections::HashMap;
use std::fmt::Write;
use std::io;
use std::sync::{Arc, OnceLock};
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

use emend_threads::Mutex;
use emend_workspace::approval::{PlanDigest, pointed_out, visible, visible_line};
use emend_workspace::{AwaitingApproval, ChangeKind, FileReport, Questions, Workspace};

use crate::approval::{Decision, EarlierAnswer};
use crate::messages::notes;
use crate::session::Owner;

/// The time that a person has to decide.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// The room of a question in a client's dialog. Codex wraps long lines, and on a terminal of 24 rows and 80 columns it shows
/// 17 rows of a question.
const ROOM: Room = Room { lines: 6, columns: 120, is_bare: false };
/// Claude Code shows four lines, cuts each at the width of the terminal, and shows Markdown as it is.
const ROOM_IN_CLAUDE_CODE: Room = Room { lines: 2, columns: 72, is_bare: true };
/// The name of the question and of the only field in its form.
const APPROVE: &str = "approve";

/// The questions of a workspace.
pub(crate) struct Asking {
    workspace: Option<Arc<Workspace>>,
    /// Those that other processes may have asked, where there is a state folder. Looked for once they are needed.
    shared: OnceLock<Option<Questions>>,
    /// What seals states, made once it is needed; `None` if the system gave no random key.
    codec: OnceLock<Option<RequestStateCodec>>,
    /// What binds a state to this process, where the client at its standard input and output is the caller.
    process: [u8; 16],
    /// The questions that were answered here, until they expire.
    answered: Mutex<HashMap<[u8; 16], Instant>>,
}

impl std::fmt::Debug for Asking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Asking(..)")
    }
}

/// The result of asking.
pub(crate) enum Reply {
    /// The decision, which is undecided where the client cannot ask or nobody has answered.
    Decided(Decision),
    /// The client asks the person and calls again.
    Later(InputRequiredResult),
}

/// The state that a question of 2026 carries. Nothing in it is secret.
#[derive(Serialize, Deserialize)]
struct State {
    plan: String,
    once: [u8; 16],
}

impl Asking {
    /// Creates the questions of a workspace, if there is one.
    pub(crate) fn of(workspace: Option<Arc<Workspace>>) -> Self {
        let mut process = [0; 16];
        // Without it there is no codec either.
        let codec = match getrandom::fill(&mut process) {
            Ok(()) => OnceLock::new(),
            Err(_) => OnceLock::from(None),
        };
        Self { workspace, shared: OnceLock::new(), codec, process, answered: Mutex::default() }
    }

    fn shared(&self) -> Option<&Questions> {
        let open = || self.workspace.as_ref()?.questions(PATIENCE);
        self.shared.get_or_init(open).as_ref()
    }

    fn codec(&self) -> Option<&RequestStateCodec> {
        let key = || match self.shared() {
            Some(shared) => Some(shared.key()),
            None => {
                let mut key = [0; 32];
                getrandom::fill(&mut key).ok().map(|()| key)
            }
        };
        self.codec.get_or_init(|| RequestStateCodec::try_new(key()?).ok()).as_ref()
    }

    /// Returns the person's decision that this call brings along, if it brings one. Blocks.
    pub(crate) fn earlier_answer(
        &self,
        owner: &Owner,
        (tool, arguments): (&str, &JsonObject),
        request: &CallToolRequestParams,
    ) -> Result<Option<EarlierAnswer>, ErrorData> {
        let Some(sealed) = &request.request_state else { return Ok(None) };
        let refused = |why: &str| {
            let message = format!(
                "The requestState of this call {why}. Nothing was changed. Send the call again without it, and the \
                 person is asked again."
            );
            ErrorData::invalid_params(message, None)
        };
        let call = self.binding(owner, tool, arguments);
        let foreign = "is none that this server gave for it";
        let codec = self.codec().ok_or_else(|| refused(foreign))?;
        let state: State = codec.open_json_with(sealed, &call).map_err(|error| match error {
            RequestStateError::Expired => refused("is too old"),
            _ => refused(foreign),
        })?;
        let plan = PlanDigest::from_hex(&state.plan).ok_or_else(|| refused(foreign))?;
        if !self.is_first(owner, state.once).map_err(|_| refused("cannot be kept from being used again"))? {
            return Err(refused("was used before"));
        }
        let decision = decision_in(request.input_responses.as_ref());
        Ok(Some(EarlierAnswer { plan, decision }))
    }

    /// Records that a question was answered, and returns whether that is its first answer.
    fn is_first(&self, owner: &Owner, once: [u8; 16]) -> io::Result<bool> {
        if let (Some(shared), Owner::Principal(_)) = (self.shared(), owner) {
            return shared.is_first_answer(once);
        }
        let mut answered = self.answered.lock();
        answered.retain(|_, at| at.elapsed() <= PATIENCE);
        Ok(answered.insert(once, Instant::now()).is_none())
    }

    /// Asks whether an edit may be made, in the way of the client's era.
    pub(crate) async fn ask(
        &self,
        held: &AwaitingApproval,
        (owner, tool, arguments): (&Owner, &str, &JsonObject),
        is_modern: bool,
        context: &RequestContext<RoleServer>,
    ) -> Reply {
        let not_here = Reply::Decided(Decision::Undecided);
        let Some(message) = question(held).filter(|_| takes_forms(context)) else { return not_here };
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
        let Ok(form) = form else { return not_here };
        if is_modern {
            let call = self.binding(owner, tool, arguments);
            return self.ask_in_answer(held, form, &call).map_or(not_here, Reply::Later);
        }
        Reply::Decided(ask_meanwhile(form, context).await)
    }

    /// Creates the question as the result of the call.
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
        let sealed = self.codec()?.seal_json_with(&state, &options).ok()?;
        let request = InputRequest::Elicitation(ElicitRequest::new(form));
        let requests = InputRequests::from([(APPROVE.to_owned(), request)]);
        Some(InputRequiredResult::new(Some(requests), Some(sealed)))
    }

    /// Returns the data that binds a state to its caller and call.
    fn binding(&self, owner: &Owner, tool: &str, arguments: &JsonObject) -> Vec<u8> {
        let mut text = match owner {
            Owner::Process => format!("process {:032x}\n", u128::from_be_bytes(self.process)),
            Owner::Principal(principal) => format!("principal {}\n", principal.key()),
        };
        let _ = writeln!(text, "{tool}");
        write_object(arguments, &mut text);
        text.into_bytes()
    }
}

/// Returns whether the client of a request can ask a person.
pub(crate) fn takes_forms(context: &RequestContext<RoleServer>) -> bool {
    let asks = context.client_capabilities().and_then(|client| client.elicitation);
    asks.is_some_and(|asks| asks.form.is_some() || asks.url.is_none())
}

/// Sends the question as a request of ours, while the call waits.
async fn ask_meanwhile(form: ElicitRequestParams, context: &RequestContext<RoleServer>) -> Decision {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let options = PeerRequestOptions::no_options();
    let Ok(mut asked) = context.peer.send_cancellable_request(request, options).await else {
        return Decision::Undecided;
    };
    let response = tokio::select! {
        response = &mut asked.rx => response,
        () = tokio::time::sleep(PATIENCE) => {
            let _ = asked.cancel(Some("nobody answered".into())).await;
            return Decision::Undecided;
        }
        () = context.ct.cancelled() => {
            let _ = asked.cancel(Some("the call was cancelled".into())).await;
            return Decision::Undecided;
        }
    };
    match response {
        Ok(Ok(ClientResult::ElicitResult(result))) => meaning(&result),
        _ => Decision::Undecided,
    }
}

/// Returns the decision in these responses.
fn decision_in(responses: Option<&InputResponses>) -> Decision {
    let response = responses.and_then(|responses| responses.get(APPROVE));
    let result = response.and_then(|response| ElicitResult::deserialize(response).ok());
    result.map_or(Decision::Undecided, |result| meaning(&result))
}

/// Returns the decision in a result. Only a plain yes approves.
fn meaning(result: &ElicitResult) -> Decision {
    let approved = result.content.as_ref().map(|content| &content[APPROVE]);
    match (&result.action, approved) {
        (ElicitationAction::Accept, Some(Value::Bool(true))) => Decision::Approve,
        (ElicitationAction::Accept, Some(Value::Bool(false))) | (ElicitationAction::Decline, _) => {
            Decision::Deny
        }
        _ => Decision::Undecided,
    }
}

/// The change that a client's dialog certainly shows.
struct Room {
    /// The most lines of the diff.
    lines: usize,
    /// The most columns of each of them, and of the line above them.
    columns: usize,
    /// Whether there is room for one more line alone, and none for a fence around the diff.
    is_bare: bool,
}

/// Renders the question: all that would change, how to see it elsewhere, and why it is asked. `None` if that is too long.
fn question(held: &AwaitingApproval) -> Option<String> {
    let origin = held.origin();
    let Room { lines, columns, is_bare } = match origin.client.as_str() {
        "claude-code" => ROOM_IN_CLAUDE_CODE,
        _ => ROOM,
    };
    let files = &held.report().files;
    if files.len() > lines.div_ceil(2) {
        return None;
    }
    let rows: Vec<(&FileReport, usize, String)> = files
        .iter()
        .flat_map(|file| file.diff.rows().into_iter().map(move |(line, row)| (file, line, row)))
        .collect();
    let mut title = files.iter().map(change).collect::<Vec<_>>().join(", ");
    let mut diff = String::new();
    for (file, line, row) in &rows {
        if rows.len() > 1 || files.len() > 1 {
            let _ = writeln!(diff, "@@ {}, line {line} @@", visible_line(&file.name));
        } else if file.before.is_some() && file.after.is_some() {
            let _ = write!(title, " at line {line}");
        }
        diff.push_str(&visible(row));
    }
    let title = format!("Approve {title}?");
    let shown: Vec<&str> = diff.lines().collect();
    let is_wide = |line: &&str| width(line) > columns;
    // A span of code adds a backtick and a blank at either end, and more of them where the line has backticks.
    let is_wide_as_code = |line: &&str| width(&code(line)) > columns + 4;
    if shown.len() > lines
        || shown.iter().any(is_wide)
        || is_bare && shown.iter().any(is_wide_as_code)
        || is_wide(&title.as_str())
    {
        return None;
    }
    let mut remarks = notes(held.report());
    let names = files.iter().flat_map(|file| file.moved_from.iter().chain([&file.name])).map(String::as_str);
    remarks.extend(pointed_out(names, &diff));
    let why = visible_line(&held.rules().join(", and "));
    if is_bare {
        let spans: String = shown.iter().map(|line| format!("{}\n", code(line))).collect();
        let why = format!("`emend review` shows it in its file. You are asked since {why}.");
        return remarks.is_empty().then(|| format!("{title}\n{spans}{why}"));
    }
    let mut text = format!("{title}\n");
    if !diff.is_empty() {
        // The fence is longer than any in the diff, so that a client that shows Markdown shows all of it.
        let fence = "`".repeat(longest_ticks(&diff).max(2) + 1);
        let _ = write!(text, "\n{fence}diff\n{}\n{fence}\n", diff.trim_end_matches('\n'));
    }
    for remark in &remarks {
        // They hold names of files, which may contain Markdown.
        let _ = writeln!(text, "\n- {}", code(remark));
    }
    let (client, tool) = (visible_line(&origin.client), visible_line(&origin.tool));
    let root = code(&held.root().display().to_string());
    let _ = write!(
        text,
        "\n`emend review` shows it in its file. {client} asks with {tool} in {root}, and needs your approval, since {why}."
    );
    Some(text)
}

/// Says what would become of a file: `an edit of src/a.rs (+3 -1)`.
fn change(file: &FileReport) -> String {
    let name = code(&file.name);
    let counts = format!("(+{} -{})", file.diff.added, file.diff.removed);
    match (file.change, &file.moved_from) {
        (ChangeKind::Create, _) => format!("a new file {name} {counts}"),
        (ChangeKind::Delete, _) => format!("the deletion of {name} {counts}"),
        (_, Some(from)) => format!("a move of {} to {name} {counts}", code(from)),
        _ => format!("an edit of {name} {counts}"),
    }
}

/// Returns how many columns a text takes at most: every character that is not ASCII may take two.
fn width(text: &str) -> usize {
    text.chars()
        .map(|character| if character == '\t' { 8 } else { 1 + usize::from(!character.is_ascii()) })
        .sum()
}

/// Returns a text as a Markdown code span on one line.
fn code(text: &str) -> String {
    // A client that does not render code spans must not render a link either.
    let text = visible_line(text).replace("](", "]\\u{28}");
    match longest_ticks(&text) {
        0 => format!("`{text}`"),
        ticks => {
            let fence = "`".repeat(ticks + 1);
            format!("{fence} {text} {fence}")
        }
    }
}

/// Returns the length of the longest run of backticks.
fn longest_ticks(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// Writes an object as JSON with sorted fields, since a client may send them in another order the second time.
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

    #[test]
    fn a_call_is_told_from_every_other() {
        let asking = Asking::of(None);
        let call = |tool: &str, arguments: Value| asking.binding(&Owner::Process, tool, &object(arguments));
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
        let ann = Owner::Principal(crate::principal::Principal::of_token("ann"));
        assert_ne!(asking.binding(&ann, "t", &object(json!({}))), call("t", json!({})));
    }

    #[test]
    fn only_a_plain_yes_is_one() {
        let decision =
            |response: Value| decision_in(Some(&InputResponses::from([(APPROVE.to_owned(), response)])));
        assert_eq!(decision(json!({"action": "accept", "content": {"approve": true}})), Decision::Approve);
        for no in [
            json!({"action": "accept", "content": {"approve": false}}),
            json!({"action": "decline"}),
            json!({"action": "decline", "content": {"approve": true}}),
        ] {
            assert_eq!(decision(no), Decision::Deny);
        }
        for undecided in [
            json!({"action": "cancel"}),
            json!({"action": "cancel", "content": {"approve": true}}),
            json!({"action": "accept"}),
            json!({"action": "accept", "content": {"approve": "true"}}),
            json!({"action": "accept", "content": {"approved": true}}),
            json!({"action": "yes", "content": {"approve": true}}),
            json!(true),
        ] {
            assert_eq!(decision(undecided), Decision::Undecided);
        }
        assert_eq!(decision_in(None), Decision::Undecided);
    }
}
