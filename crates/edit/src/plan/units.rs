//! Which hunks of a plan are only taken together. It says beforehand what [`Plan::can_take`] refuses.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Action, Plan};

impl Plan {
    /// Returns the numbers of the hunks in groups: any groups can be taken without the others, and no part of one.
    #[must_use]
    pub fn units(&self) -> Vec<Vec<usize>> {
        // Each number leads to a smaller one of its group, or to itself.
        let mut lead: BTreeMap<usize, usize> = BTreeMap::new();
        for hunk in self.files.iter().flat_map(|file| &file.hunks) {
            lead.insert(hunk.number, hunk.number);
        }
        let numbers = |at: usize| self.files[at].hunks.iter().map(|hunk| hunk.number);
        for (at, file) in self.files.iter().enumerate() {
            let is_separable = match &file.action {
                Action::Modify { edit, .. } | Action::Move { edit, .. } => edit.is_separable(),
                Action::Create { .. } | Action::Delete { .. } => false,
            };
            if !is_separable {
                join(&mut lead, numbers(at));
            }
            let donor = self.files.iter().position(|other| Some(&other.name) == file.metadata_from.as_ref());
            if let Some(donor) = donor {
                join(&mut lead, numbers(at).chain(numbers(donor)));
            }
        }
        if self.moved_on().is_some() {
            let all: Vec<usize> = lead.keys().copied().collect();
            join(&mut lead, all.into_iter());
        }
        let mut units: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for number in lead.keys() {
            units.entry(first(&lead, *number)).or_default().push(*number);
        }
        units.into_values().collect()
    }
}

/// Returns the smallest number of a group.
fn first(lead: &BTreeMap<usize, usize>, number: usize) -> usize {
    match lead.get(&number) {
        Some(&next) if next != number => first(lead, next),
        _ => number,
    }
}

/// Makes one group of those that these numbers are in.
fn join(lead: &mut BTreeMap<usize, usize>, numbers: impl Iterator<Item = usize>) {
    let mut joined: Option<usize> = None;
    for number in numbers {
        let own = first(lead, number);
        let other = *joined.get_or_insert(own);
        let smallest = own.min(other);
        lead.insert(own, smallest);
        lead.insert(other, smallest);
        joined = Some(smallest);
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;
    use alloc::vec;
    use alloc::vec::Vec;

    use crate::find::FindLimits;
    use crate::patch::v4a;
    use crate::plan::{Plan, Source, Sources, build};
    use crate::text::Text;

    fn plan(patch: &str, files: &[(&str, &str)]) -> Plan {
        let mut sources = Sources::default();
        for (name, content) in files {
            let text = Text::new((*content).into()).unwrap();
            sources.insert(name, name, Source::Present(Arc::new(text)));
        }
        build(&v4a::parse(patch).unwrap(), &sources, &FindLimits::default()).unwrap()
    }

    /// Checks that exactly the unions of units can be taken.
    fn check(plan: &Plan, expected: &[Vec<usize>]) {
        let units = plan.units();
        assert_eq!(units, expected);
        let numbers: Vec<usize> = units.concat();
        for chosen in 1u32..(1 << numbers.len()) {
            let taken: Vec<usize> =
                (0..numbers.len()).filter(|at| chosen & (1 << at) != 0).map(|at| numbers[at]).collect();
            let is_union = units.iter().all(|unit| {
                unit.iter().all(|n| taken.contains(n)) || !unit.iter().any(|n| taken.contains(n))
            });
            assert_eq!(plan.can_take(&taken).is_ok(), is_union, "{taken:?}");
        }
    }

    #[test]
    fn hunks_that_stand_apart_are_taken_alone_and_a_new_file_whole() {
        let patch = "*** Begin Patch\n*** Update File: f\n@@\n-one\n+1\n@@\n-three\n+3\n*** Add File: g\n+g\n*** End Patch\n";
        check(&plan(patch, &[("f", "one\ntwo\nthree\n")]), &[vec![1], vec![2], vec![3]]);
    }

    #[test]
    fn what_changes_the_same_file_twice_is_taken_together() {
        let patch = "*** Begin Patch\n*** Update File: f\n@@\n-one\n+1\n*** Update File: f\n@@\n-1\n+eins\n*** Update File: g\n@@\n-a\n+b\n*** End Patch\n";
        check(&plan(patch, &[("f", "one\ntwo\n"), ("g", "a\n")]), &[vec![1, 2], vec![3]]);
    }
}
