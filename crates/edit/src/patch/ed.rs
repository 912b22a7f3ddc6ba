//! ed scripts, as `diff -e` writes them.
//!
//! ```text
//! script  = command+  [ "w" ]  [ "q" ]
//! command = line "a" text  |  line "i" text  |  line [ "," line ] "c" text  |  line [ "," line ] "d"
//! text    = line*  "."  [ "s/.//"  [ "a" text ] ]
//! ```
//!
//! One code fence may stand around it. ed counts lines after the changes so far. In a script that works from the bottom
//! of the file up, those are the original numbers; other scripts are refused. A line of a single dot would end the
//! text, so `diff -e` writes two dots, ends the text, removes one dot with `s/.//`, and goes on with `a`.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::lines::{NumberedLine, invalid, numbered, shorten, without_fence};
use super::rcs::addressed;
use super::{Patch, RangeChange};
use crate::problem::Problem;
use crate::problem::malformed::Ed;

/// Reads an ed script for the file at `path`. All problems are reported, not only the first.
pub fn parse(text: &str, path: Option<&str>) -> Result<Patch, Vec<Problem>> {
    let lines = numbered(text);
    let lines = without_fence(&lines, Ed::FenceNotAround).map_err(|problem| vec![problem])?;
    let mut script = Script { lines, at: 0, problems: Vec::new() };
    if path.is_none() {
        script.refuse(1, Ed::NoFileNamed);
    }
    let mut changes = script.changes();
    let mut problems = script.problems;
    if changes.is_empty() && problems.is_empty() {
        problems.push(invalid(1, Ed::NoCommands));
    }
    // Messages and previews number the hunks from the top of the file.
    changes.reverse();
    match path {
        Some(path) if problems.is_empty() => Ok(addressed(path, changes)),
        _ => Err(problems),
    }
}

struct Script<'a, 'b> {
    lines: &'b [NumberedLine<'a>],
    at: usize,
    problems: Vec<Problem>,
}

/// A command with its addresses.
struct EdCommand {
    first: usize,
    last: usize,
    verb: u8,
}

impl Script<'_, '_> {
    fn refuse(&mut self, line: usize, fault: Ed) {
        self.problems.push(invalid(line, fault));
    }

    fn changes(&mut self) -> Vec<RangeChange> {
        let mut changes: Vec<RangeChange> = Vec::new();
        while let Some(&line) = self.lines.get(self.at) {
            self.at += 1;
            let text = line.text.trim_end();
            if text.is_empty() {
                continue;
            }
            if matches!(text, "w" | "q" | "wq") {
                self.end();
                break;
            }
            let Some(command) = command(text) else {
                self.refuse(line.number, Ed::NoCommand { text: shorten(text) });
                // The following lines may be its text.
                break;
            };
            let EdCommand { first, last, verb } = command;
            let lines = if verb == b'd' { Some(Vec::new()) } else { self.text(line) };
            let Some(lines) = lines else { break };
            let change = match verb {
                b'a' => RangeChange { first: first.saturating_add(1), count: 0, lines },
                b'i' => RangeChange { first: first.max(1), count: 0, lines },
                _ => RangeChange { first, count: last - first + 1, lines },
            };
            // `diff -e` writes one command for two additions at one place, and for an addition right above a change.
            let end = change.first.saturating_add(change.count);
            if let Some(lower) = changes.last()
                && (end > lower.first || (end == lower.first && change.count == 0))
            {
                let before = lower.first;
                self.refuse(line.number, Ed::NotUpwards { line: first, before });
            }
            changes.push(change);
        }
        changes
    }

    /// Reads the text of a command, up to its dot.
    fn text(&mut self, command: NumberedLine<'_>) -> Option<Vec<String>> {
        let mut text: Vec<String> = Vec::new();
        loop {
            let rest = &self.lines[self.at..];
            let Some(length) = rest.iter().position(|line| line.text == ".") else {
                self.refuse(command.number, Ed::TextNotEnded);
                return None;
            };
            text.extend(rest[..length].iter().map(|line| String::from(line.text)));
            self.at += length + 1;
            let Some(line) = self.lines.get(self.at).filter(|line| line.text == "s/.//") else {
                return Some(text);
            };
            match text.last_mut() {
                // `s/.//` removes the first character of the last line.
                Some(last) if !last.is_empty() => {
                    let mut chars = last.chars();
                    chars.next();
                    *last = chars.as_str().into();
                }
                _ => {
                    self.refuse(line.number, Ed::NothingToTakeAway);
                    return None;
                }
            }
            self.at += 1;
            if self.lines.get(self.at).is_none_or(|line| line.text != "a") {
                return Some(text);
            }
            self.at += 1;
        }
    }

    /// Refuses anything after `w` and `q`.
    fn end(&mut self) {
        let is_end = |line: &&NumberedLine<'_>| !matches!(line.text.trim_end(), "" | "q");
        if let Some(line) = self.lines[self.at..].iter().find(is_end) {
            let (number, text) = (line.number, shorten(line.text));
            self.refuse(number, Ed::AfterEnd { text });
        }
    }
}

fn command(text: &str) -> Option<EdCommand> {
    let verb = *text.as_bytes().last()?;
    let addresses = text.get(..text.len() - 1)?;
    let number = |text: &str| -> Option<usize> {
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
    };
    let (first, last) = match addresses.split_once(',') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(addresses)?, number(addresses)?),
    };
    let right = match verb {
        b'a' | b'i' => first == last && !addresses.contains(','),
        b'c' | b'd' => first > 0 && first <= last && last < usize::MAX,
        _ => false,
    };
    right.then_some(EdCommand { first, last, verb })
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::patch::{Change, Hunk, Operation};

    fn ranges(text: &str) -> Vec<(usize, usize, String)> {
        let patch = parse(text, Some("f")).unwrap();
        let Operation::Update { hunks, .. } = &patch.sections()[0].operation else { panic!() };
        let range = |hunk: &Hunk| match &hunk.change {
            Change::Range(change) => (change.first, change.count, change.lines.join("|")),
            change => panic!("{change:?}"),
        };
        hunks.iter().map(range).collect()
    }

    #[test]
    fn the_commands_address_the_original_file() {
        let found = ranges("9a\nend\n.\n7d\n4,5c\nx\n\n.\n3i\ny\n.\n1,2d\nw\nq\n");
        let found: Vec<_> = found.iter().map(|(first, count, text)| (*first, *count, &text[..])).collect();
        assert_eq!(found, [(1, 2, ""), (3, 0, "y"), (4, 2, "x|"), (7, 1, ""), (10, 0, "end")]);
        assert_eq!(ranges("0a\nx\n.\n"), [(1, 0, "x".into())]);
    }

    #[test]
    fn a_line_of_a_single_dot_can_be_written() {
        assert_eq!(ranges("2c\na\n..\n.\ns/.//\na\nb\n.\n"), [(2, 1, "a|.|b".into())]);
        assert_eq!(ranges("2c\n..\n.\ns/.//\n1d\n"), [(1, 1, "".into()), (2, 1, ".".into())]);
        assert_eq!(ranges("2c\n..\n.\ns/.//\na\n..\n.\ns/.//\n"), [(2, 1, ".|.".into())]);
    }

    #[test]
    fn one_fence_may_stand_around_the_script() {
        assert_eq!(parse("\n```ed\n1d\n```\n\n", Some("f")), parse("1d\n", Some("f")));
        assert!(parse("```ed\n1d\n", Some("f")).is_err(), "it was cut off");
        assert!(parse("```ed\n1d\n```\nThat is all.\n", Some("f")).is_err());
        assert!(parse("```", Some("f")).is_err());
    }

    #[test]
    fn every_problem_is_reported() {
        let refused = |text: &str, path| {
            let problems = parse(text, path).unwrap_err();
            problems.iter().map(|problem| format!("{problem}\n")).collect::<String>()
        };
        let upwards = refused("1d\n5d\n3a\nx\n.\n4d\n", None);
        assert!(upwards.contains("NoFileNamed") && upwards.matches("NotUpwards").count() == 2, "{upwards}");
        assert!(refused("5a\nx\n.\n5a\ny\n.\n", Some("f")).contains("NotUpwards"));
        assert!(refused("5a\nx\n", Some("f")).contains("TextNotEnded"));
        assert!(refused("5x\n", Some("f")).contains("line 1"));
        assert!(refused("", Some("f")).contains("NoCommands"));
        assert!(refused("1d\nq\n1d\n", Some("f")).contains("AfterEnd"));
        for wrong in ["0d", "3,2d", "1,2a", "$d", "/x/d", "1,d", "d", "é"] {
            assert!(parse(wrong, Some("f")).is_err(), "{wrong}");
        }
    }
}
