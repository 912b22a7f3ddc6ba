//! The diff of a plan's changes to one file, hunk by hunk of the request: what each of them changes, without the others.
//!
//! It is for somebody who chooses among hunks. Hunks that cannot be told apart are one part. The lines of the new side are
//! numbered as if all parts were taken.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::{DiffHunk, changed, from_plan};
use crate::edit::Edit;
use crate::plan::{Action, FilePlan};

/// Lines that some hunks of a request change together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiffPart {
    /// The numbers of these hunks; more than one where they cannot be told apart.
    pub numbers: Vec<usize>,
    /// The lines, with those around them; `None` where no line changes, but the file does.
    pub hunk: Option<DiffHunk>,
}

/// Returns the parts of the diff of a plan's changes to one file, in the order of the file. Each number of the file's hunks
/// is in one part at least.
#[must_use]
pub fn parts(file: &FilePlan) -> Vec<DiffPart> {
    let numbers: Vec<usize> = file.hunks.iter().map(|hunk| hunk.number).collect();
    let mut parts = match &file.action {
        Action::Modify { base, edit } | Action::Move { base, edit, .. }
            if edit.is_separable() && numbers.len() > 1 =>
        {
            let of_hunk = |(number, edit): (usize, Edit)| {
                let hunks = changed("", "", base, &edit).hunks.into_iter();
                hunks.map(move |hunk| DiffPart { numbers: [number].into(), hunk: Some(hunk) })
            };
            edit.by_hunk().into_iter().flat_map(of_hunk).collect()
        }
        _ => {
            let hunks = from_plan(file).hunks.into_iter();
            hunks.map(|hunk| DiffPart { numbers: numbers.clone(), hunk: Some(hunk) }).collect::<Vec<_>>()
        }
    };
    parts.sort_by_key(|part| part.hunk.as_ref().map(|hunk| (hunk.old.start, hunk.old.end)));
    let mut shift = 0isize;
    for hunk in parts.iter_mut().filter_map(|part| part.hunk.as_mut()) {
        let (gone, come) = (hunk.old.len(), hunk.new.len());
        let start = hunk.old.start.saturating_add_signed(shift);
        hunk.new = start..start + come;
        shift += come as isize - gone as isize;
    }
    let shown: BTreeSet<usize> = parts.iter().flat_map(|part| &part.numbers).copied().collect();
    let unseen = numbers.into_iter().filter(|number| !shown.contains(number));
    parts.extend(unseen.map(|number| DiffPart { numbers: [number].into(), hunk: None }));
    parts
}

impl DiffHunk {
    /// Returns the lines of the old content, counted from 0.
    #[must_use]
    pub fn old_lines(&self) -> core::ops::Range<usize> {
        self.old.clone()
    }

    /// Returns the lines of the new content, counted from 0.
    #[must_use]
    pub fn new_lines(&self) -> core::ops::Range<usize> {
        self.new.clone()
    }

    /// Returns the lines with their signs, each ended.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }
}

impl super::Diff {
    /// Returns the changed lines with their context.
    #[must_use]
    pub fn hunks(&self) -> &[DiffHunk] {
        &self.hunks
    }

    /// Returns the lines about the file's mode, as git writes them.
    #[must_use]
    pub fn modes(&self) -> &str {
        &self.modes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find::FindLimits;
    use crate::patch::v4a;
    use crate::plan::{Plan, Source, Sources, build};
    use crate::text::Text;
    use alloc::sync::Arc;
    use std::vec;

    fn plan(patch: &str, content: &str) -> Plan {
        let mut sources = Sources::default();
        let text = Text::new(content.into()).unwrap();
        sources.insert("f", "f", Source::Present(Arc::new(text)));
        build(&v4a::parse(patch).unwrap(), &sources, &FindLimits::default()).unwrap()
    }

    const NEIGHBOURS: &str =
        "*** Begin Patch\n*** Update File: f\n@@\n-two\n+2\n+two and a half\n@@\n-four\n+4\n*** End Patch\n";

    #[test]
    fn hunks_that_stand_near_each_other_are_told_apart_and_each_shows_the_old_lines_of_the_other() {
        let plan = plan(NEIGHBOURS, "one\ntwo\nthree\nfour\n");
        assert_eq!(from_plan(&plan.files()[0]).hunks().len(), 1, "as a diff it is one");
        let parts = parts(&plan.files()[0]);
        let shown: Vec<(&[usize], &str)> =
            parts.iter().map(|part| (&part.numbers[..], part.hunk.as_ref().unwrap().body())).collect();
        let first = " one\n-two\n+2\n+two and a half\n three\n four\n";
        let second = " one\n two\n three\n-four\n+4\n";
        assert_eq!(shown, [(&[1][..], first), (&[2][..], second)]);
        let second = parts[1].hunk.as_ref().unwrap();
        assert_eq!((second.old_lines(), second.new_lines()), (0..4, 1..5));
    }

    #[test]
    fn a_part_alone_is_what_the_plan_of_its_hunk_alone_does() {
        for number in [1, 2] {
            let plan = plan(NEIGHBOURS, "one\ntwo\nthree\nfour\n");
            let part = parts(&plan.files()[0]).into_iter().find(|part| part.numbers == [number]).unwrap();
            let (alone, _) = plan.only(&[number]).unwrap();
            let diff = from_plan(&alone.files()[0]);
            assert_eq!(diff.hunks()[0].body(), part.hunk.unwrap().body());
        }
    }

    #[test]
    fn a_file_without_lines_still_has_its_number() {
        let plan = plan("*** Begin Patch\n*** Add File: g\n*** End Patch\n", "");
        assert_eq!(parts(&plan.files()[0]), vec![DiffPart { numbers: vec![1], hunk: None }]);
    }
}
