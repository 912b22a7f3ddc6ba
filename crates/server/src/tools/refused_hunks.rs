//! Requests of several hunks that were refused because some did not fit. They are kept for some minutes, so that the next
//! call sends only those hunks again. All are then planned anew, as one edit, in their old order.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::{Duration, Instant};

use emend_edit::patch::Patch;
use emend_threads::Mutex;
use emend_workspace::problem::{Kind, Problem};
use serde_json::{Value, json};

use super::Call;
use super::edit_request::EditRequest;
use crate::session::Owner;

/// The time that a request is kept, in minutes.
const MINUTES: u64 = 10;
/// The number of requests that are kept for all callers, and their bytes; the oldest go first.
const REQUESTS: usize = 50;
const BYTES: usize = 16 << 20;
/// Shorter requests are sent again as soon as this is explained.
const WORTH_IT: usize = 600;

#[derive(Debug, Default)]
pub(crate) struct RefusedHunks(Mutex<Vec<Kept>>);

#[derive(Debug)]
struct Kept {
    handle: String,
    owner: String,
    since: Instant,
    patch: Patch,
    /// The hunks that did not fit.
    failed: BTreeSet<usize>,
    versions: Vec<(String, String)>,
    /// The arguments of the call.
    arguments: String,
}

impl RefusedHunks {
    /// Keeps a request that was refused for these reasons, if all of them are hunks that can be sent alone. Returns what the
    /// caller should know.
    pub(super) fn keep(&self, owner: &Owner, asked: &EditRequest, problems: &[Problem]) -> Option<String> {
        let failed: BTreeSet<usize> = problems.iter().map(|problem| problem.hunk).collect::<Option<_>>()?;
        let others = asked.patch.hunks().checked_sub(failed.len()).filter(|others| *others > 0)?;
        if !asked.can_be_fixed || asked.origin.request.len() < WORTH_IT || asked.origin.request.len() > BYTES
        {
            return None;
        }
        let mut random = [0; 6];
        getrandom::fill(&mut random).ok()?;
        let mut handle = String::from("kept-");
        for byte in random {
            let _ = write!(handle, "{byte:02x}");
        }
        let mut patch = asked.patch.clone();
        // By the next call, the file may have other lines, and the caller may have read these: the old numbers choose nothing.
        patch.keep_hints(|_, _| false);
        let kept = Kept {
            handle: handle.clone(),
            owner: owner.key(),
            since: Instant::now(),
            patch,
            failed,
            versions: asked.versions.clone().into_iter().collect(),
            arguments: asked.origin.request.clone(),
        };
        let these = match kept.failed.len() {
            1 => "only that hunk, fixed,".to_owned(),
            count => format!("only those {count} hunks, fixed and in the same order,"),
        };
        let mut all = self.0.lock();
        all.push(kept);
        while all.len() > REQUESTS || all.iter().map(|kept| kept.arguments.len()).sum::<usize>() > BYTES {
            all.remove(0);
        }
        let rest =
            if others == 1 { "The other hunk is".into() } else { format!("The other {others} hunks are") };
        Some(format!(
            "{rest} kept for {MINUTES} minutes: send {these} with \"kept\": \"{handle}\", and all are made as one edit."
        ))
    }

    /// Puts the hunks of this request into the kept one.
    pub(super) fn complete(
        &self,
        call: &Call<'_>,
        handle: &str,
        new: EditRequest,
    ) -> Result<EditRequest, Problem> {
        let invalid = |message: String| Problem::new(Kind::InvalidArgument { name: "kept".into(), message });
        let mut all = self.0.lock();
        all.retain(|kept| kept.since.elapsed() < Duration::from_secs(MINUTES * 60));
        let owner = call.caller.owner().key();
        let kept = all.iter().find(|kept| kept.handle == handle.trim() && kept.owner == owner);
        let kept =
            kept.ok_or_else(|| invalid("nothing is kept under this handle any more; send all hunks".into()))?;
        let patch = kept.patch.with_hunks(&kept.failed, &new.patch).ok_or_else(|| {
            let hunks: Vec<String> = kept.failed.iter().map(usize::to_string).collect();
            invalid(format!(
                "it takes what replaces hunk {} of the refused call, in that order and under the same paths, and no more; or \
                 leave kept out and send all hunks",
                hunks.join(", ")
            ))
        })?;
        let mut versions = new.versions;
        for (path, version) in &kept.versions {
            versions.entry(path.clone()).or_insert_with(|| version.clone());
        }
        // The history shows all that was asked for.
        let mut request: Value = serde_json::from_str(&new.origin.request).unwrap_or_default();
        let refused: Value = serde_json::from_str(&kept.arguments).unwrap_or_default();
        if let Some(arguments) = request.as_object_mut() {
            arguments.insert("kept".into(), json!({"arguments": refused, "replaced_hunks": kept.failed}));
        }
        let mut origin = new.origin;
        origin.request = request.to_string();
        Ok(EditRequest { patch, versions, origin, ..new })
    }
}
