//! The place of displaced files: the state folder, or else a private `.emend` in the workspace. Other things at that
//! place, forged or by accident, are left alone.

use std::fs;
use std::path::Path;

use emend_testkit::{Folder, Launch, Tree, folder};
use serde_json::json;

use crate::{EMEND, serve};

/// A server whose state folder cannot be made, since a file is in the way: it must use `.emend`.
fn without_state(folder: &Folder) -> Launch {
    fs::write(folder.beside("file"), "in the way").unwrap();
    Launch::new(EMEND).workspace(folder.path()).state(folder.beside("file").join("state"))
}

/// What is kept, and what is still staged.
fn kept(home: &Path) -> (Tree, Tree) {
    (folder::tree(&home.join("history")), folder::tree(&home.join("tx")))
}

/// The one root's folder in the state folder.
fn home(folder: &Folder) -> std::path::PathBuf {
    let mut roots = fs::read_dir(folder.state().join("roots")).unwrap();
    let home = roots.next().unwrap().unwrap().path();
    assert!(roots.next().is_none());
    home
}

#[test]
fn what_an_edit_displaces_is_kept_under_the_edits_id() {
    let folder = Folder::with([("src/a.txt", "one\n"), ("b.txt", "two\n")]);
    let mut client = serve(&folder);
    let edit = |answer: emend_testkit::Answer| answer.ok().structured["edit"].as_str().unwrap().to_owned();
    let first = edit(client.replace("src/a.txt", "one", "1"));
    client.read("b.txt");
    let second = edit(client.patch("*** Update File: src/a.txt\n@@\n-1\n+I\n*** Delete File: b.txt"));
    assert_ne!(first, second);
    let (history, staged) = kept(&home(&folder));
    let of = |id: &str| history.iter().filter(|(name, _)| name.starts_with(id)).collect::<Vec<_>>();
    let first: Vec<&[u8]> = of(&first).iter().map(|(_, bytes)| &bytes[..]).collect();
    assert_eq!(first, [b"one\n"]);
    let second: Vec<&[u8]> = of(&second).iter().map(|(_, bytes)| &bytes[..]).collect();
    assert!(second.contains(&&b"1\n"[..]) && second.contains(&&b"two\n"[..]), "{history:?}");
    assert!(staged.is_empty(), "{staged:?}");
    assert!(!folder.has(".emend"), "the workspace has nothing of ours in it");
}

#[test]
fn a_refused_edit_leaves_nothing_staged() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "two\n")]);
    let mut client = serve(&folder);
    client.replace("a.txt", "one", "1").ok();
    let (history, _) = kept(&home(&folder));
    client.replace("a.txt", "one", "uno").refused("search-not-found");
    client.patch("*** Add File: c.txt\n+c\n*** Add File: b.txt\n+b").refused("already-exists");
    client.patch("*** Add File: b.txt/c\n+c\n*** Add File: d.txt\n+d").refused("not-a-file");
    assert_eq!(kept(&home(&folder)), (history, Tree::new()));
}

#[test]
fn without_a_state_folder_what_is_displaced_is_kept_in_the_workspace() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "b\n")]);
    let mut client = without_state(&folder).legacy();
    client.replace("missing.txt", "one", "1").refused("missing-original");
    assert!(!folder.has(".emend"), "it is made for the first edit, not before");
    client.replace("a.txt", "one", "1").ok();
    client.patch("*** Update File: a.txt\n@@\n-1\n+I\n*** Move File: b.txt -> c/b.txt").ok();
    let (history, staged) = kept(&folder.at(".emend"));
    assert!(history.values().any(|bytes| bytes == b"one\n") && staged.is_empty());
    assert_eq!(folder.text(".emend/.gitignore"), "*\n");
    assert_eq!((folder.text("a.txt"), folder.text("c/b.txt")), ("I\n".into(), "b\n".into()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.at(".emend")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o700, "for this user alone");
    }
}

#[test]
#[cfg(unix)]
fn the_environment_says_where_the_state_folder_is() {
    for (variable, value, state) in [
        ("EMEND_STATE_DIR", "mine", "mine"),
        ("XDG_STATE_HOME", "xdg", "xdg/emend"),
        ("HOME", "home", "home/.local/state/emend"),
    ] {
        let folder = Folder::with([("a.txt", "one\n")]);
        let launch = Launch::new(EMEND).workspace(folder.path()).variable("HOME", folder.beside("home"));
        launch.variable(variable, folder.beside(value)).legacy().replace("a.txt", "one", "1").ok();
        assert!(folder::tree(&folder.beside(state)).values().any(|bytes| bytes == b"one\n"), "{variable}");
        assert_eq!(folder.tree().len(), 1);
    }
}

#[test]
#[cfg(unix)]
fn the_state_folder_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with([("a.txt", "one\n")]);
    serve(&folder).replace("a.txt", "one", "1").ok();
    let mode = fs::metadata(home(&folder)).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
}

/// Makes a `.emend` that Emend did not make. An edit that would have to use it is refused; one that has a state folder
/// goes through. Either way nothing is written to it, nor to where it leads.
#[cfg(unix)]
fn check_forged(forge: impl Fn(&Folder)) {
    let make = || {
        let folder = Folder::with([("a.txt", "one\n")]);
        fs::create_dir(folder.beside("outside")).unwrap();
        forge(&folder);
        folder
    };
    let folder = make();
    let mut client = without_state(&folder).legacy();
    let before = folder.everything();
    client.replace("a.txt", "one", "1").refused("recovery-needed");
    client.call("write_file", json!({"path": "b.txt", "content": "b\n"})).refused("recovery-needed");
    assert_eq!(folder.everything(), before);

    let folder = make();
    let mut expected = folder.tree();
    serve(&folder).replace("a.txt", "one", "1").ok();
    expected.insert("a.txt".into(), b"1\n".to_vec());
    assert_eq!(folder.tree(), expected);
    assert!(folder::tree(&folder.beside("outside")).is_empty());
}

#[test]
#[cfg(unix)]
fn a_folder_that_a_repository_ships_is_never_used() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    check_forged(|folder| {
        folder.write(".emend/history/evil.0.new.gone.a.txt", "forged\n");
        folder.write(".emend/tx/manifest", "forged\n");
        fs::set_permissions(folder.at(".emend"), Permissions::from_mode(0o755)).unwrap();
    });
}

#[test]
#[cfg(unix)]
fn a_link_in_place_of_the_folder_is_never_followed() {
    use std::os::unix::fs::symlink;
    check_forged(|folder| symlink(folder.beside("outside"), folder.at(".emend")).unwrap());
    check_forged(|folder| symlink("../outside", folder.at(".emend")).unwrap());
    check_forged(|folder| symlink("nowhere", folder.at(".emend")).unwrap());
}

#[test]
#[cfg(unix)]
fn a_file_in_place_of_the_folder_is_left_alone() {
    check_forged(|folder| folder.write(".emend", "mine\n"));
}

#[test]
#[cfg(unix)]
fn links_inside_our_own_folder_are_never_followed() {
    use std::os::unix::fs::symlink;
    let folder = Folder::with([("a.txt", "one\n")]);
    let outside = folder.beside("outside");
    fs::create_dir(&outside).unwrap();
    without_state(&folder).legacy().replace("a.txt", "one", "1").ok();
    for inner in ["tx", "history"] {
        fs::remove_dir_all(folder.at(".emend").join(inner)).unwrap();
        symlink(&outside, folder.at(".emend").join(inner)).unwrap();
    }
    let answer = without_state(&folder).legacy().replace("a.txt", "1", "2");
    assert!(answer.is_error, "{}", answer.text);
    assert!(folder::tree(&outside).is_empty());
    assert_eq!(folder.text("a.txt"), "1\n");
}

#[test]
fn a_state_folder_that_is_removed_while_we_serve_is_made_again_with_its_key() {
    let folder = Folder::with([("a.txt", "0\n")]);
    let mut client = serve(&folder);
    client.replace("a.txt", "0", "1").ok();
    fs::remove_dir_all(folder.state()).unwrap();
    let edit = client.replace("a.txt", "1", "2").ok().structured["edit"].as_str().unwrap().to_owned();
    client.close();
    // What is kept now is known again by another process.
    serve(&folder).call("undo_edit", serde_json::json!({"edit": edit})).ok();
    assert_eq!(folder.text("a.txt"), "1\n");
}
