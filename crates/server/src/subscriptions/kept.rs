//! What sessions of 2025 have subscribed to, for the server that takes one over: it hears further of all that it wants to hear of.

use std::sync::Arc;

use emend_workspace::Workspace;
use rmcp::{Peer, RoleServer};

use super::state::ListWish;
use super::{Subscriptions, subject};
use crate::registrations::{KeptSubscriptions, Listening, Registration};
use crate::session::Session;

/// Returns what a session has subscribed to.
pub(crate) fn kept(subscriptions: &Subscriptions, session: &Session) -> KeptSubscriptions {
    let Some(id) = session.registrations().own.as_ref().map(Registration::id) else {
        return KeptSubscriptions::default();
    };
    let state = subscriptions.state.lock();
    state.listeners.get(&id).map_or_else(KeptSubscriptions::default, |listener| KeptSubscriptions {
        uris: listener.subjects.keys().cloned().collect(),
        list: listener.list != ListWish::None,
    })
}

/// Subscribes a session, before its first request, to what it had subscribed to with another server. It will be told of each
/// once: nobody knows what has changed meanwhile. Blocks.
pub(crate) fn resume(
    subscriptions: &Arc<Subscriptions>,
    workspace: &Arc<Workspace>,
    session: &Session,
    kept: &KeptSubscriptions,
) {
    if *kept == KeptSubscriptions::default() {
        return;
    }
    // What is gone by now may come again.
    let subjects =
        kept.uris.iter().filter_map(|uri| Some((uri.clone(), subject(workspace, true, uri, true).ok()?)));
    let list = if kept.list { ListWish::Passive } else { ListWish::None };
    let registration = subscriptions.register(workspace, session, subjects.collect(), list);
    if let Some(listener) = subscriptions.state.lock().listeners.get_mut(&registration.id()) {
        listener.unsent.updated.clone_from(&kept.uris);
        listener.unsent.list = kept.list;
    }
    {
        let mut registrations = session.registrations();
        registrations.own = Some(registration);
        registrations.is_silent = true;
    }
    subscriptions.arrange(workspace);
}

/// Sends a resumed session what it is to hear, once its client listens here: of what is sent to nobody, most would be lost.
pub(crate) fn send_once_heard(
    subscriptions: &Arc<Subscriptions>,
    session: &Session,
    peer: &Peer<RoleServer>,
    listening: Listening,
) {
    let id = {
        let mut registrations = session.registrations();
        let is_silent = std::mem::take(&mut registrations.is_silent);
        registrations.own.as_ref().map(Registration::id).filter(|_| is_silent)
    };
    let Some((id, wake)) = id.and_then(|id| Some((id, subscriptions.wake_of(id)?))) else { return };
    let (subscriptions, peer) = (Arc::clone(subscriptions), peer.clone());
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = listening.begun() => return subscriptions.send_in_background(id, &peer),
                // The session may have ended.
                () = wake.notified() => if subscriptions.wake_of(id).is_none() { return },
            }
        }
    });
}
