//! Settings for language servers: in which folders they may work, which servers there are beside the known ones, and
//! how much time and memory each may take.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

/// The settings of [`Servers`](crate::Servers).
#[derive(Clone, Debug, Default)]
pub struct LspSettings {
    /// The workspace folders, absolute. A server is started in the innermost folder that holds a file, and no program
    /// is ever taken from inside one.
    pub roots: Vec<PathBuf>,
    /// Further folders from which no program is taken, such as roots in which no server is wanted.
    pub untrusted: Vec<PathBuf>,
    /// Changes to the known servers, and additional servers.
    pub servers: Vec<ServerSetting>,
    /// The search path for programs, in the form of `PATH`; `None` for that of the environment.
    pub search: Option<OsString>,
    /// How much time and memory each server may take.
    pub limits: ServerLimits,
}

/// The settings of one server. A field that is `None` or empty leaves the built-in value as it is.
#[derive(Clone, Debug, Default)]
pub struct ServerSetting {
    /// The name of a known server (`rust-analyzer`, `pyright`, `typescript-language-server`, `gopls`, `clangd`), or
    /// another.
    pub name: String,
    /// Whether the server may be started.
    pub enabled: Option<bool>,
    /// The program, as an absolute path or a name to search for, and its arguments.
    pub command: Option<Vec<String>>,
    /// The extensions of the files that the server handles, without a dot.
    pub extensions: Vec<String>,
    /// The LSP language identifier of these files.
    pub language: Option<String>,
    /// The server's `initializationOptions` and configuration, merged over the built-in ones.
    pub options: Option<Value>,
    /// Whether the server may run programs of the workspace: build scripts, macros, toolchains, packages with programs.
    pub runs_project_code: bool,
}

/// How much time and memory a server may take before it is ended.
#[derive(Clone, Copy, Debug)]
pub struct ServerLimits {
    /// The time until the server has answered `initialize`.
    pub initialize: Duration,
    /// The time for one edit, or for one question.
    pub job: Duration,
    /// The time to wait, before a question, for a server that still reads the project.
    pub reading: Duration,
    /// The time to wait, after the answers for the edited files, for what the server publishes of other files.
    pub other_files: Duration,
    /// The time in which the server must exit when asked to.
    pub stop: Duration,
    /// The time before a crashed server may be started again; doubled with each crash.
    pub back_off: Duration,
    /// The longest time before a crashed server may be started again.
    pub longest_back_off: Duration,
    /// The time without a crash after which earlier crashes no longer lengthen the back-off.
    pub crashes_forgotten_after: Duration,
    /// The largest message of a server, in bytes.
    pub message_bytes: usize,
    /// How many bytes a server may write without having been sent anything.
    pub unprompted_bytes: usize,
    /// The largest file that is sent to a server, in bytes.
    pub file_bytes: usize,
    /// How many files may be open in one server.
    pub open_documents: usize,
}

impl Default for ServerLimits {
    fn default() -> Self {
        const SECOND: Duration = Duration::from_secs(1);
        const MIB: usize = 1 << 20;
        Self {
            initialize: 60 * SECOND,
            job: 60 * SECOND,
            reading: 30 * SECOND,
            other_files: SECOND / 10,
            stop: 2 * SECOND,
            back_off: SECOND,
            longest_back_off: 60 * SECOND,
            crashes_forgotten_after: 300 * SECOND,
            // Once parsed, a message can take nearly thirty times its length.
            message_bytes: 16 * MIB,
            unprompted_bytes: 256 * MIB,
            file_bytes: 8 * MIB,
            open_documents: 50,
        }
    }
}
