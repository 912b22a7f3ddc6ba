//! What a plan says of its hunks, and that a part of them can be taken.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::*;
use crate::Version;
use crate::patch::{
    LineAddress, LinesOfVersion, NewLines, NumberedChange, Part, PlaceChange, SymbolPart, v4a,
};

/// The plan of these sections for a file of six lines, one of two, and no third.
fn planned(sections: &str) -> Plan {
    let patch = v4a::parse(&format!("*** Begin Patch\n{sections}*** End Patch\n")).unwrap();
    build(&patch, &sources(), &FindLimits::default()).unwrap()
}

fn sources() -> Sources {
    let mut sources = Sources::default();
    for (name, content) in [("six", "1\n2\n3\n4\n5\n6\n"), ("two", "a\nb\n")] {
        let text = Arc::new(Text::new(content.into()).unwrap());
        sources.insert(name, name, Source::Present(text));
    }
    sources.insert("new", "new", Source::Absent);
    sources
}

/// Returns what the only file of a patch, which is called `f`, will hold, or the first problem.
pub(super) fn of_patch(file: &str, patch: &Patch) -> Result<String, Kind> {
    edited(file, patch, &FindLimits::default())
}

/// Returns what [`of_patch`] does, within these limits.
pub(super) fn edited(file: &str, patch: &Patch, limits: &FindLimits) -> Result<String, Kind> {
    let mut sources = Sources::default();
    sources.insert("f", "f", Source::Present(Arc::new(Text::new(file.into()).unwrap())));
    match build(patch, &sources, limits) {
        Ok(plan) => {
            let pieces = plan.files[0].action.pieces().map(|pieces| pieces.concat());
            Ok(String::from_utf8(pieces.unwrap_or_default()).unwrap())
        }
        Err(mut problems) => Err(*problems.remove(0).kind),
    }
}

/// A file, what it will hold, and its hunks by number, line and count of lines.
type PlannedFile<'a> = (&'a str, Option<String>, Vec<(usize, usize, usize)>);

fn outcome(plan: &Plan) -> Vec<PlannedFile<'_>> {
    let content =
        |file: &FilePlan| file.action.pieces().map(|pieces| String::from_utf8(pieces.concat()).unwrap());
    let hunks = |file: &FilePlan| {
        file.hunks.iter().map(|hunk| (hunk.number, hunk.line, hunk.lines)).collect::<Vec<_>>()
    };
    plan.files.iter().map(|file| (&file.name[..], content(file), hunks(file))).collect()
}

const TWO_HUNKS: &str = "*** Update File: six\n@@\n-2\n+second\n@@\n 4\n-5\n+five\n+fifth\n";

#[test]
fn what_comes_from_no_hunk_has_the_next_free_numbers() {
    let plan = planned(&format!("*** Delete File: two\n{TWO_HUNKS}*** Add File: new\n+x\n"));
    assert_eq!(
        outcome(&plan),
        [
            ("two", None, [(3, 1, 2)].to_vec()),
            ("six", Some("1\nsecond\n3\n4\nfive\nfifth\n6\n".into()), [(1, 2, 1), (2, 4, 2)].to_vec()),
            ("new", Some("x\n".into()), [(4, 1, 0)].to_vec()),
        ]
    );
}

#[test]
fn hunks_can_be_taken_without_the_others_and_the_rest_gives_the_whole_back() {
    let sections = format!("*** Delete File: two\n{TWO_HUNKS}*** Add File: new\n+x\n");
    for (hunks, taken) in [
        (&[1][..], &[("six", Some("1\nsecond\n3\n4\n5\n6\n".into()), [(1, 2, 1)].to_vec())][..]),
        (
            &[2, 3],
            &[
                ("two", None, [(3, 1, 2)].to_vec()),
                ("six", Some("1\n2\n3\n4\nfive\nfifth\n6\n".into()), [(2, 4, 2)].to_vec()),
            ],
        ),
        (&[4], &[("new", Some("x\n".into()), [(4, 1, 0)].to_vec())]),
    ] {
        let (part, rest) = planned(&sections).only(hunks).unwrap();
        assert_eq!(outcome(&part), taken, "{hunks:?}");
        assert_eq!(outcome(&rest.join(part)), outcome(&planned(&sections)));
    }
    assert!(matches!(planned(&sections).only(&[5]), Err(Kind::NoOp { why: NoChange::NothingTaken })));
}

#[test]
fn hunks_that_belong_together_cannot_be_parted() {
    // The second changes what the first has made.
    let joined = "*** Update File: six\n@@\n-2\n+second\n*** Update File: six\n@@\n-second\n+2\n+2.5\n";
    assert_eq!(planned(joined).can_take(&[1, 2]), Ok(()));
    for hunk in [1, 2] {
        assert_eq!(planned(joined).can_take(&[hunk]), Err(Kind::InseparableHunks { name: "six".into() }));
    }
    // What is moved over another file goes away where it was.
    let moved = "*** Delete File: two\n*** Update File: six\n*** Move to: two\n@@\n-2\n+second\n";
    let plan = planned(moved);
    let content = Some("1\nsecond\n3\n4\n5\n6\n".into());
    assert_eq!(outcome(&plan), [("two", content, [(1, 2, 1)].to_vec()), ("six", None, [(2, 1, 6)].to_vec())]);
    let half = Err(Kind::HalfMove { from: "six".into(), to: "two".into() });
    assert_eq!(
        [plan.can_take(&[1, 2]), plan.can_take(&[1]), plan.can_take(&[2])],
        [Ok(()), half.clone(), half]
    );
}

#[test]
fn lines_that_are_named_by_their_numbers_must_be_there() {
    for (first, count, expected) in [
        (1, 0, Some("x\n1\n2\n3\n4\n5\n6\n")),
        (1, 2, Some("x\n3\n4\n5\n6\n")),
        (5, 2, Some("1\n2\n3\n4\nx\n")),
        (7, 0, Some("1\n2\n3\n4\n5\n6\nx\n")),
        (0, 1, None),
        (6, 2, None),
        (7, 1, None),
        (8, 0, None),
        (2, usize::MAX, None),
    ] {
        let version = Version::hash(b"1\n2\n3\n4\n5\n6\n").short();
        let at = LinesOfVersion::numbered(version, first, count);
        let new = NewLines::Given(alloc::vec!["x".into()]);
        let patch = Patch::replace_range("six", NumberedChange { at, new });
        match (build(&patch, &sources(), &FindLimits::default()), expected) {
            (Ok(plan), Some(expected)) => assert_eq!(outcome(&plan)[0].1.as_deref(), Some(expected)),
            (Err(problems), None) => {
                assert_eq!(*problems[0].kind, Kind::NoSuchLines { first, count, total: 6 });
            }
            (planned, _) => panic!("{first}, {count}: {planned:?}"),
        }
    }
}

/// A change of a part of the definition `two`, which is named in this version of the file `six`.
fn of_symbol(version: &str, part: Part, lines: &[&str]) -> Patch {
    let at = LineAddress::Symbol(symbol(part));
    let lines = lines.iter().map(|line| String::from(*line)).collect();
    let new = NewLines::Given(lines);
    Patch::replace_range("six", NumberedChange { at: LinesOfVersion { version: version.into(), at }, new })
}

fn symbol(part: Part) -> SymbolPart {
    SymbolPart { symbol: "two".into(), part }
}

/// Lines 2 and 3 as those of the definition.
fn found() -> FoundSymbol {
    FoundSymbol { title: "function two".into(), first: 2, count: 2, is_apart: true }
}

const PARTS: [Part; 3] = [Part::Whole, Part::Above, Part::Below];

#[test]
fn a_definition_is_the_lines_that_it_has_in_its_version() {
    let now = Version::hash(b"1\n2\n3\n4\n5\n6\n").short();
    let mut sources = sources();
    for version in [&now, "older"] {
        let symbols = PARTS.iter().map(|part| ((version.into(), symbol(*part)), Ok(found())));
        sources.file("six").symbols.extend(symbols);
    }
    // The older version had no first line, and two more at the end.
    let older = Arc::new(Text::new("2\n3\n4\n5\n6\n7\n8\n".into()).unwrap());
    sources.file("six").since.insert("older".into(), Since::Content(older));
    let cases = [
        (now.as_str(), Part::Whole, &["two", "2"][..], "1\ntwo\n2\n4\n5\n6\n", (2, 2)),
        (&now, Part::Whole, &[], "1\n4\n5\n6\n", (2, 2)),
        (&now, Part::Above, &["x", ""], "1\nx\n\n2\n3\n4\n5\n6\n", (2, 0)),
        (&now, Part::Below, &["", "x"], "1\n2\n3\n\nx\n4\n5\n6\n", (4, 0)),
        ("older", Part::Whole, &["x"], "1\n2\nx\n5\n6\n", (3, 2)),
        ("older", Part::Whole, &[], "1\n2\n5\n6\n", (3, 2)),
        ("older", Part::Above, &["x"], "1\n2\nx\n3\n4\n5\n6\n", (3, 0)),
        ("older", Part::Below, &["x"], "1\n2\n3\n4\nx\n5\n6\n", (5, 0)),
    ];
    for (version, part, lines, after, (line, count)) in cases {
        let plan = build(&of_symbol(version, part, lines), &sources, &FindLimits::default()).unwrap();
        assert_eq!(outcome(&plan), [("six", Some(after.into()), [(1, line, count)].to_vec())], "{part:?}");
        let taken = TakenSymbol { title: "function two".into(), part };
        assert_eq!(plan.files()[0].hunks[0].named, Some(NamedAs::Symbol(taken)));
    }
}

#[test]
fn what_comes_beside_a_definition_stands_as_far_from_it_as_the_others_do() {
    let file = "def one\n\n\ndef two\n  2\n\n\ndef three\n";
    let version = Version::hash(file.as_bytes()).short();
    let made = |part, is_apart, lines: &[&str]| {
        let mut sources = Sources::default();
        sources.insert("six", "six", Source::Present(Arc::new(Text::new(file.into()).unwrap())));
        let found = FoundSymbol { title: String::new(), first: 4, count: 2, is_apart };
        sources.file("six").symbols.insert((version.clone(), symbol(part)), Ok(found));
        sources.ends_in_definition = Some(|_, text| text.starts_with(b"def"));
        let plan = build(&of_symbol(&version, part, lines), &sources, &FindLimits::default()).unwrap();
        String::from_utf8(plan.files()[0].action.pieces().unwrap().concat()).unwrap()
    };
    let below = file.replace("  2\n", "  2\n\n\ndef x\n");
    assert_eq!(made(Part::Below, true, &["def x"]), below);
    assert_eq!(made(Part::Below, true, &["", "", "def x"]), below);
    assert_eq!(made(Part::Below, false, &["def x"]), file.replace("  2\n", "  2\ndef x\n"));
    assert_eq!(made(Part::Above, true, &["def x"]), file.replace("def two", "def x\n\n\ndef two"));
    assert_eq!(made(Part::Above, true, &["# x"]), file.replace("def two", "# x\ndef two"));
    // All of it goes with the lines that part it from the next.
    assert_eq!(made(Part::Whole, true, &[]), "def one\n\n\ndef three\n");
}

#[test]
fn a_definition_that_nobody_has_found_or_that_is_refused_is_not_edited() {
    let planned = |sources: &Sources, part| {
        let problem =
            build(&of_symbol("0123", part, &["x"]), sources, &FindLimits::default()).unwrap_err().remove(0);
        assert_eq!((problem.path.as_deref(), problem.hunk), (Some("six"), Some(1)));
        *problem.kind
    };
    for part in PARTS {
        let mut sources = sources();
        // What was found of one part or in one version says nothing of another.
        let other = if part == Part::Whole { Part::Above } else { Part::Whole };
        sources.file("six").symbols.insert(("0123".into(), symbol(other)), Ok(found()));
        sources.file("six").symbols.insert(("4567".into(), symbol(part)), Ok(found()));
        sources.file("two").symbols.insert(("0123".into(), symbol(part)), Ok(found()));
        assert!(matches!(planned(&sources, part), Kind::SymbolOfUnknownVersion { .. }));
        sources.file("six").symbols.insert(("0123".into(), symbol(part)), Err(Kind::Unclear));
        assert_eq!(planned(&sources, part), Kind::Unclear);
        // It was found, but how the file came to what it is is not known.
        sources.file("six").symbols.insert(("0123".into(), symbol(part)), Ok(found()));
        let Kind::LostLines(lost) = planned(&sources, part) else { panic!("{part:?}") };
        assert_eq!((lost.symbol.as_deref(), lost.first), (Some("function two"), found().part(part).0));
    }
}

#[test]
fn lines_that_stand_beside_a_definition_are_not_inserted_there_again() {
    let file = "new line\nold line\nnew line\n";
    let version = Version::hash(file.as_bytes()).short();
    let made = |part, first, lines: &[&str]| {
        let mut sources = Sources::default();
        sources.insert("six", "six", Source::Present(Arc::new(Text::new(file.into()).unwrap())));
        let found = FoundSymbol { title: String::new(), first, count: 1, is_apart: false };
        sources.file("six").symbols.insert((version.clone(), symbol(part)), Ok(found));
        build(&of_symbol(&version, part, lines), &sources, &FindLimits::default())
            .map(|_| ())
            .map_err(|problems| *problems[0].kind.clone())
    };
    let stands = Err(Kind::NoOp { why: NoChange::AlreadyAdded });
    assert_eq!(made(Part::Above, 2, &["new line"]), stands);
    assert_eq!(made(Part::Below, 2, &["new line"]), stands);
    assert_eq!(made(Part::Above, 2, &["new line", ""]), stands);
    assert_eq!(made(Part::Below, 2, &["", "new line"]), stands);
    assert_eq!(made(Part::Above, 2, &["new line", "x"]), Ok(()));
    assert_eq!(made(Part::Below, 2, &["new line", "x"]), Ok(()));
    assert_eq!(made(Part::Above, 1, &["new line"]), stands, "it is the definition itself");
}

#[test]
fn a_file_that_the_request_moves_is_known_by_the_path_that_it_had() {
    let edit = || of_symbol("0123", Part::Whole, &[]);
    let at = |path: &str| {
        let mut patch = edit();
        patch = Patch::join([
            Patch::rename("one", "three").unwrap(),
            Patch::rename("three", path).unwrap(),
            patch,
        ]);
        let paths: Vec<String> = patch.symbols().map(|(path, ..)| path.into()).collect();
        paths.concat()
    };
    assert_eq!([at("six"), at("four")], ["one", "six"]);
}

fn place(offset: usize, old: &str, new: &str) -> PlaceChange {
    PlaceChange { offset, old: old.into(), new: new.into(), is_proven: false }
}

#[test]
fn places_of_several_files_are_hunks_of_one_plan() {
    let six = ("six".into(), [place(2, "2", "two"), place(4, "3\n4", "3, 4"), place(7, "\n", "")].to_vec());
    let two = ("two".into(), [place(0, "a", "aa")].to_vec());
    let patch = Patch::replace_places([six, two]);
    let plan = build(&patch, &sources(), &FindLimits::default()).unwrap();
    assert_eq!(
        outcome(&plan),
        [
            ("six", Some("1\ntwo\n3, 45\n6\n".into()), [(1, 2, 1), (2, 3, 2), (3, 4, 1)].to_vec()),
            ("two", Some("aa\nb\n".into()), [(4, 1, 1)].to_vec()),
        ]
    );
    let (part, _) = plan.only(&[2]).unwrap();
    assert_eq!(outcome(&part)[0].1.as_deref(), Some("1\n2\n3, 4\n5\n6\n"));
}

#[test]
fn places_that_were_proved_together_are_one_change_of_any_text() {
    let escaped = "{\"a\": \"\", \"b\": \"\"}\n";
    let proven = |offset, new: &str| PlaceChange { is_proven: true, ..place(offset, "\"\"", new) };
    let both = [proven(6, "\"say \\\"a\\\"\""), proven(15, "\"say \\\"b\\\"\"")].to_vec();
    let mut sources = sources();
    sources.insert("json", "json", Source::Present(Arc::new(Text::new(escaped.into()).unwrap())));
    let planned =
        |places| build(&Patch::replace_places([("json".into(), places)]), &sources, &FindLimits::default());
    let plan = planned(both).unwrap();
    assert_eq!(plan.can_take(&[1, 2]), Ok(()));
    for hunk in [1, 2] {
        assert_eq!(plan.can_take(&[hunk]), Err(Kind::InseparableHunks { name: "json".into() }));
    }
    // One place alone is no more than it was.
    assert!(planned([proven(6, "\"a\"")].to_vec()).unwrap().can_take(&[1]).is_ok());
}

#[test]
fn a_place_that_does_not_hold_its_text_is_no_place() {
    let edited = |places| Patch::replace_places([("two".into(), places)]);
    for wrong in [place(0, "b", "x"), place(1, "", "x"), place(4, "b", "x"), place(usize::MAX, "b", "x")] {
        let problems = build(&edited([wrong].into()), &sources(), &FindLimits::default()).unwrap_err();
        assert_eq!(*problems[0].kind, Kind::MovedNumbers);
    }
    // After another edit nothing is where it was, even if the same text is there.
    let patch = Patch::join([edited([place(0, "a", "b")].into()), edited([place(2, "b", "c")].into())]);
    let problems = build(&patch, &sources(), &FindLimits::default()).unwrap_err();
    assert_eq!(*problems[0].kind, Kind::MovedNumbers);
}
