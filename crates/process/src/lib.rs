//! External programs: finding one that no edit can change ([`search`]), running it within limits ([`run`]), and killing
//! it with all that it started ([`group`]).
//!
//! Nothing here knows of Emend: errors say what happened in a few plain words, and callers word their own messages.

pub mod group;
pub mod run;
pub mod search;
