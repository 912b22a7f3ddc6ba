//! The settings: what one source says of the policy. There are three such sources: the command line, the
//! configuration file of the person, and the file of a workspace. What a source leaves out, another decides.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::programs::Programs;

/// What one source says. `None` and an empty list say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The folders to open, as `PATH` or `name=PATH`.
    pub workspace: Vec<String>,
    /// Globs of what is neither read nor changed; `!` before one takes back what a glob before it forbids.
    pub forbidden_paths: Vec<String>,
    /// Globs of what is read but not changed.
    pub read_only: Vec<String>,
    /// Globs of what is changed only with a person's approval.
    pub approve: Vec<String>,
    /// The endings of the files that may be changed; without them, all.
    pub allowed_extensions: Option<Vec<String>>,
    /// The largest file that is read or written.
    pub max_file_bytes: Option<u64>,
    /// What becomes of an edit.
    pub mode: Option<Mode>,
    /// Whether an edit is refused where the file changed since its client read it.
    pub require_mtime_check: Option<bool>,
    /// Which edits need a reading of the file.
    pub require_read: Option<RequireRead>,
    /// What becomes of an edit where the file changed since, but elsewhere.
    pub on_change: Option<OnChange>,
    /// Whether files that cannot be exchanged are written in place.
    pub write_in_place: Option<bool>,
    /// Whether files are changed that their mode lets nobody write.
    pub write_read_only: Option<bool>,
    /// Whether displaced files are kept as the means to undo.
    pub track_history: Option<bool>,
    /// Whether language servers say what an edit changed.
    pub notify_lsp: Option<bool>,
    /// Whether editors are told of edits.
    pub notify_editor: Option<bool>,
    /// Whether the outcome of each edit is written to the log of events.
    pub emit_event: Option<bool>,
    /// What becomes of an edit that breaks the parse of a file.
    pub syntax_guard: Option<SyntaxGuard>,
    /// How long an answer waits for what language servers say.
    pub diagnostics_wait: Option<Duration>,
    /// What is run because of an edit.
    pub programs: Programs,
}

impl Settings {
    /// What these settings say, and where they say nothing, the others. Lists of patterns add up; these come last, so
    /// that their exceptions count.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        let both = |mut first: Vec<String>, second: Vec<String>| {
            first.extend(second);
            first
        };
        Self {
            workspace: if self.workspace.is_empty() { other.workspace } else { self.workspace },
            forbidden_paths: both(other.forbidden_paths, self.forbidden_paths),
            read_only: both(other.read_only, self.read_only),
            approve: both(other.approve, self.approve),
            allowed_extensions: self.allowed_extensions.or(other.allowed_extensions),
            max_file_bytes: self.max_file_bytes.or(other.max_file_bytes),
            mode: self.mode.or(other.mode),
            require_mtime_check: self.require_mtime_check.or(other.require_mtime_check),
            require_read: self.require_read.or(other.require_read),
            on_change: self.on_change.or(other.on_change),
            write_in_place: self.write_in_place.or(other.write_in_place),
            write_read_only: self.write_read_only.or(other.write_read_only),
            track_history: self.track_history.or(other.track_history),
            notify_lsp: self.notify_lsp.or(other.notify_lsp),
            notify_editor: self.notify_editor.or(other.notify_editor),
            emit_event: self.emit_event.or(other.emit_event),
            syntax_guard: self.syntax_guard.or(other.syntax_guard),
            diagnostics_wait: self.diagnostics_wait.or(other.diagnostics_wait),
            programs: if self.programs.is_empty() { other.programs } else { self.programs },
        }
    }
}

impl Settings {
    /// The longest that an answer may be made to wait.
    const LONGEST_WAIT: f64 = 60.0;

    /// So many seconds, as they are written, to wait for what language servers say.
    pub fn wait(seconds: &str) -> Result<Duration, String> {
        let seconds = seconds.replace('_', "").parse::<f64>().ok();
        let seconds = seconds.filter(|seconds| (0.0..=Self::LONGEST_WAIT).contains(seconds));
        seconds.map(Duration::from_secs_f64).ok_or_else(|| "it must be seconds, from 0 to 60".into())
    }
}

/// A setting that is one of several words, from the most lenient to the strictest.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$note:meta])* $variant:ident $word:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$note])* $variant),* }

        impl $name {
            /// How it is written.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = String;

            fn from_str(written: &str) -> Result<Self, String> {
                match written {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(format!("it must be one of {}, not '{written}'", [$($word),*].join(", "))),
                }
            }
        }
    };
}

words! {
    /// What becomes of an edit.
    Mode {
        /// It is made.
        Auto "auto",
        /// It is made when a person approves.
        Ask "ask",
        /// It is shown and never made.
        Preview "preview",
        /// There are no edits.
        ReadOnly "read-only",
    }
}

words! {
    /// Which edits need a reading of the file.
    RequireRead {
        /// Those that replace or delete the whole of it.
        Whole "whole",
        /// Every one.
        Always "always",
    }
}

words! {
    /// What becomes of an edit where the file changed since its client read it.
    OnChange {
        /// It is made if the change is elsewhere in the file.
        Merge "merge",
        /// It is refused once, with what changed.
        Refuse "refuse",
    }
}

words! {
    /// What becomes of an edit that breaks the parse of a file.
    SyntaxGuard {
        /// It is made.
        Off "off",
        /// It is made, and the answer says so.
        Warn "warn",
        /// It is refused.
        Refuse "refuse",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_first_wins_and_patterns_add_up() {
        let command_line = Settings {
            mode: Some(Mode::Preview),
            forbidden_paths: vec!["!a".into()],
            allowed_extensions: Some(vec!["md".into()]),
            ..Settings::default()
        };
        let file = Settings {
            mode: Some(Mode::Auto),
            on_change: Some(OnChange::Merge),
            forbidden_paths: vec!["a".into()],
            allowed_extensions: Some(vec!["rs".into()]),
            workspace: vec!["x=/x".into()],
            ..Settings::default()
        };
        let both = command_line.over(file);
        assert_eq!((both.mode, both.on_change), (Some(Mode::Preview), Some(OnChange::Merge)));
        assert_eq!(both.forbidden_paths, ["a", "!a"]);
        assert_eq!(both.allowed_extensions.unwrap(), ["md"]);
        assert_eq!(both.workspace, ["x=/x"]);
        let asked = Settings { workspace: vec!["y".into()], ..Settings::default() };
        let filed = Settings { workspace: vec!["x".into()], ..Settings::default() };
        assert_eq!(asked.over(filed).workspace, ["y"]);
    }
}
