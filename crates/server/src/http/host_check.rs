//! The check of a request's `Host` and `Origin` headers.
//!
//! A web page can have a browser send requests to this machine under a name of its own that leads here (DNS
//! rebinding). Its `Host` shows such a request, and the `Origin` any request that a page sends. Both are checked before
//! the token, so that a page cannot even try one.

use http::header::{HOST, HeaderName, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, Uri};

/// The names of this machine for itself.
const LOCAL_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The names under which clients may call the server, and the origins of the pages that may.
#[derive(Clone, Debug, Default)]
pub struct HostGuard {
    hosts: Vec<String>,
    origins: Vec<String>,
}

impl HostGuard {
    /// Allows this machine's names for itself, these hosts (`NAME` or `NAME:PORT`) and these origins
    /// (`https://NAME:PORT`). The error names the one that is malformed.
    pub fn new(hosts: &[String], origins: &[String]) -> Result<Self, String> {
        let folded =
            |all: &[String]| all.iter().map(|one| one.trim().to_ascii_lowercase()).collect::<Vec<_>>();
        let (hosts, origins) = (folded(hosts), folded(origins));
        for host in &hosts {
            host.parse::<Authority>().map_err(|_| format!("'{host}' is no host: give NAME or NAME:PORT"))?;
        }
        for origin in &origins {
            split_origin(origin)
                .ok_or_else(|| format!("'{origin}' is no origin: give SCHEME://NAME:PORT"))?;
        }
        Ok(Self { hosts, origins })
    }

    /// Checks a request to this target with these headers. The error says why it is refused.
    pub(super) fn check(&self, target: &Uri, headers: &HeaderMap) -> Result<(), String> {
        self.check_hosts(target, headers)?;
        let Some(origin) = single_value(headers, &ORIGIN)? else { return Ok(()) };
        let is_here =
            split_origin(&origin).is_some_and(|(_, host)| LOCAL_HOSTS.contains(&without_port(host)));
        if is_here || self.origins.contains(&origin) {
            return Ok(());
        }
        Err(format!("Pages of '{origin}' may not call this server; --allow-origin {origin} lets them."))
    }

    /// Checks the hosts of a request alone. The error says why it is refused.
    pub(super) fn check_hosts(&self, target: &Uri, headers: &HeaderMap) -> Result<(), String> {
        let host = single_value(headers, &HOST)?.ok_or("The request has no Host.")?;
        self.check_host(&host)?;
        // A host in the target takes precedence over the header.
        if let Some(host) = target.authority() {
            self.check_host(&host.as_str().to_ascii_lowercase())?;
        }
        Ok(())
    }

    /// Checks a host, of which all is compared: only a port may follow a known name. The error says why it is refused.
    fn check_host(&self, host: &str) -> Result<(), String> {
        let name = without_port(host);
        let is_named = |known: &String| known == host || (known == name && without_port(known) == known);
        if LOCAL_HOSTS.contains(&name) || self.hosts.iter().any(is_named) {
            return Ok(());
        }
        if host.parse::<Authority>().is_err() || host.contains('@') {
            return Err("The Host of the request is malformed.".into());
        }
        Err(format!("This server is not called '{name}'; --allow-host {name} lets it be."))
    }
}

/// Returns a host without its port.
fn without_port(host: &str) -> &str {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name)
}

/// Returns the only value of a header, in lower case.
fn single_value(headers: &HeaderMap, name: &HeaderName) -> Result<Option<String>, String> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match value.to_str() {
            Ok(value) => Ok(Some(value.trim().to_ascii_lowercase())),
            Err(_) => Err(format!("The {name} of the request is malformed.")),
        },
        (Some(_), Some(_)) => Err(format!("The request has more than one {name}.")),
    }
}

/// Splits an origin into its scheme and host, if it has nothing else.
fn split_origin(origin: &str) -> Option<(&str, &str)> {
    let (scheme, host) = origin.split_once("://")?;
    let authority: Authority = host.parse().ok()?;
    let is_whole = !authority.host().is_empty() && !host.contains('@');
    is_whole.then_some((scheme, host))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(guard: &HostGuard, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        guard.check(&Uri::from_static("/mcp"), &headers).is_ok()
    }

    #[test]
    fn only_the_names_of_this_machine_and_those_that_were_given_are_known() {
        let guard = HostGuard::new(&["Emend.example".into(), "proxy:8443".into()], &[]).unwrap();
        for host in
            ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]:80", "emend.EXAMPLE:99", "proxy:8443"]
        {
            assert!(allows(&guard, host, None), "{host}");
        }
        for host in
            ["evil.example", "localhost.evil.example", "proxy", "proxy:1", "127.0.0.2", "", "a@localhost:1@b"]
        {
            assert!(!allows(&guard, host, None), "{host}");
        }
        for rubbish in [
            "[::1].evil.example",
            "[::1]evil",
            "127.0.0.1:evil.example",
            "localhost:evil",
            "127.0.0.1:",
            "localhost:80:80",
            "proxy:8443:1",
            "proxy:84431",
            "emend.example:1:2",
        ] {
            assert!(!allows(&guard, rubbish, None), "{rubbish}");
        }
        assert!(guard.check(&Uri::from_static("/mcp"), &HeaderMap::new()).is_err());
    }

    #[test]
    fn pages_are_only_listened_to_from_here_or_where_they_were_given() {
        let guard = HostGuard::new(&[], &["https://app.example:443".into()]).unwrap();
        for origin in
            ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:5", "https://APP.example:443"]
        {
            assert!(allows(&guard, "localhost", Some(origin)), "{origin}");
        }
        let foreign = [
            "http://[::1].evil.example",
            "http://localhost:evil",
            "http://localhost:",
            "https://evil.example",
            "null",
            "http://localhost.evil.example",
            "http://a@localhost",
            "localhost",
        ];
        for origin in foreign.into_iter().chain(["https://app.example", "http://app.example:443", ""]) {
            assert!(!allows(&guard, "localhost", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn a_host_in_the_target_must_be_known_too() {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "localhost".parse().unwrap());
        let check = |target| HostGuard::default().check(&Uri::from_static(target), &headers);
        assert!(check("http://LOCALHOST:80/mcp").is_ok());
        for foreign in ["http://evil.example/mcp", "http://a@localhost/mcp", "http://[::1].evil/mcp"] {
            let Ok(target) = foreign.parse() else { continue };
            assert!(HostGuard::default().check(&target, &headers).is_err(), "{foreign}");
        }
    }

    #[test]
    fn a_header_that_is_there_twice_is_not_chosen_from() {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "localhost".parse().unwrap());
        headers.append(HOST, "evil.example".parse().unwrap());
        assert!(HostGuard::default().check(&Uri::from_static("/mcp"), &headers).is_err());
        headers.insert(HOST, "localhost".parse().unwrap());
        headers.insert(ORIGIN, "http://localhost".parse().unwrap());
        headers.append(ORIGIN, "https://evil.example".parse().unwrap());
        assert!(HostGuard::default().check(&Uri::from_static("/mcp"), &headers).is_err());
    }

    #[test]
    fn what_is_no_host_or_origin_is_refused_at_the_start() {
        assert!(HostGuard::new(&["a b".into()], &[]).is_err());
        assert!(HostGuard::new(&[], &["app.example".into()]).is_err());
    }
}
