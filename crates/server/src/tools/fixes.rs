//! What language servers offer to do about errors and warnings, each as a preview: a plan with hunks, under a handle.
//!
//! A handle is a plan of exactly these bytes in exactly these versions. So a call that is sent again, or comes after a file
//! has changed, cannot make another change than the one that was shown. What would run a command is never made.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use emend_edit::patch::Patch;
use emend_lsp::{Fix, WorkspaceEdit};
use emend_workspace::problem::Problem;
use emend_workspace::{NotCommitted, Origin};

use super::Call;
use super::asked_servers::{self, Inquiry, Known, KnownFiles, as_places};
use super::edit_request::{EditRequest, kept_for_caller};
use super::list::plain;
use crate::effects::Diagnostics as Servers;
use crate::messages::{Audience, message, server_edits};
use crate::render;
use crate::server_diagnostics::single_line;
use crate::wire::Outcome;

/// The time that a file waits for servers.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many changes are shown of one file.
const SHOWN: usize = 20;
/// How many bytes each may take.
const ROOM: usize = 2_000;

/// Lists what the servers of a file offer, as text.
pub(super) fn listed(
    call: &Call<'_>,
    servers: &Servers,
    (path, file): (&Path, Known),
    origin: &Origin,
) -> String {
    let name = file.name.clone();
    let mut files = KnownFiles::default();
    files.add(path.to_owned(), file);
    let inquiry = Inquiry { call, servers, path, patience: PATIENCE };
    let (heard, files) = match inquiry.fixes(files) {
        Ok(Some(heard)) => heard,
        Ok(None) => return format!("No fixes of {}: its language server offers none.\n", plain(&name)),
        Err(problem) => {
            return format!("No fixes of {}: {}.\n", plain(&name), server_edits::reason(&problem));
        }
    };
    let mut text = String::new();
    let all: Vec<(&str, &Fix)> = heard
        .said
        .iter()
        .flat_map(|(server, fixes)| fixes.iter().map(move |fix| (&server[..], fix)))
        .collect();
    if all.is_empty() {
        let _ =
            writeln!(text, "No fixes of {} are offered by {}.", plain(&name), heard.names().join(" and "));
    }
    for (server, fix) in all.iter().take(SHOWN) {
        let of = fix.of.as_ref().map(|of| format!(":{}:{}", of.line, of.column)).unwrap_or_default();
        let _ = writeln!(text, "\nFix of {}{of}: {} ({server})", plain(&name), single_line(&fix.title));
        match offered(call, &files, fix, origin) {
            Ok(outcome) => text.push_str(&render::change(&outcome, ROOM)),
            Err(why) => {
                let _ = writeln!(text, "Not to be had here: {why}.");
            }
        }
    }
    if all.len() > SHOWN {
        let _ = writeln!(text, "\n... and {} more", all.len() - SHOWN);
    }
    if let Some(silent) = server_edits::silent(&heard.silent) {
        let _ = writeln!(text, "{silent}.");
    }
    text
}

/// Plans a change and keeps the plan. The error is why it cannot be made.
fn offered(call: &Call<'_>, files: &KnownFiles, fix: &Fix, origin: &Origin) -> Result<Outcome, String> {
    let edit = fix.edit.as_ref().map_err(|why| single_line(why))?;
    let request = request(call, files, edit, origin).map_err(|problem| server_edits::reason(&problem))?;
    let planned = call.workspace.preview(&request.request(), &call.context(origin)).and_then(|preview| {
        let outcome = Outcome::success(preview.report());
        let handle = kept_for_caller(call, preview)?;
        Ok(Outcome { preview: handle, ..outcome })
    });
    planned.map_err(|why| match why {
        NotCommitted::Problems(problems) => {
            let said = problems.first().map(|problem| message(problem, Audience::Model)).unwrap_or_default();
            single_line(said.trim_end().trim_end_matches('.'))
        }
        _ => "it was made before".to_owned(),
    })
}

fn request(
    call: &Call<'_>,
    files: &KnownFiles,
    edit: &WorkspaceEdit,
    origin: &Origin,
) -> Result<EditRequest, Problem> {
    asked_servers::check_reach(call, edit)?;
    let moves = asked_servers::moves(call, edit)?;
    let changes = asked_servers::changes(edit, files)?;
    let versions: BTreeMap<String, String> =
        changes.iter().map(|(known, _)| (known.name.clone(), known.text.version().short())).collect();
    let places = changes.into_iter().map(|(known, changes)| (known.name.clone(), as_places(known, changes)));
    let patch = Patch::replace_places(places).moving(moves);
    Ok(EditRequest { versions, ..EditRequest::new(patch, origin.clone()) })
}
