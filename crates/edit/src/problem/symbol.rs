//! What a refusal shows where a definition is named that is not one definition for certain.

use alloc::string::String;
use alloc::vec::Vec;

use crate::version::Version;

/// A part of what is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// All of its lines.
    Whole,
    /// The place directly above them.
    Above,
    /// The place directly below them.
    Below,
}

/// A name that fits no definition, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSymbol {
    /// The name.
    pub symbol: String,
    /// The version in which it was looked for.
    pub version: Version,
    /// The definitions that may be meant, in their order.
    pub definitions: Vec<DefinitionLines>,
    /// How many others there are.
    pub more: usize,
}

/// Why a name fits no definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoDefinition {
    /// Nobody knows what definitions are in a file of this kind.
    UnknownLanguage,
    /// The file is too large to look for them.
    TooLarge,
    /// Looking for them takes too long.
    TooSlow,
    /// None has this name; those that are shown have similar ones.
    Misspelt,
    /// None has this name or one like it; the outermost are shown.
    Missing,
}

/// A definition with its lines, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionLines {
    /// Its kind and its path.
    pub title: String,
    /// Its first line.
    pub first: usize,
    /// Its last line.
    pub last: usize,
}

/// A definition whose lines are not certain where that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UncertainSymbol {
    /// The definition.
    pub definition: DefinitionLines,
    /// The version that has these lines.
    pub version: Version,
    /// What of it is meant.
    pub part: Part,
    /// Why it is not certain.
    pub why: Uncertainty,
    /// Its lines and their neighbours, each with its number; not all of them where they are many.
    pub shown: Vec<(usize, String)>,
}

/// Why the lines of a definition are not certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncertainty {
    /// Other code stands in one of them.
    Shared,
    /// A comment directly above it may be its own.
    Comment,
    /// There is a syntax error in it or beside it.
    Broken,
}
