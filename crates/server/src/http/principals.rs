//! The services of the principals, each made when its principal first calls. What one has opened does not exist for
//! another, so a session that was opened by one principal is unknown to all others.

#[cfg(feature = "team")]
use std::collections::BTreeMap;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use emend_threads::Mutex;
use http::HeaderValue;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::SessionStore;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{Mutex as AsyncMutex, Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use super::Limits;
use super::authentication::Bearer;
use super::intake::Intake;
use crate::door::Door;
use crate::principal::Principal;
use crate::registrations::Listening;

/// The time that a request waits while the workspace of its tenant is being opened for another one.
const TURN: Duration = Duration::from_secs(10);

/// Creates the handlers of principals. It may block, and fails where there is nothing for a principal.
pub(super) type NewHandler<H> = Arc<dyn Fn(&Principal) -> io::Result<H> + Send + Sync>;

/// Returns what keeps the sessions of a principal for the next server, if anything does. It may block.
pub(super) type KeepSessions = Box<dyn Fn(&Principal) -> Option<Arc<dyn SessionStore>> + Send + Sync>;

/// The services of all principals.
pub(super) struct Principals<H> {
    new_handler: NewHandler<H>,
    /// Nothing, unless sessions outlive the server.
    pub(super) keep_sessions: Arc<OnceLock<KeepSessions>>,
    limits: Limits,
    /// Cancelled once every stream ends.
    closed: CancellationToken,
    open: Mutex<HashMap<ServiceKey, Arc<PrincipalService<H>>>>,
    /// Whose turn it is to open the workspace of a tenant.
    opening: Mutex<HashMap<Option<String>, Arc<AsyncMutex<()>>>>,
}

/// A principal within a tenant, and where they call from: who comes to belong to another tenant begins anew, and a person on a
/// page shares nothing with their own clients.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ServiceKey {
    principal: String,
    tenant: Option<String>,
    door: Door,
}

/// The service of all clients of one principal.
pub(super) struct PrincipalService<H> {
    pub(super) sessions: Arc<LocalSessionManager>,
    /// What keeps its sessions for the next server, if anything does.
    pub(super) kept: Option<Arc<dyn SessionStore>>,
    /// Those that began with another server.
    pub(super) resumed: ResumedSessions,
    /// A permit for each request that may be answered at once.
    pub(super) requests: Arc<Semaphore>,
    /// A permit for each request that may listen at once.
    pub(super) listeners: Arc<Semaphore>,
    /// The intake of this principal.
    pub(super) intake: Intake,
    pub(super) protocol: StreamableHttpService<H, LocalSessionManager>,
    /// Cancelled once its streams end.
    #[cfg(feature = "team")]
    closed: CancellationToken,
    used: Mutex<Instant>,
}

/// The sessions of a principal that began with another server.
#[derive(Debug, Default)]
pub(super) struct ResumedSessions {
    /// The turns of those that are about to go on.
    pub(super) turns: Mutex<HashMap<String, Arc<AsyncMutex<()>>>>,
    /// Those that go on, and whose clients have opened no stream here yet.
    pub(super) unheard: Mutex<HashMap<String, Listening>>,
    /// The last event that the client of one named which it has of another server.
    pub(super) stale: Mutex<HashMap<String, HeaderValue>>,
}

/// Why a principal has no service.
pub(super) enum NoService {
    /// There are too many principals.
    Crowded,
    /// The workspace is being opened for another one.
    BeingOpened,
    /// There is nothing for this principal.
    Nothing,
}

impl<H: ServerHandler + Send + Sync + 'static> Principals<H> {
    pub(super) fn new(new_handler: NewHandler<H>, limits: Limits) -> Self {
        let open = Mutex::new(HashMap::new());
        let (keep_sessions, opening) = Default::default();
        Self { new_handler, keep_sessions, limits, closed: CancellationToken::new(), open, opening }
    }

    /// Returns the service of a bearer who calls from there, which is made if there is none.
    pub(super) async fn service(
        &self,
        bearer: &Bearer,
        door: Door,
        sharers: usize,
    ) -> Result<Arc<PrincipalService<H>>, NoService> {
        let key = ServiceKey { principal: bearer.key.clone(), tenant: bearer.tenant.clone(), door };
        if let Some(service) = self.open.lock().get(&key) {
            *service.used.lock() = Instant::now();
            return Ok(Arc::clone(service));
        }
        let principal = Principal::new(bearer.key.clone(), &bearer.name)
            .of_tenant(bearer.tenant.clone())
            .at(door)
            .shared_by(sharers);
        let sessions = self.open_workspace(&principal).await?;
        let mut open = self.open.lock();
        if open.len() >= self.limits.principals {
            let idle = self.limits.session_idle;
            open.retain(|_, service| service.is_in_use(&self.limits) || service.used.lock().elapsed() < idle);
        }
        if open.len() >= self.limits.principals {
            return Err(NoService::Crowded);
        }
        let new_service = || Arc::new(self.new_service(principal, sessions));
        let service = open.entry(key).or_insert_with(new_service);
        Ok(Arc::clone(service))
    }

    /// Opens the workspace of a principal's tenant, which takes the disk. One thread at most is at it for each tenant, so that
    /// a disk that hangs holds no more of them. Returns what keeps the principal's sessions.
    async fn open_workspace(
        &self,
        principal: &Principal,
    ) -> Result<Option<Arc<dyn SessionStore>>, NoService> {
        let turn = {
            let mut opening = self.opening.lock();
            opening.retain(|_, turn| Arc::strong_count(turn) > 1);
            let turn = opening.entry(principal.tenant().map(str::to_owned)).or_default();
            Arc::clone(turn)
        };
        let Ok(turn) = tokio::time::timeout(TURN, turn.lock_owned()).await else {
            tracing::warn!(
                principal = principal.name(),
                "the workspace of a tenant is being opened for long"
            );
            return Err(NoService::BeingOpened);
        };
        let (new_handler, keep_sessions) = (Arc::clone(&self.new_handler), Arc::clone(&self.keep_sessions));
        let opening = principal.clone();
        let opened = tokio::task::spawn_blocking(move || {
            let opened = new_handler(&opening).map(|_| keep_sessions.get().and_then(|keep| keep(&opening)));
            // Also where the client has hung up.
            drop(turn);
            opened
        });
        match opened.await.map_err(|_| io::Error::other("it panicked")).flatten() {
            Ok(sessions) => Ok(sessions),
            Err(error) => {
                tracing::warn!(principal = principal.name(), %error, "there is nothing for a principal");
                let is_crowded = error.kind() == io::ErrorKind::ResourceBusy;
                Err(if is_crowded { NoService::Crowded } else { NoService::Nothing })
            }
        }
    }

    fn new_service(&self, principal: Principal, kept: Option<Arc<dyn SessionStore>>) -> PrincipalService<H> {
        let limits = &self.limits;
        let new_handler = Arc::clone(&self.new_handler);
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(limits.session_idle);
        let (sessions, closed) = (Arc::new(sessions), self.closed.child_token());
        let mut config = StreamableHttpServerConfig::default()
            // The guard checks both, before the token.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_max_request_body_bytes(limits.body_bytes)
            .with_cancellation_token(closed.clone());
        config.session_store = kept.clone();
        let handler = move || {
            new_handler(&principal).map_err(|error| {
                // rmcp tells the client what the error says.
                tracing::warn!(principal = principal.name(), %error, "a workspace could not be opened");
                io::Error::other("the workspace could not be opened")
            })
        };
        let protocol = StreamableHttpService::new(handler, Arc::clone(&sessions), config);
        let permits = |number| Arc::new(Semaphore::new(number));
        PrincipalService {
            sessions,
            kept,
            resumed: ResumedSessions::default(),
            requests: permits(limits.requests),
            listeners: permits(limits.listeners),
            intake: Intake::new(limits.bytes_of_token),
            protocol,
            #[cfg(feature = "team")]
            closed,
            used: Mutex::new(Instant::now()),
        }
    }

    /// Forgets the services of the principals, each within a tenant, of whom this says so: their sessions are unknown from now
    /// on, what they have begun is finished, and then their streams end, or `at_once`.
    #[cfg(feature = "team")]
    pub(super) fn forget(&self, at_once: bool, is_gone: impl Fn(Option<&str>, &str) -> bool) {
        let mut open = self.open.lock();
        let gone = open.extract_if(|key, _| is_gone(key.tenant.as_deref(), &key.principal));
        for (_, service) in gone {
            let limits = self.limits;
            if at_once {
                service.closed.cancel();
            }
            tokio::spawn(async move {
                // A call that waits for a person waits as long as a session that nobody uses.
                let answered = tokio::time::timeout(limits.session_idle, service.answered(&limits)).await;
                // What has been let in, and has not arrived, is told to come again.
                service.requests.close();
                service.listeners.close();
                service.closed.cancel();
                drop(answered);
            });
        }
    }

    /// Returns the services of each tenant.
    #[cfg(feature = "team")]
    pub(super) fn by_tenant(&self) -> BTreeMap<Option<String>, Vec<Arc<PrincipalService<H>>>> {
        let mut tenants = BTreeMap::<_, Vec<_>>::new();
        for (key, service) in &*self.open.lock() {
            tenants.entry(key.tenant.clone()).or_default().push(Arc::clone(service));
        }
        tenants
    }

    /// Returns what is cancelled once every stream ends.
    #[cfg(feature = "team")]
    pub(super) fn closed(&self) -> CancellationToken {
        self.closed.clone()
    }

    /// Waits until every request that has begun is answered.
    pub(super) async fn answered(&self) {
        let services: Vec<_> = self.open.lock().values().cloned().collect();
        for service in services {
            service.answered(&self.limits).await;
        }
    }

    /// Ends every stream.
    pub(super) fn end(&self) {
        self.closed.cancel();
    }

    /// Returns the numbers of services, of their sessions and of the requests that are being answered.
    #[cfg(feature = "team")]
    pub(super) fn counts(&self) -> (usize, usize, usize) {
        let open = self.open.lock();
        let running = |service: &Arc<PrincipalService<H>>| {
            self.limits.requests - service.requests.available_permits() + self.limits.listeners
                - service.listeners.available_permits()
        };
        let sessions = open.values().filter_map(|service| service.sessions.sessions.try_read().ok());
        (open.len(), sessions.map(|sessions| sessions.len()).sum(), open.values().map(running).sum())
    }
}

impl<H> PrincipalService<H> {
    /// Waits until every request that has begun is answered. No other begins while the permit is held.
    pub(super) async fn answered(&self, limits: &Limits) -> Option<SemaphorePermit<'_>> {
        let all = u32::try_from(limits.requests).unwrap_or(u32::MAX);
        // It is closed only where nothing is waited for any more.
        self.requests.acquire_many(all).await.ok()
    }

    fn is_in_use(&self, limits: &Limits) -> bool {
        self.requests.available_permits() < limits.requests
            || self.listeners.available_permits() < limits.listeners
            || self.sessions.sessions.try_read().map_or(true, |sessions| !sessions.is_empty())
    }
}
