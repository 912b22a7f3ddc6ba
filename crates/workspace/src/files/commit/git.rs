//! Refusal of changes inside git's own folders.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::problem::{Kind, Problem};

use super::Job;
use crate::disk::Disk;
use crate::policy::folded::Folded;
use crate::policy::git_folder::looks_like_git;

/// Returns a problem for each change in a folder that is git's by its content, or would be afterwards, unless the user
/// has excepted it.
pub(crate) fn refuse_changes(disk: &dyn Disk, jobs: &[Job<'_>]) -> Vec<Problem> {
    let upto = |names: &[OsString], end: usize| names[..end].iter().collect::<PathBuf>();
    let made = jobs.iter().filter(|job| job.after.is_some()).map(|job| &job.path.place.names);
    // In every form: the disk may take several spellings for the same path.
    let made: HashSet<String> = made.flat_map(|names| Folded::new(names).paths()).collect();
    let mut known: HashMap<PathBuf, bool> = HashMap::new();
    let mut problems = Vec::new();
    for path in jobs.iter().flat_map(|job| std::iter::once(job.path).chain(job.base.map(|(path, _)| path))) {
        let names = &path.place.names;
        let mut is_gits = |folder: &PathBuf| {
            *known.entry(folder.clone()).or_insert_with(|| {
                let dir = disk.open_dir(&path.root.dir, folder).ok();
                let names: Vec<OsString> = folder.iter().map(OsString::from).collect();
                looks_like_git(|name| {
                    let inside: Vec<OsString> = names.iter().cloned().chain([name.into()]).collect();
                    Folded::new(&inside).spellings().any(|path| made.contains(path))
                        || dir.as_ref().is_some_and(|dir| disk.stat(dir, OsStr::new(name)).is_ok())
                })
            })
        };
        let found = (0..names.len()).map(|end| upto(names, end)).find(&mut is_gits);
        let Some(folder) = found.filter(|_| !path.root.policy.frees_git(names)) else { continue };
        let (folder, pattern) = match folder.to_string_lossy().replace('\\', "/") {
            top if top.is_empty() => ("the workspace".to_owned(), "!*".to_owned()),
            folder => (folder.clone(), format!("!/{folder}/")),
        };
        let rule = format!(
            "{folder} is, or would be, a folder of git's (with HEAD, and objects and refs), from which git runs programs; use \
             git. A person can free it with read_only = [{pattern:?}] in their own configuration file"
        );
        let problem = Problem::new(Kind::ReadOnlyPath { rule }).at(&path.name);
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    problems
}
