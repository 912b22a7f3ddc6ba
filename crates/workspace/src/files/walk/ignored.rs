//! The rules of ignore files: `.ignore`, `.gitignore` and `.git/info/exclude`, as git and ripgrep read them.
//!
//! They apply to their folder and everything below it, down from the root; those above the root are outside, and not
//! read. A `.gitignore` applies with or without a repository, but not in a repository further down. They keep listings
//! short and are no protection: an ignored folder can still be named. Because they come with a repository, their cost
//! is bounded: patterns that are too complex or too many have no effect.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::disk::{Disk, FileKind};
use crate::policy::wildcards::{is_costly, too_much};

/// The number of bytes of an ignore file that are read. Compiling patterns costs far more than reading them.
const READ: u64 = 128 * 1024;

/// The budget of a walk for ignore files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IgnoreBudget {
    /// The number of bytes to read.
    pub(crate) bytes: u64,
    /// The number of patterns whose matching is costly.
    pub(crate) costly: usize,
}

/// The ignore files of a folder and of those above it.
#[derive(Debug)]
pub(super) struct Ignored {
    above: Option<Arc<Ignored>>,
    /// The path of the folder from the root.
    folder: PathBuf,
    /// `.ignore`, which takes precedence over the others.
    plain: Gitignore,
    git: Gitignore,
    /// `.git/info/exclude`.
    exclude: Gitignore,
    is_repository: bool,
}

impl Ignored {
    /// Returns the rules for this folder, given those above it. `has` tells which names may be in it, and `left` is the
    /// remaining budget.
    pub(super) fn within(
        disk: &dyn Disk,
        dir: &Dir,
        folder: &Path,
        above: Option<Arc<Self>>,
        has: &dyn Fn(&str) -> bool,
        left: &mut IgnoreBudget,
    ) -> Option<Arc<Self>> {
        let mut read =
            |dir: &Dir, name: &str| patterns(disk, dir, name, left).unwrap_or_else(Gitignore::empty);
        let mut own = |name: &str| if has(name) { read(dir, name) } else { Gitignore::empty() };
        let (plain, git) = (own(".ignore"), own(".gitignore"));
        let is_repository = has(".git") && disk.stat(dir, ".git".as_ref()).is_ok();
        if plain.is_empty() && git.is_empty() && !is_repository {
            return above;
        }
        let info = is_repository.then(|| disk.open_dir(dir, &Path::new(".git").join("info")).ok()).flatten();
        let exclude = info.map_or_else(Gitignore::empty, |info| read(&info, "exclude"));
        Some(Arc::new(Self { above, folder: folder.into(), plain, git, exclude, is_repository }))
    }

    /// Returns whether this path, from the root, is ignored.
    pub(super) fn leaves_out(&self, path: &Path, is_dir: bool) -> bool {
        let plain = self.levels().map(|level| level.asked(&level.plain, path, is_dir));
        if let Some(answer) = plain.flatten().next() {
            return answer;
        }
        for level in self.levels() {
            let answer = level.asked(&level.git, path, is_dir);
            if let Some(answer) = answer.or_else(|| level.asked(&level.exclude, path, is_dir)) {
                return answer;
            }
            if level.is_repository {
                break;
            }
        }
        false
    }

    /// Returns whether these rules of folders above ignore everything in this folder because of the folder itself, as
    /// `build/*` does, rather than everything everywhere with some exceptions.
    pub(super) fn are_about_all_in(&self, folder: &Path) -> bool {
        // Tries a name that nobody uses, which only a pattern for all names matches.
        let all_in = |folder: &Path| self.leaves_out(&folder.join("\u{1}\u{2}\u{3}"), false);
        all_in(folder) && folder.parent().is_some_and(|above| !all_in(above))
    }

    /// Returns the rules of this folder, then those of the folders above.
    fn levels(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |level| level.above.as_deref())
    }

    fn asked(&self, patterns: &Gitignore, path: &Path, is_dir: bool) -> Option<bool> {
        if patterns.is_empty() {
            return None;
        }
        match patterns.matched(path.strip_prefix(&self.folder).ok()?, is_dir) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        }
    }
}

/// Reads the patterns of an ignore file; `None` if it is missing or not a regular file, as in git.
fn patterns(disk: &dyn Disk, dir: &Dir, name: &str, left: &mut IgnoreBudget) -> Option<Gitignore> {
    let file = disk.open_file(dir, name.as_ref()).ok()?;
    if disk.stat_file(&file).ok()?.kind != FileKind::File {
        return None;
    }
    let limit = READ.min(left.bytes);
    let mut bytes = disk.read(&file, limit, &mut |_| {}).ok()?;
    left.bytes -= limit.min(bytes.len() as u64);
    if bytes.len() as u64 > limit {
        // The last line may have been cut into another pattern.
        bytes.truncate(memchr::memrchr(b'\n', &bytes).unwrap_or(0));
    }
    let mut builder = GitignoreBuilder::new("");
    for line in String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').lines() {
        let is_costly = !line.starts_with('#') && is_costly(line);
        if too_much(line).is_some() || (is_costly && left.costly == 0) {
            continue;
        }
        left.costly -= usize::from(is_costly);
        // An invalid line is skipped.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_of_ignore_files_is_bounded_and_no_pattern_is_cut() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".ignore"), "aaaa\nbbbb\n").unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        for (bytes, ignored) in [(0, 0), (3, 0), (4, 1), (8, 1), (9, 2), (10, 2), (20, 2)] {
            let mut left = IgnoreBudget { bytes, costly: 0 };
            let patterns = patterns(&*crate::disk::for_this_machine(), &dir, ".ignore", &mut left).unwrap();
            assert_eq!(patterns.num_ignores(), ignored);
        }
    }

    #[test]
    fn a_pattern_that_costs_too_much_leaves_nothing_out_and_the_others_do() {
        let folder = tempfile::tempdir().unwrap();
        let hostile: String = (0..100).map(|i| format!("{}z{i}\n", "*a*b*c*d*e*f".repeat(5))).collect();
        std::fs::write(folder.path().join(".gitignore"), format!("{hostile}*.o\n*.a?\n*.b?\ntarget/\n"))
            .unwrap();
        let dir = Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        let mut left = IgnoreBudget { bytes: 1 << 20, costly: 1 };
        let disk = crate::disk::for_this_machine();
        let patterns = patterns(&*disk, &dir, ".gitignore", &mut left).unwrap();
        assert_eq!(left.costly, 0);
        let ignores = |name: &str, is_dir| patterns.matched(name, is_dir).is_ignore();
        assert!(
            !ignores(&format!("{}z7", "abcdef".repeat(5)), false),
            "more wildcards than any pattern needs"
        );
        assert!(ignores("x.o", false) && ignores("x.ab", false) && ignores("target", true));
        assert!(!ignores("x.ba", false), "one costly pattern more than there may be");
    }
}
