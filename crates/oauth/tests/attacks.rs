//! Good tokens are taken and bad ones refused, by a real look at a fake authority on loopback.

#![expect(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use emend_oauth::{Authorities, AuthoritySettings, Introspection, Refusal, Secret, Subject};
use emend_testkit::authority::{FakeAuthority, SigningKey, base64, now, sign_with_secret, signed};
use serde_json::{Value, json};

const AUDIENCE: &str = "https://files.example/mcp";

/// An authority with one key, what it may issue, and a server that takes its tokens.
struct Scene {
    key: SigningKey,
    authority: FakeAuthority,
    server: Authorities,
}

fn settings(authority: &FakeAuthority) -> AuthoritySettings {
    AuthoritySettings::new(&authority.issuer(), AUDIENCE)
}

fn scene() -> Scene {
    let key = SigningKey::new("one", "ES256");
    let authority = FakeAuthority::start(&[&key]);
    let server = Authorities::new(vec![settings(&authority)]).unwrap();
    Scene { key, authority, server }
}

impl Scene {
    fn claims(&self) -> Value {
        self.authority.claims("ann", AUDIENCE, "files:read files:write")
    }

    fn with(&self, name: &str, value: impl Into<Value>) -> String {
        let mut claims = self.claims();
        claims[name] = value.into();
        self.key.sign(&self.key.header(), &claims)
    }

    #[track_caller]
    fn refuses(&self, token: &str, why: &str) {
        match self.server.check(token) {
            Err(Refusal::Invalid(said)) => assert!(said.contains(why), "{said}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_good_token_is_taken_with_every_kind_of_key() {
    for algorithm in ["ES256", "ES384", "EdDSA"] {
        let key = SigningKey::new("one", algorithm);
        let authority = FakeAuthority::start(&[&SigningKey::new("other", "ES256"), &key]);
        let server = Authorities::new(vec![settings(&authority)]).unwrap();
        let token = key.sign(&key.header(), &authority.claims("ann", AUDIENCE, "files:read x"));
        assert_eq!(server.recall(&token), Err(Refusal::NotKnown));
        let claims = server.check(&token).unwrap();
        assert_eq!((claims.issuer, claims.subject), (authority.issuer(), Subject::Person("ann".to_owned())));
        assert_eq!(claims.scopes, ["files:read", "x"]);
        // Nobody is asked a second time.
        assert!(server.recall(&token).is_ok());
        assert_eq!(authority.asked("/keys"), 1);
    }
}

#[test]
fn a_token_for_another_server_of_another_issuer_or_another_time_is_refused() {
    let scene = scene();
    assert!(scene.server.check(&scene.with("x", 1)).is_ok());
    assert!(scene.server.check(&scene.with("aud", json!(["https://x.example", AUDIENCE]))).is_ok());
    scene.refuses(&scene.with("aud", "https://files.example/"), "another server");
    scene.refuses(&scene.with("aud", json!([])), "another server");
    scene.refuses(&scene.with("aud", Value::Null), "lacks");
    scene.refuses(&scene.with("aud", json!({AUDIENCE: 1})), "lacks");
    scene.refuses(&scene.with("iss", "https://evil.example"), "not known");
    scene.refuses(&scene.with("iss", json!([scene.authority.issuer()])), "no issuer");
    scene.refuses(&scene.with("exp", now() - 61), "expired");
    scene.refuses(&scene.with("exp", Value::Null), "lacks");
    scene.refuses(&scene.with("exp", "9999999999"), "");
    scene.refuses(&scene.with("nbf", now() + 90), "not valid yet");
    scene.refuses(&scene.with("nbf", "0"), "");
    // Clocks differ a little.
    assert!(scene.server.check(&scene.with("exp", now() - 30)).is_ok());
    assert!(scene.server.check(&scene.with("nbf", now() + 30)).is_ok());
}

#[test]
fn a_signature_of_another_key_algorithm_or_none_is_refused() {
    let scene = scene();
    let (header, claims) = (scene.key.header(), scene.claims());
    let thief = SigningKey::new("one", "ES256");
    scene.refuses(&thief.sign(&header, &claims), "signature is wrong");
    let good = scene.key.sign(&header, &claims);
    let (message, signature) = good.rsplit_once('.').unwrap();
    scene.refuses(&format!("{message}."), "");
    let stronger = base64(br#"{"iss":"x"}"#);
    let forged = message.split_once('.').unwrap().0;
    scene.refuses(&format!("{forged}.{stronger}.{signature}"), "not known");
    let mut other = claims.clone();
    other["scope"] = "files:approve".into();
    let payload = base64(other.to_string().as_bytes());
    scene.refuses(&format!("{forged}.{payload}.{signature}"), "signature is wrong");
    for name in ["none", "None", "NONE", "nOnE", ""] {
        let header = json!({"alg": name, "typ": "at+jwt", "kid": "one"});
        scene.refuses(&signed(&header, &claims, |_| Vec::new()), "");
        scene.refuses(&signed(&header, &claims, |_| signature.as_bytes().to_vec()), "");
    }
    // The public key, which everybody knows, as a shared secret.
    let jwk = scene.key.jwk().to_string();
    for secret in [scene.key.public_bytes(), scene.key.public_bytes()[1..].to_vec(), jwk.into_bytes()] {
        let header = json!({"alg": "HS256", "typ": "at+jwt", "kid": "one"});
        scene.refuses(&sign_with_secret(&header, &claims, &secret), "");
    }
    for name in ["ES384", "RS256", "PS256", "EdDSA"] {
        let header = json!({"alg": name, "typ": "at+jwt", "kid": "one"});
        scene.refuses(&scene.key.sign(&header, &claims), "");
    }
}

#[test]
fn a_shared_secret_that_an_authority_publishes_is_no_key() {
    let scene = scene();
    scene.authority.change(|says| {
        says.keys = vec![json!({"kty": "oct", "kid": "one", "alg": "HS256", "k": base64(b"a-secret-of-32-bytes-for-everyone")})];
    });
    let header = json!({"alg": "HS256", "typ": "at+jwt", "kid": "one"});
    scene.refuses(&sign_with_secret(&header, &scene.claims(), b"a-secret-of-32-bytes-for-everyone"), "");
}

#[test]
fn the_key_of_a_token_is_never_taken_from_the_token() {
    let scene = scene();
    let thief = SigningKey::new("thief", "ES256");
    let elsewhere = FakeAuthority::start(&[&thief]);
    let mut header = thief.header();
    header["jwk"] = thief.jwk();
    header["jku"] = format!("{}/keys", elsewhere.issuer()).into();
    header["x5u"] = format!("{}/keys", elsewhere.issuer()).into();
    scene.refuses(&thief.sign(&header, &scene.claims()), "");
    assert_eq!(elsewhere.asked(""), 0);
}

#[test]
fn only_access_tokens_are_taken_and_none_that_asks_for_what_is_not_understood() {
    let scene = scene();
    let with = |name: &str, value: Value| {
        let mut header = scene.key.header();
        header[name] = value;
        scene.key.sign(&header, &scene.claims())
    };
    assert!(scene.server.check(&with("typ", "application/AT+JWT".into())).is_ok());
    for other in ["JWT", "", "dpop+jwt", "logout+jwt", "at+jwt "] {
        scene.refuses(&with("typ", other.into()), "no access token");
    }
    scene.refuses(&with("crit", json!(["b64"])), "");
    let mut plain = settings(&scene.authority);
    plain.types = vec!["JWT".into()];
    let lenient = Authorities::new(vec![plain]).unwrap();
    assert!(lenient.check(&with("typ", "JWT".into())).is_ok());
    assert!(lenient.check(&with("typ", "at+jwt".into())).is_err());
}

#[test]
fn only_the_algorithms_that_are_set_are_taken() {
    let key = SigningKey::new("one", "ES384");
    let authority = FakeAuthority::start(&[&key]);
    let mut only = settings(&authority);
    only.algorithms = vec!["ES256".into()];
    let server = Authorities::new(vec![only]).unwrap();
    let token = key.sign(&key.header(), &authority.claims("ann", AUDIENCE, ""));
    assert!(matches!(server.check(&token), Err(Refusal::Invalid(_))));
    assert_eq!(authority.asked("/keys"), 0);
}

#[test]
fn a_new_key_is_found_and_made_up_names_of_keys_do_not_have_the_authority_asked_each_time() {
    let (old, new) = (SigningKey::new("old", "ES256"), SigningKey::new("new", "ES256"));
    let authority = FakeAuthority::start(&[&new]);
    let server = Authorities::new(vec![settings(&authority)]).unwrap();
    let claims = authority.claims("ann", AUDIENCE, "");
    assert!(server.check(&new.sign(&new.header(), &claims)).is_ok());
    for made_up in 0..100 {
        let mut header = old.header();
        header["kid"] = format!("made-up-{made_up}").into();
        assert!(matches!(server.check(&old.sign(&header, &claims)), Err(Refusal::Invalid(_))));
        // What is answered without asking anybody takes no thread either.
        assert!(matches!(server.recall(&old.sign(&header, &claims)), Err(Refusal::Invalid(_))));
    }
    assert_eq!(authority.asked("/keys"), 1);
    // Good tokens go on, and the authority may be gone meanwhile.
    authority.change(|says| says.is_down = true);
    assert!(server.check(&new.sign(&new.header(), &claims)).is_ok());
}

#[test]
fn a_token_without_the_name_of_its_key_is_taken_where_only_one_key_can_be_meant() {
    let (one, other) = (SigningKey::new("one", "ES256"), SigningKey::new("two", "ES256"));
    let header = json!({"alg": "ES256", "typ": "at+jwt"});
    for (keys, is_good) in [(vec![&one, &SigningKey::new("x", "EdDSA")], true), (vec![&one, &other], false)] {
        let authority = FakeAuthority::start(&keys);
        let server = Authorities::new(vec![settings(&authority)]).unwrap();
        let token = one.sign(&header, &authority.claims("ann", AUDIENCE, ""));
        assert_eq!(server.check(&token).is_ok(), is_good);
    }
}

#[test]
fn metadata_of_another_issuer_is_not_believed_and_a_redirect_not_followed() {
    let (key, thief) = (SigningKey::new("one", "ES256"), SigningKey::new("one", "ES256"));
    let elsewhere = FakeAuthority::start(&[&thief]);
    let stolen = |change: &dyn Fn(&FakeAuthority)| {
        let authority = FakeAuthority::start(&[&key]);
        change(&authority);
        let server = Authorities::new(vec![settings(&authority)]).unwrap();
        let claims = authority.claims("ann", AUDIENCE, "");
        (server.check(&thief.sign(&thief.header(), &claims)), server.check(&key.sign(&key.header(), &claims)))
    };
    let keys = format!("{}/keys", elsewhere.issuer());
    let foreign = stolen(&|authority| {
        let issuer = elsewhere.issuer();
        authority.change(|says| drop(says.metadata.insert("issuer".into(), issuer.into())));
    });
    assert_eq!(foreign, (Err(Refusal::Unavailable), Err(Refusal::Unavailable)));
    let redirected = stolen(&|authority| {
        authority.change(|says| says.redirect = Some(("/keys".into(), keys.clone())));
    });
    assert_eq!(redirected, (Err(Refusal::Unavailable), Err(Refusal::Unavailable)));
    let unencrypted = stolen(&|authority| {
        authority
            .change(|says| drop(says.metadata.insert("jwks_uri".into(), "http://id.example/keys".into())));
    });
    assert_eq!(unencrypted, (Err(Refusal::Unavailable), Err(Refusal::Unavailable)));
    assert_eq!(elsewhere.asked(""), 0);
}

#[test]
fn each_of_several_authorities_speaks_for_itself_alone() {
    let (reds, blues) = (SigningKey::new("one", "ES256"), SigningKey::new("one", "ES256"));
    let (red, blue) = (FakeAuthority::start(&[&reds]), FakeAuthority::start(&[&blues]));
    let server = Authorities::new(vec![settings(&red), settings(&blue)]).unwrap();
    let sign =
        |key: &SigningKey, by: &FakeAuthority| key.sign(&key.header(), &by.claims("ann", AUDIENCE, ""));
    assert_eq!(server.check(&sign(&reds, &red)).map(|claims| claims.issuer), Ok(red.issuer()));
    assert_eq!(server.check(&sign(&blues, &blue)).map(|claims| claims.issuer), Ok(blue.issuer()));
    for forged in [sign(&reds, &blue), sign(&blues, &red)] {
        assert!(matches!(server.check(&forged), Err(Refusal::Invalid(_))));
    }
}

#[test]
fn an_opaque_token_is_asked_about_once_in_a_while_and_shown_to_nobody_else() {
    let key = SigningKey::new("one", "ES256");
    let authority = FakeAuthority::start(&[&key]);
    let mut asks = settings(&authority);
    let by = Introspection { endpoint: None, client: "emend".into(), secret: Secret("se:cret".into()) };
    asks.introspection = Some(by.clone());
    let server = Authorities::new(vec![asks.clone()]).unwrap();
    let claims = authority.claims("ann", AUDIENCE, "files:read");
    authority.change(|says| {
        let mut known = claims.clone();
        known["active"] = true.into();
        says.tokens.insert("opaque".into(), known.clone());
        known["aud"] = "https://x.example".into();
        says.tokens.insert("for-another".into(), known);
    });
    assert_eq!(server.recall("opaque"), Err(Refusal::NotKnown));
    for _ in 0..10 {
        assert_eq!(server.check("opaque").map(|claims| claims.scopes), Ok(vec!["files:read".to_owned()]));
        assert!(matches!(server.check("for-another"), Err(Refusal::Invalid(_))));
        assert!(matches!(server.check("unknown"), Err(Refusal::Invalid(_))));
    }
    assert_eq!(authority.asked("/introspect"), 3);
    authority.change(|says| says.is_down = true);
    assert_eq!(server.check("another"), Err(Refusal::Unavailable));
    assert!(!format!("{asks:?}").contains("se:cret"));
    let mut second = AuthoritySettings::new("https://id.example", AUDIENCE);
    second.introspection = Some(by);
    assert!(Authorities::new(vec![asks, second]).is_err());
}

#[test]
fn what_cannot_be_a_token_is_refused_before_anybody_is_asked() {
    let scene = scene();
    let long = format!("{}.{}.{}", "a".repeat(9_000), "b".repeat(9_000), "c");
    for odd in ["", ".", "..", "a.b.c", "a.b", "a.b.c.d", "ä.b.c", "eyJhbGciOiJFUzI1NiJ9..", &long] {
        assert!(matches!(scene.server.check(odd), Err(Refusal::Invalid(_))), "{odd}");
    }
    assert_eq!(scene.authority.asked(""), 0);
}

#[test]
fn settings_that_would_take_tokens_of_others_are_refused() {
    let wrong = |change: &dyn Fn(&mut AuthoritySettings)| {
        let mut settings = AuthoritySettings::new("https://id.example", AUDIENCE);
        change(&mut settings);
        Authorities::new(vec![settings]).unwrap_err()
    };
    for said in [
        wrong(&|settings| settings.issuer = "http://id.example".into()),
        wrong(&|settings| settings.issuer = "https://id.example?x".into()),
        wrong(&|settings| settings.audiences.clear()),
        wrong(&|settings| settings.audiences = vec![String::new()]),
        wrong(&|settings| settings.algorithms = vec!["HS256".into()]),
        wrong(&|settings| settings.algorithms = vec!["none".into()]),
        wrong(&|settings| settings.types.clear()),
        wrong(&|settings| settings.keys = Some("http://id.example/keys".into())),
        wrong(&|settings| settings.leeway = std::time::Duration::from_secs(301)),
    ] {
        assert!(said.contains(": "), "{said}");
    }
    let one = AuthoritySettings::new("https://id.example", AUDIENCE);
    assert!(Authorities::new(vec![one.clone(), one]).is_err());
}
