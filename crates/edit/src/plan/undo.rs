//! Plans that revert an edit: each file gets its old content back. No text is searched for: the caller has the old
//! content, and has checked that the file still holds the result of the edit.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Action, FilePlan, Plan, number_whole_files, whole};
use crate::edit::Edit;
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

/// Returns the edit whose result is exactly this content, in its encoding.
fn rewrite(base: &Text, content: &Text) -> Edit {
    whole::rewrite(base, content.bytes()).into_encoding(content.encoding())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(raw: &[u8]) -> Arc<Text> {
        Arc::new(Text::new(raw.to_vec()).unwrap())
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
            }
        }
    }
}
