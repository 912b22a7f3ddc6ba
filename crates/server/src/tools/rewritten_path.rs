//! The new path in a line that imports a file that moves, or that the moved file itself has, without a language server.
//!
//! Only a path that leads to exactly one file is written again, and in its own style: relative or from the root, with or
//! without the ending. Any other line stays as it is and is listed.

use std::ops::Range;

/// The endings of files that import each other without an ending.
const SCRIPTS: [&str; 8] = ["ts", "tsx", "js", "jsx", "mts", "cts", "mjs", "cjs"];
/// The endings that an import of TypeScript may have in the place of the file's own.
const COMPILED: [(&str, &str); 4] = [("ts", "js"), ("tsx", "js"), ("mts", "mjs"), ("cts", "cjs")];

/// A file that moves.
#[derive(Clone, Copy)]
pub(super) struct Move<'a> {
    pub(super) from: &'a str,
    pub(super) to: &'a str,
    /// Whether there is a file with this name.
    pub(super) exists: &'a dyn Fn(&str) -> bool,
}

/// How an import writes the path of a file.
#[derive(Clone, Copy)]
enum Style<'a> {
    /// As it is, or as the file's folder, which stands for its `index`.
    Whole,
    Folder,
    /// Without the ending.
    Bare,
    /// With this ending in the place of its own.
    As(&'a str),
}

impl Move<'_> {
    /// Returns which bytes of a line of `file` become what, if the line names the moved file by one path.
    pub(super) fn in_line(&self, file: &str, line: &str) -> Option<(Range<usize>, String)> {
        if [self.from, self.to, file].iter().any(|name| name.contains([':', '\\'])) {
            return None;
        }
        // What the moved file says is read from its new folder.
        let here = folder(if file == self.from { self.to } else { file });
        let mut found = paths(file, line).into_iter().filter_map(|path| {
            let written = &line[path.range.clone()];
            Some((path.range.clone(), self.rewritten(file, here, &path, written)?))
        });
        let only = found.next()?;
        (found.next().is_none() && line[only.0.clone()] != only.1).then_some(only)
    }

    fn rewritten(&self, file: &str, here: &str, path: &Path, written: &str) -> Option<String> {
        if path.is_module {
            return self.module(file, here, written);
        }
        let is_bare = !written.starts_with('.');
        let target = resolve(folder(file), written)?;
        let new = match self.style(&target) {
            Some(style) => self.styled(style)?,
            // Another file, by the moved one.
            None if file == self.from && ((self.exists)(&target) || !is_bare && self.is_script(&target)) => {
                target
            }
            None => return None,
        };
        let new = relative(here, &new);
        Some(if is_bare || new.starts_with("../") { new } else { format!("./{new}") })
    }

    /// Returns how a path names the moved file, if it does and names no other.
    fn style(&self, target: &str) -> Option<Style<'static>> {
        if target == self.from {
            return Some(Style::Whole);
        }
        let (stem, ending) = split(self.from);
        if !SCRIPTS.contains(&ending) {
            return None;
        }
        let compiled = COMPILED.into_iter().find(|(own, _)| *own == ending).map(|(_, compiled)| compiled);
        let is_only = |base: &str| {
            let others =
                SCRIPTS.iter().flat_map(|other| [format!("{base}.{other}"), format!("{base}/index.{other}")]);
            others.into_iter().all(|other| other == self.from || !(self.exists)(&other))
        };
        match target {
            _ if target == stem && is_only(stem) => Some(Style::Bare),
            _ if stem.rsplit('/').next() == Some("index")
                && target == folder(self.from)
                && is_only(target) =>
            {
                Some(Style::Folder)
            }
            _ => {
                let compiled = compiled.filter(|compiled| target == format!("{stem}.{compiled}"))?;
                (!(self.exists)(target)).then_some(Style::As(compiled))
            }
        }
    }

    /// Returns the new path in this style.
    fn styled(&self, style: Style<'_>) -> Option<String> {
        let ((stem, ending), (_, old)) = (split(self.to), split(self.from));
        match style {
            Style::Whole => Some(self.to.to_owned()),
            Style::Bare | Style::Folder if !SCRIPTS.contains(&ending) => None,
            Style::Folder if stem.rsplit('/').next() == Some("index") => Some(folder(self.to).to_owned()),
            Style::Bare | Style::Folder => Some(stem.to_owned()),
            Style::As(compiled) => (ending == old).then(|| format!("{stem}.{compiled}")),
        }
    }

    /// Whether a path without an ending names one script.
    fn is_script(&self, target: &str) -> bool {
        let names = SCRIPTS.iter().flat_map(|it| [format!("{target}.{it}"), format!("{target}/index.{it}")]);
        names.filter(|name| (self.exists)(name)).count() == 1
    }

    /// Returns the new path of a module of Python.
    fn module(&self, file: &str, here: &str, written: &str) -> Option<String> {
        let (from, to) = (module_of(self.from)?, module_of(self.to)?);
        let dots = written.len() - written.trim_start_matches('.').len();
        let parts: Vec<&str> = written[dots..].split('.').filter(|part| !part.is_empty()).collect();
        if dots == 0 {
            // It begins at the root, or in a folder of sources.
            let before = from.len().checked_sub(parts.len()).filter(|before| from[*before..] == parts)?;
            let is_source = from[..before].iter().all(|folder| matches!(*folder, "src" | "lib"));
            return (is_source && to.len() > before && to[..before] == from[..before])
                .then(|| to[before..].join("."));
        }
        let own: Vec<&str> = folder(file).split('/').filter(|part| !part.is_empty()).collect();
        let base = &own[..own.len().checked_sub(dots - 1)?];
        let named = [base, &parts].concat();
        let target = match named == from {
            true => to,
            // Another module, by the moved one.
            false if file == self.from && !parts.is_empty() => named,
            false => return None,
        };
        let here: Vec<&str> = here.split('/').filter(|part| !part.is_empty()).collect();
        let same = here.iter().zip(&target).take_while(|(one, other)| one == other).count();
        Some(".".repeat(here.len() - same + 1) + &target[same..].join("."))
    }
}

/// A path in a line.
struct Path {
    range: Range<usize>,
    /// Whether it is a module of Python.
    is_module: bool,
}

/// Returns the paths that a line imports or links to.
fn paths(file: &str, line: &str) -> Vec<Path> {
    let trimmed = line.trim_start();
    let indent = line.len() - trimmed.len();
    let (_, ending) = split(file);
    let between = |start: usize, end: char| {
        let length = line[start..].find(end)?;
        (length > 0).then(|| Path { range: start..start + length, is_module: false })
    };
    match ending {
        "py" | "pyi" => {
            let Some(rest) = trimmed.strip_prefix("from ") else { return Vec::new() };
            let start = indent + "from ".len();
            let length = rest.find(" import ").unwrap_or_default();
            let is_plain = rest[..length].chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.'));
            let path = Path { range: start..start + length, is_module: true };
            if length > 0 && is_plain { vec![path] } else { Vec::new() }
        }
        "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" | "m" | "mm" => {
            let is_include = trimmed.starts_with('#') && trimmed[1..].trim_start().starts_with("include");
            let quote = line.find('"').filter(|_| is_include);
            quote.and_then(|quote| between(quote + 1, '"')).into_iter().collect()
        }
        "md" | "markdown" => {
            let links = line.match_indices("](").map(|(at, found)| at + found.len());
            links.filter_map(|start| link(line, start)).collect()
        }
        _ if SCRIPTS.contains(&ending) || matches!(ending, "vue" | "svelte" | "css" | "scss" | "less") => {
            let starts = ["'./", "'../", "\"./", "\"../"].iter().flat_map(|start| line.match_indices(start));
            let is_imported = |at: usize| {
                let before = line[..at].trim_end();
                ["from", "import", "require(", "import(", "@use", "@forward"]
                    .iter()
                    .any(|word| before.ends_with(word))
            };
            starts
                .filter(|(at, _)| is_imported(*at))
                .filter_map(|(at, found)| between(at + 1, found.chars().next()?))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the path of a link of Markdown that begins here, without the part of the page.
fn link(line: &str, start: usize) -> Option<Path> {
    let length = line[start..].find([')', '#', ' '])?;
    let is_path = !line[start..start + length].contains("//");
    (length > 0 && is_path).then(|| Path { range: start..start + length, is_module: false })
}

/// Returns the parts of a module's path; none if it is no file of Python.
fn module_of(name: &str) -> Option<Vec<&str>> {
    let (stem, ending) = split(name);
    let parts: Vec<&str> = stem.split('/').collect();
    let is_plain = |part: &&str| part.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_module = matches!(ending, "py" | "pyi") && parts.iter().all(is_plain);
    is_module.then_some(match parts.split_last() {
        Some((&"__init__", package)) if !package.is_empty() => package.to_vec(),
        _ => parts,
    })
}

fn folder(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns a name without its ending, and that.
fn split(name: &str) -> (&str, &str) {
    let start = name.rfind('/').map_or(0, |slash| slash + 1);
    match name[start..].rfind('.').filter(|dot| *dot > 0) {
        Some(dot) => (&name[..start + dot], &name[start + dot + 1..]),
        None => (name, ""),
    }
}

/// Returns the name to which a path leads from a folder, if that is below the root.
fn resolve(folder: &str, path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains(['\\', '?', '%', '!']) {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the path from a folder to a name.
fn relative(folder: &str, name: &str) -> String {
    let from: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = name.split('/').collect();
    let same = from.iter().zip(&to[..to.len() - 1]).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n("..", from.len() - same);
    up.chain(to[same..].iter().copied()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewritten((from, to): (&str, &str), files: &[&str], file: &str, line: &str) -> Option<String> {
        let exists = |name: &str| name == from || name == file || files.contains(&name);
        let (range, new) = Move { from, to, exists: &exists }.in_line(file, line)?;
        Some(format!("{}{new}{}", &line[..range.start], &line[range.end..]))
    }

    #[test]
    fn a_path_becomes_the_new_one_in_its_own_style() {
        let script = ("src/util/old.ts", "src/lib/new.ts");
        let index = ("src/util/index.ts", "src/lib/index.ts");
        let module = ("app/util/old.py", "app/lib/new.py");
        for (moved, file, line, new) in [
            (script, "src/a.ts", "import { x } from './util/old';", "import { x } from './lib/new';"),
            (script, "src/net/a.tsx", "import x from \"../util/old.js\"", "import x from \"../lib/new.js\""),
            (script, "src/util/b.ts", "export * from './old.ts'", "export * from '../lib/new.ts'"),
            (script, "src/lib/b.js", "const x = require('../util/old')", "const x = require('./new')"),
            (index, "src/a.ts", "import './util'", "import './lib'"),
            (index, "src/util/b.ts", "} from './index'", "} from '../lib/index'"),
            (module, "app/a.py", "from .util.old import x", "from .lib.new import x"),
            (module, "app/net/a.py", "    from ..util.old import x, y", "    from ..lib.new import x, y"),
            (module, "app/util/b.py", "from .old import (", "from ..lib.new import ("),
            (module, "main.py", "from app.util.old import x", "from app.lib.new import x"),
            (("src/app/a.py", "src/app/b.py"), "t.py", "from app.a import x", "from app.b import x"),
            (("a/old.h", "b/new.h"), "a/x.c", "#include \"old.h\"", "#include \"../b/new.h\""),
            (("docs/a.md", "docs/b/c.md"), "README.md", "[a](docs/a.md#top) x", "[a](docs/b/c.md#top) x"),
        ] {
            assert_eq!(rewritten(moved, &[], file, line).as_deref(), Some(new), "{file}: {line}");
        }
    }

    #[test]
    fn what_the_moved_file_imports_is_found_from_its_new_folder() {
        let script = ("src/util/old.ts", "src/lib/deep/old.ts");
        let files = ["src/util/b.ts", "src/a.ts", "src/c.ts", "src/c.js"];
        let own = |line: &str| rewritten(script, &files, script.0, line);
        assert_eq!(own("import b from './b'").as_deref(), Some("import b from '../../util/b'"));
        assert_eq!(own("import a from '../a.ts'").as_deref(), Some("import a from '../../a.ts'"));
        for line in ["import c from '../c'", "import d from './d'", "import e from 'e'"] {
            assert_eq!(own(line), None, "{line}");
        }
        let header = ("a/old.c", "b/old.c");
        let include = |name: &str| rewritten(header, &["a/x.h"], header.0, &format!("#include \"{name}\""));
        assert_eq!(include("x.h").as_deref(), Some("#include \"../a/x.h\""));
        assert_eq!(include("elsewhere.h"), None, "it may be on the path of the compiler");
        let module = ("app/util/old.py", "app/old.py");
        let line = rewritten(module, &[], module.0, "from .b import x");
        assert_eq!(line.as_deref(), Some("from .util.b import x"));
        assert_eq!(rewritten(module, &[], module.0, "from . import x"), None);
    }

    #[test]
    fn what_is_not_certain_stays() {
        let script = ("src/util/old.ts", "src/lib/new.ts");
        for (moved, files, file, line) in [
            (script, &["src/util/old.js"][..], "src/a.ts", "import x from './util/old'"),
            (script, &["src/util/old/index.ts"], "src/a.ts", "import x from './util/old'"),
            (script, &["src/util/old.js"], "src/a.ts", "import x from './util/old.js'"),
            (script, &[], "src/a.ts", "import x from './old'"),
            (script, &[], "src/a.ts", "import x from './util/old'; import y from './util/old'"),
            (script, &[], "src/a.ts", "jest.mock('./util/old')"),
            (script, &[], "src/a.ts", "const path = './util/old';"),
            (("src/old.ts", "src/new.css"), &[], "src/a.ts", "import x from './old'"),
            (("app/old.py", "app/new.py"), &[], "a.py", "import app.old"),
            (("app/old.py", "app/new.py"), &[], "a.py", "from app import old"),
            (("app/old.py", "app/new.py"), &[], "a.py", "from old import x"),
            (("app/old.py", "app/new.txt"), &[], "a.py", "from app.old import x"),
            (("a.md", "b.md"), &[], "README.md", "see a.md, [a](https://x/a.md)"),
            (("src/old.rs", "src/new.rs"), &[], "src/lib.rs", "mod old;"),
        ] {
            assert_eq!(rewritten(moved, files, file, line), None, "{line}");
        }
    }
}
