//! Replacement by structure: a pattern of code with variables, such as `console.log($A)`, is matched on the tree of a text.
//!
//! `$A` stands for one node, `$$$A` for any number of them, and `$_` for one that is not needed. What a variable stands for
//! is put into the new text as it stands in the file. A place must have every token of the pattern and no other: a pattern
//! without `async` is no place in an `async` function, whose keyword would go. Places that only have more in them, such as
//! a comment, are counted. A text that is not sound before, or would not be sound afterwards, has no places at all.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use ast_grep_core::matcher::PatternBuilder;
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc, TSLanguage};
use ast_grep_core::{
    AstGrep, Language as PatternLanguage, MatchStrictness, NodeMatch, Pattern, PatternError,
};

use tree_sitter::Tree;

use crate::parse;
use crate::{Language, Limits};

/// How deep the tree of a text or a pattern may be: both are followed by recursion.
const DEEP: usize = 1_000;
/// How many variables of a pattern may stand for any number of nodes: each is tried once more for each around it.
const MULTIPLE: usize = 8;

/// A pattern of code and the text that replaces it, in one language.
#[derive(Clone)]
pub struct Structure {
    language: Language,
    /// Every token counts.
    exact: Pattern,
    /// Comments, commas at the end and other small tokens may be there too.
    loose: Pattern,
    new: Vec<Part>,
}

/// A part of the new text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable { name: String, is_multiple: bool },
}

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StructureFault {
    /// It is not a whole piece of code of this language.
    NotCode,
    /// It has several pieces of code, or none.
    NotOne,
    /// It is nothing but a variable.
    OnlyVariable,
    /// It is nested too deeply, or has too many variables for any number of nodes.
    TooMuch,
    /// The new text names a variable that the pattern does not have.
    UnknownVariable(String),
}

/// What a pattern finds in a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StructureFound {
    /// The places in order, each with the text that replaces it. A place inside of another is replaced with that.
    pub places: Vec<(Range<usize>, String)>,
    /// The lines, counted from 1, of places that have more tokens than the pattern.
    pub more: Vec<usize>,
}

/// A place that matches, with what its variables stand for.
type Place<'t> = NodeMatch<'t, StrDoc<Grammar>>;

/// Why a text has no places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotMatched {
    /// It is too large or too deeply nested to be parsed, or not sound: what it means is not known.
    Unsound,
    /// It would grow beyond what can be parsed.
    TooMuch,
    /// It would not be sound any more.
    Breaks,
    /// What this variable stands for would not be one piece of code any more: `a + b` in `$A * 2` is not.
    TakesApart(String),
}

impl Language {
    /// Returns whether code of this language can be given as a pattern.
    #[must_use]
    pub fn has_patterns(self) -> bool {
        self.stand_in().is_some()
    }

    /// Returns the character with which variables begin while the pattern is parsed: one that names may begin with.
    fn stand_in(self) -> Option<char> {
        match self {
            Self::Java | Self::JavaScript | Self::Tsx | Self::TypeScript => Some('$'),
            Self::Go | Self::Python | Self::Rust => Some('\u{b5}'),
            Self::C => Some('\u{10000}'),
            Self::Bash | Self::Css | Self::Html | Self::Json | Self::Toml => None,
        }
    }
}

/// A language as patterns are parsed and matched in it.
#[derive(Clone, Copy)]
struct Grammar(Language);

impl PatternLanguage for Grammar {
    fn pre_process_pattern<'q>(&self, query: &'q str) -> Cow<'q, str> {
        match self.expando_char() {
            '$' => Cow::Borrowed(query),
            stand_in => Cow::Owned(with_stand_in(query, stand_in)),
        }
    }

    fn expando_char(&self) -> char {
        self.0.stand_in().unwrap_or('$')
    }

    fn kind_to_id(&self, kind: &str) -> u16 {
        self.0.grammar().id_for_node_kind(kind, true)
    }

    fn field_to_id(&self, field: &str) -> Option<u16> {
        self.0.grammar().field_id_for_name(field).map(std::num::NonZero::get)
    }

    fn build_pattern(&self, builder: &PatternBuilder<'_>) -> Result<Pattern, PatternError> {
        builder.build(|text| StrDoc::try_new(text, *self))
    }
}

impl LanguageExt for Grammar {
    fn get_ts_language(&self) -> TSLanguage {
        self.0.grammar()
    }
}

/// Reads a pattern, in a function where the language has expressions only there.
fn read(language: Language, pattern: &str) -> Result<Pattern, StructureFault> {
    let around = match language {
        Language::C => Some(("void f() {\n", ";\n}\n")),
        Language::Go => Some(("package p\nfunc f() {\n", "\n}\n")),
        _ => None,
    };
    if let Some(pattern) = around.and_then(|around| read_inside(language, pattern, around)) {
        return Ok(pattern);
    }
    let read = Pattern::try_new(pattern, Grammar(language)).map_err(|error| match error {
        PatternError::Parse(_) => StructureFault::NotCode,
        _ => StructureFault::NotOne,
    })?;
    if read.has_error() { Err(StructureFault::NotCode) } else { Ok(read) }
}

/// Reads a pattern that is one piece of code between these texts; `None` if it is none there.
fn read_inside(language: Language, pattern: &str, (above, below): (&str, &str)) -> Option<Pattern> {
    let grammar = Grammar(language);
    let context = format!("{above}{pattern}{below}");
    let text = grammar.pre_process_pattern(&context);
    let tree = parse::tree(language, text.as_bytes(), &Limits::default(), None)?;
    let range = above.len()..text.len() - below.len();
    let node = tree.root_node().descendant_for_byte_range(range.start, range.end)?;
    if tree.root_node().has_error() || node.byte_range() != range {
        return None;
    }
    // The first node of this kind is taken, so it must be this one.
    let read = Pattern::contextual(&context, node.kind(), grammar).ok()?;
    let mut first = tree.root_node();
    let mut cursor = first.walk();
    while first.kind() != node.kind() {
        // In the order in which the pattern looks for it: the outer ones first, from left to right.
        if !cursor.goto_first_child() {
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return None;
                }
            }
        }
        first = cursor.node();
    }
    (first.id() == node.id()).then_some(read)
}

/// Replaces the `$` of variables.
fn with_stand_in(query: &str, stand_in: char) -> String {
    let mut text = String::with_capacity(query.len());
    let mut rest = query;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let signs = rest[at..].bytes().take_while(|byte| *byte == b'$').count();
        let after = &rest[at + signs..];
        let begins_name = after.starts_with(|first: char| first.is_ascii_uppercase() || first == '_');
        let sign = if begins_name || signs == 3 { stand_in } else { '$' };
        text.extend(std::iter::repeat_n(sign, signs));
        rest = after;
    }
    text + rest
}

impl Structure {
    /// Reads a pattern and the text that replaces it.
    pub fn new(language: Language, pattern: &str, new: &str) -> Result<Self, StructureFault> {
        if !language.has_patterns() {
            return Err(StructureFault::NotCode);
        }
        let pattern = pattern.trim();
        if is_only_variable(pattern) {
            return Err(StructureFault::OnlyVariable);
        }
        let tree = parse::tree(language, pattern.as_bytes(), &Limits::default(), None);
        if tree.is_none_or(|tree| is_deep(&tree)) || pattern.matches("$$$").count() > MULTIPLE {
            return Err(StructureFault::TooMuch);
        }
        let read = read(language, pattern)?;
        let known = read.defined_vars();
        let new = parts(new);
        for part in &new {
            if let Part::Variable { name, .. } = part
                && !known.contains(name.as_str())
            {
                return Err(StructureFault::UnknownVariable(name.clone()));
            }
        }
        let exact = read.clone().with_strictness(MatchStrictness::Cst);
        let loose = read.clone().with_strictness(MatchStrictness::Relaxed);
        Ok(Self { language, exact, loose, new })
    }

    /// Finds the places of the pattern in a text.
    pub fn find(&self, text: &str, limits: &Limits) -> Result<StructureFound, NotMatched> {
        let tree = parse::tree(self.language, text.as_bytes(), limits, None).filter(|tree| !is_deep(tree));
        let tree = tree.ok_or(NotMatched::Unsound)?;
        let document = AstGrep::doc(StrDoc { src: text.to_owned(), lang: Grammar(self.language), tree });
        let root = document.root();
        let mut found = StructureFound::default();
        let mut places: Vec<Place<'_>> = root.find_all(&self.exact).collect();
        // Those that lie inside of others come after them.
        places.sort_by_key(|place| (place.range().start, std::cmp::Reverse(place.range().end)));
        let exact: BTreeSet<(usize, usize)> =
            places.iter().map(|place| (place.range().start, place.range().end)).collect();
        let mut writer =
            Writer { new: &self.new, text, places: &places, left: 2 * limits.bytes, put: Vec::new() };
        let mut put = Vec::new();
        for place in outer(&places, 0..text.len()) {
            let mut new = String::new();
            writer.replace(place, &mut new).ok_or(NotMatched::TooMuch)?;
            if text[place.range()] != new {
                found.places.push((place.range(), new));
                put.push(core::mem::take(&mut writer.put));
            }
            writer.put.clear();
        }
        for place in root.find_all(&self.loose) {
            let range = place.range();
            if !exact.contains(&(range.start, range.end)) {
                found.more.push(1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..range.start]).count());
            }
        }
        if found.places.is_empty() && found.more.is_empty() {
            return Ok(found);
        }
        if root.get_inner_node().has_error() {
            return Err(NotMatched::Unsound);
        }
        if !found.places.is_empty() {
            let new = replaced(text, &found.places);
            let tree = parse::tree(self.language, new.as_bytes(), limits, None).ok_or(NotMatched::TooMuch)?;
            if tree.root_node().has_error() {
                return Err(NotMatched::Breaks);
            }
            let (mut came, mut gone) = (0, 0);
            for ((range, new), put) in found.places.iter().zip(&put) {
                let start = range.start + came - gone;
                (came, gone) = (came + new.len(), gone + range.len());
                let parted = put.iter().find(|(_, put)| !is_one(&tree, start + put.start..start + put.end));
                if let Some((variable, _)) = parted {
                    return Err(NotMatched::TakesApart((*variable).to_owned()));
                }
            }
        }
        Ok(found)
    }
}

/// Writes new texts, those of places inside of others with them.
struct Writer<'a, 't> {
    new: &'a [Part],
    text: &'a str,
    places: &'a [Place<'t>],
    /// What was put in for variables that stand for one node, and where in the new text.
    put: Vec<(&'a str, Range<usize>)>,
    /// How much may still be written, in pieces and their bytes: what a variable stands for may be put in twice, at each
    /// level again.
    left: usize,
}

impl<'a> Writer<'a, '_> {
    fn push(&mut self, text: &str, into: &mut String) -> Option<()> {
        self.left = self.left.checked_sub(text.len() + 1)?;
        into.push_str(text);
        Some(())
    }

    /// Writes a part of the text with the places in it replaced. `None` if it is too much.
    fn fill(&mut self, range: Range<usize>, into: &mut String) -> Option<()> {
        let mut at = range.start;
        for place in outer(self.places, range.clone()) {
            self.push(&self.text[at..place.range().start], into)?;
            self.replace(place, into)?;
            at = place.range().end;
        }
        self.push(&self.text[at..range.end], into)
    }

    /// Writes what replaces a place.
    fn replace(&mut self, place: &Place<'_>, into: &mut String) -> Option<()> {
        let variables = place.get_env();
        let start = into.len();
        // Whether the comma goes that follows a variable which stands for nothing.
        let mut drops_comma = false;
        for part in self.new {
            match part {
                Part::Text(text) if drops_comma => {
                    let rest = text.trim_start().strip_prefix(',').map(str::trim_start);
                    let before = into[start..].trim_end();
                    if rest.is_none() && before.ends_with(',') {
                        into.truncate(start + before.len() - 1);
                    }
                    self.push(rest.unwrap_or(text), into)?;
                    drops_comma = false;
                }
                Part::Text(text) => self.push(text, into)?,
                Part::Variable { name, is_multiple: false } => {
                    if let Some(node) = variables.get_match(name) {
                        let start = into.len();
                        self.fill(node.range(), into)?;
                        self.put.push((name, start..into.len()));
                    }
                }
                Part::Variable { name, is_multiple: true } => {
                    let nodes = variables.get_multiple_matches(name);
                    match (nodes.first(), nodes.last()) {
                        (Some(first), Some(last)) => {
                            self.fill(first.range().start..last.range().end, into)?;
                        }
                        _ => drops_comma = true,
                    }
                }
            }
        }
        Some(())
    }
}

/// Returns the places in a range that lie in no other of it.
fn outer<'p, 't>(places: &'p [Place<'t>], within: Range<usize>) -> impl Iterator<Item = &'p Place<'t>> {
    let first = places.partition_point(|place| place.range().start < within.start);
    let mut at = within.start;
    places[first..].iter().map_while(move |place| (place.range().start < within.end).then_some(place)).filter(
        move |place| {
            let Range { start, end } = place.range();
            let is_outer = start >= at && end <= within.end;
            at = if is_outer { end } else { at };
            is_outer
        },
    )
}

/// Returns whether a part of a text is one piece of code, or stands inside of a string or a comment.
fn is_one(tree: &Tree, range: Range<usize>) -> bool {
    let Some(node) = tree.root_node().descendant_for_byte_range(range.start, range.end) else { return true };
    let is_words =
        |kind: &str| ["string", "comment", "template", "text"].iter().any(|word| kind.contains(word));
    node.byte_range() == range || range.is_empty() || node.child_count() == 0 || is_words(node.kind())
}

/// Returns whether a tree is deeper than [`DEEP`].
fn is_deep(tree: &Tree) -> bool {
    let mut cursor = tree.walk();
    loop {
        if cursor.depth() as usize > DEEP {
            return true;
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return false;
            }
        }
    }
}

/// Returns the text with its places replaced.
fn replaced(text: &str, places: &[(Range<usize>, String)]) -> String {
    let mut new = String::with_capacity(text.len());
    let mut at = 0;
    for (range, replacement) in places {
        new.push_str(&text[at..range.start]);
        new.push_str(replacement);
        at = range.end;
    }
    new + &text[at..]
}

fn is_only_variable(pattern: &str) -> bool {
    matches!(&parts(pattern)[..], [Part::Variable { .. }]) || pattern == "$_" || pattern == "$$$"
}

/// Splits a text at its variables. A `$` that no name follows is text.
fn parts(written: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = written;
    while let Some(at) = rest.find('$') {
        text.push_str(&rest[..at]);
        let signs = rest[at..].bytes().take_while(|byte| *byte == b'$').count();
        let after = &rest[at + signs..];
        let is_of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let end = after.find(|c| !is_of_name(c)).unwrap_or(after.len());
        let is_name = after.starts_with(|first: char| first.is_ascii_uppercase());
        if is_name && matches!(signs, 1 | 3) {
            parts.push(Part::Text(std::mem::take(&mut text)));
            parts.push(Part::Variable { name: after[..end].to_owned(), is_multiple: signs == 3 });
            rest = &after[end..];
        } else {
            text.push_str(&rest[at..at + signs]);
            rest = after;
        }
    }
    text.push_str(rest);
    parts.push(Part::Text(text));
    parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        language: Language,
        [pattern, new]: [&str; 2],
        text: &str,
    ) -> Result<StructureFound, NotMatched> {
        Structure::new(language, pattern, new).unwrap().find(text, &Limits::default())
    }

    #[track_caller]
    fn check(language: Language, asked: [&str; 2], text: &str, expected: &str) {
        let found = found(language, asked, text).unwrap();
        assert_eq!(replaced(text, &found.places), expected);
    }

    #[test]
    fn what_a_variable_stands_for_is_put_in_as_it_stands() {
        use Language::{Go, Java, JavaScript, Python, Rust, TypeScript};
        check(
            JavaScript,
            ["console.log($A)", "logger.debug($A)"],
            "console.log( 'console.log(1)' ); console.log(f(x, y)); console.log(a, b)\n",
            "logger.debug('console.log(1)'); logger.debug(f(x, y)); console.log(a, b)\n",
        );
        check(
            JavaScript,
            ["f($$$A)", "g($$$A)"],
            "f(); f(1); f(1,\n  `two\n three`)",
            "g(); g(1); g(1,\n  `two\n three`)",
        );
        check(TypeScript, ["$A as any", "$A as unknown"], "let x = y as any;", "let x = y as unknown;");
        check(
            Python,
            ["assertEqual($A, $B)", "assert $A == $B"],
            "assertEqual(f(1), [2])\n",
            "assert f(1) == [2]\n",
        );
        check(
            Rust,
            ["$A.unwrap()", "$A?"],
            "fn f() { let x = g(1).unwrap(); }\n",
            "fn f() { let x = g(1)?; }\n",
        );
        check(
            Java,
            ["Objects.equals($A, $B)", "eq($A, $B)"],
            "class A { boolean f() { return Objects.equals(a, b()); } }",
            "class A { boolean f() { return eq(a, b()); } }",
        );
        check(
            Language::C,
            ["free($A)", "release($A)"],
            "void f(void) { free(p->x); }\n",
            "void f(void) { release(p->x); }\n",
        );
        check(
            Go,
            ["errors.New($A)", "fmt.Errorf($A)"],
            "package a\n\nvar x = errors.New(\"a\")\n",
            "package a\n\nvar x = fmt.Errorf(\"a\")\n",
        );
    }

    #[test]
    fn a_variable_that_stands_for_nothing_takes_its_comma_along() {
        check(Language::JavaScript, ["f($$$A)", "g($$$A, 1)"], "f(); f(2);", "g(1); g(2, 1);");
        check(Language::JavaScript, ["f($$$A)", "g(1, $$$A)"], "f(); f(2);", "g(1); g(1, 2);");
        check(Language::JavaScript, ["f($$$A)", "g(0, $$$A, 1)"], "f(); f(2, 3);", "g(0, 1); g(0, 2, 3, 1);");
        check(Language::JavaScript, ["f($$$A)", "g($$$A)"], "f();", "g();");
    }

    #[test]
    fn the_same_variable_stands_for_the_same_code() {
        check(Language::JavaScript, ["$A = $A + 1", "$A++"], "a = a + 1; a = b + 1;", "a++; a = b + 1;");
    }

    #[test]
    fn a_place_with_more_in_it_than_the_pattern_is_told_and_left() {
        let asked = ["f($A, $B)", "f($B, $A)"];
        let text = "f(1, 2);\nf(1, /* two */ 2);\nf(1, 2,);\n";
        let both = found(Language::JavaScript, asked, text).unwrap();
        assert_eq!((both.places.len(), both.more), (1, vec![2, 3]));
        let asked = ["function $F() { $$$B }", "const $F = () => { $$$B }"];
        let some = found(Language::JavaScript, asked, "async function f() { g(); }\n").unwrap();
        assert_eq!(some.places, []);
    }

    #[test]
    fn what_lies_inside_of_a_place_is_replaced_with_it() {
        check(Language::JavaScript, ["f($A)", "g($A)"], "f(f(x, f(1))) + f(2)", "g(f(x, g(1))) + g(2)");
        check(
            Language::JavaScript,
            ["$A.f($B)", "f($A, $B, $B)"],
            "a.f(1).f(b.f(2))",
            "f(f(a, 1, 1), f(b, 2, 2), f(b, 2, 2))",
        );
        check(Language::JavaScript, ["f($$$A)", "g($$$A)"], "f(1, f(f(2), 3))", "g(1, g(g(2), 3))");
        check(Language::JavaScript, ["f($_)", "g()"], "f(f(1))", "g()");
    }

    #[test]
    fn a_text_that_is_not_sound_or_would_not_be_has_no_places() {
        let asked = ["f($$$A)", "g($$$A, 1)"];
        assert_eq!(found(Language::JavaScript, asked, "f(2); }"), Err(NotMatched::Unsound));
        assert_eq!(found(Language::JavaScript, ["f($A)", "g($A"], "f(1)"), Err(NotMatched::Breaks));
        assert_eq!(found(Language::JavaScript, asked, "h(); }").unwrap(), StructureFound::default());
        assert_eq!(found(Language::JavaScript, ["f($A)", "f($A)"], "f(1)").unwrap().places, []);
    }

    #[test]
    fn code_that_is_nested_deeply_overflows_no_stack() {
        let nested = |depth: usize| format!("{}1{};", "f(".repeat(depth), ")".repeat(depth));
        let asked = ["f($A)", "g($A)"];
        let shallow = found(Language::JavaScript, asked, &nested(DEEP / 2 - 2)).unwrap();
        assert_eq!(shallow.places.len(), 1);
        for depth in [DEEP, 5_000] {
            assert_eq!(
                found(Language::JavaScript, asked, &nested(depth)),
                Err(NotMatched::Unsound),
                "{depth}"
            );
        }
        let pattern = nested(DEEP);
        assert_eq!(Structure::new(Language::JavaScript, &pattern, "1").err(), Some(StructureFault::TooMuch));
        // A variable that comes twice is compared level by level.
        let twice = format!("f({0}, {0})", nested(DEEP / 2 - 4).trim_end_matches(';'));
        assert_eq!(found(Language::JavaScript, ["f($A, $A)", "g($A)"], &twice).unwrap().places.len(), 1);
    }

    #[test]
    fn what_grows_with_each_level_is_refused_and_not_waited_for() {
        let text = format!("{}1{};", "f(".repeat(64), ")".repeat(64));
        for new in ["g($A, $A)", "$A$A"] {
            let grown = found(Language::JavaScript, ["f($A)", new], &text);
            assert_eq!(grown, Err(NotMatched::TooMuch), "{new}");
        }
        let text = format!("{}{};", "f(".repeat(64), ")".repeat(64));
        let empty = found(Language::JavaScript, ["f($$$A)", "$$$A$$$A"], &text);
        assert_eq!(empty, Err(NotMatched::TooMuch));
        // Each of these is tried once more for each around it.
        let pattern = format!("{}1{}", "f($$$, ".repeat(40), ")".repeat(40));
        assert_eq!(Structure::new(Language::JavaScript, &pattern, "1").err(), Some(StructureFault::TooMuch));
    }

    #[test]
    fn what_a_variable_stands_for_stays_one_piece() {
        let apart = |language, asked, text: &str| match found(language, asked, text) {
            Err(NotMatched::TakesApart(variable)) => variable,
            other => panic!("{text}: {other:?}"),
        };
        let asked = ["double($A)", "$A * 2"];
        assert_eq!(apart(Language::JavaScript, asked, "x = double(1 + 2);"), "A");
        check(Language::JavaScript, asked, "x = double(y.z(1 + 2));", "x = y.z(1 + 2) * 2;");
        check(Language::JavaScript, ["double($A)", "($A) * 2"], "double(1 + 2);", "(1 + 2) * 2;");
        check(
            Language::Rust,
            ["$A.not()", "!$A"],
            "fn f() { (a == b).not(); a.c.not(); }",
            "fn f() { !(a == b); !a.c; }",
        );
        let equal = ["assertEqual($A, $B)", "assert $A == $B"];
        assert_eq!(apart(Language::Python, equal, "assertEqual(x < y, z)\n"), "A");
        check(Language::JavaScript, ["f($A)", "f(\"$A\", $A)"], "f(a + b);", "f(\"a + b\", a + b);");
        check(Language::JavaScript, ["f($A)", "{ $A }"], "f(a);", "{ a };");
        // Also of what lies inside of another place.
        check(Language::JavaScript, asked, "double(double(x))", "x * 2 * 2");
        assert_eq!(apart(Language::JavaScript, asked, "double(1 + double(x))"), "A");
    }

    #[test]
    fn a_pattern_that_cannot_be_meant_is_refused() {
        let fault = |pattern, new| Structure::new(Language::JavaScript, pattern, new).err().unwrap();
        assert_eq!(fault("f(", "g"), StructureFault::NotCode);
        assert_eq!(fault("f(); g()", "g"), StructureFault::NotOne);
        assert_eq!(fault("", "g"), StructureFault::NotOne);
        for only in ["$A", "$$$A", "$_", " $A "] {
            assert_eq!(fault(only, "g"), StructureFault::OnlyVariable, "{only}");
        }
        assert_eq!(fault("f($A)", "g($B)"), StructureFault::UnknownVariable("B".into()));
        assert_eq!(Structure::new(Language::Json, "1", "2").err(), Some(StructureFault::NotCode));
        assert!(Structure::new(Language::JavaScript, "f($_)", "g($1, $x, `${y}`)").is_ok());
    }
}
