//! Calls as the models of each system make them, most of them from the tests of that system, and what becomes of them.

use emend_testkit::Folder;
use serde_json::{Value, json};

use super::speaking;

/// What becomes of the file: its content, or the code of the refusal, which leaves it.
type Outcome = Result<&'static str, &'static str>;

/// A call on `f.txt` with this content lands or is refused, in the dialect and, by the same names, in our own.
#[track_caller]
fn check(dialect: &str, before: &str, (tool, arguments): (&str, Value), expected: Outcome, words: &str) {
    for listed in [dialect, "emend"] {
        let folder = Folder::with([("f.txt", before)]);
        let mut client = speaking(&folder, listed);
        let answer = client.call(tool, arguments.clone());
        match expected {
            Ok(after) => {
                let answer = answer.ok();
                assert_eq!(folder.text("f.txt"), after, "{listed}: {tool}");
                assert!(listed == "emend" || answer.text.contains(words), "{listed}: {}", answer.text);
            }
            Err(code) => {
                let answer = answer.refused(code);
                assert_eq!(folder.text("f.txt"), before, "{listed}: {tool}");
                assert!(listed == "emend" || answer.text.starts_with(words), "{listed}: {}", answer.text);
            }
        }
    }
}

#[test]
fn codex() {
    let patch = |hunk: &str| {
        let text = format!("*** Begin Patch\n*** Update File: f.txt\n@@\n{hunk}\n*** End Patch");
        ("apply_patch", json!({"input": text}))
    };
    let check = |before, call, expected, words| check("codex", before, call, expected, words);
    let done = "Success. Updated the following files:\nM f.txt\n     1\ta\n     2\tB\n     3\tc\n";
    check("a\nb\nc\n", patch(" a\n-b\n+B\n c"), Ok("a\nB\nc\n"), done);
    let words = "apply_patch verification failed: Failed to find expected lines in f.txt:\n";
    check("a\nb\n", patch("-x\n+y"), Err("hunk-context-mismatch"), words);
    // Codex would take the first.
    check("b\nb\n", patch("-b\n+y"), Err("ambiguous-match"), "apply_patch verification failed\n");
    let add = "*** Begin Patch\n*** Add File: f.txt\n+x\n*** End Patch";
    check("a\n", ("apply_patch", json!({"input": add})), Err("already-exists"), "apply_patch verification");
    let folder = Folder::with([("a/b/c/d.txt", ""), ("f.txt", "1\n2\n3\n")]);
    let mut client = speaking(&folder, "codex");
    let read =
        client.call("read_file", json!({"file_path": "f.txt", "offset": 2, "limit": 1, "mode": "slice"}));
    assert_eq!(read.ok().text, "L2: 2\n");
    assert!(client.call("list_dir", json!({"dir_path": "a", "depth": 3})).ok().text.contains("d.txt"));
    let unknown = json!({"file_path": "f.txt", "mode": "indentation"});
    client.call("read_file", unknown).refused("invalid-argument");
}

#[test]
fn gemini() {
    let replace = |old: &str, new: &str, count: Option<usize>| {
        let older = json!({
            "file_path": "f.txt", "old_string": old, "new_string": new, "expected_replacements": count,
        });
        ("replace", older)
    };
    let check = |before, call, expected, words| check("gemini", before, call, expected, words);
    let newer = json!({
        "file_path": "f.txt", "instruction": "why", "old_string": "foo", "new_string": "qux",
        "allow_multiple": true,
    });
    check(
        "foo bar foo\n",
        ("replace", newer),
        Ok("qux bar qux\n"),
        "Successfully modified file: f.txt (2 replacements)",
    );
    check("foo foo foo\n", replace("foo", "q", Some(3)), Ok("q q q\n"), "(3 replacements)");
    let words = "Failed to edit, expected 2 occurrences but found 3 for old_string in file: f.txt";
    check("foo foo foo\n", replace("foo", "q", Some(2)), Err("ambiguous-match"), words);
    let words = "Failed to edit, expected 1 occurrence but found 2 for old_string in file: f.txt";
    check("foo foo\n", replace("foo", "q", None), Err("ambiguous-match"), words);
    check(
        "foo\n",
        replace("foo", "q", Some(0)),
        Err("invalid-argument"),
        "Argument 'expected_replacements': it is how",
    );
    check(
        "x\n",
        replace("goodbye", "q", None),
        Err("search-not-found"),
        "Failed to edit, 0 occurrences found",
    );
    check("old\n", replace("", "new\n", None), Err("already-exists"), "Failed to edit. Attempted to create");
    check("hello\n", replace("hello", "hello", None), Err("no-op"), "No changes to apply.");
    let folder = Folder::with([("a.txt", "1\n2\n3\n"), ("b.txt", "b\n")]);
    let mut client = speaking(&folder, "gemini");
    let create = json!({"file_path": "new.py", "instruction": "", "old_string": "", "new_string": "x = 1\n"});
    let created = client.call("replace", create).ok();
    assert!(
        created.text.starts_with("Created new file: new.py with provided content.\n"),
        "{}",
        created.text
    );
    assert_eq!(folder.text("new.py"), "x = 1\n");
    let read = client.call("read_file", json!({"file_path": "a.txt", "start_line": 2, "end_line": 2})).ok();
    assert!(read.text.ends_with("--- FILE CONTENT (truncated) ---\n2\n"), "{}", read.text);
    assert!(
        read.text.contains("Showing lines 2-2 of 3") && read.text.contains("start_line: 3"),
        "{}",
        read.text
    );
    let older = json!({"absolute_path": "a.txt", "offset": 1, "limit": 1});
    assert_eq!(client.call("read_file", older).ok().text, read.text);
    for name in ["include", "paths"] {
        let many = client.call("read_many_files", json!({name: ["a.txt", "b.txt"]})).ok();
        let texts = ["--- a.txt ---\n\n1\n2\n3\n", "--- b.txt ---\n\nb\n"];
        assert!(texts.iter().all(|text| many.text.contains(text)), "{}", many.text);
        client.call("read_many_files", json!({name: ["*.txt"]})).refused("invalid-argument");
    }
    let overwrite = client.call("write_file", json!({"file_path": "b.txt", "content": "B\n"})).ok();
    assert!(overwrite.text.starts_with("Successfully overwrote file: b.txt."), "{}", overwrite.text);
}

#[test]
fn openhands() {
    let call = |command: &str, mut arguments: Value| {
        arguments["command"] = command.into();
        arguments["path"] = "f.txt".into();
        ("str_replace_editor", arguments)
    };
    let check = |before, call, expected, words| check("openhands", before, call, expected, words);
    let edited = "The file f.txt has been edited. Here's the result of running `cat -n` on a snippet of f.txt:\n     1\tA\n";
    check("a\nb\n", call("str_replace", json!({"old_str": "a", "new_str": "A"})), Ok("A\nb\n"), edited);
    let twice = json!({"old_str": "line", "new_str": "x"});
    let words = "No replacement was performed. Multiple occurrences of old_str `line` in lines [1, 2]. Please ensure it is unique.";
    check("line\nline\nother", call("str_replace", twice), Err("ambiguous-match"), words);
    let same = json!({"old_str": "a", "new_str": "a"});
    check("a\n", call("str_replace", same), Err("no-op"), "No replacement was performed.");
    let none = json!({"old_str": "it's", "new_str": "x"});
    let words = "No replacement was performed, old_str `it's` did not appear verbatim in f.txt.";
    check("other\n", call("str_replace", none), Err("search-not-found"), words);
    let words = "Invalid `path` parameter: f.txt. File already exists at: f.txt.";
    check("a\n", call("create", json!({"file_text": "x"})), Err("already-exists"), words);
    check("a\n", call("str_replace", json!({"old_str": null, "new_str": "x"})), Err("invalid-argument"), "");
    check("a\n", call("undo_edit", json!({})), Err("unknown-edit"), "No edit history found for f.txt.");
    check(
        "",
        call("insert", json!({"insert_line": 0, "new_str": "hi"})),
        Ok("hi\n"),
        "The file f.txt has been edited.",
    );
    let folder = Folder::with([("f.txt", "a\nb\n")]);
    let mut client = speaking(&folder, "openhands");
    let (_, view) = call("view", json!({}));
    client.call("file_editor", view).ok();
    let (_, insert) = call("insert", json!({"insert_line": 1, "new_str": "X\n"}));
    client.call("file_editor", insert).ok();
    assert_eq!(folder.text("f.txt"), "a\nX\nb\n");
}

#[test]
fn cline() {
    let diff = |search: &str, replace: &str| {
        let diff = format!("------- SEARCH\n{search}\n=======\n{replace}\n+++++++ REPLACE");
        ("replace_in_file", json!({"path": "f.txt", "diff": diff}))
    };
    let check = |before, call, expected, words| check("cline", before, call, expected, words);
    check("a\nb\n", diff("b", "B"), Ok("a\nB\n"), "The content was successfully saved to f.txt.\n");
    let older = "<<<<<<< SEARCH\nb\n=======\nB\n>>>>>>> REPLACE";
    check("a\nb\n", ("replace_in_file", json!({"path": "f.txt", "diff": older})), Ok("a\nB\n"), "");
    check(
        "a\n",
        diff("x", "y"),
        Err("hunk-context-mismatch"),
        "The SEARCH block does not match anything in the file f.txt.",
    );
    // Cline would take the first.
    check("a\na\n", diff("a", "y"), Err("ambiguous-match"), "The SEARCH block matches several places");
    check("a\n", ("write_to_file", json!({"path": "f.txt", "content": "x\n"})), Err("not-read"), "");
}

#[test]
fn roo() {
    let diff = |hint: &str, search: &str, replace: &str| {
        let diff = format!("<<<<<<< SEARCH\n{hint}-------\n{search}\n=======\n{replace}\n>>>>>>> REPLACE");
        ("apply_diff", json!({"path": "f.txt", "diff": diff}))
    };
    let check = |before, call, expected, words| check("roo", before, call, expected, words);
    check("a\nb\n", diff(":start_line:1\n", "a", "A"), Ok("A\nb\n"), "Modified f.txt.\n");
    // Roo would take the third line. Nobody has read it here.
    let unread = Err("ambiguous-match");
    check("a\nb\na\n", diff(":start_line:3\n", "a", "A"), unread, "Unable to apply diff to file: f.txt");
    check(
        "a\nb\na\n",
        diff(":start_line:2\n", "a", "A"),
        Err("ambiguous-match"),
        "Unable to apply diff to file: f.txt",
    );
    let one = |hint, search, replace| diff(hint, search, replace).1["diff"].clone();
    let several = json!({"files": [{"path": "f.txt", "diff": one(":start_line:1\n", "a", "A")}]});
    check("a\nb\n", ("apply_diff", several), Ok("A\nb\n"), "Modified f.txt.\n");
    let list = json!([{"content": one(":start_line:1\n", "a", "A"), "start_line": 1}, {"content": one(":start_line:2\n", "b", "B")}]);
    for file in [json!({"path": "f.txt", "diff": list}), json!([{"path": "f.txt", "diff": list}])] {
        check("a\nb\n", ("apply_diff", json!({"args": {"file": file}})), Ok("A\nB\n"), "");
    }
    check("a\n", ("apply_diff", json!({"files": []})), Err("invalid-argument"), "");
    let operations = json!({"path": "f.txt", "operations": [{"search": "a", "replace": "A"}]});
    check("a\nb\n", ("apply_diff", operations.clone()), Ok("A\nb\n"), "");
    check("a\nb\n", ("search_and_replace", operations), Ok("A\nb\n"), "");
    let every = json!({"path": "f.txt", "search": "[ab]", "replace": "x", "use_regex": true});
    check("a\nb\n", ("search_and_replace", every), Ok("x\nx\n"), "");
    let edit = json!({"file_path": "f.txt", "old_string": "a", "new_string": "A"});
    for tool in ["edit", "edit_file", "search_replace"] {
        check("a\nb\n", (tool, edit.clone()), Ok("A\nb\n"), "");
    }
    let append = json!({"path": "f.txt", "line": 0, "content": "z"});
    check("a\n", ("insert_content", append), Ok("a\nz\n"), "");
    let above = json!({"path": "f.txt", "line": 2, "content": "z"});
    check("a\nb\n", ("insert_content", above.clone()), Err("not-read"), "");
    // The lines of all blocks are those of the file that was read, also where a block before them adds lines.
    let folder = Folder::with([("f.txt", "h\na\na\na\n")]);
    let mut client = speaking(&folder, "roo");
    client.call("read_file", json!({"path": "f.txt"})).ok();
    let list = [one(":start_line:2\n", "a", "y\nz"), one(":start_line:4\n", "a", "A")];
    let list = list.map(|content| json!({"content": content}));
    client.call("apply_diff", json!({"args": {"file": {"path": "f.txt", "diff": list}}})).ok();
    assert_eq!(folder.text("f.txt"), "h\ny\nz\na\nA\n");
    let folder = Folder::with([("f.txt", "a\nb\n")]);
    let mut client = speaking(&folder, "roo");
    let lines = json!({"args": {"file": {"path": "f.txt", "line_range": "2-2"}}});
    let part = client.call("read_file", lines).ok();
    assert!(part.text.contains("     2\tb\n") && !part.text.contains("\ta\n"), "{}", part.text);
    client.call("insert_content", above).ok();
    client.call("write_to_file", json!({"path": "n.txt", "content": "x\n", "line_count": 9})).ok();
    assert_eq!((folder.text("f.txt"), folder.text("n.txt")), ("a\nz\nb\n".into(), "x\n".into()));
}

#[test]
fn aider() {
    let check = |before, format: &str, patch: &str, expected, words| {
        check("aider", before, ("apply_patch", json!({"patch": patch, "format": format})), expected, words);
    };
    let block = "f.txt\n```\n<<<<<<< SEARCH\na\n=======\nA\n>>>>>>> REPLACE\n```\n";
    check("a\nb\n", "diff", block, Ok("A\nb\n"), "Applied edit to f.txt\n");
    let fenced = "```\nf.txt\n<<<<<<< SEARCH\na\n=======\nA\n>>>>>>> REPLACE\n```\n";
    check("a\nb\n", "diff-fenced", fenced, Ok("A\nb\n"), "");
    check("b\n", "diff", block, Err("hunk-context-mismatch"), "This block failed to exactly match");
    let udiff = "```diff\n--- f.txt\n+++ f.txt\n@@ ... @@\n-a\n+A\n b\n```\n";
    check("a\nb\n", "udiff", udiff, Ok("A\nb\n"), "");
    let v4a = "*** Begin Patch\n*** Update File: f.txt\n@@\n-a\n+A\n b\n*** End Patch";
    check("a\nb\n", "patch", v4a, Ok("A\nb\n"), "");
    check("a\n", "whole", "f.txt\n```\nx\n```\n", Err("not-read"), "");
}

#[test]
fn opencode() {
    let edit = |old: &str, new: &str, all: bool| {
        ("edit", json!({"filePath": "f.txt", "oldString": old, "newString": new, "replaceAll": all}))
    };
    let check = |before, call, expected, words| check("opencode", before, call, expected, words);
    check("a\nb\n", edit("b", "B", false), Ok("a\nB\n"), "Edit applied successfully.\n");
    check("a a\n", edit("a", "b", true), Ok("b b\n"), "");
    check("a a\n", edit("a", "b", false), Err("ambiguous-match"), "oldString found multiple times");
    check("a\n", edit("x", "b", false), Err("search-not-found"), "oldString not found in content");
    let patch = "*** Begin Patch\n*** Update File: f.txt\n@@\n-a\n+A\n*** End Patch";
    for tool in ["apply_patch", "patch"] {
        check("a\n", (tool, json!({"patchText": patch})), Ok("A\n"), "");
    }
    let edits = json!([{"oldString": "a", "newString": "b"}, {"oldString": "b", "newString": "c"}]);
    check("a\n", ("multiedit", json!({"filePath": "f.txt", "edits": edits})), Ok("c\n"), "");
    let folder = Folder::with([("d/f.txt", "a\nb\n")]);
    let mut client = speaking(&folder, "opencode");
    let read = client.call("read", json!({"filePath": "d/f.txt"})).ok();
    let expected = "<path>d/f.txt</path>\n<type>file</type>\n<content>\n1: a\n2: b\n\n(End of file - total 2 lines)\n</content>\n";
    assert_eq!(read.text, expected);
    let listed = client.call("read", json!({"filePath": "d"})).ok();
    assert!(
        listed.text.contains("<type>directory</type>") && listed.text.contains("f.txt"),
        "{}",
        listed.text
    );
}
