//! Drawn requests: the fixtures, each changed a little in many ways, and what becomes of each variant.
//!
//! A fixture shows what is right. Its variants show that nothing else happens than did before: `drawn.txt` has a digest of
//! the whole plan or refusal of each. Whoever changes what the engine does on purpose looks at the outcomes that differ, as
//! the failed test shows them, and writes them down with `EMEND_DRAWN=write`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::{env, fs, iter, thread};

use emend_edit::find::FindLimits;
use emend_edit::patch::Section;
use emend_edit::plan::{self, DefinitionPlace, Since, Source, Sources};
use emend_edit::{Problem, Text};
use libtest_mimic::Failed;

use super::after;
use super::case::Case;
use super::draw::{Draw, Request};

/// How many variants of each fixture.
const VARIANTS: u64 = 72;
const THREADS: usize = 4;

/// Tries all variants, and compares their outcomes with those that are written down.
pub(crate) fn run(cases: &[(String, Arc<Case>)]) -> Result<(), Failed> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/drawn.txt");
    let lines: Vec<String> = thread::scope(|scope| {
        let chunks = cases.chunks(cases.len().div_ceil(THREADS));
        let running: Vec<_> =
            chunks.map(|chunk| scope.spawn(|| chunk.iter().map(line).collect::<Vec<_>>())).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    if env::var("EMEND_DRAWN").is_ok_and(|what| what == "write") {
        return Ok(fs::write(path, lines.concat())?);
    }
    let known = fs::read_to_string(path)?;
    if known == lines.concat() {
        return Ok(());
    }
    let known: BTreeMap<&str, &str> = known.lines().filter_map(|line| line.split_once(": ")).collect();
    let mut differences = String::from("drawn.txt has other outcomes, or other fixtures\n");
    for ((name, case), line) in cases.iter().zip(&lines) {
        let before = known.get(&name[..]).copied().unwrap_or_default().split(' ');
        let now = line.trim_end().rsplit(": ").next().unwrap_or_default().split(' ');
        for (variant, (before, now)) in (0..).zip(before.chain(iter::repeat("")).zip(now)) {
            if before != now {
                let (what, outcome) = Draw::new(name, variant).request(case).outcome();
                writeln!(
                    differences,
                    "{name} {variant}, {before} before and {now} now:\n{what}\n{outcome}\n"
                )
                .unwrap();
            }
        }
    }
    Err(differences.into())
}

/// Returns the line of a fixture, with the digests of the outcomes of its variants.
fn line((name, case): &(String, Arc<Case>)) -> String {
    let digest = |variant| {
        let (_, outcome) = Draw::new(name, variant).request(case).outcome();
        blake3::hash(outcome.as_bytes()).to_hex()[..4].to_owned()
    };
    let digests: Vec<String> = (0..VARIANTS).map(digest).collect();
    format!("{name}: {}\n", digests.join(" "))
}

impl Request {
    /// Returns the request, and all that is known of what becomes of it.
    fn outcome(self) -> (String, String) {
        let planned = self.patch.and_then(|mut patch| {
            let mut sources = Sources::default();
            for path in patch.paths() {
                match self.files.get(path).map(|bytes| Text::new(bytes.clone())) {
                    Some(Ok(text)) => sources.insert(path, path, Source::Present(Arc::new(text))),
                    Some(Err(kind)) => return Err(vec![Problem::new(kind).at(path)]),
                    // Some paths are none that could be used.
                    None if path.ends_with('r') => sources.refuse(path),
                    None => sources.insert(path, path, Source::Absent),
                }
            }
            for (path, version) in patch.numbered_versions() {
                let seen = self.seen.get(path).and_then(|bytes| Text::new(bytes.clone()).ok());
                let seen = seen.filter(|seen| seen.version().is_named_by(version));
                if let Some(seen) = seen {
                    sources.file(path).since.insert(version.into(), Since::Content(Arc::new(seen)));
                }
            }
            if patch.has_sketch() {
                sources.places = Some(|_, text| str::from_utf8(text).map(outline).unwrap_or_default());
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
