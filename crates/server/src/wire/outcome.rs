//! The outcome of every tool that edits.

use std::collections::{BTreeMap, BTreeSet};

use emend_edit::diff::{Diff, ShortDiff, from_text};
use emend_edit::excerpt::{around, first_difference};
use emend_edit::patch::Part;
use emend_edit::plan::{NamedAs, PlacedHunk, Renumbered, Taken, TakenFrom, TakenSymbol};
use emend_workspace::history::{self, Edited, EditedFile};
use emend_workspace::{ChangeKind, FileReport, Repeat, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::messages::{self, forgiven};
use crate::server_diagnostics::DiagnosticsReport;

/// The most lines of diff in an outcome.
const DIFF_LINES: usize = 100;
/// The most bytes of diff in a preview that are shown whole.
const REVIEWED: usize = 32_000;
/// The most bytes of a line of that diff: those around the change.
const DIFF_COLUMNS: usize = 1_000;

/// The most bytes of a line that the review page gets: more than anybody reads.
const LONGEST_REVIEWED: usize = 64_000;

/// The answer of every tool that edits. The schema names what most answers have; the list of tools repeats it for each tool,
/// and what a model does not find in it stands in its answers all the same.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Files that changed (or would).
    pub changed_files: Vec<String>,
    /// Unified diff; *** File N before those of the Nth changed file, if several.
    pub diff: String,
    /// The diff of each file as a short answer shows it.
    #[serde(skip)]
    pub short_diffs: Vec<ShortDiff>,
    /// How many distinct changes there are, if these show one place of each.
    #[serde(skip)]
    pub distinct: Option<usize>,
    /// What layers forgave, for a short answer.
    #[serde(skip)]
    pub forgiven: Vec<String>,
    /// Whether `diff` is only the beginning, and the whole is a resource.
    #[serde(skip)]
    pub diff_goes_on: bool,
    /// Whether the edit is in the history.
    #[serde(skip)]
    pub can_be_undone: bool,
    /// Whether an earlier call had this outcome, and this one changed nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(skip)]
    pub is_repeated: bool,
    /// Bytes removed plus bytes added.
    #[schemars(skip)]
    pub bytes_changed: usize,
    /// Whether the files were still what you read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub mtime_check_passed: Option<bool>,
    /// What else happened after the edit.
    #[schemars(skip)]
    pub side_effects_fired: Vec<String>,
    /// The first problem; absent on success.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub error: Option<ErrorInfo>,
    /// The problems; absent on success.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub problems: Option<Vec<WireProblem>>,
    /// How many problems there are, if more than are told; a note says it.
    #[serde(skip)]
    pub problem_count: Option<usize>,
    /// The edit's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub edit: Option<String>,
    /// Handle for apply_preview.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub preview: Option<String>,
    /// Each of changed_files.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub files: Option<Vec<WireFile>>,
    /// What language servers say of the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub diagnostics: Option<Vec<DiagnosticsReport>>,
    /// Remarks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub notes: Option<Vec<String>>,
}

/// A stable code and a message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ErrorInfo {
    /// Stable code.
    pub code: String,
    /// What is wrong and what to do.
    pub message: String,
}

/// A problem with its facts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WireProblem {
    /// Stable code.
    pub code: String,
    /// What is wrong and what to do; of the first, error has it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its number in edits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edit: Option<usize>,
    /// The hunk, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunk: Option<usize>,
    /// Lines of the file in question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<usize>>,
    /// The file's version now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_version: Option<String>,
    /// What a failed commit left of each file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_states: Option<BTreeMap<String, String>>,
}

/// What happened to a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WireFile {
    /// The file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// create, modify (default), delete or move.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub change: String,
    /// Its old path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<String>,
    /// Version before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_before: Option<String>,
    /// Version after; send it with the next edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version_after: Option<String>,
    /// Lines added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<usize>,
    /// Lines removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
    /// Places that it was changed in, if several: those of all its hunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<usize>,
    /// Where each hunk landed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hunks: Vec<WireHunk>,
}

/// Where a hunk landed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WireHunk {
    /// Its number.
    pub hunk: usize,
    /// Line at which it was found.
    pub line: usize,
    /// Lines it matched.
    pub lines: usize,
    /// How it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// Places replaced, if several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<usize>,
    /// The lines as the call named them, if they moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved: Option<String>,
    /// What was taken for the symbol that the call named, with its lines before the edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Where its lines were taken from, if it copies or moves them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<String>,
}

impl Outcome {
    /// Converts the outcome of an earlier call into that of a repeated one, which changed nothing.
    pub(crate) fn again(mut self) -> Self {
        if let Some(edit) = self.edit.as_ref().filter(|_| !self.is_failure()) {
            let note = format!(
                "{}. The files may have changed since: read them before you rely on them",
                nothing_changed(edit)
            );
            self.notes.get_or_insert_default().insert(0, note);
        }
        Self { is_repeated: true, ..self }
    }

    /// The outcome of a call that was sent again: that of the first, whose edit still stands.
    pub(crate) fn repeated(repeat: &Repeat) -> Self {
        let Repeat { tool, edited, versions } = repeat;
        let mut note = nothing_changed(&edited.id);
        let now = versions.iter().find_map(|(name, version)| Some((name, (*version)?.short())));
        let is_once = tool == "replace_lines"
            && (edited.files.iter().any(|file| file.before.is_none()) || moves_lines(edited));
        match (tool.as_str(), now) {
            // What these do cannot be done a second time while it stands.
            _ if is_once => {}
            ("move_file" | "delete_file" | "undo_edit" | "apply_preview", _) | (_, None) => {}
            ("apply_patch", Some((name, now))) => {
                note += &format!(
                    ". If you mean it a second time, send it with \"versions\": {}",
                    serde_json::json!({ name: now })
                );
            }
            ("replace_in_files" | "edit_files", _) => {
                note += ". If you mean it a second time, preview it with edit_preview and apply that";
            }
            (_, Some((_, now))) => {
                note += &format!(". If you mean it a second time, send it with \"version\": \"{now}\"");
            }
        }
        let diff = edited.diff.as_deref().unwrap_or_default();
        let short_diffs = from_text(diff).iter().map(Diff::short).collect();
        let (mut diff, left_out) = cut(diff);
        if left_out > 0 {
            diff.push_str(&format!("... {left_out} more lines of diff\n"));
        }
        Self {
            changed_files: edited.files.iter().map(|file| file.name.clone()).collect(),
            diff,
            short_diffs,
            is_repeated: true,
            can_be_undone: edited.diff.is_some(),
            edit: Some(edited.id.clone()),
            files: Some(edited.files.iter().map(WireFile::from_past).collect()),
            notes: Some(vec![note]),
            ..Self::default()
        }
    }

    /// Creates the outcome of an edit or its preview.
    #[must_use]
    pub fn success(report: &Report) -> Self {
        // A preview is there to be reviewed, so what of it can be asked about is shown whole.
        let whole = report.diff();
        let is_reviewed = report.edit.is_none() && whole.len() <= REVIEWED;
        let (mut diff, left_out) = if is_reviewed { (whole, 0) } else { cut(&whole) };
        let kept = report.edit.as_ref().filter(|_| report.is_recorded);
        match kept.filter(|_| left_out > 0) {
            Some(edit) => {
                let uri = crate::uri::for_edit(edit);
                let rest = format!("the resource {uri}, or edit_history {{\"edit\": \"{edit}\"}}");
                diff.push_str(&format!("... {left_out} more lines of diff; all of it: {rest}\n"));
            }
            None if left_out > 0 => diff.push_str(&format!("... {left_out} more lines of diff\n")),
            None => {}
        }
        let moved = moved_lines(report);
        Self {
            changed_files: report.files.iter().map(|file| file.name.clone()).collect(),
            diff,
            short_diffs: report.files.iter().map(|file| short_diff(file, &moved)).collect(),
            forgiven: report.files.iter().flat_map(|file| &file.hunks).filter_map(forgiven).collect(),
            can_be_undone: kept.is_some(),
            diff_goes_on: kept.is_some() && left_out > 0,
            bytes_changed: report.files.iter().map(|file| file.bytes_changed).sum(),
            mtime_check_passed: report.mtime_check_passed,
            side_effects_fired: report.fired.clone(),
            edit: report.edit.clone(),
            files: Some(report.files.iter().map(WireFile::from_report).collect()),
            notes: (!report.notes.is_empty()).then(|| messages::notes(report)),
            ..Self::default()
        }
    }

    /// Leaves of the short diffs the hunks with these numbers, one for each of so many distinct changes.
    pub(crate) fn keep_samples(&mut self, report: &Report, (distinct, numbers): &(usize, BTreeSet<usize>)) {
        let sample = |file: &FileReport| {
            let hunks = file.hunks.iter().filter(|hunk| numbers.contains(&hunk.number));
            file.diff.short_at(&hunks.map(|hunk| hunk.line).collect::<Vec<usize>>())
        };
        let samples: Vec<ShortDiff> = report.files.iter().map(sample).collect();
        let size = |diffs: &[ShortDiff]| diffs.iter().map(|diff| diff.text.len()).sum::<usize>();
        if size(&samples) < size(&self.short_diffs) {
            self.short_diffs = samples;
            self.distinct = Some(*distinct);
        }
    }

    /// Returns whether this is a refusal.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.error.is_some()
    }
}

/// Returns whether an edit by `replace_lines` moved lines, which are not where they were any more.
fn moves_lines(edited: &Edited) -> bool {
    let request = edited.request.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok());
    request.is_some_and(|request| request["from"]["move"] == true)
}

/// `Nothing was changed by this call: it was made 4 seconds ago as edit 1a2b`
fn nothing_changed(edit: &str) -> String {
    format!("Nothing was changed by this call: it was made {} as edit {edit}", history::ago_of(edit))
}

impl WireFile {
    pub(super) fn from_past(file: &EditedFile) -> Self {
        Self {
            path: file.name.clone(),
            change: change(file.change).into(),
            moved_from: file.moved_from.clone(),
            version_before: file.before.clone(),
            version_after: file.after.clone(),
            added: Some(file.added),
            removed: Some(file.removed),
            places: None,
            hunks: Vec::new(),
        }
    }

    fn from_report(file: &FileReport) -> Self {
        let Diff { added, removed, .. } = file.diff;
        let hunk = |hunk: &PlacedHunk| WireHunk {
            hunk: hunk.number,
            line: hunk.line,
            lines: hunk.lines,
            layer: hunk.layer.map(|layer| layer.name().to_owned()),
            places: (hunk.places > 1).then_some(hunk.places),
            moved: match &hunk.named {
                Some(NamedAs::Numbers(named)) => Some(moved(named, hunk.line)),
                Some(NamedAs::Symbol(_)) | None => None,
            },
            symbol: match &hunk.named {
                Some(NamedAs::Symbol(taken)) => Some(symbol(taken, hunk)),
                Some(NamedAs::Numbers(_)) | None => None,
            },
            taken: match &hunk.taken {
                Some(Taken::From(origin)) => Some(taken(origin)),
                Some(Taken::To(_)) | None => None,
            },
        };
        Self {
            path: file.name.clone(),
            change: change(file.change).into(),
            moved_from: file.moved_from.clone(),
            version_before: file.before.map(|version| version.short()),
            version_after: file.after.map(|version| version.short()),
            added: Some(added),
            removed: Some(removed),
            places: Some(places(&file.hunks)).filter(|places| *places > 1),
            hunks: file.hunks.iter().map(hunk).collect(),
        }
    }

    /// Returns the letter for what happened to it, as git has it.
    pub(crate) fn letter(&self) -> char {
        match self.change.as_str() {
            "create" => 'A',
            "delete" => 'D',
            "move" => 'R',
            _ => 'M',
        }
    }
}

/// Counts the places of a file. Both sides of a move inside of it are one.
fn places(hunks: &[PlacedHunk]) -> usize {
    let is_other_side = |hunk: &PlacedHunk| {
        matches!(hunk.taken, Some(Taken::To(_)))
            && hunks
                .iter()
                .any(|other| matches!(&other.taken, Some(Taken::From(_)) if other.number == hunk.number))
    };
    hunks.iter().filter(|hunk| !is_other_side(hunk)).map(|hunk| hunk.places).sum()
}

/// Returns the word for what happened to a file.
pub(super) fn change(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Create => "create",
        ChangeKind::Modify => "modify",
        ChangeKind::Delete => "delete",
        ChangeKind::Move => "move",
    }
}

/// Returns the lines that an edit removes and adds, without their indentation, if it moves lines.
fn moved_lines(report: &Report) -> BTreeSet<&str> {
    let is_move =
        |hunk: &PlacedHunk| matches!(&hunk.taken, Some(Taken::From(TakenFrom { is_moved: true, .. })));
    if !report.files.iter().flat_map(|file| &file.hunks).any(is_move) {
        return BTreeSet::new();
    }
    let gone: BTreeSet<&str> = report.files.iter().flat_map(|file| file.diff.lines('-')).collect();
    let come = report.files.iter().flat_map(|file| file.diff.lines('+'));
    come.filter(|line| gone.contains(line)).collect()
}

/// Returns the short form of a diff. Lines that were only moved to another file are shown there, so here it says where.
fn short_diff(file: &FileReport, moved: &BTreeSet<&str>) -> ShortDiff {
    let away = file.hunks.iter().filter_map(|hunk| match &hunk.taken {
        Some(Taken::To(target)) if *target != file.name => Some((hunk, target)),
        _ => None,
    });
    let lines: usize = away.clone().map(|(hunk, _)| hunk.lines).sum();
    // Formatters may have changed more of the file.
    let is_all =
        away.clone().count() == file.hunks.len() && file.diff.added == 0 && file.diff.removed == lines;
    if lines == 0 || !is_all {
        return file.diff.short_with(moved);
    }
    let text =
        away.map(|(hunk, target)| format!("\\ {} moved to {target}\n", lines_from(hunk.line, hunk.lines)));
    ShortDiff { text: text.collect(), ..ShortDiff::default() }
}

/// Says where lines were taken from: `lines 4-6 moved from a.rs`.
fn taken(origin: &TakenFrom) -> String {
    let TakenFrom { name, first, count, is_moved, named } = origin;
    let what = if *is_moved { "moved" } else { "copied" };
    let mut text = format!("{} {what} from {name}", lines_from(*first, *count));
    match named {
        Some(NamedAs::Numbers(named)) => {
            text += &format!(" ({} of version {})", lines_from(named.first, named.count), named.version);
        }
        Some(NamedAs::Symbol(symbol)) => text += &format!(" ({})", messages::symbols::title(&symbol.title)),
        None => {}
    }
    text
}

/// `line 4`, or `lines 4-6`; with none of them `before line 4`.
fn lines_from(first: usize, count: usize) -> String {
    match count {
        0 => format!("before line {first}"),
        1 => format!("line {first}"),
        _ => format!("lines {first}-{}", first + count - 1),
    }
}

/// Says where lines landed that have other numbers by now: `lines 4-6 of version 0123 are lines 7-9 now`.
fn moved(named: &Renumbered, now: usize) -> String {
    let Renumbered { version, first, count } = named;
    let are = if *count > 1 { "are" } else { "is" };
    format!("{} of version {version} {are} {} now", lines_from(*first, *count), lines_from(now, *count))
}

/// Says what was taken for a symbol: `method A.b, lines 4-6`, `below method A.b, line 6`.
fn symbol(taken: &TakenSymbol, hunk: &PlacedHunk) -> String {
    let title = messages::symbols::title(&taken.title);
    match taken.part {
        Part::Whole if hunk.lines == 1 => format!("{title}, line {}", hunk.line),
        Part::Whole => format!("{title}, lines {}-{}", hunk.line, hunk.line + hunk.lines - 1),
        Part::Above => format!("above {title}, line {}", hunk.line),
        Part::Below => format!("below {title}, line {}", hunk.line - 1),
    }
}

/// Returns the beginning of a diff, and the number of lines that are left out.
fn cut(diff: &str) -> (String, usize) {
    let lines: Vec<&str> = diff.split_inclusive('\n').collect();
    let mut shown = String::with_capacity(diff.len().min(DIFF_LINES * 80));
    for at in 0..lines.len().min(DIFF_LINES) {
        match shortened(&lines, at, DIFF_COLUMNS) {
            Some(line) => shown.push_str(&(line + "\n")),
            None => shown.push_str(lines[at]),
        }
    }
    (shown, lines.len().saturating_sub(DIFF_LINES))
}

/// Returns a line of a diff with what of it fits into so many columns, those around its change; `None` if it is not longer.
fn shortened(lines: &[&str], at: usize, columns: usize) -> Option<String> {
    let (sign, content) = lines[at].split_at_checked(1).filter(|_| lines[at].len() > columns)?;
    let content = content.trim_end_matches('\n').as_bytes();
    let other = counterpart(lines, at).map_or(0, |other| first_difference(content, other));
    Some(format!("{sign}{}", around(content, other, columns)))
}

/// Returns the lines of a hunk as the review page has them, and whether some are too long even for it.
pub(super) fn lines_of(body: &str) -> (Vec<String>, bool) {
    let lines: Vec<&str> = body.split_inclusive('\n').collect();
    let mut is_cut = false;
    let line = |at: usize| {
        let short = shortened(&lines, at, LONGEST_REVIEWED).inspect(|_| is_cut = true);
        short.unwrap_or_else(|| lines[at].strip_suffix('\n').unwrap_or(lines[at]).to_owned())
    };
    let shown = (0..lines.len()).map(line).collect();
    (shown, is_cut)
}

/// Returns the line that replaces this line of a diff or is replaced by it: the one at the same position in the other
/// half of the change.
fn counterpart<'d>(lines: &[&'d str], at: usize) -> Option<&'d [u8]> {
    let is = |sign: char, line: &&str| line.starts_with(sign);
    let own = lines[at].chars().next().filter(|sign| matches!(sign, '-' | '+'))?;
    let other = if own == '-' { '+' } else { '-' };
    let first = at - lines[..at].iter().rev().take_while(|line| is(own, line)).count();
    let start = match own {
        '-' => at + lines[at..].iter().take_while(|line| is('-', line)).count(),
        _ => first - lines[..first].iter().rev().take_while(|line| is('-', line)).count(),
    };
    let line = lines.get(start + (at - first)).filter(|line| is(other, line))?;
    Some(line[1..].trim_end_matches('\n').as_bytes())
}
