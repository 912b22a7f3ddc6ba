//! The edit that a call of an edit tool asks for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use emend_edit::patch::Patch;
use emend_workspace::problem::{Again, Kind, Problem};
use emend_workspace::reviewable::Reviewable;
use emend_workspace::{Mode, NotCommitted, Origin, Preview, Request};

use super::Call;
use crate::door::Door;
use crate::previews::new_handle;
use crate::refused_hunks::Hunks;
use crate::wire::{ApplySketch, Outcome};

/// The edit that a call of an edit tool asks for.
pub(super) struct EditRequest {
    pub(super) patch: Patch,
    pub(super) versions: BTreeMap<String, String>,
    /// Whether the places and versions are those that a search of the tool has found.
    pub(super) places_are_found: bool,
    /// How many distinct changes it has, and the numbers of hunks that show them, if that is enough.
    pub(super) samples: Option<(usize, BTreeSet<usize>)>,
    /// Whether the edit is only checked.
    pub(super) validate_only: bool,
    /// The sketch that the edit is, which an apply model may read where it is uncertain.
    pub(super) sketch: Option<ApplySketch>,
    /// Whether a call may fix the hunks that do not fit, and leave out the others.
    pub(super) can_be_fixed: bool,
    /// The handle of the refused edit that this one completes, and the arguments of this call.
    pub(super) completes: Option<(String, String)>,
    /// Why the edit is not made, if it is not the one that the call expects.
    pub(super) refusal: Option<Problem>,
    /// Notes for its reader.
    pub(super) notes: Vec<String>,
    pub(super) origin: Origin,
}

impl EditRequest {
    /// Creates a request that names no versions.
    pub(super) fn new(patch: Patch, origin: Origin) -> Self {
        Self {
            patch,
            versions: BTreeMap::new(),
            places_are_found: false,
            samples: None,
            validate_only: false,
            can_be_fixed: false,
            completes: None,
            sketch: None,
            refusal: None,
            notes: Vec::new(),
            origin,
        }
    }

    /// Creates a request for one file, with the version that the call names, if any.
    pub(super) fn for_file(patch: Patch, path: &str, version: Option<String>, origin: Origin) -> Self {
        let versions = version.into_iter().map(|version| (path.to_owned(), version)).collect();
        Self { versions, ..Self::new(patch, origin) }
    }

    /// Keeps a refused edit, if the next call may fix the hunks that did not fit. Returns what the caller should know.
    pub(super) fn keep(&self, call: &Call<'_>, problems: &[Problem]) -> Option<String> {
        self.can_be_fixed
            .then(|| call.previews.refused_hunks.keep(call.caller.owner(), self.hunks(), problems))?
    }

    /// Puts the hunks of this edit into a refused one.
    pub(super) fn complete(mut self, call: &Call<'_>, handle: &str) -> Result<Self, Problem> {
        self.completes = Some((handle.to_owned(), self.origin.request.clone()));
        let hunks = call.previews.refused_hunks.complete(call.caller.owner(), handle, self.hunks())?;
        Hunks { patch: self.patch, versions: self.versions, arguments: self.origin.request } = hunks;
        Ok(self)
    }

    fn hunks(&self) -> Hunks {
        let Self { patch, versions, origin, .. } = self;
        Hunks { patch: patch.clone(), versions: versions.clone(), arguments: origin.request.clone() }
    }

    /// Returns the request to the workspace.
    pub(super) fn request(&self) -> Request<'_> {
        Request { patch: &self.patch, versions: &self.versions }
    }

    /// Plans the edit without making it, and keeps the plan for `apply_preview`. In preview mode no edit is ever applied, so
    /// there is no handle.
    pub(super) fn preview(mut self, call: &Call<'_>) -> Result<Outcome, NotCommitted> {
        if let Some(refusal) = self.refusal.take() {
            return Err(self.refused(call, refusal));
        }
        let preview = call.workspace.preview(&self.request(), &call.context(&self.origin))?;
        let mut outcome = Outcome::success(preview.report());
        outcome.preview = kept(call, preview, &self.origin)?;
        Ok(with_notes(outcome, self.notes))
    }

    /// Makes the edit.
    pub(super) fn make(&mut self, call: &Call<'_>) -> Result<Outcome, NotCommitted> {
        let context = call.context(&self.origin);
        if let Some(refusal) = self.refusal.take() {
            // If the same call was made before, what it expects is not there any more.
            call.workspace.check_not_made(&context)?;
            return Err(self.refused(call, refusal));
        }
        let report = call.workspace.edit(&self.request(), &context);
        let report = report.map_err(|why| if self.places_are_found { to_be_retried(why) } else { why })?;
        if let Some((handle, arguments)) = &self.completes {
            call.previews.refused_hunks.complete_by(call.caller.owner(), handle, arguments);
        }
        let mut outcome = call.done(&report);
        if let Some(samples) = &self.samples {
            outcome.keep_samples(&report, samples);
        }
        Ok(with_notes(outcome, std::mem::take(&mut self.notes)))
    }

    /// Returns why the edit is not made, with a preview of what it would have done.
    fn refused(&self, call: &Call<'_>, mut refusal: Problem) -> NotCommitted {
        if let Kind::UnexpectedPlaces(found) = &mut *refusal.kind {
            let preview = call.workspace.preview(&self.request(), &call.context(&self.origin));
            match preview.and_then(|preview| Ok(kept(call, preview, &self.origin)?)) {
                Ok(handle) => found.preview = handle,
                Err(why) => return why,
            }
        }
        refusal.into()
    }
}

/// Keeps a preview under a handle, also for a person who looks at it from another process.
pub(super) fn kept(call: &Call<'_>, preview: Preview, origin: &Origin) -> Result<Option<String>, Problem> {
    let Some(handle) = handle(call)? else { return Ok(None) };
    // Who wants no history wants no calls to be kept, either.
    if call.door == Door::Client && call.workspace.past_edits().are_tracked() {
        let (tool, arguments) = call_for(&preview, origin);
        let reviewable = Reviewable::of(&preview, &handle, tool, arguments);
        if let Some(Err(error)) = call.workspace.reviewables().map(|all| all.keep(&reviewable)) {
            tracing::warn!("emend review will not find this preview: {error}");
        }
    }
    call.previews.keep(&handle, call.caller.owner(), preview);
    Ok(Some(handle))
}

/// Keeps a preview under a handle for its caller alone. Of several that are offered, most are never looked at again.
pub(super) fn kept_for_caller(call: &Call<'_>, preview: Preview) -> Result<Option<String>, Problem> {
    let Some(handle) = handle(call)? else { return Ok(None) };
    call.previews.keep(&handle, call.caller.owner(), preview);
    Ok(Some(handle))
}

/// Returns a new handle; none where nothing is ever applied.
fn handle(call: &Call<'_>) -> Result<Option<String>, Problem> {
    match call.workspace.mode() {
        Mode::Preview | Mode::ReadOnly => Ok(None),
        _ => new_handle().map(Some),
    }
}

/// Returns the call that makes what a preview shows. What a model has written is written down, so that none is asked again.
fn call_for<'a>(preview: &Preview, origin: &'a Origin) -> (&'a str, String) {
    let written = origin.model.as_ref().and_then(|_| {
        let [file] = preview.plan().files() else { return None };
        let content = String::from_utf8(file.action.view()?.concat()).ok()?;
        Some(json!({"path": file.name, "content": content}).to_string())
    });
    match written {
        Some(arguments) => ("write_file", arguments),
        None => (&origin.tool, origin.request.clone()),
    }
}

fn with_notes(mut outcome: Outcome, notes: Vec<String>) -> Outcome {
    if !notes.is_empty() {
        outcome.notes.get_or_insert_default().extend(notes);
    }
    outcome
}

/// Turns a stale-file refusal into one that says: send the call again. The caller named no version; the file has changed
/// since it was found.
fn to_be_retried(mut why: NotCommitted) -> NotCommitted {
    if let NotCommitted::Problems(problems) = &mut why {
        for problem in problems {
            if let Kind::StaleFile { again: again @ Again::NewVersion, .. } = &mut *problem.kind {
                *again = Again::Retry;
            }
        }
    }
    why
}
