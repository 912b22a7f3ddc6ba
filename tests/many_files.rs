//! Patches of hundreds of files: who asks is told how far they have come.

use std::fmt::Write;

use emend_testkit::{Client, Folder, Launch, client};
use serde_json::{Value, json};

use crate::launch;

/// A file with this number, in one of twenty folders.
fn name(number: usize) -> String {
    format!("d{:02}/f{number:04}.txt", number % 20)
}

fn content(number: usize) -> String {
    format!("head {number}\nold\ntail\n")
}

/// The notifications that come before the answer to a patch of many files.
fn told(start: fn(&Launch) -> Client, token: Option<&Value>) -> Vec<Value> {
    let folder = Folder::new();
    let mut inner = String::new();
    for number in 0..300 {
        folder.write(&name(number), content(number));
        writeln!(inner, "*** Update File: {}\n@@\n-old\n+new", name(number)).unwrap();
    }
    let mut client = start(&launch(&folder));
    let arguments = json!({"patch": client::patch(&inner)});
    let id = match token {
        Some(token) => client.send_call_with_token("apply_patch", arguments, token),
        None => client.send_call("apply_patch", arguments),
    };
    client.answer(id).ok();
    let told = client.take_notifications();
    client.read(&name(0));
    assert_eq!(client.take_notifications(), Vec::<Value>::new(), "nothing comes after the answer");
    told
}

#[test]
fn who_asks_is_told_how_far_a_long_call_has_come() {
    for start in [Launch::legacy, Launch::modern] {
        for token in [json!("a token"), json!(7)] {
            let told = told(start, Some(&token));
            assert!((30..=100).contains(&told.len()), "{}", told.len());
            assert!(told.iter().all(|told| told["method"] == "notifications/progress"));
            assert!(told.iter().all(|told| told["params"]["progressToken"] == token));
            assert!(told.iter().all(|told| told["params"]["total"].as_f64() == Some(100.0)));
            let percents: Vec<f64> =
                told.iter().filter_map(|told| told["params"]["progress"].as_f64()).collect();
            assert_eq!(percents.len(), told.len());
            assert!(percents.is_sorted_by(|one, next| one < next) && percents[percents.len() - 1] <= 100.0);
        }
        assert_eq!(told(start, None), Vec::<Value>::new());
    }
}
