//! Banners: comments that divide a file into parts, and belong to no definition below them.

/// The signs of which banners are made. Dots and brackets recur in sentences and in code.
const SIGNS: &[u8] = b"-=*#~_+/%@!<>^";
/// How many equal signs in a row make a banner.
const MANY: usize = 3;
/// The words with which editors mark parts of a file.
const MARKS: [&[u8]; 4] = [b"#region", b"#endregion", b"MARK:", b"%%"];

/// Returns whether a comment is a banner, or has one among its lines: `// ---- helpers ----`, `########`. The comment of a
/// documentation tool (`/** ... */`) is none, whatever is in it.
pub(super) fn is_banner(comment: &[u8]) -> bool {
    let is_documentation =
        comment.strip_prefix(b"/**").and_then(<[u8]>::first).is_some_and(u8::is_ascii_whitespace);
    !is_documentation && comment.split(|byte| *byte == b'\n').any(is_banner_line)
}

fn is_banner_line(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let opener = [&b"//"[..], b"/*", b"#", b"*"].into_iter().find(|opener| line.starts_with(opener));
    let inside = line[opener.map_or(0, <[u8]>::len)..].trim_ascii();
    let inside = inside.strip_suffix(b"*/").unwrap_or(inside).trim_ascii();
    MARKS.iter().any(|mark| inside.starts_with(mark))
        || row(line.iter()) > MANY
        || row(inside.iter()) >= MANY
        || row(inside.iter().rev()) >= MANY
}

/// Returns how many equal signs stand in a row at the beginning.
fn row<'b>(mut bytes: impl Iterator<Item = &'b u8>) -> usize {
    let sign = bytes.next().filter(|sign| SIGNS.contains(sign));
    sign.map_or(0, |sign| 1 + bytes.take_while(|byte| *byte == sign).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_equal_signs_at_either_end_is_a_banner() {
        for banner in [
            "// ---- helpers ----",
            "// --- helpers",
            "//////////",
            "// helpers ======",
            "# ----",
            "#### Helpers",
            "/* ==== */",
            "/*\n * ~~~~\n * helpers\n */",
            "/*****\n * x\n *****/",
            "//#region a",
            "// MARK: - a",
            "# %% a",
        ] {
            assert!(is_banner(banner.as_bytes()), "{banner}");
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
        ] {
            assert!(!is_banner(remark.as_bytes()), "{remark}");
        }
    }
}
