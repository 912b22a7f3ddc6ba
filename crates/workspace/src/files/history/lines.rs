//! What the history says of lines: which edits led from an older version of a file to the one that it has.

use std::sync::Arc;

use emend_edit::follow::LineMap;
use emend_edit::{Text, Version};

use super::History;

impl History<'_> {
    /// Returns what each edit between these versions of a file did to its lines, oldest first. Nothing, if something else
    /// changed the file between them or it is not known exactly what an edit did.
    pub(crate) fn edits_since(&self, name: &str, claimed: &str, now: &Version) -> Option<Vec<LineMap>> {
        let (mut name, mut version) = (name.to_owned(), now.hex());
        let mut maps = Vec::new();
        for record in self.records.iter().rev() {
            let made = |file: &&super::RecordedFile| {
                file.entry.after.as_ref() == Some(&version) && self.name(file) == name && self.may_show(file)
            };
            let Some(file) = record.files.iter().find(made) else { continue };
            maps.push(file.lines.as_ref()?.map()?);
            version = file.entry.base.clone()?;
            if Version::is_prefix(claimed, &version) {
                maps.reverse();
                return Some(maps);
            }
            name = self.old_name(file).unwrap_or(name);
        }
        None
    }

    /// Returns the content of a version of a file that a caller names, if a later edit displaced it.
    pub(crate) fn named_content(&self, name: &str, claimed: &str) -> Option<Arc<Text>> {
        let files = self.records.iter().flat_map(|record| &record.files);
        let has_it = |file: &&super::RecordedFile| {
            let is_it = |base: &String| Version::is_prefix(claimed, base);
            let is_of_file = self.old_name(file).unwrap_or_else(|| self.name(file)) == name;
            is_of_file
                && file.entry.base.as_ref().is_some_and(is_it)
                && file.kept.is_some()
                && self.may_show(file)
        };
        files.filter(has_it).find_map(|file| self.kept(file).ok()).map(|(_, text)| text)
    }
}
