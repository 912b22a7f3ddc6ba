//! The user's settings, from the command line and from configuration files.
//!
//! A file that cannot be understood is an error at the start, with its line. A server that ignored it would allow what
//! the user has forbidden.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use emend_workspace::Settings;
use emend_workspace::policy::{Clients, Flag, Folders, Setting};

/// Each flag is the setting of the same name in the file, of which it loosens nothing.
#[derive(Clone, Args)]
#[command(next_help_heading = "Policy")]
pub(crate) struct Flags {
    /// Read this file of settings too, which loosens nothing that ~/.config/emend/config.toml says.
    #[arg(hide_short_help = true, long, value_name = "FILE", env = "EMEND_CONFIG")]
    config: Option<PathBuf>,

    /// Read no file of settings but those of the workspace; refused where ~/.config/emend/config.toml is there.
    #[arg(hide_short_help = true, long)]
    no_config: bool,

    #[command(flatten)]
    settings: SettingFlags,
}

/// The settings from flags. Each flag is generated from the declaration of its setting.
#[derive(Clone)]
struct SettingFlags(Settings);

impl SettingFlags {
    /// The settings that have a flag here, each with it.
    fn all() -> impl Iterator<Item = (&'static Setting, Flag)> {
        let with_flag = |setting: &'static Setting| Some((setting, setting.flag?));
        Settings::ALL.iter().filter_map(with_flag).filter(|(_, flag)| !flag.is_of_commands)
    }
}

impl Args for SettingFlags {
    fn augment_args(command: Command) -> Command {
        command.args(Self::all().map(|(setting, flag)| argument(setting, flag)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut said = Self(Settings::default());
        said.update_from_arg_matches(matches)?;
        Ok(said)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for (setting, _) in Self::all() {
            for written in matches.get_many::<String>(setting.key).into_iter().flatten() {
                let added = self.0.add(setting.key, written);
                added.map_err(|why| clap::Error::raw(ErrorKind::ValueValidation, why))?;
            }
        }
        Ok(())
    }
}

/// The clap argument for a setting.
fn argument(setting: &'static Setting, flag: Flag) -> Arg {
    let about = plain(&format!("{}. By default {}", setting.about(), (setting.default)()));
    let argument = Arg::new(setting.key)
        .long(flag.name.trim_start_matches('-'))
        .value_name(flag.value)
        // The short help in a shell is one sentence.
        .help(about.split(". ").next().unwrap_or_default().to_owned())
        .long_help(about)
        .hide_short_help(true)
        .action(if setting.is_list { ArgAction::Append } else { ArgAction::Set });
    let argument = match flag.alone {
        Some(meaning) => argument.num_args(0..=1).require_equals(true).default_missing_value(meaning),
        None => argument,
    };
    if setting.words == ["true", "false"] {
        argument.value_parser(PossibleValuesParser::new(setting.words))
    } else {
        // The help explains each word.
        argument.value_parser(OfSetting(setting)).hide_possible_values(true)
    }
}

/// Adds a hint to an error about a flag with an optional value, where the value follows without a `=`.
pub(crate) fn teach_value_of_flag(error: &mut clap::Error, arguments: &[String]) {
    let Some(ContextValue::String(unexpected)) = error.get(ContextKind::InvalidArg) else { return };
    let is_value = |setting: &Setting, word: &str| {
        !word.starts_with('-') && (word == unexpected || setting.words.contains(&word))
    };
    let takes_value = |pair: &&[String]| {
        let mut flags = SettingFlags::all().filter(|(_, flag)| flag.alone.is_some() && flag.name == pair[0]);
        flags.any(|(setting, _)| is_value(setting, &pair[1]))
    };
    if let Some([flag, value]) = arguments.windows(2).find(takes_value) {
        let tip = format!("a value of '{flag}' needs a '=' before it: '{flag}={value}'");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
}

/// A parser that checks the value of a flag by the rules of its setting.
#[derive(Clone, Copy)]
struct OfSetting(&'static Setting);

impl TypedValueParser for OfSetting {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        written: &OsStr,
    ) -> Result<String, clap::Error> {
        let key = self.0.key;
        let check = move |written: String| Settings::default().add(key, &written).map(|()| written);
        StringValueParser::new().try_map(check).parse_ref(command, argument, written)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let words = self.0.words;
        (!words.is_empty()).then(|| Box::new(words.iter().map(PossibleValue::new)) as _)
    }
}

/// Markdown text without the targets of its links.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some((before, behind)) = rest.split_once("](") {
        let (before, name) = before.rsplit_once('[').unwrap_or((before, ""));
        text.extend([before, name]);
        rest = behind.split_once(')').map_or("", |(_, rest)| rest);
    }
    text + rest
}

/// The merged settings, and the files that may hold settings, whether they exist or not.
pub(crate) struct MergedSettings {
    pub(crate) settings: Settings,
    pub(crate) files: Vec<PathBuf>,
    /// The file that a flag or a variable names.
    pub(crate) named: Option<PathBuf>,
}

impl Flags {
    /// Merges all settings. `home` is the user's home folder.
    ///
    /// The user's own file always counts. The flags, and the file that they name, come from a client's configuration,
    /// which may be in the project. A model may edit that, so it can only tighten what the user's own file says.
    pub(crate) fn merged(&self, home: Option<&Path>) -> anyhow::Result<MergedSettings> {
        let usual = usual_file(home);
        let named = self.config.clone().filter(|file| !file.as_os_str().is_empty());
        let mut said = self.of_files(usual.as_deref(), named.as_deref())?;
        let flags = self.settings.0.clone();
        let source = "the command line";
        let place = said.first().map(|(file, _)| file.clone());
        let place = place.or_else(|| usual.as_deref().map(shown));
        check_takes_nothing_back(source, &flags, place.as_deref().unwrap_or("your configuration file"))?;
        check_loosens_nothing(source, &flags, &said)?;
        said.push((source.to_owned(), flags));
        let said = said.into_iter().map(|(_, said)| said);
        let mut settings = said.reduce(|before, said| said.merged_over(before)).unwrap_or_default();
        for folder in settings.workspace.iter_mut() {
            *folder = in_full(folder, home)?;
        }
        let files = named.clone().into_iter().chain(usual.clone()).collect();
        // A client's configuration can set variables as well as flags, and $XDG_CONFIG_HOME also selects a file.
        let by_variable = || usual.filter(|file| Some(file) != home.map(file_in).as_ref() && file.exists());
        let named = if self.no_config { None } else { named.or_else(by_variable) };
        Ok(MergedSettings { settings, files, named })
    }

    /// The settings from the user's own file, then those from the file that a flag names.
    fn of_files(
        &self,
        usual: Option<&Path>,
        named: Option<&Path>,
    ) -> anyhow::Result<Vec<(String, Settings)>> {
        let own = usual.map(read).transpose()?.flatten();
        let own = usual.zip(own).map(|(file, own)| (shown(file), own));
        if self.no_config {
            if let Some((file, _)) = own {
                bail!(
                    "--no-config cannot be taken: {file} is there, and no flag takes back what it says, {WHY}. Leave \
                     --no-config away, or change that file"
                );
            }
            return Ok(Vec::new());
        }
        let Some(named) = named else { return Ok(own.into_iter().collect()) };
        let source = shown(named);
        let said = read(named)?.with_context(|| format!("there is no configuration file {source}"))?;
        // The flag may name the user's own file.
        let is_own = usual.map(without_links) == Some(without_links(named));
        ensure!(
            is_own || said.approve_in_app == Clients::default(),
            "{source}: approve_in_app cannot be taken: only ~/.config/emend/config.toml says where edits are approved, {WHY}"
        );
        let mut files: Vec<_> = own.filter(|_| !is_own).into_iter().collect();
        if let Some((own, _)) = files.first() {
            check_takes_nothing_back(&source, &said, own)?;
        }
        check_loosens_nothing(&source, &said, &files)?;
        files.push((source, said));
        Ok(files)
    }
}

/// The user's own file: `$XDG_CONFIG_HOME/emend/config.toml`, by default `~/.config/emend/config.toml`.
fn usual_file(home: Option<&Path>) -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    base.map(|base| base.join(FILE)).or_else(|| home.map(file_in))
}

/// The configuration file below this home folder.
fn file_in(home: &Path) -> PathBuf {
    home.join(".config").join(FILE)
}

/// The path of the file in a folder for configurations.
const FILE: &str = "emend/config.toml";

fn shown(file: &Path) -> String {
    file.display().to_string()
}

/// The reason in messages why only the file may loosen a setting.
const WHY: &str = "since a client's configuration can be edited by a model";

/// Refuses patterns that exclude something from another list or from the defaults. Only the file may have these.
fn check_takes_nothing_back(source: &str, said: &Settings, file: &str) -> anyhow::Result<()> {
    for (setting, patterns) in [
        ("forbidden_paths", &said.forbidden_paths),
        ("read_only", &said.read_only),
        ("approve", &said.approve),
    ] {
        if let Some(pattern) = patterns.iter().find(|pattern| pattern.starts_with('!')) {
            bail!(
                "{source}: '{pattern}' cannot be taken: only {file} takes something back, {WHY}. Put this line there: \
                 {setting} = [{pattern:?}]"
            );
        }
    }
    Ok(())
}

/// Refuses settings that are looser than in a file.
fn check_loosens_nothing(source: &str, said: &Settings, files: &[(String, Settings)]) -> anyhow::Result<()> {
    for (file, held) in files {
        if let Some((said, held)) = said.looser_than(held) {
            bail!(
                "{source}: {said} cannot be taken: {file} says {held}, which can only be made stricter elsewhere, {WHY}. If \
                 you mean it, put it there: {said}"
            );
        }
    }
    Ok(())
}

/// Reads the settings from a file; `None` if it does not exist.
pub(crate) fn read(file: &Path) -> anyhow::Result<Option<Settings>> {
    match std::fs::read_to_string(file) {
        Ok(text) => {
            let said = Settings::parse(&text).map_err(|wrong| anyhow!("{}, {wrong}", file.display()))?;
            Ok(Some(said))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", file.display())),
    }
}

/// The absolute path of a folder in a configuration file. `~` is the home folder. Relative paths are refused, since
/// they would depend on where the server is started.
fn in_full(written: &str, home: Option<&Path>) -> anyhow::Result<String> {
    let (name, path) = Folders::parts(written);
    let full = match (path.strip_prefix("~/"), home) {
        (Some(inside), Some(home)) => home.join(inside),
        _ => PathBuf::from(path),
    };
    ensure!(full.is_absolute(), "workspace: '{written}' must be an absolute path, or begin with ~/");
    let full = full.to_str().with_context(|| format!("workspace: '{written}' is not Unicode"))?;
    Ok(name.map_or_else(|| full.to_owned(), |name| format!("{name}={full}")))
}

/// A path without links, as far as it exists.
pub(crate) fn without_links(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (emend_workspace::canonical(ancestor), path.strip_prefix(ancestor)) {
            // Joining an empty path would add a slash, which a file must not have.
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_link_is_left_of_it() {
        for (markdown, text) in [
            ("no link [at all]", "no link [at all]"),
            ("[a](#b) and [c d](E.md)", "a and c d"),
            ("your [approval](#x), `[[y]]`", "your approval, `[[y]]`"),
        ] {
            assert_eq!(plain(markdown), text);
        }
    }

    #[test]
    fn a_folder_of_the_file_is_absolute_or_in_the_home_folder() {
        let home = Path::new("/home/ann");
        for (written, full) in [
            ("/srv/x", "/srv/x"),
            ("x=/srv/x", "x=/srv/x"),
            ("~/x", "/home/ann/x"),
            ("x=~/y=z", "x=/home/ann/y=z"),
            ("/srv/a=b", "/srv/a=b"),
        ] {
            assert_eq!(in_full(written, Some(home)).unwrap(), full);
        }
        for wrong in ["x", "./x", "name=x", "~", "~ann/x", ""] {
            assert!(in_full(wrong, Some(home)).is_err(), "{wrong}");
        }
        assert!(in_full("~/x", None).is_err());
    }
}
