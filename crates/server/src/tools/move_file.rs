//! `move_file`: a file moves, and with it what names it, as far as a language server says which edit that needs.
//!
//! The move is what was asked for, so it is made without a server as well. What then still names the old path is told.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use emend_edit::patch::{Patch, PlaceChange};
use emend_lsp::{Asked, TextChange};
use emend_workspace::problem::Problem;
use emend_workspace::roots::WorkspacePath;
use emend_workspace::{Effort, NotDone, Origin};

use super::Call;
use super::asked_servers::{self, Inquiry, Known, KnownFiles, as_places};
use super::check_move;
use super::edit_request::EditRequest;
use super::old_path::{mentions, relative_imports};
use super::spec::{About, EditTool, Effect, ToolArguments};
use crate::messages::server_edits;
use crate::wire::MoveFile;

/// The time that a move waits for a server. It does not depend on the answer.
const PATIENCE: Duration = Duration::from_secs(20);

impl ToolArguments for MoveFile {
    const ABOUT: About = About {
        name: "move_file",
        title: "Move or rename a file",
        description: "Move or rename a file. A language server, if there is one, updates its imports; other mentions are listed.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };
}

impl EditTool for MoveFile {
    fn request(self, call: &Call<'_>, origin: Origin) -> Result<EditRequest, NotDone<Vec<Problem>>> {
        let patch = Patch::rename(&self.from, &self.to).map_err(|problem| vec![Problem::from(problem)])?;
        let request = EditRequest::new(patch, origin);
        let roots = call.workspace.roots();
        let (Ok(from), Ok(to)) = (roots.admit(&self.from), roots.admit(&self.to)) else { return Ok(request) };
        // What other parts of an edit do to the files is not known here.
        if call.is_part {
            let is_told = asked_servers::servers(call, &from.absolute(), &from.name).is_ok();
            let notes = is_told.then(|| server_edits::moved_as_part(&from.name)).into_iter().collect();
            return Ok(EditRequest { notes, ..request });
        }
        if call.effort == Effort::Quick {
            return Err(NotDone::NotQuick);
        }
        let Ok(file) = asked_servers::read(call, &from.name) else { return Ok(request) };
        let own_imports = relative_imports(file.characters());
        let is_elsewhere = folder_of(&from.name) != folder_of(&to.name);
        let (changes, note) = match changes(call, &from, &to, file) {
            Ok((servers, changes)) => {
                let count = changes.iter().map(|change| change.lines.len()).sum();
                (changes, server_edits::moved_with(&servers, count))
            }
            Err(why) => (Vec::new(), why.map(|why| server_edits::moved_alone(&why))),
        };
        let lines: BTreeSet<(&str, usize)> = changes
            .iter()
            .flat_map(|change| change.lines.iter().map(|line| (&change.name[..], *line)))
            .collect();
        let mentions = mentions(call, &from, &lines);
        let own_imports: Vec<String> = own_imports
            .into_iter()
            .filter(|line| is_elsewhere && !lines.contains(&(&from.name[..], *line)))
            .filter(|line| {
                !mentions.iter().flat_map(|(places, _)| places).any(|at| *at == (from.name.clone(), *line))
            })
            .map(|line| format!("{}:{line}", to.name))
            .collect();
        let staying = match mentions {
            Some((places, more)) => {
                let as_moved = |(name, line): (String, usize)| {
                    format!("{}:{line}", if name == from.name { &to.name } else { &name })
                };
                let places: Vec<String> = places.into_iter().map(as_moved).collect();
                server_edits::old_path_stays(&places, more, lines.is_empty())
            }
            None => Some(server_edits::not_searched(&from.name)),
        };
        let notes = note
            .into_iter()
            .chain(staying)
            .chain(server_edits::relative_imports_stay(&own_imports))
            .collect();
        if changes.is_empty() {
            return Ok(EditRequest { notes, ..request });
        }
        let versions = changes.iter().map(|change| (change.name.clone(), change.version.clone())).collect();
        let places = changes.into_iter().map(|change| (change.name, change.places));
        let patch = Patch::replace_places(places).moving(BTreeMap::from([(from.name, to.name)]));
        Ok(EditRequest { patch, versions, notes, places_are_found: true, ..request })
    }
}

/// The changes of a file that a move brings.
struct Changed {
    name: String,
    version: String,
    places: Vec<PlaceChange>,
    /// The lines in which they begin.
    lines: BTreeSet<usize>,
}

type Changes = (Vec<String>, Vec<Changed>);

/// Returns what servers change with the move. The error is why there is nothing, where that is worth telling.
fn changes(
    call: &Call<'_>,
    from: &WorkspacePath,
    to: &WorkspacePath,
    file: Known,
) -> Result<Changes, Option<Problem>> {
    let path = from.absolute();
    let servers = asked_servers::servers(call, &path, &from.name).map_err(|_| None)?;
    let mut files = KnownFiles::default();
    files.add(path.clone(), file);
    let asked = Asked::Move { to: to.absolute() };
    let inquiry = Inquiry { call, servers, path: &path, patience: PATIENCE };
    let proposed = inquiry.edit(files, &asked)?;
    let Some(proposed) = proposed else { return Err(None) };
    if !proposed.edit.moves().is_empty() {
        return Err(Some(server_edits::refused(server_edits::MOVES_MORE)));
    }
    let changes = proposed.changes()?;
    let is_of_path = |known: &Known, change: &TextChange| {
        check_move::is_of_path(known.characters(), change, &from.name, &to.name)
    };
    if !changes.iter().all(|(known, changes)| changes.iter().all(|change| is_of_path(known, change))) {
        return Err(Some(server_edits::refused(server_edits::NO_PATHS)));
    }
    let changed = |(known, changes): (&Known, Vec<TextChange>)| {
        let text = known.characters();
        let line = |change: &TextChange| text[..change.range.start].matches('\n').count() + 1;
        Changed {
            name: known.name.clone(),
            version: known.text.version().short(),
            lines: changes.iter().map(line).collect(),
            places: as_places(known, changes),
        }
    };
    let changes = changes.into_iter().map(changed).collect();
    Ok((proposed.servers, changes))
}

fn folder_of(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}
