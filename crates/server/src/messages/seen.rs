//! The messages about files that the caller has not read, or not as they are now.
//!
//! A model reads files with a tool. What a person has read is not known, so a person has to name a version.

use std::fmt;

use emend_edit::Version;
use emend_workspace::problem::{Again, Seen};

use super::{Audience, MODIFIED, Message, shell_quoted};

/// The difference between a file and what the request takes it for.
pub(super) struct Stale<'a> {
    pub(super) claimed: &'a str,
    pub(super) current: Option<Version>,
    pub(super) diff: Option<&'a str>,
    pub(super) by: Option<&'a str>,
    pub(super) again: Again,
}

pub(super) fn write_stale(
    message: &Message<'_>,
    stale: &Stale<'_>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let &Stale { claimed, current, diff, by, again } = stale;
    let path = message.path();
    if let (Audience::Person, Some(current), None, Again::NewVersion) =
        (message.audience, current, diff, again)
    {
        return write!(
            f,
            "{path} changed since version {claimed}. Nothing was changed. If the edit is still right for what the file \
             holds now (line numbers may have moved), say so: {}",
            versions(path, current)
        );
    }
    let by = by.map(|by| format!(" (edit {by})")).unwrap_or_default();
    write!(f, "{MODIFIED}{path} ")?;
    match (again, current) {
        (Again::NewVersion | Again::NewNumbers | Again::NewCell, None) => {
            return write!(
                f,
                "does not exist, but the call names its version {claimed}. Nothing was changed. To create it, \
                 leave the version out."
            );
        }
        (_, None) => {
            return write!(
                f,
                "is gone since you read version {claimed}{by}. Nothing was changed. If it should exist, create it with \
                 write_file."
            );
        }
        (Again::NewVersion | Again::NewNumbers | Again::NewCell, Some(current)) => {
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
        (Again::OtherLines, _) if diff.is_some() => f.write_str(
            "The same call would not change the lines that you read. Read the file again, and make the call from what it \
             holds now.",
        ),
        (Again::SameCall | Again::OtherLines, _) => {
            f.write_str("What changed cannot be shown here. Read the file again.")
        }
        (Again::Retry, _) => f.write_str("Their change is in the file. Send the call again."),
        (Again::NewVersion, Some(current)) => {
            write!(
                f,
                "If the edit is still right for what the file holds now (read it again), send it with version \"{}\".",
                current.short()
            )
        }
        (Again::NewCell, Some(current)) => write!(
            f,
            "The cell is another than in version {claimed}, or that is not known any more. Read the cell again, and send the \
             call with version \"{}\".",
            current.short()
        ),
        (Again::NewNumbers, _) => write!(
            f,
            "The line numbers of the patch are those of version {claimed}: read the file again and make the patch from \
             that, with its version."
        ),
        _ => f.write_str("Read the whole file again before replacing it."),
    }
}

pub(super) fn write_not_read(
    message: &Message<'_>,
    current: Version,
    seen: Seen,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let path = message.path();
    let what = match (message.audience, seen) {
        (Audience::Person, _) => {
            return write!(
                f,
                "{path} exists, so replacing or deleting it could destroy what you have not seen. Nothing was changed. If \
                 you mean the file as it is now, say so: {}",
                versions(path, current)
            );
        }
        (Audience::Model, Seen::Forgotten) => {
            return write!(
                f,
                "{path} exists, and replacing or deleting it could destroy what you have not seen. This connection has no \
                 session, so what was read is not remembered: send the version that read_file gave for it (version, or \
                 versions of a patch)."
            );
        }
        (Audience::Model, Seen::Part) => "was read only in part",
        (Audience::Model, Seen::Nothing) => "was not read",
    };
    write!(
        f,
        "{path} exists and {what}, so replacing or deleting it could destroy what you have not seen. Nothing was changed. \
         Read all of it with read_file, then send the call again."
    )
}

pub(super) fn write_numbers_need_version(
    message: &Message<'_>,
    current: Version,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let path = message.path();
    write!(
        f,
        "The patch says by line numbers alone what to change in {path}, so it must name the version that has those \
         numbers. "
    )?;
    match message.audience {
        Audience::Model => write!(
            f,
            "It is at version \"{}\" now: if the numbers are from that, send versions with it; else read the file again.",
            current.short()
        ),
        Audience::Person => write!(
            f,
            "Nothing was changed. If they are from the file as it is now, say so: {}",
            versions(path, current)
        ),
    }
}

pub(super) fn write_must_read(
    message: &Message<'_>,
    current: Version,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    let path = message.path();
    f.write_str("Here every edit needs a reading of the file first (require_read is always)")?;
    match message.audience {
        Audience::Model => write!(
            f,
            ", and {path} was not read as it is now. Nothing was changed. Read it with read_file and send the call again, \
             or name its version, \"{}\".",
            current.short()
        ),
        Audience::Person => write!(
            f,
            ". Nothing was changed. If you mean {path} as it is now, say so: {}",
            versions(path, current)
        ),
    }
}

/// Returns the command-line flag that names the version that is meant.
fn versions(path: &str, current: Version) -> String {
    format!("--versions {}", shell_quoted(&format!("{path}={}", current.short())))
}
