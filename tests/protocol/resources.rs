//! Resources: listing, reading, hiding and completing them.

use std::fs;

use emend_testkit::{Client, Folder, Launch};
use serde_json::{Value, json};

use crate::{EMEND, launch, serve};

fn uri(folder: &Folder, name: &str) -> String {
    folder.uri(name)
}

fn read(client: &mut Client, uri: &str) -> Result<Value, Value> {
    let mut result = client.request("resources/read", json!({"uri": uri}))?;
    assert_eq!(result["contents"].as_array().map(Vec::len), Some(1));
    assert_eq!(result["contents"][0]["uri"], uri);
    Ok(result["contents"][0].take())
}

/// The URIs of all pages of the list, and how many pages there are.
fn listed(client: &mut Client) -> (Vec<Value>, usize) {
    let (mut all, mut pages, mut cursor) = (Vec::new(), 0, Value::Null);
    loop {
        let parameters = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let mut page = client.request("resources/list", parameters).unwrap();
        all.append(page["resources"].as_array_mut().unwrap());
        pages += 1;
        cursor = page["nextCursor"].take();
        if cursor.is_null() {
            return (all, pages);
        }
    }
}

#[test]
fn capabilities_are_declared_in_both_eras() {
    let folder = Folder::new();
    let legacy = launch(&folder).start().initialize_legacy("2025-11-25");
    let modern = launch(&folder).modern().request("server/discover", json!({})).unwrap();
    for said in [legacy, modern] {
        let capabilities = &said["capabilities"];
        assert_eq!(capabilities["resources"], json!({"subscribe": true, "listChanged": true}));
        assert!(capabilities["prompts"].is_object() && capabilities["completions"].is_object(), "{said}");
    }
}

#[test]
fn files_are_listed_and_each_can_be_read() {
    let folder = Folder::with([
        ("a b#c?d%e.md", "# one\n"),
        ("sub/ä.json", "{}"),
        (".env", "SECRET=1"),
        ("sub/.env.local", "SECRET=1"),
        (".gitignore", "skipped\n"),
        ("skipped", "x"),
    ]);
    for mut client in [launch(&folder).legacy(), launch(&folder).modern()] {
        let (resources, pages) = listed(&mut client);
        assert_eq!(pages, 1);
        let about = |resource: &Value| {
            let about = ["uri", "name", "mimeType", "size"].map(|key| resource[key].clone());
            json!(about)
        };
        let all: Vec<Value> = resources.iter().map(about).collect();
        let expected = [
            json!(["skill://emend/SKILL.md", "emend", "text/markdown", resources[0]["size"]]),
            json!(["emend://history", "history", "text/plain", null]),
            json!(["emend://readings", "readings", "text/plain", null]),
            json!(["emend://session", "session", "application/json", null]),
            json!([uri(&folder, ".gitignore"), ".gitignore", "text/plain", 8]),
            json!([uri(&folder, "a%20b%23c%3Fd%25e.md"), "a b#c?d%e.md", "text/markdown", 6]),
            json!([uri(&folder, "sub/%C3%A4.json"), "sub/ä.json", "application/json", 2]),
        ];
        assert_eq!(all, expected);
        for resource in &resources {
            read(&mut client, resource["uri"].as_str().unwrap()).unwrap();
        }
        let read = read(&mut client, &uri(&folder, "a%20b%23c%3Fd%25e.md")).unwrap();
        assert_eq!(read["text"], "# one\n");
        assert_eq!(read["mimeType"], "text/markdown");
        assert_eq!(read["_meta"]["emend/path"], "a b#c?d%e.md");
        assert_eq!(read["_meta"]["emend/version"], client.read("a b#c?d%e.md").version());
    }
}

#[test]
fn what_depends_on_the_caller_is_not_kept_for_others() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = launch(&folder).modern();
    for (method, parameters) in
        [("resources/list", json!({})), ("resources/read", json!({"uri": uri(&folder, "a.txt")}))]
    {
        let result = client.request(method, parameters).unwrap();
        assert_eq!((&result["cacheScope"], &result["ttlMs"]), (&json!("private"), &json!(0)), "{method}");
    }
}

#[test]
fn a_long_list_comes_in_pages() {
    let folder = Folder::new();
    for number in 0..450 {
        folder.write(&format!("{}/{number}", number % 7), "x");
    }
    let mut client = serve(&folder);
    let (resources, pages) = listed(&mut client);
    let mut uris: Vec<&str> = resources.iter().filter_map(|resource| resource["uri"].as_str()).collect();
    uris.sort_unstable();
    uris.dedup();
    assert_eq!((uris.len(), pages), (454, 3));
    for cursor in ["x", "emend://history", "file:///elsewhere"] {
        let error = client.request("resources/list", json!({"cursor": cursor})).unwrap_err();
        assert_eq!(error["code"], -32602, "{cursor}");
    }
}

#[test]
fn several_roots_are_one_list_and_a_template_each() {
    let (one, other) = (Folder::with([("a.txt", "one\n")]), Folder::with([("a.txt", "other\n")]));
    let named = |name: &str, folder: &Folder| format!("{name}={}", folder.path().display());
    let launch = Launch::new(EMEND).workspace(named("one", &one)).workspace(named("other", &other));
    let mut client = launch.state(one.state()).legacy();
    let (resources, _) = listed(&mut client);
    let names: Vec<&str> = resources.iter().filter_map(|resource| resource["name"].as_str()).collect();
    assert_eq!(names, ["emend", "history", "readings", "session", "one:a.txt", "other:a.txt"]);
    assert_eq!(read(&mut client, &uri(&other, "a.txt")).unwrap()["text"], "other\n");
    let templates = client.request("resources/templates/list", json!({})).unwrap();
    let templates: Vec<&str> = templates["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|template| template["uriTemplate"].as_str())
        .collect();
    assert_eq!(templates, [&*uri(&one, "{+path}"), &*uri(&other, "{+path}"), "emend://edit/{id}.diff"]);
}

#[test]
fn what_is_not_there_and_what_is_forbidden_are_the_same_to_a_reader() {
    let folder = Folder::with([("a.txt", "one\n"), (".env", "SECRET=1"), ("sub/b", "x")]);
    fs::write(folder.beside("outside"), "x").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(".env", folder.at("link")).unwrap();
    let named = [".env", ".env.local", ".git/config", "nothing", "sub", "../outside", "link"];
    let uris = named.map(|name| uri(&folder, name));
    let others = ["emend://edit/00.diff", "emend://nothing", "http://localhost/a.txt"].map(str::to_owned);
    for (mut client, code) in [(launch(&folder).legacy(), -32002), (launch(&folder).modern(), -32602)] {
        for uri in uris.iter().chain(&others) {
            let error = read(&mut client, uri).unwrap_err();
            assert_eq!(error["code"], code, "{uri}: {error}");
            let message = error["message"].as_str().unwrap().replace(uri.as_str(), "");
            let model = read(&mut client, &self::uri(&folder, "nothing")).unwrap_err();
            let model = model["message"].as_str().unwrap().replace(&*self::uri(&folder, "nothing"), "");
            assert_eq!(message, model, "{uri}");
        }
        for malformed in ["a.txt", "", "file:a.txt", "file:///%zz"] {
            let error = read(&mut client, malformed).unwrap_err();
            assert_eq!(error["code"], -32602, "{malformed}");
        }
        // The server goes on.
        read(&mut client, &uri(&folder, "a.txt")).unwrap();
    }
}

#[test]
fn what_is_no_text_or_too_large_says_so() {
    let folder = Folder::new();
    folder.write("image.png", b"\x89PNG\0\0");
    folder.write("large.txt", "0123456789abcde\n".repeat(300_000));
    let mut client = serve(&folder);
    for (name, code) in [("image.png", "not-text"), ("large.txt", "too-large")] {
        let error = read(&mut client, &uri(&folder, name)).unwrap_err();
        assert_eq!(error["code"], -32602, "{name}");
        assert_eq!(error["data"]["code"], code);
        assert!(error["message"].as_str().unwrap().contains("read_file"), "{error}");
    }
}

#[test]
fn the_text_of_a_resource_is_decoded() {
    let folder = Folder::new();
    folder.write("utf16.txt", b"\xff\xfeh\0\xe4\0\n\0");
    folder.write("bom.txt", b"\xef\xbb\xbfhi\r\n");
    let mut client = serve(&folder);
    assert_eq!(read(&mut client, &uri(&folder, "utf16.txt")).unwrap()["text"], "hä\n");
    assert_eq!(read(&mut client, &uri(&folder, "bom.txt")).unwrap()["text"], "hi\r\n");
}

#[test]
fn reading_a_resource_is_not_a_reading() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    read(&mut client, &uri(&folder, "a.txt")).unwrap();
    client.call("write_file", json!({"path": "a.txt", "content": "two\n"})).refused("not-read");
    client.read("a.txt");
    client.call("write_file", json!({"path": "a.txt", "content": "two\n"})).ok();
}

#[test]
fn the_history_and_the_diff_of_an_edit_are_resources() {
    let folder = Folder::with([("a.txt", "one\n")]);
    let mut client = serve(&folder);
    let edit = client.replace("a.txt", "one", "two").ok().structured["edit"].as_str().unwrap().to_owned();
    let history = read(&mut client, "emend://history").unwrap();
    assert!(history["text"].as_str().unwrap().contains(&edit));
    let diff = read(&mut client, &format!("emend://edit/{edit}.diff")).unwrap();
    assert_eq!(diff["mimeType"], "text/x-diff");
    assert!(diff["text"].as_str().unwrap().contains("-one\n+two\n"));
}

#[test]
fn a_diff_that_is_cut_links_to_the_whole() {
    let folder = Folder::new();
    let mut client = serve(&folder);
    let lines = |count: usize| (0..count).map(|number| format!("{number}\n")).collect::<String>();
    for (count, links) in [(15, 0), (500, 1)] {
        let call =
            json!({"name": "write_file", "arguments": {"path": format!("{count}"), "content": lines(count)}});
        let result = client.request("tools/call", call).unwrap();
        let blocks = result["content"].as_array().unwrap();
        let linked: Vec<&Value> = blocks.iter().filter(|block| block["type"] == "resource_link").collect();
        assert_eq!(linked.len(), links);
        let diff = result["structuredContent"]["diff"].as_str().unwrap();
        for link in linked {
            let uri = link["uri"].as_str().unwrap();
            assert!(diff.contains(uri) && blocks[0]["text"].as_str().unwrap().contains(uri));
            let whole = read(&mut client, uri).unwrap();
            assert!(whole["text"].as_str().unwrap().contains("+499\n"));
        }
    }
}

#[test]
fn without_history_there_is_no_link() {
    let folder = Folder::new();
    let mut client = launch(&folder).argument("--track-history=false").legacy();
    let content = "line\n".repeat(500);
    let call = json!({"name": "write_file", "arguments": {"path": "a", "content": content}});
    let result = client.request("tools/call", call).unwrap();
    assert_eq!(result["content"].as_array().unwrap().len(), 1);
}

#[test]
fn what_was_read_is_a_resource() {
    let folder = Folder::with([("a.txt", "one\n"), ("b.txt", "two\n"), ("c.txt", "three\n")]);
    let mut client = serve(&folder);
    let versions = ["a.txt", "b.txt"].map(|name| client.read(name).version());
    folder.write("b.txt", "2\n");
    let text = read(&mut client, "emend://readings").unwrap()["text"].as_str().unwrap().to_owned();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].starts_with("a.txt") && lines[0].contains(&versions[0]));
    let now = client.read("b.txt").version();
    assert!(lines[1].contains(&versions[1]) && lines[1].contains(&now));
}

fn complete(client: &mut Client, reference: &Value, name: &str, value: &str) -> Value {
    let parameters = json!({"ref": reference, "argument": {"name": name, "value": value}});
    client.request("completion/complete", parameters).unwrap()["completion"].take()
}

#[test]
fn paths_are_completed_for_the_template_and_the_prompt() {
    let folder = Folder::with([
        ("src/main.rs", "x"),
        ("src/Map.rs", "x"),
        ("src/.env", "x"),
        ("src/deep/a", "x"),
        ("README.md", "x"),
    ]);
    let template = json!({"type": "ref/resource", "uri": uri(&folder, "{+path}")});
    let prompt = json!({"type": "ref/prompt", "name": "edit"});
    for mut client in [launch(&folder).legacy(), launch(&folder).modern()] {
        for reference in [&template, &prompt] {
            let mut check = |typed: &str, expected: &[&str]| {
                let found = complete(&mut client, reference, "path", typed);
                assert_eq!(found["values"], json!(expected), "{typed}");
                assert_eq!((&found["total"], &found["hasMore"]), (&json!(expected.len()), &json!(false)));
            };
            check("", &["README.md", "src/"]);
            check("sr", &["src/"]);
            check("src/", &["src/Map.rs", "src/deep/", "src/main.rs"]);
            check("src/ma", &["src/main.rs"]);
            check("src/mai", &["src/main.rs"]);
            check("read", &["README.md"]);
            check("src/.e", &[]);
            check("nothing/", &[]);
            check("../", &[]);
        }
        let unknown = json!({"ref": {"type": "ref/resource", "uri": "file:///x/{+path}"}, "argument": {"name": "path", "value": ""}});
        assert_eq!(client.request("completion/complete", unknown).unwrap_err()["code"], -32602);
    }
}

#[test]
fn many_completions_are_cut_and_counted() {
    let folder = Folder::new();
    for number in 0..130 {
        folder.write(&format!("file-{number:03}"), "x");
    }
    let prompt = json!({"type": "ref/prompt", "name": "edit"});
    let found = complete(&mut serve(&folder), &prompt, "path", "file-");
    assert_eq!(found["values"].as_array().map(Vec::len), Some(100));
    assert_eq!((&found["total"], &found["hasMore"]), (&json!(130), &json!(true)));
}

#[test]
fn roots_and_edits_are_completed() {
    let (one, other) = (Folder::with([("a.txt", "one\n")]), Folder::with([("b.txt", "x")]));
    let named = |name: &str, folder: &Folder| format!("{name}={}", folder.path().display());
    let launch = Launch::new(EMEND).workspace(named("one", &one)).workspace(named("other", &other));
    let mut client = launch.state(one.state()).legacy();
    let prompt = json!({"type": "ref/prompt", "name": "edit"});
    assert_eq!(complete(&mut client, &prompt, "path", "o")["values"], json!(["one:", "other:"]));
    assert_eq!(complete(&mut client, &prompt, "path", "other:")["values"], json!(["other:b.txt"]));
    let template = json!({"type": "ref/resource", "uri": "emend://edit/{id}.diff"});
    assert_eq!(complete(&mut client, &template, "id", "")["values"], json!([]));
    let edit = client.replace("one:a.txt", "one", "two").ok().structured["edit"].clone();
    assert_eq!(complete(&mut client, &template, "id", "")["values"], json!([edit]));
}

#[test]
fn without_a_workspace_an_error_says_why() {
    let folder = Folder::new();
    let mut client = Launch::new(EMEND).state(folder.state()).inside("/").legacy();
    assert!(client.request("resources/list", json!({})).unwrap_err()["message"].is_string());
    assert!(read(&mut client, "file:///etc/passwd").is_err());
    assert!(client.request("prompts/list", json!({})).is_ok());
}
