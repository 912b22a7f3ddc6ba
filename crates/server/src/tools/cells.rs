//! Cells of notebooks: what `str_replace` and `replace_lines` do to one with `cell`, as places of the file.

use std::collections::BTreeMap;
use std::sync::Arc;

use emend_data::notebook::{CellChange, CellKind, CellPlace, Notebook};
use emend_edit::Text;
use emend_edit::find::FindLimits;
use emend_edit::patch::Patch;
use emend_edit::plan::{self, Source, Sources};
use emend_workspace::problem::{Again, Kind, Problem, from_edit};
use emend_workspace::{NotDone, Origin};

use super::Call;
use super::asked_servers::invalid;
use super::edit_request::EditRequest;
use super::places::places;
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
    change(call, (&path, version), origin, |name, notebook| {
        let found = notebook_reading::find(notebook, name, cell).map_err(|problem| vec![problem])?;
        let text = Text::new(found.source.clone().into())
            .map_err(|kind| vec![Problem::new(Kind::Edit(kind)).at(name)])?;
        // The source is a text of its own, in which the place is found as in any file.
        let patch = Patch::replace(name, changes).map_err(|problem| vec![Problem::from(problem)])?;
        let mut sources = Sources::default();
        sources.insert(name, name, Source::Present(Arc::new(text)));
        let plan = plan::build(&patch, &sources, &FindLimits::default()).map_err(from_edit)?;
        let view = plan.files().first().and_then(|file| file.action.view()).unwrap_or_default().concat();
        let text = String::from_utf8_lossy(&view).into_owned();
        Ok(vec![CellChange::Source { cell: notebook_reading::address(notebook, cell), text }])
    })
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
    let lines = match (start_line.filter(|line| *line > 0), end_line.filter(|line| *line > 0)) {
        (None, None) => None,
        (Some(first), last) => Some((first, last.unwrap_or(first))),
        (None, Some(_)) => {
            return Err(one(invalid("start_line", "it is required with end_line".into())).into());
        }
    };
    let kind = kind.map(|kind| CellKind::from_name(&kind).unwrap_or(CellKind::Code));
    let clears = clear_outputs == Some(true);
    change(call, (&path, version), origin, |name, notebook| {
        let found = notebook_reading::find(notebook, name, cell).map_err(one)?;
        let cell = || notebook_reading::address(notebook, cell);
        let mut changes = Vec::new();
        match (insert.as_deref(), new_text, from) {
            (Some(_), ..) if lines.is_some() => {
                return Err(one(invalid(
                    "insert",
                    "it puts a cell beside the cell; leave start_line out".into(),
                )));
            }
            (Some(side), text, from) => {
                let place =
                    if side == "before" { CellPlace::Before(cell()) } else { CellPlace::After(cell()) };
                changes.push(match (text.filter(|text| !text.is_empty()), from) {
                    (Some(text), None) => {
                        CellChange::Insert { place, kind: kind.unwrap_or(CellKind::Code), text }
                    }
                    (None, Some(from)) => taken(&path, notebook, from, place, kind).map_err(one)?,
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
                changes.push(match lines {
                    Some(lines) => {
                        let text = with_lines(&found.source, lines, &text).map_err(one)?;
                        CellChange::Source { cell: cell(), text }
                    }
                    None if text.is_empty() => CellChange::Delete { cell: cell() },
                    None => CellChange::Source { cell: cell(), text },
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

/// Makes the change that copies or moves a cell of the same notebook.
fn taken(
    path: &str,
    notebook: &Notebook<'_>,
    from: LinesOfFile,
    place: CellPlace,
    kind: Option<CellKind>,
) -> Result<CellChange, Problem> {
    let Some(cell) = from.cell else {
        return Err(invalid("from.cell", "it is required: the cell to copy or move".into()));
    };
    if from.path != path {
        return Err(invalid("from.path", "only a cell of the same notebook can be taken".into()));
    }
    let found = notebook_reading::find(notebook, path, &cell)?;
    Ok(match from.is_moved {
        Some(true) => CellChange::Move { cell: notebook_reading::address(notebook, &cell), to: place },
        _ => CellChange::Insert { place, kind: kind.unwrap_or(found.kind), text: found.source.clone() },
    })
}

/// Returns a source with these lines of it replaced, which are counted from one.
fn with_lines(source: &str, (first, last): (usize, usize), new: &str) -> Result<String, Problem> {
    let lines: Vec<&str> = source.split_inclusive('\n').collect();
    if last + 1 < first || last > lines.len() {
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
    if let Some(claimed) = version.as_ref().filter(|claimed| !current.is_named_by(claimed)) {
        let (claimed, current) = (claimed.clone(), Some(current));
        let stale = Kind::StaleFile { claimed, current, diff: None, by: None, again: Again::NewNumbers };
        return refused(vec![Problem::new(stale).at(&name)], origin);
    }
    let splices =
        notebook_reading::read(&name, &snapshot.text).map_err(|problem| vec![problem]).and_then(|notebook| {
            let changes = changes(&name, &notebook)?;
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
    let places = places(text, start, splices.into_iter().map(|splice| (splice.range, splice.new)));
    let patch = Patch::replace_places([(name.clone(), places)]);
    let versions = BTreeMap::from([(name, version.clone().unwrap_or_else(|| current.short()))]);
    Ok(EditRequest { versions, places_are_found: version.is_none(), ..EditRequest::new(patch, origin) })
}
