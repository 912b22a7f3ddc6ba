//! The record of what `emend init` put into a file of a client: its text before and after, each time. It is kept in the
//! state folder, so that `--remove` takes back exactly that.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use emend_workspace::edit::Version;
use emend_workspace::make_private;
use serde_json::{Value, json};

use crate::exit::Stop;

/// One change, from one text to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// The text before; `None` if there was no file.
    pub(super) before: Option<String>,
    pub(super) after: String,
    /// The copies that were left beside the file.
    pub(super) copies: Vec<PathBuf>,
    /// The folders that were made for the file, the outermost first.
    pub(super) folders: Vec<PathBuf>,
}

/// What was put into one file for one client, the oldest first.
#[derive(Clone)]
pub(super) struct Record {
    /// Where the record is kept; `None` if there is no state folder.
    path: Option<PathBuf>,
    file: PathBuf,
    pub(super) steps: Vec<Step>,
}

impl Record {
    pub(super) fn read(state: Option<&Path>, client: &str, file: &Path) -> Result<Self, Stop> {
        let name = Version::hash(file.as_os_str().as_encoded_bytes()).short();
        let path = state.map(|state| state.join("init").join(format!("{client}-{name}.json")));
        let text = match path.as_ref().map(fs::read_to_string) {
            Some(Ok(text)) => Some(text),
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => None,
        };
        let steps = match text {
            None => Vec::new(),
            Some(text) => steps(&text, file).ok_or_else(|| {
                let path = path.as_deref().unwrap_or(file).display().to_string();
                Stop::usage(format!(
                    "{path} is no record of 'emend init'. Nothing was changed. Move it away."
                ))
            })?,
        };
        Ok(Self { path, file: file.to_owned(), steps })
    }

    /// Adds a change. One that goes on from the last becomes one with it.
    pub(super) fn add(&mut self, step: Step) {
        match self.steps.last_mut() {
            Some(last) if step.before.as_ref() == Some(&last.after) => {
                last.after = step.after;
                last.copies.extend(step.copies);
            }
            _ => self.steps.push(step),
        }
    }

    /// This record without any change.
    pub(super) fn emptied(&self) -> Self {
        Self { steps: Vec::new(), ..self.clone() }
    }

    /// Writes the record down. One without any change is removed.
    pub(super) fn keep(&self) -> Result<(), Stop> {
        let Some(path) = &self.path else { return Ok(()) };
        if self.steps.is_empty() {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
                _ => Ok(()),
            };
        }
        let steps = self.steps.iter().map(|step| {
            json!({
                "before": step.before, "after": step.after, "copies": step.copies, "folders": step.folders,
            })
        });
        let record = json!({"file": self.file, "steps": steps.collect::<Vec<_>>()});
        let folder = path.parent().unwrap_or(path);
        let save = || {
            make_private(folder)?;
            // The texts may hold secrets: such a file can be read by this user alone.
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(record.to_string().as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(path).map_err(|error| error.error).map(drop)
        };
        Ok(save().with_context(|| format!("{} cannot be written", path.display()))?)
    }
}

fn steps(text: &str, file: &Path) -> Option<Vec<Step>> {
    let record: Value = serde_json::from_str(text).ok()?;
    if record.get("file") != Some(&json!(file)) {
        return None;
    }
    let paths = |step: &Value, name: &str| {
        let list = step.get(name)?.as_array()?;
        list.iter().map(|path| path.as_str().map(PathBuf::from)).collect::<Option<Vec<_>>>()
    };
    let step = |step: &Value| {
        Some(Step {
            before: match step.get("before")? {
                Value::Null => None,
                text => Some(text.as_str()?.to_owned()),
            },
            after: step.get("after")?.as_str()?.to_owned(),
            copies: paths(step, "copies")?,
            folders: paths(step, "folders")?,
        })
    };
    record.get("steps")?.as_array()?.iter().map(step).collect()
}
