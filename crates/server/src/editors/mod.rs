//! The editors that a person has told of edits, so that what is open there shows the new text.
//!
//! Telling is running a program, and blocks; so each editor has a queue, and a thread while there is something in it.
//! The queue is a set of files, not a list of edits: where an editor hangs, what comes meanwhile is told at once when it
//! is its turn again, and nobody else waits. What fails is in the log; the edit is made in any case.

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

/// How long telling an editor may take, unless the person says otherwise.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How many files wait for an editor at most. It is not told of more.
const FILES_WAITING: usize = 10_000;
/// How much a program may say.
const MOST_OUTPUT: usize = 64 * 1024;

/// What an edit has made of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangedFile {
    /// The root that it is in.
    pub(crate) root: PathBuf,
    /// Where it is: its path without links.
    pub(crate) path: PathBuf,
    /// The line that changed, the first if there are several.
    pub(crate) line: usize,
    /// Whether it is gone from there.
    pub(crate) is_gone: bool,
}

/// All editors that are told of edits.
#[derive(Debug, Default)]
pub(crate) struct Editors {
    all: Vec<EditorQueue>,
}

/// An editor, and what it is still to be told.
#[derive(Debug)]
struct EditorQueue {
    editor: Arc<EditorTarget>,
    background: Background<Files>,
}

/// An editor, and how it is told.
#[derive(Debug)]
struct EditorTarget {
    name: String,
    program: String,
    method: NotifyMethod,
    timeout: Duration,
    search: Arc<Search>,
}

/// The files that an editor is to be told of, each once. All of them are told at once.
#[derive(Debug, Default)]
struct Files(BTreeMap<PathBuf, ChangedFile>);

impl Waiting for Files {
    type Job = Vec<ChangedFile>;

    fn take_next(&mut self) -> Option<Vec<ChangedFile>> {
        (!self.0.is_empty()).then(|| std::mem::take(&mut self.0).into_values().collect())
    }
}

impl Editors {
    /// These editors, which are told of edits in this workspace.
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

    /// Has the editors told of this edit. Waits for none of them. Yields which ones are told.
    pub(crate) fn notify_of_commit(&self, committed: &CommittedEdit<'_>) -> Vec<&str> {
        if self.all.is_empty() || !committed.root.policy.terms().notify_editor {
            return Vec::new();
        }
        self.notify(&changed_files(committed))
    }

    fn notify(&self, files: &[ChangedFile]) -> Vec<&str> {
        let concerned = self.all.iter().filter(|told| told.editor.method.is_concerned_by(files));
        concerned.filter(|told| told.push(files)).map(|told| told.editor.name.as_str()).collect()
    }

    /// Waits until all are told, but no longer than this.
    pub(crate) fn wait(&self, patience: Duration) {
        let until = Instant::now() + patience;
        for told in &self.all {
            told.background.wait(until.saturating_duration_since(Instant::now()));
        }
    }
}

impl EditorQueue {
    fn new(editor: EditorTarget) -> Self {
        let editor = Arc::new(editor);
        let target = Arc::clone(&editor);
        // What last went wrong. An editor that is not open fails with each edit, which need not be said each time.
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

    /// Has the editor told of these. Returns whether it will be.
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
    /// Tells the editor. Blocks. The error is the first that went wrong; the rest is told all the same while there is time.
    fn notify(&self, files: &[ChangedFile]) -> Result<(), String> {
        let until = Instant::now() + self.timeout;
        let mut told = Ok(());
        for run in self.method.commands(files) {
            told = told.and(self.run(&run, until.saturating_duration_since(Instant::now())));
        }
        told
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
            timeout,
            most: MOST_OUTPUT,
            is_cut: false,
            // It may open the editor.
            leaves: true,
        };
        program.run(b"", &|| false).done().map(drop)
    }
}

/// What this edit has made of each file.
fn changed_files(committed: &CommittedEdit<'_>) -> Vec<ChangedFile> {
    let root = &committed.root.path;
    // What has come to a place that another file was moved away from is there.
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
