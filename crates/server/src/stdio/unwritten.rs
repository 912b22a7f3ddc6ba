//! Counts of the requests whose responses are not written yet, and of the bytes of unwritten responses. A client that
//! never reads would have all of these kept in memory, so only a limited number of its requests is taken.

use std::collections::HashSet;
use std::sync::{Arc, MutexGuard};

use emend_threads::Mutex;

use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ClientRequest, GetExtensions, JsonRpcMessage, RequestId, ServerNotification,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use tokio::sync::Notify;

/// The counts of unwritten responses, and their limits.
#[derive(Debug)]
pub(super) struct Unwritten {
    most: usize,
    most_bytes: usize,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// The ids of the requests without a response.
    taken: HashSet<RequestId>,
    /// The number of running requests, also cancelled ones.
    running: usize,
    /// The number of responses that are being written.
    writing: usize,
    /// The bytes of responses that are being written.
    bytes: usize,
    /// The ids of our own requests that the client has received. Each blocks one of its requests until it responds.
    asked: HashSet<RequestId>,
}

/// A guard that updates the counts once a message is written, or writing it has failed.
#[derive(Debug)]
pub(super) struct Writing {
    unwritten: Arc<Unwritten>,
    kind: MessageKind,
    bytes: usize,
}

/// A guard that a request carries as long as it is being handled.
#[derive(Debug)]
struct Running {
    unwritten: Arc<Unwritten>,
    id: RequestId,
}

#[derive(Debug)]
enum MessageKind {
    Answer,
    Question(RequestId),
    Other,
}

impl Unwritten {
    pub(super) fn new(most: usize, most_bytes: usize) -> Arc<Self> {
        Arc::new(Self { most, most_bytes, state: Mutex::default(), changed: Notify::new() })
    }

    /// Waits until one more request may be taken. Cancel-safe.
    pub(super) async fn wait_for_room(&self) {
        loop {
            let changed = self.changed.notified();
            if self.has_room() {
                return;
            }
            changed.await;
        }
    }

    /// Returns whether one more request may be taken.
    pub(super) fn has_room(&self) -> bool {
        let state = self.state();
        let under_way = state.taken.len().max(state.running) + state.writing;
        under_way < self.most + state.asked.len() && state.bytes < self.most_bytes
    }

    /// Returns whether a message has to wait for room: every request does but a listen request.
    pub(super) fn is_counted(message: &RxJsonRpcMessage<RoleServer>) -> bool {
        let JsonRpcMessage::Request(request) = message else { return false };
        !matches!(request.request, ClientRequest::SubscriptionsListenRequest(_))
    }

    /// Returns whether a request with this id has no response yet.
    pub(super) fn has(&self, id: &RequestId) -> bool {
        self.state().taken.contains(id)
    }

    /// Counts a message that the service receives.
    pub(super) fn receive(self: &Arc<Self>, message: &mut RxJsonRpcMessage<RoleServer>) {
        let is_counted = Self::is_counted(message);
        let mut state = self.state();
        match message {
            JsonRpcMessage::Request(request) if is_counted => {
                state.taken.insert(request.id.clone());
                state.running += 1;
                let running = Running { unwritten: Arc::clone(self), id: request.id.clone() };
                request.request.extensions_mut().insert(Arc::new(running));
            }
            JsonRpcMessage::Response(answer) => {
                state.asked.remove(&answer.id);
            }
            JsonRpcMessage::Error(error) => {
                error.id.as_ref().map(|id| state.asked.remove(id));
            }
            // A cancelled request gets no response.
            JsonRpcMessage::Notification(_) => {
                cancelled_request(message).map(|id| state.taken.remove(id));
            }
            JsonRpcMessage::Request(_) => {}
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Counts a message that the service sends, until the returned guard is dropped.
    pub(super) fn send(self: &Arc<Self>, message: &TxJsonRpcMessage<RoleServer>) -> Writing {
        let mut state = self.state();
        let mut answer = |id: &RequestId| match state.taken.remove(id) {
            true => {
                state.writing += 1;
                MessageKind::Answer
            }
            false => MessageKind::Other,
        };
        let kind = match message {
            JsonRpcMessage::Response(response) => answer(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref().map_or(MessageKind::Other, answer),
            JsonRpcMessage::Request(question) => MessageKind::Question(question.id.clone()),
            JsonRpcMessage::Notification(it) => {
                if let ServerNotification::CancelledNotification(cancelled) = &it.notification {
                    cancelled.params.request_id.as_ref().map(|id| state.asked.remove(id));
                }
                MessageKind::Other
            }
        };
        drop(state);
        Writing { unwritten: Arc::clone(self), kind, bytes: 0 }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// Returns the id of the request that this message cancels.
pub(super) fn cancelled_request(message: &RxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    let JsonRpcMessage::Notification(it) = message else { return None };
    let ClientNotification::CancelledNotification(cancelled) = &it.notification else { return None };
    cancelled.params.request_id.as_ref()
}

impl Writing {
    /// Counts the bytes of the message, which now waits to be written.
    pub(super) fn add_bytes(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.unwritten.state().bytes += bytes;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.unwritten.state();
        state.running -= 1;
        if std::thread::panicking() {
            // A request whose handler panicked gets no response.
            state.taken.remove(&self.id);
        }
        drop(state);
        self.unwritten.changed.notify_one();
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let mut state = self.unwritten.state();
        state.bytes -= self.bytes;
        match std::mem::replace(&mut self.kind, MessageKind::Other) {
            MessageKind::Answer => state.writing -= 1,
            MessageKind::Question(id) => {
                state.asked.insert(id);
            }
            MessageKind::Other => {}
        }
        drop(state);
        self.unwritten.changed.notify_one();
    }
}
