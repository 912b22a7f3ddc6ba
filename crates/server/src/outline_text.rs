//! Outlines: what is defined in a file, as text.

use std::fmt::Write;

use emend_syntax::{Definition, Doubt, Doubts, Outline};

use crate::messages::symbols::{range, title};

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

/// Says why the lines of a definition are not exactly the definition.
pub(crate) fn doubt(doubts: Doubts) -> &'static str {
    match doubts.any() {
        Some(Doubt::Comment) => "How much of the comment above belongs to it is not clear.\n",
        Some(Doubt::Shared) => "Other code stands in these lines too.\n",
        Some(Doubt::Broken) => "There is a syntax error in it or beside it, so its lines are uncertain.\n",
        None => "",
    }
}

fn line(definition: &Definition) -> String {
    let (first, last) = (*definition.lines.start(), *definition.lines.end());
    format!("{}{} {}\n", "  ".repeat(definition.depth), range(first, last), title(&definition.describe()))
}

#[cfg(test)]
mod tests {
    use emend_edit::Text;
    use emend_workspace::symbols;

    use super::*;

    fn outlines(texts: &[&str]) -> Vec<Outline> {
        let outline =
            |text: &&str| symbols::outline("a.py", &Text::new(text.as_bytes().to_vec()).unwrap()).unwrap();
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
        let outline = symbols::outline(
            "a.json",
            &Text::new(format!("{{\"{}\": 1}}", "é".repeat(300)).into_bytes()).unwrap(),
        );
        let shown = show(&[outline.unwrap()], 1_000).concat();
        assert!(shown.ends_with("é...\n") && shown.chars().count() < 120, "{shown}");
    }
}
