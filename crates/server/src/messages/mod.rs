//! Problems as prose for a language model: what is wrong, the facts, the next step.
//!
//! The first lines of the V4A failures are Codex's own, which models were trained on.

mod near;

use std::fmt;

use emend_edit::Version;
use emend_edit::excerpt::around;
use emend_edit::problem::{Again, Kind, Problem, Release, Seen};

/// How many candidate line numbers a message lists.
const LISTED: usize = 20;
/// How much is said again of a line that the request has.
const ECHOED: usize = 200;

/// Returns what is told of a problem.
#[must_use]
pub fn message(problem: &Problem) -> String {
    Message(problem).to_string()
}

struct Message<'a>(&'a Problem);

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self.0, f)
    }
}

fn write(problem: &Problem, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write_kind(problem, f)?;
    for fitting in &problem.beside {
        write!(f, "\nHunk {} fits, at line {}.", fitting.hunk, fitting.line)?;
        if !fitting.lines.is_empty() {
            f.write_str(" It changes:")?;
        }
        write_lines(&fitting.lines, f)?;
    }
    if let Some((fit, total)) = problem.fit {
        write!(
            f,
            "\n{fit} of {total} hunks fit. Nothing was changed: send all of them again, with these mended."
        )?;
    }
    Ok(())
}

fn write_kind(problem: &Problem, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let path = problem.path.as_deref().unwrap_or("the file");
    let hunk = match problem.hunk {
        Some(number) => format!(" (hunk {number})"),
        None => String::new(),
    };
    match &*problem.kind {
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
                "Failed to find context '{anchor}' in {path}{hunk}. An @@ line must be a whole line of the \
                 file; a hunk of only + lines is inserted right after it. Copy the line from the file, or \
                 leave the @@ bare and give unchanged lines around the new ones."
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
            write!(
                f,
                "{path} has {total} lines, so there are no lines {first} to {last}{hunk}. Lines are counted \
                 from 1; to append, insert before line {}.",
                total + 1
            )
        }
        Kind::EscapedText { line, escape, instead } => write!(
            f,
            "The new text{hunk} has {escape} where {path} has {instead}: '{line}'. It seems to have been \
             escaped once too often. Nothing was changed. Send {instead}; if the escapes are meant, use \
             replace_lines, which takes text as it is."
        ),
        Kind::IndentationMismatch { line, shown } => {
            write!(
                f,
                "Line {line} of {path} is indented, but the old text{hunk} begins after that, and a new line after the \
                 first is less indented. Nothing was changed. Send whole lines, old and new, each with its own \
                 indentation:"
            )?;
            write_lines(shown, f)
        }
        Kind::PartOfWord { line, word, begins, shown } => {
            write!(
                f,
                "The old text{hunk} {} inside the word '{word}' in line {line} of {path}, so it is not sure that this \
                 place is meant. Nothing was changed. Send whole lines, old and new, as they stand in the file:",
                if *begins { "begins" } else { "ends" }
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
        Kind::WorkLimit { what } => write!(f, "Too much work: {what}. Split the request."),
        Kind::InvalidFormat { message } => f.write_str(message),
        Kind::NoOp { reason } => write!(f, "Nothing would change{hunk}: {reason}."),
        Kind::FormattedBack { by } => write!(
            f,
            "Nothing would change: what this edit does to {path} is undone by {by}, which formats every new text here. If \
             the edit was only about layout, leave it out."
        ),
        Kind::UnknownArgument { name, suggestion, known } => {
            write!(f, "Unknown argument '{name}'.")?;
            if let Some(suggestion) = suggestion {
                write!(f, " Did you mean '{suggestion}'?")?;
            }
            write!(f, " This tool takes: {}.", known.join(", "))
        }
        Kind::InvalidArgument { name, message } => write!(f, "Argument '{name}': {message}."),
        Kind::MissingOriginal => {
            write!(f, "{path} does not exist.")?;
            write_meant(problem, f)?;
            f.write_str(match problem.meant.is_empty() {
                true => " Check the path; list_files and search_text show what there is.",
                false => " Check the path.",
            })
        }
        Kind::AlreadyExists { instead } => write!(f, "{path} already exists; {instead}."),
        Kind::StaleFile { claimed, current, diff, by, again } => {
            let by = by.as_ref().map(|by| format!(" (edit {by})")).unwrap_or_default();
            write_stale(path, claimed, current.as_ref(), diff.as_deref(), &by, *again, f)
        }
        Kind::NotRead { seen, .. } => match seen {
            Seen::Forgotten => write!(
                f,
                "{path} exists, and replacing or deleting it could destroy what you have not seen. This connection has no \
                 session, so what was read is not remembered: send the version that read_file gave for it (version, or \
                 versions of a patch)."
            ),
            Seen::Nothing | Seen::Part => {
                let what = if *seen == Seen::Part { "was read only in part" } else { "was not read" };
                write!(
                    f,
                    "{path} exists and {what}, so replacing or deleting it could destroy what you have not seen. Nothing was \
                     changed. Read all of it with read_file, then send the call again."
                )
            }
        },
        Kind::NumbersNeedVersion { current } => write!(
            f,
            "The patch says by line numbers alone what to change in {path}, so it must name the version that has \
             those numbers. It is at version \"{}\" now: if the numbers are from that, send versions with it; \
             else read the file again.",
            current.short()
        ),
        Kind::NotText { reason } => {
            write!(f, "{path} is not text that Emend can edit: {reason}. It was left as it is.")
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
        Kind::NotAFile { what } => write!(f, "{path} is {what}, not a regular file. Name a file."),
        Kind::HardLinked { names } => write!(
            f,
            "{path} has {names} names (hard links); replacing it would part them, so it was left as it is. \
             A person can allow writing it in place (write_in_place), or part the names."
        ),
        Kind::MountPoint => {
            write!(f, "{path} is mounted by itself and cannot be replaced as a whole. It was left as it is. A person can allow writing it in \
                place (write_in_place).")
        }
        Kind::ReadOnly { why } => write!(f, "{path} is read-only: {why}. It was left as it is."),
        Kind::MustRead { current } => write!(
            f,
            "Here every edit needs a reading of the file first (require_read is always), and {path} was not read as \
             it is now. Nothing was changed. Read it with read_file and send the call again, or name its version, \
             \"{}\".",
            current.short()
        ),
        Kind::ReadOnlyPath { rule } => write!(
            f,
            "{path} may be read but not changed: {rule}. Nothing was changed. Do without this change, or ask the \
             person to make it."
        ),
        Kind::ExtensionNotAllowed { allowed } => {
            write!(f, "{path} may be read but not changed: only files with these endings may be: ")?;
            for (i, extension) in allowed.iter().enumerate() {
                f.write_str(if i == 0 { "" } else { ", " })?;
                match extension.as_str() {
                    "" => f.write_str("none at all")?,
                    extension => write!(f, ".{extension}")?,
                }
            }
            if allowed.is_empty() {
                f.write_str("(no ending is allowed)")?;
            }
            f.write_str(". Nothing was changed. Do without this change, or ask the person to make it.")
        }
        Kind::NoEdits { mode: "preview" } => f.write_str(
            "Here edits are only shown, never made (mode preview). Nothing was changed. edit_preview shows what an \
             edit would do, edit_history what one did; tell the person.",
        ),
        Kind::NoEdits { mode } => write!(
            f,
            "Here nothing is changed (mode {mode}). Tell the person what you would change."
        ),
        Kind::ApprovalNeeded { rule, release } => {
            let what = problem.path.as_deref().map_or(String::new(), |path| format!(" of {path}"));
            write!(f, "This edit{what} needs a person's approval, since {rule}. Nothing was changed. ")?;
            match release {
                Release::Question => f.write_str("Ask the person first."),
                Release::Command { command } => write!(
                    f,
                    "A person can allow exactly this edit by running `{command}` in a terminal; then send the \
                     same call again. Tell them, and do not try another way."
                ),
                Release::Nowhere { why } => write!(
                    f,
                    "It cannot be approved here: {why}. Tell the person what you would change, and leave it to them."
                ),
            }
        }
        Kind::ApprovalDenied { command: None } => f.write_str(
            "The person who was asked declined this edit. Nothing was changed. Do not send it again; ask them what they \
             want instead.",
        ),
        Kind::ApprovalDenied { command: Some(command) } => write!(
            f,
            "The person declined this edit, or their client did without asking them. Nothing was changed. Do not send it \
             again; tell them, and ask what they want instead. Only if they were not asked and want exactly this edit, they \
             can allow it by running `{command}` in a terminal; then send the same call again."
        ),
        Kind::InvalidPolicy { reason } => write!(
            f,
            "{reason}\nThat file says what may be read and changed here, so until a person has mended it, nothing is."
        ),
        Kind::HookRefused { hook, said } => write!(
            f,
            "The hook '{hook}', which the person has set up, refused this edit. Nothing was changed. It says:\n{}\nSending \
             the same call again does not help: change what the hook objects to, or ask the person.",
            if said.trim().is_empty() { "(nothing)" } else { said.trim_end() }
        ),
        Kind::HookNotAsked { hook, why } => write!(
            f,
            "The person wants the hook '{hook}' to look at each edit first, and it could not: {why}. Nothing was changed. Sending \
             the same call again does not help; tell the person."
        ),
        Kind::SyntaxBroken { line, what } => write!(
            f,
            "This edit would break the parse of {path} at line {line} of the new content: {what}. Nothing was changed. Mend \
             the new text and send the call again; what takes several steps must come as one patch. (The person has set \
             syntax_guard to refuse.)"
        ),
        Kind::PathOutsideWorkspace { roots, why } => {
            let shown = problem.path.as_deref().unwrap_or("The path");
            write!(f, "{shown} is outside the workspace: {why}. The workspace is {}.", roots.join(", "))?;
            write_meant(problem, f)?;
            f.write_str(" Use a path inside it.")
        }
        Kind::PathForbidden { rule } => {
            write!(f, "{path} is off limits: {rule}. Do without it, or ask the person.")
        }
        Kind::AmbiguousPath { candidates } => {
            write!(f, "{path} could be in more than one root. Say which: {}.", candidates.join(" or "))?;
            write_meant(problem, f)
        }
        Kind::SeveralRoots { roots } => write!(
            f,
            "One request touches one root, and this one touches {}. Send one request for each.",
            roots.join(" and ")
        ),
        Kind::NoWorkspace { reason } => f.write_str(reason),
        Kind::UnknownPreview => write!(
            f,
            "There is no such preview: the handle is mistyped, another client's, or older than 30 minutes. \
             Call edit_preview again."
        ),
        Kind::StalePreview { reason } => {
            write!(f, "The preview no longer fits: {reason}. Nothing was changed. Call edit_preview again.")
        }
        Kind::NoHistory => f.write_str(
            "No edit can be taken back: the history is off here (track_history). Make the opposite edit instead.",
        ),
        Kind::UnknownEdit { edit, recent } => {
            match edit {
                Some(edit) => write!(f, "There is no edit {edit} in the history.")?,
                None => f.write_str("This session has no edit that could be taken back.")?,
            }
            if recent.is_empty() {
                return f.write_str(" The history is empty.");
            }
            write!(f, " Name one with \"edit\"; the newest are:\n  {}", recent.join("\n  "))
        }
        Kind::UndoConflict { edit, reason, diff } => {
            write!(f, "Edit {edit} cannot be taken back as it was: {reason}. Nothing was changed.")?;
            if let Some(diff) = diff {
                write!(f, " What moved on since the edit:\n{}", diff.trim_end())?;
            }
            f.write_str("\nRead the file and change it back by an edit, or undo what came later first.")
        }
        Kind::Busy { seconds } => write!(
            f,
            "Another edit held the workspace for {seconds} seconds. Nothing was changed. Send the call again."
        ),
        Kind::Crowded { edits, seconds } => write!(
            f,
            "For {seconds} seconds, {edits} earlier calls of this client that edit were not finished. Nothing was changed. Send \
             the call again once they are answered."
        ),
        Kind::Overtaken { times } => write!(
            f,
            "While this edit was made, others wrote into its files, {times} times in a row. Nothing was changed. Send the call \
             again."
        ),
        Kind::RecoveryNeeded { what } => f.write_str(what),
        Kind::IoError { message, states } => {
            f.write_str(message)?;
            for (path, state) in states {
                write!(f, "\n  {path}: {state}")?;
            }
            Ok(())
        }
        Kind::Cancelled => f.write_str("The call was cancelled before anything was written."),
    }
}

fn write_lines<'l>(
    lines: impl IntoIterator<Item = &'l (usize, String)>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    lines.into_iter().try_for_each(|(number, line)| write!(f, "\n{number:>6}\t{line}"))
}

fn write_meant(problem: &Problem, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if problem.meant.is_empty() {
        return Ok(());
    }
    write!(f, " There is: {}.", problem.meant.join(", "))
}

/// `line 3`, or `lines 3, 5 and 7`.
fn write_numbers(lines: &[usize], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(if lines.len() == 1 { "line " } else { "lines " })?;
    for (i, line) in lines.iter().take(LISTED).enumerate() {
        let separator = match i {
            0 => "",
            _ if i + 1 == lines.len() => " and ",
            _ => ", ",
        };
        write!(f, "{separator}{line}")?;
    }
    if lines.len() > LISTED {
        f.write_str(", ...")?;
    }
    Ok(())
}

fn write_stale(
    path: &str,
    claimed: &str,
    current: Option<&Version>,
    diff: Option<&str>,
    by: &str,
    again: Again,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "FILE_UNEXPECTEDLY_MODIFIED_ERROR: {path} ")?;
    match (again, current) {
        (Again::NewVersion, None) => {
            return write!(
                f,
                "does not exist, but the call names its version {claimed}. Nothing was changed. To create it, \
                 leave the version out."
            );
        }
        (_, None) => {
            return write!(
                f,
                "is gone since you read version {claimed}{by}. Nothing was changed. To create it again, send the call \
                 again."
            );
        }
        (Again::NewVersion, Some(current)) => {
            write!(f, "is at version {}{by}, the call names {claimed}.", current.short())?;
        }
        (Again::Retry, Some(current)) => write!(
            f,
            "was changed by another program while the edit was made; it is at version {} now.",
            current.short()
        )?,
        (_, Some(current)) => {
            write!(
                f,
                "changed since you read version {claimed}; it is at version {} now{by}.",
                current.short()
            )?;
        }
    }
    f.write_str(" Nothing was changed.\n")?;
    if let Some(diff) = diff {
        writeln!(f, "What changed meanwhile:\n{}", diff.trim_end())?;
    }
    match (again, current) {
        (Again::SameCall, _) if diff.is_some() => f.write_str(
            "You have now seen the change: the same call goes through if its text is still there.",
        ),
        (Again::SameCall, _) => f.write_str(
            "What changed cannot be shown here. Read the file again, or send the same call if its text is \
             all that matters.",
        ),
        (Again::Retry, _) => f.write_str("Their change is in the file. Send the call again."),
        (Again::NewVersion, Some(current)) => {
            write!(
                f,
                "If the edit is still right for what the file holds now (read it again; line numbers may have moved), send \
                 it with version \"{}\".",
                current.short()
            )
        }
        _ => f.write_str("Read the whole file again before replacing it."),
    }
}
