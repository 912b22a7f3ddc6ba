//! The addresses that may be asked: those with TLS, and those of this machine.

/// Checks an address that is to be asked. The error says what is wrong with it.
pub fn check(address: &str) -> Result<(), String> {
    let is_plain =
        address.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'<' | b'>'));
    if !is_plain {
        return Err(format!("{address:?} is no address"));
    }
    let Some((scheme, rest)) = address.split_once("://") else {
        return Err(format!("'{address}' is no address: it begins with https://"));
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() || host.contains('@') || address.contains('#') {
        return Err(format!("'{address}' is no address of a server"));
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    match scheme {
        "https" => Ok(()),
        "http" if ["localhost", "127.0.0.1", "[::1]"].contains(&name) => Ok(()),
        _ => Err(format!("'{address}' must begin with https://, or be one of this machine")),
    }
}

/// Splits an address into its origin and its path, which may be empty.
pub fn split(address: &str) -> (&str, &str) {
    let start = address.find("://").map_or(0, |at| at + 3);
    address.split_at(address[start..].find('/').map_or(address.len(), |at| start + at))
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_address_is_an_origin_and_a_path() {
        for (origin, path) in
            [("https://id.example", "/a/b"), ("http://[::1]:9", "/"), ("https://id.example", ""), ("x", "/y")]
        {
            assert_eq!(super::split(&format!("{origin}{path}")), (origin, path));
        }
    }

    #[test]
    fn only_tls_and_this_machine_are_asked() {
        for good in
            ["https://id.example", "https://id.example:8443/a/b?c", "http://localhost:1/x", "http://[::1]:9"]
        {
            assert_eq!(super::check(good), Ok(()), "{good}");
        }
        for bad in [
            "http://id.example",
            "http://localhost.evil.example",
            "http://127.0.0.1@evil.example/",
            "http://localhost:x@evil.example",
            "https://",
            "id.example",
            "file:///etc/passwd",
            "https://a b",
            "https://a\"b",
            "https://a/#b",
        ] {
            assert!(super::check(bad).is_err(), "{bad}");
        }
    }
}
