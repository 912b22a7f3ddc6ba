//! The versions of files of which a client knows the line numbers, with their contents: a call may name one of them
//! though the file has changed since, and its lines are followed from that content.

use std::collections::VecDeque;
use std::sync::Arc;

use emend_edit::{Text, Version};

use crate::edits::contents::Remembered;

/// The number of bytes of content that are remembered; the oldest is forgotten first.
const BYTES: usize = 16 * 1024 * 1024;
/// The number of versions that are remembered.
const VERSIONS: usize = 256;
/// The number of versions of one file: a client that edits it again and again forgets no other file by that, and what
/// its edits displaced is in the history too.
const VERSIONS_OF_A_FILE: usize = 8;

/// The versions of which a client knows the line numbers, oldest first.
#[derive(Debug, Default)]
pub(crate) struct NumberedVersions(VecDeque<NumberedVersion>);

#[derive(Debug)]
struct NumberedVersion {
    file: Box<str>,
    version: Version,
    content: Remembered,
}

impl NumberedVersions {
    /// Remembers the content of a version, unless it was too large.
    pub(crate) fn remember(&mut self, name: &str, version: Version, content: Option<&Remembered>) {
        let Some(content) = content else { return };
        self.0.retain(|known| *known.file != *name || known.version != version);
        let is_of_file = |known: &NumberedVersion| *known.file == *name;
        if self.0.iter().filter(|known| is_of_file(known)).count() >= VERSIONS_OF_A_FILE
            && let Some(oldest) = self.0.iter().position(is_of_file)
        {
            self.0.remove(oldest);
        }
        self.0.push_back(NumberedVersion { file: name.into(), version, content: content.clone() });
        while self.0.len() > VERSIONS || self.bytes() > BYTES {
            self.0.pop_front();
        }
    }

    /// Records that a file has another name.
    pub(crate) fn moved(&mut self, from: &str, to: &str) {
        for known in self.0.iter_mut().filter(|known| *known.file == *from) {
            known.file = to.into();
        }
    }

    /// Returns the content of the version that a call names, if it is still remembered.
    pub(crate) fn content(&self, name: &str, claimed: &str) -> Option<Arc<Text>> {
        let mut known = self.0.iter().rev();
        known.find(|known| *known.file == *name && known.version.is_named_by(claimed))?.content.text()
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(|known| known.content.bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::contents::Contents;

    #[test]
    fn the_oldest_versions_are_forgotten_first_and_a_moved_file_keeps_its_own() {
        let contents = Arc::new(Contents::default());
        let text = |content: String| Arc::new(Text::new(content.into_bytes()).unwrap());
        let mut numbered = NumberedVersions::default();
        let all: Vec<_> = (0..=VERSIONS).map(|at| text(format!("{at}\n"))).collect();
        let remember = |numbered: &mut NumberedVersions, name: &str, at: usize| {
            numbered.remember(name, all[at].version(), Remembered::of(&all[at], &contents).as_ref());
        };
        let content = |numbered: &NumberedVersions, name: &str, at: usize| {
            numbered.content(name, &all[at].version().short()).map(|text| text.bytes().to_vec())
        };
        remember(&mut numbered, "other", 0);
        (0..=VERSIONS_OF_A_FILE).for_each(|at| remember(&mut numbered, "a", at));
        assert_eq!(content(&numbered, "a", 0), None);
        assert_eq!(content(&numbered, "a", 1).unwrap(), b"1\n");
        assert_eq!(content(&numbered, "other", 0).unwrap(), b"0\n", "it is not pushed out by another file");
        numbered.moved("a", "b");
        assert_eq!(
            (content(&numbered, "a", 1), content(&numbered, "b", 1).unwrap()),
            (None, b"1\n".to_vec())
        );
        (0..VERSIONS).for_each(|at| remember(&mut numbered, &format!("{at}"), at));
        assert_eq!((numbered.0.len(), content(&numbered, "b", 1)), (VERSIONS, None));
        for at in 0..40 {
            let large = text(format!("{at:07}\n").repeat(1 << 16));
            let content = Remembered::of(&large, &contents);
            numbered.remember(&format!("large {at}"), large.version(), content.as_ref());
        }
        assert!(numbered.bytes() > 12 << 20, "they are kept as long as there is room");
        assert!(numbered.bytes() <= BYTES && content(&numbered, "255", 255).is_none());
    }
}
