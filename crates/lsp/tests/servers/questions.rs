//! Questions for an edit, and which of them are answered.

use std::fs;
use std::time::Instant;

use emend_lsp::{Answered, Asked, Question, ServerLimits, ServerState};

use crate::scene::{GENEROUS, SHORT, Scene};

fn question(scene: &Scene, texts: &[(&str, &str)], offset: usize) -> Question {
    Question {
        path: scene.path(texts[0].0),
        texts: texts.iter().map(|(name, text)| (scene.path(name), (*text).to_owned())).collect(),
        asked: Asked::Rename { offset, new_name: "new".into() },
    }
}

fn ask(scene: &Scene, question: Question) -> Answered {
    let [answer] = scene.servers.ask(question, Instant::now() + GENEROUS).try_into().expect("one server");
    answer
}

fn why(answer: &Answered) -> &str {
    match &answer.state {
        ServerState::Silent { why } => why,
        other => panic!("{other:?}"),
    }
}

/// Returns the text of a file after the edit.
fn applied(scene: &Scene, answer: &Answered, name: &str, text: &str) -> String {
    let edit = answer.edit().expect("an edit");
    let mut text = text.to_owned();
    for change in edit.changes(&scene.path(name), &text).expect("it is for this text").into_iter().rev() {
        text.replace_range(change.range, &change.new);
    }
    text
}

#[test]
fn an_edit_is_for_the_texts_that_the_question_brings() {
    let scene = Scene::new(&["renames"]);
    fs::write(scene.path("b.fake"), "old on the disk\n").expect("written");
    let answer =
        ask(&scene, question(&scene, &[("a.fake", "an old\n"), ("b.fake", "another old\r\nold\r\n")], 3));
    assert_eq!(answer.state, ServerState::Ready);
    assert_eq!(applied(&scene, &answer, "a.fake", "an old\n"), "an new\n");
    assert_eq!(applied(&scene, &answer, "b.fake", "another old\r\nold\r\n"), "another new\r\nnew\r\n");
    assert!(!answer.is_complete);
}

#[test]
fn what_has_no_name_and_who_offers_no_edit_are_told_apart() {
    let scene = Scene::new(&["renames"]);
    assert!(why(&ask(&scene, question(&scene, &[("a.fake", "an old\n")], 2))).contains("no name"));
    let scene = Scene::new(&[]);
    let answer = ask(&scene, question(&scene, &[("a.fake", "old\n")], 0));
    assert_eq!((answer.state.clone(), answer.edit()), (ServerState::Ready, None));
}

#[test]
fn a_server_that_still_reads_the_project_is_waited_for_and_then_refused() {
    let limits = ServerLimits { reading: SHORT, ..ServerLimits::default() };
    let scene = Scene::with_limits(&["renames", "reads"], limits);
    assert!(why(&ask(&scene, question(&scene, &[("a.fake", "old\n")], 0))).contains("Indexing"));
    let done = tempfile::tempdir().expect("a folder");
    let until = format!("until={}", done.path().join("done").display());
    let scene = Scene::new(&["renames", "reads", &until]);
    let question = question(&scene, &[("a.fake", "old\n")], 0);
    let answer = std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&scene, question));
        scene.await_log("initialized");
        assert!(!scene.log().contains(&"textDocument/rename".to_owned()));
        fs::write(done.path().join("done"), "").expect("written");
        asked.join().expect("answered")
    });
    assert_eq!(applied(&scene, &answer, "a.fake", "old\n"), "new\n");
}

#[test]
fn a_server_that_never_publishes_diagnostics_is_waited_for_and_then_asked() {
    let limits = ServerLimits { reading: SHORT, ..ServerLimits::default() };
    let scene = Scene::with_limits(&["renames", "publishes-nothing"], limits);
    for text in ["old\n", "old old\n"] {
        let answer = ask(&scene, question(&scene, &[("a.fake", text)], 0));
        assert_eq!(applied(&scene, &answer, "a.fake", text), text.replace("old", "new"));
        assert!(!answer.is_complete);
    }
}

#[test]
fn what_moves_with_a_symbol_brings_the_changes_of_its_move() {
    let scene = Scene::new(&["renames", "moves"]);
    let answer = ask(&scene, question(&scene, &[("a.fake", "use old\nold\n")], 4));
    assert_eq!(applied(&scene, &answer, "a.fake", "use old\nold\n"), "use new\nnew\n");
    let edit = answer.edit().expect("an edit");
    assert_eq!(edit.moves(), [(scene.path("old.fake"), scene.path("new.fake"))]);
}

#[test]
fn a_file_that_moves_changes_what_names_it_where_the_server_wants_to_be_asked() {
    let scene = Scene::new(&["renames"]);
    let asked = |name: &str| Question {
        path: scene.path(name),
        texts: vec![(scene.path(name), String::new()), (scene.path("b.fake"), "use a\n".into())],
        asked: Asked::Move { to: scene.path("c.fake") },
    };
    let answer = ask(&scene, asked("a.fake"));
    assert_eq!(applied(&scene, &answer, "b.fake", "use a\n"), "use c\n");
    let scene = Scene::new(&[]);
    let answer = ask(&scene, Question { path: scene.path("a.fake"), ..asked("a.fake") });
    assert_eq!((answer.state.clone(), answer.edit()), (ServerState::Ready, None));
}

#[test]
fn what_is_no_edit_of_texts_and_moves_alone_is_no_edit() {
    let scene = Scene::new(&["renames", "creates"]);
    let answer = ask(&scene, question(&scene, &[("a.fake", "old\n")], 0));
    assert!(why(&answer).contains("create"), "{answer:?}");
}
