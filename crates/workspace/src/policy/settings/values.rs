//! The values of settings: parsing them from files and flags, and combining those of two sources.

use std::fmt;
use std::time::Duration;

use toml::de::{DeFloat, DeInteger, DeValue};

use super::rules::May;

/// The largest `max_file_bytes` of any policy.
pub const MAX_FILE_BYTES: u64 = 1024 * 1024 * 1024;

/// The value that one source has for a setting: the type of a field of [`Settings`](super::Settings). The default sets
/// nothing.
pub(super) trait Said: Default {
    /// The allowed words, if it is one of a few.
    const WORDS: &'static [&'static str];
    /// Whether its flag may be given several times.
    const IS_LIST: bool;

    /// Reads the value from a file.
    fn read(value: &DeValue<'_>) -> Result<Self, Wrong>;

    /// Refuses values that are invalid even in the user's own file.
    fn check(&self) -> Result<(), Wrong> {
        Ok(())
    }

    /// Adds a value of the flag.
    fn add(&mut self, written: &str) -> Result<(), String>;

    /// Combines the values of two sources, of which this one takes precedence.
    fn merged_over(self, other: Self) -> Self;

    /// Returns both values, as written in a file, if this one is not allowed because of `held`.
    fn refused(&self, key: &str, held: &Self, may: May) -> Option<(String, String)>;
}

/// A single value, or a list that counts as a whole.
pub(super) trait Value: Clone + PartialOrd + fmt::Display {
    /// The allowed words, if it is one of a few.
    const WORDS: &'static [&'static str] = &[];
    /// Whether its flag may be given several times.
    const IS_LIST: bool = false;

    /// Reads the value from a file.
    fn from_toml(value: &DeValue<'_>) -> Result<Self, Wrong>;

    /// Refuses values that are invalid even in the user's own file.
    fn check(&self) -> Result<(), Wrong> {
        Ok(())
    }

    /// Parses the value of a flag.
    fn from_flag(written: &str) -> Result<Self, String>;

    /// Combines the values of two flags.
    #[must_use]
    fn and(self, later: Self) -> Self {
        let _ = self;
        later
    }

    /// Returns the value as written in a file.
    fn in_file(&self) -> String {
        self.to_string()
    }

    /// Returns the value as the reference shows a default.
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

/// A number of bytes, the only kind of number so far.
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

/// A waiting time of at most a minute.
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

/// An error in the value of a setting.
#[derive(Debug)]
pub(in crate::policy) struct Wrong {
    /// The index of the invalid item of a list, if it is one.
    pub(in crate::policy) item: Option<usize>,
    pub(in crate::policy) why: String,
}

impl From<String> for Wrong {
    fn from(why: String) -> Self {
        Self { item: None, why }
    }
}
