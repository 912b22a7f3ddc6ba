//! SEARCH/REPLACE blocks: those of aider, Roo and cline, in one grammar.
//!
//! ```text
//! request   = (prose | fence | block)*
//! block     = [ name line, see `envelope` ] search  hint*  line*  separator  line*  replace
//! search    = "<"{5,9} " SEARCH" [">"]  |  "-"{3,} " SEARCH" [">"]
//! hint      = ":start_line:" number  |  ":end_line:" number   and after hints  [ "-------" ]
//! separator = "="{5,9}  |  "="{3,}                            the first with "<", the second with "-"
//! replace   = ">"{5,9} " REPLACE"  |  "+"{3,} " REPLACE" [">"]
//! line      = "\" and what would be read as a marker  |  anything else
//! ```
//!
//! The markers of a block are indented alike. If several lines could be the separator, it is the only one
//! as long as the SEARCH line's marks; **if that does not decide it, the block is refused**: the wrong one
//! would put half of the old text into the file. A block without a name is for the file of the one before.
//! An empty SEARCH creates the file; in cline's dialect, the one with dashes, it replaces the whole of it.

mod block;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use self::block::{MarkedBlock, SearchMarker};
use super::envelope::{self, Fence};
use super::lines::{invalid, invalid_text, shorten};
use super::{BlockChange, Change, Hunk, Operation, Patch, Piece, Section};
use crate::problem::Problem;
use crate::problem::malformed::SearchReplace as Fault;

/// Reads SEARCH/REPLACE blocks. `path` is their file if the text names none. All problems are reported.
pub fn parse(text: &str, path: Option<&str>) -> Result<Patch, Vec<Problem>> {
    let lines = envelope::lines(text);
    let mut request = SectionBuilder { path, last: None, hunks: 0, sections: Vec::new() };
    let mut problems = Vec::new();
    // The end of the previous block, above which names are not searched for.
    let mut floor = 0;
    let mut at = 0;
    while at < lines.len() {
        if let Some(search) = SearchMarker::read(lines[at]) {
            let (block, next) = block::read(&lines, at, search);
            let added = block.and_then(|block| request.add(&block, &lines, at, floor));
            problems.extend(added.err());
            (at, floor) = (next, next);
        } else if let Some(after) = after_commands(&lines, at) {
            at = after;
        } else {
            if is_nearly_a_marker(lines[at]) {
                problems.push(refusal(at, Fault::MarkerOutside { text: shorten(lines[at]) }));
            }
            at += 1;
        }
    }
    if request.sections.is_empty() && problems.is_empty() {
        problems.push(invalid_text(Fault::NoBlocks));
    }
    if problems.is_empty() { Ok(Patch { sections: request.sections }) } else { Err(problems) }
}

/// Returns whether this line opens a block. An indented one does not count: it is the content of something else.
pub(super) fn opens_block(line: &str) -> bool {
    SearchMarker::read(line).is_some_and(|search| search.indent.is_empty())
}

/// Returns whether this line was meant as a SEARCH or REPLACE marker, whatever its marks and their number.
pub(super) fn is_nearly_a_marker(line: &str) -> bool {
    let line = line.trim();
    let word = line.trim_start_matches(['<', '>', '=', '+', '-']);
    let marks = line.len() - word.len();
    marks >= 2
        && matches!(word.trim().trim_end_matches(['<', '>', '=', '+', '-']).trim(), "SEARCH" | "REPLACE")
}

fn refusal(at: usize, fault: Fault) -> Problem {
    invalid(at + 1, fault)
}

/// Returns the line after a fence of commands to run, if one opens here and holds no block.
fn after_commands(lines: &[&str], at: usize) -> Option<usize> {
    let fence = Fence::opened_by(lines[at]).filter(Fence::is_shell)?;
    // The search stops at the first possible end, so that a text full of open fences costs no more.
    let end = (at + 1..lines.len())
        .find(|&i| fence.could_hold(lines[i]) || SearchMarker::read(lines[i]).is_some())?;
    fence.is_closed_by(lines[end]).then_some(end + 1)
}

/// A builder of the sections.
struct SectionBuilder<'a> {
    path: Option<&'a str>,
    /// The file of the previous block, even of a refused one.
    last: Option<String>,
    hunks: usize,
    sections: Vec<Section>,
}

impl SectionBuilder<'_> {
    fn add(
        &mut self,
        block: &MarkedBlock<'_>,
        lines: &[&str],
        at: usize,
        floor: usize,
    ) -> Result<(), Problem> {
        let path = self.file_of(lines, at, floor)?;
        let (old, new) = (joined(&block.old), joined(&block.new));
        // Blank old text locates nothing; like an empty one, it stands for a file that does not exist yet.
        if old.trim().is_empty() {
            if block.hint.is_some() {
                return Err(refusal(at, Fault::EmptySearch));
            }
            let whole = block.search.is_cline() && old.is_empty();
            let operation = if whole { Operation::Write(new) } else { Operation::Add(new) };
            self.sections.push(Section::new(&path, operation));
            return Ok(());
        }
        let pieces = pieces(&block.old, &block.new).map_err(|fault| refusal(at, fault))?;
        self.hunks += 1;
        let change = Change::Block(BlockChange { pieces, hint: block.hint });
        let hunk = Hunk { number: self.hunks, change };
        match self.sections.last_mut() {
            Some(Section { path: last, operation: Operation::Update { hunks, .. }, .. }) if *last == path => {
                hunks.push(hunk);
            }
            _ => {
                self.sections.push(Section::update(&path, Vec::from([hunk])));
            }
        }
        Ok(())
    }

    /// Returns the file of the block at this line, from the name above it and the one in the call. Two names agree if one is the
    /// end of the other; then the call's name counts.
    fn file_of(&mut self, lines: &[&str], at: usize, floor: usize) -> Result<String, Problem> {
        let named = envelope::name_above(lines, at, floor).map(|name| name.path);
        if let (Some(named), Some(path)) = (&named, self.path)
            && !envelope::agree(named, path)
        {
            return Err(refusal(at, Fault::AnotherFile { path: path.into(), named: named.clone() }));
        }
        if let Some(path) = self.path.map(String::from).or(named) {
            self.last = Some(path.clone());
            return Ok(path);
        }
        let above = lines[floor..at].iter().rev().find(|line| !line.trim().is_empty()).copied().unwrap_or("");
        match &self.last {
            Some(last) if !envelope::mentions_another(above, last) => Ok(last.clone()),
            _ => Err(refusal(at, Fault::NoFileNamed)),
        }
    }
}

fn joined(lines: &[&str]) -> String {
    let mut text = String::with_capacity(lines.iter().map(|line| line.len() + 1).sum());
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Splits a block at its elisions. If only one side has such lines, or they are indented differently, they can only be
/// content: `...` is a Python statement.
fn pieces(old: &[&str], new: &[&str]) -> Result<Vec<Piece>, Fault> {
    let elisions = |lines: &[&str]| -> Vec<String> {
        lines.iter().filter(|line| line.trim() == "...").map(|line| line.trim_end().to_string()).collect()
    };
    let (in_old, in_new) = (elisions(old), elisions(new));
    if !in_old.is_empty() && !in_new.is_empty() && in_old.len() != in_new.len() {
        return Err(Fault::Elisions { old: in_old.len(), new: in_new.len() });
    }
    if in_old != in_new {
        return Ok(Vec::from([Piece { old: joined(old), new: joined(new), elision: None }]));
    }
    let parts =
        |lines: &[&str]| -> Vec<String> { lines.split(|line| line.trim() == "...").map(joined).collect() };
    let between = core::iter::once(None).chain(in_old.into_iter().map(Some));
    let pieces = parts(old).into_iter().zip(parts(new)).zip(between);
    Ok(pieces.map(|((old, new), elision)| Piece { old, new, elision }).collect())
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    fn blocks(text: &str) -> Vec<BlockChange> {
        blocks_of(&parse(text, Some("a.py")).unwrap())
    }

    fn blocks_of(patch: &Patch) -> Vec<BlockChange> {
        let mut blocks = Vec::new();
        for section in patch.sections() {
            let Operation::Update { hunks, .. } = &section.operation else { continue };
            for hunk in hunks {
                let Change::Block(change) = &hunk.change else { panic!("{hunk:?}") };
                blocks.push(change.clone());
            }
        }
        blocks
    }

    /// Returns the old and new text of a request with one block of one piece.
    fn sides(text: &str) -> (String, String) {
        let [BlockChange { pieces, .. }] = blocks(text).try_into().unwrap();
        let [piece] = pieces.try_into().unwrap();
        (piece.old, piece.new)
    }

    fn refused(text: &str) -> String {
        parse(text, Some("a.py")).unwrap_err().iter().map(|problem| format!("{problem}\n")).collect()
    }

    fn block(old: &str, new: &str) -> String {
        format!("<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n")
    }

    #[test]
    fn every_dialect_is_read() {
        let x_to_y = ("x\n".to_string(), "y\n".to_string());
        for text in [
            "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE",
            "<<<<< SEARCH\nx\n=====\ny\n>>>>> REPLACE\n",
            "<<<<<<<<< SEARCH>\nx\n=========  \ny\n>>>>>>>>> REPLACE  \n",
            "------- SEARCH\nx\n=======\ny\n+++++++ REPLACE",
            "----------- SEARCH\nx\n==========\ny\n+++ REPLACE>",
            "  <<<<<<< SEARCH\nx\n  =======\ny\n  >>>>>>> REPLACE",
            "So:\r\n```py\r\n<<<<<<< SEARCH\r\nx\r\n=======\r\ny\r\n>>>>>>> REPLACE\r\n```\r\nDone.\r\n",
        ] {
            assert_eq!(sides(text), x_to_y, "{text}");
        }
    }

    #[test]
    fn blocks_of_one_file_form_a_section_until_it_is_left() {
        let (one, two) = (block("x\n", "y\n"), block("z\n", ""));
        let patch =
            parse(&format!("a.py\n{one}\n...\n\n{two}b.py\n```\n{one}```\na.py\n{two}"), None).unwrap();
        let sections: Vec<(&str, Vec<usize>)> = patch
            .sections()
            .iter()
            .map(|section| match &section.operation {
                Operation::Update { hunks, .. } => {
                    (section.path.as_str(), hunks.iter().map(|hunk| hunk.number).collect())
                }
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            sections,
            [("a.py", Vec::from([1, 2])), ("b.py", Vec::from([3])), ("a.py", Vec::from([4]))]
        );
    }

    #[test]
    fn a_block_without_a_file_is_refused() {
        let block = block("x\n", "y\n");
        assert!(parse(&format!("Here it is:\n```\n{block}```"), None).is_err());
        let other = format!("a.py\n{block}\nNow edit `src/b.py`:\n\n{block}");
        assert_eq!(parse(&other, None).unwrap_err().len(), 1, "the sentence speaks of another file");
    }

    #[test]
    fn the_name_in_the_text_and_the_argument_must_agree() {
        let block = block("x\n", "y\n");
        let patch = parse(&format!("main.py\n{block}"), Some("src/main.py")).unwrap();
        assert_eq!(patch.sections()[0].path, "src/main.py");
        assert!(parse(&format!("The change:\n{block}"), Some("main.py")).is_ok(), "that is prose");
        let problems = parse(&format!("b.py\n{block}"), Some("main.py")).unwrap_err();
        assert!(problems[0].to_string().contains("b.py") && problems[0].to_string().contains("main.py"));
    }

    #[test]
    fn hints_are_taken_off_and_a_rule_without_one_is_content() {
        let hinted = blocks(&block(":start_line: 12\n:end_line:13\n-------\nx\n", "y\n"));
        assert_eq!((hinted[0].hint, hinted[0].pieces[0].old.as_str()), (Some(12), "x\n"));
        assert_eq!(blocks(&block(":start_line:3\nx\n", "y\n"))[0].hint, Some(3));
        assert_eq!(sides(&block("-------\nx\n", "y\n")).0, "-------\nx\n");
        assert!(refused(&block("x\n", ":start_line:5\ny\n")).contains("line 4"));
        assert!(refused(&block(":start_line:five\nx\n", "y\n")).contains("line 2"));
    }

    #[test]
    fn escaped_markers_are_content() {
        let text = block(
            "a\n\\<<<<<<< SEARCH\n\\=======\n\\>>>>>>> REPLACE\n",
            "\\:start_line:1\n\\-------\n\\\\=======\n",
        );
        let (old, new) = sides(&text);
        assert_eq!(old, "a\n<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE\n");
        assert_eq!(new, ":start_line:1\n-------\n\\=======\n");
        assert_eq!(sides(&block("\\begin\n", "y\n")).0, "\\begin\n");
    }

    #[test]
    fn markers_indented_otherwise_are_content() {
        let inner = "    <<<<<<< SEARCH\n    x\n    =======\n    y\n    >>>>>>> REPLACE\n";
        assert_eq!(sides(&block(inner, "y\n")).0, inner);
    }

    #[test]
    fn the_separator_is_as_long_as_the_search_marks_or_the_only_one() {
        assert_eq!(sides(&block("Title\n=====\nx\n", "Title\n=====\n")).0, "Title\n=====\nx\n");
        assert!(
            refused(&block("<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n", "b\n")).contains("lines: [4, 7]")
        );
        assert!(refused("<<<<<<< SEARCH\nx\n=======\n=======\n>>>>>>> REPLACE").contains("lines: [3, 4]"));
    }

    #[test]
    fn a_second_separator_ends_a_block_only_at_the_end_of_its_fence() {
        let text = "a.py\n```\n<<<<<<< SEARCH\nx\n=======\ny\n=======\n```\n";
        assert_eq!(sides(text), ("x\n".into(), "y\n".into()));
        assert!(parse("a.py\n<<<<<<< SEARCH\nx\n=======\ny\n=======\n", None).is_err());
    }

    #[test]
    fn malformed_markers_are_refused_each_with_its_line() {
        for (text, line) in [
            ("<<<<<<< SEARCH\nx\n=======\ny\n", "line 1"),
            ("<<<<<<< SEARCH\nx\n=======\ny\n<<<<<<< SEARCH", "line 1"),
            ("<<<<<<< SEARCH\nx\n>>>>>>> REPLACE", "line 3"),
            ("<<<<<<< SEARCH>>\nx\n=======\ny\n>>>>>>> REPLACE", "line 1"),
            ("<<-- SEARCH\nx\n=======\ny\n+++++++ REPLACE", "line 1"),
            ("------- SEARCH\nx\n======= \ny\n+++++++ REPLACE", r#"nearly: Some((3, "======= "))"#),
            ("<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>>REPLACE", r#"line: 5, text: ">>>>>>>REPLACE""#),
            ("no block", "NoBlocks"),
        ] {
            assert!(refused(text).contains(line), "{text}\n{}", refused(text));
        }
        let several = format!("{}>>>>>>> REPLACE\n<<<<<<< SEARCH\nx", block("x\n", "y\n"));
        assert_eq!(parse(&several, Some("a")).unwrap_err().len(), 2);
    }

    #[test]
    fn an_empty_search_creates_and_in_clines_dialect_writes() {
        let operation = |text: &str| parse(text, Some("a")).unwrap().sections()[0].operation.clone();
        assert_eq!(operation(&block("", "x\n")), Operation::Add("x\n".into()));
        assert_eq!(operation(&block("\n", "x\n")), Operation::Add("x\n".into()));
        let cline = "------- SEARCH\n=======\nx\n+++++++ REPLACE";
        assert_eq!(operation(cline), Operation::Write("x\n".into()));
        assert!(refused(&block(":start_line:4\n-------\n", "x\n")).contains("EmptySearch"));
    }

    #[test]
    fn elisions_part_a_block_and_stay_with_the_pieces() {
        let parted = blocks(&block("a\n    ...\nb\n", "A\n    ...\nb\n"));
        let piece = |old: &str, new: &str, elision: Option<&str>| Piece {
            old: old.into(),
            new: new.into(),
            elision: elision.map(Into::into),
        };
        assert_eq!(parted[0].pieces, [piece("a\n", "A\n", None), piece("b\n", "b\n", Some("    ..."))]);
        let edges = blocks(&block("...\na\n", "...\nA\n"));
        assert_eq!(edges[0].pieces, [piece("", "", None), piece("a\n", "A\n", Some("..."))]);
        assert_eq!(sides(&block("def f():\n    ...\n", "def f():\n    return 1\n")).0, "def f():\n    ...\n");
        assert_eq!(blocks(&block("  ...\n", "    ...\n"))[0].pieces.len(), 1, "a statement indented anew");
        assert!(refused(&block("a\n...\nb\n...\n", "a\n...\n")).contains("old: 2, new: 1"));
    }

    #[test]
    fn commands_to_run_are_skipped() {
        let text =
            format!("```sh\necho '>>>>>>> REPLACE'\n>>>>>>> REPLACE\n```\na.py\n{}", block("x\n", "y\n"));
        assert_eq!(parse(&text, None).unwrap().sections().len(), 1);
        let script = format!("```sh\nrun.sh\n{}```", block("x\n", "y\n"));
        assert_eq!(parse(&script, None).unwrap().sections()[0].path, "run.sh");
    }
}
