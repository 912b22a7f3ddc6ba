//! The nearest lines as prose: the lines, their differences from the request, and what to send next.

use std::fmt::{self, Write};

use emend_edit::problem::{Difference, Near, NearPlace, Relation};

use super::difference as differing;

pub(super) fn write(near: &Near, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let Some((best, others)) = near.places.split_first() else { return Ok(()) };
    match near.relation {
        Relation::Nearest if best.first == best.last => writeln!(f, "The nearest line is {}:", best.first)?,
        Relation::Nearest => writeln!(f, "The nearest lines are {} to {}:", best.first, best.last)?,
        Relation::WholeFile if best.lines.is_empty() => writeln!(f, "The file is empty.")?,
        Relation::WholeFile => writeln!(f, "Nothing there resembles it. This is the whole file:")?,
        Relation::Head => {
            writeln!(f, "Nothing there resembles it. The file has {} lines and begins:", near.total)?;
        }
        Relation::AlreadyThere => writeln!(f, "But the new text is already there:")?,
        Relation::AlreadyThereButSpace => {
            writeln!(f, "But the new text is already there, but for white space:")?;
        }
    }
    write_lines(best, f)?;
    if near.relation == Relation::Nearest {
        for difference in &best.differences {
            write_difference(difference, f)?;
        }
        match best.more {
            0 => {}
            1 => writeln!(f, "One other line differs.")?,
            n => writeln!(f, "{n} other lines differ.")?,
        }
        write_others(others, f)?;
    }
    if let Some(line) = near.new_at {
        writeln!(f, "The new text stands at line {line} already; if that was the aim, it is done.")?;
    }
    f.write_str(match near.relation {
        Relation::Nearest => "Send the lines as they stand in the file.",
        Relation::WholeFile => "Send lines as they stand in the file.",
        Relation::Head => {
            "Search the file for a word of the part that you mean, or read that part with read_file, then send \
             its lines."
        }
        Relation::AlreadyThere => "If that was the aim, it is done.",
        Relation::AlreadyThereButSpace => {
            "If that was the aim, it is done; else send the lines as they stand in the file."
        }
    })
}

fn write_lines(place: &NearPlace, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut last = None;
    for (&number, line) in place.numbers.iter().zip(&place.lines) {
        if last.is_some_and(|last| last + 1 < number) {
            writeln!(f, "   ...")?;
        }
        writeln!(f, "{number:>6}\t{line}")?;
        last = Some(number);
    }
    Ok(())
}

fn write_difference(difference: &Difference, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "Line {}: ", difference.line)?;
    differing::write(&difference.kinds, f)?;
    match difference.again {
        0 => {}
        1 => write!(f, "; the like on 1 other line")?,
        n => write!(f, "; the like on {n} other lines")?,
    }
    writeln!(f, ".")?;
    if let Some(file) = &difference.file {
        writeln!(f, "  file:    {}", visible(file))?;
    }
    if let Some(request) = &difference.request {
        writeln!(f, "  request: {}", visible(request))?;
    }
    Ok(())
}

fn write_others(others: &[NearPlace], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for place in others {
        if place.first == place.last {
            writeln!(f, "About as near is line {}:", place.first)?;
        } else {
            writeln!(f, "About as near are lines {} to {}:", place.first, place.last)?;
        }
        write_lines(place, f)?;
    }
    Ok(())
}

/// Quotes a line with visible white space: tabs, trailing blanks, non-breaking spaces.
pub(super) fn visible(line: &str) -> String {
    let mut out = String::from("\"");
    let text_end = line.trim_end_matches([' ', '\t']).len();
    for (at, c) in line.char_indices() {
        match c {
            '\t' => out.push('→'),
            ' ' if at >= text_end => out.push('·'),
            '\u{a0}' => out.push_str("<nbsp>"),
            c if c.is_control() => {
                let _ = write!(out, "{}", c.escape_default());
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use emend_edit::Text;
    use emend_edit::find::{Haystack, contents, near};
    use emend_workspace::problem::{EditKind, Problem};

    use crate::messages::{Audience, message};

    #[test]
    fn a_long_place_is_told_in_few_lines_with_gaps() {
        let file: String = (0..200).map(|i| format!("let value_{i} = {};\n", i * 31)).collect();
        let wanted = file.replace("value_0 ", "valu_0 ").replace("value_120 ", "valu_120 ");
        let text = Text::new(file.into_bytes()).unwrap();
        let near = near(&Haystack::new(&text), &contents(wanted.as_bytes()), &contents(wanted.as_bytes()));
        let problem = Problem::new(EditKind::SearchNotFound { near: near.into() });
        let message = message(&problem, Audience::Model);
        assert!(message.lines().count() <= 60 && message.contains("   ...\n"), "{message}");
    }
}
