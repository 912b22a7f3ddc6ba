//! The tests of the guard: what it takes, and that whatever a hostile model changes elsewhere is refused.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

/// Reads a sketch in which `...` is the marker.
fn outline(sketch: &str) -> Outline<'_> {
    let lines: Vec<&str> = sketch.lines().collect();
    let pieces = lines.split(|line| *line == "...").filter(|piece| !piece.is_empty()).map(<[&str]>::to_vec);
    Outline { pieces: pieces.collect(), opens: lines[0] == "...", closes: lines[lines.len() - 1] == "..." }
}

fn check(file: &str, sketch: &str, proposed: &str) -> Result<bool, Objection> {
    let (file, proposed): (Vec<&str>, Vec<&str>) = (file.lines().collect(), proposed.lines().collect());
    guard(&file, &outline(sketch), &proposed).map(|accepted| {
        assert_eq!(applied(&file, &accepted.changes), proposed);
        accepted.is_sure
    })
}

/// Applies changes, from the last to the first.
fn applied<'a>(file: &[&'a str], changes: &'a [RangeChange]) -> Vec<&'a str> {
    let mut lines = file.to_vec();
    for change in changes.iter().rev() {
        let range = change.first - 1..change.first - 1 + change.count;
        lines.splice(range, change.lines.iter().map(String::as_str));
    }
    lines
}

const FILE: &str = "use a\n\nfn f() {\n  one\n  two\n}\n\nfn g() {\n  three\n}\n";

#[test]
fn a_piece_between_anchors_that_are_unique_is_sure_if_it_loses_nothing() {
    let sketch = "...\nfn f() {\n  new\n  two\n...\n";
    assert_eq!(check(FILE, sketch, &FILE.replace("  one\n", "  one\n  new\n")), Ok(true));
    assert_eq!(check(FILE, sketch, &FILE.replace("  one\n", "  new\n")), Ok(false));
    let two = "use b\nuse a\n...\nfn g() {\n  four\n}\n";
    let right = FILE.replace("use a\n", "use b\nuse a\n").replace("  three\n", "  four\n");
    assert_eq!(check(FILE, two, &right), Ok(false));
}

#[test]
fn a_reading_among_several_is_for_somebody_to_look_at() {
    let added = "fn h() {\n  five\n}\n";
    let sketch = format!("...\n{added}");
    assert_eq!(check(FILE, &sketch, &format!("{FILE}{added}")), Ok(false));
    // A blank line beside it is layout.
    assert_eq!(check(FILE, &format!("{sketch}...\n"), &format!("{FILE}\n{added}")), Ok(false));
    // What is lost between two anchors was not said.
    let sketch = "...\nfn f() {\n  new\n}\n...\n";
    assert_eq!(check(FILE, sketch, &FILE.replace("  one\n  two\n", "  new\n")), Ok(false));
    let same = "a\nx\nb\na\nx\nb\n";
    for proposed in ["a\ny\nb\na\nx\nb\n", "a\nx\nb\na\ny\nb\n"] {
        assert_eq!(check(same, "...\na\ny\nb\n...\n", proposed), Ok(false));
    }
}

#[test]
fn anchors_that_leave_one_range_are_not_doubled() {
    let (file, sketch) = ("a\nb\nc\n", "...\na\nx\nb\n...\n");
    assert_eq!(check(file, sketch, "a\nx\nb\nc\n"), Ok(true));
    for doubled in ["a\nx\nb\nb\nc\n", "a\na\nx\nb\nc\n", "a\nx\nb\na\nb\nc\n", "a\nb\na\nx\nb\nc\n"] {
        assert_eq!(check(file, sketch, doubled), Err(Objection::ChangedElsewhere), "{doubled}");
    }
    // A line that new code ends with may stand in the file too.
    assert_eq!(check("f {\n}\n", "...\ng {\n}\n...\n", "f {\n}\ng {\n}\n"), Ok(false));
}

#[test]
fn what_stands_twice_in_the_range_is_for_somebody_to_look_at() {
    let (file, sketch) = ("a\np\nb\n", "...\na\nx\np\nb\n...\n");
    assert_eq!(check(file, sketch, "a\nx\np\nb\n"), Ok(true));
    assert_eq!(check(file, sketch, "a\nx\np\np\nb\n"), Ok(false));
}

#[test]
fn what_the_sketch_does_not_name_stays() {
    let sketch = "...\nfn f() {\n  new\n  two\n...\n";
    let right = FILE.replace("  one\n", "  new\n");
    for (proposed, objection) in [
        (right.replace("  three", "  3"), Objection::ForeignLine(9)),
        (right.replace("use a\n", ""), Objection::ChangedElsewhere),
        (right.replace("fn g() {\n  three\n}\n", ""), Objection::ChangedElsewhere),
        (format!("{right}}}\n"), Objection::ChangedElsewhere),
        (format!("{right}  new\n"), Objection::ChangedElsewhere),
        (format!("// done\n{right}"), Objection::ForeignLine(1)),
        (FILE.replace("  three\n", "  three\n  new\n"), Objection::ChangedElsewhere),
        (FILE.replace("  one\n", ""), Objection::LineMissing("  new".into())),
        (right.replace("  new", "   new"), Objection::ForeignLine(4)),
        (FILE.into(), Objection::NoChange),
        ("fn f() {\n  new\n  two\n".into(), Objection::ChangedElsewhere),
        (String::new(), Objection::LineMissing("fn f() {".into())),
    ] {
        assert_eq!(check(FILE, sketch, &proposed), Err(objection), "{proposed}");
    }
    assert_eq!(check(FILE, "...\n...\n", "x"), Err(Objection::EmptySketch));
}

#[test]
fn without_a_marker_a_piece_is_the_edge_of_the_file() {
    assert_eq!(check("a\nb\nc\n", "x\nb\n...\n", "x\nb\nc\n"), Ok(false));
    assert_eq!(check("a\nb\nc\n", "...\nb\nx\n", "a\nb\nx\n"), Ok(false));
    assert_eq!(check("a\nb\nc\n", "...\nc\nx\n", "a\nb\nc\nx\n"), Ok(true));
    assert_eq!(check("a\nb\nc\n", "...\nb\nx\n", "a\nb\nx\nc\n"), Err(Objection::ChangedElsewhere));
    assert_eq!(check("a\nb\nc\n", "x\nb\n...\n", "a\nx\nb\nc\n"), Err(Objection::ChangedElsewhere));
}

#[test]
fn a_text_of_the_same_line_ends() {
    let same = vec!["x"; 2000];
    let mut more = same.clone();
    more.insert(0, "y");
    let sketch = Outline { pieces: vec![vec!["x"; 50], vec!["x", "y"]], opens: true, closes: true };
    assert!(guard(&same, &sketch, &more).is_err());
}

#[test]
fn an_answer_in_blocks_is_applied_to_the_file() {
    let block = "<<<<<<< SEARCH\n  one\n=======\n  new\n>>>>>>> REPLACE\n";
    assert_eq!(texts(block, "a.rs", FILE).unwrap(), [FILE.replace("  one\n", "  new\n")]);
    assert_eq!(texts(&block.replace("one", "none"), "a.rs", FILE), Err(AnswerFault::Blocks));
}

#[test]
fn a_sketch_is_read_as_its_pieces() {
    let sketch = Sketch::parse("// ... existing code ...\na\n// ... removed ...\nb\n// ... rest ...\nc\n");
    let outline = Outline { pieces: vec![vec!["a", "b"], vec!["c"]], opens: true, closes: false };
    assert_eq!(Outline::from(&sketch), outline);
}

/// A file, a sketch of a change between two of its lines, the right answer, and the range that the sketch names.
#[derive(Clone, Debug)]
struct Scene {
    file: Vec<String>,
    piece: Vec<String>,
    right: Vec<String>,
    first: usize,
    end: usize,
}

/// Scenes with files of lines that are all different, or that repeat a few.
fn scene(kinds: usize) -> impl Strategy<Value = Scene> {
    let line = move |at: usize| {
        (0..kinds).prop_map(move |kind| if kinds == 1 { format!("line {at}") } else { format!("{kind}") })
    };
    let file = (4usize..30).prop_flat_map(move |count| (0..count).map(line).collect::<Vec<_>>());
    let new = prop::collection::vec(0usize..100, 1..5);
    (file, new, any::<prop::sample::Index>(), 0usize..6).prop_map(|(file, new, first, length)| {
        let first = first.index(file.len() - 1);
        let last = (first + 1 + length).min(file.len() - 1);
        let new = new.into_iter().map(|number| format!("new {number}"));
        let piece: Vec<String> =
            std::iter::once(file[first].clone()).chain(new).chain([file[last].clone()]).collect();
        let right = [&file[..first], &piece, &file[last + 1..]].concat();
        Scene { file, piece, right, first, end: last + 1 }
    })
}

fn judged(scene: &Scene, proposed: &[String]) -> Result<Accepted, Objection> {
    fn lines(lines: &[String]) -> Vec<&str> {
        lines.iter().map(String::as_str).collect()
    }
    let sketch = Outline { pieces: vec![lines(&scene.piece)], opens: true, closes: true };
    guard(&lines(&scene.file), &sketch, &lines(proposed))
}

proptest! {
    #[test]
    fn the_right_answer_passes(scene in scene(1)) {
        let loses_nothing = scene.end == scene.first + 2;
        prop_assert_eq!(judged(&scene, &scene.right).unwrap().is_sure, loses_nothing);
    }

    #[test]
    fn a_right_answer_that_is_changed_elsewhere_never_passes(
        scene in scene(1),
        at in any::<prop::sample::Index>(),
        how in 0usize..7,
        other in any::<prop::sample::Index>(),
    ) {
        let after = scene.first + scene.piece.len();
        let outside: Vec<usize> =
            (0..scene.right.len()).filter(|line| *line < scene.first || *line >= after).collect();
        prop_assume!(!outside.is_empty());
        let at = outside[at.index(outside.len())];
        let mut proposed = scene.right.clone();
        match how {
            0 => drop(proposed.remove(at)),
            1 => proposed[at].push(' '),
            2 => proposed[at] = "ignore the sketch".into(),
            3 => proposed.insert(at, proposed[other.index(proposed.len())].clone()),
            4 => proposed.swap(at, outside[other.index(outside.len())]),
            5 => drop(proposed.splice(at..at, scene.piece.iter().cloned())),
            _ => proposed.truncate(at),
        }
        prop_assume!(proposed != scene.right);
        prop_assert!(judged(&scene, &proposed).is_err(), "{proposed:?}");
    }

    /// Whatever passes has all lines of the sketch, no foreign one, and all of the file that no range can hold.
    #[test]
    fn whatever_passes_is_made_of_the_file_and_the_sketch(
        scene in scene(3),
        picks in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 0..6),
    ) {
        let mut proposed = scene.right.clone();
        for (removes, at) in picks {
            if proposed.is_empty() {
                break;
            }
            let at = at.index(proposed.len());
            if removes { drop(proposed.remove(at)) } else { proposed.insert(at, scene.file[at % scene.file.len()].clone()) }
        }
        if let Ok(accepted) = judged(&scene, &proposed) {
            let mut rest = proposed.iter();
            prop_assert!(scene.piece.iter().all(|line| rest.any(|other| other == line)));
            prop_assert!(proposed.iter().all(|line| scene.file.contains(line) || scene.piece.contains(line)));
            if accepted.is_sure {
                prop_assert_eq!(&proposed[..scene.first], &scene.file[..scene.first]);
                let below = &scene.file[scene.end..];
                prop_assert_eq!(&proposed[proposed.len() - below.len()..], below);
            }
        }
    }
}
