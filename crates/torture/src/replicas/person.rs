//! A person on the review page of several servers: whichever of them a request comes to, the page is the same.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use emend_testkit::http::{Http, Reply};
use serde_json::{Value, json};

/// How many requests are sent: each server gets some.
const REQUESTS: usize = 6;

/// A person who has signed in, through the proxy.
pub(super) struct Person {
    http: Http,
    origin: String,
    cookie: String,
}

impl Person {
    /// Signs in with a token.
    pub(super) fn sign_in(proxy: SocketAddr, token: &str) -> Result<Self> {
        let (http, origin) = (Http::new(proxy, ""), format!("http://{proxy}"));
        let headers = [("Origin", &*origin), ("Content-Type", "application/x-www-form-urlencoded")];
        let form = format!("token={token}");
        let reply = http.send("POST /review/sign-in", &headers, form.as_bytes()).finish();
        let set = reply.header("set-cookie").with_context(|| reply.text())?;
        let cookie = set.split(';').next().unwrap_or_default().to_owned();
        Ok(Self { http, origin, cookie })
    }

    fn call(&self, page: &str, name: &str, arguments: &Value) -> Reply {
        let headers =
            [("Origin", &*self.origin), ("Cookie", &*self.cookie), ("Content-Type", "application/json")];
        let body = json!({"name": name, "arguments": arguments}).to_string();
        self.http.send(&format!("POST {page}/call"), &headers, body.as_bytes()).finish()
    }

    /// Looks at the edits of their tenant through every server, and finds nothing of another one.
    pub(super) fn look(&self, tenant: &str, other: &str) -> Result<()> {
        let mut first = None;
        for page in ["/review".to_owned(), format!("/w/{tenant}/review")].iter().cycle().take(REQUESTS) {
            let reply = self.call(page, "review", &json!({}));
            ensure!(reply.status == 200, "{tenant}, {page}: {} {}", reply.status, reply.text());
            let list: Value = serde_json::from_slice(&reply.body)?;
            let entries = list["structuredContent"]["entries"].clone();
            let titles = entries.as_array().context("there are edits")?.iter().map(|entry| &entry["title"]);
            let is_own =
                |title: &Value| title.as_str().is_some_and(|title| title.contains(&format!("({tenant}")));
            ensure!(titles.clone().count() > 0 && titles.clone().all(is_own), "{tenant}: {entries}");
            let first = first.get_or_insert_with(|| entries.clone());
            ensure!(*first == entries, "{tenant}: two servers show other edits: {first} {entries}");
            let elsewhere = self.call(&format!("/w/{other}/review"), "review", &json!({})).status;
            ensure!(elsewhere == 404, "{tenant} gets {elsewhere} at the page of {other}");
        }
        Ok(())
    }
}
