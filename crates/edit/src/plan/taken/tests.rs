//! Lines that are copied and moved: where they come to stand, and with which bytes.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use std::vec;

use super::*;
use crate::find::{FindLimits, contents};
use crate::patch::{LinesOfVersion, NewLines, NumberedChange, Patch, TakenLines, TextChange};
use crate::plan::{Plan, Source, Sources, build};
use crate::problem::Work;
use crate::text::split_lines;
use crate::version::Version;
use proptest::prelude::*;

/// Some files by name, as they are on the disk.
type Files<'a> = &'a [(&'a str, &'a [u8])];

fn sources(files: Files<'_>) -> Sources {
    let mut sources = Sources::default();
    for (name, raw) in files {
        sources.insert(name, name, Source::Present(Arc::new(Text::new(raw.to_vec()).unwrap())));
    }
    sources.insert("new", "new", Source::Absent);
    sources
}

fn planned(files: Files<'_>, patch: &Patch) -> Result<Plan, Kind> {
    build(patch, &sources(files), &FindLimits::default()).map_err(|mut problems| *problems.remove(0).kind)
}

/// What the files of a plan will hold, by name.
fn outcome(plan: &Plan) -> BTreeMap<&str, Vec<u8>> {
    let content = |file: &crate::plan::FilePlan| file.action.pieces().map(|pieces| pieces.concat());
    plan.files().iter().filter_map(|file| Some((file.name.as_str(), content(file)?))).collect()
}

fn numbered(files: Files<'_>, name: &str, (first, count): (usize, usize)) -> LinesOfVersion {
    let raw = files.iter().find(|(other, _)| *other == name).map_or(&b""[..], |(_, raw)| raw);
    LinesOfVersion::numbered(Version::hash(raw).short(), first, count)
}

fn taken(files: Files<'_>, name: &str, lines: (usize, usize), is_moved: bool, shift: isize) -> TakenLines {
    TakenLines { path: name.into(), at: numbered(files, name, lines), is_moved, shift }
}

fn put(files: Files<'_>, name: &str, at: (usize, usize), new: TakenLines) -> Patch {
    let at = numbered(files, name, at);
    Patch::replace_range(name, NumberedChange { at, new: NewLines::Taken(new) })
}

/// What one file holds after lines of it are moved.
fn moved(file: &str, lines: (usize, usize), to: (usize, usize), shift: isize) -> Result<String, Kind> {
    let files = [("f", file.as_bytes())];
    let plan = planned(&files, &put(&files, "f", to, taken(&files, "f", lines, true, shift)))?;
    Ok(String::from_utf8(outcome(&plan).remove("f").unwrap()).unwrap())
}

/// What `b` holds after a copy of lines of `a` has come before its first line, or what is wrong.
fn copied(a: &[u8], lines: (usize, usize), b: &[u8]) -> Result<Vec<u8>, Kind> {
    let files = [("a", a), ("b", b)];
    let plan = planned(&files, &put(&files, "b", (1, 0), taken(&files, "a", lines, false, 0)))?;
    assert_eq!(plan.files().len(), 1, "what is copied stays where it is");
    Ok(outcome(&plan).remove("b").unwrap())
}

/// A line that is no UTF-8.
const LATIN: &[u8] = b"Gr\xfc\xdfe aus M\xfcnchen, sch\xf6ne Gr\xfc\xdfe\n";

fn utf_16(text: &str) -> Vec<u8> {
    core::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

#[test]
fn lines_are_moved_up_and_down_in_their_file() {
    for (lines, to, result) in [
        ((3, 1), (1, 0), "c\na\nb\nd\ne\n"),
        ((1, 2), (6, 0), "c\nd\ne\na\nb\n"),
        ((2, 2), (5, 0), "a\nd\nb\nc\ne\n"),
        ((4, 2), (2, 0), "a\nd\ne\nb\nc\n"),
        // In the place of others, which go.
        ((1, 1), (4, 1), "b\nc\na\ne\n"),
        ((5, 1), (1, 2), "e\nc\nd\n"),
        ((3, 1), (2, 1), "a\nc\nd\ne\n"),
        ((1, 4), (5, 1), "a\nb\nc\nd\n"),
    ] {
        assert_eq!(moved("a\nb\nc\nd\ne\n", lines, to, 0).as_deref(), Ok(result), "{lines:?} to {to:?}");
    }
}

#[test]
fn lines_are_not_moved_into_themselves() {
    let file = "a\nb\nc\nd\ne\n";
    let itself = Err(Kind::MovedIntoItself { first: 2, count: 3 });
    for to in [(3, 0), (4, 0), (2, 3), (1, 2), (4, 1), (4, 2), (1, 5)] {
        assert_eq!(moved(file, (2, 3), to, 0), itself, "{to:?}");
    }
    for to in [(2, 0), (5, 0)] {
        assert_eq!(moved(file, (2, 3), to, 0), Err(Kind::NoOp { why: NoChange::SamePlace }), "{to:?}");
    }
    assert_eq!(moved(file, (2, 3), (5, 0), 1).as_deref(), Ok("a\n b\n c\n d\ne\n"), "only shifted");
    assert_eq!(moved(file, (2, 3), (2, 0), 1).as_deref(), Ok("a\n b\n c\n d\ne\n"), "only shifted");
    // A copy may replace what it is taken from.
    let files = [("f", file.as_bytes())];
    let copy = put(&files, "f", (1, 3), taken(&files, "f", (2, 1), false, 0));
    assert_eq!(outcome(&planned(&files, &copy).unwrap())["f"], b"b\nd\ne\n");
}

#[test]
fn no_line_is_glued_to_a_last_one_without_an_ending() {
    for (file, lines, to, result) in [
        ("a\nb\nc", (3, 1), (1, 0), "c\na\nb\n"),
        ("a\nb\nc", (1, 1), (4, 0), "b\nc\na"),
        ("a\nb\nc", (1, 1), (3, 1), "b\na"),
        ("a\nb\nc", (3, 1), (1, 1), "c\nb\n"),
        ("a\nb\nc", (2, 2), (1, 0), "b\nc\na\n"),
        ("a\r\nb", (2, 1), (1, 0), "b\r\na\r\n"),
        // A blank line without an ending would be none.
        ("\na\nb", (1, 1), (4, 0), "a\nb\n\n"),
        ("\na\nb", (1, 1), (3, 1), "a\n\n"),
    ] {
        assert_eq!(moved(file, lines, to, 0).as_deref(), Ok(result), "{file:?} {lines:?} to {to:?}");
    }
    let at_end = |a: &[u8], b: &[u8], first| {
        let files = [("a", a), ("b", b)];
        let patch = put(&files, "b", (first, 0), taken(&files, "a", (1, 2), false, 0));
        outcome(&planned(&files, &patch).unwrap()).remove("b").unwrap()
    };
    assert_eq!(at_end(b"x\ny", b"a", 2), b"a\nx\ny");
    assert_eq!(at_end(b"x\r\ny\r\n", b"a", 2), b"a\r\nx\r\ny");
    assert_eq!(at_end(b"x\ny", b"a\r\n", 2), b"a\r\nx\r\ny\r\n");
}

#[test]
fn lines_take_the_ending_of_a_file_that_has_one_and_keep_their_own_elsewhere() {
    for (a, b, result) in [
        (&b"x\r\ny\r\n"[..], &b"a\nb\n"[..], &b"x\ny\na\nb\n"[..]),
        (b"x\ny\n", b"a\r\nb\r\n", b"x\r\ny\r\na\r\nb\r\n"),
        (b"x\ny\r\n", b"a\n", b"x\ny\na\n"),
        (b"x\ny\r\n", b"a\nb\r\n", b"x\ny\r\na\nb\r\n"),
        (b"x\ny\r\n", b"", b"x\ny\r\n"),
        (b"x\ny", b"a\r\nb\n", b"x\ny\r\na\r\nb\n"),
        (b"\xef\xbb\xbfx\ny\n", b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfx\ny\na\n"),
        (b"\xef\xbb\xbfx\ny\n", b"a\n", b"x\ny\na\n"),
    ] {
        assert_eq!(copied(a, (1, 2), b).as_deref(), Ok(result), "{a:?} to {b:?}");
    }
    assert_eq!(moved("a\r\nb\nc\r\n", (1, 1), (3, 0), 0).as_deref(), Ok("b\na\r\nc\r\n"));
    // A carriage return before the line ending is a character of the line.
    let alone = Err(Kind::CannotTake { line: 1, why: CannotTake::CarriageReturn });
    assert_eq!(copied(b"x\r\r\ny\r\n", (1, 1), b"a\n"), alone);
    assert_eq!(copied(b"x\r\r\ny\r\n", (1, 1), b"a\r\n").as_deref(), Ok(&b"x\r\r\na\r\n"[..]));
}

#[test]
fn characters_stay_what_they_are_in_another_encoding() {
    let text = "gr\u{fc}\u{df}e \u{1f600}\nb\n";
    assert_eq!(copied(&utf_16(text), (1, 1), b"a\n").unwrap(), "gr\u{fc}\u{df}e \u{1f600}\na\n".as_bytes());
    let wide = copied(text.as_bytes(), (1, 1), &utf_16("a\r\n")).unwrap();
    assert_eq!(wide, utf_16("gr\u{fc}\u{df}e \u{1f600}\r\na\r\n"));
    let latin = &[LATIN, b"plain\n"].concat()[..];
    let encoding = Text::new(latin.to_vec()).unwrap().encoding().name();
    assert_eq!(copied("\u{fc}\n".as_bytes(), (1, 1), latin).unwrap(), [b"\xfc\n", latin].concat());
    let lacks = copied(text.as_bytes(), (1, 1), latin);
    assert_eq!(lacks, Err(Kind::NotEncodable { character: '\u{1f600}', encoding }));
    // What a guess takes for a character may be another one: only bytes are certain.
    let why = CannotTake::Uncertain { encoding, into: "utf-8" };
    assert_eq!(copied(latin, (1, 1), b"a\n"), Err(Kind::CannotTake { line: 1, why }));
    assert_eq!(copied(latin, (2, 1), b"a\n").as_deref(), Ok(&b"plain\na\n"[..]));
    assert_eq!(copied(latin, (1, 1), latin).unwrap(), [LATIN, LATIN, b"plain\n"].concat());
}

#[test]
fn invalid_bytes_are_carried_into_their_like_alone() {
    let broken = ["\u{e9}\u{fc}\u{20ac} ".repeat(20).as_bytes(), b"\xff\nb\n"].concat();
    let into = "utf-8";
    let why = CannotTake::InvalidBytes { into };
    assert_eq!(copied(&broken, (1, 1), b"a\n"), Err(Kind::CannotTake { line: 1, why }));
    let files = [("f", &broken[..])];
    let plan = planned(&files, &put(&files, "f", (3, 0), taken(&files, "f", (1, 1), true, 0))).unwrap();
    assert_eq!(outcome(&plan)["f"], [&b"b\n"[..], &broken[..broken.len() - 2]].concat());
}

#[test]
fn a_new_file_gets_the_bytes_of_the_lines() {
    let created = |raw: &[u8], lines| {
        let files = [("a", raw)];
        let plan = planned(&files, &Patch::take("new", taken(&files, "a", lines, true, 0))).unwrap();
        let mut outcome = outcome(&plan);
        (outcome.remove("new").unwrap(), outcome.remove("a").unwrap())
    };
    let pair = |new: &[u8], rest: &[u8]| (new.to_vec(), rest.to_vec());
    assert_eq!(created(b"a\r\nb\nc", (1, 2)), pair(b"a\r\nb\n", b"c"));
    assert_eq!(created(b"a\r\nb\nc", (3, 1)), pair(b"c", b"a\r\nb\n"));
    assert_eq!(created(b"a\n", (1, 1)), pair(b"a\n", b""));
    assert_eq!(created(b"\xef\xbb\xbfa\nb\n", (2, 1)), pair(b"\xef\xbb\xbfb\n", b"\xef\xbb\xbfa\n"));
    assert_eq!(created(&utf_16("\u{e9}\r\nb\n"), (1, 1)), (utf_16("\u{e9}\r\n"), utf_16("b\n")));
    let latin = [LATIN, b"plain\n"].concat();
    assert_eq!(created(&latin, (1, 1)), pair(LATIN, b"plain\n"));
    let files = [("a", &b"a\n"[..]), ("b", b"b\n")];
    let there = planned(&files, &Patch::take("b", taken(&files, "a", (1, 1), false, 0)));
    assert_eq!(there.unwrap_err(), Kind::NoPlace);
}

#[test]
fn no_character_becomes_a_byte_order_mark_or_a_part_of_a_line_ending() {
    let marked = &b"a\n\xef\xbb\xbfx\n"[..];
    let mark = Kind::CannotPut { line: 1, why: CannotPut::ByteOrderMark };
    assert_eq!(copied(marked, (2, 1), b"b\n"), Err(mark.clone()));
    assert_eq!(
        copied(marked, (2, 1), b"\xef\xbb\xbfb\n").as_deref(),
        Ok(&b"\xef\xbb\xbf\xef\xbb\xbfx\nb\n"[..])
    );
    let files = [("a", marked), ("b", b"1\n2\r")];
    let created = planned(&files, &Patch::take("new", taken(&files, "a", (2, 1), false, 0)));
    assert_eq!(created.unwrap_err(), mark);
    let ending = Kind::CannotPut { line: 2, why: CannotPut::CarriageReturn };
    let below = planned(&files, &put(&files, "b", (3, 0), taken(&files, "a", (1, 1), false, 0)));
    assert_eq!(below.unwrap_err(), ending);
    let at = numbered(&files, "b", (3, 0));
    let given = NumberedChange { at, new: NewLines::Given(vec!["a".into()]) };
    assert_eq!(planned(&files, &Patch::replace_range("b", given)).unwrap_err(), ending);
    let replaced = planned(&files, &put(&files, "b", (2, 1), taken(&files, "a", (1, 1), false, 0))).unwrap();
    assert_eq!(outcome(&replaced)["b"], b"1\na");
}

#[test]
fn copies_cost_as_much_work_as_they_have_bytes() {
    let long = "x".repeat(1_000) + "\n";
    let files = [("a", long.as_bytes()), ("b", b"b\n")];
    let patch = put(&files, "b", (1, 0), taken(&files, "a", (1, 1), false, 0));
    let built = |work| {
        let limits = FindLimits { work, ..FindLimits::default() };
        build(&patch, &sources(&files), &limits).map_err(|mut problems| *problems.remove(0).kind)
    };
    assert!(built(2_000).is_ok());
    assert_eq!(built(500).unwrap_err(), Kind::WorkLimit { work: Work::Copying });
    // Wherever in the file they stand.
    let files = [("a", [&long[..], "a\n"].concat().into_bytes()), ("b", b"b\n".to_vec())];
    let files = files.each_ref().map(|(name, content)| (*name, &content[..]));
    let patch = put(&files, "b", (1, 0), taken(&files, "a", (2, 1), false, 0));
    let limits = FindLimits { work: 500, ..FindLimits::default() };
    assert!(build(&patch, &sources(&files), &limits).is_ok());
}

#[test]
fn lines_are_shifted_by_what_they_are_indented_with() {
    let shift = |lines: &str, by, target: &str| {
        let text = |text: &str| Text::new(text.into()).unwrap();
        let found = contents(lines.as_bytes());
        let found = shifted(&found, by, &text(target))?;
        Ok::<_, (usize, CannotTake)>(String::from_utf8(found.join(&b'\n')).unwrap())
    };
    let mixed = |line| Err((line, CannotTake::MixedIndentation));
    assert_eq!(shift("  a\n\n    b", 2, "").as_deref(), Ok("    a\n\n      b"));
    assert_eq!(shift("  a\n \n    b", -2, "").as_deref(), Ok("a\n \n  b"));
    assert_eq!(shift("\ta\nb\n", 1, "").as_deref(), Ok("\t\ta\n\tb"));
    assert_eq!(shift("  a\n b", -2, ""), Err((1, CannotTake::LessIndented { has: 1 })));
    assert_eq!(shift("    a\n  b\n c\n", -5, ""), Err((2, CannotTake::LessIndented { has: 1 })));
    assert_eq!(shift("a", -1, "\tx"), Err((0, CannotTake::LessIndented { has: 0 })));
    assert_eq!(shift("  a\n\tb", 1, ""), mixed(1));
    assert_eq!(shift("\t a", -1, ""), mixed(0));
    // Without any indentation, that of the file where they go is taken.
    assert_eq!(shift("a\nb", 1, "x\n\ty\n").as_deref(), Ok("\ta\n\tb"));
    assert_eq!(shift("a", 2, "x\n  y\n").as_deref(), Ok("  a"));
    assert_eq!(shift("a", 2, "x\n").as_deref(), Ok("  a"));
    assert_eq!(shift("a", 2, "\tx\n  y\n"), mixed(0));
    // Nothing is asked for.
    assert_eq!(shift("  a\n\tb", 0, "").as_deref(), Ok("  a\n\tb"));
}

#[test]
fn both_sides_of_a_move_are_one_hunk() {
    let files = [("a", &b"1\n2\n3\n4\n"[..]), ("b", b"x\ny\nz\n")];
    let change = |old: &str, new: &str| TextChange { old: old.into(), new: new.into(), ..Default::default() };
    let moving = put(&files, "b", (2, 0), taken(&files, "a", (2, 1), true, 0));
    let patch = Patch::join([
        Patch::replace("a", vec![change("1", "one")]).unwrap(),
        moving.clone(),
        Patch::replace("b", vec![change("z", "zed")]).unwrap(),
        Patch::take("new", taken(&files, "a", (4, 1), true, 0)),
    ]);
    assert_eq!(patch.hunks(), 4);
    let part = |hunks: &[usize]| {
        let (part, _) = planned(&files, &patch).unwrap().only(hunks).unwrap();
        outcome(&part).into_values().map(|raw| String::from_utf8(raw).unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(part(&[2]), ["1\n3\n4\n", "x\n2\ny\nz\n"]);
    assert_eq!(part(&[4]), ["1\n2\n3\n", "4\n"]);
    assert_eq!(part(&[1, 3]), ["one\n2\n3\n4\n", "x\ny\nzed\n"]);
}

#[test]
fn a_move_whose_lines_went_on_is_taken_whole() {
    let files = [("a", &b"1\n2\n"[..]), ("b", b"x\n")];
    let change = |old: &str, new: &str| TextChange { old: old.into(), new: new.into(), ..Default::default() };
    let patch = Patch::join([
        put(&files, "b", (1, 0), taken(&files, "a", (2, 1), true, 0)),
        Patch::replace("b", vec![change("2\nx\n", "x\n")]).unwrap(),
        Patch::replace("a", vec![change("1", "one")]).unwrap(),
    ]);
    let plan = planned(&files, &patch).unwrap();
    assert_eq!(outcome(&plan).into_keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(plan.can_take(&[1, 3]), Ok(()));
    assert_eq!(plan.can_take(&[1]), Err(Kind::InseparableHunks { name: "a".into() }));
}

/// A line of a file: its content and its ending.
type Line = (String, &'static str);

fn raw(lines: &[Line]) -> Vec<u8> {
    lines.iter().map(|(content, ending)| [content.as_str(), ending].concat()).collect::<String>().into_bytes()
}

/// The lines of a file; what the last one lacks is its ending.
fn file_of(lines: Vec<(String, bool)>, mix: u8, is_ended: bool) -> Vec<Line> {
    let ending = |crlf| match (mix, crlf) {
        (0, _) | (2, false) => "\n",
        _ => "\r\n",
    };
    let mut lines: Vec<Line> = lines.into_iter().map(|(line, crlf)| (line, ending(crlf))).collect();
    if let Some((content, ending)) = lines.last_mut()
        && !is_ended
        && !content.is_empty()
    {
        *ending = "";
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A move keeps each line of all files, a copy adds some, and a list of lines says where they are. No other line
    /// changes a byte, but for the ending that a last line lacks and needs.
    #[test]
    fn lines_are_where_a_list_of_lines_has_them(
        a in (prop::collection::vec(("[ab]?[0-9]?", any::<bool>()), 1..7), 0u8..3, any::<bool>()),
        b in (prop::collection::vec(("[ab]?[0-9]?", any::<bool>()), 0..7), 0u8..3, any::<bool>()),
        is_moved in any::<bool>(), target in 0usize..3,
        (first, count) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        (at, gone) in (any::<prop::sample::Index>(), 0usize..3),
    ) {
        let (a, b) = (file_of(a.0, a.1, a.2), file_of(b.0, b.1, b.2));
        let (raw_a, raw_b) = (raw(&a), raw(&b));
        let files = [("a", &raw_a[..]), ("b", &raw_b[..])];
        let first = first.index(a.len());
        let count = 1 + count.index(a.len() - first);
        let lines = taken(&files, "a", (first + 1, count), is_moved, 0);
        let name = ["a", "b", "new"][target];
        let into = [&a, &b, &Vec::new()][target].clone();
        let at = at.index(into.len() + 1);
        let gone = gone.min(into.len() - at);
        let patch = match target {
            2 => Patch::take("new", lines),
            _ => put(&files, name, (at + 1, gone), lines),
        };
        let contents_of = |lines: &[Line]| lines.iter().map(|(line, _)| line.clone()).collect::<Vec<_>>();
        let mut wanted = BTreeMap::from([("a", contents_of(&a)), ("b", contents_of(&b)), ("new", Vec::new())]);
        let come = contents_of(&a[first..first + count]);
        // Lines that stay in `a` are marked, so that they are found where others have come or gone.
        let mut marked: Vec<Option<String>> = wanted[name].iter().cloned().map(Some).collect();
        if is_moved && target == 0 {
            let is_inside = if gone == 0 {
                first < at && at < first + count
            } else {
                at < first + count && first < at + gone
            };
            if is_inside {
                let itself = Kind::MovedIntoItself { first: first + 1, count };
                prop_assert_eq!(planned(&files, &patch).unwrap_err(), itself);
                return Ok(());
            }
            marked[first..first + count].fill(None);
        }
        marked.splice(at..at + gone, come.into_iter().map(Some));
        wanted.insert(name, marked.into_iter().flatten().collect());
        if is_moved && target != 0 {
            wanted.get_mut("a").unwrap().drain(first..first + count);
        }
        let plan = match planned(&files, &patch) {
            Ok(plan) => plan,
            Err(Kind::NoOp { .. }) => {
                prop_assert_eq!(&wanted["a"], &contents_of(&a));
                prop_assert_eq!(&wanted["b"], &contents_of(&b));
                return Ok(());
            }
            Err(other) => { prop_assert!(false, "{:?}", other); return Ok(()); }
        };
        let made = outcome(&plan);
        for (name, before) in [("a", &a), ("b", &b), ("new", &Vec::new())] {
            let raw_before = raw(before);
            let after = made.get(name).unwrap_or(&raw_before);
            let found: Vec<String> =
                contents(after).into_iter().map(|line| String::from_utf8(line.to_vec()).unwrap()).collect();
            prop_assert_eq!(&found, &wanted[name], "{} of {:?}", name, files);
            // In a file whose lines end alike they still do.
            let endings = |raw: &[u8]| Text::new(raw.to_vec()).unwrap().line_endings();
            if name != "new" && matches!(endings(&raw_before), LineEndings::Lf | LineEndings::Crlf) {
                prop_assert!(endings(after) == endings(&raw_before) || endings(after) == LineEndings::None);
            }
            // From either end, lines before and behind all changes are what they were.
            let (old, new): (Vec<&[u8]>, Vec<&[u8]>) = (split_lines(&raw_before).collect(), split_lines(after).collect());
            let touched = match (name, target) {
                ("a", 0) if is_moved => (first.min(at), (first + count).max(at + gone)),
                ("a", 0) | ("b", 1) => (at, at + gone),
                ("a", _) if is_moved => (first, first + count),
                _ => (old.len(), old.len()),
            };
            let head = touched.0.saturating_sub(usize::from(touched.0 == old.len()));
            prop_assert_eq!(&old[..head], &new[..head]);
            let tail = old.len() - touched.1;
            prop_assert_eq!(&old[touched.1..], &new[new.len() - tail..]);
        }
    }
}
