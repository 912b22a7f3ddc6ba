//! The parser of configuration files: TOML with the settings as keys, for the user's own file and for a workspace's.
//!
//! Anything invalid is an error with its line and is never skipped: a misspelt setting may be the one that was to
//! protect something.

use cap_std::fs::Dir;
use toml::de::DeTable;

use crate::problem::nearest;

use super::apply_model::ApplyModel;
use super::programs::Programs;
use super::settings::Settings;
use crate::disk::fault::is_absent;
use crate::disk::{Disk, FileKind};

/// The settings file of a workspace, at the top of a root.
pub const WORKSPACE_FILE: &str = ".emend.toml";

/// The size of the largest file that is read: no real file is longer, and a repository's must be fast to read at each
/// start.
const LONGEST: u64 = 64 * 1024;

/// The owner of a file. A setting that goes too far is an error in a person's file, and is ignored in a workspace's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Person,
    Workspace,
}

impl Settings {
    /// Parses the configuration file of the user. The error says what is wrong, and in which line.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_of(Whose::Person, text)
    }

    fn parse_of(whose: Whose, text: &str) -> Result<Self, String> {
        let at = |offset: usize, what: String| {
            let before = text.as_bytes().iter().take(offset);
            format!("line {}: {what}", before.filter(|&&byte| byte == b'\n').count() + 1)
        };
        let table = DeTable::parse(text)
            .map_err(|error| at(error.span().map_or(0, |span| span.start), error.message().to_owned()))?;
        let mut settings = Self::default();
        for (key, value) in table.get_ref() {
            if Programs::KEYS.contains(&&**key.get_ref()) {
                let set = settings.programs.set(key.get_ref(), value);
                set.map_err(|wrong| at(wrong.at, wrong.what))?;
                continue;
            }
            if key.get_ref() == ApplyModel::KEY {
                let read = ApplyModel::read(value)
                    .map_err(|wrong| at(wrong.at.max(key.span().start), wrong.what))?;
                settings.apply_model = Some(read);
                continue;
            }
            let name = key.get_ref();
            let Some(mut set) = settings.set(name, value.get_ref()) else {
                return Err(at(key.span().start, unknown(name)));
            };
            if whose == Whose::Person {
                set = set.and_then(|()| settings.check(name));
            }
            set.map_err(|wrong| {
                let list = value.get_ref().as_array();
                let item = list.zip(wrong.item).and_then(|(list, item)| list.get(item));
                let begin = item.map_or(key.span().start, |item| item.span().start);
                at(begin, format!("{name}: {}", wrong.why))
            })?;
        }
        Ok(settings)
    }
}

/// Returns the message for an unknown key, with the one that may be meant.
fn unknown(key: &str) -> String {
    let known =
        || Settings::ALL.iter().map(|setting| setting.key).chain(Programs::KEYS).chain([ApplyModel::KEY]);
    let meant = nearest(key, known()).map(|meant| format!(" Did you mean '{meant}'?"));
    let meant =
        meant.unwrap_or_else(|| format!(" The settings are: {}.", known().collect::<Vec<_>>().join(", ")));
    format!("unknown setting '{key}'.{meant}")
}

/// Reads the settings file of a workspace, if there is one. No link is followed: its target could be edited.
pub(super) fn of_workspace(disk: &dyn Disk, root: &Dir) -> Result<Option<Settings>, String> {
    let failed = |error: std::io::Error| format!("it cannot be read: {error}");
    let too_long = || format!("it has more than {LONGEST} bytes");
    match disk.stat(root, WORKSPACE_FILE.as_ref()) {
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(failed(error)),
        Ok(stat) if stat.kind != FileKind::File => return Err("it is not a regular file".into()),
        Ok(stat) if stat.size > LONGEST => return Err(too_long()),
        Ok(_) => {}
    }
    let file = disk.open_file(root, WORKSPACE_FILE.as_ref()).map_err(failed)?;
    let bytes = disk.read(&file, LONGEST, &mut |_| {}).map_err(failed)?;
    if bytes.len() as u64 > LONGEST {
        return Err(too_long());
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    Settings::parse_of(Whose::Workspace, text).map(Some)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::policy::settings::{Clients, DialectFor, Extensions, Folders, Seconds, ToolsFor};
    use crate::policy::{
        Answers, AnswersAs, DialectName, ListedTools, Mode, OnChange, RequireRead, SyntaxGuard,
    };

    #[test]
    fn every_setting_can_be_said() {
        let text = r#"
workspace = ["a=/a", "/b"]
forbidden_paths = ["x/", "!y"]
read_only = ["gen/"]
approve = ["*.sql"]
allowed_extensions = ["rs"]
tools_for = { cursor = "core" }
dialect_for = { zed = "claude" }
approve_in_app = ["Claude"]
max_file_bytes = 1_048_576
mode = "ask"
require_mtime_check = false
require_read = "always"
on_change = "merge"
write_in_place = true
write_read_only = true
track_history = false
notify_lsp = false
notify_editor = false
emit_event = true
syntax_guard = "refuse"
tools = "core"
dialect = "auto"
answers = "full"
answers_as = "text"
diagnostics_wait = 0.5
"#;
        let mut tools_for = ToolsFor::default();
        tools_for.set("cursor", ListedTools::Core).unwrap();
        let mut dialect_for = DialectFor::default();
        dialect_for.set("zed", DialectName::Claude).unwrap();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let expected = Settings {
            workspace: Folders(words(&["a=/a", "/b"])),
            forbidden_paths: words(&["x/", "!y"]),
            read_only: words(&["gen/"]),
            approve: words(&["*.sql"]),
            allowed_extensions: Some(Extensions(words(&["rs"]))),
            tools_for,
            dialect_for,
            approve_in_app: Clients(words(&["Claude"])),
            max_file_bytes: Some(1 << 20),
            mode: Some(Mode::Ask),
            require_mtime_check: Some(false),
            require_read: Some(RequireRead::Always),
            on_change: Some(OnChange::Merge),
            write_in_place: Some(true),
            write_read_only: Some(true),
            track_history: Some(false),
            notify_lsp: Some(false),
            notify_editor: Some(false),
            emit_event: Some(true),
            syntax_guard: Some(SyntaxGuard::Refuse),
            tools: Some(ListedTools::Core),
            dialect: Some(DialectName::Auto),
            answers: Some(Answers::Full),
            answers_as: Some(AnswersAs::Text),
            diagnostics_wait: Some(Seconds(Duration::from_millis(500))),
            ..Settings::default()
        };
        assert_eq!(Settings::parse(text), Ok(expected));
        for setting in Settings::ALL {
            assert!(text.contains(&format!("\n{} = ", setting.key)), "{}", setting.key);
        }
        assert_eq!(Settings::parse("\u{feff}# nothing\n"), Ok(Settings::default()));
        assert_eq!(Settings::parse("max_file_bytes = 0x10").unwrap().max_file_bytes, Some(16));
    }

    #[test]
    fn what_is_not_understood_is_an_error_with_its_line() {
        for (text, line, telling) in [
            ("mode = \"auto\"\nforbiden_paths = []", 2, "'forbidden_paths'"),
            ("forbidden-paths = []", 1, "'forbidden_paths'"),
            ("colour = 1", 1, "max_file_bytes"),
            ("\n\nmode = \"never\"", 3, "read-only"),
            ("mode = 1", 1, "a string"),
            ("read_only = \"x\"", 1, "a list"),
            ("tools_for = \"core\"", 1, "tools_for: it must be a table"),
            ("\n[tools_for]\ncursor = \"few\"", 2, "one of core, all"),
            ("read_only = [\"x\", 1]", 1, "a list"),
            ("max_file_bytes = -1", 1, "0 or more"),
            ("max_file_bytes = \"1\"", 1, "whole number"),
            ("track_history = \"no\"", 1, "true or false"),
            ("diagnostics_wait = -1", 1, "0 to 60"),
            ("diagnostics_wait = true", 1, "seconds"),
            ("mode = \"ask\"\nmode = \"auto\"", 2, "duplicate"),
            ("[policy]\nmode = \"ask\"", 1, "unknown setting 'policy'"),
            ("# fine\nmode = ", 2, ""),
            ("mode", 1, ""),
            ("\nread_only = [\n  'x',\n  '[',\n]", 4, "read_only: the pattern '['"),
            ("\nforbidden_paths = ['../x']", 2, "forbidden_paths: the pattern '../x'"),
            ("\napprove = ['![']", 2, "approve: the pattern '!['"),
            ("\nallowed_extensions = [\n'rs', '*.py']", 3, "allowed_extensions: '*.py'"),
            ("\nmax_file_bytes = 9_999_999_999", 2, "max_file_bytes: it must be at most"),
            ("\nworkspace = [\n'~/x', 'a=/b',\n'./c']", 4, "workspace: './c' must be an absolute path"),
        ] {
            let error = Settings::parse(text).unwrap_err();
            assert!(error.starts_with(&format!("line {line}: ")), "{text}: {error}");
            assert!(error.contains(telling), "{text}: {error}");
        }
    }

    #[test]
    fn a_list_of_too_many_patterns_is_refused_as_such() {
        let list = |last: &str| format!("\nread_only = [{}'{last}']", "'x',".repeat(2000));
        let error = Settings::parse(&list("y")).unwrap_err();
        assert_eq!(error, "line 2: read_only: there are more than 1000 patterns");
        assert_eq!(Settings::parse(&list("[")).unwrap_err(), error);
    }
}
