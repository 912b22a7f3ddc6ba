//! Finds previews by their handles, also those that another process has left in the state folder.

use std::sync::Arc;

use emend_threads::Mutex;
use emend_workspace::problem::{Kind, Problem, SincePlanned};
use emend_workspace::reviewable::Reviewable;
use emend_workspace::{Fingerprint, NotCommitted};

use super::Call;
use super::making::replan;
use crate::door::Door;
use crate::previews::PreviewState;
use crate::principal::Principal;

/// Returns the state of a preview. One that the same client has made with another process, since its server was started again
/// or another one serves it now, is planned anew, and must come out the same.
pub(super) fn find(call: &Call<'_>, handle: &str) -> Result<Arc<Mutex<PreviewState>>, NotCommitted> {
    let unknown = match call.previews.find(call.caller.owner(), handle) {
        Ok(found) => return Ok(found),
        Err(unknown) => unknown,
    };
    let principal = call.caller.principal().map(Principal::key);
    let is_theirs = |asked: &Reviewable| {
        asked.principal.as_deref() == principal && call.previews.are_good_since(asked.time())
    };
    let asked = of_here(call, handle).filter(|asked| call.door == Door::Client && is_theirs(asked));
    let Some(asked) = asked else { return Err(unknown.into()) };
    if asked.word.is_some() {
        // The call with which they applied it would have been known.
        return Err(Problem::new(used_up()).into());
    }
    if let Some((name, since)) = changed_since(call, &asked).next() {
        return Err(Problem::new(Kind::StalePreview { since }).at(name).into());
    }
    match replan(call, &asked, &asked.versions, &asked.revisions) {
        Ok(preview) if asked.is_same_as(&preview) => {
            Ok(call.previews.take_over(handle, call.caller.owner(), preview)?)
        }
        Ok(_) => Err(unknown.into()),
        Err(problems) => Err(problems.into()),
    }
}

/// Returns the preview of this workspace that another process has left under a handle.
pub(super) fn of_here(call: &Call<'_>, handle: &str) -> Option<Reviewable> {
    let found = call.workspace.reviewables()?.find(handle)?;
    call.workspace.roots().all().iter().any(|root| root.path == found.root).then_some(found)
}

/// Returns the files that are no longer as a preview found them, of those that were there.
pub(super) fn changed_since<'a>(
    call: &Call<'_>,
    asked: &'a Reviewable,
) -> impl Iterator<Item = (&'a str, SincePlanned)> {
    asked.versions.iter().filter_map(|(name, then)| match call.workspace.files().fingerprint(name) {
        Fingerprint::Text(now) if now.hex() == *then => None,
        Fingerprint::Text(now) => Some((name.as_str(), SincePlanned::Changed(now))),
        _ => Some((name.as_str(), SincePlanned::Gone)),
    })
}

/// The problem of a used handle that is applied with other hunks, for which its first outcome would be no answer.
pub(super) fn used_up() -> Kind {
    let message = "this preview was applied before with other hunks; call edit_preview again for the rest";
    Kind::InvalidArgument { name: "hunks".into(), message: message.into() }
}
