//! Checks the configuration, the folders of the workspace, the kept files and what the file systems can do.

use std::path::{Path, PathBuf};

use emend_server::messages::{Audience, message};
use emend_workspace::disk::abilities::{self, Ability};
use emend_workspace::survey::{self, Kept, Survey};
use emend_workspace::{Mode, RootSpec, disk};

use super::{Findings, Level};
use crate::settings::MergedSettings;
use crate::workspace::OpenOptions;

/// Reports the configuration files that were found.
pub(super) fn configuration(said: &MergedSettings, findings: &mut Findings) {
    const ABOUT: &str = "configuration";
    for file in &said.files {
        let there = if file.exists() { "" } else { "there is no " };
        findings.ok(ABOUT, format!("{there}{}", file.display()));
    }
}

pub(super) fn look(options: OpenOptions, findings: &mut Findings) {
    let OpenOptions { roots, state, policy, .. } = options;
    const ABOUT: &str = "workspace";
    let specs = match roots {
        Ok(specs) => specs,
        Err(problem) => {
            findings.add(ABOUT, Level::Problem, message(&problem, Audience::Person), "");
            return;
        }
    };
    let disk = disk::for_this_machine();
    let survey = |specs: &[RootSpec]| survey::survey(&disk, specs, state.as_deref(), &policy);
    // A folder that cannot be opened is a problem of its own.
    let (good, bad): (Vec<RootSpec>, Vec<RootSpec>) =
        specs.into_iter().partition(|spec| survey(std::slice::from_ref(spec)).is_ok());
    for spec in bad {
        if let Err(problem) = survey(&[spec]) {
            let next = "Correct --workspace, or the configuration file that names it.";
            findings.add(ABOUT, Level::Problem, message(&problem, Audience::Person), next);
        }
    }
    let surveys = match survey(&good) {
        Ok(surveys) => surveys,
        Err(problem) => {
            findings.add(ABOUT, Level::Problem, message(&problem, Audience::Person), "Correct --workspace.");
            return;
        }
    };
    surveys.iter().for_each(|survey| folder(survey, findings));
    if let Some(state) = &state {
        self::state(state, findings);
    }
    surveys.iter().for_each(|survey| kept(survey, state.as_deref(), findings));
    surveys.iter().for_each(|survey| file_system(survey, state.as_deref(), findings));
}

fn folder(survey: &Survey, findings: &mut Findings) {
    const ABOUT: &str = "workspace";
    let path = survey.path.display();
    match &survey.closed {
        Some(why) => {
            let next = "Nothing in the folder is read or changed until the file is mended.";
            findings.add(ABOUT, Level::Problem, why, next);
        }
        None => findings.ok(ABOUT, format!("{path}, in mode {}", survey.mode.as_str())),
    }
    if survey.mode == Mode::Ask {
        findings.add(ABOUT, Level::Note, "every edit needs approval (mode ask)", "");
    }
    for warning in &survey.warnings {
        findings.add(ABOUT, Level::Warning, warning, "");
    }
    if !survey.may_write {
        let next = "No file can be made or deleted there. Give yourself the right to write to it.";
        findings.add(ABOUT, Level::Problem, format!("{path} cannot be written to by you"), next);
    }
    #[cfg(unix)]
    if let Some(owner) = foreign_owner(&survey.path) {
        let next = "Files that you replace become yours.";
        findings.add(ABOUT, Level::Note, format!("{path} belongs to another user (number {owner})"), next);
    }
}

/// The owner of the folder, if that is another user.
#[cfg(unix)]
fn foreign_owner(folder: &Path) -> Option<u32> {
    let owner = std::os::unix::fs::MetadataExt::uid(&folder.metadata().ok()?);
    (owner != rustix::process::geteuid().as_raw()).then_some(owner)
}

fn state(state: &Path, findings: &mut Findings) {
    const ABOUT: &str = "state";
    let path = state.display();
    let is_there = state.is_dir();
    match (is_there, is_writable(state)) {
        (true, true) => findings.ok(ABOUT, format!("{path}")),
        (false, true) => findings.ok(ABOUT, format!("{path}, which is made with the first edit")),
        (_, false) => {
            let next = "Make it writable for you, or name another with --state-dir (or EMEND_STATE_DIR).";
            findings.add(ABOUT, Level::Warning, format!("{path} cannot be written to or made by you"), next);
        }
    }
    #[cfg(unix)]
    if is_there && others_may_write(state) {
        let next = format!(
            "They can take away what undoes edits, and put other files there, which are not believed: chmod go-w {path}"
        );
        findings.add(ABOUT, Level::Warning, format!("others may write to {path}"), next);
    }
    match survey::has_key(state) {
        Ok(true) => findings.ok(ABOUT, "the key by which Emend knows its own files is there"),
        Ok(false) => {}
        Err(error) => {
            let file = state.join("key");
            let next = format!(
                "Without it no edit of another process can be taken back. {} must be yours, with mode 600; if it is \
                 damaged, remove it and a new one is made.",
                file.display()
            );
            findings.add(ABOUT, Level::Warning, format!("the key cannot be used: {error}"), next);
        }
    }
}

#[cfg(unix)]
fn others_may_write(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    folder.metadata().is_ok_and(|folder| folder.permissions().mode() & 0o022 != 0)
}

/// Whether this user may write to the folder, or create it.
fn is_writable(folder: &Path) -> bool {
    let Some(there) = folder.ancestors().find(|folder| folder.exists()) else { return false };
    #[cfg(unix)]
    let may = rustix::fs::access(there, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok();
    #[cfg(not(unix))]
    let may = there.metadata().is_ok_and(|metadata| !metadata.permissions().readonly());
    may && there.is_dir()
}

fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Reports what is kept for a folder, and which edits were interrupted.
fn kept(survey: &Survey, state: Option<&Path>, findings: &mut Findings) {
    const ABOUT: &str = "history";
    let path = survey.path.display();
    if let Some(foreign) = &survey.foreign {
        findings.add(ABOUT, Level::Warning, foreign, "If you do not need what is in it, remove it.");
    }
    if let (false, Some(_)) = (survey.fits_state, state) {
        let what = format!("displaced files of {path} are kept in it, in .emend");
        findings.add(ABOUT, Level::Note, what, "The state folder is on another file system, or inside.");
    }
    if survey.vaults.is_empty() {
        findings.ok(ABOUT, format!("nothing was edited in {path} yet"));
    }
    for kept in &survey.vaults {
        let Kept { path: place, open, edits, bytes, aside } = kept;
        let place = place.display();
        findings
            .ok(ABOUT, format!("{}, {bytes} bytes of displaced files, in {place}", counted(*edits, "edit")));
        if *open > 0 && !survey.is_busy {
            let next = "The next edit, or the next start of a server, takes it up: all old or all new.";
            findings.add(
                ABOUT,
                Level::Warning,
                format!("{} of {path}", counted(*open, "interrupted edit")),
                next,
            );
        }
        if *aside > 0 {
            let what = format!("{aside} file(s) of interrupted edits were put aside");
            let next = format!("Look at {place}/aside, and remove what you do not need.");
            findings.add(ABOUT, Level::Note, what, next);
        }
    }
    if survey.is_busy {
        findings.add(ABOUT, Level::Note, format!("{path} is being edited right now"), "");
    }
}

/// Tries what the file system can do, in the place where displaced files are or would be kept.
fn file_system(survey: &Survey, state: Option<&Path>, findings: &mut Findings) {
    const ABOUT: &str = "file system";
    let beside: Option<PathBuf> =
        state.filter(|_| survey.fits_state).filter(|state| state.is_dir()).map(Into::into);
    let place = beside.unwrap_or_else(|| survey.path.clone());
    let abilities = match abilities::abilities(&place) {
        Ok(abilities) => abilities,
        Err(error) => {
            let what = format!("it could not be tried in {}: {error}", place.display());
            findings.add(ABOUT, Level::Warning, what, "");
            return;
        }
    };
    let of = format!(" (of {})", survey.path.display());
    for (ability, found) in abilities {
        let (name, level, without) = described(ability);
        match found {
            Ok(true) => findings.ok(ABOUT, format!("{name}{of}")),
            Ok(false) => findings.add(ABOUT, level, format!("no {name}{of}"), without),
            Err(error) => findings.add(ABOUT, level, format!("no {name}{of}: {error}"), without),
        }
    }
}

/// The name of an ability, how bad it is to lack it, and what that means.
fn described(ability: Ability) -> (&'static str, Level, &'static str) {
    const ON_WHICH: &str = "See 'What holds on which file system' in docs/GUARANTEES.md.";
    match ability {
        Ability::AtomicExchange => ("atomic exchange", Level::Warning, ON_WHICH),
        Ability::RenameToFree => ("renaming to a free name in one step", Level::Warning, ON_WHICH),
        Ability::OpenBeneath => (
            "opening beneath a folder by the kernel",
            Level::Note,
            "Paths are followed step by step instead.",
        ),
        Ability::Sync => ("making files durable", Level::Problem, "Edits fail. Use another file system."),
        Ability::Locks => {
            ("locking a folder", Level::Problem, "Edits fail, or two at once are not told apart.")
        }
        Ability::HardLinks => ("hard links", Level::Note, "No key can be kept in a state folder there."),
        Ability::ExtendedAttributes => {
            ("extended attributes", Level::Note, "Nothing is lost: no file has any.")
        }
        Ability::TellsCase => {
            ("telling names apart that differ in case alone", Level::Note, "A.txt and a.txt are one file.")
        }
    }
}
