//! `find_symbol`: where a symbol is defined, meant or implemented, with the versions of these files, since one edits there.
//!
//! Language servers know that. Without them, definitions are those of our own outlines, which go by the name alone, and the
//! answer says so. Uses are never guessed. No file is named that a client may not read.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use emend_edit::Text;
use emend_edit::excerpt::around;
use emend_lsp::{Asked, Place, Which};
use emend_workspace::Effort;
use emend_workspace::problem::Problem;
use emend_workspace::search::FoundInFile;

use super::Call;
use super::asked_servers::{self, Inquiry, Known, KnownFiles, invalid};
use super::list::{counted, plain, plural};
use super::mentioned::{mentioned, mentioning_files};
use super::spec::{About, Effect, Given, Tool, ToolArguments};
use super::symbol_address::{SymbolAddress, last_part, words};
use crate::answer::{Answer, Unanswered};
use crate::messages::server_edits;
use crate::wire::FindSymbol;

/// The time that a call waits for servers, less than that after which clients give a call up.
const PATIENCE: Duration = Duration::from_secs(50);
/// The time after which no further file is outlined.
const OUTLINING: Duration = Duration::from_secs(5);
/// How many lines are shown, in how many bytes, and how many bytes of each.
const LINES: usize = 250;
const ROOM: usize = 40_000;
const LINE: usize = 300;
/// How many definitions a refusal names.
const NAMED: usize = 20;

impl ToolArguments for FindSymbol {
    const ABOUT: About = About {
        name: "find_symbol",
        title: "Find a symbol",
        description: "Where a symbol is defined, used or implemented, by language servers.",
        effect: Effect::Reads,
        is_idempotent: false,
        is_core: false,
    };
}

impl Tool for FindSymbol {
    fn answer(call: &Call<'_>, given: Given<'_, Self>) -> Result<Answer, Unanswered> {
        if call.effort == Effort::Quick {
            return Err(Unanswered::NotQuick);
        }
        Ok(Answer::reading(given.read().and_then(|asked| find(call, &asked))))
    }
}

fn find(call: &Call<'_>, asked: &FindSymbol) -> Result<String, Problem> {
    let which = asked.which();
    let named = |found: Found| found.shown(call, which);
    let Some((path, line, column)) = asked.place() else {
        let Some(symbol) = &asked.symbol else {
            return Err(invalid("symbol", "it is required, or path:line".into()));
        };
        let definitions = by_name(call, symbol)?;
        if which == Which::Definitions {
            return Ok(named(definitions));
        }
        let Some((file, range)) = definitions.single() else {
            return Err(definitions.unclear(symbol));
        };
        return at_place(call, which, file, range).map(named);
    };
    let file = asked_servers::read(call, path)?;
    let address = SymbolAddress { symbol: asked.symbol.as_deref(), line, column };
    let range = address.place(&file).map_err(|problem| problem.at(&file.name))?;
    at_place(call, which, file, range).map(named)
}

/// Returns the places of the symbol whose name stands here.
fn at_place(call: &Call<'_>, which: Which, file: Known, range: Range<usize>) -> Result<Found, Problem> {
    let name = file.characters()[range.clone()].to_owned();
    let asked = Asked::Places { offset: range.start, which };
    let problem = match ask_at(call, file, &name, &asked) {
        Ok(Some(found)) if which != Which::Definitions || found.count > 0 => return Ok(found),
        Ok(Some(Found { by: By::Servers(servers), .. })) => server_edits::refused_by_name(&servers, &name),
        Ok(_) => server_edits::finds_nothing(what(which, 2), &name),
        Err(problem) => problem,
    };
    if which != Which::Definitions {
        return Err(server_edits::to_be_searched(problem, &name));
    }
    let mut found = Found::new(By::Outlines(server_edits::reason(&problem)));
    for (file, lines) in outlined(call, &name, &files_of(call, &name)?) {
        for line in lines {
            found.add(&file, line);
        }
    }
    Ok(found)
}

/// Asks the servers of a file. `None` if they do not offer to answer that.
fn ask_at(call: &Call<'_>, file: Known, name: &str, asked: &Asked) -> Result<Option<Found>, Problem> {
    let path = call.workspace.roots().admit(&file.name)?.absolute();
    let servers = asked_servers::servers(call, &path, &file.name)?;
    let mentioned = mentioned(call, name).unwrap_or_default();
    let files = mentioning_files(call, servers, &path, file, &mentioned);
    let inquiry = Inquiry { call, servers, path: &path, patience: PATIENCE };
    let Some((heard, files)) = inquiry.places(files, asked)? else { return Ok(None) };
    let mut found = Found::new(By::Servers(heard.names()));
    let places = heard.said.iter().flat_map(|(_, places)| places);
    found.add_places(call, places, &files, None)?;
    let is_of_name = |(file, range): &(Known, Range<usize>)| file.characters()[range.clone()] == *name;
    let among = found.places.iter().filter(|place| is_of_name(place)).count();
    let mentions: usize = mentioned.iter().map(|file| file.places.len()).sum();
    if matches!(asked, Asked::Places { which: Which::References, .. }) {
        found.notes.extend(server_edits::other_mentions(name, mentions.saturating_sub(among)));
        found.notes.extend((!heard.is_complete).then(|| server_edits::unproved(&heard.names())));
    }
    found.notes.extend(heard.unseen.map(|what| server_edits::unseen(&heard.names(), what)));
    found.notes.extend(server_edits::silent(&heard.silent));
    Ok(Some(found))
}

/// Returns the definitions of a name in all of the workspace: what servers say of their languages, and else the outlines.
fn by_name(call: &Call<'_>, symbol: &str) -> Result<Found, Problem> {
    let name = last_part(symbol);
    if name.is_empty() {
        return Err(invalid("symbol", "it ends in no name".into()));
    }
    let files = files_of(call, name)?;
    let outlined = outlined(call, symbol, &files);
    let servers = call.effects.diagnostics().filter(|_| call.workspace.roots().any(|terms| terms.notify_lsp));
    // The files of each language, with the first as the one that is asked about.
    let mut languages: Vec<(PathBuf, KnownFiles)> = Vec::new();
    for file in &files {
        let Ok(path) = call.workspace.roots().admit(&file.name).map(|path| path.absolute()) else { continue };
        let Some(servers) = servers.filter(|servers| servers.is_known(&path)) else { continue };
        let Ok(known) = asked_servers::read(call, &file.name) else { continue };
        match languages.iter_mut().find(|(first, _)| servers.are_alike(first, &path)) {
            // One that has no room is on the disk for the server.
            Some((_, files)) => drop(files.add(path, known)),
            None => {
                let mut files = KnownFiles::default();
                files.add(path.clone(), known);
                languages.push((path, files));
            }
        }
    }
    let mut found = Found::new(By::Outlines("No language server is here".into()));
    let mut answered: Vec<PathBuf> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (path, files) in languages {
        let Some(servers) = servers else { break };
        let inquiry = Inquiry { call, servers, path: &path, patience: PATIENCE };
        let asked = Asked::Named(symbol.to_owned());
        match inquiry.places(files, &asked) {
            Ok(Some((heard, files))) if heard.said.iter().any(|(_, places)| !places.is_empty()) => {
                let places = heard.said.iter().flat_map(|(_, places)| places);
                found.add_places(call, places, &files, Some(name))?;
                found.notes.extend(server_edits::silent(&heard.silent));
                names.extend(heard.names());
                answered.push(path);
            }
            Ok(_) => found.by = By::Outlines("No language server finds it".into()),
            Err(problem) => found.notes.push(server_edits::not_asked(&problem)),
        }
    }
    let mut is_outlined = names.is_empty();
    for (file, lines) in outlined {
        let path = call.workspace.roots().admit(&file.name)?.absolute();
        let is_known = servers.is_some_and(|servers| answered.iter().any(|of| servers.are_alike(of, &path)));
        for line in lines.into_iter().filter(|_| !is_known) {
            found.add(&file, line);
            is_outlined = true;
        }
    }
    names.sort();
    names.dedup();
    found.by = match (names.is_empty(), is_outlined) {
        (true, _) => found.by,
        (false, false) => By::Servers(names),
        (false, true) => By::Both(names),
    };
    Ok(found)
}

fn files_of(call: &Call<'_>, name: &str) -> Result<Vec<FoundInFile>, Problem> {
    mentioned(call, name).ok_or_else(|| {
        invalid(
            "symbol",
            format!("{name} stands in too many places; give the path of a file where it is meant"),
        )
    })
}

/// Returns where the outlines of files have definitions of this name: the places of the name.
fn outlined(call: &Call<'_>, symbol: &str, files: &[FoundInFile]) -> Vec<(Known, Vec<Range<usize>>)> {
    let begun = Instant::now();
    let mut found = Vec::new();
    for file in files.iter().take_while(|_| begun.elapsed() < OUTLINING && !(call.cancelled)()) {
        let Ok(known) = asked_servers::read(call, &file.name) else { continue };
        let Ok(outline) = emend_workspace::symbols::outline(&known.name, &known.text) else { continue };
        let lines: BTreeSet<usize> =
            outline.find(symbol).into_iter().filter(|one| one.is_code()).map(|one| one.name_line).collect();
        let name = last_part(symbol);
        let place = |line: usize| {
            let (start, content) = super::symbol_address::line_of(known.characters(), line)?;
            let at = start + words(content, name).next()?;
            Some(at..at + name.len())
        };
        let places: Vec<Range<usize>> = lines.into_iter().filter_map(place).collect();
        if !places.is_empty() {
            found.push((known, places));
        }
    }
    found
}

/// By whom places were found.
enum By {
    Servers(Vec<String>),
    /// By outlines, and why by these.
    Outlines(String),
    /// By servers for their languages, by outlines for the others.
    Both(Vec<String>),
}

/// Places that were found.
struct Found {
    by: By,
    /// The places that may be named, in order.
    places: Vec<(Known, Range<usize>)>,
    /// How many were found, those included that may not be named.
    count: usize,
    out_of_reach: usize,
    notes: Vec<String>,
}

impl Found {
    fn new(by: By) -> Self {
        Self { by, places: Vec::new(), count: 0, out_of_reach: 0, notes: Vec::new() }
    }

    fn add(&mut self, file: &Known, range: Range<usize>) {
        if !self.places.iter().any(|(known, at)| known.name == file.name && *at == range) {
            self.count += 1;
            self.places.push((file.clone(), range));
        }
    }

    /// Adds places that servers name. Where a place is a whole definition, it begins at this name in it.
    fn add_places<'p>(
        &mut self,
        call: &Call<'_>,
        places: impl Iterator<Item = &'p Place>,
        files: &KnownFiles,
        name: Option<&str>,
    ) -> Result<(), Problem> {
        let mut beyond: BTreeSet<&Place> = BTreeSet::new();
        for place in places {
            let Some(known) = files.get(&place.path).filter(|_| is_readable(call, &place.path)) else {
                beyond.insert(place);
                continue;
            };
            let misplaced = || server_edits::refused(server_edits::MISPLACED);
            let mut range = place.range(known.characters()).ok_or_else(misplaced)?;
            if let Some(name) = name
                && let Some(at) = words(&known.characters()[range.clone()], name).next()
            {
                range = range.start + at..range.start + at + name.len();
            }
            self.add(known, range);
        }
        self.count += beyond.len();
        self.out_of_reach += beyond.len();
        Ok(())
    }

    /// Returns the one place, if there is no other.
    fn single(&self) -> Option<(Known, Range<usize>)> {
        match &self.places[..] {
            [one] if self.count == 1 => Some(one.clone()),
            _ => None,
        }
    }

    /// Makes the refusal where a name does not say which symbol is meant.
    fn unclear(&self, symbol: &str) -> Problem {
        let place = |(file, range): &(Known, Range<usize>)| {
            format!("{}:{}", file.name, line_at(file.characters(), range.start))
        };
        let named: Vec<String> = self.places.iter().take(NAMED).map(place).collect();
        let message = match named.is_empty() {
            true => {
                format!("no definition of {symbol} is known here; give path = path:line, where it stands")
            }
            false => format!(
                "several are called so; give path = path:line of one: {}",
                server_edits::named(&named)
            ),
        };
        invalid("symbol", message)
    }

    fn shown(mut self, call: &Call<'_>, which: Which) -> String {
        let files: BTreeSet<&str> = self.places.iter().map(|(file, _)| &file.name[..]).collect();
        let found = format!("{} {}", counted(self.count), what(which, self.count));
        let of_files = match files.len() {
            0 => String::new(),
            count => format!(" in {} file{}", counted(count), plural(count)),
        };
        let mut text = match &self.by {
            By::Servers(names) => format!("{found}{of_files}, from {}\n", names.join(" and ")),
            By::Both(names) => {
                let names = names.join(" and ");
                format!("{found}{of_files}, from {names}, and by name from outlines for other languages\n")
            }
            By::Outlines(why) => format!("{why}. By name from outlines: {found}{of_files}\n"),
        };
        let mut by_file: BTreeMap<&str, (&Arc<Text>, BTreeMap<usize, usize>)> = BTreeMap::new();
        for (file, range) in &self.places {
            let (_, lines) = by_file.entry(&file.name).or_insert((&file.text, BTreeMap::new()));
            lines.entry(line_at(file.characters(), range.start)).or_insert(range.start);
        }
        let (mut shown, mut left) = (0, 0);
        let mut readings = call.caller.readings().lock();
        for (number, (name, (known, lines))) in by_file.into_iter().enumerate() {
            if shown >= LINES || text.len() >= ROOM {
                left += lines.len();
                continue;
            }
            if number > 0 {
                text.push('\n');
            }
            readings.saw_numbers(name, known);
            let _ = writeln!(text, "{} · version {}", plain(name), known.version().short());
            let all = known.lines();
            for (line, _) in lines {
                if shown >= LINES || text.len() >= ROOM {
                    left += 1;
                    continue;
                }
                shown += 1;
                let _ = writeln!(text, "{line}: {}", around(all.content(line - 1), 0, LINE));
            }
        }
        drop(readings);
        if left > 0 {
            let _ = writeln!(text, "... and {} more line{}", counted(left), plural(left));
        }
        self.notes.extend(server_edits::places_out_of_reach(self.out_of_reach));
        for note in &self.notes {
            let _ = writeln!(text, "{note}.");
        }
        text
    }
}

fn is_readable(call: &Call<'_>, path: &Path) -> bool {
    asked_servers::name_of(call, path).is_some()
}

fn what(which: Which, count: usize) -> &'static str {
    match (which, count) {
        (Which::Definitions, 1) => "definition",
        (Which::Definitions, _) => "definitions",
        (Which::References, 1) => "reference",
        (Which::References, _) => "references",
        (Which::Implementations, 1) => "implementation",
        (Which::Implementations, _) => "implementations",
    }
}

fn line_at(text: &str, offset: usize) -> usize {
    text[..offset].bytes().filter(|byte| *byte == b'\n').count() + 1
}
