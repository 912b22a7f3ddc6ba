//! Pairs of lines around a whole edit: code fences, tags and here-documents.

use super::envelope::{Fence, indent_of};

/// A pair of lines around an edit: the first opens it, the last closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapper<'a> {
    /// A code fence.
    Fence(Fence<'a>),
    /// A tag on a line of its own, such as `<patch>`; `<![CDATA[`; or a here-document of a command that applies it.
    Other { indent: usize, opening: &'a str },
}

impl<'a> Wrapper<'a> {
    /// Returns the wrapper that this line opens.
    pub(super) fn opened_by(line: &'a str) -> Option<Self> {
        let opening = line.trim();
        let other = Self::Other { indent: indent_of(line), opening };
        let is_other =
            matches!(opening, "<![CDATA[") || tag(opening).or(end_of_here_document(opening)).is_some();
        Fence::opened_by(line).map(Self::Fence).or(is_other.then_some(other))
    }

    pub(super) fn is_fence(&self) -> bool {
        matches!(self, Self::Fence(_))
    }

    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        match self {
            Self::Fence(fence) => fence.is_closed_by(line),
            Self::Other { indent, opening } => {
                let (text, end) =
                    (line.trim(), line.trim().strip_prefix("</").and_then(|end| end.strip_suffix('>')));
                indent_of(line) == *indent
                    && match tag(opening) {
                        Some(name) => end == Some(name),
                        None => text == end_of_here_document(opening).unwrap_or("]]>"),
                    }
            }
        }
    }
}

/// Returns the name of a tag without attributes that is all of this text.
fn tag(text: &str) -> Option<&str> {
    text.strip_prefix('<')?.strip_suffix('>').filter(|name| is_word(name))
}

/// Returns the last line of the here-document that this command opens. The command must do nothing but apply the patch where
/// it is: `patch -R` and `cd src && git apply` mean other changes.
fn end_of_here_document(command: &str) -> Option<&str> {
    let (command, word) = command.split_once("<<")?;
    let word = word.trim_start();
    let quoted = ['\'', '"'].into_iter().find_map(|mark| word.strip_prefix(mark)?.strip_suffix(mark));
    let word = quoted.unwrap_or(word);
    let command = command.trim().trim_start_matches("$ ");
    let applies = matches!(command, "" | "apply_patch" | "git apply" | "git apply -" | "patch -p1");
    (applies && is_word(word)).then_some(word)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_opening_has_its_own_closing_line() {
        for (opening, closing) in [
            ("```diff", "```"),
            ("<patch>", "</patch>"),
            ("  <the_diff>", "  </the_diff>"),
            ("<![CDATA[", "]]>"),
            ("<<EOF", "EOF"),
            ("apply_patch << 'PATCH_1'", "PATCH_1"),
            ("$ git apply - <<\"EOF\"", "EOF "),
            ("patch -p1 <<'EOF'", "EOF"),
        ] {
            let wrapper = Wrapper::opened_by(opening).expect(opening);
            assert!(wrapper.is_closed_by(closing), "{opening}");
            for line in ["", "x", "</x>", " ```", "  EOF", " </patch>", "<patch>", opening] {
                assert!(!wrapper.is_closed_by(line), "{opening} {line}");
            }
        }
        for line in [
            "patch -R -p1 <<'EOF'",
            "patch -p0 <<'EOF'",
            "patch <<'EOF'",
            "git apply -R <<EOF",
            "cd src && apply_patch <<'EOF'",
            "cat > x <<EOF",
            "apply_patch <<'EOF",
            "apply_patch <<'EOF' && make",
            "<a href>",
            "<>",
            "</patch>",
            "<<",
            "x < y",
        ] {
            assert_eq!(Wrapper::opened_by(line), None, "{line}");
        }
    }
}
