//! Which lines of the text at hand a request means that names them by the numbers of a version.
//!
//! Where the file has another version by now, [`Sources`](super::Sources) say how it came to that, and the lines are
//! followed; where an earlier section has changed the file, so are they through that. What cannot be followed for certain
//! is refused, with what stands there now.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::whole;
use crate::edit::Edit;
use crate::excerpt::around;
use crate::follow::{self, CurrentLines, Followed, LineMap, NamedLines, Step};
use crate::patch::NumberedChange;
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

/// A file whose lines a section names by number.
pub(super) struct Numbering<'a> {
    /// What it is on the disk; `None` where it is not there.
    pub(super) base: Option<&'a Text>,
    /// What earlier sections do to that.
    pub(super) edit: Option<&'a Edit>,
    /// What it is by now.
    pub(super) now: &'a Text,
    /// How it came to what it is on the disk from the version that is asked for.
    pub(super) since: &'a dyn Fn(&str) -> Option<&'a Since>,
}

impl Numbering<'_> {
    /// The lines that a change names, and whether they had other numbers in the version that it names.
    pub(super) fn lines(&self, change: &NumberedChange) -> Result<CurrentLines, Kind> {
        let NumberedChange { version, range } = change;
        let named = NamedLines::new(range.first, range.count);
        let total = self.now.lines().len();
        let missing = |total| Kind::NoSuchLines { first: range.first, count: range.count, total };
        let named = named.ok_or_else(|| missing(total))?;
        let Some(base) = self.base else { return Err(self.lost(change, self.now, WhyLost::Unknown, None)) };
        let since = (self.since)(version);
        let steps: Vec<Step<'_>> = match since {
            _ if base.version().is_named_by(version) => Vec::new(),
            Some(Since::Edits(maps)) => maps.iter().map(Step::Edited).collect(),
            Some(Since::Content(then)) => alloc::vec![Step::Compared { then, now: base }],
            None => return Err(self.lost(change, base, WhyLost::Unknown, named.within(base.lines().len()))),
        };
        let before = match follow::follow(named, steps.iter().copied(), base.lines().len()) {
            Followed::Kept(lines) if steps.iter().all(|step| Self::agrees(*step, named, lines)) => lines,
            Followed::Kept(_) => {
                let then = steps.first().and_then(|step| match step {
                    Step::Compared { then, .. } => Self::about_there(then, base, named),
                    Step::Edited(_) => None,
                });
                return Err(self.lost(change, base, WhyLost::Changed { is_certain: false }, then));
            }
            Followed::Missing { total } => return Err(missing(total)),
            Followed::Several(places) => {
                let lines = places.iter().map(|place| place.first() + 1).collect();
                return Err(self.lost(change, base, WhyLost::Several { lines }, places.first().copied()));
            }
            Followed::Changed(remains) => {
                let why = WhyLost::Changed { is_certain: remains.is_some_and(|remains| remains.is_tight) };
                let lines = remains.map(|remains| remains.lines).or_else(|| match since {
                    Some(Since::Content(then)) => Self::about_there(then, base, named),
                    _ => None,
                });
                return Err(self.lost(change, base, why, lines));
            }
        };
        let Some(edit) = self.edit else { return Ok(before) };
        let map;
        let step = match LineMap::from_edit(base, edit) {
            Some(known) => {
                map = known;
                Step::Edited(&map)
            }
            None => Step::Compared { then: base, now: self.now },
        };
        match follow::follow(before.named(), [step], total) {
            Followed::Kept(lines) if Self::agrees(step, before.named(), lines) => Ok(lines),
            _ => Err(self.lost(change, base, WhyLost::Overwritten, None)),
        }
    }

    /// Whether the comparison of both contents as a whole has the lines at this place too. Lines that stand once in each may
    /// be others all the same: those that are meant were changed, and their like was written elsewhere.
    fn agrees(step: Step<'_>, named: NamedLines, lines: CurrentLines) -> bool {
        match step {
            Step::Edited(_) => true,
            Step::Compared { then, now } => {
                let map = LineMap::from_spans(then, &whole::rewrite(then, now.bytes()));
                follow::follow(named, [Step::Edited(&map)], now.lines().len()) == Followed::Kept(lines)
            }
        }
    }

    /// About where lines are that cannot be followed for certain: only to be shown.
    fn about_there(then: &Text, now: &Text, named: NamedLines) -> Option<CurrentLines> {
        let map = LineMap::from_spans(then, &whole::rewrite(then, now.bytes()));
        match follow::follow(named, [Step::Edited(&map)], now.lines().len()) {
            Followed::Kept(lines) => Some(lines),
            Followed::Changed(remains) => remains.map(|remains| remains.lines),
            _ => None,
        }
    }

    fn lost(&self, change: &NumberedChange, base: &Text, why: WhyLost, now: Option<CurrentLines>) -> Kind {
        let NumberedChange { version, range } = change;
        let now = now.map(|lines| LinesNow {
            first: lines.first() + 1,
            count: lines.count(),
            shown: shown(base, lines),
        });
        Kind::LostLines(Box::new(LostLines {
            claimed: version.clone(),
            current: base.version(),
            first: range.first,
            count: range.count,
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
