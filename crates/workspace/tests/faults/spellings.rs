//! A disk that ignores case, as those of most Macs and of Windows: whatever spelling a request has, a file is one file and
//! keeps its name.

use std::collections::BTreeMap;
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use emend_edit::patch::{Patch, v4a};
use emend_testkit::Folder;
use emend_testkit::failing_disk::FailingDisk;
use emend_workspace::WalkScope;
use emend_workspace::disk::{self, Disk, Portable};
use emend_workspace::problem::Code;
use emend_workspace::search::Query;

use super::{EIO, Scene, edit};

/// The disks of this machine, ignoring case.
fn disks() -> [Arc<dyn Disk>; 2] {
    [disk::for_this_machine(), Arc::new(Portable)]
        .map(|inner| Arc::new(FailingDisk::new(inner, EIO).ignoring_case()) as Arc<dyn Disk>)
}

fn patch(text: &str) -> Patch {
    v4a::parse(&format!("*** Begin Patch\n{text}*** End Patch")).unwrap()
}

#[test]
fn a_file_keeps_its_name_whatever_spelling_an_edit_has() {
    for disk in disks() {
        let scene = Scene::new(disk, EIO);
        let workspace = scene.workspace();
        let request = patch(
            "*** Update File: A.TXT\n@@\n-two\n+TWO\n*** Update File: OLD/Place.txt\n@@\n-keep\n+kept\n",
        );
        let report = edit(&workspace, &request, &BTreeMap::new()).unwrap();
        let names: Vec<&str> = report.files.iter().map(|file| file.name.as_str()).collect();
        assert_eq!(names, ["a.txt", "old/place.txt"]);
        let tree = scene.tree();
        assert_eq!(tree.len(), scene_files());
        assert_eq!(
            (&*tree["a.txt"], &*tree["old/place.txt"]),
            (&b"one\nTWO\nthree\n"[..], &b"move me\nkept\n"[..])
        );
    }
}

fn scene_files() -> usize {
    Scene::new(disk::for_this_machine(), EIO).tree().len()
}

#[test]
fn two_spellings_in_a_request_are_one_file() {
    for disk in disks() {
        let scene = Scene::new(disk, EIO);
        let request =
            patch("*** Update File: a.txt\n@@\n-one\n+ONE\n*** Update File: A.txt\n@@\n-three\n+THREE\n");
        edit(&scene.workspace(), &request, &BTreeMap::new()).unwrap();
        assert_eq!(scene.tree()["a.txt"], b"ONE\ntwo\nTHREE\n");
    }
}

#[test]
fn no_file_is_made_beside_one_that_differs_in_case_alone() {
    for disk in disks() {
        let scene = Scene::new(disk, EIO);
        let before = scene.tree();
        for request in [
            "*** Add File: B.TXT\n+new\n",
            "*** Move File: a.txt -> A.TXT\n",
            "*** Move File: a.txt -> B.txt\n",
        ] {
            let problems = edit(&scene.workspace(), &patch(request), &BTreeMap::new()).unwrap_err();
            assert!(
                problems.iter().all(|problem| problem.code() != Code::IoError),
                "{request}: {problems:?}"
            );
            assert_eq!(scene.tree(), before, "{request}");
        }
    }
}

#[test]
fn a_name_that_changes_its_case_alone_loses_nothing() {
    for disk in disks() {
        let folder = Folder::with([("a.txt", "one\n")]);
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        disk.rename_new((&dir, "a.txt".as_ref()), (&dir, "A.txt".as_ref())).unwrap();
        assert_eq!(folder.text("A.txt"), "one\n");
        assert!(!folder.has("a.txt"));
    }
}

#[test]
fn what_is_found_below_a_folder_has_the_name_that_the_disk_has() {
    for disk in disks() {
        let scene = Scene::new(disk, EIO);
        let cancelled = || false;
        let scope = WalkScope { path: Some("OLD"), glob: None, cancelled: &cancelled };
        let query = Query { pattern: "keep", ..Query::default() };
        let found = scene.workspace().files().search(&scope, &query).unwrap();
        assert_eq!(found.files[0].name, "old/place.txt");
    }
}
