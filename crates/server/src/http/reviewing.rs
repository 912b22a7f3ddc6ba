//! What the HTTP service does for the review page: it signs people in and out, shows them the page, and makes its calls as those
//! of MCP.

use std::borrow::Cow;
use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use http::header::{
    ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue, LOCATION, ORIGIN, RETRY_AFTER, SET_COOKIE,
};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Collected, Limited};
use hyper::body::Incoming;
use percent_encoding::percent_decode_str;
use rmcp::ServerHandler;
use serde_json::{Value, json};

use super::ENDPOINT;
use super::admission::UNAVAILABLE;
use super::authentication::{Bearer, Unrecognised};
use super::connections::Slot;
use super::intake::{self, TakenBody};
use super::refusals::{Answer, Words};
use super::review::cookies::{self, Purpose, Turn};
use super::review::{CameBack, Review, ReviewPath, Step, Ways, pages};
use super::service::{Admission, Admitted, Asked, HttpService};
use crate::door::Door;
use crate::page_answers::{self, PageCall, is_only, refusal, response};
use crate::principal::{Scope, Scopes};
use crate::review_page::{self, Asker};

/// The name of the page in the history.
const CLIENT: &str = "emend review";
/// The scopes without which nothing of the page is shown.
const NEEDS: [Scope; 2] = [Scope::Read, Scope::Approve];
/// The header in which a browser says from where a request comes.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
/// The most bytes of a form, and the time in which it has to arrive.
const FORM: usize = 64 * 1024;
const ARRIVAL: Duration = Duration::from_secs(10);
/// The version of MCP in which the page's calls are made: without a session.
const VERSION: &str = "2026-07-28";

/// How many sign-ins a browser is at, until those before are forgotten.
const SIGNING_IN: usize = 8;

/// What is said to a page whose person is not known any more.
const SIGNED_OUT: &str = "You are signed out. Load this page again to sign in.";
const COOKIES: &str = "Your browser has sent no cookie of this sign-in, or it took too long. Allow cookies here, and try again.";

/// A request of the page, and how browsers reach it.
struct Visit<'a> {
    review: &'a Review,
    at: ReviewPath,
    head: Parts,
    is_secure: bool,
}

impl<H: ServerHandler + Send + Sync + 'static> HttpService<H> {
    /// Returns what the review page needs, and its origin, if there is one.
    pub(super) fn review(&self) -> Option<(&Review, String)> {
        let review = self.review.get()?;
        Some((review, review.sign_in.origin()?))
    }

    /// Answers a request of the page.
    pub(super) async fn answer_review(
        &self,
        review: &Review,
        origin: &str,
        at: ReviewPath,
        head: Parts,
        mut body: Incoming,
        slot: &Slot,
    ) -> Answer {
        let visit = Visit { review, at, head, is_secure: origin.starts_with("https://") };
        let answer = match self.check(&visit, origin) {
            Err(refusal) => *refusal,
            Ok(()) => match visit.at.step {
                Step::Page | Step::Call => return self.visit(visit, body, slot).await,
                Step::SignIn if visit.head.method == Method::POST => {
                    match token_in(Limited::new(&mut body, FORM)).await {
                        Some(token) => self.accept_pasted(&visit, &token).await,
                        None => pages::refusal(
                            &visit.at.page,
                            StatusCode::BAD_REQUEST,
                            "There is no token in this form.",
                            false,
                        ),
                    }
                }
                Step::SignIn => self.begin(&visit).await,
                Step::SignedIn => self.come_back(&visit).await,
                Step::SignOut => visit.signed_out(),
            },
        };
        let _ = tokio::time::timeout(self.limits.rest, intake::discard(&mut body)).await;
        sent(answer)
    }

    /// Checks from where a request comes.
    fn check(&self, visit: &Visit<'_>, origin: &str) -> Result<(), Box<page_answers::Answer>> {
        let Visit { head, at, .. } = visit;
        self.guard
            .check_hosts(&head.uri, &head.headers)
            .map_err(|why| refusal(StatusCode::FORBIDDEN, &why))?;
        let changes = head.method == Method::POST;
        let is_own = match head.headers.contains_key(&ORIGIN) {
            true => is_only(&head.headers, &ORIGIN, origin),
            false => !changes,
        };
        let is_of_page = !head.headers.contains_key(&SITE) || is_only(&head.headers, &SITE, "same-origin");
        if !is_own || (changes && !is_of_page) {
            return Err(refusal(StatusCode::FORBIDDEN, "Only the page itself calls this.").into());
        }
        let fits = match at.step {
            Step::Page | Step::SignedIn => head.method == Method::GET,
            Step::SignIn => head.method == Method::GET || changes,
            Step::Call => changes && is_only(&head.headers, &CONTENT_TYPE, "application/json"),
            Step::SignOut => changes,
        };
        match fits {
            true => Ok(()),
            false => {
                let why = "The page does not ask for this in this way.";
                Err(refusal(StatusCode::METHOD_NOT_ALLOWED, why).into())
            }
        }
    }

    /// Shows the page to who has signed in, or makes a call for it.
    async fn visit(&self, visit: Visit<'_>, mut body: Incoming, slot: &Slot) -> Answer {
        let token = visit.review.key.read(Purpose::Session, &visit.head.headers, visit.is_secure);
        let asked = Asked {
            endpoint: Some(visit.at.endpoint.clone()),
            token: token.as_deref(),
            needs: &NEEDS,
            door: Door::Person,
        };
        let answer = match self.let_in(asked, &visit.head, slot).await {
            Ok(Admission::Elsewhere(server)) => {
                let (step, page) = (visit.at.step, visit.at.page.clone());
                return told(step, &page, self.hand_on(server, visit.head, body).await);
            }
            Ok(Admission::Here(admitted)) if visit.at.step == Step::Call => {
                return told(Step::Call, &visit.at.page, self.call_of_page(&admitted, body).await);
            }
            Ok(Admission::Here(Admitted { bearer, .. })) => {
                let asker = Asker::SignedIn { name: &bearer.name, scopes: bearer.scopes };
                sent(pages::review(&asker))
            }
            Err(refused) if refused.status() == StatusCode::UNAUTHORIZED => match visit.at.step {
                Step::Call => sent(refusal(StatusCode::UNAUTHORIZED, SIGNED_OUT)),
                _ => sent(self.sign_in(&visit).await),
            },
            Err(refused) => told(visit.at.step, &visit.at.page, *refused),
        };
        let _ = tokio::time::timeout(self.limits.rest, intake::discard(&mut body)).await;
        answer
    }

    /// Makes a call of the page, as one of MCP.
    async fn call_of_page(&self, admitted: &Admitted<H>, body: Incoming) -> Answer {
        let TakenBody { bytes, counted } = match self.take(&admitted.service, body).await {
            Ok(_) if self.has_moved(&admitted.bearer) => {
                return sent(refusal(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "Another server shows this now. Try again.",
                ));
            }
            Ok(taken) => taken,
            Err(refusal) => return *refusal,
        };
        let PageCall { name, arguments } = match PageCall::read(&bytes) {
            Ok(call) => call,
            Err(refusal) => return sent(*refusal),
        };
        let Some(head) = head_of_call(&name, admitted.bearer.scopes) else {
            return sent(refusal(StatusCode::INTERNAL_SERVER_ERROR, "The call could not be made."));
        };
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": name,
            "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": VERSION,
                "io.modelcontextprotocol/clientCapabilities": {"extensions": review_page::declaration()},
                "io.modelcontextprotocol/clientInfo": {"name": CLIENT, "version": env!("CARGO_PKG_VERSION")},
            },
        }});
        let body = TakenBody { bytes: message.to_string().into(), counted };
        let answer = self.answer_message(admitted, head, body).await;
        if answer.extensions().get::<Words>().is_some() {
            return answer;
        }
        let body = answer.into_body().collect().await.map(Collected::to_bytes).unwrap_or_default();
        let Ok(mut said) = serde_json::from_slice::<Value>(&body) else {
            return sent(refusal(StatusCode::BAD_GATEWAY, "The server gave no answer."));
        };
        let result = match said.get_mut("result") {
            Some(result) => result.take(),
            None => {
                let text = said["error"]["message"].as_str().unwrap_or("The server gave no answer.");
                json!({"isError": true, "content": [{"type": "text", "text": text}]})
            }
        };
        sent(response(StatusCode::OK, "application/json", result.to_string()))
    }

    /// Lets somebody sign in who is not known.
    async fn sign_in(&self, visit: &Visit<'_>) -> page_answers::Answer {
        // Who comes from another site may have signed in all the same.
        if is_only(&visit.head.headers, &SITE, "cross-site") {
            return pages::lead_to(&visit.at.page);
        }
        let ways = visit.review.sign_in.ways();
        match ways.by_token {
            true => pages::sign_in(&visit.at.page, ways, StatusCode::OK, ""),
            false => self.begin(visit).await,
        }
    }

    /// Sends a person to the authority.
    async fn begin(&self, visit: &Visit<'_>) -> page_answers::Answer {
        let (review, page) = (visit.review, &visit.at.page);
        let ways = review.sign_in.ways();
        if !ways.by_authority {
            return pages::sign_in(page, ways, StatusCode::OK, "");
        }
        let begun = match review.sign_in.begin().await {
            Ok(begun) => begun,
            Err(why) => return pages::sign_in(page, ways, StatusCode::SERVICE_UNAVAILABLE, &why),
        };
        let kept = format!("{} {} {} {page}", begun.state, begun.verifier, begun.issuer);
        let turn = Purpose::SigningIn(Turn::of(&begun.state));
        let cookie = review.key.set(turn, &kept, visit.is_secure);
        let (Some(mut cookie), Ok(address)) = (cookie, HeaderValue::try_from(begun.address)) else {
            let why = "The authority cannot be asked.";
            return pages::sign_in(page, ways, StatusCode::INTERNAL_SERVER_ERROR, why);
        };
        let others = cookies::signing_in(&visit.head.headers, visit.is_secure);
        if others.len() >= SIGNING_IN {
            cookie.extend(others.into_iter().flat_map(|other| cookies::removed(other, visit.is_secure)));
        }
        let mut answer = response(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", String::new());
        answer.headers_mut().insert(LOCATION, address);
        with_cookies(answer, cookie)
    }

    /// Takes what a person comes back with from the authority.
    async fn come_back(&self, visit: &Visit<'_>) -> page_answers::Answer {
        let Visit { review, head, is_secure, .. } = visit;
        let fields = fields(head.uri.query().unwrap_or_default()).unwrap_or_default();
        let given = fields.get("state").map(String::as_str).unwrap_or_default();
        let turn = Purpose::SigningIn(Turn::of(given));
        let kept = review.key.read(turn, &head.headers, *is_secure).unwrap_or_default();
        let parts: Vec<&str> = kept.splitn(4, ' ').collect();
        let [state, verifier, asked, page] = parts[..] else {
            return pages::refusal(&visit.at.page, StatusCode::BAD_REQUEST, COOKIES, false);
        };
        // Another's code would have this person decide as somebody else.
        if blake3::hash(given.as_bytes()) != blake3::hash(state.as_bytes()) {
            return pages::refusal(page, StatusCode::BAD_REQUEST, COOKIES, false);
        }
        let answer = match (fields.get("code"), fields.get("error")) {
            (Some(code), None) => {
                let issuer = fields.get("iss").cloned();
                let (code, asked, verifier) = (code.clone(), asked.to_owned(), verifier.to_owned());
                let came_back = CameBack { code, asked, issuer, verifier };
                match review.sign_in.finish(came_back).await {
                    Ok(token) => self.accept(visit, page, &token, |_, _| true).await,
                    Err(why) => pages::refusal(page, StatusCode::FORBIDDEN, &why, false),
                }
            }
            (_, Some(error)) => {
                let error: String = error.chars().filter(char::is_ascii_graphic).take(64).collect();
                let why = format!("The authority has not signed you in: {error}.");
                pages::refusal(page, StatusCode::FORBIDDEN, &why, false)
            }
            (None, None) => {
                let why = "The authority has sent you back without a code.";
                pages::refusal(page, StatusCode::BAD_REQUEST, why, false)
            }
        };
        with_cookies(answer, cookies::removed(turn, *is_secure))
    }

    /// Lets somebody in who has a token. Where people sign in with the authority, none of its tokens: a client has one, and could
    /// say yes to its own edits.
    async fn accept_pasted(&self, visit: &Visit<'_>, token: &str) -> page_answers::Answer {
        self.accept(visit, &visit.at.page, token, |ways, bearer| match ways {
            Ways { by_token: true, by_authority: false } => true,
            Ways { by_token: true, by_authority: true } => !bearer.can_step_up,
            Ways { by_token: false, .. } => false,
        })
        .await
    }

    /// Gives who shows a good token, of a kind that is taken, the cookie, and leads them to the page. The token is looked at once:
    /// what is said of it the next time may be something else.
    async fn accept(
        &self,
        visit: &Visit<'_>,
        page: &str,
        token: &str,
        is_taken: impl FnOnce(Ways, &Bearer) -> bool,
    ) -> page_answers::Answer {
        let (review, ways) = (visit.review, visit.review.sign_in.ways());
        let refused = |status, why: &str| pages::sign_in(page, ways, status, why);
        let bearer = match self.authenticator.authenticate(token).await {
            Ok(bearer) => bearer,
            Err(Unrecognised::Invalid(why)) => {
                return refused(StatusCode::FORBIDDEN, &format!("This token is no good: {why}."));
            }
            Err(Unrecognised::Unavailable) => return refused(StatusCode::SERVICE_UNAVAILABLE, UNAVAILABLE),
        };
        if !is_taken(ways, &bearer) {
            let why = "Sign in with the authority: a token of it is not taken here.";
            return refused(StatusCode::FORBIDDEN, why);
        }
        if let Some(missing) = NEEDS.iter().find(|scope| !bearer.scopes.has(**scope)) {
            let why = format!(
                "To review edits needs the scope {}, which you do not have here. Ask whoever gives people their scopes.",
                missing.as_str()
            );
            return refused(StatusCode::FORBIDDEN, &why);
        }
        match review.key.set(Purpose::Session, token, visit.is_secure) {
            Some(cookie) => with_cookies(pages::lead_to(page), cookie),
            None => {
                let why = format!("Your token has {} bytes, too many for cookies.", token.len());
                refused(StatusCode::FORBIDDEN, &why)
            }
        }
    }
}

impl Visit<'_> {
    fn signed_out(&self) -> page_answers::Answer {
        let removed = cookies::signing_in(&self.head.headers, self.is_secure)
            .into_iter()
            .chain([Purpose::Session])
            .flat_map(|purpose| cookies::removed(purpose, self.is_secure));
        with_cookies(pages::signed_out(&self.at.page), removed.collect())
    }
}

/// Returns the head of a call of a tool.
fn head_of_call(tool: &str, scopes: Scopes) -> Option<Parts> {
    let request = Request::builder()
        .method(Method::POST)
        .uri(ENDPOINT)
        .header(HOST, "localhost")
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", VERSION)
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool);
    let (mut head, ()) = request.body(()).ok()?.into_parts();
    // The handler looks here for what this very request may do.
    head.extensions.insert(scopes);
    Some(head)
}

/// Returns a refusal in the form in which a person sees it, and any other answer as it is.
fn told(step: Step, page: &str, answer: Answer) -> Answer {
    let Some(Words(why)) = answer.extensions().get::<Words>().cloned() else { return answer };
    let mut shown = match step {
        Step::Page => pages::refusal(page, answer.status(), &why, true),
        _ => refusal(answer.status(), &why),
    };
    if let Some(after) = answer.headers().get(RETRY_AFTER) {
        shown.headers_mut().insert(RETRY_AFTER, after.clone());
    }
    sent(shown)
}

fn sent(answer: page_answers::Answer) -> Answer {
    answer.map(|body| body.map_err(|never| match never {}).boxed())
}

fn with_cookies(mut answer: page_answers::Answer, cookies: Vec<HeaderValue>) -> page_answers::Answer {
    for cookie in cookies {
        answer.headers_mut().append(SET_COOKIE, cookie);
    }
    answer
}

/// Returns the token in a form.
async fn token_in(body: Limited<&mut Incoming>) -> Option<String> {
    let body = tokio::time::timeout(ARRIVAL, body.collect()).await.ok()?.ok()?;
    let bytes: Bytes = body.to_bytes();
    let token = fields(std::str::from_utf8(&bytes).ok()?)?.remove("token")?;
    let token = token.trim();
    let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
    (is_plain && !token.is_empty()).then(|| token.to_owned())
}

/// Returns the fields of a form or of a query; `None` if one is there twice, since nobody can say which is meant.
fn fields(text: &str) -> Option<HashMap<String, String>> {
    let mut fields = HashMap::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let plain =
            |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8().ok().map(Cow::into_owned);
        if fields.insert(plain(name)?, plain(value)?).is_some() {
            return None;
        }
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_there_twice_is_not_chosen_from() {
        let read = |text| fields(text).map(|fields| fields.get("a").cloned().unwrap_or_default());
        assert_eq!(read("a=1+%2B%20&b"), Some("1 + ".into()));
        assert_eq!(read("x=1"), Some(String::new()));
        assert_eq!(read("a=1&a=1"), None);
        assert_eq!(read("a=%ff"), None);
    }
}
