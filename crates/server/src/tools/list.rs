//! The tool `list_files`.

use std::fmt::Write;
use std::iter;
use std::sync::Arc;
use std::time::{Duration, Instant};

use emend_syntax::Outline;
use emend_workspace::list::{Entry, Listing, What};
use emend_workspace::problem::{Kind, Problem};
use emend_workspace::roots::{Absent, Root, Roots};
use emend_workspace::{Effort, Unseen, WalkScope, symbols};

use super::Call;
use super::spec::{About, Effect, Given, Tool, ToolArguments};
use crate::answer::{Answer, Unanswered};
use crate::messages::{Audience, message};
use crate::outline_text;
use crate::wire::ListFiles;

/// How many files are outlined at a time.
const OUTLINES: usize = 100;
/// The time after which no further file is outlined.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most bytes of their outlines.
const OUTLINE_ROOM: usize = 24_000;

impl ToolArguments for ListFiles {
    const ABOUT: About = About {
        name: "list_files",
        title: "List files",
        description: "List files with sizes, or outline them. Ignored files are skipped.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: false,
    };
    const SEARCH_WORDS: Option<&'static str> = Some("glob, find files");
}

impl Tool for ListFiles {
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered> {
        if call.effort == Effort::Quick {
            // A folder may have any number of files.
            return Err(Unanswered::NotQuick);
        }
        Ok(Answer::reading(given.read().and_then(|asked| list(call, &asked))))
    }
}

fn list(call: &Call<'_>, asked: &ListFiles) -> Result<String, Problem> {
    if asked.depth == Some(0) {
        let message = "it is counted from 1, the files of the folder itself".into();
        return Err(Problem::new(Kind::InvalidArgument { name: "depth".into(), message }));
    }
    let scope =
        WalkScope { path: asked.path.as_deref(), glob: asked.glob.as_deref(), cancelled: call.cancelled };
    let listing = call.workspace.files().list(&scope, asked.depth)?;
    let mut text = header(call, asked, &listing);
    if asked.outline == Some(true) {
        outlined(call, &listing.entries, &mut text);
    } else {
        listing.entries.iter().for_each(|entry| line(&mut text, entry));
    }
    if listing.left_out > 0 {
        let (left_out, s) = (counted(listing.left_out), plural(listing.left_out));
        let _ = writeln!(text, "... and {left_out} more file{s}; give a narrower glob or a path.");
    }
    if asked.path.as_deref().is_none_or(str::is_empty) {
        let roots = call.workspace.roots();
        text.push_str(&if asked.glob.is_some() { closed(roots) } else { absent(roots) });
    }
    text.push_str(&unseen(listing.unseen));
    Ok(text)
}

fn header(call: &Call<'_>, asked: &ListFiles, listing: &Listing) -> String {
    let files = format!("{} file{}", counted(listing.files), plural(listing.files));
    match (asked.path.as_deref(), asked.glob.as_deref(), call.workspace.roots().all()) {
        (None, None, roots) if roots.len() > 1 => {
            let mut text = format!("{} roots, {files}:\n", roots.len());
            for root in roots {
                let _ = write!(text, "{}: is {}", root.name, root.path.display());
                if let Err(problem) = call.workspace.roots().check_open(root) {
                    let _ = write!(text, ", and closed: {}", one_line(&problem));
                }
                text.push('\n');
            }
            text
        }
        (_, Some(glob), _) => format!("{files} for {glob}\n"),
        (path, None, _) => format!("{} · {files}\n", path.unwrap_or(".")),
    }
}

/// Shows entries, and below each file its outline, if it has one.
fn outlined(call: &Call<'_>, entries: &[Entry], text: &mut String) {
    let mut outlines = Vec::new();
    let mut versions: Vec<Option<String>> = Vec::new();
    let begun = Instant::now();
    let mut is_cut = false;
    for entry in entries {
        is_cut |= outlines.len() == OUTLINES || begun.elapsed() > PATIENCE || (call.cancelled)();
        let found = if is_cut { None } else { outline(call, entry) };
        let (outline, version) = found.unzip();
        outlines.extend(outline);
        versions.push(version);
    }
    let count = outlines.len();
    let mut shown = outline_text::show(&outlines, OUTLINE_ROOM).into_iter();
    for (entry, version) in iter::zip(entries, versions) {
        line(text, entry);
        if let Some(version) = version {
            text.pop();
            let _ = writeln!(text, " · version {version}");
            shown.next().into_iter().for_each(|outline| text.push_str(&outline));
        }
    }
    if is_cut {
        let _ = writeln!(text, "Only {count} files were outlined; give a narrower glob or a path.");
    }
}

/// Returns the outline of a file and its version.
fn outline(call: &Call<'_>, entry: &Entry) -> Option<(Outline, String)> {
    if !matches!(entry.what, What::File(_)) {
        return None;
    }
    let (name, snapshot) = call.workspace.files().read(&entry.name).ok()?;
    let outline = symbols::outline(&name, &snapshot.text).ok()?;
    call.caller.readings().lock().saw_numbers(&name, &snapshot.text);
    Some((outline, snapshot.text.version().short()))
}

fn line(text: &mut String, entry: &Entry) {
    let name = plain(&entry.name);
    let _ = match &entry.what {
        What::File(Some(bytes)) => writeln!(text, "{name} · {}", size(*bytes)),
        What::File(None) => writeln!(text, "{name}"),
        What::Folder(files) => writeln!(text, "{name} · {} file{}", counted(*files), plural(*files)),
        What::Link(Some(target)) => writeln!(text, "{name} -> {}", plain(target)),
        What::Link(None) => writeln!(text, "{name} · a link"),
        What::Unnameable => writeln!(text, "{name} · its name is not UTF-8, so it cannot be read or edited"),
        What::Other(what) => writeln!(text, "{name} · {what}"),
    };
}

/// Names the roots that could not be opened, and why.
fn absent(roots: &Roots) -> String {
    let absent = |absent: &Absent| format!("{}: is not there: {}\n", absent.name, one_line(&absent.problem));
    roots.absent().iter().map(absent).collect()
}

/// Names the roots that were not searched, because nothing in them may be read or they are missing, and why.
pub(super) fn closed(roots: &Roots) -> String {
    let closed = |root: &Arc<Root>| {
        let problem = roots.check_open(root).err()?;
        Some(format!("Nothing of {} was looked at: {}\n", root.name, one_line(&problem)))
    };
    roots.all().iter().filter_map(closed).chain([absent(roots)]).collect()
}

fn one_line(problem: &Problem) -> String {
    message(problem, Audience::Model).replace('\n', " ")
}

/// Returns a name on one line, without control characters.
pub(super) fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Says what a walk has left out.
pub(super) fn unseen(unseen: Unseen) -> String {
    let mut text = String::new();
    if unseen.rest {
        text.push_str("There is more than was looked at, so the counts are too low; give a path.\n");
    }
    if unseen.unreadable > 0 {
        let (number, s) = (counted(unseen.unreadable), plural(unseen.unreadable));
        let _ = writeln!(text, "{number} file{s} or folder{s} could not be read.");
    }
    text
}

fn size(bytes: u64) -> String {
    let units = [(30, "GB"), (20, "MB"), (10, "KB")];
    match units.iter().find(|(power, _)| bytes >> power > 0) {
        Some((power, unit)) => {
            let tenths = (u128::from(bytes) * 10) >> power;
            format!("{}.{} {unit}", tenths / 10, tenths % 10)
        }
        None => format!("{bytes} B"),
    }
}

/// Formats a number with separators between thousands.
pub(super) fn counted(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn plural(number: usize) -> &'static str {
    if number == 1 { "" } else { "s" }
}
