//! Suggestions of existing files for a path that leads nowhere: a refusal names them, but they are never edited
//! instead.
//!
//! Paths with the longest common end come first (`proj/src/app/main.py` and `main.py` both suggest `src/app/main.py`),
//! ignoring letter case, the kind of slash and the composition of accents; then similar names in the same folder. The
//! work is bounded, and no path is suggested that a listing would not show.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::problem::{EditKind, Kind, Problem, nearest};

use crate::disk::FileKind;
use crate::files::roots::{Root, Roots};
use crate::files::walk::{self, Walk};
use crate::policy::folded::folded;

/// The number of names visited in all roots together.
const LOOKED_AT: usize = 200_000;
/// The number of names visited in the folder that a path leads to.
const BESIDE: usize = 2_000;
/// The number of paths of one request that get suggestions.
const PATHS: usize = 50;
/// The number of suggestions for each.
const NAMED: usize = 5;
/// The number of guesses kept during the search.
const KEPT: usize = 100;
/// The length below which a name is not considered misspelt.
const TELLING: usize = 5;

/// The kind of thing that a path may mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A file.
    File,
    /// A file or a folder.
    Any,
}

/// Returns whether any problem is of a path that leads nowhere. Finding suggestions takes too long for a quick answer.
pub(crate) fn has_lost_paths(roots: &Roots, problems: &[Problem]) -> bool {
    problems.iter().any(|problem| is_lost(roots, problem))
}

/// Adds suggestions to the problems of paths that lead nowhere.
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
    // A client that has cancelled gets no answer anyway.
    let _ = walk_all(roots, &mut searched, wanted, cancelled);
    for (at, lost) in lost.into_iter().zip(searched) {
        problems[at].meant = lost.best(roots, wanted).into();
    }
    problems
}

/// Returns whether the problem is of a path that leads nowhere.
fn is_lost(roots: &Roots, problem: &Problem) -> bool {
    let is_there = |name: &String| roots.admit(name).is_ok_and(|path| path.place.missing == 0);
    problem.path.is_some()
        && match &*problem.kind {
            Kind::Edit(EditKind::MissingOriginal | EditKind::NothingToAddTo)
            | Kind::PathOutsideWorkspace { .. } => true,
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

/// A guess, ordered from best to worst.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Guess {
    /// The number of equal components at the end, after folding; zero if only the file name is similar.
    tail: Reverse<usize>,
    /// The number of these that are spelled the same.
    same: Reverse<usize>,
    /// The number of equal components at the beginning.
    head: Reverse<usize>,
    /// The number of components.
    depth: usize,
    name: String,
}

/// A path that leads nowhere, and the best guesses so far.
struct Lost {
    /// Its components as written, split at both kinds of slash.
    written: Vec<String>,
    folded: Vec<String>,
    guesses: BTreeSet<Guess>,
}

impl Lost {
    fn new(roots: &Roots, written: &str) -> Self {
        let is_root = |name: &str| roots.all().iter().any(|root| root.name == name);
        let inside =
            written.split_once(':').filter(|(name, _)| is_root(name)).map_or(written, |(_, inside)| inside);
        let inside = inside.trim_matches(['"', '\'', '`']);
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

    /// Tries each end of the path: diffs add an `a/`, and clients that work above the workspace its folder name.
    fn look_at_ends(&mut self, roots: &Roots) {
        for at in 0..self.written.len() {
            if let Ok(path) = roots.admit(&self.written[at..].join("/"))
                && path.place.missing == 0
            {
                self.add(roots, &path.root, &path.place.names.iter().collect::<PathBuf>());
            }
        }
    }

    /// Looks for similar names in the folder that the path leads to.
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

    /// Returns the best guesses that a listing would show: those with the longest common end, and similar names.
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

/// Returns whether one name may be a mistake for the other: they have the same stem, or one begins with the stem of the
/// other, or a letter or two differ.
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

    /// Returns the suggestions for this path among these files: `hidden/` is forbidden, `build/` is ignored.
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
        name_meant(&roots, vec![problem], Meaning::File, &|| false).remove(0).meant.into_vec()
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
            "\"src/app/main.py\"",
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
