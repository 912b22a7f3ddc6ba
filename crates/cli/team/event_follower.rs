//! The events of one log on their way to a stream of the engine.
//!
//! The log is the queue: what is in it and not in the stream is sent, by whichever server, as often as it takes. The stream
//! itself says how far it got, since the id of each entry has the number of its event; and it takes entries only behind the
//! one that the sender knows as the last. So after an outage, a crash or a takeover nothing is left out and nothing is there
//! twice, and an engine that has forgotten everything gets the newest events again.

use std::time::SystemTime;

use emend_replicas::{EngineError, Entry, EntryId, Last, Streams};
use emend_workspace::event_log::{EventLog, Line, Position};

/// The number of events that are sent at once, and of their bytes: while the engine takes them, it answers nobody else.
const EVENTS: usize = 128;
const BYTES: usize = 256 * 1024;

/// A log, and what the engine has of it.
pub(super) struct Follower {
    log: EventLog,
    stream: String,
    /// How many events the engine keeps.
    kept: u64,
    /// Where the engine is, once it was asked.
    at: Option<Standing>,
    /// What was read and perhaps not sent.
    unsent: Vec<Entry>,
    /// The newest run that it knows of. An engine that has forgotten it must not get an older one.
    run: u64,
}

/// Where the engine is.
struct Standing {
    /// The last entry that was appended to it.
    last: Option<EntryId>,
    /// The run and the number of the last event that was read.
    read: EntryId,
    position: Position,
}

impl Follower {
    pub(super) fn new(log: EventLog, stream: &str, kept: u64) -> Self {
        Self { log, stream: stream.to_owned(), kept, at: None, unsent: Vec::new(), run: 0 }
    }

    /// Sends some of what the engine does not have. Returns whether there may be more.
    pub(super) fn send_some(&mut self, streams: &dyn Streams) -> Result<bool, EngineError> {
        let at = match &mut self.at {
            Some(at) => at,
            None => {
                let found = self.ask(streams)?;
                self.at.insert(found)
            }
        };
        if self.unsent.is_empty() {
            match at.read_some(&self.log) {
                Ok(read) => self.unsent = read,
                Err(error) => {
                    // It is behind lines that nobody has sent.
                    self.at = None;
                    return Err(error);
                }
            }
        }
        let Some(newest) = self.unsent.last() else { return Ok(false) };
        self.run = newest.id.run;
        let appended = streams.append(&self.stream, at.last, &self.unsent, self.kept);
        match &appended {
            Ok(true) => at.last = Some(newest.id),
            // Whether it was sent is not known; if it was, the engine does not take it again.
            Err(EngineError::Silent(_)) => return appended,
            // Another server has sent some of it, or the engine has lost what it had, or does not take this.
            Ok(false) | Err(EngineError::Strange(_)) => self.at = None,
        }
        self.unsent.clear();
        appended.map(|_| true)
    }

    /// Asks the engine anew if it is not where it was.
    pub(super) fn check(&mut self, streams: &dyn Streams) -> Result<(), EngineError> {
        if let Some(at) = &self.at
            && self.unsent.is_empty()
            && !streams.append(&self.stream, at.last, &[], self.kept)?
        {
            self.at = None;
        }
        Ok(())
    }

    /// Asks the engine where it is, and finds the place in the log.
    fn ask(&mut self, streams: &dyn Streams) -> Result<Standing, EngineError> {
        let Some(Last { id: last, text }) = streams.last(&self.stream)? else { return self.anew(None) };
        self.run = self.run.max(last.run);
        let mut position = Position::after(last.number.saturating_sub(1));
        let mut found = None;
        let take = |line: Line| {
            found = Some(line);
            false
        };
        self.log.read(&mut position, take).map_err(|error| unreadable(&error))?;
        match found {
            Some(line) if line.number == last.number && text.is_none_or(|text| line.text == text) => {}
            // The log does not reach back so far.
            Some(line) if line.number > last.number => position = Position::after(last.number),
            // This is another log than the one that was sent, or it has lost its end and gives these numbers again.
            _ => return self.anew(Some(last)),
        }
        Ok(Standing { last: Some(last), read: EntryId { run: self.run, ..last }, position })
    }

    /// Begins anew, with as many events as the engine keeps.
    fn anew(&self, last: Option<EntryId>) -> Result<Standing, EngineError> {
        let newest = self.log.newest().map_err(|error| unreadable(&error))?;
        let number = newest.saturating_sub(self.kept);
        let run = run_after(self.run);
        Ok(Standing { last, read: EntryId { run, number }, position: Position::after(number) })
    }
}

impl Standing {
    /// Reads the next events.
    fn read_some(&mut self, log: &EventLog) -> Result<Vec<Entry>, EngineError> {
        let (mut entries, mut bytes) = (Vec::new(), 0);
        let read = &mut self.read;
        let take = |line: Line| {
            // The numbers of a log that was removed begin anew.
            let run = if line.number > read.number { read.run } else { run_after(read.run) };
            *read = EntryId { run, number: line.number };
            bytes += line.text.len();
            entries.push(Entry { id: *read, text: line.text });
            entries.len() < EVENTS && bytes < BYTES
        };
        log.read(&mut self.position, take).map_err(|error| unreadable(&error))?;
        Ok(entries)
    }
}

/// Returns a run that comes after this one, and after all that an engine had before it forgot them.
fn run_after(run: u64) -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX).max(run.saturating_add(1))
}

fn unreadable(error: &std::io::Error) -> EngineError {
    EngineError::Strange(format!("the log of events cannot be read: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use emend_replicas::Memory;
    use std::sync::atomic::AtomicBool;
    use std::sync::atomic::Ordering::Relaxed;

    const KEPT: u64 = 50;

    struct Scene {
        state: tempfile::TempDir,
        log: EventLog,
        engine: Memory,
    }

    fn line(number: u64) -> String {
        format!("{{\"version\":1,\"event\":{number}}}")
    }

    impl Scene {
        fn new() -> Self {
            let state = tempfile::tempdir().unwrap();
            Self { log: EventLog::in_state(state.path()), state, engine: Memory::default() }
        }

        fn write(&mut self, times: usize) {
            for _ in 0..times {
                self.log.append(line).unwrap();
            }
        }

        fn follower(&self) -> Follower {
            Follower::new(EventLog::in_state(self.state.path()), "red", KEPT)
        }

        /// Returns the numbers in the stream, whose ids grow and whose texts are the lines of the log.
        fn numbers(&self) -> Vec<u64> {
            let entries = self.engine.entries("red");
            assert!(entries.is_sorted_by(|one, next| one.id < next.id), "{entries:?}");
            assert!(entries.iter().all(|entry| entry.text == line(entry.id.number)), "{entries:?}");
            entries.iter().map(|entry| entry.id.number).collect()
        }

        fn runs(&self) -> usize {
            let mut runs: Vec<u64> = self.engine.entries("red").iter().map(|entry| entry.id.run).collect();
            runs.dedup();
            runs.len()
        }

        fn send(&self, follower: &mut Follower) {
            while follower.send_some(&self.engine).unwrap() {}
        }
    }

    fn upto(newest: u64) -> Vec<u64> {
        (1..=newest).collect()
    }

    #[test]
    fn whoever_sends_leaves_nothing_out_and_adds_nothing_twice() {
        let mut scene = Scene::new();
        let [mut one, mut other] = [scene.follower(), scene.follower()];
        scene.send(&mut one);
        assert_eq!(scene.numbers(), [0; 0]);
        scene.write(3);
        for follower in [&mut one, &mut other] {
            scene.send(follower);
            assert_eq!(scene.numbers(), upto(3));
        }
        // Each of both believes to know where the engine is.
        for _ in 0..3 {
            scene.write(2);
            scene.send(&mut one);
            scene.write(1);
            scene.send(&mut other);
        }
        assert_eq!(scene.numbers(), upto(12));
        // Who comes anew goes on as well.
        scene.write(2);
        scene.send(&mut scene.follower());
        assert_eq!((scene.numbers(), scene.runs()), (upto(14), 1));
    }

    #[test]
    fn what_was_written_while_the_engine_was_silent_is_sent_later() {
        let mut scene = Scene::new();
        let mut follower = scene.follower();
        scene.write(2);
        scene.send(&mut follower);
        scene.engine.be_silent(true);
        scene.write(3);
        for _ in 0..2 {
            assert!(follower.send_some(&scene.engine).is_err());
        }
        scene.engine.be_silent(false);
        scene.send(&mut follower);
        assert_eq!((scene.numbers(), scene.runs()), (upto(5), 1));
    }

    #[test]
    fn an_engine_that_comes_back_empty_gets_what_it_keeps_under_higher_ids() {
        let mut scene = Scene::new();
        let mut follower = scene.follower();
        scene.write(KEPT as usize + 3);
        scene.send(&mut follower);
        let before = scene.engine.entries("red");
        scene.engine.start_again();
        // Without a new event, only a look shows it.
        assert!(!follower.send_some(&scene.engine).unwrap());
        follower.check(&scene.engine).unwrap();
        scene.send(&mut follower);
        assert_eq!(scene.numbers(), (4..=KEPT + 3).collect::<Vec<_>>());
        assert!(scene.engine.entries("red")[0].id > before[before.len() - 1].id);
        // And with one, this does.
        scene.engine.start_again();
        scene.write(1);
        scene.send(&mut follower);
        assert_eq!(scene.numbers(), (5..=KEPT + 4).collect::<Vec<_>>());
    }

    #[test]
    fn a_log_that_begins_anew_is_a_new_run() {
        for is_known in [true, false] {
            for again in [2, 5, 7] {
                let mut scene = Scene::new();
                let mut follower = scene.follower();
                scene.write(5);
                scene.send(&mut follower);
                let folder = scene.log.file();
                std::fs::remove_dir_all(folder.parent().unwrap()).unwrap();
                scene.log = EventLog::in_state(scene.state.path());
                // Not the same lines as before.
                let other = |number| format!("{{\"version\":1,\"event\":{number},\"is\":\"other\"}}");
                for _ in 0..again {
                    scene.log.append(other).unwrap();
                }
                if !is_known {
                    follower = scene.follower();
                }
                scene.send(&mut follower);
                let entries = scene.engine.entries("red");
                let numbers: Vec<u64> = entries.iter().map(|entry| entry.id.number).collect();
                let all: Vec<u64> = (1..=5).chain(1..=again).collect();
                // Who has followed it sees the higher numbers alone, once there are as many.
                let expected = if is_known && again >= 5 { upto(again) } else { all };
                assert_eq!(numbers, expected, "{is_known} {again}");
            }
        }
    }

    #[test]
    fn what_a_reader_deletes_is_not_sent_again_and_stops_nothing() {
        for only_newest in [true, false] {
            let mut scene = Scene::new();
            let mut follower = scene.follower();
            scene.write(5);
            scene.send(&mut follower);
            let deletes = || scene.engine.delete_but("red", |entry| only_newest && entry.id.number < 5);
            deletes();
            let stays: Vec<u64> = if only_newest { upto(4) } else { Vec::new() };
            for mut follower in [follower, scene.follower()] {
                follower.check(&scene.engine).unwrap();
                scene.send(&mut follower);
                assert_eq!(scene.numbers(), stays);
            }
            scene.write(2);
            scene.send(&mut scene.follower());
            assert_eq!(scene.numbers(), [stays, vec![6, 7]].concat());
            assert_eq!(scene.runs(), 1);
        }
    }

    #[test]
    fn a_log_that_has_lost_its_last_line_sends_what_is_kept_and_the_line_that_takes_its_number() {
        for lines in [KEPT + 10, 1] {
            let mut scene = Scene::new();
            scene.write(lines as usize);
            scene.send(&mut scene.follower());
            let file = scene.log.file();
            let written = std::fs::read_to_string(&file).unwrap();
            std::fs::write(&file, written.replace(&(line(lines) + "\n"), "")).unwrap();
            scene.log = EventLog::in_state(scene.state.path());
            let before = scene.engine.entries("red").len();
            let mut follower = scene.follower();
            // It asks before the number is given again.
            assert_eq!(follower.send_some(&scene.engine).unwrap(), lines > 1);
            let other = |number| format!("{{\"version\":1,\"event\":{number},\"is\":\"other\"}}");
            assert_eq!(scene.log.append(other).unwrap(), lines);
            scene.send(&mut follower);
            let entries = scene.engine.entries("red");
            assert!(entries.is_sorted_by(|one, next| one.id < next.id), "{entries:?}");
            assert_eq!(entries.last().unwrap().text, other(lines));
            let expected = if lines > 1 { KEPT as usize } else { before + 1 };
            assert_eq!(entries.len(), expected);
            let anew = entries.iter().filter(|entry| entry.id.run == entries[entries.len() - 1].id.run);
            let anew: Vec<u64> = anew.map(|entry| entry.id.number).collect();
            assert_eq!(anew, (lines.saturating_sub(KEPT - 1).max(1)..=lines).collect::<Vec<_>>());
        }
    }

    #[test]
    fn whoever_goes_on_with_a_run_begins_the_next_one_behind_it_whatever_the_clock_says() {
        let mut scene = Scene::new();
        scene.write(2);
        // A server whose clock is far ahead has sent this.
        let sent: Vec<Entry> = (1..=2)
            .map(|number| Entry { id: EntryId { run: u64::MAX / 2, number }, text: line(number) })
            .collect();
        assert!(scene.engine.append("red", None, &sent, KEPT).unwrap());
        let mut follower = scene.follower();
        scene.send(&mut follower);
        scene.engine.start_again();
        follower.check(&scene.engine).unwrap();
        scene.send(&mut follower);
        assert_eq!(scene.numbers(), upto(2));
        assert!(scene.engine.entries("red")[0].id > sent[1].id);
    }

    #[test]
    fn what_the_engine_refused_is_asked_for_anew() {
        /// An engine that takes no entries while that is so.
        struct Refusing<'a>(&'a Memory, AtomicBool);
        impl Streams for Refusing<'_> {
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
                if self.1.load(Relaxed) {
                    return Err(EngineError::Strange("it has no memory left".into()));
                }
                self.0.append(stream, after, entries, kept)
            }
        }
        let mut scene = Scene::new();
        scene.write(3);
        let mut follower = scene.follower();
        let engine = Refusing(&scene.engine, AtomicBool::new(true));
        for _ in 0..2 {
            assert!(follower.send_some(&engine).is_err());
            assert!(follower.at.is_none() && follower.unsent.is_empty());
        }
        engine.1.store(false, Relaxed);
        while follower.send_some(&engine).unwrap() {}
        assert_eq!((scene.numbers(), scene.runs()), (upto(3), 1));
    }

    #[test]
    fn what_the_log_has_lost_is_left_out() {
        let mut scene = Scene::new();
        scene.write(2);
        scene.send(&mut scene.follower());
        scene.log = EventLog::in_state(scene.state.path()).full_at(line(1).len() as u64 * 4);
        scene.write(20);
        scene.send(&mut scene.follower());
        let numbers = scene.numbers();
        assert!(
            numbers.starts_with(&[1, 2]) && numbers.ends_with(&[21, 22]) && numbers[2] > 3,
            "{numbers:?}"
        );
        assert_eq!(scene.runs(), 1);
    }
}
