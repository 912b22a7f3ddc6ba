//! The syntax guard: whether an edit broke the parse of a file that was whole before. It warns, or keeps such an edit
//! from being made, as the policy says.
//!
//! A warning must not be felt: it is looked for while the commit waits for the disk, and only in so much text.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use emend_edit::Text;
use emend_edit::problem::{Kind, Problem};
use emend_syntax::{Language, Limits, Verdict, broken, language_of};

use crate::policy::SyntaxGuard;
use crate::prepared::Prepared;
use crate::report::Report;

/// What the outcome calls it.
const FIRED: &str = "syntax";
/// How many bytes of new text are looked at for a warning.
const WARNED: usize = 256 * 1024;

/// A file that is to be looked at.
struct Suspect {
    name: String,
    language: Language,
    before: Option<Arc<Text>>,
    after: Vec<u8>,
}

/// A file that an edit breaks.
struct Broken {
    name: String,
    line: usize,
    what: String,
}

/// A look that goes on in another thread.
pub(crate) struct Look(JoinHandle<Vec<Broken>>);

/// Refuses a plan that breaks a file, if the policy wants that.
pub(crate) fn refuse(prepared: &Prepared) -> Result<(), Vec<Problem>> {
    if guard(prepared) != SyntaxGuard::Refuse {
        return Ok(());
    }
    let broken = look(suspects(prepared, usize::MAX), &Limits::default());
    let problem = |broken: Broken| {
        Problem::new(Kind::SyntaxBroken { line: broken.line, what: broken.what }).at(&broken.name)
    };
    let problems: Vec<Problem> = broken.into_iter().map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Warns of what a plan would break.
pub(crate) fn warn(prepared: &mut Prepared) {
    let guard = guard(prepared);
    if guard != SyntaxGuard::Off {
        let broken = look(suspects(prepared, WARNED), &Limits::default());
        note(broken, &mut prepared.report);
        if guard == SyntaxGuard::Refuse && prepared.report.fired.iter().any(|fired| fired == FIRED) {
            prepared
                .report
                .notes
                .push("It will be refused for that: the person has set syntax_guard to refuse".into());
        }
    }
}

/// Begins to look for what a plan breaks, unless that is known already.
pub(crate) fn begin(prepared: &Prepared) -> Option<Look> {
    let is_known = prepared.report.fired.iter().any(|fired| fired == FIRED);
    if is_known || guard(prepared) != SyntaxGuard::Warn {
        return None;
    }
    let suspects = suspects(prepared, WARNED);
    if suspects.is_empty() {
        return None;
    }
    let looking = thread::Builder::new().spawn(move || look(suspects, &Limits::default()));
    looking.ok().map(Look)
}

impl Look {
    /// Notes what was found.
    pub(crate) fn end(self, report: &mut Report) {
        // What failed here has found nothing.
        note(self.0.join().unwrap_or_default(), report);
    }
}

fn note(broken: Vec<Broken>, report: &mut Report) {
    for Broken { name, line, what } in broken {
        report.fire(FIRED.to_owned());
        report.notes.push(format!("This edit breaks the parse of {name} at line {line}: {what}"));
    }
}

/// What the policy says of a plan. What takes an edit back is not judged.
fn guard(prepared: &Prepared) -> SyntaxGuard {
    match &prepared.facts.undoes {
        Some(_) => SyntaxGuard::Off,
        None => prepared.facts.root.policy.terms().syntax_guard,
    }
}

/// The files of known languages that get new text, as long as there are not more bytes of them than that.
fn suspects(prepared: &Prepared, most: usize) -> Vec<Suspect> {
    let mut left = most;
    let files = prepared.plan.files().iter().filter(|file| file.has_new_text());
    let suspect = |file: &emend_edit::plan::FilePlan| {
        let language = language_of(&file.name)?;
        let size = file.action.view()?.iter().map(|piece| piece.len()).sum();
        left = left.checked_sub(size)?;
        let (before, after) = (file.action.base().cloned(), file.new_text()?);
        Some(Suspect { name: file.name.clone(), language, before, after })
    };
    files.filter_map(suspect).collect()
}

fn look(suspects: Vec<Suspect>, limits: &Limits) -> Vec<Broken> {
    let verdict = |suspect: Suspect| {
        let before = suspect.before.as_ref().map(|text| &text.bytes()[text.body()]);
        match broken(suspect.language, before, &suspect.after, limits) {
            Verdict::Broken { line, what } => Some(Broken { name: suspect.name, line, what }),
            Verdict::Fine | Verdict::Unknown => None,
        }
    };
    suspects.into_iter().filter_map(verdict).collect()
}
