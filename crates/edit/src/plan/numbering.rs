//! Line addresses: turns numbers or a definition of an older version into lines of the current text.
//!
//! [`Sources`] say which lines the definition has in that version; from there on they are numbers too.
//! Where the file has another version by now, [`Sources`] say how it came to that, and the lines are
//! followed; where an earlier section has changed the file, so are they through that. What cannot be followed for certain
//! is refused, with what stands there now.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use super::{NamedAs, Renumbered, SourceFile, Sources, TakenSymbol, apart, whole};
use crate::edit::Edit;
use crate::excerpt::around;
use crate::follow::{self, CurrentLines, Followed, LineMap, NamedLines, Step};
use crate::patch::{Change, LineAddress, LinesOfVersion, Part};
use crate::problem::{Kind, LinesNow, LostLines, WhyLost};
use crate::text::Text;

/// How many lines are shown of what stands in the place of others, and how many of each line.
const SHOWN: usize = 12;
const SHOWN_COLUMNS: usize = 200;

/// How a file came from an older version to what is on the disk.
#[derive(Clone, Debug)]
pub enum Since {
    /// By these edits, in their order.
    Edits(Vec<LineMap>),
    /// In ways that are not known; this is what it was.
    Content(Arc<Text>),
}

/// A definition in a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSymbol {
    /// Its kind and its path.
    pub title: String,
    /// The first line, counted from 1.
    pub first: usize,
    /// How many lines.
    pub count: usize,
    /// Whether the blank lines around it belong to it.
    pub is_apart: bool,
}

impl FoundSymbol {
    /// Returns the first line of a part of it, counted from 1, and how many lines that has; without any, the place before
    /// the first is meant.
    #[must_use]
    pub fn part(&self, part: Part) -> (usize, usize) {
        match part {
            Part::Whole => (self.first, self.count),
            Part::Above => (self.first, 0),
            Part::Below => (self.first + self.count, 0),
        }
    }
}

/// A definition in a text, by its lines, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionPlace {
    /// Its kind and its path.
    pub title: String,
    /// The names of the definitions that contain it, and its own, with dots between them.
    pub path: String,
    /// Its first line, with what belongs to it above its name.
    pub first: usize,
    /// The line of its name.
    pub name_line: usize,
    /// Its last line.
    pub last: usize,
    /// Whether these lines are the definition and nothing else.
    pub is_certain: bool,
}

/// Where a definition is in a version, or why it cannot be taken.
pub type SymbolLines = Result<FoundSymbol, Kind>;

/// Lines by the numbers of a version, and the definition as which they are named, if they are.
#[derive(Clone, Copy, Debug)]
pub(super) struct VersionLines<'a> {
    pub(super) version: &'a str,
    pub(super) first: usize,
    pub(super) count: usize,
    /// The definition, and what of it is meant.
    pub(super) symbol: Option<(&'a FoundSymbol, Part)>,
}

impl VersionLines<'_> {
    /// Returns how these lines are named, unless that is by the numbers that they have now.
    pub(super) fn named(&self, now: CurrentLines) -> Option<NamedAs> {
        let Self { version, first, count, symbol } = *self;
        match symbol {
            Some((found, part)) => Some(NamedAs::Symbol(TakenSymbol { title: found.title.clone(), part })),
            None if now.first() + 1 == first => None,
            None => Some(NamedAs::Numbers(Renumbered { version: version.into(), first, count })),
        }
    }
}

/// The lines, counted from 1, at which a request places a hunk by number.
#[derive(Debug, Default)]
pub(super) struct HunkNumbers {
    /// They choose among equal places. After own edits of the client these are the followed number and the one as written,
    /// because the request may already mean the file as it is.
    pub(super) current: Vec<usize>,
    /// Where the new lines stand if the hunk was made already.
    pub(super) named: Vec<usize>,
    /// Whether the numbers of the file may have changed. Then kept lines must confirm the place.
    pub(super) may_differ: bool,
}

/// A file whose lines a section names by the numbers or a definition of a version.
pub(super) struct Numbering<'a> {
    /// The file on disk; `None` if there is none.
    pub(super) base: Option<&'a Text>,
    /// The changes of earlier sections to it.
    pub(super) edit: Option<&'a Edit>,
    /// The file after these changes.
    pub(super) now: &'a Text,
    /// What is known of the file on disk.
    pub(super) origin: &'a SourceFile,
    /// The name of the file.
    pub(super) name: &'a str,
    pub(super) sources: &'a Sources,
}

impl<'a> Numbering<'a> {
    /// Returns where a hunk belongs by its number, which refers to the version that the client has read. It chooses nothing
    /// if the lines have `moved` in ways that are not known, or cannot be followed. The hunks before it add `grown` lines.
    pub(super) fn numbers(&self, change: &Change, moved: bool, grown: isize) -> HunkNumbers {
        let hint = change.hint().filter(|hint| (1..=self.now.line_count()).contains(hint));
        let Some(hint) = hint else { return HunkNumbers::default() };
        let current = match self.origin.read.as_deref() {
            _ if moved => Vec::new(),
            None => alloc::vec![hint],
            Some(version) => {
                let lines = VersionLines { version, first: hint, count: change.old_lines(), symbol: None };
                self.lines(lines).map_or_else(|_| Vec::new(), |now| alloc::vec![now.first() + 1, hint])
            }
        };
        let first = current.first().copied().unwrap_or(hint);
        let named = [Some(first), first.checked_add_signed(grown).filter(|line| *line > 0)];
        let may_differ = current.is_empty();
        HunkNumbers { named: named.into_iter().flatten().collect(), current, may_differ }
    }

    /// Returns which lines of their version a request names, by their numbers there.
    pub(super) fn named<'c>(&self, lines: &'c LinesOfVersion) -> Result<VersionLines<'c>, Kind>
    where
        'a: 'c,
    {
        let version = lines.version.as_str();
        match &lines.at {
            LineAddress::Numbers { first, count } => {
                Ok(VersionLines { version, first: *first, count: *count, symbol: None })
            }
            LineAddress::Symbol(asked) => {
                let key = || (lines.version.clone(), asked.clone());
                match self.origin.symbols.get(&key()) {
                    Some(Ok(found)) => {
                        let (first, count) = found.part(asked.part);
                        Ok(VersionLines { version, first, count, symbol: Some((found, asked.part)) })
                    }
                    Some(Err(kind)) => Err(kind.clone()),
                    None => Err(Kind::SymbolOfUnknownVersion {
                        symbol: asked.symbol.clone(),
                        claimed: lines.version.clone(),
                        current: self.base.unwrap_or(self.now).version(),
                    }),
                }
            }
        }
    }

    /// Where lines of a version are in the text at hand.
    pub(super) fn lines(&self, lines: VersionLines<'_>) -> Result<CurrentLines, Kind> {
        let VersionLines { version, first, count, .. } = lines;
        let named = NamedLines::new(first, count);
        let total = self.now.line_count();
        let missing = |total| Kind::NoSuchLines { first, count, total };
        let named = named.ok_or_else(|| missing(total))?;
        let Some(base) = self.base else { return Err(self.lost(lines, self.now, WhyLost::Unknown, None)) };
        let since = self.origin.since.get(version);
        let map = match since {
            Some(Since::Content(then)) => whole::changed_lines(then, base),
            _ => None,
        };
        let steps: Vec<Step<'_>> = match since {
            _ if base.version().is_named_by(version) => Vec::new(),
            Some(Since::Edits(maps)) => maps.iter().map(Step::Edited).collect(),
            Some(Since::Content(then)) => {
                map.iter().map(|map| Step::Compared { then, now: base, map }).collect()
            }
            None => return Err(self.lost(lines, base, WhyLost::Unknown, named.within(base.line_count()))),
        };
        let before = match follow::follow(named, steps.iter().copied(), base.line_count()) {
            Followed::Kept(lines) => lines,
            Followed::Missing { total } => return Err(missing(total)),
            Followed::Several(places) => {
                let starts = places.iter().map(|place| place.first() + 1).collect();
                let why = WhyLost::Several { lines: starts };
                return Err(self.lost(lines, base, why, places.first().copied()));
            }
            Followed::Changed(remains) => {
                let why = WhyLost::Changed { is_certain: remains.is_some_and(|remains| remains.is_tight) };
                let about = || Self::about_there(map.as_ref()?, named, base.line_count());
                let now = remains.map(|remains| remains.lines).or_else(about);
                return Err(self.lost(lines, base, why, now));
            }
        };
        let Some(edit) = self.edit else { return Ok(before) };
        let known = LineMap::from_edit(base, edit);
        let compared = if known.is_none() { whole::changed_lines(base, self.now) } else { None };
        let step = match (&known, &compared) {
            (Some(map), _) => Step::Edited(map),
            (None, Some(map)) => Step::Compared { then: base, now: self.now, map },
            (None, None) => return Err(self.lost(lines, base, WhyLost::Overwritten, None)),
        };
        match follow::follow(before.named(), [step], total) {
            Followed::Kept(lines) => Ok(lines),
            _ => Err(self.lost(lines, base, WhyLost::Overwritten, None)),
        }
    }

    /// Returns which lines of the text at hand go if these lines go, which are there: with a definition, the blank lines of
    /// one side.
    pub(super) fn going(&self, lines: VersionLines<'_>, at: CurrentLines) -> Range<usize> {
        match lines.symbol {
            Some((found, Part::Whole)) if found.is_apart => apart::with_gap(&self.now.lines(), at),
            _ => at.first()..at.first() + at.count(),
        }
    }

    /// Returns how many blank lines come above and below a text that comes beside a definition, at this place. A text that
    /// brings its own gets none, and so does one above the definition that may belong to it, such as a comment.
    pub(super) fn apart(&self, lines: VersionLines<'_>, at: CurrentLines, text: &[&[u8]]) -> (usize, usize) {
        let Some((found, part)) = lines.symbol.filter(|(found, part)| found.is_apart && *part != Part::Whole)
        else {
            return (0, 0);
        };
        let brings_own = match part {
            Part::Above => apart::leading_blank(text.iter().rev().copied()),
            Part::Whole | Part::Below => apart::leading_blank(text.iter().copied()),
        };
        let ends = self.sources.ends_in_definition;
        let ends_in_definition = || ends.is_some_and(|ends| ends(self.name, &text.join(&b'\n')));
        if brings_own > 0 || (part == Part::Above && !ends_in_definition()) {
            return (0, 0);
        }
        let (first, count) = found.part(Part::Whole);
        let whole = VersionLines { first, count, ..lines };
        let definition = self.lines(whole).ok().filter(|definition| {
            at.first() == definition.first() + if part == Part::Above { 0 } else { definition.count() }
        });
        let blank = apart::between(&self.now.lines(), part, at.first(), definition);
        if part == Part::Above { (0, blank) } else { (blank, 0) }
    }

    /// About where lines are that cannot be followed for certain: only to be shown.
    fn about_there(map: &LineMap, named: NamedLines, total: usize) -> Option<CurrentLines> {
        match follow::follow(named, [Step::Edited(map)], total) {
            Followed::Kept(lines) => Some(lines),
            Followed::Changed(remains) => remains.map(|remains| remains.lines),
            _ => None,
        }
    }

    fn lost(&self, lines: VersionLines<'_>, base: &Text, why: WhyLost, now: Option<CurrentLines>) -> Kind {
        let VersionLines { version, first, count, symbol } = lines;
        let now = now.map(|lines| LinesNow {
            first: lines.first() + 1,
            count: lines.count(),
            shown: shown(base, lines),
        });
        Kind::LostLines(Box::new(LostLines {
            claimed: version.into(),
            current: base.version(),
            first,
            count,
            symbol: symbol.map(|(found, _)| found.title.clone()),
            why,
            now,
        }))
    }
}

/// These lines and their neighbours with their numbers; of many the first.
fn shown(text: &Text, lines: CurrentLines) -> Vec<(usize, String)> {
    let all = text.lines();
    let first = lines.first().saturating_sub(1);
    let last = (lines.first() + lines.count() + 1).min(all.len()).min(first + SHOWN);
    (first..last).map(|line| (line + 1, around(all.content(line), 0, SHOWN_COLUMNS))).collect()
}
