//! The services of the principals, each made when its principal first calls. What one has opened does not exist for
//! another, so a session that was opened by one principal is unknown to all others.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use emend_threads::Mutex;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::{Mutex as AsyncMutex, Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use super::Limits;
use super::authentication::Bearer;
use super::intake::Intake;
use crate::principal::Principal;

/// The time that a request waits while the workspace of its tenant is being opened for another one.
const TURN: Duration = Duration::from_secs(10);

/// Creates the handlers of principals. It may block, and fails where there is nothing for a principal.
pub(super) type NewHandler<H> = Arc<dyn Fn(&Principal) -> io::Result<H> + Send + Sync>;

/// The services of all principals.
pub(super) struct Principals<H> {
    new_handler: NewHandler<H>,
    limits: Limits,
    /// Cancelled once every stream ends.
    closed: CancellationToken,
    open: Mutex<Open<H>>,
    /// Whose turn it is to open the workspace of a tenant.
    opening: Mutex<HashMap<Option<String>, Arc<AsyncMutex<()>>>>,
}

struct Open<H> {
    last: usize,
    services: HashMap<ServiceKey, Arc<PrincipalService<H>>>,
}

/// A principal within a tenant: who comes to belong to another tenant begins anew.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ServiceKey {
    principal: String,
    tenant: Option<String>,
}

/// The service of all clients of one principal.
pub(super) struct PrincipalService<H> {
    /// A number that no other one has, by which its connections are counted.
    pub(super) number: usize,
    pub(super) sessions: Arc<LocalSessionManager>,
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
        let open = Mutex::new(Open { last: 0, services: HashMap::new() });
        Self { new_handler, limits, closed: CancellationToken::new(), open, opening: Mutex::default() }
    }

    /// Returns the service of a bearer, which is made if there is none.
    pub(super) async fn service(
        &self,
        bearer: &Bearer,
        sharers: usize,
    ) -> Result<Arc<PrincipalService<H>>, NoService> {
        let key = ServiceKey { principal: bearer.key.clone(), tenant: bearer.tenant.clone() };
        if let Some(service) = self.open.lock().services.get(&key) {
            *service.used.lock() = Instant::now();
            return Ok(Arc::clone(service));
        }
        let principal = Principal::new(bearer.key.clone(), &bearer.name)
            .of_tenant(bearer.tenant.clone())
            .shared_by(sharers);
        self.open_workspace(&principal).await?;
        let mut open = self.open.lock();
        if open.services.len() >= self.limits.principals {
            let idle = self.limits.session_idle;
            open.services
                .retain(|_, service| service.is_in_use(&self.limits) || service.used.lock().elapsed() < idle);
        }
        if open.services.len() >= self.limits.principals {
            return Err(NoService::Crowded);
        }
        open.last += 1;
        let number = open.last;
        let service =
            open.services.entry(key).or_insert_with(|| Arc::new(self.new_service(number, principal)));
        Ok(Arc::clone(service))
    }

    /// Opens the workspace of a principal's tenant, which takes the disk. One thread at most is at it for each tenant, so that
    /// a disk that hangs holds no more of them.
    async fn open_workspace(&self, principal: &Principal) -> Result<(), NoService> {
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
        let (new_handler, opening) = (Arc::clone(&self.new_handler), principal.clone());
        let opened = tokio::task::spawn_blocking(move || {
            let opened = new_handler(&opening).map(drop);
            // Also where the client has hung up.
            drop(turn);
            opened
        });
        match opened.await.map_err(io::Error::other).flatten() {
            Ok(()) => Ok(()),
            Err(error) => {
                tracing::warn!(principal = principal.name(), %error, "there is nothing for a principal");
                let is_crowded = error.kind() == io::ErrorKind::ResourceBusy;
                Err(if is_crowded { NoService::Crowded } else { NoService::Nothing })
            }
        }
    }

    fn new_service(&self, number: usize, principal: Principal) -> PrincipalService<H> {
        let limits = &self.limits;
        let new_handler = Arc::clone(&self.new_handler);
        let mut sessions = LocalSessionManager::default();
        sessions.session_config.keep_alive = Some(limits.session_idle);
        let (sessions, closed) = (Arc::new(sessions), self.closed.child_token());
        let config = StreamableHttpServerConfig::default()
            // The guard checks both, before the token.
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_json_response(true)
            .with_max_request_body_bytes(limits.body_bytes)
            .with_cancellation_token(closed.clone());
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
            number,
            sessions,
            requests: permits(limits.requests),
            listeners: permits(limits.listeners),
            intake: Intake::new(limits.bytes_of_token),
            protocol,
            #[cfg(feature = "team")]
            closed,
            used: Mutex::new(Instant::now()),
        }
    }

    /// Forgets the services of the tenants of which this says so: their sessions are unknown from now on, what they have
    /// begun is finished, and then their streams end.
    #[cfg(feature = "team")]
    pub(super) fn forget(&self, is_gone: impl Fn(Option<&str>) -> bool) {
        let mut open = self.open.lock();
        let gone = open.services.extract_if(|key, _| is_gone(key.tenant.as_deref()));
        for (_, service) in gone {
            let limits = self.limits;
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

    /// Waits until every request that has begun is answered.
    pub(super) async fn answered(&self) {
        let services: Vec<_> = self.open.lock().services.values().cloned().collect();
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
        let sessions = open.services.values().filter_map(|service| service.sessions.sessions.try_read().ok());
        (
            open.services.len(),
            sessions.map(|sessions| sessions.len()).sum(),
            open.services.values().map(running).sum(),
        )
    }
}

impl<H> PrincipalService<H> {
    /// Waits until every request that has begun is answered. No other begins while the permit is held.
    async fn answered(&self, limits: &Limits) -> Option<SemaphorePermit<'_>> {
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
