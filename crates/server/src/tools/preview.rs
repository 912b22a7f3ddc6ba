//! The tools `edit_preview` and `apply_preview`: an edit that stops before the commit, and its continuation.

use std::collections::BTreeSet;

use serde_json::Value;

use emend_edit::diff::{self, DiffPart};
use emend_edit::plan::FilePlan;
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::reviewable::PreviewWord;
use emend_workspace::{Effort, Fingerprint, NotCommitted, Origin, Preview, Repeat, Report};

use super::kept_preview::{self, used_up};
use super::spec::{About, Effect, Given, Tool, ToolArguments};
use super::{Call, edit, find, making};
use crate::answer::{Answer, Unanswered};
use crate::door::Door;
use crate::messages;
use crate::previews::PreviewState;
use crate::render::Tense;
use crate::wire::{ApplyPreview, EditPreview, Outcome};

impl ToolArguments for EditPreview {
    const ABOUT: About = About {
        name: "edit_preview",
        title: "Preview an edit",
        description: "Show the diff of an edit, its hunks by number, and a handle for apply_preview.",
        effect: Effect::Shows,
        is_idempotent: false,
        is_core: true,
    };
}

impl Tool for EditPreview {
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered> {
        match preview(call, given) {
            Ok(outcome) => Ok(Answer::from_outcome(outcome, Tense::Previewed)),
            Err(why) => Answer::from_not_committed(call.explained(why)),
        }
    }
}

fn preview(call: &Call<'_>, given: Given<'_, EditPreview>) -> Result<Outcome, NotCommitted> {
    let EditPreview { tool, mut arguments } = given.read()?;
    // They stand beside the tool, but it is as natural to put them below a name of their own.
    if let (1, Some(Value::Object(below))) = (arguments.len(), arguments.get_mut("arguments")) {
        arguments = std::mem::take(below);
    }
    match find(&tool).and_then(|tool| Some((tool, tool.as_edit?))) {
        Some((tool, as_edit)) => making::preview(call, as_edit(tool, call, arguments)?),
        None => {
            let known: Vec<&str> = edit::tools().iter().map(|tool| tool.about.name).collect();
            let message = format!("it must be the name of a tool that edits: {}", known.join(", "));
            Err(Problem::new(Kind::InvalidArgument { name: "tool".into(), message }).into())
        }
    }
}

impl ToolArguments for ApplyPreview {
    const ABOUT: About = About {
        name: "apply_preview",
        title: "Apply a preview",
        description: "Write exactly what edit_preview or diagnostics showed, or some hunks of it.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };
}

impl Tool for ApplyPreview {
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered> {
        if call.effort == Effort::Quick {
            // The call may wait for another one with the same handle.
            return Err(Unanswered::NotQuick);
        }
        let origin = call.origin(Self::ABOUT, given.raw());
        match given.read().map_err(NotCommitted::from).and_then(|asked| apply(call, &origin, asked)) {
            Ok(outcome) => Ok(Answer::from_outcome(outcome, Tense::Done)),
            Err(not_committed) => Answer::not_committed_for(not_committed, call.audience()),
        }
    }
}

/// Returns what a person has done with a preview on a page of ours, if they have.
fn decided_elsewhere(call: &Call<'_>, handle: &str) -> Option<Result<Outcome, NotCommitted>> {
    let word = call.workspace.reviewables()?.word(handle).filter(|word| !word.by_client)?;
    let PreviewWord { edit, left_out, by_hand, comment, .. } = word;
    let Some(edit) = edit else {
        return Some(Err(Problem::new(Kind::ApprovalDenied { release: None, comment }).into()));
    };
    let Ok(edited) = call.workspace.past_edits().find(&edit, call.caller.visible_session()) else {
        return Some(Err(Problem::new(Kind::MaybeRepeated { edit, has_key: false }).into()));
    };
    let version = |name: &String| match call.workspace.files().fingerprint(name) {
        Fingerprint::Text(version) => Some(version),
        _ => None,
    };
    let versions = edited.files.iter().map(|file| (file.name.clone(), version(&file.name))).collect();
    let is_undone = edited.undone_by.is_some();
    let mut outcome =
        Outcome::repeated(&Repeat { tool: ApplyPreview::ABOUT.name.to_owned(), edited, versions });
    let notes = outcome.notes.get_or_insert_default();
    notes.push(messages::approval::applied_by_person(&left_out, is_undone, &comment));
    notes.extend(by_hand);
    Some(Ok(outcome))
}

fn apply(call: &Call<'_>, origin: &Origin, mut asked: ApplyPreview) -> Result<Outcome, NotCommitted> {
    // The review page says behind the handle what it has shown.
    let shown = asked.preview.find(':').map(|at| asked.preview.split_off(at)[1..].trim().to_owned());
    if call.door == Door::Client
        && let Some(decided) = decided_elsewhere(call, asked.preview.trim())
    {
        return decided;
    }
    let state = match call.previews.find(call.caller.owner(), &asked.preview) {
        Ok(state) => state,
        Err(_) => {
            // It may have been applied before this server was started.
            call.workspace.check_not_made(&call.context(origin))?;
            kept_preview::find(call, asked.preview.trim())?
        }
    };
    // The lock is held while applying: a second call with the same handle waits here for the first one's outcome.
    let mut state = state.lock();
    let preview = match std::mem::replace(&mut *state, PreviewState::Lost) {
        PreviewState::Waiting(preview) => *preview,
        PreviewState::Used(outcome, hunks) => {
            let same = hunks == asked.hunks;
            *state = PreviewState::Used(outcome.clone(), hunks);
            return if same { Ok(outcome.again()) } else { Err(Problem::new(used_up()).into()) };
        }
        PreviewState::Lost => return Err(Problem::new(Kind::UnknownPreview).into()),
    };
    let keep = |preview| PreviewState::Waiting(Box::new(preview));
    // A person applies what they see: another page, or a new plan, may have put something else under the handle.
    let is_shown = match &shown {
        Some(shown) => *shown == preview.digest(),
        None => call.door == Door::Client,
    };
    if !is_shown {
        *state = keep(preview);
        let message = "it would not make what was shown, since it was planned anew or written by hand elsewhere; look at it \
                       again";
        return Err(
            Problem::new(Kind::InvalidArgument { name: "preview".into(), message: message.into() }).into()
        );
    }
    if let Some(hunks) = &asked.hunks
        && let Err(problem) = preview.has_hunks(hunks)
    {
        *state = keep(preview);
        return Err(problem.into());
    }
    let hunks = asked.hunks.as_deref();
    let left_out = left_out(&preview, hunks);
    let by_hand = by_hand(&preview, hunks);
    let applied = call.workspace.apply(preview, hunks, &call.context(origin));
    let outcome = match applied {
        Ok(report) => {
            let mut outcome = call.done(&report);
            if call.door == Door::Client && !by_hand.is_empty() {
                outcome.notes.get_or_insert_default().extend(by_hand.iter().cloned());
            }
            tell_elsewhere(
                call,
                &asked,
                PreviewWord { left_out, by_hand, ..PreviewWord::default() },
                &report,
            );
            outcome
        }
        Err((not_committed, Some(unused))) => {
            *state = keep(*unused);
            return Err(not_committed);
        }
        Err((not_committed, None)) => Outcome::failure_for(&not_committed.into_problems(), call.audience()),
    };
    *state = PreviewState::Used(Box::new(outcome.clone()), asked.hunks);
    Ok(outcome)
}

/// Returns the hunks of a preview that are not among these, where these are not all.
fn left_out(preview: &Preview, hunks: Option<&[usize]>) -> Vec<usize> {
    let Some(hunks) = hunks else { return Vec::new() };
    let all = preview.plan().files().iter().flat_map(|file| &file.hunks).map(|hunk| hunk.number);
    all.filter(|number| !hunks.contains(number)).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns what a person has written by hand of what is applied, in words for the client.
fn by_hand(preview: &Preview, hunks: Option<&[usize]>) -> Vec<String> {
    let is_theirs =
        |number: &usize| preview.is_by_hand(*number) && hunks.is_none_or(|hunks| hunks.contains(number));
    let told = |file: &FilePlan| {
        let parts = diff::parts(file).into_iter().filter(|part| part.numbers.iter().any(is_theirs));
        let lines = |part: DiffPart| {
            let body = part.hunk.as_ref().map_or("", |hunk| hunk.body());
            messages::approval::written_by_hand(&part.numbers, &file.name, body)
        };
        parts.map(lines).collect::<Vec<_>>()
    };
    preview.plan().files().iter().flat_map(told).collect()
}

/// Leaves word that a preview was applied: a person's for the process that made it, and a client's for who would look at it.
fn tell_elsewhere(call: &Call<'_>, asked: &ApplyPreview, word: PreviewWord, report: &Report) {
    let (handle, Some(reviewables)) = (asked.preview.trim(), call.workspace.reviewables()) else { return };
    match (call.door, &report.edit) {
        (Door::Client, None) => reviewables.forget(handle),
        // Nobody can look at one that was not left for others.
        (Door::Client, Some(_)) if reviewables.find(handle).is_none() => {}
        (Door::Person, None) => {}
        (door, Some(edit)) => {
            let (edit, hunks) = (Some(edit.clone()), asked.hunks.clone());
            let word = PreviewWord { edit, hunks, by_client: door == Door::Client, ..word };
            if let Err(error) = reviewables.say(handle, word) {
                tracing::warn!("nobody else is told that the preview was applied: {error}");
            }
        }
    }
}
