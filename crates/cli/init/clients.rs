//! The supported clients, one declaration each: where the configuration of a client is, what an entry for Emend looks
//! like in it, and what makes the client use Emend's edit tools and not its own.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::system::{Base, System};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Zed,
    Codex,
    GeminiCli,
    Opencode,
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

/// How an entry names the command that starts a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A program in `command`, and a list in `args`.
    ProgramAndArgs,
    /// One list in `command`, which begins with the program.
    OneList,
}

/// The entries that need the whole path of the program, since a desktop starts the client without the PATH of a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WholePath {
    Never,
    /// Not in the file of a project: that is for everybody, and never names a path of one machine.
    Global,
    Always,
}

/// One file of a client: where it is in a project, and for all projects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Its names. The first that exists counts, or else the first.
    project: &'static [&'static str],
    global: Option<(Base, &'static str)>,
}

/// What makes a client use Emend's edit tools.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Preference {
    /// The fields that the entry gets besides.
    pub(crate) entry: &'static [(&'static str, Wanted)],
    /// The file with these settings. It may be the one with the entry.
    pub(crate) file: Place,
    /// What takes the client's own edit tools away, and what allows Emend's.
    pub(crate) denies: &'static [Setting],
    pub(crate) allows: &'static [Setting],
    /// The file that the model is shown, and what a new one begins with.
    pub(crate) rules: Place,
    pub(crate) rules_head: &'static str,
    /// What cannot be set, and what the person should know.
    pub(crate) remark: &'static str,
}

/// A setting: the keys that lead to it, and its value.
pub(crate) type Setting = (&'static [&'static str], Wanted);

/// A value that a setting should have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted {
    True,
    Text(&'static str),
    /// A list that has these items, besides others.
    Items(&'static [&'static str]),
}

/// What we know about a client.
struct Facts {
    format: Format,
    /// The key that holds the client's servers.
    key: &'static str,
    shape: Shape,
    /// The value that it wants for the type of the transport, if any.
    kind: Option<&'static str>,
    file: Place,
    project_folder: Option<&'static str>,
    starts_in_place: bool,
    whole_path: WholePath,
    /// Whether it shows a model or a person the structured content of an answer too, or instead of the text.
    shows_structured: bool,
    preference: Preference,
}

const NOWHERE: Place = Place { project: &[], global: None };

/// A client that has nothing special.
const PLAIN: Facts = Facts {
    format: Format::Json,
    key: "mcpServers",
    shape: Shape::ProgramAndArgs,
    kind: None,
    file: NOWHERE,
    project_folder: None,
    starts_in_place: false,
    whole_path: WholePath::Never,
    shows_structured: false,
    preference: Preference {
        entry: &[],
        file: NOWHERE,
        denies: &[],
        allows: &[],
        rules: NOWHERE,
        rules_head: "",
        remark: "",
    },
};

impl Client {
    fn facts(self) -> Facts {
        match self {
            // What holds for all projects is in a file that Claude Code writes all the time; only its own command
            // should change that.
            Self::ClaudeCode => Facts {
                file: Place { project: &[".mcp.json"], global: None },
                project_folder: Some("."),
                starts_in_place: true,
                shows_structured: true,
                preference: Preference {
                    file: Place {
                        project: &[".claude/settings.json"],
                        global: Some((Base::Named("CLAUDE_CONFIG_DIR", ".claude"), "settings.json")),
                    },
                    // A bare name takes the tool out of what the model sees. Notebooks stay with NotebookEdit.
                    denies: &[(&["permissions", "deny"], Wanted::Items(&["Edit", "Write"]))],
                    allows: &[(&["permissions", "allow"], Wanted::Items(&["mcp__emend__*"]))],
                    rules: Place {
                        project: &["CLAUDE.md"],
                        global: Some((Base::Named("CLAUDE_CONFIG_DIR", ".claude"), "CLAUDE.md")),
                    },
                    remark: "Claude Code has no Edit and no Write any more: what it writes outside of the folders that Emend \
                             serves, such as plans and memory, it cannot edit either, and /rewind does not take Emend's \
                             edits back. It heeds what a project's settings allow once you trust the project.",
                    ..PLAIN.preference
                },
                ..PLAIN
            },
            Self::ClaudeDesktop => Facts {
                file: Place {
                    global: Some((Base::Programs, "Claude/claude_desktop_config.json")),
                    ..NOWHERE
                },
                whole_path: WholePath::Always,
                preference: Preference {
                    remark: "Claude Desktop has no edit tools of its own, so there is nothing to set.",
                    ..PLAIN.preference
                },
                ..PLAIN
            },
            Self::Cursor => Facts {
                file: Place {
                    project: &[".cursor/mcp.json"],
                    global: Some((Base::Home, ".cursor/mcp.json")),
                },
                project_folder: Some("${workspaceFolder}"),
                whole_path: WholePath::Global,
                preference: Preference {
                    rules: Place { project: &[".cursor/rules/emend.mdc"], global: None },
                    rules_head: "---\ndescription: How to edit files\nalwaysApply: true\n---\n",
                    remark: "Cursor has no file in which its own edit tools can be turned off, and none with rules for all \
                             projects: those are in its settings, under Rules.",
                    ..PLAIN.preference
                },
                ..PLAIN
            },
            Self::Vscode => Facts {
                key: "servers",
                kind: Some("stdio"),
                file: Place {
                    project: &[".vscode/mcp.json"],
                    global: Some((Base::Programs, "Code/User/mcp.json")),
                },
                project_folder: Some("${workspaceFolder}"),
                whole_path: WholePath::Global,
                preference: Preference {
                    rules: Place { project: &[".github/copilot-instructions.md"], global: None },
                    remark: "VS Code has no file in which its own edit tools can be turned off for every chat. In the chat, \
                             'Configure Tools' does that: take the check mark from 'edit'. What is said for all projects \
                             is in its settings.",
                    ..PLAIN.preference
                },
                ..PLAIN
            },
            Self::Zed => {
                let settings = (Base::Zed, "settings.json");
                Facts {
                    key: "context_servers",
                    file: Place { global: Some(settings), ..NOWHERE },
                    whole_path: WholePath::Always,
                    preference: Preference {
                        file: Place { global: Some(settings), ..NOWHERE },
                        denies: &[
                            (
                                &["agent", "tool_permissions", "tools", "edit_file", "default"],
                                Wanted::Text("deny"),
                            ),
                            (
                                &["agent", "tool_permissions", "tools", "write_file", "default"],
                                Wanted::Text("deny"),
                            ),
                        ],
                        remark: "Zed still shows the model its own edit tools, and refuses their calls. It cannot allow all \
                                 tools of one server: it asks about each of Emend's until you choose 'always'.",
                        ..PLAIN.preference
                    },
                    ..PLAIN
                }
            }
            Self::Codex => Facts {
                format: Format::Toml,
                key: "mcp_servers",
                file: Place { global: Some((Base::Named("CODEX_HOME", ".codex"), "config.toml")), ..NOWHERE },
                starts_in_place: true,
                shows_structured: true,
                preference: Preference {
                    entry: &[("default_tools_approval_mode", Wanted::Text("approve"))],
                    rules: Place {
                        global: Some((Base::Named("CODEX_HOME", ".codex"), "AGENTS.md")),
                        ..NOWHERE
                    },
                    remark: "Codex has no setting any more that takes its own apply_patch away, so it is only told to use \
                             Emend.",
                    ..PLAIN.preference
                },
                ..PLAIN
            },
            Self::GeminiCli => {
                let settings = Place {
                    project: &[".gemini/settings.json"],
                    global: Some((Base::Home, ".gemini/settings.json")),
                };
                Facts {
                    file: settings,
                    project_folder: Some("."),
                    starts_in_place: true,
                    preference: Preference {
                        entry: &[("trust", Wanted::True)],
                        file: settings,
                        // The names of their classes: by the name that the model sees, Gemini CLI would take away the
                        // tool of that name from every server too. Its newer policies know names alone.
                        denies: &[(&["tools", "exclude"], Wanted::Items(&["EditTool", "WriteFileTool"]))],
                        rules: Place {
                            project: &["GEMINI.md"],
                            global: Some((Base::Home, ".gemini/GEMINI.md")),
                        },
                        remark: "Gemini CLI warns that 'tools.exclude' is to go in its version 1.0. What is to replace it would \
                                 take Emend's write_file away with Gemini's own.",
                        ..PLAIN.preference
                    },
                    ..PLAIN
                }
            }
            Self::Opencode => {
                let settings = Place {
                    project: &["opencode.json", "opencode.jsonc"],
                    global: Some((Base::Xdg, "opencode/opencode.json")),
                };
                Facts {
                    key: "mcp",
                    shape: Shape::OneList,
                    kind: Some("local"),
                    file: settings,
                    project_folder: Some("."),
                    starts_in_place: true,
                    preference: Preference {
                        file: settings,
                        // 'edit' is its tools edit, write and apply_patch.
                        denies: &[(&["permission", "edit"], Wanted::Text("deny"))],
                        allows: &[(&["permission", "emend_*"], Wanted::Text("allow"))],
                        rules: Place {
                            project: &["AGENTS.md"],
                            global: Some((Base::Xdg, "opencode/AGENTS.md")),
                        },
                        ..PLAIN.preference
                    },
                    ..PLAIN
                }
            }
            Self::Windsurf => Facts {
                file: Place { global: Some((Base::Home, ".codeium/windsurf/mcp_config.json")), ..NOWHERE },
                whole_path: WholePath::Always,
                preference: Preference {
                    rules: Place {
                        global: Some((Base::Home, ".codeium/windsurf/memories/global_rules.md")),
                        ..NOWHERE
                    },
                    remark: "Windsurf has no setting that takes its own edit tools away, so it is only told to use Emend.",
                    ..PLAIN.preference
                },
                ..PLAIN
            },
        }
    }

    /// The client's name on the command line.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// Whether the client can show the diff of an edit by a hook, which stands in the file of the preference's settings.
    pub(crate) fn has_hook(self) -> bool {
        self == Self::ClaudeCode
    }

    /// The client's configuration file of this scope, if there is one.
    pub(crate) fn file(self, scope: Scope, project: &Path, system: &System) -> Option<PathBuf> {
        self.facts().file.of(scope, project, system)
    }

    pub(crate) fn format(self) -> Format {
        self.facts().format
    }

    /// The key that holds the client's servers.
    pub(crate) fn key(self) -> &'static str {
        self.facts().key
    }

    pub(crate) fn shape(self) -> Shape {
        self.facts().shape
    }

    /// The variable by which this client's configuration names the project folder; `None` where the path must be
    /// written out.
    pub(crate) fn project_folder(self) -> Option<&'static str> {
        self.facts().project_folder
    }

    /// Whether the client starts a server in the folder where the client itself was started.
    pub(crate) fn starts_in_place(self) -> bool {
        self.facts().starts_in_place
    }

    /// Whether an entry needs the whole path of the program.
    pub(crate) fn needs_path(self, scope: Scope) -> bool {
        match self.facts().whole_path {
            WholePath::Never => false,
            WholePath::Global => scope == Scope::Global,
            WholePath::Always => true,
        }
    }

    /// The value that this client wants for the type of the transport, if any.
    pub(crate) fn kind(self) -> Option<&'static str> {
        self.facts().kind
    }

    /// The flags that its entry needs.
    pub(crate) fn flags(self) -> &'static [&'static str] {
        if self.facts().shows_structured { &["--answers-as", "text"] } else { &[] }
    }

    pub(crate) fn preference(self) -> Preference {
        self.facts().preference
    }
}

impl Preference {
    pub(crate) fn settings(&self) -> impl Iterator<Item = &'static Setting> {
        self.denies.iter().chain(self.allows)
    }
}

impl Place {
    /// The file of this scope, if there is one.
    pub(crate) fn of(self, scope: Scope, project: &Path, system: &System) -> Option<PathBuf> {
        match scope {
            Scope::Project => {
                let files = || self.project.iter().map(|file| project.join(file));
                files().find(|file| file.exists()).or_else(|| files().next())
            }
            Scope::Global => self.global.and_then(|(base, file)| Some(system.folder(base)?.join(file))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use emend_workspace::Policy;

    use super::*;
    use crate::init::system::Kind;

    #[test]
    fn what_a_client_starts_is_not_changed_without_a_person() {
        let policy = Policy::default();
        for client in Client::value_variants() {
            for (place, kind) in [client.facts().file, client.preference().file]
                .into_iter()
                .flat_map(|place| Kind::value_variants().iter().map(move |kind| (place, *kind)))
            {
                let home = Path::new("/home/me");
                let of_person = place
                    .of(Scope::Global, Path::new(""), &System::new(Some(kind), Some(home)))
                    .and_then(|file| Some(file.strip_prefix(home).ok()?.to_owned()));
                for file in place.project.iter().map(PathBuf::from).chain(of_person) {
                    let names: Vec<OsString> = file.iter().map(OsString::from).collect();
                    assert!(
                        policy.may_edit(&names).is_ok()
                            && policy.may_commit_without_approval(&names).is_err(),
                        "{}",
                        file.display()
                    );
                }
            }
        }
    }
}
