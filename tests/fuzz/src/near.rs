//! The nearest lines in a refusal: no panic, no overlong text, and only lines that the file has.

use arbitrary::{Arbitrary, Result, Unstructured};
use emend_edit::Text;
use emend_edit::find::{self, Haystack, contents};

/// No refusal shows more lines and differences than this.
const MOST: usize = 60;

/// A file, and what is not in it.
#[derive(Debug)]
pub struct Input {
    file: String,
    old: String,
    new: String,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let file = crate::content(u, 60)?;
        let mut old = if u.ratio(2, 3)? { crate::finder::part(u, &file)? } else { crate::content(u, 20)? };
        if u.ratio(1, 2)? {
            old.push_str(&crate::line(u)?);
        }
        let new = if u.ratio(1, 3)? { crate::finder::part(u, &file)? } else { crate::content(u, 20)? };
        Ok(Self { file, old, new })
    }
}

/// Shows the nearest lines.
pub fn check(input: &Input) {
    let Ok(text) = Text::new(input.file.clone().into_bytes()) else { return };
    let haystack = Haystack::new(&text);
    let near = find::near(&haystack, &contents(input.old.as_bytes()), &contents(input.new.as_bytes()));
    let lines = haystack.lines();
    for place in &near.places {
        assert_eq!(place.numbers.len(), place.lines.len());
        for (number, shown) in place.numbers.iter().zip(&place.lines) {
            assert!(*number >= 1 && *number <= lines.len(), "line {number} of {}", lines.len());
            let line = String::from_utf8_lossy(lines.content(number - 1));
            assert!(
                *shown == line || shown.chars().count() < line.chars().count(),
                "{shown:?} is not {line:?}"
            );
        }
    }
    let shown = near.places.iter().map(|place| place.lines.len() + place.differences.len());
    assert!(shown.sum::<usize>() <= MOST, "{near:?}");
}
