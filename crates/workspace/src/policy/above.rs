//! The rules for a root's files that follow from the folders above it: a file is protected by its whole path, whichever
//! folder of that path is opened as a root.
//!
//! For these folders only the default patterns count, and the user's exceptions to them. Other patterns of the user
//! concern the workspace: a folder around it may have any name.

use std::ffi::OsString;
use std::path::{Component, Path};
use std::sync::Arc;

use super::defaults::{APPROVE, FORBIDDEN};
use super::folded::{Folded, folded};
use super::globs::{GlobVerdict, Globs};
use super::{OWN_FOLDER, Policy};

/// The components of a root's path, from the top of the file system.
pub(super) struct Above {
    path: Folded,
    names: Vec<String>,
}

impl Above {
    pub(super) fn new(root: &Path) -> Self {
        let names = names_of(root);
        let path = Folded::new(&names);
        Self { path, names: names.iter().map(|name| folded(&name.to_string_lossy())).collect() }
    }

    /// Returns the rest of a pattern that matches at any depth, if its first components are the last ones of the root's
    /// path.
    fn rest_of<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = (String, &'a str)> {
        let (not, plain) = match pattern.strip_prefix('!') {
            Some(plain) => ("!", plain),
            None => ("", pattern),
        };
        let names: Vec<&str> = match plain.strip_prefix("**/") {
            Some(path) => path.trim_end_matches('/').split('/').collect(),
            None => Vec::new(),
        };
        (1..names.len()).filter_map(move |end| {
            let first: Vec<String> = names[..end].iter().map(|name| folded(name)).collect();
            self.names.ends_with(&first).then(|| (format!("{not}/{}", names[end..].join("/")), pattern))
        })
    }
}

impl Policy {
    /// Returns the reason why a root at this path must not be served, if there is one.
    pub(crate) fn refuses_root(&self, path: &Path) -> Option<String> {
        let above = Above::new(path);
        let why = |folder: &str, use_instead: &str| Some(format!("it is inside {folder}; {use_instead}"));
        if above.path.has_name(".git") {
            return why(
                "a .git folder, from which git runs programs",
                "name the project's own folder instead",
            );
        }
        if above.path.has_name(OWN_FOLDER)
            || self.own.iter().any(|own| above.path.is_within(&Folded::new(&names_of(own))))
        {
            return why("what Emend itself relies on", "name the project's own folder instead");
        }
        let globs = counting(&self.forbidden[0], FORBIDDEN, &self.said_forbidden).ok()?;
        let glob = globs.catching(&above.path)?;
        why(
            &format!("what is forbidden by default ('{glob}')"),
            &format!(
                "a person can free it with forbidden_paths = [\"!{glob}\"] in their own configuration file"
            ),
        )
    }

    /// Extends the lists that have defaults with the rules of the folders above a root at this path.
    pub(super) fn apply_folders_above(&mut self, path: &Path) -> Result<(), String> {
        let above = Above::new(path);
        let forbidden = counting(&self.forbidden[0], FORBIDDEN, &self.said_forbidden)?;
        if let Some(globs) = beneath(&forbidden, FORBIDDEN, &exceptions(&self.said_forbidden), &above)? {
            self.forbidden.push(Arc::new(globs));
        }
        let said = exceptions(&self.said_approve);
        let guarded = counting(&self.guarded, APPROVE, &said)?;
        if let Some(globs) = beneath(&guarded, APPROVE, &said, &above)? {
            self.guarded = Arc::new(globs);
        }
        let alone = counting(&self.said_of_guarded, &[], &self.said_approve)?;
        if let Some(globs) = beneath(&alone, &[], &self.said_approve, &above)? {
            self.said_of_guarded = Arc::new(globs);
        }
        Ok(())
    }
}

/// Returns the part of a list that counts for the folders above a root; the same list, if all of it does.
fn counting(list: &Arc<Globs>, defaults: &[&str], said: &[String]) -> Result<Arc<Globs>, String> {
    if said.iter().all(|said| is_exception_anywhere(said)) {
        return Ok(Arc::clone(list));
    }
    let said = said.iter().map(String::as_str).filter(|said| is_exception_anywhere(said));
    Globs::new(defaults.iter().copied().chain(said)).map(Arc::new)
}

/// Returns the patterns as they apply beneath a root; `None` if the folders above make no difference.
fn beneath(
    counting: &Globs,
    defaults: &[&str],
    said: &[String],
    above: &Above,
) -> Result<Option<Globs>, String> {
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    let wide: Vec<&str> = said.iter().copied().filter(|said| is_exception_anywhere(said)).collect();
    // The verdict for the root applies to everything in it, until a deeper pattern matches.
    let first = match counting.last_word(&above.path) {
        Some(GlobVerdict::Caught(shown)) => Some(("/*".to_owned(), shown)),
        Some(GlobVerdict::Free) => Some(("!/*".to_owned(), "!/*")),
        None => None,
    };
    let rest = |patterns: &[&str]| -> Vec<(String, String)> {
        let rest = patterns.iter().flat_map(|pattern| above.rest_of(pattern));
        rest.map(|(pattern, shown)| (pattern, shown.to_owned())).collect()
    };
    let (of_defaults, of_said) = (rest(defaults), rest(&wide));
    if first.is_none() && of_defaults.is_empty() && of_said.is_empty() {
        return Ok(None);
    }
    let plain = |patterns: &[&str]| -> Vec<(String, String)> {
        patterns.iter().map(|&pattern| (pattern.to_owned(), pattern.to_owned())).collect()
    };
    let first = first.map(|(pattern, shown)| (pattern, shown.to_owned()));
    let all = first.into_iter().chain(plain(defaults)).chain(of_defaults).chain(plain(&said)).chain(of_said);
    Globs::shown_as(all.collect::<Vec<_>>().iter().map(|(pattern, shown)| (&**pattern, &**shown))).map(Some)
}

/// Returns whether a pattern is an exception that does not only apply at the top of a workspace.
fn is_exception_anywhere(pattern: &str) -> bool {
    let plain = pattern.strip_prefix('!').map(|plain| plain.trim_end_matches('/'));
    plain.is_some_and(|plain| plain.starts_with("**/") || !plain.contains('/'))
}

/// Returns the exceptions among the user's patterns.
pub(super) fn exceptions(said: &[String]) -> Vec<String> {
    said.iter().filter(|said| said.starts_with('!')).cloned().collect()
}

fn names_of(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        _ => None,
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::super::Settings;
    use super::*;

    fn names(path: &str) -> Vec<OsString> {
        path.split('/').map(OsString::from).collect()
    }

    /// Returns the policy of a root at this path, for a user with these approval patterns.
    fn policy(root: &str, approve: &[&str]) -> Policy {
        let approve = approve.iter().map(|&said| said.to_owned()).collect();
        let mut policy = Policy::new(&Settings { approve, ..Settings::default() }).unwrap();
        policy.apply_folders_above(Path::new(root)).unwrap();
        policy
    }

    #[track_caller]
    fn check(root: &str, approve: &[&str], asked: &[&str], free: &[&str]) {
        let policy = policy(root, approve);
        for path in asked {
            assert!(policy.may_commit_without_approval(&names(path)).is_err(), "{path} in {root}");
        }
        for path in free {
            assert_eq!(policy.may_commit_without_approval(&names(path)), Ok(()), "{path} in {root}");
        }
    }

    #[test]
    fn a_file_is_protected_by_its_path_whichever_folder_of_it_is_opened() {
        check(
            "/home/ann",
            &[],
            &[".config/nvim/init.lua", ".vscode/x"],
            &["x", ".config/x", "nvim/init.lua"],
        );
        check("/home/ann/.config", &[], &["nvim/init.lua", "systemd/user/a", "fish/x"], &["x", "systemd/x"]);
        check("/home/ann/.config/systemd", &[], &["user/a"], &["x", "x/user/a"]);
        check("/home/ann/.Config/NVIM/lua", &[], &["x", "x/y"], &[]);
        check("/srv/p/.vscode", &[], &["tasks.json", "x/y"], &[]);
        check("/srv/p/.github", &[], &["hooks/x"], &["workflows/x", "x/hooks/y"]);
        check("/srv/.claude/worktrees/p", &[], &[".claude/x", ".claude/worktrees/q/.vscode/x"], &["x"]);
        check("/srv/.claude", &[], &["x", "y/worktrees/x"], &["worktrees/p/x", "rules/x", "CLAUDE.md"]);
    }

    #[test]
    fn what_a_person_takes_back_holds_there_too_but_what_they_add_is_about_the_workspace() {
        check("/home/ann/.config/nvim", &["!**/.config/nvim/"], &[".vscode/x"], &["init.lua"]);
        check("/home/ann/.config", &["!**/.config/nvim"], &["fish/x"], &["nvim/init.lua"]);
        check("/home/ann/.config/nvim/lua", &["!.config"], &["x"], &[]);
        check("/srv/.vscode", &["!.vscode/"], &[".zed/x"], &["tasks.json"]);
        check("/srv/.vscode", &["!*"], &[], &["tasks.json", ".zed/x"]);
        check("/srv/.vscode", &["!/srv/.vscode", "!srv/.vscode/"], &["tasks.json"], &[]);
        check("/srv/p", &["srv", "srv/", "**/srv/p"], &["srv/x"], &["x"]);
        assert!(policy("/srv/.vscode", &[]).guards_servers(&names("mcp.json")));
        assert!(!policy("/srv/.vscode", &["!.vscode/"]).guards_servers(&names("mcp.json")));
        assert!(policy("/srv/.vscode", &["!.vscode/", "mcp.json"]).guards_servers(&names("mcp.json")));
    }

    #[test]
    fn a_root_inside_what_nobody_may_read_is_none() {
        let refuses = |root: &str| Policy::default().refuses_root(Path::new(root)).is_some();
        for root in ["/p/.git", "/p/.git/hooks", "/p/.GIT./x", "/p/git~1/x", "/p/.emend/x", "/home/ann/.ssh"]
        {
            assert!(refuses(root), "{root}");
        }
        for root in ["/", "/p/git", "/p/.github", "/p/x.git/y", "/p/.aws"] {
            assert!(!refuses(root), "{root}");
        }
        let own = Policy::default().with_own(["/home/ann/.local/state/emend".into()]);
        assert!(own.refuses_root(Path::new("/home/ann/.local/state/emend/tx")).is_some());
        assert!(own.refuses_root(Path::new("/home/ann/.local/state")).is_none());
        let said = Settings { forbidden_paths: vec!["!.ssh/".into(), "p".into()], ..Settings::default() };
        let policy = Policy::new(&said).unwrap();
        assert!(policy.refuses_root(Path::new("/p/.ssh/x")).is_none());
    }

    #[test]
    fn secrets_are_known_beneath_their_folder() {
        let mut policy = Policy::default();
        policy.apply_folders_above(Path::new("/home/ann/.aws")).unwrap();
        assert!(policy.may_read(&names("credentials")).is_err());
        assert_eq!(policy.may_read(&names("x/credentials")), Ok(()));
        let said = Settings { forbidden_paths: vec!["!credentials".into()], ..Settings::default() };
        let mut policy = Policy::new(&said).unwrap();
        policy.apply_folders_above(Path::new("/home/ann/.aws")).unwrap();
        assert_eq!(policy.may_read(&names("credentials")), Ok(()));
    }
}
