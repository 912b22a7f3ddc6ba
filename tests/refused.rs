//! The check that a path is refused, for all tests of paths.

use emend_testkit::{Answer, Folder, Launch};
use serde_json::json;

use crate::launch;

/// Every tool that takes a path refuses this one, and nothing inside or outside changes.
#[track_caller]
pub(crate) fn check_refused_by(start: fn(&Folder) -> Launch, folder: &Folder, path: &str, code: &str) {
    let before = folder.everything();
    let mut client = start(folder).legacy();
    let check = |answer: Answer| {
        let answer = answer.refused(code);
        assert!(!answer.text.contains("classified"), "nothing of it is shown: {}", answer.text);
    };
    check(client.call("read_file", json!({"path": path})));
    check(client.replace(path, "classified", "x"));
    check(client.call("write_file", json!({"path": path, "content": "x\n"})));
    check(client.patch(&format!("*** Add File: {path}\n+x")));
    check(client.patch(&format!("*** Update File: {path}\n@@\n-classified\n+x")));
    check(client.patch(&format!("*** Delete File: {path}")));
    check(client.patch(&format!("*** Move File: {path} -> inside.txt")));
    check(client.patch(&format!("*** Move File: a.txt -> {path}")));
    check(client.preview("write_file", json!({"path": path, "content": "x\n"})));
    drop(client);
    assert_eq!(folder.everything(), before);
}

#[track_caller]
pub(crate) fn check_refused(folder: &Folder, path: &str, code: &str) {
    check_refused_by(launch, folder, path, code);
}
