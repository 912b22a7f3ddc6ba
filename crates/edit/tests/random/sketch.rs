//! Random sketches of a known change, for the tests of the crate and for fuzzing.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// A file, a sketch of a change of it, and the file with the change.
#[derive(Debug)]
pub struct Sample {
    /// The file before the change.
    pub before: String,
    /// The sketch, from which the marker above the first part or below the last may be lost.
    pub sketch: String,
    /// The file after the change.
    pub after: String,
}

/// A line of the new file, and whether the file has it too.
type Shown = (String, bool);

const MARKER: &str = "// ... existing code ...";
const REMOVED: &str = "// ... removed ...";

/// Makes a file of definitions, a change of some of their lines, and a sketch of it.
pub fn sample(bytes: &[u8]) -> Sample {
    let mut bytes = bytes.iter().copied();
    let mut below = |end: u8| bytes.next().unwrap_or(0) % end;
    let (mut before, mut lines): (Vec<String>, Vec<Shown>) = (Vec::new(), Vec::new());
    for i in 0..2 + below(5) {
        if below(5) == 0 {
            let new =
                [format!("fn fresh_{i}(seed: u8) {{"), format!("    seed * {i}7"), "}".into(), String::new()];
            lines.extend(new.map(|line| (line, false)));
        }
        let body = 1 + below(5);
        let mut own = Vec::from([format!("fn name_{i}(value: u8) {{")]);
        for j in 0..body {
            own.push(match below(6) {
                0 => "    common();".to_string(),
                1 => "    if ready() {\n        act();\n    }".to_string(),
                _ => format!("    let part_{i}_{j} = call_{}({i}, {j});", below(4)),
            });
        }
        own.push("}".into());
        own.push(String::new());
        let last = own.len() - 2;
        for (j, line) in own.iter().flat_map(|line| line.split('\n')).map(String::from).enumerate() {
            let change = if j == 0 || j >= last { 0 } else { below(12) };
            before.push(line.clone());
            match change {
                1 if line.contains("call") => lines.push((line.replace("call", "other"), false)),
                2 => lines.extend([(line, true), (format!("    let fresh_{i}_{j} = new();"), false)]),
                3 if line.contains("call") => lines.push((REMOVED.into(), false)),
                _ => lines.push((line, true)),
            }
        }
    }
    let context = usize::from(1 + below(4));
    let is_shown = |at: usize| {
        let near = at.saturating_sub(context)..(at + context + 1).min(lines.len());
        lines[near].iter().any(|(_, is_kept)| !is_kept)
    };
    let mut parts: Vec<Vec<&str>> = Vec::new();
    let mut last = None;
    for (at, (line, _)) in lines.iter().enumerate().filter(|(at, _)| is_shown(*at)) {
        if last.is_none_or(|last| last + 1 < at) {
            parts.push(Vec::new());
        }
        last = Some(at);
        parts.last_mut().expect("one was pushed").push(line);
    }
    // A marker may be lost where more lines would go than come: as many may be meant to take their place.
    let new = lines.iter().filter(|(_, is_kept)| !is_kept).count();
    let says = lines.iter().any(|(line, _)| line == REMOVED);
    let may_lose = |hidden: &[Shown]| {
        !says
            && hidden.iter().filter(|(line, _)| line.contains("call") || line.contains("name")).count() > new
    };
    let first = (0..lines.len()).find(|at| is_shown(*at)).unwrap_or(0);
    let (lost, end) = (below(8), last.map_or(0, |last| last + 1));
    let has_first = first > 0 && !(lost == 0 && may_lose(&lines[..first]));
    let has_last = end < lines.len() && !(lost == 7 && may_lose(&lines[end..]));
    let mut sketch: Vec<&str> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        sketch.extend(Some(MARKER).filter(|_| number > 0 || has_first));
        sketch.extend(part);
    }
    sketch.extend(Some(MARKER).filter(|_| has_last));
    let text = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let after = lines.iter().map(|(line, _)| line.as_str()).filter(|line| *line != REMOVED);
    Sample {
        before: text(&before.iter().map(String::as_str).collect::<Vec<_>>()),
        sketch: text(&sketch),
        after: text(&after.collect::<Vec<_>>()),
    }
}
