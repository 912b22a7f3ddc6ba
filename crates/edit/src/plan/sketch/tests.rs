//! What sketches change, what is refused, and that no sketch is ever wrong.

use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use alloc::{format, vec};

use super::*;
use crate::find::FindLimits;
use crate::patch::Patch;
use crate::plan::{PlacesOf, Source, Sources, build};
use crate::text::Text;
use proptest::prelude::*;

#[path = "../../../tests/random/sketch.rs"]
#[expect(unreachable_pub, reason = "the fuzz target uses it too")]
mod random;

/// The file after a sketch, or the line of the sketch and what is not certain about it.
fn applied(file: &str, sketch: &str) -> Result<String, String> {
    applied_with(file, sketch, None)
}

/// The same, with a way to find definitions.
fn applied_with(file: &str, sketch: &str, places: Option<PlacesOf>) -> Result<String, String> {
    let mut sources = Sources::default();
    places.into_iter().for_each(|places| sources.places = Some(places));
    sources.insert("a", "a", Source::Present(Arc::new(Text::new(file.into()).unwrap())));
    let patch = Patch::sketch("a", Sketch::parse(sketch));
    let plan =
        build(&patch, &sources, &FindLimits::default()).map_err(|problems| match &*problems[0].kind {
            Kind::UncertainSketch(uncertain) => {
                let doubt = format!("{:?}", uncertain.doubt);
                format!("{}: {}", uncertain.line, doubt.split(' ').next().unwrap_or_default())
            }
            other => other.code().to_string(),
        })?;
    let pieces = plan.files()[0].action.pieces().unwrap().concat();
    Ok(String::from_utf8(pieces).unwrap())
}

const FILE: &str = "import os\nimport sys\n\n\ndef first(x):\n    y = x + 1\n    return y\n\n\ndef second(x):\n    z = x * 2\n    return z\n";

#[test]
fn lines_are_alike_that_share_half_of_their_words() {
    let alike = |a: &str, b: &str| are_alike(a.as_bytes(), b.as_bytes());
    assert!(alike("one two", "one three") && alike("one two", "two one") && alike("one", "one two three"));
    assert!(!alike("one two three", "one four five") && !alike("one", "two") && !alike("", ""));
    assert!(!alike("one", "one two three four"));
}

#[test]
fn lines_between_anchors_are_replaced_and_all_else_stays() {
    let after = |old: &str, new: &str| Ok(FILE.replace(old, new));
    for (sketch, wanted) in [
        (
            "# ... existing code ...\ndef first(x):\n    y = x + 5\n    return y\n# ... existing code ...\n",
            after("x + 1", "x + 5"),
        ),
        (
            "import os\nimport json\nimport sys\n# ...\n    z = x * 2\n    print(z)\n    return z\n",
            after("import sys", "import json\nimport sys")
                .map(|text: String| text.replace("* 2\n", "* 2\n    print(z)\n")),
        ),
        ("import re\nimport os\n# ... rest\n", after("import os", "import re\nimport os")),
        (
            "# ...\n    z = x * 2\n    return z\n\n\ndef third():\n    pass\n",
            Ok(format!("{FILE}\n\ndef third():\n    pass\n")),
        ),
        ("# ...\n    z = x * 2\n# ... removed ...\n", Err("3: NewAtEdge".into())),
        ("# ...\ndef first(x):\n    # ... removed ...\n    return y\n# ...\n", after("    y = x + 1\n", "")),
    ] {
        assert_eq!(applied(FILE, sketch), wanted, "{sketch}");
    }
}

#[test]
fn what_is_not_certain_is_refused() {
    for (sketch, refused) in [
        ("# ...\n", "1: OnlyMarkers"),
        ("# ...\ndef first(x):\n    return y\n# ...\n", "3: Deletes"),
        ("import sys\n# ...\n", "1: NothingAbove"),
        ("# ...\n    return y\n", "2: NothingBelow"),
        ("# ...\n    z = x * 3\n# ...\n", "2: NoAnchor"),
        ("# ...\n    y = x + 9\n    return y\n# ...\n", "2: NewAtEdge"),
        ("# ...\n    return z\n# ...\n    return y\n# ...\n", "2: OutOfOrder"),
        ("# ...\nimport os\nimport sys\n# ...\n", "no-op"),
        ("# ...\ndef first(x):\n    y = 1  # ... existing code ...\n    return y\n# ...\n", "3: LikeMarker"),
        ("import os\n# ...\nimport sys\n# ...\n", "3: NothingKept"),
    ] {
        assert_eq!(applied(FILE, sketch), Err(refused.into()), "{sketch}");
    }
    assert_eq!(applied("a1b\n# ...\nc1d\n", "a1b\n# ...\nc1d\ne1f\n"), Err("2: MarkerInFile".into()));
}

#[test]
fn a_blank_line_beside_a_marker_may_be_any_of_the_file() {
    let file = "first 1\n\nsecond 2\n\nthird 3\n\n";
    // The second line is replaced, or everything is new above it: the blank line does not say.
    for (sketch, refused) in [
        ("first 1\n}\n\n}\n\n// ...\n", "4: Several"),
        ("first 1\nnew 1\n\nnew 2\n\n// ...\n", "4: Several"),
        ("first 1\nnew 1\nnew 2\n\n// ...\n", "3: Several"),
        ("// ...\n\nnew 1\n\nnew 2\nthird 3\n", "3: Several"),
    ] {
        assert_eq!(applied(file, sketch), Err(refused.into()), "{sketch}");
    }
    let repeated = "same 1\n\nsame 2\nonce 3\nsame 1\nsame 2\n";
    let sketch = "// ...\n\nsame 1\nsame 2\nonce 3\n// ...\n";
    assert_eq!(applied(repeated, sketch), Err("3: Several".into()));
    assert_eq!(applied("first 1\n\n}\n", "first 1\nnew 2\n// ...\n\n}\n"), Err("5: NoAnchor".into()));
    // One line cannot have come in the place of three.
    let file = "first 1\n\nsecond 2\nsecond 3\nsecond 4\n\nthird 3\n\n";
    for (sketch, old, new) in [
        ("first 1\nnew 1\n\n// ...\n", "first 1\n", "first 1\nnew 1\n"),
        ("// ...\n\nnew x\nthird 3\n\n", "third 3", "new x\nthird 3"),
    ] {
        assert_eq!(applied(file, sketch), Ok(file.replace(old, new)), "{sketch}");
    }
}

#[test]
fn an_edge_is_none_of_the_lines_that_were_followed() {
    let file = "import (\n\t\"errors\"\n)\n\nvar errOne = 1\n\nfunc two() {\n}\n";
    let sketch = "// ...\nimport (\n\t\"errors\"\n)\n\nvar (\n\terrOne = 1\n\terrMore = 2\n)\n// ...\n";
    assert_eq!(applied(file, sketch), Err("9: NewAtEdge".into()));
    let file = "func two() {\n}\n\nvar errOne = 1\n\n}\n\tknown(3)\n";
    let sketch = "// ...\n}\n\tone(1)\n\n}\n\tknown(3)\n";
    assert_eq!(applied(file, sketch), Err("2: Several".into()));
}

#[test]
fn a_new_line_above_a_block_may_be_its_head() {
    let file = "alpha(1) {\n    common(2);\n}\nbeta(3) {\n    known(4);\n}\n";
    let sketch = "// ...\ngamma(5) {\n    known(4);\n}\n";
    assert_eq!(applied(file, sketch), Err("2: NewAtEdge".into()));
    let inside = "// ...\n    fresh();\n    known(4);\n}\n";
    assert_eq!(applied(file, inside), Ok(file.replace("    known", "    fresh();\n    known")));
}

#[test]
fn a_marker_beside_new_lines_stands_for_lines() {
    let file = "known one\nother two\n";
    assert_eq!(applied(file, "// ...\nfresh thing\nknown one\n// ...\n"), Err("2: NewAtEdge".into()));
    assert_eq!(applied(file, "// ...\nother two\nfresh thing\n// ...\n"), Err("3: NewAtEdge".into()));
}

#[test]
fn a_new_line_beside_a_marker_is_not_one_that_the_marker_stands_for() {
    let file = "plugins=(\n  macos\n  rake\n  ruby\n  vim-keys\n)\n";
    // It may be a misspelt line of the file.
    assert_eq!(applied(file, "// ...\n  macos\n  rake\n  ruby2\n// ...\n"), Err("4: NewAtEdge".into()));
    // It would be there twice.
    let swapped = "// ...\n  macos\n  fresh\n  ruby\n  rake\n// ...\n";
    assert_eq!(applied(file, swapped), Err("4: OutOfOrder".into()));
}

#[test]
fn a_line_that_goes_may_come_again_further_down() {
    let file = "one(1)\n  write(type)\nbytes(2)\nkept(3)\nkept(4)\nlast(5)\n}\n";
    let sketch = "one(1)\n  self.write()\nbytes(2)\n// ...\nlast(5)\n}\n\nfresh(6) {\n  write(type)\n}\n";
    let after =
        "one(1)\n  self.write()\nbytes(2)\nkept(3)\nkept(4)\nlast(5)\n}\n\nfresh(6) {\n  write(type)\n}\n";
    assert_eq!(applied(file, sketch).as_deref(), Ok(after));
}

#[test]
fn a_last_part_that_changes_nothing_may_be_a_bracket() {
    let file = "alpha(1) {\n  one;\n  two;\n  three;\n}\n";
    let sketch = "alpha(1) {\n  one;\n  fresh;\n  two;\n  // ...\n}\n";
    assert_eq!(applied(file, sketch), Ok(file.replace("  two;", "  fresh;\n  two;")));
}

#[test]
fn a_definition_gets_a_new_name_above_lines_that_stay() {
    fn places(_: &str, text: &[u8]) -> Vec<DefinitionPlace> {
        let lines = text.split(|byte| *byte == b'\n').enumerate();
        let heads = lines.filter_map(|(at, line)| Some((at + 1, line.strip_prefix(b"## ")?)));
        let place = |(line, name)| DefinitionPlace {
            title: String::from_utf8_lossy(name).into(),
            path: String::from_utf8_lossy(name).into(),
            first: line,
            name_line: line,
            last: line + 2,
            is_certain: true,
        };
        heads.map(place).collect()
    }
    let file = "intro 1\n\n## Known Bugs here\n\nbody 2\n\nend 3\n";
    for (sketch, is_taken) in [
        ("intro 1\n\n## Known Bug here\n\nbody 2\n<!-- ... -->\n", true),
        ("intro 1\n\n## Other thing\n\nbody 2\n<!-- ... -->\n", false),
        ("intro 1\n\n## Known Bug here\n\nother 7\n\nend 3\n", false),
    ] {
        assert_eq!(applied_with(file, sketch, Some(places)).is_ok(), is_taken, "{sketch}");
    }
}

#[test]
fn new_lines_are_indented_with_the_characters_of_the_file() {
    let tabs = "def f(a):\n\tif a:\n\t\tone = 1\n\treturn a\ndone(1)\n";
    let spaces = "def f(a):\n    if a:\n        one = 2\n    return a\ndone(1)\n";
    assert_eq!(applied(tabs, spaces), Err("2: OtherIndentation".into()));
    assert_eq!(applied(spaces, tabs), Err("2: OtherIndentation".into()));
    assert_eq!(applied(tabs, &tabs.replace("= 1", "= 2")), Ok(tabs.replace("= 1", "= 2")));
    // The lines of a comment have a blank of their own.
    let comment = "/*\n * One.\n */\nf() {\n\tone();\n}\n";
    let more = comment.replace(" * One.\n", " * One.\n * Two.\n");
    assert_eq!(applied(comment, &more), Ok(more.clone()));
}

#[test]
fn endings_tabs_and_marks_of_the_file_stay() {
    let crlf = "\u{feff}one1\r\n\ttwo2\r\nthree3";
    assert_eq!(applied(crlf, "one1\n\tTWO2\nthree3\n").as_deref(), Ok("\u{feff}one1\r\n\tTWO2\r\nthree3"));
    assert_eq!(
        applied(crlf, "// ...\n\ttwo2\nthree3\nfour4").as_deref(),
        Ok("\u{feff}one1\r\n\ttwo2\r\nthree3\r\nfour4")
    );
}

#[test]
fn an_edge_that_stands_often_is_read_where_nothing_is_lost() {
    let file = "alpha(1) {\n  aa one;\n}\n\nbeta(2) {\n  bb two;\n  cc three;\n  dd four;\n}\n\nmode(3) {\n  ee five;\n}\n";
    let new = "fresh(4) {\n  ff six;\n}\n\n";
    let sketch = format!("// ...\n}}\n\n{new}mode(3) {{\n// ...\n");
    assert_eq!(applied(file, &sketch), Ok(file.replace("mode", &format!("{new}mode"))));
    // As many lines as the block above has may have come in its place.
    let sketch = sketch.replace("ff six;", "ff six;\n  gg seven;\n  hh eight;");
    assert_eq!(applied(file, &sketch), Err("2: Several".into()));
}

#[test]
fn a_closing_line_above_what_is_found_is_not_new() {
    let file = "a\n<Pop>\n  <div className=\"row one\">\n    <span>tree</span>\n  </div>\n</Pop>\nz\n";
    let sketch =
        "// ...\n  </div>\n  <div className=\"row one\">\n    <span>auto</span>\n  </div>\n</Pop>\n// ...\n";
    assert_eq!(applied(file, sketch), Err("2: NewAtEdge".into()));
}

#[test]
fn a_sketch_without_a_marker_begins_with_the_file() {
    let file = "// Copyright 2014 Some Name.\nuse one;\nuse two;\nthird line\n";
    let sketch = "// Copyright 2020 Some Name.\nuse one;\n// ...\n";
    assert_eq!(applied(file, sketch), Ok(file.replace("2014", "2020")));
    let other = sketch.replace("Copyright 2020 Some Name", "Licence");
    assert_eq!(applied(file, &other), Err("1: NothingAbove".into()));
    assert_eq!(applied(file, &format!("\u{feff}{sketch}")), Ok(file.replace("2014", "2020")));
}

#[test]
fn lines_beside_a_shown_blank_line_replace_those_of_the_file() {
    let file = "import (\n\t\"os\"\n\n\t\"github.com/a/b/v23/c\"\n\t\"golang.org/x/d\"\n)\n";
    let sketch = "// ...\n\n\t\"github.com/a/b/v24/c\"\n\t\"golang.org/x/d\"\n// ...\n";
    assert_eq!(applied(file, sketch), Ok(file.replace("v23", "v24")));
}

/// Lines of a file and what becomes of each: stays, goes for others, or stays with others below it.
#[derive(Clone, Debug)]
enum Change {
    Stays,
    Becomes(Vec<String>),
    GetsBelow(Vec<String>),
}

impl Change {
    fn new_lines(&self) -> &[String] {
        match self {
            Self::Stays => &[],
            Self::Becomes(new) | Self::GetsBelow(new) => new,
        }
    }
}

fn line() -> impl Strategy<Value = String> {
    // Many lines stand at several places, and many say nothing.
    prop_oneof!["}", "  }", "", "    end", "same [ab]", "word[a-f] [0-3]", "line [a-z]{4}"]
}

/// New lines: brackets, lines that stand at several places, and lines that are nowhere.
fn new_lines() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(prop_oneof!["}", "  }", "same [ab]", "fresh[0-9]{6} x", "fresh[0-9]{6} y"], 1..4)
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => Just(Change::Stays),
        1 => new_lines().prop_map(Change::Becomes),
        1 => new_lines().prop_map(Change::GetsBelow),
    ]
}

/// Makes the new content, and a sketch that shows each change with lines around it that stay.
fn sketched(lines: &[(String, Change)], context: usize) -> (String, String) {
    let (mut after, mut shown): (Vec<String>, Vec<bool>) = (vec![], vec![]);
    for (line, change) in lines {
        let (stays, new) = (!matches!(change, Change::Becomes(_)), change.new_lines());
        after.extend(stays.then(|| line.clone()).into_iter().chain(new.iter().cloned()));
        shown.extend(stays.then_some(false));
        shown.extend(new.iter().map(|_| true));
    }
    let is_shown = |at: usize| {
        let near = at.saturating_sub(context)..(at + context + 1).min(shown.len());
        shown[near].iter().any(|is_new| *is_new)
    };
    let mut sketch = String::new();
    for (at, line) in after.iter().enumerate() {
        if is_shown(at) {
            sketch.push_str(line);
            sketch.push('\n');
        } else if at == 0 || is_shown(at - 1) {
            sketch.push_str("// ... existing code ...\n");
        }
    }
    (after.join("\n") + "\n", sketch)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]
    /// A sketch of an edit lands exactly or is refused, whether it shows one line around each change or three.
    #[test]
    fn a_sketch_is_never_wrong(
        lines in prop::collection::vec((line(), change()), 1..40), context in prop_oneof![Just(1_usize), Just(3)],
    ) {
        let before: String = lines.iter().map(|(line, _)| format!("{line}\n")).collect();
        // What is taken for granted: a line that stands once in the file is not repeated elsewhere.
        let repeats = |new: &String| is_telling(new.as_bytes()) && lines.iter().filter(|(line, _)| line == new).count() == 1;
        if lines.iter().any(|(_, change)| change.new_lines().iter().any(repeats)) {
            return Ok(());
        }
        let (after, sketch) = sketched(&lines, context);
        if let Ok(result) = applied(&before, &sketch) {
            // Blank lines beside a marker are layout.
            let filled = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).map(String::from).collect::<Vec<_>>();
            prop_assert_eq!(filled(&result), filled(&after), "{}", sketch);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]
    /// A sketch of a known change makes exactly that change or is refused, also without its first or last marker.
    #[test]
    fn a_sketch_of_definitions_is_never_wrong(bytes in prop::collection::vec(any::<u8>(), 20..120)) {
        let sample = random::sample(&bytes);
        if let Ok(result) = applied(&sample.before, &sample.sketch) {
            prop_assert_eq!(result, sample.after, "{}", sample.sketch);
        }
    }
}

#[test]
fn a_new_block_above_a_known_one_is_whole() {
    let file = "func a() {\n\tone()\n}\n\nfunc bee() {\n\ttwo()\n}\n";
    let fresh = "func fresh(x int) error {\n\treturn nil\n}\n\n";
    let sketch = format!("// ... existing code ...\n{fresh}func bee() {{\n\ttwo()\n}}\n");
    assert_eq!(applied(file, &sketch), Ok(file.replace("func bee", &format!("{fresh}func bee"))));
}

#[test]
fn a_closing_line_that_is_another_is_not_put_beside_the_one_that_is_there() {
    for (then, now) in [
        ("  }, 100);", "  }, 500);"),
        ("  )", "  )?"),
        ("  ],", "  ] as const,"),
        ("  \"\"\"", "  \"\"\".strip()"),
        ("  .sum();", "  .max().unwrap();"),
    ] {
        let file = format!(
            "first line here\nset(() => {{\n    run();\n    poll();\n{then}\n  finish();\nlast line\n"
        );
        let sketch = format!("// ...\nset(() => {{\n    run();\n    poll();\n{now}\n// ...\n");
        assert_eq!(applied(&file, &sketch), Err("5: NewAtEdge".into()), "{now}");
    }
}
