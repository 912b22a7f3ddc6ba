//! What a patch says of itself: its size, what it only reads, and how several become one.

use std::{string::String, vec, vec::Vec};

use super::change::{BlockChange, Insertion, LineChange, Piece, PlaceChange, RangeChange, Side, TextChange};
use super::*;

fn update(change: Change) -> Patch {
    let hunks = vec![Hunk { number: 1, change }];
    Patch { sections: vec![Section::new("a", Operation::Update { hunks, move_to: None })] }
}

#[test]
fn the_size_of_a_request_counts_all_of_its_text() {
    let text = |size: usize| "x".repeat(size);
    let piece = |old, new| Piece { old, new, elision: None };
    let half = 128 * 1024;
    let forms: [fn(String, String) -> Change; 7] = [
        |old, new| Change::Text(TextChange { old, new, all: false, expected: None }),
        |old, new| Change::Insertion(Insertion { beside: Some(old), side: Side::After, lines: vec![new] }),
        |old, new| {
            let lines = vec![Line::Removed(old), Line::Added(new)];
            Change::Lines(LineChange { lines, ..LineChange::default() })
        },
        |old, new| Change::Place(PlaceChange { offset: 0, old, new, is_proven: false }),
        |old, new| Change::Range(RangeChange { first: 1, count: 0, lines: vec![old, new] }),
        |old, new| {
            let new = NewLines::Given(vec![old, new]);
            Change::Numbered(NumberedChange { at: LinesOfVersion::default(), new })
        },
        |old, new| Change::Sketch(Sketch::parse(&(old + &new))),
    ];
    for form in forms {
        assert!(update(form(text(half), text(half))).is_small(), "{:?}", form("old".into(), "new".into()));
        assert!(
            !update(form(text(half), text(half + 1))).is_small(),
            "{:?}",
            form("old".into(), "new".into())
        );
    }
    for (last, is_small) in [(half / 2, true), (half / 2 + 1, false)] {
        let pieces = vec![piece(text(half), text(half / 2)), piece(String::new(), text(last))];
        assert_eq!(update(Change::Block(BlockChange { pieces, hint: None })).is_small(), is_small);
    }
    assert!(Patch::write("a", text(2 * half)).is_small());
    assert!(!Patch::write("a", text(2 * half + 1)).is_small());
}

#[test]
fn an_everyday_request_has_few_files_and_few_hunks() {
    let files = |count: usize| Patch::join((0..count).map(|_| Patch::delete("a")));
    assert!(files(8).is_small() && !files(9).is_small());
    let hunks = |count: usize| {
        let change = |_| TextChange { old: "x".into(), new: "y".into(), all: false, expected: None };
        Patch::replace("a", (0..count).map(change).collect()).unwrap()
    };
    assert!(hunks(32).is_small() && !hunks(33).is_small());
}

#[test]
fn a_file_is_only_read_if_all_that_is_done_with_it_is_to_copy_lines() {
    let take = |from: &str, is_moved| {
        Patch::take("new", TakenLines { path: from.into(), is_moved, ..TakenLines::default() })
    };
    let only_read =
        |edits: Vec<Patch>| Patch::join(edits).only_read().into_iter().map(String::from).collect::<Vec<_>>();
    assert_eq!(only_read(vec![take("a", false), take("b", true), Patch::delete("c")]), ["a"]);
    assert_eq!(only_read(vec![take("a", false), take("a", true)]), [""; 0]);
    assert_eq!(only_read(vec![take("a", false), Patch::delete("a")]), [""; 0]);
    assert_eq!(only_read(vec![take("a", true), take("b", true)]), [""; 0]);
}

#[test]
fn joined_requests_count_their_edits_and_their_hunks_on() {
    let change = |_| TextChange { old: "x".into(), new: "y".into(), all: false, expected: None };
    let two = || Patch::replace("a", (0..2).map(change).collect()).unwrap();
    let joined = Patch::join([two(), Patch::take("b", TakenLines::default()), two()]);
    let edits: Vec<_> = joined.sections().iter().map(|section| section.edit).collect();
    assert_eq!(edits, [Some(1), Some(2), Some(3)]);
    let numbers = joined.sections().iter().flat_map(|section| match &section.operation {
        Operation::Update { hunks, .. } => hunks.iter().map(|hunk| hunk.number).collect(),
        Operation::Take { number, .. } => vec![*number],
        _ => Vec::new(),
    });
    assert_eq!(numbers.collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(joined.hunks(), 5);
}
