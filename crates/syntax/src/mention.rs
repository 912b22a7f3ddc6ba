//! What a place of a text is: code, or a part of a comment or of a string.

use crate::{Language, Limits, language_of, parse};

/// What a place of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PlaceKind {
    /// Code.
    Code,
    /// A part of a comment.
    Comment,
    /// A part of a string, but not code that is put into one.
    Text,
}

/// Returns what each of these bytes of a file is; `None` if that cannot be told. The name of the file tells the language.
#[must_use]
pub fn place_kinds(path: &str, text: &[u8], offsets: &[usize], limits: &Limits) -> Option<Vec<PlaceKind>> {
    let tree = parse::tree(language_of(path).or_else(|| close_to(path))?, text, limits, None)?;
    let kind = |offset: &usize| {
        let mut node = tree.root_node().descendant_for_byte_range(*offset, offset + 1);
        while let Some(around) = node {
            let kind = around.kind();
            if kind.contains("comment") {
                return PlaceKind::Comment;
            }
            // Such as `${x}` in a template of TypeScript, and `{x}` in an f-string of Python.
            if kind.contains("interpolation") || kind.contains("substitution") {
                return PlaceKind::Code;
            }
            if around.is_named()
                && (kind.contains("string") || kind.contains("char_literal") || kind == "jsx_text")
            {
                return PlaceKind::Text;
            }
            node = around.parent();
        }
        PlaceKind::Code
    };
    Some(offsets.iter().map(kind).collect())
}

/// Returns a language whose comments and strings are those of a file of another.
fn close_to(path: &str) -> Option<Language> {
    let (_, ending) = path.rsplit_once('.')?;
    Some(match ending {
        "cc" | "cpp" | "cu" | "cxx" | "hh" | "hpp" | "hxx" | "m" | "mm" => Language::C,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(path: &str, text: &str) -> String {
        let offsets: Vec<usize> = text.match_indices("name").map(|(at, _)| at).collect();
        let kinds =
            place_kinds(path, text.as_bytes(), &offsets, &Limits::default()).expect("a known language");
        let letter = |kind: &PlaceKind| match kind {
            PlaceKind::Code => 'c',
            PlaceKind::Comment => '#',
            PlaceKind::Text => '"',
        };
        kinds.iter().map(letter).collect()
    }

    #[test]
    fn comments_and_strings_are_no_code_but_what_is_put_into_strings_is() {
        assert_eq!(kinds("a.py", "name = 1  # name\nf'name {name}'\n'''name'''\n"), "c#\"c\"");
        assert_eq!(kinds("a.ts", "/* name */ let name: string = `name ${name}`; // name\n"), "#c\"c#");
        assert_eq!(kinds("a.rs", "/// name\nfn name() { \"name\"; 'n'; r#\"name\"#; }\n"), "#c\"\"");
        assert_eq!(kinds("a.go", "package name\n\n// name\nvar a = \"name\" + `name` + name\n"), "c#\"\"c");
        assert_eq!(kinds("a.cpp", "template <class name> int f(); // name\n"), "c#");
        assert_eq!(kinds("a.tsx", "const a = <p title=\"name\">name {name}</p>;\n"), "\"\"c");
        assert_eq!(place_kinds("a.txt", b"name", &[0], &Limits::default()), None);
    }
}
