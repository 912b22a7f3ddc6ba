//! `emend hook claude-code`: what it shows of each kind of answer, and how `emend init` installs it.

use std::time::{Duration, Instant};

use emend_testkit::Folder;
use serde_json::{Value, json};

use crate::cli::{Command, emend};
use crate::{serve, serve_in_full};

const SETTINGS: &str = ".claude/settings.json";

/// What the hook shows of an answer to this tool.
fn shown(tool: &str, response: &Value) -> Option<String> {
    let input = json!({"session_id": "s", "cwd": "/", "tool_name": tool, "tool_input": {}, "tool_response": response});
    shown_of(input.to_string())
}

fn shown_of(input: impl Into<Vec<u8>>) -> Option<String> {
    let folder = Folder::new();
    let ran = Command::new(&folder, &["hook", "claude-code"]).input(input).run().ends(0);
    assert_eq!(ran.log, "");
    assert!(!folder.state().exists() && folder.tree().is_empty(), "it writes nothing");
    let message = || Some(ran.document()["systemMessage"].as_str()?.to_owned());
    if ran.out.is_empty() { None } else { Some(message().unwrap()) }
}

const REPLACE: &str = "mcp__emend__str_replace";
const DIFF: &str = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three";

#[test]
fn each_form_of_an_answer_shows_its_diff() {
    let folder = Folder::with([("src/a b.txt", "one\ntwo\nthree\n")]);
    let answer = serve(&folder).replace("src/a b.txt", "two", "2").ok();
    let (text, structured) = (&answer.text, &answer.structured);
    let block = json!([{"type": "text", "text": text}]);
    for tool in [REPLACE, "mcp__plugin_emend_emend__apply_patch"] {
        for response in [
            json!(structured.to_string()),
            structured.clone(),
            json!([{"type": "text", "text": structured.to_string()}]),
            json!({"content": block, "structuredContent": structured}),
        ] {
            assert_eq!(shown(tool, &response).unwrap(), format!("src/a b.txt\n{DIFF}"), "{response}");
        }
        for response in [json!(text), block.clone(), json!({"content": block})] {
            let shown = shown(tool, &response).unwrap();
            let (name, diff) = shown.split_once('\n').unwrap();
            assert!(name.starts_with("M src/a b.txt ") && diff == DIFF, "{shown}");
        }
    }
    folder.write("src/a b.txt", "one\ntwo\nthree\n");
    let full = serve_in_full(&folder).replace("src/a b.txt", "two", "2").ok();
    for response in [json!(full.text), full.structured] {
        assert!(shown(REPLACE, &response).unwrap().ends_with(&format!("src/a b.txt\n{DIFF}")), "{response}");
    }
}

#[test]
fn each_file_of_an_edit_is_named() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let answer =
        serve(&folder).patch("*** Update File: a.txt\n@@\n-one\n+1\n*** Add File: b.txt\n+new\n").ok();
    let expected = "a.txt\n@@ -1 +1 @@\n-one\n+1\nb.txt\n@@ -0,0 +1 @@\n+new";
    assert_eq!(shown(REPLACE, &answer.structured).unwrap(), expected);
    let of_text = shown(REPLACE, &json!(answer.text)).unwrap();
    let lines = of_text.lines().filter(|line| !line.starts_with(['A', 'M']));
    assert_eq!(lines.collect::<Vec<_>>().join("\n"), expected.replace("a.txt\n", "").replace("b.txt\n", ""));
}

#[test]
fn a_renamed_file_is_named_too() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "two\n")]);
    let patch =
        "*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: b.txt\n*** Move to: c.txt\n@@\n-two\n+2\n";
    let answer = serve(&folder).patch(patch).ok();
    let of_text = shown(REPLACE, &json!(answer.text)).unwrap();
    let lines: Vec<&str> = of_text.lines().collect();
    assert!(lines[0].starts_with("M a.txt") && lines[4].starts_with("R c.txt from b.txt"), "{of_text}");
}

#[test]
fn what_is_no_edit_shows_nothing() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    let preview =
        client.call("edit_preview", json!({"path": "a.txt", "old_string": "one", "new_string": "1"}));
    let reading = client.read("a.txt");
    let refused = client.replace("a.txt", "none", "1");
    for answer in [preview, reading, refused] {
        for response in [json!(answer.text), answer.structured] {
            assert_eq!(shown(REPLACE, &response), None, "{response}");
        }
    }
    let edit = json!({"edit": "1", "diff": "@@ -1 +1 @@\n-a\n+b\n", "changed_files": ["a"]});
    assert!(shown(REPLACE, &edit).is_some());
    for tool in ["Edit", "mcp__other__str_replace", "mcp__emendation__x"] {
        assert_eq!(shown(tool, &edit), None, "{tool}");
    }
    for response in
        [json!(null), json!(1), json!([]), json!("{"), json!({"edit": 1, "diff": "@@ -1"}), json!("Success.")]
    {
        assert_eq!(shown(REPLACE, &response), None, "{response}");
    }
    for input in ["", "{", "[]", "null", "{\"tool_name\": 1}", "{\"tool_name\": \"mcp__emend__x\"}"] {
        assert_eq!(shown_of(input), None, "{input}");
    }
    assert_eq!(shown_of(b"\xff\xfe".as_slice()), None);
    assert_eq!(shown_of("[".repeat(100_000)), None);
}

#[test]
fn a_long_diff_is_cut_and_says_where_the_rest_is() {
    let lines = |count: usize| (0..count).map(|line| format!("+{line}\n")).collect::<String>();
    let answer = |count| {
        let diff = format!("@@ -0,0 +1,{count} @@\n{}", lines(count));
        shown(REPLACE, &json!({"edit": "0123abc", "diff": diff, "changed_files": ["a"]})).unwrap()
    };
    assert_eq!(answer(58).lines().count(), 60);
    let cut = answer(100);
    assert_eq!(cut.lines().count(), 61);
    assert!(cut.ends_with("\n+57\n… and 42 more lines; see `emend show 0123abc`"), "{cut}");
}

#[test]
fn nothing_of_a_file_controls_the_terminal() {
    let answer = json!({"edit": "1", "diff": "@@ -1 +1 @@\n-a\n+\u{1b}[2Jb\n", "changed_files": ["a\u{7}"]});
    assert_eq!(shown(REPLACE, &answer).unwrap(), "a\\u{7}\n@@ -1 +1 @@\n-a\n+\\u{1b}[2Jb");
    let input = json!({"tool_name": REPLACE, "tool_response": answer}).to_string();
    let folder = Folder::new();
    let hook = || Command::new(&folder, &["hook", "claude-code"]).input(input.clone());
    let coloured = hook().variable("CLAUDE_CODE_ENTRYPOINT", "cli").run().document();
    assert!(coloured["systemMessage"].as_str().unwrap().contains("\u{1b}[32m"), "{coloured}");
    let plain = hook().variable("CLAUDE_CODE_ENTRYPOINT", "cli").variable("NO_COLOR", "1").run().document();
    assert!(!plain["systemMessage"].as_str().unwrap().contains('\u{1b}'), "{plain}");
}

/// The fastest of several runs counts, since the machine may be busy. Starting any process takes some of that time.
#[test]
fn it_takes_little_more_time_than_a_process_that_does_nothing() {
    let folder = Folder::new();
    let answer = json!({"edit": "1", "diff": "@@ -1 +1 @@\n-a\n+b\n", "changed_files": ["a"]});
    let arguments = json!({"content": "x\n".repeat(100_000)});
    let input = json!({"tool_name": REPLACE, "tool_input": arguments, "tool_response": answer}).to_string();
    let fastest = |arguments: &[&str], input: &str| {
        let run = || {
            let command = Command::new(&folder, arguments).input(input);
            let begun = Instant::now();
            command.run().ends(0);
            begun.elapsed()
        };
        (0..20).map(|_| run()).min().unwrap()
    };
    let nothing = fastest(&["--version"], "");
    let hook = fastest(&["hook", "claude-code"], &input);
    // Five in a release build. This one is slower, and other tests run beside it.
    assert!(hook < nothing + Duration::from_millis(40), "{hook:?}, and {nothing:?} for nothing");
}

#[cfg(target_os = "linux")]
#[test]
fn init_adds_the_hook_once_beside_others_and_takes_it_out_again() {
    let mine = json!({"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]});
    let before = json!({"hooks": {"PostToolUse": [mine], "Stop": []}}).to_string();
    let folder = Folder::with([(SETTINGS, &before[..])]);
    let init = |more: &[&str]| {
        emend(&folder, &[&["init", "claude-code", "--yes", "--json"], more].concat()).ends(0).document()
    };
    let settings = || serde_json::from_str::<Value>(&folder.text(SETTINGS)).unwrap();
    assert_eq!(init(&[])["state"], "written");
    let hooks = settings()["hooks"]["PostToolUse"].clone();
    let own = std::fs::canonicalize(crate::EMEND).unwrap();
    let command = format!("{} hook claude-code", own.display());
    let ours = json!({"matcher": "mcp__(plugin_emend_)?emend__.*", "hooks": [{"type": "command", "command": command}]});
    assert_eq!(hooks, json!([mine, ours]));
    assert_eq!(init(&[])["state"], "present");
    init(&["--prefer"]);
    assert_eq!(settings()["hooks"]["PostToolUse"], hooks, "once");
    init(&["--remove"]);
    assert_eq!(folder.text(SETTINGS), before);

    // One that starts another program is corrected, and what a person added since stays.
    init(&[]);
    folder.write(SETTINGS, folder.text(SETTINGS).replace(&command, "/gone/emend hook claude-code"));
    init(&[]);
    assert_eq!(settings()["hooks"]["PostToolUse"], hooks);
    let mut more = settings();
    more["hooks"]["PostToolUse"].as_array_mut().unwrap().push(json!({"hooks": []}));
    folder.write(SETTINGS, more.to_string());
    init(&["--remove"]);
    assert_eq!(settings()["hooks"], json!({"PostToolUse": [mine, {"hooks": []}], "Stop": []}));

    // One that init did not write stays, and the person is told.
    folder.write(SETTINGS, json!({"hooks": {"PostToolUse": [ours]}}).to_string());
    init(&[]);
    let told = init(&["--remove"])["remarks"].to_string();
    assert!(told.contains("settings.json names Emend"), "{told}");
    folder.write(SETTINGS, "{\"hooks\": {\"PostToolUse\": {}}}");
    let refused = emend(&folder, &["init", "claude-code", "--yes"]).ends(2).log;
    assert!(refused.contains("'hooks.PostToolUse' is no list"), "{refused}");
    assert!(!folder.has(".mcp.json"), "nothing is written");
}
