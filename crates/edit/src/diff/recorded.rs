//! Diffs that were kept as text, read back to be shown otherwise.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::{Diff, DiffHunk};
use crate::patch::names;

/// How the lines about a file's mode begin.
const MODES: [&str; 3] = ["old mode ", "new mode ", "new file mode "];

/// Returns the diffs of several files from their texts one after another, as [`Diff::text`] writes them. It is for showing
/// them: of a text that is none of ours it makes what it can.
#[must_use]
pub fn from_text(text: &str) -> Vec<Diff> {
    let mut diffs: Vec<Diff> = Vec::new();
    // The start of the line with the old name, if the file has begun without it.
    let mut awaited: Option<String> = None;
    // How many lines of a hunk are still to come, of either side.
    let (mut old, mut new) = (0, 0);
    for line in text.split_inclusive('\n') {
        let hunk = diffs.last_mut().and_then(|diff| diff.hunks.last_mut());
        if let Some(hunk) = hunk.filter(|_| old + new > 0 || line.starts_with('\\')) {
            hunk.body.push_str(line);
            old -= usize::from(line.starts_with([' ', '-'])).min(old);
            new -= usize::from(line.starts_with([' ', '+'])).min(new);
        } else if let Some((old_lines, new_lines, heading)) = header(line) {
            (old, new) = (old_lines.len(), new_lines.len());
            let hunk =
                DiffHunk { old: old_lines, new: new_lines, heading: heading.into(), body: String::new() };
            diffs.last_mut().into_iter().for_each(|diff| diff.hunks.push(hunk.clone()));
        } else if let Some(names) = line.strip_prefix("diff --git ") {
            awaited = names::from_git_line(names.trim_end_matches('\n'))
                .and_then(|(old, _)| Some(String::from(old.strip_prefix("a/")?)))
                .or(Some(String::new()));
            diffs.push(Diff::default());
        } else if MODES.iter().any(|start| line.starts_with(start)) && awaited.is_some() {
            diffs.last_mut().into_iter().for_each(|diff| diff.modes.push_str(line));
        } else if let Some(from) = line.strip_prefix("rename from ") {
            let is_begun = awaited.is_some() && diffs.last().is_some_and(|diff| !diff.modes.is_empty());
            if !is_begun {
                diffs.push(Diff::default());
            }
            awaited = Some(names::plain(from.trim_end_matches('\n')));
        } else if let Some(name) = line.strip_prefix("--- ") {
            let is_new = diffs.last().is_some_and(|diff| diff.modes.starts_with("new file"));
            let is_awaited = awaited.take().is_some_and(|awaited| {
                match names::plain(name.trim_end_matches('\n')).as_str() {
                    "/dev/null" => is_new,
                    name => name == format!("a/{awaited}"),
                }
            });
            if !is_awaited {
                diffs.push(Diff::default());
            }
        }
    }
    for diff in &mut diffs {
        let count = |sign| {
            let lines = diff.hunks.iter().flat_map(|hunk| hunk.body.lines());
            lines.filter(|line| line.starts_with(sign)).count()
        };
        (diff.added, diff.removed) = (count('+'), count('-'));
    }
    diffs
}

/// Returns the lines of both sides that the header of a hunk names, counted from 0, and its heading.
fn header(line: &str) -> Option<(Range<usize>, Range<usize>, &str)> {
    let (numbers, heading) = line.strip_prefix("@@ -")?.strip_suffix('\n')?.split_once(" @@")?;
    let (old, new) = numbers.split_once(" +")?;
    let side = |side: &str| {
        let (start, count) = side.split_once(',').unwrap_or((side, "1"));
        let (start, count): (usize, usize) = (start.parse().ok()?, count.parse().ok()?);
        let start = if count == 0 { start } else { start.checked_sub(1)? };
        Some(start..start.checked_add(count)?)
    };
    Some((side(old)?, side(new)?, heading.strip_prefix(' ').unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use std::string::ToString;
    use std::vec;

    use super::*;
    use crate::diff::between;
    use crate::text::Text;

    #[test]
    fn a_name_with_the_word_mode_is_no_mode() {
        let mode = Diff {
            old_name: Some("x mode y".into()),
            new_name: Some("z mode y".into()),
            modes: "old mode 100644\nnew mode 100755\n".into(),
            ..Diff::default()
        };
        assert_eq!(from_text(&mode.text())[0].modes, mode.modes);
    }

    #[test]
    fn a_name_may_end_in_any_white_space() {
        for name in ["a\u{e9}\u{3000}", "a ", "a"] {
            let mode = Diff {
                old_name: Some(name.into()),
                new_name: Some(name.into()),
                modes: "old mode 100644\nnew mode 100755\n".into(),
                ..Diff::default()
            };
            assert_eq!(from_text(&mode.text())[0].modes, mode.modes);
        }
    }

    #[test]
    fn a_diff_that_was_kept_is_shown_as_it_was_at_first() {
        let text = |s: &str| Text::new(s.as_bytes().to_vec()).unwrap();
        let lines = |lines: Range<usize>| lines.map(|line| format!("line {line}\n")).collect::<String>();
        let old = format!("{}fn f()\n{}", lines(0..40), lines(40..60).replace("line", "  line"));
        let new = old.replace("line 5\n", "-- a/five\n").replace("line 50\n", "").replace("59\n", "59");
        let changed = between("a.txt", &text(&old), &text(&new));
        let name = |name: &str| Some(name.to_string());
        let moved = Diff { old_name: name("b.txt"), new_name: name("c.txt"), ..Diff::default() };
        let mode = Diff {
            old_name: name("run.sh"),
            new_name: name("run.sh"),
            modes: "old mode 100644\nnew mode 100755\n".into(),
            ..Diff::default()
        };
        let empty = Diff { new_name: name("empty.txt"), ..Diff::default() };
        let both = Diff { old_name: name("d.txt"), new_name: name("a.txt"), ..changed.clone() };
        let executable = Diff { modes: mode.modes.clone(), ..both.clone() };
        let diffs = vec![moved, changed, mode, empty, both, executable];
        let kept: String = diffs.iter().map(Diff::text).collect();
        let read = from_text(&kept);
        assert_eq!(read.len(), diffs.len(), "{kept}");
        for (read, diff) in read.iter().zip(&diffs) {
            assert_eq!(read.short(), diff.short());
            assert_eq!((read.added, read.removed), (diff.added, diff.removed));
        }
    }
}
