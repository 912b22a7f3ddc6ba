//! Who is let in: the checks of a request's head, from its path to the service of its principal, and of a call by its name.

use std::time::Instant;

use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};
use rmcp::ServerHandler;
use rmcp::model::JsonObject;
use serde::Deserialize;

use super::authentication::{Bearer, Unrecognised};
use super::connections::Slot;
use super::endpoint::Endpoint;
use super::principals::NoService;
use super::quota::{Allowance, Exceeded, Quota};
use super::refusals::{
    Answer, describe, insufficient, nothing_at, over_quota, refused, retry_later, unauthorized,
};
use super::service::{Admission, Admitted, Asked, HttpService};
use crate::dialects;
use crate::door::Door;
use crate::principal::{Scope, Scopes};

/// A call of a tool, as far as its name.
#[derive(Deserialize)]
struct CallHead {
    params: CallName,
}

#[derive(Deserialize)]
struct CallName {
    name: String,
}

/// A call of a tool.
#[derive(Deserialize)]
struct Call {
    params: CallParams,
}

#[derive(Deserialize)]
struct CallParams {
    name: String,
    #[serde(default)]
    arguments: JsonObject,
}

impl<H: ServerHandler + Send + Sync + 'static> HttpService<H> {
    /// Lets a request of a client in, or returns the response if the head is enough for one.
    pub(super) async fn admit(&self, head: &Parts, slot: &Slot) -> Result<Admission<H>, Box<Answer>> {
        let path = head.uri.path();
        if path == "/healthz" || path == "/readyz" {
            return Err(self.health(&head.method, path == "/readyz").into());
        }
        #[cfg(feature = "team")]
        if let Some(proof) = self.proof(head) {
            return Err(proof.into());
        }
        let protection = self.authenticator.protection();
        let described = protection.as_ref().filter(|protection| protection.is_described_at(path));
        let endpoint = Endpoint::at(path);
        if endpoint.is_none() && described.is_none() {
            return Err(nothing_at(path).into());
        }
        self.guard.check(&head.uri, &head.headers).map_err(|why| refused(StatusCode::FORBIDDEN, why))?;
        if let Some(protection) = described {
            return Err(describe(protection, &head.method).into());
        }
        let token = presented(&head.headers);
        self.let_in(Asked { endpoint, token, needs: &[Scope::Read], door: Door::Client }, head, slot).await
    }

    /// Lets in who shows a token that is good for this, or returns the refusal.
    pub(super) async fn let_in(
        &self,
        asked: Asked<'_>,
        head: &Parts,
        slot: &Slot,
    ) -> Result<Admission<H>, Box<Answer>> {
        let protection = self.authenticator.protection();
        let bearer = match asked.token {
            None => return Err(unauthorized(protection.as_ref(), None).into()),
            Some(token) => match self.authenticator.authenticate(token).await {
                Ok(bearer) => bearer,
                Err(Unrecognised::Invalid(why)) => {
                    return Err(unauthorized(protection.as_ref(), Some(why)).into());
                }
                Err(Unrecognised::Unavailable) => return Err(retry_later(UNAVAILABLE).into()),
            },
        };
        // A tenant that is another's, and one that is not there, are told in the same words.
        if !asked.endpoint.is_some_and(|endpoint| endpoint.is_for(bearer.tenant_name.as_deref())) {
            return Err(nothing_at(head.uri.path()).into());
        }
        if let Some(missing) = asked.needs.iter().find(|needed| !bearer.scopes.has(**needed)) {
            return Err(insufficient(protection.as_ref(), bearer.scopes, *missing).into());
        }
        #[cfg(feature = "team")]
        if let Some(server) = self.find_elsewhere(&bearer, head, slot).await? {
            return Ok(Admission::Elsewhere(server));
        }
        let service = match self.principals.service(&bearer, asked.door, self.authenticator.sharers()).await {
            Ok(service) => service,
            Err(NoService::Crowded) => {
                return Err(retry_later("The server has too many users at once.").into());
            }
            Err(NoService::BeingOpened) => {
                return Err(retry_later("The workspace is still being opened.").into());
            }
            Err(NoService::Nothing) => {
                let message =
                    "No workspace is set up for the bearer of this token; whoever runs the server can do so.";
                return Err(refused(StatusCode::FORBIDDEN, message.into()).into());
            }
        };
        if !slot.assign_principal(bearer.number()) {
            return Err(retry_later("This token has too many connections open.").into());
        }
        // A POST may bring the response that a running request waits for.
        if head.method != Method::POST && self.closing.is_cancelled() {
            return Err(retry_later("The server is stopping.").into());
        }
        Ok(Admission::Here(Admitted { service, bearer }))
    }

    /// Lets a call of a tool in, by its name: the client may have to get a token with another scope, and the tenant may have
    /// done enough in this minute. Neither is asked of a server for one.
    pub(super) fn admit_call(&self, bearer: &Bearer, body: &[u8]) -> Result<(), Box<Answer>> {
        let can_step_up = bearer.can_step_up && bearer.scopes != Scopes::ALL;
        if !can_step_up && bearer.quota == Quota::default() {
            return Ok(());
        }
        // What is no call is for rmcp to say.
        let Ok(call) = serde_json::from_slice::<CallHead>(body) else { return Ok(()) };
        let Some(needs) = dialects::needed_scope(&call.params.name) else { return Ok(()) };
        if can_step_up && !bearer.scopes.has(needs) {
            return Err(insufficient(self.authenticator.protection().as_ref(), bearer.scopes, needs).into());
        }
        match &bearer.tenant {
            // Who may not edit takes nothing from those who may.
            Some(tenant)
                if bearer.quota != Quota::default()
                    && bearer.scopes.has(needs)
                    && counts_as_edit(needs, body) =>
            {
                self.take_allowance(tenant, bearer.quota, body.len())
                    .map_err(|exceeded| over_quota(&exceeded).into())
            }
            _ => Ok(()),
        }
    }

    fn take_allowance(&self, tenant: &str, quota: Quota, bytes: usize) -> Result<(), Exceeded> {
        let now = Instant::now();
        let mut allowances = self.allowances.lock();
        let allowance = allowances.entry(tenant.to_owned()).or_insert_with(|| Allowance::new(quota, now));
        if allowance.quota() != quota {
            *allowance = Allowance::new(quota, now);
        }
        allowance.take(bytes, now)
    }
}

/// What is said where an authority does not answer.
pub(super) const UNAVAILABLE: &str = "The authority that issued this token does not answer.";

/// Returns whether a call of a tool that needs this scope edits. What some tools do depends on their arguments.
fn counts_as_edit(needs: Scope, body: &[u8]) -> bool {
    let may_edit = || {
        let call = serde_json::from_slice::<Call>(body);
        call.is_ok_and(|Call { params }| dialects::may_edit(&params.name, &params.arguments))
    };
    needs == Scope::Write || needs == Scope::Read && may_edit()
}

/// Returns the token that a request shows, if it shows one.
fn presented(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim()).filter(|token| !token.is_empty())
}
