//! The supported languages, their file names, and how far their grammars can be trusted.
//!
//! A grammar may find errors in valid code: in C behind a macro, in recent TypeScript. [`Evidence`] follows from how
//! often that happened in some thousand public files and in the edits of public histories.
//!
//! Deliberately absent: YAML and Ruby, since the scanners of their grammars write out of bounds or abort on crafted
//! texts, and C++, whose grammar is too large for what it would find.

/// A supported language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Bash, and similar shells.
    Bash,
    /// C.
    C,
    /// CSS.
    Css,
    /// Go.
    Go,
    /// HTML.
    Html,
    /// Java.
    Java,
    /// JavaScript, with JSX.
    JavaScript,
    /// JSON.
    Json,
    /// Python.
    Python,
    /// Rust.
    Rust,
    /// TOML.
    Toml,
    /// TypeScript with JSX.
    Tsx,
    /// TypeScript.
    TypeScript,
}

/// The evidence that a file is broken, beyond errors in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// Errors in the tree suffice.
    Errors,
    /// There must be an unmatched bracket too.
    Brackets,
    /// Nothing suffices.
    Nothing,
}

impl Language {
    /// Returns the name of the language, as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bash => "Bash",
            Self::C => "C",
            Self::Css => "CSS",
            Self::Go => "Go",
            Self::Html => "HTML",
            Self::Java => "Java",
            Self::JavaScript => "JavaScript",
            Self::Json => "JSON",
            Self::Python => "Python",
            Self::Rust => "Rust",
            Self::Toml => "TOML",
            Self::Tsx | Self::TypeScript => "TypeScript",
        }
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::Bash => tree_sitter_bash::LANGUAGE.into(),
            Self::C => tree_sitter_c::LANGUAGE.into(),
            Self::Css => tree_sitter_css::LANGUAGE.into(),
            Self::Go => tree_sitter_go::LANGUAGE.into(),
            Self::Html => tree_sitter_html::LANGUAGE.into(),
            Self::Java => tree_sitter_java::LANGUAGE.into(),
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::Json => tree_sitter_json::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
            Self::Toml => tree_sitter_toml_ng::LANGUAGE.into(),
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
        }
    }

    /// Returns the evidence that an edit broke a file. Of people's own edits, it blames at most 3 in 1,000, and most of
    /// these did break their file.
    pub(crate) fn evidence_of_edit(self) -> Evidence {
        match self {
            Self::C | Self::Css => Evidence::Brackets,
            _ => Evidence::Errors,
        }
    }

    /// Returns the evidence that a new file is broken, which no earlier parse vouches for: at most 3 in 1,000 valid
    /// files show it.
    pub(crate) fn evidence_of_new_file(self) -> Evidence {
        match self {
            Self::Go | Self::Java | Self::JavaScript | Self::Json | Self::Python | Self::Toml => {
                Evidence::Errors
            }
            Self::Css | Self::Rust | Self::Tsx | Self::TypeScript => Evidence::Brackets,
            Self::Bash | Self::C | Self::Html => Evidence::Nothing,
        }
    }

    /// Returns whether brackets always come in pairs. In Bash, a pattern of `case` ends with a single one.
    pub(crate) fn pairs_brackets(self) -> bool {
        !matches!(self, Self::Bash | Self::Html)
    }
}

/// Returns the language of a file, by its name alone.
pub fn language_of(path: &str) -> Option<Language> {
    let name = path.rsplit(['/', '\\']).next()?;
    let (stem, extension) = name.rsplit_once('.')?;
    Some(match extension {
        "bash" | "sh" => Language::Bash,
        "c" | "h" => Language::C,
        "css" => Language::Css,
        "go" => Language::Go,
        "htm" | "html" => Language::Html,
        "java" => Language::Java,
        "cjs" | "js" | "jsx" | "mjs" => Language::JavaScript,
        // These files are JSON with comments and trailing commas.
        "json" if ["tsconfig", "jsconfig"].iter().any(|name| stem.starts_with(name)) => return None,
        // Not "jsonc", "json5" and "code-workspace", which have comments and trailing commas as well.
        "avsc" | "geojson" | "har" | "ipynb" | "json" | "jsonld" | "sarif" | "tfstate" | "topojson"
        | "webmanifest" => Language::Json,
        "py" | "pyi" => Language::Python,
        "rs" => Language::Rust,
        "toml" => Language::Toml,
        "tsx" => Language::Tsx,
        "cts" | "mts" | "ts" => Language::TypeScript,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_told_by_the_name_of_the_file() {
        assert_eq!(language_of("src/main.rs"), Some(Language::Rust));
        assert_eq!(language_of("a\\b.d.ts"), Some(Language::TypeScript));
        for json in ["package.json", "a.ipynb", "map.geojson", "site.webmanifest"] {
            assert_eq!(language_of(json), Some(Language::Json), "{json}");
        }
        for unknown in [
            "",
            "rs",
            "Makefile",
            "a.rs/b",
            "tsconfig.build.json",
            "settings.jsonc",
            "a.code-workspace",
            "a.jsonl",
            "a.cpp",
            "a.yaml",
            ".js.",
            "notes.txt",
        ] {
            assert_eq!(language_of(unknown), None, "{unknown}");
        }
    }
}
