//! Answers to the requests that a server sends to its client.

use std::path::Path;

use lsp_server::{ErrorCode, ResponseError};
use lsp_types::request::{
    ApplyWorkspaceEdit, DocumentDiagnosticRequest, RegisterCapability, Request, ShowMessageRequest,
    UnregisterCapability, WorkDoneProgressCreate, WorkspaceConfiguration, WorkspaceDiagnosticRefresh,
    WorkspaceFoldersRequest,
};
use serde_json::{Value, json};

use crate::wire;

/// Answers the requests of one server in one root.
#[derive(Debug)]
pub(crate) struct RequestHandler {
    pub(crate) name: String,
    pub(crate) root: std::path::PathBuf,
    /// The configuration that the server gets when it asks for it.
    pub(crate) options: Value,
}

impl RequestHandler {
    pub(crate) fn answer(&self, method: &str, params: &Value) -> Result<Value, ResponseError> {
        Ok(match method {
            WorkspaceConfiguration::METHOD => {
                let items = params["items"].as_array().map(Vec::as_slice).unwrap_or_default();
                items.iter().map(|item| self.section(item["section"].as_str())).collect()
            }
            WorkspaceFoldersRequest::METHOD => folders(&self.root),
            // The server is notified of every change, whatever it has registered for.
            RegisterCapability::METHOD | UnregisterCapability::METHOD | WorkDoneProgressCreate::METHOD => {
                Value::Null
            }
            ShowMessageRequest::METHOD | WorkspaceDiagnosticRefresh::METHOD => Value::Null,
            ApplyWorkspaceEdit::METHOD => {
                json!({"applied": false, "failureReason": "this client does not edit for servers"})
            }
            _ => {
                let message = format!("{method} is not offered");
                return Err(ResponseError { code: ErrorCode::MethodNotFound as i32, message, data: None });
            }
        })
    }

    /// Returns a section of the configuration by its dotted name. The section named like the server is all of it.
    fn section(&self, name: Option<&str>) -> Value {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return self.options.clone() };
        let found = name.split('.').try_fold(&self.options, |inside, name| inside.get(name));
        match found {
            Some(found) => found.clone(),
            None if name == self.name => self.options.clone(),
            None => Value::Null,
        }
    }
}

/// Whether a server registers for pull diagnostics.
pub(crate) fn registers_diagnostics(params: &Value) -> bool {
    let registrations = params["registrations"].as_array().map(Vec::as_slice).unwrap_or_default();
    registrations.iter().any(|one| one["method"] == DocumentDiagnosticRequest::METHOD)
}

/// Returns the LSP workspace folders of a workspace with this root alone.
pub(crate) fn folders(root: &Path) -> Value {
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned());
    wire::uri(root).map_or(Value::Null, |uri| json!([{"uri": uri, "name": name.unwrap_or_default()}]))
}

/// Merges one JSON value over another: objects key by key, anything else as a whole.
pub(crate) fn merge_json(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                merge_json(under.entry(key).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client() -> RequestHandler {
        let options = json!({"python": {"analysis": {"mode": "open"}}});
        RequestHandler { name: "server".into(), root: "/a".into(), options }
    }

    #[test]
    fn configuration_is_answered_by_sections() {
        let sections = ["python", "python.analysis", "other", "server"].map(|name| json!({"section": name}));
        let answer = client().answer("workspace/configuration", &json!({"items": sections}));
        let options = client().options;
        let expected = json!([options["python"], options["python"]["analysis"], null, options]);
        assert_eq!(answer.expect("answered"), expected);
    }

    #[test]
    fn a_server_edits_nothing_and_gets_nothing_unknown() {
        let refused = client().answer("workspace/applyEdit", &json!({})).expect("answered");
        assert_eq!(refused["applied"], json!(false));
        let unknown = client().answer("workspace/somethingNew", &Value::Null).expect_err("refused");
        assert_eq!(unknown.code, ErrorCode::MethodNotFound as i32);
    }

    #[test]
    fn options_are_laid_over_key_by_key() {
        let mut under = json!({"a": {"b": 1, "c": [1, 2]}, "d": 1});
        merge_json(&mut under, &json!({"a": {"c": [3]}, "e": {"f": 1}}));
        assert_eq!(under, json!({"a": {"b": 1, "c": [3]}, "d": 1, "e": {"f": 1}}));
    }
}
