//! Files that cannot be exchanged, since they have several names or are mount points. They are left alone unless the
//! policy allows writing in place; then they keep their names and mounts.

use std::fs;
#[cfg(unix)]
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;

use emend_testkit::{Client, Folder};
use serde_json::json;

use crate::{launch, serve};

fn serve_in_place(folder: &Folder) -> Client {
    launch(folder).argument("--write-in-place").legacy()
}

#[test]
fn a_file_with_several_names_keeps_them() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    fs::hard_link(folder.at("a.txt"), folder.at("b.txt")).unwrap();
    #[cfg(unix)]
    let file = |name: &str| {
        use std::os::unix::fs::MetadataExt;
        let found = fs::metadata(folder.at(name)).unwrap();
        (found.ino(), found.nlink(), found.mode())
    };
    #[cfg(unix)]
    let before = file("a.txt");
    serve(&folder).replace("a.txt", "one", "1").refused("hard-linked");
    let mut client = serve_in_place(&folder);
    client.replace("a.txt", "one\n", "").ok();
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("two\n".into(), "two\n".into()));
    #[cfg(unix)]
    assert_eq!(file("b.txt"), before);
    client.call("undo_edit", json!({})).ok();
    assert_eq!(folder.text("b.txt"), "one\ntwo\n");
    #[cfg(unix)]
    assert_eq!(file("b.txt"), before);
    // What is written under one name can be read under the other.
    folder.write("a.txt", "both\n");
    assert_eq!(folder.text("b.txt"), "both\n");
}

#[test]
fn two_names_of_one_file_are_not_written_in_one_edit() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    fs::hard_link(folder.at("a.txt"), folder.at("b.txt")).unwrap();
    let mut client = serve_in_place(&folder);
    client
        .patch("*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: b.txt\n@@\n-two\n+2")
        .refused("hard-linked");
    client.read("b.txt");
    client.patch("*** Update File: a.txt\n@@\n-one\n+1\n*** Delete File: b.txt").refused("hard-linked");
    assert_eq!(folder.text("b.txt"), "one\ntwo\n");
    client.read("a.txt");
    client.patch("*** Delete File: a.txt\n*** Delete File: b.txt").ok();
    assert!(folder.tree().is_empty());
}

#[test]
fn a_file_is_not_written_under_a_name_that_may_not_be_changed() {
    for (name, code) in
        [("sub/id_rsa", "path-forbidden"), ("x/.mcp.json", "read-only"), (".emend.toml", "read-only")]
    {
        let folder = Folder::with([(name, "# one\n")]);
        fs::create_dir(folder.at("other")).unwrap();
        fs::hard_link(folder.at(name), folder.at("other/copy.txt")).unwrap();
        let mut client = serve_in_place(&folder);
        client.replace("other/copy.txt", "one", "two").refused(code);
        assert_eq!(folder.text(name), "# one\n");
    }
    // A name outside is nobody's business here.
    let folder = Folder::with([("a.txt", "one\n")]);
    fs::hard_link(folder.at("a.txt"), folder.beside(".mcp.json")).unwrap();
    serve_in_place(&folder).replace("a.txt", "one", "two").ok();
}

/// Something that is mounted until it is dropped. `None` where this user may not mount anything.
#[cfg(unix)]
struct Mount(PathBuf);

#[cfg(unix)]
impl Mount {
    fn new(arguments: &[&str], at: &Path) -> Option<Self> {
        let mounted = Command::new("mount").args(arguments).arg(at).output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(at.to_path_buf()));
        }
        eprintln!("skipped: this user may not mount anything");
        None
    }
}

#[cfg(unix)]
impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
#[cfg(unix)]
fn a_file_that_is_mounted_by_itself_stays_mounted() {
    let folder = Folder::with([("a.txt", "inside\n")]);
    let outer = folder.beside("mounted.txt");
    fs::write(&outer, "one\n").unwrap();
    let Some(_mount) = Mount::new(&["--bind", outer.to_str().unwrap()], &folder.at("a.txt")) else { return };
    serve(&folder).replace("a.txt", "one", "two").refused("mount-point");
    assert_eq!(fs::read(&outer).unwrap(), b"one\n");
    serve_in_place(&folder).replace("a.txt", "one", "two").ok();
    assert_eq!(fs::read(&outer).unwrap(), b"two\n");
}

#[test]
#[cfg(unix)]
fn one_edit_covers_several_file_systems() {
    let folder =
        Folder::with([("near.txt", "near\n"), ("go.txt", "go\nthere\n"), ("far/hidden.txt", "hidden\n")]);
    let Some(_mount) = Mount::new(&["-t", "tmpfs", "tmpfs"], &folder.at("far")) else { return };
    for (name, content) in [("far/a.txt", "a\n"), ("far/gone.txt", "gone\n"), ("far/come.txt", "come\n")] {
        folder.write(name, content);
    }
    let old = folder.tree();
    let mut client = serve(&folder);
    client.read("far/gone.txt");
    let patch = "*** Update File: far/a.txt\n@@\n-a\n+A\n*** Update File: near.txt\n@@\n-near\n+NEAR\n*** Delete File: \
                 far/gone.txt\n*** Add File: far/new/n.txt\n+n\n*** Move File: go.txt -> far/went.txt\n*** Update \
                 File: far/come.txt\n*** Move to: came.txt\n@@\n-come\n+came";
    client.patch(patch).ok();
    let names: Vec<String> = folder.tree().into_keys().collect();
    assert_eq!(names, ["came.txt", "far/a.txt", "far/new/n.txt", "far/went.txt", "near.txt"]);
    assert_eq!(folder.text("far/went.txt"), "go\nthere\n");
    assert_eq!((folder.text("far/a.txt"), folder.text("came.txt")), ("A\n".into(), "came\n".into()));
    // A failure puts everything back.
    let new = folder.tree();
    client
        .patch("*** Update File: far/a.txt\n@@\n-A\n+B\n*** Update File: near.txt\n@@\n-no\n+yes")
        .refused("hunk-context-mismatch");
    assert_eq!(folder.tree(), new);
    client.call("undo_edit", json!({})).ok();
    let mut tree = folder.tree();
    tree.remove("far/new/");
    assert_eq!(tree, old);
}

#[test]
fn without_a_history_nothing_is_kept() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "honey\n")]);
    let mut client = launch(&folder).argument("--track-history=false").legacy();
    client.replace("a.txt", "one", "two").ok();
    client.patch("*** Update File: a.txt\n@@\n-two\n+three\n*** Move File: b.txt -> c.txt").ok();
    let kept = emend_testkit::folder::tree(&folder.state());
    // Only which calls were made is known, for a while. None of these words can stand in a hexadecimal number by chance.
    let (log, others): (Vec<_>, Vec<_>) = kept.iter().partition(|(name, _)| name.ends_with("/log"));
    let is_ours = |name: &str| {
        name == "key"
            || name == ".emend"
            || ["/", "/sharing", "/locks", "/folder"].iter().any(|end| name.ends_with(end))
    };
    assert!(others.iter().all(|(name, _)| is_ours(name)), "{kept:?}");
    let log = String::from_utf8(log[0].1.clone()).unwrap();
    assert!(
        ["one", "two", "three", "honey", "str_replace", "testkit"].iter().all(|said| !log.contains(said)),
        "{log}"
    );
    client.call("undo_edit", json!({})).refused("unknown-edit");
}
