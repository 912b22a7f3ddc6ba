//! The handler: one for both eras of MCP, and every transport.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use tokio_util::sync::CancellationToken;

use emend_edit::problem::{Kind, Problem};
use emend_workspace::{Effort, Mode, Origin, Progress, Workspace};

use crate::callers::{Caller, Callers};
use crate::previews::Previews;
use crate::progress;
use crate::tools::{self, Call, NotQuick, ToolSpec};

/// The longest message: a file of the largest size, with every byte of it escaped. A longer one would be
/// dropped without an answer.
const LONGEST_MESSAGE: usize = 6 * 64 * 1024 * 1024;

/// How long a client may keep the list of tools; it never changes while a server runs.
const TOOLS_FRESH_MS: u64 = 60 * 60 * 1_000;

/// The most important first: some clients cut long instructions.
const INSTRUCTIONS: &str = "Emend edits files so that every edit lands exactly where it was meant, whole, or \
nothing changes and the answer says how to mend the call.\n\
- Find files with list_files and search_text; read a file with read_file before editing it. Small change in one file: str_replace. Several places or \
files, or moves and deletions: one apply_patch. New file: write_file.\n\
- Every answer gives the file's new version; edits in a row need no new reading.\n\
- If a call is refused, nothing was changed. The answer shows the real lines or all the places: mend the \
call from it instead of sending the same one again. stale-file means that somebody else changed the file; \
the answer shows what.\n\
- Unsure about a large edit: edit_preview, look at the diff, then apply_preview. An edit that was a mistake: \
undo_edit.\n\
- Paths are relative to the workspace; line endings, encodings and file modes are kept for you.";

/// The MCP server. A cheap handle: clones share everything.
#[derive(Clone, Debug)]
pub struct Emend(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The files, or why there are none.
    workspace: Result<Workspace, Problem>,
    callers: Callers,
    previews: Previews,
    /// What this process is called in the history.
    session: String,
    in_flight: AtomicUsize,
}

impl Emend {
    /// A server for this workspace; or one that answers every call with why there is none.
    #[must_use]
    pub fn new(workspace: Result<Workspace, Problem>) -> Self {
        Self::with_previews(workspace, Previews::default())
    }

    /// The same, with previews kept in this way.
    #[must_use]
    pub fn with_previews(workspace: Result<Workspace, Problem>, previews: Previews) -> Self {
        let (callers, in_flight) = (Callers::default(), AtomicUsize::new(0));
        // Without randomness nothing can be edited anyway, and every edit says so.
        let session = Origin::new_session().unwrap_or_default();
        Self(Arc::new(Shared { workspace, callers, previews, session, in_flight }))
    }
}

impl ServerHandler for Emend {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_instructions(instructions(self.0.mode()))
            .with_server_info(Implementation::new("emend", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mode = self.0.mode();
        let offered = tools::all().iter().filter(|tool| tool.is_offered(mode));
        let listed = offered.map(tools::ToolSpec::listed).collect();
        Ok(ListToolsResult::with_all_items(listed)
            .with_ttl_ms(TOOLS_FRESH_MS)
            .with_cache_scope(CacheScope::Public))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find(name).filter(|tool| tool.is_offered(self.0.mode())).map(tools::ToolSpec::listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::find(&request.name) else {
            let known: Vec<&str> = tools::all().iter().map(|tool| tool.name).collect();
            let message = format!("Unknown tool '{}'. The tools are: {}.", request.name, known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let client = client_name(&context);
        let in_flight = InFlight::enter(&self.0);
        // A quick call that is alone is answered right here: handing it to another thread and back costs
        // more than the call. Whatever would wait or take long goes to a thread where it may.
        let token = context.meta.get_progress_token();
        if in_flight.is_alone
            && token.is_none()
            && let Ok(result) =
                self.0.run(tool, Effort::Quick, arguments.clone(), &client, &context.ct, &|_| {})
        {
            return Ok(result.into());
        }
        let shared = Arc::clone(&self.0);
        let cancelled = context.ct.clone();
        let (teller, told) = progress::channel();
        let teller = token.is_some().then_some(teller);
        let job = tokio::task::spawn_blocking(move || {
            let tell = |progress| teller.iter().for_each(|teller| teller.tell(progress));
            shared.run(tool, Effort::Patient, arguments, &client, &cancelled, &tell)
        });
        if let Some(token) = token {
            told.pass_on(&context.peer, &token).await;
        }
        match job.await {
            Ok(Ok(result)) => Ok(result.into()),
            failed => {
                tracing::error!(tool = tool.name, ?failed, "a tool failed");
                Ok(broken().into())
            }
        }
    }
}

/// What a model reads first.
fn instructions(mode: Mode) -> String {
    let said = match mode {
        Mode::Auto => return INSTRUCTIONS.into(),
        Mode::Ask => {
            "Here every edit needs a person's approval, and this server cannot ask for it yet: use edit_preview."
        }
        Mode::Preview => "Here edits are only shown, never made: use edit_preview.",
        Mode::ReadOnly => {
            return "Emend reads files here and changes none: say what you would change.".into();
        }
    };
    format!("{said}\n{INSTRUCTIONS}")
}

impl Shared {
    /// What becomes of edits.
    fn mode(&self) -> Mode {
        self.workspace.as_ref().map_or(Mode::Auto, Workspace::mode)
    }

    /// Runs a tool. Blocks. The commit guards itself and restores; a panic that gets here was in a pure
    /// step, but perhaps in one after it.
    fn run(
        &self,
        tool: &ToolSpec,
        effort: Effort,
        arguments: JsonObject,
        client: &str,
        cancelled: &CancellationToken,
        progress: &dyn Fn(Progress),
    ) -> Result<CallToolResult, NotQuick> {
        let workspace = match &self.workspace {
            Ok(workspace) => workspace,
            Err(problem) => return Ok(tools::refusal(std::slice::from_ref(problem))),
        };
        if !tool.is_offered(self.mode()) {
            return Ok(tools::refusal(&[Problem::new(Kind::NoEdits { mode: self.mode().as_str() })]));
        }
        let call = Call {
            workspace,
            callers: &self.callers,
            previews: &self.previews,
            caller: &Caller::Process,
            client,
            session: &self.session,
            effort,
            cancelled: &|| cancelled.is_cancelled(),
            progress,
        };
        catch_unwind(AssertUnwindSafe(|| tool.run(&call, arguments))).unwrap_or_else(|_| Ok(broken()))
    }
}

/// What the client calls itself: in this request, or when it opened the session.
fn client_name(context: &RequestContext<RoleServer>) -> String {
    let here = context.meta.client_info().map(|client| client.name);
    let before = || context.peer.peer_info().map(|peer| peer.client_info.name.clone());
    here.or_else(before).unwrap_or_else(|| "a client without a name".into())
}

fn broken() -> CallToolResult {
    let message =
        "Emend has a bug: this call failed. Read the files that it names before you send it again.".into();
    tools::refusal(&[Problem::new(Kind::IoError { message, states: Vec::new() })])
}

/// Counts the calls that are being answered.
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

/// Serves one client over standard input and output until it goes.
pub async fn serve_stdio(emend: Emend) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (input, output) = rmcp::transport::stdio_pipes();
    let transport = AsyncRwTransport::new(input, output).with_max_line_length(LONGEST_MESSAGE);
    let service = emend.serve(transport).await?;
    service.waiting().await?;
    Ok(())
}
