//! The only prompt, `edit`, which tells a model how to edit files with the tools.

use std::fmt::Write;

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};

/// The name of the prompt.
pub(crate) const EDIT: &str = "edit";
/// The argument that names a file or a folder.
pub(crate) const PATH: &str = "path";
/// The argument that says what to do.
const TASK: &str = "task";

const LOOP: &str = "Edit files with the tools of Emend, in this order:\n\
1. Find: list_files and search_text say where things are. Do not guess paths.\n\
2. Read: read_file, before you change a file. Its numbered lines are what your edit must match.\n\
3. Edit with the tool that says the least: str_replace for one place, its edits for several places of one file, \
replace_in_files for the same text in many files, \
replace_lines with the version of your reading for lines that you know by number, apply_patch for several files or \
for moves and deletions together with changes, write_file for a new file, move_file and delete_file; edit_files makes several of these as one. Copy old text \
from the reading as it stands there, with its indentation.\n\
4. If a call is refused, nothing was changed. Its answer shows the real lines, all the places, or what somebody else \
changed: mend the call from that. Do not send the same call again, and do not fall back to writing the whole file.\n\
5. Unsure about a large edit: edit_preview, look at the diff, then apply_preview with its handle. An edit that was a \
mistake: undo_edit; edit_history shows all of them.\n\
6. The answer of each edit has the diff and the new version: check that it did what you meant. Then the next edit \
needs no new reading.";

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
    let mut text = LOOP.to_owned();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_that_the_prompt_names_exists_and_those_that_edit_are_all_named() {
        let tools = crate::tools::all();
        let words =
            LOOP.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.contains('_'));
        for word in words {
            assert!(tools.iter().any(|tool| tool.about.name == word), "{word}");
        }
        for tool in tools.iter().filter(|tool| tool.about.effect == crate::tools::Effect::Edits) {
            assert!(LOOP.contains(tool.about.name), "{}", tool.about.name);
        }
    }
}
