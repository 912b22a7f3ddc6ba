//! What a sketch takes away: lines that it replaces, lines of which it says that they go, and nothing else.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::anchors::Anchored;
use super::{DefinitionPlace, REMOVAL, Reader, are_alike, is_blank, is_same, is_telling};
use crate::patch::Line;
use crate::problem::{Kind, SketchDoubt};

/// Lines of the file that go, and lines of the segment that come in their place.
struct Exchange {
    /// Counted from 0, in the file.
    gone: Range<usize>,
    /// Counted from 0, in the segment.
    come: Range<usize>,
    /// Whether the sketch says that lines go here.
    is_said: bool,
}

impl Reader<'_> {
    /// Refuses to take away lines where the sketch does not say so.
    pub(super) fn check_loss(&self, i: usize, anchored: &Anchored, lines: &[Line]) -> Result<(), Kind> {
        let segment = &self.segments[i];
        for exchange in exchanges(anchored.lines.start, lines) {
            let Exchange { gone, come, is_said } = exchange;
            let line = segment.first + come.start.min(segment.lines.len() - 1);
            let went: Vec<&[u8]> =
                self.file[gone.clone()].iter().filter(|line| !is_blank(line)).copied().collect();
            if is_said {
                if went.is_empty() {
                    return Err(self.uncertain(
                        line,
                        SketchDoubt::RemovesNothing,
                        gone.start..gone.start + 1,
                    ));
                }
                continue;
            }
            let came: Vec<&str> = segment.lines[come.clone()]
                .iter()
                .flatten()
                .filter(|line| !line.trim().is_empty())
                .copied()
                .collect();
            if went.is_empty() {
                continue;
            }
            if came.is_empty() {
                return Err(self.uncertain(line, SketchDoubt::Deletes, gone));
            }
            if let Some(lost) = self.lost_definition(i, &gone, lines, anchored.lines.start) {
                let title = lost.title.clone();
                let shown = lost.first.max(1) - 1..lost.last;
                return Err(self.uncertain(line, SketchDoubt::LosesDefinition { title }, shown));
            }
            if let Some(lead) = self.lost_lead(i, &gone) {
                return Err(self.uncertain(line, SketchDoubt::Deletes, lead));
            }
            let is_unlike =
                |line: &&&[u8]| is_telling(line) && !came.iter().any(|new| are_alike(line, new.as_bytes()));
            let unlike = went.iter().filter(is_unlike).count();
            let telling = self.replacing(i, come.clone());
            if unlike > telling && !self.is_in_whole_definition(i, &gone, &come) {
                return Err(self.uncertain(line, SketchDoubt::Replaces, gone));
            }
        }
        Ok(())
    }

    /// Returns a definition of the file whose name goes, and that the segment does not have.
    fn lost_definition(
        &self,
        i: usize,
        gone: &Range<usize>,
        lines: &[Line],
        start: usize,
    ) -> Option<&DefinitionPlace> {
        let segment = &self.segments[i];
        let has_line = |one: &DefinitionPlace| (segment.first..=segment.last()).contains(&one.name_line);
        let of_segment: Vec<&DefinitionPlace> =
            self.outlines.sketch.iter().filter(|one| has_line(one)).collect();
        let goes = |one: &&DefinitionPlace| {
            let name = one.name_line - 1;
            let mut at = start;
            gone.contains(&name)
                && lines.iter().filter(|line| line.before().is_some()).any(|line| {
                    at += 1;
                    at - 1 == name && !line.is_context()
                })
        };
        let is_shown = |one: &DefinitionPlace| {
            let name = one.path.rsplit('.').next().unwrap_or_default();
            let named = String::from_utf8_lossy(self.file[one.name_line - 1]);
            let before = |line: &str| line.find(name).map(|at| String::from(line[..at].trim()));
            of_segment.iter().any(|shown| is_same(one, shown))
                || segment.lines.iter().flatten().any(|line| {
                    let rest = line.find(name).map(|at| &line[at + name.len()..]);
                    let ends =
                        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
                    ends && before(line) == before(&named)
                })
        };
        self.outlines.file.iter().filter(goes).find(|one| !is_shown(one))
    }

    /// Returns the lines above the name of a definition, such as attributes and comments, that would go although the
    /// definition stays. Only lines above that name in the sketch can take their place.
    fn lost_lead(&self, i: usize, gone: &Range<usize>) -> Option<Range<usize>> {
        let segment = &self.segments[i];
        self.outlines.file.iter().find_map(|one| {
            let lead = (one.first - 1).max(gone.start)..(one.name_line - 1).min(gone.end);
            if lead.is_empty() {
                return None;
            }
            let went = self.file[lead.clone()].iter().filter(|line| is_telling(line));
            let shown = self.outlines.sketch.iter().filter(|shown| is_same(one, shown));
            let shown: Vec<&str> =
                shown.flat_map(|shown| segment.between(shown.first, shown.name_line)).collect();
            let unlike = went.filter(|line| !shown.iter().any(|new| are_alike(line, new.as_bytes()))).count();
            (unlike > shown.iter().filter(|line| is_telling(line.as_bytes())).count()).then_some(lead)
        })
    }

    /// Counts the lines that may replace others: a definition that the file does not have is new.
    fn replacing(&self, i: usize, come: Range<usize>) -> usize {
        let segment = &self.segments[i];
        let is_new = |number: usize| {
            let holds = |one: &&DefinitionPlace| (one.first..=one.last).contains(&number);
            let has = |one: &DefinitionPlace| self.outlines.file.iter().any(|known| is_same(known, one));
            self.outlines.sketch.iter().find(holds).is_some_and(|one| !has(one))
        };
        let lines =
            come.clone().filter(|k| segment.lines[*k].is_some_and(|line| is_telling(line.as_bytes())));
        lines.filter(|k| !is_new(segment.first + k)).count()
    }

    /// Returns whether lines are exchanged inside a definition that the sketch shows as a whole.
    fn is_in_whole_definition(&self, i: usize, gone: &Range<usize>, come: &Range<usize>) -> bool {
        let segment = &self.segments[i];
        let come = segment.first + come.start..segment.first + come.end;
        self.outlines.sketch.iter().any(|one| {
            one.first <= come.start
                && come.end <= one.last + 1
                && self.is_whole(one, segment)
                && self.counterpart(one).is_some_and(|of_file| {
                    of_file.is_certain && of_file.first <= gone.start + 1 && gone.end <= of_file.last
                })
        })
    }
}

/// Returns the exchanges of a stretch that begins at this line of the file. Those between which there are only lines such
/// as brackets are one, unless the sketch says of either that lines go.
fn exchanges(start: usize, lines: &[Line]) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    let (mut at, mut k) = (start, 0);
    let mut parted = true;
    for run in lines.chunk_by(|a, b| a.is_context() == b.is_context()) {
        if run[0].is_context() {
            (at, k) = (at + run.len(), k + run.len());
            parted = run.iter().any(|line| line.before().is_some_and(|line| is_telling(line.as_bytes())));
            continue;
        }
        let (gone, come) = (run.iter().filter(|line| line.before().is_some()).count(), run.len());
        let come = come - gone;
        let is_said = run.iter().any(|line| line.after() == Some(REMOVAL));
        let next = Exchange { gone: at..at + gone, come: k..k + come, is_said };
        (at, k) = (at + gone, k + come);
        match exchanges.last_mut().filter(|last| !parted && !last.is_said && !is_said) {
            Some(last) => (last.gone.end, last.come.end) = (next.gone.end, next.come.end),
            None => exchanges.push(next),
        }
    }
    exchanges
}
