//! The net diff of a session: from its files before its first edit to those after its last.

use std::collections::BTreeMap;
use std::sync::Arc;

use emend_edit::Text;
use emend_edit::plan::{self, UndoneFile};

use super::History;
use crate::files::commit::journal::Change;
use crate::files::report::FileReport;
use crate::files::roots::Roots;
use crate::files::snapshot;

/// A file across the edits of a session. Contents are given by version; `None` means that it does not exist.
struct Travelled {
    was: Option<(String, String)>,
    now: Option<String>,
}

impl History<'_> {
    /// Returns what all edits of a session have made of each file, and the files whose contents are no longer known.
    pub(crate) fn net(
        &self,
        roots: &Roots,
        path: Option<&str>,
        session: &str,
    ) -> (Vec<FileReport>, Vec<String>) {
        let mut files: BTreeMap<String, Travelled> = BTreeMap::new();
        for record in self.records.iter().filter(|record| record.session == session) {
            for file in record.files.iter().filter(|file| self.may_show(file)) {
                let name = self.name(file);
                let origin = self.old_name(file).unwrap_or_else(|| name.clone());
                let base = file.entry.base.clone();
                let was = match files.remove(&origin) {
                    Some(travelled) => travelled.was,
                    None => base.map(|base| (origin.clone(), base)),
                };
                let now = match file.entry.change {
                    Change::Delete => None,
                    _ => file.entry.after.clone(),
                };
                if was.is_some() || now.is_some() {
                    files.insert(name, Travelled { was, now });
                }
            }
        }
        let mut changed = Vec::new();
        let mut unknown = Vec::new();
        let is_it = |name: &str| {
            path.is_none_or(|path| name == path || name.strip_prefix(&self.prefix) == Some(path))
        };
        for (name, Travelled { was, now }) in files {
            if !is_it(&name) && !was.as_ref().is_some_and(|(first, _)| is_it(first)) {
                continue;
            }
            if was.as_ref().map(|(first, version)| (first, Some(version))) == Some((&name, now.as_ref())) {
                continue;
            }
            let text = |name: String, version: &str| match self.text(roots, &name, version) {
                Some(text) => Ok((name, text)),
                None => Err(()),
            };
            let then = was.map(|(name, version)| text(name, &version)).transpose();
            let now = now.map(|version| text(name.clone(), &version)).transpose();
            // The diff goes forward: the old content is the base, and the current one the result.
            match (then, now) {
                (Ok(then), Ok(now)) => {
                    let plan =
                        plan::undo(vec![UndoneFile { current: then, restored: now, executable: None }]);
                    changed.extend(plan.files().iter().map(FileReport::of));
                }
                _ => unknown.push(name),
            }
        }
        (changed, unknown)
    }

    /// Returns the content of a version, from a displaced file or from the current one.
    fn text(&self, roots: &Roots, name: &str, version: &str) -> Option<Arc<Text>> {
        self.content(version).or_else(|| {
            let path = roots.admit(name).ok()?;
            let snapshot = snapshot::read(self.disk, &path).ok()??;
            snapshot.text.version().is_named_by(version).then_some(snapshot.text)
        })
    }
}
