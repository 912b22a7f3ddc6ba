//! Hooks: the user's programs that run around an edit. Formatters change the planned text ([`format`](mod@format)),
//! others are asked before the edit and may refuse it ([`before`]), others run after it ([`after`]).
//!
//! A hook is a foreign program that may hang, flood or die: it gets limits, and its failure is skipped and reported.
//! Nothing is locked while one runs; edits whose files hooks concern take [`turns`] instead. No shell is involved, and
//! no program inside a root is run.

pub mod after;
pub(crate) mod before;
mod document;
pub(crate) mod format;
mod turns;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use emend_process::run::{Ended, Program, Ran};
use emend_process::search::Search;

use crate::edits::approval::visible_line;
use crate::edits::checked_plan::CheckedPlan;
use crate::edits::placeholders::placed;
use crate::files::report::{ChangeKind, FileReport};
use crate::files::roots::{Root, Roots};
use crate::policy::folded::Folded;
use crate::policy::globs::Globs;
use crate::policy::programs::{Hook, Programs};

pub(crate) use self::turns::Turn;
use self::turns::Turns;

/// The number of characters of a program's message that are reported.
const MESSAGE_LENGTH: usize = 600;

/// The hooks of a workspace, ready to run.
#[derive(Debug, Default)]
pub struct Hooks {
    format: Vec<Armed>,
    before: Vec<Armed>,
    after: Vec<Armed>,
    roots: Vec<Home>,
    search: Search,
    /// The queue of edits that hooks concern.
    pub(crate) turns: Turns,
}

/// The place of a root's files.
#[derive(Debug)]
struct Home {
    /// The prefix of its file names.
    prefix: String,
    path: PathBuf,
}

/// A hook with its parsed patterns.
#[derive(Debug)]
struct Armed {
    hook: Hook,
    /// The files that concern it; `None` means all.
    files: Option<Globs>,
}

/// The limits of a run of a hook.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    timeout: Duration,
    /// The number of bytes of output that are kept.
    most: usize,
    /// Whether the rest of the output is discarded; otherwise the program is ended.
    is_cut: bool,
    /// Whether its child processes may outlive it.
    leaves: bool,
    /// Whether its arguments include files that the edit deletes.
    names_deleted: bool,
}

impl Hooks {
    /// Prepares the hooks among these programs for these roots. The error names the invalid pattern.
    pub(crate) fn new(programs: &Programs, roots: &Roots) -> Result<Self, String> {
        let armed = |hooks: &[Hook]| hooks.iter().map(Armed::new).collect::<Result<Vec<_>, _>>();
        let home = |root: &Root| Home { prefix: roots.prefix(root), path: root.path.clone() };
        let folders: Vec<&Path> = roots.all().iter().map(|root| root.path.as_path()).collect();
        Ok(Self {
            format: armed(&programs.format)?,
            before: armed(&programs.before)?,
            after: armed(&programs.after)?,
            roots: roots.all().iter().map(|root| home(root)).collect(),
            search: Search::new(None, &folders),
            turns: Turns::default(),
        })
    }

    /// Returns warnings about hooks whose program cannot be run. It may be installed later.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        let all = self.format.iter().chain(&self.before).chain(&self.after);
        all.filter_map(|armed| {
            let why = self.program(armed).err()?;
            Some(format!("the hook {} will not run: {why}", armed.hook.name))
        })
    }

    /// Returns whether any hook must run before this plan is committed.
    pub(crate) fn would_run_before(&self, checked: &CheckedPlan) -> bool {
        self.would_format(checked) || self.would_ask(&checked.report)
    }

    /// Finds the program of a hook. It is looked up each time, because it may be installed or moved meanwhile.
    fn program(&self, armed: &Armed) -> Result<PathBuf, String> {
        let name = armed.hook.command.first().ok_or("it names no program")?;
        self.search.find(name).map_err(|why| why.to_string())
    }

    /// Returns the root of the file of this name, and the file's path in it.
    fn place<'a>(&self, name: &'a str) -> Option<(&Home, &'a str)> {
        self.roots.iter().find_map(|home| Some((home, name.strip_prefix(&home.prefix)?)))
    }

    /// Returns the file's path in its root.
    fn inside<'a>(&self, name: &'a str) -> &'a str {
        self.place(name).map_or(name, |(_, inside)| inside)
    }

    /// Returns the files of an edit that concern a hook, by their new or old name.
    fn concerned<'a>(&self, armed: &Armed, files: &'a [FileReport]) -> Vec<&'a FileReport> {
        let has = |name: &String| armed.concerns(self.inside(name));
        let concerns = |file: &&FileReport| has(&file.name) || file.moved_from.as_ref().is_some_and(has);
        files.iter().filter(concerns).collect()
    }

    /// Runs a hook for these files of an edit, in their root. The error says why it did not run.
    fn run(
        &self,
        armed: &Armed,
        files: &[&FileReport],
        input: &[u8],
        allowance: Allowance,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Ran, String> {
        // Before an edit, the files that it deletes still exist.
        let there = files.iter().filter(|file| allowance.names_deleted || file.change != ChangeKind::Delete);
        let paths: Vec<&str> = there.map(|file| self.inside(&file.name)).collect();
        let home = files.first().and_then(|file| self.place(&file.name));
        let (home, _) = home.ok_or("its file is in no root")?;
        let path = self.program(armed)?;
        let program = Program {
            path: &path,
            arguments: &filled(&armed.hook.command[1..], &home.path, &paths),
            folder: &home.path,
            search: &self.search,
            environment: None,
            timeout: armed.hook.timeout.unwrap_or(allowance.timeout),
            most: allowance.most,
            is_cut: allowance.is_cut,
            leaves: allowance.leaves,
        };
        let ran = program.run(input, cancelled);
        if matches!(ran.ended, Ended::Failed(_)) { Err(ran.why()) } else { Ok(ran) }
    }
}

impl Armed {
    fn new(hook: &Hook) -> Result<Self, String> {
        let globs = || Globs::new(hook.files.iter().map(String::as_str));
        let files = if hook.files.is_empty() { None } else { Some(globs()?) };
        Ok(Self { hook: hook.clone(), files })
    }

    fn concerns(&self, path: &str) -> bool {
        let names = || path.split('/').map(OsString::from).collect::<Vec<_>>();
        self.files.as_ref().is_none_or(|globs| globs.catching(&Folded::new(&names())).is_some())
    }

    /// Returns whether the arguments contain file names.
    fn names_files(&self) -> bool {
        self.hook.command.iter().skip(1).any(|argument| is_for_files(argument))
    }
}

fn is_for_files(argument: &str) -> bool {
    argument.contains("{path}") || argument.contains("{file}")
}

/// Replaces the placeholders in the arguments. An argument that names a file is repeated for each file.
fn filled(arguments: &[String], root: &Path, paths: &[&str]) -> Vec<String> {
    let root_text = root.to_string_lossy();
    let mut filled = Vec::new();
    for argument in arguments {
        if !is_for_files(argument) {
            filled.push(argument.replace("{root}", &root_text));
            continue;
        }
        filled.extend(paths.iter().map(|path| {
            // A file name must not pass for an option.
            let is_dashed = argument.starts_with("{path}") && path.starts_with('-');
            let path = if is_dashed { format!("./{path}") } else { (*path).to_owned() };
            let file = root.join(&path);
            placed(
                argument,
                &[("{path}", &path), ("{file}", &file.to_string_lossy()), ("{root}", &root_text)],
            )
        }));
    }
    filled
}

/// Returns a program's message, or its failure, on one line, escaped and shortened.
fn shortened(said: &str) -> String {
    let shown = visible_line(said);
    match shown.char_indices().nth(MESSAGE_LENGTH) {
        Some((end, _)) => format!("{} ...", &shown[..end]),
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled_for(arguments: &[&str], paths: &[&str]) -> Vec<String> {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).into()).collect();
        filled(&arguments, Path::new("/ws"), paths)
    }

    #[test]
    fn placeholders_stand_for_the_files_and_their_root() {
        assert_eq!(filled_for(&["-", "--root={root}", "{path}"], &["a.py"]), ["-", "--root=/ws", "a.py"]);
        assert_eq!(filled_for(&["{file}:{path}"], &["x/a", "b"]), ["/ws/x/a:x/a", "/ws/b:b"]);
        assert!(filled_for(&["{path}"], &[]).is_empty());
    }

    #[test]
    fn the_name_of_a_file_is_neither_an_option_nor_a_placeholder() {
        assert_eq!(filled_for(&["{path}", "--name={path}"], &["-x"]), ["./-x", "--name=-x"]);
        assert_eq!(filled_for(&["{path} {root}"], &["{file}{root}"]), ["{file}{root} /ws"]);
    }

    #[test]
    fn what_a_program_says_is_short_and_harmless() {
        assert_eq!(shortened("a\u{1b}[2K\nb"), "a\\u{1b}[2K\\nb");
        assert_eq!(shortened(&"ü".repeat(1000)).chars().count(), MESSAGE_LENGTH + 4);
    }
}
