//! Servers that hang, crash, or say what nobody can use: each costs its own answers alone.

use std::sync::mpsc;
use std::time::{Duration, Instant};

use emend_lsp::{FileChange, ServerLimits, ServerState};
use rustix::process::{Signal, kill_process};

use crate::scene::{GENEROUS, MODEST, SHORT, Scene, changes, only, pid, places};

#[test]
fn a_server_that_names_no_version_is_not_believed() {
    let scene = Scene::with_limits(&["unversioned"], ServerLimits { job: MODEST, ..ServerLimits::default() });
    for _ in 0..2 {
        let report = scene.edit_one("one\n", "BAD\n");
        assert!(
            matches!(&report.state, ServerState::Silent { why } if why.contains("version")),
            "{:?}",
            report.state
        );
        assert_eq!(report.changes, None);
    }
}

#[test]
fn a_server_that_hangs_holds_nobody_up() {
    let scene =
        Scene::with_limits(&["hang-at-start"], ServerLimits { initialize: SHORT, ..ServerLimits::default() });
    let pending = scene
        .servers
        .notify_edit(vec![scene.change("a.fake", Some("one\n"), Some("BAD\n"))])
        .expect("concerned");
    assert_eq!(pending.wait(Instant::now()), None);
    let (send, receive) = mpsc::channel();
    pending.on_done(move |aftermath| send.send(aftermath).expect("heard"));
    let report = only(receive.recv_timeout(GENEROUS).expect("told"));
    assert!(
        matches!(&report.state, ServerState::Crashed { why, .. } if why.contains("not ready")),
        "{:?}",
        report.state
    );

    let limits = ServerLimits { job: MODEST, back_off: Duration::ZERO, ..ServerLimits::default() };
    let scene = Scene::with_limits(&[], limits);
    assert!(scene.crash("HANG\n").contains("has not answered"));
    let after = scene.edit_one("one\n", "BAD\n");
    assert_eq!((after.crashed, places(&after.changes.expect("started again"))), (None, vec![(1, 1)]));
}

#[test]
fn whatever_a_server_writes_costs_that_server_alone() {
    let limits =
        ServerLimits { unprompted_bytes: 1 << 20, back_off: Duration::ZERO, ..ServerLimits::default() };
    let scene = Scene::with_limits(&[], limits);
    for (word, why) in [
        ("RUBBISH", "no message"),
        ("HUGE", "the limit"),
        ("FLOOD", "without end"),
        ("DIE", "exit status: 7; its last words: this text cannot be borne"),
    ] {
        // The server first reads the old text of an edit, so both texts are tried.
        let crash = scene.crash(word);
        assert!(crash.contains(why), "{word}: {crash}");
        let ServerState::Crashed { why: crash, .. } = scene.edit_one(word, "BAD\n").state else {
            panic!("{word}")
        };
        assert!(crash.contains(why), "{word}: {crash}");
    }
    assert_eq!(places(&scene.changes("one\n", "COMPLAIN\nBAD\n")), [(2, 1)]);
}

#[test]
fn a_server_that_can_say_nothing_any_more_is_ended() {
    let command = ["/bin/sh", "-c", "exec >&-; exec /bin/sleep 1000"].map(str::to_owned);
    let scene =
        Scene::with_command(command.into(), tempfile::tempdir().expect("a folder"), ServerLimits::default());
    assert!(scene.crash("BAD\n").contains("closed its standard output"));
}

#[test]
fn all_that_waits_is_answered_by_a_crash_and_none_is_started_meanwhile() {
    let hour = Duration::from_secs(3600);
    let limits = ServerLimits { back_off: hour, longest_back_off: 2 * hour, ..ServerLimits::default() };
    let scene = Scene::with_limits(&["die-at-start"], limits);
    let edit = |after| scene.servers.notify_edit(vec![scene.change("a.fake", Some("one\n"), Some(after))]);
    let pending: Vec<_> = ["two\n", "three\n", "four\n"].into_iter().filter_map(edit).collect();
    for pending in pending {
        let report = only(pending.wait(Instant::now() + GENEROUS).expect("answered"));
        let ServerState::Crashed { why, restarts_in } = report.state else { panic!("{:?}", report.state) };
        assert!(why.contains("exit status: 3; its last words: there is nothing to serve here"), "{why}");
        assert!(restarts_in > Duration::ZERO && restarts_in <= hour);
    }
    assert!(matches!(scene.state(), ServerState::Crashed { .. }));
    assert!(matches!(scene.edit_one("one\n", "two\n").state, ServerState::Crashed { .. }));
}

#[test]
fn a_crash_between_two_edits_is_told_once_and_survived() {
    let scene = Scene::new(&[]);
    assert_eq!(places(&scene.changes("one\n", "BAD\n")), [(1, 1)]);
    let process = pid(&scene.await_log("start"));
    kill_process(process, Signal::KILL).expect("killed");
    let deadline = Instant::now() + GENEROUS;
    while !matches!(scene.state(), ServerState::Crashed { .. }) {
        assert!(Instant::now() < deadline, "its end is noticed");
        std::thread::yield_now();
    }
    let report = scene.edit_one("BAD\n", "fine\n");
    assert!(report.crashed.as_ref().is_some_and(|why| why.contains("signal: 9")), "{:?}", report.crashed);
    let mended = changes(report);
    assert_eq!((places(&mended), mended.gone), (vec![], 1));
    assert_eq!(scene.edit_one("fine\n", "still fine\n").crashed, None);
}

#[test]
fn a_text_that_cannot_be_made_costs_one_answer() {
    let scene = Scene::new(&[]);
    let change =
        FileChange { after: Some(Box::new(|| panic!("no text"))), ..scene.change("a.fake", None, None) };
    let report = scene.edit(vec![change]);
    assert!(matches!(report.state, ServerState::Silent { .. }), "{:?}", report.state);
    assert_eq!(places(&scene.changes("one\n", "BAD\n")), [(1, 1)]);
}
