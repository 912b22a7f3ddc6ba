//! The nodes of a tree that an outline needs, found by the query of the language.
//!
//! The captures of the queries are these. `@definition.KIND` is a definition, `@name` its name. `@scope` is what stands
//! before the name in its path, `@trait` what an `impl` block implements. Without a name, a definition is called as
//! all that stands before its `@body`. Where several patterns have the same name, the first one counts. `@comment`
//! belongs to the definition directly below it, `@attribute` to the next one. `@whole` is a node around a definition
//! that belongs to it, `@opaque` one in which nothing has a name of its own, `@shared` a statement that defines several
//! names, of which the query may find one. `@part` is a definition that is only a part of a statement, whose lines may
//! go on above and below it.

use std::collections::{HashMap, HashSet};
use std::ops::{ControlFlow, Range};
use std::sync::OnceLock;

use tree_sitter::{Node, Query, QueryCursor, QueryCursorOptions, QueryCursorState, StreamingIterator, Tree};

use crate::parse::Begun;
use crate::{Language, Limits};

/// How many patterns may be under way at a time, so that memory is bounded.
const UNDER_WAY: u32 = 1 << 16;

/// What a node is to an outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// Definitions: more than one where a statement defines several names.
    Definitions(Vec<Named>),
    Comment,
    Attribute,
    Whole,
    Opaque,
}

/// A definition as its query found it, in ranges of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) kind: &'static str,
    pub(super) name: Range<usize>,
    pub(super) scope: Option<Range<usize>>,
    pub(super) of_trait: Option<Range<usize>>,
}

/// The marked nodes of a tree, by their ids.
#[derive(Debug, Default)]
pub(super) struct Marks {
    nodes: HashMap<usize, Mark>,
    shared: HashSet<usize>,
    parts: HashSet<usize>,
}

impl Marks {
    pub(super) fn mark(&self, node: &Node<'_>) -> Option<&Mark> {
        self.nodes.get(&node.id())
    }

    /// Returns whether a node defines more than one name, known or not.
    pub(super) fn is_shared(&self, node: &Node<'_>) -> bool {
        let several = |mark: &Mark| matches!(mark, Mark::Definitions(names) if names.len() > 1);
        self.shared.contains(&node.id()) || self.mark(node).is_some_and(several)
    }

    /// Returns whether a node is only a part of the statement around it.
    pub(super) fn is_part(&self, node: &Node<'_>) -> bool {
        self.parts.contains(&node.id())
    }
}

/// Finds the marked nodes; `None` if that would cost too much.
pub(super) fn find(language: Language, tree: &Tree, text: &[u8], limits: &Limits) -> Option<Marks> {
    let query = query(language)?;
    let captures = query.capture_names();
    let begun = Begun::now();
    let mut is_late = false;
    let mut goes_on = |_: &QueryCursorState| match begun.is_over(limits.time) {
        true => {
            is_late = true;
            ControlFlow::Break(())
        }
        false => ControlFlow::Continue(()),
    };
    let options = QueryCursorOptions::new().progress_callback(&mut goes_on);
    let mut cursor = QueryCursor::new();
    cursor.set_match_limit(UNDER_WAY);
    let mut found: Vec<(usize, usize, Mark)> = Vec::new();
    let (mut shared, mut parts) = (HashSet::new(), HashSet::new());
    let mut matches = cursor.matches_with_options(query, tree.root_node(), text, options);
    while let Some(one) = matches.next() {
        let mut marked = None;
        let (mut name, mut scope, mut of_trait, mut body) = (None, None, None, None);
        for capture in one.captures() {
            let node = capture.node;
            match *captures.get(capture.index as usize)? {
                "name" => name = Some(node.byte_range()),
                "scope" => scope = Some(node.byte_range()),
                "trait" => of_trait = Some(node.byte_range()),
                "body" => body = Some(node.start_byte()),
                capture => marked = Some((node, capture)),
            }
        }
        let Some((node, capture)) = marked else { continue };
        let mark = match capture {
            "comment" => Mark::Comment,
            "attribute" => Mark::Attribute,
            "whole" => Mark::Whole,
            "opaque" => Mark::Opaque,
            "shared" => {
                shared.insert(node.id());
                continue;
            }
            "part" => {
                parts.insert(node.id());
                continue;
            }
            capture => {
                let kind = capture.strip_prefix("definition.")?;
                let name = name.or_else(|| body.map(|body| node.start_byte()..body))?;
                Mark::Definitions(vec![Named { kind, name, scope, of_trait }])
            }
        };
        found.push((one.pattern_index, node.id(), mark));
    }
    drop(matches);
    if is_late || cursor.did_exceed_match_limit() {
        return None;
    }
    // A stable sort: the definitions of one pattern stay in the order of the text.
    found.sort_by_key(|(pattern, ..)| *pattern);
    Some(Marks { nodes: merged(found), shared, parts })
}

/// Gives each node its mark, and each name to one definition.
fn merged(found: Vec<(usize, usize, Mark)>) -> HashMap<usize, Mark> {
    let mut marks = HashMap::new();
    let mut names: HashSet<(usize, usize)> = HashSet::new();
    for (_, node, mark) in found {
        let Mark::Definitions(more) = mark else {
            marks.entry(node).or_insert(mark);
            continue;
        };
        for definition in more {
            let name = &definition.name;
            // What names a node may be given in two lengths: as a type, and as the name in it.
            let is_part = |known: &Named| known.name.start < name.end && name.start < known.name.end;
            let is_new = names.insert((name.start, name.end));
            match marks.get_mut(&node) {
                Some(Mark::Definitions(known)) if is_new && !known.iter().any(is_part) => {
                    known.push(definition);
                }
                Some(Mark::Definitions(_)) => {}
                _ if is_new => _ = marks.insert(node, Mark::Definitions(vec![definition])),
                _ => {}
            }
        }
    }
    marks
}

/// Returns the query of a language, which is compiled once.
fn query(language: Language) -> Option<&'static Query> {
    static QUERIES: [OnceLock<Option<Query>>; 13] = [const { OnceLock::new() }; 13];
    let compiled = || Query::new(&language.grammar(), &source(language).concat()).ok();
    QUERIES.get(language as usize)?.get_or_init(compiled).as_ref()
}

/// Returns the parts of the query of a language.
fn source(language: Language) -> &'static [&'static str] {
    const ECMASCRIPT: &str = include_str!("../../queries/ecmascript.scm");
    const TYPESCRIPT: &str = include_str!("../../queries/typescript.scm");
    match language {
        Language::Bash => &[include_str!("../../queries/bash.scm")],
        Language::C => &[include_str!("../../queries/c.scm")],
        Language::Css => &[include_str!("../../queries/css.scm")],
        Language::Go => &[include_str!("../../queries/go.scm")],
        Language::Html => &[],
        Language::Java => &[include_str!("../../queries/java.scm")],
        Language::JavaScript => &[ECMASCRIPT, include_str!("../../queries/javascript.scm")],
        Language::Json => &[include_str!("../../queries/json.scm")],
        Language::Python => &[include_str!("../../queries/python.scm")],
        Language::Rust => &[include_str!("../../queries/rust.scm")],
        Language::Toml => &[include_str!("../../queries/toml.scm")],
        Language::Tsx | Language::TypeScript => &[ECMASCRIPT, TYPESCRIPT],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::LANGUAGES;

    #[test]
    fn every_query_fits_its_grammar() {
        for language in LANGUAGES {
            let error = Query::new(&language.grammar(), &source(language).concat()).err();
            assert_eq!(error.map(|error| error.to_string()), None, "{language:?}");
            assert!(query(language).is_some());
        }
    }
}
