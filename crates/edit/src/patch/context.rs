//! Context diffs, as `diff -c` writes them.
//!
//! ```text
//! text   = (prose | file)*
//! file   = [ "*** " name  "--- " name ]  hunk*                without names, `path` names the file
//! hunk   = "***************"  "*** " range " ****"  old*  "--- " range " ----"  new*
//! old    = ("  " | "- " | "! ") line  |  "\ No newline at end of file"
//! new    = ("  " | "+ " | "! ") line  |  "\ No newline at end of file"
//! range  = line [ "," line ]
//! ```
//!
//! A side without changes may be omitted; it is the context of the other one. Both sides must agree: as many lines as
//! their range, the same context, and `!` in the same places. That is stricter than for unified diffs, where the body
//! decides. Line numbers are hints, as there.

use alloc::string::String;
use alloc::vec::Vec;

use super::body::HunkBody;
use super::git::Header;
use super::lines::{NumberedLine, invalid, numbered, shorten};
use super::raw::{HunkCounter, Numbers, RawHunk};
use super::target::{Target, target};
use super::{Line, Patch, Section};
use crate::problem::Problem;
use crate::problem::malformed::Context;

const STARS: &str = "***************";

/// Reads a context diff. `path` names the file if the diff does not. All problems are reported, not only the first.
pub fn parse(text: &str, path: Option<&str>) -> Result<Patch, Vec<Problem>> {
    let lines = numbered(text);
    let mut parser = Parser { lines: &lines, at: 0, hunks: HunkCounter::default(), problems: Vec::new() };
    let mut sections = Vec::new();
    while let Some(line) = parser.lines.get(parser.at) {
        if parser.names_file() || line.text.starts_with(STARS) {
            sections.extend(parser.file(path));
        } else {
            parser.at += 1;
        }
    }
    let mut problems = parser.problems;
    if sections.is_empty() && problems.is_empty() {
        problems.push(invalid(1, Context::NoDiff));
    }
    if problems.is_empty() { Ok(Patch { sections }) } else { Err(problems) }
}

struct Parser<'a, 'b> {
    lines: &'b [NumberedLine<'a>],
    at: usize,
    hunks: HunkCounter,
    problems: Vec<Problem>,
}

/// A line with its sign.
#[derive(Clone, Copy)]
struct SideLine<'a> {
    sign: u8,
    text: &'a str,
    /// Whether it ended in CRLF.
    cr: bool,
}

/// One side of a hunk.
#[derive(Default)]
struct Side<'a> {
    first: usize,
    lines: Vec<SideLine<'a>>,
    unended: bool,
}

impl<'a> Parser<'a, '_> {
    fn text(&self, ahead: usize) -> &'a str {
        self.lines.get(self.at + ahead).map_or("", |line| line.text)
    }

    fn names_file(&self) -> bool {
        let named = |line: &str, prefix: &str| {
            line.strip_prefix(prefix).is_some_and(|name| !name.trim().is_empty()) && !line.ends_with("****")
        };
        named(self.text(0), "*** ") && named(self.text(1), "--- ") && self.text(2).starts_with(STARS)
    }

    fn file(&mut self, path: Option<&str>) -> Option<Section> {
        let number = self.lines.get(self.at).map_or(1, |line| line.number);
        let before = self.problems.len();
        let mut header = Header { number, ..Header::default() };
        let file = if self.names_file() {
            header.take_sides(&self.text(0)[4..], &self.text(1)[4..]);
            self.at += 2;
            target(&header, path)
        } else {
            match path {
                Some(path) => {
                    Ok(Target { from: path.into(), to: path.into(), created: false, deleted: false })
                }
                None => Err(invalid(number, Context::NoFileNamed)),
            }
        };
        let mut raws = Vec::new();
        while self.text(0).starts_with(STARS) {
            match self.hunk() {
                Ok(raw) => raws.push(raw),
                Err(problem) => {
                    self.problems.push(problem);
                    self.skip();
                }
            }
        }
        match file {
            Ok(file) if self.problems.len() == before => {
                Some(self.hunks.section(&header, file, &raws, &mut self.problems))
            }
            Ok(_) => None,
            Err(problem) => {
                self.problems.push(problem);
                None
            }
        }
    }

    /// Skips to the next hunk or file, so that one mistake is reported once.
    fn skip(&mut self) {
        while self.at < self.lines.len() && !self.text(0).starts_with(STARS) && !self.names_file() {
            self.at += 1;
        }
    }

    fn hunk(&mut self) -> Result<RawHunk, Problem> {
        let NumberedLine { number, cr, .. } = self.lines[self.at];
        self.at += 1;
        let mut old = self.side("*** ", " ****", *b" -!")?;
        let mut new = self.side("--- ", " ----", *b" +!")?;
        let has = |side: &Side<'_>, signs: &[u8]| side.lines.iter().any(|line| signs.contains(&line.sign));
        let refuse = |fault: Context| Err(invalid(number, fault));
        // An omitted side is the context of the other one.
        if old.lines.is_empty() && !has(&new, b"!") {
            old.take_context(&new);
        } else if new.lines.is_empty() && !has(&old, b"!") {
            new.take_context(&old);
        }
        if !has(&old, b"-!") && !has(&new, b"+!") {
            return refuse(Context::NothingChanged);
        }
        let Some(lines) = merged(&old.lines, &new.lines) else {
            return refuse(Context::SidesDiffer);
        };
        let numbers = |side: &Side<'_>| (side.first, side.lines.len());
        Ok(RawHunk {
            number,
            numbers: Some(Numbers { old: numbers(&old), new: numbers(&new) }),
            anchor: None,
            body: HunkBody {
                crs: lines.iter().map(|(_, is_cr)| *is_cr && !cr).collect(),
                lines: lines.into_iter().map(|(line, _)| line).collect(),
                old_unended: old.unended,
                new_unended: new.unended,
                counted: true,
            },
        })
    }

    /// Reads one side of a hunk: its range, and all or none of its lines.
    fn side(
        &mut self,
        prefix: &'static str,
        suffix: &'static str,
        signs: [u8; 3],
    ) -> Result<Side<'a>, Problem> {
        let line = self.text(0);
        let number = self.lines.get(self.at).map_or(self.lines.len(), |line| line.number);
        let range = line.trim_end().strip_prefix(prefix).and_then(|rest| range(rest.strip_suffix(suffix)?));
        let Some((first, count)) = range else {
            let text = shorten(line);
            return Err(invalid(number, Context::NotARange { text, prefix, suffix }));
        };
        self.at += 1;
        let mut side = Side { first, ..Side::default() };
        let rest = &self.lines[self.at..];
        let read = |line: &NumberedLine<'a>| {
            marked(line.text, signs).map(|(sign, text)| SideLine { sign, text, cr: line.cr })
        };
        let clear = rest.first().is_some_and(|line| line.text.len() > 1 && read(line).is_some());
        side.lines = rest.iter().take(count).map_while(read).collect();
        // A single number stands for one line, or for no line after that number.
        let none = side.lines.is_empty() && !line.contains(',');
        let more = rest.get(count).and_then(read).is_some_and(|line| line.sign != b' ');
        if !none && (side.lines.len() < count || more) {
            if clear {
                return Err(invalid(number, Context::LinesMissing { count }));
            }
            side.lines.clear();
            return Ok(side);
        }
        self.at += side.lines.len();
        if self.text(0).starts_with("\\ ") && !side.lines.is_empty() {
            side.unended = true;
            self.at += 1;
        }
        Ok(side)
    }
}

impl Side<'_> {
    /// Takes the context of the other side as its lines.
    fn take_context(&mut self, other: &Self) {
        self.lines = other.lines.iter().filter(|line| line.sign == b' ').copied().collect();
        self.unended = other.unended && other.lines.last().is_some_and(|line| line.sign == b' ');
    }
}

/// Reads `5,7` or `5` as the first line and the highest possible count.
fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((first, last)) => {
            let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
            Some((first, last.checked_sub(first)?.checked_add(1)?))
        }
        None => {
            let first = text.parse().ok()?;
            Some((first, usize::from(first > 0)))
        }
    }
}

/// Splits a line of a side into its sign and its text. Trailing white space may have been lost.
fn marked(line: &str, signs: [u8; 3]) -> Option<(u8, &str)> {
    let sign = line.bytes().next().unwrap_or(b' ');
    let text = line.get(1..).unwrap_or("");
    let text = if text.is_empty() { text } else { text.strip_prefix(' ')? };
    signs.contains(&sign).then_some((sign, text))
}

/// Merges the two sides into one list of lines, if they agree, each with whether it ended in CRLF.
fn merged(old: &[SideLine<'_>], new: &[SideLine<'_>]) -> Option<Vec<(Line, bool)>> {
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::with_capacity(old.len() + new.len());
    let of = |kind: fn(String) -> Line| move |line: &SideLine<'_>| (kind(line.text.into()), line.cr);
    loop {
        let changed = |side: &[SideLine<'_>]| side.iter().take_while(|line| line.sign != b' ').count();
        let (gone, come) = (changed(&old[i..]), changed(&new[j..]));
        let (removed, added) = (&old[i..i + gone], &new[j..j + come]);
        let replaces = |run: &[SideLine<'_>]| run.iter().any(|line| line.sign == b'!');
        if replaces(removed) != replaces(added) {
            return None;
        }
        lines.extend(removed.iter().map(of(Line::Removed)).chain(added.iter().map(of(Line::Added))));
        (i, j) = (i + gone, j + come);
        match (old.get(i), new.get(j)) {
            (None, None) => return Some(lines),
            (Some(old), Some(new)) if old.text == new.text => lines.push(of(Line::Context)(old)),
            _ => return None,
        }
        (i, j) = (i + 1, j + 1);
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::patch::{Change, LineChange, Operation, RangeChange};
    use crate::problem::Kind;

    fn only(text: &str) -> Operation {
        let mut patch = parse(text, None).unwrap();
        assert_eq!((patch.sections.len(), &patch.sections[0].path[..]), (1, "f"));
        patch.sections.remove(0).operation
    }

    fn change_of(hunk: &str) -> Change {
        match only(&format!("*** f\t2024\n--- f\t2024\n{STARS}\n{hunk}")) {
            Operation::Update { mut hunks, .. } => hunks.remove(0).change,
            operation => panic!("{operation:?}"),
        }
    }

    fn lines_of(hunk: &str) -> LineChange {
        match change_of(hunk) {
            Change::Lines(change) => change,
            change => panic!("{change:?}"),
        }
    }

    fn refusal(text: &str) -> String {
        parse(text, None).unwrap_err().iter().map(|problem| format!("{problem}\n")).collect()
    }

    #[test]
    fn the_two_sides_become_one_list() {
        let change =
            lines_of("*** 2,6 ****\n  a\n! b\n  c\n- d\n  e\n--- 2,6 ----\n  a\n! B\n! BB\n  c\n  e\n");
        let text = |line: &str| String::from(line);
        assert_eq!(
            change.lines,
            [
                Line::Context(text("a")),
                Line::Removed(text("b")),
                Line::Added(text("B")),
                Line::Added(text("BB")),
                Line::Context(text("c")),
                Line::Removed(text("d")),
                Line::Context(text("e")),
            ]
        );
        assert_eq!((change.hint, change.at_end, change.final_newline), (Some(2), false, None));
    }

    #[test]
    fn a_side_without_changes_may_be_left_out() {
        let added = lines_of("*** 1,2 ****\n--- 1,3 ----\n  a\n+ b\n  c\n");
        assert_eq!(added.lines.len(), 3);
        let removed = lines_of("*** 1,3 ****\n  a\n- b\n  c\n--- 1,2 ----\n\nProse.\n\n- bullet\n");
        assert_eq!(removed.lines.len(), 3);
    }

    #[test]
    fn a_side_without_lines_goes_by_its_number() {
        let change = RangeChange { first: 6, count: 0, lines: alloc::vec!["x".into()] };
        assert_eq!(change_of("*** 5 ****\n--- 6 ----\n+ x\n"), Change::Range(change));
        let filled = format!("*** f\n--- f\n{STARS}\n*** 0 ****\n--- 1,2 ----\n+ x\n+ y\n");
        assert_eq!(only(&filled), Operation::Fill("x\ny\n".into()));
    }

    #[test]
    fn the_final_newline_of_both_sides_is_told_apart() {
        let end = |hunk: &str| {
            let change = lines_of(&hunk.replace('~', "\\ No newline at end of file"));
            (change.final_newline, change.at_end)
        };
        assert_eq!(end("*** 1 ****\n! a\n~\n--- 1 ----\n! b\n"), (Some(true), true));
        assert_eq!(end("*** 1 ****\n! a\n--- 1 ----\n! b\n~\n"), (Some(false), false));
        assert_eq!(end("*** 1 ****\n--- 1,2 ----\n+ a\n  b\n~\n"), (None, true));
        assert_eq!(end("*** 1,2 ****\n  b\n- a\n~\n--- 1 ----\n"), (Some(true), true));
    }

    #[test]
    fn new_and_deleted_files_are_read() {
        let added = only(&format!("*** /dev/null\n--- f\n{STARS}\n*** 0 ****\n--- 1,2 ----\n+ a\n+ \n"));
        assert_eq!(added, Operation::Add("a\n\n".into()));
        let gone = only(&format!("*** f\n--- /dev/null\n{STARS}\n*** 1 ****\n- a\n--- 0 ----\n"));
        assert_eq!(gone, Operation::Delete { content: Some("a\n".into()) });
        let dated = "*** f\t1970-01-01 00:00:00.000000000 +0000\n--- f\t2024\n";
        let added = only(&format!("{dated}{STARS}\n*** 0 ****\n--- 1 ----\n+ a\n"));
        assert_eq!(added, Operation::Add("a\n".into()));
    }

    #[test]
    fn prose_fences_and_a_path_in_place_of_names() {
        let hunk = format!("{STARS}\n*** 1 ****\n! a\n--- 1 ----\n! b\n");
        let patch = parse(&format!("Do this:\n```\n{hunk}```\nThanks\n"), Some("g")).unwrap();
        assert_eq!(patch.sections()[0].path, "g");
        assert!(refusal(&hunk).contains("NoFileNamed"));
    }

    #[test]
    fn every_problem_is_reported() {
        let diff = format!(
            "*** f\n--- f\n{STARS}\n*** 1 ****\n! a\n--- 1 ----\n  b\n{STARS}\n*** 1,3 ****\n! a\n--- 1 ----\n! \
             b\n{STARS}\n*** x ****\n*** g\n--- h\n{STARS}\n*** 1 ****\n! a\n--- 1 ----\n! b\n"
        );
        let problems = parse(&diff, None).unwrap_err();
        let lines = problems.iter().map(|problem| match *problem.kind {
            Kind::InvalidFormat { line, .. } => line,
            _ => None,
        });
        assert_eq!(lines.collect::<Vec<_>>(), [3, 9, 14, 15].map(Some), "{problems:?}");
        assert!(refusal("nothing").contains("NoDiff"));
    }

    #[test]
    fn names_that_do_not_agree_are_refused_with_the_line_on_which_they_stand() {
        let hunk = format!("{STARS}\n*** 1 ****\n! a\n--- 1 ----\n! b\n");
        let file = |name: &str| format!("*** {name}\t2024\n--- {name}\t2024\n{hunk}");
        let problems = parse(&[file("f"), file("g")].concat(), Some("f")).unwrap_err();
        let kinds: Vec<&Kind> = problems.iter().map(|problem| &*problem.kind).collect();
        assert!(matches!(kinds[..], [Kind::InvalidFormat { line: Some(8), .. }]), "{kinds:?}");
    }
}
