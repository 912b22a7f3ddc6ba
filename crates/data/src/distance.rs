//! How far names are from each other.

/// The most characters of a name that are compared.
const CHARS: usize = 64;

/// Returns how many characters come, go or change from one name to another.
pub(crate) fn distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().take(CHARS).collect();
    let mut row: Vec<usize> = (0..=one.len()).collect();
    for (above, own) in other.chars().take(CHARS).enumerate() {
        let mut corner = above;
        row[0] = above + 1;
        for (at, other) in one.iter().enumerate() {
            let changed = corner + usize::from(own != *other);
            corner = row[at + 1];
            row[at + 1] = changed.min(corner + 1).min(row[at] + 1);
        }
    }
    row[one.len()]
}

/// Returns the known name that another is taken for by a slip: it differs in a character of three, or in two of more than five.
pub(crate) fn slip<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let most = match name.chars().count() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    let fits = |other: &&str| {
        let is_numbered = |name: &str| name.ends_with(|c: char| c.is_ascii_digit());
        distance(name, other) <= most && !is_numbered(name) && !is_numbered(other)
    };
    known.filter(fits).min_by_key(|other| distance(name, other))
}
