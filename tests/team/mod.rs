//! A server for a team, with the built command: tokens of a fake authority, and tenants that know nothing of each other.

mod authorities;
mod doctor;
mod review;
mod running;
mod tenants;
mod worktrees;

use emend_testkit::authority::{FakeAuthority, SigningKey};
use emend_testkit::{Folder, Http, HttpServer, Launch};
use serde_json::Value;

use crate::EMEND;

const RESOURCE: &str = "https://files.example/mcp";
const ALL: &str = "files:read files:write files:approve files:undo-others";
const EDITOR: &str = "files:read files:write";

/// An authority with its key.
struct Issuer {
    key: SigningKey,
    authority: FakeAuthority,
}

impl Issuer {
    fn start() -> Self {
        let key = SigningKey::new("one", "ES256");
        Self { authority: FakeAuthority::start(&[&key]), key }
    }

    fn token(&self, subject: &str, scope: &str) -> String {
        self.token_with(subject, scope, &[])
    }

    /// A token of somebody of a tenant.
    fn of_tenant(&self, subject: &str, tenant: &str) -> String {
        self.token_with(subject, ALL, &[("tenant", tenant.into())])
    }

    fn token_with(&self, subject: &str, scope: &str, more: &[(&str, Value)]) -> String {
        let mut claims = self.authority.claims(subject, RESOURCE, scope);
        for (name, value) in more {
            claims[name] = value.clone();
        }
        self.key.sign(&self.key.header(), &claims)
    }

    fn settings(&self) -> String {
        format!("\n[[authority]]\nissuer = \"{}\"\n", self.authority.issuer())
    }
}

/// Writes the settings of a team's server beside a folder.
fn write(folder: &Folder, settings: &str) {
    std::fs::write(folder.beside("team.toml"), format!("resource = \"{RESOURCE}\"\n{settings}")).unwrap();
}

fn launch(folder: &Folder) -> Launch {
    Launch::new(EMEND).state(folder.state()).argument("--team").argument(folder.beside("team.toml"))
}

/// A server with these settings, which serves this folder to everybody.
fn serve_folder(folder: &Folder, settings: &str) -> HttpServer {
    write(folder, settings);
    HttpServer::start(&launch(folder).workspace(folder.path()))
}

/// A server with these settings, whose tenants have the folders.
fn serve_tenants(folder: &Folder, settings: &str) -> HttpServer {
    write(folder, settings);
    HttpServer::start(&launch(folder))
}

fn client(server: &HttpServer, token: &str) -> Http {
    Http::new(server.address(), token)
}
