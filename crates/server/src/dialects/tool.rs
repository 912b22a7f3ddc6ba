//! A tool of a dialect, and what a call of it becomes.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as ListedTool};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use emend_workspace::Mode;
use emend_workspace::problem::{Kind, Problem};

use crate::manner::Words;
use crate::tools::{self, About, Effect};
use crate::{arguments, schema};

/// Optional arguments of our tools that go along with a call by any name, since no other system has them.
const GO_ALONG: [&str; 3] = ["version", "versions", "kept"];

/// An argument of the original that is understood and not listed.
pub(super) struct Beside {
    pub(super) name: &'static str,
    pub(super) meaning: Meaning,
}

/// What an argument means that is not listed.
pub(super) enum Meaning {
    /// Nothing for what is done here, whatever its value.
    Nothing,
    /// The same as this argument.
    Same(&'static str),
    /// What is not done here. With such a value it says nothing, else the call is refused with these words.
    Refused(fn(&Value) -> bool, &'static str),
}

impl Beside {
    pub(super) const fn nothing(name: &'static str) -> Self {
        Self { name, meaning: Meaning::Nothing }
    }

    pub(super) const fn same(name: &'static str, as_this: &'static str) -> Self {
        Self { name, meaning: Meaning::Same(as_this) }
    }

    /// An argument that must be empty, for this reason.
    pub(super) const fn empty(name: &'static str, why: &'static str) -> Self {
        Self { name, meaning: Meaning::Refused(arguments::is_nothing, why) }
    }

    /// An argument that must have such a value, for this reason.
    pub(super) const fn only(name: &'static str, such: fn(&Value) -> bool, why: &'static str) -> Self {
        Self { name, meaning: Meaning::Refused(such, why) }
    }
}

/// The arguments of a tool of a dialect.
pub(super) trait DialectArguments: DeserializeOwned + JsonSchema {
    /// The description of the tool.
    const ABOUT: About;
    /// The name of the tool of ours that does mostly what it does.
    const STANDS_FOR: &'static str;
    /// The words of its answers, where they are not ours.
    const WORDS: Words = Words::OURS;
    /// Arguments that models of the original send and that are not listed.
    const BESIDE: &'static [Beside] = &[];

    /// Translates a call of it.
    fn translate(self) -> Result<Translated, Problem>;
}

/// A tool of a dialect.
pub(crate) struct DialectTool {
    pub(super) about: About,
    pub(super) input: Arc<JsonObject>,
    pub(super) is_listed: bool,
    /// The name of the tool of ours that does mostly what it does.
    pub(super) stands_for: &'static str,
    pub(super) words: Words,
    beside: &'static [Beside],
    translate: fn(&JsonObject, JsonObject) -> Result<Translated, Problem>,
}

impl DialectTool {
    /// Creates a tool that is listed.
    pub(super) fn listed_with<T: DialectArguments>() -> Self {
        Self {
            about: T::ABOUT,
            input: Arc::new(schema::generate::<T>()),
            is_listed: true,
            stands_for: T::STANDS_FOR,
            words: T::WORDS,
            beside: T::BESIDE,
            translate: |schema, arguments| arguments::read_with_empty::<T>(schema, arguments)?.translate(),
        }
    }

    /// Creates a tool that is understood and not listed: models still call it, though its system has it no more.
    pub(super) fn understood_with<T: DialectArguments>() -> Self {
        Self { is_listed: false, ..Self::listed_with::<T>() }
    }

    /// Returns the same tool under another name.
    pub(super) fn called(self, name: &'static str) -> Self {
        Self { about: About { name, ..self.about }, ..self }
    }

    /// Translates a call.
    pub(super) fn translate(&self, mut arguments: JsonObject) -> Result<Translated, Problem> {
        let known = self.input.get("properties").and_then(Value::as_object);
        let mut beside = JsonObject::new();
        for name in GO_ALONG {
            if known.is_none_or(|known| !known.contains_key(name))
                && let Some(value) = arguments.get(name)
            {
                beside.insert(name.to_owned(), value.clone());
                arguments.retain(|known, _| known != name);
            }
        }
        let (arguments, refused) = self.without_beside(arguments);
        if let Some(problem) = refused {
            return Err(problem);
        }
        let mut translated = (self.translate)(&self.input, arguments)?;
        translated.words = self.words;
        translated.arguments.extend(beside);
        Ok(translated)
    }

    /// Returns the arguments without those that are not listed, and why one of these cannot be passed over.
    pub(super) fn without_beside(&self, mut arguments: JsonObject) -> (JsonObject, Option<Problem>) {
        let mut problem = None;
        for Beside { name, meaning } in self.beside {
            if !arguments.contains_key(*name) {
                continue;
            }
            let value = arguments.get(*name).cloned().unwrap_or_default();
            match meaning {
                Meaning::Same(other) if !value.is_null() && arguments.contains_key(*other) => {
                    problem.get_or_insert(invalid(other, "it is given twice, under two names"));
                }
                Meaning::Same(other) if !value.is_null() => {
                    arguments.insert((*other).to_owned(), value);
                }
                Meaning::Refused(such, why) if !value.is_null() && !such(&value) => {
                    problem.get_or_insert(invalid(name, why));
                }
                Meaning::Nothing | Meaning::Same(_) | Meaning::Refused(..) => {}
            }
            arguments.retain(|key, _| key != name);
        }
        (arguments, problem)
    }

    /// Returns whether it may edit.
    pub(super) fn edits(&self) -> bool {
        self.about.effect == Effect::Edits
    }

    /// Returns whether it is offered in this mode. One that can also read is offered where nothing may be edited.
    pub(super) fn is_offered(&self, mode: Mode) -> bool {
        let ours = tools::find(self.stands_for);
        mode != Mode::ReadOnly || ours.is_some_and(|ours| ours.about.effect == Effect::Reads)
    }

    /// Returns the tool as it is listed.
    pub(super) fn listed(&self) -> ListedTool {
        self.about.listed(&self.input, None)
    }
}

/// What a call of a tool of a dialect becomes: a call of one of ours.
#[derive(Debug)]
pub(crate) struct Translated {
    /// The name of our tool.
    pub(super) tool: &'static str,
    /// Its arguments.
    pub(super) arguments: JsonObject,
    /// The words of the answer.
    pub(crate) words: Words,
    /// The arguments of `list_files`, which is called instead if the file to read is a folder, and the line above its answer.
    pub(crate) if_folder: Option<(JsonObject, String)>,
    /// Whether line numbers without a version count as far as the client was shown them, since the tools of the dialect know
    /// no versions.
    pub(crate) counts_as_read: bool,
}

impl Translated {
    /// Creates a call of our tool with those of these arguments that are not null.
    pub(super) fn call<const N: usize>(tool: &'static str, arguments: [(&str, Value); N]) -> Self {
        let given = arguments.into_iter().filter(|(_, value)| !value.is_null());
        let arguments = given.map(|(name, value)| (name.to_owned(), value)).collect();
        Self { arguments, ..Self::ours(tool) }
    }

    /// Creates a reading of so many lines from this one on, counted from one.
    pub(super) fn read<N: Into<Value>>(path: String, offset: Option<N>, limit: Option<N>) -> Self {
        let number = |number: Option<N>| number.map_or(Value::Null, Into::into);
        Self::call("read_file", [("path", path.into()), ("offset", number(offset)), ("limit", number(limit))])
    }

    /// Makes of a reading that of a file or, where a folder is at the path, a list of so many levels below this line.
    pub(super) fn or_folder(self, levels: usize, above: String) -> Self {
        let path = self.arguments.get("path").cloned().unwrap_or_default();
        let folder = Self::call("list_files", [("path", path), ("depth", levels.into())]);
        Self { if_folder: Some((folder.arguments, above)), ..self }
    }

    /// Creates the writing of a whole file.
    pub(super) fn write(path: String, content: String) -> Self {
        Self::call("write_file", [("path", path.into()), ("content", content.into())])
    }

    /// Creates a reading of the lines from the first to the last one, counted from one.
    pub(super) fn lines(path: String, first: Option<usize>, last: Option<usize>) -> Result<Self, Problem> {
        let start = first.unwrap_or(1).max(1);
        if last.is_some_and(|last| last < start) {
            return Err(invalid("end_line", "it is before start_line"));
        }
        Ok(Self::read(path, first.or(last).map(|_| start), last.map(|last| last - start + 1)))
    }

    /// Creates a list of the files in a folder, or in those below it too.
    pub(super) fn files(path: String, recursive: bool) -> Self {
        let depth = if recursive { Value::Null } else { 1.into() };
        Self::call("list_files", [("path", path.into()), ("depth", depth)])
    }

    /// Creates what is particular about a call of our own tool: nothing.
    pub(super) fn ours(tool: &'static str) -> Self {
        Self {
            tool,
            arguments: JsonObject::new(),
            words: Words::default(),
            if_folder: None,
            counts_as_read: false,
        }
    }

    /// Creates what is particular about a call that could not be translated: the words of its answer.
    pub(super) fn refused(words: Words) -> Self {
        Self { words, ..Self::ours("") }
    }
}

/// Translates the replacement of a text, of all its places if asked. Without an old text the file is created.
pub(super) fn replacement(path: String, old: String, new: String, replace_all: Option<bool>) -> Translated {
    // Where nothing is replaced, nothing is counted.
    let all = replace_all == Some(true) && !old.is_empty();
    let arguments = [
        ("path", path.into()),
        ("old_string", old.into()),
        ("new_string", new.into()),
        ("replace_all", if all { true.into() } else { Value::Null }),
    ];
    Translated::call("str_replace", arguments)
}

/// Translates the replacement of a text that must occur as often as a call expects, by default once.
pub(super) fn counted_replacement(
    path: String,
    old: String,
    new: String,
    expected: Option<usize>,
) -> Result<Translated, Problem> {
    if expected == Some(0) && !old.is_empty() {
        return Err(invalid(
            "expected_replacements",
            "it is how often the text occurs, and a text that never does has no place",
        ));
    }
    let counted = expected.filter(|count| *count > 1 && !old.is_empty());
    let mut translated = replacement(path, old, new, None);
    if let Some(count) = counted {
        translated.arguments.insert("expected_count".to_owned(), count.into());
    }
    Ok(translated)
}

/// Translates several edits, of which each sees the result of those before it.
pub(super) fn in_order(edits: Vec<Translated>) -> Result<Translated, Problem> {
    if edits.is_empty() {
        return Err(invalid("edits", "the list is empty"));
    }
    let counts_as_read = edits.iter().any(|edit| edit.counts_as_read);
    let named = |edit: Translated| {
        let tool = [("tool".to_owned(), edit.tool.into())];
        Value::Object(tool.into_iter().chain(edit.arguments).collect())
    };
    let edits: Vec<Value> = edits.into_iter().map(named).collect();
    Ok(Translated { counts_as_read, ..Translated::call("edit_files", [("edits", edits.into())]) })
}

/// Translates SEARCH/REPLACE blocks for one file.
pub(super) fn blocks(path: String, diff: String) -> Translated {
    let arguments = [("patch", diff.into()), ("path", path.into()), ("format", "search-replace".into())];
    Translated { counts_as_read: true, ..Translated::call("apply_patch", arguments) }
}

/// Creates the problem of an argument.
pub(super) fn invalid(name: &str, message: &str) -> Problem {
    Problem::new(Kind::InvalidArgument { name: name.into(), message: message.into() })
}

/// Returns a required argument of a command.
pub(super) fn required<T>(name: &str, command: &str, value: Option<T>) -> Result<T, Problem> {
    value.ok_or_else(|| invalid(name, &format!("the command {command} requires it")))
}
