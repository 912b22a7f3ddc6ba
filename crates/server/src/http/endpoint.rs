//! The addresses of MCP: one for everybody, and one for each tenant. In the latter a load balancer reads which tenant it is, so
//! that it can have each served by one server of several.

use percent_encoding::percent_decode_str;

/// The path of the MCP endpoint.
pub const ENDPOINT: &str = "/mcp";

/// What stands before the name of a tenant in the path of its endpoint.
const OF_TENANT: &str = "/w/";

/// The endpoint at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// That of everybody.
    Common,
    /// That of the tenants with this name.
    Tenant(String),
}

impl Endpoint {
    /// Returns the endpoint at this path, if one can be there. Whether there is such a tenant, its bearers alone are told.
    pub(super) fn at(path: &str) -> Option<Self> {
        Self::of(ENDPOINT, path)
    }

    /// Returns whose `end` is at this path, if it can be anybody's: what a tenant has, stands behind its name.
    pub(super) fn of(end: &str, path: &str) -> Option<Self> {
        if path == end {
            return Some(Self::Common);
        }
        let name = path.strip_prefix(OF_TENANT)?.strip_suffix(end)?;
        let name = percent_decode_str(name).decode_utf8().ok()?;
        (!name.is_empty() && !name.contains('/')).then(|| Self::Tenant(name.into_owned()))
    }

    /// Returns whether the endpoint is one for people of this tenant, or of none.
    pub(super) fn is_for(&self, tenant: Option<&str>) -> bool {
        match self {
            Self::Common => true,
            Self::Tenant(name) => tenant == Some(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenant_stands_in_the_path_and_nothing_else_is_an_endpoint() {
        assert_eq!(Endpoint::at("/mcp"), Some(Endpoint::Common));
        for (path, name) in [
            ("/w/red/mcp", "red"),
            ("/w/ann@example.com/mcp", "ann@example.com"),
            ("/w/ann%40example.com/mcp", "ann@example.com"),
            ("/w/mcp/mcp", "mcp"),
        ] {
            assert_eq!(Endpoint::at(path), Some(Endpoint::Tenant(name.into())), "{path}");
        }
        for path in [
            "/",
            "",
            "/mcp/",
            "/w/mcp",
            "/w//mcp",
            "/w/red",
            "/w/red/mcp/",
            "/w/a/b/mcp",
            "/w/a%2Fb/mcp",
            "/w/%ff/mcp",
            "/W/red/mcp",
        ] {
            assert_eq!(Endpoint::at(path), None, "{path}");
        }
    }
}
