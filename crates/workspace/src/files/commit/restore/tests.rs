//! Tests of putting files back: what stands in a name and in the vault decides what has become of a file.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use cap_std::ambient_authority;

use super::*;
use crate::disk::Portable;
use crate::files::trail::Trail;

fn opened(folder: &Path) -> Dir {
    Dir::open_ambient_dir(folder, ambient_authority()).unwrap()
}

fn undo(disk: &dyn Disk, site: &Site) -> FileState {
    joined(undo_place(disk, site), undo_displace(disk, site))
}

#[test]
fn what_is_wrong_with_one_side_of_a_move_is_not_hidden_by_the_other() {
    use FileState::{Restored, Theirs, Untouched};
    assert_eq!(worse(Untouched, Theirs), Theirs);
    assert_eq!(worse(Theirs, Restored), Theirs);
    assert_eq!(worse(Restored, Theirs), Theirs);
    assert_eq!(worse(Restored, Untouched), Restored);
}

#[test]
fn a_file_is_brought_back_where_nothing_has_taken_its_place() {
    let (disk, folder) = (crate::disk::for_this_machine(), tempfile::tempdir().unwrap());
    let dir = opened(folder.path());
    let (kept, old) = ((&dir, OsStr::new("kept")), (&dir, OsStr::new("old")));
    assert_eq!(bring_back(&*disk, kept, Some(old)).unwrap(), FileState::Untouched);
    fs::write(folder.path().join("kept"), "ours").unwrap();
    assert_eq!(bring_back(&*disk, kept, None).unwrap(), FileState::Theirs);
    assert_eq!(bring_back(&*disk, kept, Some(old)).unwrap(), FileState::Restored);
    fs::write(folder.path().join("kept"), "ours, too").unwrap();
    assert_eq!(bring_back(&*disk, kept, Some(old)).unwrap(), FileState::Theirs);
    assert_eq!(fs::read_to_string(folder.path().join("old")).unwrap(), "ours");
    assert!(folder.path().join("kept").exists());
}

#[test]
fn a_folder_that_is_back_where_a_file_was_to_be_is_as_it_was() {
    // A second recovery finds this, if the first one was killed when it had removed the staged file.
    let disk = crate::disk::for_this_machine();
    for change in [Change::Create, Change::Move] {
        let scene = Scene::new(change, &[]);
        fs::create_dir(scene.folder.path().join("file")).unwrap();
        assert_eq!(undo(&*disk, &scene.site), FileState::Untouched, "{change:?}");
    }
}

#[test]
#[cfg(unix)]
fn only_a_file_is_opened() {
    let (disk, folder) = (crate::disk::for_this_machine(), tempfile::tempdir().unwrap());
    let dir = opened(folder.path());
    fs::write(folder.path().join("file"), "").unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    std::os::unix::fs::symlink("file", folder.path().join("link")).unwrap();
    let is_open = |name: &str| open(&*disk, &dir, OsStr::new(name)).unwrap().is_some();
    assert!(is_open("file"));
    assert!(!is_open("folder") && !is_open("link") && !is_open("none"));
}

#[test]
fn a_content_that_was_half_written_over_is_known_and_no_other() {
    let cases: [(&[u8], &[u8]); 4] = [
        (b"old content", b"new longer content"),
        (b"a long old content", b"new"),
        (b"", b"new"),
        (b"old", b""),
    ];
    for (base, after) in cases {
        assert!(is_between(base, base, after) && is_between(after, base, after));
        for written in 0..=after.len() {
            let mut now = after[..written].to_vec();
            now.extend(base.get(written..).unwrap_or_default());
            assert!(is_between(&now, base, after), "{written} of {after:?} over {base:?}");
            now.push(b'!');
            assert!(!is_between(&now, base, after), "theirs");
        }
    }
    assert!(!is_between(b"old centent", b"old content", b"new content"));
}

const OLD: &str = "old content";
const NEW: &str = "new and longer content";
const OTHER: &str = "of another program";

/// A folder with a file and a vault with its staged and its displaced file, each as given.
struct Scene {
    folder: tempfile::TempDir,
    site: Site,
}

impl Scene {
    fn new(change: Change, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let dir = Arc::new(opened(folder.path()));
        let version = |content: &str| Some(Version::hash(content.as_bytes()).hex());
        let ours = files.iter().find(|(_, content)| *content == NEW);
        let inode = ours.map(|(name, _)| fs::metadata(folder.path().join(name)).unwrap().ino());
        let is_move = matches!(change, Change::Rename | Change::Move);
        let entry = Entry {
            change,
            path: Trail::of_one_name("file").unwrap(),
            from: is_move.then(|| Trail::of_one_name("old").unwrap()),
            base: (change != Change::Create).then(|| version(OLD)).flatten(),
            after: (change != Change::Delete).then(|| version(NEW)).flatten(),
            inode,
            staged_beside: false,
            displaced_beside: false,
        };
        // One slot serves both where the two are exchanged.
        let staged = if change == Change::Overwrite { "staged" } else { "slot" };
        let site = Site {
            entry,
            shown: "file".into(),
            dir: Some(Arc::clone(&dir)),
            from: is_move.then(|| Arc::clone(&dir)),
            staged: (Arc::clone(&dir), staged.into()),
            displaced: (dir, "slot".into()),
        };
        Self { folder, site }
    }

    fn files(&self) -> BTreeMap<String, String> {
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let read = |entry: fs::DirEntry| (fs::read_to_string(entry.path()).unwrap(), name(entry));
        fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| read(entry.unwrap()))
            .map(|(a, b)| (b, a))
            .collect()
    }
}

/// Checks what becomes of a file that is put back where these files are.
#[track_caller]
fn check(change: Change, files: &[(&str, &str)], expected: FileState, left: &[(&str, &str)]) {
    let disk = crate::disk::for_this_machine();
    let scene = Scene::new(change, files);
    assert_eq!(undo(&*disk, &scene.site), expected, "{files:?}");
    let left = left.iter().map(|(name, content)| ((*name).to_owned(), (*content).to_owned())).collect();
    assert_eq!(scene.files(), left, "{files:?}");
}

#[test]
fn a_changed_file_is_exchanged_back_if_ours_is_still_there() {
    use FileState::{Restored, Theirs, Untouched};
    let check = |files: [(&str, &str); 2], expected, left: [(&str, &str); 2]| {
        check(Change::Modify, &files, expected, &left);
    };
    check([("file", NEW), ("slot", OLD)], Restored, [("file", OLD), ("slot", NEW)]);
    check([("file", OLD), ("slot", NEW)], Untouched, [("file", OLD), ("slot", NEW)]);
    check([("file", OTHER), ("slot", OLD)], Theirs, [("file", OTHER), ("slot", OLD)]);
}

#[test]
fn what_a_removed_folder_took_along_depends_on_what_was_displaced() {
    let disk = crate::disk::for_this_machine();
    for (files, expected) in [
        (&[("slot", OLD)][..], FileState::Theirs),
        (&[("slot", NEW)], FileState::Untouched),
        (&[], FileState::Untouched),
    ] {
        let mut scene = Scene::new(Change::Modify, files);
        scene.site.dir = None;
        assert_eq!(undo(&*disk, &scene.site), expected, "{files:?}");
    }
}

#[test]
fn a_renamed_file_gets_its_name_back() {
    use FileState::{Restored, Theirs, Untouched};
    check(Change::Rename, &[("file", NEW)], Restored, &[("old", NEW)]);
    check(Change::Rename, &[("old", NEW)], Untouched, &[("old", NEW)]);
    check(Change::Rename, &[("file", NEW), ("old", OTHER)], Theirs, &[("file", NEW), ("old", OTHER)]);
    // Where it takes two steps, a crash between them leaves both names.
    let scene = Scene::new(Change::Rename, &[("file", NEW)]);
    fs::hard_link(scene.folder.path().join("file"), scene.folder.path().join("old")).unwrap();
    assert_eq!(undo(&Portable, &scene.site), Restored);
    assert_eq!(scene.files().keys().collect::<Vec<_>>(), ["old"]);
}

#[test]
fn a_file_that_was_written_over_is_written_back_unless_another_program_wrote() {
    use FileState::{Mixed, Restored, Theirs, Unknown, Untouched};
    let half = &format!("{}{}", &NEW[..6], &OLD[6..]);
    let check = |now: &str, expected, left: &str| {
        let others = [("staged", NEW), ("slot", OLD)];
        let with = |now| [("file", now), others[0], others[1]];
        check(Change::Overwrite, &with(now), expected, &with(left));
    };
    check(OLD, Untouched, OLD);
    check(NEW, Restored, OLD);
    check(half, Restored, OLD);
    check(OTHER, Mixed, OTHER);
    // Before the copy is there, nothing was written.
    let check = self::check;
    check(Change::Overwrite, &[("file", OLD), ("staged", NEW)], Untouched, &[("file", OLD), ("staged", NEW)]);
    check(Change::Overwrite, &[("file", OTHER)], Theirs, &[("file", OTHER)]);
    // With content and mode it needs neither of the others.
    check(Change::Overwrite, &[("file", OLD), ("slot", OLD)], Untouched, &[("file", OLD), ("slot", OLD)]);
    check(Change::Overwrite, &[("file", NEW), ("slot", OLD)], Unknown, &[("file", NEW), ("slot", OLD)]);
    let scene = Scene::new(Change::Overwrite, &[("file", OLD), ("staged", NEW), ("slot", OLD)]);
    for name in ["file", "slot"] {
        fs::set_permissions(scene.folder.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let disk = crate::disk::for_this_machine();
    assert_eq!(undo(&*disk, &scene.site), Untouched, "both may be executed");
    fs::set_permissions(scene.folder.path().join("file"), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(undo(&*disk, &scene.site), Restored);
    assert_eq!(fs::metadata(scene.folder.path().join("file")).unwrap().mode() & 0o777, 0o755);
}
