//! Streamable HTTP, for both eras: sessions for clients of 2025, single requests for those of 2026.
//!
//! rmcp speaks the protocol. What stands in front of it here is what it leaves to a server: who may ask
//! ([`Guard`]), who asks ([`Tokens`]), how much at once ([`Limits`]), and how it ends. Each token has an rmcp service of
//! its own, so a session that was opened with one token does not exist for another.

mod connections;
mod guard;
mod intake;
mod service;
mod tokens;
mod unread;

use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use rmcp::ServerHandler;
use tokio::net::{TcpListener, TcpStream};

use self::connections::{Connections, Slot};
use self::service::HttpService;
use self::unread::Unread;
use crate::session::Token;

pub use self::guard::Guard;
pub use self::tokens::Tokens;

/// How much of the head of a request is read before it is too large: whoever sends it may have no token. hyper looks before
/// it reads on, so that up to twice as much is there in the end.
const REQUEST_HEAD_BYTES: usize = 32 * 1024;

/// Where the protocol is spoken.
pub const ENDPOINT: &str = "/mcp";

/// How much one server takes at once.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections. They are shared out among the tokens, with one share for whoever has shown none yet; the oldest of
    /// these makes room for the next one.
    pub connections: usize,
    /// Requests of one token that are being answered, or wait for a person; those that only listen apart.
    pub requests: usize,
    /// Sessions of one token.
    pub sessions: usize,
    /// Requests of one token that only listen.
    pub listeners: usize,
    /// The largest request.
    pub body_bytes: usize,
    /// How many bytes of requests one token may have sent that are not answered yet, small ones apart,
    pub bytes_of_token: usize,
    /// and all of them.
    pub bytes_of_all: usize,
    /// How long a connection has to show a token.
    pub token: Duration,
    /// How long the head of a request, or all of it, may take to arrive. So long a connection may be idle, too.
    pub arrival: Duration,
    /// How long a refusal waits for what is still to come of the request.
    pub rest: Duration,
    /// How long an answer may lie there without any of it being read.
    pub unread: Duration,
    /// How long a session is kept that nobody uses.
    pub session_idle: Duration,
    /// How long calls that have begun may take when the server is told to stop.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
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

/// Serves whoever has one of the tokens until `stop` is there; then lets what has begun come to its end. `handler`
/// makes the handler of a new session, and of each request that has none: it is to be cheap.
pub async fn serve_http<H: ServerHandler + Send + Sync + 'static>(
    listener: TcpListener,
    tokens: Tokens,
    guard: Guard,
    limits: Limits,
    handler: impl Fn(&Token) -> H + Send + Sync + 'static,
    stop: impl Future<Output = ()>,
) {
    let connections = Connections::new(limits.connections, tokens.all().count());
    let service = Arc::new(HttpService::new(tokens, guard, limits, handler));
    let graceful = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let accept = async {
            let (stream, _) = listener.accept().await?;
            std::io::Result::Ok((stream, connections.admit().await))
        };
        let accepted = tokio::select! {
            accepted = accept => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, slot)) => {
                let slot = Arc::new(slot);
                let serving =
                    graceful.watch(connection(stream, Arc::clone(&slot), Arc::clone(&service), &limits));
                tokio::spawn(async move {
                    tokio::select! {
                        served = serving => if let Err(error) = served {
                            tracing::debug!(%error, "a connection ended");
                        },
                        () = slot.wait_until_expired(limits.token) => tracing::debug!("a connection without a token was closed"),
                    }
                });
            }
            // Out of descriptors, perhaps: others are about to be closed.
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    service.close(limits.farewell).await;
    // What is left of a connection is the end of an answer.
    let _ = tokio::time::timeout(Duration::from_secs(5), graceful.shutdown()).await;
}

fn connection<H: ServerHandler + Send + Sync + 'static>(
    stream: TcpStream,
    slot: Arc<Slot>,
    service: Arc<HttpService<H>>,
    limits: &Limits,
) -> impl GracefulConnection<Error = hyper::Error> + Send + use<H> {
    // An answer is several segments: the second would wait 40 ms for the acknowledgement of the first.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY");
    }
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
