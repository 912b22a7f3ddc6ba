//! Requests that are crafted to take long. Each must end soon, with an edit or a refusal.
//!
//! Counted work bounds them, so a test that expects `work-limit` lowers the limit: the point is that the loop counts,
//! and counting to the end would only take time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use emend_edit::find::FindLimits;
use emend_edit::patch::recognise::{self, Format};
use emend_edit::patch::{Patch, TextChange};
use emend_edit::plan::{self, Source, Sources};
use emend_edit::problem::Kind;
use emend_edit::{Code, Problem, Text};

/// A generous timeout: the tests are not optimised, and the machine may be busy. A quadratic loop takes far longer.
const SOON: Duration = Duration::from_secs(60);

/// Returns the code of the first problem; `None` if the request can be planned.
fn outcome(patch: Result<Patch, Vec<Problem>>, file: &str, work: u64) -> Option<Code> {
    let begun = Instant::now();
    let planned = patch.and_then(|patch| {
        let mut sources = Sources::default();
        sources.insert("a", "a", Source::Present(Arc::new(Text::new(file.into()).expect("text"))));
        plan::build(&patch, &sources, &FindLimits { work, ..FindLimits::default() })
    });
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    planned.err().map(|problems| problems[0].code())
}

fn parsed(text: &str) -> Result<Patch, Vec<Problem>> {
    recognise::parse(text, None, None)
}

fn v4a(hunks: &str) -> Result<Patch, Vec<Problem>> {
    parsed(&format!("*** Begin Patch\n*** Update File: a\n{hunks}*** End Patch\n"))
}

fn replace(old: String, new: &str) -> Result<Patch, Vec<Problem>> {
    let change = TextChange { old, new: new.into(), all: false, expected: None };
    Patch::replace("a", vec![change]).map_err(|problem| vec![problem])
}

fn numbered(lines: usize) -> String {
    (0..lines).map(|i| format!("line number {i}\n")).collect()
}

const PLENTY: u64 = 250_000_000;
const LITTLE: u64 = 2_000_000;

#[test]
fn parsers_take_time_in_proportion_to_the_text() {
    let lines = [
        "<<<<<<< SEARCH\n",
        "<<<<<<< SEARCH\n=======\n",
        "<<<<<<< SEARCH\nx\n=======\n=======\n",
        ">>>>>>> REPLACE\n",
        "------- SEARCH\n",
        "...\n",
        "--- a\n",
        "--- a\n+++ b\n",
        "@@\n",
        "@@ -1 +1 @@\n",
        "diff --git a/x b/x\n",
        "***************\n",
        "*** 1 ****\n",
        "*** a\n--- b\n",
        "*** Begin Patch\n",
        "*** End Patch\n",
        "*** Update File: a\n",
        "1d\n",
        "1a\n",
        "d1 1\n",
        "a1 1\n",
        "```\n",
        "````md\n```\n",
        "`a.py`\n",
        "<source>x\n",
        "\n",
        "\\ No newline at end of file\n",
    ];
    for line in lines {
        let text = line.repeat(60_000 / line.matches('\n').count());
        let begun = Instant::now();
        for format in Format::ALL {
            // Any result will do.
            let _ = recognise::parse(&text, Some(*format), Some("a"));
        }
        let _ = parsed(&text);
        assert!(begun.elapsed() < SOON, "{line:?}: {:?}", begun.elapsed());
    }
}

#[test]
fn fences_in_fences_and_prose_without_end() {
    let growing: String = (3..800).map(|n| "`".repeat(n) + "\n").collect();
    assert_eq!(outcome(parsed(&growing), "a\n", PLENTY), Some(Code::InvalidFormat));
    let inner = format!("a.md\n````\n{}", "```x\n".repeat(100_000));
    assert_eq!(outcome(parsed(&inner), "a\n", PLENTY), Some(Code::InvalidFormat));
    assert_eq!(outcome(parsed(&"a ".repeat(1_000_000)), "a\n", PLENTY), Some(Code::InvalidFormat));
}

#[test]
fn a_long_hunk_in_a_file_of_equal_lines() {
    let file = "same line here\n".repeat(330_000);
    let hunk = format!("@@\n{}-other line\n+x\n", " same line here\n".repeat(2_000));
    assert_eq!(outcome(v4a(&hunk), &file, LITTLE), Some(Code::WorkLimit));
    let old = "same line here\n".repeat(2_000) + "other";
    assert_eq!(outcome(replace(old, "x"), &file, LITTLE), Some(Code::WorkLimit));
    let blank = format!("@@\n{}-x\n", " \n".repeat(2_000));
    assert_eq!(outcome(v4a(&blank), &"\n".repeat(1_000_000), PLENTY), Some(Code::HunkContextMismatch));
}

#[test]
fn a_hunk_of_half_the_file_that_differs_in_one_line() {
    let wanted: String = numbered(50_010).lines().skip(10).map(|line| format!("-{line}\n")).collect();
    let file = numbered(100_000);
    let hunk = format!("@@\n{}+x\n", wanted.replace("line number 30000\n", "line numbre 30000\n"));
    assert_eq!(outcome(v4a(&hunk), &file, PLENTY), Some(Code::HunkContextMismatch));
    assert_eq!(outcome(v4a(&format!("@@\n{wanted}+x\n")), &file, PLENTY), None);
}

#[test]
fn a_request_of_too_many_hunks_ends_at_the_first_that_is_too_much() {
    let file = numbered(20_000);
    let hunks: String = (0..20_000).map(|i| format!("@@\n-line number {i}\n+x\n")).collect();
    let sources = || {
        let mut sources = Sources::default();
        sources.insert("a", "a", Source::Present(Arc::new(Text::new(file.clone().into()).expect("text"))));
        sources
    };
    let limits = FindLimits { work: LITTLE, ..FindLimits::default() };
    let problems = plan::build(&v4a(&hunks).expect("a patch"), &sources(), &limits).expect_err("too much");
    assert_eq!(problems.len(), 1, "the others were not tried");
    assert_eq!((problems[0].code(), problems[0].fit.is_none()), (Code::WorkLimit, true));
    let sections: String =
        (0..5_000).map(|i| format!("*** Update File: a\n@@\n-line number {i}\n+x\n")).collect();
    let patch = parsed(&format!("*** Begin Patch\n{sections}*** End Patch\n")).expect("a patch");
    let problems = plan::build(&patch, &sources(), &limits).expect_err("too much");
    assert_eq!((problems.len(), problems[0].code()), (1, Code::WorkLimit));
}

#[test]
fn only_of_the_first_hunks_that_are_not_there_the_nearest_lines_are_looked_for() {
    let hunks: String = (0..30).map(|i| format!("@@\n-line numbre {i}\n+x\n")).collect();
    let mut sources = Sources::default();
    sources.insert("a", "a", Source::Present(Arc::new(Text::new(numbered(100).into()).expect("text"))));
    let patch = v4a(&hunks).expect("a patch");
    let problems = plan::build(&patch, &sources, &FindLimits::default()).expect_err("no hunk is there");
    let shown = problems.iter().map(|problem| match &*problem.kind {
        Kind::HunkContextMismatch { near, .. } => !near.places.is_empty(),
        kind => panic!("{kind:?}"),
    });
    assert_eq!(shown.collect::<Vec<_>>(), [[true; 10], [false; 10], [false; 10]].concat());
}

#[test]
fn a_hunk_is_looked_for_by_the_line_that_says_most() {
    let file = "return None\n".repeat(100_000) + "return the_total_of(items)\n";
    let hunk = "@@\n return None\n-return the_total_of(items)\n+x\n";
    assert_eq!(outcome(v4a(hunk), &file, 100_000), None);
}

#[test]
fn sections_of_one_file_cost_what_each_of_them_makes() {
    let file = numbered(2_000);
    let hunks =
        |before: &str| -> String { (0..60).map(|i| format!("{before}@@\n-line number {i}\n+x\n")).collect() };
    let outcome = |sections: &str| {
        outcome(parsed(&format!("*** Begin Patch\n{sections}*** End Patch\n")), &file, 1_000_000)
    };
    let update = "*** Update File: a\n";
    assert_eq!(outcome(&format!("{update}{}", hunks(""))), None);
    assert_eq!(outcome(&hunks(update)), Some(Code::WorkLimit));
    let added: String = file.lines().map(|line| format!("+{line}\n")).collect();
    let (add, update) = (format!("*** Add File: b\n{added}"), "*** Update File: b\n");
    assert_eq!(outcome(&format!("{add}{update}{}", hunks(""))), None);
    assert_eq!(outcome(&format!("{add}{}", hunks(update))), Some(Code::WorkLimit));
}

#[test]
fn a_request_of_very_many_files() {
    let added: String = (0..50_000).map(|i| format!("*** Add File: f{i}\n+x\n")).collect();
    assert_eq!(outcome(parsed(&format!("*** Begin Patch\n{added}*** End Patch\n")), "a\n", PLENTY), None);
    let moved: String = (0..20_000).map(|i| format!("*** Move File: f{i} -> f{}\n", i + 1)).collect();
    let chain = format!("*** Begin Patch\n*** Move File: a -> f0\n{moved}*** End Patch\n");
    assert_eq!(outcome(parsed(&chain), "a\n", PLENTY), None);
}

#[test]
fn very_many_anchors() {
    let hunk = format!("{}-a\n+b\n", "@@ x\n".repeat(100_000));
    assert_eq!(outcome(v4a(&hunk), &"x\na\n".repeat(500), LITTLE), Some(Code::WorkLimit));
    // Each block reaches to the end of the file.
    assert_eq!(outcome(v4a("@@ {\n-a\n+b\n"), &"{\n".repeat(300_000), LITTLE), Some(Code::WorkLimit));
}

#[test]
fn very_many_searches_of_a_long_file() {
    let file = numbered(20_000);
    let change =
        |i| TextChange { old: format!("number {i}\n"), new: "y\n".into(), all: false, expected: None };
    let patch = Patch::replace("a", (0..20_000).map(change).collect()).map_err(|problem| vec![problem]);
    assert_eq!(outcome(patch, &file, LITTLE), Some(Code::WorkLimit));
}

#[test]
fn text_that_nearly_matches_everywhere() {
    let near = "a".repeat(1_000_000);
    let file = "a".repeat(5_000_000);
    assert_eq!(outcome(replace(near.clone() + "b", "c"), &file, PLENTY), Some(Code::SearchNotFound));
    assert_eq!(outcome(replace(near.clone(), "c"), &file, PLENTY), Some(Code::AmbiguousMatch));
    assert_eq!(outcome(replace(near + "\nb", "c"), &file, PLENTY), Some(Code::WorkLimit));
}

#[test]
fn lines_of_a_megabyte() {
    let long = "word ".repeat(200_000);
    let file = format!("{long}\n");
    let missing = v4a(&format!("@@\n-{long}x\n+y\n"));
    assert_eq!(outcome(missing, &file, PLENTY), Some(Code::HunkContextMismatch));
    assert_eq!(outcome(v4a(&format!("@@\n-{long}\n+{long}y\n")), &file, PLENTY), None);
    let curly = format!("{}\n", "it\u{2019}s ".repeat(100_000));
    assert_eq!(outcome(replace("it's ".repeat(100_000), "x"), &curly, PLENTY), None);
}

#[test]
fn lookalikes_of_a_long_file() {
    let file = "\u{201c}caf\u{e9}\u{201d} it\u{2019}s here\n".repeat(100_000);
    let hunk = format!("@@\n{}-nope\n+x\n", " \"caf\u{e9}\" it's here\n".repeat(100));
    assert_eq!(outcome(v4a(&hunk), &file, LITTLE), Some(Code::WorkLimit));
    // In blocks this long, removed and added lines are not paired.
    let old: String = (0..10_000).map(|i| format!("-\"a\" {i} it's\n")).collect();
    let new: String = (0..9_999).map(|i| format!("+\"b\" {i} it's\n")).collect();
    let file: String = (0..10_000).map(|i| format!("\u{201c}a\u{201d} {i} it\u{2019}s\n")).collect();
    assert_eq!(outcome(v4a(&format!("@@\n{old}{new}")), &file, PLENTY), None);
}

#[test]
fn the_indentation_of_a_million_braces() {
    let file = "}\n".repeat(1_000_000);
    assert_eq!(outcome(v4a("@@\n-    }\n+y\n"), &file, PLENTY), Some(Code::AmbiguousMatch));
    let ragged: String = (0..100).map(|i| format!("-{}}}\n", " ".repeat(i % 7))).collect();
    assert_eq!(outcome(v4a(&format!("@@\n{ragged}+y\n")), &file, LITTLE), Some(Code::WorkLimit));
}

#[test]
fn very_many_elisions() {
    let elision = "// ... existing code ...\n";
    let file = "x\n".repeat(300_000) + elision;
    assert_eq!(outcome(Ok(Patch::write("a", elision.repeat(50_000))), &file, PLENTY), None);
    let other = "// ... rest of the code ...\n";
    let refused = outcome(Ok(Patch::write("a", other.repeat(50_000))), &file, PLENTY);
    assert_eq!(refused, Some(Code::OmissionPlaceholder));
}
