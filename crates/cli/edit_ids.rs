//! Edits and sessions as people name them: by any beginning that only one has, `@` for the newest edit, and `@~2` for
//! the second before it. A beginning that several have is refused with their lines: nothing is guessed.

use std::collections::BTreeSet;

use emend_workspace::Workspace;
use emend_workspace::history::{Edited, HistoryQuery};

use crate::exit::Stop;

/// How many of the edits that may be meant are listed.
const LISTED: usize = 10;

/// Returns the id of the edit that is meant. What names none is returned as it is, so that the history refuses it.
pub(crate) fn edit(workspace: &Workspace, written: &str) -> Result<String, Stop> {
    let written = written.trim();
    let back = steps_back(written);
    let id = written.to_ascii_lowercase();
    if back.is_none() && (id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        return Ok(written.to_owned());
    }
    let edits = workspace.past_edits().newest(&HistoryQuery { path: None, limit: usize::MAX }, "")?;
    if let Some(back) = back {
        let missing =
            || Stop::Unknown(format!("There is no edit {written}: the history has {}.", count(edits.len())));
        return edits.get(back).map(|edit| edit.id.clone()).ok_or_else(missing);
    }
    let known = edits.iter().map(|edit| (edit.id.as_str(), edit.line()));
    Ok(named(known, &id).map_err(Stop::Unknown)?.unwrap_or_else(|| written.to_owned()))
}

/// Returns the session that is meant, among those of these edits; `None` if there is none.
pub(crate) fn session(edits: &[Edited], written: &str) -> Result<Option<String>, Stop> {
    let all: BTreeSet<&str> = edits.iter().map(|edit| edit.session.as_str()).collect();
    named(all.into_iter().map(|session| (session, session.to_owned())), written).map_err(Stop::Unknown)
}

/// Returns the name that is written, or the one that begins so; `None` if none does. Each name comes with the line that
/// shows it where several begin so.
pub(crate) fn named<'a>(
    known: impl Iterator<Item = (&'a str, String)>,
    written: &str,
) -> Result<Option<String>, String> {
    let alike: Vec<(&str, String)> =
        known.filter(|(name, _)| !written.is_empty() && name.starts_with(written)).collect();
    match &alike[..] {
        [] => Ok(None),
        [(only, _)] => Ok(Some((*only).to_owned())),
        _ if alike.iter().any(|(name, _)| *name == written) => Ok(Some(written.to_owned())),
        _ => Err(several(written, &alike)),
    }
}

/// How many edits before the newest `@` or `@~N` means.
fn steps_back(written: &str) -> Option<usize> {
    match written.strip_prefix('@')? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}

fn several(written: &str, alike: &[(&str, String)]) -> String {
    let more = alike.len().saturating_sub(LISTED);
    let more = if more > 0 { format!("\n  ... and {more} more") } else { String::new() };
    let shown: Vec<&str> = alike.iter().take(LISTED).map(|(_, line)| line.as_str()).collect();
    format!(
        "{written} may be any of {}. Nothing was changed. Write more of the one that you mean:\n  {}{more}",
        alike.len(),
        shown.join("\n  ")
    )
}

fn count(edits: usize) -> String {
    if edits == 1 { "one edit".to_owned() } else { format!("{edits} edits") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_is_at_and_others_are_counted_back_from_it() {
        for (written, back) in
            [("@", Some(0)), ("@~0", Some(0)), ("@~12", Some(12)), ("@1", None), ("@~", None), ("1a2b", None)]
        {
            assert_eq!(steps_back(written), back, "{written}");
        }
    }

    #[test]
    fn a_beginning_names_one_or_is_refused_with_all() {
        let named = |written| {
            let names = ["4c13aa", "4c13ab", "4c13", "99"];
            named(names.into_iter().map(|name| (name, format!("{name} x"))), written)
        };
        assert_eq!(named("9").unwrap().as_deref(), Some("99"));
        assert_eq!(named("4c13").unwrap().as_deref(), Some("4c13"), "all of a name is that");
        assert_eq!((named("5").unwrap(), named("").unwrap()), (None, None));
        let told = named("4c").unwrap_err();
        assert!(told.contains("4c13aa x\n  4c13ab x"), "{told}");
    }
}
