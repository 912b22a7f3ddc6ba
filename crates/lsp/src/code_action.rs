//! Changes that a server offers, as it sends them: code actions that are an edit, and those that are more than that.
//!
//! An action that is or has a command would have the server run something, and change files by itself. It is no edit for us.

use serde_json::Value;

use crate::known::Dialect;

/// The kind of the actions that mend what is wrong.
pub(crate) const QUICK_FIX: &str = "quickfix";
/// The kinds of the actions for a file as a whole.
pub(crate) const WHOLE_FILE: [&str; 2] = ["source.organizeImports", "source.fixAll"];
/// All kinds of actions that are asked for.
pub(crate) const KINDS: [&str; 3] = [QUICK_FIX, WHOLE_FILE[0], WHOLE_FILE[1]];
/// How many characters of a title are kept.
const TITLE: usize = 200;

/// An action that a server offers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) title: String,
    pub(crate) what: What,
}

/// What an action does.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The edit, as it is sent.
    Edit(Value),
    /// The action has an edit only when it is asked for it.
    Unresolved,
    /// The server would run this command.
    Command(String),
}

impl Action {
    /// Reads an action of one of these kinds; `None` if it is of another kind, or cannot be had.
    pub(crate) fn read(sent: &Value, kinds: &[&str], dialect: Dialect) -> Option<Self> {
        let title: String = sent["title"].as_str()?.chars().take(TITLE).collect();
        // A bare command, which says no kind.
        if let Some(command) = sent["command"].as_str() {
            return Some(Self { title, what: What::Command(command.to_owned()) });
        }
        let is_wanted = |kind: &str| {
            kinds.iter().any(|wanted| {
                kind.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        let is_of_kind = sent["kind"].as_str().map_or(kinds.contains(&QUICK_FIX), is_wanted);
        if !is_of_kind || !sent["disabled"].is_null() {
            return None;
        }
        let what = match (&sent["command"], &sent["edit"]) {
            (command @ Value::Object(_), _) if !runs_nothing(command, dialect) => {
                What::Command(command["command"].as_str().unwrap_or_default().to_owned())
            }
            (_, Value::Null) => What::Unresolved,
            (_, edit) => What::Edit(edit.clone()),
        };
        Some(Self { title, what })
    }
}

/// Returns whether a command does nothing: typescript-language-server adds one to each action, for commands of TypeScript
/// that the action may have.
fn runs_nothing(command: &Value, dialect: Dialect) -> bool {
    let commands = &command["arguments"][0]["action"]["commands"];
    dialect == Dialect::TypeScript
        && command["command"] == "_typescript.applyCodeActionCommand"
        && command["arguments"][0]["action"].is_object()
        && (commands.is_null() || commands.as_array().is_some_and(Vec::is_empty))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(sent: &Value, dialect: Dialect) -> Option<What> {
        Some(Action::read(sent, &[QUICK_FIX], dialect)?.what)
    }

    #[test]
    fn an_action_is_an_edit_or_said_to_be_none() {
        let edit = json!({"changes": {}});
        let plain = |sent: Value| read(&sent, Dialect::Plain);
        assert_eq!(
            plain(json!({"title": "x", "kind": "quickfix", "edit": edit})),
            Some(What::Edit(edit.clone()))
        );
        assert_eq!(plain(json!({"title": "x", "edit": edit})), Some(What::Edit(edit.clone())));
        assert_eq!(
            plain(json!({"title": "x", "kind": "quickfix.import", "data": 1})),
            Some(What::Unresolved)
        );
        let command = || Some(What::Command("do".into()));
        assert_eq!(plain(json!({"title": "x", "command": "do"})), command());
        assert_eq!(
            plain(json!({"title": "x", "edit": edit, "command": {"title": "", "command": "do"}})),
            command()
        );
        assert_eq!(plain(json!({"title": "x", "kind": "quickfixes", "edit": edit})), None);
        assert_eq!(plain(json!({"title": "x", "kind": "refactor", "edit": edit})), None);
        assert_eq!(plain(json!({"title": "x", "edit": edit, "disabled": {"reason": "no"}})), None);
    }

    #[test]
    fn a_command_that_has_nothing_to_run_is_none() {
        let sent = |commands: Value| {
            let arguments = json!([{"action": {"fixName": "import", "commands": commands}}]);
            let command =
                json!({"title": "", "command": "_typescript.applyCodeActionCommand", "arguments": arguments});
            json!({"title": "x", "kind": "quickfix", "edit": {}, "command": command})
        };
        assert_eq!(read(&sent(Value::Null), Dialect::TypeScript), Some(What::Edit(json!({}))));
        let runs = |what| matches!(what, Some(What::Command(_)));
        assert!(runs(read(&sent(json!([{"type": "install package"}])), Dialect::TypeScript)));
        assert!(runs(read(&sent(Value::Null), Dialect::Plain)));
    }
}
