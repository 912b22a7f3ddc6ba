//! Edits that language servers propose, for exactly the texts of the files that they change.
//!
//! A server answers for the texts that it has, which need not be those on the disk. So each file of its answer is read here
//! and opened in the server, which is then asked again, until two answers are the same and the second one was given for
//! these very texts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use emend_edit::Text;
use emend_edit::patch::PlaceChange;
use emend_lsp::{Answered, Asked, Question, ServerState, TextChange, WorkspaceEdit};
use emend_workspace::problem::{Kind, Problem};

use super::Call;
use super::places::places;
use crate::effects::Diagnostics as Servers;
use crate::messages;

/// How often a server is asked until its answers agree.
const ROUNDS: usize = 6;
/// How many bytes of texts are opened in a server for one question, besides those of its own answer.
const BYTES: usize = 32 * 1024 * 1024;

/// A file whose text a server has.
pub(super) struct Known {
    /// The name by which tools address it.
    pub(super) name: String,
    pub(super) text: Arc<Text>,
}

/// The files whose texts the servers have while they answer.
#[derive(Default)]
pub(super) struct KnownFiles {
    files: BTreeMap<PathBuf, Known>,
    bytes: usize,
}

/// An edit that a server has proposed, for these texts.
pub(super) struct Proposed {
    /// The servers that propose it.
    pub(super) servers: Vec<String>,
    pub(super) edit: WorkspaceEdit,
    pub(super) files: KnownFiles,
    /// Whether a server has said that it knows all of the project.
    pub(super) is_complete: bool,
    /// What the server does not see.
    pub(super) unseen: Option<&'static str>,
}

impl Known {
    /// Returns the text that the server has.
    pub(super) fn characters(&self) -> &str {
        self.text.known_characters().unwrap_or_default()
    }
}

impl KnownFiles {
    /// Adds a file; false if there is no room for it.
    pub(super) fn add(&mut self, path: PathBuf, known: Known) -> bool {
        let bytes = self.bytes + known.characters().len();
        if self.files.len() >= Question::TEXTS || bytes > BYTES && !self.files.is_empty() {
            return false;
        }
        self.bytes = bytes;
        self.files.insert(path, known);
        true
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Known> {
        self.files.get(path)
    }

    pub(super) fn by_name(&self, name: &str) -> Option<&Known> {
        self.files.values().find(|known| known.name == name)
    }
}

/// Asks the servers for an edit about the file at this path, which is among `files`. `None` if no server offers such edits.
pub(super) fn propose(
    call: &Call<'_>,
    servers: &Servers,
    path: &Path,
    mut files: KnownFiles,
    asked: &Asked,
    patience: Duration,
) -> Result<Option<Proposed>, Problem> {
    let deadline = Instant::now() + patience;
    let mut last: Option<WorkspaceEdit> = None;
    for _ in 0..ROUNDS {
        let text = |(path, known): (&PathBuf, &Known)| (path.clone(), known.characters().to_owned());
        let question = Question {
            path: path.to_owned(),
            texts: files.files.iter().map(text).collect(),
            asked: asked.clone(),
        };
        let answers = servers.propose(question, deadline);
        let Some((names, answer)) = agreed(&answers)? else { return Ok(None) };
        let unknown = unknown_files(call, answer.1, &files)?;
        let is_settled = unknown.is_empty() && last.as_ref() == Some(answer.1);
        let (Answered { is_complete, unseen, .. }, edit) = answer;
        if is_settled {
            let (is_complete, unseen) = (*is_complete, *unseen);
            return Ok(Some(Proposed { servers: names, edit: edit.clone(), files, is_complete, unseen }));
        }
        for (path, known) in unknown {
            if !files.add(path, known) {
                return Err(messages::server_edits::refused(messages::server_edits::TOO_MANY_FILES));
            }
        }
        last = Some(edit.clone());
    }
    Err(messages::server_edits::refused(messages::server_edits::UNSTEADY))
}

type Agreed<'a> = (Vec<String>, (&'a Answered, &'a WorkspaceEdit));

/// Returns the edit of all servers that offer one, or a refusal if they do not agree or none has answered.
fn agreed(answers: &[Answered]) -> Result<Option<Agreed<'_>>, Problem> {
    let proposed: Vec<(&Answered, &WorkspaceEdit)> =
        answers.iter().filter_map(|answer| Some((answer, answer.edit.as_ref()?))).collect();
    // Who offers no such edits has nothing to say here; who might have had one must be heard.
    let is_silent = |answer: &&Answered| {
        !matches!(answer.state, ServerState::Ready | ServerState::NotInstalled { .. } | ServerState::Disabled)
    };
    let silent: Vec<&Answered> = answers.iter().filter(is_silent).collect();
    match (&proposed[..], &silent[..]) {
        ([], []) => match answers.iter().any(|answer| answer.state == ServerState::Ready) {
            true => Ok(None),
            false => Err(messages::server_edits::unanswered(answers)),
        },
        (_, [_, ..]) => Err(messages::server_edits::unanswered(answers)),
        ([first, others @ ..], []) => match others.iter().find(|other| other.1 != first.1) {
            Some(other) => Err(messages::server_edits::disagree(&first.0.server, &other.0.server)),
            None => {
                let names = proposed.iter().map(|(answer, _)| answer.server.clone()).collect();
                Ok(Some((names, *first)))
            }
        },
    }
}

/// Reads the files of an edit whose texts the servers have not been sent.
fn unknown_files(
    call: &Call<'_>,
    edit: &WorkspaceEdit,
    files: &KnownFiles,
) -> Result<Vec<(PathBuf, Known)>, Problem> {
    let mut unknown = Vec::new();
    let mut out_of_reach = 0;
    let moved = edit.moves().iter().flat_map(|(from, to)| [from.as_path(), to.as_path()]);
    for path in moved {
        out_of_reach += usize::from(name_of(call, path).is_none());
    }
    for path in edit.files().filter(|path| files.get(path).is_none()) {
        match name_of(call, path) {
            Some(name) => unknown.push((path.to_owned(), read(call, &name)?)),
            None => out_of_reach += 1,
        }
    }
    match out_of_reach {
        0 => Ok(unknown),
        _ => Err(messages::server_edits::out_of_reach(out_of_reach)),
    }
}

/// Returns the name of a file that a server names, if a client may name it too.
pub(super) fn name_of(call: &Call<'_>, path: &Path) -> Option<String> {
    let admitted = call.workspace.roots().admit(path.to_str()?).ok()?;
    // A server that follows links may mean another file.
    (admitted.absolute() == path).then_some(admitted.name)
}

/// Reads a file whose text is sent to servers.
pub(super) fn read(call: &Call<'_>, name: &str) -> Result<Known, Problem> {
    let (name, snapshot) = call.workspace.files().read(name)?;
    if let Err(kind) = snapshot.text.known_characters() {
        return Err(Problem::new(kind).at(&name));
    }
    Ok(Known { name, text: snapshot.text })
}

impl Proposed {
    /// Returns the changes of each file, in the texts that the server had.
    pub(super) fn changes(&self) -> Result<Vec<(&Known, Vec<TextChange>)>, Problem> {
        let changes = |path: &Path| {
            let known = self.files.get(path)?;
            Some((known, self.edit.changes(path, known.characters())?))
        };
        let misplaced = || messages::server_edits::refused(messages::server_edits::MISPLACED);
        self.edit.files().map(|path| changes(path).ok_or_else(misplaced)).collect()
    }

    /// Returns the moves by names.
    pub(super) fn moves(&self, call: &Call<'_>) -> Result<BTreeMap<String, String>, Problem> {
        let names = |(from, to): &(PathBuf, PathBuf)| {
            let is_file = from.symlink_metadata().is_ok_and(|found| found.is_file());
            match (name_of(call, from), name_of(call, to)) {
                (Some(from), Some(to)) if is_file => Ok((from, to)),
                _ => Err(messages::server_edits::refused(messages::server_edits::MOVES_FOLDER)),
            }
        };
        self.edit.moves().iter().map(names).collect()
    }
}

/// Returns these changes as places of the file.
pub(super) fn as_places(known: &Known, changes: Vec<TextChange>) -> Vec<PlaceChange> {
    let start = known.text.body().start;
    places(known.characters(), start, changes.into_iter().map(|change| (change.range, change.new)))
}

/// Returns the servers, or why there are none for this file.
pub(super) fn servers<'a>(call: &Call<'a>, path: &Path, name: &str) -> Result<&'a Servers, Problem> {
    let servers = call.effects.diagnostics().filter(|_| call.workspace.roots().any(|terms| terms.notify_lsp));
    match servers {
        None => Err(messages::server_edits::refused(messages::server_edits::NOT_ASKED).at(name)),
        Some(servers) if !servers.is_known(path) => {
            Err(messages::server_edits::refused(messages::server_edits::NO_SERVER).at(name))
        }
        Some(servers) => Ok(servers),
    }
}

/// Makes a refusal of an argument.
pub(super) fn invalid(name: &str, message: String) -> Problem {
    Problem::new(Kind::InvalidArgument { name: name.into(), message })
}
