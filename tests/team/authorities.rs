//! Tokens of an authority, from the first refusal to the edit.

use std::time::{Duration, Instant};

use emend_testkit::Folder;
use serde_json::{Value, json};

use super::{ALL, EDITOR, Issuer, RESOURCE, client, serve_folder};

const METADATA: &str = "https://files.example/.well-known/oauth-protected-resource/mcp";
const STATIC: &str = "a-static-token-of-the-file";

#[test]
fn who_has_no_token_is_told_where_to_get_one() {
    let (folder, issuer) = (Folder::with([("a.txt", "one\n")]), Issuer::start());
    let server = serve_folder(&folder, &issuer.settings());
    let nobody = client(&server, "");
    let refused = nobody.begin("tools/list", json!({})).finish();
    let challenge =
        format!("Bearer realm=\"emend\", resource_metadata=\"{METADATA}\", scope=\"files:read files:write\"");
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some(&*challenge)));
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let reply = nobody.send(&format!("GET {path}"), &[], b"").finish();
        let said: Value = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!((reply.status, &said["resource"]), (200, &json!(RESOURCE)));
        assert_eq!(said["authorization_servers"], json!([issuer.authority.issuer()]));
        assert_eq!(said["scopes_supported"][0], "files:read");
        assert_eq!(nobody.send(&format!("POST {path}"), &[], b"").finish().status, 405);
        let foreign = [("Host", "evil.example")];
        assert_eq!(nobody.send(&format!("GET {path}"), &foreign, b"").finish().status, 403);
    }
    assert_eq!(nobody.send("GET /.well-known/oauth-authorization-server", &[], b"").finish().status, 404);
    let ann = client(&server, &issuer.token("ann", EDITOR));
    ann.replace("a.txt", "one", "two").ok();
    assert_eq!(folder.text("a.txt"), "two\n");
    let told = ann.call("edit_history", json!({})).ok().text;
    assert!(told.contains("testkit (ann)"), "{told}");
}

#[test]
fn a_token_that_is_no_good_is_refused_with_the_reason() {
    let (folder, issuer) = (Folder::with([("a.txt", "one\n")]), Issuer::start());
    let (server, thief) = (serve_folder(&folder, &issuer.settings()), Issuer::start());
    let with = |name: &str, value: Value| issuer.token_with("ann", ALL, &[(name, value)]);
    let mut stolen = issuer.authority.claims("ann", RESOURCE, ALL);
    stolen["jti"] = "2".into();
    for (token, why) in [
        (with("aud", "https://other.example/mcp".into()), "another server"),
        (with("exp", 1.into()), "expired"),
        (thief.token("ann", ALL), "issuer is not known"),
        (thief.key.sign(&thief.key.header(), &stolen), "signature is wrong"),
        ("opaque".to_owned(), "not known"),
    ] {
        let refused = client(&server, &token).begin("tools/list", json!({})).finish();
        let challenge = refused.header("www-authenticate").unwrap();
        assert_eq!(refused.status, 401, "{why}");
        assert!(challenge.contains("error=\"invalid_token\"") && challenge.contains(why), "{challenge}");
        assert!(challenge.contains(METADATA) && !refused.text().contains(&token), "{challenge}");
    }
}

#[test]
fn who_may_only_read_steps_up_in_the_same_session() {
    let (folder, issuer) = (Folder::with([("a.txt", "one\n")]), Issuer::start());
    let server = serve_folder(&folder, &issuer.settings());
    let reader = client(&server, &issuer.token("ann", "files:read openid")).legacy();
    reader.read("a.txt");
    let write = json!({"path": "a.txt", "content": "two\n"});
    let call = json!({"name": "write_file", "arguments": write});
    let refused = reader.begin("tools/call", call.clone()).finish();
    let challenge = refused.header("www-authenticate").unwrap();
    assert_eq!(refused.status, 403);
    for part in ["error=\"insufficient_scope\"", "scope=\"files:read files:write\"", METADATA] {
        assert!(challenge.contains(part), "{challenge}");
    }
    // Under a name of another system, and in parts that do not say what they are.
    let other = json!({"name": "Write", "arguments": {"file_path": folder.at("a.txt"), "content": "two\n"}});
    assert_eq!(reader.begin("tools/call", other).finish().status, 403);
    let decide = json!({"name": "decide", "arguments": {"approval": "0", "is_allowed": true}});
    let editor = reader.with_token(&issuer.token("ann", EDITOR));
    let refused = editor.begin("tools/call", decide).finish();
    assert!(refused.status == 403 && refused.header("www-authenticate").unwrap().contains("files:approve"));
    assert_eq!(folder.text("a.txt"), "one\n");
    // What was read before counts: it is the same session of the same person.
    editor.call("write_file", write.clone()).ok();
    assert_eq!(folder.text("a.txt"), "two\n");
    // Another person's token opens nothing in it, whatever it may do.
    let thief = reader.with_token(&issuer.token("ben", ALL));
    assert_eq!(thief.begin("tools/call", call).finish().status, 404);
    // The session has not kept what the other token could do.
    let back = editor.with_token(&issuer.token("ann", "files:read"));
    assert_eq!(
        back.begin("tools/call", json!({"name": "write_file", "arguments": write})).finish().status,
        403
    );
}

#[test]
fn a_person_and_the_name_of_a_static_token_are_two() {
    let (folder, issuer) = (Folder::with([("a.txt", "one\n")]), Issuer::start());
    let file = folder.beside("tokens");
    std::fs::write(&file, format!("ann {STATIC}\n")).unwrap();
    let server = serve_folder(&folder, &format!("tokens = {file:?}\n{}", issuer.settings()));
    let (by_file, by_authority) = (client(&server, STATIC), client(&server, &issuer.token("ann", EDITOR)));
    let edit = by_file.replace("a.txt", "one", "two").ok().structured["edit"].clone();
    by_authority.call("undo_edit", json!({"edit": edit})).refused("insufficient-scope");
    let asked = json!({"tool": "str_replace", "path": "a.txt", "old_string": "two", "new_string": "2"});
    let handle = by_file.call("edit_preview", asked).ok().handle();
    by_authority.call("apply_preview", json!({"preview": handle})).refused("unknown-preview");
    assert_eq!(folder.text("a.txt"), "two\n");
}

#[test]
fn an_opaque_token_is_asked_about_and_an_authority_that_is_down_is_no_refusal() {
    let (folder, issuer) = (Folder::with([("a.txt", "one\n")]), Issuer::start());
    let secret = folder.beside("secret");
    std::fs::write(&secret, "se:cret\n").unwrap();
    let settings = format!("{}client = \"emend\"\nsecret_file = {secret:?}\n", issuer.settings());
    let server = serve_folder(&folder, &settings);
    let mut known = issuer.authority.claims("ann", RESOURCE, EDITOR);
    known["active"] = true.into();
    issuer.authority.change(|says| drop(says.tokens.insert("opaque".into(), known)));
    client(&server, "opaque").replace("a.txt", "one", "two").ok();
    assert_eq!(client(&server, "unknown").begin("tools/list", json!({})).finish().status, 401);
    issuer.authority.change(|says| says.is_down = true);
    let reply = client(&server, "another").begin("tools/list", json!({})).finish();
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("1")));
    client(&server, "opaque").replace("a.txt", "two", "three").ok();
    assert_eq!(folder.text("a.txt"), "three\n");
}

#[test]
fn the_files_of_the_server_are_read_by_nobody() {
    let (folder, issuer) = (Folder::with([("a.txt", "one\n"), ("x/tokens", "")]), Issuer::start());
    let file = folder.at("x/tokens");
    std::fs::write(&file, format!("ann {STATIC}\n")).unwrap();
    let server = serve_folder(&folder, &format!("tokens = {file:?}\n{}", issuer.settings()));
    let read = client(&server, STATIC).call("read_file", json!({"path": "x/tokens"}));
    assert!(read.is_error && !read.text.contains(STATIC), "{}", read.text);
}

#[test]
fn who_listens_does_so_as_long_as_the_token_is_good() {
    let (folder, issuer) = (Folder::with([("a.txt", "one\n")]), Issuer::start());
    let server = serve_folder(&folder, &issuer.settings());
    // With the minute by which its clock may differ, it is good for some seconds.
    let end = issuer.authority.claims("ann", RESOURCE, ALL)["iat"].as_u64().unwrap() - 54;
    let ann = client(&server, &issuer.token_with("ann", ALL, &[("exp", end.into())]));
    let uri = format!("file://{}", folder.at("a.txt").display());
    let listen = json!({"notifications": {"resourceSubscriptions": [uri]}});
    let mut streams = [ann.begin("subscriptions/listen", listen), ann.clone().legacy().listen()];
    assert!(streams[0].next_message().is_some());
    let begun = Instant::now();
    for stream in &mut streams {
        assert_eq!(stream.status, 200);
        while stream.next_message().is_some() {}
    }
    // The client would have given up much later.
    assert!(begun.elapsed() < Duration::from_secs(30));
    // Within the same second, it is good to the end of that.
    let status = || ann.begin("tools/list", json!({})).finish().status;
    while status() == 200 {}
    assert_eq!(status(), 401);
}
