//! Files that are not UTF-8. They are read and edited as text, every byte outside an edit stays, and characters that
//! the encoding lacks are refused.

use emend_edit::Version;
use emend_testkit::client::patch;
use emend_testkit::{Client, Folder};
use serde_json::json;

use crate::serve_in_full;

fn utf_16le(text: &str) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// In Shift_JIS: `# 設定ファイル`, `名前 = "日本語のテスト"`, `END = 1`.
const SHIFT_JIS: &[u8] = b"# \x90\xdd\x92\xe8\x83t\x83@\x83C\x83\x8b\r\n\
\x96\xbc\x91O = \"\x93\xfa\x96{\x8c\xea\x82\xcc\x83e\x83X\x83g\"\r\nEND = 1";

const LATIN_1: &[u8] = b"caf\xe9 = 1\r\nth\xe9 = 2\nend";

/// A workspace with a file of these bytes, and a client that has read it as this encoding.
#[track_caller]
fn read(bytes: &[u8], encoding: &str) -> (Folder, Client) {
    let folder = Folder::with([("other.txt", "untouched\n")]);
    folder.write("a.txt", bytes);
    let mut client = serve_in_full(&folder);
    let answer = client.read("a.txt");
    assert!(answer.text.lines().next().unwrap().contains(&format!(" {encoding} ")), "{}", answer.text);
    assert_eq!(answer.version(), Version::hash(bytes).short());
    (folder, client)
}

/// Replaces `old` by `new`, once as a replacement and once as a patch of that line. Both make `after` of the
/// file and say so.
#[track_caller]
fn check(before: &[u8], encoding: &str, old: &str, new: &str, after: &[u8]) {
    for by_patch in [false, true] {
        let (folder, mut client) = read(before, encoding);
        let answer = if by_patch {
            client.patch(&format!("*** Update File: a.txt\n@@\n-{old}\n+{new}"))
        } else {
            client.replace("a.txt", old, new)
        };
        let file = answer.ok().structured["files"][0].clone();
        assert_eq!(folder.read("a.txt"), after, "by_patch: {by_patch}");
        assert_eq!(file["version_before"], Version::hash(before).short());
        assert_eq!(file["version_after"], Version::hash(after).short());
        assert_eq!(client.read("a.txt").version(), Version::hash(after).short());
    }
}

/// An edit of this file is refused, and nothing changes.
#[track_caller]
fn check_refused(before: &[u8], encoding: &str, old: &str, new: &str) {
    let (folder, mut client) = read(before, encoding);
    let tree = folder.everything();
    let answer = client.replace("a.txt", old, new).refused("not-encodable");
    assert_eq!(answer.problems()[0]["hunk"], 1);
    let inner =
        format!("*** Update File: other.txt\n@@\n-untouched\n+x\n*** Update File: a.txt\n@@\n-{old}\n+{new}");
    let answer = client.patch(&inner).refused("not-encodable");
    assert_eq!((&answer.problems()[0]["path"], &answer.problems()[0]["hunk"]), (&json!("a.txt"), &json!(2)));
    client.preview("write_file", json!({"path": "a.txt", "content": new})).refused("not-encodable");
    assert_eq!(folder.everything(), tree);
}

#[test]
fn utf_16_is_edited_with_its_mark_and_line_endings() {
    let (before, after) =
        ("[Version]\r\nName=Zo\u{eb}\r\nlast", "[Version]\r\nName=\u{1f600}\u{6f22}\r\nlast");
    check(&utf_16le(before), "utf-16le", "Name=Zo\u{eb}", "Name=\u{1f600}\u{6f22}", &utf_16le(after));
}

#[test]
fn latin_1_is_edited_in_latin_1() {
    check(
        LATIN_1,
        "windows-1252",
        "th\u{e9} = 2",
        "na\u{ef}vet\u{e9} = 2",
        b"caf\xe9 = 1\r\nna\xefvet\xe9 = 2\nend",
    );
    check_refused(LATIN_1, "windows-1252", "th\u{e9} = 2", "tea \u{2192} 2");
}

#[test]
fn shift_jis_is_edited_in_shift_jis() {
    let after = [&SHIFT_JIS[..SHIFT_JIS.len() - 1], b"\x83\\\x81[\x83X"].concat();
    check(SHIFT_JIS, "shift_jis", "END = 1", "END = ソース", &after);
    check_refused(SHIFT_JIS, "shift_jis", "END = 1", "END = \u{e9}");
    // It would be written as a backslash.
    check_refused(SHIFT_JIS, "shift_jis", "END = 1", "END = \u{a5}");
}

#[test]
fn every_hunk_that_cannot_be_written_is_told() {
    let (folder, mut client) = read(LATIN_1, "windows-1252");
    let inner = "*** Update File: a.txt\n@@\n-caf\u{e9} = 1\n+\u{6f22}\n@@\n-end\n+\u{5b57}";
    assert_eq!(client.patch(inner).codes(), ["not-encodable"; 2]);
    assert_eq!(folder.read("a.txt"), LATIN_1);
}

#[test]
fn a_whole_file_that_is_replaced_keeps_its_encoding() {
    let (folder, mut client) = read(&utf_16le("one\r\ntwo\r\n"), "utf-16le");
    client.call("write_file", json!({"path": "a.txt", "content": "one\nzw\u{e9}i\n"})).ok();
    assert_eq!(folder.read("a.txt"), utf_16le("one\r\nzw\u{e9}i\r\n"));
    // What was written was seen.
    client.call("write_file", json!({"path": "a.txt", "content": "1\n"})).ok();
    assert_eq!(folder.read("a.txt"), utf_16le("1\r\n"));
}

#[test]
fn sections_that_follow_each_other_keep_the_encoding() {
    let (folder, mut client) = read(LATIN_1, "windows-1252");
    client
        .patch(
            "*** Update File: a.txt\n@@\n-caf\u{e9} = 1\n+caf\u{e9} = \u{20ac}1\n*** Update File: a.txt\n@@\n-caf\u{e9} = \
             \u{20ac}1\n+x\n*** Move File: a.txt -> b.txt",
        )
        .ok();
    assert_eq!(folder.read("b.txt"), b"x\r\nth\xe9 = 2\nend");
    assert!(!folder.has("a.txt"));
}

#[test]
fn a_file_that_takes_the_place_of_another_brings_its_encoding() {
    let (folder, mut client) = read(LATIN_1, "windows-1252");
    folder.write("b.txt", utf_16le("z\u{eb}\r\n"));
    client.read("b.txt");
    client.patch("*** Delete File: a.txt\n*** Move File: b.txt -> a.txt").ok();
    assert_eq!(folder.read("a.txt"), utf_16le("z\u{eb}\r\n"));
    // Even where both have the same characters.
    folder.write("b.txt", "\u{feff}z\u{eb}\r\n");
    let version = client.read("a.txt").meta["emend/version"].clone();
    let moving = patch("*** Delete File: a.txt\n*** Move File: b.txt -> a.txt");
    let answer = client.call("apply_patch", json!({"patch": moving, "versions": {"a.txt": version}})).ok();
    assert_eq!(answer.structured["notes"].as_array().unwrap().len(), 1, "{}", answer.text);
    assert_eq!(folder.text("a.txt"), "\u{feff}z\u{eb}\r\n");
}

#[test]
fn a_file_whose_old_name_is_taken_brings_its_encoding() {
    let (folder, mut client) = read(LATIN_1, "windows-1252");
    client
        .patch(
            "*** Update File: a.txt\n*** Move to: b.txt\n@@\n-end\n+\u{e9}nd\n*** Add File: a.txt\n+\u{6f22}",
        )
        .ok();
    assert_eq!(folder.read("b.txt"), b"caf\xe9 = 1\r\nth\xe9 = 2\n\xe9nd");
    assert_eq!(folder.text("a.txt"), "\u{6f22}\n");
}

#[test]
fn an_edit_after_which_the_encoding_would_be_guessed_anew_says_so() {
    let (folder, mut client) = read(LATIN_1, "windows-1252");
    let answer =
        client.patch("*** Update File: a.txt\n@@\n-caf\u{e9} = 1\n-th\u{e9} = 2\n+\u{c3}\u{a9} = 1").ok();
    assert_eq!(folder.read("a.txt"), b"\xc3\xa9 = 1\r\nend");
    assert_eq!(answer.structured["notes"].as_array().unwrap().len(), 1, "{}", answer.text);
    let (_folder, mut client) = read(LATIN_1, "windows-1252");
    let answer = client.patch("*** Update File: a.txt\n@@\n-caf\u{e9} = 1\n-th\u{e9} = 2\n+tea").ok();
    assert!(answer.structured.get("notes").is_none(), "ASCII is the same in both");
}

#[test]
fn an_edit_after_which_it_would_be_no_text_is_refused() {
    let (folder, mut client) = read(LATIN_1, "windows-1252");
    client.replace("a.txt", "end", "\u{1}\u{2}\u{3}\u{4}").refused("not-text");
    assert_eq!(folder.read("a.txt"), LATIN_1);
}

#[test]
fn a_preview_is_applied_in_the_encoding() {
    let (folder, mut client) = read(LATIN_1, "windows-1252");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-caf\u{e9} = 1\n+\u{e9}\n@@\n-end\n+\u{e0}\n*** End Patch";
    let preview = client.preview("apply_patch", json!({"patch": patch})).ok();
    client.call("apply_preview", json!({"preview": preview.handle(), "hunks": [2]})).ok();
    assert_eq!(folder.read("a.txt"), b"caf\xe9 = 1\r\nth\xe9 = 2\n\xe0");
}

#[test]
fn a_change_from_outside_is_shown_as_text() {
    let (folder, mut client) = read(&utf_16le("one\ntw\u{f6}\n"), "utf-16le");
    folder.write("a.txt", utf_16le("one\ntw\u{e4}\n"));
    let answer = client.replace("a.txt", "one", "1").refused("stale-file");
    assert!(answer.text.contains("-tw\u{f6}\n+tw\u{e4}\n"), "{}", answer.text);
    client.replace("a.txt", "one", "1").ok();
    assert_eq!(folder.read("a.txt"), utf_16le("1\ntw\u{e4}\n"));
}

#[test]
fn bytes_that_are_no_utf_8_stay_in_a_file_that_is_otherwise() {
    let before = ["Gr\u{fc}\u{df}e aus \u{6f22}\u{5b57}\n".as_bytes(), b"bad \xff byte\nend\n"].concat();
    let after =
        ["Gr\u{fc}\u{df}e aus \u{6f22}\u{5b57}\n".as_bytes(), b"bad \xff byte\n\xe2\x86\x92\n"].concat();
    check(&before, "utf-8 with invalid bytes", "end", "\u{2192}", &after);
}
