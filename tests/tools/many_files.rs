//! Patches of hundreds of files: all files are changed, and progress is reported to clients that ask for it.

use std::collections::BTreeMap;
use std::fmt::Write;

use emend_edit::Version;
use emend_testkit::{Client, Folder, Launch, client};
use serde_json::{Value, json};

use crate::launch;

const TOTAL: usize = 1_000;

/// A file with this number, in one of twenty folders.
fn name(number: usize) -> String {
    format!("d{:02}/f{number:04}.txt", number % 20)
}

fn content(number: usize) -> String {
    format!("head {number}\nold\ntail\n")
}

#[test]
fn a_thousand_files_are_created_changed_moved_and_deleted_by_one_patch() {
    let folder = Folder::new();
    let after = Folder::new();
    let (mut inner, mut versions) = (String::new(), BTreeMap::new());
    for number in 0..TOTAL {
        let (name, old) = (name(number), content(number));
        let new = old.replace("old", "new");
        if number % 5 > 0 {
            folder.write(&name, &old);
        }
        match number % 5 {
            0 => {
                writeln!(inner, "*** Add File: {name}\n+head {number}\n+new\n+tail").unwrap();
                after.write(&name, &new);
            }
            1 => {
                writeln!(inner, "*** Update File: {name}\n@@\n head {number}\n-old\n+new").unwrap();
                after.write(&name, &new);
            }
            2 => {
                writeln!(inner, "*** Delete File: {name}").unwrap();
                versions.insert(name, Version::hash(old.as_bytes()).short());
            }
            3 => {
                writeln!(inner, "*** Move File: {name} -> moved/{name}").unwrap();
                after.write(&format!("moved/{name}"), &old);
            }
            _ => {
                writeln!(inner, "*** Update File: {name}\n*** Move to: moved/{name}\n@@\n-old\n+new")
                    .unwrap();
                after.write(&format!("moved/{name}"), &new);
            }
        }
    }
    let arguments = json!({"patch": client::patch(&inner), "versions": versions});
    let mut client = launch(&folder).legacy();
    let done = client.call("apply_patch", arguments).ok();
    assert_eq!(done.structured["changed_files"].as_array().unwrap().len(), TOTAL);
    let files = folder.tree();
    let files: BTreeMap<_, _> = files.iter().filter(|(name, _)| !name.ends_with('/')).collect();
    assert_eq!(files, after.tree().iter().collect());
}

#[test]
fn of_a_thousand_files_none_is_changed_if_one_does_not_fit() {
    let folder = Folder::new();
    let mut inner = String::new();
    for number in 0..TOTAL {
        folder.write(&name(number), content(number));
        let old = if number == 777 { "other" } else { "old" };
        writeln!(inner, "*** Update File: {}\n@@\n-{old}\n+new", name(number)).unwrap();
    }
    let before = folder.everything();
    launch(&folder).legacy().patch(&inner).refused("hunk-context-mismatch");
    assert_eq!(folder.everything(), before);
}

/// The notifications that come before the answer to a patch of many files.
fn told(start: fn(&Launch) -> Client, token: Option<&Value>) -> Vec<Value> {
    let folder = Folder::new();
    let mut inner = String::new();
    for number in 0..300 {
        folder.write(&name(number), content(number));
        writeln!(inner, "*** Update File: {}\n@@\n-old\n+new", name(number)).unwrap();
    }
    let mut client = start(&launch(&folder).variable("EMEND_PROGRESS_AFTER", "0"));
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
