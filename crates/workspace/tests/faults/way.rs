//! Files that become folders and folders that become files, while another program is in the way.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use emend_edit::Version;
use emend_edit::patch::v4a;
use emend_testkit::Tree;
use emend_testkit::failing_disk::FailingDisk;
use emend_workspace::history::undo::Undo;
use emend_workspace::problem::{Code, FileState, Kind, Problem};
use emend_workspace::{EditContext, Mutex, NotCommitted, Origin, Request};

use crate::{EIO, Scene, edit, native, turned_files};

/// The number of renames before anything is put in place: the journal gets its name, and three files are displaced.
const CLEARED: usize = 4;

/// Edits while another program does this right before the placing with this number. Also returns the files before.
fn meddled(at: usize, meddle: impl Fn(&Path) + Send + 'static) -> (Scene, Tree, Vec<Problem>) {
    let scene = Scene::new(native(), EIO);
    let (before, workspace) = (scene.tree(), scene.workspace());
    let root = scene.folder.path().to_path_buf();
    (1..at).for_each(|_| scene.disk.before_placing(|| ()));
    scene.disk.before_placing(move || meddle(&root));
    let problems = edit(&workspace, &turned_files("old/place.txt"), &BTreeMap::new()).unwrap_err();
    // Nothing is left that would have to be recovered.
    drop(workspace);
    assert_eq!(scene.workspace().findings(), [""; 0]);
    (scene, before, problems)
}

fn states(problems: &[Problem]) -> BTreeMap<&str, FileState> {
    let Kind::IoError { states, .. } = &*problems[0].kind else { panic!("{problems:?}") };
    states.iter().map(|(name, state)| (name.as_str(), *state)).collect()
}

#[test]
fn what_another_program_puts_into_a_folder_that_is_to_go_stays_and_so_does_the_rest() {
    let (scene, mut files, problems) =
        meddled(1, |root| fs::write(root.join("old/theirs.txt"), "theirs\n").unwrap());
    assert_eq!((problems[0].code(), problems[0].path.as_deref()), (Code::NotAFile, Some("old")));
    files.insert("old/theirs.txt".into(), b"theirs\n".to_vec());
    assert_eq!(scene.tree(), files);
}

#[test]
fn a_file_of_another_program_in_the_place_of_a_folder_that_is_gone_stays() {
    let (scene, mut files, problems) =
        meddled(CLEARED + 2, |root| fs::write(root.join("old"), "theirs\n").unwrap());
    let states = states(&problems);
    assert_eq!((states["old"], states["a.txt/moved.txt"]), (FileState::Kept, FileState::Restored));
    files.retain(|name, _| !name.starts_with("old"));
    files.insert("old".into(), b"theirs\n".to_vec());
    assert_eq!(scene.tree(), files);
    assert!(is_kept(&scene, b"move me\nkeep\n"), "the displaced file");
}

#[test]
fn a_file_of_another_program_in_a_folder_where_a_file_was_stays() {
    let (scene, mut files, problems) = meddled(CLEARED + 2, |root| {
        fs::write(root.join("b.txt/theirs.txt"), "theirs\n").unwrap();
        fs::write(root.join("old"), "theirs\n").unwrap();
    });
    assert_eq!(states(&problems)["b.txt"], FileState::Kept);
    files.retain(|name, _| !name.starts_with("old") && name != "b.txt");
    for name in ["old", "b.txt/theirs.txt"] {
        files.insert(name.into(), b"theirs\n".to_vec());
    }
    assert_eq!(scene.tree(), files);
    assert!(is_kept(&scene, b"bee\n"), "the displaced file");
}

/// Whether a file with this content is kept in the state folder.
fn is_kept(scene: &Scene, content: &[u8]) -> bool {
    emend_testkit::folder::tree(&scene.folder.state()).values().any(|kept| kept == content)
}

#[test]
fn files_and_folders_that_have_changed_places_change_them_back_and_again() {
    let scene = Scene::new(native(), EIO);
    let workspace = scene.warm_workspace();
    let before = scene.tree();
    edit(&workspace, &turned_files("old/place.txt"), &BTreeMap::new()).unwrap();
    let after = scene.tree();
    assert_eq!((after["old"].as_slice(), after["a.txt/moved.txt"].len()), (&b"move me\nkeep\n"[..], 14));
    let (readings, origin) = (Mutex::default(), Origin::default());
    let context = EditContext::patient(&readings, &origin);
    let undo = |edit: Option<&str>| {
        workspace.undo(&Undo { edit, path: None }, &context).map_err(NotCommitted::into_problems)
    };
    let undone = undo(None).unwrap();
    assert_eq!(scene.tree(), before);
    // Undoing the undo goes the other way. What another program has put there since stays.
    fs::write(scene.folder.at("old/theirs.txt"), "theirs\n").unwrap();
    let problems = undo(undone.edit.as_deref()).unwrap_err();
    let Kind::FolderHolds { names, is_all: true } = &*problems[0].kind else { panic!("{problems:?}") };
    assert_eq!(names, &["old/theirs.txt"]);
    fs::remove_file(scene.folder.at("old/theirs.txt")).unwrap();
    undo(undone.edit.as_deref()).unwrap();
    assert_eq!(scene.tree(), after);
}

#[test]
fn a_folder_on_another_file_system_than_the_state_folder_becomes_a_file_or_stays_whichever_call_fails() {
    let patch = v4a::parse(
        "*** Begin Patch\n*** Delete File: old/place.txt\n*** Add File: old\n+new\n*** End \
         Patch",
    )
    .unwrap();
    let versions = [("old/place.txt".to_owned(), Version::hash(b"move me\nkeep\n").short())].into();
    for call in 1.. {
        let Scene { folder, .. } = Scene::new(native(), EIO);
        let disk = FailingDisk::new(native(), EIO).with_mount(folder.path()).with_mount(&folder.at("old"));
        let scene = Scene { folder, disk: Arc::new(disk) };
        let (before, workspace) = (scene.tree(), scene.workspace());
        scene.disk.fail_call(call);
        let outcome = edit(&workspace, &patch, &versions);
        let made = scene.disk.calls();
        scene.disk.fail_call(0);
        match outcome {
            Ok(_) => assert_eq!(scene.folder.text("old"), "new\n", "call {call}"),
            Err(problems) => assert_eq!(scene.tree(), before, "call {call}: {problems:?}"),
        }
        if made < call {
            assert_eq!(scene.folder.text("old"), "new\n", "no call failed");
            break;
        }
    }
}

#[test]
fn a_preview_is_applied_only_with_what_takes_things_out_of_the_way() {
    let (patch, scene) = (turned_files("old/place.txt"), Scene::new(native(), EIO));
    let (before, workspace) = (scene.tree(), scene.workspace());
    let (readings, origin) = (Mutex::default(), Origin::default());
    let context = EditContext::patient(&readings, &origin);
    let request = Request { patch: &patch, versions: &BTreeMap::new() };
    let preview = workspace.preview(&request, &context).unwrap();
    // The first hunk is the file in the folder, and the second one takes the file away that is there.
    let (why, _) = workspace.apply(preview, Some(&[1]), &context).unwrap_err();
    assert_eq!(why.into_problems()[0].code(), Code::NotAFile);
    assert_eq!(scene.tree(), before);
    let preview = workspace.preview(&request, &context).unwrap();
    workspace.apply(preview, None, &context).unwrap();
    assert_eq!(scene.folder.text("b.txt/in/new.txt"), "new\n");
    assert_eq!(scene.folder.text("old"), "move me\nkeep\n");
}
