//! The wrapping that models put around an edit: code fences, and a line with the name of the file.
//!
//! ```text
//! fence = ("```" "`"* | "~~~" "~"*) info     closed by at least as many of the same, indented alike
//! name  = ["#"+ | "//" | ">" | "-" | number "."] ["File:"] path [":"]     also in backticks, quotes, bold, or as the info of a fence
//! ```
//!
//! A line counts as a name only if it can hardly be prose. **When in doubt it is prose**: an edit without a name is
//! refused and can be sent again; one under a wrong name changes a wrong file.

use alloc::string::String;
use alloc::vec::Vec;

pub(super) use super::names::agree;

/// How many lines above an edit its file name may stand.
const REACH: usize = 3;

/// Words without an extension that are file names all the same.
const KNOWN: &str = "AUTHORS Brewfile BUILD CHANGELOG CODEOWNERS Containerfile COPYING Dockerfile Gemfile \
    GNUmakefile Jenkinsfile Justfile justfile LICENSE Makefile makefile NOTICE Pipfile Procfile \
    Rakefile README Vagrantfile VERSION WORKSPACE";

/// Words that begin a sentence ending in a file name.
const PROSE: &[&str] = &[
    "a", "add", "and", "at", "change", "create", "delete", "edit", "finally", "first", "fix", "for", "from",
    "here", "in", "into", "is", "it", "let", "make", "modify", "next", "now", "of", "on", "open", "or",
    "remove", "replace", "run", "second", "see", "so", "the", "then", "this", "to", "update", "updated",
    "updating", "use", "using", "we", "with", "write",
];

/// The languages of fences whose content is to be run, not to be written to a file.
const SHELLS: &[&str] =
    &["bash", "bat", "cmd", "console", "fish", "powershell", "ps1", "sh", "shell", "shell-session", "zsh"];

/// Returns the lines of a request, without LF and without the CR before it.
pub(super) fn lines(text: &str) -> Vec<&str> {
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect()
}

/// The opening line of a fenced block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence<'a> {
    indent: usize,
    mark: u8,
    length: usize,
    /// The text after the marks, usually a language.
    pub(super) info: &'a str,
}

impl<'a> Fence<'a> {
    /// Returns the fence that this line opens. A closing line looks the same; only the caller can tell them apart.
    pub(super) fn opened_by(line: &'a str) -> Option<Self> {
        let (indent, line) = (indent_of(line), line.trim());
        let mark = *line.as_bytes().first().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = line.bytes().take_while(|&b| b == mark).count();
        let info = line[length..].trim();
        // Inline code has more backticks after the first ones.
        let opens = length >= 3 && !(mark == b'`' && info.contains('`'));
        opens.then_some(Self { indent, mark, length, info })
    }

    pub(super) fn is_closed_by(&self, line: &str) -> bool {
        self.could_hold(line) && Fence::opened_by(line).is_some_and(|other| other.info.is_empty())
    }

    /// Returns whether this line inside the fence could open another one that the closing line would close.
    pub(super) fn could_hold(&self, line: &str) -> bool {
        Fence::opened_by(line).is_some_and(|other| {
            other.mark == self.mark && other.length >= self.length && other.indent == self.indent
        })
    }

    /// Returns whether the fence holds a description of a change, not a file.
    pub(super) fn is_diff(&self) -> bool {
        matches!(self.info, "diff" | "patch" | "ed" | "rcs")
    }

    /// Removes the indentation that the lines share with the fence, as in a list. If one line has less, the lines were
    /// not indented with the fence and stay.
    pub(super) fn unwrapped<'l>(&self, lines: &[&'l str]) -> Vec<&'l str> {
        let white = |line: &str| line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let is_indented = |line: &&str| line.trim().is_empty() || white(line) >= self.indent;
        let by = if lines.iter().all(is_indented) { self.indent } else { 0 };
        // A blank line may have less.
        lines.iter().map(|line| line.get(by..).unwrap_or("")).collect()
    }

    /// Returns whether the content of the fence is to be run.
    pub(super) fn is_shell(&self) -> bool {
        let language = self.info.split_whitespace().next().unwrap_or("");
        SHELLS.iter().any(|shell| language.eq_ignore_ascii_case(shell))
    }
}

/// Returns how many bytes of white space a line begins with.
pub(super) fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the name above line `at`, at most three lines up, past fences and blank lines, but not before `floor`.
pub(super) fn name_above(lines: &[&str], at: usize, floor: usize) -> Option<NameCandidate> {
    let mut apart = false;
    for &line in lines[floor.max(at.saturating_sub(REACH))..at].iter().rev() {
        if line.trim().is_empty() {
            apart = true;
        } else if let Some(fence) = Fence::opened_by(line) {
            if let Some(path) = name_in_info(fence.info) {
                return Some(NameCandidate { path, bare: false });
            }
        } else if !is_tag_fence(line) {
            return name_in(line).filter(|name| !(apart && name.bare));
        }
    }
    None
}

/// Returns whether this is a tag such as `<source>python`, which replaces a fence around content with fences.
fn is_tag_fence(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['<', '/']);
    ["source>", "code>", "pre>", "codeblock>", "sourcecode>"].iter().any(|tag| line.starts_with(tag))
}

/// Words of a sentence that announces a file.
const ANNOUNCES: &[&str] =
    &["file", "content", "contents", "modified", "updated", "new", "version", "rewritten"];
/// Words of a sentence that only mentions a file.
const MENTIONS: &[&str] =
    &["run", "running", "execute", "output", "prints", "use", "using", "usage", "call", "like"];

/// Returns the only name in backticks in the sentence above line `at`, if it announces the file, as in "Here is the new
/// `src/a.py`:" and not in "Run `a.py` like this:".
pub(super) fn name_in_sentence_above(lines: &[&str], at: usize, floor: usize) -> Option<String> {
    let above = &lines[floor.max(at.saturating_sub(REACH))..at];
    let sentence = above.iter().rev().find(|line| !line.trim().is_empty())?;
    let mut quoted = sentence.split('`').skip(1).step_by(2);
    let path = quoted.next().filter(|path| is_named(path) && !path.contains(char::is_whitespace))?;
    let says = |words: &[&str]| {
        sentence
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known)))
    };
    let alone = sentence.matches('`').count() == 2;
    // "And here is `src/a.py`:"
    let before = sentence.split('`').next().unwrap_or_default().trim_end().to_lowercase();
    let presents = before.ends_with("here is") || before.ends_with("here's");
    (alone && (presents || says(ANNOUNCES)) && !says(MENTIONS)).then(|| path.into())
}

/// Returns the files that the sentence above line `at` mentions.
pub(super) fn names_spoken_of_above<'l>(lines: &[&'l str], at: usize, floor: usize) -> Vec<&'l str> {
    let above = &lines[floor.max(at.saturating_sub(REACH))..at];
    let sentence = above.iter().rev().find(|line| !line.trim().is_empty());
    sentence
        .into_iter()
        .flat_map(|line| line.split_whitespace())
        .map(bare_word)
        .filter(|word| is_named(word))
        .collect()
}

/// Strips quotes and punctuation from a word.
fn bare_word(word: &str) -> &str {
    word.trim_matches(['`', '*', '"', '\'', '(', ')', '.', ',', ':', ';', '!'])
}

/// Returns the name in the info of a fence: "src/a.py", "python src/a.py", "python:src/a.py".
pub(super) fn name_in_info(info: &str) -> Option<String> {
    let word = info.rsplit([' ', ':']).next()?;
    is_named(word).then(|| word.into())
}

/// A line that may be a file name.
pub(super) struct NameCandidate {
    pub(super) path: String,
    /// Whether only its place suggests that it is a name.
    pub(super) bare: bool,
}

/// Returns the name that this line consists of, without its decoration.
fn name_in(line: &str) -> Option<NameCandidate> {
    let mut rest = without_bullet(line.trim());
    let mut quoted = false;
    let mut decorated = false;
    loop {
        let before = rest;
        rest = rest.trim_start_matches("//").trim_start_matches(['#', '*', '>']);
        rest = rest.trim_end_matches(['*', ':']).trim();
        rest = without_label(rest);
        if let Some(inner) = rest.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
            rest = inner.trim_matches('`').trim();
            quoted = true;
        }
        // In such quotes a sentence may be as well.
        let inner = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        rest = inner.filter(|inner| is_named(inner)).unwrap_or(rest);
        if rest == before {
            break;
        }
        decorated = true;
    }
    if rest.is_empty()
        || rest.contains(['`', '<', '>', '"', '|', '?', '\t'])
        || rest.chars().all(|c| c == '.')
    {
        return None;
    }
    let bare = !quoted && !is_named(rest) && !KNOWN.split(' ').any(|known| known == rest);
    let sentence = rest.ends_with(['.', '!', ',', ';', '\u{2026}']);
    let begins_as_prose = rest.split_once(' ').is_some_and(|(first, _)| {
        PROSE.iter().any(|word| first.eq_ignore_ascii_case(word)) || first.ends_with([',', ';'])
    });
    let prose = sentence
        || (!quoted && begins_as_prose)
        || (bare && (decorated || rest.contains(char::is_whitespace) || rest.starts_with('-')));
    (!prose).then(|| NameCandidate { path: rest.into(), bare })
}

fn without_bullet(line: &str) -> &str {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = if number.len() < line.len() { number.strip_prefix(". ") } else { None };
    numbered.or_else(|| line.strip_prefix("- ")).map_or(line, str::trim_start)
}

fn without_label(line: &str) -> &str {
    for label in ["file:", "filename:", "path:", "file path:"] {
        if line.get(..label.len()).is_some_and(|start| start.eq_ignore_ascii_case(label)) {
            return line[label.len()..].trim_start();
        }
    }
    line
}

/// Returns whether this looks like a file name: it has an extension, or a folder and no white space.
fn is_named(path: &str) -> bool {
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    let has_extension = !extension.is_empty()
        && extension.len() <= 16
        && extension.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '+'));
    let in_folder = path.contains('/') && !file.is_empty() && !path.contains(char::is_whitespace);
    (has_extension || in_folder) && !path.contains("://") && !path.contains(['(', '{'])
}

/// Returns whether this sentence mentions a file other than `path`: one in a folder, or of the same kind.
pub(super) fn mentions_another(sentence: &str, path: &str) -> bool {
    let kind = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    sentence
        .split_whitespace()
        .map(bare_word)
        .filter(|word| is_named(word) && !agree(word, path))
        .any(|word| word.contains('/') || word.rsplit_once('.').is_some_and(|(_, other)| other == kind))
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn a_line_that_begins_outside_of_ascii_opens_no_fence() {
        // A run of equal bytes may end inside such a character.
        for line in ["\u{3fb}", "\u{e9}t\u{e9}", "\u{4e00}\u{4e00}\u{4e00}"] {
            assert_eq!(Fence::opened_by(line), None, "{line}");
        }
    }

    fn name(lines: &[&str]) -> Option<String> {
        name_above(lines, lines.len(), 0).map(|name| name.path)
    }

    #[test]
    fn a_name_is_freed_of_its_decoration() {
        for line in [
            "src/a.py",
            "# src/a.py",
            "### `src/a.py`",
            "**src/a.py**:",
            "**`src/a.py`:**",
            "File: src/a.py",
            "**File:** `src/a.py`",
            "// src/a.py",
            "- src/a.py",
            "2. `src/a.py`:",
            "```src/a.py",
            "```python src/a.py",
            "```python:src/a.py",
        ] {
            assert_eq!(name(&[line]).as_deref(), Some("src/a.py"), "{line}");
        }
        for path in ["Makefile", "my notes.txt", ".env", "script", "src/My File.py", "__init__.py"] {
            assert_eq!(name(&[path]).as_deref(), Some(path));
        }
        assert_eq!(name(&["`no extension`"]).as_deref(), Some("no extension"));
    }

    #[test]
    fn prose_is_no_name() {
        for line in [
            "Here's the change:",
            "Example:",
            "## Changes",
            "...",
            "That is all.",
            "Now edit src/main.py:",
            "In src/main.py",
            "First, change main.py",
            "Done!",
            "Call `f` and `g`",
            "see https://example.org/a.py",
        ] {
            assert_eq!(name(&[line]), None, "{line}");
        }
    }

    #[test]
    fn a_name_stands_at_most_three_lines_above_past_fences_and_blank_lines() {
        assert_eq!(name(&["a.py", "```", "```python"]).as_deref(), Some("a.py"));
        assert_eq!(name(&["a.py", "", "```python"]).as_deref(), Some("a.py"));
        assert_eq!(name(&["a.py", "<source>python"]).as_deref(), Some("a.py"));
        assert_eq!(name(&["a.py", "", "", "```"]), None);
        assert_eq!(name(&["a.py", "and then this:", "```"]), None, "the nearest line counts");
        assert_eq!(name(&["word", "", "```"]), None, "a word for itself is only a name right above");
        assert!(name_above(&["a.py", "x"], 1, 1).is_none());
    }

    #[test]
    fn the_only_quoted_name_of_the_sentence_counts() {
        let name = |line: &str| name_in_sentence_above(&[line, ""], 2, 0);
        assert_eq!(name("Here is the modified `a.py` file:").as_deref(), Some("a.py"));
        assert_eq!(name("The new `a.py`, once `b.py`:"), None);
        assert_eq!(name("And here is `a.py`:").as_deref(), Some("a.py"));
        assert_eq!(name("Here is a test of `a.py`:"), None);
        assert_eq!(name("The new `main()`:"), None);
        assert_eq!(name("Run the new `a.py` file like this:"), None);
    }

    #[test]
    fn a_sentence_may_speak_of_another_file() {
        assert!(mentions_another("Now edit `src/b.py`:", "a.py") && mentions_another("and b.py.", "a.py"));
        for sentence in ["And in a.py:", "Call self.b instead:", "e.g. 1.5", ""] {
            assert!(!mentions_another(sentence, "src/a.py"), "{sentence}");
        }
    }

    #[test]
    fn a_fence_is_closed_by_as_many_marks_of_its_kind() {
        let fence = Fence::opened_by("````md").expect("it is one");
        assert!(!fence.is_closed_by("```") && !fence.is_closed_by("~~~~") && !fence.is_closed_by("````py"));
        assert!(fence.is_closed_by("`````") && !fence.is_closed_by("  ````"));
        assert_eq!(Fence::opened_by("```a``` inline"), None);
        assert_eq!(Fence::opened_by("``"), None);
    }

    #[test]
    fn a_fence_is_three_marks_or_more_and_its_info_has_no_backtick() {
        let opened = |line| Fence::opened_by(line).map(|it| (it.indent, it.mark, it.length, it.info));
        assert_eq!(opened("```"), Some((0, b'`', 3, "")));
        assert_eq!(opened("  ~~~~ py x "), Some((2, b'~', 4, "py x")));
        assert_eq!(opened("~~~ a`b"), Some((0, b'~', 3, "a`b")));
        for line in ["", "~~", "``x", "``` a`b", "x```", "\"\"\""] {
            assert_eq!(opened(line), None, "{line}");
        }
        let fence = Fence::opened_by("  ```").expect("it is one");
        assert!(fence.could_hold("  ```py") && fence.could_hold("  ````") && fence.is_closed_by("  ```"));
        for line in ["```", "   ```", "  ~~~", "  ``", "  x"] {
            assert!(!fence.could_hold(line) && !fence.is_closed_by(line), "{line}");
        }
        assert!(!fence.is_closed_by("  ```py"));
    }

    #[test]
    fn commands_and_changes_are_known_by_the_language_of_their_fence() {
        let fence = |info: &'static str| Fence { indent: 0, mark: b'`', length: 3, info };
        for info in ["sh", "Bash", "console", "powershell -x", "zsh"] {
            assert!(fence(info).is_shell() && !fence(info).is_diff(), "{info}");
        }
        for info in ["diff", "patch", "ed", "rcs"] {
            assert!(fence(info).is_diff() && !fence(info).is_shell(), "{info}");
        }
        for info in ["", "py", "shx", "py sh", "diffs"] {
            assert!(!fence(info).is_diff() && !fence(info).is_shell(), "{info}");
        }
    }

    #[test]
    fn lines_in_a_list_lose_the_indentation_of_their_fence_if_all_have_it() {
        let fence = |indent| Fence { indent, mark: b'`', length: 3, info: "" };
        assert_eq!(fence(2).unwrapped(&["  a", "   b", "", " ", "\t c"]), ["a", " b", "", "", "c"]);
        assert_eq!(fence(2).unwrapped(&["  a", " b"]), ["  a", " b"]);
        assert_eq!(fence(0).unwrapped(&["  a", "b"]), ["  a", "b"]);
    }

    #[test]
    fn a_tag_around_content_is_like_a_fence() {
        for tag in ["<source>python", "</source>", "<code>", " <pre>", "</codeblock>", "sourcecode>"] {
            assert_eq!(name(&["a.py", tag]).as_deref(), Some("a.py"), "{tag}");
        }
        assert_eq!(name(&["a.py", "<body>"]), None);
    }

    #[test]
    fn what_is_written_about_a_name_decides_whether_it_is_one() {
        for (line, path) in [
            ("1. src/a.py", Some("src/a.py")),
            ("12. src/a.py", Some("src/a.py")),
            ("1.src/a.py", Some("1.src/a.py")),
            ("Filename: a.py", Some("a.py")),
            ("path: a.py", Some("a.py")),
            ("FILE PATH: a.py", Some("a.py")),
            ("`Makefile`:", Some("Makefile")),
            ("# Makefile", Some("Makefile")),
            ("> src/a.py", Some("src/a.py")),
            ("``src/a.py``", Some("src/a.py")),
            ("`here it is`", Some("here it is")),
            ("src/folder/name", Some("src/folder/name")),
            ("notes", Some("notes")),
            ("# notes", None),
            ("two notes", None),
            ("-notes", None),
            ("a.py,", None),
            ("a.py;", None),
            ("a.py!", None),
            ("a.py\u{2026}", None),
            ("Then, a.py", None),
            ("Update a.py", None),
            ("well, a.py", None),
            ("well; a.py", None),
            ("<a.py>", None),
            ("a|b.py", None),
            ("a?.py", None),
            ("a\tb.py", None),
            ("\"src/a.py\"", Some("src/a.py")),
            ("\"Look at it.\"", None),
            ("\"notes\"", None),
            ("..", None),
            ("", None),
        ] {
            assert_eq!(name(&[line]).as_deref(), path, "{line:?}");
        }
        let bare = |line| name_above(&[line], 1, 0).map(|name| name.bare);
        assert_eq!(
            [bare("notes"), bare("Makefile"), bare("`notes`"), bare("a.py"), bare("```a.py")],
            [Some(true), Some(false), Some(false), Some(false), Some(false)]
        );
    }

    #[test]
    fn a_name_has_an_extension_or_a_folder() {
        for path in [
            "a.b",
            "my notes.txt",
            ".env",
            "a/b",
            "a\\b.c",
            "x.c++",
            "x.a_b",
            &format!("a.{}", "b".repeat(16)),
        ] {
            assert!(is_named(path), "{path}");
        }
        for path in [
            "a",
            "a.",
            "a/",
            "my notes/x",
            "e.g. this",
            "f(a.b)",
            "f{a.b}",
            "http://a.b",
            "a.b?c",
            &format!("a.{}", "b".repeat(17)),
        ] {
            assert!(!is_named(path), "{path}");
        }
        let info = |info| name_in_info(info);
        assert_eq!(info("python:src/a.py").as_deref(), Some("src/a.py"));
        assert_eq!(info("src/a.py").as_deref(), Some("src/a.py"));
        assert_eq!([info("python"), info(""), info("a.py python")], [None, None, None]);
    }

    #[test]
    fn only_the_sentence_right_above_speaks_of_files() {
        let spoken =
            |lines: &[&'static str], floor| names_spoken_of_above(lines, lines.len(), floor).join(" ");
        assert_eq!(spoken(&["See (a.py), **b/c** and `d.e`:"], 0), "a.py b/c d.e");
        assert_eq!(spoken(&["a.py", "and b.py!", "", ""], 0), "b.py");
        assert_eq!(spoken(&["a.py", "", "", ""], 0), "");
        assert_eq!(spoken(&["a.py", ""], 1), "");
        let named = |lines: &[&str], floor| name_in_sentence_above(lines, lines.len(), floor);
        assert_eq!(named(&["The new `a.py`:", "", ""], 0).as_deref(), Some("a.py"));
        assert_eq!(named(&["The new `a.py`:", "", "", ""], 0), None);
        assert_eq!(named(&["The new `a.py`:", ""], 1), None);
        assert_eq!(named(&["Here's `a.py`"], 0).as_deref(), Some("a.py"));
        assert_eq!(named(&["The new `my a.py`:"], 0), None);
        assert_eq!(named(&["The new `a.py, once more:"], 0), None);
        assert_eq!(named(&["`a.py`:"], 0), None);
    }

    #[test]
    fn names_agree_folder_by_folder_whatever_their_slashes() {
        assert!(
            agree("src\\a.py", "./src/a.py") && agree("/src/a.py", "src/a.py") && agree("a.py", "src/a.py")
        );
        assert!(!agree("a.py", "ba.py") && !agree("lib/a.py", "src/a.py"));
        assert!(mentions_another("see src/c", "a.py") && !mentions_another("see c.txt", "a.py"));
    }
}
