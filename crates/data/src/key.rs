//! Keys: the way from the top of a file to a value.

use crate::fault::{Fault, Shape};
use crate::node::{Data, Entry, Kind, Node};

/// The way to a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// Step by step.
    Steps(Vec<Step>),
    /// As people write it, with dots between keys, `[0]` for an element of a list, and quotes around a key that has dots. Keys
    /// with dots need no quotes if only one reading is there.
    Dotted(String),
    /// The only step of a way, or one with dots. A new key is never taken apart at its dots.
    Only(String),
}

/// A step on the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key of a map.
    Name(String),
    /// An element of a list, counted from 0; counted from its end if negative.
    Index(i64),
    /// The element of a list in which this field has this value.
    Where(String, String),
    /// A key of a map, or of a list an index, or `field=value`.
    Word(String),
}

/// Where a way has led: to the entry of a map or list, or to the place where one would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The positions on the way from the top, this entry's own the last.
    pub(crate) way: Vec<usize>,
    /// The key of an entry that is not there yet.
    pub(crate) new: Option<String>,
    /// Whether there is no such entry yet.
    pub(crate) is_new: bool,
    /// The steps from a new entry to the value, if what it is in is new too.
    pub(crate) rest: Vec<Step>,
}

impl Found {
    /// Puts a new value into what is made for it: a list for an index, a map for a key.
    pub(crate) fn wrap(&self, value: Data) -> Data {
        self.rest.iter().rev().fold(value, |value, step| match step.new_name() {
            Some(name) => Data::Map(vec![(name.to_owned(), value)]),
            None => Data::List(vec![value]),
        })
    }

    /// Returns the names of what is made for a new value: the last with whether it is a list.
    pub(crate) fn made(&self) -> Option<(String, bool)> {
        let last = self.rest.last()?;
        let names = self.rest[..self.rest.len() - 1].iter().map(|step| step.new_name().unwrap_or("0"));
        let names: Vec<&str> = self.new.as_deref().into_iter().chain(names).collect();
        Some((names.join("."), last.new_name().is_none()))
    }
}

impl Step {
    /// Returns the name of an entry that is new in something new; nothing for an element of a list.
    fn new_name(&self) -> Option<&str> {
        match self {
            Self::Word(word) if index(word).is_some() => None,
            Self::Word(name) | Self::Name(name) => Some(name),
            Self::Index(_) | Self::Where(..) => None,
        }
    }

    /// Returns whether only an element of a list can be meant: by an index from its end, or by a field.
    fn is_for_lists(&self) -> bool {
        match self {
            Self::Word(word) => index(word).is_some_and(|index| index < 0) || by_field(word).is_some(),
            Self::Index(_) | Self::Where(..) => true,
            Self::Name(_) => false,
        }
    }

    fn written(&self) -> String {
        match self {
            Self::Name(name) | Self::Word(name) => name.clone(),
            Self::Index(index) => index.to_string(),
            Self::Where(name, value) => format!("{name}={value}"),
        }
    }

    /// What a word says in this place.
    fn of(&self, node: &Node) -> Self {
        let Self::Word(word) = self else { return self.clone() };
        if !matches!(node.kind, Kind::List(..)) {
            return Self::Name(word.clone());
        }
        match (index(word), word.split_once('=')) {
            (Some(index), _) => Self::Index(index),
            (_, Some((name, value))) => Self::Where(name.to_owned(), value.to_owned()),
            _ => Self::Name(word.clone()),
        }
    }
}

/// Returns the index that a word is.
fn index(word: &str) -> Option<i64> {
    word.strip_prefix('[').and_then(|inside| inside.strip_suffix(']')).unwrap_or(word).parse().ok()
}

/// Returns the field and the value of `field=value`. A key such as an address with a query is none.
fn by_field(word: &str) -> Option<(&str, &str)> {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    word.split_once('=').filter(|(name, _)| is_name(name))
}

impl Key {
    /// Finds what the key names, or with `is_new` where it would be.
    pub(crate) fn find(&self, top: &Node, is_new: bool) -> Result<Found, Fault> {
        match self {
            Self::Steps(steps) => by_steps(top, steps, is_new),
            Self::Dotted(written) => dotted(top, written, is_new),
            Self::Only(written) if is_new && is_one_name(top, written) => {
                by_steps(top, &[Step::Word(written.clone())], is_new)
            }
            Self::Only(written) => dotted(top, written, is_new),
        }
    }

    /// Finds what the key names, or where it would be if it is not there. It must not look like a slip from a key that is there.
    pub(crate) fn find_or_add(&self, top: &Node) -> Result<Found, Fault> {
        let (mut name, mut others, can_be_added) = match self.find(top, false) {
            Err(Fault::Missing { key, known, elsewhere, is_last }) => {
                (key, known, is_last && elsewhere.is_empty())
            }
            found => return found,
        };
        let one_name = match (self, &top.kind) {
            (Self::Only(written), Kind::Map(entries, _))
                if written.contains(['.', '[']) && is_one_name(top, written) =>
            {
                (name, others) = (written.clone(), entries.iter().map(|entry| entry.key.clone()).collect());
                Some(written)
            }
            _ => None,
        };
        if let Some(near) = crate::distance::slip(&name, others.iter().map(String::as_str)) {
            let near = near.to_owned();
            return Err(Fault::Slip { key: name, near, is_last: one_name.is_some() || can_be_added });
        }
        match one_name {
            // Where no other name has a dot, it rather parts the steps of a way.
            Some(written) if written.contains('[') || !others.iter().any(|other| other.contains('.')) => {
                Err(Fault::DottedNew(written.clone()))
            }
            None if !can_be_added => self.find(top, false),
            _ => self.find(top, true),
        }
    }
}

/// Returns whether a new key with dots or brackets is one name: nothing is there that it could lead into.
fn is_one_name(top: &Node, written: &str) -> bool {
    let Kind::Map(entries, _) = &top.kind else { return false };
    let leads = |at: usize| entries.iter().any(|entry| entry.key == written[..at]);
    !written.is_empty()
        && !written.contains(['"', '\''])
        && !written.starts_with(['$', '['])
        && !written.match_indices(['.', '[']).any(|(at, _)| leads(at))
}

fn by_steps(top: &Node, steps: &[Step], is_new: bool) -> Result<Found, Fault> {
    let Some((last, before)) = steps.split_last() else { return Err(Fault::NoKey) };
    let mut node = top;
    let mut way = Vec::new();
    let mut within = None;
    for (at, step) in before.iter().enumerate() {
        let Some(position) = entry(node, step)? else {
            return match node.kind {
                Kind::Map(..) if is_new => place_of_parent(node, within, &steps[at..], way),
                _ => Err(missing(node, within, step, false)),
            };
        };
        check(node, position)?;
        way.push(position);
        node = node.child(position);
        within = Some(step);
    }
    if is_new {
        return place_of_new(node, within, last, way);
    }
    let at = entry(node, last)?.ok_or_else(|| missing(node, within, last, true))?;
    check_key(node, at)?;
    way.push(at);
    Ok(Found { way, new: None, is_new: false, rest: Vec::new() })
}

/// Returns the place of an entry that is made for a new one in it, the way to which are these steps.
fn place_of_parent(
    node: &Node,
    within: Option<&Step>,
    steps: &[Step],
    way: Vec<usize>,
) -> Result<Found, Fault> {
    let Some((step, rest)) = steps.split_first() else { return Err(Fault::NoKey) };
    let name = step.of(node).written();
    if let Kind::Map(entries, _) = &node.kind
        && let Some(near) = crate::distance::slip(&name, entries.iter().map(|entry| &*entry.key))
    {
        return Err(Fault::Slip { key: name, near: near.to_owned(), is_last: false });
    }
    for (at, step) in rest.iter().enumerate() {
        // Into a new list goes its first element, and none that has a field already.
        let is_first = match step {
            Step::Word(word) => index(word).is_none_or(|index| matches!(index, 0 | -1)),
            Step::Index(index) => matches!(index, 0 | -1),
            Step::Name(_) => true,
            Step::Where(..) => false,
        };
        if !is_first || matches!(step, Step::Word(word) if by_field(word).is_some()) {
            let name = steps[at].written();
            return Err(Fault::NoList { within: Some(name), step: step.written(), known: Vec::new() });
        }
    }
    let found = place_of_new(node, within, step, way)?;
    Ok(Found { rest: rest.to_vec(), ..found })
}

/// Checks that what is in this entry may be changed.
fn check(node: &Node, at: usize) -> Result<(), Fault> {
    check_key(node, at)?;
    node.child(at).bar.map_or(Ok(()), |bar| Err(Fault::Barred(bar)))
}

/// Checks that the entry is the only one of its key.
fn check_key(node: &Node, at: usize) -> Result<(), Fault> {
    let Kind::Map(entries, _) = &node.kind else { return Ok(()) };
    match entries.iter().filter(|entry| entry.key == entries[at].key).count() {
        1 => Ok(()),
        count => Err(Fault::Duplicate { key: entries[at].key.clone(), count }),
    }
}

/// Returns the position of the entry that a step names, if it is there.
fn entry(node: &Node, step: &Step) -> Result<Option<usize>, Fault> {
    let step = &step.of(node);
    Ok(match (&node.kind, step) {
        (Kind::Map(entries, _), Step::Name(name)) => entries.iter().position(|entry| entry.key == *name),
        // Keys that are numbers.
        (Kind::Map(entries, _), Step::Index(index)) => {
            let name = index.to_string();
            entries.iter().position(|entry| entry.key == name)
        }
        (Kind::List(items, _), Step::Index(index)) => position(items.len(), *index),
        (Kind::List(items, _), Step::Where(name, value)) => {
            let fits = |item: &Node| field(item, name).is_some_and(|field| field.data().is_written(value));
            match only(items, fits)? {
                Some(at) => Some(at),
                None => only(items, |item| item.data().is_written(&format!("{name}={value}")))?,
            }
        }
        // An element that is a text is named by it.
        (Kind::List(items, _), Step::Name(name)) => only(items, |item| item.data().is_written(name))?,
        _ => None,
    })
}

/// Returns the position of the only element that fits.
fn only(items: &[Node], fits: impl Fn(&Node) -> bool) -> Result<Option<usize>, Fault> {
    let found: Vec<usize> = (0..items.len()).filter(|at| fits(&items[*at])).collect();
    match found[..] {
        [] => Ok(None),
        [at] => Ok(Some(at)),
        _ => Err(Fault::Several(found)),
    }
}

fn field<'n>(node: &'n Node, name: &str) -> Option<&'n Node> {
    let Kind::Map(entries, _) = &node.kind else { return None };
    entries.iter().find(|entry| entry.key == name).map(|entry| &entry.value)
}

fn position(len: usize, index: i64) -> Option<usize> {
    let at = if index < 0 { i64::try_from(len).ok()? + index } else { index };
    usize::try_from(at).ok().filter(|at| *at < len)
}

fn place_of_new(
    node: &Node,
    within: Option<&Step>,
    step: &Step,
    mut way: Vec<usize>,
) -> Result<Found, Fault> {
    if matches!(node.kind, Kind::Map(..)) {
        if let Some(at) = entry(node, step)? {
            return Err(Fault::Exists(Shape::of(&node.child(at).data())));
        }
        if step.is_for_lists() {
            return Err(missing(node, within, step, true));
        }
    }
    let step = &step.of(node);
    let new = match (&node.kind, step) {
        (Kind::Map(entries, _), Step::Name(name)) => {
            if is_merged(entries) {
                return Err(Fault::Merged);
            }
            way.push(entries.len());
            Some(name.clone())
        }
        (Kind::List(items, _), Step::Index(index)) => {
            let at = if *index == -1 { Some(items.len()) } else { usize::try_from(*index).ok() };
            let at = at.filter(|at| *at <= items.len()).ok_or(Fault::NoPlace { len: items.len() })?;
            way.push(at);
            None
        }
        (Kind::List(items, _), _) => return Err(Fault::NoPlace { len: items.len() }),
        _ => return Err(missing(node, within, step, true)),
    };
    Ok(Found { way, new, is_new: true, rest: Vec::new() })
}

fn is_merged(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| entry.key == "<<")
}

/// Says that a step leads nowhere, with what is there.
fn missing(node: &Node, within: Option<&Step>, step: &Step, is_last: bool) -> Fault {
    let key = step.written();
    match &node.kind {
        Kind::Map(entries, _) if is_merged(entries) => Fault::Merged,
        Kind::Map(entries, _) => {
            let known = entries.iter().map(|entry| entry.key.clone()).collect();
            if step.is_for_lists() {
                return Fault::NoList { within: within.map(Step::written), step: key, known };
            }
            let has_it = |entry: &&Entry| field(&entry.value, &key).is_some();
            let elsewhere = entries.iter().filter(has_it).map(|entry| entry.key.clone()).collect();
            Fault::Missing { key, known, elsewhere, is_last }
        }
        Kind::List(items, _) => Fault::NoElement { key, known: items.iter().map(word).collect() },
        Kind::Scalar(..) => Fault::NoMap { key },
    }
}

/// The fields by which people know the elements of a list.
const NAMING: [&str; 5] = ["name", "id", "key", "uses", "path"];

/// Says in a word which element of a list this is.
fn word(item: &Node) -> String {
    let single = |node: &Node| match node.data() {
        Data::Text(text) | Data::Number(text) | Data::Other(text) => Some(text),
        Data::Bool(is) => Some(is.to_string()),
        Data::Null => Some("null".to_owned()),
        Data::Alias(name, _) => Some(name),
        Data::List(_) | Data::Map(_) | Data::Tagged(..) => None,
    };
    let naming = NAMING.iter().find_map(|name| field(item, name).and_then(single));
    let first = || (0..item.len()).find_map(|at| single(item.child(at)));
    let word = single(item).or(naming).or_else(first).unwrap_or_else(|| "...".to_owned());
    word.lines().next().unwrap_or_default().chars().take(30).collect()
}

/// A part of a written key.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// Text between dots; it may be a part of a key that has dots.
    Bare(String),
    /// In quotes.
    Quoted(String),
    Index(i64),
}

/// Finds what a written key names. Every reading is tried: `a.b` is the key `b` in `a`, or the key `a.b`.
fn dotted(top: &Node, written: &str, is_new: bool) -> Result<Found, Fault> {
    let parts = parts(written).ok_or_else(|| Fault::BadKey(written.to_owned()))?;
    if parts.is_empty() {
        return Err(Fault::NoKey);
    }
    // A new key may be meant to have the dot in its name, or not: nothing that is there says which.
    if is_new && matches!(&parts[..], [.., Part::Bare(_), Part::Bare(_)]) {
        return Err(Fault::DottedNew(written.to_owned()));
    }
    let mut readings = Vec::new();
    collect(top, &parts, is_new, &mut Vec::new(), &mut readings);
    match &readings[..] {
        [steps] => by_steps(top, steps, is_new),
        // The refusal of the plainest reading.
        [] => by_steps(top, &plainest(&parts), is_new),
        _ if readings.iter().all(|steps| *steps == readings[0]) => by_steps(top, &readings[0], is_new),
        _ => Err(Fault::Ambiguous(written.to_owned())),
    }
}

fn plainest(parts: &[Part]) -> Vec<Step> {
    let step = |part: &Part| match part {
        Part::Bare(name) | Part::Quoted(name) => Step::Name(name.clone()),
        Part::Index(index) => Step::Index(*index),
    };
    parts.iter().map(step).collect()
}

/// Collects the readings that lead somewhere. Of a new key, all but the last step must be there.
fn collect(node: &Node, parts: &[Part], is_new: bool, steps: &mut Vec<Step>, readings: &mut Vec<Vec<Step>>) {
    if readings.len() > 8 {
        return;
    }
    let mut go = |step: Step, rest: &[Part], may_be_new: bool| {
        let at = entry(node, &step).ok().flatten();
        let is_last = rest.is_empty();
        steps.push(step);
        match at {
            Some(_) if is_last => readings.push(steps.clone()),
            Some(at) => collect(node.child(at), rest, is_new, steps, readings),
            None if is_last && may_be_new && node.layout().is_some() => readings.push(steps.clone()),
            None => {}
        }
        steps.pop();
    };
    match &parts[0] {
        Part::Quoted(name) => go(Step::Name(name.clone()), &parts[1..], is_new),
        Part::Index(index) => go(Step::Index(*index), &parts[1..], is_new),
        Part::Bare(first) => {
            let mut name = first.clone();
            for end in 1..=parts.len() {
                if let Ok(index) = name.parse()
                    && matches!(node.kind, Kind::List(..))
                {
                    go(Step::Index(index), &parts[end..], is_new);
                } else {
                    // A new key with dots needs quotes.
                    go(Step::Name(name.clone()), &parts[end..], is_new && end == 1);
                }
                match parts.get(end) {
                    Some(Part::Bare(more)) => name = format!("{name}.{more}"),
                    _ => break,
                }
            }
        }
    }
}

/// Splits a written key; `None` if its quotes or brackets do not end.
fn parts(written: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = written.trim();
    rest = match rest.strip_prefix('$') {
        Some(way) if way.is_empty() || way.starts_with(['.', '[']) => way.strip_prefix('.').unwrap_or(way),
        _ => rest,
    };
    while !rest.is_empty() {
        let after;
        if let Some(quoted) = rest.strip_prefix('"') {
            let end = end_of_string(quoted)?;
            parts.push(Part::Quoted(serde_json::from_str(&rest[..end + 2]).ok()?));
            after = &quoted[end + 1..];
        } else if let Some(quoted) = rest.strip_prefix('\'') {
            let end = quoted.find('\'')?;
            parts.push(Part::Quoted(quoted[..end].to_owned()));
            after = &quoted[end + 1..];
        } else if let Some(bracket) = rest.strip_prefix('[') {
            let end = match bracket.strip_prefix('"') {
                Some(quoted) => end_of_string(quoted)? + 2,
                None => bracket.find(']')?,
            };
            let inside = bracket[..end].trim();
            parts.push(match inside.parse() {
                Ok(index) => Part::Index(index),
                Err(_) => Part::Quoted(match inside.strip_prefix('\'') {
                    Some(quoted) => quoted.strip_suffix('\'')?.to_owned(),
                    None => serde_json::from_str(inside).ok()?,
                }),
            });
            after = bracket[end..].strip_prefix(']')?;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            parts.push(Part::Bare(rest[..end].to_owned()));
            after = &rest[end..];
        }
        rest = match after.strip_prefix('.') {
            Some("") => return None,
            Some(next) => next,
            None if after.is_empty() || after.starts_with('[') => after,
            None => return None,
        };
    }
    Some(parts)
}

/// Returns where a JSON string ends, whose opening quote has been taken.
fn end_of_string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

/// Changes what a file means as an edit of it must.
pub(crate) fn apply(data: &mut Data, found: &Found, new: Option<Data>) {
    let Some((last, way)) = found.way.split_last() else { return };
    let mut node = data;
    for at in way {
        node = match node {
            Data::List(items) => &mut items[*at],
            Data::Map(entries) => &mut entries[*at].1,
            _ => return,
        };
    }
    match (node, new) {
        (Data::List(items), Some(new)) if found.is_new => items.insert(*last, new),
        (Data::List(items), Some(new)) => items[*last] = new,
        (Data::List(items), None) => drop(items.remove(*last)),
        (Data::Map(entries), Some(new)) => match &found.new {
            Some(key) => entries.push((key.clone(), new)),
            None => entries[*last].1 = new,
        },
        (Data::Map(entries), None) => drop(entries.remove(*last)),
        _ => {}
    }
}
