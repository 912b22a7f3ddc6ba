//! Workspaces whose folder is gone or replaced: answers say so, and nothing happens in a folder that they do not mean.

use std::fs;

use emend_testkit::{Answer, Client, Folder, folder};
use serde_json::json;

use crate::serve;

/// A client that has read `a.txt` and edited it.
fn at_work(folder: &Folder) -> Client {
    let mut client = serve(folder);
    client.read("a.txt");
    client.replace("a.txt", "one", "two").ok();
    client
}

/// Whatever is called refuses.
#[track_caller]
fn check_all_refused(folder: &Folder, client: &mut Client) {
    let path = folder.path().join("a.txt");
    let before = folder.everything();
    let mut check = |tool, arguments| {
        let answer: Answer = client.call(tool, arguments).refused("no-workspace");
        assert!(!answer.text.contains("two"), "nothing of it is shown: {}", answer.text);
    };
    check("read_file", json!({"path": "a.txt"}));
    check("read_file", json!({"path": "not-there.txt"}));
    check("list_files", json!({}));
    check("list_files", json!({"path": folder.path()}));
    check("search_text", json!({"pattern": "o"}));
    check("str_replace", json!({"path": "a.txt", "old_string": "two", "new_string": "three"}));
    check("str_replace", json!({"path": path, "old_string": "two", "new_string": "three"}));
    check("write_file", json!({"path": "new.txt", "content": "new\n"}));
    check("apply_patch", json!({"patch": "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch"}));
    check("edit_preview", json!({"tool": "write_file", "path": "new.txt", "content": "new\n"}));
    check("undo_edit", json!({}));
    let uri = emend_testkit::folder::uri(&path);
    assert!(client.request("resources/read", json!({"uri": uri})).is_err());
    assert_eq!(folder.everything(), before);
}

#[test]
fn a_folder_that_was_moved_and_replaced_is_not_edited_under_its_old_name() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = at_work(&folder);
    let old = folder.beside("old");
    fs::rename(folder.path(), &old).unwrap();
    check_all_refused(&folder, &mut client);
    folder.write("a.txt", "one\n");
    check_all_refused(&folder, &mut client);
    // Put back, it is the one that was opened.
    fs::rename(folder.path(), folder.beside("other")).unwrap();
    fs::rename(&old, folder.path()).unwrap();
    client.replace("a.txt", "two", "three").ok();
    assert_eq!(folder.text("a.txt"), "three\n");
}

#[test]
fn a_folder_that_was_removed_and_made_again_is_not_taken_for_the_one_that_was_opened() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = at_work(&folder);
    fs::remove_dir_all(folder.path()).unwrap();
    check_all_refused(&folder, &mut client);
    folder.write("a.txt", "one\n");
    check_all_refused(&folder, &mut client);
}

#[test]
fn a_preview_is_not_applied_in_a_folder_that_was_moved() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    let shown =
        client.preview("str_replace", json!({"path": "a.txt", "old_string": "one", "new_string": "two"}));
    let handle = shown.ok().handle();
    fs::rename(folder.path(), folder.beside("old")).unwrap();
    folder.write("a.txt", "one\n");
    client.call("apply_preview", json!({"preview": handle})).refused("no-workspace");
    assert_eq!(folder::tree(&folder.beside("old"))["a.txt"], b"one\n");
    assert_eq!(folder.text("a.txt"), "one\n");
}

#[cfg(unix)]
#[test]
fn a_link_by_which_a_folder_was_named_is_followed_once() {
    use std::os::unix::fs::symlink;

    let folder = Folder::with([("a.txt", "one\n")]);
    let (link, other) = (folder.beside("current"), folder.beside("next"));
    symlink(folder.path(), &link).unwrap();
    let launch = emend_testkit::Launch::new(crate::EMEND).workspace(&link).state(folder.state());
    let mut client = launch.legacy();
    client.replace("a.txt", "one", "two").ok();
    fs::create_dir(&other).unwrap();
    fs::write(other.join("a.txt"), "two\n").unwrap();
    fs::remove_file(&link).unwrap();
    symlink(&other, &link).unwrap();
    client.replace("a.txt", "two", "three").refused("no-workspace");
    assert_eq!(folder.text("a.txt"), "two\n");
    assert_eq!(fs::read(other.join("a.txt")).unwrap(), b"two\n");
}

#[test]
fn of_several_folders_the_others_are_edited_further_where_none_but_they_can_be_meant() {
    let (one, two) = (Folder::with([("a.txt", "one\n")]), Folder::with([("b.txt", "one\n")]));
    let mut client = emend_testkit::Launch::new(crate::EMEND)
        .workspace(format!("one={}", one.path().display()))
        .workspace(format!("two={}", two.path().display()))
        .state(one.state())
        .legacy();
    fs::rename(one.path(), one.beside("old")).unwrap();
    client.replace("two:b.txt", "one", "two").ok();
    client.replace("one:a.txt", "one", "two").refused("no-workspace");
    client.replace("b.txt", "two", "three").refused("ambiguous-path");
    client.call("write_file", json!({"path": "a.txt", "content": "new\n"})).refused("no-workspace");
    let listed = client.call("list_files", json!({"glob": "*"})).ok().text;
    assert!(listed.contains("two:b.txt") && !listed.contains("one:a.txt"), "{listed}");
    assert_eq!((two.text("b.txt"), two.tree().len()), ("two\n".into(), 1));
}

#[test]
fn a_folder_that_is_not_there_keeps_nobody_out_of_the_others() {
    let folder = Folder::with([("here/a.txt", "one\n")]);
    let gone = folder.at("gone");
    let both = || {
        let launch = emend_testkit::Launch::new(crate::EMEND).workspace(folder.at("here"));
        launch.workspace(&gone).state(folder.state())
    };
    let mut client = both().legacy();
    client.replace("a.txt", "one", "two").ok();
    let listed = client.call("list_files", json!({})).ok().text;
    assert!(listed.contains("a.txt") && listed.contains("gone"), "{listed}");
    // Nothing that is meant for it lands in the other one.
    let before = folder.everything();
    for path in [gone.join("new.txt").to_str().unwrap(), "gone:new.txt", "gone:a.txt"] {
        client.call("write_file", json!({"path": path, "content": "new\n"})).refused("no-workspace");
        client.replace(path, "two", "three").refused("no-workspace");
    }
    assert_eq!(folder.everything(), before);
    drop(client);
    // With the next start it is there.
    fs::create_dir(&gone).unwrap();
    let mut client = both().legacy();
    client.call("write_file", json!({"path": "gone:new.txt", "content": "new\n"})).ok();
    assert_eq!(folder.text("gone/new.txt"), "new\n");
}
