//! Subscriptions: clients that want to hear of changes to resources, and the notifications that they are sent.
//!
//! A listener is a session of 2025 or one `subscriptions/listen` of 2026. Its unsent notifications are a set, not a
//! queue, and each listener has a task of its own that sends them: a slow client hears later, and of several changes
//! once, and holds up nobody. Edits of this process are notified at once; [`Watch`] hints at the changes of others, and
//! only a look at the file decides. A listener ends with its [`Registration`], and so does the watch that it needed.

mod changes;
mod kept;
mod looking;
mod remarks;
mod state;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::SubscriptionSink;
use rmcp::{ErrorData, Peer, RoleServer};
use tokio::sync::Notify;

use emend_threads::Mutex;
use emend_workspace::Workspace;

use self::looking::ArrangeQueue;
use self::state::{ListWish, Listener, SUBSCRIPTIONS_PER_SESSION, State, Subject, Unsent};
use crate::events::Events;
use crate::registrations::Registration;
use crate::session::{Owner, Session};
use crate::uri::{self, DIAGNOSTICS, Uri};
use crate::watch::Watch;

pub(crate) use self::kept::{kept, resume, send_once_heard};

/// The number of accepted listen requests of a session that may wait for their turn.
const ACCEPTED_REQUESTS: usize = 16;
/// How many edits a filter may name. Each is looked up in the history, and none ever changes.
const EDITS_LOOKED_UP: usize = 16;

/// All listeners, and the watch over what they listen to.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    state: Mutex<State>,
    /// The watch, if there are listeners. Where both are locked, it is locked before `state`.
    watch: Mutex<Option<Watch>>,
    arrange_queue: ArrangeQueue,
    /// Whether some files that were read are not watched, so that answers have to look at them.
    is_partial: AtomicBool,
    /// The time that an answer may spend looking at files.
    looking: Duration,
    outside: Outside,
}

/// The observer of changes that other programs make to files.
#[derive(Default)]
struct Outside(OnceLock<Box<OnOutsideChange>>);

type OnOutsideChange = dyn Fn(&[PathBuf]) + Send + Sync;

impl fmt::Debug for Outside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outside({})", self.0.get().is_some())
    }
}

/// The receiver of a listener's notifications.
enum Client {
    Session(Peer<RoleServer>),
    Listen(SubscriptionSink),
}

impl Client {
    /// Sends the notifications; `Err` where the client is gone.
    async fn send(&self, unsent: Unsent) -> Result<(), ()> {
        for uri in unsent.updated {
            match self {
                Self::Session(peer) => peer
                    .notify_resource_updated(ResourceUpdatedNotificationParam::new(uri))
                    .await
                    .map_err(drop)?,
                Self::Listen(sink) => sink.notify_resource_updated(uri).await.map_err(drop)?,
            }
        }
        if unsent.list {
            match self {
                Self::Session(peer) => peer.notify_resource_list_changed().await.map_err(drop)?,
                Self::Listen(sink) => sink.notify_resource_list_changed().await.map_err(drop)?,
            }
        }
        Ok(())
    }
}

/// Subscribes a session of 2025 to this resource. Blocks.
pub(crate) fn subscribe(
    subscriptions: &Arc<Subscriptions>,
    workspace: &Arc<Workspace>,
    session: &Session,
    peer: &Peer<RoleServer>,
    uri: &str,
) -> Result<(), ErrorData> {
    let subject = subject(workspace, true, uri, false)?;
    let id = own_listener(subscriptions, workspace, session, peer);
    {
        let mut state = subscriptions.state.lock();
        let room = state.room(session);
        let Some(listener) = state.listeners.get_mut(&id) else { return Ok(()) };
        if room == 0 && !listener.subjects.contains_key(uri) {
            let message = format!(
                "A session has at most {SUBSCRIPTIONS_PER_SESSION} subscriptions. Unsubscribe from some resources first."
            );
            return Err(ErrorData::invalid_params(message, None));
        }
        listener.subjects.insert(uri.to_owned(), subject);
    }
    subscriptions.arrange(workspace);
    Ok(())
}

/// Ends the subscription of a session of 2025 to this resource, if there is one. Blocks.
pub(crate) fn unsubscribe(
    subscriptions: &Arc<Subscriptions>,
    workspace: &Arc<Workspace>,
    session: &Session,
    uri: &str,
) {
    let Some(id) = session.registrations().own.as_ref().map(Registration::id) else { return };
    if let Some(listener) = subscriptions.state.lock().listeners.get_mut(&id) {
        listener.subjects.remove(uri);
        listener.unsent.updated.remove(uri);
    }
    subscriptions.arrange(workspace);
}

/// Has a session of 2025, which has asked for the list of resources, notified when the list changes.
pub(crate) fn subscribe_to_list(
    subscriptions: &Arc<Subscriptions>,
    workspace: &Arc<Workspace>,
    session: &Session,
    peer: &Peer<RoleServer>,
) {
    let id = own_listener(subscriptions, workspace, session, peer);
    if let Some(listener) = subscriptions.state.lock().listeners.get_mut(&id) {
        listener.list = ListWish::Passive;
    }
    // The folders that are already watched for its subscriptions serve for this, too.
    subscriptions.arrange(workspace);
}

/// Returns the id of the listener that stands for the session itself, which is registered if there is none yet.
fn own_listener(
    subscriptions: &Arc<Subscriptions>,
    workspace: &Arc<Workspace>,
    session: &Session,
    peer: &Peer<RoleServer>,
) -> u64 {
    let mut registrations = session.registrations();
    if let Some(own) = &registrations.own {
        return own.id();
    }
    let registration = subscriptions.register(workspace, session, BTreeMap::new(), ListWish::None);
    let id = registration.id();
    registrations.own = Some(registration);
    subscriptions.send_in_background(id, peer);
    id
}

/// Returns the part of a filter that is accepted, and begins to gather changes for the request that will listen with
/// it. rmcp calls it on the thread that serves all clients, so it looks at twice as many URIs as can be accepted, and looks few
/// edits up.
pub(crate) fn accept(
    subscriptions: &Arc<Subscriptions>,
    workspace: &Arc<Workspace>,
    session: &Session,
    asked: &SubscriptionFilter,
) -> SubscriptionFilter {
    // Over HTTP, a request of 2026 stands alone.
    let is_lasting = *session.owner() == Owner::Process;
    let room = subscriptions.state.lock().room(session);
    let uris = asked.resource_subscriptions.iter().flatten().take(2 * room);
    let mut edits = 0;
    let mut is_looked_at = |uri: &&String| {
        let is_edit = matches!(uri::understood(workspace, uri), Ok(Uri::Edit(_)));
        edits += usize::from(is_edit);
        !is_edit || edits <= EDITS_LOOKED_UP
    };
    let subjects: BTreeMap<String, Subject> = uris
        .filter(|uri| is_looked_at(uri))
        .filter_map(|uri| Some((uri.clone(), subject(workspace, is_lasting, uri, false).ok()?)))
        .take(room)
        .collect();
    let list = if asked.resources_list_changed == Some(true) { ListWish::Active } else { ListWish::None };
    let mut accepted = SubscriptionFilter::default();
    accepted.resources_list_changed = (list == ListWish::Active).then_some(true);
    if !subjects.is_empty() {
        let uris = asked.resource_subscriptions.iter().flatten();
        accepted.resource_subscriptions =
            Some(uris.filter(|uri| subjects.contains_key(*uri)).cloned().collect());
    }
    let registration = subscriptions.register(workspace, session, subjects, list);
    subscriptions.arrange(workspace);
    let forgotten = {
        let waiting = &mut session.registrations().accepted;
        waiting.push_back((accepted.clone(), registration));
        if waiting.len() > ACCEPTED_REQUESTS { waiting.pop_front() } else { None }
    };
    // The oldest registration belongs to a client that went before its request began to listen.
    drop(forgotten);
    accepted
}

/// Sends notifications to the client of an accepted request until the request ends.
pub(crate) async fn listen(subscriptions: &Arc<Subscriptions>, session: &Session, sink: &SubscriptionSink) {
    let registration = {
        let mut registrations = session.registrations();
        let accepted = registrations.accepted.iter().position(|(filter, _)| filter == sink.accepted());
        accepted.and_then(|at| registrations.accepted.remove(at)).map(|(_, registration)| registration)
    };
    if let Some(registration) = registration {
        subscriptions.send_until_end(registration.id(), &Client::Listen(sink.clone())).await;
    }
}

/// Has listeners notified of these events.
pub(crate) fn follow(subscriptions: &Arc<Subscriptions>, events: &Events) {
    let weak = Arc::downgrade(subscriptions);
    events.on_written(move |number| {
        if let Some(subscriptions) = weak.upgrade() {
            subscriptions.state.lock().set_newest_event(number);
        }
    });
}

/// Returns what this URI stands for, if it can be subscribed to. What somebody had subscribed to before may be gone: a file that
/// comes again is told of, and no edit is looked up, none of which ever changes.
fn subject(
    workspace: &Workspace,
    is_lasting: bool,
    uri: &str,
    may_be_gone: bool,
) -> Result<Subject, ErrorData> {
    let unknown = || uri::unknown(workspace, uri);
    match uri::understood(workspace, uri)? {
        Uri::File(path) => {
            let path = workspace.roots().admit(&path).map_err(|_| unknown())?;
            if path.place.missing > 0 && !may_be_gone {
                return Err(unknown());
            }
            Ok(Subject::File(path.absolute(), path.name))
        }
        Uri::Skill | Uri::Review => Ok(Subject::Fixed),
        Uri::History => Ok(Subject::History),
        Uri::Diagnostics => Ok(Subject::Diagnostics),
        Uri::Readings if is_lasting => Ok(Subject::Readings),
        Uri::Session if is_lasting => Ok(Subject::Session),
        Uri::Readings | Uri::Session => Err(unknown()),
        Uri::Events(_) => Ok(Subject::Events),
        Uri::Edit(_) if may_be_gone => Ok(Subject::Fixed),
        Uri::Edit(id) => {
            let edited = workspace.past_edits().find(&id, "").map_err(|_| unknown())?;
            edited.diff.map(|_| Subject::Fixed).ok_or_else(unknown)
        }
    }
}

impl Subscriptions {
    /// Creates the subscriptions of a workspace, whose edits they observe.
    pub(crate) fn for_workspace(workspace: &Workspace) -> Arc<Self> {
        Self::with_patience(workspace, remarks::LOOK_PATIENCE)
    }

    fn with_patience(workspace: &Workspace, looking: Duration) -> Arc<Self> {
        let subscriptions = Arc::new(Self { looking, ..Self::default() });
        let roots = workspace.roots().all();
        let prefix = |name: &str| if roots.len() == 1 { String::new() } else { format!("{name}:") };
        subscriptions.state.lock().roots =
            roots.iter().map(|root| (root.path.clone(), prefix(&root.name))).collect();
        let weak = Arc::downgrade(&subscriptions);
        workspace.on_commit(move |committed| {
            if let Some(subscriptions) = weak.upgrade() {
                subscriptions.state.lock().record_edit(committed.report);
            }
        });
        subscriptions
    }

    fn register(
        self: &Arc<Self>,
        workspace: &Arc<Workspace>,
        session: &Session,
        subjects: BTreeMap<String, Subject>,
        list: ListWish,
    ) -> Registration {
        let mut state = self.state.lock();
        state.last_id += 1;
        let id = state.last_id;
        let (unsent, wake) = (Unsent::default(), Arc::new(Notify::new()));
        let readings = Arc::clone(session.readings());
        let listener = Listener { readings, subjects, list, unsent, wake, remarks: None };
        state.listeners.insert(id, listener);
        let (subscriptions, workspace) = (Arc::clone(self), Arc::clone(workspace));
        Registration::new(id, move || subscriptions.forget(id, &workspace))
    }

    /// Removes a listener.
    fn forget(self: &Arc<Self>, id: u64, workspace: &Arc<Workspace>) {
        let forgotten = self.state.lock().listeners.remove(&id);
        if let Some(listener) = forgotten {
            listener.wake.notify_one();
        }
        self.arrange_later(workspace);
    }

    /// Sends the listener of a session its notifications as long as there is one.
    fn send_in_background(self: &Arc<Self>, id: u64, peer: &Peer<RoleServer>) {
        let (subscriptions, client) = (Arc::clone(self), Client::Session(peer.clone()));
        // The task holds neither the session nor the registration, and so ends with them.
        tokio::spawn(async move { subscriptions.send_until_end(id, &client).await });
    }

    /// Returns what wakes the sender of a listener, as long as there is one.
    fn wake_of(&self, id: u64) -> Option<Arc<Notify>> {
        self.state.lock().listeners.get(&id).map(|listener| Arc::clone(&listener.wake))
    }

    /// Sends a listener its notifications until it is removed or its client is gone.
    async fn send_until_end(&self, id: u64, client: &Client) {
        let Some(wake) = self.wake_of(id) else { return };
        loop {
            let unsent = match self.state.lock().listeners.get_mut(&id) {
                Some(listener) => std::mem::take(&mut listener.unsent),
                None => return,
            };
            if client.send(unsent).await.is_err() {
                return;
            }
            wake.notified().await;
        }
    }

    /// Arranges the watched folders anew after a call, if it may have made a difference: the session may have read more
    /// files and have subscribed to its readings, or the call has made the first edit and so the history. Blocks.
    pub(crate) fn after_call(self: &Arc<Self>, workspace: &Arc<Workspace>, session: &Session) {
        let listens = self.state.lock().listeners.values().any(|listener| {
            Arc::ptr_eq(&listener.readings, session.readings()) && listener.wants(&Subject::Readings)
        });
        if listens || self.state.lock().has_unwatched_logs() {
            self.arrange(workspace);
        }
    }

    /// Notifies the listeners that the diagnostics of language servers have changed.
    pub(crate) fn notify_diagnostics(&self) {
        self.state.lock().notify(&Subject::Diagnostics, DIAGNOSTICS);
    }

    /// Has `observer` called with the watched files that other programs have changed. Only the first observer is kept.
    pub(crate) fn on_outside_change(&self, observer: impl Fn(&[PathBuf]) + Send + Sync + 'static) {
        let _ = self.outside.0.set(Box::new(observer));
    }

    /// Notifies the listeners that a session counts one more outcome of an edit tool.
    pub(crate) fn notify_tally(&self, session: &Session) {
        self.state.lock().notify_tally(session);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use emend_workspace::{RootSpec, disk};

    use crate::watch::Hints;

    pub(super) struct Served {
        pub(super) folder: tempfile::TempDir,
        pub(super) workspace: Arc<Workspace>,
        pub(super) subscriptions: Arc<Subscriptions>,
        pub(super) session: Session,
    }

    pub(super) fn served(files: &[&str]) -> Served {
        let folder = tempfile::tempdir().unwrap();
        files.iter().for_each(|file| std::fs::write(folder.path().join(file), "one\n").unwrap());
        let roots = [RootSpec { name: None, path: folder.path().into() }];
        let workspace = Arc::new(Workspace::open(disk::for_this_machine(), &roots, None).unwrap());
        // With unlimited patience, the test does not depend on how busy the machine is.
        let subscriptions = Subscriptions::with_patience(&workspace, Duration::MAX);
        Served { folder, workspace, subscriptions, session: Session::new(Owner::Process) }
    }

    impl Served {
        fn uri(&self, file: &str) -> String {
            crate::uri::for_file(&self.folder.path().canonicalize().unwrap().join(file))
        }

        /// Has the session listen to these files, and returns the id of the listener.
        fn listen(&self, files: &[&str]) -> u64 {
            let uris = files.iter().map(|file| self.uri(file));
            let asked = SubscriptionFilter::builder().resource_subscriptions(uris).resources_list_changed();
            accept(&self.subscriptions, &self.workspace, &self.session, &asked.build());
            self.subscriptions.state.lock().last_id
        }

        pub(super) fn look(&self, hints: &Hints) {
            self.subscriptions.look(&self.workspace, hints);
        }

        fn take(&self, id: u64) -> (Vec<String>, bool) {
            let mut state = self.subscriptions.state.lock();
            let unsent = std::mem::take(&mut state.listeners.get_mut(&id).unwrap().unsent);
            (unsent.updated.into_iter().collect(), unsent.list)
        }

        /// Waits until the system's events so far have arrived, so that the test does not race with them.
        fn settle(&self) {
            *self.subscriptions.watch.lock() = None;
        }
    }

    #[test]
    fn what_the_system_lost_is_found_by_looking_at_everything() {
        let served = served(&["a", "b"]);
        let id = served.listen(&["a", "b"]);
        served.settle();
        let all = |lost| Hints { all: true, lost, ..Hints::default() };
        served.look(&all(false));
        served.take(id);
        std::fs::write(served.folder.path().join("b"), "two\n").unwrap();
        served.look(&all(true));
        assert_eq!(served.take(id), (vec![served.uri("b")], true));
        served.look(&all(false));
        assert_eq!(served.take(id), (Vec::new(), false));
        std::fs::write(served.folder.path().join("c"), "new\n").unwrap();
        served.look(&all(false));
        assert_eq!(served.take(id), (Vec::new(), true));
    }

    #[test]
    fn who_does_not_take_what_it_is_told_gathers_no_more_than_it_has_subscribed_to() {
        let served = served(&["a", "b"]);
        let (slow, other) = (served.listen(&["a"]), served.listen(&["a", "b"]));
        served.settle();
        for number in 0..1_000 {
            for file in ["a", "b"] {
                std::fs::write(served.folder.path().join(file), format!("{number}")).unwrap();
            }
            served.look(&Hints { all: true, ..Hints::default() });
            assert_eq!(served.take(other).0.len(), 2);
        }
        assert_eq!(served.take(slow), (vec![served.uri("a")], false));
    }

    #[test]
    fn with_the_session_its_listeners_end_and_nothing_is_watched_any_more() {
        let served = served(&["a"]);
        served.listen(&["a"]);
        let watch = served.subscriptions.watch.lock();
        assert!(watch.is_some());
        // Ending a session waits for nobody, even while folders are being arranged.
        drop(served.session);
        assert!(served.subscriptions.state.lock().listeners.is_empty());
        drop(watch);
        let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while served.subscriptions.watch.lock().is_some() {
            assert!(std::time::Instant::now() < until, "it is watched on");
            std::thread::yield_now();
        }
        let state = served.subscriptions.state.lock();
        assert!(state.files.is_empty() && state.watched.is_empty());
    }

    #[test]
    fn listen_requests_that_never_run_do_not_pile_up() {
        let served = served(&["a"]);
        for _ in 0..100 {
            served.listen(&["a"]);
        }
        assert_eq!(served.subscriptions.state.lock().listeners.len(), ACCEPTED_REQUESTS);
    }
}
