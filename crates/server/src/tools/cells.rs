//! Cells of notebooks: what `str_replace` and `replace_lines` do to one with `cell`, as places of the file.

use std::collections::BTreeMap;
use std::sync::Arc;

use emend_data::notebook::{Cell, CellChange, CellKind, CellPlace, Notebook};
use emend_edit::find::FindLimits;
use emend_edit::patch::Patch;
use emend_edit::plan::{self, Plan, Source, Sources};
use emend_edit::problem::Kind as EditKind;
use emend_edit::{Text, Version};
use emend_workspace::problem::{Again, Kind, Problem, from_edit};
use emend_workspace::{NotDone, Origin};

use super::Call;
use super::asked_servers::invalid;
use super::edit_request::EditRequest;
use super::places::proven_places;
use crate::wire::{LinesOfFile, ReplaceLines, StrReplace};
use crate::{messages, notebook_reading};

type Refused = Vec<Problem>;

/// Replaces texts in the source of a cell.
pub(super) fn replace_text(
    mut asked: StrReplace,
    cell: &str,
    call: &Call<'_>,
    origin: Origin,
) -> Result<EditRequest, NotDone<Refused>> {
    let changes = asked.changes().map_err(|problem| vec![problem])?;
    let (path, version) = (std::mem::take(&mut asked.path), asked.version.take());
    let mut forgiven = Vec::new();
    let mut request = change(call, (&path, version), &[cell], origin, |name, notebook| {
        let found = notebook_reading::find(notebook, name, cell).map_err(|problem| vec![problem])?;
        let patch = Patch::replace(name, changes).map_err(|problem| vec![Problem::from(problem)])?;
        let plan = planned(name, &found.source, &patch)?;
        let view = plan.files().first().and_then(|file| file.action.view()).unwrap_or_default().concat();
        let text = String::from_utf8_lossy(&view).into_owned();
        forgiven = plan.files().iter().flat_map(|file| &file.hunks).filter_map(messages::forgiven).collect();
        Ok(vec![CellChange::Source { cell: notebook_reading::address(notebook, cell), text }])
    })?;
    request.notes.append(&mut forgiven);
    Ok(request)
}

/// Plans a patch for the source of a cell, which is a text of its own: places are found in it as in any file.
fn planned(name: &str, source: &str, patch: &Patch) -> Result<Plan, Refused> {
    let text = Text::new(source.as_bytes().to_vec())
        .map_err(|kind| vec![Problem::new(Kind::Edit(kind)).at(name)])?;
    let mut sources = Sources::default();
    sources.insert(name, name, Source::Present(Arc::new(text)));
    plan::build(patch, &sources, &FindLimits::default()).map_err(from_edit)
}

/// Returns whether a text is refused for what it says itself, wherever it would stand.
fn is_of_new_text(problem: &Problem) -> bool {
    let kind = &*problem.kind;
    matches!(
        kind,
        Kind::Edit(
            EditKind::OmissionPlaceholder { .. }
                | EditKind::EscapedText { .. }
                | EditKind::ShownNumbers { .. }
        )
    )
}

/// Replaces, inserts, moves or deletes a cell, or replaces lines of its source.
pub(super) fn replace_lines(
    asked: ReplaceLines,
    cell: &str,
    call: &Call<'_>,
    origin: Origin,
) -> Result<EditRequest, NotDone<Refused>> {
    let ReplaceLines {
        path,
        version,
        start_line,
        end_line,
        symbol,
        insert,
        new_text,
        from,
        kind,
        clear_outputs,
        ..
    } = asked;
    let one = |problem: Problem| vec![problem];
    if symbol.is_some_and(|symbol| !symbol.is_empty()) {
        return Err(one(invalid("symbol", "give either cell or symbol".into())).into());
    }
    let lines = match (start_line.filter(|line| *line > 0), end_line) {
        (None, None | Some(0)) => None,
        // The line before the first is line 0: lines are put before all others.
        (Some(first), last) => Some((first, last.unwrap_or(first))),
        (None, Some(_)) => {
            return Err(one(invalid("start_line", "it is required with end_line".into())).into());
        }
    };
    let kind = kind.map(|kind| CellKind::from_name(&kind).unwrap_or(CellKind::Code));
    let clears = clear_outputs == Some(true);
    let version = version.or_else(|| from.as_ref().map(|from| from.version.clone()));
    if version.is_none() && !call.counts_as_read {
        let message = "it is required, with cell too: the one that read_file shows";
        return Err(one(invalid("version", message.into())).into());
    }
    let taken_cell = from.as_ref().and_then(|from| from.cell.clone());
    let cells: Vec<&str> = taken_cell.as_deref().into_iter().chain([cell]).collect();
    change(call, (&path, version), &cells, origin, |name, notebook| {
        let found = notebook_reading::find(notebook, name, cell).map_err(one)?;
        let cell = || notebook_reading::address(notebook, cell);
        let mut changes = Vec::new();
        match (insert.as_deref(), new_text, from) {
            (Some(_), ..) if lines.is_some() || clears => {
                return Err(one(invalid(
                    "insert",
                    "it puts a cell beside the cell; leave start_line and clear_outputs out".into(),
                )));
            }
            (None, Some(text), None) if text.is_empty() && lines.is_none() && (clears || kind.is_some()) => {
                return Err(one(invalid(
                    "new_text",
                    "empty, it deletes the cell; leave kind and clear_outputs out, or new_text".into(),
                )));
            }
            (None, None, None) if lines.is_some() => {
                return Err(one(invalid(
                    "new_text",
                    "it is required with start_line; kind and clear_outputs alone are for the whole cell"
                        .into(),
                )));
            }
            (Some(side), text, from) => {
                let place =
                    if side == "before" { CellPlace::Before(cell()) } else { CellPlace::After(cell()) };
                changes.push(match (text.filter(|text| !text.is_empty()), from) {
                    (Some(text), None) => {
                        CellChange::Insert { place, kind: kind.unwrap_or(CellKind::Code), text }
                    }
                    (None, Some(from)) => {
                        let is_same =
                            call.workspace.roots().admit(&from.path).is_ok_and(|path| path.name == name);
                        taken((name, is_same), notebook, from, place, kind).map_err(one)?
                    }
                    (None, None) => CellChange::Insert {
                        place,
                        kind: kind.unwrap_or(CellKind::Code),
                        text: String::new(),
                    },
                    (Some(_), Some(_)) => {
                        return Err(one(invalid("new_text", "give either new_text or from".into())));
                    }
                });
            }
            (None, _, Some(_)) => {
                return Err(one(invalid(
                    "insert",
                    "with from, it says on which side of cell the other goes".into(),
                )));
            }
            (None, Some(text), None) => {
                let text = text.replace("\r\n", "\n");
                let source = match lines {
                    Some(lines) => Some(with_lines(&found.source, lines, &text).map_err(one)?),
                    None => Some(text).filter(|text| !text.is_empty()),
                };
                if let Some(text) = source.as_ref().filter(|text| **text != found.source) {
                    // Only what no text may get is looked for: what comes is the text itself.
                    if let Err(problems) = planned(name, &found.source, &Patch::write(name, text.clone()))
                        && problems.iter().any(is_of_new_text)
                    {
                        return Err(problems);
                    }
                }
                changes.push(match source {
                    Some(text) => CellChange::Source { cell: cell(), text },
                    None => CellChange::Delete { cell: cell() },
                });
                if let Some(kind) = kind.filter(|kind| *kind != found.kind) {
                    changes.push(CellChange::Kind { cell: cell(), kind });
                }
            }
            (None, None, None) => match kind {
                Some(kind) => changes.push(CellChange::Kind { cell: cell(), kind }),
                None if clears => {}
                None => {
                    return Err(one(invalid(
                        "new_text",
                        "it is required (empty to delete), or kind or clear_outputs".into(),
                    )));
                }
            },
        }
        if clears && insert.is_none() {
            changes.push(CellChange::ClearOutputs { cell: Some(cell()) });
        }
        Ok(changes)
    })
}

/// Makes the change that copies or moves a cell of the same notebook, if it is the same.
fn taken(
    (path, is_same): (&str, bool),
    notebook: &Notebook<'_>,
    from: LinesOfFile,
    place: CellPlace,
    kind: Option<CellKind>,
) -> Result<CellChange, Problem> {
    let Some(cell) = from.cell else {
        return Err(invalid("from.cell", "it is required: the cell to copy or move".into()));
    };
    if !is_same {
        return Err(invalid("from.path", "only a cell of the same notebook can be taken".into()));
    }
    let is_named = |line: Option<usize>| line.is_some_and(|line| line > 0);
    if is_named(from.start_line)
        || is_named(from.end_line)
        || from.symbol.is_some_and(|name| !name.is_empty())
    {
        return Err(invalid("from.cell", "all of the cell is taken; leave lines and symbol out".into()));
    }
    if from.is_moved == Some(true) && kind.is_some() {
        return Err(invalid(
            "kind",
            "a cell that moves keeps its kind; change it by a call of its own".into(),
        ));
    }
    let found = notebook_reading::find(notebook, path, &cell)?;
    if from.is_moved != Some(true) && notebook.cell_has_attachments(found.position) {
        let message = "its source shows files that the cell holds, which a copy would not have; move it";
        return Err(invalid("from.cell", message.into()));
    }
    Ok(match from.is_moved {
        Some(true) => CellChange::Move { cell: notebook_reading::address(notebook, &cell), to: place },
        _ => CellChange::Insert { place, kind: kind.unwrap_or(found.kind), text: found.source.clone() },
    })
}

/// Returns a source with these lines of it replaced, which are counted from one.
fn with_lines(source: &str, (first, last): (usize, usize), new: &str) -> Result<String, Problem> {
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    if last.saturating_add(1) < first || last > lines.len() {
        let message = format!(
            "the cell has {} lines; end_line = start_line - 1 inserts before start_line",
            lines.len()
        );
        return Err(invalid("end_line", message));
    }
    let (before, after) = (lines[..first - 1].concat(), lines[last..].concat());
    let mut new = new.to_owned();
    if !new.is_empty() && !after.is_empty() && !new.ends_with('\n') {
        new.push('\n');
    }
    let mut source = before;
    if !source.is_empty() && !source.ends_with('\n') && !new.is_empty() {
        source.push('\n');
    }
    source.push_str(&new);
    source.push_str(&after);
    // The last line of a cell has no ending.
    let ends = lines.last().is_some_and(|line| line.ends_with('\n'));
    Ok(match source.strip_suffix('\n') {
        Some(without) if !ends => without.to_owned(),
        _ => source,
    })
}

/// Makes the edit of a notebook that `changes` asks for, in the version that is there.
fn change(
    call: &Call<'_>,
    (path, version): (&str, Option<String>),
    cells: &[&str],
    origin: Origin,
    changes: impl FnOnce(&str, &Notebook<'_>) -> Result<Vec<CellChange>, Refused>,
) -> Result<EditRequest, NotDone<Refused>> {
    if call.is_part {
        let message = "a cell is changed by a call of its own, before or after this one";
        return Err(vec![invalid("cell", message.into())].into());
    }
    let (name, snapshot) =
        call.workspace.files().read_within(path, call.effort).map_err(|why| match why {
            NotDone::NotQuick => NotDone::NotQuick,
            NotDone::Refused(problem) => NotDone::Refused(vec![problem]),
        })?;
    let refused = |problems: Vec<Problem>, origin| {
        // If the same call was made before, its cell is another by now.
        let refusal = problems.into_iter().next();
        Ok(EditRequest { refusal, ..EditRequest::new(Patch::replace_places([]), origin) })
    };
    let current = snapshot.text.version();
    let older = version.as_ref().filter(|claimed| !current.is_named_by(claimed));
    if let Some(claimed) = older {
        // A cell that is as it was then is followed by its id.
        let then = call.caller.readings().lock().named_content(&name, claimed);
        if !then.is_some_and(|then| cells.iter().all(|cell| is_same(cell, &name, &then, &snapshot.text))) {
            let (claimed, current) = (claimed.clone(), Some(current));
            let stale = Kind::StaleFile { claimed, current, diff: None, by: None, again: Again::NewCell };
            return refused(vec![Problem::new(stale).at(&name)], origin);
        }
    }
    let is_named = version.is_some() && older.is_none();
    let mut notes = Vec::new();
    let splices =
        notebook_reading::read(&name, &snapshot.text).map_err(|problem| vec![problem]).and_then(|notebook| {
            let changes = changes(&name, &notebook).map_err(|problems| {
                problems.into_iter().map(|problem| of_file(problem, current)).collect::<Refused>()
            })?;
            notes.extend(changes.iter().filter_map(|change| done(&notebook, change, &changes)));
            notebook
                .change(&changes)
                .map_err(|(_, fault)| vec![invalid("cell", messages::data::cell_fault(&fault)).at(&name)])
        });
    let splices = match splices {
        Ok(splices) => splices,
        Err(problems) => return refused(problems, origin),
    };
    let text = snapshot.text.known_characters().unwrap_or_default();
    let start = snapshot.text.body().start;
    let places = proven_places(text, start, splices.into_iter().map(|splice| (splice.range, splice.new)));
    let patch = Patch::replace_places([(name.clone(), places)]);
    let versions = BTreeMap::from([(name, current.short())]);
    Ok(EditRequest { versions, places_are_found: !is_named, notes, ..EditRequest::new(patch, origin) })
}

/// Returns whether a cell is in two versions of a notebook as the same one with the same source.
fn is_same(cell: &str, name: &str, then: &Text, now: &Text) -> bool {
    let (Ok(then), Ok(now)) = (notebook_reading::read(name, then), notebook_reading::read(name, now)) else {
        return false;
    };
    let found = |notebook: &Notebook<'_>| {
        let cell = notebook_reading::find(notebook, name, cell).ok()?;
        Some((cell.id.clone(), cell.kind, cell.source.clone()))
    };
    found(&then).is_some_and(|then| Some(then) == found(&now))
}

/// A place of a cell's source is not found in the version of the file, and not of the source.
fn of_file(mut problem: Problem, current: Version) -> Problem {
    if let Kind::Edit(EditKind::SearchNotFound { near } | EditKind::HunkContextMismatch { near, .. }) =
        &mut *problem.kind
    {
        near.version = current;
    }
    problem
}

/// Says what a change does to its cell, where the lines of the file do not.
fn done(notebook: &Notebook<'_>, change: &CellChange, all: &[CellChange]) -> Option<String> {
    let name = |cell: &Cell| match &cell.id {
        Some(id) => format!("Cell {id}"),
        None => format!("Cell {}", cell.position),
    };
    match change {
        CellChange::Source { cell, .. } => {
            let cell = notebook.find(cell).ok()?;
            let clears = |change: &CellChange| matches!(change, CellChange::ClearOutputs { .. });
            let has_outputs = cell.outputs.as_deref().is_some_and(|outputs| outputs != "no outputs");
            let stays = has_outputs && !all.iter().any(clears);
            stays.then(|| {
                format!(
                    "{}: its outputs are still those of the old code; clear_outputs takes them away.",
                    name(cell)
                )
            })
        }
        CellChange::Delete { cell } => {
            let (cell, left) = (notebook.find(cell).ok()?, notebook.cells().len() - 1);
            Some(format!("{} was deleted; {left} are left, with numbers from 0.", name(cell)))
        }
        CellChange::Move { cell, to: CellPlace::Before(beside) } => {
            let (cell, beside) = (notebook.find(cell).ok()?, notebook.find(beside).ok()?);
            Some(format!("{} moved: it stands before {} now.", name(cell), name(beside).to_lowercase()))
        }
        CellChange::Move { cell, to: CellPlace::After(beside) } => {
            let (cell, beside) = (notebook.find(cell).ok()?, notebook.find(beside).ok()?);
            Some(format!("{} moved: it stands after {} now.", name(cell), name(beside).to_lowercase()))
        }
        _ => None,
    }
}

/// Says in which cell a text is that does not stand in the lines of a notebook's file, where line ends and quotes are escaped.
pub(super) fn in_a_cell(call: &Call<'_>, path: &str, old: &str) -> Option<Problem> {
    if old.is_empty() || !notebook_reading::is_notebook(path) {
        return None;
    }
    let (name, snapshot) = call.workspace.files().read_within(path, call.effort).ok()?;
    if snapshot.text.known_characters().ok()?.contains(old) {
        return None;
    }
    let notebook = notebook_reading::read(&name, &snapshot.text).ok()?;
    let having = notebook.cells().iter().filter(|cell| cell.source.contains(old));
    let having: Vec<String> =
        having.map(|cell| cell.id.clone().unwrap_or_else(|| cell.position.to_string())).collect();
    let message = match &having[..] {
        [] => return None,
        [only] => format!("the text is in cell {only}; give cell = \"{only}\""),
        several => format!("the text is in the cells {}; give one as cell", several.join(", ")),
    };
    Some(invalid("cell", message).at(&name))
}
