//! The tool `revise`: a person's own text in place of what a hunk of a preview would write.
//!
//! The preview keeps its handle, so that whoever applies it applies the person's text.

use emend_edit::plan::Revision;
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{Effort, NotCommitted, Origin};

use super::review::previewed;
use super::spec::{About, Effect, Given, Tool, ToolArguments};
use super::{Call, kept_preview};
use crate::answer::{Answer, Unanswered};
use crate::previews::PreviewState;
use crate::principal::Scope;
use crate::wire::Revise;

impl ToolArguments for Revise {
    const ABOUT: About = About {
        name: "revise",
        title: "Write a hunk by hand",
        description: "For the review page: a person's own text for a hunk of a preview.",
        effect: Effect::Decides,
        is_idempotent: true,
        is_core: false,
    };
}

impl Tool for Revise {
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered> {
        if call.effort == Effort::Quick {
            // The call may wait for one that applies the preview.
            return Err(Unanswered::NotQuick);
        }
        let origin = call.origin(Self::ABOUT, given.raw());
        match given.read().map_err(NotCommitted::from).and_then(|asked| revise(call, &origin, &asked)) {
            Ok(()) => Ok(Answer::text("The hunk has this text now. Nothing was written yet.\n".to_owned())),
            Err(NotCommitted::NotQuick) => Err(Unanswered::NotQuick),
            Err(why) => {
                let first = why.into_problems().into_iter().next();
                Ok(Answer::on_page(Err(first.unwrap_or_else(|| Problem::new(Kind::UnknownPreview)))))
            }
        }
    }
}

fn revise(call: &Call<'_>, origin: &Origin, asked: &Revise) -> Result<(), NotCommitted> {
    // Whoever applies the preview writes this text, so it takes what it would take to write it.
    if !call.scopes.has(Scope::Write) {
        let scope = Scope::Write.as_str();
        return Err(Problem::new(Kind::ScopeMissing { scope, what: "write a hunk by hand" }).into());
    }
    let Revise { preview: handle, path, hunk, old, count, text } = asked;
    let handle = handle.trim();
    let state = kept_preview::find(call, handle)?;
    let mut state = state.lock();
    let PreviewState::Waiting(preview) = &mut *state else {
        return Err(Problem::new(Kind::UnknownPreview).into());
    };
    let Some(text) = text else {
        **preview = previewed::without_revision(call, handle, path, *hunk)?;
        return Ok(());
    };
    let by = Revision { file: path, hunk: *hunk, first: *old, count: *count, text };
    **preview = call.workspace.revise(preview, &by, &call.context(origin))?;
    previewed::keep_revision(call, handle, preview, &by);
    Ok(())
}
