//! The values of settings: how they are read in a file and behind a flag, and which counts where two sources say something.

use std::fmt;
use std::time::Duration;

use toml::de::{DeFloat, DeInteger, DeValue};

use super::rules::May;

/// The largest file that any policy lets be read or written.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024 * 1024;

/// What one source says of a setting: the type of a field of [`Settings`](super::Settings). Its default says nothing.
pub(super) trait Said: Default {
    /// The words that it can be, where it is one of a few.
    const WORDS: &'static [&'static str];
    /// Whether its flag may be given several times.
    const IS_LIST: bool;

    /// Reads what a file says.
    fn read(value: &DeValue<'_>) -> Result<Self, Wrong>;

    /// Refuses what not even the person's own file may say.
    fn check(&self) -> Result<(), Wrong> {
        Ok(())
    }

    /// Takes over a value of its flag.
    fn add(&mut self, written: &str) -> Result<(), String>;

    /// Returns what two sources say together, of which this one counts for more.
    fn merged_over(self, other: Self) -> Self;

    /// Returns what is said and what is held, as they stand in a file, where the one may not be said because of the other.
    fn refused(&self, key: &str, held: &Self, may: May) -> Option<(String, String)>;
}

/// A single value, or a list that is taken as a whole.
pub(super) trait Value: Clone + PartialOrd + fmt::Display {
    /// The words that it can be, where it is one of a few.
    const WORDS: &'static [&'static str] = &[];
    /// Whether its flag may be given several times.
    const IS_LIST: bool = false;

    /// Reads what a file says.
    fn from_toml(value: &DeValue<'_>) -> Result<Self, Wrong>;

    /// Refuses what not even the person's own file may say.
    fn check(&self) -> Result<(), Wrong> {
        Ok(())
    }

    /// Reads what stands behind a flag.
    fn from_flag(written: &str) -> Result<Self, String>;

    /// Returns what two flags say together.
    #[must_use]
    fn and(self, later: Self) -> Self {
        let _ = self;
        later
    }

    /// Returns it as it stands in a file.
    fn in_file(&self) -> String {
        self.to_string()
    }

    /// Returns it as the reference shows a default.
    fn in_reference(&self) -> String {
        format!("`{self}`")
    }
}

impl<T: Value> Said for Option<T> {
    const WORDS: &'static [&'static str] = T::WORDS;
    const IS_LIST: bool = T::IS_LIST;

    fn read(value: &DeValue<'_>) -> Result<Self, Wrong> {
        T::from_toml(value).map(Some)
    }

    fn check(&self) -> Result<(), Wrong> {
        self.as_ref().map_or(Ok(()), T::check)
    }

    fn add(&mut self, written: &str) -> Result<(), String> {
        let later = T::from_flag(written)?;
        *self = Some(match self.take() {
            Some(before) => before.and(later),
            None => later,
        });
        Ok(())
    }

    fn merged_over(self, other: Self) -> Self {
        self.or(other)
    }

    fn refused(&self, key: &str, held: &Self, may: May) -> Option<(String, String)> {
        may.refused(key, [self.as_ref()?, held.as_ref()?], T::in_file)
    }
}

impl Value for bool {
    const WORDS: &'static [&'static str] = &["true", "false"];

    fn from_toml(value: &DeValue<'_>) -> Result<Self, Wrong> {
        value.as_bool().ok_or_else(|| must_be("true or false", value))
    }

    fn from_flag(written: &str) -> Result<Self, String> {
        written.parse().map_err(|error: std::str::ParseBoolError| error.to_string())
    }
}

/// A number of bytes, as all numbers are so far.
impl Value for u64 {
    fn from_toml(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let number = value.as_integer().ok_or_else(|| must_be("a whole number", value))?;
        Self::from_str_radix(number.as_str(), number.radix())
            .map_err(|_| "it must be 0 or more".to_owned().into())
    }

    fn check(&self) -> Result<(), Wrong> {
        if *self > MAX_FILE_BYTES {
            return Err(format!("it must be at most {MAX_FILE_BYTES}, not {self}").into());
        }
        Ok(())
    }

    fn from_flag(written: &str) -> Result<Self, String> {
        written.parse().map_err(|error: std::num::ParseIntError| error.to_string())
    }

    fn in_reference(&self) -> String {
        format!("{} MiB", self >> 20)
    }
}

/// A time to wait, of at most a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(pub Duration);

impl Seconds {
    const LONGEST: f64 = 60.0;
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_secs_f64())
    }
}

impl Value for Seconds {
    fn from_toml(value: &DeValue<'_>) -> Result<Self, Wrong> {
        let written = value.as_integer().map(DeInteger::as_str);
        let written = written.or_else(|| value.as_float().map(DeFloat::as_str));
        Ok(Self::from_flag(written.ok_or_else(|| must_be("a number of seconds", value))?)?)
    }

    fn from_flag(written: &str) -> Result<Self, String> {
        let seconds = written.replace('_', "").parse::<f64>().ok();
        let seconds = seconds.filter(|seconds| (0.0..=Self::LONGEST).contains(seconds));
        let seconds = seconds.map(|seconds| Self(Duration::from_secs_f64(seconds)));
        seconds.ok_or_else(|| "it must be seconds, from 0 to 60".into())
    }
}

pub(super) fn must_be(what: &str, value: &DeValue<'_>) -> Wrong {
    format!("it must be {what}, not {}", value.type_str()).into()
}

/// What is wrong with what is said of a setting.
#[derive(Debug)]
pub(in crate::policy) struct Wrong {
    /// With which item of a list, if it is with one.
    pub(in crate::policy) item: Option<usize>,
    pub(in crate::policy) why: String,
}

impl From<String> for Wrong {
    fn from(why: String) -> Self {
        Self { item: None, why }
    }
}
