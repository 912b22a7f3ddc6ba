//! The imports among the files of a crate, and the circles in them.
//!
//! A file imports another if one of its paths leads there, in a `use` or elsewhere, also in a macro. A re-export counts
//! as an import of the original module. A folder and its `mod.rs` count as one module, both seen from outside and for
//! the files in the folder. Unit tests do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The path of a module from the crate's root.
type Module = Vec<String>;

/// The imports among the modules of a crate.
#[derive(Debug, Default)]
pub struct Imports {
    /// The paths that each module names.
    paths: BTreeMap<Module, Vec<Vec<String>>>,
    /// The re-exports of each module: the name, and the path that it stands for.
    exports: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
}

impl Imports {
    /// Reads the crate whose code is in this folder.
    #[must_use]
    pub fn of_crate(src: &Path) -> Self {
        let mut imports = Self::default();
        imports.read_folder(src, &[]);
        assert!(!imports.paths.is_empty(), "{}", src.display());
        imports
    }

    fn read_folder(&mut self, folder: &Path, module: &[String]) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if stem == "tests" {
                continue;
            }
            let own = match &stem[..] {
                "mod" | "lib" | "main" => module.to_vec(),
                _ => [module, std::slice::from_ref(&stem)].concat(),
            };
            if path.is_dir() {
                self.read_folder(&path, &own);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let code = fs::read_to_string(&path).unwrap();
                let tokens: TokenStream =
                    code.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let mut reader = Reader::default();
                reader.read(&tokens.into_iter().collect::<Vec<_>>());
                self.paths.entry(own.clone()).or_default().extend(reader.paths);
                self.exports.entry(own).or_default().extend(reader.exports);
            }
        }
    }

    /// The module of this crate to which a path in `module` leads; `None` if it leads elsewhere.
    fn target(&self, module: &[String], path: &[String], depth: usize) -> Option<Module> {
        let (mut at, rest) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (module.to_vec(), &path[1..]),
            "super" => {
                let ups = path.iter().take_while(|name| *name == "super").count();
                (module[..module.len().checked_sub(ups)?].to_vec(), &path[ups..])
            }
            name if self.paths.contains_key(&[module, &[name.to_owned()]].concat()) => {
                (module.to_vec(), path)
            }
            _ => return None,
        };
        for (i, name) in rest.iter().enumerate() {
            let next = [&at[..], std::slice::from_ref(name)].concat();
            if self.paths.contains_key(&next) {
                at = next;
                continue;
            }
            if let Some(export) = self.exports.get(&at).and_then(|exports| exports.get(name))
                && depth < 8
            {
                let further = [export, &rest[i + 1..]].concat();
                return self.target(&at, &further, depth + 1).or(Some(at));
            }
            break;
        }
        Some(at)
    }

    /// All circles among the modules of each folder, with the imports that close them.
    #[must_use]
    pub fn circles(&self) -> Vec<String> {
        let mut arrows: BTreeMap<Module, BTreeMap<String, BTreeMap<String, String>>> = BTreeMap::new();
        for (from, paths) in &self.paths {
            for path in paths {
                let Some(to) = self.target(from, path, 0) else { continue };
                let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
                let (Some(a), Some(b)) = (from.get(shared), to.get(shared)) else { continue };
                let because = format!("{} names {}", from.join("/"), path.join("::"));
                let beside = arrows.entry(from[..shared].to_vec()).or_default();
                beside.entry(a.clone()).or_default().entry(b.clone()).or_insert(because);
            }
        }
        arrows.iter().flat_map(|(folder, arrows)| circles_of(folder, arrows)).collect()
    }
}

/// The circles in one folder. In a circle, each module reaches each other one.
fn circles_of(folder: &[String], arrows: &BTreeMap<String, BTreeMap<String, String>>) -> Vec<String> {
    let reached_by = |start: &String| {
        let (mut reached, mut todo) = (BTreeSet::new(), vec![start]);
        while let Some(module) = todo.pop() {
            for next in arrows.get(module).into_iter().flat_map(BTreeMap::keys) {
                if reached.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        reached
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        arrows.keys().map(|module| (module, reached_by(module))).collect();
    let mut found = BTreeSet::new();
    for (module, after) in &reached {
        let back = |other: &&String| reached.get(*other).is_some_and(|reached| reached.contains(*module));
        let circle: BTreeSet<&String> = after.iter().filter(back).collect();
        if circle.len() > 1 {
            found.insert(circle);
        }
    }
    let description = |circle: BTreeSet<&String>| {
        let mut text = format!("{}: {}", ["src", &folder.join("/")].join("/"), names(&circle));
        for module in &circle {
            for (to, because) in arrows.get(*module).into_iter().flatten() {
                if circle.contains(to) {
                    text += &format!("\n    {module} -> {to}: {because}");
                }
            }
        }
        text
    };
    found.into_iter().map(description).collect()
}

fn names(circle: &BTreeSet<&String>) -> String {
    circle.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Collects the paths and the re-exports of a file.
#[derive(Default)]
struct Reader {
    paths: Vec<Vec<String>>,
    exports: BTreeMap<String, Vec<String>>,
}

impl Reader {
    fn read(&mut self, tokens: &[TokenTree]) {
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(punct) if punct.as_char() == '#' && is_test(tokens.get(at + 1)) => {
                    at = end_of_item(tokens, at + 2);
                }
                TokenTree::Ident(ident) if ident == "use" => {
                    let end = (at..tokens.len()).find(|&i| is_punct(&tokens[i], ';')).unwrap_or(tokens.len());
                    let is_public = at > 0 && is_visibility(&tokens[at - 1]);
                    self.read_tree(&[], &tokens[at + 1..end], is_public);
                    at = end;
                }
                TokenTree::Ident(_) => {
                    let (path, end) = path_at(tokens, at);
                    if path.len() > 1 {
                        self.paths.push(path);
                    }
                    at = end.max(at + 1);
                }
                TokenTree::Group(group) => {
                    self.read(&inside(group));
                    at += 1;
                }
                _ => at += 1,
            }
        }
    }

    /// Reads the rest of a `use` whose path begins with `beginning`.
    fn read_tree(&mut self, beginning: &[String], tokens: &[TokenTree], is_public: bool) {
        for tree in tokens.split(|token| is_punct(token, ',')) {
            let (path, end) = path_at(tree, 0);
            let whole = [beginning, &path].concat();
            match tree.get(end..) {
                Some([.., TokenTree::Group(group)]) if group.delimiter() == Delimiter::Brace => {
                    self.read_tree(&whole, &inside(group), is_public);
                }
                Some([_as, TokenTree::Ident(alias)]) if _as.to_string() == "as" => {
                    self.leaf(whole, &alias.to_string(), is_public);
                }
                _ => {
                    let name = whole.last().cloned().unwrap_or_default();
                    self.leaf(whole, &name, is_public);
                }
            }
        }
    }

    fn leaf(&mut self, path: Vec<String>, name: &str, is_public: bool) {
        if is_public {
            self.exports.insert(name.to_owned(), path.clone());
        } else {
            self.paths.push(path);
        }
    }
}

/// The path that begins at a token, and the index after it.
fn path_at(tokens: &[TokenTree], mut at: usize) -> (Vec<String>, usize) {
    let mut path = Vec::new();
    while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
        path.push(ident.to_string());
        at += 1;
        let is_colon = |i: usize| tokens.get(i).is_some_and(|token| is_punct(token, ':'));
        if !(is_colon(at) && is_colon(at + 1)) {
            break;
        }
        at += 2;
    }
    (path, at)
}

fn inside(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

fn is_punct(token: &TokenTree, c: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == c)
}

/// Whether a token before a `use` makes it a re-export: `pub`, or the brackets of `pub(crate)`.
fn is_visibility(token: &TokenTree) -> bool {
    match token {
        TokenTree::Ident(ident) => ident == "pub",
        TokenTree::Group(group) => group.delimiter() == Delimiter::Parenthesis,
        _ => false,
    }
}

/// Whether a token is the brackets of an attribute `cfg(test)`.
fn is_test(token: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Group(group)) = token else { return false };
    let text = group.stream().to_string().replace(' ', "");
    text == "cfg(test)" || text.starts_with("cfg(all(test,")
}

/// The index after the item that begins here, whose attributes are included.
fn end_of_item(tokens: &[TokenTree], start: usize) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        token => is_punct(token, ';'),
    };
    (start..tokens.len()).find(|&i| ends(&tokens[i])).map_or(tokens.len(), |i| i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(files: &[(&str, &str)]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, code) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, code).unwrap();
        }
        Imports::of_crate(folder.path()).circles()
    }

    #[test]
    fn two_files_that_import_each_other_are_a_circle() {
        let found = circles(&[
            ("lib.rs", "mod a; mod b; pub use b::B;"),
            ("a.rs", "use crate::B; struct A;"),
            ("b.rs", "struct B; fn f() { println!(\"{}\", crate::a::A) }"),
        ]);
        assert_eq!(found, ["src/: a, b\n    a -> b: a names crate::B\n    b -> a: b names crate::a::A"]);
    }

    #[test]
    fn a_folder_and_its_mod_are_one_and_tests_do_not_count() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod c; use c::C; struct A;"),
            ("a/c.rs", "use super::A; use {crate::b::{self, B}}; struct C;"),
            ("b.rs", "struct B; #[cfg(test)] #[cfg(unix)] mod tests { use crate::a::A; }"),
        ];
        assert_eq!(circles(&files), <[&str; 0]>::default());
        let mut files = files;
        files[3].1 = "use super::a::c::C as D;";
        assert_eq!(circles(&files).len(), 1);
    }
}
