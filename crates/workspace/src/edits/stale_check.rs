//! The stale check: whether the client has seen the files of a request as they are, and what becomes of those that changed
//! since: refused, merged, or followed by their lines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use emend_edit::Text;
use emend_edit::find::FindLimits;
use emend_edit::patch::Patch;
use emend_edit::plan::{self, Plan};

use crate::edits::gather::{ClaimedVersions, Gathered};
use crate::edits::landing::Places;
use crate::edits::merge;
use crate::edits::readings::{Reading, Readings};
use crate::files::note::Note;
use crate::files::report::short_diff;
use crate::files::roots::WorkspacePath;
use crate::files::snapshot::Snapshot;
use crate::policy::{OnChange, RequireRead};
use crate::problem::{Again, Kind, Problem};

/// The result of the stale check.
pub(crate) struct StaleCheck {
    /// Whether there was anything to check.
    pub(crate) checked: bool,
    /// The files that changed since they were read; the plan decides about them.
    pub(crate) changed: Vec<String>,
    /// The files that changed since a version whose line numbers are all that the request says of them.
    pub(crate) numbered: Vec<String>,
}

impl Gathered {
    /// Runs the stale check: whether the client knows the current files, or names their versions.
    pub(crate) fn check_seen(
        &self,
        patch: &Patch,
        claimed: &ClaimedVersions,
        older: &BTreeSet<String>,
        readings: &mut Readings,
    ) -> Result<StaleCheck, Vec<Problem>> {
        let mut stale_check = StaleCheck { checked: false, changed: Vec::new(), numbered: Vec::new() };
        let mut problems = Vec::new();
        let whole = self.replaced(patch);
        let by_number: BTreeSet<&String> =
            patch.paths_by_line_number().filter_map(|path| self.names.get(path)).collect();
        for (name, (path, snapshot)) in &self.files {
            let claimed = claimed.get(name).map(String::as_str);
            let terms = path.root.policy.terms();
            if claimed.is_none() && older.contains(name) && self.is_numbered(patch, name) {
                // Planning decides whether the lines can be followed.
                stale_check.numbered.push(name.clone());
                continue;
            }
            if claimed.is_none() && !terms.require_mtime_check {
                continue;
            }
            let older = snapshot.as_ref().and_then(|snapshot| readings.older(name, snapshot));
            let may_merge = terms.on_change == OnChange::Merge && claimed.is_none() && !whole.contains(name);
            if may_merge && older.is_some() {
                stale_check.changed.push(name.clone());
                continue;
            }
            let again = if whole.contains(name) { Again::Read } else { Again::SameCall };
            match readings.check(name, snapshot.as_ref(), claimed, again) {
                Ok(had_something) => stale_check.checked |= had_something,
                Err(mut problem) => {
                    if let Kind::StaleFile { again: again @ Again::NewVersion, .. } = &mut *problem.kind
                        && by_number.contains(name)
                    {
                        *again = Again::NewNumbers;
                    }
                    problems.push(problem);
                }
            }
        }
        if problems.is_empty() { Ok(stale_check) } else { Err(problems) }
    }

    /// Decides about files that changed since they were read: refuses those with a change in the way of the plan, and
    /// returns notes with the changes of the others.
    pub(crate) fn check_changed(
        &self,
        patch: &Patch,
        limits: &FindLimits,
        plan: &Plan,
        stale_check: &StaleCheck,
        readings: &mut Readings,
    ) -> Result<Vec<Note>, Vec<Problem>> {
        let changed =
            || stale_check.changed.iter().filter_map(|name| Some((name, self.files[name].1.as_ref()?)));
        let mut problems = Vec::new();
        // The files as the client has read them, to find out what the request was meant to do.
        let mut sources = self.sources.clone();
        // Looked up once, because it may be forgotten meanwhile.
        let older: BTreeMap<&String, Arc<Text>> =
            changed().filter_map(|(name, now)| Some((name, readings.older(name, now)?))).collect();
        for (name, older) in &older {
            sources.set_text(name, Arc::clone(older));
        }
        let meant =
            if stale_check.changed.is_empty() { None } else { plan::build(patch, &sources, limits).ok() };
        for (name, now) in changed() {
            let is_elsewhere = older.get(name).zip(meant.as_ref()).is_some_and(|(older, meant)| {
                merge::is_elsewhere(plan, name, older, &now.text)
                    && Places::new(name, older, &now.text).have_same_spans(meant, plan)
            });
            if !is_elsewhere && let Err(problem) = readings.check(name, Some(now), None, Again::SameCall) {
                problems.push(problem);
            }
        }
        if !problems.is_empty() {
            return Err(self.offer_again(patch, limits, readings, problems));
        }
        let note = |(name, now): (&String, &Snapshot)| {
            let diff = short_diff(name, older.get(name)?, &now.text);
            Some(Note::ChangedElsewhere { file: name.clone(), diff })
        };
        Ok(changed().filter_map(note).collect())
    }

    /// Checks that the client has read the files, if the policy requires a reading for every edit.
    pub(crate) fn check_read(
        &self,
        claimed: &ClaimedVersions,
        stale_check: &StaleCheck,
        readings: &Readings,
    ) -> Vec<Problem> {
        let check = |(name, (path, snapshot)): (&String, &(WorkspacePath, Option<Snapshot>))| {
            let wanted = path.root.policy.terms().require_read == RequireRead::Always;
            let is_changed = stale_check.changed.contains(name) || stale_check.numbered.contains(name);
            if !wanted || is_changed && readings.of(name).is_some_and(Reading::is_read) {
                return None;
            }
            readings.check_read(name, snapshot.as_ref()?, claimed.get(name).map(String::as_str)).err()
        };
        self.files.iter().filter_map(check).collect()
    }

    /// Checks that the client may replace or delete whole files; a match is not enough for that.
    pub(crate) fn check_whole(
        &self,
        discarded: impl IntoIterator<Item = String>,
        claimed: &ClaimedVersions,
        readings: &Readings,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        for name in discarded {
            if let Some((_, Some(snapshot))) = self.files.get(&name)
                && let Err(problem) =
                    readings.check_whole(&name, snapshot, claimed.get(&name).map(String::as_str))
            {
                problems.push(problem);
            }
        }
        problems
    }

    /// Checks that line numbers refer to a version that the call names.
    pub(crate) fn check_numbers(&self, patch: &Patch, claimed: &ClaimedVersions) -> Vec<Problem> {
        let names = patch.paths_by_line_number().filter_map(|path| self.names.get(path));
        names
            .filter(|name| !claimed.contains_key(*name))
            .filter_map(|name| {
                let (_, snapshot) = self.files.get(name)?;
                let text = &snapshot.as_ref()?.text;
                let current = Some(text.version()).filter(|_| !text.raw().is_empty())?;
                Some(Problem::new(Kind::NumbersNeedVersion { current }).at(name))
            })
            .collect()
    }
}
