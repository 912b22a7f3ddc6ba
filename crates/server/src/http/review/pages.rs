//! What a person sees beside the review page itself: the ways to sign in, and why something is not shown.

use http::StatusCode;
use http::header::REFERRER_POLICY;

use super::Ways;
use crate::page_answers::{self, Answer, document, insert};
use crate::review_page::{Asker, escaped};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:36em;margin:4em auto;padding:0 1em;color-scheme:light dark}\
    input{font:inherit;width:100%;box-sizing:border-box;margin:.3em 0}button{font:inherit}";

/// Returns the review page for somebody who has signed in.
pub(in crate::http) fn review(asker: &Asker<'_>) -> Answer {
    with_own_referrer(page_answers::page(asker))
}

/// Returns the ways to sign in to the page at `base`, and why there is something wrong with the last try.
pub(in crate::http) fn sign_in(base: &str, ways: Ways, status: StatusCode, why: &str) -> Answer {
    let base = escaped(base);
    let why = if why.is_empty() { String::new() } else { format!("<p role=\"alert\">{}</p>", escaped(why)) };
    let authority = match ways.by_authority {
        true => format!("<p><a href=\"{base}/sign-in\">Sign in</a></p>"),
        false => String::new(),
    };
    let token = match ways.by_token {
        true => format!(
            "<form method=\"post\" action=\"{base}/sign-in\"><label>Your token <input type=\"password\" name=\"token\" \
             autocomplete=\"off\" spellcheck=\"false\" required></label><button type=\"submit\">Sign in</button></form>"
        ),
        false => String::new(),
    };
    page(status, "Sign in to review edits", &format!("{why}{authority}{token}"))
}

/// Returns a page that leads to the review page by itself. A browser does not send the cookie to where another site has led
/// it, and does to where this page leads it.
pub(in crate::http) fn lead_to(base: &str) -> Answer {
    let base = escaped(base);
    let head = format!("<meta http-equiv=\"refresh\" content=\"0;url={base}\">");
    let body = format!("<p><a href=\"{base}\">Go on</a></p>");
    page_with(StatusCode::OK, "Review edits", &head, &body)
}

/// Returns a page that says why the review page at `base` is not shown. Who has signed in can sign out.
pub(in crate::http) fn refusal(base: &str, status: StatusCode, why: &str, has_signed_in: bool) -> Answer {
    let base = escaped(base);
    let way = match has_signed_in {
        true => format!(
            "<form method=\"post\" action=\"{base}/sign-out\"><button type=\"submit\">Sign out</button></form>"
        ),
        false => format!("<p><a href=\"{base}\">Try again</a></p>"),
    };
    page(status, "Review edits", &format!("<p role=\"alert\">{}</p>{way}", escaped(why)))
}

/// Returns a page that says that somebody has signed out.
pub(in crate::http) fn signed_out(base: &str) -> Answer {
    let base = escaped(base);
    page(StatusCode::OK, "You are signed out", &format!("<p><a href=\"{base}\">Sign in again</a></p>"))
}

fn page(status: StatusCode, title: &str, body: &str) -> Answer {
    page_with(status, title, "", body)
}

fn page_with(status: StatusCode, title: &str, head: &str, body: &str) -> Answer {
    let mut answer = document("'self'", "", |nonce| {
        format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
             content=\"width=device-width\">{head}<title>{title}</title><style nonce=\"{nonce}\">{STYLE}</style></head><body><main>\
             <h1>{title}</h1>{body}</main></body></html>"
        )
    });
    if answer.status() == StatusCode::OK {
        *answer.status_mut() = status;
    }
    with_own_referrer(answer)
}

/// Returns the page, whose forms say from where they come. Where no referrer is sent at all, their origin is none either.
fn with_own_referrer(mut answer: Answer) -> Answer {
    insert(&mut answer, REFERRER_POLICY, "same-origin");
    answer
}
