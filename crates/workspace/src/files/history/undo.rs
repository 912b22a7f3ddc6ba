//! Undo: which edit to undo, and what each of its files must be for that.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

use emend_edit::Text;
use emend_edit::plan::{self, Since, UndoneFile};

use super::record::{Record, RecordedFile};
use super::{History, ago, time_of, unknown};
use crate::files::commit::journal::Change;
use crate::files::report::short_diff;
use crate::files::roots::{Root, Roots, WorkspacePath};
use crate::files::snapshot::{self, Snapshot};
use crate::files::trail::Trail;
use crate::policy::OnChange;
use crate::problem::{Kind, NotUndone, Problem};

/// The choice of the edit to undo.
#[derive(Clone, Copy, Debug)]
pub struct Undo<'a> {
    /// The id of the edit; otherwise the newest edit of the session that is neither an undo nor undone.
    pub edit: Option<&'a str>,
    /// The file that the edit must have touched, by name.
    pub path: Option<&'a str>,
}

/// An edit that can be undone: the current and the former state of its files.
#[derive(Default)]
pub(crate) struct Undoable {
    pub(crate) back: Vec<UndoneFile>,
    pub(crate) files: BTreeMap<String, (WorkspacePath, Option<Snapshot>)>,
    /// The displaced files that give metadata to restored files, by the restored name.
    pub(crate) metadata_sources: BTreeMap<String, File>,
    /// The files that others changed elsewhere since, and how: those changes stay.
    pub(crate) merged: Vec<(String, String)>,
    /// The content of restored files whose name another file of the edit has taken.
    returns: BTreeMap<String, Arc<Text>>,
}

impl History<'_> {
    /// Returns the root of these edits.
    pub(crate) fn root(&self) -> &Arc<Root> {
        &self.root
    }

    /// Returns the id of the edit to undo; `None` if this root has none.
    ///
    /// Edits of other sessions are chosen only by id. No session of another process is certain to be the same client's:
    /// most programs in one language report the same client name.
    pub(crate) fn choose(&self, roots: &Roots, undo: &Undo<'_>, session: &str) -> Option<&str> {
        if let Some(id) = undo.edit {
            return self.record(id).map(|record| record.id.as_str());
        }
        let touches = |record: &&Record| undo.path.is_none_or(|path| self.touches(record, path));
        let is_open = |record: &&Record| {
            record.undoes.is_none()
                && !self.undone.contains_key(&record.id)
                // An edit whose files were changed back by other means needs no undo, and must not hide one that does.
                && !self.is_back(roots, &record.id)
        };
        let is_own = |record: &&Record| record.session == session;
        let newest = self.records.iter().rev().filter(is_own).filter(touches).find(is_open);
        newest.map(|record| record.id.as_str())
    }

    /// Returns who made this edit and how long ago, unless it was this session.
    pub(crate) fn by_another(&self, id: &str, session: &str) -> Option<String> {
        let record = self.record(id).filter(|record| record.session != session)?;
        Some(format!("{} of {}, {}", record.tool, record.client, ago(time_of(id))))
    }

    /// Returns how to undo this edit, or every reason why it cannot be undone.
    pub(crate) fn undoable(&self, roots: &Roots, id: &str, session: &str) -> Result<Undoable, Vec<Problem>> {
        let record = self.record(id).ok_or_else(|| vec![unknown(Some(id), self.recent(None, session))])?;
        if let Some(by) = self.undone.get(id) {
            let why = NotUndone::UndoneBy(by.clone());
            return Err(vec![Problem::new(Kind::UndoConflict { edit: id.into(), why })]);
        }
        if !record.files.iter().all(|file| self.may_show(file)) {
            let rule = "a file of this edit, which is not named here, is off limits by now".into();
            return Err(vec![Problem::new(Kind::PathForbidden { rule })]);
        }
        if self.is_back(roots, id) {
            return Err(vec![Problem::new(Kind::AlreadyBack)]);
        }
        let mut undoable = Undoable::default();
        let mut problems = Vec::new();
        for file in record.files.iter().rev() {
            if let Err(problem) = self.take_back(roots, record, file, &mut undoable) {
                problems.push(problem);
            }
        }
        for (name, text) in std::mem::take(&mut undoable.returns) {
            let at = |back: &&mut UndoneFile| back.current.as_ref().is_some_and(|(now, _)| *now == name);
            if let Some(back) = undoable.back.iter_mut().find(at) {
                back.restored = Some((name, text));
            }
        }
        if problems.is_empty() { Ok(undoable) } else { Err(problems) }
    }

    /// Returns whether every file that this edit changed is back to what it was before.
    pub(crate) fn is_back(&self, roots: &Roots, id: &str) -> bool {
        let read = |trail: &Trail| {
            let path = roots.admit_beneath(&self.root, trail).ok()?;
            let snapshot = snapshot::read(self.disk, &path).ok()?;
            Some(snapshot.map(|snapshot| snapshot.text.version()))
        };
        let is_back = |file: &RecordedFile| {
            let entry = &file.entry;
            let Some(now) = read(&entry.path) else { return false };
            match entry.change {
                Change::Create => now.is_none(),
                Change::Modify | Change::Overwrite | Change::Delete => {
                    now.is_some_and(|now| entry.is_base(&now) && !entry.is_after(&now))
                }
                Change::Rename | Change::Move => {
                    let old = entry.from.as_ref().and_then(read).flatten();
                    now.is_none() && old.is_some_and(|old| entry.is_base(&old))
                }
            }
        };
        self.record(id).is_some_and(|record| {
            !record.files.is_empty() && record.files.iter().all(|file| self.may_show(file) && is_back(file))
        })
    }

    /// Returns what a file would be without the edit that made `after` of `before`, if what others changed since is elsewhere.
    fn without(
        &self,
        file: &RecordedFile,
        before: &Text,
        after: &Arc<Text>,
        now: &Snapshot,
    ) -> Option<Arc<Text>> {
        let map = file.lines.as_ref()?.map()?;
        let edits = self.edits_since(&self.name(file), &after.version().hex(), &now.text.version());
        let since = edits.map_or_else(|| Since::Content(Arc::clone(after)), Since::Edits);
        plan::without(&map, before, after, &since, &now.text).map(Arc::new)
    }

    fn take_back(
        &self,
        roots: &Roots,
        record: &Record,
        file: &RecordedFile,
        into: &mut Undoable,
    ) -> Result<(), Problem> {
        let (id, entry) = (&record.id, &file.entry);
        let name = self.name(file);
        let conflict = |why| Problem::new(Kind::UndoConflict { edit: id.into(), why }).at(&name);
        let mut at = |trail: &Trail| {
            let path = roots.admit_beneath(&self.root, trail)?;
            let snapshot = snapshot::read(self.disk, &path)?;
            Ok::<_, Problem>((path, snapshot))
        };
        let (path, now) = at(&entry.path)?;
        let old = entry.from.as_ref().map(&mut at).transpose()?;
        // What is left of a file that changed elsewhere since.
        let mut merged = None;
        match (&now, &entry.after) {
            (Some(snapshot), None) => {
                return Err(conflict(NotUndone::MadeAgain { version: snapshot.text.version() }));
            }
            (None, Some(_)) => return Err(conflict(NotUndone::Gone)),
            (Some(snapshot), Some(_)) if !entry.is_after(&snapshot.text.version()) => {
                let before = self.before(file);
                let after = self.after(record, file, before.as_deref());
                let diff = after.as_ref().map(|after| short_diff(&name, after, &snapshot.text));
                let may_merge = self.root.policy.terms().on_change == OnChange::Merge;
                merged = match (before, after) {
                    (Some(before), Some(after)) if may_merge => self.without(file, &before, &after, snapshot),
                    _ => None,
                };
                if merged.is_none() {
                    let version = snapshot.text.version();
                    return Err(conflict(NotUndone::Changed { version, diff, may_merge }));
                }
                into.merged.push((name.clone(), diff.unwrap_or_default()));
            }
            _ => {}
        }
        // Whether the same edit put another file in this place, which then gets the old content.
        let is_taken = entry.from.as_ref().is_some_and(|from| {
            record.files.iter().any(|other| other.entry.path == *from && other.entry.after.is_some())
        });
        if let Some((path, Some(_))) = &old
            && !is_taken
        {
            return Err(conflict(NotUndone::OldNameTaken { name: path.name.clone() }));
        }
        let then = match entry.change {
            // What others put into a new file stays.
            Change::Create => merged,
            // A renamed file keeps its content.
            Change::Rename => now.as_ref().map(|now| Arc::clone(&now.text)),
            Change::Modify | Change::Overwrite | Change::Delete | Change::Move => {
                let (kept, text) = self.kept(file).map_err(conflict)?;
                if now.is_none() {
                    // A restored file gets its former metadata; an existing one keeps its own.
                    into.metadata_sources.insert(path.name.clone(), kept);
                }
                Some(merged.unwrap_or(text))
            }
        };
        let old_name = old.as_ref().map_or_else(|| path.name.clone(), |(path, _)| path.name.clone());
        let mut then = then.map(|then| (old_name, then));
        if is_taken && let Some((name, text)) = then.take() {
            into.returns.insert(name, text);
        }
        let executable = file.was_executable.filter(|_| now.is_some() && then.is_some());
        let now_named = now.as_ref().map(|now| (path.name.clone(), Arc::clone(&now.text)));
        into.back.push(UndoneFile { current: now_named, restored: then, executable });
        into.files.insert(path.name.clone(), (path, now));
        if let Some((path, snapshot)) = old {
            into.files.insert(path.name.clone(), (path, snapshot));
        }
        Ok(())
    }
}
