//! The edits that are being made: a call that is sent again while the first still runs waits for it.
//!
//! What was made is known again from the log, under the lock of the call; but an edit that waits for a person or for a hook
//! holds no lock, and nobody should be asked twice.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use rmcp::model::JsonObject;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio_util::sync::CancellationToken;

use emend_threads::Mutex;

use crate::session::Owner;

/// The calls that are running, by a hash of what they ask for.
#[derive(Debug, Default)]
pub(crate) struct RunningCalls(Mutex<HashMap<u64, Arc<AsyncMutex<()>>>>);

/// The turn of a call. The next of the same calls begins when it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    calls: &'a RunningCalls,
    call: u64,
    guard: Option<OwnedMutexGuard<()>>,
}

impl RunningCalls {
    /// Waits until no other call of this owner is running that asks for the same, or this one is cancelled.
    pub(crate) async fn turn(
        &self,
        owner: &Owner,
        tool: &str,
        arguments: &JsonObject,
        cancelled: &CancellationToken,
    ) -> Turn<'_> {
        let mut hasher = DefaultHasher::new();
        (owner, tool, arguments).hash(&mut hasher);
        let call = hasher.finish();
        let same = Arc::clone(self.0.lock().entry(call).or_default());
        // It exists while it waits, so that it tidies up behind itself whenever it is dropped.
        let mut turn = Turn { calls: self, call, guard: None };
        tokio::select! {
            biased;
            guard = same.lock_owned() => turn.guard = Some(guard),
            () = cancelled.cancelled() => {}
        }
        turn
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut calls = self.calls.0.lock();
        self.guard = None;
        // The map holds one; whoever waits holds another.
        if calls.get(&self.call).is_some_and(|same| Arc::strong_count(same) == 1) {
            calls.remove(&self.call);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(path: &str) -> JsonObject {
        JsonObject::from_iter([("path".to_owned(), path.into())])
    }

    #[tokio::test]
    async fn the_same_call_waits_and_others_do_not() {
        let (running, cancelled) = (RunningCalls::default(), CancellationToken::new());
        let turn = |path: &str| {
            let (running, cancelled, arguments) = (&running, &cancelled, arguments(path));
            async move { running.turn(&Owner::Process, "write_file", &arguments, cancelled).await }
        };
        let first = turn("a").await;
        turn("b").await;
        let mut second = Box::pin(turn("a"));
        assert!(tokio::select! { biased; _ = &mut second => false, () = std::future::ready(()) => true });
        drop(first);
        second.await;
        assert!(running.0.lock().is_empty(), "nothing is kept of what is over");
    }

    #[tokio::test]
    async fn who_gives_up_does_not_wait_and_keeps_nobody_waiting() {
        let (running, cancelled) = (RunningCalls::default(), CancellationToken::new());
        let first = running.turn(&Owner::Process, "write_file", &arguments("a"), &cancelled).await;
        cancelled.cancel();
        drop(running.turn(&Owner::Process, "write_file", &arguments("a"), &cancelled).await);
        drop(first);
        assert!(running.0.lock().is_empty());
    }
}
