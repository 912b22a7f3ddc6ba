//! What follows an edit: each part toggled, none of it able to delay or to undo what has happened.
//!
//! A commit tells of itself while its root is still locked. There, what follows is only begun: handed to a thread of its
//! own with all that it needs. The answer then says what was begun, `side_effects_fired`.

mod diagnostics;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use emend_workspace::policy::programs::Programs;
use emend_workspace::{Landed, Report, Workspace};

use self::diagnostics::Diagnostics;
use crate::tools::Answer;

pub(crate) use self::diagnostics::Checking;
pub use self::diagnostics::{Found, KnownServer, language_servers};

/// What follows each edit of a workspace.
#[derive(Default)]
pub struct Effects {
    diagnostics: Option<Diagnostics>,
    /// By the ids of edits that have not been answered yet.
    begun: Mutex<BTreeMap<String, Begun>>,
}

/// What a person says of it.
#[derive(Clone, Debug, Default)]
pub struct Wishes {
    /// The programs that are run.
    pub programs: Programs,
    /// Whether language servers are asked at all: a process that ends at once has no use for them.
    pub asks_servers: bool,
    /// How long an answer waits for them, if not as usual.
    pub diagnostics_wait: Option<Duration>,
}

/// What was begun for an edit.
#[derive(Debug, Default)]
struct Begun {
    /// What is called so in the answer.
    fired: Vec<String>,
    checking: Option<Checking>,
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

    /// What a person wishes of it. Nothing is started before an edit needs it.
    #[must_use]
    pub fn of(workspace: &Workspace, wishes: &Wishes) -> Arc<Self> {
        let ask = || Diagnostics::of(workspace, &wishes.programs, wishes.diagnostics_wait);
        Arc::new(Self { diagnostics: wishes.asks_servers.then(ask), ..Self::default() })
    }

    /// The language servers, unless nobody is to ask them.
    pub(crate) fn diagnostics(&self) -> Option<&Diagnostics> {
        self.diagnostics.as_ref()
    }

    /// From now on follows the edits of this workspace.
    pub fn follow(self: &Arc<Self>, workspace: &Workspace) {
        let effects = Arc::downgrade(self);
        workspace.tell_edits(move |landed| {
            if let Some(effects) = effects.upgrade() {
                effects.begin(landed);
            }
        });
    }

    /// What was begun for this edit, as its answer names it.
    pub(crate) fn fired(&self, report: &Report) -> Vec<String> {
        let edit = report.edit.as_deref().unwrap_or_default();
        self.locked().get(edit).map(|begun| begun.fired.clone()).unwrap_or_default()
    }

    /// What has been asked of the edit that this answers. From then on the edit is forgotten here.
    pub(crate) fn checking(&self, answer: &Answer) -> Option<Checking> {
        self.locked().remove(answer.edit()?)?.checking
    }

    /// Ends what runs, and waits for that, but not for long.
    pub fn finish(&self) {
        if let Some(diagnostics) = &self.diagnostics {
            diagnostics.stop();
        }
    }

    /// Begins what follows an edit. Its root is locked.
    fn begin(&self, landed: &Landed<'_>) {
        let mut begun = Begun::default();
        if landed.report.is_recorded {
            begun.fired.push("history".to_owned());
        }
        begun.checking = self.diagnostics.as_ref().and_then(|diagnostics| diagnostics.begin(landed));
        if begun.checking.is_some() {
            begun.fired.push("diagnostics".to_owned());
        }
        if let Some(edit) = &landed.report.edit {
            self.locked().insert(edit.clone(), begun);
        }
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<String, Begun>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
