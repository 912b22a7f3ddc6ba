//! The messages about malformed patches: the line, what is wrong with it, and an example of a correct one. Those about
//! diffs and scripts are in `diffs`.
//!
//! The first lines of the V4A failures are Codex's own, which models were trained on.

use std::fmt;

use emend_edit::problem::Malformed;
use emend_edit::problem::malformed::{Found, SearchReplace, V4a, Whole};

use super::{Audience, diffs};

const V4A: &str = "*** Begin Patch\n*** Update File: path\n@@\n-old line\n+new line\n*** End Patch";
const BLOCK: &str = "path/to/file\n<<<<<<< SEARCH\nold lines\n=======\nnew lines\n>>>>>>> REPLACE";
const WHOLE: &str = "path/to/file\n```\nthe whole content\n```";
const ESCAPE: &str = "Put a \\ before a line of the content that looks like a marker";

pub(super) fn write(
    audience: Audience,
    line: Option<usize>,
    fault: &Malformed,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    // The message of a fault without a line does not use the number.
    let line = line.unwrap_or(1);
    let (what, example) = match fault {
        Malformed::NoFormat(first) => return write_no_format(first.as_deref(), f),
        Malformed::EscapedBreaks => {
            return f.write_str(
                "The line breaks are escaped: send real line breaks. The text is a single line with \\n in it, so nothing \
                 was changed. If other characters are escaped too (\\t, \\\"), send those plain as well.",
            );
        }
        Malformed::V4a(fault) => return write_v4a(line, fault, f),
        Malformed::SearchReplace(fault) => return write_search_replace(line, fault, f),
        Malformed::Whole(fault) => return write_whole(audience, line, fault, f),
        Malformed::Header(fault) => diffs::header(fault),
        Malformed::Unified(fault) => diffs::unified(fault),
        Malformed::Context(fault) => diffs::context(fault),
        Malformed::Ed(fault) => diffs::ed(fault),
        Malformed::Rcs(fault) => diffs::rcs(fault),
    };
    write!(f, "Invalid patch on line {line}: {what}. This would do:\n{example}")
}

fn write_no_format(first: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match first {
        None => f.write_str("The patch is empty, so nothing was changed.")?,
        Some(first) => write!(
            f,
            "This is no edit format that is known here, so nothing was changed; its first line is '{first}'."
        )?,
    }
    f.write_str(" Send a patch that begins like this:\n*** Begin Patch\n*** Update File: path/to/file")
}

fn write_v4a(line: usize, fault: &V4a, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let what = match fault {
        V4a::NoBegin { first: None } => {
            return f.write_str(
                "Invalid patch: The first line of the patch must be '*** Begin Patch'; it is empty.",
            );
        }
        V4a::NoBegin { first: Some(first) } => {
            return write!(
                f,
                "Invalid patch: The first line of the patch must be '*** Begin Patch'; it is '{first}'. Send the patch \
                 alone, or with a blank line around it:\n{V4A}"
            );
        }
        V4a::NoEnd { last } => {
            return write!(
                f,
                "Invalid patch: The last line of the patch must be '*** End Patch'; it is '{last}'. If the patch was cut \
                 off, send the whole of it again; leave out everything after *** End Patch."
            );
        }
        V4a::SecondPatch => {
            return write!(
                f,
                "Invalid patch: a second patch on line {line}. Send one at a time, or put the sections of both between one \
                 '*** Begin Patch' and one '*** End Patch'."
            );
        }
        V4a::SectionOutside { text } => {
            return write!(
                f,
                "Invalid patch: line {line}, '{text}', is not between '*** Begin Patch' and '*** End Patch'. Put every \
                 section there."
            );
        }
        V4a::NoSections => {
            return f.write_str(
                "No files were modified: the patch is empty. Between *** Begin Patch and *** End Patch, give sections such \
                 as:\n*** Update File: path\n@@\n-old line\n+new line",
            );
        }
        V4a::EmptyEnvironment => {
            return f.write_str("Invalid patch: apply_patch environment_id cannot be empty");
        }
        V4a::MoveWithoutTarget => "a move is written '*** Move File: old/path -> new/path'".into(),
        V4a::NotAHeader { header, after_added } => {
            let hint =
                if *after_added { ". Each line of an added file begins with +, blank ones too" } else { "" };
            format!(
                "'{header}' is not a valid hunk header. Valid hunk headers: '*** Add File: {{path}}', '*** Delete File: \
                 {{path}}', '*** Update File: {{path}}'{hint}"
            )
        }
        V4a::NoFileNamed => "the header names no file".into(),
        V4a::EmptySection { path } => format!("Update file hunk for path '{path}' is empty"),
        V4a::NoMarker { text } => {
            format!("Expected update hunk to start with a @@ context marker, got: '{text}'")
        }
        V4a::NotALine { text } => format!(
            "Unexpected line found in update hunk: '{text}'. Every line should start with ' ' (context line), '+' (added \
             line), or '-' (removed line)"
        ),
        V4a::EmptyHunk => "Update hunk does not contain any lines".into(),
    };
    write!(f, "Invalid patch hunk on line {line}: {what}")
}

fn write_search_replace(line: usize, fault: &SearchReplace, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let what = match fault {
        SearchReplace::NoBlocks => {
            return write!(
                f,
                "There is no SEARCH/REPLACE block in this text, so nothing was changed. Send blocks like this:\n{BLOCK}"
            );
        }
        SearchReplace::MarkerOutside { text } => format!(
            "'{text}' stands outside of a block, or is not written as a marker. Expected: <<<<<<< SEARCH"
        ),
        SearchReplace::NoFileNamed => {
            "this block names no file. Expected: its path alone on the line above the SEARCH \
                                       line, or the argument path"
                .into()
        }
        SearchReplace::AnotherFile { path, named } => another_file(path, named),
        SearchReplace::EmptySearch => {
            "SEARCH is empty. To insert, expected: a line of the file that stays, in SEARCH and \
                                       in REPLACE"
                .into()
        }
        SearchReplace::Elisions { old, new } => format!(
            "SEARCH has {old} lines '...' and REPLACE has {new}. Expected: as many in both, or, better, the real lines. If \
             the file itself has such lines, use str_replace"
        ),
        SearchReplace::NoSeparator { nearly } => {
            let nearly = nearly.as_ref().map(|(line, text)| format!("; line {line} is '{text}'"));
            format!(
                "the block ends without a separator. Expected: a line ======= between the old and the new lines{}",
                nearly.unwrap_or_default()
            )
        }
        SearchReplace::Separators { begins, lines } => {
            let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
            format!(
                "the block that begins at line {begins} could part at each of the lines {}. Expected: one separator. \
                 {ESCAPE}: \\=======",
                lines.join(", ")
            )
        }
        SearchReplace::NoEnd { has_separator, is_cline, found } => {
            let replace = if *is_cline { "+++++++ REPLACE" } else { ">>>>>>> REPLACE" };
            let missing = match has_separator {
                false => format!("=======, then the new lines and {replace}"),
                true => replace.into(),
            };
            let found = match found {
                Some(Found { line, text, is_marker: true }) => format!("line {line} is '{text}'. {ESCAPE}"),
                Some(Found { line, text, is_marker: false }) => format!("line {line} is '{text}'"),
                None => "the text ends. If it was cut off, send the whole of it again".into(),
            };
            format!("the block that begins here has no end. Expected: {missing}; but {found}")
        }
        SearchReplace::NotANumber { name } => format!("expected a number: {name}12"),
        SearchReplace::HintInside { text } => {
            format!("'{text}' may only stand right after the SEARCH line. {ESCAPE}: \\{text}")
        }
    };
    write!(f, "Invalid SEARCH/REPLACE block, line {line}: {what}. A block looks like this:\n{BLOCK}")
}

fn write_whole(audience: Audience, line: usize, fault: &Whole, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let what = match fault {
        Whole::NoFileNamed => {
            return write!(
                f,
                "No file is named, so nothing was changed. Put the path alone on the line above each fence:\n{WHOLE}"
            );
        }
        Whole::NoContent { path } => {
            return write!(
                f,
                "There is no content for {path} in this text, so nothing was changed. A whole file looks like \
                 this:\n{WHOLE}"
            );
        }
        Whole::AnotherFile { path, named } => another_file(path, named),
        Whole::FenceNotClosed => {
            "this fence is not closed. If the text was cut off, send the whole of it again".into()
        }
        Whole::UnknownContent => {
            let (whole, script) = match audience {
                Audience::Model => ("format: \"whole\"", "format: \"ed\", \"rcs\", \"unified\""),
                Audience::Person => ("--format whole", "--format ed, rcs or unified"),
            };
            format!(
                "it is not said what this fence holds. Expected: the path on the line before it, if it is the whole file \
                 (or {whole}); a script or a diff alone, without the text around it (or {script})"
            )
        }
        Whole::SecondTime { path } => format!("{path} is there a second time. Expected: each file once"),
        Whole::SecondFence { path } => {
            format!(
                "a second fence, and no line says which is {path}. Expected: the path on the line above it"
            )
        }
        Whole::Unnamed { path } => format!(
            "it is not said whether this fence is {path}, so no file was written. Expected: the path alone on the line \
             above it; or leave the fence out if it is an example"
        ),
        Whole::Diff { path } => format!(
            "the fence holds a diff, which is not the content of {path}. Expected: the whole content, or a diff with its \
             lines --- and +++ and @@"
        ),
        Whole::UnclearEnd => {
            "it is unclear whether this fence ends the file or belongs to its content. Expected: around \
                              content with fences a longer one, such as ```` (and after its end a blank line)"
                .into()
        }
    };
    write!(f, "Invalid whole file, line {line}: {what}. A whole file looks like this:\n{WHOLE}")
}

fn another_file(path: &str, named: &str) -> String {
    format!(
        "the text names {named}, but the argument path is {path}. Leave path out to edit what the text names (then it may \
         name several files), or correct the name"
    )
}
