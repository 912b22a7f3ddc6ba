//! The supported clients: where the configuration file of each is, and what an entry for Emend looks like in it.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use crate::workspace::home;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Zed,
    Codex,
    GeminiCli,
    Windsurf,
}

/// Whom a configuration file applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Everybody who works on the project.
    Project,
    /// This user, in all projects.
    Global,
}

/// The syntax of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON, perhaps with comments and trailing commas.
    Json,
    Toml,
}

impl Client {
    /// The client's name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The client's configuration file of this scope, if there is one.
    pub(crate) fn file(self, scope: Scope, project: &Path) -> Option<PathBuf> {
        match scope {
            Scope::Project => self.in_project().map(|file| project.join(file)),
            Scope::Global => self.in_home(),
        }
    }

    fn in_project(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some(".mcp.json"),
            Self::Cursor => Some(".cursor/mcp.json"),
            Self::Vscode => Some(".vscode/mcp.json"),
            Self::GeminiCli => Some(".gemini/settings.json"),
            Self::ClaudeDesktop | Self::Zed | Self::Codex | Self::Windsurf => None,
        }
    }

    fn in_home(self) -> Option<PathBuf> {
        let in_home = |file: &str| home().map(|home| home.join(file));
        match self {
            // Claude Code keeps them in a file that it writes all the time; only its own command should change that.
            Self::ClaudeCode => None,
            Self::ClaudeDesktop => Some(programs()?.join("Claude/claude_desktop_config.json")),
            Self::Cursor => in_home(".cursor/mcp.json"),
            Self::Vscode => Some(programs()?.join("Code/User/mcp.json")),
            Self::Zed if cfg!(windows) => Some(programs()?.join("Zed/settings.json")),
            Self::Zed => Some(settings()?.join("zed/settings.json")),
            Self::Codex => {
                let base =
                    std::env::var_os("CODEX_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
                Some(base.or_else(|| in_home(".codex"))?.join("config.toml"))
            }
            Self::GeminiCli => in_home(".gemini/settings.json"),
            Self::Windsurf => in_home(".codeium/windsurf/mcp_config.json"),
        }
    }

    pub(crate) fn format(self) -> Format {
        if self == Self::Codex { Format::Toml } else { Format::Json }
    }

    /// The key that holds the client's servers.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            Self::Zed => "context_servers",
            Self::Codex => "mcp_servers",
            _ => "mcpServers",
        }
    }

    /// The variable by which this client's configuration names the project folder; `None` where the path must be
    /// written out.
    pub(crate) fn project_folder(self) -> Option<&'static str> {
        match self {
            Self::Cursor | Self::Vscode => Some("${workspaceFolder}"),
            Self::ClaudeCode | Self::GeminiCli => Some("."),
            Self::ClaudeDesktop | Self::Zed | Self::Codex | Self::Windsurf => None,
        }
    }

    /// Whether the client starts a server in the folder where the client itself was started.
    pub(crate) fn starts_in_place(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::GeminiCli | Self::Codex)
    }

    /// Whether an entry needs the whole path of the program, since a desktop starts the client without the PATH of a
    /// shell. A file for everybody in a project never names a path of one machine.
    pub(crate) fn needs_path(self, scope: Scope) -> bool {
        match self {
            Self::ClaudeDesktop | Self::Zed | Self::Windsurf => true,
            Self::Cursor | Self::Vscode => scope == Scope::Global,
            Self::ClaudeCode | Self::Codex | Self::GeminiCli => false,
        }
    }

    /// The value that this client wants for the type of the transport, if any.
    pub(crate) fn kind(self) -> Option<&'static str> {
        (self == Self::Vscode).then_some("stdio")
    }
}

/// The folder where programs keep their data for this user.
fn programs() -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return home().map(|home| home.join("Library/Application Support"));
    }
    if cfg!(windows) {
        return std::env::var_os("APPDATA").map(PathBuf::from);
    }
    settings()
}

/// `$XDG_CONFIG_HOME`, by default `~/.config`.
fn settings() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    base.or_else(|| home().map(|home| home.join(".config")))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use emend_workspace::Policy;

    use super::*;

    #[test]
    fn what_a_client_starts_is_not_changed_without_a_person() {
        let policy = Policy::default();
        for client in Client::value_variants() {
            let of_person =
                client.in_home().and_then(|file| Some(file.strip_prefix(home()?).ok()?.to_owned()));
            for file in client.in_project().map(PathBuf::from).into_iter().chain(of_person) {
                let names: Vec<OsString> = file.iter().map(OsString::from).collect();
                assert!(
                    policy.may_edit(&names).is_ok() && policy.may_commit(&names).is_err(),
                    "{}",
                    file.display()
                );
            }
        }
    }
}
