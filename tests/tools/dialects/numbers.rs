//! Line numbers in the dialects, whose tools name no version: they count where the client was shown them.

use emend_testkit::{Client, Folder};
use serde_json::json;

use super::speaking;

fn numbered(lines: std::ops::RangeInclusive<usize>) -> String {
    lines.map(|line| format!("line {line}\n")).collect()
}

fn insert(client: &mut Client, line: usize, text: &str) -> emend_testkit::Answer {
    let call = json!({"command": "insert", "path": "a.txt", "insert_line": line, "insert_text": text});
    client.call("str_replace_based_edit_tool", call)
}

fn view(client: &mut Client, range: [i64; 2]) {
    let call = json!({"command": "view", "path": "a.txt", "view_range": range});
    client.call("str_replace_based_edit_tool", call).ok();
}

#[test]
fn a_view_of_a_few_lines_shows_no_other_numbers() {
    let folder = Folder::with([("a.txt", &numbered(1..=40))]);
    let mut client = speaking(&folder, "text-editor");
    view(&mut client, [1, -1]);
    let now = format!("x\nx\nx\n{}", numbered(1..=40));
    folder.write("a.txt", &now);
    view(&mut client, [42, 43]);
    insert(&mut client, 10, "new\n").refused("not-read");
    assert_eq!(folder.read("a.txt"), now.as_bytes());
    insert(&mut client, 42, "new\n").ok();
    assert_eq!(folder.read("a.txt"), now.replace("line 39\n", "line 39\nnew\n").as_bytes());
}

#[test]
fn numbers_below_an_own_edit_are_counted_anew() {
    let folder = Folder::with([("a.txt", &numbered(1..=20))]);
    let mut client = speaking(&folder, "text-editor");
    view(&mut client, [1, -1]);
    insert(&mut client, 12, "twelve\n").ok();
    insert(&mut client, 2, "two\n").ok();
    let now = numbered(1..=20).replace("line 12\n", "line 12\ntwelve\n").replace("line 2\n", "line 2\ntwo\n");
    assert_eq!(folder.read("a.txt"), now.as_bytes(), "numbers above an edit are what they were");
    // It may have been sent before the answer to the one before.
    insert(&mut client, 10, "ten\n").refused("not-read");
    assert_eq!(folder.read("a.txt"), now.as_bytes());
    client.replace("a.txt", "line 15", "line fifteen").ok();
    insert(&mut client, 1, "one\n").ok();
    view(&mut client, [1, -1]);
    insert(&mut client, 22, "last\n").ok();
    assert!(folder.read("a.txt").ends_with(b"line 19\nlast\nline 20\n"), "{:?}", folder.read("a.txt"));
}

#[test]
fn an_edit_that_moves_no_line_leaves_all_numbers() {
    let folder = Folder::with([("a.txt", &numbered(1..=20))]);
    let mut client = speaking(&folder, "text-editor");
    view(&mut client, [1, -1]);
    client.replace("a.txt", "line 15", "line fifteen").ok();
    insert(&mut client, 18, "new\n").ok();
    assert_eq!(
        folder.read("a.txt"),
        numbered(1..=20).replace("line 15", "line fifteen").replace("line 18\n", "line 18\nnew\n").as_bytes()
    );
}

#[test]
fn a_number_chooses_among_equal_places_only_where_its_line_was_shown() {
    let blocks: String = (1..=5).map(|block| format!("# {block}\nx = 1\n# end\n")).collect();
    let roo = |line: usize| {
        let diff =
            format!("<<<<<<< SEARCH\n:start_line:{line}\n-------\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n");
        ("apply_diff", json!({"path": "a.txt", "diff": diff}))
    };
    let aider = |line: usize| {
        let diff = format!("--- a.txt\n+++ a.txt\n@@ -{line},1 +{line},1 @@\n-x = 1\n+x = 2\n");
        ("apply_patch", json!({"patch": diff, "format": "udiff"}))
    };
    for dialect in ["roo", "aider"] {
        let folder = Folder::with([("a.txt", &blocks)]);
        let mut client = speaking(&folder, dialect);
        let send = |client: &mut Client, line: usize| {
            let (tool, arguments) = if dialect == "roo" { roo(line) } else { aider(line) };
            client.call(tool, arguments)
        };
        send(&mut client, 8).refused("ambiguous-match");
        client.read("a.txt");
        send(&mut client, 8).ok();
        let changed = blocks.replace("# 3\nx = 1", "# 3\nx = 2");
        assert_eq!(folder.read("a.txt"), changed.as_bytes(), "{dialect}");
        // Another program writes, and the client reads another part alone.
        folder.write("a.txt", format!("top\n\n\n\n\n\n{changed}"));
        client.call("read_file", json!({"path": "a.txt", "offset": 1, "limit": 2})).ok();
        send(&mut client, 14).refused("ambiguous-match");
    }
}
