//! What language servers answer, for exactly the texts of the files that they name.
//!
//! A server answers for the texts that it has, which need not be those on the disk. So each file of its answer is read here
//! and opened in the server, which is then asked again, until two answers are the same and the second one was given for
//! these very texts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use emend_edit::Text;
use emend_edit::patch::PlaceChange;
use emend_lsp::{Answered, Asked, Fix, Place, Question, ServerState, TextChange, WorkspaceEdit};
use emend_workspace::problem::{Kind, Problem};

use super::Call;
use super::places::places;
use crate::effects::Diagnostics as Servers;
use crate::messages::server_edits;

/// How often a server is asked until its answers agree.
const ROUNDS: usize = 6;
/// How many bytes of texts are opened in a server for one question, besides those of its own answer.
const BYTES: usize = 32 * 1024 * 1024;

/// A file whose text a server has.
#[derive(Clone)]
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

/// A question about a file, and the time that its answer may take.
pub(super) struct Inquiry<'a, 'c> {
    pub(super) call: &'a Call<'c>,
    pub(super) servers: &'a Servers,
    /// The file, which is among those whose texts the servers have.
    pub(super) path: &'a Path,
    pub(super) patience: Duration,
}

/// What the servers for a file say.
pub(super) struct Heard<T> {
    /// What each says that has answered, with its name.
    pub(super) said: Vec<(String, T)>,
    /// Those that have not answered, though they might have had something to say.
    pub(super) silent: Vec<Answered>,
    /// Whether a server has said that it knows all of the project.
    pub(super) is_complete: bool,
    /// What a server does not see.
    pub(super) unseen: Option<&'static str>,
}

/// Lists that servers have given, and the files whose texts they had.
type Answers<T> = (Heard<Vec<T>>, KnownFiles);

impl<T> Heard<T> {
    /// Takes what servers have answered; `None` if those that could do not offer to answer such questions.
    fn new(answers: Vec<Answered>, read: impl Fn(&Answered) -> Option<T>) -> Result<Option<Self>, Problem> {
        let mut heard = Self { said: Vec::new(), silent: Vec::new(), is_complete: false, unseen: None };
        let is_ready = answers.iter().any(|answer| answer.state == ServerState::Ready);
        let all = answers.clone();
        for answer in answers {
            if let Some(said) = read(&answer) {
                heard.is_complete |= answer.is_complete;
                heard.unseen = heard.unseen.or(answer.unseen);
                heard.said.push((answer.server, said));
            } else if !matches!(
                answer.state,
                ServerState::Ready | ServerState::NotInstalled { .. } | ServerState::Disabled
            ) {
                heard.silent.push(answer);
            }
        }
        match (heard.said.is_empty(), heard.silent.is_empty()) {
            (false, _) => Ok(Some(heard)),
            (true, true) if is_ready => Ok(None),
            (true, _) => Err(server_edits::unanswered(&all)),
        }
    }

    /// Returns the names of those that have answered.
    pub(super) fn names(&self) -> Vec<String> {
        self.said.iter().map(|(name, _)| name.clone()).collect()
    }
}

impl Inquiry<'_, '_> {
    /// Asks for an edit, on which all servers must agree. `None` if none offers such edits.
    pub(super) fn edit(&self, files: KnownFiles, asked: &Asked) -> Result<Option<Proposed>, Problem> {
        let listen = |answers| {
            let heard = Heard::new(answers, |answer| answer.edit().cloned())?;
            let Some(heard) = heard else { return Ok(None) };
            if !heard.silent.is_empty() {
                return Err(server_edits::unanswered(&heard.silent));
            }
            if let [(one, first), others @ ..] = &heard.said[..]
                && let Some((other, _)) = others.iter().find(|(_, edit)| edit != first)
            {
                return Err(server_edits::disagree(one, other));
            }
            Ok(Some(heard))
        };
        let unknown = |heard: &Heard<WorkspaceEdit>, files: &KnownFiles| {
            let first = heard.said.iter().take(1);
            first.map(|(_, edit)| unknown_files(self.call, edit, files)).next().unwrap_or(Ok(Vec::new()))
        };
        let settled = self.settled(files, asked, server_edits::TOO_MANY_FILES, listen, unknown)?;
        let Some((heard, files)) = settled else { return Ok(None) };
        let Heard { is_complete, unseen, .. } = heard;
        let servers = heard.names();
        let edit = heard.said.into_iter().map(|(_, edit)| edit).next();
        Ok(edit.map(|edit| Proposed { servers, edit, files, is_complete, unseen }))
    }

    /// Asks for places, of which each server may know others. `None` if no server offers them.
    pub(super) fn places(&self, files: KnownFiles, asked: &Asked) -> Result<Option<Answers<Place>>, Problem> {
        let listen = |answers| Heard::new(answers, |answer| answer.places().map(<[Place]>::to_vec));
        let unknown = |heard: &Heard<Vec<Place>>, files: &KnownFiles| {
            let named =
                heard.said.iter().flat_map(|(_, places)| places.iter().map(|place| place.path.as_path()));
            Ok(readable(self.call, named, files))
        };
        self.settled(files, asked, server_edits::NAMES_TOO_MANY_FILES, listen, unknown)
    }

    /// Asks what the servers would change about what they find wrong in the file. `None` if none offers that.
    pub(super) fn fixes(&self, files: KnownFiles) -> Result<Option<Answers<Fix>>, Problem> {
        let listen = |answers| Heard::new(answers, |answer| answer.fixes().map(<[Fix]>::to_vec));
        let unknown = |heard: &Heard<Vec<Fix>>, files: &KnownFiles| {
            let edits = heard
                .said
                .iter()
                .flat_map(|(_, fixes)| fixes.iter().filter_map(|fix| fix.edit.as_ref().ok()));
            Ok(readable(self.call, edits.flat_map(WorkspaceEdit::files), files))
        };
        self.settled(files, &Asked::Fixes, server_edits::TOO_MANY_FILES, listen, unknown)
    }

    /// Asks until two answers are the same, of which the second is given for the texts of all files that they name.
    fn settled<T: PartialEq>(
        &self,
        mut files: KnownFiles,
        asked: &Asked,
        too_many: server_edits::Reason,
        listen: impl Fn(Vec<Answered>) -> Result<Option<Heard<T>>, Problem>,
        unknown: impl Fn(&Heard<T>, &KnownFiles) -> Result<Vec<(PathBuf, Known)>, Problem>,
    ) -> Result<Option<(Heard<T>, KnownFiles)>, Problem> {
        let deadline = Instant::now() + self.patience;
        let mut last: Option<Heard<T>> = None;
        for _ in 0..ROUNDS {
            let text = |(path, known): (&PathBuf, &Known)| (path.clone(), known.characters().to_owned());
            let question = Question {
                path: self.path.to_owned(),
                texts: files.files.iter().map(text).collect(),
                asked: asked.clone(),
            };
            let Some(heard) = listen(self.servers.question(question, deadline))? else { return Ok(None) };
            let unknown = unknown(&heard, &files)?;
            if unknown.is_empty() && last.is_some_and(|last| last.said == heard.said) {
                return Ok(Some((heard, files)));
            }
            for (path, known) in unknown {
                if !files.add(path, known) {
                    return Err(server_edits::refused(too_many));
                }
            }
            last = Some(heard);
        }
        Err(server_edits::refused(server_edits::UNSTEADY))
    }
}

/// Reads those of the named files whose texts the servers have not been sent, as far as a client may read them.
fn readable<'p>(
    call: &Call<'_>,
    named: impl Iterator<Item = &'p Path>,
    files: &KnownFiles,
) -> Vec<(PathBuf, Known)> {
    let unknown: BTreeSet<&Path> = named.filter(|path| files.get(path).is_none()).collect();
    let known = |path: &Path| Some((path.to_owned(), read(call, &name_of(call, path)?).ok()?));
    unknown.into_iter().filter_map(known).collect()
}

/// Reads the files of an edit whose texts the servers have not been sent.
fn unknown_files(
    call: &Call<'_>,
    edit: &WorkspaceEdit,
    files: &KnownFiles,
) -> Result<Vec<(PathBuf, Known)>, Problem> {
    check_reach(call, edit)?;
    let mut unknown = Vec::new();
    for path in edit.files().filter(|path| files.get(path).is_none()) {
        if let Some(name) = name_of(call, path) {
            unknown.push((path.to_owned(), read(call, &name)?));
        }
    }
    Ok(unknown)
}

/// Refuses an edit of files that no client may name.
pub(super) fn check_reach(call: &Call<'_>, edit: &WorkspaceEdit) -> Result<(), Problem> {
    let moved = edit.moves().iter().flat_map(|(from, to)| [from.as_path(), to.as_path()]);
    match moved.chain(edit.files()).filter(|path| name_of(call, path).is_none()).count() {
        0 => Ok(()),
        count => Err(server_edits::out_of_reach(count)),
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
        changes(&self.edit, &self.files)
    }

    /// Returns the moves by names.
    pub(super) fn moves(&self, call: &Call<'_>) -> Result<BTreeMap<String, String>, Problem> {
        moves(call, &self.edit)
    }
}

/// Returns the changes of each file of an edit, in the texts that the server had.
pub(super) fn changes<'f>(
    edit: &WorkspaceEdit,
    files: &'f KnownFiles,
) -> Result<Vec<(&'f Known, Vec<TextChange>)>, Problem> {
    let changes = |path: &Path| {
        let known = files.get(path)?;
        Some((known, edit.changes(path, known.characters())?))
    };
    let misplaced = || server_edits::refused(server_edits::MISPLACED);
    edit.files().map(|path| changes(path).ok_or_else(misplaced)).collect()
}

/// Returns the moves of an edit by names.
pub(super) fn moves(call: &Call<'_>, edit: &WorkspaceEdit) -> Result<BTreeMap<String, String>, Problem> {
    let names = |(from, to): &(PathBuf, PathBuf)| {
        let is_file = from.symlink_metadata().is_ok_and(|found| found.is_file());
        match (name_of(call, from), name_of(call, to)) {
            (Some(from), Some(to)) if is_file => Ok((from, to)),
            _ => Err(server_edits::refused(server_edits::MOVES_FOLDER)),
        }
    };
    edit.moves().iter().map(names).collect()
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
        None => Err(server_edits::refused(server_edits::NOT_ASKED).at(name)),
        Some(servers) if !servers.is_known(path) => {
            Err(server_edits::refused(server_edits::NO_SERVER).at(name))
        }
        Some(servers) => Ok(servers),
    }
}

/// Makes a refusal of an argument.
pub(super) fn invalid(name: &str, message: String) -> Problem {
    Problem::new(Kind::InvalidArgument { name: name.into(), message })
}
