//! Who shows a token to a team's server: static tokens first, then those of authorities.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::Semaphore;

use emend_oauth::{Authorities, Claims, Refusal};
use emend_server::http::{Authenticate, Authenticating, Bearer, Protection, Quota, Unrecognised};
use emend_server::principal::Scopes;

use super::configuration::{Configuration, Tenant};
use super::tenants::Tenants;

/// The number of tokens about which authorities are asked at once.
const LOOKUPS: usize = 8;
/// The time that a token waits for its turn.
const TURN: Duration = Duration::from_secs(2);
/// Among how many the room is shared out where nobody knows how many will come.
const SHARERS: usize = 64;
/// The time for which anybody may listen by one token, which may have been taken out of the settings, or revoked.
const LONGEST: Duration = Duration::from_secs(3600);
/// The characters of a subject that people see.
const SHOWN: usize = 64;

/// What knows the tokens of the current configuration.
pub(super) struct TeamAuthenticator {
    tenants: Arc<Tenants>,
    lookups: Arc<Semaphore>,
}

impl TeamAuthenticator {
    pub(super) fn new(tenants: Arc<Tenants>) -> Self {
        Self { tenants, lookups: Arc::new(Semaphore::new(LOOKUPS)) }
    }

    async fn recognise(&self, presented: &str) -> Result<Bearer, Unrecognised> {
        let configuration = self.tenants.configuration();
        if let Some(bearer) =
            configuration.tokens.as_ref().and_then(|tokens| tokens.bearer(presented.as_bytes()))
        {
            let tenant = bearer.tenant.as_deref().and_then(|tenant| configuration.named(tenant));
            let until = Some(Instant::now() + LONGEST);
            return Ok(Bearer { quota: quota(tenant.as_ref()), until, ..bearer.clone() });
        }
        let unknown = Unrecognised::Invalid("it is not known here");
        let authorities = configuration.authorities.as_ref().ok_or(unknown)?;
        let claims = match authorities.recall(presented) {
            Err(Refusal::NotKnown) => self.look_up(authorities, presented).await,
            known => known,
        };
        match claims {
            Ok(claims) => Ok(bearer(&configuration, &claims)),
            Err(Refusal::Invalid(why)) => Err(Unrecognised::Invalid(why)),
            Err(Refusal::Unavailable | Refusal::NotKnown) => Err(Unrecognised::Unavailable),
        }
    }

    /// Asks an authority, on one of the few threads that may: however many bad tokens come, edits have theirs.
    async fn look_up(&self, authorities: &Arc<Authorities>, presented: &str) -> Result<Claims, Refusal> {
        let turn = tokio::time::timeout(TURN, Arc::clone(&self.lookups).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else { return Err(Refusal::Unavailable) };
        let (authorities, presented) = (Arc::clone(authorities), presented.to_owned());
        let asked = tokio::task::spawn_blocking(move || {
            let said = authorities.check(&presented);
            // The authority is asked to the end, also where the client has hung up.
            drop(turn);
            said
        })
        .await;
        asked.unwrap_or(Err(Refusal::Unavailable))
    }
}

impl Authenticate for TeamAuthenticator {
    fn authenticate<'a>(&'a self, presented: &'a str) -> Authenticating<'a> {
        Box::pin(self.recognise(presented))
    }

    fn sharers(&self) -> usize {
        let configuration = self.tenants.configuration();
        let tokens = configuration.tokens.as_ref().map_or(0, |tokens| tokens.bearers().count());
        if configuration.authorities.is_some() { tokens + SHARERS } else { tokens }
    }

    fn protection(&self) -> Option<Protection> {
        let configuration = self.tenants.configuration();
        configuration.authorities.as_ref()?;
        let authorities = configuration.settings.authorities.iter().map(|authority| authority.issuer.clone());
        Some(Protection {
            resource: configuration.settings.resource.clone()?,
            authorities: authorities.collect(),
        })
    }
}

/// Returns what a good token says of its bearer.
fn bearer(configuration: &Configuration, claims: &Claims) -> Bearer {
    let authority =
        configuration.settings.authorities.iter().find(|authority| authority.issuer == claims.issuer);
    let claim = authority.and_then(|authority| claims.all.get(&authority.tenant_claim)?.as_str());
    let tenant = claim.and_then(|claim| configuration.claimed(&claims.issuer, claim));
    Bearer {
        key: claims.subject.key(&claims.issuer),
        name: shown(&claims.subject.to_string()),
        quota: quota(tenant.as_ref()),
        tenant_name: tenant.as_ref().map(|tenant| tenant.name.to_string()),
        tenant: tenant.map(|tenant| tenant.id),
        scopes: Scopes::parse(claims.scopes.iter().map(String::as_str)),
        can_step_up: true,
        until: Some(until(claims, authority.map_or(0, |authority| authority.leeway))),
    }
}

/// Returns when a token is looked at again at the latest, by whoever listens by it.
fn until(claims: &Claims, leeway: u64) -> Instant {
    let end = claims.expires().and_then(|end| end.checked_add(Duration::from_secs(leeway)));
    let left = end.map_or(LONGEST, |end| end.duration_since(SystemTime::now()).unwrap_or_default());
    Instant::now() + left.min(LONGEST)
}

fn quota(tenant: Option<&Tenant>) -> Quota {
    let folders = tenant.map(|tenant| &tenant.folders);
    Quota {
        edits: folders.and_then(|folders| folders.edits_per_minute),
        bytes: folders.and_then(|folders| folders.bytes_per_minute),
    }
}

/// Returns a subject as people see it: nothing in it may look like something else in a list.
fn shown(subject: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-@+:".contains(letter);
    let plain = |letter: char| if is_plain(letter) { letter } else { '_' };
    subject.chars().take(SHOWN).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use emend_oauth::Subject;

    use super::*;

    #[test]
    fn nobody_listens_for_more_than_an_hour_whatever_the_token_says() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let left = |end: serde_json::Value| {
            let all = json!({"exp": end}).as_object().cloned().unwrap();
            let (issuer, subject) = ("https://id.example".into(), Subject::Person("ann".into()));
            let claims = Claims { issuer, subject, scopes: Vec::new(), all };
            until(&claims, 60).saturating_duration_since(Instant::now()).as_secs().next_multiple_of(10)
        };
        assert_eq!([left(json!(now + 600)), left(json!(now - 100))], [660, 0]);
        for no_limit in [json!(now + 86_400), json!(u64::MAX), json!(null)] {
            assert_eq!(left(no_limit.clone()), 3_600, "{no_limit}");
        }
    }
}
