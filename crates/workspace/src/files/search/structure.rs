//! Places that are found by the structure of code. The pattern is read once for each language, and a file is parsed only if
//! it has the longest word of the pattern.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use emend_edit::problem::NoChange;
use emend_syntax::{Language, Limits, NotMatched, Structure, StructureFault, language_of};

use super::pattern::{Replaced, Replacement};
use super::{PATTERN, invalid};
use crate::problem::{EditKind, Kind, LeftOut, Problem};

/// A pattern of code, in each language that a file of the scope is in.
pub(super) struct StructurePattern {
    old: String,
    new: String,
    word: String,
    read: BTreeMap<&'static str, Structure>,
}

impl StructurePattern {
    pub(super) fn new(asked: &Replacement<'_>) -> Result<Self, Problem> {
        let &Replacement { old, new, is_regex, whole_words, ignore_case, .. } = asked;
        if is_regex || whole_words || ignore_case {
            return Err(invalid(
                "ast",
                "regex, whole_words and ignore_case are for text, and this is code".into(),
            ));
        }
        if old.len() > PATTERN {
            return Err(invalid(
                "old_string",
                format!("it has more than {PATTERN} bytes; look for less of it"),
            ));
        }
        if old == new {
            return Err(EditKind::NoOp { why: NoChange::SameText }.into());
        }
        let words = old.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
        let word = words.filter(|word| !word.contains('$')).max_by_key(|word| word.len()).unwrap_or_default();
        Ok(Self { old: old.into(), new: new.into(), word: word.into(), read: BTreeMap::new() })
    }

    /// Finds the places in a file, as long as `found` accepts them.
    pub(super) fn each(
        &mut self,
        name: &str,
        body: &[u8],
        left_out: &mut LeftOut,
        found: &mut dyn FnMut(Replaced) -> Result<(), Kind>,
    ) -> Result<(), Kind> {
        let Some(language) = language_of(name).filter(|language| language.has_patterns()) else {
            left_out.other_language += 1;
            return Ok(());
        };
        if memchr::memmem::find(body, self.word.as_bytes()).is_none() {
            return Ok(());
        }
        let Ok(text) = std::str::from_utf8(body) else {
            left_out.binary += 1;
            return Ok(());
        };
        match self.read(language)?.find(text, &Limits::default()) {
            Ok(places) => {
                left_out.fuller_places += places.more.len();
                places.places.into_iter().try_for_each(|(range, new)| {
                    let old = text[range.clone()].to_owned();
                    found(Replaced { range, old, new })
                })
            }
            Err(NotMatched::Unsound) => {
                left_out.unsound += 1;
                Ok(())
            }
            Err(NotMatched::TooMuch) => {
                let message = "with it, this file would grow too large to be checked".into();
                Err(Kind::InvalidArgument { name: "new_string".into(), message })
            }
            Err(NotMatched::TakesApart(variable)) => {
                let message = format!(
                    "with it, what ${variable} stands for would not stay one piece of code; put brackets around it: \
                     (${variable})"
                );
                Err(Kind::InvalidArgument { name: "new_string".into(), message })
            }
            Err(NotMatched::ChangesAround(line)) => {
                let message = format!(
                    "with it, the code around the place in line {line} would mean something else; take more of what stands \
                     around it into old_string, or put brackets around the new text if it is an expression"
                );
                Err(Kind::InvalidArgument { name: "new_string".into(), message })
            }
            Err(NotMatched::Breaks) => {
                let message = format!("with it, this file would not be valid {} any more", language.name());
                Err(Kind::InvalidArgument { name: "new_string".into(), message })
            }
        }
    }

    fn read(&mut self, language: Language) -> Result<&Structure, Kind> {
        match self.read.entry(language.name()) {
            Entry::Occupied(read) => Ok(read.into_mut()),
            Entry::Vacant(vacant) => {
                let read = Structure::new(language, &self.old, &self.new);
                Ok(vacant.insert(read.map_err(|fault| said(&fault, language))?))
            }
        }
    }
}

fn said(fault: &StructureFault, language: Language) -> Kind {
    let language = language.name();
    let (name, message) = match fault {
        StructureFault::NotCode => (
            "old_string",
            format!(
                "it is no whole piece of {language}; give one that could stand alone, or a glob that takes files of another \
                 language"
            ),
        ),
        StructureFault::NotOne => {
            ("old_string", format!("it is not one piece of {language}; give one statement or expression"))
        }
        StructureFault::OnlyVariable => {
            ("old_string", "it would be every piece of code; name more of it".into())
        }
        StructureFault::TooMuch => {
            ("old_string", "it is nested too deeply, or has more than 8 $$$; give less of it".into())
        }
        StructureFault::UnknownVariable(variable) => {
            ("new_string", format!("old_string has no ${variable}; its variables alone can be put in"))
        }
    };
    Kind::InvalidArgument { name: name.into(), message }
}
