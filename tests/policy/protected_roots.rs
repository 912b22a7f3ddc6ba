//! A file is protected by its path, whichever folder of that path is served.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use emend_testkit::{Folder, Launch};
use serde_json::json;

use crate::EMEND;

fn launch(folder: &Folder, root: impl AsRef<Path>) -> Launch {
    Launch::new(EMEND).workspace(folder.path().join(root)).state(folder.state())
}

/// No server starts for this folder alone, and a person is told why. Beside another one, it is left out.
#[track_caller]
fn check_is_no_root(folder: &Folder, root: impl AsRef<Path>, telling: &str) {
    let before = folder.tree();
    let path = folder.path().join(&root);
    check_no_start(folder, &path, telling);
    let good = Folder::with([("a.txt", "a\n")]);
    let mut client = launch(&good, "").workspace(&path).legacy();
    let new = path.join("new.txt");
    client.call("write_file", json!({"path": new, "content": "x\n"})).refused("no-workspace");
    client.replace("a.txt", "a", "b").ok();
    assert_eq!(folder.tree(), before);
}

#[track_caller]
fn check_no_start(folder: &Folder, root: &Path, telling: &str) {
    let mut command = emend_testkit::command(EMEND);
    command.arg("serve").arg("--workspace").arg(root).arg("--state-dir").arg(folder.state());
    let output = command.env("HOME", folder.beside("nobody")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(2), true), "{said}");
    assert!(said.contains(telling), "{said}");
}

#[test]
fn a_folder_inside_one_of_gits_is_not_served() {
    let folder = Folder::with([(".git/hooks/x", "x\n"), ("sub/.git/config", "x\n"), ("src/a.txt", "a\n")]);
    symlink(folder.at(".git/hooks"), folder.at("hooks")).unwrap();
    for root in [".git", ".git/hooks", "sub/.git", "hooks"] {
        check_is_no_root(&folder, root, "inside a .git folder");
    }
    launch(&folder, "src").legacy().replace("a.txt", "a", "b").ok();
}

#[test]
fn so_is_none_inside_a_folder_that_is_gits_by_what_is_in_it() {
    let folder = Folder::with([
        ("bare/HEAD", "ref: refs/heads/main\n"),
        ("bare/objects/x", "x\n"),
        ("bare/refs/x", "x\n"),
        ("bare/hooks/x/y", "x\n"),
        ("bare/worktrees/main/HEAD", "x\n"),
        // A worktree in the bare repository that it is of.
        ("bare/main/.git", "gitdir: ../worktrees/main\n"),
        ("bare/main/src/a.txt", "a\n"),
    ]);
    for root in ["bare/hooks", "bare/hooks/x", "bare/worktrees/main"] {
        check_is_no_root(&folder, root, "a folder of git's");
    }
    for (root, file, old, new) in [("bare/main", "src/a.txt", "a", "b"), ("bare/main/src", "a.txt", "b", "c")]
    {
        launch(&folder, root).legacy().replace(file, old, new).ok();
    }
}

#[test]
fn nor_is_one_that_nothing_may_be_read_in() {
    let folder = Folder::with([(".ssh/config", "x\n"), (".aws/credentials", "x\n"), (".aws/config", "x\n")]);
    check_is_no_root(&folder, ".ssh", "forbidden_paths = [\"!.ssh/\"]");
    fs::create_dir_all(folder.state().join("x")).unwrap();
    check_no_start(&folder, &folder.state().join("x"), "Emend itself relies on");
    let mut client = launch(&folder, ".aws").legacy();
    client.call("read_file", json!({"path": "credentials"})).refused("path-forbidden");
    client.call("read_file", json!({"path": "config"})).ok();
}

#[test]
fn what_needs_a_person_needs_one_when_its_own_folder_is_served() {
    let folder = Folder::with([
        (".vscode/tasks.json", "{}\n"),
        (".config/nvim/init.lua", "a\n"),
        (".config/a.txt", "a\n"),
        (".claude/worktrees/x/a.txt", "a\n"),
    ]);
    for (root, file) in [
        (".vscode", "launch.json"),
        (".config", "nvim/new.lua"),
        (".config/nvim", "new.lua"),
        (".config/nvim", "lua/new.lua"),
        (".claude", "settings.json"),
    ] {
        let call = json!({"path": file, "content": "x\n"});
        launch(&folder, root).legacy().call("write_file", call).refused("approval-needed");
    }
    launch(&folder, ".config").legacy().replace("a.txt", "a", "b").ok();
    launch(&folder, ".claude/worktrees/x").legacy().replace("a.txt", "a", "b").ok();
    let said = folder.beside("config.toml");
    fs::write(&said, "approve = ['!**/.config/nvim/']\n").unwrap();
    let mut client =
        launch(&folder, ".config/nvim").argument("--config").argument(&said).configured().legacy();
    client.replace("init.lua", "a", "b").ok();
}

#[test]
fn the_state_folder_of_another_server_is_neither_read_nor_changed() {
    let folder = Folder::with([("other/a.txt", "a\n"), ("b.txt", "b\n"), ("dir/c.txt", "c\n")]);
    let state = folder.at("dir/x/state");
    // Another server, whose state folder is in this workspace.
    let other = Launch::new(EMEND).workspace(folder.at("other")).state(&state);
    other.legacy().replace("a.txt", "a", "A").ok();
    fs::create_dir_all(state.join("review")).unwrap();
    fs::write(state.join("review/1.html"), "secret token\n").unwrap();
    let link = folder.at("link");
    symlink(&state, &link).unwrap();
    let (before, mut client) = (fs::read_dir(&state).unwrap().count(), launch(&folder, "").legacy());
    for inside in ["dir/x/state/review/1.html", "link/review/1.html", "dir/x/state/key", "dir/x/state/.emend"]
    {
        client.call("read_file", json!({"path": inside})).refused("path-forbidden");
        client.replace(inside, "secret", "x").refused("path-forbidden");
    }
    for new in ["dir/x/state/approvals/1", "dir/x/state/new", "link/new", "dir/x/state/a/b/c"] {
        client.call("write_file", json!({"path": new, "content": "x\n"})).refused("path-forbidden");
        client.patch(&format!("*** Move File: b.txt -> {new}")).refused("path-forbidden");
    }
    for start in ["dir/x/state", "dir/x/state/review", "link"] {
        client.call("list_files", json!({"path": start})).refused("path-forbidden");
        client.call("search_text", json!({"pattern": "secret", "path": start})).refused("path-forbidden");
    }
    let listed = client.call("list_files", json!({})).ok();
    assert!(listed.text.contains("c.txt") && !listed.text.contains("review"), "{}", listed.text);
    let found = client.call("search_text", json!({"pattern": "secret"})).ok();
    assert!(!found.text.contains("html"), "{}", found.text);
    // Nobody can take the mark away, or make one.
    client.patch("*** Delete File: dir/x/state/.emend").refused("path-forbidden");
    client.call("write_file", json!({"path": "dir/.emend", "content": "x\n"})).refused("path-forbidden");
    assert_eq!(fs::read_dir(&state).unwrap().count(), before);
    client.replace("dir/c.txt", "c", "C").ok();
    for root in ["dir/x/state", "dir/x/state/review"] {
        check_no_start(&folder, &folder.path().join(root), "a state folder of Emend");
    }
}
