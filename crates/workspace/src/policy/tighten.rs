//! The settings file of a workspace: it can only restrict what the user allows.
//!
//! A repository comes from someone else, so its file is read as a wish to be careful. Settings that would loosen a rule
//! are ignored, with a warning for the log. An invalid file closes the root, for reading too: what it was to protect is
//! unknown.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;

use super::file::{self, WORKSPACE_FILE};
use super::folded::Folded;
use super::globs::Globs;
use super::{Policy, Settings, check_extensions};
use crate::disk::Disk;
use crate::policy::git_folder;

impl Policy {
    /// Returns this policy tightened by a root's own settings file, and warnings about that file for the user.
    pub(crate) fn of_root(&self, disk: &dyn Disk, root: &Dir, path: &Path) -> (Self, Vec<String>) {
        let shown = path.join(WORKSPACE_FILE);
        let mut policy = self.clone();
        let inside = |own: &Path| -> Option<Folded> {
            let names: Vec<OsString> = own.strip_prefix(path).ok()?.iter().map(Into::into).collect();
            (!names.is_empty()).then(|| Folded::new(&names))
        };
        policy.own_here = self.own.iter().filter_map(|own| inside(own)).collect();
        policy.git_here =
            git_folder::named_by_files(disk, root, path).iter().map(|names| Folded::new(names)).collect();
        if let Err(wrong) = policy.apply_folders_above(path) {
            let reason = format!("what is protected in {} is not known: {wrong}", path.display());
            policy.broken = Some(reason.clone());
            return (policy, vec![reason]);
        }
        let tightened = match file::of_workspace(disk, root) {
            Ok(None) => return (policy, Vec::new()),
            Ok(Some(settings)) => policy.tighten(&settings),
            Err(wrong) => Err(wrong),
        };
        let warnings = match tightened {
            Ok(ignored) => {
                let warning = |why| format!("{} cannot loosen the policy: {why}", shown.display());
                ignored.into_iter().map(warning).collect()
            }
            Err(wrong) => {
                let reason = format!("{} cannot be followed: {wrong}", shown.display());
                policy.broken = Some(reason.clone());
                vec![reason]
            }
        };
        (policy, warnings)
    }

    /// Applies stricter settings. Returns a message for each ignored one.
    fn tighten(&mut self, said: &Settings) -> Result<Vec<String>, String> {
        let mut ignored = Vec::new();
        for (name, lists, said) in [
            ("forbidden_paths", &mut self.forbidden, &said.forbidden_paths),
            ("read_only", &mut self.read_only, &said.read_only),
            ("approve", &mut self.approve, &said.approve),
        ] {
            let (exceptions, patterns): (Vec<&str>, Vec<&str>) =
                said.iter().map(String::as_str).partition(|pattern| pattern.starts_with('!'));
            ignored.extend(
                exceptions.iter().map(|pattern| format!("'{pattern}' in {name} is ignored, as every '!' is")),
            );
            // An ignored setting may still be wrong: something else was meant.
            Globs::new(exceptions).map_err(|why| format!("{name}: {why}"))?;
            lists.push(Arc::new(Globs::new(patterns).map_err(|why| format!("{name}: {why}"))?));
        }
        check_extensions(said.allowed_extensions.as_ref())?;
        if let Some(said) = &said.allowed_extensions {
            let said = said.compared();
            let held = self.extensions.as_ref();
            let more = said.iter().filter(|said| held.is_some_and(|held| !held.contains(*said)));
            ignored.extend(more.clone().map(|more| format!("'{more}' in allowed_extensions is ignored")));
            let both = said.iter().filter(|said| held.is_none_or(|held| held.contains(*said)));
            self.extensions = Some(both.cloned().collect());
        }
        ignored.extend(self.terms.tighten(said));
        if !said.programs.is_empty() {
            ignored.push(
                "hooks, editors and language servers are ignored, since only you decide what is run".into(),
            );
        }
        if said.apply_model.is_some() {
            ignored.push("apply_model is ignored, since only you decide who gets to read your files".into());
        }
        ignored.extend(said.ignored_lists());
        Ok(ignored)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::policy::{May, Setting};

    fn policy(text: &str) -> Policy {
        Policy::new(&Settings::parse(text).unwrap()).unwrap()
    }

    const LOOSE: &str = "mode = 'auto'\nrequire_mtime_check = false\nrequire_read = 'whole'\non_change = 'merge'\n\
                         max_file_bytes = 1000\nwrite_in_place = true\nwrite_read_only = true\n\
                         notify_lsp = true\nnotify_editor = true\nemit_event = true\nsyntax_guard = 'off'\n";
    const STRICT: &str = "mode = 'ask'\nrequire_mtime_check = true\nrequire_read = 'always'\non_change = 'refuse'\n\
                          max_file_bytes = 10\nwrite_in_place = false\nwrite_read_only = false\n\
                          notify_lsp = false\nnotify_editor = false\nemit_event = false\nsyntax_guard = 'refuse'\n";

    #[test]
    fn every_setting_can_be_tightened_and_none_loosened() {
        let strict = policy(STRICT).terms;
        let mut tightened = policy(LOOSE);
        assert!(tightened.tighten(&Settings::parse(STRICT).unwrap()).unwrap().is_empty());
        assert_eq!(tightened.terms, strict);
        let mut loosened = policy(STRICT);
        let ignored = loosened.tighten(&Settings::parse(LOOSE).unwrap()).unwrap();
        assert_eq!(loosened.terms, strict);
        assert_eq!(ignored.len(), 11, "{ignored:?}");
        let only_ours =
            Settings::parse("track_history = false\nworkspace = ['/']\ndiagnostics_wait = 1\n[[hooks.after]]\ncommand = ['x']\n[apply_model]\nurl = 'https://x'\nmodel = 'm'")
                .unwrap();
        assert_eq!(loosened.tighten(&only_ours).unwrap().len(), 5);
        assert_eq!(loosened.terms, strict);
    }

    /// Returns lines of a settings file that set this setting.
    fn lines(setting: &Setting) -> Vec<String> {
        let word =
            |word: &str| if setting.words.contains(&"true") { word.into() } else { format!("'{word}'") };
        let mut values: Vec<String> = setting.words.iter().map(|it| word(it)).collect();
        if values.is_empty() {
            values =
                ["1", "2", "['/a']", "['/b', '/a']", "['rs']", "['rs', 'md']", "['!.env', '!.mcp.json']"]
                    .map(String::from)
                    .to_vec();
            values.extend(["{x = 'core'}", "{x = 'all', y = 'core'}"].map(String::from));
            values.extend(["{x = 'claude'}", "{x = 'codex', y = 'auto'}"].map(String::from));
        }
        let lines = values.iter().map(|value| format!("{} = {value}\n", setting.key));
        let is_understood =
            |line: &String| Settings::parse(line).is_ok_and(|settings| Policy::new(&settings).is_ok());
        lines.filter(is_understood).collect()
    }

    /// Returns what may be done with some paths.
    fn allowed(policy: &Policy) -> BTreeSet<String> {
        let mut allowed = BTreeSet::new();
        for path in ["a", "a.rs", "b", "c.md", "rs", ".env", ".mcp.json"] {
            let names = [OsString::from(path)];
            let answers = [
                policy.may_read(&names),
                policy.may_edit(&names),
                policy.may_commit_without_approval(&names),
            ];
            for (what, answer) in ["read", "edit", "commit"].iter().zip(answers) {
                allowed.extend(answer.is_ok().then(|| format!("{what} {path}")));
            }
        }
        allowed
    }

    #[test]
    fn no_folder_loosens_any_setting() {
        for setting in Settings::ALL {
            let lines = lines(setting);
            assert!(lines.len() > 1, "{}: a value that is understood is missing above", setting.key);
            for (held, said) in lines.iter().flat_map(|held| lines.iter().map(move |said| (held, said))) {
                let (person, folder) = (policy(held), Settings::parse(said).unwrap());
                let mut both = person.clone();
                let ignored = both.tighten(&folder).unwrap();
                assert!(allowed(&both).is_subset(&allowed(&person)), "{held}{said}");
                match setting.folder {
                    May::Nothing(_) => {
                        assert_eq!(both.terms, person.terms, "{held}{said}");
                        assert_eq!(both.tools_for, person.tools_for, "{held}{said}");
                        assert_eq!(both.dialect_for, person.dialect_for, "{held}{said}");
                        assert_eq!(both.approve_in_app, person.approve_in_app, "{held}{said}");
                        assert!(held == said || !ignored.is_empty(), "{held}{said}");
                    }
                    // The stricter one counts, whoever sets it; so one of them must be the stricter.
                    May::Raise | May::Lower | May::Add => {
                        let mut otherwise = policy(said);
                        otherwise.tighten(&Settings::parse(held).unwrap()).unwrap();
                        assert_eq!(both.terms, otherwise.terms, "{held}{said}");
                    }
                    May::Repeat | May::Set => panic!("{}: a folder could loosen it", setting.key),
                }
            }
            // Only a person can say which value is the stricter one.
            let is_term = !setting.is_list && !matches!(setting.folder, May::Nothing(_));
            let named =
                |text: &str| text.lines().any(|line| line.starts_with(&format!("{} = ", setting.key)));
            assert!(
                !is_term || named(LOOSE) && named(STRICT),
                "{} is missing in LOOSE or STRICT",
                setting.key
            );
        }
    }

    #[test]
    fn what_either_forbids_is_forbidden() {
        let names = |path: &str| path.split('/').map(OsString::from).collect::<Vec<_>>();
        let mut both = policy("forbidden_paths = ['a/', '!.env']\nread_only = ['b/']");
        let said = "forbidden_paths = ['!a/', '.env', 'c/']\nread_only = ['!b/', 'd/']\napprove = ['e/']";
        let ignored = both.tighten(&Settings::parse(said).unwrap()).unwrap();
        assert_eq!(ignored.len(), 2, "{ignored:?}");
        for path in ["a/x", ".env", "c/x", "x.pem"] {
            assert!(both.may_read(&names(path)).is_err(), "{path}");
        }
        for path in ["b/x", "d/x"] {
            assert!(both.may_read(&names(path)).is_ok() && both.may_edit(&names(path)).is_err(), "{path}");
        }
        assert!(
            both.may_edit(&names("e/x")).is_ok() && both.may_commit_without_approval(&names("e/x")).is_err()
        );
    }

    #[test]
    fn only_endings_that_both_allow_are_allowed() {
        for (held, said, allowed, ignored) in [
            ("", "allowed_extensions = ['rs']", &["rs"][..], 0),
            ("allowed_extensions = ['rs', 'md']", "allowed_extensions = ['RS', 'py']", &["rs"], 1),
            ("allowed_extensions = ['rs']", "allowed_extensions = ['py']", &[], 1),
            ("allowed_extensions = ['rs']", "", &["rs"], 0),
        ] {
            let mut both = policy(held);
            assert_eq!(both.tighten(&Settings::parse(said).unwrap()).unwrap().len(), ignored);
            assert!(both.extensions.unwrap().iter().eq(allowed), "{held} and {said}");
        }
    }

    #[test]
    fn a_mistake_is_an_error_even_in_what_would_be_ignored() {
        for pattern in ["[", "", "![", "!a/../b"] {
            let said = || vec![pattern.to_owned()];
            for settings in [
                Settings { forbidden_paths: said(), ..Settings::default() },
                Settings { read_only: said(), ..Settings::default() },
                Settings { approve: said(), ..Settings::default() },
            ] {
                assert!(Policy::default().tighten(&settings).is_err(), "{pattern}");
            }
        }
    }
}
