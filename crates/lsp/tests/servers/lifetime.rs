//! Which servers are started, and how they are ended.

use std::os::unix::fs::symlink;
use std::time::Instant;

use emend_lsp::{LspSettings, ServerLimits, ServerSetting, ServerState, Servers};
use emend_testkit::language_server;

use crate::scene::{GENEROUS, SHORT, Scene, await_end, only, pid};

/// Whoever may change files in the workspace decides where such a link leads.
#[test]
fn no_server_is_started_by_a_link_in_the_workspace() {
    let scene = Scene::new(&[]);
    let fake = language_server::program();
    let outside = scene.state.path();
    let (link, folder) = (scene.path("link"), scene.path("folder"));
    symlink(&fake, &link).expect("linked");
    symlink(fake.parent().expect("a folder"), &folder).expect("linked");
    symlink(&link, outside.join("by_link")).expect("linked");
    symlink(&folder, outside.join("by_folder")).expect("linked");
    let in_folder = outside.join("by_folder").join(fake.file_name().expect("a name"));
    for program in [outside.join("by_link"), in_folder] {
        let mut command = language_server::command(&outside.join("log"), &[]);
        command[0] = program.to_str().expect("Unicode").to_owned();
        let fake = ServerSetting {
            name: "fake".into(),
            command: Some(command),
            extensions: vec!["fake".into()],
            ..ServerSetting::default()
        };
        let servers = Servers::new(LspSettings {
            roots: vec![scene.folder.path().to_owned()],
            untrusted: Vec::new(),
            servers: vec![fake],
            search: Some("/nowhere".into()),
            limits: ServerLimits::default(),
        });
        let state =
            servers.list().into_iter().find(|state| state.server == "fake").expect("it is known").state;
        assert!(matches!(state, ServerState::NotInstalled { .. }), "{}: {state:?}", program.display());
        let pending = servers.notify_edit(vec![scene.change("a.fake", Some("one\n"), Some("two\n"))]);
        assert!(pending.is_none(), "{}", program.display());
    }
}

#[test]
fn a_server_that_starts_says_so() {
    let scene = Scene::new(&["hang-at-start"]);
    assert_eq!(scene.state(), ServerState::Idle);
    let _dropped = scene.servers.notify_edit(vec![scene.change("a.fake", Some("one\n"), Some("two\n"))]);
    scene.await_log("initialize");
    assert_eq!(scene.state(), ServerState::Starting);
    let answers = scene.servers.diagnose(&[(scene.path("a.fake"), "BAD\n".into())], Instant::now());
    assert_eq!(answers[0].state, ServerState::Starting);
}

#[test]
fn a_program_of_a_root_without_servers_is_not_used_either() {
    let program = language_server::program();
    let untrusted = vec![program.parent().expect("in a folder").to_owned()];
    let command = Some(vec![program.display().to_string()]);
    let extensions = vec!["fake".to_owned()];
    let fake = ServerSetting { name: "fake".into(), command, extensions, ..ServerSetting::default() };
    let folder = tempfile::tempdir().expect("a folder");
    let roots = vec![folder.path().to_owned()];
    let servers =
        Servers::new(LspSettings { roots, untrusted, servers: vec![fake], ..LspSettings::default() });
    assert!(!servers.concerns(&folder.path().join("a.fake")));
}

#[test]
fn what_is_nobodys_concern_starts_nobody() {
    let scene = Scene::new(&[]);
    let outside = scene.state.path().join("a.fake");
    for (path, concerns) in [
        (scene.path("a.fake"), true),
        (scene.path("a.go"), false),
        (scene.path("a"), false),
        (outside, false),
    ] {
        assert_eq!(scene.servers.concerns(&path), concerns, "{}", path.display());
    }
    assert!(scene.servers.notify_edit(vec![scene.change("a.go", None, Some(""))]).is_none());
    let disabled = ServerSetting { name: "gopls".into(), enabled: Some(false), ..ServerSetting::default() };
    let servers = Servers::new(LspSettings { servers: vec![disabled], ..LspSettings::default() });
    let states = servers.list();
    assert_eq!(
        states.iter().find(|state| state.server == "gopls").expect("known").state,
        ServerState::Disabled
    );
}

#[test]
fn a_server_is_answered_and_edits_nothing() {
    let scene = Scene::new(&["asks"]);
    scene.changes("one\n", "two\n");
    let answers =
        ["\"0\" ", "\"1\" ", "\"2\" ", "\"3\" ", "\"4\" "].map(|id| scene.await_log(&format!("answer {id}")));
    assert_eq!((answers[0].as_str(), answers[2].as_str(), answers[3].as_str()), ("[5,null]", "null", "null"));
    assert!(answers[1].contains("\"applied\":false"), "{answers:?}");
    assert_eq!(answers[4], "error -32601");
}

#[test]
fn a_server_is_stopped_politely_and_otherwise_ended_with_its_children() {
    for (habits, is_polite) in
        [(&["has-child"][..], true), (&["has-child", "does-not-stop", "outlives"], false)]
    {
        let scene = Scene::with_limits(
            habits,
            ServerLimits { stop: if is_polite { GENEROUS } else { SHORT }, ..ServerLimits::default() },
        );
        scene.changes("one\n", "two\n");
        let processes = ["start", "child"].map(|words| pid(&scene.await_log(words)));
        scene.servers.stop();
        processes.into_iter().for_each(await_end);
        assert_eq!(scene.log().contains(&"exit".to_owned()), is_polite);
        let report = scene.edit_one("one\n", "BAD\n");
        assert!(matches!(report.state, ServerState::Silent { .. }), "nothing is started again: {report:?}");
    }
}

#[test]
fn a_server_that_is_not_ready_is_not_asked_to_end() {
    let scene =
        Scene::with_limits(&["hang-at-start"], ServerLimits { stop: GENEROUS, ..ServerLimits::default() });
    let change = scene.change("a.fake", Some("one\n"), Some("two\n"));
    let _pending = scene.servers.notify_edit(vec![change]).expect("concerned");
    scene.await_log("initialize");
    let begun = Instant::now();
    scene.servers.stop();
    assert!(begun.elapsed() < GENEROUS / 2);
}

#[test]
fn what_waits_is_answered_when_all_is_stopped() {
    let scene =
        Scene::with_limits(&["hang-at-start"], ServerLimits { stop: SHORT, ..ServerLimits::default() });
    let edit = || {
        scene
            .servers
            .notify_edit(vec![scene.change("a.fake", Some("one\n"), Some("two\n"))])
            .expect("concerned")
    };
    let pending = [edit(), edit()];
    scene.await_log("initialize");
    scene.servers.stop();
    for pending in pending {
        let report = only(pending.wait(Instant::now() + GENEROUS).expect("answered"));
        assert_eq!(report.changes, None);
    }
}
