//! What the file of a workspace may say: less than the person allows, never more.
//!
//! A repository comes from somebody else, so its file is read as a wish to be careful. What would loosen a rule is
//! ignored, with a warning for the log. A file that cannot be understood closes the root, for reading too:
//! what it was to protect is not known.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use cap_std::fs::Dir;

use super::file::{self, WORKSPACE_FILE};
use super::folded::Folded;
use super::globs::Globs;
use super::{Policy, Settings, check_extensions, extensions};
use crate::disk::Disk;
use crate::policy::git_folder;

impl Policy {
    /// The policy of this root: this one, tightened by what the root's own file says. Also yields what a person should
    /// know of that file.
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
        if let Err(wrong) = policy.heed_folders_above(path) {
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

    /// Takes over what is stricter. Yields what was ignored, and why.
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
            // A mistake in what is ignored is still a mistake: something else was meant.
            Globs::new(exceptions).map_err(|why| format!("{name}: {why}"))?;
            lists.push(Arc::new(Globs::new(patterns).map_err(|why| format!("{name}: {why}"))?));
        }
        check_extensions(said.allowed_extensions.as_deref())?;
        if let Some(said) = &said.allowed_extensions {
            let said = extensions(said);
            let held = self.extensions.as_ref();
            let more = said.iter().filter(|said| held.is_some_and(|held| !held.contains(*said)));
            ignored.extend(more.clone().map(|more| format!("'{more}' in allowed_extensions is ignored")));
            let both = said.iter().filter(|said| held.is_none_or(|held| held.contains(*said)));
            self.extensions = Some(both.cloned().collect());
        }
        let terms = &mut self.terms;
        let mut keep = Stricter(&mut ignored);
        keep.greater("mode", said.mode, &mut terms.mode);
        keep.greater("require_mtime_check", said.require_mtime_check, &mut terms.require_mtime_check);
        keep.greater("require_read", said.require_read, &mut terms.require_read);
        keep.greater("on_change", said.on_change, &mut terms.on_change);
        keep.less("max_file_bytes", said.max_file_bytes, &mut terms.max_file_bytes);
        keep.less("write_in_place", said.write_in_place, &mut terms.write_in_place);
        keep.less("write_read_only", said.write_read_only, &mut terms.write_read_only);
        keep.less("notify_lsp", said.notify_lsp, &mut terms.notify_lsp);
        keep.less("notify_editor", said.notify_editor, &mut terms.notify_editor);
        keep.less("emit_event", said.emit_event, &mut terms.emit_event);
        keep.greater("syntax_guard", said.syntax_guard, &mut terms.syntax_guard);
        // Neither is stricter: one loses the means to undo, the other keeps copies that somebody may not want.
        if said.track_history.is_some_and(|said| said != terms.track_history) {
            ignored.push("track_history is ignored, since only you decide that".into());
        }
        if said.diagnostics_wait.is_some() {
            ignored.push("diagnostics_wait is ignored, since only you decide how long answers wait".into());
        }
        if !said.programs.is_empty() {
            ignored.push(
                "hooks, editors and language servers are ignored, since only you decide what is run".into(),
            );
        }
        if !said.workspace.is_empty() {
            ignored.push("workspace is ignored, since only you decide what is opened".into());
        }
        Ok(ignored)
    }
}

/// Takes over one setting at a time, if that is stricter than what holds.
struct Stricter<'a>(&'a mut Vec<String>);

impl Stricter<'_> {
    /// Of a setting whose greater values are stricter.
    fn greater<T: Ord + Copy + Display>(&mut self, name: &str, said: Option<T>, held: &mut T) {
        match said {
            Some(said) if said < *held => self.ignore(name, said, *held),
            Some(said) => *held = said,
            None => {}
        }
    }

    /// Of a setting whose smaller values are stricter.
    fn less<T: Ord + Copy + Display>(&mut self, name: &str, said: Option<T>, held: &mut T) {
        match said {
            Some(said) if said > *held => self.ignore(name, said, *held),
            Some(said) => *held = said,
            None => {}
        }
    }

    fn ignore<T: Display>(&mut self, name: &str, said: T, held: T) {
        self.0.push(format!("{name} = {said} is ignored, since it is {held}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Mode, OnChange, RequireRead, SyntaxGuard, Terms};

    fn policy(text: &str) -> Policy {
        Policy::new(&Settings::parse(text).unwrap()).unwrap()
    }

    const LOOSE: &str = "mode = 'auto'\nrequire_mtime_check = false\nrequire_read = 'whole'\non_change = 'merge'\n\
                         max_file_bytes = 1000\nwrite_in_place = true\nwrite_read_only = true\n\
                         notify_lsp = true\nnotify_editor = true\nemit_event = true\nsyntax_guard = 'off'\n";
    const STRICT: &str = "mode = 'ask'\nrequire_mtime_check = true\nrequire_read = 'always'\non_change = 'refuse'\n\
                          max_file_bytes = 10\nwrite_in_place = false\nwrite_read_only = false\n\
                          notify_lsp = false\nnotify_editor = false\nemit_event = false\nsyntax_guard = 'refuse'\n";

    const STRICT_TERMS: Terms = Terms {
        mode: Mode::Ask,
        require_mtime_check: true,
        require_read: RequireRead::Always,
        on_change: OnChange::Refuse,
        max_file_bytes: 10,
        write_in_place: false,
        write_read_only: false,
        track_history: true,
        notify_lsp: false,
        notify_editor: false,
        emit_event: false,
        syntax_guard: SyntaxGuard::Refuse,
    };

    #[test]
    fn every_setting_can_be_tightened_and_none_loosened() {
        let mut tightened = policy(LOOSE);
        assert!(tightened.tighten(&Settings::parse(STRICT).unwrap()).unwrap().is_empty());
        assert_eq!(tightened.terms, STRICT_TERMS);
        let mut loosened = policy(STRICT);
        let ignored = loosened.tighten(&Settings::parse(LOOSE).unwrap()).unwrap();
        assert_eq!(loosened.terms, STRICT_TERMS);
        assert_eq!(ignored.len(), 11, "{ignored:?}");
        let only_ours =
            Settings::parse("track_history = false\nworkspace = ['/']\ndiagnostics_wait = 1\n[[hooks.after]]\ncommand = ['x']")
                .unwrap();
        assert_eq!(loosened.tighten(&only_ours).unwrap().len(), 4);
        assert_eq!(loosened.terms, STRICT_TERMS);
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
        assert!(both.may_edit(&names("e/x")).is_ok() && both.may_commit(&names("e/x")).is_err());
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
        for said in ["forbidden_paths = ['[']", "read_only = ['']", "approve = ['![']"] {
            assert!(Policy::default().tighten(&Settings::parse(said).unwrap()).is_err(), "{said}");
        }
    }
}
