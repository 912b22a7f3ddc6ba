//! The review page on loopback, for a person whose client shows no MCP App.
//!
//! Whoever reaches the page can approve edits, so it takes more than reaching the address. The way in is a token that stands
//! only in a file for this user alone; it is good once and becomes a cookie that no script reads and no other site's page
//! sends. A browser sends a cookie to every port of this machine, so a call needs a key, too, which came with the page that
//! the token led to, and which the page keeps where only its own origin reads it. Every request must name this address as its
//! host, and a call this page as its origin. The page loads nothing and sends nothing elsewhere.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use emend_threads::Mutex;
use http::header::{CONTENT_TYPE, HOST, HeaderName, ORIGIN, SET_COOKIE};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use crate::http::connections::{Connections, Slot};
use crate::in_process::InProcess;
use crate::page_answers::{self, Answer, PageCall, cookies, insert, is_only, refusal, response, secret};
use crate::review_page::Asker;

/// The header with the key of the page.
const KEY: HeaderName = HeaderName::from_static("x-emend-key");
/// The bytes of the largest call.
const LARGEST: usize = 64 * 1024 * 1024;
/// The time in which the head of a request has to arrive, and then its body.
const ARRIVAL: Duration = Duration::from_secs(30);

/// The number of connections. The oldest without the cookie is closed for a new one.
const CONNECTIONS: usize = 64;
/// The number of the one person for whom the page is.
const PERSON: u64 = 0;

/// The page on loopback.
#[derive(Debug)]
pub struct LoopbackPage {
    listener: TcpListener,
    service: Arc<Service>,
}

#[derive(Debug)]
struct Service {
    address: SocketAddr,
    client: InProcess,
    /// The hash of the token, until it is used.
    token: Mutex<Option<blake3::Hash>>,
    /// The hash of the cookie.
    cookie: blake3::Hash,
    /// The hash of the key.
    key: blake3::Hash,
    /// The cookie and the key, until somebody has come with the token.
    fresh: Mutex<Option<(String, String)>>,
}

impl LoopbackPage {
    /// Opens the page of this client at a free port. Returns it with the address that leads in, once.
    pub async fn open(client: InProcess) -> io::Result<(Self, String)> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let (token, cookie, key) = (secret()?, secret()?, secret()?);
        let service = Service {
            address,
            client,
            token: Mutex::new(Some(blake3::hash(token.as_bytes()))),
            cookie: blake3::hash(cookie.as_bytes()),
            key: blake3::hash(key.as_bytes()),
            fresh: Mutex::new(Some((cookie, key))),
        };
        Ok((Self { listener, service: Arc::new(service) }, format!("http://{address}/?{token}")))
    }

    /// Serves the page until `stop` completes.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        let connections = Connections::new(CONNECTIONS, 1);
        loop {
            let accept = async {
                let (stream, _) = self.listener.accept().await?;
                io::Result::Ok((stream, connections.admit().await))
            };
            tokio::select! {
                accepted = accept => match accepted {
                    Ok((stream, slot)) => {
                        drop(tokio::spawn(connection(stream, Arc::new(slot), Arc::clone(&self.service))));
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection was not accepted");
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                },
                () = &mut stop => break,
            }
        }
    }
}

async fn connection(stream: TcpStream, slot: Arc<Slot>, service: Arc<Service>) {
    let own = Arc::clone(&slot);
    let service = service_fn(move |request| {
        let (service, slot) = (Arc::clone(&service), Arc::clone(&own));
        async move { Ok::<_, Infallible>(service.answer(request, &slot).await) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(ARRIVAL)
        .serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        served = serving => if let Err(error) = served {
            tracing::debug!(%error, "a connection of the page ended");
        },
        () = slot.wait_until_expired(ARRIVAL) => tracing::debug!("a connection of nobody was closed"),
    }
}

impl Service {
    async fn answer(&self, request: Request<Incoming>, slot: &Slot) -> Answer {
        if self.has_cookie(request.headers()) && !slot.assign_principal(PERSON) {
            return refusal(StatusCode::SERVICE_UNAVAILABLE, "This page has too many connections open.");
        }
        if !is_only(request.headers(), &HOST, &self.address.to_string()) {
            return refusal(StatusCode::FORBIDDEN, "This page has another address.");
        }
        match (request.method().clone(), request.uri().path()) {
            (Method::GET, "/") => self.page(&request),
            (Method::POST, "/call") => self.call(request).await,
            _ => refusal(StatusCode::NOT_FOUND, "There is nothing here."),
        }
    }

    /// Returns the page to who has the cookie, or gets it for the token.
    fn page(&self, request: &Request<Incoming>) -> Answer {
        let given = request.uri().query().and_then(|token| self.take_token(token));
        if given.is_none() && !self.has_cookie(request.headers()) {
            let why = "This address leads in once. Run emend review again.";
            return refusal(StatusCode::FORBIDDEN, why);
        }
        let key = given.as_ref().map(|(_, key)| key.as_str());
        let mut answer = page_answers::page(&Asker::OnLoopback { key });
        if let Some((cookie, _)) = given {
            let name = self.cookie_name();
            insert(&mut answer, SET_COOKIE, &format!("{name}={cookie}; HttpOnly; SameSite=Strict; Path=/"));
        }
        answer
    }

    /// The name of the cookie: those of other ports come along, and must not replace it.
    fn cookie_name(&self) -> String {
        format!("emend_review_{}", self.address.port())
    }

    /// Uses the token up for the cookie and the key.
    fn take_token(&self, token: &str) -> Option<(String, String)> {
        let mut good = self.token.lock();
        if *good != Some(blake3::hash(token.as_bytes())) {
            return None;
        }
        *good = None;
        self.fresh.lock().take()
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        // Comparing hashes takes the same time for every guess.
        cookies(headers, &self.cookie_name()).any(|value| blake3::hash(value.as_bytes()) == self.cookie)
    }

    fn has_key(&self, headers: &HeaderMap) -> bool {
        let mut keys = headers.get_all(KEY).iter();
        let is_own = |key: &http::HeaderValue| blake3::hash(key.as_bytes()) == self.key;
        keys.next().is_some_and(is_own) && keys.next().is_none()
    }

    /// Calls a tool for the page.
    async fn call(&self, request: Request<Incoming>) -> Answer {
        let headers = request.headers();
        let is_own = is_only(headers, &ORIGIN, &format!("http://{}", self.address))
            && is_only(headers, &CONTENT_TYPE, "application/json");
        if !is_own || !self.has_cookie(headers) || !self.has_key(headers) {
            return refusal(StatusCode::FORBIDDEN, "Only the page itself calls this.");
        }
        let body = Limited::new(request.into_body(), LARGEST).collect();
        let Ok(body) = tokio::time::timeout(ARRIVAL, body).await else {
            return refusal(StatusCode::REQUEST_TIMEOUT, "The call did not arrive.");
        };
        let Ok(body) = body else {
            return refusal(StatusCode::PAYLOAD_TOO_LARGE, "The call is too large.");
        };
        let call = match PageCall::read(&body.to_bytes()) {
            Ok(call) => call,
            Err(refusal) => return *refusal,
        };
        match self.client.call(&call.name, call.arguments).await {
            Ok(result) => response(StatusCode::OK, "application/json", result.to_string()),
            Err(error) => refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    }
}
