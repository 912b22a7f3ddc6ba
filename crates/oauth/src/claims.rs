//! What a good token says, and why another is refused.

use std::fmt;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};

/// What a good token says.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    /// The authority that has issued it.
    pub issuer: String,
    /// Whom it was issued for.
    pub subject: Subject,
    /// The scopes.
    pub scopes: Vec<String>,
    /// Everything that it says.
    pub all: Map<String, Value>,
}

/// Whom a token was issued for. A person and a client of the same name are two subjects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A person.
    Person(String),
    /// A client that acts for itself.
    Client(String),
}

impl Subject {
    /// Returns a text that tells the subject from every other one, of this issuer and of others.
    #[must_use]
    pub fn key(&self, issuer: &str) -> String {
        match self {
            Self::Person(name) => format!("subject {name:?} of {issuer}"),
            Self::Client(name) => format!("client {name:?} of {issuer}"),
        }
    }
}

/// Shows the name, and of a client that it is one.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person(name) => f.write_str(name),
            Self::Client(name) => write!(f, "client {name}"),
        }
    }
}

/// The form in which a token says for whom it was issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A JWT: RFC 9068 requires a subject, and has a client for itself repeat its own id there.
    Jwt,
    /// What the authority says of an opaque token: by RFC 7662 a client for itself may have no subject.
    Opaque,
}

/// Why a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is no good, for a reason that its bearer may know.
    Invalid(&'static str),
    /// The authority does not answer, so that it is not known.
    Unavailable,
    /// The authority would have to be asked, and this was not to be done.
    NotKnown,
}

impl Claims {
    /// Reads the claims of a token of this issuer that was found good.
    pub(crate) fn read(issuer: &str, form: Form, all: Map<String, Value>) -> Result<Self, Refusal> {
        let text = |name: &str| all.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let is_without_person = !all.contains_key("sub") && !all.contains_key("username");
        let subject = match (text("sub"), text("client_id")) {
            (Some(subject), client) if client == Some(subject) => Subject::Client(subject.to_owned()),
            (Some(subject), _) => Subject::Person(subject.to_owned()),
            (None, Some(client)) if form == Form::Opaque && is_without_person => {
                Subject::Client(client.to_owned())
            }
            (None, _) => return Err(Refusal::Invalid("it does not say for whom it was issued")),
        };
        let scopes = scopes_in(&all);
        Ok(Self { issuer: issuer.to_owned(), subject, scopes, all })
    }

    /// Returns when the token expires, if it says so.
    #[must_use]
    pub fn expires(&self) -> Option<SystemTime> {
        let end = self.all.get("exp")?;
        let seconds = end.as_u64().or_else(|| end.as_f64().map(|end| end as u64))?;
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
    }
}

/// Returns the scopes: as RFC 9068 has them, or as a list, as some authorities do.
fn scopes_in(all: &Map<String, Value>) -> Vec<String> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    match all.get("scope").or_else(|| all.get("scp")) {
        Some(Value::String(text)) => words(text),
        Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(all: &Value) -> Result<Claims, Refusal> {
        read_as(Form::Jwt, all)
    }

    fn read_as(form: Form, all: &Value) -> Result<Claims, Refusal> {
        Claims::read("https://id.example", form, all.as_object().cloned().unwrap_or_default())
    }

    #[test]
    fn scopes_are_words_or_a_list() {
        for scopes in [json!({"scope": "a b"}), json!({"scp": ["a", "b"]}), json!({"scp": "a b"})] {
            let mut all = scopes;
            all["sub"] = "ann".into();
            assert_eq!(read(&all).map(|claims| claims.scopes), Ok(vec!["a".to_owned(), "b".to_owned()]));
        }
        assert_eq!(read(&json!({"sub": "ann", "scope": 5})).map(|claims| claims.scopes), Ok(Vec::new()));
    }

    #[test]
    fn a_token_may_say_when_it_expires() {
        for (end, seconds) in
            [(json!(90), Some(90)), (json!(90.5), Some(90)), (json!("90"), None), (json!(null), None)]
        {
            let claims = read(&json!({"sub": "ann", "exp": end})).unwrap();
            let seconds = seconds.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
            assert_eq!(claims.expires(), seconds, "{end}");
        }
    }

    #[test]
    fn a_client_for_itself_is_no_person_of_the_same_name() {
        let subject = |form, all: &Value| read_as(form, all).map(|claims| claims.subject);
        let (person, client) =
            (|name: &str| Ok(Subject::Person(name.into())), |name: &str| Ok(Subject::Client(name.into())));
        for form in [Form::Jwt, Form::Opaque] {
            assert_eq!(subject(form, &json!({"sub": "ann", "client_id": "x"})), person("ann"));
            assert_eq!(subject(form, &json!({"sub": "client ann"})), person("client ann"));
            assert_eq!(subject(form, &json!({"sub": "ann", "client_id": "ann"})), client("ann"));
            for nobody in [
                json!({}),
                json!({"sub": "", "client_id": "ann"}),
                json!({"sub": 5, "client_id": "ann"}),
                json!({"sub": null, "client_id": "ann"}),
                json!({"client_id": 5}),
                json!({"client_id": ""}),
                json!({"client_id": "ann", "username": "ann"}),
            ] {
                assert!(matches!(subject(form, &nobody), Err(Refusal::Invalid(_))), "{nobody}");
            }
        }
        assert_eq!(subject(Form::Opaque, &json!({"client_id": "ann"})), client("ann"));
        assert!(matches!(subject(Form::Jwt, &json!({"client_id": "ann"})), Err(Refusal::Invalid(_))));
        let names = [
            Subject::Person("ann".into()),
            Subject::Client("ann".into()),
            Subject::Person("client ann".into()),
        ];
        let keys: std::collections::BTreeSet<String> =
            names.iter().map(|one| one.key("https://id.example")).collect();
        assert_eq!(keys.len(), names.len());
    }
}
