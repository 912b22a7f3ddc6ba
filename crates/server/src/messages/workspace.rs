//! The messages about problems outside of the edit itself: arguments, files, rules, paths, the history, the machine.

use std::fmt;

use emend_workspace::history;
use emend_workspace::problem::{Kind, NotUndone, SeveralNames, SincePlanned};

use super::seen::{self, Stale};
use super::{Audience, Message, approval, editing, places};

pub(super) fn write(message: &Message<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let path = message.path();
    let kind = &*message.problem.kind;
    match kind {
        Kind::Edit(kind) => editing::write(message, kind, f),
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
        Kind::InvalidArgument { name, message: said } => write!(f, "Argument '{name}': {said}."),
        Kind::NoPlaces { searched, left_out } => places::write_none(*searched, left_out, f),
        Kind::UnexpectedPlaces(found) => places::write_unexpected(found, f),
        Kind::EmptyRequest => f.write_str("Nothing would change: the request names no file."),
        Kind::StaleFile { claimed, current, diff, by, again } => {
            let (diff, by) = (diff.as_deref(), by.as_deref());
            seen::write_stale(message, &Stale { claimed, current: *current, diff, by, again: *again }, f)
        }
        Kind::NotRead { current, seen } => seen::write_not_read(message, *current, *seen, f),
        Kind::NumbersNeedVersion { current } => seen::write_numbers_need_version(message, *current, f),
        Kind::NumbersUnread => write!(
            f,
            "Line numbers count where they were shown, and those near this line of {path} were not shown as the file is now. \
             Nothing was changed. Read these lines with read_file, and send the call with their numbers."
        ),
        Kind::MustRead { current } => seen::write_must_read(message, *current, f),
        Kind::CameBetween => {
            write!(f, "{path} already exists; it came while the edit was made; nothing was changed.")
        }
        Kind::NotAFile { what } => write!(f, "{path} is {what}. Name a file."),
        Kind::FolderHolds { names, is_all } => write_folder_holds(path, names, *is_all, f),
        Kind::IsLink => write!(
            f,
            "{path} is a link, and links are neither deleted nor moved. Nothing was changed. Name the file that it points to."
        ),
        Kind::HardLinked { names, why } => {
            write!(f, "{path} has {names} names (hard links)")?;
            f.write_str(several_names(*why))
        }
        Kind::MountPoint => {
            write!(f, "{path} is mounted by itself and cannot be replaced as a whole. It was left as it is. A person can allow writing it in \
                place (write_in_place).")
        }
        Kind::ReadOnly { why } => write!(f, "{path} is read-only: {why}. It was left as it is."),
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
        Kind::ScopeMissing { scope, what } => write!(
            f,
            "You may not {what} here: the token of this client lacks the scope {scope}. Nothing was changed. Sending the \
             call again does not help; tell the person, who can sign the client in with that scope."
        ),
        Kind::ApprovalNeeded { rule, release } => approval::write_needed(message, rule, release, f),
        Kind::ApprovalDenied { release, comment } => approval::write_denied(message, release.as_ref(), comment, f),
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
        Kind::NoServerEdit { why, next } => write!(f, "{why}. Nothing was changed. {next}."),
        Kind::ModelFailed { model: None, why } => {
            write!(f, "There is no apply model to ask: {why}. Nothing was changed. Make the edit with the other tools.")
        }
        Kind::ModelFailed { model: Some(model), why } => write!(
            f,
            "The apply model {model} gave no text: {why}. Nothing was changed. Make the edit with the other tools, or tell \
             the person."
        ),
        Kind::ProposalRefused { model, why, diff } => write!(
            f,
            "What the apply model {model} proposed for {path} was refused: {why}. Nothing was changed. Make the edit with \
             the other tools; of the proposal, only what is right in it:\n{}",
            diff.trim_end()
        ),
        Kind::PathOutsideWorkspace { roots, why } => {
            let shown = message.problem.path.as_deref().unwrap_or("The path");
            let roots = roots.join(", ");
            write!(f, "{shown} is outside the workspace: {why}. The workspace is {roots}.")?;
            write!(f, "{} Use a path inside it.", message.meant())
        }
        Kind::PathForbidden { rule } => {
            write!(f, "{path} is off limits: {rule}. Do without it, or ask the person.")
        }
        Kind::AmbiguousPath { candidates } => {
            let which = candidates.join(" or ");
            write!(f, "{path} could be in more than one root. Say which: {which}.{}", message.meant())
        }
        Kind::SeveralRoots { roots } => write!(
            f,
            "One request touches one root, and this one touches {}. Send one request for each.",
            roots.join(" and ")
        ),
        Kind::NoWorkspace { reason } => f.write_str(reason),
        Kind::UnknownPreview => write!(
            f,
            "There is no such preview: the handle is mistyped, another client's, older than 30 minutes, or went with its server. {}",
            match message.audience {
                Audience::Model => "Call edit_preview again.",
                Audience::Person => "Have it previewed again.",
            }
        ),
        Kind::StalePreview { since } => {
            write!(f, "The preview no longer fits: {path} ")?;
            match since {
                SincePlanned::Changed(now) => write!(f, "changed, it is at version {} now", now.short())?,
                SincePlanned::Gone => f.write_str("is gone")?,
                SincePlanned::Made => f.write_str("exists now")?,
            }
            f.write_str(". Nothing was changed. ")?;
            f.write_str(match message.audience {
                Audience::Model => "Call edit_preview again.",
                Audience::Person => "Preview it again.",
            })
        }
        Kind::NoHistory => f.write_str(
            "No edit can be taken back: the history is off here (track_history). Make the opposite edit instead.",
        ),
        Kind::UnknownEdit { path: Some(path), recent, .. } => write_unknown_of_file(path, recent, f),
        Kind::UnknownEdit { edit, recent, .. } => {
            write_unknown(message.audience, edit.as_deref(), recent, f)
        }
        Kind::MaybeRepeated { edit, has_key } => {
            let ago = history::ago_of(edit);
            write!(
                f,
                "This very call was made {ago}, as edit {edit}, and {path} was written again since where that edit was, or by \
                 another program. Nothing was changed by this call. Read the file; if you mean the call once more, make it by \
                 edit_preview and apply_preview, or send it with "
            )?;
            f.write_str(if *has_key { "another idempotency key." } else { "the version that you read." })
        }
        Kind::KeyOfAnother { edit } => write!(
            f,
            "The idempotency key of this call was used before, by the other call that made edit {edit}. Nothing was \
             changed. Give each call a key of its own."
        ),
        Kind::UndoConflict { edit, why } => {
            write!(f, "Edit {edit} cannot be taken back as it was: ")?;
            write_not_undone(path, why, f)?;
            f.write_str(". Nothing was changed.")?;
            if let NotUndone::Changed { diff: Some(diff), .. } = why {
                write!(f, " What moved on since the edit:\n{}", diff.trim_end())?;
            }
            f.write_str("\nRead the file and change it back by an edit, or undo what came later first.")?;
            match (message.audience, why) {
                (Audience::Person, NotUndone::Changed { may_merge: false, .. }) => f.write_str(
                    " With '--on-change merge', the edit's own lines are taken back if nobody changed them or those beside them.",
                ),
                _ => Ok(()),
            }
        }
        Kind::AlreadyBack => f.write_str(
            "Nothing would change: the files are what they were before this edit: it was taken back by other means.",
        ),
        Kind::Busy { seconds } => write!(
            f,
            "Another edit held the same file, or the whole workspace, for {seconds} seconds. Nothing was changed. Send the call again."
        ),
        Kind::Crowded { calls, seconds } => write!(
            f,
            "For {seconds} seconds, as many earlier calls as may run at once ({calls}) were not finished. Nothing was changed. \
             Send the call again once they are answered."
        ),
        Kind::Overtaken { times } => write!(
            f,
            "While this edit was made, others wrote into its files, {times} times in a row. Nothing was changed. Send the call \
             again."
        ),
        Kind::RecoveryNeeded { what } => f.write_str(what),
        Kind::IoError { message: said, states } => {
            f.write_str(said)?;
            for (path, state) in states {
                write!(f, "\n  {path}: {state}")?;
            }
            Ok(())
        }
        Kind::Cancelled => f.write_str("The call was cancelled before anything was written."),
    }
}

/// Writes what stays in a folder in whose place a file was to be.
fn write_folder_holds(path: &str, names: &[String], is_all: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{path} is a folder that also holds ")?;
    let rest = match (names, is_all) {
        ([], _) => "other files",
        (_, true) => "",
        (_, false) => " and more",
    };
    write!(
        f,
        "{}{rest}. Nothing was changed. Delete or move all that it holds, in the same edit or before.",
        names.join(", ")
    )
}

fn several_names(why: SeveralNames) -> &'static str {
    match why {
        SeveralNames::WouldPart => {
            "; replacing it would part them, so it was left as it is. A person can allow writing it in place \
             (write_in_place), or part the names."
        }
        SeveralNames::InOneRequest => {
            ", and this request touches it under more than one of them. Nothing was changed. Send one request for each \
             name."
        }
        SeveralNames::NotAllFound => {
            ", and there are too many files here to find all of them and whether each may be changed. It was left as it \
             is. A person can part the names."
        }
    }
}

fn write_not_undone(path: &str, why: &NotUndone, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match why {
        NotUndone::UndoneBy(by) => {
            write!(f, "it was taken back by {by} already; to have it again, undo {by}")
        }
        NotUndone::MadeAgain { version } => {
            write!(f, "it deleted {path}, which exists again, at version {}", version.short())
        }
        NotUndone::Gone => write!(f, "{path} is gone since"),
        NotUndone::Changed { version, may_merge, .. } => {
            write!(f, "{path} was changed since and is at version {}", version.short())?;
            f.write_str(if *may_merge {
                ", at the edit's lines or beside them, or nobody knows where"
            } else {
                ""
            })
        }
        NotUndone::OldNameTaken { name } => write!(f, "{name} exists again"),
        NotUndone::NotKept => f.write_str("the displaced file is not kept any more"),
        NotUndone::KeptChanged => {
            f.write_str("a program that had the displaced file open wrote into it afterwards")
        }
    }
}

/// Writes that a session has no edit of a file to take back. Only a model asks for one by its file.
fn write_unknown_of_file(path: &str, recent: &[String], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if recent.is_empty() {
        return write!(
            f,
            "There is no edit of {path} in the history. edit_history lists the edits of all files."
        );
    }
    let newest = recent.join("\n  ");
    write!(
        f,
        "This session has no edit of {path} that could be taken back. Name one with \"edit\"; the newest of this file \
         are:\n  {newest}"
    )
}

/// Writes the message about an edit that is not in the history, or about there being none to undo.
fn write_unknown(
    audience: Audience,
    edit: Option<&str>,
    recent: &[String],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let newest = recent.join("\n  ");
    match (audience, edit, recent) {
        (Audience::Model, Some(edit), []) => {
            write!(f, "There is no edit {edit} in the history. The history is empty.")
        }
        (Audience::Model, None, []) => {
            f.write_str("This session has no edit that could be taken back. The history is empty.")
        }
        (Audience::Model, Some(edit), _) => write!(
            f,
            "There is no edit {edit} in the history. Name one with \"edit\"; the newest are:\n  {newest}"
        ),
        (Audience::Model, None, _) => write!(
            f,
            "This session has no edit that could be taken back. Name one with \"edit\"; the newest are:\n  {newest}"
        ),
        (Audience::Person, None, []) => f.write_str("Nothing was edited here yet: the history is empty."),
        (Audience::Person, Some(edit), []) => {
            write!(f, "There is no edit {edit}: nothing was edited here yet, and the history is empty.")
        }
        (Audience::Person, Some(edit), _) => {
            write!(f, "There is no edit {edit} in the history. The newest are:\n  {newest}")
        }
        (Audience::Person, None, _) => write!(
            f,
            "No edit is left to be taken back: each was taken back already, by an undo or by other means, or is an undo \
             itself. Name one with emend undo EDIT to do so all the same; the newest are:\n  {newest}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use emend_edit::Version;
    use emend_workspace::problem::{Kind, NotUndone, Problem, SeveralNames, SincePlanned};

    use crate::messages::{Audience, message};

    fn told(kind: Kind) -> String {
        message(&Problem::new(kind).at("src/a.rs"), Audience::Model)
    }

    #[test]
    fn a_preview_that_no_longer_fits_says_what_became_of_the_file() {
        let now = Version::hash(b"now");
        let changed = format!("changed, it is at version {} now", now.short());
        for (since, what) in [
            (SincePlanned::Changed(now), changed.as_str()),
            (SincePlanned::Gone, "is gone"),
            (SincePlanned::Made, "exists now"),
        ] {
            let text = format!(
                "The preview no longer fits: src/a.rs {what}. Nothing was changed. Call edit_preview again."
            );
            assert_eq!(told(Kind::StalePreview { since }), text);
        }
    }

    #[test]
    fn a_link_and_a_file_with_several_names_say_what_helps() {
        assert_eq!(
            told(Kind::IsLink),
            "src/a.rs is a link, and links are neither deleted nor moved. Nothing was changed. Name the file that it points \
             to."
        );
        for (why, next) in [
            (SeveralNames::WouldPart, "(write_in_place), or part the names."),
            (SeveralNames::InOneRequest, "Nothing was changed. Send one request for each name."),
            (SeveralNames::NotAllFound, "It was left as it is. A person can part the names."),
        ] {
            let text = told(Kind::HardLinked { names: 2, why });
            assert!(text.starts_with("src/a.rs has 2 names (hard links)") && text.ends_with(next), "{text}");
            assert_eq!(text.contains("write_in_place"), why == SeveralNames::WouldPart);
        }
    }

    #[test]
    fn a_folder_that_does_not_get_empty_says_what_it_holds() {
        for (names, is_all, holds) in [
            (&["src/a.rs/b"][..], true, "src/a.rs/b"),
            (&["x", "y"], false, "x, y and more"),
            (&[], false, "other files"),
        ] {
            let names = names.iter().map(ToString::to_string).collect();
            let text = told(Kind::FolderHolds { names, is_all });
            assert!(
                text.starts_with(&format!("src/a.rs is a folder that also holds {holds}. Nothing")),
                "{text}"
            );
        }
    }

    #[test]
    fn an_edit_that_is_not_taken_back_says_why() {
        let version = Version::hash(b"now");
        let shown = version.short();
        let next = "\nRead the file and change it back by an edit, or undo what came later first.";
        for (why, what) in [
            (
                NotUndone::UndoneBy("e2".into()),
                "it was taken back by e2 already; to have it again, undo e2. Nothing was changed.".to_owned(),
            ),
            (
                NotUndone::MadeAgain { version },
                format!("it deleted src/a.rs, which exists again, at version {shown}. Nothing was changed."),
            ),
            (NotUndone::Gone, "src/a.rs is gone since. Nothing was changed.".into()),
            (
                NotUndone::Changed { version, diff: Some("-a\n+b\n".into()), may_merge: false },
                format!(
                    "src/a.rs was changed since and is at version {shown}. Nothing was changed. What moved on since the \
                     edit:\n-a\n+b"
                ),
            ),
            (
                NotUndone::OldNameTaken { name: "src/b.rs".into() },
                "src/b.rs exists again. Nothing was changed.".into(),
            ),
            (NotUndone::NotKept, "the displaced file is not kept any more. Nothing was changed.".into()),
            (
                NotUndone::KeptChanged,
                "a program that had the displaced file open wrote into it afterwards. Nothing was changed."
                    .into(),
            ),
        ] {
            let text = format!("Edit e1 cannot be taken back as it was: {what}{next}");
            assert_eq!(told(Kind::UndoConflict { edit: "e1".into(), why }), text);
        }
    }
}
