//! The servers that need no configuration: which files they handle, how they are started, and which options keep them
//! from running programs of the workspace.
//!
//! By default, rust-analyzer builds scripts and macros, and lets `cargo` and `rustup` choose programs by files of the
//! workspace; typescript-language-server loads the TypeScript of `node_modules`; and all of them take the programs that
//! they start from `PATH`, which `process::search` keeps clean.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use emend_process::search::Search;
use serde_json::{Value, json};

/// A server that needs no configuration.
#[derive(Debug)]
pub(crate) struct KnownServer {
    pub(crate) name: &'static str,
    /// The extensions of its files, each with its LSP language identifier.
    pub(crate) extensions: &'static [(&'static str, &'static str)],
    /// The commands that start it, of which the first whose program is installed is used.
    pub(crate) commands: &'static [&'static [&'static str]],
    pub(crate) dialect: Dialect,
}

/// How a server departs from the protocol, and so how the client must handle it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Follows the protocol.
    Plain,
    /// Runs Python to find packages.
    Pyright,
    /// Publishes diagnostics without a version, so that TypeScript's own server is asked through it instead.
    TypeScript,
    /// Publishes nothing, in some releases, if the diagnostics have not changed.
    Gopls,
    /// Announces when it has read the workspace; its earlier answers are worthless.
    RustAnalyzer,
}

pub(crate) const KNOWN: &[KnownServer] = &[
    KnownServer {
        name: "rust-analyzer",
        extensions: &[("rs", "rust")],
        commands: &[&["rust-analyzer"]],
        dialect: Dialect::RustAnalyzer,
    },
    KnownServer {
        name: "pyright",
        extensions: &[("py", "python"), ("pyi", "python")],
        commands: &[&["pyright-langserver", "--stdio"], &["basedpyright-langserver", "--stdio"]],
        dialect: Dialect::Pyright,
    },
    KnownServer {
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
        dialect: Dialect::TypeScript,
    },
    KnownServer {
        name: "gopls",
        extensions: &[("go", "go")],
        commands: &[&["gopls"]],
        dialect: Dialect::Gopls,
    },
    KnownServer {
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
        // Without --query-driver it starts no compiler and loads no plugin, whatever a .clangd or a
        // compile_commands.json names. Its index would be written into the workspace.
        commands: &[&["clangd", "--background-index=false", "--log=error"]],
        dialect: Dialect::Plain,
    },
];

/// The files that describe a project. No server handles them as source, but a change to one may change every server's
/// diagnostics.
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

/// The options and environment with which a server is started.
pub(crate) struct Launch {
    pub(crate) options: Value,
    /// Environment variables beside `PATH`.
    pub(crate) environment: Vec<(&'static str, String)>,
}

/// Returns the extension of a file, by which its servers are chosen.
pub(crate) fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(OsStr::to_str)
}

/// Returns what to start a server of this dialect with. The error says what its installation lacks.
pub(crate) fn launch(
    kind: Dialect,
    program: &Path,
    search: &Search,
    runs_project_code: bool,
) -> Result<Launch, String> {
    let nothing = Launch { options: json!({}), environment: Vec::new() };
    Ok(match kind {
        Dialect::Plain | Dialect::Gopls => nothing,
        Dialect::Pyright => Launch {
            // Pyright runs the Python of PATH in the root to find packages.
            environment: vec![("PYTHONSAFEPATH", "1".into())],
            // Otherwise, each edit would have more files checked than those that it changed.
            options: json!({"python": {"analysis": {"diagnosticMode": "openFilesOnly"}},
                "basedpyright": {"analysis": {"diagnosticMode": "openFilesOnly"}}}),
        },
        Dialect::TypeScript if runs_project_code => nothing,
        Dialect::TypeScript => {
            let tsserver = installed_tsserver(program)
                .filter(|tsserver| !search.is_inside(tsserver))
                .ok_or("there is no TypeScript with a tsserver.js beside it (npm install -g typescript@5)")?;
            // The path has priority over the node_modules of the workspace. Acquiring types would run npm.
            Launch {
                options: json!({"tsserver": {"path": tsserver}, "disableAutomaticTypingAcquisition": true}),
                ..nothing
            }
        }
        Dialect::RustAnalyzer if runs_project_code => nothing,
        Dialect::RustAnalyzer => {
            if is_missing_in_toolchain(program, toolchain_folder()) {
                return Err(
                    "rustup has none for its toolchain (rustup component add rust-analyzer)".to_owned()
                );
            }
            Launch { options: rust_analyzer_options(), environment: cargo_environment() }
        }
    })
}

/// Finds the `tsserver.js` of the TypeScript that is installed beside this program, as Node resolves it.
fn installed_tsserver(program: &Path) -> Option<PathBuf> {
    let program = program.canonicalize().ok()?;
    let inside = ["typescript", "lib", "tsserver.js"].iter().collect::<PathBuf>();
    program.ancestors().map(|folder| folder.join("node_modules").join(&inside)).find(|found| found.is_file())
}

fn rust_analyzer_options() -> Value {
    json!({
        "cargo": {"buildScripts": {"enable": false}},
        "procMacro": {"enable": false},
        "checkOnSave": false,
        "cachePriming": {"enable": false},
        // These only follow from the settings above.
        "diagnostics": {"disabled": ["macro-error", "proc-macro-disabled", "unresolved-proc-macro", "inactive-code", "unlinked-file"]},
    })
}

/// Returns variables that override the workspace's `.cargo/config.toml`, which may name a compiler and wrappers around
/// it, and its `rust-toolchain.toml`, which may name a folder of programs.
fn cargo_environment() -> Vec<(&'static str, String)> {
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

/// Returns why a server of this dialect must not be used in a root as it is now, if so. Cargo's files in the workspace
/// can name libraries and programs in more ways than the environment can override, and rust-analyzer runs cargo for
/// each project. Rust-analyzer's own files there override its options.
pub(crate) fn objection(dialect: Dialect, root: &Path, runs_project_code: bool) -> Option<String> {
    if dialect != Dialect::RustAnalyzer || runs_project_code {
        return None;
    }
    // Rust-analyzer's file overrides the client's options, and can turn on checks, which run build scripts.
    let mut names = vec!["rust-analyzer.toml", ".cargo/config.toml", ".cargo/config"];
    if std::env::var_os("RUSTUP_TOOLCHAIN").is_none() && default_toolchain().is_none() {
        names.extend(["rust-toolchain.toml", "rust-toolchain"]);
    }
    // Rust-analyzer looks for projects in the root and in its direct subfolders only.
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

/// Returns whether a program is only a rustup proxy whose toolchain does not have the component.
fn is_missing_in_toolchain(program: &Path, toolchain: Option<PathBuf>) -> bool {
    let length = |file: &Path| file.metadata().map(|found| found.len()).ok();
    let is_rustup = length(program).is_some_and(|own| length(&program.with_file_name("rustup")) == Some(own));
    let Some(toolchain) = toolchain.filter(|_| is_rustup) else { return false };
    let of_toolchain = program.file_name().map(|name| toolchain.join("bin").join(name));
    toolchain.is_dir() && of_toolchain.is_some_and(|of_toolchain| !of_toolchain.exists())
}

/// Returns the folder of the toolchain with which a known server is started.
fn toolchain_folder() -> Option<PathBuf> {
    let name = std::env::var("RUSTUP_TOOLCHAIN").ok().or_else(default_toolchain)?;
    Some(rustup_home()?.join("toolchains").join(name))
}

fn rustup_home() -> Option<PathBuf> {
    let home = std::env::var_os("RUSTUP_HOME").map(PathBuf::from);
    home.or_else(|| std::env::home_dir().map(|home| home.join(".rustup")))
}

/// Returns rustup's default toolchain. `None` means that there is no rustup, and so nothing that would let the
/// workspace choose.
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
        assert!(!objects(Dialect::RustAnalyzer, false));
        let config = folder.path().join("inner/.cargo");
        std::fs::create_dir_all(&config).expect("made");
        std::fs::write(config.join("config.toml"), "").expect("written");
        assert!(objects(Dialect::RustAnalyzer, false));
        assert!(!objects(Dialect::RustAnalyzer, true) && !objects(Dialect::Plain, false));
    }

    #[test]
    fn what_rust_analyzer_would_obey_itself_keeps_it_away() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).expect("made");
        for place in [folder.path(), &inner] {
            let file = place.join("rust-analyzer.toml");
            std::fs::write(&file, "checkOnSave = true\n").expect("written");
            assert!(objection(Dialect::RustAnalyzer, folder.path(), false).is_some());
            assert!(objection(Dialect::RustAnalyzer, folder.path(), true).is_none());
            std::fs::remove_file(&file).expect("removed");
        }
        assert!(objection(Dialect::RustAnalyzer, folder.path(), false).is_none());
    }

    #[test]
    fn what_rustup_only_pretends_to_have_is_not_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let [bin, toolchain] = ["bin", "toolchain"].map(|name| folder.path().join(name));
        std::fs::create_dir_all(toolchain.join("bin")).expect("made");
        std::fs::create_dir(&bin).expect("made");
        let program = bin.join("rust-analyzer");
        std::fs::write(&program, "rustup").expect("written");
        let lacks = || is_missing_in_toolchain(&program, Some(toolchain.clone()));
        assert!(!lacks(), "it is one of its own");
        std::fs::write(bin.join("rustup"), "rustup").expect("written");
        assert!(lacks());
        std::fs::write(toolchain.join("bin/rust-analyzer"), "").expect("written");
        assert!(!lacks());
        assert!(!is_missing_in_toolchain(&program, None), "which toolchain it is is not known");
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
            launch(Dialect::TypeScript, &program, &Search::new(None, roots), false)
                .map(|start| start.options["tsserver"]["path"].clone())
        };
        assert_eq!(path(&[]), Ok(json!(tsserver)));
        assert!(path(std::slice::from_ref(&folder)).is_err());
        std::fs::remove_file(&tsserver).expect("removed");
        assert!(path(&[]).is_err());
    }
}
