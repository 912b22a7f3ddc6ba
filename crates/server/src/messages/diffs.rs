//! The messages about malformed diffs and scripts: what is wrong, and an example of a correct one.

use emend_edit::problem::malformed::{Context, Ed, Header, Rcs, Unified};

const UNIFIED: &str = "--- a/path\n+++ b/path\n@@ -1,2 +1,2 @@\n context\n-old line\n+new line";
const HUNK: &str = "@@ -7,2 +7,2 @@\n a line of the file that stays";
const SIDES: &str = "--- a/path\n+++ b/path";
const CONTEXT: &str = "*** path\n--- path\n***************\n*** 1,2 ****\n  context\n! old line\n--- 1,2 ----\n  context\n! \
                       new line";
const ED: &str = "5c\nthe new line 5\n.";
const RCS: &str = "d5 1\na5 1\nthe new line 5";
const MODES: &str = "new file mode 100644\nnew file mode 100755";
const NO_FILE: &str = "nothing says which file this hunk is of; give 'path', or name it in the headers";
const FENCE_NOT_AROUND: &str = "nothing but this fence is read, and its end is not the last line; if the script was cut \
                                off, send the whole of it again";

/// Returns what is wrong with a file header, and a correct example.
pub(super) fn header(fault: &Header) -> (String, String) {
    let (what, example) = match fault {
        Header::CombinedDiff => (
            "this is the combined diff of a merge; send a diff against one parent",
            "diff --git a/path b/path\n@@ -1,2 +1,2 @@",
        ),
        Header::CopiedFile => (
            "a patch cannot copy a file here; send the copy as a new file with its whole content",
            "--- /dev/null\n+++ b/path/of/the/copy",
        ),
        Header::BinaryFile => (
            "binary files cannot be edited as text; leave this file out and change it with a tool of its own",
            "diff --git a/some/text.txt b/some/text.txt\n@@ -1,2 +1,2 @@",
        ),
        Header::SymbolicLink => ("a symbolic link cannot be edited as text; leave it out", MODES),
        Header::Submodule => ("a submodule cannot be edited as text; leave it out", MODES),
        Header::UnknownMode { mode } => {
            return (format!("'{mode}' is not the mode of a regular file"), MODES.into());
        }
        Header::CreatedAndDeleted => ("the file is both created and deleted", SIDES),
        Header::HalfRename => ("a rename needs both 'rename from' and 'rename to', and nothing else", SIDES),
        Header::NoFileNamed => ("the headers name no file", SIDES),
        Header::BothSidesNothing => ("both sides are /dev/null", SIDES),
        Header::DifferentNames { old, new } => {
            let what = format!(
                "the headers name different files, '{old}' and '{new}'. Name the one that is changed on both sides; to \
                 rename it, say so before them"
            );
            return (what, format!("rename from {old}\nrename to {new}"));
        }
        Header::OtherGitLine { line, other } => {
            let what = format!(
                "the headers name different files: the line 'diff --git' has '{line}', and another header has '{other}'. \
                 Write the same name in all of them, or leave out the line 'diff --git'"
            );
            let name = other.strip_prefix("a/").or(other.strip_prefix("b/")).unwrap_or(other);
            return (what, format!("diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}"));
        }
        Header::AnotherFile { path, named, other } => {
            let both = other.as_ref().map(|other| format!("' and '{other}")).unwrap_or_default();
            let what = format!(
                "'path' is '{path}', but the headers name '{named}{both}'. To change {path}, write that name in the \
                 headers, or leave out the headers; to change another file, leave out 'path'"
            );
            return (what, format!("--- a/{path}\n+++ b/{path}"));
        }
    };
    (what.into(), example.into())
}

/// Returns what is wrong with a unified diff, and a correct example.
pub(super) fn unified(fault: &Unified) -> (String, String) {
    let (what, example) = match fault {
        Unified::NoDiff => ("there is no diff in the text", UNIFIED),
        Unified::FenceNotClosed => (
            "the code fence that opens here is not closed, so the diff was cut off; send the whole of it again",
            "```diff\n...\n```",
        ),
        Unified::OneSideNamed { text } => {
            return (format!("'{text}' names one side of a file only"), SIDES.into());
        }
        Unified::ChangeAfterHunk { text } => {
            let what = format!("'{text}' looks like a changed line, but the hunk before it has ended");
            return (what, HUNK.into());
        }
        Unified::CombinedDiff => {
            ("this is the combined diff of a merge; send a diff against one parent", HUNK)
        }
        Unified::EmptyHunk => ("the hunk has no lines", HUNK),
        Unified::CutOff => (
            "the text ends inside this hunk, which has fewer lines than it says, so the diff was cut off; send the whole \
             of it again",
            HUNK,
        ),
        Unified::NoFileNamed => (NO_FILE, UNIFIED),
        Unified::DeletedButKept => (
            "the file is deleted, but this hunk keeps or adds lines",
            "@@ -1,2 +0,0 @@\n-every line of the file",
        ),
        Unified::NewWithoutContent => {
            ("there is no hunk, so the new file's content is missing", "@@ -0,0 +1 @@\n+its only line")
        }
        Unified::NoHunk { path } => {
            return (format!("there is no hunk for '{path}', so nothing says what to change"), HUNK.into());
        }
        Unified::OldLinesMissing => (
            "the hunk only adds lines, but its header counts lines that are there; give them as context. To create a file, \
             write '--- /dev/null' in place of its old name",
            HUNK,
        ),
        Unified::NoPlace => (
            "the hunk only adds lines and does not say where; give the unchanged lines around them. To create a file, \
                 write '--- /dev/null' in place of its old name",
            HUNK,
        ),
        Unified::LineEndings => (
            "the hunk changes line endings, which a patch cannot: a file keeps its own. Use write_file for that, and leave \
             such lines out here",
            HUNK,
        ),
        Unified::NoNewlineInside => (
            "'\\ No newline at end of file' stands only after the last line of a side",
            "+the last line\n\\ No newline at end of file",
        ),
    };
    (what.into(), example.into())
}

/// Returns what is wrong with a context diff, and a correct example.
pub(super) fn context(fault: &Context) -> (String, String) {
    let what = match fault {
        Context::NoDiff => "there is no context diff in the text".into(),
        Context::NoFileNamed => NO_FILE.into(),
        Context::NothingChanged => "the hunk changes nothing".into(),
        Context::SidesDiffer => {
            "its two sides do not fit together: their context and their '!' lines must be the same".into()
        }
        Context::NotARange { text, prefix, suffix } => {
            format!("'{text}' should be the range of a side, '{prefix}1,2{suffix}'")
        }
        Context::LinesMissing { count } => {
            format!("the range says that {count} lines follow, but that is not so")
        }
    };
    (what, CONTEXT.into())
}

/// Returns what is wrong with an ed script, and a correct example.
pub(super) fn ed(fault: &Ed) -> (String, String) {
    let what = match fault {
        Ed::NoFileNamed => "an ed script names no file; give 'path' with it".into(),
        Ed::NoCommands => "the script has no commands".into(),
        Ed::FenceNotAround => FENCE_NOT_AROUND.into(),
        Ed::NoCommand { text } => {
            format!("'{text}' is no command that is read here: 'a', 'i', 'c' and 'd' after line numbers")
        }
        Ed::NotUpwards { line, before } => format!(
            "this command is at line {line}, and the one before it at line {before}. The commands must go from the bottom \
             of the file up, as diff -e writes them, so that the numbers are those of the file as it is"
        ),
        Ed::TextNotEnded => {
            "its text is not ended by a line of a single dot; if the script was cut off, send the whole of \
                             it again"
                .into()
        }
        Ed::NothingToTakeAway => "there is no character that 's/.//' could take away".into(),
        Ed::AfterEnd { text } => format!("'{text}' stands after the end"),
    };
    (what, ED.into())
}

/// Returns what is wrong with an RCS diff, and a correct example.
pub(super) fn rcs(fault: &Rcs) -> (String, String) {
    let what = match fault {
        Rcs::NoFileNamed => "an RCS script names no file; give 'path' with it".into(),
        Rcs::NoCommands => "the script has no commands".into(),
        Rcs::FenceNotAround => FENCE_NOT_AROUND.into(),
        Rcs::NoCommand { text } => format!("'{text}' is no command of an RCS script"),
        Rcs::NotDownwards { line, done } => {
            format!("line {line} comes after line {done}; the commands go down the file, once")
        }
        Rcs::LinesMissing { count, left } => {
            format!("{count} lines should follow, but there are only {left}")
        }
    };
    (what, RCS.into())
}
