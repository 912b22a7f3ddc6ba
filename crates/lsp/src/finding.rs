//! What a server has found in a text, as it says it: places are counted in its own units, and are turned into lines and
//! characters only for whoever reads them.

use std::path::{Path, PathBuf};

use lsp_types::{DiagnosticRelatedInformation, DiagnosticSeverity, NumberOrString, PositionEncodingKind};
use serde_json::Value;

use crate::aftermath::{Diagnostic, Severity};
use crate::wire;

/// How many of one file are kept, and how much of the message of each.
const FINDINGS: usize = 500;
const MESSAGE: usize = 1000;
/// How many files of one are: of more none, as if it had named none.
const RELATED: usize = 20;

/// An error or a warning in a version of a file that is known beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// Counted from zero.
    pub(crate) line: u32,
    /// Counted from zero, in the units of the server.
    units: u32,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    source: Option<String>,
    pub(crate) code: Option<String>,
    related: Vec<PathBuf>,
}

/// In what a server counts the places in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Units {
    Utf8,
    Utf16,
    Utf32,
}

impl Units {
    /// Those that a server has chosen. It chooses UTF-16 by saying nothing.
    pub(crate) fn chosen(kind: Option<&PositionEncodingKind>) -> Self {
        match kind.map(PositionEncodingKind::as_str) {
            Some("utf-8") => Self::Utf8,
            Some("utf-32") => Self::Utf32,
            _ => Self::Utf16,
        }
    }

    fn of(self, character: char) -> usize {
        match self {
            Self::Utf8 => character.len_utf8(),
            Self::Utf16 => character.len_utf16(),
            Self::Utf32 => 1,
        }
    }

    /// How many whole characters stand in front of that many units.
    fn characters(self, line: &str, units: u32) -> u32 {
        let mut left = units as usize;
        let mut characters = 0;
        for character in line.chars() {
            if left < self.of(character) {
                break;
            }
            left -= self.of(character);
            characters += 1;
        }
        characters
    }
}

/// Those of a list that are errors and warnings.
pub(crate) fn findings(diagnostics: Vec<lsp_types::Diagnostic>) -> Vec<Finding> {
    diagnostics.into_iter().filter_map(finding).take(FINDINGS).collect()
}

fn finding(diagnostic: lsp_types::Diagnostic) -> Option<Finding> {
    let severity = match diagnostic.severity {
        Some(DiagnosticSeverity::WARNING) => Severity::Warning,
        // What says nothing of that is left to the client, and an error is not to be missed.
        Some(DiagnosticSeverity::ERROR) | None => Severity::Error,
        Some(_) => return None,
    };
    let code = diagnostic.code.map(|code| match code {
        NumberOrString::Number(number) => number.to_string(),
        NumberOrString::String(text) => cut(text),
    });
    Some(Finding {
        line: diagnostic.range.start.line,
        units: diagnostic.range.start.character,
        severity,
        message: cut(diagnostic.message),
        source: diagnostic.source.map(cut),
        code,
        related: related(diagnostic.related_information.unwrap_or_default()),
    })
}

/// The files that it has to do with. None where not all of them can be told.
fn related(information: Vec<DiagnosticRelatedInformation>) -> Vec<PathBuf> {
    let files = information.into_iter().map(|one| wire::path(one.location.uri.as_str()));
    let mut files: Vec<PathBuf> = files.collect::<Option<_>>().unwrap_or_default();
    files.sort();
    files.dedup();
    if files.len() > RELATED {
        files.clear();
    }
    files
}

/// What TypeScript's own server answers, whose places are counted from one.
pub(crate) fn of_typescript(body: &Value) -> Vec<Finding> {
    let items = body.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(one_of_typescript).take(FINDINGS).collect()
}

fn one_of_typescript(item: &Value) -> Option<Finding> {
    let severity = match item["category"].as_str()? {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    let place =
        |name: &str| item["start"][name].as_u64().and_then(|at| u32::try_from(at).ok()?.checked_sub(1));
    Some(Finding {
        line: place("line").unwrap_or(0),
        units: place("offset").unwrap_or(0),
        severity,
        message: cut(item["text"].as_str()?.to_owned()),
        source: Some(item["source"].as_str().unwrap_or("typescript").to_owned()),
        code: item["code"].as_u64().map(|code| code.to_string()),
        related: Vec::new(),
    })
}

impl Finding {
    /// As it is told of a file with this text; without the text a column is as good as its units.
    pub(crate) fn told(&self, path: &Path, text: Option<&str>, units: Units) -> Diagnostic {
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

fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(MESSAGE) {
        text.truncate(at);
        text.push('…');
    }
    text
}

#[cfg(test)]
impl Finding {
    pub(crate) fn error(line: u32, message: &str) -> Self {
        let (severity, message, related) = (Severity::Error, message.into(), Vec::new());
        Self { line, units: 0, severity, message, source: None, code: None, related }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_column_is_told_in_characters() {
        let line = "a😀ü x";
        for (units, at) in [(Units::Utf8, 8), (Units::Utf16, 5), (Units::Utf32, 4)] {
            assert_eq!(units.characters(line, at), 4, "{units:?}");
        }
        // In the middle of a character, and behind the end.
        assert_eq!(Units::Utf16.characters(line, 2), 1);
        assert_eq!(Units::Utf8.characters(line, 99), 5);
    }

    #[test]
    fn hints_are_not_told_and_what_says_nothing_is_an_error() {
        let of = |severity: Value| {
            let place = json!({"line": 2, "character": 1});
            json!({"range": {"start": place, "end": place}, "severity": severity, "message": "x".repeat(5000), "code": 7})
        };
        let all = [json!(1), json!(2), json!(3), json!(4), Value::Null].map(of);
        let all = serde_json::from_value(Value::from(all.to_vec())).expect("diagnostics");
        let found = findings(all);
        let severities: Vec<Severity> = found.iter().map(|found| found.severity).collect();
        assert_eq!(severities, [Severity::Error, Severity::Warning, Severity::Error]);
        assert_eq!(found[0].message.chars().count(), MESSAGE + 1);
        let told = found[0].told(Path::new("/a"), Some("one\ntwo\n😀three"), Units::Utf16);
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
            findings(serde_json::from_value(found).expect("diagnostics"))[0].related.clone()
        };
        let file = |number: usize| format!("file:///a/{number}");
        let path = |number| wire::path(&file(number)).expect("a path");
        assert_eq!(of(vec![file(2), file(1), file(2)]), [path(1), path(2)]);
        assert!(of(vec![file(1), "untitled:new".into()]).is_empty());
        assert!(of((0..=RELATED).map(file).collect()).is_empty());
    }

    #[test]
    fn typescript_counts_from_one() {
        let body = json!([
            {"start": {"line": 3, "offset": 5}, "end": {}, "text": "wrong", "code": 2322, "category": "error"},
            {"start": {"line": 3, "offset": 5}, "end": {}, "text": "unused", "code": 1, "category": "suggestion"},
        ]);
        let [found] = of_typescript(&body).try_into().expect("one");
        let told = found.told(Path::new("/a"), Some("\n\n    x"), Units::Utf16);
        assert_eq!((told.line, told.column, told.code.as_deref()), (3, 5, Some("2322")));
    }
}
