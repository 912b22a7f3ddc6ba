//! A plan that takes an edit back: each file is to be again what it was. Nothing is looked for, and nothing carried
//! over: the old content is at hand, and the file holds what the edit made of it, which whoever asks has checked.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Action, FilePlan, Plan, number_whole_files, whole};
use crate::edit::Edit;
use crate::text::Text;

/// A file as it is, and as it is to be again.
#[derive(Clone, Debug)]
pub struct UndoneFile {
    /// What it is called now, and what it holds; `None` where it is gone.
    pub current: Option<(String, Arc<Text>)>,
    /// What it was called, and what it held; `None` where it was not there.
    pub restored: Option<(String, Arc<Text>)>,
    /// Whether it is to become executable again, or to be so no longer.
    pub executable: Option<bool>,
}

/// The plan that takes these files back.
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

/// The edit whose result is exactly this content, in its encoding.
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
