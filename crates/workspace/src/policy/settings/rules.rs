//! What a setting is beside its value: its key, its flag, what it says to people, and what others than the person may say
//! of it.

use std::fmt::Display;

/// A setting, as it is declared.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name in a file.
    pub key: &'static str,
    /// Its flag, if it has one.
    pub flag: Option<Flag>,
    /// The words that it can be, where it is one of a few.
    pub words: &'static [&'static str],
    /// Whether its flag may be given several times.
    pub is_list: bool,
    /// What holds if nobody says anything, as the reference has it.
    pub default: fn() -> String,
    /// What the file at the top of a folder may say of it.
    pub folder: May,
    /// What the configuration of a client may say of it: the command line, and the file that it names.
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
    /// What its value is called.
    pub value: &'static str,
    /// What it means without a value, if it may stand alone. Then a value needs a `=` before it.
    pub alone: Option<&'static str>,
    /// Whether each command declares it for itself.
    pub is_of_commands: bool,
}

impl Flag {
    /// Returns a flag with a value behind it: `--mode MODE`.
    pub(super) const fn with_value(name: &'static str, value: &'static str) -> Option<Self> {
        Some(Self { name, value, alone: None, is_of_commands: false })
    }

    /// Returns a flag that may stand alone, and then means this: `--require-read[=WHEN]`.
    pub(super) const fn alone(
        name: &'static str,
        value: &'static str,
        meaning: &'static str,
    ) -> Option<Self> {
        Some(Self { name, value, alone: Some(meaning), is_of_commands: false })
    }

    /// Returns a flag that means "true" if it stands alone: `--write-in-place[=BOOL]`.
    pub(super) const fn switch(name: &'static str) -> Option<Self> {
        Self::alone(name, "BOOL", "true")
    }

    /// Returns a flag that is documented here, and that each command declares for itself.
    pub(super) const fn of_commands(name: &'static str, value: &'static str) -> Option<Self> {
        Some(Self { name, value, alone: None, is_of_commands: true })
    }
}

/// What a source of settings may say where another, which counts for more, has said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum May {
    /// The same or something greater, which is stricter.
    Raise,
    /// The same or something smaller, which is stricter. Of lists, that is one with nothing in it that the other lacks.
    Lower,
    /// More patterns, which add up.
    Add,
    /// The same and nothing else: neither is stricter.
    Repeat,
    /// Whatever it likes: nothing is protected by this setting.
    Set,
    /// Nothing but the same. Only the person decides this, and here stands what that is.
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

    /// Returns what is said, and what is held, as they stand in a file, where the one may not be said because of the other.
    pub(super) fn refused<T: PartialOrd>(
        self,
        key: &str,
        [said, held]: [&T; 2],
        in_file: impl Fn(&T) -> String,
    ) -> Option<(String, String)> {
        let line = |value: &T| format!("{key} = {}", in_file(value));
        (!self.allows(said, held)).then(|| (line(said), line(held)))
    }

    /// Takes over what is said, if that is stricter than what is held. Returns why it is ignored, if it is.
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

    /// Returns that a setting is ignored, if nothing may be said of it.
    pub(super) fn ignored(self, key: &str) -> Option<String> {
        match self {
            Self::Nothing(what) => Some(format!("{key} is ignored, since only you decide {what}")),
            _ => None,
        }
    }
}
