//! The replacements of a placed hunk: its runs of removed and added lines. Context lines are never written.
//!
//! Unless the hunk says otherwise, the file keeps or lacks its final newline as before: a new last line takes over the
//! ending of the old one. If the last lines are only removed, the one before keeps its ending.

use alloc::vec::Vec;
use core::ops::Range;

use super::apart::leading_blank;
use super::carry::{self, Replacement};
use crate::excerpt::around;
use crate::find::Haystack;
use crate::patch::Line;
use crate::problem::{CannotPut, Kind, NoChange};
use crate::text::{LineEnding, ending_near, split_ending};

/// How many bytes are shown of a line that would be there twice.
const SHOWN_COLUMNS: usize = 200;

/// Returns whether a line is distinctive: brackets, blank lines and `end` recur everywhere.
pub(super) fn is_telling(line: &[u8]) -> bool {
    let words = line.iter().filter(|b| b.is_ascii_alphanumeric() || **b >= 0x80).count();
    words >= 3 && line.trim_ascii() != b"end"
}

/// Returns the replacements of a block at its place, whose lines correspond one to one to the block's old lines.
pub(super) fn block(
    h: &Haystack<'_>,
    lines: &[Line],
    place: &Range<usize>,
    final_newline: Option<bool>,
) -> Result<Vec<Replacement>, Kind> {
    if final_newline.is_some() && place.end != h.text().body().end {
        let (line, last) = (h.line_number(place.start), h.lines().len());
        return Err(Kind::NotAtEndOfFile { line, last });
    }
    let mut line = h.lines().index_of(place.start);
    let mut replacements = Vec::new();
    // A hunk counts as already made only if all of it is there.
    let (mut all_stand, mut there) = (true, Vec::new());
    for run in lines.chunk_by(|a, b| a.is_context() == b.is_context()) {
        if run[0].is_context() {
            line += run.len();
            continue;
        }
        let count = run.iter().filter(|line| line.before().is_some()).count();
        // The file's own lines: a loose layer may have matched lines that differ from the request's.
        let gone: Vec<&[u8]> = (line..line + count).map(|i| h.lines().content(i)).collect();
        let come: Vec<&str> = run.iter().filter_map(Line::after).collect();
        // A line that is both removed and added stays, unless the final newline may differ.
        let ends = line + gone.len() == h.lines().len();
        let same_endings = !ends || (!is_unended(h) && final_newline.is_none());
        let equal = |(a, b): &(&&[u8], &&str)| **a == b.as_bytes() && same_endings;
        let head = gone.iter().zip(&come).take_while(equal).count();
        let (gone_rest, come_rest) = (&gone[head..], &come[head..]);
        let tail = gone_rest.iter().rev().zip(come_rest.iter().rev()).take_while(equal).count();
        let (went, came) = (gone_rest.len() - tail, &come_rest[..come_rest.len() - tail]);
        if went > 0 || !came.is_empty() {
            let (range, text) = self::lines(h, line + head, went, came.iter().copied(), final_newline)?;
            let stand = if went == 0 { stand_beside(h, line + head, came) } else { None };
            all_stand &= stand.is_some();
            there.extend(stand);
            replacements.push((range, text));
        }
        line += gone.len();
    }
    if all_stand && !replacements.is_empty() {
        return Err(Kind::NoOp { why: NoChange::AlreadyAdded });
    }
    let goes = |line: usize| replacements.iter().any(|(range, _)| range.contains(&h.lines().start(line)));
    if let Some(line) = there.into_iter().find(|line| !goes(*line)) {
        return Err(line_there(h, line));
    }
    check_edges(h, h.lines().index_of(place.start), lines)?;
    settle_final_newline(h, place, final_newline, &mut replacements)?;
    Ok(replacements)
}

/// Returns the replacement that inserts lines before line `line`.
pub(super) fn insertion(
    h: &Haystack<'_>,
    line: usize,
    added: &[Line],
    final_newline: Option<bool>,
) -> Result<Replacement, Kind> {
    let inserted = self::lines(h, line, 0, added.iter().filter_map(Line::after), final_newline)?;
    let mut replacements = alloc::vec![inserted];
    let place = replacements[0].0.clone();
    settle_final_newline(h, &place, final_newline, &mut replacements)?;
    Ok(replacements.remove(0))
}

/// Returns the line on which distinctive lines that are inserted before line `line` stand already, above or below, whatever
/// blank lines are between: then the insertion was made before.
pub(super) fn stand_beside(h: &Haystack<'_>, line: usize, added: &[&str]) -> Option<usize> {
    let added = &added[leading_blank(added.iter().map(|line| line.as_bytes()))..];
    let added = &added[..added.len() - leading_blank(added.iter().rev().map(|line| line.as_bytes()))];
    let lines = h.lines();
    let stand = |at: &usize| (*at..).zip(added).all(|(at, added)| lines.content(at) == added.as_bytes());
    let below = line + leading_blank((line..lines.len()).map(|at| lines.content(at)));
    let above = line - leading_blank((0..line).rev().map(|at| lines.content(at)));
    if !added.iter().any(|added| is_telling(added.as_bytes())) {
        return None;
    }
    let below = Some(below).filter(|below| below + added.len() <= lines.len()).filter(stand);
    below.or_else(|| above.checked_sub(added.len()).filter(stand))
}

/// Refuses a block at line `first` that grows at an edge by copies of the lines beside that edge.
pub(super) fn check_edges(h: &Haystack<'_>, first: usize, lines: &[Line]) -> Result<(), Kind> {
    let end = first + lines.iter().filter(|line| line.before().is_some()).count();
    let above = |i: usize| Some(first).and_then(|first| first.checked_sub(i));
    let below = |i: usize| Some(end + i).filter(|at| *at < h.lines().len());
    let changes = |line: &&Line| !line.is_context();
    let top: Vec<&Line> = lines.iter().take_while(changes).collect();
    let bottom: Vec<&Line> = lines.iter().rev().take_while(changes).collect();
    // Counted from the edge on, lines above it are met in the opposite order.
    let repeats = |run: &[&Line], at: &dyn Fn(usize, usize) -> Option<usize>| {
        let went: Vec<&str> = run.iter().filter_map(|line| line.before()).collect();
        let came: Vec<&str> = run.iter().filter_map(|line| line.after()).collect();
        let grown = came.len().saturating_sub(went.len());
        let same = |count: usize, i: usize| {
            let stands = |at: usize| h.lines().content(at) == came[i].as_bytes();
            is_telling(came[i].as_bytes()) && at(count, i).is_some_and(stands)
        };
        let is_kept = !went.is_empty() && went.first() == came.first();
        let count = (1..=grown).find(|count| (0..*count).all(|i| same(*count, i)))?;
        at(count, 0).filter(|_| !is_kept)
    };
    let line = repeats(&top, &|count, i| above(count - i))
        .or_else(|| repeats(&bottom, &|count, i| below(count - 1 - i)));
    line.map_or(Ok(()), |line| Err(line_there(h, line)))
}

/// Makes the problem that this line would be there twice.
fn line_there(h: &Haystack<'_>, line: usize) -> Kind {
    Kind::LineThere { line: line + 1, text: around(h.lines().content(line), 0, SHOWN_COLUMNS) }
}

/// Returns the replacement of `gone` lines from `line` on by these lines, unless they would make a carriage return at the
/// end of the file a part of a line ending.
pub(super) fn lines<'l>(
    h: &Haystack<'_>,
    line: usize,
    gone: usize,
    added: impl Iterator<Item = &'l str>,
    final_newline: Option<bool>,
) -> Result<Replacement, Kind> {
    let (bytes, lines) = (h.text().bytes(), h.lines());
    let mut added: Vec<Vec<u8>> = added.map(|text| [text.as_bytes(), b"\n"].concat()).collect();
    let removed: Vec<Range<usize>> = (line..line + gone).map(|i| lines.with_ending(i)).collect();
    let becomes_last = is_unended(h) && line + gone == lines.len();
    // A blank line without an ending would be none.
    if becomes_last
        && final_newline != Some(true)
        && let Some(text) = added.last_mut().filter(|text| text.len() > 1)
    {
        text.pop();
    }
    let views: Vec<&[u8]> = added.iter().map(Vec::as_slice).collect();
    let (range, mut text) = carry::replace(bytes, h.endings(), lines.start(line), &removed, &views);
    if becomes_last && gone == 0 && !text.is_empty() {
        check_end(h, line)?;
        // The previously last line gets the ending that it lacked.
        let ending = ending_near(bytes, range.start).unwrap_or(LineEnding::Lf);
        text.splice(0..0, ending.bytes().iter().copied());
    }
    Ok((range, text))
}

/// Checks that lines which come before this one, and so perhaps below the last one, give that no other ending than the one
/// that it lacks.
pub(super) fn check_end(h: &Haystack<'_>, line: usize) -> Result<(), Kind> {
    let (total, bytes) = (h.lines().len(), h.text().bytes());
    let ends_it = line == total && is_unended(h);
    // Two carriage returns and a line feed are a carriage return and a whole ending.
    let near = || ending_near(bytes, bytes.len()).unwrap_or(LineEnding::Lf);
    match ends_it && bytes.ends_with(b"\r") && near() == LineEnding::Lf {
        true => Err(Kind::CannotPut { line: total, why: CannotPut::CarriageReturn }),
        false => Ok(()),
    }
}

/// Returns whether the last line has no ending.
pub(super) fn is_unended(h: &Haystack<'_>) -> bool {
    let lines = h.lines();
    lines.len().checked_sub(1).is_some_and(|last| lines.ending(last) == LineEnding::None)
}

/// Adds or removes the final newline as a hunk asks for it, if its place reaches the end of the file.
fn settle_final_newline(
    h: &Haystack<'_>,
    place: &Range<usize>,
    wanted: Option<bool>,
    replacements: &mut Vec<Replacement>,
) -> Result<(), Kind> {
    let bytes = h.text().bytes();
    let Some(wanted) = wanted.filter(|_| place.end == bytes.len()) else { return Ok(()) };
    let last = replacements.last_mut().filter(|(range, _)| range.end == bytes.len());
    match last {
        Some((_, text)) if wanted || text.is_empty() => {}
        Some((_, text)) => {
            let kept = split_ending(text).0.len();
            text.truncate(kept);
        }
        None if wanted && is_unended(h) => {
            check_end(h, h.lines().len())?;
            let ending = ending_near(bytes, bytes.len()).unwrap_or(LineEnding::Lf);
            replacements.push((bytes.len()..bytes.len(), ending.bytes().to_vec()));
        }
        None if !wanted && !is_unended(h) && !h.lines().is_empty() => {
            let ending = h.lines().ending(h.lines().len() - 1).bytes().len();
            replacements.push((bytes.len() - ending..bytes.len(), Vec::new()));
        }
        None => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::of_patch;
    use super::*;
    use alloc::format;
    use alloc::string::String;

    use crate::patch::unified;

    fn applied(file: &str, hunks: &str) -> Result<String, Kind> {
        of_patch(file, &unified::parse(&format!("--- a/f\n+++ b/f\n{hunks}"), None).unwrap())
    }

    #[test]
    fn brackets_short_words_and_the_end_of_a_block_say_nothing() {
        for line in ["", "}", "});", "a = b", "  end", "end  ", "if"] {
            assert!(!is_telling(line.as_bytes()), "{line}");
        }
        for line in ["abc", "a+b+c", "end;", "ends", "\u{e9}a", "x = 12"] {
            assert!(is_telling(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_file_gets_the_end_that_the_hunk_of_its_last_line_shows() {
        let unended = "@@ -1,2 +1,2 @@\n-a\n+A\n-b\n+b\n\\ No newline at end of file\n";
        assert_eq!(applied("a\nb\n", unended), Ok("A\nb".into()));
        assert_eq!(applied("a\r\nb\r\n", unended), Ok("A\r\nb".into()));
        let context = "@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n";
        assert_eq!(applied("a\nb", context), Ok("A\nb".into()));
        let ended = "@@ -1,2 +1,2 @@\n-a\n+A\n-b\n\\ No newline at end of file\n+b\n";
        assert_eq!(applied("a\nb", ended), Ok("A\nb\n".into()));
    }

    #[test]
    fn distinctive_lines_are_not_inserted_beside_themselves() {
        let made = || Err(Kind::NoOp { why: NoChange::AlreadyAdded });
        let file = "one two\nnew line\nthree four\n";
        assert_eq!(applied(file, "@@\n one two\n+new line\n"), made());
        assert_eq!(applied(file, "@@\n+new line\n three four\n"), made());
        assert_eq!(applied("new line\nthree four\n", "@@\n+new line\n three four\n"), made());
        // The end of another line is no line.
        assert_eq!(
            applied("my new line\nthree four\n", "@@\n+new line\n three four\n"),
            Ok("my new line\nnew line\nthree four\n".into())
        );
        assert_eq!(applied("one two\n}\n", "@@\n one two\n+}\n"), Ok("one two\n}\n}\n".into()));
        assert_eq!(applied("one two\nend\n", "@@\n one two\n+end\n"), Ok("one two\nend\nend\n".into()));
        // A hunk that does something else too was not made before, but the line is there.
        assert_eq!(
            applied(file, "@@\n one two\n+new line\n new line\n-three four\n+3 4\n"),
            Err(Kind::LineThere { line: 2, text: "new line".into() })
        );
    }

    #[test]
    fn a_hunk_that_grows_by_the_line_beside_it_is_refused() {
        let file = "Name: X\nVersion: 1\nSynopsis: s\nLicense: L\n";
        let line = |hunk: &str| match applied(file, hunk) {
            Err(Kind::LineThere { line, .. }) => Some(line),
            other => other.map(|_| None).unwrap(),
        };
        assert_eq!(line("@@\n+Name: X\n-Version: 1\n+Version: 2\n Synopsis: s\n"), Some(1));
        assert_eq!(line("@@\n Version: 1\n-Synopsis: s\n+Synopsis: t\n+License: L\n"), Some(4));
        assert_eq!(line("@@\n-Version: 1\n+Name: X\n Synopsis: s\n"), None, "it does not grow");
        assert_eq!(line("@@\n Name: X\n-Version: 1\n+Name: X\n+Version: 2\n"), None, "it shows that line");
        assert_eq!(line("@@\n-Version: 1\n+Version: 1\n+Name: X\n+Synopsis: t\n Synopsis: s\n"), None);
    }

    #[test]
    fn an_insertion_that_stands_beyond_blank_lines_was_made() {
        let made = || Err(Kind::NoOp { why: NoChange::AlreadyAdded });
        assert_eq!(applied("one two\n\nnew line\nx\n", "@@\n one two\n+new line\n"), made());
        assert_eq!(applied("new line\n\n\nthree four\n", "@@\n+new line\n+\n three four\n"), made());
    }

    #[test]
    fn lines_that_a_hunk_removes_and_adds_again_keep_their_bytes() {
        let file = "a1\r\nb1\nc1\r\nd1\n";
        assert_eq!(
            applied(file, "@@\n-a1\n-b1\n-c1\n-d1\n+a1\n+B1\n+x1\n+d1\n"),
            Ok("a1\r\nB1\nx1\r\nd1\n".into())
        );
        assert_eq!(applied(file, "@@\n-b1\n+b1\n+x1\n c1\n"), Ok("a1\r\nb1\nx1\nc1\r\nd1\n".into()));
        let same = applied(file, "@@\n-b1\n+b1\n");
        assert!(matches!(same, Err(Kind::NoOp { .. })), "{same:?}");
    }

    #[test]
    fn no_hunk_makes_a_line_ending_of_a_carriage_return() {
        let refused = Err(Kind::CannotPut { line: 2, why: CannotPut::CarriageReturn });
        for hunk in [
            "@@\n b1\r\r\n+c1\r\n",
            "@@\n a1\n b1\n+c1\n",
            "@@ -2,0 +3 @@\n+c1\n",
            // A final newline alone.
            "@@ -1,2 +1,2 @@\n-a1\n+A1\n b1\r\r\n",
        ] {
            let result = applied("a1\nb1\r", hunk);
            assert!(
                result == refused || matches!(result, Ok(ref after) if !after.contains("\r\n")),
                "{hunk:?}: {result:?}"
            );
        }
        assert_eq!(applied("a1\nb1\r", "@@\n a1\n b1\r\r\n+c1\r\n"), refused);
        assert_eq!(applied("a1\nb1\r", "@@\n a1\n+x1\n b1\r\r\n"), Ok("a1\nx1\nb1\r".into()));
        assert_eq!(applied("a1\r\nb1\r", "@@\n a1\n b1\r\r\n+c1\r\n"), Ok("a1\r\nb1\r\r\nc1".into()));
    }

    #[test]
    fn a_blank_last_line_is_not_lost_below_or_in_place_of_one_without_an_ending() {
        let spliced = |file: &str, line: usize, gone: usize, added: &[&str]| {
            let text = crate::text::Text::new(file.into()).unwrap();
            let (range, new) = lines(&Haystack::new(&text), line, gone, added.iter().copied(), None).unwrap();
            format!("{}{}{}", &file[..range.start], String::from_utf8(new).unwrap(), &file[range.end..])
        };
        assert_eq!(spliced("a\nb", 2, 0, &["x", ""]), "a\nb\nx\n\n");
        assert_eq!(spliced("a\nb", 2, 0, &[""]), "a\nb\n\n");
        assert_eq!(spliced("a\r\nb", 1, 1, &[""]), "a\r\n\r\n");
        assert_eq!(spliced("a\nb", 1, 1, &["", "x"]), "a\n\nx");
        assert_eq!(applied("a1\nb1", "@@\n a1\n-b1\n+B1\n+\n"), Ok("a1\nB1\n\n".into()));
    }

    #[test]
    fn a_file_keeps_or_lacks_its_final_newline_unless_the_hunk_says_otherwise() {
        const GONE: &str = "\\ No newline at end of file\n";
        for (file, hunk, result) in [
            ("a1\nb1", "@@\n a1\n-b1\n+B1\n", "a1\nB1"),
            ("a1\nb1\n", "@@\n a1\n-b1\n+B1\n", "a1\nB1\n"),
            ("a1\nb1", "@@\n b1\n+c1\n", "a1\nb1\nc1"),
            ("a1\r\nb1", "@@\n b1\n+c1\n", "a1\r\nb1\r\nc1"),
            ("a1\nb1", "@@\n a1\n-b1\n", "a1\n"),
        ] {
            assert_eq!(applied(file, hunk), Ok(result.into()), "{file:?} {hunk:?}");
        }
        let unended = |before: &str, after: &str| format!("@@ -1,2 +1,2 @@\n a1\n-b1\n{before}+B1\n{after}");
        assert_eq!(applied("a1\nb1", &unended(GONE, GONE)), Ok("a1\nB1".into()));
        assert_eq!(applied("a1\nb1", &unended(GONE, "")), Ok("a1\nB1\n".into()));
        assert_eq!(applied("a1\nb1\n", &unended("", GONE)), Ok("a1\nB1".into()));
        let same = format!("@@ -1,2 +1,2 @@\n a1\n-b1\n{GONE}+b1\n");
        assert_eq!(applied("a1\nb1", &same), Ok("a1\nb1\n".into()));
        let same = format!("@@ -1,2 +1,2 @@\n a1\n-b1\n+b1\n{GONE}");
        assert_eq!(applied("a1\r\nb1\r\n", &same), Ok("a1\r\nb1".into()));
        // What is at the end of the file in the diff must be there in the file.
        let far = applied("a1\nb1\nc1\n", &unended("", GONE));
        assert_eq!(far, Err(Kind::NotAtEndOfFile { line: 1, last: 3 }));
    }
}
