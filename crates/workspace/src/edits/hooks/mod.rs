//! Hooks: programs of the person's that are run around an edit. Formatters make other text of what is planned
//! ([`format`](mod@format)), others are asked before the edit and may refuse it ([`before`]), others are told once it is
//! made ([`after`]).
//!
//! A hook is somebody else's program, which may hang, flood or die: it gets limits, and what it fails at is left out and
//! told. Nothing is locked while one runs; edits whose files hooks concern take [`turns`] instead. No shell is involved, and
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

/// How much of what a program complains about is told.
const TOLD: usize = 600;

/// The hooks of a workspace, ready to be run.
#[derive(Debug, Default)]
pub struct Hooks {
    format: Vec<Armed>,
    before: Vec<Armed>,
    after: Vec<Armed>,
    roots: Vec<Home>,
    search: Search,
    /// Whose turn it is, of the edits that hooks concern.
    pub(crate) turns: Turns,
}

/// Where the files of a root are.
#[derive(Debug)]
struct Home {
    /// What stands before the names of its files.
    prefix: String,
    path: PathBuf,
}

/// A hook whose patterns are read.
#[derive(Debug)]
struct Armed {
    hook: Hook,
    /// Which files concern it; `None` means all.
    files: Option<Globs>,
}

/// What a hook may spend.
#[derive(Clone, Copy, Debug)]
struct Allowance {
    timeout: Duration,
    /// How many bytes of what it says are kept.
    most: usize,
    /// Whether it may say more than that.
    is_cut: bool,
    /// Whether what it has started may go on after it.
    leaves: bool,
    /// Whether files that the edit deletes are among its arguments.
    names_deleted: bool,
}

impl Hooks {
    /// The hooks among these programs, for these roots. The error says which pattern is wrong.
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

    /// What a person should know of it at the start: hooks whose program cannot be run. It may come to be there later.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        let all = self.format.iter().chain(&self.before).chain(&self.after);
        all.filter_map(|armed| {
            let why = self.program(armed).err()?;
            Some(format!("the hook {} will not run: {why}", armed.hook.name))
        })
    }

    /// Whether some hook is to run before this plan is committed.
    pub(crate) fn would_run_before(&self, checked: &CheckedPlan) -> bool {
        self.would_format(checked) || self.would_ask(&checked.report)
    }

    /// The program of a hook. It is looked for each time: what was installed or moved meanwhile counts.
    fn program(&self, armed: &Armed) -> Result<PathBuf, String> {
        let name = armed.hook.command.first().ok_or("it names no program")?;
        self.search.find(name).map_err(|why| why.to_string())
    }

    /// The root of the file of this name, and the file's path from there.
    fn place<'a>(&self, name: &'a str) -> Option<(&Home, &'a str)> {
        self.roots.iter().find_map(|home| Some((home, name.strip_prefix(&home.prefix)?)))
    }

    /// The file's path from its root.
    fn inside<'a>(&self, name: &'a str) -> &'a str {
        self.place(name).map_or(name, |(_, inside)| inside)
    }

    /// The files of an edit that concern a hook, by their new or their old name.
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
        // Before an edit, what it deletes is there as well.
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

    /// Whether its arguments have the names of files in them.
    fn names_files(&self) -> bool {
        self.hook.command.iter().skip(1).any(|argument| is_for_files(argument))
    }
}

fn is_for_files(argument: &str) -> bool {
    argument.contains("{path}") || argument.contains("{file}")
}

/// The arguments with what their placeholders stand for. One that names a file comes once for each.
fn filled(arguments: &[String], root: &Path, paths: &[&str]) -> Vec<String> {
    let root_text = root.to_string_lossy();
    let mut filled = Vec::new();
    for argument in arguments {
        if !is_for_files(argument) {
            filled.push(argument.replace("{root}", &root_text));
            continue;
        }
        filled.extend(paths.iter().map(|path| {
            // A file must not pass for an option, whatever a client calls it.
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

/// What a program says, or what became of it, on one line that deceives nobody.
fn told(said: &str) -> String {
    let shown = visible_line(said);
    match shown.char_indices().nth(TOLD) {
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
        assert_eq!(told("a\u{1b}[2K\nb"), "a\\u{1b}[2K\\nb");
        assert_eq!(told(&"ü".repeat(1000)).chars().count(), TOLD + 4);
    }
}
