//! Hooks that are run once an edit is made. What they write is another program's change like anybody's.

use std::path::Path;
use std::time::Duration;

use super::{Allowance, Armed, Hooks, told};
use crate::history::Origin;
use crate::report::{ChangeKind, FileReport, Report};

/// How long a hook may take unless the person says otherwise.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How much it may say; nobody listens.
const MOST: usize = 1024 * 1024;

/// What came of the hooks after an edit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// What ran, such as `after:tags`.
    pub fired: Vec<String>,
    /// What failed, in words.
    pub failed: Vec<String>,
}

impl Hooks {
    /// The names of the hooks that are to run after this edit, such as `after:tags`.
    pub(crate) fn would_run_after(&self, report: &Report) -> Vec<String> {
        self.due(report).map(|(armed, _)| format!("after:{}", armed.hook.name)).collect()
    }

    /// Runs the hooks that a made edit concerns, one after another, each with the edit's document on its standard input.
    /// Blocks until the last has ended or its time is over.
    pub(crate) fn after(&self, report: &Report, origin: &Origin, root: &Path) -> Done {
        let document = self.document(report, origin, root, None);
        let mut done = Done::default();
        for (armed, files) in self.due(report) {
            let name = &armed.hook.name;
            let allowance = Allowance { timeout: TIMEOUT, most: MOST, leaves: true };
            let ended = self.run(armed, &files, &document, allowance).and_then(|ran| {
                done.fired.push(format!("after:{name}"));
                ran.done()
            });
            if let Err(why) = ended {
                done.failed.push(format!("The hook {name} failed after the edit: {}", told(&why)));
            }
        }
        done
    }

    /// The hooks that concern an edit, each with its files. One that is called with files needs some that are there.
    fn due<'a>(&'a self, report: &'a Report) -> impl Iterator<Item = (&'a Armed, Vec<&'a FileReport>)> {
        let is_there = |file: &&FileReport| file.change != ChangeKind::Delete;
        self.after.iter().filter_map(move |armed| {
            let files = self.concerned(armed, &report.files);
            let has_any = if armed.names_files() { files.iter().any(is_there) } else { !files.is_empty() };
            has_any.then_some((armed, files))
        })
    }
}
