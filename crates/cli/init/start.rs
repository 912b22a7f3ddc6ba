//! The command in a client's entry that starts Emend: what a new entry has, and what an old one lacks. Flags, variables
//! and further folders that the user has written stay. An entry that is not understood stays unchanged.

use std::path::{Path, PathBuf};

use emend_workspace::RootSpec;
use serde_json::{Value, json};

use super::clients::Shape;
use super::entry::Entry;
use crate::program::{self, Naming};
use crate::served;

/// What an entry has to say.
pub(crate) struct Start {
    /// The program to start.
    pub(crate) command: String,
    /// The arguments that stand before Emend's own: where another program starts it.
    pub(crate) before: Vec<String>,
    /// Whether the client finds the program by its name.
    pub(crate) naming: Naming,
    /// How the client wants the command written.
    pub(crate) shape: Shape,
    /// The type of the transport, if the client wants one.
    pub(crate) kind: Option<&'static str>,
    /// The flags that this client needs.
    pub(crate) flags: &'static [&'static str],
    /// The folder to serve, as this client's configuration names it.
    pub(crate) folder: String,
    /// The project of a project's file; the client starts the server there.
    pub(crate) project: Option<PathBuf>,
    /// Whether the server serves the folder in which the client works unless the arguments name others.
    pub(crate) follows: bool,
}

impl Start {
    /// The fields of a new entry.
    pub(crate) fn entry(&self) -> Entry {
        self.fields(&self.command, &self.args())
    }

    /// Emend's own arguments in a new entry.
    fn args(&self) -> Vec<String> {
        let folder = ["--workspace", &*self.folder].into_iter().filter(|_| !self.follows);
        let all = std::iter::once("serve").chain(self.flags.iter().copied()).chain(folder);
        all.map(str::to_owned).collect()
    }

    /// All arguments of a new entry.
    pub(crate) fn line(&self) -> Vec<String> {
        self.before.iter().cloned().chain(self.args()).collect()
    }

    /// The line by which a shell runs our hook.
    pub(crate) fn hook(&self) -> String {
        super::entry::hook_command(std::iter::once(&self.command).chain(&self.before))
    }

    /// The fields that an old entry needs, with its own values where they are right. The error says why it is not
    /// understood.
    pub(crate) fn mended(&self, there: &Value) -> Result<Entry, String> {
        let fields = there.as_object().ok_or("it is no object")?;
        if let Some(address) = ["url", "httpUrl", "serverUrl"].iter().find(|name| fields.contains_key(**name))
        {
            return Err(format!("it has '{address}', and so speaks to a server that is started elsewhere"));
        }
        let (command, written) = self.written(there)?;
        if !self.before.is_empty() {
            // What stood before Emend's own arguments is written anew.
            let own = written.iter().position(|argument| argument == "serve");
            let written = own.map(|own| written[own..].to_vec()).unwrap_or_default();
            return Ok(self.fields(&self.command, &self.completed(written)?));
        }
        let found = command
            .as_deref()
            .filter(|command| self.naming == Naming::Short || Path::new(command).is_absolute());
        let is_ours = found.and_then(program::meant_by).is_some_and(|program| program::is_own(&program));
        let command = command.as_deref().filter(|_| is_ours).unwrap_or(&self.command);
        Ok(self.fields(command, &self.completed(written)?))
    }

    /// The program and the arguments of an old entry.
    fn written(&self, there: &Value) -> Result<(Option<String>, Vec<String>), String> {
        let command = there.get("command");
        match self.shape {
            Shape::ProgramAndArgs => {
                let command = command
                    .map(|command| command.as_str().map(str::to_owned).ok_or("its command is no text"))
                    .transpose()?;
                let args = there.get("args").map_or(Some(Vec::new()), texts);
                Ok((command, args.ok_or("its args are no list of texts")?))
            }
            Shape::OneList => {
                let list =
                    command.map_or(Some(Vec::new()), texts).ok_or("its command is no list of texts")?;
                let mut list = list.into_iter();
                Ok((list.next(), list.collect()))
            }
        }
    }

    fn fields(&self, command: &str, args: &[String]) -> Entry {
        let kind = self.kind.map(|kind| ("type", json!(kind)));
        let args: Vec<&String> = self.before.iter().chain(args).collect();
        let line: Entry = match self.shape {
            Shape::ProgramAndArgs => vec![("command", json!(command)), ("args", json!(args))],
            Shape::OneList => {
                let list: Vec<&str> =
                    std::iter::once(command).chain(args.iter().map(|argument| argument.as_str())).collect();
                vec![("command", json!(list))]
            }
        };
        kind.into_iter().chain(line).collect()
    }

    /// These arguments, with the client's flags and the folder added unless they are there already.
    fn completed(&self, mut args: Vec<String>) -> Result<Vec<String>, String> {
        if args.is_empty() {
            args.push("serve".into());
        }
        if let Some(flag) = self.flags.first()
            && !args.iter().any(|argument| argument.starts_with(flag))
        {
            let own = args.iter().position(|argument| argument == "serve").map_or(0, |serve| serve + 1);
            args.splice(own..own, self.flags.iter().map(|flag| (*flag).to_owned()));
        }
        let serves = |args: &[String]| {
            let folders =
                served(args).map_err(|why| format!("its args are no command line of emend ({why})"))?;
            let is_followed = self.follows && folders.is_empty();
            Ok::<_, String>(is_followed || folders.iter().any(|folder| self.is_it(folder)))
        };
        if serves(&args)? {
            return Ok(args);
        }
        args.extend(["--workspace".into(), self.folder.clone()]);
        match serves(&args)? {
            true => Ok(args),
            false => Err("no folder can be added to its args".into()),
        }
    }

    /// Whether this is the folder, compared as written and without links.
    fn is_it(&self, written: &str) -> bool {
        let path = RootSpec::parse(written).path;
        let (path, wanted) = match &self.project {
            Some(project) => (project.join(path), project.join(&self.folder)),
            None => (path, PathBuf::from(&self.folder)),
        };
        let reached = |path: &Path| path.canonicalize().ok().filter(|_| path.is_absolute());
        path == wanted || reached(&path).is_some_and(|path| Some(path) == self.reached_folder(&wanted))
    }

    /// The real path of the folder. In a project's file it is the project, which may be written as a variable of the
    /// client.
    fn reached_folder(&self, wanted: &Path) -> Option<PathBuf> {
        match &self.project {
            Some(project) => project.canonicalize().ok(),
            None => wanted.canonicalize().ok().filter(|_| wanted.is_absolute()),
        }
    }
}

/// All folders that an entry has the server open, and those of them that do not exist. In a project's file, paths are
/// relative to the project. We cannot check a path with a client's variable.
pub(crate) fn folders(entry: &Value, project: Option<&Path>) -> (Vec<String>, Vec<String>) {
    let folders = arguments(entry).and_then(|args| served(&args).ok()).unwrap_or_default();
    let is_gone = |written: &&String| {
        let path = RootSpec::parse(written).path;
        let path = project.map_or(path.clone(), |project| project.join(path));
        path.is_absolute() && !written.contains("${") && !path.is_dir()
    };
    let gone = folders.iter().filter(is_gone).cloned().collect();
    (folders, gone)
}

/// The arguments of an entry, in either shape.
pub(crate) fn arguments(entry: &Value) -> Option<Vec<String>> {
    match entry.get("command") {
        Some(list @ Value::Array(_)) => texts(list).map(|list| list.into_iter().skip(1).collect()),
        _ => entry.get("args").and_then(texts),
    }
}

/// The program of an entry, in either shape.
pub(crate) fn program(entry: &Value) -> Option<&str> {
    let command = entry.get("command")?;
    command.as_array().map_or(Some(command), |list| list.first())?.as_str()
}

/// The strings of a list; `None` if it holds anything else.
fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Start {
        Start {
            command: "/bin/emend".into(),
            before: Vec::new(),
            naming: Naming::Short,
            shape: Shape::ProgramAndArgs,
            kind: None,
            flags: &[],
            folder: "/srv/x".into(),
            project: None,
            follows: false,
        }
    }

    #[track_caller]
    fn args(there: &Value) -> Result<Value, String> {
        let fields = start().mended(&json!({"command": "old", "args": there}))?;
        assert_eq!(fields[0], ("command", json!("/bin/emend")));
        Ok(fields[1].1.clone())
    }

    #[test]
    fn a_folder_is_added_behind_what_a_person_wrote() {
        for (there, mended) in [
            (json!([]), json!(["serve", "--workspace", "/srv/x"])),
            (json!(["serve"]), json!(["serve", "--workspace", "/srv/x"])),
            (
                json!(["serve", "--workspace", "/srv/y", "--mode", "ask"]),
                json!(["serve", "--workspace", "/srv/y", "--mode", "ask", "--workspace", "/srv/x"]),
            ),
        ] {
            assert_eq!(args(&there), Ok(mended));
        }
        for there in [
            json!(["serve", "--workspace", "/srv/y", "/srv/x", "--forbid", "secrets/"]),
            json!(["serve", "--workspace=/srv/x/"]),
            json!(["serve", "--require-read", "--workspace", "x=/srv/x", "--log", "debug"]),
        ] {
            assert_eq!(args(&there), Ok(there));
        }
    }

    #[test]
    fn the_flags_of_a_client_are_added_unless_a_person_has_set_them() {
        let start = Start { flags: &["--answers-as", "text"], follows: true, ..start() };
        let whole = json!(["serve", "--answers-as", "text"]);
        assert_eq!(start.entry()[1], ("args", whole.clone()));
        for (there, mended) in [
            (json!(["serve"]), whole),
            (json!(["serve", "--mode", "ask"]), json!(["serve", "--answers-as", "text", "--mode", "ask"])),
            (json!(["serve", "--answers-as=both"]), json!(["serve", "--answers-as=both"])),
        ] {
            assert_eq!(start.mended(&json!({"command": "old", "args": there})).unwrap()[1].1, mended);
        }
    }

    #[test]
    fn what_starts_emend_stands_before_its_own_arguments() {
        let before = ["--exec", "/bin/emend"].map(str::to_owned).to_vec();
        let start = Start { command: "wsl.exe".into(), before, ..start() };
        let whole = json!(["--exec", "/bin/emend", "serve", "--workspace", "/srv/x"]);
        assert_eq!(start.entry(), [("command", json!("wsl.exe")), ("args", whole.clone())]);
        for (there, mended) in [
            (json!([]), whole.clone()),
            (whole.clone(), whole),
            (
                json!(["-e", "/old/emend", "serve", "--workspace", "/srv/x", "--mode", "ask"]),
                json!(["--exec", "/bin/emend", "serve", "--workspace", "/srv/x", "--mode", "ask"]),
            ),
        ] {
            let entry = start.mended(&json!({"command": "wsl", "args": there})).unwrap();
            assert_eq!(entry, [("command", json!("wsl.exe")), ("args", mended)]);
        }
    }

    #[test]
    fn where_the_server_follows_the_client_no_folder_is_named_unless_others_are() {
        let start = Start { follows: true, ..start() };
        assert_eq!(start.entry()[1], ("args", json!(["serve"])));
        for (there, mended) in [
            (json!([]), json!(["serve"])),
            (json!(["serve", "--mode", "ask"]), json!(["serve", "--mode", "ask"])),
            (
                json!(["serve", "--workspace", "/srv/y"]),
                json!(["serve", "--workspace", "/srv/y", "--workspace", "/srv/x"]),
            ),
        ] {
            assert_eq!(start.mended(&json!({"command": "old", "args": there})).unwrap()[1].1, mended);
        }
    }

    #[test]
    fn what_is_not_understood_is_left_to_a_person() {
        for there in [
            json!("serve"),
            json!(["serve", 1]),
            json!(["run", "emend", "serve"]),
            json!(["--log", "debug", "serve"]),
            json!(["serve", "--modus", "ask"]),
            json!(["serve", "--mode"]),
            json!(["serve", "--help"]),
        ] {
            assert!(args(&there).is_err(), "{there}");
        }
        for there in [json!("emend"), json!({"url": "http://x/mcp"}), json!({"command": {"path": "emend"}})] {
            assert!(start().mended(&there).is_err(), "{there}");
        }
    }
}
