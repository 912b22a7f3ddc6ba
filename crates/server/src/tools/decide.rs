//! The tool `decide`: what a person says, on the review page, of an edit that waits for approval or of a preview.
//!
//! A client cannot tell a call of its page from one of its model. So it counts only where a person is known to be at the other
//! end ([`Door::Person`]), or with a secret that no model was shown ([`crate::app_approval`]).

use emend_workspace::Effort;
use emend_workspace::approval::PersonsDecision;
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::reviewable::PreviewWord;

use super::review::waiting;
use super::spec::{About, Effect, Given, Tool, ToolArguments};
use super::{Call, kept_preview};
use crate::answer::{Answer, Unanswered};
use crate::door::Door;
use crate::wire::Decide;

/// The most bytes of a comment.
const COMMENT: usize = 4_000;

impl ToolArguments for Decide {
    const ABOUT: About = About {
        name: "decide",
        title: "Say what becomes of what waits",
        description: "For the review page: a person's yes or no. It needs a secret that only the page has.",
        effect: Effect::Decides,
        is_idempotent: true,
        is_core: false,
    };
}

impl Tool for Decide {
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered> {
        if call.effort == Effort::Quick {
            return Err(Unanswered::NotQuick);
        }
        Ok(Answer::on_page(given.read().and_then(|asked| decide(call, &asked))))
    }
}

fn decide(call: &Call<'_>, asked: &Decide) -> Result<String, Problem> {
    let comment = asked.comment.as_deref().unwrap_or_default().trim();
    if comment.len() > COMMENT {
        return Err(invalid("comment", "it is too long"));
    }
    match (&asked.approval, &asked.preview) {
        (Some(id), None) => on_approval(call, asked, id.trim(), comment),
        (None, Some(handle)) => on_preview(call, asked, handle.trim(), comment),
        _ => Err(invalid("approval", "give either approval or preview")),
    }
}

fn on_approval(call: &Call<'_>, asked: &Decide, id: &str, comment: &str) -> Result<String, Problem> {
    let is_persons = match call.door {
        Door::Person => true,
        Door::Client => asked.secret.as_ref().is_some_and(|secret| call.app_approval.take(secret, id)),
    };
    if !is_persons {
        let how = "a person decides this: they run `emend approve` or `emend review` in a terminal";
        return Err(invalid("secret", how));
    }
    let waiting = waiting::find(call, id)?;
    if asked.is_allowed && waiting.word == Some(PersonsDecision::No) {
        return Err(invalid(
            "approval",
            "it was declined meanwhile; whoever declined it can say yes in a terminal",
        ));
    }
    if asked.is_allowed && !waiting::is_whole(&waiting) {
        let how = format!("a part of it is too long to be shown here: `emend approve {id}` shows all of it");
        return Err(invalid("approval", &how));
    }
    let approvals = call.workspace.approvals().ok_or_else(|| invalid("approval", "nothing can wait here"))?;
    let said = match asked.is_allowed {
        true => approvals
            .allow(&waiting, comment)
            .map(|()| "Approved, for a day and for one time. The same call makes it now.\n"),
        false => approvals.deny(&waiting, comment).map(|()| "Declined. Nothing was changed.\n"),
    };
    if let (Ok(_), Some(principal)) = (&said, call.caller.principal()) {
        // Whoever runs a server for several people can see here who has decided.
        tracing::info!(
            id,
            by = principal.name(),
            tenant = principal.tenant(),
            asked.is_allowed,
            "a waiting edit was decided on"
        );
    }
    said.map(str::to_owned).map_err(|error| invalid("approval", &error.to_string()))
}

/// Records what a person says of a preview, for the client that has asked for it. Applying it is the matter of apply_preview.
fn on_preview(call: &Call<'_>, asked: &Decide, handle: &str, comment: &str) -> Result<String, Problem> {
    let reviewables = call.workspace.reviewables().filter(|_| call.door == Door::Person);
    let Some(reviewables) = reviewables else {
        return Err(invalid("preview", "a preview is declined by not applying it"));
    };
    if kept_preview::of_here(call, handle).is_none() {
        return Err(invalid(
            "preview",
            "no preview of this workspace waits under this handle: it may have been applied",
        ));
    }
    if asked.is_dismissed == Some(true) {
        reviewables.forget(handle);
        return Ok("It is not listed any more.\n".to_owned());
    }
    let before = reviewables.word(handle);
    if !asked.is_allowed && before.as_ref().is_some_and(|word| word.edit.is_some()) {
        return Err(invalid(
            "preview",
            "it was applied, so there is nothing to decline; undo_edit takes it back",
        ));
    }
    if asked.is_allowed && before.as_ref().is_none_or(|word| word.edit.is_none()) {
        return Err(invalid("is_allowed", "apply_preview applies a preview"));
    }
    let word = PreviewWord { comment: comment.to_owned(), ..before.unwrap_or_default() };
    reviewables.say(handle, word).map_err(|error| invalid("preview", &error.to_string()))?;
    Ok("The client is told when it asks.\n".to_owned())
}

fn invalid(name: &str, message: &str) -> Problem {
    Problem::new(Kind::InvalidArgument { name: name.into(), message: message.into() })
}
