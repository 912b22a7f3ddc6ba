//! Values in data files by their keys: JSON, also with comments, TOML, YAML, `.env` and INI. No I/O.
//!
//! A text is read into a tree of values with their places. A change is made in the text alone, where the value stands, so that
//! comments, order and every other byte stay. Then the text is read again: unless it means what it meant before with just this
//! value changed, nothing is changed. `notebook` does the same for the cells of Jupyter notebooks.

mod comments;
mod distance;
mod fault;
mod flow;
mod format;
mod json;
mod key;
mod layout;
mod lines;
mod node;
pub mod notebook;
mod pieces;
#[cfg(test)]
mod tests;
mod toml;
mod yaml;

use std::ops::Range;

pub use fault::{Fault, Shape, Unread};
pub use format::Format;
pub use key::{Key, Step};
pub use node::{Bar, Data};
pub use pieces::Splice;

use key::Found;
use layout::Text;
use node::{DEEP, Kind, Layout, Node};
use pieces::Pieces;

/// The most bytes that are read for several changes: each reads the text once.
const WORK: usize = 64 << 20;

/// A change of one value.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The way to it.
    pub key: Key,
    /// Which document of a YAML file it is in, counted from 0.
    pub document: Option<usize>,
    /// What must stand there now: one of these, if there are any.
    pub expected: Vec<Data>,
    /// What becomes of it.
    pub action: Action,
}

/// What becomes of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// It becomes this.
    Set(Data),
    /// It becomes this text, unless it is a number, a list or anything else that a text would hardly replace.
    SetText(String),
    /// It is new: in a list before the element of its index, in a map before this key or at the end.
    Insert {
        /// The value.
        value: Data,
        /// The key before which it goes.
        before: Option<String>,
    },
    /// It goes.
    Delete,
}

/// What changes come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// What is replaced in the text, in its order.
    pub splices: Vec<Splice>,
    /// What the caller has not said itself.
    pub notes: Vec<Note>,
}

/// What a change does beyond the value that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// What the new value is in was not there, and was made.
    Made {
        /// The way to it, with dots.
        key: String,
        /// Whether it is a list.
        is_list: bool,
    },
    /// This comment went with what it stood above.
    CommentGone(String),
}

/// Reads a value that is written as JSON. Keys keep their order.
pub fn from_json(written: &str) -> Result<Data, Unread> {
    let data = json::read(written)?.data();
    match twice(&data) {
        Some(key) => Err(Unread { line: 1, why: format!("the key {key} stands in it twice") }),
        None => Ok(data),
    }
}

/// Returns a key that stands twice in one map of a value, if there is one.
fn twice(data: &Data) -> Option<&str> {
    match data {
        Data::List(items) => items.iter().find_map(twice),
        Data::Map(entries) => {
            let mut known = std::collections::HashSet::new();
            let again = entries.iter().find(|(key, _)| !known.insert(key)).map(|(key, _)| key.as_str());
            again.or_else(|| entries.iter().find_map(|(_, value)| twice(value)))
        }
        _ => None,
    }
}

/// Reads the documents of a text.
fn read(format: Format, text: &str) -> Result<Vec<Node>, Unread> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEP {
            return Err(Unread::at(text, at, "its brackets are nested too deeply"));
        }
    }
    match format {
        Format::Json => json::read(text).map(|top| vec![top]),
        Format::Toml => toml::read(text).map(|top| vec![top]),
        Format::Yaml => yaml::read(text),
        Format::Env => lines::read_env(text).map(|top| vec![top]),
        Format::Ini => lines::read_ini(text).map(|top| vec![top]),
    }
}

/// Returns where the value of a key stands, with its key.
pub fn find(format: Format, text: &str, key: &Key, document: Option<usize>) -> Result<Range<usize>, Fault> {
    let documents = read(format, text)?;
    let top = chosen(&documents, document)?;
    let found = key.find(&documents[top], false)?;
    let (parent, at) = parent(&documents[top], &found);
    let range = parent.ranges().swap_remove(at);
    Ok(match parent.child(at).layout() {
        Some(Layout::Lines | Layout::Dotted | Layout::Tables) => extent(parent.child(at)),
        _ => range,
    })
}

/// Returns all lines of a table.
fn extent(node: &Node) -> Range<usize> {
    let mut extent = node.range.clone();
    for at in 0..node.len() {
        let inner = extent_of(node, at);
        if extent.is_empty() {
            extent = inner;
        } else {
            extent = extent.start.min(inner.start)..extent.end.max(inner.end);
        }
    }
    extent
}

fn extent_of(parent: &Node, at: usize) -> Range<usize> {
    match parent.child(at).layout() {
        Some(Layout::Lines | Layout::Dotted | Layout::Tables) => extent(parent.child(at)),
        _ => parent.ranges().swap_remove(at),
    }
}

/// Makes changes, each in the text that those before it have made, and returns what they come to. The error is that of the
/// change of this position.
pub fn change(format: Format, text: &str, changes: &[Change]) -> Result<Changed, (usize, Fault)> {
    let eol = layout::line_ending(text);
    if text.len().saturating_mul(changes.len()) > WORK && changes.len() > 1 {
        return Err((changes.len() - 1, Fault::TooMuch));
    }
    let mut pieces = Pieces::new(text);
    let mut documents = read(format, text).map_err(|unread| (0, unread.into()))?;
    let mut notes = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        let now = pieces.text();
        let text = Text { text: &now, eol };
        let changed;
        (changed, documents) = one(format, text, &documents, change).map_err(|fault| (at, fault))?;
        pieces.splice(changed.splices);
        notes.extend(changed.notes);
    }
    Ok(Changed { splices: pieces.changes(), notes })
}

/// Makes one change, and reads the text that it makes.
fn one(
    format: Format,
    text: Text<'_>,
    documents: &[Node],
    change: &Change,
) -> Result<(Changed, Vec<Node>), Fault> {
    let chosen = chosen(documents, change.document)?;
    let top = &documents[chosen];
    let found = match change.action {
        Action::Insert { .. } => change.key.find(top, true),
        // What is expected to have another value cannot be missing.
        Action::Set(_) | Action::SetText(_) if change.expected.is_empty() => change.key.find_or_add(top),
        _ => change.key.find(top, false),
    };
    let found =
        found.map_err(|fault| if format == Format::Ini { lines::in_section(top, fault) } else { fault })?;
    let (parent, at) = parent(top, &found);
    if let Some(bar) = parent.bar {
        return Err(Fault::Barred(bar));
    }
    if !change.expected.is_empty() && !found.is_new {
        let now = parent.child(at);
        let data = match now.data() {
            Data::Tagged(_, value) => *value,
            data => data,
        };
        if !change.expected.iter().any(|expected| data.is(expected)) {
            return Err(Fault::Other(text.text[now.range.clone()].to_owned()));
        }
    }
    let text_value;
    let mut notes = Vec::new();
    let action = match &change.action {
        Action::Set(_) | Action::SetText(_) if found.is_new => {
            notes.extend(found.new.clone().map(|key| Note::Made { key, is_list: false }));
            let value = match &change.action {
                Action::SetText(text) => Data::Text(text.clone()),
                Action::Set(value) => value.clone(),
                _ => Data::Null,
            };
            text_value = Action::Insert { value, before: None };
            &text_value
        }
        Action::SetText(new) => {
            let old = parent.child(at).data();
            let is_like_text = matches!(old, Data::Text(_) | Data::Null | Data::Other(_));
            if !is_like_text && parent.child(at).bar.is_none() {
                return Err(Fault::OtherKind { now: Shape::of(&old), new: new.clone() });
            }
            text_value = Action::Set(Data::Text(new.clone()));
            &text_value
        }
        Action::Insert { value, before } => {
            text_value = Action::Insert { value: found.wrap(value.clone()), before: before.clone() };
            &text_value
        }
        action => action,
    };
    let (splices, new) = match action {
        Action::Set(value) => {
            let old = parent.child(at);
            if old.data().is(value) {
                return Err(Fault::Same);
            }
            if let Some(bar) = old.bar {
                return Err(Fault::Barred(bar));
            }
            let is_single = !matches!(value, Data::List(_) | Data::Map(_));
            if is_single && old.len() > 0 && change.expected.is_empty() {
                return Err(Fault::Whole(Shape::of(&old.data())));
            }
            (set(format, text, parent, at, value)?, Some(value))
        }
        Action::Insert { value, before } => {
            let before = before.as_ref().map(|name| before_key(parent, name)).transpose()?;
            notes.extend(found.made().map(|(key, is_list)| Note::Made { key, is_list }));
            let place = Place { top, path: names(top, &found), parent, before: before.unwrap_or(at) };
            (insert(format, text, &place, found.new.as_deref(), value)?, Some(value))
        }
        Action::Delete | Action::SetText(_) => {
            if let Some(bar) =
                parent.child(at).bar.filter(|bar| *bar == Bar::Anchor || *bar == Bar::SeveralLines)
            {
                return Err(Fault::Barred(bar));
            }
            let place = Place { top, path: names(top, &found), parent, before: at };
            let splices = delete(format, text, &place)?;
            notes.extend(comment_gone(format, text.text, parent, at, &splices).map(Note::CommentGone));
            (splices, None)
        }
    };
    // What it means now must be what it meant, with just this changed.
    let mut meant: Vec<Data> = documents.iter().map(Node::data).collect();
    let is_new = found.is_new;
    key::apply(&mut meant[chosen], &found, new.map(|new| kept(format, new)));
    let mut pieces = Pieces::new(text.text);
    pieces.splice(splices.clone());
    let now = read(format, &pieces.text()).unwrap_or_default();
    let is_meant =
        now.len() == meant.len() && now.iter().zip(&meant).all(|(now, meant)| now.data().is(meant));
    let has_anchor = !is_new && has_anchor(parent.child(at));
    match is_meant {
        true => Ok((Changed { splices, notes }, now)),
        // An alias elsewhere has lost what it stood for.
        false if has_anchor => Err(Fault::Barred(Bar::Anchor)),
        false => Err(Fault::Breaks),
    }
}

/// Where something new goes, or what goes.
struct Place<'n> {
    top: &'n Node,
    /// The names on the way to what it goes into, or is in.
    path: Vec<&'n str>,
    parent: &'n Node,
    /// The position of the entry before which it goes, or its own.
    before: usize,
}

/// Returns the names of the maps' entries on the way to what an entry is in.
fn names<'n>(top: &'n Node, found: &Found) -> Vec<&'n str> {
    let (mut node, mut names) = (top, Vec::new());
    for at in found.way.split_last().map_or(&[][..], |(_, way)| way) {
        if let Kind::Map(entries, _) = &node.kind {
            names.push(&*entries[*at].key);
        }
        node = node.child(*at);
    }
    names
}

/// Returns the comment above an entry, if it goes too.
fn comment_gone(format: Format, text: &str, parent: &Node, at: usize, splices: &[Splice]) -> Option<String> {
    let start = match format {
        Format::Yaml => yaml::start_of(text, parent, at),
        _ => match parent.child(at).layout() {
            Some(Layout::Lines) => parent.child(at).range.start,
            _ => parent.ranges().get(at)?.start,
        },
    };
    let owned = comments::owned_start(format, text, start);
    let own = layout::line_start(text, start);
    let goes = splices.iter().any(|splice| splice.range.start <= owned && own <= splice.range.end);
    (owned < own && goes).then(|| text[owned..own].trim().to_owned())
}

/// Returns whether a value or something in it has an anchor.
fn has_anchor(node: &Node) -> bool {
    node.bar == Some(Bar::Anchor) || (0..node.len()).any(|at| has_anchor(node.child(at)))
}

fn before_key(parent: &Node, name: &str) -> Result<usize, Fault> {
    let missing = |known| Fault::NoNeighbour { key: name.to_owned(), known };
    let Kind::Map(entries, _) = &parent.kind else { return Err(missing(Vec::new())) };
    let known = || entries.iter().map(|entry| entry.key.clone()).collect();
    let at = entries.iter().position(|entry| entry.key == name).ok_or_else(|| missing(known()))?;
    match entries.iter().filter(|entry| entry.key == name).count() {
        1 => Ok(at),
        count => Err(Fault::Duplicate { key: name.to_owned(), count }),
    }
}

fn chosen(documents: &[Node], asked: Option<usize>) -> Result<usize, Fault> {
    match (documents.len(), asked) {
        (1, None) => Ok(0),
        (count, Some(at)) if at < count => Ok(at),
        (count, _) => Err(Fault::Documents(count)),
    }
}

/// Returns what an entry is in, and its position there.
fn parent<'n>(top: &'n Node, found: &Found) -> (&'n Node, usize) {
    let (last, way) = match found.way.split_last() {
        Some((last, way)) => (*last, way),
        None => (0, &[][..]),
    };
    (way.iter().fold(top, |node, at| node.child(*at)), last)
}

fn set(format: Format, text: Text<'_>, parent: &Node, at: usize, value: &Data) -> Result<Vec<Splice>, Fault> {
    match format {
        Format::Json => Ok(json::set(text, parent, at, value)),
        Format::Toml => toml::set(text, parent.child(at), value),
        Format::Yaml => yaml::set(text, parent, at, value),
        Format::Env | Format::Ini => lines::set(format, text, parent.child(at), value),
    }
}

fn insert(
    format: Format,
    text: Text<'_>,
    place: &Place<'_>,
    key: Option<&str>,
    value: &Data,
) -> Result<Vec<Splice>, Fault> {
    let (parent, before) = (place.parent, place.before);
    match format {
        Format::Json => Ok(json::insert(text, parent, before, key, value)),
        Format::Toml => toml::insert(text, place, key, value),
        Format::Yaml => yaml::insert(text, parent, before, key, value),
        Format::Env | Format::Ini => lines::insert(format, text, place, key.unwrap_or_default(), value),
    }
}

fn delete(format: Format, text: Text<'_>, place: &Place<'_>) -> Result<Vec<Splice>, Fault> {
    let (parent, at) = (place.parent, place.before);
    match format {
        Format::Json => Ok(json::delete(text, parent, at)),
        Format::Toml => toml::delete(text, place),
        Format::Yaml => yaml::delete(text, parent, at),
        Format::Env | Format::Ini => lines::delete(format, text, parent, at),
    }
}

/// What is left of a value in this format: some have only texts.
fn kept(format: Format, value: &Data) -> Data {
    match (format, value) {
        (Format::Env | Format::Ini, Data::Number(number)) => Data::Text(number.clone()),
        (Format::Env | Format::Ini, Data::Bool(is)) => Data::Text(is.to_string()),
        (Format::Ini, Data::Map(entries)) => {
            let kept = |(key, value): &(String, Data)| (key.clone(), kept(format, value));
            Data::Map(entries.iter().map(kept).collect())
        }
        _ => value.clone(),
    }
}
