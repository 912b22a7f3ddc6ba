//! The history of edits: any process can read it, and take an edit back if its files have not changed since.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;

use emend_testkit::{Answer, Client, Folder};
use serde_json::json;

use crate::{launch, serve, serve_in_full};

/// The id of the edit that was made.
fn id(answer: Answer) -> String {
    answer.ok().structured["edit"].as_str().unwrap().to_owned()
}

fn undo(client: &mut Client, edit: &str) -> Answer {
    client.call("undo_edit", json!({"edit": edit}))
}

fn history(client: &mut Client, arguments: serde_json::Value) -> String {
    client.call("edit_history", arguments).ok().text
}

#[test]
fn an_edit_is_taken_back_with_bytes_and_mode() {
    let content = b"\xef\xbb\xbfone\r\ntwo \xff\nthree".as_slice();
    let folder = Folder::new();
    folder.write("a.sh", content);
    #[cfg(unix)]
    fs::set_permissions(folder.at("a.sh"), fs::Permissions::from_mode(0o751)).unwrap();
    let mut client = serve(&folder);
    let edit = id(client.replace("a.sh", "one", "1\n2"));
    assert_ne!(folder.read("a.sh"), content);
    let undone = undo(&mut client, &edit).ok();
    assert_eq!(folder.read("a.sh"), content);
    #[cfg(unix)]
    assert_eq!(fs::metadata(folder.at("a.sh")).unwrap().permissions().mode() & 0o7777, 0o751);
    assert_eq!(undone.structured["changed_files"], json!(["a.sh"]));
    // The client knows what it did: the next edit needs no reading.
    client.replace("a.sh", "one", "eins").ok();
}

/// A patch that does everything that a patch can do.
const EVERYTHING: &str = "*** Add File: new/deep.txt\n+new\n*** Update File: a.txt\n@@\n-two\n+TWO\n*** Delete File: \
                          gone.txt\n*** Update File: old.txt\n*** Move to: moved.txt\n@@\n-move me\n+moved\n*** Move \
                          File: b.txt -> bee.txt";

fn everything() -> Folder {
    Folder::with([
        ("a.txt", "one\ntwo\nthree\n"),
        ("b.txt", "bee\n"),
        ("gone.txt", "bye\n"),
        ("old.txt", "move me\nkeep\n"),
    ])
}

#[test]
fn a_patch_of_several_files_is_taken_back_as_one_and_done_again_as_one() {
    let folder = everything();
    let old = folder.tree();
    let mut client = serve(&folder);
    client.read("gone.txt");
    let edit = id(client.patch(EVERYTHING));
    let new = folder.tree();
    let undone = id(undo(&mut client, &edit));
    let mut tree = folder.tree();
    assert_eq!(tree.remove("new/"), Some(Vec::new()), "folders stay");
    assert_eq!(tree, old);
    assert!(undo(&mut client, &edit).ok().is_repeated());
    id(undo(&mut client, &undone));
    assert_eq!(folder.tree(), new, "redo is the undo of the undo");
}

#[test]
fn another_process_takes_an_edit_back() {
    let folder = everything();
    let old = folder.tree();
    let edit = {
        let mut client = serve(&folder);
        client.read("gone.txt");
        let edit = id(client.patch(EVERYTHING));
        client.close();
        edit
    };
    let mut client = serve(&folder);
    let listed = history(&mut client, json!({}));
    assert!(listed.contains(&edit) && listed.contains("apply_patch by testkit"), "{listed}");
    undo(&mut client, &edit).ok();
    let mut tree = folder.tree();
    tree.remove("new/");
    assert_eq!(tree, old);
}

#[test]
fn without_an_id_the_newest_own_edit_is_meant_that_is_neither_an_undo_nor_undone() {
    let folder = Folder::with([("a.txt", "0\n"), ("b.txt", "0\n")]);
    let mut client = serve(&folder);
    client.replace("a.txt", "0", "1").ok();
    client.replace("b.txt", "0", "1").ok();
    client.replace("a.txt", "1", "2").ok();
    let mut undo = |arguments| client.call("undo_edit", arguments);
    undo(json!({"path": "b.txt"})).ok();
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("2\n".into(), "0\n".into()));
    undo(json!({})).ok();
    assert_eq!(folder.text("a.txt"), "1\n");
    undo(json!({})).ok();
    assert_eq!(folder.text("a.txt"), "0\n");
    undo(json!({})).refused("unknown-edit");
    undo(json!({"edit": "nonsense"})).refused("unknown-edit");
    undo(json!({"edit": "x", "path": "a.txt"})).refused("invalid-argument");
}

#[test]
fn another_sessions_edit_is_not_taken_back_unasked_nor_once_its_process_has_ended() {
    let folder = Folder::with([("a.txt", "0\n")]);
    let (mut one, mut other) = (serve(&folder), serve(&folder));
    let edit = id(one.replace("a.txt", "0", "1"));
    let mut check = |arguments| {
        let refused = other.call("undo_edit", arguments).refused("unknown-edit");
        assert!(refused.text.contains(&edit), "it names the newest edits: {}", refused.text);
        assert_eq!(folder.text("a.txt"), "1\n");
    };
    check(json!({}));
    one.close();
    check(json!({}));
    check(json!({"path": "a.txt"}));
    undo(&mut other, &edit).ok();
    assert_eq!(folder.text("a.txt"), "0\n");
}

#[test]
fn an_undo_by_path_that_finds_no_own_edit_names_those_of_that_file_alone() {
    let folder = Folder::with([("a.txt", "0\n"), ("b.txt", "0\n")]);
    let mut earlier = serve(&folder);
    let of_a = id(earlier.replace("a.txt", "0", "1"));
    let of_b: Vec<String> =
        (0..6).map(|at| id(earlier.replace("b.txt", &at.to_string(), &(at + 1).to_string()))).collect();
    earlier.close();
    let mut client = serve(&folder);
    let mut refused = |path| client.call("undo_edit", json!({"path": path})).refused("unknown-edit").text;
    let text = refused("a.txt");
    assert!(text.contains(&of_a) && !of_b.iter().any(|edit| text.contains(edit)), "{text}");
    let text = refused("c.txt");
    assert!(text.contains("c.txt") && !text.contains(&of_a), "{text}");
    assert!(!of_b.iter().any(|edit| text.contains(edit)), "{text}");
}

#[test]
fn what_moved_on_since_is_shown_and_nothing_is_changed() {
    let folder = Folder::with([("a.txt", "0\n"), ("b.txt", "0\n")]);
    let mut client = serve(&folder);
    let edit = id(client.patch("*** Update File: a.txt\n@@\n-0\n+1\n*** Update File: b.txt\n@@\n-0\n+1"));
    let later = id(client.replace("a.txt", "1", "1\nmore"));
    let refused = undo(&mut client, &edit).refused("undo-conflict");
    assert!(refused.text.contains("+more"), "{}", refused.text);
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("1\nmore\n".into(), "1\n".into()));
    undo(&mut client, &later).ok();
    undo(&mut client, &edit).ok();
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("0\n".into(), "0\n".into()));
    // A file that is gone, and one that came back.
    let made = id(client.call("write_file", json!({"path": "n.txt", "content": "n\n"})));
    fs::remove_file(folder.at("n.txt")).unwrap();
    undo(&mut client, &made).refused("no-op");
    client.read("a.txt");
    let deleted = id(client.patch("*** Delete File: a.txt"));
    folder.write("a.txt", "other\n");
    undo(&mut client, &deleted).refused("undo-conflict");
    assert_eq!(folder.text("a.txt"), "other\n");
}

#[test]
fn what_came_elsewhere_since_stays_if_the_person_wants_changes_merged() {
    let content: String = (1..=9).map(|line| format!("{line}\r\n")).collect();
    let folder = Folder::with([("a.txt", content.as_str()), ("b.txt", "0\n")]);
    let mut client = launch(&folder).argument("--on-change=merge").legacy();
    let first =
        id(client.patch("*** Update File: a.txt\n@@\n-3\n+three\n*** Update File: b.txt\n@@\n-0\n+1"));
    let newer = id(client.replace("a.txt", "7", "seven\n7"));
    // By hand, where a twin of the edit's line comes too.
    folder.write("a.txt", folder.text("a.txt") + "3\r\n");
    let undone = undo(&mut client, &first).ok();
    assert!(undone.text.contains("a.txt changed since that edit, away from its lines"), "{}", undone.text);
    let left = content.replace('7', "seven\r\n7") + "3\r\n";
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), (left.clone(), "0\n".into()));
    // What touches its lines, or those beside them, is in the way.
    folder.write("a.txt", left.replace("6\r\n", "six\r\n"));
    let refused = undo(&mut client, &newer).refused("undo-conflict");
    assert!(refused.text.contains("+six") && !refused.text.contains("--on-change"), "{}", refused.text);
    folder.write("a.txt", left.clone());
    undo(&mut client, &newer).ok();
    assert_eq!(folder.text("a.txt"), content + "3\r\n");
    // An undo is undone as it was made.
    let again = id(client.replace("a.txt", "5", "five"));
    let undone = id(undo(&mut client, &again));
    undo(&mut client, &undone).ok();
    assert!(folder.text("a.txt").contains("five"));
}

#[test]
fn what_was_changed_back_by_other_means_needs_no_undo_and_hides_none() {
    let folder = Folder::with([("a.txt", "0\n"), ("b.txt", "0\n")]);
    let mut client = serve(&folder);
    id(client.replace("b.txt", "0", "1"));
    let edit = id(client.replace("a.txt", "0", "1"));
    folder.write("a.txt", "0\n");
    undo(&mut client, &edit).refused("no-op");
    client.call("undo_edit", json!({})).ok();
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("0\n".into(), "0\n".into()));
    client.call("undo_edit", json!({})).refused("unknown-edit");
}

#[test]
fn an_undo_and_a_whole_file_say_which_lines_they_change() {
    let content: String = (1..=300).map(|i| format!("{i}\n")).collect();
    let folder = Folder::with([("a.txt", &content)]);
    let mut client = serve_in_full(&folder);
    let edit = id(client.replace("a.txt", "250\n", "x\ny\n"));
    let check = |answer: Answer, line: usize, lines: usize| {
        let hunk = answer.ok().structured["files"][0]["hunks"][0].clone();
        assert_eq!((&hunk["line"], &hunk["lines"]), (&json!(line), &json!(lines)));
    };
    check(undo(&mut client, &edit), 250, 2);
    client.read("a.txt");
    let other = content.replace("70\n71\n72\n", "70\nx\n72\n");
    check(client.call("write_file", json!({"path": "a.txt", "content": other})), 71, 1);
    check(client.call("delete_file", json!({"path": "a.txt"})), 1, 300);
}

#[test]
fn a_kept_file_that_was_written_into_afterwards_is_not_used() {
    use std::io::Write;
    let folder = Folder::with([("a.txt", "0\n")]);
    let mut client = serve(&folder);
    // A program that has the file open across the edit.
    let mut late = fs::OpenOptions::new().append(true).open(folder.at("a.txt")).unwrap();
    let edit = id(client.replace("a.txt", "0", "1"));
    late.write_all(b"late\n").unwrap();
    undo(&mut client, &edit).refused("undo-conflict");
    assert_eq!(folder.text("a.txt"), "1\n");
    // What it wrote is not lost.
    let kept = emend_testkit::folder::tree(&folder.state());
    assert!(kept.values().any(|bytes| bytes == b"0\nlate\n"));
}

#[test]
fn names_that_changed_hands_in_one_edit_get_their_files_back() {
    let folder = Folder::with([("a.txt", "first\n"), ("c.txt", "third\n")]);
    let old = folder.tree();
    let mut client = serve(&folder);
    let patch = "*** Move File: a.txt -> b.txt\n*** Move File: c.txt -> a.txt\n*** Add File: c.txt\n+new";
    let edit = id(client.patch(patch));
    assert_eq!(folder.text("a.txt") + &folder.text("b.txt") + &folder.text("c.txt"), "third\nfirst\nnew\n");
    undo(&mut client, &edit).ok();
    assert_eq!(folder.tree(), old);
}

#[test]
fn the_history_tells_who_when_and_what_and_keeps_the_request_word_for_word() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "bee\n")]);
    let mut client = serve(&folder);
    let first = id(client.replace("a.txt", "one", "\"eins\"\t&gt;"));
    let second = id(client.patch("*** Update File: b.txt\n@@\n-bee\n+Biene"));
    let listed = history(&mut client, json!({}));
    let (at_first, at_second) = (listed.find(&first).unwrap(), listed.find(&second).unwrap());
    assert!(at_second < at_first, "the newest first: {listed}");
    assert!(listed.contains("str_replace by testkit (you)") && listed.contains("M a.txt +1 -1"), "{listed}");
    let of_b = history(&mut client, json!({"path": "b.txt"}));
    assert!(of_b.contains(&second) && !of_b.contains(&first), "{of_b}");
    let one = history(&mut client, json!({"limit": 1}));
    assert!(one.contains(&second) && !one.contains(&first), "{one}");
    let full = history(&mut client, json!({"edit": first}));
    let request = json!({"new_string": "\"eins\"\t&gt;", "old_string": "one", "path": "a.txt"});
    assert!(full.contains(&request.to_string()), "{full}");
    assert!(full.contains("-one\n+\"eins\"\t&gt;\n"), "{full}");
    client.call("edit_history", json!({"edit": "nonsense"})).refused("unknown-edit");
    client.call("edit_history", json!({"edit": first, "path": "a.txt"})).refused("invalid-argument");
    assert_eq!(history(&mut client, json!({"path": "nope.txt"})), "No edits of nope.txt in the history.\n");
}

#[test]
fn what_is_told_of_large_edits_is_bounded() {
    let folder = Folder::with([("a.txt", "x\n".repeat(100_000).as_str())]);
    let mut client = serve(&folder);
    let large = client.call(
        "str_replace",
        json!({"path": "a.txt", "old_string": "x", "new_string": "yy", "replace_all": true}),
    );
    let large = id(large);
    let many: String = (0..300).map(|i| format!("*** Add File: n{i}.txt\n+n\n")).collect();
    id(client.patch(&many));
    assert!(history(&mut client, json!({"edit": large})).len() < 100_000);
    assert!(history(&mut client, json!({"net": true})).len() < 60_000);
    assert!(history(&mut client, json!({})).len() < 4_000);
}

#[test]
fn undo_goes_in_the_order_in_which_edits_were_made_however_fast_they_come() {
    let folder = Folder::with([("a.txt", "0\n"), ("b.txt", "0\n")]);
    let mut client = serve(&folder);
    for i in 0..40 {
        client.replace("a.txt", &i.to_string(), &(i + 1).to_string()).ok();
        client.replace("b.txt", &i.to_string(), &(i + 1).to_string()).ok();
        let undone = client.call("undo_edit", json!({})).ok();
        assert_eq!(undone.structured["changed_files"], json!(["b.txt"]));
        client.replace("b.txt", &i.to_string(), &(i + 1).to_string()).ok();
    }
}

#[test]
#[cfg(unix)]
fn a_mode_that_was_set_since_stays_when_the_content_goes_back() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.sh", "one\n")]);
    let mode = |name: &str| fs::metadata(folder.at(name)).unwrap().permissions().mode() & 0o777;
    let mut client = serve(&folder);
    client.replace("a.txt", "one", "two").ok();
    fs::set_permissions(folder.at("a.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    client.call("undo_edit", json!({})).ok();
    assert_eq!((folder.text("a.txt"), mode("a.txt")), ("one\n".into(), 0o600));
    // One that the edit itself set goes back.
    let chmod = "diff --git a/b.sh b/b.sh\nold mode 100644\nnew mode 100755\n";
    client.call("apply_patch", json!({"patch": chmod})).ok();
    assert_eq!(mode("b.sh") & 0o111, 0o111);
    client.call("undo_edit", json!({})).ok();
    assert_eq!(mode("b.sh") & 0o111, 0);
}

#[test]
fn own_edits_of_any_root_are_meant_and_none_of_an_ended_session() {
    let (one, two) = (Folder::with([("a.txt", "0\n")]), Folder::with([("a.txt", "0\n")]));
    let both = || {
        let launch =
            emend_testkit::Launch::new(crate::EMEND).workspace(format!("one={}", one.path().display()));
        launch.workspace(format!("two={}", two.path().display())).state(one.state()).legacy()
    };
    let mut client = both();
    client.replace("one:a.txt", "0", "1").ok();
    let mut other = both();
    other.replace("two:a.txt", "0", "1").ok();
    other.close();
    client.call("undo_edit", json!({})).ok();
    client.call("undo_edit", json!({})).refused("unknown-edit");
    assert_eq!((one.text("a.txt"), two.text("a.txt")), ("0\n".into(), "1\n".into()));
}

#[test]
fn the_net_is_one_diff_over_all_own_edits() {
    let folder = Folder::with([("a.txt", "one\ntwo\n"), ("b.txt", "bee\n")]);
    let mut client = serve(&folder);
    client.replace("a.txt", "one", "1").ok();
    client.replace("a.txt", "1", "I").ok();
    client.replace("b.txt", "bee", "x").ok();
    client.replace("b.txt", "x", "bee").ok();
    client.call("write_file", json!({"path": "n.txt", "content": "n\n"})).ok();
    client.patch("*** Move File: n.txt -> m.txt").ok();
    let mut other = serve(&folder);
    other.replace("a.txt", "two", "2").ok();
    let net = history(&mut client, json!({"net": true}));
    assert!(net.contains("-one\n+I\n two\n"), "{net}");
    assert!(net.contains("+++ b/m.txt") && net.contains("--- /dev/null"), "{net}");
    assert!(!net.contains("b.txt") && !net.contains("n.txt") && !net.contains("+2"), "{net}");
    let net = history(&mut other, json!({"net": true}));
    assert!(net.contains("-two\n+2\n") && !net.contains("-one"), "{net}");
}

#[test]
fn a_record_that_is_missing_or_forged_costs_who_and_why_but_not_the_undo() {
    for forge in [true, false] {
        let folder = Folder::with([("a.txt", "one\n")]);
        let edit = {
            let mut client = serve(&folder);
            let edit = id(client.replace("a.txt", "one", "two"));
            client.close();
            edit
        };
        let home = fs::read_dir(folder.state().join("roots")).unwrap().next().unwrap().unwrap().path();
        let log = home.join("log");
        if forge {
            let text = fs::read_to_string(&log).unwrap();
            fs::write(&log, text.replace("a.txt", "x.txt")).unwrap();
        } else {
            fs::remove_file(&log).unwrap();
        }
        let mut client = serve(&folder);
        let listed = history(&mut client, json!({}));
        assert!(
            listed.contains(&edit) && listed.contains("M a.txt") && !listed.contains("x.txt"),
            "{listed}"
        );
        undo(&mut client, &edit).ok();
        assert_eq!(folder.text("a.txt"), "one\n");
    }
}

#[test]
fn what_is_forbidden_by_now_is_not_told_and_not_brought_back() {
    let folder = Folder::with([("secret.txt", "one\n"), ("b.txt", "bee\n")]);
    let mut client = serve(&folder);
    let only = id(client.replace("secret.txt", "one", "hush"));
    let both =
        id(client
            .patch("*** Update File: secret.txt\n@@\n-hush\n+hush2\n*** Update File: b.txt\n@@\n-bee\n+b"));
    client.close();
    let mut client = launch(&folder).argument("--forbid").argument("secret.txt").legacy();
    let listed = history(&mut client, json!({}));
    assert!(listed.contains(&both) && listed.contains("b.txt") && !listed.contains(&only), "{listed}");
    // Asking for it by its name does not tell which edits it was part of.
    let of_it = history(&mut client, json!({"path": "secret.txt"}));
    assert!(!of_it.contains(&both) && !of_it.contains("b.txt"), "{of_it}");
    let full = history(&mut client, json!({"edit": both}));
    assert!(full.contains("b.txt") && !full.contains("secret") && !full.contains("hush"), "{full}");
    let refused = undo(&mut client, &both).refused("path-forbidden");
    assert!(!refused.text.contains("hush") && !refused.text.contains("secret"), "{}", refused.text);
    assert_eq!((folder.text("secret.txt"), folder.text("b.txt")), ("hush2\n".into(), "b\n".into()));
}

#[test]
fn where_the_history_is_off_nothing_is_taken_back_and_nothing_says_that_it_could_be() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "one\n")]);
    let mut before = serve(&folder);
    let tracked = before.replace("a.txt", "one", "two").ok();
    assert!(!tracked.text.contains("not in the history"), "{}", tracked.text);
    before.close();
    let mut client = launch(&folder).argument("--track-history=false").legacy();
    let made = client.replace("b.txt", "one", "two").ok();
    assert!(made.text.contains("not in the history"), "{}", made.text);
    client.call("undo_edit", json!({})).refused("unknown-edit");
    client.call("undo_edit", json!({"edit": tracked.structured["edit"]})).refused("unknown-edit");
    client.call("undo_edit", json!({"path": "a.txt"})).refused("unknown-edit");
    assert_eq!((folder.text("a.txt").as_str(), folder.text("b.txt").as_str()), ("two\n", "two\n"));
}

#[test]
fn an_answer_names_the_edit_that_undo_takes_back() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    client.replace("a.txt", "one", "two").ok();
    client.replace("a.txt", "two", "three").ok();
    let undone = client.call("undo_edit", json!({})).ok();
    let said = undone.text.split("Edit ").nth(1).and_then(|rest| rest.split(':').next()).unwrap();
    client.call("undo_edit", json!({"edit": said})).ok();
    assert_eq!(folder.text("a.txt"), "three\n", "the undo was taken back, not the edit before");
}
