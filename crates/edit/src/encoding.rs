//! Text encodings: detection, decoding and encoding.
//!
//! Matching and output always use UTF-8, the *view* of a file. An encoding other than UTF-8 is accepted only if the
//! view, encoded again, gives exactly the bytes of the file. So a wrong guess can show odd characters, but it damages
//! nothing: every byte that no edit replaces is copied.
//!
//! All encodings here are stateless: a character's bytes do not depend on the characters before it. Stateful ones
//! (ISO-2022-JP, UTF-7) are never guessed.

use alloc::vec::Vec;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{EncoderResult, GB18030, GBK, UTF_16BE, UTF_16LE};

use crate::problem::NotText;

/// How many bytes of a file, from about its first non-ASCII character on, the guess of an encoding uses.
const GUESSED_FROM: usize = 256 * 1024;
/// A file that is not plain UTF-8 is binary if it has more than one control character in this many bytes.
const BYTES_FOR_A_CONTROL: usize = 40;

/// The encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(Inner);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inner {
    Utf8,
    /// UTF-8 with some invalid bytes, which are kept, and shown as U+FFFD.
    BrokenUtf8,
    /// UTF-16 with a byte order mark, which is U+FEFF in the view too.
    Utf16Le,
    Utf16Be,
    Legacy(&'static encoding_rs::Encoding),
}

impl Encoding {
    /// The encoding of new files.
    pub const UTF_8: Self = Self(Inner::Utf8);

    /// Detects the encoding of a file. Also returns its view if that differs from the bytes; the error says why they
    /// are no text.
    pub(crate) fn detect(raw: &[u8]) -> Result<(Self, Option<Vec<u8>>), NotText> {
        match raw {
            [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => return Err(NotText::Utf32),
            [0xff, 0xfe, ..] => return utf_16(Self(Inner::Utf16Le), raw),
            [0xfe, 0xff, ..] => return utf_16(Self(Inner::Utf16Be), raw),
            _ => {}
        }
        if memchr::memchr(0, raw).is_some() {
            return Err(NotText::Nul);
        }
        if core::str::from_utf8(raw).is_ok() {
            return Ok((Self::UTF_8, None));
        }
        if is_mostly_utf_8(raw) {
            return if is_binary(raw) { Err(NotText::Binary) } else { Ok((Self(Inner::BrokenUtf8), None)) };
        }
        let guess = guess(raw);
        // GB18030 contains GBK.
        let wider = (guess == GBK).then_some(GB18030);
        let fits = |encoding| {
            let encoding = Self(Inner::Legacy(encoding));
            let view = encoding.decode(raw)?;
            let text = core::str::from_utf8(&view).ok()?;
            (encoding.encode_plainly(text).ok()? == raw).then_some((encoding, view))
        };
        let Some((encoding, view)) = fits(guess).or_else(|| fits(wider?)) else {
            return Err(NotText::NoEncoding);
        };
        if is_binary(&view) { Err(NotText::Binary) } else { Ok((encoding, Some(view))) }
    }

    /// Returns the name of the encoding in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Inner::Utf8 => "utf-8",
            Inner::BrokenUtf8 => "utf-8 with invalid bytes",
            Inner::Utf16Le => "utf-16le",
            Inner::Utf16Be => "utf-16be",
            Inner::Legacy(encoding) => lower_case(encoding.name()),
        }
    }

    /// Returns whether files of this encoding are their own view.
    #[must_use]
    pub fn is_view(self) -> bool {
        matches!(self.0, Inner::Utf8 | Inner::BrokenUtf8)
    }

    /// Returns whether the characters of such a file are certain: its encoding is no guess.
    #[must_use]
    pub fn is_unicode(self) -> bool {
        matches!(self.0, Inner::Utf8 | Inner::Utf16Le | Inner::Utf16Be)
    }

    /// Decodes bytes to their view; `None` if they are not of this encoding.
    #[must_use]
    pub fn decode(self, raw: &[u8]) -> Option<Vec<u8>> {
        let encoding = match self.0 {
            Inner::Utf8 => return core::str::from_utf8(raw).is_ok().then(|| raw.to_vec()),
            Inner::BrokenUtf8 => return Some(raw.to_vec()),
            Inner::Utf16Le => UTF_16LE,
            Inner::Utf16Be => UTF_16BE,
            Inner::Legacy(encoding) => encoding,
        };
        let text = encoding.decode_without_bom_handling_and_without_replacement(raw)?;
        Some(text.into_owned().into_bytes())
    }

    /// Encodes a text; the error is the first character that the encoding lacks.
    pub fn encode(self, text: &str) -> Result<Vec<u8>, char> {
        let raw = self.encode_plainly(text)?;
        // Some encoders write a lookalike for a character: in Shift_JIS, a yen sign becomes a backslash. A character
        // that would not be read back as it was written counts as lacking.
        let is_legacy = matches!(self.0, Inner::Legacy(_));
        if is_legacy && !text.is_ascii() && self.decode(&raw).as_deref() != Some(text.as_bytes()) {
            let mut utf8 = [0; 4];
            let lost = |c: &char| {
                let text = c.encode_utf8(&mut utf8);
                let raw = self.encode_plainly(text);
                raw.ok().and_then(|raw| self.decode(&raw)).as_deref() != Some(text.as_bytes())
            };
            return Err(text.chars().find(lost).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Ok(raw)
    }

    fn encode_plainly(self, text: &str) -> Result<Vec<u8>, char> {
        match self.0 {
            Inner::Utf8 | Inner::BrokenUtf8 => Ok(text.as_bytes().to_vec()),
            Inner::Utf16Le => Ok(text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
            Inner::Utf16Be => Ok(text.encode_utf16().flat_map(u16::to_be_bytes).collect()),
            Inner::Legacy(encoding) => {
                let mut raw = Vec::with_capacity(text.len());
                each_encoded(encoding, text, |piece| raw.extend_from_slice(piece))?;
                Ok(raw)
            }
        }
    }

    /// Returns how many raw bytes this slice of a view stands for. It must begin and end between characters.
    pub(crate) fn raw_len(self, view: &[u8]) -> usize {
        let characters = || view.iter().filter(|&&byte| byte & 0xc0 != 0x80).count();
        match self.0 {
            Inner::Utf8 | Inner::BrokenUtf8 => view.len(),
            // A character of four bytes in UTF-8 has two UTF-16 units.
            Inner::Utf16Le | Inner::Utf16Be => {
                2 * (characters() + view.iter().filter(|&&byte| byte >= 0xf0).count())
            }
            Inner::Legacy(encoding) if encoding.is_single_byte() => characters(),
            Inner::Legacy(encoding) => {
                let mut len = 0;
                let text = core::str::from_utf8(view).unwrap_or_default();
                // Encoding the view of a file cannot fail: that was checked when the file was read.
                let _ = each_encoded(encoding, text, |piece| len += piece.len());
                len
            }
        }
    }
}

/// Encodes a text piece by piece, without substitutes; the error is the first character that the encoding lacks.
fn each_encoded(
    encoding: &'static encoding_rs::Encoding,
    text: &str,
    mut take: impl FnMut(&[u8]),
) -> Result<(), char> {
    let mut encoder = encoding.new_encoder();
    let mut buffer = [0; 4096];
    let mut rest = text;
    loop {
        let (result, read, written) = encoder.encode_from_utf8_without_replacement(rest, &mut buffer, true);
        take(&buffer[..written]);
        rest = &rest[read..];
        match result {
            EncoderResult::InputEmpty => return Ok(()),
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(character) => return Err(character),
        }
    }
}

fn utf_16(encoding: Encoding, raw: &[u8]) -> Result<(Encoding, Option<Vec<u8>>), NotText> {
    if !raw.len().is_multiple_of(2) {
        return Err(NotText::OddUtf16);
    }
    let Some(view) = encoding.decode(raw) else {
        return Err(NotText::HalfSurrogate);
    };
    if memchr::memchr(0, &view).is_some() {
        return Err(NotText::NulInUtf16);
    }
    if is_binary(&view) { Err(NotText::Binary) } else { Ok((encoding, Some(view))) }
}

/// Returns whether a view has too many control characters for text. A final DOS end-of-file mark does not count.
fn is_binary(view: &[u8]) -> bool {
    let view = view.strip_suffix(b"\x1a").unwrap_or(view);
    let low = view.iter().filter(|&&byte| match byte {
        b'\t' | b'\n' | b'\r' | b'\x0c' | b'\x1b' => false,
        byte => byte < 0x20 || byte == 0x7f,
    });
    // U+0080 to U+009F, except U+0085, a line ending of mainframes.
    let high = view.windows(2).filter(|pair| pair[0] == 0xc2 && pair[1] < 0xa0 && pair[1] != 0x85);
    (low.count() + high.count()) * BYTES_FOR_A_CONTROL > view.len()
}

/// Returns whether this is UTF-8 with some broken bytes. Text in other encodings contains chance UTF-8 sequences, but
/// they never outnumber the other bytes.
fn is_mostly_utf_8(raw: &[u8]) -> bool {
    let (mut sequences, mut invalid) = (0, 0);
    for chunk in raw.utf8_chunks() {
        sequences += chunk.valid().bytes().filter(|&byte| byte >= 0xc0).count();
        invalid += chunk.invalid().len();
    }
    sequences >= 2 * invalid
}

fn guess(raw: &[u8]) -> &'static encoding_rs::Encoding {
    let first = raw.iter().position(|byte| !byte.is_ascii()).unwrap_or(0);
    // The context before it matters to the guess.
    let from = first.saturating_sub(64);
    let to = raw.len().min(from + GUESSED_FROM);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&raw[from..to], to == raw.len());
    detector.guess(None, Utf8Detection::Deny)
}

/// Returns a name in lower case, from a table because the result must be `'static`.
fn lower_case(name: &'static str) -> &'static str {
    const NAMES: &[&str] = &[
        "big5",
        "euc-jp",
        "euc-kr",
        "gb18030",
        "gbk",
        "ibm866",
        "iso-8859-2",
        "iso-8859-3",
        "iso-8859-4",
        "iso-8859-5",
        "iso-8859-6",
        "iso-8859-7",
        "iso-8859-8",
        "iso-8859-8-i",
        "iso-8859-10",
        "iso-8859-13",
        "iso-8859-14",
        "iso-8859-15",
        "iso-8859-16",
        "koi8-r",
        "koi8-u",
        "shift_jis",
    ];
    NAMES.iter().find(|lower| lower.eq_ignore_ascii_case(name)).copied().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Edit, EditBuilder};
    use crate::text::{LineEndings, Text};
    use alloc::string::String;
    use alloc::vec;
    use proptest::prelude::*;

    fn text(raw: &[u8]) -> Text {
        Text::new(raw.to_vec()).unwrap()
    }

    fn legacy(label: &str, text: &str) -> Vec<u8> {
        let (raw, encoding, lacking) =
            encoding_rs::Encoding::for_label(label.as_bytes()).unwrap().encode(text);
        assert!(!lacking && encoding != encoding_rs::UTF_8);
        raw.into_owned()
    }

    fn utf_16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        let text = alloc::format!("\u{feff}{text}");
        text.encode_utf16().flat_map(unit).collect()
    }

    /// Returns the raw bytes after `old` was replaced by `new`.
    fn replaced(text: &Text, old: &str, new: &str) -> Vec<u8> {
        let at = memchr::memmem::find(text.bytes(), old.as_bytes()).unwrap();
        let mut builder = EditBuilder::new(text);
        builder.replace(1, at..at + old.len(), new.into());
        let edit = builder.finish().unwrap();
        assert_eq!(edit.not_encodable(), []);
        let raw = edit.raw_pieces(text).concat();
        assert_eq!(edit.result(text).raw(), raw, "by way of the view it is the same");
        raw
    }

    /// Checks that the encoding of a file with these lines is recognised, and that an edit leaves its other bytes
    /// alone.
    #[track_caller]
    fn check(name: &str, encode: impl Fn(&str) -> Vec<u8>, before: &str, old: &str, new: &str) {
        let read = text(&encode(before));
        assert_eq!(read.encoding().name(), name);
        assert_eq!(&read.bytes()[read.body()], before.as_bytes());
        assert_eq!(replaced(&read, old, new), encode(&before.replacen(old, new, 1)));
    }

    #[test]
    fn each_encoding_is_recognised_and_kept() {
        let mixed = "eins\r\nzwei \u{e4}\u{1f600}\nletzte";
        check("utf-16le", |text| utf_16(text, u16::to_le_bytes), mixed, "zwei \u{e4}", "\u{4e8c}\r\n");
        check("utf-16be", |text| utf_16(text, u16::to_be_bytes), mixed, "\u{1f600}\nletzte", "\u{e9}");
        check(
            "windows-1252",
            |text| legacy("windows-1252", text),
            "Ein caf\u{e9} f\u{fc}r 5 \u{20ac}\r\nund Gr\u{fc}\u{df}e\nohne Ende",
            "caf\u{e9}",
            "Tee \u{e0} l\u{2019}anglaise",
        );
        check(
            "shift_jis",
            |text| legacy("shift_jis", text),
            "# 設定ファイル\r\n名前 = \"日本語のテスト\"\r\n表示 = ｶﾀｶﾅ\n終わり",
            "日本語のテスト",
            "ソース\\表",
        );
        check(
            "euc-jp",
            |text| legacy("euc-jp", text),
            "これは日本語の文章です。\n次の行\n",
            "次の行",
            "前の行",
        );
        check(
            "gbk",
            |text| legacy("gbk", text),
            "// 这是一个配置文件，请不要修改\r\nint 数量 = 3; // 数量\n结束",
            "3; // 数量",
            "4; // 总数",
        );
        check(
            "euc-kr",
            |text| legacy("euc-kr", text),
            "이것은 한국어 문서입니다.\n두 번째 줄\r\n마지막",
            "두 번째",
            "세 번째",
        );
        check("big5", |text| legacy("big5", text), "這是一個繁體中文的檔案\n第二行\n", "第二行", "第三行");
        check(
            "windows-1251",
            |text| legacy("windows-1251", text),
            "Это русский текст в старой кодировке\r\nвторая строка\n",
            "вторая",
            "третья",
        );
    }

    #[test]
    fn line_endings_and_a_missing_final_newline_are_those_of_the_view() {
        let read = text(&utf_16("a\r\nb\nc", u16::to_le_bytes));
        assert_eq!((read.line_endings(), read.lines().len()), (LineEndings::Mixed, 3));
        assert_eq!(replaced(&read, "b\n", ""), utf_16("a\r\nc", u16::to_le_bytes));
    }

    #[test]
    fn characters_of_gb18030_alone_are_kept_too() {
        let content = "这是一个文本文件，里面有生僻字𠀀和表情\n请保持原样\n";
        let read = text(&legacy("gb18030", content));
        assert_eq!((read.encoding().name(), read.bytes()), ("gb18030", content.as_bytes()));
    }

    #[test]
    fn utf_8_with_a_few_bad_bytes_keeps_them() {
        let raw = "Grüße, größer\nähnlich \u{1f600}\n".as_bytes();
        let raw = [raw, b"bad: \xff\xc3\n"].concat();
        let read = text(&raw);
        assert_eq!((read.encoding().name(), read.bytes()), ("utf-8 with invalid bytes", &raw[..]));
        assert_eq!(
            replaced(&read, "ähnlich", "漢"),
            ["Grüße, größer\n漢 \u{1f600}\n".as_bytes(), b"bad: \xff\xc3\n"].concat()
        );
    }

    #[test]
    fn what_no_encoding_explains_is_no_text() {
        for raw in [
            &b"a\0b"[..],
            b"\xff\xfe\0\0a\0\0\0",
            b"\0\0\xfe\xff\0\0\0a",
            b"\xff\xfea",
            b"\xff\xfe\0\xd8a\0",
            b"\xff\xfea\0\0\0",
            b"\x89PNG\r\n\x1a\n\x01\x02\x03\xffIHDR",
            b"\xe9\x01\x02\x03\x04\x05\x06\x07\x08",
        ] {
            assert!(Text::new(raw.to_vec()).is_err(), "{raw:?}");
        }
    }

    #[test]
    fn a_character_that_an_encoding_lacks_or_would_change_is_named() {
        let sjis = text(&legacy("shift_jis", "これは日本語のテストです。\n設定\n")).encoding();
        assert_eq!(sjis.name(), "shift_jis");
        assert_eq!(sjis.encode("値段は ¥5"), Err('¥'), "it would become a backslash");
        assert_eq!(sjis.encode("a\u{e9}\u{1f600}"), Err('\u{e9}'));
        assert_eq!(text(b"caf\xe9\n").encoding().encode("x \u{2192} y"), Err('\u{2192}'));
        let utf_16 = text(b"\xff\xfea\0").encoding();
        assert_eq!(utf_16.encode("\u{1f600}").unwrap(), b"\x3d\xd8\x00\xde");
    }

    #[test]
    fn every_name_is_in_lower_case() {
        for encoding in [encoding_rs::KOI8_U, encoding_rs::ISO_8859_2, encoding_rs::WINDOWS_1252, GB18030] {
            let name = Encoding(Inner::Legacy(encoding)).name();
            assert_eq!(name, encoding.name().to_ascii_lowercase());
        }
    }

    /// Generates random bytes, and random text in some encoding.
    fn any_raw() -> impl Strategy<Value = Vec<u8>> {
        let bytes = proptest::collection::vec(prop_oneof![3 => 0x20u8..=0xff, 1 => Just(b'\n')], 0..60);
        let labels = vec!["windows-1252", "shift_jis", "euc-jp", "gbk", "gb18030", "euc-kr", "big5"];
        let texts = "([a-z ]{0,6}[あ-ん一-鿿가-힣é-ü]{0,6}\r?\n?){0,8}";
        prop_oneof![
            bytes.clone(),
            bytes.prop_map(|bytes| [b"\xff\xfe".to_vec(), bytes].concat()),
            any::<String>().prop_map(|text| utf_16(&text, u16::to_be_bytes)),
            (proptest::sample::select(labels), texts).prop_map(|(label, text)| {
                encoding_rs::Encoding::for_label(label.as_bytes()).unwrap().encode(&text).0.into_owned()
            }),
        ]
    }

    fn boundary(view: &[u8], at: usize) -> usize {
        let mut at = at % (view.len() + 1);
        while at > 0 && view.get(at).is_some_and(|byte| byte & 0xc0 == 0x80) {
            at -= 1;
        }
        at
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn the_edit_of_nothing_gives_exactly_the_bytes(raw in any_raw()) {
            if let Ok(text) = Text::new(raw.clone()) {
                prop_assert_eq!(text.raw(), &raw[..]);
                prop_assert_eq!(Edit::empty(&text).raw_pieces(&text).concat(), raw);
            }
        }

        #[test]
        fn an_edit_leaves_every_byte_outside_of_it_alone(
            raw in any_raw(),
            places in (any::<u16>(), any::<u16>(), any::<u16>(), any::<u16>()),
            new in ("[a-zé漢あ가\r\n\u{1f600}]{0,4}", "[a-zé漢あ가\r\n\u{1f600}]{0,4}"),
        ) {
            if let Ok(text) = Text::new(raw.clone()) {
                let view = text.bytes();
                let at = |place: u16| boundary(view, usize::from(place)).max(text.body().start);
                let mut ends = [at(places.0), at(places.1), at(places.2), at(places.3)];
                ends.sort_unstable();
                let mut builder = EditBuilder::new(&text);
                builder.replace(1, ends[0]..ends[1], new.0.clone().into_bytes());
                builder.replace(2, ends[2]..ends[3], new.1.clone().into_bytes());
                let edit = builder.finish().unwrap();
                if edit.not_encodable().is_empty() {
                    let after = edit.raw_pieces(&text).concat();
                    let encoding = text.encoding();
                    let raw_at = |view_at: usize| {
                        let prefix = &view[..view_at];
                        if encoding.is_view() { view_at } else {
                            encoding.encode(core::str::from_utf8(prefix).unwrap()).unwrap().len()
                        }
                    };
                    let encoded = [&new.0, &new.1].map(|new| encoding.encode(new).unwrap());
                    let expected = [
                        &raw[..raw_at(ends[0])],
                        &encoded[0],
                        &raw[raw_at(ends[1])..raw_at(ends[2])],
                        &encoded[1],
                        &raw[raw_at(ends[3])..],
                    ].concat();
                    prop_assert_eq!(&after, &expected);
                    prop_assert_eq!(encoding.decode(&after), Some(edit.apply(view)), "it reads as meant");
                    let result = edit.result(&text);
                    prop_assert_eq!((result.raw(), result.encoding()), (&after[..], encoding));
                } else {
                    prop_assert!(!encoding_takes(&text, &new.0) || !encoding_takes(&text, &new.1));
                }
            }
        }
    }

    fn encoding_takes(text: &Text, new: &str) -> bool {
        text.encoding().encode(new).is_ok()
    }
}
