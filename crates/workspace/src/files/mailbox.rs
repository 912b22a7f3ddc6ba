//! What becomes known of a client's edits and calls after these were answered, until its next answer tells it.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use emend_threads::Mutex;

/// How many messages about one topic wait. Those of a client that never comes back must not pile up: the oldest go.
const WAITING: usize = 20;

/// What a message is about. An answer tells them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// An earlier call, and what language servers say of its edit.
    Calls,
    /// What the syntax guard has found.
    Syntax,
    /// Hooks that failed.
    Hooks,
}

/// The messages that wait for a client's next answer. A handle: its clones are the same mailbox.
#[derive(Clone, Default)]
pub struct Mailbox(Arc<Mutex<BTreeMap<Topic, VecDeque<Message>>>>);

/// Says what it has to, once it knows.
type Message = Box<dyn FnMut() -> Option<Vec<String>> + Send>;

impl Mailbox {
    /// Has the next answer say this.
    pub fn post(&self, topic: Topic, text: String) {
        self.post_once_known(topic, move || Some(vec![text.clone()]));
    }

    /// Has the first answer say this that is made when it is known: from then on `message` yields it.
    pub fn post_once_known(
        &self,
        topic: Topic,
        message: impl FnMut() -> Option<Vec<String>> + Send + 'static,
    ) {
        let mut topics = self.0.lock();
        let waiting = topics.entry(topic).or_default();
        if waiting.len() == WAITING {
            waiting.pop_front();
        }
        waiting.push_back(Box::new(message));
    }

    /// Takes out what is known by now. What is not known yet keeps what was posted after it about the same topic waiting,
    /// so that they are told in order.
    #[must_use]
    pub fn drain(&self) -> Vec<String> {
        let mut texts = Vec::new();
        for waiting in self.0.lock().values_mut() {
            while let Some(known) = waiting.front_mut().and_then(|message| message()) {
                waiting.pop_front();
                texts.extend(known);
            }
        }
        texts
    }
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Mailbox(..)")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn messages_are_told_once_and_by_topic() {
        let mailbox = Mailbox::default();
        mailbox.post(Topic::Hooks, "c".into());
        mailbox.clone().post(Topic::Calls, "a".into());
        mailbox.post(Topic::Calls, "b".into());
        assert_eq!(mailbox.drain(), ["a", "b", "c"]);
        assert!(mailbox.drain().is_empty());
    }

    #[test]
    fn what_is_not_known_yet_is_told_later_and_in_its_order() {
        let mailbox = Mailbox::default();
        let (send, known) = mpsc::channel();
        mailbox.post_once_known(Topic::Syntax, move || known.try_recv().ok());
        mailbox.post(Topic::Syntax, "second".into());
        mailbox.post(Topic::Hooks, "hook".into());
        assert_eq!(mailbox.drain(), ["hook"]);
        send.send(vec!["first".to_owned()]).unwrap();
        assert_eq!(mailbox.drain(), ["first", "second"]);
    }

    #[test]
    fn of_more_than_anybody_will_read_the_newest_are_kept() {
        let mailbox = Mailbox::default();
        (0..=WAITING).for_each(|number| mailbox.post(Topic::Hooks, number.to_string()));
        let kept = mailbox.drain();
        assert_eq!((kept.len(), kept[0].as_str()), (WAITING, "1"));
    }
}
