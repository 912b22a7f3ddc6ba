//! Hooks that are asked before an edit: each gets one JSON document and says by its exit code whether the edit may be
//! made.
//!
//! A hook that cannot say anything (it hangs, dies or is not there) stops no edit, unless the person requires it: a
//! broken hook would otherwise take every tool away.

use std::time::Duration;

use crate::problem::{Kind, Problem};

use super::{Allowance, Armed, Hooks, told};
use crate::edits::approval::visible;
use crate::edits::checked_plan::PlanContext;
use crate::files::report::{FileReport, Report};
use emend_process::run::{Ended, Ran};

/// How long a hook may take unless the person says otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How much of what it says is kept.
const MOST: usize = 64 * 1024;
/// How many bytes of names of files it gets as arguments,
const ARGUMENTS: usize = 256 * 1024;
/// each with the path of its root and what else stands around it.
const ROOM: usize = 512;
/// How much of that is told.
const QUOTED: usize = 4000;

impl Hooks {
    /// Whether some hook is to be asked before this edit.
    pub(crate) fn would_ask(&self, report: &Report) -> bool {
        self.before.iter().any(|armed| !self.concerned(armed, &report.files).is_empty())
    }

    /// Asks every hook that the edit concerns, up to the first that refuses it. Who could not be asked is noted.
    pub(crate) fn ask(
        &self,
        report: &mut Report,
        context: &PlanContext,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Problem> {
        if !self.would_ask(report) {
            return Ok(());
        }
        let document = self.document(report, &context.origin, &context.root.path, context.undoes.as_deref());
        for armed in &self.before {
            let files = self.concerned(armed, &report.files);
            if files.is_empty() {
                continue;
            }
            let verdict = self.verdict(armed, &files, &document, cancelled);
            if cancelled() {
                return Err(Problem::new(Kind::Cancelled));
            }
            let why = match verdict {
                Ok(verdict) => {
                    report.fire(format!("before:{}", armed.hook.name));
                    match verdict {
                        Verdict::MayBeMade => continue,
                        Verdict::Refused(said) => {
                            let hook = armed.hook.name.clone();
                            return Err(Problem::new(Kind::HookRefused { hook, said }));
                        }
                        Verdict::Unheard(why) => why,
                    }
                }
                Err(why) => told(&why),
            };
            let hook = armed.hook.name.clone();
            if armed.hook.required {
                return Err(Problem::new(Kind::HookNotAsked { hook, why }));
            }
            report.notes.push(format!(
                "The hook '{hook}' could not look at this edit, which goes on without it: {why}"
            ));
        }
        Ok(())
    }

    fn verdict(
        &self,
        armed: &Armed,
        files: &[&FileReport],
        document: &[u8],
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Verdict, String> {
        // What cannot be asked for want of room would be an edit that goes past the hook by its size.
        if armed.names_files() && files.iter().map(|file| file.name.len() + ROOM).sum::<usize>() > ARGUMENTS {
            let said = format!(
                "this edit has {} files, more than it is asked about at once; make it in parts",
                files.len()
            );
            return Ok(Verdict::Refused(said));
        }
        let allowance =
            Allowance { timeout: TIMEOUT, most: MOST, is_cut: true, leaves: false, names_deleted: true };
        self.run(armed, files, document, allowance, cancelled).map(|ran| Verdict::of(&ran))
    }
}

/// What came of asking a hook.
enum Verdict {
    MayBeMade,
    /// With what it printed.
    Refused(String),
    /// It said nothing that counts, for this reason.
    Unheard(String),
}

impl Verdict {
    fn of(ran: &Ran) -> Self {
        match &ran.ended {
            Ended::Exited(status) if status.success() => Self::MayBeMade,
            Ended::Exited(status) if status.code().is_some() => {
                let output = String::from_utf8_lossy(&ran.output);
                let said = if output.trim().is_empty() { &*ran.errors } else { &*output };
                Self::Refused(visible(said.trim()).chars().take(QUOTED).collect())
            }
            _ => Self::Unheard(told(&ran.why())),
        }
    }
}
