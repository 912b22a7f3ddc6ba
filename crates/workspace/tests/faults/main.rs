//! Failures of every call to the disk in turn, and other programs that write at the worst moment. Afterwards every file
//! is wholly old or wholly new, and the answer says which.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

mod crashes;
mod locks;
mod many;
mod mounts;
mod recovery;
#[cfg(target_os = "linux")]
mod spellings;
#[cfg(not(windows))]
mod way;

use std::collections::BTreeMap;
use std::sync::Arc;

use emend_edit::patch::{Patch, TextChange, unified, v4a};
use emend_testkit::failing_disk::FailingDisk;
use emend_testkit::{Folder, Tree};
use emend_workspace::disk::{self, Disk, Portable};
use emend_workspace::problem::{Code, FileState, Kind, Problem};
use emend_workspace::search::Query;
use emend_workspace::{
    EditContext, Mutex, NotCommitted, Origin, Report, Request, RootSpec, WalkScope, Workspace,
};

// The numbers of failures, by their names on Unix.
const EIO: i32 = if cfg!(windows) { 1117 } else { 5 };
const EACCES: i32 = if cfg!(windows) { 5 } else { 13 };
const EXDEV: i32 = if cfg!(windows) { 17 } else { 18 };
const ENOSPC: i32 = if cfg!(windows) { 112 } else { 28 };
const EROFS: i32 = if cfg!(windows) { 19 } else { 30 };

/// A workspace on a failing disk, with four files that a client has read.
pub(crate) struct Scene {
    pub(crate) folder: Folder,
    pub(crate) disk: Arc<FailingDisk>,
}

impl Scene {
    pub(crate) fn new(inner: Arc<dyn Disk>, errno: i32) -> Self {
        let folder = Folder::new();
        folder.write("a.txt", b"one\ntwo\nthree\n");
        folder.write("b.txt", b"bee\n");
        folder.write("gone.txt", b"bye\n");
        folder.write("old/place.txt", b"move me\nkeep\n");
        Self { folder, disk: Arc::new(FailingDisk::new(inner, errno)) }
    }

    pub(crate) fn workspace(&self) -> Workspace {
        self.workspace_on(Arc::clone(&self.disk) as Arc<dyn Disk>)
    }

    pub(crate) fn workspace_on(&self, disk: Arc<dyn Disk>) -> Workspace {
        let roots = [RootSpec { name: None, path: self.folder.path().to_path_buf() }];
        Workspace::open(disk, &roots, Some(self.folder.state())).unwrap()
    }

    /// A workspace that has made an edit already: its vault is open, and it locks files one by one.
    pub(crate) fn warm_workspace(&self) -> Workspace {
        let workspace = self.workspace();
        make_first_edit(&workspace);
        workspace
    }

    /// The files, without that of the first edit.
    pub(crate) fn tree(&self) -> Tree {
        // Where the state folder fails, Emend keeps its own things in .emend.
        // Where no folder is removed that a handle is open on (FAT, and NTFS before Windows 10), an empty one may stay.
        let is_folder = |name: &str| cfg!(windows) && name.ends_with('/');
        let is_other = |name: &str| !name.starts_with(".emend") && name != FIRST && !is_folder(name);
        self.folder.tree().into_iter().filter(|(name, _)| is_other(name)).collect()
    }
}

#[cfg(unix)]
fn is_executable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o111 != 0
}

/// No file is marked as a program here.
#[cfg(not(unix))]
fn is_executable(_path: &std::path::Path) -> bool {
    false
}

/// The file of an edit that is made before those that are tested.
const FIRST: &str = "first.txt";

pub(crate) fn make_first_edit(workspace: &Workspace) {
    edit(workspace, &Patch::write(FIRST, "warm\n".into()), &BTreeMap::new()).unwrap();
}

/// How a workspace is opened for a test.
type Opening = fn(&Scene) -> Workspace;

pub(crate) fn edit(
    workspace: &Workspace,
    patch: &Patch,
    versions: &BTreeMap<String, String>,
) -> Result<Report, Vec<Problem>> {
    let (readings, origin) = (Mutex::default(), Origin::default());
    let request = Request { patch, versions };
    workspace.edit(&request, &EditContext::patient(&readings, &origin)).map_err(NotCommitted::into_problems)
}

pub(crate) fn one_file() -> Patch {
    let change = TextChange { old: "two".into(), new: "TWO".into(), ..TextChange::default() };
    Patch::replace("a.txt", vec![change]).unwrap()
}

pub(crate) fn many_files() -> Patch {
    v4a::parse(
        "*** Begin Patch\n*** Add File: new/deep/file.txt\n+new\n*** Update File: a.txt\n@@\n-two\n+TWO\n*** \
         Delete File: gone.txt\n*** Update File: old/place.txt\n*** Move to: other/place.txt\n@@\n-move me\n\
         +moved\n*** Move File: b.txt -> bee.txt\n*** End Patch",
    )
    .unwrap()
}

/// Two files that exchange their names, one of them with a change, and one whose new name a third has given up.
pub(crate) fn swapped_files() -> Patch {
    let renamed =
        |from: &str, to: &str| format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n");
    let change = "--- a/a.txt\n+++ b/b.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";
    let text = renamed("a.txt", "b.txt")
        + change
        + &renamed("b.txt", "a.txt")
        + &renamed("old/place.txt", "gone.txt")
        + &renamed("gone.txt", "new/gone.txt");
    unified::parse(&text, None).unwrap()
}

/// Files that become folders, one of them that of itself, and a folder that becomes the file that was `last` in it.
pub(crate) fn turned_files(last: &str) -> Patch {
    let renamed =
        |from: &str, to: &str| format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n");
    let created = "diff --git a/b.txt/in/new.txt b/b.txt/in/new.txt\nnew file mode 100644\n--- /dev/null\n+++ \
                   b/b.txt/in/new.txt\n@@ -0,0 +1 @@\n+new\n";
    let deleted = |path: &str, lines: &str, count: &str| {
        format!(
            "diff --git a/{path} b/{path}\ndeleted file mode 100644\n--- a/{path}\n+++ /dev/null\n@@ -{count} +0,0 \
             @@\n{lines}"
        )
    };
    let mut text = created.to_owned()
        + &deleted("b.txt", "-bee\n", "1")
        + &renamed("a.txt", "a.txt/moved.txt")
        + &renamed(last, "old");
    if last != "old/place.txt" {
        text += &deleted("old/place.txt", "-move me\n-keep\n", "1,2");
    }
    unified::parse(&text, None).unwrap()
}

pub(crate) fn versions() -> BTreeMap<String, String> {
    [("gone.txt".to_owned(), emend_edit::Version::hash(b"bye\n").short())].into()
}

/// Fails call after call until one run needs fewer calls; every run ends all-old or all-new.
fn fail_every_call(
    (inner, open): (fn() -> Arc<dyn Disk>, Opening),
    errno: i32,
    patch: &Patch,
    versions: &BTreeMap<String, String>,
) {
    let new = {
        let scene = Scene::new(inner(), errno);
        edit(&scene.workspace(), patch, versions).unwrap();
        scene.tree()
    };
    let mut failed = 0;
    for n in 1.. {
        let scene = Scene::new(inner(), errno);
        let old = scene.tree();
        let workspace = open(&scene);
        scene.disk.fail_call(n);
        let outcome = edit(&workspace, patch, versions);
        let made = scene.disk.calls();
        scene.disk.fail_call(0);
        match outcome {
            Ok(_) => assert_eq!(scene.tree(), new, "call {n} failed, the answer says success"),
            Err(problems) => {
                failed += 1;
                assert_eq!(scene.tree(), old, "call {n} failed: {problems:?}");
                let states = problems.iter().filter_map(|problem| match &*problem.kind {
                    Kind::IoError { states, .. } => Some(states),
                    _ => None,
                });
                let sound = |state: &FileState| matches!(state, FileState::Untouched | FileState::Restored);
                assert!(states.flatten().all(|(_, state)| sound(state)), "call {n}: {problems:?}");
                // And the workspace works on.
                edit(&workspace, patch, versions).unwrap_or_else(|problems| panic!("call {n}: {problems:?}"));
                assert_eq!(scene.tree(), new);
            }
        }
        if made < n {
            break;
        }
    }
    assert!(failed > 5, "only {failed} calls were made to fail");
}

pub(crate) fn native() -> Arc<dyn Disk> {
    disk::for_this_machine()
}

/// The portable disk, which is not for Windows: there only newer versions let a file be renamed over an open one.
pub(crate) fn portable() -> Arc<dyn Disk> {
    if cfg!(windows) { native() } else { Arc::new(Portable) }
}

#[test]
fn one_file_is_old_or_new_whichever_call_fails() {
    for errno in [EIO, ENOSPC, EACCES, EROFS, EXDEV] {
        fail_every_call((native, Scene::workspace), errno, &one_file(), &BTreeMap::new());
        fail_every_call((native, Scene::warm_workspace), errno, &one_file(), &BTreeMap::new());
    }
    fail_every_call((portable, Scene::warm_workspace), EIO, &one_file(), &BTreeMap::new());
}

#[test]
fn many_files_are_all_old_or_all_new_whichever_call_fails() {
    for errno in [EIO, ENOSPC, EACCES, EROFS, EXDEV] {
        fail_every_call((native, Scene::warm_workspace), errno, &many_files(), &versions());
    }
    fail_every_call((native, Scene::workspace), EIO, &many_files(), &versions());
    fail_every_call((native, Scene::warm_workspace), EIO, &swapped_files(), &BTreeMap::new());
    fail_every_call((portable, Scene::warm_workspace), EIO, &many_files(), &versions());
}

#[cfg(windows)]
#[test]
fn on_windows_files_and_folders_that_would_change_places_stay() {
    let scene = Scene::new(native(), EIO);
    let (before, workspace) = (scene.tree(), scene.workspace());
    let problems = edit(&workspace, &turned_files("old/place.txt"), &BTreeMap::new()).unwrap_err();
    let told: Vec<_> = problems.iter().map(|problem| (problem.code(), problem.path.as_deref())).collect();
    let paths = ["b.txt/in/new.txt", "a.txt/moved.txt", "old"];
    assert_eq!(told, paths.map(|path| (Code::NotAFile, Some(path))));
    assert_eq!(scene.tree(), before);
}

#[cfg(not(windows))]
#[test]
fn files_and_folders_that_change_places_are_old_or_new_whichever_call_fails() {
    let patch = turned_files("old/place.txt");
    for errno in [EIO, ENOSPC, EACCES, EROFS, EXDEV] {
        fail_every_call((native, Scene::warm_workspace), errno, &patch, &BTreeMap::new());
    }
    fail_every_call((portable, Scene::warm_workspace), EIO, &patch, &BTreeMap::new());
    fail_for_good((native, Scene::warm_workspace), &patch, &BTreeMap::new());
}

#[test]
fn a_file_that_is_written_over_is_old_or_new_with_its_mode_whichever_call_fails() {
    let patch = unified::parse(
        "diff --git a/linked.txt b/linked.txt\nold mode 100644\nnew mode 100755\n--- a/linked.txt\n+++ \
         b/linked.txt\n@@ -1,3 +1,2 @@\n one\n-two\n-three\n+2\n",
        None,
    )
    .unwrap();
    let (mut failed, mut restored) = (0, 0);
    for n in 1.. {
        let scene = crashes::scene_of("linked", native());
        let workspace = crashes::opened(&scene);
        scene.disk.fail_call(n);
        let outcome = edit(&workspace, &patch, &BTreeMap::new());
        let made = scene.disk.calls();
        scene.disk.fail_call(0);
        let now = || (scene.folder.text("other.txt"), is_executable(&scene.folder.at("other.txt")));
        let new = ("one\n2\n".to_owned(), cfg!(unix));
        if let Err(problems) = outcome {
            failed += 1;
            assert_eq!(now(), ("one\ntwo\nthree\n".to_owned(), false), "call {n} failed: {problems:?}");
            if let Kind::IoError { states, .. } = &*problems[0].kind {
                let sound = |state: &FileState| matches!(state, FileState::Untouched | FileState::Restored);
                assert!(states.iter().all(|(_, state)| sound(state)), "call {n}: {problems:?}");
                restored += 1;
            }
            edit(&workspace, &patch, &BTreeMap::new()).unwrap_or_else(|why| panic!("call {n}: {why:?}"));
        }
        assert_eq!(now(), new, "call {n}");
        if made < n {
            break;
        }
    }
    assert!(failed > 5 && restored > 2, "only {failed} calls were made to fail");
}

/// From some call on, the disk fails for good, as one that is unplugged. What the answer says of each file is true, and
/// once the disk is back, everything is old or everything is new.
fn fail_for_good(
    (inner, open): (fn() -> Arc<dyn Disk>, Opening),
    patch: &Patch,
    versions: &BTreeMap<String, String>,
) {
    let new = {
        let scene = Scene::new(inner(), EIO);
        edit(&scene.workspace(), patch, versions).unwrap();
        scene.tree()
    };
    let mut unknown = 0;
    for n in 1.. {
        let scene = Scene::new(inner(), EIO);
        let old = scene.tree();
        let workspace = open(&scene);
        scene.disk.fail_from_call(n);
        let outcome = edit(&workspace, patch, versions);
        let made = scene.disk.calls();
        scene.disk.fail_call(0);
        let now = scene.tree();
        match outcome {
            Ok(_) => assert_eq!(now, new, "call {n} failed, the answer says success"),
            Err(problems) => {
                let states = problems.iter().find_map(|problem| match &*problem.kind {
                    Kind::IoError { states, .. } => Some(states.clone()),
                    _ => None,
                });
                let states = states.unwrap_or_default();
                if states.is_empty() {
                    assert_eq!(now, old, "call {n}: the answer says that nothing was changed");
                }
                for (name, state) in states {
                    match state {
                        FileState::Untouched | FileState::Restored => {
                            assert_eq!(now.get(&name), old.get(&name), "call {n}: {name} is {state}");
                        }
                        FileState::Unknown => unknown += 1,
                        other => panic!("call {n}: {name} is {other}"),
                    }
                }
                drop(workspace);
                let workspace = scene.workspace();
                assert_eq!(workspace.findings(), [""; 0], "call {n}");
                // A single file that is in place already stays; several are put back.
                let tree = scene.tree();
                let is_done = patch.sections().len() == 1 && now == new && tree == new;
                assert!(tree == old || is_done, "call {n}: after the next start: {tree:?}; {problems:?}");
            }
        }
        if made < n {
            break;
        }
    }
    assert!(unknown > 0, "some failures must be too early to tell");
}

#[test]
fn a_disk_that_fails_for_good_is_told_truly_and_mended_by_the_next_start() {
    fail_for_good((native, Scene::warm_workspace), &many_files(), &versions());
    fail_for_good((native, Scene::workspace), &one_file(), &BTreeMap::new());
    fail_for_good((native, Scene::warm_workspace), &one_file(), &BTreeMap::new());
    fail_for_good((portable, Scene::workspace), &many_files(), &versions());
    fail_for_good((native, Scene::warm_workspace), &swapped_files(), &BTreeMap::new());
}

/// Runs the edit of one file while somebody else does this right before the exchange.
fn meddled(meddle: impl Fn(&std::path::Path) + Send + 'static) -> (Scene, Vec<Problem>) {
    let scene = Scene::new(native(), EIO);
    let workspace = scene.workspace();
    let path = scene.folder.path().join("a.txt");
    scene.disk.before_placing(move || meddle(&path));
    let problems = edit(&workspace, &one_file(), &BTreeMap::new()).unwrap_err();
    (scene, problems)
}

#[test]
#[cfg(any(target_os = "linux", windows))]
fn a_writer_that_renames_in_between_is_kept_and_told() {
    let (scene, problems) = meddled(|path| {
        let new = path.with_extension("new");
        std::fs::write(&new, "theirs\n").unwrap();
        std::fs::rename(&new, path).unwrap();
    });
    assert_eq!(problems[0].code(), Code::StaleFile, "{problems:?}");
    assert_eq!(scene.folder.read("a.txt"), b"theirs\n");
}

#[test]
fn a_writer_that_writes_in_place_in_between_is_kept_and_told() {
    let (scene, problems) = meddled(|path| std::fs::write(path, "one\ntwo\ntheirs\n").unwrap());
    assert_eq!(problems[0].code(), Code::StaleFile, "{problems:?}");
    assert_eq!(scene.folder.read("a.txt"), b"one\ntwo\ntheirs\n");
    // Their change is in the file, so the same call goes through.
    edit(&scene.workspace(), &one_file(), &BTreeMap::new()).unwrap();
    assert_eq!(scene.folder.read("a.txt"), b"one\nTWO\ntheirs\n");
}

/// A program that opens a file right before the exchange, and writes into it as soon as it may; or, where nothing keeps it
/// from opening, once the edit is made.
#[test]
#[cfg(target_os = "linux")]
fn a_program_that_opens_the_file_in_between_writes_into_the_file_of_that_name() {
    use std::fs::{File, OpenOptions};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{FileExt, MetadataExt};

    let mut scene = Scene::new(native(), EIO);
    scene.disk = Arc::new(FailingDisk::new(native(), EIO).with_leases());
    let workspace = scene.workspace();
    let file = File::open(scene.folder.at("a.txt")).unwrap();
    let inode = format!(":{} ", file.metadata().unwrap().ino());
    // Whatever has the name by then.
    let found = format!("/proc/self/fd/{}", file.as_raw_fd());
    let (go, may_write) = std::sync::mpsc::channel();
    let (open, opened) = std::sync::mpsc::channel();
    let write = move || {
        let file = OpenOptions::new().write(true).open(found).unwrap();
        // Nobody listens any more where it was held up.
        let _ = open.send(());
        may_write.recv().unwrap();
        file.write_all_at(b"ONE", 0).unwrap();
    };
    let writer = Arc::new(Mutex::new(None));
    scene.disk.before_placing({
        let (go, writer) = (go.clone(), Arc::clone(&writer));
        move || {
            *writer.lock() = Some(std::thread::spawn(write));
            let is_held_up = |line: &str| line.contains("BREAKING") && line.contains(&inode);
            while opened.try_recv().is_err() {
                if std::fs::read_to_string("/proc/locks").unwrap().lines().any(is_held_up) {
                    go.send(()).unwrap();
                    break;
                }
            }
        }
    });
    let join = move || writer.lock().take().map_or((), |writer| writer.join().unwrap());
    // The exchange is taken back, and if there is another, the program has written before it.
    scene.disk.before_placing(|| {});
    scene.disk.before_placing(join.clone());
    let outcome = edit(&workspace, &one_file(), &BTreeMap::new());
    let _ = go.send(());
    join();
    let told = outcome.map_err(|problems| problems[0].code()).map(|report| report.notes);
    assert_eq!(scene.folder.read("a.txt"), b"ONE\ntwo\nthree\n", "{told:?}");
    assert_eq!(told, Err(Code::StaleFile));
}

#[test]
fn a_file_that_is_removed_in_between_stays_removed_and_is_told() {
    let (scene, problems) = meddled(|path| std::fs::remove_file(path).unwrap());
    assert_eq!(problems[0].code(), Code::StaleFile, "{problems:?}");
    assert!(!scene.tree().contains_key("a.txt"));
}

#[test]
fn a_file_that_comes_where_one_is_created_is_kept_and_told() {
    let scene = Scene::new(native(), EIO);
    let workspace = scene.workspace();
    let path = scene.folder.path().join("n.txt");
    scene.disk.before_placing(move || std::fs::write(&path, "theirs\n").unwrap());
    let patch = Patch::write("n.txt", "ours\n".into());
    let problems = edit(&workspace, &patch, &BTreeMap::new()).unwrap_err();
    assert_eq!(problems[0].code(), Code::AlreadyExists, "{problems:?}");
    assert_eq!(scene.folder.read("n.txt"), b"theirs\n");
}

#[test]
fn nothing_is_left_in_the_workspace_or_among_the_open_transactions() {
    let scene = Scene::new(native(), EIO);
    let workspace = scene.workspace();
    edit(&workspace, &many_files(), &versions()).unwrap();
    edit(&workspace, &one_file(), &BTreeMap::new()).unwrap_err();
    assert!(scene.folder.tree().keys().all(|name| !name.contains(".emend")));
    let homes = std::fs::read_dir(scene.folder.state().join("roots")).unwrap();
    for home in homes {
        let open = home.unwrap().path().join("tx");
        assert_eq!(std::fs::read_dir(open).unwrap().count(), 0);
    }
}

/// Whichever call fails, what could not be looked at is told.
fn look_while_calls_fail(inner: fn() -> Arc<dyn Disk>) {
    let scene = Scene::new(inner(), EIO);
    scene.folder.write(".gitignore", "ignored\n");
    let workspace = scene.workspace();
    let scope = || WalkScope { path: None, glob: None, cancelled: &|| false };
    let list =
        || workspace.files().list(&scope(), None).map(|listing| (listing.files, listing.unseen.unreadable));
    let query = Query { pattern: "e", ..Query::default() };
    let search =
        || workspace.files().search(&scope(), &query).map(|found| (found.searched, found.unseen.unreadable));
    for look in [&list as &dyn Fn() -> _, &search] {
        assert_eq!(look(), Ok((5, 0)));
        let mut told = 0;
        for n in 1.. {
            scene.disk.fail_call(n);
            let (seen, unreadable) = look().unwrap();
            assert!(seen == 5 || unreadable == 1, "call {n} failed, {seen} files were seen");
            told += unreadable;
            if scene.disk.calls() < n {
                break;
            }
        }
        assert!(told >= 4, "only {told} failures were told");
        scene.disk.fail_call(0);
    }
}

#[test]
fn what_cannot_be_listed_or_searched_is_told_whichever_call_fails() {
    look_while_calls_fail(native);
    look_while_calls_fail(portable);
}
