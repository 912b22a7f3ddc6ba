//! Fixtures of the benchmarks: files of pseudo-code in a few sizes, and requests that fit them or narrowly fail.

use std::fmt;
use std::fmt::Write;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use emend_edit::Text;
use emend_edit::find::BlockForm;
use emend_edit::patch::recognise::Format;
use emend_edit::patch::{Line, Patch, TextChange};
use emend_edit::plan::{Source, Sources};

/// The name of every file.
pub(crate) const PATH: &str = "src/file.rs";

/// The size of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Small,
    Large,
    /// A hundred thousand lines.
    Long,
    Huge,
}

/// The sizes for which everything is measured.
pub(crate) const SIZES: &[Size] = &[Size::Small, Size::Large, Size::Huge];
/// The sizes for which searches are measured.
pub(crate) const SEARCHED: &[Size] = &[Size::Small, Size::Large, Size::Long, Size::Huge];

impl Size {
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Small => 4 << 10,
            Self::Large => 1 << 20,
            Self::Long => 28 * 100_000,
            Self::Huge => 50 << 20,
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Small => "4KB",
            Self::Large => "1MB",
            Self::Long => "100k-lines",
            Self::Huge => "50MB",
        })
    }
}

/// Makes line `i` of every file. Some lines recur, as they do in code.
fn line(i: usize) -> String {
    match i % 10 {
        0 => format!("fn compute_{i}(value: u32, other: &str) -> String {{"),
        1 => format!("    let total = value * {i} + lookup(other, \"key {}\");", i % 977),
        2 => "    if total > limit {".into(),
        3 => format!("        return Err(\"overflow at {}\");", i % 613),
        4 => "    }".into(),
        5 => format!("    let name = other.split(':').nth({}).unwrap_or(other);", i % 7),
        6 => String::new(),
        7 => format!("    format!(\"{{name}}-{{total}}-{}\")", i % 89),
        8 => "}".into(),
        _ => String::new(),
    }
}

fn content(size: Size) -> String {
    let mut text = String::with_capacity(size.bytes() + 100);
    for i in 0.. {
        let is_full = if size == Size::Long { i == 100_000 } else { text.len() >= size.bytes() };
        if is_full {
            break;
        }
        text.push_str(&line(i));
        text.push('\n');
    }
    text
}

/// Returns the file of this size.
pub(crate) fn text(size: Size) -> &'static Arc<Text> {
    static TEXTS: [OnceLock<Arc<Text>>; 4] = [const { OnceLock::new() }; 4];
    TEXTS[size as usize].get_or_init(|| {
        let content = content(size);
        Arc::new(Text::new(content.into_bytes()).expect("it is text"))
    })
}

/// Returns the file of this size with CRLF.
pub(crate) fn crlf(size: Size) -> &'static Text {
    static TEXTS: [OnceLock<Text>; 4] = [const { OnceLock::new() }; 4];
    TEXTS[size as usize].get_or_init(|| {
        let content = content(size).replace('\n', "\r\n");
        Text::new(content.into_bytes()).expect("it is text")
    })
}

/// Makes sources with one file.
pub(crate) fn sources(text: impl Into<Arc<Text>>) -> Sources {
    let mut sources = Sources::default();
    sources.insert(PATH, PATH, Source::Present(text.into()));
    sources
}

/// Whether a request is meant to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Hit,
    Miss,
}

/// A block of twenty lines from the middle of a file, one of them replaced.
pub(crate) struct Request {
    pub(crate) lines: Vec<Line>,
    pub(crate) form: BlockForm,
    /// Whether the request is for the file with CRLF.
    pub(crate) crlf: bool,
}

/// Returns the lines that a request covers.
fn place(size: Size) -> Range<usize> {
    let middle = text(size).lines().len() / 2 / 10 * 10;
    middle..middle + 20
}

/// Makes a request that fits by this layer and by no stricter one, or one that fails because of a wrong word.
pub(crate) fn request(layer: &str, size: Size, asked: Asked) -> Request {
    let mut lines = Vec::new();
    for i in place(size) {
        let text = line(i);
        if i % 20 == 1 || i % 20 == 11 && !lines.iter().any(|line| matches!(line, Line::Added(_))) {
            let new = text.replace("lookup", "search");
            let old = if asked == Asked::Hit { text } else { text.replace("total", "absent") };
            lines.extend([Line::Removed(old), Line::Added(new)]);
        } else {
            lines.push(Line::Context(text));
        }
    }
    let mut form = BlockForm::Block;
    let mut number = 7;
    match layer {
        "trailing-space" => each(&mut lines, |text| text.push(' ')),
        "edge-blanks" => lines.insert(0, Line::Context(String::new())),
        "bare-context" => {
            form = BlockForm::Diff;
            for line in &mut lines {
                if let Line::Context(text) = line {
                    *line = Line::Bare(std::mem::take(text));
                }
            }
        }
        "indentation" => each(&mut lines, |text| {
            if !text.is_empty() {
                text.insert_str(0, "    ");
            }
        }),
        "line-numbers" => {
            form = BlockForm::Diff;
            for line in &mut lines {
                if let Line::Context(text) | Line::Removed(text) = line {
                    *text = format!("{number}\t{text}");
                    number += 1;
                }
            }
        }
        "lookalikes" => each(&mut lines, |text| *text = text.replace('"', "\u{201d}")),
        "inner-blanks" => lines.insert(lines.len() / 2, Line::Context(String::new())),
        "context-drift" => {
            let line = lines.iter_mut().rev().find(|line| line.before().is_some_and(|text| text.len() > 20));
            if let Some(Line::Context(text)) = line {
                text.push_str(" // from memory");
            }
        }
        _ => {}
    }
    Request { lines, form, crlf: layer == "line-endings" }
}

fn each(lines: &mut [Line], mut change: impl FnMut(&mut String)) {
    for line in lines {
        let (Line::Context(text) | Line::Removed(text) | Line::Added(text) | Line::Bare(text)) = line;
        change(text);
    }
}

impl Request {
    /// Returns the old lines.
    pub(crate) fn there(&self) -> Vec<&[u8]> {
        self.lines.iter().filter_map(Line::before).map(str::as_bytes).collect()
    }

    /// Returns the new lines.
    pub(crate) fn wanted(&self) -> Vec<&[u8]> {
        self.lines.iter().filter_map(Line::after).map(str::as_bytes).collect()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.there().join(&b'\n')
    }

    /// Makes the request a call of `str_replace`.
    pub(crate) fn str_replace(&self) -> Patch {
        let text = |lines: Vec<&[u8]>| String::from_utf8_lossy(&lines.join(&b'\n')).into_owned();
        let change =
            TextChange { old: text(self.there()), new: text(self.wanted()), all: false, expected: None };
        Patch::replace(PATH, vec![change]).expect("it is a change")
    }

    /// Makes the request a V4A patch.
    pub(crate) fn v4a(&self) -> String {
        let mut patch = format!("*** Begin Patch\n*** Update File: {PATH}\n@@\n");
        for line in &self.lines {
            let _ = match line {
                Line::Context(text) => writeln!(patch, " {text}"),
                Line::Removed(text) => writeln!(patch, "-{text}"),
                Line::Added(text) => writeln!(patch, "+{text}"),
                Line::Bare(text) => writeln!(patch, "{text}"),
            };
        }
        patch + "*** End Patch\n"
    }
}

/// Many small changes, spread over a file.
pub(crate) struct Edits {
    size: Size,
    /// The changed lines.
    at: Vec<usize>,
}

impl Edits {
    /// Makes `count` edits, or as many as the file has lines to change.
    pub(crate) fn of(count: usize, size: Size) -> Self {
        let total = text(size).lines().len();
        let step = (total / 10 / count).max(1) * 10;
        let at = (0..count).map(|i| i * step + 1).take_while(|&at| at < total).collect();
        Self { size, at }
    }

    fn changed(i: usize) -> String {
        line(i).replace("lookup", "search")
    }

    /// Makes all edits one call.
    pub(crate) fn patch(&self) -> Patch {
        let change = |&i: &usize| TextChange {
            old: line(i - 1) + "\n" + &line(i),
            new: line(i - 1) + "\n" + &Self::changed(i),
            all: false,
            expected: None,
        };
        Patch::replace(PATH, self.at.iter().map(change).collect()).expect("they are changes")
    }

    /// Returns the file with all edits made.
    pub(crate) fn applied(&self) -> String {
        let mut text = String::with_capacity(self.size.bytes() + 100);
        let mut at = self.at.iter().peekable();
        for i in 0..super::fixture::text(self.size).lines().len() {
            let changes = at.next_if(|&&at| at == i).is_some();
            text.push_str(&if changes { Self::changed(i) } else { line(i) });
            text.push('\n');
        }
        text
    }
}

/// Makes a patch of about this number of bytes.
pub(crate) fn patch(format: Format, bytes: usize) -> String {
    let mut patch = String::with_capacity(bytes + 1_000);
    match format {
        Format::V4a => patch += &format!("*** Begin Patch\n*** Update File: {PATH}\n"),
        Format::Unified => patch += &format!("--- a/{PATH}\n+++ b/{PATH}\n"),
        Format::Context => patch += &format!("*** {PATH}\n--- {PATH}\n"),
        Format::Whole => patch += &format!("{PATH}\n```\n"),
        Format::SearchReplace => patch += &format!("{PATH}\n"),
        Format::Ed | Format::Rcs => {}
    }
    // ed scripts work from the bottom of the file up.
    let mut number = if format == Format::Ed { bytes } else { 0 };
    let mut i = 0;
    while patch.len() < bytes {
        i += 10;
        number = if format == Format::Ed { number - 10 } else { number + 10 };
        let (before, old, after) = (line(i), line(i + 1), line(i + 2));
        let new = old.replace("lookup", "search");
        let last = number + 2;
        let _ = match format {
            Format::V4a => write!(patch, "@@\n {before}\n-{old}\n+{new}\n {after}\n"),
            Format::Unified => {
                write!(patch, "@@ -{number},3 +{number},3 @@\n {before}\n-{old}\n+{new}\n {after}\n")
            }
            Format::Context => write!(
                patch,
                "***************\n*** {number},{last} ****\n  {before}\n! {old}\n  {after}\n--- {number},{last} \
                 ----\n  {before}\n! {new}\n  {after}\n"
            ),
            Format::Ed => write!(patch, "{number}c\n{new}\n.\n"),
            Format::Rcs => write!(patch, "d{number} 1\na{number} 1\n{new}\n"),
            Format::SearchReplace => write!(
                patch,
                "<<<<<<< SEARCH\n{before}\n{old}\n{after}\n=======\n{before}\n{new}\n{after}\n>>>>>>> REPLACE\n"
            ),
            Format::Whole => write!(patch, "{before}\n{old}\n{after}\n"),
        };
    }
    match format {
        Format::V4a => patch += "*** End Patch\n",
        Format::Whole => patch += "```\n",
        _ => {}
    }
    patch
}
