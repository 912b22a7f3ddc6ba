//! The settings, each declared once. Its declaration decides how a setting is parsed from a file and a flag, which of
//! two sources counts, what a folder and a client may set, and its row in the reference.
//!
//! There are three sources of settings: the command line, the user's configuration file, and the file of a workspace.
//! What one source leaves out, another decides.

mod by_client;
mod declare;
mod lists;
mod reference;
mod rules;
mod values;
mod words;

use std::time::Duration;

use toml::de::DeValue;

use self::declare::settings;
use self::values::{Said, Value, Wrong};
use super::apply_model::ApplyModel;
use super::programs::Programs;

pub use self::by_client::{DialectFor, ToolsFor};
pub use self::lists::{Clients, Extensions, Folders};
pub use self::reference::reference_table;
pub use self::rules::{Flag, May, Setting};
pub use self::values::{MAX_FILE_BYTES, Seconds};
pub use self::words::{
    Answers, AnswersAs, DialectName, ListedTools, Mode, OnChange, RequireRead, SyntaxGuard,
};

// The doc comment of a setting is its text in the reference, in `--help` and in rustdoc. `folder` is what the file of a
// workspace may set, `client` what a command line may if the user's own file sets it too.
settings! {
    lists {
        /// The folders to open, as `PATH` or `name=PATH`. In the file they are absolute or begin with `~/`, and count only if
        /// no flag names one.
        workspace: Folders {
            default: "the working folder",
            flag: Flag::of_commands("--workspace", "DIR"),
            folder: May::Nothing("what is opened"),
            client: May::Set,
        }

        /// What matches is neither read nor changed, and not named in any answer.
        forbidden_paths: Vec<String> {
            default: "[secrets](#forbidden-by-default)",
            flag: Flag::with_value("--forbid", "GLOB"),
            folder: May::Add,
            client: May::Add,
        }

        /// What matches is read but not changed.
        read_only: Vec<String> {
            default: "none",
            flag: Flag::with_value("--read-only", "GLOB"),
            folder: May::Add,
            client: May::Add,
        }

        /// What matches is changed only with your [approval](#approval).
        approve: Vec<String> {
            default: "[files that start programs](PROTECTED.md)",
            flag: Flag::with_value("--approve", "GLOB"),
            folder: May::Add,
            client: May::Add,
        }

        /// Only files with these endings are changed. `""` stands for files without one. The flag may be given several times.
        allowed_extensions: Option<Extensions> {
            default: "all",
            flag: Flag::with_value("--allow-extension", "EXT"),
            folder: May::Lower,
            client: May::Lower,
        }

        /// Which tools are listed to the client of this name, where that differs from `tools`. In the file it is a table:
        /// `{ cursor = "core" }`. Clients name themselves; `emend log` shows how. The flag may be given several times.
        tools_for: ToolsFor {
            default: "none",
            flag: Flag::with_value("--tools-for", "CLIENT=WHICH"),
            folder: May::Nothing("which tools are listed"),
            client: May::Set,
        }

        /// The [dialect](DIALECTS.md) for the client of this name, where that differs from `dialect`. In the file it is a
        /// table: `{ zed = "claude" }`. The flag may be given several times.
        dialect_for: DialectFor {
            default: "none",
            flag: Flag::with_value("--dialect-for", "CLIENT=NAME"),
            folder: May::Nothing("which dialect is spoken"),
            client: May::Set,
        }

        /// The clients in whose [review page](REVIEW.md) you may approve an edit, by the names that they give themselves; `emend
        /// log` shows how. Only for clients that keep from their model what stands in `_meta`. Counts in your own file alone.
        approve_in_app: Clients {
            default: "none",
            flag: None,
            folder: May::Nothing("where edits are approved"),
            client: May::Nothing("where edits are approved"),
        }
    }

    terms {
        /// The largest file that is read or written, in bytes. At most 1 GiB.
        max_file_bytes: u64 {
            default: 64 << 20,
            flag: Flag::with_value("--max-file-bytes", "N"),
            folder: May::Lower,
            client: May::Lower,
        }

        /// What becomes of an edit. `auto`: it is made. `ask`: it needs your [approval](#approval). `preview`: it is only
        /// shown. `read-only`: there are no edit tools.
        mode: Mode {
            default: Mode::Auto,
            flag: Flag::with_value("--mode", "MODE"),
            folder: May::Raise,
            client: May::Raise,
        }

        /// Refuse an edit if the file changed since it was read. Versions that a call names are compared in any case.
        require_mtime_check: bool {
            default: true,
            flag: Flag::switch("--require-mtime-check"),
            folder: May::Raise,
            client: May::Raise,
        }

        /// Which edits need a reading of the file. `whole`: those that replace or delete a whole file. `always`: every one.
        require_read: RequireRead {
            default: RequireRead::Whole,
            flag: Flag::alone("--require-read", "WHEN", "always"),
            folder: May::Raise,
            client: May::Raise,
        }

        /// What becomes of an edit if the file changed since it was read. `refuse`: it is refused once, and after that it is
        /// made if it lands on the lines that were read. `merge`: it is made and the answer shows the change, provided that
        /// the change does not touch or border on the edit's lines, and that the request means the same place in what was
        /// read. `replace_lines` names the version of its numbers and is made as
        /// with `merge` if its lines are found again for certain. With `merge`, an undo takes back the edit's own lines of a
        /// file that changed elsewhere since.
        on_change: OnChange {
            default: OnChange::Refuse,
            flag: Flag::with_value("--on-change", "WHAT"),
            folder: May::Raise,
            client: May::Raise,
        }

        /// Write files in place that cannot be exchanged: files with several names (hard links), and single files that are
        /// mounted by themselves. A program that reads such a file meanwhile may see half of it; a crash is taken back.
        write_in_place: bool {
            default: false,
            flag: Flag::switch("--write-in-place"),
            folder: May::Lower,
            client: May::Lower,
        }

        /// Change files that their mode lets nobody write.
        write_read_only: bool {
            default: false,
            flag: Flag::switch("--write-read-only"),
            folder: May::Lower,
            client: May::Lower,
        }

        /// Keep displaced files and records. Without them nothing can be undone, and only which calls were made is known, for 15 minutes.
        // Neither is stricter: one loses what the user wants to have, the other keeps what they may not want.
        track_history: bool {
            default: true,
            flag: Flag::switch("--track-history"),
            folder: May::Nothing("that"),
            client: May::Repeat,
        }

        /// Ask language servers what an edit changed.
        notify_lsp: bool {
            default: true,
            flag: Flag::switch("--notify-lsp"),
            folder: May::Lower,
            client: May::Lower,
        }

        /// Tell the editors that are named in your file of each edit.
        notify_editor: bool {
            default: true,
            flag: Flag::switch("--notify-editor"),
            folder: May::Lower,
            client: May::Lower,
        }

        /// Write [events](EVENTS.md), the outcome of each edit as a line of JSON, for `emend events`.
        // A folder may want no events about it. A client must not hide from the user what they want to see.
        emit_event: bool {
            default: false,
            flag: Flag::switch("--emit-event"),
            folder: May::Lower,
            client: May::Repeat,
        }

        /// What becomes of an edit that breaks the [syntax](#the-syntax-guard) of a file that was right before. `warn`: it is
        /// made, and the answer says where. `refuse`: it is refused. `off`: nothing is said.
        syntax_guard: SyntaxGuard {
            default: SyntaxGuard::Warn,
            flag: Flag::with_value("--syntax-guard", "WHAT"),
            folder: May::Raise,
            client: May::Raise,
        }

        /// Which tools are listed to models. `core`: `read_file`, `str_replace`, `apply_patch`, `write_file`, `edit_preview`
        /// and `undo_edit`, for a client with many other tools or a model with little room. A call of another one is answered all the same.
        tools: ListedTools {
            default: ListedTools::All,
            flag: Flag::with_value("--tools", "WHICH"),
            folder: May::Nothing("which tools are listed"),
            client: May::Set,
        }

        /// Whose tools are listed to models: those that a family of models was trained on, by their names, arguments and
        /// manner of answering. See [DIALECTS.md](DIALECTS.md). `auto`: those of Claude Code, Codex and Gemini CLI to these
        /// clients, else Emend's own. A call by any of these names is understood in every dialect.
        dialect: DialectName {
            default: DialectName::Emend,
            flag: Flag::with_value("--dialect", "NAME"),
            folder: May::Nothing("which dialect is spoken"),
            client: May::Set,
        }

        /// How much the answers to edits say. `short`: the change with one line around it, and of long ones the beginning.
        /// `full`: three lines around it, and all that is known of each file and hunk.
        answers: Answers {
            default: Answers::Short,
            flag: Flag::with_value("--answers", "HOW"),
            folder: May::Nothing("how much answers say"),
            client: May::Set,
        }

        /// The form of the answers to edits. `both`: text, and the same as structured content for programs. `text`: text alone,
        /// for clients that show structured content to a model or a person, as Claude Code and Codex do.
        answers_as: AnswersAs {
            default: AnswersAs::Both,
            flag: Flag::with_value("--answers-as", "FORM"),
            folder: May::Nothing("the form of answers"),
            client: May::Set,
        }

        /// How long the answer to an edit waits for what language servers say, in seconds. At most 60.
        diagnostics_wait: Seconds {
            default: Seconds(Duration::from_millis(1500)),
            flag: Flag::with_value("--diagnostics-wait", "SECONDS"),
            folder: May::Nothing("how long answers wait"),
            client: May::Set,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_first_wins_and_patterns_add_up() {
        let command_line = Settings {
            mode: Some(Mode::Preview),
            forbidden_paths: vec!["!a".into()],
            allowed_extensions: Some(Extensions(vec!["md".into()])),
            ..Settings::default()
        };
        let file = Settings {
            mode: Some(Mode::Auto),
            on_change: Some(OnChange::Merge),
            forbidden_paths: vec!["a".into()],
            allowed_extensions: Some(Extensions(vec!["rs".into()])),
            workspace: Folders(vec!["x=/x".into()]),
            ..Settings::default()
        };
        let both = command_line.merged_over(file);
        assert_eq!((both.mode, both.on_change), (Some(Mode::Preview), Some(OnChange::Merge)));
        assert_eq!(both.forbidden_paths, ["a", "!a"]);
        assert_eq!(both.allowed_extensions.unwrap().0, ["md"]);
        assert_eq!(*both.workspace, ["x=/x"]);
        let asked = Settings { workspace: Folders(vec!["y".into()]), ..Settings::default() };
        let filed = Settings { workspace: Folders(vec!["x".into()]), ..Settings::default() };
        assert_eq!(*asked.merged_over(filed).workspace, ["y"]);
    }
}
