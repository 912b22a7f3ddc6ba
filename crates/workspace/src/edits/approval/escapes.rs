//! Unescaping of strings in JSON, TOML and YAML.

use std::borrow::Cow;

/// Returns the content of a string; anything that is not an escape stays as it is.
pub(super) fn unescaped(written: &[u8]) -> Cow<'_, str> {
    let written = String::from_utf8_lossy(written);
    if !written.contains('\\') {
        return written;
    }
    let mut text = String::with_capacity(written.len());
    let mut rest = written.chars();
    while let Some(character) = rest.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        let digits = match rest.next() {
            Some('u') => 4,
            // Only in TOML and YAML.
            Some('U') => 8,
            Some('x') => 2,
            Some(escaped) => {
                text.push(escaped);
                continue;
            }
            None => break,
        };
        let code: String = rest.by_ref().take(digits).collect();
        let code = u32::from_str_radix(&code, 16).ok().and_then(char::from_u32);
        text.push(code.unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Cow::Owned(text)
}
