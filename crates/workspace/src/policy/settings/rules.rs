//! The properties of a setting besides its value: its key, its flag, its documentation, and what sources other than the
//! user's file may set.

use std::fmt::Display;

/// A declared setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name in a file.
    pub key: &'static str,
    /// Its flag, if it has one.
    pub flag: Option<Flag>,
    /// The allowed words, if it is one of a few.
    pub words: &'static [&'static str],
    /// Whether its flag may be given several times.
    pub is_list: bool,
    /// The default, as the reference shows it.
    pub default: fn() -> String,
    /// What the settings file of a folder may set.
    pub folder: May,
    /// What the configuration of a client may set: the command line, and the file that it names.
    pub client: May,
    /// The lines of its documentation.
    pub(super) about: &'static [&'static str],
}

impl Setting {
    /// Returns its documentation as one line of Markdown.
    #[must_use]
    pub fn about(&self) -> String {
        let lines: Vec<&str> = self.about.iter().map(|line| line.trim()).collect();
        lines.join(" ").trim_end_matches('.').to_owned()
    }
}

/// The flag of a setting.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// Its name, with the dashes.
    pub name: &'static str,
    /// The placeholder for its value.
    pub value: &'static str,
    /// Its value if it stands alone, for flags that may. Then a value needs a `=` before it.
    pub alone: Option<&'static str>,
    /// Whether each command declares the flag itself.
    pub is_of_commands: bool,
}

impl Flag {
    /// Returns a flag with a value: `--mode MODE`.
    pub(super) const fn with_value(name: &'static str, value: &'static str) -> Option<Self> {
        Some(Self { name, value, alone: None, is_of_commands: false })
    }

    /// Returns a flag with an optional value, which defaults to `meaning`: `--require-read[=WHEN]`.
    pub(super) const fn alone(
        name: &'static str,
        value: &'static str,
        meaning: &'static str,
    ) -> Option<Self> {
        Some(Self { name, value, alone: Some(meaning), is_of_commands: false })
    }

    /// Returns a flag that means "true" without a value: `--write-in-place[=BOOL]`.
    pub(super) const fn switch(name: &'static str) -> Option<Self> {
        Self::alone(name, "BOOL", "true")
    }

    /// Returns a flag that is documented here, but that each command declares itself.
    pub(super) const fn of_commands(name: &'static str, value: &'static str) -> Option<Self> {
        Some(Self { name, value, alone: None, is_of_commands: true })
    }
}

/// What a source of settings may set if a source with precedence has set something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum May {
    /// The same value or a greater one, which is stricter.
    Raise,
    /// The same value or a smaller one, which is stricter. For lists, a subset.
    Lower,
    /// More patterns, which add up.
    Add,
    /// The same value only: neither is stricter.
    Repeat,
    /// Any value: this setting protects nothing.
    Set,
    /// The same value only: the user alone decides what this text describes.
    Nothing(&'static str),
}

impl May {
    fn allows<T: PartialOrd>(self, said: &T, held: &T) -> bool {
        match self {
            Self::Raise => said >= held,
            Self::Lower => said <= held,
            Self::Repeat | Self::Nothing(_) => said == held,
            Self::Add | Self::Set => true,
        }
    }

    /// Returns both values, as written in a file, if `said` is not allowed because of `held`.
    pub(super) fn refused<T: PartialOrd>(
        self,
        key: &str,
        [said, held]: [&T; 2],
        in_file: impl Fn(&T) -> String,
    ) -> Option<(String, String)> {
        let line = |value: &T| format!("{key} = {}", in_file(value));
        (!self.allows(said, held)).then(|| (line(said), line(held)))
    }

    /// Returns the refused line and the line that refuses it, for a list. An empty list says nothing, and none is stricter than
    /// another.
    pub(super) fn refused_list(self, key: &str, [said, held]: [&[String]; 2]) -> Option<(String, String)> {
        let is_said_of_both = !said.is_empty() && !held.is_empty();
        let is_allowed = matches!(self, Self::Add | Self::Set) || said == held;
        let line = |list: &[String]| format!("{key} = {list:?}");
        (is_said_of_both && !is_allowed).then(|| (line(said), line(held)))
    }

    /// Applies a stricter value. Returns a message if it is ignored.
    pub(super) fn tighten<T: PartialOrd + Display>(
        self,
        key: &str,
        said: Option<T>,
        held: &mut T,
    ) -> Option<String> {
        let said = said?;
        if self.allows(&said, held) {
            *held = said;
            return None;
        }
        Some(self.ignored(key).unwrap_or_else(|| format!("{key} = {said} is ignored, since it is {held}")))
    }

    /// Returns a message that the setting is ignored, if nothing may be set.
    pub(super) fn ignored(self, key: &str) -> Option<String> {
        match self {
            Self::Nothing(what) => Some(format!("{key} is ignored, since only you decide {what}")),
            _ => None,
        }
    }
}
