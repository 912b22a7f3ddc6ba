//! A picture of the demo for the README: the coloured output of `emend demo` as an SVG.
//!
//! The picture is generated from a run, and a test compares it with a new run. The ids of edits, which differ between
//! runs, are replaced. Only one part of the demo is shown, because the whole is too long for a page.

use std::fmt::Write;
use std::path::Path;

use crate::Folder;

/// The beginning of the title of the part that is shown: a refusal that teaches, and a success.
const SHOWN: &str = "5. ";
/// The width of the picture in characters; longer lines are wrapped.
const COLUMNS: usize = 100;
const TAB: usize = 8;
/// Sizes in pixels. A monospace character is about six tenths of its font size wide.
const FONT: usize = 14;
const CHARACTER: usize = 9;
const ROW: usize = 19;
const MARGIN: usize = 20;

/// The description of the picture, for readers who cannot see it.
const TITLE: &str = "emend demo: another program changed the file, so the edit is refused once and the change is shown; \
    the same call then goes through";

/// The CSS classes of the terminal's style codes.
const CLASSES: [(&str, &str); 6] =
    [("1", "bold"), ("2", "faint"), ("31", "red"), ("32", "green"), ("33", "yellow"), ("36", "cyan")];

/// The code of inverted text, before that of a colour.
const INVERTED: &str = "7";

/// The CSS classes of the colours of inverted text, the words that differ inside a line.
const INVERTED_CLASSES: [(&str, &str); 2] = [("31", "red-word"), ("32", "green-word")];

/// The CSS. Its colours are readable on the dark background, which the picture has on light pages too.
const STYLE: &str = "text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace;white-space:pre;\
    fill:#d1d7e0}.bold{font-weight:bold;fill:#f0f6fc}.faint{fill:#9198a1}.red{fill:#ff7b72}.green{fill:#7ee787}\
    .yellow{fill:#e3b341}.cyan{fill:#79c0ff}.red-word{fill:#ff7b72;text-decoration:underline;font-weight:bold}\
    .green-word{fill:#7ee787;text-decoration:underline;font-weight:bold}";

/// Runs the demo of this command and returns its picture.
///
/// # Panics
///
/// When the demo fails.
#[must_use]
pub fn of_demo(emend: &Path) -> String {
    let folder = Folder::new();
    let mut command = crate::command(emend);
    command.args(["demo", "--color", "always"]).env("HOME", folder.path()).env("TMPDIR", folder.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = stable(&String::from_utf8(output.stdout).unwrap());
    let part = parts(&text).find(|part| part["\x1b[1m".len()..].starts_with(SHOWN)).unwrap();
    svg(TITLE, &format!("\x1b[1m$ emend demo\x1b[0m\n\x1b[2m...\x1b[0m\n{part}"))
}

/// The parts of the demo with their colours; each begins with its title.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let is_title =
        |bold: &str| bold.split_once(". ").is_some_and(|(number, _)| number.parse::<usize>().is_ok());
    let starts = text.match_indices("\x1b[1m").filter(move |(at, style)| is_title(&text[at + style.len()..]));
    let mut bounds: Vec<usize> = starts.map(|(at, _)| at).collect();
    bounds.push(text.len());
    let ends = bounds.clone().into_iter().skip(1);
    bounds.into_iter().zip(ends).map(|(from, to)| &text[from..to])
}

/// Replaces the ids of edits by a fixed one, since they are made from the time.
fn stable(text: &str) -> String {
    const ID: usize = 19;
    let is_id = |word: &str| word.len() == ID && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_word = |character: char| character.is_ascii_alphanumeric();
    let ids: Vec<&str> = text.split(|character| !is_word(character)).filter(|word| is_id(word)).collect();
    ids.iter().fold(text.to_owned(), |text, id| text.replace(id, "1a2b3c4d5e6f7a8b9c0"))
}

/// Renders a text as a terminal shows it, as an SVG. `title` describes the picture.
#[must_use]
pub fn svg(title: &str, text: &str) -> String {
    let rows = rows(text.trim_end());
    let (width, height) = (COLUMNS * CHARACTER + 2 * MARGIN, rows.len() * ROW + 2 * MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-size=\"{FONT}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n",
        escaped(title)
    );
    for (number, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        let y = MARGIN + (number + 1) * ROW - ROW / 3;
        let _ = write!(svg, "<text x=\"{MARGIN}\" y=\"{y}\" xml:space=\"preserve\">");
        for (class, run) in row {
            let _ = match class {
                Some(class) => write!(svg, "<tspan class=\"{class}\">{}</tspan>", escaped(run)),
                None => write!(svg, "{}", escaped(run)),
            };
        }
        svg.push_str("</text>\n");
    }
    svg + "</svg>\n"
}

/// One row of the picture, as pieces of text with their styles.
type Row = Vec<(Style, String)>;

/// The CSS class of a style; `None` is plain text.
type Style = Option<&'static str>;

fn rows(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in lines(text) {
        let mut rest = &line[..];
        while rest.len() > COLUMNS {
            let space = rest[..COLUMNS].iter().rposition(|&(_, character)| character == ' ');
            let end = space.map_or(COLUMNS, |space| space + 1);
            rows.push(row(&rest[..end]));
            rest = &rest[end..];
        }
        rows.push(row(rest));
    }
    rows
}

fn row(characters: &[(Style, char)]) -> Row {
    let mut row = Row::new();
    for &(style, character) in characters {
        match row.last_mut() {
            Some((last, run)) if *last == style => run.push(character),
            _ => row.push((style, character.to_string())),
        }
    }
    row
}

/// The characters of each line with their styles. Tabs are expanded to spaces.
fn lines(text: &str) -> Vec<Vec<(Style, char)>> {
    let (mut lines, mut style, mut is_inverted) = (vec![Vec::new()], None, false);
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        let line = lines.last_mut().unwrap();
        match character {
            '\x1b' => {
                let code: String = rest.by_ref().skip(1).take_while(|&end| end != 'm').collect();
                if code == INVERTED {
                    is_inverted = true;
                    continue;
                }
                let classes = if is_inverted { &INVERTED_CLASSES[..] } else { &CLASSES };
                is_inverted = false;
                style = classes.iter().find(|(known, _)| *known == code).map(|(_, class)| *class);
                assert!(style.is_some() || code == "0", "a style that the picture does not know: {code}");
            }
            '\n' => lines.push(Vec::new()),
            '\r' => {}
            '\t' => line.resize((line.len() / TAB + 1) * TAB, (style, ' ')),
            _ => line.push((style, character)),
        }
    }
    lines
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_the_text_in_its_colours() {
        let svg = svg("a <b>", "plain\n\x1b[31m-old & gone\x1b[0m end\r\n1\tx");
        assert!(svg.contains("<title>a &lt;b&gt;</title>"), "{svg}");
        assert!(svg.contains("><tspan class=\"red\">-old &amp; gone</tspan> end</text>"), "{svg}");
        assert!(svg.contains(">1       x</text>"), "{svg}");
        let word = super::svg("", "\x1b[7m\x1b[32mnew\x1b[0m");
        assert!(word.contains("<tspan class=\"green-word\">new</tspan></text>"), "{word}");
    }

    #[test]
    fn a_long_line_goes_on_in_the_next_row() {
        let lengths = |text: &str| rows(text).iter().map(|row| row[0].1.len()).collect::<Vec<_>>();
        assert_eq!(lengths(&format!("{}\nshort", "x".repeat(COLUMNS + 1))), [COLUMNS, 1, 5]);
        assert_eq!(lengths(&format!("{} y", "x".repeat(COLUMNS - 1))), [COLUMNS, 1]);
    }

    #[test]
    fn ids_are_the_same_each_time() {
        let of = |id: &str| stable(&format!("This is edit {id}; version 2423f5d7273e"));
        assert_eq!(of("1a201f01cbbfe9061fe"), of("1a201f01d5169a7c031"));
        assert!(of("1a201f01cbbfe9061fe").ends_with("version 2423f5d7273e"));
    }
}
