//! Reports of language servers, on the wire and as prose: which errors an edit brought, or which ones files have.

use std::fmt::Write;

use emend_lsp::{ServerState, Severity};
use emend_workspace::approval::visible_line;
use serde::{Deserialize, Serialize};

/// The number of findings in one report.
const FINDINGS_PER_REPORT: usize = 30;
/// The number of bytes of a message that are kept.
const LONGEST_MESSAGE: usize = 400;

/// What one language server says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiagnosticsReport {
    /// Its name; absent where several are awaited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// ready, pending, starting, idle, crashed, silent, not-installed or disabled.
    pub state: String,
    /// Why it says nothing, or nothing of some files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Errors and warnings that the edit brought.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Vec<Finding>>,
    /// How many errors and warnings went with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<usize>,
    /// Errors in the edited files now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<usize>,
    /// Warnings in them now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warnings: Option<usize>,
    /// All errors and warnings of the files that were asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<Vec<Finding>>,
    /// How many are left out: too many to tell, or in files that may not be read here.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The file.
    pub path: String,
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// error or warning.
    pub severity: String,
    /// What is wrong.
    pub message: String,
    /// What the server calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl DiagnosticsReport {
    /// Creates the report of a server in this state, without findings yet.
    #[must_use]
    pub fn new(server: &str, state: &ServerState) -> Self {
        let (word, why) = match state {
            ServerState::Ready => ("ready", None),
            ServerState::Starting => ("starting", None),
            ServerState::Idle => ("idle", None),
            ServerState::Crashed { why, restarts_in } if restarts_in.is_zero() => {
                ("crashed", Some(why.clone()))
            }
            ServerState::Crashed { why, restarts_in } => {
                let seconds = restarts_in.as_secs_f64().ceil();
                ("crashed", Some(format!("{why}; it can be started again in {seconds} s")))
            }
            ServerState::NotInstalled { why } => ("not-installed", Some(why.clone())),
            ServerState::Disabled => ("disabled", None),
            ServerState::Silent { why } => ("silent", Some(why.clone())),
        };
        Self {
            server: Some(server.to_owned()),
            state: word.to_owned(),
            why: why.as_deref().map(single_line),
            ..Self::default()
        }
    }

    /// Creates the report of servers that have not answered yet, and may do so in the next answer.
    #[must_use]
    pub fn pending(is_told_later: bool) -> Self {
        let why = match is_told_later {
            true => "the next answer tells them, or call diagnostics",
            false => "call diagnostics for them",
        };
        Self { state: "pending".to_owned(), why: Some(why.to_owned()), ..Self::default() }
    }

    /// Adds findings, as many as fit into one report, and the number of those that the client may not read.
    pub(crate) fn with_findings(
        mut self,
        new: Option<Vec<Finding>>,
        now: Option<Vec<Finding>>,
        hidden: usize,
    ) -> Self {
        self.left_out = hidden;
        let mut cut = |findings: Option<Vec<Finding>>| {
            findings.map(|mut findings| {
                // Errors first, so that a flood of warnings hides none.
                findings.sort_by(|one, other| one.severity.cmp(&other.severity));
                self.left_out += findings.len().saturating_sub(FINDINGS_PER_REPORT);
                findings.truncate(FINDINGS_PER_REPORT);
                findings
            })
        };
        (self.new, self.now) = (cut(new), cut(now));
        self
    }
}

impl Finding {
    /// Creates the finding from a diagnostic in the file called `path`.
    #[must_use]
    pub fn new(path: String, found: &emend_lsp::Diagnostic) -> Self {
        let severity = match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        Self {
            path,
            line: found.line,
            column: found.column,
            severity: severity.to_owned(),
            message: single_line(&found.message),
            code: found.code.as_deref().map(single_line),
        }
    }
}

/// Returns foreign text as a single line without control characters, cut to a bounded length.
pub(crate) fn single_line(text: &str) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.extend(word.chars().filter(|character| !character.is_control()));
        if words.len() > LONGEST_MESSAGE {
            let cut = words.char_indices().map(|(at, _)| at).take_while(|at| *at <= LONGEST_MESSAGE).last();
            words.truncate(cut.unwrap_or_default());
            words.push_str("...");
            break;
        }
    }
    words
}

/// Renders reports as prose: a line for each server, and one for each finding.
#[must_use]
pub fn prose(reports: &[DiagnosticsReport]) -> String {
    let mut text = String::new();
    for report in reports {
        let _ = writeln!(text, "{}", summary(report));
        for finding in report.new.iter().chain(&report.now).flatten() {
            let code = finding.code.as_deref().map(|code| format!(" [{code}]")).unwrap_or_default();
            let Finding { path, line, column, severity, message, .. } = finding;
            let path = visible_line(path);
            let _ = writeln!(text, "{path}:{line}:{column}: {severity}: {message}{code}");
        }
        if report.left_out > 0 {
            let _ = writeln!(text, "... and {} more", report.left_out);
        }
    }
    text
}

fn summary(report: &DiagnosticsReport) -> String {
    let name = report.server.as_deref().unwrap_or("Diagnostics");
    let why = report.why.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    let crashed = match report.state.as_str() {
        "ready" if report.new.is_some() => {
            report.why.as_deref().map(|why| format!(" (it had crashed and was started again: {why})"))
        }
        _ => None,
    };
    let crashed = crashed.unwrap_or_default();
    let unasked =
        report.why.as_deref().map(|why| format!(" in what it was asked about; {why}")).unwrap_or_default();
    match (report.state.as_str(), &report.new, &report.now) {
        ("ready", Some(new), _) => {
            let new = new.len() + report.left_out;
            let left = match (report.errors, report.warnings) {
                (Some(0), Some(0)) => "; none are left in the edited files".to_owned(),
                (Some(errors), Some(warnings)) => {
                    format!(
                        "; the edited files have {} and {} now",
                        counted(errors, "error"),
                        counted(warnings, "warning")
                    )
                }
                _ => String::new(),
            };
            let went = report.gone.unwrap_or_default();
            let what = match (new, went) {
                (0, 0) => "this edit brought no errors or warnings".to_owned(),
                (0, went) => format!("this edit brought none and {went} went"),
                (new, 0) => format!("this edit brought {new}"),
                (new, went) => format!("this edit brought {new}, and {went} went"),
            };
            format!("{name}{crashed}: {what}{left}.")
        }
        ("ready", None, Some(now)) => match now.len() + report.left_out {
            0 => format!("{name}: no errors or warnings{unasked}."),
            some => format!("{name}: {}{unasked}.", counted(some, "error or warning")),
        },
        ("starting", ..) => format!("{name} is starting; ask again in a moment."),
        ("idle", ..) => format!("{name} is there and starts when it is needed."),
        ("pending", ..) => format!("{name} are pending{why}."),
        ("crashed", ..) => format!("{name} crashed, so it is not known what it would say{why}."),
        ("not-installed", ..) => format!("{name} is not installed{why}."),
        ("disabled", ..) => format!("{name} is disabled in the configuration."),
        (state, ..) => format!("{name} is {state}{why}."),
    }
}

fn counted(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {}", what.replace("error", "errors").replace("warning", "warnings")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_were_not_asked_about_are_told_beside_the_others() {
        let mut report =
            DiagnosticsReport::new("server", &ServerState::Ready).with_findings(None, Some(Vec::new()), 0);
        assert_eq!(prose(std::slice::from_ref(&report)), "server: no errors or warnings.\n");
        report.why = Some("b has more than 10 bytes".into());
        let expected =
            "server: no errors or warnings in what it was asked about; b has more than 10 bytes.\n";
        assert_eq!(prose(&[report]), expected);
    }

    #[test]
    fn what_a_server_says_of_one_error_is_one_line() {
        let found = emend_lsp::Diagnostic {
            path: "/w/a".into(),
            line: 1,
            column: 1,
            severity: Severity::Error,
            message: "wrong\n\u{1b}[31mhere".into(),
            source: None,
            code: Some("E\n1".into()),
            related: Vec::new(),
        };
        let report = DiagnosticsReport::new("server", &ServerState::Ready);
        let report = report.with_findings(Some(vec![Finding::new("a\nb".into(), &found)]), None, 0);
        let prose = prose(&[report]);
        assert_eq!(prose.lines().nth(1), Some("a\\nb:1:1: error: wrong [31mhere [E 1]"));
        assert_eq!(prose.lines().count(), 2);
    }
}
