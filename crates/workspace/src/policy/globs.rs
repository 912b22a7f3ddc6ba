//! Globs: lists of patterns for paths below a root, with the rules of git's ignore files.
//!
//! A pattern without a slash matches a name at any depth; one with an inner slash starts at the top of the root; `*`
//! and `?` stop at slashes, `**` does not. A match of a folder covers everything beneath it. A `!` makes exceptions
//! from earlier patterns, though not beneath a folder that is itself matched. Names that some disk treats as the same
//! are the same ([`Folded`]): on some, `.ENV` opens `.env`, and elsewhere the refusal harms nobody. `?` and `[...]`
//! match a single byte, so only `*` matches a non-ASCII letter.

use std::sync::OnceLock;

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::folded::{Folded, Form, folded};
use super::short::{may_be_short, short_names};
use crate::policy::wildcards::too_much;

/// The number of patterns that a list may have: each costs time for each name.
pub(crate) const MOST: usize = 1000;

/// A compiled list of patterns.
#[derive(Clone, Debug)]
pub(crate) struct Globs {
    /// The patterns without a slash, for one name. Kept apart because most of them need no regular expression, whose
    /// compilation would slow down each start.
    of_names: Numbered,
    /// The patterns with a slash, for the path from the top.
    of_paths: Numbered,
    /// Each pattern as displayed, and whether it is an exception.
    patterns: Vec<(String, bool)>,
    /// The folded patterns other than exceptions, with their indexes; a `/` comes before those for paths.
    caught: Vec<(usize, String)>,
    /// The patterns for short names, compiled when the first name looks like one.
    shorts: OnceLock<Box<Shorts>>,
}

/// The patterns for the short names of files that other patterns match.
#[derive(Clone, Debug, Default)]
struct Shorts {
    of_names: Option<Numbered>,
    of_paths: Option<Numbered>,
}

/// Patterns that are matched together, with their indexes in the list.
#[derive(Clone, Debug)]
struct Numbered {
    set: GlobSet,
    numbers: Vec<usize>,
}

impl Globs {
    /// Compiles these patterns. The last match decides.
    pub(crate) fn new<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        Self::shown_as(patterns.into_iter().map(|pattern| (pattern, pattern)))
    }

    /// Compiles these patterns, each paired with its display form, for patterns derived from others.
    pub(crate) fn shown_as<'a>(
        patterns: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, String> {
        let (mut of_names, mut of_paths) = (Vec::new(), Vec::new());
        let (mut kept, mut caught) = (Vec::new(), Vec::new());
        for (number, (written, shown)) in patterns.into_iter().enumerate() {
            let wrong = |why: &str| format!("the pattern '{shown}' cannot be used: {why}");
            if let Some(why) = too_much(written) {
                return Err(wrong(&why));
            }
            if number == MOST {
                return Err(format!("there are more than {MOST} patterns"));
            }
            let (plain, takes_back) = match written.strip_prefix('!') {
                Some(plain) => (plain, true),
                None => (written, false),
            };
            let from_top = plain.strip_prefix("./").or(plain.strip_prefix('/'));
            let inside = from_top.unwrap_or(plain).trim_end_matches('/');
            if inside.split('/').any(|name| matches!(name, "" | "." | "..")) {
                return Err(wrong(
                    "it must be names with slashes between them, from the top of the workspace",
                ));
            }
            let is_path = from_top.is_some() || inside.contains('/');
            let pattern = folded(inside);
            let glob = glob(&pattern, is_path).map_err(|error| wrong(&error))?;
            if is_path { &mut of_paths } else { &mut of_names }.push((number, glob));
            kept.push((shown.into(), takes_back));
            if !takes_back {
                caught.push((number, if is_path { format!("/{pattern}") } else { pattern }));
            }
        }
        let (of_names, of_paths) = (Numbered::new(of_names)?, Numbered::new(of_paths)?);
        Ok(Self { of_names, of_paths, patterns: kept, caught, shorts: OnceLock::new() })
    }

    /// Returns the index of the last pattern that matches this by its short name.
    fn by_short_name(&self, prefix: &str, name: &str, found: &mut Vec<usize>) -> Option<usize> {
        if !may_be_short(prefix) {
            return None;
        }
        let shorts = self.shorts.get_or_init(|| Box::new(Shorts::of(&self.caught)));
        let of_names = shorts.of_names.as_ref().and_then(|globs| globs.last(name, found));
        of_names.max(shorts.of_paths.as_ref().and_then(|globs| globs.last(prefix, found)))
    }

    /// Returns the pattern that matches this path or a folder above it.
    pub(crate) fn catching(&self, path: &Folded) -> Option<&str> {
        path.forms().find_map(|form| {
            let (written, _) = self.matches(form).find(|(_, takes_back)| !takes_back)?;
            Some(written)
        })
    }

    /// Returns the last match for this path, from the outermost folder on. Unlike in [`catching`](Self::catching), an
    /// exception covers everything beneath, until a deeper pattern matches.
    pub(crate) fn last_word(&self, path: &Folded) -> Option<GlobVerdict<'_>> {
        let words = path.forms().filter_map(|form| {
            let (written, takes_back) = self.matches(form).last()?;
            Some(if takes_back { GlobVerdict::Free } else { GlobVerdict::Caught(written) })
        });
        words.max()
    }

    /// Returns the last pattern that matches each folder above the path, and the path itself, and whether it is an
    /// exception.
    fn matches<'a>(&'a self, form: &Form) -> impl Iterator<Item = (&'a str, bool)> {
        let mut found = Vec::new();
        form.prefixes().zip(form.names()).filter_map(move |(prefix, name)| {
            let last = self.of_names.last(name, &mut found).max(self.of_paths.last(prefix, &mut found));
            let last = last.max(self.by_short_name(prefix, name, &mut found));
            let (written, takes_back) = &self.patterns[last?];
            Some((written.as_str(), *takes_back))
        })
    }
}

/// The verdict of a list on a path. If two forms of the path get different verdicts, the greater counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GlobVerdict<'a> {
    /// An exception matches it.
    Free,
    /// This pattern matches it.
    Caught(&'a str),
}

/// Compiles a pattern for a path, or for a single name, which has no slashes.
fn glob(pattern: &str, is_path: bool) -> Result<Glob, String> {
    let glob = GlobBuilder::new(pattern).literal_separator(is_path).backslash_escape(true).build();
    glob.map_err(|error| error.kind().to_string())
}

impl Shorts {
    fn of(caught: &[(usize, String)]) -> Self {
        let numbered = |is_path: bool| {
            let patterns = caught.iter().filter(|(_, pattern)| pattern.starts_with('/') == is_path);
            let globs = patterns.filter_map(|(number, pattern)| {
                let names = pattern.trim_start_matches('/').split('/').map(|name| match short_names(name) {
                    // Globs cannot have nested groups.
                    Some(short) if !name.contains(['{', '\\']) => format!("{{{name},{short}}}"),
                    _ => name.to_owned(),
                });
                Some((*number, glob(&names.collect::<Vec<_>>().join("/"), is_path).ok()?))
            });
            Numbered::new(globs.collect()).ok()
        };
        Self { of_names: numbered(false), of_paths: numbered(true) }
    }
}

impl Numbered {
    fn new(globs: Vec<(usize, Glob)>) -> Result<Self, String> {
        let mut set = GlobSetBuilder::new();
        let add = |(number, glob)| {
            set.add(glob);
            number
        };
        let numbers = globs.into_iter().map(add).collect();
        Ok(Self { set: set.build().map_err(|error| error.to_string())?, numbers })
    }

    /// Returns the index of the last pattern that matches. `found` is a reusable buffer.
    fn last(&self, path: &str, found: &mut Vec<usize>) -> Option<usize> {
        self.set.matches_candidate_into(&Candidate::new(path), found);
        found.iter().map(|&at| self.numbers[at]).max()
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn path(written: &str) -> Folded {
        Folded::new(&written.split('/').map(OsString::from).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(patterns: &[&str], caught: &[&str], free: &[&str]) {
        let globs = Globs::new(patterns.iter().copied()).unwrap();
        for written in caught {
            assert!(globs.catching(&path(written)).is_some(), "{patterns:?} should catch {written}");
        }
        for written in free {
            assert_eq!(globs.catching(&path(written)), None, "{patterns:?} and {written}");
        }
    }

    #[test]
    fn a_pattern_without_a_slash_matches_at_any_depth_and_one_with_a_slash_from_the_top() {
        check(&["*.pem"], &["a.pem", "x/y/a.pem", ".pem"], &["a.pem.txt", "pem"]);
        check(&["docs/*.md"], &["docs/a.md"], &["x/docs/a.md", "docs/x/a.md", "a.md"]);
        check(&["/top.txt"], &["top.txt"], &["x/top.txt"]);
        check(&["**/build/*.o"], &["build/a.o", "x/build/a.o"], &["build/x/a.o"]);
        check(&["a/**"], &["a/b", "a/b/c"], &["a", "b/a/c"]);
        check(&["*.{key,pem}", "id_?sa"], &["a.key", "id_rsa"], &["id_ed25519"]);
        check(&["./x", "./y/z"], &["x", "y/z"], &["z/x", "x.y"]);
    }

    #[test]
    fn what_matches_a_folder_holds_for_everything_beneath() {
        check(&["secrets"], &["secrets", "secrets/a", "x/secrets/y/z"], &["secrets.txt"]);
        check(&["secrets/"], &["secrets", "secrets/a", "x/secrets/y/z"], &["secrets.txt"]);
        check(&["x/secrets/"], &["x/secrets/a"], &["secrets/a"]);
    }

    #[test]
    fn the_last_pattern_that_matches_decides_but_not_beneath_a_caught_folder() {
        check(&[".env*", "!.env.example"], &[".env", ".env.local", "x/.env"], &[".env.example"]);
        check(&["!.env.example", ".env*"], &[".env.example"], &[]);
        check(&["a/", "!a/b"], &["a/b"], &[]);
        check(&["*.key", "!docs/*.key", "docs/own.key"], &["a.key", "docs/own.key"], &["docs/a.key"]);
    }

    #[test]
    fn case_and_invisible_characters_make_no_other_name() {
        check(&[".env", "*.KEY"], &[".ENV", ".eNv", "a.key", "a.\u{212a}ey", ".e\u{200d}nv"], &["env"]);
        check(&["straße"], &["STRASSE", "Straße", "STRA\u{1e9e}E"], &["strase"]);
        check(&["*.pem", "id_rsa"], &["a.pem.", "a.pem::$DATA", "id_rsa ", "id_r\u{ad}sa"], &["a.pem.x"]);
        // In a pattern, a colon has no special meaning.
        check(&["*:30.log"], &["12:30.log"], &["12.log", "a"]);
        check(&["id_rsa"], &["id_r\u{17f}a"], &[]);
        check(
            &["caf\u{e9}", "e\u{301}t\u{e9}/"],
            &["cafe\u{301}", "CAFE\u{301}", "\u{c9}te\u{301}/x"],
            &["cafe"],
        );
    }

    #[test]
    fn a_short_name_is_the_long_one() {
        let long = &[
            ".git-credentials",
            "id_ed25519",
            "*.code-workspace",
            "**/.config/systemd/user",
            "a/b-long-name",
        ];
        let caught = [
            "GIT-CR~1",
            "x/git-cr~4",
            "git-c~12",
            "gi7eba~1",
            "ID_ED2~1",
            "MY~1.COD",
            "CONFIG~1/SYSTEM~1/user",
            "x/.config/systemd/USER~1/a",
            "a/B-LONG~1/x",
            "GIT-CR~1. ",
            "GIT-CR~1::$DATA",
        ];
        check(
            long,
            &caught,
            &["git-cr", "git-cr~", "git-cr~x", "gi7ebx~1", "b-long~1", "id_ed2~1.pub", "x.c~"],
        );
        check(&[".git-credentials", "!GIT-CR~1"], &["git-c~12"], &["git-cr~1"]);
        check(&["*"], &["a~1"], &[]);
        check(&["*.{key,pem}"], &["a~1.key"], &["a~1.txt"]);
    }

    #[test]
    fn the_innermost_word_decides_where_the_last_is_asked_for() {
        let globs = Globs::new([".claude/", "!**/.claude/worktrees", ".vscode/", "!x/"]).unwrap();
        let word = |written: &str| globs.last_word(&path(written));
        assert_eq!(word(".claude/a"), Some(GlobVerdict::Caught(".claude/")));
        assert_eq!(word(".claude/worktrees/a/b"), Some(GlobVerdict::Free));
        assert_eq!(word(".claude/worktrees/a/.vscode/b"), Some(GlobVerdict::Caught(".vscode/")));
        assert_eq!((word("x/.vscode/x/a"), word("a")), (Some(GlobVerdict::Free), None));
    }

    #[test]
    fn names_that_are_no_unicode_are_compared_as_far_as_they_are() {
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStringExt;
            let name = OsString::from_vec(b"\xff.pem".to_vec());
            assert!(Globs::new(["*.pem"]).unwrap().catching(&Folded::new(&[name])).is_some());
        }
    }

    #[test]
    fn a_pattern_that_means_nothing_is_refused() {
        for wrong in ["", "!", "/", "./", ".", "../x", "a/../b", "a//b", "[a", "{a"] {
            assert!(Globs::new([wrong]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn patterns_that_would_take_long_are_refused() {
        assert!(Globs::new([&*"*a".repeat(40)]).is_err());
        assert!(Globs::new(["a"; MOST]).is_ok() && Globs::new(["a"; MOST + 1]).is_err());
    }
}
