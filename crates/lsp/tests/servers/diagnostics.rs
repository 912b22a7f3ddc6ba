//! What servers find in edits and in questions, and of which files they are told.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use emend_lsp::{
    Diagnostic, LspSettings, ServerLimits, ServerReport, ServerSetting, ServerState, Servers, Severity,
};
use emend_testkit::language_server;

use crate::scene::{GENEROUS, Scene, changes, only, places};

#[test]
fn an_edit_is_told_with_what_it_brought_and_what_went() {
    for habits in [&[][..], &["pull"], &["registers"], &["stale"]] {
        let scene = Scene::new(habits);
        let broken = scene.changes("one\n\ntwo\n", "one\n\n  😀 BAD two\nDUBIOUS\nHINT\n");
        let expected = Diagnostic {
            path: scene.path("a.fake"),
            line: 3,
            column: 5,
            severity: Severity::Error,
            message: "  😀 BAD two".into(),
            source: Some("fake".into()),
            code: Some("BAD".into()),
            related: Vec::new(),
        };
        assert_eq!(broken.new[0], expected);
        assert_eq!((places(&broken), broken.gone), (vec![(3, 5), (4, 1)], 0), "{habits:?}");
        assert_eq!((broken.errors, broken.warnings), (1, 1));
        let mended = scene.changes("one\n\n  😀 BAD two\nDUBIOUS\nHINT\n", "one\nnew\n\nDUBIOUS\nHINT\n");
        assert_eq!(
            (places(&mended), mended.gone, mended.errors, mended.warnings),
            (vec![], 1, 0, 1),
            "{habits:?}"
        );
        // Another program has changed the file meanwhile: earlier errors are not blamed on the edit.
        let other = scene.changes("BAD other\n", "BAD other\nBAD more\n");
        assert_eq!((places(&other), other.gone, other.errors), (vec![(2, 1)], 0, 2), "{habits:?}");
    }
}

#[test]
fn columns_are_counted_as_the_server_says_that_it_does() {
    // The server counts in UTF-16 all the same, so that the difference shows.
    let scene = Scene::new(&["utf-8"]);
    assert_eq!(places(&scene.changes("\n", "üü BAD\n")), [(1, 2)]);
}

#[test]
fn files_come_and_go() {
    let scene = Scene::new(&[]);
    let made = changes(scene.edit(vec![scene.change("new.fake", None, Some("BAD\n"))]));
    assert_eq!((places(&made), made.gone, made.errors), (vec![(1, 1)], 0, 1));
    scene.await_log("textDocument/didSave new.fake");
    let log = scene.log();
    let at = |words: &str| log.iter().position(|line| line == words).expect(words);
    assert!(at("event new.fake 1") < at("textDocument/didOpen new.fake"), "{log:?}");
    assert!(at("textDocument/didOpen new.fake") < at("textDocument/didSave new.fake"), "{log:?}");
    let moved =
        vec![scene.change("new.fake", Some("BAD\n"), None), scene.change("b.fake", None, Some("fine\n"))];
    let moved = changes(scene.edit(moved));
    assert_eq!((places(&moved), moved.gone, moved.errors), (vec![], 1, 0));
    scene.await_log("textDocument/didClose new.fake");
    scene.await_log("event new.fake 3");
}

#[test]
fn what_breaks_elsewhere_is_told_too() {
    let scene = Scene::new(&[]);
    scene.edit(vec![scene.change("b.fake", Some("one\n"), Some("two\n"))]);
    let broken = scene.changes("one\n", "BREAKS OTHERS\n");
    let paths: Vec<PathBuf> = broken.new.iter().map(|new| new.path.clone()).collect();
    assert_eq!((paths, broken.errors), (vec![scene.path("b.fake")], 0));
}

#[test]
fn what_breaks_in_a_file_that_is_not_open_is_told_unless_it_may_be_old() {
    let scene = Scene::new(&[]);
    assert_eq!(scene.changes("one\n", "BREAKS ELSEWHERE\n").new, []);
    let scene = Scene::new(&[]);
    scene.changes("one\n", "two\n");
    let broken = scene.changes("two\n", "BREAKS ELSEWHERE\n");
    let told: Vec<_> = broken.new.iter().map(|new| (new.path.clone(), new.severity)).collect();
    assert_eq!(told, [(scene.path("elsewhere"), Severity::Error)]);
}

#[test]
fn what_a_later_pass_finds_is_neither_new_nor_gone_and_yet_known() {
    let scene = Scene::new(&["passes"]);
    let broken = scene.changes("one\n", "DUBIOUS\nBAD\n");
    assert_eq!((places(&broken), broken.gone), (vec![(2, 1)], 0));
    let mended = scene.changes("DUBIOUS\nBAD\n", "DUBIOUS\nfine\n");
    assert_eq!((places(&mended), mended.gone), (vec![], 1));
    let answers = scene
        .servers
        .diagnose(&[(scene.path("a.fake"), "DUBIOUS\nfine\n".into())], Instant::now() + GENEROUS);
    assert_eq!(answers[0].diagnostics.len(), 1);
}

#[test]
fn a_new_file_is_not_clean_because_the_first_pass_found_nothing() {
    let scene = Scene::with_limits(
        &["passes"],
        ServerLimits { other_files: GENEROUS / 30, ..ServerLimits::default() },
    );
    let made = changes(scene.edit(vec![scene.change("new.fake", None, Some("DUBIOUS\n"))]));
    assert_eq!((places(&made), made.warnings), (vec![(1, 1)], 1));
}

#[test]
fn a_question_is_put_again_that_came_at_a_bad_moment() {
    let scene = Scene::new(&["pull"]);
    assert_eq!(places(&scene.changes("one\n", "MOMENT\nBAD\n")), [(2, 1)]);
}

#[test]
fn a_question_is_about_now_and_pyright_looks_for_what_others_made() {
    let mut scene = Scene::new(&["pull"]);
    let pyright = ServerSetting {
        name: "pyright".into(),
        command: Some(language_server::command(&scene.state.path().join("log"), &["pull"])),
        ..ServerSetting::default()
    };
    let roots = vec![scene.folder.path().to_owned()];
    scene.servers = Servers::new(LspSettings { roots, servers: vec![pyright], ..LspSettings::default() });
    for _ in 0..2 {
        let answers =
            scene.servers.diagnose(&[(scene.path("a.py"), "BAD\n".into())], Instant::now() + GENEROUS);
        assert_eq!(answers[0].diagnostics.len(), 1);
    }
    let log = scene.log();
    let told = |words: &str| log.iter().filter(|line| *line == words).count();
    assert_eq!((told("event a.py 1"), told("textDocument/diagnostic")), (2, 2), "{log:?}");
}

#[test]
fn a_file_that_is_too_large_is_told_and_does_not_silence_the_others() {
    let scene = Scene::with_limits(&[], ServerLimits { file_bytes: 10, ..ServerLimits::default() });
    let files = [(scene.path("large.fake"), "BAD\n".repeat(10)), (scene.path("a.fake"), "BAD\n".into())];
    let [answer] = scene.servers.diagnose(&files, Instant::now() + GENEROUS).try_into().expect("one server");
    assert_eq!(answer.state, ServerState::Ready);
    let told: Vec<PathBuf> = answer.diagnostics.into_iter().map(|found| found.path).collect();
    assert_eq!(told, [scene.path("a.fake")]);
    let why = answer.unasked.expect("one is left out");
    assert!(why.contains("large.fake has more than 10 bytes"), "{why}");
    let [answer] =
        scene.servers.diagnose(&files[..1], Instant::now() + GENEROUS).try_into().expect("one server");
    assert!(
        matches!(&answer.state, ServerState::Silent { why } if why.contains("large.fake")),
        "{:?}",
        answer.state
    );
}

#[test]
fn large_texts_are_not_told() {
    let scene = Scene::with_limits(&[], ServerLimits { file_bytes: 10, ..ServerLimits::default() });
    let report = scene.edit_one("one\n", &"BAD\n".repeat(10));
    assert!(
        matches!(&report.state, ServerState::Silent { why } if why.contains("10 bytes")),
        "{:?}",
        report.state
    );
    assert_eq!(places(&scene.changes("one\n", "BAD\n")), [(1, 1)]);
}

#[test]
fn only_so_many_files_are_open() {
    let scene = Scene::with_limits(&[], ServerLimits { open_documents: 2, ..ServerLimits::default() });
    for name in ["a.fake", "b.fake", "c.fake"] {
        scene.edit(vec![scene.change(name, Some("one\n"), Some("two\n"))]);
    }
    scene.await_log("textDocument/didClose a.fake");
    assert!(!scene.log().contains(&"textDocument/didClose b.fake".to_owned()));
}

#[test]
fn what_others_change_is_told_and_read_again() {
    let scene = Scene::new(&[]);
    scene.servers.notify_outside_changes(&[scene.path("a.fake")]);
    assert_eq!(scene.state(), ServerState::Idle, "nobody is started for it");
    fs::write(scene.path("b.fake"), "two\n").expect("written");
    let files = ["a.fake", "b.fake"].map(|name| scene.change(name, Some("one\n"), Some("two\n")));
    scene.edit(files.into());
    fs::write(scene.path("a.fake"), "BAD\n").expect("written");
    fs::write(scene.path("c.fake"), "BAD\n").expect("written");
    let paths = ["a.fake", "b.fake", "c.fake", "d.fake"].map(|name| scene.path(name));
    scene.servers.notify_outside_changes(&paths);
    let after = scene.changes("BAD\n", "BAD\nBAD\n");
    assert_eq!((places(&after), after.gone), (vec![(2, 1)], 0));
    let log = scene.log();
    let count = |words: &str| log.iter().filter(|line| *line == words).count();
    assert_eq!(
        (count("textDocument/didClose a.fake"), count("textDocument/didClose b.fake")),
        (1, 0),
        "{log:?}"
    );
    assert_eq!(
        (count("event c.fake 1"), count("event d.fake 3"), count("event b.fake 2")),
        (1, 1, 1),
        "{log:?}"
    );
}

#[test]
fn what_makes_a_project_is_told_to_the_servers_that_run() {
    let scene = Scene::new(&[]);
    let project = scene.path("pyproject.toml");
    let edit = || scene.servers.notify_edit(vec![scene.change("pyproject.toml", Some("a"), Some("b"))]);
    assert!(!scene.servers.concerns(&project) && edit().is_none());
    scene.changes("one\n", "two\n");
    assert!(scene.servers.concerns(&project));
    assert!(edit().is_none(), "nothing is said of it");
    scene.await_log("event pyproject.toml");
}

#[test]
fn a_question_is_answered_for_its_texts_by_all_that_are_for_them() {
    let scene = Scene::new(&[]);
    let files = [("a.fake", "BAD\n"), ("b.fake", "\nDUBIOUS\n"), ("c.go", ""), ("none", "")];
    let files = files.map(|(name, text)| (scene.path(name), text.to_owned()));
    let answers = scene.servers.diagnose(&files, Instant::now() + GENEROUS);
    let of = |name: &str| answers.iter().find(|answer| answer.server == name).expect("it is asked");
    assert_eq!(answers.len(), 2);
    let ServerState::NotInstalled { why } = &of("gopls").state else { panic!("{answers:?}") };
    assert!(why.contains("gopls"), "{why}");
    let found: Vec<_> =
        of("fake").diagnostics.iter().map(|one| (one.path.clone(), one.line, one.severity)).collect();
    let expected = [(scene.path("a.fake"), 1, Severity::Error), (scene.path("b.fake"), 2, Severity::Warning)];
    assert_eq!((&of("fake").state, found), (&ServerState::Ready, expected.to_vec()));
}

#[test]
fn edits_that_pile_up_are_all_answered() {
    let scene = Scene::new(&[]);
    let texts: Vec<String> = (0..50).map(|at| format!("text {at}\n")).chain(["BAD\n".into()]).collect();
    let edit = |pair: &[String]| {
        scene.servers.notify_edit(vec![scene.change("a.fake", Some(&pair[0]), Some(&pair[1]))])
    };
    let pending: Vec<_> = texts.windows(2).filter_map(edit).collect();
    let told =
        pending.into_iter().map(|pending| only(pending.wait(Instant::now() + GENEROUS).expect("answered")));
    let told: Vec<ServerReport> = told.collect();
    assert_eq!(told.len(), 50);
    let last = told.last().and_then(|report| report.changes.as_ref()).expect("the last is told");
    assert_eq!(places(last), [(1, 1)]);
}
