//! Other people's programs: finding one that no edit can change ([`search`]), running it within limits ([`run`]), and
//! ending it with all that it started ([`group`]).
//!
//! Nothing here knows of Emend. What is said of a program is left to who runs it: errors are what happened, with a few
//! plain words for it.

pub mod group;
pub mod run;
pub mod search;
