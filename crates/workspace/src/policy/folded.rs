//! Folded names: names that some disk treats as the same are equal here.
//!
//! Letter case, invisible characters and the composition of accents make no difference. Besides, FAT and NTFS ignore
//! trailing dots and blanks, know `.git` as `GIT~1`, and take what follows a colon for a stream of the same file. Every
//! form of a name is checked, so that refusing one refuses the others on every disk. Short forms of other long names
//! are handled by the patterns ([`short`](super::short)).

use std::ffi::OsString;

use unicode_normalization::UnicodeNormalization;

/// A path below a root, prepared for comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folded {
    plain: Form,
    /// The path without the characters that other disks ignore, if it has any.
    trimmed: Option<Form>,
    /// The trimmed path with the long names that short ones may stand for.
    long: Option<Form>,
}

/// One form of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    path: String,
    /// The end of each component in `path`.
    ends: Vec<usize>,
}

impl Folded {
    pub(crate) fn new(names: &[OsString]) -> Self {
        let names: Vec<String> = names.iter().map(|name| folded(&name.to_string_lossy())).collect();
        let may_be_another =
            |name: &String| name.contains([':', '~']) || name.ends_with('.') || name.ends_with(' ');
        if !names.iter().any(may_be_another) {
            return Self { plain: Form::new(names), ..Self::default() };
        }
        let trimmed: Vec<&str> = names.iter().map(|name| trimmed(name)).collect();
        let long: Vec<Option<String>> = trimmed.iter().map(|name| long_name(name)).collect();
        let is_longer = long.iter().any(Option::is_some);
        let long =
            long.into_iter().zip(&trimmed).map(|(long, name)| long.unwrap_or_else(|| (*name).to_owned()));
        let long = is_longer.then(|| Form::new(long));
        let is_shorter = names.iter().zip(&trimmed).any(|(name, trimmed)| name.len() != trimmed.len());
        let trimmed = is_shorter.then(|| Form::new(trimmed.into_iter().map(str::to_owned)));
        Self { plain: Form::new(names), trimmed, long }
    }

    /// Returns the path as written, then the forms that other disks may take it for.
    pub(super) fn forms(&self) -> impl Iterator<Item = &Form> {
        std::iter::once(&self.plain).chain(&self.trimmed).chain(&self.long)
    }

    /// Returns each form of the path as text.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &str> {
        self.forms().map(|form| form.path.as_str())
    }

    /// Returns the folders above the path, and the path itself, in each of its forms.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.forms().flat_map(Form::prefixes).map(str::to_owned).collect()
    }

    /// Returns whether any component is, or may be, this one.
    pub(super) fn has_name(&self, wanted: &str) -> bool {
        self.forms().any(|form| form.names().any(|name| name == wanted))
    }

    /// Returns the last component as written.
    pub(super) fn last_name(&self) -> &str {
        self.plain.names().last().unwrap_or_default()
    }

    /// Returns whether it is `other`, or beneath it.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        self.forms().any(|form| form.prefixes().any(|prefix| prefix == other.plain.path))
    }
}

impl Form {
    fn new(names: impl IntoIterator<Item = String>) -> Self {
        let mut new = Self::default();
        for name in names {
            if !new.path.is_empty() {
                new.path.push('/');
            }
            new.path.push_str(&name);
            new.ends.push(new.path.len());
        }
        new
    }

    /// Returns the folders above the path, outermost first, and the path itself.
    pub(super) fn prefixes(&self) -> impl Iterator<Item = &str> {
        self.ends.iter().map(|&end| &self.path[..end])
    }

    /// Returns the components.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|end| end + 1));
        starts.zip(&self.ends).map(|(start, &end)| &self.path[start..end])
    }
}

/// Folds a name or pattern like a disk that ignores case, invisible characters and Unicode composition: to some, `.GIT`
/// and a `.git` with a zero-width joiner are both `.git`.
pub(crate) fn folded(written: &str) -> String {
    if written.is_ascii() {
        return written.to_ascii_lowercase();
    }
    let visible = written.chars().filter(|&c| !is_ignorable(c));
    // Through upper case, which unifies more letters that disks treat as the same; and through lower case before,
    // because the capital of ß is SS, and ẞ is a capital already.
    let capital = visible.flat_map(char::to_lowercase).flat_map(char::to_uppercase);
    capital.flat_map(char::to_lowercase).nfc().collect()
}

/// Returns whether a character is invisible to Unicode (`Default_Ignorable_Code_Point`), so that some file systems
/// ignore it in names.
pub(crate) fn is_ignorable(character: char) -> bool {
    matches!(
        character,
        '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fff8}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns a folded name without the suffixes that FAT, NTFS and network clients for them ignore.
fn trimmed(name: &str) -> &str {
    let before_stream = name.split(':').next().filter(|start| !start.is_empty()).unwrap_or(name);
    let trimmed = before_stream.trim_end_matches(['.', ' ']);
    if trimmed.is_empty() { name } else { trimmed }
}

/// Returns the long name with a leading dot that a short one (`git~1`, `emend~1.tom`) may stand for: short names drop
/// the dot. Other long names keep their beginning in the short form.
fn long_name(name: &str) -> Option<String> {
    let (stem, ending) = name.split_once('.').unwrap_or((name, ""));
    let (start, number) = stem.rsplit_once('~')?;
    if start.is_empty() || number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let ending = match ending {
        "" => String::new(),
        "tom" => ".toml".to_owned(),
        "jso" => ".json".to_owned(),
        other => format!(".{other}"),
    };
    Some(format!(".{start}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_any_disk_takes_it_for() {
        let path = |written: &str| Folded::new(&written.split('/').map(OsString::from).collect::<Vec<_>>());
        for other in [
            ".GIT",
            ".g\u{ad}it",
            ".git\u{200b}",
            ".git\u{2060}",
            ".git\u{fe0f}",
            ".git\u{34f}",
            ".git\u{e0001}",
            ".git.",
            ".git ",
            ".git. .",
            "GIT~1",
            "git~12",
            ".git:x",
            ".git::$INDEX_ALLOCATION",
            "GIT~1. ",
        ] {
            assert!(
                path(other).has_name(".git") && path(&format!("a/{other}/b")).has_name(".git"),
                "{other:?}"
            );
        }
        for other in ["EMEND~1.TOM", ".emend.toml::$DATA", ".Emend.toml ."] {
            assert!(path(other).has_name(".emend.toml"), "{other:?}");
        }
        for other in ["git", "git~", "~1", "git~x", "...", ".", " ", "a:b", "git~1x", ".gitx."] {
            assert!(!path(other).has_name(".git"), "{other:?}");
        }
        assert!(path("A /b./c").is_within(&path("a/b")) && !path("ab/c").is_within(&path("a")));
        assert_eq!(path("a./b.RS").last_name(), "b.rs");
        assert_eq!(
            (folded("Straße"), folded("STRASSE"), folded("STRA\u{1e9e}E")),
            ("strasse".into(), "strasse".into(), "strasse".into())
        );
    }
}
