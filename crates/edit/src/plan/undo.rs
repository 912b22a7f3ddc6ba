//! Plans that revert an edit: each file gets its old content back. No text is searched for: the caller has the old
//! content, and has checked that the file still holds the result of the edit. [`without`] gives the old content of a file
//! that others have changed elsewhere since.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::{Action, FilePlan, Plan, Since, number_whole_files, whole};
use crate::edit::{Edit, EditBuilder};
use crate::follow::{Followed, LineMap, NamedLines, Step, follow};
use crate::text::Text;

/// A file as it is, and as it was before the edit.
#[derive(Clone, Debug)]
pub struct UndoneFile {
    /// The current name and content; `None` if the file is gone.
    pub current: Option<(String, Arc<Text>)>,
    /// The old name and content; `None` if the file did not exist.
    pub restored: Option<(String, Arc<Text>)>,
    /// Whether the file becomes executable again or stops being so; `None` leaves it.
    pub executable: Option<bool>,
}

/// Makes the plan that restores these files.
pub fn undo(files: Vec<UndoneFile>) -> Plan {
    let mut files: Vec<FilePlan> = files.into_iter().filter_map(UndoneFile::into_plan).collect();
    number_whole_files(&mut files);
    Plan { files, notes: Vec::new(), discarded: Vec::new() }
}

impl UndoneFile {
    fn into_plan(self) -> Option<FilePlan> {
        let (name, action) = match (self.current, self.restored) {
            (None, None) => return None,
            (None, Some((name, content))) => (name, Action::Create { content }),
            (Some((name, base)), None) => (name, Action::Delete { base }),
            (Some((current, base)), Some((restored, content))) => {
                let edit = rewrite(&base, &content);
                match current == restored {
                    true => (restored, Action::Modify { base, edit }),
                    false => (restored, Action::Move { from: current, base, edit }),
                }
            }
        };
        Some(FilePlan { name, action, hunks: Vec::new(), metadata_from: None, executable: self.executable })
    }
}

/// Returns what a file would be without an edit: the edit made `after` of `before`, and what came since made `now` of that.
/// `None` unless all that the edit wrote is found in `now` for certain, as the edit left it, each place with a line on both
/// sides that nobody changed.
#[must_use]
pub fn without(edit: &LineMap, before: &Text, after: &Text, since: &Since, now: &Arc<Text>) -> Option<Text> {
    let is_alike = |other: &Text| other.encoding() == now.encoding() && other.has_bom() == now.has_bom();
    let fits = edit.lines_before() == before.line_count() && edit.lines_after() == after.line_count();
    if !is_alike(before) || !is_alike(after) || !fits {
        return None;
    }
    let compared = whole::changed_lines(after, now);
    let steps: Vec<Step<'_>> = match since {
        Since::Edits(maps) => maps.iter().map(Step::Edited).collect(),
        Since::Content(_) => vec![Step::Compared { then: after, now, map: compared.as_ref()? }],
    };
    let bytes = now.bytes();
    let mut back = EditBuilder::new(now);
    let (mut came, mut gone) = (0, 0);
    for block in edit.blocks() {
        let first = block.first + came - gone;
        let end = first + block.came;
        let (above, below) = (first.min(1), (after.line_count() - end).min(1));
        let named = NamedLines::new(first - above + 1, above + block.came + below)?;
        let Followed::Kept(there) = follow(named, steps.iter().copied(), now.line_count()) else {
            return None;
        };
        let at = there.first() + above;
        let place = now.line_start(at)..now.line_start(at + block.came);
        let restored =
            &before.bytes()[before.line_start(block.first)..before.line_start(block.first + block.gone)];
        // Line endings count here, and a line without one has nothing below it.
        let is_ended = |lines: &[u8]| lines.is_empty() || lines.ends_with(b"\n");
        let is_whole = is_ended(&bytes[now.line_start(0)..place.start])
            && (is_ended(restored) || place.end == bytes.len());
        if bytes[place.clone()] != after.bytes()[after.line_start(first)..after.line_start(end)] || !is_whole
        {
            return None;
        }
        back.replace(1, place, restored.to_vec());
        (came, gone) = (came + block.came, gone + block.gone);
    }
    let edit = back.finish().ok()?.into_encoding(now.encoding());
    let action = Action::Modify { base: Arc::clone(now), edit };
    Text::new(action.pieces()?.concat()).ok().filter(|text| text.encoding() == now.encoding())
}

/// Returns the edit whose result is exactly this content, in its encoding.
fn rewrite(base: &Text, content: &Text) -> Edit {
    whole::rewrite(base, content.bytes()).into_encoding(content.encoding())
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::prelude::*;

    use super::*;
    use crate::follow::LineBlock;

    fn text(raw: &[u8]) -> Arc<Text> {
        Arc::new(Text::new(raw.to_vec()).unwrap())
    }

    /// Undoes the edit that wrote `came` lines in place of `gone` from line `first` on, counted from 0.
    #[track_caller]
    fn check([before, after, now]: [&str; 3], [first, gone, came]: [usize; 3], expected: Option<&str>) {
        let [before, after, now] = [before, after, now].map(|content| text(content.as_bytes()));
        let blocks = vec![LineBlock { first, gone, came }];
        let edit = LineMap::from_blocks(before.line_count(), after.line_count(), blocks).unwrap();
        let without = without(&edit, &before, &after, &Since::Content(Arc::clone(&after)), &now);
        assert_eq!(without.as_ref().map(|text| core::str::from_utf8(text.raw()).unwrap()), expected);
    }

    #[test]
    fn what_others_changed_elsewhere_stays() {
        let (before, after) = ("1\n2\n3\n4\n5\n6\n", "1\n2\nthree\n4\n5\n6\n");
        let third = [2, 1, 1];
        check([before, after, "1\n2\nthree\n4\n5\n6\n7\n"], third, Some("1\n2\n3\n4\n5\n6\n7\n"));
        check([before, after, "0\n1\n2\nthree\n4\n6"], third, Some("0\n1\n2\n3\n4\n6"));
        check([before, after, after], third, Some(before));
        check(["", "1\n", "1\n2\n"], [0, 0, 1], Some("2\n"));
        check(["1\n2\n3\n", "1\n2\nnew\n3\n", "1\n2\nnew\n3\n4\n"], [2, 0, 1], Some("1\n2\n3\n4\n"));
        check(["1\n2\n3\n4\n", "1\n3\n4\n", "1\n3\nfour\n"], [1, 1, 0], Some("1\n2\n3\nfour\n"));
        let mark = "\u{feff}1\n2\n3\n";
        let new = "\u{feff}one\n2\n4\n";
        check([mark, &mark.replace('1', "one"), new], [0, 1, 1], Some("\u{feff}1\n2\n4\n"));
        let crlf = |text: &str| text.replace('\n', "\r\n");
        let [crlf_before, crlf_after] = [crlf(before), crlf(after)];
        let [now, expected] = [crlf_after.replace('6', "six"), crlf_before.replace('6', "six")];
        check([&crlf_before, &crlf_after, &now], third, Some(&expected));
    }

    #[test]
    fn what_others_changed_there_or_beside_it_is_left_alone() {
        let (before, after) = ("1\n2\n3\n4\n5\n6\n", "1\n2\nthree\n4\n5\n6\n");
        for now in [
            "1\n2\nthree!\n4\n5\n6\n",
            "1\ntwo\nthree\n4\n5\n6\n",
            "1\n2\nthree\nnew\n4\n5\n6\n",
            "1\n2\n4\n5\n6\n",
            "1\n2\nthree\n4\n1\n2\nthree\n4\n5\n6\n",
            "1\n2\nthree\r\n4\n5\n6\n7\n",
            "\u{feff}1\n2\nthree\n4\n5\n6\n",
            "",
        ] {
            check([before, after, now], [2, 1, 1], None);
        }
        // What came may stand where the line was, or below the line beside that.
        check(["a\nD\nc\nz\n", "a\nc\nz\n", "a\nc\nb\nc\nz\n"], [1, 1, 0], None);
        // A twin of the lines around it came: it may stand above or below.
        check(["1\n0\n2\n0\n0\nx\n", "1\n0\n0\n0\nx\n", "1\n0\n0\n0\n0\nx\n"], [2, 1, 0], None);
        // A last line without an ending would run into what was put below it.
        check(["1\n2", "1\n2\n3\n", "0\n1\n2\n3\n4\n"], [1, 1, 2], None);
        check(["1\n2\n3", "1\n2\nthree", "1\n2\nthree\n4\n"], [2, 1, 1], None);
        check(["1\n2\n3\n", "1\n2\n", "0\n1\n2"], [2, 1, 0], None);
    }

    fn joined(lines: &[u8]) -> String {
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    proptest! {
        /// Two changes of a file, apart from each other: without the first, the second alone is there, if there is an answer.
        /// Few different lines make twins of most. If the second is known exactly, there always is.
        #[test]
        fn without_the_edit_what_others_did_is_there_alone(
            parts in prop::collection::vec(prop::collection::vec(0u8..6, 1..9), 5),
            edited in prop::collection::vec(0u8..6, 0..4),
            others in prop::collection::vec(0u8..6, 0..4),
            is_edit_first in any::<bool>(),
        ) {
            let (edit, other) = if is_edit_first { (1, 3) } else { (3, 1) };
            let made = |changes: &[(usize, &Vec<u8>)]| {
                let mut parts = parts.clone();
                changes.iter().for_each(|(at, lines)| parts[*at] = (*lines).clone());
                (text(joined(&parts.concat()).as_bytes()), parts)
            };
            let map = |(then, parts): &(Arc<Text>, Vec<Vec<u8>>), at: usize, lines: &[u8]| {
                let first = parts[..at].concat().len();
                let block = LineBlock { first, gone: parts[at].len(), came: lines.len() };
                let new = then.line_count() + block.came - block.gone;
                LineMap::from_blocks(then.line_count(), new, vec![block]).unwrap()
            };
            let (before, after) = (made(&[]), made(&[(edit, &edited)]));
            let (now, _) = made(&[(edit, &edited), (other, &others)]);
            let (alone, _) = made(&[(other, &others)]);
            let undone = map(&before, edit, &edited);
            let since = Since::Edits(vec![map(&after, other, &others)]);
            let exact = without(&undone, &before.0, &after.0, &since, &now);
            prop_assert_eq!(exact.map(|text| text.raw().to_vec()), Some(alone.raw().to_vec()));
            let since = Since::Content(Arc::clone(&after.0));
            if let Some(text) = without(&undone, &before.0, &after.0, &since, &now) {
                prop_assert_eq!(text.bytes(), alone.bytes());
            }
        }
    }

    #[test]
    fn the_old_bytes_come_back_in_any_encoding() {
        let contents: [&[u8]; 6] = [
            b"one\ntwo\n",
            b"\xef\xbb\xbfone\r\ntwo",
            b"\xff\xfeo\0n\0e\0\n\0",
            b"gr\xfc\xdfe aus K\xf6ln, sch\xf6ne Gr\xfc\xdfe\n",
            b"caf\xc3\xa9 \xff broken\n",
            b"",
        ];
        for now in contents {
            for then in contents.into_iter().filter(|then| *then != now) {
                let names = |content| Some(("a".into(), text(content)));
                let plan = undo(alloc::vec![UndoneFile {
                    current: names(now),
                    restored: names(then),
                    executable: None
                }]);
                let action = &plan.files()[0].action;
                assert_eq!(action.pieces().unwrap().concat(), then);
                assert_eq!(action.version(), Some(text(then).version()));
                let (after, read) = (action.after().unwrap(), text(then));
                assert_eq!((after.raw(), after.encoding()), (read.raw(), read.encoding()));
                assert_eq!((after.version(), after.line_count()), (read.version(), read.line_count()));
            }
        }
    }
}
