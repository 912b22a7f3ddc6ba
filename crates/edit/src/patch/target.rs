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
    check_git_line(header)?;
    let (created, deleted) = (header.created, header.deleted);
    let of = |name: String| Ok(Target { from: name.clone(), to: name, created, deleted });
    let sides = header.sides.clone().or_else(|| {
        let (old, new) = header.git.clone()?;
        Some((HeaderName::Path(old), HeaderName::Path(new)))
    });
    match (&header.rename_from, &header.rename_to) {
        (Some(from), Some(to)) if !created && !deleted => return renamed(header, from, to),
        (None, None) => {}
        _ => {
            return Err(Fault::HalfRename);
        }
    }
    let Some((old, new)) = sides else {
        return match &header.index {
            Some(name) => of(relative(name)),
            None => Err(Fault::NoFileNamed),
        };
    };
    match prefixed(header, old, new) {
        (HeaderName::Nothing, HeaderName::Nothing) => Err(Fault::BothSidesNothing),
        (HeaderName::Nothing, HeaderName::Path(new)) => Ok(Target { created: true, ..of(relative(&new))? }),
        (HeaderName::Path(old), HeaderName::Nothing) => Ok(Target { deleted: true, ..of(relative(&old))? }),
        (HeaderName::Path(old), HeaderName::Path(new)) => {
            let (old, new) = (relative(&old), relative(&new));
            if old.is_empty() || new.is_empty() {
                Err(Fault::NoFileNamed)
            } else if old == new || names::is_backup(&old, &new) {
                of(new)
            } else {
                Err(Fault::DifferentNames { old, new })
            }
        }
    }
}

/// Refuses headers that name another file than the `diff --git` line, each read with or without its prefixes.
fn check_git_line(header: &Header) -> Result<(), Fault> {
    let Some((old, new)) = &header.git else { return Ok(()) };
    let git = (names::side(old), names::side(new));
    let short_git = names::without_prefixes(git.0.clone(), git.1.clone());
    let is_same = |a: &HeaderName, b: &HeaderName| match (a, b) {
        (HeaderName::Path(a), HeaderName::Path(b)) => relative(a) == relative(b),
        _ => true,
    };
    let are_same = |a: &(HeaderName, HeaderName), b: &(HeaderName, HeaderName)| {
        is_same(&a.0, &b.0) && is_same(&a.1, &b.1)
    };
    let sides = header.sides.clone().map(|sides| {
        let short = prefixed(header, sides.0.clone(), sides.1.clone());
        (sides, short)
    });
    let renamed = header.rename_from.as_deref().zip(header.rename_to.as_deref()).map(|(from, to)| {
        let names = (names::side(from), names::side(to));
        (names.clone(), names)
    });
    for (names, short) in sides.into_iter().chain(renamed) {
        if !are_same(&git, &names) && !are_same(&short_git, &short) {
            let (line, other) = match is_same(&short_git.0, &short.0) {
                true => (&git.1, &names.1),
                false => (&git.0, &names.0),
            };
            return Err(Fault::OtherGitLine { line: line.to_string(), other: other.to_string() });
        }
    }
    Ok(())
}

/// Reads a rename. Its names have no prefixes, but models add them. The sides, if there are any, must name the same two
/// files.
fn renamed(header: &Header, from: &str, to: &str) -> Result<Target, Fault> {
    let (from, to) = (relative(from), relative(to));
    let target = |from: String, to: String| Target { from, to, created: false, deleted: false };
    let Some((HeaderName::Path(old), HeaderName::Path(new))) = &header.sides else {
        return Ok(target(from, to));
    };
    let raw = (relative(old), relative(new));
    match prefixed(header, HeaderName::Path(old.clone()), HeaderName::Path(new.clone())) {
        (HeaderName::Path(old), HeaderName::Path(new)) => {
            let (old, new) = (relative(&old), relative(&new));
            if (&old, &new) == (&from, &to) || raw == (from.clone(), to.clone()) {
                Ok(target(old, new))
            } else if old == from {
                Err(Fault::DifferentNames { old: to, new })
            } else {
                Err(Fault::DifferentNames { old: from, new: old })
            }
        }
        _ => Ok(target(from, to)),
    }
}

/// Strips git's prefixes from the names. If one side is no file, the `diff --git` line shows which were used.
fn prefixed(header: &Header, old: HeaderName, new: HeaderName) -> (HeaderName, HeaderName) {
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
