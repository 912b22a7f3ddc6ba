//! Where the workspace of a tenant is served, if there are several servers: here, or by another one, to which the request is
//! handed on as it is. Its answer comes back the same way, streams as well.

use std::collections::BTreeSet;
use std::io;
use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{CONNECTION, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::refusals::whole;
use super::room::Room;
use super::stream_end::Body;

/// How long a request waits for a server that serves its workspace. Where one has died, another takes its place within the time
/// of a lease.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(100);
/// The time for a connection to another server, and for its proof.
const CONNECT: Duration = Duration::from_secs(2);
/// How often is asked whether a workspace is still served where an answer is waited for.
const WATCHED: Duration = Duration::from_secs(1);
/// The header of a request that another server has handed on. None is handed on twice: it may have lain for long in the
/// connection of a server that was paused, and its client have given it up.
const HANDED_ON: HeaderName = HeaderName::from_static("emend-handed-on");
/// The headers that are about one connection alone.
const OF_CONNECTION: [HeaderName; 7] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Where a workspace is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Here.
    Here,
    /// By the server at this address, `HOST:PORT`.
    At(String),
    /// By nobody for the moment.
    Nowhere,
}

/// What a placement answers, in its time.
pub type Placing<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a placement counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlacementFigures {
    /// The tenants that are served here.
    pub served: usize,
    /// How often another server had one of them, or may have had it, before this one knew.
    pub losses: u64,
    /// Whether who is asked about others has answered when last asked.
    pub is_answered: bool,
}

/// Whoever knows which server serves the workspace of a tenant.
pub trait Placement: Send + Sync + 'static {
    /// Returns whether the workspace of a tenant is known to be served here.
    fn is_here(&self, tenant: Option<&str>) -> bool;
    /// Returns where the workspace of a tenant is served.
    fn place<'a>(&'a self, tenant: Option<&'a str>) -> Placing<'a, Place>;
    /// Returns the proof that this is one of the servers, for whoever asks with this number, which is used once.
    fn prove(&self, number: &str) -> String;
    /// Returns whether this is the proof of the server at an address.
    fn is_proof(&self, address: &str, number: &str, proof: &str) -> bool;
    /// Returns what it counts.
    fn figures(&self) -> PlacementFigures;
    /// Lets other servers have all workspaces but those of these tenants, and has no new one served here.
    fn keep_only<'a>(&'a self, tenants: &'a BTreeSet<Option<String>>) -> Placing<'a, ()>;
}

/// The other servers, if there are several.
#[derive(Default)]
pub(super) struct Others {
    /// Which of them serves a workspace.
    pub(super) placement: OnceLock<Arc<dyn Placement>>,
    /// The requests that were handed on to another server and are not answered yet, streams aside.
    pub(super) handed_on: Arc<Room>,
    /// The streams from another server.
    pub(super) streams: Arc<Room>,
    /// How many requests and streams were handed on.
    pub(super) count: AtomicU64,
}

/// The place of a request.
pub(super) enum Found {
    Here,
    Elsewhere(OtherServer),
}

/// A connection to the server to which a request is handed on.
pub(super) struct OtherServer {
    host: HeaderValue,
    sender: SendRequest<Body>,
    moved: oneshot::Receiver<()>,
}

/// A request that another server answers: a connection to it, and the tenant.
pub(super) struct Elsewhere {
    pub(super) server: OtherServer,
    pub(super) tenant: Option<String>,
}

/// Returns whether another server has handed a request on.
pub(super) fn was_handed_on(headers: &HeaderMap) -> bool {
    headers.contains_key(HANDED_ON)
}

/// Finds the server for a request, and waits so long for one that can be reached; `None` if none is found in time.
pub(super) async fn find(
    placement: &Arc<dyn Placement>,
    tenant: Option<&str>,
    patience: Duration,
) -> Option<Found> {
    let until = Instant::now() + patience;
    let mut failure = None;
    loop {
        match placement.place(tenant).await {
            Place::Here => return Some(Found::Here),
            Place::At(address) => match connect(&**placement, &address).await {
                Ok(sender) => {
                    let host = HeaderValue::from_str(&address).ok()?;
                    let moved = moved(Arc::clone(placement), tenant.map(str::to_owned), address);
                    return Some(Found::Elsewhere(OtherServer { host, sender, moved }));
                }
                Err(error) => failure = Some((address, error)),
            },
            Place::Nowhere => {}
        }
        if Instant::now() >= until {
            if let Some((address, error)) = failure {
                let tenant = tenant.unwrap_or_default();
                tracing::warn!(tenant, address, %error, "the server of a workspace cannot be reached");
            }
            return None;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Where a server proves that it is one of several: it is asked before it gets anybody's token.
const PROOF: &str = "/replica/";
/// The most bytes of a proof.
const PROOF_BYTES: usize = 256;

/// Returns the number with which a request asks for a proof, if it does.
pub(super) fn asks_for_proof(head: &Parts) -> Option<&str> {
    let number = head.uri.path().strip_prefix(PROOF).filter(|_| head.method == Method::GET)?;
    let is_number = number.len() == 32 && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number.then_some(number)
}

async fn connect(placement: &dyn Placement, address: &str) -> io::Result<SendRequest<Body>> {
    let connecting = async {
        let mut sender = open(address).await?;
        ask_for_proof(placement, address, &mut sender).await?;
        Ok(sender)
    };
    tokio::time::timeout(CONNECT, connecting).await?
}

/// Asks who listens at an address. The engine says that a server was there, and by now it may be another program.
async fn ask_for_proof(
    placement: &dyn Placement,
    address: &str,
    sender: &mut SendRequest<Body>,
) -> io::Result<()> {
    let mut number = [0; 16];
    getrandom::fill(&mut number).map_err(|error| io::Error::other(error.to_string()))?;
    let number = format!("{:032x}", u128::from_ne_bytes(number));
    let request = Request::get(format!("{PROOF}{number}")).header(HOST, address);
    let request = request.body(whole("")).map_err(io::Error::other)?;
    let answer = sender.send_request(request).await.map_err(io::Error::other)?;
    let proof = Limited::new(answer.into_body(), PROOF_BYTES).collect().await.map_err(io::Error::other)?;
    let proof = String::from_utf8_lossy(&proof.to_bytes()).into_owned();
    if !placement.is_proof(address, &number, &proof) {
        return Err(io::Error::other("it is not one of the servers with this state folder"));
    }
    sender.ready().await.map_err(io::Error::other)
}

async fn open(address: &str) -> io::Result<SendRequest<Body>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection to another server ended");
        }
    });
    Ok(sender)
}

/// Returns what is done once the workspace of a tenant is served elsewhere than at an address. A server that hangs, or is cut
/// off, answers nothing and closes nothing; whoever waits for it alone waits for ever, and nobody takes its place.
fn moved(placement: Arc<dyn Placement>, tenant: Option<String>, address: String) -> oneshot::Receiver<()> {
    let (mut until, moved) = oneshot::channel();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = until.closed() => return,
                () = tokio::time::sleep(WATCHED) => {}
            }
            match placement.place(tenant.as_deref()).await {
                Place::At(now) if now == address => {}
                // Nobody knows: the server may still be the one.
                Place::Nowhere => {}
                Place::At(_) | Place::Here => return,
            }
        }
    });
    moved
}

impl OtherServer {
    /// Hands a request on and returns the answer. After an error it may have been answered or not.
    pub(super) async fn forward(self, mut head: Parts, body: Incoming) -> io::Result<Response<Body>> {
        let Self { host, mut sender, mut moved } = self;
        remove_of_connection(&mut head.headers);
        // The guard has checked the name by which the client calls. The other server is called by its own.
        head.headers.insert(HOST, host);
        head.headers.insert(HANDED_ON, HeaderValue::from_static("1"));
        let path = head.uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        head.uri = Uri::from(path);
        let answer = tokio::select! {
            answer = sender.send_request(Request::from_parts(head, body.map_err(io::Error::other).boxed())) => answer.map_err(io::Error::other)?,
            _ = &mut moved => return Err(has_moved()),
        };
        let (mut head, body) = answer.into_parts();
        remove_of_connection(&mut head.headers);
        Ok(Response::from_parts(head, PassedOn { body, moved, _sender: sender }.boxed()))
    }
}

fn has_moved() -> io::Error {
    io::Error::other("another server has taken its place")
}

/// Removes the headers that are about one connection alone, those among them that `Connection` names.
fn remove_of_connection(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.iter().chain(&OF_CONNECTION) {
        headers.remove(name);
    }
}

/// The body of another server's answer.
struct PassedOn {
    body: Incoming,
    moved: oneshot::Receiver<()>,
    /// Without it, the connection would be closed.
    _sender: SendRequest<Body>,
}

impl hyper::body::Body for PassedOn {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        // One that breaks off breaks the client's connection off too: it must not look whole.
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Pending => Pin::new(&mut self.moved).poll(context).map(|_| Some(Err(has_moved()))),
            polled => polled.map_err(io::Error::other),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_about_one_connection_is_not_handed_on() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, X-Own"),
            ("x-own", "1"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("authorization", "Bearer token"),
            ("mcp-session-id", "1"),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        remove_of_connection(&mut headers);
        let mut left: Vec<_> = headers.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["authorization", "mcp-session-id"]);
    }
}
