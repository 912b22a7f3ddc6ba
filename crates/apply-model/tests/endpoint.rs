//! What the client makes of every kind of endpoint, over a real connection on loopback.

#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::cell::Cell;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use emend_apply_model::{Address, Failure, Model, NoModel, Prompt, Settings, connect};
use emend_testkit::{ChatEndpoint, Say};

const KEY: &str = "sk-very-secret";

fn settings(url: &str) -> Settings {
    Settings {
        address: Address::parse(url).unwrap(),
        model: "morph-v3-fast".into(),
        key_variable: Some("APPLY_KEY".into()),
        timeout: Duration::from_secs(20),
        max_bytes: 10_000,
    }
}

fn model(endpoint: &ChatEndpoint) -> Arc<dyn Model> {
    connect(&settings(&endpoint.url()), Some(KEY)).unwrap()
}

fn prompt() -> Prompt {
    Prompt { task: "merge", material: "<code>a</code>".into(), retry: None }
}

fn answer_to(say: Say) -> Result<String, Failure> {
    let endpoint = ChatEndpoint::start([say]);
    let model = model(&endpoint);
    let answer = model.ask(&prompt(), &|| false);
    assert!(!format!("{answer:?}{model:?}").contains(KEY));
    assert_eq!(endpoint.heard().len(), 1);
    answer
}

fn raw(status: u16, body: &[u8]) -> Say {
    Say::Raw(status, Vec::new(), body.to_vec())
}

#[test]
fn a_good_answer_is_its_text_and_the_key_goes_into_one_header() {
    let endpoint = ChatEndpoint::start([Say::text("a\nb\n")]);
    assert_eq!(model(&endpoint).ask(&prompt(), &|| false).unwrap(), "a\nb\n");
    let heard = &endpoint.heard()[0];
    assert!(heard.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", heard.head);
    assert!(heard.head.to_lowercase().contains(&format!("authorization: bearer {KEY}")), "{}", heard.head);
    assert_eq!(heard.head.matches(KEY).count(), 1);
    assert!(!heard.body.to_string().contains(KEY));
    assert_eq!((heard.message(0).as_str(), heard.message(1).as_str()), ("merge", "<code>a</code>"));
}

#[test]
fn no_key_is_sent_where_none_is_asked_for() {
    let endpoint = ChatEndpoint::start([Say::text("a")]);
    let settings = Settings { key_variable: None, ..settings(&endpoint.url()) };
    connect(&settings, Some(KEY)).unwrap().ask(&prompt(), &|| false).unwrap();
    assert!(!endpoint.heard()[0].head.to_lowercase().contains("authorization"));
}

#[test]
fn a_bad_answer_is_a_failure_that_repeats_nothing_of_it() {
    assert_eq!(answer_to(raw(500, KEY.as_bytes())), Err(Failure::Status(500)));
    assert_eq!(answer_to(raw(401, KEY.as_bytes())), Err(Failure::Status(401)));
    assert_eq!(answer_to(raw(429, b"")), Err(Failure::Status(429)));
    for body in ["{", "[]", "{\"choices\":[]}", "<html>", ""] {
        assert!(matches!(answer_to(raw(200, body.as_bytes())), Err(Failure::Malformed(_))), "{body}");
    }
    let broken = [&b""[..], b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"];
    for bytes in broken {
        let answer = answer_to(Say::Broken(bytes.to_vec()));
        assert!(matches!(answer, Err(Failure::Malformed(_) | Failure::Unreachable(_))), "{answer:?}");
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = ChatEndpoint::start([Say::text("taken")]);
    for status in [301, 302, 303, 307, 308] {
        let location: &'static str = format!("location: {}", elsewhere.url()).leak();
        assert_eq!(
            answer_to(Say::Raw(status, vec![location], Vec::new())),
            Err(Failure::Redirected),
            "{status}"
        );
    }
    assert!(elsewhere.heard().is_empty());
}

#[test]
fn neither_question_nor_answer_is_longer_than_allowed() {
    let endpoint = ChatEndpoint::start([]);
    let long = Prompt { material: "a".repeat(10_000), ..prompt() };
    let failed = model(&endpoint).ask(&long, &|| false);
    assert!(matches!(failed, Err(Failure::TooMuchToSend { most: 10_000, .. })), "{failed:?}");
    assert!(endpoint.heard().is_empty());
    assert_eq!(answer_to(Say::Text("a".repeat(10_001))), Err(Failure::TooMuchReceived { most: 10_000 }));
    assert_eq!(answer_to(Say::Endless), Err(Failure::TooMuchReceived { most: 10_000 }));
}

#[test]
fn an_answer_that_never_comes_is_waited_for_only_so_long() {
    let endpoint = ChatEndpoint::start([Say::Held("late".into())]);
    let timeout = Duration::from_millis(200);
    let settings = Settings { timeout, ..settings(&endpoint.url()) };
    let model = connect(&settings, Some(KEY)).unwrap();
    assert_eq!(model.ask(&prompt(), &|| false), Err(Failure::TimedOut(timeout)));
}

#[test]
fn a_late_answer_is_taken_and_a_call_that_is_given_up_waits_no_longer() {
    let endpoint = ChatEndpoint::start([Say::Held("late".into()), Say::Held("never".into())]);
    let model = model(&endpoint);
    let was_let_go = Cell::new(false);
    let answer = model.ask(&prompt(), &|| {
        if !was_let_go.replace(true) {
            endpoint.await_request();
            endpoint.release();
        }
        false
    });
    assert_eq!(answer.unwrap(), "late");
    let answer = model.ask(&prompt(), &|| {
        endpoint.await_request();
        true
    });
    assert_eq!(answer, Err(Failure::Cancelled));
}

#[test]
fn only_a_few_questions_are_asked_at_once() {
    let endpoint = ChatEndpoint::start(vec![Say::Held("never".into()); 4]);
    let model = model(&endpoint);
    for _ in 0..4 {
        assert_eq!(model.ask(&prompt(), &|| true), Err(Failure::Cancelled));
    }
    for _ in 0..4 {
        endpoint.await_request();
    }
    assert_eq!(model.ask(&prompt(), &|| false), Err(Failure::Busy));
}

#[test]
fn nothing_is_sent_without_a_key_and_nobody_at_home_is_said() {
    let endpoint = ChatEndpoint::start([]);
    for value in [None, Some(""), Some("a\nb")] {
        let missing = connect(&settings(&endpoint.url()), value);
        assert_eq!(missing.unwrap_err(), NoModel::NoKey("APPLY_KEY".into()));
    }
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let model = connect(&settings(&format!("http://{closed}/v1")), Some(KEY)).unwrap();
    assert!(matches!(model.ask(&prompt(), &|| false), Err(Failure::Unreachable(_))));
}
