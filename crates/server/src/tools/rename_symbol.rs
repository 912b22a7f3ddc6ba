//! `rename_symbol`: a symbol gets another name wherever a language server says that it is meant.
//!
//! The server's edit becomes a patch of the versions for which it was given. What mentions the name and stays is told, and
//! too much of it in code is a reason to refuse: then the server does not see the project.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use emend_edit::patch::Patch;
use emend_lsp::{Asked, TextChange};
use emend_syntax::PlaceKind;
use emend_workspace::problem::{Again, Kind, Problem};
use emend_workspace::search::FoundInFile;
use emend_workspace::{Effort, NotDone, Origin};

use super::Call;
use super::asked_servers::{self, Inquiry, Known, Proposed, as_places, invalid};
use super::check_rename::{self, touched};
use super::edit_request::EditRequest;
use super::mentioned::{mentioned, mentioning_files};
use super::spec::{About, EditTool, Effect, ToolArguments};
use super::symbol_address::{SymbolAddress, is_of_word, mentions_of};
use crate::effects::Diagnostics as Servers;
use crate::messages::server_edits::{self, Mentions};
use crate::wire::RenameSymbol;

/// The time that a call waits for servers, less than that after which clients give a call up.
const PATIENCE: Duration = Duration::from_secs(50);
/// The work that telling comments from code may cost for one file.
const LIMITS: emend_syntax::Limits =
    emend_syntax::Limits { bytes: 4 << 20, time: Duration::from_millis(500) };

impl ToolArguments for RenameSymbol {
    const ABOUT: About = About {
        name: "rename_symbol",
        title: "Rename a symbol",
        description: "Rename a symbol in all files with a language server. Tells which mentions stay.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: false,
    };
}

impl EditTool for RenameSymbol {
    fn request(self, call: &Call<'_>, origin: Origin) -> Result<EditRequest, NotDone<Vec<Problem>>> {
        if call.effort == Effort::Quick {
            return Err(NotDone::NotQuick);
        }
        Ok(match self.renamed(call) {
            Ok(Renamed { patch, versions, notes }) => {
                EditRequest { versions, notes, places_are_found: true, ..EditRequest::new(patch, origin) }
            }
            // If the same call was made before, the symbol has its new name.
            Err(refusal) => {
                EditRequest { refusal: Some(refusal), ..EditRequest::new(Patch::replace_places([]), origin) }
            }
        })
    }
}

/// The edit of a renaming.
struct Renamed {
    patch: Patch,
    versions: std::collections::BTreeMap<String, String>,
    notes: Vec<String>,
}

impl RenameSymbol {
    fn renamed(&self, call: &Call<'_>) -> Result<Renamed, Problem> {
        let file = asked_servers::read(call, &self.path)?;
        let path = call.workspace.roots().admit(&file.name)?.absolute();
        if let Some(claimed) =
            self.version.as_ref().filter(|claimed| !file.text.version().is_named_by(claimed))
        {
            let (claimed, current) = (claimed.clone(), Some(file.text.version()));
            let stale = Kind::StaleFile { claimed, current, diff: None, by: None, again: Again::NewNumbers };
            return Err(Problem::new(stale).at(&file.name));
        }
        let address = SymbolAddress { symbol: self.symbol.as_deref(), line: self.line, column: self.column };
        let place = address.place(&file).map_err(|problem| problem.at(&file.name))?;
        let name = file.characters()[place.clone()].to_owned();
        self.check_new_name(&name)?;
        let servers = asked_servers::servers(call, &path, &file.name)?;
        let mentioned = mentioned(call, &name);
        if mentioned.is_none() && self.despite_mentions != Some(true) {
            return Err(server_edits::uncounted(&name));
        }
        let asked = Asked::Rename { offset: place.start, new_name: self.new_name.clone() };
        let files = mentioning_files(call, servers, &path, file, mentioned.as_deref().unwrap_or_default());
        let inquiry = Inquiry { call, servers, path: &path, patience: PATIENCE };
        let proposed =
            inquiry.edit(files, &asked)?.ok_or_else(|| server_edits::refused(server_edits::NOT_OFFERED))?;
        self.checked(call, servers, (&path, place, &name), &proposed, mentioned.as_deref())
    }

    /// Turns a server's edit into a patch, if it is one of a renaming.
    fn checked(
        &self,
        call: &Call<'_>,
        servers: &Servers,
        (path, place, name): (&Path, Range<usize>, &str),
        proposed: &Proposed,
        mentioned: Option<&[FoundInFile]>,
    ) -> Result<Renamed, Problem> {
        let mut changes = proposed.changes()?;
        if proposed.edit.is_empty() {
            return Err(server_edits::empty());
        }
        let effect = |known: &Known, change: &TextChange| {
            check_rename::effect(known.characters(), change, name, &self.new_name)
        };
        for (known, changes) in &mut changes {
            if changes.iter().any(|change| effect(known, change) == check_rename::Effect::Other) {
                return Err(server_edits::refused(server_edits::MISPLACED));
            }
            changes.retain(|change| effect(known, change) == check_rename::Effect::Renames);
        }
        changes.retain(|(_, changes)| !changes.is_empty());
        let is_asked = |(known, change): (&Known, &TextChange)| {
            let around = touched(known.characters(), &change.range);
            around.start <= place.start && place.end <= around.end
        };
        let own = proposed.files.get(path).map(|known| &known.name);
        let of_file = changes.iter().filter(|(known, _)| Some(&known.name) == own);
        if !of_file.flat_map(|(known, changes)| changes.iter().map(|change| (*known, change))).any(is_asked) {
            return Err(server_edits::refused(server_edits::ELSEWHERE));
        }
        for (known, changes) in &changes {
            self.check_after(known, changes, name)?;
        }
        let staying = staying(call, servers, (path, proposed), &changes, mentioned.unwrap_or_default());
        let count = changes.iter().map(|(_, changes)| changes.len()).sum();
        if staying.code.len() > count && self.despite_mentions != Some(true) {
            return Err(server_edits::too_few(&proposed.servers.join(" and "), name, count, &staying));
        }
        let moves = proposed.moves(call)?;
        let mut notes = vec![server_edits::renamed(&proposed.servers, count, changes.len(), moves.len())];
        notes.extend(match mentioned {
            Some(_) => server_edits::staying(name, &staying),
            None => Some(server_edits::not_counted(name)),
        });
        let already: Vec<String> =
            changes.iter().flat_map(|(known, _)| mentions_of(known, &self.new_name)).collect();
        notes.extend(server_edits::stands_already(&self.new_name, &already));
        notes.extend(proposed.unseen.map(|what| server_edits::unseen(&proposed.servers, what)));
        notes.extend((!proposed.is_complete).then(|| server_edits::unproved(&proposed.servers)));
        let versions =
            changes.iter().map(|(known, _)| (known.name.clone(), known.text.version().short())).collect();
        let places =
            changes.into_iter().map(|(known, changes)| (known.name.clone(), as_places(known, changes)));
        let patch = Patch::replace_places(places).moving(moves);
        Ok(Renamed { patch, versions, notes })
    }

    /// Refuses a new name that breaks a file, or that something else beside the symbol has.
    fn check_after(&self, known: &Known, changes: &[TextChange], name: &str) -> Result<(), Problem> {
        let before = known.characters();
        let mut after = before.to_owned();
        for change in changes.iter().rev() {
            after.replace_range(change.range.clone(), &change.new);
        }
        let language = emend_syntax::language_of(&known.name);
        if let Some(emend_syntax::Verdict::Broken { line, what }) = language.map(|language| {
            emend_syntax::broken(language, Some(before.as_bytes()), after.as_bytes(), &LIMITS)
        }) {
            let message =
                format!("with it, line {line} would not be valid any more: {what}; choose another name");
            return Err(invalid("new_name", message).at(&known.name));
        }
        let Ok(outline) = emend_workspace::symbols::outline(&known.name, &known.text) else { return Ok(()) };
        let line = |change: &TextChange| before[..change.range.start].matches('\n').count() + 1;
        let lines: BTreeSet<usize> = changes.iter().map(line).collect();
        let renamed =
            outline.definitions().iter().filter(|one| one.name == name && lines.contains(&one.name_line));
        for one in renamed {
            let path = outline.path(one);
            let beside = path.strip_suffix(name).unwrap_or_default();
            let taken = outline.definitions().iter().find(|other| {
                other.name == self.new_name && outline.path(other).strip_suffix(&other.name) == Some(beside)
            });
            if let Some(taken) = taken {
                let what = outline.describe(taken);
                let message =
                    format!("{what} stands in line {} already; choose another name", taken.name_line);
                return Err(invalid("new_name", message).at(&known.name));
            }
        }
        Ok(())
    }

    /// Refuses what is no name where the old one was.
    fn check_new_name(&self, name: &str) -> Result<(), Problem> {
        if self.new_name == name {
            return Err(invalid("new_name", "that is its name already".into()));
        }
        let sign = |name: &str| name.chars().find(|sign| !is_of_word(*sign));
        let bare = self.new_name.strip_prefix(['#', '@', '\'']).unwrap_or(&self.new_name);
        let bare = bare.strip_prefix("r#").unwrap_or(bare);
        match sign(bare) {
            Some(sign) => Err(invalid("new_name", format!("a name has no {sign:?}"))),
            None if bare.is_empty() || bare.starts_with(|first: char| first.is_numeric()) => {
                Err(invalid("new_name", "no name begins like that".into()))
            }
            None => Ok(()),
        }
    }
}

/// Returns the mentions that the changes leave.
fn staying(
    call: &Call<'_>,
    servers: &Servers,
    (path, proposed): (&Path, &Proposed),
    changes: &[(&Known, Vec<TextChange>)],
    mentioned: &[FoundInFile],
) -> Mentions {
    let mut staying = Mentions::default();
    for file in mentioned {
        let known = proposed.files.by_name(&file.name).filter(|known| known.text.version() == file.version);
        let start = known.map_or(0, |known| known.text.body().start);
        let own = changes.iter().find(|(known, _)| known.name == file.name).map(|(_, changes)| &changes[..]);
        let own = own.unwrap_or_default();
        let is_changed = |at: usize, length: usize| {
            let next = own.partition_point(|change| change.range.end < at);
            own.get(next).is_some_and(|change| change.range.start <= at + length)
        };
        let left = file.places.iter().zip(0..).filter_map(|(place, index)| {
            let at = place.offset.checked_sub(start)?;
            let line = file.shown.get(index).map(|(line, _)| *line);
            (!is_changed(at, place.old.len())).then_some((at, line))
        });
        let (offsets, lines): (Vec<usize>, Vec<Option<usize>>) = left.unzip();
        let kinds = known.and_then(|known| {
            emend_syntax::place_kinds(&file.name, known.characters().as_bytes(), &offsets, &LIMITS)
        });
        let is_alike = call
            .workspace
            .roots()
            .admit(&file.name)
            .is_ok_and(|other| servers.are_alike(path, &other.absolute()));
        for (index, line) in lines.into_iter().enumerate() {
            let place = line.map_or_else(|| file.name.clone(), |line| format!("{}:{line}", file.name));
            let list = match kinds.as_ref().map(|kinds| kinds[index]) {
                _ if !is_alike => &mut staying.other_files,
                Some(PlaceKind::Comment) => &mut staying.comments,
                Some(PlaceKind::Text) => &mut staying.texts,
                Some(PlaceKind::Code) | None => &mut staying.code,
            };
            list.push(place);
        }
    }
    staying
}
