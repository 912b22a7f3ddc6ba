//! The declaration of each setting of a team's server.

use std::fmt::Write;

/// A table of the file.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name; empty for the settings above all tables.
    pub name: &'static str,
    /// Whether there may be several.
    pub is_list: bool,
    /// What it is for.
    pub about: &'static str,
    /// Its settings.
    pub keys: &'static [Key],
}

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What may stand there.
    pub kind: Kind,
    /// What holds if it is not set; empty if it must be.
    pub default: &'static str,
    /// What it says.
    pub about: &'static str,
}

/// What may stand in a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A text that is not empty.
    Text,
    /// A text, or a list of them.
    Texts,
    /// `true` or `false`.
    Truth,
    /// A whole number from this one to that one.
    Number(u64, u64),
}

const fn key(name: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Key {
    Key { name, kind, default, about }
}

const AUTHORITY: Key = key(
    "authority",
    Kind::Text,
    "the only one",
    "The issuer whose tokens may name the tenant. Must be set if there are several: the same name may mean others to each",
);
const READ_ONLY: Key =
    key("read_only", Kind::Truth, "`false`", "Nobody of the tenant edits, whatever their tokens say");
const EDITS: Key = key(
    "edits_per_minute",
    Kind::Number(0, 1_000_000),
    "no limit",
    "How many edits all of the tenant together make in a minute; beyond that, 429 with `Retry-After`",
);
const BYTES: Key = key(
    "bytes_per_minute",
    Kind::Number(0, 1 << 40),
    "no limit",
    "How many bytes their requests for edits have in a minute",
);

/// All settings, in the order of the reference.
pub const TABLES: &[Table] = &[
    Table {
        name: "",
        is_list: false,
        about: "Above all tables:",
        keys: &[
            key(
                "resource",
                Kind::Text,
                "none",
                "The address of the MCP endpoint as clients have it, such as `https://files.example.com/mcp`. Tokens are \
                 issued for it. Must be set if there is an `authority` or `[review]`",
            ),
            key(
                "tokens",
                Kind::Text,
                "none",
                "The file of [static tokens](HTTP.md#scopes), as `--tokens` names it",
            ),
            key(
                "metrics",
                Kind::Text,
                "none",
                "An address for Prometheus, such as `127.0.0.1:9464`. Whoever reaches it needs no token",
            ),
        ],
    },
    Table {
        name: "tls",
        is_list: false,
        about: "The server speaks TLS itself:",
        keys: &[
            key("certificate", Kind::Text, "", "The file with the certificate and those above it, as PEM"),
            key("key", Kind::Text, "", "The file with its key, as PEM, which others may not read"),
        ],
    },
    Table {
        name: "replicas",
        is_list: false,
        about: "Several servers serve the same tenants, each tenant by one of them:",
        keys: &[
            key(
                "engine",
                Kind::Text,
                "",
                "The Redis or Valkey that keeps which server serves a tenant, such as `redis://10.0.0.5:6379`, or with `rediss` \
                 for TLS",
            ),
            key("password_file", Kind::Text, "none", "The file with its password"),
            key(
                "address",
                Kind::Text,
                "`EMEND_REPLICA_ADDRESS` in the environment",
                "Where the other servers reach this one, as `HOST:PORT`, without TLS: at the port of `--http`, there is no other",
            ),
            key(
                "lease_seconds",
                // It is renewed three times as often, and each time may take a second.
                Kind::Number(2, 20),
                "`10`",
                "How long a server that died, or reaches the engine no more, keeps its tenants: 2 to 20",
            ),
            key("prefix", Kind::Text, "`emend`", "What the names of the engine's keys begin with"),
            key(
                "events_kept",
                Kind::Number(0, 1_000_000),
                "`1000`",
                "About how many [events](EVENTS.md#in-the-engine-of-several-servers) of each tenant the engine keeps, where \
                 `emit_event` is set. With 0, it gets none",
            ),
        ],
    },
    Table {
        name: "review",
        is_list: false,
        about: "People with `files:approve` decide on a page at `/review`. The table may be empty:",
        keys: &[
            key(
                "client",
                Kind::Text,
                "none: people sign in with a token",
                "The name by which the authority knows this server as a client that people sign in to, with the redirect URI \
                 `https://files.example.com/review/signed-in`",
            ),
            key(
                "secret_file",
                Kind::Text,
                "none: a public client",
                "The file with the secret that goes with `client`",
            ),
            key(
                "authority",
                Kind::Text,
                "the only one",
                "The issuer with which people sign in. Must be set if there are several, and a `client`",
            ),
            key(
                "scopes",
                Kind::Texts,
                "`files:read`, `files:write` and `files:approve`",
                "The scopes that are asked for",
            ),
        ],
    },
    Table {
        name: "authority",
        is_list: true,
        about: "An authority (OAuth 2.1) whose tokens are taken:",
        keys: &[
            key("issuer", Kind::Text, "", "Its name, an address, exactly as its tokens have it in `iss`"),
            key(
                "audience",
                Kind::Texts,
                "`resource`; where that has no path, with a slash behind it or without",
                "For whom its tokens must be issued (`aud`): one of these",
            ),
            key(
                "algorithms",
                Kind::Texts,
                "all with public keys",
                "The signatures that are taken, such as `ES256`",
            ),
            key(
                "types",
                Kind::Texts,
                "`at+jwt`",
                "The `typ` of its access tokens. Some authorities have `JWT`",
            ),
            key("keys", Kind::Text, "as its metadata says", "Where its keys (JWKS) are"),
            key("leeway", Kind::Number(0, 300), "`60`", "How many seconds its clock may be from this one"),
            key("tenant_claim", Kind::Text, "`tenant`", "The claim that names the tenant"),
            key(
                "client",
                Kind::Text,
                "none",
                "The name by which it knows this server, for tokens that are no JWTs",
            ),
            key("secret_file", Kind::Text, "none", "The file with the secret that goes with `client`"),
            key("introspection", Kind::Text, "as its metadata says", "Where it is asked about such tokens"),
        ],
    },
    Table {
        name: "tenant",
        is_list: true,
        about: "A tenant, whom a claim of a token or `tenant=NAME` of a static token names:",
        keys: &[
            key(
                "name",
                Kind::Text,
                "",
                "Its name: one letter, digit or `_`, then also `.`, `-` and `@`, at most 64",
            ),
            AUTHORITY,
            key("workspace", Kind::Texts, "", "The folders, each as `PATH` or `name=PATH`, absolute"),
            READ_ONLY,
            EDITS,
            BYTES,
        ],
    },
    Table {
        name: "template",
        is_list: true,
        about: "All other tenants of an authority, each with folders of their own:",
        keys: &[
            AUTHORITY,
            key(
                "workspace",
                Kind::Texts,
                "",
                "The folders, where `{tenant}` stands for the claim, such as `/srv/ws/{tenant}`. It is a whole component of \
                 the path, and the last one",
            ),
            key("create", Kind::Truth, "`false`", "Make the folder of a tenant who comes for the first time"),
            key(
                "git",
                Kind::Text,
                "none",
                "A repository on this machine. The folder of a tenant who comes for the first time is made as [a worktree of \
                 it](#worktrees)",
            ),
            READ_ONLY,
            EDITS,
            BYTES,
        ],
    },
];

/// Returns the reference in Markdown: a table for each table of the file.
#[must_use]
pub fn reference() -> String {
    let mut text = String::new();
    for table in TABLES {
        let shown = match (table.name, table.is_list) {
            ("", _) => String::new(),
            (name, true) => format!("`[[{name}]]`. "),
            (name, false) => format!("`[{name}]`. "),
        };
        let _ =
            writeln!(text, "{shown}{}\n\n| Setting | What it says | Default |\n|---|---|---|", table.about);
        for key in table.keys {
            let default = if key.default.is_empty() { "must be set" } else { key.default };
            let _ = writeln!(text, "| `{}` | {} | {default} |", key.name, key.about);
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}
