//! A patch of which a person chooses hunks at a terminal: planned once, shown part by part, and applied as it was shown or
//! not at all.

use std::cell::RefCell;

use serde_json::json;

use emend_threads::Mutex;
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::{Approval, EditContext, NotCommitted, Origin, Preview, Workspace};

use super::{Ask, Made, OwnedRequest, make_once_approved, origin, publish_outcome};
use crate::effects::Effects;
use crate::wire::ApplyPatch;

/// A patch that was planned and not applied.
#[derive(Debug)]
pub struct ProposedPatch {
    preview: Preview,
    origin: Origin,
}

/// What can be chosen or left: a hunk, or the hunks that cannot be taken apart.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The file; empty if the whole patch is one choice.
    pub file: String,
    /// The numbers of the hunks.
    pub hunks: Vec<usize>,
}

/// Plans a patch on behalf of `client`.
pub fn propose_patch(
    workspace: &Workspace,
    asked: ApplyPatch,
    client: &str,
) -> Result<ProposedPatch, Vec<Problem>> {
    let origin = origin(client, "apply_patch", &json!(asked))?;
    let request = OwnedRequest::patch(asked, origin.clone())?;
    let preview = request.run(workspace, None, |request, context| workspace.preview(request, context));
    Ok(ProposedPatch { preview: preview.map_err(NotCommitted::into_problems)?, origin })
}

impl ProposedPatch {
    /// Returns what can be chosen, in the order of the patch.
    #[must_use]
    pub fn choices(&self) -> Vec<Choice> {
        let can_be_taken = |choice: &Choice| self.preview.has_hunks(&choice.hunks).is_ok();
        let mut choices = Vec::new();
        for file in &self.preview.report().files {
            let choice = |hunks: Vec<usize>| Choice { file: file.name.clone(), hunks };
            let single: Vec<Choice> = file.hunks.iter().map(|hunk| choice(vec![hunk.number])).collect();
            if single.iter().all(can_be_taken) {
                choices.extend(single);
            } else {
                choices.push(choice(file.hunks.iter().map(|hunk| hunk.number).collect()));
            }
        }
        if choices.iter().all(can_be_taken) {
            return choices;
        }
        let all = choices.into_iter().flat_map(|choice| choice.hunks).collect();
        vec![Choice { file: String::new(), hunks: all }]
    }

    /// Returns what these hunks alone would do, and the patch.
    pub fn part(self, hunks: &[usize]) -> Result<(Made, Self), Vec<Problem>> {
        let (report, preview) = self.preview.part(hunks).map_err(|problem| vec![problem])?;
        Ok((Made::from_report(report), Self { preview, ..self }))
    }

    /// Applies these hunks, or all for `None`.
    pub fn apply(
        self,
        workspace: &Workspace,
        effects: &Effects,
        hunks: Option<&[usize]>,
        ask: &Ask<'_>,
    ) -> Result<Made, Vec<Problem>> {
        let Self { preview, origin } = self;
        let kept = RefCell::new(Some(preview));
        let make = |approval: Option<&Approval>| {
            // A plan that awaits approval comes back, and only such a one is made again.
            let Some(preview) = kept.take() else {
                let message = "The plan is gone. Nothing was changed.".into();
                return Err(vec![Problem::new(Kind::IoError { message, states: Vec::new() })].into());
            };
            let readings = Mutex::default();
            let context = EditContext { approval, ..EditContext::patient(&readings, &origin) };
            workspace.apply(preview, hunks, &context).map_err(|(why, preview)| {
                kept.replace(preview.map(|preview| *preview));
                why
            })
        };
        publish_outcome(workspace, &origin, || make_once_approved(workspace, effects, ask, make))
    }
}
