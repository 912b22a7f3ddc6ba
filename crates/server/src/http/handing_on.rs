//! What the HTTP service does as one of several: it hands requests on to the server of their workspace, and leaves its own
//! workspaces to the others when it ends.

use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::request::Parts;
use http::{Method, Response, StatusCode};
use hyper::body::Incoming;
use rmcp::ServerHandler;
use tokio::task::JoinSet;

use super::authentication::Bearer;
use super::connections::Slot;
use super::placement::{self, Elsewhere, Found, PATIENCE, asks_for_proof, was_handed_on};
use super::refusals::{Answer, refused, retry_later, whole};
use super::service::HttpService;
use super::stream_end::end_when;

impl<H: ServerHandler + Send + Sync + 'static> HttpService<H> {
    /// Finds the server to which a request is to be handed on; `None` if its workspace is served here.
    pub(super) async fn find_elsewhere(
        &self,
        bearer: &Bearer,
        head: &Parts,
        slot: &Slot,
    ) -> Result<Option<Elsewhere>, Box<Answer>> {
        let tenant = bearer.tenant.as_deref();
        let Some(placement) = self.others.placement.get().filter(|placement| !placement.is_here(tenant))
        else {
            return Ok(None);
        };
        if was_handed_on(&head.headers) {
            return Err(retry_later("This workspace is not served here any more.").into());
        }
        // While its place is looked for, the connection is its principal's.
        if !slot.assign_principal(bearer.number()) {
            return Err(retry_later("This token has too many connections open.").into());
        }
        // One that ends takes no workspace any more, and waits for none.
        let patience = if self.closing.is_cancelled() { Duration::ZERO } else { PATIENCE };
        match placement::find(placement, tenant, patience).await {
            Some(Found::Here) => Ok(None),
            Some(Found::Elsewhere(server)) => Ok(Some(Elsewhere { server, tenant: bearer.tenant.clone() })),
            None => Err(retry_later("The server of this workspace cannot be reached now.").into()),
        }
    }

    /// Returns the proof that this is one of several servers, if a request asks for it.
    pub(super) fn proof(&self, head: &Parts) -> Option<Answer> {
        let placement = self.others.placement.get()?;
        Some(Response::new(whole(placement.prove(asks_for_proof(head)?))))
    }

    /// Returns whether the workspace of a bearer is served elsewhere by now: a request may have taken long to arrive, or lain in
    /// the connection of a server that was paused.
    pub(super) fn has_moved(&self, bearer: &Bearer) -> bool {
        self.others.placement.get().is_some_and(|placement| !placement.is_here(bearer.tenant.as_deref()))
    }

    /// Hands a request on to the server that serves its workspace.
    pub(super) async fn hand_on(
        &self,
        Elsewhere { server, tenant }: Elsewhere,
        head: Parts,
        body: Incoming,
    ) -> Answer {
        let listens = head.headers.get("mcp-method").is_some_and(|method| method == "subscriptions/listen");
        let is_stream = head.method == Method::GET || listens;
        let room = if is_stream { &self.others.streams } else { &self.others.handed_on };
        let Some(place) = room.take(tenant.as_deref()) else {
            return retry_later("Too many requests are being handed on.");
        };
        self.others.count.fetch_add(1, Ordering::Relaxed);
        let closed = self.principals.closed();
        let answer = tokio::select! {
            answer = server.forward(head, body) => answer,
            () = closed.clone().cancelled_owned() => Err(io::Error::other("this server is told to end")),
        };
        match answer {
            Ok(answer) => {
                let end = async move {
                    closed.cancelled_owned().await;
                    // It is there as long as the answer is.
                    drop(place);
                };
                answer.map(|body| end_when(body, end))
            }
            Err(error) => {
                tracing::debug!(%error, "a request was handed on and not answered");
                refused(
                    StatusCode::BAD_GATEWAY,
                    "The server of this workspace ended, or hangs, before it answered. Another takes its place. If this was \
                     an edit, send the same call again: it is made once."
                        .into(),
                )
            }
        }
    }

    /// Lets other servers have each workspace as soon as what has begun in it is answered, and waits for what was handed on.
    pub(super) async fn leave_to_others(&self) {
        let Some(placement) = self.others.placement.get() else { return };
        let (mut left, mut answered) = (BTreeSet::new(), JoinSet::new());
        for (tenant, services) in self.principals.by_tenant() {
            left.insert(tenant.clone());
            let limits = self.limits;
            answered.spawn(async move {
                for service in services {
                    service.answered(&limits).await;
                }
                tenant
            });
        }
        loop {
            placement.keep_only(&left).await;
            match answered.join_next().await {
                Some(Ok(tenant)) => drop(left.remove(&tenant)),
                Some(Err(_)) => {}
                None => break,
            }
        }
        self.others.handed_on.emptied().await;
    }
}
