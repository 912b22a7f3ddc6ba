//! Dialects: the tools of other systems, as the models that were trained on them call them.
//!
//! A dialect is a table in one file. Each of its tools has the name, the arguments and the words of the original, and
//! translates a call into one of ours. What comes back is a call of our tool like any other: every check, the history and
//! the recognition of repeated calls see no difference. Nothing here reads or changes a file.
//!
//! A call is understood by any of these names, whatever dialect is listed. Where a name belongs to several, the first one
//! takes it whose arguments the call has: of the listed dialect, of our own tools, of the others in the order of [`all`].

mod aider;
mod claude;
mod cline;
mod codex;
mod commands;
mod gemini;
mod naming;
mod opencode;
mod openhands;
mod roo;
mod text_editor;
mod tool;

use std::sync::{Arc, OnceLock};

use rmcp::model::{JsonObject, Tool as ListedTool};
use serde_json::Value;

use emend_workspace::problem::Problem;
use emend_workspace::{DialectName, ListedTools, Mode};

pub(crate) use self::naming::Names;
use self::tool::DialectTool;
pub(crate) use self::tool::Translated;
use crate::arguments;
use crate::principal::Scope;
use crate::tools::{self, ToolSpec};

/// The tools of another system.
pub(crate) struct Dialect {
    pub(crate) name: DialectName,
    tools: Vec<DialectTool>,
    /// The names of our tools that stay beside them.
    keeps: &'static [&'static str],
    /// The names of its tools and arguments that do what ours do, in the words that a model needs to call them.
    pub(crate) names: &'static [(&'static str, &'static str)],
}

/// A call that was understood: one of our tools, with its arguments.
pub(crate) struct Understood {
    pub(crate) tool: &'static ToolSpec,
    pub(crate) arguments: JsonObject,
    /// What is particular about the call because of the tool that it named, if that is none of ours.
    pub(crate) translated: Translated,
    /// Why the arguments of that tool mean nothing to ours.
    pub(crate) problem: Option<Problem>,
}

/// Returns every dialect but our own, in the order in which their tools are asked whether a call is theirs.
fn all() -> &'static [Dialect] {
    static ALL: OnceLock<Vec<Dialect>> = OnceLock::new();
    ALL.get_or_init(|| {
        vec![
            claude::dialect(),
            text_editor::dialect(),
            codex::dialect(),
            gemini::dialect(),
            openhands::dialect(),
            cline::dialect(),
            roo::dialect(),
            aider::dialect(),
            opencode::dialect(),
        ]
    })
}

/// Returns the dialect of this name; none for our own. `auto` is decided by the name of the client.
pub(crate) fn find(name: DialectName, client: &str) -> Option<&'static Dialect> {
    let name = if name == DialectName::Auto { of_client(client) } else { name };
    all().iter().find(|dialect| dialect.name == name)
}

/// The clients that run models of one family, by their names. A name that ends in a hyphen goes on with that of the server.
const CLIENTS_OF_ONE_FAMILY: [(&str, DialectName); 4] = [
    ("claude-code", DialectName::Claude),
    ("codex-mcp-client", DialectName::Codex),
    ("gemini-cli-mcp-client", DialectName::Gemini),
    ("gemini-cli-mcp-client-", DialectName::Gemini),
];

/// Returns the dialect that the models of this client were trained on, if they are of one family.
fn of_client(client: &str) -> DialectName {
    let is_it = |name: &str| client == name || (name.ends_with('-') && client.starts_with(name));
    let family = CLIENTS_OF_ONE_FAMILY.iter().find(|(name, _)| is_it(name));
    family.map_or(DialectName::Emend, |(_, dialect)| *dialect)
}

impl Dialect {
    /// Returns the tools that are listed in this dialect.
    pub(crate) fn listed(&self, mode: Mode, choice: ListedTools) -> Vec<ListedTool> {
        let own = self.tools.iter().filter(|tool| tool.is_listed && tool.is_offered(mode));
        let own = own.map(DialectTool::listed);
        let kept = tools::all().iter().filter(|tool| self.keeps.contains(&tool.about.name));
        let kept = kept.filter(|tool| tool.is_offered(mode) && tool.is_listed(choice, false));
        own.chain(kept.map(|tool| self.kept(tool))).collect()
    }

    /// Returns one of our tools as it is listed beside these; a preview is one of these tools.
    fn kept(&self, tool: &ToolSpec) -> ListedTool {
        let mut listed = tool.listed();
        if tool.about.name == "edit_preview" {
            let mut input = JsonObject::clone(&tool.input);
            let edits = self.tools.iter().filter(|tool| tool.is_listed && tool.edits());
            let names: Value = edits.map(|tool| tool.about.name).collect();
            if let Some(named) = input.get_mut("properties").and_then(|all| all.get_mut("tool")) {
                named["enum"] = names;
            }
            listed.input_schema = Arc::new(input);
        }
        listed
    }

    /// Returns the tools of this name: the one that is listed, and what had its name before.
    fn tools(&self, name: &str) -> impl Iterator<Item = &DialectTool> {
        self.tools.iter().filter(move |tool| tool.about.name == name)
    }

    /// Returns the problem of a preview whose tool is none of anybody's: the tools that it may name here.
    fn unknown_edit(&self, named: &JsonObject) -> Option<Problem> {
        let name = named.get("tool")?.as_str()?;
        if tools::find(name).is_some() {
            return None;
        }
        let known: Vec<&str> = self
            .tools
            .iter()
            .filter(|tool| tool.is_listed && tool.edits())
            .map(|tool| tool.about.name)
            .collect();
        Some(tool::invalid("tool", &format!("it must be one of {}, not {name:?}", known.join(", "))))
    }

    /// Returns the names of the tools that are listed.
    fn listed_names(&self) -> impl Iterator<Item = &'static str> {
        let own = self.tools.iter().filter(|tool| tool.is_listed).map(|tool| tool.about.name);
        own.chain(self.keeps.iter().copied())
    }
}

/// Returns the tool of this name as the list shows it, if it is offered in this mode.
pub(crate) fn listed(name: &str, mode: Mode) -> Option<ListedTool> {
    let own = tools::find(name).filter(|tool| tool.is_offered(mode)).map(ToolSpec::listed);
    own.or_else(|| {
        let found = all().iter().find_map(|dialect| dialect.tools(name).next());
        found.filter(|tool| tool.is_offered(mode)).map(DialectTool::listed)
    })
}

/// Returns the scope that every tool of this name needs, whatever it is called with; `None` if there is no such tool. A tool
/// that can also read needs no more than that, until it is understood.
pub(crate) fn needed_scope(name: &str) -> Option<Scope> {
    let scopes = meant(None, name).into_iter().filter_map(Meant::scope);
    scopes.reduce(|one, other| if one == other { one } else { Scope::Read })
}

/// Returns whether a call edits under any meaning that its name may have with these arguments.
pub(crate) fn may_edit(name: &str, arguments: &JsonObject) -> bool {
    let candidates = meant(None, name);
    let fitting: Vec<&Meant> = candidates.iter().filter(|meant| meant.fits(arguments)).collect();
    let all = if fitting.is_empty() { candidates.iter().collect() } else { fitting };
    all.into_iter().any(|meant| {
        let understood = understood_as(None, *meant, arguments.clone());
        understood.is_some_and(|understood| understood.tool.about.effect.scope() == Scope::Write)
    })
}

/// Returns the names of the tools that are listed in this dialect.
pub(crate) fn listed_names(dialect: Option<&Dialect>) -> Vec<&'static str> {
    match dialect {
        Some(dialect) => dialect.listed_names().collect(),
        None => tools::all().iter().map(|tool| tool.about.name).collect(),
    }
}

/// A tool that a name may mean.
#[derive(Clone, Copy)]
enum Meant {
    Ours(&'static ToolSpec),
    Theirs(&'static DialectTool),
}

impl Meant {
    fn scope(self) -> Option<Scope> {
        let ours = match self {
            Self::Ours(tool) => Some(tool),
            Self::Theirs(tool) => tools::find(tool.stands_for),
        };
        ours.map(|tool| tool.about.effect.scope())
    }

    fn fits(self, arguments: &JsonObject) -> bool {
        match self {
            Self::Ours(tool) => arguments::fit(&tool.input, arguments),
            Self::Theirs(tool) => arguments::fit(&tool.input, &tool.without_beside(arguments.clone()).0),
        }
    }
}

/// Returns the tools that a name may mean, those of the listed dialect first, then ours, then those of the others.
fn meant(dialect: Option<&'static Dialect>, name: &str) -> Vec<Meant> {
    let listed = dialect.iter().flat_map(|dialect| dialect.tools(name)).map(Meant::Theirs);
    let ours = tools::find(name).into_iter().map(Meant::Ours);
    let is_other = |other: &&Dialect| dialect.is_none_or(|dialect| dialect.name != other.name);
    let others = all().iter().filter(is_other).flat_map(|other| other.tools(name)).map(Meant::Theirs);
    listed.chain(ours).chain(others).collect()
}

/// Understands a call of a tool of this name; `None` if no dialect has one.
pub(crate) fn understand(
    dialect: Option<&'static Dialect>,
    name: &str,
    arguments: JsonObject,
) -> Option<Understood> {
    let candidates = meant(dialect, name);
    let fitting = candidates.iter().find(|meant| meant.fits(&arguments));
    understood_as(dialect, *fitting.or(candidates.first())?, arguments)
}

/// Understands a call of this tool.
fn understood_as(
    dialect: Option<&'static Dialect>,
    meant: Meant,
    arguments: JsonObject,
) -> Option<Understood> {
    match meant {
        Meant::Ours(tool) => Some(with_parts(dialect, tool, arguments)),
        Meant::Theirs(theirs) => {
            let (tool, translated) = match theirs.translate(arguments) {
                Ok(translated) => (translated.tool, Ok(translated)),
                Err(problem) => (theirs.stands_for, Err(problem)),
            };
            let tool = tools::find(tool)?;
            Some(match translated {
                Ok(mut translated) => {
                    let arguments = std::mem::take(&mut translated.arguments);
                    Understood { tool, arguments, translated, problem: None }
                }
                Err(problem) => Understood {
                    tool,
                    arguments: JsonObject::new(),
                    translated: Translated::refused(theirs.words),
                    problem: Some(problem),
                },
            })
        }
    }
}

/// Understands a call of our tool whose arguments may name a tool of a dialect: that of a preview, or those of several edits.
fn with_parts(
    dialect: Option<&'static Dialect>,
    tool: &'static ToolSpec,
    mut arguments: JsonObject,
) -> Understood {
    let mut translated = Translated::ours(tool.about.name);
    let mut problem = None;
    let mut translate = |named: &mut JsonObject| match part(dialect, named) {
        Some(Ok((arguments, counts_as_read))) => {
            *named = arguments;
            translated.counts_as_read |= counts_as_read;
        }
        Some(Err(refused)) => {
            problem.get_or_insert(refused);
        }
        None => {}
    };
    match tool.about.name {
        "edit_preview" => {
            translate(&mut arguments);
            problem = problem.or_else(|| dialect?.unknown_edit(&arguments));
        }
        "edit_files" => {
            let edits = arguments.get_mut("edits").and_then(Value::as_array_mut).into_iter().flatten();
            edits.filter_map(Value::as_object_mut).for_each(translate);
        }
        // No other tool of ours names tools.
        _ => {}
    }
    Understood { tool, arguments, translated, problem }
}

/// Understands arguments beside the name of their tool, and returns them with that of one of ours, and whether their line
/// numbers are those that were read; `None` if they are ours already.
fn part(
    dialect: Option<&'static Dialect>,
    named: &JsonObject,
) -> Option<Result<(JsonObject, bool), Problem>> {
    let name = named.get("tool")?.as_str()?;
    let mut inner = named.clone();
    inner.retain(|key, _| key != "tool");
    let understood = understand(dialect, name, inner.clone())?;
    if let Some(problem) = understood.problem {
        return Some(Err(problem));
    }
    let ours = understood.tool.about.name;
    if ours == name && understood.arguments == inner {
        return None;
    }
    let with_name = [("tool".to_owned(), ours.into())].into_iter().chain(understood.arguments);
    Some(Ok((with_name.collect(), understood.translated.counts_as_read)))
}

#[cfg(test)]
mod tests;
