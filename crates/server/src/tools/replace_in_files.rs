//! `replace_in_files`: one replacement in all files of a scope. What a search finds in some versions becomes a patch of these
//! versions, with a hunk for each place. It counts as having read them at that moment.

use std::collections::{BTreeMap, BTreeSet};

use emend_edit::patch::Patch;
use emend_workspace::problem::{
    Expected, Kind, LeftOut, NumberedPlace, PlacesOfFile, Problem, UnexpectedPlaces,
};
use emend_workspace::search::{FoundInFile, FoundPlaces, Replacement};
use emend_workspace::{Effort, NotDone, Origin, WalkScope};

use super::Call;
use super::edit_request::EditRequest;
use super::spec::{About, EditTool, Effect, ToolArguments};
use crate::messages;
use crate::wire::ReplaceInFiles;

/// The most places that are replaced if the call does not say how many it expects.
const PLACES: usize = 1_000;
/// The most files with such places.
const FILES: usize = 100;
/// How many distinct changes an answer shows.
const SAMPLES: usize = 8;

impl ToolArguments for ReplaceInFiles {
    const ABOUT: About = About {
        name: "replace_in_files",
        title: "Find and replace in files",
        description: "Replace a text in all files of path and glob, as one edit.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };
}

impl EditTool for ReplaceInFiles {
    fn request(self, call: &Call<'_>, origin: Origin) -> Result<EditRequest, NotDone<Vec<Problem>>> {
        if call.effort == Effort::Quick {
            // A folder may have any number of files.
            return Err(NotDone::NotQuick);
        }
        let scope =
            WalkScope { path: self.path.as_deref(), glob: self.glob.as_deref(), cancelled: call.cancelled };
        let found = call.workspace.files().places(&scope, &self.replacement())?;
        let refusal = self.refusal(&found).map(Problem::new);
        let left_out = messages::left_out(&found.left_out);
        let versions = found.files.iter().map(|file| (file.name.clone(), file.version.short())).collect();
        let samples = Some(samples(&found.files));
        let patch = Patch::replace_places(found.files.into_iter().map(|file| (file.name, file.places)));
        Ok(EditRequest {
            refusal,
            notes: left_out.into_iter().collect(),
            versions,
            samples,
            places_are_found: true,
            ..EditRequest::new(patch, origin)
        })
    }
}

impl ReplaceInFiles {
    fn replacement(&self) -> Replacement<'_> {
        Replacement {
            old: &self.old_string,
            new: &self.new_string,
            is_regex: self.regex.unwrap_or(false),
            whole_words: self.whole_words.unwrap_or(false),
            ignore_case: self.ignore_case.unwrap_or(false),
            is_structure: self.ast.unwrap_or(false),
        }
    }

    /// Returns why the call does not accept these places, if it does not.
    fn refusal(&self, found: &FoundPlaces) -> Option<Kind> {
        let (files, places) =
            (found.files.len(), found.files.iter().map(|file| file.places.len()).sum::<usize>());
        if places == 0 {
            return Some(Kind::NoPlaces { searched: found.searched, left_out: found.left_out });
        }
        let is_count_other = self.expected_count.is_some_and(|expected| expected != places);
        let is_too_much = self.expected_count.is_none() && places > PLACES
            || self.expected_files.is_none() && files > FILES;
        let expected = match (self.expected_count, self.expected_files) {
            (Some(expected), _) if is_count_other => Expected::Count(expected),
            (_, Some(expected)) if expected != files => Expected::Files(expected),
            _ if is_too_much => Expected::AtMost { places: PLACES, files: FILES },
            _ => return None,
        };
        Some(unexpected(expected, &found.files, found.left_out))
    }
}

/// Counts the distinct changes, and returns the number of the first place of each.
fn samples(files: &[FoundInFile]) -> (usize, BTreeSet<usize>) {
    let mut first: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (place, number) in files.iter().flat_map(|file| &file.places).zip(1..) {
        first.entry((&place.old, &place.new)).or_insert(number);
    }
    let numbers: BTreeSet<usize> = first.values().copied().collect();
    (numbers.len(), numbers.into_iter().take(SAMPLES).collect())
}

/// Numbers the places as the hunks of a preview of them are.
fn unexpected(expected: Expected, files: &[FoundInFile], left_out: LeftOut) -> Kind {
    let mut taken = 0;
    let numbered = |file: &FoundInFile| {
        let shown = file.shown.iter().zip(taken + 1..);
        let shown =
            shown.map(|((line, text), number)| NumberedPlace { number, line: *line, text: text.clone() });
        let shown = shown.collect();
        taken += file.places.len();
        PlacesOfFile { name: file.name.clone(), count: file.places.len(), shown }
    };
    let files = files.iter().map(numbered).collect();
    Kind::UnexpectedPlaces(Box::new(UnexpectedPlaces { expected, files, left_out, preview: None }))
}
