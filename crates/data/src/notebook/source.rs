//! The source of a cell, written anew: a line that is there already keeps its very bytes, whatever it escapes.
//!
//! Jupyter writes a source as the list of its lines, each with the line feed that ends it. Others write it as one string, or
//! split it elsewhere, as nbformat does at a form feed.

use std::collections::BTreeMap;

use super::outputs::text as text_of;
use super::sequence::{Item, Sequence, changed};
use super::style::{Lines, Style};
use crate::node::{Kind, Node};
use crate::pieces::Splice;

/// The most pairs of lines that are compared to find which ones stay in their order.
const PAIRS: usize = 1 << 20;

/// A line of the new source.
enum Line<'a> {
    /// The old lines at this position.
    Kept(usize),
    New(&'a str),
}

/// Writes a source as a value of its own.
pub(super) fn written(style: &Style, source: &str, is_one_text: bool, lines: Option<&Lines>) -> String {
    if is_one_text {
        return format!("\"{}\"", style.inside(source));
    }
    let parts: Vec<String> =
        source.split_inclusive('\n').map(|line| format!("\"{}\"", style.inside(line))).collect();
    style.bracketed(["[", "]"], &parts, lines)
}

/// Returns what changes in the value of a source if this is the source.
pub(super) fn splices(
    text: &str,
    node: &Node,
    source: &str,
    style: &Style,
    lines: Option<&Lines>,
) -> Vec<Splice> {
    let inside = |node: &Node| node.range.start + 1..node.range.end - 1;
    let Kind::List(items, _) = &node.kind else {
        let old = text_of(node).unwrap_or_default();
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let raw = raw_lines(&text[inside(node)]);
        let known = Known::new(old.iter().copied().zip(raw.iter().copied()));
        let new: String = aligned(&old, source)
            .iter()
            .map(|line| match line {
                Line::Kept(at) => raw[*at].to_owned(),
                Line::New(line) => known.written(style, line),
            })
            .collect();
        return narrowed(text, inside(node).start, &text[inside(node)], &new).into_iter().collect();
    };
    let elements: Vec<(&str, &str)> =
        items.iter().filter_map(|item| Some((text_of(item)?, &text[inside(item)]))).collect();
    let known = Known::new(elements.iter().copied());
    // Elements that are parts of one line stay together, or go together.
    let (mut groups, mut from) = (Vec::new(), 0);
    for (at, (element, _)) in elements.iter().enumerate() {
        if element.ends_with('\n') || at + 1 == elements.len() {
            let whole: String = elements[from..=at].iter().map(|(element, _)| *element).collect();
            groups.push((from..at + 1, whole));
            from = at + 1;
        }
    }
    let old: Vec<&str> = groups.iter().map(|(_, whole)| whole.as_str()).collect();
    let mut new = Vec::new();
    for line in aligned(&old, source) {
        match line {
            Line::Kept(at) => new.extend(groups[at].0.clone().map(Item::Kept)),
            Line::New(line) => new.push(Item::New(format!("\"{}\"", known.written(style, line)))),
        }
    }
    Sequence::new(text, node, style, lines).splices(&new)
}

/// How lines are written that were there before, without what ends them.
struct Known<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Known<'a> {
    fn new(lines: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let content = |(line, raw): (&'a str, &'a str)| match line.strip_suffix('\n') {
            Some(content) => {
                let ends = ["\\n", "\\u000a", "\\u000A"];
                Some((content, ends.into_iter().find_map(|end| raw.strip_suffix(end))?))
            }
            None => Some((line, raw)),
        };
        Self(lines.filter_map(content).collect())
    }

    fn written(&self, style: &Style, line: &str) -> String {
        let (content, end) = match line.strip_suffix('\n') {
            Some(content) => (content, "\\n"),
            None => (line, ""),
        };
        let raw = self.0.get(content).map_or_else(|| style.inside(content), |raw| (*raw).to_owned());
        format!("{raw}{end}")
    }
}

/// Splits what stands in a string behind each escaped line feed.
fn raw_lines(inside: &str) -> Vec<&str> {
    let (mut lines, mut from) = (Vec::new(), 0);
    let mut at = 0;
    while let Some(escape) = inside[at..].find('\\').map(|escape| at + escape) {
        let rest = &inside[escape..];
        let is_code = rest.starts_with("\\u000a") || rest.starts_with("\\u000A");
        // A backslash is always followed by ASCII.
        at = escape + if is_code { 6 } else { 2 };
        if is_code || rest.starts_with("\\n") {
            lines.push(&inside[from..at]);
            from = at;
        }
    }
    if from < inside.len() {
        lines.push(&inside[from..]);
    }
    lines
}

/// Says which of the old lines the new source consists of.
fn aligned<'a>(old: &[&str], new: &'a str) -> Vec<Line<'a>> {
    let mut rest = new;
    let mut first = 0;
    while let Some(line) = old.get(first)
        && let Some(behind) = rest.strip_prefix(line)
        && (line.ends_with('\n') || behind.is_empty() && !line.is_empty())
    {
        rest = behind;
        first += 1;
    }
    let mut last = old.len();
    while last > first
        && let Some(before) = rest.strip_suffix(old[last - 1])
        && !old[last - 1].is_empty()
        && (before.is_empty() || before.ends_with('\n'))
    {
        rest = before;
        last -= 1;
    }
    let lines: Vec<&str> = rest.split_inclusive('\n').collect();
    let middle = common(&old[first..last], &lines).into_iter().map(|line| match line {
        Line::Kept(at) => Line::Kept(first + at),
        new => new,
    });
    (0..first).map(Line::Kept).chain(middle).chain((last..old.len()).map(Line::Kept)).collect()
}

/// Keeps as many old lines as the new ones have in the same order.
fn common<'a>(old: &[&str], new: &[&'a str]) -> Vec<Line<'a>> {
    let width = new.len() + 1;
    if old.is_empty() || old.len().saturating_mul(width) > PAIRS {
        return new.iter().map(|line| Line::New(line)).collect();
    }
    // How many lines those from here on have in common.
    let mut counts = vec![0_u32; (old.len() + 1) * width];
    for at in (0..old.len()).rev() {
        for to in (0..new.len()).rev() {
            counts[at * width + to] = match old[at] == new[to] {
                true => counts[(at + 1) * width + to + 1] + 1,
                false => counts[(at + 1) * width + to].max(counts[at * width + to + 1]),
            };
        }
    }
    let (mut lines, mut at) = (Vec::new(), 0);
    for (to, line) in new.iter().enumerate() {
        while at < old.len() && old[at] != *line && counts[(at + 1) * width + to] == counts[at * width + to] {
            at += 1;
        }
        match at < old.len() && old[at] == *line {
            true => {
                lines.push(Line::Kept(at));
                at += 1;
            }
            false => lines.push(Line::New(line)),
        }
    }
    lines
}

/// Replaces what differs between two texts, of which the old one stands at this place.
fn narrowed(text: &str, start: usize, old: &str, new: &str) -> Option<Splice> {
    let same = |one: &mut dyn Iterator<Item = char>, other: &mut dyn Iterator<Item = char>| -> usize {
        one.zip(other).take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
    };
    let before = same(&mut old.chars(), &mut new.chars());
    let behind = same(&mut old[before..].chars().rev(), &mut new[before..].chars().rev());
    changed(text, start + before..start + old.len() - behind, new[before..new.len() - behind].to_owned())
}
