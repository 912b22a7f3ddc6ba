//! Requests of several hunks that were refused because some did not fit. They are kept for some minutes, so that the next
//! call sends only those hunks again. All are then planned anew, as one edit, in their old order.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::{Duration, Instant};

use emend_edit::patch::Patch;
use emend_threads::Mutex;
use emend_workspace::problem::{Kind, Problem};
use serde_json::{Value, json};

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

/// A request that can be kept, or be completed by a kept one.
#[derive(Debug)]
pub(crate) struct Hunks {
    pub(crate) patch: Patch,
    pub(crate) versions: BTreeMap<String, String>,
    /// The arguments of the call.
    pub(crate) arguments: String,
}

#[derive(Debug)]
struct Kept {
    handle: String,
    owner: String,
    since: Instant,
    /// The hunks that did not fit.
    failed: BTreeSet<usize>,
    hunks: Hunks,
    /// The arguments of the call that has completed it.
    completed_by: Option<String>,
}

impl RefusedHunks {
    /// Keeps a request that was refused for these reasons, if all of them are hunks that can be sent alone. Returns what the
    /// caller should know.
    pub(crate) fn keep(&self, owner: &Owner, mut hunks: Hunks, problems: &[Problem]) -> Option<String> {
        let failed: BTreeSet<usize> = problems.iter().map(|problem| problem.hunk).collect::<Option<_>>()?;
        let others = hunks.patch.hunks().checked_sub(failed.len()).filter(|others| *others > 0)?;
        // Numbers alone name lines of one version, which may be an old one by the next call.
        let is_by_number = hunks.patch.paths_by_line_number().next().is_some();
        if is_by_number || !(WORTH_IT..=BYTES).contains(&hunks.arguments.len()) {
            return None;
        }
        let mut random = [0; 6];
        getrandom::fill(&mut random).ok()?;
        let mut handle = String::from("kept-");
        for byte in random {
            let _ = write!(handle, "{byte:02x}");
        }
        let these = match failed.len() {
            1 => "only that hunk, fixed,".to_owned(),
            count => format!("only those {count} hunks, fixed and in the same order,"),
        };
        let rest =
            if others == 1 { "The other hunk is".into() } else { format!("The other {others} hunks are") };
        let said = format!(
            "{rest} kept for {MINUTES} minutes: send {these} with \"kept\": \"{handle}\", and all are made as one edit."
        );
        // By the next call, the file may have other lines, and the caller may have read these: the old numbers choose nothing.
        hunks.patch.keep_hints(|_, _| false);
        let mut all = self.0.lock();
        all.push(Kept {
            handle,
            owner: owner.key(),
            since: Instant::now(),
            failed,
            hunks,
            completed_by: None,
        });
        while all.len() > REQUESTS || all.iter().map(|kept| kept.hunks.arguments.len()).sum::<usize>() > BYTES
        {
            all.remove(0);
        }
        Some(said)
    }

    /// Records that the call with these arguments has made the kept request.
    pub(crate) fn complete_by(&self, owner: &Owner, handle: &str, arguments: &str) {
        let owner = owner.key();
        let mut all = self.0.lock();
        let kept = all.iter_mut().find(|kept| kept.handle == handle.trim() && kept.owner == owner);
        if let Some(kept) = kept {
            kept.completed_by = Some(arguments.to_owned());
        }
    }

    /// Puts these hunks into the kept request.
    pub(crate) fn complete(&self, owner: &Owner, handle: &str, new: Hunks) -> Result<Hunks, Problem> {
        let invalid = |message: String| Problem::new(Kind::InvalidArgument { name: "kept".into(), message });
        let mut all = self.0.lock();
        all.retain(|kept| kept.since.elapsed() < Duration::from_secs(MINUTES * 60));
        let owner = owner.key();
        let kept = all.iter().find(|kept| kept.handle == handle.trim() && kept.owner == owner);
        let gone = || {
            let message = "nothing is kept under this handle any more; unless edit_history has that edit, send all hunks";
            invalid(message.into())
        };
        let Kept { failed, hunks, completed_by, .. } = kept.ok_or_else(gone)?;
        // The same call again is known as such; any other one would make the other hunks twice.
        if completed_by.as_ref().is_some_and(|by| *by != new.arguments) {
            return Err(invalid("that request was completed and made; send a call without it".into()));
        }
        let patch = hunks.patch.with_hunks(failed, &new.patch).ok_or_else(|| {
            let hunks: Vec<String> = failed.iter().map(usize::to_string).collect();
            invalid(format!(
                "it takes what replaces hunk {} of the refused call, in that order and under the same paths, and no more; or \
                 leave kept out and send all hunks",
                hunks.join(", ")
            ))
        })?;
        let mut versions = hunks.versions.clone();
        versions.extend(new.versions);
        // The history shows all that was asked for.
        let mut arguments: Value = serde_json::from_str(&new.arguments).unwrap_or_default();
        let refused: Value = serde_json::from_str(&hunks.arguments).unwrap_or_default();
        if let Some(arguments) = arguments.as_object_mut() {
            arguments.insert("kept".into(), json!({"arguments": refused, "replaced_hunks": failed}));
        }
        Ok(Hunks { patch, versions, arguments: arguments.to_string() })
    }
}
