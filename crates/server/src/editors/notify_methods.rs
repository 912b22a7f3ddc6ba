//! The way to notify each editor: the program's command lines for some changed files.
//!
//! There is no shell, and a file's name never becomes code: Neovim gets it as JSON, Emacs as a string in which every
//! unusual character is escaped, commands as an argument.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use emend_workspace::placeholders::placed;
use emend_workspace::policy::programs::Editor;
use serde_json::{Value, json};

use super::ChangedFile;

/// The Lua function that runs in Neovim and returns the number of buffers that it has reloaded.
const NEOVIM: &str = include_str!("neovim.lua");
/// The Lisp function that runs in Emacs and returns the number of buffers that it has reloaded.
const EMACS: &str = include_str!("emacs.el");
/// The most bytes of names in one argument. Linux takes 128 KiB, and names may double in it.
const ARGUMENT_BYTES: usize = 48 * 1024;
/// The most bytes of names in all arguments of a program.
const ALL_ARGUMENTS_BYTES: usize = 256 * 1024;
/// The number of runs of a custom command for one notification.
const RUNS_PER_COMMAND: usize = 20;
/// The number of files that one notification opens in Visual Studio Code.
const FILES_OPENED: usize = 5;

/// One run of the program that notifies an editor.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) arguments: Vec<String>,
    pub(super) folder: PathBuf,
}

/// The way to notify an editor.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotifyMethod {
    /// Reloads buffers in the Neovim that listens at this address.
    Neovim(String),
    /// Reloads buffers in the Emacs with this socket or server file, or in the default Emacs server.
    Emacs(Option<String>),
    /// Opens the files in Visual Studio Code, which reloads open files by itself.
    VsCode,
    /// Runs the configured command with these arguments.
    Command(Vec<String>),
}

impl NotifyMethod {
    pub(super) fn for_editor(editor: &Editor) -> Self {
        match (editor.name.as_str(), &editor.server) {
            _ if !editor.command.is_empty() => Self::Command(editor.command[1..].to_vec()),
            ("neovim", server) => Self::Neovim(server.clone().unwrap_or_default()),
            ("emacs", server) => Self::Emacs(server.clone()),
            _ => Self::VsCode,
        }
    }

    /// Returns whether a notification of these files would run anything.
    pub(super) fn is_concerned_by(&self, files: &[ChangedFile]) -> bool {
        let needs_files = match self {
            Self::Neovim(_) | Self::Emacs(_) => false,
            Self::VsCode => true,
            Self::Command(arguments) => has_files_placeholder(arguments) || has_file_placeholder(arguments),
        };
        files.iter().any(|file| !needs_files || !file.is_gone)
    }

    /// Returns the runs that notify the editor of these files.
    pub(super) fn commands(&self, files: &[ChangedFile]) -> Vec<Run> {
        match self {
            Self::Neovim(server) => {
                let expression = |files: &[Value]| {
                    let names = Value::from(files).to_string();
                    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
                    format!("luaeval({}, json_decode({}))", quoted(NEOVIM.trim()), quoted(&names))
                };
                let files = files
                    .iter()
                    .map(|file| json!({"path": file.path.to_string_lossy(), "is_gone": file.is_gone}));
                let expressions = groups_within(files, ARGUMENT_BYTES, |file| file.to_string().len())
                    .into_iter()
                    .map(|files| expression(&files));
                let usual = ["--headless", "-u", "NONE", "-i", "NONE", "--server", server, "--remote-expr"];
                let run = |expression| run_at_root(usual.into_iter().map(str::to_owned).chain([expression]));
                expressions.map(run).collect()
            }
            Self::Emacs(server) => {
                let expression =
                    |files: &[String]| format!("(funcall {} '({}))", EMACS.trim(), files.join(" "));
                let files = files.iter().map(|file| {
                    format!(
                        "({} . {})",
                        lisp_string(&file.path.to_string_lossy()),
                        if file.is_gone { "t" } else { "nil" }
                    )
                });
                let expressions = groups_within(files, ARGUMENT_BYTES, String::len)
                    .into_iter()
                    .map(|files| expression(&files));
                let at = server.as_ref().map(|server| {
                    // The server is a socket, or a file that names a TCP port of this machine.
                    let is_file = Path::new(server).is_file();
                    format!("--{}={server}", if is_file { "server-file" } else { "socket-name" })
                });
                // Where no Emacs server runs, none is started.
                let usual = ["--alternate-editor=false".to_owned(), "--eval".to_owned()];
                let usual: Vec<String> = at.into_iter().chain(usual).collect();
                let run = |expression| run_at_root(usual.iter().cloned().chain([expression]));
                expressions.map(run).collect()
            }
            Self::VsCode => {
                let there = files.iter().filter(|file| !file.is_gone);
                let run = |file: &ChangedFile| {
                    let path = file.path.to_string_lossy();
                    let mut arguments = vec!["--reuse-window".to_owned()];
                    // A colon in the name would be taken for the one before the line number.
                    if path.contains(':') {
                        arguments.push(path.into_owned());
                    } else {
                        arguments.extend(["--goto".to_owned(), format!("{path}:{}", file.line)]);
                    }
                    run_at_root(arguments.into_iter())
                };
                there.take(FILES_OPENED).map(run).collect()
            }
            Self::Command(arguments) => custom_commands(arguments, files),
        }
    }
}

fn run_at_root(arguments: impl Iterator<Item = String>) -> Run {
    Run { arguments: arguments.collect(), folder: PathBuf::from("/") }
}

/// Returns the runs of a custom command: one for each existing file if it names a file, else one for each root.
fn custom_commands(arguments: &[String], files: &[ChangedFile]) -> Vec<Run> {
    let mut files_by_root: BTreeMap<&Path, Vec<&ChangedFile>> = BTreeMap::new();
    for file in files {
        files_by_root.entry(&file.root).or_default().push(file);
    }
    let mut runs = Vec::new();
    for (root, files) in files_by_root {
        let run = |files: &[&ChangedFile]| {
            let words = arguments.iter().flat_map(|argument| match argument.as_str() {
                "{files}" => files.iter().map(|file| file.path.to_string_lossy().into_owned()).collect(),
                _ => vec![fill(argument, root, files.first().copied())],
            });
            Run { arguments: words.collect(), folder: root.to_path_buf() }
        };
        let there = files.iter().copied().filter(|file| !file.is_gone);
        if has_file_placeholder(arguments) {
            runs.extend(there.map(|file| run(&[file])));
        } else if has_files_placeholder(arguments) {
            let length = |file: &&ChangedFile| file.path.as_os_str().len() + 1;
            runs.extend(groups_within(there, ALL_ARGUMENTS_BYTES, length).iter().map(|files| run(files)));
        } else {
            runs.push(run(&[]));
        }
    }
    if runs.len() > RUNS_PER_COMMAND {
        tracing::warn!(
            "it is run for {RUNS_PER_COMMAND} of {} changed files; {{files}} gives it all at once",
            runs.len()
        );
        runs.truncate(RUNS_PER_COMMAND);
    }
    runs
}

/// Returns whether a command has a placeholder for a single file.
fn has_file_placeholder(arguments: &[String]) -> bool {
    let names = ["{path}", "{file}", "{line}"];
    arguments.iter().any(|argument| names.iter().any(|name| argument.contains(name)))
}

/// Returns whether a command has the placeholder for all files.
fn has_files_placeholder(arguments: &[String]) -> bool {
    arguments.iter().any(|argument| argument == "{files}")
}

/// Fills in the placeholders of an argument: those of hooks, and `{line}`.
fn fill(argument: &str, root: &Path, file: Option<&ChangedFile>) -> String {
    let root_text = root.to_string_lossy();
    let Some(file) = file else { return placed(argument, &[("{root}", &root_text)]) };
    let inside = file.path.strip_prefix(root).unwrap_or(&file.path).to_string_lossy();
    // A file whose name begins with a dash must not be taken for an option.
    let is_dashed = argument.starts_with("{path}") && inside.starts_with('-');
    let inside = if is_dashed { format!("./{inside}") } else { inside.into_owned() };
    let (path, line) = (file.path.to_string_lossy(), file.line.to_string());
    placed(argument, &[("{root}", &root_text), ("{path}", &inside), ("{file}", &path), ("{line}", &line)])
}

/// Quotes a string for Emacs Lisp, with all but the plainest characters escaped, so that no locale matters.
fn lisp_string(text: &str) -> String {
    let escaped = text.chars().map(|char| match char {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '/' | '.' | '_' | '-' => char.to_string(),
        _ => format!("\\U{:08x}", u32::from(char)),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// Splits the items into groups of at most `most` bytes each.
fn groups_within<T>(
    items: impl Iterator<Item = T>,
    most: usize,
    length: impl Fn(&T) -> usize,
) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut room = 0;
    for item in items {
        let length = length(&item);
        match groups.last_mut() {
            Some(group) if length <= room => group.push(item),
            _ => {
                groups.push(vec![item]);
                room = most;
            }
        }
        room = room.saturating_sub(length);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(root: &str, name: &str, line: usize) -> ChangedFile {
        ChangedFile { root: root.into(), path: Path::new(root).join(name), line, is_gone: false }
    }

    fn gone(root: &str, name: &str) -> ChangedFile {
        ChangedFile { is_gone: true, ..changed(root, name, 1) }
    }

    fn command(words: &[&str]) -> NotifyMethod {
        NotifyMethod::Command(words.iter().map(|word| (*word).to_owned()).collect())
    }

    fn arguments(way: &NotifyMethod, files: &[ChangedFile]) -> Vec<Vec<String>> {
        way.commands(files).into_iter().map(|run| run.arguments).collect()
    }

    #[test]
    fn a_command_gets_what_it_names_as_it_is() {
        let way = command(&["{root}|{path}:{line}", "{file}", "{other} {", "}"]);
        let run = way.commands(&[changed("/w", "a {line}'; $(x).rs", 7)]);
        let [run] = &run[..] else { panic!() };
        let expected = ["/w|a {line}'; $(x).rs:7", "/w/a {line}'; $(x).rs", "{other} {", "}"];
        assert_eq!(run.arguments, expected.map(str::to_owned));
        assert_eq!(run.folder, Path::new("/w"));
        assert_eq!(arguments(&command(&["{path}", "-{path}"]), &[changed("/w", "-a", 1)]), [["./-a", "--a"]]);
    }

    #[test]
    fn a_command_is_run_for_each_file_for_all_files_or_once() {
        let files = [changed("/w", "a", 1), gone("/w", "b"), changed("/w", "c", 1), changed("/v", "d", 1)];
        let each = arguments(&command(&["{path}"]), &files);
        assert_eq!(each, [["d"], ["a"], ["c"]]);
        let all = arguments(&command(&["-", "{files}"]), &files);
        assert_eq!(all, [vec!["-", "/v/d"], vec!["-", "/w/a", "/w/c"]]);
        let once = arguments(&command(&["{root}"]), &files);
        assert_eq!(once, [["/v"], ["/w"]]);
        for (words, concerned) in [(["x", "{file}"], false), (["x", "{files}"], false), (["x", "y"], true)] {
            assert_eq!(command(&words).is_concerned_by(&[gone("/w", "b")]), concerned);
        }
        let many: Vec<ChangedFile> = (0..100).map(|n| changed("/w", &n.to_string(), 1)).collect();
        assert_eq!(arguments(&command(&["{path}"]), &many).len(), RUNS_PER_COMMAND);
    }

    #[test]
    fn no_argument_is_longer_than_the_system_takes() {
        let files: Vec<ChangedFile> =
            (0..2_000).map(|n| changed("/w", &format!("{n}{}", "'\u{1}é".repeat(400)), 1)).collect();
        for way in [NotifyMethod::Neovim("x".into()), NotifyMethod::Emacs(None)] {
            let runs = arguments(&way, &files);
            assert!(runs.len() > 1 && runs.iter().flatten().all(|argument| argument.len() < 128 * 1024));
        }
        let runs = arguments(&command(&["{files}"]), &files);
        assert_eq!(runs.iter().map(Vec::len).sum::<usize>(), 2_000);
        assert!(runs.iter().all(|run| run.iter().map(String::len).sum::<usize>() < 1 << 20));
    }

    #[test]
    fn names_stay_data() {
        let neovim = NotifyMethod::Neovim("/s".into());
        let all = arguments(&neovim, &[changed("/w", "it's \" \n | é", 1)]);
        let expression = all[0].last().unwrap();
        assert!(expression.ends_with(r#", json_decode('[{"is_gone":false,"path":"/w/it''s \" \n | é"}]'))"#));
        let emacs = arguments(&NotifyMethod::Emacs(None), &[gone("/w", "\")é")]);
        let expression = r#" '(("/w/\U00000022\U00000029\U000000e9" . t)))"#;
        assert!(emacs[0].last().unwrap().ends_with(expression));
    }

    #[test]
    fn visual_studio_code_opens_what_is_there() {
        let files = [changed("/w", "a", 3), gone("/w", "b"), changed("/w", "c:4", 5)];
        let opened = arguments(&NotifyMethod::VsCode, &files);
        assert_eq!(opened, [vec!["--reuse-window", "--goto", "/w/a:3"], vec!["--reuse-window", "/w/c:4"]]);
        let many: Vec<ChangedFile> = (0..100).map(|n| changed("/w", &n.to_string(), 1)).collect();
        assert_eq!(arguments(&NotifyMethod::VsCode, &many).len(), FILES_OPENED);
    }
}
