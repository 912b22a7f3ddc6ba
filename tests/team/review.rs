//! The review page over HTTP: who signs in decides on what waits in their own tenant, and on nothing else.

use emend_testkit::http::Reply;
use emend_testkit::{Folder, Http, HttpServer};
use serde_json::{Value, json};

use super::{Issuer, client, launch, write};

const ORIGIN: &str = "https://files.example";
const ANN: &str = "ann-has-this-long-token";
const BEN: &str = "ben-has-that-long-token";
const CY: &str = "cy-has-another-long-token";
const DEE: &str = "dee-has-another-long-token";
/// What stands in the files, the paths and the edits of the tenant `blue`, and may be told to nobody else.
const SECRET: &str = "blueberry";

/// Two tenants where every edit waits for a yes. Ann and cy are of `red`, ben of `blue`; cy may only approve, and dee not even that.
struct Scene {
    folder: Folder,
    server: HttpServer,
}

fn scene(settings: &str) -> Scene {
    let folder = Folder::with([("red/a.txt", "one\n"), ("blue/blueberry.txt", "one blueberry\n")]);
    let tokens = folder.beside("tokens");
    let people = format!(
        "ann {ANN} tenant=red\nben {BEN} tenant=blue\ncy {CY} files:read files:approve tenant=red\n\
         dee {DEE} files:read files:write tenant=red\n"
    );
    std::fs::write(&tokens, people).unwrap();
    let tenant = |name: &str| format!("\n[[tenant]]\nname = \"{name}\"\nworkspace = {:?}\n", folder.at(name));
    write(&folder, &format!("tokens = {tokens:?}\n{settings}{}{}", tenant("red"), tenant("blue")));
    let server = HttpServer::start(&launch(&folder).argument("--mode=ask"));
    Scene { folder, server }
}

/// A browser in which somebody has signed in, or nobody.
#[derive(Clone)]
struct Browser {
    http: Http,
    page: String,
    cookies: Vec<(String, String)>,
}

impl Browser {
    fn new(server: &HttpServer) -> Self {
        Self { http: client(server, ""), page: "/review".into(), cookies: Vec::new() }
    }

    fn signed_in(server: &HttpServer, token: &str) -> Self {
        let mut browser = Self::new(server);
        let reply = browser.paste(token);
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert!(
            reply.text().contains("http-equiv=\"refresh\" content=\"0;url=/review\""),
            "{}",
            reply.text()
        );
        browser
    }

    /// Sends a request with these headers and the cookies, and keeps the cookies of the answer.
    fn send(&mut self, request: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let pairs: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let cookies = pairs.join("; ");
        let mut headers = headers.to_vec();
        if !self.cookies.is_empty() {
            headers.push(("Cookie", &cookies));
        }
        let reply = self.http.send(request, &headers, body.as_bytes()).finish();
        for (_, set) in reply.headers.iter().filter(|(name, _)| name == "set-cookie") {
            assert!(set.contains("HttpOnly") && set.contains("Secure") && set.contains("Path=/;"), "{set}");
            let (name, value) = set.split(';').next().unwrap().split_once('=').unwrap();
            self.cookies.retain(|(kept, _)| kept != name);
            if !value.is_empty() {
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
        }
        reply
    }

    fn get(&mut self, path: &str) -> Reply {
        self.send(&format!("GET {path}"), &[], "")
    }

    fn post(&mut self, step: &str, body: &str) -> Reply {
        let request = format!("POST {}/{step}", self.page);
        let kind = if step == "call" { "application/json" } else { "application/x-www-form-urlencoded" };
        self.send(
            &request,
            &[("Origin", ORIGIN), ("Sec-Fetch-Site", "same-origin"), ("Content-Type", kind)],
            body,
        )
    }

    fn paste(&mut self, token: &str) -> Reply {
        self.post("sign-in", &format!("token={token}"))
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        let reply = self.post("call", &json!({"name": name, "arguments": arguments}).to_string());
        assert_eq!(reply.status, 200, "{name}: {}", reply.text());
        serde_json::from_slice(&reply.body).unwrap()
    }

    #[track_caller]
    fn ok(&mut self, name: &str, arguments: &Value) -> Value {
        let result = self.call(name, arguments);
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// The ids of the list that are of this kind.
    fn listed(&mut self, subject: &str) -> Vec<String> {
        let list = self.ok("review", &json!({}));
        let entries = list["entries"].as_array().into_iter().flatten();
        let entries = entries.filter(|entry| entry["subject"] == subject);
        entries.map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
    }
}

#[test]
fn who_has_signed_in_with_a_token_approves_what_waits_and_the_client_makes_it() {
    let scene = scene("[review]\n");
    let model = client(&scene.server, DEE);
    let refused = model.replace("a.txt", "one", "two").refused("approval-needed");
    assert!(refused.text.contains("on the page https://files.example/review"), "{}", refused.text);
    let mut nobody = Browser::new(&scene.server);
    let asked = nobody.get("/review");
    assert!(asked.status == 200 && asked.text().contains("name=\"token\""), "{}", asked.text());
    assert_eq!(asked.header("referrer-policy"), Some("same-origin"));

    let mut ann = Browser::signed_in(&scene.server, ANN);
    let shown = ann.get("/review");
    assert!(shown.text().contains("<meta name=\"emend-person\" content=\"ann\">"));
    let policy = shown.header("content-security-policy").unwrap();
    for part in ["default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "form-action 'self'"] {
        assert!(policy.contains(part), "{policy}");
    }
    for (name, value) in [("cache-control", "no-store"), ("x-content-type-options", "nosniff")] {
        assert_eq!(shown.header(name), Some(value));
    }
    let waiting = ann.listed("approval");
    let page = ann.ok("review", &json!({"approval": waiting[0]}));
    assert_eq!(page["hunks"][0]["lines"], json!(["-one", "+two"]));
    ann.ok("decide", &json!({"approval": waiting[0], "is_allowed": true}));
    assert_eq!(scene.folder.text("red/a.txt"), "one\n", "it is approved, and not made");
    model.replace("a.txt", "one", "two").ok();
    assert_eq!(scene.folder.text("red/a.txt"), "two\n");
    // At the address of her own tenant it is the same.
    ann.page = "/w/red/review".into();
    assert_eq!(ann.get("/w/red/review").status, 200);
    assert!(ann.listed("approval").is_empty());
}

#[test]
fn one_tenant_neither_sees_nor_decides_what_is_another_s() {
    let scene = scene("[review]\n");
    let model = client(&scene.server, BEN);
    let refused = model.replace("blueberry.txt", "one", "two").refused("approval-needed");
    let asked =
        json!({"tool": "str_replace", "path": "blueberry.txt", "old_string": "one", "new_string": "2"});
    let handle = model.call("edit_preview", asked).ok().handle();
    let mut ben = Browser::signed_in(&scene.server, BEN);
    let id = ben.listed("approval").remove(0);
    assert_eq!(ben.listed("preview"), [handle.as_str()], "{}", refused.text);

    let mut ann = Browser::signed_in(&scene.server, ANN);
    let mut said = ann.ok("review", &json!({})).to_string();
    for (there, not_there) in [
        (json!({"approval": id}), json!({"approval": "000000000000"})),
        (json!({"preview": handle}), json!({"preview": "preview-00000000000000000000000000000000"})),
    ] {
        for name in ["review", "decide"] {
            let with = |about: &Value| {
                let mut arguments = about.clone();
                if name == "decide" {
                    arguments["is_allowed"] = true.into();
                }
                arguments
            };
            let (there, not_there) = (ann.call(name, &with(&there)), ann.call(name, &with(&not_there)));
            assert_eq!(there["isError"], true, "{name}: {there}");
            assert_eq!(there, not_there, "{name}");
            said += &there.to_string();
        }
    }
    for (name, arguments) in [
        ("apply_preview", json!({"preview": handle})),
        (
            "revise",
            json!({"preview": handle, "path": "blueberry.txt", "hunk": 1, "old": 1, "count": 1, "text": "x"}),
        ),
        ("edit_preview", json!({"tool": "write_file", "path": "../blue/blueberry.txt", "content": "x"})),
    ] {
        let result = ann.call(name, &arguments);
        assert_eq!(result["isError"], true, "{name}: {result}");
        said += &result.to_string().replace("../blue/blueberry.txt", "").replace("blueberry.txt", "");
    }
    assert!(!said.contains(SECRET), "{said}");
    // At the address of the other tenant, and of one that is not there, there is the same nothing.
    let at = |name: &str| {
        let mut ann = ann.clone();
        ann.page = format!("/w/{name}/review");
        let (page, call) =
            (ann.get(&ann.page.clone()), ann.post("call", "{\"name\":\"review\",\"arguments\":{}}"));
        (page.status, page.text().split("nonce").count(), call.status, call.text().replace(name, "NAME"))
    };
    assert_eq!((at("blue").0, at("blue").2), (404, 404));
    assert_eq!(at("blue"), at("none"));
    assert_eq!(ben.listed("approval"), [id.as_str()], "it waits as before");
    ben.ok("decide", &json!({"approval": id, "is_allowed": true}));
    model.replace("blueberry.txt", "one", "two").ok();
    assert_eq!(scene.folder.text("blue/blueberry.txt"), "two blueberry\n");
}

#[test]
fn a_call_counts_only_from_the_page_itself_and_with_its_cookie() {
    let scene = scene("[review]\n");
    client(&scene.server, DEE).replace("a.txt", "one", "two").refused("approval-needed");
    let mut ann = Browser::signed_in(&scene.server, ANN);
    let id = ann.listed("approval").remove(0);
    let yes = json!({"name": "decide", "arguments": {"approval": id, "is_allowed": true}}).to_string();
    let json_type = ("Content-Type", "application/json");
    let call = "POST /review/call";
    for headers in [
        &[json_type][..],
        &[json_type, ("Origin", "https://evil.example")],
        &[json_type, ("Origin", "null")],
        &[json_type, ("Origin", "http://localhost")],
        &[json_type, ("Origin", "https://files.example:8443")],
        &[json_type, ("Origin", ORIGIN), ("Origin", "https://evil.example")],
        &[json_type, ("Origin", ORIGIN), ("Sec-Fetch-Site", "cross-site")],
        &[json_type, ("Origin", ORIGIN), ("Sec-Fetch-Site", "same-site")],
        &[json_type, ("Origin", ORIGIN), ("Host", "rebound.example")],
    ] {
        let reply = ann.send(call, headers, &yes);
        assert_eq!(reply.status, 403, "{headers:?}: {}", reply.text());
        assert!(reply.header("access-control-allow-origin").is_none());
    }
    assert_eq!(ann.send(call, &[("Origin", ORIGIN), ("Content-Type", "text/plain")], &yes).status, 405);
    assert_eq!(ann.send("GET /review/call", &[], "").status, 405);
    assert_eq!(ann.send("POST /review/sign-out", &[("Origin", "https://evil.example")], "").status, 403);
    assert_eq!(ann.send("GET /review", &[("Origin", "https://evil.example")], "").status, 403);
    let other = json!({"name": "write_file", "arguments": {"path": "x", "content": ""}}).to_string();
    assert_eq!(ann.post("call", &other).status, 403);

    // Without the cookie, with one that is made up or changed, and with a token where the cookie belongs.
    let own = ann.cookies[0].clone();
    let mut changed = own.1.clone().into_bytes();
    changed[40] = if changed[40] == b'A' { b'B' } else { b'A' };
    for cookie in ["", ANN, &own.1[..own.1.len() - 2], &String::from_utf8(changed).unwrap()] {
        let mut forger = Browser::new(&scene.server);
        forger.cookies = vec![(own.0.clone(), cookie.to_owned())];
        assert_eq!(forger.post("call", &yes).status, 401, "{cookie}");
    }
    let bearer = format!("Bearer {ANN}");
    let mut bare = Browser::new(&scene.server);
    let headers = [json_type, ("Origin", ORIGIN), ("Authorization", &*bearer)];
    assert_eq!(bare.send(call, &headers, &yes).status, 401);
    // What the page may, a client with the same token may not: no model says yes.
    let arguments = json!({"approval": id, "is_allowed": true});
    assert!(client(&scene.server, ANN).call("decide", arguments).is_error);
    assert_eq!(ann.listed("approval"), [id], "it waits as before");

    let out = ann.post("sign-out", "");
    assert!(out.status == 200 && ann.cookies.is_empty(), "{}", out.text());
    assert_eq!(ann.post("call", &yes).status, 401);
    // A cookie of another server, with another state folder, is none.
    let elsewhere = self::scene("[review]\n");
    let mut stranger = Browser::signed_in(&elsewhere.server, ANN);
    stranger.http = client(&scene.server, "");
    assert_eq!(stranger.post("call", &yes).status, 401);
}

#[test]
fn who_may_not_approve_is_told_which_scope_is_missing_and_who_may_not_write_only_says_yes_or_no() {
    let scene = scene("[review]\n");
    let model = client(&scene.server, ANN);
    let asked = json!({"tool": "str_replace", "path": "a.txt", "old_string": "one", "new_string": "2"});
    let handle = model.call("edit_preview", asked).ok().handle();
    model.replace("a.txt", "one", "two").refused("approval-needed");

    let mut dee = Browser::new(&scene.server);
    let refused = dee.paste(DEE);
    assert!(refused.status == 403 && refused.text().contains("files:approve"), "{}", refused.text());
    assert!(dee.cookies.is_empty());
    for wrong in ["", "not-a-token-of-anybody-here", "%ff"] {
        let reply = dee.paste(wrong);
        assert!([400, 403].contains(&reply.status) && dee.cookies.is_empty(), "{wrong}: {}", reply.text());
    }

    let mut cy = Browser::signed_in(&scene.server, CY);
    assert!(cy.get("/review").text().contains("content=\"files:read files:approve\""));
    let shown = cy.ok("review", &json!({"preview": handle}))["shown"].as_str().unwrap().to_owned();
    for (name, arguments) in [
        ("apply_preview", json!({"preview": format!("{handle}:{shown}")})),
        ("revise", json!({"preview": handle, "path": "a.txt", "hunk": 1, "old": 1, "count": 1, "text": "x"})),
        ("undo_edit", json!({})),
    ] {
        let result = cy.call(name, &arguments);
        assert!(result["isError"] == true && result.to_string().contains("files:write"), "{name}: {result}");
    }
    let id = cy.listed("approval").remove(0);
    cy.ok("decide", &json!({"approval": id, "is_allowed": false, "comment": "Not two."}));
    let told = model.replace("a.txt", "one", "two").refused("approval-denied");
    assert!(told.text.contains("Not two."), "{}", told.text);
    assert_eq!(scene.folder.text("red/a.txt"), "one\n");
}

#[test]
fn a_person_applies_a_preview_of_somebody_else_s_client_and_takes_it_back() {
    let scene = scene("[review]\n");
    let model = client(&scene.server, DEE);
    let asked = json!({"tool": "str_replace", "path": "a.txt", "old_string": "one", "new_string": "2"});
    let handle = model.call("edit_preview", asked).ok().handle();
    let mut ann = Browser::signed_in(&scene.server, ANN);
    let shown = ann.ok("review", &json!({"preview": handle}))["shown"].as_str().unwrap().to_owned();
    let preview = json!({"preview": format!("{handle}:{shown}")});
    // In the mode `ask` her own edit takes a yes as well, which only the page gives.
    let held = ann.call("apply_preview", &preview);
    let id = held["_meta"]["emend/approval"]["id"].clone();
    ann.ok("decide", &json!({"approval": id, "is_allowed": true}));
    let edit = ann.ok("apply_preview", &preview)["edit"].clone();
    assert_eq!(scene.folder.text("red/a.txt"), "2\n");
    let told = model.call("apply_preview", json!({"preview": handle})).ok();
    assert!(told.text.contains("applied this preview themselves"), "{}", told.text);
    let history = model.call("edit_history", json!({})).ok().text;
    assert!(history.contains("emend review (ann)"), "{history}");
    let held = ann.call("undo_edit", &json!({"edit": edit}));
    let id = held["_meta"]["emend/approval"]["id"].clone();
    ann.ok("decide", &json!({"approval": id, "is_allowed": true}));
    ann.ok("undo_edit", &json!({"edit": edit}));
    assert_eq!(scene.folder.text("red/a.txt"), "one\n");
}

#[test]
fn there_is_no_page_unless_the_settings_have_one() {
    let scene = scene("");
    for path in ["/review", "/review/sign-in", "/review/signed-in", "/w/red/review"] {
        assert_eq!(Browser::new(&scene.server).get(path).status, 404, "{path}");
    }
    let mut ann = Browser::new(&scene.server);
    assert_eq!(ann.paste(ANN).status, 404);
}

/// A server with an authority with which people sign in, and without static tokens.
fn with_authority(issuer: &Issuer) -> (Folder, HttpServer) {
    let folder = Folder::with([("red/a.txt", "one\n"), ("blue/b.txt", "one\n")]);
    write_settings(&folder, issuer);
    let server = HttpServer::start(&launch(&folder).argument("--mode=ask"));
    (folder, server)
}

/// Writes the settings of a server where people sign in with this authority.
fn write_settings(folder: &Folder, issuer: &Issuer) {
    let secret = folder.beside("secret");
    std::fs::write(&secret, "se:cret\n").unwrap();
    let tenant = |name: &str| format!("\n[[tenant]]\nname = \"{name}\"\nworkspace = {:?}\n", folder.at(name));
    write(
        folder,
        &format!(
            "[review]\nclient = \"emend\"\nsecret_file = {secret:?}\n{}client = \"emend\"\nsecret_file = {secret:?}\n{}{}",
            issuer.settings(),
            tenant("red"),
            tenant("blue")
        ),
    );
}

impl Browser {
    /// Goes where a redirect leads, to the authority, and returns the path to which that sends back.
    fn at_authority(issuer: &Issuer, redirect: &Reply) -> String {
        assert_eq!(redirect.status, 303, "{}", redirect.text());
        let address = redirect.header("location").unwrap();
        let path = address.strip_prefix(&issuer.authority.issuer()).unwrap();
        for part in [
            "redirect_uri=https%3A%2F%2Ffiles.example%2Freview%2Fsigned-in",
            "resource=https%3A%2F%2Ffiles.example%2Fmcp",
            "scope=files%3Aread%20files%3Awrite%20files%3Aapprove",
            "code_challenge_method=S256",
        ] {
            assert!(path.contains(part), "{part}: {path}");
        }
        let authority = Http::new(issuer.authority.issuer()["http://".len()..].parse().unwrap(), "");
        let back = authority.send(&format!("GET {path}"), &[], b"").finish();
        back.header("location").unwrap().strip_prefix(ORIGIN).unwrap().to_owned()
    }

    /// Signs in with the authority.
    fn with(server: &HttpServer, issuer: &Issuer, token: String) -> (Self, Reply) {
        issuer.authority.change(|says| says.signs_in = Some(token));
        let mut browser = Self::new(server);
        let redirect = browser.get("/review");
        let back = Self::at_authority(issuer, &redirect);
        let reply = browser.get(&back);
        (browser, reply)
    }
}

#[test]
fn a_person_signs_in_with_the_authority_and_stays_as_long_as_the_token_is_good() {
    let issuer = Issuer::start();
    let (folder, server) = with_authority(&issuer);
    let model = client(&server, &issuer.of_tenant("robot", "red"));
    model.replace("a.txt", "one", "two").refused("approval-needed");
    let (mut ann, reply) = Browser::with(&server, &issuer, issuer.of_tenant("ann", "red"));
    assert!(reply.status == 200 && reply.text().contains("url=/review\""), "{}", reply.text());
    assert!(ann.cookies.iter().all(|(name, _)| name.starts_with("__Host-emend_review")), "{:?}", ann.cookies);
    assert!(ann.get("/review").text().contains("content=\"ann\""));
    let id = ann.listed("approval").remove(0);
    let (mut ben, _) = Browser::with(&server, &issuer, issuer.of_tenant("ben", "blue"));
    assert!(ben.listed("approval").is_empty());
    assert_eq!(ben.call("decide", &json!({"approval": id, "is_allowed": true}))["isError"], true);
    ann.ok("decide", &json!({"approval": id, "is_allowed": true}));
    model.replace("a.txt", "one", "two").ok();
    assert_eq!(folder.text("red/a.txt"), "two\n");

    // A token that has few seconds left, then none: the cookie is good for no longer.
    let end = issuer.authority.claims("ann", super::RESOURCE, "")["iat"].as_u64().unwrap() - 54;
    let short = issuer.token_with("ann", super::ALL, &[("tenant", "red".into()), ("exp", end.into())]);
    let (mut ann, _) = Browser::with(&server, &issuer, short);
    let review = json!({"name": "review", "arguments": {}}).to_string();
    assert_eq!(ann.post("call", &review).status, 200);
    let mut last = ann.post("call", &review);
    while last.status == 200 {
        last = ann.post("call", &review);
    }
    assert_eq!(last.status, 401, "{}", last.text());
    assert_eq!(ann.get("/review").status, 303, "she signs in again");
}

#[test]
fn a_browser_signs_in_in_two_tabs_and_what_it_does_not_finish_is_forgotten() {
    let issuer = Issuer::start();
    let (_folder, server) = with_authority(&issuer);
    issuer.authority.change(|says| says.signs_in = Some(issuer.of_tenant("ann", "red")));
    let mut ann = Browser::new(&server);
    // Both tabs are at the authority before either comes back.
    for redirect in [ann.get("/review"), ann.get("/review")] {
        let back = Browser::at_authority(&issuer, &redirect);
        assert_eq!(ann.get(&back).status, 200);
    }
    assert!(ann.cookies.iter().all(|(name, _)| name.starts_with("__Host-emend_review")), "{:?}", ann.cookies);
    let mut nobody = Browser::new(&server);
    let mut most = 0;
    for _ in 0..20 {
        assert_eq!(nobody.get("/review").status, 303);
        most = most.max(nobody.cookies.len());
    }
    assert_eq!(most, 8);
}

#[test]
fn a_code_is_shown_to_no_other_authority_that_the_settings_name_by_now() {
    let (issuer, other) = (Issuer::start(), Issuer::start());
    let (folder, server) = with_authority(&issuer);
    for issuer in [&issuer, &other] {
        issuer.authority.change(|says| {
            says.signs_in = Some(issuer.of_tenant("ann", "red"));
            // Then nothing in the answer says whose it is.
            says.metadata.insert("authorization_response_iss_parameter_supported".into(), false.into());
        });
    }
    let mut ann = Browser::new(&server);
    let redirect = ann.get("/review");
    let back = Browser::at_authority(&issuer, &redirect);
    let back = &back[..back.find("&iss=").unwrap()];
    write_settings(&folder, &other);
    server.hang_up();
    let mut nobody = Browser::new(&server);
    while !nobody.get("/review").header("location").unwrap().starts_with(&other.authority.issuer()) {}
    let reply = ann.get(back);
    assert!(reply.status == 403 && reply.text().contains("Another authority"), "{}", reply.text());
    assert_eq!(other.authority.asked("/token"), 0);
}

#[test]
fn a_sign_in_that_is_not_this_browser_s_or_not_good_enough_opens_nothing() {
    let issuer = Issuer::start();
    let (_folder, server) = with_authority(&issuer);
    let good = issuer.of_tenant("ann", "red");
    issuer.authority.change(|says| says.signs_in = Some(good.clone()));
    let back = |browser: &mut Browser| {
        let redirect = browser.get("/review");
        Browser::at_authority(&issuer, &redirect)
    };
    // The code of an attacker in the browser of somebody else.
    let (mut thief, mut ann) = (Browser::new(&server), Browser::new(&server));
    let stolen = back(&mut thief);
    assert_eq!(ann.get(&stolen).status, 400);
    let own = back(&mut ann);
    assert_eq!(ann.get(&stolen).status, 400);
    assert!(!ann.cookies.iter().any(|(name, _)| name.contains("review")));
    // Another authority, or none, where it says that it names itself; a code twice; what is no answer.
    let before = ann.clone();
    for wrong in [
        own.replace("iss=http", "iss=https"),
        own[..own.find("&iss=").unwrap()].to_owned(),
        own.replace("code=", "x="),
        format!("{own}&code=2"),
        own.replace("code=code", "error=access_denied&x=code"),
    ] {
        let mut ann = before.clone();
        let reply = ann.get(&wrong);
        assert!([400, 403].contains(&reply.status), "{wrong}: {}", reply.text());
        assert!(!ann.cookies.iter().any(|(name, _)| name.contains("review")), "{wrong}");
    }
    assert_eq!(before.clone().get(&own).status, 200);
    assert_eq!(before.clone().get(&own).status, 403, "the code is used up");
    // Who comes from another site may have the cookie that the browser has not sent.
    let reply = Browser::new(&server).send("GET /review", &[("Sec-Fetch-Site", "cross-site")], "");
    assert!(reply.status == 200 && reply.text().contains("http-equiv=\"refresh\""), "{}", reply.text());

    let lacking = issuer.token_with("ann", "files:read files:write", &[("tenant", "red".into())]);
    let (nobody, reply) = Browser::with(&server, &issuer, lacking);
    assert!(reply.status == 403 && reply.text().contains("files:approve") && nobody.cookies.is_empty());
    let foreign = issuer.token_with("ann", super::ALL, &[("aud", "https://other.example/mcp".into())]);
    let (nobody, reply) = Browser::with(&server, &issuer, foreign);
    assert!(reply.status == 403 && reply.text().contains("another server") && nobody.cookies.is_empty());
    let (nobody, reply) = Browser::with(&server, &issuer, "x".repeat(9_000));
    assert!(reply.status == 403 && nobody.cookies.is_empty(), "{}", reply.text());
}

#[test]
fn where_people_sign_in_with_the_authority_the_token_of_a_client_is_not_enough() {
    let issuer = Issuer::start();
    let (_folder, server) = with_authority(&issuer);
    let mut model = Browser::new(&server);
    let reply = model.paste(&issuer.of_tenant("ann", "red"));
    assert!(reply.status == 403 && model.cookies.is_empty(), "{}", reply.text());
}

#[test]
fn a_token_that_is_too_long_for_one_cookie_takes_several() {
    let issuer = Issuer::start();
    let (_folder, server) = with_authority(&issuer);
    let groups = |length: usize| {
        issuer.token_with(
            "ann",
            super::ALL,
            &[("tenant", "red".into()), ("groups", "x".repeat(length).into())],
        )
    };
    let (mut ann, _) = Browser::with(&server, &issuer, groups(3_500));
    assert_eq!(ann.cookies.len(), 2);
    assert!(ann.listed("approval").is_empty());
    let (nobody, reply) = Browser::with(&server, &issuer, groups(8_000));
    assert!(reply.status == 403 && reply.text().contains("too many for cookies"), "{}", reply.text());
    assert!(nobody.cookies.is_empty());
}
