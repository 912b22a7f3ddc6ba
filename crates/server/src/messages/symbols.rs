//! The messages about definitions that are named, and the titles of definitions as they are shown.

use std::fmt;

use emend_workspace::problem::{DefinitionLines, NoDefinition, UncertainSymbol, Uncertainty, UnknownSymbol};

use super::{Message, write_lines};

/// The most characters of a title that are shown.
const SHOWN: usize = 100;

/// Returns the kind and the path of a definition without control characters, and not long.
pub(crate) fn title(text: &str) -> String {
    let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let more = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
    text.chars().take(SHOWN).map(visible).chain(more.chars()).collect()
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
    let (path, symbol, version) = (message.path(), title(&unknown.symbol), unknown.version.short());
    match why {
        NoDefinition::UnknownLanguage => write!(
            f,
            "Definitions are not known in files such as {path}, so there is no symbol '{symbol}'. Give lines by their numbers."
        ),
        NoDefinition::TooLarge => write!(
            f,
            "{path} is too large to look for the symbol '{symbol}' in it. Give lines by their numbers."
        ),
        NoDefinition::Missing if unknown.definitions.is_empty() => {
            write!(f, "Nothing is defined in {path} at version {version}, so there is no symbol '{symbol}'.")
        }
        NoDefinition::Missing | NoDefinition::Misspelt => {
            let are = if why == NoDefinition::Misspelt { "Did you mean" } else { "There is" };
            write!(f, "Nothing called '{symbol}' is defined in {path} at version {version}. {are}:")?;
            write_definitions(unknown, f)
        }
    }
}

pub(super) fn write_ambiguous(
    message: &Message<'_>,
    unknown: &UnknownSymbol,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let (path, symbol, version) = (message.path(), title(&unknown.symbol), unknown.version.short());
    let count = unknown.definitions.len() + unknown.more;
    write!(
        f,
        "'{symbol}' fits {count} definitions in {path} at version {version}. Give one of these names, as long as it must be, or \
         lines by their numbers:"
    )?;
    write_definitions(unknown, f)
}

pub(super) fn write_uncertain(
    message: &Message<'_>,
    uncertain: &UncertainSymbol,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let UncertainSymbol { definition: DefinitionLines { title: name, first, last }, version, why, shown } =
        uncertain;
    let (path, name, version) = (message.path(), title(name), version.short());
    let (lines, have) = if first == last { ("Line", "has") } else { ("Lines", "have") };
    let range = range(*first, *last);
    match why {
        Uncertainty::Shared => {
            write!(f, "{lines} {range} of {path}, of {name}, {have} other code too.")?;
        }
        Uncertainty::Broken => write!(
            f,
            "A syntax error in {name} in {path} or beside it leaves open whether its lines are {range}."
        )?,
    }
    write!(
        f,
        " Nothing was changed. Give start_line and end_line in place of symbol, with \"version\": \"{version}\":"
    )?;
    write_lines(shown, f)
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
        let long = title(&"\u{e9}".repeat(300));
        assert!(long.ends_with("\u{e9}...") && long.chars().count() == 103, "{long}");
        assert_eq!(title(&"x".repeat(100)), "x".repeat(100));
    }
}
