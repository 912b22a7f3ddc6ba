//! The thread that sends events to the engine. The threads that write events to their logs only wake it, so an engine that
//! gives no answer holds up no event, no edit and no lease: it has a connection of its own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use emend_replicas::{EngineError, Streams};
use emend_server::Emend;
use emend_workspace::event_log::EventLog;

use super::event_follower::Follower;

/// How often all logs are looked at: other processes write to them, and the engine may have lost what it had.
const LOOK: Duration = Duration::from_secs(10);
/// How long an engine that gave no answer is not asked again.
const PAUSE: Duration = Duration::from_secs(1);
/// How many words are heard between two turns.
const WORDS: usize = 1_000;

/// The sender of events.
#[derive(Clone)]
pub(super) struct EventSender(Sender<Word>);

/// What the thread is told.
enum Word {
    /// Somebody writes to this log from now on.
    Begun(Arc<str>, EventLog),
    /// There is something new in it.
    Written(Arc<str>),
    /// They will not write any more.
    Over(Arc<str>),
    /// The server ends. It hears when everything is sent that can be.
    End(Sender<()>),
}

/// Somebody who writes to a log, until this is dropped.
struct Writer {
    stream: Arc<str>,
    sender: EventSender,
}

impl EventSender {
    /// Starts the thread.
    pub(super) fn start(streams: Arc<dyn Streams>, kept: u64) -> std::io::Result<Self> {
        let (tell, words) = mpsc::channel();
        let sending = Sending {
            streams,
            kept,
            logs: BTreeMap::new(),
            next_look: Instant::now() + LOOK,
            silent_until: None,
            broken_off: None,
        };
        thread::Builder::new().name("events to the engine".into()).spawn(move || sending.run(&words))?;
        Ok(Self(tell))
    }

    /// Sends what is in the log of a workspace and not yet in this stream, and each event that is written there, as long as
    /// the server is there. Where there are no events, nothing is sent.
    pub(super) fn follow(&self, stream: &str, emend: &Emend, log: Option<EventLog>) {
        let Some(log) = log.filter(|_| emend.has_events()) else { return };
        let stream: Arc<str> = stream.into();
        self.tell(Word::Begun(Arc::clone(&stream), log));
        let writer = Writer { stream, sender: self.clone() };
        emend.on_event_written(move |_| writer.sender.tell(Word::Written(Arc::clone(&writer.stream))));
    }

    /// Has everything sent that can be, and waits for that, but no longer than `patience`. What is left is sent by the server
    /// that opens the workspace next.
    pub(super) fn end(&self, patience: Duration) {
        let (tell, sent) = mpsc::channel();
        self.tell(Word::End(tell));
        if sent.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            tracing::warn!("the last events did not reach the engine in time; the next server sends them");
        }
    }

    fn tell(&self, word: Word) {
        // The thread may have ended already.
        let _ = self.0.send(word);
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.sender.tell(Word::Over(Arc::clone(&self.stream)));
    }
}

/// What the thread knows.
struct Sending {
    streams: Arc<dyn Streams>,
    kept: u64,
    logs: BTreeMap<Arc<str>, Log>,
    next_look: Instant,
    /// Until when the engine is not asked, if it gave no answer.
    silent_until: Option<Instant>,
    /// The stream at which the engine gave no answer last: it may be the only one for which it has none.
    broken_off: Option<Arc<str>>,
}

/// A log, and what is to be done about it.
struct Log {
    follower: Follower,
    /// How many write to it.
    writers: usize,
    /// Whether there may be something to send.
    is_due: bool,
    /// Whether the engine may not be where it was.
    is_unsure: bool,
    has_failed: bool,
}

impl Sending {
    fn run(mut self, words: &Receiver<Word>) {
        let mut ended = None;
        loop {
            match words.recv_timeout(self.patience()) {
                Ok(word) => ended = self.hear(word).or(ended),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            for word in words.try_iter().take(WORDS) {
                ended = self.hear(word).or(ended);
            }
            if self.silent_until.is_none_or(|until| until <= Instant::now()) {
                self.turn();
            }
            let can_send = self.silent_until.is_none() && self.logs.values().any(|log| log.is_due);
            if let Some(ended) = ended.take_if(|_| !can_send) {
                let _: Result<(), _> = ended.send(());
                return;
            }
        }
    }

    /// Returns how long nothing is to be done unless somebody says so.
    fn patience(&self) -> Duration {
        let until = match self.silent_until {
            Some(until) => until,
            None if self.logs.values().any(|log| log.is_due) => return Duration::ZERO,
            None => self.next_look,
        };
        until.saturating_duration_since(Instant::now())
    }

    /// Hears a word. Returns who waits for the end, if it is that.
    fn hear(&mut self, word: Word) -> Option<Sender<()>> {
        match word {
            Word::Begun(stream, log) => {
                let known = self.logs.entry(Arc::clone(&stream)).or_insert_with(|| Log {
                    follower: Follower::new(log, &stream, self.kept),
                    writers: 0,
                    is_due: true,
                    is_unsure: false,
                    has_failed: false,
                });
                known.writers += 1;
                known.is_due = true;
            }
            Word::Written(stream) => {
                if let Some(log) = self.logs.get_mut(&stream) {
                    log.is_due = true;
                }
            }
            Word::Over(stream) => {
                if let Some(log) = self.logs.get_mut(&stream) {
                    log.writers = log.writers.saturating_sub(1);
                    log.is_due = true;
                }
            }
            Word::End(tell) => {
                self.logs.values_mut().for_each(|log| log.is_due = true);
                return Some(tell);
            }
        }
        None
    }

    /// Sends some of each log where there is something to send, until the engine gives no answer. Begins behind the one at
    /// which that was so the last time.
    fn turn(&mut self) {
        let now = Instant::now();
        if now >= self.next_look {
            self.next_look = now + LOOK;
            self.logs.values_mut().for_each(|log| (log.is_due, log.is_unsure) = (true, true));
        }
        let mut silent = None;
        let mut due: Vec<_> = self.logs.iter_mut().filter(|(_, log)| log.is_due).collect();
        let begin = due.partition_point(|(stream, _)| Some(*stream) <= self.broken_off.as_ref());
        due.rotate_left(begin);
        for (stream, log) in due {
            match log.send_some(&*self.streams) {
                Ok(()) => {}
                Err(EngineError::Silent(why)) => {
                    self.broken_off = Some(Arc::clone(stream));
                    silent = Some(why);
                    break;
                }
                // The others can be sent. This is tried again with the next event, or the next look.
                Err(EngineError::Strange(why)) => {
                    if !std::mem::replace(&mut log.has_failed, true) {
                        tracing::warn!(tenant = %stream, %why, "events do not reach the engine");
                    }
                    log.is_due = false;
                }
            }
        }
        self.logs.retain(|_, log| log.writers > 0 || log.is_due);
        match silent {
            Some(why) => {
                if self.silent_until.is_none() {
                    tracing::warn!(%why, "the engine takes no events; it gets them once it does");
                }
                self.silent_until = Some(Instant::now() + PAUSE);
                // It may come back empty.
                self.logs.values_mut().for_each(|log| (log.is_due, log.is_unsure) = (true, true));
            }
            None if self.silent_until.take().is_some() => tracing::info!("the engine takes events again"),
            None => {}
        }
    }
}

impl Log {
    fn send_some(&mut self, streams: &dyn Streams) -> Result<(), EngineError> {
        if self.is_unsure {
            self.follower.check(streams)?;
            self.is_unsure = false;
        }
        self.is_due = self.follower.send_some(streams)?;
        self.has_failed = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use emend_replicas::{Entry, EntryId, Last, Memory};
    use emend_workspace::{Policy, RootSpec, Settings, Workspace, disk};

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn where_events_are_off_what_the_log_has_of_earlier_stays_there() {
        for is_on in [true, false] {
            let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let policy = Policy::new(&Settings { emit_event: Some(is_on), ..Settings::default() }).unwrap();
            let roots = [RootSpec { name: None, path: folder.path().to_owned() }];
            let own = Some(state.path().to_owned());
            let workspace = Workspace::open_with_policy(disk::for_this_machine(), &roots, own, &policy);
            let workspace = workspace.unwrap();
            let mut log = workspace.event_log().unwrap();
            log.append(|number| format!("{{\"event\":{number}}}")).unwrap();
            let engine = Arc::new(Memory::default());
            let sender = EventSender::start(engine.clone(), 1_000).unwrap();
            sender.follow("red", &Emend::new(Ok(workspace)), Some(log));
            sender.end(LONG);
            assert_eq!(engine.entries("red").len(), usize::from(is_on));
        }
    }

    #[test]
    fn a_server_that_ends_has_sent_everything_unless_the_engine_is_silent_and_the_next_one_sends_it_then() {
        let state = tempfile::tempdir().unwrap();
        let mut log = EventLog::in_state(state.path());
        let mut write = || log.append(|number| format!("{{\"event\":{number}}}")).unwrap();
        let engine = Arc::new(Memory::default());
        let serve = || {
            let sender = EventSender::start(engine.clone(), 1_000).unwrap();
            sender.tell(Word::Begun("red".into(), EventLog::in_state(state.path())));
            sender
        };
        let sent = || engine.entries("red").iter().map(|entry| entry.id.number).collect::<Vec<_>>();
        (0..400).for_each(|_| assert!(write() > 0));
        let sender = serve();
        sender.tell(Word::Over("red".into()));
        sender.end(LONG);
        assert_eq!(sent(), (1..=400).collect::<Vec<_>>());

        engine.be_silent(true);
        write();
        let begun = Instant::now();
        serve().end(LONG);
        assert!(begun.elapsed() < LONG / 2);
        engine.be_silent(false);
        assert_eq!(sent().len(), 400);

        serve().end(LONG);
        assert_eq!(sent(), (1..=401).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_written_is_sent_while_somebody_writes() {
        let state = tempfile::tempdir().unwrap();
        let mut log = EventLog::in_state(state.path());
        let engine = Arc::new(Memory::default());
        let sender = EventSender::start(engine.clone(), 1_000).unwrap();
        let streams = ["red", "blue"].map(Arc::<str>::from);
        for stream in &streams {
            sender.tell(Word::Begun(Arc::clone(stream), EventLog::in_state(state.path())));
        }
        for number in 1..=20 {
            log.append(|number| format!("{{\"event\":{number}}}")).unwrap();
            for stream in &streams {
                sender.tell(Word::Written(Arc::clone(stream)));
            }
            let until = Instant::now() + LONG;
            while streams.iter().any(|stream| engine.entries(stream).len() < number) {
                assert!(Instant::now() < until, "{number} is not sent");
                thread::yield_now();
            }
        }
    }

    #[test]
    fn a_log_for_which_the_engine_has_no_answer_holds_up_no_other() {
        /// An engine that is too slow for one stream.
        struct Slow(Memory);
        impl Streams for Slow {
            fn last(&self, stream: &str) -> Result<Option<Last>, EngineError> {
                self.0.last(stream)
            }
            fn append(
                &self,
                stream: &str,
                after: Option<EntryId>,
                entries: &[Entry],
                kept: u64,
            ) -> Result<bool, EngineError> {
                if stream == "blue" {
                    return Err(EngineError::Silent("it takes long".into()));
                }
                self.0.append(stream, after, entries, kept)
            }
        }
        let state = tempfile::tempdir().unwrap();
        let mut log = EventLog::in_state(state.path());
        log.append(|number| format!("{{\"event\":{number}}}")).unwrap();
        let engine = Arc::new(Slow(Memory::default()));
        let mut sending = Sending {
            streams: engine.clone(),
            kept: 10,
            logs: BTreeMap::new(),
            next_look: Instant::now() + LONG,
            silent_until: None,
            broken_off: None,
        };
        let streams = ["amber", "blue", "red", "white"];
        for stream in streams {
            assert!(sending.hear(Word::Begun(stream.into(), EventLog::in_state(state.path()))).is_none());
        }
        (0..2).for_each(|_| sending.turn());
        assert_eq!(streams.map(|stream| engine.0.entries(stream).len()), [1, 0, 1, 1]);
    }
}
