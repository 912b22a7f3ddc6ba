//! Streamable HTTP, for both eras: sessions for clients of 2025, single requests for those of 2026.
//!
//! rmcp speaks the protocol. This module adds what rmcp leaves to a server: the check of hosts and origins ([`HostGuard`]),
//! authentication ([`Authenticate`], of which [`Tokens`] is the plain one), [`Limits`] and shutdown. Each principal has an
//! rmcp service of their own, so a session that was opened by one does not exist for another.

mod admission;
mod authentication;
pub(crate) mod connections;
mod endpoint;
#[cfg(feature = "team")]
mod handing_on;
mod host_check;
mod intake;
mod listening;
#[cfg(feature = "team")]
mod placement;
mod principals;
mod quota;
mod refusals;
mod resuming;
#[cfg(feature = "team")]
mod review;
#[cfg(feature = "team")]
mod reviewing;
#[cfg(feature = "team")]
mod room;
mod service;
mod stream_end;
#[cfg(feature = "team")]
pub mod tls;
mod tokens;
mod unread;
#[cfg(feature = "team")]
pub mod watching;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::SessionStore;
use tokio::io::{AsyncRead, AsyncWrite};

use self::connections::{Connections, Slot};
use self::service::HttpService;
use self::unread::Unread;
use crate::kept_session::SessionKeeper;
use crate::principal::Principal;

pub use self::authentication::{Authenticate, Authenticating, Bearer, Protection, Unrecognised};
pub use self::endpoint::ENDPOINT;
pub use self::host_check::HostGuard;
pub use self::listening::{Establishing, Listen};
#[cfg(feature = "team")]
pub use self::placement::{Place, Placement, PlacementFigures, Placing};
pub use self::quota::Quota;
#[cfg(feature = "team")]
pub use self::review::{Begun, CameBack, CookieKey, SignIn, SigningIn, Ways};
pub use self::tokens::Tokens;

/// The most bytes of a request's head, whose sender may have no token. hyper checks before it reads on, so up to twice
/// as much may be buffered.
const REQUEST_HEAD_BYTES: usize = 32 * 1024;

/// The limits and timeouts of a server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The number of principals that are served at once.
    pub principals: usize,
    /// The number of connections. Each principal has a share of them, and one share is left for connections without a
    /// token, the oldest of which is closed for a new one.
    pub connections: usize,
    /// The number of requests of one principal that are being answered or wait for a person, listen requests aside.
    pub requests: usize,
    /// The number of sessions of one principal.
    pub sessions: usize,
    /// The number of listen requests of one principal.
    pub listeners: usize,
    /// The bytes of the largest request.
    pub body_bytes: usize,
    /// The bytes of one principal's unanswered requests, small ones aside.
    pub bytes_of_token: usize,
    /// The bytes of all principals' unanswered requests, small ones aside.
    pub bytes_of_all: usize,
    /// The time in which a connection has to show a token.
    pub token: Duration,
    /// The time in which the head of a request has to arrive, and then its body. A connection may be idle as long.
    pub arrival: Duration,
    /// The time that a refusal waits for the rest of the request.
    pub rest: Duration,
    /// The time after which a response of which the client reads nothing is given up.
    pub unread: Duration,
    /// The time after which an unused session ends.
    pub session_idle: Duration,
    /// The time that running calls get when the server is told to stop.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            principals: 1_024,
            connections: 1_024,
            requests: 256,
            sessions: 1_000,
            listeners: 64,
            body_bytes: 64 * 1024 * 1024,
            bytes_of_token: 128 * 1024 * 1024,
            bytes_of_all: 512 * 1024 * 1024,
            token: Duration::from_secs(10),
            arrival: Duration::from_secs(75),
            rest: Duration::from_secs(2),
            unread: Duration::from_secs(75),
            session_idle: Duration::from_secs(30 * 60),
            farewell: Duration::from_secs(30),
        }
    }
}

/// A server over HTTP, which may be watched and told of changes while it serves.
pub struct HttpServer<H> {
    service: Arc<HttpService<H>>,
    connections: Arc<Connections>,
    limits: Limits,
}

impl<H> Clone for HttpServer<H> {
    fn clone(&self) -> Self {
        let (service, connections) = (Arc::clone(&self.service), Arc::clone(&self.connections));
        Self { service, connections, limits: self.limits }
    }
}

impl<H: ServerHandler + Send + Sync + 'static> HttpServer<H> {
    /// Creates a server for clients whose tokens are good. `new_handler` creates the handler of each new session and of each
    /// request without a session. The first time that a principal calls, it may take its time; afterwards it should be cheap.
    pub fn new(
        authenticator: Arc<dyn Authenticate>,
        guard: HostGuard,
        limits: Limits,
        new_handler: impl Fn(&Principal) -> io::Result<H> + Send + Sync + 'static,
    ) -> Self {
        let connections = Connections::new(limits.connections, authenticator.sharers());
        let service = Arc::new(HttpService::new(authenticator, guard, limits, Arc::new(new_handler)));
        Self { service, connections, limits }
    }

    /// Returns this server, which says that it is ready only while this does, too.
    #[must_use]
    pub fn ready_when(self, is_ready: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.service.is_ready.set(Box::new(is_ready)).ok();
        self
    }

    /// Returns this server, whose sessions outlive it: `keep` returns what keeps those of a principal, if anything does. It may
    /// block.
    #[must_use]
    pub fn keeping_sessions(
        self,
        keep: impl Fn(&Principal) -> Option<SessionKeeper> + Send + Sync + 'static,
    ) -> Self {
        let keep = move |principal: &Principal| {
            keep(principal).map(|keeper| Arc::new(keeper) as Arc<dyn SessionStore>)
        };
        self.service.principals.keep_sessions.set(Box::new(keep)).ok();
        self
    }

    /// Returns this server, which is one of several: it hands requests on to the server that serves their workspace.
    #[cfg(feature = "team")]
    #[must_use]
    pub fn placed_by(self, placement: Arc<dyn Placement>) -> Self {
        self.service.others.placement.set(placement).ok();
        self
    }

    /// Returns this server, which shows the review page to people who sign in this way. Their cookies are sealed under this key.
    #[cfg(feature = "team")]
    #[must_use]
    pub fn reviewed_by(self, sign_in: Arc<dyn SignIn>, key: CookieKey) -> Self {
        self.service.review.set(review::Review { sign_in, key }).ok();
        self
    }

    /// Serves until `stop` completes, and then waits for the requests that have begun.
    pub async fn serve<L: Listen>(&self, listener: L, stop: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        self.accept(&listener, &graceful, stop).await;
        let close = self.service.close(self.limits.farewell);
        if self.service.is_one_of_several() {
            // A person's answer, for which a call waits, comes as a request of its own, perhaps through another server.
            self.accept(&listener, &graceful, close).await;
            drop(listener);
        } else {
            drop(listener);
            close.await;
        }
        // Only the ends of responses are still to be sent.
        let _ = tokio::time::timeout(Duration::from_secs(5), graceful.shutdown()).await;
    }

    /// Accepts connections until `stop` completes.
    async fn accept<L: Listen>(
        &self,
        listener: &L,
        graceful: &GracefulShutdown,
        stop: impl Future<Output = ()>,
    ) {
        let Self { service, connections, limits } = self;
        let limits = *limits;
        let mut stop = std::pin::pin!(stop);
        loop {
            let accept = async {
                let establishing = listener.accept().await?;
                io::Result::Ok((establishing, connections.admit().await))
            };
            let accepted = tokio::select! {
                accepted = accept => accepted,
                () = &mut stop => return,
            };
            match accepted {
                Ok((establishing, slot)) => {
                    let (slot, service, watcher) = (Arc::new(slot), Arc::clone(service), graceful.watcher());
                    tokio::spawn(async move {
                        let serving = async {
                            let stream = match establishing.await {
                                Ok(stream) => stream,
                                Err(error) => {
                                    return tracing::debug!(%error, "a connection was not established");
                                }
                            };
                            let serving = connection(stream, Arc::clone(&slot), service, &limits);
                            if let Err(error) = watcher.watch(serving).await {
                                tracing::debug!(%error, "a connection ended");
                            }
                        };
                        tokio::select! {
                            () = serving => {}
                            () = slot.wait_until_expired(limits.token) => tracing::debug!("a connection without a token was closed"),
                        }
                    });
                }
                // File descriptors may have run out; other connections are about to be closed.
                Err(error) => {
                    tracing::warn!(%error, "a connection was not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }
}

/// Serves clients whose tokens are good until `stop` completes: see [`HttpServer`].
pub async fn serve_http<L: Listen, H: ServerHandler + Send + Sync + 'static>(
    listener: L,
    authenticator: Arc<dyn Authenticate>,
    guard: HostGuard,
    limits: Limits,
    new_handler: impl Fn(&Principal) -> io::Result<H> + Send + Sync + 'static,
    stop: impl Future<Output = ()>,
) {
    HttpServer::new(authenticator, guard, limits, new_handler).serve(listener, stop).await;
}

fn connection<S, H>(
    stream: S,
    slot: Arc<Slot>,
    service: Arc<HttpService<H>>,
    limits: &Limits,
) -> impl GracefulConnection<Error = hyper::Error> + Send + use<S, H>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: ServerHandler + Send + Sync + 'static,
{
    let service = service_fn(move |request| {
        let (service, slot) = (Arc::clone(&service), Arc::clone(&slot));
        async move { Ok::<_, std::convert::Infallible>(service.answer(request, &slot).await) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.arrival)
        .max_buf_size(REQUEST_HEAD_BYTES)
        .serve_connection(Unread::new(TokioIo::new(stream), limits.unread), service)
}
