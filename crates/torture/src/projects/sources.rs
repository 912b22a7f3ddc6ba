//! The projects: pinned packages whose sources registries have, and what is renamed and moved in each.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Tree;
use crate::{bounded, built, installed};

/// The folder with the pins.
const PINNED: &str = "tests/servers/projects";
/// The timeout for a download.
const TIME: Duration = Duration::from_secs(300);

/// Packages of Go's own library that import no internal ones. They come with Go, in its version.
const GO: [&str; 3] = ["archive/tar", "encoding/xml", "text/template/parse"];
const C: [(&str, &str); 3] =
    [("bzip2-sys", "bzip2-1.0.8"), ("libz-sys", "src/zlib"), ("lz4-sys", "liblz4/lib")];

/// A language with its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    TypeScript,
    Go,
    C,
}

/// A project.
pub(super) struct Project {
    pub(super) name: String,
    pub(super) language: Language,
    pub(super) files: Tree,
}

/// A symbol, and what it is to be called.
pub(super) struct Symbol {
    pub(super) file: PathBuf,
    pub(super) line: usize,
    /// The column of its name in bytes, which its line has before it.
    pub(super) column: usize,
    pub(super) name: String,
    pub(super) new_name: String,
}

impl Language {
    pub(super) const ALL: [Self; 4] = [Self::Python, Self::TypeScript, Self::Go, Self::C];

    /// The name of its server.
    pub(super) fn server(self) -> &'static str {
        match self {
            Self::Python => "pyright",
            Self::TypeScript => "typescript-language-server",
            Self::Go => "gopls",
            Self::C => "clangd",
        }
    }

    /// The identifier of the language in the protocol.
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::TypeScript => "typescript",
            Self::Go => "go",
            Self::C => "c",
        }
    }

    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Python => &["py", "pyi"],
            Self::TypeScript => &["ts"],
            Self::Go => &["go"],
            Self::C => &["c", "h"],
        }
    }

    /// The name that a line defines, if it does so at its start.
    fn defined(self, line: &str) -> Option<&str> {
        let starts: &[&str] = match self {
            Self::Python => &["def ", "class ", "    def "],
            Self::TypeScript => &[
                "export function ",
                "export class ",
                "export interface ",
                "export type ",
                "export const ",
                "function ",
            ],
            Self::Go => &["func ", "type "],
            Self::C => return defined_in_c(line),
        };
        let rest = starts.iter().find_map(|start| line.strip_prefix(start))?;
        let end = rest.find(|sign: char| !is_of_word(sign)).unwrap_or(rest.len());
        Some(&rest[..end])
    }
}

/// The name of a function whose definition begins in this line.
fn defined_in_c(line: &str) -> Option<&str> {
    let (before, _) = line.split_once('(')?;
    let before = before.trim_end();
    let name = &before[before.rfind(|sign: char| !is_of_word(sign))? + 1..];
    let is_definition = line.starts_with("static ") || line.starts_with("int ") || line.starts_with("void ");
    (is_definition && !line.ends_with(';') && !name.is_empty()).then_some(name)
}

fn is_of_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

impl Symbol {
    /// The arguments that rename it.
    pub(super) fn arguments(&self) -> Value {
        json!({"path": self.file, "symbol": self.name, "line": self.line, "column": self.column + 1, "new_name": self.new_name,
            "despite_mentions": true})
    }

    /// The arguments that rename it after others were renamed: its line is the same, and its column may not be.
    pub(super) fn arguments_again(&self) -> Value {
        json!({"path": self.file, "symbol": self.name, "line": self.line, "new_name": self.new_name, "despite_mentions": true})
    }
}

impl Project {
    pub(super) fn is_part(&self, path: &Path) -> bool {
        is_source(path, self.language) || path == Path::new("go.mod") || path == Path::new("tsconfig.json")
    }

    /// Chooses symbols all over the project. Each is defined once, and its name is long enough to be its own.
    pub(super) fn symbols(&self, count: usize) -> Vec<Symbol> {
        let mut all: BTreeMap<String, Vec<Symbol>> = BTreeMap::new();
        for (file, content) in self.files.iter().filter(|(file, _)| is_source(file, self.language)) {
            let text = String::from_utf8_lossy(content);
            for (number, line) in text.lines().enumerate() {
                let Some(name) = self.language.defined(line) else { continue };
                if name.len() < 4 || name.starts_with("__") || name == "main" || name == "init" {
                    continue;
                }
                let column = line.find(name).unwrap_or(0);
                let (name, new_name) = (name.to_owned(), format!("{name}Anew"));
                let symbol =
                    Symbol { file: file.clone(), line: number + 1, column, name: name.clone(), new_name };
                all.entry(name).or_default().push(symbol);
            }
        }
        let mut once: Vec<Symbol> =
            all.into_values().filter(|of_name| of_name.len() == 1).flatten().collect();
        once.sort_by(|one, other| (&one.file, one.line).cmp(&(&other.file, other.line)));
        let step = (once.len() / count).max(1);
        once.into_iter().step_by(step).take(count).collect()
    }

    /// Chooses files to move into a folder beside them.
    pub(super) fn moves(&self, count: usize) -> Vec<(PathBuf, PathBuf)> {
        let is_entry = |path: &Path| path.file_stem().is_some_and(|stem| stem == "index");
        let all: Vec<&PathBuf> =
            self.files.keys().filter(|path| is_source(path, self.language) && !is_entry(path)).collect();
        let moved = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default();
            (path.clone(), path.with_file_name("elsewhere").join(name))
        };
        all.iter().step_by((all.len() / count).max(1)).take(count).map(|path| moved(path)).collect()
    }
}

fn is_source(path: &Path, language: Language) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    language.endings().contains(&ending)
}

/// Gets the projects for these servers, by default for all. Those whose tools the machine lacks are left out.
pub(super) fn projects(names: &[&str]) -> Result<Vec<Project>> {
    let mut projects = Vec::new();
    for language in Language::ALL {
        if !names.is_empty() && !names.contains(&language.server()) {
            continue;
        }
        let found = match language {
            Language::Python => python(),
            Language::TypeScript => typescript(),
            Language::Go => go(),
            Language::C => c(),
        };
        match found {
            Ok(found) => projects.extend(found),
            Err(error) if std::env::var_os("CI").is_none() => {
                println!("{:<28}skipped: {error:#}", language.server());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(projects)
}

fn python() -> Result<Vec<Project>> {
    let python = installed::python("projects-python", &Path::new(PINNED).join("python.txt"))?;
    let venv = python.as_ref().and_then(|python| python.parent()?.parent()).context("there is no Python")?;
    let library = fs::read_dir(venv.join("lib"))?.next().context("a library")??.path().join("site-packages");
    let project = |name: &&str| {
        let found = read(&library.join(name), &|path| is_source(path, Language::Python))?;
        let files = found.into_iter().map(|(path, content)| (Path::new(name).join(path), content)).collect();
        Ok(Project { name: (*name).to_owned(), language: Language::Python, files })
    };
    ["click", "itsdangerous", "packaging"].iter().map(project).collect()
}

fn typescript() -> Result<Vec<Project>> {
    let packages =
        installed::packages("projects-npm", &Path::new(PINNED).join("npm"))?.context("there is no npm")?;
    let settings = json!({"compilerOptions": {"target": "es2020", "module": "esnext", "moduleResolution": "bundler", "strict": true,
        "noEmit": true, "skipLibCheck": true, "types": []}, "include": ["src"]});
    let project = |name: &&str| {
        let source = packages.join("node_modules").join(name).join("src");
        let found = read(&source, &|path| is_source(path, Language::TypeScript))?;
        let mut files: Tree =
            found.into_iter().map(|(path, content)| (Path::new("src").join(path), content)).collect();
        files.insert("tsconfig.json".into(), settings.to_string().into_bytes());
        Ok(Project { name: (*name).to_owned(), language: Language::TypeScript, files })
    };
    ["immer", "redux", "reselect"].iter().map(project).collect()
}

fn go() -> Result<Vec<Project>> {
    let root = bounded::run(Command::new("go").args(["env", "GOROOT"]), TIME)?.stdout;
    let library = Path::new(String::from_utf8(root)?.trim()).join("src");
    let project = |package: &&str| {
        let is_part = |path: &Path| {
            is_source(path, Language::Go)
                && path.components().count() == 1
                && !path.to_string_lossy().ends_with("_test.go")
        };
        let mut files = read(&library.join(package), &is_part)?;
        let name = package.replace('/', "-");
        files.insert("go.mod".into(), format!("module example.com/{name}\n\ngo 1.19\n").into_bytes());
        Ok(Project { name, language: Language::Go, files })
    };
    GO.iter().map(project).collect()
}

fn c() -> Result<Vec<Project>> {
    let folder = built::target()?.join("installed").join("projects-c");
    fs::create_dir_all(&folder)?;
    let manifest = Path::new(PINNED).join("c").join("Cargo.toml");
    if !folder.join("lz4-sys").exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut vendor = Command::new(cargo);
        vendor.args(["vendor", "--locked", "--quiet", "--manifest-path"]).arg(&manifest).arg(&folder);
        bounded::run(&mut vendor, TIME)?;
    }
    let project = |(name, inside): &(&str, &str)| {
        // All of a library is in one folder; what is below has programs and examples.
        let is_part = |path: &Path| is_source(path, Language::C) && path.components().count() == 1;
        let files = read(&folder.join(name).join(inside), &is_part)?;
        Ok(Project { name: (*name).to_owned(), language: Language::C, files })
    };
    C.iter().map(project).collect()
}

/// Reads the files below a folder that are wanted, by their paths in it.
pub(super) fn read(folder: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Result<Tree> {
    fn below(folder: &Path, at: &Path, is_wanted: &dyn Fn(&Path) -> bool, files: &mut Tree) -> Result<()> {
        for entry in fs::read_dir(at)? {
            let path = entry?.path();
            let name = path.strip_prefix(folder)?.to_owned();
            if path.is_dir() {
                below(folder, &path, is_wanted, files)?;
            } else if is_wanted(&name) {
                files.insert(name, fs::read(&path)?);
            }
        }
        Ok(())
    }
    let mut files = Tree::new();
    below(folder, folder, is_wanted, &mut files)
        .with_context(|| format!("{} cannot be read", folder.display()))?;
    ensure!(!files.is_empty(), "{} has no sources", folder.display());
    Ok(files)
}
