//! Tests of path resolution, on each implementation of the disk that this machine has.

#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::disk::{Portable, Unix};

/// A folder with files, folders and links to all of them.
struct Scene {
    /// The temporary folder, removed on drop.
    _folder: tempfile::TempDir,
    canonical: PathBuf,
    root: Dir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let canonical = folder.path().canonicalize().unwrap().join("root");
        fs::create_dir_all(canonical.join("sub/deep")).unwrap();
        fs::write(canonical.join("a.txt"), "a").unwrap();
        fs::write(canonical.join("sub/b.txt"), "b").unwrap();
        fs::write(folder.path().join("outside.txt"), "o").unwrap();
        let root = Dir::open_ambient_dir(&canonical, cap_std::ambient_authority()).unwrap();
        Self { _folder: folder, canonical, root }
    }

    fn link(&self, name: &str, target: impl AsRef<Path>) {
        symlink(target, self.canonical.join(name)).unwrap();
    }

    /// Returns the result for a path in words, the same on all disks.
    fn outcome(&self, path: &str) -> String {
        self.outcome_without(path, "nothing")
    }

    /// Returns the result if names that begin with `forbidden` are not allowed.
    fn outcome_without(&self, path: &str, forbidden: &str) -> String {
        let allowed = |names: &[OsString]| match names.iter().collect::<PathBuf>().starts_with(forbidden) {
            true => Err(Kind::PathForbidden { rule: forbidden.into() }),
            false => Ok(()),
        };
        let disks: [&dyn Disk; 2] = [if Unix::is_supported() { &Unix } else { &Portable }, &Portable];
        let outcomes =
            disks.map(|disk| match resolve(disk, &self.root, &self.canonical, Path::new(path), &allowed) {
                Ok(place) => {
                    let kind = match (place.missing, place.through_link) {
                        (0, true) => "linked file",
                        (0, false) => "file",
                        (1, true) => "linked new file",
                        (1, false) => "new file",
                        _ => "new file in new folders",
                    };
                    let folders: Vec<String> = place.missing_folders().iter().map(Trail::shown).collect();
                    let folders =
                        if folders.is_empty() { String::new() } else { format!(", making {folders:?}") };
                    let is_there = disk.stat(&place.dir, place.file_name()).is_ok();
                    assert_eq!(
                        is_there,
                        place.missing == 0,
                        "{path}: the folder is that of the last name there is"
                    );
                    format!("{kind} {}{folders}", place.shown())
                }
                Err(Refusal::Outside(_)) => "outside".into(),
                Err(Refusal::Forbidden(_)) => "forbidden".into(),
                Err(Refusal::ParentIsFile(..)) => "in a file".into(),
                Err(Refusal::IsFolder(names)) => {
                    format!("folder {}", names.iter().collect::<PathBuf>().display())
                }
                Err(Refusal::Io(error)) => panic!("{path}: {error}"),
            });
        assert_eq!(outcomes[0], outcomes[1], "{path}");
        outcomes[0].clone()
    }
}

#[test]
fn a_path_without_links_leads_to_what_it_names() {
    let scene = Scene::new();
    for (path, expected) in [
        ("a.txt", "file a.txt"),
        ("./sub/./b.txt", "file sub/b.txt"),
        ("sub/../a.txt", "file a.txt"),
        ("sub/deep/../b.txt", "file sub/b.txt"),
        ("new.txt", "new file new.txt"),
        ("sub/new.txt", "new file sub/new.txt"),
        ("x/new.txt", "new file in new folders x/new.txt, making [\"x\"]"),
        ("sub/x/y/new.txt", "new file in new folders sub/x/y/new.txt, making [\"sub/x\", \"sub/x/y\"]"),
        ("sub", "folder sub"),
        ("sub/deep", "folder sub/deep"),
        ("sub/deep/..", "folder sub"),
        (".", "folder "),
        ("sub/..", "folder "),
        ("a.txt/new.txt", "in a file"),
        ("..", "outside"),
        ("../outside.txt", "outside"),
        ("sub/../../outside.txt", "outside"),
        ("x/../a.txt", "outside"),
        ("/etc/passwd", "outside"),
    ] {
        assert_eq!(scene.outcome(path), expected, "{path}");
    }
}

#[test]
fn a_link_leads_where_it_points_and_never_out_of_the_root() {
    let scene = Scene::new();
    scene.link("to_file", "sub/b.txt");
    scene.link("to_folder", "sub");
    scene.link("to_nothing", "sub/none.txt");
    scene.link("absolute", scene.canonical.join("sub/b.txt"));
    scene.link("absolute_folder", scene.canonical.join("sub"));
    scene.link("sub/up", "../a.txt");
    scene.link("out", "../outside.txt");
    scene.link("out_again", "sub/../../outside.txt");
    scene.link("far", "/etc");
    scene.link("loop", "loop");
    for (path, expected) in [
        ("to_file", "linked file sub/b.txt"),
        ("to_folder/b.txt", "file sub/b.txt"),
        ("to_folder", "folder sub"),
        ("to_folder/../a.txt", "file a.txt"),
        ("to_nothing", "linked new file sub/none.txt"),
        ("absolute", "linked file sub/b.txt"),
        ("sub/deep/../../absolute", "linked file sub/b.txt"),
        ("absolute_folder/new.txt", "new file sub/new.txt"),
        ("sub/up", "linked file a.txt"),
        ("to_folder/up", "linked file a.txt"),
        ("to_file/new.txt", "in a file"),
        ("out", "outside"),
        ("out_again", "outside"),
        ("far/passwd", "outside"),
        ("loop", "outside"),
    ] {
        assert_eq!(scene.outcome(path), expected, "{path}");
    }
}

#[test]
fn a_refusal_says_whether_the_path_or_a_link_leads_out_of_the_root() {
    let scene = Scene::new();
    scene.link("out", "../outside.txt");
    scene.link("to_folder", "sub");
    for (path, is_own) in [
        ("../a.txt", true),
        ("sub/../../a.txt", true),
        ("to_folder/../../a.txt", true),
        ("out", false),
        ("sub/../out", false),
        ("out/a.txt", false),
    ] {
        let found = resolve(&Portable, &scene.root, &scene.canonical, Path::new(path), &|_| Ok(()));
        let Err(Refusal::Outside(why)) = found else { panic!("{path}") };
        assert_eq!(why.contains(".."), is_own, "{path}: {why}");
    }
}

#[test]
fn what_is_forbidden_is_asked_of_each_step_before_the_disk_is() {
    let scene = Scene::new();
    scene.link("to_folder", "sub");
    for path in ["sub/b.txt", "sub/none.txt", "sub/../a.txt", "sub", "to_folder/b.txt", "to_folder"] {
        assert_eq!(scene.outcome_without(path, "sub"), "forbidden", "{path}");
    }
    assert_eq!(scene.outcome_without("none/new.txt", "none/new.txt"), "forbidden");
    assert_eq!(scene.outcome_without("a.txt", "sub"), "file a.txt");
}

#[test]
fn links_and_steps_are_counted() {
    let scene = Scene::new();
    scene.link("link0", "a.txt");
    (1..=LINKS).for_each(|number| scene.link(&format!("link{number}"), format!("link{}", number - 1)));
    assert_eq!(scene.outcome(&format!("link{}", LINKS - 1)), "linked file a.txt");
    assert_eq!(scene.outcome(&format!("link{LINKS}")), "outside");
    // Two steps for each turn, and one for the name at the end.
    let turns = |count: usize| ["sub/../".repeat(count), "a.txt".into()].concat();
    assert_eq!(scene.outcome(&turns(STEPS / 2 - 1)), "file a.txt");
    assert_eq!(scene.outcome(&turns(STEPS / 2 - 1).replace("a.txt", "sub/b.txt")), "file sub/b.txt");
    assert_eq!(scene.outcome(&turns(STEPS / 2)), "outside");
}

#[test]
fn whether_the_path_or_a_link_leaves_the_root_is_said() {
    let scene = Scene::new();
    scene.link("up", "..");
    scene.link("far", "../../x");
    let why =
        |path: &str| match resolve(&Portable, &scene.root, &scene.canonical, Path::new(path), &|_| Ok(())) {
            Err(Refusal::Outside(why)) => why,
            outcome => panic!("{path}: {outcome:?}"),
        };
    for path in ["..", "../outside.txt", "sub/../..", "sub/../../outside.txt"] {
        assert_eq!(why(path), "it climbs above the root with '..'", "{path}");
    }
    for path in ["up", "up/outside.txt", "far", "far/y", "sub/../up"] {
        assert_eq!(why(path), "a link on the way leaves it", "{path}");
    }
}
