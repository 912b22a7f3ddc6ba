//! How far names are from each other.

/// The most characters of a name that are compared.
const CHARS: usize = 64;

/// Returns how many characters come, go or change from one name to another, or change places with the next.
pub(crate) fn distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().take(CHARS).collect();
    let other: Vec<char> = other.chars().take(CHARS).collect();
    let mut rows = vec![(0..=one.len()).collect::<Vec<usize>>()];
    for (below, own) in other.iter().enumerate() {
        let mut row = vec![below + 1];
        for (at, character) in one.iter().enumerate() {
            let changed = rows[below][at] + usize::from(own != character);
            let mut least = changed.min(rows[below][at + 1] + 1).min(row[at] + 1);
            if at > 0 && below > 0 && *own == one[at - 1] && other[below - 1] == *character {
                least = least.min(rows[below - 1][at - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[other.len()][one.len()]
}

/// Returns the known name that another is taken for by a slip: it differs in a character of three, in two of more than five, or
/// only in capitals and in signs between words, or one has a word more (`importValue` for `import`). Parts between signs
/// such as `:` are names of their own: `build:watch` is no slip of `build`.
pub(crate) fn slip<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let most = match name.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    let words = |name: &str| {
        name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect::<String>().to_lowercase()
    };
    let own = words(name);
    let fits = |other: &&str| {
        let is_numbered = |name: &str| name.ends_with(|c: char| c.is_ascii_digit());
        let is_near = distance(name, other) <= most && !is_numbered(name) && !is_numbered(other);
        is_near || !own.is_empty() && own == words(other) || has_a_word_more(name, other)
    };
    known.filter(fits).min_by_key(|other| distance(name, other))
}

/// Returns whether two names have as many parts, and those that differ differ by a word at an end.
fn has_a_word_more(one: &str, other: &str) -> bool {
    let parts =
        |name: &str| name.split([':', '/', '.', '@', '-', ' ']).map(str::to_owned).collect::<Vec<_>>();
    let (one, other) = (parts(one), parts(other));
    one != other
        && one.len() == other.len()
        && one.iter().zip(&other).all(|(a, b)| a == b || extends(a, b) || extends(b, a))
}

/// Returns whether a name is another of at least three letters with a word before or behind it.
fn extends(long: &str, short: &str) -> bool {
    let begins_word =
        |text: &str| text.starts_with(|c: char| c == '_' || c.is_uppercase() || c.is_ascii_digit());
    let Some(cut) = long.len().checked_sub(short.len()).filter(|cut| *cut > 0 && short.len() > 2) else {
        return false;
    };
    let before = || {
        let (head, tail) = long.split_at_checked(cut)?;
        Some(
            tail.eq_ignore_ascii_case(short) && (head.ends_with('_') || tail.starts_with(char::is_uppercase)),
        )
    };
    long.strip_prefix(short).is_some_and(begins_word) || before() == Some(true)
}

#[cfg(test)]
mod tests {
    use super::slip;

    #[test]
    fn a_name_with_a_word_more_is_a_slip_and_a_name_below_another_is_not() {
        let known = ["import", "js-yaml", "version", "demo:build", "vite", "react", "test2"];
        let slip = |name: &str| slip(name, known.into_iter());
        for (name, other) in [
            ("importValue", "import"),
            ("import_v2", "import"),
            ("js-yaml_v2", "js-yaml"),
            ("old_version", "version"),
            ("oldVersion", "version"),
            ("demoValue:build", "demo:build"),
            ("imports", "import"),
        ] {
            assert_eq!(slip(name), Some(other), "{name}");
        }
        for name in ["vitejs-dev", "react-dom", "build", "demo:build:all", "imperative", "test3", "r"] {
            assert_eq!(slip(name), None, "{name}");
        }
    }
}
