//! Line addresses: collects what planning needs to follow lines of older versions, which is the definitions that the
//! request names and the changes from each such version to the current file.

use std::collections::{BTreeMap, BTreeSet};

use emend_edit::Version;
use emend_edit::patch::{Patch, Section};
use emend_edit::plan::Since;

use crate::edits::context::EditContext;
use crate::edits::gather::{ClaimedVersions, Gathered};
use crate::edits::readings::Readings;
use crate::edits::vault_access::VaultAccess;
use crate::files::effort::{Effort, NotDone};
use crate::files::history::History;
use crate::files::note::Note;
use crate::files::report::short_diff;
use crate::files::roots::{Roots, WorkspacePath};
use crate::files::snapshot::Snapshot;
use crate::files::symbols;
use crate::problem::Problem;

impl Gathered {
    /// Traces the versions whose line numbers the request gives. A current one counts as named by the call; the files of
    /// the others are returned.
    ///
    /// Edits in the history are known exactly. Only if something else changed the file, its contents are compared.
    pub(crate) fn trace_numbers(
        &mut self,
        (roots, vaults): (&Roots, &VaultAccess),
        patch: &Patch,
        claimed: &mut ClaimedVersions,
        context: &EditContext<'_>,
    ) -> Result<BTreeSet<String>, NotDone<Vec<Problem>>> {
        let mut older = BTreeSet::new();
        let mut found = Vec::new();
        for (written, version) in patch.numbered_versions() {
            let Some(name) = self.names.get(written) else { continue };
            let Some((path, Some(snapshot))) = self.files.get(name) else { continue };
            let now = snapshot.text.version();
            if now.is_named_by(version) {
                claimed.entry(name.clone()).or_insert_with(|| version.to_owned());
                continue;
            }
            older.insert(name.clone());
            let since = self.since((roots, vaults), path, name, version, &now, context)?;
            found.extend(since.map(|since| (name.clone(), version.to_owned(), since)));
        }
        let mut read = Vec::new();
        for written in patch.hinted_paths() {
            let Some(name) = self.names.get(written).filter(|name| !claimed.contains_key(*name)) else {
                continue;
            };
            let Some((path, Some(snapshot))) = self.files.get(name) else { continue };
            let now = snapshot.text.version();
            let read_version = match context.readings.lock().of(name) {
                Some(reading) if reading.is_change_only() => {
                    read.push((name.clone(), None));
                    continue;
                }
                // Only the client's own edits are between. Of another's change, the stale check decides.
                Some(reading) if reading.version == now && reading.read_version != now => {
                    reading.read_version
                }
                _ => continue,
            };
            let version = read_version.hex();
            let since = self.since((roots, vaults), path, name, &version, &now, context)?;
            found.extend(since.map(|since| (name.clone(), version.clone(), since)));
            read.push((name.clone(), Some(version)));
        }
        for (name, version) in read {
            let source = self.sources.file(&name);
            source.is_renumbered |= version.is_none();
            source.read = version;
        }
        for (name, version, since) in found {
            self.sources.file(&name).since.insert(version, since);
        }
        if context.effort == Effort::Quick && patch.has_sketch() {
            return Err(NotDone::NotQuick);
        }
        self.sources.places = Some(symbols::places);
        self.find_symbols((roots, vaults), patch, context)?;
        Ok(older)
    }

    /// Returns how a file came from a version to this one, if that is known.
    fn since(
        &self,
        (roots, vaults): (&Roots, &VaultAccess),
        path: &WorkspacePath,
        name: &str,
        version: &str,
        now: &Version,
        context: &EditContext<'_>,
    ) -> Result<Option<Since>, NotDone<Vec<Problem>>> {
        let edits = |history: &History<'_>| history.edits_since(name, version, now).map(Since::Edits);
        if let Some(since) = vaults.end_of_history(roots, &path.root).and_then(|end| edits(&end)) {
            return Ok(Some(since));
        }
        if context.effort == Effort::Quick {
            return Err(NotDone::NotQuick);
        }
        // A history that cannot be read tells nothing.
        let history = vaults.history(roots, &path.root).ok().flatten();
        let content = || context.readings.lock().named_content(name, version);
        let kept = || history.as_ref()?.named_content(name, version);
        Ok((history.as_ref().and_then(edits)).or_else(|| content().or_else(kept).map(Since::Content)))
    }

    /// Finds the definitions that the request names, each in the content of the version that it names. Where that is not
    /// known, planning finds out.
    fn find_symbols(
        &mut self,
        (roots, vaults): (&Roots, &VaultAccess),
        patch: &Patch,
        context: &EditContext<'_>,
    ) -> Result<(), NotDone<Vec<Problem>>> {
        let mut found = Vec::new();
        // The content of each version with its outline, which costs more than all of the names that are looked for in it.
        let mut outlined = BTreeMap::new();
        for (written, version, asked) in patch.symbols() {
            context.check_wanted()?;
            let Some(name) = self.names.get(written) else { continue };
            let Some((path, Some(snapshot))) = self.files.get(name) else { continue };
            if context.effort == Effort::Quick {
                return Err(NotDone::NotQuick);
            }
            let current = || Some(&snapshot.text).filter(|text| text.version().is_named_by(version)).cloned();
            let read = || context.readings.lock().named_content(name, version);
            // A history that cannot be read tells nothing.
            let kept = || vaults.history(roots, &path.root).ok()??.named_content(name, version);
            let known = outlined.entry((name, version)).or_insert_with(|| {
                let text = current().or_else(read).or_else(kept)?;
                let outline = symbols::outline(name, &text);
                Some((text, outline))
            });
            let Some((text, outline)) = known else { continue };
            found.push((
                name.clone(),
                version.to_owned(),
                asked.clone(),
                symbols::place(outline, text, asked),
            ));
        }
        self.sources.ends_in_definition = Some(symbols::ends_in_definition);
        for (name, version, asked, place) in found {
            self.sources.file(&name).symbols.insert((version, asked), place);
        }
        Ok(())
    }

    /// Returns whether the request changes this file by line numbers of a version alone.
    pub(crate) fn is_numbered(&self, patch: &Patch, name: &str) -> bool {
        let is_it = |written: &str| self.names.get(written).is_some_and(|other| other == name);
        let mut sections = patch.sections().iter().filter(|section| section.paths().any(is_it)).peekable();
        sections.peek().is_some() && sections.all(Section::is_numbered)
    }

    /// Returns the note on what changed in a file since its client read it, where an edit follows older line numbers in it,
    /// and whether that shows the change.
    pub(crate) fn change_note(&self, name: &str, readings: &Readings) -> Option<(Note, bool)> {
        let (_, now) = self.files.get(name)?;
        let now: &Snapshot = now.as_ref()?;
        readings.of(name).filter(|reading| reading.version != now.text.version())?;
        let file = name.to_owned();
        Some(match readings.older(name, now) {
            Some(older) => {
                let diff = short_diff(name, &older, &now.text);
                (Note::ChangedElsewhere { file, diff }, true)
            }
            None => (Note::ChangedUnseen { file }, false),
        })
    }
}
