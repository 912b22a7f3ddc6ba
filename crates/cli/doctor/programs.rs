//! Checks the programs that run with an edit: language servers, hooks and editors.

use std::path::PathBuf;

use emend_process::search::Search;
use emend_server::effects::{Availability, language_servers};
use emend_workspace::policy::programs::{Hook, Programs};

use super::{Findings, Level};

pub(super) fn look(programs: &Programs, roots: &[PathBuf], findings: &mut Findings) {
    servers(programs, roots, findings);
    let search = Search::new(None, roots);
    for hook in programs.before.iter().chain(&programs.format).chain(&programs.after) {
        self::hook(hook, &search, findings);
    }
    for editor in &programs.editors {
        named(("editors", &editor.name), editor.program(), &search, Level::Warning, findings);
    }
}

fn servers(programs: &Programs, roots: &[PathBuf], findings: &mut Findings) {
    const ABOUT: &str = "language servers";
    for server in language_servers(roots, programs) {
        let is_named = programs.servers.iter().any(|named| named.name == server.name);
        let (name, files) = (&server.name, server.extensions.join(", "));
        match server.availability {
            Availability::Installed(program) => {
                findings.ok(ABOUT, format!("{name} for {files}: {}", program.display()));
            }
            Availability::Disabled => findings.ok(ABOUT, format!("{name} for {files}: disabled")),
            Availability::Missing(why) if is_named => {
                let next = "Install it, or correct its command in the configuration file.";
                let what = if files.is_empty() { name.clone() } else { format!("{name} for {files}") };
                findings.add(ABOUT, Level::Warning, format!("{what}: {why}"), next);
            }
            Availability::Missing(why) => {
                findings.add(ABOUT, Level::Note, format!("{name} for {files}: {why}"), "");
            }
        }
    }
}

fn hook(hook: &Hook, search: &Search, findings: &mut Findings) {
    // Without a required hook, no edit is made.
    let level = if hook.required { Level::Problem } else { Level::Warning };
    let program = hook.command.first().map(String::as_str).unwrap_or_default();
    named(("hooks", &hook.name), program, search, level, findings);
}

fn named(
    (about, name): (&'static str, &str),
    program: &str,
    search: &Search,
    level: Level,
    findings: &mut Findings,
) {
    match search.find(program) {
        Ok(found) => findings.ok(about, format!("{name}: {}", found.display())),
        Err(why) => {
            let next =
                "Install it, or correct its command in the configuration file: until then it is not run.";
            findings.add(about, level, format!("{name}: {why}"), next);
        }
    }
}
