//! `emend init`: adds Emend to a client's configuration, makes the client prefer it, and takes both back. It shows the
//! change first and keeps the old file beside the new one. It writes a file as any other edit, which is then in the
//! history.

pub(crate) mod claude_code;
pub(crate) mod clients;
pub(crate) mod entry;
mod file;
mod record;
mod removal;
mod rules;
mod set_up;
pub(crate) mod start;
pub(crate) mod system;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use self::clients::Client;
use self::file::{ClientFile, Written, remove_leftovers};
use self::record::{Record, Step};
use self::set_up::SetUp;
use self::system::Kind;
use crate::exit::{Ended, Exit, Stop};
use crate::output::{Output, OutputFlags};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The client.
    client: Client,

    /// The project folder; without it, the working folder.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Make the client use Emend's edit tools and not its own, as far as it can.
    #[arg(long, conflicts_with = "remove")]
    prefer: bool,

    /// Take back what this command put there, and nothing else.
    #[arg(long)]
    remove: bool,

    /// Write the configuration of all your projects. What has no configuration for one project gets this anyway.
    #[arg(long, conflicts_with = "project")]
    global: bool,

    /// Write the configuration of this project.
    #[arg(long)]
    project: bool,

    /// The system that the client runs on, if it is another: 'windows' inside of WSL.
    #[arg(long, value_name = "SYSTEM", requires = "home")]
    system: Option<Kind>,

    /// The home folder of the client's user, if it is another: /mnt/c/Users/NAME inside of WSL.
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,

    /// Show the change and write nothing.
    #[arg(long)]
    dry_run: bool,

    /// Do not ask; needed where nobody can be asked.
    #[arg(long, short)]
    yes: bool,

    #[command(flatten)]
    pub(crate) output: OutputFlags,

    /// Where the displaced file is kept.
    #[arg(long = "state-dir", value_name = "DIR", env = "EMEND_STATE_DIR", hide = true)]
    state: Option<PathBuf>,
}

const NAME: &str = "emend init";

/// What the command would do, and what the person should know besides.
struct Plan {
    changes: Vec<Change>,
    /// What is said where nothing has to change.
    idle: String,
    /// The folders that the entry names and that do not exist, with its file. We only report them.
    gone: Vec<(String, String)>,
    remarks: Vec<String>,
}

/// A change of one file.
struct Change {
    file: ClientFile,
    /// The new content; `None` deletes the file.
    content: Option<String>,
    /// What was put into the file before.
    record: Record,
}

pub(crate) fn run(arguments: &Arguments, output: Output) -> Ended {
    let set_up = SetUp::new(arguments)?;
    let plan = if arguments.remove { set_up.removal()? } else { set_up.addition(arguments.prefer)? };
    let state = set_up.state.as_deref();
    let finish = |outcome: &str, files: &[Value], said: &str| {
        plan.finish(json!({"client": set_up.client.name(), "state": outcome, "files": files}), said, output)
    };
    if plan.changes.is_empty() {
        let outcome = if arguments.remove { "absent" } else { "present" };
        return finish(outcome, &[], &format!("{} Nothing was changed.\n", plan.idle));
    }
    let mut files = Vec::new();
    for change in &plan.changes {
        let diff = change.file.preview(change.content.as_deref(), state)?.diff();
        if !output.json {
            let heading = change.heading(arguments.yes && !arguments.dry_run);
            let gap = if files.is_empty() { "" } else { "\n" };
            output.show(&format!("{gap}{}\n\n{}", output.plain(&heading), output.diff(&diff)))?;
        }
        files.push(json!({"file": change.file.path, "diff": diff}));
    }
    if arguments.dry_run {
        return finish("planned", &files, "\nNothing was written (--dry-run).\n");
    }
    if !arguments.yes {
        if !output.can_ask() {
            return Err(Stop::usage("say --yes to write this, or --dry-run to see it; nothing was changed"));
        }
        if !output.ask("\nWrite this?")? {
            output.show("Nothing was changed.\n")?;
            return Ok(Exit::Refused);
        }
    }
    let mut said = String::from("\nWritten. ");
    for (written, file) in write_all(&plan.changes, !arguments.remove, state)?.iter().zip(&mut files) {
        file["edit"] = json!(written.made.edit());
        if let Some(copy) = &written.copy {
            file["backup"] = json!(copy);
            said.push_str(&format!("The old file is kept as {}. ", copy.display()));
        }
    }
    if !arguments.remove && state.is_some() && plan.changes.iter().any(|change| change.file.text.is_some()) {
        said.push_str("--remove brings the old text back. ");
    }
    said.push_str(match arguments.remove {
        true => "Restart the client, so that it ends Emend.\n",
        false => "Restart the client, so that it starts Emend.\n",
    });
    finish(if arguments.remove { "removed" } else { "written" }, &files, &said)
}

/// Writes all of the files, or none.
fn write_all(changes: &[Change], is_addition: bool, state: Option<&Path>) -> Result<Vec<Written>, Stop> {
    let mut done: Vec<Written> = Vec::new();
    for change in changes {
        match change.write(is_addition, state) {
            Ok(written) => done.push(written),
            Err(stop) => {
                for (change, written) in changes.iter().zip(&done).rev() {
                    change.file.undo(written, state)?;
                    change.record.keep()?;
                }
                return Err(stop);
            }
        }
    }
    // The folders that were made last may be in those that were made first.
    changes.iter().rev().filter(|_| !is_addition).for_each(Change::remove_leftovers);
    Ok(done)
}

impl Plan {
    /// Reports the result, and what the person should know.
    fn finish(&self, mut document: Value, said: &str, output: Output) -> Ended {
        if output.json {
            if !self.remarks.is_empty() {
                document["remarks"] = json!(self.remarks);
            }
            if !self.gone.is_empty() {
                document["gone"] = self.gone.iter().map(|(folder, _)| folder.as_str()).collect();
            }
            output.document(&document)?;
            return Ok(Exit::Done);
        }
        output.show(&output.plain(said))?;
        for (folder, file) in &self.gone {
            let said = format!("Its arguments name {folder}, which is not there: take it out of {file}.\n");
            output.show(&output.plain(&said))?;
        }
        for remark in &self.remarks {
            output.show(&output.plain(&format!("\n{remark}\n")))?;
        }
        Ok(Exit::Done)
    }
}

impl Change {
    fn heading(&self, is_certain: bool) -> String {
        let done = match (&self.file.text, &self.content) {
            (None, _) => "created",
            (_, None) => "deleted",
            _ => "changed",
        };
        format!("{} {} {done}:", self.file.shown(), if is_certain { "is" } else { "would be" })
    }

    fn write(&self, is_addition: bool, state: Option<&Path>) -> Result<Written, Stop> {
        let added = self.content.as_deref().filter(|_| is_addition);
        // What is written must be known to `--remove`, so the record comes first.
        if let Some(after) = added {
            self.record_addition(after, None)?;
        }
        // The record has the old text. Only where none can be kept, a copy beside the file does.
        let keeps_copy = is_addition && state.is_none();
        let written = match self.file.write(self.content.as_deref(), keeps_copy, state) {
            Ok(written) => written,
            Err(stop) => {
                self.record.keep()?;
                return Err(stop);
            }
        };
        let recorded = match added {
            Some(after) => self.record_addition(after, Some(&written)),
            None => self.record.emptied().keep(),
        };
        if let Err(stop) = recorded {
            self.file.undo(&written, state)?;
            self.record.keep()?;
            return Err(stop);
        }
        Ok(written)
    }

    /// Keeps the record of this text, and of what was made beside the file when it was written.
    fn record_addition(&self, after: &str, written: Option<&Written>) -> Result<(), Stop> {
        let mut record = self.record.clone();
        record.add(Step {
            before: self.file.text.clone(),
            after: after.to_owned(),
            copies: written.iter().filter_map(|written| written.copy.clone()).collect(),
            folders: written.map(|written| written.folders.clone()).unwrap_or_default(),
        });
        record.keep()
    }

    /// Removes what was made beside the file: the folders if they are empty, and the copies unless a person's changes
    /// may be in them.
    fn remove_leftovers(&self) {
        let is_untouched =
            matches!(&self.record.steps[..], [step] if Some(&step.after) == self.file.text.as_ref());
        for step in self.record.steps.iter().rev() {
            let copies = step.copies.iter().filter(|_| is_untouched);
            remove_leftovers(copies.map(PathBuf::as_path), &step.folders);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn where_one_file_cannot_be_written_none_is() {
        let folder = tempfile::tempdir().unwrap();
        let (root, state) = (folder.path().join("root"), folder.path().join("state"));
        fs::create_dir(&root).unwrap();
        let change = |name: &str, text: &str| {
            let path = root.join(name);
            fs::write(&path, "one\n").unwrap();
            let record = Record::read(Some(&state), "client", &path).unwrap();
            let file = ClientFile { path, text: Some(text.into()) };
            Change { file, content: Some("two\n".into()), record }
        };
        // The second has changed since it was read.
        let changes = [change("a", "one\n"), change("b", "none\n")];
        assert!(write_all(&changes, true, Some(&state)).is_err());
        let texts = ["a", "b"].map(|name| fs::read_to_string(root.join(name)).unwrap());
        assert_eq!(texts, ["one\n", "one\n"]);
        assert_eq!(fs::read_dir(&root).unwrap().count(), 2, "no copy is left");
        assert_eq!(fs::read_dir(state.join("init")).unwrap().count(), 0, "and no record");
        // Neither does a removal stop half-way: what it took out first is put back.
        let removal = [change("a", "one\n"), change("b", "none\n")];
        assert!(write_all(&removal, false, Some(&state)).is_err());
        assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "one\n");
        // A process that ends before the file is written leaves the record, and the next one goes on from there.
        changes[0].record_addition("two\n", None).unwrap();
        assert_eq!(Record::read(Some(&state), "client", &root.join("a")).unwrap().steps.len(), 1);
        assert!(write_all(&changes[..1], true, Some(&state)).is_ok());
        assert_eq!(Record::read(Some(&state), "client", &root.join("a")).unwrap().steps[0].after, "two\n");
    }
}
