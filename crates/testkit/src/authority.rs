//! An authority on loopback that issues tokens for tests: good ones, and those of an attacker.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
};
use serde_json::{Value, json};

/// A key with which an authority signs.
#[derive(Clone)]
pub struct SigningKey {
    /// The name of the key.
    pub id: String,
    algorithm: &'static str,
    pair: Arc<Pair>,
}

enum Pair {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl SigningKey {
    /// Makes a key of this name for `ES256`, `ES384` or `EdDSA`.
    #[must_use]
    pub fn new(id: &str, algorithm: &'static str) -> Self {
        let random = SystemRandom::new();
        let curve = |curve| {
            let document = EcdsaKeyPair::generate_pkcs8(curve, &random).unwrap();
            EcdsaKeyPair::from_pkcs8(curve, document.as_ref(), &random).unwrap()
        };
        let pair = match algorithm {
            "ES256" => Pair::P256(curve(&ECDSA_P256_SHA256_FIXED_SIGNING)),
            "ES384" => Pair::P384(curve(&ECDSA_P384_SHA384_FIXED_SIGNING)),
            "EdDSA" => {
                let document = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
                Pair::Ed25519(Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap())
            }
            other => panic!("no key for {other}"),
        };
        Self { id: id.into(), algorithm, pair: Arc::new(pair) }
    }

    /// The public key as it is published.
    #[must_use]
    pub fn jwk(&self) -> Value {
        let (kind, curve, point) = match &*self.pair {
            Pair::P256(pair) => ("EC", "P-256", &pair.public_key().as_ref()[1..]),
            Pair::P384(pair) => ("EC", "P-384", &pair.public_key().as_ref()[1..]),
            Pair::Ed25519(pair) => ("OKP", "Ed25519", pair.public_key().as_ref()),
        };
        let mut jwk = json!({"kty": kind, "crv": curve, "kid": self.id, "alg": self.algorithm, "use": "sig"});
        if kind == "EC" {
            let (x, y) = point.split_at(point.len() / 2);
            jwk["x"] = base64(x).into();
            jwk["y"] = base64(y).into();
        } else {
            jwk["x"] = base64(point).into();
        }
        jwk
    }

    /// The bytes of the public key, which an attacker knows.
    #[must_use]
    pub fn public_bytes(&self) -> Vec<u8> {
        match &*self.pair {
            Pair::P256(pair) | Pair::P384(pair) => pair.public_key().as_ref().to_vec(),
            Pair::Ed25519(pair) => pair.public_key().as_ref().to_vec(),
        }
    }

    /// The head of its tokens.
    #[must_use]
    pub fn header(&self) -> Value {
        json!({"alg": self.algorithm, "typ": "at+jwt", "kid": self.id})
    }

    /// Signs a token with this head and these claims, whatever they say.
    #[must_use]
    pub fn sign(&self, header: &Value, claims: &Value) -> String {
        let random = SystemRandom::new();
        signed(header, claims, |message| match &*self.pair {
            Pair::P256(pair) | Pair::P384(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Pair::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        })
    }
}

/// A token whose signature is made with a shared secret.
#[must_use]
pub fn sign_with_secret(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    signed(header, claims, |message| hmac::sign(&key, message).as_ref().to_vec())
}

/// A token with a signature that this makes.
pub fn signed(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let message =
        format!("{}.{}", base64(header.to_string().as_bytes()), base64(claims.to_string().as_bytes()));
    let signature = sign(message.as_bytes());
    format!("{message}.{}", base64(&signature))
}

/// The seconds of now.
#[must_use]
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// What an authority says, which a test may change at any time.
#[derive(Debug, Default)]
pub struct Says {
    /// The keys that it publishes.
    pub keys: Vec<Value>,
    /// The tokens that it knows, with what it says of them.
    pub tokens: HashMap<String, Value>,
    /// Whether it answers nothing but errors.
    pub is_down: bool,
    /// What its metadata says beside, or instead.
    pub metadata: BTreeMap<String, Value>,
    /// The token that somebody gets who signs in, as the client `emend`; nobody can if there is none.
    pub signs_in: Option<String>,
    /// The codes that were given for tokens, each good once, with what was asked for.
    pub codes: HashMap<String, HashMap<String, String>>,
    /// A redirect for what is asked at this path.
    pub redirect: Option<(String, String)>,
}

/// An authority on loopback.
#[derive(Debug)]
pub struct FakeAuthority {
    port: u16,
    says: Arc<Mutex<Says>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl FakeAuthority {
    /// Starts an authority that publishes these keys.
    #[must_use]
    pub fn start(keys: &[&SigningKey]) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let says = Says { keys: keys.iter().map(|key| key.jwk()).collect(), ..Says::default() };
        let (says, asked) = (Arc::new(Mutex::new(says)), Arc::<Mutex<Vec<String>>>::default());
        let (own, log, issuer) = (Arc::clone(&says), Arc::clone(&asked), format!("http://127.0.0.1:{port}"));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                let (says, asked, issuer) = (Arc::clone(&own), Arc::clone(&log), issuer.clone());
                thread::spawn(move || answer(stream, &issuer, &says, &asked));
            }
        });
        Self { port, says, asked }
    }

    /// Its name.
    #[must_use]
    pub fn issuer(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Changes what it says.
    pub fn change(&self, change: impl FnOnce(&mut Says)) {
        change(&mut self.says.lock().unwrap());
    }

    /// How often it was asked for something at a path that ends so.
    #[must_use]
    pub fn asked(&self, end: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|request| request.ends_with(end)).count()
    }

    /// The claims of a good token for this audience.
    #[must_use]
    pub fn claims(&self, subject: &str, audience: &str, scope: &str) -> Value {
        json!({"iss": self.issuer(), "sub": subject, "aud": audience, "scope": scope, "client_id": "testkit",
            "iat": now(), "exp": now() + 600, "jti": "1"})
    }
}

fn answer(stream: TcpStream, issuer: &str, says: &Mutex<Says>, asked: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    if reader.read_line(&mut line).is_err() {
        return;
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let (mut length, mut authorization) = (0, String::new());
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header).unwrap_or(0) < 3 {
            break;
        }
        let (name, value) = header.trim_end().split_once(": ").unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse().unwrap_or(0),
            "authorization" => value.clone_into(&mut authorization),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    asked.lock().unwrap().push(path.clone());
    let mut says = says.lock().unwrap();
    let (status, extra, body) = match path.as_str() {
        _ if says.is_down => ("503 Down", String::new(), json!({})),
        path if says.redirect.as_ref().is_some_and(|(from, _)| from == path) => {
            let to = &says.redirect.as_ref().unwrap().1;
            ("302 Found", format!("Location: {to}\r\n"), json!({}))
        }
        "/.well-known/oauth-authorization-server" | "/.well-known/openid-configuration" => {
            let mut metadata = json!({"issuer": issuer, "jwks_uri": format!("{issuer}/keys"),
                "introspection_endpoint": format!("{issuer}/introspect"),
                "authorization_endpoint": format!("{issuer}/authorize"),
                "token_endpoint": format!("{issuer}/token"),
                "authorization_response_iss_parameter_supported": true});
            for (name, value) in &says.metadata {
                metadata[name] = value.clone();
            }
            ("200 OK", String::new(), metadata)
        }
        "/keys" => ("200 OK", String::new(), json!({"keys": says.keys})),
        // The name and the secret are `emend` and `se:cret`.
        "/introspect" if authorization == "Basic ZW1lbmQ6c2UlM0FjcmV0" => {
            let body = String::from_utf8_lossy(&body).into_owned();
            let token = body.split('&').find_map(|pair| pair.strip_prefix("token=")).unwrap_or_default();
            let known = says.tokens.get(token).cloned();
            ("200 OK", String::new(), known.unwrap_or_else(|| json!({"active": false})))
        }
        path if path.starts_with("/authorize?") => {
            sign_in(issuer, &fields(&path["/authorize?".len()..]), &mut says)
        }
        "/token" => exchange(&authorization, &fields(&String::from_utf8_lossy(&body)), &mut says),
        "/introspect" => ("401 Unauthorized", String::new(), json!({})),
        _ => ("404 Not Found", String::new(), json!({})),
    };
    drop(says);
    let body = body.to_string();
    let mut stream = reader.into_inner();
    let head = format!("HTTP/1.1 {status}\r\n{extra}Content-Type: application/json\r\nConnection: close\r\n");
    let _ = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
}

type Said = (&'static str, String, Value);

/// Sends somebody who signs in back with a code.
fn sign_in(issuer: &str, asked: &HashMap<String, String>, says: &mut Says) -> Said {
    let bad = |why: &str| ("400 Bad", String::new(), json!({"error": why}));
    let is = |name: &str, value: &str| asked.get(name).is_some_and(|given| given == value);
    if !is("response_type", "code") || !is("client_id", "emend") || !is("code_challenge_method", "S256") {
        return bad("invalid_request");
    }
    let (Some(redirect), Some(state)) = (asked.get("redirect_uri"), asked.get("state")) else {
        return bad("invalid_request");
    };
    let answer = match says.signs_in {
        Some(_) => {
            let code = format!("code/{}+", says.codes.len());
            says.codes.insert(code.clone(), asked.clone());
            format!("code={}", code.replace('/', "%2F").replace('+', "%2B"))
        }
        None => "error=access_denied".to_owned(),
    };
    let issuer = issuer.replace(':', "%3A").replace('/', "%2F");
    ("302 Found", format!("Location: {redirect}?{answer}&state={state}&iss={issuer}\r\n"), json!({}))
}

/// Exchanges a code for the token. The secret of the client is `se:cret`.
fn exchange(authorization: &str, form: &HashMap<String, String>, says: &mut Says) -> Said {
    let text = |name: &str| form.get(name).cloned().unwrap_or_default();
    let asked = says.codes.remove(&text("code")).unwrap_or_default();
    let challenge =
        base64(ring::digest::digest(&ring::digest::SHA256, text("code_verifier").as_bytes()).as_ref());
    let is_same = |name: &str| asked.get(name).is_some_and(|before| *before == text(name));
    let is_good = authorization == "Basic ZW1lbmQ6c2UlM0FjcmV0"
        && text("grant_type") == "authorization_code"
        && asked.get("code_challenge") == Some(&challenge)
        && is_same("redirect_uri")
        && is_same("resource");
    match says.signs_in.as_ref().filter(|_| is_good) {
        Some(token) => ("200 OK", String::new(), json!({"access_token": token, "token_type": "Bearer"})),
        None => ("400 Bad", String::new(), json!({"error": "invalid_grant"})),
    }
}

/// The fields of a form or of a query.
fn fields(text: &str) -> HashMap<String, String> {
    let plain = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let Some((first, after)) = rest.split_first() {
            let escaped =
                (*first == b'%').then(|| u8::from_str_radix(str::from_utf8(&after[..2]).unwrap(), 16));
            bytes.push(escaped.map_or(*first, Result::unwrap));
            rest = if *first == b'%' { &after[2..] } else { after };
        }
        String::from_utf8(bytes).unwrap()
    };
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (plain(name), plain(value))).collect()
}

/// Encodes bytes as tokens have them.
#[must_use]
pub fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits =
            chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            text.push(DIGITS[(bits >> (18 - 6 * place) & 63) as usize].into());
        }
    }
    text
}
