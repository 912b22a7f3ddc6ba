//! The messages about edits that need the approval of a person or were denied it.

use std::fmt;

use emend_workspace::problem::Release;

use super::{Audience, Message};

pub(super) fn write_needed(
    message: &Message<'_>,
    rule: &str,
    release: &Release,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let of = message.problem.path.as_deref().map(|path| format!(" of {path}")).unwrap_or_default();
    match message.audience {
        Audience::Model => {
            write!(f, "This edit{of} needs a person's approval, since {rule}. Nothing was changed. ")?;
            match release {
                Release::Question => f.write_str("Ask the person first."),
                Release::Command { command } => write!(
                    f,
                    "A person can allow exactly this edit by running `{command}` in a terminal, or on the page of `emend \
                     review`; then send the same call again. Tell them, and do not try another way."
                ),
                Release::Page { address, id } => write!(
                    f,
                    "It waits as {id}. Whoever may approve edits here can allow exactly this one on the page {address}; then send \
                     the same call again. Tell them, and do not try another way."
                ),
                Release::Nowhere { why } => write!(
                    f,
                    "It cannot be approved here: {why}. Tell the person what you would change, and leave it to them."
                ),
            }
        }
        Audience::Person => {
            write!(f, "This edit{of} needs your approval, since {rule}. Nothing was changed. ")?;
            match release {
                Release::Question => Ok(()),
                Release::Command { command } => write!(
                    f,
                    "To see all of it and to allow it, run `{command}` in a terminal; then give the same command again."
                ),
                Release::Page { address, id } => {
                    write!(
                        f,
                        "It waits as {id}: to see all of it and to allow it, open {address}; then do the same again."
                    )
                }
                Release::Nowhere { why } => write!(f, "It cannot be approved here: {why}."),
            }
        }
    }
}

/// Writes the message about an edit that was denied, with the person's comment, and the way in which they can still allow it.
pub(super) fn write_denied(
    message: &Message<'_>,
    release: Option<&Release>,
    comment: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let way = release.and_then(|release| match release {
        Release::Command { command } => Some(format!("by running `{command}` in a terminal")),
        Release::Page { address, id } => Some(format!("on the page {address}, where it waits as {id}")),
        Release::Question | Release::Nowhere { .. } => None,
    });
    match (message.audience, way) {
        (Audience::Model, None) if !comment.is_empty() => write!(
            f,
            "The person who was asked declined this edit and says: {comment}\nNothing was changed. Do as they say instead of \
             sending it again."
        ),
        (Audience::Model, None) => f.write_str(
            "The person who was asked declined this edit. Nothing was changed. Do not send it again; ask them what they \
             want instead.",
        ),
        (Audience::Model, Some(way)) => write!(
            f,
            "The person declined this edit, or their client did without asking them. Nothing was changed. Do not send it \
             again; tell them, and ask what they want instead. Only if they were not asked and want exactly this edit, they \
             can allow it {way}; then send the same call again."
        ),
        (Audience::Person, _) => f.write_str(
            "You have said no to this edit. Nothing was changed. If that was with `emend approve`, it stands for a day \
             unless you allow it there.",
        ),
    }
}

/// Returns the note that a person has applied a preview themselves, perhaps without some of its hunks.
pub(crate) fn applied_by_person(left_out: &[usize], is_undone: bool, comment: &str) -> String {
    let mut note = "The person has applied this preview themselves, on the review page".to_owned();
    if !left_out.is_empty() {
        note += &format!(", without its {}", hunks(left_out));
    }
    note += if is_undone { ", and taken it back since." } else { ". There is nothing more to apply." };
    if !comment.is_empty() {
        note += &format!(" They say: {comment}");
    }
    note
}

/// The most bytes of the lines of a hunk that are told.
const LINES: usize = 4_000;

/// Returns the note with the lines that a person has written in place of what the model wrote.
pub(crate) fn written_by_hand(numbers: &[usize], path: &str, body: &str) -> String {
    let mut note = format!("The person wrote {} of {path} by hand. It is now:", hunks(numbers));
    let start = note.len();
    for line in body.lines().filter(|line| !line.starts_with(' ')) {
        if note.len() - start + line.len() > LINES {
            note += "\n... (read the file for the rest)";
            break;
        }
        note.push('\n');
        note += line;
    }
    note
}

/// `hunk 1`, `hunks 1 and 3` or `hunks 1, 3 and 4`
fn hunks(numbers: &[usize]) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match numbers.split_last() {
        Some((last, [])) => format!("hunk {last}"),
        Some((last, others)) => format!("hunks {} and {last}", others.join(", ")),
        None => "no hunk".to_owned(),
    }
}
