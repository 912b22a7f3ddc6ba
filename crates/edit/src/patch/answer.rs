//! The answer of a model that was asked for a text: bare, in a fence, or as SEARCH/REPLACE blocks.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::envelope::{self, Fence};
use super::recognise::{Format, recognise};
use super::{Operation, Patch, search_replace, whole};

/// What a model says of a whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileAnswer {
    /// Changes of it.
    Blocks(Patch),
    /// What it may mean with its new text, most likely first.
    Texts(Vec<String>),
}

/// Why an answer is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerFault {
    /// Its blocks are not grammatical, or about another file.
    Blocks,
    /// It has fences, and it is not certain where the text begins and ends.
    Fences,
}

/// Reads an answer that is to be the new text of the file at `path`.
pub fn of_file(answer: &str, path: &str) -> Result<FileAnswer, AnswerFault> {
    if recognise(answer) == Some(Format::SearchReplace) {
        let patch = search_replace::parse(answer, Some(path)).map_err(|_| AnswerFault::Blocks)?;
        let is_about_it = patch.paths().all(|named| named == path);
        return if is_about_it { Ok(FileAnswer::Blocks(patch)) } else { Err(AnswerFault::Blocks) };
    }
    let bare = String::from(answer);
    let Ok(patch) = whole::parse(answer, Some(path)) else { return Ok(FileAnswer::Texts(vec![bare])) };
    match patch.sections() {
        [section] if section.path == path => match &section.operation {
            Operation::Add(text) | Operation::Write(text) | Operation::Replace(text) => {
                Ok(FileAnswer::Texts(vec![text.clone(), bare]))
            }
            _ => Ok(FileAnswer::Texts(vec![bare])),
        },
        _ => Ok(FileAnswer::Texts(vec![bare])),
    }
}

/// Reads an answer that is to be some lines: all of it, or what is in the one fence that is all of it.
pub fn of_lines(answer: &str) -> Result<Vec<String>, AnswerFault> {
    let lines = envelope::lines(answer);
    let is_blank = |line: &&str| line.trim().is_empty();
    let first = lines.iter().position(|line| !is_blank(line)).unwrap_or(lines.len());
    let end = lines.iter().rposition(|line| !is_blank(line)).map_or(first, |last| last + 1);
    let owned = |lines: &[&str]| lines.iter().map(|line| String::from(*line)).collect();
    let opens = |line: &&str| Fence::opened_by(line).is_some();
    let Some(fence) = lines.get(first).and_then(|line| Fence::opened_by(line)) else {
        return match lines.iter().any(opens) {
            true => Err(AnswerFault::Fences),
            // An indented first line stays as it is.
            false => Ok(owned(&lines[first..end])),
        };
    };
    let inner = first + 1..end.max(first + 2) - 1;
    let is_closed = end > first + 1 && fence.is_closed_by(lines[end - 1]);
    if !is_closed || lines[inner.clone()].iter().any(|line| fence.could_hold(line)) {
        return Err(AnswerFault::Fences);
    }
    Ok(owned(&lines[inner]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(answer: &str) -> Result<Vec<String>, AnswerFault> {
        of_file(answer, "src/a.py").map(|read| match read {
            FileAnswer::Texts(texts) => texts,
            FileAnswer::Blocks(patch) => vec![alloc::format!("{} blocks", patch.hunks())],
        })
    }

    #[test]
    fn a_file_comes_bare_or_in_a_fence_or_as_blocks() {
        assert_eq!(texts("a\nb\n").unwrap(), ["a\nb\n"]);
        assert_eq!(texts("```python\na\nb\n```\n").unwrap()[0], "a\nb\n");
        let block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
        assert_eq!(texts(block).unwrap(), ["1 blocks"]);
        assert_eq!(texts(&alloc::format!("src/b.py\n{block}")), Err(AnswerFault::Blocks));
        let other = "src/b.py\n```\na\n```\n";
        assert_eq!(texts(other).unwrap(), [other]);
        assert_eq!(texts("<<<<<<< SEARCH\na\n=======\nb\n"), Err(AnswerFault::Blocks));
    }

    #[test]
    fn lines_come_bare_or_in_one_fence() {
        for (answer, lines) in [
            ("  a\n\n  b\n", &["  a", "", "  b"][..]),
            ("\n```rust\n  a\n```\n\n", &["  a"]),
            ("~~~\n```\na\n```\n~~~", &["```", "a", "```"]),
            ("```\n\n```", &[""]),
            ("```\n```", &[]),
            ("", &[]),
        ] {
            assert_eq!(of_lines(answer).unwrap(), lines, "{answer:?}");
        }
        for answer in
            ["Here it is:\n```\na\n```", "```\na\n```\nDone.", "```\na\n", "```", "```\na\n```\n```\nb\n```"]
        {
            assert_eq!(of_lines(answer), Err(AnswerFault::Fences), "{answer:?}");
        }
    }
}
