//! The tool `diagnostics`: the present errors and warnings of language servers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use emend_workspace::problem::Problem;
use emend_workspace::{Effort, Origin};

use super::asked_servers::{self, invalid};
use super::spec::{About, Effect, Given, Tool, ToolArguments};
use super::{Call, fixes};
use crate::answer::{Answer, Unanswered};
use crate::effects::Diagnostics as Servers;
use crate::messages::{Audience, message};
use crate::server_diagnostics;
use crate::wire::Diagnostics;

/// The number of files in one call.
const FILES: usize = 50;
/// The number of files in one call of which fixes are listed.
const FIXED: usize = 5;
/// The time that a call waits for language servers, in which a starting server is often ready.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

impl ToolArguments for Diagnostics {
    const ABOUT: About = About {
        name: "diagnostics",
        title: "Show errors and warnings",
        description: "What language servers find wrong in files now.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: false,
    };
}

impl Tool for Diagnostics {
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered> {
        if call.effort == Effort::Quick {
            return Err(Unanswered::NotQuick);
        }
        let origin = call.origin(Self::ABOUT, given.raw());
        Ok(Answer::reading(given.read().and_then(|asked| ask(call, asked, &origin))))
    }
}

fn ask(call: &Call<'_>, asked: Diagnostics, origin: &Origin) -> Result<String, Problem> {
    let servers = call.effects.diagnostics().filter(|_| call.workspace.roots().any(|terms| terms.notify_lsp));
    let Some(servers) = servers else {
        return Ok("Language servers are not asked here: notify_lsp is off.\n".to_owned());
    };
    let named = asked.paths.is_some();
    let has_fixes = asked.fixes == Some(true);
    match &asked.paths {
        None if has_fixes => return Err(invalid("paths", "it is required with fixes".into())),
        Some(paths) if has_fixes && paths.len() > FIXED => {
            return Err(invalid("paths", format!("with fixes, name at most {FIXED} files")));
        }
        _ => {}
    }
    let of_server = |name: &String| servers.is_known(Path::new(name));
    let paths = asked.paths.unwrap_or_else(|| known(call, servers).into_iter().filter(of_server).collect());
    let mut text = String::new();
    let mut files = Vec::new();
    for path in paths.iter().take(FILES) {
        match call.workspace.files().read(path) {
            Ok((name, snapshot)) => files.push((name, snapshot)),
            // A file that was read once may be gone by now.
            Err(_) if !named => {}
            Err(problem) => text.push_str(&format!("{path}: {}\n", message(&problem, Audience::Model))),
        }
    }
    let mut texts: Vec<(PathBuf, String)> = Vec::new();
    for (name, snapshot) in &files {
        let path = call.workspace.roots().admit(name)?.absolute();
        if servers.is_known(&path) {
            texts.push((path, String::from_utf8_lossy(snapshot.text.bytes()).into_owned()));
        } else if named {
            text.push_str(&format!("No language server is known for {name}.\n"));
        }
    }
    if texts.is_empty() && !named {
        text.push_str("No file that you read or edited has a language server. Name files with paths.\n");
    }
    text.push_str(&server_diagnostics::prose(&servers.ask(call.workspace, &texts, PATIENCE)));
    for (path, _) in texts.iter().filter(|_| has_fixes) {
        let Some(name) = asked_servers::name_of(call, path) else { continue };
        match asked_servers::read(call, &name) {
            Ok(file) => text.push_str(&fixes::listed(call, servers, (path, file), origin)),
            Err(problem) => text.push_str(&format!("{name}: {}\n", message(&problem, Audience::Model))),
        }
    }
    if paths.len() > FILES {
        text.push_str(&format!(
            "{} more files were not asked about; name at most {FILES}.\n",
            paths.len() - FILES
        ));
    }
    Ok(text)
}

/// Returns the files that were edited lately, then those that the caller has read.
fn known(call: &Call<'_>, servers: &Servers) -> Vec<String> {
    let name = |path: PathBuf| Some(call.workspace.roots().admit(path.to_str()?).ok()?.name);
    let mut known: Vec<String> = servers.recent().into_iter().rev().filter_map(name).collect();
    let readings = call.caller.readings().lock();
    let read = readings.versions().into_iter().map(|(name, _)| name);
    known.extend(read.filter(|name| !known.contains(name)).collect::<Vec<_>>());
    known
}
