//! The messages about definitions that are named, and the titles of definitions as they are shown.

use std::fmt;

use emend_edit::patch::Part;
use emend_workspace::problem::{DefinitionLines, NoDefinition, UncertainSymbol, Uncertainty, UnknownSymbol};

use super::{Message, write_lines};

/// The most characters of a title that are shown.
const SHOWN: usize = 100;

/// Returns the kind and the path of a definition without characters that control how it looks, and not long.
pub(crate) fn title(text: &str) -> String {
    let visible = |c: char| if c.is_control() || is_directional(c) { char::REPLACEMENT_CHARACTER } else { c };
    let more = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
    text.chars().take(SHOWN).map(visible).chain(more.chars()).collect()
}

/// Returns whether a character changes the direction of the text around it, so that it looks like another.
fn is_directional(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns lines as a model reads them: `3`, `3-5`.
pub(crate) fn range(first: usize, last: usize) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

pub(super) fn write_not_found(
    message: &Message<'_>,
    why: NoDefinition,
    unknown: &UnknownSymbol,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let (path, symbol, version) = (message.path(), named(message, unknown), unknown.version.short());
    let numbers = by_numbers(message);
    match why {
        NoDefinition::UnknownLanguage => write!(
            f,
            "Definitions are not known in files such as {path}, so there is no symbol {symbol}. Give lines by {numbers}{}.",
            // A reading inserts nothing.
            if message.problem.hunk.is_some() && !message.problem.is_of_origin {
                " (end_line = start_line - 1 inserts before start_line), or insert beside a text with insert_before or \
                 insert_after of str_replace"
            } else {
                ""
            }
        ),
        NoDefinition::TooLarge => {
            write!(f, "{path} is too large to look for the symbol {symbol} in it. Give lines by {numbers}.")
        }
        NoDefinition::TooSlow => {
            write!(f, "Looking for the symbol {symbol} in {path} takes too long. Give lines by {numbers}.")
        }
        NoDefinition::Missing if unknown.definitions.is_empty() => {
            write!(f, "Nothing is defined in {path} at version {version}, so there is no symbol {symbol}.")
        }
        NoDefinition::Missing | NoDefinition::Misspelt => {
            let are = if why == NoDefinition::Misspelt { "Did you mean" } else { "There is" };
            write!(f, "Nothing called {symbol} is defined in {path} at version {version}. {are}:")?;
            write_definitions(unknown, f)?;
            match is_in_data(unknown) {
                true => f.write_str("\nThe elements of a list have no names: search_text finds their lines."),
                false => Ok(()),
            }
        }
    }
}

/// Returns whether something within a key was looked for, which may be a list.
fn is_in_data(unknown: &UnknownSymbol) -> bool {
    let outer = unknown.symbol.split_once('.').map(|(outer, _)| outer);
    outer.is_some_and(|outer| {
        unknown.definitions.iter().any(|known| known.title.strip_prefix("key ") == Some(outer))
    })
}

pub(super) fn write_ambiguous(
    message: &Message<'_>,
    unknown: &UnknownSymbol,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let (path, symbol, version) = (message.path(), named(message, unknown), unknown.version.short());
    let numbers = by_numbers(message);
    let count = unknown.definitions.len() + unknown.more;
    write!(
        f,
        "{symbol} fits {count} definitions in {path} at version {version}. Give one of these names, as long as it must be, or \
         lines by {numbers}:"
    )?;
    write_definitions(unknown, f)
}

pub(super) fn write_uncertain(
    message: &Message<'_>,
    uncertain: &UncertainSymbol,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let UncertainSymbol { definition, version, part, why, shown } = uncertain;
    let DefinitionLines { title: name, first, last } = definition;
    let (path, name, version) = (message.path(), title(name), version.short());
    let (lines, have) = if first == last { ("Line", "has") } else { ("Lines", "have") };
    let range = range(*first, *last);
    match why {
        Uncertainty::Shared => {
            write!(f, "{lines} {range} of {path}, of {name}, {have} other code too.")?;
        }
        Uncertainty::Comment => write!(
            f,
            "It is not clear how much of the comment above {name} in {path} belongs to it: {range} may be more or less."
        )?,
        Uncertainty::Broken => write!(
            f,
            "A syntax error in {name} in {path} or beside it leaves open whether its lines are {range}."
        )?,
    }
    f.write_str(" Nothing was changed. ")?;
    let from = message.from();
    let before = match part {
        Part::Whole => None,
        Part::Above => Some(*first),
        Part::Below => Some(last + 1),
    };
    match before {
        None => write!(f, "Give {from}start_line and {from}end_line in place of {from}symbol")?,
        Some(line) => write!(
            f,
            "Give start_line {line} and end_line {} (inserts before line {line}) in place of symbol and insert, if it is to \
             go there",
            line - 1
        )?,
    }
    write!(f, ", with {}:", message.version_argument(&version))?;
    write_lines(shown, f)
}

/// Returns a name that fits no definition or several, as the call gives it.
fn named(message: &Message<'_>, unknown: &UnknownSymbol) -> String {
    let of = if message.problem.is_of_origin { " (from.symbol)" } else { "" };
    format!("'{}'{of}", title(&unknown.symbol))
}

/// Returns how lines can be given in place of a definition.
fn by_numbers(message: &Message<'_>) -> &'static str {
    if message.problem.is_of_origin {
        "their numbers (from.start_line and from.end_line in place of from.symbol)"
    } else {
        "their numbers"
    }
}

fn write_definitions(unknown: &UnknownSymbol, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for DefinitionLines { title: name, first, last } in &unknown.definitions {
        write!(f, "\n{} {}", range(*first, *last), title(name))?;
    }
    if unknown.more > 0 {
        write!(f, "\nand {} more", unknown.more)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn a_long_title_is_clipped_and_has_no_control_characters() {
        assert_eq!(title("key a\u{1b}b"), "key a\u{fffd}b");
        assert_eq!(title("key \u{202e}a\u{2066}\u{200f}"), "key \u{fffd}a\u{fffd}\u{fffd}");
        let long = title(&"\u{e9}".repeat(300));
        assert!(long.ends_with("\u{e9}...") && long.chars().count() == 103, "{long}");
        assert_eq!(title(&"x".repeat(100)), "x".repeat(100));
    }
}
