//! Tests of the parser for unified and git diffs.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use alloc::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::find::FindLimits;
use crate::patch::{Change, Hunk, Line, LineChange, RangeChange, recognise};
use crate::plan::{Source, Sources, build};
use crate::text::Text;

fn sections(text: &str) -> Vec<Section> {
    parse(text, None).unwrap().sections
}

fn only(text: &str) -> Section {
    let mut sections = sections(text);
    assert_eq!(sections.len(), 1, "{sections:?}");
    sections.remove(0)
}

fn hunks(text: &str) -> Vec<LineChange> {
    let Operation::Update { hunks, .. } = only(text).operation else { panic!("{text}") };
    let lines = |hunk: Hunk| match hunk.change {
        Change::Lines(change) => change,
        change => panic!("{change:?}"),
    };
    hunks.into_iter().map(lines).collect()
}

/// Returns the lines of the only hunk, each with its sign; `=` for one that had none.
fn signs(text: &str) -> Vec<String> {
    let hunks = hunks(text);
    assert_eq!(hunks.len(), 1);
    let sign = |line: &Line| match line {
        Line::Context(text) => format!(" {text}"),
        Line::Removed(text) => format!("-{text}"),
        Line::Added(text) => format!("+{text}"),
        Line::Bare(text) => format!("={text}"),
    };
    hunks[0].lines.iter().map(sign).collect()
}

fn refusal(text: &str, path: Option<&str>) -> Vec<String> {
    let problems = parse(text, path).unwrap_err();
    problems.iter().map(|problem| format!("{problem}")).collect()
}

fn diff(body: &str) -> String {
    format!("--- a/f\n+++ b/f\n{body}")
}

#[test]
fn reads_a_hunk_with_its_number_as_a_hint() {
    let found = hunks(&diff("@@ -3,2 +3,2 @@ fn f() {\n x\n-y\n+z\n"));
    assert_eq!((found[0].hint, found[0].at_end, found[0].final_newline), (Some(3), false, None));
    assert!(found[0].anchors.is_empty());
    assert_eq!(found[0].lines.len(), 3);
}

#[test]
fn prose_and_fences_around_several_diffs_are_left_out() {
    let text = "Here it is:\n\n```diff\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n```\n- and\n+ also:\n````patch\n--- g\n+++ \
                g\n@@\n-x\n+y\n````\nDone -- really.\n";
    let paths: Vec<String> = sections(text).into_iter().map(|section| section.path).collect();
    assert_eq!(paths, ["f", "g"]);
}

#[test]
fn prose_after_right_counts_is_no_part_of_the_hunk() {
    let text = diff("@@ -1,2 +1,2 @@\n-x\n+y\n z\nThat was it.\n\n- one\n- two\n");
    assert_eq!(signs(&text), ["-x", "+y", " z"]);
}

#[test]
fn a_changed_line_outside_of_any_hunk_is_refused() {
    let text = diff("@@ -1,2 +1,2 @@\n-x\n+y\n z\nThat was it.\n+more\n");
    assert!(refusal(&text, None)[0].contains("line 8"));
}

#[test]
fn right_counts_decide_where_a_hunk_ends() {
    let text = diff("@@ -1,2 +1,2 @@\n--- x\n+++ y\n z\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-1\n+2\n");
    let Operation::Update { hunks, .. } = &sections(&text)[0].operation else { panic!() };
    let Change::Lines(change) = &hunks[0].change else { panic!() };
    assert_eq!(change.lines[0], Line::Removed("-- x".into()));
    assert_eq!(sections(&text).len(), 2);
}

#[test]
fn wrong_counts_are_forgiven_when_the_body_is_clear() {
    for counts in ["-1,9 +1,9", "-1,1 +1,1", "-1 +1", "-1,2 +1,3", "-1,0 +1,0", "-7", "-,+"] {
        let text = diff(&format!("@@ {counts} @@\n a\n-b\n+c\n d\n"));
        assert_eq!(signs(&text), [" a", "-b", "+c", " d"], "{counts}");
    }
    // The count is too small, and an empty line stands where the hunk would end.
    assert_eq!(signs(&diff("@@ -1,2 +1,2 @@\n a\n-b\n+c\n\n-d\n+e\n")).len(), 6);
    // Another file follows.
    assert_eq!(
        sections(&diff("@@ -1,9 +1,9 @@\n-b\n+c\n\n--- a/g\n+++ b/g\n@@ -1,7 +1 @@\n-1\n+2\n")).len(),
        2
    );
}

#[test]
fn empty_lines_are_context_but_for_trailing_ones() {
    assert_eq!(signs(&diff("@@ -1,3 +1,3 @@\n-b\n+c\n\n\n\n\n")), ["-b", "+c", " ", " "]);
    assert_eq!(signs(&diff("@@ @@\n-b\n+c\n\n d\n\n\n")), ["-b", "+c", " ", " d"]);
}

#[test]
fn a_line_without_a_marker_is_kept_as_bare() {
    assert_eq!(signs(&diff("@@ ... @@\nbare\n-b\n+c\n")), ["=bare", "-b", "+c"]);
    assert_eq!(signs(&diff("@@ -1,2 +1,2 @@\nbare\n-b\n+c\n")), ["=bare", "-b", "+c"]);
}

#[test]
fn a_mail_around_a_diff_is_left_out() {
    let text = "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nSubject: x\n\n- a\n---\n f | 2 \
                +-\n\ndiff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n@@ -1,9 +1,9 @@\n-b\n+c\n-- \n2.47.3\n\n";
    assert_eq!(signs(text), ["-b", "+c"]);
}

#[test]
fn an_anchor_in_place_of_numbers_narrows() {
    assert_eq!(hunks(&diff("@@ fn f() {\n+x\n"))[0].anchors, ["fn f() {"]);
    assert_eq!(hunks(&diff("@@ fn f() { @@\n+x\n"))[0].anchors, ["fn f() {"]);
    for none in ["@@", "@@ @@", "@@ ... @@", "@@ -?,? +?,? @@", "@@ @@ fn f() {", "@@ -3,1 +4,1 @@ fn f() {"]
    {
        assert!(hunks(&diff(&format!("{none}\n-x\n")))[0].anchors.is_empty(), "{none}");
    }
}

#[test]
fn added_lines_alone_go_by_their_number() {
    let Operation::Update { hunks: found, .. } = only(&diff("@@ -4,0 +5,2 @@\n+x\n+y\n")).operation else {
        panic!()
    };
    let change = RangeChange { first: 5, count: 0, lines: vec!["x".into(), "y".into()] };
    assert_eq!(found[0].change, Change::Range(change));
    for nowhere in ["@@ @@\n+x\n", "@@ ... @@\n+x\n"] {
        assert!(refusal(&diff(nowhere), None)[0].contains("NoPlace"));
    }
    assert!(refusal(&diff("@@ -4,3 +4,4 @@\n+x\n"), None)[0].contains("OldLinesMissing"));
    // Lines added without a final newline are no range: they go at the end of the file.
    let last = &hunks(&diff("@@ -4,0 +5 @@\n+x\n\\ No newline at end of file\n"))[0];
    assert_eq!((last.hint, last.final_newline, last.at_end), (Some(4), Some(false), false));
}

#[test]
fn the_final_newline_of_both_sides_is_told_apart() {
    let end = |body: &str| {
        let change = hunks(&diff(&body.replace('!', "\\ No newline at end of file"))).remove(0);
        (change.final_newline, change.at_end)
    };
    assert_eq!(end("@@ -1 +1 @@\n-a\n!\n+b\n"), (Some(true), true));
    assert_eq!(end("@@ -1 +1 @@\n-a\n+b\n!\n"), (Some(false), false));
    assert_eq!(end("@@ -1 +1 @@\n-a\n!\n+b\n!\n"), (None, true));
    assert_eq!(end("@@ -1,2 +1,2 @@\n-a\n+b\n c\n!\n"), (None, true));
    assert_eq!(end("@@ -1 +0,0 @@\n-a\n!\n"), (None, true));
    assert_eq!(end("@@ -1 +1 @@\n-a\n+b\n"), (None, false));
    assert!(
        refusal(&diff("@@ -1,2 +1 @@\n-a\n\\ No newline at end of file\n-b\n+c\n"), None)[0]
            .contains("line 6")
    );
}

#[test]
fn a_new_file_is_added_and_a_deleted_one_says_what_it_holds() {
    let added = |text: &str| match only(text).operation {
        Operation::Add(content) => content,
        operation => panic!("{operation:?}"),
    };
    assert_eq!(added("--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n"), "a\nb\n");
    assert_eq!(added("--- /dev/null\n+++ f\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n"), "a");
    assert_eq!(added("diff --git a/f b/f\nnew file mode 100644\nindex 0000000..e69de29\n"), "");
    assert_eq!(added("--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\r\n"), "a\r\n");
    assert_eq!(added("--- /dev/null\r\n+++ b/f\r\n@@ -0,0 +1 @@\r\n+a\r\n"), "a\n");
    let gone = only(
        "diff --git a/f b/f\ndeleted file mode 100644\n--- a/f\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
    );
    assert_eq!(gone.operation, Operation::Delete { content: Some("a\nb\n".into()) });
    let gone = only("diff --git a/f b/f\ndeleted file mode 100644\nindex e69de29..0000000\n");
    assert_eq!(gone.operation, Operation::Delete { content: None });
    // GNU diff names an absent file, and gives it the Unix epoch as timestamp.
    let dated = "1969-12-31 19:00:00.000000000 -0500";
    assert_eq!(added(&format!("--- a/f\t{dated}\n+++ b/f\t2024\n@@ -0,0 +1 @@\n+a\n")), "a\n");
    let gone = only(&format!("--- a/f\t2024\n+++ b/f\t{dated}\n@@ -1 +0,0 @@\n-a\n"));
    assert!(matches!(gone.operation, Operation::Delete { .. }));
    // A hunk with old lines shows that the file exists after all.
    let update = only("--- /dev/null\n+++ b/f\n@@ -1 +1,2 @@\n a\n+b\n");
    assert!(matches!(update.operation, Operation::Update { .. }) && update.path == "f");
    assert!(refusal("--- /dev/null\n+++ b/f\n", None)[0].contains("NewWithoutContent"));
    assert!(refusal("--- a/f\n+++ /dev/null\n@@ -1,2 +1 @@\n-a\n b\n", None)[0].contains("DeletedButKept"));
}

#[test]
fn renames_and_modes_are_read() {
    let pure = only("diff --git a/x y b/z\nsimilarity index 100%\nrename from x y\nrename to z\n");
    let moved = Operation::Update { hunks: vec![], move_to: Some("z".into()) };
    assert_eq!((&pure.path[..], pure.operation), ("x y", moved));
    let text = "diff --git a/x b/z\nsimilarity index 50%\nrename from x\nrename to z\nindex 1..2 100644\n--- a/x\n+++ \
                b/z\n@@ -1 +1 @@\n-a\n+b\n";
    let Operation::Update { hunks, move_to } = only(text).operation else { panic!() };
    assert_eq!((hunks.len(), move_to.as_deref()), (1, Some("z")));
    let mode = only("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n");
    assert_eq!((mode.executable, mode.path.as_str()), (Some(true), "x"));
    let new = only("diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n");
    assert_eq!(new.executable, Some(true));
    assert!(
        refusal("rename from x\nrename to y\n--- a/q\n+++ b/y\n@@\n-a\n+b\n", None)[0]
            .contains(r#"old: "x", new: "a/q""#)
    );
}

#[test]
fn what_is_no_text_is_refused() {
    for (what, word) in [
        ("new file mode 120000", "SymbolicLink"),
        ("index 1..2 160000", "Submodule"),
        ("copy from x\ncopy to y", "CopiedFile"),
        ("index 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ", "BinaryFile"),
        ("index 1..2 100644\nBinary files a/f and b/f differ", "BinaryFile"),
    ] {
        let refused = refusal(&format!("diff --git a/f b/f\n{what}\n"), None);
        assert!(refused[0].contains(word), "{refused:?}");
    }
    assert!(
        refusal("diff --cc f\nindex 1,2..3\n--- a/f\n+++ b/f\n@@@ -1,1 -1,1 +1,1 @@@\n", None)[0]
            .contains("CombinedDiff")
    );
}

#[test]
fn names_that_differ_need_a_rename() {
    let of = |old: &str, new: &str, path| parse(&format!("--- {old}\n+++ {new}\n@@\n-a\n+b\n"), path);
    assert_eq!(of("x.orig", "x", None).unwrap().sections()[0].path, "x");
    assert_eq!(of("./x", "./x", None).unwrap().sections()[0].path, "x");
    assert_eq!(of("old/x", "new/x", Some("x")).unwrap().sections()[0].path, "x");
    assert_eq!(of("w/x", "w/x", None).unwrap().sections()[0].path, "w/x");
    assert!(of("a/x", "b/y", None).unwrap_err()[0].to_string().contains(r#"old: "x", new: "y""#));
}

#[test]
fn the_path_argument_names_a_file_without_headers_and_must_agree_with_one() {
    let hunk = "@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(parse(hunk, Some("src/f")).unwrap().sections()[0].path, "src/f");
    assert!(refusal(hunk, None)[0].contains("NoFileNamed"));
    assert_eq!(parse(&diff(hunk), Some("/home/x/f")).unwrap().sections()[0].path, "/home/x/f");
    let refused = refusal(&diff(hunk), Some("g"));
    assert!(refused[0].contains(r#"path: "g", named: "f""#));
    let fenced = format!("```\n{hunk}```\nand\n```\n{hunk}```\n");
    let patch = parse(&fenced, Some("f")).unwrap();
    let Operation::Update { hunks, .. } = &patch.sections()[0].operation else { panic!() };
    assert_eq!((patch.sections().len(), hunks.len(), hunks[1].number), (1, 2, 2));
}

#[test]
fn hunks_are_numbered_over_the_whole_request() {
    let patch = sections("--- f\n+++ f\n@@\n-a\n@@\n-a\n--- g\n+++ g\n@@\n-a\n");
    let Operation::Update { hunks, .. } = &patch[1].operation else { panic!() };
    assert_eq!(hunks[0].number, 3);
}

#[test]
fn every_problem_is_reported_with_its_line() {
    let text = "--- a/f\n+++ b/g\n@@\n-a\n--- a/h\n+++ b/h\n--- a/i\n+++ b/i\n@@\n@@\n-a\n--- a/j\n+++ b/j\n@@\n-ok\n";
    let refused = refusal(text, None);
    assert_eq!(refused.len(), 3, "{refused:#?}");
    for (problem, line) in refused.iter().zip([1, 5, 9]) {
        assert!(problem.ends_with(&format!("on line {line}")), "{problem}");
    }
    assert!(refusal("nothing here", None)[0].contains("NoDiff"));
    assert!(refusal("--- a/f\n@@\n-a\n", None)[0].contains("OneSideNamed"));
}

#[test]
fn a_diff_that_was_cut_off_is_refused() {
    assert!(refusal("```diff\n--- a/f\n+++ b/f\n@@ -1,5 +1,5 @@\n a\n-b\n+c\n", None)[0].contains("CutOff"));
    assert!(parse("```diff\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", None).is_ok());
}

#[test]
fn a_change_of_line_endings_is_not_silently_left_out() {
    assert!(refusal(&diff("@@ -1,2 +1,2 @@\n-a\r\n-b\r\n+a\n+c\n"), None)[0].contains("LineEndings"));
    assert_eq!(signs(&diff("@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n")), [" a", "-b", "+c"]);
    // New lines get the endings of those that they replace or stand beside, so they must have them here.
    for other in [
        "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\n",
        "@@ -1,2 +1,3 @@\n a\n b\n+c\r\n",
        "@@ -1,2 +1,2 @@\n-a\n-b\n+c\r\n+d\r\n",
        "@@ -1,2 +1,3 @@\n+c\n a\r\n b\n",
    ] {
        assert!(refusal(&diff(other), None)[0].contains("LineEndings"), "{other}");
    }
    let emptied = diff("@@ -1 +0,0 @@\n-c\r\n");
    assert!(parse(&emptied, None).is_ok());
    let filled = diff("@@ -0,0 +1,1 @@\n+c\r\n");
    assert!(recognise::reverse(&emptied, None).unwrap().unwrap().ends_with(&filled));
    // Where those have both, either is one of them.
    assert_eq!(signs(&diff("@@ -1,2 +1,3 @@\n a\r\n+c\n b\n")), [" a", "+c", " b"]);
    assert_eq!(signs(&diff("@@ -1,2 +1,2 @@\n-a\r\n-b\n+c\r\n+d\n")), ["-a", "-b", "+c", "+d"]);
    let longer =
        "@@ -1,2 +1,3 @@\n a\r\n-b\n\\ No newline at end of file\n+b\r\n+c\n\\ No newline at end of file\n";
    assert_eq!(signs(&diff(longer)), [" a", "-b", "+b", "+c"]);
}

#[test]
fn the_mark_of_a_file_is_none_of_its_lines() {
    for (lines, expected) in [
        (" \u{feff}a\n-b\n+B\n", [" a", "-b", "+B"].to_vec()),
        ("-\u{feff}a\n+\u{feff}A\n b\n", ["-a", "+A", " b"].to_vec()),
        ("+\u{feff}x\n-\u{feff}a\n+a\n", ["+x", "-a", "+a"].to_vec()),
        // The mark itself comes or goes.
        ("-\u{feff}a\n+a\n b\n", ["-\u{feff}a", "+a", " b"].to_vec()),
    ] {
        assert_eq!(signs(&diff(&format!("@@\n{lines}"))), expected, "{lines}");
    }
}

proptest::proptest! {
    /// Every parser answers any lines, and a refusal names a line.
    #[test]
    fn no_text_is_too_odd(picked in proptest::collection::vec((0usize..40, "[-+ !a1,.\\\\é]{0,3}"), 0..14)) {
        const ODD: [&str; 34] = [
            "--- a/f", "+++ b/f", "+++ /dev/null", "--- /dev/null", "@@ -1,2 +1,2 @@", "@@", "@@ -0,0 +1 @@",
            "@@ -99999999999999999999 +1 @@", "@@ -1,18446744073709551615 +1,18446744073709551615 @@", "```diff",
            "```", "diff --git a/f b/f", "diff --git \"a/\\303", "new file mode 100644", "deleted file mode 100644",
            "rename from f", "rename to g", "\\ No newline at end of file", "Index: f", "=======", "-- ", "2.1",
            "***************", "*** 1,2 ****", "--- 1,2 ----", "*** f", "--- f", "--- 0 ----",
            "1,18446744073709551615c", "18446744073709551615a", ".", "s/.//", "a18446744073709551615 1", "d1 1",
        ];
        let text: String = picked
            .iter()
            .map(|(i, other)| format!("{}\n", ODD.get(*i).copied().unwrap_or(other)))
            .collect();
        for path in [None, Some("f")] {
            for parse in [parse, super::super::context::parse, super::super::ed::parse, super::super::rcs::parse] {
                if let Err(problems) = parse(&text, path) {
                    for problem in problems {
                        proptest::prop_assert!(format!("{problem}").contains("on line "), "{problem}");
                    }
                }
            }
        }
    }
}

#[test]
fn prose_that_speaks_of_binary_files_is_no_header() {
    let mode = "diff --git a/f b/f\nold mode 100644\nnew mode 100755\n";
    for prose in ["Binary files stay as they are.", "Only their modes differ", ""] {
        let section = only(&format!("{mode}{prose}\n"));
        assert_eq!((&section.path[..], section.executable), ("f", Some(true)), "{prose}");
    }
}

#[test]
fn the_side_of_a_new_file_says_its_name_whatever_stands_above() {
    let diff = |name: &str| format!("diff --git a/x b/x\n--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+n\n");
    for name in ["b/x", "x"] {
        let section = only(&diff(name));
        assert_eq!((&section.path[..], section.operation), ("x", Operation::Add("n\n".into())));
    }
    for name in ["y", "b/y", "b/x/x", "b/b/x"] {
        assert!(refusal(&diff(name), None)[0].contains("OtherGitLine"), "{name}");
    }
}

#[test]
fn all_headers_name_the_same_files() {
    let git = |names: &str| format!("diff --git {names}\n");
    let sides = |old: &str, new: &str| format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n-a\n+b\n");
    let renamed = |old: &str, new: &str| format!("rename from {old}\nrename to {new}\n");
    for (text, path) in [
        (git("a/x b/x") + &sides("a/x", "b/x"), "x"),
        (git("a/x b/x") + &sides("x", "x"), "x"),
        (git("x x") + &sides("a/x", "b/x"), "x"),
        (git("a/x b/x") + &sides("i/x", "w/x"), "x"),
        (git("i/x w/x") + &sides("i/x", "w/x"), "x"),
        (git("x y x y") + &sides("x y\t", "x y\t"), "x y"),
        (git("\"a/\\tx\" \"b/\\tx\"") + &sides("\"a/\\tx\"", "\"b/\\tx\""), "\tx"),
        (git("./x ./x") + &sides("x", "x"), "x"),
        (git("a/x b/y") + &renamed("x", "y"), "x"),
        (git("a/x b/y") + &renamed("x", "y") + &sides("a/x", "b/y"), "x"),
        (git("a/x y b/z w") + &renamed("x y", "z w"), "x y"),
        (git("a/x b/x") + &renamed("a/x", "b/x") + &sides("a/x", "b/x"), "x"),
        (git("a/x b/x") + "deleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "x"),
    ] {
        assert_eq!(only(&text).path, path, "{text}");
    }
    for text in [
        git("a/x b/x") + &sides("a/y", "b/y"),
        git("a/x b/y") + &sides("a/x", "b/x"),
        git("a/x b/x") + &sides("b/x", "b/x"),
        git("a/x b/x") + &renamed("x", "y"),
        git("a/x b/y") + &renamed("y", "x"),
        git("a/x y b/z w") + &renamed("x", "w"),
        git("a/x y b/z w") + &sides("a/x", "b/x"),
        git("a/x b/x") + "deleted file mode 100644\n--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
    ] {
        assert!(refusal(&text, None)[0].contains("OtherGitLine"), "{text}");
    }
    let named = "--- y\n+++ z\n@@ -1 +1 @@\n-a\n+b\n";
    assert!(refusal(named, Some("x"))[0].contains("AnotherFile"));
    assert!(refusal(named, None)[0].contains("DifferentNames"));
}

#[test]
fn a_reversed_diff_takes_its_changes_back() {
    let reversed = |text: &str| recognise::reverse(text, None).unwrap().unwrap();
    for (text, expected) in [
        (
            "diff --git a/x b/y\nold mode 100644\nnew mode 100755\nrename from x\nrename to y\n--- a/x\n+++ b/y\n\
             @@ -3,2 +5,3 @@ fn f() {\n a\n-b\n+c\n+d\n\\ No newline at end of file\n",
            "diff --git a/y b/x\nold mode 100755\nnew mode 100644\nrename from y\nrename to x\n--- a/y\n+++ b/x\n\
             @@ -5,3 +5,2 @@\n a\n+b\n-c\n-d\n\\ No newline at end of file\n",
        ),
        (
            "diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
            "diff --git a/x b/x\n--- a/x\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n",
        ),
        (
            "diff --git a/x b/x\ndeleted file mode 100755\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
            "diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n",
        ),
    ] {
        assert_eq!(reversed(text), expected);
    }
    let of_no_diff = recognise::reverse("*** Begin Patch\n*** Delete File: x\n*** End Patch\n", None);
    assert_eq!(of_no_diff.unwrap(), None);
}

proptest! {
    #[test]
    fn reversed_the_diff_of_two_texts_leads_back(
        lines in prop::collection::vec("[a-d]{0,2}", 0..14),
        changes in prop::collection::vec((0usize..14, 0usize..3, prop::collection::vec("[a-d]{0,2}", 0..3)), 1..4),
        is_ended in any::<[bool; 2]>(),
    ) {
        let mut new = lines.clone();
        for (at, gone, come) in changes {
            let at = at.min(new.len());
            let end = (at + gone).min(new.len());
            new.splice(at..end, come);
        }
        let text = |lines: &[String], is_ended: bool| {
            let mut text = lines.join("\n");
            text.push_str(if is_ended && !lines.is_empty() { "\n" } else { "" });
            Arc::new(Text::new(text.into_bytes()).unwrap())
        };
        let (old, new) = (text(&lines, is_ended[0]), text(&new, is_ended[1]));
        let diff = crate::diff::between("f", &old, &new).text();
        if diff.is_empty() {
            return Ok(());
        }
        let reversed = recognise::reverse(&diff, None).unwrap();
        // Lines that only come, and end a file without a newline, cannot be printed.
        let Some(reversed) = reversed else { return Ok(()) };
        let mut sources = Sources::default();
        sources.insert("f", "f", Source::Present(Arc::clone(&new)));
        // Among equal lines, a place may be refused as ambiguous.
        if let Ok(plan) = build(&parse(&reversed, None).unwrap(), &sources, &FindLimits::default()) {
            prop_assert_eq!(plan.files()[0].action.pieces().unwrap().concat(), old.bytes(), "{}", reversed);
        }
    }
}
