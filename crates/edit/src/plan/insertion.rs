//! Placing of lines that are inserted beside a text which stays, or at an end of the file.
//!
//! They become lines of their own, above or below the lines of the text, so no insertion joins or parts a line. Where
//! the text has only a part of the line beside which they would go, the insertion is refused ([`Kind::PartOfLine`]):
//! the part may be meant, and not the line.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::place::Placer;
use super::splice::{is_telling, stand_beside};
use crate::find::{self, BlockForm, FAITHFUL, LITERAL, Layer, Needle, contents};
use crate::patch::{Insertion, Line, Side};
use crate::problem::{Kind, NoChange};

impl Placer<'_> {
    /// Inserts lines where the request says.
    pub(super) fn insertion(&mut self, number: usize, insertion: &Insertion) -> Result<(), Kind> {
        let added: Vec<Line> = insertion.lines.iter().cloned().map(Line::Added).collect();
        let Some(text) = &insertion.beside else {
            let total = self.haystack.lines().len();
            let line = match insertion.side {
                Side::Before => 0,
                Side::After => total,
            };
            self.insert_lines(number, line, insertion, &added)?;
            let end = if line == 0 { self.haystack.text().body().start } else { self.bytes().len() };
            self.record(number, &(end..end), Layer::Exact, 0, 1, Vec::new());
            return Ok(());
        };
        let wanted = Needle::Bytes(text.as_bytes());
        let Some(found) = find::locate(&self.haystack, &wanted, LITERAL, self.limits, self.budget)? else {
            return self.insert_beside_lines(number, text, insertion.side, &added);
        };
        let beside = self.lines_beside(&found.range, insertion.side)?;
        self.check_anchor_is_left_out(&beside, insertion)?;
        self.check_insertion_indentation(&found.range, &insertion.lines)?;
        let line = match insertion.side {
            Side::Before => beside.start,
            Side::After => beside.end,
        };
        self.insert_lines(number, line, insertion, &added)?;
        self.builder.claim(number, found.range.clone());
        self.record(number, &found.range, found.layer, beside.len(), 1, Vec::new());
        Ok(())
    }

    /// Returns the lines at a place, all of them in whole on the side where others are to come.
    fn lines_beside(&self, place: &Range<usize>, side: Side) -> Result<Range<usize>, Kind> {
        let lines = self.haystack.lines();
        let first = lines.index_of(place.start);
        let last = lines.index_of(place.end.saturating_sub(1).max(place.start));
        let end = lines.start(last) + lines.content(last).len();
        let (line, rest) = match side {
            Side::Before => (first, &self.bytes()[lines.start(first)..place.start]),
            Side::After => (last, &self.bytes()[place.end.min(end)..end]),
        };
        if !rest.trim_ascii().is_empty() {
            let shown = find::shown(&self.haystack, place);
            return Err(Kind::PartOfLine { line: line + 1, shown });
        }
        Ok(first..last + 1)
    }

    /// Refuses lines of which one is less indented than the text beside which they go, if that text was given without
    /// its indentation: they may have lost theirs, or not.
    fn check_insertion_indentation(&self, place: &Range<usize>, added: &[String]) -> Result<(), Kind> {
        let lines = self.haystack.lines();
        let line = lines.index_of(place.start);
        let lost = &self.bytes()[lines.start(line)..place.start];
        let is_shallow = |added: &String| {
            let indent = added.len() - added.trim_start_matches([' ', '\t']).len();
            is_telling(added.as_bytes()) && indent < lost.len()
        };
        if lost.trim_ascii().is_empty() && added.iter().any(is_shallow) {
            let shown = find::shown(&self.haystack, place);
            return Err(Kind::IndentationMismatch { line: line + 1, shown });
        }
        Ok(())
    }

    /// Inserts lines before line `line`, unless they stand there already on the side where they would come to stand.
    fn insert_lines(
        &mut self,
        number: usize,
        line: usize,
        insertion: &Insertion,
        added: &[Line],
    ) -> Result<(), Kind> {
        self.check_added(added)?;
        let given: Vec<&str> = insertion.lines.iter().map(String::as_str).collect();
        if stand_beside(&self.haystack, line, &given).is_some() {
            return Err(Kind::NoOp { why: NoChange::AlreadyAdded });
        }
        let text: usize = insertion.lines.iter().map(|line| line.len() + 2).sum();
        self.limits.check_file(self.bytes().len().saturating_add(text))?;
        self.insert(number, line, added, None)
    }

    /// Refuses lines that begin or end with those of the file beside which they go: these stay, and would be there twice.
    fn check_anchor_is_left_out(&self, beside: &Range<usize>, insertion: &Insertion) -> Result<(), Kind> {
        let (lines, added) = (self.haystack.lines(), &insertion.lines);
        let same =
            |at: usize, added: &String| lines.content(at).trim_ascii() == added.as_bytes().trim_ascii();
        let repeats = |count: usize| {
            let (at, from) = match insertion.side {
                Side::Before => (beside.start..beside.start + count, added.len() - count),
                Side::After => (beside.end - count..beside.end, 0),
            };
            at.clone().any(|at| is_telling(lines.content(at)))
                && at.zip(&added[from..]).all(|(at, added)| same(at, added))
        };
        match (1..=beside.len().min(added.len())).any(repeats) {
            true => Err(Kind::AnchorRepeated { line: beside.start + 1 }),
            false => Ok(()),
        }
    }

    /// Inserts lines beside whole lines that a looser layer finds. The last layer is not asked: it is for lines that
    /// change, and here none does.
    fn insert_beside_lines(
        &mut self,
        number: usize,
        text: &str,
        side: Side,
        added: &[Line],
    ) -> Result<(), Kind> {
        let context = text.lines().map(|line| Line::Context(line.into()));
        let lines: Vec<Line> = match side {
            Side::Before => added.iter().cloned().chain(context).collect(),
            Side::After => context.chain(added.iter().cloned()).collect(),
        };
        match self.locate_anywhere(&lines, BlockForm::Text, &[], &FAITHFUL[LITERAL.len()..]) {
            Ok(Some(found)) => {
                self.check_added(added)?;
                self.splice(number, &lines, found, None);
                Ok(())
            }
            Ok(None) | Err(Kind::Unclear) => {
                let new: Vec<&[u8]> = lines.iter().filter_map(Line::after).map(str::as_bytes).collect();
                let near = Box::new(self.near(&contents(text.as_bytes()), &new));
                Err(Kind::SearchNotFound { near })
            }
            Err(kind) => Err(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::sync::Arc;
    use alloc::vec;

    use super::*;
    use crate::find::FindLimits;
    use crate::patch::{Change, Patch, TextChange};
    use crate::plan::{Source, Sources, build};
    use crate::problem::Code;
    use crate::text::Text;
    use proptest::prelude::*;

    fn above(beside: &str, text: &str) -> Change {
        insertion(Some(beside), Side::Before, text)
    }

    fn below(beside: &str, text: &str) -> Change {
        insertion(Some(beside), Side::After, text)
    }

    fn at_end(text: &str) -> Change {
        insertion(None, Side::After, text)
    }

    fn insertion(beside: Option<&str>, side: Side, text: &str) -> Change {
        let lines = text.split('\n').map(String::from).collect();
        Change::Insertion(Insertion { beside: beside.map(String::from), side, lines })
    }

    fn made(file: &str, changes: Vec<Change>) -> Result<String, Code> {
        let mut sources = Sources::default();
        sources.insert("a", "a", Source::Present(Arc::new(Text::new(file.into()).unwrap())));
        let patch = Patch::replace("a", changes).map_err(|problem| problem.code())?;
        let plan = build(&patch, &sources, &FindLimits::default()).map_err(|problems| problems[0].code())?;
        let pieces = plan.files()[0].action.pieces().unwrap().concat();
        Ok(String::from_utf8(pieces).unwrap())
    }

    #[test]
    fn no_line_below_makes_an_ending_of_a_carriage_return() {
        let change = |change| made("a\nb\r", alloc::vec![change]);
        assert_eq!(change(at_end("x")), Err(Code::NotEncodable));
        assert_eq!(change(below("b", "x")), Err(Code::NotEncodable));
        assert_eq!(change(above("b", "x")), Ok("a\nx\nb\r".into()));
        assert_eq!(made("a\r\nb\r", alloc::vec![at_end("x")]), Ok("a\r\nb\r\r\nx".into()));
    }

    #[test]
    fn lines_go_above_or_below_the_lines_of_the_text() {
        for (change, result) in [
            (above("  b(1)", "  x"), "a\n  x\n  b(1)\nc\n"),
            (above("  b(", "  x\n\n  y"), "a\n  x\n\n  y\n  b(1)\nc\n"),
            (below("(1)", "x"), "a\n  b(1)\nx\nc\n"),
            (below("  b(1)\n", "  x"), "a\n  b(1)\n  x\nc\n"),
            (below("a\n  b(1)", ""), "a\n  b(1)\n\nc\n"),
            (below("c", "x"), "a\n  b(1)\nc\nx\n"),
            (at_end("x\ny"), "a\n  b(1)\nc\nx\ny\n"),
            (insertion(None, Side::Before, "x"), "x\na\n  b(1)\nc\n"),
            // A looser layer finds the line.
            (below("  b(1) \nc", "x"), "a\n  b(1)\nc\nx\n"),
        ] {
            assert_eq!(made("a\n  b(1)\nc\n", vec![change.clone()]).as_deref(), Ok(result), "{change:?}");
        }
    }

    #[test]
    fn an_empty_text_is_no_place() {
        assert_eq!(made("a\n", vec![above("", "x")]), Err(Code::InvalidFormat));
    }

    #[test]
    fn lines_are_not_glued_to_one_that_another_edit_changes() {
        let text = |old: &str, new: &str| {
            Change::Text(TextChange { old: old.into(), new: new.into(), all: false, expected: None })
        };
        for changes in [
            vec![text("x;\n", "y;"), at_end("// end")],
            vec![text(" [\n", " ["), above("  1,", "  # first")],
            vec![text(" [\n", ""), above("  1,", "  # first")],
        ] {
            assert_eq!(made("a = [\n  1,\n]\nx;\n", changes), Err(Code::OverlappingEdits));
        }
        let whole = vec![text("a = [\n", "b = [\n"), above("  1,", "  0,")];
        assert_eq!(made("a = [\n  1,\n]\n", whole).as_deref(), Ok("b = [\n  0,\n  1,\n]\n"));
        let gone = vec![text("a\n", ""), above("b", "x")];
        assert_eq!(made("a\nb\n", gone).as_deref(), Ok("x\nb\n"));
    }

    #[test]
    fn a_part_of_a_line_is_refused_where_lines_would_go_beside_it() {
        let file = "one two three\n";
        assert_eq!(made(file, vec![below("two", "x")]), Err(Code::InvalidArgument));
        assert_eq!(made(file, vec![above("two", "x")]), Err(Code::InvalidArgument));
        assert_eq!(made(file, vec![below("three", "x")]).as_deref(), Ok("one two three\nx\n"));
        assert_eq!(made(file, vec![above("one", "x")]).as_deref(), Ok("x\none two three\n"));
    }

    #[test]
    fn no_line_is_glued_to_the_last_one() {
        assert_eq!(made("a", vec![at_end("x"), at_end("y")]).as_deref(), Ok("a\nx\ny"));
        assert_eq!(made("a\r\nb", vec![at_end("x")]).as_deref(), Ok("a\r\nb\r\nx"));
        assert_eq!(made("a\r\n", vec![at_end("x")]).as_deref(), Ok("a\r\nx\r\n"));
        assert_eq!(made("", vec![at_end("x")]).as_deref(), Ok("x\n"));
        assert_eq!(made("a", vec![below("a", "x")]).as_deref(), Ok("a\nx"));
        assert_eq!(made("a", vec![above("a", "x")]).as_deref(), Ok("x\na"));
        assert_eq!(made("\u{feff}a\n", vec![above("a", "x")]).as_deref(), Ok("\u{feff}x\na\n"));
    }

    #[test]
    fn lines_that_were_inserted_are_not_inserted_again() {
        for change in [below("a", "three"), above("c", "three"), at_end("three"), below("b", "four\n")] {
            let once = made("a\nb\nc", vec![change.clone()]).unwrap();
            assert_eq!(made(&once, vec![change.clone()]), Err(Code::NoOp), "{change:?}");
        }
        assert_eq!(made("a\n\nthree\n", vec![below("a", "three")]), Err(Code::NoOp), "beyond a blank line");
    }

    #[test]
    fn the_lines_beside_which_others_go_are_left_out_of_these() {
        let refused = Err(Code::InvalidArgument);
        assert_eq!(made("import os\n", vec![below("import os", "import os\nimport re")]), refused);
        assert_eq!(made("x = 1\n  call()\n", vec![below("x = 1\n  call()", "call()\nmore()")]), refused);
        assert_eq!(made("call()\n", vec![above("call()", "more()\ncall()")]), refused);
        let others = [below("call()", "more()\ncall()"), above("call()", "call(1)")];
        assert!(others.into_iter().all(|change| made("call()\n", vec![change]).is_ok()));
        assert_eq!(made("}\n", vec![below("}", "}\nmore()")]).as_deref(), Ok("}\n}\nmore()\n"), "no word");
    }

    #[test]
    fn the_text_must_stand_once_and_with_its_indentation() {
        assert_eq!(made("a\na\n", vec![below("a", "x")]), Err(Code::AmbiguousMatch));
        assert_eq!(made("a\n", vec![below("b", "x")]), Err(Code::SearchNotFound));
        let file = "def f():\n    return 1\n";
        assert_eq!(made(file, vec![above("return 1", "log()")]), Err(Code::IndentationMismatch));
        assert_eq!(
            made(file, vec![above("return 1", "    log()")]).as_deref(),
            Ok("def f():\n    log()\n    return 1\n")
        );
    }

    #[test]
    fn an_edit_of_the_lines_beside_is_refused_and_one_elsewhere_is_not() {
        let edit = |old: &str, new: &str| {
            let change = crate::patch::TextChange { old: old.into(), new: new.into(), ..Default::default() };
            Change::from(change)
        };
        assert_eq!(made("a\nb", vec![below("a", "x"), edit("a", "y")]), Err(Code::OverlappingEdits));
        assert_eq!(made("a\nb", vec![below("a", "x"), edit("b", "y")]).as_deref(), Ok("a\nx\ny"));
        assert_eq!(made("a\nb", vec![at_end("x"), edit("b", "y")]), Err(Code::OverlappingEdits));
    }

    proptest! {
        /// Every line of the file stays, in its order, and the new ones are together on the side that was asked for.
        #[test]
        fn lines_are_inserted_whole(
            file in prop::collection::vec("[ab ]{1,4}", 1..6),
            ended in any::<bool>(), crlf in any::<bool>(), side in any::<bool>(),
            at in any::<prop::sample::Index>(), added in prop::collection::vec("[xy ]{1,3}", 1..3),
        ) {
            let has_ending = ended || file.len() > 1;
            let ending = if crlf && has_ending { "\r\n" } else { "\n" };
            let mut counts = BTreeMap::new();
            file.iter().for_each(|line| *counts.entry(line.trim()).or_insert(0) += 1);
            let at = at.index(file.len());
            let join = |lines: &[String]| lines.join(ending) + if ended { ending } else { "" };
            let side = if side { Side::Before } else { Side::After };
            let change = insertion(Some(&file[at]), side, &added.join("\n"));
            let mut wanted = file.clone();
            let from = if side == Side::Before { at } else { at + 1 };
            wanted.splice(from..from, added.iter().cloned());
            match made(&join(&file), vec![change]) {
                Ok(result) => prop_assert_eq!(result, join(&wanted)),
                Err(Code::AmbiguousMatch) => {
                    prop_assert!(join(&file).match_indices(&file[at]).count() > 1 || counts.len() < file.len());
                }
                Err(Code::InvalidArgument) => prop_assert!(file.iter().any(|line| line.len() > file[at].len())),
                Err(other) => prop_assert!(false, "{:?}", other),
            }
        }
    }
}
