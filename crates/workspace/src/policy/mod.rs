//! The policy: what may be read, what may be changed, and what a change needs.
//!
//! It is created once from the user's [`Settings`]; then each root has its own copy, which the workspace's file can
//! only tighten ([`tighten`](mod@tighten)). Rules are checked with resolved names, after every link is followed. The
//! answer for a folder applies to everything beneath it.

mod above;
pub mod apply_model;
mod defaults;
mod file;
pub(crate) mod folded;
pub(crate) mod git_folder;
pub(crate) mod globs;
mod looser;
pub mod programs;
mod settings;
mod short;
pub(crate) mod state_folder;
mod tighten;
pub(crate) mod wildcards;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::problem::{Kind, Release};

use self::folded::Folded;
use self::globs::{GlobVerdict, Globs};

pub use self::defaults::{APPROVE, FORBIDDEN};
pub use self::file::WORKSPACE_FILE;
pub use self::settings::{
    Answers, AnswersAs, Clients, DialectFor, DialectName, Extensions, Flag, Folders, ListedTools,
    MAX_FILE_BYTES, May, Mode, OnChange, RequireRead, Seconds, Setting, Settings, SyntaxGuard, Terms,
    ToolsFor, reference_table,
};

/// The name of Emend's own folder in a workspace.
pub(crate) const OWN_FOLDER: &str = ".emend";

/// The rules for reading and changing files.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The user's patterns, then the workspace's; so with all lists. A match in any of them counts.
    forbidden: Vec<Arc<Globs>>,
    read_only: Vec<Arc<Globs>>,
    approve: Vec<Arc<Globs>>,
    /// The default approval patterns, with the user's exceptions.
    guarded: Arc<Globs>,
    /// The user's approval patterns alone.
    said_of_guarded: Arc<Globs>,
    /// The user's patterns in the lists that have defaults: their effect depends on the path of the root.
    said_forbidden: Vec<String>,
    said_approve: Vec<String>,
    /// The user's read-only patterns alone.
    readable: Arc<Globs>,
    extensions: Option<BTreeSet<String>>,
    /// The files and folders that Emend relies on, anywhere.
    own: Vec<PathBuf>,
    /// Those of them in this root.
    own_here: Vec<Folded>,
    /// Git's folders in this root that `.git` files name.
    git_here: Vec<Folded>,
    /// The reason why this root's own file could not be applied.
    broken: Option<String>,
    tools_for: ToolsFor,
    dialect_for: DialectFor,
    approve_in_app: Clients,
    terms: Terms,
}

impl Default for Policy {
    fn default() -> Self {
        Self::new(&Settings::default()).expect("the defaults are well-formed")
    }
}

impl Policy {
    /// Creates the policy from the user's settings. The error says which setting is wrong.
    pub fn new(settings: &Settings) -> Result<Self, String> {
        let globs = |name: &str, defaults: &[&'static str], said: &[String]| {
            let patterns = defaults.iter().copied().chain(said.iter().map(String::as_str));
            Globs::new(patterns).map(Arc::new).map_err(|why| format!("{name}: {why}"))
        };
        let read_only = globs("read_only", &[], &settings.read_only)?;
        let approve = globs("approve", &[], &settings.approve)?;
        // The user's added patterns require approval by themselves.
        let exceptions = above::exceptions(&settings.approve);
        for Setting { key, .. } in Settings::ALL {
            settings.check(key).map_err(|wrong| format!("{key}: {}", wrong.why))?;
        }
        check_extensions(settings.allowed_extensions.as_ref())?;
        Ok(Self {
            forbidden: vec![globs("forbidden_paths", FORBIDDEN, &settings.forbidden_paths)?],
            read_only: vec![Arc::clone(&read_only)],
            approve: vec![Arc::clone(&approve)],
            guarded: globs("approve", APPROVE, &exceptions)?,
            said_of_guarded: approve,
            said_forbidden: settings.forbidden_paths.clone(),
            said_approve: settings.approve.clone(),
            readable: read_only,
            extensions: settings.allowed_extensions.as_ref().map(Extensions::compared),
            own: Vec::new(),
            own_here: Vec::new(),
            git_here: Vec::new(),
            broken: None,
            tools_for: settings.tools_for.clone(),
            dialect_for: settings.dialect_for.clone(),
            approve_in_app: settings.approve_in_app.clone(),
            terms: Terms::decided(settings),
        })
    }

    /// Also forbids these files and folders anywhere, which Emend relies on and no tool may touch. Their paths have no
    /// links.
    #[must_use]
    pub fn with_own(mut self, own: impl IntoIterator<Item = PathBuf>) -> Self {
        self.own.extend(own);
        self
    }

    /// Returns the settings that are not lists.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Returns which tools are listed to some clients.
    #[must_use]
    pub fn tools_for(&self) -> &ToolsFor {
        &self.tools_for
    }

    /// Returns the dialects for some clients.
    #[must_use]
    pub fn dialect_for(&self) -> &DialectFor {
        &self.dialect_for
    }

    /// Returns the clients in whose review page a person may approve edits.
    #[must_use]
    pub fn approve_in_app(&self) -> &Clients {
        &self.approve_in_app
    }

    /// Returns the reason why nothing may be read or changed at all, if there is one.
    #[must_use]
    pub fn closed(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Checks that this path may be read, listed, searched and named.
    pub fn may_read(&self, names: &[OsString]) -> Result<(), Kind> {
        self.may_read_folded(&Folded::new(names))
    }

    /// Returns whether anything in this folder may be read; if not, it need not be visited.
    #[must_use]
    pub fn may_enter(&self, names: &[OsString]) -> bool {
        self.may_read(names).is_ok()
    }

    /// Checks that this path may be changed, created, deleted or moved, as far as its name decides.
    pub fn may_edit(&self, names: &[OsString]) -> Result<(), Kind> {
        let path = Folded::new(names);
        self.may_read_folded(&path)?;
        // At any depth: a subfolder may be opened as a root another time.
        if path.has_name(WORKSPACE_FILE) {
            return Err(Kind::ReadOnlyPath { rule: "it says what may be changed".into() });
        }
        if let Some(glob) = catching(&self.read_only, &path) {
            return Err(Kind::ReadOnlyPath { rule: format!("the policy has '{glob}' in read_only") });
        }
        match &self.extensions {
            Some(allowed) if !allowed.contains(extension(path.last_name())) => {
                Err(Kind::ExtensionNotAllowed { allowed: allowed.iter().cloned().collect() })
            }
            _ => Ok(()),
        }
    }

    /// Checks that this path may be changed now without approval: the last check before a commit.
    pub fn may_commit_without_approval(&self, names: &[OsString]) -> Result<(), Kind> {
        self.may_edit(names)?;
        let needed = |rule: String| Err(Kind::ApprovalNeeded { rule, release: Release::Question });
        match self.terms.mode {
            Mode::ReadOnly | Mode::Preview => return Err(Kind::NoEdits { mode: self.terms.mode.as_str() }),
            Mode::Ask => return needed("the mode is ask".into()),
            Mode::Auto => {}
        }
        let path = Folded::new(names);
        if let Some(glob) = catching(&self.approve, &path) {
            return needed(format!("the policy has '{glob}' in approve"));
        }
        match self.guarded.last_word(&path) {
            Some(GlobVerdict::Caught(glob)) => needed(format!(
                "it can change what is started, or done without asking, elsewhere ('{glob}' is in approve by default)"
            )),
            Some(GlobVerdict::Free) | None => Ok(()),
        }
    }

    /// Returns whether changes of MCP server configuration in this file need approval: yes, unless the user has
    /// excepted the file.
    pub(crate) fn guards_servers(&self, names: &[OsString]) -> bool {
        self.said_of_guarded.last_word(&Folded::new(names)) != Some(GlobVerdict::Free)
    }

    /// Returns whether the user has excepted this path from the protection of folders that look like git's.
    pub(crate) fn frees_git(&self, names: &[OsString]) -> bool {
        self.readable.last_word(&Folded::new(names)) == Some(GlobVerdict::Free)
    }

    fn may_read_folded(&self, path: &Folded) -> Result<(), Kind> {
        if let Some(reason) = &self.broken {
            return Err(Kind::InvalidPolicy { reason: reason.clone() });
        }
        let rule = |rule: &str| Err(Kind::PathForbidden { rule: rule.into() });
        if path.has_name(".git") {
            return rule(".git belongs to git; use git to change it");
        }
        if self.git_here.iter().any(|folder| path.is_within(folder)) {
            return rule("a .git file says that it belongs to git; use git to change it");
        }
        if path.has_name(OWN_FOLDER) {
            return rule(".emend holds the means to undo edits");
        }
        if self.own_here.iter().any(|own| path.is_within(own)) {
            return rule("Emend itself relies on it");
        }
        match catching(&self.forbidden, path) {
            Some(glob) => rule(&format!("the policy forbids '{glob}'")),
            None => Ok(()),
        }
    }
}

fn catching<'a>(lists: &'a [Arc<Globs>], path: &Folded) -> Option<&'a str> {
    lists.iter().find_map(|globs| globs.catching(path))
}

fn check_extensions(said: Option<&Extensions>) -> Result<(), String> {
    let checked = said.map_or(Ok(()), Extensions::check_endings);
    checked.map_err(|wrong| format!("allowed_extensions: {}", wrong.why))
}

/// Returns the extension of a file name; a leading dot does not start one.
fn extension(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => extension,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use crate::problem::{Code, Problem};

    use super::*;

    fn names(path: &str) -> Vec<OsString> {
        path.split('/').map(OsString::from).collect()
    }

    fn code(answer: Result<(), Kind>) -> Option<Code> {
        answer.err().map(|kind| Problem::new(kind).code())
    }

    #[track_caller]
    fn check_forbidden(settings: &Settings, forbidden: &[&str], free: &[&str]) {
        let policy = Policy::new(settings).unwrap();
        for path in forbidden {
            assert_eq!(code(policy.may_read(&names(path))), Some(Code::PathForbidden), "{path}");
            assert_eq!(code(policy.may_edit(&names(path))), Some(Code::PathForbidden), "{path}");
            assert!(!policy.may_enter(&names(path)));
        }
        for path in free {
            assert_eq!(policy.may_edit(&names(path)), Ok(()), "{path}");
        }
    }

    #[test]
    fn secrets_are_forbidden_by_their_names_and_what_only_looks_like_one_is_not() {
        let forbidden = [
            ".env",
            ".env.local",
            ".ENV",
            "sub/.env.production",
            ".env/bin/python",
            "deploy/id_ed25519",
            "id_rsa",
            "tls/server.pem",
            "tls/SERVER.KEY",
            "a.p12",
            "a.pfx",
            ".ssh/config",
            "home/.ssh/authorized_keys",
            ".netrc",
            "x/.aws/credentials",
            ".git/config",
            "sub/.GIT/config",
            ".git",
            ".emend/tx/1",
        ];
        let free = [
            ".env.example",
            "sub/.env.sample",
            ".env.template",
            "id_rsa.pub",
            "env.rs",
            "keys.rs",
            "src/pem.rs",
            ".gitignore",
            ".github/workflows/ci.yml",
            ".npmrc",
            "emend.toml",
        ];
        check_forbidden(&Settings::default(), &forbidden, &free);
    }

    #[test]
    fn a_person_may_take_back_what_is_forbidden_but_not_what_keeps_edits_safe() {
        let forbidden_paths = ["!.env", "!*.pem", "!.git", "!.emend/", "private/"].map(String::from).to_vec();
        let settings = Settings { forbidden_paths, ..Settings::default() };
        check_forbidden(
            &settings,
            &[".git/config", ".emend/x", ".env.local", "private/a"],
            &[".env", "a.pem"],
        );
    }

    #[test]
    fn what_emend_relies_on_is_forbidden_in_the_root_that_it_is_in() {
        let own = ["/home/ann/.config/emend/config.toml", "/home/ann/.local/state/emend"].map(PathBuf::from);
        let policy = Policy::default().with_own(own);
        let disk = crate::disk::for_this_machine();
        let folder = tempfile::tempdir().unwrap();
        let dir = cap_std::fs::Dir::open_ambient_dir(folder.path(), cap_std::ambient_authority()).unwrap();
        let (home, _) = policy.of_root(&*disk, &dir, std::path::Path::new("/home/ann"));
        for path in [".config/emend/config.toml", ".Config/emend/CONFIG.toml", ".local/state/emend/tx/1"] {
            assert_eq!(code(home.may_read(&names(path))), Some(Code::PathForbidden), "{path}");
        }
        assert_eq!(home.may_edit(&names(".config/emend/other.toml")), Ok(()));
        let (elsewhere, _) = policy.of_root(&*disk, &dir, std::path::Path::new("/srv"));
        assert_eq!(elsewhere.may_edit(&names(".config/emend/config.toml")), Ok(()));
    }

    #[test]
    fn what_is_read_only_may_be_read() {
        let settings = Settings { read_only: vec!["generated/".into()], ..Settings::default() };
        let policy = Policy::new(&settings).unwrap();
        for path in ["generated/a.rs", "x/generated/a.rs", WORKSPACE_FILE, ".EMEND.toml", "sub/.emend.toml"] {
            assert_eq!(policy.may_read(&names(path)), Ok(()));
            assert_eq!(code(policy.may_edit(&names(path))), Some(Code::ReadOnly), "{path}");
        }
    }

    #[test]
    fn only_files_with_an_allowed_ending_may_be_changed() {
        let said = Some(Extensions([".rs", "MD", ""].map(String::from).to_vec()));
        let policy = Policy::new(&Settings { allowed_extensions: said, ..Settings::default() }).unwrap();
        for path in ["a.rs", "x/a.RS", "a.b.md", "Makefile", ".gitignore"] {
            assert_eq!(policy.may_edit(&names(path)), Ok(()), "{path}");
        }
        for path in ["a.py", "rs.toml", "a.rs.bak", "x.rs/a.txt", "a."] {
            let expected = if path == "a." { None } else { Some(Code::ExtensionNotAllowed) };
            assert_eq!(code(policy.may_edit(&names(path))), expected, "{path}");
            assert_eq!(policy.may_read(&names(path)), Ok(()));
        }
    }

    #[test]
    fn what_no_file_can_end_in_is_a_mistake() {
        for wrong in ["*.py", "tar.gz", "src/a.py", "p?"] {
            let said = Some(Extensions(vec!["rs".to_owned(), wrong.to_owned()]));
            let error =
                Policy::new(&Settings { allowed_extensions: said, ..Settings::default() }).unwrap_err();
            assert!(error.contains(wrong) && error.contains("allowed_extensions"), "{error}");
        }
    }

    #[test]
    fn a_mode_and_an_approval_hold_back_the_commit_alone() {
        for (mode, expected) in [
            (Mode::Auto, None),
            (Mode::Ask, Some(Code::ApprovalNeeded)),
            (Mode::Preview, Some(Code::ReadOnly)),
            (Mode::ReadOnly, Some(Code::ReadOnly)),
        ] {
            let policy = Policy::new(&Settings { mode: Some(mode), ..Settings::default() }).unwrap();
            assert_eq!(policy.may_edit(&names("a.rs")), Ok(()));
            assert_eq!(code(policy.may_commit_without_approval(&names("a.rs"))), expected, "{mode}");
        }
        let policy = Policy::new(&Settings { approve: vec!["db/".into()], ..Settings::default() }).unwrap();
        assert_eq!(code(policy.may_commit_without_approval(&names("db/x.sql"))), Some(Code::ApprovalNeeded));
        assert_eq!(policy.may_commit_without_approval(&names("x.sql")), Ok(()));
        assert_eq!(code(policy.may_commit_without_approval(&names(".env"))), Some(Code::PathForbidden));
    }

    #[test]
    fn a_setting_that_cannot_be_followed_is_an_error() {
        let wrong = |settings: Settings| Policy::new(&settings).unwrap_err();
        let list = || vec!["[".into()];
        assert!(wrong(Settings { read_only: list(), ..Settings::default() }).starts_with("read_only: "));
        assert!(wrong(Settings { approve: list(), ..Settings::default() }).starts_with("approve: "));
        let large = Settings { max_file_bytes: Some(MAX_FILE_BYTES + 1), ..Settings::default() };
        assert!(wrong(large).starts_with("max_file_bytes: "));
    }
}
