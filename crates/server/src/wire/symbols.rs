//! The arguments of the tools that name a symbol.

use emend_lsp::Which;
use schemars::JsonSchema;
use serde::Deserialize;

/// Arguments of `rename_symbol`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameSymbol {
    /// A file with it.
    #[schemars(description = "")]
    pub path: String,
    /// Its name, as in read_file or in line.
    pub symbol: Option<String>,
    /// If it is no definition or one of several.
    pub line: Option<usize>,
    /// If it is there twice.
    pub column: Option<usize>,
    /// Without its path.
    #[schemars(description = "")]
    pub new_name: String,
    /// Although more mentions in code stay than change.
    pub despite_mentions: Option<bool>,
    /// The version, if it must be this.
    #[schemars(description = "")]
    pub version: Option<String>,
}

/// Arguments of `find_symbol`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindSymbol {
    /// Its name (Class.method).
    pub symbol: Option<String>,
    /// Or where it stands: path, path:line or path:line:column.
    pub path: Option<String>,
    /// Default: definition.
    #[schemars(description = "")]
    #[schemars(extend("enum" = ["definition", "references", "implementations"]))]
    pub want: Option<String>,
}

impl FindSymbol {
    /// Returns the path without the line and the column that may follow it, and these.
    pub fn place(&self) -> Option<(&str, Option<usize>, Option<usize>)> {
        let path = self.path.as_deref()?;
        let number = |path| -> Option<(&str, usize)> {
            let (path, number): (&str, &str) = str::rsplit_once(path, ':')?;
            Some((path, number.parse().ok()?))
        };
        Some(match number(path) {
            None => (path, None, None),
            Some((before, last)) => match number(before) {
                None => (before, Some(last), None),
                Some((before, line)) => (before, Some(line), Some(last)),
            },
        })
    }

    /// Returns which places are wanted. The schema has checked the word.
    pub fn which(&self) -> Which {
        match self.want.as_deref() {
            Some("references") => Which::References,
            Some("implementations") => Which::Implementations,
            _ => Which::Definitions,
        }
    }
}
