//! Checks whether an edit broke the syntax of a file whose syntax was sound before, or of a new file, and finds the
//! definitions of a file.
//!
//! The check serves files that no language server looks at. It parses with tree-sitter and knows nothing of types or
//! names. It prefers silence to a false alarm: a file with errors before the edit is not judged.
//!
//! ```
//! use emend_syntax::{Limits, Verdict, broken, language_of};
//!
//! let json = language_of("package.json").unwrap();
//! let verdict = broken(json, Some(b"{}"), b"{", &Limits::default());
//! assert!(matches!(verdict, Verdict::Broken { line: 1, .. }));
//!
//! let text = b"class A:\n    @b\n    def c(self):\n        pass\n";
//! let outline = emend_syntax::outline("a.py", text, &Limits::default()).unwrap();
//! assert_eq!(outline.find("A.c")[0].lines, 2..=4);
//! ```
//!
//! Nothing here does I/O. A clock is read only for timeouts, after which the verdict is [`Verdict::Unknown`] and the
//! outline [`NoOutline::TooMuch`].

use std::time::Duration;

mod brackets;
mod fault;
mod judge;
mod language;
mod mention;
mod outline;
mod parse;
mod python;
mod structure;
mod tree;

pub use judge::Judge;
pub use language::{Language, language_of};
pub use mention::{PlaceKind, place_kinds};
pub use outline::{Definition, Doubt, Doubts, NoOutline, Outline, ends_in_definition, outline};
pub use structure::{NotMatched, Structure, StructureFault, StructureFound};

use language::Evidence;

/// The result of checking a file after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The syntax is sound.
    Fine,
    /// Unknown: the file is too large, parsing takes too long, or the grammar may be wrong (it failed before, too).
    Unknown,
    /// The file was sound before, or is new, and is broken now.
    Broken {
        /// The line of the error, counted from one.
        line: usize,
        /// The error, in a few words.
        what: String,
    },
}

/// How much work a verdict or an outline may cost.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The largest file that is parsed, in bytes.
    pub bytes: usize,
    /// The processor time of one parse, or the elapsed time where the system does not tell processor time. A limit of
    /// bytes alone would not do: some texts cost the square of their length.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 512 << 10, time: Duration::from_millis(50) }
    }
}

/// Returns whether an edit from `before` to `after` broke a file; without `before`, the file is new.
pub fn broken(language: Language, before: Option<&[u8]>, after: &[u8], limits: &Limits) -> Verdict {
    let Some(tree) = parse::tree(language, after, limits, None) else {
        return Verdict::Unknown;
    };
    let Some(fault) = fault::find(language, &tree, before.unwrap_or_default(), after) else {
        return Verdict::Fine;
    };
    let evidence = match before {
        Some(_) => language.evidence_of_edit(),
        None => language.evidence_of_new_file(),
    };
    let shown = match evidence {
        Evidence::Errors => true,
        Evidence::Brackets => fault.is_bracket,
        Evidence::Nothing => false,
    };
    let was_whole = |before| {
        parse::tree(language, before, limits, None)
            .is_some_and(|tree| fault::is_whole(language, &tree, before, None))
    };
    if !shown || !before.is_none_or(was_whole) {
        return Verdict::Unknown;
    }
    Verdict::Broken { line: fault.line, what: fault.what }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Limits that a busy machine does not reach.
    pub(crate) const PATIENT: Limits = Limits { bytes: 512 << 10, time: Duration::from_secs(60) };

    fn verdict(path: &str, before: impl Into<Option<&'static str>>, after: &str) -> Verdict {
        let language = language_of(path).expect("the language is known");
        broken(language, before.into().map(str::as_bytes), after.as_bytes(), &PATIENT)
    }

    fn is(line: usize, what: &str) -> Verdict {
        Verdict::Broken { line, what: what.to_owned() }
    }

    #[test]
    fn a_file_that_is_whole_after_the_edit_is_fine_whatever_it_was() {
        assert_eq!(verdict("a.rs", "fn main() {}\n", "fn main() { run() }\n"), Verdict::Fine);
        assert_eq!(verdict("a.rs", "fn main( {}\n", "fn main() {}\n"), Verdict::Fine);
        assert_eq!(verdict("a.py", None, "def main():\n    pass\n"), Verdict::Fine);
    }

    #[test]
    fn a_notebook_is_json() {
        let whole = "{\n \"source\": [\n  \"read('x.csv')\"\n ]\n}\n";
        let broken = "{\n \"source\": [\n  \"read(\"y.csv\")\"\n ]\n}\n";
        let Verdict::Broken { line: 3, .. } = verdict("a.ipynb", whole, broken) else {
            panic!("line 3 is broken")
        };
        assert_eq!(verdict("a.ipynb", whole, &whole.replace('x', "y")), Verdict::Fine);
    }

    #[test]
    fn what_was_broken_before_is_not_judged() {
        assert_eq!(verdict("a.rs", "fn main( {}\n", "fn main( {{}\n"), Verdict::Unknown);
    }

    #[test]
    fn a_new_file_counts_as_whole_before() {
        assert_eq!(verdict("a.js", None, "let a = [1, 2;\n"), is(1, "`[` is not closed"));
    }

    #[test]
    fn a_bracket_is_blamed_by_the_indentation() {
        let whole = "impl A {\n    fn b() {\n        c();\n    }\n\n    fn d() {}\n}\n";
        let unclosed = "impl A {\n    fn b() {\n        c();\n\n    fn d() {}\n}\n";
        assert_eq!(verdict("a.rs", whole, unclosed), is(2, "`{` is not closed"));
        assert_eq!(verdict("a.rs", None, unclosed), is(2, "`{` is not closed"));
        let unopened = "impl A {\n    fn b()\n        c();\n    }\n\n    fn d() {}\n}\n";
        assert_eq!(verdict("a.rs", None, unopened), is(4, "`}` closes nothing"));
    }

    #[test]
    fn an_error_is_shown_where_the_edit_made_it() {
        let whole = "let a = 1;\nlet b = 2;\nlet c = 3;\n";
        let broken = "let a = 1;\nlet b 2 = ;\nlet c = 3;\n";
        let Verdict::Broken { line: 2, .. } = verdict("a.js", whole, broken) else {
            panic!("line 2 is broken")
        };
    }

    #[test]
    fn python_that_is_indented_wrongly_is_broken() {
        let whole = "def a():\n    if b:\n        c()\n    return d\n";
        let odd = "the indentation is not that of the block";
        let cases = [
            ("def a():\n    if b:\n    c()\n    return d\n", is(2, "a block has no statement")),
            ("def a():\n    if b:\n        c()\n          c()\n    return d\n", is(4, odd)),
            ("def a():\n    if b:\n        c()\n      return d\n", is(4, odd)),
            ("def a():\n    if b:\n        c()\n  return d\n", is(4, odd)),
            (" def a():\n    if b:\n        c()\n    return d\n", is(1, odd)),
        ];
        for (after, expected) in cases {
            assert_eq!(verdict("a.py", whole, after), expected, "{after}");
        }
    }

    #[test]
    fn python_may_be_indented_in_many_ways() {
        let text = "if a: b()\nif a:\n\tb()\n\tif c:\n\t  d(1,\n2)\n\n # a remark\n\telse: e(); f()\n\x0cdef g(): return\n";
        assert_eq!(broken(Language::Python, None, text.as_bytes(), &PATIENT), Verdict::Fine);
    }

    #[test]
    fn c_that_only_looks_broken_behind_a_macro_is_not_judged() {
        let whole = "int a(void) {\n    return 1;\n}\n";
        let a_macro = "int a(void) {\n    FOREACH(x, y)\n    DO b;\n    return 1;\n}\n";
        assert_eq!(verdict("a.c", whole, a_macro), Verdict::Unknown);
        assert_eq!(verdict("a.c", whole, "int a(void) {\n    return (1;\n}\n"), is(2, "`(` is not closed"));
    }

    #[test]
    fn what_would_cost_too_much_is_not_judged() {
        let rust = language_of("src/main.rs").expect("rust");
        let few_bytes = Limits { bytes: 10, ..PATIENT };
        assert_eq!(broken(rust, None, b"fn main( {}\n", &few_bytes), Verdict::Unknown);
        let no_time = Limits { time: Duration::ZERO, ..Limits::default() };
        let many = "fn main() { a(b, c, d); }\n".repeat(100);
        assert_eq!(broken(rust, None, many.as_bytes(), &no_time), Verdict::Unknown);
        assert_eq!(broken(rust, None, b"fn main( {}\0\n", &PATIENT), Verdict::Unknown);
    }

    pub(crate) const LANGUAGES: [Language; 13] = [
        Language::Bash,
        Language::C,
        Language::Css,
        Language::Go,
        Language::Html,
        Language::Java,
        Language::JavaScript,
        Language::Json,
        Language::Python,
        Language::Rust,
        Language::Toml,
        Language::Tsx,
        Language::TypeScript,
    ];

    #[test]
    fn every_language_finds_what_is_cut_off() {
        let whole = [
            "f() {\n    if true; then\n        echo \"$(ls)\"\n    fi\n}\n",
            "int f(int a[]) {\n    return a[0];\n}\n",
            "@media print {\n    a[href] { color: red; }\n}\n",
            "package a\n\nfunc f() int {\n\treturn g(1)\n}\n",
            "<!DOCTYPE html>\n<p>Some <b>text</b>\n<div>more</div>\n",
            "class A {\n    int f() {\n        return g(1);\n    }\n}\n",
            "export function f(a) {\n    return <b>{a[0]}</b>;\n}\n",
            "{\n    \"a\": [1, 2],\n    \"b\": {}\n}\n",
            "def f(a):\n    return [\n        a(1),\n    ]\n",
            "fn f(a: &[u8]) -> u8 {\n    g(a[0])\n}\n",
            "[a]\nb = [\n    \"c\",\n]\n",
            "export function F(a: A<B>) {\n    return <b>{a[0]}</b>;\n}\n",
            "export function f(a: A<B>): void {\n    <B>g(a!);\n}\n",
        ];
        for (language, whole) in LANGUAGES.into_iter().zip(whole) {
            let verdict = |after: &str| broken(language, Some(whole.as_bytes()), after.as_bytes(), &PATIENT);
            assert_eq!(verdict(whole), Verdict::Fine, "{language:?}");
            let cut = &whole[..whole.len() - 3];
            assert!(matches!(verdict(cut), Verdict::Broken { .. }), "{language:?}: {:?}", verdict(cut));
        }
    }

    #[test]
    fn what_is_nested_deeply_overflows_no_stack() {
        let limits = Limits { time: Duration::from_secs(5), ..Limits::default() };
        for language in LANGUAGES {
            for opening in ["(", "[", "{", "<a>", "if a:\n ", "- "] {
                broken(language, None, opening.repeat(5_000).as_bytes(), &limits);
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_get_a_verdict(before: Vec<u8>, after: Vec<u8>) {
            for language in LANGUAGES {
                broken(language, Some(&before), &after, &PATIENT);
                broken(language, None, &after, &PATIENT);
            }
        }

        #[test]
        fn whatever_is_broken_has_a_line_of_the_file(
            tokens in prop::collection::vec(prop::sample::select(TOKENS), 1..60),
            cut in any::<prop::sample::Index>(),
        ) {
            let text = tokens.concat().into_bytes();
            // The cut may fall within a character.
            let after = &text[..cut.index(text.len())];
            for language in LANGUAGES {
                for before in [None, Some(&b""[..])] {
                    if let Verdict::Broken { line, what } = broken(language, before, after, &PATIENT) {
                        prop_assert!((1..=1 + after.iter().filter(|byte| **byte == b'\n').count()).contains(&line));
                        prop_assert!(!what.is_empty() && !what.contains(char::is_control));
                    }
                }
            }
        }
    }

    const TOKENS: &[&str] = &[
        "(", ")", "[", "]", "{", "}", "<a>", "</a>", "\"", "'", "`", "\n", "\r\n", "\n    ", "\n\t", " ",
        "\u{c}", "é", "𝄞", "if a:", "else:", "def f", "fn f", "class A", "=", ":", ";", ",", "$", "${", "#",
        "//", "/*", "*/", "\\", "<<", "<<A\n", "1", "a",
    ];
}
