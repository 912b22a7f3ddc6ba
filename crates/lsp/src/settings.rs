//! What a person says of language servers: where they may work, which there are beside the known ones, and how long and
//! how much each of them may take.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

/// All that [`Servers`](crate::Servers) are told.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The folders that are worked in, absolute. A server is started in the innermost that holds a file, and no program
    /// is ever taken from inside one.
    pub roots: Vec<PathBuf>,
    /// Further folders that no program is taken from, such as roots in which no server is wanted.
    pub untrusted: Vec<PathBuf>,
    /// What differs from the known servers, and further ones.
    pub servers: Vec<ServerSetting>,
    /// Where programs are looked for, as in `PATH`; without it in the environment's.
    pub search: Option<OsString>,
    /// What a server may take.
    pub limits: Limits,
}

/// What is said of one server. What is absent or empty stays as it is known.
#[derive(Clone, Debug, Default)]
pub struct ServerSetting {
    /// That of a known server (`rust-analyzer`, `pyright`, `typescript-language-server`, `gopls`, `clangd`), or another.
    pub name: String,
    /// `false`: it is never started.
    pub enabled: Option<bool>,
    /// The program, by its absolute path or by a name that is looked for, and its arguments.
    pub command: Option<Vec<String>>,
    /// The endings of the files that it is for, without a dot.
    pub extensions: Vec<String>,
    /// What it calls the language of these files.
    pub language: Option<String>,
    /// Its `initializationOptions`, and what it gets when it asks for configuration. Laid over those that are known.
    pub options: Option<Value>,
    /// Whether it may run what the workspace brings along: build scripts, macros, toolchains, packages with programs.
    pub runs_project_code: bool,
}

/// How long and how much a server may take before it is given up.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Until it is ready to be told of files.
    pub initialize: Duration,
    /// For one edit, or for one question.
    pub job: Duration,
    /// For what it publishes of other files, and of new ones in later passes, when it has answered for those of an edit.
    pub others: Duration,
    /// To end when it is asked to.
    pub stop: Duration,
    /// How long a server that crashed is left alone; doubled with each crash,
    pub back_off: Duration,
    /// but no longer than this.
    pub longest_back_off: Duration,
    /// After so long without a crash the first one counts as the first again.
    pub well: Duration,
    /// The bytes of one message of a server.
    pub message: usize,
    /// The bytes that it may write without having been told anything.
    pub flood: usize,
    /// The bytes of a file that it is told of.
    pub text: usize,
    /// The files that are open in one server.
    pub documents: usize,
}

impl Default for Limits {
    fn default() -> Self {
        const SECOND: Duration = Duration::from_secs(1);
        const MIB: usize = 1 << 20;
        Self {
            initialize: 60 * SECOND,
            job: 60 * SECOND,
            others: SECOND / 10,
            stop: 2 * SECOND,
            back_off: SECOND,
            longest_back_off: 60 * SECOND,
            well: 300 * SECOND,
            // Once parsed, a message can take nearly thirty times its length.
            message: 16 * MIB,
            flood: 256 * MIB,
            text: 8 * MIB,
            documents: 50,
        }
    }
}
