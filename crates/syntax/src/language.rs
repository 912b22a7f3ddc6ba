//! The languages that are understood, and the files that are written in them.

/// A language that has a grammar here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// JavaScript, with JSX.
    JavaScript,
    /// Python 3.
    Python,
    /// Rust.
    Rust,
}

impl Language {
    /// Its name, as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::JavaScript => "JavaScript",
            Self::Python => "Python",
            Self::Rust => "Rust",
        }
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Self::JavaScript => tree_sitter_javascript::LANGUAGE.into(),
            Self::Python => tree_sitter_python::LANGUAGE.into(),
            Self::Rust => tree_sitter_rust::LANGUAGE.into(),
        }
    }

    /// Whether the grammar knows the language so well that a new file in which it finds an error has one.
    pub(crate) fn judges_new_files(self) -> bool {
        match self {
            Self::JavaScript | Self::Python | Self::Rust => true,
        }
    }
}

/// The language of a file, by its name alone.
pub fn language_of(path: &str) -> Option<Language> {
    let name = path.rsplit(['/', '\\']).next()?;
    let (_, extension) = name.rsplit_once('.')?;
    Some(match extension {
        "cjs" | "js" | "jsx" | "mjs" => Language::JavaScript,
        "py" | "pyi" => Language::Python,
        "rs" => Language::Rust,
        _ => return None,
    })
}
