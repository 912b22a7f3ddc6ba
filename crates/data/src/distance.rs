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
/// only in capitals and in signs between words.
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
        is_near || !own.is_empty() && own == words(other)
    };
    known.filter(fits).min_by_key(|other| distance(name, other))
}
