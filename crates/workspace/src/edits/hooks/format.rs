//! Formatters: filters that get the new text of a file and return it formatted. They run during planning, so that the
//! preview, the file, the history and the next reading all have the same text.
//!
//! A failing formatter never fails the edit: the text stays as it was, and the outcome says so.

use std::time::Duration;

use emend_edit::find::FindLimits;
use emend_edit::plan::FilePlan;

use super::{Allowance, Armed, Hooks, shortened};
use crate::edits::checked_plan::CheckedPlan;
use crate::files::note::{NotFormatted, Note};
use crate::files::report::Report;
use crate::problem::{Kind, Problem};

/// The default timeout of a formatter.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The output that a formatter may write beyond four times its input, in bytes.
const SPARE: usize = 1024 * 1024;

impl Hooks {
    /// Returns whether any formatter applies to the plan. A final plan is never formatted.
    pub(crate) fn would_format(&self, checked: &CheckedPlan) -> bool {
        let is_formatted = |file: &FilePlan| file.has_new_text() && !self.formatters(&file.name).is_empty();
        !self.format.is_empty() && !checked.context.is_final && checked.plan.files().iter().any(is_formatted)
    }

    /// Returns the formatters of this file, in the order of the configuration.
    fn formatters(&self, name: &str) -> Vec<&Armed> {
        self.format.iter().filter(|armed| armed.concerns(self.inside(name))).collect()
    }

    /// Formats every new text of a plan.
    pub(crate) fn format(
        &self,
        checked: &mut CheckedPlan,
        limits: &FindLimits,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Problem> {
        let known_notes = checked.plan.notes().len();
        // The formatters that changed each file.
        let mut changed: Vec<(String, Vec<&str>)> = Vec::new();
        for at in 0..checked.plan.files().len() {
            let name = checked.plan.files()[at].name.clone();
            let mut by = Vec::new();
            for armed in self.formatters(&name) {
                let Some(text) = checked.plan.files()[at].new_text() else { break };
                let formatted = self.formatted(armed, checked, at, &text, limits, cancelled);
                if cancelled() {
                    return Err(Problem::new(Kind::Cancelled));
                }
                let taken = match formatted {
                    Ok(formatted) => checked.plan.format(at, &formatted, limits).map_err(NotFormatted::Unfit),
                    Err(why) => Err(NotFormatted::Failed(shortened(&why))),
                };
                match taken {
                    Ok(true) => by.push(&*armed.hook.name),
                    Ok(false) => {}
                    Err(why) => {
                        let (file, formatter) = (name.clone(), armed.hook.name.clone());
                        checked.report.notes.push(Note::NotFormatted { file, formatter, why });
                    }
                }
            }
            if !by.is_empty() {
                changed.push((name, by));
            }
        }
        if changed.is_empty() {
            return Ok(());
        }
        let undone = checked.plan.drop_unchanged();
        for (name, by) in changed {
            let by = by.join(" and ");
            if checked.plan.files().is_empty() {
                return Err(Problem::new(Kind::FormattedBack { by }).at(&name));
            }
            checked.report.notes.push(match undone.contains(&name) {
                true => Note::FormattedBack { file: name, by },
                false => Note::Formatted { file: name, by },
            });
        }
        checked.report.files = Report::from_plan(&checked.plan, None).files;
        let new_notes = checked.plan.notes()[known_notes..].iter().cloned().map(Note::Plan);
        checked.report.notes.extend(new_notes);
        Ok(())
    }

    /// Returns the text as the formatter writes it.
    fn formatted(
        &self,
        armed: &Armed,
        checked: &mut CheckedPlan,
        at: usize,
        text: &[u8],
        limits: &FindLimits,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, String> {
        let most = (text.len() * 4 + SPARE).min(limits.file_bytes);
        let allowance =
            Allowance { timeout: TIMEOUT, most, is_cut: false, leaves: false, names_deleted: false };
        let ran = self.run(armed, &[&checked.report.files[at]], text, allowance, cancelled)?;
        checked.report.fire(format!("format:{}", armed.hook.name));
        ran.done()
    }
}
