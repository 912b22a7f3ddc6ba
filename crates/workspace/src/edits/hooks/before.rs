//! Hooks that are asked before an edit: each gets one JSON document and decides by its exit code whether the edit may
//! be made.
//!
//! A hook that cannot decide (it hangs, dies or is missing) stops no edit unless the user requires it: a broken hook
//! would otherwise block every tool.

use std::time::Duration;

use crate::problem::{Kind, Problem};

use super::{Allowance, Armed, Hooks, shortened};
use crate::edits::approval::visible;
use crate::edits::checked_plan::PlanContext;
use crate::files::note::Note;
use crate::files::report::{FileReport, Report};
use emend_process::run::{Ended, Ran};

/// The default timeout of a hook.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The number of bytes of output that are kept.
const MOST: usize = 64 * 1024;
/// The number of bytes of file names that a hook gets as arguments.
const ARGUMENTS: usize = 256 * 1024;
/// The estimated size of an argument around a file name, with the root's path.
const ROOM: usize = 512;
/// The number of characters of output that are quoted in a refusal.
const QUOTED: usize = 4000;

impl Hooks {
    /// Returns whether any hook must be asked before this edit.
    pub(crate) fn would_ask(&self, report: &Report) -> bool {
        self.before.iter().any(|armed| !self.concerned(armed, &report.files).is_empty())
    }

    /// Asks every hook that the edit concerns, up to the first that refuses it. Notes hooks that could not be asked.
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
                Err(why) => shortened(&why),
            };
            let hook = armed.hook.name.clone();
            if armed.hook.required {
                return Err(Problem::new(Kind::HookNotAsked { hook, why }));
            }
            report.notes.push(Note::HookNotAsked { hook, why });
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
        // Letting it pass would let edits escape the hook by their size.
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

/// The verdict of a hook.
enum Verdict {
    MayBeMade,
    /// Contains the output.
    Refused(String),
    /// No valid decision, for this reason.
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
            _ => Self::Unheard(shortened(&ran.why())),
        }
    }
}
