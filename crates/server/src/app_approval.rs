//! Secrets by which a person approves an edit on the review page of a client.
//!
//! A client cannot tell a call of its page from one of its model, and some show a model all that they get. So a secret goes
//! only to clients that the user has named, in the `_meta` of the refusal alone, which their pages get and their models do not.
//! It is for one waiting edit, whose id stands for exactly its bytes, and is good once and for a limited time. Only its hash is
//! kept, in memory.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use emend_threads::Mutex;
use rmcp::model::MetaObject;
use serde_json::{Value, json};

/// The time for which a secret is good.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// The most secrets at once.
const SECRETS: usize = 1_000;
/// The field of `_meta`.
const FIELD: &str = "emend/approval";

/// The secrets that are good, as hashes, with the id of the edit that each is for.
#[derive(Debug)]
pub struct AppApproval {
    patience: Duration,
    good: Mutex<HashMap<blake3::Hash, (String, Instant)>>,
}

impl Default for AppApproval {
    fn default() -> Self {
        Self { patience: PATIENCE, good: Mutex::default() }
    }
}

impl AppApproval {
    /// Makes a secret for the edit that waits under this id; `None` if there is no randomness, or too many wait.
    fn issue(&self, id: &str) -> Option<String> {
        let mut random = [0u8; 16];
        getrandom::fill(&mut random).ok()?;
        let mut secret = String::new();
        for byte in random {
            let _ = write!(secret, "{byte:02x}");
        }
        let mut good = self.good.lock();
        good.retain(|_, (_, born)| born.elapsed() < self.patience);
        if good.len() >= SECRETS {
            return None;
        }
        good.insert(blake3::hash(secret.as_bytes()), (id.to_owned(), Instant::now()));
        Some(secret)
    }

    /// Uses a secret up. Returns whether it was good for the edit that waits under this id.
    pub(crate) fn take(&self, secret: &str, id: &str) -> bool {
        let mut good = self.good.lock();
        good.retain(|_, (_, born)| born.elapsed() < self.patience);
        // A secret that is shown for another edit is not good for its own any more.
        good.remove(&blake3::hash(secret.as_bytes())).is_some_and(|(of, _)| of == id.to_ascii_lowercase())
    }

    /// Returns what the page of a client gets with the refusal of an edit that waits under this id: a secret only if a person
    /// may approve it there.
    pub(crate) fn meta(&self, id: &str, with_secret: bool) -> MetaObject {
        let secret = if with_secret { self.issue(id) } else { None };
        let mut fields = json!({ "id": id });
        if let (Some(secret), Value::Object(fields)) = (secret, &mut fields) {
            fields.insert("secret".into(), secret.into());
        }
        let mut meta = MetaObject::default();
        meta.0.insert(FIELD.into(), fields);
        meta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_good_once_for_one_edit_and_for_a_time() {
        let approval = AppApproval::default();
        let (one, other) = (approval.issue("a1").unwrap(), approval.issue("b2").unwrap());
        assert_ne!(one, other);
        assert!(!approval.take("", "a1") && !approval.take("guess", "a1"));
        assert!(approval.take(&one, "a1"));
        assert!(!approval.take(&one, "a1"), "it is used up");
        assert!(!approval.take(&other, "a1"), "it is for another edit");
        assert!(!approval.take(&other, "b2"), "whoever shows it for another edit has used it up");
        let approval = AppApproval { patience: Duration::ZERO, ..approval };
        let late = approval.issue("a1").unwrap();
        assert!(!approval.take(&late, "a1"), "it is too old");
    }

    #[test]
    fn a_page_whose_client_is_not_named_gets_no_secret() {
        let approval = AppApproval::default();
        assert_eq!(Value::Object(approval.meta("a1", false).0), json!({"emend/approval": {"id": "a1"}}));
        assert!(approval.good.lock().is_empty());
        let meta = approval.meta("a1", true);
        let secret = meta.0[FIELD]["secret"].as_str().unwrap();
        assert!(approval.take(secret, "A1"));
    }
}
