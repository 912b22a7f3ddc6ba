//! Kills (by SIGKILL, or TerminateProcess on Windows) before each call to the disk in an edit, and again before each call in
//! recovery. When recovery has finished, all files are old or all are new, and nothing is left over.
//!
//! The killed process is this test binary, started again with [`victim`] as its only test. Only some of the kills in
//! recovery run by default; with `EMEND_CRASHES=all` all do. With `EMEND_CRASHES=few`, one of five kills in an edit runs,
//! where starting a process takes long.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;

use emend_edit::patch::{Patch, TextChange};
use emend_testkit::failing_disk::FailingDisk;
use emend_testkit::{Tree, folder};
use emend_workspace::disk::Disk;
use emend_workspace::{EditContext, Mutex, Origin, Policy, Request, RootSpec, Settings, Workspace};

use crate::{
    Scene, edit, make_first_edit, many_files, native, one_file, portable, swapped_files, turned_files,
    versions,
};

/// What the victim does: in which folder, which edit, on which disk, and before which call it dies.
const ORDER: &str = "EMEND_VICTIM";
/// What the name of an edit begins with that is not the first one of its victim.
const WARM: &str = "warm ";

#[test]
fn victim() {
    let Ok(order) = std::env::var(ORDER) else { return };
    let parts: Vec<&str> = order.split('\n').collect();
    let [workspace, state, which, disk, call] = parts[..] else { panic!("{order}") };
    let inner = if disk == "portable" { portable() } else { native() };
    let disk = Arc::new(FailingDisk::new(inner, 5));
    let call = call.parse().unwrap();
    if which == "recover" {
        disk.kill_before_call(call);
    }
    let roots = [RootSpec { name: None, path: workspace.into() }];
    let disk_of_all = Arc::clone(&disk) as Arc<dyn Disk>;
    let opened = Workspace::open_with_policy(disk_of_all, &roots, Some(state.into()), &in_place()).unwrap();
    if which.starts_with(WARM) {
        make_first_edit(&opened);
    }
    let Some(patch) = patch_of(which) else { return };
    disk.kill_before_call(call);
    let request = Request { patch: &patch, versions: &versions_of(which) };
    opened.edit(&request, &EditContext::patient(&Mutex::default(), &Origin::default())).unwrap();
}

/// A policy that lets files be written in place.
fn in_place() -> Policy {
    Policy::new(&Settings { write_in_place: Some(true), ..Settings::default() }).unwrap()
}

/// The edit, whether or not it is the first one.
fn edit_of(which: &str) -> &str {
    which.strip_prefix(WARM).unwrap_or(which)
}

/// The files for an edit.
pub(crate) fn scene_of(which: &str, inner: Arc<dyn Disk>) -> Scene {
    let scene = Scene::new(inner, 5);
    if edit_of(which) == "linked" {
        scene.folder.write("linked.txt", "one\ntwo\nthree\n");
        std::fs::hard_link(scene.folder.at("linked.txt"), scene.folder.at("other.txt")).unwrap();
    }
    if edit_of(which) == "turn" {
        scene.folder.write("old/deep/er.txt", b"deeper\n");
        #[cfg(unix)]
        for (folder, mode) in [("old/deep", 0o700), ("old", 0o2751)] {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(scene.folder.at(folder), mode).unwrap();
        }
    }
    scene
}

pub(crate) fn opened(scene: &Scene) -> Workspace {
    let roots = [RootSpec { name: None, path: scene.folder.path().to_path_buf() }];
    let disk = Arc::clone(&scene.disk) as Arc<dyn Disk>;
    Workspace::open_with_policy(disk, &roots, Some(scene.folder.state()), &in_place()).unwrap()
}

fn patch_of(which: &str) -> Option<Patch> {
    match edit_of(which) {
        "one" => Some(one_file()),
        "many" => Some(many_files()),
        "swap" => Some(swapped_files()),
        "turn" => Some(turned_files("old/deep/er.txt")),
        "create" => Some(Patch::write("n.txt", "new\n".into())),
        "linked" => {
            let change = TextChange { old: "one\ntwo\n".into(), new: "1\n".into(), ..TextChange::default() };
            Some(Patch::replace("linked.txt", vec![change]).unwrap())
        }
        "folder" => Some(Patch::write("new/deep/n.txt", "new\n".into())),
        "delete" => Some(
            emend_edit::patch::v4a::parse("*** Begin Patch\n*** Delete File: gone.txt\n*** End Patch")
                .unwrap(),
        ),
        _ => None,
    }
}

fn versions_of(which: &str) -> BTreeMap<String, String> {
    if matches!(edit_of(which), "many" | "delete") { versions() } else { BTreeMap::new() }
}

/// Starts a victim and waits for its end. Yields whether it was killed.
pub(crate) fn dies(scene: &Scene, which: &str, disk: &str, call: usize) -> bool {
    let (workspace, state) = (scene.folder.path(), scene.folder.state());
    let order = format!("{}\n{}\n{which}\n{disk}\n{call}", workspace.display(), state.display());
    let status: ExitStatus = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crashes::victim", "--test-threads=1"])
        .env(ORDER, order)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success() || is_killed(status), "{which} {call}: {status:?}");
    !status.success()
}

#[cfg(unix)]
fn is_killed(status: ExitStatus) -> bool {
    std::os::unix::process::ExitStatusExt::signal(&status) == Some(9)
}

#[cfg(windows)]
fn is_killed(status: ExitStatus) -> bool {
    status.code() == Some(9)
}

/// The modes of all folders, which a file in their place does not keep.
#[cfg(unix)]
fn folder_modes(scene: &Scene) -> BTreeMap<String, u32> {
    use std::os::unix::fs::PermissionsExt;
    let files = scene.tree().into_keys();
    let folders = files
        .flat_map(|name| name.match_indices('/').map(|(end, _)| name[..end].to_owned()).collect::<Vec<_>>());
    let mode = |name: &String| std::fs::metadata(scene.folder.at(name)).unwrap().permissions().mode();
    folders.map(|name| (name.clone(), mode(&name))).collect()
}

#[cfg(not(unix))]
fn folder_modes(_scene: &Scene) -> BTreeMap<String, u32> {
    BTreeMap::new()
}

/// What is among the open transactions and beside the history, once recovery has run.
fn leftovers(scene: &Scene) -> Tree {
    let mut left = Tree::new();
    for home in std::fs::read_dir(scene.folder.state().join("roots")).into_iter().flatten() {
        let home: PathBuf = home.unwrap().path();
        for part in ["tx", "aside"].map(|part| home.join(part)) {
            if part.exists() {
                let shown =
                    |name: String| format!("{}/{name}", Path::new(part.file_name().unwrap()).display());
                left.extend(folder::tree(&part).into_iter().map(|(name, bytes)| (shown(name), bytes)));
            }
        }
    }
    left
}

/// Kills before every call of an edit; after some of these kills, also before every call of the recovery.
fn kill_everywhere(which: &str, disk: &str) {
    let inner = if disk == "portable" { portable } else { native };
    let new = {
        let scene = scene_of(which, inner());
        edit(&opened(&scene), &patch_of(which).unwrap(), &versions_of(which)).unwrap();
        scene.tree()
    };
    let wanted = std::env::var("EMEND_CRASHES").unwrap_or_default();
    let (thorough, few) = (wanted == "all", wanted == "few");
    let (mut old_ones, mut new_ones) = (0, 0);
    let mut check = |scene: &Scene, (old, modes): &(Tree, BTreeMap<String, u32>), what: &str| {
        // The start of a server recovers.
        let workspace = opened(scene);
        assert_eq!(workspace.findings(), [""; 0], "{what}");
        let tree = scene.tree();
        assert!(tree == *old || tree == new, "{what}: a third state: {tree:?}");
        let left: Vec<String> =
            leftovers(scene).into_keys().filter(|name| !name.starts_with("aside/")).collect();
        assert_eq!(left, [""; 0], "{what}");
        if tree == *old {
            old_ones += 1;
            assert_eq!(folder_modes(scene), *modes, "{what}");
            edit(&workspace, &patch_of(which).unwrap(), &versions_of(which)).unwrap();
            assert_eq!(scene.tree(), new, "{what}: and it works on");
        } else {
            new_ones += 1;
        }
    };
    let step = if few { 5 } else { 1 };
    for call in (1..).step_by(step) {
        let scene = scene_of(which, inner());
        let old = (scene.tree(), folder_modes(&scene));
        if !dies(&scene, which, disk, call) {
            break;
        }
        check(&scene, &old, &format!("{which} on {disk}, killed before call {call}"));
        // Once for a small edit, a few times for a large one.
        if !thorough && call % 97 != 40 {
            continue;
        }
        for again in (1..).step_by(step) {
            let scene = scene_of(which, inner());
            let old = (scene.tree(), folder_modes(&scene));
            assert!(dies(&scene, which, disk, call));
            let killed_again = dies(&scene, "recover", disk, again);
            let what = format!(
                "{which} on {disk}, killed before call {call} and before call {again} of the recovery"
            );
            check(&scene, &old, &what);
            if !killed_again {
                break;
            }
        }
    }
    // Few kills may all come before the commit.
    assert!(old_ones * step > 5 && (few || new_ones > 0), "{which}: {old_ones} all old, {new_ones} all new");
    println!("{which} on {disk}: {old_ones} times all old, {new_ones} times all new");
}

#[test]
fn one_file_is_old_or_new_wherever_the_process_is_killed() {
    kill_everywhere("one", "native");
    kill_everywhere("warm one", "native");
    kill_everywhere("one", "portable");
}

#[test]
fn a_new_and_a_deleted_file_are_old_or_new_wherever_the_process_is_killed() {
    for (warm, disk) in [("", "portable"), (WARM, "native")] {
        for which in ["create", "folder", "delete"] {
            kill_everywhere(&format!("{warm}{which}"), disk);
        }
    }
}

#[test]
fn a_file_that_is_written_in_place_is_old_or_new_once_recovery_has_run() {
    kill_everywhere("warm linked", "native");
}

#[test]
fn many_files_are_all_old_or_all_new_wherever_the_process_is_killed() {
    kill_everywhere("warm many", "native");
    kill_everywhere("warm swap", "native");
}

#[cfg(not(windows))]
#[test]
fn files_that_become_folders_and_folders_that_become_files_are_old_or_new_wherever_the_process_is_killed() {
    kill_everywhere("warm turn", "native");
    kill_everywhere("turn", "portable");
}

#[test]
fn many_files_are_all_old_or_all_new_on_the_portable_disk_too() {
    kill_everywhere("many", "portable");
}
