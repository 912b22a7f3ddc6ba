//! The servers that are known without being configured: for which files they are, how they are started, and what they are
//! told so that they run nothing that the workspace brings along.
//!
//! Left alone, rust-analyzer builds scripts and macros, and lets `cargo` and `rustup` choose programs by files of the
//! workspace; typescript-language-server loads the TypeScript of `node_modules`; and all of them take from `PATH` what they
//! start themselves, which `process::search` sees to.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use emend_process::search::Search;
use serde_json::{Value, json};

/// A known server.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    /// How files end, and what the language of them is called.
    pub(crate) extensions: &'static [(&'static str, &'static str)],
    /// The commands that start it; the first whose program is there does.
    pub(crate) commands: &'static [&'static [&'static str]],
    pub(crate) kind: Kind,
}

/// In what a server differs from others in how it is talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It does what the protocol says.
    Plain,
    /// It runs Python to find packages.
    Pyright,
    /// Its diagnostics say not of which version they are; TypeScript's own server is asked through it instead.
    TypeScript,
    /// Some releases publish nothing where nothing has changed.
    Gopls,
    /// It says when it has read the workspace, and before that its answers are worth nothing.
    RustAnalyzer,
}

pub(crate) const KNOWN: &[Known] = &[
    Known {
        name: "rust-analyzer",
        extensions: &[("rs", "rust")],
        commands: &[&["rust-analyzer"]],
        kind: Kind::RustAnalyzer,
    },
    Known {
        name: "pyright",
        extensions: &[("py", "python"), ("pyi", "python")],
        commands: &[&["pyright-langserver", "--stdio"], &["basedpyright-langserver", "--stdio"]],
        kind: Kind::Pyright,
    },
    Known {
        name: "typescript-language-server",
        extensions: &[
            ("ts", "typescript"),
            ("tsx", "typescriptreact"),
            ("mts", "typescript"),
            ("cts", "typescript"),
            ("js", "javascript"),
            ("jsx", "javascriptreact"),
            ("mjs", "javascript"),
            ("cjs", "javascript"),
        ],
        commands: &[&["typescript-language-server", "--stdio"]],
        kind: Kind::TypeScript,
    },
    Known { name: "gopls", extensions: &[("go", "go")], commands: &[&["gopls"]], kind: Kind::Gopls },
    Known {
        name: "clangd",
        extensions: &[
            ("c", "c"),
            ("h", "c"),
            ("cc", "cpp"),
            ("cpp", "cpp"),
            ("cxx", "cpp"),
            ("hpp", "cpp"),
            ("hh", "cpp"),
            ("cu", "cuda-cpp"),
            ("m", "objective-c"),
            ("mm", "objective-cpp"),
        ],
        // Without --query-driver it starts no compiler, whatever a .clangd or a compile_commands.json names, and it
        // loads no plugin of theirs either. Its index would be written into the workspace.
        commands: &[&["clangd", "--background-index=false", "--log=error"]],
        kind: Kind::Plain,
    },
];

/// Files that say what a project is, for whichever server. None of them is for files of that ending, and what each finds
/// may change with them.
pub(crate) const PROJECT_FILES: &[&str] = &[
    "Cargo.toml",
    "rust-project.json",
    "pyproject.toml",
    "pyrightconfig.json",
    "tsconfig.json",
    "jsconfig.json",
    "package.json",
    "go.mod",
    "go.work",
    "compile_commands.json",
    "compile_flags.txt",
    ".clangd",
    ".clang-tidy",
];

/// What a server is told at its start, under what the settings say.
pub(crate) struct Start {
    pub(crate) options: Value,
    /// Variables of its environment, beside `PATH`.
    pub(crate) environment: Vec<(&'static str, String)>,
}

/// The ending of a file, as servers are chosen by it.
pub(crate) fn ending(path: &Path) -> Option<&str> {
    path.extension().and_then(OsStr::to_str)
}

/// What this kind of server is told, whose program is this one. An error says what it lacks.
pub(crate) fn start(
    kind: Kind,
    program: &Path,
    search: &Search,
    runs_project_code: bool,
) -> Result<Start, String> {
    let nothing = Start { options: json!({}), environment: Vec::new() };
    Ok(match kind {
        Kind::Plain | Kind::Gopls => nothing,
        Kind::Pyright => Start {
            // It runs the Python of PATH to find packages, in the root.
            environment: vec![("PYTHONSAFEPATH", "1".into())],
            // More would be looked at with each edit than the files that were edited.
            options: json!({"python": {"analysis": {"diagnosticMode": "openFilesOnly"}},
                "basedpyright": {"analysis": {"diagnosticMode": "openFilesOnly"}}}),
        },
        Kind::TypeScript if runs_project_code => nothing,
        Kind::TypeScript => {
            let tsserver = beside(program)
                .filter(|tsserver| !search.is_inside(tsserver))
                .ok_or("there is no TypeScript with a tsserver.js beside it (npm install -g typescript@5)")?;
            // The path is taken before the node_modules of the workspace are looked at. Types are fetched by running npm.
            Start {
                options: json!({"tsserver": {"path": tsserver}, "disableAutomaticTypingAcquisition": true}),
                ..nothing
            }
        }
        Kind::RustAnalyzer if runs_project_code => nothing,
        Kind::RustAnalyzer => {
            if rustup_lacks(program, toolchain()) {
                return Err(
                    "rustup has none for its toolchain (rustup component add rust-analyzer)".to_owned()
                );
            }
            Start { options: for_rust_analyzer(), environment: for_cargo() }
        }
    })
}

/// The tsserver of the TypeScript that is installed beside this program, as Node looks for it.
fn beside(program: &Path) -> Option<PathBuf> {
    let program = program.canonicalize().ok()?;
    let inside = ["typescript", "lib", "tsserver.js"].iter().collect::<PathBuf>();
    program.ancestors().map(|folder| folder.join("node_modules").join(&inside)).find(|found| found.is_file())
}

fn for_rust_analyzer() -> Value {
    json!({
        "cargo": {"buildScripts": {"enable": false}},
        "procMacro": {"enable": false},
        "checkOnSave": false,
        "cachePriming": {"enable": false},
        // What is only there because of the above.
        "diagnostics": {"disabled": ["macro-error", "proc-macro-disabled", "unresolved-proc-macro", "inactive-code", "unlinked-file"]},
    })
}

/// `.cargo/config.toml` of the workspace may name a compiler and wrappers around it, and `rust-toolchain.toml` a folder of
/// programs; what the environment says goes before both.
fn for_cargo() -> Vec<(&'static str, String)> {
    let ours = |name: &'static str, otherwise: Option<String>| {
        let value = std::env::var(name).ok().or(otherwise)?;
        Some((name, value))
    };
    [
        ours("RUSTC", Some("rustc".into())),
        ours("RUSTC_WRAPPER", Some(String::new())),
        ours("RUSTC_WORKSPACE_WRAPPER", Some(String::new())),
        ours("RUSTUP_TOOLCHAIN", default_toolchain()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Why this kind of server must not be used in a root as it is now. What cargo reads of the workspace can name libraries and
/// programs in more ways than the environment can take back, and rust-analyzer has it run with each project that it reads.
/// What rust-analyzer itself reads there goes before what it is told.
pub(crate) fn objection(kind: Kind, root: &Path, runs_project_code: bool) -> Option<String> {
    if kind != Kind::RustAnalyzer || runs_project_code {
        return None;
    }
    // Its own file of a project goes before what a client says, and turns checks on again, with which build scripts run.
    let mut names = vec!["rust-analyzer.toml", ".cargo/config.toml", ".cargo/config"];
    if std::env::var_os("RUSTUP_TOOLCHAIN").is_none() && default_toolchain().is_none() {
        names.extend(["rust-toolchain.toml", "rust-toolchain"]);
    }
    // It looks for projects in the root and in the folders there, and not further down.
    let folders = std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let found = std::iter::once(root.to_owned())
        .chain(folders)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)).collect::<Vec<_>>())
        .find(|file| file.symlink_metadata().is_ok())?;
    Some(format!(
        "{} can have programs of the workspace run; a person who trusts it sets runs_project_code for this server",
        found.display()
    ))
}

/// Whether a program is there only because rustup puts one of each name beside itself, whose toolchain has none of it.
fn rustup_lacks(program: &Path, toolchain: Option<PathBuf>) -> bool {
    let length = |file: &Path| file.metadata().map(|found| found.len()).ok();
    let is_rustup = length(program).is_some_and(|own| length(&program.with_file_name("rustup")) == Some(own));
    let Some(toolchain) = toolchain.filter(|_| is_rustup) else { return false };
    let of_toolchain = program.file_name().map(|name| toolchain.join("bin").join(name));
    toolchain.is_dir() && of_toolchain.is_some_and(|of_toolchain| !of_toolchain.exists())
}

/// The folder of the toolchain that a known server is started with.
fn toolchain() -> Option<PathBuf> {
    let name = std::env::var("RUSTUP_TOOLCHAIN").ok().or_else(default_toolchain)?;
    Some(rustup_home()?.join("toolchains").join(name))
}

fn rustup_home() -> Option<PathBuf> {
    let home = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
    home.or_else(|| std::env::home_dir().map(|home| home.join(".rustup")))
}

/// The toolchain that the person has chosen for everything. Where it is not known, there is no rustup that would obey the
/// workspace.
fn default_toolchain() -> Option<String> {
    let settings = std::fs::read_to_string(rustup_home()?.join("settings.toml")).ok()?;
    let line = settings.lines().find_map(|line| line.strip_prefix("default_toolchain = "))?;
    Some(line.trim().trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ending_belongs_to_one_known_server() {
        let mut endings: Vec<&str> =
            KNOWN.iter().flat_map(|known| known.extensions).map(|(ending, _)| *ending).collect();
        let all = endings.len();
        endings.sort_unstable();
        endings.dedup();
        assert_eq!(endings.len(), all);
    }

    #[test]
    fn what_cargo_would_obey_keeps_rust_analyzer_away() {
        let folder = tempfile::tempdir().expect("a folder");
        let objects = |kind, trusts| objection(kind, folder.path(), trusts).is_some();
        assert!(!objects(Kind::RustAnalyzer, false));
        let config = folder.path().join("inner/.cargo");
        std::fs::create_dir_all(&config).expect("made");
        std::fs::write(config.join("config.toml"), "").expect("written");
        assert!(objects(Kind::RustAnalyzer, false));
        assert!(!objects(Kind::RustAnalyzer, true) && !objects(Kind::Plain, false));
    }

    #[test]
    fn what_rust_analyzer_would_obey_itself_keeps_it_away() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).expect("made");
        for place in [folder.path(), &inner] {
            let file = place.join("rust-analyzer.toml");
            std::fs::write(&file, "checkOnSave = true\n").expect("written");
            assert!(objection(Kind::RustAnalyzer, folder.path(), false).is_some());
            assert!(objection(Kind::RustAnalyzer, folder.path(), true).is_none());
            std::fs::remove_file(&file).expect("removed");
        }
        assert!(objection(Kind::RustAnalyzer, folder.path(), false).is_none());
    }

    #[test]
    fn what_rustup_only_pretends_to_have_is_not_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let [bin, toolchain] = ["bin", "toolchain"].map(|name| folder.path().join(name));
        std::fs::create_dir_all(toolchain.join("bin")).expect("made");
        std::fs::create_dir(&bin).expect("made");
        let program = bin.join("rust-analyzer");
        std::fs::write(&program, "rustup").expect("written");
        let lacks = || rustup_lacks(&program, Some(toolchain.clone()));
        assert!(!lacks(), "it is one of its own");
        std::fs::write(bin.join("rustup"), "rustup").expect("written");
        assert!(lacks());
        std::fs::write(toolchain.join("bin/rust-analyzer"), "").expect("written");
        assert!(!lacks());
        assert!(!rustup_lacks(&program, None), "which toolchain it is is not known");
    }

    #[test]
    fn typescript_is_taken_from_beside_its_server_and_never_from_a_root() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("there");
        let modules = folder.join("node_modules");
        let program = modules.join("typescript-language-server/lib/cli.mjs");
        let tsserver = modules.join("typescript/lib/tsserver.js");
        for file in [&program, &tsserver] {
            std::fs::create_dir_all(file.parent().expect("in a folder")).expect("made");
            std::fs::write(file, "").expect("written");
        }
        let path = |roots: &[PathBuf]| {
            start(Kind::TypeScript, &program, &Search::new(None, roots), false)
                .map(|start| start.options["tsserver"]["path"].clone())
        };
        assert_eq!(path(&[]), Ok(json!(tsserver)));
        assert!(path(std::slice::from_ref(&folder)).is_err());
        std::fs::remove_file(&tsserver).expect("removed");
        assert!(path(&[]).is_err());
    }
}
