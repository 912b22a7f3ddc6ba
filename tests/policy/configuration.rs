//! The sources of the policy: flags, the user's file, and the file of a workspace, which can only tighten it.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;

use emend_testkit::{Folder, Http, HttpServer, Launch};
use serde_json::{Value, json};

use crate::policy::{check_held_back, check_only_readable, serve_with};
use crate::{EMEND, launch, serve};

/// A server whose person has this configuration file.
fn configured(folder: &Folder, text: &str) -> Launch {
    let file = folder.beside("config.toml");
    fs::write(&file, text).unwrap();
    launch(folder).argument("--config").argument(file).configured()
}

#[test]
fn the_file_of_a_person_is_followed_and_the_command_line_adds_to_it() {
    let folder = Folder::with([("a.txt", "a\n"), ("x/a.txt", "a\n"), ("y/a.txt", "a\n"), ("z/a.txt", "a\n")]);
    let rules = "forbidden_paths = ['x/']\nread_only = ['z/']\n";
    let from_file = configured(&folder, &format!("mode = 'preview'\n{rules}"));
    check_held_back(&folder, || from_file.legacy().replace("a.txt", "a", "b"), "read-only");
    let from_file = configured(&folder, rules);
    let stricter = from_file.clone().argument("--mode").argument("preview");
    check_held_back(&folder, || stricter.legacy().replace("a.txt", "a", "b"), "read-only");
    let mut client = from_file.argument("--forbid").argument("y/").legacy();
    client.replace("a.txt", "a", "b").ok();
    client.replace("x/a.txt", "a", "b").refused("path-forbidden");
    client.replace("y/a.txt", "a", "b").refused("path-forbidden");
    client.replace("z/a.txt", "a", "b").refused("read-only");
}

#[test]
fn the_file_is_found_where_people_keep_theirs_and_another_can_be_left_out() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let home = folder.beside("home");
    for (variable, base) in [("HOME", home.join(".config")), ("XDG_CONFIG_HOME", home.join("elsewhere"))] {
        fs::create_dir_all(base.join("emend")).unwrap();
        fs::write(base.join("emend/config.toml"), "read_only = ['*']").unwrap();
        let value = if variable == "HOME" { &home } else { &base };
        let launch = launch(&folder).variable("HOME", folder.beside("nobody")).variable(variable, value);
        launch.configured().legacy().replace("a.txt", "a", "b").refused("read-only");
    }
    let named = folder.beside("named.toml");
    fs::write(&named, "mode = 'ask'").unwrap();
    let launch = launch(&folder).variable("EMEND_CONFIG", &named);
    launch.clone().configured().legacy().replace("a.txt", "a", "b").refused("approval-needed");
    launch.legacy().replace("a.txt", "a", "b").ok();
}

#[test]
fn each_client_is_listed_the_tools_that_its_name_stands_for() {
    let folder =
        Folder::with([("a.txt", "a\n"), (".emend.toml", "tools = 'core'\ntools_for = { zed = 'core' }\n")]);
    let number = |listed: &Value| listed["tools"].as_array().unwrap().len();
    let ask = |launch: &Launch| {
        let listed = [launch.legacy(), launch.modern()]
            .map(|mut client| client.request("tools/list", json!({})).unwrap());
        assert_eq!(listed[1]["cacheScope"], "private", "another client may have another list");
        listed.map(|listed| number(&listed))
    };
    let all = launch(&folder).legacy().tools().len();
    assert_eq!(ask(&configured(&folder, "tools = 'core'\ntools_for = { testkit = 'all' }")), [all, all]);
    let few = configured(&folder, "tools_for = { TestKit = 'core' }");
    assert_eq!(ask(&few), [6, 6]);
    let server = HttpServer::start(&few);
    let listed = |client: Http| number(&client.request("tools/list", json!({})).unwrap());
    let client = |name: &str| server.client().called(name);
    assert_eq!((listed(client("testkit")), listed(client("testkit").legacy())), (6, 6));
    assert_eq!((listed(client("zed")), listed(client("zed").legacy())), (all, all));
    let flag = launch(&folder).argument("--tools-for").argument("testkit=core");
    assert_eq!(ask(&flag), [6, 6]);
}

#[test]
fn the_file_may_name_the_workspaces() {
    let folder = Folder::with([("one/a.txt", "1\n"), ("two/a.txt", "2\n")]);
    let text = format!("workspace = ['first={}', '~/two']", folder.at("one").display());
    let file = folder.beside("config.toml");
    fs::write(&file, text).unwrap();
    let launch = Launch::new(EMEND).state(folder.state()).variable("HOME", folder.path()).configured();
    let launch = launch.argument("--config").argument(&file).inside(folder.at("one"));
    let mut client = launch.legacy();
    client.replace("first:a.txt", "1", "one").ok();
    client.replace("two:a.txt", "2", "two").ok();
    // Those of the command line go before them.
    let mut client = launch.workspace(folder.at("two")).legacy();
    assert_eq!(client.read("a.txt").meta["emend/path"], "a.txt");
}

/// A bundle's configuration puts a list of folders behind one flag.
#[test]
fn one_flag_takes_several_workspaces() {
    let folder = Folder::with([("one/a.txt", "1\n"), ("two/a.txt", "2\n"), ("three/a.txt", "3\n")]);
    let launch =
        Launch::new(EMEND).state(folder.state()).workspace(folder.at("one")).argument(folder.at("two"));
    let mut client = launch.workspace(folder.at("three")).legacy();
    for (name, old) in [("one", "1"), ("two", "2"), ("three", "3")] {
        client.replace(&format!("{name}:a.txt"), old, name).ok();
        assert_eq!(folder.text(&format!("{name}/a.txt")), format!("{name}\n"));
    }
}

/// How a server ends that cannot start with these arguments, and what it says.
#[track_caller]
pub(crate) fn check_no_start(folder: &Folder, arguments: &[&str], telling: &str) -> String {
    let mut command = emend_testkit::command(EMEND);
    command.arg("serve").arg("--workspace").arg(folder.path()).arg("--state-dir").arg(folder.state());
    let output = command.args(arguments).env("HOME", folder.beside("nobody")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && output.stdout.is_empty(), "{said}");
    assert!(said.contains(telling), "{said}");
    said
}

#[test]
fn a_policy_that_cannot_be_understood_is_a_mistake_at_the_start() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let file = folder.beside("config.toml");
    let config = ["--config", file.to_str().unwrap()];
    check_no_start(&folder, &config, "there is no configuration file");
    for (text, telling) in [
        (
            "mode = 'ask'\nforbidden_path = []",
            "line 2: unknown setting 'forbidden_path'. Did you mean 'forbidden_paths'?",
        ),
        ("mode = 'ask'\nread_only = [", "line 2"),
        ("\nforbidden_paths = ['[']", "line 2: forbidden_paths"),
        ("\nworkspace = ['relative']", "line 2: workspace: 'relative' must be an absolute path"),
        ("\nmax_file_bytes = 9999999999", "line 2: max_file_bytes"),
    ] {
        fs::write(&file, text).unwrap();
        check_no_start(&folder, &config, telling);
    }
    check_no_start(&folder, &["--forbid", "a/../b"], "forbidden_paths");
    check_no_start(&folder, &["--mode", "yolo"], "auto, ask, preview, read-only");
    for (flag, value) in [("--require-read", "always"), ("--track-history", "false")] {
        check_no_start(&folder, &[flag, value], &format!("'{flag}={value}'"));
    }
    assert!(!folder.state().exists());
}

#[test]
fn the_files_that_emend_relies_on_are_off_limits_in_any_workspace() {
    let folder = Folder::with([("a.txt", "a\n"), (".config/other.toml", "x\n")]);
    let launch = launch(&folder).variable("HOME", folder.path()).configured();
    // It is not there yet: a model could write one for the next start.
    let usual = json!({"path": ".config/emend/config.toml", "content": "mode = 'auto'\n"});
    check_held_back(&folder, || launch.legacy().call("write_file", usual), "path-forbidden");
    launch.legacy().replace(".config/other.toml", "x", "y").ok();
    // Behind a link.
    folder.write("dotfiles/emend.toml", "read_only = ['nothing']\n");
    fs::create_dir_all(folder.at(".config/emend")).unwrap();
    symlink(folder.at("dotfiles/emend.toml"), folder.at(".config/emend/config.toml")).unwrap();
    for path in ["dotfiles/emend.toml", ".config/emend/config.toml", "dotfiles/EMEND.toml"] {
        launch.legacy().replace(path, "nothing", "x").refused("path-forbidden");
    }
}

#[test]
fn the_usual_state_folder_is_off_limits_though_another_is_used() {
    let folder = Folder::with([("a.txt", "a\n"), (".local/state/emend/key", "classified\n")]);
    let launch = launch(&folder).variable("HOME", folder.path());
    let mut client = launch.legacy();
    client.call("read_file", json!({"path": ".local/state/emend/key"})).refused("path-forbidden");
    let other = launch.variable("XDG_STATE_HOME", folder.at("state"));
    other
        .legacy()
        .call("write_file", json!({"path": "state/emend/key", "content": "x"}))
        .refused("path-forbidden");
}

#[test]
fn a_workspace_that_is_the_state_folder_is_a_mistake_at_the_start() {
    let folder = Folder::with([("a.txt", "a\n")]);
    symlink(folder.path(), folder.beside("door")).unwrap();
    let before = folder.everything();
    for state in [folder.path().to_owned(), folder.beside("door")] {
        let mut command = emend_testkit::command(EMEND);
        command.arg("serve").arg("--workspace").arg(folder.path()).arg("--state-dir").arg(state);
        let output = command.env("HOME", folder.beside("nobody")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("--state-dir"), "{said}");
    }
    assert_eq!(folder.everything(), before);
}

#[test]
fn a_name_that_two_workspaces_are_given_is_a_mistake_at_the_start() {
    let folder = Folder::with([("one/a.txt", "1\n"), ("two/a.txt", "2\n")]);
    let [one, two] = ["one", "two"].map(|name| format!("same={}", folder.at(name).display()));
    check_no_start(&folder, &["--workspace", &one, "--workspace", &two], "the name same");
}

#[test]
fn a_workspace_inside_another_is_none_and_the_log_says_so() {
    let folder = Folder::with([("sub/a.txt", "1\n")]);
    for (first, second) in [("", "sub"), ("sub", "")] {
        let launch = Launch::new(EMEND).state(folder.state());
        let mut client = launch.workspace(folder.at(first)).workspace(folder.at(second)).legacy();
        client.read("sub/a.txt");
        let (_, log) = client.close();
        assert!(log.contains("is no root of its own"), "{log}");
    }
}

#[test]
fn the_file_of_a_workspace_tightens() {
    let folder = Folder::with([
        ("a.rs", "a\n"),
        ("x/a.rs", "a\n"),
        ("y/a.rs", "a\n"),
        ("z.sql", "a\n"),
        ("n.txt", "a\n"),
    ]);
    let text = "forbidden_paths = ['x/']\nread_only = ['y/']\napprove = ['*.sql']\nallowed_extensions = ['rs', 'sql']\n\
                require_read = 'always'\n";
    folder.write(".emend.toml", text);
    let (client, log) = {
        let mut client = serve(&folder);
        client.replace("x/a.rs", "a", "b").refused("path-forbidden");
        client.replace("y/a.rs", "a", "b").refused("read-only");
        client.read("z.sql");
        client.replace("z.sql", "a", "b").refused("approval-needed");
        client.replace("n.txt", "a", "b").refused("extension-not-allowed");
        client.replace("a.rs", "a", "b").refused("not-read");
        client.read("a.rs");
        client.replace("a.rs", "a", "b").ok();
        client.close()
    };
    assert!(client.success() && !log.contains("ignored"), "{log}");
}

#[test]
fn the_file_of_a_workspace_loosens_nothing_and_the_log_says_so() {
    let folder = Folder::with([("a.txt", "one\n"), (".env", "classified\n"), ("x/a.txt", "x\n")]);
    let text = "mode = 'auto'\nforbidden_paths = ['!.env', '!.git']\nread_only = ['!x/']\nrequire_mtime_check = false\n\
                on_change = 'merge'\nmax_file_bytes = 1_000_000\nwrite_in_place = true\nwrite_read_only = true\n\
                track_history = false\nworkspace = ['/']\nallowed_extensions = ['txt', 'exe']\n";
    folder.write(".emend.toml", text);
    let arguments =
        ["--mode", "preview", "--read-only", "x/", "--max-file-bytes", "1000", "--allow-extension", "txt"];
    let mut client = serve_with(&folder, &arguments);
    client.call("read_file", json!({"path": ".env"})).refused("path-forbidden");
    client.call("read_file", json!({"path": "/etc/passwd"})).refused("path-outside-workspace");
    client.replace("x/a.txt", "x", "y").refused("read-only");
    client.call("write_file", json!({"path": "b.exe", "content": "x"})).refused("extension-not-allowed");
    check_held_back(&folder, || client.replace("a.txt", "one", "two"), "read-only");
    client.read("a.txt");
    folder.write("a.txt", "one\ntwo\n");
    client
        .preview("str_replace", json!({"path": "a.txt", "old_string": "one", "new_string": "1"}))
        .refused("stale-file");
    let (_, log) = client.close();
    for said in [
        "mode = auto",
        "'!.env'",
        "'!.git'",
        "'!x/'",
        "require_mtime_check = false",
        "on_change = merge",
        "max_file_bytes = 1000000",
        "write_in_place = true",
        "write_read_only = true",
        "track_history",
        "workspace is ignored",
        "'exe'",
    ] {
        assert!(log.lines().any(|line| line.contains(said) && line.contains("ignored")), "{said}: {log}");
    }
}

#[test]
fn the_file_of_a_workspace_is_read_and_not_changed() {
    let folder = Folder::with([("a.rs", "a\n"), (".emend.toml", "# text\n"), ("sub/.emend.toml", "text\n")]);
    symlink("../.emend.toml", folder.at("sub/link")).unwrap();
    // That of a folder inside counts when that folder is opened.
    for path in [".emend.toml", "sub/../.emend.toml", "sub/link", "sub/.emend.toml"] {
        check_only_readable(&folder, &mut serve(&folder), path, "read-only");
    }
    fs::remove_file(folder.at(".emend.toml")).unwrap();
    let new = json!({"path": ".Emend.toml", "content": "mode = 'auto'\n"});
    check_held_back(&folder, || serve(&folder).call("write_file", new), "read-only");
}

/// Nothing of this workspace is read or changed, and the answer says why.
#[track_caller]
fn check_closed(folder: &Folder, telling: &str) {
    let mut client = serve(folder);
    for path in ["a.txt", ".emend.toml", "new.txt", ".env"] {
        let answer = client.call("read_file", json!({"path": path})).refused("invalid-policy");
        assert!(answer.text.contains(telling), "{}", answer.text);
        let write = json!({"path": path, "content": "x\n"});
        check_held_back(folder, || client.call("write_file", write), "invalid-policy");
    }
    let (_, log) = client.close();
    assert!(log.contains(telling), "{log}");
}

#[test]
fn a_workspace_whose_file_cannot_be_understood_is_closed() {
    let folder = Folder::with([("a.txt", "a\n")]);
    for (text, telling) in [
        (
            "mode = 'ask'\nforbiden_paths = ['x']",
            "line 2: unknown setting 'forbiden_paths'. Did you mean 'forbidden_paths'?",
        ),
        ("mode =", "line 1"),
        ("mode = 'open'", "line 1"),
        ("read_only = ['[']", "read_only"),
        ("forbidden_paths = ['*a*b*c*d*e*f*g*h*i*j*k*l*m*n*o*p*q*r']", "wildcards"),
    ] {
        folder.write(".emend.toml", text);
        check_closed(&folder, telling);
    }
    folder.write(".emend.toml", "# long\n".repeat(10_000));
    check_closed(&folder, "bytes");
    folder.write(".emend.toml", b"\xff\xfe");
    check_closed(&folder, "UTF-8");
    fs::remove_file(folder.at(".emend.toml")).unwrap();
    // A link could be pointed elsewhere, or what it points to be edited.
    folder.write("loose.toml", "");
    symlink("loose.toml", folder.at(".emend.toml")).unwrap();
    check_closed(&folder, "not a regular file");
    fs::remove_file(folder.at(".emend.toml")).unwrap();
    fs::create_dir(folder.at(".emend.toml")).unwrap();
    check_closed(&folder, "not a regular file");
}

#[test]
fn what_is_closed_is_not_listed_or_searched_as_if_it_were_empty() {
    let (one, two) =
        (Folder::with([("a.txt", "seek\n")]), Folder::with([("a.txt", "seek\n"), ("b.txt", "seek\n")]));
    one.write(".emend.toml", "mode = ");
    let mut client = serve(&one);
    for path in [json!({}), json!({"path": ""}), json!({"path": "."}), json!({"path": "a.txt"})] {
        let mut search = path.clone();
        search["pattern"] = json!("seek");
        client.call("list_files", path).refused("invalid-policy");
        client.call("search_text", search).refused("invalid-policy");
    }
    // Of two roots, the open one is shown, and of the other why it is not.
    let launch = launch(&two).workspace(format!("one={}", one.path().display()));
    let mut client = launch.legacy();
    for (tool, arguments) in [
        ("list_files", json!({})),
        ("list_files", json!({"glob": "*.txt"})),
        ("search_text", json!({"pattern": "seek"})),
    ] {
        let answer = client.call(tool, arguments).ok();
        assert!(answer.text.contains("2 files") || answer.text.contains("2 of 2"), "{}", answer.text);
        assert!(answer.text.contains(".emend.toml cannot be followed"), "{}", answer.text);
    }
    // What the closed root has is not known, so a path without a root is not taken for the other's.
    client.replace("b.txt", "seek", "x").refused("ambiguous-path");
    client.call("read_file", json!({"path": "a.txt"})).refused("ambiguous-path");
    client.call("read_file", json!({"path": "none.txt"})).refused("invalid-policy");
    client.replace(two.at("b.txt").to_str().unwrap(), "seek", "x").ok();
}

#[test]
fn each_root_has_its_own_file() {
    let (one, two) = (Folder::with([("a.txt", "1\n")]), Folder::with([("a.txt", "2\n"), ("b.txt", "2\n")]));
    let start = || {
        Launch::new(EMEND)
            .workspace(format!("one={}", one.path().display()))
            .workspace(format!("two={}", two.path().display()))
            .state(one.state())
            .legacy()
    };
    one.write(".emend.toml", "mode = 'read-only'");
    let mut client = start();
    check_held_back(&one, || client.replace("one:a.txt", "1", "x"), "read-only");
    client.replace("two:a.txt", "2", "x").ok();
    one.write(".emend.toml", "mode = ");
    let mut client = start();
    client.call("read_file", json!({"path": "one:a.txt"})).refused("invalid-policy");
    client.replace("two:b.txt", "2", "x").ok();
}
