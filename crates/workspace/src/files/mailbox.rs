//! The mailbox of a client: messages about earlier edits and calls, for its next answer.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use emend_threads::Mutex;

/// The number of messages kept for one topic. If a client never comes back, the oldest are dropped.
const WAITING: usize = 20;

/// The topic of a message. An answer has them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// An earlier call, and the language servers' diagnostics of its edit.
    Calls,
    /// The findings of the syntax guard.
    Syntax,
    /// The hooks that failed.
    Hooks,
}

/// The messages that wait for a client's next answer. Clones share the same mailbox.
#[derive(Clone, Default)]
pub struct Mailbox(Arc<Mutex<BTreeMap<Topic, VecDeque<Message>>>>);

/// A function that returns the message once it is known.
type Message = Box<dyn FnMut() -> Option<Vec<String>> + Send>;

impl Mailbox {
    /// Posts a message for the next answer.
    pub fn post(&self, topic: Topic, text: String) {
        self.post_once_known(topic, move || Some(vec![text.clone()]));
    }

    /// Posts a message for the first answer after `message` returns it.
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

    /// Takes the known messages. An unknown one holds back later messages on the same topic, to keep their order.
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
