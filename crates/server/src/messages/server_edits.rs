//! The messages about edits that language servers propose.

use emend_lsp::{Answered, ServerState};
use emend_workspace::problem::{Kind, Problem};

use super::{Audience, message};
use crate::server_diagnostics::DiagnosticsReport;

/// How many places are named of each kind.
const NAMED: usize = 8;

/// What an answer of a server cannot be used for: why, and what to do.
pub(crate) type Reason = (&'static str, &'static str);

const REPLACE: &str = "replace_in_files with whole_words replaces the text of a name in many files; preview it, since it does \
                       not know which are the same symbol";

pub(crate) const NOT_ASKED: Reason = ("Language servers are not asked here: notify_lsp is off", REPLACE);
pub(crate) const NO_SERVER: Reason = ("No language server is known for such files", REPLACE);
pub(crate) const NOT_OFFERED: Reason = ("The language server for this file offers no renaming", REPLACE);
pub(crate) const TOO_MANY_FILES: Reason =
    ("The edit of the language server changes more files than are checked at once", REPLACE);
pub(crate) const NAMES_TOO_MANY_FILES: Reason = (
    "The language server names places in more files than are looked at at once",
    "search_text finds the lines that mention the name",
);
pub(crate) const UNSTEADY: Reason = (
    "The language server answers differently each time, so it still reads the project, or files change",
    "Send the call again in a moment",
);
pub(crate) const MISPLACED: Reason = (
    "The language server names places that do not hold the name in the files as they are now",
    "Send the call again; if it is refused again, use str_replace or replace_in_files",
);
pub(crate) const NO_PATHS: Reason = (
    "The language server would change more than paths of files",
    "Change what names the old path with str_replace",
);
pub(crate) const MOVES_FOLDER: Reason = (
    "The language server would also move a folder",
    "Move its files with apply_patch, and then what names them",
);
pub(crate) const MOVES_MORE: Reason =
    ("The language server would move other files too", "Make that move as well, if it is right");
pub(crate) const ELSEWHERE: Reason =
    ("The language server would change other places, but not the one that the call names", REPLACE);
const NOTHING: Reason = ("The language server would change nothing", REPLACE);

/// Makes the refusal of an edit for this reason.
pub(crate) fn refused((why, next): Reason) -> Problem {
    problem(why.to_owned(), next)
}

fn problem(why: String, next: &str) -> Problem {
    Problem::new(Kind::NoServerEdit { why, next: next.to_owned() })
}

/// Makes the refusal of an edit that changes nothing.
pub(crate) fn empty() -> Problem {
    refused(NOTHING)
}

/// Makes the refusal where not every server that might be concerned has answered.
pub(crate) fn unanswered(answers: &[Answered]) -> Problem {
    let said: Vec<String> = answers
        .iter()
        .filter(|answer| answer.state != ServerState::Ready)
        .map(|answer| {
            let report = DiagnosticsReport::new(&answer.server, &answer.state);
            let why = report.why.map(|why| format!(": {why}")).unwrap_or_default();
            match &answer.state {
                ServerState::Silent { .. } => format!("{}{why}", answer.server),
                // Why that is so, `emend doctor` says.
                ServerState::NotInstalled { .. } => format!("{} is not installed", answer.server),
                _ => format!("{} is {}{why}", answer.server, report.state.replace('-', " ")),
            }
        })
        .collect();
    let is_absent =
        |answer: &Answered| matches!(answer.state, ServerState::NotInstalled { .. } | ServerState::Disabled);
    let next = match answers.iter().all(is_absent) {
        true => REPLACE,
        false => {
            "If it is still starting, send the call again in a moment; else use str_replace or replace_in_files"
        }
    };
    problem(format!("No language server has given an answer ({})", said.join("; ")), next)
}

/// Turns the refusal of an edit into that of a search, which `search_text` could do.
pub(crate) fn to_be_searched(mut problem: Problem, name: &str) -> Problem {
    if let Kind::NoServerEdit { next, .. } = &mut *problem.kind {
        *next = searched(name);
    }
    problem
}

/// Returns why there is no answer, without what to do.
pub(crate) fn reason(problem: &Problem) -> String {
    match &*problem.kind {
        Kind::NoServerEdit { why, .. } => why.clone(),
        _ => message(problem, Audience::Model).trim_end().trim_end_matches('.').to_owned(),
    }
}

/// Says that servers were not heard.
pub(crate) fn not_asked(problem: &Problem) -> String {
    format!("Not all servers were heard: {}", reason(problem))
}

/// Says which servers have not answered.
pub(crate) fn silent(answers: &[Answered]) -> Option<String> {
    (!answers.is_empty()).then(|| not_asked(&unanswered(answers)))
}

/// Says how often a name stands where no reference is.
pub(crate) fn other_mentions(name: &str, count: usize) -> Option<String> {
    let s = if count == 1 { "" } else { "s" };
    (count > 0).then(|| {
        format!("{name} stands in {count} other place{s} too, in comments, strings or as another symbol; search_text shows them")
    })
}

/// Says how many places no client may be told.
pub(crate) fn places_out_of_reach(count: usize) -> Option<String> {
    let (s, are) = if count == 1 { ("", "is") } else { ("s", "are") };
    (count > 0).then(|| format!("{count} place{s} {are} outside of what may be read here"))
}

/// Makes the refusal where servers know no definition.
pub(crate) fn refused_by_name(servers: &[String], name: &str) -> Problem {
    Problem::new(Kind::NoServerEdit {
        why: format!("{} names none", servers.join(" and ")),
        next: searched(name),
    })
}

/// Makes the refusal where the servers of a file do not answer such questions.
pub(crate) fn finds_nothing(what: &str, name: &str) -> Problem {
    let why = format!("The language server for this file offers no search for {what}");
    Problem::new(Kind::NoServerEdit { why, next: searched(name) })
}

fn searched(name: &str) -> String {
    format!("search_text finds the lines that mention {name}, but does not know which mean this symbol")
}

/// Makes the refusal where two servers propose different edits.
pub(crate) fn disagree(one: &str, other: &str) -> Problem {
    let next = "A person can turn one of them off in the configuration; or use str_replace";
    problem(format!("{one} and {other} propose different edits"), next)
}

/// Makes the refusal of an edit of files that no client may name.
pub(crate) fn out_of_reach(count: usize) -> Problem {
    let files = if count == 1 { "a file".to_owned() } else { format!("{count} files") };
    let why = format!(
        "The language server would also change {files} outside of the workspace, or that may not be read here"
    );
    problem(why, "Choose another name, or have a person open the workspace that has all of the project")
}

/// Mentions of a name that a server's edit does not change, by what they are.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    pub(crate) code: Vec<String>,
    pub(crate) comments: Vec<String>,
    pub(crate) texts: Vec<String>,
    pub(crate) other_files: Vec<String>,
}

/// Says which mentions of a name stay.
pub(crate) fn staying(name: &str, mentions: &Mentions) -> Option<String> {
    let Mentions { code, comments, texts, other_files } = mentions;
    let kinds = [
        (code, "in code"),
        (comments, "in comments"),
        (texts, "in strings"),
        (other_files, "in other files"),
    ];
    let told: Vec<String> = kinds
        .into_iter()
        .filter(|(places, _)| !places.is_empty())
        .map(|(places, kind)| format!("{} {kind} ({})", places.len(), named(places)))
        .collect();
    (!told.is_empty()).then(|| format!("Mentions of {name} that stay: {}", told.join(", ")))
}

pub(crate) fn named(places: &[String]) -> String {
    let mut named = places.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if places.len() > NAMED {
        named.push_str(", ...");
    }
    named
}

/// Makes the refusal where more mentions in code stay than change.
pub(crate) fn too_few(server: &str, name: &str, changed: usize, mentions: &Mentions) -> Problem {
    let (code, places) = (mentions.code.len(), named(&mentions.code));
    let s = if changed == 1 { "" } else { "s" };
    let why = format!(
        "{server} would change {changed} place{s}, but {name} stands in {code} more places of code ({places}), so it may not see all \
         of the project: imports may not resolve, or a project file be missing"
    );
    let next = "Look at some of them: if they are other symbols of the same name, send the call again with despite_mentions = \
                true; if not, use replace_in_files with whole_words";
    problem(why, next)
}

/// Makes the refusal where a name stands in so many places that those which stay are not counted.
pub(crate) fn uncounted(name: &str) -> Problem {
    problem(
        format!("{name} stands in too many places to tell which of them would stay"),
        "If a server that sees only a part of the project may miss some, send the call again with despite_mentions = true, and \
         look at it with edit_preview first",
    )
}

/// Says that the mentions that stay were not counted.
pub(crate) fn not_counted(name: &str) -> String {
    format!("{name} stands in too many places: those that stay were not counted")
}

/// Says by whom a symbol is renamed, where, and what that leaves open.
pub(crate) fn renamed(servers: &[String], places: usize, files: usize, moves: usize) -> String {
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    if places > 0 {
        parts.push(format!("in {} of {}", counted(places, "place"), counted(files, "file")));
    }
    if moves > 0 {
        parts.push(format!("by moving {}", counted(moves, "file")));
    }
    format!("Renamed by {} {}", servers.join(" and "), parts.join(", and "))
}

/// Says that a server does not tell whether it knows all of the project.
pub(crate) fn unproved(servers: &[String]) -> String {
    format!(
        "{} does not say whether it has read all of the project, so this may not be all",
        servers.join(" and ")
    )
}

/// Says what a server does not see.
pub(crate) fn unseen(servers: &[String], what: &str) -> String {
    format!("{} does not see {what}: it may not run programs of the project here", servers.join(" and "))
}

/// Says where the new name stands already.
pub(crate) fn stands_already(name: &str, places: &[String]) -> Option<String> {
    (!places.is_empty()).then(|| {
        format!(
            "{name} stood in these files before ({}): make sure that it is nothing else now",
            named(places)
        )
    })
}

/// Says how many places change with the move of a file.
pub(crate) fn moved_with(servers: &[String], places: usize) -> Option<String> {
    let s = if places == 1 { "" } else { "s" };
    (places > 0).then(|| format!("{} changes {places} place{s} with the move", servers.join(" and ")))
}

/// Says that a file moves alone, because no server gives the edit of what names it.
pub(crate) fn moved_alone(why: &Problem) -> String {
    format!("The file moves alone: {}", reason(why))
}

/// Says where the old path of a moved file stays: these lines, and so many more.
pub(crate) fn old_path_stays(places: &[String], more: usize, is_alone: bool) -> Option<String> {
    let count = places.len() + more;
    let s = if count == 1 { "" } else { "s" };
    let alone = if is_alone { "No import was changed with the move. " } else { "" };
    (count > 0).then(|| format!("{alone}{count} line{s} may still name the old path: {}", named(places)))
}

/// Says that it is not known what still names the old path.
pub(crate) fn not_searched(name: &str) -> String {
    format!("What still names {name} could not be searched for: search_text finds it")
}

/// Says where the moved file itself imports something by a path from its old folder.
pub(crate) fn relative_imports_stay(places: &[String]) -> Option<String> {
    let (count, s) = (places.len(), if places.len() == 1 { "" } else { "s" });
    (count > 0).then(|| {
        let verb = if count == 1 { "imports" } else { "import" };
        format!("{count} line{s} of the moved file {verb} by a path from its old folder: {}", named(places))
    })
}

/// Says that a move that is a part of an edit changes nothing else.
pub(crate) fn moved_as_part(name: &str) -> String {
    format!("What imports {name} was not changed: only move_file by itself has language servers do that")
}
