//! Formatting: the planned content of a file is replaced by a formatter's output. The plan then contains both changes
//! for the same version of the file, so that there is one diff and one edit.
//!
//! A formatter is an external program, so its output is checked like the text of a request. Output that cannot be in
//! the file is refused, and the plan stays as it was.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::{Action, FilePlan, Plan, encoding_note, whole};
use crate::edit::Edit;
use crate::find::FindLimits;
use crate::text::{LineEnding, LineEndings, Text, with_endings};

impl FilePlan {
    /// Returns whether the file gets new text; one that is deleted or only moved does not.
    #[must_use]
    pub fn has_new_text(&self) -> bool {
        match &self.action {
            Action::Create { .. } => true,
            Action::Modify { edit, .. } | Action::Move { edit, .. } => !edit.spans().is_empty(),
            Action::Delete { .. } => false,
        }
    }

    /// Returns the whole new text of the file as a formatter gets it: in UTF-8, without a BOM.
    #[must_use]
    pub fn new_text(&self) -> Option<Vec<u8>> {
        let text = self.action.text().filter(|_| self.has_new_text())?;
        Some(text.bytes()[text.body()].to_vec())
    }
}

impl Action {
    /// Returns the new content; `None` for a deletion.
    fn text(&self) -> Option<Arc<Text>> {
        match self {
            Self::Create { content } => Some(Arc::clone(content)),
            Self::Modify { base, edit } | Self::Move { base, edit, .. } => Some(Arc::new(edit.result(base))),
            Self::Delete { .. } => None,
        }
    }
}

/// Why what a formatter answers cannot take the place of a file's new text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfitFormat {
    /// The file has bytes that are not UTF-8.
    FileNotUtf8,
    /// The answer is not text in UTF-8.
    NotUtf8,
    /// The answer is empty.
    Empty,
    /// The answer has a character that the encoding of the file lacks.
    Lacks {
        /// The character.
        character: char,
        /// The encoding.
        encoding: &'static str,
    },
    /// The answer is too large.
    TooLarge,
    /// The file would be no text with the answer.
    NoText,
}

impl Plan {
    /// Replaces the [`FilePlan::new_text`] of a file by a formatter's output. Returns whether they differ; the error
    /// says what is wrong with the output.
    ///
    /// A formatter sees the whole file, so its hunks are inseparable from now on.
    pub fn format(
        &mut self,
        file: usize,
        formatted: &[u8],
        limits: &FindLimits,
    ) -> Result<bool, UnfitFormat> {
        let Some(planned) = self.files.get_mut(file) else { return Ok(false) };
        let Some(now) = planned.action.text().filter(|_| planned.has_new_text()) else { return Ok(false) };
        let wanted = fitted(&now, formatted)?;
        if wanted == now.bytes() {
            return Ok(false);
        }
        let number = planned.hunks.first().map_or(1, |hunk| hunk.number);
        let mut rewrite = whole::rewrite(&now, &wanted);
        rewrite.renumber(number);
        let content = Text::with_encoding(wanted, now.encoding())
            .map_err(|character| UnfitFormat::Lacks { character, encoding: now.encoding().name() })?;
        limits.check_file(content.raw().len()).map_err(|_| UnfitFormat::TooLarge)?;
        let action = match &planned.action {
            Action::Create { .. } => Action::Create { content: Arc::new(content) },
            Action::Modify { base, edit } => {
                Action::Modify { base: Arc::clone(base), edit: joined(base, edit, &rewrite, &content) }
            }
            Action::Move { from, base, edit } => Action::Move {
                from: from.clone(),
                base: Arc::clone(base),
                edit: joined(base, edit, &rewrite, &content),
            },
            Action::Delete { .. } => return Ok(false),
        };
        let formatted = FilePlan { action, ..planned.clone() };
        let note = encoding_note(&formatted).map_err(|_| UnfitFormat::NoText)?;
        *planned = formatted;
        self.notes.extend(note.filter(|note| !self.notes.contains(note)));
        Ok(true)
    }

    /// Drops the files that would not change, because a formatter has undone the request's changes. Returns their
    /// names.
    pub fn drop_unchanged(&mut self) -> Vec<String> {
        let mut dropped = vec![];
        self.files.retain(|file| {
            let is_unchanged = matches!(&file.action, Action::Modify { base, edit } if edit.is_no_op(base));
            if is_unchanged && file.executable.is_none() {
                dropped.push(file.name.clone());
                return false;
            }
            true
        });
        dropped
    }
}

/// Combines both edits into one edit of the base, whose hunks are inseparable.
fn joined(base: &Text, edit: &Edit, rewrite: &Edit, content: &Text) -> Edit {
    if content.bytes() == base.bytes() && content.encoding() == base.encoding() {
        return Edit::empty(base).into_joined();
    }
    edit.then(rewrite).without_no_ops(base).into_joined()
}

/// Makes the file's whole view of a formatter's output: with the BOM, and with CRLF if the output lost every CR.
fn fitted(now: &Text, formatted: &[u8]) -> Result<Vec<u8>, UnfitFormat> {
    let body = &now.bytes()[now.body()];
    let formatted = formatted.strip_prefix(b"\xef\xbb\xbf").unwrap_or(formatted);
    if core::str::from_utf8(body).is_err() {
        return Err(UnfitFormat::FileNotUtf8);
    }
    if core::str::from_utf8(formatted).is_err() || formatted.contains(&0) {
        return Err(UnfitFormat::NotUtf8);
    }
    if formatted.is_empty() && !body.is_empty() {
        return Err(UnfitFormat::Empty);
    }
    let mut wanted = now.bytes()[..now.body().start].to_vec();
    let forgot = now.line_endings() == LineEndings::Crlf && memchr::memchr(b'\r', formatted).is_none();
    match forgot {
        true => wanted.extend(with_endings(formatted, LineEnding::Crlf)),
        false => wanted.extend_from_slice(formatted),
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::patch::Patch;
    use crate::patch::v4a;
    use crate::plan::{Source, Sources, build};

    fn planned(file: &[u8], patch: &str) -> Plan {
        let patch = v4a::parse(&format!("*** Begin Patch\n{patch}\n*** End Patch")).unwrap();
        build(&patch, &sources(file), &FindLimits::default()).unwrap()
    }

    fn sources(file: &[u8]) -> Sources {
        let mut sources = Sources::default();
        sources.insert("a", "a", Source::Present(Arc::new(Text::new(file.to_vec()).unwrap())));
        sources.insert("b", "b", Source::Absent);
        sources
    }

    /// Plans an edit of the first line, and applies this output of a formatter.
    #[track_caller]
    fn check(file: &[u8], formatted: &[u8], expected: Result<&[u8], UnfitFormat>) {
        let old = Text::new(file.to_vec()).unwrap();
        let old = &old.bytes()[old.body()];
        let first = core::str::from_utf8(old).unwrap().lines().next().unwrap().trim_end();
        let mut plan = planned(file, &format!("*** Update File: a\n@@\n-{first}\n+new"));
        let before = plan.files()[0].action.pieces().unwrap().concat();
        let told = plan.format(0, formatted, &FindLimits::default());
        let raw = plan.files()[0].action.pieces().unwrap().concat();
        match expected {
            Ok(expected) => {
                assert_eq!((told, &raw[..]), (Ok(true), expected));
                let content = Text::new(raw).unwrap();
                assert_eq!(plan.files()[0].action.version(), Some(content.version()));
            }
            Err(unfit) => {
                assert_eq!(told, Err(unfit));
                assert_eq!(raw, before);
            }
        }
    }

    #[test]
    fn the_answer_takes_the_place_of_the_new_text() {
        check(b"a\nb\nc\n", b"NEW\nb\nc\n", Ok(b"NEW\nb\nc\n"));
        check(b"a\nb\nc\n", b"new\n\nb\nC", Ok(b"new\n\nb\nC"));
        check(b"a\nb\n", b"x\n", Ok(b"x\n"));
    }

    #[test]
    fn the_mark_the_line_endings_and_the_encoding_stay_the_files() {
        check(b"\xef\xbb\xbfa\r\nb\r\n", b"new\nB\n", Ok(b"\xef\xbb\xbfnew\r\nB\r\n"));
        check(b"a\r\nb\r\n", b"\xef\xbb\xbfnew\r\nB\r\n", Ok(b"new\r\nB\r\n"));
        check(b"a\r\nb\nc\r\n", b"new\nb\nc\n", Ok(b"new\nb\nc\n"));
        let utf_16 = |text: &str| -> Vec<u8> {
            format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect()
        };
        check(&utf_16("a\nü\n"), "NEW\nü\n".as_bytes(), Ok(&utf_16("NEW\nü\n")));
        check(b"caf\xe9 ol\xe9\nb\n", "new\nB é\n".as_bytes(), Ok(b"new\nB \xe9\n"));
    }

    #[test]
    fn what_cannot_be_in_the_file_is_refused_and_the_plan_stays() {
        check(b"a\nb\n", b"", Err(UnfitFormat::Empty));
        check(b"a\nb\n", b"\xff\xfe\xfd", Err(UnfitFormat::NotUtf8));
        check(b"a\nb\n", b"a\0b", Err(UnfitFormat::NotUtf8));
        let lacks = UnfitFormat::Lacks { character: '漢', encoding: "windows-1252" };
        check(b"caf\xe9 ol\xe9\nb\n", "new\n漢\n".as_bytes(), Err(lacks));
        let mut plan = planned(b"a\nb\n", "*** Update File: a\n@@\n-a\n+new");
        let limits = FindLimits { file_bytes: 10, ..FindLimits::default() };
        assert_eq!(plan.format(0, b"a long text, too long\n", &limits), Err(UnfitFormat::TooLarge));
        let broken = "grüße aus köln ".as_bytes().iter().chain(b"\xff\na\n").copied().collect::<Vec<u8>>();
        let mut plan = planned(&broken, "*** Update File: a\n@@\n-a\n+new");
        assert_eq!(plan.format(0, b"x\n", &FindLimits::default()), Err(UnfitFormat::FileNotUtf8));
    }

    #[test]
    fn hunks_of_a_formatted_file_belong_together() {
        let patch = "*** Update File: a\n@@\n-a\n+A\n@@\n-c\n+C";
        let mut plan = planned(b"a\nb\nc\n", patch);
        assert_eq!(plan.format(0, b"A\nb\nC\n", &FindLimits::default()), Ok(false));
        assert!(plan.can_take(&[1]).is_ok());
        assert_eq!(plan.format(0, b"A\nB\nC\n", &FindLimits::default()), Ok(true));
        assert!(plan.can_take(&[1]).is_err());
        let (plan, _) = plan.only(&[1, 2]).unwrap();
        assert_eq!(plan.files()[0].action.pieces().unwrap().concat(), b"A\nB\nC\n");
    }

    #[test]
    fn what_a_formatter_undoes_is_no_change() {
        let mut plan = planned(b"a\nb\n", "*** Update File: a\n@@\n-a\n+a  \n*** Add File: b\n+x");
        assert_eq!(plan.format(0, b"a\nb\n", &FindLimits::default()), Ok(true));
        assert_eq!(plan.drop_unchanged(), ["a"]);
        assert_eq!(plan.files().len(), 1);
        // The formatter undoes one of two changes; the other remains.
        let mut plan = planned(b"a\nb\nc\n", "*** Update File: a\n@@\n-a\n+a  \n@@\n-c\n+C");
        assert_eq!(plan.format(0, b"a\nb\nC\n", &FindLimits::default()), Ok(true));
        let Action::Modify { edit, .. } = &plan.files()[0].action else { panic!() };
        assert_eq!(edit.spans().len(), 1);
    }

    #[test]
    fn what_is_only_moved_or_deleted_is_not_formatted() {
        let text_of = |patch: &str| planned(b"a\nb\n", patch).files()[0].new_text();
        assert_eq!(text_of("*** Delete File: a"), None);
        assert_eq!(text_of("*** Move File: a -> b"), None);
        assert_eq!(text_of("*** Update File: a\n*** Move to: b\n@@\n-a\n+A"), Some(b"A\nb\n".to_vec()));
        let new = build(&Patch::write("b", "x\n".into()), &sources(b""), &FindLimits::default()).unwrap();
        assert_eq!(new.files()[0].new_text(), Some(b"x\n".to_vec()));
    }
}
