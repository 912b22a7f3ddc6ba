//! The outline of a file: its definitions, how they contain each other, and the lines of each.
//!
//! An outline answers two questions about a file that is too long to read: what is in it, and in which lines a
//! definition stands whole, with its decorators, attributes and comments. It comes from the tree of the text and the
//! queries in `queries`, for Markdown from its headings. It knows nothing of types or of other files.

use std::ops::RangeInclusive;

use crate::{Language, Limits, language_of, parse};

mod banner;
mod collect;
mod extent;
mod lead;
mod markdown;
mod marks;

/// The kind of an `impl` block in Rust. It has the name of its type, and is no definition of it.
const IMPL: &str = "impl";

/// The kind of a key in JSON or TOML, which is a part of a list.
const KEY: &str = "key";

/// The kind of a heading in Markdown.
const HEADING: &str = "heading";

/// The definitions of a file, in the order of their lines; those inside of others follow them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline(Vec<Definition>);

/// Something in a file that has a name: a function, a class, a key, a heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The name.
    pub name: String,
    /// The kind, in the language's own word.
    pub kind: &'static str,
    /// Its lines as a whole, counted from one, with its decorators, attributes and the comment directly above it.
    pub lines: RangeInclusive<usize>,
    /// The line of its name.
    pub name_line: usize,
    /// How many definitions contain it.
    pub depth: usize,
    /// Where its lines may not be exactly the definition.
    pub doubts: Doubts,
    /// What an `impl` block is called: `impl T for B`.
    label: Option<String>,
    /// What stands before the name in its path, besides the definitions that contain it: a receiver in Go, the first
    /// parts of a key in TOML.
    scope: Option<String>,
    /// The position of the definition that contains it.
    parent: Option<usize>,
}

/// Where the lines of a definition may not be exactly the definition, and why.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Doubts {
    /// Whether it begins with its first line.
    pub above: Option<Doubt>,
    /// Whether it ends with its last line.
    pub below: Option<Doubt>,
    /// Whether all between is the definition alone.
    all: Option<Doubt>,
}

/// Why the lines of a definition are not exactly the definition, the gravest reason last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// A comment directly above may belong to the definition, or to all that follows in the file.
    Comment,
    /// Other code stands in one of the lines, or the statement defines other names too.
    Shared,
    /// There is a syntax error in the definition, around it, or between it and the next one.
    Broken,
}

impl Doubts {
    /// Returns why the lines are not exactly the definition, if they are not.
    #[must_use]
    pub fn any(self) -> Option<Doubt> {
        let all = [self.above, self.below, self.all];
        all.into_iter().flatten().max()
    }
}

/// Why there is no outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoOutline {
    /// The language of the file is not known, or has no definitions.
    UnknownLanguage,
    /// The file is too large, or examining it takes too long.
    TooMuch,
}

/// Returns the outline of a file, whose language its name tells.
pub fn outline(path: &str, text: &[u8], limits: &Limits) -> Result<Outline, NoOutline> {
    if markdown::has_name(path) {
        return match text.len() <= limits.bytes {
            true => Ok(Outline(markdown::headings(text))),
            false => Err(NoOutline::TooMuch),
        };
    }
    let language = language_of(path).filter(|language| *language != Language::Html);
    let language = language.ok_or(NoOutline::UnknownLanguage)?;
    let definitions = || {
        let tree = parse::tree(language, text, limits, None)?;
        let marks = marks::find(language, &tree, text, limits)?;
        collect::definitions(language, &tree, text, &marks)
    };
    definitions().map(Outline).ok_or(NoOutline::TooMuch)
}

/// Returns whether the last line of a text is the last one of a definition that stands apart. The text may be a part of a
/// file, such as a method, which is none by itself in JavaScript.
pub fn ends_in_definition(path: &str, text: &[u8], limits: &Limits) -> bool {
    let text = text.trim_ascii_end();
    let ends = |text: &[u8], last: usize, depth: usize| {
        let is_last = |definition: &Definition| {
            definition.is_apart() && definition.depth >= depth && *definition.lines.end() == last
        };
        outline(path, text, limits).is_ok_and(|outline| outline.definitions().iter().any(is_last))
    };
    let last = 1 + memchr::memchr_iter(b'\n', text).count();
    let has_methods =
        matches!(language_of(path), Some(Language::JavaScript | Language::Tsx | Language::TypeScript));
    !text.is_empty()
        && (ends(text, last, 0)
            || (has_methods && ends(&[b"class A {\n", text, b"\n}\n"].concat(), last + 1, 1)))
}

impl Definition {
    /// Returns whether it stands apart from its neighbours, so that the blank lines around it belong to it.
    pub fn is_apart(&self) -> bool {
        self.kind != KEY
    }

    /// Returns whether it is a definition of code, and no heading or key of data.
    pub fn is_code(&self) -> bool {
        self.kind != KEY && self.kind != HEADING
    }

    /// Describes the definition without what contains it: `function c`, `impl T for B`.
    pub fn describe(&self) -> String {
        match (&self.label, &self.scope) {
            (Some(label), _) => label.clone(),
            (None, Some(scope)) => format!("{} {scope}.{}", self.kind, self.name),
            (None, None) => format!("{} {}", self.kind, self.name),
        }
    }
}

impl Outline {
    /// Returns the definitions, in order.
    pub fn definitions(&self) -> &[Definition] {
        &self.0
    }

    /// Returns the innermost definition of several lines that has this one.
    pub fn around(&self, line: usize) -> Option<&Definition> {
        let is_around = |one: &&Definition| one.lines.contains(&line) && one.lines.start() < one.lines.end();
        self.0.iter().filter(is_around).max_by_key(|one| one.depth)
    }

    /// Returns the outline of what a definition of this one contains.
    #[must_use]
    pub fn inside(&self, lines: &RangeInclusive<usize>) -> Self {
        let is_inside = |one: &&Definition| {
            lines.contains(one.lines.start()) && lines.contains(one.lines.end()) && one.lines != *lines
        };
        let first = self.0.iter().position(|one| is_inside(&one)).unwrap_or(0);
        let inner: Vec<&Definition> = self.0.iter().skip(first).filter(is_inside).collect();
        let least = inner.iter().map(|one| one.depth).min().unwrap_or(0);
        let moved = |one: &Definition| Definition {
            depth: one.depth - least,
            parent: one.parent.and_then(|parent| parent.checked_sub(first)),
            ..one.clone()
        };
        Self(inner.into_iter().map(moved).collect())
    }

    /// Returns the path of a definition of this outline: the names of those that contain it, and its own.
    pub fn path(&self, definition: &Definition) -> String {
        let mut parts: Vec<&str> = self.parts(definition).collect();
        parts.reverse();
        parts.join(".")
    }

    /// Describes a definition of this outline by its kind and its path, as [`Outline::find`] takes it:
    /// `function a.B.c`, `impl T for B`.
    pub fn describe(&self, definition: &Definition) -> String {
        let path = || format!("{} {}", definition.kind, self.path(definition));
        definition.label.clone().unwrap_or_else(path)
    }

    /// Names a definition of this outline, as [`Outline::find`] takes it, in few words: `a.B.c`, `impl T for B`, a heading.
    pub fn title(&self, definition: &Definition) -> String {
        match (&definition.label, definition.kind) {
            (Some(label), _) => label.clone(),
            (None, HEADING) => definition.name.clone(),
            (None, _) => self.path(definition),
        }
    }

    /// Returns every definition that a name fits: a path, its end (`B.c` and `c` for `a.B.c`), either of them after
    /// the kind (`function c`), or the title of an `impl` block. `::` may separate the parts as well.
    ///
    /// An `impl` block is found by the name of its type only where the type itself is not defined. What is the whole
    /// description of one definition is found alone.
    pub fn find(&self, name: &str) -> Vec<&Definition> {
        let name = name.trim();
        let dotted = name.replace("::", ".");
        let fits = |definition: &&Definition| {
            definition.label.as_deref() == Some(name)
                || [name, &dotted].into_iter().any(|name| self.fits(definition, name))
        };
        let found: Vec<&Definition> = self.0.iter().filter(fits).collect();
        let is_described = |definition: &&Definition| {
            let described = self.describe(definition);
            described == name || described == dotted
        };
        let (described, others): (Vec<&Definition>, Vec<&Definition>) =
            found.iter().copied().partition(is_described);
        // A name may have the word of a kind itself.
        let is_bare =
            |other: &&Definition| [name, &dotted].into_iter().any(|name| self.ends_with(other, name));
        if described.len() == 1 && !others.iter().any(is_bare) {
            return described;
        }
        let is_named =
            |definition: &&Definition| definition.kind != IMPL || name.split(' ').next() == Some(IMPL);
        let named: Vec<&Definition> = found.iter().copied().filter(is_named).collect();
        if named.is_empty() { found } else { named }
    }

    fn fits(&self, definition: &Definition, name: &str) -> bool {
        let after_kind = name.strip_prefix(definition.kind).and_then(|rest| rest.strip_prefix(' '));
        self.ends_with(definition, name)
            || after_kind.is_some_and(|name| self.ends_with(definition, name.trim()))
    }

    /// Returns whether the path of a definition ends with these parts.
    fn ends_with(&self, definition: &Definition, name: &str) -> bool {
        let mut rest = name;
        for part in self.parts(definition) {
            let Some(before) = rest.strip_suffix(part) else { return false };
            if before.is_empty() {
                return !name.is_empty();
            }
            let Some(before) = before.strip_suffix('.') else { return false };
            rest = before;
        }
        false
    }

    /// Returns the parts of a path, the last one first.
    fn parts<'o>(&'o self, definition: &'o Definition) -> impl Iterator<Item = &'o str> {
        let containing = |inner: &&'o Definition| inner.parent.and_then(|parent| self.0.get(parent));
        std::iter::successors(Some(definition), containing)
            .flat_map(|definition| [Some(definition.name.as_str()), definition.scope.as_deref()])
            .flatten()
    }
}

#[cfg(test)]
mod tests;
