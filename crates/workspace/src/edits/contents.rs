//! The content of files that clients have read, shared by all of them.
//!
//! Each version of a text is stored once, however many clients have read it. The total size is bounded: the text read
//! longest ago is forgotten first, so those of idle sessions go. A text that no reading refers to is dropped.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use emend_edit::{Text, Version};
use emend_threads::Mutex;

/// The number of bytes remembered for all clients of a process.
const REMEMBERED: usize = 128 * 1024 * 1024;

/// The size up to which the content of a file is remembered, to show changes later.
pub(crate) const REMEMBERED_FILE: usize = 1024 * 1024;

/// The content of files that clients have read, shared by all of them.
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
    /// The number of the text with each version.
    versions: HashMap<Version, u64>,
    /// The texts by the time of their last reading.
    order: BTreeMap<u64, u64>,
}

/// A text with its references.
#[derive(Debug)]
struct SharedText {
    text: Arc<Text>,
    /// The number of readings that refer to it.
    holders: usize,
    /// Its key in `order`.
    read: u64,
}

/// A reference to a text that is remembered while there is room for it.
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
    /// Creates contents of at most `most` bytes.
    pub(crate) fn bounded(most: usize) -> Self {
        Self { most, known: Mutex::default() }
    }

    /// Remembers a text that was just read.
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
    /// Returns the text, unless it was forgotten.
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

/// The remembered content of a file, and the part of the client's share that it takes.
#[derive(Clone, Debug)]
pub(crate) struct Remembered {
    content: Content,
    pub(crate) bytes: usize,
}

impl Remembered {
    /// Remembers the text, unless it is too large.
    pub(crate) fn of(text: &Arc<Text>, contents: &Arc<Contents>) -> Option<Self> {
        let bytes = text.footprint();
        (bytes <= REMEMBERED_FILE).then(|| Self { content: contents.remember(text), bytes })
    }

    /// Returns the content, if there is still room for it.
    pub(crate) fn text(&self) -> Option<Arc<Text>> {
        self.content.text()
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
        // After it was forgotten, the same text is a new one; earlier references do not count for it.
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
