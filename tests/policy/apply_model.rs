//! The apply model in the settings: only a person names one, in their own file, and a server says what is missing.

use std::fs;

use emend_testkit::{ChatEndpoint, Folder, Launch};
use serde_json::json;

use crate::launch;
use crate::policy::configuration::check_no_start;

/// A server whose person has this configuration file.
fn configured(folder: &Folder, text: &str) -> Launch {
    let file = folder.beside("config.toml");
    fs::write(&file, text).unwrap();
    launch(folder).argument("--config").argument(file).argument("--notify-lsp=false").configured()
}

fn table(url: &str) -> String {
    format!("[apply_model]\nurl = '{url}'\nmodel = 'm'\nkey_variable = 'EMEND_NO_SUCH_KEY'\n")
}

#[test]
fn a_workspace_names_no_apply_model() {
    let endpoint = ChatEndpoint::start([]);
    let text = table(&endpoint.url()).replace("key_variable = 'EMEND_NO_SUCH_KEY'\n", "");
    let folder = Folder::with([(".emend.toml", text.as_str()), ("a.txt", "a\n")]);
    let mut client = launch(&folder).legacy();
    let version = client.read("a.txt").version();
    let lines =
        json!({"path": "a.txt", "version": version, "start_line": 1, "end_line": 1, "instruction": "x"});
    client.call("draft_edit", lines).refused("model-failed");
    assert!(client.tools().iter().all(|tool| tool["name"] != "draft_edit"));
    let (_, log) = client.close();
    assert!(log.contains("apply_model is ignored"), "{log}");
    assert!(endpoint.heard().is_empty());
}

#[test]
fn a_model_without_its_key_is_said_at_the_start_and_to_who_calls_it() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let mut client = configured(&folder, &table("https://127.0.0.1:9/v1")).legacy();
    assert!(client.tools().iter().all(|tool| tool["name"] != "draft_edit"));
    let asked = json!({"path": "a.txt", "symbol": "a", "instruction": "x"});
    client.call("draft_edit", asked).refused("model-failed");
    client.replace("a.txt", "a", "b").ok();
    let (_, log) = client.close();
    assert!(log.contains("apply_model cannot be used"), "{log}");
}

#[test]
fn an_address_that_others_could_listen_at_is_a_mistake_at_the_start() {
    let folder = Folder::with([("a.txt", "a\n")]);
    let file = folder.beside("config.toml");
    for url in ["http://example.com/v1", "https://ann:secret@example.com/v1", "file:///etc/passwd"] {
        fs::write(&file, table(url)).unwrap();
        let said = check_no_start(&folder, &["--config", file.to_str().unwrap()], "apply_model.url");
        assert!(!said.contains("secret"), "{said}");
    }
}
