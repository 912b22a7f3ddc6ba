//! Banners: comments that divide a file into parts, and belong to no definition below them.

/// The signs of which banners are made, besides those that draw lines. Others recur in sentences and in code.
const SIGNS: &str = "-=*#~_+/%@<>^\u{2014}";
/// How many equal signs in a row make a banner.
const MANY: usize = 3;
/// How many make one at the end of a line that begins with none: fewer only stress what they follow.
const MANY_AT_END: usize = 8;
/// The words with which editors mark parts of a file.
const MARKS: [&[u8]; 5] = [b"#region", b"#endregion", b"endregion", b"MARK:", b"%%"];

/// What a comment is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It says something of what follows.
    Remark,
    /// It divides the file.
    Banner,
    /// It divides the file, and is a row of signs without a word: a title may follow.
    Row,
    /// It has a banner among its lines, or may be one.
    Either,
}

/// Returns what a comment is for: `// ---- helpers ----` and `########` are banners. The comment of a documentation tool
/// (`/** ... */`) is none, whatever is in it.
pub(super) fn use_of(comment: &[u8]) -> Use {
    let comment = comment.trim_ascii_end();
    match comment.contains(&b'\n') {
        _ if is_documentation(comment) => Use::Remark,
        false => use_of_line(comment),
        true if comment.split(|byte| *byte == b'\n').all(|line| use_of_line(line) == Use::Remark) => {
            Use::Remark
        }
        true => Use::Either,
    }
}

/// Returns whether a comment is one of a documentation tool.
pub(super) fn is_documentation(comment: &[u8]) -> bool {
    comment.strip_prefix(b"/**").and_then(<[u8]>::first).is_some_and(u8::is_ascii_whitespace)
}

fn use_of_line(line: &[u8]) -> Use {
    let line = line.trim_ascii();
    let opener = [&b"//"[..], b"/*", b"#", b"*"].into_iter().find(|opener| line.starts_with(opener));
    let bare = &line[opener.map_or(0, <[u8]>::len)..];
    let inside = bare.trim_ascii();
    let inside = inside.strip_suffix(b"*/").unwrap_or(inside).trim_ascii();
    if MARKS.iter().any(|mark| inside.starts_with(mark)) {
        return Use::Banner;
    }
    if let Some(b"" | [b' ' | b'\t', ..]) = inside.strip_prefix(b"region") {
        // `#region`, but `# region` may begin a sentence.
        return if bare.starts_with(b"region") { Use::Banner } else { Use::Either };
    }
    let (line, inside) = (String::from_utf8_lossy(line), String::from_utf8_lossy(inside));
    let (first, at_start) = row(inside.chars());
    let (last, at_end) = row(inside.chars().rev());
    let is_banner = row(line.chars()).1 > MANY
        || at_start >= MANY
        || at_end >= MANY_AT_END
        || (at_start >= 2 && (is_line(first) || (first == last && at_end >= MANY)));
    match is_banner {
        true if inside.chars().any(char::is_alphanumeric) => Use::Banner,
        true => Use::Row,
        false => Use::Remark,
    }
}

/// Returns the sign at the beginning, and how often it stands there in a row.
fn row(mut signs: impl Iterator<Item = char>) -> (Option<char>, usize) {
    let sign = signs.next().filter(|sign| SIGNS.contains(*sign) || is_line(Some(*sign)));
    (sign, sign.map_or(0, |sign| 1 + signs.take_while(|next| *next == sign).count()))
}

/// Returns whether a sign draws lines and boxes, and stands in no sentence.
fn is_line(sign: Option<char>) -> bool {
    matches!(sign, Some('\u{2500}'..='\u{259f}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_equal_signs_is_a_banner() {
        for banner in [
            "// ---- helpers ----",
            "// --- helpers",
            "// -- helpers ---",
            "//////////",
            "// helpers ========",
            "# ----",
            "#### Helpers",
            "/* ==== */",
            "# \u{2500}\u{2500} Helpers \u{2500}\u{2500}\u{2500}\u{2500}",
            "# \u{2550}\u{2550}\u{2550}\u{2550}",
            "// \u{2014}\u{2014}\u{2014} helpers",
            "// \u{2588}\u{2588} helpers",
            "//#region a",
            "// #region a",
            "//region a",
            "#region a",
            "#region",
            "#endregion",
            "# endregion",
            "// endregion a",
            "// MARK: - a",
            "# %% a",
        ] {
            let of_words = banner.chars().any(char::is_alphanumeric);
            let expected = if of_words { Use::Banner } else { Use::Row };
            assert_eq!(use_of(banner.as_bytes()), expected, "{banner}");
        }
        for remark in [
            "// Helpers.",
            "// and so on...",
            "# a -- b",
            "## A",
            "/* a */",
            "/// Doc.",
            "/**\n * a\n * ---\n */",
            "// a[--i]",
            "//",
            "#",
            "/**/",
            "// (((",
            "// Returns x!!!",
            "# WARNING: do not call this!!!",
            "// # Heading ---",
            "// a ** b ***",
            "// \u{2014} and more",
            "# regional",
            "#regions",
        ] {
            assert_eq!(use_of(remark.as_bytes()), Use::Remark, "{remark}");
        }
        for either in
            ["/*\n * ~~~~\n * helpers\n */", "/*****\n * x\n *****/", "/*\n a\n ---\n b\n*/", "# region of a"]
        {
            assert_eq!(use_of(either.as_bytes()), Use::Either, "{either}");
        }
    }
}
