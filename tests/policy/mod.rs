//! The policy: forbidden files are not read, changed or mentioned, by whatever name, and each setting has its effect on
//! an edit.

mod after_hooks;
#[cfg(unix)]
mod app_approval;
#[cfg(unix)]
mod apply_model;
pub(crate) mod approval;
mod configuration;
mod formatters;
pub(crate) mod hooks;
#[cfg(unix)]
mod kept;
mod loosening;
pub(crate) mod paths;
mod protected_roots;
pub(crate) mod special_files;

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::{PermissionsExt, symlink};

use emend_testkit::{Answer, Client, Folder, Launch};
use serde_json::{Value, json};

use crate::policy::paths::{check_refused, check_refused_by};
pub(crate) use crate::serve_with;
use crate::{EMEND, launch, serve};

/// Nothing is written, and it is this code that says so.
#[track_caller]
pub(crate) fn check_held_back(folder: &Folder, answer: impl FnOnce() -> Answer, code: &str) -> Answer {
    // What waits for a person is written down, but not in the workspace.
    let seen = || if code == "approval-needed" { folder.tree() } else { folder.everything() };
    let before = seen();
    let answer = answer().refused(code);
    assert_eq!(seen(), before);
    answer
}

/// Every tool that takes an existing file refuses this one.
#[track_caller]
fn check_refused_if_there(folder: &Folder, path: &str) {
    let mut client = serve(folder);
    for answer in [
        client.call("read_file", json!({"path": path})),
        client.replace(path, "classified", "x"),
        client.call("write_file", json!({"path": path, "content": "x\n"})),
        client.patch(&format!("*** Move File: {path} -> c.txt")),
        client.patch(&format!("*** Delete File: {path}")),
        client.call("apply_patch", json!({"patch_path": path})),
    ] {
        assert!(!answer.refused("path-forbidden").text.contains("classified"));
    }
}

/// A workspace with secrets in it, and every way that there is to call one.
fn with_secrets() -> (Folder, Vec<String>) {
    let folder = Folder::with([
        ("a.txt", "a\n"),
        ("sub/b.txt", "b\n"),
        (".env", "classified\n"),
        ("sub/.env.local", "classified\n"),
        (".ssh/id_ed25519", "classified\n"),
        (".git/config", "classified\n"),
        ("tls/server.KEY", "classified\n"),
    ]);
    let mut paths = vec![folder.at(".env").to_str().unwrap().to_owned(), folder.uri(".env")];
    let written = [
        ".env",
        "./.env",
        ".//.env",
        "sub/../.env",
        "sub/./../.env",
        "sub/.env.local",
        ".ssh/id_ed25519",
        ".git/config",
        "tls/server.KEY",
    ];
    paths.extend(written.map(String::from));
    paths.extend(through_links(&folder).map(String::from));
    (folder, paths)
}

/// Makes links to the secrets. Returns the ways through them.
#[cfg(unix)]
fn through_links(folder: &Folder) -> impl Iterator<Item = &'static str> {
    symlink(".env", folder.at("link")).unwrap();
    symlink("link", folder.at("sub/../link-to-link")).unwrap();
    symlink(folder.at(".env"), folder.at("absolute-link")).unwrap();
    symlink("../.ssh", folder.at("sub/keys")).unwrap();
    symlink(".git", folder.at("repository")).unwrap();
    symlink("..", folder.at("sub/up")).unwrap();
    let ways = [
        "sub/up/.env",
        "sub/up/sub/.env.local",
        "link",
        "link-to-link",
        "absolute-link",
        "sub/keys/id_ed25519",
        "repository/config",
    ];
    ways.into_iter()
}

/// Not everybody may make links on Windows.
#[cfg(windows)]
fn through_links(_folder: &Folder) -> impl Iterator<Item = &'static str> {
    std::iter::empty()
}

#[test]
fn a_secret_is_off_limits_by_whatever_name_it_is_called() {
    let (folder, paths) = with_secrets();
    for path in paths {
        check_refused(&folder, &path, "path-forbidden");
    }
}

#[test]
fn the_portable_disk_keeps_secrets_too() {
    let (folder, paths) = with_secrets();
    for path in paths {
        check_refused_by(
            |folder| launch(folder).variable("EMEND_DISK", "portable"),
            &folder,
            &path,
            "path-forbidden",
        );
    }
}

#[test]
fn what_is_not_there_is_off_limits_too() {
    let folder =
        Folder::with([("a.txt", "a\n"), (".ssh/config", "classified\n"), (".netrc", "classified\n")]);
    // A folder, something below a file, and missing ones: the answer does not tell which.
    for path in [".ENV", ".Env.Local", "new/.env", ".ssh", ".ssh/new/deep.txt", ".netrc/x", ".gnupg", "x.pem"]
    {
        check_refused(&folder, path, "path-forbidden");
    }
}

#[test]
fn a_hard_link_to_a_secret_beside_or_above_it_is_off_limits() {
    let folder =
        Folder::with([("a.txt", "a\n"), (".env", "classified\n"), ("sub/deep/id_rsa", "classified\n")]);
    for (secret, name) in
        [(".env", "same.txt"), (".env", "sub/deep/other.txt"), ("sub/deep/id_rsa", "sub/deep/x")]
    {
        fs::hard_link(folder.at(secret), folder.at(name)).unwrap();
        check_refused_if_there(&folder, name);
    }
    fs::hard_link(folder.at("a.txt"), folder.at("b.txt")).unwrap();
    serve(&folder).read("b.txt");
}

/// A folder that may not be looked into, and ways to it that may be seen.
#[cfg(unix)]
fn with_private_folder() -> Folder {
    let folder = Folder::with([
        ("a.txt", "a\n"),
        ("private/bob.txt", "classified\n"),
        ("private/deep/c.txt", "classified\n"),
        (".emend.toml", "forbidden_paths = ['private/']"),
    ]);
    symlink("private", folder.at("door")).unwrap();
    symlink("private/bob.txt", folder.at("latest")).unwrap();
    symlink("../a.txt", folder.at("private/back")).unwrap();
    symlink("/etc", folder.at("private/etc")).unwrap();
    fs::hard_link(folder.at("private/bob.txt"), folder.at("private/same.txt")).unwrap();
    folder
}

#[test]
#[cfg(unix)]
fn whether_anything_is_beneath_a_forbidden_folder_is_not_told_by_any_way_through_it() {
    let folder = with_private_folder();
    let mut client = serve(&folder);
    for name in [
        "deep",
        "deep/c.txt",
        "bob.txt",
        "bob.txt/x",
        "none",
        "none/x",
        "back",
        "etc",
        "etc/passwd",
        "deep/..",
    ] {
        for path in [format!("door/{name}"), format!("private/{name}"), format!("door/{name}/../../a.txt")] {
            let told = |answer: Answer| answer.refused("path-forbidden").text.replace(&path, "PATH");
            let read = told(client.call("read_file", json!({"path": path})));
            assert_eq!(
                read,
                told(client.call("read_file", json!({"path": "private"}))).replace("private is", "PATH is")
            );
            told(client.call("list_files", json!({"path": path})));
            told(client.call("search_text", json!({"path": path, "pattern": "c"})));
            told(client.replace(&path, "classified", "x"));
        }
    }
}

#[test]
#[cfg(unix)]
fn where_a_link_leads_that_leads_to_what_is_forbidden_is_not_told() {
    let folder = with_private_folder();
    let mut client = serve(&folder);
    let listing = client.call("list_files", json!({})).ok().text;
    assert!(listing.contains("latest · a link") && !listing.contains("private/"), "{listing}");
    for answer in [
        client.call("read_file", json!({"path": "latest"})),
        client.call("list_files", json!({"path": "latest"})),
        client.replace("latest", "classified", "x"),
    ] {
        assert!(!answer.refused("path-forbidden").text.contains("bob"), "only the name that was written");
    }
}

#[test]
fn the_size_of_a_forbidden_file_is_not_told_by_another_of_its_names() {
    let folder = Folder::with([(".env", "classified\n"), ("b.txt", "b\n")]);
    fs::hard_link(folder.at(".env"), folder.at("same.txt")).unwrap();
    fs::hard_link(folder.at("b.txt"), folder.at("c.txt")).unwrap();
    let listing = serve(&folder).call("list_files", json!({})).ok().text;
    assert!(listing.contains("c.txt · 2 B") && listing.contains("same.txt\n"), "{listing}");
}

#[test]
fn a_patch_is_not_taken_from_a_forbidden_file() {
    let folder = Folder::with([("a.txt", "a\n"), (".env", "*** Begin Patch\nclassified\n")]);
    let mut client = serve(&folder);
    let answer = client.call("apply_patch", json!({"patch_path": ".env"})).refused("path-forbidden");
    assert!(!answer.text.contains("classified"));
}

#[test]
fn a_forbidden_name_is_not_suggested() {
    let folder = Folder::with([("secret-1.txt", "x\n"), ("secret-2.pem", "x\n"), ("secret-3/x", "x\n")]);
    let mut client = serve_with(&folder, &["--forbid", "secret-3/"]);
    let answer = client.call("read_file", json!({"path": "secret.txt"})).refused("missing-original");
    assert!(answer.text.contains("secret-1.txt"), "{}", answer.text);
    assert!(!answer.text.contains("secret-2") && !answer.text.contains("secret-3"), "{}", answer.text);
    let answer = client.replace("secret.txt", "a", "b").refused("missing-original");
    assert!(!answer.text.contains("secret-2") && !answer.text.contains("secret-3"), "{}", answer.text);
}

#[test]
fn one_forbidden_file_stops_a_whole_patch() {
    let folder = Folder::with([("a.txt", "a\n"), ("b.txt", "b\n")]);
    let mut client = serve(&folder);
    let patch =
        "*** Update File: a.txt\n@@\n-a\n+x\n*** Add File: deploy/id_rsa\n+x\n*** Move File: b.txt -> .env";
    let answer = check_held_back(&folder, || client.patch(patch), "path-forbidden");
    assert_eq!(answer.codes(), ["path-forbidden", "path-forbidden"]);
}

#[test]
fn a_forbidden_file_is_off_limits_under_the_name_of_its_root() {
    let one = Folder::with([("a.txt", "a\n"), (".env", "classified\n")]);
    let two = Folder::with([("b.txt", "b\n")]);
    let mut client = Launch::new(EMEND)
        .workspace(format!("one={}", one.path().display()))
        .workspace(format!("two={}", two.path().display()))
        .state(one.state())
        .legacy();
    for path in [".env", "one:.env", "two:.env", "one:./.env", "one:.git/config"] {
        client.call("read_file", json!({"path": path})).refused("path-forbidden");
        client.call("write_file", json!({"path": path, "content": "x\n"})).refused("path-forbidden");
    }
}

#[test]
#[cfg(unix)]
fn what_becomes_a_link_to_a_secret_after_its_preview_is_not_written() {
    let folder = Folder::with([("a.txt", "one\n"), (".env", "one\n")]);
    let mut client = serve(&folder);
    let handle = client
        .preview("str_replace", json!({"path": "a.txt", "old_string": "one", "new_string": "two"}))
        .ok()
        .handle();
    fs::remove_file(folder.at("a.txt")).unwrap();
    symlink(".env", folder.at("a.txt")).unwrap();
    check_held_back(&folder, || client.call("apply_preview", json!({"preview": handle})), "path-forbidden");
}

#[test]
fn examples_of_secrets_are_files_like_any_other() {
    let folder = Folder::with([(".env.example", "KEY=\n"), ("id_ed25519.pub", "ssh-ed25519 x\n")]);
    let mut client = serve(&folder);
    client.replace(".env.example", "KEY=", "TOKEN=").ok();
    client.read("id_ed25519.pub");
    client.call("write_file", json!({"path": "sub/.env.template", "content": "A=\n"})).ok();
}

#[test]
fn what_a_person_forbids_and_takes_back_counts() {
    let folder = Folder::with([(".env", "a\n"), ("private/x/y.txt", "b\n"), ("certs/ca.pem", "c\n")]);
    let file = folder.beside("config.toml");
    fs::write(&file, "forbidden_paths = ['!.env', 'private', '!/certs/*.pem']").unwrap();
    let launch = launch(&folder).argument("--config").argument(file).argument("--notify-lsp=false");
    let mut client = launch.configured().legacy();
    client.replace(".env", "a", "A").ok();
    client.replace("certs/ca.pem", "c", "C").ok();
    client.call("read_file", json!({"path": "private/x/y.txt"})).refused("path-forbidden");
    client.call("write_file", json!({"path": "PRIVATE/z", "content": ""})).refused("path-forbidden");
    client.call("read_file", json!({"path": "other.pem"})).refused("path-forbidden");
}

/// Whether every tool that changes a file refuses this one, though it can be read.
#[track_caller]
pub(crate) fn check_only_readable(folder: &Folder, client: &mut Client, path: &str, code: &str) {
    let before = folder.everything();
    client.read(path);
    client.replace(path, "text", "x").refused(code);
    client.call("write_file", json!({"path": path, "content": "x\n"})).refused(code);
    client.patch(&format!("*** Delete File: {path}")).refused(code);
    client.patch(&format!("*** Move File: {path} -> moved.rs")).refused(code);
    client.patch(&format!("*** Move File: a.rs -> {path}")).refused(code);
    client.preview("write_file", json!({"path": path, "content": "x\n"})).refused(code);
    assert_eq!(folder.everything(), before);
}

#[test]
fn a_read_only_path_is_read_and_not_changed() {
    let folder = Folder::with([("a.rs", "a\n"), ("generated/api.rs", "text\n")]);
    let mut client = serve_with(&folder, &["--read-only", "generated/"]);
    check_only_readable(&folder, &mut client, "generated/api.rs", "read-only");
    #[cfg(unix)]
    {
        symlink("generated/api.rs", folder.at("link")).unwrap();
        check_only_readable(&folder, &mut client, "link", "read-only");
    }
    client.patch("*** Add File: generated/new.rs\n+x").refused("read-only");
    client.replace("a.rs", "a", "b").ok();
}

#[test]
fn only_files_with_an_allowed_ending_are_changed() {
    let folder = Folder::with([("a.rs", "a\n"), ("notes.txt", "text\n"), ("Makefile", "all:\n")]);
    let mut client = serve_with(&folder, &["--allow-extension", "rs", "--allow-extension", ".md"]);
    check_only_readable(&folder, &mut client, "notes.txt", "extension-not-allowed");
    client.replace("Makefile", "all", "x").refused("extension-not-allowed");
    client.replace("a.rs", "a", "b").ok();
    client.patch("*** Move File: a.rs -> b.md").ok();
}

#[test]
fn the_largest_file_is_as_large_as_the_policy_says() {
    let folder = Folder::with([("a.txt", "12345678\n"), ("b.txt", "1\n")]);
    let mut client = serve_with(&folder, &["--max-file-bytes", "8"]);
    client.call("read_file", json!({"path": "a.txt"})).refused("too-large");
    client.replace("b.txt", "1", "1234567").ok();
    client.replace("b.txt", "1234567", "12345678").refused("too-large");
    client.call("write_file", json!({"path": "c.txt", "content": "123456789"})).refused("too-large");
}

const MAKES_X: [&str; 4] = ["str_replace", "apply_patch", "write_file", "replace_lines"];

/// The arguments with which this tool changes or makes a file.
fn arguments(client: &mut Client, tool: &str) -> Value {
    match tool {
        "str_replace" => json!({"path": "a.txt", "old_string": "a", "new_string": "x"}),
        "apply_patch" => json!({"patch": emend_testkit::client::patch("*** Add File: x.txt\n+x")}),
        "write_file" => json!({"path": "x.txt", "content": "x\n"}),
        _ => {
            let version = client.read("a.txt").version();
            json!({"path": "a.txt", "version": version, "start_line": 1, "end_line": 1, "new_text": "x\n"})
        }
    }
}

#[test]
fn in_mode_preview_and_in_mode_ask_edits_are_shown_and_not_made() {
    for (mode, code) in [("preview", "read-only"), ("ask", "approval-needed")] {
        let folder = Folder::with([("a.txt", "a\n")]);
        let mut client = serve_with(&folder, &["--mode", mode]);
        for tool in MAKES_X {
            let arguments = arguments(&mut client, tool);
            check_held_back(&folder, || client.call(tool, arguments.clone()), code);
            let shown = client.preview(tool, arguments).ok();
            assert!(shown.structured["diff"].as_str().unwrap().contains("+x"));
            if mode == "ask" {
                let apply = json!({"preview": shown.handle()});
                check_held_back(&folder, || client.call("apply_preview", apply), code);
            }
        }
        // What does not fit is told first; what is only to be checked is checked.
        client.replace("a.txt", "nowhere", "x").refused("search-not-found");
        let patch = emend_testkit::client::patch("*** Add File: x.txt\n+x");
        client.call("apply_patch", json!({"patch": patch, "validate_only": true})).ok();
    }
}

#[test]
fn in_mode_read_only_there_are_no_edit_tools() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let mut client = serve_with(&folder, &["--mode", "read-only"]);
    let read_only = |tool: &Value| tool["annotations"]["readOnlyHint"] == true;
    assert!(client.tools().iter().all(read_only));
    assert!(!client.tools().iter().any(|tool| MAKES_X.iter().any(|name| tool["name"] == *name)));
    for tool in MAKES_X {
        let mut arguments = arguments(&mut client, tool);
        check_held_back(&folder, || client.call(tool, arguments.clone()), "read-only");
        arguments["tool"] = tool.into();
        check_held_back(&folder, || client.call("edit_preview", arguments), "read-only");
    }
    client.call("apply_preview", json!({"preview": "x"})).refused("read-only");
}

#[test]
fn an_edit_of_what_needs_approval_is_shown_and_not_made() {
    let folder = Folder::with([("db/x.sql", "a\n"), ("a.txt", "a\n")]);
    let mut client = serve_with(&folder, &["--approve", "*.sql"]);
    check_held_back(&folder, || client.replace("db/x.sql", "a", "b"), "approval-needed");
    check_held_back(&folder, || client.patch("*** Move File: a.txt -> a.sql"), "approval-needed");
    check_held_back(&folder, || client.patch("*** Move File: db/x.sql -> b.txt"), "approval-needed");
    let patch = "*** Update File: db/x.sql\n@@\n-a\n+b\n*** Update File: a.txt\n@@\n-a\n+b";
    check_held_back(&folder, || client.patch(patch), "approval-needed");
    let shown = client.preview("apply_patch", json!({"patch": emend_testkit::client::patch(patch)})).ok();
    let all = json!({"preview": shown.handle()});
    check_held_back(&folder, || client.call("apply_preview", all), "approval-needed");
    // What needs nobody's approval can be had alone.
    let shown = client.preview("apply_patch", json!({"patch": emend_testkit::client::patch(patch)})).ok();
    client.call("apply_preview", json!({"preview": shown.handle(), "hunks": [2]})).ok();
    assert_eq!((folder.text("db/x.sql"), folder.text("a.txt")), ("a\n".into(), "b\n".into()));
}

#[test]
fn where_every_edit_needs_a_reading_one_is_demanded() {
    let folder = Folder::with([("a.txt", "one\ntwo\n"), ("b.txt", "b\n")]);
    let mut client = serve_with(&folder, &["--require-read"]);
    let refused = check_held_back(&folder, || client.replace("a.txt", "one", "1"), "not-read");
    let version = refused.problems()[0]["current_version"].clone();
    // The version is as good as a reading, for that call.
    client
        .call(
            "str_replace",
            json!({"path": "a.txt", "old_string": "one", "new_string": "1", "version": version}),
        )
        .ok();
    client.replace("a.txt", "two", "2").refused("not-read");
    // A part will do, and edits in a row need no new one.
    client.call("read_file", json!({"path": "a.txt", "limit": 1})).ok();
    client.replace("a.txt", "two", "2").ok();
    client.replace("a.txt", "1", "one").ok();
    // Nor does a file that it made itself, or a change that it was shown.
    client.call("write_file", json!({"path": "new.txt", "content": "n\n"})).ok();
    client.replace("new.txt", "n", "m").ok();
    folder.write("a.txt", "one\n2\n3\n");
    client.replace("a.txt", "2", "two").refused("stale-file");
    client.replace("a.txt", "2", "two").ok();
    client.patch("*** Update File: b.txt\n@@\n-b\n+c").refused("not-read");
}

#[test]
fn a_change_elsewhere_is_merged_where_the_policy_says_so() {
    let lines = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    let folder = Folder::with([("a.txt", lines)]);
    let mut client = serve_with(&folder, &["--on-change", "merge"]);
    client.read("a.txt");
    folder.write("a.txt", lines.replace('2', "two"));
    let done = client.replace("a.txt", "8", "eight").ok();
    assert!(done.text.contains("+two"), "what changed is told: {}", done.text);
    assert_eq!(folder.text("a.txt"), lines.replace('2', "two").replace('8', "eight"));
    // It was told, so the next edit goes on from there.
    client.replace("a.txt", "two", "2").ok();
    // What borders on the edit is refused once, as everywhere.
    folder.write("a.txt", folder.text("a.txt").replace('5', "five"));
    client.replace("a.txt", "6", "six").refused("stale-file");
    client.replace("a.txt", "6", "six").ok();
    // So is what replaces the whole, and what names a version.
    let version = client.read("a.txt").version();
    folder.write("a.txt", folder.text("a.txt").replace('1', "one"));
    client.call("write_file", json!({"path": "a.txt", "content": "x\n"})).refused("stale-file");
    let named = json!({"path": "a.txt", "old_string": "9", "new_string": "nine", "version": version});
    client.call("str_replace", named).refused("stale-file");
}

#[test]
fn a_change_is_not_minded_where_the_policy_says_so() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let mut client = serve_with(&folder, &["--require-mtime-check=false"]);
    let version = client.read("a.txt").version();
    folder.write("a.txt", "one\nTWO\n");
    let named = json!({"path": "a.txt", "old_string": "one", "new_string": "1", "version": version});
    client.call("str_replace", named).refused("stale-file");
    folder.write("a.txt", "one\ntwo!\n");
    client.replace("a.txt", "one", "1").ok();
    folder.write("a.txt", "1\nthree\n");
    client.call("write_file", json!({"path": "a.txt", "content": "x\n"})).refused("not-read");
}

#[test]
#[cfg(unix)]
fn a_file_that_nobody_may_write_is_changed_where_the_policy_says_so() {
    let folder = Folder::with([("a.txt", "one\n")]);
    fs::set_permissions(folder.at("a.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    serve(&folder).replace("a.txt", "one", "two").refused("read-only");
    serve_with(&folder, &["--write-read-only"]).replace("a.txt", "one", "two").ok();
    assert_eq!(folder.text("a.txt"), "two\n");
    assert_eq!(fs::metadata(folder.at("a.txt")).unwrap().permissions().mode() & 0o777, 0o444);
}
