//! `emend undo --session`: takes back all edits of a session, the newest first. Each is an undo of its own, checked as any
//! other. If one is refused, those that were made are taken back too, so that all are undone or none.

use std::time::Duration;

use emend_server::approval::Decision;
use emend_server::local::{self, Made};
use emend_workspace::approval::visible_line;
use emend_workspace::history::Edited;
use serde_json::json;

use crate::approve;
use crate::asking::AskingFlags;
use crate::edit_ids;
use crate::exit::{Ended, Exit, Stop};
use crate::history::{edits, none_yet};
use crate::output::Output;
use crate::workspace::Opened;

const CLIENT: &str = "emend undo";

/// How many edits of the session are listed.
const LISTED: usize = 20;

pub(crate) fn undo_session(
    opened: &Opened,
    written: Option<&str>,
    asking: AskingFlags,
    output: Output,
) -> Ended {
    let Opened { workspace, effects, .. } = opened;
    let all = edits(workspace, None, usize::MAX)?;
    let is_open = |edit: &&Edited| edit.undoes.is_none() && edit.undone_by.is_none();
    let newest = || all.iter().find(is_open).map(|edit| edit.session.clone());
    let session = match written {
        None => newest().ok_or_else(none_yet)?,
        Some(written) => edit_ids::session(&all, written)?.ok_or_else(|| {
            Stop::Unknown(format!(
                "No edit of the session {written} is in the history; 'emend log --json' names the sessions."
            ))
        })?,
    };
    let open: Vec<&Edited> = all.iter().filter(is_open).filter(|edit| edit.session == session).collect();
    if open.is_empty() {
        return Err(Stop::Unknown(format!(
            "Every edit of session {session} was undone. Nothing was changed."
        )));
    }
    let ids: Vec<&str> = open.iter().map(|edit| edit.id.as_str()).collect();
    let (changed, unknown) = workspace.past_edits().net(None, &session)?;
    let diff: String = changed.iter().map(|file| file.diff.text()).collect();
    let asks = asking.asks(output);
    if asking.dry_run && output.json {
        output.document(&json!({"session": session, "edits": ids, "diff": diff, "unknown": unknown}))?;
        return Ok(Exit::Done);
    }
    if asks || asking.dry_run {
        let mut text: String =
            open.iter().take(LISTED).map(|edit| format!("Edit {}\n", edit.line())).collect();
        let more = open.len().saturating_sub(LISTED);
        if more > 0 {
            text.push_str(&format!("... and {more} more edits\n"));
        }
        text.push_str("These would be taken back, the newest first. This is what the session did:\n\n");
        let mut text = output.plain(&text).into_owned() + &output.diff(&diff);
        for name in &unknown {
            let name = visible_line(name);
            text.push_str(&format!(
                "{name} was changed since, so what the session did to it is not known.\n"
            ));
        }
        if asking.dry_run {
            output.show_long(&text)?;
            output.show("\nNothing was changed.\n")?;
            return Ok(Exit::Done);
        }
        output.show(&text)?;
        let count =
            if open.len() == 1 { "this edit".to_owned() } else { format!("these {} edits", open.len()) };
        if !output.ask(&format!("\nTake back {count}?"))? {
            output.show("Nothing was changed.\n")?;
            return Ok(Exit::Refused);
        }
    }
    let mut undone: Vec<Made> = Vec::new();
    for edit in &open {
        let made = match workspace.past_edits().is_back(&edit.id) {
            true if asks => continue,
            true => Err(Stop::Unknown(format!(
                "This edit of the session was taken back by hand, since its files are what they were before it: {}. If you \
                 mean the others, take them back one by one.",
                edit.line()
            ))),
            false => {
                let ask = |held: &_| approve::ask_decision(held, output);
                local::undo(workspace, effects, &edit.id, CLIENT, &ask).map_err(Stop::from)
            }
        };
        match made {
            Ok(made) => undone.push(made),
            Err(stop) => {
                put_back(opened, &undone)?;
                return Err(stop);
            }
        }
    }
    let shown = show(&session, &open, &undone, output);
    // Hooks have timeouts of their own.
    effects.finish(Duration::MAX);
    shown
}

/// Makes the edits again whose undo was made, the last undo first. Nobody is asked: what comes back stood there before.
fn put_back(opened: &Opened, undone: &[Made]) -> Result<(), Stop> {
    let Opened { workspace, effects, .. } = opened;
    for made in undone.iter().rev() {
        let Some(id) = made.edit() else { continue };
        local::undo(workspace, effects, id, CLIENT, &|_| Decision::Approve).map_err(|_| {
            Stop::Fault(anyhow::anyhow!(
                "one edit could not be taken back, and the undo {id} of another could not be taken back either: the session is \
                 undone in part. 'emend log' shows what stands; 'emend redo {id}' makes that edit again"
            ))
        })?;
    }
    effects.finish(Duration::MAX);
    Ok(())
}

fn show(session: &str, open: &[&Edited], undone: &[Made], output: Output) -> Ended {
    if output.json {
        let undone: Vec<_> = undone.iter().map(Made::document).collect();
        output.document(&json!({"session": session, "undone": undone}))?;
        return Ok(Exit::Done);
    }
    let mut text: String =
        undone.iter().map(|made| output.plain(&made.prose()).into_owned() + "\n").collect();
    let passed = open.len() - undone.len();
    if passed > 0 {
        text.push_str(&format!("{passed} of them had been taken back by hand.\n"));
    }
    let s = if undone.len() == 1 { "" } else { "s" };
    text.push_str(&format!(
        "{} edit{s} of session {session} taken back; 'emend redo' makes the last again.\n",
        undone.len()
    ));
    output.show(&text)?;
    Ok(Exit::Done)
}
