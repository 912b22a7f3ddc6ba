//! Outlines: what is defined in a file, as text, and the lines of one definition by its name.

use std::fmt::Write;
use std::time::Duration;

use emend_edit::Text;
use emend_syntax::{Definition, Doubt, Limits, NoOutline, Outline};
use emend_workspace::problem::{Kind, Problem, nearest};

/// How much work an outline may cost.
const LIMITS: Limits = Limits { bytes: 4 << 20, time: Duration::from_millis(500) };
/// The most characters of a definition that are shown.
const SHOWN: usize = 100;
/// The most definitions that a refusal shows.
const NAMED: usize = 20;
/// How many definitions may be meant by a misspelt name.
const MEANT: usize = 5_000;

/// Returns the outline of a file.
pub(crate) fn outline(name: &str, text: &Text) -> Result<Outline, NoOutline> {
    emend_syntax::outline(name, text.bytes(), &LIMITS)
}

/// Shows outlines in so many bytes in all: the innermost definitions are left out first, then the last ones. What is
/// left out of each is counted.
pub(crate) fn show(outlines: &[Outline], room: usize) -> Vec<String> {
    let described = |outline: &Outline| {
        outline.definitions().iter().map(|one| (one.depth, line(one))).collect::<Vec<(usize, String)>>()
    };
    let all: Vec<Vec<(usize, String)>> = outlines.iter().map(described).collect();
    // How many bytes the definitions of each depth take.
    let mut sizes: Vec<usize> = Vec::new();
    for (depth, line) in all.iter().flatten() {
        sizes.resize(sizes.len().max(depth + 1), 0);
        sizes[*depth] += line.len();
    }
    let fitting = sizes.iter().scan(0, |sum, size| {
        *sum += size;
        (*sum <= room).then_some(())
    });
    let deep = fitting.count().max(1);
    let mut room = room;
    let mut shown = |lines: &Vec<(usize, String)>| {
        let mut text = String::new();
        let mut left_out = 0;
        let mut is_full = false;
        for (_, line) in lines.iter().filter(|(depth, _)| *depth < deep) {
            is_full |= line.len() > room;
            if is_full {
                left_out += 1;
            } else {
                room -= line.len();
                text.push_str(line);
            }
        }
        let inner = lines.iter().filter(|(depth, _)| *depth >= deep).count();
        if inner > 0 {
            let _ = writeln!(text, "... and {inner} inside of these");
        }
        if left_out > 0 {
            let _ = writeln!(text, "... and {left_out} more");
        }
        text
    };
    all.iter().map(&mut shown).collect()
}

/// Returns the one definition of this name, as it is described, or refuses with those that may be meant.
pub(crate) fn find(name: &str, text: &Text, symbol: &str) -> Result<(String, Definition), Problem> {
    let refused = |message: String| {
        Err(Problem::new(Kind::InvalidArgument { name: "symbol".into(), message }).at(name))
    };
    let outline = match outline(name, text) {
        Ok(outline) => outline,
        Err(NoOutline::UnknownLanguage) => {
            return refused("definitions are not known in files of this kind; give offset and limit".into());
        }
        Err(NoOutline::TooMuch) => {
            return refused("the file is too large to look for definitions; give offset and limit".into());
        }
    };
    match &outline.find(symbol)[..] {
        [one] => Ok((outline.describe(one), (*one).clone())),
        [] => refused(missing(&outline, symbol)),
        several => refused(format!(
            "it fits {} definitions; give more of the path, or offset and limit:\n{}",
            several.len(),
            listed(&outline, several.iter().copied())
        )),
    }
}

/// Says that no definition has this name, and which may be meant.
fn missing(outline: &Outline, symbol: &str) -> String {
    let known: Vec<&str> = outline.definitions().iter().take(MEANT).map(|one| one.name.as_str()).collect();
    let short = |name: &&str| name.len() <= SHOWN;
    let last = symbol.rsplit(['.', ':', '/', '#', ' ']).next().unwrap_or(symbol);
    let meant =
        nearest(last, known.into_iter().filter(short)).map(|name| outline.find(name)).unwrap_or_default();
    if meant.is_empty() {
        let outermost = outline.definitions().iter().filter(|one| one.depth == 0);
        return format!(
            "nothing of this name is defined in the file. There is:\n{}",
            listed(outline, outermost)
        );
    }
    format!(
        "nothing of this name is defined in the file. Did you mean:\n{}",
        listed(outline, meant.into_iter())
    )
}

/// Lists some definitions by their paths.
fn listed<'o>(outline: &Outline, definitions: impl Iterator<Item = &'o Definition>) -> String {
    let definitions: Vec<&Definition> = definitions.collect();
    let mut text = String::new();
    for one in definitions.iter().take(NAMED) {
        let _ = writeln!(text, "{} {}", lines(one), clipped(&outline.describe(one)));
    }
    match definitions.len().checked_sub(NAMED) {
        Some(more @ 1..) => _ = write!(text, "and {more} more"),
        _ if definitions.is_empty() => text.push_str("nothing"),
        _ => _ = text.pop(),
    }
    text
}

/// Says why the lines of a definition are not exactly the definition.
pub(crate) fn doubt(definition: &Definition) -> &'static str {
    match definition.doubts.any() {
        Some(Doubt::Shared) => "Other code stands in these lines too.\n",
        Some(Doubt::Broken) => "There is a syntax error in it or beside it, so its lines are uncertain.\n",
        None => "",
    }
}

fn line(definition: &Definition) -> String {
    format!("{}{} {}\n", "  ".repeat(definition.depth), lines(definition), clipped(&definition.describe()))
}

/// Returns the lines of a definition as a model reads them.
fn lines(definition: &Definition) -> String {
    match (definition.lines.start(), definition.lines.end()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    }
}

/// Returns a text without control characters that is not long.
fn clipped(text: &str) -> String {
    let visible = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let more = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
    text.chars().take(SHOWN).map(visible).chain(more.chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlines(texts: &[&str]) -> Vec<Outline> {
        let outline = |text: &&str| outline("a.py", &Text::new(text.as_bytes().to_vec()).unwrap()).unwrap();
        texts.iter().map(outline).collect()
    }

    #[test]
    fn the_innermost_are_left_out_first_and_then_the_last() {
        let text =
            "class A:\n    def b(self):\n        pass\n    def c(self):\n        pass\ndef d():\n    pass\n";
        let all = show(&outlines(&[text, "def e(): pass\n"]), 1_000);
        assert_eq!(all, ["1-5 class A\n  2-3 method b\n  4-5 method c\n6-7 function d\n", "1 function e\n"]);
        let outer = "1-5 class A\n6-7 function d\n... and 2 inside of these\n";
        assert_eq!(show(&outlines(&[text, "def e(): pass\n"]), 60), [outer, "1 function e\n"]);
        let cut = "1-5 class A\n... and 2 inside of these\n... and 1 more\n";
        assert_eq!(show(&outlines(&[text, "def e(): pass\n"]), 20), [cut, "... and 1 more\n"]);
        assert_eq!(show(&outlines(&[""]), 0), [""]);
    }

    #[test]
    fn a_long_name_is_clipped_on_one_line() {
        let outline =
            outline("a.json", &Text::new(format!("{{\"{}\": 1}}", "é".repeat(300)).into_bytes()).unwrap());
        let shown = show(&[outline.unwrap()], 1_000).concat();
        assert!(shown.ends_with("é...\n") && shown.chars().count() < 120, "{shown}");
    }
}
