//! The syntax guard: it checks whether an edit broke the syntax of a valid file, and warns of such an edit or refuses
//! it, as the policy says.
//!
//! A warning must cost no noticeable time: a background thread looks for it while the commit waits for the disk, in a
//! limited amount of text. Late results go into the client's next answer.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::time::Duration;

use emend_edit::Text;
use emend_syntax::{Judge, Language, Limits, Verdict, language_of};
use emend_threads::Background;

use crate::edits::checked_plan::CheckedPlan;
use crate::files::mailbox::{Mailbox, Topic};
use crate::files::note::Note;
use crate::files::report::Report;
use crate::policy::SyntaxGuard;
use crate::problem::{Kind, Problem};

/// The name of the guard in an outcome.
const FIRED: &str = "syntax";
/// The number of bytes of new text that are checked before an edit, while others wait for the lock.
const JUDGED: usize = 8 * 1024 * 1024;
/// The number of bytes of new text that are checked for a warning.
const WARNED: usize = 256 * 1024;
/// The length of the queue of edits to check; further ones get no warning.
const WAITING: usize = 16;
/// The time for which an answer waits if the edit probably broke something.
const PATIENCE: Duration = Duration::from_millis(50);

/// A file to check.
#[derive(Debug)]
struct Suspect {
    name: String,
    language: Language,
    before: Option<Arc<Text>>,
    after: Vec<u8>,
}

/// A file that an edit breaks.
#[derive(Debug)]
struct Broken {
    name: String,
    line: usize,
    what: String,
}

/// The background thread that looks for warnings.
#[derive(Debug)]
pub(crate) struct Guard(Background<VecDeque<Job>>);

/// The check of one edit.
#[derive(Debug)]
struct Job {
    suspects: Vec<Suspect>,
    found: Sender<Vec<Broken>>,
    doubt: Arc<AtomicBool>,
}

/// A running check.
#[derive(Debug)]
pub(crate) struct Look {
    found: Receiver<Vec<Broken>>,
    /// Whether something seems to be broken and is being examined more closely.
    doubt: Arc<AtomicBool>,
}

/// Refuses a plan that breaks a file, if the policy says so.
pub(crate) fn refuse(checked: &CheckedPlan) -> Result<(), Vec<Problem>> {
    if guard(checked) != SyntaxGuard::Refuse {
        return Ok(());
    }
    let broken = look(&mut Judge::default(), suspects(checked, JUDGED), &|| {});
    let problem = |broken: Broken| {
        Problem::new(Kind::SyntaxBroken { line: broken.line, what: broken.what }).at(&broken.name)
    };
    let problems: Vec<Problem> = broken.into_iter().map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Adds warnings about what a plan would break.
pub(crate) fn warn(checked: &mut CheckedPlan) {
    let guard = guard(checked);
    if guard != SyntaxGuard::Off {
        let broken = look(&mut Judge::default(), suspects(checked, WARNED), &|| {});
        note(broken, &mut checked.report);
        if guard == SyntaxGuard::Refuse && checked.report.fired.iter().any(|fired| fired == FIRED) {
            checked.report.notes.push(Note::WillBeRefused);
        }
    }
}

impl Default for Guard {
    fn default() -> Self {
        let mut judge = None;
        let work = move |job: Job| {
            let judge = judge.get_or_insert_with(|| {
                yield_to_edits();
                Judge::default()
            });
            // The receiver may be gone.
            let doubt = || job.doubt.store(true, Ordering::Release);
            let _ = job.found.send(look(judge, job.suspects, &doubt));
        };
        Self(Background::new("syntax", VecDeque::new(), work))
    }
}

impl Guard {
    /// Begins to check what a plan breaks, unless that is already known.
    pub(crate) fn begin(&self, checked: &CheckedPlan) -> Option<Look> {
        let is_known = checked.report.fired.iter().any(|fired| fired == FIRED);
        if is_known || guard(checked) != SyntaxGuard::Warn {
            return None;
        }
        let suspects = suspects(checked, WARNED);
        if suspects.is_empty() {
            return None;
        }
        let (send, found) = mpsc::channel();
        let doubt = Arc::new(AtomicBool::new(false));
        let job = Job { suspects, found: send, doubt: Arc::clone(&doubt) };
        let pushed = self.0.push(|waiting| {
            let has_room = waiting.len() < WAITING;
            if has_room {
                waiting.push_back(job);
            }
            has_room
        });
        (pushed == Some(true)).then_some(Look { found, doubt })
    }
}

impl Look {
    /// Notes the result, or posts it to the mailbox later. It waits only if something seems to be broken: a good edit
    /// waits for nothing.
    pub(crate) fn end(self, edit: &str, report: &mut Report, mailbox: &Mailbox) {
        let patience = if self.doubt.load(Ordering::Acquire) { PATIENCE } else { Duration::ZERO };
        match self.found.recv_timeout(patience) {
            Ok(broken) => note(broken, report),
            Err(RecvTimeoutError::Timeout) => {
                let (edit, found) = (edit.to_owned(), self.found);
                mailbox.post_once_known(Topic::Syntax, move || late_warning(&edit, &found));
            }
            Err(RecvTimeoutError::Disconnected) => {}
        }
    }
}

/// Returns the warning for a later answer; `None` while the result is not known.
fn late_warning(edit: &str, found: &Receiver<Vec<Broken>>) -> Option<Vec<String>> {
    let warning = |Broken { name, line, what }: Broken| {
        format!(
            "Edit {edit} broke the parse of {name} at line {line}: {what}. Fix it, unless a later edit has"
        )
    };
    match found.try_recv() {
        Ok(broken) => Some(broken.into_iter().map(warning).collect()),
        Err(TryRecvError::Empty) => None,
        Err(TryRecvError::Disconnected) => Some(Vec::new()),
    }
}

/// Lowers the priority of this thread: woken in the middle of a commit, it would otherwise take its CPU time.
fn yield_to_edits() {
    // Only on Linux does this concern the thread alone.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(10);
}

fn note(broken: Vec<Broken>, report: &mut Report) {
    for Broken { name, line, what } in broken {
        report.fire(FIRED.to_owned());
        report.notes.push(Note::BreaksSyntax { file: name, line, what });
    }
}

/// Returns the policy's guard for a plan. An undo is not checked.
fn guard(checked: &CheckedPlan) -> SyntaxGuard {
    match &checked.context.undoes {
        Some(_) => SyntaxGuard::Off,
        None => checked.context.root.policy.terms().syntax_guard,
    }
}

/// Returns the files of known languages with new text, up to this many bytes in total.
fn suspects(checked: &CheckedPlan, most: usize) -> Vec<Suspect> {
    let mut left = most;
    let files = checked.plan.files().iter().filter(|file| file.has_new_text());
    let suspect = |file: &emend_edit::plan::FilePlan| {
        let language = language_of(&file.name)?;
        let size = file.action.view()?.iter().map(|piece| piece.len()).sum();
        left = left.checked_sub(size)?;
        let (before, after) = (file.action.base().cloned(), file.new_text()?);
        Some(Suspect { name: file.name.clone(), language, before, after })
    };
    files.filter_map(suspect).collect()
}

fn look(judge: &mut Judge, suspects: Vec<Suspect>, doubt: &dyn Fn()) -> Vec<Broken> {
    let verdict = |suspect: Suspect| {
        let before = suspect.before.as_ref().map(|text| &text.bytes()[text.body()]);
        match judge.broken(suspect.language, before, suspect.after, &Limits::default(), doubt) {
            Verdict::Broken { line, what } => Some(Broken { name: suspect.name, line, what }),
            Verdict::Fine | Verdict::Unknown => None,
        }
    };
    suspects.into_iter().filter_map(verdict).collect()
}
