//! Which servers there are: the known ones with what the settings say of them, and the settings' own.

use std::path::PathBuf;

use emend_process::search::Search;
use emend_threads::Mutex;
use serde_json::Value;

use crate::known::{self, KNOWN, Kind, Start};
use crate::requests;
use crate::settings::ServerSetting;

/// A server as it is to be used, whether it is there or not.
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) is_enabled: bool,
    /// The endings of its files, and what it calls their languages.
    pub(crate) extensions: Vec<(String, String)>,
    commands: Vec<Vec<String>>,
    options: Value,
    runs_project_code: bool,
    /// What was found when it was looked for.
    found: Mutex<Option<Found>>,
}

/// The program and its arguments, or why there is none.
pub(crate) type Found = Result<(PathBuf, Vec<String>), String>;

/// All that there are.
pub(crate) fn all(settings: &[ServerSetting]) -> Vec<Server> {
    let known = KNOWN.iter().map(|known| {
        let owned = |(ending, language): &(&str, &str)| ((*ending).to_owned(), (*language).to_owned());
        let command = |command: &&[&str]| command.iter().map(|word| (*word).to_owned()).collect();
        Server {
            name: known.name.to_owned(),
            kind: known.kind,
            is_enabled: true,
            extensions: known.extensions.iter().map(owned).collect(),
            commands: known.commands.iter().map(command).collect(),
            options: Value::Null,
            runs_project_code: false,
            found: Mutex::default(),
        }
    });
    let mut servers: Vec<Server> = known.collect();
    for setting in settings {
        let at = servers.iter().position(|server| server.name == setting.name).unwrap_or_else(|| {
            servers.push(Server::unknown(&setting.name));
            servers.len() - 1
        });
        servers[at].obey(setting);
    }
    servers
}

impl Server {
    fn unknown(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: Kind::Plain,
            is_enabled: true,
            extensions: Vec::new(),
            commands: Vec::new(),
            options: Value::Null,
            runs_project_code: false,
            found: Mutex::default(),
        }
    }

    fn obey(&mut self, setting: &ServerSetting) {
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
            requests::lay_over(&mut self.options, options);
        }
        self.runs_project_code |= setting.runs_project_code;
    }

    /// What it calls the language of a file that ends so; none where it is not for such files.
    pub(crate) fn language(&self, ending: &str) -> Option<&str> {
        self.extensions.iter().find(|(known, _)| known == ending).map(|(_, language)| language.as_str())
    }

    /// Its program, as it was found when it was last looked for.
    pub(crate) fn found(&self, search: &Search) -> Found {
        self.found.lock().get_or_insert_with(|| self.look(search)).clone()
    }

    /// Looks for its program anew.
    pub(crate) fn find(&self, search: &Search) -> Found {
        let found = self.look(search);
        *self.found.lock() = Some(found.clone());
        found
    }

    fn look(&self, search: &Search) -> Found {
        if let Some(why) = self.lacks() {
            return Err(why);
        }
        let mut reasons = Vec::new();
        for command in &self.commands {
            let Some((program, arguments)) = command.split_first() else { continue };
            let found = search.find(program).map_err(|why| why.to_string()).and_then(|program| {
                known::start(self.kind, &program, search, self.runs_project_code).map(|_| program)
            });
            match found {
                Ok(program) => return Ok((program, arguments.to_vec())),
                Err(why) => reasons.push(why),
            }
        }
        Err(reasons.join(", and "))
    }

    /// What the settings leave open of one that is not known, or have taken from one that is.
    pub(crate) fn lacks(&self) -> Option<String> {
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

    /// Why it must not be used in this root as it is now.
    pub(crate) fn objection(&self, root: &std::path::Path) -> Option<String> {
        known::objection(self.kind, root, self.runs_project_code)
    }

    /// What it is told when it starts.
    pub(crate) fn start(&self, program: &std::path::Path, search: &Search) -> Result<Start, String> {
        let mut start = known::start(self.kind, program, search, self.runs_project_code)?;
        if !self.options.is_null() {
            requests::lay_over(&mut start.options, &self.options);
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
        let servers = all(&[]);
        let pyright = servers.iter().find(|server| server.name == "pyright").expect("known");
        let why = pyright.find(&Search::new::<PathBuf>(Some("".into()), &[])).expect_err("there is none");
        assert!(why.contains("'pyright-langserver'") && why.contains("'basedpyright-langserver'"), "{why}");
    }

    #[test]
    fn one_that_is_not_known_needs_a_command_and_extensions() {
        let (command, extensions) = (Some(vec!["zls".to_owned()]), vec!["zig".to_owned()]);
        let lacks = |name: &str, command: &Option<Vec<String>>, extensions: &[String]| {
            let (command, extensions) = (command.clone(), extensions.to_vec());
            let setting =
                ServerSetting { name: name.into(), command, extensions, ..ServerSetting::default() };
            let servers = all(&[setting]);
            servers.iter().find(|server| server.name == name).expect("there").lacks()
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
        let servers = all(&[
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
        assert!(named("zls").found(&search).is_err());
        let start = named("pyright").start("/pyright".as_ref(), &search).expect("nothing is lacking");
        assert_eq!(start.options["a"], json!(1));
        assert!(start.options["python"].is_object());
    }
}
