//! The syntax guard: whether an edit broke the parse of a file that was whole before. It warns, or keeps such an edit
//! from being made, as the policy says.
//!
//! A warning must not be felt: it is looked for in a thread of its own while the commit waits for the disk, and only in so
//! much text. What is not found by then is told with the client's next answer.

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
use crate::files::report::Report;
use crate::policy::SyntaxGuard;
use crate::problem::{Kind, Problem};

/// What the outcome calls it.
const FIRED: &str = "syntax";
/// How many bytes of new text are looked at before an edit is made, while others wait for their turn.
const JUDGED: usize = 8 * 1024 * 1024;
/// How many bytes of new text are looked at for a warning.
const WARNED: usize = 256 * 1024;
/// How many edits wait to be looked at; of more there is no warning.
const WAITING: usize = 16;
/// How long the answer to an edit waits where it is in doubt whether that broke something.
const PATIENCE: Duration = Duration::from_millis(50);

/// A file that is to be looked at.
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

/// Looks for warnings in the background.
#[derive(Debug)]
pub(crate) struct Guard(Background<VecDeque<Job>>);

/// What is looked for of one edit.
#[derive(Debug)]
struct Job {
    suspects: Vec<Suspect>,
    found: Sender<Vec<Broken>>,
    doubt: Arc<AtomicBool>,
}

/// A look that goes on in the thread.
#[derive(Debug)]
pub(crate) struct Look {
    found: Receiver<Vec<Broken>>,
    /// Whether something seems to be broken, which is being looked at more closely.
    doubt: Arc<AtomicBool>,
}

/// Refuses a plan that breaks a file, if the policy wants that.
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

/// Warns of what a plan would break.
pub(crate) fn warn(checked: &mut CheckedPlan) {
    let guard = guard(checked);
    if guard != SyntaxGuard::Off {
        let broken = look(&mut Judge::default(), suspects(checked, WARNED), &|| {});
        note(broken, &mut checked.report);
        if guard == SyntaxGuard::Refuse && checked.report.fired.iter().any(|fired| fired == FIRED) {
            checked
                .report
                .notes
                .push("It will be refused for that: the person has set syntax_guard to refuse".into());
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
            // Whoever asked may have gone.
            let doubt = || job.doubt.store(true, Ordering::Release);
            let _ = job.found.send(look(judge, job.suspects, &doubt));
        };
        Self(Background::new("syntax", VecDeque::new(), work))
    }
}

impl Guard {
    /// Begins to look for what a plan breaks, unless that is known already.
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
    /// Notes what was found by now. What is not known yet goes to the mailbox. Only where something seems to be broken is
    /// it waited for: an edit that is fine waits for nobody.
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

/// What a later answer says that the look at an edit has found; `None` while that is not known.
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

/// This thread runs where nothing else wants to. Woken in the middle of a commit, it would else take the core away from that.
fn yield_to_edits() {
    // Only on Linux is this about the thread alone.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(10);
}

fn note(broken: Vec<Broken>, report: &mut Report) {
    for Broken { name, line, what } in broken {
        report.fire(FIRED.to_owned());
        report.notes.push(format!(
            "This edit breaks the parse of {name} at line {line}: {what}. Fix it, unless your next edits do"
        ));
    }
}

/// What the policy says of a plan. What takes an edit back is not judged.
fn guard(checked: &CheckedPlan) -> SyntaxGuard {
    match &checked.context.undoes {
        Some(_) => SyntaxGuard::Off,
        None => checked.context.root.policy.terms().syntax_guard,
    }
}

/// The files of known languages that get new text, as long as there are not more bytes of them than that.
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
