//! Texts of any bytes: an empty edit keeps the raw bytes, and any other edit keeps those outside it.

use arbitrary::Arbitrary;
use emend_edit::Text;
use emend_edit::edit::{Edit, EditBuilder};

/// A file of any bytes, and what is replaced in it.
#[derive(Arbitrary, Debug)]
pub struct Input<'a> {
    mark: u8,
    from: u16,
    to: u16,
    new: &'a str,
    file: &'a [u8],
}

/// Edits nothing, and something.
pub fn check(input: &Input<'_>) {
    let mut file = input.file.to_vec();
    match input.mark % 6 {
        0 => drop(file.splice(0..0, *b"\xff\xfe")),
        1 => drop(file.splice(0..0, *b"\xfe\xff")),
        2 => drop(file.splice(0..0, *b"\xef\xbb\xbf")),
        3 => file = input.file.iter().flat_map(|&byte| [byte, 0]).collect(),
        _ => {}
    }
    if input.mark % 6 == 3 {
        file.splice(0..0, *b"\xff\xfe");
    }
    let Ok(text) = Text::new(file.clone()) else { return };
    assert_eq!(text.raw(), file);
    let nothing = Edit::empty(&text);
    assert!(nothing.is_no_op(&text));
    assert_eq!(nothing.raw_pieces(&text).concat(), file);
    assert_eq!(nothing.apply(text.bytes()), text.bytes());
    let _ = (text.lines().len(), text.line_endings());

    let body = text.body();
    let boundary = |at: u16| {
        let mut at = body.start + at as usize % (body.len() + 1);
        while text.bytes().get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
            at += 1;
        }
        at
    };
    let (from, to) = (boundary(input.from), boundary(input.to));
    let range = from.min(to)..from.max(to);
    let mut builder = EditBuilder::new(&text);
    builder.replace(1, range.clone(), input.new.as_bytes().to_vec());
    let edit = builder.finish().expect("one span overlaps nothing");
    let view = [&text.bytes()[..range.start], input.new.as_bytes(), &text.bytes()[range.end..]].concat();
    assert_eq!(edit.apply(text.bytes()), view);
    assert_eq!(edit.new_len(), view.len());
    if !edit.not_encodable().is_empty() {
        return;
    }
    let spans = edit.raw_spans(&text);
    assert_eq!(spans.len(), 1);
    let raw = edit.raw_pieces(&text).concat();
    let (span, new) = &spans[0];
    assert!(raw.starts_with(&file[..span.start]) && raw.ends_with(&file[span.end..]));
    assert_eq!(raw.len(), file.len() - span.len() + new.len());
    // The second way to the same bytes: all of the new view, encoded at once.
    if !text.encoding().is_view() {
        assert_eq!(edit.result(&text).raw(), raw, "{}", text.encoding().name());
    }
}
