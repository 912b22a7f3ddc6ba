//! The main promises on the disk for systems without an atomic exchange, which an environment variable selects here.
//! `EMEND_DISK=portable cargo test` runs the whole suite in this way.

use emend_testkit::{Folder, Launch};
use serde_json::json;

use crate::faults::concurrency;

fn portable(folder: &Folder) -> Launch {
    crate::launch(folder).variable("EMEND_DISK", "portable")
}

#[test]
fn an_edit_changes_the_text_and_nothing_else() {
    let folder = Folder::with([("a.txt", "\u{feff}one\r\ntwo\nthree")]);
    let mut client = portable(&folder).legacy();
    let done = client.replace("a.txt", "two", "2").ok();
    assert_eq!(folder.text("a.txt"), "\u{feff}one\r\n2\nthree");
    assert_eq!(done.version(), client.read("a.txt").version());
    client.replace("a.txt", "missing", "x").refused("search-not-found");
    assert_eq!(folder.tree().len(), 1, "nothing else is left in the workspace");
}

#[test]
fn a_patch_creates_changes_moves_and_deletes() {
    let folder = Folder::with([("a.txt", "1\n"), ("b.txt", "2\n"), ("c.txt", "3\n"), ("d.txt", "4\n")]);
    let mut client = portable(&folder).legacy();
    client.read("d.txt");
    client
        .patch(
            "*** Update File: a.txt\n@@\n-1\n+one\n*** Update File: b.txt\n*** Move to: x/b.txt\n@@\n-2\n+two\n*** Move \
             File: c.txt -> x/c.txt\n*** Delete File: d.txt\n*** Add File: y/e.txt\n+e",
        )
        .ok();
    let after =
        Folder::with([("a.txt", "one\n"), ("x/b.txt", "two\n"), ("x/c.txt", "3\n"), ("y/e.txt", "e\n")]);
    assert_eq!(folder.tree(), after.tree());
}

#[test]
fn a_patch_that_does_not_fit_leaves_every_file() {
    let folder = Folder::with([("a.txt", "1\n"), ("b.txt", "2\n")]);
    let before = folder.everything();
    let mut client = portable(&folder).legacy();
    client
        .patch(
            "*** Update File: a.txt\n@@\n-1\n+one\n*** Add File: n/n.txt\n+n\n*** Move File: a.txt -> b.txt",
        )
        .refused("already-exists");
    client
        .patch("*** Move File: a.txt -> c.txt\n*** Update File: b.txt\n@@\n-3\n+three")
        .refused("hunk-context-mismatch");
    assert_eq!(folder.everything(), before);
}

#[test]
fn an_outside_change_is_refused_once() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = portable(&folder).legacy();
    client.read("a.txt");
    folder.write("a.txt", "one\nmore\n");
    client.replace("a.txt", "one", "1").refused("stale-file");
    client.replace("a.txt", "one", "1").ok();
    assert_eq!(folder.text("a.txt"), "1\nmore\n");
}

#[test]
fn a_preview_is_applied_once() {
    let folder = Folder::with([("a.txt", "x\n")]);
    let mut client = portable(&folder).legacy();
    let edit = json!({"path": "a.txt", "old_string": "x", "new_string": "xx"});
    let handle = client.preview("str_replace", edit).ok().handle();
    let first = client.call("apply_preview", json!({"preview": handle})).ok();
    client.call("apply_preview", json!({"preview": handle})).assert_repeats(&first);
    assert_eq!(folder.text("a.txt"), "xx\n");
}

#[test]
fn fifty_edits_at_once_all_land() {
    concurrency::fifty_at_once(portable);
}

#[test]
fn two_servers_lose_none_of_each_others_edits() {
    concurrency::two_servers(portable);
}

#[test]
#[cfg(unix)]
fn what_leaves_the_workspace_is_refused() {
    use std::os::unix::fs::symlink;
    let folder = crate::policy::paths::with_secret();
    symlink(folder.beside("secret.txt"), folder.at("file")).unwrap();
    symlink("../ws-evil", folder.at("folder")).unwrap();
    let absolute = folder.beside("secret.txt");
    for path in
        ["../secret.txt", "sub/../../secret.txt", "file", "folder/secret.txt", absolute.to_str().unwrap()]
    {
        crate::policy::paths::check_refused_by(portable, &folder, path, "path-outside-workspace");
    }
}

#[test]
#[cfg(unix)]
fn a_link_inside_is_followed_and_the_mode_is_kept() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = Folder::with([("real/a.sh", "one\n")]);
    fs::set_permissions(folder.at("real/a.sh"), Permissions::from_mode(0o750)).unwrap();
    symlink(folder.at("real/a.sh"), folder.at("link")).unwrap();
    portable(&folder).legacy().replace("link", "one", "1").ok();
    assert_eq!(folder.text("real/a.sh"), "1\n");
    assert_eq!(fs::metadata(folder.at("real/a.sh")).unwrap().permissions().mode() & 0o7777, 0o750);
    assert!(folder.at("link").symlink_metadata().unwrap().is_symlink());
}

#[test]
#[cfg(unix)]
fn special_files_are_refused() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with([("linked.txt", "one\n"), ("read-only.txt", "one\n")]);
    fs::hard_link(folder.at("linked.txt"), folder.beside("elsewhere.txt")).unwrap();
    fs::set_permissions(folder.at("read-only.txt"), Permissions::from_mode(0o444)).unwrap();
    crate::policy::special_files::make_fifo(&folder, "pipe");
    let mut client = portable(&folder).legacy();
    client.replace("linked.txt", "one", "1").refused("hard-linked");
    client.replace("read-only.txt", "one", "1").refused("read-only");
    client.replace("pipe", "one", "1").refused("not-a-file");
    client.call("read_file", json!({"path": "pipe"})).refused("not-a-file");
}
