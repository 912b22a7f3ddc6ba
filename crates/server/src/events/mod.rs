//! Events: every outcome of an edit tool, success or refusal, as a line of JSON in the user's event log, which other
//! programs can follow. `docs/EVENTS.md` describes a line.
//!
//! Publishing delays no edit and fails none: an event is put into a bounded queue, and a thread writes it. Events that
//! do not fit or cannot be written are counted, and the next event says how many were lost. A root whose policy
//! disables events has none, and neither has a refusal that may quote a file of such a root.

mod event;
mod listed;
mod queue;
mod tally;

use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::json;

use emend_workspace::Workspace;
use emend_workspace::roots::Root;

use self::event::{Event, EventRoot, Kind};
use self::queue::{OnWritten, Queue, Queued};
use crate::server_diagnostics::DiagnosticsReport;
use crate::wire::Outcome;

pub(crate) use self::event::Summary;
pub use self::event::summary_line;
pub(crate) use self::listed::list;
pub(crate) use self::tally::Tally;

/// The name of the event among the side effects in an edit's answer.
pub(crate) const SIDE_EFFECT: &str = "event";
/// The most bytes of an event; a longer one is shortened.
const LONGEST_EVENT: usize = 1024 * 1024;
/// The time that the process waits at its end for events that are not written yet.
const END_PATIENCE: Duration = Duration::from_secs(2);

/// The publisher of this process's events. A cheap handle: when the last one is dropped, the queued events are still
/// written, as long as that takes little time.
#[derive(Clone, Debug, Default)]
pub struct Events(Option<Arc<Publisher>>);

#[derive(Debug)]
struct Publisher {
    roots: Vec<KnownRoot>,
    queue: Queue,
}

/// A root of the workspace, and whether its policy enables events.
#[derive(Debug)]
struct KnownRoot {
    root: EventRoot,
    has_events: bool,
}

/// The client, session and tool that caused an event.
#[derive(Clone, Copy, Debug)]
pub struct Cause<'a> {
    /// The client's own name.
    pub client: &'a str,
    /// The name of its session in the history.
    pub session: &'a str,
    /// The name of the tool.
    pub tool: &'a str,
}

impl Events {
    /// Creates the publisher of a workspace's events; it publishes none where the policy disables them.
    #[must_use]
    pub fn new(workspace: &Workspace) -> Self {
        if !are_enabled(workspace) {
            return Self::default();
        }
        let Some(log) = workspace.event_log() else {
            tracing::warn!("no events are written: there is no state folder; name one with --state-dir");
            return Self::default();
        };
        let roots = workspace.roots().all();
        let known = |root: &Arc<Root>| KnownRoot {
            root: EventRoot {
                name: (roots.len() > 1).then(|| root.name.clone()),
                path: root.path.to_string_lossy().into_owned(),
            },
            has_events: root.policy.terms().emit_event,
        };
        Self(Some(Arc::new(Publisher { roots: roots.iter().map(known).collect(), queue: Queue::new(log) })))
    }

    /// Returns whether there are any events.
    pub(crate) fn are_written(&self) -> bool {
        self.0.is_some()
    }

    /// Has `observer` called with the number of each event that was written, on the thread that writes them. It is dropped
    /// once none will be written any more.
    pub(crate) fn on_written(&self, observer: impl Fn(u64) + Send + Sync + 'static) {
        if let Some(publisher) = &self.0 {
            publisher.queue.on_written(OnWritten(Box::new(observer)));
        }
    }

    /// Publishes the outcome of an edit tool, and names the event of an edit among its side effects. Returns whether
    /// the event was queued.
    pub(crate) fn publish_outcome(&self, cause: Cause<'_>, outcome: &mut Outcome) -> bool {
        let Some(publisher) = &self.0 else { return false };
        let kind = Kind::from_outcome(outcome);
        if kind == Kind::Edit {
            outcome.side_effects_fired.push(SIDE_EFFECT.to_owned());
        }
        let queued = publisher
            .emit(kind, Some(cause), &file_names(outcome), |event| event.outcome = Some(outcome.clone()));
        if !queued && kind == Kind::Edit {
            outcome.side_effects_fired.pop();
        }
        queued
    }

    /// Publishes diagnostics that came too late for the outcome of an edit. Returns whether the event was queued.
    pub(crate) fn publish_diagnostics(
        &self,
        edit: &str,
        files: &[String],
        servers: &[DiagnosticsReport],
    ) -> bool {
        let Some(publisher) = &self.0 else { return false };
        let names: Vec<&str> = files.iter().map(String::as_str).collect();
        let diagnostics = json!({"edit": edit, "changed_files": files, "servers": servers});
        publisher.emit(Kind::Diagnostics, None, &names, |event| event.diagnostics = Some(diagnostics))
    }

    /// Returns a weak handle, for a holder that must not delay the end of the process.
    pub(crate) fn downgrade(&self) -> impl Fn() -> Self + use<> {
        let publisher = self.0.as_ref().map(Arc::downgrade);
        move || Self(publisher.as_ref().and_then(Weak::upgrade))
    }

    /// Publishes the end of a session with its counts.
    pub(crate) fn publish_session_end(&self, client: &str, session: &str, summary: &Summary) {
        if let Some(publisher) = &self.0 {
            let cause = Cause { client, session, tool: "" };
            let files: Vec<&str> = summary.changed_files.iter().map(String::as_str).collect();
            publisher.emit(Kind::Session, Some(cause), &files, |event| event.summary = Some(summary.clone()));
        }
    }
}

/// Returns whether any root of this workspace has events.
pub(crate) fn are_enabled(workspace: &Workspace) -> bool {
    workspace.roots().any(|terms| terms.emit_event)
}

impl Publisher {
    /// Queues an event about these files. Returns whether it was queued.
    fn emit(
        &self,
        kind: Kind,
        cause: Option<Cause<'_>>,
        files: &[&str],
        fill: impl FnOnce(&mut Event),
    ) -> bool {
        let about = self.roots_concerned(files);
        if !about.iter().all(|known| known.has_events) {
            return false;
        }
        let mut event = Event::new(kind, cause, about.iter().map(|known| known.root.clone()).collect());
        fill(&mut event);
        let mut text = event.text();
        if text.len() > LONGEST_EVENT {
            event.shorten();
            text = event.text();
        }
        let session = cause.map(|cause| cause.session.to_owned());
        self.queue.push(Queued { text, session, ends_session: kind == Kind::Session, lost: 0 })
    }

    /// Returns the roots of these files; all roots where a file's root is unknown.
    fn roots_concerned(&self, files: &[&str]) -> Vec<&KnownRoot> {
        let is_of = |file: &str, known: &KnownRoot| match &known.root.name {
            Some(name) => file.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with(':')),
            None => true,
        };
        let mut about: Vec<&KnownRoot> =
            self.roots.iter().filter(|known| files.iter().any(|file| is_of(file, known))).collect();
        if !files.iter().all(|file| about.iter().any(|known| is_of(file, known))) || files.is_empty() {
            about = self.roots.iter().collect();
        }
        about
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        self.queue.end(END_PATIENCE);
    }
}

/// Returns the files that an outcome names.
fn file_names(outcome: &Outcome) -> Vec<&str> {
    let moved = outcome.files.iter().flatten().filter_map(|file| file.moved_from.as_deref());
    let changed = outcome.changed_files.iter().map(String::as_str);
    // A problem without a file may concern any root.
    let problems =
        outcome.problems.iter().flatten().map(|problem| problem.path.as_deref().unwrap_or_default());
    changed.chain(moved).chain(problems).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use emend_workspace::event_log::{EventLog, Position};
    use emend_workspace::{Policy, RootSpec, Settings, disk};
    use serde_json::Value;

    struct Served {
        folder: tempfile::TempDir,
        events: Events,
    }

    impl Served {
        /// Creates the events of a workspace with these roots, of which the closed ones have none.
        fn new(roots: &[(&str, bool)]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let specs = roots.iter().map(|(name, is_told)| {
                let path = folder.path().join(name);
                std::fs::create_dir(&path).unwrap();
                std::fs::write(path.join(".emend.toml"), format!("emit_event = {is_told}\n")).unwrap();
                RootSpec { name: Some((*name).to_owned()), path }
            });
            let policy = Policy::new(&Settings { emit_event: Some(true), ..Settings::default() }).unwrap();
            let (specs, state) = (specs.collect::<Vec<_>>(), folder.path().join("state"));
            let workspace =
                Workspace::open_with_policy(disk::for_this_machine(), &specs, Some(state), &policy);
            let events = Events::new(&workspace.unwrap());
            Self { folder, events }
        }

        fn log(&self) -> EventLog {
            EventLog::in_state(&self.folder.path().join("state"))
        }

        /// Waits until all events are written, and returns them.
        fn written(self) -> Vec<Value> {
            let log = self.log();
            drop(self.events);
            let mut written = Vec::new();
            let take = |line: emend_workspace::event_log::Line| {
                written.push(serde_json::from_str(&line.text).unwrap());
                true
            };
            log.read(&mut Position::default(), take).unwrap();
            written
        }
    }

    const CAUSE: Cause<'_> = Cause { client: "ann", session: "1-a", tool: "write_file" };

    fn edit(files: &[&str]) -> Outcome {
        let changed_files = files.iter().map(|file| (*file).to_owned()).collect();
        Outcome { edit: Some("1".into()), changed_files, ..Outcome::default() }
    }

    #[test]
    fn an_event_is_told_only_if_every_root_that_it_may_be_about_wants_that() {
        let served = Served::new(&[("open", true), ("other", true), ("closed", false)]);
        let is_told = |files: &[&str]| served.events.publish_outcome(CAUSE, &mut edit(files));
        assert!(is_told(&["open:a"]));
        assert!(is_told(&["open:a", "other:b"]));
        for about_all in
            [&[][..], &["a"], &["open:a", "a"], &["openly:a"], &["closed:a"], &["open:a", "closed:b"]]
        {
            assert!(!is_told(about_all), "{about_all:?}");
        }
        let of_servers =
            |files: &[&str]| served.events.publish_diagnostics("1", &edit(files).changed_files, &[]);
        assert!(of_servers(&["other:a"]));
        assert!(!of_servers(&["closed:a"]));
        let names = |event: &Value| {
            event["roots"].as_array().unwrap().iter().map(|root| root["name"].clone()).collect()
        };
        let written: Vec<Vec<Value>> = served.written().iter().map(names).collect();
        assert_eq!(written, [vec!["open"], vec!["open", "other"], vec!["other"]]);
        let served = Served::new(&[("closed", false)]);
        assert!(!served.events.publish_outcome(CAUSE, &mut edit(&["a"])));
    }

    #[test]
    fn an_edit_says_that_it_is_an_event_and_nothing_else_does() {
        let served = Served::new(&[("open", true)]);
        let mut outcome = edit(&["a"]);
        served.events.publish_outcome(CAUSE, &mut outcome);
        assert_eq!(outcome.side_effects_fired, [SIDE_EFFECT]);
        let mut refused = Outcome::failure(&[]);
        served.events.publish_outcome(CAUSE, &mut refused);
        assert_eq!(refused.side_effects_fired, [""; 0]);
        assert_eq!(served.written()[0]["outcome"]["side_effects_fired"], serde_json::json!([SIDE_EFFECT]));
    }

    #[test]
    fn what_is_too_long_is_cut_and_still_says_what_happened() {
        let served = Served::new(&[("open", true)]);
        let mut long = Outcome { diff: "+x\n".repeat(LONGEST_EVENT), ..edit(&["a"]) };
        assert!(served.events.publish_outcome(CAUSE, &mut long));
        let written = served.written();
        assert_eq!((&written[0]["cut"], &written[0]["outcome"]["diff"]), (&Value::Bool(true), &"".into()));
        assert_eq!(written[0]["outcome"]["changed_files"][0], "a");
    }

    #[test]
    fn what_does_not_fit_is_counted_and_nobody_waits() {
        let served = Served::new(&[("open", true)]);
        let log = served.log();
        log.make().unwrap();
        let held = std::fs::File::create(log.file()).unwrap();
        // The writing thread now waits for this lock.
        held.lock().unwrap();
        let queued = (0..3_000).filter(|_| served.events.publish_outcome(CAUSE, &mut edit(&["a"]))).count();
        // The limit, and perhaps the event that the thread has taken.
        assert!((1_000..=1_001).contains(&queued), "{queued}");
        held.unlock().unwrap();
        let until = std::time::Instant::now() + Duration::from_secs(60);
        while log.newest().unwrap() < queued as u64 {
            assert!(std::time::Instant::now() < until, "they are not written");
            std::thread::yield_now();
        }
        assert!(served.events.publish_outcome(CAUSE, &mut edit(&["a"])));
        let written = served.written();
        assert_eq!(written.len(), queued + 1);
        // If the thread took its event late, one more was queued after the first losses and reports them.
        let lost: u64 = written.iter().filter_map(|event| event["lost"].as_u64()).sum();
        assert_eq!(lost, 3_000 - queued as u64);
        assert!(written[queued]["lost"].as_u64() > Some(0));
    }
}
