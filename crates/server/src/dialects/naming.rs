//! How our tools and arguments are called in a dialect: what is said below a text of ours that names them.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use rmcp::model::JsonObject;
use serde_json::Value;

use super::Dialect;
use crate::manner::Naming;
use crate::tools;

/// The names under which a client sees our tools and arguments: those of its dialect, or ours.
#[derive(Clone, Copy)]
pub(crate) struct Names(Option<&'static Dialect>);

impl Names {
    /// Our own names.
    #[cfg(test)]
    pub(crate) const OURS: Self = Self(None);

    pub(crate) fn of(dialect: Option<&'static Dialect>) -> Self {
        Self(dialect)
    }
}

impl Naming for Names {
    fn of_ours(&self, ours: &'static str) -> &'static str {
        let table = self.0.map_or(&[][..], |dialect| dialect.names);
        table.iter().find(|(name, _)| *name == ours).map_or(ours, |(_, theirs)| theirs)
    }

    fn in_text(&self, text: &str) -> Option<String> {
        let dialect = self.0?;
        let theirs = dialect.names.iter().filter(|(ours, theirs)| ours != theirs && is_named(text, ours));
        let mut said: Vec<String> = theirs.map(|(ours, theirs)| format!("{ours} is {theirs}")).collect();
        let has = has(dialect);
        let is_told = |name: &str| dialect.names.iter().any(|(ours, _)| *ours == name);
        let lacking: Vec<&str> = (ours().iter())
            .filter(|name| !is_told(name) && !has.contains(name.as_str()) && is_named(text, name))
            .map(String::as_str)
            .collect();
        if !lacking.is_empty() {
            said.push(format!("there is no {}", lacking.join(", no ")));
        }
        (!said.is_empty()).then(|| said.join(", "))
    }
}

/// Our names that cannot be mistaken for words of a sentence, since they are several words: of tools and of arguments.
fn ours() -> &'static BTreeSet<String> {
    static OURS: OnceLock<BTreeSet<String>> = OnceLock::new();
    OURS.get_or_init(|| {
        let mut names = BTreeSet::new();
        for tool in tools::all() {
            names.insert(tool.about.name.to_owned());
            arguments_of(&tool.input, &mut names);
        }
        names.retain(|name| name.contains('_'));
        names
    })
}

/// The names of the tools that a dialect lists, and of their arguments.
fn has(dialect: &Dialect) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for tool in dialect.tools.iter().filter(|tool| tool.is_listed) {
        names.insert(tool.about.name.to_owned());
        arguments_of(&tool.input, &mut names);
    }
    for tool in dialect.keeps.iter().filter_map(|name| tools::find(name)) {
        names.insert(tool.about.name.to_owned());
        arguments_of(&tool.input, &mut names);
    }
    names
}

/// Adds the names of the arguments in a schema, at any depth.
fn arguments_of(schema: &JsonObject, names: &mut BTreeSet<String>) {
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        names.insert(name.clone());
        for inner in
            [Some(property), property.get("items")].into_iter().flatten().filter_map(Value::as_object)
        {
            arguments_of(inner, names);
        }
    }
}

/// Returns whether a text names this tool or argument. A name of one word counts only between quotes: it may be a word of
/// the sentence. Lines of a file that are shown under their numbers name nothing.
fn is_named(text: &str, name: &str) -> bool {
    text.lines().filter(|line| !is_shown(line)).any(|line| has_word(line, name, !name.contains('_')))
}

fn is_shown(line: &str) -> bool {
    let digits = line.split_once('\t').map(|(number, _)| number.trim_start_matches([' ', '>']));
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn has_word(text: &str, word: &str, is_quoted: bool) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_quote = |c: char| matches!(c, '\'' | '"' | '`');
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        if is_quoted {
            before.ends_with(is_quote) && after.starts_with(is_quote)
        } else {
            !before.ends_with(is_part) && !after.starts_with(is_part)
        }
    })
}

#[cfg(test)]
mod tests {
    use emend_workspace::DialectName;

    use super::super::find;
    use super::*;

    #[test]
    fn what_a_text_names_is_translated_or_said_to_be_missing() {
        let names = Names::of(find(DialectName::Gemini, ""));
        let said = names.in_text("Set replace_all, expected_count or old_string of str_replace.").unwrap();
        assert_eq!(said, "str_replace is replace, replace_all is allow_multiple, there is no expected_count");
        assert_eq!(names.in_text("     4\treplace_all\n"), None, "a line of a file");
        assert_eq!(names.in_text("The offset is wrong."), None, "a word of the sentence");
        let said = names.in_text("Argument 'offset': the file has 3 lines.");
        assert_eq!(said.unwrap(), "offset is start_line");
        assert_eq!(Names::OURS.in_text("read_file"), None);
    }

    #[test]
    fn of_whatever_we_name_each_dialect_has_it_or_is_told() {
        let text = ours().iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        for dialect in super::super::all() {
            let said = Names::of(Some(dialect)).in_text(&text).unwrap();
            let has = has(dialect);
            for name in ours() {
                assert!(has.contains(name) || has_word(&said, name, false), "{}: {name}", dialect.name);
            }
        }
    }

    #[test]
    fn a_table_names_only_what_we_have() {
        let mut known = BTreeSet::new();
        for tool in tools::all() {
            known.insert(tool.about.name.to_owned());
            arguments_of(&tool.input, &mut known);
        }
        for dialect in super::super::all() {
            for (ours, _) in dialect.names {
                assert!(known.contains(*ours), "{}: {ours}", dialect.name);
            }
        }
    }
}
