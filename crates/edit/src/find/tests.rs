//! Helpers for the tests of the layers, and a comparison of the layers with a naive search over all places.

use super::*;
use alloc::string::ToString;
use alloc::vec;
use proptest::prelude::*;

/// Reads the lines of a hunk written with markers.
pub(super) fn hunk(request: &str) -> Vec<Line> {
    let line = |line: &str| {
        let text = line.get(1..).unwrap_or_default().to_string();
        match line.as_bytes().first() {
            Some(b'+') => Line::Added(text),
            Some(b'-') => Line::Removed(text),
            Some(b' ') | None => Line::Context(text),
            Some(_) => Line::Bare(line.to_string()),
        }
    };
    request.lines().map(line).collect()
}

/// Returns the layer that finds a hunk in a file, and the lines that result from the match.
pub(super) fn read(file: &str, request: &str) -> Option<(&'static str, String)> {
    placed(file, hunk(request), BlockForm::Diff)
}

/// Returns what [`read`] does for a block of old and new lines.
pub(super) fn read_block(file: &str, old: &str, new: &str) -> Option<(&'static str, String)> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    placed(file, Line::between(&old, &new), BlockForm::Block)
}

fn placed(file: &str, lines: Vec<Line>, form: BlockForm) -> Option<(&'static str, String)> {
    let text = Text::new(file.as_bytes().to_vec()).unwrap();
    let haystack = Haystack::new(&text);
    let starts = [0..haystack.lines().len()];
    let limits = FindLimits::default();
    let block = Block::new(&lines, &starts, form, &[]);
    let wanted = Needle::Block(&block);
    let found = locate(&haystack, &wanted, LAYERS, &limits, &Budget::new(&limits)).ok()??;
    let old = String::from_utf8(text.bytes()[found.range.clone()].to_vec()).unwrap();
    let reading = found.interpretation.unwrap_or(lines);
    let stand: Vec<&Line> = reading.iter().filter(|line| line.before().is_some()).collect();
    assert_eq!(stand.len(), old.lines().count(), "one line for each of the file's");
    let mut in_file = old.lines();
    let mut out = if found.layer == Layer::ContextDrift {
        file[..found.range.start].to_string()
    } else {
        String::new()
    };
    for line in &reading {
        let own = line.before().and_then(|_| in_file.next());
        if let Some(text) = if matches!(line, Line::Added(_)) { line.after() } else { line.after().and(own) }
        {
            out.push_str(text);
            out.push('\n');
        }
    }
    if found.layer == Layer::ContextDrift {
        out.push_str(&file[found.range.end..]);
    }
    Some((found.layer.name(), out))
}

pub(super) fn refused(file: &str, request: &str) -> bool {
    read(file, request).is_none()
}

/// Makes a line of the file or the request, with this indentation, and perhaps trailing space.
fn written(indent: usize, word: char, trailing: bool) -> String {
    let text = if word == ' ' { String::new() } else { [" ".repeat(indent), word.to_string()].concat() };
    if trailing { text + "  " } else { text }
}

/// Finds by brute force the places where the request's lines stand, indented by one amount more or less.
fn naive(file: &[String], old: &[String]) -> Vec<(usize, Option<isize>)> {
    let indent = |line: &str| line.len() as isize - line.trim_start().len() as isize;
    let at = |start: usize| {
        let pairs = || file[start..].iter().zip(old);
        let telling = || pairs().filter(|(_, wanted)| !wanted.trim().is_empty());
        let mut shifts = telling().map(|(file, wanted)| indent(file) - indent(wanted));
        let first = shifts.next();
        let fits = pairs().all(|(file, wanted)| file.trim() == wanted.trim())
            && shifts.all(|shift| Some(shift) == first);
        fits.then_some((start, first))
    };
    (0..=file.len().saturating_sub(old.len())).filter_map(at).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    /// For a request that is a stretch of the file, indented more or less, with or without trailing space: a search
    /// without layers finds no second place for what is found, and rivals for what is refused.
    #[test]
    fn a_place_is_the_only_one(
        file in proptest::collection::vec((0usize..3, prop::sample::select(vec!['a', 'b', 'c', ' ']), any::<bool>()), 1..12),
        start in 0usize..12,
        len in 1usize..5,
        shift in 0usize..3,
        trailing in any::<bool>(),
    ) {
        let start = start % file.len();
        let region = &file[start..(start + len).min(file.len())];
        let old: Vec<String> =
            region.iter().map(|(indent, word, own)| written(indent + shift, *word, *own ^ trailing)).collect();
        let file: Vec<String> = file.iter().map(|(indent, word, own)| written(*indent, *word, *own)).collect();
        let places = naive(&file, &old);
        prop_assert!(places.iter().any(|(at, _)| *at == start));
        let request: Vec<Line> = old.iter().cloned().map(Line::Removed).collect();
        let text = Text::new((file.join("\n") + "\n").into_bytes()).unwrap();
        let haystack = Haystack::new(&text);
        let starts = [0..haystack.lines().len()];
        let block = Block::new(&request, &starts, BlockForm::Diff, &[]);
        let limits = FindLimits::default();
        match locate(&haystack, &Needle::Block(&block), LAYERS, &limits, &Budget::new(&limits)) {
            Ok(Some(found)) => {
                let at = haystack.lines().index_of(found.range.start);
                let place = places.iter().find(|(place, _)| *place == at);
                prop_assert!(place.is_some(), "{} at {at} of {places:?}", found.layer);
                // A stricter layer has no rival of its kind; the looser one has no rival at all.
                let rivals = |same: &dyn Fn(&Option<isize>) -> bool| places.iter().filter(|(_, shift)| same(shift)).count();
                match found.layer {
                    Layer::Indentation => prop_assert_eq!(rivals(&|_| true), 1),
                    Layer::TrailingSpace => prop_assert_eq!(rivals(&|shift| shift.unwrap_or(0) == 0), 1),
                    Layer::Exact => prop_assert!(file[at..].starts_with(&old)),
                    other => prop_assert!(false, "{} cannot have found it", other),
                }
            }
            Ok(None) => prop_assert!(old.iter().all(|line| line.trim().is_empty()), "only blank lines have no indentation"),
            Err(Kind::AmbiguousMatch { .. }) => prop_assert!(places.len() > 1),
            Err(other) => prop_assert!(false, "{:?}", other),
        }
    }
}
