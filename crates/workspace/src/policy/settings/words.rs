//! The settings whose value is one of several words.

use std::fmt;

use toml::de::DeValue;

use super::values::{Value, Wrong, must_be};

/// Declares a setting whose value is one of several words, from the most lenient to the strictest.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$note:meta])* $variant:ident $word:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$note])* $variant),* }

        impl $name {
            /// Returns the word as written.
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

        impl Value for $name {
            const WORDS: &'static [&'static str] = &[$($word),*];

            fn from_toml(value: &DeValue<'_>) -> Result<Self, Wrong> {
                Ok(Self::from_flag(value.as_str().ok_or_else(|| must_be("a string", value))?)?)
            }

            fn from_flag(written: &str) -> Result<Self, String> {
                match written {
                    $($word => Ok(Self::$variant),)*
                    _ => Err(format!("it must be one of {}, not '{written}'", Self::WORDS.join(", "))),
                }
            }

            fn in_file(&self) -> String {
                format!("{:?}", self.as_str())
            }
        }
    };
}

words! {
    /// What happens to an edit.
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
    /// What happens to an edit if the file changed since its client read it.
    OnChange {
        /// It is made if the change is elsewhere in the file.
        Merge "merge",
        /// It is refused once, with what changed.
        Refuse "refuse",
    }
}

words! {
    /// What happens to an edit that breaks the syntax of a file.
    SyntaxGuard {
        /// It is made.
        Off "off",
        /// It is made, and the answer says so.
        Warn "warn",
        /// It is refused.
        Refuse "refuse",
    }
}

words! {
    /// The tools in the list that models read.
    ListedTools {
        /// Those that most work needs.
        Core "core",
        /// Every tool.
        All "all",
    }
}

words! {
    /// How much the answers to edits say.
    Answers {
        /// What whoever asked for the edit does not know.
        Short "short",
        /// All that is known.
        Full "full",
    }
}

words! {
    /// The form of the answers to edits.
    AnswersAs {
        /// Text and structured content.
        Both "both",
        /// Text alone.
        Text "text",
    }
}

words! {
    /// Whose names, arguments and manner of answering the tools have. The server has a table for each.
    DialectName {
        /// That of Claude Code.
        Claude "claude",
        /// That of Anthropic's text editor tool.
        TextEditor "text-editor",
        /// That of Codex.
        Codex "codex",
        /// That of Gemini CLI.
        Gemini "gemini",
        /// That of OpenHands.
        OpenHands "openhands",
        /// That of Cline.
        Cline "cline",
        /// That of Roo Code.
        Roo "roo",
        /// That of Aider.
        Aider "aider",
        /// That of opencode.
        OpenCode "opencode",
        /// Emend's own.
        Emend "emend",
        /// The one that the models of the client were trained on, if they are of one family, else Emend's own.
        Auto "auto",
    }
}
