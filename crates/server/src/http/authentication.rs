//! Who shows a token: the seam to whatever knows the tokens, and the challenges for those who show none that is good.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::time::Instant;

use http::HeaderValue;
use serde_json::{Value, json};

use super::endpoint::{ENDPOINT, Endpoint};
use super::quota::Quota;
use crate::principal::{Scope, Scopes};

/// The path of the metadata of a protected resource (RFC 9728), which the path of the resource may follow.
pub(super) const METADATA: &str = "/.well-known/oauth-protected-resource";

/// The scopes that a client is told to ask for first. The others are asked for once they are needed.
const FIRST: [Scope; 2] = [Scope::Read, Scope::Write];

/// What is known of the bearer of a good token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bearer {
    /// What tells the principal from every other one.
    pub key: String,
    /// What people see of them.
    pub name: String,
    /// The tenant to whom they belong, if there are tenants: what tells it from every other one.
    pub tenant: Option<String>,
    /// The name of that tenant, as it stands in the path of its endpoint.
    pub tenant_name: Option<String>,
    /// What the token lets them do.
    pub scopes: Scopes,
    /// What all of the tenant may do in a minute.
    pub quota: Quota,
    /// Whether an authority issued the token, so that the client can get one with more scopes.
    pub can_step_up: bool,
    /// When what listens by the token ends: at the latest when the token ceases to be good, if it says so.
    pub until: Option<Instant>,
}

impl Bearer {
    /// Returns a number by which the connections of a principal are counted, through whichever door and to whichever server.
    pub(super) fn number(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.key, &self.tenant).hash(&mut hasher);
        hasher.finish()
    }
}

/// Why nobody is recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unrecognised {
    /// The token is not good, for a reason that its bearer may know.
    Invalid(&'static str),
    /// Whether it is good cannot be found out now, since its authority does not answer.
    Unavailable,
}

/// What an authenticator answers, in its time.
pub type Authenticating<'a> = Pin<Box<dyn Future<Output = Result<Bearer, Unrecognised>> + Send + 'a>>;

/// Whoever knows which tokens are good.
pub trait Authenticate: Send + Sync + 'static {
    /// Recognises the bearer of a token.
    fn authenticate<'a>(&'a self, presented: &'a str) -> Authenticating<'a>;

    /// Returns among how many principals the server's room is shared out.
    fn sharers(&self) -> usize;

    /// Returns what clients are told of the authorities that issue tokens, if there are any.
    fn protection(&self) -> Option<Protection> {
        None
    }
}

/// A resource that authorities protect, as its clients are told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// The address of the MCP endpoint, for which tokens are issued.
    pub resource: String,
    /// The authorities.
    pub authorities: Vec<String>,
}

impl Protection {
    /// Splits the resource into its origin and its path.
    fn parts(&self) -> (&str, &str) {
        let after_scheme = self.resource.find("://").map_or(0, |at| at + 3);
        let path =
            self.resource[after_scheme..].find('/').map_or(self.resource.len(), |at| after_scheme + at);
        let (origin, path) = self.resource.split_at(path);
        (origin, path.trim_end_matches('/'))
    }

    /// Returns whether the metadata is at this path of the server: where a client of the resource looks for it, or of the
    /// endpoint as this server has it.
    pub(super) fn is_described_at(&self, path: &str) -> bool {
        let Some(of) = path.strip_prefix(METADATA) else { return false };
        [self.parts().1, ENDPOINT, ""].contains(&of) || Endpoint::at(of).is_some()
    }

    /// Returns the metadata of RFC 9728.
    pub(super) fn metadata(&self) -> Value {
        json!({
            "resource": self.resource,
            "resource_name": "Emend",
            "authorization_servers": self.authorities,
            "scopes_supported": Scope::ALL.map(Scope::as_str),
            "bearer_methods_supported": ["header"],
        })
    }

    fn metadata_address(&self) -> String {
        let (origin, path) = self.parts();
        format!("{origin}{METADATA}{path}")
    }
}

/// Creates the challenge to a client that has shown no token, or one that is no good for this reason.
pub(super) fn challenge(protection: Option<&Protection>, why: Option<&str>) -> HeaderValue {
    let mut text = String::from("Bearer realm=\"emend\"");
    if let Some(why) = why {
        let _ = write!(text, ", error=\"invalid_token\", error_description=\"{why}\"");
    }
    if let Some(protection) = protection {
        let first = FIRST.into_iter().fold(Scopes::NONE, Scopes::with);
        let _ = write!(text, ", resource_metadata=\"{}\", scope=\"{first}\"", protection.metadata_address());
    }
    value(text)
}

/// Creates the challenge to a client whose token lacks a scope. It names those of the token too, so that a client that asks
/// for exactly these loses none.
pub(super) fn step_up(protection: Option<&Protection>, has: Scopes, needs: Scope) -> HeaderValue {
    let wanted = has.with(Scope::Read).with(needs);
    let mut text = format!("Bearer realm=\"emend\", error=\"insufficient_scope\", scope=\"{wanted}\"");
    if let Some(protection) = protection {
        let _ = write!(text, ", resource_metadata=\"{}\"", protection.metadata_address());
    }
    let _ = write!(text, ", error_description=\"{} is needed\"", needs.as_str());
    value(text)
}

/// Everything in a challenge is ours or was checked with the configuration.
fn value(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static("Bearer realm=\"emend\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protection(resource: &str) -> Protection {
        Protection { resource: resource.into(), authorities: vec!["https://id.example".into()] }
    }

    #[test]
    fn the_metadata_is_where_the_path_of_the_resource_leads() {
        let at = protection("https://files.example/emend/mcp");
        assert_eq!(
            at.metadata_address(),
            "https://files.example/.well-known/oauth-protected-resource/emend/mcp"
        );
        for path in ["", "/mcp", "/emend/mcp", "/w/red/mcp"] {
            assert!(at.is_described_at(&format!("{METADATA}{path}")), "{path}");
        }
        for path in ["/", "/emend", "/mcp/x", "x"] {
            assert!(!at.is_described_at(&format!("{METADATA}{path}")), "{path}");
        }
        let at_root = protection("https://files.example");
        assert_eq!(at_root.metadata_address(), "https://files.example/.well-known/oauth-protected-resource");
    }

    #[test]
    fn a_challenge_says_where_to_get_which_token() {
        let at = protection("https://files.example/mcp");
        assert_eq!(challenge(None, None), "Bearer realm=\"emend\"");
        assert_eq!(
            challenge(Some(&at), Some("it has expired")),
            "Bearer realm=\"emend\", error=\"invalid_token\", error_description=\"it has expired\", \
             resource_metadata=\"https://files.example/.well-known/oauth-protected-resource/mcp\", \
             scope=\"files:read files:write\""
        );
        assert_eq!(
            step_up(Some(&at), Scopes::parse(["files:read", "files:undo-others"]), Scope::Approve),
            "Bearer realm=\"emend\", error=\"insufficient_scope\", scope=\"files:read files:approve \
             files:undo-others\", resource_metadata=\"https://files.example/.well-known/oauth-protected-resource/mcp\", \
             error_description=\"files:approve is needed\""
        );
    }
}
