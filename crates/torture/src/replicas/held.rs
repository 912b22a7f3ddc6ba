//! What a client was shown and asked before its server went, and what becomes of it with the next one: a session with a
//! reading and a subscription, a preview, and a question that waits for a person's yes.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use emend_testkit::http::{Http, Reply};
use serde_json::{Value, json};

use super::PATIENCE;
use super::cluster::Cluster;
use super::writer::result_of;

/// The edits that are made of what is held across a takeover.
pub(super) const EDITS: usize = 3;
/// The file that is read with one server and written as a whole with the next.
const READ: &str = "held-read.txt";
/// The file of the preview.
const SHOWN: &str = "held-shown.txt";
/// A file of which every change is asked about.
const ASKED: &str = ".mcp.json";
const EMPTY: &str = "{}\n";

/// What waits.
pub(super) struct Held<'a> {
    cluster: &'a Cluster,
    tenant: &'static str,
    session: Http,
    /// A client without a session, which can ask a person.
    asking: Http,
    preview: String,
    question: Value,
}

impl<'a> Held<'a> {
    /// Has a tenant's client read, preview and ask.
    pub(super) fn new(cluster: &'a Cluster, tenant: &'static str) -> Result<Self> {
        let write = |name: &str, text: &str| fs::write(cluster.folder.at(&format!("{tenant}/{name}")), text);
        write(READ, "read\n")?;
        write(SHOWN, "old\n")?;
        write(ASKED, EMPTY)?;
        let session = cluster.client(tenant, 0);
        let asking = session.clone().asking();
        let session = until_answered(|| session.clone().try_legacy())?;
        let mut held =
            Self { cluster, tenant, session, asking, preview: String::new(), question: Value::Null };
        held.call("read_file", &json!({"path": READ}))?;
        let uri = json!({"uri": held.subscribed()});
        until_answered(|| answered(held.session.try_request("resources/subscribe", uri.clone())))?;
        let shown = held.call(
            "edit_preview",
            &json!({"tool": "str_replace", "path": SHOWN, "old_string": "old", "new_string": "new"}),
        )?;
        held.preview = shown["structuredContent"]["preview"].as_str().unwrap_or_default().to_owned();
        held.question = held.ask(&json!({}))?;
        ensure!(held.question["resultType"] == "input_required", "nobody is asked: {}", held.question);
        Ok(held)
    }

    /// Returns the URI to which the session has subscribed.
    fn subscribed(&self) -> String {
        self.cluster.folder.uri(&format!("{}/{READ}", self.tenant))
    }

    /// Hears that what the session has subscribed to may have changed while nobody served it.
    fn hear(&self) -> Result<()> {
        let mut stream = until_answered(|| {
            // As a client opens it again that has events of the server before.
            let stream = self.session.listen_after("7");
            if stream.status == 200 { Ok(stream) } else { Err(stream.status.to_string()) }
        })?;
        let told = stream.next_message().unwrap_or_default();
        ensure!(told["params"]["uri"] == self.subscribed(), "{} does not hear further: {told}", self.tenant);
        Ok(())
    }

    /// Hears of what changed, writes what was read, applies what was shown, and says yes.
    pub(super) fn finish(self) -> Result<()> {
        self.hear()?;
        self.call("write_file", &json!({"path": READ, "content": "written\n"}))?;
        self.call("apply_preview", &json!({"preview": self.preview}))?;
        let yes = json!({
            "requestState": self.question["requestState"],
            "inputResponses": {"approve": {"action": "accept", "content": {"approve": true}}},
        });
        let made = self.ask(&yes)?;
        ensure!(made["isError"] == false, "a yes of {} does not count any more: {made}", self.tenant);
        for (name, text) in [(READ, "written\n"), (SHOWN, "new\n"), (ASKED, "{\"held\": true}\n")] {
            let found = self.cluster.folder.text(&format!("{}/{name}", self.tenant));
            ensure!(found == text, "{name} of {} has {found:?}", self.tenant);
        }
        self.session.close();
        Ok(())
    }

    /// Has a tool of the session called, until it is done.
    fn call(&self, tool: &str, arguments: &Value) -> Result<Value> {
        let result = until_answered(|| {
            let reply = self.session.try_call(tool, arguments.clone());
            answered(reply)
        })?;
        ensure!(result["isError"] != true, "{tool} of {}: {result}", self.tenant);
        Ok(result)
    }

    /// Calls for the edit that is asked about, with more parameters.
    fn ask(&self, more: &Value) -> Result<Value> {
        let edit = json!({"path": ASKED, "old_string": "{}", "new_string": "{\"held\": true}"});
        let mut call = json!({"name": "str_replace", "arguments": edit});
        for (name, value) in more.as_object().into_iter().flatten() {
            call[name] = value.clone();
        }
        until_answered(|| answered(self.asking.try_request("tools/call", call.clone())))
    }
}

fn answered(reply: std::io::Result<Reply>) -> Result<Value, String> {
    result_of(&reply.map_err(|error| error.to_string())?)
}

/// Tries until there is an answer. A session that is not known any more is not waited for.
fn until_answered<T>(tried: impl Fn() -> Result<T, String>) -> Result<T> {
    let begun = Instant::now();
    loop {
        match tried() {
            Ok(answer) => return Ok(answer),
            Err(why) if why.starts_with("404") || begun.elapsed() > PATIENCE => bail!("{why}"),
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}
