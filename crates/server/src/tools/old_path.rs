//! Lines that still name the old path of a file that moves: by its name, by its path as a module, or by its stem in an
//! import.
//!
//! A search finds lines with the name or the stem. Of these, a path must lead to the file: a relative one from the folder of
//! the line, another one by its last folders. A stem alone is the file only beside it, or where it is declared.

use std::collections::BTreeSet;

use emend_workspace::WalkScope;
use emend_workspace::roots::WorkspacePath;
use emend_workspace::search::Query;

use super::Call;

/// The names of files that are called after their folder by what imports them.
const NAMELESS: [&str; 5] = ["__init__", "index", "lib", "main", "mod"];

/// Returns the lines that still name the old path, but for those that change, and how many more there are. `None` if they
/// cannot be searched for.
pub(super) fn mentions(
    call: &Call<'_>,
    from: &WorkspacePath,
    changing: &BTreeSet<(&str, usize)>,
) -> Option<(Vec<(String, usize)>, usize)> {
    let Some(pattern) = pattern(&from.name) else { return Some((Vec::new(), 0)) };
    let scope = WalkScope { path: None, glob: None, cancelled: call.cancelled };
    let found =
        call.workspace.files().search(&scope, &Query { pattern: &pattern, ..Query::default() }).ok()?;
    let lines = found.files.iter().flat_map(|file| file.lines.iter().map(|line| (&file.name[..], line)));
    let shown = lines.clone().count();
    let staying = lines
        .filter(|(name, line)| !changing.contains(&(*name, line.number)))
        .filter(|(name, line)| names(&from.name, name, &line.text))
        .map(|(name, line)| (name.to_owned(), line.number))
        .collect();
    Some((staying, found.matches.saturating_sub(shown)))
}

/// Returns the lines of a file that import something by a path from its own folder.
pub(super) fn relative_imports(text: &str) -> Vec<usize> {
    let is_relative = |line: &&str| {
        let line = line.trim_start();
        let after = |word: &str| line.strip_prefix(word).map(str::trim_start);
        after("from ").is_some_and(|path| path.starts_with('.'))
            || after("#include").is_some_and(|path| path.starts_with('"'))
            || ["import", "export", "} from", "const", "let", "var"].iter().any(|word| line.starts_with(word))
                && ["\"./", "\"../", "'./", "'../"].iter().any(|path| line.contains(path))
    };
    text.lines().zip(1..).filter(|(line, _)| is_relative(line)).map(|(_, number)| number).collect()
}

/// Returns an expression for what names a file: its name, its path as a module, or its stem where something is imported.
fn pattern(name: &str) -> Option<String> {
    let path = name.rsplit(':').next()?;
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
    let parent = folder.rsplit('/').next().filter(|parent| !parent.is_empty());
    let escaped = |text: &str| {
        let is_special = |sign: char| sign.is_ascii_punctuation() && !matches!(sign, '_' | '<' | '>');
        let plain = |sign: char| if is_special(sign) { format!("\\{sign}") } else { sign.to_string() };
        text.chars().map(plain).collect::<String>()
    };
    let whole = |text: String| format!(r"(?:^|[^\w.-]){text}(?:$|[^\w-])");
    let file_name =
        if NAMELESS.contains(&stem) { None } else { Some(format!(r"(?:[\w.-]*/)*{}", escaped(file))) };
    let mut patterns: Vec<String> = file_name.map(whole).into_iter().collect();
    patterns.extend(
        parent.map(|parent| format!(r"\b{}(?:::|[/.\\]){}(?:$|[^\w-])", escaped(parent), escaped(stem))),
    );
    if !NAMELESS.contains(&stem) && !stem.is_empty() {
        let word = escaped(stem);
        patterns.push(format!(r#"\./{word}(?:\.\w+)?["'`)]"#));
        patterns.push(format!(
            r"^\s*(?:pub\s+)?(?:mod|import|from|use|include|require)\b[^;]*[^\w-]{word}(?:$|[^\w-])"
        ));
    }
    (!patterns.is_empty()).then(|| patterns.join("|"))
}

/// Returns the folders of a path and the stem of its last part.
fn split(name: &str) -> (Vec<&str>, &str) {
    let path = name.rsplit(':').next().unwrap_or(name);
    let mut folders: Vec<&str> = path.split('/').collect();
    let file = folders.pop().unwrap_or_default();
    (folders, file.split_once('.').map_or(file, |(stem, _)| stem))
}

/// Returns whether a line of a file that has the name or the stem of another names that one, and not a file of the same
/// name elsewhere.
fn names(from: &str, file: &str, line: &str) -> bool {
    let (mut folders, mut stem) = split(from);
    if NAMELESS.contains(&stem)
        && let Some(folder) = folders.pop()
    {
        stem = folder;
    }
    let (own, own_stem) = split(file);
    let is_path =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '\\' | ':' | '@' | '~');
    // Other names are not taken apart.
    if !stem.chars().all(is_path) {
        return true;
    }
    let tokens: Vec<&str> =
        line.split(|c| !is_path(c)).map(|token| token.trim_end_matches(['.', ':'])).collect();
    // In Python, the module comes before the names that are imported from it.
    let module = line.trim_start().split_once("from ").filter(|(before, _)| before.is_empty());
    let module = module.and_then(|(_, rest)| rest.split_once(" import")).map(|(module, _)| module.trim());
    let is_by_path = |token: &&str| {
        let parts: Vec<&str> = token.split(['/', '\\']).filter(|part| *part != ".").collect();
        let Some((last, before)) = parts.split_last() else { return false };
        if last.split_once('.').map_or(*last, |(stem, _)| stem) != stem {
            return false;
        }
        if !token.starts_with('.') {
            let may_be_longer = !folders.is_empty() || token.starts_with('/');
            return folders.ends_with(before) || may_be_longer && before.ends_with(&folders);
        }
        let up = before.iter().take_while(|part| **part == "..").count();
        let base = own.get(..own.len().saturating_sub(up)).unwrap_or_default();
        [base, &before[up..]].concat() == folders
    };
    let is_module = |token: &&str| {
        let within = module.filter(|module| !token.contains('.') && module != token);
        let parts = within.unwrap_or_default().split(['.', ':']).chain(token.split(['.', ':']));
        let parts: Vec<&str> =
            parts.filter(|part| !matches!(*part, "" | "crate" | "self" | "super")).collect();
        let at = (0..parts.len()).find(|at| parts[*at] == stem);
        at.is_some_and(|at| match &parts[..at] {
            [] => {
                let is_declared = folders.split_last() == Some((&own_stem, &own[..]));
                own == folders
                    || is_declared
                    || (token.contains("::") || token.starts_with("..")) && own.starts_with(&folders)
                    || token.starts_with("crate::") && folders.last().is_none_or(|folder| *folder == "src")
            }
            before => folders.ends_with(before) || !folders.is_empty() && before.ends_with(&folders),
        })
    };
    tokens.iter().any(|token| match token.contains(['/', '\\']) {
        true => is_by_path(token),
        // The name of the file, with its ending.
        false => from.rsplit(['/', ':']).next() == Some(token) || is_module(token),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_file_if_its_path_leads_there() {
        let named = |file: &str, line: &str| names("src/util/old.py", file, line);
        for (file, line) in [
            ("a.md", "see src/util/old.py or util/old"),
            ("a.md", "/home/me/project/src/util/old.py"),
            ("a.md", "old.py is here"),
            ("b.py", "from util.old import x"),
            ("b.py", "from src.util import other, old"),
            ("src/util/b.py", "from . import old"),
            ("src/util/b.py", "import old"),
            ("src/b.ts", "import { x } from './util/old';"),
            ("src/net/b.ts", "import { x } from '../util/old.js'"),
            ("d.rs", "use crate::util::old::f;"),
            ("d.rs", "use util::old;"),
            ("src/util/mod.rs", "pub mod old;"),
            ("src/util.rs", "mod old;"),
            ("src/util/deep/f.py", "from ..old import x"),
            ("src/util/deep/a.rs", "use super::super::old::X;"),
        ] {
            assert!(named(file, line), "{file}: {line}");
        }
        for (file, line) in [
            ("a.md", "other/old.py"),
            ("c.ts", "import { x } from './old';"),
            ("src/util/deep/c.ts", "import { x } from './old';"),
            ("d.rs", "mod old;"),
            ("e.rs", "use other::old::f;"),
            ("e.rs", "use crate::old::f;"),
            ("f.py", "from . import old"),
            ("f.py", "from json import old"),
            ("src/net/f.py", "import old"),
        ] {
            assert!(!named(file, line), "{file}: {line}");
        }
        assert!(names("src/util/index.ts", "src/b.ts", "import x from './util';"));
        assert!(names("src/util/mod.rs", "src/b.rs", "use crate::util::x;"));
        assert!(!names("src/util/index.ts", "src/b.ts", "import x from './other/util';"));
        assert!(names("old.py", "b.py", "import old") && !names("old.py", "b.py", "import other.old"));
    }
}
