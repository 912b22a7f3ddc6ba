//! What the answer to an edit costs its reader: bounds on what is said beside the change, and that nothing is said twice.

use emend_testkit::{Answer, Client, Folder, client};
use serde_json::{Value, json};

use crate::tools::str_replace::sizes;
use crate::{launch, serve, serve_in_full};

/// How many characters an edit of one place has beside the lines of its diff, and each further hunk.
const EDIT: usize = 160;
const HUNK: usize = 80;
/// How many bytes of structured content it has beside them.
const STRUCTURED: usize = 600;
/// How many characters the answer to a change in fourteen files has.
const FOURTEEN_FILES: usize = 1_600;

/// The lines of the hunks in a text, with what is said of lines that are left out, and all else.
fn split(text: &str) -> (Vec<&str>, String) {
    let (mut own, mut beside, mut is_inside) = (Vec::new(), String::new(), false);
    for line in text.split_inclusive('\n') {
        let is_header = line.starts_with("@@ -");
        is_inside = is_header || is_inside && line.starts_with([' ', '-', '+', '\\']);
        match is_inside && !is_header {
            true => own.push(line),
            false => beside.push_str(line),
        }
    }
    (own, beside)
}

/// Checks the answer to an edit of one file against the bounds.
#[track_caller]
fn check_budget(answer: &Answer, path: &str) {
    let (own, beside) = split(&answer.text);
    let hunks = beside.matches("@@ -").count();
    assert!(beside.chars().count() <= EDIT + HUNK * hunks.saturating_sub(1), "{}", answer.text);
    let mut structured = answer.structured.clone();
    let diff = structured["diff"].take();
    assert_eq!(split(diff.as_str().unwrap()).0, own, "both have the same lines");
    structured["diff"] = split(diff.as_str().unwrap()).1.into();
    let structured = structured.to_string();
    assert!(structured.len() <= STRUCTURED, "{} bytes: {structured}", structured.len());
    let edit = answer.structured["edit"].as_str().unwrap();
    for once in [path, edit] {
        assert_eq!(
            (beside.matches(once).count(), structured.matches(once).count()),
            (1, 1),
            "{}",
            answer.text
        );
    }
}

/// A generator of numbers that are the same in every run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

#[test]
fn the_answer_to_an_edit_says_little_beside_the_change() {
    const PATH: &str = "packages/services/src/handlers/requests.py";
    let folder = Folder::new();
    let mut client = serve(&folder);
    let mut draw = Draw(15);
    for turn in 0..60 {
        let total = 40 + draw.below(400);
        let before: Vec<String> =
            (0..total).map(|line| format!("    value_{line} = compute({line})")).collect();
        // The whole of it is sent, and some lines of it change, go or are new.
        let mut after = before.clone();
        for _ in 0..=draw.below(6) {
            let at = draw.below(after.len());
            match draw.below(4) {
                0 => drop(after.remove(at)),
                1 => after.insert(at, format!("    inserted_{turn}()")),
                2 => after[at] = "x".repeat(3_000),
                _ => after[at] = format!("    changed_{turn} = {at}"),
            }
        }
        let (before, after) = (before.join("\n"), after.join("\n"));
        folder.write(PATH, before.as_bytes());
        let replacement = json!({"path": PATH, "old_string": before, "new_string": after});
        let answer = client.call("str_replace", replacement);
        // What is drawn may undo itself.
        if before != after {
            check_budget(&answer.ok(), PATH);
        }
        assert_eq!(folder.text(PATH), after);
    }
}

/// A patch of fourteen files, each of which has these lines, and the client that sends it.
fn change_fourteen_files(lines: &[&str]) -> Answer {
    let name = |number: usize| format!("src/packages/module_{number:02}.py");
    let folder = Folder::new();
    let mut sections = String::new();
    for number in 0..14 {
        folder.write(&name(number), lines.join("\nsame\nsame\nsame\nsame\n"));
        sections += &format!("*** Update File: {}\n", name(number));
        for line in lines {
            sections += &format!("@@\n-{line}\n+{}\n", line.replace("old", "new"));
        }
    }
    let answer = serve(&folder).patch(&sections).ok();
    for number in 0..14 {
        let (path, text) = (name(number), &answer.text);
        assert_eq!(text.matches(&path).count(), 1, "{text}");
        assert_eq!(answer.structured.to_string().matches(&path).count(), 1);
        let version = answer.structured["files"][number]["version_after"].as_str().unwrap();
        let places = if lines.len() > 1 { format!(", {} places", lines.len()) } else { String::new() };
        assert!(text.contains(&format!("M {path} {version}{places}\n")), "{text}");
        assert!(!folder.text(&path).contains("old"));
    }
    answer
}

#[test]
fn a_change_in_fourteen_files_has_a_short_answer() {
    for lines in
        [&["old = 1"][..], &["from package import old_name", "def old_function(request, response):", "old()"]]
    {
        let answer = change_fourteen_files(lines);
        let (text, json) = sizes(&answer);
        assert!(text <= FOURTEEN_FILES && json <= FOURTEEN_FILES, "{text} {json}\n{}", answer.text);
        assert!(answer.text.contains("+new = 1") || answer.text.contains("+from package import new_name"));
        // Of a hunk that is shown nothing is missing.
        let signs = |sign: char| answer.text.lines().filter(|line| line.starts_with(sign)).count();
        assert_eq!(signs('-'), signs('+'), "{}", answer.text);
    }
}

#[test]
fn a_diff_has_no_line_that_old_and_new_share_and_one_line_around_each_change() {
    let lines: Vec<String> = (0..20).map(|line| format!("line {line}")).collect();
    let before = lines.join("\n");
    let folder = Folder::with([("a.txt", &before)]);
    let after = before.replace("line 5\n", "five\n").replace("line 15", "fifteen");
    let answer = serve(&folder).replace("a.txt", &before, &after).ok();
    let shown = "@@ -5,3 +5,3 @@\n line 4\n-line 5\n+five\n line 6\n@@ -15,3 +15,3 @@\n line 14\n-line 15\n+fifteen\n line 16\n";
    assert_eq!(answer.structured["diff"], shown);
    assert!(answer.text.ends_with(shown), "{}", answer.text);
}

#[test]
fn a_shortened_diff_says_so_and_the_whole_is_where_it_says() {
    let folder = Folder::new();
    let mut client = serve(&folder);
    let content: String = (0..100).map(|line| format!("line {line}\n")).collect();
    let answer = client.call("write_file", json!({"path": "a.txt", "content": content})).ok();
    let diff = answer.structured["diff"].as_str().unwrap();
    let notice = diff.lines().last().unwrap();
    assert!(notice.starts_with("\\ 90 changed lines are not shown"), "{diff}");
    assert!(answer.text.contains(notice));
    let uri = notice.split(' ').next_back().unwrap();
    let whole = client.request("resources/read", json!({"uri": uri})).unwrap();
    assert_eq!(whole["contents"][0]["text"].as_str().unwrap().matches("\n+line ").count(), 100);
}

#[test]
fn what_people_and_programs_are_shown_has_three_lines_around_each_change() {
    let lines: Vec<String> = (0..400).map(|line| format!("line {line}")).collect();
    let before = lines.join("\n");
    let folder = Folder::with([("a.txt", &before)]);
    let mut client = serve(&folder);
    let replacement = json!({"path": "a.txt", "old_string": "line 50\n", "new_string": "fifty\n"});
    let context =
        "\n@@ -48,7 +48,7 @@\n line 47\n line 48\n line 49\n-line 50\n+fifty\n line 51\n line 52\n line 53\n";
    let shown = client.preview("str_replace", replacement.clone()).ok();
    assert!(shown.structured["diff"].as_str().unwrap().ends_with(context), "{}", shown.text);
    let edit = client.call("str_replace", replacement).ok().structured["edit"].as_str().unwrap().to_owned();
    let past = client.call("edit_history", json!({"edit": edit})).ok().text;
    assert!(past.contains(context), "{past}");
    let uri = format!("emend://edit/{edit}.diff");
    let whole = client.request("resources/read", json!({"uri": uri})).unwrap();
    assert!(whole["contents"][0]["text"].as_str().unwrap().ends_with(context));
    // A preview is reviewed, so all of it is shown.
    let all = json!({"path": "a.txt", "old_string": "line", "new_string": "row", "replace_all": true});
    let shown = client.preview("str_replace", all).ok();
    assert_eq!(shown.structured["diff"].as_str().unwrap().matches("\n+row ").count(), 399, "{}", shown.text);
}

#[test]
fn a_layer_that_forgave_something_says_what_it_took_for_what() {
    let folder = Folder::with([
        ("tabs.py", "def f():\n\treturn 1\n\nkept\n"),
        ("crlf.txt", "one\r\ntwo\r\nthree\r\n"),
        ("drift.txt", "first line\nsecond line\nthe word here\nold value\nlast line\nend line\n"),
    ]);
    let mut client = serve(&folder);
    let check = |answer: Answer, layer: &str, shown: &[&str]| {
        let answer = answer.ok();
        assert_eq!(answer.structured["files"][0]["hunks"][0]["layer"], layer);
        let note = answer.structured["notes"][0].as_str().unwrap();
        assert!(answer.text.contains(note), "{}", answer.text);
        shown.iter().for_each(|shown| assert!(note.contains(shown), "{note}"));
    };
    let answer = client.replace("tabs.py", "def f():\n    return 1", "def f():\n    return 2");
    check(answer, "indentation", &["line 2 \"→return 1\" for \"    return 1\""]);
    let answer = client.replace("crlf.txt", "one\ntwo\n", "one\n2\n");
    check(answer, "line-endings", &["CRLF in line 1 for LF"]);
    let answer = client.patch(
        "*** Update File: drift.txt\n@@\n first line\n second line\n another word\n-old value\n+new value\n last line\n end line",
    );
    check(answer, "context-drift", &["line 3 \"the word here\" for \"another word\""]);
    let exact = client.replace("drift.txt", "new value", "newer value").ok();
    assert!(exact.structured.get("notes").is_none() && exact.structured["files"][0].get("hunks").is_none());
}

#[test]
fn the_message_of_a_refusal_stands_once() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let refuse = |client: &mut Client| {
        let answer = client.replace("a.txt", "gone", "x").refused("search-not-found");
        let message = answer.structured["error"]["message"].as_str().unwrap().to_owned();
        assert!(answer.text.starts_with(&message), "{}", answer.text);
        (answer.structured["problems"][0].clone(), message)
    };
    let (problem, message) = refuse(&mut serve(&folder));
    assert!(problem.get("message").is_none() && message.contains("     1\tone"), "{problem}");
    assert_eq!((&problem["code"], &problem["path"]), (&json!("search-not-found"), &json!("a.txt")));
    let (problem, message) = refuse(&mut serve_in_full(&folder));
    assert_eq!(problem["message"], message);
    let patch = client::patch("*** Update File: a.txt\n@@\n-two\n+2\n*** Update File: b.txt\n@@\n-x\n+y");
    let several =
        serve(&folder).call("apply_patch", json!({"patch": patch})).refused("hunk-context-mismatch");
    let messages: Vec<&Value> = several.problems().iter().map(|problem| &problem["message"]).collect();
    assert!(messages[0].is_null() && messages[1].as_str().is_some_and(|message| message.contains("b.txt")));
}

#[test]
fn answers_can_be_had_in_full_by_the_configuration_alone() {
    let folder = Folder::with([("a.txt", "one\n"), (".emend.toml", "answers = 'full'\n")]);
    let answer = serve(&folder).replace("a.txt", "one", "two").ok();
    assert!(answer.structured["files"][0].get("path").is_none(), "a folder cannot make answers longer");
    let full = launch(&folder).argument("--answers=full").legacy().replace("a.txt", "two", "three").ok();
    assert_eq!(full.structured["diff"], "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-two\n+three\n");
    assert_eq!(full.structured["files"][0]["hunks"][0]["layer"], "exact");
}

#[test]
fn a_client_that_shows_all_it_gets_has_text_alone() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let as_text = || launch(&folder).argument("--answers-as=text");
    for mut client in [as_text().legacy(), as_text().modern()] {
        assert!(client.tools().iter().all(|tool| tool.get("outputSchema").is_none()));
        let done = client.replace("a.txt", "one", "two").ok();
        assert!(done.structured.is_null() && done.text.contains("-one\n+two"), "{}", done.text);
        let refused = client.replace("a.txt", "cake", "tea");
        assert!(refused.is_error && refused.structured.is_null(), "{}", refused.structured);
        assert!(refused.text.contains("[search-not-found]"), "{}", refused.text);
        client.call("undo_edit", json!({})).ok();
    }
}

#[test]
fn a_file_that_changes_in_several_places_says_how_many_whatever_the_tool() {
    let folder = Folder::with([("a.txt", "one\ntwo\nthree\n"), ("b.txt", "x x\n")]);
    let mut client = serve(&folder);
    let edits = json!({"path": "a.txt", "edits": [{"old_string": "one", "new_string": "1"},
        {"old_string": "three", "new_string": "3"}]});
    let patch = client::patch("*** Update File: a.txt\n@@\n-1\n+one\n@@\n-3\n+three");
    for (tool, arguments) in [
        ("str_replace", edits),
        ("apply_patch", json!({"patch": patch})),
        ("str_replace", json!({"path": "b.txt", "old_string": "x", "new_string": "y", "replace_all": true})),
        ("replace_in_files", json!({"old_string": "y", "new_string": "z"})),
    ] {
        let answer = client.call(tool, arguments).ok();
        let line = answer.text.lines().nth(1).unwrap();
        assert!(line.ends_with(", 2 places"), "{tool}: {}", answer.text);
        assert_eq!(answer.structured["files"][0]["places"], 2, "{tool}");
    }
    let answer = client.replace("a.txt", "two", "2").ok();
    assert!(!answer.text.contains("place"), "{}", answer.text);
}
