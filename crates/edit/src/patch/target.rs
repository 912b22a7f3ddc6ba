//! The file that the headers of a diff mean, and whether they create, delete or rename it.
//!
//! The names of the two sides, those of a rename, and the one that the caller gave must agree. If they do not, nothing
//! is guessed; the refusal names both.

use alloc::format;
use alloc::string::{String, ToString};

use super::git::Header;
use super::lines::invalid;
use super::names::{self, HeaderName};
use crate::problem::Problem;
use crate::problem::malformed::Header as Fault;

type Names = (HeaderName, HeaderName);

/// The file of a part of a diff.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The name of the file.
    pub(super) from: String,
    /// The new name of the file, which differs only for a rename.
    pub(super) to: String,
    pub(super) created: bool,
    pub(super) deleted: bool,
}

/// Returns the file that the headers mean, under the caller's name for it.
pub(super) fn target(header: &Header, path: Option<&str>) -> Result<Target, Problem> {
    let refuse = |fault: Fault| invalid(header.number, fault);
    let target = match of_headers(header) {
        // The caller's name decides if the diff's two names mean one file in two folders.
        Err(Fault::DifferentNames { old, new })
            if path.is_some_and(|path| is_end(path, &old) && is_end(path, &new)) =>
        {
            Target { from: new.clone(), to: new, created: false, deleted: false }
        }
        Err(Fault::DifferentNames { old, new }) if path.is_some() => {
            let path = path.unwrap_or_default().into();
            return Err(refuse(Fault::AnotherFile { path, named: old, other: Some(new) }));
        }
        target => target.map_err(refuse)?,
    };
    if target.created && target.deleted {
        return Err(refuse(Fault::CreatedAndDeleted));
    }
    match path {
        Some(path) => named(header.number, target, path),
        None => Ok(target),
    }
}

fn of_headers(header: &Header) -> Result<Target, Fault> {
    let pair = |old: &str, new: &str| (names::side(old), names::side(new));
    let with_short = |names: Names| (names.clone(), prefixed(header, names));
    let git = header.git.as_ref().map(|(old, new)| with_short(pair(old, new)));
    let sides = header.sides.clone().map(with_short);
    let renamed = header.rename_from.as_deref().zip(header.rename_to.as_deref());
    // The names of a rename have no prefixes, but models add them.
    let renamed = renamed.map(|(from, to)| (pair(from, to), pair(from, to)));
    if let Some((line, other)) = difference(&git, &sides).or_else(|| difference(&git, &renamed)) {
        return Err(Fault::OtherGitLine { line, other });
    }
    let (created, deleted) = (header.created, header.deleted);
    let is_half = renamed.is_none() && (header.rename_from.is_some() || header.rename_to.is_some());
    if is_half || (renamed.is_some() && (created || deleted)) {
        return Err(Fault::HalfRename);
    }
    if let Some((old, new)) = difference(&renamed, &sides) {
        return Err(Fault::DifferentNames { old, new });
    }
    let is_renamed = renamed.is_some();
    let are_paths = |(names, _): &(Names, Names)| matches!(names, (HeaderName::Path(_), HeaderName::Path(_)));
    let of = |name: String| Ok(Target { from: name.clone(), to: name, created, deleted });
    let named = if is_renamed { sides.filter(are_paths).or(renamed) } else { sides.or(git) };
    let Some((_, names)) = named else {
        return header.index.as_ref().map_or(Err(Fault::NoFileNamed), |name| of(relative(name)));
    };
    match names {
        (HeaderName::Nothing, HeaderName::Nothing) => Err(Fault::BothSidesNothing),
        (HeaderName::Nothing, HeaderName::Path(new)) => Ok(Target { created: true, ..of(relative(&new))? }),
        (HeaderName::Path(old), HeaderName::Nothing) => Ok(Target { deleted: true, ..of(relative(&old))? }),
        (HeaderName::Path(old), HeaderName::Path(new)) => {
            let (from, to) = (relative(&old), relative(&new));
            if from.is_empty() || to.is_empty() {
                Err(Fault::NoFileNamed)
            } else if is_renamed {
                Ok(Target { from, to, created, deleted })
            } else if from == to || names::is_backup(&from, &to) {
                of(to)
            } else {
                Err(Fault::DifferentNames { old: from, new: to })
            }
        }
    }
}

/// Returns the two names of one side of which two headers give different ones. Each header is given as it is and without
/// prefixes; one of these must agree, where both name a file.
fn difference(a: &Option<(Names, Names)>, b: &Option<(Names, Names)>) -> Option<(String, String)> {
    let ((a, short_a), (b, short_b)) = (a.as_ref()?, b.as_ref()?);
    let is_same = |a: &HeaderName, b: &HeaderName| match (a, b) {
        (HeaderName::Path(a), HeaderName::Path(b)) => relative(a) == relative(b),
        _ => true,
    };
    let are_same = |a: &Names, b: &Names| is_same(&a.0, &b.0) && is_same(&a.1, &b.1);
    let names = if is_same(&short_a.0, &short_b.0) { (&a.1, &b.1) } else { (&a.0, &b.0) };
    let differ = !are_same(a, b) && !are_same(short_a, short_b);
    differ.then(|| (names.0.to_string(), names.1.to_string()))
}

/// Strips git's prefixes from the names. If one side is no file, the `diff --git` line shows which were used.
fn prefixed(header: &Header, (old, new): Names) -> Names {
    let ((Some((git_old, git_new)), HeaderName::Nothing, _)
    | (Some((git_old, git_new)), _, HeaderName::Nothing)) = (&header.git, &old, &new)
    else {
        return names::without_prefixes(old, new);
    };
    let (short_old, short_new) =
        names::without_prefixes(HeaderName::Path(git_old.clone()), HeaderName::Path(git_new.clone()));
    let cut = |name: HeaderName, long: &str, short: HeaderName| match &name {
        HeaderName::Path(path) if path == long => short,
        _ => name,
    };
    (cut(old, git_old, short_old), cut(new, git_new, short_new))
}

fn relative(name: &str) -> String {
    name.strip_prefix("./").unwrap_or(name).to_string()
}

/// Returns whether a name ends with the path, folder by folder.
fn is_end(path: &str, name: &str) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path);
    name == path || name.strip_suffix(path).is_some_and(|folder| folder.ends_with('/'))
}

/// Returns the file under the caller's name for it, if that names the same one.
fn named(line: usize, target: Target, path: &str) -> Result<Target, Problem> {
    if target.from == target.to {
        if names::agree(path, &target.from) {
            return Ok(Target { from: path.into(), to: path.into(), ..target });
        }
    } else if path == target.from || path == target.to {
        return Ok(target);
    } else if let Some(folder) = path.strip_suffix(&target.from).filter(|folder| folder.ends_with('/')) {
        return Ok(Target { from: path.into(), to: format!("{folder}{}", target.to), ..target });
    }
    Err(invalid(line, Fault::AnotherFile { path: path.into(), named: target.from, other: None }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(from: &str, to: &str) -> Target {
        Target { from: from.into(), to: to.into(), created: false, deleted: false }
    }

    #[test]
    fn a_path_in_the_call_may_add_the_folders_that_a_diff_leaves_out() {
        let named = |from: &str, to: &str, path: &str| named(7, renamed(from, to), path).ok();
        assert_eq!(named("b.rs", "b.rs", "src/b.rs"), Some(renamed("src/b.rs", "src/b.rs")));
        assert_eq!(named("src/b.rs", "src/b.rs", "b.rs"), Some(renamed("b.rs", "b.rs")));
        // The caller may give either name of a rename, or the folder of both.
        assert_eq!(named("b.rs", "c.rs", "b.rs"), Some(renamed("b.rs", "c.rs")));
        assert_eq!(named("b.rs", "c.rs", "c.rs"), Some(renamed("b.rs", "c.rs")));
        assert_eq!(named("b.rs", "c.rs", "src/b.rs"), Some(renamed("src/b.rs", "src/c.rs")));
        for (from, to, path) in
            [("b.rs", "b.rs", "c.rs"), ("b.rs", "c.rs", "src/c.rs"), ("b.rs", "c.rs", "ab.rs")]
        {
            assert_eq!(named(from, to, path), None, "{path}");
        }
    }
}
