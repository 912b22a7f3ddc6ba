//! Notifications of the editors that the user has configured, so that open buffers show the new text after an edit.
//!
//! A notification runs a program, which blocks, so each editor has a background queue. The queue is a set of files, not
//! a list of edits: while an editor hangs, changed files gather and are all sent with its next notification, and nobody
//! else waits. Failures are logged and never fail the edit.

mod notify_methods;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use emend_process::run::Program;
use emend_process::search::Search;
use emend_threads::{Background, Waiting};
use emend_workspace::edit::plan::Action;
use emend_workspace::policy::programs::Editor;

use emend_workspace::{CommittedEdit, Workspace};

use self::notify_methods::{NotifyMethod, Run};

/// The default timeout of a notification.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The number of files that may wait for an editor; further ones are dropped.
const FILES_WAITING: usize = 10_000;
/// The most bytes of output that a program may write.
const MOST_OUTPUT: usize = 64 * 1024;

/// A file that an edit has changed, created, moved or deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangedFile {
    /// The root of the file.
    pub(crate) root: PathBuf,
    /// The absolute path of the file, without links.
    pub(crate) path: PathBuf,
    /// The first line that changed.
    pub(crate) line: usize,
    /// Whether the file is gone from this path.
    pub(crate) is_gone: bool,
}

/// All editors that are notified of edits.
#[derive(Debug, Default)]
pub(crate) struct Editors {
    all: Vec<EditorQueue>,
}

/// An editor and the queue of its notifications.
#[derive(Debug)]
struct EditorQueue {
    editor: Arc<EditorTarget>,
    background: Background<Files>,
}

/// An editor and the way to notify it.
#[derive(Debug)]
struct EditorTarget {
    name: String,
    program: String,
    method: NotifyMethod,
    timeout: Duration,
    search: Arc<Search>,
}

/// The changed files that wait for an editor, each once. One notification takes all of them.
#[derive(Debug, Default)]
struct Files(BTreeMap<PathBuf, ChangedFile>);

impl Waiting for Files {
    type Job = Vec<ChangedFile>;

    fn take_next(&mut self) -> Option<Vec<ChangedFile>> {
        (!self.0.is_empty()).then(|| std::mem::take(&mut self.0).into_values().collect())
    }
}

impl Editors {
    /// Creates the queues of these editors for edits in this workspace.
    pub(crate) fn for_workspace(workspace: &Workspace, editors: &[Editor]) -> Self {
        let roots = workspace.roots().all().iter();
        Self::new(editors, &roots.map(|root| root.path.as_path()).collect::<Vec<_>>())
    }

    fn new(editors: &[Editor], roots: &[&Path]) -> Self {
        let search = Arc::new(Search::new(None, roots));
        let target = |editor: &Editor| EditorTarget {
            name: editor.name.clone(),
            program: editor.program().to_owned(),
            method: NotifyMethod::for_editor(editor),
            timeout: editor.timeout.unwrap_or(TIMEOUT),
            search: Arc::clone(&search),
        };
        Self { all: editors.iter().map(|editor| EditorQueue::new(target(editor))).collect() }
    }

    /// Queues a notification of this edit for each editor, and returns the names of those that will get one.
    pub(crate) fn notify_of_commit(&self, committed: &CommittedEdit<'_>) -> Vec<&str> {
        if self.all.is_empty() || !committed.root.policy.terms().notify_editor {
            return Vec::new();
        }
        self.notify(&changed_files(committed))
    }

    fn notify(&self, files: &[ChangedFile]) -> Vec<&str> {
        let concerned = self.all.iter().filter(|queue| queue.editor.method.is_concerned_by(files));
        concerned.filter(|queue| queue.push(files)).map(|queue| queue.editor.name.as_str()).collect()
    }

    /// Waits until all queues are empty, but no longer than `patience`.
    pub(crate) fn wait(&self, patience: Duration) {
        let until = Instant::now() + patience;
        for queue in &self.all {
            queue.background.wait(until.saturating_duration_since(Instant::now()));
        }
    }
}

impl EditorQueue {
    fn new(editor: EditorTarget) -> Self {
        let editor = Arc::new(editor);
        let target = Arc::clone(&editor);
        // The last failure. An editor that is not open fails for each edit, which is logged only once.
        let mut complaint = None;
        let work = move |files: Vec<ChangedFile>| {
            let failed = target.notify(&files).err();
            if let Some(why) = failed.as_ref().filter(|_| failed != complaint) {
                tracing::warn!(editor = target.name, "it could not be told of an edit: {why}");
            }
            complaint = failed;
        };
        Self { editor, background: Background::new("editor", Files::default(), work) }
    }

    /// Queues a notification of these files. Returns whether the queue is still open.
    fn push(&self, files: &[ChangedFile]) -> bool {
        let pushed = self.background.push(|Files(waiting)| {
            for file in files {
                if waiting.len() >= FILES_WAITING && !waiting.contains_key(&file.path) {
                    let editor = &self.editor.name;
                    tracing::warn!(editor, "it is behind by {FILES_WAITING} files and is not told of more");
                    break;
                }
                waiting.insert(file.path.clone(), file.clone());
            }
        });
        pushed.is_some()
    }
}

impl EditorTarget {
    /// Notifies the editor, and returns the first error. Further commands run all the same while there is time. Blocks.
    fn notify(&self, files: &[ChangedFile]) -> Result<(), String> {
        let until = Instant::now() + self.timeout;
        let mut outcome = Ok(());
        for run in self.method.commands(files) {
            outcome = outcome.and(self.run(&run, until.saturating_duration_since(Instant::now())));
        }
        outcome
    }

    fn run(&self, run: &Run, timeout: Duration) -> Result<(), String> {
        let path = self.search.find(&self.program).map_err(|why| why.to_string())?;
        if timeout.is_zero() {
            return Err("telling it took too long".to_owned());
        }
        let program = Program {
            path: &path,
            arguments: &run.arguments,
            folder: &run.folder,
            search: &self.search,
            environment: None,
            timeout,
            most: MOST_OUTPUT,
            is_cut: false,
            // The program may leave an editor running.
            leaves: true,
        };
        program.run(b"", &|| false).done().map(drop)
    }
}

/// Returns the changed files of this edit.
fn changed_files(committed: &CommittedEdit<'_>) -> Vec<ChangedFile> {
    let root = &committed.root.path;
    // Old paths come first: the entry of a file that was moved to such a path replaces that of the one that left.
    let left = committed.files().filter_map(|file| file.moved_from());
    let mut files: Vec<ChangedFile> =
        left.map(|path| ChangedFile { root: root.clone(), path, line: 1, is_gone: true }).collect();
    for file in committed.files() {
        let lines = file.plan().hunks.iter().map(|hunk| hunk.line);
        let line = lines.filter(|line| *line > 0).min().unwrap_or(1);
        let is_gone = matches!(file.plan().action, Action::Delete { .. });
        files.push(ChangedFile { root: root.clone(), path: file.path(), line, is_gone });
    }
    files
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn changed(root: &Path, name: &str) -> ChangedFile {
        ChangedFile { root: root.into(), path: root.join(name), line: 1, is_gone: false }
    }

    fn editor(name: &str, command: &[&str], timeout: Option<Duration>) -> Editor {
        let command = command.iter().map(|word| (*word).to_owned()).collect();
        Editor { name: name.into(), server: None, command, timeout }
    }

    #[test]
    fn an_editor_that_hangs_delays_nobody_and_is_told_of_all_that_waits_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let (begun, go) = (root.join("begun"), root.join("go"));
        let script = "echo $# >>begun; until [ -e go ]; do sleep 0.01; done";
        let slow = editor("slow", &["sh", "-c", script, "-", "{files}"], Some(Duration::from_secs(60)));
        let quick = editor("quick", &["sh", "-c", "echo told >>quick"], None);
        let editors = Editors::new(&[slow, quick], &[]);
        assert_eq!(editors.notify(&[changed(root, "a"), changed(root, "same")]), ["slow", "quick"]);
        let until = Instant::now() + Duration::from_secs(60);
        let lines = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
        while lines(&begun) != "2\n" {
            assert!(Instant::now() < until);
            thread::yield_now();
        }
        for number in 0..10 {
            editors.notify(&[changed(root, &number.to_string()), changed(root, "same")]);
        }
        std::fs::write(go, "").unwrap();
        editors.wait(Duration::from_secs(60));
        assert_eq!(lines(&begun), "2\n11\n");
        assert!(root.join("quick").exists());
    }

    #[test]
    fn what_cannot_be_told_is_said_once_and_takes_no_longer_than_it_may() {
        let folder = tempfile::tempdir().unwrap();
        let files = [changed(folder.path(), "a")];
        let tell = |editor: &Editor, roots: &[&Path]| {
            Editors::new(std::slice::from_ref(editor), roots).all[0].editor.notify(&files)
        };
        assert!(tell(&editor("x", &["no-such-editor"], None), &[]).unwrap_err().contains("no-such-editor"));
        assert!(tell(&editor("x", &["sh", "-c", "exit 3"], None), &[]).unwrap_err().contains("exit code 3"));
        let soon = Some(Duration::from_millis(50));
        assert!(tell(&editor("x", &["sleep", "1000"], soon), &[]).unwrap_err().contains("too long"));
        let own = folder.path().join("editor");
        std::fs::copy("/bin/true", &own).unwrap();
        let inside = tell(&editor("x", &[own.to_str().unwrap()], None), &[folder.path()]);
        assert!(inside.unwrap_err().contains("inside the workspace"));
    }
}
