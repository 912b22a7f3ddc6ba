//! Searching: the lines that match a pattern, in the text that a reading of the file would show.
//!
//! Files that are not text or too large to be read are skipped. Matches are counted up to a limit and shown as far as
//! there is room, with a share for each file, so that one file with many matches does not hide the others.

mod files;
mod pattern;
pub(crate) mod places;
mod structure;
mod view;

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::sync::Arc;

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};

use emend_edit::text::{split_ending, split_lines};
use emend_edit::{Text, Version};

use self::files::{Reader, ScopedFile, Searched};
use crate::disk::Disk;
use crate::files::roots::Roots;
use crate::files::walk::{self, Unseen, WalkScope};
use crate::problem::{Kind, Problem};

pub use self::pattern::Replacement;
pub use self::places::{FoundInFile, FoundPlaces};

/// The most bytes of a file that is searched across lines: an expression may take time that grows with their square.
const MULTILINE: usize = 128 << 10;
/// The number of bytes that a pattern may have.
const PATTERN: usize = 4096;

/// The number of bytes that a compiled pattern may have: repetitions such as `(\w{1000}){10}` are expanded.
const COMPILED: usize = 4 * 1024 * 1024;

/// The room that a shown line takes besides its text, for its number and marks.
const BESIDE: usize = 8;

/// The room that a file takes above its lines besides its name, for its version.
const ABOVE: usize = 24;

/// A search query.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<'a> {
    /// A regular expression.
    pub pattern: &'a str,
    /// The number of lines shown around each match.
    pub context: usize,
    /// Whether a match may have several lines, and `.` takes the ends of lines too.
    pub multiline: bool,
    /// Whether files are only named with the number of their matches.
    pub files_only: bool,
}

/// The limits of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchLimits {
    /// The number of matching lines shown.
    pub(crate) shown: usize,
    /// The number of these from one file.
    pub(crate) shown_of_file: usize,
    /// The number of bytes of shown lines, including the file names above them.
    pub(crate) bytes: usize,
    /// The number of bytes of one shown line.
    pub(crate) line: usize,
    /// The number of lines shown of one match.
    pub(crate) lines: usize,
    /// The number of matching lines after which the search ends.
    pub(crate) counted: usize,
    /// The number of bytes of files after which the search ends.
    pub(crate) searched: u64,
    /// The number of lines of context that are shown at most.
    pub(crate) context: usize,
    /// The number of bytes of searched texts that are returned with their matches.
    pub(crate) kept: usize,
    /// The limits of the walk.
    pub(crate) walk: walk::WalkLimits,
}

impl Default for SearchLimits {
    fn default() -> Self {
        Self {
            shown: 250,
            shown_of_file: 50,
            bytes: 40_000,
            line: 300,
            lines: 20,
            counted: 10_000,
            searched: 4 * 1024 * 1024 * 1024,
            context: 20,
            kept: 16 * 1024 * 1024,
            walk: walk::WalkLimits::default(),
        }
    }
}

/// The results of a search.
#[derive(Clone, Debug, Default)]
pub struct SearchResults {
    /// The files that are shown, by their paths. Those nearest to the start are preferred.
    pub files: Vec<FileMatches>,
    /// The number of matches in all files: of matching lines, unless a match may have several.
    pub matches: usize,
    /// The number of files with matches.
    pub matching_files: usize,
    /// The number of files that the scope takes, text or not.
    pub taken: usize,
    /// The number of files searched.
    pub searched: usize,
    /// The number of lines of context, if the query asked for more.
    pub context: Option<usize>,
    /// The number of files that are too large to be searched.
    pub too_large: usize,
    /// The part that was not visited.
    pub unseen: Unseen,
}

/// The matches in one file.
#[derive(Clone, Debug, Default)]
pub struct FileMatches {
    /// The name by which other tools address it.
    pub name: String,
    /// The version of the searched text; nothing if it cannot be edited.
    pub version: Option<Version>,
    /// That text, if it is not too large to be kept.
    pub text: Option<Arc<Text>>,
    /// The lines shown: matches and their context.
    pub lines: Vec<MatchedLine>,
    /// The number of matches that are shown.
    pub shown: usize,
    /// The number of further matches.
    pub more: usize,
}

/// A line that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchedLine {
    /// Its number, as in a reading.
    pub number: usize,
    /// Whether it matches; otherwise it is context.
    pub matches: bool,
    /// The line; of a long one, the part around the match.
    pub text: String,
}

/// Searches the files in the scope.
pub(crate) fn search(
    roots: &Roots,
    scope: &WalkScope<'_>,
    query: &Query<'_>,
    limits: &SearchLimits,
) -> Result<SearchResults, Problem> {
    let matcher = matcher(query)?;
    let context = query.context.min(limits.context);
    let mut search = Search::new(&**roots.disk(), matcher, &Query { context, ..*query }, *limits);
    search.found.context = (query.context > context).then_some(context);
    let not_visited = files::visit(roots, scope, limits.walk, |file| {
        search.found.taken += 1;
        search.file(file, scope.cancelled);
        !search.is_enough
    })?;
    let mut found = search.found;
    found.files.sort_by(|one, other| Path::new(&one.name).cmp(Path::new(&other.name)));
    found.unseen.unreadable += not_visited.unseen.unreadable;
    found.unseen.rest |= not_visited.unseen.rest;
    Ok(found)
}

fn invalid(name: &str, message: String) -> Problem {
    Problem::new(Kind::InvalidArgument { name: name.into(), message })
}

fn matcher(&Query { pattern, multiline, .. }: &Query<'_>) -> Result<RegexMatcher, Problem> {
    if pattern.is_empty() {
        return Err(invalid("pattern", "it is empty, and so every line matches".into()));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).crlf(true).size_limit(COMPILED).dfa_size_limit(COMPILED);
    if multiline {
        builder.dot_matches_new_line(true).line_terminator(None);
    }
    if pattern.len() > PATTERN {
        return Err(invalid("pattern", format!("it has more than {PATTERN} bytes; look for less of it")));
    }
    builder.build(pattern).map_err(|error| {
        let hint = "lines are searched one by one unless multiline = true; put \\ before characters such as ( [ { . * + ? that are meant \
                    as they are";
        invalid("pattern", format!("{error} ({hint})"))
    })
}

/// A running search.
struct Search<'a> {
    reader: Reader<'a>,
    matcher: RegexMatcher,
    searcher: Searcher,
    limits: SearchLimits,
    files_only: bool,
    multiline: bool,
    /// The matches (or files, if only these are shown), and the bytes of lines, that may still be shown.
    room: (usize, usize),
    is_enough: bool,
    found: SearchResults,
}

impl<'a> Search<'a> {
    fn new(disk: &'a dyn Disk, matcher: RegexMatcher, query: &Query<'_>, limits: SearchLimits) -> Self {
        let mut builder = SearcherBuilder::new();
        // The searched text is already decoded to UTF-8.
        builder.binary_detection(BinaryDetection::none()).bom_sniffing(false);
        builder.line_terminator(grep_matcher::LineTerminator::crlf()).line_number(true);
        builder.multi_line(query.multiline);
        let searcher = builder.before_context(query.context).after_context(query.context).build();
        Self {
            reader: Reader::new(disk, limits.searched),
            matcher,
            searcher,
            limits,
            files_only: query.files_only,
            multiline: query.multiline,
            room: (limits.shown, limits.bytes),
            is_enough: false,
            found: SearchResults::default(),
        }
    }

    /// Searches a file. One that is gone or not text has no matches.
    fn file(&mut self, file: &ScopedFile<'_>, cancelled: &dyn Fn() -> bool) {
        let view = match self.reader.read(file) {
            Ok(Searched::Text(view)) => view,
            Ok(Searched::Nothing | Searched::Binary) => return,
            Ok(Searched::TooLarge) => {
                self.found.too_large += 1;
                return;
            }
            Ok(Searched::Enough) => {
                self.is_enough = true;
                return;
            }
            Err(_) => {
                self.found.unseen.unreadable += 1;
                return;
            }
        };
        if self.multiline && view.body().len() > MULTILINE {
            self.found.too_large += 1;
            return;
        }
        self.found.searched += 1;
        let mut lines = Lines {
            matcher: &self.matcher,
            limits: &self.limits,
            cancelled,
            counts_only: self.files_only,
            // An estimate of the shown name, whichever root it is in.
            above: file.names.iter().map(|name| name.len() + 1).sum::<usize>() + ABOVE,
            room: &mut self.room,
            shown: Vec::new(),
            shown_matches: 0,
            matches: 0,
            counted: self.limits.counted - self.found.matches,
        };
        // Only the sink could fail, and it does not.
        let _ = self.searcher.search_slice(&self.matcher, view.body(), &mut lines);
        let Lines { shown, shown_matches, matches, .. } = lines;
        if matches > 0 {
            self.found.matches += matches;
            self.found.matching_files += 1;
            self.is_enough |= self.found.matches >= self.limits.counted;
            let name = (file.called)();
            if !shown.is_empty() {
                let text = view.into_text();
                let version = text.as_ref().map(Text::version);
                let text = text.filter(|text| text.footprint() <= self.limits.kept);
                self.limits.kept -= text.as_ref().map_or(0, Text::footprint);
                let (text, more) = (text.map(Arc::new), matches - shown_matches);
                let file = FileMatches { name, version, text, lines: shown, shown: shown_matches, more };
                self.found.files.push(file);
            } else if self.files_only && self.room.0 > 0 {
                self.room.0 -= 1;
                self.found.files.push(FileMatches { name, shown: matches, ..FileMatches::default() });
            }
        }
    }
}

/// A sink for the matching lines of one file.
struct Lines<'a> {
    matcher: &'a RegexMatcher,
    limits: &'a SearchLimits,
    cancelled: &'a dyn Fn() -> bool,
    counts_only: bool,
    /// The number of bytes above the first line.
    above: usize,
    room: &'a mut (usize, usize),
    shown: Vec<MatchedLine>,
    shown_matches: usize,
    matches: usize,
    /// The number of matches that may still be counted.
    counted: usize,
}

impl Lines<'_> {
    fn has_room(&self) -> bool {
        !self.counts_only
            && self.room.0 > 0
            && self.room.1 > 0
            && self.shown_matches < self.limits.shown_of_file
    }

    fn show(&mut self, number: usize, line: &[u8], matches: bool) {
        let line = split_ending(line).0;
        let at = match self.matcher.find(line) {
            Ok(Some(place)) if matches => place.start(),
            _ => 0,
        };
        let text = part(line, at, self.limits.line);
        let above = if self.shown.is_empty() { self.above } else { 0 };
        self.room.1 = self.room.1.saturating_sub(above + BESIDE + text.len());
        self.shown.push(MatchedLine { number, matches, text });
    }
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.matches += 1;
        if self.has_room() {
            self.room.0 -= 1;
            self.shown_matches += 1;
            let first = found.line_number().unwrap_or(0) as usize;
            let count = split_lines(found.bytes()).count();
            for (number, line) in (first..).zip(split_lines(found.bytes()).take(self.limits.lines)) {
                self.show(number, line, true);
            }
            if let Some(last) = self.shown.last_mut().filter(|_| count > self.limits.lines) {
                let _ = write!(last.text, " ... and {} more lines", count - self.limits.lines);
            }
        }
        // Finding the next of several lines may take as long as the file.
        Ok(self.matches < self.counted && !(self.cancelled)())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        let is_wanted = match context.kind() {
            SinkContextKind::Before => self.has_room(),
            // Context after the last match is shown if that match is.
            _ => self.matches == self.shown_matches && self.room.1 > 0,
        };
        if is_wanted {
            self.show(context.line_number().unwrap_or(0) as usize, context.bytes(), false);
        }
        Ok(true)
    }
}

/// Returns the line as shown: of a long one, the part around `at`.
fn part(line: &[u8], at: usize, limit: usize) -> String {
    if line.len() <= limit {
        return String::from_utf8_lossy(line).into_owned();
    }
    let floor = |mut at: usize| {
        while at > 0 && at < line.len() && line[at] & 0xc0 == 0x80 {
            at -= 1;
        }
        at
    };
    // A quarter of the room goes to the text before the match.
    let start = floor(at.saturating_sub(limit / 4).min(line.len() - limit));
    let end = floor(start + limit);
    let cut = |is_cut: bool| if is_cut { "..." } else { "" };
    let shown = String::from_utf8_lossy(&line[start..end]);
    format!("{}{shown}{} ({} bytes)", cut(start > 0), cut(end < line.len()), line.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::roots::RootSpec;

    /// Searches eight files of four matching lines each, in four folders.
    fn found(limits: SearchLimits, cancelled: &dyn Fn() -> bool) -> Result<SearchResults, Problem> {
        let folder = tempfile::tempdir().unwrap();
        for name in ["1/a", "1/b", "2/a", "2/b", "3/a", "3/b", "4/a", "4/b"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "match\n".repeat(4)).unwrap();
        }
        let spec = RootSpec { name: None, path: folder.path().into() };
        let roots = Roots::open(crate::disk::for_this_machine(), &[spec], &crate::Policy::default()).unwrap();
        let scope = WalkScope { path: None, glob: None, cancelled };
        search(&roots, &scope, &Query { pattern: "match", ..Query::default() }, &limits)
    }

    #[track_caller]
    fn check(limits: SearchLimits, searched: usize, matches: usize, shown: usize, is_all: bool) {
        let found = found(limits, &|| false).unwrap();
        let lines: usize = found.files.iter().map(|file| file.shown).sum();
        assert_eq!((found.searched, found.matches, lines), (searched, matches, shown));
        assert_eq!(found.unseen, Unseen { unreadable: 0, rest: !is_all });
    }

    #[test]
    fn every_limit_ends_the_search_or_what_is_shown_and_is_told() {
        let limits = SearchLimits::default();
        check(limits, 8, 32, 32, true);
        check(SearchLimits { shown: 10, ..limits }, 8, 32, 10, true);
        check(SearchLimits { shown_of_file: 3, ..limits }, 8, 32, 24, true);
        // Each line has five bytes; above those of a file stand the four of "1/a ", and its version.
        let bytes = 6 * (5 + BESIDE) + 2 * (4 + ABOVE);
        check(SearchLimits { bytes, ..limits }, 8, 32, 6, true);
        check(SearchLimits { counted: 10, ..limits }, 3, 10, 10, false);
        check(SearchLimits { searched: 100, ..limits }, 4, 16, 16, false);
        // The names of the root, of the first two folders, and one of the third.
        check(
            SearchLimits { walk: walk::WalkLimits { names: 9, ..limits.walk }, ..limits },
            5,
            20,
            20,
            false,
        );
        check(
            SearchLimits { walk: walk::WalkLimits { waiting: 2, ..limits.walk }, ..limits },
            4,
            16,
            16,
            false,
        );
    }

    #[test]
    fn a_search_that_nobody_waits_for_ends() {
        for calls in 0..10_usize {
            let left = std::cell::Cell::new(calls);
            let cancelled = || left.replace(left.get().saturating_sub(1)) == 0;
            let problem = found(SearchLimits::default(), &cancelled).unwrap_err();
            assert_eq!(*problem.kind, Kind::Cancelled);
        }
    }

    #[test]
    fn a_long_line_is_cut_between_characters() {
        let line = "é".repeat(100);
        for at in 0..200 {
            let part = part(line.as_bytes(), at, 21);
            assert!(part.chars().all(|c| c != char::REPLACEMENT_CHARACTER), "{part}");
            assert!(part.ends_with("(200 bytes)"), "{part}");
        }
        assert_eq!(part(b"short", 0, 21), "short");
    }
}
