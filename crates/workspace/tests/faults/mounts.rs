//! Files on another file system than the folder in which Emend stages new files and keeps old ones.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use emend_edit::Version;
use emend_edit::patch::{Patch, v4a};
use emend_testkit::Tree;
use emend_testkit::failing_disk::FailingDisk;
use emend_workspace::history::undo::Undo;
use emend_workspace::{EditContext, Mutex, Origin};

use crate::{EIO, Scene, edit, native};

/// A scene whose folder `old` is a mount of its own.
fn mounted() -> Scene {
    let Scene { folder, .. } = Scene::new(native(), EIO);
    folder.write("old/gone.txt", b"bye\n");
    let disk = FailingDisk::new(native(), EIO).with_mount(&folder.at("old"));
    Scene { folder, disk: Arc::new(disk) }
}

/// A patch that does in the mount whatever can be done, and moves files into it and out of it.
fn every_change() -> Patch {
    v4a::parse(
        "*** Begin Patch\n*** Add File: old/new.txt\n+new\n*** Update File: old/place.txt\n@@\n-move me\n+moved\n*** \
         Delete File: old/gone.txt\n*** Update File: a.txt\n*** Move to: old/a.txt\n@@\n-two\n+TWO\n*** Move File: \
         b.txt -> old/bee.txt\n*** End Patch",
    )
    .unwrap()
}

fn versions() -> BTreeMap<String, String> {
    [("old/gone.txt".to_owned(), Version::hash(b"bye\n").short())].into()
}

/// The files of a scene, and of these those that Emend has staged beside others.
fn files(scene: &Scene) -> (Tree, Vec<String>) {
    let (staged, files): (Tree, Tree) =
        scene.tree().into_iter().partition(|(name, _)| name.starts_with("old/.emend-"));
    (files, staged.into_keys().collect())
}

#[test]
fn an_edit_in_a_mount_can_be_taken_back_and_leaves_nothing_there() {
    let scene = mounted();
    let (before, workspace) = (scene.tree(), scene.workspace());
    let report = edit(&workspace, &every_change(), &versions()).unwrap();
    assert!(report.is_recorded);
    let (after, staged) = files(&scene);
    assert_eq!(staged, [] as [String; 0]);
    let text = |name: &str| String::from_utf8(after[name].clone()).unwrap();
    assert_eq!(
        ["old/new.txt", "old/place.txt", "old/a.txt", "old/bee.txt"].map(text),
        ["new\n", "moved\nkeep\n", "one\nTWO\nthree\n", "bee\n"]
    );
    assert!(["a.txt", "b.txt", "old/gone.txt"].iter().all(|name| !scene.folder.has(name)));
    let (readings, origin) = (Mutex::default(), Origin::default());
    let undo = Undo { edit: None, path: None };
    workspace.undo(&undo, &EditContext::patient(&readings, &origin)).unwrap();
    assert_eq!(scene.tree(), before);
}

#[test]
fn a_file_out_of_a_mount_keeps_what_another_program_writes_into_the_old_one() {
    let scene = mounted();
    let path = scene.folder.at("old/place.txt");
    let theirs = path.clone();
    scene.disk.before_placing(move || fs::write(theirs, "theirs\n").unwrap());
    let problems = edit(&scene.workspace(), &every_change(), &versions()).unwrap_err();
    assert_eq!(problems[0].code().as_str(), "stale-file", "{problems:?}");
    assert_eq!(fs::read_to_string(path).unwrap(), "theirs\n");
    assert_eq!(files(&scene).1, [] as [String; 0]);
}

#[test]
fn files_in_a_mount_are_all_old_or_all_new_whichever_call_fails() {
    let new = {
        let scene = mounted();
        edit(&scene.workspace(), &every_change(), &versions()).unwrap();
        scene.tree()
    };
    let mut failed = 0;
    for call in 1.. {
        let scene = mounted();
        let (old, workspace) = (scene.tree(), scene.workspace());
        scene.disk.fail_call(call);
        let outcome = edit(&workspace, &every_change(), &versions());
        let made = scene.disk.calls();
        scene.disk.fail_call(0);
        if let Err(problems) = outcome {
            failed += 1;
            assert_eq!(files(&scene).0, old, "call {call} failed: {problems:?}");
            edit(&workspace, &every_change(), &versions())
                .unwrap_or_else(|problems| panic!("call {call}: {problems:?}"));
        }
        assert_eq!(files(&scene).0, new, "call {call}");
        if made < call {
            break;
        }
    }
    assert!(failed > 20, "only {failed} calls were made to fail");
}

#[test]
fn a_renamed_file_that_cannot_come_back_out_of_a_mount_is_kept() {
    let scene = mounted();
    let root = scene.folder.path().to_path_buf();
    let patch =
        "*** Begin Patch\n*** Move File: b.txt -> old/bee.txt\n*** Add File: new.txt\n+new\n*** End Patch";
    // The journal gets its name, the new file comes, and the old one goes.
    (0..3).for_each(|_| scene.disk.before_placing(|| ()));
    scene.disk.before_placing(move || {
        ["b.txt", "new.txt"].into_iter().for_each(|name| fs::write(root.join(name), "theirs\n").unwrap());
    });
    let problems = edit(&scene.workspace(), &v4a::parse(patch).unwrap(), &BTreeMap::new()).unwrap_err();
    assert_eq!(problems[0].code().as_str(), "already-exists", "{problems:?}");
    assert_eq!(scene.folder.text("b.txt"), "theirs\n");
    assert!(!scene.folder.has("old/bee.txt"));
    let kept = emend_testkit::folder::tree(&scene.folder.state());
    assert!(kept.values().any(|content| content == b"bee\n"), "{:?}", kept.keys());
}
