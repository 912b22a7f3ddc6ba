//! Edits beside each other: which wait, and what one finds that another process has left.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc;

use emend_edit::patch::{Patch, TextChange};
use emend_workspace::history::HistoryQuery;
use emend_workspace::problem::Code;
use emend_workspace::{
    EditContext, Effort, Mutex, NotCommitted, Origin, Report, Request, RootSpec, Workspace,
};

use super::crashes::{self, dies};
use super::{EIO, Scene, edit, make_first_edit, native, one_file};

/// Makes an edit that does not wait for another one.
fn edit_now(workspace: &Workspace, patch: &Patch) -> Result<Report, NotCommitted> {
    let (readings, origin) = (Mutex::default(), Origin::default());
    let request = Request { patch, versions: &BTreeMap::new() };
    let context = EditContext { effort: Effort::Quick, ..EditContext::patient(&readings, &origin) };
    workspace.edit(&request, &context)
}

fn replace(path: &str, old: &str, new: &str) -> Patch {
    let change = TextChange { old: old.into(), new: new.into(), ..TextChange::default() };
    Patch::replace(path, vec![change]).unwrap()
}

fn is_not_quick(outcome: &Result<Report, NotCommitted>) -> bool {
    matches!(outcome, Err(NotCommitted::NotQuick))
}

/// Two workspaces of the same folder, as two processes have them. That of the scene's disk comes first.
fn two_processes(scene: &Scene) -> (Workspace, Workspace) {
    let one = scene.warm_workspace();
    let other = scene.workspace_on(native());
    // Its vault is open after this.
    edit(&other, &replace("first.txt", "warm", "hot"), &BTreeMap::new()).unwrap();
    (one, other)
}

/// Returns what pauses an edit, what tells that it is paused, and what lets it go on.
fn pause() -> (impl FnOnce() + Send, mpsc::Receiver<()>, mpsc::Sender<()>) {
    let ((tell, told), (release, released)) = (mpsc::channel(), mpsc::channel());
    let pause = move || {
        tell.send(()).unwrap();
        released.recv().unwrap();
    };
    (pause, told, release)
}

#[test]
fn edits_of_different_files_do_not_wait_for_each_other() {
    let scene = Scene::new(native(), EIO);
    let (one, other) = two_processes(&scene);
    let (pause, told, release) = pause();
    scene.disk.before_placing(pause);
    let mut refused_code = Code::Busy;
    std::thread::scope(|scope| {
        let made = scope.spawn(|| edit(&one, &one_file(), &BTreeMap::new()));
        told.recv().unwrap();
        // In the middle of that, edits of other files are made, by this process and by another one.
        edit_now(&one, &replace("b.txt", "bee", "fly")).unwrap();
        edit_now(&other, &replace("b.txt", "fly", "ant")).unwrap();
        // An edit of the same file waits, by whichever name, and so does one that needs both.
        assert!(is_not_quick(&edit_now(&one, &replace("a.txt", "one", "1"))));
        assert!(is_not_quick(&edit_now(&other, &replace("old/../a.txt", "one", "1"))));
        let both = Patch::join([replace("b.txt", "ant", "bee"), replace("a.txt", "one", "1")]);
        assert!(is_not_quick(&edit_now(&other, &both)));
        // What is refused needs nothing of the root.
        let refused = edit(&other, &replace("/etc/hosts", "a", "b"), &BTreeMap::new());
        refused_code = refused.unwrap_err()[0].code();
        // Nothing of that is left locked.
        edit_now(&other, &replace("b.txt", "ant", "bee")).unwrap();
        release.send(()).unwrap();
        made.join().unwrap().unwrap();
    });
    assert_eq!(refused_code, Code::PathOutsideWorkspace);
    edit_now(&other, &replace("a.txt", "one", "1")).unwrap();
    assert_eq!(scene.folder.read("a.txt"), b"1\nTWO\nthree\n");
    assert_eq!(scene.folder.read("b.txt"), b"bee\n");
}

#[test]
fn the_file_of_a_running_edit_is_locked_until_it_is_durable() {
    let scene = Scene::new(native(), EIO);
    let (one, other) = two_processes(&scene);
    let (tell, told) = mpsc::channel();
    let (release, released) = mpsc::channel();
    let path = scene.folder.at("a.txt");
    scene.disk.before_folder_sync(move || {
        tell.send(std::fs::read(path).unwrap()).unwrap();
        released.recv().unwrap();
    });
    std::thread::scope(|scope| {
        let made = scope.spawn(|| edit(&one, &one_file(), &BTreeMap::new()));
        assert_eq!(told.recv().unwrap(), b"one\nTWO\nthree\n", "it is in place, and not yet durable");
        assert!(is_not_quick(&edit_now(&other, &replace("a.txt", "TWO", "2"))));
        edit_now(&other, &replace("b.txt", "bee", "fly")).unwrap();
        release.send(()).unwrap();
        made.join().unwrap().unwrap();
    });
    edit_now(&other, &replace("a.txt", "TWO", "2")).unwrap();
}

#[test]
fn edits_with_another_state_folder_wait_for_each_other_too() {
    let scene = Scene::new(native(), EIO);
    let one = scene.warm_workspace();
    let roots = [RootSpec { name: None, path: scene.folder.path().to_path_buf() }];
    let other = Workspace::open(native(), &roots, Some(scene.folder.beside("other state"))).unwrap();
    edit(&other, &replace("first.txt", "warm", "hot"), &BTreeMap::new()).unwrap();
    let (pause, told, release) = pause();
    scene.disk.before_folder_sync(pause);
    std::thread::scope(|scope| {
        let made = scope.spawn(|| edit(&one, &one_file(), &BTreeMap::new()));
        told.recv().unwrap();
        assert!(is_not_quick(&edit_now(&other, &replace("a.txt", "TWO", "2"))));
        edit_now(&other, &replace("b.txt", "bee", "fly")).unwrap();
        let waiting = scope.spawn(|| edit(&other, &replace("a.txt", "TWO", "2"), &BTreeMap::new()));
        release.send(()).unwrap();
        made.join().unwrap().unwrap();
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(scene.folder.read("a.txt"), b"one\n2\nthree\n");
}

#[test]
fn a_file_that_is_written_in_place_is_not_edited_by_another_of_its_names() {
    let scene = crashes::scene_of("linked", native());
    let workspace = crashes::opened(&scene);
    make_first_edit(&workspace);
    let (pause, told, release) = pause();
    scene.disk.before_folder_sync(pause);
    std::thread::scope(|scope| {
        let made = scope.spawn(|| edit(&workspace, &replace("linked.txt", "two", "2"), &BTreeMap::new()));
        told.recv().unwrap();
        assert!(is_not_quick(&edit_now(&workspace, &replace("other.txt", "one", "1"))));
        release.send(()).unwrap();
        made.join().unwrap().unwrap();
    });
    edit_now(&workspace, &replace("other.txt", "one", "1")).unwrap();
    assert_eq!(scene.folder.read("linked.txt"), b"1\n2\nthree\n");
}

/// The transactions that are open.
fn open_transactions(scene: &Scene) -> usize {
    let home: PathBuf =
        std::fs::read_dir(scene.folder.state().join("roots")).unwrap().next().unwrap().unwrap().path();
    std::fs::read_dir(home.join("tx")).unwrap().count()
}

/// Returns a scene, and a workspace at work in it, beside which another process died in the middle of this edit.
fn beside_a_dead_one(which: &str, is_in_the_middle: impl Fn(&Scene) -> bool) -> (Scene, Workspace) {
    (1..)
        .map(|call| {
            let scene = Scene::new(native(), EIO);
            let workspace = scene.workspace();
            make_first_edit(&workspace);
            assert!(dies(&scene, which, "native", call), "it was never in the middle");
            (scene, workspace)
        })
        .find(|(scene, _)| is_in_the_middle(scene))
        .unwrap()
}

#[test]
fn what_a_dead_process_left_is_put_back_before_the_next_edit() {
    for next in ["first.txt", "b.txt"] {
        // Of several files, one is in place.
        let (scene, workspace) =
            beside_a_dead_one("many", |scene| scene.folder.read("a.txt") == b"one\nTWO\nthree\n");
        assert_eq!(open_transactions(&scene), 1);
        let old = if next == "b.txt" { "bee" } else { "warm" };
        edit_now(&workspace, &replace(next, old, "new")).unwrap();
        assert_eq!(scene.folder.read("a.txt"), b"one\ntwo\nthree\n");
        assert_eq!(scene.folder.read(next), b"new\n");
        assert!(scene.folder.has("gone.txt") && !scene.folder.has("new/deep/file.txt"));
        assert_eq!(open_transactions(&scene), 0);
    }
}

#[test]
fn what_a_dead_process_made_is_in_the_history_before_the_next_edit() {
    for (next, old) in [("first.txt", "warm"), ("a.txt", "TWO")] {
        let (scene, workspace) =
            beside_a_dead_one("one", |scene| scene.folder.read("a.txt") == b"one\nTWO\nthree\n");
        let query = HistoryQuery { path: None, limit: 10 };
        let edits = || workspace.past_edits().newest(&query, "").unwrap().len();
        let before = edits();
        edit_now(&workspace, &replace(next, old, "new")).unwrap();
        assert_eq!(edits(), before + 2);
        assert_eq!(open_transactions(&scene), 0);
    }
}
