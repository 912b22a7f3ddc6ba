//! Previews: nothing is written, and applying one later does exactly what it showed, once.

use emend_testkit::{Answer, Client, Folder, client};
use serde_json::{Value, json};

use crate::{launch, serve, serve_in_full};

fn apply(client: &mut Client, handle: &str) -> Answer {
    client.call("apply_preview", json!({"preview": handle}))
}

fn apply_hunks(client: &mut Client, handle: &str, hunks: &[usize]) -> Answer {
    client.call("apply_preview", json!({"preview": handle, "hunks": hunks}))
}

fn replacement(old: &str, new: &str) -> Value {
    json!({"path": "a.txt", "old_string": old, "new_string": new})
}

/// The numbers of the hunks of a file of an outcome.
fn hunks(outcome: &Answer, file: usize) -> Vec<usize> {
    let hunks = outcome.structured["files"][file]["hunks"].as_array().unwrap();
    hunks.iter().map(|hunk| usize::try_from(hunk["hunk"].as_u64().unwrap()).unwrap()).collect()
}

/// Previews an edit: nothing is written. Applied, it does what it showed.
#[track_caller]
fn check(folder: &Folder, client: &mut Client, tool: &str, arguments: Value, after: &Folder) {
    let before = folder.tree();
    let shown = client.preview(tool, arguments).ok();
    assert_eq!(folder.tree(), before, "a preview writes nothing");
    assert!(shown.structured.get("edit").is_none());
    let done = apply(client, &shown.handle()).ok();
    assert_eq!(folder.tree(), after.tree());
    for same in ["diff", "changed_files", "bytes_changed", "files"] {
        assert_eq!(shown.structured[same], done.structured[same], "{same} is as it was shown");
    }
    assert!(done.structured["edit"].is_string() && done.structured.get("preview").is_none());
}

#[test]
fn a_replacement_is_previewed_and_applied() {
    let folder = Folder::with([("a.txt", "one\r\ntwo\r\n")]);
    let after = Folder::with([("a.txt", "one\r\n2\r\n")]);
    check(&folder, &mut serve_in_full(&folder), "str_replace", replacement("two", "2"), &after);
}

#[test]
fn a_patch_is_previewed_and_applied() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "b\n"), ("c.txt", "c\n"), ("d.txt", "d\n")]);
    let patch = client::patch(
        "*** Update File: a.txt\n@@\n-one\n+1\n*** Add File: new/n.txt\n+n\n*** Delete File: b.txt\n*** Update File: \
         c.txt\n*** Move to: e.txt\n@@\n-c\n+C\n*** Move File: d.txt -> moved/d.txt",
    );
    let after =
        Folder::with([("a.txt", "1\n"), ("new/n.txt", "n\n"), ("e.txt", "C\n"), ("moved/d.txt", "d\n")]);
    let mut client = serve_in_full(&folder);
    client.read("b.txt");
    check(&folder, &mut client, "apply_patch", json!({"patch": patch}), &after);
}

#[test]
fn a_whole_file_is_previewed_and_applied() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let mut client = serve_in_full(&folder);
    client.read("a.txt");
    let after = Folder::with([("a.txt", "ONE\ntwo\nthree\n")]);
    let write = json!({"path": "a.txt", "content": "ONE\ntwo\nthree\n"});
    check(&folder, &mut client, "write_file", write, &after);
    let after = Folder::with([("a.txt", "ONE\ntwo\nthree\n"), ("x/new.txt", "new")]);
    check(&folder, &mut client, "write_file", json!({"path": "x/new.txt", "content": "new"}), &after);
}

#[test]
fn a_preview_works_without_a_session_too() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let after = Folder::with([("a.txt", "1\n")]);
    check(
        &folder,
        &mut launch(&folder).argument("--answers=full").modern(),
        "str_replace",
        replacement("one", "1"),
        &after,
    );
}

#[test]
fn a_handle_applied_again_answers_the_same_and_edits_once() {
    let folder = Folder::with([("a.txt", "x\n")]);
    let mut client = serve(&folder);
    let handle = client.preview("str_replace", replacement("x", "xx")).ok().handle();
    let first = apply(&mut client, &handle).ok();
    let after = folder.everything();
    apply(&mut client, &handle).assert_repeats(&first);
    assert_eq!(folder.everything(), after);
    folder.write("a.txt", "something else\n");
    // A lost reply is found again, whatever came after.
    apply(&mut client, &handle).assert_repeats(&first);
    assert_eq!(folder.text("a.txt"), "something else\n");
}

#[test]
fn one_handle_sent_many_times_at_once_edits_once() {
    let folder = Folder::with([("a.txt", "x\n")]);
    let mut client = serve(&folder);
    let handle = client.preview("str_replace", replacement("x", "xx")).ok().handle();
    let sent: Vec<u64> =
        (0..20).map(|_| client.send_call("apply_preview", json!({"preview": handle}))).collect();
    let answers: Vec<Answer> = sent.into_iter().map(|id| client.answer(id).ok()).collect();
    let (repeated, made): (Vec<&Answer>, Vec<&Answer>) =
        answers.iter().partition(|answer| answer.is_repeated());
    let [first] = made[..] else { panic!("{made:#?}") };
    repeated.iter().for_each(|answer| answer.assert_repeats(first));
    assert_eq!(folder.text("a.txt"), "xx\n");
}

#[test]
fn a_handle_that_nobody_got_is_unknown() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    let handle = client.preview("str_replace", replacement("one", "1")).ok().handle();
    apply(&mut client, "preview-00000000000000000000000000000000").refused("unknown-preview");
    apply(&mut client, "").refused("unknown-preview");
    apply(&mut client, &handle[..handle.len() - 1]).refused("unknown-preview");
    assert_eq!(folder.text("a.txt"), "one\n");
    apply(&mut client, &handle).ok();
}

#[test]
fn a_preview_outlives_its_server_and_is_applied_once_in_all() {
    let folder = Folder::with([("a.txt", "one\n2\n3\nfour\n"), ("b.txt", "b\n")]);
    let (mut before, mut after) = (serve_in_full(&folder), serve_in_full(&folder));
    let patch =
        client::patch("*** Update File: a.txt\n@@\n-one\n+1\n 2\n 3\n-four\n+4\n*** Add File: n.txt\n+n");
    let shown = before.preview("apply_patch", json!({"patch": patch})).ok();
    let done = apply(&mut after, &shown.handle()).ok();
    for same in ["diff", "changed_files", "bytes_changed", "files"] {
        assert_eq!(shown.structured[same], done.structured[same], "{same} is as it was shown");
    }
    for server in [&mut before, &mut after, &mut serve(&folder)] {
        let again = apply(server, &shown.handle()).ok();
        assert!(again.is_repeated() && again.structured["edit"] == done.structured["edit"]);
    }

    let patch = client::patch("*** Update File: a.txt\n@@\n-1\n+one\n@@\n-4\n+four");
    let shown = before.preview("apply_patch", json!({"patch": patch})).ok();
    let numbers = hunks(&shown, 0);
    apply_hunks(&mut before, &shown.handle(), &numbers[1..]).ok();
    assert_eq!(folder.text("a.txt"), "1\n2\n3\nfour\n");
    apply_hunks(&mut after, &shown.handle(), &numbers[..1]).refused("invalid-argument");

    let handle = before.preview("str_replace", replacement("four", "4")).ok().handle();
    folder.write("a.txt", "1\n2\n3\nfour\nfive\n");
    apply(&mut after, &handle).refused("stale-preview");
    assert_eq!(folder.text("a.txt"), "1\n2\n3\nfour\nfive\n");
}

#[test]
fn a_file_that_came_meanwhile_is_not_overwritten_by_the_preview_of_a_server_that_is_gone() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let (mut before, mut after) = (serve(&folder), serve(&folder));
    let handle = before.preview("write_file", json!({"path": "new.txt", "content": "ours\n"})).ok().handle();
    folder.write("new.txt", "theirs\n");
    after.read("new.txt");
    apply(&mut after, &handle).refused("unknown-preview");
    apply(&mut before, &handle).refused("stale-preview");
    assert_eq!(folder.text("new.txt"), "theirs\n");
}

#[test]
fn handles_are_long_and_never_the_same() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    let mut handle = || client.preview("str_replace", replacement("one", "1")).ok().handle();
    let (first, second) = (handle(), handle());
    let digits = |handle: &str| handle.bytes().filter(u8::is_ascii_hexdigit).count();
    assert!(first != second && digits(&first) >= 32, "128 bits: {first}");
}

#[test]
fn a_preview_is_refused_once_its_file_has_changed() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let mut client = serve(&folder);
    let handle = client.preview("str_replace", replacement("one", "1")).ok().handle();
    folder.write("a.txt", "one\ntwo\nmore\n");
    apply(&mut client, &handle).refused("stale-preview");
    assert_eq!(folder.text("a.txt"), "one\ntwo\nmore\n");
    folder.write("a.txt", "one\ntwo\n");
    apply(&mut client, &handle).refused("stale-preview");
}

#[test]
fn our_own_edit_makes_a_preview_stale_too() {
    let folder = Folder::with([("a.txt", "one\ntwo\n")]);
    let mut client = serve(&folder);
    let first = client.preview("str_replace", replacement("one", "1")).ok().handle();
    let second = client.preview("str_replace", replacement("two", "2")).ok().handle();
    apply(&mut client, &first).ok();
    apply(&mut client, &second).refused("stale-preview");
    assert_eq!(folder.text("a.txt"), "1\ntwo\n");
}

#[test]
fn a_touched_file_does_not_make_a_preview_stale() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    let handle = client.preview("str_replace", replacement("one", "1")).ok().handle();
    folder.write("copy", "one\n");
    std::fs::rename(folder.at("copy"), folder.at("a.txt")).unwrap();
    apply(&mut client, &handle).ok();
    assert_eq!(folder.text("a.txt"), "1\n");
}

#[test]
fn what_a_preview_would_create_must_still_be_missing_and_what_it_deletes_be_there() {
    let folder = Folder::with([("b.txt", "b\n"), ("c.txt", "c\n")]);
    let mut client = serve(&folder);
    client.read("b.txt");
    let mut preview =
        |inner: &str| client.preview("apply_patch", json!({"patch": client::patch(inner)})).ok().handle();
    let create = preview("*** Add File: x/a.txt\n+a");
    let delete = preview("*** Delete File: b.txt");
    let move_over = preview("*** Move File: c.txt -> d.txt");
    folder.write("x/a.txt", "theirs\n");
    std::fs::remove_file(folder.at("b.txt")).unwrap();
    folder.write("d.txt", "theirs\n");
    let before = folder.tree();
    for handle in [create, delete, move_over] {
        apply(&mut client, &handle).refused("stale-preview");
    }
    assert_eq!(folder.tree(), before);
}

#[test]
fn some_hunks_of_a_preview_can_be_applied() {
    let folder = Folder::with([("a.txt", "1\n2\n3\n"), ("b.txt", "4\n")]);
    let mut client = serve(&folder);
    let patch = client::patch(
        "*** Update File: a.txt\n@@\n-1\n+one\n@@\n-2\n+two\n@@\n-3\n+three\n*** Update File: b.txt\n@@\n-4\n+four\n\
         *** Add File: c.txt\n+five",
    );
    let shown = client.preview("apply_patch", json!({"patch": patch})).ok();
    assert_eq!((hunks(&shown, 0), hunks(&shown, 1), hunks(&shown, 2)), (vec![1, 2, 3], vec![4], vec![5]));
    let done = apply_hunks(&mut client, &shown.handle(), &[1, 3, 5]).ok();
    let after = Folder::with([("a.txt", "one\n2\nthree\n"), ("b.txt", "4\n"), ("c.txt", "five\n")]);
    assert_eq!(folder.tree(), after.tree());
    assert_eq!(done.structured["changed_files"], json!(["a.txt", "c.txt"]));
    assert_eq!(done.structured["files"][0]["version_after"], client.read("a.txt").version());
    // The handle is used.
    apply_hunks(&mut client, &shown.handle(), &[1, 3, 5]).assert_repeats(&done);
    apply(&mut client, &shown.handle()).refused("invalid-argument");
    assert_eq!(folder.tree(), after.tree(), "the other hunks are not written after the fact");
}

#[test]
fn some_edits_of_a_list_can_be_applied() {
    let folder = Folder::with([("a.txt", "1 2 3\n")]);
    let mut client = serve(&folder);
    let edits = json!({"path": "a.txt", "edits": [
        {"old_string": "1", "new_string": "one"},
        {"old_string": "2", "new_string": "two"},
        {"old_string": "3", "new_string": "three"},
    ]});
    let handle = client.preview("str_replace", edits).ok().handle();
    apply_hunks(&mut client, &handle, &[2]).ok();
    assert_eq!(folder.text("a.txt"), "1 two 3\n");
}

#[test]
fn a_hunk_that_is_not_there_leaves_the_preview_usable() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    let handle = client.preview("str_replace", replacement("one", "1")).ok().handle();
    apply_hunks(&mut client, &handle, &[2]).refused("invalid-argument");
    apply_hunks(&mut client, &handle, &[1, 2]).refused("invalid-argument");
    apply_hunks(&mut client, &handle, &[]).refused("invalid-argument");
    apply_hunks(&mut client, &handle, &[0]).refused("invalid-argument");
    assert_eq!(folder.text("a.txt"), "one\n");
    apply_hunks(&mut client, &handle, &[1]).ok();
    assert_eq!(folder.text("a.txt"), "1\n");
}

#[test]
fn hunks_that_build_on_each_other_are_never_torn_apart() {
    let folder = Folder::with([("a.txt", "1\n2\n")]);
    let mut client = serve(&folder);
    let patch = client::patch("*** Update File: a.txt\n@@\n-1\n+one\n*** Update File: a.txt\n@@\n-one\n+ONE");
    let shown = client.preview("apply_patch", json!({"patch": patch})).ok();
    let handle = shown.handle();
    for hunk in hunks(&shown, 0) {
        apply_hunks(&mut client, &handle, &[hunk]).refused("invalid-argument");
        assert_eq!(folder.text("a.txt"), "1\n2\n");
    }
    apply_hunks(&mut client, &handle, &hunks(&shown, 0)).ok();
    assert_eq!(folder.text("a.txt"), "ONE\n2\n");
}

#[test]
fn an_edit_that_would_be_refused_has_no_preview() {
    let folder = Folder::with([("a.txt", "x x\n")]);
    let mut client = serve(&folder);
    for (tool, arguments, code) in [
        ("str_replace", replacement("x", "y"), "ambiguous-match"),
        ("str_replace", replacement("z", "y"), "search-not-found"),
        ("apply_patch", json!({"patch": client::patch("*** Delete File: a.txt")}), "not-read"),
        ("apply_patch", json!({"patch": "nothing"}), "invalid-format"),
        ("write_file", json!({"path": "a.txt", "content": "y"}), "not-read"),
        ("write_file", json!({"path": "../a.txt", "content": "y"}), "path-outside-workspace"),
        ("apply_preview", json!({}), "invalid-argument"),
    ] {
        let answer = client.preview(tool, arguments).refused(code);
        assert!(answer.structured.get("preview").is_none());
    }
}

#[test]
fn a_forgotten_preview_is_unknown_and_the_newest_hundred_are_not() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    let handles: Vec<String> =
        (0..101).map(|_| client.preview("str_replace", replacement("one", "1")).ok().handle()).collect();
    apply(&mut client, &handles[0]).refused("unknown-preview");
    apply(&mut client, &handles[1]).ok();
    apply(&mut client, &handles[100]).refused("stale-preview");
}

#[test]
fn half_of_a_move_is_not_applied() {
    let folder = Folder::with([("a.txt", "a\n"), ("b.txt", "b\n")]);
    let mut client = serve(&folder);
    client.read("b.txt");
    let patch = client::patch("*** Delete File: b.txt\n*** Move File: a.txt -> b.txt");
    let handle = client.preview("apply_patch", json!({"patch": patch})).ok().handle();
    let before = folder.tree();
    apply_hunks(&mut client, &handle, &[1]).refused("invalid-argument");
    apply_hunks(&mut client, &handle, &[2]).refused("invalid-argument");
    assert_eq!(folder.tree(), before);
    apply(&mut client, &handle).ok();
    assert_eq!(folder.tree(), Folder::with([("b.txt", "a\n")]).tree());
    // What came from a.txt was never read.
    client.patch("*** Delete File: b.txt").refused("not-read");
}

#[test]
fn where_edits_are_only_shown_no_handle_promises_more() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = launch(&folder).argument("--mode").argument("preview").legacy();
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "two"});
    let shown = client.preview("str_replace", edit).ok();
    assert!(shown.structured.get("preview").is_none());
    assert!(!shown.text.contains("apply_preview"), "{}", shown.text);
    assert!(shown.text.contains("+two"));
}

#[test]
fn the_arguments_of_the_tool_may_stand_below_a_name_of_their_own() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve_in_full(&folder);
    let call = json!({"tool": "str_replace", "arguments": replacement("one", "1")});
    let handle = client.call("edit_preview", call).ok().handle();
    apply_hunks(&mut client, &handle, &[1]).ok();
    assert_eq!(folder.text("a.txt"), "1\n");
}
