//! The programs that the user has configured: hooks around edits, language servers, editors to notify.
//!
//! Only the user's own configuration names programs. A workspace comes from someone else, and so would the programs.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::problem::nearest;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::globs::Globs;

/// The longest timeout of a program.
const LONGEST_SECONDS: u64 = 600;

/// The configured programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Programs {
    /// The hooks that are asked before an edit and may refuse it.
    pub before: Vec<Hook>,
    /// The formatters, each from the new text of a file to the formatted text, run one after another.
    pub format: Vec<Hook>,
    /// The hooks that run after an edit.
    pub after: Vec<Hook>,
    /// The editors that are notified of each edit.
    pub editors: Vec<Editor>,
    /// The language servers that differ from the built-in configuration.
    pub servers: Vec<Server>,
}

/// A program that runs around an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The name in answers.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The globs of the files that concern it; none means all.
    pub files: Vec<String>,
    /// The timeout.
    pub timeout: Option<Duration>,
    /// Whether an edit is refused if the hook cannot be asked. Only for hooks before an edit.
    pub required: bool,
}

/// An editor that is notified of edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Editor {
    /// The preset, or a name for the command.
    pub name: String,
    /// The address at which the editor listens, if its preset needs one.
    pub server: Option<String>,
    /// The program and its arguments, instead of the preset's.
    pub command: Vec<String>,
    /// The timeout of a notification.
    pub timeout: Option<Duration>,
}

/// The configuration of a language server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// The name of a built-in server, or of one of the user's own.
    pub name: String,
    /// Whether it may be started.
    pub enabled: Option<bool>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The extensions of its files.
    pub extensions: Vec<String>,
    /// The language id that it uses for them.
    pub language: Option<String>,
    /// The server's own settings.
    pub options: Option<Value>,
    /// Whether it may run code of the project: build scripts, macros, plug-ins.
    pub runs_project_code: bool,
}

impl Editor {
    /// Returns the program that notifies the editor, from the command or the preset.
    #[must_use]
    pub fn program(&self) -> &str {
        match (self.command.first(), self.name.as_str()) {
            (Some(program), _) => program,
            (None, "neovim") => "nvim",
            (None, "emacs") => "emacsclient",
            (None, _) => "code",
        }
    }
}

impl Programs {
    /// The keys of a configuration file that this type reads.
    pub(super) const KEYS: [&str; 3] = ["hooks", "editors", "language_servers"];

    /// Returns whether no program is configured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads the value of one of the [`KEYS`](Self::KEYS).
    pub(super) fn set(&mut self, key: &str, value: &Spanned<DeValue<'_>>) -> Result<(), Wrong> {
        let wrong = |what: &str| Wrong { at: value.span().start, what: what.to_owned() };
        match key {
            "hooks" => {
                let table = table(value.get_ref());
                let must = "hooks: it must be [[hooks.before]], [[hooks.format]] or [[hooks.after]]";
                for (kind, value) in table.ok_or_else(|| wrong(must))? {
                    let what = format!("hooks.{}", kind.get_ref());
                    let hooks = match &**kind.get_ref() {
                        "before" => &mut self.before,
                        "format" => &mut self.format,
                        "after" => &mut self.after,
                        other => {
                            let what = unknown("hooks", other, &["before", "format", "after"]);
                            return Err(Wrong { at: kind.span().start, what });
                        }
                    };
                    *hooks = each(&what, value, hook)?;
                }
            }
            "editors" => self.editors = each("editors", value, editor)?,
            _ => {
                let table = table(value.get_ref());
                let must = "language_servers: it must be [language_servers.NAME]";
                for (name, value) in table.ok_or_else(|| wrong(must))? {
                    let (at, name) = (name.span().start, name.get_ref().to_string());
                    let what = format!("language_servers.{name}");
                    let server = server(&what, name, value.get_ref());
                    self.servers.push(server.map_err(|what| Wrong { at, what })?);
                }
            }
        }
        Ok(())
    }
}

/// An error in a configuration file, and its offset.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) at: usize,
    pub(super) what: String,
}

fn hook(what: &str, value: &DeValue<'_>) -> Result<Hook, String> {
    let mut fields = Fields::of(what, value, &["name", "command", "files", "timeout", "required"])?;
    let command = fields.command()?.ok_or_else(|| fields.lacks("command"))?;
    let name = fields.text("name")?.unwrap_or_else(|| base_name(&command));
    let files = fields.texts("files")?.unwrap_or_default();
    Globs::new(files.iter().map(String::as_str)).map_err(|why| format!("{what}.files: {why}"))?;
    let (timeout, required) = (fields.seconds("timeout")?, fields.truth("required")?.unwrap_or(false));
    if required && what != "hooks.before" {
        return Err(format!("{what}.required: only a hook before an edit can be required"));
    }
    Ok(Hook { name, command, files, timeout, required })
}

fn editor(what: &str, value: &DeValue<'_>) -> Result<Editor, String> {
    const PRESETS: [&str; 3] = ["neovim", "vscode", "emacs"];
    let mut fields = Fields::of(what, value, &["editor", "name", "server", "command", "timeout"])?;
    let (preset, server, command) = (fields.text("editor")?, fields.text("server")?, fields.command()?);
    let name = match (&preset, &command) {
        (Some(preset), _) if PRESETS.contains(&preset.as_str()) => preset.clone(),
        (Some(other), _) => return Err(unknown("editors", other, &PRESETS)),
        (None, Some(command)) => fields.text("name")?.unwrap_or_else(|| base_name(command)),
        (None, None) => return Err(format!("{what}: name an editor ({}) or a command", PRESETS.join(", "))),
    };
    if preset.as_deref() == Some("neovim") && server.is_none() && command.is_none() {
        return Err(format!(
            "{what}: neovim needs server, the address that it listens at (:echo v:servername)"
        ));
    }
    if command.iter().flatten().any(|word| word.contains("{files}") && word != "{files}") {
        return Err(fields.must("command", "a list in which {files} is an argument of its own"));
    }
    Ok(Editor { name, server, command: command.unwrap_or_default(), timeout: fields.seconds("timeout")? })
}

fn server(what: &str, name: String, value: &DeValue<'_>) -> Result<Server, String> {
    let known = ["enabled", "command", "extensions", "language", "options", "runs_project_code"];
    let mut fields = Fields::of(what, value, &known)?;
    Ok(Server {
        name,
        enabled: fields.truth("enabled")?,
        command: fields.command()?.unwrap_or_default(),
        extensions: fields.texts("extensions")?.unwrap_or_default(),
        language: fields.text("language")?,
        options: fields.take("options").map(json),
        runs_project_code: fields.truth("runs_project_code")?.unwrap_or(false),
    })
}

/// The fields of a table; unknown ones are errors.
pub(super) struct Fields<'a, 'i> {
    what: &'a str,
    table: &'a DeTable<'i>,
}

impl<'a, 'i> Fields<'a, 'i> {
    pub(super) fn of(what: &'a str, value: &'a DeValue<'i>, known: &[&str]) -> Result<Self, String> {
        let table = table(value).ok_or_else(|| format!("{what}: it must be a table"))?;
        let stranger = table.keys().find(|key| !known.contains(&&**key.get_ref()));
        match stranger {
            Some(stranger) => Err(unknown(what, stranger.get_ref(), known)),
            None => Ok(Self { what, table }),
        }
    }

    fn take(&self, name: &str) -> Option<&'a DeValue<'i>> {
        self.table.iter().find(|(key, _)| &**key.get_ref() == name).map(|(_, value)| value.get_ref())
    }

    pub(super) fn must(&self, name: &str, be: &str) -> String {
        format!("{}.{name}: it must be {be}", self.what)
    }

    pub(super) fn lacks(&self, name: &str) -> String {
        format!("{}: {name} is missing", self.what)
    }

    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        let text = |value: &DeValue<'_>| value.as_str().map(str::to_owned);
        self.take(name).map(|value| text(value).ok_or_else(|| self.must(name, "a string"))).transpose()
    }

    fn texts(&mut self, name: &str) -> Result<Option<Vec<String>>, String> {
        let text = |value: &DeValue<'_>| value.as_str().map(str::to_owned);
        let texts = |value: &DeValue<'_>| {
            value.as_array().and_then(|all| all.iter().map(|item| text(item.get_ref())).collect())
        };
        let wrong = || self.must(name, "a list of strings");
        self.take(name).map(|value| texts(value).ok_or_else(wrong)).transpose()
    }

    /// Reads a program and its arguments as a list: no shell splits a line.
    fn command(&mut self) -> Result<Option<Vec<String>>, String> {
        let command = self.texts("command")?;
        match &command {
            Some(command) if command.first().is_none_or(String::is_empty) => {
                Err(self.must("command", "a program and its arguments, as in [\"ruff\", \"format\", \"-\"]"))
            }
            _ => Ok(command),
        }
    }

    pub(super) fn truth(&mut self, name: &str) -> Result<Option<bool>, String> {
        let wrong = || self.must(name, "true or false");
        self.take(name).map(|value| value.as_bool().ok_or_else(wrong)).transpose()
    }

    pub(super) fn number(
        &mut self,
        name: &str,
        range: RangeInclusive<usize>,
    ) -> Result<Option<usize>, String> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number = value.as_integer().filter(|number| number.radix() == 10);
        let number = number.and_then(|number| number.as_str().replace('_', "").parse().ok());
        let wrong = || self.must(name, &format!("a whole number from {} to {}", range.start(), range.end()));
        number.filter(|number| range.contains(number)).map(Some).ok_or_else(wrong)
    }

    pub(super) fn seconds(&mut self, name: &str) -> Result<Option<Duration>, String> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let number = value.as_integer().map(|number| number.as_str().to_owned());
        let number = number.or_else(|| value.as_float().map(|number| number.as_str().to_owned()));
        let seconds = number.and_then(|number| number.replace('_', "").parse::<f64>().ok());
        let seconds = seconds.filter(|seconds| *seconds > 0.0 && *seconds <= LONGEST_SECONDS as f64);
        match seconds {
            Some(seconds) => Ok(Some(Duration::from_secs_f64(seconds))),
            None => Err(self.must(name, &format!("seconds, more than 0 and at most {LONGEST_SECONDS}"))),
        }
    }
}

/// Reads every table in a list of tables.
fn each<T>(
    what: &str,
    value: &Spanned<DeValue<'_>>,
    read: impl Fn(&str, &DeValue<'_>) -> Result<T, String>,
) -> Result<Vec<T>, Wrong> {
    let all = value.get_ref().as_array();
    let none = || Wrong { at: value.span().start, what: format!("{what}: write [[{what}]]") };
    let one = |item: &Spanned<DeValue<'_>>| {
        read(what, item.get_ref()).map_err(|what| Wrong { at: item.span().start, what })
    };
    all.ok_or_else(none)?.iter().map(one).collect()
}

fn table<'a, 'i>(value: &'a DeValue<'i>) -> Option<&'a DeTable<'i>> {
    match value {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

fn unknown(what: &str, key: &str, known: &[&str]) -> String {
    let meant = nearest(key, known.iter().copied()).map(|meant| format!(" Did you mean '{meant}'?"));
    let meant = meant.unwrap_or_else(|| format!(" Known are: {}.", known.join(", ")));
    format!("{what}: unknown '{key}'.{meant}")
}

fn base_name(command: &[String]) -> String {
    let program = command.first().map(String::as_str).unwrap_or_default();
    program.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Converts a TOML value to JSON.
fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(&**text),
        DeValue::Integer(number) => {
            i64::from_str_radix(number.as_str(), number.radix()).map_or(Value::Null, Value::from)
        }
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Boolean(truth) => Value::from(*truth),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(all) => all.iter().map(|item| json(item.get_ref())).collect(),
        DeValue::Table(table) => {
            let fields = table.iter().map(|(key, value)| (key.get_ref().to_string(), json(value.get_ref())));
            Value::Object(fields.collect::<Map<_, _>>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Settings;

    fn programs(text: &str) -> Result<Programs, String> {
        Settings::parse(text).map(|settings| settings.programs)
    }

    #[test]
    fn every_program_can_be_said() {
        let said = programs(
            r#"
[[hooks.before]]
name = "no secrets"
command = ["/opt/scan", "-"]
files = ["*.py", "!gen/"]
timeout = 2.5
required = true

[[hooks.format]]
command = ["/usr/bin/ruff", "format", "--stdin-filename", "{path}", "-"]

[[hooks.after]]
command = ["make", "tags"]
timeout = 30

[[editors]]
editor = "neovim"
server = "/run/nvim"

[[editors]]
name = "mine"
command = ["tell", "{file}"]

[language_servers.pyright]
enabled = false

[language_servers.zls]
command = ["zls"]
extensions = ["zig"]
language = "zig"
runs_project_code = true
options = { a = { b = [1, "x", true, 0x10] } }
"#,
        )
        .unwrap();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let before = &said.before[0];
        assert_eq!((before.name.as_str(), &before.command), ("no secrets", &words(&["/opt/scan", "-"])));
        assert_eq!(before.files, ["*.py", "!gen/"]);
        assert_eq!((before.timeout, before.required), (Some(Duration::from_millis(2500)), true));
        assert_eq!((said.format[0].name.as_str(), said.format[0].timeout), ("ruff", None));
        assert_eq!(said.after[0].timeout, Some(Duration::from_secs(30)));
        assert_eq!(said.editors[0].server.as_deref(), Some("/run/nvim"));
        assert_eq!((said.editors[1].name.as_str(), said.editors[1].command.len()), ("mine", 2));
        let [pyright, zls] = &said.servers[..] else { panic!() };
        assert_eq!((pyright.enabled, pyright.command.len()), (Some(false), 0));
        assert_eq!((zls.language.as_deref(), zls.runs_project_code), (Some("zig"), true));
        assert_eq!(zls.options, Some(serde_json::json!({"a": {"b": [1, "x", true, 16]}})));
    }

    #[test]
    fn an_error_names_the_line_of_its_own_section() {
        let text = "mode = 'auto'\n\n[[hooks.format]]\ncommand = ['x']\n\n[[hooks.before]]\nname = 'y'\n\
                    command = 'cat'\n\n[language_servers.z]\nenabled = true\n";
        assert!(programs(text).unwrap_err().starts_with("line 6: hooks.before.command"));
        let text = text.replace("'cat'", "['cat']").replace("enabled = true", "enabled = 1");
        assert!(programs(&text).unwrap_err().starts_with("line 10: language_servers.z.enabled"));
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        for (text, telling) in [
            ("[[hooks.befor]]\ncommand = ['x']", "'before'"),
            ("[[hooks.before]]\nname = 'x'", "command is missing"),
            ("[[hooks.before]]\ncommand = 'x y'", "a list of strings"),
            ("[[hooks.before]]\ncommand = []", "a program and its arguments"),
            ("[[hooks.before]]\ncommand = ['']", "a program and its arguments"),
            ("[[hooks.before]]\ncomand = ['x']", "'command'"),
            ("[[hooks.after]]\ncommand = ['x']\ntimeout = 0", "more than 0"),
            ("[[hooks.after]]\ncommand = ['x']\ntimeout = 6000", "at most 600"),
            ("[[hooks.after]]\ncommand = ['x']\nrequired = true", "before an edit"),
            ("[[hooks.after]]\ncommand = ['x']\nfiles = ['[']", "cannot be used"),
            ("[hooks.after]\ncommand = ['x']", "[[hooks.after]]"),
            ("hooks = 1", "[[hooks.before]]"),
            ("[[editors]]\neditor = 'vi'", "neovim"),
            ("[[editors]]\neditor = 'neovim'", "server"),
            ("[[editors]]\nserver = 'x'", "or a command"),
            ("[[editors]]\ncommand = ['x', '-{files}']", "an argument of its own"),
            ("language_servers = ['x']", "[language_servers.NAME]"),
            ("[language_servers.x]\nenabled = 'no'", "true or false"),
            ("[language_servers.x]\npath = 'no'", "unknown 'path'"),
        ] {
            let error = programs(text).unwrap_err();
            assert!(error.starts_with("line ") && error.contains(telling), "{text}: {error}");
        }
    }
}
