//! The skill: listing and reading it in both eras and over both transports, and doing what it says.

use emend_testkit::{Folder, HttpServer};
use serde_json::{Value, json};

use crate::launch;

const SKILL: &str = "skill://emend/SKILL.md";

/// A function that sends a request and returns its result.
type Ask<'a> = &'a mut dyn FnMut(&str, Value) -> Result<Value, Value>;

/// Runs the check for a client of each era over each transport.
fn with_every_client(check: impl Fn(Ask<'_>)) {
    let folder = Folder::new();
    for mut client in [launch(&folder).legacy(), launch(&folder).modern()] {
        check(&mut |method: &str, parameters| client.request(method, parameters));
    }
    let server = HttpServer::start(&launch(&folder));
    for client in [server.client().legacy(), server.client()] {
        check(&mut |method: &str, parameters| client.request(method, parameters));
    }
}

fn text(read: &Value) -> &str {
    assert_eq!(read["contents"].as_array().map(Vec::len), Some(1));
    read["contents"][0]["text"].as_str().unwrap()
}

#[test]
fn the_skill_is_listed_and_read_in_both_eras_and_over_both_transports() {
    with_every_client(|ask| {
        let listed = ask("skills/list", json!({})).unwrap();
        let [skill] = &listed["skills"].as_array().unwrap()[..] else { panic!("{listed}") };
        assert_eq!((&skill["uri"], &skill["frontmatter"]["name"]), (&json!(SKILL), &json!("emend")));
        assert!(skill["frontmatter"]["description"].is_string());
        let one = ask("skills/get", json!({"uri": SKILL})).unwrap();
        assert_eq!(one["skill"], *skill);
        let read = ask("resources/read", json!({"uri": SKILL})).unwrap();
        assert_eq!(read["contents"][0]["mimeType"], "text/markdown");
        assert_eq!(skill["resources"][0]["uri"], SKILL);
        assert_eq!(skill["resources"][0]["size"], text(&read).len());
        let listed = ask("resources/list", json!({})).unwrap();
        assert_eq!(listed["resources"][0]["uri"], SKILL);
        for wrong in [json!({}), json!({"uri": "skill://other/SKILL.md"}), json!({"uri": "emend://history"})]
        {
            assert_eq!(ask("skills/get", wrong.clone()).unwrap_err()["code"], -32602, "{wrong}");
        }
    });
}

#[test]
fn skills_are_declared_in_both_eras() {
    let folder = Folder::new();
    let legacy = launch(&folder).start().initialize_legacy("2025-11-25");
    let modern = launch(&folder).modern().request("server/discover", json!({})).unwrap();
    for said in [legacy, modern] {
        assert_eq!(said["capabilities"]["extensions"]["io.modelcontextprotocol/skills"], json!({}), "{said}");
    }
}

#[test]
fn where_nothing_can_be_edited_no_skill_is_offered() {
    let folder = Folder::new();
    let mut client = launch(&folder).argument("--mode").argument("read-only").modern();
    assert_eq!(client.request("skills/list", json!({})).unwrap()["skills"], json!([]));
    let resources = client.request("resources/list", json!({})).unwrap();
    assert!(!resources.to_string().contains(SKILL), "{resources}");
}

#[test]
fn the_calls_that_the_skill_shows_do_what_it_says() {
    let folder = Folder::with([
        (
            "src/net.rs",
            "use std::io;\nstruct Client;\nimpl Client {\n    fn send() {\n        let retries = 3;\n    }\n}\n",
        ),
        ("src/main.rs", &"// main\n".repeat(70)),
        ("users.py", "fetch_user()\nfetch_users()\n"),
        ("a.py", "\n"),
        ("main.py", "import a\n"),
        ("package.json", "{\"scripts\": {\"test\": \"jest\"}}\n"),
    ]);
    let mut client = launch(&folder).modern();
    let read = client.request("resources/read", json!({"uri": SKILL})).unwrap();
    let skill = text(&read).to_owned();
    let calls: Vec<(&str, &str)> = skill
        .lines()
        .filter(|line| line.starts_with("    "))
        .map(|line| line.trim_start().split_once(' ').unwrap())
        .collect();
    assert!(calls.len() > 4, "{calls:?}");
    for (tool, arguments) in calls {
        let mut arguments: Value = serde_json::from_str(arguments).unwrap();
        match tool {
            "replace_lines" => {
                let path = arguments["path"].as_str().unwrap();
                let lines = folder.text(path).lines().count();
                folder.write(path, format!("{}{}", folder.text(path), "// line\n".repeat(14 - lines)));
                arguments["version"] = client.read(path).version().into();
            }
            "apply_preview" => {
                let asked = json!({"old_string": "// main", "new_string": "// new", "expected_count": 3});
                let refused = client.call("replace_in_files", asked).refused("ambiguous-match");
                arguments["preview"] = refused.handle().into();
            }
            _ => {}
        }
        client.call(tool, arguments).ok();
    }
    let net = folder.text("src/net.rs");
    assert!(
        net.starts_with("use std::io;\nuse std::time::Duration;\n") && net.contains("retries = 5"),
        "{net}"
    );
    assert!(net.ends_with("    Ok(())\n"), "{net}");
    assert_eq!(folder.text("users.py"), "load_user()\nfetch_users()\n");
    assert_eq!((folder.text("b.py"), folder.text("main.py")), ("\n".to_owned(), "import b\n".to_owned()));
    assert_eq!(folder.text("package.json"), "{\"scripts\": {\"test\": \"vitest run\"}}\n");
    assert!(folder.text("src/main.rs").starts_with("// new\n// main\n// new\n// main\n"));
}
