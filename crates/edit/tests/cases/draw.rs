//! Draws variants of a fixture: its patch or its files changed a little, or another request about one of its files. What is
//! drawn is the same in every run.

use std::fmt::Write as _;

use emend_edit::Problem;
use emend_edit::Text;
use emend_edit::patch::recognise::{self, Format};
use emend_edit::patch::sketch::Sketch;
use emend_edit::patch::{
    Change, Insertion, LinesOfVersion, NewLines, NumberedChange, Patch, Side, TakenLines, TextChange,
};

use super::case::{Case, Files};

/// A request and the files for which it is meant.
pub(crate) struct Request {
    /// The request as text, and the files.
    pub(crate) what: String,
    pub(crate) patch: Result<Patch, Vec<Problem>>,
    pub(crate) files: Files,
    /// What the files were when the request was made.
    pub(crate) seen: Files,
}

/// A request as text, and as the patch or the problems that it is read as.
type Drawn = (String, Result<Patch, Vec<Problem>>);

/// A source of choices that are the same in every run.
pub(crate) struct Draw {
    state: u64,
    variant: u64,
}

impl Draw {
    pub(crate) fn new(name: &str, variant: u64) -> Self {
        let hash = blake3::hash(format!("{name} {variant}").as_bytes());
        let state = u64::from_le_bytes(hash.as_bytes()[..8].try_into().unwrap());
        Self { state, variant }
    }

    fn below(&mut self, end: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % end.max(1)
    }

    /// Draws a variant of a fixture: of its patch or of its files, or another request about one of the files.
    pub(crate) fn request(mut self, case: &Case) -> Request {
        let mut files = case.input.clone();
        let path = files.keys().nth(self.below(files.len())).cloned();
        let text = path.as_ref().and_then(|path| String::from_utf8(files[path].clone()).ok());
        let (what, patch) = match (self.variant % 6, path, text) {
            (2, Some(path), Some(text)) => self.replacement(&path, &text),
            (3, Some(path), Some(_)) => {
                let code = self.code();
                files.insert(path.clone(), code.clone().into_bytes());
                self.sketch(&path, &code)
            }
            (4, Some(path), Some(text)) if !text.is_empty() => self.lines(&path, &text),
            (5, Some(path), Some(text)) if !text.is_empty() && self.below(2) == 0 => {
                let edits = [self.replacement(&path, &text), self.lines(&path, &text), self.patch(case)];
                let what: Vec<_> = edits.iter().map(|(what, _)| what.clone()).collect();
                let edits: Result<Vec<Patch>, _> = edits.into_iter().map(|(_, patch)| patch).collect();
                (what.join("\n"), edits.map(Patch::join))
            }
            _ => self.patch(case),
        };
        // The files, too, are often not as the request has them.
        for _ in 0..self.below(3) {
            let name = files.keys().nth(self.below(files.len())).cloned();
            if let Some(bytes) = name.and_then(|name| files.get_mut(&name))
                && let Ok(text) = str::from_utf8(bytes)
            {
                *bytes = self.changed(text).into_bytes();
            }
        }
        let shown: Vec<_> =
            files.iter().map(|(name, bytes)| (name, String::from_utf8_lossy(bytes))).collect();
        Request { what: format!("{what}\nfor {shown:?}"), patch, files, seen: case.input.clone() }
    }

    fn patch(&mut self, case: &Case) -> Drawn {
        let argument = |name: &str| case.arguments.get(name).and_then(|value| value.as_str());
        let mut text = argument("patch").unwrap_or_default().to_owned();
        for _ in 0..self.below(3) {
            text = self.changed(&text);
        }
        let format = argument("format").and_then(Format::named);
        let patch = recognise::parse(&text, format, argument("path"));
        (text, patch)
    }

    fn replacement(&mut self, path: &str, text: &str) -> Drawn {
        let mut old = self.piece(text);
        for _ in 0..self.below(3) {
            old = self.changed(&old);
        }
        if self.below(4) == 0 {
            let side = if self.below(2) == 0 { Side::Before } else { Side::After };
            let insertion = Insertion { beside: Some(old), side, lines: vec!["new line".to_owned()] };
            return (
                format!("{insertion:?}"),
                Patch::replace(path, vec![Change::Insertion(insertion)]).map_err(|why| vec![why]),
            );
        }
        let new = self.changed(&old);
        let expected = (self.below(4) == 0).then(|| 1 + self.below(3));
        let change = TextChange { old, new, all: self.below(4) == 0, expected };
        (format!("{change:?}"), Patch::replace(path, vec![change]).map_err(|why| vec![why]))
    }

    /// Draws a file of functions and classes, which braces or their indentation end.
    fn code(&mut self) -> String {
        let words = ["count", "items", "total", "name", "value", "read", "write", "next"];
        let has_braces = self.below(2) == 0;
        let mut code = String::from("// what stands above all\n\n");
        let mut indent = "";
        for number in 0..3 + self.below(5) {
            let (open, close) = if has_braces { (" {", "}") } else { (":", "") };
            if self.below(4) == 0 {
                writeln!(code, "class C{number}{open}").unwrap();
                indent = "    ";
            }
            if self.below(3) == 0 {
                writeln!(code, "{indent}// about f{number}").unwrap();
            }
            let keyword = if has_braces { "fn" } else { "def" };
            writeln!(code, "{indent}{keyword} f{number}({}){open}", words[self.below(8)]).unwrap();
            for _ in 0..1 + self.below(5) {
                let [a, b, c] = [(); 3].map(|()| words[self.below(8)]);
                writeln!(code, "{indent}    {a} = {b}({c}, {number})").unwrap();
            }
            if has_braces {
                writeln!(code, "{indent}{close}").unwrap();
            }
            if !indent.is_empty() && self.below(2) == 0 {
                indent = "";
                if has_braces {
                    code.push_str("}\n");
                }
            }
            if self.below(4) > 0 {
                code.push('\n');
            }
        }
        code + if has_braces && !indent.is_empty() { "}\n" } else { "" }
    }

    fn sketch(&mut self, path: &str, text: &str) -> Drawn {
        let markers = ["// ... existing code ...", "    # ... existing code ...", "// ... removed ..."];
        let lines: Vec<&str> = text.lines().collect();
        let mut sketch = Vec::new();
        let mut at = 0;
        if self.below(3) > 0 {
            sketch.push(markers[self.below(2)].to_owned());
            at = self.below(lines.len());
        }
        for _ in 0..=self.below(2) {
            let end = lines.len().min(at + 2 + self.below(5));
            let part = lines.get(at..end).unwrap_or_default().join("\n");
            sketch.push(if self.below(3) > 0 { self.changed(&part) } else { part });
            at = end + self.below(4);
            if at < lines.len() || self.below(4) == 0 {
                let marker = if self.below(6) == 0 { 2 } else { self.below(2) };
                sketch.push(markers[marker].to_owned());
            }
        }
        let sketch = sketch.join("\n") + "\n";
        let patch = Patch::sketch(path, Sketch::parse(&sketch));
        (sketch, Ok(patch))
    }

    fn lines(&mut self, path: &str, text: &str) -> Drawn {
        let version = Text::new(text.into()).map(|text| text.version().hex()).unwrap_or_default();
        let total = text.lines().count();
        let range = |draw: &mut Self| {
            LinesOfVersion::numbered(version.clone(), 1 + draw.below(total + 1), draw.below(4))
        };
        let at = range(self);
        let new = if self.below(2) == 0 {
            NewLines::Given(self.piece(text).lines().map(str::to_owned).collect())
        } else {
            let shift = self.below(9) as isize - 4;
            let taken =
                TakenLines { path: path.to_owned(), at: range(self), is_moved: self.below(2) == 0, shift };
            NewLines::Taken(taken)
        };
        let change = NumberedChange { at, new };
        (format!("{change:?}"), Ok(Patch::replace_range(path, change)))
    }

    /// Draws some lines of a text, or a part of one.
    fn piece(&mut self, text: &str) -> String {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let first = self.below(lines.len());
        let last = lines.len().min(first + 1 + self.below(4));
        let mut piece = lines.get(first..last).unwrap_or_default().concat();
        if self.below(3) > 0 {
            piece = piece.trim_end().to_owned();
        }
        let start = if self.below(4) == 0 { self.below(piece.len() / 2) } else { 0 };
        piece.get(start..).unwrap_or_default().to_owned()
    }

    /// Changes a text in one way.
    fn changed(&mut self, text: &str) -> String {
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        if lines.is_empty() {
            return "x\n".to_owned();
        }
        let at = self.below(lines.len());
        let other = self.below(lines.len());
        match self.below(18) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => lines.swap(at, other),
            3 => lines[at].insert_str(0, "  "),
            4 => lines.iter_mut().for_each(|line| line.insert_str(0, "    ")),
            5 => lines.insert(other, lines[at].clone()),
            6 => lines[at] = lines[at].replace('\n', " \n"),
            7 => lines.insert(at, "\n".to_owned()),
            8 => lines.retain(|line| !line.trim().is_empty()),
            9 => lines.iter_mut().for_each(|line| *line = line.replace('\n', "\r\n")),
            10 => return text.trim_end_matches('\n').to_owned(),
            11 => lines = [lines.clone(), lines].concat(),
            12 => lines[at] = lines[at].replacen("    ", "\t", 1),
            13 => lines[at] = lines[at].replace(['\'', '"'], "\u{2019}").replace('-', "\u{2013}"),
            14 => lines[at] = lines[at].to_uppercase(),
            15 => lines[at] = lines[at].trim_end().to_owned(),
            16 => lines[at] = lines[at].trim_start_matches(' ').to_owned(),
            _ => lines[at] = lines[at].replacen(char::is_alphabetic, "q", 1),
        }
        lines.concat()
    }
}
