//! Checks the executable and the system that it runs on.

use std::env;

use super::{Findings, Level};
use crate::program;

pub(super) fn look(findings: &mut Findings) {
    program(findings);
    system(findings);
}

fn program(findings: &mut Findings) {
    const ABOUT: &str = "program";
    let own = match program::own() {
        Ok(own) => own,
        Err(error) => {
            findings.add(ABOUT, Level::Problem, format!("{error:#}"), "");
            return;
        }
    };
    findings.ok(ABOUT, format!("emend {}, {}", env!("CARGO_PKG_VERSION"), own.display()));
    match program::on_path("emend") {
        None => {
            let next = format!("Name it in full in the configuration of clients: {}", own.display());
            findings.add(ABOUT, Level::Note, "emend is not on PATH", next);
        }
        Some(named) if program::is_own(&named) => {
            findings.ok(ABOUT, format!("'emend' on PATH is this one ({})", named.display()));
        }
        Some(named) => {
            let next = "Remove the one that you do not mean, or name the other in full.";
            let what = format!("'emend' on PATH is another one: {}", named.display());
            findings.add(ABOUT, Level::Warning, what, next);
        }
    }
}

fn system(findings: &mut Findings) {
    const ABOUT: &str = "system";
    let system = format!("{}{} on {}", env::consts::OS, kernel(), env::consts::ARCH);
    if cfg!(target_os = "linux") {
        findings.ok(ABOUT, system);
    } else {
        let next = "See 'What holds on which file system' in docs/GUARANTEES.md.";
        findings.add(ABOUT, Level::Note, format!("{system}: the portable path, which is less tested"), next);
    }
    if env::var_os("EMEND_DISK").is_some_and(|disk| disk == "portable") {
        let next = "Unset it: it is for tests, and promises less.";
        findings.add(ABOUT, Level::Warning, "EMEND_DISK=portable is set", next);
    }
}

#[cfg(unix)]
fn kernel() -> String {
    format!(" {}", rustix::system::uname().release().to_string_lossy())
}

#[cfg(not(unix))]
fn kernel() -> String {
    String::new()
}
