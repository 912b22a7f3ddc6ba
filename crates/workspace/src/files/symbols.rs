//! Definitions by their names: the outline of a file, and the one definition that a name fits.
//!
//! A name that fits none or several is refused with those that may be meant. Whoever edits gets the lines of a definition
//! only where they are certain.

use std::time::Duration;

use emend_edit::Text;
use emend_edit::excerpt::around;
use emend_edit::patch::{Part, SymbolPart};
use emend_edit::plan::{DefinitionPlace, FoundSymbol};
use emend_edit::problem::{DefinitionLines, NoDefinition, UncertainSymbol, Uncertainty, UnknownSymbol};
use emend_syntax::{Definition, Doubt, Doubts, Limits, NoOutline, Outline};

use crate::problem::{EditKind as Kind, nearest};

/// How much work an outline may cost.
const LIMITS: Limits = Limits { bytes: 4 << 20, time: Duration::from_millis(500) };
/// How many definitions a refusal names.
const NAMED: usize = 20;
/// How many definitions may be meant by a misspelt name.
const MEANT: usize = 5_000;
/// The most bytes of a name that may be meant by another.
const SIMILAR: usize = 100;
/// How many lines a refusal shows of each end of a definition, and how many bytes of each line.
const SHOWN: usize = 6;
const SHOWN_BYTES: usize = 200;

/// A definition that was found by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// Its lines, with its kind and its path.
    pub definition: DefinitionLines,
    /// Where its lines may not be exactly the definition.
    pub doubts: Doubts,
    /// Whether the blank lines around it belong to it.
    pub is_apart: bool,
}

/// Returns the outline of a file, whose language its name tells.
pub fn outline(name: &str, text: &Text) -> Result<Outline, NoOutline> {
    emend_syntax::outline(name, text.bytes(), &LIMITS)
}

/// Returns whether a text of a file ends in a definition. The name of the file tells the language.
pub(crate) fn ends_in_definition(name: &str, text: &[u8]) -> bool {
    emend_syntax::ends_in_definition(name, text, &LIMITS)
}

/// Returns where the definitions of a text are, which is a file of this name or a sketch for it; none where they are not
/// known.
pub(crate) fn places(name: &str, text: &[u8]) -> Vec<DefinitionPlace> {
    let Ok(outline) = emend_syntax::outline(name, text, &LIMITS) else { return Vec::new() };
    let place = |one: &Definition| DefinitionPlace {
        title: outline.describe(one),
        path: outline.path(one),
        first: *one.lines.start(),
        name_line: one.name_line,
        last: *one.lines.end(),
        is_certain: one.doubts.any().is_none(),
    };
    outline.definitions().iter().map(place).collect()
}

/// Returns the one definition of this name, or a refusal with those that may be meant.
pub fn find(name: &str, text: &Text, symbol: &str) -> Result<Symbol, Kind> {
    find_in(&outline(name, text), text, symbol)
}

/// Returns the one definition of this name in a text with this outline.
fn find_in(outline: &Result<Outline, NoOutline>, text: &Text, symbol: &str) -> Result<Symbol, Kind> {
    let unknown = |definitions: Vec<DefinitionLines>| {
        let more = definitions.len().saturating_sub(NAMED);
        let definitions = definitions.into_iter().take(NAMED).collect();
        Box::new(UnknownSymbol { symbol: symbol.to_owned(), version: text.version(), definitions, more })
    };
    let not_found = |why, definitions| Err(Kind::SymbolNotFound { why, unknown: unknown(definitions) });
    let outline = match outline {
        Ok(outline) => outline,
        Err(NoOutline::UnknownLanguage) => return not_found(NoDefinition::UnknownLanguage, Vec::new()),
        Err(NoOutline::TooMuch) if text.bytes().len() > LIMITS.bytes => {
            return not_found(NoDefinition::TooLarge, Vec::new());
        }
        Err(NoOutline::TooMuch) => return not_found(NoDefinition::TooSlow, Vec::new()),
    };
    let named = |definitions: &[&Definition]| definitions.iter().map(|one| lines_of(outline, one)).collect();
    match &outline.find(symbol)[..] {
        [one] => {
            Ok(Symbol { definition: lines_of(outline, one), doubts: one.doubts, is_apart: one.is_apart() })
        }
        [] => match similar(outline, symbol) {
            meant if meant.is_empty() => {
                let outermost: Vec<&Definition> =
                    outline.definitions().iter().filter(|one| one.depth == 0).collect();
                not_found(NoDefinition::Missing, named(&outermost))
            }
            meant => not_found(NoDefinition::Misspelt, named(&meant)),
        },
        several => {
            let lines = several.iter().map(|one| *one.lines.start()).collect();
            Err(Kind::AmbiguousSymbol { lines, unknown: unknown(named(several)) })
        }
    }
}

/// Returns the lines that a part of a definition has in a text with this outline, if they are certain.
pub(crate) fn place(
    outline: &Result<Outline, NoOutline>,
    text: &Text,
    asked: &SymbolPart,
) -> Result<FoundSymbol, Kind> {
    let Symbol { definition, doubts, is_apart } = find_in(outline, text, &asked.symbol)?;
    let doubt = match asked.part {
        Part::Whole => doubts.any(),
        Part::Above => doubts.above,
        Part::Below => doubts.below,
    };
    let why = match doubt {
        None => {
            let DefinitionLines { title, first, last } = definition;
            return Ok(FoundSymbol { title, first, count: last + 1 - first, is_apart });
        }
        Some(Doubt::Comment) => Uncertainty::Comment,
        Some(Doubt::Shared) => Uncertainty::Shared,
        Some(Doubt::Broken) => Uncertainty::Broken,
    };
    let shown = shown(text, &definition);
    let (version, part) = (text.version(), asked.part);
    Err(Kind::UncertainSymbol(Box::new(UncertainSymbol { definition, version, part, why, shown })))
}

fn lines_of(outline: &Outline, one: &Definition) -> DefinitionLines {
    DefinitionLines { title: outline.describe(one), first: *one.lines.start(), last: *one.lines.end() }
}

/// Returns the definitions whose name is like the last part of this one.
fn similar<'o>(outline: &'o Outline, symbol: &str) -> Vec<&'o Definition> {
    let known = outline.definitions().iter().take(MEANT).map(|one| one.name.as_str());
    let last = symbol.rsplit(['.', ':', '/', '#', ' ']).next().unwrap_or(symbol);
    let found = nearest(last, known.filter(|name| name.len() <= SIMILAR));
    found.map(|name| outline.find(name)).unwrap_or_default()
}

/// Returns the lines of a definition with a neighbour on each side; of a long one those at its ends.
fn shown(text: &Text, definition: &DefinitionLines) -> Vec<(usize, String)> {
    let lines = text.lines();
    let (first, end) = (definition.first.saturating_sub(2), lines.len().min(definition.last + 1));
    let is_shown = |at: &usize| *at < first + SHOWN || *at + SHOWN >= end;
    let line = |at: usize| (at + 1, around(lines.content(at), 0, SHOWN_BYTES));
    (first..end).filter(is_shown).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(content: &str) -> Text {
        Text::new(content.into()).unwrap()
    }

    fn placed(name: &str, content: &str, symbol: &str) -> [Result<(usize, usize), Kind>; 3] {
        [Part::Whole, Part::Above, Part::Below].map(|part| {
            let asked = SymbolPart { symbol: symbol.into(), part };
            let text = text(content);
            place(&outline(name, &text), &text, &asked).map(|found| found.part(part))
        })
    }

    const PYTHON: &str = "import a\n\n\n# Of b.\n@c\ndef b(): pass\n\n\nclass D:\n    def b(self): pass\n";

    #[test]
    fn a_part_of_a_definition_is_its_lines_or_a_place_beside_them() {
        assert_eq!(placed("a.py", PYTHON, "function b"), [Ok((4, 3)), Ok((4, 0)), Ok((7, 0))]);
        assert_eq!(placed("a.py", PYTHON, "D.b"), [Ok((10, 1)), Ok((10, 0)), Ok((11, 0))]);
        assert_eq!(placed("a.md", "# a\n\nb", "a"), [Ok((1, 3)), Ok((1, 0)), Ok((4, 0))]);
        let crlf = PYTHON.replace('\n', "\r\n");
        assert_eq!(placed("a.py", &crlf, "function b")[0], Ok((4, 3)));
    }

    #[test]
    fn a_name_that_fits_no_definition_or_several_is_refused_with_those_that_may_be_meant() {
        let titles = |unknown: &UnknownSymbol| {
            unknown.definitions.iter().map(|one| one.title.clone()).collect::<Vec<_>>().join(", ")
        };
        let refused = |name: &str, content: &str, symbol: &str| match find(name, &text(content), symbol) {
            Err(Kind::SymbolNotFound { why, unknown }) => (Some(why), titles(&unknown), unknown.more),
            Err(Kind::AmbiguousSymbol { lines, unknown }) => {
                assert_eq!(lines.len(), unknown.definitions.len() + unknown.more);
                (None, titles(&unknown), unknown.more)
            }
            found => panic!("{found:?}"),
        };
        assert_eq!(refused("a.py", PYTHON, "b"), (None, "function b, method D.b".into(), 0));
        let (why, known, _) = refused("a.py", PYTHON, "x.d");
        assert_eq!((why, &known[..]), (Some(NoDefinition::Misspelt), "class D"));
        let (why, known, _) = refused("a.py", PYTHON, "zzzzzz");
        assert_eq!((why, &known[..]), (Some(NoDefinition::Missing), "function b, class D"));
        let (why, known, _) = refused("a.txt", PYTHON, "b");
        assert_eq!((why, &known[..]), (Some(NoDefinition::UnknownLanguage), ""));
        let (why, ..) = refused("a.rs", &"\n".repeat(5 << 20), "a");
        assert_eq!(why, Some(NoDefinition::TooLarge));
        let slow = find_in(&Err(NoOutline::TooMuch), &text(PYTHON), "b");
        assert!(matches!(slow, Err(Kind::SymbolNotFound { why: NoDefinition::TooSlow, .. })), "{slow:?}");
        let (_, known, more) = refused("a.py", &"def a(): pass\n".repeat(25), "a");
        assert_eq!((known.matches("function a").count(), more), (20, 5));
    }

    #[test]
    fn a_part_whose_lines_are_not_certain_is_refused() {
        let why = |found: Result<(usize, usize), Kind>| match found {
            Ok(_) => None,
            Err(Kind::UncertainSymbol(uncertain)) => Some(uncertain.why),
            Err(kind) => panic!("{kind:?}"),
        };
        let (shared, broken) = (Some(Uncertainty::Shared), Some(Uncertainty::Broken));
        let line = "fn a() {} fn b() {}\n";
        assert_eq!(placed("a.rs", line, "a").map(why), [shared, None, shared]);
        assert_eq!(placed("a.rs", line, "b").map(why), [shared, shared, None]);
        let error = "fn a() {\n    b(;\n}\n\nfn c() {\n}\n";
        assert_eq!(placed("a.rs", error, "a").map(why), [broken, None, broken]);
        assert_eq!(placed("a.rs", error, "c").map(why), [None; 3]);
        let long = format!("\nfn a() {{\n{}b(;\n}}\n", "    x();\n".repeat(20));
        let Err(Kind::UncertainSymbol(uncertain)) = &placed("a.rs", &long, "a")[0] else { panic!() };
        let numbers: Vec<usize> = uncertain.shown.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 19, 20, 21, 22, 23, 24]);
    }
}
