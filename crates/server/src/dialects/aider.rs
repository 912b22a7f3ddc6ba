//! Aider's edit formats. Aider's models write them into their answers; here they are the argument of apply_patch.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use emend_workspace::DialectName;
use emend_workspace::problem::Problem;

use super::Dialect;
use super::tool::{DialectArguments, DialectTool, Translated, invalid};
use crate::manner::{Done, Refused, Words};
use crate::tools::{About, Effect};

pub(super) fn dialect() -> Dialect {
    Dialect {
        name: DialectName::Aider,
        tools: vec![DialectTool::listed_with::<ApplyPatch>()],
        keeps: &[
            "read_file",
            "list_files",
            "search_text",
            "edit_preview",
            "apply_preview",
            "undo_edit",
            "diagnostics",
        ],
        names: &[
            ("str_replace", "apply_patch"),
            ("write_file", "apply_patch with the format whole"),
            ("old_string", "SEARCH"),
            ("new_string", "REPLACE"),
        ],
    }
}

/// Aider's formats, each with ours.
const FORMATS: [(&str, &str); 5] = [
    ("whole", "whole"),
    ("diff", "search-replace"),
    ("diff-fenced", "search-replace"),
    ("udiff", "unified"),
    ("patch", "v4a"),
];

/// Arguments of `apply_patch`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApplyPatch {
    /// The edits, in one of aider's formats
    patch: String,
    /// The format (default: recognised)
    #[schemars(extend("enum" = ["whole", "diff", "diff-fenced", "udiff", "patch"]))]
    format: Option<String>,
    /// The file to change, where the edits name none
    path: Option<String>,
}

impl DialectArguments for ApplyPatch {
    const ABOUT: About = About {
        name: "apply_patch",
        title: "Apply edits",
        description: "Apply edits in one of aider's formats, all or none. whole: a path, and below it the whole file in a \
fence. diff: a path, and below it in a fence *SEARCH/REPLACE* blocks:\n<<<<<<< SEARCH\nlines as they are\n=======\nlines as they \
shall be\n>>>>>>> REPLACE\ndiff-fenced: the same with the path inside the fence. udiff: a unified diff; it needs no line \
numbers. patch: *** Begin Patch. SEARCH has whole lines, exactly as in the file, and enough of them to be unique.",
        effect: Effect::Edits,
        is_idempotent: true,
        is_core: true,
    };
    const STANDS_FOR: &'static str = "apply_patch";
    const WORDS: Words = Words { done: Some(done), refused: Some(refused), ..Words::OURS };

    fn translate(self) -> Result<Translated, Problem> {
        let Self { patch, format, path } = self;
        let named = |name: String| {
            let found = FORMATS.iter().find(|(theirs, _)| *theirs == name);
            found.map(|(_, ours)| *ours).ok_or_else(|| invalid("format", "it is none of aider's"))
        };
        let format = format.filter(|format| !format.is_empty()).map(named).transpose()?;
        let path = path.filter(|path| !path.is_empty());
        let arguments = [("patch", patch.into()), ("path", json!(path)), ("format", json!(format))];
        Ok(Translated { counts_as_read: true, ..Translated::call("apply_patch", arguments) })
    }
}

fn done(done: &Done<'_>) -> String {
    let applied: String = done.files.iter().map(|file| format!("Applied edit to {}\n", file.path)).collect();
    applied + &done.snippet()
}

fn refused(refused: &Refused<'_>) -> Option<String> {
    let path = refused.path();
    match refused.code {
        "search-not-found" | "hunk-context-mismatch" => {
            Some(format!("This block failed to exactly match lines in {path}"))
        }
        "ambiguous-match" => Some(format!("This block matches several places in {path}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::DialectName;

    #[test]
    fn a_call_becomes_one_of_ours() {
        let dialect = DialectName::Aider;
        check(
            dialect,
            ("apply_patch", json!({"patch": "p", "format": "diff-fenced", "path": ""})),
            "apply_patch",
            json!({"patch": "p", "format": "search-replace"}),
        );
        check(dialect, ("apply_patch", json!({"patch": "p"})), "apply_patch", json!({"patch": "p"}));
        check(
            dialect,
            ("apply_patch", json!({"patch": "p", "format": "ed", "path": "a"})),
            "apply_patch",
            json!({"patch": "p", "format": "ed", "path": "a"}),
        );
    }
}
