//! Suggestions for misspelt names.

/// Returns the known name that is closest to a misspelt one, if any is close.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |s: &str| s.to_lowercase().replace(['_', '-'], "");
    let wanted: String = plain(name);
    known
        .into_iter()
        .map(|other| (distance(&wanted, &plain(other)), other))
        .filter(|(distance, other)| {
            *distance <= 2 || plain(other).contains(&wanted) || wanted.contains(&plain(other))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, other)| other)
}

/// Returns the Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_misspelt_name_finds_the_known_one_and_another_word_finds_none() {
        let known = ["old_string", "new_string", "path"];
        for (name, meant) in [
            ("new_sting", Some("new_string")),
            ("oldString", Some("old_string")),
            ("file-path", Some("path")),
            ("colour", None),
        ] {
            assert_eq!(nearest(name, known), meant, "{name}");
        }
    }
}
