//! The messages about the problems that `emend-edit` finds in a request.
//!
//! The first lines of the V4A failures are Codex's own, which models were trained on.

use std::borrow::Cow;
use std::fmt;

use emend_edit::excerpt::around;
use emend_edit::problem::{CannotPut, CannotTake, NoChange, NotText, Work};
use emend_workspace::problem::EditKind as Kind;

use super::{Audience, Message, formats, lines, near, sketches, symbols, write_lines, write_numbers};

/// The most bytes of a line of the request that a message repeats.
const ECHOED: usize = 200;

pub(super) fn write(message: &Message<'_>, kind: &Kind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (path, hunk) = (message.path(), message.hunk());
    match kind {
        Kind::SearchNotFound { near } => {
            writeln!(f, "The old text{hunk} is not in {path} (version {}).", near.version.short())?;
            near::write(near, f)
        }
        Kind::HunkContextMismatch { near, expected } => {
            writeln!(f, "Failed to find expected lines in {path}{hunk}:")?;
            for line in expected {
                writeln!(f, "{}", around(line.as_bytes(), 0, ECHOED))?;
            }
            writeln!(f, "({path} is at version {}.)", near.version.short())?;
            near::write(near, f)
        }
        Kind::AnchorNotFound { anchor, total } => match total {
            0 => write!(
                f,
                "Failed to find context '{anchor}' in {path}{hunk}. Without that line, a hunk needs two old lines \
                 that stand together only once, and a hunk of only + lines needs the whole line. Copy it from the \
                 file, or leave the @@ bare and give unchanged lines around the new ones."
            ),
            n => write!(
                f,
                "The @@ line '{anchor}' stands {n} times in {path}{hunk}, so the place of the hunk is \
                 unclear. Add an outer @@ line before it, or give unchanged lines around the new ones."
            ),
        },
        Kind::AmbiguousMatch { lines, total, more, in_patch, loose, places } => {
            let what = if *in_patch { "The lines to change" } else { "The old text" };
            let occur = if *in_patch { "occur" } else { "occurs" };
            let at_least = if *more { "at least " } else { "" };
            match loose {
                None => write!(f, "{what}{hunk} {occur} {at_least}{total} times in {path}, at ")?,
                Some(layer) => write!(
                    f,
                    "{what}{hunk} {occur} nowhere in {path} as written, and more loosely ({layer}) in {at_least}{total} \
                     ways, from "
                )?,
            }
            write_numbers(lines, f)?;
            f.write_str(match (loose, *in_patch) {
                (Some(_), _) => {
                    ". Nothing was changed. Send the lines of the place that you mean as they stand in the file, \
                     with those around them."
                }
                (None, true) => {
                    ". Nothing was changed. Add unchanged lines before and after until only one place fits, or an \
                     @@ line with the enclosing function or class."
                }
                (None, false) => {
                    ". Nothing was changed. Add lines before or after to old_string until it is unique, or set \
                     replace_all to change every one."
                }
            })?;
            let mut shown_to = 0;
            for place in places {
                if place.first().is_some_and(|(number, _)| *number > shown_to + 1) {
                    f.write_str("\n   ...")?;
                }
                write_lines(place.iter().filter(|(number, _)| *number > shown_to), f)?;
                shown_to = place.last().map_or(shown_to, |(number, _)| shown_to.max(*number));
            }
            Ok(())
        }
        Kind::ExpectedCount { expected, found, lines } => {
            write!(
                f,
                "expected_count is {expected}, but the old text occurs {found} times in {path}{hunk}, at "
            )?;
            write_numbers(lines, f)?;
            if lines.len() < *found {
                f.write_str(", ...")?;
            }
            write!(
                f,
                ". Nothing was changed. Look at the places, then send expected_count: {found} if all are meant."
            )
        }
        Kind::OverlappingPlaces { lines } => {
            write!(f, "The places of the old text{hunk} overlap in {path}, at ")?;
            write_numbers(lines, f)?;
            f.write_str(
                ", so it is unclear what replacing all of them means. Nothing was changed. Give a longer text.",
            )
        }
        Kind::OverlappingEdits { first, second, line } => write!(
            f,
            "Edits {first} and {second} both concern line {line} of {path}. All edits of a call are found \
             in the same text, before any of them. Merge the two into one."
        ),
        Kind::NotAtEndOfFile { line, last } => write!(
            f,
            "It says *** End of File{hunk}, but its lines stand at line {line} of {path}, which ends \
             at line {last}. Leave the marker out, or give the last lines of the file."
        ),
        Kind::NoSuchLines { first, count, total } => {
            let last = first.saturating_add(*count).saturating_sub(1);
            write!(f, "{path} has {total} lines, so there are no lines {first} to {last}{hunk}")?;
            if message.problem.is_of_origin {
                return f.write_str(" (from.start_line, from.end_line). Lines are counted from 1.");
            }
            write!(f, ". Lines are counted from 1; to append, insert before line {}.", total + 1)
        }
        Kind::EscapedText { line, escape, instead } => write!(
            f,
            "The new text{hunk} has {escape} where {path} has {instead}: '{line}'. It seems to have been \
             escaped once too often. Nothing was changed. Send {instead}; if the escapes are meant, use \
             replace_lines, which takes text as it is."
        ),
        Kind::ShownNumbers { line } => write!(
            f,
            "All lines of the new text{hunk} have the line numbers of a reading before them: '{line}'. {path} has none. Nothing \
             was changed. Leave the numbers out; if they are meant, use replace_lines, which takes text as it is."
        ),
        Kind::IndentationMismatch { line, shown } => {
            write!(
                f,
                "Line {line} of {path} is indented, but the old text{hunk} begins after that, and one of the new lines \
                 is less indented. Nothing was changed. Send whole lines, old and new, each with its own \
                 indentation:"
            )?;
            write_lines(shown, f)
        }
        Kind::CutWord { line, word, at, begins, shown } => {
            let (left, right) = word.split_at_checked(*at).unwrap_or((word, ""));
            let (verb, part) = if *begins { ("begins", right) } else { ("ends", left) };
            write!(
                f,
                "The old text{hunk} {verb} inside the word '{word}' in line {line} of {path}: with '{part}'. If all of \
                 '{word}' is meant, send it whole in the old text. If only '{part}' is meant, send all of the word in both \
                 texts. Nothing was changed. The file has:",
            )?;
            write_lines(shown, f)
        }
        Kind::OtherPlace { near, found, shown } => {
            write!(
                f,
                "The lines to change{hunk} are not where the request names them: there, at line {near} of {path}, other \
                 lines stand among them. The same lines as sent are at line {found}. Nothing was changed. If line \
                 {near} is meant, send its lines as they are; if line {found} is meant, correct the @@ line or the number:",
            )?;
            shown.iter().try_for_each(|lines| {
                write_lines(lines, f)?;
                f.write_str("\n   ...")
            })
        }
        Kind::NoPlaceBetween => write!(
            f,
            "There are only + lines{hunk}, other hunks follow, and the hunks before and after it are not beside each other in \
             {path}: it has no place. Nothing was changed. Give the unchanged line above or below the new ones."
        ),
        Kind::LineThere { line, text } => write!(
            f,
            "Line {line} of {path} already is '{text}', which the change{hunk} adds right beside it: it would be there \
             twice. Nothing was changed. Leave it out of the new lines, or give it as an unchanged line."
        ),
        Kind::AnchorRepeated { line } => write!(
            f,
            "The lines to insert{hunk} repeat line {line} of {path}, beside which they go: it stays and would be there twice. \
             Nothing was changed. Leave the anchor out of the inserted text."
        ),
        Kind::PartOfLine { line, shown } => {
            write!(
                f,
                "The old text{hunk} has only a part of line {line} of {path}, and lines are inserted beside whole lines. \
                 Nothing was changed. Send the line to its end on that side, or, to insert inside it, send a new_string:"
            )?;
            write_lines(shown, f)
        }
        Kind::LineEndingLost { line, text } => write!(
            f,
            "The old text{hunk} ends with a line break and the new text does not, so line {line} of {path} would be \
             glued to it: '{text}'. Nothing was changed. End the new text with a line break; to join the lines, put \
             both of them whole into the old text."
        ),
        Kind::MovedNumbers => write!(
            f,
            "It names lines of {path} by number alone{hunk}, but a section before it has moved them. Nothing was \
             changed. Put all changes of the file into one section, or give unchanged lines around this one."
        ),
        Kind::LostLines(lost) => lines::write(message, lost, f),
        Kind::SymbolNotFound { why, unknown } => symbols::write_not_found(message, *why, unknown, f),
        Kind::AmbiguousSymbol { unknown, .. } => symbols::write_ambiguous(message, unknown, f),
        Kind::UncertainSymbol(uncertain) => symbols::write_uncertain(message, uncertain, f),
        Kind::UncertainSketch(uncertain) => sketches::write(message, uncertain, f),
        Kind::SymbolOfUnknownVersion { symbol, claimed, current } => {
            lines::write_unknown_symbol(message, symbol, claimed, *current, f)
        }
        Kind::Unclear => write!(
            f,
            "The lines{hunk} stand in {path} only with differences that leave open how the new ones are meant. \
             Nothing was changed. Send all lines as they stand in the file."
        ),
        Kind::OmissionPlaceholder { line } => write!(
            f,
            "The new text{hunk} has '{line}', which is no line of {path}: it would take the place of the code \
             that it stands for. Send the real lines, or a smaller edit that leaves them out of old and new. If the line is \
             meant as it is, add it by an edit that takes no line away."
        ),
        Kind::WorkLimit { work } => {
            let what = match work {
                Work::Comparing => "the text to find nearly matches in too many places",
                Work::Copying => "the lines to copy or move are too many",
                Work::Replacing => "replace_all would change more than a million places",
            };
            write!(f, "Too much work: {what}. Split the request.")
        }
        Kind::InvalidFormat { line, fault } => formats::write(message.audience, *line, fault, f),
        Kind::NoOldText => f.write_str(
            "old_string is empty, so there is nothing to find. To create a file or replace the whole of one, use \
             write_file; to insert text, give the lines around it.",
        ),
        Kind::NoOp { why } => write!(f, "Nothing would change{hunk}: {}.", no_change(*why)),
        Kind::MissingOriginal => {
            write!(f, "{path} does not exist.{} Check the path", message.meant())?;
            let is_known = !message.problem.meant.is_empty() || message.audience == Audience::Person;
            f.write_str(if is_known { "." } else { "; list_files and search_text show what there is." })
        }
        Kind::NothingToAddTo => write!(
            f,
            "{path} does not exist, and the hunks only add lines.{} To create it, use '*** Add File: {path}', or in a \
             unified diff '--- /dev/null' above '+++ b/{path}'; else check the path.",
            message.meant()
        ),
        Kind::NoSource => write!(f, "{path} cannot be had."),
        Kind::AlreadyExists => write!(
            f,
            "{path} already exists; nothing was changed. To change it, use *** Update File, a hunk with lines that it \
             has, or str_replace with the text to find; to replace all of it, write_file."
        ),
        Kind::TargetExists => write!(
            f,
            "{path} already exists; nothing was changed. Delete it first, or choose another name."
        ),
        Kind::NotText { why } => {
            let why = not_text(*why);
            write!(f, "{path} is not text that Emend can edit: {why}. It was left as it is.")
        }
        Kind::NotEncodable { character, encoding } => write!(
            f,
            "The new text{hunk} has the character '{character}' (U+{:04X}), but {path} is in {encoding}, which \
             lacks it. Nothing was changed. Send the call again with characters that {encoding} has.",
            u32::from(*character)
        ),
        Kind::TooLarge { bytes, limit } => {
            write!(
                f,
                "{path} has, or would have, {bytes} bytes; files up to {limit} are read and edited here (max_file_bytes, \
                 which a person can raise). It was left as it is."
            )
        }
        Kind::CannotTake { line, why } => {
            write!(f, "Line {line} of {path} cannot be put there{hunk}: ")?;
            cannot_take(*why, f)?;
            f.write_str(" Nothing was changed.")
        }
        Kind::CannotPut { line, why } => {
            cannot_put(path, *line, *why, f)?;
            f.write_str(" Nothing was changed.")
        }
        Kind::MovedIntoItself { first, count } => {
            let (lines, are) = if *count == 1 { ("Line", "is") } else { ("Lines", "are") };
            write!(f, "{lines} {first}")?;
            if *count > 1 {
                write!(f, " to {}", first.saturating_add(count - 1))?;
            }
            write!(
                f,
                " of {path} {are} to be moved to a place among, or around, what is moved. Nothing was changed. Name a \
                 place outside of it; to put it in the place of lines around it, leave move out."
            )
        }
        Kind::NoPlace => write!(
            f,
            "{path} already exists, and without a place in it a new file would be made of the lines. Nothing was \
             changed. Name its version, with the start_line and end_line to replace (end_line = start_line - 1 inserts)."
        ),
        Kind::HalfMove { from, to } => {
            write!(f, "Argument 'hunks': {to} comes from {from}; name the hunks of both.")
        }
        Kind::InseparableHunks { name } => write!(
            f,
            "Argument 'hunks': the hunks of {name} are one change, as where a formatter has changed the file or a call \
             changes a cell or values; name all of them."
        ),
    }
}

fn cannot_take(why: CannotTake, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match why {
        CannotTake::LessIndented { has } => {
            write!(f, "it is indented by {has} {}, ", if has == 1 { "character" } else { "characters" })?;
            f.write_str("which is less than from.indent takes away. ")?;
            match has {
                0 => f.write_str("Leave indent out."),
                _ => write!(f, "Take away at most {has}."),
            }
        }
        CannotTake::MixedIndentation => f.write_str(
            "indent shifts lines by one kind of white space, and spaces and tabs are both used there. Leave indent out, \
             and correct the lines where they have come to.",
        ),
        CannotTake::Uncertain { encoding, into } => write!(
            f,
            "that it is in {encoding} is a guess, so its characters may be others, and the file where it would go is in \
             {into}. Send the lines as new_text."
        ),
        CannotTake::InvalidBytes { into } => write!(
            f,
            "it has bytes that are no UTF-8, or stands in a file with such bytes, so its characters are not certain, and the \
             file where it would go is in {into}. It can go to a file with invalid bytes, or to a new one."
        ),
        CannotTake::CarriageReturn => f.write_str(
            "it ends with a carriage return that is no part of its line ending, and would become a part of one. Send the \
             lines as new_text.",
        ),
    }
}

fn cannot_put(path: &str, line: usize, why: CannotPut, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match why {
        CannotPut::ByteOrderMark => write!(
            f,
            "The lines begin with U+FEFF, which would become the byte order mark of {path} at its start. Put another line \
             first."
        ),
        CannotPut::CarriageReturn => write!(
            f,
            "Line {line} of {path}, the last, ends with a carriage return and has no line ending, so a line below it would \
             make of that another ending. Give line {line} a line ending first, or replace it too."
        ),
    }
}

fn no_change(why: NoChange) -> Cow<'static, str> {
    let text = match why {
        NoChange::MadeAt { line } => {
            return format!("line {line} already has the new lines").into();
        }
        NoChange::SameHunk { first } => {
            return format!("it does the same as hunk {first}. Send it once").into();
        }
        NoChange::AlreadyHeld => "the file already holds what the request asks for",
        NoChange::AlreadyAdded => "the added lines already stand at that place",
        NoChange::AlreadyWrapped => "the file already has new_string at that place, around old_string",
        NoChange::SameText => "old_string and new_string are the same",
        NoChange::SameLines => "the old and the new lines are the same",
        NoChange::SamePlace => "the lines are to be moved to where they are",
        NoChange::SamePath => "from and to are the same path",
        NoChange::OnlyContext => {
            "the hunk has only context lines. Mark those that go with - and those that come with +"
        }
        NoChange::NothingTaken => "these hunks change nothing",
    };
    text.into()
}

fn not_text(why: NotText) -> &'static str {
    match why {
        NotText::Nul => "it has NUL bytes, so it is binary or UTF-16 without its mark",
        NotText::Binary => "it is not UTF-8, and has so many control characters that it is binary",
        NotText::Utf32 => "it has the mark of UTF-32",
        NotText::OddUtf16 => "it has the mark of UTF-16 and an odd number of bytes",
        NotText::HalfSurrogate => "it has the mark of UTF-16, but half a surrogate pair",
        NotText::NulInUtf16 => "it has the mark of UTF-16, but NUL characters",
        NotText::NoEncoding => "it is not UTF-8, and no other encoding explains all of its bytes",
        NotText::NulInNewText => "the new text has a NUL byte",
        NotText::AfterEdit => "with this edit its bytes would be no text any more",
        NotText::Uncertain => {
            "what is to be taken from it must be UTF-8, or UTF-16 with its mark. Convert it first (iconv -f ENCODING -t \
             UTF-8), each part from its own encoding"
        }
    }
}
