//! Approval on the review page of a client: only with a secret, which only the page of a client that the user has named gets.

use std::fs;

use emend_testkit::{Answer, Client, Folder, Launch};
use serde_json::{Value, json};

use crate::launch;
use crate::policy::approval::say;

const EXTENSION: &str = "io.modelcontextprotocol/ui";
const NAMED: &str = "mode = 'ask'\napprove_in_app = ['TestKit']\nemit_event = true\n";

/// A server whose person's own file says this.
fn configured(folder: &Folder, text: &str) -> Launch {
    let base = folder.beside("own");
    fs::create_dir_all(base.join("emend")).unwrap();
    fs::write(base.join("emend/config.toml"), text).unwrap();
    launch(folder).variable("XDG_CONFIG_HOME", base).configured()
}

/// A client that shows MCP Apps, in either era.
fn clients(launch: &Launch) -> [Client; 2] {
    let (mut legacy, mut modern) = (launch.start(), launch.modern());
    for client in [&mut legacy, &mut modern] {
        client.declare(EXTENSION, json!({"mimeTypes": ["text/html;profile=mcp-app"]}));
    }
    legacy.initialize_legacy("2025-11-25");
    [legacy, modern]
}

/// The id and the secret that came with a refusal.
fn handed_over(refused: &Answer) -> (Value, Option<String>) {
    let approval = &refused.meta["emend/approval"];
    (approval["id"].clone(), approval["secret"].as_str().map(str::to_owned))
}

#[test]
fn a_person_approves_on_the_page_of_a_client_that_they_have_named_and_once() {
    let folder = Folder::with([("a.txt", "old\n")]);
    for mut client in clients(&configured(&folder, NAMED)) {
        folder.write("a.txt", "old\n");
        let refused = client.replace("a.txt", "old", "new").refused("approval-needed");
        let (id, secret) = handed_over(&refused);
        let page = client.call("review", json!({"approval": id})).ok().structured;
        assert_eq!((&page["state"], &page["files"][0]["path"]), (&json!("waiting"), &json!("a.txt")));
        assert_eq!(page["hunks"][0]["lines"], json!(["-old", "+new"]));
        let yes = json!({"approval": id, "is_allowed": true, "secret": secret});
        client.call("decide", yes.clone()).ok();
        assert_eq!(folder.text("a.txt"), "old\n", "it is approved, and not made");
        client.replace("a.txt", "old", "new").ok();
        assert_eq!(folder.text("a.txt"), "new\n");

        folder.write("a.txt", "old\n");
        let again = client.replace("a.txt", "old", "new").refused("approval-needed");
        assert!(client.call("decide", yes).is_error, "the secret was good once");
        let (same, secret) = handed_over(&again);
        assert_eq!(same, id, "the same bytes");
        let no = json!({"approval": id, "is_allowed": false, "secret": secret, "comment": "Use two."});
        client.call("decide", no).ok();
        let denied = client.replace("a.txt", "old", "new").refused("approval-denied");
        assert!(denied.text.contains("says: Use two."), "{}", denied.text);
        // What was denied stands for a day.
        fs::remove_dir_all(folder.state().join("approvals")).unwrap();
    }
}

#[test]
fn a_secret_stands_nowhere_but_in_the_meta_of_the_answer() {
    let folder = Folder::with([("a.txt", "old\n")]);
    for mut client in clients(&configured(&folder, NAMED).variable("EMEND_LOG", "trace")) {
        let mut refused = client.replace("a.txt", "old", "new").refused("approval-needed");
        let secret = handed_over(&refused).1.expect("a secret");
        refused.meta = Value::Null;
        assert!(!format!("{refused:?}").contains(&secret));
        for (name, bytes) in folder.everything() {
            assert!(!format!("{bytes:?}").contains(&secret), "{name} has it");
        }
        for uri in ["emend://history", "emend://session"] {
            if let Ok(read) = client.request("resources/read", json!({"uri": uri})) {
                assert!(!read.to_string().contains(&secret), "{uri}");
            }
        }
        assert!(!client.call("review", json!({})).structured.to_string().contains(&secret));
        let log = client.close().1;
        assert!(!log.contains(&secret), "{log}");
    }
}

#[test]
fn a_model_cannot_approve_what_it_asks_for() {
    let folder = Folder::with([("a.txt", "old\n"), ("b.txt", "old\n")]);
    for mut client in clients(&configured(&folder, NAMED)) {
        let (id, secret) = handed_over(&client.replace("a.txt", "old", "new").refused("approval-needed"));
        let (other, _) = handed_over(&client.replace("b.txt", "old", "new").refused("approval-needed"));
        for guess in [json!(null), json!(""), json!(id), json!("0".repeat(32))] {
            let call = json!({"approval": id, "is_allowed": true, "secret": guess});
            assert!(client.call("decide", call).is_error);
        }
        assert!(client.call("decide", json!({"approval": id, "is_allowed": true})).is_error);
        // The secret of one edit does not approve another, and is used up by trying.
        assert!(
            client.call("decide", json!({"approval": other, "is_allowed": true, "secret": secret})).is_error
        );
        assert!(
            client.call("decide", json!({"approval": id, "is_allowed": true, "secret": secret})).is_error
        );
        assert!(
            client
                .call("decide", json!({"preview": format!("preview-{}", "0".repeat(32)), "is_allowed": true}))
                .is_error
        );
        client.replace("a.txt", "old", "new").refused("approval-needed");
        client.replace("b.txt", "old", "new").refused("approval-needed");
        assert_eq!((folder.text("a.txt"), folder.text("b.txt")), ("old\n".into(), "old\n".into()));
    }
}

#[test]
fn a_client_that_is_not_named_gets_no_secret_and_one_without_the_page_nothing() {
    let folder = Folder::with([("a.txt", "old\n")]);
    for text in ["mode = 'ask'", "mode = 'ask'\napprove_in_app = ['another', 'test']"] {
        for mut client in clients(&configured(&folder, text)) {
            let (id, secret) = handed_over(&client.replace("a.txt", "old", "new").refused("approval-needed"));
            assert!(id.is_string() && secret.is_none());
        }
    }
    let mut plain = configured(&folder, NAMED).legacy();
    assert_eq!(plain.replace("a.txt", "old", "new").refused("approval-needed").meta, Value::Null);
    say(&folder, "y");
    plain.replace("a.txt", "old", "new").ok();
}

#[test]
fn a_client_that_can_ask_the_person_is_given_no_second_way() {
    let folder = Folder::with([("a.txt", "old\n")]);
    let mut client = configured(&folder, NAMED).asking().start();
    client.declare(EXTENSION, json!({}));
    client.initialize_legacy("2025-11-25");
    let id =
        client.send_call("str_replace", json!({"path": "a.txt", "old_string": "old", "new_string": "new"}));
    let question = client.wait_for_request();
    client.respond(&question, json!({"action": "cancel"}));
    let refused = client.answer(id).refused("approval-needed");
    assert_eq!(handed_over(&refused).1, None);
}

#[test]
fn only_the_persons_own_file_says_where_edits_are_approved() {
    let folder = Folder::with([("a.txt", "old\n"), (".emend.toml", "approve_in_app = ['testkit']\n")]);
    for mut client in clients(&configured(&folder, "mode = 'ask'")) {
        let refused = client.replace("a.txt", "old", "new").refused("approval-needed");
        assert_eq!(handed_over(&refused).1, None);
    }
    let named = folder.beside("named.toml");
    fs::write(&named, "approve_in_app = ['testkit']").unwrap();
    let started =
        configured(&folder, "mode = 'ask'").argument("--config").argument(&named).command().output().unwrap();
    let said = String::from_utf8_lossy(&started.stderr).into_owned();
    assert!(!started.status.success() && said.contains("approve_in_app cannot be taken"), "{said}");
}
