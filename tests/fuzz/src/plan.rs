//! Planning: a request for small files, planned and applied. Bytes outside the spans stay, in the view and on disk.
//! Where every hunk matched exactly, a naive second version makes the same file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use arbitrary::{Arbitrary, Result, Unstructured};
use emend_edit::edit::Edit;
use emend_edit::find::{FindLimits, Layer, contents};
use emend_edit::patch::recognise;
use emend_edit::patch::{
    Change, Hunk, Insertion, Line, LineAddress, LinesOfVersion, NewLines, NumberedChange, Operation, Patch,
    Side, TakenLines, TextChange,
};
use emend_edit::plan::{self, Action, PlacedHunk, Plan, Source, Sources};
use emend_edit::problem::Kind;
use emend_edit::{Text, Version};

/// The files that requests are about. `d` is never there.
const NAMES: &[&str] = &["a", "b", "d"];

/// Some files and a request.
#[derive(Debug)]
pub struct Input {
    files: BTreeMap<&'static str, Vec<u8>>,
    request: Request,
}

#[derive(Debug)]
enum Request {
    Replace(&'static str, Vec<(String, String, bool, Option<usize>)>),
    Insert(&'static str, Insertion),
    Lines(&'static str, usize, usize, Vec<String>),
    /// Lines of another file in the place of lines of the first, or as a new file.
    Take(&'static str, Option<(usize, usize)>, TakenLines),
    Write(&'static str, String),
    Text(String),
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut files = BTreeMap::new();
        let mut views = BTreeMap::new();
        for name in &NAMES[..2] {
            let view = crate::content(u, 16)?;
            files.insert(*name, encoded(u, &view)?);
            views.insert(*name, view);
        }
        let name = *u.choose(NAMES)?;
        let view = views.get(name).cloned().unwrap_or_default();
        let request = match u.int_in_range(0..=11)? {
            11 => {
                let path = *u.choose(NAMES)?;
                let (first, count) = (u.int_in_range(0..=18)?, u.int_in_range(0..=4)?);
                let at = numbered(&files, path, first, count);
                let (is_moved, shift) = (u.arbitrary()?, u.int_in_range(-2..=2)?);
                let lines = TakenLines { path: path.into(), at, is_moved, shift };
                let place = if u.ratio(3, 4)? {
                    Some((u.int_in_range(0..=18)?, u.int_in_range(0..=4)?))
                } else {
                    None
                };
                Request::Take(name, place, lines)
            }
            10 => {
                let beside = if u.ratio(5, 6)? { Some(crate::finder::part(u, &view)?) } else { None };
                let side = *u.choose(&[Side::Before, Side::After])?;
                let lines = several(u)?.iter().map(|line| line.replace('\r', "")).collect();
                let beside = beside.filter(|text| !text.is_empty());
                Request::Insert(name, Insertion { beside, side, lines })
            }
            0..=2 => {
                let mut edits = Vec::new();
                for _ in 0..u.int_in_range(1..=3)? {
                    let old = crate::finder::part(u, &view)?;
                    let new = match u.int_in_range(0..=5)? {
                        0 | 1 => format!("{old}{}", crate::line(u)?),
                        2 => old.replacen('\n', &format!("\n{}\n", crate::line(u)?), 1),
                        _ => crate::content(u, 4)?,
                    };
                    let expected = if u.ratio(1, 8)? { Some(u.int_in_range(0..=3)?) } else { None };
                    edits.push((old, new, u.ratio(1, 4)?, expected));
                }
                Request::Replace(name, edits)
            }
            3 => Request::Lines(name, u.int_in_range(0..=18)?, u.int_in_range(0..=4)?, several(u)?),
            4 => Request::Write(name, crate::content(u, 16)?),
            5 => Request::Text(blocks(u, name, &view)?),
            6 | 7 => Request::Text(diff(u, name, &view)?),
            _ => Request::Text(v4a(u, &views)?),
        };
        Ok(Self { files, request })
    }
}

/// Lines of a file by the numbers of the version that it has.
fn numbered(
    files: &BTreeMap<&'static str, Vec<u8>>,
    name: &str,
    first: usize,
    count: usize,
) -> LinesOfVersion {
    let bytes = files.get(name).map_or(&[][..], Vec::as_slice);
    LinesOfVersion::numbered(Version::hash(bytes).short(), first, count)
}

fn several(u: &mut Unstructured<'_>) -> Result<Vec<String>> {
    (0..u.int_in_range(0..=3)?).map(|_| crate::line(u)).collect()
}

fn encoded(u: &mut Unstructured<'_>, view: &str) -> Result<Vec<u8>> {
    Ok(match u.int_in_range(0..=9)? {
        0 => utf_16(view, u16::to_le_bytes),
        1 => utf_16(view, u16::to_be_bytes),
        // Latin-1 as far as it goes: detection decides what it is.
        2 => view.chars().filter_map(|c| u8::try_from(c as u32).ok()).collect(),
        3 => [b"\xef\xbb\xbf", view.as_bytes()].concat(),
        // Invalid in the middle of UTF-8.
        4 => [view.as_bytes(), "\u{e9}\u{fc}\u{20ac} ".repeat(20).as_bytes(), b"\xff\n"].concat(),
        _ => view.as_bytes().to_vec(),
    })
}

fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect()
}

/// Lines of a hunk: a stretch of the file, changed here and there.
fn hunk(u: &mut Unstructured<'_>, view: &str) -> Result<(usize, Vec<String>)> {
    let lines: Vec<&str> = view.lines().collect();
    let from = u.int_in_range(0..=lines.len())?;
    let to = u.int_in_range(from..=lines.len().min(from + 5))?;
    let mut out = Vec::new();
    for line in &lines[from..to] {
        match u.int_in_range(0..=11)? {
            0..=4 => out.push(format!(" {line}")),
            5..=7 => out.push(format!("-{line}")),
            8 => out.push(format!(" {}", crate::line(u)?)),
            9 => out.push((*line).to_string()),
            _ => out.extend([format!("-{line}"), format!("+{}", crate::line(u)?)]),
        }
        if u.ratio(1, 5)? {
            out.push(format!("+{}", crate::line(u)?));
        }
    }
    if out.is_empty() || u.ratio(1, 6)? {
        out.push(format!("+{}", crate::line(u)?));
    }
    Ok((from, out))
}

fn v4a(u: &mut Unstructured<'_>, views: &BTreeMap<&str, String>) -> Result<String> {
    let mut text = String::from("*** Begin Patch\n");
    for _ in 0..u.int_in_range(1..=3)? {
        let name = *u.choose(NAMES)?;
        let view = views.get(name).cloned().unwrap_or_default();
        match u.int_in_range(0..=9)? {
            0 => text.push_str(&format!("*** Delete File: {name}\n")),
            1 => {
                text.push_str(&format!("*** Add File: {name}\n"));
                several(u)?.iter().for_each(|line| text.push_str(&format!("+{line}\n")));
            }
            shape => {
                text.push_str(&format!("*** Update File: {name}\n"));
                if shape == 2 {
                    text.push_str(&format!("*** Move to: {}\n", u.choose(NAMES)?));
                }
                for _ in 0..u.int_in_range(1..=3)? {
                    let (_, lines) = hunk(u, &view)?;
                    let anchor = view.lines().nth(u.int_in_range(0..=16)?).unwrap_or("");
                    text.push_str(if u.ratio(1, 3)? { "@@ " } else { "@@\n" });
                    if text.ends_with(' ') {
                        text.push_str(&format!("{anchor}\n"));
                    }
                    lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
                    text.push_str(if u.ratio(1, 8)? { "*** End of File\n" } else { "" });
                }
            }
        }
    }
    text.push_str("*** End Patch\n");
    Ok(text)
}

fn diff(u: &mut Unstructured<'_>, name: &str, view: &str) -> Result<String> {
    let mut text = format!("--- a/{name}\n+++ b/{name}\n");
    for _ in 0..u.int_in_range(1..=3)? {
        let (from, lines) = hunk(u, view)?;
        let count = |sign| lines.iter().filter(|line| line.starts_with([' ', sign])).count();
        let (old, new) = (count('-'), count('+'));
        let start = if u.ratio(1, 4)? { from + 2 } else { from + 1 };
        text.push_str(&format!("@@ -{start},{old} +{start},{new} @@\n"));
        for (i, line) in lines.iter().enumerate() {
            text.push_str(&format!("{line}\n"));
            if i + 1 == lines.len() && u.ratio(1, 6)? {
                text.push_str("\\ No newline at end of file\n");
            }
        }
    }
    Ok(text)
}

fn blocks(u: &mut Unstructured<'_>, name: &str, view: &str) -> Result<String> {
    let mut text = format!("{name}\n");
    for _ in 0..u.int_in_range(1..=2)? {
        let (_, lines) = hunk(u, view)?;
        let side = |sign: char| {
            let lines = lines.iter().filter(|line| line.starts_with([' ', sign]));
            lines.map(|line| format!("{}\n", &line[1..])).collect::<String>()
        };
        text.push_str(&format!("<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n", side('-'), side('+')));
    }
    Ok(text)
}

impl Input {
    fn patch(&self) -> Option<Patch> {
        match &self.request {
            Request::Replace(name, edits) => {
                let change = |(old, new, all, expected): &(String, String, bool, Option<usize>)| TextChange {
                    old: old.clone(),
                    new: new.clone(),
                    all: *all,
                    expected: *expected,
                };
                Patch::replace(name, edits.iter().map(change).collect()).ok()
            }
            Request::Insert(name, insertion) => {
                Patch::replace(name, vec![Change::Insertion(insertion.clone())]).ok()
            }
            Request::Lines(name, first, count, lines) => {
                let at = numbered(&self.files, name, *first, *count);
                let new = NewLines::Given(lines.clone());
                Some(Patch::replace_range(name, NumberedChange { at, new }))
            }
            Request::Take(name, Some((first, count)), lines) => {
                let at = numbered(&self.files, name, *first, *count);
                let new = NewLines::Taken(lines.clone());
                Some(Patch::replace_range(name, NumberedChange { at, new }))
            }
            Request::Take(name, None, lines) => Some(Patch::take(name, lines.clone())),
            Request::Write(name, content) => Some(Patch::write(name, content.clone())),
            Request::Text(text) => recognise::parse(text, None, Some("a")).ok(),
        }
    }
}

/// Plans and applies the request.
pub fn check(input: &Input) {
    let Some(patch) = input.patch() else { return };
    let mut sources = Sources::default();
    for name in NAMES {
        let text = input.files.get(name).and_then(|raw| Text::new(raw.clone()).ok());
        let source = match text {
            Some(text) => Source::Present(Arc::new(text)),
            None => Source::Absent,
        };
        sources.insert(name, name, source);
    }
    let limits = FindLimits::default();
    match plan::build(&patch, &sources, &limits) {
        Ok(plan) => {
            made(&patch, &plan);
            if let Request::Take(name, place, lines) = &input.request
                && lines.shift == 0
            {
                kept(input, name, *place, lines, &plan);
            }
            let first: Vec<usize> =
                plan.files().iter().flat_map(|file| &file.hunks).map(|h| h.number).take(1).collect();
            if plan.can_take(&first).is_ok()
                && let Ok((part, _)) = plan.only(&first)
            {
                part.files().iter().for_each(|file| applied(&file.action));
            }
        }
        Err(problems) => {
            assert!(!problems.is_empty(), "a refusal says why");
            problems.iter().for_each(|problem| assert!(!problem.to_string().is_empty()));
            if problems.iter().any(|problem| matches!(*problem.kind, Kind::CutWord { .. })) {
                refused(&patch, input);
            }
        }
    }
}

/// A change that is refused because of a word would cut one.
fn refused(patch: &Patch, input: &Input) {
    let [section] = patch.sections() else { return };
    let Some(Ok(text)) = input.files.get(&*section.path).map(|raw| Text::new(raw.clone())) else { return };
    let (Operation::Update { hunks, .. }, Ok(file)) = (&section.operation, str::from_utf8(text.bytes()))
    else {
        return;
    };
    let is_word = |c: Option<&u8>| c.is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_');
    let is_in_word = |at: usize, old: &str| {
        let (old, file) = (old.as_bytes(), file.as_bytes());
        is_word(file[..at].last()) && is_word(old.first())
            || is_word(old.last()) && is_word(file.get(at + old.len()))
    };
    let cuts = |hunk: &Hunk| match &hunk.change {
        Change::Text(change) => file.match_indices(&change.old).any(|(at, old)| {
            match old.strip_suffix('\n').unwrap_or(old).contains('\n') {
                true => cuts_word(file, at, change),
                false => is_in_word(at, old),
            }
        }),
        _ => false,
    };
    assert!(file.contains('\r') || hunks.iter().any(cuts), "no word of {file:?} is cut");
}

fn made(patch: &Patch, plan: &Plan) {
    assert!(!plan.files().is_empty(), "a plan that changes nothing is refused");
    for file in plan.files() {
        applied(&file.action);
    }
    let ([file], [section]) = (plan.files(), patch.sections()) else { return };
    let Operation::Update { hunks, .. } = &section.operation else { return };
    let (Action::Modify { base, edit } | Action::Move { base, edit, .. }) = &file.action else { return };
    if let ([Hunk { change: Change::Insertion(insertion), .. }], [placed]) = (&hunks[..], &file.hunks[..]) {
        inserted(&base.bytes()[base.body()], &edit.apply(base.bytes()), insertion, placed);
    }
    if base.bytes().contains(&b'\r') || base.has_bom() {
        return;
    }
    if let Some(naive) = naive(base.bytes(), hunks, &file.hunks) {
        // Where the last line had no ending, what comes to stand last may keep its own: tests in the crate say when.
        let ours = edit.apply(base.bytes());
        let unended = base.bytes().last().is_some_and(|&last| last != b'\n');
        let [naive, ours] = [naive, ours].map(|bytes| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            if unended { text.trim_end_matches('\n').to_string() } else { text }
        });
        assert_eq!(naive, ours, "the naive one left, ours right: {hunks:?} {:?}", file.hunks);
    }
}

/// All lines of all files stay, but for those in whose place others come; what is copied is there once more.
fn kept(input: &Input, target: &str, place: Option<(usize, usize)>, taken: &TakenLines, plan: &Plan) {
    let lines = |view: &[u8]| -> Vec<Vec<u8>> {
        let view = view.strip_prefix(b"\xef\xbb\xbf").unwrap_or(view);
        contents(view).into_iter().map(<[u8]>::to_vec).collect()
    };
    let view = |name: &str| Text::new(input.files.get(name)?.clone()).ok();
    let before = |name: &str| view(name).map_or_else(Vec::new, |text| lines(text.bytes()));
    let part = |name: &str, (first, count): (usize, usize)| -> Vec<Vec<u8>> {
        before(name).into_iter().skip(first - 1).take(count).collect()
    };
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    for name in NAMES {
        let file = plan.files().iter().find(|file| file.name == *name);
        expected.extend(before(name));
        found.extend(match file.and_then(|file| file.action.view()) {
            Some(view) => lines(&view.concat()),
            None => before(name),
        });
    }
    for gone in place.map_or_else(Vec::new, |place| part(target, place)) {
        let at = expected.iter().position(|line| *line == gone).expect("it was there");
        expected.remove(at);
    }
    if let LineAddress::Numbers { first, count } = taken.at.at
        && !taken.is_moved
    {
        expected.extend(part(&taken.path, (first, count)));
    }
    expected.sort();
    found.sort();
    assert_eq!(expected, found);
}

/// All lines of the file stay, and those that are inserted stand together.
fn inserted(body: &[u8], after: &[u8], insertion: &Insertion, placed: &PlacedHunk) {
    let is_literal = matches!(placed.layer, Some(Layer::Exact | Layer::LineEndings));
    let is_ended = body.last().is_none_or(|&last| last == b'\n');
    let ends_blank = insertion.lines.last().is_none_or(String::is_empty);
    // A looser layer may indent the lines; a blank line without an ending is none.
    if !is_literal || (ends_blank && !is_ended) {
        return;
    }
    let after = contents(after.strip_prefix(b"\xef\xbb\xbf").unwrap_or(after));
    let (before, added) = (contents(body), &insertion.lines);
    let is_it = |at: usize| {
        let mut wanted = before.clone();
        wanted.splice(at..at, added.iter().map(String::as_bytes));
        wanted == after
    };
    assert!((0..=before.len()).any(is_it), "{before:?} and {added:?} became {after:?}");
}

/// What an action makes of its file.
fn applied(action: &Action) {
    let (Action::Modify { base, edit } | Action::Move { base, edit, .. }) = action else { return };
    disjoint(edit);
    let mut view = base.bytes().to_vec();
    for span in edit.spans().iter().rev() {
        view.splice(span.range.clone(), span.new.iter().copied());
    }
    assert_eq!(edit.apply(base.bytes()), view);
    // The mark is no line's: it stays, unless another file takes its place.
    let kept = !base.has_bom() || edit.apply(base.bytes()).starts_with(b"\xef\xbb\xbf");
    assert!(kept || !edit.is_separable(), "the mark is gone");
    let mut raw = base.raw().to_vec();
    let spans = edit.raw_spans(base);
    assert!(spans.windows(2).all(|pair| pair[0].0.end <= pair[1].0.start));
    for (range, new) in spans.iter().rev() {
        raw.splice(range.clone(), new.iter().copied());
    }
    assert_eq!(action.pieces().map(|pieces| pieces.concat()), Some(raw.clone()));
    if !edit.encoding().is_view() {
        // The second way to the same bytes: all of the new view, encoded at once.
        assert_eq!(edit.result(base).raw(), raw, "{}", edit.encoding().name());
    }
}

fn disjoint(edit: &Edit) {
    assert!(
        edit.spans().windows(2).all(|pair| pair[0].range.end <= pair[1].range.start),
        "{:?}",
        edit.spans()
    );
}

/// The file with each hunk's lines or text simply put there, from the bottom up; `None` where that is not all.
fn naive(file: &[u8], hunks: &[Hunk], placed: &[PlacedHunk]) -> Option<Vec<u8>> {
    let mut hunks: Vec<(&Hunk, &PlacedHunk)> = hunks
        .iter()
        .map(|hunk| Some((hunk, placed.iter().find(|p| p.number == hunk.number)?)))
        .collect::<Option<_>>()?;
    if hunks.iter().all(|(hunk, _)| matches!(hunk.change, Change::Text(_))) {
        return texts(file, &hunks);
    }
    // Insertions that meet in one place keep the order of the request, not that of the lines around them.
    hunks.sort_by_key(|(_, placed)| placed.line);
    if hunks.windows(2).any(|pair| {
        pair[0].1.line + pair[0].1.lines >= pair[1].1.line + usize::from(pair[0].1.number < pair[1].1.number)
    }) {
        return None;
    }
    let mut lines: Vec<&[u8]> = file.split_inclusive(|&b| b == b'\n').collect();
    let ended = lines.last().is_none_or(|line| line.ends_with(b"\n"));
    lines.iter_mut().for_each(|line| *line = line.strip_suffix(b"\n").unwrap_or(line));
    for (hunk, placed) in hunks.iter().rev() {
        let between;
        let change = match &hunk.change {
            Change::Lines(change) if change.final_newline.is_none() => &change.lines,
            Change::Block(change) if change.pieces.len() == 1 => {
                let piece = &change.pieces[0];
                let (old, new): (Vec<&str>, Vec<&str>) =
                    (piece.old.lines().collect(), piece.new.lines().collect());
                between = old
                    .into_iter()
                    .map(|line| Line::Removed(line.into()))
                    .chain(new.into_iter().map(|line| Line::Added(line.into())))
                    .collect::<Vec<_>>();
                // Lent below to lines that live as long as the request.
                return (hunks.len() == 1).then(|| block(&lines, placed, &between, ended)).flatten();
            }
            _ => return None,
        };
        let old: Vec<&[u8]> = change.iter().filter_map(Line::before).map(str::as_bytes).collect();
        let new: Vec<&[u8]> = change.iter().filter_map(Line::after).map(str::as_bytes).collect();
        if placed.layer != Some(Layer::Exact) || new.iter().any(|line| line.contains(&b'\r')) {
            return None;
        }
        if old.is_empty() && hunks.len() > 1 {
            return None;
        }
        let at = if old.is_empty() { placed.line } else { placed.line - 1 };
        assert_eq!(lines.get(at..at + old.len()), Some(&old[..]), "an exact place has other lines");
        lines.splice(at..at + old.len(), new);
    }
    Some(joined(&lines, ended))
}

fn block(lines: &[&[u8]], placed: &PlacedHunk, change: &[Line], ended: bool) -> Option<Vec<u8>> {
    let old: Vec<&[u8]> = change.iter().filter_map(Line::before).map(str::as_bytes).collect();
    let new: Vec<&[u8]> = change.iter().filter_map(Line::after).map(str::as_bytes).collect();
    if placed.layer != Some(Layer::Exact) || new.iter().any(|line| line.contains(&b'\r')) {
        return None;
    }
    let mut lines = lines.to_vec();
    let at = placed.line - 1;
    assert_eq!(lines.get(at..at + old.len()), Some(&old[..]), "an exact place has other lines");
    lines.splice(at..at + old.len(), new);
    Some(joined(&lines, ended))
}

fn joined(lines: &[&[u8]], ended: bool) -> Vec<u8> {
    let mut out = lines.join(&b'\n');
    if ended && !lines.is_empty() {
        out.push(b'\n');
    }
    out
}

fn texts(file: &[u8], hunks: &[(&Hunk, &PlacedHunk)]) -> Option<Vec<u8>> {
    let file = std::str::from_utf8(file).ok()?;
    let mut spans = Vec::new();
    for (hunk, placed) in hunks {
        let Change::Text(change) = &hunk.change else { return None };
        if placed.layer != Some(Layer::Exact) || change.new.contains('\r') {
            return None;
        }
        let places: Vec<usize> = file.match_indices(&change.old).map(|(at, _)| at).collect();
        assert_eq!(places.len(), placed.places, "{:?} stands so often", change.old);
        places.iter().for_each(|&at| assert!(!cuts_word(file, at, change), "{change:?} cuts a word"));
        spans.extend(places.into_iter().map(|at| (at, change)));
    }
    spans.sort_by_key(|(at, _)| *at);
    let mut out = file.to_string();
    for (at, change) in spans.into_iter().rev() {
        out.replace_range(at..at + change.old.len(), &change.new);
    }
    Some(out.into_bytes())
}

/// Whether a word in which several lines begin or end at this place would not stand there afterwards.
fn cuts_word(file: &str, at: usize, change: &TextChange) -> bool {
    let (above, below) = (&file[..at], &file[at + change.old.len()..]);
    let text_after = format!("{above}{}{below}", change.new);
    let after = words(&text_after);
    let (end, new_end) = (at + change.old.len(), at + change.new.len());
    change.old.contains('\n')
        && words(file).iter().any(|word| {
            let stands = |edge: usize, moved: usize, inside: usize| {
                let is_there = |other: &Range<usize>| {
                    other.start + edge == word.start + moved
                        && other.end + edge == word.end + moved
                        && text_after[other.clone()] == file[word.clone()]
                };
                inside <= change.new.len() && after.iter().any(is_there)
            };
            word.start < at && at < word.end && !stands(at, at, word.end - at)
                || word.start < end && end < word.end && !stands(end, new_end, end - word.start)
        })
}

/// The places of all words, read from the beginning of the text, so that an escape is known for what it is.
fn words(text: &str) -> Vec<Range<usize>> {
    let (bytes, mut words, mut at) = (text.as_bytes(), Vec::new(), 0);
    let count = |from: usize, most: usize, is_it: fn(&u8) -> bool| {
        bytes.iter().skip(from).take(most).take_while(|byte| is_it(byte)).count()
    };
    while at < bytes.len() {
        let word = count(at, usize::MAX, |byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        if bytes[at] == b'\\' {
            let digits = match bytes.get(at + 1) {
                Some(b'x') => 2,
                Some(b'u') => 4,
                Some(b'U') => 8,
                _ => 0,
            };
            at += 2 + count(at + 2, digits, u8::is_ascii_hexdigit);
        } else if word > 0 {
            words.push(at..at + word);
            at += word;
        } else {
            at += 1;
        }
    }
    words
}
