//! The limits of recovery and restoring. They must not act on files that this user's Emend did not write for this root,
//! overwrite what another program wrote, or delete unknown files.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use emend_edit::patch::{Patch, v4a};
use emend_testkit::folder;
#[cfg(windows)]
use emend_workspace::history::HistoryQuery;
use emend_workspace::problem::{Code, FileState, Kind, Problem};

use crate::crashes::{dies, opened, scene_of};
use crate::{Scene, edit, many_files, native, one_file, versions};

const NONE: BTreeMap<String, String> = BTreeMap::new();

/// The one root's folder in the state folder.
fn home(scene: &Scene) -> PathBuf {
    fs::read_dir(scene.folder.state().join("roots")).unwrap().next().unwrap().unwrap().path()
}

/// The one open transaction of a scene.
fn open_transaction(scene: &Scene) -> PathBuf {
    let mut names = fs::read_dir(home(scene).join("tx")).unwrap();
    let path = names.next().unwrap().unwrap().path();
    assert!(names.next().is_none());
    path
}

/// A scene whose edit was killed in the middle: some files are new.
fn interrupted() -> Scene {
    (1..)
        .map(|call| {
            let scene = Scene::new(native(), 5);
            assert!(dies(&scene, "many", "native", call), "it was never in the middle");
            scene
        })
        .find(|scene| scene.folder.read("a.txt") == b"one\nTWO\nthree\n")
        .unwrap()
}

/// Opens the workspace, which recovers. Nothing in the folder may change by that. Yields what is told.
fn nothing_happens(scene: &Scene) -> Vec<String> {
    let before = scene.folder.everything();
    let told = scene.workspace().findings();
    let after = scene.folder.everything();
    let keyless = |tree: &folder::Tree| {
        tree.iter()
            .filter(|(name, _)| !["state/key", "state/.emend"].contains(&name.as_str()))
            .map(|(n, b)| (n.clone(), b.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(keyless(&before), keyless(&after));
    told
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    #[cfg(unix)]
    fs::set_permissions(to, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[test]
fn a_journal_of_another_root_is_left_alone() {
    let (from, to) = (interrupted(), interrupted());
    // Both have the same files at the same paths; only the root is another one.
    let (theirs, own) = (open_transaction(&from), open_transaction(&to));
    fs::remove_dir_all(&own).unwrap();
    copy(&theirs, &own.with_file_name(theirs.file_name().unwrap()));
    // The key is the same user's.
    fs::copy(from.folder.state().join("key"), to.folder.state().join("key")).unwrap();
    assert_eq!(nothing_happens(&to).len(), 1, "and it is told");
}

#[test]
fn a_transaction_that_is_over_is_not_taken_up_again() {
    // Put back, by a copy of its folder.
    let scene = interrupted();
    let own = open_transaction(&scene);
    let copied = scene.folder.beside("copied");
    copy(&own, &copied);
    assert_eq!(scene.workspace().findings(), [""; 0]);
    fs::remove_file(scene.folder.at("gone.txt")).unwrap();
    copy(&copied, &own);
    assert_eq!(nothing_happens(&scene).len(), 1);
    // Made, by the name of its displaced file with another content, which would be put in place.
    let scene = Scene::new(native(), 5);
    edit(&scene.workspace(), &one_file(), &NONE).unwrap();
    let kept = fs::read_dir(home(&scene).join("history")).unwrap().next().unwrap().unwrap();
    let open = home(&scene).join("tx").join(kept.file_name());
    fs::write(&open, "evil\n").unwrap();
    assert_eq!(nothing_happens(&scene).len(), 1);
    // The same where the displaced file is not kept any more.
    let content = fs::read(kept.path()).unwrap();
    fs::remove_file(kept.path()).unwrap();
    assert_eq!(nothing_happens(&scene).len(), 1);
    // But what only could not be kept at the time is kept now.
    fs::write(&open, content).unwrap();
    assert_eq!(scene.workspace().findings(), [""; 0]);
    assert!(kept.path().exists() && !open.exists());
}

#[test]
fn a_journal_without_this_users_mark_is_left_alone() {
    let scene = interrupted();
    fs::remove_file(scene.folder.state().join("key")).unwrap();
    assert_eq!(nothing_happens(&scene).len(), 1);
    // It stays in nobody's way.
    edit(&scene.workspace(), &Patch::write("n.txt", "n\n".into()), &NONE).unwrap();
}

#[test]
fn a_torn_or_altered_journal_is_left_alone_and_told() {
    for alter in [
        (|journal: &mut Vec<u8>| journal.truncate(journal.len() / 2)) as fn(&mut Vec<u8>),
        |journal| journal.clear(),
        |journal| {
            let text = String::from_utf8(journal.clone()).unwrap();
            *journal = text.replace("a.txt", "b.txt").into_bytes();
        },
    ] {
        let scene = interrupted();
        let path = open_transaction(&scene).join("prepared");
        let mut journal = fs::read(&path).unwrap();
        alter(&mut journal);
        fs::write(&path, journal).unwrap();
        assert_eq!(nothing_happens(&scene).len(), 1);
    }
}

#[test]
#[cfg(unix)]
fn a_linked_transaction_is_left_alone() {
    let scene = interrupted();
    let path = open_transaction(&scene);
    let elsewhere = scene.folder.beside("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    assert_eq!(nothing_happens(&scene).len(), 1);
}

#[test]
#[cfg(unix)]
fn a_folder_that_a_repository_ships_is_left_alone_and_told() {
    use std::os::unix::fs::PermissionsExt;
    // A whole real one, with an interrupted edit, as an archive of the project would have it.
    let from = interrupted();
    for (mode, owner) in [(0o700, None), (0o755, None), (0o700, Some(1234))] {
        let scene = Scene::new(native(), 5);
        let shipped = scene.folder.at(".emend");
        copy(&home(&from), &shipped);
        fs::set_permissions(&shipped, fs::Permissions::from_mode(mode)).unwrap();
        if owner.is_some() && std::os::unix::fs::chown(&shipped, owner, None).is_err() {
            continue;
        }
        assert_eq!(nothing_happens(&scene).len(), 1, "{mode:o}");
        edit(&scene.workspace(), &one_file(), &NONE).unwrap();
    }
}

#[test]
fn what_the_policy_forbids_by_now_is_left_as_it_is_and_told() {
    let scene = interrupted();
    scene.folder.write(".emend.toml", "forbidden_paths = [\"gone.txt\"]\n");
    assert_eq!(nothing_happens(&scene).len(), 1);
    edit(&scene.workspace(), &Patch::write("n.txt", "n\n".into()), &NONE).unwrap();
}

/// A scene in the middle of whose edit the file that is moved and changed has left its folder.
fn interrupted_move() -> Scene {
    (1..)
        .map(|call| {
            let scene = Scene::new(native(), 5);
            assert!(dies(&scene, "many", "native", call), "it was never in the middle");
            scene
        })
        .find(|scene| !scene.folder.has("old/place.txt"))
        .unwrap()
}

#[test]
fn recovery_follows_no_link_and_keeps_what_has_no_place_any_more() {
    let replacements: &[bool] = if cfg!(unix) { &[true, false] } else { &[false] };
    for &replace in replacements {
        let scene = interrupted_move();
        let outside = scene.folder.beside("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("place.txt"), "theirs\n").unwrap();
        // The folder of the moved file is gone, or a link by now.
        fs::remove_dir(scene.folder.at("old")).unwrap();
        if replace {
            #[cfg(unix)]
            std::os::unix::fs::symlink(&outside, scene.folder.at("old")).unwrap();
        }
        let workspace = scene.workspace();
        assert_eq!(workspace.findings().len(), 1, "{:?}", workspace.findings());
        assert_eq!(fs::read(outside.join("place.txt")).unwrap(), b"theirs\n");
        assert_eq!(scene.folder.read("gone.txt"), b"bye\n", "what can be put back is");
        let aside = folder::tree(&home(&scene).join("aside"));
        assert!(aside.values().any(|bytes| bytes == b"move me\nkeep\n"), "{aside:?}");
        edit(&workspace, &one_file(), &NONE).unwrap();
    }
}

#[test]
fn a_file_whose_folder_was_removed_with_its_new_content_keeps_the_old_one() {
    let scene = interrupted_move();
    // The half-made folder of the new place goes: the moved file comes home all the same.
    fs::remove_dir_all(scene.folder.at("other")).unwrap();
    assert_eq!(scene.workspace().findings(), [""; 0]);
    assert_eq!(scene.folder.read("old/place.txt"), b"move me\nkeep\n");
    assert_eq!(scene.folder.read("gone.txt"), b"bye\n");
}

/// An edit of `a.txt` and `b.txt`.
fn two_files() -> Patch {
    v4a::parse(
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+TWO\n*** Update File: b.txt\n@@\n-bee\n+BEE\n\
         *** End Patch",
    )
    .unwrap()
}

fn states(problems: &[Problem]) -> Vec<(String, FileState)> {
    match &*problems[0].kind {
        Kind::IoError { states, .. } => states.clone(),
        other => panic!("{other:?}"),
    }
}

fn rename_over(path: &Path, content: &str) {
    let new = path.with_extension("theirs");
    fs::write(&new, content).unwrap();
    fs::rename(&new, path).unwrap();
}

#[test]
fn a_write_into_our_file_after_the_exchange_is_kept_with_what_it_displaced() {
    let scene = Scene::new(native(), 5);
    let workspace = scene.workspace();
    let (a, b) = (scene.folder.at("a.txt"), scene.folder.at("b.txt"));
    scene.disk.before_placing(|| {});
    scene.disk.before_placing(|| {});
    // The journal's own rename is the first, the exchange of a.txt the second, that of b.txt the third.
    scene.disk.before_placing(move || {
        fs::OpenOptions::new().append(true).open(&a).unwrap().write_all(b"theirs\n").unwrap();
        fs::write(&b, "theirs too\n").unwrap();
    });
    let problems = edit(&workspace, &two_files(), &NONE).unwrap_err();
    let expected = [("a.txt".to_owned(), FileState::Mixed), ("b.txt".to_owned(), FileState::Restored)];
    assert_eq!(states(&problems), expected, "{problems:?}");
    assert_eq!(scene.folder.read("a.txt"), b"one\nTWO\nthree\ntheirs\n");
    assert_eq!(scene.folder.read("b.txt"), b"theirs too\n");
    // What our file displaced is not lost.
    let aside = folder::tree(&home(&scene).join("aside"));
    assert!(aside.values().any(|bytes| bytes == b"one\ntwo\nthree\n"), "{aside:?}");
}

#[test]
fn a_third_writer_while_the_second_is_put_back_wins() {
    for writers in 2..5 {
        let scene = Scene::new(native(), 5);
        let workspace = scene.workspace();
        for writer in 0..writers {
            let path = scene.folder.at("a.txt");
            scene.disk.before_placing(move || rename_over(&path, &format!("theirs {writer}\n")));
        }
        let problems = edit(&workspace, &one_file(), &NONE).unwrap_err();
        assert_eq!(problems[0].code(), Code::StaleFile, "{problems:?}");
        let last = format!("theirs {}\n", writers - 1);
        assert_eq!(scene.folder.read("a.txt"), last.as_bytes());
        assert_eq!(fs::read_dir(home(&scene).join("tx")).unwrap().count(), 0);
    }
}

#[test]
fn a_file_that_is_removed_while_it_is_put_back_stays_removed() {
    let scene = Scene::new(native(), 5);
    let workspace = scene.workspace();
    let path = scene.folder.at("a.txt");
    let first = path.clone();
    scene.disk.before_placing(move || rename_over(&first, "theirs\n"));
    scene.disk.before_placing(move || fs::remove_file(&path).unwrap());
    edit(&workspace, &one_file(), &NONE).unwrap_err();
    assert!(!scene.folder.has("a.txt"));
    // Nothing that was displaced is lost.
    let kept = folder::tree(&home(&scene));
    assert!(kept.values().any(|bytes| bytes == b"theirs\n"), "{kept:?}");
}

#[test]
fn a_writer_with_the_old_file_open_is_noticed_before_the_check() {
    let scene = Scene::new(native(), 5);
    let workspace = scene.workspace();
    let mut old = fs::OpenOptions::new().append(true).open(scene.folder.at("a.txt")).unwrap();
    scene.disk.before_placing(|| {});
    scene.disk.before_placing(|| {});
    scene.disk.before_placing(move || old.write_all(b"late\n").unwrap());
    let problems = edit(&workspace, &two_files(), &NONE).unwrap_err();
    assert_eq!(problems[0].code(), Code::StaleFile, "{problems:?}");
    assert_eq!(scene.folder.read("a.txt"), b"one\ntwo\nthree\nlate\n");
    assert_eq!(scene.folder.read("b.txt"), b"bee\n");
}

#[test]
fn what_a_writer_displaced_before_a_crash_comes_back_after_it() {
    // Killed between the exchange and the check, while somebody wrote into the old file.
    let scene = (1..)
        .map(|call| {
            let scene = Scene::new(native(), 5);
            assert!(dies(&scene, "one", "native", call));
            scene
        })
        .find(|scene| scene.folder.read("a.txt") == b"one\nTWO\nthree\n")
        .unwrap();
    let displaced = open_transaction(&scene);
    assert_eq!(fs::read(&displaced).unwrap(), b"one\ntwo\nthree\n");
    fs::write(&displaced, "theirs\n").unwrap();
    assert_eq!(scene.workspace().findings(), [""; 0]);
    assert_eq!(scene.folder.read("a.txt"), b"theirs\n");
}

#[test]
fn displaced_bytes_that_nobody_knows_are_never_deleted() {
    let scene = interrupted();
    // Somebody writes into the displaced file, and replaces ours.
    let displaced = open_transaction(&scene).join("1");
    assert_eq!(fs::read(&displaced).unwrap(), b"one\ntwo\nthree\n");
    fs::write(&displaced, "precious\n").unwrap();
    rename_over(&scene.folder.at("a.txt"), "newer\n");
    let told = scene.workspace().findings();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(scene.folder.read("a.txt"), b"newer\n");
    assert_eq!(scene.folder.read("gone.txt"), b"bye\n", "the other files are put back");
    let aside = folder::tree(&home(&scene).join("aside"));
    assert!(aside.values().any(|bytes| bytes == b"precious\n"), "{aside:?}");
}

#[test]
fn what_cannot_be_put_back_now_is_put_back_by_the_next_call() {
    let scene = Scene::new(native(), 5);
    let workspace = scene.workspace();
    let old = scene.tree();
    edit(&workspace, &Patch::write("first.txt", "1\n".into()), &NONE).unwrap();
    // Every call fails from the first exchange on, as on a disk that goes away.
    scene.disk.fail_from_placing(2);
    let problems = edit(&workspace, &many_files(), &versions()).unwrap_err();
    assert!(states(&problems).iter().any(|(_, state)| *state == FileState::Unknown), "{problems:?}");
    scene.disk.fail_call(0);
    let problems = edit(&workspace, &Patch::write("first.txt", "2\n".into()), &NONE).unwrap_err();
    assert_eq!(problems[0].code(), Code::NotRead, "recovery went well, and the call was understood");
    let mut now = scene.tree();
    now.remove("first.txt");
    assert_eq!(now, old);
}

#[test]
fn a_write_into_a_file_that_is_written_over_is_kept_and_told() {
    let scene = scene_of("linked", native());
    let workspace = opened(&scene);
    let linked = scene.folder.at("linked.txt");
    let other = scene.folder.at("a.txt");
    let patch = v4a::parse(
        "*** Begin Patch\n*** Update File: linked.txt\n@@\n-two\n+TWO\n*** Update File: a.txt\n@@\n-two\n+TWO\n\
         *** End Patch",
    )
    .unwrap();
    scene.disk.before_placing(|| {});
    // The journal's rename is the first, the exchange of a.txt the second: linked.txt is written over by then.
    scene.disk.before_placing(move || {
        fs::OpenOptions::new().append(true).open(&linked).unwrap().write_all(b"theirs\n").unwrap();
        fs::write(&other, "theirs too\n").unwrap();
    });
    let problems = edit(&workspace, &patch, &NONE).unwrap_err();
    let expected = [("linked.txt".to_owned(), FileState::Mixed), ("a.txt".to_owned(), FileState::Restored)];
    assert_eq!(states(&problems), expected, "{problems:?}");
    assert_eq!(scene.folder.read("other.txt"), b"one\nTWO\nthree\ntheirs\n");
    assert_eq!(scene.folder.read("a.txt"), b"theirs too\n");
    let aside = folder::tree(&home(&scene).join("aside"));
    assert!(aside.values().any(|bytes| bytes == b"one\ntwo\nthree\n"), "{aside:?}");
}

/// The names of an exchange after each of its three renames.
#[test]
#[cfg(windows)]
fn an_exchange_is_finished_or_taken_back_wherever_it_was_interrupted() {
    for which in ["one", "many"] {
        // Before this call, everything is staged, and nothing is in its place yet.
        let staged_by = |call: &usize| {
            let scene = Scene::new(native(), 5);
            assert!(dies(&scene, which, "native", *call), "it was never in the middle");
            is_staged(&scene, which)
        };
        let call = (1..).step_by(3).find(staged_by).unwrap();
        for steps in 0..=3 {
            for theirs in [false, true] {
                let scene = Scene::new(native(), 5);
                dies(&scene, which, "native", call);
                let staged = staged_file(&scene, which);
                let name = staged.file_name().unwrap().to_str().unwrap();
                let (target, aside) = (scene.folder.at("a.txt"), staged.with_file_name(format!("~{name}")));
                for (from, to) in
                    [(&target, &aside), (&staged, &target), (&aside, &staged)].into_iter().take(steps)
                {
                    fs::rename(from, to).unwrap();
                }
                let is_taken = theirs && steps == 1;
                if is_taken {
                    fs::write(&target, "theirs\n").unwrap();
                }
                let workspace = scene.workspace();
                let told = workspace.findings();
                let text = scene.folder.text("a.txt");
                let what = format!("{which} after {steps} renames: {text:?} {told:?}");
                if is_taken {
                    assert_eq!(text, "theirs\n", "{what}");
                    let kept = folder::tree(&home(&scene));
                    assert!(kept.values().any(|bytes| bytes == b"one\ntwo\nthree\n"), "{what}: {kept:?}");
                    // It did not happen, nobody is told that it did, and what it left is in nobody's way.
                    assert!(told.iter().any(|told| told.contains("as another program left it")), "{what}");
                    assert!(told.iter().any(|told| told.contains("is kept in")), "{what}");
                    let edits =
                        workspace.past_edits().newest(&HistoryQuery { path: None, limit: 10 }, "").unwrap();
                    assert_eq!(edits.len(), 0, "{what}");
                    let open: Vec<_> = fs::read_dir(home(&scene).join("tx")).unwrap().collect();
                    assert!(open.is_empty(), "{what}: {open:?}");
                    continue;
                }
                // A single file whose name is its journal is new from then on.
                let is_new = which == "one" && steps >= 2;
                assert_eq!(text, if is_new { "one\nTWO\nthree\n" } else { "one\ntwo\nthree\n" }, "{what}");
                assert_eq!(told, [""; 0], "{what}");
                let open: Vec<_> = fs::read_dir(home(&scene).join("tx")).unwrap().collect();
                assert!(open.is_empty(), "{what}: {open:?}");
                if !is_new {
                    edit(&workspace, &one_file(), &NONE).unwrap();
                }
            }
        }
    }
}

/// Returns the file that is staged for `a.txt`.
#[cfg(windows)]
fn staged_file(scene: &Scene, which: &str) -> PathBuf {
    let open = open_transaction(scene);
    if which == "one" { open } else { open.join("1") }
}

/// Returns whether the new content is staged, and the journal of many files is written.
#[cfg(windows)]
fn is_staged(scene: &Scene, which: &str) -> bool {
    let Ok(roots) = fs::read_dir(scene.folder.state().join("roots")) else { return false };
    let Some(Ok(home)) = roots.into_iter().next() else { return false };
    let Ok(mut open) = fs::read_dir(home.path().join("tx")) else { return false };
    let Some(Ok(transaction)) = open.next() else { return false };
    let is_whole = |path: PathBuf| fs::read(path).is_ok_and(|bytes| bytes == b"one\nTWO\nthree\n");
    match which {
        "one" => is_whole(transaction.path()),
        _ => transaction.path().join("prepared").exists() && is_whole(transaction.path().join("1")),
    }
}
