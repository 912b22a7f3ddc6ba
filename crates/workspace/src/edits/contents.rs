//! The content of files that clients have read, once for all of them.
//!
//! A text that several have read is there once, by its version. All of it together is bounded: what was read longest ago
//! is forgotten first, and so that of sessions that nobody uses any more. What nobody has read any more is gone.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use emend_edit::{Text, Version};
use emend_threads::Mutex;

/// How much is remembered for all clients of a process.
const REMEMBERED: usize = 128 * 1024 * 1024;

/// The content of files that clients have read, once for all of them.
#[derive(Debug)]
pub struct Contents {
    most: usize,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    last: u64,
    bytes: usize,
    texts: HashMap<u64, SharedText>,
    /// Which of them has this version.
    versions: HashMap<Version, u64>,
    /// In the order in which they were read last.
    order: BTreeMap<u64, u64>,
}

/// A text.
#[derive(Debug)]
struct SharedText {
    text: Arc<Text>,
    /// How many readings have it.
    holders: usize,
    /// Its place in the order.
    read: u64,
}

/// A text that is remembered as long as there is room for it.
#[derive(Debug)]
pub(crate) struct Content {
    contents: Arc<Contents>,
    number: u64,
}

impl Default for Contents {
    fn default() -> Self {
        Self::bounded(REMEMBERED)
    }
}

impl Contents {
    /// So many bytes at most.
    pub(crate) fn bounded(most: usize) -> Self {
        Self { most, known: Mutex::default() }
    }

    /// Remembers a text that was read now.
    pub(crate) fn remember(self: &Arc<Self>, text: &Arc<Text>) -> Content {
        let mut known = self.known.lock();
        known.last += 1;
        let now = known.last;
        let number = *known.versions.entry(text.version()).or_insert(now);
        if number == now {
            known.bytes += text.footprint();
            known.texts.insert(number, SharedText { text: Arc::clone(text), holders: 0, read: now });
        }
        if let Some(shared) = known.texts.get_mut(&number) {
            shared.holders += 1;
            let before = std::mem::replace(&mut shared.read, now);
            known.order.remove(&before);
        }
        known.order.insert(now, number);
        while known.bytes > self.most
            && let Some((_, oldest)) = known.order.first_key_value()
        {
            let oldest = *oldest;
            known.forget(oldest);
        }
        Content { contents: Arc::clone(self), number }
    }
}

impl Known {
    fn forget(&mut self, number: u64) {
        if let Some(shared) = self.texts.remove(&number) {
            self.bytes -= shared.text.footprint();
            self.versions.remove(&shared.text.version());
            self.order.remove(&shared.read);
        }
    }
}

impl Content {
    /// The text, unless it was forgotten.
    pub(crate) fn text(&self) -> Option<Arc<Text>> {
        self.contents.known.lock().texts.get(&self.number).map(|shared| Arc::clone(&shared.text))
    }
}

impl Clone for Content {
    fn clone(&self) -> Self {
        if let Some(shared) = self.contents.known.lock().texts.get_mut(&self.number) {
            shared.holders += 1;
        }
        Self { contents: Arc::clone(&self.contents), number: self.number }
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        let mut known = self.contents.known.lock();
        let Some(shared) = known.texts.get_mut(&self.number) else { return };
        shared.holders -= 1;
        if shared.holders == 0 {
            known.forget(self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(content: &str) -> Arc<Text> {
        Arc::new(Text::new(content.into()).unwrap())
    }

    fn bytes(contents: &Contents) -> usize {
        let known = contents.known.lock();
        assert_eq!(known.texts.len(), known.order.len());
        assert_eq!(known.texts.len(), known.versions.len());
        known.bytes
    }

    #[test]
    fn a_text_is_there_once_for_all_who_read_it_and_goes_with_the_last() {
        let contents = Arc::new(Contents::bounded(100));
        let (first, second) = (contents.remember(&text("12345")), contents.remember(&text("12345")));
        assert_eq!(bytes(&contents), 5);
        assert!(Arc::ptr_eq(&first.text().unwrap(), &second.text().unwrap()));
        let third = second.clone();
        drop((first, second));
        assert_eq!(third.text().unwrap().raw(), b"12345");
        drop(third);
        assert_eq!(bytes(&contents), 0);
    }

    #[test]
    fn what_was_read_longest_ago_is_forgotten_first() {
        let contents = Arc::new(Contents::bounded(10));
        let read: Vec<Content> = ["11111", "22222", "11111", "33333"]
            .iter()
            .map(|content| contents.remember(&text(content)))
            .collect();
        let known: Vec<bool> = read.iter().map(|content| content.text().is_some()).collect();
        assert_eq!(known, [true, false, true, true]);
        assert_eq!(bytes(&contents), 10);
        // Read anew it is another one: who had it before does not count for it.
        let again = contents.remember(&text("22222"));
        drop(read);
        assert!(again.text().is_some());
        assert_eq!(bytes(&contents), 5);
        drop(again);
        assert_eq!(bytes(&contents), 0);
    }

    #[test]
    fn what_is_larger_than_all_of_it_is_not_remembered() {
        let contents = Arc::new(Contents::bounded(3));
        assert!(contents.remember(&text("12345")).text().is_none());
        assert_eq!(bytes(&contents), 0);
    }
}
