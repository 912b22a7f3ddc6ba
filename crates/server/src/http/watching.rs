//! What a server tells those who watch it: whether it is well, whether it is ready, and figures for Prometheus. It has an
//! address of its own, where nobody shows a token, and no figure names a tenant, a principal or a file.

use std::convert::Infallible;
use std::fmt::Write;
use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::HttpServer;
use super::placement::PlacementFigures;

/// The most connections at once.
const CONNECTIONS: usize = 32;
/// The time in which a request has to arrive, and a connection may be idle.
const ARRIVAL: Duration = Duration::from_secs(30);

impl<H: ServerHandler + Send + Sync + 'static> HttpServer<H> {
    /// Forgets the services of the principals, by tenant and key, of whom this says so. `None` stands for those who have no tenant.
    /// What they have begun is finished before their streams end.
    pub fn forget(&self, is_gone: impl Fn(Option<&str>, &str) -> bool) {
        self.service.principals.forget(false, is_gone);
    }

    /// Does the same, and ends their streams at once: their tokens are no good any more.
    pub fn turn_out(&self, is_gone: impl Fn(Option<&str>, &str) -> bool) {
        self.service.principals.forget(true, is_gone);
    }

    /// Returns the figures in the form of Prometheus.
    #[must_use]
    pub fn figures(&self) -> String {
        let mut text = String::new();
        let mut figure = |name: &str, kind: &str, about: &str, values: &[(String, f64)]| {
            let _ = writeln!(text, "# HELP {name} {about}\n# TYPE {name} {kind}");
            for (labels, value) in values {
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        };
        let one = |value: f64| vec![(String::new(), value)];
        let is_ready = self.service.is_ready();
        figure("emend_ready", "gauge", "Whether requests are taken.", &one(f64::from(u8::from(is_ready))));
        let answered = self.service.answered.lock().clone();
        let answered: Vec<_> = answered
            .into_iter()
            .map(|(status, count)| (format!("{{status=\"{status}\"}}"), count as f64))
            .collect();
        figure("emend_http_requests_total", "counter", "Requests that were answered.", &answered);
        let (principals, sessions, running) = self.service.principals.counts();
        figure("emend_principals", "gauge", "Principals that have called lately.", &one(principals as f64));
        figure("emend_sessions", "gauge", "Open sessions of clients.", &one(sessions as f64));
        figure("emend_requests_running", "gauge", "Requests that are being answered.", &one(running as f64));
        figure("emend_connections", "gauge", "Open connections.", &one(self.connections.count() as f64));
        let others = &self.service.others;
        if let Some(placement) = others.placement.get() {
            let PlacementFigures { served, losses, is_answered } = placement.figures();
            let handed_on = others.count.load(Ordering::Relaxed);
            let (losses, handed_on) = (one(losses as f64), one(handed_on as f64));
            figure("emend_tenants_served", "gauge", "Tenants that this server serves.", &one(served as f64));
            figure(
                "emend_tenants_lost_total",
                "counter",
                "Tenants that another server may have served.",
                &losses,
            );
            let answers = f64::from(u8::from(is_answered));
            figure("emend_engine_up", "gauge", "Whether the engine of the servers answers.", &one(answers));
            let about = "Requests and streams that other servers answered.";
            figure("emend_requests_handed_on_total", "counter", about, &handed_on);
        }
        for (name, about, value) in of_process() {
            figure(name, "gauge", about, &one(value));
        }
        text
    }

    /// Serves those who watch until `stop` completes.
    pub async fn serve_watchers(&self, listener: TcpListener, stop: impl Future<Output = ()>) {
        let room = std::sync::Arc::new(Semaphore::new(CONNECTIONS));
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = &mut stop => return,
            };
            let (Ok((stream, _)), Ok(permit)) = (accepted, std::sync::Arc::clone(&room).try_acquire_owned())
            else {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let server = self.clone();
            let service = service_fn(move |request| {
                let answer = server.watched(&request);
                async move { Ok::<_, Infallible>(answer) }
            });
            let serving = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(ARRIVAL)
                .max_buf_size(super::REQUEST_HEAD_BYTES)
                .serve_connection(TokioIo::new(stream), service);
            tokio::spawn(async move {
                let _ = tokio::time::timeout(10 * ARRIVAL, serving).await;
                drop(permit);
            });
        }
    }

    fn watched(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let (status, text) = match (request.method(), request.uri().path()) {
            (&Method::GET | &Method::HEAD, "/metrics") => (StatusCode::OK, self.figures()),
            (&Method::GET | &Method::HEAD, "/healthz") => (StatusCode::OK, "ok\n".to_owned()),
            (&Method::GET | &Method::HEAD, "/readyz") if self.service.is_ready() => {
                (StatusCode::OK, "ok\n".to_owned())
            }
            (&Method::GET | &Method::HEAD, "/readyz") => {
                (StatusCode::SERVICE_UNAVAILABLE, "not ready\n".to_owned())
            }
            _ => (StatusCode::NOT_FOUND, "There are /metrics, /healthz and /readyz.\n".to_owned()),
        };
        let mut answer = Response::new(Full::new(Bytes::from(text)));
        *answer.status_mut() = status;
        let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        answer.headers_mut().insert(CONTENT_TYPE, kind);
        answer
    }
}

/// Returns figures of the process, where the system tells them.
fn of_process() -> Vec<(&'static str, &'static str, f64)> {
    let mut figures = Vec::new();
    let pages = || -> io::Result<f64> {
        let text = std::fs::read_to_string("/proc/self/statm")?;
        let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok());
        pages.ok_or_else(|| io::ErrorKind::InvalidData.into())
    };
    if let Ok(pages) = pages() {
        // Wherever there is /proc, what it counts has 4 KiB, or is close to it.
        figures.push(("process_resident_memory_bytes", "Resident memory.", pages * 4096.0));
    }
    if let Ok(open) = std::fs::read_dir("/proc/self/fd") {
        figures.push(("process_open_fds", "Open file handles.", open.count() as f64));
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    figures.push(("emend_time_seconds", "The clock of the server.", now));
    figures
}
