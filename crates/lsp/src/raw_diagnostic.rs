//! Diagnostics as a server sends them. Columns are kept in the server's units, and are converted into characters only
//! in a report.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::{DiagnosticRelatedInformation, DiagnosticSeverity, NumberOrString};
use serde_json::{Value, json};

use crate::aftermath::{Diagnostic, Severity};
use crate::position::ColumnUnits;
use crate::wire;

/// How many diagnostics of one file are kept.
const MAX_DIAGNOSTICS: usize = 500;
/// How many characters of a message are kept.
const MAX_MESSAGE: usize = 1000;
/// How many related files of one diagnostic are kept; if it names more, none is.
const MAX_RELATED: usize = 20;
/// How many bytes a diagnostic may have that is kept as it was sent.
const MAX_SENT: usize = 16 * 1024;

/// The diagnostics of a text, shared.
pub(crate) type RawDiagnostics = Arc<Vec<RawDiagnostic>>;

/// An error or a warning in a version of a file; path and version are kept beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawDiagnostic {
    /// Counted from zero.
    pub(crate) line: u32,
    /// Counted from zero, in the units of the server.
    units: u32,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    source: Option<String>,
    pub(crate) code: Option<String>,
    related: Vec<PathBuf>,
    /// All of it, in the form of the protocol; null if it is too long to be kept.
    sent: Value,
}

/// Converts a list from LSP, leaving out what is neither error nor warning.
pub(crate) fn diagnostics_from_lsp(diagnostics: Vec<lsp_types::Diagnostic>) -> Vec<RawDiagnostic> {
    diagnostics.into_iter().filter_map(diagnostic_from_lsp).take(MAX_DIAGNOSTICS).collect()
}

fn diagnostic_from_lsp(diagnostic: lsp_types::Diagnostic) -> Option<RawDiagnostic> {
    let severity = match diagnostic.severity {
        Some(DiagnosticSeverity::WARNING) => Severity::Warning,
        // Where the severity is absent, the client decides, and an error must not be missed.
        Some(DiagnosticSeverity::ERROR) | None => Severity::Error,
        Some(_) => return None,
    };
    let sent = kept(serde_json::to_value(&diagnostic).unwrap_or_default());
    let code = diagnostic.code.map(|code| match code {
        NumberOrString::Number(number) => number.to_string(),
        NumberOrString::String(text) => truncated(text),
    });
    Some(RawDiagnostic {
        line: diagnostic.range.start.line,
        units: diagnostic.range.start.character,
        severity,
        message: truncated(diagnostic.message),
        source: diagnostic.source.map(truncated),
        code,
        related: related_files(diagnostic.related_information.unwrap_or_default()),
        sent,
    })
}

/// Returns the related files; none at all if not every one of them has a path, or there are too many.
fn related_files(information: Vec<DiagnosticRelatedInformation>) -> Vec<PathBuf> {
    let files = information.into_iter().map(|one| wire::path(one.location.uri.as_str()));
    let mut files: Vec<PathBuf> = files.collect::<Option<_>>().unwrap_or_default();
    files.sort();
    files.dedup();
    if files.len() > MAX_RELATED {
        files.clear();
    }
    files
}

/// Converts an answer of TypeScript's own server, which counts places from one.
pub(crate) fn diagnostics_from_tsserver(body: &Value) -> Vec<RawDiagnostic> {
    let items = body.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(diagnostic_from_tsserver).take(MAX_DIAGNOSTICS).collect()
}

fn diagnostic_from_tsserver(item: &Value) -> Option<RawDiagnostic> {
    let severity = match item["category"].as_str()? {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    let place = |end: &str, name: &str| {
        item[end][name].as_u64().and_then(|at| u32::try_from(at).ok()?.checked_sub(1)).unwrap_or(0)
    };
    let at = |end: &str| json!({"line": place(end, "line"), "character": place(end, "offset")});
    let (source, message) = (item["source"].as_str().unwrap_or("typescript"), item["text"].as_str()?);
    let severity_sent = if severity == Severity::Error { 1 } else { 2 };
    let sent = json!({"range": {"start": at("start"), "end": at("end")}, "severity": severity_sent, "code": item["code"],
        "source": source, "message": message});
    Some(RawDiagnostic {
        line: place("start", "line"),
        units: place("start", "offset"),
        severity,
        message: truncated(message.to_owned()),
        source: Some(source.to_owned()),
        code: item["code"].as_u64().map(|code| code.to_string()),
        related: Vec::new(),
        sent: kept(sent),
    })
}

/// Returns what was sent, unless it is too long.
fn kept(sent: Value) -> Value {
    if sent.to_string().len() <= MAX_SENT { sent } else { Value::Null }
}

impl RawDiagnostic {
    /// Returns all of it in the form of the protocol, as a server wants to have it back, if it was kept.
    pub(crate) fn sent(&self) -> Option<&Value> {
        (!self.sent.is_null()).then_some(&self.sent)
    }

    /// Converts the diagnostic for a report. Without the text of the file, the column stays in the server's units.
    pub(crate) fn to_diagnostic(&self, path: &Path, text: Option<&str>, units: ColumnUnits) -> Diagnostic {
        let line = text.and_then(|text| text.lines().nth(self.line as usize));
        let characters = line.map_or(self.units, |line| units.characters(line, self.units));
        Diagnostic {
            path: path.to_owned(),
            line: self.line.saturating_add(1),
            column: characters.saturating_add(1),
            severity: self.severity,
            message: self.message.clone(),
            source: self.source.clone(),
            code: self.code.clone(),
            related: self.related.clone(),
        }
    }
}

fn truncated(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(MAX_MESSAGE) {
        text.truncate(at);
        text.push('…');
    }
    text
}

#[cfg(test)]
impl RawDiagnostic {
    pub(crate) fn error(line: u32, message: &str) -> Self {
        let (severity, message, related, sent) = (Severity::Error, message.into(), Vec::new(), Value::Null);
        Self { line, units: 0, severity, message, source: None, code: None, related, sent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_not_told_and_what_says_nothing_is_an_error() {
        let of = |severity: Value| {
            let place = json!({"line": 2, "character": 1});
            json!({"range": {"start": place, "end": place}, "severity": severity, "message": "x".repeat(5000), "code": 7})
        };
        let all = [json!(1), json!(2), json!(3), json!(4), Value::Null].map(of);
        let all = serde_json::from_value(Value::from(all.to_vec())).expect("diagnostics");
        let found = diagnostics_from_lsp(all);
        let severities: Vec<Severity> = found.iter().map(|found| found.severity).collect();
        assert_eq!(severities, [Severity::Error, Severity::Warning, Severity::Error]);
        assert_eq!(found[0].message.chars().count(), MAX_MESSAGE + 1);
        let told = found[0].to_diagnostic(Path::new("/a"), Some("one\ntwo\n😀three"), ColumnUnits::Utf16);
        assert_eq!((told.line, told.column, told.code.as_deref()), (3, 1, Some("7")));
    }

    #[test]
    fn the_files_that_it_has_to_do_with_are_told_or_none_of_them() {
        let of = |uris: Vec<String>| {
            let place = json!({"line": 0, "character": 0});
            let range = json!({"start": place, "end": place});
            let location = |uri: String| json!({"location": {"uri": uri, "range": range}, "message": "here"});
            let related: Vec<Value> = uris.into_iter().map(location).collect();
            let found = json!([{"range": range, "message": "wrong", "relatedInformation": related}]);
            diagnostics_from_lsp(serde_json::from_value(found).expect("diagnostics"))[0].related.clone()
        };
        let file = |number: usize| format!("file:///a/{number}");
        let path = |number| wire::path(&file(number)).expect("a path");
        assert_eq!(of(vec![file(2), file(1), file(2)]), [path(1), path(2)]);
        assert!(of(vec![file(1), "untitled:new".into()]).is_empty());
        assert!(of((0..=MAX_RELATED).map(file).collect()).is_empty());
    }

    #[test]
    fn typescript_counts_from_one() {
        let body = json!([
            {"start": {"line": 3, "offset": 5}, "end": {}, "text": "wrong", "code": 2322, "category": "error"},
            {"start": {"line": 3, "offset": 5}, "end": {}, "text": "unused", "code": 1, "category": "suggestion"},
        ]);
        let [found] = diagnostics_from_tsserver(&body).try_into().expect("one");
        let told = found.to_diagnostic(Path::new("/a"), Some("\n\n    x"), ColumnUnits::Utf16);
        assert_eq!((told.line, told.column, told.code.as_deref()), (3, 5, Some("2322")));
    }
}
