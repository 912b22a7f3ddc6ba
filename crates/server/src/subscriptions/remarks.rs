//! Notes in the answers of a session about files that were read in it and that somebody else has changed since.
//!
//! Usually the system has hinted at a file and it was looked at long before the answer, which only collects the notes.
//! Where hints were lost, or folders cannot be watched, the answer itself looks at what was read: a number of files, as
//! long as that takes little time, and the next answer goes on from there. A change is reported once, and not at all if
//! the client knows it by then.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use emend_workspace::edit::Version;
use emend_workspace::{Fingerprint, Stat, Workspace};

use super::Subscriptions;
use super::changes::Seen;
use super::state::{LARGE_FILE, ListWish, Listener};
use crate::session::Session;

/// The number of times that a file which keeps changing is looked at again.
const LOOKS_PER_FILE: usize = 2;
/// The time that one answer may spend looking at files.
pub(super) const LOOK_PATIENCE: Duration = Duration::from_millis(5);

impl Subscriptions {
    /// Returns the notes for an answer of this session about files that others have changed since they were read in it.
    /// Waits for nobody.
    pub(crate) fn remarks(self: &Arc<Self>, workspace: &Arc<Workspace>, session: &Session) -> Vec<String> {
        let arrivals = session.readings().lock().arrivals();
        if arrivals == 0 {
            return Vec::new();
        }
        let id = {
            let mut registrations = session.registrations();
            let register = || self.register(workspace, session, BTreeMap::new(), ListWish::None);
            registrations.answers.get_or_insert_with(register).id()
        };
        let is_partial = self.is_partial.load(Ordering::Acquire);
        let looks = {
            let mut state = self.state.lock();
            let Some(listener) = state.listeners.get_mut(&id) else { return Vec::new() };
            let remarks = listener.remarks.get_or_insert_default();
            if std::mem::replace(&mut remarks.arrivals, arrivals) != arrivals {
                self.arrange_later(workspace);
            }
            if remarks.is_silent() && !is_partial {
                return Vec::new();
            }
            is_partial || remarks.has_to_look()
        };
        if looks {
            self.look_at_read_files(workspace, id);
        }
        self.look_again(workspace, id, self.looking);
        let mut state = self.state.lock();
        state.listeners.get_mut(&id).map(Listener::take_notes).unwrap_or_default()
    }

    /// Looks at some or all of the files that a session has read, where hints about them may have been lost.
    fn look_at_read_files(self: &Arc<Self>, workspace: &Arc<Workspace>, id: u64) {
        let (files, ends) = match self.state.lock().listeners.get_mut(&id) {
            Some(listener) => listener.select_next_files(),
            None => return,
        };
        let is_known = |name: &str, read, stat| {
            let state = self.state.lock();
            let remarks = state.listeners.get(&id).and_then(|listener| listener.remarks.as_ref());
            remarks.is_some_and(|remarks| remarks.knows(name, read, stat))
        };
        let looked = look(workspace, files, self.looking, is_known);
        let mut state = self.state.lock();
        if !looked.large.is_empty() {
            state.doubt(looked.large);
            self.arrange_later(workspace);
        }
        if let Some(remarks) = state.listeners.get_mut(&id).and_then(|listener| listener.remarks.as_mut()) {
            remarks.end_look(looked.last, ends && looked.is_whole);
            for (name, read, stat, now) in looked.seen {
                remarks.record_sight_in_answer(&name, read, stat, now);
            }
        }
    }

    /// Looks again at the files that the next answer names and whose metadata has changed since the last look: a
    /// program that empties a file and then fills it may have been seen in between.
    fn look_again(&self, workspace: &Workspace, id: u64, patience: Duration) {
        let unreported = match self.state.lock().listeners.get(&id) {
            Some(listener) => listener.unreported(),
            None => return,
        };
        let begun = Instant::now();
        for (name, seen) in unreported {
            let may_look = begun.elapsed() <= patience;
            let now = look_unless_known(workspace, &name, &seen, may_look);
            let mut state = self.state.lock();
            if let Some(remarks) = state.listeners.get_mut(&id).and_then(|listener| listener.remarks.as_mut())
            {
                remarks.record_second_sight(&name, &seen, now);
            }
        }
    }
}

/// Returns the present state of a file that was last `seen` so; `None` where finding out takes too long for a client
/// that waits, since the file is large or keeps changing.
fn look_unless_known(workspace: &Workspace, name: &str, seen: &Seen, may_look: bool) -> Option<Seen> {
    let mut stat = workspace.files().stat(name);
    if stat == seen.stat && (stat.is_some() || seen.now == Fingerprint::Unreadable) {
        return Some(seen.clone());
    }
    for _ in 0..LOOKS_PER_FILE {
        if !may_look || stat.is_some_and(|stat| stat.size > LARGE_FILE) {
            return None;
        }
        let now = workspace.files().fingerprint(name);
        let after = workspace.files().stat(name);
        if after == stat {
            return Some(Seen { now, stat });
        }
        stat = after;
    }
    None
}

/// The result of a look at some files.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pub(super) seen: Vec<(String, Version, Option<Stat>, Fingerprint)>,
    /// The files that are too large to be read while a client waits.
    pub(super) large: Vec<String>,
    /// The last file that was looked at.
    pub(super) last: Option<String>,
    /// Whether there was time for all the files.
    pub(super) is_whole: bool,
}

/// Looks at these files as long as there is time: at their metadata, and at the content of those whose metadata differs
/// from when they were read.
pub(super) fn look(
    workspace: &Workspace,
    files: Vec<(String, Version, Stat)>,
    patience: Duration,
    mut is_known: impl FnMut(&str, Version, Option<Stat>) -> bool,
) -> Looked {
    let begun = Instant::now();
    let mut looked = Looked { is_whole: true, ..Looked::default() };
    for (name, version, read) in files {
        if looked.last.is_some() && begun.elapsed() > patience {
            looked.is_whole = false;
            break;
        }
        looked.last = Some(name.clone());
        let stat = workspace.files().stat(&name);
        if stat == Some(read) || is_known(&name, version, stat) {
            continue;
        }
        if stat.is_some_and(|stat| stat.size > LARGE_FILE) {
            looked.large.push(name);
            continue;
        }
        let now = workspace.files().fingerprint(&name);
        looked.seen.push((name, version, stat, now));
    }
    looked
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::super::tests::{Served, served};
    use super::*;
    use crate::watch::Hints;

    impl Served {
        /// Has the client read these files.
        fn read(&self, files: &[&str]) {
            for file in files {
                let (name, snapshot) = self.workspace.files().read(file).unwrap();
                self.session.readings().lock().saw(&name, &snapshot, 0..1, 1);
            }
        }

        /// Returns the notes of the next answer.
        fn remarks(&self) -> Vec<String> {
            self.subscriptions.remarks(&self.workspace, &self.session)
        }

        /// Returns the notes of a whole round of answers, until each file was looked at.
        fn round(&self) -> Vec<String> {
            let id = self.session.registrations().answers.as_ref().unwrap().id();
            let mut said = Vec::new();
            loop {
                said.extend(self.remarks());
                let state = self.subscriptions.state.lock();
                let remarks = state.listeners[&id].remarks.as_ref().unwrap();
                if remarks.looked_up_to.is_none() && !remarks.has_to_look() {
                    return said;
                }
            }
        }

        /// Reads these files until they are watched and were looked at after that, and ends the watching. What is
        /// written from then on is only found where the test has it looked at.
        fn read_unwatched(&self, files: &[&str]) {
            self.read(files);
            assert!(self.remarks().is_empty());
            self.wait_for_threads();
            assert!(self.subscriptions.watch.lock().take().is_some(), "it is not watched");
            self.wait_for_threads();
        }

        /// Waits until no thread arranges or looks any more: each holds a reference to the subscriptions while it does.
        fn wait_for_threads(&self) {
            let until = Instant::now() + Duration::from_secs(60);
            while Arc::strong_count(&self.subscriptions) > 2 {
                assert!(Instant::now() < until, "a thread does not end");
                thread::yield_now();
            }
        }

        /// Gives a hint at this file, as the system would.
        fn hint(&self, file: &str) {
            let path = self.folder.path().canonicalize().unwrap().join(file);
            self.look(&Hints { paths: BTreeMap::from([(path, false)]), ..Hints::default() });
        }

        fn write(&self, file: &str, content: &str) {
            std::fs::write(self.folder.path().join(file), content).unwrap();
        }
    }

    #[test]
    fn what_is_hinted_at_is_said_in_the_next_answer_and_once() {
        let served = served(&["a", "b", "c"]);
        served.read_unwatched(&["a", "b"]);
        let hint = |file: &str| served.hint(file);
        served.write("a", "two\n");
        served.write("c", "two\n");
        assert!(served.remarks().is_empty());
        ["a", "b", "c"].into_iter().for_each(hint);
        let [said] = &served.remarks()[..] else { panic!() };
        assert!(said.starts_with("a was changed"), "{said}");
        hint("a");
        assert!(served.remarks().is_empty());
        // A new change is reported again, but not the way back to the state that was read.
        served.write("a", "one\n");
        hint("a");
        assert!(served.remarks().is_empty());
        served.write("a", "two\n");
        hint("a");
        assert_eq!(served.remarks().len(), 1);
        std::fs::remove_file(served.folder.path().join("b")).unwrap();
        hint("b");
        let [said] = &served.remarks()[..] else { panic!() };
        assert!(said.starts_with("b, which you have read, is gone"), "{said}");
        // A client that has read the file in the meantime gets no note.
        served.write("a", "three\n");
        hint("a");
        served.read(&["a"]);
        assert!(served.remarks().is_empty());
    }

    #[test]
    fn a_file_that_changed_again_since_it_was_looked_at_is_at_the_version_that_it_has_now() {
        let served = served(&["a", "b", "c"]);
        served.read_unwatched(&["a", "b", "c"]);
        // Somebody empties a file and then fills it, and is looked at in between.
        served.write("a", "");
        served.hint("a");
        served.write("a", "two\n");
        let version = emend_workspace::edit::Version::hash(b"two\n");
        let [said] = &served.remarks()[..] else { panic!() };
        assert!(said.contains(&format!("it is at version {} now", version.short())), "{said}");
        served.hint("a");
        assert!(served.remarks().is_empty());
        // The file is back, and the other one is as it was read.
        std::fs::remove_file(served.folder.path().join("a")).unwrap();
        served.write("b", "");
        ["a", "b"].into_iter().for_each(|file| served.hint(file));
        served.write("a", "three\n");
        served.write("b", "one\n");
        let [said] = &served.remarks()[..] else { panic!() };
        assert!(said.starts_with("a was changed") && said.contains("version"), "{said}");
        // The file is gone by the second look.
        served.write("c", "two\n");
        served.hint("c");
        std::fs::remove_file(served.folder.path().join("c")).unwrap();
        let [said] = &served.remarks()[..] else { panic!() };
        assert!(said.starts_with("c, which you have read, is gone"), "{said}");
    }

    #[test]
    fn no_version_is_named_where_looking_again_takes_too_long() {
        let served = served(&["a", "large"]);
        served.read_unwatched(&["a", "large"]);
        let id = served.session.registrations().answers.as_ref().unwrap().id();
        for (file, text) in [("large", "x\n".repeat(LARGE_FILE as usize)), ("a", "two\n".into())] {
            served.write(file, "");
            served.hint(file);
            served.write(file, &text);
        }
        served.subscriptions.look_again(&served.workspace, id, Duration::ZERO);
        let mut state = served.subscriptions.state.lock();
        let said = state.listeners.get_mut(&id).unwrap().take_notes();
        let unsure = "was changed by somebody else since you read it. Read it again before you rely on it.";
        assert_eq!(said, [format!("a {unsure}"), format!("large {unsure}")]);
    }

    #[test]
    fn where_hints_were_lost_answers_look_at_everything_that_was_read_once() {
        let names: Vec<String> = (0..450).map(|number| format!("{number:03}")).collect();
        let files: Vec<&str> = names.iter().map(String::as_str).collect();
        let served = served(&files);
        served.read_unwatched(&files);
        for file in ["000", "250", "449"] {
            served.write(file, "two\n");
        }
        assert!(served.remarks().is_empty());
        served.look(&Hints { all: true, lost: true, ..Hints::default() });
        let said = served.round();
        assert_eq!(said.iter().map(|said| &said[..3]).collect::<Vec<_>>(), ["000", "250", "449"]);
        served.write("001", "two\n");
        assert!(served.remarks().is_empty());
    }

    #[test]
    fn where_folders_cannot_be_watched_each_answer_looks() {
        let served = served(&["a", "large"]);
        served.write("large", &"x\n".repeat(LARGE_FILE as usize));
        served.read_unwatched(&["a", "large"]);
        served.subscriptions.is_partial.store(true, Ordering::Release);
        assert!(served.round().is_empty());
        for text in ["two\n", "three\n"] {
            served.write("a", text);
            assert_eq!(served.round().len(), 1);
            assert!(served.round().is_empty());
        }
        // A file with other times but the same content has not changed.
        served.read(&["a"]);
        served.write("a", "three\n");
        assert!(served.round().is_empty());
        // A large file is read while nobody waits.
        served.write("large", &"y\n".repeat(LARGE_FILE as usize));
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            served.subscriptions.is_partial.store(true, Ordering::Release);
            match &served.remarks()[..] {
                [] => assert!(Instant::now() < until, "it is not said"),
                [said] => break assert!(said.starts_with("large was changed"), "{said}"),
                more => panic!("{more:?}"),
            }
        }
    }

    #[test]
    fn of_many_changes_an_answer_names_some_and_says_how_many_there_are() {
        let names: Vec<String> = (0..30).map(|number| format!("{number:03}")).collect();
        let files: Vec<&str> = names.iter().map(String::as_str).collect();
        let served = served(&files);
        served.read_unwatched(&files);
        files.iter().for_each(|file| served.write(file, "two\n"));
        served.look(&Hints { all: true, ..Hints::default() });
        let said = served.remarks();
        assert!(said.len() == 21 && said[20].starts_with("10 more files"), "{said:?}");
        assert!(served.remarks().is_empty());
    }
}
