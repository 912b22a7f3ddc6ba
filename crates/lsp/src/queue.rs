//! What one server has still to do. It never grows without end: what piles up is merged, and what cannot be is answered
//! without having been done.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use emend_threads::Waiting;

use crate::aftermath::{Answer, Content, FileChange, Report, State};
use crate::pending::Reply;

/// Edits that wait before they are merged,
const EDITS: usize = 4;
/// and questions, and files of edits or changed by others, before there are no more.
const QUESTIONS: usize = 16;
const FILES: usize = 1000;

/// A text that is made once, on the thread that first needs it, and shared by the servers that it concerns.
pub(crate) type Text = Arc<LazyLock<String, Content>>;

/// A file of an edit.
#[derive(Clone)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    pub(crate) before: Option<Text>,
    pub(crate) after: Option<Text>,
}

impl From<FileChange> for Change {
    fn from(change: FileChange) -> Self {
        let text = |content| Arc::new(LazyLock::new(content));
        Self { path: change.path, before: change.before.map(text), after: change.after.map(text) }
    }
}

/// Something to do.
pub(crate) enum Job {
    Edit { changes: Vec<Change>, reply: Reply<Report> },
    Ask { texts: Vec<(PathBuf, String)>, reply: Reply<Answer> },
    Outside(Vec<PathBuf>),
}

/// What is to be done, in order.
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
    /// Adds a job. Returns what will never be done: whoever drops that answers it, and must hold nothing meanwhile that the
    /// answered could want.
    #[must_use]
    pub(crate) fn push(&mut self, job: Job) -> Option<Job> {
        match job {
            Job::Edit { changes, reply } => self.push_edit(changes, reply),
            Job::Ask { .. } if self.count(|job| matches!(job, Job::Ask { .. })) >= QUESTIONS => Some(job),
            Job::Outside(paths) => {
                self.push_outside(paths);
                None
            }
            Job::Ask { .. } => {
                self.jobs.push_back(job);
                None
            }
        }
    }

    /// Takes out all that somebody waits for, so that they can be answered.
    pub(crate) fn take_awaited(&mut self) -> Vec<Job> {
        let (awaited, rest) = self.jobs.drain(..).partition(|job| !matches!(job, Job::Outside(_)));
        self.jobs = rest;
        awaited.into()
    }

    /// Takes out all that there is.
    #[must_use]
    pub(crate) fn take_all(&mut self) -> VecDeque<Job> {
        std::mem::take(&mut self.jobs)
    }

    fn count(&self, is_one: impl Fn(&Job) -> bool) -> usize {
        self.jobs.iter().filter(|job| is_one(job)).count()
    }

    fn push_outside(&mut self, mut paths: Vec<PathBuf>) {
        if let Some(Job::Outside(waiting)) = self.jobs.back_mut() {
            waiting.append(&mut paths);
            waiting.sort_unstable();
            waiting.dedup();
            // A server that missed some sees them when it next looks at them.
            waiting.truncate(FILES);
        } else {
            paths.truncate(FILES);
            self.jobs.push_back(Job::Outside(paths));
        }
    }

    /// Yields an edit whose answer is in that of another, or that was too much.
    fn push_edit(&mut self, mut changes: Vec<Change>, mut reply: Reply<Report>) -> Option<Job> {
        let is_edit = |job: &Job| matches!(job, Job::Edit { .. });
        let mut over = None;
        if self.count(is_edit) >= EDITS
            && let Some(last) = self.jobs.iter().rposition(is_edit)
            && let Some(Job::Edit { changes: mut earlier, reply: mut of_earlier }) = self.jobs.remove(last)
        {
            of_earlier.otherwise(|report| report.state = silent("it is told together with a later edit"));
            over = Some(Job::Edit { changes: Vec::new(), reply: of_earlier });
            for change in changes {
                match earlier.iter_mut().find(|earlier| earlier.path == change.path) {
                    Some(earlier) => earlier.after = change.after,
                    None => earlier.push(change),
                }
            }
            changes = earlier;
        }
        if changes.len() > FILES {
            reply.otherwise(|report| {
                report.state = silent("more files were changed than it is told of at once");
            });
            return Some(Job::Edit { changes, reply });
        }
        self.jobs.push_back(Job::Edit { changes, reply });
        over
    }
}

fn silent(why: &str) -> State {
    State::Silent { why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pending::Awaited;
    use crate::worker::unanswered;

    fn edit(path: &str, after: &'static str) -> (Awaited<Report>, Job) {
        let text = |text: &'static str| -> Option<Content> { Some(Box::new(move || text.to_owned())) };
        let change = FileChange { path: path.into(), before: text("before"), after: text(after) };
        let (awaited, mut replies) = Awaited::new(vec![unanswered("server")]);
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
        assert_eq!((queue.jobs.len(), told), (EDITS, 100 - EDITS));
        let Some(Job::Edit { changes, .. }) = queue.jobs.pop_back() else { panic!("an edit") };
        let mut texts: Vec<(String, String, String)> = changes
            .iter()
            .map(|change| {
                let text =
                    |text: &Option<Text>| text.as_ref().map(|text| text.to_string()).unwrap_or_default();
                (change.path.display().to_string(), text(&change.before), text(&change.after))
            })
            .collect();
        texts.sort();
        let expected = [("/even", "before", "even"), ("/odd", "before", "odd")];
        assert_eq!(texts, expected.map(|(path, before, after)| (path.into(), before.into(), after.into())));
    }

    #[test]
    fn what_others_changed_is_one_bounded_job() {
        let mut queue = Queue::default();
        for at in 0..FILES * 2 {
            let _ = queue.push(Job::Outside(vec![format!("/{at}").into(), "/same".into()]));
        }
        let Some(Job::Outside(paths)) = queue.take_next() else { panic!("a job") };
        assert_eq!((paths.len(), queue.jobs.len()), (FILES, 0));
    }
}
