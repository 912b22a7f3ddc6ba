//! The address of a chat endpoint: [`Address`], to which text may be sent because nobody on the way can read it.

use std::fmt;
use std::net::IpAddr;

use http::Uri;

/// An address that is reached over TLS, or that is on this machine.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(Uri);

impl Address {
    /// Parses a URL. The error says what is wrong with it, and does not repeat it: it may hold a password.
    pub fn parse(written: &str) -> Result<Self, &'static str> {
        let url: Uri = written.parse().map_err(|_| "it is not a URL")?;
        let authority =
            url.authority().ok_or("it must be a whole URL, as in https://host/v1/chat/completions")?;
        if authority.as_str().contains('@') {
            return Err("it must hold no user and no password; key_variable names the variable with the key");
        }
        if url.query().is_some() {
            return Err("it must have no '?'; a key belongs into the variable that key_variable names");
        }
        match url.scheme_str() {
            Some("https") => Ok(Self(url)),
            Some("http") if is_loopback(authority.host()) => Ok(Self(url)),
            Some("http") => {
                Err("http:// is only for this machine (127.0.0.1, [::1] or localhost); use https://")
            }
            _ => Err("it must begin with https://, or with http:// for this machine"),
        }
    }

    /// Returns the address as a client needs it.
    #[must_use]
    pub fn uri(&self) -> &Uri {
        &self.0
    }

    /// Returns the host, for messages.
    #[must_use]
    pub fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.host())
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_over_tls_or_stays_on_this_machine() {
        for good in [
            "https://api.example.com/v1/chat/completions",
            "https://10.0.0.7:8443/v1",
            "http://127.0.0.1:11434/v1/chat/completions",
            "http://127.9.9.9/x",
            "http://[::1]:8080/v1",
            "http://LOCALHOST:1/v1",
        ] {
            assert!(Address::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "http://api.example.com/v1",
            "http://127.0.0.1.example.com/v1",
            "http://localhost.example.com/",
            "http://10.0.0.7/v1",
            "http://0.0.0.0/v1",
            "http://127.0.0.1@example.com/v1",
            "https://ann:secret@example.com/v1",
            "https://example.com/v1?key=secret",
            "ftp://127.0.0.1/x",
            "file:///etc/passwd",
            "/v1/chat",
            "127.0.0.1:80",
            "https://",
            "",
            "https://exa mple.com/",
        ] {
            let wrong = Address::parse(bad).expect_err(bad);
            assert!(!wrong.contains("secret"), "{wrong}");
        }
    }
}
