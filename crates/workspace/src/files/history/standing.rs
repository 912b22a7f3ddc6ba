//! Judging a past edit by its files as they are now: whether what it did still stands. It decides whether a call that is
//! sent again is answered with the first outcome.

use std::sync::Arc;

use emend_edit::standing::Standing;
use emend_edit::{Text, Version, diff};

use super::record::{FileMark, Origin, Record, RecordedFile};
use super::{Edited, History};
use crate::files::commit::journal::Change;
use crate::files::roots::Roots;
use crate::files::snapshot::{self, Snapshot};
use crate::files::trail::Trail;
use crate::problem::{Kind, Problem};

/// An edit that an earlier call made, which was the same, and which still stands.
#[derive(Clone, Debug)]
pub struct Repeat {
    /// The tool of the call that is repeated.
    pub tool: String,
    /// The edit.
    pub edited: Edited,
    /// Its files with the versions that they have by now.
    pub versions: Vec<(String, Option<Version>)>,
}

/// An edit of the past, judged by its files as they are now.
pub(crate) struct JudgedEdit {
    pub(crate) standing: Standing,
    /// Whether its files are as it left them, so that nothing was made of them since.
    pub(crate) is_untouched: bool,
    /// The first file of which it is unclear whether the edit still stands.
    pub(crate) unclear: Option<String>,
    /// Its files with the versions that they have by now.
    versions: Vec<(String, Option<Version>)>,
}

impl History<'_> {
    /// Judges an edit by its files as they are now. The policy is asked about each file again.
    pub(crate) fn judge(&self, roots: &Roots, record: &Record) -> Result<JudgedEdit, Problem> {
        let id = &record.id;
        if !record.files.iter().all(|file| self.may_show(file)) {
            let rule = "a file of this edit, which is not named here, is off limits by now".into();
            return Err(Problem::new(Kind::PathForbidden { rule }));
        }
        let (mut standing, mut unclear, mut versions) = (None, None, Vec::new());
        let mut is_untouched = true;
        for file in &record.files {
            let now = self.now(roots, &file.entry.path)?;
            is_untouched &= now.as_ref().is_some_and(|now| {
                file.left.is_some_and(|left| Some(left) == FileMark::from_stat(&now.stat))
                    && file.entry.is_after(&now.text.version())
            });
            let mut own = self.standing(roots, record, file, now.as_ref())?;
            if own == Standing::Stands && now.as_ref().is_some_and(|now| !self.is_as_left(record, file, now))
            {
                // Another program may have put the same there for reasons of its own.
                own = Standing::Unclear;
            }
            if own == Standing::Unclear {
                unclear = unclear.or_else(|| Some(self.name(file)));
            }
            standing = Some(standing.map_or(own, |others: Standing| others.and(own)));
            versions.push((self.name(file), now.map(|now| now.text.version())));
        }
        let mut standing = standing.unwrap_or(Standing::IsGone);
        if self.undone.contains_key(id) && standing == Standing::Unclear {
            standing = Standing::IsGone;
        }
        let unclear = unclear.or_else(|| versions.first().map(|(name, _)| name.clone()));
        Ok(JudgedEdit { standing, is_untouched, unclear, versions })
    }

    /// Returns what there is to tell of an edit that still stands.
    pub(crate) fn repeat(&self, record: &Record, judged: JudgedEdit, origin: &Origin) -> Repeat {
        let edited = self.edit(&record.id, &origin.session);
        let edited = edited.unwrap_or_else(|| self.edited(record, &origin.session));
        Repeat { tool: origin.tool.clone(), edited, versions: judged.versions }
    }

    fn now(&self, roots: &Roots, trail: &Trail) -> Result<Option<Snapshot>, Problem> {
        snapshot::read(self.disk, &roots.admit_beneath(&self.root, trail)?)
    }

    fn standing(
        &self,
        roots: &Roots,
        record: &Record,
        file: &RecordedFile,
        now: Option<&Snapshot>,
    ) -> Result<Standing, Problem> {
        let entry = &file.entry;
        let Some(now) = now else {
            let is_deleted = entry.change == Change::Delete;
            return Ok(if is_deleted { Standing::Stands } else { Standing::IsGone });
        };
        if entry.change == Change::Delete {
            return Ok(Standing::IsGone);
        }
        if let Some(from) = &entry.from
            && self.now(roots, from)?.is_some()
        {
            return Ok(Standing::IsGone);
        }
        let version = now.text.version();
        if entry.base != entry.after {
            if entry.is_after(&version) {
                return Ok(Standing::Stands);
            }
            if entry.is_base(&version) {
                return Ok(Standing::IsGone);
            }
        } else if entry.from.is_some() {
            // It only got another name, which it has.
            return Ok(Standing::Stands);
        } else {
            return Ok(Standing::IsGone);
        }
        let Some(before) = self.before(file) else { return Ok(Standing::Unclear) };
        let Some(after) = self.after(record, file, Some(&before)) else { return Ok(Standing::Unclear) };
        Ok(Standing::of_edit(&before, &after, &now.text))
    }

    /// Whether no other program has written the file since the newest edit of it. After a crash that is not known, and
    /// taken to be so.
    fn is_as_left(&self, record: &Record, file: &RecordedFile, now: &Snapshot) -> bool {
        let newer = self.records.iter().rev().take_while(|newer| newer.id != record.id);
        let mut files = newer.flat_map(|newer| newer.files.iter().rev());
        let newest = files.find(|newer| newer.entry.path == file.entry.path).unwrap_or(file);
        newest.left.is_none_or(|left| Some(left) == FileMark::from_stat(&now.stat))
    }

    /// What the file held before the edit.
    pub(super) fn before(&self, file: &RecordedFile) -> Option<Arc<Text>> {
        match &file.entry.base {
            None => Text::new(Vec::new()).ok().map(Arc::new),
            Some(base) => self.kept(file).ok().map(|(_, text)| text).or_else(|| self.content(base)),
        }
    }

    /// What the edit made of the file: a later edit displaced it, or the recorded diff leads to it.
    pub(super) fn after(
        &self,
        record: &Record,
        file: &RecordedFile,
        before: Option<&Text>,
    ) -> Option<Arc<Text>> {
        self.content(file.entry.after.as_deref()?).or_else(|| {
            // The diff of several files says nothing of one.
            let [_] = &record.files[..] else { return None };
            let after = Text::new(diff::apply(before?.raw(), &self.diff(&record.id)?)?).ok()?;
            file.entry.is_after(&after.version()).then(|| Arc::new(after))
        })
    }
}
