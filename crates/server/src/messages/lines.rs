//! The messages about lines that were named by the numbers of another version.

use std::fmt;

use emend_edit::Version;
use emend_workspace::problem::{LinesNow, LostLines, WhyLost};

use super::symbols::title;
use super::{MODIFIED, Message, write_lines, write_numbers};

/// Writes that a definition is named of a version whose content is not known.
pub(super) fn write_unknown_symbol(
    message: &Message<'_>,
    symbol: &str,
    claimed: &str,
    current: Version,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let (path, symbol, current) = (message.path(), title(symbol), current.short());
    write!(
        f,
        "{MODIFIED}{path} is at version {current}, and what it held at version {claimed}, in which the \
         call names '{symbol}', is not known here. Nothing was changed. Read the symbol again and send the call with {} of that \
         reading.",
        if message.problem.is_of_origin { "from.version" } else { "the version" }
    )
}

pub(super) fn write(message: &Message<'_>, lost: &LostLines, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let LostLines { claimed, current, first, count, symbol, why, now } = lost;
    let (path, current, from) = (message.path(), current.short(), message.from());
    let (mut named, they_are) = match count {
        0 => (format!("The place before line {first}"), "it is"),
        1 => (format!("Line {first}"), "it is"),
        _ => (format!("Lines {first} to {}", first.saturating_add(count - 1)), "they are"),
    };
    if let Some(symbol) = symbol {
        let of = if *count == 0 { "beside" } else { "of" };
        named.push_str(&format!(" ({of} {})", title(symbol)));
    }
    if *why != WhyLost::Overwritten {
        f.write_str(MODIFIED)?;
    }
    match why {
        WhyLost::Unknown => write!(
            f,
            "{path} is at version {current}, and what it held at version {claimed}, which the call names, is not known here."
        )?,
        WhyLost::Several { lines } => {
            write!(f, "{named} of version {claimed} of {path} may be any of several places by now: at ")?;
            write_numbers(lines, f)?;
            f.write_str(".")?;
        }
        WhyLost::Overwritten => {
            return write!(
                f,
                "{named} of version {claimed} of {path} cannot be found for certain after the earlier edits of this call, \
                 which changed {} or what is beside. Nothing was changed. Make one edit of them, or put this one first.",
                if *count > 1 { "them" } else { "it" }
            );
        }
        WhyLost::Changed { .. } if *count == 0 => {
            write!(f, "{named} of version {claimed} of {path} is gone: the lines around it changed.")?;
        }
        WhyLost::Changed { .. } => {
            write!(
                f,
                "{named} of version {claimed} of {path} changed since, or {they_are} not together any more."
            )?;
        }
    }
    f.write_str(" Nothing was changed.")?;
    let Some(LinesNow { first: start, count: many, shown }) = now else {
        f.write_str(
            " Read the file and send the call with the version and the numbers that the reading gives",
        )?;
        return match from {
            "" => f.write_str("."),
            _ => write!(f, ", as {from}version, {from}start_line and {from}end_line."),
        };
    };
    let last = start + many - usize::from(*many > 0);
    let instead = match symbol {
        Some(_) if *count == 0 => {
            " in place of symbol and insert (end_line = start_line - 1 inserts)".to_owned()
        }
        Some(_) => format!(" in place of {from}symbol"),
        None => String::new(),
    };
    match why {
        WhyLost::Unknown => write!(f, " The lines that have these numbers at version {current}:")?,
        WhyLost::Several { .. } => write!(f, " The first of them, at version {current}:")?,
        _ => write!(f, " What stands there at version {current}:")?,
    }
    write_lines(shown, f)?;
    if *why == (WhyLost::Changed { is_certain: true }) && *many > 0 {
        f.write_str("\nIf the edit is right for what took their place, send it with ")?;
        return match from {
            "" => write!(
                f,
                "\"version\": \"{current}\", \"start_line\": {start}, \"end_line\": {last}{instead}."
            ),
            _ => write!(
                f,
                "{from}version \"{current}\", {from}start_line {start} and {from}end_line {last}{instead}."
            ),
        };
    }
    f.write_str(
        "\nFind the lines that you mean, here or in a new reading, and send the call with their numbers",
    )?;
    match (from, symbol) {
        ("", None) => {}
        ("", Some(_)) => f.write_str(&instead)?,
        _ => write!(f, " as {from}start_line and {from}end_line{instead},")?,
    }
    write!(f, " and {}.", message.version_argument(&current))
}
