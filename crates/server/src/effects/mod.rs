//! What follows an edit: each part toggled, none of it able to delay or to undo what has happened.
//!
//! A commit tells of itself while its root is still locked. There, what follows is only begun: handed to a thread of its
//! own with all that it needs. The answer then says what was begun, `side_effects_fired`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use emend_workspace::{Landed, Report, Workspace};

/// What follows each edit of a workspace.
#[derive(Default)]
pub struct Effects {
    /// By the ids of edits whose outcomes have not been made yet.
    begun: Mutex<BTreeMap<String, Begun>>,
}

/// What was begun for an edit.
#[derive(Debug, Default)]
struct Begun {
    /// What is called so in the answer.
    fired: Vec<String>,
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Effects").finish_non_exhaustive()
    }
}

impl Effects {
    /// Nothing.
    #[must_use]
    pub fn none() -> Arc<Self> {
        Arc::default()
    }

    /// From now on follows the edits of this workspace.
    pub(crate) fn follow(self: &Arc<Self>, workspace: &Workspace) {
        let effects = Arc::downgrade(self);
        workspace.tell_edits(move |landed| {
            if let Some(effects) = effects.upgrade() {
                effects.begin(landed);
            }
        });
    }

    /// What was begun for this edit, as its answer names it.
    pub(crate) fn fired(&self, report: &Report) -> Vec<String> {
        let begun = report.edit.as_ref().and_then(|edit| self.locked().remove(edit));
        begun.map(|begun| begun.fired).unwrap_or_default()
    }

    /// Begins what follows an edit. Its root is locked.
    fn begin(&self, landed: &Landed<'_>) {
        let mut begun = Begun::default();
        if landed.report.is_recorded {
            begun.fired.push("history".to_owned());
        }
        if let Some(edit) = &landed.report.edit {
            self.locked().insert(edit.clone(), begun);
        }
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<String, Begun>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
