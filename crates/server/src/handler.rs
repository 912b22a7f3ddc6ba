//! The MCP handler, for both eras of the protocol and every transport.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
    CustomRequest, CustomResult, DiscoverResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    GetSkillRequestParams, GetSkillResult, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::SessionRestoreMarker;
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;

use emend_workspace::problem::Problem;
use emend_workspace::{Contents, ListedTools, Mode, Workspace};

use crate::app_approval::AppApproval;
use crate::apply_model::ApplyModel;
use crate::asking::Asking;
use crate::call_slots::{CallSlots, SlotKind};
use crate::dialects::{self, Dialect, Names};
use crate::door::Door;
use crate::effects::Effects;
use crate::events::Events;
use crate::manner::Naming;
use crate::messages::{Audience, message};
use crate::previews::Previews;
use crate::principal::{Principal, Scope, Scopes};
use crate::running_calls::RunningCalls;
use crate::session::{Caller, Owner, Session};
use crate::subscriptions::{self, Subscriptions};
use crate::{completions, prompts, resources, review_page, skills, tools};

/// The time that a client may cache the lists of tools, prompts and skills, which never change while a server runs.
const LISTS_FRESH_MS: u64 = 60 * 60 * 1_000;

/// The characters of a client's name that are kept.
const LONGEST_NAME: usize = 200;

/// The methods with parameters. If those are malformed, rmcp takes the request for a custom one.
const METHODS: [&str; 6] =
    ["tools/list", "tools/call", "prompts/get", "resources/read", "skills/get", "completion/complete"];
/// The methods with parameters that only clients of 2025 use.
const LEGACY_METHODS: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];
/// The methods with parameters that only clients of 2026 use.
const MODERN_METHODS: [&str; 1] = ["subscriptions/listen"];

/// The instructions for a model, the most important first, since some clients cut long ones.
const INSTRUCTIONS: &str = "Edit, create, move, delete and undo files with Emend's tools instead of a shell: every edit \
lands exactly where it was meant, whole, or nothing changes and the answer says how to fix the call.\n\
- Find with list_files and search_text; read with read_file before you edit. A small change: str_replace. Several places or \
files, moves or deletions: one apply_patch. One text in many files: replace_in_files. A new file: write_file.\n\
- Every answer gives the file's new version; the next edit needs no new reading.\n\
- A refused call changed nothing. The answer shows the real lines or all places: fix the call from it. \
stale-file: somebody else changed the file; the answer shows what.\n\
- Unsure about a large edit: edit_preview, then apply_preview. A mistake: undo_edit.\n\
- Paths are relative to the workspace. Line endings, encodings and file modes are kept.\n\
- More, with examples: the resource skill://emend/SKILL.md.";

/// The MCP server, as one session sees it. A cheap handle: clones share everything.
#[derive(Clone, Debug)]
pub struct Emend {
    pub(crate) shared: Arc<Shared>,
    pub(crate) session: Arc<Session>,
    /// Who is at the other end of this session.
    pub(crate) door: Door,
}

/// The state that all sessions share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// The workspace, or the reason why there is none.
    pub(crate) workspace: Result<Arc<Workspace>, Problem>,
    pub(crate) previews: Previews,
    pub(crate) asking: Asking,
    pub(crate) app_approval: AppApproval,
    pub(crate) subscriptions: Arc<Subscriptions>,
    pub(crate) effects: Arc<Effects>,
    pub(crate) apply_model: ApplyModel,
    pub(crate) events: Events,
    pub(crate) contents: Arc<Contents>,
    pub(crate) in_flight: AtomicUsize,
    pub(crate) call_slots: CallSlots,
    pub(crate) running_calls: RunningCalls,
}

impl Emend {
    /// Creates a server for this workspace, without side effects of edits; or one that answers every call with the
    /// reason why there is no workspace.
    #[must_use]
    pub fn new(workspace: Result<Workspace, Problem>) -> Self {
        Self::with_effects(workspace.map(Arc::new), Effects::none())
    }

    /// Creates a server for this workspace whose edits have these side effects.
    #[must_use]
    pub fn with_effects(workspace: Result<Arc<Workspace>, Problem>, effects: Arc<Effects>) -> Self {
        Self::with_model(workspace, effects, ApplyModel::default())
    }

    /// Creates a server for this workspace whose edits have these side effects, and whose tools may ask this model.
    #[must_use]
    pub fn with_model(
        workspace: Result<Arc<Workspace>, Problem>,
        effects: Arc<Effects>,
        apply_model: ApplyModel,
    ) -> Self {
        if let Ok(workspace) = &workspace {
            effects.follow(workspace);
        }
        let previews = Previews::default();
        let subscriptions = workspace
            .as_ref()
            .map_or_else(|_| Arc::default(), |workspace| Subscriptions::for_workspace(workspace));
        let events =
            workspace.as_ref().map_or_else(|_| Events::default(), |workspace| Events::new(workspace));
        subscriptions::follow(&subscriptions, &events);
        let following = Arc::downgrade(&effects);
        let listening = Arc::downgrade(&subscriptions);
        subscriptions.on_outside_change(move |paths| {
            if let (Some(effects), Some(listeners)) = (following.upgrade(), listening.upgrade()) {
                effects.changed_outside(paths);
                // The diagnostics of a changed file may have changed, too.
                listeners.notify_diagnostics();
            }
        });
        let asking = Asking::of(workspace.as_ref().ok().cloned());
        let (in_flight, call_slots) = (AtomicUsize::new(0), CallSlots::default());
        let contents = Arc::default();
        let session = Arc::new(Session::with_events(Owner::Process, events.clone(), &contents));
        let shared = Arc::new(Shared {
            workspace,
            previews,
            asking,
            app_approval: AppApproval::default(),
            subscriptions,
            effects,
            apply_model,
            events,
            contents,
            in_flight,
            call_slots,
            running_calls: RunningCalls::default(),
        });
        Self { shared, session, door: Door::Client }
    }

    /// Returns this server for a person, on a page of ours that no model reaches.
    pub(crate) fn for_a_person(self) -> Self {
        Self { door: Door::Person, ..self }
    }

    /// Returns this server with a new session for a client of this principal.
    #[must_use]
    pub fn for_session_of(&self, principal: &Principal) -> Self {
        let Shared { events, contents, .. } = &*self.shared;
        let session = Session::with_events(Owner::Principal(principal.clone()), events.clone(), contents);
        Self { shared: Arc::clone(&self.shared), session: Arc::new(session), door: principal.door() }
    }

    /// Returns whether this server writes events to its log.
    #[must_use]
    pub fn has_events(&self) -> bool {
        self.shared.events.are_written()
    }

    /// Has `observer` called with the number of each event that this server has written to its log, on the thread that writes
    /// them, which must not be held up. It is dropped once none will be written any more.
    pub fn on_event_written(&self, observer: impl Fn(u64) + Send + Sync + 'static) {
        self.shared.events.on_written(observer);
    }

    /// Returns whether what interrupted edits left is still to be recovered.
    #[must_use]
    pub fn is_recovering(&self) -> bool {
        self.shared.workspace.as_ref().is_ok_and(|workspace| workspace.is_recovering())
    }

    /// Returns whether nobody has a session or a request of this server.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        Arc::strong_count(&self.shared) == 1
    }

    /// Returns the instructions that a model reads first. In a dialect they say how the tools and arguments are called there
    /// that they and the skill name.
    fn instructions(&self, client: &str, mode: Mode) -> String {
        let text = instructions(mode);
        let Some(dialect) = self.dialect(client) else { return text };
        let taught = format!("{text}\n{}", skills::lesson());
        match Names::of(Some(dialect)).in_text(&taught) {
            Some(names) => format!("{text}\n- Names here: {names}."),
            None => text,
        }
    }

    /// Returns the dialect in which the tools are listed to the client of this name; none for our own.
    fn dialect(&self, client: &str) -> Option<&'static Dialect> {
        let workspace = self.shared.workspace.as_ref().ok()?;
        dialects::find(workspace.dialect_for(client), client)
    }

    /// Returns what the caller may do, as the token of this very request says. The one client on standard input and output
    /// may do everything.
    pub(crate) fn scopes(&self, context: &RequestContext<RoleServer>) -> Scopes {
        match self.session.owner() {
            Owner::Process => Scopes::ALL,
            Owner::Principal(_) => {
                let head = context.extensions.get::<http::request::Parts>();
                head.and_then(|head| head.extensions.get::<Scopes>()).copied().unwrap_or(Scopes::NONE)
            }
        }
    }

    /// Returns the mode of the workspace for this caller: who may not write sees it as read-only.
    fn mode(&self, context: &RequestContext<RoleServer>) -> Mode {
        let mode = self.shared.mode();
        if self.scopes(context).has(Scope::Write) { mode } else { mode.max(Mode::ReadOnly) }
    }

    /// Returns how long and by whom a list may be cached that changes with the scopes of the caller alone.
    fn caching(&self, context: &RequestContext<RoleServer>, is_same_for_all: bool) -> (u64, CacheScope) {
        if self.scopes(context) != Scopes::ALL {
            // The next token may have more scopes.
            return (0, CacheScope::Private);
        }
        (LISTS_FRESH_MS, if is_same_for_all { CacheScope::Public } else { CacheScope::Private })
    }

    /// Returns whether this session was there before the request and will be there after it. Requests of 2026 over HTTP
    /// stand alone.
    pub(crate) fn is_lasting(&self, context: &RequestContext<RoleServer>) -> bool {
        *self.session.owner() == Owner::Process || !is_modern(context)
    }
}

/// Returns whether a request is of 2026, whose requests carry all the information about their client.
pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

impl ServerHandler for Emend {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_completions()
            .enable_skills();
        ServerConfig::new(capabilities.build())
            .with_instructions(self.instructions("", self.shared.mode()))
            .with_server_info(Implementation::new("emend", env!("CARGO_PKG_VERSION")))
    }

    /// Opens a session of 2025, in the words of the client's dialect.
    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let client = named(&request.client_info.name);
        context.peer.set_peer_info(request.clone());
        if self.session.is_kept() {
            let restored =
                context.extensions.get::<SessionRestoreMarker>().map(|marker| Arc::clone(&marker.id));
            let (emend, request) = (self.clone(), request.clone());
            let begin = move || emend.begin_session(request, restored.as_deref());
            tokio::task::spawn_blocking(begin).await.map_err(|_| ErrorData::internal_error("", None))?;
        }
        let instructions = self.instructions(&client, self.mode(&context));
        Ok(self.negotiate_initialize(&request)?.with_instructions(instructions))
    }

    /// Says what the server is, in the words of the dialect of the client that the request itself names.
    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let instructions = self.instructions(&lists_for(&context), self.mode(&context));
        let info = self.get_info().with_instructions(instructions);
        Ok(DiscoverResult::from_server_info(versions, info))
    }

    /// Begins the tally of a session of 2025, and tells one that goes on from another server what it is to hear.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.has_begun(&context);
        let client = context.peer.peer_info().map_or_else(nameless, |peer| named(&peer.client_info.name));
        let client = recorded(client, self.door);
        self.session.tally().begin(&Caller::new(&self.session, &client, true).client());
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mode = self.mode(&context);
        let workspace = self.shared.workspace.as_ref().ok();
        let client = lists_for(&context);
        let choice = workspace.map_or(ListedTools::All, |workspace| workspace.tools_for(&client));
        let has_model = self.shared.apply_model.is_there();
        let shows_apps = review_page::is_shown_to(&context);
        let mut listed = match self.dialect(&client) {
            Some(dialect) => dialect.listed(mode, choice),
            None => {
                let offered = tools::all().iter().filter(|tool| tool.is_offered(mode));
                offered
                    .filter(|tool| tool.is_listed(choice, has_model))
                    .map(tools::ToolSpec::listed)
                    .collect()
            }
        };
        if shows_apps {
            review_page::add_to(&mut listed);
        }
        let is_same_for_all =
            !shows_apps && !workspace.is_some_and(|workspace| workspace.has_tools_for_clients());
        let (fresh, scope) = self.caching(&context, is_same_for_all);
        Ok(ListToolsResult::with_all_items(listed).with_ttl_ms(fresh).with_cache_scope(scope))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        dialects::listed(name, self.shared.mode())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        self.blocking(&context, move |emend, workspace, asked| {
            let (subscriptions, session) = (&emend.shared.subscriptions, &emend.session);
            if !asked.is_modern {
                subscriptions::subscribe_to_list(subscriptions, workspace, session, &asked.peer);
                emend.keep_session(asked.kept_session.as_deref(), None);
            }
            let cancelled = || asked.cancelled.is_cancelled();
            resources::list(workspace, asked.caller(session), asked.shows_apps, cursor.as_deref(), &cancelled)
        })
        .await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates(self.shared.workspace.as_deref().ok()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.blocking(&context, move |emend, workspace, asked| {
            let (effects, caller) = (&emend.shared.effects, asked.caller(&emend.session));
            resources::read(workspace, effects, caller, &request.uri).map(Into::into)
        })
        .await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.blocking(&context, move |emend, workspace, asked| {
            let (subscriptions, session) = (&emend.shared.subscriptions, &emend.session);
            subscriptions::subscribe(subscriptions, workspace, session, &asked.peer, &request.uri)?;
            emend.keep_session(asked.kept_session.as_deref(), None);
            Ok(())
        })
        .await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.blocking(&context, move |emend, workspace, asked| {
            let subscriptions = &emend.shared.subscriptions;
            subscriptions::unsubscribe(subscriptions, workspace, &emend.session, &request.uri);
            emend.keep_session(asked.kept_session.as_deref(), None);
            Ok(())
        })
        .await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let Ok(workspace) = &self.shared.workspace else { return Some(SubscriptionFilter::default()) };
        Some(subscriptions::accept(&self.shared.subscriptions, workspace, &self.session, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let listening = subscriptions::listen(&self.shared.subscriptions, &self.session, context.sink());
        tokio::select! {
            () = context.cancelled() => {}
            () = listening => context.cancelled().await,
        }
        Ok(())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.blocking(&context, move |_emend, workspace, _asked| {
            completions::complete(workspace, &request.r#ref, &request.argument).map(CompleteResult::new)
        })
        .await
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::all())
            .with_ttl_ms(LISTS_FRESH_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        prompts::get(&request.name, &request.arguments.unwrap_or_default()).map(Into::into)
    }

    async fn list_skills(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        let skills = if skills::are_offered(self.mode(&context)) { skills::all() } else { Vec::new() };
        let (fresh, scope) = self.caching(&context, true);
        Ok(ListSkillsResult::with_all_items(skills).with_ttl_ms(fresh).with_cache_scope(scope))
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let skill = GetSkillResult::new(skills::get(&request.uri)?);
        Ok(skill.with_ttl_ms(LISTS_FRESH_MS).with_cache_scope(CacheScope::Public))
    }

    /// Answers a request with an unknown method or with malformed parameters.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = &request.method;
        let of_this_era = if is_modern(&context) { &MODERN_METHODS[..] } else { &LEGACY_METHODS };
        if METHODS.iter().chain(of_this_era).any(|known| known == method) {
            let message = format!("The params of {method} are missing or malformed.");
            return Err(ErrorData::invalid_params(message, None));
        }
        let message = format!("Unknown method '{method}'.");
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let dialect = self.dialect(&lists_for(&context));
        let mut request = request;
        let arguments = request.arguments.take().unwrap_or_default();
        let Some(understood) = dialects::understand(dialect, &request.name, arguments) else {
            let known = dialects::listed_names(dialect).join(", ");
            let message = format!("Unknown tool '{}'. The tools are: {known}.", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        self.call(understood, Names::of(dialect), request, &context).await
    }
}

/// The client of a request that is not a call of a tool.
struct Asker {
    client: String,
    is_lasting: bool,
    is_modern: bool,
    /// The id of the session, if it outlives its server.
    kept_session: Option<String>,
    shows_apps: bool,
    peer: Peer<RoleServer>,
    cancelled: CancellationToken,
}

impl Asker {
    fn caller<'a>(&'a self, session: &'a Session) -> Caller<'a> {
        Caller::new(session, &self.client, self.is_lasting)
    }
}

impl Emend {
    /// Runs `work` on a thread that may block.
    async fn blocking<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&Self, &Arc<Workspace>, &Asker) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let workspace = match &self.shared.workspace {
            Ok(workspace) => Arc::clone(workspace),
            Err(problem) => return Err(ErrorData::invalid_request(message(problem, Audience::Model), None)),
        };
        let asker = Asker {
            client: client_name(context, self.door),
            is_lasting: self.is_lasting(context),
            is_modern: is_modern(context),
            kept_session: self.kept_session_id(context),
            shows_apps: review_page::is_shown_to(context),
            peer: context.peer.clone(),
            cancelled: context.ct.clone(),
        };
        let emend = self.clone();
        let slot = self.shared.call_slots.wait(self.session.owner(), SlotKind::Other, &context.ct).await;
        let slot =
            slot.map_err(|problem| ErrorData::internal_error(message(&problem, Audience::Model), None))?;
        let job = tokio::task::spawn_blocking(move || {
            let done = work(&emend, &workspace, &asker);
            drop(slot);
            done
        });
        job.await.unwrap_or_else(|_| {
            tracing::error!("a request failed");
            Err(ErrorData::internal_error("Emend has a bug: this request failed.", None))
        })
    }
}

/// Returns the instructions that a model reads first.
fn instructions(mode: Mode) -> String {
    let first = match mode {
        Mode::Auto => return INSTRUCTIONS.into(),
        Mode::Ask => {
            "Here a person must allow each edit. Call the edit tools as usual: they are asked, or the answer says how they \
             can allow it. Make one whole edit rather than many small ones."
        }
        Mode::Preview => "Here edits are only shown, never made: use edit_preview.",
        Mode::ReadOnly => {
            return "Emend reads files here and changes none: say what you would change.".into();
        }
    };
    format!("{first}\n{INSTRUCTIONS}")
}

impl Shared {
    /// Returns the mode of the workspace, which decides what becomes of edits.
    pub(crate) fn mode(&self) -> Mode {
        self.workspace.as_ref().map_or(Mode::Auto, |workspace| workspace.mode())
    }
}

/// Returns the name of the client to which tools are listed. In 2026 a list depends on the request alone, not on what the
/// connection knows.
fn lists_for(context: &RequestContext<RoleServer>) -> String {
    if is_modern(context) {
        let client = context.meta.client_info();
        client.map_or_else(nameless, |client| named(&client.name))
    } else {
        own_name(context)
    }
}

/// Returns the name by which a client is recorded: its own. Only a person on a page of ours is called like the page.
pub(crate) fn client_name(context: &RequestContext<RoleServer>, door: Door) -> String {
    recorded(own_name(context), door)
}

fn recorded(name: String, door: Door) -> String {
    let letters: String = name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    match door {
        Door::Client if letters.starts_with("emendreview") => format!("a client that says it is {name}"),
        Door::Client | Door::Person => name,
    }
}

/// Returns the client's own name: from this request, or from when it opened the session.
fn own_name(context: &RequestContext<RoleServer>) -> String {
    let here = context.meta.client_info().map(|client| client.name);
    let before = || context.peer.peer_info().map(|peer| peer.client_info.name.clone());
    here.or_else(before).map_or_else(nameless, |name| named(&name))
}

/// Shortens the name of a client to what fits into questions and records.
fn named(name: &str) -> String {
    name.chars().take(LONGEST_NAME).collect()
}

fn nameless() -> String {
    "a client without a name".into()
}
