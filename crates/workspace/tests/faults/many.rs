//! What an edit of very many files costs, and what it no longer does for each of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use emend_edit::patch::{Patch, v4a};
use emend_workspace::disk::Disk;

use crate::{EIO, Scene, edit, portable};

/// A patch that adds so many files, each in a folder of its own or all in one that exists.
fn added(count: usize, apart: bool) -> Patch {
    let path = |number: usize| if apart { format!("new{number}/n.txt") } else { format!("old/{number}.txt") };
    let sections: String =
        (0..count).map(|number| format!("*** Add File: {}\n+{number}\n", path(number))).collect();
    v4a::parse(&format!("*** Begin Patch\n{sections}*** End Patch")).unwrap()
}

/// Returns how often a file or a folder is synced in an edit, and how often a whole file system.
fn syncs(inner: Arc<dyn Disk>, patch: &Patch) -> (usize, usize) {
    let scene = Scene::new(inner, EIO);
    let workspace = scene.workspace();
    let before = scene.disk.syncs();
    edit(&workspace, patch, &BTreeMap::new()).unwrap();
    let tree = scene.tree();
    for path in patch.paths() {
        assert!(tree.contains_key(path), "{path}");
    }
    let after = scene.disk.syncs();
    (after.0 - before.0, after.1 - before.1)
}

#[test]
#[cfg(target_os = "linux")]
fn from_a_hundred_files_on_one_sync_is_made_for_all_instead_of_one_for_each() {
    use crate::native;

    for (count, apart, each, whole) in
        [(99, true, 99 + 99, 0), (99, false, 99, 0), (100, true, 0, 2), (100, false, 0, 1)]
    {
        let (synced, synced_whole) = syncs(native(), &added(count, apart));
        assert_eq!(synced_whole, whole, "{count} files, apart: {apart}");
        // The journal, the log and their folders are synced too.
        assert!((each..each + 20).contains(&synced), "{count} files, apart: {apart}: {synced}");
    }
}

#[test]
fn where_a_file_system_cannot_be_synced_each_of_many_files_is() {
    let (synced, _) = syncs(portable(), &added(100, true));
    assert!((200..220).contains(&synced), "{synced}");
}

#[test]
#[cfg(any(target_os = "linux", windows))]
fn up_to_four_files_are_watched_for_programs_that_write_to_them() {
    use std::fs;

    use emend_testkit::failing_disk::FailingDisk;
    use emend_workspace::Note;

    use crate::native;

    let mut scene = Scene::new(native(), EIO);
    scene.disk = Arc::new(FailingDisk::new(native(), EIO).with_leases());
    let noted = |count: usize| {
        let names: Vec<String> = (0..count).map(|number| format!("{number}.txt")).collect();
        names.iter().for_each(|name| scene.folder.write(name, "old\n"));
        let _writer = fs::OpenOptions::new().append(true).open(scene.folder.at(&names[3])).unwrap();
        let section = |name: &String| format!("*** Update File: {name}\n@@\n-old\n+new\n");
        let sections: String = names.iter().map(section).collect();
        let patch = v4a::parse(&format!("*** Begin Patch\n{sections}*** End Patch")).unwrap();
        edit(&scene.workspace(), &patch, &BTreeMap::new()).unwrap().notes
    };
    let open = Note::OpenElsewhere { file: "3.txt".into(), others: 0 };
    assert_eq!([4, 5].map(noted), [vec![open], vec![]]);
}
