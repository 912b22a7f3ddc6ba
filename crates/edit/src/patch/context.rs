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

use super::git::Header;
use super::lines::{NumberedLine, invalid, numbered, shorten};
use super::target::{Target, target};
use super::{Change, Hunk, Line, LineChange, Operation, Patch, RangeChange, Section};
use crate::problem::Problem;
use crate::problem::malformed::Context;

const STARS: &str = "***************";

/// Reads a context diff. `path` names the file if the diff does not. All problems are reported, not only the first.
pub fn parse(text: &str, path: Option<&str>) -> Result<Patch, Vec<Problem>> {
    let lines = numbered(text);
    let mut parser = Parser { lines: &lines, at: 0, hunks: 0, problems: Vec::new() };
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
    hunks: usize,
    problems: Vec<Problem>,
}

/// One side of a hunk.
#[derive(Default)]
struct Side<'a> {
    first: usize,
    /// The lines, each with its sign.
    lines: Vec<(u8, &'a str)>,
    /// Which of the lines ended in CRLF.
    crs: Vec<bool>,
    unended: bool,
}

/// A parsed hunk.
struct RawHunk {
    number: usize,
    lines: Vec<Line>,
    /// The line at which the old side begins.
    first: usize,
    /// Whether the range of the old side is 0, that of a file without lines.
    old_nothing: bool,
    new_nothing: bool,
    old_unended: bool,
    new_unended: bool,
    /// Which lines of the new side ended in CRLF, though the diff's own do not.
    new_crs: Vec<bool>,
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
            Ok(mut file) => {
                if let [raw] = &raws[..] {
                    file.created |= header.old_dated_nothing && raw.old_nothing;
                    file.deleted |= header.new_dated_nothing && raw.new_nothing;
                }
                let section = self.section(&file, &raws);
                (self.problems.len() == before).then_some(section)
            }
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

    fn section(&mut self, file: &Target, raws: &[RawHunk]) -> Section {
        let all = |wanted: fn(&Line) -> bool| raws.iter().all(|raw| raw.lines.iter().all(wanted));
        // All lines are of one side, so they are in its order.
        let content = |is_new: bool| {
            let mut text = String::new();
            for raw in raws {
                for (i, line) in raw.lines.iter().enumerate() {
                    text.push_str(line.before().or(line.after()).unwrap_or_default());
                    let cr = is_new && raw.new_crs.get(i) == Some(&true);
                    text.push_str(if cr { "\r\n" } else { "\n" });
                }
                let unended = if is_new { raw.new_unended } else { raw.old_unended };
                if unended {
                    text.pop();
                }
            }
            text
        };
        let operation = if file.deleted {
            if !all(|line| matches!(line, Line::Removed(_))) {
                let number = raws.first().map_or(1, |raw| raw.number);
                self.problems.push(invalid(number, Context::DeletedButKept));
            }
            Operation::Delete { content: Some(content(false)) }
        } else if file.created && all(|line| matches!(line, Line::Added(_))) {
            Operation::Add(content(true))
        } else {
            let hunks = raws.iter().map(|raw| {
                self.hunks += 1;
                Hunk { number: self.hunks, change: change(raw) }
            });
            Operation::Update { hunks: hunks.collect(), move_to: None }
        };
        Section::new(&file.from, operation)
    }

    fn hunk(&mut self) -> Result<RawHunk, Problem> {
        let NumberedLine { number, cr, .. } = self.lines[self.at];
        self.at += 1;
        let mut old = self.side("*** ", " ****", *b" -!")?;
        let mut new = self.side("--- ", " ----", *b" +!")?;
        let has = |side: &Side<'_>, signs: &[u8]| side.lines.iter().any(|(sign, _)| signs.contains(sign));
        let refuse = |fault: Context| Err(invalid(number, fault));
        if old.lines.is_empty() && !has(&new, b"!") {
            // An omitted side is the context of the other one.
            old.lines = new.lines.iter().filter(|(sign, _)| *sign == b' ').copied().collect();
            old.unended = new.unended && new.lines.last().is_some_and(|(sign, _)| *sign == b' ');
        } else if new.lines.is_empty() && !has(&old, b"!") {
            new.lines = old.lines.iter().filter(|(sign, _)| *sign == b' ').copied().collect();
            new.unended = old.unended && old.lines.last().is_some_and(|(sign, _)| *sign == b' ');
        }
        if !has(&old, b"-!") && !has(&new, b"+!") {
            return refuse(Context::NothingChanged);
        }
        let Some(lines) = merged(&old.lines, &new.lines) else {
            return refuse(Context::SidesDiffer);
        };
        Ok(RawHunk {
            number,
            lines,
            first: old.first,
            old_nothing: old.first == 0,
            new_nothing: new.first == 0,
            old_unended: old.unended,
            new_unended: new.unended,
            new_crs: new.crs.iter().map(|&is_cr| is_cr && !cr).collect(),
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
        let clear = self.text(0).len() > 1 && marked(self.text(0), signs).is_some();
        let rest = &self.lines[self.at..];
        let read = |line: &NumberedLine<'a>| marked(line.text, signs);
        let lines: Vec<(u8, &str)> = rest.iter().take(count).map_while(read).collect();
        // A single number stands for one line, or for no line after that number.
        let none = lines.is_empty() && !line.contains(',');
        let more = rest.get(count).and_then(read).is_some_and(|(sign, _)| sign != b' ');
        if !none && (lines.len() < count || more) {
            if clear {
                return Err(invalid(number, Context::LinesMissing { count }));
            }
            return Ok(side);
        }
        side.crs = rest[..lines.len()].iter().map(|line| line.cr).collect();
        self.at += lines.len();
        side.lines = lines;
        if self.text(0).starts_with("\\ ") && !side.lines.is_empty() {
            side.unended = true;
            self.at += 1;
        }
        Ok(side)
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

/// Merges the two sides into one list of lines, if they agree.
fn merged(old: &[(u8, &str)], new: &[(u8, &str)]) -> Option<Vec<Line>> {
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::with_capacity(old.len() + new.len());
    loop {
        let changed = |side: &[(u8, &str)]| side.iter().take_while(|(sign, _)| *sign != b' ').count();
        let (gone, come) = (changed(&old[i..]), changed(&new[j..]));
        let (removed, added) = (&old[i..i + gone], &new[j..j + come]);
        let replaces = |run: &[(u8, &str)]| run.iter().any(|(sign, _)| *sign == b'!');
        if replaces(removed) != replaces(added) {
            return None;
        }
        lines.extend(removed.iter().map(|(_, text)| Line::Removed((*text).into())));
        lines.extend(added.iter().map(|(_, text)| Line::Added((*text).into())));
        (i, j) = (i + gone, j + come);
        match (old.get(i), new.get(j)) {
            (None, None) => return Some(lines),
            (Some((_, old)), Some((_, new))) if old == new => lines.push(Line::Context((*old).into())),
            _ => return None,
        }
        (i, j) = (i + 1, j + 1);
    }
}

fn change(raw: &RawHunk) -> Change {
    let no_old = raw.lines.iter().all(|line| line.before().is_none());
    if no_old && !raw.new_unended {
        let lines = raw.lines.iter().filter_map(Line::after).map(String::from).collect();
        return Change::Range(RangeChange { first: raw.first.saturating_add(1), count: 0, lines });
    }
    let final_newline = match (raw.old_unended, raw.new_unended) {
        (true, false) if !raw.new_nothing => Some(true),
        (false, true) => Some(false),
        _ => None,
    };
    Change::Lines(LineChange {
        anchors: Vec::new(),
        lines: raw.lines.clone(),
        at_end: raw.old_unended,
        hint: Some(raw.first).filter(|&line| line > 0),
        final_newline,
    })
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
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
        assert!(matches!(change_of("*** 0 ****\n--- 1,2 ----\n+ x\n+ y\n"), Change::Range(_)));
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
