//! The places of a replacement in the files of a scope, each with the text that replaces it.
//!
//! The files are visited and read as by a search, and each is searched in the version that is named with its places. An
//! edit of these versions changes exactly what was found.

use std::io;

use emend_edit::Version;
use emend_edit::patch::PlaceChange;
use emend_edit::text::{split_ending, split_lines};
use grep_matcher::Matcher;

use crate::files::roots::Roots;
use crate::files::walk::{WalkLimits, WalkScope};
use crate::problem::{Kind, LeftOut, Problem};

use super::files::{self, Reader, ScopedFile, Searched};
use super::pattern::{Pattern, Replaced};
use super::structure::StructurePattern;
use super::view::View;
use super::{Replacement, SearchLimits, invalid, part};

/// The limits of a replacement in many files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceLimits {
    /// The number of places.
    pub(crate) places: usize,
    /// The number of files with places.
    pub(crate) files: usize,
    /// The number of bytes of all old and new texts.
    pub(crate) bytes: usize,
    /// The number of bytes of files that are searched.
    pub(crate) searched: u64,
    /// The number of places of a file whose lines are kept to be shown.
    pub(crate) shown_of_file: usize,
    /// The number of bytes of one shown line.
    pub(crate) line: usize,
    /// The limits of the walk.
    pub(crate) walk: WalkLimits,
}

impl Default for PlaceLimits {
    fn default() -> Self {
        let SearchLimits { searched, walk, .. } = SearchLimits::default();
        Self {
            places: 20_000,
            files: 2_000,
            bytes: 32 * 1024 * 1024,
            searched,
            shown_of_file: 50,
            line: 160,
            walk,
        }
    }
}

/// The places of a replacement in many files.
#[derive(Clone, Debug, Default)]
pub struct FoundPlaces {
    /// The files with places, those nearest to the start first.
    pub files: Vec<FoundInFile>,
    /// The number of files searched.
    pub searched: usize,
    /// What was not searched.
    pub left_out: LeftOut,
}

/// The places of a replacement in one file.
#[derive(Clone, Debug)]
pub struct FoundInFile {
    /// The name by which other tools address it.
    pub name: String,
    /// The version that was searched.
    pub version: Version,
    /// The places, in order.
    pub places: Vec<PlaceChange>,
    /// Of the first places the number of the line and its text; of a long line the part around the place.
    pub shown: Vec<(usize, String)>,
}

/// Finds the places of a replacement in the files of the scope. If not all of them can be found, that is a problem: what is
/// replaced in some files only is half a change.
pub(crate) fn find(
    roots: &Roots,
    scope: &WalkScope<'_>,
    replacement: &Replacement<'_>,
    limits: &PlaceLimits,
) -> Result<FoundPlaces, Problem> {
    let mut search = PlaceSearch {
        reader: Reader::new(&**roots.disk(), limits.searched),
        finder: Finder::new(replacement)?,
        limits,
        left: (limits.places, limits.bytes),
        found: FoundPlaces::default(),
        refused: None,
    };
    let not_visited = files::visit(roots, scope, limits.walk, |file| {
        search.refused = search.file(file).err();
        search.refused.is_none()
    })?;
    let PlaceSearch { mut found, refused, .. } = search;
    if let Some(problem) = refused {
        return Err(problem);
    }
    if not_visited.unseen.rest {
        return Err(too_much("these are more files than one call searches"));
    }
    found.left_out.ignored_files = not_visited.ignored_files;
    found.left_out.ignored_folders = not_visited.ignored_folders;
    found.left_out.unreadable += not_visited.unseen.unreadable;
    Ok(found)
}

fn too_much(what: &str) -> Problem {
    invalid("glob", format!("{what}; give a narrower one, or a path, and make several calls"))
}

/// What finds the places in a file.
enum Finder {
    Text(Pattern),
    Code(StructurePattern),
}

impl Finder {
    fn new(replacement: &Replacement<'_>) -> Result<Self, Problem> {
        Ok(match replacement.is_structure {
            true => Self::Code(StructurePattern::new(replacement)?),
            false => Self::Text(Pattern::new(replacement)?),
        })
    }
}

/// A running search for places.
struct PlaceSearch<'a> {
    reader: Reader<'a>,
    finder: Finder,
    limits: &'a PlaceLimits,
    /// The places, and the bytes of old and new texts, that there may still be.
    left: (usize, usize),
    found: FoundPlaces,
    refused: Option<Problem>,
}

impl PlaceSearch<'_> {
    fn file(&mut self, file: &ScopedFile<'_>) -> Result<(), Problem> {
        // No call can name a file whose name is not UTF-8.
        let is_nameable = file.names.iter().all(|name| name.to_str().is_some());
        let read =
            if is_nameable { self.reader.read(file) } else { Err(io::ErrorKind::InvalidFilename.into()) };
        let left_out = &mut self.found.left_out;
        let not_text = match read {
            Ok(Searched::Text(view)) => return self.text(file, view),
            Ok(Searched::Nothing) => return Ok(()),
            Ok(Searched::Enough) => return Err(too_much("these are more files than one call searches")),
            Ok(Searched::Binary) => &mut left_out.binary,
            Ok(Searched::TooLarge) => &mut left_out.too_large,
            Err(_) => &mut left_out.unreadable,
        };
        *not_text += 1;
        Ok(())
    }

    /// Searches the text of a file.
    fn text(&mut self, file: &ScopedFile<'_>, view: View) -> Result<(), Problem> {
        let not_searched = |left_out: &LeftOut| left_out.other_language + left_out.unsound;
        let before = not_searched(&self.found.left_out);
        let mut places = Places {
            limits: self.limits,
            left: &mut self.left,
            places: Vec::new(),
            shown: Vec::new(),
            refused: None,
        };
        match &mut self.finder {
            Finder::Text(pattern) if pattern.by_line => places.lines(pattern, view.body()),
            Finder::Text(pattern) => places.whole(view.body(), |found| pattern.each(view.body(), found)),
            Finder::Code(pattern) => {
                let left_out = &mut self.found.left_out;
                places
                    .whole(view.body(), |found| pattern.each(&(file.called)(), view.body(), left_out, found));
            }
        }
        let Places { mut places, shown, refused, .. } = places;
        if let Some((line, kind)) = refused {
            let kind = match kind {
                Kind::InvalidArgument { name, message } => Kind::InvalidArgument {
                    name,
                    message: format!("{message} ({}, line {line})", (file.called)()),
                },
                kind => kind,
            };
            return Err(Problem::new(kind).at(&(file.called)()));
        }
        if places.is_empty() {
            self.found.searched += usize::from(not_searched(&self.found.left_out) == before);
            return Ok(());
        }
        let Some(text) = view.into_text() else {
            // A search shows it, but it has too many control characters for a text.
            self.found.left_out.binary += 1;
            return Ok(());
        };
        self.found.searched += 1;
        let (version, start) = (text.version(), text.body().start);
        places.iter_mut().for_each(|place| place.offset += start);
        self.found.files.push(FoundInFile { name: (file.called)(), version, places, shown });
        if self.found.files.len() > self.limits.files {
            return Err(too_much(&format!("the text stands in more than {} files", self.limits.files)));
        }
        Ok(())
    }
}

/// A sink for the places of one file.
struct Places<'a> {
    limits: &'a PlaceLimits,
    left: &'a mut (usize, usize),
    /// The places, by their offsets in the body of the file.
    places: Vec<PlaceChange>,
    shown: Vec<(usize, String)>,
    /// Why a place is refused, and its line.
    refused: Option<(usize, Kind)>,
}

impl Places<'_> {
    /// Adds the places of each line, as if there were no other: a search of the whole would take the end of the file for
    /// that of a line.
    fn lines(&mut self, pattern: &Pattern, body: &[u8]) {
        let mut offset = 0;
        for (at, line) in split_lines(body).enumerate() {
            let content = split_ending(line).0;
            if pattern.matcher.is_match(content).unwrap_or(true) {
                self.line(pattern, at + 1, content, offset);
            }
            if self.refused.is_some() {
                return;
            }
            offset += line.len();
        }
    }

    /// Adds the places of one line without its ending.
    fn line(&mut self, pattern: &Pattern, number: usize, line: &[u8], offset: usize) {
        let found = pattern.each(line, &mut |found| self.add(found, number, line, offset));
        self.refused = found.err().map(|kind| (number, kind));
    }

    /// Adds the places of a whole file, which `each` finds in order.
    fn whole(
        &mut self,
        body: &[u8],
        each: impl FnOnce(&mut dyn FnMut(Replaced) -> Result<(), Kind>) -> Result<(), Kind>,
    ) {
        let (mut number, mut start) = (1, 0);
        let mut last = 0;
        let found = each(&mut |found| {
            // The line of this place, from where that of the place before began.
            let at = found.range.start;
            number += memchr::memchr_iter(b'\n', &body[last..at]).count();
            start = memchr::memrchr(b'\n', &body[last..at]).map_or(start, |newline| last + newline + 1);
            last = at;
            let end = memchr::memchr(b'\n', &body[at..]).map_or(body.len(), |length| at + length);
            let within = Replaced { range: at - start..found.range.end - start, ..found };
            self.add(within, number, split_ending(&body[start..end]).0, start)
        });
        self.refused = found.err().map(|kind| (number, kind));
    }

    /// Adds a place of this line, which begins at `offset`.
    fn add(&mut self, found: Replaced, number: usize, line: &[u8], offset: usize) -> Result<(), Kind> {
        let Replaced { range, old, new } = found;
        let left = (self.left.0.checked_sub(1), self.left.1.checked_sub(old.len() + new.len()));
        let (Some(places), Some(bytes)) = left else {
            let what = match left.0 {
                None => format!("the text stands in more than {} places", self.limits.places),
                Some(_) => "the new text would be too much in all".into(),
            };
            return Err(*too_much(&what).kind);
        };
        *self.left = (places, bytes);
        if self.shown.len() < self.limits.shown_of_file {
            self.shown.push((number, part(line, range.start, self.limits.line)));
        }
        self.places.push(PlaceChange { offset: offset + range.start, old, new, is_proven: false });
        Ok(())
    }
}
