//! Finding, compared with a naive second version, which looks at every offset of the file's text with CRLF as one unit,
//! and compares lines one by one.

use std::ops::Range;

use arbitrary::{Arbitrary, Result, Unstructured};
use emend_edit::Text;
use emend_edit::find::{
    Block, BlockForm, Budget, FindLimits, Haystack, LAYERS, LITERAL, Layer, Match, Needle, contents, locate,
};
use emend_edit::patch::Line;
use emend_edit::problem::Kind;

/// A file and what is looked for in it.
#[derive(Debug)]
pub struct Input {
    file: String,
    old: String,
    new: String,
    form: u8,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let file = crate::content(u, 24)?;
        let mut old = if u.ratio(2, 3)? { part(u, &file)? } else { crate::content(u, 6)? };
        if u.ratio(1, 4)? {
            let at = boundary(&old, u.int_in_range(0..=old.len())?);
            old.insert_str(at, u.choose(&["\r", "\n", "\r\n", " ", "a", "\t"])?);
        }
        Ok(Self { file, old, new: crate::content(u, 4)?, form: u.int_in_range(0..=2)? })
    }
}

/// A part of a text.
pub fn part(u: &mut Unstructured<'_>, text: &str) -> Result<String> {
    let (a, b) = (u.int_in_range(0..=text.len())?, u.int_in_range(0..=text.len())?);
    let (a, b) = (boundary(text, a), boundary(text, b));
    Ok(text[a.min(b)..a.max(b)].to_string())
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Where a request stands in the text, by nothing but the first idea.
enum Naive {
    Nowhere,
    Once(Range<usize>, Layer),
    Often,
}

impl Naive {
    fn of(places: &[Range<usize>], layer: Layer) -> Self {
        match places {
            [] => Self::Nowhere,
            [place] => Self::Once(place.clone(), layer),
            _ => Self::Often,
        }
    }
}

/// The characters of some bytes, a CRLF being one of them, written as LF, and where each is.
fn units(bytes: &[u8], from: usize) -> (Vec<u8>, Vec<usize>) {
    let (mut units, mut starts, mut at) = (Vec::new(), Vec::new(), 0);
    while at < bytes.len() {
        let crlf = bytes[at..].starts_with(b"\r\n");
        units.push(if crlf { b'\n' } else { bytes[at] });
        starts.push(from + at);
        at += if crlf { 2 } else { 1 };
    }
    starts.push(from + bytes.len());
    (units, starts)
}

fn literal(text: &Text, old: &[u8]) -> Naive {
    let body = &text.bytes()[text.body()];
    let (file, starts) = units(body, text.body().start);
    let (wanted, _) = units(old, 0);
    let all: Vec<Range<usize>> = (0..file.len())
        .filter(|&at| file[at..].starts_with(&wanted))
        .map(|at| starts[at]..starts[at + wanted.len()])
        .collect();
    let equal: Vec<Range<usize>> =
        all.iter().filter(|place| text.bytes()[(*place).clone()] == *old).cloned().collect();
    // Text without line endings, or with a CRLF, means only what is equal; otherwise twins count.
    if !old.contains(&b'\n') {
        return Naive::of(&equal, Layer::Exact);
    }
    if old.windows(2).any(|pair| pair == b"\r\n") && !equal.is_empty() {
        return Naive::of(&equal, Layer::Exact);
    }
    Naive::of(&all, if equal.is_empty() { Layer::LineEndings } else { Layer::Exact })
}

fn lines(haystack: &Haystack<'_>, old: &[&[u8]]) -> Naive {
    let lines = haystack.lines();
    let places: Vec<Range<usize>> = (0..(lines.len() + 1).saturating_sub(old.len()))
        .filter(|&at| (0..old.len()).all(|i| lines.content(at + i) == old[i]))
        .map(|at| lines.start(at)..lines.start(at + old.len()))
        .collect();
    let crlf =
        places.iter().any(|place| haystack.text().bytes()[place.clone()].windows(2).any(|w| w == b"\r\n"));
    Naive::of(&places, if crlf { Layer::LineEndings } else { Layer::Exact })
}

fn compare(found: &std::result::Result<Option<Match>, Kind>, naive: &Naive, strict: bool) {
    match (found, naive) {
        (Ok(Some(found)), Naive::Once(place, layer)) => {
            assert_eq!((&found.range, found.layer), (place, *layer));
        }
        (Err(Kind::AmbiguousMatch { total, .. }), Naive::Often) => assert!(*total > 1),
        (Ok(None), Naive::Nowhere) => {}
        (_, Naive::Nowhere) if !strict => {}
        (found, Naive::Nowhere) => panic!("nowhere, but {found:?}"),
        (found, Naive::Once(place, layer)) => panic!("once, at {place:?} by {layer}, but {found:?}"),
        (found, Naive::Often) => panic!("often, but {found:?}"),
    }
}

/// Looks for the bytes and for the lines.
pub fn check(input: &Input) {
    let Ok(text) = Text::new(input.file.clone().into_bytes()) else { return };
    let haystack = Haystack::new(&text);
    let limits = FindLimits::default();
    let find =
        |wanted: &Needle<'_>, layers| locate(&haystack, wanted, layers, &limits, &Budget::new(&limits));
    if !input.old.is_empty() {
        let old = input.old.as_bytes();
        compare(&find(&Needle::Bytes(old), LITERAL), &literal(&text, old), true);
    }
    let old: Vec<String> = contents(input.old.as_bytes())
        .iter()
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    let new: Vec<&str> = input.new.lines().collect();
    let lines = Line::between(&old.iter().map(String::as_str).collect::<Vec<_>>(), &new);
    let anywhere = 0..haystack.lines().len();
    let form = [BlockForm::Diff, BlockForm::Block, BlockForm::Text][input.form as usize % 3];
    let block = Block::new(&lines, std::slice::from_ref(&anywhere), form, &[]);
    if block.old().is_empty() {
        return;
    }
    let found = find(&Needle::Block(&block), LAYERS);
    compare(&found, &self::lines(&haystack, block.old()), false);
    if let Ok(Some(found)) = found {
        let place = &text.bytes()[found.range.clone()];
        let covered = contents(place).len();
        let reading = found.interpretation.as_ref().map_or(&lines[..], |reading| &reading[..]);
        assert_eq!(
            reading.iter().filter(|line| line.before().is_some()).count(),
            covered,
            "one line for each"
        );
        let is_start = (0..=haystack.lines().len()).any(|at| haystack.lines().start(at) == found.range.start);
        assert!(is_start, "{found:?} is not whole lines");
    }
}
