//! The only prompt, `edit`, which tells a model how to edit files with the tools: what the skill teaches, and a task.

use std::fmt::Write;

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

use crate::skills;

/// The name of the prompt.
pub(crate) const EDIT: &str = "edit";
/// The argument that names a file or a folder.
pub(crate) const PATH: &str = "path";
/// The argument that says what to do.
const TASK: &str = "task";

/// Returns the list of prompts.
pub(crate) fn all() -> Vec<Prompt> {
    let argument = |name: &str, title: &str, description: &str| {
        PromptArgument::new(name).with_title(title).with_description(description).with_required(false)
    };
    let description = "How to find, read and edit files with Emend, and how to mend a refused edit.";
    let arguments = vec![
        argument(PATH, "File or folder", "Where to begin."),
        argument(TASK, "Task", "What is to be changed."),
    ];
    vec![Prompt::new(EDIT, Some(description), Some(arguments)).with_title("Edit files")]
}

/// Returns the prompt of this name with its arguments filled in.
pub(crate) fn get(name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
    if name != EDIT {
        let message = format!("Unknown prompt '{name}'. There is one: {EDIT}.");
        return Err(ErrorData::invalid_params(message, None));
    }
    if let Some(unknown) = arguments.keys().find(|key| ![PATH, TASK].contains(&key.as_str())) {
        let message = format!("The prompt {EDIT} has no argument '{unknown}'. It takes {PATH} and {TASK}.");
        return Err(ErrorData::invalid_params(message, None));
    }
    let mut text = skills::lesson().to_owned();
    for (name, before) in [(PATH, "Begin with"), (TASK, "The task")] {
        let Some(value) = arguments.get(name) else { continue };
        let Some(value) = value.as_str() else {
            let message = format!("The argument {name} of the prompt {EDIT} must be a text.");
            return Err(ErrorData::invalid_params(message, None));
        };
        if !value.trim().is_empty() {
            let _ = write!(text, "\n\n{before}: {}", value.trim());
        }
    }
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)])
        .with_description("How to edit files with Emend"))
}
