//! Completions: paths and edit ids that begin with what the user has typed.

use rmcp::ErrorData;
use rmcp::model::{ArgumentInfo, CompletionInfo, Reference};

use emend_workspace::Workspace;
use emend_workspace::catalogue::Child;
use emend_workspace::history::HistoryQuery;

use crate::prompts;
use crate::resources;
use crate::uri;

/// The number of newest edits whose ids are offered.
const EDITS_LOOKED_THROUGH: usize = 1_000;

/// Returns the completions of an argument. Blocks.
pub(crate) fn complete(
    workspace: &Workspace,
    reference: &Reference,
    argument: &ArgumentInfo,
) -> Result<CompletionInfo, ErrorData> {
    let kind = argument_kind(workspace, reference, &argument.name)?;
    let typed = argument.value.as_str();
    let found = match kind {
        ArgumentKind::Nothing => Vec::new(),
        ArgumentKind::Path { below } => complete_path(workspace, below.as_deref(), typed),
        ArgumentKind::Edit => complete_edit_id(workspace, typed),
    };
    Ok(truncate(found))
}

/// The kind of an argument's values.
enum ArgumentKind {
    /// A path: relative to the folder `below`, or as the tools take it.
    Path { below: Option<String> },
    /// The id of an edit.
    Edit,
    /// Free text.
    Nothing,
}

fn argument_kind(
    workspace: &Workspace,
    reference: &Reference,
    name: &str,
) -> Result<ArgumentKind, ErrorData> {
    let unknown = |message: String| Err(ErrorData::invalid_params(message, None));
    match reference {
        Reference::Prompt(prompt) if prompt.name != prompts::EDIT => {
            unknown(format!("Unknown prompt '{}'. There is one: {}.", prompt.name, prompts::EDIT))
        }
        Reference::Prompt(_) if name == prompts::PATH => Ok(ArgumentKind::Path { below: None }),
        Reference::Prompt(_) => Ok(ArgumentKind::Nothing),
        Reference::Resource(template) if template.uri == resources::EDIT_TEMPLATE => {
            Ok(if name == "id" { ArgumentKind::Edit } else { ArgumentKind::Nothing })
        }
        Reference::Resource(template) => {
            let roots = workspace.roots().all();
            match roots.iter().find(|root| uri::file_template(root) == template.uri) {
                Some(root) if name == "path" => {
                    Ok(ArgumentKind::Path { below: Some(format!("{}/", root.path.display())) })
                }
                Some(_) => Ok(ArgumentKind::Nothing),
                None => unknown(format!(
                    "Unknown resource template '{}': resources/templates/list has all of them.",
                    template.uri
                )),
            }
        }
        _ => Ok(ArgumentKind::Nothing),
    }
}

/// Completes a typed path by one more name. Paths of folders end in a slash.
fn complete_path(workspace: &Workspace, below: Option<&str>, typed: &str) -> Vec<String> {
    let roots = workspace.roots().all();
    let (folder, begun) = typed.rfind('/').map_or(("", typed), |at| typed.split_at(at + 1));
    // In a workspace of several roots, a path begins with the name of a root.
    let is_at_roots = below.is_none() && roots.len() > 1 && folder.is_empty();
    let (folder, begun) = match begun.split_once(':') {
        Some((root, begun)) if is_at_roots => (format!("{root}:"), begun),
        _ => (folder.to_owned(), begun),
    };
    if is_at_roots && folder.is_empty() {
        let names = roots.iter().filter(|root| root.policy.may_read(&[]).is_ok());
        return filter_by_prefix(names.map(|root| format!("{}:", root.name)).collect(), begun);
    }
    let written = format!("{}{folder}", below.unwrap_or_default());
    let Ok(children) = workspace.files().children(&written) else { return Vec::new() };
    let name = |Child { name, is_folder }| if is_folder { name + "/" } else { name };
    let found = filter_by_prefix(children.into_iter().map(name).collect(), begun);
    found.into_iter().map(|name| format!("{folder}{name}")).collect()
}

/// Keeps the names with this prefix; if there are none, those that have it when case is ignored.
fn filter_by_prefix(names: Vec<String>, begun: &str) -> Vec<String> {
    let exact: Vec<String> = names.iter().filter(|name| name.starts_with(begun)).cloned().collect();
    if !exact.is_empty() {
        return exact;
    }
    let begun = begun.to_lowercase();
    names.into_iter().filter(|name| name.to_lowercase().starts_with(&begun)).collect()
}

/// Returns the edit ids that begin with `typed`, the newest first.
fn complete_edit_id(workspace: &Workspace, typed: &str) -> Vec<String> {
    let edits = workspace
        .past_edits()
        .newest(&HistoryQuery { path: None, limit: EDITS_LOOKED_THROUGH }, "")
        .unwrap_or_default();
    edits.into_iter().map(|edit| edit.id).filter(|id| id.starts_with(typed)).collect()
}

/// Keeps as many completions as a response may have, and adds their total number.
fn truncate(mut found: Vec<String>) -> CompletionInfo {
    let total = found.len();
    found.truncate(CompletionInfo::MAX_VALUES);
    let more = total > found.len();
    CompletionInfo::with_pagination(found, u32::try_from(total).ok(), more).unwrap_or_default()
}
