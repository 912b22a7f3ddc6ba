//! A model behind a chat endpoint over HTTP, asked with limits on the time and the bytes of each question.
//!
//! A question is sent by a thread of its own, so that whoever waits for the answer can give up at any moment. The thread
//! then ends with its time limit at the latest; there are never more than a few.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use ureq::config::Config;
use ureq::http::header::{AUTHORIZATION, CONTENT_TYPE};
use ureq::{Agent, Error};

use crate::failure::Failure;
use crate::key::Key;
use crate::model::Model;
use crate::prompt::Prompt;
use crate::reply;
use crate::settings::Settings;

/// The number of questions that are asked at the same time.
const AT_ONCE: usize = 4;
/// How often the caller is asked whether it still waits.
const LOOK: Duration = Duration::from_millis(25);
/// The bytes of an answer around its text: names of fields, and letters that JSON escapes.
const AROUND: u64 = 64 * 1024;

/// A model behind a chat endpoint.
#[derive(Debug)]
pub(crate) struct HttpModel {
    client: Arc<Client>,
    asked: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Client {
    settings: Settings,
    key: Option<Key>,
    agent: Agent,
}

impl HttpModel {
    pub(crate) fn new(settings: Settings, key: Option<Key>) -> Self {
        // No proxy either: the one of the environment was not named for this text.
        let config = Config::builder()
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(settings.timeout))
            .max_idle_connections(0)
            .user_agent("emend")
            .build();
        Self { client: Arc::new(Client { settings, key, agent: config.into() }), asked: Arc::default() }
    }
}

impl Model for HttpModel {
    fn name(&self) -> &str {
        &self.client.settings.model
    }

    fn ask(&self, prompt: &Prompt, cancelled: &dyn Fn() -> bool) -> Result<String, Failure> {
        let Settings { model, timeout, max_bytes, .. } = &self.client.settings;
        let body = prompt.body(model);
        if body.len() > *max_bytes {
            return Err(Failure::TooMuchToSend { bytes: body.len(), most: *max_bytes });
        }
        let turn = Turn::take(&self.asked).ok_or(Failure::Busy)?;
        let (sender, receiver) = mpsc::sync_channel(1);
        let client = Arc::clone(&self.client);
        let started = thread::Builder::new().name("apply-model".into()).spawn(move || {
            // Nobody may be waiting any more.
            let _ = sender.send(client.send(&body));
            drop(turn);
        });
        started.map_err(|_| Failure::Busy)?;
        // Resolving a name has no limit of its own everywhere.
        let end = Instant::now() + *timeout + Duration::from_millis(500);
        loop {
            if cancelled() {
                return Err(Failure::Cancelled);
            }
            match receiver.recv_timeout(LOOK) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if Instant::now() < end => {}
                Err(RecvTimeoutError::Timeout) => return Err(Failure::TimedOut(*timeout)),
                Err(RecvTimeoutError::Disconnected) => return Err(Failure::Unreachable("its client failed")),
            }
        }
    }
}

impl Client {
    /// Sends a question and returns the text of the answer. Blocks.
    fn send(&self, body: &str) -> Result<String, Failure> {
        let failed = |error: &Error| self.failure(error);
        let mut request =
            self.agent.post(self.settings.address.uri().clone()).header(CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.authorization());
        }
        let mut response = request.send(body).map_err(|error| failed(&error))?;
        let status = response.status();
        if status.is_redirection() {
            return Err(Failure::Redirected);
        }
        if !status.is_success() {
            return Err(Failure::Status(status.as_u16()));
        }
        let most = self.settings.max_bytes as u64 + AROUND;
        let body = response.body_mut().with_config().limit(most).read_to_vec();
        let text = reply::text_of(&body.map_err(|error| failed(&error))?)?;
        match text.len() > self.settings.max_bytes {
            true => Err(Failure::TooMuchReceived { most: self.settings.max_bytes }),
            false => Ok(text),
        }
    }

    /// Says what failed in words of our own: the client's may repeat what was sent or received.
    fn failure(&self, error: &Error) -> Failure {
        match error {
            Error::Timeout(_) => Failure::TimedOut(self.settings.timeout),
            Error::BodyExceedsLimit(_) => Failure::TooMuchReceived { most: self.settings.max_bytes },
            Error::HostNotFound => Failure::Unreachable("its host is not known"),
            Error::ConnectionFailed | Error::Io(_) => Failure::Unreachable("the connection failed"),
            Error::Tls(_) | Error::Rustls(_) | Error::Pem(_) => Failure::Unreachable("TLS failed"),
            Error::TooManyRedirects | Error::RedirectFailed => Failure::Redirected,
            Error::Http(_) | Error::Protocol(_) | Error::LargeResponseHeader(..) => {
                Failure::Malformed("it is no HTTP")
            }
            _ => Failure::Unreachable("the request failed"),
        }
    }
}

/// A place among the questions that are asked at the same time.
struct Turn(Arc<AtomicUsize>);

impl Turn {
    fn take(asked: &Arc<AtomicUsize>) -> Option<Self> {
        let next = |now: usize| (now < AT_ONCE).then_some(now + 1);
        let taken = asked.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        taken.is_ok().then(|| Self(Arc::clone(asked)))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
