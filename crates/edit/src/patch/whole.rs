//! Whole files: a name, and below it the content in a fence.
//!
//! ```text
//! request = (prose | named | fence)+
//! named   = name line, see `envelope`; or a sentence that announces one name in backticks
//!           opening fence  line*  closing fence
//! ```
//!
//! With `path`, the only fence is that file. A bare word right above a fence is more often prose than a name: it counts
//! only if there is no other name, and only for a file that exists. Unnamed fences beside named ones are examples and
//! are ignored. But if the sentence above one mentions a file that the text does not give, the fence may be that file,
//! and the whole request is refused. **Content with a line that could end its fence is refused**: the rest of the file
//! would be lost. So content with fences needs a longer one around it.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::envelope::{self, Fence};
use super::lines::{invalid, invalid_text};
use super::{Operation, Patch, Section};
use crate::problem::Problem;
use crate::problem::malformed::Whole as Fault;

/// Reads whole files. `path` is the file if the text names none. All problems are reported.
pub fn parse(text: &str, path: Option<&str>) -> Result<Patch, Vec<Problem>> {
    read(text, path, true)
}

/// Reads whole files from a text without a declared format, which must name its files itself. A fence below some prose
/// may as well be a script or a piece of a diff, and `path` would make it the file.
pub(super) fn parse_named(text: &str, path: Option<&str>) -> Result<Patch, Vec<Problem>> {
    read(text, path, false)
}

fn read(text: &str, path: Option<&str>, by_path: bool) -> Result<Patch, Vec<Problem>> {
    let lines = envelope::lines(text);
    let mut files = FileSections::default();
    let mut unnamed = Vec::new();
    let (mut at, mut floor) = (0, 0);
    while at < lines.len() {
        let Some(fence) = Fence::opened_by(lines[at]) else {
            at += 1;
            continue;
        };
        let Some(end) = (at + 1..lines.len()).find(|&i| fence.is_closed_by(lines[i])) else {
            files.problems.push(refusal(at, Fault::FenceNotClosed));
            break;
        };
        let block = FencedBlock { lines: &lines, floor, fence, at, end };
        match block.name() {
            None => unnamed.push(block),
            Some(name) => files.take(at, block.section(&name, path)),
        }
        (at, floor) = (end + 1, end + 1);
    }
    if files.is_empty() {
        if let Some(block) = unnamed.first().filter(|_| !by_path && path.is_some()) {
            return Err(alloc::vec![refusal(block.at, Fault::UnknownContent)]);
        }
        if path.is_none() {
            unnamed.retain(|block| match block.bare_name() {
                Some(name) => {
                    files.take(block.at, block.replacement(&name));
                    false
                }
                None => true,
            });
        }
    }
    if !files.sections.is_empty() {
        let unclear = unnamed.iter().filter_map(|block| block.unclear_name(&files.named));
        files.problems.extend(unclear.collect::<Vec<_>>());
    }
    if files.is_empty() {
        files.take(0, only_file(&unnamed, path));
    }
    let FileSections { sections, problems, .. } = files;
    if problems.is_empty() { Ok(Patch { sections }) } else { Err(problems) }
}

/// The files and problems found so far.
#[derive(Default)]
struct FileSections {
    named: BTreeSet<String>,
    sections: Vec<Section>,
    problems: Vec<Problem>,
}

impl FileSections {
    fn is_empty(&self) -> bool {
        self.sections.is_empty() && self.problems.is_empty()
    }

    /// Adds the section of the fence at this line, unless its file has one already.
    fn take(&mut self, at: usize, section: Result<Section, Problem>) {
        match section {
            Ok(section) if !self.named.insert(section.path.clone()) => {
                self.problems.push(refusal(at, Fault::SecondTime { path: section.path }));
            }
            Ok(section) => self.sections.push(section),
            Err(problem) => self.problems.push(problem),
        }
    }
}

fn refusal(at: usize, fault: Fault) -> Problem {
    invalid(at + 1, fault)
}

/// Returns the section of the file that the argument names, if only one fence can be its content.
fn only_file(unnamed: &[FencedBlock<'_>], path: Option<&str>) -> Result<Section, Problem> {
    let Some(path) = path else {
        return Err(invalid_text(Fault::NoFileNamed));
    };
    let mut files = unnamed.iter().filter(|block| block.is_all() || block.is_content_of(path));
    match (files.next(), files.next()) {
        (Some(block), None) => block.section(path, Some(path)),
        (None, _) => Err(invalid_text(Fault::NoContent { path: path.into() })),
        (Some(_), Some(second)) => Err(refusal(second.at, Fault::SecondFence { path: path.into() })),
    }
}

/// A fenced block, from its opening to its closing line.
struct FencedBlock<'a> {
    lines: &'a [&'a str],
    /// The first line after the previous block.
    floor: usize,
    fence: Fence<'a>,
    at: usize,
    end: usize,
}

impl FencedBlock<'_> {
    fn name(&self) -> Option<String> {
        envelope::name_in_info(self.fence.info)
            .or_else(|| {
                // A bare word above a fence is more often prose or code, and no content is compared here.
                let name = envelope::name_above(self.lines, self.at, self.floor)?;
                (!name.bare).then_some(name.path)
            })
            .or_else(|| envelope::name_in_sentence_above(self.lines, self.at, self.floor))
    }

    /// Returns the bare word right above, which is a name if there is such a file; none above commands to run.
    fn bare_name(&self) -> Option<String> {
        let above = self.at.checked_sub(1).filter(|_| !self.fence.is_shell())?;
        envelope::name_above(self.lines, self.at, above).map(|name| name.path)
    }

    /// Returns the section that replaces the file of this name, which must exist.
    fn replacement(&self, name: &str) -> Result<Section, Problem> {
        let section = self.section(name, None)?;
        Ok(match section.operation {
            Operation::Write(content) => Section { operation: Operation::Replace(content), ..section },
            _ => section,
        })
    }

    /// Returns the problem that this unnamed fence may be a file that the sentence above it mentions.
    fn unclear_name(&self, named: &BTreeSet<String>) -> Option<Problem> {
        if self.fence.is_shell() {
            return None;
        }
        let spoken_of = envelope::names_spoken_of_above(self.lines, self.at, self.floor);
        let is_given = |name: &&str| named.iter().any(|path| envelope::agree(path, name));
        let other = spoken_of.into_iter().find(|name| !is_given(name))?;
        Some(refusal(self.at, Fault::Unnamed { path: other.into() }))
    }

    /// Returns whether the text is nothing but this block.
    fn is_all(&self) -> bool {
        let mut outside = self.lines[..self.at].iter().chain(&self.lines[self.end + 1..]);
        outside.all(|line| line.trim().is_empty())
    }

    /// Returns whether such a fence can hold this file, rather than commands to run.
    fn is_content_of(&self, path: &str) -> bool {
        let script = [".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd"];
        !self.fence.is_shell() || script.iter().any(|extension| path.ends_with(extension))
    }

    fn section(&self, name: &str, argument: Option<&str>) -> Result<Section, Problem> {
        let path = argument.unwrap_or(name);
        if !envelope::agree(name, path) {
            return Err(refusal(self.at, Fault::AnotherFile { path: path.into(), named: name.into() }));
        }
        if self.fence.is_diff()
            && ![".diff", ".patch", ".ed", ".rcs"].iter().any(|extension| path.ends_with(extension))
        {
            return Err(refusal(self.at, Fault::Diff { path: path.into() }));
        }
        if let Some(line) = self.unclear_end() {
            return Err(refusal(line, Fault::UnclearEnd));
        }
        let mut content = String::new();
        for line in self.fence.unwrapped(&self.lines[self.at + 1..self.end]) {
            content.push_str(line);
            content.push('\n');
        }
        Ok(Section::new(path, Operation::Write(content)))
    }

    /// Returns a line that makes the end of the content unclear: an opening fence inside, or a closing line right above
    /// more text, which may open a fence inside the content.
    fn unclear_end(&self) -> Option<usize> {
        let inside = (self.at + 1..self.end).find(|&i| self.fence.could_hold(self.lines[i]));
        let below = self.lines.get(self.end + 1).is_some_and(|line| !line.trim().is_empty());
        inside.or(below.then_some(self.end))
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use alloc::string::ToString;

    fn files(text: &str, path: Option<&str>) -> Vec<(String, String)> {
        let content = |section: &Section| match &section.operation {
            Operation::Write(content) => (section.path.clone(), content.clone()),
            other => panic!("{other:?}"),
        };
        parse(text, path).unwrap().sections().iter().map(content).collect()
    }

    fn refused(text: &str, path: Option<&str>) -> String {
        parse(text, path).unwrap_err().iter().map(|problem| format!("{problem}\n")).collect()
    }

    fn file(path: &str, content: &str) -> (String, String) {
        (path.into(), content.into())
    }

    #[test]
    fn half_of_a_reply_is_not_made() {
        let second = "\n\nAnd b.py gets this:\n```\ny\n```\n";
        for first in ["Makefile\n```\nx\n```", "one\n```\nx\n```"] {
            assert!(refused(&[first, second].concat(), None).contains("b.py"), "{first}");
        }
    }

    #[test]
    fn named_fences_are_files_and_others_are_examples() {
        let text = "I did it.\n\n### a.py\n```python\na\n```\n\nb/c.txt\n~~~\n\nb\n~~~\n\nRun it:\n\n```sh\nmake\n```\n";
        assert_eq!(files(text, None), [file("a.py", "a\n"), file("b/c.txt", "\nb\n")]);
        assert_eq!(
            files("a.txt\n```\nx\r\n```\n\nb.txt\n```\n```", None),
            [file("a.txt", "x\n"), file("b.txt", "")]
        );
    }

    #[test]
    fn a_sentence_may_name_the_file() {
        let text =
            "Here is the new `a.py` file:\n\n```\na\n```\n\nRun it like this:\n\n```\npython a.py\n```\n";
        assert_eq!(files(text, None), [file("a.py", "a\n")]);
        assert!(refused("Run `a.py` like this:\n\n```\npython a.py\n```\n", None).contains("NoFileNamed"));
    }

    #[test]
    fn a_bare_word_names_a_file_that_exists_if_nothing_else_is_a_name() {
        let operations = |text: &str| -> Vec<(String, Operation)> {
            let patch = parse(text, None).unwrap();
            patch.sections().iter().map(|it| (it.path.clone(), it.operation.clone())).collect()
        };
        let replaced = |name: &str| (name.to_string(), Operation::Replace("x\n".into()));
        assert_eq!(
            operations("So:\n\none\n```\nx\n```\n\ntwo\n```\nx\n```"),
            [replaced("one"), replaced("two")]
        );
        let beside = operations("a.txt\n```\nx\n```\n\nOutput\n```\ny\n```");
        assert_eq!(beside, [("a.txt".to_string(), Operation::Write("x\n".into()))]);
        assert!(refused("one\n```\nx\n```\n\none\n```\ny\n```", None).contains("SecondTime"));
        for text in
            ["one\n\n```\nx\n```", "## one\n```\nx\n```", "one two\n```\nx\n```", "run\n```sh\nx\n```"]
        {
            assert!(refused(text, None).contains("NoFileNamed"), "{text}");
        }
    }

    #[test]
    fn the_argument_names_the_only_fence() {
        assert_eq!(files("```python\na\n```", Some("a.py")), [file("a.py", "a\n")]);
        assert_eq!(files("So:\n```\na\n```\n\n```sh\nmake\n```", Some("a.py")), [file("a.py", "a\n")]);
        assert_eq!(files("main.py\n```\na\n```", Some("src/main.py")), [file("src/main.py", "a\n")]);
        assert!(refused("```\na\n```\n\n```\nb\n```", Some("a.py")).contains("line 5"));
        assert!(refused("b.py\n```\na\n```", Some("a.py")).contains(r#"named: "b.py""#));
        assert!(refused("Do:\n```sh\nmake\n```", Some("a.py")).contains("NoContent"));
        assert!(refused("```sh\nmake\n```\nDone.", Some("a.py")).contains("NoContent"));
        // Nothing but one fence can only be the file, whatever its language.
        assert_eq!(files("\n```sh\nmake\n```\n", Some("a.py")), [file("a.py", "make\n")]);
    }

    #[test]
    fn a_shorter_fence_inside_is_content_and_one_as_long_is_unclear() {
        let text = "a.md\n````md\n# T\n```py\nx\n```\n    ````\n````\n";
        assert_eq!(files(text, None), [file("a.md", "# T\n```py\nx\n```\n    ````\n")]);
        assert!(refused("a.md\n```\n# T\n```py\nx\n```\ntail\n", None).contains("line 4"));
        assert!(refused("a.md\n```\n# T\n\n```\nx\n```\n\ntail\n```\n", None).contains("line 5"));
    }

    #[test]
    fn the_indentation_of_the_fence_is_no_part_of_the_content() {
        assert_eq!(
            files("1. `a.py`\n   ```\n   f:\n\n     x\n   ```\n", None),
            [file("a.py", "f:\n\n  x\n")]
        );
        assert_eq!(files("1. `a.py`\n   ```\nf:\n     x\n   ```\n", None), [file("a.py", "f:\n     x\n")]);
        let wide = "  ```a.txt\n\u{3000}x\n  ```\n";
        assert_eq!(files(wide, None), [file("a.txt", "\u{3000}x\n")]);
    }

    #[test]
    fn a_fence_without_an_end_a_file_twice_and_a_diff_are_refused() {
        assert!(refused("a.txt\n```\nx\n", None).contains("line 2"));
        assert!(refused("a.txt\n```\nx\n```\n\na.txt\n```\ny\n```", None).contains("line 7"));
        assert!(refused("a.txt\n```diff\n-x\n+y\n```", None).contains("Diff"));
        assert!(refused("So:\n```ed\n1d\n```", Some("a.txt")).contains("Diff"));
        assert!(refused("```\nx\n```\n", None).to_string().contains("NoFileNamed"));
    }
}
