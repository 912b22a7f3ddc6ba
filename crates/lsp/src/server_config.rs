//! The configured servers: the known ones as the settings change them, and those that the settings add.

use std::path::PathBuf;

use emend_process::search::Search;
use emend_threads::Mutex;
use serde_json::Value;

use crate::known::{self, Dialect, KNOWN, Launch};
use crate::requests;
use crate::settings::ServerSetting;

/// How a server is to be run, whether its program is installed or not.
pub(crate) struct ServerConfig {
    pub(crate) name: String,
    pub(crate) dialect: Dialect,
    pub(crate) is_enabled: bool,
    /// The extensions of its files, each with its LSP language identifier.
    pub(crate) extensions: Vec<(String, String)>,
    commands: Vec<Vec<String>>,
    options: Value,
    runs_project_code: bool,
    /// The result of the last search for the program.
    last_search: Mutex<Option<CommandLine>>,
}

/// The program and its arguments, or why there is none.
pub(crate) type CommandLine = Result<(PathBuf, Vec<String>), String>;

/// Returns all servers: the known ones first, then those that the settings add.
pub(crate) fn configured_servers(settings: &[ServerSetting]) -> Vec<ServerConfig> {
    let known = KNOWN.iter().map(|known| {
        let owned = |(ending, language): &(&str, &str)| ((*ending).to_owned(), (*language).to_owned());
        let command = |command: &&[&str]| command.iter().map(|word| (*word).to_owned()).collect();
        ServerConfig {
            name: known.name.to_owned(),
            dialect: known.dialect,
            is_enabled: true,
            extensions: known.extensions.iter().map(owned).collect(),
            commands: known.commands.iter().map(command).collect(),
            options: Value::Null,
            runs_project_code: false,
            last_search: Mutex::default(),
        }
    });
    let mut servers: Vec<ServerConfig> = known.collect();
    for setting in settings {
        let at = servers.iter().position(|server| server.name == setting.name).unwrap_or_else(|| {
            servers.push(ServerConfig::custom(&setting.name));
            servers.len() - 1
        });
        servers[at].apply_setting(setting);
    }
    servers
}

impl ServerConfig {
    fn custom(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            dialect: Dialect::Plain,
            is_enabled: true,
            extensions: Vec::new(),
            commands: Vec::new(),
            options: Value::Null,
            runs_project_code: false,
            last_search: Mutex::default(),
        }
    }

    fn apply_setting(&mut self, setting: &ServerSetting) {
        self.is_enabled = setting.enabled.unwrap_or(self.is_enabled);
        if let Some(command) = &setting.command {
            self.commands = vec![command.clone()];
        }
        if !setting.extensions.is_empty() {
            let language = |ending: &str| {
                let known = self.extensions.iter().find(|(known, _)| known == ending);
                known.map_or_else(|| ending.to_owned(), |(_, language)| language.clone())
            };
            let plain = |ending: &String| ending.trim_start_matches('.').to_owned();
            let endings = setting.extensions.iter().map(plain);
            self.extensions = endings.map(|ending| (ending.clone(), language(&ending))).collect();
        }
        if let Some(language) = &setting.language {
            self.extensions.iter_mut().for_each(|extension| extension.1.clone_from(language));
        }
        if let Some(options) = &setting.options {
            requests::merge_json(&mut self.options, options);
        }
        self.runs_project_code |= setting.runs_project_code;
    }

    /// Returns the LSP language identifier of files with this extension, or `None` if the server does not handle them.
    pub(crate) fn language(&self, ending: &str) -> Option<&str> {
        self.extensions.iter().find(|(known, _)| known == ending).map(|(_, language)| language.as_str())
    }

    /// Returns the command as the last search found it; the first call searches.
    pub(crate) fn last_command(&self, search: &Search) -> CommandLine {
        self.last_search.lock().get_or_insert_with(|| self.search_command(search)).clone()
    }

    /// Searches for the program again and returns its command.
    pub(crate) fn find_command(&self, search: &Search) -> CommandLine {
        let found = self.search_command(search);
        *self.last_search.lock() = Some(found.clone());
        found
    }

    fn search_command(&self, search: &Search) -> CommandLine {
        if let Some(why) = self.misconfiguration() {
            return Err(why);
        }
        let mut reasons = Vec::new();
        for command in &self.commands {
            let Some((program, arguments)) = command.split_first() else { continue };
            let found = search.find(program).map_err(|why| why.to_string()).and_then(|program| {
                known::launch(self.dialect, &program, search, self.runs_project_code).map(|_| program)
            });
            match found {
                Ok(program) => return Ok((program, arguments.to_vec())),
                Err(why) => reasons.push(why),
            }
        }
        Err(reasons.join(", and "))
    }

    /// Returns what the settings of this server lack, if anything.
    pub(crate) fn misconfiguration(&self) -> Option<String> {
        let has_command = self.commands.iter().any(|command| !command.is_empty());
        if has_command && !self.extensions.is_empty() {
            return None;
        }
        if KNOWN.iter().any(|known| known.name == self.name) {
            return Some("its command is empty".to_owned());
        }
        let known: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
        Some(format!(
            "it is none of the known servers ({}); one of your own needs command and extensions",
            known.join(", ")
        ))
    }

    /// Returns why the server must not be used in this root as it is now, if so.
    pub(crate) fn objection(&self, root: &std::path::Path) -> Option<String> {
        known::objection(self.dialect, root, self.runs_project_code)
    }

    /// Returns what the server does not see, because it may not run programs of the workspace.
    pub(crate) fn unseen(&self) -> Option<&'static str> {
        (self.dialect == Dialect::RustAnalyzer && !self.runs_project_code)
            .then_some("what build scripts and procedural macros make")
    }

    /// Returns the options and the environment to launch the server with.
    pub(crate) fn launch(&self, program: &std::path::Path, search: &Search) -> Result<Launch, String> {
        let mut start = known::launch(self.dialect, program, search, self.runs_project_code)?;
        if !self.options.is_null() {
            requests::merge_json(&mut start.options, &self.options);
        }
        Ok(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_program_that_is_missing_is_told_by_each_of_its_names() {
        let servers = configured_servers(&[]);
        let pyright = servers.iter().find(|server| server.name == "pyright").expect("known");
        let why =
            pyright.find_command(&Search::new::<PathBuf>(Some("".into()), &[])).expect_err("there is none");
        assert!(why.contains("'pyright-langserver'") && why.contains("'basedpyright-langserver'"), "{why}");
    }

    #[test]
    fn one_that_is_not_known_needs_a_command_and_extensions() {
        let (command, extensions) = (Some(vec!["zls".to_owned()]), vec!["zig".to_owned()]);
        let lacks = |name: &str, command: &Option<Vec<String>>, extensions: &[String]| {
            let (command, extensions) = (command.clone(), extensions.to_vec());
            let setting =
                ServerSetting { name: name.into(), command, extensions, ..ServerSetting::default() };
            let servers = configured_servers(&[setting]);
            servers.iter().find(|server| server.name == name).expect("there").misconfiguration()
        };
        assert_eq!(lacks("zls", &command, &extensions), None);
        assert_eq!(lacks("pyright", &None, &[]), None);
        for (command, extensions) in [(&None, &extensions[..]), (&command, &[]), (&None, &[])] {
            let why = lacks("pyrigth", command, extensions).expect("it is of no use");
            assert!(why.contains("none of the known servers (rust-analyzer, pyright, "), "{why}");
        }
        assert!(lacks("gopls", &Some(Vec::new()), &[]).is_some());
    }

    #[test]
    fn settings_change_known_servers_and_add_others() {
        let setting = |name: &str| ServerSetting { name: name.into(), ..ServerSetting::default() };
        let servers = configured_servers(&[
            ServerSetting { enabled: Some(false), ..setting("gopls") },
            ServerSetting {
                options: Some(json!({"a": 1})),
                extensions: vec!["py".into()],
                ..setting("pyright")
            },
            ServerSetting {
                extensions: vec![".zig".into()],
                command: Some(vec!["zls".into()]),
                ..setting("zls")
            },
        ]);
        let named = |name: &str| servers.iter().find(|server| server.name == name).expect("there");
        assert!(!named("gopls").is_enabled && named("clangd").is_enabled);
        assert_eq!(named("pyright").language("py"), Some("python"));
        assert_eq!(named("pyright").language("pyi"), None);
        assert_eq!(named("zls").language("zig"), Some("zig"));
        let search = Search::new::<PathBuf>(Some("".into()), &[]);
        assert!(named("zls").last_command(&search).is_err());
        let start = named("pyright").launch("/pyright".as_ref(), &search).expect("nothing is lacking");
        assert_eq!(start.options["a"], json!(1));
        assert!(start.options["python"].is_object());
    }
}
