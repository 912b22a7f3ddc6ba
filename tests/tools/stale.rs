//! Files that another program changes between a reading and an edit. Only the content counts, not the time.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use emend_testkit::{Answer, Client, Folder, client};
use serde_json::json;

use crate::{launch, serve};

/// A client that has read `a.txt`.
fn reader(content: &str) -> (Folder, Client) {
    let folder = Folder::with([("a.txt", content)]);
    let mut client = serve(&folder);
    client.read("a.txt");
    (folder, client)
}

fn check_stale(answer: Answer) -> Answer {
    let answer = answer.refused("stale-file");
    let message = answer.structured["error"]["message"].as_str().unwrap();
    assert!(message.contains("FILE_UNEXPECTEDLY_MODIFIED_ERROR"), "clients look for this word: {message}");
    assert_eq!(answer.structured["mtime_check_passed"], false);
    answer
}

#[test]
fn an_outside_change_is_refused_once_with_what_changed() {
    let (folder, mut client) = reader("one\ntwo\n");
    folder.write("a.txt", "one\ntwo\nfrom outside\n");
    let answer = check_stale(client.replace("a.txt", "two", "2"));
    let message = answer.structured["error"]["message"].as_str().unwrap();
    assert!(message.contains("\n+from outside\n"), "a diff: {message}");
    let current = emend_edit::Version::hash(b"one\ntwo\nfrom outside\n").short();
    assert_eq!(answer.problems()[0]["current_version"], current);
    assert_eq!(folder.text("a.txt"), "one\ntwo\nfrom outside\n");
    let edited = client.replace("a.txt", "two", "2").ok();
    assert_eq!(edited.structured["mtime_check_passed"], true);
    assert_eq!(folder.text("a.txt"), "one\n2\nfrom outside\n");
}

#[test]
fn of_several_stale_files_the_words_that_clients_look_for_are_told_once() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n")]);
    let mut client = serve(&folder);
    for name in ["a.txt", "b.txt"] {
        client.read(name);
        folder.write(name, "one\ntwo\n");
    }
    let answer = client.patch("*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: b.txt\n@@\n-one\n+1");
    let answer = check_stale(answer);
    for text in [&answer.text, &answer.structured.to_string()] {
        assert_eq!(text.matches("FILE_UNEXPECTEDLY_MODIFIED_ERROR").count(), 1, "{text}");
    }
    assert_eq!(answer.text.matches("[stale-file]").count(), 1, "{}", answer.text);
    assert!(answer.text.contains("\n2. b.txt changed since"), "{}", answer.text);
}

#[test]
fn each_outside_change_is_refused_once() {
    let (folder, mut client) = reader("one\n");
    for i in 0..3 {
        folder.write("a.txt", format!("one\n{i}\n"));
        check_stale(client.replace("a.txt", "one", "1"));
    }
    client.replace("a.txt", "one", "1").ok();
    assert_eq!(folder.text("a.txt"), "1\n2\n");
}

#[test]
fn a_change_that_takes_the_text_away_is_stale_first_and_then_not_found() {
    let (folder, mut client) = reader("one\ntwo\n");
    folder.write("a.txt", "one\n");
    check_stale(client.replace("a.txt", "two", "2"));
    client.replace("a.txt", "two", "2").refused("search-not-found");
}

#[test]
fn a_reading_makes_good_what_was_stale() {
    let (folder, mut client) = reader("one\n");
    folder.write("a.txt", "one\nmore\n");
    client.read("a.txt");
    client.replace("a.txt", "one", "1").ok();
}

#[test]
fn a_touched_file_is_not_stale() {
    let (folder, mut client) = reader("one\n");
    let touched = SystemTime::now() + Duration::from_secs(3600);
    File::options().append(true).open(folder.at("a.txt")).unwrap().set_modified(touched).unwrap();
    client.replace("a.txt", "one", "1").ok();
    // Nor one that was replaced by its equal.
    folder.write("copy", "1\n");
    fs::rename(folder.at("copy"), folder.at("a.txt")).unwrap();
    client.replace("a.txt", "1", "one").ok();
}

#[test]
fn a_change_that_keeps_size_and_time_is_found() {
    let (folder, mut client) = reader("one\ntwo\n");
    let time = fs::metadata(folder.at("a.txt")).unwrap().modified().unwrap();
    folder.write("a.txt", "ONE\ntwo\n");
    File::options().append(true).open(folder.at("a.txt")).unwrap().set_modified(time).unwrap();
    check_stale(client.replace("a.txt", "two", "2"));
    assert_eq!(folder.text("a.txt"), "ONE\ntwo\n");
}

#[test]
fn edits_in_a_row_need_no_new_reading() {
    let (folder, mut client) = reader("1\n2\n3\n4\n");
    for (old, new) in [("1", "one"), ("2", "two"), ("3", "three")] {
        let answer = client.replace("a.txt", old, new).ok();
        assert_eq!(answer.structured["mtime_check_passed"], true);
    }
    client.patch("*** Update File: a.txt\n@@\n-4\n+four").ok();
    let handle = client
        .preview("str_replace", json!({"path": "a.txt", "old_string": "four", "new_string": "4"}))
        .ok()
        .handle();
    client.call("apply_preview", json!({"preview": handle})).ok();
    client.call("write_file", json!({"path": "a.txt", "content": "new\n"})).ok();
    assert_eq!(folder.text("a.txt"), "new\n");
}

#[test]
fn an_outside_change_after_an_edit_of_ours_is_found_too() {
    let (folder, mut client) = reader("one\ntwo\n");
    client.replace("a.txt", "one", "1").ok();
    folder.write("a.txt", "1\ntwo\nmore\n");
    check_stale(client.replace("a.txt", "two", "2"));
}

#[test]
fn nothing_is_stale_to_whoever_has_read_nothing() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    let answer = client.replace("a.txt", "one", "1").ok();
    assert!(answer.structured.get("mtime_check_passed").is_none());
    folder.write("a.txt", "1\nmore\n");
    client.replace("a.txt", "1", "one").ok();
}

#[test]
fn what_one_client_has_read_is_not_what_another_has() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let (mut first, mut second) = (serve(&folder), serve(&folder));
    first.read("a.txt");
    second.read("a.txt");
    second.replace("a.txt", "one", "1").ok();
    check_stale(first.replace("a.txt", "two", "2"));
    first.replace("a.txt", "two", "2").ok();
    assert_eq!(folder.text("a.txt"), "1\n2\n");
}

#[test]
fn a_named_version_is_refused_until_it_is_the_current_one() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    let mut edit = |version: &str| {
        let request = json!({"path": "a.txt", "old_string": "one", "new_string": "1", "version": version});
        client.call("str_replace", request)
    };
    let old = emend_edit::Version::hash(b"one\n").short();
    folder.write("a.txt", "one\nmore\n");
    let new = check_stale(edit(&old)).problems()[0]["current_version"].clone();
    check_stale(edit(&old));
    edit(new.as_str().unwrap()).ok();
    assert_eq!(folder.text("a.txt"), "1\nmore\n");
}

#[test]
fn the_current_version_is_good_whatever_was_read_before() {
    let (folder, mut client) = reader("one\n");
    folder.write("a.txt", "one\nmore\n");
    let version = emend_edit::Version::hash(b"one\nmore\n").short();
    let request = json!({"path": "a.txt", "old_string": "one", "new_string": "1", "version": version});
    client.call("str_replace", request).ok();
}

#[test]
fn a_stale_refusal_is_no_reading_of_the_whole_file() {
    let (folder, mut client) = reader("one\n");
    folder.write("a.txt", "one\nmore\n");
    let write = json!({"path": "a.txt", "content": "new\n"});
    check_stale(client.call("write_file", write.clone()));
    client.call("write_file", write.clone()).refused("not-read");
    client.patch("*** Delete File: a.txt").refused("not-read");
    assert_eq!(folder.text("a.txt"), "one\nmore\n");
    client.read("a.txt");
    client.call("write_file", write).ok();
}

#[test]
fn a_file_that_was_deleted_outside_is_stale_and_then_missing() {
    let (folder, mut client) = reader("one\n");
    fs::remove_file(folder.at("a.txt")).unwrap();
    let answer = check_stale(client.replace("a.txt", "one", "1"));
    assert!(answer.problems()[0].get("current_version").is_none());
    client.replace("a.txt", "one", "1").refused("missing-original");
    assert!(!folder.has("a.txt"));
}

#[test]
fn one_stale_file_of_a_patch_leaves_all_of_them() {
    let folder = Folder::with([("a.txt", "1\n"), ("b.txt", "2\n"), ("c.txt", "3\n")]);
    let mut client = serve(&folder);
    for path in ["a.txt", "b.txt", "c.txt"] {
        client.read(path);
    }
    folder.write("b.txt", "2\nmore\n");
    folder.write("c.txt", "3\nmore\n");
    let before = folder.tree();
    let patch = "*** Update File: a.txt\n@@\n-1\n+one\n*** Update File: b.txt\n@@\n-2\n+two\n*** Update File: \
                 c.txt\n@@\n-3\n+three";
    assert_eq!(check_stale(client.patch(patch)).codes(), ["stale-file", "stale-file"]);
    assert_eq!(folder.tree(), before);
    client.patch(patch).ok();
    assert_eq!(folder.text("b.txt"), "two\nmore\n");
}

#[test]
fn what_was_read_of_a_moved_file_moves_along() {
    let (folder, mut client) = reader("one\ntwo\n");
    client.patch("*** Move File: a.txt -> b.txt").ok();
    folder.write("b.txt", "one\ntwo\nmore\n");
    check_stale(client.replace("b.txt", "two", "2"));
    client.read("b.txt");
    client.patch("*** Update File: b.txt\n*** Move to: c.txt\n@@\n-two\n+2").ok();
    client.call("write_file", json!({"path": "c.txt", "content": "new\n"})).ok();
}

#[test]
fn a_stale_preview_call_counts_as_having_seen_the_change() {
    let (folder, mut client) = reader("one\n");
    folder.write("a.txt", "one\nmore\n");
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "1"});
    check_stale(client.preview("str_replace", edit.clone()));
    client.preview("str_replace", edit).ok();
}

#[test]
fn validating_is_refused_for_a_stale_file_too() {
    let (folder, mut client) = reader("one\n");
    folder.write("a.txt", "one\nmore\n");
    let patch = client::patch("*** Update File: a.txt\n@@\n-one\n+1");
    check_stale(client.call("apply_patch", json!({"patch": patch, "validate_only": true})));
}

/// Two equal blocks, far from each other.
fn twins() -> String {
    let filler = |from: usize| (from..from + 20).map(|i| format!("line {i}\n")).collect::<String>();
    let block = "begin\nold\nend\n";
    format!("{}{block}{}{block}{}", filler(0), filler(20), filler(40))
}

/// A diff of the second block, by its line number.
const SECOND: &str = "--- a/a.txt\n+++ b/a.txt\n@@ -44,3 +44,3 @@\n begin\n-old\n+new\n end\n";

#[test]
fn a_line_number_of_before_chooses_no_place_in_a_file_that_changed() {
    for on_change in ["refuse", "merge"] {
        let folder = Folder::new();
        folder.write("a.txt", twins());
        let mut client = launch(&folder).argument("--on-change").argument(on_change).legacy();
        client.read("a.txt");
        // Now the first block stands at the number of the second.
        let added: String = (0..23).map(|i| format!("added {i}\n")).collect();
        folder.write("a.txt", added + &twins());
        let before = folder.text("a.txt");
        client.call("apply_patch", json!({"patch": SECOND})).refused("stale-file");
        client.call("apply_patch", json!({"patch": SECOND})).refused("ambiguous-match");
        assert_eq!(folder.text("a.txt"), before, "{on_change}");
        // A reading knows the numbers again.
        client.read("a.txt");
        client.call("apply_patch", json!({"patch": SECOND.replace("44", "67")})).ok();
        assert_eq!(folder.text("a.txt").lines().position(|line| line == "new"), Some(67));
    }
}

#[test]
fn numbers_of_the_last_reading_are_followed_through_own_edits() {
    for (added, code) in [(5, None), (23, Some("ambiguous-match"))] {
        let folder = Folder::new();
        folder.write("a.txt", twins());
        let mut client = launch(&folder).legacy();
        client.read("a.txt");
        let above: String = (0..added).map(|i| format!("added {i}\n")).collect();
        client
            .call("str_replace", json!({"path": "a.txt", "old_string": "line 0", "insert_before": above}))
            .ok();
        let before = folder.text("a.txt");
        let answer = client.call("apply_patch", json!({"patch": SECOND}));
        match code {
            // With 23 lines above, the first block stands at the number, too.
            Some(code) => {
                answer.refused(code);
                assert_eq!(folder.text("a.txt"), before);
            }
            None => {
                answer.ok();
                assert_eq!(folder.text("a.txt").lines().position(|line| line == "new"), Some(44 + added));
            }
        }
    }
}

#[test]
fn what_is_unique_only_since_the_file_changed_is_not_merged() {
    let folder = Folder::new();
    folder.write("a.txt", twins());
    let mut client = launch(&folder).argument("--on-change").argument("merge").legacy();
    client.read("a.txt");
    folder.write("a.txt", twins().replacen("begin\nold\nend\n", "", 1));
    client.replace("a.txt", "begin\nold\nend\n", "begin\nnew\nend\n").refused("stale-file");
    // Having been shown the change, the client may mean it.
    client.replace("a.txt", "begin\nold\nend\n", "begin\nnew\nend\n").ok();
}

#[test]
fn an_anchor_that_moved_to_another_place_is_not_followed_by_a_merge() {
    let folder = Folder::new();
    let functions = |one: &str, two: &str| {
        let filler = "    pass\n".repeat(12);
        format!("def {one}():\n{filler}    x = 1\n{filler}\ndef {two}():\n{filler}    x = 1\n{filler}")
    };
    folder.write("a.py", functions("a", "b"));
    let mut client = launch(&folder).argument("--on-change").argument("merge").legacy();
    client.read("a.py");
    folder.write("a.py", functions("other", "a"));
    let before = folder.text("a.py");
    client.patch("*** Update File: a.py\n@@ def a():\n-    x = 1\n+    x = 2").refused("stale-file");
    assert_eq!(folder.text("a.py"), before);
}

#[test]
fn a_change_beside_a_merged_edit_that_failed_is_still_told() {
    let folder = Folder::new();
    folder.write("a.txt", twins());
    let mut client = launch(&folder).argument("--on-change").argument("merge").legacy();
    client.read("a.txt");
    folder.write("a.txt", twins().replace("line 5\n", "theirs\n"));
    std::fs::hard_link(folder.at("a.txt"), folder.at("b.txt")).unwrap();
    client.replace("a.txt", "line 55", "ours").refused("hard-linked");
    std::fs::remove_file(folder.at("b.txt")).unwrap();
    client.replace("a.txt", "line 6\n", "ours\n").refused("stale-file");
}

#[test]
fn a_refusal_names_the_edit_that_changed_the_file_and_no_edit_for_what_others_did() {
    let (folder, mut client) = reader("one\n");
    let mut other = serve(&folder);
    let edit = |answer: Answer| answer.ok().structured["edit"].as_str().unwrap().to_owned();
    let id = edit(other.replace("a.txt", "one", "two"));
    let refused = check_stale(client.replace("a.txt", "one", "three"));
    assert!(refused.text.contains(&id), "{}", refused.text);
    // By the version that a call names, too.
    let call = json!({"path": "a.txt", "old_string": "two", "new_string": "x", "version": "0123456789ab"});
    assert!(check_stale(client.call("str_replace", call)).text.contains(&id));
    folder.write("a.txt", "one\n");
    assert!(!check_stale(client.replace("a.txt", "one", "three")).text.contains(&id));
    let id = edit(other.patch("*** Move File: a.txt -> b.txt"));
    assert!(check_stale(client.replace("a.txt", "one", "three")).text.contains(&id));
}

/// Each way to say that the line `bbb` becomes `BBB`, or gets a line below it.
fn edits_of_a_line() -> Vec<(&'static str, serde_json::Value)> {
    let replaced = "a.txt\n<<<<<<< SEARCH\nbbb\n=======\nBBB\n>>>>>>> REPLACE\n";
    vec![
        ("str_replace", json!({"path": "a.txt", "old_string": "bbb", "new_string": "BBB"})),
        ("str_replace", json!({"path": "a.txt", "old_string": "bbb\n", "new_string": "BBB\n"})),
        (
            "str_replace",
            json!({"path": "a.txt", "old_string": "bbb", "new_string": "B", "replace_all": true}),
        ),
        ("str_replace", json!({"path": "a.txt", "old_string": "bbb", "insert_after": "new"})),
        ("str_replace", json!({"path": "a.txt", "old_string": "bbb", "insert_before": "new"})),
        (
            "str_replace",
            json!({"path": "a.txt", "edits": [
                {"old_string": "ddd", "new_string": "DDD"}, {"old_string": "bbb", "new_string": "BBB"}
            ]}),
        ),
        ("apply_patch", json!({"patch": replaced})),
        ("apply_patch", json!({"patch": client::patch("*** Update File: a.txt\n@@\n-bbb\n+BBB")})),
    ]
}

const FAR: &str = "1\n2\n3\n4\n5\n";

/// A client that has read the lines, with this setting, before `bbb` became `changed`.
fn reader_of_a_line(on_change: &str, changed: &str) -> (Folder, Client, String) {
    let file = |line: &str| format!("aaa\n{line}\nccc\n{FAR}ddd\n");
    let folder = Folder::with([("a.txt", &file("bbb"))]);
    let mut client = launch(&folder).argument("--on-change").argument(on_change).legacy();
    client.read("a.txt");
    let changed = file(changed);
    folder.write("a.txt", &changed);
    (folder, client, changed)
}

#[test]
fn a_refused_edit_of_a_line_never_lands_in_another_line() {
    for on_change in ["refuse", "merge"] {
        for changed in ["bbb-external", "x bbb", "x = bbb;", "other\nbbb-external"] {
            for (tool, call) in edits_of_a_line() {
                let (folder, mut client, changed) = reader_of_a_line(on_change, changed);
                for _ in 0..3 {
                    let refused = client.call(tool, call.clone());
                    assert!(refused.is_error, "{on_change} {changed:?} {call}");
                    assert!(!refused.text.contains("same call goes through"), "{call}: {}", refused.text);
                    assert_eq!(folder.text("a.txt"), changed);
                }
            }
        }
    }
}

#[test]
fn a_refused_edit_of_a_line_never_lands_in_a_new_line_like_it() {
    for on_change in ["refuse", "merge"] {
        for (tool, call) in edits_of_a_line() {
            let (folder, mut client, changed) = reader_of_a_line(on_change, "other");
            folder.write("a.txt", format!("{changed}bbb\n"));
            for _ in 0..2 {
                check_stale(client.call(tool, call.clone()));
            }
            assert_eq!(folder.text("a.txt"), format!("{changed}bbb\n"));
        }
    }
}

#[test]
fn a_refused_edit_whose_lines_are_as_they_were_read_may_be_sent_again() {
    for on_change in ["refuse", "merge"] {
        for changed in ["x\nbbb", "bbb\nx", "x\nbbb\nbbb-external"] {
            for (tool, call) in edits_of_a_line() {
                if changed.contains("external") && call.to_string().contains("\"bbb\"") {
                    continue;
                }
                let (folder, mut client, changed) = reader_of_a_line(on_change, changed);
                let refused = check_stale(client.call(tool, call.clone()));
                assert!(refused.text.contains("same call goes through"), "{call}: {}", refused.text);
                client.call(tool, call.clone()).ok();
                assert_ne!(folder.text("a.txt"), changed);
            }
        }
    }
}

#[test]
fn only_a_reading_of_the_changed_line_ends_the_caution() {
    let (folder, mut client, changed) = reader_of_a_line("refuse", "bbb-external");
    check_stale(client.replace("a.txt", "bbb", "BBB"));
    // An edit elsewhere, a change elsewhere and a reading of other lines do not show it.
    client.replace("a.txt", "ddd", "DDD").ok();
    check_stale(client.replace("a.txt", "bbb", "BBB"));
    client.call("read_file", json!({"path": "a.txt", "offset": 4, "limit": 3})).ok();
    check_stale(client.replace("a.txt", "bbb", "BBB"));
    folder.write("a.txt", changed.replace("5\n", "five\n"));
    check_stale(client.replace("a.txt", "bbb", "BBB"));
    let reads = |client: &mut Client| client.replace("a.txt", "bbb", "BBB").codes() == ["stale-file"];
    assert!(reads(&mut client));
    // What the refusal has shown can be edited, and is known then.
    client.replace("a.txt", "bbb-external", "bbb external").ok();
    client.replace("a.txt", "bbb", "BBB").ok();
    assert_eq!(
        folder.text("a.txt"),
        changed.replace("5\n", "five\n").replace("bbb-external", "BBB external")
    );
    let (folder, mut client, changed) = reader_of_a_line("refuse", "bbb-external");
    check_stale(client.replace("a.txt", "bbb", "BBB"));
    client.call("read_file", json!({"path": "a.txt", "offset": 2, "limit": 1})).ok();
    client.replace("a.txt", "bbb", "BBB").ok();
    assert_eq!(folder.text("a.txt"), changed.replace("bbb", "BBB"));
}

#[test]
fn a_hunk_of_the_change_that_was_shown_may_have_an_anchor() {
    let old = "def a():\n    x = 1\n\n\ndef b():\n    y = 2\n";
    let new = "def a():\n    x = 1\n    extra = 5\n\n\ndef b():\n    y = 2\n";
    for anchor in ["@@", "@@ def a():"] {
        let folder = Folder::with([("a.py", old)]);
        let mut client = serve(&folder);
        client.read("a.py");
        folder.write("a.py", new);
        let mut patch = |hunk: &str| {
            let patch = format!("*** Begin Patch\n*** Update File: a.py\n{hunk}\n*** End Patch\n");
            client.call("apply_patch", json!({"patch": patch}))
        };
        check_stale(patch("@@\n-    x = 1\n+    x = 2"));
        patch(&format!("{anchor}\n-    extra = 5\n+    extra = 6")).ok();
        assert_eq!(folder.text("a.py"), new.replace("extra = 5", "extra = 6"));
    }
}

#[test]
fn an_insertion_beside_a_changed_line_does_not_end_the_caution() {
    for (old, new) in [("aaa\n", "aaa\nnew\n"), ("ccc\n", "new\nccc\n")] {
        let (folder, mut client, changed) = reader_of_a_line("refuse", "bbb-external");
        check_stale(client.replace("a.txt", "bbb", "BBB"));
        client.replace("a.txt", old, new).ok();
        check_stale(client.replace("a.txt", "bbb", "BBB"));
        assert_eq!(folder.text("a.txt"), changed.replace(old, new));
    }
}

#[test]
fn a_change_that_a_merge_or_a_named_version_reports_calls_for_the_same_caution() {
    let (folder, mut client, changed) = reader_of_a_line("merge", "bbb-external");
    client.replace("a.txt", "ddd", "DDD").ok();
    for (tool, call) in edits_of_a_line().into_iter().filter(|(_, call)| !call.to_string().contains("ddd")) {
        assert!(client.call(tool, call.clone()).is_error, "{call}");
    }
    assert_eq!(folder.text("a.txt"), changed.replace("ddd", "DDD"));
    let (folder, mut client, changed) = reader_of_a_line("refuse", "bbb-external");
    let call =
        |version: &str| json!({"path": "a.txt", "old_string": "bbb", "new_string": "B", "version": version});
    let read = emend_edit::Version::hash(changed.replace("-external", "").as_bytes()).short();
    check_stale(client.call("str_replace", call(&read)));
    let now = emend_edit::Version::hash(changed.as_bytes()).short();
    check_stale(client.call("str_replace", call(&now)));
    assert_eq!(folder.text("a.txt"), changed);
}

#[test]
fn a_file_too_large_to_be_remembered_is_read_again_after_a_change() {
    let file = |line: &str| format!("aaa\n{line}\nccc\n{}", "filler\n".repeat(200_000));
    let (folder, mut client) = reader(&file("bbb"));
    folder.write("a.txt", file("bbb-external"));
    for _ in 0..2 {
        let refused = check_stale(client.replace("a.txt", "bbb", "BBB"));
        assert!(refused.text.contains("Read the file again"), "{}", refused.text);
    }
    client.call("read_file", json!({"path": "a.txt", "limit": 5})).ok();
    client.replace("a.txt", "bbb-external", "BBB").ok();
    assert_eq!(folder.text("a.txt"), file("BBB"));
}

#[test]
fn a_reading_of_other_lines_of_a_file_too_large_to_be_remembered_does_not_end_the_caution() {
    let file = |line: &str| format!("aaa\n{line}\nccc\n{}eee\n", "filler\n".repeat(200_000));
    for is_refused_first in [true, false] {
        let (folder, mut client) = reader(&file("bbb"));
        folder.write("a.txt", file("bbb-external"));
        if is_refused_first {
            check_stale(client.replace("a.txt", "bbb", "BBB"));
        }
        client.call("read_file", json!({"path": "a.txt", "offset": 200_003, "limit": 2})).ok();
        check_stale(client.replace("a.txt", "bbb", "BBB"));
        // Lines that were shown since can be edited, and that shows no others.
        client.replace("a.txt", "eee", "EEE").ok();
        check_stale(client.replace("a.txt", "bbb", "BBB"));
        client.call("read_file", json!({"path": "a.txt", "limit": 2})).ok();
        client.replace("a.txt", "bbb", "BBB").ok();
        assert_eq!(folder.text("a.txt"), file("BBB-external").replace("eee", "EEE"));
    }
}
