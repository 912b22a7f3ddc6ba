//! The paragraph that tells a model to edit with Emend, in a file of rules. It stands between two marks, by which it is
//! found again.

const BEGIN: &str = "<!-- emend: begin -->";
const END: &str = "<!-- emend: end -->";

const PARAGRAPH: &str = "\
Edit, create, move and delete files with the tools of the MCP server `emend` alone: not with edit tools of your own, and
not with shell commands. Read a file with its `read_file` before you edit it. If it refuses an edit, nothing was changed,
and its answer says how to mend the call.";

/// The text with the paragraph in it; a new file begins with `head`.
pub(super) fn put(text: &str, head: &str) -> String {
    if is_in(text) {
        return text.to_owned();
    }
    let block = block(text);
    let newline = newline(text);
    match text {
        "" => format!("{head}{block}"),
        text if text.ends_with('\n') => format!("{text}{newline}{block}"),
        text => format!("{text}{newline}{newline}{block}"),
    }
}

/// Whether the text has the paragraph, as it was put in or changed.
pub(super) fn is_in(text: &str) -> bool {
    text.contains(BEGIN)
}

/// The text without the paragraph, and whether one is left that somebody has changed.
pub(super) fn take_out(text: &str) -> (String, bool) {
    let newline = newline(text);
    let Some((above, below)) = text.split_once(&block(text)) else {
        return (text.to_owned(), text.contains(BEGIN));
    };
    // The empty line that was put above it.
    let gap = format!("{newline}{newline}");
    let above = if above.ends_with(&gap) { &above[..above.len() - newline.len()] } else { above };
    (format!("{above}{below}"), false)
}

fn block(text: &str) -> String {
    format!("{BEGIN}\n{PARAGRAPH}\n{END}\n").replace('\n', newline(text))
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_taken_out_again() {
        for text in ["", "# Mine\n", "# Mine\r\n\r\n- tabs\r\n", "# Mine\n\n"] {
            let put = super::put(text, "");
            assert_eq!(super::put(&put, ""), put, "twice is once");
            assert_eq!(take_out(&put), (text.to_owned(), false));
            let further = format!("{put}{}More{0}", newline(text));
            assert_eq!(take_out(&further).0, format!("{text}{}More{0}", newline(text)));
        }
    }

    #[test]
    fn a_paragraph_that_somebody_has_changed_stays() {
        let changed = put("# Mine\n", "").replace("`emend`", "`emend`, please,");
        assert_eq!(take_out(&changed), (changed.clone(), true));
        assert_eq!(put(&changed, ""), changed);
    }
}
