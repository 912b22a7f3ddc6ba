//! Which files a path may mean that leads nowhere: they are named in the refusal, and never edited in its place.
//!
//! Those with the longest common end come first (`proj/src/app/main.py` and `main.py` both mean `src/app/main.py`), letter
//! case, the two slashes and the composition of accents aside; then what is in the same folder under a similar name. The
//! work is bounded, and nothing is named that a listing would not show.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::problem::{EditKind, Kind, Problem, nearest};

use crate::disk::FileKind;
use crate::files::roots::{Root, Roots};
use crate::files::walk::{self, Walk};
use crate::policy::folded::folded;

/// How many names are looked at, in all roots together.
const LOOKED_AT: usize = 200_000;
/// How many names of the folder that a path leads to.
const BESIDE: usize = 2_000;
/// How many paths of one request are looked for.
const PATHS: usize = 50;
/// How many files are named for each.
const NAMED: usize = 5;
/// How many guesses are kept while others are looked for.
const KEPT: usize = 100;
/// A shorter name is not taken for a misspelt one.
const TELLING: usize = 5;

/// What a path may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A file.
    File,
    /// A file or a folder.
    Any,
}

/// Whether there are problems of paths that lead nowhere: to name what they may mean takes too long for a quick answer.
pub(crate) fn has_lost_paths(roots: &Roots, problems: &[Problem]) -> bool {
    problems.iter().any(|problem| is_lost(roots, problem))
}

/// Returns the same problems; those of paths that lead nowhere name what may be meant.
pub(crate) fn name_meant(
    roots: &Roots,
    mut problems: Vec<Problem>,
    wanted: Meaning,
    cancelled: &dyn Fn() -> bool,
) -> Vec<Problem> {
    let lost: Vec<usize> =
        (0..problems.len()).filter(|&at| is_lost(roots, &problems[at])).take(PATHS).collect();
    if lost.is_empty() {
        return problems;
    }
    let mut searched: Vec<Lost> =
        lost.iter().filter_map(|&at| Some(Lost::new(roots, problems[at].path.as_deref()?))).collect();
    // Who has given up gets no answer in any case.
    let _ = walk_all(roots, &mut searched, wanted, cancelled);
    for (at, lost) in lost.into_iter().zip(searched) {
        problems[at].meant = lost.best(roots, wanted);
    }
    problems
}

/// Whether it is the problem of a path that leads nowhere.
fn is_lost(roots: &Roots, problem: &Problem) -> bool {
    let is_there = |name: &String| roots.admit(name).is_ok_and(|path| path.place.missing == 0);
    problem.path.is_some()
        && match &*problem.kind {
            Kind::Edit(EditKind::MissingOriginal) | Kind::PathOutsideWorkspace { .. } => true,
            Kind::AmbiguousPath { candidates } => !candidates.iter().any(is_there),
            _ => false,
        }
}

fn walk_all(
    roots: &Roots,
    searched: &mut [Lost],
    wanted: Meaning,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), Problem> {
    let limits = walk::WalkLimits { names: LOOKED_AT, ..walk::WalkLimits::default() };
    let mut walk = Walk::new(&**roots.disk(), cancelled, limits);
    let open = roots.all().iter().filter(|root| roots.check_open(root).is_ok());
    open.for_each(|root| walk.start(root, Path::new(""), 0));
    while let Some(folder) = walk.next()? {
        for (name, kind) in &folder.entries {
            let is_folder = *kind == FileKind::Dir;
            if is_folder {
                walk.enter(&folder, name, 0);
            }
            if is_folder && wanted == Meaning::File {
                continue;
            }
            let Some(folded) = name.to_str().map(folded) else { continue };
            for lost in searched.iter_mut().filter(|lost| lost.folded.last() == Some(&folded)) {
                lost.add(roots, &folder.root, &folder.path.join(name));
            }
        }
    }
    Ok(())
}

/// How good a guess is; the least is the best.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Guess {
    /// How many names at the end are the wanted ones, but for how they are written; none where only the last resembles it.
    tail: Reverse<usize>,
    /// How many of them are written as they are wanted.
    same: Reverse<usize>,
    /// How many names at the beginning are the wanted ones.
    head: Reverse<usize>,
    /// How many names it has.
    depth: usize,
    name: String,
}

/// A path that leads nowhere, and the best guesses at what it means.
struct Lost {
    /// Its names as they are written, whichever slash is between them.
    written: Vec<String>,
    folded: Vec<String>,
    guesses: BTreeSet<Guess>,
}

impl Lost {
    fn new(roots: &Roots, written: &str) -> Self {
        let is_root = |name: &str| roots.all().iter().any(|root| root.name == name);
        let inside =
            written.split_once(':').filter(|(name, _)| is_root(name)).map_or(written, |(_, inside)| inside);
        let names = inside.split(['/', '\\']).filter(|name| !matches!(*name, "" | "." | ".."));
        let written: Vec<String> = names.map(str::to_owned).collect();
        let folded = written.iter().map(|name| folded(name)).collect();
        let mut lost = Self { written, folded, guesses: BTreeSet::new() };
        lost.look_at_ends(roots);
        lost.look_beside(roots);
        lost
    }

    fn add(&mut self, roots: &Roots, root: &Root, path: &Path) {
        let names: Vec<&str> = path.iter().filter_map(OsStr::to_str).collect();
        let both = || names.iter().rev().zip(self.folded.iter().zip(&self.written).rev());
        let tail = both().take_while(|(name, (wanted, _))| folded(name) == **wanted).count();
        let same = both().take(tail).take_while(|(name, (_, wanted))| *name == wanted).count();
        let head =
            names.iter().zip(&self.folded).take_while(|(name, wanted)| folded(name) == **wanted).count();
        let name = roots.called_at(root, path);
        let (tail, same, head) = (Reverse(tail), Reverse(same), Reverse(head));
        self.guesses.insert(Guess { tail, same, head, depth: names.len(), name });
        if self.guesses.len() > KEPT {
            self.guesses.pop_last();
        }
    }

    /// Looks for the end of the path: a diff has an `a/` before it, and who works above the workspace its folder.
    fn look_at_ends(&mut self, roots: &Roots) {
        for at in 0..self.written.len() {
            if let Ok(path) = roots.admit(&self.written[at..].join("/"))
                && path.place.missing == 0
            {
                self.add(roots, &path.root, &path.place.names.iter().collect::<PathBuf>());
            }
        }
    }

    /// Looks for names that resemble the wanted one in the folder that the path leads to.
    fn look_beside(&mut self, roots: &Roots) {
        let (Ok(path), Some(wanted)) = (roots.admit(&self.written.join("/")), self.folded.last().cloned())
        else {
            return;
        };
        if path.place.missing != 1 {
            return;
        }
        let folder: PathBuf = path.place.names[..path.place.names.len() - 1].iter().collect();
        let names = roots.disk().names(&path.place.dir).unwrap_or_default();
        for name in names.iter().take(BESIDE).filter_map(|name| name.to_str()) {
            if resembles(&wanted, &folded(name)) {
                self.add(roots, &path.root, &folder.join(name));
            }
        }
    }

    /// The best guesses that a listing would show: those with the longest common end, and what is beside.
    fn best(self, roots: &Roots, wanted: Meaning) -> Vec<String> {
        let is_there = |name: &str| match wanted {
            Meaning::File => roots.admit(name).is_ok_and(|path| path.place.missing == 0),
            Meaning::Any => roots.admit_start(name).is_ok(),
        };
        let mut there = self.guesses.into_iter().filter(|guess| is_there(&guess.name)).peekable();
        let longest = there.peek().map_or(Reverse(0), |guess| guess.tail);
        let best = there.filter(|guess| guess.tail == longest || guess.tail == Reverse(0));
        best.take(NAMED).map(|guess| guess.name).collect()
    }
}

/// Whether one name may be meant by the other: all but the ending is the same in one as in the other's beginning, or a
/// letter or two are wrong.
fn resembles(wanted: &str, name: &str) -> bool {
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let (one, other) = (stem(wanted), stem(name));
    let begins =
        !one.is_empty() && !other.is_empty() && (name.starts_with(&one) || wanted.starts_with(&other));
    begins || wanted.len().min(name.len()) >= TELLING && nearest(wanted, [name]).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;
    use crate::files::roots::RootSpec;

    /// What is named for this path among these files: `hidden/` is off limits, `build/` is ignored.
    fn meant(files: &[&str], written: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        std::fs::write(folder.path().join(".gitignore"), "build/\n").unwrap();
        let spec = RootSpec { name: None, path: folder.path().into() };
        let settings = crate::Settings { forbidden_paths: vec!["hidden/".into()], ..Default::default() };
        let policy = Policy::new(&settings).unwrap();
        let roots = Roots::open(crate::disk::for_this_machine(), &[spec], &policy).unwrap();
        let problem = Problem::new(EditKind::MissingOriginal).at(written);
        name_meant(&roots, vec![problem], Meaning::File, &|| false).remove(0).meant
    }

    #[test]
    fn the_file_with_the_longest_common_end_is_named_in_full() {
        let files = ["src/app/main.py", "src/main.py", "lib/other.py", "hidden/src/app/main.py"];
        for written in [
            "proj/src/app/main.py",
            "a/src/app/main.py",
            "app/main.py",
            "SRC/APP/MAIN.PY",
            "src\\app\\main.py",
            "src/app/Main.py",
            "/somewhere/proj/app/main.py",
        ] {
            assert_eq!(meant(&files, written), ["src/app/main.py"], "{written}");
        }
        assert_eq!(meant(&files, "main.py"), ["src/main.py", "src/app/main.py"]);
        assert_eq!(meant(&files, "lib/main.py"), ["src/main.py", "src/app/main.py"]);
        assert_eq!(meant(&files, "lib/othre.py"), ["lib/other.py"]);
        assert_eq!(meant(&files, "lib/other.rs"), ["lib/other.py"]);
        assert_eq!(meant(&files, "nothing/like/it.txt"), [""; 0]);
    }

    #[test]
    fn the_composition_of_accents_is_left_out_of_account() {
        assert_eq!(
            meant(&["f\u{e4}il/n\u{e4}me.txt"], "fa\u{308}il/na\u{308}me.txt"),
            ["f\u{e4}il/n\u{e4}me.txt"]
        );
    }

    #[test]
    fn what_is_ignored_is_named_only_where_the_path_leads_to_it() {
        assert_eq!(meant(&["build/out/gen.js"], "gen.js"), [""; 0]);
        assert_eq!(meant(&["build/out/gen.js"], "a/build/out/gen.js"), ["build/out/gen.js"]);
        assert_eq!(meant(&["build/out/gen.js"], "build/out/Gen.js"), ["build/out/gen.js"]);
    }
}
