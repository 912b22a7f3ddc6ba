//! A person's own text in place of what a hunk would write, before the plan is made.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Action, Plan};
use crate::edit::Edit;
use crate::text::{Text, split_lines};

/// What a person writes in place of what a hunk would.
#[derive(Clone, Copy, Debug)]
pub struct Revision<'a> {
    /// The file.
    pub file: &'a str,
    /// The number of the hunk.
    pub hunk: usize,
    /// The first of the old lines that are shown with the hunk, counted from 0.
    pub first: usize,
    /// How many there are.
    pub count: usize,
    /// What they become, in the view of the file.
    pub text: &'a str,
}

/// Why a text cannot take the place of a hunk's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotRevised {
    /// The hunk changes none of these lines, or not alone.
    NoSuchHunk,
    /// It is what stands there without the hunk.
    Unchanged,
    /// It also changes lines that this other hunk changes.
    Touches(usize),
    /// The encoding of the file lacks this character.
    Lacks(char),
}

impl Plan {
    /// Returns another plan, in which a hunk writes this text instead.
    pub fn revised(&self, by: &Revision<'_>) -> Result<Self, NotRevised> {
        let Self { files, notes, discarded } = self;
        let mut plan = Self { files: files.clone(), notes: notes.clone(), discarded: discarded.clone() };
        let file = plan.files.iter_mut().find(|file| file.name == by.file).ok_or(NotRevised::NoSuchHunk)?;
        let hunk = file.hunks.iter_mut().find(|hunk| hunk.number == by.hunk).ok_or(NotRevised::NoSuchHunk)?;
        match &mut file.action {
            Action::Modify { base, edit } | Action::Move { base, edit, .. } => {
                *edit = revised(base, edit, by)?;
            }
            Action::Create { content } if by.count == 0 => {
                let bom = &content.bytes()[..content.body().start];
                let bytes: Vec<u8> = [bom, without_mark(content, by)].concat();
                if bytes == content.bytes() {
                    return Err(NotRevised::Unchanged);
                }
                let text = Text::with_encoding(bytes, content.encoding()).map_err(NotRevised::Lacks)?;
                *content = Arc::new(text);
            }
            Action::Create { .. } | Action::Delete { .. } => return Err(NotRevised::NoSuchHunk),
        }
        // The person's text is looked for nowhere.
        (hunk.layer, hunk.named) = (None, None);
        hunk.forgiven.clear();
        Ok(plan)
    }
}

fn revised(base: &Text, edit: &Edit, by: &Revision<'_>) -> Result<Edit, NotRevised> {
    let bytes = base.bytes();
    let shown = base.line_start(by.first)..base.line_start(by.first.saturating_add(by.count));
    if !edit.is_separable() || shown.start > shown.end {
        return Err(NotRevised::NoSuchHunk);
    }
    let (kept, gone, come) = changed(&bytes[shown.clone()], without_mark(base, by));
    if gone == 0 && come.is_empty() {
        return Err(NotRevised::Unchanged);
    }
    let at = shown.start + kept;
    let revised = edit.with_hunk(by.hunk, &shown, at..at + gone, come.to_vec());
    let revised = revised.ok_or(NotRevised::NoSuchHunk)?.map_err(|overlap| {
        NotRevised::Touches(if overlap.first == by.hunk { overlap.second } else { overlap.first })
    })?;
    match revised.not_encodable().first() {
        Some((_, lacking)) => Err(NotRevised::Lacks(*lacking)),
        None => Ok(revised),
    }
}

/// Returns the text without the mark that a file begins with, which its first line is shown with.
fn without_mark<'a>(text: &Text, by: &Revision<'a>) -> &'a [u8] {
    let is_shown = by.first == 0 && text.has_bom();
    by.text.strip_prefix('\u{feff}').filter(|_| is_shown).unwrap_or(by.text).as_bytes()
}

/// Returns how many bytes of whole lines stay at the start, how many then go, and what comes in their place.
fn changed<'a>(old: &[u8], new: &'a [u8]) -> (usize, usize, &'a [u8]) {
    let same = split_lines(old).zip(split_lines(new)).take_while(|(old, new)| old == new);
    let start: usize = same.map(|(line, _)| line.len()).sum();
    let (old, new) = (&old[start..], &new[start..]);
    let (old_lines, new_lines): (Vec<&[u8]>, Vec<&[u8]>) =
        (split_lines(old).collect(), split_lines(new).collect());
    let same = old_lines.iter().rev().zip(new_lines.iter().rev()).take_while(|(old, new)| old == new);
    let end: usize = same.map(|(line, _)| line.len()).sum();
    (start, old.len() - end, &new[..new.len() - end])
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;
    use core::ops::Range;

    use super::*;
    use crate::find::FindLimits;
    use crate::patch::v4a;
    use crate::plan::{Source, Sources, build};

    const FILE: &str = "one\r\ntwo\r\nthree\r\nfour\r\nfive";

    fn plan() -> Plan {
        let mut sources = Sources::default();
        sources.insert("f", "f", Source::Present(Arc::new(Text::new(FILE.into()).unwrap())));
        sources.insert("g", "g", Source::Absent);
        let patch = "*** Begin Patch\n*** Update File: f\n@@\n-two\n+2\n@@\n-four\n+4\n*** Add File: g\n+g\n*** End Patch\n";
        build(&v4a::parse(patch).unwrap(), &sources, &FindLimits::default()).unwrap()
    }

    /// The result of the only file of this content, where the person writes a text in place of what a hunk would.
    fn of_one(content: &str, patch: &str, hunk: usize, lines: Range<usize>, text: &str) -> String {
        let mut sources = Sources::default();
        sources.insert("f", "f", Source::Present(Arc::new(Text::new(content.into()).unwrap())));
        let patch = format!("*** Begin Patch\n*** Update File: f\n{patch}*** End Patch\n");
        let plan = build(&v4a::parse(&patch).unwrap(), &sources, &FindLimits::default()).unwrap();
        let by = Revision { file: "f", hunk, first: lines.start, count: lines.len(), text };
        result(&plan.revised(&by).unwrap(), 0)
    }

    #[test]
    fn the_mark_at_the_start_of_a_file_stays_one() {
        let file = "\u{feff}one\ntwo\n";
        for text in ["\u{feff}one\nzwei\n", "one\nzwei\n"] {
            let by = of_one(file, "@@\n-two\n+2\n", 1, 0..2, text);
            assert_eq!(by, "\u{feff}one\nzwei\n");
        }
        let by = of_one(file, "@@\n-one\n+1\n", 1, 0..2, "\u{feff}eins\ntwo\n");
        assert_eq!(by, "\u{feff}eins\ntwo\n");
    }

    fn result(plan: &Plan, file: usize) -> String {
        String::from_utf8(plan.files()[file].action.view().unwrap().concat()).unwrap()
    }

    fn revise(file: &str, hunk: usize, lines: Range<usize>, text: &str) -> Result<Plan, NotRevised> {
        plan().revised(&Revision { file, hunk, first: lines.start, count: lines.len(), text })
    }

    #[test]
    fn a_persons_text_takes_the_place_of_one_hunk_and_the_others_stay() {
        let by = revise("f", 1, 0..4, "one\r\nzwei\r\nmore\r\nthree\r\nfour\r\n").unwrap();
        assert_eq!(result(&by, 0), "one\r\nzwei\r\nmore\r\nthree\r\n4\r\nfive");
        assert_eq!(by.files()[0].hunks.len(), 2);
        // Without the other hunk, too.
        assert_eq!(result(&by.only(&[1]).unwrap().0, 0), "one\r\nzwei\r\nmore\r\nthree\r\nfour\r\nfive");
        let by = revise("f", 2, 2..5, "three\r\nfive").unwrap();
        assert_eq!(result(&by, 0), "one\r\n2\r\nthree\r\nfive");
        let by = revise("g", 3, 0..0, "a person's\n").unwrap();
        assert_eq!(result(&by, 1), "a person's\n");
    }

    #[test]
    fn what_is_not_the_hunks_to_change_is_refused() {
        let refused = |file, hunk, lines, text| revise(file, hunk, lines, text).map(|_| ()).unwrap_err();
        assert_eq!(refused("f", 1, 0..4, "one\r\ntwo\r\nthree\r\nfour\r\n"), NotRevised::Unchanged);
        assert_eq!(refused("f", 1, 0..4, "one\r\n2\r\nthree\r\nFOUR\r\n"), NotRevised::Touches(2));
        assert_eq!(refused("f", 1, 2..5, "x"), NotRevised::NoSuchHunk);
        assert_eq!(refused("f", 3, 0..4, "x"), NotRevised::NoSuchHunk);
        assert_eq!(refused("f", 9, 0..4, "x"), NotRevised::NoSuchHunk);
        assert_eq!(refused("h", 1, 0..4, "x"), NotRevised::NoSuchHunk);
        assert_eq!(refused("g", 3, 0..1, "x"), NotRevised::NoSuchHunk);
        assert_eq!(refused("g", 3, 0..0, "g\n"), NotRevised::Unchanged);
    }
}
