//! The formats of data files.

/// A format of data files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, also with comments and commas at the end.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
    /// `NAME=value` in lines.
    Env,
    /// `name = value` in sections.
    Ini,
}

impl Format {
    /// Returns the format of a file by its name.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase();
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
        Some(match (&*name, ending) {
            ("cargo.lock" | "poetry.lock" | "uv.lock" | "pipfile", _) | (_, "toml") => Self::Toml,
            (
                "composer.lock" | "flake.lock" | "pipfile.lock" | ".babelrc" | ".eslintrc" | ".prettierrc",
                _,
            )
            | (_, "json" | "jsonc" | "geojson" | "webmanifest" | "code-workspace" | "ipynb" | "avsc") => {
                Self::Json
            }
            (_, "yaml" | "yml") | (".clang-format" | ".clang-tidy" | ".clangd", _) => Self::Yaml,
            (".env", _) | (_, "env") => Self::Env,
            (_, "ini" | "cfg" | "service" | "socket" | "timer" | "desktop")
            | (".editorconfig" | ".gitconfig" | ".npmrc" | ".gitmodules" | ".flake8", _) => Self::Ini,
            _ if name.starts_with(".env.") => Self::Env,
            _ => return None,
        })
    }

    /// Returns its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
            Self::Env => ".env",
            Self::Ini => "INI",
        }
    }
}
