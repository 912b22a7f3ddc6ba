//! Tests of the nearest lines: one for each kind of mistake, and the property that the search never fails.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::find::contents;
use crate::problem::{Difference, DifferenceKind, DifferingWords};
use crate::text::Text;

fn ask(file: &str, wanted: &str, new: &str) -> Near {
    let text = Text::new(file.as_bytes().to_vec()).unwrap();
    near(&Haystack::new(&text), &contents(wanted.as_bytes()), &contents(new.as_bytes()))
}

/// Returns the differences of the best place, by line.
fn differences(file: &str, wanted: &str) -> Vec<(usize, DifferenceKind)> {
    let near = ask(file, wanted, "");
    assert_eq!(near.relation, Relation::Nearest);
    let first = |d: &Difference| (d.line, d.kinds[0].clone());
    near.places[0].differences.iter().map(first).collect()
}

fn words(file: &str, request: &str) -> DifferenceKind {
    DifferenceKind::Words(Some(DifferingWords { file: file.into(), request: request.into() }))
}

#[test]
fn the_lines_around_the_place_are_shown_and_the_difference_is_named() {
    let file = "}\nfn a() {\n}\nfn b() {\n\tlet x = 1;\n}\n";
    let near = ask(file, "fn b() {\n    let x = 1;\n}\n", "");
    assert_eq!(near.numbers(), [3, 4, 5, 6]);
    assert_eq!((near.places[0].first, near.places[0].last), (4, 6));
    assert_eq!(
        differences(file, "fn b() {\n    let x = 1;\n}\n"),
        [(5, DifferenceKind::Indentation { file: "\t".into(), request: "    ".into() })]
    );
}

#[test]
fn differences_of_one_kind_are_told_once_and_three_kinds_at_most() {
    let file = "one two\n\tthree four\n\tfive six\nseven eight\nnine ten\neleven twelve\n";
    let near = ask(file, "one too\nthree four\nfive six\nseven ate\nnine tin\neleven twelf\n", "");
    let told: Vec<(usize, usize)> = near.places[0].differences.iter().map(|d| (d.line, d.again)).collect();
    assert_eq!((told, near.places[0].more), ([(1, 0), (2, 1), (4, 0)].to_vec(), 2));
}

#[test]
fn lines_that_one_side_lacks_are_named() {
    let file =
        "fn main() {\n    // A comment that was forgotten.\n    let first = 1;\n\n    let second = 2;\n}\n";
    assert_eq!(
        differences(file, "fn main() {\n    let first = 1;\n    let second = 2;\n}\n"),
        [
            (2, DifferenceKind::Lacking { first: 2, last: 2, is_blank: false }),
            (4, DifferenceKind::Lacking { first: 4, last: 4, is_blank: true })
        ]
    );
    let file = "let first = 1;\nlet second = 2;\n";
    assert_eq!(
        differences(file, "let first = 1;\nprintln!(\"hello\");\nlet second = 2;\n"),
        [(2, DifferenceKind::Extra { lines: 1, is_blank: false, after: None })]
    );
    assert_eq!(
        differences(file, "let second = 2;\n\n"),
        [(2, DifferenceKind::Extra { lines: 1, is_blank: true, after: Some(2) })]
    );
}

#[test]
fn an_elision_is_named_with_the_lines_that_it_stands_for() {
    let file = "fn main() {\n    first();\n    second();\n    third();\n}\n";
    assert_eq!(
        differences(file, "fn main() {\n    // ... existing code ...\n    third();\n}\n"),
        [(2, DifferenceKind::Elision { lines: Some((2, 3)) })]
    );
}

#[test]
fn equal_lines_in_a_wrong_place_are_said_to_be_there() {
    for (file, request, is_unended) in
        [("alpha beta\ngamma\n", "alpha beta\ngamma\n", false), ("alpha\ngamma", "gamma\n", true)]
    {
        assert_eq!(differences(file, request)[0].1, DifferenceKind::Elsewhere { is_unended });
    }
}

#[test]
fn a_text_inside_of_lines_finds_them() {
    let file = "zero\nlet a = compute(alpha, beta);\nlet b = other(gamma);\nlast\n";
    assert_eq!(ask(file, "compute(alpha, betta)", "").numbers(), [1, 2, 3]);
    assert_eq!(differences(file, "alpha, beta);\nlet b = othr("), [(3, words("other(gamma);", "othr("))]);
}

#[test]
fn a_part_of_a_line_is_compared_with_that_part() {
    assert_eq!(
        differences("def mean(items):\n\treturn total(items)\n", "def mean(items):\n    return"),
        [(2, DifferenceKind::Indentation { file: "\t".into(), request: "    ".into() })]
    );
}

#[test]
fn a_word_that_is_nearly_right_finds_its_line() {
    assert_eq!(differences("a = 1\nretries\nb\n", "retrys"), [(2, words("retries", "retrys"))]);
}

#[test]
fn the_new_text_is_recognised_where_it_stands() {
    let already = |wanted, new| {
        let near = ask("a\nlet y = 2;\n\nif y {\n\tlet z = 3;\n}\n", wanted, new);
        (near.relation, near.places[0].first)
    };
    assert_eq!(already("let x = 1;\n", "let y = 2;\n"), (Relation::AlreadyThere, 2));
    assert_eq!(already("let x = 1;\n", "let z = 3;\n}\n"), (Relation::AlreadyThere, 5));
    assert_eq!(already("let x = 1;\n", "    let z = 3;\n}\n"), (Relation::AlreadyThereButSpace, 5));
}

#[test]
fn lines_that_stay_are_not_taken_for_the_new_text() {
    let file = "a\nlet y = 2;\n\nif y {\n\tlet z = 3;\n}\n";
    let near = ask(file, "if x {\n\tlet z = 3;\n}\n", "\tlet z = 3;\n}\n");
    assert_eq!((near.relation, near.new_at), (Relation::Nearest, None));
    // The lines remain around others that are still to be removed.
    let others = "use std;\n}\n\nfn first() {\n    one();\n}\n\nfn second() {\n";
    let near = ask(others, "}\n\nfn first() {\n    onne();\n}\n\nfn second() {\n", "}\n\nfn second() {\n");
    assert_eq!((near.relation, near.places[0].first), (Relation::Nearest, 2));
    // The removed lines are nowhere near, so they may be gone already.
    let near = ask(file, "let y = 2;\nzzz(\"completely other\")\n", "let y = 2;\n");
    assert_eq!((near.relation, near.new_at), (Relation::Nearest, Some(2)));
}

#[test]
fn what_stood_between_lines_that_are_neighbours_now_is_gone() {
    let file =
        "for a in b:\n    if c:\n        self.d[\"e\"] = f(c)\n        return\n\ndef g(self):\n    if h:\n";
    let old = "        return\n\n    # If there is none\n    self.d[\"e\"] = None\n\ndef g(self):\n";
    let near = ask(file, old, "        return\n\ndef g(self):\n");
    assert_eq!((near.relation, near.places[0].first), (Relation::AlreadyThere, 4));
}

#[test]
fn new_text_elsewhere_does_not_hide_the_nearest_lines() {
    let near =
        ask("return None;\n\n\nlet total = sum(items);\n", "let totl = sum(items);\n", "return None;\n");
    assert_eq!((near.relation, near.places[0].first, near.new_at), (Relation::Nearest, 4, Some(1)));
}

#[test]
fn places_that_are_about_as_good_are_shown_too() {
    let block = "fn test() {\n    let config = load();\n}\n";
    let file = format!("{block}\n// one\n// two\n// three\n// four\n{block}\n// five\n");
    let near = ask(&file, "fn test() {\n    let confg = load();\n}\n", "");
    assert_eq!(near.places.iter().map(|place| place.first).collect::<Vec<_>>(), [1, 9]);
    assert_eq!(near.places[1].lines.len(), 2);
}

#[test]
fn nothing_near_shows_the_file_or_its_head() {
    assert_eq!(ask("a\nb\n", "zzz", "").relation, Relation::WholeFile);
    let near = ask(&"line\n".repeat(61), "zzz", "");
    assert_eq!((near.relation, near.numbers().len()), (Relation::Head, SHOWN_HEAD));
}

#[test]
fn a_long_place_is_shown_around_its_differences() {
    let file: String = (0..200).map(|i| format!("let value_{i} = {};\n", i * 31)).collect();
    let wanted = file.replace("value_0 ", "valu_0 ").replace("value_120 ", "valu_120 ");
    let near = ask(&file, &wanted, &wanted);
    let numbers = near.numbers();
    assert!(numbers.len() <= 42 && numbers.contains(&1) && numbers.contains(&121) && !numbers.contains(&60));
}

/// Makes three thousand lines of functions that resemble each other.
fn generated() -> Vec<String> {
    let mut lines = Vec::new();
    for i in 0..300 {
        let (a, b) = (i % 17, i % 23);
        lines.push(format!("    /// Handles \"case {i}\" of kind {a}."));
        lines.push(format!("    fn handle_{a}_{i}(&mut self, input: &Input) -> Result<(), Error> {{"));
        lines.push(format!("        // Kind {a} comes after {b}."));
        lines.push(format!("        let value = self.lookup_{b}(input.field_{a});"));
        lines.push("        if value.len() < self.limit {".into());
        lines.push("            return Err(Error::TooShort);".into());
        lines.push("        }".into());
        lines.push(format!("        self.store_{a}(value)"));
        lines.push("    }".into());
        lines.push(String::new());
    }
    lines
}

#[test]
fn typical_mistakes_show_the_line_that_was_meant() {
    let lines = generated();
    let file = lines.join("\n");
    type Mistake = fn(usize, &str) -> String;
    let mistakes: [(&str, Mistake); 7] = [
        ("typo", |_, block| block.replace("lookup", "lokup")),
        ("wrong word", |_, block| block.replace("value", "result")),
        ("no comment", |_, block| {
            block.lines().filter(|l| !l.contains("// Kind")).collect::<Vec<_>>().join("\n")
        }),
        ("curly quotes", |_, block| block.replace('"', "\u{201d}")),
        ("flat", |_, block| block.lines().map(str::trim).collect::<Vec<_>>().join("\n")),
        ("numbers", |at, block| {
            block
                .lines()
                .enumerate()
                .map(|(i, l)| format!("{:>6}\t{l}", at + i + 1))
                .collect::<Vec<_>>()
                .join("\n")
        }),
        ("escaped", |_, block| block.replace('\n', "\\n")),
    ];
    for (name, mistake) in mistakes {
        for at in [0, 40, 1230, 1770, 2990] {
            let block = lines[at..at + 5].join("\n");
            let near = ask(&file, &mistake(at, &block), "x");
            assert_eq!(near.relation, Relation::Nearest, "{name} at {at}");
            assert_eq!((near.places[0].first, near.places[0].last), (at + 1, at + 5), "{name} at {at}");
        }
    }
}

proptest! {
    #[test]
    fn looking_never_fails_and_always_finds_the_same(
        file in "([ab \t.\u{e9}\u{201c}&\\\\n0-9|]{0,6}\n?){0,30}",
        wanted in "([ab \t.\u{e9}\u{201c}&\\\\n0-9|]{0,6}\n?){0,12}",
        new in "([ab \t.]{0,6}\n?){0,5}",
    ) {
        let near = ask(&file, &wanted, &new);
        prop_assert_eq!(&near, &ask(&file, &wanted, &new));
        for place in &near.places {
            prop_assert!(place.numbers.iter().all(|&number| (1..=near.total).contains(&number)));
            prop_assert!(place.numbers.windows(2).all(|pair| pair[0] < pair[1]));
        }
        let shown = near.places.iter().map(|place| place.lines.len() + place.differences.len());
        prop_assert!(shown.sum::<usize>() <= 60);
    }

    #[test]
    fn lines_of_any_bytes_are_compared(
        file in "\\PC{0,60}",
        wanted in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..6),
    ) {
        let text = Text::new(file.into_bytes()).unwrap();
        let wanted: Vec<&[u8]> = wanted.iter().map(Vec::as_slice).collect();
        let near = near(&Haystack::new(&text), &wanted, &wanted);
        prop_assert!(near.places.len() <= PLACES);
    }
}

#[test]
fn of_a_long_line_the_part_that_differs_is_shown_and_of_a_short_one_its_beginning() {
    let long = "word ".repeat(300);
    for differs in [[&long[..], "with a needle here"].concat(), ["with a needle here ", &long].concat()] {
        let file = format!("first line\n{differs}\nlast line\n");
        let near = ask(&file, &file.replace("needle", "noodle"), "");
        let shown: Vec<&String> = near.places[0].lines.iter().filter(|line| line.contains("word")).collect();
        assert!(shown.iter().all(|line| line.contains("needle")) && shown.len() == 1, "{shown:?}");
    }
    let short = ["first ", &"word ".repeat(30), "with a needle here"].concat();
    let near = ask(&format!("one\n{short}\n"), &format!("one\n{}\n", short.replace("needle", "noodle")), "");
    assert!(near.places[0].lines.contains(&short));
}

#[test]
fn new_lines_stand_already_also_with_other_white_space_unless_that_is_what_is_to_change() {
    let stands = |file: &str, wanted: &str, new: &str| {
        let text = Text::new(file.as_bytes().to_vec()).unwrap();
        let stands =
            already_there(&Haystack::new(&text), &contents(wanted.as_bytes()), &contents(new.as_bytes()))?;
        Some((stands.at, stands.exact, stands.is_part))
    };
    let file = "alpha\nbeta  gamma\ndelta\n";
    assert_eq!(stands(file, "old line\n", "beta  gamma\n"), Some((1, true, false)));
    assert_eq!(stands(file, "old line\n", "beta gamma\n"), Some((1, false, false)));
    assert_eq!(stands(file, "old line\nold line\n", "beta gamma\n"), Some((1, false, false)));
    assert_eq!(stands(file, "beta\tgamma\n", "beta gamma\n"), None, "white space is what is to change");
    assert_eq!(stands(file, "alpha\nbeta  gamma\n", "beta  gamma\n"), Some((1, true, true)));
    assert_eq!(stands(file, "alpha\nbeta gamma\n", "beta gamma\n"), None, "it is the old one");
    assert_eq!(stands(file, "old line\n", "a\n"), None, "it says nothing");
    assert_eq!(stands(file, "old line\n", "new line\n"), None);
}
