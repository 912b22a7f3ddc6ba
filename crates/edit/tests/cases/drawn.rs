//! Drawn requests: the fixtures, each changed a little in many ways, and what becomes of each variant.
//!
//! A fixture shows what is right. Its variants show that nothing else happens than did before: `drawn.txt` has a digest of
//! the whole plan or refusal of each. Whoever changes what the engine does on purpose looks at the outcomes that differ, as
//! the failed test shows them, and writes them down with `EMEND_DRAWN=write`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::{env, fs, thread};

use emend_edit::find::FindLimits;
use emend_edit::patch::recognise::{self, Format};
use emend_edit::patch::sketch::Sketch;
use emend_edit::patch::{
    Change, Insertion, LinesOfVersion, NewLines, NumberedChange, Patch, Section, Side, TakenLines, TextChange,
};
use emend_edit::plan::{self, DefinitionPlace, Since, Source, Sources};
use emend_edit::{Text, Version};
use libtest_mimic::Failed;

use super::after;
use super::case::{Case, Files};

/// How many variants of each fixture.
const VARIANTS: u64 = 72;
const THREADS: usize = 4;

/// Tries all variants, and compares their outcomes with those that are written down.
pub(crate) fn run(cases: &[(String, Arc<Case>)]) -> Result<(), Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/drawn.txt");
    let outcomes: BTreeMap<String, Vec<String>> = thread::scope(|scope| {
        let chunks = cases.chunks(cases.len().div_ceil(THREADS));
        let running: Vec<_> =
            chunks.map(|chunk| scope.spawn(|| chunk.iter().map(outcomes).collect::<Vec<_>>())).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut page = String::new();
    for (name, outcomes) in &outcomes {
        writeln!(page, "{name}: {}", outcomes.join(" ")).unwrap();
    }
    if env::var_os("EMEND_DRAWN").is_some() {
        return Ok(fs::write(path, page)?);
    }
    let known = fs::read_to_string(path)?;
    let known: BTreeMap<&str, Vec<&str>> = known
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, outcomes)| (name, outcomes.split(' ').collect()))
        .collect();
    let mut differences = String::new();
    for (name, case) in cases {
        let (known, now) = (known.get(&name[..]), &outcomes[name]);
        for (variant, now) in now.iter().enumerate() {
            let known = known.and_then(|known| known.get(variant)).copied().unwrap_or_default();
            if known != now {
                let (what, outcome) = Draw::new(name, variant as u64).request(case).outcome();
                writeln!(differences, "{name} {variant}: {known} before, {now} now\n{what}\n{outcome}\n")
                    .unwrap();
            }
        }
    }
    if differences.is_empty() { Ok(()) } else { Err(differences.into()) }
}

fn outcomes((name, case): &(String, Arc<Case>)) -> (String, Vec<String>) {
    let short = |variant| {
        let (_, outcome) = Draw::new(name, variant).request(case).outcome();
        blake3::hash(outcome.as_bytes()).to_hex()[..4].to_owned()
    };
    (name.clone(), (0..VARIANTS).map(short).collect())
}

/// A request and the files for which it is meant.
struct Request {
    what: String,
    patch: Result<Patch, Vec<emend_edit::Problem>>,
    files: Files,
    /// What the files were when the request was made.
    seen: Files,
}

impl Request {
    /// Returns the request, and all that is known of what becomes of it.
    fn outcome(self) -> (String, String) {
        let planned = self.patch.and_then(|mut patch| {
            let mut sources = Sources::default();
            for path in patch.paths() {
                match self.files.get(path).map(|bytes| Text::new(bytes.clone())) {
                    Some(Ok(text)) => sources.insert(path, path, Source::Present(Arc::new(text))),
                    Some(Err(kind)) => return Err(vec![emend_edit::Problem::new(kind).at(path)]),
                    None if path.ends_with('r') => sources.refuse(path),
                    None => sources.insert(path, path, Source::Absent),
                }
            }
            for (path, version) in patch.numbered_versions() {
                let seen = self.seen.get(path).and_then(|bytes| Text::new(bytes.clone()).ok());
                let seen = seen.filter(|seen| seen.version().is_named_by(version));
                if let Some(seen) = seen {
                    sources.set_since(path, version, Since::Content(Arc::new(seen)));
                }
            }
            for (path, sketch) in patch.sketches() {
                let file = self.files.get(path).and_then(|bytes| String::from_utf8(bytes.clone()).ok());
                for text in [file.as_deref(), Some(sketch.text())].into_iter().flatten() {
                    sources.set_outline(path, Version::hash(text.as_bytes()), outline(text));
                }
            }
            let facts = format!(
                "{} {} {:?} {:?} {:?} {:?}",
                patch.hunks(),
                patch.is_small(),
                patch.only_read(),
                patch.sections().iter().map(Section::is_numbered).collect::<Vec<_>>(),
                patch.paths_by_line_number().collect::<Vec<_>>(),
                patch.paths().map(|path| patch.takes_away(path)).collect::<Vec<_>>(),
            );
            patch.keep_hints(|_, line| line % 7 != 0);
            Ok((plan::build(&patch, &sources, &FindLimits::default())?, facts))
        });
        let outcome = match planned {
            Ok((plan, facts)) => {
                let files = after(&plan, &self.files);
                let files: Vec<_> =
                    files.iter().map(|(name, bytes)| (name, String::from_utf8_lossy(bytes))).collect();
                let versions: Vec<_> = plan.files().iter().map(|file| file.action.version()).collect();
                format!("ok\n{facts}\n{files:?}\n{plan:?}\n{versions:?}")
            }
            Err(problems) => {
                let texts: Vec<String> = problems.iter().map(ToString::to_string).collect();
                format!("{}\n{texts:?}\n{problems:?}", problems[0].code().as_str())
            }
        };
        (self.what, outcome)
    }
}

/// A source of choices that are the same in every run.
struct Draw {
    state: u64,
    variant: u64,
}

impl Draw {
    fn new(name: &str, variant: u64) -> Self {
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
    fn request(mut self, case: &Case) -> Request {
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

    fn patch(&mut self, case: &Case) -> (String, Result<Patch, Vec<emend_edit::Problem>>) {
        let argument = |name: &str| case.arguments.get(name).and_then(|value| value.as_str());
        let mut text = argument("patch").unwrap_or_default().to_owned();
        for _ in 0..self.below(3) {
            text = self.changed(&text);
        }
        let format = argument("format").and_then(Format::named);
        let patch = recognise::parse(&text, format, argument("path"));
        (text, patch)
    }

    fn replacement(&mut self, path: &str, text: &str) -> (String, Result<Patch, Vec<emend_edit::Problem>>) {
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

    fn sketch(&mut self, path: &str, text: &str) -> (String, Result<Patch, Vec<emend_edit::Problem>>) {
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

    fn lines(&mut self, path: &str, text: &str) -> (String, Result<Patch, Vec<emend_edit::Problem>>) {
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

/// Finds functions and classes by their first word, and their ends by indentation.
fn outline(text: &str) -> Vec<DefinitionPlace> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let lines: Vec<&str> = text.lines().collect();
    let mut outline: Vec<DefinitionPlace> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let mut words = line.trim_start().split([' ', '(', ':']);
        let (Some("def" | "fn" | "class"), Some(name)) = (words.next(), words.next()) else { continue };
        let mut last = at + 1;
        for (below, inner) in
            lines.iter().enumerate().skip(at + 1).filter(|(_, line)| !line.trim().is_empty())
        {
            let closes = inner.trim() == "}" && indent(inner) == indent(line);
            if indent(inner) <= indent(line) && !closes {
                break;
            }
            last = below + 1;
            if closes {
                break;
            }
        }
        let path = outline
            .iter()
            .rev()
            .find(|outer| outer.last > at && indent(lines[outer.name_line - 1]) < indent(line))
            .map_or_else(|| name.to_owned(), |outer| format!("{}.{name}", outer.path));
        let title = format!("function {path}");
        outline.push(DefinitionPlace {
            title,
            path,
            first: at + 1,
            name_line: at + 1,
            last,
            is_certain: true,
        });
    }
    outline
}
