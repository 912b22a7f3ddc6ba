//! Placeholders in the arguments of a program, for values that are known only when it runs.

/// Replaces the placeholders in a text. Inserted values are not searched for placeholders.
#[must_use]
pub fn placed(text: &str, places: &[(&str, &str)]) -> String {
    let mut placed = String::new();
    let mut rest = text;
    while let Some((at, (place, value))) =
        places.iter().filter_map(|place| Some((rest.find(place.0)?, place))).min_by_key(|(at, _)| *at)
    {
        placed.push_str(&rest[..at]);
        placed.push_str(value);
        rest = &rest[at + place.len()..];
    }
    placed + rest
}
