//! The bounded queue of one server: jobs that pile up are merged, and those that cannot be merged are answered without
//! being done.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use emend_threads::Waiting;

use crate::aftermath::{Diagnosis, FileChange, LazyContent, ServerReport, ServerState};
use crate::pending::Reply;
use crate::question::{Answered, Question};

/// How many edits may wait before further ones are merged.
const MAX_EDITS: usize = 4;
/// How many questions may wait before further ones are turned away.
const MAX_QUESTIONS: usize = 16;
/// How many files one job may name.
const MAX_FILES: usize = 1000;

/// A text that is made once, on the thread that first needs it, and shared by all servers concerned.
pub(crate) type SharedText = Arc<LazyLock<String, LazyContent>>;

/// A [`FileChange`] whose texts several servers share.
#[derive(Clone)]
pub(crate) struct SharedChange {
    pub(crate) path: PathBuf,
    pub(crate) before: Option<SharedText>,
    pub(crate) after: Option<SharedText>,
}

impl From<FileChange> for SharedChange {
    fn from(change: FileChange) -> Self {
        let text = |content| Arc::new(LazyLock::new(content));
        Self { path: change.path, before: change.before.map(text), after: change.after.map(text) }
    }
}

/// A job for a server.
pub(crate) enum Job {
    Edit { changes: Vec<SharedChange>, reply: Reply<ServerReport> },
    Diagnose { texts: Vec<(PathBuf, String)>, reply: Reply<Diagnosis> },
    Ask { question: Arc<Question>, reply: Reply<Answered> },
    OutsideChanges(Vec<PathBuf>),
}

impl Job {
    fn is_question(&self) -> bool {
        matches!(self, Self::Diagnose { .. } | Self::Ask { .. })
    }
}

/// The jobs of one server, in order.
#[derive(Default)]
pub(crate) struct Queue {
    jobs: VecDeque<Job>,
}

impl Waiting for Queue {
    type Job = Job;

    fn take_next(&mut self) -> Option<Job> {
        self.jobs.pop_front()
    }
}

impl Queue {
    /// Adds a job. Returns a job that will never be done, if there is one; dropping it sends its default answer, so the
    /// caller must do that without holding a lock.
    #[must_use]
    pub(crate) fn push(&mut self, job: Job) -> Option<Job> {
        match job {
            Job::Edit { changes, reply } => self.push_edit(changes, reply),
            Job::Diagnose { .. } | Job::Ask { .. } if self.count(Job::is_question) >= MAX_QUESTIONS => {
                Some(job)
            }
            Job::OutsideChanges(paths) => {
                self.push_outside(paths);
                None
            }
            Job::Diagnose { .. } | Job::Ask { .. } => {
                self.jobs.push_back(job);
                None
            }
        }
    }

    /// Removes and returns all jobs that a caller waits for, so that they can be answered.
    pub(crate) fn take_awaited(&mut self) -> Vec<Job> {
        let (awaited, rest) = self.jobs.drain(..).partition(|job| !matches!(job, Job::OutsideChanges(_)));
        self.jobs = rest;
        awaited.into()
    }

    /// Removes and returns all jobs.
    #[must_use]
    pub(crate) fn take_all(&mut self) -> VecDeque<Job> {
        std::mem::take(&mut self.jobs)
    }

    fn count(&self, is_one: impl Fn(&Job) -> bool) -> usize {
        self.jobs.iter().filter(|job| is_one(job)).count()
    }

    fn push_outside(&mut self, mut paths: Vec<PathBuf>) {
        if let Some(Job::OutsideChanges(waiting)) = self.jobs.back_mut() {
            waiting.append(&mut paths);
            waiting.sort_unstable();
            waiting.dedup();
            // A server that misses some notices them when it next reads those files.
            waiting.truncate(MAX_FILES);
        } else {
            paths.truncate(MAX_FILES);
            self.jobs.push_back(Job::OutsideChanges(paths));
        }
    }

    /// Adds an edit. Returns an edit that was merged into this one, or this one if it names too many files.
    fn push_edit(&mut self, changes: Vec<SharedChange>, mut reply: Reply<ServerReport>) -> Option<Job> {
        let is_edit = |job: &Job| matches!(job, Job::Edit { .. });
        let last = self.jobs.iter().rposition(is_edit).filter(|_| self.count(is_edit) >= MAX_EDITS);
        let changes = match last.map(|last| &self.jobs[last]) {
            Some(Job::Edit { changes: earlier, .. }) => merged(earlier, changes),
            _ => changes,
        };
        if changes.len() > MAX_FILES {
            // The waiting edit is still done by itself.
            reply.change_default(|report| {
                report.state = silent("more files were changed than it is told of at once");
            });
            return Some(Job::Edit { changes, reply });
        }
        let earlier = last.and_then(|last| self.jobs.remove(last));
        self.jobs.push_back(Job::Edit { changes, reply });
        let Some(Job::Edit { reply: mut of_earlier, .. }) = earlier else { return None };
        of_earlier.change_default(|report| report.state = silent("it is told together with a later edit"));
        Some(Job::Edit { changes: Vec::new(), reply: of_earlier })
    }
}

/// Returns the combined changes of two successive edits, file by file.
fn merged(earlier: &[SharedChange], later: Vec<SharedChange>) -> Vec<SharedChange> {
    let mut merged = earlier.to_vec();
    for change in later {
        match merged.iter_mut().find(|earlier| earlier.path == change.path) {
            Some(earlier) => earlier.after = change.after,
            None => merged.push(change),
        }
    }
    merged
}

fn silent(why: &str) -> ServerState {
    ServerState::Silent { why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pending::Awaited;
    use crate::worker::unanswered_report;

    fn edit(path: &str, after: &'static str) -> (Awaited<ServerReport>, Job) {
        let text = |text: &'static str| -> Option<LazyContent> { Some(Box::new(move || text.to_owned())) };
        let change = FileChange { path: path.into(), before: text("before"), after: text(after) };
        let (awaited, mut replies) = Awaited::new(vec![unanswered_report("server")]);
        let reply = replies.pop().expect("one");
        (awaited, Job::Edit { changes: vec![change.into()], reply })
    }

    #[test]
    fn edits_that_pile_up_are_merged_file_by_file() {
        let mut queue = Queue::default();
        let mut told = 0;
        for at in 0..100 {
            let (path, after) = if at % 2 == 0 { ("/even", "even") } else { ("/odd", "odd") };
            let over = queue.push(edit(path, after).1);
            told += usize::from(over.is_some());
        }
        assert_eq!((queue.jobs.len(), told), (MAX_EDITS, 100 - MAX_EDITS));
        let Some(Job::Edit { changes, .. }) = queue.jobs.pop_back() else { panic!("an edit") };
        let mut texts: Vec<(String, String, String)> = changes
            .iter()
            .map(|change| {
                let text = |text: &Option<SharedText>| {
                    text.as_ref().map(|text| text.to_string()).unwrap_or_default()
                };
                (change.path.display().to_string(), text(&change.before), text(&change.after))
            })
            .collect();
        texts.sort();
        let expected = [("/even", "before", "even"), ("/odd", "before", "odd")];
        assert_eq!(texts, expected.map(|(path, before, after)| (path.into(), before.into(), after.into())));
    }

    #[test]
    fn an_edit_that_would_make_a_waiting_one_too_large_leaves_it_as_it_is() {
        let mut queue = Queue::default();
        for at in 0..MAX_EDITS {
            assert!(queue.push(edit(&format!("/{at}"), "after").1).is_none());
        }
        let paths: Vec<String> = (0..MAX_FILES).map(|at| format!("/many/{at}")).collect();
        let of_all = paths.iter().flat_map(|path| match edit(path, "after").1 {
            Job::Edit { changes, .. } => changes,
            _ => Vec::new(),
        });
        let Job::Edit { reply, .. } = edit("/reply", "after").1 else { panic!("an edit") };
        let refused = queue.push(Job::Edit { changes: of_all.collect(), reply });
        assert!(matches!(refused, Some(Job::Edit { changes, .. }) if changes.len() > MAX_FILES));
        assert_eq!(queue.jobs.len(), MAX_EDITS);
        let Some(Job::Edit { changes, .. }) = queue.jobs.back() else { panic!("an edit") };
        assert_eq!(changes[0].path, PathBuf::from(format!("/{}", MAX_EDITS - 1)));
    }

    #[test]
    fn what_others_changed_is_one_bounded_job() {
        let mut queue = Queue::default();
        for at in 0..MAX_FILES * 2 {
            let _ = queue.push(Job::OutsideChanges(vec![format!("/{at}").into(), "/same".into()]));
        }
        let Some(Job::OutsideChanges(paths)) = queue.take_next() else { panic!("a job") };
        assert_eq!((paths.len(), queue.jobs.len()), (MAX_FILES, 0));
    }
}
