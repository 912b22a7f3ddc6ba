//! `emend doctor --http`: it sees a server as its clients do.

use std::fs;

use emend_testkit::{Folder, HttpServer};
use serde_json::{Value, json};

use super::{ALL, Issuer, launch};
use crate::cli::emend;

/// The findings of this level.
fn of_level<'a>(said: &'a Value, level: &str) -> Vec<&'a str> {
    let findings = said["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["level"] == level)
        .map(|finding| finding["what"].as_str().unwrap())
        .collect()
}

/// Starts a server at a free port, with the resource that `resource` makes of its origin, and an authority for which that holds.
fn start(folder: &Folder, issuer: &Issuer, resource: impl Fn(&str) -> String) -> HttpServer {
    // Another program may take the port before the server does.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let settings = format!("resource = \"{}\"\n{}", resource(&format!("http://{free}")), issuer.settings());
    fs::write(folder.beside("team.toml"), settings).unwrap();
    HttpServer::start_at(&launch(folder).workspace(folder.path()), &free.to_string())
}

fn doctor(folder: &Folder, address: &str, more: &[&str]) -> (i32, Value) {
    let ran = emend(folder, &[&["doctor", "--json", "--http", address], more].concat());
    (ran.code, ran.document())
}

/// Has an authority say this in its metadata.
fn publish(issuer: &Issuer, name: &str, value: Value) {
    issuer.authority.change(|says| drop(says.metadata.insert(name.into(), value)));
}

/// An authority that lets clients sign in.
fn issuer() -> Issuer {
    let issuer = Issuer::start();
    for endpoint in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
        publish(&issuer, endpoint, format!("{}/x", issuer.authority.issuer()).into());
    }
    publish(&issuer, "code_challenge_methods_supported", json!(["S256"]));
    issuer
}

#[test]
fn a_sound_server_has_no_problem_and_its_token_is_taken() {
    let (folder, issuer) = (Folder::with([("a.txt", "one\n")]), issuer());
    let server = start(&folder, &issuer, |origin| format!("{origin}/mcp"));
    let address = format!("http://{}/mcp", server.address());
    let file = folder.beside("token");
    let mut claims = issuer.authority.claims("ann", &address, ALL);
    for (scope, may) in [(ALL, "read and edit"), ("files:read", "only read")] {
        claims["scope"] = scope.into();
        fs::write(&file, issuer.key.sign(&issuer.key.header(), &claims)).unwrap();
        let (code, said) = doctor(&folder, &address, &["--token-file", file.to_str().unwrap()]);
        assert_eq!((code, &said["worst"]), (0, &json!("ok")), "{said}");
        let good = of_level(&said, "ok").join("\n");
        for part in [may, "it is ready", "pages of other sites", "who shows no token", "lets clients sign in"]
        {
            assert!(good.contains(part), "{part}: {good}");
        }
    }
    claims["exp"] = 1.into();
    fs::write(&file, issuer.key.sign(&issuer.key.header(), &claims)).unwrap();
    let (code, said) = doctor(&folder, &address, &["--token-file", file.to_str().unwrap()]);
    assert_eq!((code, of_level(&said, "problem")), (1, vec!["it is refused: it has expired"]));
    let (code, said) = doctor(&folder, &address.replace("/mcp", "/elsewhere"), &[]);
    assert!(code == 1 && of_level(&said, "problem")[0].contains("answers 404"), "{said}");
}

#[test]
fn what_keeps_clients_from_signing_in_is_found() {
    let (folder, issuer) = (Folder::with([("a.txt", "one\n")]), issuer());
    let server = start(&folder, &issuer, |origin| format!("{origin}/elsewhere"));
    let address = format!("http://{}/mcp", server.address());
    let problems = |telling: &str| {
        let (code, said) = doctor(&folder, &address, &[]);
        let found = of_level(&said, "problem").join("\n");
        assert!(code == 1 && found.contains(telling), "{telling}: {said}");
    };
    problems("is not this address: clients refuse it");
    publish(&issuer, "code_challenge_methods_supported", json!(["plain"]));
    problems("PKCE");
    publish(&issuer, "token_endpoint", Value::Null);
    problems("has no token_endpoint");
    publish(&issuer, "issuer", "https://id.example".into());
    problems("publishes no metadata under exactly this name");
    let (code, said) = doctor(&folder, "http://files.example/mcp", &[]);
    assert!(code == 1 && of_level(&said, "problem")[0].contains("https://"), "{said}");
}
