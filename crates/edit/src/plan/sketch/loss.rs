//! What a sketch takes away: lines that it replaces, lines of which it says that they go, and nothing else.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::anchors::Pair;
use super::{DefinitionPlace, REMOVAL, Reader, SHOWN_COLUMNS, are_alike, is_blank, is_same, is_telling};
use crate::excerpt::around;
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

/// Lines of a definition that neither stay nor are replaced by like ones.
pub(super) struct Dropped {
    /// The kind and the path of the definition.
    pub(super) title: String,
    /// The numbers of the lines, counted from 1, and the lines.
    pub(super) lines: Vec<(usize, String)>,
}

impl Reader<'_> {
    /// Refuses to take away lines where the sketch does not say so. A definition that the sketch shows as a whole may lose
    /// some; returns them.
    pub(super) fn check_loss(&self, i: usize, start: Pair, lines: &[Line]) -> Result<Vec<Dropped>, Kind> {
        let segment = &self.segments[i];
        let lost = self.lost(i, start, lines)?;
        for Exchange { gone, come, .. } in exchanges(start, lines).into_iter().filter(|one| !one.is_said) {
            if let Some(lead) = self.lost_lead(i, &gone) {
                let line = segment.first + come.start.min(segment.lines.len() - 1);
                return Err(self.uncertain(line, SketchDoubt::Deletes, lead));
            }
        }
        let mut all = Vec::new();
        for shown in self.outlines.sketch.iter().filter(|shown| self.is_whole(shown, segment)) {
            let Some(one) = self.counterpart(shown).filter(|one| one.is_certain) else { continue };
            let own = lost.iter().filter(|at| (one.first - 1..one.last).contains(at));
            let dropped: Vec<usize> = own.copied().collect();
            let filled = (one.name_line - 1..one.last).filter(|at| !is_blank(self.file[*at])).count();
            if 10 * dropped.len() > 3 * filled && !self.sketch.replaces(&one.path) {
                let doubt =
                    SketchDoubt::DropsLines { title: one.title.clone(), dropped: dropped.len(), filled };
                let first = dropped[0];
                return Err(self.uncertain(shown.name_line, doubt, first..first + dropped.len()));
            }
            let text = |at: usize| (at + 1, around(self.file[at], 0, SHOWN_COLUMNS));
            let lines: Vec<(usize, String)> = dropped.into_iter().map(text).collect();
            if !lines.is_empty() {
                all.push(Dropped { title: one.title.clone(), lines });
            }
        }
        Ok(all)
    }

    /// Returns the lines of the file that definitions lose which the sketch shows as a whole. Refuses other losses.
    pub(super) fn lost(&self, i: usize, start: Pair, lines: &[Line]) -> Result<Vec<usize>, Kind> {
        let segment = &self.segments[i];
        let mut all = Vec::new();
        for Exchange { gone, come, is_said } in exchanges(start, lines) {
            let line = segment.first + come.start.min(segment.lines.len() - 1);
            let filled = |at: &usize| !is_blank(self.file[*at]);
            if is_said {
                if !gone.clone().any(|at| filled(&at)) {
                    let doubt = SketchDoubt::RemovesNothing;
                    return Err(self.uncertain(line, doubt, gone.start..gone.start + 1));
                }
                continue;
            }
            let went: Vec<usize> = gone.clone().filter(filled).collect();
            if went.is_empty() {
                continue;
            }
            let came = come.clone().filter_map(|k| Some((k, segment.lines[k]?)));
            let came: Vec<(usize, &str)> = came.filter(|(_, line)| !line.trim().is_empty()).collect();
            let is_whole = self.is_in_whole_definition(i, &gone, &come);
            if came.is_empty() && !is_whole {
                return Err(self.uncertain(line, SketchDoubt::Deletes, gone));
            }
            // One name for another above lines that stay is a new name. A definition that is shown as a whole may as well be a
            // new one beside the old one.
            let numbers = segment.first + come.start..segment.first + come.end;
            let shows_whole = self
                .outlines
                .sketch
                .iter()
                .any(|shown| numbers.contains(&shown.name_line) && self.is_whole(shown, segment));
            let is_renamed = !shows_whole
                && gone.len() == came.len()
                && gone.clone().zip(&came).all(|(at, (_, new))| are_alike(self.file[at], new.as_bytes()));
            let lost = self.lost_definition(i, &gone, lines, start.1);
            if let Some(lost) = lost.filter(|lost| !is_renamed || lost.last <= gone.end) {
                let title = lost.title.clone();
                let shown = lost.first.max(1) - 1..lost.last;
                return Err(self.uncertain(line, SketchDoubt::LosesDefinition { title }, shown));
            }
            // A new line can replace several like it, such as a call that was split, but not in two paragraphs.
            let is_one = gone.clone().any(|at| !filled(&at));
            let (mut unlike, mut left) = (Vec::new(), came.clone());
            for at in went {
                let old = self.file[at];
                match left.iter().position(|(_, new)| are_alike(old, new.as_bytes())) {
                    Some(new) if is_one => drop(left.remove(new)),
                    Some(_) => {}
                    None if is_telling(old) || came.is_empty() => unlike.push(at),
                    None => {}
                }
            }
            let replaces = |(k, line): &&(usize, &str)| {
                is_telling(line.as_bytes()) && !self.is_in_new_definition(segment.first + k)
            };
            if is_whole {
                all.extend(unlike);
            } else if unlike.len() > left.iter().filter(replaces).count() {
                return Err(self.uncertain(line, SketchDoubt::Replaces, gone));
            }
        }
        Ok(all)
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
        let is_replaced = |one: &DefinitionPlace| {
            let holds = |outer: &DefinitionPlace| outer.first <= one.first && one.last <= outer.last;
            self.outlines.file.iter().any(|outer| holds(outer) && self.sketch.replaces(&outer.path))
        };
        self.outlines.file.iter().filter(goes).find(|one| !is_shown(one) && !is_replaced(one))
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

    /// Returns whether a line of the sketch belongs to a definition that the file does not have.
    pub(super) fn is_in_new_definition(&self, number: usize) -> bool {
        let holds = |one: &&DefinitionPlace| (one.first..=one.last).contains(&number);
        let has = |one: &DefinitionPlace| self.outlines.file.iter().any(|known| is_same(known, one));
        self.outlines.sketch.iter().find(holds).is_some_and(|one| !has(one))
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

/// Returns the exchanges of a stretch that begins at this line of a segment and of the file. Those between which there are only lines such
/// as brackets are one, unless the sketch says of either that lines go.
fn exchanges(start: Pair, lines: &[Line]) -> Vec<Exchange> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    let (mut k, mut at) = start;
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
