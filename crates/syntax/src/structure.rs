//! Replacement by structure: a pattern of code with variables, such as `console.log($A)`, is matched on the tree of a text.
//!
//! `$A` stands for one node, `$$$A` for any number of them, and `$_` for one that is not needed. What a variable stands for
//! is put into the new text as it stands in the file, but for the indentation of its lines. A place must have every token of the pattern and no other: a pattern
//! without `async` is no place in an `async` function, whose keyword would go. Places that only have more in them, such as
//! a comment, are counted. A text that is not sound before, or would not be sound afterwards, has no places at all.

mod around;
mod fill;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use ast_grep_core::matcher::PatternBuilder;
use ast_grep_core::tree_sitter::{LanguageExt, StrDoc, TSLanguage};
use ast_grep_core::{AstGrep, Language as PatternLanguage, MatchStrictness, Pattern, PatternError};
use tree_sitter::Tree;

use self::fill::{Part, Place, Writer, outer, parts, with_lines};
use crate::{Language, Limits};
use crate::{parse, python};

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
    /// The texts of the pattern between variables and blanks, all of which a place has.
    words: Vec<String>,
    new: Vec<Part>,
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
    /// With the place in this line, the code around it would be another: `a + b` behind a `-` is.
    ChangesAround(usize),
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
        let stand_in = with_stand_in(new, language.stand_in().unwrap_or('$'));
        let new_tree = parse::tree(language, stand_in.as_bytes(), &Limits::default(), None);
        let new = with_lines(parts(new), &new_tree.ok_or(StructureFault::TooMuch)?, &stand_in);
        for part in &new {
            if let Part::Variable { name, .. } = part
                && !known.contains(name.as_str())
            {
                return Err(StructureFault::UnknownVariable(name.clone()));
            }
        }
        let exact = read.clone().with_strictness(MatchStrictness::Cst);
        let loose = read.clone().with_strictness(MatchStrictness::Relaxed);
        let fixed = |part: Part| match part {
            Part::Text(text) => text,
            Part::NewLine | Part::Variable { .. } => " ".to_owned(),
        };
        let fixed: String = parts(pattern).into_iter().map(fixed).collect();
        let words =
            fixed.split_whitespace().filter(|word| !word.starts_with("$")).map(str::to_owned).collect();
        Ok(Self { language, exact, loose, words, new })
    }

    /// Finds the places of the pattern in a text.
    pub fn find(&self, text: &str, limits: &Limits) -> Result<StructureFound, NotMatched> {
        let tree = parse::tree(self.language, text.as_bytes(), limits, None).filter(|tree| !is_deep(tree));
        let tree = tree.ok_or(NotMatched::Unsound)?;
        let document_tree = tree.clone();
        let document = AstGrep::doc(StrDoc { src: text.to_owned(), lang: Grammar(self.language), tree });
        let root = document.root();
        let mut found = StructureFound::default();
        let mut places: Vec<Place<'_>> = root.find_all(&self.exact).collect();
        // Those that lie inside of others come after them.
        places.sort_by_key(|place| (place.range().start, std::cmp::Reverse(place.range().end)));
        let exact: BTreeSet<(usize, usize)> =
            places.iter().map(|place| (place.range().start, place.range().end)).collect();
        let mut writer = Writer {
            new: &self.new,
            text,
            tree: &document_tree,
            places: &places,
            left: 2 * limits.bytes,
            put: Vec::new(),
        };
        let mut put = Vec::new();
        for place in outer(&places, 0..text.len()) {
            let mut new = String::new();
            writer.replace_outer(place, &mut new).ok_or(NotMatched::TooMuch)?;
            if text[place.range()] != new {
                found.places.push((place.range(), new));
                put.push(core::mem::take(&mut writer.put));
            }
            writer.put.clear();
        }
        for place in root.find_all(&self.loose) {
            let range = place.range();
            // Operators do not count in a loose match.
            let mut rest = &text[range.clone()];
            let has_words = self.words.iter().all(|word| {
                let found = rest.find(word.as_str());
                found.inspect(|at| rest = &rest[at + word.len()..]).is_some()
            });
            if has_words && !exact.contains(&(range.start, range.end)) {
                found.more.push(1 + memchr::memchr_iter(b'\n', &text.as_bytes()[..range.start]).count());
            }
        }
        if found.places.is_empty() && found.more.is_empty() {
            return Ok(found);
        }
        let is_misindented = |tree: &Tree, text: &str| {
            self.language == Language::Python && python::misindented(tree, text.as_bytes(), None).is_some()
        };
        if document_tree.root_node().has_error() || is_misindented(&document_tree, text) {
            return Err(NotMatched::Unsound);
        }
        if !found.places.is_empty() {
            let new = replaced(text, &found.places);
            let tree = parse::tree(self.language, new.as_bytes(), limits, None).ok_or(NotMatched::TooMuch)?;
            if tree.root_node().has_error() || is_misindented(&tree, &new) {
                return Err(NotMatched::Breaks);
            }
            let (mut came, mut gone) = (0, 0);
            let mut places = Vec::with_capacity(found.places.len());
            for ((range, new), put) in found.places.iter().zip(&put) {
                let start = range.start + came - gone;
                (came, gone) = (came + new.len(), gone + range.len());
                places.push((range.clone(), start..start + new.len()));
                let parted = put.iter().find(|(_, put)| !is_one(&tree, start + put.start..start + put.end));
                if let Some((variable, _)) = parted {
                    return Err(NotMatched::TakesApart((*variable).to_owned()));
                }
            }
            if let Some(at) = around::first_changed((&document_tree, &tree), &new, &places) {
                let before = &text.as_bytes()[..found.places[at].0.start];
                return Err(NotMatched::ChangesAround(1 + memchr::memchr_iter(b'\n', before).count()));
            }
        }
        Ok(found)
    }
}

/// Returns whether a part of a text is one piece of code, or stands inside of a string or a comment.
fn is_one(tree: &Tree, range: Range<usize>) -> bool {
    let Some(node) = tree.root_node().descendant_for_byte_range(range.start, range.end) else { return true };
    node.byte_range() == range || range.is_empty() || node.child_count() == 0 || is_words(node.kind())
}

/// Returns whether a node of this kind is a string, a comment or other text.
fn is_words(kind: &str) -> bool {
    ["string", "comment", "template", "text"].iter().any(|word| kind.contains(word))
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

#[cfg(test)]
mod tests;
