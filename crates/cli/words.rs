//! What a refusal says to a person. The messages of problems speak to a model, of sessions, tools and their arguments; where
//! a person would not know what to do with that, they get words of their own. Codes and facts are the same.

use emend_server::messages;
use emend_server::wire::Outcome;
use emend_workspace::edit::Version;
use emend_workspace::edit::problem::{Again, Kind, Problem, Release};

use crate::workspace::quoted;

/// What is told of these problems.
pub(crate) fn refusal(problems: &[Problem]) -> Outcome {
    let mut outcome = Outcome::failure_in_full(problems);
    for (told, problem) in outcome.problems.iter_mut().flatten().zip(problems) {
        told.message = message(problem).unwrap_or_else(|| std::mem::take(&mut told.message));
        if let Kind::NotRead { current, .. } = &*problem.kind {
            // A person may say that they mean the file as it is.
            told.current_version = Some(current.short());
        }
    }
    let first = outcome.problems.iter().flatten().next().map(|first| first.message.clone());
    if let (Some(error), Some(first)) = (&mut outcome.error, first) {
        error.message = first;
    }
    outcome
}

fn message(problem: &Problem) -> Option<String> {
    let path = problem.path.as_deref().unwrap_or("PATH");
    match &*problem.kind {
        Kind::UnknownEdit { edit, recent } => Some(unknown(edit.as_deref(), recent)),
        Kind::NotRead { current, .. } => Some(format!(
            "{path} exists, so replacing or deleting it could destroy what you have not seen. Nothing was changed. If \
             you mean the file as it is now, say so: {}",
            versions(path, *current)
        )),
        Kind::MustRead { current } => Some(format!(
            "Here every edit needs a reading of the file first (require_read is always). Nothing was changed. If you \
             mean {path} as it is now, say so: {}",
            versions(path, *current)
        )),
        Kind::NumbersNeedVersion { current } => Some(format!(
            "The patch says by line numbers alone what to change in {path}, so it must name the version that has those \
             numbers. Nothing was changed. If they are from the file as it is now, say so: {}",
            versions(path, *current)
        )),
        Kind::StaleFile { claimed, current: Some(current), diff: None, again: Again::NewVersion, .. } => Some(format!(
            "{path} changed since version {claimed}. Nothing was changed. If the edit is still right for what the file \
             holds now (line numbers may have moved), say so: {}",
            versions(path, *current)
        )),
        Kind::InvalidFormat { .. } => Some(
            problem
                .to_string()
                .replace("format: \"whole\"", "--format whole")
                .replace("format: \"ed\", \"rcs\", \"unified\"", "--format ed, rcs or unified"),
        ),
        Kind::ApprovalNeeded { rule, release } => {
            let of = problem.path.as_deref().map(|path| format!(" of {path}")).unwrap_or_default();
            let next = match release {
                Release::Command { command } => format!(
                    "To see all of it and to allow it, run `{command}` in a terminal; then give the same command again."
                ),
                Release::Nowhere { why } => format!("It cannot be approved here: {why}."),
                Release::Question => String::new(),
            };
            Some(format!("This edit{of} needs your approval, since {rule}. Nothing was changed. {next}"))
        }
        Kind::MissingOriginal => {
            Some(messages::message(problem).replace("; list_files and search_text show what there is", ""))
        }
        Kind::ApprovalDenied { .. } => Some(
            "You have said no to this edit. Nothing was changed. If that was with `emend approve`, it stands for a \
             day unless you allow it there."
                .into(),
        ),
        _ => None,
    }
}

fn unknown(edit: Option<&str>, recent: &[String]) -> String {
    let newest = recent.join("\n  ");
    match edit {
        _ if recent.is_empty() && edit.is_none() => {
            "Nothing was edited here yet: the history is empty.".into()
        }
        Some(edit) if recent.is_empty() => {
            format!("There is no edit {edit}: nothing was edited here yet, and the history is empty.")
        }
        Some(edit) => format!("There is no edit {edit} in the history. The newest are:\n  {newest}"),
        None => format!(
            "No edit is left to be taken back: each was taken back already, by an undo or by other means, or is an undo itself. \
             Name one with emend undo EDIT to do so all the same; the newest are:\n  {newest}"
        ),
    }
}

/// The flag that says which version is meant, as a shell takes it.
fn versions(path: &str, current: Version) -> String {
    format!("--versions {}", quoted(&format!("{path}={}", current.short())))
}
