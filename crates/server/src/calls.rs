//! A call of a tool, from the protocol to the thread that does the work and back: the approval loop, the choice of the
//! thread, the diagnostics and the event of an edit, and the note about a call that was cancelled too late.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rmcp::model::{CallToolRequestParams, CallToolResponse, InputRequiredResult, ProgressToken};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use tokio_util::sync::CancellationToken;

use emend_workspace::approval::LeftWaiting;
use emend_workspace::problem::{Code, Kind, Problem};
use emend_workspace::{Answers, AnswersAs, Approval, AwaitingApproval, Effort, Progress, Topic, Workspace};

use crate::answer::{Answer, Unanswered};
use crate::approval::{ApprovalLoop, EarlierAnswer, Step};
use crate::asking::Reply;
use crate::call_slots::SlotKind;
use crate::dialects::{Names, Understood};
use crate::door::Door;
use crate::effects::{PendingDiagnostics, Recipients};
use crate::events::Cause;
use crate::handler::{Emend, Shared, client_name, is_modern};
use crate::manner::Manner;
use crate::messages::notes;
use crate::principal::{Scope, Scopes};
use crate::progress;
use crate::session::{Caller, Owner};
use crate::tools::{self, Call, Effect, ToolSpec};
use crate::wire::Outcome;
use crate::{asking, review_page};

/// The response to a call.
enum Response {
    Answered(Answered),
    /// The client has to ask a person and to call again.
    Question(InputRequiredResult),
}

/// An answer, and what is still to be added to it.
#[derive(Debug)]
struct Answered {
    answer: Answer,
    pending_diagnostics: Option<PendingDiagnostics>,
    /// The notes about files that the client has read and others have changed.
    remarks: Vec<String>,
    /// The id under which the edit waits for approval.
    waits: Option<String>,
}

impl From<Answer> for Answered {
    fn from(answer: Answer) -> Self {
        Self { answer, pending_diagnostics: None, remarks: Vec::new(), waits: None }
    }
}

impl From<Answer> for Response {
    fn from(answer: Answer) -> Self {
        Self::Answered(answer.into())
    }
}

/// A call of a tool, and its caller.
struct ToolCall {
    understood: Arc<Understood>,
    client: String,
    /// The idempotency key that the client named.
    key: Option<String>,
    is_lasting: bool,
    /// The id of the session, if it outlives its server.
    session: Option<String>,
    scopes: Scopes,
    approval: Option<Approval>,
    cancelled: CancellationToken,
}

impl Emend {
    /// Answers a call of a tool that was understood, to a client that sees the tools under these names.
    pub(crate) async fn call(
        &self,
        understood: Understood,
        names: Names,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let understood = Arc::new(understood);
        let Understood { tool, arguments, translated, .. } = &*understood;
        let earlier = match &request.request_state {
            None => None,
            Some(_) => {
                let (server, understood) = (self.clone(), Arc::clone(&understood));
                let find = move || {
                    let Understood { tool, arguments, .. } = &*understood;
                    let call = (tool.about.name, arguments);
                    server.shared.asking.earlier_answer(server.session.owner(), call, &request)
                };
                let found = tokio::task::spawn_blocking(find).await;
                found.map_err(|_| ErrorData::internal_error("", None))??
            }
        };
        let _turn = match tool.about.effect {
            Effect::Edits => {
                let running = &self.shared.running_calls;
                Some(running.turn(self.session.owner(), tool.about.name, arguments, &context.ct).await)
            }
            Effect::Reads | Effect::Shows | Effect::Decides => None,
        };
        let Answered { mut answer, pending_diagnostics, remarks, waits } =
            match self.answer_once_approved(&understood, earlier, context).await {
                Response::Answered(answered) => answered,
                Response::Question(question) => return Ok(question.into()),
            };
        let client = client_name(context, self.door);
        let caller = Caller::new(&self.session, &client, self.is_lasting(context));
        if let (Some(pending_diagnostics), Ok(workspace)) = (pending_diagnostics, &self.shared.workspace) {
            let session = caller.is_lasting().then_some(&self.session);
            let Shared { subscriptions, events, .. } = &*self.shared;
            let recipients = Recipients { workspace, subscriptions, events, session };
            pending_diagnostics.report_in(&mut answer, recipients, &context.ct).await;
        }
        if !context.ct.is_cancelled() {
            answer.append_notes(caller.mailbox().drain());
            answer.append_notes(remarks);
        } else if answer.edit().is_some() {
            let late = format!(
                "The {} call that was cancelled had begun to write and was completed.",
                tool.about.name
            );
            tracing::warn!("{late}");
            answer.append_notes([late.clone()]);
            // A cancelled call gets no response, so the next answer carries the note.
            caller.mailbox().post(Topic::Calls, late);
        }
        self.publish(tool, &mut answer, caller);
        let workspace = self.shared.workspace.as_deref().ok();
        let answers = workspace.map_or(Answers::Short, Workspace::answers);
        let manner = Manner { words: translated.words, arguments, names: &names };
        let mut result = answer.into_result(answers, &manner);
        let shows_page = review_page::is_shown_to(context);
        // The page reads what stands beside the text.
        if !shows_page && workspace.is_some_and(|workspace| workspace.answers_as() == AnswersAs::Text) {
            result.structured_content = None;
        }
        if let Some(id) = waits.filter(|_| shows_page) {
            // One question at a time: a client that can ask the person has been left to do so.
            let has_secret = !asking::takes_forms(context)
                && self.shared.workspace.as_ref().is_ok_and(|workspace| workspace.approves_in_app(&client));
            result.meta = Some(self.shared.app_approval.meta(&id, has_secret));
        }
        Ok(result.into())
    }

    /// Counts the outcome of an edit tool and publishes it as an event. Waits for nobody.
    fn publish(&self, tool: &ToolSpec, answer: &mut Answer, caller: Caller<'_>) {
        let client = caller.client();
        if let Some(tally) = caller.tally() {
            tally.begin(&client);
        }
        let Some(outcome) = counted(tool, answer) else { return };
        if let Some(tally) = caller.tally() {
            tally.count(outcome);
            self.shared.subscriptions.notify_tally(&self.session);
        }
        let cause = Cause { client: &client, session: caller.session(), tool: tool.about.name };
        self.shared.events.publish_outcome(cause, outcome);
    }

    /// Runs a tool, and where the policy holds the edit, asks a person and runs it again.
    async fn answer_once_approved(
        &self,
        understood: &Arc<Understood>,
        earlier: Option<EarlierAnswer>,
        context: &RequestContext<RoleServer>,
    ) -> Response {
        // Only the first run reports progress, which must never fall.
        let mut token = context.meta.get_progress_token();
        let (mut approvals, mut step) = ApprovalLoop::begin(earlier);
        loop {
            step = match step {
                Step::Make(approval) => {
                    match self.answer(understood, approval, token.take(), context).await {
                        Ok(answered) => return Response::Answered(answered),
                        Err(held) => approvals.after_held(held),
                    }
                }
                // Who may not approve is not asked: the edit waits for somebody who may.
                Step::Ask(held) if !self.scopes(context).has(Scope::Approve) => Step::LeaveWaiting(held),
                Step::Ask(held) => {
                    let Understood { tool, arguments, .. } = &**understood;
                    let call = (self.session.owner(), tool.about.name, arguments);
                    let reply = self.shared.asking.ask(&held, call, is_modern(context), context).await;
                    if context.ct.is_cancelled() {
                        return Answer::refusal(&[Problem::new(Kind::Cancelled)]).into();
                    }
                    match reply {
                        Reply::Decided(decision) => approvals.after_answer(held, decision),
                        Reply::Later(question) => return Response::Question(question),
                    }
                }
                Step::LeaveWaiting(held) => return Response::Answered(self.leave_waiting(held).await),
                // The client may have declined by itself, so the person can still approve the edit.
                Step::Deny(Some(held)) => return self.leave_denied(held).await.into(),
                // A decision that comes with a new call precedes its plan, so there is none that could wait.
                Step::Deny(None) => {
                    return Answer::refusal(&[Problem::new(Kind::ApprovalDenied {
                        release: None,
                        comment: String::new(),
                    })])
                    .into();
                }
            };
        }
    }

    /// Keeps the edit for a person who approves it with a command, and returns the refusal that says so.
    async fn leave_waiting(&self, held: Box<AwaitingApproval>) -> Answered {
        let shared = Arc::clone(&self.shared);
        let job = tokio::task::spawn_blocking(move || match &shared.workspace {
            Ok(workspace) => {
                let LeftWaiting { problems, id } = workspace.wait_for_a_person(&held, notes(held.report()));
                Answered { waits: id, ..Answer::refusal(&problems).into() }
            }
            Err(problem) => Answer::refusal(std::slice::from_ref(problem)).into(),
        });
        job.await.unwrap_or_else(|_| internal_error().into())
    }

    /// Keeps a declined edit for approval by a command, since the client may not have asked. Returns the refusal.
    async fn leave_denied(&self, held: Box<AwaitingApproval>) -> Answer {
        let shared = Arc::clone(&self.shared);
        let release = |problem: &Problem| match &*problem.kind {
            Kind::ApprovalNeeded { release, .. } => Some(release.clone()),
            _ => None,
        };
        let job = tokio::task::spawn_blocking(move || {
            let waits = shared
                .workspace
                .as_ref()
                .map(|workspace| workspace.wait_for_a_person(&held, notes(held.report())).problems);
            let release = waits.unwrap_or_default().iter().find_map(release);
            Answer::refusal(&[Problem::new(Kind::ApprovalDenied { release, comment: String::new() })])
        });
        job.await.unwrap_or_else(|_| internal_error())
    }

    /// Runs a tool, on this thread or on one that may block.
    async fn answer(
        &self,
        understood: &Arc<Understood>,
        approval: Option<Approval>,
        token: Option<ProgressToken>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Answered, Box<AwaitingApproval>> {
        let tool = understood.tool;
        let call = ToolCall {
            understood: Arc::clone(understood),
            client: client_name(context, self.door),
            key: idempotency_key(context),
            is_lasting: self.is_lasting(context),
            session: self.kept_session_id(context),
            scopes: self.scopes(context),
            approval,
            cancelled: context.ct.clone(),
        };
        let in_flight = InFlight::enter(&self.shared);
        // A quick call that is alone runs on this thread: handing it to another and back costs more than the call.
        // Calls that would wait or take long go to a thread that may block; over HTTP all do, since other clients are
        // served meanwhile.
        if in_flight.is_alone && *self.session.owner() == Owner::Process {
            match self.run(&call, Effort::Quick, &|_| {}) {
                Ok(result) => return Ok(result),
                Err(Unanswered::AwaitingApproval(held)) => return Err(held),
                Err(Unanswered::NotQuick) => {}
            }
        }
        let kind = match tool.about.effect {
            Effect::Edits => SlotKind::Edit,
            Effect::Reads | Effect::Shows | Effect::Decides => SlotKind::Other,
        };
        let slot = match self.shared.call_slots.wait(self.session.owner(), kind, &call.cancelled).await {
            Ok(slot) => slot,
            Err(problem) => return Ok(Answer::refusal(&[problem]).into()),
        };
        let effort = slot.effort;
        let (sender, receiver) = progress::channel();
        let sender = token.is_some().then_some(sender);
        let emend = self.clone();
        let job = tokio::task::spawn_blocking(move || {
            let send = |progress| sender.iter().for_each(|sender| sender.send(progress));
            let result = emend.run(&call, effort, &send);
            // The call counts until its work is done, even if nobody waits for it any more.
            drop((in_flight, slot));
            result
        });
        if let Some(token) = token {
            receiver.notify_client(&context.peer, &token).await;
        }
        match job.await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(Unanswered::AwaitingApproval(held))) => Err(held),
            _ => {
                // Not with the error of the thread: it repeats the message of a panic, which can contain the text of a file.
                tracing::error!(tool = tool.about.name, "a tool failed");
                Ok(internal_error().into())
            }
        }
    }

    /// Runs a tool within its span, which records the code of the answer. A panic becomes an internal error: the commit
    /// restores after its own panics, so this one came from a step before it or after it. Blocks.
    fn run(
        &self,
        call: &ToolCall,
        effort: Effort,
        progress: &dyn Fn(Progress),
    ) -> Result<Answered, Unanswered> {
        let span = call.understood.tool.span();
        let run = || match &self.shared.workspace {
            Ok(workspace) => self.run_in(workspace, call, effort, progress),
            Err(problem) => Ok(Answer::refusal(std::slice::from_ref(problem)).into()),
        };
        let ended = span
            .in_scope(|| catch_unwind(AssertUnwindSafe(run)))
            .unwrap_or_else(|_| Ok(internal_error().into()));
        if let Ok(answered) = &ended {
            span.record("code", answered.answer.code());
        }
        ended
    }

    /// Runs a tool, if the workspace's mode offers it, and collects what the answer has to add.
    fn run_in(
        &self,
        workspace: &Arc<Workspace>,
        call: &ToolCall,
        effort: Effort,
        progress: &dyn Fn(Progress),
    ) -> Result<Answered, Unanswered> {
        let mode = self.shared.mode();
        let Understood { tool, arguments, translated, problem } = &*call.understood;
        let scope = tool.about.effect.scope();
        if !call.scopes.has(scope) {
            let missing = Kind::ScopeMissing { scope: scope.as_str(), what: tool.about.effect.as_verb() };
            return Ok(tool.refused(&Problem::new(missing)).into());
        }
        if !tool.is_offered(mode) {
            return Ok(Answer::refusal(&[Problem::new(Kind::NoEdits { mode: mode.as_str() })]).into());
        }
        if let Some(problem) = problem {
            return Ok(tool.refused(problem).into());
        }
        let caller = Caller::new(&self.session, &call.client, call.is_lasting);
        let nothing = emend_threads::Mutex::default();
        let readings = match self.door {
            Door::Client => caller.readings(),
            Door::Person => &nothing,
        };
        let context = Call {
            is_part: false,
            workspace,
            previews: &self.shared.previews,
            effects: &self.shared.effects,
            apply_model: &self.shared.apply_model,
            app_approval: &self.shared.app_approval,
            door: self.door,
            caller,
            readings,
            scopes: call.scopes,
            key: call.key.as_deref(),
            counts_as_read: translated.counts_as_read,
            effort,
            approval: call.approval.as_ref(),
            cancelled: &|| call.cancelled.is_cancelled(),
            progress,
        };
        let mut answer = tool.run(&context, arguments.clone())?;
        if let Some((arguments, above)) = &translated.if_folder
            && answer.is_refused_with(Code::NotAFile)
            && let Some(tool) = tools::find("list_files")
        {
            answer = tool.run(&context, arguments.clone())?;
            answer.put_above(above);
        }
        let pending_diagnostics = self.shared.effects.pending_diagnostics(&answer);
        let subscriptions = &self.shared.subscriptions;
        subscriptions.after_call(workspace, &self.session);
        // A cancelled call gets no response, so its notes are left for the next answer.
        let has_reader = call.is_lasting && !call.cancelled.is_cancelled();
        let remarks = if has_reader { subscriptions.remarks(workspace, &self.session) } else { Vec::new() };
        let outcome = counted(tool, &mut answer);
        self.keep_session(call.session.as_deref(), outcome.as_deref());
        Ok(Answered { answer, pending_diagnostics, remarks, waits: None })
    }
}

/// Returns the outcome in the answer of a tool, if it is counted and told of.
fn counted<'a>(tool: &ToolSpec, answer: &'a mut Answer) -> Option<&'a mut Outcome> {
    let is_of_edits = matches!(tool.about.effect, Effect::Shows | Effect::Edits);
    answer.outcome().filter(|outcome| is_of_edits && !outcome.is_repeated)
}

/// The names under which `_meta` may carry an idempotency key.
const IDEMPOTENCY_KEYS: [&str; 2] = ["emend/idempotencyKey", "idempotencyKey"];

/// Returns the key by which the client knows this call again, if it names one.
fn idempotency_key(context: &RequestContext<RoleServer>) -> Option<String> {
    let key = IDEMPOTENCY_KEYS.iter().find_map(|name| context.meta.get(*name))?;
    key.as_str().filter(|key| !key.is_empty()).map(str::to_owned)
}

fn internal_error() -> Answer {
    let message =
        "Emend has a bug: this call failed. Read the files that it names before you send it again.".into();
    Answer::refusal(&[Problem::new(Kind::IoError { message, states: Vec::new() })])
}

/// A guard that counts a call as being answered.
struct InFlight {
    shared: Arc<Shared>,
    is_alone: bool,
}

impl InFlight {
    fn enter(shared: &Arc<Shared>) -> Self {
        let is_alone = shared.in_flight.fetch_add(1, Ordering::Relaxed) == 0;
        Self { shared: Arc::clone(shared), is_alone }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.shared.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
