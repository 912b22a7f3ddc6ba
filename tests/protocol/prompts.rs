//! The only prompt.

use emend_testkit::Folder;
use serde_json::json;

use crate::launch;

#[test]
fn the_prompt_is_listed_and_filled_in_in_both_eras() {
    let folder = Folder::new();
    for mut client in [launch(&folder).legacy(), launch(&folder).modern()] {
        let listed = client.request("prompts/list", json!({})).unwrap();
        let prompts = listed["prompts"].as_array().unwrap();
        assert_eq!(prompts.len(), 1);
        assert_eq!(prompts[0]["name"], "edit");
        let mut arguments = prompts[0]["arguments"].as_array().unwrap().iter();
        assert!(arguments.all(|argument| argument["required"] == false));
        let plain = client.request("prompts/get", json!({"name": "edit"})).unwrap();
        let text = |result: &serde_json::Value| {
            assert_eq!(result["messages"].as_array().map(Vec::len), Some(1));
            assert_eq!(result["messages"][0]["role"], "user");
            result["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
        };
        let arguments = json!({"path": "src/main.rs", "task": "say hello"});
        let filled = client.request("prompts/get", json!({"name": "edit", "arguments": arguments})).unwrap();
        let (plain, filled) = (text(&plain), text(&filled));
        assert!(filled.starts_with(&plain) && filled.contains("src/main.rs") && filled.contains("say hello"));
        assert!(plain.len() < 4_096);
    }
}

#[test]
fn what_the_prompt_does_not_take_is_refused() {
    let folder = Folder::new();
    let mut client = launch(&folder).legacy();
    for wrong in [
        json!({"name": "review"}),
        json!({"name": "edit", "arguments": {"file": "a"}}),
        json!({"name": "edit", "arguments": {"path": 7}}),
    ] {
        assert_eq!(client.request("prompts/get", wrong.clone()).unwrap_err()["code"], -32602, "{wrong}");
    }
}
