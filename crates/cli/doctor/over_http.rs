//! Checks a server over HTTP as a client sees it: what it tells of itself, whom it refuses, and what it gives for a token.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::Agent;

use emend_oauth::{check_address, client, fetch_authority, fetch_document, split_address};

use super::{Findings, Level};

/// The time for one answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most bytes of an answer.
const BYTES: u64 = 4 * 1024 * 1024;
/// The version of the protocol that is spoken: one without sessions, of which nothing is left afterwards.
const PROTOCOL: &str = "2026-07-28";

const SERVER: &str = "server";
const SIGN_IN: &str = "sign-in";
const TOKEN: &str = "token";

/// Looks at the server with this address. Without a token, only at what it tells everybody.
pub(super) fn look(address: &str, token: Option<&str>, findings: &mut Findings) {
    if let Err(why) = check_address(address) {
        let next =
            "Have a proxy or [tls] in front of it: a token that is sent without TLS can be read on its way.";
        findings.add(SERVER, Level::Problem, why, next);
        return;
    }
    let server = Server::new(address);
    let nobody = match server.list_tools(None, None) {
        Ok(reply) => reply,
        Err(why) => {
            findings.add(SERVER, Level::Problem, format!("{address} does not answer: {why}"), "");
            return;
        }
    };
    server.check_health(findings);
    server.check_refusal_of_pages(findings);
    match nobody.status {
        401 => {
            findings.ok(SIGN_IN, "who shows no token is refused");
            check_authorities(address, nobody.challenge.as_deref(), findings);
        }
        200 => {
            let next = "Whoever reaches it can use it. Give it tokens.";
            findings.add(SIGN_IN, Level::Problem, "it answers without a token", next);
        }
        status => {
            let what = format!("without a token it answers {status}, and not 401: {}", nobody.message());
            findings.add(
                SIGN_IN,
                Level::Problem,
                what,
                "See whether this is the address of its MCP endpoint.",
            );
            return;
        }
    }
    match token {
        Some(token) => server.check_token(token, findings),
        None => findings.add(TOKEN, Level::Note, "none was shown", "Show one with --token-file FILE."),
    }
}

struct Server<'a> {
    address: &'a str,
    agent: Agent,
}

/// What a request was answered with.
struct Reply {
    status: u16,
    /// What the answer says about tokens.
    challenge: Option<String>,
    body: Vec<u8>,
}

impl Reply {
    /// Returns what the answer says in words.
    fn message(&self) -> String {
        let message = serde_json::from_slice::<Value>(&self.body).ok();
        let message = message.as_ref().and_then(|answer| answer["error"]["message"].as_str());
        message.map_or_else(|| "it says no more".to_owned(), str::to_owned)
    }
}

impl<'a> Server<'a> {
    fn new(address: &'a str) -> Self {
        Self { address, agent: client(PATIENCE) }
    }

    fn list_tools(&self, token: Option<&str>, origin: Option<&str>) -> Result<Reply, String> {
        let about = json!({
            "io.modelcontextprotocol/protocolVersion": PROTOCOL,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "emend doctor", "version": env!("CARGO_PKG_VERSION")},
        });
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": about}});
        let mut request = self
            .agent
            .post(self.address)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", PROTOCOL)
            .header("mcp-method", "tools/list");
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let mut reply = request.send(message.to_string()).map_err(|error| error.to_string())?;
        let challenge = reply.headers().get("www-authenticate").and_then(|value| value.to_str().ok());
        let (status, challenge) = (reply.status().as_u16(), challenge.map(str::to_owned));
        let body = reply.body_mut().with_config().limit(BYTES).read_to_vec();
        Ok(Reply { status, challenge, body: body.map_err(|error| error.to_string())? })
    }

    fn check_health(&self, findings: &mut Findings) {
        let ready = self.agent.get(format!("{}/readyz", split_address(self.address).0)).call();
        match ready.map(|reply| reply.status().as_u16()) {
            Ok(200) => findings.ok(SERVER, "it is ready"),
            Ok(503) => {
                let next = "It is still recovering, or about to end: ask again in a moment.";
                findings.add(SERVER, Level::Warning, "it is not ready (/readyz)", next);
            }
            _ => findings.add(SERVER, Level::Note, "/readyz cannot be had here", ""),
        }
    }

    /// Checks that a page of another site is refused, which the browser of somebody in this network may have open.
    fn check_refusal_of_pages(&self, findings: &mut Findings) {
        match self.list_tools(None, Some("https://elsewhere.invalid")) {
            Ok(Reply { status: 403, .. }) => findings.ok(SERVER, "pages of other sites are refused"),
            Ok(Reply { status, .. }) => {
                let what = format!("a page of another site gets the answer {status}, and not 403");
                let next = "See that the proxy leaves the header Origin as it is.";
                findings.add(SERVER, Level::Warning, what, next);
            }
            Err(why) => findings.add(SERVER, Level::Warning, why, ""),
        }
    }

    fn check_token(&self, token: &str, findings: &mut Findings) {
        let reply = match self.list_tools(Some(token), None) {
            Ok(reply) => reply,
            Err(why) => return findings.add(TOKEN, Level::Problem, why, ""),
        };
        match reply.status {
            200 => {
                let answer: Value = serde_json::from_slice(&reply.body).unwrap_or_default();
                let Some(tools) = answer["result"]["tools"].as_array() else {
                    let what = "it is answered with 200, but not with a list of tools";
                    return findings.add(TOKEN, Level::Problem, what, "See what the proxy answers.");
                };
                let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
                let may = if names.contains(&"write_file") { "read and edit" } else { "only read" };
                findings.ok(TOKEN, format!("it is taken, for {} tools: it may {may}", names.len()));
            }
            401 => {
                let challenge = reply.challenge.unwrap_or_default();
                let why = parameter(&challenge, "error_description").unwrap_or("it is not known there");
                findings.add(TOKEN, Level::Problem, format!("it is refused: {why}"), "Get a new one.");
            }
            status => {
                let what = format!("it is answered with {status}: {}", reply.message());
                findings.add(TOKEN, Level::Problem, what, "");
            }
        }
    }
}

/// Follows what a refusal says about where tokens come from, to what a client needs to get one.
fn check_authorities(address: &str, challenge: Option<&str>, findings: &mut Findings) {
    let Some(place) = challenge.and_then(|challenge| parameter(challenge, "resource_metadata")) else {
        let what = "it names no authority: its tokens are those of a file";
        return findings.add(SIGN_IN, Level::Note, what, "");
    };
    let Some(resource) = fetch_document(place) else {
        let next = "See that the proxy hands this path to the server, too.";
        return findings.add(SIGN_IN, Level::Problem, format!("{place} cannot be had"), next);
    };
    let named = resource["resource"].as_str().unwrap_or_default();
    if covers(named, address) {
        findings.ok(SIGN_IN, format!("tokens are for {named}"));
    } else {
        let what = format!("its tokens are for '{named}', which is not this address: clients refuse it");
        let next = "Set 'resource' in its settings to the address that clients use, or to the origin of it.";
        findings.add(SIGN_IN, Level::Problem, what, next);
    }
    let authorities = resource["authorization_servers"].as_array().into_iter().flatten();
    let authorities: Vec<&str> = authorities.filter_map(Value::as_str).collect();
    if authorities.is_empty() {
        findings.add(SIGN_IN, Level::Problem, format!("{place} names no authority"), "");
    }
    for authority in authorities {
        check_authority(authority, findings);
    }
}

fn check_authority(authority: &str, findings: &mut Findings) {
    let Some(metadata) = fetch_authority(authority) else {
        let what = format!("{authority} does not answer, or publishes no metadata under exactly this name");
        let next = "See whether it runs. Write 'issuer' as its metadata has it, to the last slash.";
        return findings.add(SIGN_IN, Level::Problem, what, next);
    };
    let lacks = |name: &&str| !metadata[*name].is_string();
    let lacking: Vec<&str> = ["authorization_endpoint", "token_endpoint"].into_iter().filter(lacks).collect();
    if !lacking.is_empty() {
        let what = format!("{authority} has no {}: clients cannot sign in", lacking.join(" and no "));
        return findings.add(SIGN_IN, Level::Problem, what, "");
    }
    let methods = metadata["code_challenge_methods_supported"].as_array();
    if !methods.is_some_and(|methods| methods.iter().any(|method| method == "S256")) {
        let what = format!("{authority} does not say that it takes PKCE with S256: clients refuse it");
        return findings.add(SIGN_IN, Level::Problem, what, "Turn it on there.");
    }
    findings.ok(SIGN_IN, format!("{authority} lets clients sign in"));
    let takes_documents = metadata["client_id_metadata_document_supported"] == true;
    if !takes_documents && !metadata["registration_endpoint"].is_string() {
        let what = format!("{authority} takes no client that it does not know");
        let next = "Register each client there, and give its client id to the people who use it.";
        findings.add(SIGN_IN, Level::Note, what, next);
    }
}

/// Returns whether a resource is this address, or one above it.
fn covers(resource: &str, address: &str) -> bool {
    let resource = resource.trim_end_matches('/');
    let rest = address.strip_prefix(resource).filter(|_| !resource.is_empty());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the value of a parameter of a challenge.
fn parameter<'a>(challenge: &'a str, name: &str) -> Option<&'a str> {
    let start = challenge.find(&format!("{name}=\""))? + name.len() + 2;
    challenge[start..].split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_covers_what_is_below_it() {
        let address = "https://files.example/w/red/mcp";
        for above in [address, "https://files.example", "https://files.example/", "https://files.example/w"] {
            assert!(covers(above, address), "{above}");
        }
        for other in
            ["", "/", "https://files.example/mcp", "https://files.exam", "https://files.example/w/re"]
        {
            assert!(!covers(other, address), "{other}");
        }
    }

    #[test]
    fn a_challenge_is_read_by_the_names_of_its_parameters() {
        let challenge = "Bearer realm=\"emend\", error_description=\"it has expired\", scope=\"a b\"";
        assert_eq!(parameter(challenge, "error_description"), Some("it has expired"));
        assert_eq!(parameter(challenge, "scope"), Some("a b"));
        assert_eq!(parameter(challenge, "resource_metadata"), None);
    }
}
