//! Formatters: the formatted text is shown, written, kept and read next, in one edit. A formatter that fails does not
//! make the edit fail.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use emend_testkit::{Answer, Client, Folder, Launch, client::patch};
use serde_json::json;

use crate::launch;
use crate::policy::approval;
use crate::policy::hooks::{configured, fired, notes, program};

/// One blank on either side of each equals sign.
const SPACED: &str = "sed 's/ *= */ = /g'";

/// A server whose person has `*.txt` formatted by this script.
fn formatting(folder: &Folder, script: &str) -> Launch {
    let command = program(folder, "fmt", script);
    configured(folder, &format!("[[hooks.format]]\nname = 'fmt'\nfiles = ['*.txt']\ntimeout = 20\n{command}"))
}

fn undo(client: &mut Client) -> Answer {
    client.call("undo_edit", json!({}))
}

#[test]
fn the_formatted_text_is_one_edit_in_the_diff_the_history_and_the_file() {
    let folder = Folder::with([("a.txt", "x = 1\ny = 2\n"), ("a.md", "x=1\n")]);
    let mut client = formatting(&folder, SPACED).legacy();
    client.read("a.txt");
    let edited = client.replace("a.txt", "y = 2", "y=3\nz=4").ok();
    assert_eq!(folder.text("a.txt"), "x = 1\ny = 3\nz = 4\n");
    assert_eq!(fired(&edited), ["format:fmt"]);
    assert!(edited.structured["diff"].as_str().unwrap().contains("+z = 4"));
    assert_eq!(edited.version(), client.read("a.txt").version());
    let past = client.call("edit_history", json!({"edit": edited.structured["edit"]}));
    assert!(past.text.contains("+z = 4") && !past.text.contains("+z=4"));
    // An undo restores bytes; other files are as they are sent.
    undo(&mut client).ok();
    assert_eq!(folder.text("a.txt"), "x = 1\ny = 2\n");
    let other = client.replace("a.md", "x=1", "x=2").ok();
    assert_eq!((folder.text("a.md").as_str(), fired(&other)), ("x=2\n", Vec::new()));
}

#[test]
fn what_is_deleted_moved_or_taken_back_is_not_formatted() {
    let folder = Folder::with([("a.txt", "x=1\n"), ("b.txt", "y=1\n")]);
    let mut client = formatting(&folder, SPACED).legacy();
    let moved = client.call("move_file", json!({"from": "a.txt", "to": "c.txt"})).ok();
    assert_eq!((folder.text("c.txt").as_str(), fired(&moved)), ("x=1\n", Vec::new()));
    client.read("b.txt");
    client.call("delete_file", json!({"path": "b.txt"})).ok();
    assert!(fired(&undo(&mut client).ok()).is_empty());
    assert_eq!(folder.text("b.txt"), "y=1\n");
    client.patch("*** Update File: c.txt\n*** Move to: d.txt\n@@\n-x=1\n+x=2").ok();
    assert_eq!(folder.text("d.txt"), "x = 2\n");
    client.call("write_file", json!({"path": "new.txt", "content": "n=1\n"})).ok();
    assert_eq!(folder.text("new.txt"), "n = 1\n");
}

#[test]
fn ten_edits_in_a_row_are_never_stale() {
    let folder = Folder::with([("text.txt", "x = 0\nend\n"), ("lines.txt", "x = 0\nend\n")]);
    let long: String = (0..3000).map(|i| format!("line {i}\n")).collect();
    folder.write("long.txt", format!("x = 0\n{long}"));
    let mut client = formatting(&folder, SPACED).legacy();
    client.read("text.txt");
    let mut version = client.read("lines.txt").version();
    client.call("read_file", json!({"path": "long.txt", "limit": 3})).ok();
    let mut long_version = None;
    for i in 1..=10 {
        let (old, new) = (format!("x = {}", i - 1), format!("x={i}"));
        client.replace("text.txt", &old, &new).ok();
        let numbered = json!({"path": "lines.txt", "version": version, "start_line": 1, "end_line": 1,
                              "new_text": format!("x={i}\n")});
        version = client.call("replace_lines", numbered).ok().version();
        let mut partly = json!({"path": "long.txt", "old_string": old, "new_string": new});
        // Every second time with the version that the answer named.
        if let Some(version) = long_version.take_if(|_| i % 2 == 0) {
            partly["version"] = json!(version);
        }
        long_version = Some(client.call("str_replace", partly).ok().version());
    }
    for name in ["text.txt", "lines.txt", "long.txt"] {
        assert!(folder.text(name).starts_with("x = 10\n"), "{name}");
    }
    // Who has given or read all of it may replace all of it.
    for i in 0..3 {
        client.call("write_file", json!({"path": "text.txt", "content": format!("whole={i}\n")})).ok();
    }
    assert_eq!(folder.text("text.txt"), "whole = 2\n");
}

#[test]
fn edits_of_one_file_at_once_all_land() {
    let lines: String = (0..24).map(|i| format!("line {i} = old\n")).collect();
    let folder = Folder::with([("a.txt", &lines)]);
    let launch = formatting(&folder, SPACED);
    let mut clients = [launch.legacy(), launch.legacy()];
    let edit = |i: usize| json!({"path": "a.txt", "old_string": format!("line {i} = old"), "new_string": format!("line {i}=new")});
    let sent: Vec<(usize, u64)> =
        (0..24).map(|i| (i % 2, clients[i % 2].send_call("str_replace", edit(i)))).collect();
    for (client, id) in sent {
        clients[client].answer(id).ok();
    }
    assert_eq!(folder.text("a.txt"), lines.replace("old", "new"));
}

#[test]
fn a_formatter_that_fails_is_left_out_and_told() {
    for (script, why) in [
        ("sleep 1000", "hangs"),
        ("yes", "floods"),
        ("kill -9 $$", "dies"),
        ("cat; exit 2", "is not content"),
        ("cat > /dev/null", "says nothing"),
        ("printf '\\377\\376\\375'", "talks rubbish"),
    ] {
        let folder = Folder::with([("a.txt", "x = 1\n")]);
        let timeout = if why == "hangs" { "0.3" } else { "20" };
        let (bad, good) = (program(&folder, "bad", script), program(&folder, "good", SPACED));
        let text = format!(
            "[[hooks.format]]\nname = 'bad'\ntimeout = {timeout}\n{bad}\n[[hooks.format]]\nname = 'good'\n{good}"
        );
        let mut client = configured(&folder, &text).legacy();
        let edited = client.replace("a.txt", "x = 1", "x=2").ok();
        assert_eq!(folder.text("a.txt"), "x = 2\n", "it {why}");
        assert_eq!(fired(&edited), ["format:bad", "format:good"], "it {why}");
        assert!(notes(&edited).iter().any(|note| note.contains("bad") && note.contains("a.txt")), "it {why}");
    }
}

#[test]
fn a_formatter_that_is_not_there_or_in_the_workspace_is_not_run() {
    let folder = Folder::with([("a.txt", "x = 1\n"), ("my-fmt", "#!/bin/sh\nsed s/x/WRONG/\n")]);
    fs::set_permissions(folder.at("my-fmt"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let inside = folder.at("my-fmt").display().to_string();
    for command in [inside.as_str(), "no-such-program", "my-fmt"] {
        let text = format!("[[hooks.format]]\nname = 'mine'\ncommand = ['{command}']");
        let path = format!("{}:/bin", folder.path().display());
        let mut client = configured(&folder, &text).variable("PATH", path).legacy();
        for (old, new) in [("1", "2"), ("2", "1")] {
            let edited = client.replace("a.txt", old, new).ok();
            assert!(fired(&edited).is_empty());
            assert!(notes(&edited).iter().any(|note| note.contains("mine")), "{command}");
        }
        assert_eq!(folder.text("a.txt"), "x = 1\n");
    }
}

#[test]
fn the_encoding_the_mark_and_the_line_endings_stay_the_files() {
    let folder = Folder::with([("crlf.txt", "\u{feff}x = 1\r\ny = 1\r\n")]);
    let utf_16 = |text: &str| -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
    };
    folder.write("wide.txt", utf_16("x = 1\nü\n"));
    let mut client = formatting(&folder, &format!("tr -d '\\r' | {SPACED}")).legacy();
    client.replace("crlf.txt", "x = 1", "x=2").ok();
    assert_eq!(folder.text("crlf.txt"), "\u{feff}x = 2\r\ny = 1\r\n");
    client.replace("wide.txt", "x = 1", "x=漢").ok();
    assert_eq!(folder.read("wide.txt"), utf_16("x = 漢\nü\n"));
}

#[test]
fn what_is_previewed_is_formatted_and_applying_it_formats_nothing_again() {
    let folder = Folder::with([("a.txt", "x = 1\n"), ("b.txt", "y = 1\nmiddle\nz = 1\n"), ("c.md", "c\n")]);
    // It says something else each time.
    let script = format!("echo >> \"$0.count\"; {SPACED}; wc -l < \"$0.count\"");
    let mut client = formatting(&folder, &script).argument("--answers=full").legacy();
    let before = folder.tree();
    let shown =
        client.preview("str_replace", json!({"path": "a.txt", "old_string": "x = 1", "new_string": "x=2"}));
    let shown = shown.ok();
    assert_eq!(folder.tree(), before);
    let done = client.call("apply_preview", json!({"preview": shown.handle()})).ok();
    assert_eq!(shown.structured["diff"], done.structured["diff"]);
    assert_eq!(folder.text("a.txt"), "x = 2\n1\n");
    assert_eq!(fs::read(folder.beside("fmt.count")).unwrap(), b"\n");

    // Of a formatted file all hunks or none; others are free.
    let several = patch(
        "*** Update File: b.txt\n@@\n-y = 1\n+y=2\n@@\n-z = 1\n+z=2\n*** Update File: c.md\n@@\n-c\n+C",
    );
    let shown = client.preview("apply_patch", json!({"patch": several})).ok();
    let mut apply = |hunks| client.call("apply_preview", json!({"preview": shown.handle(), "hunks": hunks}));
    apply(json!([1])).refused("invalid-argument");
    apply(json!([1, 2])).ok();
    assert_eq!(folder.text("b.txt"), "y = 2\nmiddle\nz = 2\n2\n");
    assert_eq!(folder.text("c.md"), "c\n");
}

#[test]
fn an_edit_that_a_formatter_undoes_is_no_edit() {
    let folder = Folder::with([("a.txt", "x = 1\n"), ("b.txt", "y = 1\n")]);
    let mut client = formatting(&folder, SPACED).legacy();
    let before = folder.tree();
    client.replace("a.txt", "x = 1", "x  =  1").refused("no-op");
    let layout = json!({"path": "a.txt", "old_string": "x = 1", "new_string": "x=1"});
    client.preview("str_replace", layout).refused("no-op");
    assert_eq!(folder.tree(), before);
    let both = "*** Update File: a.txt\n@@\n-x = 1\n+x=1\n*** Update File: b.txt\n@@\n-y = 1\n+y=2";
    let edited = client.patch(both).ok();
    assert_eq!(edited.structured["changed_files"], json!(["b.txt"]));
    assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("x = 1\n".into(), "y = 2\n".into()));
}

#[test]
fn formatters_run_in_their_order_and_know_where_they_are() {
    let folder = Folder::with([("sub/a.txt", "1\n"), ("sub/-b.txt", "1\n")]);
    let one = program(&folder, "one", "cat; echo $1; echo $2; echo $3; pwd");
    let one = one.replace(']', ", '{path}', '{file}', '--at={root}']");
    let two = program(&folder, "two", "cat; echo two");
    let text = format!("[[hooks.format]]\n{one}\n[[hooks.format]]\n{two}");
    let mut client = configured(&folder, &text).legacy();
    client.replace("sub/a.txt", "1", "2").ok();
    let root = folder.path().display().to_string();
    let expected = format!("2\nsub/a.txt\n{root}/sub/a.txt\n--at={root}\n{root}\ntwo\n");
    assert_eq!(folder.text("sub/a.txt"), expected);
}

#[test]
fn what_a_person_approves_is_the_formatted_text() {
    let folder = Folder::with([("a.txt", "x = 1\n")]);
    let mut client = formatting(&folder, SPACED).argument("--mode").argument("ask").legacy();
    client.replace("a.txt", "x = 1", "x=2").refused("approval-needed");
    // The words that differ inside a line are inverted.
    let codes = ["\x1b[0m", "\x1b[7m", "\x1b[31m", "\x1b[32m"];
    let shown = codes.iter().fold(approval::say(&folder, "y"), |shown, code| shown.replace(code, ""));
    assert!(shown.contains("+x = 2"), "{shown}");
    client.replace("a.txt", "x = 1", "x=2").ok();
    assert_eq!(folder.text("a.txt"), "x = 2\n");
}

#[test]
fn without_formatters_nothing_is_formatted() {
    let folder = Folder::with([("a.txt", "x = 1\n")]);
    let edited = launch(&folder).legacy().replace("a.txt", "x = 1", "x=2").ok();
    assert_eq!((folder.text("a.txt").as_str(), fired(&edited)), ("x=2\n", Vec::new()));
}

#[test]
fn a_formatter_finds_no_program_in_the_workspace() {
    let folder = Folder::with([("a.txt", "old\n"), ("bin/interpreter", "#!/bin/sh\necho theirs\n")]);
    let theirs = folder.path().join("bin/interpreter");
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o755)).unwrap();
    // By its absolute name, and by one that depends on the working folder.
    for search in
        [format!("{}:/usr/bin:/bin", theirs.parent().unwrap().display()), "bin:/usr/bin:/bin".into()]
    {
        let launch = formatting(&folder, "exec interpreter").variable("PATH", search);
        let mut client = launch.legacy();
        let edited = client.call("write_file", json!({"path": "b.txt", "content": "new\n"})).ok();
        assert_eq!(folder.text("b.txt"), "new\n");
        assert!(notes(&edited)[0].contains("left out"));
        undo(&mut client).ok();
    }
}

#[test]
fn nobody_is_asked_for_ever_about_what_is_formatted_otherwise_each_time() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let script = "cat; echo >> \"$0.runs\"; wc -l < \"$0.runs\"";
    let launch = formatting(&folder, script).argument("--mode").argument("ask").asking();
    let mut client = launch.legacy();
    let edit =
        client.send_call("str_replace", json!({"path": "a.txt", "old_string": "one", "new_string": "1"}));
    for _ in 0..5 {
        let asked = client.wait_for_request();
        client.respond(&asked, json!({"action": "accept", "content": {"approve": true}}));
    }
    client.answer(edit).refused("approval-needed");
    assert_eq!(folder.text("a.txt"), "one\n");
}
