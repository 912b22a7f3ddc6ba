//! Hooks that run after an edit. What they write counts as another program's change.

use std::path::Path;
use std::time::Duration;

use super::{Allowance, Armed, Hooks, shortened};
use crate::files::history::Origin;
use crate::files::report::{ChangeKind, FileReport, Report};

/// The default timeout of a hook.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The number of bytes of output that are kept for an error message.
const MOST: usize = 4 * 1024;

/// The result of the hooks after an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// The hooks that ran, such as `after:tags`.
    pub fired: Vec<String>,
    /// A message for each failure.
    pub failed: Vec<String>,
}

impl Hooks {
    /// Returns the names of the hooks that are to run after this edit, such as `after:tags`.
    #[must_use]
    pub fn would_run_after(&self, report: &Report) -> Vec<String> {
        self.due(report).map(|(armed, _)| format!("after:{}", armed.hook.name)).collect()
    }

    /// Runs the hooks that an edit concerns one after another, each with the edit's document on its standard input.
    /// Blocks until the last has ended or timed out, so it belongs on its own thread.
    #[must_use]
    pub fn run_after(
        &self,
        report: &Report,
        origin: &Origin,
        root: &Path,
        cancelled: &dyn Fn() -> bool,
    ) -> Done {
        let document = self.document(report, origin, root, None);
        let mut done = Done::default();
        for (armed, files) in self.due(report) {
            if cancelled() {
                break;
            }
            let name = &armed.hook.name;
            let allowance =
                Allowance { timeout: TIMEOUT, most: MOST, is_cut: true, leaves: true, names_deleted: false };
            let ended = self.run(armed, &files, &document, allowance, cancelled).and_then(|ran| {
                done.fired.push(format!("after:{name}"));
                ran.done()
            });
            if let Err(why) = ended {
                done.failed.push(format!("The hook '{name}' failed after the edit: {}", shortened(&why)));
            }
        }
        done
    }

    /// Returns the hooks that an edit concerns, each with its files. A hook with files as arguments needs some that
    /// exist.
    fn due<'a>(&'a self, report: &'a Report) -> impl Iterator<Item = (&'a Armed, Vec<&'a FileReport>)> {
        let is_there = |file: &&FileReport| file.change != ChangeKind::Delete;
        self.after.iter().filter_map(move |armed| {
            let files = self.concerned(armed, &report.files);
            let has_any = if armed.names_files() { files.iter().any(is_there) } else { !files.is_empty() };
            has_any.then_some((armed, files))
        })
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use emend_threads::Mutex;
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;

    use emend_edit::patch::Patch;

    use crate::EditContext;
    use crate::Origin;
    use crate::Report;
    use crate::RootSpec;
    use crate::Workspace;
    use crate::disk;
    use crate::edits::request::Request;
    use crate::policy::programs::{Hook, Programs};

    fn hook(name: &str, script: &str, more: &[&str]) -> Hook {
        let command = ["/bin/sh", "-c", script, "sh"].into_iter().chain(more.iter().copied());
        Hook {
            name: name.into(),
            command: command.map(String::from).collect(),
            files: Vec::new(),
            timeout: None,
            required: false,
        }
    }

    /// Returns a workspace of two roots, `one` and `two`, with these hooks after an edit.
    fn workspace(folder: &Path, after: Vec<Hook>) -> Workspace {
        let root = |name: &str| {
            fs::create_dir_all(folder.join(name)).unwrap();
            RootSpec { name: Some(name.into()), path: folder.join(name) }
        };
        let roots = [root("one"), root("two")];
        let workspace =
            Workspace::open(disk::for_this_machine(), &roots, Some(folder.join("state"))).unwrap();
        workspace.with_hooks(&Programs { after, ..Programs::default() }).unwrap()
    }

    fn edit(workspace: &Workspace, patch: &Patch) -> Report {
        let request = Request { patch, versions: &BTreeMap::new() };
        workspace.edit(&request, &EditContext::patient(&Mutex::default(), &Origin::default())).unwrap()
    }

    fn run(workspace: &Workspace, report: &Report, root: &str) -> super::Done {
        let root = workspace.roots().all().iter().find(|other| other.name == root).unwrap();
        workspace.hooks().run_after(report, &Origin::default(), &root.path, &|| false)
    }

    #[test]
    fn hooks_run_in_the_root_of_the_edit_with_the_document_and_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let mut other = hook("other", "touch wrong", &[]);
        other.files = vec!["*.py".into()];
        let tags = hook("tags", "cat > ../told; echo \"$@\" > ../names", &["{path}", "{file}"]);
        let workspace = workspace(folder.path(), vec![other, tags]);
        let report = edit(&workspace, &Patch::write("two:sub/a.txt", "new\n".into()));
        assert_eq!(workspace.hooks().would_run_after(&report), ["after:tags"]);
        let done = run(&workspace, &report, "two");
        assert_eq!((done.fired, done.failed.len()), (vec!["after:tags".to_owned()], 0));
        let said: serde_json::Value =
            serde_json::from_slice(&fs::read(folder.path().join("told")).unwrap()).unwrap();
        assert_eq!((&said["version"], &said["edit"]), (&1.into(), &report.edit.clone().into()));
        assert_eq!(said["files"][0]["path"], "sub/a.txt");
        let file = folder.path().canonicalize().unwrap().join("two/sub/a.txt");
        let names = fs::read_to_string(folder.path().join("names")).unwrap();
        assert_eq!(names, format!("sub/a.txt {}\n", file.display()));
        assert!(!folder.path().join("two/wrong").exists());
    }

    #[test]
    fn what_fails_is_told_and_the_others_run() {
        let folder = tempfile::tempdir().unwrap();
        let mut slow = hook("slow", "sleep 1000", &[]);
        slow.timeout = Some(std::time::Duration::from_millis(100));
        // Its output is discarded until it times out.
        let loud = Hook { timeout: slow.timeout, ..hook("loud", "yes", &[]) };
        let absent = Hook { command: vec!["no-such-program".into()], ..hook("absent", "", &[]) };
        let hooks = vec![
            slow,
            absent,
            loud,
            hook("wrong", "echo why >&2; exit 3", &[]),
            hook("last", "touch ran", &[]),
        ];
        let workspace = workspace(folder.path(), hooks);
        let report = edit(&workspace, &Patch::write("one:a.txt", "new\n".into()));
        let done = run(&workspace, &report, "one");
        assert_eq!(done.fired, ["after:slow", "after:loud", "after:wrong", "after:last"]);
        assert_eq!(done.failed.len(), 4);
        assert!(done.failed[3].contains("wrong") && done.failed[3].contains("why"));
        assert!(folder.path().join("one/ran").exists());
    }

    #[test]
    fn what_is_called_with_files_is_not_run_where_none_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let hooks = vec![hook("each", "", &["{file}"]), hook("any", "", &[])];
        let workspace = workspace(folder.path(), hooks);
        fs::write(folder.path().join("one/a.txt"), "x\n").unwrap();
        let patch = emend_edit::patch::v4a::parse(
            "*** Begin Patch\n*** Update File: one:a.txt\n*** Move to: one:b.txt\n@@\n-x\n+y\n*** End Patch",
        );
        let report = edit(&workspace, &patch.unwrap());
        assert_eq!(workspace.hooks().would_run_after(&report), ["after:each", "after:any"]);
        let mut gone = report;
        gone.files[0].change = crate::ChangeKind::Delete;
        assert_eq!(workspace.hooks().would_run_after(&gone), ["after:any"]);
    }
}
