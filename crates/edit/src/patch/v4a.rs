//! The V4A patch: Codex's grammar, read strictly where a guess could edit wrongly.
//!
//! ```text
//! patch    = "*** Begin Patch" [ "*** Environment ID: " id ] section+ "*** End Patch"
//! section  = "*** Add File: " path  ("+" line)*
//!          | "*** Delete File: " path
//!          | "*** Update File: " path  [ "*** Move to: " path ]  hunk*
//!          | "*** Move File: " path " -> " path
//! hunk     = ("@@" [ " " line [" @@"] ])*  (" " line | "-" line | "+" line | "")+  [ "*** End of File" ]
//! ```
//!
//! The first hunk of a section may omit its `@@`; an empty line is an empty context line, and those before the next
//! header are ignored. Several `@@` lines narrow the place one after another. A section may be a mere move. Around the
//! patch there may be white space, what `wrapper` knows (a code fence, a tag, a here-document), and prose. One
//! of these or a blank line must separate the prose: text right before Begin or after End may be a misplaced part of
//! the patch. A missing Begin is tolerated. **A missing End is refused: the patch was cut off.**
//!
//! `docs/FORMATS.md` lists each leniency with its test. The first lines of the messages are Codex's.

mod body;

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use self::body::is_section_header;
use super::lines::{NumberedLine, invalid, invalid_text, numbered, shorten};
use super::{Change, Hunk, Line, LineChange, Operation, Patch, Section};
use crate::problem::Problem;
use crate::problem::malformed::V4a as Fault;

pub(super) use self::body::opens;

const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const UPDATE: &str = "*** Update File:";
const MOVE: &str = "*** Move File:";
const MOVE_TO: &str = "*** Move to:";
const END_OF_FILE: &str = "*** End of File";
const ENVIRONMENT: &str = "*** Environment ID:";
const NO_NEWLINE: &str = "\\ No newline at end of file";

/// Reads a V4A patch. All problems are reported, not only the first.
pub fn parse(text: &str) -> Result<Patch, Vec<Problem>> {
    let all = numbered(text);
    let lines = body::between(&all).map_err(|problem| alloc::vec![problem])?;
    let mut parser = Parser { lines, at: 0, filled: 0, hunks: 0, after_added: false, problems: Vec::new() };
    let sections = parser.sections();
    if sections.is_empty() && parser.problems.is_empty() {
        parser.problems.push(invalid_text(Fault::NoSections));
    }
    if parser.problems.is_empty() { Ok(Patch { sections }) } else { Err(parser.problems) }
}

struct Parser<'a, 'b> {
    lines: &'b [NumberedLine<'a>],
    at: usize,
    /// The next line that is not empty, cached.
    filled: usize,
    hunks: usize,
    /// Whether the previous section adds a file.
    after_added: bool,
    problems: Vec<Problem>,
}

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> Option<NumberedLine<'a>> {
        self.lines.get(self.at).copied()
    }

    fn refuse(&mut self, line: usize, fault: Fault) {
        self.problems.push(invalid(line, fault));
    }

    fn sections(&mut self) -> Vec<Section> {
        let mut sections = Vec::new();
        self.environment();
        while let Some(line) = self.peek() {
            self.at += 1;
            let header = line.text.trim();
            if header.is_empty() {
                continue;
            }
            let before = self.problems.len();
            if let Some(section) = self.section(line.number, header) {
                self.after_added = matches!(section.operation, Operation::Add(_));
                sections.push(section);
            }
            if self.problems.len() > before {
                self.skip_to_next_section();
            }
        }
        sections
    }

    /// Reads Codex's optional environment line. There is only one environment, so its value is ignored.
    fn environment(&mut self) {
        let Some(line) = self.peek() else { return };
        if let Some(id) = line.text.trim().strip_prefix(ENVIRONMENT) {
            self.at += 1;
            if id.trim().is_empty() {
                self.refuse(line.number, Fault::EmptyEnvironment);
            }
        }
    }

    fn skip_to_next_section(&mut self) {
        while self.peek().is_some_and(|line| !is_section_header(line.text)) {
            self.at += 1;
        }
    }

    fn section(&mut self, number: usize, header: &str) -> Option<Section> {
        let path_of = |prefix: &str| header.strip_prefix(prefix).map(str::trim);
        if let Some(path) = path_of(ADD) {
            let path = self.path(number, path)?;
            return Some(Section::new(&path, Operation::Add(self.added_lines())));
        }
        if let Some(path) = path_of(DELETE) {
            return Some(Section::new(&self.path(number, path)?, Operation::Delete { content: None }));
        }
        if let Some(paths) = path_of(MOVE) {
            let Some((from, to)) = paths.split_once(" -> ") else {
                self.refuse(number, Fault::MoveWithoutTarget);
                return None;
            };
            let path = self.path(number, from.trim())?;
            let move_to = Some(self.path(number, to.trim())?);
            return Some(Section::new(&path, Operation::Update { hunks: Vec::new(), move_to }));
        }
        if let Some(path) = path_of(UPDATE) {
            let path = self.path(number, path)?;
            return self.update(number, &path);
        }
        let (header, after_added) = (shorten(header), self.after_added);
        self.refuse(number, Fault::NotAHeader { header, after_added });
        self.after_added = false;
        None
    }

    fn path(&mut self, number: usize, path: &str) -> Option<String> {
        if path.is_empty() {
            self.refuse(number, Fault::NoFileNamed);
            return None;
        }
        Some(path.to_string())
    }

    fn added_lines(&mut self) -> String {
        let mut content = String::new();
        while let Some(line) = self.peek().and_then(|line| line.text.strip_prefix('+')) {
            self.at += 1;
            content.push_str(line);
            content.push('\n');
        }
        content
    }

    fn update(&mut self, number: usize, path: &str) -> Option<Section> {
        let mut move_to = None;
        if let Some(line) = self.peek()
            && let Some(target) = line.text.trim().strip_prefix(MOVE_TO)
        {
            self.at += 1;
            move_to = Some(self.path(line.number, target.trim())?);
        }
        // Like Codex, ignores the marker before any hunk.
        if self.peek().is_some_and(|line| line.text.trim_end() == END_OF_FILE) {
            self.at += 1;
        }
        let mut hunks = Vec::new();
        while let Some(line) = self.peek() {
            // A header ends the section; an indented one is a context line.
            if line.text.starts_with("*** ") && is_section_header(line.text) {
                break;
            }
            if line.text.is_empty() && self.only_empty_before_a_header() {
                self.at += 1;
                continue;
            }
            hunks.push(self.hunk(hunks.is_empty())?);
        }
        if hunks.is_empty() && move_to.is_none() {
            self.refuse(number, Fault::EmptySection { path: path.into() });
            return None;
        }
        Some(Section::new(path, Operation::Update { hunks, move_to }))
    }

    /// Returns whether only empty lines stand before the next `@@`, header or end. A line of one space is not empty: it
    /// is a blank context line.
    fn only_empty_before_a_header(&mut self) -> bool {
        // This is called for every empty line of a run, so the end of the run is cached.
        if self.filled < self.at {
            let empty = self.lines[self.at..].iter().take_while(|line| line.text.is_empty()).count();
            self.filled = self.at + empty;
        }
        self.lines
            .get(self.filled)
            .is_none_or(|line| is_section_header(line.text) || line.text.starts_with("@@"))
    }

    fn hunk(&mut self, first: bool) -> Option<Hunk> {
        let mut change = LineChange::default();
        let start = self.peek()?;
        let mut marked = false;
        while let Some(line) = self.peek()
            && let Some(anchor) = line.text.strip_prefix("@@")
        {
            self.at += 1;
            marked = true;
            if let Some(anchor) = anchor_text(anchor) {
                change.anchors.push(anchor.into());
            }
        }
        if !marked && !first {
            self.refuse(start.number, Fault::NoMarker { text: shorten(start.text) });
            return None;
        }
        while let Some(line) = self.peek() {
            if line.text.starts_with("@@") || (line.text.starts_with("*** ") && is_section_header(line.text))
            {
                break;
            }
            if line.text.is_empty() && self.only_empty_before_a_header() {
                break;
            }
            self.at += 1;
            if line.text.trim_end() == END_OF_FILE {
                change.at_end = true;
                break;
            }
            let context = |text: &str| Line::Context(text.to_string());
            change.lines.push(match line.text.as_bytes().first() {
                None => context(""),
                Some(b' ') => context(&line.text[1..]),
                Some(b'-') => Line::Removed(line.text[1..].to_string()),
                Some(b'+') => Line::Added(line.text[1..].to_string()),
                _ if line.text == NO_NEWLINE => continue,
                _ if !line.text.starts_with("***") => Line::Bare(line.text.to_string()),
                _ => {
                    self.refuse(line.number, Fault::NotALine { text: shorten(line.text) });
                    return None;
                }
            });
        }
        if change.lines.is_empty() {
            self.refuse(start.number, Fault::EmptyHunk);
            return None;
        }
        self.hunks += 1;
        Some(Hunk { number: self.hunks, change: Change::Lines(change) })
    }
}

/// Returns the text of an `@@` line without a closing `@@`, or `None` if it holds line numbers only.
pub(super) fn anchor_text(after_marker: &str) -> Option<&str> {
    let text = after_marker.strip_prefix(' ').unwrap_or(after_marker).trim_end();
    let text = text.strip_suffix("@@").map_or(text, str::trim_end);
    let is_range = |word: &str| {
        word.len() > 1
            && word.starts_with(['-', '+'])
            && word[1..].bytes().all(|b| b.is_ascii_digit() || b == b',')
    };
    let numbers_only = !text.is_empty() && text.split_whitespace().all(is_range);
    (!text.trim().is_empty() && !numbers_only).then_some(text)
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::body::{BEGIN, END};
    use super::*;

    fn patch(inner: &str) -> String {
        format!("{BEGIN}\n{inner}\n{END}\n")
    }

    fn hunks(inner: &str) -> Vec<LineChange> {
        let patch = parse(&patch(inner)).unwrap();
        let Operation::Update { hunks, .. } = &patch.sections()[0].operation else { panic!("{patch:?}") };
        hunks
            .iter()
            .map(|hunk| match &hunk.change {
                Change::Lines(change) => change.clone(),
                _ => panic!("{hunk:?}"),
            })
            .collect()
    }

    fn refusal(text: &str) -> String {
        let problems = parse(text).unwrap_err();
        problems.iter().map(|problem| format!("{problem}\n")).collect()
    }

    #[test]
    fn reads_each_kind_of_section() {
        let parsed = parse(&patch(
            "*** Add File: new.txt\n+one\n+\n*** Delete File: gone.txt\n*** Update File: a b.txt\n*** Move to: \
             c.txt\n@@\n-x\n+y\n*** Move File: d -> e",
        ))
        .unwrap();
        let paths: Vec<&str> = parsed.paths().collect();
        assert_eq!(paths, ["new.txt", "gone.txt", "a b.txt", "c.txt", "d", "e"]);
        assert_eq!(parsed.sections()[0].operation, Operation::Add("one\n\n".into()));
    }

    #[test]
    fn anchors_stack_and_line_numbers_are_no_anchor() {
        let hunks = hunks("*** Update File: a\n@@ class A:\n@@ def f(): @@\n-x\n+y\n@@ -1,2 +1,3 @@\n-z");
        assert_eq!(hunks[0].anchors, ["class A:", "def f():"]);
        assert!(hunks[1].anchors.is_empty());
    }

    #[test]
    fn an_empty_line_is_context_unless_a_header_follows() {
        let hunks = hunks("*** Update File: a\n@@\n-b\n\n+B\n\n@@\n-c\n+C");
        assert_eq!(hunks[0].lines.len(), 3);
        assert_eq!(hunks[0].lines[1], Line::Context(String::new()));
    }

    #[test]
    fn a_line_of_one_space_is_context_even_at_the_end() {
        let hunks = hunks("*** Update File: a\n@@\n-b\n \n@@\n-c\n ");
        assert_eq!((hunks[0].lines.len(), hunks[1].lines.len()), (2, 2));
    }

    #[test]
    fn a_cut_off_patch_is_refused() {
        let cut = format!("{BEGIN}\n*** Update File: a\n@@\n-b\n+c");
        assert!(refusal(&cut).contains("NoEnd"));
    }

    #[test]
    fn wrappers_are_taken_off() {
        let plain = patch("*** Update File: a\n-b\n+c");
        for wrapped in [
            format!("```diff\n{plain}```"),
            format!("<<'EOF'\n{plain}EOF\n"),
            format!("apply_patch <<EOF\n{plain}EOF"),
            plain.replace('\n', "\r\n"),
            plain.replace("Patch\n", "Patch ***\n"),
        ] {
            assert_eq!(parse(&wrapped).unwrap(), parse(&plain).unwrap(), "{wrapped}");
        }
        assert!(parse(&format!("<<\"EOF'\n{plain}EOF\n")).is_err());
    }

    #[test]
    fn prose_around_the_only_patch_is_left_out() {
        let plain = patch("*** Update File: a\n-b\n+c");
        for talked in [
            format!("Here it is:\n\n{plain}\nThat should do."),
            format!("Here it is:\n```diff\n{plain}```\nThat should do."),
            format!("Run:\n```sh\napply_patch <<'EOF'\n{plain}EOF\n```\n"),
            format!("I would write `{BEGIN}`:\n\n {BEGIN}\n\n{plain}"),
        ] {
            assert_eq!(parse(&talked).unwrap(), parse(&plain).unwrap(), "{talked}");
        }
        assert!(
            refusal(&format!("Here it is:\n{plain}")).contains(r#"first: Some("Here it is:")"#),
            "no blank line"
        );
        assert!(refusal(&format!("{plain}+d\n")).contains(r#"last: "+d""#), "a line that went astray");
        assert!(refusal(&format!("{plain}\n*** Delete File: d\n")).contains("line 7"), "a section that did");
        assert!(refusal(&format!("{plain}{plain}")).contains("SecondPatch) on line 6"));
        assert!(refusal(&format!("So:\n\n{plain}\nand\n\n{plain}")).contains("SecondPatch) on line 11"));
    }

    #[test]
    fn a_line_of_an_added_file_without_its_plus_is_explained() {
        let refused = refusal(&patch("*** Add File: a\n+x\n\ny\n*** Update File: b\n@@\n-x\n*** Bad"));
        assert!(refused.contains(r#"NotAHeader { header: "y", after_added: true }) on line 5"#), "{refused}");
        assert_eq!(refused.matches("after_added: true").count(), 1);
    }

    #[test]
    fn every_problem_is_reported() {
        let refused = refusal(&patch(
            "*** Frobnicate File: a\n*** Update File: b\n*** Update File: c\n@@\n***x\n*** Add File: d\n+ok",
        ));
        assert_eq!(refused.lines().count(), 3, "{refused}");
        assert!(refused.contains("line 2") && refused.contains("line 3") && refused.contains("line 6"));
    }

    #[test]
    fn a_marker_inside_a_hunk_or_an_added_file_is_content() {
        let hunks = hunks("*** Update File: a\n@@\n a\n *** End Patch\n-b\n+c");
        assert_eq!(hunks[0].lines[1], Line::Context("*** End Patch".into()));
        let added = parse(&patch("*** Add File: n\n+*** End Patch")).unwrap();
        assert_eq!(added.sections()[0].operation, Operation::Add("*** End Patch\n".into()));
    }
}
