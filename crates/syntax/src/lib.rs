//! Whether an edit broke the syntax of a file: that is said only of a file that was whole before.
//!
//! A guard for what no language server looks at. It parses with tree-sitter, knows nothing of types or names, and would
//! rather be silent than cry wolf: whatever the grammar did not understand before the edit is not judged after it.
//!
//! Nothing here does I/O or reads a clock. The work is counted in steps of the parser, so that the same files get the same
//! verdict on every machine.

mod brackets;
mod fault;
mod language;
mod parse;

pub use language::{Language, language_of};

/// What became of the syntax of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is whole.
    Fine,
    /// Nobody can say: the file is too large, parsing takes too long, or the grammar did not understand it before either.
    Unknown,
    /// It was whole, or is new, and is not whole now.
    Broken {
        /// The line where that shows, beginning with 1.
        line: usize,
        /// What is wrong there, in a few words that follow the line.
        what: String,
    },
}

/// How much work a verdict may cost.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The bytes of the largest file that is parsed.
    pub bytes: usize,
    /// How often one parse may report its progress. That happens after about a hundred operations of the parser, some
    /// microseconds.
    pub steps: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 1 << 20, steps: 10_000 }
    }
}

/// Whether a file that was `before`, or is new, is broken by what it is `after`.
pub fn broken(language: Language, before: Option<&[u8]>, after: &[u8], limits: &Limits) -> Verdict {
    let Some(tree) = parse::tree(language, after, limits) else {
        return Verdict::Unknown;
    };
    if !tree.root_node().has_error() {
        return Verdict::Fine;
    }
    let was_whole = match before {
        Some(before) => {
            parse::tree(language, before, limits).is_some_and(|tree| !tree.root_node().has_error())
        }
        None => language.judges_new_files(),
    };
    if !was_whole {
        return Verdict::Unknown;
    }
    let fault = fault::find(&tree, before.unwrap_or_default(), after);
    Verdict::Broken { line: fault.line, what: fault.what }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(path: &str, before: impl Into<Option<&'static str>>, after: &str) -> Verdict {
        let language = language_of(path).expect("the language is known");
        broken(language, before.into().map(str::as_bytes), after.as_bytes(), &Limits::default())
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
    fn what_would_cost_too_much_is_not_judged() {
        let rust = language_of("src/main.rs").expect("rust");
        let few_bytes = Limits { bytes: 10, ..Limits::default() };
        assert_eq!(broken(rust, None, b"fn main( {}\n", &few_bytes), Verdict::Unknown);
        let few_steps = Limits { steps: 3, ..Limits::default() };
        let many = "fn main() { a(b, c, d); }\n".repeat(100);
        assert_eq!(broken(rust, None, many.as_bytes(), &few_steps), Verdict::Unknown);
        // The parse that was given up leaves nothing behind.
        assert_eq!(broken(rust, None, b"fn main() {}\n", &Limits::default()), Verdict::Fine);
    }
}
