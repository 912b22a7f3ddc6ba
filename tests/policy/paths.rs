//! The files that a path may name: only those inside the workspace, also through links, and in one root of several.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;

use emend_testkit::{Client, Folder, Launch};
use serde_json::json;

pub(crate) use crate::refused::{check_refused, check_refused_by};
use crate::{EMEND, launch, serve};

/// A workspace with a secret beside it, in a folder whose name begins like the workspace's.
pub(crate) fn with_secret() -> Folder {
    let folder = Folder::with([("a.txt", "a\n"), ("sub/b.txt", "b\n")]);
    fs::create_dir(folder.beside("ws-evil")).unwrap();
    fs::write(folder.beside("ws-evil").join("secret.txt"), "classified\n").unwrap();
    fs::write(folder.beside("secret.txt"), "classified\n").unwrap();
    folder
}

#[test]
fn a_path_that_climbs_out_is_refused() {
    let folder = with_secret();
    for path in [
        "../secret.txt",
        "sub/../../secret.txt",
        "./../secret.txt",
        "../ws-evil/secret.txt",
        "../ws/../secret.txt",
        "missing/../../secret.txt",
        "..",
        "../new.txt",
    ] {
        check_refused(&folder, path, "path-outside-workspace");
    }
}

#[test]
fn an_absolute_path_outside_is_refused_even_if_it_begins_like_the_workspace() {
    let folder = with_secret();
    for path in [folder.beside("secret.txt"), folder.beside("ws-evil/secret.txt"), folder.at("../secret.txt")]
    {
        check_refused(&folder, path.to_str().unwrap(), "path-outside-workspace");
    }
    // On Windows, such a path names no drive.
    let code = if cfg!(windows) { "invalid-argument" } else { "path-outside-workspace" };
    check_refused(&folder, "/etc/passwd", code);
    check_refused(&folder, "file:///etc/passwd", code);
}

#[test]
#[cfg(unix)]
fn a_link_that_leads_out_is_refused() {
    let folder = with_secret();
    symlink(folder.beside("secret.txt"), folder.at("absolute")).unwrap();
    symlink("../secret.txt", folder.at("relative")).unwrap();
    symlink("absolute", folder.at("link-to-link")).unwrap();
    for path in ["absolute", "relative", "link-to-link"] {
        check_refused(&folder, path, "path-outside-workspace");
    }
}

#[test]
#[cfg(unix)]
fn a_folder_link_that_leads_out_is_refused() {
    let folder = with_secret();
    symlink(folder.beside("ws-evil"), folder.at("absolute")).unwrap();
    symlink("../ws-evil", folder.at("sub/relative")).unwrap();
    symlink("..", folder.at("up")).unwrap();
    for path in [
        "absolute/secret.txt",
        "absolute/new.txt",
        "absolute/new/deep.txt",
        "sub/../absolute/secret.txt",
        "up/secret.txt",
        "up/ws-evil/secret.txt",
    ] {
        check_refused(&folder, path, "path-outside-workspace");
    }
}

#[test]
#[cfg(unix)]
fn links_that_lead_nowhere_and_in_circles_are_refused() {
    let folder = with_secret();
    symlink(folder.beside("new.txt"), folder.at("dangling-out")).unwrap();
    symlink("loop", folder.at("loop")).unwrap();
    check_refused(&folder, "dangling-out", "path-outside-workspace");
    check_refused(&folder, "loop", "path-outside-workspace");
}

#[test]
#[cfg(unix)]
fn a_link_to_a_missing_file_inside_names_that_file() {
    let folder = Folder::with([("a.txt", "a\n")]);
    symlink("new/target.txt", folder.at("link")).unwrap();
    let mut client = serve(&folder);
    client.call("read_file", json!({"path": "link"})).refused("missing-original");
    let done = client.call("write_file", json!({"path": "link", "content": "made\n"})).ok();
    assert_eq!(done.structured["changed_files"], json!(["new/target.txt"]));
    assert_eq!(folder.text("new/target.txt"), "made\n");
    assert!(folder.tree().contains_key("link -> new/target.txt"));
}

#[test]
#[cfg(unix)]
fn a_link_inside_is_followed_and_stays_a_link() {
    let folder = Folder::with([("real/a.txt", "one\n")]);
    symlink(folder.at("real/a.txt"), folder.at("absolute")).unwrap();
    symlink("real/a.txt", folder.at("relative")).unwrap();
    symlink(folder.at("real"), folder.at("folder")).unwrap();
    let links: Vec<String> = folder.tree().into_keys().filter(|name| name.contains(" -> ")).collect();
    let mut client = serve(&folder);
    for (i, path) in ["absolute", "relative", "folder/a.txt", "real/../folder/a.txt"].into_iter().enumerate()
    {
        let old = client.read(path);
        assert_eq!(old.meta["emend/path"], "real/a.txt");
        let version = old.version();
        let content = format!("{i}\n");
        let done =
            client.call("write_file", json!({"path": path, "content": content, "version": version})).ok();
        assert_eq!(done.structured["changed_files"], json!(["real/a.txt"]));
        assert_eq!(folder.text("real/a.txt"), content);
    }
    let still: Vec<String> = folder.tree().into_keys().filter(|name| name.contains(" -> ")).collect();
    assert_eq!(still, links);
}

#[test]
#[cfg(unix)]
fn a_file_read_through_a_link_is_known_under_its_own_name() {
    let folder = Folder::with([("a.txt", "one\n")]);
    symlink("a.txt", folder.at("link")).unwrap();
    let mut client = serve(&folder);
    client.read("link");
    client.call("write_file", json!({"path": "a.txt", "content": "two\n"})).ok();
    folder.write("a.txt", "three\n");
    client.replace("link", "three", "3").refused("stale-file");
}

#[test]
#[cfg(unix)]
fn an_absolute_path_inside_is_as_good_as_a_relative_one() {
    let folder = Folder::with([("sub/a.txt", "one\n")]);
    symlink(folder.path(), folder.beside("door")).unwrap();
    let mut client = Launch::new(EMEND).workspace(folder.beside("door")).state(folder.state()).legacy();
    for path in [folder.at("sub/a.txt"), folder.beside("door/sub/a.txt")] {
        let path = path.to_str().unwrap();
        assert_eq!(client.read(path).meta["emend/path"], "sub/a.txt");
        assert_eq!(client.read(&format!("file://{path}")).meta["emend/path"], "sub/a.txt");
    }
}

#[test]
fn the_folders_of_git_and_emend_are_off_limits() {
    let folder = Folder::with([
        ("a.txt", "a\n"),
        (".git/config", "classified\n"),
        (".emend/x", "classified\n"),
        ("sub/.git/config", "classified\n"),
    ]);
    let paths =
        [".git/config", ".git/new", ".emend/x", ".emend/new", "sub/.git/config", "sub/../.git/config"];
    for path in paths {
        check_refused(&folder, path, "path-forbidden");
    }
    #[cfg(unix)]
    {
        symlink(".git/config", folder.at("link")).unwrap();
        symlink(".git", folder.at("folder")).unwrap();
        for path in ["link", "folder/config"] {
            check_refused(&folder, path, "path-forbidden");
        }
    }
    let mut client = serve(&folder);
    client.call("write_file", json!({"path": ".GIT/hooks/x", "content": ""})).refused("path-forbidden");
    client.call("write_file", json!({"path": ".gitignore", "content": "target\n"})).ok();
}

#[test]
#[cfg(target_os = "linux")]
fn files_whose_names_are_not_utf_8_are_not_taken_for_one_another() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::with([("a.txt", "a\n")]);
    for (name, link) in [(&b"x\xfe"[..], "one"), (b"x\xff", "two")] {
        let name = OsStr::from_bytes(name);
        fs::write(folder.path().join(name), "classified\n").unwrap();
        symlink(name, folder.at(link)).unwrap();
    }
    for path in ["one", "two"] {
        check_refused(&folder, path, "invalid-argument");
    }
    let mut client = serve(&folder);
    let patch = "*** Update File: one\n@@\n-classified\n+x\n*** Update File: two\n@@\n-classified\n+y";
    client.patch(patch).refused("invalid-argument");
    let listing = client.call("list_files", json!({})).ok().text;
    assert_eq!(listing.matches("x\u{fffd} · its name is not UTF-8").count(), 2, "{listing}");
}

#[test]
fn a_path_that_is_longer_than_any_is_refused() {
    let folder = Folder::with([("a.txt", "a\n"), ("d/b.txt", "b\n")]);
    let at = |times: usize| format!("{}a.txt", "d/../".repeat(times));
    check_refused(&folder, &at(1_000), "invalid-argument");
    check_refused(&folder, &at(128), "invalid-argument");
    check_refused(&folder, &"x".repeat(4097), "invalid-argument");
    let mut client = serve(&folder);
    client.read(&at(100));
    for tool in ["list_files", "search_text"] {
        let mut arguments = json!({"path": at(1_000)});
        if tool == "search_text" {
            arguments["pattern"] = json!("a");
        }
        client.call(tool, arguments).refused("invalid-argument");
    }
}

/// Two roots, `one` and `two`, and a client of both.
fn two_roots() -> (Folder, Folder, Client) {
    let one = Folder::with([("same.txt", "1\n"), ("only-one.txt", "1\n")]);
    let two = Folder::with([("same.txt", "2\n"), ("only-two.txt", "2\n")]);
    let client = Launch::new(EMEND)
        .workspace(format!("one={}", one.path().display()))
        .workspace(format!("two={}", two.path().display()))
        .state(one.state())
        .legacy();
    (one, two, client)
}

#[test]
fn a_file_in_one_of_several_roots_is_found_and_named_with_its_root() {
    let (_one, two, mut client) = two_roots();
    assert_eq!(client.read("only-one.txt").meta["emend/path"], "one:only-one.txt");
    assert_eq!(
        client.replace("only-two.txt", "2", "3").ok().structured["changed_files"],
        json!(["two:only-two.txt"])
    );
    client.replace("two:only-two.txt", "3", "4").ok();
    client.replace(two.at("only-two.txt").to_str().unwrap(), "4", "5").ok();
    assert_eq!(two.text("only-two.txt"), "5\n");
}

/// What is named for a path that leads nowhere.
#[track_caller]
fn check_named(client: &mut Client, path: &str, code: &str, named: &str) {
    let named = format!("There is: {named}.");
    let missing = [
        client.call("read_file", json!({"path": path})),
        client.replace(path, "1", "x"),
        client.patch(&format!("*** Update File: {path}\n@@\n-1\n+x")),
    ];
    for answer in missing {
        assert!(answer.refused(code).text.contains(&named), "{path}");
    }
}

#[test]
fn a_path_that_leads_nowhere_names_in_full_the_file_that_may_be_meant() {
    let folder = Folder::with([
        ("src/app/main.py", "1\n"),
        ("lib/tool.py", "1\n"),
        ("src/f\u{e4}il.txt", "1\n"),
        ("hidden/src/app/main.py", "1\n"),
    ]);
    let before = folder.tree();
    let mut client = crate::policy::serve_with(&folder, &["--forbid", "hidden/"]);
    // On Windows, these are the file itself.
    let others = ["SRC/APP/MAIN.PY", "src\\app\\main.py", "src/app/Main.py"];
    let others = others.iter().filter(|_| !cfg!(windows));
    for path in ["proj/src/app/main.py", "app/main.py", "main.py", "a/src/app/main.py"].iter().chain(others) {
        check_named(&mut client, path, "missing-original", "src/app/main.py");
    }
    check_named(&mut client, "src/fa\u{308}il.txt", "missing-original", "src/f\u{e4}il.txt");
    let elsewhere = if cfg!(windows) { "C:/elsewhere/app/main.py" } else { "/elsewhere/app/main.py" };
    check_named(&mut client, elsewhere, "path-outside-workspace", "src/app/main.py");
    check_named(&mut client, "lib/tool.js", "missing-original", "lib/tool.py");
    drop(client);
    assert_eq!(folder.tree(), before);
}

#[test]
fn a_path_that_none_of_several_roots_has_names_the_file_in_one_of_them() {
    let (one, _two, mut client) = two_roots();
    one.write("src/app/main.py", "1\n");
    check_named(&mut client, "proj/app/main.py", "ambiguous-path", "one:src/app/main.py");
    check_named(&mut client, "two:app/main.py", "missing-original", "one:src/app/main.py");
}

#[test]
fn a_path_that_could_be_in_either_root_is_refused() {
    let (one, two, mut client) = two_roots();
    client.replace("same.txt", "1", "x").refused("ambiguous-path");
    client.call("write_file", json!({"path": "new.txt", "content": "n\n"})).refused("ambiguous-path");
    client.replace("one:same.txt", "1", "x").ok();
    client.call("write_file", json!({"path": "two:new.txt", "content": "n\n"})).ok();
    assert_eq!(
        (one.text("same.txt"), two.text("same.txt"), two.text("new.txt")),
        ("x\n".into(), "2\n".into(), "n\n".into())
    );
    assert!(!one.has("new.txt"));
}

#[test]
fn a_new_file_among_several_roots_is_named_with_its_root_or_in_full() {
    let (one, two, mut client) = two_roots();
    let write =
        |client: &mut Client, path: &str| client.call("write_file", json!({"path": path, "content": "n\n"}));
    // A folder that only one of them has says nothing: it could be wanted in the other.
    one.write("src/a.txt", "1\n");
    for path in ["src/new.txt", "new/deep/a.txt", "three:new.txt", "three:same.txt"] {
        // On Windows, no name has a colon.
        let code = if cfg!(windows) && path.contains(':') { "invalid-argument" } else { "ambiguous-path" };
        write(&mut client, path).refused(code);
        client.patch(&format!("*** Add File: {path}\n+n")).refused(code);
        client.patch(&format!("*** Move File: only-one.txt -> {path}")).refused(code);
    }
    write(&mut client, "one:src/new.txt").ok();
    write(&mut client, two.at("new/deep/a.txt").to_str().unwrap()).ok();
    client.patch("*** Move File: only-two.txt -> two:moved.txt").ok();
    assert_eq!((one.text("src/new.txt"), two.text("new/deep/a.txt")), ("n\n".into(), "n\n".into()));
    assert_eq!(two.text("moved.txt"), "2\n");
}

#[test]
#[cfg(unix)]
fn a_colon_in_a_path_is_one_of_its_letters_unless_it_follows_the_name_of_a_root() {
    let (one, two, mut client) = two_roots();
    one.write("two:odd.txt", "1\n");
    one.write("x:odd.txt", "1\n");
    two.write("odd.txt", "2\n");
    assert_eq!(client.read("two:odd.txt").meta["emend/path"], "two:odd.txt");
    assert_eq!(client.read("one:two:odd.txt").meta["emend/path"], "one:two:odd.txt");
    assert_eq!(client.read("x:odd.txt").meta["emend/path"], "one:x:odd.txt");
    let alone = Folder::with([("ws:a.txt", "1\n")]);
    serve(&alone).replace("ws:a.txt", "1", "2").ok();
}

#[test]
fn a_root_inside_another_has_no_file_of_settings_of_its_own() {
    let folder = Folder::with([("sub/a.txt", "1\n"), ("sub/.emend.toml", "mode = 'read-only'\n")]);
    launch(&folder).workspace(folder.at("sub")).legacy().replace("sub/a.txt", "1", "2").ok();
    let alone = Launch::new(EMEND).workspace(folder.at("sub")).state(folder.state());
    alone.legacy().replace("a.txt", "2", "3").refused("read-only");
}

#[test]
fn one_request_touches_one_root() {
    let (one, two, mut client) = two_roots();
    let before = (one.tree(), two.tree());
    client
        .patch("*** Update File: one:same.txt\n@@\n-1\n+x\n*** Update File: two:same.txt\n@@\n-2\n+y")
        .refused("several-roots");
    client.patch("*** Move File: one:same.txt -> two:moved.txt").refused("several-roots");
    client.replace("one:../../secret", "1", "x").refused("path-outside-workspace");
    let elsewhere = if cfg!(windows) { "C:/Windows/win.ini" } else { "/etc/passwd" };
    client.replace(elsewhere, "root", "x").refused("path-outside-workspace");
    assert_eq!((one.tree(), two.tree()), before);
}

#[test]
fn nested_roots_are_one() {
    for order in [["", "sub"], ["sub", ""]] {
        let folder = Folder::with([("sub/a.txt", "one\n")]);
        let mut launch = Launch::new(EMEND).state(folder.state());
        for root in order {
            launch = launch.workspace(folder.at(root));
        }
        let mut client = launch.legacy();
        assert_eq!(client.read("sub/a.txt").meta["emend/path"], "sub/a.txt");
        client.call("read_file", json!({"path": "a.txt"})).refused("missing-original");
    }
}

#[test]
fn roots_of_one_name_are_told_apart() {
    let (one, two) = (Folder::with([("same.txt", "1\n")]), Folder::with([("same.txt", "2\n")]));
    let mut client =
        Launch::new(EMEND).workspace(one.path()).workspace(two.path()).state(one.state()).legacy();
    let name = |client: &mut Client, folder: &Folder| {
        client.read(folder.at("same.txt").to_str().unwrap()).meta["emend/path"].as_str().unwrap().to_owned()
    };
    let (first, second) = (name(&mut client, &one), name(&mut client, &two));
    assert_ne!(first, second);
    client.replace(&second, "2", "x").ok();
    assert_eq!((one.text("same.txt"), two.text("same.txt")), ("1\n".into(), "x\n".into()));
}

#[test]
#[cfg(unix)]
fn what_is_deleted_or_moved_is_named_itself_and_not_through_a_link() {
    let folder = Folder::with([("real.txt", "1\n")]);
    std::os::unix::fs::symlink("real.txt", folder.at("link")).unwrap();
    let mut client = serve(&folder);
    client.read("link");
    let before = folder.tree();
    client.patch("*** Delete File: link").refused("not-a-file");
    client.patch("*** Move File: link -> elsewhere.txt").refused("not-a-file");
    assert_eq!(folder.tree(), before);
    client.patch("*** Delete File: real.txt").ok();
}
